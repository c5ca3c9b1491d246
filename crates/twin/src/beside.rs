//! Sources beside programs: the program of a terminal and its source take turns on the link of each port.

use fabriloom_engine::kernel::Time;
use fabriloom_engine::terminal::Packet;
use fabriloom_engine::terminal::program::mark;

use crate::twin::Twin;

impl Twin<'_> {
    /// Gives the ports that request packets to sources whose turn it is, and all others to the programs.
    pub(crate) fn divide_requests(&mut self) {
        let mut asking = std::mem::take(&mut self.asking);
        asking.sort_unstable();
        for &port in &asking {
            self.ports.iter_mut().for_each(|ports| ports.ask(port, self.now));
        }
        for &port in &asking {
            if self.yields[port as usize] {
                self.source_sends(port, true);
            }
        }
        for port in asking {
            if self.ports.as_ref().is_none_or(|ports| ports.is_open(port)) {
                self.programs.iter_mut().for_each(|programs| programs.link_free(port));
            }
        }
    }

    /// Sends a packet of the source of a port's terminal, by no other port if `only` this one is meant; returns by which.
    fn source_sends(&mut self, port: u32, only: bool) -> Option<u32> {
        let ports = self.ports.as_mut()?;
        let terminal = ports.terminal(port);
        ports.keep(terminal, |other| only && other != port);
        let next = ports.next(self.fabric, &mut self.sources, terminal, self.now);
        let (port, packet) = next.expect("every terminal has a plane in common with its targets")?;
        ports.took(port, false);
        self.yields[port as usize] = false;
        self.assert_port(terminal, port, &packet);
        let mark = mark::of(packet.mark, mark::SOURCE);
        self.put_on_link(port, Packet { mark, ..packet });
        Some(port)
    }

    /// Lets sources send where the programs leave links free. They end when every program has ended.
    pub(crate) fn sources_use_the_rest(&mut self) {
        if !self.fabric.has_sources_beside() {
            return;
        }
        for terminal in 0..self.fabric.terminals {
            while let Some(port) = self.source_sends(self.fabric.ports_of(terminal).start, false) {
                self.programs.iter_mut().for_each(|programs| programs.link_taken(port, false));
            }
        }
        let ended = self.programs.as_ref().is_some_and(|one| one.rests() && !one.is_stuck());
        if ended && !std::mem::replace(&mut self.sources_ended, true) {
            self.sources.stop_after(self.fabric, self.now);
        }
    }

    /// Returns when a source may have a packet for a port that is free now.
    pub(crate) fn next_beside(&self) -> Option<Time> {
        let ports = self.ports.as_ref()?;
        let due = |terminal| ports.due(self.fabric, &self.sources, terminal, self.now);
        (0..self.fabric.terminals).filter_map(due).map(|(_, time)| time).min()
    }
}
