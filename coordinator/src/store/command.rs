//! What callers ask of the writing thread.

use mcproctor_proto::id::RunId;
use tokio::sync::oneshot;

use super::error::StoreError;
use super::handle::PutAttempt;
use super::piece::{Piece, PieceHeader};
use super::row::{AttemptRow, JudgementRow, LeaseRow, RunRow};
use crate::record::RunState;

/// Where the answer goes; a caller that has given up is no error.
pub(super) type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// One request. It is answered after the commit that holds it.
#[derive(Debug)]
pub(super) enum Command {
    /// Store a new run.
    CreateRun(RunRow, Reply<()>),
    /// Say how a run stands.
    SetState(RunId, RunState, Reply<()>),
    UpdateRun(RunRow, RunState, Reply<()>),
    /// Note that an attempt is given out.
    PutLease(LeaseRow, Reply<()>),
    /// Store an attempt, if it is the first of its name.
    PutAttempt(AttemptRow, Reply<PutAttempt>),
    /// Store a result that does not count.
    PutLate(AttemptRow, Reply<()>),
    /// Store what the judge said of an attempt.
    PutJudgement(JudgementRow, Reply<()>),
    /// Append a small piece of evidence to a pack.
    PutPiece(Piece, Reply<()>),
    /// Enter a large piece whose file is in place and synced.
    PutObject(PieceHeader, Reply<()>),
}

impl Command {
    /// Bytes that it holds in memory, roughly.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::CreateRun(run, _) => run.record.len(),
            Self::PutAttempt(attempt, _) | Self::PutLate(attempt, _) => attempt.record.len(),
            Self::PutJudgement(judgement, _) => judgement.json.len(),
            Self::PutPiece(piece, _) => piece.framed.len(),
            Self::SetState(..) | Self::UpdateRun(..) | Self::PutLease(..) | Self::PutObject(..) => 0,
        }
    }

    /// The answer of a request that no transaction could be opened for: what became of the commit.
    pub(super) fn unattempted(self) -> Answer {
        match self {
            Self::PutAttempt(_, reply) => Answer::Put(reply, Ok(PutAttempt::Duplicate)),
            Self::CreateRun(_, reply)
            | Self::SetState(_, _, reply)
            | Self::UpdateRun(_, _, reply)
            | Self::PutLease(_, reply)
            | Self::PutLate(_, reply)
            | Self::PutJudgement(_, reply)
            | Self::PutPiece(_, reply)
            | Self::PutObject(_, reply) => Answer::Done(reply, Ok(())),
        }
    }
}

/// An answer that waits for its commit.
#[derive(Debug)]
pub(super) enum Answer {
    Done(Reply<()>, Result<(), StoreError>),
    Put(Reply<PutAttempt>, Result<PutAttempt, StoreError>),
}

impl Answer {
    /// Why this request alone was refused, if it was.
    pub(super) fn error(&self) -> Option<StoreError> {
        match self {
            Self::Done(_, result) => result.as_ref().err().cloned(),
            Self::Put(_, result) => result.as_ref().err().cloned(),
        }
    }

    /// Sends it: a refusal of this request alone, or else what became of the commit.
    pub(super) fn send(self, committed: &Result<(), StoreError>) {
        match self {
            Self::Done(reply, result) => {
                let _ = reply.send(result.and_then(|()| committed.clone()));
            }
            Self::Put(reply, result) => {
                let _ = reply.send(result.and_then(|put| committed.clone().map(|()| put)));
            }
        }
    }
}
