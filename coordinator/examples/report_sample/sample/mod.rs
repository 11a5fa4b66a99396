//! An invented run of every colour, always the same for the same number of iterations.

#![allow(
    dead_code,
    unused_imports,
    reason = "each program that shares this module uses a part of it"
)]

mod attempt;
mod files;
mod plan;
mod shapes;
mod talk;
mod tools;

pub(crate) use files::{Files, write_all};
pub(crate) use shapes::{attempts, hostile, mixed, one_agent, plan_of_mixed, still_running};
pub(crate) use talk::{call, failed_call};
pub(crate) use tools::TOOL_LIST;
