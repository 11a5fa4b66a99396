//! The terminal while the full-screen view has it, and giving it back whatever happens.

use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, Show};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};

/// Whether the terminal is in raw mode on its alternate screen because of us.
static TAKEN: AtomicBool = AtomicBool::new(false);
static PANIC_HOOK: Once = Once::new();

/// The terminal, taken; dropping it gives it back.
#[derive(Debug)]
pub(super) struct Screen(());

impl Screen {
    /// Takes the terminal. A panic anywhere in the process gives it back before its message is printed.
    pub(super) fn take() -> io::Result<Self> {
        PANIC_HOOK.call_once(|| {
            let previous = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore_terminal();
                previous(panic);
            }));
        });
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let screen = Self(());
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(screen)
    }

    /// Whether the terminal is still ours; a panic or an exit elsewhere may have given it back.
    pub(super) fn is_ours(&self) -> bool {
        TAKEN.load(Ordering::SeqCst)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore_terminal();
    }
}

/// Gives the terminal back if the full-screen view has it: to be called before the process exits without waiting for
/// [`super::UiHandle`]. Does nothing otherwise.
pub fn restore_terminal() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // Nothing can be done about a terminal that is gone.
        let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
        let _ = io::stdout().flush();
    }
}
