//! Switches: packets go from port to port over buses.

use super::parts::Held;
use super::state::{REQUEST, RESPONSE, Rings};
use super::tick::WORK;
use crate::fabric::NONE;
use crate::kernel::Time;

impl Rings {
    /// A packet is ready for the bus.
    pub(super) fn ready_at_port(&mut self, station: u32) {
        let at = &self.stations[station as usize];
        let (switch, place) = (at.switch, at.place);
        self.switches[switch as usize].ready |= 1 << place;
        self.touch_switch(switch);
    }

    /// Starts transfers while a bus is free and a port has one.
    pub(super) fn arbitrate(&mut self, switch: u32) {
        self.switches[switch as usize].touched = false;
        while let Some((port, kind)) = self.next_port(switch) {
            self.switches[switch as usize].served = port;
            self.transfer(switch, port, kind);
        }
    }

    /// The port that is served next, and the kind of its packet.
    fn next_port(&self, switch: u32) -> Option<(u32, usize)> {
        let at = &self.switches[switch as usize];
        if at.free == 0 || at.ready == 0 {
            return None;
        }
        let mut port = at.served;
        for _ in 0..at.ports {
            port = if port + 1 == at.ports { 0 } else { port + 1 };
            if at.ready >> port & 1 != 0
                && let Some(kind) = self.transferable(self.fabric.port_station[(at.first + port) as usize])
            {
                return Some((port, kind));
            }
        }
        None
    }

    /// Kind of the packet that can be transferred from a port: the one that was ready first, a response at a tie.
    fn transferable(&self, station: u32) -> Option<usize> {
        let at = &self.stations[station as usize];
        if at.at_work != NONE {
            return None;
        }
        let mut best: Option<(Time, usize)> = None;
        for kind in [RESPONSE, REQUEST] {
            let front = at.held[kind].head;
            if front == NONE {
                continue;
            }
            let Held { ready, target, .. } = self.helds[front];
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
        let to = self.at(target);
        to.receiving = true;
        to.out_free[kind] -= 1;
        let at = &mut self.switches[switch as usize];
        at.free -= 1;
        at.count.transfers += 1;
        at.count.busy_ticks += ticks as u64;
        at.count.wait_ticks += (self.now - ready) as u64;
        self.schedule(WORK, station, self.now + ticks);
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
        of.free += 1;
        if empty {
            of.ready &= !(1 << place);
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
