//! The coordinator: what is decided or known. Modules in the order in which a run flows through them.

pub mod cli;

pub mod yaml;

pub mod config;
pub mod expectation;
pub mod limits;
pub mod price;
pub mod provider_limits;
pub mod source;
pub mod testcase;

pub mod plan;
pub mod run;
pub mod scheduler;

pub mod rpc;

pub mod conversation;
pub mod grade;
pub mod judge;
pub mod outcome;
pub mod validation;

pub mod reach;
pub mod record;
pub mod store;

pub mod compare;
pub mod report;
pub mod stats;
pub mod threshold;

pub mod event;
pub mod ui;

pub mod clock;
pub mod shutdown;
mod surrogates;
