//! What a request asks the model for, and how much that may use. Pure; reads the request's copy piece by piece.
//!
//! Sources: Anthropic, Messages (`max_tokens`); OpenAI, Responses (`max_output_tokens`, `previous_response_id`, `conversation`,
//! `prompt`) and Chat Completions (`max_completion_tokens`, `max_tokens`, `n`).

use std::sync::Arc;

use mcproctor_proto::tokens::Tokens;

use super::json_walk::{Event, Walk};

/// Bytes of a request that make a token of input at the least, as a rule: English prose in JSON takes four and more, schemas
/// and scripts of three bytes a character three.
const BYTES_A_TOKEN: u64 = 3;
/// Tokens that a model reads at once at the most, whatever it is sent.
const WINDOW: u64 = 1_000_000;
/// Tokens that a model writes at the most in one answer.
const MOST_OUTPUT: u64 = 128_000;
/// Answers to one request at the most (Chat Completions, `n`).
const MOST_ANSWERS: u64 = 128;

/// What a request asks for, as far as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// The model, once it was named.
    pub(super) model: Option<Arc<str>>,
    /// Whether it named another one after that. Which of them an API takes is its own affair.
    pub(super) two_models: bool,
    /// Bytes of it, decoded.
    bytes: u64,
    /// Tokens that an answer may have, where it says so.
    output: Option<u64>,
    /// Answers that it asks for.
    answers: Option<u64>,
    /// Whether its own bytes do not tell how much is read: it goes on from something that the API keeps, or cannot be decoded.
    unmeasured: bool,
    /// Whether it was handed to the API in full. What was not cannot have been answered.
    pub(super) delivered: bool,
}

impl Asked {
    /// A request that announces so many bytes.
    pub(super) fn announced(bytes: u64) -> Self {
        Self {
            bytes,
            ..Self::default()
        }
    }

    /// The most that it may use, as an estimate. What the API fetches by itself is not in it.
    pub(super) fn most(&self) -> Tokens {
        let input = if self.unmeasured {
            WINDOW
        } else {
            self.bytes.div_ceil(BYTES_A_TOKEN).min(WINDOW)
        };
        let output = self.output.unwrap_or(MOST_OUTPUT).min(MOST_OUTPUT);
        Tokens {
            input_tokens: input,
            output_tokens: output.saturating_mul(self.answers.unwrap_or(1).clamp(1, MOST_ANSWERS)),
            ..Tokens::default()
        }
    }
}

/// The form of a request, by its endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Messages,
    Responses,
    Chat,
}

impl Form {
    /// The form that an endpoint takes.
    pub(super) fn of(path: &str) -> Self {
        match path {
            "/v1/messages" => Self::Messages,
            "/v1/chat/completions" => Self::Chat,
            _ => Self::Responses,
        }
    }
}

/// Reads one request.
#[derive(Debug)]
pub(super) struct Asking {
    walk: Walk,
    reader: Reader,
    read: u64,
}

#[derive(Debug)]
struct Reader {
    form: Form,
    /// Open objects and arrays.
    depth: usize,
    key: Key,
    asked: Asked,
}

/// The keys of a request that matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Key {
    Model,
    Output,
    Answers,
    Refers,
    #[default]
    Other,
}

impl Key {
    fn of(text: &str, form: Form) -> Self {
        match (text, form) {
            ("model", _) => Self::Model,
            ("max_tokens", Form::Messages | Form::Chat)
            | ("max_completion_tokens", Form::Chat)
            | ("max_output_tokens", Form::Responses) => Self::Output,
            ("n", Form::Chat) => Self::Answers,
            ("previous_response_id" | "conversation" | "prompt", Form::Responses) => Self::Refers,
            _ => Self::Other,
        }
    }
}

impl Asking {
    /// A request of this form that announces so many bytes.
    pub(super) fn new(form: Form, announced: u64) -> Self {
        Self {
            walk: Walk::default(),
            reader: Reader {
                form,
                depth: 0,
                key: Key::Other,
                asked: Asked::announced(announced),
            },
            read: 0,
        }
    }

    /// Takes the next piece of the body.
    pub(super) fn feed(&mut self, piece: &[u8]) {
        let Self { walk, reader, read } = self;
        *read = read.saturating_add(piece.len() as u64);
        reader.asked.bytes = reader.asked.bytes.max(*read);
        walk.feed(piece, |event| reader.take(&event));
    }

    /// It cannot be decoded, or not to its end.
    pub(super) fn unreadable(&mut self) {
        self.reader.asked.unmeasured = true;
    }

    /// It was handed over in full.
    pub(super) fn delivered(&mut self) {
        self.reader.asked.delivered = true;
    }

    /// What was read so far.
    pub(super) fn so_far(&self) -> &Asked {
        &self.reader.asked
    }
}

impl Reader {
    fn take(&mut self, event: &Event<'_>) {
        match *event {
            Event::Open { .. } => {
                self.depth += 1;
                self.asked.unmeasured |= self.depth == 2 && self.key == Key::Refers;
            }
            Event::Close => self.depth = self.depth.saturating_sub(1),
            Event::Key(text) if self.depth == 1 => self.key = Key::of(text, self.form),
            Event::Text(text) if self.depth == 1 => match self.key {
                Key::Model => {
                    let named = &mut self.asked.model;
                    self.asked.two_models |= named.as_deref().is_some_and(|before| before != text);
                    named.get_or_insert_with(|| text.into());
                }
                Key::Refers => self.asked.unmeasured = true,
                _ => {}
            },
            Event::Literal(text) if self.depth == 1 => {
                let largest = |known: Option<u64>| count(text).max(known);
                match self.key {
                    Key::Output => self.asked.output = largest(self.asked.output),
                    Key::Answers => self.asked.answers = largest(self.asked.answers),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// A number as it is written; `None` for what is none, such as `null`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and negative ones become 0"
)]
fn count(text: &str) -> Option<u64> {
    text.parse::<f64>().ok().map(|number| number.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(form: Form, body: &str) -> Asked {
        let mut told = Vec::new();
        for piece in [1, 7, body.len().max(1)] {
            let mut asking = Asking::new(form, 0);
            body.as_bytes().chunks(piece).for_each(|piece| asking.feed(piece));
            told.push(asking.so_far().clone());
        }
        assert!(told.iter().all(|one| *one == told[0]), "{told:?}");
        told.remove(0)
    }

    fn output(form: Form, body: &str) -> u64 {
        asked(form, body).most().output_tokens
    }

    #[test]
    fn what_an_answer_may_have_is_what_its_own_endpoint_is_asked_for() {
        let every =
            r#"{"model":"m","max_tokens":10,"max_completion_tokens":20,"max_output_tokens":30,"x":{"max_tokens":99}}"#;
        assert_eq!(output(Form::Messages, every), 10);
        assert_eq!(output(Form::Chat, every), 20);
        assert_eq!(output(Form::Responses, every), 30);
        for none in [
            "{}",
            "no JSON",
            r#"{"max_tokens":null}"#,
            r#"{"messages":[{"max_tokens":1}]}"#,
            r#"["max_tokens",1]"#,
        ] {
            assert_eq!(output(Form::Messages, none), MOST_OUTPUT, "{none}");
        }
    }

    #[test]
    fn numbers_without_bounds_and_words_said_twice_make_no_estimate_smaller() {
        for (body, most) in [
            (r#"{"max_tokens":1e300}"#, MOST_OUTPUT),
            (r#"{"max_tokens":-5}"#, 0),
            (r#"{"max_tokens":5000,"max_tokens":1}"#, 5_000),
            (r#"{"max_tokens":1,"max\u005ftokens":5000}"#, 5_000),
            (r#"{"max_tokens":100,"n":3}"#, 300),
            (r#"{"max_tokens":100,"n":1e30}"#, 100 * MOST_ANSWERS),
        ] {
            assert_eq!(output(Form::Chat, body), most, "{body}");
        }
    }

    #[test]
    fn the_input_goes_by_the_bytes_announced_or_read_and_by_a_whole_window_where_the_api_keeps_it() {
        let mut asking = Asking::new(Form::Messages, 300);
        assert_eq!(asking.so_far().most().input_tokens, 100);
        asking.feed(&[b' '; 301]);
        assert_eq!(asking.so_far().most().input_tokens, 101, "it is longer than it said");
        for refers in [
            r#"{"previous_response_id":"resp_1"}"#,
            r#"{"conversation":{"id":"c"}}"#,
            r#"{"prompt":{"id":"p"}}"#,
        ] {
            assert_eq!(asked(Form::Responses, refers).most().input_tokens, WINDOW, "{refers}");
        }
        let not = r#"{"previous_response_id":null,"input":[{"prompt":{}}]}"#;
        assert!(asked(Form::Responses, not).most().input_tokens < 100);
        assert_eq!(Asked::announced(u64::MAX).most().input_tokens, WINDOW);
    }

    #[test]
    fn the_model_is_the_first_that_is_named_and_a_second_one_is_noticed() {
        let one = asked(Form::Chat, r#"{"messages":[{"model":"no"}],"model":"m","model":"m"}"#);
        assert_eq!((one.model.as_deref(), one.two_models), (Some("m"), false));
        let two = asked(Form::Chat, r#"{"model":"cheap","model":"dear"}"#);
        assert_eq!((two.model.as_deref(), two.two_models), (Some("cheap"), true));
        assert_eq!(asked(Form::Chat, r#"{"model":5}"#).model, None);
    }
}
