//! The packets that can never move again, and the cycle in which they wait.
//!
//! A packet that has started always arrives, because it has credit for all of it. So a packet waits either at the front
//! of its queue, for a lane that others hold or for places that others leave, or before a wire, for credit. Marking
//! starts with what can move now; what remains unmarked never moves.

use super::state::{Network, UNKNOWN};
use crate::fabric::NONE;
use crate::links::deadlock::{Marks, Waiting};

/// Returns links at whose ends packets wait for each other in a cycle, in order; empty if nothing is deadlocked.
pub fn deadlock(network: &Network) -> Vec<u32> {
    let lanes = network.lanes.len();
    let fronts: Vec<u32> = (0..lanes as u32).flat_map(|lane| network.fronts(lane)).collect();
    let sends = |lane: u32, marks: &Marks| network.sends(lane, marks);
    let moves = |stay: u32, marks: &Marks| network.moves(stay, marks);
    let marks = Marks::new(&fronts, lanes, sends, moves);
    let cycle = marks.cycle(&fronts, |at| match at {
        Waiting::Head(stay) => network.front_waits_for(stay, &marks),
        Waiting::Lane(lane) => {
            network.fronts(lane).find(|&stay| !marks.heads[stay as usize]).map(Waiting::Head)
        }
    });
    cycle.into_iter().map(|stay| network.fabric.link_of(network.stays[stay].lane)).collect()
}

impl Network {
    /// Returns the packets at the fronts of the queues of a lane whose ends are not known to leave.
    fn fronts(&self, lane: u32) -> impl Iterator<Item = u32> {
        self.lanes[lane as usize].queues.iter().map(|queue| queue.first).filter(|&first| first != NONE)
    }

    /// Whether the packet at the front of a queue will move on.
    fn moves(&self, stay: u32, marks: &Marks) -> bool {
        let at = &self.stays[stay];
        if at.is_granted() {
            return marks.lanes[at.out.lane as usize];
        }
        if at.out.grant < UNKNOWN || !self.groups.waiting(at.entry >> 1).any(|other| other == stay) {
            // Its request is scheduled.
            return true;
        }
        let group = self.fabric.group(at.entry >> 1).iter();
        let mut lanes = group.filter(|&&lane| !self.outages.is_down_for_good(self.fabric.link_of(lane)));
        lanes.any(|&lane| {
            let is_held = self.holder(lane).is_some_and(|other| !marks.heads[other as usize]);
            !is_held && self.gets_room(lane, at.lane, marks)
        })
    }

    /// Whether a lane will have the credit with which it may be granted to a head on lane `from`.
    fn gets_room(&self, lane: u32, from: u32, marks: &Marks) -> bool {
        let at = &self.lanes[lane as usize];
        let kind = self.kind(at.link);
        // A packet before the wire has its credit, and will be sent.
        self.room == 0
            || kind.to_terminal
            || at.first != NONE
            || self.fronts(lane).any(|stay| marks.heads[stay as usize])
            || self.has_rings() && self.gets_places(lane, from)
            || !self.has_rings() && at.departed + self.leaves(lane) >= at.needs_for_grant(kind, self.room)
    }

    /// Returns the packet that holds a lane, if it is not known when it leaves.
    fn holder(&self, lane: u32) -> Option<u32> {
        let coming = self.lanes[lane as usize].coming;
        (coming != NONE).then(|| self.stays[coming].from)
    }

    /// Whether a lane will send its next packet, or has none.
    fn sends(&self, lane: u32, marks: &Marks) -> bool {
        let at = &self.lanes[lane as usize];
        let link = &self.links[at.link as usize];
        let next = if at.first == NONE { link.dispatched } else { at.first };
        if next == NONE {
            return true;
        }
        let kind = self.kind(at.link);
        if kind.to_terminal || self.fronts(lane).any(|stay| marks.heads[stay as usize]) {
            return true;
        }
        if let Some(memory) = &self.memory {
            // What leaves from other lanes gives it more.
            let mut beside = self.beside(memory, lane).iter().flat_map(|&lane| self.fronts(lane));
            return self.leaves_memory(memory, lane) || beside.any(|stay| marks.heads[stay as usize]);
        }
        if !self.stores.is_empty() {
            return self.will_go_on(lane);
        }
        at.departed + self.leaves(lane) >= at.needs(kind, self.stays[next].whole)
    }

    /// Returns how many of the characters that are not counted will leave an input buffer, as far as is known.
    fn leaves(&self, lane: u32) -> i64 {
        self.lanes[lane as usize].crossing.iter().map(|&stay| self.leave_yet(&self.stays[stay])).sum()
    }

    fn front_waits_for(&self, stay: u32, marks: &Marks) -> Option<Waiting> {
        let at = &self.stays[stay];
        if at.is_granted() {
            return Some(Waiting::Lane(at.out.lane));
        }
        let lanes = self.fabric.group(at.entry >> 1);
        let mut holders = lanes.iter().filter_map(|&lane| self.holder(lane));
        let held = holders.find(|&other| !marks.heads[other as usize]).map(Waiting::Head);
        let full = || lanes.iter().copied().find(|&lane| !self.gets_room(lane, at.lane, marks));
        held.or_else(|| full().map(Waiting::Lane))
    }
}
