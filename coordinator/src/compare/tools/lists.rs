//! Tool lists, found by their hash.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::super::Sides;
use super::super::side::Side;

/// The tool lists that a comparison needs.
#[derive(Clone, Debug, Default)]
pub struct ToolLists {
    lists: HashMap<String, Vec<Value>>,
}

impl ToolLists {
    /// The hashes of the lists needed: those of servers whose lists are not the same on both sides.
    pub fn wanted(sides: &[Sides<'_>]) -> BTreeSet<String> {
        let of = |side: &Side<'_>| side.seen().servers.keys().cloned().collect::<Vec<_>>();
        let mut wanted = BTreeSet::new();
        for (a, b) in sides {
            for server in of(a).into_iter().chain(of(b)) {
                let (one, other) = (usual_list(a, &server), usual_list(b, &server));
                if one != other {
                    wanted.extend(one.into_iter().chain(other).map(str::to_owned));
                }
            }
        }
        wanted
    }

    /// Takes a list as it is stored, canonical JSON. One that cannot be read is taken as not known.
    pub fn insert(&mut self, sha256: &str, json: &[u8]) {
        if let Ok(tools) = serde_json::from_slice(json) {
            self.lists.insert(sha256.to_owned(), tools);
        }
    }

    pub(super) fn get(&self, sha256: &str) -> Option<&[Value]> {
        self.lists.get(sha256).map(Vec::as_slice)
    }
}

/// The tool list that most iterations of a side saw.
pub(super) fn usual_list<'a>(side: &Side<'a>, server: &str) -> Option<&'a str> {
    let mut seen: HashMap<&str, u64> = HashMap::new();
    for (face, iterations) in side.seen().servers.get(server).into_iter().flatten() {
        if let Some(list) = face.tools_sha256.as_deref() {
            *seen.entry(list).or_default() += iterations;
        }
    }
    seen.into_iter()
        .max_by_key(|(list, iterations)| (*iterations, *list))
        .map(|(list, _)| list)
}
