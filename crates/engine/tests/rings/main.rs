//! Cases computed by hand from the page, and properties of random networks.

mod build;
mod hand;
mod large;
mod lost;
mod programs;
mod random;
