//! Whether a run has settled, is known well enough, or can never settle.

use super::{Network, Run};
use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::measure::{precision, warmup_end};
use crate::run::End;
use crate::terminal::Sources;

/// A source that has fallen behind by no more of its intervals than this may have done so by chance.
const CHANCE: f64 = 4.0;

impl Run {
    /// Begins measuring if the run has settled, at the latest at half of its time.
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

    /// Whether the batches measured so far are enough: for throughput and both latencies, or for throughput alone where
    /// latencies grow without end.
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

    /// How far behind a source is: the age of the newest packet that it has dispatched, 0 if no other one waits or comes. It grows
    /// without end when packets are made faster than they can leave.
    pub(super) fn lag(&self, terminal: usize, now: Time) -> Time {
        if let Some(ports) = &self.ports {
            return ports.lag(terminal, now);
        }
        let waits = self.pending[terminal].is_none() && !self.sources.is_over(terminal);
        if waits { now - self.newest[terminal] } else { 0 }
    }

    /// By how much open sources have fallen behind since measuring began, on the mean. A few packets more or less in
    /// waiting are chance and count as nothing.
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

    /// Offered more than 1 % faster than accepted: by the growing age of what is dispatched, or by refusals.
    pub(super) fn is_saturated(&self, fabric: &Fabric, now: Time) -> bool {
        let window = (now - self.measure.start) as f64;
        window > 0.0 && self.growth(fabric, now) / window > 0.01 || self.refuses(fabric, now)
    }

    /// Whether sources with few or no places refuse more than 1 % of what they make.
    fn refuses(&self, fabric: &Fabric, now: Time) -> bool {
        if fabric.source_queue.iter().all(|&places| places == 0) {
            return false;
        }
        let (totals, then) = (self.totals(fabric, now), &self.watch.offered);
        100 * (totals.refused - then.refused) > totals.offered - then.offered
    }
}
