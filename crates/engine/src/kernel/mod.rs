//! Time, the order of events and random streams. Knows nothing of packets.

pub mod calendar;
pub mod random;
pub mod slab;
pub mod wheel;

/// No number, here and in the arrays of a fabric.
pub const NONE: u32 = u32::MAX;

/// A moment or a duration in whole ticks.
pub type Time = i64;
