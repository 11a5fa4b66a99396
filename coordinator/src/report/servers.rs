//! What servers said of themselves during a run, and whether it changed.

use std::collections::{BTreeMap, BTreeSet};

use mcproctor_proto::exposure::Exposure;
use serde::Serialize;

/// Versions of one server kept at most; a server that changes with every iteration is told by the count.
const MOST_FACES: usize = 50;

/// What a server said of itself in some iterations.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Face {
    /// Its own name.
    pub name: Option<String>,
    /// Its own version.
    pub version: Option<String>,
    /// The protocol revision that was agreed on.
    pub protocol_version: Option<String>,
    /// SHA-256 of the canonical tool list in hex; `None` when it was never listed.
    pub tools_sha256: Option<String>,
    /// Tools in that list.
    pub tool_count: u32,
}

/// Every face of every server, with the number of iterations that saw it.
#[derive(Clone, Debug, Default)]
pub struct ServersSeen {
    faces: BTreeMap<String, BTreeMap<Face, u64>>,
    /// The tool list last seen in a cell, by cell and server.
    newest: BTreeMap<(usize, String), String>,
    drifted: BTreeSet<(usize, String)>,
}

impl ServersSeen {
    /// Counts what one iteration of `cell` saw.
    pub fn add(&mut self, cell: usize, exposures: &[Exposure]) {
        for exposure in exposures {
            if !exposure.initialized && !exposure.tools_listed {
                continue;
            }
            let face = Face {
                name: exposure.server_name.clone(),
                version: exposure.server_version.clone(),
                protocol_version: exposure.protocol_version.clone(),
                tools_sha256: exposure.tools_listed.then(|| exposure.tools_sha256.clone()),
                tool_count: exposure.tool_count,
            };
            let faces = self.faces.entry(exposure.server.clone()).or_default();
            if faces.len() < MOST_FACES || faces.contains_key(&face) {
                *faces.entry(face).or_default() += 1;
            }
            if exposure.tools_listed {
                let place = (cell, exposure.server.clone());
                let before = self.newest.insert(place.clone(), exposure.tools_sha256.clone());
                if before.is_some_and(|before| before != exposure.tools_sha256) {
                    self.drifted.insert(place);
                }
            }
        }
    }

    /// The faces of a server with the number of iterations that saw each, most seen first.
    pub fn faces(&self, server: &str) -> Vec<(&Face, u64)> {
        let mut faces: Vec<_> = self
            .faces
            .get(server)
            .into_iter()
            .flatten()
            .map(|(face, n)| (face, *n))
            .collect();
        faces.sort_by_key(|(_, iterations)| std::cmp::Reverse(*iterations));
        faces
    }

    /// Cells in which a server's tool list changed from one iteration to another, with the server.
    pub fn drifted(&self) -> impl Iterator<Item = (usize, &str)> {
        self.drifted.iter().map(|(cell, server)| (*cell, server.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(tools: &str) -> Exposure {
        Exposure {
            server: "weather".to_owned(),
            initialized: true,
            tools_listed: true,
            tools_sha256: tools.to_owned(),
            ..Exposure::default()
        }
    }

    #[test]
    fn a_tool_list_that_changes_inside_a_cell_is_drift_and_between_cells_is_not() {
        let mut seen = ServersSeen::default();
        seen.add(0, &[listed("aa")]);
        seen.add(1, &[listed("bb")]);
        assert_eq!(seen.drifted().count(), 0);
        seen.add(1, &[listed("aa")]);
        assert_eq!(seen.drifted().collect::<Vec<_>>(), [(1, "weather")]);
        assert_eq!(
            seen.faces("weather").iter().map(|(_, n)| *n).collect::<Vec<_>>(),
            [2, 1]
        );
    }
}
