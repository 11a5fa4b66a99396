//! The two directions of the Work stream.

use std::time::Duration;

use super::malformed::{Malformed, required};
use super::worker::lease;
use crate::id::Lease;
use crate::v1;
use crate::v1::coordinator_message::Message as FromCoordinator;
use crate::v1::worker_message::Message as FromWorker;
use crate::worker::{Hello, Order, Says};

impl From<&Hello> for v1::WorkerMessage {
    fn from(hello: &Hello) -> Self {
        Self {
            message: Some(FromWorker::Hello(hello.into())),
        }
    }
}

impl From<&Says> for v1::WorkerMessage {
    fn from(says: &Says) -> Self {
        let message = match says {
            Says::Heartbeat(leases) => FromWorker::Heartbeat(v1::Heartbeat {
                leases: leases.iter().map(v1::Lease::from).collect(),
            }),
            Says::Event(lease, event) => FromWorker::Event(v1::LiveEvent::new(lease, event)),
            Says::Turn(lease, report) => FromWorker::Turn(v1::TurnFinished::new(lease, report)),
            Says::Vacated(lease) => FromWorker::Vacated(v1::Vacated {
                lease: Some(lease.into()),
            }),
            Says::Finished(lease, report) => FromWorker::Finished(v1::AttemptFinished::new(lease, report)),
            Says::Leaving => FromWorker::Leaving(v1::Leaving {}),
        };
        Self { message: Some(message) }
    }
}

impl v1::WorkerMessage {
    /// The first message of a worker.
    ///
    /// # Errors
    /// When it is anything but a hello.
    pub fn read_hello(self) -> Result<Hello, Malformed> {
        match self.message {
            Some(FromWorker::Hello(hello)) => Ok(hello.into()),
            _ => Err(Malformed {
                field: "message",
                problem: "the first message has to be a hello".to_owned(),
            }),
        }
    }

    /// Any later message of a worker.
    ///
    /// # Errors
    /// When a field is missing or unknown.
    pub fn read(self) -> Result<Says, Malformed> {
        Ok(match required("message", self.message)? {
            FromWorker::Hello(_) => {
                return Err(Malformed {
                    field: "message",
                    problem: "a second hello".to_owned(),
                });
            }
            FromWorker::Heartbeat(heartbeat) => {
                Says::Heartbeat(heartbeat.leases.into_iter().map(Lease::from).collect())
            }
            FromWorker::Event(event) => {
                let (lease, event) = event.read()?;
                Says::Event(lease, event)
            }
            FromWorker::Turn(turn) => {
                let (lease, report) = turn.read()?;
                Says::Turn(lease, Box::new(report))
            }
            FromWorker::Vacated(vacated) => Says::Vacated(lease(vacated.lease)?),
            FromWorker::Finished(finished) => {
                let (lease, report) = finished.read()?;
                Says::Finished(lease, Box::new(report))
            }
            FromWorker::Leaving(_) => Says::Leaving,
        })
    }
}

impl From<&Order> for v1::CoordinatorMessage {
    fn from(order: &Order) -> Self {
        let message = match order {
            Order::Welcome { heartbeat, lease } => FromCoordinator::Welcome(v1::Welcome {
                heartbeat_ms: u32::try_from(heartbeat.as_millis()).unwrap_or(u32::MAX),
                lease_ms: u32::try_from(lease.as_millis()).unwrap_or(u32::MAX),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            }),
            Order::Assignment(assignment) => FromCoordinator::Assignment(assignment.as_ref().into()),
            Order::Instruction {
                lease,
                after_turn,
                instruction,
            } => FromCoordinator::Instruction(v1::Instruction::new(lease, *after_turn, instruction)),
            Order::Cancel { lease, reason } => FromCoordinator::Cancel(v1::Cancel {
                lease: Some(lease.into()),
                reason: reason.clone(),
            }),
            Order::Acknowledged { lease, accepted } => FromCoordinator::Acknowledged(v1::Acknowledged {
                lease: Some(lease.into()),
                accepted: *accepted,
            }),
            Order::Drain => FromCoordinator::Drain(v1::Drain {}),
        };
        Self { message: Some(message) }
    }
}

impl v1::CoordinatorMessage {
    /// What the coordinator says.
    ///
    /// # Errors
    /// When a field is missing or unknown.
    pub fn read(self) -> Result<Order, Malformed> {
        Ok(match required("message", self.message)? {
            FromCoordinator::Welcome(welcome) => Order::Welcome {
                heartbeat: Duration::from_millis(u64::from(welcome.heartbeat_ms)),
                lease: Duration::from_millis(u64::from(welcome.lease_ms)),
            },
            FromCoordinator::Assignment(assignment) => Order::Assignment(Box::new(assignment.try_into()?)),
            FromCoordinator::Instruction(instruction) => {
                let (lease, after_turn, instruction) = instruction.read()?;
                Order::Instruction {
                    lease,
                    after_turn,
                    instruction,
                }
            }
            FromCoordinator::Cancel(cancel) => Order::Cancel {
                lease: lease(cancel.lease)?,
                reason: cancel.reason,
            },
            FromCoordinator::Acknowledged(acknowledged) => Order::Acknowledged {
                lease: lease(acknowledged.lease)?,
                accepted: acknowledged.accepted,
            },
            FromCoordinator::Drain(_) => Order::Drain,
        })
    }
}
