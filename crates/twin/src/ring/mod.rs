//! The slow twin of ring networks: it moves every symbol of every unit one by one.
//!
//! It implements `docs/background/ring-model.md`. Its events have no meaning: a clock only lists the ticks at which
//! something may be due, and at each of them every part is checked in the order of the page. Each part finds out what
//! is due: a symbol at the end of its wire, a service that ends, a packet that may start.

mod accept;
mod bus;
mod fault;
mod input;
mod output;
mod parts;
pub(crate) mod rings;
mod token;
mod user;

use fabriloom_engine::fabric::Fabric;
use fabriloom_engine::kernel::Time;

use crate::{Delivery, Messages};

/// The counts of a link, counted when a unit starts on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingLinkCounts {
    /// Requests and responses put on it, including those that pass its station.
    pub packets: u64,
    /// Symbols of all units, idle symbols included.
    pub symbols: u64,
    /// Ticks in which it was sending them.
    pub busy_ticks: u64,
    /// Requests and responses among `packets` that were sent again on this ring.
    pub retried: u64,
    /// Ticks in which it was sending those.
    pub retry_ticks: u64,
    /// Ticks in which it was sending echoes.
    pub echo_ticks: u64,
    /// Ticks from being ready to starting, for the units that its own station began.
    pub wait_ticks: u64,
    /// Packets busied by the station at its end.
    pub busied: u64,
    /// Transactions lost by a fault of the link.
    pub lost: u64,
    /// Packets that the sending terminal discarded because its route was closed.
    pub discarded: u64,
    /// Maximum number of symbols that had waited in the bypass FIFO before it when one of them started.
    pub bypass_most: u64,
}

/// The counts of a switch's buses, counted when a transfer starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusCounts {
    /// Transfers.
    pub transfers: u64,
    /// Ticks of these, of all buses together.
    pub busy_ticks: u64,
    /// Ticks that packets were ready before they got a bus.
    pub wait_ticks: u64,
}

/// The results of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingTwinRun {
    /// Every delivery up to the end, in the order of [`delivery_key`].
    pub deliveries: Vec<Delivery>,
    /// Transactions created by the sources.
    pub offered: u64,
    /// Transactions refused because there was no free place at their source.
    pub refused: u64,
    /// Transactions created and not refused, delivered, scrubbed or lost.
    pub in_flight: u64,
    /// Transactions whose data packet was removed by a scrubber.
    pub scrubbed: u64,
    /// Transactions whose data packet was lost by a fault, and discarded packets.
    pub lost: u64,
    /// Transactions that were given up.
    pub timed_out: u64,
    /// Requests and responses put on a link.
    pub packet_hops: u64,
    /// Per link.
    pub links: Vec<RingLinkCounts>,
    /// Per switch.
    pub buses: Vec<BusCounts>,
    /// The results of programs, if programs drove the terminals.
    pub messages: Option<Messages>,
}

/// A sort key in which no two different deliveries are equal.
pub fn delivery_key(delivery: &Delivery) -> (Time, u32, u32, Time, Time, u32) {
    let Delivery { source, target, created, started, delivered, length } = *delivery;
    (delivered, target, source, created, started, length)
}

/// Simulates a checked fabric of rings up to and including the given tick.
///
/// # Panics
///
/// If a symbol or a packet is lost, a queue or a bypass FIFO overflows, or a station sends two units at once: these are
/// errors of the twin or of the page.
pub fn run_rings(fabric: &Fabric, until: Time) -> RingTwinRun {
    let mut rings = rings::Rings::new(fabric);
    rings.wake_stopped();
    rings.run_until(until);
    rings.finish(until)
}

/// Returns the transactions dispatched and not delivered, scrubbed or lost at tick `limit`, if none are created after
/// `until`.
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
