//! One kind of thing of which a run may use only so much, in whole units.

use std::collections::HashMap;

use mcproctor_proto::id::AttemptId;

/// How many times the largest attempt so far is set aside for the next one, or what was not enough for one.
const HEADROOM: u64 = 2;

/// What is limited, spent and set aside.
#[derive(Clone, Debug)]
pub(super) struct Pot {
    limit: u64,
    /// What is set aside while no attempt is known.
    guess: u64,
    spent: u64,
    /// Attempts that spent anything.
    attempts: u64,
    largest: u64,
    /// The most that was set aside for an attempt and was not enough, whatever that attempt came to in the end.
    too_little: u64,
    reserved: HashMap<AttemptId, u64>,
}

/// What can be set aside for one more attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// This much.
    For(u64),
    /// Nothing, until an attempt that runs has told what it used.
    Later,
    /// Nothing any more.
    None,
}

impl Pot {
    pub(super) fn new(limit: u64, guess: u64) -> Self {
        Self {
            limit,
            guess,
            spent: 0,
            attempts: 0,
            largest: 0,
            too_little: 0,
            reserved: HashMap::new(),
        }
    }

    /// What can be set aside for one more attempt.
    ///
    /// The last attempts of a run get what is left, as long as an attempt like those before may fit into it.
    pub(super) fn room(&self) -> Room {
        let wanted = match self.largest.max(self.too_little) {
            0 => self.guess,
            largest => largest.saturating_mul(HEADROOM),
        };
        let left = self.left();
        if left >= wanted {
            Room::For(wanted)
        } else if !self.reserved.is_empty() {
            Room::Later
        } else if left >= self.usual() && left > self.too_little {
            Room::For(left)
        } else {
            Room::None
        }
    }

    /// What is neither spent nor set aside.
    fn left(&self) -> u64 {
        let reserved = self
            .reserved
            .values()
            .fold(self.spent, |sum, one| sum.saturating_add(*one));
        self.limit.saturating_sub(reserved)
    }

    /// What attempts used on average, rounded up; 1 while none is known.
    fn usual(&self) -> u64 {
        match self.attempts {
            0 => 1,
            attempts => self.spent.div_ceil(attempts).max(1),
        }
    }

    pub(super) fn reserve(&mut self, attempt: &AttemptId, amount: u64) {
        self.reserved.insert(attempt.clone(), amount);
    }

    pub(super) fn reserved_for(&self, attempt: &AttemptId) -> Option<u64> {
        self.reserved.get(attempt).copied()
    }

    /// The attempt is over and used `known`, or nobody knows how much: then all that it was allowed. `ran_out` when it was
    /// refused more.
    pub(super) fn settle(&mut self, attempt: &AttemptId, known: Option<u64>, ran_out: bool) {
        let reserved = self.reserved.remove(attempt).unwrap_or(0);
        if ran_out {
            self.too_little = self.too_little.max(reserved);
        }
        self.spend(known.unwrap_or(reserved));
    }

    /// Something was used.
    pub(super) fn spend(&mut self, amount: u64) {
        self.spent = self.spent.saturating_add(amount);
        self.attempts += u64::from(amount > 0);
        self.largest = self.largest.max(amount);
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    pub(super) fn spent(&self) -> u64 {
        self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u32) -> AttemptId {
        AttemptId::new(format!("0-{n}-1"))
    }

    /// Sets aside for the attempt what there is room for.
    fn reserve(pot: &mut Pot, n: u32) -> Room {
        let room = pot.room();
        if let Room::For(amount) = room {
            pot.reserve(&id(n), amount);
        }
        room
    }

    #[test]
    fn what_is_set_aside_begins_as_a_guess_and_follows_the_largest_attempt() {
        let mut pot = Pot::new(1_000, 300);
        assert_eq!(reserve(&mut pot, 1), Room::For(300));
        assert_eq!(reserve(&mut pot, 2), Room::For(300));
        assert_eq!(reserve(&mut pot, 3), Room::For(300));
        assert_eq!(reserve(&mut pot, 4), Room::Later, "100 are left");
        pot.settle(&id(1), Some(40), false);
        pot.settle(&id(2), Some(50), false);
        assert_eq!(reserve(&mut pot, 4), Room::For(100), "twice 50");
    }

    #[test]
    fn an_attempt_that_used_up_what_it_had_gets_twice_as_much() {
        let mut pot = Pot::new(10_000, 300);
        reserve(&mut pot, 1);
        pot.settle(&id(1), Some(320), false);
        assert_eq!(reserve(&mut pot, 2), Room::For(640));
        pot.settle(&id(2), Some(700), false);
        assert_eq!(pot.room(), Room::For(1_400));
    }

    #[test]
    fn what_was_not_enough_is_not_set_aside_again_whatever_it_came_to() {
        let mut pot = Pot::new(3_000, 300);
        reserve(&mut pot, 1);
        // The model that answered costs nothing.
        pot.settle(&id(1), Some(0), true);
        assert_eq!(reserve(&mut pot, 2), Room::For(600));
        pot.settle(&id(2), Some(0), true);
        assert_eq!(reserve(&mut pot, 3), Room::For(1_200));
        pot.settle(&id(3), Some(0), true);
        assert_eq!(reserve(&mut pot, 4), Room::For(2_400));
        pot.settle(&id(4), Some(0), true);
        assert_eq!(reserve(&mut pot, 5), Room::For(3_000), "all that there is");
        pot.settle(&id(5), Some(0), true);
        assert_eq!(pot.room(), Room::None, "more than there is");
    }

    #[test]
    fn the_last_ones_get_what_is_left_until_no_attempt_like_those_before_fits() {
        let mut pot = Pot::new(100, 300);
        assert_eq!(
            reserve(&mut pot, 1),
            Room::For(100),
            "the guess is larger than the limit"
        );
        assert_eq!(pot.room(), Room::Later);
        pot.settle(&id(1), Some(40), false);
        assert_eq!(reserve(&mut pot, 2), Room::For(60));
        pot.settle(&id(2), Some(30), false);
        assert_eq!(pot.room(), Room::None, "30 are left, 35 is usual");
    }

    #[test]
    fn what_nobody_knows_counts_as_all_that_was_allowed() {
        let mut pot = Pot::new(1_000, 300);
        reserve(&mut pot, 1);
        pot.settle(&id(1), None, false);
        assert_eq!((pot.spent(), pot.room()), (300, Room::For(600)));
    }

    #[test]
    fn spending_more_than_there_is_ends_it_and_no_number_overflows() {
        let mut pot = Pot::new(10, 300);
        pot.spend(u64::MAX);
        pot.spend(5);
        assert_eq!((pot.spent(), pot.room()), (u64::MAX, Room::None));
        let mut free = Pot::new(u64::MAX, 1);
        free.spend(0);
        assert_eq!(free.room(), Room::For(1), "an attempt that used nothing is no measure");
    }
}
