//! Requests that are refused are read all the same.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body::Body;
use tokio::time::timeout;

/// The most that is read of a request that is refused, in bytes: more than any API takes.
const MOST: usize = 32 * 1024 * 1024;
/// How long it may take. One that comes more slowly is cut off.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads what is left of a request, within bounds, so that whoever sends it gets to read why it is refused: a connection that is
/// closed while something is still on its way is reset, and with that the answer may be lost (RFC 9112, section 9.6). Agents
/// take that for a fault of the connection and send their request again.
pub(super) async fn read_out(body: &mut (impl Body<Data = Bytes> + Unpin)) {
    let reading = async {
        let mut read = 0;
        while read < MOST
            && let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await
        {
            read += frame.data_ref().map_or(0, Buf::remaining);
        }
    };
    // Cut off as it would have been without.
    let _ = timeout(PATIENCE, reading).await;
}
