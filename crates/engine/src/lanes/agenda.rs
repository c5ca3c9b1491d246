//! When links are looked at again: in this tick, in the next one, or later; and when their next characters are known.

use std::collections::BTreeSet;

use super::event::Event;
use super::link::Link;
use super::parts::{Lane, Queue};
use super::state::UNKNOWN;
use super::times::Run;
use crate::fabric::NONE;
use crate::kernel::Time;
use crate::kernel::wheel::Wheel;

/// The tick, and what is to be done in it and later.
#[derive(Clone, Debug)]
pub(super) struct Agenda {
    pub now: Time,
    /// Links at whose ends characters may cross in this tick.
    pub crossing: Vec<u32>,
    /// Links on whose wires a character may start in this tick.
    pub starting: Vec<u32>,
    /// The same links for the next tick: that is what most wait for where a character takes one.
    soon_crossing: Vec<u32>,
    soon_starting: Vec<u32>,
    /// The first tick that is not computed in advance.
    pub horizon: Time,
    /// When the last wire is free, and the last credit has returned: a run ends no earlier.
    rests_at: Time,
    /// When packets may have been still for too long, and the queues of which they are the first, each once.
    pub watches: BTreeSet<(Time, u32)>,
    wheel: Wheel,
}

impl Agenda {
    pub fn new() -> Self {
        Self {
            now: -1,
            crossing: Vec::new(),
            starting: Vec::new(),
            soon_crossing: Vec::new(),
            soon_starting: Vec::new(),
            horizon: 0,
            rests_at: -1,
            watches: BTreeSet::new(),
            wheel: Wheel::default(),
        }
    }

    /// Returns the next tick in which something is due, if any.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        if !(self.soon_starting.is_empty() && self.soon_crossing.is_empty()) {
            return Some(self.now + 1);
        }
        let next = self.wheel.peek().or_else(|| (self.rests_at > self.now).then_some(self.rests_at));
        match self.watches.first() {
            Some(&(time, _)) => Some(next.map_or(time, |next| next.min(time))),
            None => next,
        }
    }

    /// Whether the next tick is due, and so is the earliest that can be.
    #[inline]
    pub fn is_soon(&self) -> bool {
        !(self.soon_starting.is_empty() && self.soon_crossing.is_empty())
    }

    /// Whether no link and no packet has anything to do.
    pub fn is_quiet(&self) -> bool {
        self.wheel.peek().is_none() && self.watches.is_empty() && !self.is_soon() && self.rests_at <= self.now
    }

    /// Moves on to a tick; returns the number of looks at links that are due in it besides the events of the wheel.
    pub fn go_to_next(&mut self, now: Time) -> u64 {
        self.now = now;
        std::mem::swap(&mut self.crossing, &mut self.soon_crossing);
        std::mem::swap(&mut self.starting, &mut self.soon_starting);
        if self.wheel.is_next(now) {
            self.wheel.go_to(now);
        }
        (self.crossing.len() + self.starting.len()) as u64
    }

    /// Takes an event of the current tick.
    pub fn pop(&mut self) -> Option<Event> {
        self.wheel.pop().map(Event::of)
    }

    /// Marks the end of a link for a crossing in this tick, unless it has been looked at since.
    #[inline]
    pub fn note_crossing(&mut self, link: &Link) {
        if link.port.due == self.now {
            self.crossing.push(link.number);
        }
    }

    /// Marks the wire of a link for a start in this tick, unless it has been looked at since.
    #[inline]
    pub fn note_start(&mut self, link: &Link) {
        if link.due == self.now {
            self.starting.push(link.number);
        }
    }

    /// Adds an event at a later tick.
    pub fn schedule(&mut self, event: Event, time: Time) {
        self.wheel.schedule(event.number(), time);
    }

    /// The same as [`Agenda::schedule`], where it is called so often that it must not be inlined.
    #[inline(never)]
    fn schedule_later(&mut self, event: Event, time: Time) {
        self.schedule(event, time);
    }

    /// Schedules the wire of a link, now or later; at an unknown time something else will.
    #[inline(always)]
    pub fn wake_wire(&mut self, link: &mut Link, time: Time) {
        let time = time.max(self.now);
        if time < link.due {
            link.due = time;
            if time == self.now {
                self.starting.push(link.number);
            } else if time == self.now + 1 {
                self.soon_starting.push(link.number);
            } else {
                self.schedule_later(Event::Wire(link.number), time);
            }
        }
    }

    /// Schedules the input buffers at the end of a link, now or later; at an unknown time something else will. What crosses
    /// later is computed now where nothing can change it.
    #[inline(always)]
    pub fn wake_port(&mut self, link: &mut Link, time: Time) {
        let is_certain = link.port.is_certain && link.port.spilling.is_empty() && time < self.horizon;
        let time = if is_certain { self.now } else { time.max(self.now) };
        if time < link.port.due {
            link.port.due = time;
            if time == self.now {
                self.crossing.push(link.number);
            } else if time == self.now + 1 {
                self.soon_crossing.push(link.number);
            } else {
                self.schedule_later(Event::Cross(link.number), time);
            }
        }
    }

    /// Schedules the wire of a lane, if its next character could not start before and can now or at a known time.
    #[inline(always)]
    pub fn may_start(&mut self, at: &mut Lane, link: &mut Link) {
        if at.starts_at == UNKNOWN {
            let time = at.start_of(link);
            if time < UNKNOWN {
                at.set_start(link, time);
                self.wake_wire(link, time.max(link.free_at));
            }
        }
    }

    /// Schedules the crossing of a queue, if it has a lane and its next character can cross now or at a known time.
    #[inline(always)]
    pub fn may_cross(&mut self, at: &mut Queue, link: &mut Link, lanes: &[Lane]) {
        if at.crosses_at == UNKNOWN && at.output != NONE {
            at.crosses_at = at.cross_of(lanes);
            self.wake_port(link, at.crosses_at.max(link.port.free_at));
        }
    }

    /// Schedules the first character of the packet at the front of a queue, which had none, if it crosses or is spilled.
    #[inline(always)]
    pub fn may_move(&mut self, at: &mut Queue, link: &mut Link, lanes: &[Lane]) {
        if at.spills {
            self.wake_port(link, at.arrivals.first());
        } else {
            self.may_cross(at, link, lanes);
        }
    }

    /// Returns credit for a character that leaves the input buffer of a lane at a given time, when a quantum is complete.
    #[inline(always)]
    pub fn give_back(&mut self, at: &mut Lane, link: &mut Link, time: Time) {
        if !link.spends {
            return;
        }
        at.owed -= 1;
        if at.owed + link.quantum <= link.input_buffer {
            at.owed += link.quantum;
            let usable = time + link.credit;
            if link.port.sorts {
                self.give_between(at, link, usable);
            } else {
                at.credit.add(usable);
            }
            self.rest_until(usable);
        }
    }

    /// The same for characters that leave one after the other, of a lane whose credit returns in order.
    #[inline(always)]
    pub fn give_back_run(&mut self, at: &mut Lane, link: &mut Link, run: Run) {
        if !link.spends {
            return;
        }
        // The number of the character that completes a quantum.
        let first = at.owed + link.quantum - link.input_buffer;
        if run.count() < first {
            at.owed -= run.count();
            return;
        }
        let (complete, more) = (at.complete(link, run), (run.count() - first) / link.quantum);
        at.owed = at.owed + (more + 1) * link.quantum - run.count();
        let step = Time::from(run.step) * Time::from(link.quantum);
        match u32::try_from(step) {
            Ok(step) => at.credit.add_run(Run { first: complete, step, more }.after(link.credit)),
            Err(_) => {
                let times = (0..=more).map(|index| complete + step * Time::from(index));
                times.for_each(|time| at.credit.add(time + link.credit));
            }
        }
        self.rest_until(complete + step * Time::from(more) + link.credit);
    }

    /// Gives back a quantum of credit, also if a later one is known: then a character may start before it was thought to.
    fn give_between(&mut self, at: &mut Lane, link: &mut Link, usable: Time) {
        if at.credit.add_between(usable) && at.starts_at < UNKNOWN {
            at.set_start(link, at.start_of(link));
            self.wake_wire(link, at.starts_at.max(link.free_at));
        }
    }

    /// Notes that a run ends no earlier.
    #[inline(always)]
    pub fn rest_until(&mut self, time: Time) {
        self.rests_at = self.rests_at.max(time);
    }
}
