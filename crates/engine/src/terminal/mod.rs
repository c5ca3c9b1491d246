//! The terminals: a source of packets, or a program and its protocol.

mod draw;
mod flow;
mod ports;
pub mod program;
mod source;
mod ways;

pub use draw::Packet;
pub use ports::Ports;
pub use program::Programs;
pub use source::{Sources, Totals};
pub use ways::{NoPlane, Ways};
