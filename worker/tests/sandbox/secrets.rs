//! A key that no agent may find.

use std::fs;
use std::path::Path;
use std::process::{Child, Command};

use mcproctor_proto::assignment::SandboxLevel;

use crate::seat::Seat;

/// Cut in two, so that the program that searches does not find itself.
const PLANTED: [&str; 2] = ["sk-planted", "key-of-nobody"];

/// Looks for the key wherever something can be read, in the processes and below the folders that follow, or, without any, in all.
const SEARCH: &str = r#"
planted = ('-'.join([sys.argv[1], sys.argv[2]])).encode()
host, few = sys.argv[3], sys.argv[4:]
looked = 0
def look(where, data):
    global looked
    looked += 1
    if planted in data:
        print('found in', where)
def read(path):
    try:
        with open(path, 'rb') as file:
            look(path, file.read(1 << 20))
    except (OSError, ValueError):
        pass
def look_into(memory, where, start, end):
    last = b''
    while start < end:
        memory.seek(start)
        piece = memory.read(min(end - start, 1 << 24))
        if not piece:
            return
        look(where, last + piece)
        start, last = start + len(piece), piece[-len(planted):]
look('environment', repr(os.environ).encode())
for process in few or map(str, range(1, 100000)):
    if int(process) == os.getpid() or not os.path.isdir('/proc/' + process):
        continue
    for name in ('cmdline', 'environ', 'mountinfo', 'maps', 'comm', 'status'):
        read(f'/proc/{process}/{name}')
    try:
        with open(f'/proc/{process}/maps') as maps, open(f'/proc/{process}/mem', 'rb', 0) as memory:
            for line in maps:
                if line.split()[1].startswith('r'):
                    start, end = (int(x, 16) for x in line.split()[0].split('-'))
                    try:
                        look_into(memory, f'memory of {process}', start, end)
                    except (OSError, ValueError, OverflowError):
                        # The kernel's own pages are shown and cannot be read.
                        pass
    except OSError:
        pass
roots = () if few else ('/tmp', '/root', '/home', '/var', '/run', '/opt', '/srv', '/etc')
for root in (*roots, host, os.getcwd(), os.environ['HOME']):
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                read(path)
read(host + '/credentials')
print('looked' if looked else 'idle')
"#;

/// A process that has the key in its arguments and its environment, and so in its memory, as a server under test may have it.
struct Server(Child);

impl Server {
    fn start(key: &str) -> Self {
        let server = Command::new("/usr/bin/python3")
            .args(["-c", "import time; time.sleep(600)", key])
            .env("SERVER_KEY", key)
            .spawn();
        Self(server.unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn plant(host: &Path) -> (String, Server) {
    let key = PLANTED.join("-");
    fs::write(host.join("credentials"), &key).unwrap();
    let server = Server::start(&key);
    (key, server)
}

pub(crate) async fn a_planted_key_is_found_nowhere(level: SandboxLevel) {
    let seat = Seat::new(level);
    let host = seat.host_folder();
    let (key, _server) = plant(&host);
    // In this process's memory as well.
    let held = key.clone();
    let ran = seat
        .python(SEARCH, &[PLANTED[0], PLANTED[1], host.to_str().unwrap()])
        .await;
    assert_eq!(held, key);
    ran.assert_line("looked");
    assert!(!ran.text.contains("found in"), "{}", ran.text);
}

/// The same search finds the key where nothing keeps it from that.
pub(crate) async fn a_planted_key_is_found_where_nothing_is_closed(level: SandboxLevel) {
    let seat = Seat::new(level);
    let host = seat.host_folder();
    let (_, server) = plant(&host);
    // A system may let only a parent read a process's memory, so there is a child, too.
    let program = format!(
        "
import signal
child = os.fork()
if child == 0:
    planted = '-'.join(sys.argv[1:3])
    signal.pause()
sys.argv.append(str(child))
{SEARCH}
os.kill(child, signal.SIGKILL)
print('child', child)
"
    );
    let (server, host) = (server.0.id().to_string(), host.display().to_string());
    let ran = seat.python(&program, &[PLANTED[0], PLANTED[1], &host, &server]).await;
    let child = ran.text.lines().find_map(|line| line.strip_prefix("child ")).unwrap();
    for place in [
        format!("/proc/{server}/cmdline"),
        format!("/proc/{server}/environ"),
        format!("memory of {child}"),
        format!("{host}/credentials"),
    ] {
        ran.assert_line(&format!("found in {place}"));
    }
}
