//! `expectedResources`: what has to be read.

use super::checked::Checked;
use super::observed::Observed;
use super::requests;
use crate::expectation::Expectations;
use crate::record::Family;

pub(super) fn check(expectations: &Expectations, observed: &Observed<'_>) -> Vec<Checked> {
    let uris = &expectations.expected_resources;
    requests::check(Family::Resources, uris, "resources/read", "read", observed)
}
