//! Wires with more than a turn: which lane sends next by time-slots, priorities, reservations or tables, and frames.
//!
//! The room decides about such a wire whenever it is free, so nothing is computed ahead on it. Other wires do not come here.

use super::parts::ready;
use super::state::{Network, UNKNOWN};
use crate::fabric::NONE;
use crate::kernel::Time;
use crate::links::arbiter::Choice;

/// What a free wire does next.
enum Next {
    Wait(Time),
    CloseFrame,
    OpenFrame(Choice),
    /// A character of a lane, which has just been chosen or is within its packet or frame.
    Send(u32, Option<Choice>),
}

impl Network {
    /// Starts what is next on a free wire, which has rules.
    pub(super) fn start_by_rules(&mut self, link: u32) {
        let now = self.agenda.now;
        loop {
            let next = self.next_by_rules(link);
            let Some(rules) = &self.rules else { return };
            let (wire, shared) = (&mut self.wires[link as usize], &mut self.links[link as usize]);
            let (lane, ticks) = match next {
                Next::Wait(until) => return self.agenda.wake_wire(shared, until),
                Next::Send(lane, choice) => return self.send_by_rules(link, lane, choice),
                Next::CloseFrame => (std::mem::replace(&mut wire.frame, NONE), shared.frame_end),
                Next::OpenFrame(choice) => {
                    wire.take(&choice, rules);
                    (wire.frame, wire.left) = (choice.lane, rules.frame);
                    (choice.lane, shared.frame_start)
                }
            };
            if ticks > 0 {
                wire.charge_frame(rules, lane, now, ticks);
                shared.counts.busy_ticks += ticks as u64;
                shared.free_at = now + ticks;
                self.agenda.rest_until(now + ticks);
                return self.agenda.wake_wire(shared, now + ticks);
            }
        }
    }

    fn send_by_rules(&mut self, link: u32, lane: u32, choice: Option<Choice>) {
        let now = self.agenda.now;
        if self.links[link as usize].wrong_until > now && self.is_put_off(link) {
            return;
        }
        self.send(link, self.fabric.lanes * link + lane, now);
        let Some(rules) = &self.rules else { return };
        let (wire, shared) = (&mut self.wires[link as usize], &mut self.links[link as usize]);
        if let Some(choice) = choice {
            wire.take(&choice, rules);
        }
        wire.left = wire.left.saturating_sub(1);
        wire.charge(rules, lane, 1, now, shared.free_at - now);
        self.agenda.wake_wire(shared, shared.free_at);
    }

    /// Returns the lane whose next character a free wire with rules would start now, if it would start one.
    pub(super) fn sends_by_rules(&self, link: u32) -> Option<u32> {
        match self.next_by_rules(link) {
            Next::Send(lane, _) => Some(self.fabric.lanes * link + lane),
            _ => None,
        }
    }

    /// Forgets the frame of a link that fails.
    pub(super) fn drop_frame(&mut self, link: u32) {
        if let Some(wire) = self.wires.get_mut(link as usize) {
            wire.frame = NONE;
        }
    }

    fn next_by_rules(&self, link: u32) -> Next {
        let (now, first, shared) = (self.agenda.now, self.fabric.lanes * link, &self.links[link as usize]);
        let Some(rules) = &self.rules else { return Next::Wait(UNKNOWN) };
        let wire = &self.wires[link as usize];
        let (ready, next) = ready(&self.lanes, first, shared.known, now);
        if wire.frame != NONE {
            let goes_on = wire.left > 0 && ready >> wire.frame & 1 == 1;
            return if goes_on { Next::Send(wire.frame, None) } else { Next::CloseFrame };
        }
        let last = shared.last.wrapping_sub(first);
        if rules.by_packet && shared.last != NONE && self.lanes[shared.last as usize].is_amid() {
            let goes_on = ready >> last & 1 == 1;
            return if goes_on { Next::Send(last, None) } else { Next::Wait(next) };
        }
        if ready == 0 {
            return Next::Wait(next);
        }
        let (ready, slot) = if shared.from_terminal { (ready, UNKNOWN) } else { rules.in_slot(ready, now) };
        if ready == 0 {
            return Next::Wait(next.min(slot));
        }
        let choice = rules.choose(wire, ready, last, now);
        if rules.frame > 0 { Next::OpenFrame(choice) } else { Next::Send(choice.lane, Some(choice)) }
    }
}
