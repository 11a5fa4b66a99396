//! `responseContains`, `responseOmits`, `responseMatches`: what the last reply says.

use super::checked::{Checked, Hope};
use super::observed::Observed;
use super::shown::shortened;
use crate::cut::start_of;
use crate::expectation::{Expectations, folded};
use crate::record::Family;

/// How much of a reply is repeated, in characters.
const MOST_OF_A_REPLY: usize = 160;

/// Texts are found whatever the case of their letters, expressions as they are written. A further reply may put it right.
pub(super) fn check(expectations: &Expectations, observed: &Observed<'_>) -> Vec<Checked> {
    let reply = observed.turns.last().map_or("", |turn| turn.reply.as_str());
    let reply_folded = folded(reply);
    let said = || match reply.trim() {
        "" => "the reply is empty".to_owned(),
        text => format!("the reply begins with {:?}", start_of(text, MOST_OF_A_REPLY)),
    };
    let checked = |what: String, why: Option<String>| Checked::of(Family::Response, what, why, Hope::Later);
    let quoted = |text: &str| format!("{:?}", shortened(text));

    let contains = expectations.response_contains.iter().map(|text| {
        let found = reply_folded.contains(&folded(text));
        let why = (!found).then(|| format!("it does not; {}", said()));
        checked(format!("the reply contains {}", quoted(text)), why)
    });
    let omits = expectations.response_omits.iter().map(|text| {
        let found = reply_folded.contains(&folded(text));
        let why = found.then(|| "it does not".to_owned());
        checked(format!("the reply omits {}", quoted(text)), why)
    });
    let matches = expectations.response_matches.iter().map(|expression| {
        let found = expression.is_in(reply);
        let why = (!found).then(|| format!("it does not; {}", said()));
        checked(format!("the reply matches /{}/", shortened(expression.as_str())), why)
    });
    contains.chain(omits).chain(matches).collect()
}

#[cfg(test)]
mod tests {
    use mcproctor_proto::turn::TurnEnding;

    use super::super::fixtures::Recorded;
    use crate::record::fixtures::turn;

    #[test]
    fn texts_are_found_whatever_their_case_and_expressions_as_written() {
        let reply = |expected: &str| Recorded::under(expected).replied("It is 21 °C in VIENNA (Café Ä).");
        for met in [
            "responseContains: vienna",
            "responseContains: ['21 °c', 'café ä']",
            "responseOmits: [Graz, 'vienna.']",
            "responseMatches: '\\d+ °C'",
            "responseMatches: ['(?i)vienna', '^It']",
        ] {
            assert!(reply(met).all_met(), "{met}");
        }
        assert_eq!(
            reply("responseContains: Graz").unmet(),
            "the reply contains \"Graz\": it does not; the reply begins with \"It is 21 °C in VIENNA (Café Ä).\""
        );
        assert_eq!(
            reply("responseOmits: Vienna").unmet(),
            "the reply omits \"Vienna\": it does not"
        );
        let greek = |expected: &str| Recorded::under(expected).replied("ΟΔΟΣΑ, οδος");
        assert!(greek("responseContains: [ΟΔΟΣ, ΟΔΟΣΑ, 'ΟΔΟΣΑ, ΟΔΟΣ']").all_met());
        assert!(!greek("responseOmits: ΟΔΟΣ").all_met());
        assert!(
            reply("responseMatches: vienna")
                .unmet()
                .starts_with("the reply matches /vienna/: it does not")
        );
        assert!(
            reply("responseContains: '.*'").unmet().contains("it does not"),
            "texts are literal"
        );
    }

    #[test]
    fn only_the_last_reply_counts() {
        let mut recorded = Recorded::under("responseContains: sunny").replied("It is sunny.");
        assert!(recorded.all_met());
        recorded.turns.push(turn(1, TurnEnding::Completed));
        let recorded = recorded.replied("");
        assert!(recorded.unmet().ends_with("the reply is empty") && recorded.worth_talking_on());
    }
}
