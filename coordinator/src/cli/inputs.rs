//! What a command reads before anything else: config and test cases.

use std::path::Path;

use super::exit::Exit;
use super::runtime::complain;
use crate::config::{self, Config, Environment};
use crate::source;
use crate::testcase::{self, TestCase};

/// The config file. What is wrong with it is said, and gives the exit.
pub(super) fn config(file: &Path) -> Result<Config, Exit> {
    config::load(file, &Environment::of_process()).map_err(|errors| complain(Exit::Usage, &errors.to_string()))
}

/// The test cases that it names, likewise.
pub(super) fn cases(config: &Config) -> Result<Vec<TestCase>, Exit> {
    let source = source::open(&config.source);
    testcase::load(source.as_ref()).map_err(|errors| complain(Exit::Usage, &errors.to_string()))
}
