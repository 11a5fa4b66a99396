//! What only a container has: an engine, and a first process that was told what to do from outside.

use std::process::Command;

use mcproctor_proto::assignment::SandboxLevel;
use mcproctor_worker::sandbox::{Limits, Output};
use secrecy::SecretString;

use crate::seat::Seat;

/// What an engine that is there answers.
fn engine(args: &[&str]) -> String {
    let answer = ["docker", "podman"].into_iter().find_map(|engine| {
        let output = Command::new(engine).args(args).output().ok()?;
        output.status.success().then_some(output.stdout)
    });
    String::from_utf8(answer.expect("scripts/engine starts one")).unwrap()
}

/// The containers of the sandbox of this name, running or not, a line each.
pub(crate) fn of(sandbox: &str) -> String {
    let filter = format!("label=mcproctor.sandbox={sandbox}");
    engine(&["ps", "--all", "--quiet", "--filter", &filter])
}

pub(crate) async fn its_first_process_and_its_way_in_are_closed_to_it(level: SandboxLevel) {
    let seat = Seat::new(level);
    let program = r"
attempt('entrance', lambda: socket.socket(socket.AF_UNIX).connect('/run/mcproctor/ways/entrance'))
attempt('own-entrance', lambda: socket.socket(socket.AF_UNIX).bind('/run/mcproctor/ways/entrance'))
attempt('memory', lambda: open('/proc/1/mem', 'rb').read(1))
attempt('environment', lambda: open('/proc/1/environ', 'rb').read(1))
attempt('files', lambda: os.listdir('/proc/1/fd'))
def attach():
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(16, 1, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), '')
attempt('attach', attach)
attempt('take-a-file', lambda: call(438, call(434, 1, 0), 3, 0))
attempt('engine', lambda: socket.socket(socket.AF_UNIX).connect('/var/run/docker.sock'))
print('machine', os.listdir('/sys'))
";
    let ran = seat.python(program, &[]).await;
    assert!(!ran.text.contains(" ok"), "{}", ran.text);
    ran.assert_line("machine []");
}

pub(crate) async fn the_engine_is_told_nothing_of_the_agent(level: SandboxLevel) {
    let seat = Seat::new(level);
    let script = "read line; echo \"$line $TOKEN $1\"; sleep 600";
    let mut spec = seat.spec("/bin/sh", &["-c", script, "sh", "an-argument"]);
    spec.env.insert("TOKEN".to_owned(), SecretString::from("a-secret"));
    spec.stdin = b"a-message\n".to_vec();
    let mut process = seat.start(&spec, Limits::default());
    match process.next().await {
        Output::Line(line) => assert_eq!(line, b"a-message a-secret an-argument"),
        Output::Ended(end) => panic!("{end:?}"),
    }
    let id = of(&seat.name());
    let record = engine(&["inspect", id.trim()]);
    assert!(record.contains(&seat.name()), "{record}");
    for part in ["an-argument", "a-secret", "a-message", "read line", "TOKEN"] {
        assert!(!record.contains(part), "{part}: {record}");
    }
    process.kill_tree().await;
}
