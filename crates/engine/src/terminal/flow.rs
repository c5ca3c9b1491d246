//! The flows of a source: sequences of packets, each with its own destination, length and times, merged by the tick of
//! creation and then by the number of the flow. See `docs/background/sources.md`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::bucket::Bucket;
use super::draw::at_grain;
use crate::fabric::{Fabric, arrival};
use crate::kernel::Time;
use crate::kernel::random::Stream;

/// The flows of one terminal.
#[derive(Clone, Debug, Default)]
pub(super) struct Flows {
    /// When the next packet of each flow may leave, and the flow's row in the columns.
    next: BinaryHeap<Reverse<(Time, u32)>>,
    /// Row of the first flow.
    first: usize,
    states: Vec<Flow>,
}

/// A packet of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Made {
    pub created: Time,
    /// When it may leave.
    pub ready: Time,
    pub row: usize,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    /// First packet of a period, or the newest packet, in grains: not rounded, so that intervals do not drift.
    clock: f64,
    /// Number of times drawn so far.
    moments: f64,
    /// Remaining packets at the next time.
    left: u32,
    /// Packets that the flow has not planned yet.
    still: u64,
    /// When those at the next time are created.
    created: Time,
    bucket: Bucket,
}

impl Flows {
    /// Returns the flows of a terminal, with their phases and first times drawn.
    pub(super) fn new(fabric: &Fabric, terminal: usize, stream: &mut Stream) -> Self {
        let rows = rows(fabric, terminal);
        let mut flows = Self { first: rows.start, ..Self::default() };
        for row in rows {
            let (period, phase) = (fabric.flow_interval_grains[row], fabric.flow_phase_grains[row]);
            let begin = fabric.flow_begin_grains[row];
            let clock = match fabric.flow_arrival[row] {
                arrival::POISSON => begin,
                _ if phase < 0.0 => begin + stream.unit() * period,
                _ => phase,
            };
            let still = match fabric.flow_count[row] {
                0 => u64::MAX,
                count => count,
            };
            let bucket = Bucket::default();
            flows.states.push(Flow { clock, moments: 0.0, left: 0, still, created: 0, bucket });
            flows.plan(fabric, row, stream);
        }
        flows
    }

    /// Whether a packet created up to this tick has not left.
    pub(super) fn has_until(&self, last: Time) -> bool {
        self.states.iter().any(|flow| flow.left > 0 && flow.created <= last)
    }

    /// Returns about how many packets were created up to a tick and wait for their tokens.
    pub(super) fn held(&self, fabric: &Fabric, now: Time) -> f64 {
        let waiting = self.next.iter().filter(|Reverse((ready, _))| *ready > now);
        let number = |&Reverse((_, row)): &Reverse<(Time, u32)>| {
            let (row, created) = (row as usize, self.states[row as usize - self.first].created);
            let grains = (now - created).max(0) as f64 / fabric.grain_ticks as f64;
            grains / fabric.flow_interval_grains[row] * f64::from(fabric.flow_packets[row])
        };
        if are_shaped(fabric) { waiting.map(number).sum() } else { 0.0 }
    }

    /// Returns the packet that may leave next.
    pub(super) fn next(&mut self, fabric: &Fabric, stream: &mut Stream) -> Option<Made> {
        let &Reverse((ready, row)) = self.next.peek()?;
        let row = row as usize;
        let state = &mut self.states[row - self.first];
        let created = state.created;
        state.left -= 1;
        let shaper = shaper(fabric, row);
        if let Some((cost, _)) = shaper {
            state.bucket.pass(grain(fabric, ready), cost);
        }
        if state.left == 0 {
            self.next.pop();
            self.plan(fabric, row, stream);
        } else if shaper.is_some() {
            self.next.pop();
            self.await_tokens(fabric, row);
        }
        Some(Made { created, ready, row })
    }

    /// Queues the next packet of a flow for when its bucket has its tokens.
    fn await_tokens(&mut self, fabric: &Fabric, row: usize) {
        let Flow { created, bucket, .. } = self.states[row - self.first];
        let opens = shaper(fabric, row).map_or(0, |(cost, room)| bucket.opens(cost, room));
        let ready = created.max(opens.saturating_mul(fabric.grain_ticks as Time));
        self.next.push(Reverse((ready, row as u32)));
    }

    /// Draws the next time of a flow, unless the flow is over.
    fn plan(&mut self, fabric: &Fabric, row: usize, stream: &mut Stream) {
        let interval = fabric.flow_interval_grains[row];
        let state = &mut self.states[row - self.first];
        if state.still == 0 {
            return;
        }
        let moment = if fabric.flow_arrival[row] == arrival::POISSON {
            state.clock += stream.exponential(interval);
            state.clock
        } else {
            let jitter = fabric.flow_jitter_grains[row];
            let late = if jitter > 0.0 { stream.unit() * jitter } else { 0.0 };
            state.clock + state.moments * interval + late
        };
        let end = fabric.flow_end_grains[row];
        if end >= 0.0 && moment >= end {
            return;
        }
        state.created = at_grain(fabric, moment);
        state.moments += 1.0;
        state.left = u64::from(fabric.flow_packets[row]).min(state.still) as u32;
        state.still -= u64::from(state.left);
        self.await_tokens(fabric, row);
    }
}

/// Whether flows of a fabric have token buckets.
pub(super) fn are_shaped(fabric: &Fabric) -> bool {
    !fabric.flow_cost_grains.is_empty()
}

/// Returns the grains in which the tokens of one packet of a flow flow in, and those in which its bucket fills.
fn shaper(fabric: &Fabric, row: usize) -> Option<(f64, f64)> {
    let cost = fabric.flow_cost_grains.get(row).copied().filter(|&cost| cost > 0.0)?;
    Some((cost, fabric.flow_room_grains[row]))
}

fn grain(fabric: &Fabric, tick: Time) -> Time {
    tick / fabric.grain_ticks as Time
}

fn rows(fabric: &Fabric, terminal: usize) -> Range<usize> {
    fabric.flow_start[terminal] as usize..fabric.flow_start[terminal + 1] as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::random::{Family, streams};

    /// Two flows of one terminal: one with this period, phase and jitter, and one of three packets at a time.
    fn fabric(jitter: f64) -> Fabric {
        Fabric {
            grain_ticks: 1,
            flow_start: vec![0, 2],
            flow_target: vec![1, 2],
            flow_length: vec![8, 9],
            flow_arrival: vec![arrival::CONSTANT; 2],
            flow_interval_grains: vec![10.25, 20.0],
            flow_phase_grains: vec![1.5, 1.0],
            flow_jitter_grains: vec![jitter, 0.0],
            flow_packets: vec![1, 3],
            flow_begin_grains: vec![0.0; 2],
            flow_end_grains: vec![-1.0; 2],
            flow_count: vec![0; 2],
            ..Fabric::default()
        }
    }

    fn packets(fabric: &Fabric, count: usize) -> Vec<(Time, usize)> {
        let stream = &mut streams(1, Family::Source, 1)[0];
        let mut flows = Flows::new(fabric, 0, stream);
        (0..count).map_while(|_| flows.next(fabric, stream)).map(|made| (made.ready, made.row)).collect()
    }

    #[test]
    fn flows_are_merged_by_tick_and_number() {
        let found = packets(&fabric(0.0), 9);
        assert_eq!(found, [(1, 0), (1, 1), (1, 1), (1, 1), (11, 0), (21, 1), (21, 1), (21, 1), (22, 0)]);
    }

    #[test]
    fn flows_begin_and_end_as_they_are_told() {
        let mut fabric = fabric(0.0);
        fabric.flow_end_grains[0] = 21.75;
        fabric.flow_count[1] = 5;
        let found = packets(&fabric, 99);
        assert_eq!(
            found,
            [(1, 0), (1, 1), (1, 1), (1, 1), (11, 0), (21, 1), (21, 1)],
            "not at the end itself"
        );
        for kind in [arrival::CONSTANT, arrival::POISSON] {
            (fabric.flow_arrival[0], fabric.flow_phase_grains[0]) = (kind, -1.0);
            (fabric.flow_begin_grains[0], fabric.flow_end_grains[0]) = (500.0, 1525.0);
            let ticks: Vec<_> = packets(&fabric, 999).into_iter().filter(|one| one.1 == 0).collect();
            assert!(ticks.iter().all(|&(tick, _)| (500..1525).contains(&tick)));
            assert!((70..131).contains(&ticks.len()), "{}", ticks.len());
        }
    }

    /// Three packets of 20 grains at 1, 21, …, of a bucket that holds two and gets one every 15 grains.
    #[test]
    fn a_bucket_delays_what_exceeds_it_and_nothing_else() {
        let mut fabric = fabric(0.0);
        (fabric.flow_cost_grains, fabric.flow_room_grains) = (vec![0.0, 5.0], vec![0.0, 10.0]);
        let found = packets(&fabric, 12);
        let of_second: Vec<Time> = found.iter().filter(|one| one.1 == 1).map(|one| one.0).collect();
        assert_eq!(of_second, [1, 1, 6, 21, 21, 26, 41, 41]);
        assert!(found.windows(2).all(|pair| pair[0] <= pair[1]));
        fabric.flow_cost_grains[1] = 15.0;
        (fabric.flow_room_grains[1], fabric.flow_count[1]) = (30.0, 6);
        let stream = &mut streams(1, Family::Source, 1)[0];
        let mut flows = Flows::new(&fabric, 0, stream);
        let mut second = Vec::new();
        while flows.has_until(30) {
            let made = flows.next(&fabric, stream).expect("one is left");
            second.extend((made.row == 1).then_some((made.created, made.ready)));
        }
        assert_eq!(second, [(1, 1), (1, 1), (1, 16), (21, 31), (21, 46), (21, 61)]);
    }

    #[test]
    fn periods_do_not_drift() {
        let far = packets(&fabric(0.0), 400_000);
        let of_first: Vec<Time> = far.iter().filter(|(_, row)| *row == 0).map(|&(tick, _)| tick).collect();
        let last = of_first.len() as Time - 1;
        assert_eq!(of_first[last as usize], (1.5 + last as f64 * 10.25) as Time);
    }

    #[test]
    fn jitter_makes_late_never_early_and_never_out_of_order() {
        let found = packets(&fabric(10.25), 4000);
        assert!(found.windows(2).all(|pair| pair[0] <= pair[1] || pair[0].0 < pair[1].0));
        let first: Vec<Time> = found.iter().filter(|(_, row)| *row == 0).map(|&(tick, _)| tick).collect();
        let late = |(n, &tick): (usize, &Time)| tick as f64 - (1.5 + n as f64 * 10.25).floor();
        assert!(first.iter().enumerate().map(late).all(|late| (0.0..=11.0).contains(&late)));
        let mean = first.iter().enumerate().map(late).sum::<f64>() / first.len() as f64;
        assert!((mean - 5.1).abs() < 0.6, "{mean}");
    }
}
