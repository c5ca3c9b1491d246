//! Links that fail and run again: see [`crate::links::outages`]. What is lost is in [`super::cuts`]. A link that is stopped
//! for a time has a horizon, and nothing else happens to it: see [`super::horizon`].

use super::credit::Credit;
use super::link::{Kind, Link};
use super::packet_path::draw;
use super::state::{Network, UNKNOWN};
use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;
use crate::links::outages::{Change, Down, Outages};

/// Returns the stops of links, and at each failure of a link a stop of no ticks: of the link itself, of those that enter the
/// switch before it, and of those that leave the switch after it. A longer stop is divided there.
pub(super) fn with_looks(
    fabric: &Fabric,
    stops: Vec<(u32, Time, Time)>,
    outages: &Outages<Time>,
) -> Vec<(u32, Time, Time)> {
    let mut looks: Vec<(u32, Time)> = outages.failures().map(|(now, link)| (link, now)).collect();
    let switches = if looks.is_empty() { 0 } else { fabric.switches as usize };
    let (mut enter, mut leave) = (vec![Vec::new(); switches], vec![Vec::new(); switches]);
    for link in 0..fabric.links() {
        let ends = [(&mut enter, fabric.link_target[link]), (&mut leave, fabric.link_source[link])];
        for (links, vertex) in ends {
            links.get_mut(vertex as usize).into_iter().for_each(|links| links.push(link as u32));
        }
    }
    for (now, link) in outages.failures() {
        let ends = [(&enter, fabric.link_source[link as usize]), (&leave, fabric.link_target[link as usize])];
        let near = ends.into_iter().filter_map(|(links, vertex)| links.get(vertex as usize)).flatten();
        looks.extend(near.map(|&link| (link, now)));
    }
    looks.sort_unstable();
    looks.dedup();
    let mut all = Vec::new();
    for (link, mut from, until) in stops {
        let next = looks.partition_point(|&look| look <= (link, from));
        let within = looks[next..].iter().take_while(|&&look| look < (link, until)).map(|look| look.1);
        for at in within.chain([until]) {
            all.push((link, from, at));
            from = at;
        }
    }
    all.extend(looks.into_iter().map(|(link, at)| (link, at, at)));
    all.sort_unstable();
    all
}

impl Link {
    /// Whether nothing of what was sent before is in its input buffer.
    fn has_left(&self, kind: &Kind, now: Time) -> bool {
        self.head() == self.sending() && self.input.exit_free() - Time::from(kind.next_head) < now
    }
}

impl Network {
    /// Handles failures and repairs in this tick, before all other events; returns their number. Collects the ports whose
    /// packets were cut. After something that is not computed here, no more is done: up to the next look the network goes
    /// on as it is, which is in vain.
    pub(super) fn fail(&mut self, now: Time, asking: &mut Vec<u32>) -> u64 {
        let mut count = 0;
        while let Some(outside) = &mut self.outside
            && let Some(change) = outside.outages.take(now)
        {
            count += 1;
            let is_known = !outside.outages.is_over()
                && match change {
                    Change::Up(link) => self.go_up(link, now),
                    Change::Down(link, ended, for_good) => self.go_down(link, (now, ended), for_good, asking),
                    // It is looked up when heads request.
                    Change::Table => true,
                    Change::Stop(..) | Change::Other => false,
                };
            if let Some(outside) = &mut self.outside
                && !is_known
            {
                outside.outages.give_up();
            }
        }
        count
    }

    /// Takes a link out of its groups, and loses what is on it; false if not all that this does is computed here.
    fn go_down(
        &mut self,
        link: u32,
        (now, ended): (Time, Time),
        for_good: bool,
        asking: &mut Vec<u32>,
    ) -> bool {
        if !self.cut(link, (now, ended), asking) {
            return false;
        }
        let at = &mut self.links[link as usize];
        let was = Some(at.port.free_at()).filter(|&free_at| free_at < UNKNOWN).unwrap_or(now);
        self.ports.close(&mut at.port);
        let groups: Vec<u32> = self.ports.groups_of(&at.port).collect();
        if let Some(outside) = &mut self.outside {
            outside.outages.add(Down { link, for_good, was });
        }
        for group in groups {
            if !self.runs(group) {
                self.discard_waiting(group, now);
            }
        }
        true
    }

    /// Puts a link back into its groups, with all its credit; false, and nothing is changed, if anything is in the buffer at
    /// its end.
    fn go_up(&mut self, link: u32, now: Time) -> bool {
        let Some(outside) = &mut self.outside else { return false };
        let Some(free_at) = outside.outages.remove(link) else { return false };
        let at = &mut self.links[link as usize];
        let kind = &self.kinds[at.kind as usize];
        if !at.has_left(kind, now) {
            return false;
        }
        at.credit = Credit::new(kind, at.wire.known());
        at.wire.hold_until(now);
        outside.opens = outside.opens.max(now);
        if self.ports.open(&mut at.port, free_at) {
            if free_at <= now {
                self.ports.release(&mut at.port, &mut self.touched);
            } else {
                at.port.announce(link, &mut self.wheel);
            }
        }
        if !at.has_sent_all() {
            self.wake(link);
            self.follow_any();
        }
        true
    }

    /// Whether a link of a group runs.
    fn runs(&self, group: u32) -> bool {
        self.fabric.group(group).iter().any(|&link| !self.is_down(link))
    }

    /// Whether the head of an input link that requests now has no way any more. It requests by the table of this tick.
    pub fn has_no_way(&mut self, link: u32, now: Time) -> bool {
        let at = &mut self.links[link as usize];
        if self.fabric.has_tables() {
            let class = at.worm(at.head(), &self.crowd).class;
            at.port.look_up_in(&self.fabric, self.fabric.table_at(now), class);
            if self.fabric.draws() {
                draw(&self.fabric, &self.packets, &self.crowd, at, class);
            }
        }
        let entry = self.links[link as usize].port.route().1;
        if entry == NONE { self.fabric.has_tables() } else { self.has_down() && !self.runs(entry >> 1) }
    }

    /// Whether links are down, or tables are replaced.
    pub fn is_changed(&self) -> bool {
        self.outside.as_ref().is_some_and(|outside| outside.outages.is_changed())
    }

    fn has_down(&self) -> bool {
        self.outside.as_ref().is_some_and(|outside| !outside.outages.down().is_empty())
    }

    /// Whether a link is not free to be granted, though no packet holds it.
    fn is_down(&self, link: u32) -> bool {
        let at = &self.links[link as usize];
        at.port.free_at() == UNKNOWN && at.output.holder() == NONE
    }

    /// Whether a link never runs again.
    pub(super) fn is_down_for_good(&self, link: u32) -> bool {
        self.outside.as_ref().is_some_and(|outside| outside.outages.is_down_for_good(link))
    }

    /// Returns the packets of terminals whose links never run again.
    pub fn stranded(&self) -> u64 {
        let Some(outside) = &self.outside else { return 0 };
        let waits = |down: &&Down<Time>| down.for_good && !self.links[down.link as usize].has_sent_all();
        outside.outages.down().iter().filter(waits).count() as u64
    }

    /// Whether links fail, so that the run may have to begin again.
    pub fn may_fail(&self) -> bool {
        self.outside.as_ref().is_some_and(|outside| outside.outages.is_any())
    }

    /// Whether something has happened because of failures that is not computed here.
    pub fn has_failed(&self) -> bool {
        self.outside.as_ref().is_some_and(|outside| outside.outages.is_over())
    }
}
