//! Sums per pair of terminals.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::Delivery;
use crate::kernel::Time;

/// Sums over the packets of one pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Packets delivered.
    pub packets: u64,
    /// Their payload characters.
    pub chars: u64,
    /// Sum of latencies, header on the wire to end received.
    pub latency_sum: Time,
    /// The longest latency.
    pub latency_max: Time,
}

/// Spreads pair numbers; the order of the map is never seen.
#[derive(Clone, Copy, Debug, Default)]
struct Multiply(u64);

impl Hasher for Multiply {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }
    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0 ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 29);
    }
}

/// All pairs that sent something, up to a limit.
#[derive(Clone, Debug)]
pub struct Flows {
    pairs: HashMap<u64, Flow, BuildHasherDefault<Multiply>>,
    limit: usize,
    /// Packets of pairs beyond the limit.
    pub dropped: u64,
}

impl Flows {
    /// No pairs yet; at most `limit` are kept.
    pub fn new(limit: usize) -> Self {
        Self { pairs: HashMap::default(), limit, dropped: 0 }
    }

    /// Counts one delivery.
    pub fn record(&mut self, delivery: &Delivery) {
        let key = u64::from(delivery.source) << 32 | u64::from(delivery.target);
        if self.pairs.len() >= self.limit && !self.pairs.contains_key(&key) {
            self.dropped += 1;
            return;
        }
        let flow = self.pairs.entry(key).or_default();
        flow.packets += 1;
        flow.chars += u64::from(delivery.length);
        flow.latency_sum += delivery.latency();
        flow.latency_max = flow.latency_max.max(delivery.latency());
    }

    /// Source, target and sums of every pair, in order of source and target.
    pub fn sorted(&self) -> Vec<(u32, u32, Flow)> {
        let mut rows: Vec<_> =
            self.pairs.iter().map(|(&key, &flow)| ((key >> 32) as u32, key as u32, flow)).collect();
        rows.sort_unstable_by_key(|&(source, target, _)| (source, target));
        rows
    }
}
