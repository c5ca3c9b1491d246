//! Sources: the packets that terminals have created, those that wait, and those that were refused.
//!
//! A source is asked for its next packet when its link has sent the last one. Open sources therefore need no events and
//! no queue: arrivals are drawn in order, as far as they are needed.

use std::collections::VecDeque;

use super::draw::{Drawing, Packet};
use super::flow::are_shaped;
use crate::fabric::{Fabric, NONE, arrival, is_open, length, target};
use crate::kernel::Time;
use crate::kernel::random::{Family, streams};
use crate::measure::Carried;

/// Packets created and refused up to a time; a packet for several ports counts once per port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets created by all sources.
    pub offered: u64,
    /// Their payload bytes.
    pub offered_bytes: u64,
    /// Packets that found the source's queue full.
    pub refused: u64,
    /// Their payload bytes.
    pub refused_bytes: u64,
    /// Packets that wait at their source.
    pub waiting: u64,
}

#[derive(Clone, Debug)]
struct Source {
    drawing: Drawing,
    /// Payload bytes of its packets, if it creates equal ones for any other terminal, one whenever its link is free.
    always: Option<u32>,
    /// The next arrival of an open source, drawn in advance.
    ahead: Option<Packet>,
    /// Packets that wait; used only if the queue is limited.
    waiting: VecDeque<Packet>,
}

/// All sources of a fabric.
#[derive(Clone, Debug)]
pub struct Sources {
    sources: Vec<Source>,
    totals: Totals,
    /// By row of the columns `flow_*`: its packets that were created and refused.
    flows: Vec<Carried>,
    /// No packets are created after this tick.
    last: Time,
}

impl Sources {
    /// Returns the sources at time zero.
    pub fn new(fabric: &Fabric) -> Self {
        let streams = streams(fabric.seed, Family::Source, fabric.terminals as usize);
        let source = |(terminal, stream)| {
            let mut drawing = Drawing::new(stream);
            let ahead = drawing.begin(fabric, terminal);
            let always = is_always(fabric, terminal).then(|| fabric.length_min[terminal]);
            Source { drawing, always, ahead, waiting: VecDeque::new() }
        };
        let sources = streams.into_iter().enumerate().map(source).collect();
        let flows = vec![Carried::default(); fabric.flow_target.len()];
        Self { sources, totals: Totals::default(), flows, last: Time::MAX }
    }

    /// Creates no packets after this tick, or an earlier one that was given. Earlier packets are still handed out.
    pub fn stop_after(&mut self, fabric: &Fabric, last: Time) {
        let last = last.min(self.last);
        self.last = last;
        if !are_shaped(fabric) {
            return;
        }
        // A packet of one flow may wait for its tokens until after a later one of another.
        for (terminal, source) in self.sources.iter_mut().enumerate() {
            source.drawing.last = last;
            if source.ahead.is_some_and(|packet| packet.created > last) {
                source.ahead = source.drawing.arrival(fabric, terminal);
            }
        }
    }

    /// Returns the next packet of a terminal whose link is free from `free_at` on, if any.
    #[inline(always)]
    pub fn next(&mut self, fabric: &Fabric, terminal: usize, free_at: Time) -> Option<Packet> {
        let source = &mut self.sources[terminal];
        let Some(length) = source.always.filter(|_| free_at <= self.last) else {
            return self.draw(fabric, terminal, free_at);
        };
        let target = source.drawing.other(fabric, terminal);
        self.totals.offered += 1;
        self.totals.offered_bytes += u64::from(length);
        let (created, dispatch) = (free_at, free_at);
        Some(Packet { created, dispatch, target, length, via: NONE, mark: NONE, number: 0 })
    }

    /// The same for a source of any kind.
    #[inline(never)]
    fn draw(&mut self, fabric: &Fabric, terminal: usize, free_at: Time) -> Option<Packet> {
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
            // A packet created in this tick can still leave.
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
                self.count(fabric, &packet);
                packet
            }
        };
        packet.dispatch = packet.dispatch.max(free_at);
        Some(packet)
    }

    /// Moves the arrivals up to `now` into the limited queue, and refuses those that find it full.
    fn pull(&mut self, fabric: &Fabric, terminal: usize, now: Time, limit: usize) {
        let alike = are_alike(fabric, terminal);
        let source = &mut self.sources[terminal];
        if limit == 0 && !alike && self.flows.is_empty() {
            let (refused, bytes) = source.refuse(fabric, terminal, now);
            self.totals.pass_over(refused, bytes);
            return;
        }
        while let Some(next) = self.sources[terminal].ahead.filter(|packet| packet.created <= now) {
            let source = &mut self.sources[terminal];
            if alike && source.waiting.len() >= limit {
                let skipped = source.skip(fabric, terminal, now) * fabric.copies(next.target);
                self.totals.pass_over(skipped, skipped * u64::from(next.length));
            }
            let Some(packet) = source.arrive(fabric, terminal) else { return };
            let has_room = source.waiting.len() < limit;
            if has_room {
                source.waiting.push_back(packet);
            }
            self.count(fabric, &packet);
            if !has_room {
                self.refuse(fabric, &packet);
            }
        }
    }

    /// Draws the arrivals up to `now` at sources with short or no queues in advance; returns their number. No source
    /// may be asked for a time before `now` afterwards: then the refusals do not depend on when they are counted.
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

    /// Returns the packets offered, refused and waiting up to and including `now`.
    ///
    /// `handed_out` are the packets from [`Sources::next`] that have not been dispatched: those created after `now` do
    /// not count, the others wait. This draws the arrivals up to `now`, so call it on a copy during a run.
    pub fn totals(&mut self, fabric: &Fabric, now: Time, handed_out: &[Packet]) -> Totals {
        let until = now.min(self.last);
        self.stop_after(fabric, until);
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
                totals.offered_bytes -= copies * u64::from(packet.length);
            } else {
                totals.waiting += copies;
            }
        }
        totals
    }

    /// Returns terminal and creation of each packet that waits at an open source up to and including `now`, in order.
    /// Like [`Sources::totals`], call it on a copy.
    pub fn waiting(&mut self, fabric: &Fabric, now: Time) -> Vec<(u32, Time)> {
        let (until, mut found) = (now.min(self.last), Vec::new());
        self.stop_after(fabric, until);
        for terminal in (0..self.sources.len()).filter(|&terminal| Self::is_open(fabric, terminal)) {
            let limited = fabric.source_queue[terminal] != 0;
            if limited {
                self.pull(fabric, terminal, until, places(fabric, terminal));
            }
            let source = &mut self.sources[terminal];
            found.extend(source.waiting.iter().map(|packet| (terminal as u32, packet.created)));
            while !limited && let Some(packet) = source.ahead.filter(|packet| packet.created <= until) {
                found.push((terminal as u32, packet.created));
                source.ahead = source.drawing.arrival(fabric, terminal);
            }
        }
        found
    }

    /// Returns what this knows of each flow up to and including `now`; call it on a copy, too.
    pub fn carried(mut self, fabric: &Fabric, now: Time, handed_out: &[Packet]) -> Vec<Carried> {
        self.totals(fabric, now, handed_out);
        for packet in handed_out.iter().filter(|packet| packet.created > now) {
            if let Some(flow) = self.flows.get_mut(packet.mark as usize) {
                flow.made -= fabric.copies(packet.target);
            }
        }
        let waiting = self.sources.iter().flat_map(|source| &source.waiting).chain(handed_out);
        for packet in waiting.filter(|packet| packet.created <= now) {
            if let Some(flow) = self.flows.get_mut(packet.mark as usize) {
                flow.waits_since(packet.created);
            }
        }
        self.flows
    }

    /// Counts a packet that was created.
    fn count(&mut self, fabric: &Fabric, packet: &Packet) {
        self.totals.count(fabric, packet);
        if let Some(flow) = self.flows.get_mut(packet.mark as usize) {
            if flow.made == 0 {
                flow.first = packet.created;
            }
            flow.made += fabric.copies(packet.target);
        }
    }

    fn count_waiting(&mut self, fabric: &Fabric, terminal: usize, now: Time) {
        while self.sources[terminal].ahead.is_some_and(|packet| packet.created <= now) {
            let Some(packet) = self.sources[terminal].arrive(fabric, terminal) else { return };
            self.count(fabric, &packet);
            self.totals.waiting += fabric.copies(packet.target);
            if let Some(flow) = self.flows.get_mut(packet.mark as usize) {
                flow.waits_since(packet.created);
            }
        }
    }

    /// Returns when the next packet of an open source may leave, if it has one; for terminals that queue packets
    /// themselves.
    pub fn next_arrival(&self, terminal: usize) -> Option<Time> {
        let next = self.sources[terminal].ahead.filter(|packet| packet.created <= self.last);
        next.map(|packet| packet.dispatch)
    }

    /// Takes that packet.
    pub fn take_arrival(&mut self, fabric: &Fabric, terminal: usize) -> Option<Packet> {
        let packet = self.sources[terminal].arrive(fabric, terminal)?;
        self.count(fabric, &packet);
        Some(packet)
    }

    /// Counts a packet that was taken and refused.
    pub fn refuse(&mut self, fabric: &Fabric, packet: &Packet) {
        self.totals.refuse(fabric, packet);
        if let Some(flow) = self.flows.get_mut(packet.mark as usize) {
            flow.refused += fabric.copies(packet.target);
        }
    }

    /// Whether a source has created all its packets, and none of them waits.
    pub fn is_over(&self, terminal: usize) -> bool {
        let source = &self.sources[terminal];
        source.ahead.is_none() && source.waiting.is_empty()
    }

    /// Returns about how many packets of a terminal's flows wait for the tokens of their buckets.
    pub fn held(&self, fabric: &Fabric, terminal: usize, now: Time) -> f64 {
        self.sources[terminal].drawing.held(fabric, now)
    }

    /// Whether a terminal creates packets independently of the number that wait.
    pub fn is_open(fabric: &Fabric, terminal: usize) -> bool {
        is_open(fabric.source_arrival[terminal])
    }

    /// Whether it does so at all.
    pub fn is_timed(fabric: &Fabric, terminal: usize) -> bool {
        Self::is_open(fabric, terminal) && Self::interval_ticks(fabric, terminal) > 0.0
    }

    /// Returns the mean ticks between packets of such a terminal.
    pub fn interval_ticks(fabric: &Fabric, terminal: usize) -> f64 {
        fabric.source_interval_grains[terminal] * fabric.grain_ticks as f64
    }

    /// Whether a terminal creates packets independently of the number that wait, and may refuse some.
    pub fn may_refuse(fabric: &Fabric, terminal: usize) -> bool {
        Self::is_open(fabric, terminal) && fabric.source_queue[terminal] != 0
    }
}

/// Whether a terminal creates equal packets for any other terminal, one whenever its link is free: the usual case with a
/// backlog.
fn is_always(fabric: &Fabric, terminal: usize) -> bool {
    fabric.source_arrival[terminal] == arrival::BACKLOG
        && fabric.source_target[terminal] == target::UNIFORM
        && fabric.source_length[terminal] == length::FIXED
        && fabric.via_switch.is_empty()
        && !fabric.has_distributions()
}

/// Whether a terminal creates equal packets at equal intervals, without random draws.
fn are_alike(fabric: &Fabric, terminal: usize) -> bool {
    matches!(fabric.source_arrival[terminal], arrival::CONSTANT | arrival::TOGETHER)
        && fabric.source_target[terminal] == target::FIXED
        && fabric.source_length[terminal] == length::FIXED
        && fabric.via_switch.is_empty()
}

/// Returns the number of packets that may wait at a source that refuses others.
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
        self.offered_bytes += copies * u64::from(packet.length);
    }

    fn refuse(&mut self, fabric: &Fabric, packet: &Packet) {
        let copies = fabric.copies(packet.target);
        self.refused += copies;
        self.refused_bytes += copies * u64::from(packet.length);
    }

    /// Counts packets that were created and refused at once.
    fn pass_over(&mut self, packets: u64, bytes: u64) {
        self.offered += packets;
        self.offered_bytes += bytes;
        self.refused += packets;
        self.refused_bytes += bytes;
    }
}

impl Source {
    /// Takes the arrival drawn in advance and draws the next one.
    fn arrive(&mut self, fabric: &Fabric, terminal: usize) -> Option<Packet> {
        let now = self.ahead?;
        self.ahead = self.drawing.arrival(fabric, terminal);
        Some(now)
    }

    /// Refuses the arrivals up to `now`; returns their number and characters.
    fn refuse(&mut self, fabric: &Fabric, terminal: usize, now: Time) -> (u64, u64) {
        let (mut refused, mut bytes) = (0, 0);
        while let Some(next) = self.ahead.filter(|next| next.created <= now) {
            let copies = fabric.copies(next.target);
            refused += copies;
            bytes += copies * u64::from(next.length);
            self.ahead = self.drawing.arrival(fabric, terminal);
        }
        (refused, bytes)
    }

    /// Skips equal arrivals, up to at least two before the last one up to `now`; returns their number.
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

    /// Two sources without queues that create equal packets, from this time on.
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

    /// Intervals that are exact, that are rounded, and some between two numbers representable at such times.
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
                    // Between two ticks, a third of a grain, there is hardly an arrival to skip.
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
