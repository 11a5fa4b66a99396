//! What is wrong with an expectation, and where.

use std::fmt;

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The value of this key.
    Key(String),
    /// The item at this place, from 0.
    Item(usize),
}

/// Something that is wrong with an expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where, from the value that was read.
    pub at: Vec<Step>,
    /// What is wrong.
    pub what: String,
    /// What would be accepted; empty when that is plain.
    pub accepted: String,
    /// What to do about it; empty when that is plain.
    pub remedy: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.at {
            match step {
                Step::Key(key) => write!(f, "/{key}")?,
                Step::Item(index) => write!(f, "/{index}")?,
            }
        }
        write!(f, ": {}", self.what)
    }
}

/// Everything that is wrong with a value that is being read, and the way into it.
#[derive(Debug, Default)]
pub(super) struct Faults {
    way: Vec<Step>,
    found: Vec<Fault>,
}

impl Faults {
    /// Reads what lies one step further in.
    pub(super) fn inside<T>(&mut self, step: Step, read: impl FnOnce(&mut Self) -> T) -> T {
        self.way.push(step);
        let value = read(self);
        self.way.pop();
        value
    }

    /// Reads what lies at a key.
    pub(super) fn at_key<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.inside(Step::Key(key.to_owned()), read)
    }

    /// Adds one at this place. The other words follow.
    pub(super) fn add(&mut self, what: impl Into<String>) -> &mut Fault {
        let fault = Fault {
            at: self.way.clone(),
            what: what.into(),
            accepted: String::new(),
            remedy: String::new(),
        };
        self.found.push(fault);
        let newest = self.found.len() - 1;
        &mut self.found[newest]
    }

    /// The value, if nothing is wrong with it.
    pub(super) fn unless_any<T>(self, value: Option<T>) -> Result<T, Vec<Fault>> {
        match value {
            Some(value) if self.found.is_empty() => Ok(value),
            _ => Err(self.found),
        }
    }
}

impl Fault {
    pub(super) fn accepted(&mut self, accepted: impl Into<String>) -> &mut Self {
        self.accepted = accepted.into();
        self
    }

    pub(super) fn remedy(&mut self, remedy: impl Into<String>) -> &mut Self {
        self.remedy = remedy.into();
        self
    }
}
