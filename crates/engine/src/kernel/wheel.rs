//! The timing wheel: near events by tick, later ones by round, and a heap for the far future.
//!
//! The events of a tick are a list of cells. A cell that has been read is the next to be written, so a few cells stay
//! in the cache and no event needs an allocation. The order of events within a tick is undefined; the caller must not
//! depend on it, because it depends on when they were scheduled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{NONE, Time};

/// Most events are less than this many ticks ahead: the end of a packet of 64 characters of a hundred ticks each.
const SLOTS: usize = 8192;
/// Words whose bits are the slots that are not empty.
const WORDS: usize = SLOTS / 64;

/// Ticks of a round: its events move into their slots together.
const ROUND: usize = 512;
/// Rounds whose events are in slots, including the present one.
const NEAR: Time = (SLOTS / ROUND) as Time;
/// Rounds that have a list or slots: enough for the end of a packet of 1000 characters.
const ROUNDS: usize = 512;

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
    /// The round of the present tick.
    round: Time,
    cells: Vec<Cell>,
    /// First free cell.
    free: u32,
    /// First cell of the current tick.
    due: u32,
    heads: Box<[u32; SLOTS]>,
    occupied: [u64; WORDS],
    /// Words that are not empty, in two halves.
    words: [u64; 2],
    /// Events of later rounds.
    later: Vec<Vec<(Time, u32)>>,
    /// How many these are.
    late: usize,
    /// Those of these lists that are not empty, as bits.
    filled: [u64; ROUNDS / 64],
    /// Events of rounds that have no list yet.
    far: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Default for Wheel {
    /// A wheel at time -1, so that tick 0 can be scheduled.
    fn default() -> Self {
        Self {
            now: -1,
            round: round_of(-1),
            cells: Vec::new(),
            free: NONE,
            due: NONE,
            heads: Box::new([NONE; SLOTS]),
            occupied: [0; WORDS],
            words: [0; 2],
            later: vec![Vec::new(); ROUNDS],
            late: 0,
            filled: [0; ROUNDS / 64],
            far: BinaryHeap::new(),
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
        self.put(event, time);
    }

    #[inline(always)]
    fn put(&mut self, event: u32, time: Time) {
        if round_of(time) - self.round < NEAR {
            self.insert(event, time);
        } else {
            self.put_off(event, time);
        }
    }

    /// Keeps an event until its round is near.
    #[inline(never)]
    fn put_off(&mut self, event: u32, time: Time) {
        let round = round_of(time);
        if round - self.round < ROUNDS as Time {
            let at = round as usize % ROUNDS;
            self.later[at].push((time, event));
            self.late += 1;
            self.filled[at / 64] |= 1 << (at % 64);
        } else {
            self.far.push(Reverse((time, event)));
        }
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
        let word = &mut self.occupied[slot / 64];
        if *word == 0 {
            self.words[slot / (SLOTS / 2)] |= 1 << (slot / 64 % 64);
        }
        *word |= 1 << (slot % 64);
    }

    /// Adds an event when no cell is free.
    #[cold]
    #[inline(never)]
    fn insert_more(&mut self, event: u32, time: Time) {
        self.free = self.cells.len() as u32;
        self.cells.push(Cell { event, next: NONE });
        self.insert(event, time);
    }

    /// Returns the tick of the next event, if any; mostly its bit is in the word of the next tick.
    #[inline(always)]
    pub fn peek(&self) -> Option<Time> {
        let next = self.now + 1;
        let rest = self.occupied[next as usize % SLOTS / 64] >> (next % 64);
        if rest != 0 { Some(next + Time::from(rest.trailing_zeros())) } else { self.peek_further() }
    }

    /// The same if no slot of that word is occupied from the next tick on.
    #[inline(never)]
    fn peek_further(&self) -> Option<Time> {
        // Mostly the next word has one: a round has several words, and the present tick is in the first round.
        let later = ((self.now + 1) | 63) + 1;
        let next = self.occupied[later as usize % SLOTS / 64];
        if next != 0 {
            return Some(later + Time::from(next.trailing_zeros()));
        }
        if self.words == [0; 2] {
            return self.peek_later();
        }
        let start = (self.now + 1) as usize % SLOTS;
        let word = self.next_word(start / 64);
        let slot = word * 64 + self.occupied[word].trailing_zeros() as usize;
        Some(self.now + 1 + ((slot + SLOTS - start) % SLOTS) as Time)
    }

    /// Returns the tick of the next event if none is near.
    #[cold]
    fn peek_later(&self) -> Option<Time> {
        match self.next_filled(self.round + NEAR, self.round + ROUNDS as Time) {
            Some(round) => self.later[round as usize % ROUNDS].iter().map(|&(time, _)| time).min(),
            None => self.far.peek().map(|&Reverse((time, _))| time),
        }
    }

    /// Whether the next events are those of a tick, if there are none before.
    #[inline(always)]
    pub fn is_next(&self, time: Time) -> bool {
        self.heads[time as usize % SLOTS] != NONE || self.words == [0; 2] && self.peek_later() == Some(time)
    }

    /// Moves on to the tick that [`Wheel::peek`] returned; [`Wheel::pop`] then returns its events.
    #[inline]
    pub fn go_to(&mut self, time: Time) {
        debug_assert_eq!(self.peek(), Some(time));
        debug_assert_eq!(self.due, NONE, "events of {} are left", self.now);
        self.now = time;
        if round_of(time) != self.round {
            self.turn(round_of(time));
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

    /// Whether all events of the current tick are taken.
    #[inline(always)]
    pub fn is_over(&self) -> bool {
        self.due == NONE
    }

    /// Goes to a later round, and moves the events that are near now into their slots.
    #[cold]
    fn turn(&mut self, round: Time) {
        let mut first = self.round + NEAR;
        self.round = round;
        while let Some(next) = self.next_filled(first, round + NEAR) {
            let at = next as usize % ROUNDS;
            self.filled[at / 64] &= !(1 << (at % 64));
            let mut list = std::mem::take(&mut self.later[at]);
            self.late -= list.len();
            for (time, event) in list.drain(..) {
                self.insert(event, time);
            }
            // Its memory is used again.
            self.later[at] = list;
            first = next + 1;
        }
        while let Some(&Reverse((time, event))) = self.far.peek() {
            if round_of(time) - round >= ROUNDS as Time {
                return;
            }
            self.far.pop();
            self.put(event, time);
        }
    }

    /// Returns the first round from `first` to before `end` whose list has events.
    fn next_filled(&self, first: Time, end: Time) -> Option<Time> {
        if self.late == 0 {
            return None;
        }
        let mut round = first;
        while round < end.min(first + ROUNDS as Time) {
            let at = round as usize % ROUNDS;
            let rest = self.filled[at / 64] >> (at % 64);
            if rest != 0 {
                round += Time::from(rest.trailing_zeros());
                return (round < end).then_some(round);
            }
            round += 64 - (at % 64) as Time;
        }
        None
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

/// The round of a tick.
#[inline(always)]
fn round_of(time: Time) -> Time {
    time >> ROUND.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The wheel returns events in the order of a binary heap, whatever is scheduled meanwhile.
        #[test]
        fn same_as_a_heap(
            delays in prop::collection::vec((1i64..20_000, 0u32..3, 0usize..4), 1..200),
        ) {
            // Near, in later rounds, and in the heap.
            let delays: Vec<_> = delays.into_iter().map(|(delay, far, more)| (delay << (4 * far), more)).collect();
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

    /// Whether two events come in order, from a tick on.
    fn is_in_order(wheel: &mut Wheel, now: Time, delays: [Time; 2]) -> bool {
        wheel.schedule(2, now);
        let mut given = vec![(now, 2)];
        wheel.go_to(now);
        let mut found: Vec<_> = wheel.pop().map(|event| (now, event)).into_iter().collect();
        for (event, delay) in (0u32..).zip(delays) {
            wheel.schedule(event, now + delay);
            given.push((now + delay, event));
        }
        while let Some(next) = wheel.peek() {
            wheel.go_to(next);
            found.extend(std::iter::from_fn(|| wheel.pop()).map(|event| (next, event)));
        }
        given.sort_unstable();
        found.sort_by_key(|&(time, event)| (time, event));
        given == found && wheel.is_over()
    }

    /// No slot, round or word is taken for another: from every tick of a revolution, for all pairs of delays at which the
    /// place of an event changes; and from the first and last tick of every round that has a list.
    #[test]
    fn no_delay_is_taken_for_another() {
        let (slots, round, all) = (SLOTS as Time, ROUND as Time, (ROUND * ROUNDS) as Time);
        let near = [1, 63, 64, round, slots - round, slots - 1, slots, slots + 1];
        let far = [1, slots - round + 1, slots, all - round, all - 1, all, all + 1, 3 * all];
        let ticks = (0..slots).map(|tick| (tick, near));
        let edges = (0..ROUNDS as Time).flat_map(|one| [one * round, one * round + round - 1]);
        let mut wheel = Wheel::default();
        for (tick, delays) in ticks.chain(edges.map(|tick| (tick, far))) {
            for (one, other) in delays.iter().flat_map(|one| delays.iter().map(move |other| (*one, *other))) {
                let now = (wheel.now() / all + 1) * all + tick;
                assert!(is_in_order(&mut wheel, now, [one, other]), "at {now}: {one}, {other}");
            }
        }
    }
}
