//! What arbitration works with: groups, the links they give out and the heads that wait for them.
//!
//! Kept apart from the state of the links, so that a request or a grant reads a few short rows.

use super::state::{Event, Network, UNKNOWN};
use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;
use crate::kernel::wheel::Wheel;

/// Links at the beginning of a group that are looked up as bits of `Group::unheld`.
const BITS: usize = 64;

/// What a link did since the counts were last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets sent completely.
    pub packets: u64,
    /// Characters sent, headers and ends of packets included.
    pub characters: u64,
    /// Ticks the wire was sending them.
    pub busy_ticks: u64,
    /// Ticks from a packet's first character on the wire to its last, less `busy_ticks`.
    pub stalled_ticks: u64,
    /// Ticks heads waited before they were granted this link.
    pub wait_ticks: u64,
}

/// A link as something to be granted, in one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Output {
    /// When it may be granted again; [`UNKNOWN`] while its holder's end is not known.
    pub free_at: Time,
    /// Tick of the last grant, -1 if never.
    pub last_grant: Time,
    /// The first group it is in, or [`NONE`].
    group: Member,
    /// Its row in `Ports::others`, or [`NONE`] if it is in no other group.
    others: u32,
    /// Whether a release event is pending.
    release_pending: bool,
    /// Packets sent completely, since the counts were cleared.
    pub packets: u64,
    /// Their characters.
    pub characters: u64,
    /// Ticks from the first character of each on the wire to the last.
    pub sending_ticks: u64,
    /// Ticks heads waited before they were granted this link.
    pub wait_ticks: u64,
}

/// The head of an input buffer as something that asks.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// When it asked.
    pub requested: Time,
    /// Group it waits for, or [`NONE`].
    pub group: u32,
    /// Next head in the queue of the group, or [`NONE`].
    pub next: u32,
    /// Switch it stands at.
    pub switch: u32,
    /// Class of its header.
    pub class: u32,
    /// Whether its header is to be deleted on the way out.
    pub strips: bool,
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
}

/// A link's place in a group.
#[derive(Clone, Copy, Debug)]
struct Member {
    group: u32,
    /// Its bit in `Group::unheld`; [`BITS`] if it has none.
    place: u8,
}

/// Groups, outputs and heads, by group, link and link.
#[derive(Clone, Debug)]
pub(super) struct Ports {
    pub groups: Vec<Group>,
    pub outputs: Vec<Output>,
    pub heads: Vec<Head>,
    /// Groups of links that are in several, but for the first.
    others: Vec<Box<[Member]>>,
}

impl Ports {
    pub fn new(fabric: &Fabric) -> Self {
        let mut of_link = vec![Vec::new(); fabric.links()];
        for group in 0..fabric.groups() as u32 {
            for (place, &link) in fabric.group(group).iter().enumerate() {
                of_link[link as usize].push(Member { group, place: place.min(BITS) as u8 });
            }
        }
        let mut others = Vec::new();
        let outputs = of_link.into_iter().map(|mut members| {
            let first = if members.is_empty() { Member { group: NONE, place: 0 } } else { members.remove(0) };
            let mut output = Output::new(first);
            if !members.is_empty() {
                output.others = others.len() as u32;
                others.push(members.into_boxed_slice());
            }
            output
        });
        Self {
            outputs: outputs.collect(),
            groups: (0..fabric.groups()).map(|group| Group::new(fabric, group)).collect(),
            heads: fabric.link_target.iter().map(|&switch| Head::new(switch)).collect(),
            others,
        }
    }

    /// The links of a group that may be free, in its order: all that are, and perhaps some that are not.
    #[inline]
    pub fn unheld<'a>(&self, fabric: &'a Fabric, group: u32) -> Unheld<'a> {
        let group = &self.groups[group as usize];
        Unheld { links: &fabric.group_links, start: group.start, end: group.end, bits: group.unheld }
    }

    /// Does something for each group that a link is in.
    #[inline(always)]
    fn for_groups(&mut self, link: u32, mut act: impl FnMut(&mut Group, &Member)) {
        let output = &self.outputs[link as usize];
        act(&mut self.groups[output.group.group as usize], &output.group);
        if output.others != NONE {
            for member in &self.others[output.others as usize] {
                act(&mut self.groups[member.group as usize], member);
            }
        }
    }

    /// Somebody who has waited for a link holds it from now on.
    #[inline]
    pub fn hold(&mut self, link: u32, now: Time, waited: Time) {
        let output = &mut self.outputs[link as usize];
        output.free_at = UNKNOWN;
        output.last_grant = now;
        output.wait_ticks += waited as u64;
        self.for_groups(link, |group, member| group.unheld &= !member.bit());
    }

    /// Nobody holds a link from a tick on; true when heads wait for it.
    #[inline]
    pub fn unhold(&mut self, link: u32, free_at: Time) -> bool {
        self.outputs[link as usize].free_at = free_at;
        let mut awaited = false;
        self.for_groups(link, |group, member| {
            group.unheld |= member.bit();
            awaited |= group.waiting > 0;
        });
        awaited
    }

    /// Makes sure that waiting heads hear of a link whose release is known.
    #[inline]
    pub fn announce(&mut self, link: u32, wheel: &mut Wheel) {
        let output = &mut self.outputs[link as usize];
        if !output.release_pending && output.free_at != UNKNOWN {
            output.release_pending = true;
            wheel.schedule(Event::Release(link).number(), output.free_at);
        }
    }

    /// A link's release has come: has its groups arbitrated.
    #[inline]
    pub fn release(&mut self, link: u32, touched: &mut Vec<u32>) {
        self.outputs[link as usize].release_pending = false;
        self.for_groups(link, |group, member| group.touch(member.group, touched));
    }

    /// Puts a head in its group's queue, behind those that asked before it.
    #[inline]
    pub fn enqueue(&mut self, link: u32, now: Time, entry: u32) {
        let number = entry >> 1;
        let group = &mut self.groups[number as usize];
        let head = &mut self.heads[link as usize];
        *head = Head { group: number, strips: entry & 1 == 1, requested: now, next: NONE, ..*head };
        group.waiting += 1;
        if group.waiting == 1 {
            group.first = link;
            group.last = link;
            return;
        }
        let last = group.last;
        if self.heads[last as usize].requested == now && last > link {
            return self.insert(number, link);
        }
        group.last = link;
        self.heads[last as usize].next = link;
    }

    /// Puts a head before those of higher number that asked in the same tick, of which there is one.
    #[cold]
    fn insert(&mut self, group: u32, link: u32) {
        let now = self.heads[link as usize].requested;
        let (mut before, mut next) = (NONE, self.groups[group as usize].first);
        while self.heads[next as usize].requested < now || next < link {
            (before, next) = (next, self.heads[next as usize].next);
        }
        self.heads[link as usize].next = next;
        match before {
            NONE => self.groups[group as usize].first = link,
            _ => self.heads[before as usize].next = link,
        }
    }

    /// The heads that wait for a group, in order.
    pub fn waiting(&self, group: u32) -> impl Iterator<Item = u32> {
        let group = &self.groups[group as usize];
        let heads = std::iter::successors(Some(group.first), |&link| Some(self.heads[link as usize].next));
        heads.take(group.waiting as usize)
    }

    /// Takes the head at a place out of a group's queue.
    #[inline]
    pub fn remove(&mut self, group: u32, place: u32) -> u32 {
        let queue = &mut self.groups[group as usize];
        queue.waiting -= 1;
        if place == 0 {
            let first = queue.first;
            queue.first = self.heads[first as usize].next;
            return first;
        }
        let before = self.waiting(group).nth(place as usize - 1).expect("a place in the queue");
        let taken = self.heads[before as usize].next;
        let next = self.heads[taken as usize].next;
        self.heads[before as usize].next = next;
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
        Self {
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
        }
    }

    /// Has the group arbitrated in this tick, if heads wait for it.
    #[inline]
    pub fn touch(&mut self, number: u32, touched: &mut Vec<u32>) {
        if !self.touched && self.waiting > 0 {
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

/// Goes through [`Ports::unheld`].
#[derive(Clone)]
pub(super) struct Unheld<'a> {
    links: &'a [u32],
    start: u32,
    end: u32,
    bits: u64,
}

impl Iterator for Unheld<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.bits != 0 {
            let place = self.bits.trailing_zeros();
            self.bits &= self.bits - 1;
            return Some(self.links[(self.start + place) as usize]);
        }
        // Links of no bit come last.
        if self.end - self.start <= BITS as u32 {
            return None;
        }
        self.start += 1;
        Some(self.links[self.start as usize + BITS - 1])
    }
}

impl Output {
    fn new(group: Member) -> Self {
        Self {
            free_at: 0,
            last_grant: -1,
            group,
            others: NONE,
            release_pending: false,
            packets: 0,
            characters: 0,
            sending_ticks: 0,
            wait_ticks: 0,
        }
    }
}

impl Head {
    fn new(switch: u32) -> Self {
        Self { requested: 0, group: NONE, next: NONE, switch, class: 0, strips: false }
    }
}

impl Network {
    /// What every link did since the last [`Network::clear_counts`].
    pub fn counts(&self) -> impl Iterator<Item = Counts> {
        let rows = self.ports.outputs.iter().zip(&self.fabric.link_character_ticks);
        rows.zip(&self.fabric.link_end_ticks).map(|((output, &character), &end)| {
            let &Output { packets, characters, sending_ticks, wait_ticks, .. } = output;
            let busy_ticks = (characters - packets) * u64::from(character) + packets * u64::from(end);
            Counts { packets, characters, busy_ticks, stalled_ticks: sending_ticks - busy_ticks, wait_ticks }
        })
    }

    /// Starts counting anew.
    pub fn clear_counts(&mut self) {
        for output in &mut self.ports.outputs {
            *output = Output { packets: 0, characters: 0, sending_ticks: 0, wait_ticks: 0, ..output.clone() };
        }
    }
}
