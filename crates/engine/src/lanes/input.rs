//! Input buffers: arrivals, headers, and crossing to output buffers.

use super::event::Event;
use super::parts::{Incoming, Link, Outgoing};
use super::state::{Network, UNKNOWN};
use crate::fabric::NONE;
use crate::kernel::Time;

impl Network {
    /// Records a character that has started on a lane into a switch: when it arrives, and whether its packet can
    /// request then.
    pub(super) fn receive(&mut self, lane: u32, sent: &Outgoing, arrives: Time) {
        if sent.sent == 1 {
            let queue = self.queue_for(lane, sent.packet);
            self.lanes[lane as usize].receiving = queue;
            let incoming = Incoming { packet: sent.packet, left: sent.length, readable: UNKNOWN };
            self.queues[queue as usize].packets.push(incoming);
        }
        let queue = self.lanes[lane as usize].receiving;
        let at = &mut self.queues[queue as usize];
        at.arrivals.push(arrives);
        let is_next = at.packets.len() == 1 && at.arrivals.len() == 1;
        let is_end = sent.sent == sent.length;
        if !sent.is_read && (is_end || sent.sent == self.front_header(sent.packet).0.max(1)) {
            if !is_end {
                self.lanes[lane as usize].reads();
            }
            self.may_read(queue, arrives);
        } else if is_next {
            self.may_move(queue);
        }
    }

    /// Schedules the first character of the packet at the front of a queue, which had none, if it crosses or is spilled.
    pub(super) fn may_move(&mut self, queue: u32) {
        let at = &self.queues[queue as usize];
        if at.spills {
            self.wake_port(self.lanes[at.lane as usize].link, at.arrivals.first());
        } else {
            self.may_cross(queue);
        }
    }

    /// Records when the header of the last packet of a queue is readable.
    fn may_read(&mut self, queue: u32, arrives: Time) {
        let at = &mut self.queues[queue as usize];
        at.last_mut().readable = arrives;
        if at.packets.len() == 1 {
            self.ask(queue);
        }
    }

    /// Returns the queue of a packet that arrives on a lane.
    fn queue_for(&mut self, lane: u32, packet: u32) -> u32 {
        let first = self.lanes[lane as usize].first_queue;
        if self.fabric.output_queues == 0 {
            return first;
        }
        let (switch, (_, class)) = (self.switch_at(lane), self.front_header(packet));
        match self.fabric.route[switch as usize * self.fabric.classes as usize + class as usize] {
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
        let Some(packet) = at.packets.first().filter(|packet| packet.readable < UNKNOWN) else { return };
        debug_assert!(!at.asked, "queue {queue} asks twice");
        at.asked = true;
        let readable = packet.readable.max(at.front_at);
        let lane = at.lane;
        let decode = Time::from(self.fabric.switch_decode_ticks[self.switch_at(lane) as usize]);
        self.queues[queue as usize].asks_at = readable + decode;
        self.schedule(Event::Request(queue), readable + decode);
    }

    /// Moves what can move in this tick from the input buffers at the end of a link.
    pub(super) fn cross(&mut self, link: u32) {
        if !self.ports[link as usize].spilling.is_empty() {
            let next = self.spill_all(link);
            self.wake_port(link, next);
        }
        if self.alone {
            return self.cross_alone(link);
        }
        if self.ports[link as usize].pace > 0 {
            return self.nominate(link);
        }
        let (mut next, mut place) = (UNKNOWN, 0);
        while let Some(&queue) = self.ports[link as usize].crossing.get(place) {
            let time = self.crosses_at[queue as usize];
            if time <= self.now {
                if !self.cross_middle(link, queue) {
                    self.cross_one(link, queue, self.now);
                }
            } else {
                next = next.min(time);
                place += 1;
            }
        }
        self.wake_port(link, next);
    }

    /// Nominates one of the characters that can move, if the input of the crossbar is free.
    fn nominate(&mut self, link: u32) {
        let port = &self.ports[link as usize];
        if self.now < port.free_at {
            return self.wake_port(link, port.free_at);
        }
        let (mut first, mut behind, mut again, mut next) = (NONE, NONE, NONE, UNKNOWN);
        for &queue in &port.crossing {
            let mut time = self.crosses_at[queue as usize];
            if time <= self.now && port.pace > 1 {
                time = time.max(self.enters_at(queue, port.pace));
            }
            if time > self.now {
                next = next.min(time);
                continue;
            }
            first = first.min(queue);
            if port.last == NONE || queue > port.last {
                behind = behind.min(queue);
            } else if queue == port.last {
                again = queue;
            }
        }
        let keeps = self.by_packet && port.amid && again != NONE;
        match if keeps {
            again
        } else if self.fixed || behind == NONE {
            first
        } else {
            behind
        } {
            NONE => self.wake_port(link, next),
            queue => self.nominate_for(self.queues[queue as usize].output),
        }
    }

    /// Nominates the next character for a lane: that of the queue whose packet holds it.
    fn nominate_for(&mut self, lane: u32) {
        let link = self.lanes[lane as usize].link;
        let to = &mut self.ports[link as usize];
        if to.nominated == 0 {
            self.contested.push(link);
        }
        to.nominated |= self.lanes[lane as usize].bit;
    }

    /// Returns when no other lane keeps a queue from crossing any more.
    fn enters_at(&self, queue: u32, pace: Time) -> Time {
        let output = self.queues[queue as usize].output;
        let port = &self.ports[self.lanes[output as usize].link as usize];
        if port.entered == output || port.entered == NONE { 0 } else { port.entered_at + pace }
    }

    /// Moves one nominated character to each link.
    pub(super) fn take_nominated(&mut self) {
        while let Some(to) = self.contested.pop() {
            let port = &mut self.ports[to as usize];
            let (first, mut rivals) = (to * self.fabric.lanes, std::mem::take(&mut port.nominated));
            let (entered, amid) = (port.entered.wrapping_sub(first), port.enters_amid);
            let chosen = if rivals.is_power_of_two() {
                rivals.trailing_zeros()
            } else {
                self.in_turn(rivals, entered, amid).unwrap_or(0)
            };
            while rivals != 0 {
                let lane = rivals.trailing_zeros();
                rivals &= rivals - 1;
                self.take(self.lanes[(first + lane) as usize].holder, lane == chosen);
            }
        }
    }

    /// Moves the nominated character of a queue, if it is accepted, and schedules the next one of its link.
    fn take(&mut self, queue: u32, accepted: bool) {
        let link = self.lanes[self.queues[queue as usize].lane as usize].link;
        let mut again = self.now + 1;
        if accepted {
            if !self.cross_middle(link, queue) {
                self.cross_one(link, queue, self.now);
            }
            let port = &mut self.ports[link as usize];
            again = self.now + port.pace;
            port.free_at = again;
        }
        let mut next = UNKNOWN;
        for &queue in &self.ports[link as usize].crossing {
            next = next.min(self.crosses_at[queue as usize]);
        }
        self.wake_port(link, next.max(again));
    }

    /// Returns when the next character of a queue is there and has a place, if both are known.
    #[inline]
    pub(super) fn cross_of(&self, queue: u32) -> Time {
        let at = &self.queues[queue as usize];
        let arrival = at.arrivals.first();
        if at.delete > 0 {
            return arrival;
        }
        let place = |&lane: &u32| self.lanes[lane as usize].places.next();
        at.copies.iter().map(place).fold(arrival.max(place(&at.output)), Time::max)
    }

    /// Schedules the crossing of a queue, if it has a lane and its next character can cross now or at a known time.
    #[inline(always)]
    pub(super) fn may_cross(&mut self, queue: u32) {
        let at = &self.queues[queue as usize];
        if self.crosses_at[queue as usize] == UNKNOWN && at.output != NONE {
            let (time, link) = (self.cross_of(queue), self.lanes[at.lane as usize].link);
            self.crosses_at[queue as usize] = time;
            let port = &self.ports[link as usize];
            self.wake_port(link, if port.pace > 0 { time.max(port.free_at) } else { time });
        }
    }

    /// The same for the queue whose packet holds a lane, if any does.
    #[inline(always)]
    pub(super) fn may_cross_if_held(&mut self, holder: u32) {
        if holder != NONE {
            self.may_cross(holder);
        }
    }

    /// Moves one character of a queue at a given time.
    pub(super) fn cross_one(&mut self, link: u32, queue: u32, time: Time) {
        let at = &mut self.queues[queue as usize];
        let (lane, output, deletes) = (at.lane, at.output, at.delete > 0);
        at.arrivals.pop();
        let packet = at.front_mut();
        packet.left -= 1;
        let left = packet.left;
        at.delete -= u32::from(deletes);
        at.moved_at = time;
        let port = &mut self.ports[link as usize];
        let (pace, ready) = (port.pace, time + port.forward);
        if pace > 0 {
            (port.last, port.amid) = (queue, left > 0);
            let port = &mut self.ports[self.lanes[output as usize].link as usize];
            (port.entered, port.entered_at, port.enters_amid) = (output, time, left > 0);
        }
        self.give_back(link, lane, time);
        if !deletes {
            self.enter(output, ready);
            for place in 0..self.queues[queue as usize].copies.len() {
                self.enter(self.queues[queue as usize].copies[place], ready);
            }
        }
        if left == 0 {
            self.crosses_at[queue as usize] = UNKNOWN;
            self.leave(link, queue, time);
        } else {
            self.crosses_at[queue as usize] = self.cross_of(queue);
        }
    }

    /// Adds a character to the output buffer of a lane.
    #[inline]
    pub(super) fn enter(&mut self, lane: u32, ready: Time) {
        let at = &mut self.lanes[lane as usize];
        at.places.take();
        at.ready.push(ready);
        self.may_start(lane);
    }

    /// Returns credit for a character that has left the input buffer of a lane, when a quantum is complete.
    #[inline]
    pub(super) fn give_back(&mut self, link: u32, lane: u32, time: Time) {
        let &Link { down, quantum, input_buffer, credit, .. } = &self.links[link as usize];
        if down {
            // The credit is computed when the link runs again.
            return;
        }
        let at = &mut self.lanes[lane as usize];
        at.owed -= 1;
        if at.owed + quantum <= input_buffer {
            at.owed += quantum;
            at.credit.add(time + credit);
            self.rest(link, time, time + credit);
            self.may_start(lane);
        }
    }

    /// Notes when a credit returns to a link, if that is idle and waits for no earlier one.
    #[inline]
    pub(super) fn rest(&mut self, link: u32, time: Time, usable: Time) {
        let link = &mut self.links[link as usize];
        if time > link.free_at && time > link.rests_at {
            link.rests_at = usable;
            self.rests_at = self.rests_at.max(usable);
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
        at.packets.pop();
        let output = std::mem::replace(&mut at.output, NONE);
        let copies = std::mem::take(&mut at.copies);
        self.ports[link as usize].crossing.retain(|&other| other != queue);
        let handover = Time::from(self.fabric.switch_handover_ticks[switch]);
        for output in copies.into_iter().chain([output]) {
            self.schedule(Event::Release(output), time + handover);
        }
        self.next_head(switch, queue, time);
    }
}
