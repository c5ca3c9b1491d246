//! Sums per plane for terminals with several ports, and how often packets of one pair overtook each other.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::{Delivery, Flow, Multiply};
use crate::kernel::Time;

/// Deliveries by plane since the measurement began.
#[derive(Clone, Debug, Default)]
pub struct Planes {
    /// Per plane: its deliveries.
    pub sums: Vec<Flow>,
}

impl Planes {
    /// Returns empty sums.
    pub fn new(planes: u32) -> Self {
        Self { sums: vec![Flow::default(); planes as usize] }
    }

    /// Counts a packet.
    pub fn record(&mut self, plane: u32, delivery: &Delivery) {
        self.sums[plane as usize].add(delivery);
    }

    /// Resets the counts.
    pub fn clear(&mut self) {
        self.sums.fill(Flow::default());
    }
}

/// The newest arrival of a pair.
#[derive(Clone, Copy, Debug)]
struct Newest {
    /// Its number.
    number: u32,
    /// The tick of the last arrival, and the newest before it: arrivals in one tick are simultaneous.
    now: Time,
    before: u32,
}

/// Counts overtaking, of packets or of messages.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// Arrivals after a later one of the same pair of terminals, since the measurement began.
    pub overtaken: u64,
    /// Per pair, from tick 0 on.
    newest: HashMap<u64, Newest, BuildHasherDefault<Multiply>>,
    /// Per pair of terminals with one port, if that is counted: when the arrival that started last did so.
    latest: Vec<Time>,
    terminals: usize,
}

/// Limit of the pairs of terminals with one port: 32 MB.
const MOST_PAIRS: usize = 1 << 22;

impl Order {
    /// Returns the counter of terminals with one port each; none of more than 2048.
    pub fn by_start(terminals: u32) -> Self {
        let terminals = terminals as usize;
        let pairs = terminals.saturating_mul(terminals);
        Self { latest: vec![0; if pairs > MOST_PAIRS { 0 } else { pairs }], terminals, ..Self::default() }
    }

    /// Whether it is one that counts.
    #[inline]
    pub fn counts_starts(&self) -> bool {
        !self.latest.is_empty()
    }

    /// Counts an arrival.
    pub fn record(&mut self, delivery: &Delivery) {
        let pair = u64::from(delivery.source) << 32 | u64::from(delivery.target);
        let (number, now) = (delivery.number, delivery.delivered);
        let at = self.newest.entry(pair).or_insert(Newest { number, now, before: number });
        if at.now != now {
            (at.now, at.before) = (now, at.number);
        }
        // The numbers wrap around.
        let is_ahead = |other: u32| number.wrapping_sub(other) as i32 >= 0;
        self.overtaken += u64::from(!is_ahead(at.before));
        at.number = if is_ahead(at.number) { number } else { at.number };
    }

    /// Counts an arrival between terminals with one port, which start packets one after another and receive them so.
    #[inline]
    pub fn record_start(&mut self, delivery: &Delivery) {
        let latest = &mut self.latest[delivery.source as usize * self.terminals + delivery.target as usize];
        self.overtaken += u64::from(delivery.started < *latest);
        *latest = delivery.started.max(*latest);
    }

    /// Resets the count, but keeps the newest arrivals.
    pub fn clear(&mut self) {
        self.overtaken = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_behind_a_later_one_was_overtaken() {
        let (mut planes, mut order) = (Planes::new(2), Order::default());
        let mut delivered = 5;
        let mut of = |source, number| {
            delivered += 1;
            Delivery { source, target: 7, length: 8, created: 0, started: 1, delivered, mark: 9, number }
        };
        for (plane, source, number) in [(0, 1, 0), (1, 1, 2), (0, 1, 1), (0, 2, 0), (1, 1, 3), (0, 1, 4)] {
            let delivery = of(source, number);
            planes.record(plane, &delivery);
            order.record(&delivery);
        }
        assert_eq!((order.overtaken, planes.sums[0].packets, planes.sums[1].packets), (1, 4, 2));
        assert_eq!(planes.sums[1].bytes, 16);
        planes.clear();
        order.clear();
        order.record(&of(1, u32::MAX / 2 + 4));
        assert_eq!((order.overtaken, planes.sums[0].packets), (0, 0));
        order.record(&of(1, 3));
        assert_eq!(order.overtaken, 1);
        // Simultaneous with a newer one, and after none that came before.
        order.record(&of(9, 0));
        let newer = of(9, 2);
        order.record(&newer);
        order.record(&Delivery { number: 1, ..newer });
        assert_eq!(order.overtaken, 1);
    }
}
