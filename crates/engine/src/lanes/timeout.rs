//! Switches that end packets which have an output and do not move.

use super::event::Event;
use super::state::Network;
use crate::fabric::NONE;
use crate::kernel::Time;

impl Network {
    /// Starts the time-out of the packet at the front of a queue, which has been granted its lane.
    pub(super) fn watch_from_grant(&mut self, queue: u32) {
        let timeout = self.fabric.timeout_of(self.switch_at(self.queues[queue as usize].lane));
        if timeout > 0 {
            let at = &mut self.queues[queue as usize];
            at.moved_at = self.agenda.now;
            // A check that is due for the packet before it plans its own.
            if !at.watched {
                self.watch_until(queue, self.agenda.now + timeout);
            }
        }
    }

    fn watch_until(&mut self, queue: u32, time: Time) {
        self.queues[queue as usize].watched = true;
        self.agenda.watches.insert((time, queue));
    }

    /// Checks the packets that are due, in the order of their queues, after all other work of the tick; returns their
    /// number.
    pub fn watch_all(&mut self) -> u64 {
        let mut count = 0;
        while let Some(&(time, queue)) = self.agenda.watches.first()
            && time <= self.agenda.now
        {
            self.agenda.watches.pop_first();
            self.watch(queue);
            count += 1;
        }
        count
    }

    /// Plans no checks where no packet is left: the run would last until then.
    pub(super) fn may_stop_watching(&mut self) {
        if self.packets.count() == 0 {
            for (_, queue) in std::mem::take(&mut self.agenda.watches) {
                self.queues[queue as usize].watched = false;
            }
        }
    }

    /// Ends the packet at the front of a queue if it has not moved for too long; otherwise plans the next check.
    fn watch(&mut self, queue: u32) {
        let at = &mut self.queues[queue as usize];
        at.watched = false;
        let (lane, due) = (at.lane, at.moved_at);
        if at.output == NONE {
            return;
        }
        let due = due + self.fabric.timeout_of(self.switch_at(lane));
        if due > self.agenda.now { self.watch_until(queue, due) } else { self.time_out(queue) }
    }

    /// Ends the packet at the front of a queue: an error end follows the characters that have crossed, and the rest is
    /// spilled.
    fn time_out(&mut self, queue: u32) {
        let at = &self.queues[queue as usize];
        let (output, packet, missing) = (at.output, at.front().packet, at.front().left - at.delete);
        let (link, switch) = (self.fabric.link_of(output), self.switch_at(at.lane) as usize);
        self.lose(packet, |losses| &mut losses.timed_out, link);
        let to = &mut self.lanes[output as usize];
        if to.outgoing.back().is_some_and(|sent| sent.length == missing) {
            // Nothing has crossed, so there is nothing to end.
            to.outgoing.pop_back();
        } else {
            self.shorten(queue, missing - 1);
            self.packets[packet].pieces += 1;
            let ready = self.agenda.now + Time::from(self.fabric.switch_forward_ticks[switch]);
            self.enter(output, ready);
        }
        let handover = Time::from(self.fabric.switch_handover_ticks[switch]);
        self.agenda.schedule(Event::Release(output), self.agenda.now + handover);
        self.spill(queue);
    }
}
