//! Which queues may wait for which, separately for requests and responses, which have separate queues.
//!
//! The packets that a station sends wait for the receive queue of the port that takes them; packets in that queue wait
//! for the transmit queues of their output ports. All targets of a block of the table are followed together, as the
//! bits of a word, because most take the same path.

use super::{BLOCK, PASS, PortView, RingNetwork};
use crate::depend::{component, shortest_cycle};
use crate::{NONE, RouteError};

/// A subset of the targets of a block.
type Lanes = u64;
/// Number of blocks of a row that are read together: as many as fit in a cache line.
const TILE: usize = 16;
const _: () = assert!(BLOCK == Lanes::BITS as usize, "every target of a block has a bit");

/// Returns a cycle of stations, each of whose transmit queues may wait for the next, the last for the first; None if
/// there is none. Packets go from each of `sources` to each of `targets`, with one of the tables for the whole path.
pub fn ring_dependency_cycle(
    net: &RingNetwork,
    tables: &[PortView<'_>],
    sources: &[u32],
    targets: &[u32],
) -> Result<Option<Vec<u32>>, RouteError> {
    if sources.iter().chain(targets).any(|&terminal| !net.is_terminal(terminal)) {
        return Err(RouteError::text("there is no such terminal"));
    }
    let mut wanted = vec![0; net.terminals().div_ceil(BLOCK)];
    targets.iter().for_each(|&target| wanted[target as usize / BLOCK] |= lane_of(target));
    let stations = net.next.len();
    let mut waits = vec![Waits::default(); stations + net.port_station.len()];
    for &route in tables {
        let mut follow = Follow::new(net, route, waits);
        for (block, &wanted) in wanted.iter().enumerate().filter(|&(_, &wanted)| wanted != 0) {
            follow.look_up(block, wanted);
            for &source in sources {
                let own = if source as usize / BLOCK == block { lane_of(source) } else { 0 };
                follow.from(net.terminal_station[source as usize], wanted & !own);
            }
        }
        waits = follow.next;
    }
    let next: Vec<Vec<u32>> = waits.into_iter().map(Waits::finish).collect();
    Ok(component(&next).map(|members| {
        let cycle = shortest_cycle(&next, &members);
        cycle.into_iter().filter(|&vertex| (vertex as usize) < stations).collect()
    }))
}

fn lane_of(target: u32) -> Lanes {
    1 << (target as usize % BLOCK)
}

/// Follows packets for the targets of one block after the other.
struct Follow<'a> {
    net: &'a RingNetwork,
    route: PortView<'a>,
    /// Per block of exits: the targets that do not pass.
    enter: Vec<Lanes>,
    /// Per block of exits: the common exit of all of these, [`PASS`] if there are several.
    only: Vec<u8>,
    /// Per port: its exits for the targets of the current block and its neighbours, which are read together, because a
    /// row of the table is long.
    tile: Vec<[u32; TILE]>,
    block: usize,
    /// Per station: the targets that it takes off its ring.
    takes: Vec<Lanes>,
    /// Per station: the next one after it that takes any, or [`NONE`].
    taker: Vec<u32>,
    /// Per station: the targets to which it is known to send.
    sent: Vec<Lanes>,
    /// Stations and targets to follow.
    rest: Vec<(u32, Lanes)>,
    /// The next taker after the last source, the targets followed from before it, and the ports that take any.
    group: (u32, Lanes),
    entered: Vec<(u32, Lanes)>,
    /// The waits: of what stations send, then, from `received` on, of what ports have received.
    next: Vec<Waits>,
    received: u32,
}

impl<'a> Follow<'a> {
    fn new(net: &'a RingNetwork, route: PortView<'a>, next: Vec<Waits>) -> Self {
        let stations = net.next.len();
        let all = |exits: &[u8]| with(exits, |exit| exit != PASS);
        let only = |exits: &[u8]| {
            let exit = exits.iter().copied().min().unwrap_or(PASS);
            if exits.iter().all(|&other| other == exit || other == PASS) { exit } else { PASS }
        };
        Self {
            net,
            route,
            enter: route.all_exits().map(all).collect(),
            only: route.all_exits().map(only).collect(),
            tile: vec![[0; TILE]; net.port_station.len()],
            block: usize::MAX,
            takes: vec![0; stations],
            taker: vec![NONE; stations],
            sent: vec![0; stations],
            rest: vec![],
            group: (NONE, 0),
            entered: vec![],
            next,
            received: stations as u32,
        }
    }

    /// Looks up the paths of these targets of a block on all rings.
    fn look_up(&mut self, block: usize, wanted: Lanes) {
        let read = std::mem::replace(&mut self.block, block) / TILE;
        if block / TILE != read {
            for (port, tile) in (0..).zip(&mut self.tile) {
                let blocks = self.route.blocks_from(port, block / TILE * TILE);
                tile.iter_mut().zip(blocks).for_each(|(tile, &block)| *tile = block);
            }
        }
        self.group = (NONE, 0);
        self.sent.fill(0);
        self.takes.fill(0);
        let mut entered = vec![0; self.net.rings()];
        for (tile, &station) in self.tile.iter().zip(&self.net.port_station) {
            let enter = wanted & self.enter[tile[block % TILE] as usize];
            self.takes[station as usize] = enter;
            entered[self.net.ring[station as usize] as usize] |= enter;
        }
        let homes = self.net.terminal_station.iter().zip(0..).skip(block * BLOCK).take(BLOCK);
        for (&home, target) in homes {
            // Packets that no port of the ring takes do not have to be stopped at its end.
            self.takes[home as usize] = entered[self.net.ring[home as usize] as usize] & lane_of(target);
        }
        let takes = &self.takes;
        self.net.note_next(&mut self.taker, |station| takes[station as usize] != 0);
    }

    /// Follows packets for these targets from a source to their destinations.
    fn from(&mut self, station: u32, lanes: Lanes) {
        let taker = self.taker[station as usize];
        if self.group.0 != taker {
            self.group = (taker, 0);
            self.entered.clear();
        }
        // From all sources before the same taker they take the same path.
        let new = lanes & !self.group.1;
        self.group.1 |= lanes;
        if new != 0 {
            self.enter(station, new);
            self.follow_rest();
        }
        self.wait(station, lanes, 0);
    }

    fn follow_rest(&mut self) {
        let sources = self.entered.len();
        while let Some((station, lanes)) = self.rest.pop() {
            self.enter(station, lanes);
            self.wait(station, lanes, sources);
            self.entered.truncate(sources);
        }
    }

    /// Adds the waits of a station's packets for these targets: for the ports in `entered`, from an index on, that take
    /// any of them.
    fn wait(&mut self, station: u32, lanes: Lanes, from: usize) {
        let next = &mut self.next[station as usize];
        for &(port, taken) in &self.entered[from..] {
            if taken & lanes != 0 {
                next.add(self.received + port);
            }
        }
    }

    /// Finds the ports that take a station's packets for these targets, and follows the packets from there.
    fn enter(&mut self, station: u32, mut lanes: Lanes) {
        let first = self.taker[station as usize];
        let mut taker = first;
        while lanes != 0 && taker != NONE {
            let taken = lanes & self.takes[taker as usize];
            lanes &= !taken;
            let port = self.net.station_port[taker as usize];
            if port != NONE && taken != 0 {
                self.entered.push((port, taken));
                self.cross(port, taken);
            }
            taker = self.taker[taker as usize];
            if taker == first {
                break;
            }
        }
    }

    /// Follows what a port has received to other ports of its switch.
    fn cross(&mut self, port: u32, mut lanes: Lanes) {
        let number = self.tile[port as usize][self.block % TILE] as usize;
        let exits = self.route.exits(number);
        let first = self.net.port_start[self.net.port_switch[port as usize] as usize];
        while lanes != 0 {
            let (exit, alike) = match self.only[number] {
                PASS => {
                    let exit = exits[lanes.trailing_zeros() as usize];
                    (exit, lanes & with(exits, |other| other == exit))
                }
                only => (only, lanes),
            };
            lanes &= !alike;
            let onward = self.net.port_station[(first + u32::from(exit)) as usize];
            self.next[(self.received + port) as usize].add(onward);
            let new = alike & !self.sent[onward as usize];
            if new != 0 {
                self.sent[onward as usize] |= new;
                self.rest.push((onward, new));
            }
        }
    }
}

/// Returns the targets of a block with matching exits.
fn with(exits: &[u8], such: impl Fn(u8) -> bool) -> Lanes {
    exits.iter().rev().fold(0, |lanes, &exit| lanes << 1 | Lanes::from(such(exit)))
}

/// The waits of one vertex; sorted whenever their number has doubled, so that duplicates take no space.
#[derive(Clone, Default)]
struct Waits {
    list: Vec<u32>,
    sorted: usize,
}

impl Waits {
    fn add(&mut self, vertex: u32) {
        if self.list.last() != Some(&vertex) {
            self.list.push(vertex);
            if self.list.len() > 2 * self.sorted + 16 {
                self.tidy();
            }
        }
    }

    fn tidy(&mut self) {
        self.list.sort_unstable();
        self.list.dedup();
        self.sorted = self.list.len();
    }

    fn finish(mut self) -> Vec<u32> {
        self.tidy();
        self.list
    }
}
