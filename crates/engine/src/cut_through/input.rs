//! Input buffers: packets arrive, request when they are at the front of their queue, and leave.

use super::parts::{Event, Queue, Stay};
use super::state::{Network, Packet, UNKNOWN};
use crate::fabric::NONE;
use crate::kernel::Time;

impl Network {
    /// Puts a packet that starts on a lane into the queue in which it will wait.
    #[inline(always)]
    pub(super) fn arrive(&mut self, stay: u32) {
        let Stay { packet, lane, class, start, .. } = self.stays[stay];
        let link = self.lanes[lane as usize].link;
        let switch = self.fabric.link_target[link as usize];
        let arrival = if self.loses { self.kind(link).arrival(start) } else { 0 };
        let entry = self.entry((packet, class), switch, arrival);
        if entry == NONE && !self.fabric.has_tables() {
            self.no_route = Some((switch, class));
            return;
        }
        let number = self.queue_for(lane, if self.fabric.output_queues == 1 { entry >> 1 } else { 0 });
        let at = &mut self.stays[stay];
        (at.entry, at.queue) = (entry, number);
        if self.congestion.is_some() {
            self.join(stay);
        }
        let queue = &mut self.lanes[lane as usize].queues[number as usize];
        let (before, front_at) = (std::mem::replace(&mut queue.last, stay), queue.front_at);
        if before == NONE {
            queue.first = stay;
            self.ask(stay, front_at);
        } else {
            self.stays[before].next = stay;
        }
    }

    /// Returns the route of a packet of a class at a switch by the tables of a tick.
    #[inline(always)]
    pub(super) fn entry(&self, (packet, class): (u32, u32), switch: u32, time: Time) -> u32 {
        let entry = if self.classed {
            self.fabric.entry(self.fabric.table_at(time), switch, class)
        } else {
            self.routes.entry(&self.fabric, switch, class)
        };
        if self.fabric.draws() {
            let Packet { delivery, dispatch, .. } = self.packets[packet];
            self.fabric.drawn(entry, switch, class, (delivery.source, dispatch))
        } else {
            entry
        }
    }

    /// Returns the queue for a group of those of a lane.
    #[inline(always)]
    fn queue_for(&mut self, lane: u32, group: u32) -> u32 {
        let queues = &mut self.lanes[lane as usize].queues;
        let mut unused = queues.len();
        for (place, queue) in queues.iter().enumerate() {
            if queue.group == group {
                return place as u32;
            }
            if queue.first == NONE && queue.front_at <= self.now {
                unused = place;
            }
        }
        let new = Queue { group, first: NONE, last: NONE, front_at: 0 };
        match queues.get_mut(unused) {
            Some(queue) => *queue = new,
            None => queues.push(new),
        }
        unused as u32
    }

    /// Schedules the request of a packet that is at the front of its queue from a tick on, unless it is already.
    #[inline(always)]
    pub(super) fn ask(&mut self, stay: u32, front_at: Time) {
        let at = &self.stays[stay];
        let kind = self.kind(self.lanes[at.lane as usize].link);
        let stored = self.fabric.store_and_forward == 1;
        let needed = if stored { at.length } else { self.front_header(at.packet).max(1) };
        let time = kind.request(front_at, self.start_of(at, i64::from(needed) - 1));
        if self.loses && std::mem::replace(&mut self.stays[stay].out.grant, time) == time {
            return;
        }
        // A packet that arrives now, and is let in, may request at once.
        if time > self.now {
            self.schedule(Event::Request(stay), time);
        } else {
            self.request(stay);
        }
    }

    /// Looks when a packet that holds a lane leaves the buffer before, because more is known. Before it has left, its
    /// characters may still give credit.
    #[inline(always)]
    pub(super) fn follow(&mut self, stay: u32) {
        let from = self.stays[stay].from;
        let before = &self.stays[from];
        let lane = before.lane;
        let left = self.departure(before, i64::from(before.length) - 1);
        if left < UNKNOWN {
            self.leave(from, stay, left);
        }
        self.look_again(lane);
        if self.room > 0 && self.groups.are_awaited(lane) {
            self.announce(lane);
        }
    }

    /// Records when the end of a packet leaves its buffer: then its lane is released, and the next packet is at the front.
    #[inline(always)]
    fn leave(&mut self, from: u32, stay: u32, left: Time) {
        let before = &mut self.stays[from];
        before.left = left;
        let at = *before;
        let Stay { lane, length, out, .. } = at;
        self.will_leave(lane, left, length);
        self.stays[stay].from = NONE;
        let kind = self.kind(self.lanes[lane as usize].link);
        let (free_at, front_at) = (kind.release(left), kind.at_front(left));
        let to = &mut self.lanes[out.lane as usize];
        (to.coming, to.free_at) = (NONE, free_at);
        if self.groups.are_awaited(out.lane) {
            self.announce(out.lane);
        }
        self.come_forward(from, &at, front_at);
    }

    /// Brings the packet behind one whose end leaves to the front at a tick.
    #[inline(always)]
    pub(super) fn come_forward(&mut self, from: u32, at: &Stay, front_at: Time) {
        let queue = &mut self.lanes[at.lane as usize].queues[at.queue as usize];
        // After a cut it may have left the queue before.
        let first = if queue.first == from { at.next } else { queue.first };
        (queue.first, queue.front_at) = (first, front_at);
        match first {
            NONE => queue.last = NONE,
            first => self.ask(first, front_at),
        }
    }
}
