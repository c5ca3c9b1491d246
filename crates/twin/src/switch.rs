//! Inside a switch: headers, requests, arbitration, the crossbar.

use fabriloom_engine::fabric::{NONE, arbiter, choice};

use crate::event::What;
use crate::parts::{Front, Head, Kind};
use crate::twin::Twin;

impl Twin<'_> {
    /// The switch at the target of a link.
    fn switch_at(&self, link: u32) -> usize {
        let vertex = self.fabric.link_target[link as usize];
        assert!(!self.fabric.is_terminal(vertex), "link {link} does not enter a switch");
        vertex as usize
    }

    /// Characters and class of the front header of a packet.
    fn front_header(&self, packet: usize) -> (u32, u32) {
        let worm = &self.worms[packet];
        let class = self.fabric.terminal_class[worm.packet.target as usize];
        match (worm.has_via, worm.has_header) {
            (true, _) => (self.fabric.via_header_chars, self.fabric.via_class[worm.packet.via as usize]),
            (false, true) => (self.fabric.header_chars, class),
            (false, false) => (0, class),
        }
    }

    /// Starts decoding when the whole header of the front packet is there.
    pub(crate) fn look_at_header(&mut self, link: u32) {
        let state = &self.links[link as usize];
        let (Front::Nothing, Some(first)) = (state.front, state.input.front()) else {
            return;
        };
        let (header, _) = self.front_header(first.packet);
        if state.input.len() < header.max(1) as usize {
            return;
        }
        let decode = self.fabric.switch_decode_ticks[self.switch_at(link)];
        self.links[link as usize].front = Front::Decoding;
        self.agenda.add(self.now + i64::from(decode), What::Request { link });
    }

    /// The head joins those that wait for its group.
    pub(crate) fn request(&mut self, link: u32) {
        let switch = self.switch_at(link);
        let packet = self.links[link as usize].input[0].packet;
        let (_, class) = self.front_header(packet);
        let entry = self.fabric.route[switch * self.fabric.classes as usize + class as usize];
        assert_ne!(entry, NONE, "switch {switch} has no route for class {class}");
        let (group, strip) = (entry >> 1, entry & 1 == 1);
        self.links[link as usize].front = Front::Waiting { strip };
        let waiting = &mut self.groups[group as usize].waiting;
        waiting.push(Head { since: self.now, link });
        waiting.sort();
        self.agenda.add(self.now, What::Arbitrate { group });
    }

    /// Grants until no head waits or no link is free.
    pub(crate) fn arbitrate(&mut self, group: u32) {
        loop {
            let free: Vec<u32> = self
                .fabric
                .group(group)
                .iter()
                .copied()
                .filter(|&l| self.links[l as usize].holder.is_none())
                .collect();
            if free.is_empty() || self.groups[group as usize].waiting.is_empty() {
                return;
            }
            let head = self.choose_head(group);
            let output = self.choose_link(group, &free);
            self.grant(group, head, output);
        }
    }

    fn choose_head(&mut self, group: u32) -> Head {
        let kind = self.fabric.switch_arbiter[self.fabric.group_switch[group as usize] as usize];
        let state = &mut self.groups[group as usize];
        let waiting = &state.waiting;
        let lowest = waiting.iter().min_by_key(|head| head.link).copied();
        let head = match kind {
            arbiter::FIFO => waiting.first().copied(),
            arbiter::FIXED => lowest,
            arbiter::ROUND_ROBIN => {
                let after = |head: &&Head| state.last_granted.is_none_or(|last| head.link > last);
                waiting.iter().filter(after).min_by_key(|head| head.link).copied().or(lowest)
            }
            _ => Some(waiting[state.stream.below(waiting.len() as u32) as usize]),
        };
        head.expect("a head waits")
    }

    fn choose_link(&mut self, group: u32, free: &[u32]) -> u32 {
        match self.fabric.switch_choice[self.fabric.group_switch[group as usize] as usize] {
            choice::FIRST => free[0],
            choice::LEAST_RECENT => {
                let oldest = free.iter().min_by_key(|&&link| self.links[link as usize].last_grant);
                *oldest.expect("a link is free")
            }
            _ => free[self.groups[group as usize].stream.below(free.len() as u32) as usize],
        }
    }

    fn grant(&mut self, group: u32, head: Head, output: u32) {
        let state = &mut self.groups[group as usize];
        state.waiting.retain(|other| *other != head);
        state.last_granted = Some(head.link);
        self.packet_hops += 1;
        let Front::Waiting { strip } = self.links[head.link as usize].front else {
            panic!("only heads are granted")
        };
        let packet = self.links[head.link as usize].input[0].packet;
        let mut delete = 0;
        if strip || self.fabric.link_deletes_header[output as usize] != 0 {
            (delete, _) = self.front_header(packet);
            let worm = &mut self.worms[packet];
            if worm.has_via {
                worm.has_via = false;
            } else {
                worm.has_header = false;
            }
        }
        self.links[head.link as usize].front = Front::Crossing { output, delete };
        self.links[output as usize].holder = Some(head.link);
        self.links[output as usize].last_grant = self.now;
        self.links[output as usize].counts.wait_ticks += (self.now - head.since) as u64;
        self.agenda.add(self.now, What::Cross { link: head.link });
    }

    /// Moves as many characters of the front packet as can move in this tick.
    pub(crate) fn cross(&mut self, link: u32) {
        while self.cross_one(link) {}
    }

    fn cross_one(&mut self, link: u32) -> bool {
        let switch = self.switch_at(link);
        let Front::Crossing { output, delete } = self.links[link as usize].front else {
            return false;
        };
        let Some(&character) = self.links[link as usize].input.front() else {
            return false;
        };
        if self.now < self.links[link as usize].crossbar_free {
            return false;
        }
        let room = self.links[output as usize].places_taken < self.fabric.link_output_buffer[output as usize];
        if delete == 0 && !room {
            return false;
        }
        self.links[link as usize].input.pop_front();
        self.take_from_input(link);
        if delete > 0 {
            assert!(matches!(character.kind, Kind::Via | Kind::Header), "only headers are deleted");
            self.links[link as usize].front = Front::Crossing { output, delete: delete - 1 };
        } else {
            let ready = self.now + i64::from(self.fabric.switch_forward_ticks[switch]);
            self.links[output as usize].output.push_back((ready, character));
            self.links[output as usize].places_taken += 1;
            self.agenda.add(ready, What::Wire { link: output });
        }
        let pace = i64::from(self.fabric.switch_crossbar_ticks[switch]);
        self.links[link as usize].crossbar_free = self.now + pace;
        if character.kind == Kind::End {
            self.leave(link, output);
        } else if pace > 0 {
            self.agenda.add(self.now + pace, What::Cross { link });
        }
        true
    }

    /// The end of packet at the front has crossed.
    fn leave(&mut self, link: u32, output: u32) {
        let switch = self.switch_at(link);
        let handover = i64::from(self.fabric.switch_handover_ticks[switch]);
        let next_head = i64::from(self.fabric.switch_next_head_ticks[switch]);
        self.links[link as usize].front = Front::Leaving;
        self.agenda.add(self.now + handover, What::Release { link: output });
        if next_head == 0 {
            self.next_head(link);
        } else {
            self.agenda.add(self.now + next_head, What::NextHead { link });
        }
    }

    /// The link is free again.
    pub(crate) fn release(&mut self, link: u32) {
        assert!(self.links[link as usize].holder.is_some(), "nobody holds link {link}");
        self.links[link as usize].holder = None;
        for &group in &self.groups_of_link[link as usize] {
            self.agenda.add(self.now, What::Arbitrate { group });
        }
    }

    /// The next packet is at the front.
    pub(crate) fn next_head(&mut self, link: u32) {
        assert_eq!(self.links[link as usize].front, Front::Leaving, "no packet is leaving");
        self.links[link as usize].front = Front::Nothing;
        self.look_at_header(link);
    }
}
