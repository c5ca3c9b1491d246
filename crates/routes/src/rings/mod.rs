//! Rings of stations joined by switches with buses: paths with the fewest buses, their loads, and their dependencies.
//!
//! A station has the number of its output link. A terminal is one station, a switch several: its ports.

mod depend;
mod load;
mod route;
mod table;

pub use depend::ring_dependency_cycle;
pub use load::{RingLoads, ring_loads};
pub use route::{Ends, port_route, torus_route};
pub use table::{BLOCK, PortRoute, PortView};

use crate::{NONE, RouteError};

/// Packets for this terminal pass the port.
pub const PASS: u8 = u8::MAX;

/// Rings, ports and terminals, prepared once for several questions.
#[derive(Clone, Debug)]
pub struct RingNetwork {
    next: Vec<u32>,
    previous: Vec<u32>,
    /// Per station: its ring.
    ring: Vec<u32>,
    /// Per station: its distance in links from the first station of its ring.
    place: Vec<u32>,
    /// Per ring and one more: start of its stations in `around`.
    ring_start: Vec<u32>,
    /// The stations ring by ring, in the order of the links.
    around: Vec<u32>,
    port_start: Vec<u32>,
    port_station: Vec<u32>,
    port_switch: Vec<u32>,
    /// Per station: its port, or [`NONE`] for a terminal's.
    station_port: Vec<u32>,
    terminal_station: Vec<u32>,
}

impl RingNetwork {
    /// Takes the columns of a description: per station the next one, per switch (and one more) the start of its ports,
    /// per port its station, per terminal its station.
    pub fn new(
        next: Vec<u32>,
        port_start: Vec<u32>,
        port_station: Vec<u32>,
        terminal_station: Vec<u32>,
    ) -> Result<Self, RouteError> {
        let stations = next.len();
        let previous = inverse(&next)?;
        let station_port = homes(stations, &port_station, &terminal_station)?;
        let ends = (port_start.first().copied(), port_start.last().map(|&end| end as usize));
        let sizes = port_start.windows(2);
        let sizes_fit = sizes.clone().all(|pair| pair[0] < pair[1] && pair[1] - pair[0] < u32::from(PASS));
        if ends != (Some(0), Some(port_station.len())) || !sizes_fit {
            return Err(RouteError::text("every switch needs ports, and all ports a switch"));
        }
        let port_switch =
            sizes.zip(0..).flat_map(|(pair, s)| std::iter::repeat_n(s, (pair[1] - pair[0]) as usize));
        let port_switch = port_switch.collect();
        let (mut ring, mut place) = (vec![NONE; stations], vec![0; stations]);
        let (mut ring_start, mut around) = (vec![0], Vec::with_capacity(stations));
        for first in 0..stations {
            let mut station = first;
            while ring[station] == NONE {
                ring[station] = ring_start.len() as u32 - 1;
                place[station] = around.len() as u32 - ring_start[ring_start.len() - 1];
                around.push(station as u32);
                station = next[station] as usize;
            }
            if around.len() as u32 > ring_start[ring_start.len() - 1] {
                ring_start.push(around.len() as u32);
            }
        }
        Ok(Self {
            next,
            previous,
            ring,
            place,
            ring_start,
            around,
            port_start,
            port_station,
            port_switch,
            station_port,
            terminal_station,
        })
    }

    /// Returns the number of terminals.
    pub fn terminals(&self) -> usize {
        self.terminal_station.len()
    }

    fn switches(&self) -> usize {
        self.port_start.len() - 1
    }

    fn rings(&self) -> usize {
        self.ring_start.len() - 1
    }

    fn ports_of(&self, switch: u32) -> std::ops::Range<u32> {
        self.port_start[switch as usize]..self.port_start[switch as usize + 1]
    }

    /// Returns the stations of a ring, in the order of its links.
    fn stations_of(&self, ring: u32) -> &[u32] {
        &self.around[self.ring_start[ring as usize] as usize..self.ring_start[ring as usize + 1] as usize]
    }

    /// Returns the number of links from a station to another one of its ring, or once around to itself.
    fn links_between(&self, station: u32, other: u32) -> u32 {
        let size = self.stations_of(self.ring[station as usize]).len() as u32;
        let gap = self.place[other as usize] + size - self.place[station as usize];
        if gap > size { gap - size } else { gap }
    }

    /// Sets, for every station, the next matching one after it on its ring, or [`NONE`].
    fn note_next(&self, next: &mut [u32], such: impl Fn(u32) -> bool) {
        for ring in 0..self.rings() as u32 {
            let stations = self.stations_of(ring);
            let mut found = NONE;
            // Twice around, so that the successors of the last station are known at the first.
            for &station in stations.iter().rev().chain(stations.iter().rev()) {
                next[station as usize] = found;
                if such(station) {
                    found = station;
                }
            }
        }
    }

    fn is_terminal(&self, terminal: u32) -> bool {
        (terminal as usize) < self.terminals()
    }
}

/// A walk over a table: which station takes a packet off the ring, and where the packet continues.
struct Ways<'a> {
    net: &'a RingNetwork,
    route: PortView<'a>,
    /// Per station: the next port after it on its ring, or [`NONE`].
    next_port: Vec<u32>,
}

impl<'a> Ways<'a> {
    fn new(net: &'a RingNetwork, route: PortView<'a>) -> Self {
        let mut next_port = vec![NONE; net.next.len()];
        net.note_next(&mut next_port, |station| net.station_port[station as usize] != NONE);
        Self { net, route, next_port }
    }

    /// Returns the output port for packets that a station takes for a terminal; None at the terminal or if they pass.
    fn exit(&self, station: u32, terminal: u32) -> Option<u32> {
        let port = self.net.station_port[station as usize];
        if port == NONE {
            return None;
        }
        let exit = self.route.exit(port, terminal);
        let first = self.net.port_start[self.net.port_switch[port as usize] as usize];
        (exit != PASS).then(|| first + u32::from(exit))
    }

    /// Returns the station that takes a packet for a terminal sent by `station`; None if it would circulate for ever.
    fn taker(&self, station: u32, terminal: u32) -> Option<u32> {
        let net = self.net;
        let home = net.terminal_station[terminal as usize];
        let behind = |other: u32| net.links_between(station, other);
        let there = (net.ring[home as usize] == net.ring[station as usize]).then(|| behind(home));
        let mut at = self.next_port[station as usize];
        while at != NONE && there.is_none_or(|there| behind(at) < there) {
            if self.exit(at, terminal).is_some() {
                return Some(at);
            }
            let onward = self.next_port[at as usize];
            if behind(onward) <= behind(at) {
                break;
            }
            at = onward;
        }
        there.map(|_| home)
    }
}

fn inverse(next: &[u32]) -> Result<Vec<u32>, RouteError> {
    let mut previous = vec![NONE; next.len()];
    for (station, &onward) in next.iter().enumerate() {
        match previous.get_mut(onward as usize) {
            Some(place) if *place == NONE => *place = station as u32,
            _ => return Err(RouteError::text("the stations are no rings: each must be the next of one")),
        }
    }
    Ok(previous)
}

/// Returns, per station, its port or [`NONE`]; an error if a station is both or neither of port and terminal.
fn homes(stations: usize, ports: &[u32], terminals: &[u32]) -> Result<Vec<u32>, RouteError> {
    let mut taken = vec![false; stations];
    for &station in ports.iter().chain(terminals) {
        match taken.get_mut(station as usize) {
            Some(place) if !*place => *place = true,
            _ => return Err(RouteError::text("a station must be one port or one terminal")),
        }
    }
    if taken.contains(&false) {
        return Err(RouteError::text("a station is neither a port nor a terminal"));
    }
    let mut station_port = vec![NONE; stations];
    ports.iter().zip(0..).for_each(|(&station, port)| station_port[station as usize] = port);
    Ok(station_port)
}
