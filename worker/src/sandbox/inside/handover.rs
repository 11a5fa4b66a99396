//! What the first process of a container is told and given, over a Unix socket.

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, IoSlice, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

use crate::sandbox::plan::Plan;

/// Standard input, output and error.
const STREAMS: usize = 3;

/// What is told. Not to be printed: keys and tokens are in the environment.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Handover {
    /// What is left to do inside.
    pub(super) plan: Plan,
    /// The agent's program and its arguments.
    pub(super) command: Vec<OsString>,
    /// Its whole environment.
    pub(super) environment: Vec<(OsString, OsString)>,
}

impl Handover {
    /// Sends it with this process's own standard streams.
    pub(super) fn send(&self, mut to: &UnixStream) -> io::Result<()> {
        let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
        let streams: [BorrowedFd<'_>; STREAMS] = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(STREAMS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !ancillary.push(SendAncillaryMessage::ScmRights(&streams)) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        // Open files travel with at least one byte (unix(7)).
        sendmsg(to, &[IoSlice::new(b"{")], &mut ancillary, SendFlags::NOSIGNAL)?;
        let text = serde_json::to_vec(self)?;
        to.write_all(text.get(1..).unwrap_or_default())?;
        to.write_all(b"\n")
    }

    /// Receives it, and makes the streams this process's own.
    pub(super) fn receive(from: &UnixStream) -> io::Result<Self> {
        let mut text = vec![0];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(STREAMS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        recvmsg(
            from,
            &mut [IoSliceMut::new(&mut text)],
            &mut ancillary,
            RecvFlags::CMSG_CLOEXEC,
        )?;
        let streams: Vec<OwnedFd> = ancillary
            .drain()
            .filter_map(|message| match message {
                RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
                _ => None,
            })
            .flatten()
            .collect();
        if streams.len() != STREAMS {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the streams did not come"));
        }
        // Nothing is sent after the line, so nothing is lost with the buffer.
        BufReader::new(from).read_until(b'\n', &mut text)?;
        for (own, stream) in (0..).zip(&streams) {
            // SAFETY: the first is a standard stream, which nothing here holds as its own; the second is open.
            if unsafe { libc::dup2(stream.as_raw_fd(), own) } < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(serde_json::from_slice(&text)?)
    }
}
