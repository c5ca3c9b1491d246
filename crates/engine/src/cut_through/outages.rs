//! Links that fail while nothing is on them: see [`crate::links::outages`]; and links that stop between two packets.

use super::parts::{Lane, Link};
use super::state::{Network, UNKNOWN};
use crate::fabric::NONE;
use crate::kernel::Time;
use crate::links::outages::{Change, Down};

/// A link before it failed.
#[derive(Clone, Debug)]
pub(super) struct Was {
    /// When each of its lanes would have been free.
    free_at: Vec<Time>,
    /// Packets that had started on it.
    packets: u64,
}

impl Network {
    /// Handles failures and repairs in this tick, before all other events; returns their number. After something that is
    /// not computed here, the network goes on as it is up to the next look, in vain.
    #[cold]
    pub fn fail(&mut self) -> u64 {
        let mut count = 0;
        while let Some(change) = self.outages.take(self.now) {
            count += 1;
            let is_known = !self.outages.is_over()
                && match change {
                    Change::Up(link) => self.go_up(link),
                    Change::Down(link, for_good) => self.go_down(link, for_good),
                    Change::Stop(link, until) => self.stop(link, until),
                    Change::Other => false,
                };
            if !is_known {
                self.outages.give_up();
            }
        }
        count
    }

    /// Returns the tick of the next failure or repair, or [`Time::MAX`].
    #[inline(always)]
    pub fn next_outage(&self) -> Time {
        self.outages.next()
    }

    /// Whether links fail, so that the run may have to begin again.
    pub fn may_fail(&self) -> bool {
        self.outages.is_any()
    }

    /// Whether something has happened because of failures that is not computed here.
    pub fn has_failed(&self) -> bool {
        let is_used = |down: &Down<Was>| {
            let at = &self.links[down.link as usize];
            at.started != down.was.packets || at.dispatched != NONE || !self.is_without(down.link)
        };
        self.outages.is_over() || self.outages.down().iter().any(is_used)
    }

    /// Whether only failures without packets are still to happen.
    pub fn is_idle(&self) -> bool {
        self.wheel.peek().is_none() && self.in_flight() == 0
    }

    /// Takes the lanes of a link out of their groups; false if anything is on it, or waits for it alone.
    fn go_down(&mut self, link: u32, for_good: bool) -> bool {
        if !self.is_empty(link) {
            return false;
        }
        let lanes =
            &mut self.lanes[self.fabric.lanes_of(link).start as usize..][..self.fabric.lanes as usize];
        let free_at = lanes.iter_mut().map(|lane| std::mem::replace(&mut lane.free_at, UNKNOWN)).collect();
        let packets = self.links[link as usize].started;
        self.outages.add(Down { link, for_good, was: Was { free_at, packets } });
        self.is_without(link)
    }

    /// Puts the lanes of a link back, with all their credit; false if it was needed meanwhile, or anything is in the buffer
    /// at its end.
    fn go_up(&mut self, link: u32) -> bool {
        let is_without = self.is_without(link);
        let Some(was) = self.outages.remove(link) else { return false };
        let at = &self.links[link as usize];
        if !is_without || at.started != was.packets || at.dispatched != NONE {
            return false;
        }
        for (lane, free_at) in self.fabric.lanes_of(link).zip(was.free_at) {
            if !self.renew(lane) {
                return false;
            }
            self.lanes[lane as usize].free_at = free_at;
            if free_at <= self.now {
                self.release(lane);
            } else if self.groups.are_awaited(lane) {
                self.announce(lane);
            }
        }
        true
    }

    /// Gives a lane all its credit; false if a packet is in the buffer at its end.
    fn renew(&mut self, lane: u32) -> bool {
        self.catch_up(lane, self.now - 1);
        let at = &mut self.lanes[lane as usize];
        let is_empty = at.crossing.is_empty() && at.queues.iter().all(|queue| queue.first == NONE);
        (at.departed, at.renewed) = (at.started, at.started);
        if let Some(store) = self.stores.get_mut(lane as usize) {
            store.admitted = at.departed;
        }
        is_empty
    }

    /// Keeps a link from starting a packet before a tick; false if it is in the middle of one, unless it is paused: then
    /// this one is sent to its end.
    fn stop(&mut self, link: u32, until: Time) -> bool {
        let is_paused = self.fabric.has_pause();
        let at = &mut self.links[link as usize];
        if at.sent_at > self.now && !is_paused {
            return false;
        }
        at.free_at = at.free_at.max(until);
        let due = std::mem::replace(&mut at.due, UNKNOWN);
        if due < UNKNOWN {
            self.wake(link, due);
        }
        true
    }

    /// Whether a link, before everything else in a tick, has nothing on its wire or before it.
    fn is_empty(&self, link: u32) -> bool {
        let at = &self.links[link as usize];
        let is_free = |lane: &Lane| lane.coming == NONE && lane.first == NONE && lane.free_at < UNKNOWN;
        let lanes = self.fabric.lanes_of(link);
        at.dispatched == NONE
            && self.has_arrived(at)
            && lanes.into_iter().all(|lane| is_free(&self.lanes[lane as usize]))
    }

    /// Whether all that has started on a link has arrived, and been received if it leads to a terminal.
    fn has_arrived(&self, link: &Link) -> bool {
        let kind = &self.kinds[link.kind as usize];
        let arrived =
            kind.arrival(link.sent_at - Time::from(kind.character)).max(kind.delivery(link.sent_at));
        link.started == 0 || arrived < self.now
    }

    /// Whether nothing waits for a link that is down, and for no other.
    fn is_without(&self, link: u32) -> bool {
        let runs = |&lane: &u32| !self.outages.is_down(self.fabric.link_of(lane));
        let mut groups = self.fabric.lanes_of(link).flat_map(|lane| self.groups.of(lane));
        groups.all(|&group| {
            self.groups.waiting(group).next().is_none() || self.fabric.group(group).iter().any(runs)
        })
    }
}
