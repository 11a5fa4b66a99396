//! Whether the definition of a server's tool reached the model: what the relay saw, under the names that agents give tools.
//!
//! How they name the tool `t` of the server `s`, with every character that is not allowed replaced by `_`:
//!
//! | agent | name | allowed |
//! | --- | --- | --- |
//! | claude | `mcp__s__t` | letters, digits, `_`, `-` |
//! | codex | `t` in the namespace `mcp__s` | letters, digits, `_` |
//! | codex, for models that call tools from scripts | `mcp__s__t` | letters, digits, `_` |
//! | the built-in agent | `t`; `s__t` where another server has a `t` too; 64 characters at most | letters, digits, `_`, `-` |

use mcproctor_proto::agent::AgentKind;
use mcproctor_proto::traffic::ModelTraffic;
use serde::{Deserialize, Serialize};

/// Whether a tool's definition reached the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    /// It was in a request that the model answered.
    Yes,
    /// It was in none of them.
    No,
    /// Nobody can tell: no relay was in the path, or the agent's way to name tools is not known.
    Unknown,
}

/// The longest name that the built-in agent gives a tool.
const BUILTIN_LIMIT: usize = 64;
/// codex's tool for scripts, through which a model can look up and call every tool.
const SCRIPT_TOOLS: [&str; 2] = ["functions.exec", "exec"];

/// Whether the tool `tool` of the server `server` reached the model of an agent of this kind.
pub fn reached_model(kind: AgentKind, server: &str, tool: &str, traffic: &ModelTraffic) -> Reached {
    if !traffic.observed {
        return Reached::Unknown;
    }
    let sent = |name: &str| traffic.tools_sent.iter().any(|sent| sent == name);
    match kind {
        AgentKind::Claude => {
            let name = format!("mcp__{}__{}", plain(server, "_-"), plain(tool, "_-"));
            told(sent(&name))
        }
        AgentKind::Codex => {
            let (server, tool) = (plain(server, "_"), plain(tool, "_"));
            if sent(&format!("mcp__{server}.{tool}")) || sent(&format!("mcp__{server}__{tool}")) {
                Reached::Yes
            } else if SCRIPT_TOOLS.into_iter().any(sent) {
                Reached::Unknown
            } else {
                Reached::No
            }
        }
        AgentKind::Command => {
            let own: String = plain(tool, "_-").chars().take(BUILTIN_LIMIT).collect();
            let qualified: String = plain(&format!("{server}__{tool}"), "_-")
                .chars()
                .take(BUILTIN_LIMIT)
                .collect();
            // Many agents put something of their own before a tool's name.
            let prefixed = |name: &String| {
                name.strip_suffix(own.as_str())
                    .is_some_and(|before| before.ends_with("__") || before.ends_with(['.', '/', ':']))
            };
            if sent(tool) || sent(&own) || sent(&qualified) || traffic.tools_sent.iter().any(prefixed) {
                Reached::Yes
            } else if traffic.tools_sent.is_empty() {
                Reached::No
            } else {
                Reached::Unknown
            }
        }
    }
}

fn told(sent: bool) -> Reached {
    if sent { Reached::Yes } else { Reached::No }
}

/// The text with `_` for everything but letters, digits and `kept`.
fn plain(text: &str, kept: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || kept.contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(kind: AgentKind, server: &str, tool: &str, sent: &[&str]) -> Reached {
        let traffic = ModelTraffic {
            observed: true,
            tools_sent: sent.iter().map(|&name| name.to_owned()).collect(),
            ..ModelTraffic::default()
        };
        reached_model(kind, server, tool, &traffic)
    }

    /// Names as claude 2.1 and codex 0.171 really give them to a server called `my-ser.ver:1`.
    #[test]
    fn real_agents_names_lead_back_to_the_servers_tools() {
        use AgentKind::{Claude, Codex};
        use Reached::{No, Unknown, Yes};
        let claude = ["mcp__my-ser_ver_1__a_b_c", "mcp__my-ser_ver_1__UPPER-case_Tool"];
        let codex = [
            "mcp__my_ser_ver_1.UPPER_case_Tool",
            "mcp__my_ser_ver_1.a_b_c",
            "view_image",
        ];
        let scripted = ["functions.exec", "functions.wait", "mcp__my_ser_ver_1__look_up"];
        for (kind, tool, sent, expected) in [
            (Claude, "a/b c", &claude[..], Yes),
            (Claude, "UPPER-case_Tool", &claude[..], Yes),
            (Claude, "look.up", &claude[..], No),
            (Claude, "look.up", &["ToolSearch"][..], No),
            (Claude, "look.up", &[][..], No),
            (Codex, "a/b c", &codex[..], Yes),
            (Codex, "UPPER-case_Tool", &codex[..], Yes),
            (Codex, "look.up", &codex[..], No),
            (Codex, "look.up", &scripted[..], Yes),
            (Codex, "a/b c", &scripted[..], Unknown),
        ] {
            assert_eq!(
                reached(kind, "my-ser.ver:1", tool, sent),
                expected,
                "{kind} {tool} {sent:?}"
            );
        }
        assert_eq!(
            reached(Claude, "another", "look.up", &["mcp__one__look_up"]),
            No,
            "another server's tool of that name"
        );
    }

    #[test]
    fn the_built_in_agents_names_are_known_and_those_of_other_commands_may_be_guessed() {
        let command = |tool, sent: &[&str]| reached(AgentKind::Command, "s", tool, sent);
        assert_eq!(command("look.up", &["look_up"]), Reached::Yes);
        assert_eq!(command("look.up", &["s__look_up"]), Reached::Yes);
        let long = "x".repeat(80);
        assert_eq!(command(&long, &[&long[..64]]), Reached::Yes);
        assert_eq!(command("a", &["mcp__s__a"]), Reached::Yes);
        assert_eq!(command("a", &["s.a"]), Reached::Yes);
        assert_eq!(command("a", &["data"]), Reached::Unknown);
        assert_eq!(command("a", &[]), Reached::No);
    }

    #[test]
    fn without_a_relay_nobody_can_tell() {
        let traffic = ModelTraffic::default();
        assert_eq!(reached_model(AgentKind::Claude, "s", "a", &traffic), Reached::Unknown);
    }
}
