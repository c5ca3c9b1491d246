//! The random draws of a source: when it creates a packet, for which destination, and its length.
//!
//! Every source draws from its own stream, per packet in this order: interval, destination, length, intermediate
//! switch.

use super::flow::{Flows, Made};
use crate::fabric::{Fabric, NONE, arrival, is_open, length, target};
use crate::kernel::Time;
use crate::kernel::random::Stream;
use crate::measure::Delivery;

/// A packet as its source describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When the source created it.
    pub created: Time,
    /// When it may be put on the terminal's link, at the earliest.
    pub dispatch: Time,
    /// Destination terminal.
    pub target: u32,
    /// Payload bytes.
    pub length: u32,
    /// Index in `via_switch` of the random intermediate switch, or [`NONE`].
    pub via: u32,
    /// The mark that its delivery returns: see [`super::program::mark`]. For packets of flows of sources, the row of
    /// the flow; for other packets of sources [`NONE`].
    pub mark: u32,
    /// The number of packets that its source created before it, if its terminal has several ports.
    pub number: u32,
}

impl Packet {
    /// Returns what its delivery says, as far as that is known when a port sends it.
    pub fn sent_by(&self, source: u32) -> Delivery {
        let &Self { target, length, created, mark, number, .. } = self;
        let (started, delivered) = (Time::MAX, Time::MAX);
        Delivery { source, target, length, created, started, delivered, mark, number }
    }
}

/// The state from which the packets of one source are drawn.
#[derive(Clone, Debug)]
pub(super) struct Drawing {
    stream: Stream,
    /// The last drawn arrival in grains, not rounded, so that intervals do not drift.
    pub clock: f64,
    /// Remaining packets of the current burst, or the position in the list.
    position: u64,
    flows: Flows,
    /// No packets of flows are created after this tick.
    pub last: Time,
}

impl Drawing {
    pub fn new(stream: Stream) -> Self {
        Self { stream, clock: 0.0, position: 0, flows: Flows::default(), last: Time::MAX }
    }

    /// Returns the first arrival of an open source, if any.
    pub fn begin(&mut self, fabric: &Fabric, terminal: usize) -> Option<Packet> {
        let kind = fabric.source_arrival[terminal];
        match kind {
            arrival::CONSTANT | arrival::TOGETHER => {
                let phase = if kind == arrival::CONSTANT { self.stream.unit() } else { 0.0 };
                self.clock = phase * fabric.source_interval_grains[terminal];
                return Some(self.packet(fabric, terminal, self.time(fabric)));
            }
            arrival::FLOWS => self.flows = Flows::new(fabric, terminal, &mut self.stream),
            // The first slot is at tick 0, one slot after this clock.
            arrival::BERNOULLI => self.clock = -fabric.source_gap_grains[terminal],
            arrival::BURSTS => self.begin_bursts(fabric, terminal),
            _ => {}
        }
        if is_open(kind) { self.arrival(fabric, terminal) } else { None }
    }

    /// Returns the tick of the last drawn arrival.
    pub fn time(&self, fabric: &Fabric) -> Time {
        at_grain(fabric, self.clock)
    }

    /// Returns the next packet of a closed source whose link is free from `free_at` on, if any.
    pub fn closed(&mut self, fabric: &Fabric, terminal: usize, free_at: Time) -> Option<Packet> {
        let mean = fabric.source_interval_grains[terminal];
        let wait = match fabric.source_arrival[terminal] {
            arrival::SILENT => return None,
            arrival::LIST => return self.listed(fabric, terminal, free_at),
            // A duration is a whole number of ticks and remains one.
            arrival::WAIT => (mean * fabric.grain_ticks as f64).round() as Time,
            arrival::RANDOM_WAIT => at_grain(fabric, self.stream.exponential(mean)),
            _ => 0,
        };
        Some(self.packet(fabric, terminal, free_at + wait))
    }

    /// Returns the next arrival, if any.
    pub fn arrival(&mut self, fabric: &Fabric, terminal: usize) -> Option<Packet> {
        match fabric.source_arrival[terminal] {
            arrival::FLOWS => return self.of_flow(fabric, terminal),
            arrival::TIMED => return self.timed(fabric, terminal),
            arrival::BURSTS => {
                let moment = self.next_of_burst(fabric, terminal)?;
                return Some(self.packet(fabric, terminal, at_grain(fabric, moment)));
            }
            _ => self.clock += self.interval(fabric, terminal),
        }
        Some(self.packet(fabric, terminal, self.time(fabric)))
    }

    fn begin_bursts(&mut self, fabric: &Fabric, terminal: usize) {
        self.clock = fabric.source_first_grains[terminal];
        self.position = fabric.source_burst[terminal] as u64;
    }

    /// Returns the time of the next packet of a burst in grains, or of the first of the next burst, if there is one.
    fn next_of_burst(&mut self, fabric: &Fabric, terminal: usize) -> Option<f64> {
        let (every, packets) = (fabric.source_gap_grains[terminal], fabric.source_burst[terminal] as u64);
        if self.position == 0 {
            if every == 0.0 {
                return None;
            }
            self.clock += every;
            self.position = packets;
        }
        self.position -= 1;
        let spacing = fabric.source_spacing_grains.get(terminal).copied().unwrap_or(0.0);
        Some(self.clock + (packets - 1 - self.position) as f64 * spacing)
    }

    /// See [`super::source::Sources::held`].
    pub(super) fn held(&self, fabric: &Fabric, now: Time) -> f64 {
        self.flows.held(fabric, now)
    }

    fn of_flow(&mut self, fabric: &Fabric, terminal: usize) -> Option<Packet> {
        loop {
            let Made { created, ready: dispatch, row } = self.flows.next(fabric, &mut self.stream)?;
            let (target, length) = (fabric.flow_target[row], fabric.flow_length[row]);
            let via = self.via(fabric, terminal);
            if created <= self.last {
                return Some(Packet { created, dispatch, target, length, via, mark: row as u32, number: 0 });
            }
            // Drawn as if it were created, so that the packets behind it are the same.
            if !self.flows.has_until(self.last) {
                return None;
            }
        }
    }

    /// Advances the clock over equal arrivals, to at least two before the last one up to `now`; returns their number.
    /// The sum of intervals is rounded at each arrival, and must be the same here: between two powers of two the
    /// rounding stays the same once it was the same twice.
    pub fn skip(&mut self, fabric: &Fabric, terminal: usize, now: Time) -> u64 {
        const EXACT: Time = 1 << f64::MANTISSA_DIGITS;
        let (interval, now) =
            (fabric.source_interval_grains[terminal], now.div_euclid(fabric.grain_ticks as Time));
        if self.clock < 1.0 || now >= EXACT {
            return 0;
        }
        let power = f64::from_bits(((self.clock.to_bits() >> 52) + 1) << 52);
        let second = self.clock + interval;
        let step = second + interval - second;
        let steps = ((power.min((now + 1) as f64) - self.clock) / step).floor() - 2.0;
        if second - self.clock != step || step <= 0.0 || steps < 1.0 {
            return 0;
        }
        self.clock += steps * step;
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
        Packet { created, dispatch: created, target, length, via, mark: NONE, number: 0 }
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

    /// Draws any terminal but this one; returns this one if it is alone.
    #[inline(always)]
    pub fn other(&mut self, fabric: &Fabric, terminal: usize) -> u32 {
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
        // The first plane represents all planes, because the packet's plane is not known yet.
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
        Some(self.of_row(fabric, terminal, row, free_at + wait))
    }

    /// Returns the next packet of a list with times, if there is one.
    fn timed(&mut self, fabric: &Fabric, terminal: usize) -> Option<Packet> {
        let row = u64::from(fabric.list_start[terminal]) + self.position;
        if row >= u64::from(fabric.list_start[terminal + 1]) {
            return None;
        }
        self.position += 1;
        let grains = fabric.list_at_grains[row as usize] as Time;
        let created = grains.saturating_mul(fabric.grain_ticks as Time).min(NEVER);
        Some(self.of_row(fabric, terminal, row as usize, created))
    }

    fn of_row(&mut self, fabric: &Fabric, terminal: usize, row: usize, created: Time) -> Packet {
        let via = self.via(fabric, terminal);
        let (target, length) = (fabric.list_target[row], fabric.list_length[row]);
        Packet { created, dispatch: created, target, length, via, mark: NONE, number: 0 }
    }
}

/// A tick after the end of any run.
const NEVER: Time = 1 << 61;

/// Returns the tick of a time or a wait in grains, rounded down to a whole grain. Times beyond the end of any run are
/// clamped.
#[inline(always)]
pub(super) fn at_grain(fabric: &Fabric, grains: f64) -> Time {
    (grains as Time).saturating_mul(fabric.grain_ticks as Time).min(NEVER)
}

/// Draws a random intermediate switch; None if it is the terminal's own.
pub(super) fn via(stream: &mut Stream, switches: &[u32], home: u32) -> u32 {
    let via = stream.below(switches.len() as u32);
    if switches[via as usize] == home { NONE } else { via }
}
