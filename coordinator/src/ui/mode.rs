//! Which of the three outputs is used.

use std::io::IsTerminal;

/// What the user asked for with `--output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputChoice {
    /// The full-screen view, if it can be.
    Tui,
    /// A line per thing worth one.
    Plain,
    /// A JSON object per event.
    Json,
}

/// The output that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The full-screen view.
    Tui {
        /// Whether it uses colours.
        colour: bool,
    },
    /// A line per thing worth one, without control codes.
    Plain,
    /// A JSON object per event.
    Json,
}

/// What decides when the user did not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Whether standard output is a terminal.
    pub terminal: bool,
    /// `TERM`, if set.
    pub term: Option<String>,
    /// Whether `CI` is set to something that is not empty, `0` or `false`.
    pub ci: bool,
    /// Whether `NO_COLOR` is set and not empty (<https://no-color.org>).
    pub no_color: bool,
}

impl Surroundings {
    /// Those of this process.
    pub fn of_this_process() -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            terminal: std::io::stdout().is_terminal(),
            term: set("TERM"),
            ci: set("CI").is_some_and(|value| value != "0" && value != "false"),
            no_color: set("NO_COLOR").is_some(),
        }
    }
}

impl Mode {
    /// The user's choice, else the full-screen view on a terminal that can show it and that is not a CI log. A choice of
    /// the full-screen view without a terminal becomes plain lines: there is nothing to draw on.
    pub fn choose(choice: Option<OutputChoice>, around: &Surroundings) -> Self {
        let tui = Self::Tui {
            colour: !around.no_color,
        };
        match choice {
            Some(OutputChoice::Json) => Self::Json,
            Some(OutputChoice::Plain) => Self::Plain,
            Some(OutputChoice::Tui) if around.terminal => tui,
            Some(OutputChoice::Tui) => Self::Plain,
            None if around.terminal && !around.ci && around.term.as_deref().is_some_and(|term| term != "dumb") => tui,
            None => Self::Plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal() -> Surroundings {
        Surroundings {
            terminal: true,
            term: Some("xterm-256color".to_owned()),
            ci: false,
            no_color: false,
        }
    }

    #[test]
    fn a_terminal_gets_the_view_and_a_pipe_gets_lines() {
        assert_eq!(Mode::choose(None, &terminal()), Mode::Tui { colour: true });
        assert_eq!(
            Mode::choose(
                None,
                &Surroundings {
                    terminal: false,
                    ..terminal()
                }
            ),
            Mode::Plain
        );
    }

    #[test]
    fn dumb_terminals_and_ci_logs_get_lines() {
        assert_eq!(
            Mode::choose(
                None,
                &Surroundings {
                    term: Some("dumb".to_owned()),
                    ..terminal()
                }
            ),
            Mode::Plain
        );
        assert_eq!(
            Mode::choose(
                None,
                &Surroundings {
                    term: None,
                    ..terminal()
                }
            ),
            Mode::Plain
        );
        assert_eq!(
            Mode::choose(None, &Surroundings { ci: true, ..terminal() }),
            Mode::Plain
        );
    }

    #[test]
    fn the_choice_of_the_user_wins() {
        let ci = Surroundings { ci: true, ..terminal() };
        assert_eq!(Mode::choose(Some(OutputChoice::Tui), &ci), Mode::Tui { colour: true });
        assert_eq!(Mode::choose(Some(OutputChoice::Json), &terminal()), Mode::Json);
        let pipe = Surroundings::default();
        assert_eq!(Mode::choose(Some(OutputChoice::Tui), &pipe), Mode::Plain);
    }

    #[test]
    fn no_color_is_honoured() {
        let plain = Surroundings {
            no_color: true,
            ..terminal()
        };
        assert_eq!(Mode::choose(None, &plain), Mode::Tui { colour: false });
    }
}
