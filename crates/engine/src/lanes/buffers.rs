//! What a character needs before it moves on: a place in an output buffer, and credit for an input buffer, with the
//! times at which they return.

use std::collections::VecDeque;

use super::state::UNKNOWN;
use crate::kernel::Time;

/// The free places of an output buffer. Each is taken by the next character that enters, in the order in which they
/// became free.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// Those that nothing has occupied.
    free: u32,
    /// When those of characters that have started on the wire are free again, in order.
    returning: VecDeque<Time>,
    /// Error ends in the buffer beyond its places.
    beyond: u32,
}

impl Places {
    pub fn new(count: u32) -> Self {
        Self { free: count, returning: VecDeque::new(), beyond: 0 }
    }

    /// Returns when the next place is free: [`UNKNOWN`] until a character starts, 0 if it has been free all the time.
    #[inline(always)]
    pub fn next(&self) -> Time {
        if self.free > 0 { 0 } else { self.returning.front().copied().unwrap_or(UNKNOWN) }
    }

    /// Takes the next place. If there is none, the first one that returns stays away.
    #[inline(always)]
    pub fn take(&mut self) {
        if self.free > 0 {
            self.free -= 1;
        } else if self.returning.pop_front().is_none() {
            self.beyond += 1;
        }
    }

    /// Returns the place of a character that has started on the wire; it is free from this time on.
    #[inline(always)]
    pub fn give_back(&mut self, time: Time) {
        if self.beyond > 0 {
            self.beyond -= 1;
        } else {
            self.returning.push_back(time);
        }
    }
}

/// The credit of a sender.
#[derive(Clone, Debug)]
pub(super) struct Credit {
    /// Characters that may be sent.
    count: u32,
    /// When further quanta arrive, in order; also of some that have arrived.
    returning: VecDeque<Time>,
}

impl Credit {
    /// Returns credit for this many characters.
    pub fn new(count: u32) -> Self {
        Self { count, returning: VecDeque::new() }
    }

    /// Returns when there is credit for this many characters, if known; 0 if there has been since the last one started.
    #[inline(always)]
    pub fn at(&self, needed: u32, quantum: u32) -> Time {
        if needed <= self.count {
            return 0;
        }
        let quanta = if needed == 1 { 1 } else { (needed - self.count).div_ceil(quantum) };
        self.returning.get(quanta as usize - 1).copied().unwrap_or(UNKNOWN)
    }

    /// Spends credit for a character, when there is credit for `needed`.
    #[inline(always)]
    pub fn spend(&mut self, needed: u32, quantum: u32) {
        while self.count < needed && self.returning.pop_front().is_some() {
            self.count += quantum;
        }
        self.count -= 1;
    }

    /// Adds a quantum that arrives at this time.
    #[inline(always)]
    pub fn add(&mut self, time: Time) {
        self.returning.push_back(time);
    }

    /// Returns the characters for which credit is there or returns.
    pub fn total(&self, quantum: u32) -> u32 {
        self.count + self.returning.len() as u32 * quantum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_return_in_order() {
        let mut places = Places::new(2);
        places.take();
        assert_eq!(places.next(), 0);
        places.take();
        assert_eq!(places.next(), UNKNOWN);
        places.give_back(7);
        assert_eq!(places.next(), 7);
    }

    #[test]
    fn an_error_end_beyond_the_places_keeps_the_first_one_that_returns() {
        let mut places = Places::new(1);
        places.take();
        places.take();
        places.give_back(5);
        assert_eq!(places.next(), UNKNOWN);
        places.give_back(8);
        assert_eq!(places.next(), 8);
    }

    #[test]
    fn a_whole_packet_waits_for_as_many_quanta_as_it_lacks() {
        let mut credit = Credit::new(1);
        assert_eq!((credit.at(1, 4), credit.at(6, 4)), (0, UNKNOWN));
        credit.add(10);
        credit.add(20);
        assert_eq!((credit.at(5, 4), credit.at(6, 4), credit.total(4)), (10, 20, 9));
        credit.spend(6, 4);
        assert_eq!((credit.at(8, 4), credit.at(9, 4)), (0, UNKNOWN));
    }
}
