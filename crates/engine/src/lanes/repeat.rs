//! Links that start nothing for a time: they send again what was wrong, or go on at another rate.

use super::state::Network;
use crate::fabric::NONE;
use crate::kernel::Time;

impl Network {
    /// Lets a link start nothing before a tick, and then at another rate.
    pub(super) fn change_rate(&mut self, link: u32, until: Time, ticks: Time) {
        let at = &mut self.links[link as usize];
        at.changes_rate(ticks);
        at.repeats_until = at.repeats_until.max(until);
        self.agenda.wake_wire(at, until);
        self.drop_frame(link);
    }

    /// Handles a wrong bit in the character that a free wire would start now, if there is one; returns whether it is sent
    /// again, later.
    #[cold]
    pub(super) fn is_put_off(&mut self, link: u32) -> bool {
        let now = self.agenda.now;
        let Some(lane) = self.starts_now(link) else { return false };
        let at = &mut self.links[link as usize];
        at.wrong_until = 0;
        if at.repeats {
            let begins = now + at.arrival + at.credit;
            let until = begins + self.repeat_frame(link, begins);
            let at = &mut self.links[link as usize];
            at.repeats_until = until;
            self.agenda.wake_wire(at, until);
            return true;
        }
        let dispatched = at.dispatched;
        let first = || self.lanes[lane as usize].outgoing.front().expect("a character is ready").packet;
        let packet = if dispatched == NONE { first() } else { dispatched };
        self.packets[packet].is_wrong_on(link, now);
        false
    }
}
