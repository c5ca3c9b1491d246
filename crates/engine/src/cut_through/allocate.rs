//! The grants of lanes to heads, decided once per tick after all events; then packets start.

use super::parts::{Event, Out, Stay};
use super::state::{Network, Packet, UNKNOWN};
use crate::fabric::{Fabric, NONE, arbiter, choice, rank};
use crate::kernel::Time;
use crate::kernel::random::Stream;
use crate::measure::Delivery;

/// A head that waits for a group. Those of one group are of different lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    /// When it requested.
    since: Time,
    lane: u32,
    stay: u32,
}

/// Lanes of which a head takes any, and the heads that wait for one, in order.
#[derive(Clone, Debug)]
pub(super) struct Group {
    waiting: Vec<Head>,
    /// The lane of the head that was granted last, or [`NONE`].
    served: u32,
    arbiter: u8,
    choice: u8,
    touched: bool,
}

/// All groups.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    rows: Vec<Group>,
    /// Per lane and one more: where the groups that contain it begin in the list.
    of_lane: Vec<u32>,
    list: Vec<u32>,
    streams: Vec<Stream>,
    /// Those to arbitrate in this tick.
    touched: Vec<u32>,
}

impl Groups {
    pub fn new(fabric: &Fabric) -> Self {
        let mut of_lane = vec![0; fabric.all_lanes() + 1];
        let mut members: Vec<(u32, u32)> = Vec::with_capacity(fabric.group_links.len());
        for group in 0..fabric.groups() as u32 {
            members.extend(fabric.group(group).iter().map(|&lane| (lane, group)));
        }
        members.sort_unstable();
        members.iter().for_each(|&(lane, _)| of_lane[lane as usize + 1] += 1);
        for lane in 1..of_lane.len() {
            of_lane[lane] += of_lane[lane - 1];
        }
        let rows = fabric.group_switch.iter().map(|&switch| Group {
            waiting: Vec::new(),
            served: NONE,
            arbiter: fabric.switch_arbiter[switch as usize],
            choice: fabric.switch_choice[switch as usize],
            touched: false,
        });
        Self {
            rows: rows.collect(),
            of_lane,
            list: members.into_iter().map(|(_, group)| group).collect(),
            streams: fabric.group_streams(),
            touched: Vec::new(),
        }
    }

    /// Returns the groups that contain a lane.
    #[inline(always)]
    pub fn of(&self, lane: u32) -> &[u32] {
        let lane = lane as usize;
        &self.list[self.of_lane[lane] as usize..self.of_lane[lane + 1] as usize]
    }

    /// Whether heads wait for a lane.
    #[inline(always)]
    pub fn are_awaited(&self, lane: u32) -> bool {
        self.of(lane).iter().any(|&group| !self.rows[group as usize].waiting.is_empty())
    }

    /// Returns the packets that wait for a group.
    pub fn waiting(&self, group: u32) -> impl Iterator<Item = u32> {
        self.rows[group as usize].waiting.iter().map(|head| head.stay)
    }

    /// Takes all heads that wait for a group; returns their packets.
    pub fn take_waiting(&mut self, group: u32) -> impl Iterator<Item = u32> + use<> {
        std::mem::take(&mut self.rows[group as usize].waiting).into_iter().map(|head| head.stay)
    }

    #[inline(always)]
    fn touch(&mut self, group: u32) {
        let at = &mut self.rows[group as usize];
        if !at.touched && !at.waiting.is_empty() {
            at.touched = true;
            self.touched.push(group);
        }
    }
}

impl Network {
    /// Queues the packet of a stay, whose request is due in this tick.
    #[inline(always)]
    pub fn request(&mut self, stay: u32) {
        if self.loses && !self.finds_route(stay) {
            return;
        }
        let Stay { lane, entry, .. } = self.stays[stay];
        let (group, head) = (entry >> 1, Head { since: self.now, lane, stay });
        let waiting = &mut self.groups.rows[group as usize].waiting;
        let place = waiting.iter().rposition(|&other| other < head).map_or(0, |place| place + 1);
        waiting.insert(place, head);
        // While others wait no lane is free, but for those that are released in this tick, which is an event.
        if waiting.len() == 1 || self.has_rings() {
            self.groups.touch(group);
        }
    }

    /// Returns the characters of packets whose heads wait for a group.
    pub fn waiting(&self, group: u32) -> u64 {
        self.groups.waiting(group).map(|stay| u64::from(self.stays[stay].length)).sum()
    }

    /// Handles the release of a lane in this tick.
    #[inline(always)]
    pub fn release(&mut self, lane: u32) {
        self.lanes[lane as usize].release_due = UNKNOWN;
        for place in 0..self.groups.of(lane).len() {
            self.groups.touch(self.groups.of(lane)[place]);
        }
    }

    /// Schedules when a lane for which heads wait can be granted, if that is known and it cannot already.
    #[inline(always)]
    pub(super) fn announce(&mut self, lane: u32) {
        let free_at = self.lanes[lane as usize].free_at;
        let time = if self.room == 0 || free_at == UNKNOWN { free_at } else { self.able_at(lane, free_at) };
        let at = &mut self.lanes[lane as usize];
        if time > self.now && time < at.release_due {
            at.release_due = time;
            self.schedule(Event::Release(lane), time);
        }
    }

    /// Makes all decisions of a tick: grants, in the order of groups; then packets start on wires.
    ///
    /// # Errors
    /// A switch and a class for which it has no route.
    #[inline]
    pub fn decide(&mut self) -> Result<(), (u32, u32)> {
        if self.groups.touched.len() > 1 {
            self.groups.touched.sort_unstable_by_key(|&group| std::cmp::Reverse(group));
        }
        while let Some(group) = self.groups.touched.pop() {
            self.serve(group);
        }
        while let Some(link) = self.starting.pop() {
            self.start(link);
        }
        self.no_route.map_or(Ok(()), Err)
    }

    /// Returns the lanes of a group that a head on lane `from` can be granted, in its order; `from` matters with rings.
    #[inline(always)]
    fn free(&self, group: u32, from: u32) -> impl Iterator<Item = u32> + Clone {
        let lanes = self.fabric.group(group).iter().copied();
        lanes.filter(move |&lane| self.lanes[lane as usize].free_at <= self.now && self.has_room(lane, from))
    }

    /// Grants lanes of a group until no head waits or none is free.
    fn serve(&mut self, group: u32) {
        self.groups.rows[group as usize].touched = false;
        while let Some((head, first)) = self.choose(group) {
            let output = self.choose_lane(group, head.lane, first);
            self.grant(head, output);
            if self.groups.rows[group as usize].waiting.is_empty() {
                return;
            }
        }
        for place in 0..self.fabric.group(group).len() {
            self.announce(self.fabric.group(group)[place]);
        }
    }

    /// Takes the head that is served next if a lane is free, and returns the first one.
    #[inline(always)]
    fn choose(&mut self, group: u32) -> Option<(Head, u32)> {
        if self.has_rings() {
            return self.choose_able(group);
        }
        let first = self.free(group, NONE).next()?;
        Some((self.choose_head(group), first))
    }

    /// The same, of the heads for which a lane is free.
    #[cold]
    fn choose_able(&mut self, group: u32) -> Option<(Head, u32)> {
        if self.fabric.group(group).iter().all(|&lane| self.lanes[lane as usize].free_at > self.now) {
            return None;
        }
        let all = std::mem::take(&mut self.groups.rows[group as usize].waiting);
        let (able, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|head| self.free(group, head.lane).next().is_some());
        let is_any = !able.is_empty();
        self.groups.rows[group as usize].waiting = able;
        let chosen = is_any.then(|| self.choose_head(group));
        let waiting = &mut self.groups.rows[group as usize].waiting;
        waiting.extend(others);
        waiting.sort_unstable();
        let head = chosen?;
        self.free(group, head.lane).next().map(|first| (head, first))
    }

    /// Takes the head that is served next.
    #[inline(always)]
    fn choose_head(&mut self, group: u32) -> Head {
        let at = &self.groups.rows[group as usize];
        let alone = at.waiting.len() == 1 && at.arbiter != arbiter::RANDOM;
        let place = if alone { 0 } else { self.choose_among(group) };
        let at = &mut self.groups.rows[group as usize];
        let head = at.waiting.remove(place);
        at.served = head.lane;
        head
    }

    /// Returns the index of the head that is served next, of those of the highest priority.
    fn choose_among(&mut self, group: u32) -> usize {
        let Self { groups, fabric, packets, stays, .. } = self;
        let Group { waiting, served, arbiter, .. } = &groups.rows[group as usize];
        let packet = |head: &Head| &packets[stays[head.stay].packet].delivery;
        let goes_first = |head: &Head| fabric.goes_first(packet(head).target);
        let ranks = !fabric.port_priority.is_empty() && waiting.iter().any(goes_first);
        let heads = || (0..).zip(waiting).filter(|&(_, head)| !ranks || goes_first(head));
        let chosen = match *arbiter {
            arbiter::FIFO => heads().next(),
            arbiter::RANDOM => {
                let drawn = groups.streams[group as usize].below(heads().count() as u32);
                heads().nth(drawn as usize)
            }
            kind => {
                let made = |head: &Head| packet(head).created;
                heads().min_by_key(|&(_, head)| rank(kind, head.lane, *served, || made(head)))
            }
        };
        chosen.expect("a head waits").0
    }

    /// Returns the lane that is granted to a head on lane `from`, of which the first free one is known.
    #[inline(always)]
    fn choose_lane(&mut self, group: u32, from: u32, first: u32) -> u32 {
        match self.groups.rows[group as usize].choice {
            choice::FIRST => first,
            choice::LEAST_RECENT => {
                let last_grant = |&lane: &u32| self.lanes[lane as usize].last_grant;
                self.free(group, from).min_by_key(last_grant).unwrap_or(first)
            }
            _ => {
                let count = self.free(group, from).count() as u32;
                let drawn = self.groups.streams[group as usize].below(count);
                self.free(group, from).nth(drawn as usize).unwrap_or(first)
            }
        }
    }

    /// Grants a lane to a head in this tick.
    #[inline(always)]
    fn grant(&mut self, head: Head, output: u32) {
        self.grants += 1;
        if self.congestion.is_some() {
            self.mark(head.stay, output);
        }
        let now = self.now;
        let Stay { packet, length, class, entry, is_cut, .. } = self.stays[head.stay];
        let link = self.lanes[output as usize].link;
        let deletes = entry & 1 == 1 || self.fabric.link_deletes_header[link as usize] == 1;
        let class = if deletes { self.last_class(packet) } else { class };
        let (deleted, crosses) = if self.uneven { self.shorten(head, link, deletes) } else { (0, now) };
        let length = length - deleted;
        let to = &mut self.lanes[output as usize];
        let number = to.granted;
        to.granted += i64::from(length);
        (to.free_at, to.last_grant) = (UNKNOWN, now);
        let new = Stay { lane: output, number, crosses, from: head.stay, ..Stay::new(packet, length, class) };
        let stay = self.stays.add(new);
        self.stays[head.stay].out = Out { lane: output, deleted, number, grant: now };
        if is_cut {
            self.grant_cut(head.stay, stay);
        }
        self.lanes[head.lane as usize].crossing.push(head.stay);
        let shared = &mut self.links[link as usize];
        shared.wait_ticks += (now - head.since) as u64;
        shared.waiting |= 1 << (output - link * self.fabric.lanes);
        let to = &mut self.lanes[output as usize];
        to.coming = stay;
        let before = std::mem::replace(&mut to.last, stay);
        let is_first = to.first == NONE;
        if is_first {
            to.first = stay;
        } else {
            self.stays[before].next = stay;
        }
        self.follow(stay);
        if is_first {
            self.look_again(output);
        }
    }

    /// Deletes the front header of a packet that is granted a lane of a link, if it is to be; returns its characters, and
    /// from when on the one behind them may cross so that all others can follow it.
    #[cold]
    fn shorten(&mut self, head: Head, link: u32, deletes: bool) -> (u32, Time) {
        let Stay { packet, lane, start, whole, .. } = self.stays[head.stay];
        let deleted = if deletes { self.front_header(packet) } else { 0 };
        let headers = &mut self.packets[packet].headers;
        *headers = headers.saturating_sub(u8::from(deletes));
        let from = self.lanes[lane as usize].link;
        let kind = self.kind(from);
        let arrival = kind.arrival(start);
        let crosses = self.now + Time::from(deleted) * Time::from(kind.crossbar);
        let follows = self.fabric.follow_ticks((whole, from), (whole - deleted, link));
        let arrives = kind.arrival(self.start_of(&self.stays[head.stay], deleted.into()));
        (deleted, crosses.max(arrives).max(arrival + follows))
    }

    /// Returns the class of a packet behind the deletion of a header, which is that of its destination.
    #[inline(always)]
    fn last_class(&self, packet: u32) -> u32 {
        let &Packet { delivery: Delivery { source, target, .. }, dispatch, .. } = &self.packets[packet];
        self.fabric.terminal_class[target as usize] + self.fabric.own_classes_since(source, target, dispatch)
    }
}
