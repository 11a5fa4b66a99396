//! The command lines of real agents.

use std::path::Path;

use serde_json::{Value, json};

use super::bed::{Bed, MODEL_KEY};

impl Bed {
    /// Claude Code, asked for a model that the scripted one plays.
    pub fn claude(&mut self) -> Value {
        self.point_to("MCPROCTOR_CLAUDE", "claude");
        json!({
            "kind": "claude",
            "model": "claude-sonnet-4-5",
            "baseUrl": self.model_url(),
            "apiKey": MODEL_KEY,
            // Its own retries would only make these tests slow.
            "env": { "CLAUDE_CODE_MAX_RETRIES": "2" },
        })
    }

    /// codex, asked for a model that the scripted one plays.
    pub fn codex(&mut self) -> Value {
        self.point_to("MCPROCTOR_CODEX", "codex");
        json!({
            "kind": "codex",
            "model": "gpt-5.1",
            "baseUrl": format!("{}/v1", self.model_url()),
            "apiKey": MODEL_KEY,
        })
    }

    /// The agent that the variable names, or else the one of `docker/agents`.
    fn point_to(&mut self, variable: &str, program: &str) {
        let path = std::env::var(variable).unwrap_or_else(|_| {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docker/agents/node_modules/.bin");
            let path = folder.join(program);
            assert!(
                path.exists(),
                "install the agents with `npm ci --prefix docker/agents`, or name {program} in {variable}"
            );
            path.display().to_string()
        });
        self.env.push((variable.to_owned(), path));
    }
}
