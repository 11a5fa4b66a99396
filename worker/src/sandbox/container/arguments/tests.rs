#![allow(clippy::unwrap_used)]

use super::*;

fn line(installed: &[&str], resources: Resources) -> Vec<String> {
    let home = View {
        outside: "/sandboxes/a,b/home".into(),
        inside: "/agent/home".into(),
    };
    let room = Room {
        engine: Kind::Docker,
        name: "attempt-a-1",
        label: "mcproctor.sandbox=attempt-a",
        marker: "MCPROCTOR_ATTEMPT=attempt-a",
        image: "sha256:abc",
        launcher: Path::new("/opt/mcproctor"),
        launcher_args: &["sandboxed".into()],
        ways: Path::new("/sandboxes/a/ways"),
        etc: Path::new("/sandboxes/a/etc"),
        own_folders: &[&home],
        roots_home: Some(Path::new("/sandboxes/a/root")),
        cwd: Path::new("/agent/work"),
        user: (1000, 1000),
        keep_user: false,
        resources,
    };
    let installed: Vec<PathBuf> = installed.iter().map(PathBuf::from).collect();
    let args = arguments(&room, &installed);
    args.into_iter().map(|arg| arg.into_string().unwrap()).collect()
}

fn has(line: &[String], words: &[&str]) -> bool {
    line.windows(words.len()).any(|found| found == words)
}

#[test]
fn there_is_no_network_no_capability_no_new_privilege_and_no_download() {
    let line = line(&[], Resources::default());
    for words in [
        ["--network", "none"],
        ["--cap-drop", "ALL"],
        ["--security-opt", "no-new-privileges"],
        ["--user", "1000:1000"],
        ["--pull", "never"],
    ] {
        assert!(has(&line, &words), "{words:?}");
    }
    assert!(line.contains(&"--read-only".to_owned()));
    assert!(!line.iter().any(|arg| arg.contains("privileged") || arg == "host"));
}

#[test]
fn only_its_own_folders_can_be_written() {
    let line = line(&["/opt/agent"], Resources::default());
    let mounts = line.iter().filter(|arg| arg.starts_with("type="));
    let writable: Vec<_> = mounts.filter(|mount| !mount.ends_with(",ro")).collect();
    assert_eq!(
        writable,
        [r#"type=bind,"source=/sandboxes/a,b/home",target=/agent/home"#]
    );
}

#[test]
fn the_image_gives_the_system_and_the_host_what_was_installed_beside_it() {
    let node = format!("{ROOTS_HOME}/node/v22");
    let line = line(
        &[
            "/usr/bin/node",
            "/usr/local/lib/node_modules",
            "/usr/local/lib/node_modules/.bin/agent",
            "/bin/sh",
            "/",
            &node,
        ],
        Resources::default(),
    );
    let shown = |path: &str| {
        let target = format!("target={path},");
        line.iter().any(|arg| format!("{arg},").contains(&target))
    };
    assert!(shown("/usr/local/lib/node_modules") && shown(&node) && shown(ROOTS_HOME));
    for path in [
        "/usr/bin/node",
        "/bin/sh",
        "/",
        "/usr/local/lib/node_modules/.bin/agent",
    ] {
        assert!(!shown(path), "{path}");
    }
}

#[test]
fn limits_are_the_engines() {
    let line = line(
        &[],
        Resources {
            memory_bytes: Some(1 << 30),
            processes: Some(100),
            cpus: Some(1),
            disk_bytes: None,
        },
    );
    assert!(has(&line, &["--memory", "1073741824", "--memory-swap", "1073741824"]));
    assert!(has(&line, &["--pids-limit", "100"]) && has(&line, &["--cpus", "1"]));
    let end = ["sha256:abc", "sandboxed", "--entrance", "/run/mcproctor/ways/entrance"];
    assert!(line.ends_with(&end.map(str::to_owned)));
}
