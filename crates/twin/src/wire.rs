//! Between switches: wires, places in buffers, credits and flow-control characters.

use fabriloom_engine::fabric::{NONE, sharing};
use fabriloom_engine::kernel::Time;

use crate::FlowControl;
use crate::event::What;
use crate::parts::{Character, Head, Kind, Place};
use crate::twin::Twin;

impl Twin<'_> {
    pub(crate) fn leaves_terminal(&self, link: u32) -> bool {
        self.fabric.is_terminal(self.fabric.link_source[link as usize])
    }

    pub(crate) fn enters_terminal(&self, link: u32) -> bool {
        self.fabric.is_terminal(self.fabric.link_target[link as usize])
    }

    /// Starts the next character on the wire of a link, if it is free: codes, flow control, then data.
    pub(crate) fn start_on_wire(&mut self, link: u32) {
        let state = &self.links[link as usize];
        if self.now < state.wire_free.max(state.repeats_until) || state.down {
            return;
        }
        if !state.codes.is_empty() {
            return self.start_code(link);
        }
        // Who is paused sends the packet that has begun.
        let goes_on = self.fabric.has_pause() && self.is_amid_packet(link);
        if self.now < state.stopped_until && !goes_on {
            return;
        }
        let waiting = &self.links[link as usize].flow_control;
        if let Some(lane) = (0..self.fabric.lanes).find(|&lane| waiting[lane as usize] > 0) {
            self.start_flow_control(link, lane);
        } else {
            self.start_data(link);
        }
    }

    /// Sends a flow-control character for a lane of the reverse link.
    fn start_flow_control(&mut self, link: u32, lane: u32) {
        let promised = self.fabric.link_reverse[link as usize];
        let occupied = i64::from(self.fabric.link_flow_control_ticks[promised as usize]);
        let usable = i64::from(self.fabric.link_credit_ticks[promised as usize]);
        self.links[link as usize].flow_control[lane as usize] -= 1;
        self.links[link as usize].wire_free = self.now + occupied;
        self.agenda.add(self.now + occupied, What::Wire { link });
        let lane = self.fabric.lanes_of(promised).start + lane;
        self.agenda.add(self.now + usable, What::Credit { lane, faults: self.faults_of(lane) });
    }

    fn start_data(&mut self, link: u32) {
        let mut ready: Vec<u32> =
            self.fabric.lanes_of(link).filter(|&lane| self.is_ready(link, lane)).collect();
        if self.now < self.links[link as usize].stopped_until {
            ready.retain(|&lane| self.lanes[lane as usize].amid_packet);
        }
        if self.fabric.has_lane_arbiter() {
            return self.start_by_rules(link, &ready);
        }
        let last = self.links[link as usize].last_sent;
        let amid = last.filter(|&last| self.lanes[last as usize].amid_packet);
        let held = amid.filter(|last| self.fabric.lane_sharing == sharing::PACKET && !ready.contains(last));
        if held.is_some() {
            return;
        }
        if let Some(lane) = self.in_turn(&ready, last, amid.is_some()) {
            if self.is_put_off(link, lane) {
                return;
            }
            self.start_character(link, lane);
        }
    }

    /// Starts the next character of a lane; a terminal's packet is assigned to a lane with its first character.
    pub(crate) fn start_character(&mut self, link: u32, lane: u32) {
        let now = self.now;
        let packet = std::mem::take(&mut self.links[link as usize].dispatched);
        let packet = packet.into_iter().map(|character| (now, character));
        self.lanes[lane as usize].output.extend(packet);
        self.send(link, lane);
    }

    /// Handles a wrong bit in the character that a lane would start now; returns whether it is sent again, later.
    pub(crate) fn is_put_off(&mut self, link: u32, lane: u32) -> bool {
        let now = self.now;
        let Some((_, again)) = self.links[link as usize].wrong.take().filter(|(until, _)| now < *until)
        else {
            return false;
        };
        if again {
            let row = link as usize;
            let loop_ticks = self.fabric.link_arrival_ticks[row] + self.fabric.link_credit_ticks[row];
            let (state, begins) = (&mut self.links[row], now + i64::from(loop_ticks));
            let sent = if state.frame.is_some() { now - state.frame_since } else { 0 };
            state.frame_since = begins;
            state.repeats_until = begins + sent;
            self.agenda.add(begins + sent, What::Wire { link });
            return true;
        }
        let dispatched = self.links[link as usize].dispatched.front().copied();
        let next = dispatched.or(self.lanes[lane as usize].output.front().map(|(_, next)| *next));
        let packet = next.expect("a character is ready").packet;
        self.worms[packet].wrong_on.get_or_insert(link);
        false
    }

    fn is_amid_packet(&self, link: u32) -> bool {
        self.fabric.lanes_of(link).any(|lane| self.lanes[lane as usize].amid_packet)
    }

    /// Whether the next character of a lane, or the first one of a packet at a terminal, has arrived and has credit.
    fn is_ready(&self, link: u32, lane: u32) -> bool {
        let state = &self.lanes[lane as usize];
        let dispatched = self.links[link as usize].dispatched.front().copied();
        let next = state.output.front().filter(|(ready, _)| *ready <= self.now).map(|(_, next)| *next);
        let usable =
            self.fabric.link_lanes.get(link as usize).is_none_or(|&lanes| lane % self.fabric.lanes < lanes);
        let dispatched = dispatched.filter(|_| usable);
        let Some(next) = next.or(dispatched) else { return false };
        let whole = self.fabric.whole_packet_credit != 0 && !state.amid_packet;
        let needed = if whole { self.characters(next.packet) } else { 1 };
        if self.fabric.has_pause() {
            return self.enters_terminal(link) || state.amid_packet || !state.paused;
        }
        self.enters_terminal(link) || state.credit >= needed
    }

    /// Returns when the end of a packet, if its characters arrive without gaps, can follow its first one without any.
    pub(crate) fn follows_at(&self, output: u32, head: Head, deleted: u32) -> Time {
        let packet = self.first(head.place);
        let last = |characters: u64, lane: u32| {
            let ticks = self.fabric.link_character_ticks[self.fabric.link_of(lane) as usize];
            (characters as Time - 1) * Time::from(ticks)
        };
        let characters = self.characters(packet);
        let end_arrives = self.worms[packet].arrived + last(characters + u64::from(deleted), head.place.lane);
        let forward = self.fabric.switch_forward_ticks[self.switch_at(head.place.lane)];
        end_arrives + Time::from(forward) - last(characters, output)
    }

    /// Returns the characters of a packet with its current headers.
    pub(crate) fn characters(&self, packet: usize) -> u64 {
        let worm = &self.worms[packet];
        let via = if worm.has_via { self.fabric.via_header_chars } else { 0 };
        let header = if worm.has_header { self.fabric.header_chars } else { 0 };
        let payload = self.fabric.payload_chars(worm.packet.length);
        u64::from(worm.address) + u64::from(via) + u64::from(header) + u64::from(payload) + 1
    }

    /// Starts the next character of a lane on the wire.
    fn send(&mut self, link: u32, lane: u32) {
        let row = link as usize;
        let (_, character) = self.lanes[lane as usize].output.pop_front().expect("it is ready");
        let is_end = character.kind == Kind::End;
        let place = self.character_ticks(link);
        let end = self.links[row].rate.unwrap_or(i64::from(self.fabric.link_end_ticks[row]));
        let padding = if is_end { self.padding(link, character.packet) } else { 0 };
        let occupied = if is_end { end - padding } else { place };
        let arrival = i64::from(self.fabric.link_arrival_ticks[row]);
        self.count(link, character, occupied);
        self.links[row].wire_free = self.now + occupied;
        self.links[row].last_sent = Some(lane);
        let state = &mut self.lanes[lane as usize];
        state.amid_packet = !is_end;
        state.wire.push_back(character);
        self.worms[character.packet].started.get_or_insert(self.now);
        self.agenda.add(self.now + occupied, What::Wire { link });
        let faults = self.faults_of(lane);
        if self.enters_terminal(link) && is_end {
            self.agenda.add(self.now + occupied + arrival - place, What::Deliver { lane, faults });
        } else {
            self.agenda.add(self.now + arrival - padding, What::Arrive { lane, faults });
        }
        if !self.enters_terminal(link) && !self.fabric.has_pause() {
            self.lanes[lane as usize].credit -= 1;
        }
        if !self.leaves_terminal(link) {
            self.agenda.add(self.now + place, What::PlaceFree { lane, faults });
        } else if is_end {
            self.sends(character.packet, self.now + occupied);
            let terminal = self.fabric.link_source[row] - self.fabric.switches;
            self.agenda.add(self.now + occupied, What::Ask { terminal });
        }
    }

    /// Returns the ticks of the bytes that are missing in the last character of a packet, on a link that does not send them.
    fn padding(&self, link: u32, packet: usize) -> i64 {
        let ticks = self.fabric.link_padding_ticks.get(link as usize).copied().unwrap_or(0);
        if ticks == 0 {
            return 0;
        }
        let whole = i64::from(self.fabric.character_bytes.max(1));
        let bytes = i64::from(self.worms[packet].packet.length) + i64::from(self.fabric.overhead_bytes);
        let last = bytes.max(i64::from(self.fabric.least_bytes)) % whole;
        let missing = if last == 0 { 0 } else { whole - last };
        missing * i64::from(ticks)
    }

    /// Returns the ticks of a character on a wire.
    pub(crate) fn character_ticks(&self, link: u32) -> i64 {
        self.links[link as usize].rate.unwrap_or(i64::from(self.fabric.link_character_ticks[link as usize]))
    }

    /// Counts a character that starts on the wire now and occupies it for some ticks.
    fn count(&mut self, link: u32, character: Character, occupied: i64) {
        let amid = self.is_amid_packet(link);
        let state = &mut self.links[link as usize];
        if amid {
            state.counts.stalled_ticks += (self.now - state.wire_free) as u64;
        }
        state.counts.packets += u64::from(character.kind == Kind::End);
        state.counts.characters += 1;
        state.counts.busy_ticks += occupied as u64;
    }

    /// Puts a character into the input buffer; a terminal consumes it immediately.
    pub(crate) fn arrive(&mut self, lane: u32) {
        let link = self.fabric.link_of(lane);
        if self.enters_terminal(link) {
            let character = self.lanes[lane as usize].wire.pop_front().expect("a character is on its way");
            if character.kind == Kind::Payload {
                self.worms[character.packet].received += 1;
            }
            self.head_comes(character.packet);
            self.take_from_terminal(lane);
            return;
        }
        let character = self.lanes[lane as usize].wire.pop_front().expect("a character is on its way");
        let is_lost = match (self.fabric.has_pool(), self.fabric.drops) {
            (true, _) => self.finds_no_place(lane, character),
            (false, drops) => drops == 1 && self.is_dropped(lane, character),
        };
        if is_lost {
            return;
        }
        let state = &mut self.lanes[lane as usize];
        state.arrived += 1;
        let most = u64::from(self.fabric.link_input_buffer[link as usize]);
        let is_endless = self.fabric.has_pause() && self.fabric.drops == 0 || self.fabric.has_pool();
        assert!(
            is_endless || state.arrived - state.departed <= most,
            "the input buffer of lane {lane} overflows"
        );
        self.sort_in(lane, character);
        self.agenda.add(self.now, What::Cross { link });
    }

    /// Whether a character is of a packet for which the input buffer had no room when the first one came.
    fn is_dropped(&mut self, lane: u32, character: Character) -> bool {
        let link = self.fabric.link_of(lane);
        let needed = self.characters(character.packet);
        let room = u64::from(self.fabric.link_input_buffer[link as usize]);
        let state = &mut self.lanes[lane as usize];
        let is_first = !std::mem::replace(&mut state.amid_arrival, character.kind != Kind::End);
        if !is_first {
            return state.drops;
        }
        state.drops = state.admitted + needed > room;
        if state.drops {
            self.lose(character.packet, |link| &mut link.discarded, link);
            return true;
        }
        state.admitted += needed;
        false
    }

    /// Counts a packet whose end has come into its queue.
    pub(crate) fn store(&mut self, place: Place) {
        let state = &mut self.lanes[place.lane as usize];
        let size = std::mem::take(&mut state.coming);
        state.queues.get_mut(&place.queue).expect("its queue").sizes.push_back(size);
        self.changes_store(place.lane, size);
    }

    /// Counts no longer the packet at the front of a queue, whose end has left.
    pub(crate) fn take_from_store(&mut self, place: Place) {
        let queue = self.lanes[place.lane as usize].queues.get_mut(&place.queue).expect("its queue");
        let size = queue.sizes.pop_front().expect("its end has come");
        if self.fabric.has_pool() {
            self.gives_places_back(place, size as u64);
        } else if self.fabric.drops == 1 {
            self.lanes[place.lane as usize].admitted -= size as u64;
        }
        self.changes_store(place.lane, -size);
    }

    pub(crate) fn changes_store(&mut self, lane: u32, by: i64) {
        if self.fabric.has_pause() {
            self.lanes[lane as usize].stored += by;
            self.agenda.add(self.now, What::Look { lane });
        }
    }

    /// Tells the sender of a lane to pause, or to go on, when all has happened in this tick.
    pub(crate) fn look_at_store(&mut self, lane: u32) {
        let link = self.fabric.link_of(lane) as usize;
        let state = &mut self.lanes[lane as usize];
        let most = &mut self.links[link].counts.most_stored;
        *most = (*most).max(state.stored as u64);
        if self.fabric.has_pool() {
            return;
        }
        let threshold = if state.pauses {
            self.fabric.link_pause_until[link]
        } else {
            self.fabric.link_pause_above[link]
        };
        let pauses = state.stored > i64::from(threshold) && !self.links[link].down;
        if pauses != std::mem::replace(&mut state.pauses, pauses) {
            let after = i64::from(self.fabric.link_credit_ticks[link]);
            self.agenda.add(self.now + after, What::Pause { lane, faults: self.faults_of(lane), pauses });
        }
    }

    /// Pauses the sender of a lane, or lets it go on.
    pub(crate) fn pause(&mut self, lane: u32, pauses: bool) {
        self.lanes[lane as usize].paused = pauses;
        self.agenda.add(self.now, What::Wire { link: self.fabric.link_of(lane) });
    }

    /// Starts nothing on a wire before a tick.
    pub(crate) fn stop(&mut self, link: u32, until: Time) {
        self.links[link as usize].stopped_until = until;
        if until < Time::MAX {
            self.agenda.add(until, What::Wire { link });
        }
    }

    pub(crate) fn place_free(&mut self, lane: u32) {
        self.lanes[lane as usize].places_taken -= 1;
        if let Some(input) = self.lanes[lane as usize].holder {
            self.agenda.add(self.now, What::Cross { link: self.fabric.link_of(input.lane) });
        }
    }

    pub(crate) fn credit(&mut self, lane: u32) {
        let link = self.fabric.link_of(lane);
        self.lanes[lane as usize].credit += u64::from(self.fabric.link_quantum[link as usize]);
        self.agenda.add(self.now, What::Wire { link });
        if self.fabric.grant_with_room == 1 {
            for &group in &self.groups_of_lane[lane as usize] {
                self.agenda.add(self.now, What::Arbitrate { group });
            }
        }
    }

    /// Whether a lane has credit for the longest packet besides what it is to send, where that is needed for a grant.
    pub(crate) fn has_room(&self, lane: u32, head: Head) -> bool {
        let link = self.fabric.link_of(lane);
        if !self.fabric.link_ring.is_empty() {
            return self.enters_terminal(link) || self.has_places(lane, head);
        }
        let needed = self.occupied(lane) + self.fabric.longest_chars();
        self.fabric.grant_with_room == 0 || self.enters_terminal(link) || needed <= self.first_credit(link)
    }

    /// Whether there is a place for the longest packet behind a lane, and one more if the packet comes into its ring.
    fn has_places(&self, lane: u32, head: Head) -> bool {
        let ring = |lane: u32| self.fabric.link_ring[self.fabric.link_of(lane) as usize];
        let link = self.fabric.link_of(lane) as usize;
        let comes_in = ring(lane) != NONE && ring(lane) != ring(head.place.lane);
        let buffer = u64::from(self.fabric.link_input_buffer[link] + 1 - self.fabric.link_quantum[link]);
        let places = buffer / self.fabric.longest_chars();
        self.lanes[lane as usize].packets + 1 + u64::from(comes_in) <= places
    }

    /// Handles a packet that has left the input buffer, as its sender sees it.
    pub(crate) fn place_back(&mut self, lane: u32) {
        let packets = &mut self.lanes[lane as usize].packets;
        *packets = packets.saturating_sub(1); // terminals do not count theirs
        for &group in &self.groups_of_lane[lane as usize] {
            self.agenda.add(self.now, What::Arbitrate { group });
        }
    }

    /// Gives the credit that receivers give before the beginning.
    pub(crate) fn promise_all(&mut self) {
        for lane in 0..self.lanes.len() as u32 {
            let quantum = u64::from(self.fabric.link_quantum[self.fabric.link_of(lane) as usize]);
            while self.can_promise(lane) {
                self.lanes[lane as usize].promised += quantum;
            }
            self.lanes[lane as usize].credit = self.lanes[lane as usize].promised;
        }
    }

    /// Whether there are places for one more quantum besides the credit that is given and not used.
    pub(crate) fn can_promise(&self, lane: u32) -> bool {
        let link = self.fabric.link_of(lane) as usize;
        let state = &self.lanes[lane as usize];
        let taken = state.promised - state.departed;
        taken + u64::from(self.fabric.link_quantum[link]) <= u64::from(self.fabric.link_input_buffer[link])
    }

    /// Handles a character that has left the input buffer of a switch: gives credit when a quantum is complete.
    pub(crate) fn take_from_input(&mut self, lane: u32) {
        let link = self.fabric.link_of(lane);
        self.lanes[lane as usize].departed += 1;
        if self.links[link as usize].down || self.fabric.has_pause() {
            return;
        }
        while self.can_promise(lane) {
            self.lanes[lane as usize].promised += u64::from(self.fabric.link_quantum[link as usize]);
            if self.sends_flow_control(link) {
                let reverse = self.fabric.link_reverse[link as usize];
                let number = lane - self.fabric.lanes_of(link).start;
                self.links[reverse as usize].flow_control[number as usize] += 1;
                self.agenda.add(self.now, What::Wire { link: reverse });
            } else {
                let usable = i64::from(self.fabric.link_credit_ticks[link as usize]);
                self.agenda.add(self.now + usable, What::Credit { lane, faults: self.faults_of(lane) });
            }
        }
    }

    /// Handles a character that a terminal has consumed. Its credit matters only for the wire time of flow control.
    pub(crate) fn take_from_terminal(&mut self, lane: u32) {
        if self.sends_flow_control(self.fabric.link_of(lane)) {
            self.lanes[lane as usize].arrived += 1;
            self.take_from_input(lane);
        }
    }

    fn sends_flow_control(&self, link: u32) -> bool {
        self.flow_control == FlowControl::Exact
            && self.fabric.link_flow_control_ticks[link as usize] > 0
            && self.fabric.link_reverse[link as usize] != NONE
    }
}
