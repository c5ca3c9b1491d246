//! Sources: the packets that terminals have made, those that wait, and those that were refused.
//!
//! A source is asked for its next packet when its link has sent the last one, so open sources need no
//! events and no stored queue of their own: arrivals are drawn in order, as far as they are needed.

use std::collections::VecDeque;

use super::draw::{Drawing, Packet};
use crate::fabric::{Fabric, NONE, arrival, is_open, length, target};
use crate::kernel::Time;
use crate::kernel::random::{Family, streams};

/// Packets made and refused up to a moment; one that is for several ports counts as this many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets made by all sources.
    pub offered: u64,
    /// Their payload characters.
    pub offered_chars: u64,
    /// Packets that found the source's queue full.
    pub refused: u64,
    /// Their payload characters.
    pub refused_chars: u64,
    /// Packets that have been made and wait at their source.
    pub waiting: u64,
}

#[derive(Clone, Debug)]
struct Source {
    drawing: Drawing,
    /// The next arrival of an open source, drawn already.
    ahead: Option<Packet>,
    /// Arrived and waiting; used only when the queue is limited.
    waiting: VecDeque<Packet>,
}

/// All sources of a fabric.
#[derive(Clone, Debug)]
pub struct Sources {
    sources: Vec<Source>,
    totals: Totals,
    /// Packets that would be made later than this are not made.
    last: Time,
}

impl Sources {
    /// Sources at time zero.
    pub fn new(fabric: &Fabric) -> Self {
        let streams = streams(fabric.seed, Family::Source, fabric.terminals as usize);
        let source = |(terminal, stream)| {
            let mut drawing = Drawing::new(stream);
            let ahead = drawing.begin(fabric, terminal);
            Source { drawing, ahead, waiting: VecDeque::new() }
        };
        let sources = streams.into_iter().enumerate().map(source).collect();
        Self { sources, totals: Totals::default(), last: Time::MAX }
    }

    /// Has the sources make nothing more after this tick. What was made before is still handed out.
    pub fn stop_after(&mut self, last: Time) {
        self.last = last;
    }

    /// The next packet of a terminal whose link is free from `free_at` on, or nothing if there is none.
    pub fn next(&mut self, fabric: &Fabric, terminal: usize, free_at: Time) -> Option<Packet> {
        if Self::is_open(fabric, terminal) {
            return self.open(fabric, terminal, free_at);
        }
        let packet = self.sources[terminal].drawing.closed(fabric, terminal, free_at)?;
        if packet.created > self.last {
            return None;
        }
        self.totals.count(fabric, &packet);
        Some(packet)
    }

    fn open(&mut self, fabric: &Fabric, terminal: usize, free_at: Time) -> Option<Packet> {
        match fabric.source_queue[terminal] {
            0 => {}
            // What is made at the very tick can still leave.
            NONE => self.pull(fabric, terminal, (free_at - 1).min(self.last), 0),
            _ => self.pull(fabric, terminal, free_at.min(self.last), places(fabric, terminal)),
        }
        let last = self.last;
        let source = &mut self.sources[terminal];
        let mut packet = match source.waiting.pop_front() {
            Some(packet) => packet,
            None if source.ahead.is_none_or(|packet| packet.created > last) => return None,
            None => {
                let packet = source.arrive(fabric, terminal)?;
                self.totals.count(fabric, &packet);
                packet
            }
        };
        packet.dispatch = packet.created.max(free_at);
        Some(packet)
    }

    /// Moves every arrival up to `now` into the limited queue, refusing those that find it full.
    fn pull(&mut self, fabric: &Fabric, terminal: usize, now: Time, limit: usize) {
        let alike = are_alike(fabric, terminal);
        let source = &mut self.sources[terminal];
        if limit == 0 && !alike {
            let (refused, chars) = source.refuse(fabric, terminal, now);
            self.totals.pass_over(refused, chars);
            return;
        }
        while let Some(next) = source.ahead.filter(|packet| packet.created <= now) {
            if alike && source.waiting.len() >= limit {
                let skipped = source.skip(fabric, terminal, now) * fabric.copies(next.target);
                self.totals.pass_over(skipped, skipped * u64::from(next.length));
            }
            let Some(packet) = source.arrive(fabric, terminal) else { return };
            self.totals.count(fabric, &packet);
            if source.waiting.len() < limit {
                source.waiting.push_back(packet);
            } else {
                self.totals.refuse(fabric, &packet);
            }
        }
    }

    /// Draws the arrivals up to `now` at sources with few places or none, before it is asked for; how many. No source may
    /// be asked in between or have been asked after it: then what is refused is the same whenever it is counted.
    pub fn catch_up(&mut self, fabric: &Fabric, now: Time) -> u64 {
        let before = self.totals.offered;
        let until = now.min(self.last);
        for terminal in 0..self.sources.len() {
            if Self::may_refuse(fabric, terminal) {
                self.pull(fabric, terminal, until, places(fabric, terminal));
            }
        }
        self.totals.offered - before
    }

    /// Packets offered, refused and waiting up to and including `now`.
    ///
    /// `handed_out` are the packets given by [`Sources::next`] that have not been dispatched: those made later
    /// than `now` do not count, the others wait. Draws the arrivals up to `now`, so ask a copy in mid-run.
    pub fn totals(&mut self, fabric: &Fabric, now: Time, handed_out: impl Iterator<Item = Packet>) -> Totals {
        let until = now.min(self.last);
        for terminal in 0..self.sources.len() {
            if Self::is_open(fabric, terminal) {
                match fabric.source_queue[terminal] {
                    0 => self.count_waiting(fabric, terminal, until),
                    _ => self.pull(fabric, terminal, until, places(fabric, terminal)),
                }
            }
        }
        let mut totals = self.totals;
        let waiting = self.sources.iter().flat_map(|source| &source.waiting);
        totals.waiting += waiting.map(|packet| fabric.copies(packet.target)).sum::<u64>();
        for packet in handed_out {
            let copies = fabric.copies(packet.target);
            if packet.created > now {
                totals.offered -= copies;
                totals.offered_chars -= copies * u64::from(packet.length);
            } else {
                totals.waiting += copies;
            }
        }
        totals
    }

    fn count_waiting(&mut self, fabric: &Fabric, terminal: usize, now: Time) {
        let source = &mut self.sources[terminal];
        while source.ahead.is_some_and(|packet| packet.created <= now) {
            let Some(packet) = source.arrive(fabric, terminal) else { return };
            self.totals.count(fabric, &packet);
            self.totals.waiting += fabric.copies(packet.target);
        }
    }

    /// When an open source makes its next packet, if it does; for terminals that keep what waits themselves.
    pub fn next_arrival(&self, terminal: usize) -> Option<Time> {
        self.sources[terminal].ahead.map(|packet| packet.created).filter(|&created| created <= self.last)
    }

    /// Takes that packet.
    pub fn take_arrival(&mut self, fabric: &Fabric, terminal: usize) -> Option<Packet> {
        let packet = self.sources[terminal].arrive(fabric, terminal)?;
        self.totals.count(fabric, &packet);
        Some(packet)
    }

    /// Counts a packet that was taken and found no place.
    pub fn refuse(&mut self, fabric: &Fabric, packet: &Packet) {
        self.totals.refuse(fabric, packet);
    }

    /// Whether a source has made all that it ever makes, and nothing of it waits.
    pub fn is_over(&self, terminal: usize) -> bool {
        let source = &self.sources[terminal];
        source.ahead.is_none() && source.waiting.is_empty()
    }

    /// Whether a terminal makes packets at times of its own, however many wait.
    pub fn is_open(fabric: &Fabric, terminal: usize) -> bool {
        is_open(fabric.source_arrival[terminal])
    }

    /// Mean ticks between the packets of a terminal that makes them at times of its own.
    pub fn interval_ticks(fabric: &Fabric, terminal: usize) -> f64 {
        fabric.source_interval_grains[terminal] * fabric.grain_ticks as f64
    }

    /// Whether a terminal makes packets however many wait, and has no place for some of them.
    pub fn may_refuse(fabric: &Fabric, terminal: usize) -> bool {
        Self::is_open(fabric, terminal) && fabric.source_queue[terminal] != 0
    }
}

/// Whether a terminal makes packets at equal intervals that differ in nothing else, and draws nothing for them.
fn are_alike(fabric: &Fabric, terminal: usize) -> bool {
    matches!(fabric.source_arrival[terminal], arrival::CONSTANT | arrival::TOGETHER)
        && fabric.source_target[terminal] == target::FIXED
        && fabric.source_length[terminal] == length::FIXED
        && fabric.via_switch.is_empty()
}

/// Packets that may wait at a source that refuses others.
pub(super) fn places(fabric: &Fabric, terminal: usize) -> usize {
    match fabric.source_queue[terminal] {
        NONE => 0,
        places => places as usize,
    }
}

impl Totals {
    fn count(&mut self, fabric: &Fabric, packet: &Packet) {
        let copies = fabric.copies(packet.target);
        self.offered += copies;
        self.offered_chars += copies * u64::from(packet.length);
    }

    fn refuse(&mut self, fabric: &Fabric, packet: &Packet) {
        let copies = fabric.copies(packet.target);
        self.refused += copies;
        self.refused_chars += copies * u64::from(packet.length);
    }

    /// Counts packets that were made and refused at once.
    fn pass_over(&mut self, packets: u64, chars: u64) {
        self.offered += packets;
        self.offered_chars += chars;
        self.refused += packets;
        self.refused_chars += chars;
    }
}

impl Source {
    /// Takes the arrival drawn ahead and draws the one after it.
    fn arrive(&mut self, fabric: &Fabric, terminal: usize) -> Option<Packet> {
        let now = self.ahead?;
        self.ahead = self.drawing.arrival(fabric, terminal);
        Some(now)
    }

    /// Passes over the arrivals up to `now`; how many, and their characters.
    fn refuse(&mut self, fabric: &Fabric, terminal: usize, now: Time) -> (u64, u64) {
        let (mut refused, mut chars) = (0, 0);
        while let Some(next) = self.ahead.filter(|next| next.created <= now) {
            let copies = fabric.copies(next.target);
            refused += copies;
            chars += copies * u64::from(next.length);
            self.ahead = self.drawing.arrival(fabric, terminal);
        }
        (refused, chars)
    }

    /// Passes over arrivals that are alike, at least two before the last one up to `now`; how many.
    fn skip(&mut self, fabric: &Fabric, terminal: usize, now: Time) -> u64 {
        let Some(packet) = self.ahead else { return 0 };
        let skipped = self.drawing.skip(fabric, terminal, now);
        if skipped > 0 {
            let created = self.drawing.time(fabric);
            self.ahead = Some(Packet { created, dispatch: created, ..packet });
        }
        skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sources without places that make equal packets, from this time on.
    fn sources(fabric: &mut Fabric, clock: f64, interval: f64) -> Sources {
        fabric.terminals = 2;
        fabric.source_arrival = vec![arrival::CONSTANT; 2];
        fabric.source_interval_grains = vec![interval; 2];
        fabric.grain_ticks = 3;
        fabric.source_queue = vec![NONE, 3];
        fabric.source_target = vec![target::FIXED; 2];
        fabric.target_fixed = vec![1, 0];
        fabric.source_length = vec![length::FIXED; 2];
        (fabric.length_min, fabric.length_max) = (vec![9; 2], vec![9; 2]);
        let mut sources = Sources::new(fabric);
        for (terminal, source) in sources.sources.iter_mut().enumerate() {
            source.drawing.clock = clock + terminal as f64 * 0.7;
            let created = source.drawing.time(fabric);
            source.ahead = source.ahead.map(|packet| Packet { created, dispatch: created, ..packet });
        }
        sources
    }

    /// Intervals that are exact, that are rounded, and some between two numbers that there are at such times.
    #[test]
    fn what_is_skipped_is_what_would_have_arrived() {
        for clock in [0.0, 0.3, 1000.5, (1u64 << 40) as f64 - 90.0, ((1u64 << 40) + 1) as f64 + 1.0 / 4096.0]
        {
            for interval in [1.0, 0.1, 1.0 / 3.0, 7.3, 1.0 + 1.0 / 8192.0, 1.0 + 3.0 / 8192.0, 99.99] {
                let mut fabric = Fabric::default();
                let mut at_once = sources(&mut fabric, clock, interval);
                let mut by_one = at_once.clone();
                let from = 3 * clock as Time;
                let now = from + 3 * 3000;
                let made = at_once.catch_up(&fabric, now);
                let counted = (from..=now).map(|now| {
                    // From one tick to the next, a third of a grain, there is hardly anything to pass over.
                    by_one.catch_up(&fabric, now)
                });
                assert_eq!(made, counted.sum::<u64>(), "{clock} {interval}");
                for (one, other) in at_once.sources.iter().zip(&by_one.sources) {
                    assert_eq!(
                        (one.drawing.clock, one.ahead),
                        (other.drawing.clock, other.ahead),
                        "{clock} {interval}"
                    );
                    assert_eq!(one.waiting, other.waiting);
                }
                assert_eq!(at_once.totals, by_one.totals);
            }
        }
    }
}
