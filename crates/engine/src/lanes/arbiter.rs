//! Wires with more than a turn: which lane sends next by time-slots, priorities, reservations or tables, and frames.
//!
//! The room chooses a lane when such a wire is free. A lane that has the wire until the end of its frame or packet sends as
//! far ahead as its characters follow each other and are known. Other wires do not come here.

use super::parts::ready;
use super::state::{Network, UNKNOWN};
use crate::fabric::NONE;
use crate::kernel::Time;
use crate::links::arbiter::{Choice, Rules};

/// What a free wire does next.
enum Next {
    Wait(Time),
    CloseFrame,
    OpenFrame(Choice),
    /// Characters of a lane, which has just been chosen or is within its packet or frame.
    Send(u32, Option<Choice>),
}

impl Network {
    /// Starts what is next on a free wire, which has rules.
    pub(super) fn start_by_rules(&mut self, link: u32) {
        let mut time = self.agenda.now;
        loop {
            let is_wrong = time < self.links[link as usize].wrong_until;
            let next = if time > self.agenda.now && (time >= self.agenda.horizon || is_wrong) {
                Next::Wait(time)
            } else {
                self.next_by_rules(link, time)
            };
            match next {
                Next::Wait(until) => return self.agenda.wake_wire(&mut self.links[link as usize], until),
                Next::Send(..) if is_wrong && self.is_put_off(link) => return,
                Next::Send(lane, choice) => self.send_by_rules(link, lane, choice, time),
                Next::OpenFrame(choice) => self.open_frame(link, choice, time),
                Next::CloseFrame => self.close_frame(link, time),
            }
            time = time.max(self.links[link as usize].free_at);
        }
    }

    fn open_frame(&mut self, link: u32, choice: Choice, time: Time) {
        let Some(rules) = &self.rules else { return };
        let wire = &mut self.wires[link as usize];
        wire.take(&choice, rules);
        (wire.frame, wire.since, wire.left) = (choice.lane, time, rules.frame);
        self.occupy_by_frame(link, choice.lane, time, self.links[link as usize].frame_start);
    }

    fn close_frame(&mut self, link: u32, time: Time) {
        let Some(rules) = &self.rules else { return };
        let wire = &mut self.wires[link as usize];
        let lane = std::mem::replace(&mut wire.frame, NONE);
        let ticks = self.links[link as usize].closes_in(rules.frame - wire.left);
        self.occupy_by_frame(link, lane, time, ticks);
    }

    /// Occupies a wire for the beginning or the end of a frame of a lane.
    fn occupy_by_frame(&mut self, link: u32, lane: u32, time: Time, ticks: Time) {
        let Some(rules) = &self.rules else { return };
        if ticks > 0 {
            self.wires[link as usize].charge_frame(rules, lane, time, ticks);
            let shared = &mut self.links[link as usize];
            shared.counts.busy_ticks += ticks as u64;
            shared.free_at = time + ticks;
            self.agenda.rest_until(shared.free_at);
        }
    }

    /// Starts characters of a lane that follow each other from a given time on, as long as it has the wire and they are in
    /// the middle of a packet, or one.
    fn send_by_rules(&mut self, link: u32, lane: u32, choice: Option<Choice>, time: Time) {
        let Some(rules) = &self.rules else { return };
        let wire = &mut self.wires[link as usize];
        if let Some(choice) = choice {
            wire.take(&choice, rules);
        }
        let most = if wire.frame != NONE {
            wire.left
        } else if rules.by_packet {
            u32::MAX
        } else {
            1
        };
        let number = self.fabric.lanes * link + lane;
        let mut count = self.start_ahead(link, number, time, Some(most));
        if count == 0 {
            self.send(link, number, time);
            count = 1;
        }
        let Some(rules) = &self.rules else { return };
        let (wire, shared) = (&mut self.wires[link as usize], &self.links[link as usize]);
        wire.left = wire.left.saturating_sub(count);
        wire.charge(rules, lane, count, time, (shared.free_at - time) / Time::from(count));
    }

    /// Returns the lane whose next character a free wire with rules would start now, if it would start one.
    pub(super) fn sends_by_rules(&self, link: u32) -> Option<u32> {
        match self.next_by_rules(link, self.agenda.now) {
            Next::Send(lane, _) => Some(self.fabric.lanes * link + lane),
            _ => None,
        }
    }

    /// Begins the open frame of a link again when a tick comes, if there is one; returns for how long it has been open.
    pub(super) fn repeat_frame(&mut self, link: u32, at: Time) -> Time {
        let open = self.wires.get_mut(link as usize).filter(|wire| wire.frame != NONE);
        open.map_or(0, |wire| self.agenda.now - std::mem::replace(&mut wire.since, at))
    }

    /// Forgets the frame of a link that fails, or goes on at another rate.
    pub(super) fn drop_frame(&mut self, link: u32) {
        if let Some(wire) = self.wires.get_mut(link as usize) {
            wire.frame = NONE;
        }
    }

    /// Returns what a wire that is free from a given time on does then, as far as it is known now.
    fn next_by_rules(&self, link: u32, time: Time) -> Next {
        let (first, shared) = (self.fabric.lanes * link, &self.links[link as usize]);
        let Some(rules) = &self.rules else { return Next::Wait(UNKNOWN) };
        let wire = &self.wires[link as usize];
        if shared.stuck && shared.amid == 0 {
            return Next::Wait(UNKNOWN);
        }
        let is_now = time == self.agenda.now;
        if wire.frame != NONE {
            let at = &self.lanes[(first + wire.frame) as usize];
            if wire.left > 0 && !is_now && self.pauses.is_some() && !at.is_amid() {
                return Next::Wait(time);
            }
            let starts_at = at.starts_at;
            // Credit of which more may become known can return earlier.
            let is_known = wire.left == 0 || starts_at < UNKNOWN && !shared.port.sorts;
            return match wire.left > 0 && starts_at <= time {
                true => Next::Send(wire.frame, None),
                false if is_now || is_known => Next::CloseFrame,
                false => Next::Wait(time),
            };
        }
        let last = shared.last.wrapping_sub(first);
        if rules.by_packet && shared.last != NONE && self.lanes[shared.last as usize].is_amid() {
            let starts_at = self.lanes[shared.last as usize].starts_at;
            return if starts_at <= time { Next::Send(last, None) } else { Next::Wait(starts_at) };
        }
        if is_now { self.choose_by_rules(link, rules, last) } else { Next::Wait(time) }
    }

    /// Returns what a wire does next that is free now, and not within a frame or packet.
    fn choose_by_rules(&self, link: u32, rules: &Rules, last: u32) -> Next {
        let (now, shared) = (self.agenda.now, &self.links[link as usize]);
        let (ready, next) = ready(&self.lanes, self.fabric.lanes * link, shared.known, now);
        if ready == 0 {
            return Next::Wait(next);
        }
        let (ready, slot) = if shared.from_terminal { (ready, UNKNOWN) } else { rules.in_slot(ready, now) };
        if ready == 0 {
            return Next::Wait(next.min(slot));
        }
        let choice = rules.choose(&self.wires[link as usize], ready, last, now);
        if rules.frame > 0 { Next::OpenFrame(choice) } else { Next::Send(choice.lane, Some(choice)) }
    }
}
