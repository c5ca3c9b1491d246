//! The objects under way: units on links, packets in queues, transactions.

use super::phases::UNLABELLED;
use crate::fabric::{NONE, transaction};
use crate::kernel::Time;
use crate::kernel::slab::Linked;

/// What a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A request or a response.
    Send,
    /// A send packet that the scrubber has seen.
    Marked,
    /// An echo whose station has not decided yet.
    Open,
    /// The echo of an accepted packet.
    Ready,
    /// The echo of a packet that has to be sent again.
    Busy,
}

impl Kind {
    /// Whether it is not an echo.
    #[inline]
    pub fn is_packet(self) -> bool {
        matches!(self, Self::Send | Self::Marked)
    }
}

/// A unit on a link or in a bypass FIFO, or an echo that is held back.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Unit {
    /// When it is ready for the output of its current or next station.
    pub time: Time,
    pub next: u32,
    /// The packet that is sent, or that the echo answers.
    pub entry: u32,
    /// The station that sent it.
    pub station: u32,
    /// The destination terminal; for an undecided echo, the station that decides.
    pub dest: u32,
    pub symbols: u32,
    pub kind: Kind,
    pub response: bool,
    /// Whether it is a repetition.
    pub again: bool,
    /// For a packet: whether its acceptance ends the transaction.
    pub ends_transaction: bool,
}

const _: () = assert!(size_of::<Unit>() == 32, "two units are a line of the cache");

/// A change of the idle symbols, on its way to a station.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// When it reaches the output of the station.
    pub time: Time,
    pub next: u32,
    pub go: bool,
}

/// A packet, in the transmit queues of a station until it is accepted and then in receive queues, always in the same
/// row. Only if its sender must remember it until its echo arrives is there a second row for that.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Entry {
    /// When it is ready for the link or, after receipt, for the bus or the user.
    pub ready: Time,
    /// Its transaction. It may have ended if the packet has been accepted and the sender only waits for its echo.
    pub transaction: u32,
    /// Destination terminal.
    pub dest: u32,
    /// Bytes without idle symbols.
    pub bytes: u32,
    /// Its number in the order of entry.
    pub number: u32,
    pub next: u32,
    /// Number of buses that its transaction has crossed, without a multiple of 2^16 that the transaction counts.
    pub crossed: u16,
    /// After receipt by a switch: the index of its output port.
    pub target: u8,
    pub is: Traits,
}

const _: () = assert!(size_of::<Entry>() == 32, "two packets are a line of the cache");

/// What a packet is, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Traits(u8);

/// A packet that was sent and not accepted, as its sender knows it. In the row of the same number as the packet's.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Sent {
    /// Source terminal, if packets must stay in order.
    pub from: u32,
    /// Neighbours in the list of packets sent and not accepted.
    pub next: u32,
    pub before: u32,
    /// Number of busy echoes.
    pub busied: u32,
    /// Station that last busied it.
    pub by: u32,
}

/// A transaction, from its dispatch until nothing of it is left.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Transaction {
    pub created: Time,
    pub started: Time,
    pub dispatched: Time,
    pub source: u32,
    pub target: u32,
    /// Payload on the rings.
    pub length: u32,
    /// Bytes of it that are requested.
    pub payload: u32,
    /// Neighbours in the order of dispatch, while its number is in use.
    pub after: u32,
    pub before: u32,
    /// Number of buses that its request has crossed, and those of a packet in multiples of 2^16.
    pub crossed: u32,
    /// Number of references: its packet, its number, and the entry whose acceptance ends it.
    pub uses: u32,
    /// One of the codes of `fabric::transaction`.
    pub kind: u8,
    pub numbered: bool,
    pub delivered: bool,
    /// The table of the ports for its routes.
    pub turn: u8,
    /// Its mark at the requester: of its program, or the row of its flow.
    pub mark: u32,
    /// Its number there, if the requester has several ports.
    pub number: u32,
}

impl Linked for Unit {
    #[inline]
    fn next(&mut self) -> &mut u32 {
        &mut self.next
    }
}

impl Linked for Edge {
    #[inline]
    fn next(&mut self) -> &mut u32 {
        &mut self.next
    }
}

impl Linked for Entry {
    #[inline]
    fn next(&mut self) -> &mut u32 {
        &mut self.next
    }
}

/// Payload of a lock in each direction.
pub(super) const LOCK_BYTES: u32 = 16;

impl Entry {
    /// Returns a packet to be sent.
    pub fn new(ready: Time, transaction: u32, is: Traits, dest: u32, bytes: u32, crossed: u16) -> Self {
        Self { ready, transaction, dest, bytes, number: 0, next: NONE, crossed, target: 0, is }
    }
}

impl Traits {
    const RESPONSE: u8 = 1;
    const ENDS: u8 = 1 << 1;
    const BUSIED: u8 = 1 << 2;
    const NO_TRY: u8 = 1 << 3;
    /// The first of the bits of its label.
    const LABEL: u32 = 4;

    /// Returns those of a packet that has not been sent; `ends`: whether its acceptance ends the transaction.
    #[inline]
    pub fn new(response: bool, ends: bool) -> Self {
        Self(u8::from(response) | u8::from(ends) << 1 | UNLABELLED << Self::LABEL)
    }

    /// Returns those of a packet that is to be sent on the next ring.
    #[inline]
    pub fn on_next_ring(self) -> Self {
        Self(self.0 & Self::RESPONSE | UNLABELLED << Self::LABEL)
    }

    #[inline]
    pub fn response(self) -> bool {
        self.0 & Self::RESPONSE != 0
    }

    /// Whether its acceptance ends the transaction.
    #[inline]
    pub fn ends_transaction(self) -> bool {
        self.0 & Self::ENDS != 0
    }

    /// Whether its busy echo has arrived and it has not been accepted since.
    #[inline]
    pub fn known_busied(self) -> bool {
        self.0 & Self::BUSIED != 0
    }

    pub fn set_known_busied(&mut self) {
        self.0 |= Self::BUSIED;
    }

    /// Whether it is sent as `NOTRY`.
    #[inline]
    pub fn no_try(self) -> bool {
        self.0 & Self::NO_TRY != 0
    }

    pub fn set_no_try(&mut self, no_try: bool) {
        self.0 = self.0 & !Self::NO_TRY | u8::from(no_try) << 3;
    }

    /// Returns its reservation in a receive queue, see [`super::phases`].
    #[inline]
    pub fn label(self) -> u8 {
        self.0 >> Self::LABEL
    }

    #[inline]
    pub fn set_label(&mut self, label: u8) {
        self.0 = self.0 & ((1 << Self::LABEL) - 1) | label << Self::LABEL;
    }
}

impl Sent {
    /// Nothing is known yet.
    pub const NOTHING: Self = Self { from: NONE, next: NONE, before: NONE, busied: 0, by: NONE };
}

impl Transaction {
    /// Returns the bytes of data of its request or its response.
    pub fn bytes(&self, response: bool) -> u32 {
        match (self.kind, response) {
            (transaction::WRITE | transaction::MOVE, false) | (transaction::READ, true) => self.length,
            (transaction::LOCK, _) => LOCK_BYTES,
            _ => 0,
        }
    }
}
