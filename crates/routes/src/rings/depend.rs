//! Which queues may wait for which, requests or responses alone: they have queues of their own.
//!
//! What a station sends waits for the receive queue of the port that takes it; what stands in that queue waits
//! for the transmit queues of the ports by which it leaves.

use super::{RingNetwork, Ways};
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
    let ways = Ways::new(net, route)?;
    if sources.iter().chain(targets).any(|&terminal| !net.is_terminal(terminal)) {
        return Err(RouteError::text("there is no such terminal"));
    }
    let stations = net.next.len();
    // Vertices: what stations send, then what ports have received.
    let mut next = vec![Waits::default(); stations + net.port_station.len()];
    let mut seen = vec![NONE; stations];
    for &target in targets {
        for &source in sources.iter().filter(|&&source| source != target) {
            let mut station = net.terminal_station[source as usize];
            while std::mem::replace(&mut seen[station as usize], target) != target {
                let Some(taker) = ways.taker(station, target) else { break };
                let Some(exit) = ways.exit(taker, target) else { break };
                let received = stations as u32 + net.station_port[taker as usize];
                let onward = net.port_station[exit as usize];
                next[station as usize].add(received);
                next[received as usize].add(onward);
                station = onward;
            }
        }
    }
    let next: Vec<Vec<u32>> = next.into_iter().map(Waits::finish).collect();
    Ok(component(&next).map(|members| {
        let cycle = shortest_cycle(&next, &members);
        cycle.into_iter().filter(|&vertex| (vertex as usize) < stations).collect()
    }))
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
