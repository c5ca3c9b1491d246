//! Inside a switch: headers, requests, arbitration, the crossbar, packets that go to several links at once.

use fabriloom_engine::fabric::{NONE, arbiter, choice, sharing};
use fabriloom_engine::kernel::Time;

use crate::event::What;
use crate::parts::{Character, Front, Head, Kind, Place};
use crate::twin::Twin;

impl Twin<'_> {
    /// Returns the switch at the target of a lane.
    pub(crate) fn switch_at(&self, lane: u32) -> usize {
        let vertex = self.fabric.link_target[self.fabric.link_of(lane) as usize];
        assert!(!self.fabric.is_terminal(vertex), "lane {lane} does not enter a switch");
        vertex as usize
    }

    /// Returns characters and class of the front header of a packet.
    pub(crate) fn front_header(&self, packet: usize) -> (u32, u32) {
        let worm = &self.worms[packet];
        // Packets of a traffic class have their own routes.
        let own = self.fabric.class_headers.get(worm.class).copied().unwrap_or(0);
        let class = self.fabric.terminal_class[worm.packet.target as usize] + own;
        if worm.address > 0 {
            return (1, class);
        }
        match (worm.has_via, worm.has_header) {
            (true, _) => {
                (self.fabric.via_header_chars, self.fabric.via_class[worm.packet.via as usize] + own)
            }
            (false, true) => (self.fabric.header_chars, class),
            (false, false) => (0, class),
        }
    }

    /// Returns the group for a packet at the target of a lane, and whether its front header is deleted; None if a
    /// replaced table has no route.
    pub(crate) fn routed(&self, lane: u32, packet: usize) -> Option<(u32, bool)> {
        let (switch, (_, class)) = (self.switch_at(lane), self.front_header(packet));
        // A queue of its output has been chosen by then.
        let table = if self.fabric.output_queues != 0 { self.worms[packet].table } else { self.table };
        let entry = self.fabric.entry(table, switch as u32, class);
        assert!(entry != NONE || self.fabric.has_tables(), "switch {switch} has no route for class {class}");
        let worm = &self.worms[packet];
        let entry = self.fabric.drawn(entry, switch as u32, class, (worm.source, worm.packet.dispatch));
        (entry != NONE).then_some((entry >> 1, entry & 1 == 1))
    }

    pub(crate) fn front(&self, place: Place) -> Front {
        self.lanes[place.lane as usize].queues[&place.queue].front
    }

    pub(crate) fn set_front(&mut self, place: Place, front: Front) {
        self.lanes[place.lane as usize].queues.get_mut(&place.queue).expect("a queue").front = front;
    }

    /// Returns the packet at the front of a queue.
    pub(crate) fn first(&self, place: Place) -> usize {
        self.lanes[place.lane as usize].queues[&place.queue].packets[0].0
    }

    /// Puts an arrived character into its queue, or keeps it until the header determines the queue.
    pub(crate) fn sort_in(&mut self, lane: u32, character: Character) {
        let state = &mut self.lanes[lane as usize];
        state.coming += 1;
        if let Some(queue) = state.receiving {
            let packets = &mut state.queues.get_mut(&queue).expect("its queue").packets;
            packets.back_mut().expect("its packet").1.push_back(character);
            if character.kind == Kind::End {
                state.receiving = None;
                self.store(Place { lane, queue });
            }
            return self.look_at_header(Place { lane, queue });
        }
        if state.entering.is_empty() {
            (self.worms[character.packet].table, self.worms[character.packet].arrived) =
                (self.table, self.now);
        }
        state.entering.push_back(character);
        let (header, _) = self.front_header(character.packet);
        let is_there = self.lanes[lane as usize].entering.len() >= header.max(1) as usize;
        if !is_there && character.kind != Kind::End {
            return;
        }
        let by_group = self.fabric.output_queues != 0;
        let queue = if by_group { self.routed(lane, character.packet).map_or(NONE, |to| to.0) } else { 0 };
        let state = &mut self.lanes[lane as usize];
        state.receiving = (character.kind != Kind::End).then_some(queue);
        let characters = std::mem::take(&mut state.entering);
        state.queues.entry(queue).or_default().packets.push_back((character.packet, characters));
        if character.kind == Kind::End {
            self.store(Place { lane, queue });
        }
        self.look_at_header(Place { lane, queue });
    }

    /// Starts decoding if there is a packet at the front.
    fn look_at_header(&mut self, place: Place) {
        let queue = &self.lanes[place.lane as usize].queues[&place.queue];
        let Some((_, characters)) = queue.packets.front() else { return };
        let is_stored = characters.back().is_some_and(|last| last.kind == Kind::End);
        let waits = self.fabric.store_and_forward != 0 && !is_stored;
        if queue.front != Front::Nothing || waits {
            return;
        }
        let decode = self.fabric.switch_decode_ticks[self.switch_at(place.lane)];
        self.set_front(place, Front::Decoding);
        let Place { lane, queue } = place;
        self.agenda.add(self.now + i64::from(decode), What::Request { lane, queue });
    }

    /// Adds a head to those that wait for its group.
    pub(crate) fn request(&mut self, place: Place) {
        if self.has_no_header(place) {
            return self.spill(place);
        }
        let routed = self.routed(place.lane, self.first(place));
        let Some((group, strip)) = routed.filter(|&(group, _)| self.runs(group)) else {
            return self.discard(place);
        };
        self.set_front(place, Front::Waiting { strip });
        let head = Head { since: self.now, place };
        if self.fabric.takes_all(group) {
            return self.wait_for_all(self.fabric.group_switch[group as usize], head);
        }
        let waiting = &mut self.groups[group as usize].waiting;
        waiting.push(head);
        waiting.sort();
        self.agenda.add(self.now, What::Arbitrate { group });
    }

    /// Grants until no waiting head finds a free lane.
    pub(crate) fn arbitrate(&mut self, group: u32) {
        if self.fabric.takes_all(group) {
            let switch = self.fabric.group_switch[group as usize];
            return self.agenda.add(self.now, What::Distribute { switch });
        }
        loop {
            let waiting = self.groups[group as usize].waiting.clone();
            let able = waiting.into_iter().filter(|&head| !self.free_for(group, head).is_empty()).collect();
            let Some(head) = self.choose_head(group, able) else { return };
            let free = self.free_for(group, head);
            let output = self.choose_lane(group, &free);
            self.grant(group, head, output);
        }
    }

    /// Returns the lanes of a group that a head can be granted.
    fn free_for(&self, group: u32, head: Head) -> Vec<u32> {
        let lanes = self.fabric.group(group).iter().copied();
        let is_free = |&lane: &u32| self.lanes[lane as usize].holder.is_none() && !self.is_down(lane);
        lanes.filter(|lane| is_free(lane) && self.has_room(*lane, head) && !self.keeps(*lane, head)).collect()
    }

    /// Returns which of several heads is served next.
    fn choose_head(&mut self, group: u32, able: Vec<Head>) -> Option<Head> {
        if able.is_empty() {
            return None;
        }
        let kind = self.fabric.switch_arbiter[self.fabric.group_switch[group as usize] as usize];
        let waiting = self.first_to_go(&able);
        let made = |head: &&Head| (self.worms[self.first(head.place)].packet.created, head.place);
        let oldest = waiting.iter().min_by_key(made).copied();
        let state = &mut self.groups[group as usize];
        let lowest = waiting.iter().min_by_key(|head| head.place).copied();
        match kind {
            arbiter::FIFO => waiting.first().copied(),
            arbiter::FIXED => lowest,
            arbiter::OLDEST_FIRST => oldest,
            arbiter::ROUND_ROBIN => {
                let after = |head: &&Head| state.last_granted.is_none_or(|last| head.place.lane > last);
                waiting.iter().filter(after).min_by_key(|head| head.place).copied().or(lowest)
            }
            _ => Some(waiting[state.stream.below(waiting.len() as u32) as usize]),
        }
    }

    /// Returns the waiting heads of the highest priority.
    fn first_to_go(&self, waiting: &[Head]) -> Vec<Head> {
        let goes_first = |head: &&Head| {
            let port = self.worms[self.first(head.place)].packet.target;
            self.fabric.port_priority.get(port as usize) == Some(&1)
        };
        let high: Vec<Head> = waiting.iter().filter(goes_first).copied().collect();
        if high.is_empty() { waiting.to_vec() } else { high }
    }

    fn choose_lane(&mut self, group: u32, free: &[u32]) -> u32 {
        match self.fabric.switch_choice[self.fabric.group_switch[group as usize] as usize] {
            choice::FIRST => free[0],
            choice::LEAST_RECENT => {
                let oldest = free.iter().min_by_key(|&&lane| self.lanes[lane as usize].last_grant);
                *oldest.expect("a lane is free")
            }
            _ => free[self.groups[group as usize].stream.below(free.len() as u32) as usize],
        }
    }

    fn grant(&mut self, group: u32, head: Head, output: u32) {
        self.mark(group, self.first(head.place), output);
        let state = &mut self.groups[group as usize];
        state.waiting.retain(|other| *other != head);
        state.last_granted = Some(head.place.lane);
        self.packet_hops += 1;
        let Front::Waiting { strip } = self.front(head.place) else { panic!("only heads are granted") };
        let delete = self.delete_header(self.first(head.place), output, strip);
        self.set_front(head.place, Front::Crossing { output, delete });
        self.moves(head.place, false);
        self.hold(output, head, delete);
    }

    /// Returns the number of characters of a packet that are deleted on its way to a lane: its front header, if it is
    /// to be deleted.
    pub(crate) fn delete_header(&mut self, packet: usize, output: u32, strip: bool) -> u32 {
        if self.fabric.deletes_address(self.fabric.link_of(output)) {
            assert!(self.worms[packet].address > 0, "an address is too short");
            self.worms[packet].address -= 1;
            return 1;
        }
        let deletes = self.fabric.link_deletes_header[self.fabric.link_of(output) as usize] != 0;
        if !strip && !deletes {
            return 0;
        }
        let (delete, _) = self.front_header(packet);
        let worm = &mut self.worms[packet];
        if worm.has_via {
            worm.has_via = false;
        } else {
            worm.has_header = false;
        }
        delete
    }

    /// Makes a head hold a lane.
    pub(crate) fn hold(&mut self, output: u32, head: Head, deleted: u32) {
        if self.fabric.sends_without_gaps() {
            self.lanes[output as usize].follows_at = self.follows_at(output, head, deleted);
        }
        self.lanes[output as usize].holder = Some(head.place);
        self.lanes[output as usize].last_grant = Some(self.now);
        self.lanes[output as usize].packets += 1;
        let link = self.fabric.link_of(output) as usize;
        self.links[link].counts.wait_ticks += (self.now - head.since) as u64;
        self.agenda.add(self.now, What::Cross { link: self.fabric.link_of(head.place.lane) });
    }

    /// Moves all characters that can move in this tick from the input buffers at the end of a link, or nominates one.
    pub(crate) fn cross(&mut self, link: u32) {
        let places = self.fabric.lanes_of(link).flat_map(|lane| {
            self.lanes[lane as usize].queues.keys().map(move |&queue| Place { lane, queue })
        });
        let places: Vec<Place> = places.collect();
        let switch = self.fabric.link_target[link as usize] as usize;
        let pace = i64::from(self.fabric.switch_crossbar_ticks[switch]);
        for &place in &places {
            self.throw_away(place);
        }
        if pace == 0 {
            // Faster than the links: each queue crosses independently.
            for place in places {
                while self.can_cross(place) {
                    self.cross_one(link, place);
                }
            }
        } else if self.may_nominate(link) {
            self.nominate(link, &places, pace);
        }
    }

    /// Whether the input of the crossbar is free, and nothing has been nominated in this tick.
    fn may_nominate(&self, link: u32) -> bool {
        let state = &self.links[link as usize];
        self.now >= state.crossbar_free && state.last_nomination != Some(self.now)
    }

    fn nominate(&mut self, link: u32, places: &[Place], pace: Time) {
        let could: Vec<Place> = places.iter().copied().filter(|&place| self.can_cross(place)).collect();
        let free = |&place: &Place| self.enters_at(self.output_of(place), pace);
        let able: Vec<Place> = could.iter().copied().filter(|place| free(place) <= self.now).collect();
        // One look at the next of these is enough: what it finds it looks at again.
        if let Some(next) = could.iter().map(free).filter(|&free| free > self.now).min() {
            self.agenda.add(next, What::Cross { link });
        }
        let state = &self.links[link as usize];
        if let Some(place) = self.in_turn(&able, state.last_crossed, state.amid_crossing) {
            let to = self.fabric.link_of(self.output_of(place));
            self.links[to as usize].nominated.push(place);
            self.links[link as usize].last_nomination = Some(self.now);
            self.agenda.add(self.now, What::Take { link: to });
        }
    }

    /// Returns the lane to which the packet at the front of a queue crosses.
    fn output_of(&self, place: Place) -> u32 {
        let Front::Crossing { output, .. } = self.front(place) else { panic!("it crosses") };
        output
    }

    /// Returns when the next character may cross to a lane, with regard to the other lanes of its link.
    fn enters_at(&self, lane: u32, pace: Time) -> Time {
        match self.links[self.fabric.link_of(lane) as usize].last_entered {
            Some((time, last, _)) if last != lane => time + pace,
            _ => 0,
        }
    }

    /// Moves one of the characters nominated for a link; the others may try again a grain later.
    pub(crate) fn take(&mut self, link: u32) {
        let nominated = std::mem::take(&mut self.links[link as usize].nominated).into_iter();
        let mut lanes: Vec<(u32, Place)> = nominated.map(|place| (self.output_of(place), place)).collect();
        lanes.sort();
        let keys: Vec<u32> = lanes.iter().map(|&(lane, _)| lane).collect();
        let last = self.links[link as usize].last_entered;
        let chosen = self.in_turn(&keys, last.map(|last| last.1), last.is_some_and(|last| last.2));
        for (lane, place) in lanes {
            let link = self.fabric.link_of(place.lane);
            if Some(lane) == chosen {
                self.cross_one(link, place);
            } else {
                let again = self.now + self.fabric.grain_ticks as Time;
                self.links[link as usize].crossbar_free = again;
                self.agenda.add(again, What::Cross { link });
            }
        }
    }

    /// Returns which of several, in ascending order, goes next; `amid`: the last one is inside a packet.
    pub(crate) fn in_turn<T: Copy + Ord>(&self, able: &[T], last: Option<T>, amid: bool) -> Option<T> {
        let by_packet = self.fabric.lane_sharing == sharing::PACKET;
        if let Some(last) = last.filter(|last| by_packet && amid && able.contains(last)) {
            return Some(last);
        }
        let behind = able.iter().find(|&&one| last.is_none_or(|last| one > last));
        let fixed = self.fabric.lane_arbiter == arbiter::FIXED;
        behind.filter(|_| !fixed).or(able.first()).copied()
    }

    fn can_cross(&self, place: Place) -> bool {
        let queue = &self.lanes[place.lane as usize].queues[&place.queue];
        let Front::Crossing { output, delete } = queue.front else { return false };
        let room = |lane: u32| {
            let buffer = self.fabric.link_output_buffer[self.fabric.link_of(lane) as usize];
            self.lanes[lane as usize].places_taken < buffer
        };
        let room = room(output) && queue.copies.iter().all(|&(lane, _)| room(lane));
        !queue.packets[0].1.is_empty() && (delete > 0 || room)
    }

    fn cross_one(&mut self, link: u32, place: Place) {
        let switch = self.switch_at(place.lane);
        let Front::Crossing { output, delete } = self.front(place) else { panic!("it crosses") };
        let queue = self.lanes[place.lane as usize].queues.get_mut(&place.queue).expect("a queue");
        let character = queue.packets[0].1.pop_front().expect("a character stands there");
        self.take_from_input(place.lane);
        self.moves(place, delete == 0);
        if delete > 0 {
            let is_header = matches!(character.kind, Kind::Address | Kind::Via | Kind::Header);
            assert!(is_header, "only headers are deleted");
            self.set_front(place, Front::Crossing { output, delete: delete - 1 });
        } else {
            let ready = self.now + i64::from(self.fabric.switch_forward_ticks[switch]);
            self.enter_output(output, character, ready);
            let copies = self.lanes[place.lane as usize].queues[&place.queue].copies.clone();
            self.copy(&copies, character, ready);
        }
        let (pace, amid) =
            (i64::from(self.fabric.switch_crossbar_ticks[switch]), character.kind != Kind::End);
        let to = self.fabric.link_of(output);
        self.links[to as usize].last_entered = Some((self.now, output, amid));
        let state = &mut self.links[link as usize];
        state.crossbar_free = self.now + pace;
        state.last_crossed = Some(place);
        state.amid_crossing = amid;
        if pace > 0 {
            self.agenda.add(self.now + pace, What::Cross { link });
        }
        if character.kind == Kind::End {
            self.take_from_store(place);
            self.leave(place, output);
        }
    }

    /// Puts a character into an output buffer, ready for the wire at a tick.
    pub(crate) fn enter_output(&mut self, lane: u32, character: Character, ready: Time) {
        let ready = ready.max(std::mem::take(&mut self.lanes[lane as usize].follows_at));
        self.lanes[lane as usize].output.push_back((ready, character));
        self.lanes[lane as usize].places_taken += 1;
        self.agenda.add(ready, What::Wire { link: self.fabric.link_of(lane) });
    }

    /// Handles the crossing of the end of packet at the front of a queue.
    fn leave(&mut self, place: Place, output: u32) {
        let switch = self.switch_at(place.lane);
        let handover = i64::from(self.fabric.switch_handover_ticks[switch]);
        let queue = self.lanes[place.lane as usize].queues.get_mut(&place.queue).expect("a queue");
        let copies = std::mem::take(&mut queue.copies);
        for lane in copies.into_iter().map(|(lane, _)| lane).chain([output]) {
            self.agenda.add(self.now + handover, What::Release { lane });
        }
        if !self.fabric.link_ring.is_empty() {
            let usable = self.fabric.link_credit_ticks[self.fabric.link_of(place.lane) as usize];
            self.agenda.add(self.now + i64::from(usable), What::PlaceBack { lane: place.lane });
        }
        self.come_forward(place);
    }

    /// Removes the packet at the front of a queue.
    pub(crate) fn come_forward(&mut self, place: Place) {
        let switch = self.switch_at(place.lane);
        let next_head = i64::from(self.fabric.switch_next_head_ticks[switch]);
        self.lanes[place.lane as usize].queues.get_mut(&place.queue).expect("a queue").packets.pop_front();
        self.set_front(place, Front::Leaving);
        if next_head == 0 {
            self.next_head(place);
        } else {
            let Place { lane, queue } = place;
            self.agenda.add(self.now + next_head, What::NextHead { lane, queue });
        }
    }

    /// Frees a lane.
    pub(crate) fn release(&mut self, lane: u32) {
        assert!(self.lanes[lane as usize].holder.is_some(), "nobody holds lane {lane}");
        self.lanes[lane as usize].holder = None;
        for &group in &self.groups_of_lane[lane as usize] {
            self.agenda.add(self.now, What::Arbitrate { group });
        }
    }

    /// Brings the next packet to the front.
    pub(crate) fn next_head(&mut self, place: Place) {
        assert_eq!(self.front(place), Front::Leaving, "no packet is leaving");
        self.set_front(place, Front::Nothing);
        self.look_at_header(place);
    }

    /// Adds a head to those of its switch that wait to be distributed.
    pub(crate) fn wait_for_all(&mut self, switch: u32, head: Head) {
        let waiting = &mut self.distributing[switch as usize];
        waiting.push(head);
        waiting.sort();
        self.agenda.add(self.now, What::Distribute { switch });
    }

    /// Whether the first head that waits to be distributed keeps a lane from another head.
    pub(crate) fn keeps(&self, lane: u32, head: Head) -> bool {
        let switch = self.fabric.link_source[self.fabric.link_of(lane) as usize];
        let first = self.distributing.get(switch as usize).and_then(|waiting| waiting.first());
        first.is_some_and(|&first| first < head && self.all_lanes(first).contains(&lane))
    }

    /// Returns the lanes that such a head waits for.
    fn all_lanes(&self, head: Head) -> &[u32] {
        let routed = self.routed(head.place.lane, self.first(head.place));
        let (group, _) = routed.expect("no table is replaced");
        self.fabric.group(group)
    }

    /// Grants while the first head finds all its lanes free.
    pub(crate) fn distribute(&mut self, switch: u32) {
        while let Some(&head) = self.distributing[switch as usize].first() {
            let lanes = self.all_lanes(head).to_vec();
            if lanes.iter().any(|&lane| self.lanes[lane as usize].holder.is_some()) {
                return;
            }
            self.distributing[switch as usize].remove(0);
            self.grant_all(head, &lanes);
        }
    }

    /// Makes one packet per lane, each of which holds its lane.
    fn grant_all(&mut self, head: Head, lanes: &[u32]) {
        let Front::Waiting { strip } = self.front(head.place) else { panic!("only heads are granted") };
        self.packet_hops += 1;
        let packet = self.first(head.place);
        let delete = self.delete_header(packet, lanes[0], strip);
        let mut copies = Vec::new();
        for &lane in &lanes[1..] {
            copies.push((lane, self.worms.len()));
            self.worms.push(self.worms[packet].clone());
        }
        let queue = self.lanes[head.place.lane as usize].queues.get_mut(&head.place.queue).expect("a queue");
        queue.copies = copies;
        for &lane in lanes {
            self.hold(lane, head, delete);
        }
        self.set_front(head.place, Front::Crossing { output: lanes[0], delete });
    }

    /// Copies a character that crosses to the output buffers of the copies.
    pub(crate) fn copy(&mut self, copies: &[(u32, usize)], character: Character, ready: i64) {
        for &(lane, packet) in copies {
            self.enter_output(lane, Character { packet, ..character }, ready);
        }
    }
}
