//! The events of a packet on its path: dispatch, request, grant, release, delivery.

use std::hint::cold_path;
use std::num::Wrapping;

use super::allocation::Ports;
use super::burst::PLAIN;
use super::link::{Kind, Link, two};
use super::queue::Run;
use super::state::{Event, Network, PacketState, UNKNOWN};
use super::timeline::ahead;
use super::worm::{EAGER, Gone, Header, PASSED, Worm};
use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;
use crate::kernel::slab::Slab;
use crate::terminal::Packet;

/// A packet that has begun on a link.
pub(super) struct Begun {
    /// The part of it that is sent.
    pub run: Run,
    /// The class of its front header.
    pub class: u32,
    /// When it requests an output, or [`UNKNOWN`].
    pub asks_at: Time,
    /// See [`super::burst::Burst`].
    pub last: bool,
    pub again: bool,
    pub credits: bool,
    pub frees: bool,
}

impl Network {
    /// Puts a packet on its terminal's link at its dispatch, in this tick.
    #[inline]
    pub fn dispatch(&mut self, terminal: u32, packet: &Packet) {
        if self.paced {
            self.put_on_link::<true>(terminal, packet);
        } else {
            self.put_on_link::<false>(terminal, packet);
        }
    }

    fn put_on_link<const PACED: bool>(&mut self, terminal: u32, packet: &Packet) {
        let link = self.fabric.terminal_out_link[terminal as usize];
        let (header, class, headers) = match packet.via {
            NONE => {
                let class = self.fabric.terminal_class[packet.target as usize];
                (Header::Final, class, self.fabric.header_chars)
            }
            via => {
                let headers = self.fabric.via_header_chars + self.fabric.header_chars;
                (Header::Via, self.fabric.via_class[via as usize], headers)
            }
        };
        let number = self.packets.add(PacketState {
            source: terminal,
            target: packet.target,
            length: packet.length,
            created: packet.created,
            started: UNKNOWN,
            mark: packet.mark,
            number: packet.number,
        });
        if !self.links[link as usize].wire.has_room() {
            self.make_room(link);
        }
        let links = self.links_of_source(headers + packet.length + 1);
        if links != EAGER {
            self.begin_chain(number);
        }
        let returns = self.returns_late::<PACED>(link, headers + packet.length + 1);
        let at = &mut self.links[link as usize];
        let (first, end) = at.output.dispatch(headers + packet.length + 1);
        let (time, packet, next, bound) = (packet.dispatch, number, NONE, false);
        let mut worm = Worm { time, packet, next, class, first, end, header, links, bound };
        let begins = at.is_common() && at.has_sent_all();
        let asking = asking_chars(&self.fabric, header);
        let begun = if begins {
            at.begin(&self.kinds[at.kind as usize], &mut worm, asking, None, returns)
        } else {
            None
        };
        *at.append(&mut self.crowd) = worm;
        match begun {
            Some(begun) => {
                self.extensions += 1;
                self.begun::<PACED, false>(NONE, link, NONE, &begun);
            }
            None => self.settle::<PACED>(link),
        }
    }

    /// Grants an output to the head packet of an input link, in this tick.
    #[inline(always)]
    pub(super) fn grant<const PACED: bool>(&mut self, input: u32, output: u32, now: Time) {
        let at = &self.links[input as usize];
        let is_long = || {
            let &Worm { first, end, .. } = at.worm(at.head(), &self.crowd);
            self.is_long_packet(end - first)
        };
        let may_be_whole = at.rests_with_head() && !(self.has_long && is_long());
        if !(may_be_whole && self.grant_whole::<PACED>(input, output, now)) {
            self.grant_in_steps::<PACED>(input, output, now);
        }
    }

    /// Grants an output to a head packet that the links send step by step.
    #[inline(never)]
    fn grant_in_steps<const PACED: bool>(&mut self, input: u32, output: u32, now: Time) {
        if !self.links[output as usize].wire.has_room() {
            self.make_room(output);
        }
        let at = &self.links[input as usize];
        let known = (at.wire.known() - at.worm(at.head(), &self.crowd).first).0;
        let returns = self.returns_late::<PACED>(output, known);
        let [at, to] = two(&mut self.links, input, output);
        let mut old = *at.worm(at.head(), &self.crowd);
        let mut deleted = 0;
        if at.port.strips() || to.port.deletes_header() {
            (old.header, old.class, deleted) = strip(&self.fabric, &self.packets, &old);
        }
        let granted = Granted { input, output, now, deleted };
        let kind = &self.kinds[at.kind as usize];
        let mut worm = put_through(&granted, &old, kind, at, to, &mut self.ports);
        let waits = to.is_common() && !to.has_sent_all();
        let begun = if to.is_common() && to.has_sent_all() {
            to.begin(
                &self.kinds[to.kind as usize],
                &mut worm,
                asking_chars(&self.fabric, old.header),
                Some(at),
                returns,
            )
        } else {
            None
        };
        *to.append(&mut self.crowd) = worm;
        self.grants += 1;
        match begun {
            Some(begun) => {
                self.extensions += 1;
                self.begun::<PACED, true>(input, output, NONE, &begun);
            }
            None if waits => self.granted_behind::<PACED>(input, output),
            None => self.settle::<PACED>(output),
        }
    }

    /// Handles the grant of an output that still sends earlier packets: nothing changes for these, but some places for
    /// the characters of this one may be known.
    #[inline(never)]
    fn granted_behind<const PACED: bool>(&mut self, input: u32, output: u32) {
        let (at, to) = (&self.links[input as usize], &self.links[output as usize]);
        let (credits, frees) = to.vacates(self.kind(to), to.wire.known(), at);
        let next = self.tell_holder::<PACED, PLAIN>(output, input, credits, frees);
        self.follow::<PACED>(next);
    }

    /// Handles the consequences of a packet's beginning on a link, which it was granted, or which is its terminal's if
    /// `GRANTED` is false.
    #[inline(always)]
    pub(super) fn begun<const PACED: bool, const GRANTED: bool>(
        &mut self,
        input: u32,
        output: u32,
        follows: u32,
        begun: &Begun,
    ) {
        let &Begun { run, class, asks_at, last, again, credits, frees } = begun;
        if PACED {
            self.free_places(output, &run);
        }
        let at = &mut self.links[output as usize];
        let to_terminal = at.leads_to_terminal();
        if last {
            let gone = at.sent(at.sending(), &mut self.crowd);
            if to_terminal | !GRANTED | (self.hops.limit > 0) {
                self.sent(output, &gone);
            }
        }
        if asks_at < UNKNOWN {
            self.ask_at(output, class, asks_at);
        }
        if again {
            cold_path();
            self.wake(output);
        }
        if frees {
            cold_path();
            self.leave_plain::<PACED>(input, output);
        }
        if to_terminal {
            self.stream(output);
        }
        debug_assert!(!credits || follows == NONE, "link {input} has sent all, and has credit to send more");
        let mut next = if credits { input } else { follows };
        if GRANTED && credits && self.is_long(output, input) {
            // If all catch up, it is woken with the others, so it must not be woken yet.
            self.links[input as usize].due.set_woken(false);
            if self.leave_behind(output, input) {
                next = NONE;
            } else {
                self.links[input as usize].due.set_woken(true);
            }
        }
        self.follow::<PACED>(next);
    }

    /// Handles what an end of packet means for others, once its time on the wire is known: for its source, its terminal
    /// and the trace.
    #[inline(never)]
    pub(super) fn sent(&mut self, link: u32, gone: &Gone) {
        let at = &mut self.links[link as usize];
        let (free, first) = (at.wire.free(), at.head() == gone.number);
        let kind = &self.kinds[at.kind as usize];
        let (from_terminal, to_terminal) = (kind.from_terminal, kind.to_terminal);
        if to_terminal {
            // A terminal accepts everything: its credit is unlimited.
            at.credit.renew();
        }
        if from_terminal {
            let packet = &mut self.packets[gone.packet];
            packet.started = gone.started;
            let terminal = packet.source;
            self.schedule(Event::Source(terminal), free);
        }
        if to_terminal && first {
            self.schedule_delivery(link);
        }
        if to_terminal && self.tells_heads {
            self.schedule_head(link, gone);
        }
        if self.hops.limit > 0 {
            self.keep_hop(link, gone.packet, gone.started, free);
        }
    }

    /// Schedules the arrival of a packet's first character at its terminal, if that is not the last one.
    #[cold]
    fn schedule_head(&mut self, link: u32, gone: &Gone) {
        if gone.characters > 1 {
            let arrival = Time::from(self.kind(&self.links[link as usize]).arrival);
            self.schedule(Event::Source(self.fabric.ports() + link), gone.started + arrival);
        }
    }

    /// Moves link numbers from `asking` to `heads`: the packets whose first characters have arrived on these links.
    #[inline(always)]
    pub fn heads(&self, asking: &mut Vec<u32>, heads: &mut Vec<(u32, u32)>) {
        if self.tells_heads {
            self.tell_heads(asking, heads);
        }
    }

    #[cold]
    fn tell_heads(&self, asking: &mut Vec<u32>, heads: &mut Vec<(u32, u32)>) {
        asking.retain(|&terminal| {
            if let Some(link) = terminal.checked_sub(self.fabric.ports()) {
                let worm = self.worm(link, self.links[link as usize].head());
                let packet = &self.packets[worm.packet];
                heads.push((packet.target, packet.mark));
            }
            terminal < self.fabric.ports()
        });
    }

    fn schedule_delivery(&mut self, link: u32) {
        let at = &self.links[link as usize];
        let sent = at.worm(at.head(), &self.crowd).time;
        let kind = self.kind(at);
        let time = kind.delivery(sent);
        self.schedule(Event::Deliver(link), time);
    }

    /// Takes the packet that has been received at the end of a link.
    pub fn deliver(&mut self, link: u32) -> PacketState {
        let at = &mut self.links[link as usize];
        let packet = at.take_head(&mut self.crowd).packet;
        if at.head() != at.sending() {
            self.schedule_delivery(link);
        }
        self.packets.remove(packet);
        self.packets[packet]
    }

    /// Schedules the request of the head of an input buffer of a switch, once its header is readable.
    #[inline(always)]
    pub(super) fn ask(&mut self, link: u32) {
        let at = &self.links[link as usize];
        let &Worm { header, class, first, .. } = at.worm(at.head(), &self.crowd);
        let last = first + Wrapping(asking_chars(&self.fabric, header) - 1);
        if ahead(last, at.wire.known()) < 0 && !at.leads_to_terminal() {
            let time = self.kind(at).request(at.input.exit_free(), at.wire.starts().run_from(last).time);
            self.ask_at(link, class, time);
        }
    }

    /// Schedules the request of a head at a tick.
    #[inline(always)]
    pub(super) fn ask_at(&mut self, link: u32, class: u32, time: Time) {
        let at = &mut self.links[link as usize];
        at.input.ask();
        at.port.look_up(&self.routes, &self.fabric, class);
        self.schedule(Event::Request(link), time);
    }

    /// Handles the departure of a packet's end from the input buffer: releases its output and brings the next head
    /// forward. `leaves`: when it departs; None for a plain link, for which that is computed here.
    #[inline(always)]
    pub(super) fn left<const PACED: bool>(&mut self, link: u32, output: u32, leaves: Option<Time>) {
        let [at, to] = two(&mut self.links, link, output);
        let kind = &self.kinds[at.kind as usize];
        let head = at.take_head(&mut self.crowd);
        let leaves = match leaves {
            Some(leaves) => leaves,
            None => {
                let next = &self.kinds[to.kind as usize];
                let arrival = kind.arrival(head.time - Time::from(kind.end));
                at.end_leaves::<PACED>(kind, to, next, arrival, &self.crowd, self.wheel.now())
            }
        };
        at.input.leave(kind.at_front(leaves));
        let free = kind.release(leaves);
        if at.credit.waits() | at.due.is_behind() {
            cold_path();
            // Until its next head has an output, there is no other credit.
            let credited = at.credit.is_kept() | (at.credit.waits() & (at.credit.characters() > 0));
            if credited && at.due.wake() {
                self.work.push(link);
            }
        }
        to.output.release();
        if self.ports.unhold(&mut to.port, free) {
            to.port.announce(output, &mut self.wheel);
        }
        let (more, unsent) = (at.head() != NONE, to.wire.known() != to.output.granted());
        if unsent {
            self.hand_over(link, output);
        }
        if more {
            self.ask(link);
        }
    }
}

/// A grant.
pub(super) struct Granted {
    pub input: u32,
    pub output: u32,
    pub now: Time,
    /// Characters of a header that is deleted.
    pub deleted: u32,
}

/// Grants an output to the head packet of an input link; returns the packet there.
#[inline(always)]
pub(super) fn put_through(
    granted: &Granted,
    old: &Worm,
    kind: &Kind,
    at: &mut Link,
    to: &mut Link,
    ports: &mut Ports,
) -> Worm {
    let &Granted { input, output, now, deleted } = granted;
    let waited = at.port.granted(now);
    let links = old.links + u8::from(old.links < PASSED);
    ports.hold(&mut to.port, now, waited);
    at.input.grant(output, now, old.first, deleted);
    let time = at.input.exit_free() + Time::from(deleted * kind.crossbar) + Time::from(kind.onward);
    let way = kind.onward + if kind.stepwise { 0 } else { kind.arrival };
    let (first, end) = to.output.grant(input, at.input.deleted(), old.end, way);
    Worm { time, next: NONE, first, end, links, bound: false, ..*old }
}

/// Returns header and class of a worm without its front header, and the characters of that header.
#[cold]
fn strip(fabric: &Fabric, packets: &Slab<PacketState>, worm: &Worm) -> (Header, u32, u32) {
    let deleted = header_chars(fabric, worm.header);
    if worm.header == Header::Via {
        let target = packets[worm.packet].target;
        return (Header::Final, fabric.terminal_class[target as usize], deleted);
    }
    (Header::Deleted, worm.class, deleted)
}

/// Returns the characters that must arrive before a head requests: its front header, or its first character.
#[inline(always)]
pub(super) fn asking_chars(fabric: &Fabric, header: Header) -> u32 {
    header_chars(fabric, header).max(1)
}

/// Returns the characters of the front header.
#[inline(always)]
fn header_chars(fabric: &Fabric, header: Header) -> u32 {
    match header {
        Header::Via => fabric.via_header_chars,
        Header::Final => fabric.header_chars,
        Header::Deleted => 0,
    }
}
