//! A packet that chooses at its dispatch whether it goes to the random switch that it has drawn.

use std::collections::VecDeque;

use fabriloom_engine::fabric::NONE;
use fabriloom_engine::terminal::Packet;

use crate::parts::{Character, Front, Kind, Place};
use crate::twin::Twin;

impl Twin<'_> {
    /// Returns the switch to which a packet goes first, as drawn, or none.
    pub(crate) fn chosen_via(&self, port: u32, packet: &Packet) -> u32 {
        if packet.via == NONE || self.fabric.via_by_queue == 0 && self.table == 0 {
            return packet.via;
        }
        let own = self.fabric.class_headers.get(self.class_of_new(port, packet.target));
        let own = own.copied().unwrap_or(0);
        let to_target = self.fabric.terminal_class[packet.target as usize] + own;
        let to_middle = self.fabric.via_class[packet.via as usize] + own;
        let middle = self.fabric.via_switch[packet.via as usize];
        let home = self.fabric.link_target[self.fabric.terminal_out_link[port as usize] as usize];
        let (minimal, other) = (self.group_at(home, to_target), self.group_at(home, to_middle));
        let Some(other) = other else { return NONE };
        let Some(minimal) = minimal.filter(|_| self.fabric.via_by_queue > 0) else { return packet.via };
        let near = self.length_of(home, to_target);
        let far = self.length_of(home, to_middle) + self.length_of(middle, to_target);
        let (short, long) = (self.queue_for(minimal, other), self.queue_for(other, minimal));
        let is_minimal = short * near < long * far + u64::from(self.fabric.via_by_queue);
        if is_minimal { NONE } else { packet.via }
    }

    fn group_at(&self, switch: u32, class: u32) -> Option<u32> {
        let entry = self.fabric.entry(self.table, switch, class);
        (entry != NONE).then_some(entry >> 1)
    }

    /// Counts the links between switches on a way, over the first lane of each group.
    fn length_of(&self, switch: u32, class: u32) -> u64 {
        let mut way = Vec::new();
        let mut at = switch;
        while let Some(group) = self.group_at(at, class) {
            let link = self.fabric.link_of(self.fabric.group(group)[0]);
            let next = self.fabric.link_target[link as usize];
            if self.fabric.is_terminal(next) {
                break;
            }
            let entry = self.fabric.entry(self.table, at, class);
            way.push(link);
            let deleted = entry % 2 == 1 || self.fabric.link_deletes_header[link as usize] != 0;
            if deleted || way.len() == self.fabric.switches as usize {
                break;
            }
            at = next;
        }
        way.len() as u64
    }

    /// Counts the characters before a group: those of heads that wait, and those at its links, of which the link with
    /// the fewest counts.
    fn queue_for(&self, group: u32, other: u32) -> u64 {
        let mut fewest = None;
        for &lane in self.fabric.group(group) {
            let link = self.fabric.link_of(lane);
            let of_link = |lane: &u32| self.fabric.link_of(*lane) == link;
            let mut counted: Vec<u32> = self.fabric.lanes_of(link).collect();
            if self.fabric.group(other).iter().any(&of_link) {
                counted = self.fabric.group(group).iter().copied().filter(|lane| of_link(lane)).collect();
            }
            let characters: u64 = counted.into_iter().map(|lane| self.occupied(lane)).sum();
            fewest = Some(fewest.map_or(characters, |fewest: u64| fewest.min(characters)));
        }
        let parts: u64 = self.fabric.parts(group).iter().map(|&part| self.waiting(part)).sum();
        self.waiting(group) + parts + fewest.expect("a group has lanes")
    }

    /// Characters of packets whose heads wait for a group.
    fn waiting(&self, group: u32) -> u64 {
        let heads = self.groups[group as usize].waiting.iter();
        heads.map(|head| self.left(head.place)).sum()
    }

    /// Characters of the packet at the front of a queue that are in the buffer or still come: of one that was cut before,
    /// up to where it ends.
    fn left(&self, place: Place) -> u64 {
        let (packet, here) = &self.lanes[place.lane as usize].queues[&place.queue].packets[0];
        self.with_those_before(*packet, place.lane, here)
    }

    /// The same of some characters that have come on a lane, and those behind them.
    fn with_those_before(&self, packet: usize, lane: u32, here: &VecDeque<Character>) -> u64 {
        let link = &self.links[self.fabric.link_of(lane) as usize];
        let state = &self.lanes[lane as usize];
        let before = state.output.iter().map(|(_, character)| character).chain(&state.wire);
        let of_packet = |character: &&Character| character.packet == packet;
        let all = || here.iter().chain(before.clone()).chain(&link.dispatched).filter(of_packet);
        let count = all().count() as u64;
        if all().any(|character| character.kind == Kind::End) {
            return count;
        }
        match state.holder.map(|place| (place, self.front(place))) {
            Some((place, Front::Crossing { delete, .. })) if self.first(place) == packet => {
                count + self.left(place) - u64::from(delete)
            }
            // Its end is still to come from where it was cut.
            _ => count + 1,
        }
    }

    /// Characters that are to be sent on a lane: those that still cross and those in its output buffer; and the credit
    /// that was spent and has not come back.
    pub(crate) fn occupied(&self, lane: u32) -> u64 {
        let link = self.fabric.link_of(lane);
        if self.enters_terminal(link) {
            return 0;
        }
        let state = &self.lanes[lane as usize];
        let mut crossing = 0;
        if let Some(place) = state.holder
            && let Front::Crossing { output, delete } = self.front(place)
            && output == lane
        {
            crossing = self.left(place) - u64::from(delete);
        }
        (crossing + state.output.len() as u64 + self.first_credit(link)).saturating_sub(state.credit)
    }

    /// Credit of each lane of a link before the first packet.
    pub(crate) fn first_credit(&self, link: u32) -> u64 {
        let quantum = self.fabric.link_quantum[link as usize];
        u64::from(self.fabric.link_input_buffer[link as usize] / quantum * quantum)
    }
}
