//! Times on demand: a long packet is not simulated on links that nobody looks at.
//!
//! As long as the end of a packet has not left its source, no other packet follows it on its links, so only its front
//! has visible effects. Yet every grant of its head allows all these links to send a further bufferful, so the cost of
//! a packet would grow with the square of its path length. Therefore a link that gets more credit for such a packet
//! does not send, but is left **behind** until it is known when the source sends the end. Then all links of the packet
//! catch up: each sends everything for which there is credit, and stores only the last characters, as far as they may
//! still be looked up. From then on the packet is sent like all others.
//!
//! Why the last characters can be computed without the others: let all links send a character in `c`, and write
//! `sigma(r) = S(r) + c r` for the character that is `r` before the end of the packet. Within a packet `sigma` never
//! falls.
//!
//! * *Only the last quantum matters.* Credit for a character of link `l` comes from a character of link `l + 1`, a
//!   fixed number before its quantum. Earlier quanta can be omitted, because their `sigma` is not larger.
//! * *A path forwards and then backwards is never the longest.* The time that link `l` waited for link `l + 1` to send
//!   does not delay the characters arriving at link `l + 1`: sending a bufferful takes longer than the round trip of a
//!   character and its credit, or the link is not plain.
//! * So `sigma` of a character is the maximum of the limits of its own link so far, of the grant and the crossbar, of
//!   the same limits on the following links for one character each, and of its arrival from the previous link.
//! * If the first and the last of some characters have the same `sigma`, these form one straight run.
//!
//! This holds in networks of plain links of one pace without horizons, once the header for the next request is on the
//! foremost link. Otherwise every link sends immediately. Gain in instructions per packet-hop: at 1000 B 4539 to 2831
//! with the C104, 6351 to 3436 with SpaceWire, at 1000 flits 3617 to 2769 with `generic` (1024 terminals).

mod catch_up;

use std::hint::cold_path;
use std::num::Wrapping;

use super::link::{Kind, Link};
use super::packet_path::asking_chars;
use super::queue::ALWAYS;
use super::state::Network;
use super::timeline::{Number, ahead};
use super::worm::{EAGER, Worm};
use crate::fabric::NONE;
use crate::kernel::Time;

/// A link of a packet. Characters are identified by their distance from the end of the packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    link: u32,
    /// Characters of the packet that it has not sent.
    unsent: u32,
    /// How many of them need credit that earlier packets have not returned.
    waiting: u32,
    /// How many of them remain after it has sent everything for which there is credit.
    rest: u32,
    /// `sigma` that its wire allows.
    wire: Time,
    /// `sigma` that the grant, the crossbar and earlier packets allow for characters that need credit.
    own: Time,
    /// `sigma` that the places of earlier packets on the next link allow, for the characters of the last places.
    before: Time,
    /// The place of the character that returns the next quantum, in the output buffer of the next link.
    place: u32,
    /// How many characters from there on need no place, because they are deleted.
    deleted: u32,
    /// Difference between `sigma` of a character and of the one that returns its credit.
    lag: Time,
    /// `sigma` of its last characters, from one on, unless they arrive late.
    last: Time,
    last_from: u32,
    quantum: u32,
    /// Whether earlier packets have returned credit, or will.
    kept: bool,
}

/// Returns how many characters before the end of a packet may still be looked up once its links have caught up. No link
/// is ahead of the next one by more than half of it: by buffers and credit.
pub(super) fn window(kinds: &[Kind]) -> u32 {
    let quantum = most(kinds, |kind| kind.quantum);
    reach(kinds).saturating_add(quantum).saturating_mul(2).min(i32::MAX as u32)
}

/// Returns how many more characters of a packet than the next link any link can send: a bufferful.
pub(super) fn reach(kinds: &[Kind]) -> u32 {
    most(kinds, |kind| kind.output_buffer).saturating_add(most(kinds, |kind| kind.input_buffer))
}

fn most(kinds: &[Kind], of: fn(&Kind) -> u32) -> u32 {
    kinds.iter().map(of).max().unwrap_or(0)
}

impl Network {
    /// Whether the holder of a link, which may have credit because the link has sent, need not send now: it was left
    /// behind, or all links of the packet have just caught up.
    #[inline(always)]
    pub(super) fn stays_behind(&mut self, link: u32, holder: u32) -> bool {
        self.is_long(link, holder) && self.leave_behind(link, holder)
    }

    /// Whether the packet that came to a link from its holder is so long that its links may be left behind.
    #[inline(always)]
    pub(super) fn is_long(&self, link: u32, holder: u32) -> bool {
        let [at, from] = [&self.links[link as usize], &self.links[holder as usize]];
        self.has_long && ahead(at.output.end(), from.input.front()) > self.window as i32
    }

    /// The same for a packet of a number of characters.
    #[inline(always)]
    pub(super) fn is_long_packet(&self, characters: Number) -> bool {
        self.has_long && characters.0 > self.window
    }

    /// Returns `Worm::links` of a packet that its source puts on a link. It counts as long only if it is so without its
    /// headers: then it is long on all links, also where headers have been deleted.
    pub(super) fn links_of_source(&mut self, characters: u32) -> u8 {
        let headers = self.fabric.header_chars + self.fabric.via_header_chars;
        if characters <= self.window.saturating_add(headers) {
            return EAGER;
        }
        self.has_long |= self.on_demand;
        0
    }

    /// Leaves the holder of a link that has sent more of a long packet behind, or makes all links of the packet catch
    /// up. False if the packet is sent like all others.
    #[inline(never)]
    pub(super) fn leave_behind(&mut self, link: u32, holder: u32) -> bool {
        let at = &self.links[link as usize];
        if at.tail() != NONE {
            let worm = at.worm(at.tail(), &self.crowd);
            if worm.links == EAGER {
                return false;
            }
            if self.is_far(at, holder, worm) {
                self.mark(link, holder);
                return true;
            }
        }
        cold_path();
        let mut parts = std::mem::take(&mut self.behind);
        parts.clear();
        let may = self.look_back(&mut parts, link, holder);
        if may && parts.last().is_some_and(|tail| tail.rest > 0) {
            self.mark(parts[0].link, parts[1].link);
        } else if may {
            self.catch_up(&parts);
        }
        self.behind = parts;
        may
    }

    /// Leaves a link behind; the next one may then have credit that it does not take.
    fn mark(&mut self, link: u32, holder: u32) {
        let at = &mut self.links[link as usize];
        if !at.credit.waits() && at.sends_newest() {
            at.due.leave_behind();
        } else {
            at.due.catch_up();
        }
        self.links[holder as usize].due.leave_behind();
    }

    /// Whether the end of a packet would still be at its source if all links of the packet sent as much as they can: a
    /// link can send at most a bufferful more of it than the next one.
    #[inline(always)]
    fn is_far(&self, at: &Link, holder: u32, worm: &Worm) -> bool {
        let from = &self.links[holder as usize];
        let asking = if at.leads_to_terminal() { 1 } else { asking_chars(&self.fabric, worm.header) };
        let has_header = ahead(from.wire.known() - at.output.shift(), worm.first + Wrapping(asking)) >= 0;
        let is_front = at.input.output() == NONE || at.head() != at.tail();
        let rest = self.rest_of_front(at, worm);
        is_front & has_header & (rest > u32::from(worm.links).saturating_mul(self.reach))
    }

    /// Returns the characters of its newest packet for which a link has no credit, as far as it is known; all of them
    /// if it has not begun to send it.
    #[inline(always)]
    fn rest_of_front(&self, at: &Link, worm: &Worm) -> u32 {
        let begun = at.sends_newest() & (ahead(at.wire.known(), worm.first) > 0);
        if !begun {
            return (worm.end - worm.first).0;
        }
        let rest = (worm.end - at.wire.known()).0.saturating_sub(at.credit.characters());
        if !at.credit.is_kept() && at.input.output() == NONE {
            return rest;
        }
        cold_path();
        let quanta = at.credit.kept_quanta() + self.leaving_quanta(at);
        rest.saturating_sub(quanta.saturating_mul(self.kind(at).quantum))
    }

    /// Whether a link was left behind, and still may be: when the source of the packet sends its end cannot be known
    /// yet.
    pub(super) fn is_left_behind(&self, link: u32) -> bool {
        let output = self.links[link as usize].input.output();
        let mut parts = Vec::new();
        let long = output != NONE && self.is_long(output, link);
        long && self.look_back(&mut parts, output, link) && parts.last().is_some_and(|tail| tail.rest > 0)
    }

    /// Collects the links of a packet from its front to its source; false if the source has sent all of it.
    fn look_back(&self, parts: &mut Vec<Part>, link: u32, holder: u32) -> bool {
        let (mut to, mut from) = (link, holder);
        while self.sends_head(to) {
            (from, to) = (to, self.links[to as usize].input.output());
        }
        if !self.has_header(to) {
            return false;
        }
        parts.push(self.front(to));
        loop {
            let (at, next) = (&self.links[from as usize], &self.links[to as usize]);
            let all_sent = ahead(at.wire.known() - next.output.shift(), next.output.granted()) >= 0;
            // If another packet follows, this one has left its source.
            let alone = at.sending() == at.head() && at.sends_newest();
            if all_sent || !alone || at.worm(at.sending(), &self.crowd).links == EAGER {
                return false;
            }
            let part = self.part(to, from, &parts[parts.len() - 1]);
            parts.push(part);
            if self.kind(at).from_terminal {
                return true;
            }
            if at.output.holder() == NONE {
                return false;
            }
            (to, from) = (from, at.output.holder());
        }
    }

    /// Whether the packet that was granted a link last has itself been granted the next one.
    fn sends_head(&self, link: u32) -> bool {
        let at = &self.links[link as usize];
        at.input.output() != NONE && at.head() == at.tail()
    }

    /// Whether the foremost link of a packet has received what its head needs to request the next one; this may be
    /// missing if the header of the last request was deleted.
    fn has_header(&self, link: u32) -> bool {
        let at = &self.links[link as usize];
        let Some(from) = self.links.get(at.output.holder() as usize).filter(|_| at.tail() != NONE) else {
            return true;
        };
        let worm = at.worm(at.tail(), &self.crowd);
        let header = if at.leads_to_terminal() { 1 } else { asking_chars(&self.fabric, worm.header) };
        ahead(from.wire.known() - at.output.shift(), worm.first + Wrapping(header)) >= 0
    }

    /// Returns the foremost link of a packet.
    fn front(&self, link: u32) -> Part {
        let at = &self.links[link as usize];
        let (kind, unsent) = (self.kind(at), (at.output.granted() - at.wire.known()).0);
        let begun = !at.has_sent_all()
            && at.sends_newest()
            && ahead(at.wire.known(), at.worm(at.sending(), &self.crowd).first) > 0;
        let left = (at.credit.kept_quanta() + self.leaving_quanta(at)).saturating_mul(kind.quantum);
        let waiting =
            if begun { unsent.saturating_sub(at.credit.characters().saturating_add(left)) } else { unsent };
        let wire = at.wire.free() + Time::from(unsent) * Time::from(kind.character);
        // On the link to a terminal characters do not wait for credit.
        let last_from = if at.leads_to_terminal() { unsent } else { 0 };
        let (rest, last, kept) = (waiting, wire, left > 0);
        Part { link, unsent, waiting, rest, wire, last, last_from, kept, ..Part::default() }
    }

    /// Returns the quanta of credit that a packet in the input buffer of a link returns, as far as their times are
    /// known.
    fn leaving_quanta(&self, at: &Link) -> u32 {
        let Some(to) = self.links.get(at.input.output() as usize) else { return 0 };
        let known = to.turns(self.kind(to)).beyond_by(at, at.credit.next_quantum());
        if known > 0 { self.kind(at).quanta(known as u32) } else { 0 }
    }

    /// Returns the link on which the head of a packet arrived at another one.
    fn part(&self, to: u32, from: u32, front: &Part) -> Part {
        let [at, to] = [&self.links[from as usize], &self.links[to as usize]];
        let [kind, next] = [self.kind(at), self.kind(to)];
        let (known, end, pace) = (at.wire.known(), to.output.end(), Time::from(kind.character));
        let unsent = (end - known).0;
        let waiting = unsent
            .saturating_sub(at.credit.characters().saturating_add(at.credit.kept_quanta() * kind.quantum));
        let place = (end + Wrapping(next.output_buffer) - at.credit.next_quantum()).0;
        let credit = if place > front.rest { kind.quanta(place - front.rest) * kind.quantum } else { 0 };
        let mut part = Part {
            link: from,
            unsent,
            waiting,
            rest: waiting.saturating_sub(credit),
            wire: at.wire.free() + Time::from(unsent) * pace,
            place,
            deleted: ahead(at.input.deleted(), at.credit.next_quantum()).max(0) as u32,
            lag: pace * (Time::from(waiting) - Time::from(place) + 1) + Time::from(kind.credit_delay),
            quantum: kind.quantum,
            kept: at.credit.is_kept(),
            ..Part::default()
        };
        let crossed = kind.credit(at.input.crosses_at(at.credit.next_quantum(), kind.crossbar));
        part.own = crossed + Time::from(waiting) * pace;
        part.before = match self.places_before(to, &part) {
            bound if bound <= front.last.max(part.wire.max(part.own) - part.lag) => bound,
            _ => self.by_places_before(front.link, &part, front.rest),
        };
        part.last = part.wire.max(part.own).max(front.last.max(part.before) + part.lag);
        if !part.kept && part.deleted == 0 {
            let reach = next.output_buffer + kind.input_buffer;
            part.last_from = waiting.min(front.last_from.saturating_sub(reach));
        }
        part
    }

    /// Returns a `sigma` that no place of earlier packets on the next link exceeds: when this packet began there, all
    /// of their characters had been sent, each in the ticks of a character or of an end.
    #[inline(always)]
    fn places_before(&self, to: &Link, part: &Part) -> Time {
        let (kind, worm) = (self.kind(to), to.worm(to.tail(), &self.crowd));
        let (begun, length) = (ahead(to.wire.known(), worm.first) > 0, (worm.end - worm.first).0);
        if !begun | !self.rooms.is_empty() {
            return Time::MAX;
        }
        let before = part.place.saturating_sub(length);
        let ends = if kind.shortest >= before { 1 } else { before };
        let gain = Time::from(ends) * Time::from(kind.character.saturating_sub(kind.end));
        worm.time + Time::from(length) * Time::from(kind.character) + gain
    }

    /// Returns the largest `sigma` of characters of earlier packets on the next link whose places the next quanta take,
    /// the last one `until` before the end. After an end of packet `sigma` may fall, so each of them counts. A crossbar
    /// slower than that end is still busy with it when this packet begins; within the packet no link is faster than a
    /// crossbar, so only the first of its places counts.
    fn by_places_before(&self, link: u32, part: &Part, until: u32) -> Time {
        let to = &self.links[link as usize];
        let (pace, end) = (self.kind(to).character, to.output.granted());
        let places = to.places(self.kind(to), self.rooms.get(link as usize), self.kind(to).source_crossbar);
        let length = (end - to.worm(to.tail(), &self.crowd).first).0;
        let skipped = part.deleted.div_ceil(part.quantum) * part.quantum;
        let (mut character, mut sigma) = (part.place.saturating_sub(skipped), LONG_AGO);
        let by = |place: Time, character: u32| place + Time::from(pace) * (Time::from(character) - 1);
        while character > length.max(until) {
            let run = places.freed(end - Wrapping(character));
            sigma = sigma.max(by(run.time, character));
            // Characters without gaps have the same `sigma`.
            let alike = if run.step == pace { (run.count - 1) / part.quantum + 1 } else { 1 };
            character = character.saturating_sub(alike * part.quantum);
        }
        if character > until && !self.rooms.is_empty() {
            cold_path();
            sigma = sigma.max(by(places.not_before(end - Wrapping(character)), character));
        }
        sigma
    }
}

/// Before every `sigma`.
const LONG_AGO: Time = ALWAYS / 2;

#[cfg(test)]
mod tests;
