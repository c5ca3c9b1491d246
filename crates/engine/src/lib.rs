//! The engine: simulates lossless packet fabrics given as flat arrays.
//!
//! Pure computation: no files, wall clock, threads, globals or printing.

pub mod fabric;
pub mod kernel;
pub mod terminal;
