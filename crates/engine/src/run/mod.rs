//! The event loop: one run from tick 0 to its end.
//!
//! The order of a tick is that of `docs/background/wormhole-model.md`, `docs/background/ring-model.md` and
//! `docs/background/programs.md`. The loop knows a network only by the trait in [`network`], compiled once per kind.
//!
//! # Map
//!
//! | step of a tick | here | in the twin |
//! |---|---|---|
//! | what is due before it: batches, samples, searches for deadlock | [`run_loop`]: `look` | |
//! | events of the network | [`run_loop`]: `go_on`; [`network`]: `happen` | `event.rs`: the order of `What` |
//! | deliveries are recorded | [`run_loop`]: `record_deliveries` | `twin.rs`: `deliver` |
//! | programs continue | [`run_loop::programs`]: `let_programs_go_on` | `twin.rs`: `let_programs_go_on` |
//! | sources beside programs are asked | [`run_loop::beside`]: `divide_requests`, `send_beside` | `beside.rs`: `divide_requests`, `sources_use_the_rest` |
//! | sources are asked, and packets dispatched, over a random switch or not | [`run_loop`]: `dispatch_all`; [`run_loop::several`]: `ask_ports`; [`network::by_queue`]: `via` | `twin.rs`: `ask`, `dispatch`, `send_by_ports`; `by_queue.rs`: `chosen_via` |
//! | the network decides | [`network`]: `decide` | `event.rs`: the order of `What` |
//!
//! # Files
//!
//! | file | what it does | writes |
//! |---|---|---|
//! | this one | the options and results of a run; [`Simulation`], a run with its network | |
//! | [`error`] | errors of a run, and which of them are mistakes of a user | |
//! | [`network`], [`network::with_lanes`], [`network::with_packets`], [`network::by_queue`] | what the loop needs of a network, for each kind; straight or over a random switch, by queues | `News`; the state of a network only through its methods |
//! | [`run_loop`] | tick after tick, with periodic checks in between | [`Run`], except what the others write |
//! | [`run_loop::programs`] | when programs continue, and what the network reports to them | `News`: what concerns programs; `Run`: `events` |
//! | [`run_loop::beside`] | sources of terminals that run programs: turns on the link, and the end of both | `Beside`; `News`: `asking`, `heads`, `lost`; `Run`: `ports`, `end` |
//! | [`run_loop::several`] | terminals with several ports: ports become terminals, and back | `News`: `deliveries`, `heads`, `asking`; `Run`: `ports`, `planes`, `order` |
//! | [`run_loop::settle`] | whether a run has settled, is precise enough, or can never settle | `Run`: `now`, `end`, `ended_at_look`; `Watch::backlog` |
//! | [`run_loop::count`] | packets created, refused and waiting, also by flow | |
//! | [`run_loop::finish`] | when the run looks at the network next; whether packets or the engine are stuck; how a run ends | `Run`: `now`, `cycle`, `standstill`, `end`; `Watch`: `next_deadlock`, `deadlock_ticks`, `deadlock_events`, `searches` |
//!
//! # Invariants
//!
//! * Ticks only increase. In each of them all events happen before any decision, so every decision sees the same state.
//! * Packets offered = delivered + refused + scrubbed + lost + in flight, at every moment: `Simulation::balance` checks
//!   it.
//! * What is checked in between changes nothing that is simulated, but it may end the run.
//! * A run can be advanced in parts of any size, with the same result as in one.

mod error;
mod network;
mod run_loop;

use crate::cut_through::Network as Packets;
use crate::fabric::{Fabric, FabricError, check};
use crate::kernel::Time;
use crate::lanes::Network as Lanes;
use crate::links::congestion::Congestion;
use crate::links::losses::Losses;
use crate::measure::{Carried, CodeCounts, Hop, Hops, LinkCounts, Rows, Trend};
use crate::ring::Rings;
use crate::switched::{Network as Worms, Standstill};
use crate::terminal::Totals;
use crate::terminal::program::Account;
pub use error::RunError;
use network::Network;
pub use run_loop::Run;

/// Options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The last tick to simulate.
    pub until: Time,
    /// First tick to measure; None: detected when the run looks stationary.
    pub warmup: Option<Time>,
    /// Relative 95 % half-width of throughput and mean latencies to stop at; 0: never.
    pub precision: f64,
    /// Whether the mean latencies must be that precise, too. If not, throughput must be, and it must be known whether the
    /// backlog grows.
    pub latencies: bool,
    /// Stop after this many packets have been delivered; 0: never.
    pub packets: u64,
    /// Ticks of the first batches; batches grow with the run.
    pub batch: Time,
    /// Create no packets after `until`, but deliver those that exist.
    pub drain: bool,
    /// Number of pairs of terminals to keep sums for; 0: none.
    pub flows: usize,
    /// Rows of the flows of sources whose delays are all kept; switched networks only.
    pub watched: Vec<u32>,
    /// Flows whose throughput per batch is kept.
    pub rows: Rows,
    /// Number of packets to trace; 0: none.
    pub trace: usize,
    /// Number of stays of packets on links to keep; 0: none.
    pub hops: usize,
    /// First tick of those stays.
    pub hops_since: Time,
    /// Number of messages to keep in the table; 0: none.
    pub messages: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            until: 0,
            warmup: None,
            precision: 0.0,
            latencies: true,
            packets: 0,
            batch: 1 << 12,
            drain: false,
            flows: 0,
            watched: Vec::new(),
            rows: Rows::None,
            trace: 0,
            hops: 0,
            hops_since: 0,
            messages: 0,
        }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every source is silent or every program has ended, and every packet has arrived.
    Drained,
    /// The wanted precision was reached.
    Precision,
    /// The sources offer more than the network accepts.
    Saturated,
    /// Packets wait for each other in a cycle, or programs wait for messages that never come.
    Deadlocked,
    /// Nothing happens any more, and programs wait for messages that faults lost or hold back.
    Incomplete,
    /// Packets are sent again and again, and none is accepted.
    Livelocked,
    /// Nothing moves, and packets wait for what a fault has stopped for ever.
    Stopped,
    /// Packets that could move stand still: an error of the engine, which makes the measurements invalid.
    Stalled,
    /// The last tick was reached.
    TimeLimit,
    /// The wanted number of packets was delivered.
    PacketLimit,
}

/// About how many events are handled between two looks whether a run has to begin again because of faults.
const PART: u64 = 1 << 12;

/// Packet counts from tick 0 on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Created by sources.
    pub offered: u64,
    /// Their payload bytes.
    pub offered_bytes: u64,
    /// Received completely.
    pub delivered: u64,
    /// Refused because the queue of their source was full.
    pub refused: u64,
    /// Waiting at their sources or under way.
    pub in_flight: u64,
    /// Removed because no port takes them.
    pub scrubbed: u64,
    /// Cut or discarded because links failed.
    pub lost: u64,
}

/// The network of a run, of one of the kinds.
#[derive(Clone, Debug)]
pub enum AnyNetwork {
    /// Links and switches, computed many characters at a time.
    Worms(Box<Worms>),
    /// Links and switches, computed packet by packet: see [`crate::cut_through`].
    Packets(Box<Packets>),
    /// Links and switches, simulated character by character: not only with lanes, see [`Fabric::is_by_character`].
    Lanes(Box<Lanes>),
    /// Rings joined by buses.
    Rings(Box<Rings>),
}

/// A run in progress.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The network.
    pub network: AnyNetwork,
    /// Progress and measurements.
    pub run: Run,
}

impl Simulation {
    /// Returns a run at tick 0.
    ///
    /// # Errors
    /// The arrays do not describe a network.
    pub fn new(fabric: Fabric, options: Options) -> Result<Self, FabricError> {
        Self::with(fabric, options, false)
    }

    /// Returns the same run of a network of links, simulated character by character: for tests, which compare the two.
    ///
    /// # Errors
    /// The arrays do not describe a network.
    pub fn by_character(fabric: Fabric, options: Options) -> Result<Self, FabricError> {
        Self::with(fabric, options, true)
    }

    fn with(fabric: Fabric, options: Options, forced: bool) -> Result<Self, FabricError> {
        check(&fabric)?;
        let hops = Hops { limit: options.hops, since: options.hops_since, ..Hops::default() };
        let run = Run::new(&fabric, options);
        let network = if fabric.has_rings() {
            let mut rings = Rings::new(fabric);
            rings.hops = hops;
            run.begin(&mut rings);
            AnyNetwork::Rings(Box::new(rings))
        } else if !forced && fabric.is_by_packet() {
            let mut packets = Packets::new(fabric);
            packets.hops = hops;
            run.begin(&mut packets);
            AnyNetwork::Packets(Box::new(packets))
        } else if forced || fabric.is_by_character() {
            let mut lanes = Lanes::new(fabric);
            lanes.hops = hops;
            run.begin(&mut lanes);
            AnyNetwork::Lanes(Box::new(lanes))
        } else {
            let mut worms = Worms::new(fabric);
            worms.hops = hops;
            run.begin(&mut worms);
            AnyNetwork::Worms(Box::new(worms))
        };
        Ok(Self { network, run })
    }

    /// Simulates until the end, or until at least `events` more have been handled, including refused arrivals counted in
    /// advance. If a time-out or a fault may have ended a packet, the run begins again, character by character.
    ///
    /// # Errors
    /// No route leads a packet to its destination.
    pub fn advance(&mut self, events: u64) -> Result<Option<End>, RunError> {
        let mut rest = events;
        loop {
            // Not much is in vain if the run has to begin again.
            let part = if self.may_fail() { rest.min(PART) } else { rest };
            let end = match &mut self.network {
                AnyNetwork::Worms(worms) => self.run.advance(&mut **worms, part),
                AnyNetwork::Packets(packets) => self.run.advance(&mut **packets, part),
                AnyNetwork::Lanes(lanes) => self.run.advance(&mut **lanes, part),
                AnyNetwork::Rings(rings) => self.run.advance(&mut **rings, part),
            };
            if self.must_begin_again() {
                return self.begin_again(events);
            }
            rest -= part;
            if rest == 0 || !matches!(end, Ok(None)) {
                return end;
            }
        }
    }

    /// Whether links fail in a network that is computed in advance.
    fn may_fail(&self) -> bool {
        match &self.network {
            AnyNetwork::Worms(worms) => worms.may_fail(),
            AnyNetwork::Packets(packets) => packets.may_fail(),
            AnyNetwork::Lanes(_) | AnyNetwork::Rings(_) => false,
        }
    }

    /// Whether something may have happened that is not computed in advance.
    fn must_begin_again(&self) -> bool {
        let stuck = matches!(self.run.end, Some(End::Deadlocked | End::Stalled));
        match &self.network {
            AnyNetwork::Worms(worms) => worms.has_failed() || worms.may_time_out(self.run.now, stuck),
            AnyNetwork::Packets(packets) => packets.has_failed(),
            _ => false,
        }
    }

    fn begin_again(&mut self, events: u64) -> Result<Option<End>, RunError> {
        let (fabric, options) = (self.any().fabric().clone(), self.run.options().clone());
        *self = Self::with(fabric, options, true).expect("it was legal before");
        self.advance(events)
    }

    fn any(&self) -> &dyn Network {
        match &self.network {
            AnyNetwork::Worms(worms) => &**worms,
            AnyNetwork::Packets(packets) => &**packets,
            AnyNetwork::Lanes(lanes) => &**lanes,
            AnyNetwork::Rings(rings) => &**rings,
        }
    }

    /// Returns the last simulated tick.
    pub fn now(&self) -> Time {
        self.run.now
    }

    /// Returns why the run ended, once it has.
    pub fn end(&self) -> Option<End> {
        self.run.end
    }

    /// Returns links that wait for each other if the run deadlocked: in switched networks, those with waiting heads at
    /// their ends; in ring networks, those of stations with full transmit queues.
    pub fn cycle(&self) -> &[u32] {
        &self.run.cycle
    }

    /// Returns what stood still, if the run stalled.
    pub fn standstill(&self) -> Option<Standstill> {
        self.run.standstill
    }

    /// Returns the packet counts from tick 0 to now.
    ///
    /// # Errors
    /// Offered packets are not all delivered, refused, in flight, scrubbed or lost.
    pub fn balance(&self) -> Result<Balance, RunError> {
        let (run, network) = (&self.run, self.any());
        let Totals { offered, offered_bytes, refused, waiting, .. } = run.totals(network.fabric(), run.now);
        let (delivered, scrubbed, lost) = (run.delivered, network.scrubbed(), network.lost());
        let in_flight = network.in_flight() + waiting;
        if offered != delivered + refused + in_flight + scrubbed + lost {
            return Err(RunError::NotConserved { offered, delivered, refused, in_flight, scrubbed, lost });
        }
        if let Some(programs) = &self.run.programs {
            let Account { made, received, lost, .. } = programs.account;
            let in_flight = programs.in_flight();
            if made != received + in_flight + lost {
                return Err(RunError::MessagesNotConserved { made, received, in_flight, lost });
            }
        }
        Ok(Balance { offered, offered_bytes, delivered, refused, in_flight, scrubbed, lost })
    }

    /// Returns the packets of each flow of sources since tick 0, by their row in the columns `flow_*`.
    pub fn carried(&self) -> Vec<Carried> {
        self.run.carried(self.any().fabric())
    }

    /// Returns how many packets of each of them never arrive; empty if none can be lost.
    pub fn lost_of_flows(&self) -> &[u64] {
        self.any().lost_of_flows()
    }

    /// Returns packets offered and refused since measuring began, and their payload bytes.
    pub fn measured(&self) -> Totals {
        self.run.measured(self.any().fabric())
    }

    /// Returns whether the backlog of the sources grows.
    pub fn backlog(&self) -> Trend {
        self.run.backlog(self.any().fabric())
    }

    /// Returns the number of packet hops: heads granted at switches, or send packets put on the links of rings.
    pub fn packet_hops(&self) -> u64 {
        self.any().packet_hops()
    }

    /// Returns the paths of packets, if requested: complete stays, and those of packets still on links.
    pub fn hops(&self) -> (&Hops, Vec<Hop>) {
        let network = self.any();
        let done = network.hops();
        (done, if done.limit > 0 { network.standing() } else { Vec::new() })
    }

    /// Returns terminal and creation of each packet that waits at its source, if paths are kept; none with programs.
    pub fn waiting(&self) -> Vec<(u32, Time)> {
        let network = self.any();
        if network.hops().limit > 0 { self.run.waiting(network.fabric()) } else { Vec::new() }
    }

    /// Returns the counts of every link since measuring began.
    pub fn link_counts(&self) -> Vec<LinkCounts> {
        self.any().counts()
    }

    /// Returns the code counts of every link since then; empty if there are no codes.
    pub fn code_counts(&self) -> &[CodeCounts] {
        self.any().code_counts()
    }

    /// Returns per lane the ticks for which it has occupied its wire since then; empty if lanes only take turns.
    pub fn lane_ticks(&self) -> Vec<u64> {
        self.any().lane_ticks()
    }

    /// Returns what every link has lost since then; empty if none can lose anything.
    pub fn losses(&self) -> Vec<Losses> {
        self.any().losses()
    }

    /// Returns the network, if it is one of links that is computed many characters at a time.
    pub fn worms(&self) -> Option<&Worms> {
        match &self.network {
            AnyNetwork::Worms(worms) => Some(worms),
            _ => None,
        }
    }

    /// Returns the network, if it is one of links that is computed packet by packet.
    pub fn packets(&self) -> Option<&Packets> {
        match &self.network {
            AnyNetwork::Packets(packets) => Some(packets),
            _ => None,
        }
    }

    /// Returns the network, if it is one of links that is simulated character by character.
    pub fn lanes(&self) -> Option<&Lanes> {
        match &self.network {
            AnyNetwork::Lanes(lanes) => Some(lanes),
            _ => None,
        }
    }

    /// Returns what congestion control has done, and the arrays of the network, if there is any.
    pub fn congestion(&self) -> Option<(&Congestion, &Fabric)> {
        let congestion = match &self.network {
            AnyNetwork::Packets(packets) => packets.congestion.as_deref(),
            AnyNetwork::Lanes(lanes) => lanes.congestion.as_deref(),
            _ => None,
        };
        congestion.map(|congestion| (congestion, self.any().fabric()))
    }

    /// Makes a link start no character between two ticks; call it before the run, for tests. Links of switches only.
    pub fn stop_link(&mut self, link: u32, from: Time, until: Time) {
        if let AnyNetwork::Worms(worms) = &mut self.network {
            worms.stop(link, from, until);
        }
    }

    /// Returns the network, if it is one of rings.
    pub fn rings(&self) -> Option<&Rings> {
        match &self.network {
            AnyNetwork::Rings(rings) => Some(rings),
            _ => None,
        }
    }

    /// Returns the number of work steps of the engine: see [`Network::extensions`].
    pub fn extensions(&self) -> u64 {
        self.any().extensions()
    }
}
