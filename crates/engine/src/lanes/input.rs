//! Input buffers: arrivals, headers, and crossing to output buffers.

use super::event::Event;
use super::parts::{Incoming, Outgoing};
use super::state::{Network, UNKNOWN};
use crate::fabric::{NONE, in_turn};
use crate::kernel::Time;

impl Network {
    /// Records a character that has started on a lane into a switch: when it arrives, and whether its packet can
    /// request then.
    pub(super) fn receive(&mut self, lane: u32, sent: &Outgoing, arrives: Time) {
        if sent.sent == 1 {
            let queue = self.queue_for(lane, sent.packet, arrives);
            self.lanes[lane as usize].receiving = queue;
            let incoming =
                Incoming { packet: sent.packet, length: sent.length, left: sent.length, readable: UNKNOWN };
            self.queues[queue as usize].packets.push_back(incoming);
        }
        let queue = self.lanes[lane as usize].receiving;
        let at = &mut self.queues[queue as usize];
        at.arrivals.push(arrives);
        let is_next = at.packets.len() == 1 && at.arrivals.len() == 1;
        let is_end = sent.sent == sent.length;
        let is_header = !sent.is_read && (is_end || sent.sent == self.front_header(sent.packet).0.max(1));
        if is_header && !is_end {
            self.lanes[lane as usize].reads();
        }
        if is_header && self.congestion.is_some() {
            self.join(lane, sent, arrives);
        }
        if is_end {
            self.will_store(lane, arrives, sent.length);
        }
        let may_read = if self.fabric.store_and_forward == 1 { is_end } else { is_header };
        if may_read {
            self.may_read(queue, arrives);
        } else if is_next {
            self.may_move(queue);
        }
    }

    /// Schedules the first character of the packet at the front of a queue, which had none, if it crosses or is spilled.
    pub(super) fn may_move(&mut self, queue: u32) {
        let Self { agenda, lanes, links, queues, .. } = self;
        let at = &mut queues[queue as usize];
        let link = &mut links[at.link as usize];
        agenda.may_move(at, link, lanes);
    }

    /// Records when the header of the last packet of a queue is readable.
    fn may_read(&mut self, queue: u32, arrives: Time) {
        let at = &mut self.queues[queue as usize];
        at.last_mut().readable = arrives;
        if at.packets.len() == 1 {
            self.ask(queue);
        }
    }

    /// Returns the queue of a packet that begins to arrive on a lane at a given time.
    fn queue_for(&mut self, lane: u32, packet: u32, arrives: Time) -> u32 {
        let first = self.lanes[lane as usize].first_queue;
        if self.fabric.output_queues == 0 {
            return first;
        }
        let table = self.fabric.table_at(arrives);
        self.packets[packet].table = table;
        let (switch, (_, class)) = (self.switch_at(lane), self.front_header(packet));
        match self.entry(table, switch, class, packet) {
            // There packets wait to be discarded.
            NONE if self.fabric.has_tables() => self.queues_of(lane).end - 1,
            NONE => {
                self.no_route = Some((switch, class));
                first
            }
            entry => first + self.groups[entry as usize >> 1].place,
        }
    }

    /// Schedules the request of the packet at the front of a queue, if the arrival of its header is known.
    pub(super) fn ask(&mut self, queue: u32) {
        let at = &mut self.queues[queue as usize];
        let Some(packet) = at.packets.front().filter(|packet| packet.readable < UNKNOWN) else { return };
        debug_assert!(!at.asked, "queue {queue} asks twice");
        at.asked = true;
        let readable = packet.readable.max(at.front_at);
        let lane = at.lane;
        let decode = Time::from(self.fabric.switch_decode_ticks[self.switch_at(lane) as usize]);
        self.queues[queue as usize].asks_at = readable + decode;
        self.agenda.schedule(Event::Request(queue), readable + decode);
    }

    /// Moves what can move in this tick from the input buffers at the end of a link, if that is due.
    #[inline(always)]
    pub(super) fn cross(&mut self, link: u32) {
        let (now, port) = (self.agenda.now, &mut self.links[link as usize].port);
        if port.due != now {
            return;
        }
        port.due = UNKNOWN;
        if !port.competes || !port.spilling.is_empty() {
            self.cross_otherwise(link);
        } else if let &[queue] = &port.crossing[..] {
            self.cross_only(link, queue);
        } else {
            self.nominate(link);
        }
    }

    /// Moves a character of the only queue of a link that has a lane, if it can move and nothing competes with it for that
    /// link; otherwise it is nominated.
    #[inline(always)]
    fn cross_only(&mut self, link: u32, queue: u32) {
        let (now, port) = (self.agenda.now, &self.links[link as usize].port);
        let at = &self.queues[queue as usize];
        let output = at.output;
        let mut time = at.crosses_at.max(port.free_at);
        if port.pace > 1 {
            time = time.max(self.enters_at(output, port.pace));
        }
        let shared = &mut self.links[link as usize];
        if time > now {
            return self.agenda.wake_port(shared, time);
        }
        shared.port.others = UNKNOWN;
        let to = &self.lanes[output as usize];
        if !self.by_packet && self.links[to.link as usize].free == !to.bit {
            self.take(to.link, queue);
        } else {
            self.nominate_for(output, queue);
        }
    }

    /// The same where packets may be spilled, or nothing competes for the crossbar.
    #[inline(never)]
    fn cross_otherwise(&mut self, link: u32) {
        if !self.links[link as usize].port.spilling.is_empty() {
            let next = self.spill_all(link);
            self.agenda.wake_port(&mut self.links[link as usize], next);
        }
        if self.links[link as usize].port.competes {
            return self.nominate(link);
        }
        let mut place = 0;
        while let Some(&queue) = self.links[link as usize].port.crossing.get(place) {
            self.cross_alone(queue);
            // A queue is no longer in the list when its packet has crossed.
            let crosses = self.queues[queue as usize].output != NONE;
            place += usize::from(crosses);
        }
    }

    /// Nominates one of the characters that can move, if the input of the crossbar is free.
    #[inline(always)]
    fn nominate(&mut self, link: u32) {
        let (now, port) = (self.agenda.now, &self.links[link as usize].port);
        if now < port.free_at {
            let free_at = port.free_at;
            return self.agenda.wake_port(&mut self.links[link as usize], free_at);
        }
        let (keeps, begin) =
            (self.by_packet && port.amid, if self.fixed { 0 } else { port.last.wrapping_add(1) });
        let (mut next, mut able, mut chosen, mut turn) = (UNKNOWN, 0, (NONE, NONE), u64::MAX);
        for &queue in &port.crossing {
            let at = &self.queues[queue as usize];
            let mut time = at.crosses_at;
            if port.pace > 1 {
                time = time.max(self.enters_at(at.output, port.pace));
            }
            if time > now {
                next = next.min(time);
                continue;
            }
            able += 1;
            let its = if keeps && queue == port.last { 0 } else { u64::from(queue.wrapping_sub(begin)) + 1 };
            if its < turn {
                (turn, chosen) = (its, (queue, at.output));
            }
        }
        let link = &mut self.links[link as usize];
        link.port.others = if able > 1 { now } else { next };
        if able == 0 { self.agenda.wake_port(link, next) } else { self.nominate_for(chosen.1, chosen.0) }
    }

    /// Nominates the next character for a lane: that of the queue whose packet holds it.
    #[inline(always)]
    fn nominate_for(&mut self, lane: u32, queue: u32) {
        let at = &self.lanes[lane as usize];
        let to = &mut self.links[at.link as usize].port;
        if to.nominated == 0 {
            self.contested.push(at.link);
        }
        to.nominated |= at.bit;
        to.nominee = queue;
    }

    /// Returns when no other lane keeps a character from crossing to a lane any more, or when it may be nominated beside one
    /// that crosses ahead.
    fn enters_at(&self, output: u32, pace: Time) -> Time {
        let port = &self.links[self.lanes[output as usize].link as usize].port;
        if port.entered == output || port.entered == NONE {
            return 0;
        }
        let (now, last) = (self.agenda.now, port.entered_at);
        if last < now { last + pace } else { now + (last - now) % pace }
    }

    /// Moves one nominated character to each link, or more of its packet.
    #[inline(always)]
    pub(super) fn take_nominated(&mut self) {
        if self.by_packet {
            return self.take_packets();
        }
        while let Some(to) = self.contested.pop() {
            self.take_one(to);
        }
    }

    #[inline(always)]
    fn take_one(&mut self, to: u32) {
        let queue = self.take_queue(to);
        self.take(to, queue);
    }

    /// Moves a character of a queue to a link.
    #[inline(always)]
    fn take(&mut self, to: u32, queue: u32) {
        let now = self.agenda.now;
        let output = self.queues[queue as usize].output;
        let amid = self.cross_middle(queue) || self.cross_one(queue, now);
        let port = &mut self.links[to as usize].port;
        (port.entered, port.entered_at, port.enters_amid) = (output, now, amid);
    }

    #[inline(never)]
    fn take_packets(&mut self) {
        while let Some(to) = self.contested.pop() {
            self.take_packet(to);
        }
    }

    /// Moves characters of a packet that goes first until its end.
    fn take_packet(&mut self, to: u32) {
        let (now, port) = (self.agenda.now, &mut self.links[to as usize].port);
        if port.entered_at >= now && port.entered != NONE {
            // One that crosses ahead does now.
            let (rivals, last) = (std::mem::take(&mut port.nominated), port.entered_at);
            return self.refuse(to, rivals, last);
        }
        let queue = self.take_queue(to);
        let at = &self.queues[queue as usize];
        let (output, ahead) = (at.output, self.links[at.link as usize].port.ahead);
        let amid = self.cross_ahead(queue, now, if ahead { self.agenda.horizon } else { now });
        let amid = amid || self.cross_one(queue, now);
        let last = self.queues[queue as usize].moved_at;
        let port = &mut self.links[to as usize].port;
        (port.entered, port.entered_at, port.enters_amid) = (output, last, amid);
    }

    /// Takes the queue whose nominated character may cross to a link.
    #[inline(always)]
    fn take_queue(&mut self, to: u32) -> u32 {
        let port = &mut self.links[to as usize].port;
        let (rivals, nominee) = (std::mem::take(&mut port.nominated), port.nominee);
        if rivals.is_power_of_two() { nominee } else { self.choose_nominated(to, rivals) }
    }

    /// Returns the queue whose character may cross to a link of those nominated for some of its lanes, as bits.
    fn choose_nominated(&mut self, to: u32, rivals: u32) -> u32 {
        let (first, port) = (to * self.fabric.lanes, &self.links[to as usize].port);
        let entered = port.entered.wrapping_sub(first);
        let keeps = self.by_packet && port.enters_amid && rivals >> entered & 1 == 1;
        let chosen = if keeps { entered } else { in_turn(rivals, entered, self.fixed) };
        self.refuse(to, rivals & !(1 << chosen), self.agenda.now);
        self.lanes[(first + chosen) as usize].holder
    }

    /// Lets characters nominated for some lanes of a link, as bits, try again a grain later: in the next tick, the tick
    /// would matter, which may be as short as any duration asks. Where others cross before them up to the tick `last`, those
    /// that are alone at their input try after that, when grains are ticks: until then they would be refused in each tick.
    fn refuse(&mut self, to: u32, mut lanes: u32, last: Time) {
        let (now, grain) = (self.agenda.now, self.fabric.grain_ticks as Time);
        while lanes != 0 {
            let lane = self.lanes[(to * self.fabric.lanes + lanes.trailing_zeros()) as usize].holder;
            let link = &mut self.links[self.queues[lane as usize].link as usize];
            link.port.free_at = now + grain;
            let waits = grain == 1 && link.port.crossing.len() == 1;
            let refused = if waits { last } else { now };
            self.agenda.wake_port(link, refused + grain);
            lanes &= lanes - 1;
        }
    }

    /// Schedules the crossing of a queue, if it has a lane and its next character can cross now or at a known time.
    #[inline(always)]
    pub(super) fn may_cross(&mut self, queue: u32) {
        let Self { agenda, lanes, links, queues, .. } = self;
        let at = &mut queues[queue as usize];
        if at.crosses_at == UNKNOWN {
            agenda.may_cross(at, &mut links[at.link as usize], lanes);
        }
    }

    /// The same for the queue whose packet holds a lane, if any does.
    #[inline(always)]
    pub(super) fn may_cross_if_held(&mut self, holder: u32) {
        if holder != NONE {
            self.may_cross(holder);
        }
    }

    /// Moves one character of a queue at a given time; returns whether its packet continues. Then it looks when the next
    /// one can cross.
    #[inline(never)]
    pub(super) fn cross_one(&mut self, queue: u32, time: Time) -> bool {
        let at = &mut self.queues[queue as usize];
        let (number, lane, output, deletes) = (at.link, at.lane, at.output, at.delete > 0);
        at.arrivals.pop();
        let packet = at.front_mut();
        packet.left -= 1;
        let left = packet.left;
        at.delete -= u32::from(deletes);
        at.moved_at = time;
        let link = &mut self.links[number as usize];
        link.port.passes(time);
        (link.port.last, link.port.amid) = (queue, left > 0);
        let ready = time + link.port.forward;
        self.give_back(number, lane, time);
        if !deletes {
            self.enter(output, ready);
            for place in 0..self.queues[queue as usize].copies.len() {
                self.enter(self.queues[queue as usize].copies[place], ready);
            }
        }
        let at = &mut self.queues[queue as usize];
        at.crosses_at = if left == 0 { UNKNOWN } else { at.cross_of(&self.lanes) };
        let (crosses, link) = (at.crosses_at, &mut self.links[number as usize]);
        self.agenda.wake_port(link, link.port.next_after(crosses));
        if left == 0 {
            self.leave(number, queue, time);
        }
        left > 0
    }

    /// Adds a character to the output buffer of a lane.
    #[inline(always)]
    pub(super) fn enter(&mut self, lane: u32, ready: Time) {
        let at = &mut self.lanes[lane as usize];
        at.places.take();
        at.ready.push(ready);
        self.may_start(lane);
    }

    /// Returns credit for a character that has left the input buffer of a lane, unless its link is down: then the credit
    /// is computed when it runs again.
    #[inline(always)]
    pub(super) fn give_back(&mut self, link: u32, lane: u32, time: Time) {
        let (at, link) = (&mut self.lanes[lane as usize], &mut self.links[link as usize]);
        if !link.down {
            self.agenda.give_back(at, link, time);
            self.agenda.may_start(at, link);
        }
    }

    /// Brings the next packet of a queue to the front.
    pub(super) fn next_head(&mut self, switch: usize, queue: u32, time: Time) {
        let at = &mut self.queues[queue as usize];
        at.asked = false;
        at.front_at = time + Time::from(self.fabric.switch_next_head_ticks[switch]);
        self.ask(queue);
    }

    /// Handles the crossing of the end of a packet at a given time.
    fn leave(&mut self, link: u32, queue: u32, time: Time) {
        let switch = self.fabric.link_target[link as usize] as usize;
        let at = &mut self.queues[queue as usize];
        let packet = at.packets.pop_front().expect("the packet that leaves");
        let lane = at.lane;
        let output = std::mem::replace(&mut at.output, NONE);
        let copies = std::mem::take(&mut at.copies);
        self.links[link as usize].port.crossing.retain(|&other| other != queue);
        let handover = Time::from(self.fabric.switch_handover_ticks[switch]);
        for output in copies.into_iter().chain([output]) {
            self.agenda.schedule(Event::Release(output), time + handover);
        }
        self.will_leave(lane, time, packet.length);
        self.next_head(switch, queue, time);
    }
}
