//! Networks of switches whose links have several lanes, whose packets wait for credit for all of them, or whose input
//! buffers have a queue per output.
//!
//! The model is the section on lanes of `docs/background/wormhole-model.md`. When a lane may use its wire depends, character by
//! character, on what the other lanes have to send, so nothing is computed ahead here: every start on a wire and every
//! crossing is decided in its tick. What is skipped are the moments that only pass time: when characters have arrived, when places and
//! credit are free again, is noted when its cause happens and looked up when it matters, so that a character costs two
//! events a link.
//!
//! | equation of the page | here |
//! |---|---|
//! | `S`: supply, credit, the wire and its lanes | `wire.rs`: `ready_at`, `start` |
//! | `R`: arrival, the crossbar, a place in the output buffer | `input.rs`: `crosses_at`, `cross` |
//! | header, request | `input.rs`: `receive`, `ask` |
//! | grant, release, order within a tick | `allocate.rs` |
//! | who waits for whom | `deadlock.rs` |
//! | packets that go to several links at once | `distribute.rs` |
//! | faults: what is cut, spilled and discarded | `fault.rs` |
//! | packets that are ended because they do not move | `timeout.rs` |
//! | time-codes and interrupts | `code.rs` |
//!
//! A [`queue`](state) is named by a number: those of a lane follow each other in the order of the groups of its switch.

mod allocate;
mod code;
mod deadlock;
mod distribute;
mod event;
mod fault;
mod input;
mod state;
mod timeout;
mod wire;

pub use deadlock::deadlock;
pub use event::Event;
pub use fault::Losses;
pub use state::{Network, Packet};
