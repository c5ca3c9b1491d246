//! What a character needs before it moves on: a place in an output buffer, and credit for an input buffer, with the
//! times at which they return. And rows of times and of packets, whose first one is at hand.

use std::collections::VecDeque;

use super::state::UNKNOWN;
use crate::kernel::Time;

/// Times in the order in which they are used. Where buffers are short there is mostly one, and nearly all questions are
/// for the first.
#[derive(Clone, Debug)]
pub(super) struct Times {
    /// [`UNKNOWN`] if there is none.
    first: Time,
    /// The others: those from `begin` to before `end`, each at the place of its number modulo the length, a power of two.
    rest: Vec<Time>,
    begin: u32,
    end: u32,
}

impl Times {
    pub fn new() -> Self {
        Self { first: UNKNOWN, rest: Vec::new(), begin: 0, end: 0 }
    }

    /// Returns the first one, [`UNKNOWN`] if there is none.
    #[inline(always)]
    pub fn first(&self) -> Time {
        self.first
    }

    #[inline(always)]
    fn rest_at(&mut self, number: u32) -> &mut Time {
        let place = number as usize & (self.rest.len() - 1);
        &mut self.rest[place]
    }

    /// Returns the one at an index, [`UNKNOWN`] if there are not as many.
    pub fn get(&self, index: u32) -> Time {
        if index == 0 || index >= self.len() {
            return if index == 0 { self.first } else { UNKNOWN };
        }
        self.rest[self.begin.wrapping_add(index - 1) as usize & (self.rest.len() - 1)]
    }

    pub fn last(&self) -> Option<Time> {
        (!self.is_empty()).then(|| self.get(self.len() - 1))
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.first == UNKNOWN
    }

    /// Whether there is one.
    #[inline(always)]
    pub fn is_single(&self) -> bool {
        self.begin == self.end && !self.is_empty()
    }

    #[inline(always)]
    pub fn len(&self) -> u32 {
        u32::from(!self.is_empty()) + self.end.wrapping_sub(self.begin)
    }

    #[inline(always)]
    pub fn push(&mut self, time: Time) {
        if self.first == UNKNOWN {
            self.first = time;
            return;
        }
        if self.end.wrapping_sub(self.begin) as usize == self.rest.len() {
            self.grow();
        }
        *self.rest_at(self.end) = time;
        self.end = self.end.wrapping_add(1);
    }

    /// Makes room for more.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let times: Vec<_> = (1..self.len()).map(|index| self.get(index)).collect();
        (self.begin, self.end) = (0, times.len() as u32);
        self.rest = times;
        self.rest.resize((2 * self.rest.len()).max(4), UNKNOWN);
    }

    /// Adds a time before those that are later; returns whether there were any.
    pub fn insert(&mut self, time: Time) -> bool {
        let is_before = self.last().is_some_and(|last| time < last);
        self.push(time);
        if is_before {
            let mut number = self.end.wrapping_sub(1);
            while number != self.begin && *self.rest_at(number.wrapping_sub(1)) > time {
                *self.rest_at(number) = *self.rest_at(number.wrapping_sub(1));
                number = number.wrapping_sub(1);
            }
            *self.rest_at(number) = time;
            if number == self.begin && self.first > time {
                *self.rest_at(number) = std::mem::replace(&mut self.first, time);
            }
        }
        is_before
    }

    /// Takes the first one.
    #[inline(always)]
    pub fn pop(&mut self) -> Time {
        let mut next = UNKNOWN;
        if self.begin != self.end {
            next = *self.rest_at(self.begin);
            self.begin = self.begin.wrapping_add(1);
        }
        std::mem::replace(&mut self.first, next)
    }

    pub fn pop_last(&mut self) {
        if self.begin == self.end {
            self.first = UNKNOWN;
        } else {
            self.end = self.end.wrapping_sub(1);
        }
    }

    pub fn clear(&mut self) {
        *self = Self::new();
    }
}

/// Packets in order. Nearly all questions are for the first.
#[derive(Clone, Debug)]
pub(super) struct Row<T> {
    first: Option<T>,
    rest: VecDeque<T>,
}

impl<T> Row<T> {
    pub fn new() -> Self {
        Self { first: None, rest: VecDeque::new() }
    }

    #[inline(always)]
    pub fn first(&self) -> Option<&T> {
        self.first.as_ref()
    }

    #[inline(always)]
    pub fn first_mut(&mut self) -> Option<&mut T> {
        self.first.as_mut()
    }

    pub fn last(&self) -> Option<&T> {
        self.rest.back().or(self.first.as_ref())
    }

    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.rest.back_mut().or(self.first.as_mut())
    }

    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.rest)
    }

    pub fn push(&mut self, one: T) {
        if self.first.is_none() { self.first = Some(one) } else { self.rest.push_back(one) }
    }

    /// Takes the first one.
    pub fn pop(&mut self) -> Option<T> {
        std::mem::replace(&mut self.first, self.rest.pop_front())
    }

    pub fn pop_last(&mut self) -> Option<T> {
        self.rest.pop_back().or_else(|| self.first.take())
    }
}

/// The free places of an output buffer. Each is taken by the next character that enters, in the order in which they
/// became free.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// Those that nothing has occupied.
    free: u32,
    /// Error ends in the buffer beyond its places.
    beyond: u32,
    /// When those of characters that have started on the wire are free again, in order.
    returning: Times,
}

impl Places {
    pub fn new(count: u32) -> Self {
        Self { free: count, beyond: 0, returning: Times::new() }
    }

    /// Returns when the next place is free: [`UNKNOWN`] until a character starts, 0 if it has been free all the time.
    #[inline(always)]
    pub fn next(&self) -> Time {
        if self.free > 0 { 0 } else { self.returning.first() }
    }

    /// Takes the next place. If there is none, the first one that returns stays away.
    #[inline(always)]
    pub fn take(&mut self) {
        if self.free > 0 {
            self.free -= 1;
        } else if self.returning.pop() == UNKNOWN {
            self.beyond += 1;
        }
    }

    /// Returns the place of a character that has started on the wire; it is free from this time on.
    #[inline(always)]
    pub fn give_back(&mut self, time: Time) {
        if self.beyond > 0 {
            self.beyond -= 1;
        } else {
            self.returning.push(time);
        }
    }
}

/// The credit of a sender.
#[derive(Clone, Debug)]
pub(super) struct Credit {
    /// Characters that may be sent.
    count: u32,
    /// When further quanta arrive, in order; also of some that have arrived.
    returning: Times,
}

impl Credit {
    /// Returns credit for this many characters.
    pub fn new(count: u32) -> Self {
        Self { count, returning: Times::new() }
    }

    /// Returns when there is credit for this many characters, if known; 0 if there has been since the last one started.
    #[inline(always)]
    pub fn at(&self, needed: u32, quantum: u32) -> Time {
        if needed <= self.count {
            return 0;
        }
        if needed == 1 { self.returning.first() } else { self.later(needed, quantum) }
    }

    fn later(&self, needed: u32, quantum: u32) -> Time {
        let quanta = (needed - self.count).div_ceil(quantum);
        self.returning.get(quanta - 1)
    }

    /// Spends credit for a character, when there is credit for `needed`.
    #[inline(always)]
    pub fn spend(&mut self, needed: u32, quantum: u32) {
        while self.count < needed && self.returning.pop() < UNKNOWN {
            self.count += quantum;
        }
        self.count -= 1;
    }

    /// Adds a quantum that arrives at this time, not before the others that are known.
    #[inline(always)]
    pub fn add(&mut self, time: Time) {
        self.returning.push(time);
    }

    /// Adds a quantum that arrives at this time; returns whether it is before others that are known.
    pub fn add_between(&mut self, time: Time) -> bool {
        self.returning.insert(time)
    }

    /// Returns the characters for which there is credit at a tick.
    pub fn by(&self, time: Time, quantum: u32) -> u32 {
        let later = (0..self.returning.len()).take_while(|&index| self.returning.get(index) <= time);
        self.count + later.count() as u32 * quantum
    }

    /// Returns the characters for which credit is there or returns.
    pub fn total(&self, quantum: u32) -> u32 {
        self.count + self.returning.len() * quantum
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
    fn a_time_is_inserted_before_later_ones() {
        let mut times = Times::new();
        let given = [5, 9, 7, 3, 8, 4, 6, 3];
        given.iter().for_each(|&time| {
            times.insert(time);
        });
        let mut sorted = given;
        sorted.sort_unstable();
        assert_eq!(times.len(), 8);
        assert_eq!(sorted.map(|_| times.pop()), sorted);
        assert!(times.is_empty());
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
