//! What a trace keeps of the ways of packets.

use super::state::{Network, UNKNOWN};
use crate::fabric::NONE;
use crate::kernel::Time;
use crate::measure::{Hop, hop_kind};

impl Network {
    /// Keeps the way of a worm over a link, whose end has just got its time.
    #[cold]
    pub(super) fn keep_hop(&mut self, link: u32, number: u32) {
        let hop = self.hop(link, number, self.worms[number as usize].sent);
        self.hops.record(hop);
    }

    /// Worms that are on links, with an end of -1.
    pub fn standing(&self) -> Vec<Hop> {
        let mut found = Vec::new();
        for link in 0..self.links.len() as u32 {
            let mut number = self.links[link as usize].head;
            while number != NONE {
                let worm = &self.worms[number as usize];
                if worm.started != UNKNOWN && worm.sent == UNKNOWN {
                    found.push(self.hop(link, number, -1));
                }
                number = worm.next;
            }
        }
        found
    }

    fn hop(&self, link: u32, number: u32, end: Time) -> Hop {
        let worm = &self.worms[number as usize];
        let packet = &self.packets[worm.packet as usize];
        let (source, target, begin) = (packet.source, packet.target, worm.started);
        let started = self.start_of(worm.packet);
        Hop { source, started, target, link, begin, end, kind: hop_kind::PACKET }
    }

    /// When a packet started on its source's wire, also while its end is still to leave there.
    fn start_of(&self, packet: u32) -> Time {
        let state = &self.packets[packet as usize];
        let mut number = match state.started {
            UNKNOWN => self.links[self.fabric.terminal_out_link[state.source as usize] as usize].head,
            _ => return state.started,
        };
        while number != NONE && self.worms[number as usize].packet != packet {
            number = self.worms[number as usize].next;
        }
        if number == NONE { state.created } else { self.worms[number as usize].started }
    }
}
