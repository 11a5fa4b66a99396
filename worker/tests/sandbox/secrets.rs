//! A key that no agent may find.

use std::fs;
use std::process::Command;

use mcproctor_proto::assignment::SandboxLevel;

use crate::seat::Seat;

/// Cut in two, so that the program that searches does not find itself.
const PLANTED: [&str; 2] = ["sk-planted", "key-of-nobody"];

pub(crate) async fn a_planted_key_is_found_nowhere(level: SandboxLevel) {
    let key = PLANTED.join("-");
    let seat = Seat::new(level);
    let host = seat.host_folder();
    fs::write(host.join("credentials"), &key).unwrap();
    // In another process's arguments and environment, as a server under test may have it.
    let mut server = Command::new("/usr/bin/python3")
        .args(["-c", "import time; time.sleep(600)", &key])
        .env("SERVER_KEY", &key)
        .spawn()
        .unwrap();
    // And in this one's memory.
    let held = key.clone();
    let program = r#"
import re
planted = ('-'.join([sys.argv[1], sys.argv[2]])).encode()
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
look('environment', repr(os.environ).encode())
for process in map(str, range(1, 100000)):
    if int(process) == os.getpid():
        continue
    if not os.path.isdir('/proc/' + process):
        continue
    for name in ('cmdline', 'environ', 'mountinfo', 'maps', 'comm', 'status'):
        read(f'/proc/{process}/{name}')
    try:
        with open(f'/proc/{process}/maps') as maps, open(f'/proc/{process}/mem', 'rb', 0) as memory:
            for line in maps:
                start, end = (int(x, 16) for x in line.split()[0].split('-'))
                memory.seek(start)
                look(f'memory of {process}', memory.read(end - start))
    except (OSError, ValueError, OverflowError):
        pass
for root in ('/tmp', '/root', '/home', '/var', '/run', '/opt', '/srv', '/etc', sys.argv[3], os.getcwd(), os.environ['HOME']):
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                read(path)
read(sys.argv[3] + '/credentials')
print('looked' if looked else 'idle')
"#;
    let ran = seat
        .python(program, &[PLANTED[0], PLANTED[1], host.to_str().unwrap()])
        .await;
    let _ = server.kill();
    let _ = server.wait();
    assert_eq!(held, key);
    ran.assert_line("looked");
    assert!(!ran.text.contains("found in"), "{}", ran.text);
}
