//! Why the judge gave no answer.

/// Why the judge gave no answer. `Display` is the cause that a reader is told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::judge) enum AskError {
    /// No connection, or one that broke.
    #[error("the endpoint cannot be reached: {0}")]
    Unreachable(String),
    /// The endpoint took too long over one request.
    #[error("no answer within {0} s")]
    TimedOut(u64),
    /// The endpoint said no.
    #[error("the endpoint answered {status}: {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// Its own words.
        message: String,
    },
    /// The endpoint asks for a longer pause than there is time for.
    #[error("the endpoint answered {status} and asks to wait {seconds} s, longer than there is time for")]
    AsksToWait {
        /// The HTTP status.
        status: u16,
        /// Seconds, rounded up.
        seconds: u64,
    },
    /// The body is not what the protocol says.
    #[error("the endpoint's answer cannot be read: {0}")]
    Unreadable(String),
    /// There is no text in the answer.
    #[error("the answer has no content{0}")]
    NoContent(&'static str),
    /// The model did not want to.
    #[error("the model refused: {0}")]
    ModelRefused(String),
    /// A limit of tokens ended the answer.
    #[error("the answer was cut at the model's limit of tokens (finish_reason length)")]
    Cut,
    /// A filter took the answer away.
    #[error("the answer was held back by a content filter")]
    Filtered,
    /// The answer, also the second one, was not in the form that was asked for.
    #[error("the answer is not in the form that was asked for: {0}")]
    NotInForm(String),
    /// The answer, also the second one, says two things.
    #[error("the answer contradicts itself: {0}")]
    ContradictsItself(String),
    /// There is no way there.
    #[error("{0}")]
    NoWay(&'static str),
}
