//! What runs on this machine, read from `/proc`.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// One process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its id.
    pub id: i32,
    /// Its parent's id.
    pub parent: i32,
    /// The program and its arguments.
    pub args: Vec<String>,
}

/// Every process that is not a zombie.
fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(read)
        .collect()
}

fn read(id: i32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let args = fs::read(format!("/proc/{id}/cmdline")).ok()?;
    let args = args
        .split(|&byte| byte == 0)
        .map(|arg| String::from_utf8_lossy(arg).into_owned());
    (state != "Z").then(|| Process {
        id,
        parent,
        args: args.collect(),
    })
}

/// The processes that `root` has started, and that they have started.
pub fn descendants(root: i32) -> Vec<Process> {
    let all = all();
    let mut found: BTreeSet<i32> = BTreeSet::from([root]);
    loop {
        let more: Vec<i32> = all
            .iter()
            .filter(|process| found.contains(&process.parent) && !found.contains(&process.id))
            .map(|process| process.id)
            .collect();
        if more.is_empty() {
            break;
        }
        found.extend(more);
    }
    all.into_iter()
        .filter(|process| process.id != root && found.contains(&process.id))
        .collect()
}

/// The processes with `text` in their arguments or their environment, but not this one.
pub fn marked(text: &str) -> Vec<Process> {
    let own = i32::try_from(std::process::id()).unwrap();
    let holds = |bytes: Vec<u8>| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    let mut found = all();
    found.retain(|process| {
        process.id != own
            && ["environ", "cmdline"]
                .iter()
                .any(|file| fs::read(format!("/proc/{}/{file}", process.id)).is_ok_and(holds))
    });
    found
}

/// Waits until no process has `text` in its arguments or environment; ends those that stay and fails the test.
pub fn wait_until_gone(text: &str, patience: Duration) {
    let begun = Instant::now();
    loop {
        let left = marked(text);
        if left.is_empty() {
            return;
        }
        if begun.elapsed() > patience {
            left.iter().for_each(end);
            panic!("still running after {patience:?}: {left:#?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Kills one process, which may be gone already.
pub fn end(process: &Process) {
    if let Some(id) = Pid::from_raw(process.id) {
        let _ = kill_process(id, Signal::KILL);
    }
}
