//! Fabrics for tests: by hand and at random.

pub mod agree;
pub mod build;
pub mod faults;
pub mod lanes;
pub mod long;
pub mod networks;
pub mod ports;
pub mod programs;
pub mod random;
pub mod rings;
pub mod seeds;
pub mod spacewire;
