//! Spaces the requests of a worker out.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// When the next request may be sent, over all relays of a worker.
///
/// Requests go out in the order in which they came, evenly: a rate that allows 60 a minute lets one go every second, so
/// that no minute has more, whenever it begins.
#[derive(Debug, Default)]
pub struct Pace {
    next: Mutex<Option<Instant>>,
}

impl Pace {
    /// Takes the next place in the row and gives its time; `interval` lies between it and the one after.
    pub(super) fn place(&self, interval: Duration, now: Instant) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let at = next.map_or(now, |next| next.max(now));
        *next = Some(at.checked_add(interval).unwrap_or(at));
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_go_one_interval_apart_and_idle_time_is_not_saved_up() {
        let zero = Instant::now();
        let second = Duration::from_secs(1);
        let pace = Pace::default();
        let places: Vec<u32> = (0..3)
            .map(|_| (pace.place(second, zero) - zero).as_secs() as u32)
            .collect();
        assert_eq!(places, [0, 1, 2]);
        let later = zero + 60 * second;
        assert_eq!(pace.place(second, later), later);
        assert_eq!(pace.place(second, later), later + second);
    }
}
