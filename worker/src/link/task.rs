//! One worker for as long as it lives: hello, then assignments in, reports out, leases renewed.
//!
//! The link owns the attempts: each runs as a task of [`crate::iteration`] and talks to it over channels. When the stream
//! breaks the link reconnects, and the coordinator says which attempts it still wants. When leases can no longer be renewed in
//! time, the attempts are killed before the coordinator may give them to somebody else.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::try_join_all;
use mcproctor_proto::assignment::{Assignment, AttemptReport, SandboxLevel};
use mcproctor_proto::id::{AttemptId, Lease};
use mcproctor_proto::v1;
use mcproctor_proto::v1::evidence_client::EvidenceClient;
use mcproctor_proto::v1::workers_client::WorkersClient;
use mcproctor_proto::worker::{AgentVersion, Hello, Order, Says};
use secrecy::SecretString;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tokio_util::sync::CancellationToken;

use super::address::Address;
use super::connect::{Authenticated, connect};
use super::error::LinkError;
use super::evidence::{Piece, upload};
use crate::iteration::{self, Control, Ended, Environment};

/// The first pause before a new connection.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause before a new connection.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Until the coordinator has said how long a lease lasts.
const DEFAULT_LEASE: Duration = Duration::from_secs(30);
/// Tries at a piece of evidence before its attempt counts as a fault of the machinery.
const UPLOAD_TRIES: u32 = 5;

/// What a worker is.
#[derive(Debug)]
pub struct Settings {
    /// Where the coordinator listens.
    pub address: Address,
    /// What lets it in.
    pub token: SecretString,
    /// Its name, unique among the workers of the coordinator.
    pub name: String,
    /// How many attempts it runs at once.
    pub slots: u32,
    /// The agents it can run.
    pub agents: Vec<AgentVersion>,
    /// What it can hold an agent with.
    pub sandboxes: Vec<SandboxLevel>,
    /// Where its attempts live.
    pub environment: Environment,
}

/// Works until the coordinator sends it home and its attempts have ended, or until `stop`.
///
/// # Errors
/// When the coordinator cannot be reached for longer than a lease lasts, or refuses the worker.
pub async fn work(settings: Settings, stop: CancellationToken) -> Result<(), LinkError> {
    let (says, heard) = mpsc::unbounded_channel();
    let mut link = Link {
        settings,
        says,
        attempts: HashMap::new(),
        unacknowledged: HashMap::new(),
        running: JoinSet::new(),
        draining: false,
        heartbeat: Duration::from_secs(5),
        lease: DEFAULT_LEASE,
    };
    link.live(heard, stop).await
}

struct Link {
    settings: Settings,
    /// What attempts say, on its way to the coordinator.
    says: UnboundedSender<Says>,
    attempts: HashMap<AttemptId, Control>,
    /// Results that the coordinator has not acknowledged.
    unacknowledged: HashMap<AttemptId, (Lease, Box<AttemptReport>)>,
    running: JoinSet<(Lease, Ended)>,
    draining: bool,
    heartbeat: Duration,
    lease: Duration,
}

/// Why a connection ended.
enum Broken {
    /// Every attempt has ended and the coordinator has sent the worker home.
    Home,
    /// The worker was asked to stop.
    Stopped,
    /// The stream broke.
    Lost(LinkError),
}

impl Link {
    async fn live(&mut self, mut heard: UnboundedReceiver<Says>, stop: CancellationToken) -> Result<(), LinkError> {
        let mut pause = FIRST_PAUSE;
        let mut last_contact = Instant::now();
        loop {
            let error = match connect(&self.settings.address, &self.settings.token).await {
                Ok(channel) => match self.converse(channel, &mut heard, &stop, &mut last_contact).await {
                    Broken::Home => return Ok(()),
                    Broken::Stopped => {
                        self.kill_all().await;
                        return Ok(());
                    }
                    Broken::Lost(error) => error,
                },
                Err(error) => error,
            };
            let refused = matches!(&error, LinkError::Refused(status) if status.code() == tonic::Code::Unauthenticated);
            // A margin of a heartbeat, so that nothing runs here when the lease ends there.
            let renewable = last_contact.elapsed() + pause + self.heartbeat < self.lease;
            if refused || !renewable {
                self.kill_all().await;
                return Err(error);
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
                () = stop.cancelled() => {
                    self.kill_all().await;
                    return Ok(());
                }
            }
        }
    }

    /// Talks over one connection until it ends.
    async fn converse(
        &mut self,
        channel: Authenticated,
        heard: &mut UnboundedReceiver<Says>,
        stop: &CancellationToken,
        last_contact: &mut Instant,
    ) -> Broken {
        let (out, messages) = mpsc::unbounded_channel::<v1::WorkerMessage>();
        if out.send((&self.hello()).into()).is_err() {
            return Broken::Stopped;
        }
        let mut workers = WorkersClient::new(channel.clone()).max_decoding_message_size(64 << 20);
        let mut orders = match workers.work(UnboundedReceiverStream::new(messages)).await {
            Ok(reply) => reply.into_inner(),
            Err(status) => return Broken::Lost(status.into()),
        };
        for (lease, report) in self.unacknowledged.values() {
            let _ = out.send((&Says::Finished(lease.clone(), report.clone())).into());
        }
        let mut renewal = tokio::time::interval(self.heartbeat);
        loop {
            if self.draining && self.attempts.is_empty() && self.unacknowledged.is_empty() {
                return Broken::Home;
            }
            tokio::select! {
                // In this order: what an attempt said goes out before its end does.
                biased;
                () = stop.cancelled() => return Broken::Stopped,
                _ = renewal.tick() => {
                    let leases = self.attempts.values().map(|control| control.lease.clone()).collect();
                    if out.send((&Says::Heartbeat(leases)).into()).is_ok() {
                        *last_contact = Instant::now();
                    }
                }
                order = orders.message() => match order {
                    Ok(Some(message)) => match message.read() {
                        Ok(order) => {
                            *last_contact = Instant::now();
                            if let Order::Welcome { heartbeat, .. } = &order {
                                renewal = tokio::time::interval((*heartbeat).max(Duration::from_millis(10)));
                            }
                            self.on_order(order, &channel);
                        }
                        Err(error) => return Broken::Lost(error.into()),
                    },
                    Ok(None) if self.draining => return Broken::Home,
                    Ok(None) => return Broken::Lost(tonic::Status::unavailable("the coordinator closed the stream").into()),
                    Err(status) => return Broken::Lost(status.into()),
                },
                Some(says) = heard.recv() => {
                    if out.send((&says).into()).is_err() {
                        return Broken::Lost(tonic::Status::unavailable("the stream is closed").into());
                    }
                }
                Some(ended) = self.running.join_next() => self.on_ended(ended, &out),
            }
        }
    }

    fn hello(&self) -> Hello {
        Hello {
            worker: self.settings.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            slots: self.settings.slots,
            agents: self.settings.agents.clone(),
            sandboxes: self.settings.sandboxes.clone(),
            labels: Default::default(),
            running: self.attempts.values().map(|control| control.lease.clone()).collect(),
        }
    }

    fn on_order(&mut self, order: Order, channel: &Authenticated) {
        match order {
            Order::Welcome { heartbeat, lease } => {
                self.heartbeat = heartbeat;
                self.lease = lease;
            }
            Order::Assignment(assignment) => self.begin(*assignment, channel.clone()),
            Order::Instruction {
                lease,
                after_turn,
                instruction,
            } => {
                if let Some(control) = self
                    .attempts
                    .get(&lease.attempt)
                    .filter(|control| control.lease == lease)
                {
                    control.instruct(after_turn, instruction);
                }
            }
            Order::Cancel { lease, reason: _ } => {
                if let Some(control) = self
                    .attempts
                    .get(&lease.attempt)
                    .filter(|control| control.lease == lease)
                {
                    control.cancel();
                }
            }
            Order::Acknowledged { lease, .. } => {
                self.unacknowledged.remove(&lease.attempt);
            }
            Order::Drain => self.draining = true,
        }
    }

    fn begin(&mut self, assignment: Assignment, channel: Authenticated) {
        let lease = assignment.lease.clone();
        let (control, attempt) = iteration::prepare(assignment, self.settings.environment.clone(), self.says.clone());
        self.attempts.insert(lease.attempt.clone(), control);
        self.running.spawn(async move {
            let mut ended = attempt.run().await;
            if let Err(error) = upload_all(channel, &lease.attempt, &ended.pieces).await {
                ended.report.evidence.clear();
                ended
                    .report
                    .machinery_fault
                    .get_or_insert_with(|| format!("failed to upload the evidence: {error}"));
            }
            (lease, ended)
        });
    }

    fn on_ended(
        &mut self,
        ended: Result<(Lease, Ended), tokio::task::JoinError>,
        out: &UnboundedSender<v1::WorkerMessage>,
    ) {
        match ended {
            Ok((lease, ended)) => {
                self.attempts.remove(&lease.attempt);
                let report = Box::new(ended.report);
                self.unacknowledged
                    .insert(lease.attempt.clone(), (lease.clone(), report.clone()));
                // When the stream is broken it is repeated on the next one.
                let _ = out.send((&Says::Finished(lease, report)).into());
            }
            Err(error) => {
                // A panic in an attempt is a fault of ours: its lease ends unrenewed and the coordinator tries again.
                let panicked: Vec<AttemptId> = self
                    .attempts
                    .iter()
                    .filter(|(_, control)| control.is_closed())
                    .map(|(id, _)| id.clone())
                    .collect();
                for id in panicked {
                    if let Some(control) = self.attempts.remove(&id) {
                        let report = Box::new(AttemptReport::fault(format!("the worker's own code failed: {error}")));
                        self.unacknowledged.insert(id, (control.lease.clone(), report.clone()));
                        let _ = out.send((&Says::Finished(control.lease, report)).into());
                    }
                }
            }
        }
    }

    async fn kill_all(&mut self) {
        for control in self.attempts.values() {
            control.cancel();
        }
        // Each ends by itself once its agent is dead; what cannot end is dropped, which kills it as well.
        let _ = tokio::time::timeout(Duration::from_secs(5), async {
            while self.running.join_next().await.is_some() {}
        })
        .await;
        self.running.shutdown().await;
        self.attempts.clear();
    }
}

/// All at once, so that the coordinator waits for its disk once.
async fn upload_all(channel: Authenticated, attempt: &AttemptId, pieces: &[Piece]) -> Result<(), LinkError> {
    let client = EvidenceClient::new(channel);
    try_join_all(
        pieces
            .iter()
            .map(|piece| upload_patiently(client.clone(), attempt, piece)),
    )
    .await?;
    Ok(())
}

async fn upload_patiently(
    mut client: EvidenceClient<Authenticated>,
    attempt: &AttemptId,
    piece: &Piece,
) -> Result<(), LinkError> {
    let mut pause = FIRST_PAUSE;
    let mut tries = 1;
    while let Err(error) = upload(&mut client, attempt, piece).await {
        let lasting = matches!(&error, LinkError::Evidence { .. } | LinkError::Malformed(_));
        if lasting || tries == UPLOAD_TRIES {
            return Err(error);
        }
        tries += 1;
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
    Ok(())
}
