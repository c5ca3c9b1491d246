//! When the characters of a link start on its wire, kept for as long as somebody still needs to know.
//!
//! Characters are numbered through per link. A timeline holds the pieces in which they follow each other at
//! equal steps; those who build on it remember by number how far they have read. So what is worked out once is
//! written once, and going on at the same pace writes nothing at all.

use super::queue::{ALWAYS, Queue, Run};
use crate::kernel::Time;

/// Characters at equal steps, up to where the next piece begins.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    /// Number of its first character.
    first: u64,
    /// Tick of its first character.
    time: Time,
    step: u32,
}

/// Pieces there is room for at first; more are rare.
const ROOM: usize = 4;

/// Who builds on the times of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// What takes characters out of the input buffer at the end of the link.
    Leave = 0,
    /// The next link, which sends them on.
    Next = 1,
    /// What puts characters into the places they leave in the output buffer.
    Place = 2,
}

/// How far somebody has read.
#[derive(Clone, Copy, Debug, Default)]
struct Reader {
    /// Number of the next character; [`NOBODY`] if there is no such reader.
    next: u64,
    /// Number of the piece it is in, or of one before that.
    piece: usize,
}

const NOBODY: u64 = u64::MAX;

/// Times of successive characters.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Number of the first character that is not known yet.
    known: u64,
    /// When that character is due if it follows the last piece in step.
    due: Time,
    /// The step of the last piece.
    step: u32,
    /// How many pieces were ever written.
    written: usize,
    /// No piece before this one is read any more.
    oldest: usize,
    /// A ring of a power of two, by the number of the piece.
    pieces: Box<[Piece]>,
    readers: [Reader; 3],
}

impl Timeline {
    /// A timeline of which `before` characters have always been there: the next is number `before`. Places are
    /// read from 0 on, the others begin at the next.
    pub fn new(before: u32, readers: &[Who]) -> Self {
        let mut pieces = vec![Piece::default(); ROOM].into_boxed_slice();
        pieces[0] = Piece { time: ALWAYS, first: 0, step: 0 };
        let known = u64::from(before);
        let nobody = Reader { next: NOBODY, piece: 0 };
        let mut new =
            Self { known, due: ALWAYS, step: 0, written: 1, oldest: 0, pieces, readers: [nobody; 3] };
        for &who in readers {
            new.readers[who as usize].next = if who == Who::Place { 0 } else { known };
        }
        new
    }

    /// Number of the first character that is not known yet.
    #[inline(always)]
    pub fn known(&self) -> u64 {
        self.known
    }

    /// Number of the next character for a reader.
    #[inline(always)]
    pub fn next(&self, who: Who) -> u64 {
        self.readers[who as usize].next
    }

    /// Whether a reader has read all that is known.
    #[inline(always)]
    pub fn is_read(&self, who: Who) -> bool {
        self.readers[who as usize].next == self.known
    }

    /// Moves a reader on.
    #[inline(always)]
    pub fn take(&mut self, who: Who, count: u32) {
        self.readers[who as usize].next += u64::from(count);
    }

    /// How many characters a reader can read.
    #[inline(always)]
    pub fn unread(&self, who: Who) -> u32 {
        (self.known - self.readers[who as usize].next) as u32
    }

    #[inline(always)]
    fn piece(&self, number: usize) -> &Piece {
        &self.pieces[number & (self.pieces.len() - 1)]
    }

    /// The run in which the next character of a reader is, from there on. There must be one.
    #[inline(always)]
    pub fn read(&mut self, who: Who) -> Run {
        let mut reader = self.readers[who as usize];
        let run = self.find(&mut reader);
        self.readers[who as usize].piece = reader.piece;
        run
    }

    #[inline(always)]
    fn find(&self, reader: &mut Reader) -> Run {
        debug_assert!(reader.next < self.known);
        let (last, next) = (self.written - 1, reader.next);
        let mut until = self.known;
        while reader.piece != last {
            let first = self.piece(reader.piece + 1).first;
            if first > next {
                until = first;
                break;
            }
            reader.piece += 1;
        }
        let &Piece { time, first, step } = self.piece(reader.piece);
        let time = time + (reader.next - first) as Time * Time::from(step);
        Run { count: (until - reader.next) as u32, step, time }
    }

    /// Tick of the character some places after the next of a reader, or nothing if it is not known.
    #[inline]
    pub fn at(&self, who: Who, ahead: u32) -> Option<Time> {
        let mut reader = self.readers[who as usize];
        reader.next += u64::from(ahead);
        (reader.next < self.known).then(|| self.find(&mut reader).time)
    }

    /// Tick of a character that is one of those pushed last.
    pub fn recent(&self, number: u64) -> Time {
        let mut piece = self.written - 1;
        while self.piece(piece).first > number {
            piece -= 1;
        }
        let &Piece { first, time, step } = self.piece(piece);
        time + (number - first) as Time * Time::from(step)
    }

    /// Takes the next characters from the next link and puts them into a queue, `delay` ticks later; but if all are
    /// due by `free`, they are only taken. Returns whether they are in the queue.
    pub fn hand_over(&mut self, mut count: u32, delay: u32, free: Time, queue: &mut Queue) -> bool {
        if self.at(Who::Next, count - 1).is_some_and(|last| last + Time::from(delay) <= free) {
            self.take(Who::Next, count);
            return false;
        }
        while count > 0 {
            let mut run = self.read(Who::Next);
            run.count = run.count.min(count);
            self.take(Who::Next, run.count);
            queue.push(run.later(delay));
            count -= run.count;
        }
        true
    }

    /// Appends a run, which begins no earlier than the last one ends.
    #[inline(always)]
    pub fn push(&mut self, run: &Run) {
        if run.time != self.due || run.step != self.step {
            self.write(run);
        }
        self.known += u64::from(run.count);
        self.due = run.at(run.count);
    }

    /// Begins a piece with a run, or has it go on at the pace of the run if it is a single character so far.
    #[inline(never)]
    fn write(&mut self, run: &Run) {
        self.step = run.step;
        let mask = self.pieces.len() - 1;
        let last = &mut self.pieces[(self.written - 1) & mask];
        if self.known - last.first == 1 && run.time - last.time == Time::from(run.step) {
            last.step = run.step;
            return;
        }
        if self.written - self.oldest > mask {
            self.forget();
        }
        let mask = self.pieces.len() - 1;
        self.pieces[self.written & mask] = Piece { first: self.known, time: run.time, step: run.step };
        self.written += 1;
    }

    /// Forgets what everybody has read, and makes more room if that is nothing.
    fn forget(&mut self) {
        self.oldest = self.written - 1;
        for who in 0..self.readers.len() {
            let mut reader = self.readers[who];
            if reader.next < self.known {
                self.find(&mut reader);
                self.oldest = self.oldest.min(reader.piece);
            } else {
                // The next character will be in the last piece or in a later one.
                reader.piece = self.written - 1;
            }
            self.readers[who] = reader;
        }
        if self.written - self.oldest == self.pieces.len() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let mut pieces = vec![Piece::default(); self.pieces.len() * 2].into_boxed_slice();
        for number in self.oldest..self.written {
            pieces[number & (pieces.len() - 1)] = *self.piece(number);
        }
        self.pieces = pieces;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Each reader gets the times that were pushed, in order, however far behind it is.
        #[test]
        fn every_reader_reads_the_same(
            runs in prop::collection::vec((1u32..5, 0u32..4, 0i64..9), 1..60),
            takes in prop::collection::vec((0usize..2, 1u32..4), 400),
        ) {
            let readers = [Who::Leave, Who::Next];
            let mut line = Timeline::new(3, &readers);
            let mut pushed: Vec<Time> = Vec::new();
            let mut taken = [Vec::new(), Vec::new()];
            let mut takes = takes.into_iter();
            let mut take = |line: &mut Timeline, reader: usize, most: u32| {
                if line.is_read(readers[reader]) {
                    return false;
                }
                let run = line.read(readers[reader]);
                let count = most.min(run.count);
                taken[reader].extend((0..count).map(|k| run.at(k)));
                line.take(readers[reader], count);
                true
            };
            for (count, step, gap) in runs {
                let run = Run { count, step, time: pushed.last().map_or(0, |last| last + gap) };
                pushed.extend((0..count).map(|k| run.at(k)));
                line.push(&run);
                prop_assert_eq!(line.known(), 3 + pushed.len() as u64);
                if let Some((reader, most)) = takes.next() {
                    take(&mut line, reader, most);
                    let seen = (line.next(readers[reader]) - 3) as usize;
                    let ahead = (pushed.len() - seen) as u32;
                    prop_assert_eq!(line.at(readers[reader], ahead), None);
                    prop_assert_eq!(line.at(readers[reader], ahead.max(1) - 1), pushed.get(seen.max(pushed.len() - 1)).copied().filter(|_| ahead > 0));
                }
            }
            while take(&mut line, 0, 3) || take(&mut line, 1, 2) {}
            prop_assert_eq!(&taken[0], &pushed);
            prop_assert_eq!(&taken[1], &pushed);
        }
    }
}
