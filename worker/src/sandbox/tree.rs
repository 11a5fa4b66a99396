//! Finding and killing everything that an attempt or a server started.
//!
//! A process group is not enough: agents start servers and helpers with sessions of their own, and daemons lose their
//! parent as well. So a process belongs to an attempt, or to a server, when any of these holds:
//!
//! - it carries the marker in its environment,
//! - it is in the session or process group of the attempt's first process,
//! - its current directory lies in the sandbox, or one of its standard streams is a file of the attempt,
//! - its parent belongs to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The environment variable that marks every process of an attempt, and every one of a server.
pub(crate) const MARKER: &str = "MCPROCTOR_ATTEMPT";

/// How long a synchronous kill goes on looking for survivors.
const PATIENCE: Duration = Duration::from_secs(2);

/// What tells the processes of one attempt, or of one server.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    /// The value of [`MARKER`], never used twice.
    pub(crate) marker: String,
    /// The sandbox's folder, for what was started in one.
    pub(crate) folder: Option<PathBuf>,
    /// The first process, which leads a session.
    pub(crate) leader: Option<i32>,
    /// Files that its standard output and error go to.
    pub(crate) streams: Vec<PathBuf>,
    /// When the first process started, in clock ticks since boot, where that is known: what is older is not the attempt's.
    pub(crate) started: Option<u64>,
    /// Whether something was started since a search last found nothing. All clones share it.
    running: Arc<AtomicBool>,
}

impl Marks {
    /// The marks of the sandbox at `folder`, whose name is the marker.
    pub(crate) fn of_folder(folder: &Path) -> Option<Self> {
        let marker = folder.file_name()?.to_str()?.to_owned();
        Some(Self {
            marker,
            folder: Some(folder.to_owned()),
            leader: None,
            streams: Vec::new(),
            started: None,
            running: Arc::default(),
        })
    }

    /// The marks of what was started outside a sandbox, under a marker of its own.
    pub(crate) fn without_folder(marker: &str) -> Self {
        Self {
            marker: marker.to_owned(),
            folder: None,
            leader: None,
            streams: Vec::new(),
            started: None,
            running: Arc::new(AtomicBool::new(true)),
        }
    }

    /// The same marks for a program with this first process, which is still unwaited for.
    pub(crate) fn led_by(&self, leader: Option<i32>, streams: Vec<PathBuf>) -> Self {
        // What outlived an earlier program is older than this one.
        let unclean = self.running.swap(true, Ordering::AcqRel);
        Self {
            leader,
            streams,
            started: leader.filter(|_| !unclean).and_then(platform::start_time),
            ..self.clone()
        }
    }

    /// Like [`Self::kill_all`], but without a search when the last one found nothing and nothing was started since.
    pub(crate) fn kill_what_is_left(&self) {
        if self.running.load(Ordering::Acquire) {
            self.kill_all();
        }
    }

    /// Kills until nothing is left, blocking for at most two seconds. Returns how many processes it killed.
    pub(crate) fn kill_all(&self) -> usize {
        let begun = Instant::now();
        let mut killed = std::collections::BTreeSet::new();
        loop {
            let found = self.kill_found();
            if found.is_empty() {
                self.running.store(false, Ordering::Release);
                return killed.len();
            }
            if begun.elapsed() > PATIENCE {
                return killed.len();
            }
            killed.extend(found);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Kills everything that is found now, and the group of the first process for what was born meanwhile.
    fn kill_found(&self) -> Vec<i32> {
        let found = platform::kill_found(self);
        if let Some(group) = self.leader.and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        found
    }
}

#[cfg(target_os = "linux")]
pub(super) use platform::descendants;

#[cfg(target_os = "linux")]
mod platform {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;

    use rustix::process::{Pid, PidfdFlags, Signal};

    use super::{MARKER, Marks};

    /// The parts of `/proc/PID/stat` that matter here.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Stat {
        pub(super) state: u8,
        pub(super) parent: i32,
        pub(super) group: i32,
        pub(super) session: i32,
        /// In clock ticks since boot; with the id it names a process for good.
        pub(super) started: u64,
    }

    impl Stat {
        fn dead(self) -> bool {
            matches!(self.state, b'Z' | b'X')
        }
    }

    /// Reads one line of `/proc/PID/stat`. The program's name may hold anything, so what follows its last bracket counts
    /// (proc_pid_stat(5)).
    pub(super) fn parse_stat(line: &str) -> Option<Stat> {
        let mut fields = line.get(line.rfind(')')? + 1..)?.split_ascii_whitespace();
        let state = *fields.next()?.as_bytes().first()?;
        let mut number = || fields.next()?.parse::<i64>().ok();
        let parent = i32::try_from(number()?).ok()?;
        let group = i32::try_from(number()?).ok()?;
        let session = i32::try_from(number()?).ok()?;
        // From tty_nr (7) to itrealvalue (21); starttime is the 22nd field.
        let started = fields.nth(15)?.parse().ok()?;
        Some(Stat {
            state,
            parent,
            group,
            session,
            started,
        })
    }

    fn stat(pid: i32) -> Option<Stat> {
        parse_stat(&String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/stat")).ok()?))
    }

    pub(super) fn start_time(pid: i32) -> Option<u64> {
        stat(pid).map(|stat| stat.started)
    }

    /// Every process there is.
    fn processes() -> BTreeMap<i32, Stat> {
        fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter_map(|pid| Some((pid, stat(pid)?)))
            .collect()
    }

    /// The living descendants of `ancestor`.
    pub(in crate::sandbox) fn descendants(ancestor: i32) -> Vec<i32> {
        let mut found = vec![ancestor];
        add_descendants(&mut found, &processes(), &[]);
        found.split_off(1)
    }

    /// Adds to `found` the living descendants of those that are in it, but not the `spared` and theirs.
    fn add_descendants(found: &mut Vec<i32>, processes: &BTreeMap<i32, Stat>, spared: &[i32]) {
        let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        // The dead have no children: those were given to another parent.
        for (&pid, stat) in processes.iter().filter(|(_, stat)| !stat.dead()) {
            children.entry(stat.parent).or_default().push(pid);
        }
        let mut next = 0;
        while let Some(parent) = found.get(next) {
            for &child in children.get(parent).into_iter().flatten() {
                if !spared.contains(&child) && !found.contains(&child) {
                    found.push(child);
                }
            }
            next += 1;
        }
    }

    pub(super) fn kill_found(marks: &Marks) -> Vec<i32> {
        let processes = processes();
        let spared = worker_and_above(&processes);
        let mut found: Vec<i32> = Vec::new();
        for (&pid, stat) in &processes {
            let led = marks
                .leader
                .is_some_and(|leader| [pid, stat.group, stat.session].contains(&leader));
            let older = marks.started.is_some_and(|started| stat.started < started);
            // Reading on from here costs many times as much as the line that says how old a process is.
            if !stat.dead() && !spared.contains(&pid) && !older && (led || marked(marks, pid)) {
                found.push(pid);
            }
        }
        add_descendants(&mut found, &processes, &spared);
        found.retain(|&pid| processes.get(&pid).is_some_and(|&stat| kill(pid, stat)));
        found
    }

    /// The worker and what it descends from, which carry no mark but by accident: a shell, say, whose current directory
    /// lies in the sandbox.
    fn worker_and_above(processes: &BTreeMap<i32, Stat>) -> Vec<i32> {
        let mut line = vec![1];
        let mut next = i32::try_from(std::process::id()).unwrap_or(1);
        while let Some(stat) = processes.get(&next).filter(|_| !line.contains(&next)) {
            line.push(next);
            next = stat.parent;
        }
        line
    }

    /// Kills the process, unless its id belongs to another one by now. Says whether it was there.
    fn kill(pid: i32, known: Stat) -> bool {
        let Some(raw) = Pid::from_raw(pid) else { return false };
        match rustix::process::pidfd_open(raw, PidfdFlags::empty()) {
            Ok(handle) => {
                let same = stat(pid).is_some_and(|now| now.started == known.started && !now.dead());
                same && rustix::process::pidfd_send_signal(&handle, Signal::KILL).is_ok()
            }
            // Kernels before 5.3, and filters that refuse the call.
            Err(rustix::io::Errno::SRCH) => false,
            Err(_) => rustix::process::kill_process(raw, Signal::KILL).is_ok(),
        }
    }

    fn marked(marks: &Marks, pid: i32) -> bool {
        let proc = format!("/proc/{pid}");
        let link = |name: &str| fs::read_link(format!("{proc}/{name}")).ok();
        carries_marker(&fs::read(format!("{proc}/environ")).unwrap_or_default(), &marks.marker)
            || link("cwd").is_some_and(|folder| lies_inside(marks, &folder))
            || (0..3).any(|stream| link(&format!("fd/{stream}")).is_some_and(|file| is_ours(marks, &file)))
    }

    fn lies_inside(marks: &Marks, path: &Path) -> bool {
        marks.folder.as_ref().is_some_and(|folder| path.starts_with(folder))
    }

    fn is_ours(marks: &Marks, file: &Path) -> bool {
        lies_inside(marks, file) || marks.streams.iter().any(|stream| stream == file)
    }

    pub(super) fn carries_marker(environment: &[u8], marker: &str) -> bool {
        environment.split(|&byte| byte == 0).any(|entry| {
            entry
                .strip_prefix(MARKER.as_bytes())
                .and_then(|rest| rest.strip_prefix(b"="))
                .is_some_and(|value| value == marker.as_bytes())
        })
    }
}

/// Elsewhere only the process group is known.
#[cfg(not(target_os = "linux"))]
mod platform {
    pub(super) fn start_time(_pid: i32) -> Option<u64> {
        None
    }

    pub(super) fn kill_found(_marks: &super::Marks) -> Vec<i32> {
        Vec::new()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::platform::{carries_marker, parse_stat};

    #[test]
    fn a_program_name_with_brackets_and_spaces_does_not_shift_the_fields() {
        let line = "4711 (a) R 1 (b) S 17 4711 4700 34816 4711 4194304 1 0 0 0 5 6 0 0 20 0 1 0 987654 1 2";
        let stat = parse_stat(line).unwrap();
        assert_eq!(
            (stat.state, stat.parent, stat.group, stat.session),
            (b'S', 17, 4711, 4700)
        );
        assert_eq!(stat.started, 987_654);
        assert_eq!(parse_stat("4711 (cut"), None);
    }

    #[test]
    fn only_the_whole_marker_counts() {
        let environment = b"HOME=/x\0MCPROCTOR_ATTEMPT=attempt-1\0TERM=dumb\0";
        assert!(carries_marker(environment, "attempt-1"));
        assert!(!carries_marker(environment, "attempt-"));
        assert!(!carries_marker(b"XMCPROCTOR_ATTEMPT=attempt-1\0", "attempt-1"));
        assert!(!carries_marker(b"", "attempt-1"));
    }
}
