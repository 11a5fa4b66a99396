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
    task: JoinHandle<Ended>,
    finish: CancellationToken,
    stop: CancellationToken,
}

/// How the judge's work came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// Everything was asked, or time was up.
    ByItself,
    /// The user did not want to wait.
    Stopped,
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

    /// The run is over: waits for what is left, within a time that is said, or until `stopped` comes. `true` when something
    /// was left out because of that.
    ///
    /// # Errors
    /// When its own code failed; what it had stored is there.
    pub async fn finish(mut self, stopped: impl Future<Output = ()>) -> Result<bool, JoinError> {
        self.finish.cancel();
        tokio::select! {
            ended = &mut self.task => return Ok(ended? == Ended::Stopped),
            () = stopped => self.stop.cancel(),
        }
        Ok((&mut self.task).await? == Ended::Stopped)
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
) -> Ended {
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
                return Ended::ByItself;
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
                desk.complain_of(done);
                continue;
            }
            () = finish.cancelled(), if deadline.is_none() => continue,
            () = until(deadline) => "time was up",
            () = stop.cancelled() => "the judge was not waited for",
        };
        // What is done already is not left out.
        while let Some(done) = asked.try_join_next() {
            desk.complain_of(done);
        }
        let left = queue.len() + asked.len();
        asked.abort_all();
        if left == 0 {
            return Ended::ByItself;
        }
        desk.say(format!(
            "{} not judged: {why}; `--resume` judges the rest",
            counted(left, "iteration")
        ));
        return if stop.is_cancelled() {
            Ended::Stopped
        } else {
            Ended::ByItself
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

    fn complain_of(&self, done: Result<(), JoinError>) {
        if let Err(error) = done {
            self.say(format!("failed to judge an iteration: {error}"));
        }
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
        // What is clear is kept: in a resumed run only one of the two may have failed, and a tone that gates was judged before
        // the attempt had its result.
        let clear = |said: &Option<Opinion>| said.clone().filter(Opinion::is_clear);
        let opinion = async {
            match clear(&judgement.opinion) {
                Some(opinion) => opinion,
                None => self.judge.opinion(case, &attempt).await,
            }
        };
        let tone = async {
            match (&case.tone, clear(&judgement.tone)) {
                (Some(tone), None) => Some(self.judge.tone(&tone.rubric, &attempt.turns).await),
                (_, kept) => kept,
            }
        };
        let (opinion, tone) = tokio::join!(opinion, tone);
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
