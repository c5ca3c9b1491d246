//! Between switches: wires, places in buffers, credits and flow-control characters.

use fabriloom_engine::fabric::NONE;

use crate::FlowControl;
use crate::event::What;
use crate::parts::Kind;
use crate::twin::Twin;

impl Twin<'_> {
    fn leaves_terminal(&self, link: u32) -> bool {
        self.fabric.is_terminal(self.fabric.link_source[link as usize])
    }

    fn enters_terminal(&self, link: u32) -> bool {
        self.fabric.is_terminal(self.fabric.link_target[link as usize])
    }

    /// Starts what comes next on the wire of a link, if it is free: flow control first, then data.
    pub(crate) fn start_on_wire(&mut self, link: u32) {
        if self.now < self.links[link as usize].wire_free {
            return;
        }
        if self.links[link as usize].flow_control > 0 {
            self.start_flow_control(link);
        } else {
            self.start_data(link);
        }
    }

    fn start_flow_control(&mut self, link: u32) {
        let promised = self.fabric.link_reverse[link as usize];
        let occupied = i64::from(self.fabric.link_flow_control_ticks[promised as usize]);
        let usable = i64::from(self.fabric.link_credit_ticks[promised as usize]);
        self.links[link as usize].flow_control -= 1;
        self.links[link as usize].wire_free = self.now + occupied;
        self.agenda.add(self.now + occupied, What::Wire { link });
        self.agenda.add(self.now + usable, What::Credit { link: promised });
    }

    fn start_data(&mut self, link: u32) {
        let Some(&(ready, character)) = self.links[link as usize].output.front() else {
            return;
        };
        let has_credit = self.enters_terminal(link) || self.links[link as usize].credit > 0;
        if ready > self.now || !has_credit {
            return;
        }
        let (row, data, end) = (link as usize, Kind::Payload, Kind::End);
        let of = |kind| {
            if kind == end { self.fabric.link_end_ticks[row] } else { self.fabric.link_character_ticks[row] }
        };
        let (occupied, place) = (i64::from(of(character.kind)), i64::from(of(data)));
        let arrival = i64::from(self.fabric.link_arrival_ticks[row]);
        let state = &mut self.links[row];
        state.output.pop_front();
        state.wire.push_back(character);
        state.count(character, self.now, occupied);
        state.wire_free = self.now + occupied;
        if !self.enters_terminal(link) {
            self.links[row].credit -= 1;
        }
        self.worms[character.packet].started.get_or_insert(self.now);
        self.agenda.add(self.now + occupied, What::Wire { link });
        if self.enters_terminal(link) && character.kind == end {
            self.agenda.add(self.now + occupied + arrival - place, What::Deliver { link });
        } else {
            self.agenda.add(self.now + arrival, What::Arrive { link });
        }
        if !self.leaves_terminal(link) {
            self.agenda.add(self.now + place, What::PlaceFree { link });
        } else if character.kind == end {
            let terminal = self.fabric.link_source[row] - self.fabric.switches;
            self.agenda.add(self.now + occupied, What::Ask { terminal });
        }
    }

    /// A character enters the input buffer; a terminal takes it at once.
    pub(crate) fn arrive(&mut self, link: u32) {
        let character = self.links[link as usize].wire.pop_front().expect("a character is on its way");
        if self.enters_terminal(link) {
            if character.kind == Kind::Payload {
                self.worms[character.packet].received += 1;
            }
            self.head_comes(character.packet);
            self.take_from_terminal(link);
            return;
        }
        let state = &mut self.links[link as usize];
        state.input.push_back(character);
        let most = self.fabric.link_input_buffer[link as usize] as usize;
        assert!(state.input.len() <= most, "the input buffer of link {link} overflows");
        self.look_at_header(link);
        self.agenda.add(self.now, What::Cross { link });
    }

    pub(crate) fn place_free(&mut self, link: u32) {
        self.links[link as usize].places_taken -= 1;
        if let Some(input) = self.links[link as usize].holder {
            self.agenda.add(self.now, What::Cross { link: input });
        }
    }

    pub(crate) fn credit(&mut self, link: u32) {
        self.links[link as usize].credit += u64::from(self.fabric.link_quantum[link as usize]);
        self.agenda.add(self.now, What::Wire { link });
    }

    /// What the receivers have promised before the beginning.
    pub(crate) fn promise_all(&mut self) {
        for link in 0..self.fabric.links() {
            while self.can_promise(link) {
                self.links[link].promised += u64::from(self.fabric.link_quantum[link]);
            }
            self.links[link].credit = self.links[link].promised;
        }
    }

    /// There are places for one more quantum besides all that has been promised and has not left yet.
    fn can_promise(&self, link: usize) -> bool {
        let state = &self.links[link];
        let taken = state.promised - state.departed;
        taken + u64::from(self.fabric.link_quantum[link]) <= u64::from(self.fabric.link_input_buffer[link])
    }

    /// A character has left the input buffer of a switch: promise its place when a quantum is complete.
    pub(crate) fn take_from_input(&mut self, link: u32) {
        self.links[link as usize].departed += 1;
        while self.can_promise(link as usize) {
            self.links[link as usize].promised += u64::from(self.fabric.link_quantum[link as usize]);
            if self.sends_flow_control(link) {
                let reverse = self.fabric.link_reverse[link as usize];
                self.links[reverse as usize].flow_control += 1;
                self.agenda.add(self.now, What::Wire { link: reverse });
            } else {
                let usable = i64::from(self.fabric.link_credit_ticks[link as usize]);
                self.agenda.add(self.now + usable, What::Credit { link });
            }
        }
    }

    /// A terminal has taken a character. Its promises matter only for the wire that they occupy.
    pub(crate) fn take_from_terminal(&mut self, link: u32) {
        if self.sends_flow_control(link) {
            self.take_from_input(link);
        }
    }

    fn sends_flow_control(&self, link: u32) -> bool {
        self.flow_control == FlowControl::Exact
            && self.fabric.link_flow_control_ticks[link as usize] > 0
            && self.fabric.link_reverse[link as usize] != NONE
    }
}
