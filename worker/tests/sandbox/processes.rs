//! Other processes, and its own.

use std::process::{Child, Command};

use mcproctor_proto::assignment::SandboxLevel;
use mcproctor_worker::sandbox::{Limits, Output};
use rustix::process::{Pid, Signal, kill_process};

use crate::containers;
use crate::seat::{Seat, alive, finish, until};

/// A process of the host's, ended with the test.
struct Bystander(Child);

impl Bystander {
    fn start() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) async fn arguments_input_output_and_exit_arrive_unchanged(level: SandboxLevel) {
    let seat = Seat::new(level);
    let mut spec = seat.spec(
        "/bin/sh",
        &[
            "-c",
            "printf '%s|' \"$@\"; wc -c; printf oops >&2; exit 7",
            "sh",
            "--",
            "a b",
            "",
            "-x=\"y\"",
        ],
    );
    spec.stdin = vec![b'x'; 200_000];
    let ran = seat.run(&spec).await;
    assert_eq!(ran.text.trim(), "--|a b||-x=\"y\"|200000");
    assert_eq!(
        (ran.end.code, ran.end.signal, ran.end.sandbox_fault),
        (Some(7), None, None)
    );
    assert_eq!(ran.end.stderr_tail, "oops");
    let ran = seat.shell("kill -SEGV $$", &[]).await;
    assert_eq!((ran.end.code, ran.end.signal), (None, Some(11)), "{:?}", ran.end);
}

pub(crate) async fn no_signal_and_no_debugger_reaches_the_worker(level: SandboxLevel) {
    let seat = Seat::new(level);
    let bystander = Bystander::start();
    let program = r"
import signal
worker, bystander = int(sys.argv[1]), int(sys.argv[2])
for name, pid in {'worker': worker, 'bystander': bystander, 'parent': os.getppid()}.items():
    attempt('ask-' + name, lambda: os.kill(pid, 0) if pid else None)
    if name != 'parent':
        attempt('kill-' + name, lambda: os.kill(pid, signal.SIGKILL))
        attempt('memory-' + name, lambda: open(f'/proc/{pid}/mem', 'rb').read(1))
        attempt('environment-' + name, lambda: open(f'/proc/{pid}/environ', 'rb').read(1))
        def attach():
            libc.ptrace.restype = ctypes.c_long
            if libc.ptrace(16, pid, 0, 0) != 0:
                raise OSError(ctypes.get_errno(), '')
        attempt('attach-' + name, attach)
        attempt('handle-' + name, lambda: call(438, call(434, pid, 0), 0, 0))
attempt('kill-parent', lambda: os.kill(os.getppid(), signal.SIGKILL))
__import__('time').sleep(0.2)
print('still here')
";
    let args = [std::process::id().to_string(), bystander.0.id().to_string()];
    let ran = seat.python(program, &[&args[0], &args[1]]).await;
    for what in ["kill", "memory", "environment", "attach", "handle"] {
        for whom in ["worker", "bystander"] {
            let line = format!("{what}-{whom} ok");
            assert!(!ran.text.lines().any(|found| found == line), "{}", ran.text);
        }
    }
    ran.assert_line("still here");
    assert!(alive(bystander.0.id()));
}

pub(crate) async fn it_leaves_nothing_in_the_kernel_and_limits_nobody_else(level: SandboxLevel) {
    let shared = || {
        let read = |kind| std::fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap();
        ["shm", "msg", "sem"].map(read)
    };
    let before = shared();
    let seat = Seat::new(level);
    let bystander = Bystander::start();
    let program = r"
import resource
attempt('memory', lambda: libc.shmget(0x6d63, 4096, 0o1666))
attempt('queue', lambda: libc.msgget(0x6d63, 0o1666))
attempt('semaphore', lambda: libc.semget(0x6d63, 1, 0o1666))
attempt('limit', lambda: resource.prlimit(int(sys.argv[1]), resource.RLIMIT_CORE, (0, 0)))
print('own', resource.prlimit(0, resource.RLIMIT_CORE))
";
    let ran = seat.python(program, &[&bystander.0.id().to_string()]).await;
    assert!(!ran.text.contains("limit ok"), "{}", ran.text);
    assert!(ran.text.contains("own ("), "{}", ran.text);
    assert_eq!(shared(), before);
}

pub(crate) async fn whoever_kills_what_holds_an_agent_is_not_the_agent(level: SandboxLevel) {
    let seat = Seat::new(level);
    let mut process = seat.start(&seat.spec("/bin/sh", &["-c", "echo on; sleep 600"]), Limits::default());
    assert!(matches!(process.next().await, Output::Line(_)));
    let holder = Pid::from_raw(process.id().unwrap()).unwrap();
    kill_process(holder, Signal::KILL).unwrap();
    let ran = finish(process).await;
    let fault = ran.end.sandbox_fault.unwrap_or_default();
    assert!(fault.contains("ended from outside"), "{fault}");
}

pub(crate) async fn it_has_no_capability_and_gains_none(level: SandboxLevel) {
    let seat = Seat::new(level);
    let program = r"
print(open('/proc/self/status').read())
attempt('root', lambda: os.setuid(0) if os.getuid() else os.setuid(1))
attempt('chroot', lambda: os.chroot('.'))
attempt('hostname', lambda: socket.sethostname('escaped'))
attempt('time', lambda: __import__('time').clock_settime(0, 0))
";
    let ran = seat.python(program, &[]).await;
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        let value = ran.text.lines().find(|line| line.starts_with(set)).unwrap();
        // An ordinary user cannot shrink the bounding set; with no new privileges it gives nothing.
        if set != "CapBnd" || rustix::process::geteuid().is_root() {
            assert!(value.ends_with("\t0000000000000000"), "{value}");
        }
    }
    ran.assert_line("NoNewPrivs:\t1");
    ran.assert_line("Seccomp:\t2");
    assert!(!ran.text.contains(" ok"), "{}", ran.text);
}

pub(crate) async fn it_makes_no_namespace_and_no_ring(level: SandboxLevel) {
    let seat = Seat::new(level);
    let program = r"
NEWUSER, NEWNET, NEWNS = 0x10000000, 0x40000000, 0x00020000
attempt('unshare', lambda: call(272, NEWUSER))
attempt('clone', lambda: call(56, NEWUSER | 17, 0, 0, 0, 0))
attempt('clone3', lambda: call(435, 0, 0))
attempt('ring', lambda: call(425, 8, ctypes.create_string_buffer(120)))
attempt('keys', lambda: call(250, 0, -3, 1))
attempt('bpf', lambda: call(321, 0, 0, 0))
";
    let ran = seat.python(program, &[]).await;
    if cfg!(target_arch = "x86_64") {
        for line in [
            "unshare EPERM",
            "clone EPERM",
            "clone3 ENOSYS",
            "ring ENOSYS",
            "keys EPERM",
            "bpf EPERM",
        ] {
            ran.assert_line(line);
        }
    }
}

pub(crate) async fn it_inherits_no_file_of_the_worker(level: SandboxLevel) {
    use std::os::fd::AsRawFd as _;
    let seat = Seat::new(level);
    let open = tempfile::tempfile().unwrap();
    rustix::io::fcntl_setfd(&open, rustix::io::FdFlags::empty()).unwrap();
    assert!(open.as_raw_fd() > 2);
    let ran = seat
        .python("print(sorted(int(name) for name in os.listdir('/proc/self/fd')))", &[])
        .await;
    // The fourth is the folder that is being listed.
    assert_eq!(ran.text.trim(), "[0, 1, 2, 3]");
}

pub(crate) async fn daemons_end_with_it(level: SandboxLevel) {
    let seat = Seat::new(level);
    let mark = format!("6{}", std::process::id());
    let script = r#"
        (setsid sleep "$1" >/dev/null 2>&1 </dev/null &)
        (cd / && env -i setsid sh -c 'sleep "$1" >/dev/null 2>&1 </dev/null &' sh "$1" &)
        sleep "$1" &
        sleep 0.3
        echo laid
    "#;
    let ran = seat.shell(script, &[&mark]).await;
    ran.assert_line("laid");
    assert!(ran.end.leftovers >= 3, "{:?}", ran.end);
    until("the daemons are gone", || sleeping(&mark) == 0).await;
}

pub(crate) async fn signals_are_passed_on_and_the_dead_are_buried(level: SandboxLevel) {
    let seat = Seat::new(level);
    let script = r#"
        for index in 1 2 3 4 5; do (setsid sh -c 'exit 0' &) ; done
        trap 'echo told; exit 5' TERM
        echo ready
        while :; do sleep 0.05; done
    "#;
    let mut process = seat.start(&seat.spec("/bin/sh", &["-c", script]), Limits::default());
    assert!(matches!(process.next().await, Output::Line(_)));
    let first = process.id().unwrap();
    until("nobody waits to be buried", || {
        let firsts = [Some(first), first_in_the_container(&seat)];
        firsts.into_iter().flatten().all(|first| zombies_below(first) == 0)
    })
    .await;
    if level == SandboxLevel::Container {
        assert!(first_in_the_container(&seat).is_some());
    }
    let supervisor = supervisor_below(first);
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(supervisor).unwrap(),
        rustix::process::Signal::TERM,
    )
    .unwrap();
    let ran = crate::seat::finish(process).await;
    ran.assert_line("told");
    assert_eq!(ran.end.code, Some(5));
}

fn stat_of(pid: i32) -> Option<(char, i32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit(')').next()?.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// A process with its descendants: number and state.
fn below(first: i32) -> Vec<(i32, char)> {
    let processes: Vec<(i32, char, i32)> = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| stat_of(pid).map(|(state, parent)| (pid, state, parent)))
        .collect();
    let mut found: Vec<(i32, char)> = processes
        .iter()
        .filter(|(pid, ..)| *pid == first)
        .map(|p| (p.0, p.1))
        .collect();
    let mut next = 0;
    while let Some(&(parent, _)) = found.get(next) {
        found.extend(processes.iter().filter(|p| p.2 == parent).map(|p| (p.0, p.1)));
        next += 1;
    }
    found
}

/// Our own program where it is the first process of a container. It carries the mark, which an ordinary user may not see.
fn first_in_the_container(seat: &Seat) -> Option<i32> {
    let mark = format!("MCPROCTOR_ATTEMPT={}", seat.name());
    let has = |pid: i32, file: &str, wanted: &str| {
        let text = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        text.split(|&byte| byte == 0).any(|part| part == wanted.as_bytes())
    };
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    numbers
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .find(|&pid| {
            let may_see = std::fs::read(format!("/proc/{pid}/environ")).is_ok();
            has(pid, "cmdline", "/run/mcproctor/launcher") && (has(pid, "environ", &mark) || !may_see)
        })
}

fn zombies_below(first: i32) -> usize {
    below(first).iter().filter(|(_, state)| *state == 'Z').count()
}

/// Our own program, which is the parent of the agent.
fn supervisor_below(first: i32) -> i32 {
    let is_ours = |pid: i32| {
        std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
            line.split(|&byte| byte == 0)
                .nth(1)
                .is_some_and(|word| word == b"sandboxed")
        })
    };
    below(first)
        .into_iter()
        .map(|(pid, _)| pid)
        .find(|&pid| is_ours(pid))
        .unwrap()
}

pub(crate) async fn nothing_outlives_a_killed_worker(level: SandboxLevel) {
    let base = tempfile::tempdir().unwrap();
    let mark = format!("8{}", std::process::id());
    let example = crate::seat::held_agent();
    let mut worker = Command::new(example)
        .arg(base.path())
        .arg(level.name())
        .arg(crate::seat::launcher().program)
        .arg(&mark)
        .spawn()
        .unwrap();
    until("the agent and its daemon are there", || sleeping(&mark) == 2).await;
    // Under a root user nothing keeps root from reading it.
    let read = std::fs::read(format!("/proc/{}/environ", worker.id()));
    assert_eq!(
        read.is_ok(),
        rustix::process::geteuid().is_root(),
        "the worker keeps to itself"
    );
    let of_base = || std::fs::read_dir(base.path()).unwrap().flatten();
    let names: Vec<_> = of_base()
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let name = names.iter().find(|name| name.starts_with("attempt-")).unwrap();
    if level == SandboxLevel::Container {
        assert_ne!(containers::of(name), "", "it runs in one");
    }
    worker.kill().unwrap();
    worker.wait().unwrap();
    until("both are gone", || sleeping(&mark) == 0).await;
    assert_eq!(mcproctor_worker::sandbox::Sandbox::remove_stale(base.path()), 1);
    assert_eq!(std::fs::read_dir(base.path()).unwrap().count(), 0);
    assert!(!crate::limits::groups().contains(name));
    if level == SandboxLevel::Container {
        assert_eq!(containers::of(name), "");
    }
}

/// Processes that sleep for this long.
fn sleeping(seconds: &str) -> usize {
    let wanted = format!("sleep\0{seconds}\0").into_bytes();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|process| std::fs::read(process.path().join("cmdline")).is_ok_and(|line| line == wanted))
        .count()
}

pub(crate) async fn a_program_that_cannot_be_started_is_a_fault_of_the_sandbox(level: SandboxLevel) {
    let seat = Seat::new(level);
    let ran = seat.run(&seat.spec("/usr/bin/no-such-agent", &[])).await;
    let fault = ran.end.sandbox_fault.unwrap();
    assert!(fault.contains("/usr/bin/no-such-agent"), "{fault}");
}

pub(crate) async fn nothing_is_left_after_many(level: SandboxLevel) {
    // Those of containers of other tests, which an engine makes where everybody sees them, are none of this one's.
    let mounts = || {
        let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let of_engine = |line: &str| {
            [" - overlay ", " - nsfs ", " - tmpfs shm "]
                .iter()
                .any(|kind| line.contains(kind))
        };
        text.lines().filter(|line| !of_engine(line)).count()
    };
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let mark = format!("7{}", std::process::id());
    // What is opened once and for all is open after the first.
    Seat::new(level).shell("exit 0", &[]).await;
    let before = (mounts(), descriptors());
    for index in 0..25 {
        let seat = Seat::new(level);
        let sandboxes = seat.sandboxes();
        let spec = seat.spec("/bin/sh", &["-c", "setsid sleep \"$1\" & echo on; wait", "sh", &mark]);
        let mut process = seat.start(&spec, Limits::default());
        assert!(matches!(process.next().await, Output::Line(_)));
        match index % 3 {
            0 => process.kill_tree().await,
            1 => drop(process),
            _ => seat.sandbox.end_processes().await,
        }
        let name = seat.name();
        drop(seat.sandbox);
        assert_eq!(std::fs::read_dir(&sandboxes).unwrap().count(), 0);
        if level == SandboxLevel::Container {
            assert_eq!(containers::of(&name), "");
        }
    }
    until("the sleepers are gone", || sleeping(&mark) == 0).await;
    until("the descriptors are closed", || (mounts(), descriptors()) == before).await;
}

pub(crate) async fn it_sees_no_process_but_its_own(level: SandboxLevel) {
    let seat = Seat::new(level);
    let program = "
seen = [name for name in os.listdir('/proc') if name.isdigit()]
seen.remove(str(os.getpid()))
print(seen, os.getuid(), socket.gethostname())
";
    let ran = seat.python(program, &[]).await;
    // An engine knows no other numbers for users than the host's.
    let user = rustix::process::geteuid();
    let number = match level {
        SandboxLevel::Container if !user.is_root() => user.as_raw(),
        _ => 1000,
    };
    assert_eq!(ran.text.trim(), format!("['1'] {number} sandbox"));
}
