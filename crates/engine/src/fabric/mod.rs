//! The interface of the engine: every description becomes these flat arrays, and the engine sees nothing else.
//!
//! Vertices are numbered switches first (`0..switches`), then the ports of terminals (`switches..switches+ports`). A
//! terminal with one port is its port, and "terminal" in a network means a port. All times are whole ticks of `tick_ps`
//! picoseconds; buffers are counted in characters. The meaning of every column is given once, in `arrays.rs` and
//! `program_arrays.rs`.

#[macro_use]
mod program_arrays;
mod arrays;
mod check;
mod ends;
mod fault;
mod lanes;
mod ports;
mod spacewire;
mod words;

pub use arrays::{COLUMNS, Fabric, SCALARS};
pub use check::{FabricError, check};
pub use ends::class_of;
pub use fault::NEVER;
pub use ports::{Exits, MOST_PORTS, NO_PORT, ROUTE_BLOCK};
pub use spacewire::{CODE_NUMBERS, TIME};
pub use words::*;
