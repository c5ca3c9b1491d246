//! The paths of packets in a trace.

use super::state::{Network, UNKNOWN};
use super::timeline::ahead;
use crate::fabric::NONE;
use crate::kernel::Time;
use crate::measure::{Hop, hop_kind};

impl Network {
    /// Records the stay of a packet on a link.
    #[cold]
    pub(super) fn keep_hop(&mut self, link: u32, packet: u32, begin: Time, end: Time) {
        let hop = self.hop(link, packet, begin, end);
        self.hops.record(hop);
    }

    /// Returns the worms that are on links, with end -1.
    pub fn standing(&self) -> Vec<Hop> {
        let mut found = Vec::new();
        for (link, at) in (0..self.fabric.links() as u32).zip(&self.links) {
            if !at.has_sent_all() {
                let worm = at.worm(at.sending(), &self.crowd);
                if ahead(at.wire.known(), worm.first) > 0 {
                    found.push(self.hop(link, worm.packet, worm.time, -1));
                }
            }
        }
        found
    }

    pub(super) fn hop(&self, link: u32, packet: u32, begin: Time, end: Time) -> Hop {
        let hop = Hop::of(&self.packets[packet].delivery, link, begin, end, hop_kind::PACKET);
        Hop { started: self.start_of(packet), ..hop }
    }

    /// Returns when a packet started on its source's wire, even while its end has not left there.
    fn start_of(&self, packet: u32) -> Time {
        let state = &self.packets[packet].delivery;
        if state.started != UNKNOWN {
            return state.started;
        }
        let link = self.fabric.terminal_out_link[state.source as usize];
        let mut number = self.links[link as usize].head();
        while number != NONE && self.worm(link, number).packet != packet {
            number = self.worm(link, number).next;
        }
        if number == NONE { state.created } else { self.worm(link, number).time }
    }
}
