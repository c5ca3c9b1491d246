//! Wires: dispatch, the choice of the lane that sends, and delivery.

use super::event::Event;
use super::packet::{Header, Packet};
use super::parts::{Link, Outgoing};
use super::state::{Network, UNKNOWN};
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
        self.fabric.lanes_of(link).for_each(|lane| self.may_start(lane));
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

    /// Returns when the next character of a lane is there and has credit, if both are known: the terms *supply* and
    /// *credit* of the page.
    #[inline]
    pub(super) fn start_of(&self, lane: u32) -> Time {
        let at = &self.lanes[lane as usize];
        let link = &self.links[at.link as usize];
        let supply = match link.from_terminal {
            true if link.dispatched == NONE && at.outgoing.is_empty() => UNKNOWN,
            true => 0,
            false => at.ready.first(),
        };
        if supply == UNKNOWN || link.to_terminal {
            return supply;
        }
        let needed = if self.whole { self.needed(lane) } else { 1 };
        supply.max(at.credit.at(needed, link.quantum))
    }

    /// Returns the characters for which the next character of a lane needs credit, if packets wait for all of it.
    fn needed(&self, lane: u32) -> u32 {
        let at = &self.lanes[lane as usize];
        match at.outgoing.first() {
            Some(packet) if packet.sent == 0 => self.characters(packet.packet),
            Some(_) => 1,
            None => self.characters(self.links[at.link as usize].dispatched),
        }
    }

    /// Schedules the wire of a lane, if its next character could not start before and can now or at a known time.
    #[inline(always)]
    pub(super) fn may_start(&mut self, lane: u32) {
        if self.starts_at[lane as usize] == UNKNOWN {
            let time = self.start_of(lane);
            if time < UNKNOWN {
                self.set_start(lane, time);
                let link = self.lanes[lane as usize].link;
                self.wake_wire(link, time.max(self.links[link as usize].free_at));
            }
        }
    }

    /// Records when the next character of a lane can start.
    #[inline(always)]
    pub(super) fn set_start(&mut self, lane: u32, time: Time) {
        self.starts_at[lane as usize] = time;
        let at = &self.lanes[lane as usize];
        let known = &mut self.links[at.link as usize].known;
        *known = if time < UNKNOWN { *known | at.bit } else { *known & !at.bit };
    }

    /// Starts the next character on a wire, if the wire is free and a lane is ready.
    pub(super) fn start(&mut self, link: u32) {
        let &Link { free_at, last, down, stuck, .. } = &self.links[link as usize];
        if down {
            return;
        }
        if self.now < free_at {
            return self.wake_wire(link, free_at);
        }
        if self.codes.is_some() && self.send_code(link) || stuck {
            return;
        }
        if self.alone {
            return self.start_alone(link);
        }
        let first = self.fabric.lanes * link;
        // If packets are sent whole, only the lane of the current packet may send.
        let amid = self.by_packet && last != NONE && self.lanes[last as usize].is_amid();
        let asked = if amid { self.lanes[last as usize].bit } else { u32::MAX };
        let (ready, next) = self.ready(link, first, asked);
        let Some(turn) = self.in_turn(ready, last.wrapping_sub(first), amid) else {
            return self.wake_wire(link, next);
        };
        let lane = first + turn;
        let (others, next) = if self.start_middle(link, lane) {
            (ready & !(1 << turn), next.min(self.starts_at[lane as usize]))
        } else {
            self.send(link, lane, self.now);
            self.ready(link, first, u32::MAX)
        };
        let next = if others != 0 { self.now } else { next };
        self.wake_wire(link, next.max(self.links[link as usize].free_at));
    }

    /// Returns which of the lanes of a link that are `asked` are ready now, all as bits, and when the next other one of
    /// these is, if known. `first`: its first lane.
    #[inline(always)]
    fn ready(&self, link: u32, first: u32, asked: u32) -> (u32, Time) {
        let mut known = self.links[link as usize].known & asked;
        let (mut ready, mut next) = (0, UNKNOWN);
        while known != 0 {
            let bit = known.trailing_zeros();
            let time = self.starts_at[(first + bit) as usize];
            if time <= self.now {
                ready |= 1 << bit;
            } else {
                next = next.min(time);
            }
            known &= known - 1;
        }
        (ready, next)
    }

    /// Starts the next character of a lane, or the first of the packet before a terminal's link.
    pub(super) fn send(&mut self, link: u32, lane: u32, time: Time) {
        let needed = if self.whole { self.needed(lane) } else { 1 };
        if self.links[link as usize].dispatched != NONE {
            self.begin(link, lane, time);
        }
        let at = &mut self.lanes[lane as usize];
        let packet = at.outgoing.first_mut().expect("a packet is to be sent");
        packet.sent += 1;
        let (is_first, is_end) = (packet.sent == 1, packet.sent == packet.length);
        if is_first {
            packet.begin = time;
        }
        let packet = *packet;
        if is_end {
            at.outgoing.pop();
        }
        let occupied = self.occupy(link, lane, is_first, is_end, time);
        let &Link { character, arrival, quantum, from_terminal, to_terminal, .. } =
            &self.links[link as usize];
        if !from_terminal {
            self.leave_output(lane, time + character);
        } else if is_end {
            self.schedule(Event::Source(self.packets[packet.packet].source), time + occupied);
        }
        if to_terminal {
            self.send_to_terminal(lane, &packet, time + arrival, occupied - character);
        } else {
            self.lanes[lane as usize].credit.spend(needed, quantum);
            self.receive(lane, &packet, time + arrival);
        }
        if is_end && self.hops.limit > 0 {
            let hop = self.hop(link, &packet, time + occupied);
            self.hops.record(hop);
        }
        let next = self.start_of(lane);
        self.set_start(lane, next);
    }

    /// Takes the packet before a terminal's link to one of its lanes.
    fn begin(&mut self, link: u32, lane: u32, time: Time) {
        let packet = std::mem::replace(&mut self.links[link as usize].dispatched, NONE);
        self.packets[packet].started = time;
        let length = self.characters(packet);
        self.lanes[lane as usize].outgoing.push(Outgoing::new(packet, length));
        self.fabric.lanes_of(link).for_each(|other| self.set_start(other, UNKNOWN));
    }

    /// Takes a character from the output buffer of a lane; its place is free at a given time.
    #[inline]
    fn leave_output(&mut self, lane: u32, free: Time) {
        let at = &mut self.lanes[lane as usize];
        at.ready.pop();
        at.places.give_back(free);
        let holder = at.holder;
        self.may_cross_if_held(holder);
    }

    /// Occupies and counts a wire for a character; returns for how long.
    #[inline]
    fn occupy(&mut self, link: u32, lane: u32, is_first: bool, is_end: bool, time: Time) -> Time {
        self.characters += 1;
        let shared = &mut self.links[link as usize];
        if shared.amid > 0 {
            shared.counts.stalled_ticks += (time - shared.free_at.max(self.counted_from)) as u64;
        }
        let occupied = if is_end { shared.end } else { shared.character };
        shared.amid = shared.amid + u32::from(is_first) - u32::from(is_end);
        shared.counts.packets += u64::from(is_end);
        shared.counts.characters += 1;
        shared.counts.busy_ticks += occupied as u64;
        (shared.free_at, shared.last) = (time + occupied, lane);
        self.rests_at = self.rests_at.max(time + occupied);
        occupied
    }

    /// Sends a character to a terminal, at which it arrives at a given time, or that much later if it is an end.
    fn send_to_terminal(&mut self, lane: u32, packet: &Outgoing, arrives: Time, later: Time) {
        let at = &mut self.lanes[lane as usize];
        if packet.sent == packet.length {
            at.ends.push_back((arrives + later, packet.packet));
            self.schedule(Event::Deliver(lane), arrives + later);
        } else if packet.sent == 1 {
            at.reads();
            if self.tells_heads {
                at.heads.push_back((arrives, packet.packet));
                self.schedule(Event::Head(lane), arrives);
            }
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
