//! Characters in the middle of packets: they need no more than the equations of the page, and are nearly all there are.
//!
//! Several at a time where links are computed in advance, otherwise the one of this tick.

use super::parts::{Lane, Link, Port, Queue};
use super::state::{Network, UNKNOWN};
use crate::kernel::Time;

/// The characters of a lane that start: those before the end of a packet whose header the next switch has read.
struct Start<'a> {
    at: &'a mut Lane,
    link: &'a mut Link,
    /// The queue in which they arrive; none at a terminal.
    queue: Option<&'a mut Queue>,
    counted_from: Time,
}

impl Start<'_> {
    /// Returns when the next one is there and has credit, if both are known.
    #[inline(always)]
    fn next(&self) -> Time {
        let supply = if self.link.from_terminal { 0 } else { self.at.ready.first() };
        let credit = if self.queue.is_some() { self.at.credit.at(1, self.link.quantum) } else { 0 };
        supply.max(credit)
    }

    #[inline(always)]
    fn send(&mut self, time: Time) {
        let (at, link) = (&mut *self.at, &mut *self.link);
        link.counts.stalled_ticks += (time - link.free_at.max(self.counted_from)) as u64;
        link.free_at = time + link.character;
        if !link.from_terminal {
            at.ready.pop();
            at.places.give_back(time + link.character);
        }
        if let Some(queue) = &mut self.queue {
            at.credit.spend(1, link.quantum);
            queue.arrivals.push(time + link.arrival);
        }
    }
}

/// The characters of a queue that cross: those before the end of a packet that are not deleted.
struct Crossing<'a> {
    at: &'a mut Queue,
    port: &'a mut Port,
    link: &'a mut Link,
    from: &'a mut Lane,
    to: &'a mut Lane,
}

impl Crossing<'_> {
    /// Returns when the next one is there and has a place, if both are known.
    #[inline(always)]
    fn next(&self) -> Time {
        self.at.arrivals.first().max(self.to.places.next())
    }

    /// Whether the packet is ended before a given time, if nothing crosses before.
    #[inline(always)]
    fn is_over(&self, time: Time) -> bool {
        time >= self.at.moved_at.saturating_add(self.port.timeout)
    }

    #[inline(always)]
    fn cross(&mut self, time: Time) {
        let (from, to) = (&mut *self.from, &mut *self.to);
        self.port.free_at = time + self.port.pace;
        self.at.moved_at = time;
        self.at.arrivals.pop();
        to.places.take();
        to.ready.push(time + self.port.forward);
        from.owed -= 1;
        if from.owed + self.link.quantum <= self.link.input_buffer {
            from.owed += self.link.quantum;
            from.credit.add(time + self.link.credit);
            if time > self.link.free_at && time > self.link.rests_at {
                self.link.rests_at = time + self.link.credit;
            }
        }
    }
}

impl Network {
    /// Starts characters in the middle of a packet whose times are known, now and up to the horizon; returns whether
    /// there were any.
    pub(super) fn start_middle(&mut self, link: u32, lane: u32) -> bool {
        let at = &mut self.lanes[lane as usize];
        let (holder, receiving) = (at.holder, at.receiving);
        let Some(&packet) = at.outgoing.first() else { return false };
        let link = &mut self.links[link as usize];
        let queue = if link.to_terminal { None } else { self.queues.get_mut(receiving as usize) };
        let most = packet.length - 1;
        if !packet.is_read || packet.sent == most {
            return false;
        }
        let mut start = Start { at, link, queue, counted_from: self.counted_from };
        let (mut count, mut next) = (0, self.starts_at[lane as usize]);
        let (now, horizon) = (self.now, self.horizon);
        while packet.sent + count < most {
            let time = next.max(start.link.free_at);
            if time > now && time >= horizon {
                break;
            }
            start.send(time.max(now));
            count += 1;
            next = start.next();
        }
        if count == 0 {
            return false;
        }
        let Start { at, link, queue, .. } = start;
        at.outgoing.first_mut().expect("the packet that is sent").sent += count;
        link.last = lane;
        link.known = if next < UNKNOWN { link.known | at.bit } else { link.known & !at.bit };
        link.counts.characters += u64::from(count);
        link.counts.busy_ticks += u64::from(count) * link.character as u64;
        self.characters += u64::from(count);
        self.rests_at = self.rests_at.max(link.free_at);
        self.starts_at[lane as usize] = next;
        let mut is_next = false;
        if let Some(queue) = queue {
            is_next = queue.arrivals.len() == count && queue.packets.len() == 1;
        }
        if is_next {
            self.may_move(receiving);
        }
        self.may_cross_if_held(holder);
        true
    }

    /// Moves characters in the middle of a packet whose times are known, now and up to the horizon; returns whether there
    /// were any.
    pub(super) fn cross_middle(&mut self, link: u32, queue: u32) -> bool {
        let (at, port) = (&mut self.queues[queue as usize], &mut self.ports[link as usize]);
        let shared = &mut self.links[link as usize];
        let (lane, output, packet) = (at.lane, at.output, *at.front());
        if packet.left == 1 || at.delete > 0 || !at.copies.is_empty() || shared.down {
            return false;
        }
        let Ok([from, to]) = self.lanes.get_disjoint_mut([lane as usize, output as usize]) else {
            return false;
        };
        let to_link = to.link;
        let mut crossing = Crossing { at, port, link: shared, from, to };
        let most = crossing.at.arrivals.len().min(packet.left - 1);
        let (now, horizon) = (self.now, self.horizon);
        let (mut count, mut next) = (0, self.crosses_at[queue as usize]);
        while count < most {
            let time = next.max(crossing.port.free_at);
            if time > now && (time >= horizon || crossing.is_over(time)) {
                break;
            }
            crossing.cross(time.max(now));
            count += 1;
            next = crossing.next();
        }
        if count == 0 {
            return false;
        }
        crossing.at.front_mut().left -= count;
        self.rests_at = self.rests_at.max(crossing.link.rests_at);
        if !self.alone && crossing.port.pace > 0 {
            (crossing.port.last, crossing.port.amid) = (queue, true);
            let port = &mut self.ports[to_link as usize];
            (port.entered, port.entered_at, port.enters_amid) = (output, self.now, true);
        }
        self.crosses_at[queue as usize] = next;
        self.may_start(output);
        self.may_start(lane);
        true
    }
}
