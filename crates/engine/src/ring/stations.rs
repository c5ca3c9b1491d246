//! The stations and switches and their contents.

use std::collections::HashMap;

use super::links::Link;
use super::state::NEVER;
use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;
use crate::kernel::slab::Queue;

/// Places of a receive queue that is never full.
const UNLIMITED: u32 = 1 << 30;

/// A station, in three lines of the cache that lie side by side: a processor that fetches one of them from memory
/// fetches its neighbours, too.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Station {
    /// What passing units need.
    pub link: Link,

    // Sending.
    /// Not sent yet, by kind; in order of being ready.
    pub fresh: [Queue; 2],
    /// How many packets may be sent before echoes of others arrive, by kind.
    pub may_send: [u32; 2],
    /// Ready echoes on their way to it whose arrival is not an event.
    pub echoes_due: Queue,
    /// Free transmit buffers, by kind.
    pub out_free: [u32; 2],
    /// Ticks that its own units waited after they were ready.
    pub wait_ticks: u64,
    /// Number of packets entered so far, modulo 2^32: where it wraps, two packets that are ready in the same tick may
    /// be sent in the other order.
    pub entered: u32,
    /// Packets that buses have transferred to it and that are not in [`super::links::Tally`].
    pub transfers: u32,
    /// Its switch, or [`NONE`], for sending.
    pub switch: u32,
    /// Whether a packet waits for the echo of another one.
    pub blocked: bool,
    /// Whether packets wait to be sent again, or echoes are held back: whether `again` or `echoes` of [`Rare`] is not
    /// empty. Stored here so that they need not be read.
    pub has_retries: bool,
    /// Whether the readiness of the user's next packet is an event.
    pub user_pending: bool,

    // Receiving.
    /// At a terminal: packets that are ready for the user. At a port: all that it has accepted. By kind.
    pub held: [Queue; 2],
    /// Accepted and not ready for the user yet.
    pub coming: Queue,
    /// Free receive buffers, by kind.
    pub in_free: [u32; 2],
    /// Packets on their way to it that it has not decided about.
    pub undecided: u32,
    /// The packet in service or transfer, or [`NONE`].
    pub at_work: u32,
    /// Its switch, again: in the line of the cache that receiving reads.
    pub switch_here: u32,
    /// Its index among the ports of all switches, or [`NONE`], for receiving.
    pub port_here: u32,
    /// Ticks of transfers from it, and of the waits for them.
    pub bus_ticks: u64,
    pub bus_wait_ticks: u64,
}

const _: () = assert!(size_of::<Station>() == 192, "a station is three lines of the cache");

/// The rarely used data of a station.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Rare {
    /// To be sent again, in order.
    pub again: Queue,
    /// Echoes held back, in order.
    pub echoes: Queue,
    /// Repeated send packets put on the link, including passing ones.
    pub retried: u64,
    /// Their symbols.
    pub retry_symbols: u64,
    /// Busy echoes from the station.
    pub busied: u64,
    /// Number of packets in `again`, by kind.
    pub rejected: [u32; 2],
    /// First packet that was sent and not accepted, see `Rings::open`.
    pub open: u32,
}

/// Counts of a link and the stations at its ends since they were last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Send packets put on the link, including passing ones.
    pub packets: u64,
    /// Symbols of all units.
    pub symbols: u64,
    /// Ticks of these.
    pub busy_ticks: u64,
    /// Ticks that its own units waited after they were ready.
    pub wait_ticks: u64,
    /// Repeated send packets put on the link, including passing ones.
    pub retried: u64,
    /// Ticks of these.
    pub retry_ticks: u64,
    /// Ticks of echoes.
    pub echo_ticks: u64,
    /// Busy echoes from the station at the end of the link.
    pub busied: u64,
    /// Maximum number of symbols in the bypass FIFO before the link.
    pub bypass_most: u64,
    /// Transactions that faults of the link lost.
    pub lost: u64,
    /// Packets that the sending terminal discarded because its route was closed.
    pub discarded: u64,
}

/// Counts of the buses of a switch since they were last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusCounts {
    /// Packets transferred.
    pub transfers: u64,
    /// Ticks of these, of all buses together.
    pub busy_ticks: u64,
    /// Ticks that packets waited after they were ready.
    pub wait_ticks: u64,
}

/// A switch: ports at one or more buses. Sets of ports are bits by index, 0 for the first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Switch {
    /// Ports with packets in their receive queues, ready or not.
    pub holds: u64,
    /// Ports with a transfer from them in progress.
    pub sending: u64,
    /// Ports with a transfer to them in progress.
    pub receiving: u64,
    /// Ports whose transmit queue is full, by kind.
    pub full: [u64; 2],
    /// Tick of its next check, because a packet is ready then, or [`NEVER`].
    pub look_at: Time,
    /// First of its ports.
    pub first: u32,
    /// Index in [`super::state::Rings::buses`].
    pub buses: u32,
    /// Indices of the ports served last, see [`Switch::lane`].
    pub served: [u8; 2],
    /// Free buses, see [`Switch::lane`].
    pub free: [u8; 2],
    /// Whether requests and responses have separate buses.
    pub separate: bool,
    pub touched: bool,
}

const _: () = assert!(size_of::<Switch>() == 64, "a switch is a line of the cache");

/// The constants of a switch; most switches share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Buses {
    pub setup: u32,
    pub cycle: u32,
    pub width: u32,
    pub encapsulation: u32,
}

/// A port as its switch sees it.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Port {
    /// When the fronts of its receive queues are ready, by kind; [`NEVER`] if there are none.
    pub ready: [Time; 2],
    /// Their bytes.
    pub bytes: [u32; 2],
    pub station: u32,
    /// Indices of their output ports.
    pub target: [u8; 2],
}

impl Station {
    /// Resets the counts.
    pub fn clear_counts(&mut self) {
        self.link.clear_counts();
        self.link.bypass_most = 0;
        (self.wait_ticks, self.transfers, self.bus_ticks, self.bus_wait_ticks) = (0, 0, 0, 0);
    }

    pub fn new(f: &Fabric, number: usize, link: Link, (switch, port): (u32, u32)) -> Self {
        Self {
            link,
            fresh: [Queue::EMPTY; 2],
            may_send: [f.station_in_flight[number]; 2],
            echoes_due: Queue::EMPTY,
            out_free: [f.station_requests_out[number], f.station_responses_out[number]],
            wait_ticks: 0,
            entered: 0,
            transfers: 0,
            switch,
            blocked: false,
            has_retries: false,
            user_pending: false,
            held: [Queue::EMPTY; 2],
            coming: Queue::EMPTY,
            in_free: receive_places(f, number),
            undecided: 0,
            at_work: NONE,
            switch_here: switch,
            port_here: port,
            bus_ticks: 0,
            bus_wait_ticks: 0,
        }
    }
}

/// Returns the places of the receive queues of a station, by kind.
pub(super) fn receive_places(f: &Fabric, station: usize) -> [u32; 2] {
    [f.station_requests_in[station], f.station_responses_in[station]]
        .map(|places| if places == 0 { UNLIMITED } else { places })
}

impl Rare {
    /// The initial state.
    pub const NOTHING: Self = Self {
        again: Queue::EMPTY,
        echoes: Queue::EMPTY,
        retried: 0,
        retry_symbols: 0,
        busied: 0,
        rejected: [0; 2],
        open: NONE,
    };

    /// Resets the counts.
    pub fn clear_counts(&mut self) {
        let &mut Self { again, echoes, rejected, open, .. } = self;
        *self = Self { again, echoes, rejected, open, ..Self::NOTHING };
    }
}

impl Switch {
    pub fn new(f: &Fabric, switch: usize, buses: u32) -> Self {
        let (first, end) = (f.port_start[switch], f.port_start[switch + 1]);
        let separate = f.ring_separate_buses != 0;
        let count = f.bus_count[switch] as u8;
        Self {
            first,
            served: [(end - first - 1) as u8; 2],
            free: if separate { [count / 2; 2] } else { [count, 0] },
            separate,
            touched: false,
            look_at: NEVER,
            holds: 0,
            sending: 0,
            receiving: 0,
            full: [0; 2],
            buses,
        }
    }

    /// Returns the index of the buses for a kind of packets.
    #[inline]
    pub fn lane(&self, kind: usize) -> usize {
        if self.separate { kind } else { 0 }
    }

    /// Returns the indices with a free bus, that of the responses first.
    #[inline]
    pub fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let free = self.free;
        [1, 0].into_iter().filter(move |&lane| free[lane] > 0)
    }

    /// Returns the ports that may start a transfer.
    #[inline]
    pub fn ready(&self) -> u64 {
        self.holds & !self.sending
    }

    /// Whether a bus is free for a kind of packets.
    #[inline]
    pub fn has_bus(&self, kind: usize) -> bool {
        self.free[self.lane(kind)] > 0
    }
}

/// Returns all switches of a fabric, and their buses.
pub(super) fn switches(f: &Fabric) -> (Vec<Switch>, Vec<Buses>) {
    let (mut buses, mut known) = (Vec::new(), HashMap::new());
    let switches = (0..f.switches as usize)
        .map(|switch| {
            let its = Buses {
                setup: f.bus_setup_ticks[switch],
                cycle: f.bus_cycle_ticks[switch],
                width: f.bus_width_bytes[switch],
                encapsulation: f.bus_encapsulation_bytes[switch],
            };
            let number = *known.entry(its).or_insert_with(|| {
                buses.push(its);
                buses.len() as u32 - 1
            });
            Switch::new(f, switch, number)
        })
        .collect();
    (switches, buses)
}
