//! Packets that stream to their terminal: sent to their ends on all their links at once.
//!
//! When the head of a long packet has reached its terminal, nothing unknown is in its way. Let the packet extend from the
//! link of its source to that of its destination. Then one link limits all others: those before it wait for credit, as
//! it does not make room sooner, and those after it for characters. So the times of the rest of the packet follow link by
//! link, from the limiting one to the source and to the destination.
//!
//! Let link `u` supply link `l`, `w` ticks after the start of a character on its wire. Credit for the first character of
//! a quantum has come `credit_ticks` after character `b` before it starts on `l`, or sooner; `b` is a bufferful less a
//! quantum. On `l` characters start at least `c_l` apart, on `u` at least `c_u`.
//!
//! * `l` never waits for characters that `u` has not sent yet, if the first of them is in time for a wire of `l` that
//!   sends all the time, and `b` characters last on `l` for as long as credit and a character need to go and come. If `u`
//!   is slower, both must be so at the end of the packet, too.
//! * `u` never waits for credit, if `l` sends whatever comes, the first missing quantum is in time for a wire of `u` that
//!   sends all the time, and `b` characters last on `u` as long. If `l` is slower, again up to the end.
//!
//! A packet that has left its source, or more links, streams in the same way from its rear on: what comes there is known.
//!
//! * Equation: `S(m) = max(wire, credit)` before the limiting link, `S(m) = max(wire, supply)` after it.
//! * Conditions: the first of these two holds for all links before the limiting one, the second one for those after it;
//!   all are plain, none has stored credit, and credit for deleted headers is in time, or the next to come. Nothing is
//!   sent that depends on what is not before a horizon: a start depends on the link before it `w` ticks ago or
//!   earlier, and on the link after it `credit_ticks` and a character ago or earlier.
//! * Otherwise nothing is done.
//! * Gain: at 1000 B 17,966 to 7842 with the C104 (1024 terminals, matched flow control).

use std::num::Wrapping;

use super::burst::Supply;
use super::departures::Places;
use super::link::{Kind, Link};
use super::queue::{Run, follow};
use super::state::Network;
use super::timeline::{Number, ahead};
use crate::fabric::NONE;
use crate::kernel::Time;

/// Minimum number of characters before a horizon.
const MANY: i32 = 128;
/// The same, to the end, over long cables and for a packet that was interrupted.
const FEW: i32 = 24;

/// Characters that a link sends next, on the credit that it then has.
struct Next {
    /// Characters without gaps; with `grouped`, the first ones of groups of a quantum.
    run: Run,
    grouped: bool,
    /// Characters that the credit taken so far allows, including these.
    credited: u32,
    next_quantum: Number,
}

impl Network {
    /// Sends the rest of a packet that streams to the terminal at the end of a link.
    #[inline(always)]
    pub(super) fn stream(&mut self, link: u32) {
        let at = &self.links[link as usize];
        if at.has_sent_all() {
            return;
        }
        let rest = ahead(at.output.granted(), at.wire.known());
        if rest > self.window as i32 {
            self.stream_rest(link);
        }
    }

    /// The same for a packet of which links were held.
    pub(super) fn stream_on(&mut self, link: u32) {
        let at = &self.links[link as usize];
        if !at.has_sent_all() && ahead(at.output.granted(), at.wire.known()) >= FEW {
            self.stream_rest(link);
        }
    }

    #[cold]
    fn stream_rest(&mut self, link: u32) {
        if self.is_drain(link) {
            // A drain sends each character when it comes.
            return;
        }
        let mut parts = std::mem::take(&mut self.parts);
        parts.clear();
        let limiting = self.limiting(link, &mut parts);
        if limiting.is_none() {
            self.stream_in_rounds(link);
        }
        if let Some(limit) = limiting {
            self.set_untils(&mut parts);
            let (at, until) = (&self.links[parts[limit].0 as usize], parts[limit].1);
            if at.may_send_many(self.kind(at), until) {
                // What comes to the rear of a packet that has left its source is known, but not always in time.
                let is_rear = limit + 1 == parts.len();
                let comes = is_rear && self.links[parts[limit].0 as usize].output.holder() != NONE;
                self.send_rest(parts[limit], comes, false);
                for &part in parts[..limit].iter().rev() {
                    self.send_rest(part, true, false);
                }
                for &part in &parts[limit + 1..] {
                    self.send_rest(part, false, true);
                }
                self.have_sent(&parts);
            }
        }
        self.parts = parts;
    }

    /// Handles the consequences for the links of a packet that have sent what they can.
    fn have_sent(&mut self, parts: &[(u32, Time)]) {
        for &(link, _) in parts {
            if !self.links[link as usize].has_sent_all() {
                self.wake(link);
            }
        }
        for &(link, _) in &parts[1..] {
            self.try_left(link);
        }
        let before = parts.last().map_or(NONE, |rear| self.links[rear.0 as usize].output.holder());
        if before != NONE {
            self.vacated(before);
        }
    }

    /// Sets, for each link, the tick up to which nothing depends on what is not before a horizon.
    fn set_untils(&self, parts: &mut [(u32, Time)]) {
        if parts.iter().all(|part| part.1 == Time::MAX) {
            return;
        }
        for to in (1..parts.len()).rev() {
            let way = Time::from(self.links[parts[to - 1].0 as usize].output.way());
            parts[to - 1].1 = parts[to - 1].1.min(parts[to].1.saturating_add(way));
        }
        for from in 1..parts.len() {
            let next = self.kind(&self.links[parts[from - 1].0 as usize]).character;
            let back = next + self.kind(&self.links[parts[from].0 as usize]).credit_delay;
            parts[from].1 = parts[from].1.min(parts[from - 1].1.saturating_add(Time::from(back)));
        }
    }

    /// Finds the links of a packet, from that to its destination to that of its source, and the place of the link that
    /// limits the others; None if the packet does not stream. Credit for deleted characters is taken on the way.
    fn limiting(&mut self, link: u32, parts: &mut Vec<(u32, Time)>) -> Option<usize> {
        let (mut at, mut limit) = (link, 0);
        while self.sends_last(at) {
            self.renew_horizon(at);
            let to = &self.links[at as usize];
            parts.push((at, to.wire.horizon()));
            let holder = to.output.holder();
            if holder == NONE {
                return Some(limit);
            }
            let line = self.passing(holder);
            if ahead(line.known(), to.output.end()) >= 0 {
                let supply = Supply { line, shift: to.output.shift(), way: to.output.way() };
                let rest = (to.output.granted() - to.wire.known()).0;
                let may = limit + 1 == parts.len() || supply.in_time(self.kind(to), to.wire.free(), rest);
                return may.then_some(limit);
            }
            self.take_deleted(holder);
            let (from, to) = (&self.links[holder as usize], &self.links[at as usize]);
            let pair = self.pair(from, to)?;
            if limit + 1 == parts.len() && pair.is_drained() {
                limit += 1;
            } else if !pair.is_fed(from) {
                return None;
            }
            at = holder;
        }
        None
    }

    /// Takes the next credit of a link that has none, if that is for a deleted character: its next start waits for it.
    /// `Link::takes_run` does not do so for a link that was left behind, as most are here.
    fn take_deleted(&mut self, link: u32) {
        let at = &mut self.links[link as usize];
        let (kind, number) = (&self.kinds[at.kind as usize], at.credit.next_quantum());
        let waits = at.credit.characters() == 0 && !at.credit.is_kept() && !kind.fails;
        if waits && ahead(number, at.input.deleted()) < 0 {
            let comes = kind.credit(at.input.crosses_at(number, kind.crossbar));
            at.wire.hold_until(at.wire.free().max(comes));
            at.credit.take_early(kind, 0);
        }
    }

    /// Whether a link has begun to send the packet that was granted to it last, its input buffer has no other, and
    /// nothing but its wire, credit and supply limits it.
    fn sends_last(&self, link: u32) -> bool {
        let at = &self.links[link as usize];
        !at.has_sent_all()
            && ahead(at.wire.known(), at.worm(at.sending(), &self.crowd).first) > 0
            && (at.sends_newest() || self.kind(at).from_terminal)
            && (at.sending() == at.head() || at.to_terminal)
            && at.plain
            && !at.credit.is_kept()
            && !at.worm(at.sending(), &self.crowd).bound
    }

    /// Returns what is compared of two successive links of a packet.
    fn pair(&self, from: &Link, to: &Link) -> Option<Pair> {
        let (kind, next) = (self.kind(from), self.kind(to));
        let lead = ahead(from.wire.known() - to.output.shift(), to.wire.known());
        let rest = ahead(to.output.end(), from.wire.known());
        (lead >= 0 && rest > 0 && from.has_deleted_in_time(kind)).then(|| Pair {
            free: from.wire.free(),
            pace: Time::from(kind.character),
            next_free: to.wire.free(),
            next_pace: Time::from(next.character),
            lead: Time::from(lead),
            rest: Time::from(rest.max(kind.quantum as i32)),
            way: Time::from(to.output.way()),
            credit: Time::from(kind.credit_delay),
            bufferful: Time::from(kind.input_buffer + 1) - Time::from(kind.quantum),
        })
    }

    /// Sends the rest of a packet on a link, up to a tick. `by_supply`, `by_credit`: whether these limit it, beside its
    /// wire; the link before or after it has then sent.
    fn send_rest(&mut self, (link, until): (u32, Time), by_supply: bool, by_credit: bool) {
        let number = self.links[link as usize].sending();
        let end = self.links[link as usize].worm(number, &self.crowd).end;
        self.links[link as usize].credit.set_waits(false);
        while self.links[link as usize].wire.known() != end {
            if !self.links[link as usize].wire.has_room() {
                self.make_room(link);
            }
            let next = if by_credit {
                self.next_credited(link, end, until)
            } else {
                self.next_come(link, end, until, by_supply)
            };
            let Some(next) = next else { return };
            let at = &mut self.links[link as usize];
            let (kind, before) = (&self.kinds[at.kind as usize], at.wire.known());
            let count = if next.grouped { next.run.count * kind.quantum } else { next.run.count };
            let ticks = if before + Wrapping(count) == end { kind.end } else { kind.character };
            if next.grouped {
                at.wire.send_groups(&next.run, ticks);
            } else {
                at.wire.send(&next.run, ticks);
                at.free_places(kind, &next.run);
            }
            at.credit.spend(next.credited - count, next.next_quantum);
            self.extensions += 1;
        }
        let at = &mut self.links[link as usize];
        let kind = &self.kinds[at.kind as usize];
        let (from_terminal, to_terminal) = (kind.from_terminal, kind.to_terminal);
        let gone = at.sent(number, &mut self.crowd);
        self.sent(link, &gone, from_terminal, to_terminal);
    }

    /// Returns what a link sends next that has credit in time; `by_supply`: as it comes from the link before.
    fn next_come(&self, link: u32, end: Number, until: Time, by_supply: bool) -> Option<Next> {
        let at = &self.links[link as usize];
        let kind = self.kind(at);
        let known = at.wire.known();
        let mut run = Run { count: (end - known).0, step: kind.character, time: at.wire.free() };
        if by_supply {
            let line = self.passing(at.output.holder());
            let number = known + at.output.shift();
            if ahead(line.known(), number) <= 0 {
                return None;
            }
            let comes = line.run_from(number).later(at.output.way());
            run = follow(run.count, run.time, run.step, [comes]);
        }
        let run = run.before(until)?;
        let missing = run.count.saturating_sub(at.credit.characters());
        let more = if missing > 0 { kind.quanta(missing) * kind.quantum } else { 0 };
        let next_quantum = at.credit.next_quantum() + Wrapping(more);
        Some(Next { run, grouped: false, credited: at.credit.characters() + more, next_quantum })
    }

    /// Returns what a link sends next, if all characters of the packet up to its end have come, and all is known of
    /// their credit.
    fn next_credited(&self, link: u32, end: Number, until: Time) -> Option<Next> {
        let at = &self.links[link as usize];
        let (kind, quantum) = (self.kind(at), self.kind(at).quantum);
        let most = (end - at.wire.known()).0;
        let (mut credited, mut next_quantum) = (at.credit.characters(), at.credit.next_quantum());
        let mut start = at.wire.free();
        let pace = Time::from(kind.character);
        while credited < most {
            let to = &self.links[at.input.output() as usize];
            let Some(quanta) = quanta(&to.places(self.kind(to), kind.crossbar), at, kind, next_quantum)
            else {
                break;
            };
            let due = start + Time::from(credited) * pace;
            // What each quantum of them comes later than the one before it is sent.
            let loss = Time::from(quanta.step) - Time::from(quantum) * pace;
            let missing = (most - credited).div_ceil(quantum);
            let mut in_time = if loss <= 0 { quanta.count } else { 1 };
            if quanta.time > due {
                if credited > 0 {
                    break;
                }
                start = quanta.time;
                let all = Run { count: quanta.count.min(most / quantum), ..quanta };
                let last = Time::from(quantum - 1) * pace;
                let groups = all.before(until - last).map_or(0, |groups| groups.count);
                if loss > 0 && groups > 1 && !at.is_behind(kind, start) {
                    let characters = groups * quantum;
                    let run = Run { count: groups, ..quanta };
                    let next_quantum = next_quantum + Wrapping(characters);
                    return Some(Next { run, grouped: true, credited: characters, next_quantum });
                }
            } else if loss > 0 {
                in_time = quanta.count.min(((due - quanta.time) / loss) as u32 + 1);
            }
            let taken = in_time.min(missing) * quantum;
            credited += taken;
            next_quantum += taken;
        }
        if credited == 0 {
            return None;
        }
        let run = Run { count: credited.min(most), step: kind.character, time: start }.before(until)?;
        Some(Next { run, grouped: false, credited, next_quantum })
    }
}

/// Two successive links of a packet: the one that supplies, and the next.
struct Pair {
    free: Time,
    pace: Time,
    next_free: Time,
    next_pace: Time,
    /// Characters that the first has sent and the next has not.
    lead: Time,
    /// Characters that the first has not sent, at least a quantum.
    rest: Time,
    way: Time,
    credit: Time,
    /// Characters between the one whose departure returns a quantum and the first one that needs it.
    bufferful: Time,
}

impl Pair {
    /// Whether the characters that the first link has not sent come in time for the next, and so do those on the way.
    fn is_fed(&self, from: &Link) -> bool {
        let lost = self.rest * (self.pace - self.next_pace).max(0);
        let last = from.wire.starts().last() + self.way;
        let known =
            self.lead == 0 || last <= self.next_free + (self.lead - 1) * self.pace.min(self.next_pace);
        let first = self.free + self.way + lost <= self.next_free + self.lead * self.next_pace;
        known && first && self.credit + self.way + lost <= self.bufferful * self.next_pace
    }

    /// Whether the next link, which sends what comes, returns credit in time for the first.
    fn is_drained(&self) -> bool {
        let lost = self.rest * (self.next_pace - self.pace).max(0);
        let next = self.next_free + (self.lead - self.bufferful) * self.next_pace;
        next + self.credit + lost <= self.free && self.credit + self.way + lost <= self.bufferful * self.pace
    }
}

impl Link {
    /// Whether many more characters take less time at its pace than there is before a tick.
    #[inline(always)]
    pub(super) fn may_send_many(&self, kind: &Kind, until: Time) -> bool {
        until == Time::MAX || until - self.wire.free() > Time::from(MANY) * Time::from(kind.character)
    }

    /// Whether the credit for characters that are deleted behind it, which leave without being sent on, is in time.
    fn has_deleted_in_time(&self, kind: &Kind) -> bool {
        let deleted = self.input.deleted();
        ahead(self.credit.next_quantum(), deleted) >= 0 || {
            let leaves = self.input.crosses_at(deleted - Wrapping(1), kind.crossbar);
            let characters = Time::from(self.credit.characters());
            kind.credit(leaves) <= self.wire.free() + characters * Time::from(kind.character)
        }
    }

    /// Whether the crossbar before a link could still be behind with a character that starts at a tick.
    pub(super) fn is_behind(&self, kind: &Kind, start: Time) -> bool {
        kind.puts_off && self.wire.starts().crossed() + Time::from(kind.source_crossbar) > start
    }
}

impl Places<'_> {
    /// Returns when the characters leave that return quanta of credit, from one on, as far as they do so at equal
    /// intervals because of their places or of the crossbar since the grant, and these are known.
    #[inline]
    pub fn quanta(&self, at: &Link, number: Number, quantum: u32) -> Option<Run> {
        let rest = ahead(self.turns.stop, number);
        if rest <= 0 || ahead(number, at.input.deleted()) < 0 {
            return None;
        }
        let each = self.line.each(number - self.turns.shift, quantum, self.crossbar)?.later(self.late);
        let count = (rest as u32).div_ceil(quantum);
        let own = at.input.crosses_at(number, self.crossbar);
        Some(follow(count, own, quantum.checked_mul(self.crossbar)?, [each]))
    }
}

/// Returns when quanta of credit can be used, from the one that a character returns on, at equal intervals, if that is
/// known.
fn quanta(places: &Places<'_>, at: &Link, kind: &Kind, number: Number) -> Option<Run> {
    let one = || places.leaving(at, number).map(|leaving| Run { count: 1, step: 0, ..leaving });
    let run = places.quanta(at, number, kind.quantum).or_else(one)?;
    Some(Run { time: kind.credit(run.time), ..run })
}
