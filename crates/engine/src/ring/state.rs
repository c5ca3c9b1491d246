//! The state of a ring network: its parts and the packets between them.

use super::allocation::Idles;
use super::closed::Closed;
use super::fault::Faults;
use super::host::Hosts;
use super::links::{Tally, Timing, ahead, links};
use super::livelock::Still;
use super::parts::{Edge, Entry, Sent, Traits, Transaction, Unit};
use super::phases::Reservation;
use super::stations::{BusCounts, Buses, Counts, Port, Rare, Station, Switch, receive_places, switches};
use super::token::Tokens;
use crate::fabric::{Exits, Fabric, NONE, transaction};
use crate::kernel::Time;
use crate::kernel::calendar::Calendar;
use crate::kernel::slab::Slab;
use crate::measure::{Delivery, Hops};

/// Index of requests in arrays by kind of packet.
pub(super) const REQUEST: usize = 0;
/// Index of responses.
pub(super) const RESPONSE: usize = 1;

/// Index of the direction to the link, in arrays by direction through an interface.
pub(super) const OUT: usize = 0;
/// Index of the direction from the link.
pub(super) const IN: usize = 1;

/// No time yet.
pub(super) const NEVER: Time = Time::MAX;

/// The transactions of a terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub free: u32,
    /// The table of the ports for its next transaction.
    pub turn: u8,
    pub asked: bool,
}

/// A network of rings in operation.
#[derive(Clone, Debug)]
pub struct Rings {
    pub(super) fabric: Fabric,
    pub(super) exits: Exits,
    pub(super) stations: Vec<Station>,
    /// Per station: rarely used data.
    pub(super) rare: Vec<Rare>,
    pub(super) tallies: Vec<Tally>,
    pub(super) timings: Vec<Timing>,
    pub(super) switches: Vec<Switch>,
    pub(super) buses: Vec<Buses>,
    pub(super) ports: Vec<Port>,
    /// Per station: reserved places, by kind; empty without phases.
    pub(super) reserved: Vec<[Reservation; 2]>,
    /// Per station: until when its interface is occupied, in each direction; empty if interfaces never are.
    pub(super) taken_up: Vec<[Time; 2]>,
    /// Per station: whether the next one is a further controller of the same port; empty if no port has several.
    pub(super) yields: Vec<bool>,
    /// Per station: ticks from the output of the first one of its ring to its own; empty without slots and tokens.
    pub(super) offsets: Vec<Time>,
    pub(super) tokens: Tokens,
    pub(super) numbers: Vec<Numbers>,
    pub(super) units: Slab<Unit>,
    pub(super) entries: Slab<Entry>,
    /// Per row of `entries`, as far as any was needed: what its sender knows of the packet.
    pub(super) sent: Vec<Sent>,
    pub(super) transactions: Slab<Transaction>,
    /// Transactions with a number, in order of dispatch.
    pub(super) oldest: u32,
    pub(super) newest: u32,
    /// Tick of the next check of time-outs, or [`NEVER`].
    pub(super) timeout_at: Time,
    /// Links, switches and terminal stations that may start something in this tick.
    pub(super) links_touched: Vec<u32>,
    pub(super) switches_touched: Vec<u32>,
    pub(super) services_touched: Vec<u32>,
    /// Changes of idle symbols under way, and the idle symbols of each station; empty without bandwidth allocation.
    pub(super) edges: Slab<Edge>,
    pub(super) idles: Vec<Idles>,
    pub(super) calendar: Calendar,
    pub(super) now: Time,
    /// When the last of the echoes arrives whose arrival is not an event.
    pub(super) last: Time,
    /// Number of accepted packets, and since when it has not changed.
    pub(super) accepted: u64,
    pub(super) still: Still,
    /// A destination whose packets loop through switches, if there is one.
    pub(super) astray: Option<u32>,
    /// Deliveries of this tick.
    pub delivered: Vec<Delivery>,
    /// Terminals that can dispatch in this tick.
    pub asking: Vec<u32>,
    pub(super) hosts: Hosts,
    pub(super) faults: Faults,
    pub(super) closed: Closed,
    /// Paths of packets, if requested.
    pub hops: Hops,
    /// Transactions dispatched, not delivered, not scrubbed and not lost.
    pub in_flight: u64,
    /// Transactions whose data were removed by scrubbers.
    pub scrubbed: u64,
    /// Transactions whose data were lost by faults of links, and packets created for closed routes.
    pub lost: u64,
    /// Transactions given up.
    pub timed_out: u64,
    /// The longest delay of a retry.
    pub longest_delay: Time,
    /// Send packets put on a link.
    pub packet_hops: u64,
    /// Units put on a link.
    pub units_started: u64,
}

impl Rings {
    /// Returns an empty network. The fabric must have passed [`crate::fabric::check`].
    pub fn new(fabric: Fabric) -> Self {
        let count = fabric.links();
        let ((links, timings), (switches, buses)) = (links(&fabric), switches(&fabric));
        let mut port_of = vec![(NONE, NONE); count];
        for (switch, ends) in fabric.port_start.windows(2).enumerate() {
            for port in ends[0]..ends[1] {
                port_of[fabric.port_station[port as usize] as usize] = (switch as u32, port);
            }
        }
        let station = |(at, link)| Station::new(&fabric, at, link, port_of[at]);
        let stations = links.into_iter().enumerate().map(station).collect();
        let port = |&station: &u32| Port { ready: [NEVER; 2], bytes: [0; 2], station, target: [0; 2] };
        let ports = fabric.port_station.iter().map(port).collect();
        let numbers = fabric
            .terminal_transactions
            .iter()
            .map(|&free| Numbers { free, turn: 0, asked: false })
            .collect();
        let allocating = if fabric.ring_allocation == 0 { 0 } else { count };
        Self {
            stations,
            rare: vec![Rare::NOTHING; count],
            tallies: vec![Tally::default(); count],
            timings,
            switches,
            buses,
            ports,
            reserved: vec![[Reservation::default(); 2]; if fabric.ring_phases == 0 { 0 } else { count }],
            taken_up: vec![[0; 2]; if fabric.ring_interface_occupied == 0 { 0 } else { count }],
            yields: yields(&fabric),
            offsets: offsets(&fabric),
            tokens: Tokens::new(&fabric),
            numbers,
            units: Slab::default(),
            entries: Slab::default(),
            sent: Vec::new(),
            transactions: Slab::default(),
            oldest: NONE,
            newest: NONE,
            timeout_at: NEVER,
            links_touched: Vec::new(),
            switches_touched: Vec::new(),
            services_touched: Vec::new(),
            edges: Slab::default(),
            idles: vec![Idles::GO; allocating],
            calendar: Calendar::new(2 * count),
            now: -1,
            last: -1,
            accepted: 0,
            still: Still::default(),
            astray: None,
            delivered: Vec::new(),
            asking: Vec::new(),
            hosts: Hosts::new(&fabric),
            faults: Faults::new(&fabric),
            closed: Closed::new(&fabric),
            hops: Hops::default(),
            in_flight: 0,
            scrubbed: 0,
            lost: 0,
            timed_out: 0,
            longest_delay: 0,
            packet_hops: 0,
            units_started: 0,
            exits: Exits::new(&fabric),
            fabric,
        }
    }

    /// Returns the arrays of this network.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Returns the counts of every link since the last [`Rings::clear_counts`].
    pub fn counts(&self) -> impl Iterator<Item = Counts> {
        (0..self.stations.len()).map(|link| {
            let (at, rare) = (&self.stations[link].link, &self.rare[link]);
            let ticks = |symbols: u64| symbols * u64::from(self.timings[at.timing as usize].symbol);
            let tally = at.tally(&self.tallies[link]);
            Counts {
                packets: tally.packets,
                symbols: tally.symbols,
                busy_ticks: ticks(tally.symbols),
                wait_ticks: self.stations[link].wait_ticks,
                retried: rare.retried,
                retry_ticks: ticks(rare.retry_symbols),
                echo_ticks: ticks(tally.echoes * u64::from(self.echo_symbols())),
                busied: self.rare[at.next as usize].busied,
                bypass_most: u64::from(at.bypass_most),
                lost: self.faults.lost_on(link),
                discarded: self.closed.discarded_on(link),
            }
        })
    }

    /// Returns the counts of the buses of every switch since the last [`Rings::clear_counts`].
    pub fn bus_counts(&self) -> impl Iterator<Item = BusCounts> {
        self.fabric.port_start.windows(2).map(|ends| {
            let ports = &self.ports[ends[0] as usize..ends[1] as usize];
            ports.iter().fold(BusCounts::default(), |sum, port| {
                let at = &self.stations[port.station as usize];
                let aside = self.tallies[port.station as usize].transfers;
                BusCounts {
                    transfers: sum.transfers + aside + u64::from(at.transfers),
                    busy_ticks: sum.busy_ticks + at.bus_ticks,
                    wait_ticks: sum.wait_ticks + at.bus_wait_ticks,
                }
            })
        })
    }

    /// Resets the counts.
    pub fn clear_counts(&mut self) {
        self.tallies.fill(Tally::default());
        self.faults.clear_counts();
        self.closed.clear_counts();
        self.stations.iter_mut().for_each(Station::clear_counts);
        self.rare.iter_mut().for_each(Rare::clear_counts);
    }

    /// Whether nothing is under way and every place is free.
    pub fn is_at_rest(&self) -> bool {
        let mut settled = self.clone();
        settled.now = NEVER;
        (0..self.stations.len() as u32).for_each(|station| settled.heed_echoes(station));
        settled.is_empty()
    }

    fn is_empty(&self) -> bool {
        let free = |(number, at): (usize, &Station)| {
            let (f, link) = (&self.fabric, &at.link);
            let mut out_free = at.out_free;
            if let Some(count) = out_free.get_mut(usize::from(link.leaving)) {
                *count += 1;
            }
            out_free == [f.station_requests_out[number], f.station_responses_out[number]]
                && at.in_free == receive_places(f, number)
                && (at.may_send, link.says_go, link.waiting) == ([f.station_in_flight[number]; 2], true, 0)
        };
        let owed = self.reserved.iter().flatten().any(|reserved| reserved.owed != [0; 2]);
        let empty = self.units.is_all_free() && self.entries.is_all_free();
        empty && !owed && self.stations.iter().enumerate().all(free)
    }

    /// Returns when a packet that reaches an interface at `time` has passed it, to the link or to the user.
    #[inline]
    pub(super) fn through(&mut self, station: u32, way: usize, time: Time, latency: u32) -> Time {
        let taken_up = self.taken_up.get_mut(station as usize).map(|ways| &mut ways[way]);
        let ready = taken_up.as_ref().map_or(time, |until| time.max(**until)) + Time::from(latency);
        if let Some(until) = taken_up {
            *until = ready;
        }
        ready
    }

    /// Returns the constants of a station.
    #[inline]
    pub(super) fn timing(&self, station: u32) -> &Timing {
        &self.timings[self.stations[station as usize].link.timing as usize]
    }

    /// Returns a request or a response that a terminal is to send.
    pub(super) fn packet(&self, transaction: u32, response: bool, ready: Time) -> Entry {
        let of = &self.transactions[transaction];
        let bytes = of.bytes(response)
            + if response {
                self.fabric.ring_response_header_bytes
            } else {
                self.fabric.ring_request_header_bytes
            };
        let dest = if response { of.source } else { of.target };
        let is = Traits::new(response, of.kind == transaction::MOVE);
        Entry::new(ready, transaction, is, dest, bytes, of.crossed as u16)
    }

    /// Takes a place of a transmit queue.
    #[inline]
    pub(super) fn take_place_to_send(&mut self, station: u32, kind: usize) {
        let at = &mut self.stations[station as usize];
        at.out_free[kind] -= 1;
        if at.out_free[kind] > 0 {
            return;
        }
        if usize::from(at.link.leaving) == kind {
            if at.link.free_at <= self.now {
                at.link.leaving = 2;
                at.out_free[kind] += 1;
                return;
            }
            let end = at.link.free_at;
            self.look_at(station, end);
        }
        self.set_full(station, kind, true);
    }

    /// Sets whether the transmit queue of a port is full; returns whether the station is a port.
    pub(super) fn set_full(&mut self, station: u32, kind: usize, is_full: bool) -> bool {
        let port = self.stations[station as usize].link.port();
        let Some(of) = self.switches.get_mut(self.stations[station as usize].switch as usize) else {
            return false;
        };
        let bit = 1 << (port - of.first);
        of.full[kind] = if is_full { of.full[kind] | bit } else { of.full[kind] & !bit };
        true
    }

    /// Returns the symbols of a packet, including idle ones.
    #[inline]
    pub(super) fn symbols(&self, bytes: u32) -> u32 {
        self.on_link(bytes + self.fabric.ring_send_idle_bytes)
    }

    /// Returns the symbols of an echo, including idle ones; 0 without echoes.
    #[inline]
    pub(super) fn echo_symbols(&self) -> u32 {
        if self.has_echoes() {
            self.on_link(self.fabric.ring_echo_bytes + self.fabric.ring_echo_idle_bytes)
        } else {
            0
        }
    }

    /// Returns the symbols that a unit of this size takes on a link: a slot, if there are any.
    #[inline]
    fn on_link(&self, bytes: u32) -> u32 {
        match self.fabric.ring_slot_symbols {
            0 => bytes.div_ceil(self.fabric.ring_symbol_bytes),
            slot => slot,
        }
    }

    /// Whether stations answer packets that they take off the ring.
    #[inline]
    pub(super) fn has_echoes(&self) -> bool {
        self.fabric.ring_echo_bytes > 0
    }

    /// Removes one reference to a transaction.
    #[inline]
    pub(super) fn forget(&mut self, transaction: u32) {
        self.transactions[transaction].uses -= 1;
        if self.transactions[transaction].uses == 0 {
            self.transactions.remove(transaction);
        }
    }
}

/// Returns how long what starts at the lowest numbered station of a ring takes to the output of each one: a slot that
/// begins there, or a token. Empty without slots and tokens.
pub(super) fn offsets(f: &Fabric) -> Vec<Time> {
    let counts = f.ring_slot_symbols > 0 || f.ring_token_symbols > 0;
    let mut offsets = vec![NEVER; if counts { f.links() } else { 0 }];
    for first in 0..offsets.len() {
        let (mut station, mut time) = (first, 0);
        while offsets[station] == NEVER {
            offsets[station] = time;
            time += Time::from(ahead(f, station));
            station = f.station_next[station] as usize;
        }
    }
    offsets
}

/// Returns which stations have a further controller of their port after them, see [`Rings::yields`].
fn yields(f: &Fabric) -> Vec<bool> {
    let mut yields = vec![false; if f.port_yields.is_empty() { 0 } else { f.links() }];
    for (&station, &flag) in f.port_station.iter().zip(&f.port_yields) {
        yields[station as usize] = flag != 0;
    }
    yields
}
