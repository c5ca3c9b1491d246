//! What sits at a terminal: the sources of packets.

mod source;

pub use source::{Packet, Sources, Totals};
