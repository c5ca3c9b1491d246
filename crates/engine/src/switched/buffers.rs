//! The two buffers of one link: the packets in them, and the numbers of their characters.

use std::num::Wrapping;

use super::queue::{Queue, Run};
use super::timeline::{Number, START};
use crate::fabric::NONE;
use crate::kernel::Time;

/// The input buffer at the end of a link, with the output of its head packet.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct InputBuffer {
    /// Earliest departure of the head packet; of its next character if `Kind::stepwise`.
    exit_free: Time,
    /// Link granted to the head packet, or [`NONE`].
    output: u32,
    /// First character of the head packet at its grant.
    front: Number,
    /// Characters before this one are deleted with the header.
    deleted: Number,
    /// Whether the request of the current head is pending or made.
    asked: bool,
}

/// The output buffer before the wire of a link.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct OutputBuffer {
    /// Input link whose head packet holds this link, or [`NONE`].
    holder: u32,
    /// One after the last character of the packets granted this link.
    granted: Number,
    /// Difference between a character's number on the holder and its number here.
    shift: Number,
    /// Ticks until a character is ready for this wire: from its start on the holder's wire, or from its departure from
    /// the input buffer if the holder is stepwise.
    way: u32,
    /// When characters not yet on the wire are ready for it, if that cannot be looked up any more: see `Worm::bound`.
    entered: Option<Box<Queue>>,
}

impl InputBuffer {
    /// Returns an empty buffer.
    pub fn new() -> Self {
        Self { exit_free: 0, output: NONE, front: START, deleted: START, asked: false }
    }

    /// Returns the link granted to the head packet, or [`NONE`].
    #[inline(always)]
    pub fn output(&self) -> u32 {
        self.output
    }

    /// Returns the earliest departure of the head packet; of its next character if `Kind::stepwise`.
    #[inline(always)]
    pub fn exit_free(&self) -> Time {
        self.exit_free
    }

    /// Returns the first character of the head packet at its grant.
    #[inline(always)]
    pub fn front(&self) -> Number {
        self.front
    }

    /// Returns the first character that is not deleted.
    #[inline(always)]
    pub fn deleted(&self) -> Number {
        self.deleted
    }

    /// Whether the request of the current head is pending or made.
    #[inline(always)]
    pub fn asked(&self) -> bool {
        self.asked
    }

    /// Returns when a character of the head packet crosses if all characters since the grant cross `crossbar` ticks
    /// apart.
    #[inline(always)]
    pub fn crosses_at(&self, number: Number, crossbar: u32) -> Time {
        self.exit_free + Time::from((number - self.front).0) * Time::from(crossbar)
    }

    /// Records the request of the head.
    #[inline(always)]
    pub fn ask(&mut self) {
        self.asked = true;
    }

    /// Grants an output to the head packet, whose characters begin with a number; deletes the first few.
    #[inline(always)]
    pub fn grant(&mut self, output: u32, now: Time, first: Number, deleted: u32) {
        self.output = output;
        self.exit_free = self.exit_free.max(now);
        (self.front, self.deleted) = (first, first + Wrapping(deleted));
    }

    /// Records that characters have crossed; the next one may cross at a tick.
    pub fn crossed(&mut self, next: Time) {
        self.exit_free = next;
    }

    /// Forgets the request of a head that was lost.
    pub fn forget(&mut self) {
        self.asked = false;
    }

    /// Records that the head packet has left; the next packet is at the front from a tick on.
    #[inline(always)]
    pub fn leave(&mut self, at_front: Time) {
        self.exit_free = at_front;
        self.output = NONE;
        self.asked = false;
    }
}

impl OutputBuffer {
    /// Returns an empty buffer of a link with a given first character.
    pub fn new(first: Number) -> Self {
        Self { holder: NONE, granted: first, shift: Wrapping(0), way: 0, entered: None }
    }

    /// Returns the input link whose head packet holds this link, or [`NONE`].
    #[inline(always)]
    pub fn holder(&self) -> u32 {
        self.holder
    }

    /// Returns one after the last character of the packets granted this link.
    #[inline(always)]
    pub fn granted(&self) -> Number {
        self.granted
    }

    /// Returns the difference between a character's number on the holder and its number here.
    #[inline(always)]
    pub fn shift(&self) -> Number {
        self.shift
    }

    /// Returns one after the last character of the packet granted last, in the holder's numbers.
    #[inline(always)]
    pub fn end(&self) -> Number {
        self.granted + self.shift
    }

    /// Returns the ticks until a character is ready for this wire, from its start on the holder's wire, or from its
    /// departure if the holder is stepwise.
    #[inline(always)]
    pub fn way(&self) -> u32 {
        self.way
    }

    /// Numbers the characters of a packet that a terminal puts on the link: the first, and one after the last.
    #[inline(always)]
    pub fn dispatch(&mut self, characters: u32) -> (Number, Number) {
        let first = self.granted;
        self.granted = first + Wrapping(characters);
        (first, self.granted)
    }

    /// Grants the link to the head packet of an input link, with its range of characters there; returns their numbers
    /// here.
    #[inline(always)]
    pub fn grant(&mut self, holder: u32, first: Number, end: Number, way: u32) -> (Number, Number) {
        let here = self.granted;
        self.shift = first - here;
        self.granted = end - self.shift;
        (self.holder, self.way) = (holder, way);
        (here, self.granted)
    }

    /// Takes characters off the packet granted last.
    pub fn shorten(&mut self, missing: u32) {
        self.granted -= missing;
    }

    /// Has nothing before the wire any more; the next packet is numbered from a character on.
    pub fn empty(&mut self, next: Number) {
        self.granted = next;
        self.entered = None;
    }

    /// Records that its holder's packet has left the input buffer.
    #[inline(always)]
    pub fn release(&mut self) {
        self.holder = NONE;
    }

    /// Stores when characters are ready that have not been sent.
    pub fn keep_entered(&mut self, run: Run) {
        self.entered.get_or_insert_default().push(run);
    }

    /// Returns when the first stored ones are ready.
    pub fn entered(&self) -> Option<Run> {
        self.entered.as_ref().and_then(|entered| entered.front())
    }

    /// Removes this number of sent ones.
    pub fn take_entered(&mut self, count: u32) {
        self.entered.as_mut().expect("there was a run in it").take_all(count);
    }
}
