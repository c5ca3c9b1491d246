//! Terminals with several ports: the network reports ports, and all other modules use terminals.

use super::{Network, Run, RunError};
use crate::fabric::Fabric;
use crate::terminal::program::mark;

impl Run {
    /// Replaces ports by terminals in the results.
    #[inline(never)]
    pub(super) fn name_terminals(&mut self, fabric: &Fabric) {
        let Some(ways) = &self.ways else { return };
        for delivery in &mut self.news.deliveries {
            let plane = fabric.port_plane[delivery.target as usize];
            delivery.source = ways.terminal(delivery.source);
            delivery.target = ways.terminal(delivery.target);
            self.planes.record(plane, delivery);
            let of_source = self.beside.is_none() || mark::kind(delivery.mark) == mark::SOURCE;
            if self.ports.is_some() && of_source {
                self.order.record(delivery);
            }
        }
        self.news.heads.iter_mut().for_each(|(port, _)| *port = ways.terminal(*port));
    }

    /// Sends the packets of terminals by the ports that request them, all ports of a tick together.
    #[inline(never)]
    pub(super) fn ask_ports<N: Network>(&mut self, network: &mut N) -> Result<(), RunError> {
        let (Some(ports), sources) = (&mut self.ports, &mut self.sources) else { return Ok(()) };
        self.news.asking.iter().for_each(|&port| ports.ask(port, self.now));
        for port in self.news.asking.drain(..) {
            let terminal = ports.terminal(port);
            while let Some((port, packet)) = ports.next(network.fabric(), sources, terminal, self.now)? {
                if self.taken.watches() {
                    let copies = network.fabric().copies(packet.target);
                    self.taken.leave(packet.mark, packet.created, copies);
                }
                let more = network.send(port, &packet);
                ports.took(port, more);
            }
            let wake = ports.wake(network.fabric(), sources, terminal, self.now);
            let is_run = |time| time <= self.options.until || self.options.drain;
            if let Some((port, time)) = wake.filter(|&(_, time)| is_run(time)) {
                network.schedule_source(port, time);
            }
        }
        Ok(())
    }

    /// Returns the packets of sources that a later one of their pair has overtaken, where they have several ways.
    pub fn overtaken(&self) -> Option<u64> {
        (self.ports.is_some() || self.order.counts_starts()).then_some(self.order.overtaken)
    }

    /// Whether no source creates further packets, and none waits at one. `stranded`: some links never run again; a
    /// source has given such a link a packet, and may make more.
    pub(super) fn sources_are_over(&self, stranded: bool) -> bool {
        match &self.ports {
            Some(ports) => ports.is_over(&self.sources),
            None => (0..self.pending.len()).all(|terminal| {
                self.pending[terminal].is_none() && (!stranded || self.sources.is_over(terminal))
            }),
        }
    }
}
