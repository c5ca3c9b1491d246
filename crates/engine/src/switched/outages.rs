//! Links that fail while nothing is on them, and links that stop for a time.
//!
//! A link that is stopped has a horizon, and nothing else happens to it: see [`super::horizon`]. A link that fails loses
//! what is on it, and a cut changes the lengths of packets that are computed in advance here. But if nothing is on a
//! link from its failure to its repair, all that changes is that it cannot be granted, and then has all its credit again:
//!
//! * **fails**: no packet holds the link, all that it has sent has arrived, and its terminal has put nothing on it;
//! * **is down**: its terminal puts nothing on it, and no head has only links that are down to wait for;
//! * **runs again**: nothing is left in the input buffer at its end.
//!
//! So this is all that is computed here: links that are down from the beginning, spare ones, and failures in pauses. If
//! anything else happens, the run begins again character by character (see `Simulation::advance`). That costs little:
//! up to there it was computed many times faster. Wrong bits, links that stop for good, new tables, and failures of links
//! that carry codes always end the computation here.

use std::cmp::Reverse;

use super::credit::Credit;
use super::link::{Kind, Link};
use super::state::{Network, UNKNOWN};
use super::timeline::Number;
use crate::fabric::{Fabric, NEVER, NONE, fault_kind};
use crate::kernel::Time;

/// What happens to links at a tick that is known from the beginning, in the order within a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// This link runs again.
    Up(u32),
    /// It fails; whether for good.
    Down(u32, bool),
    /// Something happens that is not computed here.
    Other,
}

/// A link that is down.
#[derive(Clone, Copy, Debug)]
struct Down {
    link: u32,
    for_good: bool,
    /// When it would have been free.
    free_at: Time,
    /// One after the last character that was granted to it.
    granted: Number,
}

/// The changes to come, and the links that are down.
#[derive(Clone, Debug, Default)]
pub(super) struct Outages {
    /// In descending order: the last one is the next.
    changes: Vec<(Time, Change)>,
    down: Vec<Down>,
    /// Whether something has happened that is not computed here.
    beyond: bool,
}

impl Outages {
    /// Returns the outages of a network without codes, or with them.
    pub fn new(fabric: &Fabric, codes: bool) -> Self {
        let mut changes = Vec::new();
        for (row, &link) in fabric.fault_link.iter().enumerate() {
            let (down, up) = (fabric.fault_down_ticks[row] as Time, fabric.fault_up_ticks[row]);
            match fabric.fault_kind[row] {
                fault_kind::LINK if !codes => {
                    changes.push((down, Change::Down(link, up == NEVER)));
                    changes.extend((up < NEVER).then_some((up as Time, Change::Up(link))));
                }
                fault_kind::STUCK if up < NEVER => {}
                _ => changes.push((down, Change::Other)),
            }
        }
        changes.extend(fabric.table_ticks.iter().map(|&tick| (tick as Time, Change::Other)));
        changes.sort_unstable_by_key(|&change| Reverse(change));
        Self { changes, ..Self::default() }
    }

    /// Returns the links that stop for a time, from and until when.
    pub fn stops(fabric: &Fabric) -> impl Iterator<Item = (u32, Time, Time)> + '_ {
        let rows = (0..fabric.fault_link.len())
            .filter(|&row| fabric.fault_kind[row] == fault_kind::STUCK && fabric.fault_up_ticks[row] < NEVER);
        rows.map(|row| {
            let (from, until) = (fabric.fault_down_ticks[row], fabric.fault_up_ticks[row]);
            (fabric.fault_link[row], from as Time, until as Time)
        })
    }

    /// Returns the tick of the next change, or [`Time::MAX`].
    pub fn next(&self) -> Time {
        self.changes.last().map_or(Time::MAX, |change| change.0)
    }

    /// Whether anything is down, or will change.
    fn is_any(&self) -> bool {
        !self.changes.is_empty() || !self.down.is_empty() || self.beyond
    }

    fn is_down_for_good(&self, link: u32) -> bool {
        self.down.iter().any(|down| down.link == link && down.for_good)
    }
}

impl Link {
    /// Whether a link, before everything else in a tick, has nothing on its wire or before it.
    fn is_empty(&self, kind: &Kind, now: Time) -> bool {
        let free = self.wire.free();
        // A terminal has an end of packet some time after it has arrived, if that is longer than other characters.
        let arrived = kind.arrival(free - Time::from(kind.end)).max(kind.delivery(free));
        let has_sent = self.has_sent_all() && self.output.holder() == NONE && !self.due.is_behind();
        let is_gone = free == 0 || arrived < now;
        has_sent && is_gone && (!self.leads_to_terminal() || self.head() == NONE)
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
            && let Some((_, change)) = outside.outages.changes.pop_if(|change| change.0 == now)
        {
            count += 1;
            let is_known = !outside.outages.beyond
                && match change {
                    Change::Up(link) => self.go_up(link, now),
                    Change::Down(link, for_good) => self.go_down(link, for_good, now),
                    Change::Other => false,
                };
            if let Some(outside) = &mut self.outside {
                outside.outages.beyond |= !is_known;
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
            outside.outages.down.push(Down { link, for_good, free_at, granted });
        }
        self.is_without(link)
    }

    /// Puts a link back into its groups, with all its credit; false, and nothing is changed, if it was needed meanwhile, or
    /// anything is in the buffer at its end.
    fn go_up(&mut self, link: u32, now: Time) -> bool {
        let is_without = self.is_without(link);
        let Some(outside) = &mut self.outside else { return false };
        let down = &mut outside.outages.down;
        let Some(place) = down.iter().position(|down| down.link == link) else { return false };
        let was = down[place];
        let at = &mut self.links[link as usize];
        let kind = &self.kinds[at.kind as usize];
        // New credit would let a packet go on that its terminal has put on the link meanwhile, and nobody would wake it.
        if !is_without || at.output.granted() != was.granted || !at.has_left(kind, now) {
            return false;
        }
        down.swap_remove(place);
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
        self.outside.as_ref().is_some_and(|outside| outside.outages.down.iter().any(|down| down.link == link))
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
        let is_used = |down: &Down| {
            let at = &self.links[down.link as usize];
            at.output.granted() != down.granted || !self.is_without(down.link)
        };
        // What has no route is lost where tables are replaced.
        let is_lost = self.lost.is_some() && self.fabric.has_tables();
        is_lost || outside.outages.beyond || outside.outages.down.iter().any(is_used)
    }
}
