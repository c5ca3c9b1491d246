//! Packets that stream to their terminal over long cables: sent to their ends on all their links, in one loop.
//!
//! On a long cable a link sends a bufferful and then waits until its credit has come back, character for character in
//! the pattern in which the last bufferful arrived and left. Links of several paces cut that pattern into pieces of a
//! few characters, so runs gain nothing, and neighbours wait for each other in turn. But when the head of a packet has
//! reached its terminal, nothing unknown is in its way: all its times follow from each other.
//!
//! * Equation: `S(m) = max(supply, wire, credit)`, character by character, for all links of the packet in turn until
//!   its end is sent on all of them.
//! * Conditions: no link of the packet has a horizon or is [stepwise](super::stepwise), each has begun to send it and
//!   has nothing else in its input buffer, headers have been deleted, and the crossbars are not behind.
//! * Otherwise nothing is done.
//! * Gain: 226,770 to 28,578 with SpaceWire over cables of 1 km (64 terminals, 1000 B, 15 % load), together with links
//!   that are left behind.
//!
//! Only what is looked up later is stored: the last characters. Credit for what is still to leave is known, and kept.

use std::hint::cold_path;
use std::num::Wrapping;

use super::link::Link;
use super::queue::Run;
use super::state::Network;
use super::timeline::{Number, ahead};
use crate::fabric::NONE;
use crate::kernel::Time;

/// The links of a packet, from that of its source on, and when its characters start on each, by their places: the end
/// of the packet has the last one.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    rows: Vec<Row>,
    times: Vec<Time>,
    /// When kept credit can be used.
    kept: Vec<Time>,
    places: usize,
}

/// A link of a packet.
#[derive(Clone, Debug, Default)]
struct Row {
    link: u32,
    /// Place of the first character that was not known at the beginning, and of the first that is not now.
    first: usize,
    next: usize,
    /// Place of the first character for which there is no credit.
    credited: usize,
    /// Place of the character that returns the next quantum; the first of these is earlier.
    returns: isize,
    /// The kept quanta that have not been taken.
    kept: [usize; 2],
    free: Time,
    /// Number of the character at place 0.
    number: Number,
    quantum: usize,
    output_buffer: usize,
    character: Time,
    way: Time,
    arrival: Time,
    credit_delay: Time,
    crossbar: Time,
    /// When the character at place 0 would cross.
    crosses: Time,
}

impl Network {
    /// Sends the rest of a packet that streams to the terminal at the end of a link.
    pub(super) fn stream_in_rounds(&mut self, link: u32) {
        let mut rounds = std::mem::take(&mut self.rounds);
        if self.find_rounds(link, &mut rounds) && self.go_round(&mut rounds) && !self.lags_behind(&rounds) {
            self.end_rounds(&rounds);
        }
        self.rounds = rounds;
    }

    /// Finds the links of a packet; false if it does not stream, or over no long cable.
    fn find_rounds(&self, link: u32, rounds: &mut Rounds) -> bool {
        rounds.rows.clear();
        rounds.kept.clear();
        let (mut at, mut most, mut long) = (link, 0, false);
        let mut end = self.links[link as usize].output.granted();
        loop {
            let here = &self.links[at as usize];
            let Some(unsent) = self.unsent_in_rounds(at, end) else { return false };
            let returns = if here.to_terminal { end } else { here.credit.next_quantum() };
            // With a short cable only those that are still supplied are stored.
            let is_short = !here.to_terminal && !self.kind(here).long;
            if is_short && ahead(returns, self.next_supplied(at)) < 0 {
                return false;
            }
            most = most.max(unsent as i32).max(ahead(end, returns));
            long |= self.kind(here).long;
            rounds.rows.push(Row { link: at, number: end, first: unsent as usize, ..Row::default() });
            // Whatever else was granted the link, this packet has left the one before.
            if unsent == 0 || here.output.holder() == NONE || !here.sends_newest() {
                break;
            }
            (at, end) = (here.output.holder(), here.output.end());
        }
        rounds.rows.reverse();
        if long && rounds.rows.len() > 1 {
            self.fill_rounds(rounds, most as usize);
        }
        long && rounds.rows.len() > 1
    }

    /// Returns how many characters of a packet with an end a link has not sent; None if it has begun none of them, or
    /// if more than its wire, credit and supply limits it.
    fn unsent_in_rounds(&self, link: u32, end: Number) -> Option<u32> {
        let at = &self.links[link as usize];
        let to_terminal = at.to_terminal;
        if at.stepwise || !to_terminal && ahead(at.credit.next_quantum(), at.input.deleted()) < 0 {
            return None;
        }
        if !to_terminal && ahead(at.wire.known(), end) >= 0 {
            return Some(0);
        }
        if at.has_sent_all() || at.wire.horizon() != Time::MAX {
            return None;
        }
        let worm = at.worm(at.sending(), &self.crowd);
        let sends = worm.end == end
            && ahead(at.wire.known(), worm.first) > 0
            && (at.sending() == at.head() || to_terminal)
            && !worm.bound;
        sends.then(|| (end - at.wire.known()).0)
    }

    /// Enters the state of the links of a packet; `most`: how many of its characters are to be known.
    fn fill_rounds(&self, rounds: &mut Rounds, most: usize) {
        let Rounds { rows, times, kept, places } = rounds;
        *places = most;
        times.resize(times.len().max(rows.len() * most), 0);
        let mut supplies = most;
        for (row, times) in rows.iter_mut().zip(times.chunks_exact_mut(most)).rev() {
            let at = &self.links[row.link as usize];
            let (kind, unsent) = (self.kind(at), row.first);
            let to_terminal = at.to_terminal;
            row.number -= Wrapping(most as u32);
            row.first = most - unsent;
            row.next = row.first;
            row.returns = ahead(at.credit.next_quantum(), row.number) as isize;
            row.kept = [kept.len(); 2];
            if !to_terminal {
                kept.extend(at.credit.kept_times());
                row.kept[1] = kept.len();
            }
            row.credited = if to_terminal { most } else { row.first + at.credit.characters() as usize };
            row.free = at.wire.free();
            row.quantum = kind.quantum as usize;
            row.output_buffer = kind.output_buffer as usize;
            row.character = Time::from(kind.character);
            row.way = Time::from(at.output.way());
            row.arrival = Time::from(kind.arrival);
            row.credit_delay = Time::from(kind.credit_delay);
            row.crossbar = Time::from(kind.crossbar);
            row.crosses =
                at.input.exit_free() - Time::from(ahead(at.input.front(), row.number)) * row.crossbar;
            let first = if to_terminal { supplies } else { supplies.min(row.returns.max(0) as usize) };
            copy_starts(at, row.number, &mut times[..row.first], first);
            supplies = row.first;
        }
    }

    /// Computes when all characters of a packet start on its links; false if that does not follow.
    fn go_round(&self, rounds: &mut Rounds) -> bool {
        let most = rounds.places;
        loop {
            let mut moves = false;
            for index in 0..rounds.rows.len() {
                moves |= self.go_on_in_rounds(rounds, index);
            }
            if rounds.rows.iter().all(|row| row.next == most) {
                return true;
            }
            if !moves {
                return false;
            }
        }
    }

    /// Computes when characters start on a link, as far as that is known; returns whether there are any.
    fn go_on_in_rounds(&self, rounds: &mut Rounds, index: usize) -> bool {
        let Rounds { rows, times, kept, places } = rounds;
        let (before, rest) = times.split_at_mut(index * *places);
        let (own, after) = rest.split_at_mut(*places);
        let (rows, others) = rows.split_at_mut(index + 1);
        // What has left a terminal is there from the beginning.
        let until = if index > 0 { rows[index - 1].next } else { *places };
        let supply = if index > 0 { &before[(index - 1) * *places..] } else { &[] };
        let row = &mut rows[index];
        let (begun, way, pace) = (row.next, row.way, row.character);
        let (mut next, mut time) = (row.next, row.free);
        while next < until {
            if next == row.credited {
                let Some(credit) = self.next_credit(row, others.first(), next, own, after, kept) else {
                    break;
                };
                time = time.max(credit);
            }
            let stop = until.min(row.credited);
            time = if index == 0 {
                follow_wire(&mut own[next..stop], time, pace)
            } else {
                follow_supply(&mut own[next..stop], &supply[next..stop], way, time, pace)
            };
            next = stop;
        }
        (row.free, row.next) = (time, next);
        next > begun
    }

    /// Takes the next quantum of credit of a link that sends a character next; returns when it can be used, if that is
    /// known.
    #[inline(always)]
    fn next_credit(
        &self,
        row: &mut Row,
        to: Option<&Row>,
        next: usize,
        own: &[Time],
        after: &[Time],
        kept: &[Time],
    ) -> Option<Time> {
        let [first, last] = row.kept;
        if first < last {
            cold_path();
            row.kept[0] += 1;
            row.credited += row.quantum;
            return Some(kept[first]);
        }
        let (returns, to) = (row.returns as usize, to?);
        if (returns >= next) | (returns >= to.next + to.output_buffer) {
            return None;
        }
        let place = if returns >= to.first + to.output_buffer {
            after[returns - to.output_buffer] + to.character
        } else {
            cold_path();
            self.place_before_rounds(row, to)
        };
        let crosses = row.crosses + returns as Time * row.crossbar;
        row.credited += row.quantum;
        row.returns += row.quantum as isize;
        Some((own[returns] + row.arrival).max(place).max(crosses) + row.credit_delay)
    }

    /// Returns when the place of the character that returns the next quantum is free, if it was known at the beginning.
    fn place_before_rounds(&self, row: &Row, to: &Row) -> Time {
        let [at, next] = [&self.links[row.link as usize], &self.links[to.link as usize]];
        let places = next.places(self.kind(next), self.kind(at).crossbar);
        places.free_at(row.number + Wrapping(row.returns as u32))
    }

    /// Whether the crossbar before a link would be behind with what the link sends.
    fn lags_behind(&self, rounds: &Rounds) -> bool {
        rounds.rows.iter().zip(rounds.times.chunks_exact(rounds.places)).any(|(row, times)| {
            let at = &self.links[row.link as usize];
            times.get(row.first).is_some_and(|&start| at.is_behind(self.kind(at), start))
        })
    }

    /// Stores what is still looked up, and handles the consequences.
    fn end_rounds(&mut self, rounds: &Rounds) {
        let most = rounds.places;
        for (index, row) in rounds.rows.iter().enumerate() {
            let own = &rounds.times[index * most..][..most];
            if row.first < most {
                self.store_round(row, own);
            }
            if let Some(to) = rounds.rows.get(index + 1) {
                self.keep_round(row.clone(), to, own, &rounds.times[(index + 1) * most..]);
            }
        }
        for row in &rounds.rows {
            if !self.links[row.link as usize].has_sent_all() {
                self.wake(row.link);
            }
        }
        for row in rounds.rows.iter().rev().skip(1) {
            self.try_left(row.link);
        }
    }

    /// Stores when the last characters of a packet start on a link, and that it has sent all.
    fn store_round(&mut self, row: &Row, own: &[Time]) {
        let last = own.len().saturating_sub(row.output_buffer + 1).max(row.first);
        if last > row.first {
            let count = (last - row.first) as u32;
            self.links[row.link as usize].wire.send_unseen(count);
            if self.paced {
                self.free_unseen(row.link, count);
            }
        }
        let mut from = last;
        while from < own.len() {
            let pace = |place: usize| own.get(place).map(|time| time - own[place - 1]);
            let step = pace(from + 1).unwrap_or(row.character);
            let mut to = from + 1;
            while pace(to) == Some(step) {
                to += 1;
            }
            // A step of its own is a gap.
            let (to, step) = if to - from > 2 { (to, step) } else { (from + 1, row.character) };
            let step = step as u32;
            self.store_run(
                row.link,
                &Run { count: (to - from) as u32, step, time: own[from] },
                to == own.len(),
            );
            from = to;
        }
        let at = &mut self.links[row.link as usize];
        let kind = &self.kinds[at.kind as usize];
        let (number, from_terminal, to_terminal) = (at.sending(), kind.from_terminal, kind.to_terminal);
        if !to_terminal {
            at.credit.pay(kind, (own.len() - row.first) as u32);
        }
        at.credit.set_waits(false);
        let gone = at.sent(number, &mut self.crowd);
        self.sent(row.link, &gone, from_terminal, to_terminal);
    }

    /// Stores a run of characters; `last`: the end of the packet is the last.
    fn store_run(&mut self, link: u32, run: &Run, last: bool) {
        if !self.links[link as usize].wire.has_room() {
            self.make_room(link);
        }
        let at = &mut self.links[link as usize];
        let kind = &self.kinds[at.kind as usize];
        at.wire.send(run, if last { kind.end } else { kind.character });
        at.free_places(kind, run);
        self.extensions += 1;
    }

    /// Keeps the credit for the characters of a packet that leave after its end was sent.
    fn keep_round(&mut self, mut row: Row, to: &Row, own: &[Time], after: &[Time]) {
        row.kept = [0; 2];
        while row.returns < own.len() as isize {
            let time = self.next_credit(&mut row, Some(to), own.len(), own, after, &[]);
            let time = time.expect("all is known") - row.credit_delay;
            let at = &mut self.links[row.link as usize];
            at.credit.keep(&self.kinds[at.kind as usize], &Run { count: 1, step: 0, time }, true);
        }
    }
}

/// Computes when characters start that the wire alone limits, the first at a tick; returns when the next one can.
#[inline(always)]
fn follow_wire(own: &mut [Time], mut time: Time, pace: Time) -> Time {
    for start in own {
        *start = time;
        time += pace;
    }
    time
}

/// The same for characters that are ready some ticks after their start on the link before. Mostly these are a quantum.
#[inline(always)]
fn follow_supply(own: &mut [Time], supply: &[Time], way: Time, mut time: Time, pace: Time) -> Time {
    let mut send = |start: &mut Time, supply: Time| {
        *start = time.max(supply + way);
        time = *start + pace;
    };
    if let (Ok(own), Ok(supply)) = (<&mut [Time; 8]>::try_from(&mut *own), <&[Time; 8]>::try_from(supply)) {
        for place in 0..8 {
            send(&mut own[place], supply[place]);
        }
        return time;
    }
    for (start, supply) in own.iter_mut().zip(supply) {
        send(start, *supply);
    }
    time
}

/// Copies when characters start on a link from a place on, up to the first one that is not known.
fn copy_starts(at: &Link, number: Number, times: &mut [Time], first: usize) {
    let mut place = first;
    while place < times.len() {
        let run = at.wire.starts().run_from(number + Wrapping(place as u32));
        let stop = times.len().min(place + run.count as usize);
        for (into, time) in times[place..stop].iter_mut().enumerate() {
            *time = run.at(into as u32);
        }
        place = stop;
    }
}
