//! Cells times iterations, in an order shuffled in blocks by a printed seed.
//!
//! Block `b` holds iteration `b` of every cell, so that every test case has results early, and so that whatever changes
//! during a run (load, a model's mood, a server's cache) meets every cell alike. Nothing is kept per iteration: the order
//! of a block is computed when it is needed.

/// Which iteration of which cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot {
    /// Index of the cell, from 0.
    pub cell: u32,
    /// Number of the iteration in its cell, from 1.
    pub iteration: u32,
}

/// The order in which the iterations of a run are given out.
#[derive(Clone, Debug)]
pub struct Plan {
    cells: u32,
    iterations: u32,
    seed: u64,
    block: u32,
    order: std::vec::IntoIter<u32>,
}

impl Plan {
    /// The plan of `cells` cells with `iterations` iterations each.
    pub fn new(cells: u32, iterations: u32, seed: u64) -> Self {
        Self {
            cells,
            iterations,
            seed,
            block: 0,
            order: Vec::new().into_iter(),
        }
    }

    /// Iterations of the whole run.
    pub fn total(&self) -> u64 {
        u64::from(self.cells) * u64::from(self.iterations)
    }
}

impl Iterator for Plan {
    type Item = Slot;

    fn next(&mut self) -> Option<Slot> {
        loop {
            if let Some(cell) = self.order.next() {
                return Some(Slot {
                    cell,
                    iteration: self.block,
                });
            }
            if self.block == self.iterations || self.cells == 0 {
                return None;
            }
            self.block += 1;
            let mut cells: Vec<u32> = (0..self.cells).collect();
            let mut random = SplitMix64::new(self.seed ^ (u64::from(self.block) << 32));
            for last in (1..cells.len()).rev() {
                cells.swap(last, random.below(last + 1));
            }
            self.order = cells.into_iter();
        }
    }
}

/// The generator of G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. Written
/// out here because the order of a seed must stay the same over versions, which no random-number library promises.
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    /// The generator of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; the bias of the modulus is below 2^-32 for the few thousand cells of a run.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_iteration_comes_once_and_block_by_block() {
        let slots: Vec<Slot> = Plan::new(7, 5, 42).collect();
        assert_eq!(slots.len(), 35);
        assert_eq!(slots.iter().collect::<HashSet<_>>().len(), 35);
        for (position, slot) in slots.iter().enumerate() {
            assert_eq!(slot.iteration as usize, position / 7 + 1);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_order_for_ever() {
        let first: Vec<u32> = Plan::new(6, 1, 1).map(|slot| slot.cell).collect();
        assert_eq!(first, Plan::new(6, 1, 1).map(|slot| slot.cell).collect::<Vec<_>>());
        assert_ne!(first, Plan::new(6, 1, 2).map(|slot| slot.cell).collect::<Vec<_>>());
        let two: Vec<u32> = Plan::new(6, 2, 1).map(|slot| slot.cell).collect();
        assert_ne!(two[..6], two[6..], "blocks are shuffled apart");
    }

    #[test]
    fn an_empty_plan_ends_at_once() {
        assert_eq!(Plan::new(0, 10, 1).next(), None);
        assert_eq!(Plan::new(10, 0, 1).next(), None);
    }
}
