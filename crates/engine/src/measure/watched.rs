//! Complete delays of the flows of sources that have a requirement.

use super::{Delivery, Spread};
use crate::fabric::NONE;
use crate::kernel::Time;

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
