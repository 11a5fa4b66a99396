//! Using up what there is.

use mcproctor_proto::assignment::{DEFAULT_IMAGE, Resources, SandboxLevel};
use mcproctor_worker::sandbox::{Limits, Output, Shortage, not_enforced};

use crate::seat::{Ran, Seat, alive, finish};

/// The control groups of attempts, a folder a line.
pub(crate) fn groups() -> String {
    let found = std::process::Command::new("find")
        .args(["/sys/fs/cgroup", "-name", "attempt-*"])
        .output()
        .unwrap();
    String::from_utf8_lossy(&found.stdout).into_owned()
}

const MB: u64 = 1024 * 1024;

async fn run_within(seat: &Seat, resources: Resources, program: &str) -> Ran {
    let limits = Limits {
        resources,
        ..Limits::default()
    };
    let spec = seat.spec("/usr/bin/python3", &["-c", program]);
    finish(seat.start(&spec, limits)).await
}

/// What cannot be enforced has to be said, and what is not said has to be enforced.
fn said_to_be_open(level: SandboxLevel, resources: &Resources, key: &str) -> bool {
    not_enforced(level, DEFAULT_IMAGE, resources)
        .iter()
        .any(|what| what.contains(key))
}

pub(crate) async fn a_fork_bomb_stays_within_its_limit(level: SandboxLevel) {
    let seat = Seat::new(level);
    let resources = Resources {
        processes: Some(60),
        ..Resources::default()
    };
    if said_to_be_open(level, &resources, "processes") {
        // Only a root user is not bound by what an ordinary process can lay on itself. Asking for it breaks nothing.
        assert!(level == SandboxLevel::Process || rustix::process::geteuid().is_root());
        run_within(&seat, resources, "print('well')").await.assert_line("well");
        return;
    }
    // Bounded by itself as well, should nothing else bound it.
    let program = "
import os, time
made = 0
try:
    for _ in range(400):
        if os.fork() == 0:
            time.sleep(600)
        made += 1
except BlockingIOError:
    print('refused')
print('made', made)
";
    let ran = run_within(&seat, resources, program).await;
    ran.assert_line("refused");
    let made: u32 = ran
        .text
        .lines()
        .find_map(|line| line.strip_prefix("made "))
        .unwrap()
        .parse()
        .unwrap();
    assert!((10..=80).contains(&made), "{made}");
    assert!(ran.end.leftovers >= made as usize, "{:?}", ran.end);
    // It ended well, so nothing is held against the limit.
    assert_eq!((ran.end.code, ran.end.short_of), (Some(0), None), "{:?}", ran.end);
    // The next one is not affected.
    seat.shell("echo well", &[]).await.assert_line("well");
}

pub(crate) async fn whoever_needs_more_processes_than_the_limit_is_told_from_whoever_fails(level: SandboxLevel) {
    let resources = Resources {
        processes: Some(60),
        ..Resources::default()
    };
    let shortage = Shortage::Processes { limit: 60 };
    assert!(shortage.to_string().contains("`run.sandbox.processes`, which is 60"));
    // Threads count as well.
    let program = "
import sys, threading, time
try:
    for _ in range(100):
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
except RuntimeError:
    print('refused', flush=True)
    if sys.argv[1:] == ['hangs']:
        time.sleep(600)
    sys.exit(1)
";
    let seat = Seat::new(level);
    let ran = run_within(&seat, resources, program).await;
    if !counted_by_a_group(level, &resources) {
        // A limit that a process lays on itself is not counted by anybody.
        assert_eq!(ran.end.short_of, None, "{:?}", ran.end);
        return;
    }
    ran.assert_line("refused");
    assert_eq!(ran.end.code, Some(1), "{:?}", ran.end);
    assert_eq!(ran.end.short_of, Some(shortage), "{:?}", ran.end);
    // Also when it hangs and has to be ended.
    let seat = Seat::new(level);
    let spec = seat.spec("/usr/bin/python3", &["-c", program, "hangs"]);
    let limits = Limits {
        resources,
        ..Limits::default()
    };
    let mut process = seat.start(&spec, limits);
    assert!(matches!(process.next().await, Output::Line(_)));
    process.kill_tree().await;
    let ran = finish(process).await;
    assert_eq!(ran.end.short_of, Some(shortage), "{:?}", ran.end);
    // Whoever fails without having reached the limit fails.
    let seat = Seat::new(level);
    let ran = run_within(&seat, resources, "raise SystemExit(1)").await;
    assert_eq!((ran.end.code, ran.end.short_of), (Some(1), None), "{:?}", ran.end);
}

/// Whether a control group limits processes here.
fn counted_by_a_group(level: SandboxLevel, resources: &Resources) -> bool {
    // At this level nothing else limits them.
    let level = match level {
        SandboxLevel::Container => level,
        _ => SandboxLevel::Process,
    };
    !said_to_be_open(level, resources, "processes")
}

pub(crate) async fn who_prints_without_end_is_ended_with_all_that_it_started(level: SandboxLevel) {
    let seat = Seat::new(level);
    let limits = Limits {
        output_bytes: MB,
        ..Limits::default()
    };
    // What it starts has no mark by which a search would find it: no environment, another folder and a session of its own.
    let script = r#"(cd / && exec env -i setsid sleep "$1" </dev/null >/dev/null 2>&1) & sleep 0.2; exec yes"#;
    let time = format!("987.{}", std::process::id());
    let ran = finish(seat.start(&seat.spec("/bin/sh", &["-c", script, "sh", &time]), limits)).await;
    assert!(ran.end.output_fault.unwrap().contains("more than 1048576 bytes"));
    assert_eq!(ran.end.sandbox_fault, None);
    let line = format!("sleep\0{time}\0");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    assert_eq!(lines.filter(|found| found == line.as_bytes()).count(), 0);
}

pub(crate) async fn a_file_that_grows_past_the_limit_is_cut_and_many_are_noticed(level: SandboxLevel) {
    let resources = Resources {
        disk_bytes: Some(20 * MB),
        ..Resources::default()
    };
    let seat = Seat::new(level);
    let script = "dd if=/dev/zero of=large bs=1M count=30 2>/dev/null || echo refused; echo after; rm large";
    let limits = Limits {
        resources,
        ..Limits::default()
    };
    let ran = finish(seat.start(&seat.spec("/bin/sh", &["-c", script]), limits)).await;
    ran.assert_line("refused");
    ran.assert_line("after");
    let seat = Seat::new(level);
    let program = "
import os, time
for index in range(60):
    with open(os.path.join(os.environ['HOME'], str(index)), 'wb') as file:
        file.write(b'x' * 1000000)
time.sleep(600)
";
    let ran = run_within(&seat, resources, program).await;
    assert_eq!(
        ran.end.short_of,
        Some(Shortage::Disk { limit: 20 * MB }),
        "{:?}",
        ran.end
    );
}

pub(crate) async fn memory_beyond_the_limit_ends_it_and_is_told(level: SandboxLevel) {
    let seat = Seat::new(level);
    let resources = Resources {
        memory_bytes: Some(200 * MB),
        ..Resources::default()
    };
    if said_to_be_open(level, &resources, "memoryMb") {
        // An ordinary user can seldom make a group. Asking for one breaks nothing.
        run_within(&seat, resources, "print('well')").await.assert_line("well");
        return;
    }
    let ran = run_within(&seat, resources, "x = b'x' * 900_000_000; print('had it')").await;
    assert!(!ran.text.contains("had it"), "{}", ran.text);
    let shortage = Shortage::Memory { limit: Some(200 * MB) };
    assert_eq!(ran.end.short_of, Some(shortage), "{:?}", ran.end);
    // Who dies of what its child took is not blamed, and who gets over it is not touched.
    for (code, short_of) in [(1, Some(shortage)), (0, None)] {
        let seat = Seat::new(level);
        let program = format!(
            "import subprocess, sys; subprocess.run([sys.executable, '-c', \"x = b'x' * 900_000_000\"]); sys.exit({code})"
        );
        let ran = run_within(&seat, resources, &program).await;
        assert_eq!(ran.end.code, Some(code), "{:?}", ran.end);
        assert_eq!(ran.end.short_of, short_of, "{:?}", ran.end);
    }
    // A program that stays below it is not touched.
    let seat = Seat::new(level);
    run_within(&seat, resources, "x = b'x' * 50_000_000; print('had it')")
        .await
        .assert_line("had it");
}

pub(crate) async fn the_groups_are_gone_afterwards(level: SandboxLevel) {
    let seat = Seat::new(level);
    let resources = Resources {
        memory_bytes: Some(500 * MB),
        processes: Some(200),
        cpus: Some(1),
        disk_bytes: None,
    };
    let ran = run_within(
        &seat,
        resources,
        "import os; print(os.getpid()); os.fork() or __import__('time').sleep(600)",
    )
    .await;
    assert_eq!(ran.end.code, Some(0), "{:?}", ran.end);
    assert!(ran.end.leftovers >= 1);
    let name = seat.name();
    drop(seat.sandbox);
    assert!(!groups().contains(&name));
    assert!(alive(std::process::id()));
}
