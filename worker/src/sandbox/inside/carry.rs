//! Carrying the ways out of a network namespace: from loopback ports inside to Unix sockets, which lead outside.

use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::error::InsideError;
use crate::sandbox::plan::Way;

/// Enough for copying; there are two threads for each connection.
const STACK: usize = 128 * 1024;

/// How many connections a port carries at once; further ones wait until one of them ends. No agent needs so many, and the
/// threads count among its processes.
const MOST: usize = 128;

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
        let _ = spawn(move || accept(&way.port, &way.socket));
    }
}

fn accept(port: &TcpListener, socket: &Path) {
    let places = Arc::new(Places::default());
    loop {
        let place = Places::take(&places);
        let Ok((inside, _)) = port.accept() else {
            // Out of descriptors, most likely, until some come back.
            thread::sleep(PAUSE);
            continue;
        };
        let Ok(outside) = UnixStream::connect(socket) else {
            continue;
        };
        // Without a thread it is closed, and its place free again.
        let _ = spawn(move || {
            let _ = join(&Arc::new(inside), &Arc::new(outside));
            drop(place);
        });
    }
}

fn spawn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<thread::JoinHandle<T>> {
    thread::Builder::new().stack_size(STACK).spawn(work)
}

/// Copies both ways until both have ended. The end of one direction is passed on while the other goes on.
fn join(inside: &Arc<TcpStream>, outside: &Arc<UnixStream>) -> io::Result<()> {
    // A stream of small pieces is not to wait for larger ones.
    inside.set_nodelay(true)?;
    let (to_inside, from_outside) = (Arc::clone(inside), Arc::clone(outside));
    let answers = spawn(move || {
        let _ = io::copy(&mut &*from_outside, &mut &*to_inside);
        let _ = to_inside.shutdown(Shutdown::Write);
    })?;
    let _ = io::copy(&mut &**inside, &mut &**outside);
    let _ = outside.shutdown(Shutdown::Write);
    // A panic there has nothing left to close.
    let _ = answers.join();
    Ok(())
}

/// The places for connections at one port.
#[derive(Debug, Default)]
struct Places {
    taken: Mutex<usize>,
    freed: Condvar,
}

impl Places {
    /// Takes a place, once one is free.
    fn take(places: &Arc<Self>) -> Place {
        let taken = places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = places
            .freed
            .wait_while(taken, |taken| *taken >= MOST)
            .unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
        Place(Arc::clone(places))
    }
}

/// A place that is taken. Dropping it lets the next connection come.
#[derive(Debug)]
struct Place(Arc<Places>);

impl Drop for Place {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixListener;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// What echoes at a Unix socket, counting whom it has met, behind a way to it.
    fn way(folder: &Path) -> (u16, Arc<AtomicUsize>) {
        let socket = folder.join("socket");
        let listener = UnixListener::bind(&socket).unwrap();
        let met = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&met);
        thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.unwrap();
                counter.fetch_add(1, Ordering::SeqCst);
                thread::spawn(move || io::copy(&mut connection.try_clone().unwrap(), &mut connection));
            }
        });
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let number = port.local_addr().unwrap().port();
        carry(vec![Listening { port, socket }]);
        (number, met)
    }

    fn echoed(mut connection: &TcpStream) -> bool {
        connection.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        connection.write_all(b"x").unwrap();
        connection.read_exact(&mut [0]).is_ok()
    }

    #[test]
    fn connections_beyond_the_most_wait_for_one_to_end() {
        let folder = tempfile::tempdir().unwrap();
        let (port, met) = way(folder.path());
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        let mut held: Vec<TcpStream> = (0..MOST).map(|_| connect()).collect();
        assert!(held.iter().all(echoed));
        let next = connect();
        // All that are carried answer once more; the one that waits was not taken along.
        assert!(held.iter().all(echoed));
        assert_eq!(met.load(Ordering::SeqCst), MOST);
        drop(held.pop());
        assert!(echoed(&next));
        assert_eq!(met.load(Ordering::SeqCst), MOST + 1);
    }
}
