//! The terminals: a source of packets, or a program and its protocol.
//!
//! A terminal knows nothing of how packets travel. It is asked for its next packet when its link, or one of its ports,
//! can take one. The twin uses this module too: it is no part of what the twin checks.
//!
//! # Map
//!
//! | section of the page | page | here |
//! |---|---|---|
//! | open and closed sources | `docs/background/sources.md` | [`source`]: `next`, `open`; [`draw`]: `closed` |
//! | when an open source makes packets | the same | [`draw`]: `arrival`, `interval` |
//! | flows | the same | [`flow`]: `next`, `plan` |
//! | token buckets | the same | [`bucket`]: `opens`, `pass` |
//! | draws | the same | [`draw`]: `packet` |
//! | which port, by traffic class | `docs/background/ports.md` | [`ways`]: `choose`, `class`, `other_end` |
//! | sources with several ports, or beside programs | the same | [`ports`]: `take_in`, `serve`, `closed` |
//! | ports that fail | the same | [`ways`]: `runs`, `next_change`; [`ports`]: `learn` |
//! | programs and messages | `docs/background/programs.md` | [`program`], which has its own map |
//!
//! # Files
//!
//! | file | what it does | who may write its state |
//! |---|---|---|
//! | [`source`] | packets that wait at sources, and those that were refused | `next` by `run`; `take_arrival` and `refuse` by [`ports`]; `catch_up` by `run` |
//! | [`draw`] | the random draws of one source | [`source`] |
//! | [`flow`] | flows of one source, merged by tick | [`draw`] |
//! | [`bucket`] | token buckets, of flows and of the channels and ports of programs | who holds one |
//! | [`ways`] | where ports lead, which are known to be down, and the choice among them: no state | |
//! | [`ports`] | terminals with several ports: their queues, and which port gets a packet | `ask`, `keep`, `next`, `took`, `wake` and `catch_up` by `run` |
//! | [`program`] | programs, messages, protocol and host | by its own map |
//!
//! # Invariants
//!
//! * A source draws from its own stream, for each packet in the order of the page. So packets do not depend on when the
//!   source is asked, except those of closed sources, which follow from it.
//! * An open source needs no events: its arrivals are drawn as far as somebody asks.
//! * Terminals with one port use [`ports`] only for sources beside programs.

mod bucket;
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
