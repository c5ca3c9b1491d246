//! The timing wheel: pending events by tick, with a heap for the far future.
//!
//! The events of a tick are a list of cells. A cell that has been read is the next to be written, so a few cells stay
//! in the cache and no event needs an allocation. The order of events within a tick is undefined; the caller must not
//! depend on it, because it depends on when they were scheduled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{NONE, Time};

/// Most events are less than this many ticks ahead: the end of a packet of 64 characters of a hundred ticks each.
const SLOTS: usize = 8192;
const WORDS: usize = SLOTS / 64;

/// An event in the list of its tick, or a free cell.
#[derive(Clone, Copy, Debug)]
struct Cell {
    event: u32,
    next: u32,
}

/// Pending events.
#[derive(Clone, Debug)]
pub struct Wheel {
    now: Time,
    cells: Vec<Cell>,
    /// First free cell.
    free: u32,
    /// First cell of the current tick.
    due: u32,
    heads: Box<[u32; SLOTS]>,
    occupied: [u64; WORDS],
    /// Words that are not empty, in two halves.
    words: [u64; 2],
    far: BinaryHeap<Reverse<(Time, u32)>>,
    /// Tick of the first event in the heap.
    far_first: Time,
}

impl Default for Wheel {
    /// A wheel at time -1, so that tick 0 can be scheduled.
    fn default() -> Self {
        Self {
            now: -1,
            cells: Vec::new(),
            free: NONE,
            due: NONE,
            heads: Box::new([NONE; SLOTS]),
            occupied: [0; WORDS],
            words: [0; 2],
            far: BinaryHeap::new(),
            far_first: Time::MAX,
        }
    }
}

impl Wheel {
    /// Returns the tick of the events taken last.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Adds an event, at a later tick than [`Wheel::now`].
    #[inline]
    pub fn schedule(&mut self, event: u32, time: Time) {
        debug_assert!(time > self.now, "an event at {time} is not after {}", self.now);
        if time - self.now < SLOTS as Time {
            self.insert(event, time);
        } else {
            self.insert_far(event, time);
        }
    }

    #[cold]
    #[inline(never)]
    fn insert_far(&mut self, event: u32, time: Time) {
        self.far.push(Reverse((time, event)));
        self.far_first = self.far_first.min(time);
    }

    #[inline]
    fn insert(&mut self, event: u32, time: Time) {
        let number = self.free;
        let Some(cell) = self.cells.get_mut(number as usize) else {
            return self.insert_more(event, time);
        };
        let slot = time as usize % SLOTS;
        self.free = cell.next;
        *cell = Cell { event, next: self.heads[slot] };
        self.heads[slot] = number;
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.words[slot / (SLOTS / 2)] |= 1 << (slot / 64 % 64);
    }

    /// Adds an event when no cell is free.
    #[cold]
    #[inline(never)]
    fn insert_more(&mut self, event: u32, time: Time) {
        self.free = self.cells.len() as u32;
        self.cells.push(Cell { event, next: NONE });
        self.insert(event, time);
    }

    /// Returns the tick of the next event, if any.
    #[inline]
    pub fn peek(&self) -> Option<Time> {
        match self.near() {
            Some(near) => Some(near.min(self.far_first)),
            None => (self.far_first < Time::MAX).then_some(self.far_first),
        }
    }

    /// Moves on to the tick that [`Wheel::peek`] returned; [`Wheel::pop`] then returns its events.
    #[inline]
    pub fn go_to(&mut self, time: Time) {
        debug_assert_eq!(self.peek(), Some(time));
        debug_assert_eq!(self.due, NONE, "events of {} are left", self.now);
        self.now = time;
        if self.far_first < time + SLOTS as Time {
            self.bring_near();
        }
        let slot = time as usize % SLOTS;
        self.due = std::mem::replace(&mut self.heads[slot], NONE);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        if self.occupied[slot / 64] == 0 {
            self.words[slot / (SLOTS / 2)] &= !(1 << (slot / 64 % 64));
        }
    }

    /// Takes an event of the current tick, if any is left.
    #[inline]
    pub fn pop(&mut self) -> Option<u32> {
        let number = self.due;
        let cell = self.cells.get_mut(number as usize)?;
        self.due = std::mem::replace(&mut cell.next, self.free);
        self.free = number;
        Some(cell.event)
    }

    /// Moves events of the heap that are near now into their slots.
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

    /// Returns the next occupied slot after `now`, cyclically.
    #[inline]
    fn near(&self) -> Option<Time> {
        if self.words == [0; 2] {
            return None;
        }
        let start = (self.now + 1) as usize % SLOTS;
        let (word, bit) = (start / 64, start % 64);
        let rest = self.occupied[word] & (!0 << bit);
        let slot = if rest != 0 {
            word * 64 + rest.trailing_zeros() as usize
        } else {
            let word = self.next_word(word);
            word * 64 + self.occupied[word].trailing_zeros() as usize
        };
        let ahead = (slot + SLOTS - start) % SLOTS;
        Some(self.now + 1 + ahead as Time)
    }

    /// Returns the next non-empty word after `word`, cyclically, itself last.
    #[inline]
    fn next_word(&self, word: usize) -> usize {
        let (half, other) = (word / 64, 1 - word / 64);
        let later = self.words[half] & (!0 << (word % 64) << 1);
        if later != 0 {
            half * 64 + later.trailing_zeros() as usize
        } else if self.words[other] != 0 {
            other * 64 + self.words[other].trailing_zeros() as usize
        } else {
            half * 64 + self.words[half].trailing_zeros() as usize
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The wheel returns events in the order of a binary heap, whatever is scheduled meanwhile.
        #[test]
        fn same_as_a_heap(delays in prop::collection::vec((1i64..20_000, 0usize..4), 1..200)) {
            let mut wheel = Wheel::default();
            let mut heap = BinaryHeap::new();
            let mut rest = delays.iter().enumerate();
            let mut due = Vec::new();
            for (event, &(delay, _)) in rest.by_ref().take(3) {
                wheel.schedule(event as u32, delay);
                heap.push(Reverse((delay, event as u32)));
            }
            while let Some(now) = wheel.peek() {
                wheel.go_to(now);
                due.extend(std::iter::from_fn(|| wheel.pop()));
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
