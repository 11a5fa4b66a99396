//! Ways out.

use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcproctor_proto::assignment::SandboxLevel;

use crate::seat::Seat;

/// Answers `hello` on a loopback port, and counts.
struct Greeter {
    port: u16,
    met: Arc<AtomicUsize>,
}

impl Greeter {
    fn start() -> Self {
        use std::io::Write as _;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let met = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&met);
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                counter.fetch_add(1, Ordering::SeqCst);
                let _ = connection.unwrap().write_all(b"hello\n");
            }
        });
        Self { port, met }
    }

    fn met(&self) -> usize {
        self.met.load(Ordering::SeqCst)
    }
}

pub(crate) async fn only_the_ways_that_were_opened_are_reached(level: SandboxLevel) {
    let (proxy, relay, other) = (Greeter::start(), Greeter::start(), Greeter::start());
    let mut seat = Seat::new(level);
    let ways = [proxy.port, relay.port].map(|port| seat.sandbox.open_way(port).unwrap().to_string());
    let program = r#"
def reach(host, port):
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        print(connection.makefile().readline().strip())
for way in sys.argv[1:3]:
    reach('127.0.0.1', way)
attempt('other', lambda: reach('127.0.0.1', sys.argv[3]))
attempt('localhost', lambda: reach('localhost', sys.argv[3]))
attempt('six', lambda: reach('::1', sys.argv[3]))
attempt('metadata', lambda: reach('169.254.169.254', 80))
attempt('outside', lambda: reach('192.0.2.1', 443))
attempt('name', lambda: reach('example.com', 443))
"#;
    let ran = seat
        .python(program, &[&ways[0], &ways[1], &other.port.to_string()])
        .await;
    assert_eq!(
        ran.text.lines().filter(|line| *line == "hello").count(),
        2,
        "{}",
        ran.text
    );
    assert!(!ran.text.contains(" ok"), "{}", ran.text);
    let curl = r#"
        command -v curl >/dev/null || { echo "install curl: apt-get install curl"; exit 1; }
        for url in "http://127.0.0.1:$1/" http://169.254.169.254/latest/meta-data/ https://192.0.2.1/; do
            curl --silent --show-error --max-time 10 --http0.9 "$url" && echo escaped
            curl --silent --max-time 10 --proxy "http://127.0.0.1:$1" http://example.com/ && echo escaped
        done
        echo tried
    "#;
    let ran = seat.shell(curl, &[&other.port.to_string()]).await;
    ran.assert_line("tried");
    assert!(!ran.text.contains("escaped"), "{}", ran.text);
    assert_eq!((proxy.met(), relay.met(), other.met()), (1, 1, 0));
}

pub(crate) async fn no_other_kind_of_socket_is_made(level: SandboxLevel) {
    let seat = Seat::new(level);
    let program = r"
for name, args in {
    'udp': (socket.AF_INET, socket.SOCK_DGRAM),
    'udp6': (socket.AF_INET6, socket.SOCK_DGRAM),
    'raw': (socket.AF_INET, socket.SOCK_RAW, 1),
    'mptcp': (socket.AF_INET, socket.SOCK_STREAM, 262),
    'sctp': (socket.AF_INET, socket.SOCK_STREAM, 132),
    'packet': (socket.AF_PACKET, socket.SOCK_RAW),
    'netlink': (socket.AF_NETLINK, socket.SOCK_RAW),
    'unix': (socket.AF_UNIX, socket.SOCK_STREAM),
    'vsock': (socket.AF_VSOCK, socket.SOCK_STREAM),
    'alg': (socket.AF_ALG, socket.SOCK_SEQPACKET),
    'tcp': (socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC, 6),
    'tcp6': (socket.AF_INET6, socket.SOCK_STREAM),
}.items():
    attempt(name, lambda: socket.socket(*args).close())
for name, kind in {'stream': 1, 'seqpacket': 5, 'datagram': 2}.items():
    attempt('pair-' + name, lambda: socket.socketpair(socket.AF_UNIX, kind))
# The kernel looks at the lower half of the number only.
attempt('upper-half', lambda: call(41, ctypes.c_long(2 | 1 << 32), ctypes.c_long(2), 0))
attempt('x32', lambda: call(0x40000000 + 41, 2, 2, 0))
attempt('bind', lambda: socket.socket().bind(('127.0.0.1', 0)))
attempt('listen', lambda: socket.socket().listen())
";
    let ran = seat.python(program, &[]).await;
    for line in ["tcp ok", "tcp6 ok", "pair-stream ok", "pair-seqpacket ok"] {
        ran.assert_line(line);
    }
    let refused = [
        "udp",
        "udp6",
        "raw",
        "mptcp",
        "sctp",
        "packet",
        "netlink",
        "unix",
        "vsock",
        "alg",
        "pair-datagram",
        "bind",
        "listen",
    ];
    for name in refused {
        ran.assert_line(&format!("{name} EACCES"));
    }
    if cfg!(target_arch = "x86_64") {
        ran.assert_line("upper-half EACCES");
        ran.assert_line("x32 ENOSYS");
    }
}

pub(crate) async fn no_unix_socket_of_the_host_is_reached(level: SandboxLevel) {
    let seat = Seat::new(level);
    let host = seat.host_folder();
    let (stream, datagram) = (host.join("stream"), host.join("datagram"));
    let name = format!("mcproctor-{}", std::process::id());
    let _abstract_one = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let _stream = UnixListener::bind(&stream).unwrap();
    let heard = UnixDatagram::bind(&datagram).unwrap();
    heard.set_nonblocking(true).unwrap();
    let program = r"
attempt('path', lambda: socket.socket(socket.AF_UNIX).connect(sys.argv[1]))
attempt('abstract', lambda: socket.socket(socket.AF_UNIX).connect('\0' + sys.argv[3]))
def pair(use):
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    use(one)
attempt('pair-send', lambda: pair(lambda one: one.sendto(b'escaped', sys.argv[2])))
attempt('pair-connect', lambda: pair(lambda one: one.connect(sys.argv[2])))
def stream_pair(use):
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    use(one)
attempt('stream-pair-connect', lambda: stream_pair(lambda one: one.connect(sys.argv[1])))
";
    let args = [stream.to_str().unwrap(), datagram.to_str().unwrap(), &name];
    let ran = seat.python(program, &args).await;
    assert!(!ran.text.contains(" ok"), "{}", ran.text);
    assert!(heard.recv(&mut [0; 16]).is_err());
}

pub(crate) async fn data_does_not_travel_with_the_first_packet(level: SandboxLevel) {
    let other = Greeter::start();
    let seat = Seat::new(level);
    let program = r"
FASTOPEN = 0x20000000
address = ('127.0.0.1', int(sys.argv[1]))
attempt('sendto', lambda: socket.socket().sendto(b'escaped', FASTOPEN, address))
attempt('sendmsg', lambda: socket.socket().sendmsg([b'escaped'], [], FASTOPEN, address))
";
    let ran = seat.python(program, &[&other.port.to_string()]).await;
    assert!(!ran.text.contains(" ok"), "{}", ran.text);
    assert_eq!(other.met(), 0);
}

pub(crate) async fn there_is_no_interface_but_loopback(level: SandboxLevel) {
    let seat = Seat::new(level);
    let program = r"
print(socket.if_nameindex())
def send(host):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'escaped', (host, 53))
for host in ('8.8.8.8', '169.254.169.254', '192.0.2.1'):
    attempt('datagram', lambda: send(host))
attempt('vsock', lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))
attempt('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
";
    let ran = seat.python(program, &[]).await;
    ran.assert_line("[(1, 'lo')]");
    ran.assert_line("vsock EACCES");
    assert!(!ran.text.contains(" ok"), "{}", ran.text);
}

pub(crate) async fn large_and_slow_answers_come_through_the_ways_whole(level: SandboxLevel) {
    use std::io::{Read as _, Write as _};
    const SIZE: usize = 3_000_000;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // Reads to the end, then answers in two pieces: both directions end by themselves.
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut heard = Vec::new();
            connection.read_to_end(&mut heard).unwrap();
            connection.write_all(&heard).unwrap();
            connection.write_all(b"end").unwrap();
        }
    });
    let mut seat = Seat::new(level);
    let way = seat.sandbox.open_way(port).unwrap().to_string();
    let program = r"
import threading
def echo():
    connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])), timeout=20)
    sent = os.urandom(int(sys.argv[2]))
    def send():
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
    threading.Thread(target=send).start()
    heard = b''.join(iter(lambda: connection.recv(1 << 16), b''))
    print('whole' if heard == sent + b'end' else 'cut')
threads = [threading.Thread(target=echo) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
";
    let ran = seat.python(program, &[&way, &SIZE.to_string()]).await;
    assert_eq!(ran.text, "whole\n".repeat(4));
}
