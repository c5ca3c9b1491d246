//! Lanes of links, and networks that are computed character by character.

use super::Fabric;

impl Fabric {
    /// Number of lanes of all links.
    pub fn all_lanes(&self) -> usize {
        self.links() * self.lanes as usize
    }

    /// The link of a lane.
    pub fn link_of(&self, lane: u32) -> u32 {
        lane / self.lanes
    }

    /// Lanes of one link.
    pub fn lanes_of(&self, link: u32) -> std::ops::Range<u32> {
        link * self.lanes..(link + 1) * self.lanes
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.group_switch.len()
    }

    /// Lanes of one group, in order of preference.
    pub fn group(&self, group: u32) -> &[u32] {
        let group = group as usize;
        &self.group_links[self.group_start[group] as usize..self.group_start[group + 1] as usize]
    }

    /// True when what a link does next can only be told character by character: when its lanes share it, when packets
    /// wait for credit for all of them, when faults and time-outs cut packets, when routing tables are replaced, when
    /// codes go before characters, when heads have two priorities, when packets have routes by their senders, when packets go to several links at once, and when
    /// addresses become shorter on the way.
    pub fn has_lanes(&self) -> bool {
        let cuts = self.has_faults() || self.has_timeouts() || self.has_tables();
        let ranks = !self.port_priority.is_empty() || !self.port_class.is_empty();
        let shared = self.lanes > 1 || self.whole_packet_credit != 0;
        let shortens = !self.link_deletes_address.is_empty();
        shared || cuts || self.has_codes() || ranks || self.has_distributions() || shortens
    }
}
