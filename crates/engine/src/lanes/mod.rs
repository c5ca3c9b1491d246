//! Networks of switches whose links have several lanes, whose packets wait for credit for all of them, or whose input
//! buffers have a queue per output.
//!
//! The model is the section on lanes of `docs/background/wormhole-model.md`. When a lane may use its wire depends,
//! character by character, on the other lanes, so nothing is computed in advance here: every start on a wire and every
//! crossing is decided in its tick. Times that follow from a cause (the arrival of a character, the return of a place
//! or of credit) are recorded with the cause and looked up when needed, so a character costs two events per link.
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
//! A [`queue`](state) has a number: those of a lane follow each other in the order of the groups of its switch.

mod allocate;
mod code;
mod deadlock;
mod distribute;
mod event;
mod fault;
mod input;
mod packet;
mod state;
mod timeout;
mod wire;

pub use deadlock::deadlock;
pub use event::Event;
pub use fault::Losses;
pub use packet::Packet;
pub use state::Network;
