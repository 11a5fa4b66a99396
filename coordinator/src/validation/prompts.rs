//! `expectedPrompts`: what has to be fetched.

use super::checked::Checked;
use super::observed::Observed;
use super::requests;
use crate::expectation::Expectations;
use crate::record::Family;

pub(super) fn check(expectations: &Expectations, observed: &Observed<'_>) -> Vec<Checked> {
    let names = &expectations.expected_prompts;
    requests::check(Family::Prompts, names, "prompts/get", "fetched", observed)
}
