//! `junit.xml`: a test suite for each cell, a test case for each iteration, for readers that know JUnit's format.
//!
//! There is no one specification. The elements and attributes are those that Jenkins' schema and the readers of GitLab,
//! GitHub and Azure agree on: <https://github.com/jenkinsci/xunit-plugin> (`junit-10.xsd`) and
//! <https://docs.gitlab.com/ci/testing/unit_test_reports/>.

mod case;
mod draft;
mod name;
mod xml;

pub(super) use case::{Part, render};
pub(super) use draft::Draft;
