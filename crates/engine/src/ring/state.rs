//! What a network of rings remembers: its parts and the packets between them.

use super::allocation::Idles;
use super::host::Hosts;
use super::parts::{Deal, Edge, Entry, Held, Unit};
use super::phases::{Reservation, UNLABELLED};
use super::stations::{BusCounts, Counts, Port, Rare, Station, Switch};
use crate::fabric::{Exits, Fabric, NONE, transaction};
use crate::kernel::Time;
use crate::kernel::calendar::Calendar;
use crate::kernel::slab::Slab;
use crate::measure::{Delivery, Hops};

/// Index of requests in what there is once for each kind of packet.
pub(super) const REQUEST: usize = 0;
/// Index of responses.
pub(super) const RESPONSE: usize = 1;

/// No time yet.
pub(super) const NEVER: Time = Time::MAX;

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
    pub(super) exits: Exits,
    pub(super) stations: Vec<Station>,
    /// Per station: what is seldom counted.
    pub(super) rare: Vec<Rare>,
    pub(super) switches: Vec<Switch>,
    pub(super) ports: Vec<Port>,
    /// Per station: places it owes, by kind; no stations without phases.
    pub(super) reserved: Vec<[Reservation; 2]>,
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
    /// Links, switches and terminal stations that may start something in this tick.
    pub(super) links_touched: Vec<u32>,
    pub(super) switches_touched: Vec<u32>,
    pub(super) services_touched: Vec<u32>,
    /// Changes of what idle symbols say, on their way; and the idle symbols of each station, of none without bandwidth
    /// allocation.
    pub(super) edges: Slab<Edge>,
    pub(super) idles: Vec<Idles>,
    pub(super) calendar: Calendar,
    pub(super) now: Time,
    /// When the last of the echoes comes home whose coming is no event.
    pub(super) last: Time,
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
            for port in fabric.port_start[switch as usize]..fabric.port_start[switch as usize + 1] {
                let station = &mut stations[fabric.port_station[port as usize] as usize];
                (station.home, station.port) = (switch, port);
            }
        }
        let port = |&station: &u32| Port { ready: [NEVER; 2], bytes: [0; 2], station, target: [0; 2] };
        let ports = fabric.port_station.iter().map(port).collect();
        for (terminal, &station) in fabric.terminal_out_link.iter().enumerate() {
            stations[station as usize].home = terminal as u32;
        }
        let numbers =
            fabric.terminal_transactions.iter().map(|&free| Numbers { free, asked: false }).collect();
        let allocating = if fabric.ring_allocation == 0 { 0 } else { links };
        Self {
            stations,
            rare: vec![Rare::default(); links],
            switches,
            ports,
            reserved: vec![[Reservation::default(); 2]; if fabric.ring_phases == 0 { 0 } else { links }],
            numbers,
            units: Slab::default(),
            entries: Slab::default(),
            helds: Slab::default(),
            deals: Slab::default(),
            oldest: NONE,
            newest: NONE,
            timeout_at: NEVER,
            links_touched: Vec::new(),
            switches_touched: Vec::new(),
            services_touched: Vec::new(),
            edges: Slab::default(),
            idles: vec![Idles::GO; allocating],
            calendar: Calendar::new(2 * links),
            now: -1,
            last: -1,
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
            exits: Exits::new(&fabric),
            fabric,
        }
    }

    /// The arrays this network was made from.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// What every link did since the last [`Rings::clear_counts`].
    pub fn counts(&self) -> impl Iterator<Item = Counts> {
        self.stations.iter().zip(&self.rare).map(|(station, rare)| station.counts(rare))
    }

    /// What the buses of every switch did since the last [`Rings::clear_counts`].
    pub fn bus_counts(&self) -> impl Iterator<Item = &BusCounts> {
        self.switches.iter().map(|switch| &switch.count)
    }

    /// Starts counting anew.
    pub fn clear_counts(&mut self) {
        for station in &mut self.stations {
            station.clear_counts();
        }
        self.rare.fill(Rare::default());
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
                && (at.may_open, at.says_go, at.waiting) == ([at.window; 2], true, 0)
        };
        let owed = self.reserved.iter().flatten().any(|reserved| reserved.owed != [0; 2]);
        let empty = self.units.is_all_free() && self.entries.is_all_free() && self.helds.is_all_free();
        empty && !owed && self.stations.iter().enumerate().all(free)
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
        Entry {
            ends_deal,
            crossed: of.crossed,
            ..self.entry(station, ready, deal, response, (from, dest), bytes)
        }
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
            crossed: 0,
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
        if at.out_free[kind] > 0 {
            return;
        }
        if usize::from(at.leaving) == kind {
            if at.free_at <= self.now {
                at.leaving = 2;
                at.out_free[kind] += 1;
                return;
            }
            let end = at.free_at;
            self.look_at(station, end);
        }
        let at = &self.stations[station as usize];
        if let Some(of) = self.switches.get_mut(at.switch() as usize) {
            of.full[kind] |= 1 << (at.port - of.first);
        }
    }

    /// Symbols of a packet, idle ones included.
    #[inline]
    pub(super) fn symbols(&self, bytes: u32) -> u32 {
        (bytes + self.fabric.ring_send_idle_bytes).div_ceil(2)
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
