//! Times in the order in which they are used, as runs at equal steps.

use std::collections::VecDeque;

use super::state::UNKNOWN;
use crate::kernel::Time;

/// Times at equal steps: `first`, and `more` after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub first: Time,
    pub step: u32,
    pub more: u32,
}

impl Run {
    /// Returns one time.
    pub fn one(time: Time) -> Self {
        Self { first: time, step: 0, more: 0 }
    }

    /// Returns a number of times. The step is the pace of a wire or crossbar, which is no longer than 32 bits.
    #[inline(always)]
    pub fn new(first: Time, step: Time, count: u32) -> Self {
        Self { first, step: step as u32, more: count - 1 }
    }

    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.more + 1
    }

    /// Returns the one at an index.
    #[inline(always)]
    pub fn at(&self, index: u32) -> Time {
        self.first + Time::from(self.step) * Time::from(index)
    }

    #[inline(always)]
    pub fn last(&self) -> Time {
        self.at(self.more)
    }

    /// Returns the same a time later.
    #[inline(always)]
    pub fn after(self, later: Time) -> Self {
        Self { first: self.first + later, ..self }
    }

    /// Returns how many of its characters go on if the first does and none is before one of these times: where they stand
    /// at a time that binds with a wider step, one.
    #[inline(always)]
    pub fn not_before(&self, other: Run) -> u32 {
        let count = self.count().min(other.count());
        let (slack, wider) = (self.first - other.first, Time::from(other.step) - Time::from(self.step));
        if wider <= 0 || slack >= wider * Time::from(count - 1) { count } else { (slack / wider) as u32 + 1 }
    }

    /// Goes on with the steps of others that begin with it, if these are wider.
    #[inline(always)]
    pub fn widen(&mut self, other: Run) {
        if other.first == self.first && other.more > 0 {
            self.step = self.step.max(other.step);
        }
    }

    /// Adds a time if it continues these; returns whether it did.
    #[inline(always)]
    fn goes_on(&mut self, time: Time) -> bool {
        let step = (time - self.last()) as u64;
        let goes_on = if self.more == 0 { step <= u32::MAX.into() } else { step == u64::from(self.step) };
        if goes_on {
            (self.step, self.more) = (step as u32, self.more + 1);
        }
        goes_on
    }

    /// Keeps the first ones, this many at most.
    #[inline(always)]
    pub fn keep(&mut self, count: u32) {
        self.more = self.more.min(count - 1);
    }

    /// Keeps the first one and those that are before a time.
    #[inline(always)]
    pub fn keep_before(&mut self, end: Time) {
        if self.last() >= end && self.more > 0 {
            self.more = ((end - 1 - self.first).max(0) / Time::from(self.step).max(1)) as u32;
        }
    }
}

/// Times in the order in which they are used, in runs. Where buffers are short or lanes alternate there is mostly one, and
/// nearly all questions are for the first.
#[derive(Clone, Debug)]
pub(super) struct Times {
    /// The first ones; [`UNKNOWN`] if there is none.
    run: Run,
    rest: VecDeque<Run>,
}

impl Times {
    pub fn new() -> Self {
        Self { run: Run::one(UNKNOWN), rest: VecDeque::new() }
    }

    /// Returns the first one, [`UNKNOWN`] if there is none.
    #[inline(always)]
    pub fn first(&self) -> Time {
        self.run.first
    }

    /// Returns the first ones, which are at equal steps, if there is one.
    #[inline(always)]
    pub fn run(&self) -> Run {
        self.run
    }

    /// Returns all of them.
    pub fn runs(&self) -> impl Iterator<Item = Run> {
        let first = (!self.is_empty()).then_some(self.run);
        first.into_iter().chain(self.rest.iter().copied())
    }

    /// Returns the one at an index, [`UNKNOWN`] if there are not as many.
    pub fn get(&self, mut index: u32) -> Time {
        for run in self.runs() {
            if index < run.count() {
                return run.at(index);
            }
            index -= run.count();
        }
        UNKNOWN
    }

    pub fn last(&self) -> Option<Time> {
        self.runs().last().map(|run| run.last())
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.run.first == UNKNOWN
    }

    pub fn len(&self) -> u32 {
        self.runs().map(|run| run.count()).sum()
    }

    /// Whether each is no later than that of its number in a run, however long that is.
    #[inline(always)]
    pub fn are_by(&self, run: Run) -> bool {
        let mut number = 0;
        self.runs().all(|own| {
            let first = number;
            number += own.count();
            // The first and the last one of each run.
            own.first <= run.at(first) && own.last() <= run.at(first + own.more)
        })
    }

    /// Adds a time: to the first run if it continues that, as it does where buffers are short and no lanes alternate.
    #[inline(always)]
    pub fn push(&mut self, time: Time) {
        let run = &mut self.run;
        if run.first == UNKNOWN {
            run.first = time;
        } else if !self.rest.is_empty() || !run.goes_on(time) {
            self.rest.push_back(Run::one(time));
        }
    }

    /// Adds times at equal steps, to the last run if they continue it.
    #[inline(always)]
    pub fn push_run(&mut self, run: Run) {
        if self.is_empty() {
            self.run = run;
            return;
        }
        let last = self.rest.back_mut().unwrap_or(&mut self.run);
        let step = run.first.wrapping_sub(last.last());
        let continues = |one: &Run| one.more == 0 || Time::from(one.step) == step;
        if continues(last) && continues(&run) && u32::try_from(step).is_ok() {
            (last.step, last.more) = (step as u32, last.more + run.count());
        } else {
            self.rest.push_back(run);
        }
    }

    /// Adds a time before those that are later; returns whether there were any.
    pub fn insert(&mut self, time: Time) -> bool {
        if self.last().is_none_or(|last| last <= time) {
            self.push(time);
            return false;
        }
        let mut times: Vec<_> =
            self.runs().flat_map(|run| (0..run.count()).map(move |index| run.at(index))).collect();
        times.insert(times.partition_point(|&other| other <= time), time);
        self.clear();
        times.into_iter().for_each(|time| self.push(time));
        true
    }

    /// Takes the first one.
    #[inline(always)]
    pub fn pop(&mut self) -> Time {
        let first = self.run.first;
        self.pop_of_run(1);
        first
    }

    /// Takes the first one, and adds one.
    #[inline(always)]
    pub fn replace_first(&mut self, time: Time) {
        self.pop();
        self.push(time);
    }

    /// Takes the first ones of the first run.
    #[inline(always)]
    pub fn pop_of_run(&mut self, count: u32) {
        if count <= self.run.more {
            (self.run.first, self.run.more) = (self.run.at(count), self.run.more - count);
        } else {
            self.run = self.rest.pop_front().unwrap_or(Run::one(UNKNOWN));
        }
    }

    pub fn pop_last(&mut self) {
        let last = self.rest.back_mut().unwrap_or(&mut self.run);
        if last.more > 0 {
            last.more -= 1;
        } else if self.rest.pop_back().is_none() {
            self.run.first = UNKNOWN;
        }
    }

    pub fn clear(&mut self) {
        self.run = Run::one(UNKNOWN);
        self.rest.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_stops_where_a_wider_one_is_later() {
        let run = Run::new(10, 2, 9);
        assert_eq!(run.not_before(Run::new(10, 3, 9)), 1);
        assert_eq!(run.not_before(Run::new(7, 3, 9)), 4);
        assert_eq!(run.not_before(Run::new(1, 3, 5)), 5);
        let mut run = run;
        run.keep_before(15);
        assert_eq!(run.last(), 14);
    }

    #[test]
    fn times_that_follow_are_one_run_and_are_taken_one_by_one() {
        let mut times = Times::new();
        times.push(3);
        times.push_run(Run::new(10, 2, 3));
        times.push_run(Run::new(16, 2, 2));
        times.push(30);
        assert_eq!((times.runs().count(), times.len(), times.last()), (3, 7, Some(30)));
        times.pop_last();
        times.pop_last();
        let taken: Vec<_> = (0..5).map(|_| times.pop()).collect();
        assert_eq!(taken, [3, 10, 12, 14, 16]);
        assert_eq!(times.pop(), UNKNOWN);
    }

    #[test]
    fn times_are_compared_with_those_of_the_same_numbers() {
        let mut times = Times::new();
        assert!(times.are_by(Run::one(0)));
        times.push_run(Run::new(10, 2, 3));
        assert!(times.are_by(Run::new(10, 2, 1)) && !times.are_by(Run::new(10, 1, 9)));
        times.push(15);
        assert!(times.are_by(Run::new(10, 2, 1)));
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
}
