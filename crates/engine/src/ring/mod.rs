//! Networks of register-insertion rings joined by buses.
//!
//! The model and its notation are in `docs/background/ring-model.md`. A unit moves as a whole: all its symbols follow
//! from the tick at which it starts on a link. Waiting units are in intrusive lists over slabs, so that a running
//! simulation does not allocate per event.

mod ahead;
mod allocation;
mod bus;
mod choice;
mod closed;
mod deadlock;
mod fault;
mod host;
mod links;
mod livelock;
mod output;
mod parts;
mod phases;
mod state;
mod station;
mod stations;
mod tick;
mod user;

pub use deadlock::deadlock;
pub use host::Asking;
pub use state::Rings;
pub use stations::{BusCounts, Counts};
