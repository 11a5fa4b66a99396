//! Spaces the requests of a worker, or of a gateway, out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, OwnedMutexGuard};

use super::server::now;

/// When the next request may be sent, over all relays of a worker.
///
/// Requests go out evenly: a rate that allows 60 a minute lets one go every second, so that no minute has more, whenever it
/// begins. Those who wait get their places in the order in which they came; whoever leaves, or has nothing to send once its
/// time has come, takes no place.
#[derive(Debug, Default)]
pub struct Pace {
    next: Arc<Mutex<Option<Instant>>>,
}

/// What those share who have one place in a row between them.
pub(super) type Lane = Arc<Mutex<()>>;

/// Where a request waits for its place: behind the others of its lanes, one after the other, and with one of each lane only
/// in the row itself. So nobody waits longer because somebody else has much to send.
#[derive(Clone, Debug)]
pub(super) struct Row {
    lanes: Vec<Lane>,
    pace: Arc<Pace>,
}

/// A place whose time has come. Dropped, it is given back.
#[derive(Debug)]
pub(super) struct Place {
    next: OwnedMutexGuard<Option<Instant>>,
    interval: Duration,
    _lanes: Vec<OwnedMutexGuard<()>>,
}

impl Row {
    /// A row in which those of each of these lanes take turns; the narrowest lane comes first.
    pub(super) fn new(lanes: Vec<Lane>, pace: Arc<Pace>) -> Self {
        Self { lanes, pace }
    }

    /// Waits until one more request may be sent. Dropped meanwhile, it has never stood there.
    pub(super) async fn place(&self, interval: Duration) -> Place {
        let mut lanes = Vec::with_capacity(self.lanes.len());
        for lane in &self.lanes {
            lanes.push(Arc::clone(lane).lock_owned().await);
        }
        let next = Arc::clone(&self.pace.next).lock_owned().await;
        if let Some(at) = *next {
            tokio::time::sleep_until(at.into()).await;
        }
        Place {
            next,
            interval,
            _lanes: lanes,
        }
    }
}

impl Place {
    /// A request is sent; the next one goes an interval later.
    pub(super) fn take(mut self) {
        let now = now();
        *self.next = Some(now.checked_add(self.interval).unwrap_or(now));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn row(pace: &Arc<Pace>) -> Row {
        Row::new(vec![Lane::default()], Arc::clone(pace))
    }

    /// Whole seconds since `zero` at which the place comes and is taken.
    async fn sent(row: Row, zero: Instant) -> u64 {
        row.place(SECOND).await.take();
        (now() - zero).as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn requests_go_one_interval_apart_and_idle_time_is_not_saved_up() {
        let row = row(&Arc::default());
        let zero = now();
        for second in 0..3 {
            assert_eq!(sent(row.clone(), zero).await, second);
        }
        tokio::time::sleep(60 * SECOND).await;
        let later = (now() - zero).as_secs();
        assert_eq!(sent(row.clone(), zero).await, later);
        assert_eq!(sent(row, zero).await, later + 1);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_leaves_or_sends_nothing_takes_no_place() {
        let row = row(&Arc::default());
        let zero = now();
        assert_eq!(sent(row.clone(), zero).await, 0);
        let gone: Vec<_> = (0..100)
            .map(|_| {
                let row = row.clone();
                tokio::spawn(async move { row.place(SECOND).await.take() })
            })
            .collect();
        tokio::time::sleep(SECOND / 2).await;
        gone.iter().for_each(|task| task.abort());
        for task in gone {
            assert!(task.await.unwrap_err().is_cancelled());
        }
        assert_eq!(sent(row.clone(), zero).await, 1);
        drop(row.place(SECOND).await);
        assert_eq!(sent(row, zero).await, 2, "the place that was given back");
    }

    #[tokio::test(start_paused = true)]
    async fn those_of_one_lane_wait_behind_each_other_and_take_turns_with_the_others() {
        let pace = Arc::new(Pace::default());
        let (flood, other) = (row(&pace), row(&pace));
        let zero = now();
        assert_eq!(sent(flood.clone(), zero).await, 0);
        let flooding: Vec<_> = (0..50)
            .map(|_| {
                let flood = flood.clone();
                tokio::spawn(async move { flood.place(SECOND).await.take() })
            })
            .collect();
        tokio::task::yield_now().await;
        assert!(sent(other, zero).await <= 2, "behind one of the fifty");
        flooding.iter().for_each(|task| task.abort());
    }
}
