//! Routes that a terminal closes because its transactions on them time out.

use std::collections::HashMap;

use super::state::Rings;
use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::terminal::Packet;

/// The closed routes, and what was discarded because of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Closed {
    /// Number of time-outs after which a route is closed; 0: never.
    after: u32,
    /// For how long it is closed.
    ticks: Time,
    /// Routes, from terminal to terminal, with time-outs since the last transaction that ended in time.
    routes: HashMap<(u32, u32), Route>,
    /// Per link: packets that its terminal discarded since the counts were last cleared; empty if routes are never
    /// closed.
    discarded: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Route {
    timed_out: u32,
    until: Time,
}

impl Closed {
    pub fn new(f: &Fabric) -> Self {
        let links = if f.ring_close_after > 0 { f.links() } else { 0 };
        let (after, ticks) = (f.ring_close_after, f.ring_closed_ticks as Time);
        Self { after, ticks, routes: HashMap::new(), discarded: vec![0; links] }
    }

    /// Records a time-out.
    pub fn time_out(&mut self, from: u32, to: u32, now: Time) {
        if self.after == 0 {
            return;
        }
        let route = self.routes.entry((from, to)).or_default();
        route.timed_out = (route.timed_out + 1).min(self.after);
        if route.timed_out == self.after {
            route.until = now + self.ticks;
        }
    }

    /// Records a transaction that ended in time.
    #[inline]
    pub fn end(&mut self, from: u32, to: u32) {
        if !self.routes.is_empty() {
            self.routes.remove(&(from, to));
        }
    }

    #[inline]
    fn has(&self, from: u32, to: u32, now: Time) -> bool {
        !self.routes.is_empty() && self.routes.get(&(from, to)).is_some_and(|route| now < route.until)
    }

    /// Returns the number of packets that the terminal of a link discarded.
    pub fn discarded_on(&self, link: usize) -> u64 {
        self.discarded.get(link).copied().unwrap_or(0)
    }

    /// Resets the counts.
    pub fn clear_counts(&mut self) {
        self.discarded.fill(0);
    }
}

impl Rings {
    /// Returns the transactions that never arrive since the beginning, per row of the columns `flow_*`.
    pub fn lost_of_flows(&self) -> &[u64] {
        &self.faults.lost_of_flows
    }

    /// Whether a terminal discards a packet instead of dispatching it, because its route is closed.
    #[inline]
    pub(super) fn discards(&mut self, terminal: u32, packet: &Packet) -> bool {
        let closed = self.closed.has(terminal, packet.target, self.now);
        if closed {
            self.closed.discarded[self.fabric.terminal_out_link[terminal as usize] as usize] += 1;
            self.lost += 1;
            self.lose_of_flow(packet.mark);
        }
        closed
    }
}
