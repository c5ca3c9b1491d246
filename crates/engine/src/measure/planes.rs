//! Sums per plane, where terminals have several ports, and how often packets of one pair overtook each other.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::{Delivery, Flow, Multiply};
use crate::kernel::Time;

/// What came by each plane since the measurement began.
#[derive(Clone, Debug, Default)]
pub struct Planes {
    /// Per plane: what was delivered.
    pub sums: Vec<Flow>,
}

impl Planes {
    /// Nothing has come yet.
    pub fn new(planes: u32) -> Self {
        Self { sums: vec![Flow::default(); planes as usize] }
    }

    /// Counts a packet.
    pub fn record(&mut self, plane: u32, delivery: &Delivery) {
        self.sums[plane as usize].add(delivery);
    }

    /// Forgets what was counted.
    pub fn clear(&mut self) {
        self.sums.fill(Flow::default());
    }
}

/// What has come of a pair.
#[derive(Clone, Copy, Debug)]
struct Newest {
    /// The number of the newest.
    number: u32,
    /// The tick in which one came last, and the newest before it: what comes in one tick comes together.
    now: Time,
    before: u32,
}

/// How often what comes is overtaken, packets or messages.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// What came behind a later one of the same pair of terminals, since the measurement began.
    pub overtaken: u64,
    /// Per pair, from tick 0 on.
    newest: HashMap<u64, Newest, BuildHasherDefault<Multiply>>,
}

impl Order {
    /// Looks at one that comes, whose mark says how many had been made before it.
    pub fn record(&mut self, delivery: &Delivery) {
        let pair = u64::from(delivery.source) << 32 | u64::from(delivery.target);
        let (number, now) = (delivery.mark, delivery.delivered);
        let at = self.newest.entry(pair).or_insert(Newest { number, now, before: number });
        if at.now != now {
            (at.now, at.before) = (now, at.number);
        }
        // The numbers go around.
        let is_ahead = |other: u32| number.wrapping_sub(other) as i32 >= 0;
        self.overtaken += u64::from(!is_ahead(at.before));
        at.number = if is_ahead(at.number) { number } else { at.number };
    }

    /// Forgets what was counted, not who came last.
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
        let mut of = |source, mark| {
            delivered += 1;
            Delivery { source, target: 7, length: 8, created: 0, started: 1, delivered, mark }
        };
        for (plane, source, mark) in [(0, 1, 0), (1, 1, 2), (0, 1, 1), (0, 2, 0), (1, 1, 3), (0, 1, 4)] {
            let delivery = of(source, mark);
            planes.record(plane, &delivery);
            order.record(&delivery);
        }
        assert_eq!((order.overtaken, planes.sums[0].packets, planes.sums[1].packets), (1, 4, 2));
        assert_eq!(planes.sums[1].chars, 16);
        planes.clear();
        order.clear();
        order.record(&of(1, u32::MAX / 2 + 4));
        assert_eq!((order.overtaken, planes.sums[0].packets), (0, 0));
        order.record(&of(1, 3));
        assert_eq!(order.overtaken, 1);
        // Together with one that is newer, and not behind any that came before.
        order.record(&of(9, 0));
        let newer = of(9, 2);
        order.record(&newer);
        order.record(&Delivery { mark: 1, ..newer });
        assert_eq!(order.overtaken, 1);
    }
}
