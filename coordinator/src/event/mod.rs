//! What happens in a run, and how everything that shows it hears of it.

mod bus;
mod kinds;

pub use bus::Events;
pub use kinds::{AttemptKey, Envelope, Event};
