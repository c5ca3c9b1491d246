//! The events of a packet on its path: dispatch, request, grant, release, delivery.

use std::hint::cold_path;
use std::num::Wrapping;

use super::allocation::Ports;
use super::early::takes_known_here;
use super::link::{Kind, Link, two};
use super::queue::Run;
use super::state::{Beside, Event, Network, PacketState, UNKNOWN};
use super::timeline::{Number, ahead};
use super::worm::{Crowd, Gone, Header, PASSED, Worm};
use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;
use crate::kernel::slab::Slab;
use crate::kernel::wheel::Wheel;
use crate::measure::Delivery;
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
    #[inline(always)]
    pub fn dispatch(&mut self, terminal: u32, packet: &Packet) {
        if self.paced {
            self.put_on_link::<true>(terminal, packet);
        } else {
            self.put_on_link::<false>(terminal, packet);
        }
    }

    #[inline(always)]
    fn put_on_link<const PACED: bool>(&mut self, terminal: u32, packet: &Packet) {
        let link = self.fabric.terminal_out_link[terminal as usize];
        let address = self.fabric.address_chars(terminal, packet.target);
        let own = self.fabric.own_classes_since(terminal, packet.target, packet.dispatch);
        let class = self.fabric.terminal_class[packet.target as usize] + own;
        let (header, class, headers) = match packet.via {
            NONE if address > 0 => (Header::Address, class, address + self.fabric.header_chars),
            NONE => (Header::Final, class, self.fabric.header_chars),
            via => {
                let headers = self.fabric.via_header_chars + self.fabric.header_chars;
                (Header::Via, self.fabric.via_class[via as usize] + own, headers)
            }
        };
        if !self.links[link as usize].wire.has_room() {
            self.make_room(link);
        }
        let characters = headers + self.fabric.payload_chars(packet.length) + 1;
        let links = self.links_of_source(characters, headers);
        let worm = Worm { time: packet.dispatch, class, header, links, ..Worm::default() };
        if !self.begin_at_source::<PACED>(link, [characters, address], worm, terminal, packet) {
            self.settle::<PACED>(link);
        }
    }

    /// Puts a packet behind all others on its source's link; false if the link has to send in a step.
    #[inline(always)]
    fn begin_at_source<const PACED: bool>(
        &mut self,
        link: u32,
        [characters, address]: [u32; 2],
        mut worm: Worm,
        terminal: u32,
        packet: &Packet,
    ) -> bool {
        let (links, mut beside) = self.split();
        let returns = links[link as usize].needs_more(characters)
            && !takes_known_here::<PACED>(links, beside.kinds, beside.crowd, link, beside.wheel.now());
        let at = &mut links[link as usize];
        let kind = &beside.kinds[at.kind as usize];
        (worm.first, worm.end) = at.output.dispatch(characters);
        let asking = asking_chars(beside.fabric, worm.header);
        let begun = if at.common && at.has_sent_all() {
            at.begin(kind, &mut worm, asking, None, returns)
        } else {
            None
        };
        let (delivery, dispatch) = (packet.sent_by(terminal), packet.dispatch);
        worm.packet =
            beside.packets.add(PacketState { delivery, dispatch, address, ..PacketState::default() });
        *at.append(beside.crowd) = worm;
        let to_terminal = at.to_terminal;
        let mut gone = None;
        if let Some(begun) = &begun {
            if PACED {
                at.free_places(kind, &begun.run);
            }
            if begun.asks_at < UNKNOWN {
                beside.ask_at(at, link, begun.class, begun.asks_at);
            }
            if begun.last {
                let sent = at.sent(at.sending(), beside.crowd);
                beside.left_source(&sent);
                if to_terminal {
                    beside.goes_to_terminal(at, link, sent.number, sent.free);
                }
                gone = Some(sent);
            }
        }
        let Some(begun) = begun else { return false };
        self.extensions += 1;
        if let Some(gone) = gone {
            self.tell_sent(link, &gone);
        }
        self.tell_begun(link, &begun.run, begun.last);
        if begun.again | to_terminal {
            cold_path();
            self.go_on_at_source::<PACED>(link, begun.again);
        }
        true
    }

    /// Sends what can follow the first part of a packet on its source's link.
    #[cold]
    fn go_on_at_source<const PACED: bool>(&mut self, link: u32, again: bool) {
        if again {
            self.wake(link);
        }
        if self.links[link as usize].to_terminal {
            self.stream(link);
        }
        self.follow::<PACED>();
    }

    /// Grants an output to the head packet of an input link, in this tick.
    #[inline(always)]
    pub(super) fn grant<const PACED: bool>(&mut self, input: u32, output: u32, now: Time) {
        if self.next_outside() < Time::MAX && self.links[output as usize].wire.horizon() <= now {
            cold_path();
            self.renew_horizon(output);
        }
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
        if at.port.strips() || to.port.deletes_header {
            deleted = strip(&self.fabric, &mut self.packets, &mut old);
        }
        let granted = Granted { input, output, now, deleted };
        let kind = &self.kinds[at.kind as usize];
        let mut worm = put_through(&granted, &old, kind, at, to, &mut self.ports);
        let waits = to.common && !to.has_sent_all();
        let begun = if to.common && to.has_sent_all() {
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
                self.begun::<PACED>(input, output, &begun);
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
        self.tell_holder::<PACED>(output, input, credits, frees);
        self.follow::<PACED>();
    }

    /// Handles the consequences of a packet's beginning on a link that it was granted.
    #[inline(always)]
    fn begun<const PACED: bool>(&mut self, input: u32, output: u32, begun: &Begun) {
        let &Begun { run, class, asks_at, last, again, credits, frees } = begun;
        let (links, mut beside) = self.split();
        let at = &mut links[output as usize];
        if PACED {
            at.free_places(&beside.kinds[at.kind as usize], &run);
        }
        let to_terminal = at.to_terminal;
        let gone = if last { Some(at.sent(at.sending(), beside.crowd)) } else { None };
        if asks_at < UNKNOWN {
            beside.ask_at(at, output, class, asks_at);
        }
        if let Some(gone) = gone {
            self.sent(output, &gone, false, to_terminal);
        }
        self.tell_begun(output, &run, last);
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
        if credits && !self.stays_behind(output, input) {
            self.wake(input);
        }
        self.follow::<PACED>();
    }

    /// Handles what an end of packet means for others, once its time on the wire is known: for its source, its terminal
    /// and the trace.
    #[inline(always)]
    pub(super) fn sent(&mut self, link: u32, gone: &Gone, from_terminal: bool, to_terminal: bool) {
        let (links, mut beside) = self.split();
        if from_terminal {
            beside.left_source(gone);
        }
        if to_terminal {
            beside.goes_to_terminal(&mut links[link as usize], link, gone.number, gone.free);
        }
        self.tell_sent(link, gone);
    }

    /// Reports an end of packet, if somebody wants to know.
    #[inline(always)]
    pub(super) fn tell_sent(&mut self, link: u32, gone: &Gone) {
        if self.hops.limit > 0 && !self.is_drain(link) {
            cold_path();
            self.keep_hop(link, gone.packet, gone.started, gone.free);
        }
    }

    /// Takes the packet that has been received at the end of a link; None if it is lost.
    pub fn deliver(&mut self, link: u32) -> Option<&PacketState> {
        let at = &mut self.links[link as usize];
        let packet = at.take_head(&mut self.crowd).packet;
        if at.head() != at.sending() {
            let sent = at.worm(at.head(), &self.crowd).time;
            let time = self.kinds[at.kind as usize].delivery(sent);
            self.schedule(Event::Deliver(link), time);
        }
        if self.packets[packet].lost {
            cold_path();
            self.piece_gone(packet);
            return None;
        }
        self.packets.remove(packet);
        Some(&self.packets[packet])
    }

    /// Schedules the request of the head of an input buffer of a switch, once its header is readable.
    #[inline(always)]
    pub(super) fn ask(&mut self, link: u32) {
        let (links, mut beside) = self.split();
        beside.ask(&mut links[link as usize], link);
    }

    /// Handles the departure of a packet's end from the input buffer: releases its output and brings the next head
    /// forward. `leaves`: when it departs; None for a plain link, for which that is computed here.
    #[inline(always)]
    pub(super) fn left<const PACED: bool>(&mut self, link: u32, output: u32, leaves: Option<Time>) {
        let (links, mut beside) = self.split();
        if beside.left::<PACED>(two(links, link, output), [link, output], leaves) {
            self.hand_over(link, output);
        }
    }
}

impl Beside<'_> {
    /// Handles the end of a packet on its source's link.
    #[inline(always)]
    pub fn left_source(&mut self, gone: &Gone) {
        left_source(self.packets, self.wheel, gone.packet, gone.started, gone.free);
    }

    /// Handles the end of a packet on its destination's link.
    #[inline(always)]
    pub fn goes_to_terminal(&mut self, at: &mut Link, link: u32, number: u32, free: Time) {
        // A terminal accepts everything: its credit is unlimited.
        at.credit.renew();
        if at.head() == number {
            let time = self.kinds[at.kind as usize].delivery(free);
            self.schedule(Event::Deliver(link), time);
        }
    }

    /// Handles a departure, as [`Network::left`], for links at hand; returns whether some of the packet has not been sent by its output.
    #[inline(always)]
    pub fn left<const PACED: bool>(
        &mut self,
        [at, to]: [&mut Link; 2],
        [link, output]: [u32; 2],
        leaves: Option<Time>,
    ) -> bool {
        let kind = &self.kinds[at.kind as usize];
        if kind.fails && to.wire.horizon() < Time::MAX {
            cold_path();
            let next = &self.kinds[to.kind as usize];
            let leaves = leaves.unwrap_or_else(|| at.departure_of_end(kind, to, next, self.crowd));
            if leaves >= to.wire.horizon() {
                // It is asked again when that is reached.
                return false;
            }
        }
        let head = at.take_head(self.crowd);
        let leaves = match leaves {
            Some(leaves) => leaves,
            None => {
                let next = &self.kinds[to.kind as usize];
                let arrival = kind.arrival(head.time - Time::from(kind.end));
                at.end_leaves::<PACED>(kind, to, next, arrival, self.crowd, self.wheel.now())
            }
        };
        at.input.leave(kind.at_front(leaves));
        if kind.returns_to != NONE {
            cold_path();
            at.kind = kind.returns_to;
        }
        let free = kind.release(leaves);
        if leaves - to.port.last_grant() >= kind.timeout {
            cold_path();
            *self.overstays = true;
        }
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
            to.port.announce(output, self.wheel);
        }
        if at.head() != NONE {
            self.ask(at, link);
        }
        to.wire.known() != to.output.granted()
    }

    /// Schedules the request of the head of an input buffer of a switch, once its header is readable.
    #[inline(always)]
    fn ask(&mut self, at: &mut Link, link: u32) {
        let &Worm { header, class, first, .. } = at.worm(at.head(), self.crowd);
        let last = first + Wrapping(asking_chars(self.fabric, header) - 1);
        if ahead(last, at.wire.known()) < 0 && !at.to_terminal {
            let kind = &self.kinds[at.kind as usize];
            let time = kind.request(at.input.exit_free(), at.wire.starts().run_from(last).time);
            self.ask_at(at, link, class, time);
        }
    }

    /// Schedules the request of a head at a tick.
    #[inline(always)]
    pub fn ask_at(&mut self, at: &mut Link, link: u32, class: u32, time: Time) {
        at.input.ask();
        at.port.look_up(self.routes, self.fabric, class);
        if self.fabric.draws() {
            draw(self.fabric, self.packets, self.crowd, at, class);
        }
        self.schedule(Event::Request(link), time);
    }
}

/// Lets the head of an input buffer draw a part of the group that it will request; apart, to keep registers for others.
#[cold]
#[inline(never)]
pub(super) fn draw(fabric: &Fabric, packets: &Slab<PacketState>, crowd: &Crowd, at: &mut Link, class: u32) {
    let PacketState { delivery, dispatch, .. } = packets[at.worm(at.head(), crowd).packet];
    at.port.draw(fabric, class, (delivery.source, dispatch));
}

/// Handles the end of a packet on its source's link.
#[inline(never)]
fn left_source(packets: &mut Slab<PacketState>, wheel: &mut Wheel, packet: u32, started: Time, free: Time) {
    let packet = &mut packets[packet].delivery;
    packet.started = started;
    wheel.schedule(Event::Source(packet.source).number(), free);
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

/// Deletes the front header of a worm; returns its characters.
pub(super) fn strip(fabric: &Fabric, packets: &mut Slab<PacketState>, worm: &mut Worm) -> u32 {
    let deleted = header_chars(fabric, worm.header);
    let packet = &mut packets[worm.packet];
    worm.header = match worm.header {
        Header::Address => {
            packet.address -= 1;
            if packet.address > 0 { Header::Address } else { Header::Final }
        }
        Header::Via => {
            let Delivery { source, target, .. } = packet.delivery;
            let own = fabric.own_classes_since(source, target, packet.dispatch);
            worm.class = fabric.terminal_class[target as usize] + own;
            Header::Final
        }
        Header::Final | Header::Deleted => Header::Deleted,
    };
    deleted
}

/// Returns the characters that must arrive before a head requests: its front header, or its first character.
#[inline(always)]
pub(super) fn asking_chars(fabric: &Fabric, header: Header) -> u32 {
    header_chars(fabric, header).max(1)
}

/// Whether a worm without its last few characters ends within its headers.
pub(super) fn has_part_of_header(
    fabric: &Fabric,
    packets: &Slab<PacketState>,
    worm: &Worm,
    missing: Number,
) -> bool {
    let later = match worm.header {
        Header::Address => packets[worm.packet].address - 1 + fabric.header_chars,
        Header::Via => fabric.header_chars,
        Header::Final | Header::Deleted => 0,
    };
    (worm.end - worm.first - missing).0 <= header_chars(fabric, worm.header) + later
}

/// Returns the characters of the front header.
#[inline(always)]
pub(super) fn header_chars(fabric: &Fabric, header: Header) -> u32 {
    match header {
        Header::Address => 1,
        Header::Via => fabric.via_header_chars,
        Header::Final => fabric.header_chars,
        Header::Deleted => 0,
    }
}
