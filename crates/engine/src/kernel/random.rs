//! One random stream per source, group of links, program or switch, so that no stream depends on the draws of another.
//!
//! Streams of one family start 2^128 draws apart, families 2^192 draws apart, all from one seed. The logarithm is in
//! pure Rust, so that every machine draws the same numbers.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Independent random numbers.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

/// The user of a stream: families never share a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Traffic sources, by terminal.
    Source = 0,
    /// Arbiters and choices, by group.
    Group = 1,
    /// Programs, by terminal.
    Program = 2,
    /// Clocks that are not aligned, by switch.
    Clock = 3,
}

/// Returns the first `count` streams of a family.
pub fn streams(seed: u64, family: Family, count: usize) -> Vec<Stream> {
    let mut state = Xoshiro256PlusPlus::seed_from_u64(seed);
    for _ in 0..family as usize {
        state.long_jump();
    }
    (0..count)
        .map(|_| {
            let stream = Stream(state.clone());
            state.jump();
            stream
        })
        .collect()
}

impl Stream {
    /// Draws uniformly from `0..limit`; `limit` is at least 1. The bias is below `limit` / 2^64.
    pub fn below(&mut self, limit: u32) -> u32 {
        ((u128::from(self.0.next_u64()) * u128::from(limit)) >> 64) as u32
    }

    /// Draws uniformly from [0, 1) on a grid of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Draws from the exponential distribution with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }

    /// Draws from the geometric distribution on 1, 2, 3, … with the given mean, at least 1.
    pub fn geometric(&mut self, mean: f64) -> f64 {
        if mean <= 1.0 {
            return 1.0;
        }
        1.0 + libm::floor(libm::log(1.0 - self.unit()) / libm::log(1.0 - 1.0 / mean))
    }

    /// Draws the index of the first cumulative probability above a uniform number.
    pub fn index(&mut self, cumulative: &[f64]) -> usize {
        let draw = self.unit();
        cumulative.partition_point(|&c| c <= draw).min(cumulative.len() - 1)
    }
}

/// Draws uniformly from `0..limit` by some numbers: the same for these, at any time and again.
pub fn drawn_for(numbers: [u64; 4], limit: u32) -> u32 {
    // Each step is one of SplitMix64 (G. L. Steele, D. Lea and C. H. Flood, 2014).
    let drawn = numbers.into_iter().fold(0, |state, number| {
        let mixed = (state ^ number).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    });
    ((u128::from(drawn) * u128::from(limit)) >> 64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_do_not_depend_on_how_many_there_are() {
        let few: Vec<u32> = streams(7, Family::Source, 2).iter_mut().map(|s| s.below(1000)).collect();
        let many: Vec<u32> = streams(7, Family::Source, 9).iter_mut().map(|s| s.below(1000)).collect();
        assert_eq!(few, many[..2]);
        let other: Vec<u32> = streams(7, Family::Group, 2).iter_mut().map(|s| s.below(1000)).collect();
        assert_ne!(few, other);
    }

    #[test]
    fn draws_for_numbers_are_even_and_independent() {
        for place in 0..4 {
            let mut pairs = [[0_i32; 3]; 3];
            let drawn = |number| {
                let mut numbers = [7, 5, 3, 1];
                numbers[place] = number;
                drawn_for(numbers, 3) as usize
            };
            (0..90_000).for_each(|number| pairs[drawn(number)][drawn(number + 1)] += 1);
            assert!(pairs.iter().flatten().all(|count| (count - 10_000).abs() < 400), "{place} {pairs:?}");
        }
    }

    #[test]
    fn means_are_right() {
        let stream = &mut streams(1, Family::Source, 1)[0];
        let count = 200_000;
        let mean = |mut draw: Box<dyn FnMut(&mut Stream) -> f64>, stream: &mut Stream| {
            (0..count).map(|_| draw(stream)).sum::<f64>() / f64::from(count)
        };
        assert!((mean(Box::new(|s| s.exponential(3.0)), stream) - 3.0).abs() < 0.04);
        assert!((mean(Box::new(|s| s.geometric(4.0)), stream) - 4.0).abs() < 0.04);
        assert!((mean(Box::new(|s| f64::from(s.below(10))), stream) - 4.5).abs() < 0.04);
        assert!((mean(Box::new(|s| s.index(&[0.25, 0.25, 1.0]) as f64), stream) - 1.5).abs() < 0.01);
    }
}
