//! Which queues may wait for which, requests or responses alone: they have queues of their own.
//!
//! What a station sends waits for the receive queue of the port that takes it; what stands in that queue waits
//! for the transmit queues of the ports by which it leaves.

use super::{PASS, RingNetwork};
use crate::depend::{component, shortest_cycle};
use crate::{NONE, RouteError};

/// A cycle of stations whose transmit queues may wait for the next, the last for the first; none if there is
/// none. Packets go from every one of `sources` to every one of `targets`.
pub fn ring_dependency_cycle(
    net: &RingNetwork,
    route: &[u8],
    sources: &[u32],
    targets: &[u32],
) -> Result<Option<Vec<u32>>, RouteError> {
    net.check_table(route)?;
    if sources.iter().chain(targets).any(|&terminal| !net.is_terminal(terminal)) {
        return Err(RouteError::text("there is no such terminal"));
    }
    let stations = net.next.len();
    // Vertices: what stations send, then what ports have received.
    let mut next = vec![Waits::default(); stations + net.port_station.len()];
    let mut seen = vec![NONE; stations];
    let mut block = Block::new(net);
    for targets in targets.chunks(BLOCK) {
        block.fill(net, route, targets);
        for (lane, &target) in targets.iter().enumerate() {
            for &source in sources.iter().filter(|&&source| source != target) {
                let mut station = net.terminal_station[source as usize];
                while std::mem::replace(&mut seen[station as usize], target) != target {
                    let Some((port, exit)) = block.onward(station, lane) else { break };
                    let received = stations as u32 + port;
                    let first = net.port_start[net.port_switch[port as usize] as usize];
                    let onward = net.port_station[(first + u32::from(exit)) as usize];
                    next[station as usize].add(received);
                    next[received as usize].add(onward);
                    station = onward;
                }
            }
        }
    }
    let next: Vec<Vec<u32>> = next.into_iter().map(Waits::finish).collect();
    Ok(component(&next).map(|members| {
        let cycle = shortest_cycle(&next, &members);
        cycle.into_iter().filter(|&vertex| (vertex as usize) < stations).collect()
    }))
}

/// Targets looked at together: their entries stand side by side in the table.
const BLOCK: usize = 16;

/// For some targets: where packets go that a station has put on its ring.
struct Block {
    /// Per station and target: the port that takes the packet, or [`NONE`] at the target or if none does.
    taker: Vec<[u32; BLOCK]>,
    /// Per port and target: the port of the same switch by which the packet leaves, or [`PASS`].
    exit: Vec<[u8; BLOCK]>,
}

impl Block {
    fn new(net: &RingNetwork) -> Self {
        Self { taker: vec![[NONE; BLOCK]; net.next.len()], exit: vec![[PASS; BLOCK]; net.port_station.len()] }
    }

    /// Looks up the ways to these targets.
    fn fill(&mut self, net: &RingNetwork, route: &[u8], targets: &[u32]) {
        for (port, row) in route.chunks(net.terminals()).enumerate() {
            for (exit, &target) in self.exit[port].iter_mut().zip(targets) {
                *exit = row[target as usize];
            }
        }
        for ring in 0..net.rings() as u32 {
            let stations = net.stations_of(ring);
            let mut taker = [NONE; BLOCK];
            // Twice round, so that what is behind the last station is known at the first.
            for &station in stations.iter().rev().chain(stations.iter().rev()) {
                self.taker[station as usize] = taker;
                let port = net.station_port[station as usize];
                for (lane, &target) in targets.iter().enumerate() {
                    if port != NONE && self.exit[port as usize][lane] != PASS {
                        taker[lane] = port;
                    } else if net.terminal_station[target as usize] == station {
                        taker[lane] = NONE;
                    }
                }
            }
        }
    }

    /// The port that takes what a station sends, and the port of its switch by which that leaves.
    fn onward(&self, station: u32, lane: usize) -> Option<(u32, u8)> {
        let port = self.taker[station as usize][lane];
        (port != NONE).then(|| (port, self.exit[port as usize][lane]))
    }
}

/// What one vertex waits for; put in order whenever it has doubled, so that repeats take no room.
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
