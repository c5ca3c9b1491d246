//! The engine: simulates lossless packet fabrics given as flat arrays.
//!
//! Pure computation: no files, wall clock, threads, globals or printing.

pub mod cut_through;
pub mod fabric;
pub mod kernel;
pub mod lanes;
pub mod links;
pub mod measure;
pub mod results;
pub mod ring;
pub mod run;
pub mod switched;
pub mod terminal;
