//! The horizon of a wire: the first tick at which something from outside its packets may act on it. No character starts
//! there or later until that has happened, so nothing computed is ever revoked.
//!
//! A burst that would pass the horizon of its wire ends before it, and its link is **held**: it is looked at again when
//! the horizon is reached. That is all that codes and stops are for the links. Networks without them have no horizon.
//!
//! A link whose horizon has passed need not go on at once. When a code passes a packet that streams to its terminal, it
//! comes to one link of it after the other. The links that it has left **rest** until it has left all; then the packet
//! streams on, link by link to its end.
//!
//! * Condition: another link of the packet is held, or the link itself will be soon, and the end of the packet cannot
//!   leave its source before that link is looked at: not before its other characters, at the pace of the wire. Until
//!   then nobody sees what a link between sends, and at each look this is asked again.
//! * Otherwise the links of the packet send what they can.
//! * Gain, with the queues of `links::codes`: 13,123 to 9358 with SpaceWire, 1000 B, time-codes every 100 us (64
//!   terminals, 15 % load).
//!
//! A horizon is a lower limit, found when a link is about to be held: the next stop of the link, and the next tick at
//! which a code may be ready for its wire (see [`Paths`]).

mod paths;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use self::paths::Paths;
use super::link::{Kind, Link};
use super::outages::with_looks;
use super::state::Network;
use super::timeline::Number;
use super::worm::Crowd;
use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;
use crate::links::codes::Codes;
use crate::links::outages::Outages;
use crate::measure::{Code as Seen, CodeCounts};

/// What may act on links from outside their packets.
#[derive(Clone, Debug)]
pub(super) struct Outside {
    /// The present tick.
    now: Time,
    /// When links are looked at again.
    looks: BinaryHeap<Reverse<(Time, u32)>>,
    /// The links to whose wires something happens now, meanwhile.
    due: Vec<u32>,
    wires: Vec<Wires>,
    codes: Option<(Box<Codes>, Paths)>,
    /// What each link that is down was before: free from this tick on.
    pub outages: Outages<Time>,
    /// No link is stopped, no code is on a wire, no error end of a failure starts and no link runs again after this tick.
    pub opens: Time,
}

/// What is known of one wire besides its packets.
#[derive(Clone, Debug, Default)]
struct Wires {
    /// The horizon before which a burst ended; 0 for none.
    held: Time,
    /// When it stops, and when it continues.
    stops: VecDeque<(Time, Time)>,
    /// When it has sent its last code.
    free: Time,
    /// When it is looked at next, unless something looks at it before.
    look: Time,
    /// Ticks of the codes sent within a packet, and the first character of that.
    within: (Number, Time),
}

impl Outside {
    /// Returns what may act on the links of a network; None if nothing does.
    pub fn new(fabric: &Fabric) -> Option<Box<Self>> {
        let codes = Codes::new(fabric);
        if codes.is_none() && !fabric.has_faults() && !fabric.has_tables() {
            return None;
        }
        let mut outages = Outages::new(fabric, codes.is_some());
        let stops = with_looks(fabric, outages.take_stops(), &outages);
        let codes = codes.map(|codes| (codes, Paths::new(fabric)));
        let mut outside = Self { codes, outages, ..Self::of_nothing(fabric.links()) };
        for (link, from, until) in stops {
            outside.stop(link, from, until);
        }
        Some(Box::new(outside))
    }

    fn of_nothing(links: usize) -> Self {
        let wires = vec![Wires::default(); links];
        let outages = Outages::default();
        let (looks, due) = (BinaryHeap::new(), Vec::new());
        Self { now: -1, looks, due, wires, codes: None, outages, opens: 0 }
    }

    /// Makes a link start no character between two ticks, in order.
    fn stop(&mut self, link: u32, from: Time, until: Time) {
        let stops = &mut self.wires[link as usize].stops;
        assert!(stops.back().is_none_or(|last| last.1 <= from), "link {link} is stopped twice at {from}");
        stops.push_back((from, until));
        self.looks.extend([Reverse((from, link)), Reverse((until, link))]);
    }

    /// Adds a wire that is looked at whenever another one will be, and returns its horizon.
    pub fn add_wire(&mut self, like: u32) -> Time {
        let added = self.wires.len() as u32;
        let stops = self.wires[like as usize].stops.iter().map(|stop| stop.0);
        let looks: Vec<Time> = stops.filter(|&stop| stop > self.now).collect();
        self.wires.push(Wires::default());
        looks.iter().for_each(|&at| self.stop(added, at, at));
        looks.first().copied().unwrap_or(Time::MAX)
    }

    /// Has a link looked at again at a tick.
    fn look_at(&mut self, link: u32, time: Time) {
        debug_assert!(time > self.now, "link {link} is to be looked at in {time}, before {}", self.now);
        if std::mem::replace(&mut self.wires[link as usize].look, time) != time {
            self.looks.push(Reverse((time, link)));
        }
    }

    /// Whether a code waits for the wire of a link.
    fn waits(&self, link: u32) -> bool {
        self.codes.as_ref().is_some_and(|(codes, _)| codes.waits(link))
    }

    fn next(&self) -> Time {
        let look = self.looks.peek().map_or(Time::MAX, |look| look.0.0);
        let look = look.min(self.outages.next());
        self.codes.as_ref().map_or(look, |(codes, _)| look.min(codes.next()))
    }

    /// Returns the first tick after the present one at which something may act on a link.
    pub fn horizon(&self, fabric: &Fabric, link: u32) -> Time {
        let stop = self.wires[link as usize].stops.front().map_or(Time::MAX, |stop| stop.0);
        let code = self.codes.as_ref().map(|(codes, paths)| paths.next(fabric, codes, link, self.now));
        code.map_or(stop, |code| stop.min(code))
    }
}

impl Link {
    /// Whether the next character is the first of a packet.
    fn is_between_packets(&self, crowd: &Crowd) -> bool {
        self.has_sent_all() || self.worm(self.sending(), crowd).first == self.wire.known()
    }

    /// Returns when its wire has sent the last character that is known.
    fn sent_all_at(&self, kind: &Kind, crowd: &Crowd) -> Time {
        let ticks = if self.is_between_packets(crowd) { kind.end } else { kind.character };
        self.wire.starts().last() + Time::from(ticks)
    }
}

impl Network {
    /// Makes a link start no character between two ticks, for tests: several times in order, and before the network
    /// begins.
    pub fn stop(&mut self, link: u32, from: Time, until: Time) {
        assert!(0 <= from && from < until && self.wheel.now() < 0, "a stop of link {link} at {from}");
        let none = || Box::new(Outside::of_nothing(self.links.len()));
        let outside = self.outside.get_or_insert_with(none);
        outside.stop(link, from, until);
        self.next_outside = outside.next();
        self.set_horizons();
    }

    /// Sets the horizons of all wires at the beginning.
    pub(super) fn set_horizons(&mut self) {
        let Some(outside) = &self.outside else { return };
        for (link, at) in (0..).zip(&mut self.links) {
            at.wire.set_horizon(outside.horizon(&self.fabric, link));
        }
        self.next_outside = outside.next();
    }

    /// Whether something can be done with a link that is not known before its horizon.
    pub(super) fn is_held(&self, link: u32) -> bool {
        self.outside.as_ref().is_some_and(|outside| outside.wires[link as usize].held > 0)
    }

    /// Returns how many links are.
    pub(super) fn holds_none(&self) -> bool {
        self.outside.as_ref().is_none_or(|outside| outside.wires.iter().all(|wire| wire.held == 0))
    }

    /// Returns a tick after which no link is kept from sending.
    pub(super) fn opens(&self) -> Time {
        self.outside.as_ref().map_or(0, |outside| outside.opens)
    }

    /// Lets a link send that could do so up to its horizon, if that is later now; otherwise it waits for it.
    #[cold]
    pub(super) fn hold(&mut self, link: u32) {
        let Some(outside) = &mut self.outside else { return };
        let wire = &mut self.links[link as usize].wire;
        let held = std::mem::replace(&mut outside.wires[link as usize].held, wire.horizon());
        if outside.waits(link) {
            // It is looked at when its wire is free.
            return;
        }
        let is_past = wire.horizon() <= outside.now;
        let horizon = if is_past { outside.horizon(&self.fabric, link) } else { wire.horizon() };
        if horizon > wire.horizon() {
            outside.wires[link as usize].held = held;
            wire.set_horizon(horizon);
            self.wake(link);
        } else if horizon == outside.now {
            // It stops in this tick, and is looked at after others that stop in it.
            debug_assert!(outside.wires[link as usize].stops.front().is_some_and(|stop| stop.0 == horizon));
        } else if held == 0 {
            outside.look_at(link, wire.horizon());
            self.next_outside = self.next_outside.min(wire.horizon());
        }
    }

    /// Sets the horizon of a wire anew if it has passed, because nothing has come there.
    pub(super) fn renew_horizon(&mut self, link: u32) {
        let Some(outside) = &self.outside else { return };
        let wire = &mut self.links[link as usize].wire;
        if wire.horizon() <= outside.now && outside.wires[link as usize].held == 0 && !outside.waits(link) {
            wire.set_horizon(outside.horizon(&self.fabric, link).max(wire.horizon()));
        }
    }

    /// Moves on to a tick.
    #[cold]
    pub fn goes_to(&mut self, now: Time) {
        self.outside.iter_mut().for_each(|outside| outside.now = now);
    }

    /// Handles what acts on links from outside in this tick, before all other events; returns the number of events.
    #[cold]
    #[inline(never)]
    pub fn happens_outside(&mut self, now: Time, seen: &mut Vec<Seen>, asking: &mut Vec<u32>) -> u64 {
        let mut count = self.fail(now, asking);
        let Some(outside) = &mut self.outside else { return 0 };
        let mut due = std::mem::take(&mut outside.due);
        if let Some((codes, _)) = &mut outside.codes {
            count += codes.pass(&self.fabric, now, |_| false, seen, &mut due);
        }
        for &link in &due {
            let wire = &self.links[link as usize].wire;
            debug_assert!(wire.starts().last() < now, "a code comes to link {link} at {now} unexpectedly");
        }
        while outside.looks.peek().is_some_and(|look| look.0.0 == now) {
            due.extend(outside.looks.pop().map(|look| look.0.1));
            count += 1;
        }
        if self.has_long {
            self.rouse_before(&due, now);
        }
        for link in due.drain(..) {
            self.look(link, now);
        }
        if let Some(outside) = &mut self.outside {
            outside.due = due;
            let next_void = self.cuts.as_ref().map_or(Time::MAX, |cuts| cuts.next_void());
            self.next_outside = outside.next().min(next_void);
        }
        count
    }

    /// Lets links to whose wires something happens now send what starts before, as far as that is not known: they rest, or
    /// wait for links that were left behind.
    fn rouse_before(&mut self, links: &[u32], now: Time) {
        let acts = |outside: &Outside, link: u32| {
            let wire = &outside.wires[link as usize];
            outside.waits(link) || wire.stops.front().is_some_and(|stop| stop.0 == now)
        };
        let Some(outside) = &self.outside else { return };
        for &link in links.iter().filter(|&&link| acts(outside, link)) {
            self.links[link as usize].wire.set_horizon(now);
        }
        for &link in links {
            let Some(outside) = &self.outside else { return };
            // What would start before is known if the wire is busy, or if the link was held until now.
            let known = self.links[link as usize].wire.free().max(outside.wires[link as usize].held);
            if known < now && acts(outside, link) && !self.send_alone(link) {
                self.rouse_around(link);
            }
        }
        self.follow_all();
    }

    /// Looks at a link whose horizon is reached: something may happen to it, and it sends up to the next one.
    fn look(&mut self, link: u32, now: Time) {
        let Some(outside) = &mut self.outside else { return };
        let at = &mut self.links[link as usize];
        let wire = &mut outside.wires[link as usize];
        while let Some((_, until)) = wire.stops.pop_front_if(|stop| stop.0 == now) {
            at.wire.hold_until(at.wire.free().max(until));
            outside.opens = outside.opens.max(until);
        }
        if outside.waits(link) {
            let kind = &self.kinds[at.kind as usize];
            let mut free = at.sent_all_at(kind, &self.crowd).max(outside.wires[link as usize].free);
            if free <= now {
                free = self.send_code(link, now);
            }
            let Some(outside) = &mut self.outside else { return };
            if outside.waits(link) {
                // Nothing else starts before.
                outside.look_at(link, free);
                self.links[link as usize].wire.set_horizon(free);
                if self.has_long && !self.may_rest(link) {
                    self.rouse_around(link);
                    self.follow_any();
                }
                return;
            }
        }
        let Some(outside) = &mut self.outside else { return };
        let horizon = outside.horizon(&self.fabric, link);
        self.links[link as usize].wire.set_horizon(horizon);
        let held = std::mem::take(&mut outside.wires[link as usize].held);
        if held > 0 {
            self.resume(link, held);
        }
        let holder = self.links[link as usize].output.holder();
        if let Some(from) = self.links.get(holder as usize)
            && self.kind(from).fails
        {
            self.try_left(holder);
            self.follow_any();
        }
    }

    /// Goes on with a link that was held up to a tick, unless it may rest until others of its packet can go on, too.
    fn resume(&mut self, link: u32, held: Time) {
        if self.has_long && self.may_rest(link) {
            let at = &mut self.links[link as usize];
            at.due.leave_behind();
            let horizon = at.wire.horizon();
            if let Some(outside) = &mut self.outside
                && !at.may_send_many(&self.kinds[at.kind as usize], horizon)
            {
                outside.wires[link as usize].held = held;
                outside.look_at(link, horizon);
            }
            return;
        }
        let mut to = link;
        while self.has_long && self.sends_head(to) {
            to = self.links[to as usize].input.output();
        }
        if self.has_long && self.links[to as usize].to_terminal {
            self.stream_on(to);
            self.rouse_around(link);
        }
        if !self.links[link as usize].has_sent_all() {
            self.wake(link);
        }
        self.follow_any();
    }

    /// Sends what starts before its horizon on a link that rests, and tells nobody; false if more may start there that
    /// waits for others.
    fn send_alone(&mut self, link: u32) -> bool {
        let at = &self.links[link as usize];
        let Some(outside) = &self.outside else { return false };
        if outside.wires[link as usize].held == 0 || !at.due.is_behind() || !self.may_rest(link) {
            return false;
        }
        let all = self.send_quietly(link);
        let at = &self.links[link as usize];
        // They hear of it when the packet goes on.
        for other in [at.input.output(), at.output.holder()] {
            if let Some(other) = self.links.get_mut(other as usize) {
                other.due.leave_behind();
            }
        }
        all
    }

    /// Whether a link that could send on need not do so yet: its packet streams to its terminal, other links of it are
    /// held, or the link itself soon, and until the first of them is looked at the end cannot leave the source. So nobody
    /// sees what it does.
    pub(super) fn may_rest(&self, link: u32) -> bool {
        let Some(outside) = &self.outside else { return false };
        let at = &self.links[link as usize];
        let mut next = at.wire.horizon();
        if at.may_send_many(self.kind(at), next) {
            next = Time::MAX;
        }
        let mut sees = |at: u32| {
            if outside.wires[at as usize].held > 0 {
                next = next.min(self.links[at as usize].wire.horizon());
            }
        };
        let mut to = link;
        while self.links[to as usize].sends_newest() && self.sends_head(to) {
            to = self.links[to as usize].input.output();
            sees(to);
        }
        let at = &self.links[to as usize];
        if !at.sends_newest() || !at.to_terminal {
            return false;
        }
        let mut from = link;
        while self.links[from as usize].output.holder() != NONE {
            let holder = self.links[from as usize].output.holder();
            let has_sent_end = self.links[holder as usize].sending() != self.links[holder as usize].head();
            if has_sent_end || !self.links[from as usize].sends_newest() {
                return false;
            }
            from = holder;
            sees(from);
        }
        let at = &self.links[from as usize];
        let kind = self.kind(at);
        if next == Time::MAX || !kind.from_terminal || at.has_sent_all() {
            return false;
        }
        let rest = at.worm(at.sending(), &self.crowd).end - at.wire.known();
        next < at.wire.free() + Time::from(rest.0 - 1) * Time::from(kind.character)
    }

    /// Sends a code that waits for a wire; returns when that is free again.
    fn send_code(&mut self, link: u32, now: Time) -> Time {
        let Some(outside) = &mut self.outside else { return now };
        let Some((codes, _)) = &mut outside.codes else { return now };
        let hop = codes.start(&self.fabric, link, now);
        let occupied = Time::from(self.fabric.link_code_ticks[link as usize]);
        let (free, at) = (now + occupied, &mut self.links[link as usize]);
        at.wire.hold_until(at.wire.free().max(free));
        let wire = &mut outside.wires[link as usize];
        if !at.is_between_packets(&self.crowd) {
            let first = at.worm(at.sending(), &self.crowd).first;
            let before = if wire.within.0 == first { wire.within.1 } else { 0 };
            wire.within = (first, before + occupied);
            at.sent.is_interrupted(occupied);
        }
        wire.free = free;
        outside.opens = outside.opens.max(free);
        if self.hops.limit > 0 {
            hop.into_iter().for_each(|hop| self.hops.record(hop));
        }
        free
    }

    /// Returns the code counts of every link; empty if there are no codes.
    pub fn code_counts(&self) -> &[CodeCounts] {
        let codes = self.outside.as_ref().and_then(|outside| outside.codes.as_ref());
        codes.map_or(&[], |(codes, _)| &codes.counts)
    }

    /// Resets these counts, and takes the codes within packets under way off their counts again.
    pub(super) fn clear_code_counts(&mut self) {
        let Some(outside) = &mut self.outside else { return };
        let Some((codes, _)) = &mut outside.codes else { return };
        codes.counts.fill(CodeCounts::default());
        for (at, wire) in self.links.iter_mut().zip(&outside.wires) {
            if !at.has_sent_all() && at.worm(at.sending(), &self.crowd).first == wire.within.0 {
                at.sent.is_interrupted(wire.within.1);
            }
        }
    }

    /// Whether only codes, and failures without packets, are still to happen.
    pub fn is_idle(&self) -> bool {
        let fails = self.outside.as_ref().is_some_and(|outside| outside.outages.next() < Time::MAX);
        self.wheel.peek().is_none() && self.holds_none() && (!fails || self.in_flight() == 0)
    }
}
