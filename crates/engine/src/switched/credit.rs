//! The credit of one link: how many characters may be sent, which departures return more, and the credit of departed
//! packets.

use std::num::Wrapping;

use super::link::Kind;
use super::queue::{Queue, Run};
use super::timeline::{Number, ahead};
use crate::kernel::Time;

/// What a link may send. Credit is taken by quanta, in the order in which characters leave the input buffer.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Credit {
    /// The character that must leave the input buffer for the next quantum, unless that is in `kept`.
    next_quantum: Number,
    /// Characters that the credit taken so far allows.
    characters: u32,
    /// Whether `kept` is not empty; stored here so that it need not be read.
    keeps: bool,
    /// Whether there is a character to send and no credit for it.
    waits: bool,
    /// When the quanta returned by departed packets are usable.
    kept: Queue,
}

impl Credit {
    /// Returns the credit for an empty input buffer, of a link with a given next character. A terminal accepts
    /// everything.
    pub fn new(kind: &Kind, next: Number) -> Self {
        let whole = kind.input_buffer / kind.quantum * kind.quantum;
        Self {
            next_quantum: next + Wrapping(kind.first_returned(1) - 1),
            characters: if kind.to_terminal { u32::MAX } else { whole },
            keeps: false,
            waits: false,
            kept: Queue::default(),
        }
    }

    /// Returns the character that must leave the input buffer for the next quantum, unless some is stored.
    #[inline(always)]
    pub fn next_quantum(&self) -> Number {
        self.next_quantum
    }

    /// Returns the first character that may be looked up for a quantum: where links fail, what was taken may be given back.
    pub fn next_given_back(&self, kind: &Kind) -> Number {
        self.next_quantum - Wrapping(if kind.fails && !kind.to_terminal { self.characters } else { 0 })
    }

    /// Returns the characters that the credit taken so far allows.
    #[inline(always)]
    pub fn characters(&self) -> u32 {
        self.characters
    }

    /// Whether departed packets have returned credit that is not taken.
    #[inline(always)]
    pub fn is_kept(&self) -> bool {
        self.keeps
    }

    /// Whether there is a character to send and no credit for it.
    #[inline(always)]
    pub fn waits(&self) -> bool {
        self.waits
    }

    /// Returns the number of quanta from departed packets.
    pub fn kept_quanta(&self) -> u32 {
        if self.keeps { self.kept.runs().map(|run| run.count).sum() } else { 0 }
    }

    /// Returns when these quanta are usable, in order.
    pub fn kept_times(&self) -> impl Iterator<Item = Time> {
        self.kept.runs().flat_map(|run| (0..run.count).map(move |quantum| run.at(quantum)))
    }

    /// Stores the times of credit for characters that leave in a run, the first one returning a quantum; if the run is
    /// not exact, only that of the first.
    #[inline(always)]
    pub fn keep(&mut self, kind: &Kind, run: &Run, exact: bool) {
        let count = if exact { kind.quanta(run.count) } else { 1 };
        self.next_quantum += count * kind.quantum;
        let step = run.step.saturating_mul(kind.quantum);
        self.kept.push(Run { count, step, time: kind.credit(run.time) });
        self.keeps = true;
    }

    /// Takes quanta whose credit is in time for whatever is sent next, the last of them this number of characters after
    /// the first.
    #[inline(always)]
    pub fn take_early(&mut self, kind: &Kind, apart: u32) {
        self.next_quantum += apart + kind.quantum;
        self.characters += apart + kind.quantum;
    }

    /// Takes stored credit for the next of `most` characters, of which the first can start at a tick, and all credit
    /// that is in time for the following ones; returns when the first can start.
    #[inline(always)]
    pub fn take_kept(&mut self, kind: &Kind, start: Time, most: u32) -> Time {
        let mut start = start;
        while self.characters < most {
            let Some(quanta) = self.kept.front() else { return start };
            let due = start + Time::from(self.characters) * Time::from(kind.character);
            if quanta.time > due {
                if self.characters > 0 {
                    return start;
                }
                start = quanta.time;
            }
            // All quanta of the run are in time if it is not slower than the characters sent.
            let in_time = quanta.step <= kind.quantum.saturating_mul(kind.character);
            let missing = kind.quanta(most - self.characters);
            let count = if in_time { quanta.count.min(missing) } else { 1 };
            self.kept.take(count);
            self.keeps = !self.kept.is_empty();
            self.characters += count * kind.quantum;
        }
        start
    }

    /// Sets the remaining characters after sending, and the character for the next quantum.
    #[inline(always)]
    pub fn spend(&mut self, left: u32, next_quantum: Number) {
        (self.characters, self.next_quantum) = (left, next_quantum);
    }

    /// Pays for characters that were sent without a check, with stored credit and then with quanta that are still to be
    /// returned.
    pub fn pay(&mut self, kind: &Kind, sent: u32) {
        let missing = sent.saturating_sub(self.characters);
        let quanta = if missing > 0 { kind.quanta(missing) } else { 0 };
        let kept = if self.keeps { self.take_quanta(quanta) } else { 0 };
        self.next_quantum += (quanta - kept) * kind.quantum;
        self.characters = self.characters + quanta * kind.quantum - sent;
    }

    /// Takes stored quanta, this number at most; returns how many.
    #[cold]
    fn take_quanta(&mut self, most: u32) -> u32 {
        let kept = self.kept_quanta().min(most);
        self.kept.take_all(kept);
        self.keeps = !self.kept.is_empty();
        kept
    }

    /// Sets whether there is a character to send and no credit for it.
    #[inline(always)]
    pub fn set_waits(&mut self, waits: bool) {
        self.waits = waits;
    }

    /// Gives back the credit for characters from an end on, which will not follow, and what the `rest` before that does not
    /// need, if a head packet returns it: it was in time at the pace of the link, but what follows a short end comes sooner now.
    /// False if that concerns credit of packets before the head, too.
    pub fn give_back(&mut self, kind: &Kind, head: Number, end: Number, rest: u32) -> bool {
        let whole = |characters: u32| characters / kind.quantum * kind.quantum;
        let beyond = |number: Number| ahead(self.next_quantum, number).max(0) as u32;
        let least = whole(beyond(end));
        let spare = whole(self.characters.saturating_sub(rest)).max(least);
        let own = if self.keeps { least } else { whole(beyond(head)) };
        let characters = spare.min(own);
        self.next_quantum -= characters;
        self.characters -= characters;
        characters == spare || kind.end >= kind.character
    }

    /// Ends all credit of a link that fails, and what would return more, from its next character on.
    pub fn end(&mut self, next: Number) {
        const NEVER: u32 = 1 << 30;
        *self = Self {
            next_quantum: next + Wrapping(NEVER),
            characters: 0,
            keeps: false,
            waits: false,
            kept: Queue::default(),
        };
    }

    /// Renews the unlimited credit of a terminal.
    #[inline(always)]
    pub fn renew(&mut self) {
        self.characters = u32::MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quanta of 8 for a buffer of 43: 40 characters at first. A character takes 10 ticks, credit 5.
    fn kind() -> Kind {
        let (quantum, quantum_shift, input_buffer) = (8, 3, 43);
        Kind { quantum, quantum_shift, input_buffer, character: 10, credit_delay: 5, ..Kind::default() }
    }

    #[test]
    fn an_empty_buffer_promises_whole_quanta() {
        let credit = Credit::new(&kind(), Wrapping(100));
        assert_eq!((credit.characters(), credit.next_quantum()), (40, Wrapping(104)));
        let endless = Credit::new(&Kind { to_terminal: true, ..kind() }, Wrapping(100));
        assert_eq!(endless.characters(), u32::MAX);
    }

    #[test]
    fn what_leaves_returns_a_quantum_at_a_time() {
        let mut credit = Credit::new(&kind(), Wrapping(0));
        // Seventeen characters from the fifth on: the first, the ninth and the last return a quantum each.
        credit.keep(&kind(), &Run { count: 17, step: 10, time: 1000 }, true);
        assert_eq!(credit.kept_times().collect::<Vec<_>>(), [1005, 1085, 1165]);
        assert_eq!((credit.kept_quanta(), credit.next_quantum()), (3, Wrapping(4 + 24)));
        // If characters may leave later, only the first is certain.
        credit.keep(&kind(), &Run { count: 17, step: 10, time: 2000 }, false);
        assert_eq!((credit.kept_quanta(), credit.next_quantum()), (4, Wrapping(4 + 32)));
    }

    #[test]
    fn kept_credit_is_taken_as_far_as_it_is_in_time() {
        let mut credit = Credit::new(&kind(), Wrapping(0));
        credit.spend(0, Wrapping(4));
        credit.keep(&kind(), &Run { count: 9, step: 10, time: 95 }, true);
        credit.keep(&kind(), &Run { count: 1, step: 10, time: 995 }, true);
        // The first waits for its credit; the second quantum is in time for the following ones, the third is not.
        assert_eq!(credit.take_kept(&kind(), 50, 30), 100);
        assert_eq!((credit.characters(), credit.is_kept()), (16, true));
        credit.spend(0, credit.next_quantum());
        assert_eq!(credit.take_kept(&kind(), 260, 8), 1000);
        assert_eq!((credit.characters(), credit.is_kept()), (8, false));
        assert_eq!(credit.take_kept(&kind(), 1080, 30), 1080);
    }

    #[test]
    fn what_was_sent_unasked_is_paid_by_what_is_kept_first() {
        let mut credit = Credit::new(&kind(), Wrapping(0));
        credit.spend(3, Wrapping(4));
        credit.keep(&kind(), &Run { count: 1, step: 0, time: 0 }, true);
        let next = credit.next_quantum();
        credit.pay(&kind(), 3);
        assert_eq!((credit.characters(), credit.kept_quanta()), (0, 1));
        credit.pay(&kind(), 20);
        assert_eq!((credit.characters(), credit.is_kept()), (4, false));
        assert_eq!(credit.next_quantum(), next + Wrapping(16));
    }
}
