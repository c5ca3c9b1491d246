//! Wormhole fabrics: credit flow control, worms, crossbars, groups and arbitration.
//!
//! The model is given in equations in `docs/background/wormhole-model.md`. This engine looks ahead: as soon
//! as a packet is granted an output, the times of all its characters that follow from what is known are
//! worked out, as straight runs (see [`timeline`]). A time is unknown only while it depends on a grant
//! that has not been made, so only requests, contended releases, dispatches and deliveries are events.

mod advance;
mod arbiter;
mod chain;
mod credit;
mod deadlock;
mod flow;
mod link;
mod ports;
pub mod queue;
mod routes;
mod standstill;
mod state;
mod stepwise;
mod stream;
pub mod timeline;
mod trace;
mod turn;
mod worm;

pub use deadlock::deadlock;
pub use ports::Counts;
pub use standstill::{Fault, Standstill, standstill};
pub use state::{Event, Network, PacketState};
