//! Asks the judge one thing, and always comes back with something to keep.

use std::sync::Arc;
use std::time::Duration;

use mcproctor_proto::redact::Redactor;
use mcproctor_proto::turn::{Turn, Usage};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::client::{AskError, Endpoint};
use super::judgement::{JudgeVerdict, NotChosen, Opinion, ReplyChoice};
use super::prompt::{self, Question};
use super::verdict::{Unread, read_choice, read_verdict};
use crate::clock::Clock;
use crate::config::JudgeSettings;
use crate::cut::shortened;
use crate::record::{AttemptRecord, TestCaseRecord};

/// Questions at once that an attempt waits for; those that nobody waits for are bounded by their queue.
const MOST_AWAITED: usize = 16;
/// An answer may take so many times as long as one request: time for another try, or for asking again in the right form.
const REQUESTS_OF_AN_ANSWER: u32 = 2;
/// Reasons are cut here, in bytes.
const MOST_REASONING: usize = 2_000;
/// So is why there is no answer, with what the endpoint or the model said.
const MOST_WORDS: usize = 400;
/// And the name of a model.
const MOST_MODEL: usize = 200;

/// Why there is no judge.
#[derive(Debug, thiserror::Error)]
#[error("set up the judge: {0}")]
pub struct JudgeError(String);

/// The judge of a run. Clones share it.
#[derive(Clone)]
pub struct Judge(Arc<Inner>);

struct Inner {
    endpoint: Endpoint,
    model: String,
    budget: Duration,
    redaction: Redactor,
    clock: Arc<dyn Clock>,
    awaited: Semaphore,
}

impl std::fmt::Debug for Judge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Judge")
            .field("model", &self.0.model)
            .finish_non_exhaustive()
    }
}

/// An answer in the form that was asked for, or why there is none, and what it took.
struct Asked<T> {
    answer: Result<T, AskError>,
    model: String,
    usage: Usage,
    duration_ms: u64,
}

impl Judge {
    /// A judge that is shown nothing of what `redaction` knows: what was recorded holds none of the secrets that its worker knew,
    /// and the judge's endpoint is one more reader, with a key of its own. Asks nothing yet.
    ///
    /// # Errors
    /// When the system has no certificate authorities for an https endpoint.
    pub fn new(settings: &JudgeSettings, redaction: Redactor, clock: Arc<dyn Clock>) -> Result<Self, JudgeError> {
        Ok(Self(Arc::new(Inner {
            endpoint: Endpoint::new(settings).map_err(|error| JudgeError(error.to_string()))?,
            model: settings.model.clone(),
            budget: settings.timeout * REQUESTS_OF_AN_ANSWER,
            redaction,
            clock,
            awaited: Semaphore::new(MOST_AWAITED),
        })))
    }

    /// The longest that one answer may take.
    pub fn budget(&self) -> Duration {
        self.0.budget
    }

    /// Whether the user of an attempt got what was asked for. A judge that fails gives [`JudgeVerdict::Error`].
    pub async fn opinion(&self, case: &TestCaseRecord, attempt: &AttemptRecord) -> Opinion {
        let question = prompt::opinion(case, &attempt.turns, &attempt.calls, &self.0.redaction);
        self.verdict(&question).await
    }

    /// Whether the agent kept to a tone.
    pub async fn tone(&self, rubric: &str, turns: &[Turn]) -> Opinion {
        self.verdict(&prompt::tone(rubric, turns, &self.0.redaction)).await
    }

    /// The same for an attempt that waits for it.
    pub async fn awaited_tone(&self, rubric: &str, turns: &[Turn]) -> Opinion {
        let _permit = self.0.awaited.acquire().await;
        self.tone(rubric, turns).await
    }

    /// Picks among the replies of `case` with these places (from 0) the one that fits after `turns`.
    ///
    /// # Errors
    /// When the judge gives no answer.
    pub async fn choose(
        &self,
        case: &TestCaseRecord,
        turns: &[Turn],
        candidates: &[usize],
    ) -> Result<ReplyChoice, NotChosen> {
        let _permit = self.0.awaited.acquire().await;
        let replies: Vec<&str> = candidates
            .iter()
            .filter_map(|place| case.answers.get(*place))
            .map(String::as_str)
            .collect();
        let question = prompt::choice(case, turns, &replies, &self.0.redaction);
        let asked = self.ask(&question, |text| read_choice(text, replies.len())).await;
        let choice = asked.answer.map_err(|error| NotChosen {
            cause: self.told(error.to_string(), MOST_WORDS),
            usage: asked.usage,
        })?;
        Ok(ReplyChoice {
            after_turn: turns.last().map_or(0, |turn| turn.index),
            reply: choice
                .number
                .and_then(|number| candidates.get(number.checked_sub(1)?).copied()),
            reasoning: self.told(choice.reasoning, MOST_REASONING),
            model: asked.model,
            usage: asked.usage,
            duration_ms: asked.duration_ms,
        })
    }

    async fn verdict(&self, question: &Question) -> Opinion {
        let asked = self.ask(question, read_verdict).await;
        let (verdict, reasoning) = match asked.answer {
            Ok(read) => (read.verdict, self.told(read.reasoning, MOST_REASONING)),
            Err(error) => (JudgeVerdict::Error, self.told(error.to_string(), MOST_WORDS)),
        };
        Opinion {
            verdict,
            reasoning,
            model: asked.model,
            usage: asked.usage,
            duration_ms: asked.duration_ms,
            at_unix_ms: self.0.clock.now_unix_ms(),
        }
    }

    /// Asks, and asks once more when the answer is in another form: small models drift into answering what the user asked,
    /// and get it right when they are shown what they said. Saying the same again would bring the same.
    async fn ask<T>(&self, question: &Question, read: impl Fn(&str) -> Result<T, Unread>) -> Asked<T> {
        let begun = Instant::now();
        let until = begun + self.0.budget;
        let first = self.0.endpoint.ask(&question.messages, until).await;
        let (mut usage, mut model) = (first.usage, first.model);
        let answer = match first.content {
            Err(error) => Err(error),
            Ok(text) => match read(&text) {
                Ok(answer) => Ok(answer),
                Err(_) => {
                    let second = self.0.endpoint.ask(&prompt::repair(question, &text), until).await;
                    usage.add(&second.usage);
                    model = second.model.or(model);
                    second.content.and_then(|text| {
                        let words = || text.trim().to_owned();
                        read(&text).map_err(|unread| match unread {
                            Unread::NotInForm => AskError::NotInForm(words()),
                            Unread::ContradictsItself => AskError::ContradictsItself(words()),
                        })
                    })
                }
            },
        };
        Asked {
            answer,
            model: model.map_or_else(|| self.0.model.clone(), |model| self.told(model, MOST_MODEL)),
            usage,
            duration_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// What is kept of a text from outside. Endpoints quote keys when they refuse them; of one that is cut before it is taken
    /// out, a part would stay.
    fn told(&self, text: String, most: usize) -> String {
        shortened(&self.0.redaction.text(text), most)
    }
}
