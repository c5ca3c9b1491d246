//! Times of successive characters, or of quanta of credit, taken in order: queues of straight runs.
//!
//! Between two changes of pace characters follow each other at equal intervals, so the times of a whole worm are a few
//! runs. What computes times pushes them, and what uses them takes them, each once.

use std::collections::VecDeque;

use crate::kernel::Time;

/// Characters `step` ticks apart, the first at `time`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// How many; at least one where runs are stored, and 0 in a result if nothing can be sent.
    pub count: u32,
    /// Ticks between them.
    pub step: u32,
    /// Tick of the first.
    pub time: Time,
}

impl Run {
    /// Returns the same characters, each `delay` ticks later.
    #[inline]
    pub fn later(self, delay: u32) -> Self {
        Self { time: self.time + Time::from(delay), ..self }
    }

    /// Returns the tick of the character at this position from the first.
    #[inline]
    pub fn at(&self, position: u32) -> Time {
        self.time + Time::from(position) * Time::from(self.step)
    }

    /// Returns its characters before a tick, if there are any.
    pub fn before(self, tick: Time) -> Option<Self> {
        if self.time >= tick {
            return None;
        }
        let fit = (tick - 1 - self.time) / Time::from(self.step.max(1)) + 1;
        Some(Self { count: Time::from(self.count).min(fit) as u32, ..self })
    }

    /// Makes another run part of this one, if it continues it; returns whether it does.
    #[inline]
    fn absorbs(&mut self, run: Self) -> bool {
        let due = self.at(self.count);
        if (self.step == run.step || run.count == 1) && due == run.time {
            self.count += run.count;
            return true;
        }
        if self.count == 1 && run.time - self.time == Time::from(run.step) {
            self.step = run.step;
            self.count += run.count;
            return true;
        }
        false
    }

    /// Returns when a character `step` ticks after the last one is due.
    #[inline]
    pub fn after(&self, step: u32) -> Time {
        debug_assert!(self.count > 0);
        self.at(self.count - 1) + Time::from(step)
    }
}

/// A time before every other.
pub const ALWAYS: Time = Time::MIN / 2;

/// Runs that a queue stores in place; further ones are rare and stored separately.
const ROOM: u8 = 2;

/// A queue of runs.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    runs: [Run; ROOM as usize],
    head: u8,
    len: u8,
    /// The runs after those in place; boxed, because few queues have any.
    #[expect(clippy::box_collection)]
    rest: Option<Box<VecDeque<Run>>>,
}

impl Queue {
    /// Whether it is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn index(&self, position: u8) -> usize {
        usize::from(self.head.wrapping_add(position) % ROOM)
    }

    /// Returns the first run, if any.
    #[inline]
    pub fn front(&self) -> Option<Run> {
        (self.len > 0).then(|| self.runs[self.index(0)])
    }

    /// Returns all runs, the first one first.
    pub fn runs(&self) -> impl Iterator<Item = Run> {
        let rest = self.rest.iter().flat_map(|rest| rest.iter().copied());
        (0..self.len).map(|position| self.runs[self.index(position)]).chain(rest)
    }

    /// Returns the tick of the character at a position, which must exist.
    pub fn at(&self, position: u32) -> Time {
        let mut before = 0;
        let mut at = |run: Run| {
            let time = (position < before + run.count).then(|| run.at(position - before));
            before += run.count;
            time
        };
        self.runs().find_map(&mut at).expect("it is there")
    }

    /// Takes a number of characters, which must exist.
    pub fn take_all(&mut self, mut count: u32) {
        while count > 0 {
            let front = self.front().expect("it is there").count.min(count);
            self.take(front);
            count -= front;
        }
    }

    /// Takes characters of the first run, not more than it has.
    #[inline]
    pub fn take(&mut self, count: u32) {
        let at = self.index(0);
        let front = &mut self.runs[at];
        debug_assert!(self.len > 0 && count <= front.count);
        if count < front.count {
            front.time = front.at(count);
            front.count -= count;
            return;
        }
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
        if self.rest.is_some() {
            self.refill();
        }
    }

    #[cold]
    fn refill(&mut self) {
        if let Some(run) = self.rest.as_mut().and_then(|rest| rest.pop_front()) {
            self.runs[self.index(self.len)] = run;
            self.len += 1;
        }
    }

    /// Appends a run of at least one character, which begins no earlier than the last one ends.
    #[inline]
    pub fn push(&mut self, run: Run) {
        debug_assert!(run.count > 0);
        if self.len > 0 {
            if self.rest.as_ref().is_some_and(|rest| !rest.is_empty()) {
                return self.push_rest(run.count, run.step, run.time);
            }
            let at = self.index(self.len - 1);
            if self.runs[at].absorbs(run) {
                return;
            }
            if self.len == ROOM {
                return self.push_rest(run.count, run.step, run.time);
            }
        }
        let at = self.index(self.len);
        self.runs[at] = run;
        self.len += 1;
    }

    #[cold]
    fn push_rest(&mut self, count: u32, step: u32, time: Time) {
        let run = Run { count, step, time };
        let rest = self.rest.get_or_insert_default();
        if !rest.back_mut().is_some_and(|last| last.absorbs(run)) {
            rest.push_back(run);
        }
    }
}

/// Returns the longest straight run of at most `most` characters that start as early as their limits allow: the run
/// from `own` on at `step`, and all bounds. Each bound is a run of at least one character; the result is no longer than
/// any.
#[inline(always)]
pub fn follow<const N: usize>(most: u32, own: Time, step: u32, bounds: [Run; N]) -> Run {
    let mut run = Run { count: most, step, time: own };
    for bound in &bounds {
        run.count = run.count.min(bound.count);
        if bound.time > run.time {
            run.time = bound.time;
            run.step = step.max(bound.step);
        } else if bound.time == run.time {
            run.step = run.step.max(bound.step);
        }
    }
    for bound in &bounds {
        // A steeper bound may overtake this run further on: stop where it does.
        if bound.step > run.step && bound.at(run.count - 1) > run.at(run.count - 1) {
            let (behind, gain) = (run.time - bound.time, bound.step - run.step);
            let keeps = match u32::try_from(behind) {
                Ok(behind) => behind / gain,
                Err(_) => (behind / Time::from(gain)) as u32,
            };
            run.count = keeps + 1;
        }
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Following bounds run by run gives the same times as taking the maximum character by character.
        #[test]
        fn follows_the_maximum(
            own in 0i64..50, step in 0u32..4,
            a in (0i64..60, 0u32..5, 1u32..30), b in (0i64..60, 0u32..5, 1u32..30),
        ) {
            let bounds = [a, b].map(|(time, step, count)| Run { count, step, time });
            let count = a.2.min(b.2);
            let mut plain = Vec::new();
            for n in 0..count {
                let own = plain.last().map_or(own, |last| last + i64::from(step));
                plain.push(own.max(bounds[0].at(n)).max(bounds[1].at(n)));
            }
            let mut ours = Vec::new();
            while (ours.len() as u32) < count {
                let done = ours.len() as u32;
                let rest = bounds.map(|r| Run { count: r.count - done, step: r.step, time: r.at(done) });
                let own = ours.last().map_or(own, |last| last + i64::from(step));
                let run = follow(count - done, own, step, rest);
                prop_assert!(run.count > 0);
                ours.extend((0..run.count).map(|k| run.at(k)));
            }
            prop_assert_eq!(plain, ours);
        }
    }

    /// Everything that seven steps can do to a queue whose place in the row of two is about to begin again at 0.
    #[test]
    fn no_place_stands_for_two_runs() {
        fn go(queue: &Queue, plain: &VecDeque<Time>, steps: usize) {
            for what in 0..8 {
                let (mut queue, mut plain) = (queue.clone(), plain.clone());
                let last = plain.back().copied().unwrap_or(3);
                match (what, queue.front()) {
                    (0..5, _) => {
                        let run =
                            Run { count: 1 + what / 2, step: what % 2, time: last + Time::from(what % 3) };
                        queue.push(run);
                        plain.extend((0..run.count).map(|at| run.at(at)));
                    }
                    (5, Some(_)) => {
                        queue.take(1);
                        plain.pop_front();
                    }
                    (6, Some(front)) => {
                        queue.take(front.count);
                        plain.drain(..front.count as usize);
                    }
                    (7, Some(_)) => {
                        queue.take_all(plain.len() as u32 - 1);
                        plain.drain(..plain.len() - 1);
                    }
                    _ => continue,
                }
                let all = queue.runs().flat_map(|run| (0..run.count).map(move |at| run.at(at)));
                assert!(all.eq(plain.iter().copied()), "{queue:?}: {plain:?}");
                assert!((0u32..).zip(&plain).all(|(at, &time)| queue.at(at) == time));
                assert_eq!(queue.is_empty(), plain.is_empty());
                if steps > 1 {
                    go(&queue, &plain, steps - 1);
                }
            }
        }
        go(&Queue { head: u8::MAX - 1, ..Queue::default() }, &VecDeque::new(), 7);
    }
}
