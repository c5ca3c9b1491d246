//! What the engines for links share: who has a wire next, and what happens to a network from outside its packets.
//!
//! | file | what it does |
//! |---|---|
//! | [`arbiter`] | which lane sends by time-slots, priorities, reservations and tables, and what it is charged |
//! | [`codes`] | time-codes and interrupts: made, arrived, passed on, waiting for wires |
//! | [`congestion`] | what waits for outputs, packets that are marked, and ports that rest |
//! | [`deadlock`] | what can never move of lanes and the heads that wait for them, and a cycle of these |
//! | [`losses`] | packets that are lost: how many, where, of which flows |
//! | [`outages`] | links that fail while nothing is on them, and whether more than that has happened |
//! | [`pause`] | what an input buffer holds whose sender is paused |

pub mod arbiter;
pub mod codes;
pub mod congestion;
pub mod deadlock;
pub mod losses;
pub mod outages;
pub mod pause;
