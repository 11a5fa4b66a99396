//! The one pass over a run from which every file is written.
//!
//! A thread walks through the attempts and groups them into chunks of one cell ([`chunk`]). Worker threads read the records,
//! look closely at each iteration ([`findings`]) and render it for every format that was asked for. The calling thread takes
//! what they made in order ([`lanes`]): it adds up the figures and lays the parts aside in spools ([`spool`]), because what
//! stands at the top of each file is known only at the end. What is held in memory is a few chunks at a time.

mod chunk;
mod findings;
mod lanes;
mod spool;
mod tool_list;

pub(super) use findings::{Arguments, CallFindings, Findings};
pub(super) use lanes::walk;
pub(super) use spool::Spool;
pub(super) use tool_list::ToolList;
