//! What the engines for links share: what happens to a network from outside its packets.
//!
//! | file | what it does |
//! |---|---|
//! | [`codes`] | time-codes and interrupts: made, arrived, passed on, waiting for wires |
//! | [`outages`] | links that fail while nothing is on them, and whether more than that has happened |

pub mod codes;
pub mod outages;
