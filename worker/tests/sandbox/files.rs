//! Files of the host.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use mcproctor_proto::assignment::SandboxLevel;

use crate::seat::Seat;

pub(crate) async fn reads_the_system_and_its_own_folders_only(level: SandboxLevel) {
    let seat = Seat::new(level);
    let secret = seat.host_folder().join("secret");
    fs::write(&secret, "planted-in-a-file").unwrap();
    let home = seat.sandbox.home().join("own");
    seat.sandbox.write(&home, b"its own file\n").unwrap();
    let script = r#"
        cat "$2" && head -c 0 /usr/bin/env && echo system-read
        cat "$1" || echo secret-refused
        cat /etc/shadow || echo shadow-refused
        ls /root || echo root-refused
        ls "$3" || echo sandboxes-refused
        cat "$3"/*/lock; ls "$3"/*/
    "#;
    let sandboxes = seat.sandboxes();
    let args = [
        secret.to_str().unwrap(),
        home.to_str().unwrap(),
        sandboxes.to_str().unwrap(),
    ];
    let ran = seat.shell(script, &args).await;
    for line in [
        "its own file",
        "system-read",
        "secret-refused",
        "shadow-refused",
        "root-refused",
        "sandboxes-refused",
    ] {
        ran.assert_line(line);
    }
    assert!(!ran.text.contains("planted"), "{}", ran.text);
    assert!(!ran.text.contains("attempt-"), "{}", ran.text);
}

pub(crate) async fn writes_its_own_folders_only(level: SandboxLevel) {
    let seat = Seat::new(level);
    let host = seat.host_folder();
    fs::write(host.join("precious"), "before").unwrap();
    let script = r#"
        echo x > file && echo x > "$HOME/file" && echo x > "$TMPDIR/file" && mkdir -p a/b && mv file a/b/ && echo own-written
        echo x > "$1/precious"; echo x > "$1/new"; rm -f "$1/precious"; mkdir "$1/folder"; mv "$1/precious" "$1/moved"
        ln a/b/file "$1/linked"; cp a/b/file "$1/copied"; chmod 700 "$1/precious" "$1"
        for folder in / /usr /usr/bin /etc /tmp/.. /dev /dev/shm /proc /var/tmp; do
            echo x > "$folder/mcproctor-escape" && [ -e "$folder/mcproctor-escape" ] && echo "wrote into $folder"
        done
        mknod device b 8 0 && echo device-made
        exit 0
    "#;
    let ran = seat.shell(script, &[host.to_str().unwrap()]).await;
    ran.assert_line("own-written");
    assert!(!ran.text.contains("device-made"), "{}", ran.text);
    let names: Vec<_> = fs::read_dir(&host)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["precious"]);
    assert_eq!(fs::read_to_string(host.join("precious")).unwrap(), "before");
    for folder in ["/", "/usr", "/usr/bin", "/etc", "/dev", "/dev/shm", "/var/tmp"] {
        let escape = std::path::Path::new(folder).join("mcproctor-escape");
        assert!(!escape.exists(), "{}", escape.display());
    }
}

pub(crate) async fn links_out_of_the_work_folder_lead_nowhere(level: SandboxLevel) {
    let seat = Seat::new(level);
    let host = seat.host_folder();
    fs::write(host.join("precious"), "before").unwrap();
    let script = r#"
        ln -s "$1/precious" out && ln -s "$1" folder && ln -s "$1/precious" "$HOME/config.json" && ln -s "$1" "$HOME/.agent" && echo laid
        cat out || echo read-refused
        echo x > out || echo write-refused
        echo x > folder/new || echo new-refused
    "#;
    let ran = seat.shell(script, &[host.to_str().unwrap()]).await;
    for line in ["laid", "read-refused", "write-refused", "new-refused"] {
        ran.assert_line(line);
    }
    // The worker itself is not led astray by them when it writes for the next turn.
    seat.sandbox
        .write(&seat.sandbox.home().join("config.json"), b"next turn")
        .unwrap();
    seat.sandbox
        .write(&seat.sandbox.home().join(".agent/new"), b"next turn")
        .unwrap_err();
    seat.shell("exit 0", &[]).await;
    drop(seat.sandbox);
    let names: Vec<_> = fs::read_dir(&host)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["precious"]);
    assert_eq!(fs::read_to_string(host.join("precious")).unwrap(), "before");
}

pub(crate) async fn files_named_in_the_config_are_read(level: SandboxLevel) {
    let seat = Seat::new(level);
    let host = seat.host_folder();
    let (script, beside) = (host.join("agent.sh"), host.join("beside"));
    fs::write(
        &script,
        "echo the-script-ran; cat \"$1\" || echo beside-refused; echo x >> \"$0\" || echo change-refused",
    )
    .unwrap();
    fs::write(&beside, "planted").unwrap();
    symlink(&script, host.join("link")).unwrap();
    let mut spec = seat.spec("/bin/sh", &[script.to_str().unwrap(), beside.to_str().unwrap()]);
    spec.reads = vec![script];
    let ran = seat.run(&spec).await;
    for line in ["the-script-ran", "beside-refused", "change-refused"] {
        ran.assert_line(line);
    }
}

pub(crate) async fn a_path_that_goes_up_again_leads_to_its_program(level: SandboxLevel) {
    let seat = Seat::new(level);
    let host = seat.host_folder();
    fs::create_dir_all(host.join("elsewhere")).unwrap();
    let script = host.join("agent.sh");
    fs::write(&script, "#!/bin/sh\necho the-program-ran\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let upwards = host.join("elsewhere/../agent.sh");
    seat.run(&seat.spec(upwards.to_str().unwrap(), &[]))
        .await
        .assert_line("the-program-ran");
}

pub(crate) async fn its_paths_are_always_the_same(level: SandboxLevel) {
    for _ in 0..2 {
        let seat = Seat::new(level);
        let ran = seat.shell("pwd; echo $HOME $TMPDIR; id -un", &[]).await;
        assert_eq!(ran.text, "/agent/work\n/agent/home /tmp\nagent\n");
        assert_eq!(seat.sandbox.home().to_str(), Some("/agent/home"));
    }
}

pub(crate) async fn attributes_of_files_stay_as_they_are(level: SandboxLevel) {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    const NAME: &str = "user.mcproctor";
    let seat = Seat::new(level);
    let precious = seat.host_folder().join("precious");
    fs::write(&precious, "").unwrap();
    setxattr(&precious, NAME, b"before", XattrFlags::empty()).unwrap();
    let program = r"
attempt('set', lambda: os.setxattr(sys.argv[1], sys.argv[2], b'after'))
attempt('remove', lambda: os.removexattr(sys.argv[1], sys.argv[2]))
attempt('set-link', lambda: os.setxattr(sys.argv[1], sys.argv[2], b'after', follow_symlinks=False))
path = ctypes.create_string_buffer(sys.argv[1].encode())
name = ctypes.create_string_buffer(sys.argv[2].encode())
attempt('remove-at', lambda: call(466, -100, path, 0, name))
os.open('own', os.O_CREAT)
print('copied', os.system('cp --preserve=all own other'))
";
    let ran = seat.python(program, &[precious.to_str().unwrap(), NAME]).await;
    // Whoever copies files with all that they have does without.
    ran.assert_line("copied 0");
    assert!(!ran.text.contains(" ok"), "{}", ran.text);
    let mut value = [0; 16];
    let length = getxattr(&precious, NAME, &mut value).unwrap();
    assert_eq!(&value[..length], b"before");
}
