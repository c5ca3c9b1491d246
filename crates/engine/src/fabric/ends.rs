//! The ends of paths: ports of terminals, and distributions, which stand for several ports.

use super::{Fabric, arrival};
use crate::kernel::Time;

/// Returns the traffic class, below `classes`, of a packet, from the bits of its sender and of its target.
#[inline]
pub fn class_of(from: u32, to: u32, classes: usize) -> usize {
    ((from & to).trailing_zeros() as usize).min(classes - 1)
}

impl Fabric {
    /// Returns the number of links.
    pub fn links(&self) -> usize {
        self.link_source.len()
    }

    /// Returns the characters before the end of a packet with this payload.
    #[inline]
    pub fn payload_chars(&self, bytes: u32) -> u32 {
        let bytes = bytes.saturating_add(self.overhead_bytes).max(self.least_bytes);
        let characters = if self.character_bytes < 2 { bytes } else { bytes.div_ceil(self.character_bytes) };
        characters.saturating_sub(u32::from(self.end_carries_data))
    }

    /// Returns by how many ticks the end of a packet with this payload is shorter on a link than a whole character.
    #[inline]
    pub fn padding_ticks(&self, link: u32, bytes: u32) -> Time {
        let Some(&ticks) = self.link_padding_ticks.get(link as usize) else { return 0 };
        let (filled, whole) = (bytes.saturating_add(self.overhead_bytes), self.character_bytes.max(1));
        let filled = filled.max(self.least_bytes);
        Time::from(ticks) * Time::from(filled.next_multiple_of(whole) - filled)
    }

    /// Whether programs drive the terminals.
    pub fn has_programs(&self) -> bool {
        !self.program_start.is_empty()
    }

    /// Whether terminals that run programs are sources as well.
    pub fn has_sources_beside(&self) -> bool {
        self.has_programs() && self.source_arrival.iter().any(|&kind| kind != arrival::SILENT)
    }

    /// Whether hosts that run programs have buses that take time.
    pub fn has_host_bus(&self) -> bool {
        let takes = self.message_bus_packet_ticks > 0 || self.message_bus_byte_ticks > 0.0;
        self.has_programs() && (takes || self.message_programmed != 0)
    }

    /// Whether the vertex is a terminal or a port of one.
    pub fn is_terminal(&self, vertex: u32) -> bool {
        vertex >= self.switches
    }

    /// Returns the number of ports of all terminals.
    pub fn ports(&self) -> u32 {
        self.terminal_out_link.len() as u32
    }

    /// Whether terminals have several ports.
    pub fn has_ports(&self) -> bool {
        !self.terminal_ports.is_empty()
    }

    /// Whether the switches may send packets of one pair of ports by several ways.
    pub fn has_several_ways(&self) -> bool {
        let is_choice = |group: u32| self.group(group).len() > 1 && !self.takes_all(group);
        self.has_tables() || !self.via_switch.is_empty() || (0..self.groups() as u32).any(is_choice)
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

    /// Returns the number of traffic classes.
    pub fn traffic_classes(&self) -> usize {
        self.class_headers.len().max(1)
    }

    /// Returns the first routing class of the packets from one port to another.
    #[inline]
    pub fn own_classes(&self, from: u32, to: u32) -> u32 {
        if self.class_headers.is_empty() {
            return 0;
        }
        let (from, to) = (self.port_class_from[from as usize], self.port_class_to[to as usize]);
        // Without such a table there is no place in it.
        let given = self.class_between.get(from as usize + to as usize).map(|&class| usize::from(class));
        self.class_headers[given.unwrap_or_else(|| class_of(from, to, self.traffic_classes()))]
    }

    /// Returns the same of packets that are put on their links in a tick: of the table that is in use then.
    #[inline]
    pub fn own_classes_since(&self, from: u32, to: u32, dispatch: Time) -> u32 {
        if self.table_between.is_empty() {
            return self.own_classes(from, to);
        }
        let table = self.table_at(dispatch) as usize;
        let place = (self.port_class_from[from as usize] + self.port_class_to[to as usize]) as usize;
        let rows = self.class_between.len();
        let class = if table == 0 {
            self.class_between[place]
        } else {
            self.table_between[(table - 1) * rows + place]
        };
        self.class_headers[class as usize]
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
