//! What arbitration works with: groups, the links they give out and the heads that wait for them.
//!
//! Kept apart from the state of the links, so that a request or a grant reads a few short rows.

use std::hint::cold_path;

use super::link::{Link, Sent};
use super::state::{Event, Network, UNKNOWN};
use crate::fabric::{Fabric, NONE, arbiter, choice};
use crate::kernel::Time;
use crate::kernel::wheel::Wheel;
use crate::measure::LinkCounts;

/// Links at the beginning of a group that are looked up as bits of `Group::unheld`.
const BITS: usize = 64;

/// Links at the beginning of a group that are listed in its row.
const NEAR: usize = 4;

/// A link as something to be granted, and the head of the input buffer at its end as something that asks: together, for
/// a head asks soon after the link that it came by was granted.
#[derive(Clone, Debug)]
pub(super) struct Port {
    /// When the link may be granted again; [`UNKNOWN`] while its holder's end is not known.
    pub free_at: Time,
    /// Tick of the last grant, -1 if never.
    pub last_grant: Time,
    /// Ticks heads waited before they were granted this link, since the counts were cleared.
    pub wait_ticks: u64,
    /// The first group it is in; of a link in no group it is not read.
    group: Member,
    /// Its row in `Ports::others`, or [`NONE`] if it is in no other group.
    others: u32,
    /// Whether a release event is pending.
    release_pending: bool,
    /// Whether headers are deleted on the way into the link.
    pub deletes_header: bool,

    /// When the head asked.
    pub requested: Time,
    /// Group it waits for, or [`NONE`].
    pub awaits: u32,
    /// Next head in the queue of the group, or [`NONE`].
    pub next: u32,
    /// The route of its header, as in `Fabric::route`.
    pub entry: u32,
    /// Switch it stands at.
    pub switch: u32,
}

/// A group of equivalent links and the heads that wait for one of them.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Group {
    /// Which of its first [`BITS`] links nobody holds, or nobody will from a known tick on.
    unheld: u64,
    /// Where its links are in `Fabric::group_links`.
    start: u32,
    end: u32,
    /// The first of them.
    near: [u32; NEAR],
    /// Heads by time of request, equal times by link number.
    pub first: u32,
    pub last: u32,
    pub waiting: u32,
    /// Input link served last, for round robin.
    pub served: u32,
    pub arbiter: u8,
    pub choice: u8,
    /// Whether it is to be arbitrated in this tick.
    pub touched: bool,
    /// From when on all links of `unheld` can be granted: told here, so that their rows need not be read to choose one.
    free_from: Time,
}

/// A link's place in a group.
#[derive(Clone, Copy, Debug)]
struct Member {
    group: u32,
    /// Its bit in `Group::unheld`; [`BITS`] if it has none.
    place: u8,
}

/// All groups.
#[derive(Clone, Debug)]
pub(super) struct Ports {
    pub groups: Vec<Group>,
    /// Groups of links that are in several, but for the first.
    others: Vec<Box<[Member]>>,
}

impl Ports {
    /// The groups, and the links as such that are granted.
    pub fn new(fabric: &Fabric) -> (Self, Vec<Port>) {
        let mut of_link = vec![Vec::new(); fabric.links()];
        for group in 0..fabric.groups() as u32 {
            for (place, &link) in fabric.group(group).iter().enumerate() {
                of_link[link as usize].push(Member { group, place: place.min(BITS) as u8 });
            }
        }
        let mut others = Vec::new();
        let links = of_link.into_iter().zip(0..).map(|(members, link): (Vec<Member>, usize)| {
            let first = members.first().copied().unwrap_or(Member { group: NONE, place: 0 });
            let mut port = Port::new(first, fabric.link_target[link], fabric.link_deletes_header[link] != 0);
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

    /// The links of a group that may be free, in its order: all that are, and perhaps some that are not.
    #[inline]
    pub fn unheld<'a>(&'a self, fabric: &'a Fabric, group: u32) -> impl Iterator<Item = u32> + Clone + 'a {
        let group = &self.groups[group as usize];
        group.links(fabric, group.unheld).map(|(_, link)| link)
    }

    /// The links of a group that can be granted, in its order.
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

    /// Does something for each group that a link is in.
    #[inline(always)]
    fn for_groups(&mut self, port: &Port, mut act: impl FnMut(&mut Group, &Member)) {
        act(&mut self.groups[port.group.group as usize], &port.group);
        if port.others != NONE {
            cold_path();
            for member in &self.others[port.others as usize] {
                act(&mut self.groups[member.group as usize], member);
            }
        }
    }

    /// Somebody who has waited for a link holds it from now on.
    #[inline]
    pub fn hold(&mut self, port: &mut Port, now: Time, waited: Time) {
        port.free_at = UNKNOWN;
        port.last_grant = now;
        port.wait_ticks += waited as u64;
        self.for_groups(port, |group, member| group.unheld &= !member.bit());
    }

    /// Nobody holds a link from a tick on; true when heads wait for it.
    #[inline]
    pub fn unhold(&mut self, port: &mut Port, free_at: Time) -> bool {
        port.free_at = free_at;
        let mut awaited = false;
        self.for_groups(port, |group, member| {
            group.unheld |= member.bit();
            group.free_from = group.free_from.max(free_at);
            awaited |= group.waiting > 0;
        });
        awaited
    }

    /// A link's release has come: has its groups arbitrated.
    #[inline]
    pub fn release(&mut self, port: &mut Port, touched: &mut Vec<u32>) {
        port.release_pending = false;
        self.for_groups(port, |group, member| group.touch(member.group, touched));
    }

    /// Puts a head in its group's queue, behind those that asked before it.
    #[inline]
    pub fn enqueue(&mut self, links: &mut [Link], link: u32, now: Time) {
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
            return;
        }
        let last = group.last;
        if links[last as usize].port.requested == now && last > link {
            return self.insert(links, number, link);
        }
        group.last = link;
        links[last as usize].port.next = link;
    }

    /// Puts a head before those of higher number that asked in the same tick, of which there is one.
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

    /// The heads that wait for a group, in order.
    pub fn waiting<'a>(&'a self, links: &'a [Link], group: u32) -> impl Iterator<Item = u32> + 'a {
        let group = &self.groups[group as usize];
        let heads = std::iter::successors(Some(group.first), |&link| Some(links[link as usize].port.next));
        heads.take(group.waiting as usize)
    }

    /// Takes the head at a place out of a group's queue.
    #[inline]
    pub fn remove(&mut self, links: &mut [Link], group: u32, place: u32) -> u32 {
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
            unheld: (start..end).take(BITS).fold(0, |bits, link| bits | 1 << (link - start)),
            start,
            end,
            first: NONE,
            last: NONE,
            waiting: 0,
            served: NONE,
            arbiter: fabric.switch_arbiter[switch],
            choice: fabric.switch_choice[switch],
            touched: false,
            free_from: 0,
        }
    }

    /// Links of the group by bits, and those that have none, with their places; [`BITS`] for the latter.
    #[inline]
    fn links<'a>(&'a self, fabric: &'a Fabric, bits: u64) -> Unheld<'a> {
        Unheld { near: &self.near, links: &fabric.group_links, start: self.start, end: self.end, bits }
    }

    /// The first of its links that can be granted, if it is one of those in this row.
    #[inline]
    pub fn first_free(&self, links: &[Link], now: Time) -> Option<u32> {
        let mut bits = self.unheld;
        while let Some(&link) = self.near.get(bits.trailing_zeros() as usize) {
            if self.free_from <= now || links[link as usize].port.free_at <= now {
                return Some(link);
            }
            bits &= bits - 1;
        }
        None
    }

    /// Whether the first free link is granted to the head that has waited longest, whatever came before.
    #[inline]
    pub fn is_simple(&self) -> bool {
        let first = self.arbiter == arbiter::FIFO || (self.waiting == 1 && self.arbiter != arbiter::RANDOM);
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

    /// Whether all its links are listed in this row.
    #[inline]
    pub fn is_near(&self) -> bool {
        self.end - self.start <= NEAR as u32
    }

    /// Whether it is known that each of its links is held.
    #[inline]
    pub fn is_held(&self) -> bool {
        self.unheld == 0 && self.end - self.start <= BITS as u32
    }

    /// Has the group arbitrated in this tick, if heads wait for it and a link may be free or have to be announced.
    #[inline]
    pub fn touch(&mut self, number: u32, touched: &mut Vec<u32>) {
        if !self.touched && !self.is_held() && self.waiting > 0 {
            self.touched = true;
            touched.push(number);
        }
    }
}

impl Member {
    #[inline]
    fn bit(&self) -> u64 {
        1u64.checked_shl(u32::from(self.place)).unwrap_or(0)
    }
}

/// Goes through [`Group::links`].
#[derive(Clone)]
struct Unheld<'a> {
    near: &'a [u32; NEAR],
    links: &'a [u32],
    start: u32,
    end: u32,
    bits: u64,
}

impl Iterator for Unheld<'_> {
    type Item = (usize, u32);

    #[inline]
    fn next(&mut self) -> Option<(usize, u32)> {
        if self.bits != 0 {
            let place = self.bits.trailing_zeros();
            self.bits &= self.bits - 1;
            let near = self.near.get(place as usize).copied();
            let link = near.unwrap_or_else(|| self.links[(self.start + place) as usize]);
            return Some((place as usize, link));
        }
        // Links of no bit come last.
        if self.end - self.start <= BITS as u32 {
            return None;
        }
        self.start += 1;
        Some((BITS, self.links[self.start as usize + BITS - 1]))
    }
}

impl Port {
    /// Whether the header of the head is to be deleted on the way out.
    #[inline]
    pub fn strips(&self) -> bool {
        self.entry & 1 == 1
    }

    /// Makes sure that waiting heads hear of a link whose release is known.
    #[inline]
    pub fn announce(&mut self, link: u32, wheel: &mut Wheel) {
        if !self.release_pending && self.free_at != UNKNOWN {
            self.release_pending = true;
            wheel.schedule(Event::Release(link).number(), self.free_at);
        }
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

impl Network {
    /// What every link did since the last [`Network::clear_counts`].
    pub fn counts(&self) -> impl Iterator<Item = LinkCounts> {
        self.links.iter().map(|link| {
            let Sent { packets, characters, ticks } = link.sent;
            let kind = self.kind(link);
            let busy = (characters - packets) * u64::from(kind.character) + packets * u64::from(kind.end);
            let (busy_ticks, stalled_ticks, wait_ticks) = (busy, ticks - busy, link.port.wait_ticks);
            LinkCounts { packets, characters, busy_ticks, stalled_ticks, wait_ticks }
        })
    }

    /// Starts counting anew.
    pub fn clear_counts(&mut self) {
        for link in &mut self.links {
            link.sent = Sent::default();
            link.port.wait_ticks = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::link::Kind;
    use super::*;

    /// One switch with two groups: links 0 to 69, and links 69 down to 67.
    fn ports() -> (Fabric, Ports, Vec<Link>) {
        let fabric = Fabric {
            link_source: vec![0; 70],
            link_target: vec![0; 70],
            link_deletes_header: vec![0; 70],
            group_switch: vec![0, 0],
            group_start: vec![0, 70, 73],
            group_links: (0..70).chain([69, 68, 67]).collect(),
            switch_arbiter: vec![0],
            switch_choice: vec![0],
            ..Fabric::default()
        };
        let (ports, rows) = Ports::new(&fabric);
        let kind = Kind { quantum: 1, ..Kind::default() };
        let rows = rows.into_iter().map(|port| Port { entry: 0, ..port });
        let links = rows.map(|port| Link::new(0, &kind, port)).collect();
        (fabric, ports, links)
    }

    #[test]
    fn links_beyond_the_bits_of_a_group_are_not_lost() {
        let (fabric, mut ports, mut links) = ports();
        for link in (0..62).chain([63, 68]) {
            ports.hold(&mut links[link].port, 5, 0);
        }
        assert_eq!(ports.unheld(&fabric, 0).collect::<Vec<_>>(), [62, 64, 65, 66, 67, 68, 69]);
        assert_eq!(ports.unheld(&fabric, 1).collect::<Vec<_>>(), [69, 67]);
        ports.unhold(&mut links[7].port, 9);
        ports.unhold(&mut links[68].port, 9);
        assert_eq!(ports.unheld(&fabric, 0).collect::<Vec<_>>()[..3], [7, 62, 64]);
        assert_eq!(ports.unheld(&fabric, 1).collect::<Vec<_>>(), [69, 68, 67]);
    }

    #[test]
    fn heads_queue_by_time_and_number() {
        let (_, mut ports, mut links) = ports();
        for (link, now) in [(9, 1), (8, 2), (30, 3), (20, 3), (25, 3), (10, 3), (40, 3), (1, 4)] {
            ports.enqueue(&mut links, link, now);
        }
        assert_eq!(ports.waiting(&links, 0).collect::<Vec<_>>(), [9, 8, 10, 20, 25, 30, 40, 1]);
        assert_eq!([7, 3, 0].map(|place| ports.remove(&mut links, 0, place)), [1, 20, 9]);
        ports.enqueue(&mut links, 2, 5);
        assert_eq!(ports.waiting(&links, 0).collect::<Vec<_>>(), [8, 10, 25, 30, 40, 2]);
    }
}
