//! Pending events when ticks are much shorter than the time between them: buckets of ticks, each put in order when
//! its time has come.
//!
//! Buckets are made longer or shorter while the calendar runs, so that there are few events in each and few that
//! are empty, whatever a tick is and however large the network. What is further ahead than there are buckets
//! stands in a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{NONE, Time};

/// Fewest and most buckets.
const LEAST: usize = 1 << 10;
const MOST: usize = 1 << 16;
/// After so many events the length of buckets is judged.
const TRIAL: u32 = 1 << 12;
/// A bucket with more events than this takes no more when its time has come; the heap does.
const CROWD: usize = 64;

/// An event in the order of ticks and, within one, of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time: Time,
    number: u32,
}

/// An event in a bucket and the next one there, or a free cell.
#[derive(Clone, Copy, Debug)]
struct Cell {
    time: Time,
    number: u32,
    next: u32,
}

impl Cell {
    const EMPTY: Self = Self { time: 0, number: 0, next: NONE };
}

/// Pending events.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// Ticks of a bucket, as a power of two.
    shift: u32,
    /// The bucket whose time has come.
    bucket: Time,
    /// Events of that bucket or before, the next one last.
    due: Vec<Event>,
    /// An event of each bucket that is not empty.
    heads: Vec<Cell>,
    /// Buckets that are not empty, as bits.
    occupied: Vec<u64>,
    /// The others.
    cells: Vec<Cell>,
    /// First free cell.
    free: u32,
    far: BinaryHeap<Reverse<Event>>,
    /// The tick of the first of them.
    far_first: Time,
    /// Events that came since `judged`.
    given: u32,
    /// Bucket at which their length was last judged.
    judged: Time,
}

impl Calendar {
    /// A calendar with room for about so many events at a time.
    pub fn new(events: usize) -> Self {
        let buckets = events.next_power_of_two().clamp(LEAST, MOST);
        Self {
            shift: 0,
            bucket: -1,
            due: Vec::new(),
            heads: vec![Cell::EMPTY; buckets],
            occupied: vec![0; buckets / 64],
            cells: Vec::new(),
            free: NONE,
            far: BinaryHeap::new(),
            far_first: Time::MAX,
            given: 0,
            judged: 0,
        }
    }

    /// Adds an event, at a later tick than that taken last.
    #[inline]
    pub fn schedule(&mut self, number: u32, time: Time) {
        let event = Event { time, number };
        let bucket = time >> self.shift;
        let ahead = bucket - self.bucket;
        if ahead <= 0 {
            self.insert(event);
        } else if ahead < self.heads.len() as Time {
            self.list(event, bucket);
        } else {
            self.put_off(event);
        }
    }

    #[inline]
    fn list(&mut self, event: Event, bucket: Time) {
        let Event { time, number } = event;
        let slot = bucket as usize & (self.heads.len() - 1);
        let (word, bit) = (&mut self.occupied[slot / 64], 1 << (slot % 64));
        let head = &mut self.heads[slot];
        if *word & bit == 0 {
            *word |= bit;
            *head = Cell { time, number, next: NONE };
            return;
        }
        let next = head.next;
        match self.cells.get_mut(self.free as usize) {
            Some(cell) => {
                head.next = self.free;
                self.free = cell.next;
                *cell = Cell { time, number, next };
            }
            None => {
                head.next = self.cells.len() as u32;
                self.cells.push(Cell { time, number, next });
            }
        }
    }

    /// Puts an event in its place among those of the present bucket.
    fn insert(&mut self, event: Event) {
        if self.due.len() < CROWD {
            self.sort_in(event);
        } else {
            self.put_off(event);
        }
    }

    #[inline]
    fn sort_in(&mut self, event: Event) {
        let mut at = self.due.len();
        self.due.push(event);
        while at > 0 && self.due[at - 1] < event {
            self.due[at] = self.due[at - 1];
            at -= 1;
        }
        self.due[at] = event;
    }

    #[cold]
    #[inline(never)]
    fn put_off(&mut self, event: Event) {
        self.far.push(Reverse(event));
        self.far_first = self.far_first.min(event.time);
    }

    /// The tick of the next event, if there is one.
    #[inline]
    pub fn next_tick(&mut self) -> Option<Time> {
        if self.due.is_empty() {
            self.turn();
        }
        let next = self.due.last().map_or(Time::MAX, |event| event.time);
        if self.far_first > next {
            return Some(next);
        }
        self.bring_near()
    }

    /// Takes the next event in order, if it is one of the next tick, as given by [`Calendar::next_tick`].
    #[inline]
    pub fn pop(&mut self, time: Time) -> Option<u32> {
        self.due.pop_if(|event| event.time == time).map(|event| event.number)
    }

    /// Puts the first of what is far among what is due; its tick, if there is anything.
    #[cold]
    #[inline(never)]
    fn bring_near(&mut self) -> Option<Time> {
        let time = self.far_first;
        while let Some(&Reverse(event)) = self.far.peek() {
            self.far_first = event.time;
            if event.time > time {
                return Some(time);
            }
            self.far.pop();
            self.given += 1;
            self.sort_in(event);
        }
        self.far_first = Time::MAX;
        self.due.last().map(|event| event.time)
    }

    /// Goes on to the next bucket that is not empty, or to that of what is far if it comes first.
    fn turn(&mut self) {
        if self.given >= TRIAL {
            self.judge();
            if !self.due.is_empty() {
                return;
            }
        }
        let far = self.far_first >> self.shift;
        let Some(bucket) = self.next_bucket().filter(|&bucket| bucket <= far) else {
            if far < Time::MAX >> self.shift {
                self.bucket = far.max(self.bucket);
            }
            return;
        };
        self.bucket = bucket;
        let slot = bucket as usize & (self.heads.len() - 1);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        let head = self.heads[slot];
        self.due.push(Event { time: head.time, number: head.number });
        let (mut last, mut number) = (NONE, head.next);
        while let Some(cell) = self.cells.get(number as usize) {
            self.due.push(Event { time: cell.time, number: cell.number });
            (last, number) = (number, cell.next);
        }
        if let Some(last) = self.cells.get_mut(last as usize) {
            last.next = self.free;
            self.free = head.next;
        }
        self.given += self.due.len() as u32;
        match &mut self.due[..] {
            [_] => {}
            [one, other] => {
                if one < other {
                    std::mem::swap(one, other);
                }
            }
            due => due.sort_unstable_by(|a, b| b.cmp(a)),
        }
    }

    /// The first bucket after the present one that is not empty.
    #[inline]
    fn next_bucket(&self) -> Option<Time> {
        let start = (self.bucket + 1) as usize & (self.heads.len() - 1);
        let near = self.occupied[start / 64] >> (start % 64);
        if near != 0 {
            return Some(self.bucket + 1 + Time::from(near.trailing_zeros()));
        }
        let words = self.occupied.len();
        let mut bits = self.occupied[start / 64] & !0 << (start % 64);
        let mut word = start / 64;
        for _ in 0..=words {
            if bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                let ahead = slot.wrapping_sub(start) & (self.heads.len() - 1);
                return Some(self.bucket + 1 + ahead as Time);
            }
            word = if word + 1 == words { 0 } else { word + 1 };
            bits = self.occupied[word];
        }
        None
    }

    /// Makes buckets longer if most are empty, shorter if there are many events in each.
    #[cold]
    #[inline(never)]
    fn judge(&mut self) {
        let (given, passed) = (Time::from(self.given), (self.bucket - self.judged).max(1));
        let mut shift = self.shift;
        while given << (shift - self.shift) < passed && shift < 40 {
            shift += 1;
        }
        if given > 4 * passed {
            let less = (given / (2 * passed)).ilog2();
            shift = shift.saturating_sub(less);
        }
        if shift != self.shift {
            self.rebuild(shift);
        }
        self.given = 0;
        self.judged = self.bucket;
    }

    /// Puts all events that are in buckets into buckets of another length. Nothing is due.
    fn rebuild(&mut self, shift: u32) {
        let mut events = Vec::new();
        for (slot, head) in self.heads.iter().enumerate() {
            let mut cell = (self.occupied[slot / 64] >> (slot % 64) & 1 != 0).then_some(head);
            while let Some(&Cell { time, number, next }) = cell {
                events.push(Event { time, number });
                cell = self.cells.get(next as usize);
            }
        }
        self.occupied.fill(0);
        self.cells.clear();
        self.free = NONE;
        // The end of the last bucket is past; what comes is later.
        self.bucket = (((self.bucket + 1) << self.shift) - 1) >> shift;
        self.shift = shift;
        for event in events {
            self.schedule(event.number, event.time);
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
            delays in prop::collection::vec((1i64..20_000, 0u32..12, 0usize..4), 1..300),
            rounds in 1usize..40
        ) {
            let mut calendar = Calendar::new(delays.len());
            let mut heap = BinaryHeap::new();
            let mut rest = delays.iter().cycle().take(rounds * delays.len()).enumerate();
            let mut due = Vec::new();
            let mut now = -1;
            loop {
                let more = if now < 0 { 3 } else { delays[due.len() % delays.len()].2 + 1 };
                for (event, &(delay, shift, _)) in rest.by_ref().take(more) {
                    let time = now + (delay << shift);
                    calendar.schedule(event as u32, time);
                    heap.push(Reverse((time, event as u32)));
                }
                let Some(next) = calendar.next_tick() else { break };
                now = next;
                due.clear();
                due.extend(std::iter::from_fn(|| calendar.pop(now)));
                for &event in &due {
                    prop_assert_eq!(heap.pop(), Some(Reverse((now, event))));
                }
                prop_assert!(heap.peek().is_none_or(|&Reverse((time, _))| time > now));
            }
            prop_assert!(heap.is_empty());
        }
    }
}
