//! Wires: dispatch, the choice of the lane that sends, and delivery.

use super::event::Event;
use super::link::Link;
use super::middle::start_middle;
use super::packet::{Header, Packet};
use super::parts::{Outgoing, ready};
use super::state::{Network, UNKNOWN};
use crate::fabric::{NONE, in_turn};
use crate::kernel::Time;
use crate::measure::Delivery;
use crate::terminal;

impl Network {
    /// Puts a packet before its terminal's link, in this tick.
    pub fn dispatch(&mut self, source: u32, packet: &terminal::Packet) {
        let link = self.fabric.terminal_out_link[source as usize];
        let &terminal::Packet { target, dispatch, via, .. } = packet;
        if let Some(at) = &mut self.distributions {
            at.unmade += self.fabric.copies(target) - 1;
        }
        let header = if via == NONE { Header::Final } else { Header::Via };
        let address = self.fabric.address_chars(source, target);
        let (delivery, wrong_on, pieces) = (packet.sent_by(source), NONE, 1);
        let packet =
            Packet { delivery, dispatch, via, header, address, wrong_on, pieces, ..Packet::default() };
        let packet = self.packets.add(packet);
        let needed = self.needed_for(packet);
        let (at, mut first) = (&mut self.links[link as usize], UNKNOWN);
        (at.dispatched, at.needed) = (packet, needed);
        let lanes = self.fabric.sending_lanes(link);
        for lane in &mut self.lanes[lanes.start as usize..lanes.end as usize] {
            lane.ready.push(0);
            let time = lane.start_of(at);
            lane.set_start(at, time);
            first = first.min(time);
        }
        self.agenda.wake_wire(at, first.max(at.free_at));
    }

    /// Returns the characters of a packet with its current headers.
    pub(super) fn characters(&self, packet: u32) -> u32 {
        let Packet { delivery: Delivery { length, .. }, header, address, .. } = self.packets[packet];
        let (via, last) = (self.fabric.via_header_chars, self.fabric.header_chars);
        let headers = match header {
            Header::Via => via + last,
            Header::Final => last,
            Header::Deleted => 0,
        };
        address + headers + self.fabric.payload_chars(length) + 1
    }

    /// Schedules the wire of a lane, if its next character could not start before and can now or at a known time.
    #[inline(always)]
    pub(super) fn may_start(&mut self, lane: u32) {
        let at = &mut self.lanes[lane as usize];
        let link = &mut self.links[at.link as usize];
        self.agenda.may_start(at, link);
    }

    /// Records when the next character of a lane can start.
    pub(super) fn set_start(&mut self, lane: u32, time: Time) {
        let at = &mut self.lanes[lane as usize];
        let link = &mut self.links[at.link as usize];
        at.set_start(link, time);
    }

    /// Starts the next character on a wire, if it is due, the wire is free and a lane is ready.
    #[inline(always)]
    pub(super) fn start(&mut self, link: u32) {
        let (now, shared) = (self.agenda.now, &mut self.links[link as usize]);
        if shared.due != now {
            return;
        }
        shared.due = UNKNOWN;
        if now < shared.free_at {
            let free_at = shared.free_at;
            self.agenda.wake_wire(shared, free_at);
        } else if !self.shares {
            self.start_otherwise(link);
        } else if self.by_packet || shared.from_terminal {
            self.start_packet(link);
        } else {
            self.start_character(link);
        }
    }

    /// The same where a wire has one lane, or rules of its own, or may be kept by a fault or a code.
    #[inline(never)]
    fn start_otherwise(&mut self, link: u32) {
        let &Link { down, stuck, wrong_until, repeats_until, .. } = &self.links[link as usize];
        if repeats_until > self.agenda.now {
            return self.agenda.wake_wire(&mut self.links[link as usize], repeats_until);
        }
        if down || self.codes.is_some() && self.send_code(link) || stuck && self.pauses.is_none() {
            return;
        }
        if self.rules.is_some() {
            return self.start_by_rules(link);
        }
        if wrong_until > self.agenda.now && self.is_put_off(link) {
            return;
        }
        if self.starts_further(link) {
            self.start_alone(link, link);
        } else if self.by_packet || self.fabric.lanes == 1 {
            self.start_packet(link);
        } else {
            self.start_character(link);
        }
    }

    /// Starts the next character on a free wire whose lanes send a character each in turn.
    #[inline(always)]
    fn start_character(&mut self, link: u32) {
        let Self { agenda, lanes, links, queues, .. } = self;
        let (now, first, shared) = (agenda.now, self.fabric.lanes * link, &mut links[link as usize]);
        let (ready, next) = ready(lanes, first, shared.known, now);
        if ready == 0 {
            return agenda.wake_wire(shared, next);
        }
        let (turn, others) = if ready.is_power_of_two() {
            (ready.trailing_zeros(), next)
        } else {
            (in_turn(ready, shared.last.wrapping_sub(first), self.fixed), now)
        };
        match start_middle(agenda, shared, lanes, queues, first + turn, others) {
            Some(holder) => self.started_one(holder),
            None => {
                self.send(link, first + turn, now);
                self.wake_free_wire(link);
            }
        }
    }

    /// Starts the next characters on a free wire that is sent packets as a whole, as terminals do. Within a packet nothing
    /// competes for it.
    #[inline(never)]
    fn start_packet(&mut self, link: u32) {
        let (now, first, shared) =
            (self.agenda.now, self.fabric.lanes * link, &mut self.links[link as usize]);
        let last = shared.last;
        if last != NONE && self.lanes[last as usize].is_amid() {
            return self.start_alone(link, last);
        }
        let (ready, next) = ready(&self.lanes, first, shared.known, now);
        if ready == 0 {
            return self.agenda.wake_wire(shared, next);
        }
        let lane = first + in_turn(ready, last.wrapping_sub(first), self.fixed);
        self.send(link, lane, now);
        self.start_alone(link, lane);
    }

    /// Returns the lane whose next character a free wire would start now, if any can.
    pub(super) fn starts_now(&self, link: u32) -> Option<u32> {
        if self.rules.is_some() {
            return self.sends_by_rules(link);
        }
        let (now, first, shared) = (self.agenda.now, self.fabric.lanes * link, &self.links[link as usize]);
        let last = shared.last;
        if self.by_packet && last != NONE && self.lanes[last as usize].is_amid() {
            return (self.lanes[last as usize].starts_at <= now).then_some(last);
        }
        let (ready, _) = ready(&self.lanes, first, shared.known, now);
        (ready != 0).then(|| first + in_turn(ready, last.wrapping_sub(first), self.fixed))
    }

    /// Notes that one character in the middle of a packet has started; its lane is held by this queue.
    #[inline(always)]
    fn started_one(&mut self, holder: u32) {
        self.characters += 1;
        self.may_cross_if_held(holder);
    }

    /// Schedules a wire for the first of its lanes that is ready when it is free.
    pub(super) fn wake_free_wire(&mut self, link: u32) {
        let (now, known) = (self.agenda.now, self.links[link as usize].known);
        let (ready, next) = ready(&self.lanes, self.fabric.lanes * link, known, now);
        let shared = &mut self.links[link as usize];
        let next = if ready == 0 { next } else { now };
        self.agenda.wake_wire(shared, next.max(shared.free_at));
    }

    /// Starts the next character of a lane, or the first of the packet before a terminal's link.
    pub(super) fn send(&mut self, link: u32, lane: u32, time: Time) {
        let needed = self.lanes[lane as usize].needed(&self.links[link as usize]);
        if self.links[link as usize].dispatched != NONE {
            self.begin(link, lane, time);
        }
        let at = &mut self.lanes[lane as usize];
        let packet = at.outgoing.front_mut().expect("a packet is to be sent");
        packet.sent += 1;
        let (is_first, is_end) = (packet.sent == 1, packet.sent == packet.length);
        if is_first {
            (packet.begin, packet.needed) = (time, 1);
        }
        let packet = *packet;
        if is_end {
            at.outgoing.pop_front();
        }
        let earlier = if is_end { self.padding_ticks(link, packet.packet) } else { 0 };
        let occupied = self.occupy(link, lane, is_first, is_end.then_some(earlier), time);
        let &Link { character, arrival, quantum, from_terminal, to_terminal, spends, .. } =
            &self.links[link as usize];
        if !from_terminal {
            self.leave_output(lane, time + character);
        } else if is_end {
            let (source, until) = (self.packets[packet.packet].delivery.source, time + occupied);
            self.lanes[lane as usize].ready.clear();
            self.agenda.schedule(Event::Source(source), until);
            let ticks = Time::from(packet.length) * character;
            self.congestion.iter_mut().for_each(|at| at.sends(source, until, ticks));
        }
        if to_terminal {
            self.send_to_terminal(lane, &packet, time + arrival, occupied - character);
        } else {
            if spends {
                self.lanes[lane as usize].credit.spend(needed, quantum);
            }
            self.receive(lane, &packet, time + arrival - earlier);
        }
        if is_end && self.hops.limit > 0 {
            let hop = self.hop(link, &packet, time + occupied);
            self.hops.record(hop);
        }
        let (at, link) = (&mut self.lanes[lane as usize], &mut self.links[link as usize]);
        at.set_start(link, at.start_of(link));
    }

    /// Takes the packet before a terminal's link to one of its lanes.
    fn begin(&mut self, link: u32, lane: u32, time: Time) {
        let packet = std::mem::replace(&mut self.links[link as usize].dispatched, NONE);
        self.packets[packet].delivery.started = time;
        let length = self.characters(packet);
        self.lanes[lane as usize].outgoing.push_back(Outgoing::new(packet, length, length));
        self.links[link as usize].known = 0;
        let lanes = self.fabric.lanes_of(link);
        for other in &mut self.lanes[lanes.start as usize..lanes.end as usize] {
            other.starts_at = UNKNOWN;
            other.ready.clear();
        }
        self.lanes[lane as usize].ready.push(0);
    }

    /// Takes a character from the output buffer of a lane; its place is free at a given time.
    #[inline(always)]
    fn leave_output(&mut self, lane: u32, free: Time) {
        let at = &mut self.lanes[lane as usize];
        at.ready.pop();
        at.places.give_back(free);
        let holder = at.holder;
        self.may_cross_if_held(holder);
    }

    /// Returns by how many ticks the end of a packet is shorter on a link than a whole character.
    #[inline(always)]
    fn padding_ticks(&self, link: u32, packet: u32) -> Time {
        if self.fabric.link_padding_ticks.is_empty() {
            return 0;
        }
        self.fabric.padding_ticks(link, self.packets[packet].delivery.length)
    }

    /// Occupies and counts a wire for a character; returns for how long. `end`: by how much it is shorter, if it is an end.
    #[inline(always)]
    fn occupy(&mut self, link: u32, lane: u32, is_first: bool, end: Option<Time>, time: Time) -> Time {
        self.characters += 1;
        let shared = &mut self.links[link as usize];
        if is_first {
            shared.enters_packet(time);
        }
        let occupied = end.map_or(shared.character, |earlier| shared.end - earlier);
        shared.counts.packets += u64::from(end.is_some());
        shared.counts.characters += 1;
        (shared.free_at, shared.last) = (time + occupied, lane);
        if let Some(earlier) = end {
            shared.ends_earlier(earlier);
            shared.leaves_packet(shared.amid - 1);
        }
        self.agenda.rest_until(time + occupied);
        occupied
    }

    /// Sends a character to a terminal, at which it arrives at a given time, or that much later if it is an end.
    #[inline(always)]
    fn send_to_terminal(&mut self, lane: u32, packet: &Outgoing, arrives: Time, later: Time) {
        let at = &mut self.lanes[lane as usize];
        if packet.sent == packet.length {
            at.ends.push_back((arrives + later, packet.packet));
            self.agenda.schedule(Event::Deliver(lane), arrives + later);
        } else if packet.sent == 1 {
            at.reads();
            if self.tells_heads {
                at.heads.push_back((arrives, packet.packet));
                self.agenda.schedule(Event::Head(lane), arrives);
            }
        }
    }

    /// Returns target and mark of the packet whose first character has arrived on a lane; None if it was lost.
    pub fn head(&mut self, lane: u32) -> Option<(u32, u32)> {
        let (_, packet) = self.lanes[lane as usize].heads.pop_front_if(|head| head.0 == self.agenda.now)?;
        let Delivery { target, mark, .. } = self.packets[packet].delivery;
        Some((target, mark))
    }

    /// Takes the packet received at the end of a lane; None if its end was lost, or is an error end.
    pub fn deliver(&mut self, lane: u32) -> Option<Delivery> {
        let (_, packet) = self.lanes[lane as usize].ends.pop_front_if(|end| end.0 == self.agenda.now)?;
        let wrong_on = self.packets[packet].wrong_on;
        if wrong_on != NONE {
            self.lose(packet, |losses| &mut losses.cut, wrong_on);
        }
        if self.packets[packet].lost {
            self.piece_gone(packet);
            return None;
        }
        self.packets.remove(packet);
        self.may_stop_watching();
        let sent = self.packets[packet];
        let congestion = self.congestion.iter_mut().filter(|_| sent.marked);
        congestion.for_each(|at| at.notify(&self.fabric, sent.delivery.source, self.agenda.now));
        let target = self.fabric.link_target[self.fabric.link_of(lane) as usize] - self.fabric.switches;
        Some(Delivery { target, delivered: self.agenda.now, ..sent.delivery })
    }
}
