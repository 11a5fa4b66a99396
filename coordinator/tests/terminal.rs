//! The full-screen view in a real terminal: whatever ends it, the terminal is given back.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use mcproctor::clock::SystemClock;
use mcproctor::event::{Envelope, Event};
use mcproctor::record::{AnswerChoice, RunRecord, RunState, TestCaseRecord};
use mcproctor::ui::{Mode, Options, StopRequest, UiHandle, start};
use mcproctor_proto::id::RunId;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";
const PATIENCE: Duration = Duration::from_secs(30);

/// A terminal with a process in it.
struct Terminal {
    keyboard: File,
    line: File,
    child: Child,
    output: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    /// Runs one of the ignored tests below in a terminal of its own.
    fn running(role: &str) -> Self {
        let pty = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&pty).unwrap();
        unlockpt(&pty).unwrap();
        tcsetwinsize(
            &pty,
            Winsize {
                ws_row: 24,
                ws_col: 80,
                ws_xpixel: 0,
                ws_ypixel: 0,
            },
        )
        .unwrap();
        let name = ptsname(&pty, Vec::new()).unwrap().into_string().unwrap();
        let line = File::options().read(true).write(true).open(name).unwrap();
        let stdio = || Stdio::from(line.try_clone().unwrap());
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", role])
            .env("RUST_BACKTRACE", "0")
            .stdin(stdio())
            .stdout(stdio())
            .stderr(stdio())
            .spawn()
            .unwrap();
        let keyboard = File::from(pty);
        let mut screen = keyboard.try_clone().unwrap();
        let (read, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = screen.read(&mut buffer) {
                if read.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self {
            keyboard,
            line,
            child,
            output,
            seen: String::new(),
        }
    }

    /// Reads until the text has come.
    fn wait_for(&mut self, text: &str) {
        while !self.seen.contains(text) {
            match self.output.recv_timeout(PATIENCE) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("{text:?} did not come: {:?}", self.seen),
            }
        }
    }

    /// Whether keys are echoed and Ctrl-C is a signal, as a shell wants it.
    fn is_cooked(&self) -> bool {
        let modes = tcgetattr(self.line.as_fd()).unwrap().local_modes;
        modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG)
    }

    /// What came after the terminal was given back.
    fn after_leaving(&mut self) -> String {
        self.wait_for(LEAVE);
        self.child.wait().unwrap();
        assert!(self.is_cooked());
        while let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(200)) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
        let (_, after) = self.seen.split_once(LEAVE).unwrap();
        assert!(!after.contains(ENTER) && !after.contains(LEAVE), "{after:?}");
        after.to_owned()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run() -> RunRecord {
    let case = TestCaseRecord {
        name: "compare two forecasts".to_owned(),
        file: "compare.yaml".to_owned(),
        prompt: String::new(),
        expected_tools: Vec::new(),
        expectations: Default::default(),
        answers: Vec::new(),
        expected_outcome: None,
        answer_choice: AnswerChoice::InOrder,
        tone: None,
    };
    RunRecord {
        id: RunId::new("2026-11-30T06-54-57-3fa9"),
        version: String::new(),
        started_at_unix_ms: 0,
        config_file: "eval.yaml".to_owned(),
        config_sha256: String::new(),
        servers: Vec::new(),
        agents: Vec::new(),
        test_cases: vec![case],
        iterations: 2,
        max_attempts: 3,
        seed: 0,
        notices: Vec::new(),
        thresholds: Default::default(),
        judge: None,
        graded_from: None,
        stopped: None,
    }
}

fn begin() -> (UiHandle, UnboundedSender<Envelope>, UnboundedReceiver<StopRequest>) {
    let (stop, stops) = unbounded_channel();
    let (sender, events) = unbounded_channel();
    let options = Options {
        stop,
        resume: None,
        clock: Arc::new(SystemClock),
    };
    let ui = start(Mode::Tui { colour: true }, events, options).unwrap();
    sender
        .send(Envelope {
            at: 0,
            event: Event::RunStarted {
                run: Box::new(run()),
                already: 0,
            },
        })
        .unwrap();
    (ui, sender, stops)
}

#[tokio::test]
#[ignore = "runs in the terminal of another test"]
async fn until_a_key_asks_for_a_stop() {
    let (ui, sender, mut stops) = begin();
    let request = stops.recv().await.unwrap();
    sender
        .send(Envelope {
            at: 1,
            event: Event::Stopping {
                reason: format!("{request:?}"),
            },
        })
        .unwrap();
    let text = "a \x1b[31mnotice".to_owned();
    sender
        .send(Envelope {
            at: 1,
            event: Event::Notice { text },
        })
        .unwrap();
    let second = stops.recv().await.unwrap();
    let run = run().id;
    sender
        .send(Envelope {
            at: 2,
            event: Event::RunFinished {
                run,
                state: RunState::Aborted,
            },
        })
        .unwrap();
    drop(sender);
    ui.finished().await.unwrap();
    eprintln!("then {second:?}");
}

#[tokio::test]
#[ignore = "runs in the terminal of another test"]
async fn until_the_handle_is_dropped() {
    let (ui, _sender, mut stops) = begin();
    stops.recv().await.unwrap();
    drop(ui);
    eprintln!("dropped");
}

#[tokio::test]
#[ignore = "runs in the terminal of another test"]
async fn until_a_task_panics() {
    let (ui, sender, mut stops) = begin();
    stops.recv().await.unwrap();
    let broken = tokio::spawn(async { panic!("something broke") });
    assert!(broken.await.is_err());
    drop(sender);
    ui.finished().await.unwrap();
}

#[test]
fn keys_ask_for_a_clean_stop_and_then_a_hard_one_and_the_summary_stays() {
    let mut terminal = Terminal::running("until_a_key_asks_for_a_stop");
    terminal.wait_for(ENTER);
    terminal.wait_for("scroll");
    assert!(!terminal.is_cooked());
    terminal.keyboard.write_all(b"q").unwrap();
    terminal.wait_for("Stopping: Clean");
    terminal.keyboard.write_all(b"\x03").unwrap();
    let after = terminal.after_leaving();
    assert!(after.contains("Run aborted: Clean"), "{after}");
    assert!(after.contains("Notice: a ␛[31mnotice"), "{after}");
    assert!(after.contains("then Hard"), "{after}");
}

#[test]
fn a_dropped_handle_gives_the_terminal_back() {
    let mut terminal = Terminal::running("until_the_handle_is_dropped");
    terminal.wait_for("scroll");
    terminal.keyboard.write_all(b"\x03").unwrap();
    let after = terminal.after_leaving();
    assert!(after.contains("dropped"), "{after}");
    assert!(!after.contains("Run "), "{after}");
}

#[test]
fn a_panic_gives_the_terminal_back_before_its_message() {
    let mut terminal = Terminal::running("until_a_task_panics");
    terminal.wait_for("scroll");
    terminal.keyboard.write_all(b"q").unwrap();
    let after = terminal.after_leaving();
    assert!(after.contains("something broke"), "{after}");
}
