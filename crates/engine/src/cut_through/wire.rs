//! Wires: dispatch, the packet that starts next, and delivery.

use super::parts::{Event, Sent, Stay};
use super::state::{Network, Packet, UNKNOWN};
use crate::fabric::{NONE, arbiter, in_turn};
use crate::kernel::Time;
use crate::measure::Delivery;
use crate::terminal;

impl Network {
    /// Puts a packet before its terminal's link, in this tick.
    pub fn dispatch(&mut self, source: u32, packet: &terminal::Packet) {
        let link = self.fabric.terminal_out_link[source as usize];
        let &terminal::Packet { target, length, dispatch, via, .. } = packet;
        let own = self.fabric.own_classes_since(source, target, dispatch);
        let (header, class, headers) = match self.fabric.via_class.get(via as usize) {
            Some(&class) => (self.fabric.via_header_chars, class, 2),
            None => (0, self.fabric.terminal_class[target as usize], 1),
        };
        let characters = header + self.fabric.header_chars + self.fabric.payload_chars(length) + 1;
        let packet = Packet { delivery: packet.sent_by(source), dispatch, headers, ..Packet::default() };
        let packet = self.packets.add(packet);
        let stay = self.stays.add(Stay::new(packet, characters, class + own));
        self.links[link as usize].dispatched = stay;
        // What it waits for, the wire looks up.
        self.wake(link, self.now);
    }

    /// Schedules the wire of a link, now or later; at an unknown time something else will.
    #[inline(always)]
    pub(super) fn wake(&mut self, link: u32, time: Time) {
        let at = &mut self.links[link as usize];
        let time = time.max(at.free_at).max(self.now);
        if time < at.due {
            at.due = time;
            if time == self.now {
                self.starting.push(link);
            } else {
                self.schedule(Event::Wire(link), time);
            }
        }
    }

    /// Marks the wire of a link for a start in this tick, unless it has been looked at since.
    #[inline(always)]
    pub fn note_start(&mut self, link: u32) {
        if self.links[link as usize].due == self.now {
            self.starting.push(link);
        }
    }

    /// Returns when the next packet can start on a lane, whatever the wire does, as far as is known: the terms *supply*
    /// and *credit* of `S`.
    #[inline(always)]
    fn ready_at(&mut self, lane: u32) -> Time {
        let at = &self.lanes[lane as usize];
        let (link, stay) = (&self.links[at.link as usize], at.first);
        if stay == NONE {
            let dispatched = link.dispatched;
            if dispatched == NONE {
                return UNKNOWN;
            }
            return self.credit_at(lane, self.stays[dispatched].length);
        }
        let Stay { number, whole, crosses, .. } = self.stays[stay];
        let forward = Time::from(link.forward);
        let place = self.place_at(lane, number - i64::from(self.kinds[link.kind as usize].output_buffer));
        let supply = crosses.max(place) + forward;
        supply.max(self.credit_at(lane, whole))
    }

    /// Looks again when the next packet of a lane can start, because more is known.
    #[inline(always)]
    pub(super) fn look_again(&mut self, lane: u32) {
        let link = self.lanes[lane as usize].link;
        let at = &self.links[link as usize];
        if at.due > self.now.max(at.free_at) && (at.waiting > 0 || at.dispatched != NONE) {
            let time = self.ready_at(lane);
            self.wake(link, time);
        }
    }

    /// Starts a packet on the wire of a link, if it is due and one is ready.
    pub(super) fn start(&mut self, link: u32) {
        let at = &mut self.links[link as usize];
        if at.due != self.now {
            return;
        }
        at.due = UNKNOWN;
        debug_assert!(at.free_at <= self.now, "the wire of link {link} is not free");
        let (first, count) = (self.fabric.lanes * link, self.fabric.lanes);
        let mut lanes = if at.dispatched == NONE { at.waiting } else { !0 >> (u32::BITS - count) };
        let (mut able, mut next) = (0, UNKNOWN);
        if at.dispatched == NONE && lanes.is_power_of_two() && self.stores.is_empty() {
            // Alone, and looked up when the start was scheduled.
            able = std::mem::take(&mut lanes);
            debug_assert!(self.ready_at(first + able.trailing_zeros()) <= self.now, "link {link}");
        }
        while lanes != 0 {
            let bit = lanes.trailing_zeros();
            lanes &= lanes - 1;
            let time = self.ready_at(first + bit);
            if time <= self.now {
                able |= 1 << bit;
            } else {
                next = next.min(time);
            }
        }
        if able == 0 {
            return self.wake(link, next);
        }
        let chosen = match self.turn(link, able) {
            Ok(lane) => lane,
            Err(slot) => return self.wake(link, next.min(slot)),
        };
        self.send(link, first + chosen);
        if able & !(1 << chosen) != 0 {
            next = self.now;
        } else if self.lanes[(first + chosen) as usize].first != NONE {
            next = next.min(self.ready_at(first + chosen));
        }
        self.wake(link, next);
    }

    /// Returns which of the lanes that can start a packet in this tick does, or when a time-slot of one of them begins.
    #[inline(always)]
    fn turn(&mut self, link: u32, able: u32) -> Result<u32, Time> {
        if self.rules.is_some() {
            return self.turn_by_rules(link, able);
        }
        let last = self.links[link as usize].last.wrapping_sub(self.fabric.lanes * link);
        Ok(in_turn(able, last, self.fabric.lane_arbiter == arbiter::FIXED))
    }

    /// The same where it is more than a turn or a fixed order.
    #[inline(never)]
    fn turn_by_rules(&mut self, link: u32, able: u32) -> Result<u32, Time> {
        let at = &self.links[link as usize];
        let last = at.last.wrapping_sub(self.fabric.lanes * link);
        let Some(rules) = &self.rules else { return Err(UNKNOWN) };
        let (may, slot) = if at.dispatched == NONE { rules.in_slot(able, self.now) } else { (able, UNKNOWN) };
        if may == 0 {
            return Err(slot);
        }
        let wire = &mut self.wires[link as usize];
        if at.last != NONE {
            self.lanes[at.last as usize].charge(wire, rules, last);
        }
        let choice = rules.choose(wire, may, last, self.now);
        wire.take(&choice, rules);
        Ok(choice.lane)
    }

    /// Starts the first packet of a lane, or the one before a terminal's link; all its characters follow.
    fn send(&mut self, link: u32, lane: u32) {
        let now = self.now;
        self.starts += 1;
        let dispatched = std::mem::replace(&mut self.links[link as usize].dispatched, NONE);
        let stay = if dispatched == NONE { self.take_first(lane) } else { dispatched };
        if dispatched != NONE {
            let at = &mut self.stays[stay];
            (at.lane, at.number) = (lane, self.lanes[lane as usize].granted);
            self.lanes[lane as usize].granted += i64::from(at.length);
            self.packets[at.packet].delivery.started = now;
        }
        let at = &mut self.stays[stay];
        at.start = now;
        let Stay { packet, length, number, is_cut, .. } = *at;
        let kind = &self.kinds[self.links[link as usize].kind as usize];
        let (character, to_terminal) = (kind.character, kind.to_terminal);
        let regular = now + Time::from(length) * Time::from(character);
        let (head, delivery) = (kind.arrival(now), kind.delivery(regular));
        self.keep_sent(lane, Sent { start: now, number, length, character });
        let late = if is_cut { self.end_late(stay) } else { 0 };
        let (free_at, delivery) = (regular + late, delivery + late);
        let shared = &mut self.links[link as usize];
        (shared.free_at, shared.sent_at, shared.last) = (free_at, free_at, lane);
        shared.late = late;
        shared.packets += 1;
        if dispatched != NONE {
            let source = self.packets[packet].delivery.source;
            self.congestion.iter_mut().for_each(|at| at.sends(source, free_at, free_at - now));
            self.schedule(Event::Source(source), free_at);
        }
        if self.hops.limit > 0 {
            self.keep_hop(link, packet, now, free_at);
        }
        if !to_terminal {
            if self.admits {
                self.schedule(Event::Arrive(stay), head);
            } else {
                self.let_in(stay);
            }
        } else {
            if self.tells_heads && length > 1 {
                self.schedule(Event::Head(stay), head);
            }
            self.schedule(Event::Deliver(stay), delivery);
        }
        let coming = self.lanes[lane as usize].coming;
        if coming != NONE {
            self.follow(coming);
        }
    }

    /// Takes the first packet before the wire of a lane.
    #[inline(always)]
    fn take_first(&mut self, lane: u32) -> u32 {
        let at = &mut self.lanes[lane as usize];
        let stay = at.first;
        at.first = std::mem::replace(&mut self.stays[stay].next, NONE);
        if at.first == NONE {
            let link = at.link;
            self.links[link as usize].waiting &= !(1 << (lane - link * self.fabric.lanes));
        }
        stay
    }

    /// Lets a packet that is the last to start on its lane have its error end when that is ready; returns how late that is.
    #[cold]
    pub(super) fn end_late(&mut self, stay: u32) -> Time {
        let Stay { lane, number, start, length, end, .. } = self.stays[stay];
        let at = &mut self.lanes[lane as usize];
        let shared = &mut self.links[at.link as usize];
        let character = self.kinds[shared.kind as usize].character;
        at.sent.truncate(at.sent.partition_point(|sent| sent.number < number));
        let count = Time::from(length - 1);
        if length > 1 {
            at.sent.push_back(Sent { start, number, length: length - 1, character });
        }
        let regular = start + count * Time::from(character);
        let end = end.max(regular);
        at.sent.push_back(Sent { start: end, number: number + count, length: 1, character });
        shared.stalled_ticks += end - regular;
        self.stays[stay].end = end;
        end - regular
    }

    /// Records what starts, and forgets what nobody looks up any more.
    #[inline(always)]
    fn keep_sent(&mut self, lane: u32, sent: Sent) {
        let since = self.now - self.keep;
        let at = &mut self.lanes[lane as usize];
        at.started += i64::from(sent.length);
        while at.sent.get(1).is_some_and(|second| second.start <= since) {
            at.sent.pop_front();
        }
        at.sent.push_back(sent);
    }

    /// Returns target and mark of the packet whose first character has arrived at its terminal; None if it was lost.
    pub fn head(&self, stay: u32) -> Option<(u32, u32)> {
        let packet = self.stays[stay].packet;
        let Delivery { target, mark, .. } = (packet != NONE).then(|| self.packets[packet].delivery)?;
        Some((target, mark))
    }

    /// Takes the packet that has been received; None if its end was lost, or is an error end.
    pub fn deliver(&mut self, stay: u32) -> Option<Delivery> {
        let packet = self.stays[stay].packet;
        if packet == NONE || self.packets[packet].pieces > 0 {
            self.end_piece(stay);
            return None;
        }
        self.stays.remove(stay);
        self.packets.remove(packet);
        let packet = self.packets[packet];
        self.notify(&packet);
        Some(Delivery { delivered: self.now, ..packet.delivery })
    }
}
