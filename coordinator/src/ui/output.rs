//! Lines on their way to standard output, written by a thread of their own, so that a pipe nobody reads holds up nothing.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use tokio::sync::oneshot;

/// Bytes that may wait to be written. What comes beyond is left out and counted.
const MOST_WAITING: usize = 16 << 20;

/// Where lines are handed in. It never waits.
#[derive(Debug)]
pub(super) struct LineWriter {
    queue: Arc<Queue>,
    ended: oneshot::Receiver<io::Result<()>>,
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<String>,
    bytes: usize,
    left_out: u64,
    closed: bool,
}

impl LineWriter {
    /// Starts the thread that writes to `sink`. `left_out` says in one line that so many lines could not be written.
    pub(super) fn start(sink: Box<dyn Write + Send>, left_out: fn(u64) -> String) -> io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let (done, ended) = oneshot::channel();
        let thread_queue = Arc::clone(&queue);
        thread::Builder::new().name("output".to_owned()).spawn(move || {
            let _ = done.send(thread_queue.write_to(sink, left_out));
        })?;
        Ok(Self { queue, ended })
    }

    /// Takes a line without its line break.
    pub(super) fn push(&self, line: String) {
        let mut state = self.queue.lock();
        if state.bytes + line.len() > MOST_WAITING {
            state.left_out += 1;
            return;
        }
        state.bytes += line.len();
        state.lines.push_back(line);
        drop(state);
        self.queue.changed.notify_one();
    }

    /// Waits until everything is written. A reader that has gone away is no error: the run does not depend on it.
    pub(super) async fn finish(mut self) -> io::Result<()> {
        self.queue.close();
        match (&mut self.ended).await {
            Ok(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            Ok(_) => Ok(()),
            Err(_) => Err(io::Error::other("the thread that writes output ended early")),
        }
    }
}

impl Drop for LineWriter {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    fn write_to(&self, mut sink: Box<dyn Write + Send>, left_out: fn(u64) -> String) -> io::Result<()> {
        while let Some(batch) = self.next_batch(left_out) {
            let written = sink.write_all(batch.as_bytes()).and_then(|()| sink.flush());
            if let Err(error) = written {
                self.discard();
                return Err(error);
            }
        }
        Ok(())
    }

    /// All that waits, as one text; `None` when nothing waits and nothing will come.
    fn next_batch(&self, left_out: fn(u64) -> String) -> Option<String> {
        let mut state = self.lock();
        while state.lines.is_empty() && state.left_out == 0 {
            if state.closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let mut batch = String::with_capacity(state.bytes + state.lines.len());
        for line in state.lines.drain(..) {
            batch.push_str(&line);
            batch.push('\n');
        }
        state.bytes = 0;
        if state.left_out > 0 {
            batch.push_str(&left_out(std::mem::take(&mut state.left_out)));
            batch.push('\n');
        }
        Some(batch)
    }

    /// After a failed write nothing is kept any more.
    fn discard(&self) {
        let mut state = self.lock();
        state.lines.clear();
        state.bytes = MOST_WAITING;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::mpsc;

    use super::*;

    /// A reader that reads nothing until it is told to, and hands on what it read.
    struct Slow {
        go: mpsc::Receiver<()>,
        read: mpsc::Sender<String>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.go.recv();
            let _ = self.read.send(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Gone;

    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_reader_that_does_not_read_holds_up_nothing_and_costs_bounded_memory() {
        let (start, go) = mpsc::channel();
        let (read, reads) = mpsc::channel();
        let writer = LineWriter::start(Box::new(Slow { go, read }), |lines| format!("left out: {lines}")).unwrap();
        let line = "x".repeat(1 << 20);
        for _ in 0..100 {
            writer.push(line.clone());
        }
        assert!(writer.queue.lock().bytes <= MOST_WAITING);
        drop(start);
        writer.finish().await.unwrap();
        let text: String = reads.iter().collect();
        let written = text.lines().filter(|read| read.len() == line.len()).count();
        let left_out: usize = text
            .lines()
            .filter_map(|line| line.strip_prefix("left out: "))
            .map(|count| count.parse::<usize>().unwrap())
            .sum();
        assert!(left_out > 0);
        assert_eq!(written + left_out, 100);
    }

    #[tokio::test]
    async fn a_reader_that_goes_away_is_no_error() {
        let writer = LineWriter::start(Box::new(Gone), |_| String::new()).unwrap();
        writer.push("anything".to_owned());
        writer.finish().await.unwrap();
    }
}
