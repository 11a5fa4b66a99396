//! Carrying the ways out of a network namespace: from loopback ports inside to Unix sockets, which lead outside.

use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use super::error::InsideError;
use crate::sandbox::plan::Way;

/// Enough for copying; there are two threads for each connection.
const STACK: usize = 128 * 1024;

/// How long to wait when no connection can be accepted.
const PAUSE: Duration = Duration::from_millis(50);

/// A port that listens, and where it leads.
#[derive(Debug)]
pub(super) struct Listening {
    port: TcpListener,
    socket: PathBuf,
}

/// Listens at every port, before the agent is there to find one closed.
pub(super) fn listen(ways: &[Way]) -> Result<Vec<Listening>, InsideError> {
    ways.iter()
        .map(|way| {
            let port = TcpListener::bind((Ipv4Addr::LOCALHOST, way.port)).map_err(InsideError::Way)?;
            Ok(Listening {
                port,
                socket: way.socket.clone(),
            })
        })
        .collect()
}

/// Carries from now on, in threads that end with the process.
pub(super) fn carry(ways: Vec<Listening>) {
    for way in ways {
        // Without a thread the agent finds its server silent, which the exposure tells.
        let _ = spawn(move || {
            for connection in way.port.incoming() {
                let Ok(inside) = connection else {
                    // Out of descriptors, most likely, until some come back.
                    thread::sleep(PAUSE);
                    continue;
                };
                let Ok(outside) = UnixStream::connect(&way.socket) else {
                    continue;
                };
                let _ = join(inside, outside);
            }
        });
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().stack_size(STACK).spawn(work).map(drop)
}

/// Copies both ways. The end of one direction is passed on while the other goes on.
fn join(inside: TcpStream, outside: UnixStream) -> io::Result<()> {
    // A stream of small pieces is not to wait for larger ones.
    inside.set_nodelay(true)?;
    let (mut from_inside, mut to_inside) = (inside.try_clone()?, inside);
    let (mut from_outside, mut to_outside) = (outside.try_clone()?, outside);
    spawn(move || {
        let _ = io::copy(&mut from_inside, &mut to_outside);
        let _ = to_outside.shutdown(Shutdown::Write);
    })?;
    spawn(move || {
        let _ = io::copy(&mut from_outside, &mut to_inside);
        let _ = to_inside.shutdown(Shutdown::Write);
    })
}
