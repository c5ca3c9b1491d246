//! Switches that pause senders: what input buffers hold of complete packets, and when a sender may go on; and packets for
//! which there is no room.
//!
//! Arrivals and departures are known before they happen. So nothing is scheduled for a buffer: when its sender wants to
//! start a packet, what has happened in the buffer is caught up with, in order of time.

use std::collections::VecDeque;

use super::parts::Stay;
use super::state::{Network, UNKNOWN};
use crate::fabric::NONE;
use crate::kernel::Time;
use crate::links::pause::Level;
use crate::measure::{Hop, hop_kind};

/// The input buffer of a lane.
#[derive(Clone, Debug)]
pub(super) struct Store {
    level: Level,
    /// Packets whose ends arrive later: when, and their characters.
    coming: VecDeque<(Time, u32)>,
    /// Characters of all packets for which there was room.
    pub(super) admitted: i64,
}

impl Store {
    pub fn new(above: u32, until: u32) -> Self {
        Self { level: Level::new(above, until), coming: VecDeque::new(), admitted: 0 }
    }

    /// Notes when the end of a packet comes, and its characters.
    pub fn will_store(&mut self, end: Time, length: u32) {
        self.coming.push_back((end, length));
    }

    /// Lets the sender start, and says at the end of a tick what is stored.
    pub fn renew(&mut self, now: Time) {
        self.level.pauses = false;
        self.will_store(now, 0);
    }
}

impl Network {
    /// Lets a packet that has started on a lane into the buffer at its end, which will store it once its end has come.
    #[inline(always)]
    pub(super) fn let_in(&mut self, stay: u32) {
        let Stay { lane, length, .. } = self.stays[stay];
        if !self.stores.is_empty() {
            let end = self.kind(self.lanes[lane as usize].link).arrival(self.end_of(stay));
            self.stores[lane as usize].will_store(end, length);
        }
        self.arrive(stay);
    }

    /// Takes the packet whose first character arrives at an input buffer, or discards it for want of room: for packets
    /// whose ends have left before this tick there is room again.
    pub fn admit(&mut self, stay: u32) {
        if let Some(memory) = &mut self.memory {
            return memory.comes(stay);
        }
        let Stay { lane, length, .. } = self.stays[stay];
        let at = &self.lanes[lane as usize];
        let room = self.kind(at.link).input_buffer;
        let left = at.crossing.iter().map(|&stay| &self.stays[stay]).filter(|stay| stay.left < self.now);
        let left = at.departed + left.map(|stay| i64::from(stay.length)).sum::<i64>();
        let store = &mut self.stores[lane as usize];
        if store.admitted - left + i64::from(length) > i64::from(room) {
            return self.discard(stay);
        }
        store.admitted += i64::from(length);
        self.let_in(stay);
    }

    /// Loses the packet of a stay at the end of its lane. It has left the buffer before, as far as its wire is concerned.
    #[cold]
    pub(super) fn discard(&mut self, stay: u32) {
        let Stay { packet, lane, from, .. } = self.stays[stay];
        debug_assert_eq!(from, NONE, "what has started is known to leave");
        let (delivery, link) = (&self.packets[packet].delivery, self.lanes[lane as usize].link);
        let hop = Hop::of(delivery, link, self.now, self.now, hop_kind::LOST);
        self.lost.add(delivery.mark, |losses| &mut losses.discarded, hop, &mut self.hops);
        self.stays.remove(stay);
        self.packets.remove(packet);
    }

    /// Returns when the sender of a lane may start its next packet, as far as is known; 0 if it may. Catches up with
    /// what has happened in the input buffer up to the tick of which the sender knows now.
    pub(super) fn goes_on_at(&mut self, lane: u32) -> Time {
        let delay = Time::from(self.kind(self.lanes[lane as usize].link).credit_delay);
        self.catch_up(lane, self.now - delay);
        if let Some(memory) = &self.memory {
            return memory.goes_on_at(lane);
        }
        let mut level = self.stores[lane as usize].level;
        if !level.pauses {
            return 0;
        }
        let later = self.changes(lane, UNKNOWN - 1);
        let goes_on = later.iter().find(|&&(_, change)| {
            level.change(change);
            !level.pauses
        });
        goes_on.map_or(UNKNOWN, |&(time, _)| time + delay)
    }

    /// Whether the sender of a lane is not paused, or has credit for a packet of this length.
    pub(super) fn may_send(&mut self, lane: u32, length: u32) -> bool {
        if self.stores.is_empty() { self.has_credit_for(lane, length) } else { self.goes_on_at(lane) == 0 }
    }

    /// Takes what has happened in the input buffer of a lane up to a tick, also what has departed for credit.
    pub(super) fn catch_up(&mut self, lane: u32, known: Time) {
        if !self.stores.is_empty() {
            let past = self.changes(lane, known);
            let store = &mut self.stores[lane as usize];
            past.iter().for_each(|&(_, change)| store.level.change(change));
            while store.coming.front().is_some_and(|&(time, _)| time <= known) {
                store.coming.pop_front();
            }
        }
        self.count_departed(lane, known);
    }

    /// Whether the sender of a lane will go on after all that is known to leave.
    pub(super) fn will_go_on(&self, lane: u32) -> bool {
        let mut level = self.stores[lane as usize].level;
        self.changes(lane, UNKNOWN - 1).iter().for_each(|&(_, change)| level.change(change));
        !level.pauses
    }

    /// Returns by how much the input buffer of a lane changes at later ticks up to one, as far as is known, in order.
    fn changes(&self, lane: u32, until: Time) -> Vec<(Time, i64)> {
        let stays = self.lanes[lane as usize].crossing.iter().map(|&stay| &self.stays[stay]);
        let leaving = stays.take_while(|stay| stay.out.grant <= until).filter(|stay| stay.left <= until);
        let leaving = leaving.map(|stay| (stay.left, -i64::from(stay.length)));
        let coming = self.stores[lane as usize].coming.iter().take_while(|(time, _)| *time <= until);
        let mut all: Vec<_> =
            coming.map(|&(time, length)| (time, i64::from(length))).chain(leaving).collect();
        all.sort_unstable();
        all.dedup_by(|next, first| {
            let same = next.0 == first.0;
            first.1 += if same { next.1 } else { 0 };
            same
        });
        all
    }

    /// Returns the most that an input buffer of a link has held before a tick.
    pub(super) fn most_stored(&self, link: u32, tick: Time) -> u64 {
        let of_lane = |lane: u32| {
            let mut level = self.stores.get(lane as usize)?.level;
            self.changes(lane, tick - 1).iter().for_each(|&(_, change)| level.change(change));
            Some(level.most as u64)
        };
        self.fabric.lanes_of(link).filter_map(of_lane).max().unwrap_or(0)
    }
}
