//! Sentences.

/// What a lead is.
pub(in crate::compare) const LEADS: &str =
    "A lead (Benjamini-Hochberg, q up to .10) is where to look next; one in ten is there by chance.";

use crate::stats::compare::{Detectable, Verdict};
use crate::words::percent;

/// The class of a verdict, for styles.
pub(super) fn class(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::DifferenceShown) => "shown",
        Some(Verdict::Equivalent) => "equivalent",
        Some(Verdict::TooFewToTell) => "open",
        None => "none",
    }
}

/// What a number of iterations can show: `a fall to 22% or a rise to 99%`.
pub(super) fn can_show(detectable: &Detectable) -> Option<String> {
    // In whole percent: the nearest rates that are told apart, so they are rounded away.
    let fall = detectable
        .fall_to
        .map(|rate| format!("a fall to {}", percent((rate * 100.0).floor() / 100.0)));
    let rise = detectable
        .rise_to
        .map(|rate| format!("a rise to {}", percent((rate * 100.0).ceil() / 100.0)));
    match (fall, rise) {
        (Some(fall), Some(rise)) => Some(format!("{fall} or {rise}")),
        (one, other) => one.or(other),
    }
}
