//! What is on its way: units on links, packets in queues, transactions.

use super::phases::UNLABELLED;
use crate::fabric::{NONE, transaction};
use crate::kernel::Time;
use crate::kernel::slab::Linked;

/// What a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A request or a response.
    Send,
    /// One that the scrubber has seen.
    Marked,
    /// An echo about which the station that makes it has not decided yet.
    Open,
    /// The echo of one that was accepted.
    Ready,
    /// The echo of one that has to come again.
    Busy,
}

impl Kind {
    /// Whether it is no echo.
    #[inline]
    pub fn is_packet(self) -> bool {
        matches!(self, Self::Send | Self::Marked)
    }
}

/// A unit on a link, in a bypass FIFO, or an echo held back.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Unit {
    /// When it is ready for the output of the station that it comes to or is in.
    pub time: Time,
    pub next: u32,
    /// What is sent, or what the echo answers.
    pub entry: u32,
    /// The station that sent that.
    pub station: u32,
    /// The terminal it is for; of an echo about which is still to be decided: the station that does.
    pub dest: u32,
    pub symbols: u32,
    pub kind: Kind,
    pub response: bool,
    /// Whether it is sent again.
    pub again: bool,
    /// Of a packet: whether the transaction is over when it was accepted.
    pub ends_deal: bool,
}

const _: () = assert!(size_of::<Unit>() == 32, "two units are a line of the cache");

/// A change of what idle symbols say, on its way to a station.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// When it comes to the output of the station.
    pub time: Time,
    pub next: u32,
    pub go: bool,
}

/// A packet, in the transmit queues of a station until it was accepted and then in receive queues, so that there is one
/// row for it all the time. Only if its sender must know of it until its echo has come there is one of its own for that.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Entry {
    /// When it is ready for the link; for the bus or the user, where it was received.
    pub ready: Time,
    /// Its transaction, until it was accepted.
    pub deal: u32,
    pub station: u32,
    /// Terminal it comes from.
    pub from: u32,
    /// Terminal it is for.
    pub dest: u32,
    /// Without idle symbols.
    pub bytes: u32,
    /// Buses that its transaction has crossed.
    pub crossed: u32,
    /// Its place in the order of entry.
    pub number: u32,
    pub next: u32,
    /// Neighbours among what was sent and not accepted.
    pub open_next: u32,
    pub open_before: u32,
    /// How often it was busied.
    pub busied: u32,
    /// Station that busied it last.
    pub by: u32,
    pub response: bool,
    /// Whether the transaction is over when it was accepted.
    pub ends_deal: bool,
    /// Whether the busy echo has come and it has not been accepted since.
    pub known_busied: bool,
    /// What a receive queue owes it, see [`super::phases`].
    pub label: u8,
    /// Whether it goes out as `NOTRY`.
    pub no_try: bool,
    /// Received by a switch: the place of the port by which it leaves.
    pub target: u8,
}

const _: () = assert!(size_of::<Entry>() == 64, "a packet to be sent is a line of the cache");

/// A transaction from its dispatch until nothing of it is left.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Deal {
    pub created: Time,
    pub started: Time,
    pub dispatched: Time,
    pub source: u32,
    pub target: u32,
    /// Payload on the rings.
    pub length: u32,
    /// What of it is wanted.
    pub payload: u32,
    /// Neighbours in the order of dispatch, while its number is taken.
    pub after: u32,
    pub before: u32,
    /// Buses that its request has crossed.
    pub crossed: u32,
    /// What refers to it: its packet, its number, and the entry whose acceptance ends it.
    pub uses: u32,
    pub transaction: u8,
    pub numbered: bool,
    pub delivered: bool,
    /// Which of the tables of the ports it goes by.
    pub turn: u8,
    /// What its requester knows it by.
    pub mark: u32,
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

/// What a lock carries each way.
pub(super) const LOCK_BYTES: u32 = 16;

impl Entry {
    /// A packet that a station is to send.
    pub fn new(
        station: u32,
        ready: Time,
        deal: u32,
        response: bool,
        (from, dest): (u32, u32),
        bytes: u32,
    ) -> Self {
        Self {
            ready,
            deal,
            station,
            from,
            dest,
            bytes,
            crossed: 0,
            number: 0,
            next: NONE,
            open_next: NONE,
            open_before: NONE,
            busied: 0,
            by: NONE,
            response,
            ends_deal: false,
            known_busied: false,
            label: UNLABELLED,
            no_try: false,
            target: 0,
        }
    }
}

impl Deal {
    /// Bytes of data that its request or its response carries.
    pub fn bytes(&self, response: bool) -> u32 {
        match (self.transaction, response) {
            (transaction::WRITE | transaction::MOVE, false) | (transaction::READ, true) => self.length,
            (transaction::LOCK, _) => LOCK_BYTES,
            _ => 0,
        }
    }
}
