//! Characters in the middle of packets: they need no more than the equations of the page, and are nearly all there are.
//!
//! One at a time where others compete in every tick, otherwise as many as are known before a given tick.

use super::agenda::Agenda;
use super::link::Link;
use super::parts::{Lane, Outgoing, Queue};
use super::state::Network;
use crate::kernel::Time;

/// Starts a character in the middle of the packet of a lane; returns when the next one can.
#[inline(always)]
fn start(at: &mut Lane, link: &mut Link, time: Time) -> Time {
    link.counts.characters += 1;
    link.free_at = time + link.character;
    if !link.from_terminal {
        at.ready.pop();
        at.places.give_back(link.free_at);
    }
    if !link.to_terminal {
        at.credit.spend(1, link.quantum);
    }
    at.start_of(link)
}

/// Moves a character in the middle of the packet of a queue to its lane; returns when the next one can cross.
#[inline(always)]
fn cross(at: &mut Queue, link: &mut Link, to: &mut Lane, time: Time) -> Time {
    at.arrivals.pop();
    at.moved_at = time;
    link.port.passes(time);
    to.places.take();
    to.ready.push(time + link.port.forward);
    at.arrivals.first().max(to.places.next())
}

/// Starts a character in the middle of the packet of a lane now, and schedules the wire for its next one, or for that of
/// another lane; returns the queue whose packet holds the lane, or nothing if the character is not in the middle.
#[inline(always)]
pub(super) fn start_middle(
    agenda: &mut Agenda,
    link: &mut Link,
    lanes: &mut [Lane],
    queues: &mut [Queue],
    lane: u32,
    others: Time,
) -> Option<u32> {
    let at = &mut lanes[lane as usize];
    let packet = at.outgoing.first_mut()?;
    if !packet.is_read || packet.sent + 1 == packet.length {
        return None;
    }
    packet.sent += 1;
    let next = start(at, link, agenda.now);
    at.set_next(link, next);
    link.last = lane;
    agenda.rest_until(link.free_at);
    agenda.wake_wire(link, next.min(others).max(link.free_at));
    let (holder, receiving) = (at.holder, at.receiving);
    if !link.to_terminal {
        let queue = &mut queues[receiving as usize];
        queue.arrivals.push(agenda.now + link.arrival);
        if queue.arrivals.is_single() {
            agenda.may_move(queue, link, lanes);
        }
    }
    Some(holder)
}

impl Network {
    /// Starts characters in the middle of the packet of a lane, the first of them at a given time and further ones before
    /// the horizon, if their times are known; returns how many. Where no more than `most` may start, they follow each other.
    pub(super) fn start_ahead(&mut self, link: u32, lane: u32, time: Time, most: Option<u32>) -> u32 {
        let Self { agenda, lanes, links, queues, .. } = self;
        let at = &mut lanes[lane as usize];
        let Some(&Outgoing { mut sent, length, is_read, .. }) = at.outgoing.first() else { return 0 };
        if !is_read || sent + 1 == length {
            return 0;
        }
        let (link, mut time, begin) = (&mut links[link as usize], time, sent);
        let mut queue = if link.to_terminal { None } else { queues.get_mut(at.receiving as usize) };
        let is_next = queue.as_ref().is_some_and(|queue| queue.arrivals.is_empty());
        let next = loop {
            let next = start(at, link, time);
            if let Some(queue) = &mut queue {
                queue.arrivals.push(time + link.arrival);
            }
            sent += 1;
            time = next.max(link.free_at);
            let has_wire = most.is_none_or(|most| sent - begin < most && next <= link.free_at);
            if time >= self.horizon || sent + 1 == length || !has_wire {
                break next;
            }
        };
        at.outgoing.first_mut().into_iter().for_each(|packet| packet.sent = sent);
        at.set_next(link, next);
        link.last = lane;
        agenda.rest_until(link.free_at);
        self.characters += u64::from(sent - begin);
        let holder = at.holder;
        if let Some(queue) = queue.filter(|_| is_next) {
            agenda.may_move(queue, link, lanes);
        }
        self.may_cross_if_held(holder);
        sent - begin
    }

    /// Moves a character in the middle of the packet of a queue now, and looks when the next one can cross; returns whether
    /// it was in the middle.
    #[inline(always)]
    pub(super) fn cross_middle(&mut self, queue: u32) -> bool {
        let Self { agenda, lanes, links, queues, .. } = self;
        let (number, at, now) = (queue, &mut queues[queue as usize], agenda.now);
        let link = &mut links[at.link as usize];
        if at.front().left == 1 || !at.is_plain() || link.down {
            return false;
        }
        at.front_mut().left -= 1;
        (link.port.last, link.port.amid) = (number, true);
        let from = &mut lanes[at.lane as usize];
        agenda.give_back(from, link, now);
        agenda.may_start(from, link);
        let to = &mut lanes[at.output as usize];
        at.crosses_at = cross(at, link, to, now);
        agenda.wake_port(link, link.port.next_after(at.crosses_at));
        let link = &mut links[to.link as usize];
        agenda.may_start(to, link);
        true
    }

    /// Moves characters in the middle of the packet of a queue, the first of them at a given time and further ones before
    /// `until`, if their times are known; returns whether there were any. Then it looks when the next one can cross.
    pub(super) fn cross_ahead(&mut self, queue: u32, time: Time, until: Time) -> bool {
        let Self { agenda, lanes, links, queues, .. } = self;
        let at = &mut queues[queue as usize];
        let (link, mut left, mut time) = (&mut links[at.link as usize], at.front().left, time);
        if left == 1 || !at.is_plain() || link.down {
            return false;
        }
        let Ok([from, to]) = lanes.get_disjoint_mut([at.lane as usize, at.output as usize]) else {
            return false;
        };
        let next = loop {
            agenda.give_back(from, link, time);
            let next = cross(at, link, to, time);
            left -= 1;
            let crosses = next.max(link.port.free_at).max(time);
            if crosses >= until || left == 1 || crosses >= at.ends_at(&link.port) {
                break next;
            }
            time = crosses;
        };
        at.front_mut().left = left;
        at.crosses_at = next;
        agenda.may_start(from, link);
        agenda.wake_port(link, link.port.next_after(next));
        let link = &mut links[to.link as usize];
        agenda.may_start(to, link);
        true
    }
}
