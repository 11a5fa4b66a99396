//! What only a comparison has figures of.

use crate::stats::compare::DifferenceRange;
use crate::stats::{Count, Interval};

/// A difference in points with its sign: `+12.5`.
pub(super) fn points(difference: f64) -> String {
    let tenths = (difference * 1000.0).round() / 10.0;
    if tenths == 0.0 {
        "0.0".to_owned()
    } else {
        format!("{}{:.1}", if tenths < 0.0 { '−' } else { '+' }, tenths.abs())
    }
}

/// The range of a difference: `+3.1 to +21.4`.
pub(super) fn points_range(range: Interval) -> String {
    format!("{} to {}", points(range.low), points(range.high))
}

/// A difference with its range: `+12.5 points (+3.1 to +21.4)`.
pub(super) fn difference(difference: DifferenceRange) -> String {
    format!(
        "{} points ({})",
        points(difference.estimate),
        points_range(difference.range)
    )
}

/// A p-value: `p .026`, `p <.001`.
pub(super) fn p_value(p: f64) -> String {
    if p < 0.001 {
        "p <.001".to_owned()
    } else if p > 0.999 {
        "p 1".to_owned()
    } else {
        // A p above the limit is never rounded down to it.
        let text = (3..=8)
            .map(|digits| format!("{p:.digits$}"))
            .find(|text| {
                text.parse::<f64>()
                    .is_ok_and(|rounded| (rounded <= 0.05) == (p <= 0.05))
            })
            .unwrap_or_else(|| p.to_string());
        format!("p {}", text.trim_start_matches('0'))
    }
}

/// `34/40`.
pub(super) fn fraction(count: u64, n: u64) -> String {
    format!("{count}/{n}")
}

/// `2 of 40 invalid`, `none invalid`.
pub(super) fn invalid(valid: Count) -> String {
    match valid.failed() {
        0 => "none invalid".to_owned(),
        invalid => format!("{invalid} of {} invalid", valid.total()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_p_is_never_rounded_across_the_limit() {
        let shown = [0.025_547, 0.0496, 0.05, 0.0504, 0.050_04, 0.0001, 1.0, 0.77].map(p_value);
        let expected = [
            "p .026", "p .050", "p .050", "p .0504", "p .05004", "p <.001", "p 1", "p .770",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn differences_have_a_sign_and_nothing_has_none() {
        assert_eq!(
            [0.125, -0.125, 0.0, -0.0001].map(points),
            ["+12.5", "−12.5", "0.0", "0.0"]
        );
    }
}
