//! The writing side, as everyone else holds it.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

use mcproctor_proto::evidence::EvidenceKind;
use mcproctor_proto::id::RunId;
use tokio::sync::{mpsc, oneshot};

use super::command::{Command, Reply};
use super::error::StoreError;
use super::hash::ContentHash;
use super::layout::Layout;
use super::object::{self, Compressed};
use super::pack::PackWriter;
use super::reader::Reader;
use super::row::{AttemptRow, JudgementRow, LeaseRow, RunRow, sql_int};
use super::run_lock::RunLock;
use super::schema;
use super::spool;
use super::upload::Upload;
use super::writer::{QUEUE, Syncs, Writer};
use crate::event::AttemptKey;
use crate::judge::Judgement;
use crate::record::{AttemptRecord, RunRecord, RunState};

/// Whether a result counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutAttempt {
    /// It is the first of its name and stored.
    Accepted,
    /// Another result was accepted before. One that came under another lease is kept apart as late evidence.
    Duplicate,
}

/// How much of a piece of evidence is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Have {
    /// All of it, verified and durable.
    pub complete: bool,
    /// Otherwise: the byte from which an upload goes on.
    pub offset: u64,
}

/// How often the disk was waited for since the store was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncCounts {
    /// Syncs of pack files.
    pub packs: u64,
    /// Commits, each with one sync of SQLite's log.
    pub commits: u64,
}

/// The writing side of a store. Clones share one writing thread; it ends, and is joined, with the last of them.
///
/// Every `put` is durable when it returns. Its methods need a tokio runtime.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    layout: Layout,
    requests: Option<mpsc::Sender<Command>>,
    writer: Option<JoinHandle<()>>,
    lookup: Mutex<Reader>,
    syncs: Arc<Syncs>,
}

impl Store {
    /// Opens the store in `dir`, creating or migrating it where needed. Several processes may have it open.
    ///
    /// # Errors
    /// [`StoreError::Newer`] and [`StoreError::Foreign`] for a database that this version must not touch, and whatever
    /// the file system refuses.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let layout = Layout::new(dir);
        Self::open_with(layout.clone(), PackWriter::new(layout))
    }

    pub(super) fn open_with(layout: Layout, packs: PackWriter) -> Result<Self, StoreError> {
        layout.create()?;
        let connection = schema::open_writer(&layout)?;
        object::sweep(&layout, SystemTime::now())?;
        let lookup = Mutex::new(Reader::of(layout.clone())?);
        let syncs = Arc::new(Syncs::default());
        let (requests, queue) = mpsc::channel(QUEUE);
        let writer = Writer::new(connection, layout.clone(), packs, Arc::clone(&syncs));
        let writer = thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || writer.serve(queue))
            .map_err(|error| StoreError::io("start a writer for", layout.root(), error))?;
        Ok(Self {
            inner: Arc::new(Inner {
                layout,
                requests: Some(requests),
                writer: Some(writer),
                lookup,
                syncs,
            }),
        })
    }

    /// The folder that it lies in.
    pub fn dir(&self) -> PathBuf {
        self.inner.layout.root().to_owned()
    }

    /// A reading side with a connection of its own.
    ///
    /// # Errors
    /// Whatever the file system or SQLite refuses.
    pub fn reader(&self) -> Result<Reader, StoreError> {
        Reader::of(self.inner.layout.clone())
    }

    /// Takes the right to carry on a run, against every other process. Waits a fifth of a second at most.
    ///
    /// # Errors
    /// [`StoreError::RunActive`] while another process (or an earlier lock of this one) has it.
    pub fn lock_run(&self, run: &RunId) -> Result<RunLock, StoreError> {
        RunLock::take(&self.inner.layout, run)
    }

    /// Stores a new run, in state `Running`.
    ///
    /// # Errors
    /// [`StoreError::RunExists`], [`StoreError::BadRunId`], or what stopped the commit.
    pub async fn create_run(&self, run: &RunRecord) -> Result<(), StoreError> {
        let row = RunRow::of(run).await?;
        self.ask(|reply| Command::CreateRun(row, reply)).await
    }

    /// Says how a run stands.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], or what stopped the commit.
    pub async fn set_state(&self, run: &RunId, state: RunState) -> Result<(), StoreError> {
        self.ask(|reply| Command::SetState(run.clone(), state, reply)).await
    }

    /// Replaces what is stored of a run, which keeps its plan, and says how it stands.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], [`StoreError::BadRunId`], or what stopped the commit.
    pub async fn update_run(&self, run: &RunRecord, state: RunState) -> Result<(), StoreError> {
        let row = RunRow::of(run).await?;
        self.ask(|reply| Command::UpdateRun(row, state, reply)).await
    }

    /// Notes that an attempt is being given out to `worker` under the lease of `epoch`. Done before the worker hears of it,
    /// it lets a coordinator that takes over from a killed one know what was in flight
    /// ([`super::Unfinished::in_flight`]). The note is gone once the attempt is stored.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], or what stopped the commit.
    pub async fn put_lease(
        &self,
        run: &RunId,
        key: AttemptKey,
        epoch: u64,
        worker: &str,
        given_at_unix_ms: i64,
    ) -> Result<(), StoreError> {
        let worker = worker.to_owned();
        let row = LeaseRow {
            run: run.clone(),
            key,
            epoch: sql_int(epoch),
            worker,
            given_at_unix_ms,
        };
        self.ask(|reply| Command::PutLease(row, reply)).await
    }

    /// Stores an attempt that ran under the lease of `epoch`.
    ///
    /// The first result of an attempt wins, and so does the first result of an iteration ([`AttemptRecord::last`]); only
    /// an aborted one gives way to what a resumed run brings. What comes after it is kept apart with its cost, once a
    /// lease; the same result under the same lease is only told that it is known.
    ///
    /// # Errors
    /// [`StoreError::MissingEvidence`] when a piece it refers to is not stored, [`StoreError::NoSuchRun`], or what
    /// stopped the commit.
    pub async fn put_attempt(&self, run: &RunId, epoch: u64, record: &AttemptRecord) -> Result<PutAttempt, StoreError> {
        let row = AttemptRow::of(run, epoch, record).await?;
        self.ask(|reply| Command::PutAttempt(row, reply)).await
    }

    /// Keeps a result that came under a lease that was over, with its cost. It counts for nothing else.
    ///
    /// # Errors
    /// As [`Store::put_attempt`].
    pub async fn put_late(&self, run: &RunId, epoch: u64, record: &AttemptRecord) -> Result<(), StoreError> {
        let row = AttemptRow::of(run, epoch, record).await?;
        self.ask(|reply| Command::PutLate(row, reply)).await
    }

    /// Stores what the judge said of an attempt; it takes the place of what it said before.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], or what stopped the commit.
    pub async fn put_judgement(&self, run: &RunId, key: AttemptKey, judgement: &Judgement) -> Result<(), StoreError> {
        let row = JudgementRow::of(run, key, judgement).await?;
        self.ask(|reply| Command::PutJudgement(row, reply)).await
    }

    /// Stores a piece of evidence that is in memory as a whole. `sha256` is that of `bytes`, in hex. Returns its size.
    ///
    /// # Errors
    /// [`StoreError::WrongHash`] when the bytes are others, [`StoreError::BadHash`], or what stopped the write.
    pub async fn put_evidence(&self, kind: EvidenceKind, sha256: &str, bytes: Vec<u8>) -> Result<u64, StoreError> {
        let hash = ContentHash::parse(sha256)?;
        let length = bytes.len() as u64;
        let store = self.clone();
        let compressed = off_thread(move || {
            let found = ContentHash::of(&bytes);
            if found != hash {
                return Err(StoreError::WrongHash {
                    sha256: hash.to_string(),
                    found: found.to_string(),
                });
            }
            // Lists of tools come with every attempt, and most are the same.
            if store.knows(&hash)? {
                return Ok(None);
            }
            object::compress_slice(store.layout(), kind, hash, &bytes).map(Some)
        })
        .await?;
        if let Some(compressed) = compressed {
            self.enter(compressed).await?;
        }
        Ok(length)
    }

    /// How much of a piece of `bytes` bytes is here, so that an upload can go on. While another upload of the same piece
    /// is under way its part does not count.
    ///
    /// # Errors
    /// [`StoreError::BadHash`], or what stopped the look-up.
    pub async fn evidence_have(&self, sha256: &str, bytes: u64) -> Result<Have, StoreError> {
        let hash = ContentHash::parse(sha256)?;
        let store = self.clone();
        off_thread(move || {
            if store.knows(&hash)? {
                return Ok(Have {
                    complete: true,
                    offset: bytes,
                });
            }
            Ok(Have {
                complete: false,
                offset: spool::resume_at(&store.inner.layout, &hash, bytes),
            })
        })
        .await
    }

    /// Begins, or goes on with, the upload of a piece of `bytes` bytes at `offset` (0, or what
    /// [`Store::evidence_have`] said).
    ///
    /// # Errors
    /// [`StoreError::WrongOffset`] when less than `offset` is here, [`StoreError::BadHash`], or what stopped the write.
    pub async fn begin_evidence(
        &self,
        kind: EvidenceKind,
        sha256: &str,
        bytes: u64,
        offset: u64,
    ) -> Result<Upload, StoreError> {
        let hash = ContentHash::parse(sha256)?;
        Upload::begin(self.clone(), kind, hash, bytes, offset).await
    }

    /// Moves everything into the database file itself, so that a copy of it is complete. For the end of a run; what is
    /// written meanwhile, or still read, stays in the log beside it.
    ///
    /// # Errors
    /// What SQLite refuses.
    pub async fn checkpoint(&self) -> Result<(), StoreError> {
        let layout = self.inner.layout.clone();
        off_thread(move || {
            let path = layout.database();
            schema::open_writer(&layout)?
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
                .map_err(|error| StoreError::database(&path, error))
        })
        .await
    }

    /// How often the disk was waited for.
    pub fn syncs(&self) -> SyncCounts {
        SyncCounts {
            packs: self.inner.syncs.packs.load(Ordering::Relaxed),
            commits: self.inner.syncs.commits.load(Ordering::Relaxed),
        }
    }

    /// Requests that wait for the writer right now, those of the commit under way not counted.
    pub fn queued(&self) -> usize {
        self.inner
            .requests
            .as_ref()
            .map_or(0, |requests| requests.max_capacity() - requests.capacity())
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.inner.layout
    }

    /// Whether a piece is stored already; blocks.
    pub(super) fn knows(&self, hash: &ContentHash) -> Result<bool, StoreError> {
        self.inner
            .lookup
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .knows(hash)
    }

    /// Makes a compressed piece part of the store.
    pub(super) async fn enter(&self, compressed: Compressed) -> Result<(), StoreError> {
        match compressed {
            Compressed::Small(piece) => self.ask(|reply| Command::PutPiece(piece, reply)).await,
            Compressed::Large(header) => self.ask(|reply| Command::PutObject(header, reply)).await,
        }
    }

    async fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let requests = self.inner.requests.as_ref().ok_or(StoreError::WriterGone)?;
        requests
            .send(command(reply))
            .await
            .map_err(|_| StoreError::WriterGone)?;
        answer.await.map_err(|_| StoreError::WriterGone)?
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The writer ends when the last sender is gone, after what is queued.
        self.requests = None;
        if let Some(writer) = self.writer.take()
            && writer.thread().id() != thread::current().id()
        {
            // Its panic, if there was one, has reached every caller as `WriterGone`.
            let _ = writer.join();
        }
    }
}

/// Runs blocking work beside the async threads.
pub(super) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| StoreError::WriterGone)?
}
