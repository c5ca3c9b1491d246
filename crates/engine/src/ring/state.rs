//! What a network of rings remembers: stations, switches, and the packets between them.

use super::allocation::Signals;
use super::host::Hosts;
use super::parts::{Deal, Entry, Held, Signal, Unit};
use super::phases::{Reservation, UNLABELLED};
use super::queue::{Queue, Slab};
use crate::fabric::{Fabric, NONE, transaction};
use crate::kernel::Time;
use crate::kernel::calendar::Calendar;
use crate::measure::{Delivery, Hops};

/// Index of requests in what there is once for each kind of packet.
pub(super) const REQUEST: usize = 0;
/// Index of responses.
pub(super) const RESPONSE: usize = 1;

/// No time yet.
pub(super) const NEVER: Time = Time::MAX;

/// A station and the link it sends on; what is used together stands together.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Station {
    /// End of the last unit on its link.
    pub free_at: Time,
    /// When its link is looked at next, or [`NEVER`].
    pub look_at: Time,
    /// Units in the bypass FIFO, and on the link to it those that will pass.
    pub bypass: Queue,
    pub next: u32,
    /// The station before it.
    pub before: u32,
    /// Ticks per symbol.
    pub symbol: u32,
    /// Ticks from the start of a symbol until the next station has decoded it.
    pub decoded: u32,
    /// Ticks from the start of a symbol until it can be at the output of the next station.
    pub ahead: u32,
    pub bypass_ticks: u32,
    /// Units of its own that wait, ready or not.
    pub waiting: u32,
    /// Whether it is among those that may start something in this tick.
    pub touched: bool,
    /// Whether the user's next packet being ready is an event.
    pub user_pending: bool,
    /// Whether the unit on the link is its own.
    pub own: bool,
    /// Kind of the packet whose place is free at the end of the unit on the link, 2 if none. While there are other
    /// places nobody waits for this one, and it is counted as taken until the link is looked at again.
    pub leaving: u8,
    /// Whether it removes what has passed it twice.
    pub scrubs: bool,
    pub recovering: bool,

    /// Not sent yet, by kind; in order of being ready.
    pub fresh: [Queue; 2],
    /// To be sent again, in order.
    pub again: Queue,
    /// Echoes held back, in order.
    pub echoes: Queue,
    /// First of what was sent and not accepted.
    pub open: u32,
    /// How many of them, by kind.
    pub open_count: [u32; 2],
    pub window: u32,
    /// Packets entered so far.
    pub entered: u32,
    /// Stops less goes.
    pub stops: u32,
    pub transmit: u32,
    /// Whether a transfer to it is under way.
    pub receiving: bool,
    /// Whether a packet waits until another one was accepted.
    pub blocked: bool,
    /// Ready echoes on their way to it whose coming is no event.
    pub echoes_due: Queue,

    /// Free places to send, by kind.
    pub out_free: [u32; 2],
    /// Free places to receive, by kind.
    pub in_free: [u32; 2],
    /// Accepted and not ready for the user.
    pub coming: Queue,
    /// Ready for the user, by kind.
    pub held: [Queue; 2],
    /// What is served or transferred, or [`NONE`].
    pub at_work: u32,
    pub receive: u32,
    /// Terminal, or [`NONE`].
    pub terminal: u32,
    /// Switch, or [`NONE`].
    pub switch: u32,
    /// Row of `port_route`.
    pub port: u32,
    /// Place among the ports of its switch.
    pub place: u32,

    pub count: Counts,
    /// Places it owes, by kind.
    pub reserved: [Reservation; 2],
    /// Packets on their way to it about which it has not decided.
    pub undecided: u32,
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

/// A switch: ports at one or more buses.
#[derive(Clone, Debug)]
pub(super) struct Switch {
    /// First of its ports.
    pub first: u32,
    pub ports: u32,
    /// Port served last.
    pub served: u32,
    /// Free buses, see [`Switch::lane`].
    pub free: [u32; 2],
    /// Whether requests and responses have buses of their own.
    pub separate: bool,
    pub touched: bool,
    /// When it is looked at next because a packet is ready then, or [`NEVER`].
    pub look_at: Time,
    /// Ports with something in their receive queues, ready or not, as bits.
    pub holds: u64,
    pub setup: u32,
    pub cycle: u32,
    pub width: u32,
    pub encapsulation: u32,
    pub count: BusCounts,
}

/// A terminal's transactions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub free: u32,
    pub asked: bool,
}

/// A network of rings in operation.
#[derive(Clone, Debug)]
pub struct Rings {
    pub(super) fabric: Fabric,
    pub(super) stations: Vec<Station>,
    pub(super) switches: Vec<Switch>,
    pub(super) numbers: Vec<Numbers>,
    pub(super) units: Slab<Unit>,
    pub(super) entries: Slab<Entry>,
    pub(super) helds: Slab<Held>,
    pub(super) deals: Slab<Deal>,
    /// Transactions with a number, in order of dispatch.
    pub(super) oldest: u32,
    pub(super) newest: u32,
    /// When the time-outs are looked at next, or [`NEVER`].
    pub(super) timeout_at: Time,
    /// Events of a tick.
    pub(super) due: Vec<u32>,
    /// Links, switches and terminal stations that may start something in this tick.
    pub(super) links_touched: Vec<u32>,
    pub(super) switches_touched: Vec<u32>,
    pub(super) services_touched: Vec<u32>,
    /// Stops and goes on their way, and those to each station; no stations without bandwidth allocation.
    pub(super) signal: Slab<Signal>,
    pub(super) signals: Vec<Signals>,
    pub(super) calendar: Calendar,
    pub(super) now: Time,
    /// A destination whose packets go in a circle through switches, if there is one.
    pub(super) astray: Option<u32>,
    /// What was delivered in this tick.
    pub delivered: Vec<Delivery>,
    /// Terminals that can dispatch in this tick.
    pub asking: Vec<u32>,
    pub(super) hosts: Hosts,
    /// Ways of packets, if they are asked for.
    pub hops: Hops,
    /// Transactions dispatched, not delivered and not scrubbed.
    pub in_flight: u64,
    /// Transactions whose data the scrubbers removed.
    pub scrubbed: u64,
    /// Transactions given up.
    pub timed_out: u64,
    /// Send packets put on a link.
    pub packet_hops: u64,
    /// Units put on a link.
    pub units_started: u64,
}

impl Rings {
    /// An empty network. The fabric must have passed [`crate::fabric::check`].
    pub fn new(fabric: Fabric) -> Self {
        let links = fabric.links();
        let mut stations: Vec<Station> = (0..links).map(|link| Station::new(&fabric, link)).collect();
        let mut seen = vec![false; links];
        for (link, station) in stations.iter_mut().enumerate() {
            // Links are gone through in order, so the first of a ring has its lowest number.
            station.scrubs = !std::mem::replace(&mut seen[fabric.station_ring[link] as usize], true);
        }
        for (before, &next) in fabric.station_next.iter().enumerate() {
            stations[next as usize].before = before as u32;
        }
        let switches = (0..fabric.switches as usize).map(|switch| Switch::new(&fabric, switch)).collect();
        for switch in 0..fabric.switches {
            let range = fabric.port_start[switch as usize]..fabric.port_start[switch as usize + 1];
            for port in range {
                let station = &mut stations[fabric.port_station[port as usize] as usize];
                let first = fabric.port_start[switch as usize];
                (station.switch, station.port, station.place) = (switch, port, port - first);
            }
        }
        for (terminal, &station) in fabric.terminal_out_link.iter().enumerate() {
            stations[station as usize].terminal = terminal as u32;
        }
        let numbers =
            fabric.terminal_transactions.iter().map(|&free| Numbers { free, asked: false }).collect();
        let signals = if fabric.ring_allocation == 0 { 0 } else { links };
        Self {
            stations,
            switches,
            numbers,
            units: Slab::default(),
            entries: Slab::default(),
            helds: Slab::default(),
            deals: Slab::default(),
            oldest: NONE,
            newest: NONE,
            timeout_at: NEVER,
            due: Vec::new(),
            links_touched: Vec::new(),
            switches_touched: Vec::new(),
            services_touched: Vec::new(),
            signal: Slab::default(),
            signals: vec![Signals::NONE; signals],
            calendar: Calendar::new(2 * links),
            now: -1,
            astray: None,
            delivered: Vec::new(),
            asking: Vec::new(),
            hosts: Hosts::new(&fabric),
            hops: Hops::default(),
            in_flight: 0,
            scrubbed: 0,
            timed_out: 0,
            packet_hops: 0,
            units_started: 0,
            fabric,
        }
    }

    /// The arrays this network was made from.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// What every link did since the last [`Rings::clear_counts`].
    pub fn counts(&self) -> impl Iterator<Item = &Counts> {
        self.stations.iter().map(|station| &station.count)
    }

    /// What the buses of every switch did since the last [`Rings::clear_counts`].
    pub fn bus_counts(&self) -> impl Iterator<Item = &BusCounts> {
        self.switches.iter().map(|switch| &switch.count)
    }

    /// Starts counting anew.
    pub fn clear_counts(&mut self) {
        for station in &mut self.stations {
            station.count = Counts::default();
        }
        for switch in &mut self.switches {
            switch.count = BusCounts::default();
        }
    }

    /// Whether nothing is on its way and every place is free.
    pub fn is_at_rest(&self) -> bool {
        let mut settled = self.clone();
        settled.now = NEVER;
        (0..self.stations.len() as u32).for_each(|station| settled.heed_echoes(station));
        settled.is_empty()
    }

    fn is_empty(&self) -> bool {
        let free = |(link, at): (usize, &Station)| {
            let f = &self.fabric;
            let mut out_free = at.out_free;
            if let Some(count) = out_free.get_mut(usize::from(at.leaving)) {
                *count += 1;
            }
            out_free == [f.station_requests_out[link], f.station_responses_out[link]]
                && at.in_free == [f.station_requests_in[link], f.station_responses_in[link]]
                && (at.open_count, at.stops, at.waiting) == ([0; 2], 0, 0)
                && at.reserved.iter().all(|reserved| reserved.owed == [0; 2])
        };
        let empty = self.units.is_all_free() && self.entries.is_all_free() && self.helds.is_all_free();
        empty && self.stations.iter().enumerate().all(free)
    }

    #[inline]
    pub(super) fn at(&mut self, station: u32) -> &mut Station {
        &mut self.stations[station as usize]
    }

    /// A request or a response that a station is to send.
    pub(super) fn packet(&self, station: u32, deal: u32, response: bool, ready: Time) -> Entry {
        let of = &self.deals[deal];
        let bytes = of.bytes(response)
            + if response {
                self.fabric.ring_response_header_bytes
            } else {
                self.fabric.ring_request_header_bytes
            };
        let (from, dest) = if response { (of.target, of.source) } else { (of.source, of.target) };
        let ends_deal = of.transaction == transaction::MOVE;
        Entry { ends_deal, ..self.entry(station, ready, deal, response, (from, dest), bytes) }
    }

    /// A packet that a station is to send, as it comes from a bus.
    pub(super) fn entry(
        &self,
        station: u32,
        ready: Time,
        deal: u32,
        response: bool,
        (from, dest): (u32, u32),
        bytes: u32,
    ) -> Entry {
        Entry {
            ready,
            deal,
            station,
            from,
            dest,
            bytes,
            symbols: (bytes + self.fabric.ring_send_idle_bytes).div_ceil(2),
            number: 0,
            next: NONE,
            open_next: NONE,
            open_before: NONE,
            busied: 0,
            by: NONE,
            response,
            ends_deal: false,
            known_busied: false,
            label: UNLABELLED,
            no_try: false,
        }
    }

    /// Takes a place of a transmit queue.
    #[inline]
    pub(super) fn take_place_to_send(&mut self, station: u32, kind: usize) {
        let at = &mut self.stations[station as usize];
        at.out_free[kind] -= 1;
        if at.place_is_awaited() {
            let end = at.free_at;
            if end > self.now {
                self.look_at(station, end);
            } else {
                at.leaving = 2;
                at.out_free[kind] += 1;
            }
        }
    }

    /// One reference to a transaction less.
    #[inline]
    pub(super) fn forget(&mut self, deal: u32) {
        self.deals[deal].uses -= 1;
        if self.deals[deal].uses == 0 {
            self.deals.remove(deal);
        }
    }
}

impl Station {
    /// Whether a unit of its own may start, as far as stops are concerned.
    #[inline]
    pub fn may_insert(&self) -> bool {
        self.waiting > 0 && (self.stops == 0 || !self.echoes.is_empty())
    }

    /// Whether a unit of its own waits that a stop keeps from starting.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.waiting > 0 && self.stops > 0
    }

    /// Whether something may wait for the place that is free at the end of the unit on its link.
    #[inline]
    pub fn place_is_awaited(&self) -> bool {
        self.leaving < 2 && self.out_free[usize::from(self.leaving)] == 0
    }

    fn new(f: &Fabric, link: usize) -> Self {
        Self {
            free_at: -1,
            look_at: NEVER,
            bypass: Queue::EMPTY,
            next: f.station_next[link],
            before: NONE,
            symbol: f.link_character_ticks[link],
            decoded: f.link_arrival_ticks[link] + f.station_decode_ticks[f.station_next[link] as usize],
            ahead: f.link_arrival_ticks[link]
                + f.station_decode_ticks[f.station_next[link] as usize]
                + f.station_bypass_ticks[f.station_next[link] as usize],
            bypass_ticks: f.station_bypass_ticks[link],
            waiting: 0,
            touched: false,
            user_pending: false,
            own: false,
            leaving: 2,
            scrubs: false,
            recovering: false,
            fresh: [Queue::EMPTY; 2],
            again: Queue::EMPTY,
            echoes: Queue::EMPTY,
            open: NONE,
            open_count: [0; 2],
            window: f.station_window[link],
            entered: 0,
            stops: 0,
            transmit: f.station_transmit_ticks[link],
            receiving: false,
            blocked: false,
            echoes_due: Queue::EMPTY,
            out_free: [f.station_requests_out[link], f.station_responses_out[link]],
            in_free: [f.station_requests_in[link], f.station_responses_in[link]],
            coming: Queue::EMPTY,
            held: [Queue::EMPTY; 2],
            at_work: NONE,
            receive: f.station_receive_ticks[link],
            terminal: NONE,
            switch: NONE,
            port: NONE,
            place: NONE,
            reserved: [Reservation::default(); 2],
            undecided: 0,
            count: Counts::default(),
        }
    }
}

impl Switch {
    fn new(f: &Fabric, switch: usize) -> Self {
        let (first, end) = (f.port_start[switch], f.port_start[switch + 1]);
        let separate = f.ring_separate_buses != 0;
        Self {
            first,
            ports: end - first,
            served: end - first - 1,
            free: if separate { [f.bus_count[switch] / 2; 2] } else { [f.bus_count[switch], 0] },
            separate,
            touched: false,
            look_at: NEVER,
            holds: 0,
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

    /// Whether a bus is free for a kind of packets.
    #[inline]
    pub fn has_bus(&self, kind: usize) -> bool {
        self.free[self.lane(kind)] > 0
    }
}
