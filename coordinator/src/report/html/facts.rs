//! What a run pins: everything needed to repeat it or to doubt it.

use crate::report::{Figures, RunData};

use crate::words::counted;

/// One line of facts.
pub(super) struct Fact {
    pub(super) label: String,
    pub(super) value: String,
}

pub(super) fn facts(data: &dyn RunData, figures: &Figures) -> Vec<Fact> {
    let run = data.run();
    let fact = |label: &str, value: String| Fact {
        label: label.to_owned(),
        value,
    };
    let mut facts = vec![
        fact("run", run.id.to_string()),
        fact("mcproctor", run.version.clone()),
        fact("config file", run.config_file.clone()),
        fact("config and test cases, SHA-256", run.config_sha256.clone()),
        fact("seed of the order", run.seed.to_string()),
        fact("attempts per iteration", format!("{} at most", run.max_attempts)),
    ];
    for server in &run.servers {
        facts.push(fact("server", format!("{} at {}", server.name, server.address)));
        for (face, iterations) in figures.servers.faces(&server.name).into_iter().take(10) {
            let mut words = vec![match (&face.name, &face.version) {
                (Some(name), Some(version)) => format!("{name} {version}"),
                (Some(name), None) => name.clone(),
                (None, _) => "no name given".to_owned(),
            }];
            words.extend(
                face.protocol_version
                    .as_ref()
                    .map(|version| format!("protocol {version}")),
            );
            words.push(match &face.tools_sha256 {
                Some(hash) => format!("{}, list SHA-256 {hash}", counted(u64::from(face.tool_count), "tool")),
                None => "tools never listed".to_owned(),
            });
            facts.push(fact(
                &format!("{} said of itself in {}", server.name, counted(iterations, "iteration")),
                words.join("; "),
            ));
        }
    }
    facts
}
