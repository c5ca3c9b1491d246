//! Stations and switches: what they are and what they hold.

use super::state::NEVER;
use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;
use crate::kernel::slab::Queue;

/// A station and the link it sends on. What is used together stands together, 64 B at a time.
#[derive(Clone, Debug)]
#[repr(C, align(128))]
pub(super) struct Station {
    // What a unit that passes needs.
    /// End of the last unit on its link.
    pub free_at: Time,
    /// When its link is looked at next, or [`NEVER`].
    pub look_at: Time,
    /// Units in the bypass FIFO, and on the link to it those that will pass.
    pub bypass: Queue,
    pub next: u32,
    /// Ticks per symbol.
    pub symbol: u32,
    /// Ticks from the start of a symbol until the next station has decoded it.
    pub decoded: u32,
    /// Ticks from the start of a symbol until it can be at the output of the next station.
    pub ahead: u32,
    /// Its place among the ports of all switches, or [`NONE`].
    pub port: u32,
    /// The switch of a port; the terminal of another station, or [`NONE`].
    pub home: u32,
    /// Units of its own that wait, ready or not.
    pub waiting: u32,
    /// Whether it is among those that may start something in this tick.
    pub touched: bool,
    /// Whether the unit on the link is its own.
    pub own: bool,
    /// Kind of the packet whose place is free at the end of the unit on the link, 2 if none. While there are other
    /// places nobody waits for this one, and it is counted as taken until the link is looked at again.
    pub leaving: u8,
    /// Whether it removes what has passed it twice.
    pub scrubs: bool,
    /// What its idle symbols say.
    pub says_go: bool,
    /// What those say that come.
    pub hears_go: bool,
    /// Whether it keeps what comes: a unit of its own is on the link, or it recovers from one.
    pub absorbs: bool,
    /// Whether a go has come since that unit began, or else since the last unit did.
    pub saved: bool,
    /// Whether it is known what the idle symbols behind the last unit say.
    pub judged: bool,
    /// Whether a packet waits until another one was accepted.
    pub blocked: bool,
    /// Whether there is something in `again` or `echoes`.
    pub late: bool,
    /// Whether the user's next packet being ready is an event.
    pub user_pending: bool,

    // What starts, and what of that is counted.
    /// Send packets put on the link, passing ones included.
    pub packets: u64,
    /// Symbols of all units.
    pub symbols: u64,
    /// Symbols of echoes.
    pub echo_symbols: u64,
    /// Not sent yet, by kind; in order of being ready.
    pub fresh: [Queue; 2],
    /// How many packets may still be sent before others are accepted, by kind.
    pub may_open: [u32; 2],
    /// Ready echoes on their way to it whose coming is no event.
    pub echoes_due: Queue,
    /// Free places to send, by kind.
    pub out_free: [u32; 2],

    // What else waits.
    /// To be sent again, in order.
    pub again: Queue,
    /// Echoes held back, in order.
    pub echoes: Queue,
    /// Ticks own units waited after they were ready.
    pub wait_ticks: u64,
    /// First of what was sent and not accepted, see `Rings::open`.
    pub open: u32,
    pub window: u32,
    /// Packets entered so far.
    pub entered: u32,
    pub transmit: u32,
    /// The station before it.
    pub before: u32,
    /// Accepted and not ready for the user.
    pub coming: Queue,
    /// So that what follows is in one line.
    pub rest: [u32; 3],

    // What was received.
    /// Ready for the user, by kind.
    pub held: [Queue; 2],
    /// Free places to receive, by kind.
    pub in_free: [u32; 2],
    /// Packets on their way to it about which it has not decided.
    pub undecided: u32,
    pub receive: u32,
    /// What is served or transferred, or [`NONE`].
    pub at_work: u32,
}

const _: () = assert!(size_of::<Station>() == 256, "a station is four lines of the cache");

/// What is counted at a link where things do not go smoothly.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rare {
    /// Send packets put on the link that are sent again, passing ones included.
    pub retried: u64,
    /// Their symbols.
    pub retry_symbols: u64,
    /// Busy echoes given by the station at the end of the link.
    pub busied: u64,
    /// Most symbols in the bypass FIFO behind which the link begins.
    pub bypass_most: u64,
}

/// What a link and the stations at its ends did since the counts were last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Send packets put on the link, passing ones included.
    pub packets: u64,
    /// Symbols of all units.
    pub symbols: u64,
    /// Ticks they took.
    pub busy_ticks: u64,
    /// Ticks own units waited after they were ready.
    pub wait_ticks: u64,
    /// Send packets put on the link that are sent again, passing ones included.
    pub retried: u64,
    /// Ticks they took.
    pub retry_ticks: u64,
    /// Ticks that echoes took.
    pub echo_ticks: u64,
    /// Busy echoes given by the station at the end of the link.
    pub busied: u64,
    /// Most symbols in the bypass FIFO behind which the link begins.
    pub bypass_most: u64,
}

/// What the buses of a switch did since the counts were last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusCounts {
    /// Packets moved.
    pub transfers: u64,
    /// Ticks they took, of all buses together.
    pub busy_ticks: u64,
    /// Ticks packets waited after they were ready.
    pub wait_ticks: u64,
}

/// A switch: ports at one or more buses. Sets of ports are bits by their places, 0 for the first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Switch {
    /// Ports with something in their receive queues, ready or not.
    pub holds: u64,
    /// Ports from which a transfer is under way.
    pub sending: u64,
    /// Ports to which one is.
    pub receiving: u64,
    /// Ports without a place in their transmit queue, by kind.
    pub full: [u64; 2],
    /// When it is looked at next because a packet is ready then, or [`NEVER`].
    pub look_at: Time,
    /// First of its ports.
    pub first: u32,
    /// Place of the port served last.
    pub served: u8,
    /// Free buses, see [`Switch::lane`].
    pub free: [u8; 2],
    /// Whether requests and responses have buses of their own.
    pub separate: bool,
    pub touched: bool,
    pub setup: u32,
    pub cycle: u32,
    pub width: u32,
    pub encapsulation: u32,
    pub count: BusCounts,
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
    /// Places of the ports by which they leave.
    pub target: [u8; 2],
}

impl Station {
    /// Its switch, or [`NONE`].
    #[inline]
    pub fn switch(&self) -> u32 {
        if self.port == NONE { NONE } else { self.home }
    }

    /// Its terminal, or [`NONE`].
    #[inline]
    pub fn terminal(&self) -> u32 {
        if self.port == NONE { self.home } else { NONE }
    }

    /// Whether a unit of its own may start, as far as its idle symbols are concerned.
    #[inline]
    pub fn may_insert(&self) -> bool {
        self.waiting > 0 && (self.says_go || !self.echoes.is_empty())
    }

    /// Whether its idle symbols may say something else when the unit on its link has left.
    #[inline]
    pub fn must_be_judged(&self) -> bool {
        !self.judged && (self.saved || self.hears_go) != self.says_go
    }

    /// Whether something may wait for the place that is free at the end of the unit on its link.
    #[inline]
    pub fn place_is_awaited(&self) -> bool {
        self.leaving < 2 && self.out_free[usize::from(self.leaving)] == 0
    }

    /// What its link did, with what else was counted there.
    pub fn counts(&self, rare: &Rare) -> Counts {
        let ticks = |symbols: u64| symbols * u64::from(self.symbol);
        Counts {
            packets: self.packets,
            symbols: self.symbols,
            busy_ticks: ticks(self.symbols),
            wait_ticks: self.wait_ticks,
            retried: rare.retried,
            retry_ticks: ticks(rare.retry_symbols),
            echo_ticks: ticks(self.echo_symbols),
            busied: rare.busied,
            bypass_most: rare.bypass_most,
        }
    }

    /// Starts counting anew.
    pub fn clear_counts(&mut self) {
        (self.packets, self.symbols, self.echo_symbols, self.wait_ticks) = (0, 0, 0, 0);
    }

    pub fn new(f: &Fabric, link: usize) -> Self {
        let next = f.station_next[link] as usize;
        let decoded = f.link_arrival_ticks[link] + f.station_decode_ticks[next];
        Self {
            free_at: -1,
            look_at: NEVER,
            bypass: Queue::EMPTY,
            next: f.station_next[link],
            symbol: f.link_character_ticks[link],
            decoded,
            before: NONE,
            ahead: decoded + f.station_bypass_ticks[next],
            waiting: 0,
            touched: false,
            user_pending: false,
            own: false,
            leaving: 2,
            scrubs: false,
            says_go: true,
            hears_go: true,
            absorbs: false,
            saved: false,
            judged: true,
            fresh: [Queue::EMPTY; 2],
            again: Queue::EMPTY,
            echoes: Queue::EMPTY,
            open: NONE,
            may_open: [f.station_window[link]; 2],
            window: f.station_window[link],
            rest: [0; 3],
            entered: 0,
            transmit: f.station_transmit_ticks[link],
            blocked: false,
            late: false,
            echoes_due: Queue::EMPTY,
            out_free: [f.station_requests_out[link], f.station_responses_out[link]],
            in_free: [f.station_requests_in[link], f.station_responses_in[link]],
            coming: Queue::EMPTY,
            held: [Queue::EMPTY; 2],
            at_work: NONE,
            receive: f.station_receive_ticks[link],
            home: NONE,
            port: NONE,
            undecided: 0,
            packets: 0,
            symbols: 0,
            echo_symbols: 0,
            wait_ticks: 0,
        }
    }
}

impl Switch {
    pub fn new(f: &Fabric, switch: usize) -> Self {
        let (first, end) = (f.port_start[switch], f.port_start[switch + 1]);
        let separate = f.ring_separate_buses != 0;
        let buses = f.bus_count[switch] as u8;
        Self {
            first,
            served: (end - first - 1) as u8,
            free: if separate { [buses / 2; 2] } else { [buses, 0] },
            separate,
            touched: false,
            look_at: NEVER,
            holds: 0,
            sending: 0,
            receiving: 0,
            full: [0; 2],
            setup: f.bus_setup_ticks[switch],
            cycle: f.bus_cycle_ticks[switch],
            width: f.bus_width_bytes[switch],
            encapsulation: f.bus_encapsulation_bytes[switch],
            count: BusCounts::default(),
        }
    }

    /// Which of the free buses are those of a kind of packets.
    #[inline]
    pub fn lane(&self, kind: usize) -> usize {
        if self.separate { kind } else { 0 }
    }

    /// Ports from which something may be transferred.
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
