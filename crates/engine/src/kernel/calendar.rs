//! Pending events for networks whose ticks are much shorter than the time between events: buckets of ticks, sorted when
//! their time comes.
//!
//! The length of buckets adapts during a run, so that few events share a bucket and few buckets are empty, for any tick
//! and any size of network. Events beyond the last bucket are in a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{NONE, Time};

/// Fewest buckets.
const LEAST: usize = 1 << 10;
/// Most buckets.
const MOST: usize = 1 << 16;
/// Number of events after which the bucket length is reconsidered.
const TRIAL: u32 = 1 << 12;
/// A bucket with more events than this takes no more once its time has come; the heap takes them.
const CROWD: usize = 64;
/// With this many pending events it pays to read some of them ahead.
const MANY: usize = 1 << 13;
/// Fewest events that a bucket then holds on average, as a power of two, so that there are some to read.
const FILL: u32 = 4;
/// Most events that are returned ahead at a time.
pub const AHEAD: usize = 32;
/// The longest buckets, as a power of two of ticks.
const LONGEST: u32 = 32;

/// An event, ordered by tick, then by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    time: Time,
    /// The event itself.
    pub number: u32,
}

/// Number of events in a cache line.
const ROOM: usize = 7;

/// Events of a bucket, or a free block.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Block {
    /// Ticks from the beginning of the bucket, above the number of the event.
    keys: [u64; ROOM],
    count: u32,
    /// The next block of the bucket, or the next free one.
    next: u32,
}

/// Pending events.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// Ticks of a bucket, as a power of two.
    shift: u32,
    /// The current bucket.
    bucket: Time,
    /// Events of this bucket or earlier ones, the next one last.
    due: Vec<Event>,
    /// Number of these, the latest ones, that [`Calendar::ahead`] has not returned.
    unread: usize,
    /// Lower limit of the events of a bucket, as a power of two.
    fill: u32,
    /// First block of each bucket.
    heads: Vec<u32>,
    /// Non-empty buckets, as bits.
    occupied: Vec<u64>,
    blocks: Vec<Block>,
    /// First free block.
    free: u32,
    /// Buffer for sorting the events of a bucket.
    keys: Vec<u64>,
    far: BinaryHeap<Reverse<Event>>,
    /// Tick of the first event in the heap.
    far_first: Time,
    /// Events added since `judged`.
    given: u32,
    /// Bucket at which the length was last reconsidered.
    judged: Time,
}

impl Calendar {
    /// Returns a calendar for about this many simultaneous events.
    pub fn new(events: usize) -> Self {
        let fill = if events < MANY { 0 } else { FILL };
        let buckets = (events >> fill).next_power_of_two().clamp(LEAST, MOST);
        Self {
            shift: 0,
            bucket: -1,
            due: Vec::new(),
            unread: 0,
            fill,
            heads: vec![NONE; buckets],
            occupied: vec![0; buckets / 64],
            blocks: Vec::new(),
            free: NONE,
            keys: Vec::new(),
            far: BinaryHeap::new(),
            far_first: Time::MAX,
            given: 0,
            judged: 0,
        }
    }

    /// Adds an event, at a later tick than the event taken last.
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
        let slot = bucket as usize & (self.heads.len() - 1);
        let ticks = (event.time - (bucket << self.shift)) as u64;
        let key = ticks << 32 | u64::from(event.number);
        if let Some(block) = self.blocks.get_mut(self.heads[slot] as usize)
            && let Some(place) = block.keys.get_mut(block.count as usize)
        {
            *place = key;
            block.count += 1;
            return;
        }
        self.list_first(key, slot);
    }

    /// Begins a block of a bucket.
    #[inline]
    fn list_first(&mut self, key: u64, slot: usize) {
        let number = self.free;
        let next = std::mem::replace(&mut self.heads[slot], number);
        self.occupied[slot / 64] |= 1 << (slot % 64);
        if let Some(block) = self.blocks.get_mut(number as usize) {
            self.free = block.next;
            block.keys[0] = key;
            (block.count, block.next) = (1, next);
        } else {
            self.heads[slot] = self.blocks.len() as u32;
            self.add_block(key, next);
        }
    }

    #[cold]
    #[inline(never)]
    fn add_block(&mut self, key: u64, next: u32) {
        self.blocks.push(Block { keys: [key; ROOM], count: 1, next });
    }

    /// Inserts an event among those of the current bucket. A separate function, so that the common path needs few
    /// registers.
    #[inline(never)]
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

    /// Returns the tick of the next event, if any.
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

    /// Takes the next event if it is due at the tick that [`Calendar::next_tick`] returned.
    #[inline]
    pub fn pop(&mut self, time: Time) -> Option<u32> {
        self.due.pop_if(|event| event.time == time).map(|event| event.number)
    }

    /// Removes an event if it is the next one; returns whether it was.
    pub fn remove(&mut self, number: u32, time: Time) -> bool {
        self.due.pop_if(|event| (event.time, event.number) == (time, number)).is_some()
    }

    /// Whether enough events may be pending for reading ahead to pay.
    #[inline]
    pub fn is_large(&self) -> bool {
        self.fill > 0
    }

    /// Whether the events that [`Calendar::ahead`] returned last have been taken.
    #[inline]
    pub fn has_ahead(&self) -> bool {
        self.unread >= self.due.len().max(1)
    }

    /// Returns the next due events, the first one last.
    pub fn ahead(&mut self) -> &[Event] {
        let end = self.due.len();
        self.unread = end.saturating_sub(AHEAD);
        &self.due[self.unread..end]
    }

    /// Moves the first event of the heap to the due events; returns its tick, if any.
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

    /// Moves on to the next non-empty bucket, or to that of the heap's first event if it is earlier.
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
        self.take(bucket);
    }

    /// Sorts the events of a bucket into the empty list of due events.
    #[inline]
    fn take(&mut self, bucket: Time) {
        let slot = bucket as usize & (self.heads.len() - 1);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        let first = std::mem::replace(&mut self.heads[slot], NONE);
        let start = bucket << self.shift;
        let event = |key: u64| Event { time: start + (key >> 32) as Time, number: key as u32 };
        let block = &mut self.blocks[first as usize];
        if block.next == NONE {
            block.next = std::mem::replace(&mut self.free, first);
            self.due.push(event(block.keys[0]));
            for place in 1..block.count as usize {
                let key = self.blocks[first as usize].keys[place];
                self.sort_in(event(key));
            }
        } else {
            self.gather(first);
            self.keys.sort_unstable_by(|a, b| b.cmp(a));
            self.due.extend(self.keys.drain(..).map(event));
        }
        self.given += self.due.len() as u32;
        if self.is_large() && self.due.len() > 2 {
            self.unread = self.due.len();
        }
    }

    /// Collects the keys of a chain of blocks, and frees the blocks.
    fn gather(&mut self, first: u32) {
        let mut number = first;
        loop {
            let block = &mut self.blocks[number as usize];
            self.keys.extend_from_slice(&block.keys[..block.count as usize]);
            if block.next == NONE {
                block.next = std::mem::replace(&mut self.free, first);
                return;
            }
            number = block.next;
        }
    }

    /// Returns the first non-empty bucket after the current one.
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

    /// Makes buckets longer if most are empty, shorter if they hold many events.
    #[cold]
    #[inline(never)]
    fn judge(&mut self) {
        let (given, passed) = (Time::from(self.given), (self.bucket - self.judged).max(1));
        let mut shift = self.shift;
        let wanted = passed << self.fill;
        while given << (shift - self.shift) < wanted && shift < LONGEST {
            shift += 1;
        }
        if given > 4 * wanted {
            let less = (given / (2 * wanted)).ilog2();
            shift = shift.saturating_sub(less);
        }
        if shift != self.shift {
            self.rebuild(shift);
        }
        self.given = 0;
        self.judged = self.bucket;
    }

    /// Moves all events to buckets of another length. No event may be due.
    fn rebuild(&mut self, shift: u32) {
        let mut events = Vec::new();
        while let Some(bucket) = self.next_bucket() {
            self.take(bucket);
            events.append(&mut self.due);
        }
        self.unread = 0;
        self.blocks.clear();
        self.free = NONE;
        // The last bucket has ended; new events are later.
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
        /// The calendar returns events in the order of a binary heap, whatever is scheduled meanwhile.
        #[test]
        fn same_as_a_heap(
            delays in prop::collection::vec((1i64..20_000, 0u32..12, 0usize..4), 1..300),
            rounds in 1usize..40,
            many in any::<bool>()
        ) {
            let mut calendar = Calendar::new(if many { MANY } else { delays.len() });
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
                due.extend(std::iter::from_fn(|| {
                    if calendar.has_ahead() {
                        calendar.ahead();
                    }
                    calendar.pop(now)
                }));
                for &event in &due {
                    prop_assert_eq!(heap.pop(), Some(Reverse((now, event))));
                }
                prop_assert!(heap.peek().is_none_or(|&Reverse((time, _))| time > now));
            }
            prop_assert!(heap.is_empty());
        }
    }

    /// No bucket is taken for another: from every bucket, for all pairs of delays at which the place of an event changes.
    #[test]
    fn no_delay_is_taken_for_another() {
        let all = LEAST as Time;
        let delays = [1, 2, 63, 64, 65, all - 64, all - 1, all, all + 1, 2 * all, 5 * all];
        for tick in 0..all {
            // A new one: with more events the length of buckets adapts.
            let (mut calendar, mut now) = (Calendar::new(1), 0);
            for (one, other) in delays.iter().flat_map(|one| delays.iter().map(move |other| (*one, *other))) {
                now = (now / all + 1) * all + tick;
                let mut given = vec![(now, 2), (now + one, 0), (now + other, 1)];
                given.iter().for_each(|&(time, event)| calendar.schedule(event, time));
                given.sort_unstable();
                let mut found = vec![];
                while let Some(next) = calendar.next_tick() {
                    now = next;
                    found.extend(std::iter::from_fn(|| calendar.pop(next)).map(|event| (next, event)));
                }
                assert_eq!(given, found);
            }
        }
    }
}
