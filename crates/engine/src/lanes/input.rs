//! Input buffers: arrivals, headers, and crossing to output buffers.

use super::event::Event;
use super::state::{Incoming, Network, Outgoing, UNKNOWN};
use crate::fabric::NONE;
use crate::kernel::Time;

impl Network {
    /// Records a character that has started on a lane into a switch: when it arrives, and whether its packet can
    /// request then.
    pub(super) fn receive(&mut self, lane: u32, sent: &Outgoing, arrives: Time) {
        if sent.sent == 1 {
            let queue = self.queue_for(lane, sent.packet);
            self.lanes[lane as usize].receiving = queue;
            let arrivals = self.spare.pop().unwrap_or_default();
            let incoming = Incoming { packet: sent.packet, left: sent.length, arrivals, readable: UNKNOWN };
            self.queues[queue as usize].packets.push_back(incoming);
        }
        let queue = self.lanes[lane as usize].receiving;
        let asking = self.front_header(sent.packet).0.max(1);
        let at = &mut self.queues[queue as usize];
        let first = at.packets.len() == 1;
        let packet = at.packets.back_mut().expect("the packet that is sent");
        packet.arrivals.push_back(arrives);
        if packet.readable == UNKNOWN && (sent.sent == asking || sent.sent == sent.length) {
            packet.readable = arrives;
            if first {
                self.ask(queue);
            }
        } else if first && (at.output != NONE || at.spills) && packet.arrivals.len() == 1 {
            self.wake_port(self.fabric.link_of(lane), arrives);
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
        let Some(packet) = at.packets.front().filter(|packet| packet.readable < UNKNOWN) else { return };
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
        let switch = self.fabric.link_target[link as usize] as usize;
        let pace = Time::from(self.fabric.switch_crossbar_ticks[switch]);
        let (mut next, mut place) = (self.spill_all(link), 0);
        if next < UNKNOWN {
            self.wake_port(link, next);
        }
        next = UNKNOWN;
        if pace > 0 {
            return self.nominate(link, pace);
        }
        while let Some(&queue) = self.ports[link as usize].crossing.get(place) {
            match self.crosses_at(queue) {
                Some(time) if time <= self.now => self.cross_one(link, queue),
                time => {
                    next = Self::earlier(next, time);
                    place += 1;
                }
            }
        }
        if next < UNKNOWN {
            self.wake_port(link, next);
        }
    }

    /// Nominates one of the characters that can move, if the input of the crossbar is free.
    fn nominate(&mut self, link: u32, pace: Time) {
        let free_at = self.ports[link as usize].free_at;
        if self.now < free_at {
            return self.wake_port(link, free_at);
        }
        let (mut able, mut next) = (std::mem::take(&mut self.able), UNKNOWN);
        able.clear();
        for place in 0..self.ports[link as usize].crossing.len() {
            let queue = self.ports[link as usize].crossing[place];
            match self.crosses_at(queue).map(|time| time.max(self.enters_at(queue, pace))) {
                Some(time) if time <= self.now => able.push(queue),
                time => next = Self::earlier(next, time),
            }
        }
        let port = &self.ports[link as usize];
        let chosen = self.in_turn(able.iter().copied(), port.last, port.amid);
        self.able = able;
        if let Some(queue) = chosen {
            self.nominated.push((self.queues[queue as usize].output, queue));
            next = self.now + 1;
        }
        if next < UNKNOWN {
            self.wake_port(link, next);
        }
    }

    /// Returns when no other lane keeps a queue from crossing any more.
    fn enters_at(&self, queue: u32, pace: Time) -> Time {
        let output = self.queues[queue as usize].output;
        let port = &self.ports[self.fabric.link_of(output) as usize];
        if port.entered == output || port.entered == NONE { 0 } else { port.entered_at + pace }
    }

    /// Moves one nominated character to each link.
    pub(super) fn take_nominated(&mut self) {
        if self.nominated.is_empty() {
            return;
        }
        let mut nominated = std::mem::take(&mut self.nominated);
        nominated.sort_unstable();
        let lanes = self.fabric.lanes;
        for rivals in nominated.chunk_by(|one, other| one.0 / lanes == other.0 / lanes) {
            let port = &self.ports[self.fabric.link_of(rivals[0].0) as usize];
            let rival_lanes = rivals.iter().map(|&(lane, _)| lane);
            let lane = self.in_turn(rival_lanes, port.entered, port.enters_amid);
            if let Some(&(_, queue)) = rivals.iter().find(|&&(rival, _)| Some(rival) == lane) {
                let link = self.fabric.link_of(self.queues[queue as usize].lane);
                let switch = self.fabric.link_target[link as usize] as usize;
                let pace = Time::from(self.fabric.switch_crossbar_ticks[switch]);
                self.ports[link as usize].free_at = self.now + pace;
                self.cross_one(link, queue);
            }
        }
        nominated.clear();
        self.nominated = nominated;
    }

    /// Returns when the next character of a queue with granted lanes can cross, apart from the crossbar, if known.
    fn crosses_at(&mut self, queue: u32) -> Option<Time> {
        let at = &self.queues[queue as usize];
        let (arrival, output) = (*at.packets[0].arrivals.front()?, at.output);
        if at.delete > 0 {
            return Some(arrival);
        }
        let mut time = arrival.max(self.place_at(output)?);
        for place in 0..self.queues[queue as usize].copies.len() {
            time = time.max(self.place_at(self.queues[queue as usize].copies[place])?);
        }
        Some(time)
    }

    /// Returns when the output buffer of a lane has a free place, if known.
    fn place_at(&mut self, lane: u32) -> Option<Time> {
        let to = &mut self.lanes[lane as usize];
        while to.places.front().is_some_and(|&free| free <= self.now) {
            to.places.pop_front();
        }
        let taken = (to.ready.len() + to.places.len()) as u32;
        if taken < self.fabric.link_output_buffer[self.fabric.link_of(lane) as usize] {
            return Some(self.now);
        }
        to.places.front().copied()
    }

    /// Moves one character of a queue.
    fn cross_one(&mut self, link: u32, queue: u32) {
        let at = &mut self.queues[queue as usize];
        let (lane, output, deletes) = (at.lane, at.output, at.delete > 0);
        let packet = &mut at.packets[0];
        packet.arrivals.pop_front();
        packet.left -= 1;
        let left = packet.left;
        at.delete -= u32::from(deletes);
        at.moved_at = self.now;
        let port = &mut self.ports[link as usize];
        (port.last, port.amid) = (queue, left > 0);
        let port = &mut self.ports[self.fabric.link_of(output) as usize];
        (port.entered, port.entered_at, port.enters_amid) = (output, self.now, left > 0);
        self.give_back(link, lane);
        if !deletes {
            let switch = self.fabric.link_target[link as usize] as usize;
            let ready = self.now + Time::from(self.fabric.switch_forward_ticks[switch]);
            self.enter(output, ready);
            for place in 0..self.queues[queue as usize].copies.len() {
                self.enter(self.queues[queue as usize].copies[place], ready);
            }
        }
        if left == 0 {
            self.leave(link, queue);
        }
    }

    /// Adds a character to the output buffer of a lane.
    fn enter(&mut self, lane: u32, ready: Time) {
        self.lanes[lane as usize].ready.push_back(ready);
        self.wake_wire(self.fabric.link_of(lane), ready);
    }

    /// Returns credit for a character that has left the input buffer of a lane, when a quantum is complete.
    pub(super) fn give_back(&mut self, link: u32, lane: u32) {
        if self.links[link as usize].down {
            // The credit is computed when the link runs again.
            return;
        }
        let (quantum, buffer) =
            (self.fabric.link_quantum[link as usize], self.fabric.link_input_buffer[link as usize]);
        let usable = self.now + Time::from(self.fabric.link_credit_ticks[link as usize]);
        let at = &mut self.lanes[lane as usize];
        at.owed -= 1;
        if at.owed + quantum <= buffer {
            at.owed += quantum;
            at.returns.push_back(usable);
            self.wake_wire(link, usable);
        }
    }

    /// Brings the next packet of a queue to the front.
    pub(super) fn next_head(&mut self, switch: usize, queue: u32) {
        let at = &mut self.queues[queue as usize];
        at.asked = false;
        at.front_at = self.now + Time::from(self.fabric.switch_next_head_ticks[switch]);
        self.ask(queue);
    }

    /// Handles the crossing of the end of a packet.
    fn leave(&mut self, link: u32, queue: u32) {
        let switch = self.fabric.link_target[link as usize] as usize;
        let at = &mut self.queues[queue as usize];
        self.spare.extend(at.packets.pop_front().map(|packet| packet.arrivals));
        let output = std::mem::replace(&mut at.output, NONE);
        let copies = std::mem::take(&mut at.copies);
        self.ports[link as usize].crossing.retain(|&other| other != queue);
        let handover = Time::from(self.fabric.switch_handover_ticks[switch]);
        for output in copies.into_iter().chain([output]) {
            self.schedule(Event::Release(output), self.now + handover);
        }
        self.next_head(switch, queue);
    }
}
