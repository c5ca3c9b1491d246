//! Places of the longest packet behind lanes, where links form one-way rings into which packets come only if a place stays
//! free.
//!
//! A packet takes a whole place, from its grant until the credit for its end is back. Counted in characters, short packets
//! could leave less than a place free in each buffer of a ring, and then nothing could move.

use super::parts::Stay;
use super::state::{Network, UNKNOWN};
use crate::fabric::NONE;
use crate::kernel::Time;

impl Network {
    /// Whether grants depend on rings.
    #[inline(always)]
    pub(super) fn has_rings(&self) -> bool {
        !self.fabric.link_ring.is_empty()
    }

    /// Whether there are the places behind a lane with which a head on lane `from` may be granted it.
    pub(super) fn has_places(&self, lane: u32, from: u32) -> bool {
        let kind = self.kind(self.lanes[lane as usize].link);
        let by = self.now - Time::from(kind.credit_delay);
        let leaves = self.crossing(lane).filter(|stay| stay.left < UNKNOWN && stay.left > by).count() as u64;
        kind.to_terminal || self.fits(lane, self.fabric.places_for(lane, from), leaves)
    }

    /// Whether there will be, as far as is known.
    pub(super) fn gets_places(&self, lane: u32, from: u32) -> bool {
        self.fits(lane, self.fabric.places_for(lane, from), 0)
    }

    /// Returns the next tick from which on more heads can be granted a lane that is free from a tick on, as far as is known.
    pub(super) fn able_at(&mut self, lane: u32, free_at: Time) -> Time {
        if !self.has_rings() {
            return free_at.max(self.room_at(lane));
        }
        let times = [1, 2].map(|needed| free_at.max(self.places_at(lane, needed)));
        times.into_iter().find(|&time| time > self.now).unwrap_or(UNKNOWN)
    }

    /// Returns since when there are this many places behind a lane, as far as is known; 0 if it is long ago.
    fn places_at(&self, lane: u32, needed: u64) -> Time {
        let kind = self.kind(self.lanes[lane as usize].link);
        if kind.to_terminal {
            return 0;
        }
        let mut ends: Vec<Time> =
            self.crossing(lane).map(|stay| stay.left).filter(|&left| left < UNKNOWN).collect();
        ends.sort_unstable_by(|one, other| other.cmp(one));
        // With all of these places, all but the first to be free, and so on.
        let most = (0..=ends.len()).rev().find(|&leaves| self.fits(lane, needed, leaves as u64));
        match most {
            None => UNKNOWN,
            Some(leaves) => ends.get(leaves).map_or(0, |&left| left + Time::from(kind.credit_delay)),
        }
    }

    /// Whether places are free behind a lane besides those of packets that stay, and of some that leave.
    fn fits(&self, lane: u32, needed: u64, leaves: u64) -> bool {
        let at = &self.lanes[lane as usize];
        let queues = at.queues.iter().map(|queue| self.packets_from(queue.first)).sum::<u64>();
        self.packets_from(at.first) + queues + leaves + needed
            <= self.fabric.places(at.link, u64::from(self.room))
    }

    /// Returns the packets in an input buffer that hold outputs, or have left and whose credit is not counted.
    fn crossing(&self, lane: u32) -> impl Iterator<Item = &Stay> {
        self.lanes[lane as usize].crossing.iter().map(|&stay| &self.stays[stay])
    }

    /// Returns the number of packets behind each other from one on.
    fn packets_from(&self, first: u32) -> u64 {
        let next = |&stay: &u32| Some(self.stays[stay].next).filter(|&next| next != NONE);
        std::iter::successors(Some(first).filter(|&first| first != NONE), next).count() as u64
    }
}
