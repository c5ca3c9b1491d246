//! Time, the order of events, and random streams. This module knows nothing of packets.

pub mod calendar;
pub mod random;
pub mod slab;
pub mod wheel;

/// No number, here and in the arrays of a fabric.
pub const NONE: u32 = u32::MAX;

/// A moment or a duration in whole ticks.
pub type Time = i64;

/// Returns the positions of the bits of a set, in ascending order.
#[inline(always)]
pub fn bits(set: u64) -> impl Iterator<Item = u32> {
    let mut rest = set;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let place = rest.trailing_zeros();
        rest &= rest - 1;
        Some(place)
    })
}
