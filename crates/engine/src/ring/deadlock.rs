//! Which queues can never move again, and the circle of which waits for which.
//!
//! A full receive queue of a port waits for the transmit queue to which its front goes, that of a terminal for its
//! transmit responses; a full transmit queue waits for any of the receive queues that busied what it has sent. What
//! is not full, or not waiting, moves. So what can never move is found by marking what moves, and then what
//! waits for it.

use super::parts::Entry;
use super::state::{REQUEST, RESPONSE, Rings};
use crate::fabric::{NONE, transaction};

/// Stations whose full transmit queues wait for each other in a circle, in order; empty if nothing is deadlocked.
pub fn deadlock(rings: &Rings) -> Vec<u32> {
    let waits: Vec<Option<Vec<u32>>> = (0..4 * rings.stations.len() as u32)
        .map(|queue| {
            let (station, kind) = (queue / 4, (queue % 2) as usize);
            if queue % 4 < 2 {
                rings.transmit_waits(station, kind)
            } else {
                rings.receive_waits(station, kind)
            }
        })
        .collect();
    let mut awaited_by = vec![Vec::new(); waits.len()];
    let mut moving = Vec::new();
    let mut moves = vec![false; waits.len()];
    for (queue, others) in waits.iter().enumerate() {
        match others {
            Some(others) => others.iter().for_each(|&other| awaited_by[other as usize].push(queue)),
            None => {
                moves[queue] = true;
                moving.push(queue);
            }
        }
    }
    while let Some(queue) = moving.pop() {
        for &waiting in &awaited_by[queue] {
            if !std::mem::replace(&mut moves[waiting], true) {
                moving.push(waiting);
            }
        }
    }
    moves.iter().position(|&moves| !moves).map_or_else(Vec::new, |start| cycle(start, &waits))
}

/// Follows the first thing each queue waits for until one comes again; the stations of the transmit queues.
fn cycle(start: usize, waits: &[Option<Vec<u32>>]) -> Vec<u32> {
    let mut seen = vec![usize::MAX; waits.len()];
    let mut path = Vec::new();
    let mut queue = start;
    while seen[queue] == usize::MAX {
        seen[queue] = path.len();
        path.push(queue as u32);
        let Some(&next) = waits[queue].as_ref().and_then(|others| others.first()) else { return Vec::new() };
        queue = next as usize;
    }
    path.split_off(seen[queue]).into_iter().filter(|queue| queue % 4 < 2).map(|queue| queue / 4).collect()
}

fn transmit(station: u32, kind: usize) -> u32 {
    4 * station + kind as u32
}

fn receive(station: u32, kind: usize) -> u32 {
    4 * station + 2 + kind as u32
}

impl Rings {
    /// Queues of which one must move before a place of this transmit queue is free; nothing if it needs none.
    fn transmit_waits(&self, station: u32, kind: usize) -> Option<Vec<u32>> {
        let at = &self.stations[station as usize];
        if at.out_free[kind] > 0
            || usize::from(at.leaving) == kind
            || self.is_receiving(station)
            || !at.echoes_due.is_empty()
        {
            return None;
        }
        let mut entry = at.fresh[kind].head;
        while entry != NONE {
            let blocked = at.open_count[kind] >= at.window
                || (self.fabric.ring_in_order != 0 && self.has_open_before(entry));
            if !blocked {
                return None;
            }
            entry = self.entries[entry].next;
        }
        let mut waits = Vec::new();
        let mut entry = at.open;
        while entry != NONE {
            let Entry { response, known_busied, by, open_next, .. } = self.entries[entry];
            if usize::from(response) == kind {
                if !known_busied {
                    return None;
                }
                waits.push(receive(by, kind));
            }
            entry = open_next;
        }
        // Places that are held for responses in service.
        (!waits.is_empty() && (at.switch != NONE || at.at_work == NONE)).then_some(waits)
    }

    /// Whether a transfer to a port is under way.
    fn is_receiving(&self, station: u32) -> bool {
        let at = &self.stations[station as usize];
        let switch = self.switches.get(at.switch as usize);
        switch.is_some_and(|of| of.receiving >> (at.port - of.first) & 1 != 0)
    }

    /// The same for a receive queue.
    fn receive_waits(&self, station: u32, kind: usize) -> Option<Vec<u32>> {
        let at = &self.stations[station as usize];
        let served = at.at_work != NONE || self.is_at_bus(station);
        if at.in_free[kind] > 0 || served || !at.coming.is_empty() || at.held[kind].is_empty() {
            return None;
        }
        let front = at.held[kind].head;
        if at.switch != NONE {
            if self.helds[front].ready > self.now {
                return None;
            }
            let to = self.ports[self.helds[front].target as usize].station;
            return Some(vec![transmit(to, kind)]);
        }
        let mut held = front;
        while held != NONE && kind == REQUEST {
            if self.deals[self.helds[held].deal].transaction == transaction::MOVE {
                return None;
            }
            held = self.helds[held].next;
        }
        (kind == REQUEST).then(|| vec![transmit(station, RESPONSE)])
    }
}
