//! What a character needs before it moves on: a place in an output buffer, and credit for an input buffer, with the
//! times at which they return.

use super::state::UNKNOWN;
use super::times::{Run, Times};
use crate::kernel::Time;

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

    /// Takes the next place, for a character that returns it at a given time.
    #[inline(always)]
    pub fn pass_one(&mut self, time: Time) {
        if self.free > 0 {
            self.free -= 1;
            self.returning.push(time);
        } else {
            self.returning.replace_first(time);
        }
    }

    /// Returns when the next places are free, at equal steps, if there are any.
    #[inline(always)]
    pub fn run(&self) -> Run {
        if self.free > 0 { Run::new(0, 0, self.free) } else { self.returning.run() }
    }

    /// Takes the first ones of these.
    #[inline(always)]
    pub fn take_of_run(&mut self, count: u32) {
        if self.free > 0 { self.free -= count } else { self.returning.pop_of_run(count) }
    }

    /// Whether all places are there or return no later than these characters enter.
    pub fn are_in_time(&self, run: Run) -> bool {
        self.beyond == 0 && self.returning.are_by(run.after(run.at(self.free) - run.first))
    }

    /// Takes places for characters that all return, from a time on. `all`: the number of places.
    #[inline(always)]
    pub fn pass(&mut self, returning: Run, all: u32) {
        let count = returning.count();
        if count >= all {
            self.returning.clear();
            self.free = 0;
            return self.returning.push_run(Run::new(returning.at(count - all), returning.step.into(), all));
        }
        let mut left = count;
        while left > 0 {
            let some = self.run().count().min(left);
            self.take_of_run(some);
            left -= some;
        }
        self.returning.push_run(returning);
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

    /// Returns the places of characters.
    #[inline(always)]
    pub fn give_back_run(&mut self, run: Run) {
        if self.beyond > 0 {
            (0..run.count()).for_each(|index| self.give_back(run.at(index)));
        } else {
            self.returning.push_run(run);
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

    /// The same for one character in the middle of a packet, for which there is some.
    #[inline(always)]
    pub fn spend_one(&mut self, quantum: u32) {
        if self.count == 0 {
            self.returning.pop();
            self.count = quantum;
        }
        self.count -= 1;
    }

    /// Returns how many of these characters there is credit for when they start, if there is for the first one.
    #[inline(always)]
    pub fn in_time(&self, run: Run, quantum: u32) -> u32 {
        if self.count >= run.count() { run.count() } else { self.later_in_time(run, quantum) }
    }

    fn later_in_time(&self, run: Run, quantum: u32) -> u32 {
        let mut count = self.count;
        for back in self.returning.runs() {
            let slack = run.at(count) - back.first;
            if slack < 0 || count >= run.count() {
                break;
            }
            let wider = Time::from(back.step) - Time::from(run.step) * Time::from(quantum);
            let all = wider <= 0 || slack >= wider * Time::from(back.more);
            let quanta = if all { back.count() } else { (slack / wider) as u32 + 1 };
            count = count.saturating_add(quanta.saturating_mul(quantum));
            if !all {
                break;
            }
        }
        count.clamp(1, run.count())
    }

    /// Spends credit for characters for which there is some.
    #[inline(always)]
    pub fn spend_run(&mut self, count: u32, quantum: u32) {
        while self.count < count {
            let lacking = (count - self.count).div_ceil(quantum);
            let some = self.returning.run().count().min(lacking);
            self.returning.pop_of_run(some);
            self.count += some * quantum;
        }
        self.count -= count;
    }

    /// Adds quanta that arrive at these times, not before the others that are known.
    #[inline(always)]
    pub fn add_run(&mut self, run: Run) {
        self.returning.push_run(run);
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
    fn places_of_characters_that_pass_return_in_order() {
        let mut places = Places::new(3);
        places.pass(Run::new(10, 2, 2), 3);
        assert_eq!((places.next(), places.run().count()), (0, 1));
        assert!(places.are_in_time(Run::new(8, 2, 3)));
        assert!(!places.are_in_time(Run::new(7, 2, 3)));
        places.pass(Run::new(14, 2, 5), 3);
        assert_eq!(places.run(), Run::new(18, 2, 3));
    }

    #[test]
    fn credit_in_time_is_counted_by_quanta() {
        let mut credit = Credit::new(2);
        credit.add_run(Run::new(10, 4, 3));
        assert_eq!(credit.in_time(Run::new(0, 5, 9), 2), 8);
        assert_eq!(credit.in_time(Run::new(0, 4, 9), 2), 2);
        assert_eq!(credit.in_time(Run::new(6, 2, 9), 2), 8);
        credit.spend_run(7, 2);
        assert_eq!((credit.at(1, 2), credit.at(2, 2)), (0, UNKNOWN));
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
