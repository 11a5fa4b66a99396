//! The keys of a mapping, each asked for by name; what nobody asked for is refused.

use super::item::Item;
use super::key_path::KeyPath;
use super::nearest::nearest;
use super::node::Entry;
use super::problem::{Place, Problems};

/// A mapping that is being read.
pub(crate) struct Fields<'n> {
    place: Place,
    path: KeyPath,
    entries: &'n [Entry],
    known: Vec<&'static str>,
    later: &'static [&'static str],
}

impl<'n> Fields<'n> {
    pub(super) fn new(place: Place, path: KeyPath, entries: &'n [Entry]) -> Self {
        Self {
            place,
            path,
            entries,
            known: Vec::new(),
            later: &[],
        }
    }

    /// Where the mapping starts.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// The key path of the mapping.
    pub(crate) fn path(&self) -> &KeyPath {
        &self.path
    }

    /// The value of a key, if it is there.
    pub(crate) fn get(&mut self, key: &'static str) -> Option<Item<'n>> {
        self.known.push(key);
        self.entries.iter().find(|entry| entry.key == key).map(|entry| Item {
            node: &entry.value,
            path: self.path.key(key),
        })
    }

    /// The value of a key that has to be there.
    pub(crate) fn require(&mut self, key: &'static str, problems: &mut Problems) -> Option<Item<'n>> {
        let item = self.get(key);
        if item.is_none() {
            let problem = problems
                .new_problem("the key is missing")
                .at(self.place)
                .key(&self.path.key(key));
            problems.add(problem.remedy(format!("add `{key}`")));
        }
        item
    }

    /// Keys that are known, but not what this version does.
    pub(crate) fn later(&mut self, keys: &'static [&'static str]) {
        self.later = keys;
    }

    /// Reports every key that was not asked for. `x-…` is free.
    pub(crate) fn finish(self, problems: &mut Problems) {
        let candidates: Vec<&str> = self.known.iter().chain(self.later).copied().collect();
        for entry in self.entries {
            let key = entry.key.as_str();
            if self.known.contains(&key) || key.starts_with("x-") {
                continue;
            }
            let path = self.path.key(key);
            let problem = if self.later.contains(&key) {
                problems
                    .new_problem("not supported in this version")
                    .remedy("remove it, or start its name with `x-`")
            } else {
                let problem = problems.new_problem("the key is not known");
                match nearest(key, &candidates) {
                    Some(near) => problem.remedy(format!("did you mean `{near}`?")),
                    None => {
                        let mut known = self.known.clone();
                        known.sort_unstable();
                        problem
                            .accepted(known.join(", "))
                            .remedy("remove it, or start its name with `x-`")
                    }
                }
            };
            problems.add(problem.at(entry.place).key(&path));
        }
    }
}
