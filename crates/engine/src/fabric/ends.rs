//! The ends of paths: ports of terminals, and distributions, which stand for several ports.

use super::Fabric;

impl Fabric {
    /// Returns the number of ports of all terminals.
    pub fn ports(&self) -> u32 {
        self.terminal_out_link.len() as u32
    }

    /// Whether terminals have several ports.
    pub fn has_ports(&self) -> bool {
        !self.terminal_ports.is_empty()
    }

    /// Returns the ports of a terminal.
    pub fn ports_of(&self, terminal: u32) -> std::ops::Range<u32> {
        match self.terminal_ports.get(terminal as usize..terminal as usize + 2) {
            Some(ends) => ends[0]..ends[1],
            None => terminal..terminal + 1,
        }
    }

    /// Whether packets for a port have priority.
    pub fn goes_first(&self, port: u32) -> bool {
        self.port_priority.get(port as usize).is_some_and(|&priority| priority > 0)
    }

    /// Returns the first routing class of the packets of a port.
    #[inline]
    pub fn own_classes(&self, port: u32) -> u32 {
        self.port_class.get(port as usize).copied().unwrap_or(0)
    }

    /// Whether there are packets for several ports at once.
    pub fn has_distributions(&self) -> bool {
        !self.distribution_start.is_empty()
    }

    /// Returns the number of distributions.
    pub fn distributions(&self) -> u32 {
        self.distribution_start.len().saturating_sub(1) as u32
    }

    /// Whether a packet goes to all links of a group.
    pub fn takes_all(&self, group: u32) -> bool {
        self.group_all.get(group as usize).is_some_and(|&all| all > 0)
    }

    /// Returns the ports of a distribution; none for a port.
    pub fn distributed_to(&self, target: u32) -> &[u32] {
        let ends = target.checked_sub(self.ports()).map(|row| row as usize);
        let ends = ends.and_then(|row| self.distribution_start.get(row..row + 2));
        ends.map_or(&[], |ends| &self.distribution_port[ends[0] as usize..ends[1] as usize])
    }

    /// Returns how many copies of a packet are delivered.
    #[inline]
    pub fn copies(&self, target: u32) -> u64 {
        if self.has_distributions() { self.distributed_to(target).len().max(1) as u64 } else { 1 }
    }
}
