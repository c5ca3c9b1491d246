//! Token buckets: the pace of a flow, of a channel and of a port. See `docs/background/sources.md`.

use crate::kernel::Time;

/// A token bucket, as the time at which it is full again, in any unit of time.
///
/// A packet costs the time in which its tokens flow in. A bucket with room for one packet is a gap between packets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bucket {
    /// Not rounded, so that a rate does not drift.
    full: f64,
}

impl Bucket {
    /// Returns when it holds the tokens of a packet; `room`: the time in which it fills, at least the cost.
    #[inline]
    pub fn opens(self, cost: f64, room: f64) -> Time {
        (self.full - (room - cost)).ceil() as Time
    }

    /// Whether it holds less at a time than it has room for.
    #[inline]
    pub fn is_used(self, now: Time) -> bool {
        self.full > now as f64
    }

    /// Takes the tokens of a packet that passes at a time.
    #[inline]
    pub fn pass(&mut self, now: Time, cost: f64) {
        self.full = self.full.max(now as f64) + cost;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet passes as early as no interval between two packets has more than the burst and the rate allow:
    /// `D(n) = max(A(n), D(k) + (L(k) + … + L(n) - burst) / rate)` over all packets k before n.
    #[test]
    fn packets_pass_as_early_as_the_curve_allows() {
        let mut seed = 5u64;
        let mut below = |limit: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % limit
        };
        for _ in 0..200 {
            let (per_byte, longest) = (0.25 * (1 + below(40)) as f64, 1 + below(90));
            let room = (longest + below(300)) as f64;
            let (mut bucket, mut made, mut last) = (Bucket::default(), 0, 0);
            let mut passed: Vec<(Time, f64)> = Vec::new();
            for _ in 0..60 {
                made += below(400) as Time;
                let bytes = (1 + below(longest)) as f64;
                let now = bucket.opens(bytes * per_byte, room * per_byte).max(made).max(last);
                bucket.pass(now, bytes * per_byte);
                passed.push((now, bytes));
                let curve = (0..passed.len() - 1).map(|first| {
                    let sum: f64 = passed[first..].iter().map(|one| one.1).sum();
                    passed[first].0 as f64 + (sum - room) * per_byte
                });
                let earliest = curve.fold(made.max(last) as f64, f64::max).ceil() as Time;
                assert_eq!(now, earliest);
                last = now;
            }
        }
    }

    #[test]
    fn room_for_one_packet_is_a_gap() {
        let mut bucket = Bucket::default();
        assert_eq!(bucket.opens(7.0, 7.0), 0);
        bucket.pass(3, 7.0);
        assert_eq!(bucket.opens(9.0, 9.0), 10);
    }
}
