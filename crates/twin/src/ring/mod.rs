//! The slow plain twin of ring networks: every symbol of every unit is moved by hand.
//!
//! It is written from `docs/background/ring-model.md`. There is no event with a meaning: a clock knows only at which
//! ticks something may be due, and at each of them every part is looked at in the order of the page. A part finds
//! out for itself what is due: a symbol at the end of its wire, a service that is over, a packet that may start.

mod accept;
mod allocation;
mod bus;
mod fault;
mod input;
mod output;
mod parts;
mod programs;
mod rings;
mod user;

use fabriloom_engine::fabric::Fabric;
use fabriloom_engine::kernel::Time;

use crate::{Delivery, Messages};

/// What a link did: counted when a unit starts on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingLinkCounts {
    /// Requests and responses put on it, those that pass its station among them.
    pub packets: u64,
    /// Symbols of all units, idle symbols included.
    pub symbols: u64,
    /// Ticks it was sending them.
    pub busy_ticks: u64,
    /// Requests and responses among `packets` that were on their way for the second time or more on this ring.
    pub retried: u64,
    /// Ticks it was sending those.
    pub retry_ticks: u64,
    /// Ticks it was sending echoes.
    pub echo_ticks: u64,
    /// Ticks from being ready to starting, of the units that its own station began.
    pub wait_ticks: u64,
    /// Packets that the station at its end has busied.
    pub busied: u64,
    /// Transactions that a fault of the link has lost.
    pub lost: u64,
    /// What the terminal that sends on it discarded because its route was closed.
    pub discarded: u64,
    /// Most symbols that had waited in the bypass FIFO before it, when one of them started.
    pub bypass_most: u64,
}

/// What the buses of a switch did: counted when a transfer starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusCounts {
    /// Transfers.
    pub transfers: u64,
    /// Ticks they took, all buses together.
    pub busy_ticks: u64,
    /// Ticks that packets were ready for a bus before they got one.
    pub wait_ticks: u64,
}

/// What happened in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingTwinRun {
    /// Every delivery up to the end, in the order of [`delivery_key`].
    pub deliveries: Vec<Delivery>,
    /// Transactions made by the sources.
    pub offered: u64,
    /// Transactions that found no place to wait at their source.
    pub refused: u64,
    /// Transactions made and neither refused, delivered, scrubbed nor lost.
    pub in_flight: u64,
    /// Transactions of which a scrubber removed the packet that would have led to the delivery.
    pub scrubbed: u64,
    /// Transactions of which a fault has lost the packet that would have led to the delivery, and packets discarded.
    pub lost: u64,
    /// Transactions that were given up before they were over.
    pub timed_out: u64,
    /// Requests and responses put on a link.
    pub packet_hops: u64,
    /// Per link.
    pub links: Vec<RingLinkCounts>,
    /// Per switch.
    pub buses: Vec<BusCounts>,
    /// What programs did, if programs drove the terminals.
    pub messages: Option<Messages>,
}

/// An order in which no two different deliveries are equal.
pub fn delivery_key(delivery: &Delivery) -> (Time, u32, u32, Time, Time, u32) {
    let Delivery { source, target, created, started, delivered, length } = *delivery;
    (delivered, target, source, created, started, length)
}

/// Simulates a checked fabric of rings until the given tick, the effects of that tick included.
///
/// # Panics
///
/// If a symbol or a packet is lost, a queue or a bypass FIFO overflows, or a station sends two units at once: these
/// are mistakes of the twin or of the page.
pub fn run_rings(fabric: &Fabric, until: Time) -> RingTwinRun {
    let mut rings = rings::Rings::new(fabric);
    rings.wake_stopped();
    rings.run_until(until);
    rings.finish(until)
}

/// Transactions dispatched and neither delivered, scrubbed nor lost at tick `limit`, if none is made after `until`.
///
/// # Panics
///
/// As [`run_rings`].
pub fn left_in_rings(fabric: &Fabric, until: Time, limit: Time) -> u64 {
    let mut rings = rings::Rings::new(fabric);
    rings.wake_stopped();
    rings.run_until(until);
    rings.stop_sources(until);
    rings.run_until(limit);
    rings.in_rings()
}
