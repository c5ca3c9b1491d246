//! The slow twin of the engine: it moves every character one by one.
//!
//! It is simple enough to be evidently correct, so that the fast engine can be compared with it. It implements
//! `docs/background/wormhole-model.md` without evaluating the equations of that page: characters are in buffers, places
//! become free, credits arrive, heads wait and are granted, each as an event. It shares only sources, programs and
//! random streams with the engine.
//!
//! Networks of rings have another twin, [`run_rings`], written from `docs/background/ring-model.md`.

mod arbiter;
mod beside;
mod by_queue;
mod code;
mod congestion;
mod event;
mod fault;
mod memory;
mod parts;
mod ring;
mod switch;
mod twin;
mod wire;

use fabriloom_engine::fabric::Fabric;
use fabriloom_engine::kernel::Time;
use fabriloom_engine::terminal::Programs;
use fabriloom_engine::terminal::program::{Done, Event, Mark, Row};

pub use ring::{BusCounts, RingLinkCounts, RingTwinRun, delivery_key, left_in_rings, run_rings};

/// How flow-control characters are simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowControl {
    /// They take no time on a wire: `link_character_ticks` contains their share, or they are ignored.
    Counted,
    /// They are sent one by one on the reverse wire, before data; `link_character_ticks` contains data bits only.
    Exact,
}

/// A packet that was received completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Terminal that sent it.
    pub source: u32,
    /// Terminal that received it.
    pub target: u32,
    /// When its source created it, in ticks.
    pub created: Time,
    /// When its first character started on the wire of its source, in ticks.
    pub started: Time,
    /// When its end of packet was received, in ticks.
    pub delivered: Time,
    /// Payload bytes.
    pub length: u32,
}

/// The counts of a link, without flow-control characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Packets sent.
    pub packets: u64,
    /// Characters sent, headers and ends of packets included.
    pub characters: u64,
    /// Ticks in which its wire was sending them.
    pub busy_ticks: u64,
    /// Ticks in which its wire was idle between the start of a packet and its end.
    pub stalled_ticks: u64,
    /// Ticks that heads waited for this link.
    pub wait_ticks: u64,
    /// Most characters of complete packets in an input buffer of a switch that pauses its sender.
    pub most_stored: u64,
}

/// A time-code or an interrupt that a port accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TakenCode {
    /// The row of its source.
    pub source: u32,
    /// The port.
    pub port: u32,
    /// When it was created, in ticks.
    pub made: Time,
    /// When it arrived, in ticks.
    pub at: Time,
}

/// The counts of codes at a link and its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeCounts {
    /// Sent on it.
    pub sent: u64,
    /// Lost on it or before it because it was down.
    pub lost: u64,
    /// Dropped at its end as duplicates.
    pub duplicates: u64,
    /// Dropped at its end as invalid.
    pub invalid: u64,
}

/// The results of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwinRun {
    /// Every delivery up to the end, in the order of [`delivery_key`].
    pub deliveries: Vec<Delivery>,
    /// Packets created by the sources.
    pub offered: u64,
    /// Packets that found the queue of their source full.
    pub refused: u64,
    /// Packets created and not refused, lost or delivered: in the fabric or waiting at their source.
    pub in_flight: u64,
    /// Packets lost by faults.
    pub lost: u64,
    /// Per link: packets lost on it when it failed, at its end because no route was left, and because of a time-out.
    pub losses: Vec<(u64, u64, u64)>,
    /// Codes accepted at ports, in order.
    pub codes: Vec<TakenCode>,
    /// Per link: its counts of codes.
    pub code_counts: Vec<CodeCounts>,
    /// Events of this engine.
    pub events: u64,
    /// Grants: one for each packet at each switch.
    pub packet_hops: u64,
    /// The time limit, or the last event if nothing remained to do, in ticks.
    pub end_time: Time,
    /// Whether the packets created up to the end could not all be delivered even if no more were created; of programs,
    /// those in the fabric.
    pub deadlocked: bool,
    /// Per link; counting continued after the end until nothing moved any more.
    pub links: Vec<LinkCounts>,
    /// Per lane: ticks for which it occupied its wire, in the same time; 0 where lanes only take turns.
    pub lane_ticks: Vec<u64>,
    /// Packets that each link has marked, and per port those of it that were delivered so, and its highest index; in the
    /// same time. Empty without congestion control.
    pub congestion: (Vec<u64>, Vec<(u64, u32)>),
    /// Per link, where ports of a switch share its memory: the most that this has held at its end, and of it the most in the
    /// headroom of a lane; in the same time.
    pub memories: Vec<(u64, u64)>,
    /// The results of programs, if programs drove the terminals.
    pub messages: Option<Messages>,
}

/// Messages up to the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Messages {
    /// All messages, in order of creation.
    pub table: Vec<Row>,
    /// Times that programs recorded.
    pub marks: Vec<Mark>,
    /// Events by number.
    pub events: Vec<Event>,
    /// The activity of terminals.
    pub terminals: Vec<Done>,
    /// Terminals that waited, and in which operation.
    pub waiting: Vec<(u32, u32)>,
    /// Packets sent again, duplicates discarded, and messages given up.
    pub again: (u64, u64, u64),
}

/// Returns the results of programs up to now.
pub fn messages(programs: &Programs) -> Messages {
    let account = &programs.account;
    assert_eq!(
        account.made,
        account.received + programs.in_flight() + account.lost,
        "messages do not balance"
    );
    Messages {
        table: account.table.clone(),
        marks: account.marks.clone(),
        events: account.events.clone(),
        terminals: account.terminals.clone(),
        waiting: programs.waiting(),
        again: (account.resent, account.duplicates, account.given_up),
    }
}

/// Simulates a checked fabric up to and including the given tick.
///
/// # Panics
///
/// If a packet is lost, arrives at the wrong terminal, meets a switch that has no route for it, or overfills a buffer:
/// these are errors of the twin or of the routing table.
pub fn run(fabric: &Fabric, flow_control: FlowControl, until: Time) -> TwinRun {
    run_with_stops(fabric, flow_control, until, &[])
}

/// The same with links that start nothing between two ticks, for tests of the engine's horizon.
pub fn run_with_stops(
    fabric: &Fabric,
    flow_control: FlowControl,
    until: Time,
    stops: &[(u32, Time, Time)],
) -> TwinRun {
    let mut twin = twin::Twin::new(fabric, flow_control);
    for &(link, from, until) in stops {
        twin.agenda.add(from, event::What::Stop { link, until });
    }
    twin.run_until(until);
    twin.finish(until)
}
