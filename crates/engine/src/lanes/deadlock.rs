//! The packets that can never move again, and the cycle in which they wait.
//!
//! A queue moves if its head can request, if a lane that it waits for will be free, or if its granted lane sends. A
//! lane sends if its receiver moves and the characters to send arrive.

use super::state::{Network, UNKNOWN};
use crate::fabric::NONE;
use crate::links::deadlock::{Marks, Waiting};

/// Returns links at whose ends packets wait for each other in a cycle, in order; empty if nothing is deadlocked.
pub fn deadlock(network: &Network) -> Vec<u32> {
    let queues: Vec<u32> = (0..network.queues.len() as u32).collect();
    let sends = |lane: u32, marks: &Marks| network.sends(lane, marks);
    let moves = |queue: u32, marks: &Marks| network.moves(queue, marks);
    let marks = Marks::new(&queues, network.lanes.len(), sends, moves);
    let cycle = marks.cycle(&queues, |at| match at {
        Waiting::Head(queue) => network.queue_waits_for(queue, &marks),
        Waiting::Lane(lane) => network.lane_waits_for(lane, &marks),
    });
    cycle.into_iter().map(|queue| network.queues[queue as usize].link).collect()
}

impl Network {
    fn moves(&self, queue: u32, marks: &Marks) -> bool {
        let at = &self.queues[queue as usize];
        let Some(packet) = at.packets.front() else { return true };
        if at.awaits != NONE {
            let mut lanes = self.fabric.group(at.awaits).iter();
            let is_granted =
                |&lane: &u32| !self.obstacles(queue, lane).any(|other| !marks.heads[other as usize]);
            return if self.fabric.takes_all(at.awaits) {
                lanes.all(is_granted)
            } else {
                lanes.any(|lane| !self.is_down_for_good(*lane) && is_granted(lane))
            };
        }
        if at.spills {
            return !at.arrivals.is_empty() || marks.lanes[at.lane as usize];
        }
        if at.output == NONE {
            return packet.readable < UNKNOWN || marks.lanes[at.lane as usize];
        }
        if self.fabric.timeout_of(self.switch_at(at.lane)) > 0 {
            return true;
        }
        let is_there = !at.arrivals.is_empty() || marks.lanes[at.lane as usize];
        let enters = |lane: u32| self.has_place(lane) || marks.lanes[lane as usize];
        is_there && (at.delete > 0 || enters(at.output) && at.copies.iter().all(|&lane| enters(lane)))
    }

    /// Returns the queues whose heads go before that of a queue can take a lane: the one that holds it, and one for
    /// which it is reserved.
    fn obstacles(&self, queue: u32, lane: u32) -> impl Iterator<Item = u32> {
        let at = &self.queues[queue as usize];
        let first = self.first_to_all(self.switch_at(at.lane)).map(|(_, first)| first);
        let kept = if self.fabric.takes_all(at.awaits) {
            first.filter(|&first| first != queue)
        } else {
            self.kept_for(lane, (at.since, queue))
        };
        self.supplier(lane).into_iter().chain(kept)
    }

    /// Returns the queue whose packet holds a lane and has not crossed yet. After that the lane is held until its release,
    /// which waits for nothing; the next packet of the queue may be one that waits for this lane.
    fn supplier(&self, lane: u32) -> Option<u32> {
        let at = self.queues.get(self.lanes[lane as usize].holder as usize)?;
        let crosses = at.output == lane || at.copies.contains(&lane);
        crosses.then_some(self.lanes[lane as usize].holder)
    }

    /// Whether the output buffer of a lane has a free place, or gets one without anything being sent.
    fn has_place(&self, lane: u32) -> bool {
        let buffer = self.fabric.link_output_buffer[self.fabric.link_of(lane) as usize];
        self.lanes[lane as usize].ready.len() < buffer
    }

    /// Whether a lane will send its next character.
    fn sends(&self, lane: u32, marks: &Marks) -> bool {
        self.held_by(lane).is_none_or(|other| marks.lanes[other as usize])
            && self.has_supply(lane, marks)
            && self.has_credit(lane, marks)
    }

    /// Returns the lane that keeps the wire from another one until its packet has been sent.
    fn held_by(&self, lane: u32) -> Option<u32> {
        let last = self.links[self.fabric.link_of(lane) as usize].last;
        let holds = self.by_packet && last != NONE && last != lane && self.lanes[last as usize].is_amid();
        holds.then_some(last)
    }

    fn has_supply(&self, lane: u32, marks: &Marks) -> bool {
        let at = &self.lanes[lane as usize];
        let from_terminal = self.links[self.fabric.link_of(lane) as usize].from_terminal;
        let is_there = from_terminal || !at.ready.is_empty();
        is_there || self.supplier(lane).is_none_or(|queue| marks.heads[queue as usize])
    }

    fn has_credit(&self, lane: u32, marks: &Marks) -> bool {
        let link = self.fabric.link_of(lane) as usize;
        let at = &self.lanes[lane as usize];
        let credit = at.credit.total(self.fabric.link_quantum[link]);
        let needed =
            at.outgoing.front().map_or(1, |out| if out.sent == 0 { self.needed_for(out.packet) } else { 1 });
        let there = self.links[link].to_terminal || credit >= needed || self.will_go_on(lane);
        there || self.filled(lane).any(|queue| marks.heads[queue as usize])
    }

    /// Returns the queues of a lane that contain packets.
    fn filled(&self, lane: u32) -> impl Iterator<Item = u32> {
        let first = self.lanes[lane as usize].first_queue as usize;
        let rest = (first as u32..).zip(&self.queues[first..]);
        let own = rest.take_while(move |(_, queue)| queue.lane == lane);
        own.filter(|(_, queue)| !queue.packets.is_empty()).map(|(number, _)| number)
    }

    fn queue_waits_for(&self, queue: u32, marks: &Marks) -> Option<Waiting> {
        let at = &self.queues[queue as usize];
        if at.awaits != NONE {
            let lanes = self.fabric.group(at.awaits).iter().filter(|&&lane| !self.is_down_for_good(lane));
            let mut obstacles = lanes.flat_map(|&lane| self.obstacles(queue, lane));
            return obstacles.find(|&other| !marks.heads[other as usize]).map(Waiting::Head);
        }
        if at.spills {
            return Some(Waiting::Lane(at.lane));
        }
        let comes = !at.arrivals.is_empty();
        let outputs = [at.output].into_iter().chain(at.copies.iter().copied());
        let output = outputs.filter(|&lane| lane != NONE).find(|&lane| !marks.lanes[lane as usize]);
        Some(Waiting::Lane(output.filter(|_| comes).unwrap_or(at.lane)))
    }

    fn lane_waits_for(&self, lane: u32, marks: &Marks) -> Option<Waiting> {
        if let Some(other) = self.held_by(lane).filter(|&other| !marks.lanes[other as usize]) {
            return Some(Waiting::Lane(other));
        }
        if !self.has_credit(lane, marks) {
            return self.filled(lane).next().map(Waiting::Head);
        }
        self.supplier(lane).map(Waiting::Head)
    }
}
