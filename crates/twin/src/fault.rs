//! Links that fail: packets that are cut, spilled and discarded.

use fabriloom_engine::fabric::{NEVER, fault_kind};
use fabriloom_engine::kernel::Time;
use fabriloom_engine::terminal::program;

use crate::FlowControl;
use crate::event::What;
use crate::parts::{Character, Front, Kind, Link, Place};
use crate::twin::Twin;

impl Twin<'_> {
    /// Enters all faults of links.
    pub(crate) fn plan_faults(&mut self) {
        let counted = self.flow_control == FlowControl::Counted;
        assert!(counted || !self.fabric.has_faults(), "flow control one by one knows no faults");
        for (row, &link) in self.fabric.fault_link.iter().enumerate() {
            let ended = self.fabric.fault_ended_ticks[row] as Time;
            let up = self.fabric.fault_up_ticks[row];
            let until = if up == NEVER { Time::MAX } else { up as Time };
            let kind = self.fabric.fault_kind[row];
            if kind == fault_kind::LOSS || kind == fault_kind::REPLAY {
                let again = kind == fault_kind::REPLAY;
                self.agenda
                    .add(self.fabric.fault_down_ticks[row] as Time, What::Wrong { link, until, again });
                continue;
            }
            if kind == fault_kind::RATE {
                let ticks = self.fabric.fault_character_ticks[row];
                self.agenda.add(self.fabric.fault_down_ticks[row] as Time, What::Rate { link, until, ticks });
                continue;
            }
            if kind == fault_kind::STUCK {
                self.agenda.add(self.fabric.fault_down_ticks[row] as Time, What::Stop { link, until });
                continue;
            }
            self.agenda.add(self.fabric.fault_down_ticks[row] as Time, What::Down { link, ended });
            if self.fabric.fault_up_ticks[row] < NEVER {
                self.agenda.add(self.fabric.fault_up_ticks[row] as Time, What::Up { link });
            }
        }
    }

    /// Enters the replacements of routing tables.
    pub(crate) fn plan_tables(&mut self) {
        for (&ticks, &number) in self.fabric.table_ticks.iter().zip(&self.fabric.table_number) {
            self.agenda.add(ticks as Time, What::Table { number });
        }
    }

    /// Lets a link start nothing before a tick, and then at another rate; a frame that is open is forgotten.
    pub(crate) fn change_rate(&mut self, link: u32, until: Time, ticks: u32) {
        let state = &mut self.links[link as usize];
        state.rate = Some(i64::from(ticks));
        state.repeats_until = state.repeats_until.max(until);
        state.frame = None;
        self.agenda.add(until, What::Wire { link });
    }

    /// Returns how often the link of a lane has failed.
    pub(crate) fn faults_of(&self, lane: u32) -> u32 {
        self.links[self.fabric.link_of(lane) as usize].faults
    }

    pub(crate) fn is_down(&self, lane: u32) -> bool {
        self.links[self.fabric.link_of(lane) as usize].down
    }

    /// Whether a lane of a group works.
    pub(crate) fn runs(&self, group: u32) -> bool {
        self.fabric.group(group).iter().any(|&lane| !self.is_down(lane))
    }

    /// Makes a link fail: the characters on its wire and before it are lost, with their packets.
    pub(crate) fn go_down(&mut self, link: u32, ended: Time) {
        let state = &mut self.links[link as usize];
        state.down = true;
        state.frame = None;
        state.faults += 1;
        state.code_counts.lost += state.codes.len() as u64 + state.codes_on_wire;
        state.codes.clear();
        state.codes_on_wire = 0;
        for lane in self.fabric.lanes_of(link) {
            self.take_from_holder(lane);
            let state = &mut self.lanes[lane as usize];
            let sent = std::mem::take(&mut state.wire).into_iter();
            let waiting = std::mem::take(&mut state.output).into_iter().map(|(_, character)| character);
            state.places_taken = 0;
            state.credit = 0;
            state.amid_packet = false;
            (state.paused, state.pauses) = (false, false);
            let waiting: Vec<Character> = waiting.collect();
            for character in sent.chain(waiting.iter().copied()) {
                self.lose(character.packet, |link| &mut link.cut, link);
            }
            if self.leaves_terminal(link) && !waiting.is_empty() {
                // The rest of the packet is spilled immediately.
                let terminal = self.fabric.link_source[link as usize] - self.fabric.switches;
                self.agenda.add(self.now, What::Ask { terminal });
            }
        }
        self.agenda.add(ended, What::End { link });
        for lane in self.fabric.lanes_of(link) {
            for place in 0..self.groups_of_lane[lane as usize].len() {
                self.discard_waiting(self.groups_of_lane[lane as usize][place]);
            }
        }
    }

    /// Ends the crossing of a packet to a lane.
    fn take_from_holder(&mut self, lane: u32) {
        let Some(place) = self.lanes[lane as usize].holder else { return };
        if matches!(self.front(place), Front::Crossing { output, .. } if output == lane) {
            self.lanes[lane as usize].holder = None;
            self.lose(self.first(place), |link| &mut link.cut, self.fabric.link_of(lane));
            let link = &mut self.links[self.fabric.link_of(place.lane) as usize];
            link.amid_crossing &= link.last_crossed != Some(place);
            let link = &mut self.links[self.fabric.link_of(lane) as usize];
            link.last_entered =
                link.last_entered.map(|(time, last, amid)| (time, last, amid && last != lane));
            self.spill(place);
        }
    }

    /// Ends the received parts of packets on a link with an error end.
    pub(crate) fn end_early(&mut self, link: u32) {
        for lane in self.fabric.lanes_of(link) {
            let state = &mut self.lanes[lane as usize];
            let entering = state.entering.front().map(|character| character.packet);
            let last = state.receiving.map(|queue| state.queues[&queue].packets.back().expect("a packet").0);
            if let Some(packet) = entering.or(last).filter(|_| !self.enters_terminal(link)) {
                self.lanes[lane as usize].arrived += 1;
                self.sort_in(lane, Character { packet, kind: Kind::End });
                self.agenda.add(self.now, What::Cross { link });
            }
        }
    }

    /// Repairs a link: gives credit for the places in the buffer after it that are taken, and for those that are free.
    pub(crate) fn go_up(&mut self, link: u32) {
        self.links[link as usize].down = false;
        for lane in self.fabric.lanes_of(link) {
            let arrived = self.lanes[lane as usize].arrived;
            self.lanes[lane as usize].promised = arrived;
            while self.can_promise(lane) {
                self.lanes[lane as usize].promised += u64::from(self.fabric.link_quantum[link as usize]);
            }
            let state = &mut self.lanes[lane as usize];
            state.credit = state.promised - arrived;
            self.changes_store(lane, 0);
            for &group in &self.groups_of_lane[lane as usize] {
                self.agenda.add(self.now, What::Arbitrate { group });
            }
        }
        self.agenda.add(self.now, What::Wire { link });
    }

    /// Discards the heads that wait for a group without a working link.
    fn discard_waiting(&mut self, group: u32) {
        if !self.runs(group) {
            for head in std::mem::take(&mut self.groups[group as usize].waiting) {
                self.discard(head.place);
            }
        }
    }

    /// Discards the packet at the front of a queue.
    pub(crate) fn discard(&mut self, place: Place) {
        self.lose(self.first(place), |link| &mut link.discarded, self.fabric.link_of(place.lane));
        self.spill(place);
    }

    /// Spills the packet at the front of a queue from now on.
    pub(crate) fn spill(&mut self, place: Place) {
        self.set_front(place, Front::Spilling);
        self.agenda.add(self.now, What::Cross { link: self.fabric.link_of(place.lane) });
    }

    /// Spills the present characters of the packet at the front of a queue, if it is to be spilled.
    pub(crate) fn throw_away(&mut self, place: Place) {
        while self.front(place) == Front::Spilling {
            let queue = self.lanes[place.lane as usize].queues.get_mut(&place.queue).expect("a queue");
            let Some(character) = queue.packets[0].1.pop_front() else { return };
            self.take_from_input(place.lane);
            if character.kind == Kind::End {
                self.take_from_store(place);
                self.come_forward(place);
            }
        }
    }

    /// Records that the packet at the front of a queue has been granted its lane, or that a character of it has crossed
    /// or been deleted.
    pub(crate) fn moves(&mut self, place: Place, enters: bool) {
        let granted = matches!(self.front(place), Front::Crossing { .. }) && !enters;
        let queue = self.lanes[place.lane as usize].queues.get_mut(&place.queue).expect("a queue");
        queue.moved_at = self.now;
        queue.entered = if enters {
            queue.entered + 1
        } else if granted {
            0
        } else {
            queue.entered
        };
        let switch = self.fabric.link_target[self.fabric.link_of(place.lane) as usize];
        let timeout = self.fabric.timeout_of(switch);
        if timeout > 0 {
            let Place { lane, queue } = place;
            self.agenda.add(self.now + timeout, What::Watch { lane, queue });
        }
    }

    /// Ends the packet at the front of a queue if it has an output and has not moved for too long.
    pub(crate) fn watch(&mut self, place: Place) {
        let switch = self.fabric.link_target[self.fabric.link_of(place.lane) as usize] as usize;
        let queue = &self.lanes[place.lane as usize].queues[&place.queue];
        let Front::Crossing { output, .. } = queue.front else { return };
        if queue.moved_at + self.fabric.timeout_of(switch as u32) != self.now {
            return;
        }
        let (packet, entered) = (queue.packets[0].0, queue.entered);
        let link = self.fabric.link_of(output);
        self.lose(packet, |link| &mut link.timed_out, link);
        if entered > 0 {
            // An error end follows the characters that have crossed, in its own place.
            let ready = self.now + i64::from(self.fabric.switch_forward_ticks[switch]);
            let end = Character { packet, kind: Kind::End };
            self.lanes[output as usize].output.push_back((ready, end));
            self.lanes[output as usize].places_taken += 1;
            self.agenda.add(ready, What::Wire { link });
        }
        let state = &mut self.links[link as usize];
        state.last_entered =
            state.last_entered.map(|(time, last, amid)| (time, last, amid && last != output));
        let state = &mut self.links[self.fabric.link_of(place.lane) as usize];
        state.amid_crossing &= state.last_crossed != Some(place);
        let handover = i64::from(self.fabric.switch_handover_ticks[switch]);
        self.agenda.add(self.now + handover, What::Release { lane: output });
        self.spill(place);
    }

    /// Whether the end of the packet at the front of a queue is where its header should be.
    pub(crate) fn has_no_header(&self, place: Place) -> bool {
        let (header, _) = self.front_header(self.first(place));
        let characters = &self.lanes[place.lane as usize].queues[&place.queue].packets[0].1;
        characters.iter().take(header as usize).any(|character| character.kind == Kind::End)
    }

    /// Counts a packet as lost at a link, unless it is already.
    pub(crate) fn lose(&mut self, packet: usize, count: fn(&mut Link) -> &mut u64, link: u32) {
        let worm = &mut self.worms[packet];
        if std::mem::replace(&mut worm.lost, true) {
            return;
        }
        let mark = worm.packet.mark;
        *count(&mut self.links[link as usize]) += 1;
        if let Some(programs) = &mut self.senders.programs {
            if program::mark::kind(mark) != program::mark::SOURCE {
                programs.lost(mark);
            }
            self.enter_turn(self.now);
        }
    }
}
