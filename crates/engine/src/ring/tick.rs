//! Events by number, and the four steps of a tick.

use super::state::{NEVER, Rings};
use crate::fabric::NONE;
use crate::kernel::Time;

// Events are handled in the order of these numbers: first the ends, then what arrives, then sources and what goes on.

/// A link is checked: its unit has left it, or a waiting one may start.
pub(super) const LOOK: u32 = 0;
/// A packet is ready for the user of a station.
pub(super) const USER: u32 = 1;
/// A transfer from a port, or a service of a terminal, ends.
pub(super) const WORK: u32 = 2;
/// A packet is ready for a bus of a switch.
pub(super) const BUS: u32 = 3;
/// Time-outs are checked. Number 0: those of transactions; number `n`: that of the echo of unit `n - 1`. This is after
/// all other ends, so that a response in the same tick is in time.
const TIMEOUT: u32 = 4;
/// A station decides about a unit.
pub(super) const ARRIVE: u32 = 5;
/// A terminal's source is asked.
const SOURCE: u32 = 6;
/// A stuck terminal continues.
pub(super) const GO_ON: u32 = 7;
/// Bits below the kind of an event, for the number of its object.
const KIND_SHIFT: u32 = 29;
/// Number of kinds.
pub(super) const KINDS: usize = 1 << (32 - KIND_SHIFT);

/// Kind and number of an event.
#[inline]
pub(super) fn parts(event: u32) -> (u32, u32) {
    (event >> KIND_SHIFT, event & ((1 << KIND_SHIFT) - 1))
}

impl Rings {
    /// Schedules an event of a station, a unit or a switch at a later tick.
    #[inline]
    pub(super) fn schedule(&mut self, kind: u32, number: u32, time: Time) {
        self.calendar.schedule(kind << KIND_SHIFT | number, time);
    }

    /// Schedules a check of the time-outs.
    pub(super) fn schedule_timeout(&mut self, time: Time) {
        self.schedule(TIMEOUT, 0, time);
    }

    /// Schedules when the sender of a lost unit forgets it.
    pub(super) fn schedule_forgetting(&mut self, unit: u32, time: Time) {
        self.schedule(TIMEOUT, unit + 1, time);
    }

    /// Schedules a request to a terminal's source at a later tick.
    pub fn schedule_source(&mut self, terminal: u32, time: Time) {
        self.schedule(SOURCE, terminal, time);
    }

    /// Returns the tick of the next event, if any; otherwise the last tick of what happens without an event.
    #[inline]
    pub fn next_tick(&mut self) -> Option<Time> {
        if self.oldest == NONE && self.timeout_at != NEVER {
            self.leave_out_time_out();
        }
        self.calendar.next_tick().or_else(|| (self.last > self.now).then_some(self.last))
    }

    /// Removes the next event if it is a check of time-outs, while no transaction can time out: the run would last until
    /// then.
    #[cold]
    fn leave_out_time_out(&mut self) {
        if self.calendar.next_tick() == Some(self.timeout_at)
            && self.calendar.remove(TIMEOUT << KIND_SHIFT, self.timeout_at)
        {
            self.timeout_at = NEVER;
        }
    }

    /// Handles the ends and arrivals of the tick that [`Rings::next_tick`] returned; returns the number of events.
    #[inline]
    pub fn happen(&mut self, now: Time) -> u64 {
        self.now = now;
        let (mut count, is_large) = (0, self.calendar.is_large());
        loop {
            if is_large && self.calendar.has_ahead() {
                self.prefetch();
            }
            let Some(event) = self.calendar.pop(now) else { break };
            count += 1;
            let (kind, number) = parts(event);
            match kind {
                LOOK => self.look_due(number),
                USER => self.user_due(number),
                WORK => self.work_done(number),
                BUS => self.bus_due(number),
                TIMEOUT if number > 0 => self.forget_lost(number - 1),
                TIMEOUT => self.time_out(),
                ARRIVE => self.arrive(number),
                GO_ON => self.services_touched.push(number),
                _ => self.source_due(number),
            }
        }
        for &terminal in &self.asking {
            self.numbers[terminal as usize].asked = false;
        }
        count
    }

    /// Moves on to a tick without events.
    pub fn go_to(&mut self, now: Time) {
        self.now = now;
    }

    /// Starts what can start in this tick.
    ///
    /// # Errors
    /// A terminal whose packets loop.
    #[inline(always)]
    pub fn start(&mut self) -> Result<(), u32> {
        while let Some(station) = self.services_touched.pop() {
            self.serve(station);
        }
        while let Some(switch) = self.switches_touched.pop() {
            self.arbitrate(switch);
        }
        while let Some(link) = self.links_touched.pop() {
            self.start_link(link);
        }
        self.astray.map_or(Ok(()), Err)
    }

    /// Marks a link for a check in this tick.
    #[inline]
    pub(super) fn touch_link(&mut self, link: u32) {
        let at = &mut self.stations[link as usize].link;
        if !at.touched {
            at.touched = true;
            self.links_touched.push(link);
        }
    }

    /// Marks a switch for a check in this tick.
    #[inline]
    pub(super) fn touch_switch(&mut self, switch: u32) {
        let at = &mut self.switches[switch as usize];
        if !at.touched && at.holds != 0 && at.free != [0, 0] {
            at.touched = true;
            self.switches_touched.push(switch);
        }
    }
}
