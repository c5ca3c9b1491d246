//! Whether a run has settled, is precise enough, or can never settle.

use super::{Network, Run};
use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::measure::{MARGIN, Precision, STRICT, Trend, is_look, precision, warmup_end};
use crate::run::End;
use crate::terminal::Sources;

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

    /// Whether the batches are precise enough: for throughput and what else is wanted, or for throughput alone if
    /// latencies grow without bound.
    pub(super) fn judge<N: Network>(&mut self, network: &N, edge: Time) {
        let (wanted, done) = (self.options.precision, &self.measure.batches.done);
        if wanted <= 0.0 || !is_look(done.len()) {
            return;
        }
        let Some(known) = precision(done).filter(|known| known.throughput.within(wanted)) else { return };
        let saturated = self.is_saturated(network.fabric(), edge);
        if saturated || self.is_known(network.fabric(), known) {
            self.now = edge;
            self.ended_at_look = true;
            self.end = Some(if saturated { End::Saturated } else { End::Precision });
        }
    }

    /// Whether besides throughput all is known that was asked for: latencies, or that the backlog does not grow.
    fn is_known(&self, fabric: &Fabric, known: Precision) -> bool {
        let wanted = self.options.precision;
        if self.options.latencies {
            known.latency.within(wanted) && known.total.within(wanted)
        } else {
            self.backlog_within(fabric, STRICT) == Trend::Bounded
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

    /// Samples the backlog up to a tick: the packets under way, and those that wait at open sources, by the ages of the
    /// newest that have left, and for tokens.
    pub(super) fn sample_backlog<N: Network>(&mut self, network: &N, next: Time) {
        let fabric = network.fabric();
        while self.watch.measuring && next >= self.watch.backlog.due() {
            let due = self.watch.backlog.due();
            let behind =
                |terminal| self.lag(terminal, due) as f64 / Sources::interval_ticks(fabric, terminal);
            let held = |terminal| self.sources.held(fabric, terminal, due);
            let waiting: f64 = self.open().map(|terminal| behind(terminal) + held(terminal)).sum();
            self.watch.backlog.add(waiting + network.in_flight() as f64);
        }
    }

    /// Returns the terminals whose sources create packets whatever the network accepts.
    fn open(&self) -> impl Iterator<Item = usize> {
        self.open.iter().map(|&terminal| terminal as usize)
    }

    /// Returns whether the backlog of open sources grows.
    pub(in crate::run) fn backlog(&self, fabric: &Fabric) -> Trend {
        self.backlog_within(fabric, MARGIN)
    }

    fn backlog_within(&self, fabric: &Fabric, margin: f64) -> Trend {
        let rate = self.open().map(|terminal| Sources::interval_ticks(fabric, terminal).recip()).sum();
        self.watch.backlog.trend(self.open.len(), rate, margin)
    }

    /// Whether more is offered than accepted: the backlog grows, or packets are refused.
    pub(super) fn is_saturated(&self, fabric: &Fabric, now: Time) -> bool {
        self.backlog(fabric) == Trend::Grows || self.refuses(fabric, now)
    }

    /// Whether sources with short or no queues refuse more than 1 % of their packets.
    fn refuses(&self, fabric: &Fabric, now: Time) -> bool {
        if fabric.source_queue.iter().all(|&places| places == 0) {
            return false;
        }
        let (totals, then) = (self.totals(fabric, now), &self.watch.offered);
        100 * (totals.refused - then.refused) > totals.offered - then.offered
    }

    /// Returns terminal and creation of each packet that waits at its source; none with programs.
    pub(in crate::run) fn waiting(&self, fabric: &Fabric) -> Vec<(u32, Time)> {
        match (&self.programs, &self.ports) {
            (Some(_), _) => Vec::new(),
            (None, Some(ports)) => ports.waiting_since(&self.sources, fabric, self.now),
            (None, None) => {
                let handed = (0..)
                    .zip(&self.pending)
                    .filter_map(|(terminal, packet)| Some((terminal, (*packet)?.created)));
                let handed = handed.filter(|&(_, created)| created <= self.now);
                handed.chain(self.sources.clone().waiting(fabric, self.now)).collect()
            }
        }
    }
}
