//! The writing thread: it takes what has queued up while the last commit was under way, and commits it as one.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::mpsc;

use super::batch;
use super::command::{Answer, Command};
use super::error::StoreError;
use super::layout::Layout;
use super::pack::{PackWriter, Packed};
use super::piece::Piece;

/// Requests that wait for the writer before callers are held up.
pub(super) const QUEUE: usize = 1024;

/// Requests at most in one commit, and bytes after which no more are taken into it.
const BATCH_REQUESTS: usize = 1024;
const BATCH_BYTES: usize = 16 << 20;

/// How often the disk was waited for.
#[derive(Debug, Default)]
pub(super) struct Syncs {
    pub(super) packs: AtomicU64,
    pub(super) commits: AtomicU64,
}

/// Owns the writing connection and the pack that is written to.
#[derive(Debug)]
pub(super) struct Writer {
    connection: Connection,
    path: PathBuf,
    layout: Layout,
    packs: PackWriter,
    syncs: Arc<Syncs>,
}

impl Writer {
    pub(super) fn new(connection: Connection, layout: Layout, packs: PackWriter, syncs: Arc<Syncs>) -> Self {
        Self {
            connection,
            path: layout.database(),
            layout,
            packs,
            syncs,
        }
    }

    /// Serves until every sender is gone.
    pub(super) fn serve(mut self, mut requests: mpsc::Receiver<Command>) {
        while let Some(first) = requests.blocking_recv() {
            let mut weight = first.weight();
            let mut batch = vec![first];
            while batch.len() < BATCH_REQUESTS && weight < BATCH_BYTES {
                let Ok(next) = requests.try_recv() else { break };
                weight += next.weight();
                batch.push(next);
            }
            self.settle(batch);
        }
    }

    /// Evidence first, synced; then the rows that refer to it, synced; then the answers.
    fn settle(&mut self, mut batch: Vec<Command>) {
        let mut pieces = Vec::new();
        for command in &mut batch {
            if let Command::PutPiece(piece, _) = command {
                pieces.push(Piece {
                    header: piece.header,
                    framed: std::mem::take(&mut piece.framed),
                });
            }
        }
        let (packed, pieces) = match self.append(pieces) {
            Ok(packed) => (packed, Ok(())),
            Err(error) => (Vec::new(), Err(error)),
        };
        let mut answers = Vec::with_capacity(batch.len());
        let committed = self.commit(batch, &packed, &pieces, &mut answers);
        for answer in answers {
            answer.send(&committed);
        }
    }

    /// Appends the pieces that are new, each once.
    fn append(&mut self, mut pieces: Vec<Piece>) -> Result<Vec<Packed>, StoreError> {
        if pieces.is_empty() {
            return Ok(Vec::new());
        }
        let Self {
            connection,
            path,
            layout,
            packs,
            syncs,
        } = self;
        let failed = |error| StoreError::database(path, error);
        let mut seen: HashSet<_> =
            batch::known_among(connection, layout, pieces.iter().map(|piece| piece.header.hash)).map_err(failed)?;
        pieces.retain(|piece| seen.insert(piece.header.hash));
        if pieces.is_empty() {
            return Ok(Vec::new());
        }
        let acknowledged = |number| batch::acknowledged_length(connection, number).map_err(failed);
        let (packed, count) = packs.append(&pieces, &acknowledged)?;
        syncs.packs.fetch_add(count, Ordering::Relaxed);
        Ok(packed)
    }

    fn commit(
        &mut self,
        batch: Vec<Command>,
        packed: &[Packed],
        pieces: &Result<(), StoreError>,
        answers: &mut Vec<Answer>,
    ) -> Result<(), StoreError> {
        let path = &self.path;
        let failed = |error| StoreError::database(path, error);
        let mut transaction = match self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
        {
            Ok(transaction) => transaction,
            Err(error) => {
                answers.extend(batch.into_iter().map(Command::unattempted));
                return Err(failed(error));
            }
        };
        let mut entered = batch::enter_packed(&transaction, packed).map_err(failed);
        for command in batch {
            // A full disk or a failed write ends the whole transaction at once, not only the statement that met it.
            answers.push(if entered.is_err() || transaction.is_autocommit() {
                command.unattempted()
            } else {
                batch::apply(&mut transaction, path, command, pieces)
            });
        }
        if entered.is_ok() && transaction.is_autocommit() {
            entered = Err(answers
                .iter()
                .find_map(Answer::error)
                .unwrap_or(StoreError::Busy { path: path.clone() }));
        }
        entered?;
        transaction.commit().map_err(failed)?;
        self.syncs.commits.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]

    use mcproctor_proto::evidence::EvidenceKind;
    use mcproctor_proto::id::RunId;
    use tokio::sync::oneshot;

    use super::*;
    use crate::store::hash::ContentHash;
    use crate::store::row::RunRow;
    use crate::store::schema;

    fn writer(layout: &Layout) -> Writer {
        layout.create().unwrap();
        let connection = schema::open_writer(layout).unwrap();
        Writer::new(
            connection,
            layout.clone(),
            PackWriter::new(layout.clone()),
            Arc::default(),
        )
    }

    fn create_run(id: &str, bytes: usize) -> (Command, oneshot::Receiver<Result<(), StoreError>>) {
        let (reply, answer) = oneshot::channel();
        let run = RunRow {
            id: RunId::new(id),
            started_at_unix_ms: 0,
            config_file: String::new(),
            test_cases: 1,
            agents: 1,
            iterations: 1,
            record: vec![0; bytes],
        };
        (Command::CreateRun(run, reply), answer)
    }

    fn put_piece(content: &[u8]) -> (Command, oneshot::Receiver<Result<(), StoreError>>) {
        let (reply, answer) = oneshot::channel();
        let compressed = zstd::bulk::compress(content, 3).unwrap();
        let piece = Piece::new(
            EvidenceKind::Calls,
            ContentHash::of(content),
            content.len() as u64,
            &compressed,
        );
        (Command::PutPiece(piece, reply), answer)
    }

    #[test]
    fn a_database_without_room_acknowledges_nothing_of_the_batch_and_goes_on_once_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = writer(&Layout::new(folder.path()));
        let pages: u32 = writer
            .connection
            .pragma_query_value(None, "page_count", |row| row.get(0))
            .unwrap();
        let limit = |writer: &Writer, pages: u32| {
            writer
                .connection
                .query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))
                .unwrap();
        };
        limit(&writer, pages + 2);
        let (small, small_answer) = create_run("small", 10);
        let (large, large_answer) = create_run("large", 100_000);
        let (after, after_answer) = create_run("after", 10);
        writer.settle(vec![small, large, after]);
        for mut answer in [small_answer, large_answer, after_answer] {
            let refused = answer.try_recv().unwrap().unwrap_err();
            assert!(refused.is_disk_full(), "{refused}");
        }
        let runs = |writer: &Writer| -> i64 {
            writer
                .connection
                .query_row("SELECT count(*) FROM run", [], |row| row.get(0))
                .unwrap()
        };
        assert_eq!(runs(&writer), 0);

        limit(&writer, pages + 1000);
        let (large, mut answer) = create_run("large", 100_000);
        writer.settle(vec![large]);
        answer.try_recv().unwrap().unwrap();
        assert_eq!(runs(&writer), 1);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_pack_without_room_refuses_the_evidence_alone_and_goes_on_once_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        let mut writer = writer(&layout);
        std::os::unix::fs::symlink("/dev/full", layout.pack(1)).unwrap();
        let (piece, mut piece_answer) = put_piece(b"evidence");
        let (run, mut run_answer) = create_run("r1", 10);
        writer.settle(vec![piece, run]);
        assert!(piece_answer.try_recv().unwrap().unwrap_err().is_disk_full());
        run_answer.try_recv().unwrap().unwrap();

        std::fs::remove_file(layout.pack(1)).unwrap();
        let (piece, mut answer) = put_piece(b"evidence");
        writer.settle(vec![piece]);
        answer.try_recv().unwrap().unwrap();
        assert!(std::fs::metadata(layout.pack(1)).unwrap().len() > 0);
    }
}
