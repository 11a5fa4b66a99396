//! Composes the rooms of the worker for one attempt.

use std::time::Instant;

use mcproctor_proto::assignment::{Assignment, AttemptReport, Instruction, LiveEvent, TurnReport};
use mcproctor_proto::call::ToolCall;
use mcproctor_proto::id::Lease;
use mcproctor_proto::worker::Says;
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use super::control::Control;
use super::environment::Environment;
use super::records::{Records, TakeDownError};
use super::seat::Seat;
use super::state::{Life, Step};
use super::turn::run_turn;
use crate::link::Piece;
use crate::proxy::CallObserver;
use mcproctor_proto::redact::Redactor;

/// An attempt that is ready to run.
#[derive(Debug)]
pub struct Attempt {
    assignment: Assignment,
    environment: Environment,
    says: UnboundedSender<Says>,
    words: UnboundedReceiver<(u32, Instruction)>,
    cancel: CancellationToken,
}

/// What is left of an attempt: the report, and the evidence that it names.
#[derive(Debug)]
pub struct Ended {
    /// What to say of it.
    pub report: AttemptReport,
    /// What to upload first.
    pub(crate) pieces: Vec<Piece>,
    /// Holds the files of the pieces; dropping it removes them.
    _folder: Option<TempDir>,
}

/// An attempt and the handle on it.
pub fn prepare(assignment: Assignment, environment: Environment, says: UnboundedSender<Says>) -> (Control, Attempt) {
    let (word_sender, words) = unbounded_channel();
    let cancel = CancellationToken::new();
    let control = Control {
        lease: assignment.lease.clone(),
        words: word_sender,
        cancel: cancel.clone(),
    };
    (
        control,
        Attempt {
            assignment,
            environment,
            says,
            words,
            cancel,
        },
    )
}

impl Attempt {
    /// Runs it to its end.
    pub async fn run(mut self) -> Ended {
        let begun = Instant::now();
        let observer = || -> Box<dyn CallObserver> {
            Box::new(Onlooker {
                lease: self.assignment.lease.clone(),
                says: self.says.clone(),
            })
        };
        let mut seat = match Seat::set_up(&self.assignment, &self.environment, observer).await {
            Ok(seat) => seat,
            Err(error) => {
                let redactor = Redactor::of_attempt(&self.assignment);
                let report = AttemptReport {
                    sandbox: self.assignment.sandbox,
                    duration_ms: ms_since(begun),
                    ..AttemptReport::fault(redactor.text(error.to_string()))
                };
                return Ended {
                    report,
                    pieces: Vec::new(),
                    _folder: None,
                };
            }
        };
        self.converse(&mut seat).await;
        let sandbox = self.assignment.sandbox;
        match self.take_down(seat).await {
            Ok(records) => Ended {
                report: AttemptReport {
                    machinery_fault: None,
                    sandbox,
                    evidence: records.pieces.iter().map(|piece| piece.reference.clone()).collect(),
                    calls: records.calls,
                    requests: records.requests,
                    exposures: records.exposures,
                    traffic: records.traffic,
                    duration_ms: ms_since(begun),
                },
                pieces: records.pieces,
                _folder: Some(records.folder),
            },
            Err(error) => {
                let reason = format!("failed to {error}");
                let report = AttemptReport {
                    sandbox,
                    duration_ms: ms_since(begun),
                    ..AttemptReport::fault(reason)
                };
                Ended {
                    report,
                    pieces: Vec::new(),
                    _folder: None,
                }
            }
        }
    }

    /// Frees the slot before the evidence is gathered, so that the next attempt need not wait for disks.
    async fn take_down(&self, seat: Seat) -> Result<Records, TakeDownError> {
        let cleared = seat.clear().await?;
        self.say(Says::Vacated(self.assignment.lease.clone()));
        cleared.gather().await
    }

    /// Turn after turn, until the coordinator says that it is enough.
    async fn converse(&mut self, seat: &mut Seat) {
        let (mut life, mut step) = Life::begin(&self.assignment.prompt);
        loop {
            step = match step {
                Step::RunTurn(index, prompt) => {
                    self.say(Says::Event(
                        self.assignment.lease.clone(),
                        LiveEvent::TurnStarted { turn: index },
                    ));
                    let turn = run_turn(seat, &self.assignment, index, prompt, &self.cancel).await;
                    let ending = turn.ending;
                    let told = seat.recorded(index).await;
                    let report = TurnReport {
                        turn,
                        calls: told.calls,
                        requests: told.requests,
                        exposures: told.exposures,
                        traffic: seat.traffic(),
                    };
                    self.say(Says::Turn(self.assignment.lease.clone(), Box::new(report)));
                    life.turn_over(ending)
                }
                Step::Wait => tokio::select! {
                    word = self.words.recv() => match word {
                        Some((after_turn, instruction)) => life.word(after_turn, instruction, self.assignment.max_turns),
                        None => Step::Close,
                    },
                    () = self.cancel.cancelled() => Step::Close,
                },
                Step::Close => return,
            };
        }
    }

    fn say(&self, says: Says) {
        // Without a link there is nobody to tell; the link's end cancels the attempt.
        let _ = self.says.send(says);
    }
}

/// Passes calls on to whoever looks on.
struct Onlooker {
    lease: Lease,
    says: UnboundedSender<Says>,
}

impl Onlooker {
    fn say(&self, event: LiveEvent) {
        let _ = self.says.send(Says::Event(self.lease.clone(), event));
    }
}

impl CallObserver for Onlooker {
    fn started(&mut self, call: &ToolCall) {
        self.say(LiveEvent::CallStarted {
            call: call.id.clone(),
            tool: call.tool.clone(),
        });
    }

    fn ended(&mut self, call: &ToolCall) {
        self.say(LiveEvent::CallEnded {
            call: call.id.clone(),
            tool: call.tool.clone(),
            state: call.state,
            duration_ms: call.duration_ms,
        });
    }
}

fn ms_since(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}
