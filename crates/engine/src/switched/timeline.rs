//! Times of successive characters of a link, looked up by number: when they start on its wire, when they leave the
//! buffer at its end, or when their places in its output buffer become free.
//!
//! Between two changes of pace characters follow each other at equal intervals, so the times of a whole worm are a few
//! pieces. Each time is computed and stored once; its users look it up by number, and continuing at the same pace
//! stores nothing at all. Where a link is faster than a later one, it sends a quantum and then waits for the credit of
//! the next quantum: such **groups** at equal intervals are one piece, too. They are stored separately, so that networks
//! of links of one pace do not pay for them.

use std::collections::VecDeque;
use std::num::Wrapping;

use super::queue::{ALWAYS, Run};
use crate::kernel::Time;

/// The number of a character on its link. Packets are numbered consecutively, and numbers wrap: only those of
/// characters that are in the network together are ever compared, which are far less than 2^31 apart.
pub type Number = Wrapping<u32>;

/// The number from which every link counts: that many characters as have places in its output buffer count as sent long
/// ago, and the first real one follows them. It makes numbers wrap early in every run, so that an error in comparing
/// them shows in the tests.
pub const START: Number = Wrapping(u32::MAX - 500);

/// Returns how far a number is ahead of another one; negative if it is behind.
#[inline(always)]
pub fn ahead(number: Number, of: Number) -> i32 {
    (number - of).0 as i32
}

/// Returns the earlier of two numbers.
#[inline(always)]
pub fn earlier(one: Number, other: Number) -> Number {
    if ahead(one, other) < 0 { one } else { other }
}

/// Returns the later of two numbers.
#[inline(always)]
pub fn later(one: Number, other: Number) -> Number {
    if ahead(one, other) < 0 { other } else { one }
}

/// Characters at equal intervals, up to the next piece.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    /// Tick of its first character.
    time: Time,
    /// Number of its first character.
    first: Number,
    /// Ticks between two characters; with [`GROUPED`], ticks between the first characters of two groups.
    step: u32,
}

/// Bit of a step: the piece consists of groups.
const GROUPED: u32 = 1 << 31;

/// Pieces that a timeline stores in place, two cache lines of them; further ones are rare and stored separately.
const ROOM: usize = 8;

/// The times of successive characters.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Timeline {
    known: Number,
    /// The step of the last piece.
    step: u32,
    /// When the first unknown character is due if it continues the last piece.
    due: Time,
    /// Number of pieces written so far.
    written: Wrapping<u8>,
    /// First piece that is in place.
    oldest: Wrapping<u8>,
    /// Whether the last piece is a single character; stored here so that it need not be read before another one is
    /// written.
    single: bool,
    /// Minimum ticks between characters of one packet, and those between characters of a group.
    pub pace: u32,
    /// The latest pieces, by number.
    pieces: [Piece; ROOM],
    /// Pieces before those in place that are still looked up, among them all groups; boxed, because few timelines have
    /// any.
    #[expect(clippy::box_collection)]
    older: Option<Box<VecDeque<(Piece, u32)>>>,
    /// Per piece: for how many ticks the crossbar puts off the place of its first character, see [`Timeline::put_off`].
    lags: [u32; ROOM],
    /// When the crossbar can use the place of the last known character, as for the pieces.
    crossed: Time,
    /// Characters of a group.
    group: u32,
}

impl Timeline {
    /// Returns a timeline whose first `before` characters have always been there; the next is number `START + before`.
    pub fn new(before: u32, pace: u32, group: u32) -> Self {
        let long_ago = Piece { time: ALWAYS, first: START, step: 0 };
        Self {
            due: ALWAYS,
            step: 0,
            known: START + Wrapping(before),
            written: Wrapping(1),
            oldest: Wrapping(0),
            single: before == 1,
            pace,
            pieces: [long_ago; ROOM],
            older: None,
            lags: [0; ROOM],
            crossed: ALWAYS,
            group,
        }
    }

    /// Returns the number of the first character that is not known yet.
    #[inline(always)]
    pub fn known(&self) -> Number {
        self.known
    }

    /// Returns the tick of the last known character, if that is stored.
    #[inline(always)]
    pub fn last(&self) -> Time {
        self.due - Time::from(self.step)
    }

    /// Returns the straight run from a character on. The character must be known, and still stored.
    #[inline(always)]
    pub fn run_from(&self, number: Number) -> Run {
        let (piece, _, until) = self.find(number);
        piece.run(number, until)
    }

    /// Returns the piece with a character, its lag, and the first character after it. The character must be known, and
    /// still stored.
    #[inline(always)]
    fn find(&self, number: Number) -> (Piece, u32, Number) {
        debug_assert!(ahead(self.known, number) > 0, "{number} of {}", self.known);
        let (mut until, mut at) = (self.known, self.written);
        loop {
            at -= 1;
            let piece = &self.pieces[at.0 as usize % ROOM];
            if ahead(number, piece.first) >= 0 {
                return (*piece, self.lags[at.0 as usize % ROOM], until);
            }
            until = piece.first;
            if at == self.oldest {
                return self.find_older(number, until);
            }
        }
    }

    /// Returns when the places of a character and of those that follow it at intervals of a number of characters can be
    /// used, while this is at equal intervals of time; None within a group.
    pub fn each(&self, number: Number, apart: u32, crossbar: u32) -> Option<Run> {
        let in_place = self.pieces[self.oldest.0 as usize % ROOM].first;
        let is_older = ahead(number, in_place) < 0;
        let (piece, lag, until) =
            if is_older { self.older_with(number, in_place) } else { self.find(number) };
        if piece.step & GROUPED != 0 {
            let time = piece.group_of(number, self.group, self.pace).time_of(number);
            let count = (until - number).0.div_ceil(apart);
            return (apart == self.group).then_some(Run { count, step: piece.step & !GROUPED, time });
        }
        let run = piece.places(number, until, lag, crossbar);
        Some(Run { count: run.count.div_ceil(apart), step: run.step.checked_mul(apart)?, time: run.time })
    }

    /// Returns the last straight run; it is empty after groups.
    #[inline(always)]
    pub fn last_run(&self) -> Run {
        let last = &self.pieces[(self.written - Wrapping(1)).0 as usize % ROOM];
        Run { count: (self.known - last.first).0, step: last.step, time: last.time }
    }

    /// Returns an older piece like [`Timeline::find`]; of groups only the one with the character.
    #[cold]
    fn find_older(&self, number: Number, until: Number) -> (Piece, u32, Number) {
        let (piece, lag, until) = self.older_with(number, until);
        if piece.step & GROUPED == 0 {
            return (piece, lag, until);
        }
        let group = piece.group_of(number, self.group, self.pace);
        (group, lag, earlier(until, group.first + Wrapping(self.group)))
    }

    /// Finds an older piece, all its groups included, by bisection: a large output buffer may have many thousands.
    fn older_with(&self, number: Number, until: Number) -> (Piece, u32, Number) {
        let older = self.older.as_deref().expect("a piece that is looked up was forgotten");
        let behind = older.partition_point(|(piece, _)| ahead(number, piece.first) >= 0);
        let until = older.get(behind).map_or(until, |(next, _)| next.first);
        let (piece, lag) = older[behind - 1];
        (piece, lag, until)
    }

    /// Whether a piece can be added.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        (self.written - self.oldest).0 < ROOM as u8
    }

    /// Whether a run continues the pace of the last piece.
    #[inline(always)]
    pub fn goes_on(&self, run: &Run) -> bool {
        run.time == self.due && run.step == self.step
    }

    /// Appends a run of at least one character, which begins no earlier than the last one ends. There must be room.
    #[inline(always)]
    pub fn push(&mut self, run: &Run) {
        // Everything that a link sends passes here. After an empty run its wire would be busy for ever, and the
        // deliveries so far would look like a result.
        assert!(run.count > 0, "a run of no characters");
        if self.goes_on(run) {
            self.single = false;
        } else {
            self.write(run);
        }
        self.known += run.count;
        self.due = run.at(run.count);
    }

    /// Begins a piece with a run, or continues the last piece at the pace of the run if it is a single character so
    /// far.
    #[inline(always)]
    fn write(&mut self, run: &Run) {
        debug_assert!(self.has_room());
        let last = self.last();
        self.step = run.step;
        if self.single && run.time - last == Time::from(run.step) {
            self.pieces[(self.written.0 as usize).wrapping_sub(1) % ROOM].step = run.step;
            self.single = false;
            return;
        }
        self.single = run.count == 1;
        self.pieces[self.written.0 as usize % ROOM] =
            Piece { first: self.known, time: run.time, step: run.step };
        self.written += 1;
    }

    /// Appends whole groups, the first of them at a tick, the others at intervals; the crossbar is not behind with their
    /// places.
    pub fn push_groups(&mut self, groups: &Run) {
        debug_assert!(groups.count > 0);
        let step = groups.step | GROUPED;
        let goes_on = self.step == step && self.next_group() == Some(groups.time);
        let older = self.older.get_or_insert_default();
        if !goes_on {
            while self.oldest != self.written {
                let at = self.oldest.0 as usize % ROOM;
                older.push_back((self.pieces[at], self.lags[at]));
                self.oldest += 1;
            }
            older.push_back((Piece { first: self.known, time: groups.time, step }, 0));
            self.written += 1;
        }
        self.known += groups.count * self.group;
        // An empty piece in place, so that all these are looked up among the older ones.
        let at = (self.written - Wrapping(1)).0 as usize % ROOM;
        let last = groups.at(groups.count - 1) + Time::from(self.group - 1) * Time::from(self.pace);
        self.pieces[at] = Piece { first: self.known, time: last, step: self.pace };
        self.lags[at] = 0;
        self.single = false;
        // No run continues these groups: none has such a step.
        self.step = step;
        self.due = last + Time::from(step);
        self.crossed = last;
    }

    /// Returns when another group would be due after the last groups, if nothing followed them.
    fn next_group(&self) -> Option<Time> {
        let (piece, _) = self.older.as_ref()?.back()?;
        let count = (self.known - piece.first).0 / self.group;
        Some(piece.time + Time::from(count) * Time::from(piece.step & !GROUPED))
    }

    /// Skips characters that nobody will look up.
    pub fn skip(&mut self, count: u32) {
        self.known += count;
        // The next character does not continue the previous ones, and begins a piece.
        self.due = ALWAYS;
        self.single = false;
    }

    /// Forgets all from a character on, of those that are looked up from another one on: this number of characters and
    /// one before that were long ago. There is room for another piece.
    pub fn forget_from(&mut self, number: Number, keep: Number, places: u32) {
        let mut kept = Self::new(0, self.pace, self.group);
        kept.known = keep;
        kept.pieces = [Piece { first: keep - Wrapping(places + 1), ..kept.pieces[0] }; ROOM];
        while kept.known != number {
            let run = self.run_from(kept.known);
            if !kept.has_room() {
                kept.make_room(keep - Wrapping(places + 1));
            }
            kept.push(&Run { count: run.count.min((number - kept.known).0), ..run });
        }
        if !kept.has_room() {
            kept.make_room(keep - Wrapping(places + 1));
        }
        *self = kept;
    }

    /// Makes room for another piece; pieces that end before a character are not looked up any more.
    pub fn make_room(&mut self, keep: Number) {
        if let Some(older) = &mut self.older {
            let oldest = self.pieces[self.oldest.0 as usize % ROOM].first;
            while !older.is_empty() && ahead(keep, older.get(1).map_or(oldest, |(next, _)| next.first)) >= 0 {
                older.pop_front();
            }
        }
        if self.older.as_ref().is_none_or(|older| older.is_empty()) {
            self.forget(keep);
        }
        if !self.has_room() {
            let at = self.oldest.0 as usize % ROOM;
            self.older.get_or_insert_default().push_back((self.pieces[at], self.lags[at]));
            self.oldest += 1;
        }
    }
}

/// When a crossbar can use the places of characters in an output buffer. A place is free some ticks after its character
/// starts; but a crossbar uses one place `crossbar` ticks after the other. After an end of packet places become free
/// faster than that, so it gets behind, and catches up while other characters are sent. These times, too, are without
/// the ticks from a start to the free place, and `crossbar` is 0 for a crossbar that never gets behind.
impl Timeline {
    /// Puts off the places of characters in a run that was appended just now.
    #[inline(always)]
    pub fn put_off(&mut self, run: &Run, crossbar: u32) {
        let behind = self.crossed + Time::from(crossbar) - run.time;
        let at = (self.written - Wrapping(1)).0 as usize % ROOM;
        if self.pieces[at].first == self.known - Wrapping(run.count) {
            debug_assert!(behind <= Time::from(u32::MAX), "a crossbar that is {behind} ticks behind");
            self.lags[at] = behind.max(0) as u32;
        }
        self.crossed = run.at(run.count - 1).max(self.crossed + Time::from(run.count) * Time::from(crossbar));
    }

    /// Stores, for characters that were skipped just now, a lower limit of when their places can be used. There must be
    /// room.
    pub fn put_off_skipped(&mut self, count: u32, crossbar: u32) {
        let at = self.written.0 as usize % ROOM;
        let time = self.crossed + Time::from(crossbar);
        self.pieces[at] = Piece { first: self.known - Wrapping(count), time, step: crossbar };
        self.lags[at] = 0;
        self.written += 1;
        self.crossed += Time::from(count) * Time::from(crossbar);
    }

    /// Returns when the place of the last known character can be used.
    #[inline(always)]
    pub fn crossed(&self) -> Time {
        self.crossed
    }

    /// Returns when the places of characters can be used, from one on, in a straight run.
    #[inline(always)]
    pub fn places_from(&self, number: Number, crossbar: u32) -> Run {
        let (piece, lag, until) = self.find(number);
        piece.places(number, until, lag, crossbar)
    }

    /// Returns when the place of a character can be used.
    #[inline(always)]
    pub fn place(&self, number: Number, crossbar: u32) -> Time {
        let (piece, lag, _) = self.find(number);
        piece.place(number, lag, crossbar)
    }

    /// Whether the crossbar is behind with a character of the last piece, this number of characters from its first.
    #[inline(always)]
    pub fn lags(&self, into: u32, crossbar: u32) -> bool {
        let at = (self.written - Wrapping(1)).0 as usize % ROOM;
        let gain = self.pieces[at].step.saturating_sub(crossbar);
        Time::from(self.lags[at]) > Time::from(into) * Time::from(gain)
    }

    /// Returns when the place of a character of the last piece can be used, this number of characters from its first.
    #[inline(always)]
    pub fn last_place(&self, into: u32, crossbar: u32) -> Time {
        let at = (self.written - Wrapping(1)).0 as usize % ROOM;
        let piece = &self.pieces[at];
        piece.place(piece.first + Wrapping(into), self.lags[at], crossbar)
    }
}

impl Timeline {
    /// Forgets the pieces in place that end before a character: mostly all but the last few.
    #[inline(always)]
    fn forget(&mut self, keep: Number) {
        let mut first = self.written - Wrapping(1);
        let is_before = |at: Wrapping<u8>| ahead(keep, self.pieces[at.0 as usize % ROOM].first) >= 0;
        for _ in 0..2 {
            if is_before(first) || first == self.oldest {
                self.oldest = first;
                return;
            }
            first -= 1;
        }
        let (count, mut passed) = ((first - self.oldest).0 + 1, 0);
        for step in [ROOM as u8 / 2, ROOM as u8 / 4, ROOM as u8 / 8] {
            if passed + step < count && is_before(self.oldest + Wrapping(passed + step)) {
                passed += step;
            }
        }
        self.oldest += passed;
    }
}

impl Piece {
    /// Returns when one of its characters starts.
    #[inline(always)]
    fn time_of(&self, number: Number) -> Time {
        let into = Time::from((number - self.first).0);
        self.time + into * Time::from(self.step)
    }

    /// Returns the group of a character, as a piece of its own.
    fn group_of(&self, number: Number, size: u32, pace: u32) -> Self {
        if self.step & GROUPED == 0 {
            return *self;
        }
        let group = (number - self.first).0 / size;
        let time = self.time + Time::from(group) * Time::from(self.step & !GROUPED);
        Self { time, first: self.first + Wrapping(group * size), step: pace }
    }

    /// Returns the characters from a number on to before another one.
    #[inline(always)]
    fn run(&self, number: Number, until: Number) -> Run {
        Run { count: (until - number).0, step: self.step, time: self.time_of(number) }
    }

    /// Returns when a crossbar can use the place of one of its characters.
    #[inline(always)]
    fn place(&self, number: Number, lag: u32, crossbar: u32) -> Time {
        let own = self.time_of(number);
        if crossbar == 0 {
            return own;
        }
        let into = Time::from((number - self.first).0);
        own.max(self.time + Time::from(lag) + into * Time::from(crossbar))
    }

    /// Returns when the places of its characters can be used, from one on, in a straight run.
    #[inline(always)]
    fn places(&self, number: Number, until: Number, lag: u32, crossbar: u32) -> Run {
        let run = self.run(number, until);
        if crossbar == 0 || lag == 0 { run } else { self.crossing(run, number, lag, crossbar) }
    }

    /// Returns when a crossbar can use the places of a run of its characters, from a number on, in a straight run: as
    /// long as it is behind, or all.
    #[inline(always)]
    fn crossing(&self, run: Run, number: Number, lag: u32, crossbar: u32) -> Run {
        let gain = self.step.saturating_sub(crossbar);
        let behind = Time::from(lag) - Time::from((number - self.first).0) * Time::from(gain);
        if behind <= 0 {
            return run;
        }
        let count = if gain == 0 { run.count } else { (behind as u32).div_ceil(gain).min(run.count) };
        Run { count, step: crossbar, time: run.time + behind }
    }
}

#[cfg(test)]
mod tests;
