//! How an answer leaves: in frames, at a pace, and with an end of its own.

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use std::io;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Complete,
    /// Nothing more comes, and the connection stays open until the endpoint stops.
    Silence,
    /// The connection ends although the body has not.
    Cut,
}

/// A body of frames.
pub(crate) fn body(frames: Vec<Bytes>, pace: Duration, ending: Ending, stopped: CancellationToken) -> Body {
    if ending == Ending::Complete && pace.is_zero() {
        // In one piece, so that the response carries a length where it is not a stream of events.
        return Body::from(frames.concat());
    }
    let frames = frames.into_iter();
    Body::from_stream(stream::unfold(Some((frames, true)), move |state| {
        let stopped = stopped.clone();
        async move {
            let (mut frames, first) = state?;
            if let Some(frame) = frames.next() {
                if !first {
                    tokio::time::sleep(pace).await;
                }
                return Some((Ok(frame), Some((frames, false))));
            }
            match ending {
                Ending::Complete => None,
                Ending::Silence => {
                    stopped.cancelled().await;
                    Some((Err(cut()), None))
                }
                Ending::Cut => {
                    // A turn of the scheduler, so that what was sent so far leaves before the connection ends.
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    Some((Err(cut()), None))
                }
            }
        }
    }))
}

fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "cut by the scenario")
}

/// The first half of an answer: of its frames if there are several, else of its bytes.
pub(crate) fn half(mut frames: Vec<Bytes>) -> Vec<Bytes> {
    match frames.as_mut_slice() {
        [] => {}
        [only] => only.truncate(only.len() / 2),
        _ => frames.truncate(frames.len().div_ceil(2)),
    }
    frames
}
