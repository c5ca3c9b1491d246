//! The grants of lanes to heads, decided once per tick after all events, and the other decisions of a tick.

use super::packet::Header;
use super::parts::Outgoing;
use super::state::{Network, UNKNOWN};
use crate::fabric::{NONE, arbiter, choice, rank};
use crate::kernel::Time;

impl Network {
    /// Queues the head of this queue, whose request is due in this tick.
    pub fn request(&mut self, queue: u32) {
        let at = &mut self.queues[queue as usize];
        if at.asks_at != self.agenda.now {
            // The head that had to request now has been lost.
            return;
        }
        at.asks_at = UNKNOWN;
        let (lane, packet, left) = (at.lane, at.front().packet, at.front().left);
        let (switch, (header, class)) = (self.switch_at(lane), self.front_header(packet));
        if left <= header {
            // A truncated header has no route.
            return self.spill(queue);
        }
        let by_output = self.fabric.output_queues == 1;
        let table =
            if by_output { self.packets[packet].table } else { self.fabric.table_at(self.agenda.now) };
        let entry = self.entry(table, switch, class, packet);
        if entry == NONE && self.fabric.has_tables() {
            return self.discard(queue);
        }
        if entry == NONE {
            self.no_route = Some((switch, class));
            return;
        }
        if !self.runs(entry >> 1) {
            return self.discard(queue);
        }
        let (group, at) = (entry >> 1, &mut self.queues[queue as usize]);
        (at.awaits, at.strips, at.since) = (group, entry & 1 == 1, self.agenda.now);
        if self.fabric.takes_all(group) {
            return self.wait_for_all(switch, queue);
        }
        let waiting = &mut self.groups[group as usize].waiting;
        let place = waiting.partition_point(|&other| other < (self.agenda.now, queue));
        waiting.insert(place, (self.agenda.now, queue));
        self.touch(group);
    }

    /// Returns the characters that were granted a lane and whose credit has not come back, by the quantum; 0 into terminals.
    pub fn occupied(&self, lane: u32) -> u64 {
        let at = &self.lanes[lane as usize];
        let link = &self.links[at.link as usize];
        if link.to_terminal {
            return 0;
        }
        let unsent: u32 = at.outgoing.iter().map(|packet| packet.length - packet.sent).sum();
        u64::from((unsent + link.promised()).saturating_sub(at.credit.by(self.agenda.now, link.quantum)))
    }

    /// Returns the characters of packets whose heads wait for a group.
    pub fn waiting(&self, group: u32) -> u64 {
        let heads = self.groups[group as usize].waiting.iter();
        heads.map(|&(_, queue)| u64::from(self.queues[queue as usize].front().left)).sum()
    }

    /// Frees a lane in this tick.
    pub fn release(&mut self, lane: u32) {
        self.set_holder(lane, NONE);
        for place in 0..self.groups_of[lane as usize].len() {
            self.touch(self.groups_of[lane as usize][place]);
        }
    }

    pub(super) fn touch(&mut self, group: u32) {
        if self.distributions.is_some() && self.fabric.takes_all(group) {
            return self.touch_all(group);
        }
        let at = &mut self.groups[group as usize];
        if !at.touched && !at.waiting.is_empty() {
            at.touched = true;
            self.touched.push(group);
        }
    }

    /// Makes all decisions of a tick: grants of single lanes, grants of several lanes, crossings, then starts on wires.
    ///
    /// # Errors
    /// A switch and a class for which it has no route.
    pub fn decide(&mut self) -> Result<(), (u32, u32)> {
        if let Some(no_route) = self.no_route {
            return Err(no_route);
        }
        self.touched.sort_unstable_by_key(|&group| std::cmp::Reverse(group));
        while let Some(group) = self.touched.pop() {
            self.serve(group);
        }
        self.distribute();
        self.look_ahead();
        loop {
            while let Some(link) = self.agenda.crossing.pop() {
                self.cross(link);
            }
            self.take_nominated();
            while let Some(link) = self.agenda.starting.pop() {
                self.start(link);
            }
            if self.agenda.crossing.is_empty() {
                break;
            }
        }
        self.look_at_stores();
        Ok(())
    }

    /// Grants lanes of a group until no waiting head finds a free one.
    #[inline(never)]
    fn serve(&mut self, group: u32) {
        self.groups[group as usize].touched = false;
        while self.serves(group) {
            let head = self.choose_head(group);
            let output = self.choose_lane(group, head);
            self.grant(head.1, output);
        }
    }

    /// Whether a head that waits for a group can be granted a lane. Without distributions a free lane is free for all.
    fn serves(&self, group: u32) -> bool {
        let waiting = &self.groups[group as usize].waiting;
        match waiting.first() {
            Some(&first) if self.distributions.is_none() => self.is_able(group, first),
            _ => waiting.iter().any(|&head| self.is_able(group, head)),
        }
    }

    /// Returns the free lanes of a group, as bits of links, in order of preference.
    #[inline(always)]
    fn free_of_links(&self, group: u32) -> impl Iterator<Item = (u32, u32)> {
        let lanes = self.groups[group as usize].lanes.iter();
        lanes.map(|&(link, lanes)| {
            let at = &self.links[link as usize];
            (link, if at.down { 0 } else { at.free & lanes })
        })
    }

    /// Collects the lanes of a group that a head can be granted, in order of preference.
    fn find_free(&mut self, group: u32, head: (Time, u32)) {
        let (mut found, all) = (std::mem::take(&mut self.found), self.distributions.is_none());
        found.clear();
        for (link, free) in self.free_of_links(group) {
            let lanes = self.lanes_of(link, free);
            lanes
                .filter(|&lane| all || self.kept_for(lane, head).is_none())
                .for_each(|lane| found.push(lane));
        }
        self.found = found;
    }

    /// Returns some lanes of a link, given as bits, in ascending order.
    #[inline(always)]
    fn lanes_of(&self, link: u32, mut bits: u32) -> impl Iterator<Item = u32> + use<> {
        let first = link * self.fabric.lanes;
        std::iter::from_fn(move || {
            let lane = (bits != 0).then(|| first + bits.trailing_zeros())?;
            bits &= bits - 1;
            Some(lane)
        })
    }

    fn is_able(&self, group: u32, head: (Time, u32)) -> bool {
        let mut links = self.free_of_links(group);
        if self.distributions.is_none() {
            return links.any(|(_, free)| free != 0);
        }
        links.any(|(link, free)| self.lanes_of(link, free).any(|lane| self.kept_for(lane, head).is_none()))
    }

    /// Takes the head that is served next from those that wait and can be served.
    fn choose_head(&mut self, group: u32) -> (Time, u32) {
        let switch = self.fabric.group_switch[group as usize];
        let only = self.distributions.is_none() && self.groups[group as usize].waiting.len() == 1;
        let chosen = match self.fabric.switch_arbiter[switch as usize] {
            kind if only && kind != arbiter::RANDOM => Some((0, self.groups[group as usize].waiting[0])),
            arbiter::FIFO => self.heads(group).next(),
            arbiter::RANDOM => {
                let count = self.heads(group).count() as u32;
                let drawn = self.streams[group as usize].below(count);
                self.heads(group).nth(drawn as usize)
            }
            kind => {
                // No group has two heads of one lane, so queues are in the order of lanes.
                let served = self.groups[group as usize].served;
                let made =
                    |head: u32| self.packets[self.queues[head as usize].front().packet].delivery.created;
                let ranked = |&(_, (_, head)): &(usize, (Time, u32))| rank(kind, head, served, || made(head));
                self.heads(group).min_by_key(ranked)
            }
        };
        let (place, _) = chosen.expect("a head waits");
        let head = self.groups[group as usize].waiting.remove(place);
        self.groups[group as usize].served = head.1;
        head
    }

    /// Returns the heads of the highest priority that wait and can be granted a lane, with their indices.
    fn heads(&self, group: u32) -> impl Iterator<Item = (usize, (Time, u32))> {
        let goes_first = |head: (Time, u32)| {
            let packet = self.queues[head.1 as usize].front().packet;
            self.fabric.goes_first(self.packets[packet].delivery.target)
        };
        let all = self.distributions.is_none();
        let waiting = (0..).zip(self.groups[group as usize].waiting.iter().copied());
        let able = waiting.filter(move |&(_, head)| all || self.is_able(group, head));
        let ranks = !self.fabric.port_priority.is_empty();
        let any = ranks && able.clone().any(|(_, head)| goes_first(head));
        able.filter(move |&(_, head)| !any || goes_first(head))
    }

    fn choose_lane(&mut self, group: u32, head: (Time, u32)) -> u32 {
        self.find_free(group, head);
        let switch = self.fabric.group_switch[group as usize];
        let mut found = self.found.iter().copied();
        let chosen = match self.fabric.switch_choice[switch as usize] {
            choice::FIRST => found.next(),
            choice::LEAST_RECENT => found.min_by_key(|&lane| self.lanes[lane as usize].last_grant),
            _ => {
                let drawn = self.streams[group as usize].below(found.len() as u32);
                found.nth(drawn as usize)
            }
        };
        chosen.expect("a lane is free")
    }

    /// Grants a lane to the head of a queue in this tick.
    pub(super) fn grant(&mut self, queue: u32, output: u32) {
        self.grants += 1;
        let link = self.fabric.link_of(output);
        let at = &self.queues[queue as usize];
        let (lane, number, left, since) = (at.lane, at.front().packet, at.front().left, at.since);
        let strips = at.strips;
        if self.congestion.is_some() {
            self.mark(lane, number, output);
        }
        let mut delete = 0;
        if self.fabric.deletes_address(link) {
            delete = 1;
            self.packets[number].address -= 1;
        } else if strips || self.fabric.link_deletes_header[link as usize] == 1 {
            (delete, _) = self.front_header(number);
            let header = &mut self.packets[number].header;
            *header = if *header == Header::Via { Header::Final } else { Header::Deleted };
        }
        let at = &mut self.queues[queue as usize];
        (at.awaits, at.output, at.delete) = (NONE, output, delete);
        self.hold(output, queue, since, number, left - delete);
        let crossing = &mut self.links[self.fabric.link_of(lane) as usize].port.crossing;
        let place = crossing.partition_point(|&other| other < queue);
        crossing.insert(place, queue);
        self.may_cross(queue);
        self.watch_from_grant(queue);
    }

    /// Makes the packet at the front of a queue hold a lane.
    pub(super) fn hold(&mut self, output: u32, queue: u32, since: Time, packet: u32, length: u32) {
        let link = self.fabric.link_of(output);
        self.links[link as usize].counts.wait_ticks += (self.agenda.now - since) as u64;
        let needed = self.needed_for(packet);
        self.set_holder(output, queue);
        let to = &mut self.lanes[output as usize];
        to.last_grant = self.agenda.now;
        let follows_at = self.follows_at(queue, link, packet);
        let outgoing = Outgoing { follows_at, ..Outgoing::new(packet, length, needed) };
        self.lanes[output as usize].outgoing.push_back(outgoing);
    }

    /// Returns when all characters of a packet that holds an output on a link can follow the first one, if they have to.
    fn follows_at(&self, queue: u32, link: u32, packet: u32) -> Time {
        if !self.gapless {
            return 0;
        }
        let at = &self.queues[queue as usize];
        let (from, characters) = (self.fabric.link_of(at.lane), self.characters(packet));
        let forward = Time::from(self.fabric.switch_forward_ticks[self.switch_at(at.lane) as usize]);
        let follows = self.fabric.follow_ticks((characters + at.delete, from), (characters, link));
        at.arrivals.first() + follows + forward
    }

    /// Records the queue whose packet holds a lane, or that none does.
    pub(super) fn set_holder(&mut self, lane: u32, queue: u32) {
        let at = &mut self.lanes[lane as usize];
        let free = &mut self.links[at.link as usize].free;
        *free = if queue == NONE { *free | at.bit } else { *free & !at.bit };
        at.holder = queue;
    }
}
