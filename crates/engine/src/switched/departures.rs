//! When characters leave input buffers, and the credit that returns for them.
//!
//! A character of the head packet leaves when it has arrived, when the packet has its output, and when a place in the
//! output buffer is free: when the character one output buffer before it has been sent. So this is looked up for the
//! characters that return a quantum of credit and for the end of packet, and not stored.
//!
//! Credit waits for an arrival only on long links: on others, sending a whole input buffer takes longer than the time
//! from the start of a character to the use of its credit.

use std::hint::cold_path;
use std::num::Wrapping;

use super::link::{Kind, Link};
use super::model;
use super::queue::{Run, follow};
use super::state::Network;
use super::timeline::{Number, Timeline, ahead, earlier, later};
use super::worm::Crowd;
use crate::fabric::NONE;
use crate::kernel::Time;

impl Network {
    /// Whether it is known when the next quantum of credit is usable.
    #[inline(always)]
    pub(super) fn has_credit(&self, link: u32) -> bool {
        let at = &self.links[link as usize];
        let Some(to) = self.links.get(at.input.output() as usize) else { return false };
        if at.plain {
            to.turns(self.kind(to)).beyond(at, at.credit.next_quantum())
        } else {
            self.leaving(at, at.credit.next_quantum()).is_some()
        }
    }

    /// Returns when characters of a head packet leave for its output, from one on while their places become free in a
    /// straight run; and whether this holds for all of them. If not, it holds for the first, and the others leave at
    /// that time or later.
    pub(super) fn leaving(&self, at: &Link, number: Number) -> Option<(Run, bool)> {
        let (kind, to) = (self.kind(at), self.links.get(at.input.output() as usize)?);
        let places = to.places(self.kind(to), kind.crossbar);
        if kind.stepwise {
            let line = &self.exits[to.output.holder() as usize];
            let known = earlier(places.turns.end, line.known());
            return (ahead(known, number) > 0).then(|| (line.run_from(number), true));
        }
        let run = places.leaving(at, number)?;
        if kind.plain {
            return Some((run, run.time > at.input.crosses_at(number, kind.crossbar)));
        }
        if kind.long {
            if ahead(number, at.wire.known()) >= 0 {
                return None;
            }
            let arrival = at.wire.starts().run_from(number).later(kind.arrival);
            if ahead(number, at.input.deleted()) < 0 {
                return Some((Run { time: run.time.max(arrival.time), ..run }, false));
            }
            let place = places.freed(number - places.turns.shift);
            let own = at.input.crosses_at(number, kind.crossbar);
            return Some((follow(run.count, own, kind.crossbar, [arrival, place]), true));
        }
        Some((run, false))
    }

    /// Stores when the credit for the rest of a departing head packet is usable; returns when its end leaves, as far as
    /// that does not depend on its arrival.
    pub(super) fn keep_credit(&mut self, link: u32) -> Time {
        let at = &self.links[link as usize];
        let to = &self.links[at.input.output() as usize];
        let end = to.output.end();
        loop {
            let at = &self.links[link as usize];
            if ahead(end, at.credit.next_quantum()) <= 0 {
                return self.leaving(at, end - Wrapping(1)).expect("the packet has left").0.time;
            }
            let (run, exact) = self.leaving(at, at.credit.next_quantum()).expect("the packet has left");
            let at = &mut self.links[link as usize];
            at.credit.keep(&self.kinds[at.kind as usize], &run, exact);
        }
    }

    /// Lets a packet leave its input buffer, if it is known when its end does.
    pub(super) fn try_left(&mut self, link: u32) {
        let at = &self.links[link as usize];
        let to = &self.links[at.input.output() as usize];
        let end = to.output.end();
        let places = to.wire.known() + Wrapping(self.kind(to).output_buffer);
        if ahead(at.wire.known(), end) < 0 || ahead(places, to.output.granted()) < 0 {
            return;
        }
        if at.plain {
            return self.leave_plain::<true>(link, at.input.output());
        }
        let (output, arrival) = (at.input.output(), at.last_arrival(self.kind(at), &self.crowd));
        let place = self.leaving(at, end - Wrapping(1)).expect("it is known").0.time;
        if self.kind(at).fails && place.max(arrival) >= to.wire.horizon() {
            return;
        }
        let place = self.keep_credit(link);
        self.left::<true>(link, output, Some(place.max(arrival)));
    }

    /// Lets a packet leave the input buffer of a plain link for its output. Everything that this depends on must be
    /// known. A separate function, so that the common path stays small.
    #[inline(never)]
    pub(super) fn leave_plain<const PACED: bool>(&mut self, link: u32, output: u32) {
        self.left::<PACED>(link, output, None);
    }

    /// Stores in the output buffer when those characters of a packet are ready that have left the input buffer and have
    /// not been sent, if there are any; unless all will be ready anyway.
    #[cold]
    pub(super) fn hand_over(&mut self, link: u32, output: u32) {
        let to = &self.links[output as usize];
        let worm = to.worm(to.tail(), &self.crowd);
        if worm.bound {
            return;
        }
        let (mut next, end) = (later(to.wire.known(), worm.first), worm.end);
        let (line, way) = (self.passing(link), to.output.way());
        let last = line.run_from(end - Wrapping(1) + to.output.shift()).later(way).time;
        // Characters that are not known to be sent yet wait for an event that has not happened.
        if last <= to.wire.free().max(self.wheel.now()) {
            return;
        }
        let shift = to.output.shift();
        while next != end {
            let mut run = self.passing(link).run_from(next + shift).later(way);
            run.count = run.count.min((end - next).0);
            self.links[output as usize].output.keep_entered(run);
            next += run.count;
        }
        let to = &mut self.links[output as usize];
        to.worm_mut(to.tail(), &mut self.crowd).bind();
    }

    /// Returns the times on which the supply of an output depends: its characters are ready `OutputBuffer::way` later.
    pub(super) fn passing(&self, link: u32) -> &Timeline {
        let at = &self.links[link as usize];
        if at.stepwise { &self.exits[link as usize] } else { at.wire.starts() }
    }

    /// Makes room for another piece of a link's timeline.
    #[cold]
    pub(super) fn make_room(&mut self, link: u32) {
        let at = &self.links[link as usize];
        let mut keep = at.wire.known();
        let kind = self.kind(at);
        if kind.stepwise {
            keep = earlier(keep, self.exits[link as usize].known());
        } else if !kind.to_terminal {
            keep = earlier(keep, self.next_supplied(link));
        }
        if kind.long {
            keep = earlier(keep, at.credit.next_given_back(kind));
        }
        keep = earlier(keep, self.next_place(link));
        self.links[link as usize].wire.make_room(keep);
    }

    /// Returns the first character in the output buffer of a link, or before it, whose place is still looked up.
    fn next_place(&self, link: u32) -> Number {
        let at = &self.links[link as usize];
        let kind = self.kind(at);
        if kind.from_terminal {
            return at.wire.known();
        }
        let places = Wrapping(kind.output_buffer);
        // Where links fail, the packet may end early.
        let end = if kind.fails { at.wire.known() } else { at.output.granted() };
        let keep = end - places - Wrapping(1);
        let Some(from) = self.links.get(at.output.holder() as usize) else { return keep };
        let stepwise = self.kind(from).stepwise;
        let next = if stepwise {
            self.exits[at.output.holder() as usize].known()
        } else {
            from.credit.next_given_back(self.kind(from))
        };
        earlier(keep, next - at.output.shift() - places)
    }

    /// Stores, for characters whose places nobody will look up, a lower limit of when the crossbar can use them.
    pub(super) fn free_unseen(&mut self, link: u32, count: u32) {
        let at = &self.links[link as usize];
        if !self.kind(at).puts_off {
            return;
        }
        if !at.wire.has_room() {
            self.make_room(link);
        }
        let at = &mut self.links[link as usize];
        at.wire.put_off_unseen(count, self.kinds[at.kind as usize].source_crossbar);
    }

    /// Returns the first character in an input buffer that has not been sent on.
    pub(super) fn next_supplied(&self, link: u32) -> Number {
        let at = &self.links[link as usize];
        if at.input.output() == NONE {
            let none = at.head() == NONE;
            return if none { at.wire.known() } else { at.worm(at.head(), &self.crowd).first };
        }
        let to = &self.links[at.input.output() as usize];
        let known = to.wire.known();
        // The packet may have left already, before its departure here is processed.
        let gone = to.tail() == NONE;
        to.output.shift() + if gone { known } else { later(known, to.worm(to.tail(), &self.crowd).first) }
    }
}

/// Which place in the output buffer of a link becomes free for which character in the input buffer before it, and up to
/// which character this is known.
#[derive(Clone, Copy)]
pub(super) struct Turns {
    /// Character `n` of the packet takes the place of character `n - shift` of the link.
    pub shift: Number,
    /// One after the last character of the packet in the input buffer.
    pub end: Number,
    /// One after the last character whose place is known to become free.
    pub stop: Number,
}

/// When there are places in the output buffer of a link.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    pub turns: Turns,
    /// When characters start. Their places become free `late` ticks later, a character's time, and may be put off by the
    /// crossbar.
    pub line: &'a Timeline,
    pub late: u32,
    /// Ticks between two characters that cross to them.
    pub crossbar: u32,
}

impl Link {
    /// Returns when the sent end of the head packet arrives.
    #[inline(always)]
    fn last_arrival(&self, kind: &Kind, crowd: &Crowd) -> Time {
        kind.arrival(self.worm(self.head(), crowd).time - Time::from(kind.end))
    }

    /// Returns when the sent end of the head packet of a plain link leaves for its output.
    pub fn departure_of_end(&self, kind: &Kind, to: &Link, next: &Kind, crowd: &Crowd) -> Time {
        let places = to.places(next, kind.crossbar);
        let last = places.turns.end - Wrapping(1);
        let own = self.input.crosses_at(last, kind.crossbar);
        model::departure(self.last_arrival(kind, crowd), own, places.free_at(last))
    }

    /// Takes or stores the credit for the rest of the departing head packet of a plain link; returns when its end
    /// leaves, which arrives at a tick.
    #[inline(always)]
    pub fn end_leaves<const PACED: bool>(
        &mut self,
        kind: &Kind,
        to: &Link,
        next: &Kind,
        arrival: Time,
        crowd: &Crowd,
        now: Time,
    ) -> Time {
        let crossbar = if PACED { kind.crossbar } else { 0 };
        let places = to.places(next, crossbar);
        let (last, number) = (places.turns.end - Wrapping(1), self.credit.next_quantum());
        let own = self.input.crosses_at(last, crossbar);
        let leaving = places.last_leaving(self, number);
        if let Some((run, true)) = leaving {
            self.take_or_keep(kind, &run, crowd, now);
            return model::departure(arrival, own, run.at(run.count - 1));
        }
        let (place, rest) = (places.free_at(last), ahead(places.turns.end, number));
        if (own >= place) & (rest > 0) & (ahead(number, self.input.deleted()) >= 0) {
            // No place is free later than the crossbar could use it.
            let time = self.input.crosses_at(number, crossbar);
            self.take_or_keep(kind, &Run { count: rest as u32, step: crossbar, time }, crowd, now);
        } else if let Some((run, false)) = leaving {
            if !self.takes_last(kind, &places, run.count, crowd, now) {
                self.keep_rest(kind, to, next, crossbar);
            }
        } else if rest > 0 {
            self.take_or_keep_rest(kind, to, next, crowd, now, crossbar);
        }
        model::departure(arrival, own, place)
    }

    /// Takes the credit for characters that leave in a straight run, the first one returning a quantum, if it is in time,
    /// or stores when it is usable.
    #[inline(always)]
    fn take_or_keep(&mut self, kind: &Kind, run: &Run, crowd: &Crowd, now: Time) {
        if !self.takes_run(kind, run, crowd, now) {
            self.credit.keep(kind, run, true);
        }
    }

    /// Takes the credit for the rest of the head packet of a plain link if it is in time, or stores when it is usable,
    /// run by run.
    #[inline(never)]
    fn take_or_keep_rest(
        &mut self,
        kind: &Kind,
        to: &Link,
        next: &Kind,
        crowd: &Crowd,
        now: Time,
        crossbar: u32,
    ) {
        let places = to.places(next, crossbar);
        if !self.takes_until(places.turns.end, kind, next, &places, crowd, now) {
            self.keep_rest(kind, to, next, crossbar);
        }
    }

    /// Stores when that credit is usable.
    #[inline(never)]
    fn keep_rest(&mut self, kind: &Kind, to: &Link, next: &Kind, crossbar: u32) {
        let places = to.places(next, crossbar);
        while ahead(places.turns.end, self.credit.next_quantum()) > 0 {
            let run = places.crossing(self, self.credit.next_quantum());
            self.credit.keep(kind, &run, true);
        }
    }

    /// Takes credit from departed packets for the next characters of the current worm, from its time to its end, and
    /// all credit that is in time for the following ones.
    #[inline(always)]
    pub fn use_kept_credit(&mut self, kind: &Kind, time: Time, end: Number) {
        let most = (end - self.wire.known()).0;
        let start = self.credit.take_kept(kind, self.wire.free().max(time), most);
        self.wire.hold_until(start);
    }

    /// Returns the order of places.
    #[inline(always)]
    pub fn turns(&self, kind: &Kind) -> Turns {
        let shift = self.output.shift() + Wrapping(kind.output_buffer);
        let end = self.output.end();
        Turns { shift, end, stop: earlier(end, self.wire.known() + shift) }
    }

    /// Returns the places in the output buffer, for characters that cross a crossbar.
    #[inline(always)]
    pub fn places(&self, kind: &Kind, crossbar: u32) -> Places<'_> {
        Places { turns: self.turns(kind), line: self.wire.starts(), late: kind.character, crossbar }
    }

    /// Stores when the crossbar can use the places of characters that were sent just now in a run: after an end of packet
    /// one place may be free sooner after the other than it can use them.
    #[inline(always)]
    pub fn free_places(&mut self, kind: &Kind, run: &Run) {
        if kind.puts_off {
            self.wire.put_off(run, kind.source_crossbar);
        }
    }
}

impl Turns {
    /// Whether the places of the whole packet are known.
    #[inline(always)]
    pub fn all(&self) -> bool {
        self.stop == self.end
    }

    /// Whether it is known when a character of a packet can leave, if its arrival does not delay it.
    #[inline(always)]
    pub fn beyond(&self, at: &Link, number: Number) -> bool {
        ahead(self.stop(at, number), number) > 0
    }

    /// Returns for how many characters from one on this is known.
    pub fn beyond_by(&self, at: &Link, number: Number) -> i32 {
        ahead(later(self.stop(at, number), self.stop), number)
    }

    /// Returns one after the last character that is known to leave, at or after a number.
    #[inline(always)]
    fn stop(&self, at: &Link, number: Number) -> Number {
        // Deleted characters need no place.
        if ahead(number, at.input.deleted()) < 0 { at.input.deleted() } else { self.stop }
    }
}

impl Places<'_> {
    /// Returns the characters that a link without credit may send on the credit for characters that leave in two runs, if
    /// this is in time once the first quantum is, and when that is.
    #[inline(always)]
    pub fn credit_of(&[run, last]: &[Run; 2], kind: &Kind, own: Time, most: u32) -> Option<(u32, Time)> {
        let own = own.max(run.time + Time::from(kind.credit_delay));
        // Neither of the two runs is slower than this link. If the first character of each is in time, so are all.
        let due = own + Time::from(run.count) * Time::from(kind.character);
        let in_step = run.step.max(last.step) <= kind.character;
        let in_time = last.time + Time::from(kind.credit_delay) <= due;
        if !(in_step & in_time) {
            return None;
        }
        Some((kind.quanta(most.min(run.count + last.count)) * kind.quantum, own))
    }

    /// Returns when the places of all remaining characters of a packet become free, from one on, if they are those of the
    /// last piece, and whether the characters leave then; if not, the crossbar delays some.
    #[inline(always)]
    pub fn last_leaving(&self, at: &Link, number: Number) -> Option<(Run, bool)> {
        let last = self.line.last_run();
        let first = self.line.known() - Wrapping(last.count);
        let (rest, into) = (ahead(self.turns.end, number), ahead(number - self.turns.shift, first));
        let run = Run {
            count: rest as u32,
            step: last.step,
            time: last.at(into.max(0) as u32) + Time::from(self.late),
        };
        let own = at.input.crosses_at(number, self.crossbar);
        let all = (rest > 0) & (into >= 0) & (ahead(number, at.input.deleted()) >= 0);
        if self.crossbar == 0 {
            return (all & (run.time > own)).then_some((run, true));
        }
        all.then(|| (run, (run.time > own) & !self.line.lags(into as u32, self.crossbar)))
    }

    /// Returns when a character leaves, if its arrival does not delay it.
    #[inline(always)]
    pub fn leaves_at(&self, at: &Link, number: Number) -> Time {
        self.free_at(number).max(at.input.crosses_at(number, self.crossbar))
    }

    /// Returns when the place of a character is free.
    #[inline(always)]
    pub fn free_at(&self, number: Number) -> Time {
        self.line.place(number - self.turns.shift, self.crossbar) + Time::from(self.late)
    }

    /// When the places become free of characters that were sent, from one on, as long as they do so in a straight run.
    #[inline(always)]
    pub fn freed(&self, sent: Number) -> Run {
        self.line.places_from(sent, self.crossbar).later(self.late)
    }

    /// Returns when characters of a packet whose places are all known leave, from one on, while they do so in a
    /// straight run.
    #[inline(always)]
    fn crossing(&self, at: &Link, number: Number) -> Run {
        let (own, deleted) = (at.input.crosses_at(number, self.crossbar), ahead(at.input.deleted(), number));
        if deleted > 0 {
            cold_path();
            return Run { count: deleted as u32, step: self.crossbar, time: own };
        }
        let place = self.freed(number - self.turns.shift);
        let rest = ahead(self.turns.end, number) as u32;
        follow(place.count.min(rest), own, self.crossbar, [place])
    }

    /// Returns when characters leave that no arrival delays, from one on, while their places become free in a straight
    /// run. The first time holds; the others leave at that time or later.
    #[inline(always)]
    pub fn leaving(&self, at: &Link, number: Number) -> Option<Run> {
        let rest = ahead(self.turns.stop(at, number), number);
        if rest <= 0 {
            return None;
        }
        let own = at.input.crosses_at(number, self.crossbar);
        if ahead(number, at.input.deleted()) < 0 {
            return Some(Run { count: 1, step: 0, time: own });
        }
        let run = self.freed(number - self.turns.shift);
        Some(Run { count: run.count.min(rest as u32), time: run.time.max(own), ..run })
    }
}
