//! The twin alone, in cases computed by hand and at random, and the fast engine compared with it.
//!
//! This is one program, so that the random networks are compiled once.

mod scenarios;

mod agreement;
mod code;
mod fault;
mod fuzz;
mod hand;
mod lane_hand;
mod memory;
mod port_agreement;
mod random_runs;
mod real_flow_control;
mod ring_agreement;
mod ring_hand;
mod soak;
mod spacewire;
