//! The measurements of a run: batches, latency histograms, flows, packet traces.
//!
//! They only listen: nothing that is simulated depends on them, except that a run may end when it knows enough. The
//! explanations are in `docs/background/statistics.md`; `python/fabriloom/results/statistics.py` computes the same from
//! the batches of a finished run.
//!
//! # Map
//!
//! | section of the page | here | asked by |
//! |---|---|---|
//! | warm-up | [`batches`]: `warmup_end` | `run::run_loop::settle`: `judge_warmup` |
//! | batch means | [`batches`]: `record`, `close`, `halve` | `run::run_loop`: `look` |
//! | precision | [`precision`]: `is_look`, `precision`, `within` | `run::run_loop::settle`: `judge` |
//! | saturated | [`backlog`]: `trend` | `run::run_loop::settle`: `backlog` |
//!
//! # Files
//!
//! The run records into all of them, unless another writer is named. Everything starts again when the warm-up ends,
//! except traces, paths and [`carried`].
//!
//! | file | what it holds | who writes it |
//! |---|---|---|
//! | this one | [`Measure`], the sums and histograms of all deliveries; [`Spread`], a distribution; [`Trace`], single packets; and the records of others: [`Delivery`], [`LinkCounts`] | [`LinkCounts`] by the networks |
//! | [`batches`] | sums over equal intervals, for warm-up and precision | through [`Measure::record`] |
//! | [`shares`] | the throughput of flows in each batch | through [`batches`] |
//! | [`precision`] | the precision of means, from batches: no state | |
//! | [`backlog`] | whether the backlog of the sources grows, from samples | |
//! | [`flows`] | sums per pair of terminals; the delays of the flows that have a requirement | through [`Measure::record`], and for messages by `terminal` |
//! | [`carried`] | packets created, delivered and refused of every flow since tick 0 | |
//! | [`planes`] | sums per plane, and how often packets overtook each other | for messages by `terminal` |
//! | [`codes`] | time-codes and interrupts; the counts of a link | [`CodeCounts`] by `lanes` |
//! | [`hops`] | the path of every packet | by the networks |
//!
//! # Invariants
//!
//! * Every delivery is recorded once, at its tick, before the sources and programs of that tick continue.
//! * Sums are whole numbers, so they do not depend on the order of the deliveries of a tick.
//! * Memory is bounded: histograms have three significant figures, batches are merged in pairs, tables have limits.

mod backlog;
mod batches;
mod carried;
mod codes;
mod flows;
mod hops;
mod planes;
mod precision;
mod shares;

use hdrhistogram::Histogram;

use crate::fabric::NONE;
use crate::kernel::Time;

pub use backlog::{Backlog, MARGIN, STRICT, Trend};
pub use batches::{Batch, Batches, warmup_end};
pub use carried::{Carried, Taken};
pub use codes::{Code, CodeCounts, Codes};
pub use flows::{Delays, Flow, Flows, Multiply, Watched};
pub use hops::{Hop, Hops, hop_kind};
pub use planes::{Order, Planes};
pub use precision::{Known, Precision, is_look, precision};
pub use shares::{Rows, Share, Shares};

/// One delivered packet, or what is known of it before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Sending terminal.
    pub source: u32,
    /// Receiving terminal.
    pub target: u32,
    /// Payload bytes.
    pub length: u32,
    /// When its source created it.
    pub created: Time,
    /// When its first character started on its source's wire.
    pub started: Time,
    /// When its end was received.
    pub delivered: Time,
    /// Its mark; of flows of sources, their row.
    pub mark: u32,
    /// How many its source created before it, where overtaking is counted.
    pub number: u32,
}

impl Delivery {
    /// Returns the ticks from its first character on the source's wire to its end received.
    pub fn latency(&self) -> Time {
        self.delivered - self.started
    }

    /// Returns the ticks from its creation to its end received.
    pub fn total(&self) -> Time {
        self.delivered - self.created
    }
}

/// Activity of a link since the counts were last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Packets whose end was sent.
    pub packets: u64,
    /// Characters sent, headers and ends of packets included.
    pub characters: u64,
    /// Ticks in which the wire was sending.
    pub busy_ticks: u64,
    /// Ticks in which the wire was idle between the first and the last character of a packet on any lane.
    pub stalled_ticks: u64,
    /// Ticks that heads waited for this link or one of its lanes.
    pub wait_ticks: u64,
    /// Most characters of complete packets at a time in an input buffer at its end, where switches pause senders.
    pub most_stored: u64,
}

/// What congestion control has done to a port since the counts were last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttled {
    /// Packets of it that were delivered with a mark.
    pub notified: u64,
    /// Its highest index.
    pub highest: u32,
    /// Ticks for which it rested between packets.
    pub rest_ticks: u64,
}

/// The longest interval without a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    since: Time,
    longest_from: Time,
    longest: Time,
}

impl Pause {
    #[inline]
    fn end(&mut self, now: Time) {
        if now - self.since > self.longest {
            (self.longest_from, self.longest) = (self.since, now - self.since);
        }
        self.since = now;
    }

    /// Returns when the longest interval up to now began, and its length.
    pub fn longest(mut self, now: Time) -> (Time, Time) {
        self.end(now);
        (self.longest_from, self.longest)
    }
}

/// All measurements since the measurement began.
#[derive(Clone, Debug)]
pub struct Measure {
    /// Tick at which it began.
    pub start: Time,
    /// Longest time without a delivery.
    pub pause: Pause,
    /// Latencies of packets that began in the tick of their creation: the same counted from either.
    at_once: Spread,
    /// Those of the others, header on the wire to end received.
    latency: Spread,
    /// Those of the others from their creation.
    total: Spread,
    /// Series for confidence and warm-up.
    pub batches: Batches,
    /// Per pair of terminals, if requested.
    pub flows: Option<Flows>,
    /// Single flows of sources that were requested.
    pub watched: Watched,
}

impl Measure {
    /// Returns an empty measurement from this tick on.
    pub fn new(start: Time, batch: Time, flows: Option<Flows>, watched: Watched, rows: &Rows) -> Self {
        Self {
            start,
            pause: Pause { since: start, longest_from: start, longest: 0 },
            at_once: Spread::default(),
            latency: Spread::default(),
            total: Spread::default(),
            batches: Batches::new(start, batch, Shares::new(rows)),
            flows,
            watched,
        }
    }

    /// Counts one delivery.
    #[inline]
    pub fn record(&mut self, delivery: &Delivery) {
        let (latency, total) = (delivery.latency(), delivery.total());
        self.pause.end(delivery.delivered);
        // With a backlog most packets begin when they are created.
        if latency == total {
            self.at_once.record(latency);
        } else {
            self.latency.record(latency);
            self.total.record(total);
        }
        self.batches.record(delivery);
        if let Some(flows) = &mut self.flows {
            flows.record(delivery);
        }
        self.watched.record(delivery);
    }

    /// Returns the latencies, header on the wire to end received.
    pub fn latency(&self) -> Spread {
        self.latency.and(&self.at_once)
    }

    /// Returns the latencies from the creation of the packet.
    pub fn total(&self) -> Spread {
        self.total.and(&self.at_once)
    }
}

/// Returns a histogram of three significant figures that grows as needed.
fn histogram() -> Histogram<u64> {
    let mut histogram = Histogram::new(3).expect("three figures are allowed");
    histogram.auto(true);
    histogram
}

/// Returns values and counts of a histogram's non-empty cells; a value is the middle of its cell.
pub fn cells(histogram: &Histogram<u64>) -> (Vec<u64>, Vec<u64>) {
    histogram
        .iter_recorded()
        .map(|cell| (histogram.median_equivalent(cell.value_iterated_to()), cell.count_at_value()))
        .unzip()
}

/// A distribution of durations.
#[derive(Clone, Debug)]
pub struct Spread {
    /// Three significant figures of each.
    pub histogram: Histogram<u64>,
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum: i128,
    /// The shortest; [`Time::MAX`] if there is none.
    pub min: Time,
    /// The longest.
    pub max: Time,
}

impl Default for Spread {
    fn default() -> Self {
        Self { histogram: histogram(), count: 0, sum: 0, min: Time::MAX, max: 0 }
    }
}

impl Spread {
    /// Counts one duration.
    #[inline]
    pub fn record(&mut self, ticks: Time) {
        self.count += 1;
        self.sum += i128::from(ticks);
        self.min = self.min.min(ticks);
        self.max = self.max.max(ticks);
        self.histogram.record(ticks.max(0) as u64).expect("a histogram that grows takes every value");
    }

    /// Returns the distribution of these durations and others.
    fn and(&self, other: &Self) -> Self {
        let mut histogram = self.histogram.clone();
        histogram.add(&other.histogram).expect("a histogram that grows takes every value");
        Self {
            histogram,
            count: self.count + other.count,
            sum: self.sum + other.sum,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

/// A packet trace of limited length.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Deliveries in order.
    pub packets: Vec<Delivery>,
    /// Limit of the kept packets.
    pub limit: usize,
    /// Number of further packets.
    pub dropped: u64,
}

impl Trace {
    /// Keeps a delivery if there is room.
    pub fn record(&mut self, delivery: Delivery) {
        debug_assert!(delivery.source != NONE);
        if self.packets.len() < self.limit {
            self.packets.push(delivery);
        } else {
            self.dropped += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_those_of_all_packets() {
        let mut measure = Measure::new(0, 100, None, Watched::default(), &Rows::None);
        let (mut latency, mut total) = (Spread::default(), Spread::default());
        for n in 0..2000 {
            // A third begin when they are created.
            let (created, started) = (n, n + n % 3 * 70);
            let delivered = started + 9 * n * n;
            let (source, target, length, mark, number) = (0, 1, 64, NONE, 0);
            let delivery = Delivery { source, target, length, created, started, delivered, mark, number };
            measure.record(&delivery);
            latency.record(delivery.latency());
            total.record(delivery.total());
        }
        for (found, kept) in [(measure.latency(), latency), (measure.total(), total)] {
            assert_eq!(cells(&found.histogram), cells(&kept.histogram));
            let sums = |spread: &Spread| (spread.count, spread.sum, spread.min, spread.max);
            assert_eq!(sums(&found), sums(&kept));
        }
    }
}
