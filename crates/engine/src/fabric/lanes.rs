//! Lanes of links, and networks that are simulated character by character.

use super::Fabric;

impl Fabric {
    /// Returns the number of lanes of all links.
    pub fn all_lanes(&self) -> usize {
        self.links() * self.lanes as usize
    }

    /// Returns the link of a lane.
    pub fn link_of(&self, lane: u32) -> u32 {
        lane / self.lanes
    }

    /// Returns the lanes of a link.
    pub fn lanes_of(&self, link: u32) -> std::ops::Range<u32> {
        link * self.lanes..(link + 1) * self.lanes
    }

    /// Returns the number of groups.
    pub fn groups(&self) -> usize {
        self.group_switch.len()
    }

    /// Returns the lanes of a group, in order of preference.
    pub fn group(&self, group: u32) -> &[u32] {
        let group = group as usize;
        &self.group_links[self.group_start[group] as usize..self.group_start[group + 1] as usize]
    }

    /// Whether a link has to be simulated character by character: if its lanes share it, packets wait for credit for
    /// all of them, faults or time-outs cut packets, routing tables are replaced, codes overtake characters, heads have
    /// priorities, routes depend on the traffic class, packets go to several links at once, or addresses are deleted on
    /// the path.
    pub fn is_by_character(&self) -> bool {
        let cuts = self.has_faults() || self.has_timeouts() || self.has_tables();
        let ranks = !self.port_priority.is_empty() || self.class_headers.iter().any(|&first| first > 0);
        let shared = self.lanes > 1 || self.whole_packet_credit != 0;
        let shortens = !self.link_deletes_address.is_empty();
        shared || cuts || self.has_codes() || ranks || self.has_distributions() || shortens
    }
}
