//! Characters in the middle of packets: they need no more than the equations of the page, and are nearly all there are.
//!
//! One at a time where others compete in every tick, otherwise as many as are known before a given tick, a run at equal
//! steps at a time: it ends where the next cause binds.

use super::agenda::Agenda;
use super::link::Link;
use super::parts::{Lane, Outgoing, Queue};
use super::state::{Network, UNKNOWN};
use super::times::Run;
use crate::kernel::Time;

/// Lets the wire send a character in the middle of the packet of a lane.
#[inline(always)]
fn use_wire(at: &mut Lane, link: &mut Link, time: Time) {
    link.counts.characters += 1;
    link.free_at = time + link.character;
    if link.spends {
        at.credit.spend_one(link.quantum);
    }
}

/// Starts a character in the middle of the packet of a lane; returns when the next one can.
#[inline(always)]
fn start(at: &mut Lane, link: &mut Link, time: Time) -> Time {
    use_wire(at, link, time);
    if !link.from_terminal {
        at.ready.pop();
        at.places.give_back(link.free_at);
    }
    at.start_of(link)
}

/// Whether a character in the middle of the packet of a lane that is ready at a given time starts then: its wire is free
/// and has nothing else to send, nor can that become known before, and there is credit.
#[inline(always)]
fn passes(at: &Lane, link: &Link, ready: Time) -> bool {
    link.known == 0
        && link.free_at <= ready
        && at.ready.is_empty()
        && at.credit.at(1, link.quantum) <= ready
        && at.outgoing.front().is_some_and(|packet| packet.is_read)
}

/// Starts a character in the middle of the packet of a lane, which enters the output buffer and leaves it at once.
#[inline(always)]
fn leave_at_once(at: &mut Lane, link: &mut Link, time: Time) {
    use_wire(at, link, time);
    at.places.pass_one(link.free_at);
}

/// Records when a character in the middle of a packet arrives at a queue.
#[inline(always)]
fn arrive(agenda: &mut Agenda, at: &mut Queue, link: &mut Link, lanes: &[Lane], time: Time) {
    let is_next = at.arrivals.is_empty();
    at.arrivals.push(time);
    if is_next {
        agenda.may_move(at, link, lanes);
    }
}

/// Starts characters in the middle of the packet of a lane at equal steps, no more than `most`: the first at a given time,
/// the others before the horizon, and one after the other unless they may be `apart`.
#[inline(always)]
fn start_run(at: &mut Lane, link: &mut Link, time: Time, most: u32, horizon: Time, apart: bool) -> Run {
    let mut run = Run::new(time, link.character, most);
    if !link.from_terminal {
        let ready = at.ready.run();
        if apart {
            run.widen(ready);
        }
        run.keep(run.not_before(ready));
    }
    run.keep_before(horizon);
    if link.spends {
        run.keep(at.credit.in_time(run, link.quantum));
        at.credit.spend_run(run.count(), link.quantum);
    }
    link.counts.characters += u64::from(run.count());
    link.free_at = run.last() + link.character;
    if !link.from_terminal {
        at.ready.pop_of_run(run.count());
        at.places.give_back_run(run.after(link.character));
    }
    run
}

/// Returns when the rest of the packet of a queue but its end crosses at the earliest, if nothing keeps it but arrivals.
#[inline(always)]
fn crosses_from(at: &Queue, link: &Link, time: Time) -> Run {
    let port = &link.port;
    let mut run = Run::new(time, port.pace, at.front().left - 1);
    if !port.competes {
        run.widen(at.arrivals.run());
    }
    if port.sorts && !port.competes {
        run.keep(1);
    }
    run
}

/// Stops a run at the time-out of its packet.
#[inline(always)]
fn keep_in_time(run: &mut Run, link: &Link) {
    if link.port.timeout <= Time::from(run.step) {
        run.keep(1);
    }
}

/// Notes that characters of a queue have crossed.
#[inline(always)]
fn crossed(at: &mut Queue, link: &mut Link, run: Run) {
    at.front_mut().left -= run.count();
    at.arrivals.pop_of_run(run.count());
    at.moved_at = run.last();
    link.port.passes(run.last());
}

/// Returns credit for characters that leave the input buffer of a lane.
#[inline(always)]
fn leave(agenda: &mut Agenda, at: &mut Lane, link: &mut Link, run: Run) {
    if link.port.sorts {
        (0..run.count()).for_each(|index| agenda.give_back(at, link, run.at(index)));
    } else {
        agenda.give_back_run(at, link, run);
    }
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
    let packet = at.outgoing.front_mut()?;
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
        arrive(agenda, &mut queues[receiving as usize], link, lanes, agenda.now + link.arrival);
    }
    Some(holder)
}

impl Network {
    /// Starts characters in the middle of the packet of a lane, the first of them at a given time and further ones before
    /// the horizon, if their times are known; returns how many. Where no more than `most` may start, they follow each other.
    pub(super) fn start_ahead(&mut self, link: u32, lane: u32, time: Time, most: Option<u32>) -> u32 {
        let Self { agenda, lanes, links, queues, .. } = self;
        let at = &mut lanes[lane as usize];
        let Some(&Outgoing { mut sent, length, is_read, .. }) = at.outgoing.front() else { return 0 };
        if !is_read || sent + 1 == length {
            return 0;
        }
        let (link, mut time, begin) = (&mut links[link as usize], time, sent);
        let mut queue = if link.to_terminal { None } else { queues.get_mut(at.receiving as usize) };
        let is_next = queue.as_ref().is_some_and(|queue| queue.arrivals.is_empty());
        let most_sent = most.map_or(length - 1, |most| begin.saturating_add(most).min(length - 1));
        let next = loop {
            let run = start_run(at, link, time, most_sent - sent, agenda.horizon, most.is_none());
            if let Some(queue) = &mut queue {
                queue.arrivals.push_run(run.after(link.arrival));
            }
            sent += run.count();
            let next = at.start_of(link);
            time = next.max(link.free_at);
            let has_wire = most.is_none() || next <= link.free_at;
            if time >= agenda.horizon || sent == most_sent || !has_wire {
                break next;
            }
        };
        at.outgoing.front_mut().into_iter().for_each(|packet| packet.sent = sent);
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
    /// it was in the middle. It starts on the next wire, too, if nothing else can before.
    #[inline(always)]
    pub(super) fn cross_middle(&mut self, queue: u32) -> bool {
        let Self { agenda, lanes, links, queues, .. } = self;
        let (number, at, now) = (queue, &mut queues[queue as usize], agenda.now);
        if at.front().left == 1 || !at.is_plain() {
            return false;
        }
        let both = [at.link as usize, lanes[at.output as usize].link as usize];
        let Ok([link, out]) = links.get_disjoint_mut(both) else { return false };
        if link.down {
            return false;
        }
        at.front_mut().left -= 1;
        (link.port.last, link.port.amid) = (number, true);
        let from = &mut lanes[at.lane as usize];
        agenda.give_back(from, link, now);
        agenda.may_start(from, link);
        let to = &mut lanes[at.output as usize];
        let starts = now + link.port.forward;
        // What the sender of another lane hears until then may let it start.
        let hears = !(out.spends || out.to_terminal);
        let until = if hears { now } else { agenda.horizon.min(now + out.credit) };
        let passes = self.shares && (starts == now || starts < until) && passes(to, out, starts);
        at.arrivals.pop();
        at.moved_at = now;
        link.port.passes(now);
        if passes {
            to.outgoing.front_mut().into_iter().for_each(|packet| packet.sent += 1);
            leave_at_once(to, out, starts);
            out.last = at.output;
            self.characters += 1;
            agenda.rest_until(out.free_at);
        } else {
            to.places.take();
            to.ready.push(starts);
            agenda.may_start(to, out);
        }
        at.crosses_at = at.arrivals.first().max(to.places.next());
        agenda.wake_port(link, link.port.next_after(at.crosses_at));
        if passes && !out.to_terminal {
            let next = &mut queues[to.receiving as usize];
            arrive(agenda, next, out, lanes, starts + out.arrival);
        }
        true
    }

    /// Moves characters in the middle of the packet of a queue, the first of them at a given time and further ones before
    /// `until`, if their times are known; returns whether there were any. Then it looks when the next one can cross. Where
    /// others compete for the crossbar, they follow each other.
    pub(super) fn cross_ahead(&mut self, queue: u32, time: Time, until: Time) -> bool {
        let at = &self.queues[queue as usize];
        let link = &self.links[at.link as usize];
        if at.front().left == 1 || !at.is_plain() || link.down {
            return false;
        }
        let (output, mut time) = (at.output, time);
        let passes = until > self.agenda.now && self.has_wire(output);
        loop {
            let has_passed = passes && self.pass(queue, time);
            if !has_passed {
                self.cross_run(queue, time, until);
            }
            let Self { lanes, links, queues, .. } = self;
            let (at, to) = (&mut queues[queue as usize], &lanes[output as usize]);
            let port = &links[at.link as usize].port;
            let next = at.arrivals.first().max(to.places.next());
            let crosses = next.max(port.free_at).max(at.moved_at);
            // With the credit that is known by then it may pass, too.
            let is_early = has_passed && to.credit.at(1, links[to.link as usize].quantum) == UNKNOWN;
            let follows = !port.competes || next <= port.free_at && !is_early;
            if !follows || crosses >= until || at.front().left == 1 || crosses >= at.ends_at(port) {
                at.crosses_at = next;
                break;
            }
            time = crosses;
        }
        let Self { agenda, lanes, links, queues, .. } = self;
        let at = &queues[queue as usize];
        let link = &mut links[at.link as usize];
        (link.port.last, link.port.amid) = (queue, true);
        agenda.may_start(&mut lanes[at.lane as usize], link);
        agenda.wake_port(link, link.port.next_after(at.crosses_at));
        self.may_start(output);
        true
    }

    /// Moves characters at equal steps.
    #[inline(always)]
    fn cross_run(&mut self, queue: u32, time: Time, until: Time) {
        let Self { agenda, lanes, links, queues, .. } = self;
        let at = &mut queues[queue as usize];
        let link = &mut links[at.link as usize];
        let mut run = crosses_from(at, link, time);
        let to = &mut lanes[at.output as usize];
        let places = to.places.run();
        if !link.port.competes {
            run.widen(places);
        }
        keep_in_time(&mut run, link);
        run.keep(run.not_before(at.arrivals.run()).min(run.not_before(places)));
        run.keep_before(until);
        crossed(at, link, run);
        to.places.take_of_run(run.count());
        to.ready.push_run(run.after(link.port.forward));
        leave(agenda, &mut lanes[at.lane as usize], link, run);
    }

    /// Whether the wire of a lane sends the packet that crosses to it, and nothing else until its end.
    fn has_wire(&self, lane: u32) -> bool {
        let at = &self.lanes[lane as usize];
        let link = &self.links[at.link as usize];
        let is_alone =
            (self.by_packet || self.fabric.lanes == 1) && self.rules.is_none() && self.codes.is_none();
        is_alone
            && link.last == lane
            && at.ready.is_empty()
            && !(link.down || link.stuck)
            && at.outgoing.front().is_some_and(|packet| packet.is_read)
    }

    /// Moves characters that start on the wire as soon as they have crossed; returns whether there are any.
    #[inline(always)]
    fn pass(&mut self, queue: u32, time: Time) -> bool {
        let Self { agenda, lanes, links, queues, .. } = self;
        let at = &mut queues[queue as usize];
        let to = &mut lanes[at.output as usize];
        let Ok([link, out]) = links.get_disjoint_mut([at.link as usize, to.link as usize]) else {
            return false;
        };
        let buffer = self.fabric.link_output_buffer[to.link as usize];
        let starts = time + link.port.forward;
        let free_at = out.free_at.max(out.wrong_until).max(out.repeats_until);
        if !to.ready.is_empty()
            || starts < free_at.max(to.credit.at(1, out.quantum))
            || starts >= agenda.horizon
        {
            return false;
        }
        let mut run = crosses_from(at, link, time);
        if Time::from(run.step) < out.character {
            // They wait for places; with more than one, the first ones do not.
            run.step = out.character as u32;
            if link.port.competes || buffer > 1 {
                run.keep(1);
            }
        }
        if link.port.forward + out.character > Time::from(run.step) * Time::from(buffer) {
            return false;
        }
        keep_in_time(&mut run, link);
        run.keep(run.not_before(at.arrivals.run()));
        run.keep_before(agenda.horizon - link.port.forward);
        if !to.places.are_in_time(run) {
            return false;
        }
        if out.spends {
            run.keep(to.credit.in_time(run.after(link.port.forward), out.quantum));
            to.credit.spend_run(run.count(), out.quantum);
        }
        crossed(at, link, run);
        let starts = run.after(link.port.forward);
        to.places.pass(starts.after(out.character), buffer);
        to.outgoing.front_mut().into_iter().for_each(|packet| packet.sent += run.count());
        out.counts.characters += u64::from(run.count());
        out.free_at = starts.last() + out.character;
        agenda.rest_until(out.free_at);
        self.characters += u64::from(run.count());
        let (receiving, lane) = (to.receiving, at.lane);
        leave(agenda, &mut lanes[lane as usize], link, run);
        if !out.to_terminal {
            let next = &mut queues[receiving as usize];
            let is_next = next.arrivals.is_empty();
            next.arrivals.push_run(starts.after(out.arrival));
            if is_next {
                agenda.may_move(next, out, lanes);
            }
        }
        true
    }
}
