//! The slow plain twin of the engine: every character is moved by hand.
//!
//! It exists to be evidently right, so that the fast engine can be compared with it. It is written from
//! `docs/background/wormhole-model.md`, but it does not evaluate the equations of that page: characters stand in
//! buffers, places become free, credits arrive, heads wait and are granted, each as an event of its own.
//! Only what sits at the terminals, sources or programs, and the random streams are shared with the engine.
//!
//! Networks of rings have a twin of their own, [`run_rings`], written from `docs/background/ring-model.md`.

mod code;
mod distribute;
mod event;
mod fault;
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

/// How flow-control characters are accounted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowControl {
    /// They take no time of their own on a wire: their share is in `link_character_ticks`, or is ignored.
    Counted,
    /// They are sent one by one on the reverse wire, before data; `link_character_ticks` holds data bits only.
    Exact,
}

/// One packet that has been received whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Terminal that sent it.
    pub source: u32,
    /// Terminal that received it.
    pub target: u32,
    /// When its source made it, in ticks.
    pub created: Time,
    /// When its first character started on the wire of its source, in ticks.
    pub started: Time,
    /// When its end of packet had been received, in ticks.
    pub delivered: Time,
    /// Payload characters.
    pub length: u32,
}

/// What a link did, flow-control characters apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Packets sent.
    pub packets: u64,
    /// Characters sent, headers and ends of packets included.
    pub characters: u64,
    /// Ticks its wire was sending them.
    pub busy_ticks: u64,
    /// Ticks its wire was not, between the start of a packet and its end.
    pub stalled_ticks: u64,
    /// Ticks heads waited before they were granted this link.
    pub wait_ticks: u64,
}

/// A time-code or an interrupt that has come to a port and was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TakenCode {
    /// The row of its source.
    pub source: u32,
    /// The port.
    pub port: u32,
    /// When it was made, in ticks.
    pub made: Time,
    /// When it came, in ticks.
    pub at: Time,
}

/// What a link and its end did with codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeCounts {
    /// Sent on it.
    pub sent: u64,
    /// Lost on it or in front of it because it was down.
    pub lost: u64,
    /// Dropped at its end as known.
    pub duplicates: u64,
    /// Dropped at its end as out of order.
    pub invalid: u64,
}

/// What happened in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwinRun {
    /// Every delivery up to the end, in the order of [`delivery_key`].
    pub deliveries: Vec<Delivery>,
    /// Packets made by the sources.
    pub offered: u64,
    /// Packets that found the queue of their source full.
    pub refused: u64,
    /// Packets made, not refused, not lost and not delivered: in the fabric or waiting at their source.
    pub in_flight: u64,
    /// Packets lost by faults.
    pub lost: u64,
    /// Per link: packets lost on it when it failed, at its end because there was nowhere to go, and because they held it
    /// and did not move.
    pub losses: Vec<(u64, u64, u64)>,
    /// Codes taken at ports, in order.
    pub codes: Vec<TakenCode>,
    /// Per link: what became of codes.
    pub code_counts: Vec<CodeCounts>,
    /// Events of this engine up to the end.
    pub events: u64,
    /// Grants: one for each packet at each switch.
    pub packet_hops: u64,
    /// The time limit, or the moment of the last event if nothing was left to do before it, in ticks.
    pub end_time: Time,
    /// True if the packets made up to the end could not all be delivered even if no more were made.
    pub deadlocked: bool,
    /// Per link, counted on after the end until nothing moved any more.
    pub links: Vec<LinkCounts>,
    /// What programs did, if programs drove the terminals.
    pub messages: Option<Messages>,
}

/// Messages up to the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Messages {
    /// All that were made, in order.
    pub table: Vec<Row>,
    /// Moments that programs noted.
    pub marks: Vec<Mark>,
    /// Events by number.
    pub events: Vec<Event>,
    /// What terminals did.
    pub terminals: Vec<Done>,
    /// Terminals that waited, and in which operation.
    pub waiting: Vec<(u32, u32)>,
    /// Packets sent again, packets thrown away because they came twice, and messages given up.
    pub again: (u64, u64, u64),
}

/// What programs did up to now.
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

/// Simulates a checked fabric until the given tick, the effects of that tick included.
///
/// # Panics
///
/// If a packet is lost, arrives at the wrong terminal, meets a switch that has no route for it, or overfills a
/// buffer: these are mistakes of the twin or of the routing table.
pub fn run(fabric: &Fabric, flow_control: FlowControl, until: Time) -> TwinRun {
    run_with_stops(fabric, flow_control, until, &[])
}

/// The same with links that start nothing from a tick on until another one, for tests of the engine's horizon.
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
