//! Sources: when each terminal makes a packet, for whom and how long.
//!
//! A source is asked for its next packet when its link has sent the last one, so open sources need no
//! events and no stored queue of their own: arrivals are drawn in order, as far as they are needed.
//! Every source draws from its own stream, per packet in this order: interval, destination, length,
//! intermediate switch.

use std::collections::VecDeque;

use super::flow::Flows;
use crate::fabric::{Fabric, NONE, arrival, is_open, length, target};
use crate::kernel::Time;
use crate::kernel::random::{Family, Stream, streams};

/// A packet as its source describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When the source made it.
    pub created: Time,
    /// When it is put on the terminal's link, at the earliest.
    pub dispatch: Time,
    /// Destination terminal.
    pub target: u32,
    /// Payload characters.
    pub length: u32,
    /// Position in `via_switch` of the random intermediate switch, or [`NONE`].
    pub via: u32,
    /// What it comes back with at its delivery: see [`super::program::mark`]. Packets of flows of sources
    /// have the row of their flow, other packets of sources [`NONE`].
    pub mark: u32,
}

/// Packets made and refused up to a moment.
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
    stream: Stream,
    /// Arrival of the packet in `ahead` in grains, not rounded, so that intervals do not drift.
    clock: f64,
    /// The next arrival of an open source, drawn already.
    ahead: Option<Packet>,
    /// Arrived and waiting; used only when the queue is limited.
    waiting: VecDeque<Packet>,
    /// Packets left in the present burst, or the position in the list.
    position: u64,
    flows: Flows,
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
        let sources = streams(fabric.seed, Family::Source, fabric.terminals as usize)
            .into_iter()
            .map(|stream| Source {
                stream,
                clock: 0.0,
                ahead: None,
                waiting: VecDeque::new(),
                position: 0,
                flows: Flows::default(),
            })
            .collect();
        let mut all = Self { sources, totals: Totals::default(), last: Time::MAX };
        for terminal in 0..fabric.terminals as usize {
            all.start(fabric, terminal);
        }
        all
    }

    /// Has the sources make nothing more after this tick. What was made before is still handed out.
    pub fn stop_after(&mut self, last: Time) {
        self.last = last;
    }

    fn start(&mut self, fabric: &Fabric, terminal: usize) {
        let source = &mut self.sources[terminal];
        let kind = fabric.source_arrival[terminal];
        match kind {
            arrival::CONSTANT | arrival::TOGETHER => {
                let phase = if kind == arrival::CONSTANT { source.stream.unit() } else { 0.0 };
                source.clock = phase * fabric.source_interval_grains[terminal];
                source.ahead = Some(source.packet(fabric, terminal, at_grain(fabric, source.clock)));
                return;
            }
            arrival::FLOWS => source.flows = Flows::new(fabric, terminal, &mut source.stream),
            // The first slot is at tick 0, one after the one before.
            arrival::BERNOULLI => source.clock = -fabric.source_gap_grains[terminal],
            arrival::BURSTS => source.begin_bursts(fabric, terminal),
            _ => {}
        }
        if is_open(kind) {
            source.ahead = source.draw(fabric, terminal);
        }
    }

    /// The next packet of a terminal whose link is free from `free_at` on, or nothing if there is none.
    pub fn next(&mut self, fabric: &Fabric, terminal: usize, free_at: Time) -> Option<Packet> {
        let kind = fabric.source_arrival[terminal];
        let source = &mut self.sources[terminal];
        let packet = match kind {
            arrival::SILENT => return None,
            arrival::LIST => source.listed(fabric, terminal, free_at)?,
            kind if is_open(kind) => return self.open(fabric, terminal, free_at),
            _ => {
                let mean = fabric.source_interval_grains[terminal];
                let wait = match kind {
                    // Given as a duration it is a whole number of ticks, and so it stays.
                    arrival::WAIT => (mean * fabric.grain_ticks as f64).round() as Time,
                    arrival::RANDOM_WAIT => at_grain(fabric, source.stream.exponential(mean)),
                    _ => 0,
                };
                source.packet(fabric, terminal, free_at + wait)
            }
        };
        if packet.created > self.last {
            return None;
        }
        self.totals.count(&packet);
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
                self.totals.count(&packet);
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
            self.totals.offered += refused;
            self.totals.offered_chars += chars;
            self.totals.refused += refused;
            self.totals.refused_chars += chars;
            return;
        }
        while let Some(next) = source.ahead.filter(|packet| packet.created <= now) {
            if alike && source.waiting.len() >= limit {
                let skipped = source.skip(fabric, terminal, now);
                self.totals.offered += skipped;
                self.totals.offered_chars += skipped * u64::from(next.length);
                self.totals.refused += skipped;
                self.totals.refused_chars += skipped * u64::from(next.length);
            }
            let Some(packet) = source.arrive(fabric, terminal) else { return };
            self.totals.count(&packet);
            if source.waiting.len() < limit {
                source.waiting.push_back(packet);
            } else {
                self.totals.refused += 1;
                self.totals.refused_chars += u64::from(packet.length);
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
        totals.waiting += self.sources.iter().map(|source| source.waiting.len() as u64).sum::<u64>();
        for packet in handed_out {
            if packet.created > now {
                totals.offered -= 1;
                totals.offered_chars -= u64::from(packet.length);
            } else {
                totals.waiting += 1;
            }
        }
        totals
    }

    fn count_waiting(&mut self, fabric: &Fabric, terminal: usize, now: Time) {
        let source = &mut self.sources[terminal];
        while source.ahead.is_some_and(|packet| packet.created <= now) {
            let Some(packet) = source.arrive(fabric, terminal) else { return };
            self.totals.count(&packet);
            self.totals.waiting += 1;
        }
    }

    /// When an open source makes its next packet, if it does; for terminals that keep what waits themselves.
    pub fn next_arrival(&self, terminal: usize) -> Option<Time> {
        self.sources[terminal].ahead.map(|packet| packet.created).filter(|&created| created <= self.last)
    }

    /// Takes that packet.
    pub fn take_arrival(&mut self, fabric: &Fabric, terminal: usize) -> Option<Packet> {
        let packet = self.sources[terminal].arrive(fabric, terminal)?;
        self.totals.count(&packet);
        Some(packet)
    }

    /// Counts a packet that was taken and found no place.
    pub fn refuse(&mut self, packet: &Packet) {
        self.totals.refused += 1;
        self.totals.refused_chars += u64::from(packet.length);
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

/// The tick of a moment, or of a wait, that is given in grains: the last whole grain up to it. What lies further ahead than any
/// run lasts stays there.
#[inline(always)]
pub(super) fn at_grain(fabric: &Fabric, grains: f64) -> Time {
    const NEVER: Time = 1 << 61;
    (grains as Time).saturating_mul(fabric.grain_ticks as Time).min(NEVER)
}

/// Packets that may wait at a source that refuses others.
pub(super) fn places(fabric: &Fabric, terminal: usize) -> usize {
    match fabric.source_queue[terminal] {
        NONE => 0,
        places => places as usize,
    }
}

impl Totals {
    fn count(&mut self, packet: &Packet) {
        self.offered += 1;
        self.offered_chars += u64::from(packet.length);
    }
}

impl Source {
    /// Takes the arrival drawn ahead and draws the one after it.
    fn arrive(&mut self, fabric: &Fabric, terminal: usize) -> Option<Packet> {
        let now = self.ahead?;
        self.ahead = self.draw(fabric, terminal);
        Some(now)
    }

    /// The arrival after the one drawn last; nothing if there is none.
    fn draw(&mut self, fabric: &Fabric, terminal: usize) -> Option<Packet> {
        match fabric.source_arrival[terminal] {
            arrival::FLOWS => return self.of_flow(fabric, terminal),
            arrival::BURSTS if !self.next_of_burst(fabric, terminal) => return None,
            arrival::BURSTS => {}
            _ => self.clock += self.interval(fabric, terminal),
        }
        Some(self.packet(fabric, terminal, at_grain(fabric, self.clock)))
    }

    /// Passes over the arrivals up to `now`; how many, and their characters.
    fn refuse(&mut self, fabric: &Fabric, terminal: usize, now: Time) -> (u64, u64) {
        let (mut refused, mut chars) = (0, 0);
        while let Some(next) = self.ahead.filter(|next| next.created <= now) {
            refused += 1;
            chars += u64::from(next.length);
            self.ahead = self.draw(fabric, terminal);
        }
        (refused, chars)
    }

    fn begin_bursts(&mut self, fabric: &Fabric, terminal: usize) {
        self.clock = fabric.source_first_grains[terminal];
        self.position = fabric.source_burst[terminal] as u64;
    }

    /// Sets the clock to the next packet of a burst, or to the first of the next burst; whether there is one.
    fn next_of_burst(&mut self, fabric: &Fabric, terminal: usize) -> bool {
        let every = fabric.source_gap_grains[terminal];
        if self.position == 0 {
            if every == 0.0 {
                return false;
            }
            self.clock += every;
            self.position = fabric.source_burst[terminal] as u64;
        }
        self.position -= 1;
        true
    }

    fn of_flow(&mut self, fabric: &Fabric, terminal: usize) -> Option<Packet> {
        let (created, row) = self.flows.next(fabric, &mut self.stream)?;
        let (target, length) = (fabric.flow_target[row], fabric.flow_length[row]);
        let via = self.via(fabric, terminal);
        // In rings a mark says what a packet asks for.
        let mark = if fabric.has_rings() { NONE } else { row as u32 };
        Some(Packet { created, dispatch: created, target, length, via, mark })
    }

    /// Passes over arrivals that are alike, at least two before the last one up to `now`; how many. The sum of intervals
    /// is rounded at each arrival, and is to be the same here: from one power of two to the next the rounding is the same
    /// every time once it was the same twice.
    fn skip(&mut self, fabric: &Fabric, terminal: usize, now: Time) -> u64 {
        const EXACT: Time = 1 << f64::MANTISSA_DIGITS;
        let (interval, now) =
            (fabric.source_interval_grains[terminal], now.div_euclid(fabric.grain_ticks as Time));
        let Some(packet) = self.ahead.filter(|_| self.clock >= 1.0 && now < EXACT) else { return 0 };
        let power = f64::from_bits(((self.clock.to_bits() >> 52) + 1) << 52);
        let second = self.clock + interval;
        let step = second + interval - second;
        let steps = ((power.min((now + 1) as f64) - self.clock) / step).floor() - 2.0;
        if second - self.clock != step || step <= 0.0 || steps < 1.0 {
            return 0;
        }
        self.clock += steps * step;
        let created = at_grain(fabric, self.clock);
        self.ahead = Some(Packet { created, dispatch: created, ..packet });
        steps as u64
    }

    #[inline(always)]
    fn interval(&mut self, fabric: &Fabric, terminal: usize) -> f64 {
        let mean = fabric.source_interval_grains[terminal];
        match fabric.source_arrival[terminal] {
            arrival::POISSON => self.stream.exponential(mean),
            arrival::BERNOULLI => {
                let slot = fabric.source_gap_grains[terminal];
                slot * self.stream.geometric(mean / slot)
            }
            arrival::ON_OFF if self.position == 0 => {
                self.position = self.stream.geometric(fabric.source_burst[terminal]) as u64 - 1;
                mean + self.stream.exponential(fabric.source_gap_grains[terminal])
            }
            arrival::ON_OFF => {
                self.position -= 1;
                mean
            }
            _ => mean,
        }
    }

    #[inline(always)]
    fn packet(&mut self, fabric: &Fabric, terminal: usize, created: Time) -> Packet {
        let target = self.target(fabric, terminal);
        let length = match fabric.source_length[terminal] {
            length::UNIFORM => {
                let low = fabric.length_min[terminal];
                low + self.stream.below(fabric.length_max[terminal] - low + 1)
            }
            length::TABLE => fabric.length_values[self.stream.index(&fabric.length_cumulative)],
            _ => fabric.length_min[terminal],
        };
        let via = self.via(fabric, terminal);
        Packet { created, dispatch: created, target, length, via, mark: NONE }
    }

    fn target(&mut self, fabric: &Fabric, terminal: usize) -> u32 {
        match fabric.source_target[terminal] {
            target::FIXED => fabric.target_fixed[terminal],
            target::WEIGHTED => {
                let row = fabric.weight_start[terminal] as usize..fabric.weight_start[terminal + 1] as usize;
                let index = self.stream.index(&fabric.weight_cumulative[row.clone()]);
                fabric.weight_target[row][index]
            }
            target::ANY => self.stream.below(fabric.terminals),
            target::HOT_SPOT if self.stream.unit() < fabric.target_share[terminal] => {
                fabric.target_fixed[terminal]
            }
            _ => self.other(fabric, terminal),
        }
    }

    /// Any terminal but this one; this one if it is alone.
    fn other(&mut self, fabric: &Fabric, terminal: usize) -> u32 {
        if fabric.terminals < 2 {
            return terminal as u32;
        }
        let draw = self.stream.below(fabric.terminals - 1);
        draw + u32::from(draw >= terminal as u32)
    }

    fn via(&mut self, fabric: &Fabric, terminal: usize) -> u32 {
        if fabric.via_switch.is_empty() {
            return NONE;
        }
        // Of several planes the first stands for all of them: which one it is to be is not known yet.
        let port = fabric.ports_of(terminal as u32).start;
        let home = fabric.link_target[fabric.terminal_out_link[port as usize] as usize];
        let each = fabric.via_switch.len() / fabric.planes.max(1) as usize;
        via(&mut self.stream, &fabric.via_switch[..each], home)
    }

    fn listed(&mut self, fabric: &Fabric, terminal: usize, free_at: Time) -> Option<Packet> {
        let (start, end) =
            (u64::from(fabric.list_start[terminal]), u64::from(fabric.list_start[terminal + 1]));
        if start == end || (fabric.list_repeat[terminal] == 0 && self.position >= end - start) {
            return None;
        }
        let length = end - start;
        let row = (start + self.position % length) as usize;
        let before = (start + (self.position + length - 1) % length) as usize;
        let wait = if self.position == 0 { 0 } else { fabric.list_wait_ticks[before] as Time };
        self.position += 1;
        let created = free_at + wait;
        let via = self.via(fabric, terminal);
        Some(Packet {
            created,
            dispatch: created,
            target: fabric.list_target[row],
            length: fabric.list_length[row],
            via,
            mark: NONE,
        })
    }
}

/// A random intermediate switch; none when it is the terminal's own.
pub(super) fn via(stream: &mut Stream, switches: &[u32], home: u32) -> u32 {
    let via = stream.below(switches.len() as u32);
    if switches[via as usize] == home { NONE } else { via }
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
            source.clock = clock + terminal as f64 * 0.7;
            source.ahead = Some(source.packet(fabric, terminal, at_grain(fabric, source.clock)));
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
                    assert_eq!((one.clock, one.ahead), (other.clock, other.ahead), "{clock} {interval}");
                    assert_eq!(one.waiting, other.waiting);
                }
                assert_eq!(at_once.totals, by_one.totals);
            }
        }
    }
}
