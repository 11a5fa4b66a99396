//! What the kernel counted while a program ran, and what follows from it.

use mcproctor_proto::assignment::Resources;

use super::counted::{Counted, Counters, Event};
use super::shortage::Shortage;

/// What is counted from the start of a program on.
#[derive(Debug)]
pub(super) struct Tally {
    memory_kills: Counted,
    /// Whether that counts in a group of the program's own.
    own_memory: bool,
    processes_refused: Option<Counted>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    /// Whether the worker ended it.
    pub(super) by_us: bool,
}

/// What whoever stands between says of what the kernel counted where the program was.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told {
    pub(super) out_of_memory: bool,
    pub(super) out_of_processes: bool,
}

impl Tally {
    /// Begins to count: in the program's own group where there is one, else in the worker's.
    pub(super) fn begin(counters: Counters) -> Self {
        let memory_kills = match &counters.memory_kills {
            Some(file) => Counted::of(Event::MemoryKill, file),
            None => Counted::here(Event::MemoryKill),
        };
        Self {
            memory_kills,
            own_memory: counters.memory_kills.is_some(),
            processes_refused: counters
                .processes_refused
                .map(|file| Counted::of(Event::ProcessRefused, &file)),
        }
    }

    /// What a program with these limits had too little of, if it did not get over that.
    pub(super) fn shortage(&self, resources: &Resources, ending: Ending, told: Told) -> Option<Shortage> {
        // What the agent got over is held against nobody.
        if ending.code == Some(0) {
            return None;
        }
        let killed = self.memory_kills.has_grown();
        if told.out_of_memory || self.own_memory && killed {
            let limit = resources.memory_bytes;
            return Some(Shortage::Memory { limit });
        }
        // A group that is shared may count what has nothing to do with this program, unless that was killed itself.
        if killed && !ending.by_us && ending.by_a_kill() {
            return Some(Shortage::Memory { limit: None });
        }
        let refused = self.processes_refused.as_ref().is_some_and(Counted::has_grown);
        let limit = resources.processes.filter(|_| told.out_of_processes || refused)?;
        Some(Shortage::Processes { limit })
    }
}

impl Ending {
    /// Whether SIGKILL ended it, or a shell reports that of its child.
    fn by_a_kill(self) -> bool {
        self.signal == Some(9) || self.code == Some(128 + 9)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::*;

    const RESOURCES: Resources = Resources {
        memory_bytes: Some(7),
        processes: Some(9),
        cpus: None,
        disk_bytes: None,
    };

    fn ended(code: Option<i32>, signal: Option<i32>, by_us: bool) -> Ending {
        Ending { code, signal, by_us }
    }

    #[test]
    fn a_limit_counts_only_for_who_reached_it_and_did_not_get_over_it() {
        let folder = tempfile::tempdir().unwrap();
        let [memory, pids] = ["memory.events", "pids.events"].map(|name| folder.path().join(name));
        fs::write(&memory, "oom_kill 2\n").unwrap();
        fs::write(&pids, "max 2\n").unwrap();
        let tally = Tally::begin(Counters {
            memory_kills: Some(memory.clone()),
            processes_refused: Some(pids.clone()),
        });
        let shortage = |code, signal, by_us| tally.shortage(&RESOURCES, ended(code, signal, by_us), Told::default());
        assert_eq!(shortage(Some(1), None, false), None);
        fs::write(&pids, "max 3\n").unwrap();
        let processes = Some(Shortage::Processes { limit: 9 });
        assert_eq!(shortage(Some(1), None, false), processes);
        assert_eq!(shortage(None, Some(9), true), processes, "it hung");
        assert_eq!(shortage(Some(0), None, false), None);
        fs::write(&memory, "oom_kill 3\n").unwrap();
        assert_eq!(
            shortage(Some(1), None, false),
            Some(Shortage::Memory { limit: Some(7) })
        );
        assert_eq!(shortage(Some(0), None, false), None);
    }

    #[test]
    fn what_is_told_from_inside_counts_like_what_is_seen_from_outside() {
        let tally = Tally::begin(Counters::default());
        let told = |out_of_memory, out_of_processes| Told {
            out_of_memory,
            out_of_processes,
        };
        let shortage = |told| tally.shortage(&RESOURCES, ended(Some(1), None, false), told);
        assert_eq!(shortage(told(true, true)), Some(Shortage::Memory { limit: Some(7) }));
        assert_eq!(shortage(told(false, true)), Some(Shortage::Processes { limit: 9 }));
        assert_eq!(shortage(told(false, false)), None);
    }
}
