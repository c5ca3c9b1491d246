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

    /// Finds out how far can be computed in advance in this tick: until somebody looks, a link fails, or a code moves on.
    /// Paths of packets are recorded in order, and queues are counted in any tick, so with these nothing is.
    pub(super) fn look_ahead(&mut self) {
        let counts = self.fabric.via_by_queue > 0 || self.congestion.is_some();
        self.agenda.horizon = if self.hops.limit == 0 && !counts {
            let codes = self.codes.as_ref().map_or(UNKNOWN, |codes| codes.horizon(self.agenda.now));
            self.faults.next().unwrap_or(UNKNOWN).min(codes).min(self.looked_at)
        } else {
            self.agenda.now
        };
    }

    /// Whether packets of a link start as far ahead as their credit is known: it has one lane, no credit can become
    /// known that returns earlier, and its sender is not paused.
    #[inline(always)]
    pub(super) fn starts_further(&self, link: u32) -> bool {
        let shared = &self.links[link as usize];
        self.fabric.lanes == 1 && (shared.to_terminal || shared.spends && !shared.port.sorts)
    }

    /// Starts the characters of a lane whose times are known, up to the horizon, as long as nothing competes for the wire:
    /// up to the end of its packet, or further.
    pub(super) fn start_alone(&mut self, link: u32, lane: u32) {
        let further = self.starts_further(link);
        while further || self.lanes[lane as usize].is_amid() {
            let time = self.lanes[lane as usize].starts_at.max(self.links[link as usize].free_at);
            let is_wrong = time < self.links[link as usize].wrong_until;
            if time > self.agenda.now && (time >= self.agenda.horizon || is_wrong) {
                return self.agenda.wake_wire(&mut self.links[link as usize], time);
            }
            let time = time.max(self.agenda.now);
            if self.start_ahead(link, lane, time, None) == 0 {
                self.send(link, lane, time);
            }
        }
        self.wake_free_wire(link);
    }

    /// Moves the characters of a queue whose times are known, up to the horizon, where nothing competes for the crossbar
    /// with it: neither another queue for its input, nor another lane for its output.
    pub(super) fn cross_alone(&mut self, queue: u32) {
        loop {
            let at = &self.queues[queue as usize];
            let port = &self.links[at.link as usize].port;
            let (time, now) = (at.crosses_at.max(port.free_at), self.agenda.now);
            let until = if port.ahead { self.agenda.horizon } else { now };
            if time > now && time >= until.min(at.ends_at(port)) {
                return self.agenda.wake_port(&mut self.links[at.link as usize], time);
            }
            if !self.cross_ahead(queue, time.max(now), until) {
                self.cross_one(queue, time.max(now));
            }
        }
    }
}
