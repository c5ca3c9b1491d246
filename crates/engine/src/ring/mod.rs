//! Networks of register-insertion rings joined by buses.
//!
//! The model is given in `docs/background/ring-model.md`, whose words and letters are used here. A unit is moved as a
//! whole: all its symbols follow from the tick at which it starts on a link. What waits is kept in intrusive lists
//! over slabs, so that nothing is allocated per event once a run is under way.

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
