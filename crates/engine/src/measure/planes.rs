//! Sums per plane, where terminals have several ports, and how often packets of one pair overtook each other.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::{Delivery, Flow, Multiply};

/// What came by each plane since the measurement began.
#[derive(Clone, Debug, Default)]
pub struct Planes {
    /// Per plane: what was delivered.
    pub sums: Vec<Flow>,
    /// Packets that came behind a later one of the same pair of terminals.
    pub overtaken: u64,
    /// Per pair: the number of the newest packet that has come, from tick 0 on.
    newest: HashMap<u64, u32, BuildHasherDefault<Multiply>>,
}

impl Planes {
    /// Nothing has come yet.
    pub fn new(planes: u32) -> Self {
        Self { sums: vec![Flow::default(); planes as usize], ..Self::default() }
    }

    /// Counts a packet, whose mark says how many its source had made before.
    pub fn record(&mut self, plane: u32, delivery: &Delivery) {
        self.sums[plane as usize].add(delivery);
        let pair = u64::from(delivery.source) << 32 | u64::from(delivery.target);
        let newest = self.newest.entry(pair).or_insert(delivery.mark);
        // The numbers go around.
        let ahead = delivery.mark.wrapping_sub(*newest) as i32;
        self.overtaken += u64::from(ahead < 0);
        *newest = if ahead < 0 { *newest } else { delivery.mark };
    }

    /// Forgets what was counted, not who came last.
    pub fn clear(&mut self) {
        self.sums.fill(Flow::default());
        self.overtaken = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_behind_a_later_one_was_overtaken() {
        let mut planes = Planes::new(2);
        let of = |source, mark| Delivery {
            source,
            target: 7,
            length: 8,
            created: 0,
            started: 1,
            delivered: 5,
            mark,
        };
        for (plane, source, mark) in [(0, 1, 0), (1, 1, 2), (0, 1, 1), (0, 2, 0), (1, 1, 3), (0, 1, 4)] {
            planes.record(plane, &of(source, mark));
        }
        assert_eq!((planes.overtaken, planes.sums[0].packets, planes.sums[1].packets), (1, 4, 2));
        assert_eq!(planes.sums[1].chars, 16);
        planes.clear();
        planes.record(1, &of(1, u32::MAX / 2 + 4));
        assert_eq!((planes.overtaken, planes.sums[0].packets), (0, 0));
        planes.record(1, &of(1, 3));
        assert_eq!(planes.overtaken, 1);
    }
}
