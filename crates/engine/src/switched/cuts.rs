//! Packets that are cut where a link fails, and packets for which no link runs: ended early, spilled, counted as lost.
//!
//! The horizon of a link that fails, of those that enter the switch before it and of those that leave the switch after it
//! is the tick of the failure. So nothing has been computed then that the failure changes, and what it changes is little:
//!
//! * On the link, what would arrive from now on is forgotten. The packet of which a part has arrived has an error end as
//!   its next and last character, which arrives when `ended` says: its length is corrected on all links after this one.
//! * Before the link, the rest of a packet is granted a **drain**: a link to nowhere on which each character starts when
//!   it comes. So a packet that is spilled leaves its input buffer like any other, and its credit returns. While it does,
//!   the kind of its link is that of a link into a switch without delays.
//! * Events of what is lost are in the wheel already. They are **void**: see [`Cuts::is_void`].
//!
//! A packet in the middle of several failures has several pieces; it is forgotten with the last of them.
//!
//! What is not computed here (see `Network::cut`) begins again character by character.

use std::collections::HashMap;
use std::num::Wrapping;

use super::allocation::Port;
use super::link::{Kind, Link, two};
use super::packet_path::{asking_chars, has_part_of_header};
use super::queue::Run;
use super::state::{Event, Network};
use super::timeline::{Number, ahead, later};
use super::worm::{Header, PASSED, Worm};
use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;
use crate::links::losses::{Losses, Lost};
use crate::measure::{Hop, hop_kind};
use crate::terminal::program::mark;

/// Places in the output buffer of a drain: it never fills.
const ENDLESS: u32 = 1 << 28;

/// What is lost, and where it goes.
#[derive(Clone, Debug)]
pub(super) struct Cuts {
    pub lost: Lost,
    /// Lost packets of which something is still under way.
    pub remains: u64,
    /// The drain of each input link that has needed one.
    drains: HashMap<u32, u32>,
    /// Events of packets that were lost.
    void: Vec<(Time, Event)>,
}

/// A failure of a link.
#[derive(Clone, Copy)]
struct Cut {
    link: u32,
    now: Time,
    /// When the error end of the packet arrives of which a part has arrived.
    ended: Time,
    /// The first character that does not arrive.
    lost: Number,
    /// The number of packets that stay at the end of the link, in order.
    stay: usize,
    /// The last of them ends early.
    is_early: bool,
}

impl Cuts {
    /// Returns what is lost in a network of links: nothing yet. None if nothing can be.
    pub fn new(fabric: &Fabric) -> Option<Box<Self>> {
        let lost = fabric.may_lose().then(|| Lost::new(fabric, mark::row))?;
        Some(Box::new(Self { lost, remains: 0, drains: HashMap::new(), void: Vec::new() }))
    }

    /// Returns the tick of the next void event.
    pub fn next_void(&self) -> Time {
        self.void.iter().map(|void| void.0).min().unwrap_or(Time::MAX)
    }

    /// Whether an event of this tick is one of a packet that was lost; it is so once.
    pub fn is_void(&mut self, now: Time, event: Event) -> bool {
        let place = self.void.iter().position(|&void| void == (now, event));
        place.inspect(|&place| _ = self.void.swap_remove(place)).is_some()
    }
}

impl Link {
    /// Whether all that it has sent has arrived before a tick.
    fn has_arrived(&self, kind: &Kind, now: Time) -> bool {
        let free = self.wire.free();
        // A terminal has an end of packet some time after it has arrived, if that is longer than other characters.
        free == 0 || kind.arrival(free - Time::from(kind.end)).max(kind.delivery(free)) < now
    }
}

impl Network {
    /// Returns the packets at the end of a link, on it and before it, with their rows.
    fn worms_on(&self, link: u32) -> Vec<(u32, Worm)> {
        let at = &self.links[link as usize];
        let mut found = Vec::new();
        let mut number = at.head();
        while number != NONE {
            let worm = *at.worm(number, &self.crowd);
            found.push((number, worm));
            number = worm.next;
        }
        found
    }

    /// Returns the first character of a link that has not arrived before a tick.
    fn first_lost(&self, link: u32, now: Time) -> Number {
        let at = &self.links[link as usize];
        let (known, limit) = (at.wire.known(), now - Time::from(self.kind(at).arrival));
        let mut next = self.next_supplied(link);
        while next != known {
            let run = at.wire.starts().run_from(next);
            let in_time = run.before(limit).map_or(0, |run| run.count);
            next += in_time;
            if in_time < run.count {
                break;
            }
        }
        next
    }

    /// Cuts the packets on a link that fails at a tick, before other events of it. Collects the port whose packet was cut.
    /// False if that is not computed here.
    pub(super) fn cut(&mut self, link: u32, (now, ended): (Time, Time), asking: &mut Vec<u32>) -> bool {
        self.rouse_around(link);
        self.follow_all();
        let worms = self.worms_on(link);
        let at = &self.links[link as usize];
        let held = worms.last().filter(|worm| self.is_not_begun(at, &worm.1)).map(|worm| worm.1);
        let begun = &worms[..worms.len() - usize::from(held.is_some())];
        let is_empty = begun.is_empty() && at.has_arrived(self.kind(at), now);
        if !is_empty && (!self.exits.is_empty() || self.tells_heads) {
            return false;
        }
        let cut = self.plan_cut(link, (now, ended), &worms);
        if !self.can_cut(&cut, &worms) {
            return false;
        }
        self.count_cut(&cut, begun, asking);
        let holder = self.links[link as usize].output.holder();
        if holder != NONE {
            self.spill_rest(holder, link, now);
        }
        self.void_events(&cut, &worms);
        let is_exact = self.end_early(&cut, &worms);
        held.into_iter().for_each(|worm| self.put_again(link, worm));
        self.follow_any();
        is_exact
    }

    fn plan_cut(&self, link: u32, (now, ended): (Time, Time), worms: &[(u32, Worm)]) -> Cut {
        let at = &self.links[link as usize];
        if at.to_terminal {
            return Cut { link, now, ended, lost: at.wire.known(), stay: 0, is_early: false };
        }
        let lost = self.first_lost(link, now);
        let whole = worms.iter().take_while(|(_, worm)| ahead(worm.end, lost) <= 0).count();
        let is_early = worms
            .get(whole)
            .is_some_and(|(_, worm)| ahead(lost, worm.first) > 0 || whole == 0 && at.input.output() != NONE);
        Cut { link, now, ended, lost, stay: whole + usize::from(is_early), is_early }
    }

    /// Returns the number of the error end of the packet that ends early.
    fn end_of(&self, cut: &Cut, worm: &Worm) -> Number {
        later(cut.lost, worm.first) + Wrapping(1)
    }

    /// Whether a terminal keeps a packet until its link runs again: it has not begun to send it.
    fn is_not_begun(&self, at: &Link, worm: &Worm) -> bool {
        self.kind(at).from_terminal && ahead(worm.first, at.wire.known()) >= 0
    }

    /// Puts such a packet on its link again, after all that was on it.
    fn put_again(&mut self, link: u32, worm: Worm) {
        let at = &mut self.links[link as usize];
        let (first, end) = at.output.dispatch((worm.end - worm.first).0);
        *at.append(&mut self.crowd) = Worm { first, end, ..worm };
        self.wake(link);
    }

    /// Whether all that a failure does is computed here: no header is cut, and an error end comes no sooner after the
    /// character before than others do.
    fn can_cut(&self, cut: &Cut, worms: &[(u32, Worm)]) -> bool {
        let at = &self.links[cut.link as usize];
        let Some((_, worm)) = worms.get(cut.stay.wrapping_sub(1)).filter(|_| cut.is_early) else {
            return true;
        };
        let kind = self.kind(at);
        if cut.ended - (cut.now - 1) < Time::from(kind.crossbar.max(kind.character)) {
            return false;
        }
        let missing = worm.end - self.end_of(cut, worm);
        if cut.stay > 1 || at.input.output() == NONE {
            return !has_part_of_header(&self.fabric, &self.packets, worm, missing);
        }
        let last = self.last_of_head(cut.link);
        let at = &self.links[last as usize];
        let worm = at.worm(at.tail(), &self.crowd);
        at.to_terminal || !has_part_of_header(&self.fabric, &self.packets, worm, missing)
    }

    /// Returns the last link that the head packet at the end of a link was granted.
    fn last_of_head(&self, link: u32) -> u32 {
        let mut last = self.links[link as usize].input.output();
        while self.sends_head(last) {
            last = self.links[last as usize].input.output();
        }
        last
    }

    /// Counts the packets that are cut.
    fn count_cut(&mut self, cut: &Cut, worms: &[(u32, Worm)], asking: &mut Vec<u32>) {
        let at = &self.links[cut.link as usize];
        let (known, holder, kind) = (at.wire.known(), at.output.holder(), self.kind(at));
        // The wire itself may be held longer, for credit.
        let free = at.wire.starts().last() + Time::from(kind.character);
        let from_terminal = kind.from_terminal;
        let stays = cut.stay - usize::from(cut.is_early);
        let unsent = worms.iter().filter(|(_, worm)| ahead(worm.end, known) > 0);
        for &(_, worm) in unsent.clone() {
            if from_terminal {
                asking.push(self.packets[worm.packet].delivery.source);
                self.packets[worm.packet].delivery.started = worm.time;
            }
            if ahead(known, worm.first) > 0 {
                let sent = (known - worm.first).0;
                self.links[cut.link as usize].sent.add_part(sent, free - worm.time);
                if self.hops.limit > 0 {
                    self.keep_hop(cut.link, worm.packet, worm.time, cut.now);
                }
            }
        }
        let sent = worms[stays..].iter().rev().filter(|(_, worm)| ahead(worm.end, known) <= 0);
        let hit: Vec<u32> = unsent.chain(sent).map(|(_, worm)| worm.packet).collect();
        for packet in hit {
            self.lose(packet, |losses| &mut losses.cut, cut.link, cut.now);
        }
        for (place, (_, worm)) in worms.iter().enumerate().skip(stays) {
            let before = holder != NONE && place + 1 == worms.len();
            let after = cut.is_early && place + 1 == cut.stay;
            match (before, after) {
                (true, true) => self.packets[worm.packet].further += 1,
                (false, false) => self.piece_gone(worm.packet),
                _ => {}
            }
        }
    }

    /// Remembers the events of packets that do not arrive any more.
    fn void_events(&mut self, cut: &Cut, worms: &[(u32, Worm)]) {
        let Some((number, head)) = worms.first().filter(|_| cut.stay == 0) else { return };
        let at = &mut self.links[cut.link as usize];
        let kind = &self.kinds[at.kind as usize];
        let void = if at.to_terminal {
            let is_sent = at.sending() != *number;
            is_sent.then(|| (kind.delivery(head.time), Event::Deliver(cut.link)))
        } else {
            let asked = at.input.asked();
            let last = head.first + Wrapping(asking_chars(&self.fabric, head.header) - 1);
            let asks_at = || kind.request(at.input.exit_free(), at.wire.starts().run_from(last).time);
            asked.then(|| (asks_at(), Event::Request(cut.link)))
        };
        at.input.forget();
        if let (Some(void), Some(cuts)) = (void, &mut self.cuts) {
            cuts.void.push(void);
        }
    }

    /// Forgets what does not arrive any more, and ends the last packet that does; false if credit may come too late then.
    fn end_early(&mut self, cut: &Cut, worms: &[(u32, Worm)]) -> bool {
        let keep =
            if self.links[cut.link as usize].to_terminal { cut.lost } else { self.next_supplied(cut.link) };
        let early = worms.get(cut.stay.wrapping_sub(1)).filter(|_| cut.is_early);
        let at = &mut self.links[cut.link as usize];
        let kind = &self.kinds[at.kind as usize];
        let end = early.map(|(_, worm)| later(cut.lost, worm.first));
        let last = end.unwrap_or_else(|| worms[..cut.stay].last().map_or(keep, |(_, worm)| worm.end));
        at.wire.forget_from(later(last, keep), keep, kind.output_buffer);
        if end.is_some() {
            let run = Run { count: 1, step: kind.character, time: cut.ended - Time::from(kind.arrival) };
            at.wire.send_late(&run, kind.end);
        }
        at.end_at(cut.stay, worms, &mut self.crowd);
        at.credit.end(at.wire.known());
        let Some(&(number, worm)) = early else { return true };
        let (missing, free) = ((worm.end - at.wire.known()).0, at.wire.free());
        if let Some(outside) = &mut self.outside {
            outside.opens = outside.opens.max(free);
        }
        at.worm_mut(number, &mut self.crowd).shorten(missing, free);
        cut.stay > 1 || at.input.output() == NONE || self.shorten_after(cut, missing)
    }

    /// Corrects the length of the head packet of an input link on all links after it; false if credit may come too late.
    fn shorten_after(&mut self, cut: &Cut, missing: u32) -> bool {
        let first = self.links[cut.link as usize].input.output();
        let (mut output, mut in_time) = (first, true);
        loop {
            let to = &mut self.links[output as usize];
            to.output.shorten(missing);
            let (tail, time) = (to.tail(), to.worm(to.tail(), &self.crowd).time);
            let worm = to.worm_mut(tail, &mut self.crowd);
            worm.shorten(missing, time);
            let end = worm.end;
            if !to.to_terminal {
                let kind = &self.kinds[to.kind as usize];
                let head = if to.input.output() == NONE { end } else { to.input.front() };
                let given_back = to.credit.give_back(kind, head, end, (end - to.wire.known()).0);
                // All others have left before, and the error end is not on this wire sooner than at the cut.
                in_time &= given_back || kind.credit(to.input.exit_free()) <= cut.ended;
            }
            if !self.sends_head(output) {
                break;
            }
            output = self.links[output as usize].input.output();
        }
        self.wake(first);
        in_time
    }

    /// Whether a character has arrived in an input buffer before a tick.
    fn has_come(&self, at: &Link, number: Number, now: Time) -> bool {
        let is_sent = ahead(at.wire.known(), number) > 0;
        is_sent && self.kind(at).arrival(at.wire.starts().run_from(number).time) < now
    }

    /// Spills what has not crossed of a packet whose output fails.
    fn spill_rest(&mut self, input: u32, link: u32, now: Time) {
        let first = self.next_supplied(input);
        let end = self.links[link as usize].output.end();
        loop {
            let at = &self.links[input as usize];
            let quantum = at.credit.next_quantum();
            if ahead(end, quantum) <= 0 {
                break;
            }
            let is_sent_on = ahead(first, quantum) > 0;
            let time = match self.leaving(at, quantum) {
                Some((run, _)) if run.time < now && (is_sent_on || self.has_come(at, quantum, now)) => {
                    run.time
                }
                _ if is_sent_on => now,
                _ => break,
            };
            let at = &mut self.links[input as usize];
            let run = Run { count: 1, step: 0, time };
            at.credit.keep(&self.kinds[at.kind as usize], &run, true);
        }
        self.links[link as usize].output.release();
        self.spill(input, first, now);
    }

    /// Discards the heads that wait for a group without a link that runs.
    pub(super) fn discard_waiting(&mut self, group: u32, now: Time) {
        for input in self.ports.take_all(&self.links, group) {
            self.links[input as usize].port.granted(now);
            self.discard(input, now);
        }
    }

    /// Discards the head packet of an input link, because no link for it runs.
    pub fn discard(&mut self, input: u32, now: Time) {
        if !self.exits.is_empty() {
            return self.outside.iter_mut().for_each(|outside| outside.outages.give_up());
        }
        let at = &self.links[input as usize];
        let &Worm { packet, first, .. } = at.worm(at.head(), &self.crowd);
        self.lose(packet, |losses| &mut losses.discarded, input, now);
        self.spill(input, first, now);
        self.follow_any();
    }

    /// Spills the head packet of an input link from a character on.
    fn spill(&mut self, input: u32, first: Number, now: Time) {
        let drain = self.drain_of(input);
        let spills = self.kind_of_spilling(self.links[input as usize].kind);
        if !self.links[drain as usize].wire.has_room() {
            self.make_room(drain);
        }
        let [at, to] = two(&mut self.links, input, drain);
        at.kind = spills;
        let old = *at.worm(at.head(), &self.crowd);
        at.input.ask();
        at.input.grant(drain, now, first, 0);
        let (first, end) = to.output.grant(input, first, old.end, self.kinds[spills as usize].arrival);
        let time = at.input.exit_free();
        let worm = Worm {
            time,
            next: NONE,
            first,
            end,
            header: Header::Deleted,
            links: PASSED,
            bound: false,
            ..old
        };
        *to.append(&mut self.crowd) = worm;
        self.wake(drain);
        if self.links[input as usize].credit.waits() {
            self.wake(input);
        }
    }

    /// Whether a link is a drain.
    pub(super) fn is_drain(&self, link: u32) -> bool {
        link >= self.fabric.links() as u32
    }

    /// Returns the drain of an input link.
    fn drain_of(&mut self, input: u32) -> u32 {
        let new = self.links.len() as u32;
        let cuts = self.cuts.as_mut().expect("links fail");
        let drain = *cuts.drains.entry(input).or_insert(new);
        if drain == new {
            let kind = Kind {
                character: 1,
                end: 1,
                shortest: 1,
                arrival: 1,
                output_buffer: ENDLESS,
                input_buffer: 1,
                quantum: 1,
                timeout: Time::MAX,
                plain: true,
                to_terminal: true,
                returns_to: NONE,
                ..Kind::default()
            };
            let row = self.row_of(&kind);
            let mut link = Link::new(row, &kind, Port::alone());
            if let Some(outside) = &mut self.outside {
                let look = outside.add_wire(input);
                link.wire.set_horizon(look);
                self.next_outside = self.next_outside.min(look);
            }
            self.links.push(link);
        }
        drain
    }

    /// Returns the row of the kind of a link while its head packet is spilled.
    fn kind_of_spilling(&mut self, row: u32) -> u32 {
        let kind = &self.kinds[row as usize];
        if kind.returns_to != NONE {
            return row;
        }
        let spills = Kind { onward: 0, crossbar: 0, timeout: Time::MAX, returns_to: row, ..kind.clone() };
        self.row_of(&spills)
    }

    fn row_of(&mut self, kind: &Kind) -> u32 {
        let row = self.kinds.iter().position(|known| known == kind);
        row.unwrap_or_else(|| {
            self.kinds.push(kind.clone());
            self.kinds.len() - 1
        }) as u32
    }

    /// Counts a packet as lost on a link, unless it is counted already.
    fn lose(&mut self, packet: u32, cause: fn(&mut Losses) -> &mut u64, link: u32, now: Time) {
        if std::mem::replace(&mut self.packets[packet].lost, true) {
            return;
        }
        let hop = self.hop(link, packet, now, now);
        if let Some(cuts) = &mut self.cuts {
            cuts.remains += 1;
            let hop = Hop { kind: hop_kind::LOST, ..hop };
            cuts.lost.add(self.packets[packet].delivery.mark, cause, hop, &mut self.hops);
        }
    }

    /// Forgets a piece of a lost packet.
    pub(super) fn piece_gone(&mut self, packet: u32) {
        let state = &mut self.packets[packet];
        if state.further > 0 {
            state.further -= 1;
            return;
        }
        self.packets.remove(packet);
        if let Some(cuts) = &mut self.cuts {
            cuts.remains -= 1;
        }
    }

    /// Takes the marks of lost packets, if programs need them.
    pub fn lost_marks(&mut self, marks: &mut Vec<u32>) {
        self.cuts.iter_mut().for_each(|cuts| cuts.lost.take_marks(marks));
    }

    /// Whether an event of this tick is one of a packet that was lost.
    pub fn is_void(&mut self, now: Time, event: Event) -> bool {
        self.cuts.as_mut().is_some_and(|cuts| cuts.is_void(now, event))
    }

    /// Returns the packets that are lost, in a network whose links fail.
    pub fn all_lost(&self) -> Option<&Lost> {
        self.cuts.as_ref().map(|cuts| &cuts.lost)
    }
}
