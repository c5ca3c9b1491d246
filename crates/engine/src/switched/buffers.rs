//! The two buffers of one link: whose packet is in them, and which of its characters are which.

use std::num::Wrapping;

use super::queue::{Queue, Run};
use super::timeline::{Number, START};
use crate::fabric::NONE;
use crate::kernel::Time;

/// The input buffer at the end of a link: what becomes of its head packet.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct InputBuffer {
    /// Earliest departure of the head packet; of its next character if `Kind::stepwise`.
    exit_free: Time,
    /// Link granted to the head packet, or [`NONE`].
    output: u32,
    /// First character of the head packet, since it was granted its output.
    front: Number,
    /// Characters before this one are not passed on: the header is deleted.
    deleted: Number,
    /// Whether a request of the present head is pending or made.
    asked: bool,
}

/// The output buffer before the wire of a link: what comes into it.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct OutputBuffer {
    /// Input link whose head packet holds this link, or [`NONE`].
    holder: u32,
    /// Behind all characters of the packets granted this link.
    granted: Number,
    /// What a character's number on the holder is greater by than its number here.
    shift: Number,
    /// Ticks from what the holder notes of a character until it is ready for this wire.
    way: u32,
    /// Characters that are not on the wire yet, of worms that are `bound`: when they are ready for it.
    entered: Option<Box<Queue>>,
}

impl InputBuffer {
    /// An empty one.
    pub fn new() -> Self {
        Self { exit_free: 0, output: NONE, front: START, deleted: START, asked: false }
    }

    /// Link granted to the head packet, or [`NONE`].
    #[inline(always)]
    pub fn output(&self) -> u32 {
        self.output
    }

    /// Earliest departure of the head packet; of its next character if `Kind::stepwise`.
    #[inline(always)]
    pub fn exit_free(&self) -> Time {
        self.exit_free
    }

    /// First character of the head packet, since it was granted its output.
    #[inline(always)]
    pub fn front(&self) -> Number {
        self.front
    }

    /// Characters before this one are not passed on.
    #[inline(always)]
    pub fn deleted(&self) -> Number {
        self.deleted
    }

    /// Whether a request of the present head is pending or made.
    #[inline(always)]
    pub fn asked(&self) -> bool {
        self.asked
    }

    /// When a character of the head packet crosses if it does so `crossbar` ticks behind the one before it, and all since
    /// the grant.
    #[inline(always)]
    pub fn crosses_at(&self, number: Number, crossbar: u32) -> Time {
        self.exit_free + Time::from((number - self.front).0) * Time::from(crossbar)
    }

    /// The head asks for an output.
    #[inline(always)]
    pub fn ask(&mut self) {
        self.asked = true;
    }

    /// The head packet, whose characters begin with a number, is granted an output, without the first few of them.
    #[inline(always)]
    pub fn grant(&mut self, output: u32, now: Time, first: Number, deleted: u32) {
        self.output = output;
        self.exit_free = self.exit_free.max(now);
        (self.front, self.deleted) = (first, first + Wrapping(deleted));
    }

    /// Characters have crossed; the next one may at a tick.
    pub fn crossed(&mut self, next: Time) {
        self.exit_free = next;
    }

    /// The head packet has left, and what is behind it is at the front from a tick on.
    #[inline(always)]
    pub fn leave(&mut self, at_front: Time) {
        self.exit_free = at_front;
        self.output = NONE;
        self.asked = false;
    }
}

impl OutputBuffer {
    /// An empty one, of a link on which a character is the first.
    pub fn new(first: Number) -> Self {
        Self { holder: NONE, granted: first, shift: Wrapping(0), way: 0, entered: None }
    }

    /// Input link whose head packet holds this link, or [`NONE`].
    #[inline(always)]
    pub fn holder(&self) -> u32 {
        self.holder
    }

    /// Behind all characters of the packets granted this link.
    #[inline(always)]
    pub fn granted(&self) -> Number {
        self.granted
    }

    /// What a character's number on the holder is greater by than its number here.
    #[inline(always)]
    pub fn shift(&self) -> Number {
        self.shift
    }

    /// Behind the last character of the packet that was granted last, as the holder counts.
    #[inline(always)]
    pub fn end(&self) -> Number {
        self.granted + self.shift
    }

    /// Ticks from what the holder notes of a character until it is ready for this wire.
    #[inline(always)]
    pub fn way(&self) -> u32 {
        self.way
    }

    /// Numbers the characters of a packet that a terminal puts on the link: the first, and behind the last.
    #[inline(always)]
    pub fn dispatch(&mut self, characters: u32) -> (Number, Number) {
        let first = self.granted;
        self.granted = first + Wrapping(characters);
        (first, self.granted)
    }

    /// Grants the link to the head packet of an input link, which has its characters from one number to before another
    /// there; returns their numbers here.
    #[inline(always)]
    pub fn grant(&mut self, holder: u32, first: Number, end: Number, way: u32) -> (Number, Number) {
        let here = self.granted;
        self.shift = first - here;
        self.granted = end - self.shift;
        (self.holder, self.way) = (holder, way);
        (here, self.granted)
    }

    /// Its holder's packet has left the input buffer.
    #[inline(always)]
    pub fn release(&mut self) {
        self.holder = NONE;
    }

    /// Keeps when characters are ready that have not been sent.
    pub fn keep_entered(&mut self, run: Run) {
        self.entered.get_or_insert_default().push(run);
    }

    /// When the first of those that are kept are.
    pub fn entered(&self) -> Option<Run> {
        self.entered.as_ref().and_then(|entered| entered.front())
    }

    /// So many of them have been sent.
    pub fn take_entered(&mut self, count: u32) {
        self.entered.as_mut().expect("there was a run in it").take(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_has_its_numbers_on_either_side_of_a_switch() {
        let mut output = OutputBuffer::new(Wrapping(5));
        assert_eq!(output.dispatch(10), (Wrapping(5), Wrapping(15)));
        // Characters 100 to 119 of link 3, of which the first is deleted.
        assert_eq!(output.grant(3, Wrapping(101), Wrapping(120), 7), (Wrapping(15), Wrapping(34)));
        assert_eq!((output.shift(), output.end(), output.way()), (Wrapping(86), Wrapping(120), 7));
        assert_eq!(output.holder(), 3);
        output.release();
        assert_eq!((output.holder(), output.granted()), (NONE, Wrapping(34)));
    }

    #[test]
    fn a_head_crosses_from_its_grant_on_and_leaves_with_its_request() {
        let mut input = InputBuffer::new();
        input.ask();
        input.grant(4, 100, Wrapping(20), 2);
        assert_eq!((input.output(), input.front(), input.deleted()), (4, Wrapping(20), Wrapping(22)));
        assert_eq!(input.crosses_at(Wrapping(25), 3), 115);
        input.leave(200);
        assert_eq!((input.output(), input.asked(), input.exit_free()), (NONE, false, 200));
        // A grant before that does not let it leave earlier.
        input.grant(4, 150, Wrapping(30), 0);
        assert_eq!(input.exit_free(), 200);
        input.crossed(230);
        assert_eq!(input.exit_free(), 230);
    }

    #[test]
    fn what_has_entered_is_taken_in_order() {
        let mut output = OutputBuffer::new(START);
        assert_eq!(output.entered(), None);
        for time in [10, 50] {
            output.keep_entered(Run { count: 2, step: 3, time });
        }
        output.take_entered(1);
        assert_eq!(output.entered().map(|run| (run.count, run.time)), Some((1, 13)));
        output.take_entered(1);
        assert_eq!(output.entered().map(|run| run.time), Some(50));
    }
}
