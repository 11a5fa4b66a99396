//! How alike the iterations of a cell are.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use mcproctor_proto::call::ToolCall;

use crate::stats::{RepeatsAlike, repeats_alike};

/// The calls that iterations made, by their hash: 16 bytes for each that differs.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats {
    by_calls: BTreeMap<u64, u64>,
}

impl Repeats {
    /// Counts an iteration. Its calls are those of another one when servers, tools and arguments are the same to the letter,
    /// in the same order.
    pub(super) fn add(&mut self, calls: &[ToolCall]) {
        let mut hash = DefaultHasher::new();
        for call in calls {
            let arguments = call.arguments.as_deref().map(|arguments| arguments.get());
            (&call.server, &call.tool, arguments).hash(&mut hash);
        }
        *self.by_calls.entry(hash.finish()).or_default() += 1;
    }

    /// Pairs of iterations, and those that are alike.
    pub(super) fn pairs(&self) -> RepeatsAlike {
        repeats_alike(self.by_calls.values().copied())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use mcproctor_proto::call::CallState;

    use super::*;
    use crate::record::fixtures::call;

    fn made(calls: &[(&str, &str)]) -> Vec<ToolCall> {
        let call = |(tool, arguments): &(&str, &str)| ToolCall {
            arguments: Some(serde_json::from_str(arguments).unwrap()),
            ..call(tool, CallState::Ok)
        };
        calls.iter().map(call).collect()
    }

    #[test]
    fn the_same_calls_in_the_same_order_are_alike() {
        let mut repeats = Repeats::default();
        for calls in [
            &[("a", "{\"n\":1}"), ("b", "{}")][..],
            &[("a", "{\"n\":1}"), ("b", "{}")],
            &[("b", "{}"), ("a", "{\"n\":1}")],
            &[("a", "{\"n\":2}"), ("b", "{}")],
            &[],
        ] {
            repeats.add(&made(calls));
        }
        let pairs = repeats.pairs();
        assert_eq!((pairs.alike, pairs.pairs), (1, 10));
    }
}
