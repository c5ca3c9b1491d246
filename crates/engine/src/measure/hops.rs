//! The path of every packet: when it was on which link.

use super::Delivery;
use crate::fabric::NONE;
use crate::kernel::Time;

/// A packet on a link. Source and start together identify the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Sending terminal; [`NONE`] for an echo whose packet is forgotten.
    pub source: u32,
    /// When its source created it; for an echo 0.
    pub created: Time,
    /// When the packet started on its source's wire.
    pub started: Time,
    /// The destination terminal; for a bus transfer, the link of the destination port.
    pub target: u32,
    /// The link; for a bus transfer, that of the source port.
    pub link: u32,
    /// When its first character started on the wire.
    pub begin: Time,
    /// When the wire was free after it; -1 while that is unknown.
    pub end: Time,
    /// One of [`hop_kind`].
    pub kind: u8,
}

impl Hop {
    /// Returns the stay of a packet of links and switches on one of them.
    pub fn of(packet: &Delivery, link: u32, begin: Time, end: Time, kind: u8) -> Self {
        let &Delivery { source, target, created, started, .. } = packet;
        Self { source, created, started, target, link, begin, end, kind }
    }
}

/// What a stay on a link is.
pub mod hop_kind {
    /// A packet, or a request on a ring.
    pub const PACKET: u8 = 0;
    /// A response on a ring.
    pub const RESPONSE: u8 = 1;
    /// The echo of an accepted packet.
    pub const READY: u8 = 2;
    /// The echo of a packet that was rejected and will be sent again.
    pub const BUSY: u8 = 3;
    /// Added for a packet or response that is sent again.
    pub const AGAIN: u8 = 4;
    /// Added for a packet or response on a switch's bus.
    pub const BUS: u8 = 8;
    /// Instead of the others: where and when a packet was first cut, discarded or timed out; begin equals end.
    pub const LOST: u8 = 16;
    /// Instead of the others: a time-code or an interrupt. It started when it was created; its end is its arrival.
    pub const CODE: u8 = 32;
}

/// The newest hops.
#[derive(Clone, Debug, Default)]
pub struct Hops {
    /// Ordered by when their ends became known.
    pub rows: Vec<Hop>,
    /// Limit of the rows; 0: none are kept. At the limit, the older half is dropped.
    pub limit: usize,
    /// Hops that ended before this are not kept.
    pub since: Time,
    /// Number of dropped hops.
    pub dropped: u64,
}

impl Hops {
    /// Keeps a hop.
    pub fn record(&mut self, hop: Hop) {
        debug_assert!(hop.link != NONE);
        if hop.end < self.since {
            return;
        }
        if self.rows.len() >= self.limit {
            let older = self.limit.div_ceil(2);
            self.rows.drain(..older);
            self.dropped += older as u64;
        }
        self.rows.push(hop);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(begin: Time, lasts: Time) -> Hop {
        Hop { source: 0, created: 0, started: 0, target: 1, link: 2, begin, end: begin + lasts, kind: 0 }
    }

    #[test]
    fn the_newest_are_kept() {
        let mut hops = Hops { limit: 5, ..Hops::default() };
        (0..12).for_each(|begin| hops.record(hop(begin, 1)));
        assert_eq!(hops.rows.iter().map(|hop| hop.begin).collect::<Vec<_>>(), [9, 10, 11]);
        assert_eq!(hops.dropped, 9);
    }

    #[test]
    fn what_is_on_a_link_at_the_moment_asked_for_is_kept() {
        let mut hops = Hops { limit: 50, since: 6, ..Hops::default() };
        (0..9).for_each(|begin| hops.record(hop(begin, 3)));
        assert_eq!(hops.rows.iter().map(|hop| hop.begin).collect::<Vec<_>>(), [3, 4, 5, 6, 7, 8]);
        assert_eq!(hops.dropped, 0);
    }
}
