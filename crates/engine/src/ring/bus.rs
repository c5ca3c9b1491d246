//! Switches: packets go from port to port over buses.

use super::parts::Held;
use super::state::{NEVER, REQUEST, RESPONSE, Rings, Switch};
use super::tick::{BUS, WORK};
use crate::fabric::NONE;
use crate::kernel::Time;
use crate::measure::{Hop, hop_kind};

impl Rings {
    /// A port has accepted a packet, which is ready for the bus at `ready`.
    pub(super) fn received_at_port(&mut self, station: u32, held: u32, ready: Time, kind: usize) {
        let at = &mut self.stations[station as usize];
        at.held[kind].push(&mut self.helds, held);
        let (switch, place) = (at.switch, at.place);
        let of = &mut self.switches[switch as usize];
        of.holds |= 1 << place;
        if ready <= self.now {
            self.touch_switch(switch);
        } else if of.has_bus(kind) {
            self.look_at_switch(switch, ready);
        }
    }

    /// Has a switch be looked at when a packet is ready. While no bus is free that is not needed.
    fn look_at_switch(&mut self, switch: u32, ready: Time) {
        let of = &mut self.switches[switch as usize];
        if ready < of.look_at {
            of.look_at = ready;
            self.schedule(BUS, switch, ready);
        }
    }

    /// A packet is ready for a bus.
    pub(super) fn bus_due(&mut self, switch: u32) {
        let of = &mut self.switches[switch as usize];
        if of.look_at == self.now {
            of.look_at = NEVER;
            self.touch_switch(switch);
        }
    }

    /// Starts transfers while a bus is free and a port has one.
    pub(super) fn arbitrate(&mut self, switch: u32) {
        self.switches[switch as usize].touched = false;
        while self.switches[switch as usize].free != [0, 0] {
            let mut later = NEVER;
            let Some((port, kind)) = self.next_port(switch, &mut later) else {
                if later < NEVER {
                    self.look_at_switch(switch, later);
                }
                return;
            };
            self.switches[switch as usize].served = port;
            self.transfer(switch, port, kind);
        }
    }

    /// The port that is served next, and the kind of its packet; `later` is when the next one is ready otherwise.
    fn next_port(&self, switch: u32, later: &mut Time) -> Option<(u32, usize)> {
        let at = &self.switches[switch as usize];
        if at.holds == 0 {
            return None;
        }
        let mut port = at.served;
        for _ in 0..at.ports {
            port = if port + 1 == at.ports { 0 } else { port + 1 };
            if at.holds >> port & 1 != 0 {
                let station = self.fabric.port_station[(at.first + port) as usize];
                if let Some(kind) = self.transferable(at, station, later) {
                    return Some((port, kind));
                }
            }
        }
        None
    }

    /// Kind of the packet that can be transferred from a port: the one that was ready first, a response at a tie.
    fn transferable(&self, of: &Switch, station: u32, later: &mut Time) -> Option<usize> {
        let at = &self.stations[station as usize];
        if at.at_work != NONE {
            return None;
        }
        let mut best: Option<(Time, usize)> = None;
        for kind in [RESPONSE, REQUEST] {
            let front = at.held[kind].head;
            if front == NONE || !of.has_bus(kind) {
                continue;
            }
            let Held { ready, target, .. } = self.helds[front];
            if ready > self.now {
                *later = (*later).min(ready);
                continue;
            }
            let to = &self.stations[target as usize];
            let open = !to.receiving && to.out_free[kind] > 0;
            if open && best.is_none_or(|(first, _)| ready < first) {
                best = Some((ready, kind));
            }
        }
        best.map(|(_, kind)| kind)
    }

    fn transfer(&mut self, switch: u32, port: u32, kind: usize) {
        let at = &self.switches[switch as usize];
        let station = self.fabric.port_station[(at.first + port) as usize];
        let held = self.stations[station as usize].held[kind].head;
        let Held { ready, target, bytes, .. } = self.helds[held];
        let cycles = (bytes + at.encapsulation).div_ceil(at.width);
        let ticks = Time::from(at.setup) + Time::from(cycles) * Time::from(at.cycle);
        self.at(station).at_work = held;
        self.at(target).receiving = true;
        self.take_place_to_send(target, kind);
        let at = &mut self.switches[switch as usize];
        at.free[at.lane(kind)] -= 1;
        at.count.transfers += 1;
        at.count.busy_ticks += ticks as u64;
        at.count.wait_ticks += (self.now - ready) as u64;
        if self.hops.limit > 0 {
            self.keep_transfer(station, held, self.now + ticks);
        }
        self.schedule(WORK, station, self.now + ticks);
    }

    /// Keeps the way of a packet over a bus.
    #[cold]
    fn keep_transfer(&mut self, station: u32, held: u32, end: Time) {
        let Held { deal, target, response, .. } = self.helds[held];
        let (source, started) = (self.deals[deal].source, self.deals[deal].started);
        let kind = if response { hop_kind::RESPONSE } else { hop_kind::PACKET } | hop_kind::BUS;
        self.hops.record(Hop { source, started, target, link: station, begin: self.now, end, kind });
    }

    /// A transfer is over.
    pub(super) fn transferred(&mut self, station: u32) {
        let at = &mut self.stations[station as usize];
        let (switch, place) = (at.switch, at.place);
        let held = std::mem::replace(&mut at.at_work, NONE);
        let Held { deal, from, dest, bytes, target, response, .. } = self.helds[held];
        let kind = usize::from(response);
        at.held[kind].pop(&mut self.helds);
        at.in_free[kind] += 1;
        let empty = at.held[REQUEST].is_empty() && at.held[RESPONSE].is_empty();
        let of = &mut self.switches[switch as usize];
        of.free[of.lane(kind)] += 1;
        if empty {
            of.holds &= !(1 << place);
        }
        self.helds.remove(held);
        self.at(target).receiving = false;
        let ready = self.now + Time::from(self.stations[target as usize].transmit);
        self.enter(self.entry(target, ready, deal, response, (from, dest), bytes));
        self.deals[deal].crossed += 1;
        // Routes depend on the port and the terminal alone: what comes to a port twice on its way, or on its way back,
        // goes on for ever.
        if self.deals[deal].crossed as usize > 2 * self.fabric.port_station.len() {
            self.astray = Some(dest);
        }
        self.touch_switch(switch);
    }
}
