//! The number of packets and echoes on each link, and on the buses of each switch.

use super::{PortView, RingNetwork, Ways};
use crate::{RouteError, Word};

/// Loads per unit of time, in the unit of the rates.
#[derive(Clone, Debug, PartialEq)]
pub struct RingLoads {
    /// Per link: packets.
    pub packets: Vec<f64>,
    /// Per link: echoes of packets; an echo travels the rest of the ring.
    pub echoes: Vec<f64>,
    /// Per switch: packets over its buses.
    pub transfers: Vec<f64>,
}

/// Returns the loads of given pairs of terminals: pair `p` sends `rate[p]` packets from `source[p]` to `target[p]`.
pub fn ring_loads(
    net: &RingNetwork,
    route: PortView<'_>,
    source: &[u32],
    target: &[u32],
    rate: &[f64],
) -> Result<RingLoads, RouteError> {
    let ways = Ways::new(net, route);
    if source.len() != target.len() || source.len() != rate.len() {
        return Err(RouteError::text("every pair needs a source, a target and a rate"));
    }
    if source.iter().chain(target).any(|&terminal| !net.is_terminal(terminal)) {
        return Err(RouteError::text("a pair names a terminal that does not exist"));
    }
    let mut tally = Tally {
        change: vec![0.0; net.next.len()],
        start: vec![0.0; net.rings()],
        sent: vec![0.0; net.rings()],
        transfers: vec![0.0; net.switches()],
    };
    for ((&source, &target), &rate) in source.iter().zip(target).zip(rate) {
        tally.follow(&ways, source, target, rate)?;
    }
    Ok(tally.finish(net))
}

/// Arcs of rings, stored as changes at their two ends, so that a long arc costs no more than a short one.
struct Tally {
    /// Per station: packets that begin there minus packets that end there.
    change: Vec<f64>,
    /// Per ring: packets on the link to its first station.
    start: Vec<f64>,
    /// Per ring: packets put on it.
    sent: Vec<f64>,
    transfers: Vec<f64>,
}

impl Tally {
    fn follow(&mut self, ways: &Ways<'_>, source: u32, target: u32, rate: f64) -> Result<(), RouteError> {
        let net = ways.net;
        let mut station = net.terminal_station[source as usize];
        for _ in 0..=net.switches() {
            let Some(taker) = ways.taker(station, target) else { break };
            let ring = net.ring[station as usize] as usize;
            self.change[station as usize] += rate;
            self.change[taker as usize] -= rate;
            self.sent[ring] += rate;
            if net.place[taker as usize] <= net.place[station as usize] {
                self.start[ring] += rate;
            }
            let Some(exit) = ways.exit(taker, target) else { return Ok(()) };
            self.transfers[net.port_switch[exit as usize] as usize] += rate;
            station = net.port_station[exit as usize];
        }
        let ends = [Word::Terminal(source), " to ".into(), Word::Terminal(target), " do not arrive".into()];
        Err(RouteError::of(std::iter::once("packets from ".into()).chain(ends)))
    }

    fn finish(self, net: &RingNetwork) -> RingLoads {
        let mut loads = RingLoads {
            packets: vec![0.0; net.next.len()],
            echoes: vec![0.0; net.next.len()],
            transfers: self.transfers,
        };
        for ring in 0..net.rings() as u32 {
            let mut packets = self.start[ring as usize];
            for &station in net.stations_of(ring) {
                packets += self.change[station as usize];
                loads.packets[station as usize] = packets;
                // A packet and its echo together make one round.
                loads.echoes[station as usize] = self.sent[ring as usize] - packets;
            }
        }
        loads
    }
}
