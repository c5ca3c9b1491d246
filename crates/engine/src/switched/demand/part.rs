//! The links of a long packet, and what limits the times at which each sends its last characters.

use std::hint::cold_path;
use std::num::Wrapping;

use super::super::link::{Kind, Link};
use super::super::queue::ALWAYS;
use super::super::state::Network;
use super::super::timeline::ahead;
use super::super::worm::Worm;
use crate::kernel::Time;

/// A link of a packet. Characters are identified by their distance from the end of the packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part {
    pub link: u32,
    /// Characters of the packet that it has not sent.
    pub unsent: u32,
    /// How many of them need credit that earlier packets have not returned.
    pub waiting: u32,
    /// How many of them remain after it has sent everything for which there is credit.
    pub rest: u32,
    /// `sigma` that its wire allows.
    pub wire: Time,
    /// `sigma` that the grant, the crossbar and earlier packets allow for characters that need credit.
    pub own: Time,
    /// `sigma` that the places of earlier packets on the next link allow, for the characters of the last places; a bound
    /// of it unless `is_exact`.
    pub earlier: Time,
    /// Difference between `sigma` of a character and of the one that returns its credit.
    pub lag: Time,
    /// `sigma` of the last character for which there is credit, or a higher one; [`FAR`] if none is known. It is that of
    /// all characters from `straight_from` on, unless they arrive late.
    pub last_sigma: Time,
    pub straight_from: u32,
    /// The place of the character that returns the next quantum, in the output buffer of the next link.
    pub returns_at: u32,
    /// How many characters from there on need no place, because they are deleted.
    pub deleted: u32,
    /// How many more characters than the next link it may send.
    reach: u32,
    pub quantum: u32,
    /// As in `Kind`.
    quantum_shift: u8,
    is_exact: bool,
    /// Whether earlier packets have returned credit, or will.
    pub kept: bool,
}

/// Before every `sigma`.
pub(super) const LONG_AGO: Time = ALWAYS / 2;

/// After every `sigma`.
pub(super) const FAR: Time = -LONG_AGO;

impl Part {
    /// Returns how many characters whole quanta have, if a number of them are sent after the first one.
    #[inline(always)]
    pub fn whole_quanta(&self, characters: u32) -> u32 {
        if self.quantum_shift >= 32 {
            cold_path();
            return characters / self.quantum * self.quantum;
        }
        characters >> self.quantum_shift << self.quantum_shift
    }

    /// Whether it is computed of the same state of the link as another one.
    pub fn is_like(&self, other: &Part) -> bool {
        let state = |part: &Part| {
            let own = (part.wire, part.own, part.lag, part.returns_at, part.deleted, part.kept);
            (part.link, part.unsent, part.waiting, own)
        };
        state(self) == state(other)
    }

    /// Computes again what depends on the following links.
    #[inline(always)]
    pub fn renew(&mut self, next: &Part) {
        // Quanta of which the first character returns.
        let credit = if self.returns_at > next.rest {
            self.whole_quanta(self.returns_at - next.rest - 1) + self.quantum
        } else {
            0
        };
        self.rest = self.waiting.saturating_sub(credit);
        let own = self.wire.max(self.own);
        let others = next.last_sigma.max(own - self.lag);
        self.last_sigma = if self.kept { FAR } else { others.max(self.earlier) + self.lag };
        let is_known = !self.kept && self.deleted == 0 && (self.is_exact || self.earlier <= others);
        self.straight_from =
            if is_known { self.waiting.min(next.straight_from.saturating_sub(self.reach)) } else { 0 };
    }
}

impl Network {
    /// Returns the foremost link of a packet.
    pub(super) fn front(&self, link: u32) -> Part {
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
        let straight_from = if at.leads_to_terminal() { unsent } else { 0 };
        let kept = left > 0;
        let last_sigma = if kept { FAR } else { wire };
        Part {
            link,
            unsent,
            waiting,
            rest: waiting,
            wire,
            last_sigma,
            straight_from,
            kept,
            ..Part::default()
        }
    }

    /// Returns the quanta of credit that a packet in the input buffer of a link returns, as far as their times are
    /// known.
    pub(super) fn leaving_quanta(&self, at: &Link) -> u32 {
        let Some(to) = self.links.get(at.input.output() as usize) else { return 0 };
        let known = to.turns(self.kind(to)).beyond_by(at, at.credit.next_quantum());
        if known > 0 { self.kind(at).quanta(known as u32) } else { 0 }
    }

    /// Returns the link on which the head of a packet arrived at another one, which comes next.
    pub(super) fn part_of(&self, link: u32, next: &Part) -> Part {
        let [at, to] = [&self.links[link as usize], &self.links[next.link as usize]];
        let mut part = Part::default();
        self.part(&mut part, link, [at, to], [self.kind(at), self.kind(to)], next);
        part
    }

    /// Computes it in its place, because it is large.
    #[inline(always)]
    pub(super) fn part(
        &self,
        part: &mut Part,
        link: u32,
        [at, to]: [&Link; 2],
        [kind, next_kind]: [&Kind; 2],
        next: &Part,
    ) {
        let (end, pace) = (to.output.end(), Time::from(kind.character));
        let unsent = (end - at.wire.known()).0;
        let waiting = unsent
            .saturating_sub(at.credit.characters().saturating_add(at.credit.kept_quanta() * kind.quantum));
        let place = (end + Wrapping(next_kind.output_buffer) - at.credit.next_quantum()).0;
        let crossed = kind.credit(at.input.crosses_at(at.credit.next_quantum(), kind.crossbar));
        *part = Part {
            link,
            unsent,
            waiting,
            wire: at.wire.free() + Time::from(unsent) * pace,
            own: crossed + Time::from(waiting) * pace,
            lag: pace * (Time::from(waiting) - Time::from(place) + 1) + Time::from(kind.credit_delay),
            earlier: places_before(to, next_kind, to.worm(to.tail(), &self.crowd), place),
            returns_at: place,
            deleted: ahead(at.input.deleted(), at.credit.next_quantum()).max(0) as u32,
            reach: next_kind.output_buffer + kind.input_buffer,
            quantum: kind.quantum,
            quantum_shift: kind.quantum_shift,
            kept: at.credit.is_kept(),
            ..Part::default()
        };
        if part.earlier > next.last_sigma.max(part.wire.max(part.own) - part.lag) {
            // Places of packets that the next link has not sent are not known.
            let has_begun = ahead(to.wire.known(), to.worm(to.tail(), &self.crowd).first) > 0;
            part.earlier = self.by_places_before(next.link, part, if has_begun { 0 } else { next.rest });
            part.is_exact = true;
        }
        part.renew(next);
    }

    /// Returns the largest `sigma` of characters of earlier packets on the next link whose places the next quanta take,
    /// the last one `until` before the end. After an end of packet `sigma` may fall, so each of them counts. A crossbar
    /// slower than that end is still busy with it when this packet begins; within the packet no link is faster than a
    /// crossbar, so only the first of its places counts.
    pub(super) fn by_places_before(&self, link: u32, part: &Part, until: u32) -> Time {
        let to = &self.links[link as usize];
        let (pace, end) = (self.kind(to).character, to.output.granted());
        let places = to.places(self.kind(to), self.kind(to).source_crossbar);
        let length = (end - to.worm(to.tail(), &self.crowd).first).0;
        let skipped = part.deleted.div_ceil(part.quantum) * part.quantum;
        let (mut character, mut sigma) = (part.returns_at.saturating_sub(skipped), LONG_AGO);
        let by = |place: Time, character: u32| place + Time::from(pace) * (Time::from(character) - 1);
        while character > length.max(until) {
            let run = places.freed(end - Wrapping(character));
            sigma = sigma.max(by(run.time, character));
            // Characters without gaps have the same `sigma`.
            let alike =
                if run.step == pace { part.whole_quanta(run.count - 1) + part.quantum } else { part.quantum };
            character = character.saturating_sub(alike);
        }
        if character > until && self.kind(to).puts_off {
            cold_path();
            sigma = sigma.max(by(places.not_before(end - Wrapping(character)), character));
        }
        sigma
    }
}

/// Returns a `sigma` that no place of earlier packets on the next link exceeds: when this packet, a worm there, began,
/// all of their characters had been sent, each in the ticks of a character or of an end.
#[inline(always)]
fn places_before(to: &Link, kind: &Kind, worm: &Worm, place: u32) -> Time {
    let (begun, length) = (ahead(to.wire.known(), worm.first) > 0, (worm.end - worm.first).0);
    if !begun | kind.puts_off {
        return Time::MAX;
    }
    let before = place.saturating_sub(length);
    let ends = if kind.shortest >= before { 1 } else { before };
    let gain = Time::from(ends) * Time::from(kind.character.saturating_sub(kind.end));
    worm.time + Time::from(length) * Time::from(kind.character) + gain
}
