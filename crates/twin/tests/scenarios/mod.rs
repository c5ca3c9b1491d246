//! Fabrics for tests: by hand and at random.
#![allow(dead_code, reason = "every test file uses a part of it")]

pub mod build;
pub mod counts;
pub mod programs;
pub mod random;
pub mod rings;

/// The seeds of a test that runs as long as asked for: `FABRILOOM_SEEDS=5000..9000`.
pub fn chosen_seeds() -> std::ops::Range<u64> {
    let range = std::env::var("FABRILOOM_SEEDS").unwrap_or_else(|_| "0..1000".into());
    let (low, high) = range.split_once("..").expect("a range such as 0..1000");
    low.parse().expect("a number")..high.parse().expect("a number")
}
