//! How many packets of every flow of sources were created, delivered and refused, from tick 0 to the end of the run.

use std::collections::BTreeMap;

use super::Delivery;
use crate::kernel::Time;

/// The packets of one flow. Packets for several terminals count once per copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Packets that its source created.
    pub made: u64,
    /// When it created the first.
    pub first: Time,
    /// Packets that found the queue of the source full.
    pub refused: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// When the last of them was delivered.
    pub last: Time,
    /// When the oldest packet was created that waits at the source or is under way; of flows that are watched.
    pub oldest: Option<Time>,
}

impl Carried {
    /// Records that a packet created then has not arrived.
    pub fn waits_since(&mut self, created: Time) {
        self.oldest = Some(self.oldest.map_or(created, |oldest| oldest.min(created)));
    }
}

/// The packets that the network has taken, by their row in the columns `flow_*`.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    delivered: Vec<(u64, Time)>,
    /// Per watched flow: how many copies of packets have not arrived, by the tick of their creation.
    open: BTreeMap<u32, BTreeMap<Time, u64>>,
}

impl Taken {
    /// Returns empty sums for this many flows, of which some are watched.
    pub fn new(flows: usize, watched: &[u32]) -> Self {
        let open = watched.iter().map(|&row| (row, BTreeMap::new())).collect();
        Self { delivered: vec![(0, 0); flows], open }
    }

    /// Whether packets that leave their source have to be told.
    #[inline]
    pub fn watches(&self) -> bool {
        !self.open.is_empty()
    }

    /// Records that a packet of a flow has left its source.
    pub fn leave(&mut self, row: u32, created: Time, copies: u64) {
        if let Some(open) = self.open.get_mut(&row) {
            *open.entry(created).or_default() += copies;
        }
    }

    /// Records a delivery.
    #[inline]
    pub fn record(&mut self, delivery: &Delivery) {
        let Some(row) = self.delivered.get_mut(delivery.mark as usize) else { return };
        *row = (row.0 + 1, delivery.delivered);
        if self.watches() {
            self.arrive(delivery);
        }
    }

    fn arrive(&mut self, delivery: &Delivery) {
        let Some(open) = self.open.get_mut(&delivery.mark) else { return };
        if let Some(left) = open.get_mut(&delivery.created) {
            *left -= 1;
            if *left == 0 {
                open.remove(&delivery.created);
            }
        }
    }

    /// Adds what the network has taken to what the sources say of each flow.
    pub fn add_to(&self, flows: &mut [Carried]) {
        for (flow, &(delivered, last)) in flows.iter_mut().zip(&self.delivered) {
            (flow.delivered, flow.last) = (delivered, last);
        }
        for (&row, open) in &self.open {
            open.keys().next().into_iter().for_each(|&created| flows[row as usize].waits_since(created));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_packet_is_one_that_has_not_arrived() {
        let mut taken = Taken::new(3, &[1]);
        for (created, copies) in [(5, 2), (5, 1), (9, 1)] {
            taken.leave(1, created, copies);
        }
        taken.leave(2, 1, 1);
        let delivery = |created, mark| Delivery {
            source: 0,
            target: 1,
            length: 1,
            created,
            started: created,
            delivered: created + 20,
            mark,
            number: 0,
        };
        let oldest = |taken: &Taken| {
            let mut flows = vec![Carried::default(); 3];
            taken.add_to(&mut flows);
            flows
        };
        (0..2).for_each(|_| taken.record(&delivery(5, 1)));
        assert_eq!(oldest(&taken)[1].oldest, Some(5));
        taken.record(&delivery(5, 1));
        taken.record(&delivery(1, 2));
        let found = oldest(&taken);
        assert_eq!((found[1].oldest, found[1].delivered, found[1].last), (Some(9), 3, 25));
        assert_eq!((found[2].oldest, found[2].delivered), (None, 1));
    }
}
