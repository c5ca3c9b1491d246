//! The queues that can never move again, and the cycle in which they wait for each other.
//!
//! A full receive queue of a port waits for the transmit queue of its front packet; that of a terminal waits for its
//! transmit responses. A full transmit queue waits for any of the receive queues that busied its packets. A queue that
//! is not full or does not wait moves. The search marks what moves, and then what waits for it; the rest never moves.

use super::links::Timing;
use super::parts::Sent;
use super::state::{RESPONSE, Rings};
use crate::fabric::{NONE, transaction};

/// Returns stations whose full transmit queues wait for each other in a cycle, in order; empty if nothing is
/// deadlocked.
pub fn deadlock(rings: &Rings) -> Vec<u32> {
    let waits = Waits::new(rings);
    if waits.awaited.is_empty() {
        return Vec::new();
    }
    let moves = waits.moves();
    moves.iter().position(|&moves| !moves).map_or_else(Vec::new, |start| waits.cycle(start))
}

/// The queues that each queue waits for; a queue that waits for none moves.
struct Waits {
    awaited: Vec<u32>,
    /// Per queue and one more: start of its part of `awaited`.
    start: Vec<u32>,
}

impl Waits {
    fn new(rings: &Rings) -> Self {
        let queues = 4 * rings.stations.len() as u32;
        let (mut awaited, mut start) = (Vec::new(), Vec::with_capacity(queues as usize + 1));
        for queue in 0..queues {
            let begin = awaited.len();
            start.push(begin as u32);
            let (station, kind) = (queue / 4, (queue % 2) as usize);
            let waits = if queue % 4 < 2 {
                rings.transmit_waits(station, kind, &mut awaited)
            } else {
                rings.receive_waits(station, kind, &mut awaited)
            };
            if !waits {
                awaited.truncate(begin);
            }
        }
        start.push(awaited.len() as u32);
        Self { awaited, start }
    }

    fn of(&self, queue: usize) -> &[u32] {
        &self.awaited[self.start[queue] as usize..self.start[queue + 1] as usize]
    }

    /// Returns which queues move now or later.
    fn moves(&self) -> Vec<bool> {
        let queues = self.start.len() - 1;
        let mut moves: Vec<bool> = (0..queues).map(|queue| self.of(queue).is_empty()).collect();
        // For each queue, the queues that wait for it: lists through `awaited`.
        let (mut first, mut next) = (vec![NONE; queues], vec![NONE; self.awaited.len()]);
        let mut waiting = Vec::with_capacity(self.awaited.len());
        let mut moving = Vec::new();
        for (queue, moves) in moves.iter_mut().enumerate() {
            for &other in self.of(queue) {
                next[waiting.len()] = std::mem::replace(&mut first[other as usize], waiting.len() as u32);
                waiting.push(queue);
                if self.of(other as usize).is_empty() && !std::mem::replace(moves, true) {
                    moving.push(queue);
                }
            }
        }
        while let Some(queue) = moving.pop() {
            let mut wait = first[queue];
            while wait != NONE {
                let queue = waiting[wait as usize];
                if !std::mem::replace(&mut moves[queue], true) {
                    moving.push(queue);
                }
                wait = next[wait as usize];
            }
        }
        moves
    }

    /// Follows the first wait of each queue until one repeats; returns the stations of the transmit queues in the
    /// cycle.
    fn cycle(&self, start: usize) -> Vec<u32> {
        let mut seen = vec![usize::MAX; self.start.len() - 1];
        let mut path = Vec::new();
        let mut queue = start;
        while seen[queue] == usize::MAX {
            seen[queue] = path.len();
            path.push(queue as u32);
            let Some(&next) = self.of(queue).first() else { return Vec::new() };
            queue = next as usize;
        }
        let circle = path.split_off(seen[queue]).into_iter();
        circle.filter(|queue| queue % 4 < 2).map(|queue| queue / 4).collect()
    }
}

fn transmit(station: u32, kind: usize) -> u32 {
    4 * station + kind as u32
}

fn receive(station: u32, kind: usize) -> u32 {
    4 * station + 2 + kind as u32
}

impl Rings {
    /// Whether a place of this transmit queue becomes free only after one of other queues has moved; adds these queues.
    fn transmit_waits(&self, station: u32, kind: usize, waits: &mut Vec<u32>) -> bool {
        let at = &self.stations[station as usize];
        let link = &at.link;
        if at.out_free[kind] > 0
            || usize::from(link.leaving) == kind
            || self.is_receiving(station)
            || self.faults.awaits(station)
            || !at.echoes_due.is_empty()
        {
            return false;
        }
        let (mut entry, mut has_other) = (at.fresh[kind].head, false);
        while entry != NONE {
            has_other |=
                !(self.keeps_order(station, kind == RESPONSE) && self.has_open_before(station, entry));
            entry = self.entries[entry].next;
        }
        let mut busied = 0;
        let mut entry = self.rare[station as usize].open;
        while entry != NONE {
            let Sent { by, next, .. } = self.sent[entry as usize];
            let is = self.entries[entry].is;
            if usize::from(is.response()) == kind && is.known_busied() {
                waits.push(receive(by, kind));
                self.for_takers_before(station, by, self.entries[entry].dest, |at| {
                    waits.push(receive(at, kind));
                });
                busied += 1;
            }
            entry = next;
        }
        let Timing { in_flight, rejected, .. } = *self.timing(station);
        // Each of those is on its way or waits; with this number there is no room for another one in any case.
        if has_other && busied + 2 <= in_flight + rejected {
            return false;
        }
        // Packets that were not busied will be accepted. Other places are reserved for responses in service.
        let open = in_flight - at.may_send[kind] + self.rare[station as usize].rejected[kind];
        busied > 0 && busied == open && (link.is_port() || at.at_work == NONE)
    }

    /// Visits the controllers that may accept a station's packet before it comes to the last one of their port.
    fn for_takers_before(&self, station: u32, last: u32, dest: u32, mut visit: impl FnMut(u32)) {
        let mut at =
            if self.fabric.port_yields.is_empty() { last } else { self.stations[station as usize].link.next };
        while at != last {
            if self.taken_to(at, dest).is_some() {
                visit(at);
            }
            at = self.stations[at as usize].link.next;
        }
    }

    /// Whether a transfer to a port is in progress.
    fn is_receiving(&self, station: u32) -> bool {
        let switch = self.switches.get(self.stations[station as usize].switch as usize);
        switch.is_some_and(|of| {
            of.receiving >> (self.stations[station as usize].link.port() - of.first) & 1 != 0
        })
    }

    /// The same for a receive queue.
    fn receive_waits(&self, station: u32, kind: usize, waits: &mut Vec<u32>) -> bool {
        let at = &self.stations[station as usize];
        if at.in_free[kind] > 0 || at.at_work != NONE || !at.coming.is_empty() || at.held[kind].is_empty() {
            return false;
        }
        let mut held = at.held[kind].head;
        if self.stations[station as usize].link.is_port() {
            let first = self.switches[at.switch_here as usize].first;
            let to = self.ports[(first + u32::from(self.entries[held].target)) as usize].station;
            waits.push(transmit(to, kind));
            return self.entries[held].ready <= self.now;
        }
        if kind == RESPONSE || self.is_at_bus(station) {
            return false;
        }
        while held != NONE {
            if self.transactions[self.entries[held].transaction].kind == transaction::MOVE {
                return false;
            }
            held = self.entries[held].next;
        }
        waits.push(transmit(station, RESPONSE));
        true
    }
}
