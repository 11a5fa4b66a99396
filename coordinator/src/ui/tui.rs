//! The full-screen view: a thread that draws the folded state at most ten times a second and reads keys.

mod frame;
mod keys;
mod list;
mod running;

use std::io::{self, BufWriter, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crossterm::event;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::text::Line;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;

pub(super) use self::frame::Screenful;
use self::keys::Effect;
pub(super) use self::keys::Viewer;
use super::handle::{Options, StopRequest, columns};
use super::model::View;
use super::screen::{Screen, restore_terminal};
use super::summary::summary;
use super::theme::{Theme, with_sgr, without_style};
use crate::clock::Clock;
use crate::event::Envelope;

/// Shortest time between two frames.
const FRAME: Duration = Duration::from_millis(100);
/// How long an abandoned view may take to give the terminal back by itself.
const GIVE_BACK_WITHIN: Duration = Duration::from_millis(500);

/// The view at work. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Tui {
    shared: Arc<Shared>,
    ended: Arc<Mutex<Ended>>,
}

#[derive(Debug)]
struct Shared {
    view: Mutex<View>,
    /// No event comes any more: draw the end.
    over: AtomicBool,
    /// Nobody waits any more: give the terminal back and say nothing.
    abandoned: AtomicBool,
}

/// How the end of the thread is heard of: by the task that waits for it, or by the one that drops everything.
#[derive(Debug)]
struct Ended {
    result: Option<oneshot::Receiver<io::Result<()>>>,
    gone: mpsc::Receiver<()>,
}

impl Tui {
    /// Takes the terminal and starts to draw.
    pub(super) fn start(colour: bool, options: &Options) -> io::Result<Self> {
        let screen = Screen::take()?;
        let terminal = Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(1 << 16, io::stdout())))?;
        let shared = Arc::new(Shared {
            view: Mutex::new(View::default()),
            over: AtomicBool::new(false),
            abandoned: AtomicBool::new(false),
        });
        let (done, result) = oneshot::channel();
        let (going, gone) = mpsc::channel();
        let drawer = Drawer {
            shared: Arc::clone(&shared),
            screen,
            terminal,
            theme: Theme { colour },
            clock: Arc::clone(&options.clock),
            stop: options.stop.clone(),
            resume: options.resume.clone(),
            viewer: Viewer::default(),
        };
        thread::Builder::new().name("terminal".to_owned()).spawn(move || {
            let result = drawer.run();
            drop(going);
            let _ = done.send(result);
        })?;
        Ok(Self {
            shared,
            ended: Arc::new(Mutex::new(Ended {
                result: Some(result),
                gone,
            })),
        })
    }

    /// Folds events as they come, and waits for the last frame when there are no more.
    pub(super) async fn follow(self, mut events: UnboundedReceiver<Envelope>) -> io::Result<()> {
        while let Some(envelope) = events.recv().await {
            self.shared.view().apply(&envelope);
        }
        self.shared.over.store(true, Ordering::SeqCst);
        let result = self.ended.lock().unwrap_or_else(PoisonError::into_inner).result.take();
        match result {
            Some(result) => result
                .await
                .unwrap_or_else(|_| Err(io::Error::other("the terminal view ended early"))),
            None => Ok(()),
        }
    }

    /// Gives the terminal back now.
    pub(super) fn abandon(self) {
        self.shared.abandoned.store(true, Ordering::SeqCst);
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        // The thread gives the terminal back itself, so that no frame comes after that; unless it hangs in a write.
        let _ = ended.gone.recv_timeout(GIVE_BACK_WITHIN);
        restore_terminal();
    }
}

impl Shared {
    fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_done(&self) -> bool {
        self.over.load(Ordering::SeqCst) || self.abandoned.load(Ordering::SeqCst)
    }
}

/// What the drawing thread owns.
struct Drawer {
    shared: Arc<Shared>,
    screen: Screen,
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    theme: Theme,
    clock: Arc<dyn Clock>,
    stop: UnboundedSender<StopRequest>,
    resume: Option<String>,
    viewer: Viewer,
}

impl Drawer {
    fn run(mut self) -> io::Result<()> {
        while !self.shared.is_done() && self.screen.is_ours() {
            self.draw()?;
            self.read_keys_for(FRAME)?;
        }
        // After a panic elsewhere the terminal shows its message; what the run came to still follows at its end.
        while !self.shared.is_done() {
            thread::sleep(FRAME);
        }
        let Self {
            shared,
            screen,
            theme,
            resume,
            ..
        } = self;
        drop(screen);
        if shared.abandoned.load(Ordering::SeqCst) {
            return Ok(());
        }
        let view = shared.view();
        // Notices went by on a screen that is gone.
        let notices = view
            .notices()
            .map(|notice| Line::styled(format!("Notice: {notice}"), theme.warning()));
        let mut lines: Vec<Line<'static>> = notices.collect();
        lines.extend(summary(&view, columns(), resume.as_deref(), theme));
        drop(view);
        let mut stdout = io::stdout().lock();
        for line in &lines {
            let text = if theme.colour {
                with_sgr(line)
            } else {
                without_style(line)
            };
            writeln!(stdout, "{text}")?;
        }
        stdout.flush()
    }

    fn draw(&mut self) -> io::Result<()> {
        let now = self.clock.now_unix_ms();
        let (shared, viewer, theme) = (&self.shared, &mut self.viewer, self.theme);
        // The state is locked while a frame is laid out, not while it is written.
        self.terminal.draw(|frame| {
            let view = shared.view();
            Screenful {
                view: &view,
                now,
                theme,
            }
            .render(frame, viewer);
        })?;
        Ok(())
    }

    /// Reads keys until it is time for the next frame.
    fn read_keys_for(&mut self, time: Duration) -> io::Result<()> {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match event::poll(left) {
                Ok(true) => self.react(&event::read()?),
                Ok(false) => return Ok(()),
                // Without a keyboard the view only shows.
                Err(_) => {
                    thread::sleep(left);
                    return Ok(());
                }
            }
            if left.is_zero() {
                return Ok(());
            }
        }
    }

    fn react(&mut self, event: &event::Event) {
        if let Some(Effect::Stop(request)) = self.viewer.on(event) {
            // A run that is over already listens no more.
            let _ = self.stop.send(request);
        }
    }
}
