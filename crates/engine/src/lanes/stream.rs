//! Packets that stream: on all links from their terminal to the other one their characters follow each other at one pace.
//!
//! Credit lets a wire send no more than the input buffer behind it holds, so links that are computed one by one advance by
//! a buffer at a time. But if each wire starts a character as soon as the one before has been sent, each crossbar moves them
//! in the same step, and what is known comes in time for that, then so does what follows from it: all terms of both
//! equations of the page grow by the time of a character from one to the next. So the rest of the packet, but for its last
//! ones, starts and crosses on all links at once.

use super::link::Link;
use super::parts::{Lane, Queue};
use super::state::{Network, UNKNOWN};
use super::times::Run;
use crate::fabric::NONE;
use crate::kernel::Time;

/// For fewer characters a look at all links of a packet does not pay.
const FEWEST: u32 = 16;

/// A link of a packet that streams, with the queue at its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage {
    lane: u32,
    queue: u32,
    /// When the next character starts, and when the next one crosses; the others follow at this step.
    starts: Run,
    crosses: Run,
}

/// Which number of characters moves on all links at once.
struct Bounds {
    most: u32,
    /// Those whose times are known, at most: the times of others follow from them.
    known: u32,
    /// When the next character starts or crosses, at the latest.
    latest: Time,
    quantum: u32,
}

/// Whether a wire sends nothing but the packet of a lane until its end, and is in the middle of that.
fn has_wire(at: &Lane, link: &Link, packet: u32, now: Time) -> bool {
    link.free_at >= now
        && !(link.down || link.stuck)
        && link.wrong_until.max(link.repeats_until) <= now
        && at.outgoing.first().is_some_and(|sent| sent.packet == packet && sent.is_read)
}

/// Whether a packet is at the front of a queue and goes to one lane as it is.
fn has_lane(at: &Queue, link: &Link, packet: u32) -> bool {
    let is_front = at.packets.first().is_some_and(|front| front.packet == packet);
    is_front && at.output != NONE && at.is_plain() && !link.port.sorts
}

impl Network {
    /// Moves the packet of a terminal's lane on all its links if it streams.
    pub(super) fn stream(&mut self, lane: u32) {
        let is_alone =
            (self.by_packet || self.fabric.lanes == 1) && self.rules.is_none() && self.codes.is_none();
        let sent = self.lanes[lane as usize].outgoing.first();
        let Some(sent) = sent.filter(|sent| is_alone && sent.length - sent.sent > FEWEST) else { return };
        let (packet, mut stages) = (sent.packet, std::mem::take(&mut self.stages));
        if self.find_stages(lane, packet, &mut stages) {
            let count = self.streams(&mut stages);
            if count >= FEWEST {
                self.move_on(&stages, count);
            }
        }
        self.stages = stages;
    }

    /// Finds the links of a packet from its terminal to the other one; returns whether it has them all.
    fn find_stages(&self, lane: u32, packet: u32, stages: &mut Vec<Stage>) -> bool {
        stages.clear();
        let (mut lane, mut step) = (lane, 0);
        loop {
            let at = &self.lanes[lane as usize];
            let link = &self.links[at.link as usize];
            if !has_wire(at, link, packet, self.agenda.now) || step > 0 && link.character != step {
                return false;
            }
            step = link.character;
            let starts = Run::new(link.free_at, step, 1);
            let queue = if link.to_terminal { NONE } else { at.receiving };
            stages.push(Stage { lane, queue, starts, crosses: starts });
            if link.to_terminal {
                return stages.len() > 1;
            }
            let from = &self.queues[queue as usize];
            if !has_lane(from, link, packet) {
                return false;
            }
            lane = from.output;
        }
    }

    /// Returns how many characters of a packet move on all its links one after the other, and records when they cross.
    fn streams(&self, stages: &mut [Stage]) -> u32 {
        let mut bounds = Bounds { most: u32::MAX, known: 0, latest: 0, quantum: 1 };
        for place in 0..stages.len() {
            let next = stages.get(place + 1).copied();
            let Some(crosses) =
                next.map_or(Some(stages[place].starts), |next| self.crosses(&stages[place], &next))
            else {
                return 0;
            };
            stages[place].crosses = crosses;
            let before = place.checked_sub(1).map(|before| stages[before]);
            if !self.starts_in_time(&stages[place], before.as_ref(), &mut bounds) {
                return 0;
            }
        }
        let ahead = (self.agenda.horizon - bounds.latest).max(0) / Time::from(stages[0].starts.step).max(1);
        let most = bounds.most.min(u32::try_from(ahead).unwrap_or(u32::MAX));
        let count = most - most % bounds.quantum;
        let divides = |link: &Link| link.to_terminal || bounds.quantum.is_multiple_of(link.quantum);
        let links = stages.iter().map(|stage| &self.links[self.lanes[stage.lane as usize].link as usize]);
        if count >= bounds.known && links.into_iter().all(divides) { count } else { 0 }
    }

    /// Returns when the characters of a queue cross to the next link, if that is one after the other and nothing that is
    /// known is later.
    fn crosses(&self, stage: &Stage, next: &Stage) -> Option<Run> {
        let at = &self.queues[stage.queue as usize];
        let (to, link) = (&self.lanes[next.lane as usize], &self.links[at.link as usize]);
        let (out, port) = (&self.links[to.link as usize], &link.port);
        let (arrivals, places) = (at.arrivals.len(), to.places.count());
        let arrives = stage.starts.first + link.arrival;
        let returns = next.starts.first + out.character;
        let arrival = if arrivals > 0 { at.arrivals.first() } else { arrives };
        let place = if places > 0 { to.places.next() } else { returns };
        let first = arrival.max(place).max(port.free_at).max(at.moved_at);
        let run = Run { first, ..stage.starts };
        let step = Time::from(run.step);
        let in_time = at.arrivals.are_by(run)
            && arrives <= run.at(arrivals)
            && to.places.are_in_time(run)
            && returns <= run.at(places);
        let follows = port.pace == step && port.free_at == first;
        let alone =
            port.last == stage.queue && port.amid && out.port.entered == next.lane && out.port.enters_amid;
        let has_crossbar = if port.competes {
            follows && alone
        } else {
            follows
                || at.arrivals.are(run) && arrives == run.at(arrivals)
                || to.places.are(run) && returns == run.at(places)
        };
        let is_ended = first >= at.ends_at(port) || step >= port.timeout;
        (in_time && has_crossbar && port.pace <= step && first > self.agenda.now && !is_ended).then_some(run)
    }

    /// Whether the characters of a link are there and have credit whenever its wire is free. `before`: the link by which
    /// they come.
    fn starts_in_time(&self, stage: &Stage, before: Option<&Stage>, bounds: &mut Bounds) -> bool {
        let at = &self.lanes[stage.lane as usize];
        let link = &self.links[at.link as usize];
        let Some(sent) = at.outgoing.first() else { return false };
        bounds.most = bounds.most.min(sent.length - 1 - sent.sent);
        bounds.latest = bounds.latest.max(stage.starts.first).max(stage.crosses.first);
        if let Some(before) = before {
            let forward = self.links[self.queues[before.queue as usize].link as usize].port.forward;
            let ready = at.ready.len();
            bounds.known = bounds.known.max(ready).max(at.places.count());
            if !at.ready.are_by(stage.starts) || before.crosses.first + forward > stage.starts.at(ready) {
                return false;
            }
        }
        if link.to_terminal {
            return true;
        }
        let queue = &self.queues[stage.queue as usize];
        bounds.most = bounds.most.min(queue.front().left - 1);
        bounds.known = bounds.known.max(queue.arrivals.len()).max(at.credit.total(link.quantum));
        bounds.quantum = bounds.quantum.max(link.quantum);
        at.credit.is_in_time(stage.starts, link.quantum, at.complete(link, stage.crosses) + link.credit)
    }

    /// Moves characters of a packet on all its links.
    fn move_on(&mut self, stages: &[Stage], count: u32) {
        let Self { agenda, lanes, links, queues, .. } = self;
        let mut ready = None;
        for stage in stages {
            let at = &mut lanes[stage.lane as usize];
            let link = &mut links[at.link as usize];
            let starts = Run { more: count - 1, ..stage.starts };
            at.outgoing.first_mut().into_iter().for_each(|packet| packet.sent += count);
            link.counts.characters += u64::from(count);
            link.free_at = starts.last() + link.character;
            agenda.rest_until(link.free_at);
            if let Some((ready, entered)) = ready {
                at.ready.renew(ready, at.ready.len());
                at.places.renew(starts.after(link.character));
                link.port.entered_at = entered;
            }
            if link.to_terminal {
                break;
            }
            let queue = &mut queues[stage.queue as usize];
            queue.arrivals.renew(starts.after(link.arrival), queue.arrivals.len());
            let crosses = Run { more: count - 1, ..stage.crosses };
            queue.front_mut().left -= count;
            queue.moved_at = crosses.last();
            link.port.passes(crosses.last());
            let first = at.complete(link, crosses) + link.credit;
            let quanta = Run { first, step: crosses.step * link.quantum, more: count / link.quantum - 1 };
            at.credit.renew(quanta, link.quantum);
            agenda.rest_until(quanta.last());
            ready = Some((crosses.after(link.port.forward), crosses.last()));
        }
        self.characters += u64::from(count) * stages.len() as u64;
        self.wake_stages(stages);
    }

    /// Looks when the next characters start and cross. The first wire does that itself.
    fn wake_stages(&mut self, stages: &[Stage]) {
        let Self { agenda, lanes, links, queues, .. } = self;
        for (place, stage) in stages.iter().enumerate() {
            let at = &mut lanes[stage.lane as usize];
            let link = &mut links[at.link as usize];
            at.set_start(link, at.start_of(link));
            if place > 0 && at.starts_at < UNKNOWN {
                agenda.wake_wire(link, at.starts_at.max(link.free_at));
            }
            if let Some(queue) = queues.get_mut(stage.queue as usize) {
                queue.crosses_at = queue.cross_of(lanes);
                agenda.wake_port(link, link.port.next_after(queue.crosses_at));
            }
        }
    }
}
