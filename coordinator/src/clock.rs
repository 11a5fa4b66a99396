//! Time, injected so that tests never sleep for real.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where the wall clock is read.
pub trait Clock: Send + Sync + 'static {
    /// Milliseconds of Unix time.
    fn now_unix_ms(&self) -> i64;

    /// Seconds of Unix time; 0 for a clock before 1970, with which no lease token expires that was made by it.
    fn now_unix_s(&self) -> u64 {
        u64::try_from(self.now_unix_ms() / 1_000).unwrap_or(0)
    }
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_unix_ms(&self) -> i64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// A clock that stands until it is moved.
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// Starts at `unix_ms`.
    pub fn at(unix_ms: i64) -> Self {
        Self(Arc::new(AtomicI64::new(unix_ms)))
    }

    /// Moves forward by `ms` milliseconds.
    pub fn advance(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now_unix_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}
