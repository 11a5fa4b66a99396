//! Threads side by side, and their results in order.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::report::{Iteration, ReportError, RunData};

use super::chunk::{Chunk, for_each_chunk};
use super::findings::Findings;
use super::tool_list::ToolLists;

/// Worker threads at most: beyond that the walk through the store is what takes the time.
const MOST_LANES: usize = 8;

/// Iterations with what was found in them, and what else a worker made of them.
#[derive(Debug)]
pub(in crate::report) struct Seen<T> {
    /// The iterations of a chunk.
    pub(in crate::report) iterations: Vec<(Iteration, Findings)>,
    /// What `render` made of them.
    pub(in crate::report) rendered: T,
}

/// A chunk, and where its result goes.
type Job<T> = (Chunk, SyncSender<Result<Seen<T>, ReportError>>);

/// Reads the whole run once: `render` is called on worker threads, `take` on this one, in the order of the run.
///
/// # Errors
///
/// When the run cannot be read, and whatever `render` or `take` return; the first in the order of the run.
pub(in crate::report) fn walk<T: Send>(
    data: &dyn RunData,
    render: impl Fn(u32, &[(Iteration, Findings)]) -> Result<T, ReportError> + Sync,
    mut take: impl FnMut(Seen<T>) -> Result<(), ReportError>,
) -> Result<(), ReportError> {
    let lanes = thread::available_parallelism().map_or(1, usize::from).min(MOST_LANES);
    let lists = ToolLists::new(data);
    let (jobs, open) = sync_channel::<Job<T>>(lanes);
    let open = Mutex::new(open);
    // Results wait here in order; when it is full, nothing new is read.
    let (promised, promises) = sync_channel(2 * lanes);
    thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| {
                while let Some((chunk, result)) = next(&open) {
                    // A thread that ended here would leave the others waiting for it.
                    let seen = catch_unwind(AssertUnwindSafe(|| look(chunk, &lists, &render)));
                    // Nobody waits for it any more after an error.
                    let _ = result.send(seen.unwrap_or_else(|_| Err(stopped())));
                }
            });
        }
        let reading = scope.spawn(move || {
            for_each_chunk(data, &mut |chunk| {
                let (result, promise) = sync_channel(1);
                let given = promised.send(promise).is_ok() && jobs.send((chunk, result)).is_ok();
                if given { Ok(()) } else { Err(stopped()) }
            })
        });
        let taken = take_all(promises, &mut take);
        let read = reading.join().unwrap_or_else(|_| Err(stopped()));
        taken.and(read)
    })
}

fn next<T>(open: &Mutex<Receiver<Job<T>>>) -> Option<Job<T>> {
    open.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

fn look<T>(
    chunk: Chunk,
    lists: &ToolLists<'_>,
    render: &(impl Fn(u32, &[(Iteration, Findings)]) -> Result<T, ReportError> + Sync),
) -> Result<Seen<T>, ReportError> {
    let index = chunk.index;
    let iterations: Vec<_> = chunk
        .read()?
        .into_iter()
        .map(|iteration| {
            let findings = Findings::of(&iteration, lists);
            (iteration, findings)
        })
        .collect();
    let rendered = render(index, &iterations)?;
    Ok(Seen { iterations, rendered })
}

/// Takes results until there are no more, or one is an error; what is promised then is dropped, and the others stop.
fn take_all<T>(
    promises: Receiver<Receiver<Result<Seen<T>, ReportError>>>,
    take: &mut impl FnMut(Seen<T>) -> Result<(), ReportError>,
) -> Result<(), ReportError> {
    for promise in promises {
        take(promise.recv().unwrap_or_else(|_| Err(stopped()))?)?;
    }
    Ok(())
}

/// Said when another error is on its way, or a thread has panicked.
fn stopped() -> ReportError {
    ReportError::Output(std::io::Error::other("the pass over the run was stopped"))
}
