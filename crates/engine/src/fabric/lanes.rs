//! Lanes of links, and networks that are simulated character by character.

use super::{Fabric, NONE, arbiter, choice, sharing};
use crate::kernel::Time;
use crate::kernel::random::{Family, Stream, drawn_for, streams};

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

    /// Returns the lanes of a link on which a terminal may start a packet.
    pub fn sending_lanes(&self, link: u32) -> std::ops::Range<u32> {
        let lanes = self.link_lanes.get(link as usize).copied().unwrap_or(self.lanes);
        link * self.lanes..link * self.lanes + lanes
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

    /// Returns the groups of which each packet for a group takes one; none if it takes any lane.
    pub fn parts(&self, group: u32) -> &[u32] {
        let ends = self.group_part_start.get(group as usize..group as usize + 2);
        ends.map_or(&[], |ends| &self.group_parts[ends[0] as usize..ends[1] as usize])
    }

    /// Returns the random streams of all groups; none if no switch draws heads or lanes.
    pub fn group_streams(&self) -> Vec<Stream> {
        let draws =
            self.switch_arbiter.contains(&arbiter::RANDOM) || self.switch_choice.contains(&choice::RANDOM);
        streams(self.seed, Family::Group, if draws { self.groups() } else { 0 })
    }

    /// Whether packets draw parts of groups.
    #[inline]
    pub fn draws(&self) -> bool {
        !self.group_part_start.is_empty()
    }

    /// Returns the entry of a class at a switch for a packet, by its source and the grain of its dispatch: of its group, or
    /// of the part that it draws, or that is its source's.
    #[cold]
    pub fn drawn(&self, entry: u32, switch: u32, class: u32, (source, dispatch): (u32, Time)) -> u32 {
        let parts = self.parts(entry >> 1);
        if parts.is_empty() {
            return entry;
        }
        let place = if let Some(sources) = self.group_part_sources.get((entry >> 1) as usize) {
            source / sources % parts.len() as u32
        } else {
            let at = (u64::from(switch) << 32) + u64::from(class);
            // Ticks may be finer than they need to be; a source sends at most one packet in a grain.
            let grain = dispatch as u64 / self.grain_ticks.max(1);
            drawn_for([self.seed, at, u64::from(source), grain], parts.len() as u32)
        };
        (parts[place as usize] << 1) + (entry & 1)
    }

    /// Whether each packet can be computed as one, because nothing delays a character but the first: the conditions are
    /// given and explained in [`crate::cut_through`].
    pub fn is_by_packet(&self) -> bool {
        // Links that fail lose credit, by which packets choose.
        let ends = self.has_timeouts() || self.via_by_queue > 0 && self.has_faults();
        let others = self.has_codes() || self.has_distributions() || !self.link_deletes_address.is_empty();
        self.sends_without_gaps() && !ends && !others && self.keeps_pace()
    }

    /// Whether a packet has credit for all of it and its link until its end; then it waits until its characters can follow
    /// each other.
    pub fn sends_without_gaps(&self) -> bool {
        let keeps_wire = match self.lane_sharing {
            sharing::PACKET => true,
            // A slot that ends interrupts a packet of which characters are chosen one by one.
            sharing::CHARACTER => self.lanes == 1 && self.lane_slots.is_empty(),
            _ => false,
        };
        self.whole_packet_credit == 1 && keeps_wire
    }

    /// Returns for how long the first of some characters on a link waits, from the arrival of the first of those before,
    /// on another, until all can follow each other.
    pub fn follow_ticks(&self, (before, from): (u32, u32), (characters, link): (u32, u32)) -> Time {
        let ticks = |link: u32| Time::from(self.link_character_ticks[link as usize]);
        Time::from(before - 1) * ticks(from) - Time::from(characters - 1) * ticks(link)
    }

    /// Whether switches pause senders, instead of giving them credit.
    pub fn has_pause(&self) -> bool {
        !self.link_pause_above.is_empty()
    }

    /// Whether the ports of a switch share its memory.
    pub fn has_pool(&self) -> bool {
        !self.switch_pool_chars.is_empty()
    }

    /// Whether packets can be lost.
    pub fn may_lose(&self) -> bool {
        self.has_faults() || self.has_timeouts() || self.has_tables() || self.drops == 1
    }

    /// Returns how many places of the longest packet behind a lane take a head that came on another one, where links are of
    /// rings: one more than its own if it comes into a ring from elsewhere.
    pub fn places_for(&self, lane: u32, from: u32) -> u64 {
        let ring = |lane: u32| self.link_ring[self.link_of(lane) as usize];
        1 + u64::from(ring(lane) != NONE && ring(lane) != ring(from))
    }

    /// Returns the places of the longest packet in each input buffer at the end of a link, without what a quantum may hold
    /// back.
    pub fn places(&self, link: u32, longest: u64) -> u64 {
        let (buffer, quantum) = (self.link_input_buffer[link as usize], self.link_quantum[link as usize]);
        (u64::from(buffer) + 1).saturating_sub(u64::from(quantum)) / longest
    }

    /// Returns the number of queues that are made for input buffers before a run: one for each lane, or one for each lane
    /// and output, and for packets without a route if tables are replaced. Where packets are computed as one, they are made when they are first used.
    pub fn queues(&self) -> u64 {
        let lanes = u64::from(self.lanes);
        if self.output_queues == 0 {
            return self.links() as u64 * lanes;
        }
        if self.is_by_packet() {
            return 0;
        }
        let mut groups = vec![0; self.switches as usize];
        self.group_switch.iter().for_each(|&switch| groups[switch as usize] += 1);
        let more = u64::from(self.has_tables());
        let of_link = |&target: &u32| groups.get(target as usize).map_or(0, |groups| groups + more);
        self.link_target.iter().map(of_link).sum::<u64>() * lanes
    }

    /// Whether a header with characters is deleted.
    pub fn deletes_headers(&self) -> bool {
        let deletes = self.link_deletes_header.contains(&1) || self.strips();
        let via = self.via_header_chars > 0 && !self.via_switch.is_empty();
        via || self.header_chars > 0 && deletes
    }

    /// Whether characters follow each other on every link as fast as the link sends, once the first of a packet has
    /// started with credit for all of them.
    fn keeps_pace(&self) -> bool {
        let alone = self.lanes == 1 && self.output_queues == 0;
        (0..self.links()).all(|link| {
            let character = self.link_character_ticks[link];
            let same_end = character == self.link_end_ticks[link];
            let switch = self.link_source[link] as usize;
            let Some(&crossbar) = self.switch_crossbar_ticks.get(switch) else { return same_end };
            let crosses = crossbar == 0 || alone && crossbar <= character;
            let forward = u64::from(self.switch_forward_ticks[switch]);
            let covered = u64::from(self.link_output_buffer[link] - 1) * u64::from(character);
            same_end && crosses && forward <= covered
        })
    }

    /// Whether a link has to be simulated character by character: if its lanes share it, its only lane is closed
    /// outside its time-slots, packets wait for credit for all of them, or packets go to several links at once.
    pub fn is_by_character(&self) -> bool {
        self.lanes > 1
            || !self.lane_slots.is_empty()
            || self.whole_packet_credit != 0
            || self.has_distributions()
            || self.lane_sharing == sharing::FRAME
    }

    /// Whether more than a turn or a fixed order decides which lane sends: frames, priorities, reservations or tables.
    pub fn has_lane_arbiter(&self) -> bool {
        let ordered = [
            self.lane_priority.len(),
            self.lane_share_millionths.len(),
            self.lane_slots.len(),
            self.lane_table_lane.len(),
        ];
        self.lane_sharing == sharing::FRAME || ordered.iter().any(|&rows| rows > 0)
    }
}
