//! The way from the forward path to the recorder: it never blocks, and its memory is bounded.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::tap::{Ending, Piece, Tap};

/// Copies waiting in memory; beyond, they wait on disk.
const MEMORY_CAP: usize = 16 * 1024 * 1024;
/// Smaller copies are made, so that they do not pin the read buffer that they came in.
const COPY_BELOW: usize = 4 * 1024;
/// How long the recorder rests between looks at the queue while there is traffic: it works in batches, and the forward
/// path need not wake it for every message.
const REST: Duration = Duration::from_millis(1);
/// Looks at an empty queue before it sleeps until it is woken.
const IDLE_LOOKS: u32 = 50;

#[derive(Debug, Default)]
struct Spill {
    file: Option<File>,
    end: u64,
    unread: usize,
}

/// Filled by the forward path, emptied by the recorder.
#[derive(Debug)]
pub(super) struct Queue {
    started: Instant,
    taps: Mutex<VecDeque<Tap>>,
    recorder: OnceLock<Thread>,
    parked: AtomicBool,
    closed: AtomicBool,
    stopping: AtomicBool,
    waiting: AtomicUsize,
    spill_path: PathBuf,
    spill: Mutex<Spill>,
    fault: Mutex<Option<String>>,
    last_activity_us: AtomicU64,
    /// Calls without an end, kept by the recorder.
    pub(super) open_calls: AtomicUsize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue {
    pub(super) fn new(spill_path: PathBuf) -> Self {
        Self {
            started: Instant::now(),
            taps: Mutex::default(),
            recorder: OnceLock::new(),
            parked: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            spill_path,
            spill: Mutex::default(),
            fault: Mutex::default(),
            last_activity_us: AtomicU64::new(0),
            open_calls: AtomicUsize::new(0),
        }
    }

    /// When the proxy started; the recorder's clock.
    pub(super) fn started(&self) -> Instant {
        self.started
    }

    /// The thread to wake.
    pub(super) fn attach(&self, recorder: Thread) {
        // A second attach cannot happen: one recorder is started per queue.
        let _ = self.recorder.set(recorder);
    }

    /// Appends one thing that happened.
    pub(super) fn push(&self, tap: Tap) {
        let urgent = matches!(tap, Tap::Snapshot(_) | Tap::Finish { .. });
        lock(&self.taps).push_back(tap);
        if (urgent || self.parked.load(Ordering::SeqCst))
            && let Some(recorder) = self.recorder.get()
        {
            recorder.unpark();
        }
    }

    /// Notes that bytes moved.
    pub(super) fn active(&self, at: Instant) {
        let us = u64::try_from(at.saturating_duration_since(self.started).as_micros()).unwrap_or(u64::MAX);
        self.last_activity_us.fetch_max(us, Ordering::Relaxed);
    }

    /// When bytes last moved in either direction.
    pub(super) fn last_activity(&self) -> Instant {
        self.started + Duration::from_micros(self.last_activity_us.load(Ordering::Relaxed))
    }

    /// A copy of `data` for the recorder. Past the memory cap it goes to the spill file: the write ends in the page
    /// cache, which costs the forward path about as much as the copy itself.
    pub(super) fn copy(&self, data: &Bytes) -> Option<Piece> {
        let len = data.len();
        let waiting = self.waiting.fetch_add(len, Ordering::Relaxed);
        if waiting + len <= MEMORY_CAP {
            let copy = if len < COPY_BELOW {
                Bytes::copy_from_slice(data)
            } else {
                data.clone()
            };
            return Some(Piece::Here(copy));
        }
        self.waiting.fetch_sub(len, Ordering::Relaxed);
        match self.spill(data) {
            Ok(piece) => Some(piece),
            Err(error) => {
                self.fail(format!("copies could not be written to disk: {error}"));
                None
            }
        }
    }

    fn spill(&self, data: &Bytes) -> io::Result<Piece> {
        let mut spill = lock(&self.spill);
        if spill.unread == 0 {
            spill.end = 0;
        }
        if spill.file.is_none() {
            let mut options = File::options();
            options.read(true).write(true).create(true).truncate(true);
            spill.file = Some(options.open(&self.spill_path)?);
        }
        let offset = spill.end;
        if let Some(file) = &spill.file {
            file.write_all_at(data, offset)?;
        }
        spill.end += data.len() as u64;
        spill.unread += 1;
        Ok(Piece::Spilled {
            offset,
            len: data.len(),
        })
    }

    /// Reads a piece back and forgets it.
    pub(super) fn read(&self, piece: Piece) -> Option<Bytes> {
        match piece {
            Piece::Here(bytes) => {
                self.waiting.fetch_sub(bytes.len(), Ordering::Relaxed);
                Some(bytes)
            }
            Piece::Spilled { offset, len } => {
                let mut bytes = vec![0; len];
                let mut spill = lock(&self.spill);
                spill.unread = spill.unread.saturating_sub(1);
                let read = spill.file.as_ref().map(|file| file.read_exact_at(&mut bytes, offset));
                drop(spill);
                match read {
                    Some(Ok(())) => Some(Bytes::from(bytes)),
                    Some(Err(error)) => {
                        self.fail(format!("copies could not be read back from disk: {error}"));
                        None
                    }
                    None => None,
                }
            }
        }
    }

    /// From now on connections that the agent closes are not its own decision.
    pub(super) fn stopping(&self) {
        self.stopping.store(true, Ordering::SeqCst);
    }

    /// What it means that the agent's connection is gone.
    pub(super) fn agent_gone(&self) -> Ending {
        if self.stopping.load(Ordering::SeqCst) {
            Ending::Stopped
        } else {
            Ending::ClientLeft
        }
    }

    /// The recording can no longer be trusted; the first reason is kept.
    pub(super) fn fail(&self, why: String) {
        lock(&self.fault).get_or_insert(why);
    }

    /// Why the recording cannot be trusted.
    pub(super) fn fault(&self) -> Option<String> {
        lock(&self.fault).clone()
    }

    /// Nothing will be read any more.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        if let Some(recorder) = self.recorder.get() {
            recorder.unpark();
        }
    }

    /// Waits for the next batch; `false` once the queue was closed. Only the recorder's own thread calls it.
    pub(super) fn take(&self, batch: &mut VecDeque<Tap>) -> bool {
        let mut looks = 0;
        loop {
            if self.closed.load(Ordering::SeqCst) {
                return false;
            }
            std::mem::swap(&mut *lock(&self.taps), batch);
            if !batch.is_empty() {
                return true;
            }
            looks += 1;
            if looks < IDLE_LOOKS {
                std::thread::park_timeout(REST);
                continue;
            }
            self.parked.store(true, Ordering::SeqCst);
            // Whoever pushed before the flag was up is seen here, whoever pushes later sees the flag.
            if lock(&self.taps).is_empty() && !self.closed.load(Ordering::SeqCst) {
                std::thread::park();
            }
            self.parked.store(false, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;

    #[test]
    fn past_the_memory_cap_copies_wait_on_disk_and_come_back_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let queue = Queue::new(dir.path().join("spill"));
        let data: Vec<Bytes> = (0..24u8).map(|n| Bytes::from(vec![n; 1024 * 1024])).collect();
        let pieces: Vec<Piece> = data.iter().map(|data| queue.copy(data).unwrap()).collect();
        assert_eq!(
            pieces.iter().filter(|piece| matches!(piece, Piece::Here(_))).count(),
            16
        );
        for (data, piece) in data.iter().zip(pieces) {
            assert!(queue.read(piece).unwrap() == data);
        }
        assert!(matches!(queue.copy(&data[0]).unwrap(), Piece::Here(_)));
        assert_eq!(queue.fault(), None);
    }

    #[test]
    fn a_full_disk_fails_the_recording_and_nothing_else() {
        let queue = Queue::new(PathBuf::from("/nonexistent/spill"));
        let data = Bytes::from(vec![0; MEMORY_CAP]);
        let first = queue.copy(&data).unwrap();
        assert!(queue.copy(&data).is_none());
        assert!(queue.fault().unwrap().starts_with("copies could not be written"));
        assert!(queue.read(first).is_some());
    }

    #[test]
    fn a_sleeping_recorder_is_woken() {
        let queue = std::sync::Arc::new(Queue::new(PathBuf::new()));
        let recorder = std::thread::spawn({
            let queue = std::sync::Arc::clone(&queue);
            move || {
                let mut batch = VecDeque::new();
                let mut seen = 0;
                while queue.take(&mut batch) {
                    seen += batch.drain(..).count();
                }
                seen
            }
        });
        queue.attach(recorder.thread().clone());
        for exchange in 0..3 {
            while !queue.parked.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            queue.push(Tap::RequestEnd { exchange });
        }
        while !lock(&queue.taps).is_empty() || !queue.parked.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        queue.close();
        assert_eq!(recorder.join().unwrap(), 3);
    }
}
