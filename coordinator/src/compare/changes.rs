//! What else is not the same on both sides, besides the tools.

use std::collections::BTreeSet;

use serde::Serialize;

use super::results::Face;
use super::side::Side;

/// Something that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// What: `model seen`.
    pub what: String,
    /// On side A.
    pub a: String,
    /// On side B.
    pub b: String,
}

const NOTHING: &str = "not known";

pub(super) fn changes(a: &Side<'_>, b: &Side<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut note = |what: String, a: String, b: String| {
        if a != b {
            changes.push(Change { what, a, b });
        }
    };
    note(
        "mcproctor version".to_owned(),
        a.run().version.clone(),
        b.run().version.clone(),
    );
    for (what, of) in AGENT_FACTS {
        note(what.to_owned(), of(a), of(b));
    }
    for server in servers(a, b) {
        note(format!("{server}: address"), address(a, &server), address(b, &server));
        for (what, of) in SERVER_FACTS {
            note(format!("{server}: {what}"), said(a, &server, of), said(b, &server, of));
        }
    }
    changes
}

/// The servers of both sides.
pub(super) fn servers(a: &Side<'_>, b: &Side<'_>) -> BTreeSet<String> {
    let names = |side: &Side<'_>| {
        let configured = side.run().servers.iter().map(|server| server.name.clone());
        configured
            .chain(side.seen().servers.keys().cloned())
            .collect::<Vec<_>>()
    };
    names(a).into_iter().chain(names(b)).collect()
}

type AgentFact = (&'static str, fn(&Side<'_>) -> String);

const AGENT_FACTS: [AgentFact; 10] = [
    ("agent", |side| agent(side, |agent| Some(agent.name.clone()))),
    ("kind of agent", |side| agent(side, |agent| Some(agent.kind.clone()))),
    ("agent version", |side| agent(side, |agent| agent.version.clone())),
    ("model asked for", |side| {
        agent(side, |agent| {
            Some(
                agent
                    .model
                    .clone()
                    .unwrap_or_else(|| "the agent's own default".to_owned()),
            )
        })
    }),
    ("model seen", |side| {
        listed(side.seen().models.iter().map(String::as_str))
    }),
    ("image", |side| agent(side, |agent| agent.image.clone())),
    ("sandbox", |side| listed(side.seen().sandboxes.iter().copied())),
    ("the agent's own tools", |side| {
        agent(side, |agent| Some(agent.builtin_tools.clone()))
    }),
    ("tool definitions", |side| listed(side.seen().loadings.iter().copied())),
    ("login", |side| {
        agent(side, |agent| {
            Some(if agent.own_login { "the user's own" } else { "a key" }.to_owned())
        })
    }),
];

fn agent(side: &Side<'_>, fact: fn(&crate::record::AgentRecord) -> Option<String>) -> String {
    side.agent().and_then(fact).unwrap_or_else(|| NOTHING.to_owned())
}

type ServerFact = (&'static str, fn(&Face) -> Option<&String>);

const SERVER_FACTS: [ServerFact; 3] = [
    ("its own name", |face| face.name.as_ref()),
    ("its own version", |face| face.version.as_ref()),
    ("protocol", |face| face.protocol.as_ref()),
];

fn address(side: &Side<'_>, server: &str) -> String {
    let found = side.run().servers.iter().find(|other| other.name == server);
    found.map_or_else(|| NOTHING.to_owned(), |server| server.address.clone())
}

fn said(side: &Side<'_>, server: &str, fact: fn(&Face) -> Option<&String>) -> String {
    let faces = side.seen().servers.get(server);
    let words: BTreeSet<&str> = faces
        .into_iter()
        .flatten()
        .filter_map(|(face, _)| fact(face))
        .map(String::as_str)
        .collect();
    listed(words)
}

fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    if words.is_empty() {
        NOTHING.to_owned()
    } else {
        words.join(", ")
    }
}
