//! The way of every packet: when it was on which link.

use crate::fabric::NONE;
use crate::kernel::Time;

/// A packet on a link. With its source and its start, which are unique together, the packet is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Sending terminal; [`NONE`] for an echo whose packet is forgotten.
    pub source: u32,
    /// When the packet started on its source's wire.
    pub started: Time,
    /// The terminal it goes to; of a transfer over a bus the link of the port it goes to.
    pub target: u32,
    /// The link; of a transfer over a bus that of the port it comes from.
    pub link: u32,
    /// When its first character started on the wire.
    pub begin: Time,
    /// When the wire was free after it; -1 while that is not known.
    pub end: Time,
    /// One of [`hop_kind`].
    pub kind: u8,
}

/// What is on a link.
pub mod hop_kind {
    /// A packet, or a request on a ring.
    pub const PACKET: u8 = 0;
    /// A response on a ring.
    pub const RESPONSE: u8 = 1;
    /// The echo of what was accepted.
    pub const READY: u8 = 2;
    /// The echo of what has to come again.
    pub const BUSY: u8 = 3;
    /// Added to a packet or a response that is sent again.
    pub const AGAIN: u8 = 4;
    /// Added to a packet or a response that is moved over a bus of a switch.
    pub const BUS: u8 = 8;
    /// Instead of the others: where and when a packet was cut, discarded or timed out first; its begin is its end.
    pub const LOST: u8 = 16;
    /// Instead of the others: a time-code or an interrupt, which started when it was made; its end is when it has come.
    pub const CODE: u8 = 32;
}

/// The newest hops.
#[derive(Clone, Debug, Default)]
pub struct Hops {
    /// In the order in which their ends became known.
    pub rows: Vec<Hop>,
    /// How many may be kept; 0: none are. When there are this many, the older half is dropped.
    pub limit: usize,
    /// What had ended before this is not kept.
    pub since: Time,
    /// How many were dropped.
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

    #[test]
    fn the_newest_are_kept() {
        let hop = |begin| Hop { source: 0, started: 0, target: 1, link: 2, begin, end: begin + 1, kind: 0 };
        let mut hops = Hops { limit: 5, ..Hops::default() };
        (0..12).for_each(|begin| hops.record(hop(begin)));
        assert_eq!(hops.rows.iter().map(|hop| hop.begin).collect::<Vec<_>>(), [9, 10, 11]);
        assert_eq!(hops.dropped, 9);
    }

    #[test]
    fn what_is_on_a_link_at_the_moment_asked_for_is_kept() {
        let hop = |begin| Hop { source: 0, started: 0, target: 1, link: 2, begin, end: begin + 3, kind: 0 };
        let mut hops = Hops { limit: 50, since: 6, ..Hops::default() };
        (0..9).for_each(|begin| hops.record(hop(begin)));
        assert_eq!(hops.rows.iter().map(|hop| hop.begin).collect::<Vec<_>>(), [3, 4, 5, 6, 7, 8]);
        assert_eq!(hops.dropped, 0);
    }
}
