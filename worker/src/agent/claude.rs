//! stub
use super::driver::*;
use super::error::AgentError;
use mcproctor_proto::agent::Agent;
pub(super) struct Claude;
impl Claude { pub(super) fn new(_a: &Agent, _p: &Place) -> Result<Self, AgentError> { Ok(Self) } }
impl Driver for Claude {
    fn invocation(&mut self, _turn: u32, _prompt: &str) -> Result<Invocation, AgentError> { Err(AgentError::NotFound { program: String::new(), hint: String::new() }) }
    fn line(&mut self, _line: &[u8]) -> Vec<Seen> { Vec::new() }
    fn finish(&mut self, _exit: &Exit) -> Reading { unreachable!() }
}
