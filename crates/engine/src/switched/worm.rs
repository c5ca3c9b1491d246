//! Worms: the packets on a link. A packet that is spread over several links is a worm on each of them.
//!
//! A link rarely has more than two, unless packets are shorter than its buffers. Two are stored in the row of the link,
//! beside its other data; further ones are stored separately. [`super::packet_path`] fills a new one; after that only
//! the verbs of this file change it, and their order.

use std::hint::cold_path;

use super::link::Link;
use super::timeline::Number;
use crate::fabric::NONE;
use crate::kernel::Time;

/// Headers still in front of a worm's payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Header {
    /// An address, whose characters are deleted one by one, then the final one.
    Address,
    /// The one to the intermediate switch, then the final one.
    Via,
    /// The final one.
    Final,
    /// None: it was deleted.
    #[default]
    Deleted,
}

/// A packet on one link: its characters `first..end`, the last being the end of packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worm {
    /// Earliest start of its first character on the wire, by its grant or dispatch; its actual start once that is
    /// known; after its end of packet is sent, when the wire is free.
    pub time: Time,
    /// [`NONE`] in a row that is free.
    pub packet: u32,
    pub next: u32,
    /// Class of its front header, or of its destination if that header is deleted.
    pub class: u32,
    pub first: Number,
    pub end: Number,
    pub header: Header,
    /// Number of links that it has passed before this one, [`PASSED`] or [`EAGER`].
    pub links: u8,
    /// Whether each character waits for its entry in `OutputBuffer::entered`, instead of only the first for `time`.
    pub bound: bool,
}

impl Worm {
    /// The start of its first character on the wire is known.
    #[inline(always)]
    pub fn has_begun(&mut self, time: Time) {
        self.time = time;
    }

    /// Takes characters off its end; its time is this from now on.
    pub fn shorten(&mut self, missing: u32, time: Time) {
        self.end -= missing;
        self.time = time;
    }

    /// Each of its characters waits for its entry in `OutputBuffer::entered`.
    #[inline(always)]
    pub fn bind(&mut self) {
        self.bound = true;
    }
}

/// A worm that has been sent completely.
pub(super) struct Gone {
    pub number: u32,
    pub packet: u32,
    pub next: u32,
    /// When its first character started on the wire.
    pub started: Time,
    /// When the wire is free after it.
    pub free: Time,
}

/// A worm that has left the input buffer.
pub(super) struct Head {
    pub packet: u32,
    /// When the wire was free after its end of packet.
    pub time: Time,
}

/// Value of `Worm::links` for a packet whose links are not left behind, because it is short.
pub(super) const EAGER: u8 = u8::MAX;

/// Value of `Worm::links` for a packet that has passed too many links to count.
pub(super) const PASSED: u8 = EAGER - 1;

/// Worms in the row of a link, one cache line of them.
const ROOM: usize = 2;

/// The order of the worms of a link, by their numbers in `Rows` or the crowd; [`NONE`] where there is none.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Order {
    /// First worm in the input buffer or under way to it.
    head: u32,
    /// First worm with characters to send.
    sending: u32,
    /// Last worm granted this link.
    tail: u32,
}

/// The first few worms of a link.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows([Worm; ROOM]);

/// The overflow of the rows of all links: further worms.
#[derive(Clone, Debug)]
pub(super) struct Crowd {
    rows: Vec<Worm>,
    /// First of the free rows, linked by `next`, or [`NONE`].
    free: u32,
}

impl Default for Worm {
    /// A free row.
    fn default() -> Self {
        let (first, end) = (Number::default(), Number::default());
        let (header, links, bound) = (Header::default(), 0, false);
        Self { time: 0, packet: NONE, next: NONE, class: 0, first, end, header, links, bound }
    }
}

impl Default for Order {
    fn default() -> Self {
        Self { head: NONE, sending: NONE, tail: NONE }
    }
}

impl Default for Crowd {
    fn default() -> Self {
        Self { rows: Vec::new(), free: NONE }
    }
}

impl Crowd {
    #[cold]
    fn insert(&mut self) -> u32 {
        if self.free == NONE {
            self.rows.push(Worm::default());
            return (self.rows.len() + ROOM - 1) as u32;
        }
        let number = self.free;
        self.free = self.rows[number as usize - ROOM].next;
        number
    }

    #[cold]
    fn free(&mut self, number: u32) -> (u32, u32, Time) {
        let row = &mut self.rows[number as usize - ROOM];
        let next = std::mem::replace(&mut row.next, self.free);
        self.free = number;
        (row.packet, next, row.time)
    }
}

impl Link {
    /// Returns the first worm in the input buffer or under way to it, or [`NONE`].
    #[inline(always)]
    pub fn head(&self) -> u32 {
        self.order.head
    }

    /// Returns the first worm with characters to send, or [`NONE`].
    #[inline(always)]
    pub fn sending(&self) -> u32 {
        self.order.sending
    }

    /// Returns the last worm granted this link, or [`NONE`] if it has left the input buffer.
    #[inline(always)]
    pub fn tail(&self) -> u32 {
        self.order.tail
    }

    /// Whether all worms granted this link have a time for their end of packet.
    #[inline(always)]
    pub fn has_sent_all(&self) -> bool {
        self.order.sending == NONE
    }

    /// Whether the worm granted last is being sent: only this one can still be in its previous input buffer.
    #[inline(always)]
    pub fn sends_newest(&self) -> bool {
        self.order.sending == self.order.tail
    }

    /// Returns one of its worms.
    #[inline(always)]
    pub fn worm<'a>(&'a self, number: u32, crowd: &'a Crowd) -> &'a Worm {
        match self.worms.0.get(number as usize) {
            Some(worm) => worm,
            None => {
                cold_path();
                &crowd.rows[number as usize - ROOM]
            }
        }
    }

    /// Returns one of its worms.
    #[inline(always)]
    pub fn worm_mut<'a>(&'a mut self, number: u32, crowd: &'a mut Crowd) -> &'a mut Worm {
        match self.worms.0.get_mut(number as usize) {
            Some(worm) => worm,
            None => {
                cold_path();
                &mut crowd.rows[number as usize - ROOM]
            }
        }
    }

    /// Returns a new row for a worm after the others.
    #[inline(always)]
    pub fn append<'a>(&'a mut self, crowd: &'a mut Crowd) -> &'a mut Worm {
        let place = self.worms.0.iter().position(|worm| worm.packet == NONE);
        let number = place.map_or_else(|| crowd.insert(), |place| place as u32);
        if self.order.tail != NONE {
            self.worm_mut(self.order.tail, crowd).next = number;
        }
        self.order.tail = number;
        if self.order.sending == NONE {
            self.order.sending = number;
        }
        if self.order.head == NONE {
            self.order.head = number;
        }
        self.worm_mut(number, crowd)
    }

    /// Moves on to the next worm to send: the end of packet of this one has a time on the wire.
    #[inline(always)]
    pub fn sent(&mut self, number: u32, crowd: &mut Crowd) -> Gone {
        let free = self.wire.free();
        let worm = self.worm_mut(number, crowd);
        let &mut Worm { packet, next, time: started, .. } = worm;
        let characters = (worm.end - worm.first).0;
        worm.time = free;
        self.due.catch_up();
        self.order.sending = next;
        self.sent.add(characters, free - started);
        Gone { number, packet, next, started, free }
    }

    /// Ends the order of its worms, all of them given, after a number of them that have been sent.
    pub fn end_at(&mut self, stay: usize, worms: &[(u32, Worm)], crowd: &mut Crowd) {
        for &(number, _) in &worms[stay..] {
            match self.worms.0.get_mut(number as usize) {
                Some(row) => row.packet = NONE,
                None => _ = crowd.free(number),
            }
        }
        let last = worms[..stay].last().map_or(NONE, |worm| worm.0);
        if last == NONE {
            self.order.head = NONE;
        } else {
            self.worm_mut(last, crowd).next = NONE;
        }
        self.order.tail = last;
        self.order.sending = NONE;
        self.output.empty(self.wire.known());
        self.due.catch_up();
    }

    /// Takes the first worm off.
    #[inline]
    pub fn take_head(&mut self, crowd: &mut Crowd) -> Head {
        let number = self.order.head;
        let (packet, next, time) = match self.worms.0.get_mut(number as usize) {
            Some(row) => (std::mem::replace(&mut row.packet, NONE), row.next, row.time),
            None => crowd.free(number),
        };
        self.order.head = next;
        if self.order.tail == number {
            self.order.tail = NONE;
        }
        Head { packet, time }
    }
}
