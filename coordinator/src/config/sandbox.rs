//! Which sandbox holds which agent.

use std::collections::BTreeMap;

use mcproctor_proto::agent::{Agent, BuiltinTools, Credential};
use mcproctor_proto::assignment::{DEFAULT_IMAGE, Resources, SandboxLevel};

use super::settings::Config;

/// What the config says of sandboxes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxSettings {
    /// The level of agents that name none of their own; chosen by rule when absent.
    pub level: Option<SandboxLevel>,
    /// The levels that agents name, by the agents' names.
    pub of_agents: BTreeMap<String, SandboxLevel>,
    /// The image that containers are made of; the default one when absent.
    pub image: Option<String>,
    /// What each attempt may use, as written; see [`Resources::at`] for what holds without a word.
    pub resources: Resources,
}

impl SandboxSettings {
    /// The image that containers are made of.
    pub fn image(&self) -> &str {
        self.image.as_deref().unwrap_or(DEFAULT_IMAGE)
    }

    /// Whether one of these agents is held in a container, or would be where the machine can do it.
    pub(super) fn may_come_to_a_container(&self, agents: &[Agent]) -> bool {
        agents.iter().any(|agent| {
            let named = self.of_agents.get(&agent.name).copied().or(self.level);
            match named {
                Some(level) => level == SandboxLevel::Container,
                None => agent.builtin_tools == BuiltinTools::Default,
            }
        })
    }
}

/// A level, and whether the machine can hold an agent there: what holds, or why not and what would help.
pub type Able = (SandboxLevel, Result<String, String>);

/// Why there is no sandbox for an agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SandboxChoiceError {
    /// The user's own login lies in the user's own home.
    #[error(
        "agent {agent}: its own login lies in your home folder, so it runs in the sandbox `process` only, not in {wanted}; give it a \
         key or a token, or say `sandbox: process`"
    )]
    OwnLogin {
        /// The agent.
        agent: String,
        /// The level that was asked for, or the rule.
        wanted: String,
    },
    /// The agent brings tools of its own, and nothing here confines them.
    #[error(
        "agent {agent}: it keeps its own tools (`builtinTools: default`), and this machine has no sandbox that confines them: {reasons}. \
         To run it unconfined say `sandbox: process`"
    )]
    NothingConfines {
        /// The agent.
        agent: String,
        /// Why not, level by level.
        reasons: String,
    },
}

impl Config {
    /// The levels that the machine is to be asked about before a run: without `container` where no agent can come to it, because
    /// its engine takes a while to answer, and may not answer at all.
    pub fn levels_in_question(&self) -> Vec<SandboxLevel> {
        let settings = &self.run.sandbox;
        let container = settings.may_come_to_a_container(&self.run.agents);
        let mut levels = SandboxLevel::ALL.to_vec();
        levels.retain(|level| container || *level != SandboxLevel::Container);
        levels
    }

    /// The level of every agent, by its name: what the config says; else `process` for an agent without tools of its own, and
    /// the strongest level of the machine for one that keeps them.
    ///
    /// A level that the config names is taken even where the machine does not have it: the attempts then say so, instead of
    /// running in a weaker one.
    ///
    /// # Errors
    /// When an agent with its own login would be confined, or one with its own tools would not and nobody said so.
    pub fn sandboxes(&self, machine: &[Able]) -> Result<BTreeMap<String, SandboxLevel>, SandboxChoiceError> {
        let agents = self.run.agents.iter();
        agents
            .map(|agent| Ok((agent.name.clone(), self.sandbox_of(agent, machine)?)))
            .collect()
    }

    fn sandbox_of(&self, agent: &Agent, machine: &[Able]) -> Result<SandboxLevel, SandboxChoiceError> {
        let settings = &self.run.sandbox;
        let named = settings.of_agents.get(&agent.name).copied().or(settings.level);
        let own_login = matches!(agent.credential, Credential::OwnLogin);
        match named {
            Some(level) if own_login && level > SandboxLevel::Process => Err(SandboxChoiceError::OwnLogin {
                agent: agent.name.clone(),
                wanted: format!("`{level}`"),
            }),
            Some(level) => Ok(level),
            None if agent.builtin_tools == BuiltinTools::None => Ok(SandboxLevel::Process),
            None if own_login => Err(SandboxChoiceError::OwnLogin {
                agent: agent.name.clone(),
                wanted: "the stronger one that its own tools (`builtinTools: default`) ask for".to_owned(),
            }),
            None => strongest(machine).ok_or_else(|| SandboxChoiceError::NothingConfines {
                agent: agent.name.clone(),
                reasons: reasons(machine),
            }),
        }
    }
}

fn confining(machine: &[Able]) -> impl Iterator<Item = &Able> {
    machine.iter().filter(|(level, _)| *level > SandboxLevel::Process)
}

fn strongest(machine: &[Able]) -> Option<SandboxLevel> {
    confining(machine)
        .filter(|(_, state)| state.is_ok())
        .map(|(level, _)| *level)
        .max()
}

fn reasons(machine: &[Able]) -> String {
    let reasons = confining(machine).filter_map(|(level, state)| Some((level, state.as_ref().err()?)));
    let reasons: Vec<String> = reasons.map(|(level, why)| format!("{level}: {why}")).collect();
    reasons.join("; ")
}
