//! Congestion control: when packets join the sums of what waits, when they are taken out, and marked.

use super::parts::{Incoming, Outgoing};
use super::state::Network;
use crate::fabric::NONE;
use crate::kernel::Time;

impl Network {
    /// Returns the group for which a packet waits at the end of a lane, if it has a route there.
    fn waits_for(&self, lane: u32, packet: u32) -> Option<u32> {
        let (switch, (_, class)) = (self.switch_at(lane), self.front_header(packet));
        let entry = self.entry(self.packets[packet].table, switch, class, packet);
        (entry != NONE).then_some(entry >> 1)
    }

    /// Adds a packet whose header arrives at the end of a lane to those that wait there, unless it is truncated.
    #[inline(never)]
    pub(super) fn join(&mut self, lane: u32, sent: &Outgoing, arrives: Time) {
        if sent.length <= self.front_header(sent.packet).0 {
            return;
        }
        let (group, own) = (self.waits_for(lane, sent.packet), self.characters(sent.packet));
        let Some((congestion, group)) = self.congestion.as_mut().zip(group) else { return };
        congestion.joins(group, arrives, own);
    }

    /// Takes a packet that is discarded, or whose header does not arrive, out of these again, from a tick on.
    #[cold]
    pub(super) fn give_up(&mut self, lane: u32, packet: u32, time: Time) {
        let (group, own) = (self.waits_for(lane, packet), self.characters(packet));
        let Some((congestion, group)) = self.congestion.as_mut().zip(group) else { return };
        congestion.gives_up(group, time, own);
    }

    /// The same for the last packet of a queue, if its link has failed before all of its header has arrived.
    #[cold]
    pub(super) fn give_up_truncated(&mut self, queue: u32) {
        let at = &self.queues[queue as usize];
        let begun = at.packets.len() == 1 && (at.output != NONE || at.spills);
        let Some(&Incoming { packet, length, .. }) = at.packets.back().filter(|_| !begun) else { return };
        let (header, _) = self.front_header(packet);
        let (sent, needed) = (at.sent_of_last(), header.max(1));
        if length <= header || sent < needed {
            return;
        }
        let time = at.arrivals.get(at.arrivals.len() - sent + needed - 1);
        if time >= self.agenda.now {
            self.give_up(at.lane, packet, time);
        }
    }

    /// Marks a packet that is granted a lane, if its queue is long and the output is where it began.
    #[inline(never)]
    pub(super) fn mark(&mut self, from: u32, packet: u32, output: u32) {
        let (group, own) = (self.waits_for(from, packet), self.characters(packet));
        let is_root = self.fabric.mark_victims == 1 || self.may_send(output, own);
        let link = self.lanes[output as usize].link;
        let Some((congestion, group)) = self.congestion.as_mut().zip(group) else { return };
        let now = self.agenda.now;
        self.packets[packet].marked |= congestion.grants(&self.fabric, (group, link), now, own, is_root);
    }

    /// Whether the sender of a lane is not paused, or has credit for this many characters besides what it is to send.
    fn may_send(&self, lane: u32, characters: u32) -> bool {
        let link = &self.links[self.lanes[lane as usize].link as usize];
        let has_credit = || self.occupied(lane) + u64::from(characters) <= link.promised().into();
        link.to_terminal || self.pauses.as_ref().map_or_else(has_credit, |pauses| !pauses.is_paused(lane))
    }

    /// Lets a port whose link has sent a packet rest; returns until when, if it has to.
    pub fn rests_until(&mut self, port: u32) -> Option<Time> {
        self.congestion.as_mut()?.rests_until(&self.fabric, port, self.agenda.now)
    }
}
