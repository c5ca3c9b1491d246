//! Cases of the model page computed by hand, and properties of random networks.

mod build;
mod hand;
mod large;
mod lost;
mod programs;
mod random;
