//! Whether a run has settled, is precise enough, or can never settle.

use super::{Network, Run};
use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::measure::{precision, warmup_end};
use crate::run::End;
use crate::terminal::Sources;

/// A source that is behind by at most this many of its intervals may be so by chance.
const CHANCE: f64 = 4.0;

impl Run {
    /// Begins measuring if the run has settled, at the latest after half of its time.
    pub(super) fn judge_warmup<N: Network>(&mut self, network: &mut N, edge: Time) {
        if self.options.warmup.is_some() {
            return;
        }
        let batches = &self.measure.batches.done;
        let stationary = batches.len() == 64 && warmup_end(batches).is_some();
        if stationary || edge >= self.options.until / 2 {
            self.begin_measuring(network, edge);
        }
    }

    /// Whether the batches are precise enough: for throughput and both latencies, or for throughput alone if latencies
    /// grow without bound.
    pub(super) fn judge<N: Network>(&mut self, network: &N, edge: Time) {
        let (wanted, done) = (self.options.precision, &self.measure.batches.done);
        if wanted <= 0.0 || done.len() < 32 || done.len() % 8 != 0 {
            return;
        }
        let Some(known) = precision(done).filter(|known| known.throughput.within(wanted)) else { return };
        let saturated = self.is_saturated(network.fabric(), edge);
        if saturated || known.latency.within(wanted) && known.total.within(wanted) {
            self.now = edge;
            self.end = Some(if saturated { End::Saturated } else { End::Precision });
        }
    }

    /// Returns how far behind a source is: the age of its newest dispatched packet, 0 if no other one waits or is due.
    /// The lag grows without bound if packets are created faster than they can leave.
    pub(super) fn lag(&self, terminal: usize, now: Time) -> Time {
        if let Some(ports) = &self.ports {
            return ports.lag(terminal, now);
        }
        let waits = self.pending[terminal].is_none() && !self.sources.is_over(terminal);
        if waits { now - self.newest[terminal] } else { 0 }
    }

    /// Returns by how much open sources have fallen behind since measuring began, on average. A few packets more or
    /// less are chance and count as zero.
    fn growth(&self, fabric: &Fabric, now: Time) -> f64 {
        let (mut sum, mut sources) = (0.0, 0u32);
        for (terminal, &then) in self.watch.lags.iter().enumerate() {
            if Sources::is_open(fabric, terminal) {
                let growth = (self.lag(terminal, now) - then) as f64;
                let counts = growth.abs() > CHANCE * Sources::interval_ticks(fabric, terminal);
                sum += if counts { growth } else { 0.0 };
                sources += 1;
            }
        }
        sum / f64::from(sources.max(1))
    }

    /// Whether more than 1 % more is offered than accepted: by the growing age of dispatched packets, or by refusals.
    pub(super) fn is_saturated(&self, fabric: &Fabric, now: Time) -> bool {
        let window = (now - self.measure.start) as f64;
        window > 0.0 && self.growth(fabric, now) / window > 0.01 || self.refuses(fabric, now)
    }

    /// Whether sources with short or no queues refuse more than 1 % of their packets.
    fn refuses(&self, fabric: &Fabric, now: Time) -> bool {
        if fabric.source_queue.iter().all(|&places| places == 0) {
            return false;
        }
        let (totals, then) = (self.totals(fabric, now), &self.watch.offered);
        100 * (totals.refused - then.refused) > totals.offered - then.offered
    }
}
