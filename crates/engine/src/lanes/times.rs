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
    /// The others: those from `begin` to before `end`, each at the place of its number modulo the length, a power of two.
    /// A time that is not negated stands alone, another one begins a run: [`Times::beginning`].
    rest: Vec<Time>,
    begin: u32,
    end: u32,
    /// Step of each of these runs, and how many follow.
    shapes: VecDeque<(u32, u32)>,
}

impl Times {
    pub fn new() -> Self {
        Self { run: Run::one(UNKNOWN), rest: Vec::new(), begin: 0, end: 0, shapes: VecDeque::new() }
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

    #[inline(always)]
    fn rest_at(&mut self, number: u32) -> &mut Time {
        let place = number as usize & (self.rest.len() - 1);
        &mut self.rest[place]
    }

    /// Returns what stands for a run that begins at a time, or the time of what does.
    #[inline(always)]
    fn beginning(time: Time) -> Time {
        !time
    }

    /// Returns all of them.
    pub fn runs(&self) -> impl Iterator<Item = Run> {
        let first = (!self.is_empty()).then_some(self.run);
        let mut shapes = self.shapes.iter();
        let rest = (0..self.end.wrapping_sub(self.begin)).map(move |index| {
            let time = self.rest[self.begin.wrapping_add(index) as usize & (self.rest.len() - 1)];
            let shape = if time < 0 { shapes.next() } else { None };
            shape.map_or(Run::one(time), |&(step, more)| Run { first: Self::beginning(time), step, more })
        });
        first.into_iter().chain(rest)
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

    #[inline(always)]
    pub fn len(&self) -> u32 {
        if self.begin != self.end {
            self.runs().map(|run| run.count()).sum()
        } else if self.is_empty() {
            0
        } else {
            self.run.count()
        }
    }

    /// Whether each is no later than that of its number in a run, however long that is.
    #[inline(always)]
    pub fn are_by(&self, run: Run) -> bool {
        // The first and the last one of each run.
        let both = |own: Run, number| own.first <= run.at(number) && own.last() <= run.at(number + own.more);
        if self.begin == self.end {
            return self.is_empty() || both(self.run, 0);
        }
        let mut number = 0;
        self.runs().all(|own| {
            let first = number;
            number += own.count();
            both(own, first)
        })
    }

    /// Adds a time, where lanes alternate: then they are rarely at equal steps.
    #[inline(always)]
    pub fn push(&mut self, time: Time) {
        if self.run.first == UNKNOWN {
            self.run.first = time;
            return;
        }
        if self.end.wrapping_sub(self.begin) as usize == self.rest.len() {
            self.grow();
        }
        *self.rest_at(self.end) = time;
        self.end = self.end.wrapping_add(1);
    }

    /// Adds times at equal steps, to the last run if they continue it.
    #[inline(always)]
    pub fn push_run(&mut self, run: Run) {
        if self.run.first == UNKNOWN {
            self.run = run;
            return;
        }
        let mut last = self.last_run();
        let step = run.first.wrapping_sub(last.last());
        let continues = |one: &Run| one.more == 0 || Time::from(one.step) == step;
        if continues(&last) && continues(&run) && u32::try_from(step).is_ok() {
            (last.step, last.more) = (step as u32, last.more + run.count());
            self.set_last_run(last);
        } else {
            self.push(run.first);
            if run.more > 0 {
                self.set_last_run(run);
            }
        }
    }

    /// Returns the last ones, which may be the first ones.
    #[inline(always)]
    fn last_run(&mut self) -> Run {
        if self.begin == self.end {
            return self.run;
        }
        let time = *self.rest_at(self.end.wrapping_sub(1));
        match self.shapes.back() {
            Some(&(step, more)) if time < 0 => Run { first: Self::beginning(time), step, more },
            _ => Run::one(time),
        }
    }

    /// Replaces them by others that begin at the same time.
    #[inline(always)]
    fn set_last_run(&mut self, run: Run) {
        if self.begin == self.end {
            self.run = run;
            return;
        }
        let last = self.rest_at(self.end.wrapping_sub(1));
        let was_run = *last < 0;
        *last = if run.more > 0 { Self::beginning(run.first) } else { run.first };
        if was_run {
            self.shapes.pop_back();
        }
        if run.more > 0 {
            self.shapes.push_back((run.step, run.more));
        }
    }

    /// Makes room for more.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let count = self.end.wrapping_sub(self.begin);
        let rest: Vec<_> = (0..count).map(|index| *self.rest_at(self.begin.wrapping_add(index))).collect();
        (self.begin, self.end) = (0, count);
        self.rest = rest;
        self.rest.resize((2 * self.rest.len()).max(4), UNKNOWN);
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
        if self.run.more > 0 {
            (self.run.first, self.run.more) = (self.run.at(1), self.run.more - 1);
        } else {
            self.next_run();
        }
        first
    }

    /// Takes the first one, and adds one.
    #[inline(always)]
    pub fn replace_first(&mut self, time: Time) {
        if self.run.more == 0 && self.begin == self.end {
            self.run.first = time;
        } else {
            self.pop();
            self.push(time);
        }
    }

    /// Takes the first ones of the first run.
    #[inline(always)]
    pub fn pop_of_run(&mut self, count: u32) {
        if count <= self.run.more {
            (self.run.first, self.run.more) = (self.run.at(count), self.run.more - count);
        } else {
            self.run.more = 0;
            self.next_run();
        }
    }

    /// Goes on to the next run after one time.
    #[inline(always)]
    fn next_run(&mut self) {
        if self.begin == self.end {
            self.run.first = UNKNOWN;
            return;
        }
        let next = *self.rest_at(self.begin);
        self.begin = self.begin.wrapping_add(1);
        self.run.first = next;
        if next < 0 {
            let (step, more) = self.shapes.pop_front().unwrap_or_default();
            self.run = Run { first: Self::beginning(next), step, more };
        }
    }

    pub fn pop_last(&mut self) {
        let mut last = self.last_run();
        if last.more > 0 {
            last.more -= 1;
            self.set_last_run(last);
        } else if self.begin == self.end {
            self.run.first = UNKNOWN;
        } else {
            self.end = self.end.wrapping_sub(1);
        }
    }

    pub fn clear(&mut self) {
        (self.run, self.begin, self.end) = (Run::one(UNKNOWN), 0, 0);
        self.shapes.clear();
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

    /// Does one of some things to times, and to a plain list of them.
    fn act(times: &mut Times, plain: &mut VecDeque<Time>, what: u32) {
        let last = plain.back().copied().unwrap_or(5);
        match what {
            0 | 1 => {
                times.push(last + Time::from(what));
                plain.push_back(last + Time::from(what));
            }
            2..=4 => {
                let run = Run::new(last + 1, Time::from(what) - 2, what);
                times.push_run(run);
                plain.extend((0..run.count()).map(|index| run.at(index)));
            }
            5 => assert_eq!(times.pop(), plain.pop_front().unwrap_or(UNKNOWN)),
            6 => {
                times.replace_first(last + 2);
                plain.pop_front();
                plain.push_back(last + 2);
            }
            7 => {
                times.pop_last();
                plain.pop_back();
            }
            8 | 9 if !times.is_empty() => {
                let count = if what == 8 { 1 } else { times.run().count() };
                times.pop_of_run(count);
                plain.drain(..count as usize);
            }
            10 => {
                let time = last - 1;
                let place = plain.partition_point(|&other| other <= time);
                assert_eq!(times.insert(time), place < plain.len());
                plain.insert(place, time);
            }
            _ => {}
        }
    }

    /// Everything that five steps can do to none, one or eight times, whose numbers are about to begin again at 0.
    #[test]
    fn no_place_stands_for_two_times() {
        fn go(times: &Times, plain: &VecDeque<Time>, steps: usize) {
            for what in 0..11 {
                let (mut times, mut plain) = (times.clone(), plain.clone());
                act(&mut times, &mut plain, what);
                let all = times.runs().flat_map(|run| (0..run.count()).map(move |index| run.at(index)));
                assert!(all.eq(plain.iter().copied()), "{times:?}: {plain:?}");
                assert_eq!((times.len() as usize, times.last()), (plain.len(), plain.back().copied()));
                assert_eq!(times.first(), plain.front().copied().unwrap_or(UNKNOWN));
                assert_eq!(times.get(plain.len() as u32), UNKNOWN);
                if steps > 1 {
                    go(&times, &plain, steps - 1);
                }
            }
        }
        for count in [0, 1, 8] {
            let (mut times, mut plain) = (Times::new(), VecDeque::new());
            (times.begin, times.end) = (u32::MAX - 2, u32::MAX - 2);
            (0..count).for_each(|step| act(&mut times, &mut plain, step % 4));
            go(&times, &plain, 5);
        }
    }
}
