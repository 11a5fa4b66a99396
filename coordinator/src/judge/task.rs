//! Judges beside a run: it listens to what is finished, reads it from the store, and stores what the judge said.
//!
//! The run never waits for it. Attempts wait as keys, a few are asked about at once, and at the end of the run what is left
//! gets a stated time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{JoinError, JoinHandle, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::asker::Judge;
use super::judgement::{Judgement, Opinion};
use super::queue::Queue;
use crate::event::{AttemptKey, Envelope, Event, Events};
use crate::record::{AttemptRecord, RunRecord};
use crate::store::{Reader, Store, StoreError};
use crate::words::counted;

/// Attempts judged at once.
const AT_ONCE: usize = 4;
/// The least and the most time that what is left gets at the end of a run.
const SHORTEST_PATIENCE: Duration = Duration::from_secs(60);
const LONGEST_PATIENCE: Duration = Duration::from_secs(15 * 60);

/// The judge's work beside a run. Dropping it stops it.
#[derive(Debug)]
pub struct Judging {
    task: JoinHandle<LeftOut>,
    finish: CancellationToken,
    stop: CancellationToken,
}

/// What the judge did not get to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Iterations that are not judged.
    pub iterations: u64,
    /// Whether that is because the user did not want to wait.
    pub stopped: bool,
}

impl Judging {
    /// Starts it. `heard` has to hear of every attempt of the run, and in a resumed run of those before.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn start(
        judge: Judge,
        run: RunRecord,
        store: Store,
        heard: UnboundedReceiver<Envelope>,
        events: Events,
    ) -> Result<Self, StoreError> {
        let desk = Desk {
            judge,
            run,
            reader: Mutex::new(store.reader()?),
            store,
            events,
        };
        let (finish, stop) = (CancellationToken::new(), CancellationToken::new());
        let task = tokio::spawn(work(Arc::new(desk), heard, finish.clone(), stop.clone()));
        Ok(Self { task, finish, stop })
    }

    /// The run is over: waits for what is left, within a time that is said, or until `stopped` comes.
    ///
    /// # Errors
    /// When its own code failed; what it had stored is there.
    pub async fn finish(mut self, stopped: impl Future<Output = ()>) -> Result<LeftOut, JoinError> {
        self.finish.cancel();
        tokio::select! {
            left = &mut self.task => return left,
            () = stopped => self.stop.cancel(),
        }
        (&mut self.task).await
    }
}

impl Drop for Judging {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What judging an attempt needs.
struct Desk {
    judge: Judge,
    run: RunRecord,
    reader: Mutex<Reader>,
    store: Store,
    events: Events,
}

async fn work(
    desk: Arc<Desk>,
    mut heard: UnboundedReceiver<Envelope>,
    finish: CancellationToken,
    stop: CancellationToken,
) -> LeftOut {
    let mut queue = Queue::default();
    let mut asked: JoinSet<()> = JoinSet::new();
    let mut deadline: Option<Instant> = None;
    loop {
        while let Ok(envelope) = heard.try_recv() {
            queue.hear(&envelope.event);
        }
        while asked.len() < AT_ONCE
            && let Some(key) = queue.next()
        {
            asked.spawn(Arc::clone(&desk).judge(key));
        }
        let left = queue.len() + asked.len();
        if finish.is_cancelled() {
            if left == 0 {
                return LeftOut::default();
            }
            if deadline.is_none() {
                let patience = patience(left, desk.judge.budget());
                deadline = Some(Instant::now() + patience);
                desk.say(format!(
                    "waiting for the judge: {left} of {} left, at most {} min; Ctrl-C leaves the rest not judged",
                    counted(desk.run.total_iterations(), "iteration"),
                    patience.as_secs().div_ceil(60),
                ));
            }
        }
        let why = tokio::select! {
            Some(envelope) = heard.recv() => {
                queue.hear(&envelope.event);
                continue;
            }
            Some(done) = asked.join_next() => {
                if let Err(error) = done {
                    desk.say(format!("failed to judge an iteration: {error}"));
                }
                continue;
            }
            () = finish.cancelled(), if deadline.is_none() => continue,
            () = until(deadline) => "time was up",
            () = stop.cancelled() => "the judge was not waited for",
        };
        asked.abort_all();
        let left = queue.len() + asked.len();
        desk.say(format!(
            "{} not judged: {why}; `--resume` judges the rest",
            counted(left, "iteration")
        ));
        return LeftOut {
            iterations: left as u64,
            stopped: stop.is_cancelled(),
        };
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// How long `left` answers may take together: as long as they may one after another, a few at once, within bounds.
fn patience(left: usize, each: Duration) -> Duration {
    let rounds = u32::try_from(left.div_ceil(AT_ONCE)).unwrap_or(u32::MAX);
    each.saturating_mul(rounds).clamp(SHORTEST_PATIENCE, LONGEST_PATIENCE)
}

impl Desk {
    fn say(&self, text: String) {
        self.events.say(Event::Notice { text });
    }

    async fn judge(self: Arc<Self>, key: AttemptKey) {
        if let Err(error) = self.judge_and_store(key).await {
            self.say(format!(
                "failed to judge iteration {} of cell {}: {error}",
                key.iteration, key.cell
            ));
        }
    }

    async fn judge_and_store(self: &Arc<Self>, key: AttemptKey) -> Result<(), StoreError> {
        let desk = Arc::clone(self);
        let read = tokio::task::spawn_blocking(move || desk.read(key))
            .await
            .map_err(|_| StoreError::WriterGone)??;
        let (Some((attempt, mut judgement)), Some(case)) = (read, self.run.test_case_of(key.cell as usize)) else {
            return Ok(());
        };
        let tone = async {
            match &case.tone {
                // A tone that gates was judged before the attempt had its result.
                Some(tone) if !judgement.tone.as_ref().is_some_and(Opinion::is_clear) => {
                    Some(self.judge.tone(&tone.rubric, &attempt.turns).await)
                }
                _ => judgement.tone.clone(),
            }
        };
        let (opinion, tone) = tokio::join!(self.judge.opinion(case, &attempt), tone);
        judgement.take_in(opinion, tone);
        self.store.put_judgement(&self.run.id, key, &judgement).await?;
        if let Some(event) = Event::judged(key, &attempt, &judgement) {
            self.events.say(event);
        }
        Ok(())
    }

    /// The attempt, and what was said of it before.
    fn read(&self, key: AttemptKey) -> Result<Option<(AttemptRecord, Judgement)>, StoreError> {
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let run = &self.run.id;
        let Some(attempt) = reader.attempt(run, key.cell, key.iteration, key.attempt)? else {
            return Ok(None);
        };
        Ok(Some((attempt, reader.judgement(run, key, None)?.unwrap_or_default())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_gets_time_for_all_of_it_within_bounds() {
        let each = Duration::from_secs(120);
        assert_eq!(patience(1, Duration::from_secs(2)), SHORTEST_PATIENCE);
        assert_eq!(patience(9, each), Duration::from_secs(360));
        assert_eq!(patience(100_000, each), LONGEST_PATIENCE);
    }
}
