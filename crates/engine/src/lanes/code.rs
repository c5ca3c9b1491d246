//! Time-codes and interrupts on wires: sent before characters of packets.

use super::state::Network;
use crate::kernel::Time;
use crate::measure::{Code as Seen, CodeCounts};

impl Network {
    /// Handles all events of codes in this tick, before the network decides; returns their number.
    pub fn pass_codes(&mut self, seen: &mut Vec<Seen>) -> u64 {
        let Some(codes) = &mut self.codes else { return 0 };
        let (links, mut ready) = (&self.links, Vec::new());
        let is_down = |link: u32| links[link as usize].down;
        let count = codes.pass(&self.fabric, self.agenda.now, is_down, seen, &mut ready);
        for link in ready {
            self.agenda.wake_wire(&mut self.links[link as usize], self.agenda.now);
        }
        count
    }

    /// Sends the code that waits for a free wire, if any; returns whether it did.
    pub(super) fn send_code(&mut self, link: u32) -> bool {
        let Some(codes) = &mut self.codes else { return false };
        let Some(hop) = codes.start(&self.fabric, link, self.agenda.now) else { return false };
        let occupied = Time::from(self.fabric.link_code_ticks[link as usize]);
        let shared = &mut self.links[link as usize];
        shared.counts.busy_ticks += occupied as u64;
        shared.free_at = self.agenda.now + occupied;
        if self.hops.limit > 0 {
            self.hops.record(hop);
        }
        self.agenda.wake_wire(&mut self.links[link as usize], self.agenda.now + occupied);
        true
    }

    /// Discards the codes on a link that fails, or that wait for it.
    pub(super) fn lose_codes(&mut self, link: u32) {
        if let Some(codes) = &mut self.codes {
            codes.lose(link);
        }
    }

    /// Whether only codes, and faults without packets, are still to happen.
    pub fn is_idle(&self) -> bool {
        self.agenda.is_quiet()
            && self.pauses.as_ref().is_none_or(|pauses| pauses.next().is_none())
            && (self.faults.next().is_none() || self.packets.count() == 0)
    }

    /// Returns the code counts of every link; empty if there are no codes.
    pub fn code_counts(&self) -> &[CodeCounts] {
        self.codes.as_ref().map_or(&[], |codes| &codes.counts)
    }
}
