//! Links that fail while nothing is on them: see [`crate::links::outages`]. A link that is stopped for a time has a horizon,
//! and nothing else happens to it: see [`super::horizon`].

use super::credit::Credit;
use super::link::{Kind, Link};
use super::state::{Network, UNKNOWN};
use super::timeline::Number;
use crate::fabric::NONE;
use crate::kernel::Time;
use crate::links::outages::{Change, Down};

/// A link before it failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Was {
    /// When it would have been free.
    free_at: Time,
    /// One after the last character that was granted to it.
    granted: Number,
}

impl Link {
    /// Whether a link, before everything else in a tick, has nothing on its wire or before it.
    fn is_empty(&self, kind: &Kind, now: Time) -> bool {
        let free = self.wire.free();
        // A terminal has an end of packet some time after it has arrived, if that is longer than other characters.
        let arrived = kind.arrival(free - Time::from(kind.end)).max(kind.delivery(free));
        let has_sent = self.has_sent_all() && self.output.holder() == NONE && !self.due.is_behind();
        let is_gone = free == 0 || arrived < now;
        has_sent && is_gone && (!self.to_terminal || self.head() == NONE)
    }

    /// Whether nothing is in its input buffer either.
    fn has_left(&self, kind: &Kind, now: Time) -> bool {
        self.head() == NONE && self.input.exit_free() - Time::from(kind.next_head) < now
    }
}

impl Network {
    /// Handles failures and repairs in this tick, before all other events; returns their number. After something that is
    /// not computed here, no more is done: up to the next look the network goes on as it is, which is in vain.
    pub(super) fn fail(&mut self, now: Time) -> u64 {
        let mut count = 0;
        while let Some(outside) = &mut self.outside
            && let Some(change) = outside.outages.take(now)
        {
            count += 1;
            let is_known = !outside.outages.is_over()
                && match change {
                    Change::Up(link) => self.go_up(link, now),
                    Change::Down(link, _, for_good) => self.go_down(link, for_good, now),
                    Change::Stop(..) | Change::Table | Change::Other => false,
                };
            if let Some(outside) = &mut self.outside
                && !is_known
            {
                outside.outages.give_up();
            }
        }
        count
    }

    /// Takes a link out of its groups; false if anything is on it, or waits for it alone.
    fn go_down(&mut self, link: u32, for_good: bool, now: Time) -> bool {
        let at = &mut self.links[link as usize];
        let free_at = at.port.free_at();
        if !at.is_empty(&self.kinds[at.kind as usize], now) || free_at == UNKNOWN {
            return false;
        }
        self.ports.close(&mut at.port);
        let granted = at.output.granted();
        if let Some(outside) = &mut self.outside {
            outside.outages.add(Down { link, for_good, was: Was { free_at, granted } });
        }
        self.is_without(link)
    }

    /// Puts a link back into its groups, with all its credit; false, and nothing is changed, if it was needed meanwhile, or
    /// anything is in the buffer at its end.
    fn go_up(&mut self, link: u32, now: Time) -> bool {
        let is_without = self.is_without(link);
        let Some(outside) = &mut self.outside else { return false };
        let Some(was) = outside.outages.remove(link) else { return false };
        let at = &mut self.links[link as usize];
        let kind = &self.kinds[at.kind as usize];
        // New credit would let a packet go on that its terminal has put on the link meanwhile, and nobody would wake it.
        if !is_without || at.output.granted() != was.granted || !at.has_left(kind, now) {
            return false;
        }
        at.credit = Credit::new(kind, at.wire.known());
        if self.ports.open(&mut at.port, was.free_at) {
            if was.free_at <= now {
                self.ports.release(&mut at.port, &mut self.touched);
            } else {
                at.port.announce(link, &mut self.wheel);
            }
        }
        true
    }

    /// Whether nothing waits for a link that is down, and for no other.
    fn is_without(&self, link: u32) -> bool {
        let runs = |&other: &u32| !self.is_down(other);
        let waits = |group: u32| self.ports.groups[group as usize].waiting() > 0;
        let mut groups = self.ports.groups_of(&self.links[link as usize].port);
        groups.all(|group| !waits(group) || self.fabric.group(group).iter().any(runs))
    }

    fn is_down(&self, link: u32) -> bool {
        self.outside.as_ref().is_some_and(|outside| outside.outages.is_down(link))
    }

    /// Whether a link never runs again.
    pub(super) fn is_down_for_good(&self, link: u32) -> bool {
        self.outside.as_ref().is_some_and(|outside| outside.outages.is_down_for_good(link))
    }

    /// Whether links fail, so that the run may have to begin again.
    pub fn may_fail(&self) -> bool {
        self.outside.as_ref().is_some_and(|outside| outside.outages.is_any())
    }

    /// Whether something has happened because of failures that is not computed here.
    pub fn has_failed(&self) -> bool {
        let Some(outside) = &self.outside else { return false };
        let is_used = |down: &Down<Was>| {
            let at = &self.links[down.link as usize];
            at.output.granted() != down.was.granted || !self.is_without(down.link)
        };
        // What has no route is lost where tables are replaced.
        let is_lost = self.lost.is_some() && self.fabric.has_tables();
        is_lost || outside.outages.is_over() || outside.outages.down().iter().any(is_used)
    }
}
