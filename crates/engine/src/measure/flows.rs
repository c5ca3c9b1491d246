//! Sums per pair of terminals, and complete delays of the flows of sources that have a requirement.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::{Delivery, Spread};
use crate::fabric::NONE;
use crate::kernel::Time;

/// Sums over the packets, or messages, of one pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Packets or messages delivered.
    pub packets: u64,
    /// Their payload bytes.
    pub bytes: u64,
    /// Sum of latencies; of packets: header on the wire to end received, of messages: creation to receipt.
    pub latency_sum: Time,
    /// The longest latency.
    pub latency_max: Time,
}

impl Flow {
    /// Adds a packet.
    #[inline]
    pub fn add(&mut self, delivery: &Delivery) {
        self.packets += 1;
        self.bytes += u64::from(delivery.length);
        self.latency_sum = self.latency_sum.saturating_add(delivery.latency());
        self.latency_max = self.latency_max.max(delivery.latency());
    }
}

/// Hashes pair numbers; nothing depends on the order of the map.
#[derive(Clone, Copy, Debug, Default)]
pub struct Multiply(u64);

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

/// Limit of the pairs in a plain table.
const PLAIN: usize = 1 << 16;

/// Sums by pair.
#[derive(Clone, Debug)]
enum Pairs {
    /// By source and target, in a small table without lookup.
    Plain(Vec<Flow>),
    /// Pairs that sent packets.
    Found(HashMap<u64, Flow, BuildHasherDefault<Multiply>>),
}

/// All pairs that sent packets, up to a limit.
#[derive(Clone, Debug)]
pub struct Flows {
    pairs: Pairs,
    terminals: usize,
    limit: usize,
    /// Packets of the other pairs.
    pub dropped: u64,
}

impl Flows {
    /// Returns an empty table for this many terminals; at most `limit` pairs are kept.
    pub fn new(terminals: u32, limit: usize) -> Self {
        let terminals = terminals as usize;
        let all = terminals.saturating_mul(terminals);
        let pairs = if all <= limit.min(PLAIN) {
            Pairs::Plain(vec![Flow::default(); all])
        } else {
            Pairs::Found(HashMap::default())
        };
        Self { pairs, terminals, limit, dropped: 0 }
    }

    /// Counts one delivery.
    #[inline(always)]
    pub fn record(&mut self, delivery: &Delivery) {
        match &mut self.pairs {
            Pairs::Plain(flows) => {
                flows[delivery.source as usize * self.terminals + delivery.target as usize].add(delivery);
            }
            Pairs::Found(_) => self.find_and_record(delivery),
        }
    }

    /// The same for pairs that have to be looked up.
    #[inline(never)]
    fn find_and_record(&mut self, delivery: &Delivery) {
        let Pairs::Found(pairs) = &mut self.pairs else { return };
        let key = u64::from(delivery.source) << 32 | u64::from(delivery.target);
        if pairs.len() >= self.limit && !pairs.contains_key(&key) {
            self.dropped += 1;
        } else {
            pairs.entry(key).or_default().add(delivery);
        }
    }

    /// Resets all counts.
    pub fn clear(&mut self) {
        match &mut self.pairs {
            Pairs::Plain(flows) => flows.fill(Flow::default()),
            Pairs::Found(pairs) => pairs.clear(),
        }
        self.dropped = 0;
    }

    /// Returns source, target and sums of every pair, ordered by source and target.
    pub fn sorted(&self) -> Vec<(u32, u32, Flow)> {
        let mut rows: Vec<_> = match &self.pairs {
            Pairs::Plain(flows) => {
                let pair = |place: usize| ((place / self.terminals) as u32, (place % self.terminals) as u32);
                let sent = flows.iter().enumerate().filter(|(_, flow)| flow.packets > 0);
                sent.map(|(place, &flow)| (pair(place).0, pair(place).1, flow)).collect()
            }
            Pairs::Found(pairs) => {
                pairs.iter().map(|(&key, &flow)| ((key >> 32) as u32, key as u32, flow)).collect()
            }
        };
        rows.sort_unstable_by_key(|&(source, target, _)| (source, target));
        rows
    }
}

/// The delays of one flow.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    /// From the creation of its packets to their ends received.
    pub total: Spread,
    /// The longest time from the first character on the source's wire to the end received.
    pub latency_max: Time,
}

/// Flows by their row in the columns `flow_*`.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// By row: the index in `delays`, or [`NONE`].
    places: Vec<u32>,
    /// In the order of the request.
    pub delays: Vec<Delays>,
}

impl Watched {
    /// Returns empty delays of the flows of these rows.
    pub fn new(rows: &[u32]) -> Self {
        let mut places = vec![NONE; rows.iter().max().map_or(0, |&last| last as usize + 1)];
        for (place, &row) in rows.iter().enumerate() {
            places[row as usize] = place as u32;
        }
        Self { places, delays: vec![Delays::default(); rows.len()] }
    }

    /// Counts one delivery if its flow is watched.
    #[inline]
    pub fn record(&mut self, delivery: &Delivery) {
        let Some(&place) = self.places.get(delivery.mark as usize) else { return };
        if let Some(delays) = self.delays.get_mut(place as usize) {
            delays.total.record(delivery.total());
            delays.latency_max = delays.latency_max.max(delivery.latency());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_table_keeps_what_a_map_does() {
        let mut plain = Flows::new(4, PLAIN);
        let mut found = Flows::new(PLAIN as u32, PLAIN);
        for n in 0..40u32 {
            let (source, target) = (n * n % 4, n / 3 % 4);
            let created = Time::from(n);
            let delivery = Delivery {
                source,
                target,
                length: n,
                created,
                started: created,
                delivered: 90,
                mark: 0,
                number: 0,
            };
            plain.record(&delivery);
            found.record(&delivery);
        }
        assert!(matches!((&plain.pairs, &found.pairs), (Pairs::Plain(_), Pairs::Found(_))));
        assert_eq!(plain.sorted(), found.sorted());
    }

    #[test]
    fn pairs_beyond_the_limit_are_dropped() {
        let mut flows = Flows::new(4, 2);
        for target in [1, 2, 3, 1] {
            flows.record(&Delivery {
                source: 0,
                target,
                length: 1,
                created: 0,
                started: 0,
                delivered: 1,
                mark: 0,
                number: 0,
            });
        }
        assert_eq!((flows.sorted().len(), flows.dropped), (2, 1));
    }

    #[test]
    fn only_the_rows_that_were_asked_for_are_kept() {
        let mut watched = Watched::new(&[5, 2]);
        for (mark, started) in [(2, 10), (5, 4), (5, 6), (3, 0), (9, 0), (NONE, 0)] {
            let delivery = Delivery {
                source: 0,
                target: 1,
                length: 1,
                created: 1,
                started,
                delivered: 20,
                mark,
                number: 0,
            };
            watched.record(&delivery);
        }
        let seen: Vec<_> =
            watched.delays.iter().map(|d| (d.total.count, d.total.max, d.latency_max)).collect();
        assert_eq!(seen, [(2, 19, 16), (1, 19, 10)]);
    }
}
