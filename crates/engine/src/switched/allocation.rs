//! The data of arbitration: groups, their links, and the heads that wait for them.
//!
//! They are separate from the state of the links, so that a request or a grant reads a few short rows.

mod near;
mod unheld;

use std::hint::cold_path;

use unheld::Unheld;

use super::link::Link;
use super::routes::Routes;
use super::state::{Event, UNKNOWN};
use crate::fabric::{Fabric, NONE, arbiter, choice};
use crate::kernel::Time;
use crate::kernel::wheel::Wheel;

/// Number of links at the beginning of a group that have bits in `Group::unheld`.
const BITS: usize = 64;

/// Number of links at the beginning of a group that are listed in its row.
const NEAR: usize = 4;

/// A link as arbiters see it: as an output that is granted, and as the input of the head in the buffer at its end,
/// which requests. They share a row, because a head requests soon after the link on which it arrived was granted.
#[derive(Clone, Debug)]
pub(super) struct Port {
    /// When the link may be granted again; [`UNKNOWN`] while its holder's end is not known.
    free_at: Time,
    /// Tick of the last grant, -1 if never.
    last_grant: Time,
    /// Ticks that heads waited for this link, since the counts were cleared.
    wait_ticks: u64,
    /// The first group that contains it; unused for a link in no group.
    group: Member,
    /// Its row in `Ports::others`, or [`NONE`] if no other group contains it.
    others: u32,
    /// Whether a release event is pending.
    release_pending: bool,
    /// Whether headers are deleted on entry to the link.
    pub deletes_header: bool,

    /// When the head requested.
    requested: Time,
    /// Group it waits for, or [`NONE`].
    awaits: u32,
    /// Next head in the queue of the group, or [`NONE`].
    next: u32,
    /// The route entry of its header, as in `Fabric::route`.
    entry: u32,
    /// The switch of the head.
    switch: u32,
}

/// A group of equivalent links and the heads that wait for one of them.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Group {
    /// Which of its first [`BITS`] links are free, or will be at a known tick.
    unheld: u64,
    /// Index of its first link in `Fabric::group_links`.
    start: u32,
    end: u32,
    /// The first of them.
    near: [u32; NEAR],
    /// Heads by time of request; equal times by link number.
    first: u32,
    last: u32,
    waiting: u32,
    /// Input link served last, for round robin.
    served: u32,
    pub arbiter: u8,
    pub choice: u8,
    /// Whether heads have priorities.
    pub ranks: bool,
    /// Whether it is arbitrated in this tick.
    touched: bool,
    /// From when on all links of `unheld` can be granted, so that their rows need not be read.
    free_from: Time,
}

/// A link's place in a group.
#[derive(Clone, Copy, Debug)]
struct Member {
    /// Its bit in `Group::unheld`, or 0.
    bit: u64,
    group: u32,
}

/// All groups.
#[derive(Clone, Debug)]
pub(super) struct Ports {
    pub groups: Vec<Group>,
    /// Further groups of links that are in several.
    others: Vec<Box<[Member]>>,
}

impl Ports {
    /// Returns the groups, and the links as outputs.
    pub fn new(fabric: &Fabric) -> (Self, Vec<Port>) {
        let mut of_link = vec![Vec::new(); fabric.links()];
        for group in 0..fabric.groups() as u32 {
            for (place, &link) in fabric.group(group).iter().enumerate() {
                of_link[link as usize].push(Member { bit: bit_of(place), group });
            }
        }
        let mut others = Vec::new();
        let links = of_link.into_iter().zip(0..).map(|(members, link): (Vec<Member>, usize)| {
            let first = members.first().copied().unwrap_or(Member { bit: 0, group: NONE });
            let mut port = Port::new(first, fabric.link_target[link], fabric.deletes_on_entry(link as u32));
            if members.len() > 1 {
                port.others = others.len() as u32;
                others.push(members[1..].into());
            }
            port
        });
        let links = links.collect();
        let groups = (0..fabric.groups()).map(|group| Group::new(fabric, group)).collect();
        (Self { groups, others }, links)
    }

    /// Returns the links of a group that may be free, in its order: all free ones, and possibly others.
    #[inline]
    pub fn unheld<'a>(&'a self, fabric: &'a Fabric, group: u32) -> impl Iterator<Item = u32> + Clone + 'a {
        let group = &self.groups[group as usize];
        group.links(fabric, group.unheld).map(|(_, link)| link)
    }

    /// Returns the links of a group that can be granted, in its order.
    #[inline]
    pub fn free<'a>(
        &'a self,
        links: &'a [Link],
        fabric: &'a Fabric,
        group: u32,
        now: Time,
    ) -> impl Iterator<Item = u32> + Clone + 'a {
        let group = &self.groups[group as usize];
        let all = group.free_from <= now;
        let free = group
            .links(fabric, group.unheld)
            .filter(move |&(place, link)| (all && place < BITS) || links[link as usize].port.free_at <= now);
        free.map(|(_, link)| link)
    }

    /// Calls a function for each group that contains a link.
    #[inline(always)]
    fn for_groups(&mut self, port: &Port, mut act: impl FnMut(&mut Group, &Member)) {
        if let Some(group) = self.groups.get_mut(port.group.group as usize) {
            act(group, &port.group);
        }
        if port.others != NONE {
            cold_path();
            for member in &self.others[port.others as usize] {
                act(&mut self.groups[member.group as usize], member);
            }
        }
    }

    /// Records that a link is held. `waited`: the ticks that its head waited for the grant.
    #[inline]
    pub fn hold(&mut self, port: &mut Port, now: Time, waited: Time) {
        port.free_at = UNKNOWN;
        port.last_grant = now;
        port.wait_ticks += waited as u64;
        self.for_groups(port, |group, member| group.unheld &= !member.bit);
    }

    /// Releases a link at a tick; returns whether heads wait for it.
    #[inline]
    pub fn unhold(&mut self, port: &mut Port, free_at: Time) -> bool {
        port.free_at = free_at;
        let mut awaited = false;
        self.for_groups(port, |group, member| {
            group.unheld |= member.bit;
            group.free_from = group.free_from.max(free_at);
            awaited |= group.waiting > 0;
        });
        awaited
    }

    /// Handles the release of a link: marks its groups for arbitration.
    #[inline]
    pub fn release(&mut self, port: &mut Port, touched: &mut Vec<u32>) {
        port.release_pending = false;
        self.for_groups(port, |group, member| group.touch(member.group, touched));
    }

    /// Queues a head for its group, after earlier requests; returns whether there are none.
    #[inline]
    pub fn enqueue(&mut self, links: &mut [Link], link: u32, now: Time) -> bool {
        let entry = links[link as usize].port.entry;
        let number = entry >> 1;
        let group = &mut self.groups[number as usize];
        let head = &mut links[link as usize].port;
        head.awaits = number;
        head.requested = now;
        head.next = NONE;
        group.waiting += 1;
        if group.waiting == 1 {
            group.first = link;
            group.last = link;
            return true;
        }
        let last = group.last;
        if links[last as usize].port.requested == now && last > link {
            self.insert(links, number, link);
            return false;
        }
        group.last = link;
        links[last as usize].port.next = link;
        false
    }

    /// Inserts a head before those of higher number that requested in the same tick; there is one.
    #[cold]
    fn insert(&mut self, links: &mut [Link], group: u32, link: u32) {
        let now = links[link as usize].port.requested;
        let (mut before, mut next) = (NONE, self.groups[group as usize].first);
        while links[next as usize].port.requested < now || next < link {
            (before, next) = (next, links[next as usize].port.next);
        }
        links[link as usize].port.next = next;
        match before {
            NONE => self.groups[group as usize].first = link,
            _ => links[before as usize].port.next = link,
        }
    }

    /// Returns the heads that wait for a group, in order.
    pub fn waiting<'a>(&'a self, links: &'a [Link], group: u32) -> impl Iterator<Item = u32> + 'a {
        let group = &self.groups[group as usize];
        let heads = std::iter::successors(Some(group.first), |&link| Some(links[link as usize].port.next));
        heads.take(group.waiting as usize)
    }

    /// Takes the head at an index out of a group's queue, to serve it.
    pub fn serve(&mut self, links: &mut [Link], group: u32, place: u32) -> u32 {
        let chosen = self.remove(links, group, place);
        self.groups[group as usize].served = chosen;
        chosen
    }

    /// Takes all heads out of a group's queue.
    pub fn take_all(&mut self, links: &[Link], group: u32) -> Vec<u32> {
        let all = self.waiting(links, group).collect();
        self.groups[group as usize].waiting = 0;
        all
    }

    /// Takes the head at an index out of a group's queue.
    #[inline]
    fn remove(&mut self, links: &mut [Link], group: u32, place: u32) -> u32 {
        let queue = &mut self.groups[group as usize];
        queue.waiting -= 1;
        if place == 0 {
            let first = queue.first;
            queue.first = links[first as usize].port.next;
            return first;
        }
        let before = self.waiting(links, group).nth(place as usize - 1).expect("a place in the queue");
        let taken = links[before as usize].port.next;
        let next = links[taken as usize].port.next;
        links[before as usize].port.next = next;
        if next == NONE {
            self.groups[group as usize].last = before;
        }
        taken
    }
}

impl Group {
    fn new(fabric: &Fabric, group: usize) -> Self {
        let switch = fabric.group_switch[group] as usize;
        let (start, end) = (fabric.group_start[group], fabric.group_start[group + 1]);
        let mut near = [NONE; NEAR];
        for (near, &link) in near.iter_mut().zip(fabric.group(group as u32)) {
            *near = link;
        }
        Self {
            near,
            unheld: (start..end).take(BITS).fold(0, |bits, link| bits | bit_of((link - start) as usize)),
            start,
            end,
            first: NONE,
            last: NONE,
            waiting: 0,
            served: NONE,
            arbiter: fabric.switch_arbiter[switch],
            choice: fabric.switch_choice[switch],
            ranks: !fabric.port_priority.is_empty(),
            touched: false,
            free_from: 0,
        }
    }

    /// Returns the links of the group that bits select, and those without a bit, each with its index or [`BITS`].
    #[inline]
    fn links<'a>(&'a self, fabric: &'a Fabric, bits: u64) -> Unheld<'a> {
        Unheld { near: &self.near, links: &fabric.group_links, start: self.start, end: self.end, bits }
    }

    /// Returns the number of heads that wait for it.
    #[inline(always)]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Returns the input link that was served last.
    pub fn served(&self) -> u32 {
        self.served
    }

    /// Whether the first free link is granted to the head that has waited longest.
    #[inline]
    pub fn is_simple(&self) -> bool {
        self.is_simple_for(self.waiting)
    }

    /// The same for a number of heads.
    #[inline(always)]
    fn is_simple_for(&self, heads: u32) -> bool {
        let alone = heads == 1 && self.arbiter != arbiter::RANDOM;
        let first = alone || (self.arbiter == arbiter::FIFO && !self.ranks);
        first && self.choice == choice::FIRST
    }

    /// Takes the head that has waited longest.
    #[inline]
    pub fn take_first(&mut self, links: &[Link]) -> u32 {
        let first = self.first;
        self.served = first;
        self.waiting -= 1;
        if self.waiting > 0 {
            self.first = links[first as usize].port.next;
        }
        first
    }

    /// Whether a head that requests alone in a tick is granted the first free link: no other head waits.
    #[inline(always)]
    pub fn is_for_one(&self) -> bool {
        self.waiting == 0 && self.is_simple_for(1)
    }

    /// Records that a head was served that has not been queued.
    #[inline(always)]
    pub fn serve_one(&mut self, link: u32) {
        self.served = link;
    }

    /// Whether each of its links is known to be held.
    #[inline]
    pub fn is_held(&self) -> bool {
        self.unheld == 0 && self.end - self.start <= BITS as u32
    }

    /// Begins its arbitration.
    #[inline(always)]
    pub fn begin(&mut self) {
        self.touched = false;
    }

    /// Whether there is nothing to arbitrate: no head waits, or each of its links is known to be held.
    #[inline(always)]
    pub fn is_idle(&self) -> bool {
        self.waiting == 0 || self.is_held()
    }

    /// Marks the group for arbitration in this tick, if heads wait for it and a link may be free.
    #[inline]
    pub fn touch(&mut self, number: u32, touched: &mut Vec<u32>) {
        if !self.touched && !self.is_idle() {
            self.touched = true;
            touched.push(number);
        }
    }
}

/// Returns the bit of the link at an index of a group in `Group::unheld`, or 0 if it has none.
fn bit_of(place: usize) -> u64 {
    1u64.checked_shl(place as u32).unwrap_or(0)
}

impl Port {
    /// Whether the header of the head is deleted on output.
    #[inline]
    pub fn strips(&self) -> bool {
        self.entry & 1 == 1
    }

    /// Sets when it is free, without further effects.
    #[cfg(test)]
    pub fn set_free_at(&mut self, time: Time) {
        self.free_at = time;
    }

    /// Returns when the link may be granted again; [`UNKNOWN`] while its holder's end is not known.
    #[inline(always)]
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// Returns the tick of the last grant, -1 if never.
    pub fn last_grant(&self) -> Time {
        self.last_grant
    }

    /// Returns the switch of the head, and its route entry there.
    #[inline(always)]
    pub fn route(&self) -> (u32, u32) {
        (self.switch, self.entry)
    }

    /// Looks up the route of a head that will request, for its class.
    #[inline(always)]
    pub fn look_up(&mut self, routes: &Routes, fabric: &Fabric, class: u32) {
        self.entry = routes.entry(fabric, self.switch, class);
    }

    /// The same by a table that may have replaced the first one.
    pub fn look_up_in(&mut self, fabric: &Fabric, table: u32, class: u32) {
        self.entry = fabric.entry(table, self.switch, class);
    }

    /// Draws the part of its group that the head will request.
    pub fn draw(&mut self, fabric: &Fabric, class: u32, packet: (u32, Time)) {
        self.entry = fabric.drawn(self.entry, self.switch, class, packet);
    }

    /// Returns the group that the head waits for, or [`NONE`].
    #[inline(always)]
    pub fn awaits(&self) -> u32 {
        self.awaits
    }

    /// Records the request of a head that does not wait.
    #[inline(always)]
    pub fn request(&mut self, now: Time) {
        self.requested = now;
    }

    /// Ends the wait of a head that has been granted a link; returns its duration.
    #[inline(always)]
    pub fn granted(&mut self, now: Time) -> Time {
        self.awaits = NONE;
        now - self.requested
    }

    /// Returns the ticks that heads waited for this link.
    pub fn wait_ticks(&self) -> u64 {
        self.wait_ticks
    }

    /// Resets them.
    pub fn clear_wait(&mut self) {
        self.wait_ticks = 0;
    }

    /// Schedules the known release of a link, if heads wait for it.
    #[inline]
    pub fn announce(&mut self, link: u32, wheel: &mut Wheel) {
        if !self.release_pending && self.free_at != UNKNOWN {
            self.release_pending = true;
            wheel.schedule(Event::Release(link).number(), self.free_at);
        }
    }

    /// Returns that of a link in no group.
    pub fn alone() -> Self {
        Self::new(Member { bit: 0, group: NONE }, NONE, false)
    }

    fn new(group: Member, switch: u32, deletes_header: bool) -> Self {
        Self {
            free_at: 0,
            last_grant: -1,
            wait_ticks: 0,
            group,
            others: NONE,
            release_pending: false,
            deletes_header,
            requested: 0,
            awaits: NONE,
            next: NONE,
            entry: NONE,
            switch,
        }
    }
}

#[cfg(test)]
mod tests;
