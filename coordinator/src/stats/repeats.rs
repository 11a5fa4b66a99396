//! How alike the repeats of a prompt are.

use std::ops::Add;

use serde::Serialize;

/// Pairs of iterations of one cell, and how many of them made identical calls. Shown beside a rate; no range is adjusted by
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RepeatsAlike {
    /// Pairs with identical calls.
    pub alike: u64,
    /// Pairs.
    pub pairs: u64,
}

impl RepeatsAlike {
    /// The share of pairs that are alike; `None` without a pair.
    pub fn share(self) -> Option<f64> {
        (self.pairs > 0).then(|| self.alike as f64 / self.pairs as f64)
    }
}

/// Cells add up pair by pair.
impl Add for RepeatsAlike {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            alike: self.alike + other.alike,
            pairs: self.pairs + other.pairs,
        }
    }
}

/// The pairs of one cell, whose iterations fall into groups of identical calls with these sizes.
pub fn repeats_alike(groups: impl IntoIterator<Item = u64>) -> RepeatsAlike {
    let pairs = |n: u64| n.saturating_mul(n.saturating_sub(1)) / 2;
    let (alike, n) = groups
        .into_iter()
        .fold((0, 0), |(alike, n), group| (alike + pairs(group), n + group));
    RepeatsAlike { alike, pairs: pairs(n) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_of_fifteen_pairs_are_80_percent() {
        // Fifteen prompts with two iterations each; in twelve of them both made the same calls.
        let all = (0..15)
            .map(|prompt| {
                if prompt < 12 {
                    repeats_alike([2])
                } else {
                    repeats_alike([1, 1])
                }
            })
            .fold(RepeatsAlike::default(), Add::add);
        assert_eq!(all, RepeatsAlike { alike: 12, pairs: 15 });
        assert_eq!(all.share(), Some(0.8));
    }

    #[test]
    fn groups_of_one_cell_give_pairs_within_them() {
        assert_eq!(repeats_alike([3, 1, 1]), RepeatsAlike { alike: 3, pairs: 10 });
        assert_eq!(repeats_alike([1]).share(), None);
        assert_eq!(repeats_alike([]), RepeatsAlike::default());
    }
}
