//! The recording proxy: bytes pass unchanged, a copy is recorded.
//!
//! The forward path, from the agent inwards:
//!
//! 1. `server` accepts loopback connections, one task each, and owns everything that must stop with the proxy.
//! 2. `admission` decides what may pass at all: the MCP path, what the server announced, loopback callers.
//! 3. `forward` carries one exchange; `headers`, `redirect` and `endpoint` are its pure decisions.
//! 4. `body` passes each frame on at once and drops a copy into the queue.
//! 5. `upstream` holds one server connection per agent connection (`tls`, HTTP/1.1 or HTTP/2).
//!
//! The recording path starts at `queue`, which takes a `tap` at a time and never makes the forward path wait:
//!
//! 1. `recorder` is a thread of its own that takes the copies in order.
//! 2. `decode`, `sse` and `gather` turn them into messages (`message`, `scan` for those beyond the cap).
//! 3. `pairing` and `survey` are pure: messages in, records out.
//! 4. `record` redacts (`crate::redact`) and writes.

mod admission;
mod body;
mod decode;
mod endpoint;
mod error;
mod forward;
mod gather;
mod headers;
mod message;
mod options;
mod pairing;
mod queue;
mod record;
mod recorder;
mod redirect;
mod reply;
mod requests;
mod scan;
mod server;
mod sse;
mod survey;
mod tap;
mod target;
mod tls;
mod upstream;

pub use error::ProxyError;
pub use options::ProxyOptions;
pub use record::{CallEvent, CallObserver};
pub use recorder::{Recorded, Snapshot};
pub use server::Proxy;
