//! What both engines for links share: what happens to a network from outside its packets.
//!
//! | file | what it does |
//! |---|---|
//! | [`codes`] | time-codes and interrupts: made, arrived, passed on, waiting for wires |

pub mod codes;
