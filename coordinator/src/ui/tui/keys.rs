//! What the viewer does with keys: pure.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::ui::handle::StopRequest;

/// Which test cases are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::ui) enum Filter {
    /// All of them.
    #[default]
    All,
    /// Those with a failed or invalid iteration.
    Failing,
    /// Those with an iteration that goes on.
    Running,
}

impl Filter {
    /// The name shown.
    pub(in crate::ui) fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Failing => "failing",
            Self::Running => "running",
        }
    }

    fn next(self) -> Self {
        match self {
            Self::All => Self::Failing,
            Self::Failing => Self::Running,
            Self::Running => Self::All,
        }
    }
}

/// What the viewer chose to look at.
#[derive(Clone, Debug, Default)]
pub(in crate::ui) struct Viewer {
    pub(in crate::ui) filter: Filter,
    /// The first line of the list that is shown.
    pub(in crate::ui) offset: usize,
    /// Lines of the list that were shown last, for paging.
    pub(in crate::ui) page: usize,
    /// Whether a stop was asked for.
    pub(in crate::ui) stopping: bool,
}

#[cfg(test)]
impl Viewer {
    /// One who looks at what fails.
    pub(in crate::ui) fn failing() -> Self {
        Self {
            filter: Filter::Failing,
            ..Self::default()
        }
    }
}

/// What a key asks of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ui) enum Effect {
    /// The run shall stop.
    Stop(StopRequest),
}

impl Viewer {
    /// Takes in one event of the terminal.
    pub(in crate::ui) fn on(&mut self, event: &Event) -> Option<Effect> {
        let Event::Key(KeyEvent {
            code, modifiers, kind, ..
        }) = event
        else {
            return None;
        };
        if *kind == KeyEventKind::Release {
            return None;
        }
        let control = modifiers.contains(KeyModifiers::CONTROL);
        match code {
            KeyCode::Char('c') if control => return Some(self.interrupt()),
            _ if control => {}
            // Pressed twice by mistake it must not kill what a clean stop still waits for.
            KeyCode::Char('q') if !self.stopping => return Some(self.interrupt()),
            KeyCode::Char('f') => {
                self.filter = self.filter.next();
                self.offset = 0;
            }
            KeyCode::Up | KeyCode::Char('k') => self.scroll(-1),
            KeyCode::Down | KeyCode::Char('j') => self.scroll(1),
            KeyCode::PageUp => self.scroll(-self.page_step()),
            KeyCode::PageDown | KeyCode::Char(' ') => self.scroll(self.page_step()),
            KeyCode::Home | KeyCode::Char('g') => self.offset = 0,
            KeyCode::End | KeyCode::Char('G') => self.offset = usize::MAX,
            _ => {}
        }
        None
    }

    fn interrupt(&mut self) -> Effect {
        let request = if self.stopping {
            StopRequest::Hard
        } else {
            StopRequest::Clean
        };
        self.stopping = true;
        Effect::Stop(request)
    }

    fn page_step(&self) -> isize {
        isize::try_from(self.page.saturating_sub(1).max(1)).unwrap_or(1)
    }

    fn scroll(&mut self, lines: isize) {
        self.offset = self.offset.saturating_add_signed(lines);
    }

    /// Keeps the offset inside a list of so many lines of which `page` fit, and remembers the page.
    pub(in crate::ui) fn settle(&mut self, lines: usize, page: usize) {
        self.page = page;
        self.offset = self.offset.min(lines.saturating_sub(page));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode) -> Event {
        Event::Key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn control_c() -> Event {
        Event::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL))
    }

    #[test]
    fn the_first_stop_is_clean_and_the_second_control_c_is_hard() {
        let mut viewer = Viewer::default();
        assert_eq!(viewer.on(&control_c()), Some(Effect::Stop(StopRequest::Clean)));
        assert_eq!(viewer.on(&control_c()), Some(Effect::Stop(StopRequest::Hard)));
    }

    #[test]
    fn q_never_stops_hard() {
        let mut viewer = Viewer::default();
        assert_eq!(
            viewer.on(&key(KeyCode::Char('q'))),
            Some(Effect::Stop(StopRequest::Clean))
        );
        assert_eq!(viewer.on(&key(KeyCode::Char('q'))), None);
        assert_eq!(viewer.on(&control_c()), Some(Effect::Stop(StopRequest::Hard)));
    }

    #[test]
    fn scrolling_stays_inside_the_list() {
        let mut viewer = Viewer::default();
        viewer.settle(100, 10);
        viewer.on(&key(KeyCode::Up));
        assert_eq!(viewer.offset, 0);
        viewer.on(&key(KeyCode::PageDown));
        viewer.on(&key(KeyCode::Down));
        assert_eq!(viewer.offset, 10);
        viewer.on(&key(KeyCode::End));
        viewer.settle(100, 10);
        assert_eq!(viewer.offset, 90);
        viewer.settle(5, 10);
        assert_eq!(viewer.offset, 0);
    }

    #[test]
    fn f_cycles_the_filter_and_starts_at_the_top() {
        let mut viewer = Viewer {
            offset: 7,
            ..Viewer::default()
        };
        viewer.on(&key(KeyCode::Char('f')));
        assert_eq!((viewer.filter, viewer.offset), (Filter::Failing, 0));
        viewer.on(&key(KeyCode::Char('f')));
        viewer.on(&key(KeyCode::Char('f')));
        assert_eq!(viewer.filter, Filter::All);
    }
}
