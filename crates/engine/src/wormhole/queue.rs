//! Times of successive characters on their way from one process to the next, as queues of straight runs.
//!
//! Between two changes of pace characters follow each other at equal steps, so the times of a whole
//! worm are a handful of runs. The process that works times out pushes them, the one that builds on them
//! takes them; each queue has one of either.

use crate::kernel::Time;

/// Characters `step` ticks apart, the first at `time`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// How many, at least one.
    pub count: u32,
    /// Ticks between them.
    pub step: u32,
    /// Tick of the first.
    pub time: Time,
}

impl Run {
    /// The same characters, each `delay` ticks later.
    #[inline]
    pub fn later(self, delay: u32) -> Self {
        Self { time: self.time + Time::from(delay), ..self }
    }

    /// Tick of the character at this position from the first.
    #[inline]
    pub fn at(&self, position: u32) -> Time {
        self.time + Time::from(position) * Time::from(self.step)
    }

    /// When a character `step` ticks behind the last one is due.
    #[inline]
    pub fn after(&self, step: u32) -> Time {
        self.at(self.count - 1) + Time::from(step)
    }
}

/// A time before every other.
pub const ALWAYS: Time = Time::MIN / 2;

/// Where the runs of one queue are kept.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    place: u32,
    head: u16,
    len: u16,
    /// One less than the room, which is a power of two.
    mask: u16,
}

/// Storage for the runs of all queues.
#[derive(Clone, Debug, Default)]
pub struct Runs(Vec<Run>);

/// Runs that a new queue has room for; it gets more when it needs them.
const ROOM: u16 = 4;

impl Queue {
    /// Whether nothing is known.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn index(&self, position: u16) -> usize {
        self.place as usize + usize::from(self.head.wrapping_add(position) & self.mask)
    }
}

impl Runs {
    /// An empty queue.
    pub fn queue(&mut self) -> Queue {
        let place = self.0.len() as u32;
        self.0.resize(self.0.len() + usize::from(ROOM), Run::default());
        Queue { place, head: 0, len: 0, mask: ROOM - 1 }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<Run>()
    }

    /// The first run of a queue that is not empty.
    #[inline]
    pub fn front(&self, queue: &Queue) -> Run {
        debug_assert!(queue.len > 0);
        self.0[queue.index(0)]
    }

    /// Takes characters of the first run, not more than it has.
    #[inline]
    pub fn take(&mut self, queue: &mut Queue, count: u32) {
        let front = &mut self.0[queue.index(0)];
        debug_assert!(queue.len > 0 && count <= front.count);
        if count == front.count {
            queue.head = queue.head.wrapping_add(1);
            queue.len -= 1;
        } else {
            front.time = front.at(count);
            front.count -= count;
        }
    }

    /// Time of the character at a position of the queue, or nothing if it is not known yet.
    pub fn at(&self, queue: &Queue, mut position: u32) -> Option<Time> {
        for n in 0..queue.len {
            let run = self.0[queue.index(n)];
            if position < run.count {
                return Some(run.at(position));
            }
            position -= run.count;
        }
        None
    }

    /// Appends a run, which begins no earlier than the last one ends.
    #[inline]
    pub fn push(&mut self, queue: &mut Queue, run: Run) {
        if queue.len > 0 {
            let at = queue.index(queue.len - 1);
            let last = &mut self.0[at];
            if (last.step == run.step || run.count == 1) && last.at(last.count) == run.time {
                last.count += run.count;
                return;
            }
            if last.count == 1 && run.time - last.time == Time::from(run.step) {
                last.step = run.step;
                last.count += run.count;
                return;
            }
            if queue.len > queue.mask {
                self.grow(queue);
            }
        }
        let at = queue.index(queue.len);
        self.0[at] = run;
        queue.len += 1;
    }

    #[cold]
    fn grow(&mut self, queue: &mut Queue) {
        let new = self.0.len();
        let runs: Vec<Run> = (0..queue.len).map(|n| self.0[queue.index(n)]).collect();
        let room = 2 * runs.len();
        self.0.extend(runs);
        self.0.resize(new + room, Run::default());
        queue.place = u32::try_from(new).expect("more than 2^32 runs");
        queue.head = 0;
        queue.mask = u16::try_from(room - 1).expect("a queue of more than 2^16 runs");
    }
}

/// The longest straight run of at most `most` characters that starts no earlier than `own` (and goes on at
/// `step`) and than all bounds. Each bound is a run of at least one character; the result is not longer.
#[inline]
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
        /// A queue gives back the times that were pushed, in order, however they are taken.
        #[test]
        fn first_in_first_out(
            runs in prop::collection::vec((1u32..5, 0u32..4, 0i64..9), 1..60),
            takes in prop::collection::vec(1u32..4, 400),
        ) {
            let mut store = Runs::default();
            let mut queue = store.queue();
            let (mut pushed, mut taken) = (Vec::new(), Vec::new());
            let mut takes = takes.into_iter();
            for (count, step, gap) in runs {
                let time = pushed.last().map_or(0, |last| last + gap);
                let run = Run { count, step, time };
                pushed.extend((0..count).map(|k| run.at(k)));
                store.push(&mut queue, run);
                prop_assert_eq!(store.at(&queue, (pushed.len() - taken.len()) as u32 - 1), pushed.last().copied());
                if step != 1 {
                    let front = store.front(&queue);
                    let count = takes.next().unwrap_or(1).min(front.count);
                    taken.extend((0..count).map(|k| front.at(k)));
                    store.take(&mut queue, count);
                }
            }
            while !queue.is_empty() {
                let front = store.front(&queue);
                taken.extend((0..front.count).map(|k| front.at(k)));
                store.take(&mut queue, front.count);
            }
            prop_assert_eq!(pushed, taken);
        }

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
}
