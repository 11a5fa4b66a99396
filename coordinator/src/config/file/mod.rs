//! The first pass: a config as it was written, its shape checked, every value with its place.
//!
//! Ranges, paths, addresses and credentials are the second pass's work.

mod agent;
mod amount;
mod eval_file;
mod gateway;
mod gateway_file;
mod judge;
mod limits;
mod mcp;
mod prices;
mod report;
mod run;
mod sandbox;
mod testcases;
mod thresholds;

pub(super) use agent::{AgentEntry, AgentSection, AnswerSection, CommandSection};
pub(super) use eval_file::EvalFile;
pub(super) use gateway::GatewaySection;
pub(super) use gateway_file::{GatewayFile, GatewayModelSection, TlsSection};
pub(super) use judge::JudgeSection;
pub(super) use mcp::{HttpSection, McpSection, StdioSection, TransportSection};
pub(super) use report::ReportSection;
pub(super) use run::RunSection;
pub(super) use testcases::TestcasesSection;
