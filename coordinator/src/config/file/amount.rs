//! Amounts of money.

use crate::yaml::{Item, Problems};

/// Whether nothing at all is an amount here.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nothing {
    Allowed,
    Refused,
}

/// An amount in US dollars, written as a number.
pub(super) fn read(item: &Item<'_>, nothing: Nothing, problems: &mut Problems) -> Option<f64> {
    let text = item.filled_text(problems)?;
    let number = text.value.parse().ok().filter(|number: &f64| number.is_finite());
    let fits = |number: &f64| *number > 0.0 || (*number == 0.0 && nothing == Nothing::Allowed);
    let amount = number.filter(fits);
    if amount.is_none() {
        let what = match (number, nothing) {
            (None, _) => format!("`{}` is not an amount", text.shown),
            (Some(_), _) => format!("{} is out of range", text.shown),
        };
        let accepted = match nothing {
            Nothing::Allowed => "US dollars from 0 up, such as `2.5`",
            Nothing::Refused => "US dollars above 0, such as `2.5`",
        };
        problems.add(text.problem(problems, what).accepted(accepted));
    }
    amount
}
