//! Switches: transfers of packets from port to port over buses.

use super::links::MOST_COUNT;
use super::parts::{Entry, Transaction};
use super::state::{NEVER, OUT, REQUEST, RESPONSE, Rings};
use super::stations::{Port, Switch};
use super::tick::{BUS, WORK};
use crate::fabric::NONE;
use crate::kernel::{Time, bits};
use crate::measure::{Hop, hop_kind};

impl Rings {
    /// Handles a packet that a port has accepted and that is ready for the bus at `ready`.
    pub(super) fn received_at_port(&mut self, station: u32, held: u32, ready: Time, kind: usize) {
        let at = &mut self.stations[station as usize];
        let first = at.held[kind].is_empty();
        at.held[kind].push(&mut self.entries, held);
        let (switch, port) = (at.switch_here, at.port_here);
        if first {
            self.set_front(port, kind, held);
        }
        let of = &mut self.switches[switch as usize];
        of.holds |= 1 << (port - of.first);
        if ready <= self.now {
            self.touch_switch(switch);
        } else if of.has_bus(kind) {
            self.look_at_switch(switch, ready);
        }
    }

    /// Sets the front of a port's receive queue: a packet or [`NONE`].
    fn set_front(&mut self, port: u32, kind: usize, held: u32) {
        let front = &mut self.ports[port as usize];
        if held == NONE {
            front.ready[kind] = NEVER;
        } else {
            let Entry { ready, bytes, target, .. } = self.entries[held];
            (front.ready[kind], front.bytes[kind], front.target[kind]) = (ready, bytes, target);
        }
    }

    /// Schedules a check of a switch when a packet is ready. This is not needed while no bus is free.
    fn look_at_switch(&mut self, switch: u32, ready: Time) {
        let of = &mut self.switches[switch as usize];
        if ready < of.look_at {
            of.look_at = ready;
            self.schedule(BUS, switch, ready);
        }
    }

    /// Handles a packet that is ready for a bus.
    pub(super) fn bus_due(&mut self, switch: u32) {
        let of = &mut self.switches[switch as usize];
        if of.look_at == self.now {
            of.look_at = NEVER;
            self.touch_switch(switch);
        }
    }

    /// Starts transfers while a bus is free and a port has a packet.
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
            let of = &mut self.switches[switch as usize];
            let lane = of.lane(kind);
            of.served[lane] = port as u8;
            self.transfer(switch, port, kind);
        }
    }

    /// Returns the index of the port that is served next, and the kind of its packet; sets `later` to when the next one
    /// is ready.
    fn next_port(&self, switch: u32, later: &mut Time) -> Option<(u32, usize)> {
        let of = &self.switches[switch as usize];
        let ready = of.ready();
        for lane in of.lanes() {
            // Ports after the one served last, then the others.
            let after = u64::MAX << 1 << of.served[lane];
            for part in [ready & after, ready & !after] {
                for place in bits(part) {
                    if let Some(kind) = self.transferable(of, lane, place, later) {
                        return Some((place, kind));
                    }
                }
            }
        }
        None
    }

    /// Returns the kind of the packet that can be transferred from a port: the one that was ready first; at a tie, or
    /// always with priority, a response.
    fn transferable(&self, of: &Switch, lane: usize, place: u32, later: &mut Time) -> Option<usize> {
        let port = &self.ports[(of.first + place) as usize];
        if let Some(until) = self.faults.stopped(port.station, self.now) {
            *later = (*later).min(until);
            return None;
        }
        let mut best: Option<(Time, usize)> = None;
        for kind in [RESPONSE, REQUEST] {
            let ready = port.ready[kind];
            if ready == NEVER || of.lane(kind) != lane {
                continue;
            }
            if ready > self.now {
                *later = (*later).min(ready);
                continue;
            }
            let taken = of.receiving | of.full[kind];
            let open = taken >> port.target[kind] & 1 == 0;
            if open && best.is_none_or(|(first, _)| ready < first) {
                if kind == RESPONSE && self.fabric.ring_response_first != 0 {
                    return Some(kind);
                }
                best = Some((ready, kind));
            }
        }
        best.map(|(_, kind)| kind)
    }

    fn transfer(&mut self, switch: u32, place: u32, kind: usize) {
        let at = &mut self.switches[switch as usize];
        let Port { ready, bytes, station, target } = self.ports[(at.first + place) as usize];
        at.sending |= 1 << place;
        at.receiving |= 1 << target[kind];
        let to = at.first + u32::from(target[kind]);
        at.free[at.lane(kind)] -= 1;
        let from = &mut self.stations[station as usize];
        let held = from.held[kind].head;
        from.at_work = held;
        let buses = &self.buses[at.buses as usize];
        let cycles = (bytes[kind] + buses.encapsulation).div_ceil(buses.width);
        let ticks = Time::from(buses.setup) + Time::from(cycles) * Time::from(buses.cycle);
        from.bus_ticks += ticks as u64;
        from.bus_wait_ticks += (self.now - ready[kind]) as u64;
        let to = self.ports[to as usize].station;
        self.count_transfer(to);
        self.take_place_to_send(to, kind);
        if self.hops.limit > 0 {
            self.keep_transfer(station, held, self.now + ticks);
        }
        self.schedule(WORK, station, self.now + ticks);
    }

    fn count_transfer(&mut self, to: u32) {
        let at = &mut self.stations[to as usize];
        at.transfers += 1;
        if at.transfers == MOST_COUNT {
            self.tallies[to as usize].transfers += u64::from(std::mem::take(&mut at.transfers));
        }
    }

    /// Records a packet's transfer over a bus.
    #[cold]
    fn keep_transfer(&mut self, station: u32, held: u32, end: Time) {
        let Entry { transaction, target, is, .. } = self.entries[held];
        let &Transaction { source, created, started, .. } = &self.transactions[transaction];
        let kind = if is.response() { hop_kind::RESPONSE } else { hop_kind::PACKET } | hop_kind::BUS;
        let of = &self.switches[self.stations[station as usize].switch_here as usize];
        let target = self.ports[(of.first + u32::from(target)) as usize].station;
        self.hops.record(Hop { source, created, started, target, link: station, begin: self.now, end, kind });
    }

    /// Ends a transfer.
    pub(super) fn transferred(&mut self, station: u32) {
        let at = &mut self.stations[station as usize];
        let (switch, port) = (at.switch_here, at.port_here);
        let held = std::mem::replace(&mut at.at_work, NONE);
        let Entry { transaction, dest, bytes, target, crossed, is, .. } = self.entries[held];
        let kind = usize::from(is.response());
        at.held[kind].pop(&mut self.entries);
        at.in_free[kind] += 1;
        let front = at.held[kind].head;
        let empty = at.held[REQUEST].is_empty() && at.held[RESPONSE].is_empty();
        let of = &mut self.switches[switch as usize];
        of.free[of.lane(kind)] += 1;
        of.sending &= !(1 << (port - of.first));
        of.receiving &= !(1 << target);
        if empty {
            of.holds &= !(1 << (port - of.first));
        }
        let to = self.ports[(of.first + u32::from(target)) as usize].station;
        self.set_front(port, kind, front);
        let ready = self.through(to, OUT, self.now, self.timing(to).transmit);
        let crossed = crossed.wrapping_add(1);
        self.entries[held] = Entry::new(ready, transaction, is.on_next_ring(), dest, bytes, crossed);
        self.enter(to, held);
        if crossed == 0 || usize::from(crossed) > 2 * self.ports.len() {
            self.has_crossed_many(transaction, crossed, dest);
        }
        self.touch_switch(switch);
    }

    /// Routes depend only on the port and the terminal: a packet that visits a port twice in one direction loops for
    /// ever.
    #[cold]
    fn has_crossed_many(&mut self, transaction: u32, crossed: u16, dest: u32) {
        let of = &mut self.transactions[transaction];
        if crossed == 0 {
            of.crossed = (of.crossed | u32::from(u16::MAX)).saturating_add(1);
        }
        if crossed > 0 || of.crossed as usize > 2 * self.ports.len() {
            self.astray = Some(dest);
        }
    }
}
