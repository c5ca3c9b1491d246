//! Pending events when ticks are much shorter than the time between them: a timing wheel for the present, and lists
//! of later stretches of time that are put on the wheel when they are near.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Time;
use super::wheel::Wheel;

/// Ticks of a stretch. The wheel holds this one and the next.
const STRETCH: Time = 2048;
/// Stretches that have a list; what is later still stands in a heap.
const STRETCHES: usize = 4096;
const WORDS: usize = STRETCHES / 64;
const NONE: u32 = u32::MAX;

/// Pending events.
#[derive(Clone, Debug)]
pub struct Calendar {
    wheel: Wheel,
    /// Stretch of the tick taken last.
    stretch: Time,
    heads: Vec<u32>,
    occupied: [u64; WORDS],
    next: Vec<u32>,
    when: Vec<Time>,
    far: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Calendar {
    /// A calendar at time -1, so that tick 0 can be scheduled, for events numbered below `events`.
    pub fn new(events: usize) -> Self {
        Self {
            wheel: Wheel::default(),
            stretch: 0,
            heads: vec![NONE; STRETCHES],
            occupied: [0; WORDS],
            next: vec![NONE; events],
            when: vec![0; events],
            far: BinaryHeap::new(),
        }
    }

    /// Adds an event that is not pending, at a later tick than that taken last.
    #[inline]
    pub fn schedule(&mut self, event: u32, time: Time) {
        let ahead = time / STRETCH - self.stretch;
        if ahead < 2 {
            self.wheel.schedule(event, time);
        } else if ahead < STRETCHES as Time {
            self.list(event, time);
        } else {
            self.far.push(Reverse((time, event)));
        }
    }

    #[inline]
    fn list(&mut self, event: u32, time: Time) {
        let slot = (time / STRETCH) as usize % STRETCHES;
        self.when[event as usize] = time;
        self.next[event as usize] = self.heads[slot];
        self.heads[slot] = event;
        self.occupied[slot / 64] |= 1 << (slot % 64);
    }

    /// The tick of the next event, if there is one.
    #[inline]
    pub fn peek(&self) -> Option<Time> {
        // What is on the wheel comes before all that is listed, and that before what is far.
        self.wheel.peek().or_else(|| self.first_listed())
    }

    #[cold]
    fn first_listed(&self) -> Option<Time> {
        let Some(stretch) = self.next_stretch() else {
            return self.far.peek().map(|&Reverse((time, _))| time);
        };
        let mut event = self.heads[stretch as usize % STRETCHES];
        let mut first = Time::MAX;
        while event != NONE {
            first = first.min(self.when[event as usize]);
            event = self.next[event as usize];
        }
        Some(first)
    }

    /// The first stretch that has a list.
    fn next_stretch(&self) -> Option<Time> {
        let start = self.stretch as usize % STRETCHES;
        let words = (0..=WORDS).map(|step| (start / 64 + step) % WORDS);
        for (step, word) in words.enumerate() {
            let mask = match step {
                0 => !0 << (start % 64),
                WORDS => !(!0 << (start % 64)),
                _ => !0,
            };
            let bits = self.occupied[word] & mask;
            if bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                return Some(self.stretch + ((slot + STRETCHES - start) % STRETCHES) as Time);
            }
        }
        None
    }

    /// Takes all events of the next tick, as given by [`Calendar::peek`], into `due`.
    #[inline]
    pub fn take(&mut self, time: Time, due: &mut Vec<u32>) {
        if time / STRETCH != self.stretch {
            self.turn(time / STRETCH);
        }
        self.wheel.go_to(time);
        while let Some(event) = self.wheel.pop() {
            due.push(event);
        }
    }

    /// Goes on to a stretch: puts what is in it and in the next one on the wheel.
    fn turn(&mut self, stretch: Time) {
        while let Some(first) = self.next_stretch().filter(|&first| first <= stretch + 1) {
            let slot = first as usize % STRETCHES;
            let mut event = std::mem::replace(&mut self.heads[slot], NONE);
            self.occupied[slot / 64] &= !(1 << (slot % 64));
            while event != NONE {
                self.wheel.schedule(event, self.when[event as usize]);
                event = self.next[event as usize];
            }
        }
        self.stretch = stretch;
        while let Some(&Reverse((time, event))) = self.far.peek() {
            if time / STRETCH - stretch >= STRETCHES as Time {
                break;
            }
            self.far.pop();
            self.schedule(event, time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The calendar gives the events of a binary heap, whatever is scheduled while it runs.
        #[test]
        fn same_as_a_heap(
            delays in prop::collection::vec((1i64..20_000, 0u32..12, 0usize..4), 1..300)
        ) {
            let mut calendar = Calendar::new(delays.len());
            let mut heap = BinaryHeap::new();
            let mut rest = delays.iter().enumerate();
            let mut due = Vec::new();
            let mut now = -1;
            loop {
                let more = if now < 0 { 3 } else { delays[due.len() % delays.len()].2 + 1 };
                for (event, &(delay, shift, _)) in rest.by_ref().take(more) {
                    let time = now + (delay << shift);
                    calendar.schedule(event as u32, time);
                    heap.push(Reverse((time, event as u32)));
                }
                let Some(next) = calendar.peek() else { break };
                now = next;
                due.clear();
                calendar.take(now, &mut due);
                due.sort_unstable();
                for &event in &due {
                    prop_assert_eq!(heap.pop(), Some(Reverse((now, event))));
                }
                prop_assert!(heap.peek().is_none_or(|&Reverse((time, _))| time > now));
            }
            prop_assert!(heap.is_empty());
        }
    }
}
