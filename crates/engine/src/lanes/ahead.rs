//! Links of one lane, computed in advance: nothing competes for their wires and crossbars, so the times of characters
//! follow from causes that are known.
//!
//! Both equations of the page take the latest of times that belong to earlier characters. Once these are known, nothing
//! changes them but what comes from outside: a fault, a time-code, a time-out, or somebody who looks. So everything
//! before the first of these is computed as soon as it is known.

use super::state::{Network, UNKNOWN};
use crate::kernel::Time;

impl Network {
    /// Returns the number of events that outweigh a search for deadlock. A character takes two of links that share their
    /// wires, and a fraction of one of others.
    pub fn search_events(&self) -> u64 {
        self.lanes.len() as u64 * if self.alone { 8 } else { 64 }
    }

    /// Tells at which tick the state or the counts are looked at next: what happens then or later is not computed before.
    pub fn look_at(&mut self, time: Time) {
        self.looked_at = time;
    }

    /// Finds out how far links that are alone can be computed in advance in this tick: until somebody looks, a link
    /// fails, or a code moves on. Paths of packets are recorded in order, so with these nothing is.
    pub(super) fn look_ahead(&mut self) {
        if self.alone && self.hops.limit == 0 {
            let codes = self.codes.as_ref().map_or(UNKNOWN, |codes| codes.horizon(self.now));
            self.horizon = self.faults.next().unwrap_or(UNKNOWN).min(codes).min(self.looked_at);
        } else {
            self.horizon = self.now;
        }
    }

    /// Starts the characters of the only lane of a link whose times are known, up to the horizon.
    pub(super) fn start_alone(&mut self, link: u32) {
        loop {
            self.start_middle(link, link);
            let time = self.starts_at[link as usize].max(self.links[link as usize].free_at);
            if time > self.now && time >= self.horizon {
                return self.wake_wire(link, time);
            }
            self.send(link, link, time.max(self.now));
        }
    }

    /// Moves the characters of the only queue at the end of a link whose times are known, up to the horizon. Nothing
    /// competes for the crossbar with it: neither another queue for its input, nor another lane for its output.
    pub(super) fn cross_alone(&mut self, link: u32) {
        while let Some(&queue) = self.ports[link as usize].crossing.first() {
            if self.cross_middle(link, queue) && self.crosses_at[queue as usize] == UNKNOWN {
                return;
            }
            let port = &mut self.ports[link as usize];
            let time = self.crosses_at[queue as usize].max(port.free_at);
            let ends_at = self.queues[queue as usize].moved_at.saturating_add(port.timeout);
            if time > self.now && time >= self.horizon.min(ends_at) {
                return self.wake_port(link, time);
            }
            let time = time.max(self.now);
            port.free_at = time + port.pace;
            self.cross_one(link, queue, time);
        }
    }
}
