//! Batch means: the run divided into equal intervals, for confidence intervals and for the end of warm-up.

use super::{Delivery, Shares};
use crate::kernel::Time;

/// Sums over one interval, by the tick of delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Packets delivered.
    pub packets: u64,
    /// Their payload bytes.
    pub bytes: u64,
    /// Sum of latencies, header on the wire to end received.
    pub latency: i128,
    /// Sum of latencies from the creation of the packets.
    pub total: i128,
}

impl Batch {
    fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.latency += other.latency;
        self.total += other.total;
    }

    fn mean_latency(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.latency as f64 / self.packets as f64)
    }
}

/// With this many batches, neighbours are merged and batches become twice as long.
pub const MOST: usize = 128;

/// The series of batches.
#[derive(Clone, Debug)]
pub struct Batches {
    /// Tick at which the first begins.
    pub start: Time,
    /// Ticks of one batch.
    pub length: Time,
    /// Complete batches, in order.
    pub done: Vec<Batch>,
    open: Batch,
    /// The shares of flows in them.
    pub shares: Shares,
}

impl Batches {
    /// Returns an empty series.
    pub fn new(start: Time, length: Time, shares: Shares) -> Self {
        Self { start, length: length.max(1), done: Vec::with_capacity(MOST), open: Batch::default(), shares }
    }

    /// Returns the first tick after the current batch.
    pub fn end_of_open(&self) -> Time {
        self.start + (self.done.len() as Time + 1) * self.length
    }

    /// Returns the sums over all batches, the current one included.
    pub fn sum(&self) -> Batch {
        let mut sum = self.open;
        self.done.iter().for_each(|batch| sum.add(batch));
        sum
    }

    /// Adds a delivery to the current batch.
    #[inline]
    pub fn record(&mut self, delivery: &Delivery) {
        self.open.packets += 1;
        self.open.bytes += u64::from(delivery.length);
        self.open.latency += i128::from(delivery.latency());
        self.open.total += i128::from(delivery.total());
        self.shares.record(delivery);
    }

    /// Closes the current batch at its end.
    pub fn close(&mut self) {
        self.done.push(self.open);
        self.open = Batch::default();
        self.shares.close();
        if self.done.len() == MOST {
            self.halve();
        }
    }

    fn halve(&mut self) {
        for pair in 0..self.done.len() / 2 {
            let mut joined = self.done[2 * pair];
            joined.add(&self.done[2 * pair + 1]);
            self.done[pair] = joined;
        }
        self.done.truncate(self.done.len() / 2);
        self.length *= 2;
        self.shares.halve();
    }
}

/// Returns how many batches to omit at the start so that the others look stationary, if any number does.
///
/// Uses the marginal standard error rule (MSER): omit the number of batches that minimises the standard error of the
/// mean of the others, for latency and for throughput, at most half of them.
pub fn warmup_end(batches: &[Batch]) -> Option<usize> {
    let mut last = 0.0;
    let latency: Vec<f64> = batches
        .iter()
        .map(|batch| {
            last = batch.mean_latency().unwrap_or(last);
            last
        })
        .collect();
    let bytes: Vec<f64> = batches.iter().map(|batch| batch.bytes as f64).collect();
    let cut = mser(&latency).max(mser(&bytes));
    (2 * cut <= batches.len()).then_some(cut)
}

/// Returns the position of the smallest marginal standard error among all but the last eighth.
fn mser(values: &[f64]) -> usize {
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (position, value) in values.iter().enumerate().rev() {
        sum += value;
        squares += value * value;
        let count = (values.len() - position) as f64;
        if count < (values.len() / 8).max(4) as f64 {
            continue;
        }
        let spread = (squares - sum * sum / count).max(0.0) / (count * count);
        if spread <= best.0 {
            best = (spread, position);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[i128]) -> Vec<Batch> {
        values.iter().map(|&v| Batch { packets: 10, bytes: 640, latency: 10 * v, total: 10 * v }).collect()
    }

    #[test]
    fn a_transient_is_left_out() {
        let values: Vec<i128> =
            (0..64).map(|n| if n < 8 { 100 * n } else { 1000 + (n * 7919) % 13 }).collect();
        assert_eq!(warmup_end(&series(&values)), Some(8));
        let rising: Vec<i128> = (0..64).map(|n| 100 * n).collect();
        assert_eq!(warmup_end(&series(&rising)), None);
    }

    #[test]
    fn joining_keeps_sums() {
        let mut batches = Batches::new(0, 10, Shares::default());
        let delivery = Delivery {
            source: 0,
            target: 1,
            length: 64,
            created: 0,
            started: 1,
            delivered: 8,
            mark: 0,
            number: 0,
        };
        for _ in 0..300 {
            batches.record(&delivery);
            batches.close();
        }
        batches.record(&delivery);
        assert_eq!((batches.sum().packets, batches.sum().bytes), (301, 301 * 64));
        assert_eq!(batches.done.iter().map(|b| b.packets).sum::<u64>(), 300);
        assert_eq!(batches.done.iter().map(|b| b.latency).sum::<i128>(), 300 * 7);
    }
}
