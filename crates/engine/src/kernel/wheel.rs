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
    heads: Vec<u32>,
    next: Vec<u32>,
    occupied: [u64; WORDS],
    words: u64,
    far: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Wheel {
    /// A wheel at time -1, so that tick 0 can be scheduled, for events numbered below `events`.
    pub fn new(events: usize) -> Self {
        Self {
            now: -1,
            heads: vec![NONE; SLOTS],
            next: vec![NONE; events],
            occupied: [0; WORDS],
            words: 0,
            far: BinaryHeap::new(),
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
        let far = self.far.peek().map(|&Reverse((time, _))| time);
        match (self.near(), far) {
            (Some(near), Some(far)) => Some(near.min(far)),
            (near, far) => near.or(far),
        }
    }

    /// Takes all events of the next tick, as given by [`Wheel::peek`], into `due`.
    #[inline]
    pub fn take(&mut self, time: Time, due: &mut Vec<u32>) {
        debug_assert_eq!(self.peek(), Some(time));
        self.now = time;
        while let Some(&Reverse((far, event))) = self.far.peek() {
            if far - time >= SLOTS as Time {
                break;
            }
            self.far.pop();
            self.insert(event, far);
        }
        let slot = time as usize % SLOTS;
        let mut event = self.heads[slot];
        while event != NONE {
            due.push(event);
            event = self.next[event as usize];
        }
        self.heads[slot] = NONE;
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        if self.occupied[slot / 64] == 0 {
            self.words &= !(1 << (slot / 64));
        }
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
                wheel.take(now, &mut due);
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
