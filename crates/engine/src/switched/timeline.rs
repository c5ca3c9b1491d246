//! Times of successive characters of a link, looked up by number: when they start on its wire, when they leave the
//! buffer at its end, or when their places in its output buffer become free.
//!
//! Between two changes of pace characters follow each other at equal intervals, so the times of a whole worm are a few
//! pieces. Each time is computed and stored once; its users look it up by number, and continuing at the same pace
//! stores nothing at all.

use std::collections::VecDeque;
use std::num::Wrapping;

use super::queue::{ALWAYS, Run};
use crate::kernel::Time;

/// The number of a character on its link. Packets are numbered consecutively, and numbers wrap: only those of
/// characters that are in the network together are ever compared, which are far less than 2^31 apart.
pub type Number = Wrapping<u32>;

/// The number of the first character of every link. It makes numbers wrap early in every run, so that an error in
/// comparing them shows in the tests.
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
    step: u32,
}

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
    /// Minimum ticks between characters of one packet.
    pub pace: u32,
    /// The latest pieces, by number.
    pieces: [Piece; ROOM],
    /// Pieces before those in place that are still looked up; boxed, because few timelines have any.
    #[expect(clippy::box_collection)]
    older: Option<Box<VecDeque<Piece>>>,
}

impl Timeline {
    /// Returns a timeline whose first `before` characters have always been there; the next is number `START + before`.
    pub fn new(before: u32, pace: u32) -> Self {
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
        }
    }

    /// Returns the number of the first character that is not known yet.
    #[inline(always)]
    pub fn known(&self) -> Number {
        self.known
    }

    /// Returns the tick of the last known character.
    #[inline(always)]
    pub fn last(&self) -> Time {
        self.due - Time::from(self.step)
    }

    /// Returns the straight run from a character on. The character must be known, and still stored.
    #[inline(always)]
    pub fn run_from(&self, number: Number) -> Run {
        debug_assert!(ahead(self.known, number) > 0, "{number} of {}", self.known);
        let (mut until, mut at) = (self.known, self.written);
        loop {
            at -= 1;
            let piece = &self.pieces[at.0 as usize % ROOM];
            if ahead(number, piece.first) >= 0 {
                return piece.run(number, until);
            }
            until = piece.first;
            if at == self.oldest {
                return self.older_run(number, until);
            }
        }
    }

    /// Returns the last straight run.
    #[inline(always)]
    pub fn last_run(&self) -> Run {
        let last = &self.pieces[(self.written - Wrapping(1)).0 as usize % ROOM];
        Run { count: (self.known - last.first).0, step: last.step, time: last.time }
    }

    /// Returns the time of a character and the step of its run, if that is the last but one; the count is not set. The
    /// character must be before the last run.
    #[inline(always)]
    pub fn last_run_but_one(&self, number: Number) -> Option<Run> {
        let at = self.written - Wrapping(2);
        let piece = &self.pieces[at.0 as usize % ROOM];
        let (into, is_kept) = (ahead(number, piece.first), (at - self.oldest).0 < ROOM as u8);
        let time = piece.time + Time::from(into) * Time::from(piece.step);
        (is_kept & (into >= 0)).then_some(Run { count: 0, step: piece.step, time })
    }

    /// Finds an older run by bisection: a large output buffer may have many thousands.
    #[cold]
    fn older_run(&self, number: Number, until: Number) -> Run {
        let older = self.older.as_deref().expect("a piece that is looked up was forgotten");
        let behind = older.partition_point(|piece| ahead(number, piece.first) >= 0);
        let until = older.get(behind).map_or(until, |next| next.first);
        older[behind - 1].run(number, until)
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

    /// Skips characters that nobody will look up.
    pub fn skip(&mut self, count: u32) {
        self.known += count;
        // The next character does not continue the previous ones, and begins a piece.
        self.due = ALWAYS;
        self.single = false;
    }

    /// Makes room for another piece; pieces that end before a character are not looked up any more.
    pub fn make_room(&mut self, keep: Number) {
        if let Some(older) = &mut self.older {
            let oldest = self.pieces[self.oldest.0 as usize % ROOM].first;
            while !older.is_empty() && ahead(keep, older.get(1).map_or(oldest, |next| next.first)) >= 0 {
                older.pop_front();
            }
        }
        if self.older.as_ref().is_none_or(|older| older.is_empty()) {
            // From the latest on, because few are kept.
            let mut first = self.written - Wrapping(1);
            while first != self.oldest && ahead(self.pieces[first.0 as usize % ROOM].first, keep) > 0 {
                first -= 1;
            }
            self.oldest = first;
        }
        if !self.has_room() {
            self.older.get_or_insert_default().push_back(self.pieces[self.oldest.0 as usize % ROOM]);
            self.oldest += 1;
        }
    }
}

impl Piece {
    /// Returns when one of its characters starts.
    #[inline(always)]
    fn time_of(&self, number: Number) -> Time {
        let into = Time::from((number - self.first).0);
        self.time + into * Time::from(self.step)
    }

    /// Returns the characters from a number on to before another one.
    #[inline(always)]
    fn run(&self, number: Number, until: Number) -> Run {
        Run { count: (until - number).0, step: self.step, time: self.time_of(number) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Each character that is still stored has the time that was pushed, however many pieces there are.
        #[test]
        fn times_are_found_by_number(
            runs in prop::collection::vec((1u32..5, 0u32..4, 0i64..9, 0u32..40), 1..600),
        ) {
            let mut line = Timeline::new(3, 0);
            let mut pushed: Vec<Time> = vec![ALWAYS; 3];
            let mut keep = 0;
            for (count, step, gap, behind) in runs {
                let time = if pushed.len() == 3 { 0 } else { pushed[pushed.len() - 1] + gap };
                let run = Run { count, step, time };
                if !line.has_room() {
                    line.make_room(START + Wrapping(keep));
                }
                line.push(&run);
                pushed.extend((0..count).map(|k| run.at(k)));
                let known = pushed.len() as u32;
                prop_assert_eq!(line.known(), START + Wrapping(known));
                prop_assert_eq!(line.last(), pushed[pushed.len() - 1]);
                keep = keep.max(known.saturating_sub(behind + 1));
                let mut number = keep;
                while number < known {
                    let run = line.run_from(START + Wrapping(number));
                    for k in 0..run.count {
                        prop_assert_eq!(run.at(k), pushed[(number + k) as usize]);
                    }
                    number += run.count;
                }
            }
        }
    }
}
