//! When successive characters of a link start on its wire, or leave the buffer at its end, as straight pieces.
//!
//! Between two changes of pace characters follow each other at equal steps, so the times of a whole
//! worm are a handful of pieces. What is worked out once is written once; whoever builds on it looks it up by
//! number, and going on at the same pace writes nothing at all.

use std::num::Wrapping;

use super::queue::{ALWAYS, Run};
use crate::kernel::Time;

/// The number of a character on its link. All packets are numbered through, and numbers wrap: only those of
/// characters that are in the network together are ever compared, which are far less than 2^31 apart.
pub type Number = Wrapping<u32>;

/// The number of the first character of every link: such that numbers wrap early in every run, and a
/// mistake in comparing them shows in the tests.
pub const START: Number = Wrapping(u32::MAX - 500);

/// How far a number is ahead of another one; negative if it is behind.
#[inline(always)]
pub fn ahead(number: Number, of: Number) -> i32 {
    (number - of).0 as i32
}

/// The earlier of two numbers.
#[inline(always)]
pub fn earlier(one: Number, other: Number) -> Number {
    if ahead(one, other) < 0 { one } else { other }
}

/// The later of two numbers.
#[inline(always)]
pub fn later(one: Number, other: Number) -> Number {
    if ahead(one, other) < 0 { other } else { one }
}

/// Characters at equal steps, up to where the next piece begins.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    /// Tick of its first character.
    time: Time,
    /// Number of its first character.
    first: Number,
    step: u32,
}

/// Pieces there is room for at first; more are rare.
const ROOM: u32 = 4;

/// Room for the pieces of many timelines, each with a ring of its own in it.
#[derive(Clone, Debug, Default)]
pub struct Pieces(Vec<Piece>);

/// The times of successive characters, of which the pieces are kept in [`Pieces`].
#[derive(Clone, Debug)]
pub struct Timeline {
    /// When the first character that is not known yet is due if it follows the last piece in step.
    due: Time,
    /// The step of the last piece.
    step: u32,
    known: Number,
    /// How many pieces were ever written.
    written: Wrapping<u32>,
    /// No piece before this one is looked up any more.
    oldest: Wrapping<u32>,
    /// Where its ring of pieces begins.
    base: u32,
    /// One less than the pieces there is room for, a power of two.
    mask: u32,
}

impl Timeline {
    /// A timeline of which `before` characters have always been there; the next is number `START + before`.
    pub fn new(pieces: &mut Pieces, before: u32) -> Self {
        let base = pieces.0.len() as u32;
        let long_ago = Piece { time: ALWAYS, first: START, step: 0 };
        pieces.0.resize(pieces.0.len() + ROOM as usize, long_ago);
        let known = START + Wrapping(before);
        Self { due: ALWAYS, step: 0, known, written: Wrapping(1), oldest: Wrapping(0), base, mask: ROOM - 1 }
    }

    /// Number of the first character that is not known yet.
    #[inline(always)]
    pub fn known(&self) -> Number {
        self.known
    }

    /// Tick of the last character that is known.
    #[inline(always)]
    pub fn last(&self) -> Time {
        self.due - Time::from(self.step)
    }

    #[inline(always)]
    fn place(&self, piece: Wrapping<u32>) -> usize {
        (self.base + (piece.0 & self.mask)) as usize
    }

    /// The straight run from a character on. It must be known, and one that is still looked up.
    #[inline(always)]
    pub fn run_from(&self, pieces: &Pieces, number: Number) -> Run {
        debug_assert!(ahead(self.known, number) > 0, "{number} of {}", self.known);
        let (mut until, mut at) = (self.known, self.written);
        loop {
            at -= 1;
            debug_assert!(ahead(at, self.oldest) >= 0, "a piece that was forgotten");
            let piece = &pieces.0[self.place(at)];
            let into = ahead(number, piece.first);
            if into >= 0 {
                let time = piece.time + Time::from(into) * Time::from(piece.step);
                return Run { count: (until - number).0, step: piece.step, time };
            }
            until = piece.first;
        }
    }

    /// Whether a piece can be added without forgetting any.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        (self.written - self.oldest).0 <= self.mask
    }

    /// Appends a run, which begins no earlier than the last one ends. There must be room.
    #[inline(always)]
    pub fn push(&mut self, pieces: &mut Pieces, run: &Run) {
        if run.time != self.due || run.step != self.step {
            self.write(pieces, run);
        }
        self.known += run.count;
        self.due = run.at(run.count);
    }

    /// Begins a piece with a run, or has it go on at the pace of the run if it is a single character so far.
    #[inline(always)]
    fn write(&mut self, pieces: &mut Pieces, run: &Run) {
        debug_assert!(self.has_room());
        self.step = run.step;
        let last = self.place(self.written - Wrapping(1));
        let last = &mut pieces.0[last];
        if self.known - last.first == Wrapping(1) && run.time - last.time == Time::from(run.step) {
            last.step = run.step;
            return;
        }
        let place = self.place(self.written);
        pieces.0[place] = Piece { first: self.known, time: run.time, step: run.step };
        self.written += 1;
    }

    /// Makes room for another piece, by forgetting what comes before a character or else by moving to a larger ring.
    pub fn make_room(&mut self, pieces: &mut Pieces, keep: Number) {
        let last = self.written - Wrapping(1);
        while self.oldest != last && ahead(keep, pieces.0[self.place(self.oldest + Wrapping(1))].first) >= 0 {
            self.oldest += 1;
        }
        if !self.has_room() {
            self.grow(pieces);
        }
    }

    #[cold]
    fn grow(&mut self, pieces: &mut Pieces) {
        let old = self.clone();
        self.base = pieces.0.len() as u32;
        self.mask = self.mask * 2 + 1;
        pieces.0.resize(pieces.0.len() + self.mask as usize + 1, Piece::default());
        let mut piece = self.oldest;
        while piece != self.written {
            pieces.0[self.place(piece)] = pieces.0[old.place(piece)];
            piece += 1;
        }
    }
}
