//! Time, the order of events and random streams. Knows nothing of packets.

pub mod calendar;
pub mod random;
pub mod slab;
pub mod wheel;

/// A moment or a duration in whole ticks.
pub type Time = i64;
