//! Wires: dispatch, the choice of the lane that sends, and delivery.

use super::event::Event;
use super::packet::{Header, Packet};
use super::state::{Network, Outgoing, UNKNOWN};
use crate::fabric::NONE;
use crate::kernel::Time;
use crate::terminal;

impl Network {
    /// Puts a packet before its terminal's link, in this tick.
    pub fn dispatch(&mut self, source: u32, packet: &terminal::Packet) {
        let link = self.fabric.terminal_out_link[source as usize];
        let &terminal::Packet { target, length, created, via, mark, number, .. } = packet;
        if let Some(at) = &mut self.distributions {
            at.unmade += self.fabric.copies(target) - 1;
        }
        let header = if via == NONE { Header::Final } else { Header::Via };
        let started = UNKNOWN;
        let (lost, pieces) = (false, 1);
        let address = self.fabric.address_chars(source, target);
        let packet = Packet {
            source,
            target,
            length,
            created,
            started,
            mark,
            number,
            via,
            header,
            address,
            lost,
            pieces,
        };
        self.links[link as usize].dispatched = self.packets.add(packet);
        self.wake_wire(link, self.now);
    }

    /// Returns the characters of a packet with its current headers.
    pub(super) fn characters(&self, packet: u32) -> u32 {
        let Packet { length, header, address, .. } = self.packets[packet];
        let (via, last) = (self.fabric.via_header_chars, self.fabric.header_chars);
        let headers = match header {
            Header::Via => via + last,
            Header::Final => last,
            Header::Deleted => 0,
        };
        address + headers + length + 1
    }

    /// Starts the next character on a wire, if the wire is free and a lane is ready.
    pub(super) fn start(&mut self, link: u32) {
        let at = &self.links[link as usize];
        let (free_at, last) = (at.free_at, at.last);
        if at.down {
            return;
        }
        if self.now < free_at {
            return self.wake_wire(link, free_at);
        }
        if self.send_code(link) || self.links[link as usize].stuck {
            return;
        }
        let amid = last != NONE && self.lanes[last as usize].is_amid();
        let lanes = self.fabric.lanes_of(link);
        let (mut ready, mut next) = (0_u32, UNKNOWN);
        // If packets are sent whole, only the lane of the current packet may send.
        let asked = if self.by_packet && amid { last..last + 1 } else { lanes.clone() };
        for lane in asked {
            match self.ready_at(link, lane) {
                Some(time) if time <= self.now => ready |= 1 << (lane - lanes.start),
                time => next = Self::earlier(next, time),
            }
        }
        let able = lanes.clone().filter(|&lane| ready >> (lane - lanes.start) & 1 == 1);
        match self.in_turn(able, last, amid) {
            Some(lane) => self.send(link, lane),
            None if next < UNKNOWN => self.wake_wire(link, next),
            None => {}
        }
    }

    /// Returns when the next character of a lane has arrived and has credit, if known.
    fn ready_at(&mut self, link: u32, lane: u32) -> Option<Time> {
        let shared = &self.links[link as usize];
        let (dispatched, at) = (shared.dispatched, &self.lanes[lane as usize]);
        let (supply, needed) = match at.outgoing.front() {
            Some(_) if shared.from_terminal => (self.now, 1),
            Some(packet) => {
                (*at.ready.front()?, if packet.sent == 0 { self.characters(packet.packet) } else { 1 })
            }
            None if dispatched != NONE => (self.now, self.characters(dispatched)),
            None => return None,
        };
        if shared.to_terminal {
            return Some(supply);
        }
        let (at, quantum) = (&mut self.lanes[lane as usize], self.fabric.link_quantum[link as usize]);
        while at.returns.front().is_some_and(|&time| time <= self.now) {
            at.returns.pop_front();
            at.credit += quantum;
        }
        let needed = if self.fabric.whole_packet_credit == 1 { needed } else { 1 };
        if at.credit >= needed {
            return Some(supply);
        }
        let lumps = (needed - at.credit).div_ceil(quantum);
        at.returns.get(lumps as usize - 1).map(|&time| time.max(supply))
    }

    /// Starts the next character of a lane, or the first of the packet before a terminal's link.
    fn send(&mut self, link: u32, lane: u32) {
        let (row, shared) = (link as usize, &mut self.links[link as usize]);
        if shared.dispatched != NONE {
            let packet = std::mem::replace(&mut shared.dispatched, NONE);
            self.packets[packet].started = self.now;
            let length = self.characters(packet);
            self.lanes[lane as usize].outgoing.push_back(Outgoing { packet, length, sent: 0, begin: 0 });
        }
        let at = &mut self.lanes[lane as usize];
        let packet = at.outgoing.front_mut().expect("a packet is to be sent");
        packet.sent += 1;
        if packet.sent == 1 {
            packet.begin = self.now;
        }
        let packet = *packet;
        let (is_first, is_end) = (packet.sent == 1, packet.sent == packet.length);
        let character = Time::from(self.fabric.link_character_ticks[row]);
        let occupied = if is_end { Time::from(self.fabric.link_end_ticks[row]) } else { character };
        self.count(link, is_first, is_end, occupied);
        let shared = &mut self.links[row];
        (shared.free_at, shared.last) = (self.now + occupied, lane);
        let (from_terminal, to_terminal) = (shared.from_terminal, shared.to_terminal);
        let at = &mut self.lanes[lane as usize];
        if is_end {
            at.outgoing.pop_front();
        }
        if !from_terminal {
            at.ready.pop_front();
            at.places.push_back(self.now + character);
            let holder = at.holder;
            if holder != NONE {
                let from = self.fabric.link_of(self.queues[holder as usize].lane);
                self.wake_port(from, self.now + character);
            }
        } else if is_end {
            self.schedule(Event::Source(self.packets[packet.packet].source), self.now + occupied);
        }
        let arrival = Time::from(self.fabric.link_arrival_ticks[row]);
        if to_terminal {
            self.send_to_terminal(lane, &packet, occupied + arrival - character, arrival);
        } else {
            self.lanes[lane as usize].credit -= 1;
            self.receive(lane, &packet, self.now + arrival);
        }
        if is_end && self.hops.limit > 0 {
            let hop = self.hop(link, &packet, self.now + occupied);
            self.hops.record(hop);
        }
        self.wake_wire(link, self.now + occupied);
    }

    fn count(&mut self, link: u32, is_first: bool, is_end: bool, occupied: Time) {
        self.characters += 1;
        let shared = &mut self.links[link as usize];
        if shared.amid > 0 {
            shared.counts.stalled_ticks += (self.now - shared.free_at.max(self.counted_from)) as u64;
        }
        shared.amid = shared.amid + u32::from(is_first) - u32::from(is_end);
        shared.counts.packets += u64::from(is_end);
        shared.counts.characters += 1;
        shared.counts.busy_ticks += occupied as u64;
    }

    fn send_to_terminal(&mut self, lane: u32, packet: &Outgoing, received: Time, arrival: Time) {
        let at = &mut self.lanes[lane as usize];
        if packet.sent == packet.length {
            at.ends.push_back((self.now + received, packet.packet));
            self.schedule(Event::Deliver(lane), self.now + received);
        } else if packet.sent == 1 && self.tells_heads {
            at.heads.push_back((self.now + arrival, packet.packet));
            self.schedule(Event::Head(lane), self.now + arrival);
        }
    }

    /// Returns target and mark of the packet whose first character has arrived on a lane; None if it was lost.
    pub fn head(&mut self, lane: u32) -> Option<(u32, u32)> {
        let (_, packet) = self.lanes[lane as usize].heads.pop_front_if(|head| head.0 == self.now)?;
        Some((self.packets[packet].target, self.packets[packet].mark))
    }

    /// Takes the packet received at the end of a lane; None if its end was lost, or is an error end.
    pub fn deliver(&mut self, lane: u32) -> Option<Packet> {
        let (_, packet) = self.lanes[lane as usize].ends.pop_front_if(|end| end.0 == self.now)?;
        if self.packets[packet].lost {
            self.piece_gone(packet);
            return None;
        }
        self.packets.remove(packet);
        let to = self.fabric.link_target[self.fabric.link_of(lane) as usize] - self.fabric.switches;
        Some(Packet { target: to, ..self.packets[packet] })
    }
}
