//! The timing wheel: pending events by tick, with a heap for the far future.
//!
//! An event is a number below a fixed count and is pending at most once, so the lists of the wheel are
//! intrusive and nothing is allocated per event. Events of one tick come out together; their order is
//! the caller's business, for it must not depend on when they were scheduled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Time;

const SLOTS: usize = 4096;
const WORDS: usize = SLOTS / 64;
const NONE: u32 = u32::MAX;

/// Pending events.
#[derive(Clone, Debug)]
pub struct Wheel {
    now: Time,
    heads: Box<[u32; SLOTS]>,
    next: Vec<u32>,
    occupied: [u64; WORDS],
    words: u64,
    far: BinaryHeap<Reverse<(Time, u32)>>,
    /// The tick of the first of them.
    far_first: Time,
}

impl Wheel {
    /// A wheel at time -1, so that tick 0 can be scheduled, for events numbered below `events`.
    pub fn new(events: usize) -> Self {
        Self {
            now: -1,
            heads: Box::new([NONE; SLOTS]),
            next: vec![NONE; events],
            occupied: [0; WORDS],
            words: 0,
            far: BinaryHeap::new(),
            far_first: Time::MAX,
        }
    }

    /// The tick of the events taken last.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Adds an event that is not pending, at a later tick than [`Wheel::now`].
    #[inline]
    pub fn schedule(&mut self, event: u32, time: Time) {
        debug_assert!(time > self.now, "an event at {time} is not after {}", self.now);
        if time - self.now < SLOTS as Time {
            self.insert(event, time);
        } else {
            self.far.push(Reverse((time, event)));
            self.far_first = self.far_first.min(time);
        }
    }

    #[inline]
    fn insert(&mut self, event: u32, time: Time) {
        let slot = time as usize % SLOTS;
        self.next[event as usize] = self.heads[slot];
        self.heads[slot] = event;
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.words |= 1 << (slot / 64);
    }

    /// The tick of the next event, if there is one.
    #[inline]
    pub fn peek(&self) -> Option<Time> {
        match self.near() {
            Some(near) => Some(near.min(self.far_first)),
            None => (self.far_first < Time::MAX).then_some(self.far_first),
        }
    }

    /// Takes the events of the next tick, as given by [`Wheel::peek`]; returns the first, [`Wheel::after`]
    /// knows the others.
    #[inline]
    pub fn take(&mut self, time: Time) -> Option<u32> {
        debug_assert_eq!(self.peek(), Some(time));
        self.now = time;
        if self.far_first < time + SLOTS as Time {
            self.bring_near();
        }
        let slot = time as usize % SLOTS;
        let first = std::mem::replace(&mut self.heads[slot], NONE);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        if self.occupied[slot / 64] == 0 {
            self.words &= !(1 << (slot / 64));
        }
        (first != NONE).then_some(first)
    }

    /// The event after one that was taken, as long as that has not been scheduled again.
    #[inline]
    pub fn after(&self, event: u32) -> Option<u32> {
        Some(self.next[event as usize]).filter(|&next| next != NONE)
    }

    /// Moves events of the far future that have come near into their slots.
    #[cold]
    fn bring_near(&mut self) {
        while let Some(&Reverse((time, event))) = self.far.peek() {
            self.far_first = time;
            if time >= self.now + SLOTS as Time {
                return;
            }
            self.far.pop();
            self.insert(event, time);
        }
        self.far_first = Time::MAX;
    }

    /// The next occupied slot after `now`, going round once.
    #[inline]
    fn near(&self) -> Option<Time> {
        if self.words == 0 {
            return None;
        }
        let start = (self.now + 1) as usize % SLOTS;
        let (word, bit) = (start / 64, start % 64);
        let rest = self.occupied[word] & (!0 << bit);
        let slot = if rest != 0 {
            word * 64 + rest.trailing_zeros() as usize
        } else {
            // Words after this one first, then round to the ones before it and the low bits of this one.
            let later = if word == 63 { 0 } else { self.words & (!0 << (word + 1)) };
            let word = if later != 0 { later } else { self.words }.trailing_zeros() as usize;
            word * 64 + self.occupied[word].trailing_zeros() as usize
        };
        let ahead = (slot + SLOTS - start) % SLOTS;
        Some(self.now + 1 + ahead as Time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The wheel gives the events of a binary heap, whatever is scheduled while it runs.
        #[test]
        fn same_as_a_heap(delays in prop::collection::vec((1i64..20_000, 0usize..4), 1..200)) {
            let mut wheel = Wheel::new(delays.len());
            let mut heap = BinaryHeap::new();
            let mut rest = delays.iter().enumerate();
            let mut due = Vec::new();
            for (event, &(delay, _)) in rest.by_ref().take(3) {
                wheel.schedule(event as u32, delay);
                heap.push(Reverse((delay, event as u32)));
            }
            while let Some(now) = wheel.peek() {
                let mut next = wheel.take(now);
                while let Some(event) = next {
                    due.push(event);
                    next = wheel.after(event);
                }
                due.sort_unstable();
                for event in due.drain(..) {
                    prop_assert_eq!(heap.pop(), Some(Reverse((now, event))));
                }
                let more = rest.next().map_or(0, |(event, &(delay, more))| {
                    wheel.schedule(event as u32, now + delay);
                    heap.push(Reverse((now + delay, event as u32)));
                    more
                });
                for (event, &(delay, _)) in rest.by_ref().take(more) {
                    wheel.schedule(event as u32, now + delay);
                    heap.push(Reverse((now + delay, event as u32)));
                }
            }
            prop_assert!(heap.is_empty());
        }
    }
}
