//! Congestion control: when packets join the sums of what waits, when they are taken out, and marked.

use super::parts::Stay;
use super::state::{Network, Packet};
use crate::fabric::NONE;
use crate::kernel::Time;

impl Network {
    /// Returns for which group a packet that has started on a lane waits in the buffer at its end, and from when on; None if
    /// it has no route there, or its header is truncated.
    fn joins_at(&self, stay: &Stay) -> Option<(u32, Time)> {
        let header = self.front_header(stay.packet);
        let is_truncated = stay.is_cut && stay.length <= header;
        let kind = self.kind(self.lanes[stay.lane as usize].link);
        let time = kind.arrival(self.start_of(stay, i64::from(header.max(1)) - 1));
        (stay.entry != NONE && !is_truncated).then_some((stay.entry >> 1, time))
    }

    /// Adds a packet that starts on a lane to those that wait at its end.
    #[inline(never)]
    pub(super) fn join(&mut self, stay: u32) {
        let Some((group, time)) = self.joins_at(&self.stays[stay]) else { return };
        let whole = self.stays[stay].whole;
        self.congestion.iter_mut().for_each(|at| at.joins(group, time, whole));
    }

    /// Takes a packet that does not arrive out of these again.
    #[cold]
    pub(super) fn give_up(&mut self, stay: Stay) {
        let Some((group, time)) = self.joins_at(&stay) else { return };
        self.congestion.iter_mut().for_each(|at| at.gives_up(group, time, stay.whole));
    }

    /// The same for one that has lost some characters, if its header was not truncated before and is now.
    pub(super) fn give_up_truncated(&mut self, stay: u32, missing: u32) {
        let after = self.stays[stay];
        if self.congestion.is_some() && self.joins_at(&after).is_none() {
            self.give_up(Stay { length: after.length + missing, ..after });
        }
    }

    /// The same for one that is spilled from now on.
    #[cold]
    pub(super) fn give_up_waiting(&mut self, stay: u32) {
        let (now, Stay { entry, whole, .. }) = (self.now, self.stays[stay]);
        let congestion = self.congestion.iter_mut().filter(|_| entry != NONE);
        congestion.for_each(|at| at.gives_up(entry >> 1, now, whole));
    }

    /// Marks a packet that is granted a lane, if its queue is long and the output is where it began.
    #[inline(never)]
    pub(super) fn mark(&mut self, stay: u32, output: u32) {
        let Stay { packet, whole, entry, .. } = self.stays[stay];
        let is_root = self.fabric.mark_victims == 1 || self.may_send(output, whole);
        let to = (entry >> 1, self.lanes[output as usize].link);
        let Some(congestion) = &mut self.congestion else { return };
        self.packets[packet].marked |= congestion.grants(&self.fabric, to, self.now, whole, is_root);
    }

    /// Tells the sender of a packet that has been received that it was marked.
    pub(super) fn notify(&mut self, packet: &Packet) {
        let congestion = self.congestion.iter_mut().filter(|_| packet.marked);
        congestion.for_each(|at| at.notify(&self.fabric, packet.delivery.source, self.now));
    }

    /// Lets a port whose link has sent a packet rest; returns until when, if it has to.
    pub fn rests_until(&mut self, port: u32) -> Option<Time> {
        self.congestion.as_mut()?.rests_until(&self.fabric, port, self.now)
    }
}
