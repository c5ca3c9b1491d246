//! The schedule of one wire: when characters start on it, and when it is free.

use super::queue::Run;
use super::timeline::{Number, Timeline};
use crate::kernel::Time;

/// The starts of characters on a wire, past and known future ones.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Wire {
    /// Earliest start of the next character.
    free: Time,
    /// When characters start.
    starts: Timeline,
    /// No character starts at this tick or later yet: see [`super::horizon`].
    horizon: Time,
}

impl Wire {
    /// Returns a free wire. `before`: the number of characters counted as sent long ago; one bufferful makes all places
    /// of the output buffer free. Characters of one packet follow each other no faster than `pace` ticks; they may be in
    /// groups of a quantum.
    pub fn new(before: u32, pace: u32, quantum: u32) -> Self {
        Self { free: 0, starts: Timeline::new(before, pace, quantum), horizon: Time::MAX }
    }

    /// Returns the tick at which no character starts yet, or later.
    #[inline(always)]
    pub fn horizon(&self) -> Time {
        self.horizon
    }

    /// Sets that tick: everything before it is known that can be, so that it may be earlier only if nothing can start.
    pub fn set_horizon(&mut self, horizon: Time) {
        self.horizon = horizon;
    }

    /// Whether the last of some characters would start at the horizon or later.
    #[inline(always)]
    pub fn is_beyond(&self, run: &Run) -> bool {
        run.at(run.count.wrapping_sub(1)) >= self.horizon
    }

    /// Returns the earliest start of the next character.
    #[inline(always)]
    pub fn free(&self) -> Time {
        self.free
    }

    /// Returns when characters start.
    #[inline(always)]
    pub fn starts(&self) -> &Timeline {
        &self.starts
    }

    /// Returns the number of the first character whose start is not known yet.
    #[inline(always)]
    pub fn known(&self) -> Number {
        self.starts.known()
    }

    /// Whether another run can be stored.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.starts.has_room()
    }

    /// Puts off the places of characters that were sent just now, see [`Timeline::put_off`].
    #[inline(always)]
    pub fn put_off(&mut self, run: &Run, crossbar: u32) {
        self.starts.put_off(run, crossbar);
    }

    /// The same for characters that were sent unseen. There must be room.
    pub fn put_off_unseen(&mut self, count: u32, crossbar: u32) {
        self.starts.put_off_skipped(count, crossbar);
    }

    /// Makes room for another run; starts before a character are not looked up any more.
    pub fn make_room(&mut self, keep: Number) {
        self.starts.make_room(keep);
    }

    /// Sends characters, the last of which takes this number of ticks. There must be room, and the wire free.
    #[inline(always)]
    pub fn send(&mut self, run: &Run, last: u32) {
        debug_assert!(run.time >= self.free, "a wire that is free at {} sends {run:?}", self.free);
        self.starts.push(run);
        debug_assert!(self.starts.last() < self.horizon, "{run:?} is beyond {}", self.horizon);
        self.free = self.starts.last() + Time::from(last);
    }

    /// Sends whole groups of characters, the last of which takes this number of ticks. There must be room, and the wire
    /// free.
    pub fn send_groups(&mut self, groups: &Run, last: u32) {
        debug_assert!(groups.time >= self.free, "a wire that is free at {} sends {groups:?}", self.free);
        self.starts.push_groups(groups);
        debug_assert!(self.starts.last() < self.horizon, "{groups:?} are beyond {}", self.horizon);
        self.free = self.starts.last() + Time::from(last);
    }

    /// Sends characters whose starts nobody will look up.
    pub fn send_unseen(&mut self, count: u32) {
        self.starts.skip(count);
    }

    /// Forgets the starts from a character on, of those that are looked up from another one on: all earlier ones were
    /// long ago. The wire is free.
    pub fn forget_from(&mut self, number: Number, keep: Number, places: u32) {
        self.starts.forget_from(number, keep, places);
        self.free = 0;
    }

    /// Sends a character that starts after the horizon.
    pub fn send_late(&mut self, run: &Run, last: u32) {
        self.starts.push(run);
        self.free = run.time + Time::from(last);
    }

    /// Sends nothing before a tick.
    #[inline(always)]
    pub fn hold_until(&mut self, time: Time) {
        self.free = time;
    }
}

#[cfg(test)]
mod tests {
    use std::num::Wrapping;

    use super::super::timeline::START;
    use super::*;

    #[test]
    fn a_wire_is_free_when_its_last_character_is_through() {
        let mut wire = Wire::new(3, 10, 8);
        wire.send(&Run { count: 4, step: 10, time: 100 }, 4);
        assert_eq!((wire.known(), wire.free()), (START + Wrapping(7), 134));
        assert_eq!(wire.starts().run_from(START + Wrapping(5)).time, 120);
        wire.hold_until(200);
        wire.send(&Run { count: 1, step: 10, time: 200 }, 10);
        assert_eq!((wire.starts().last(), wire.free()), (200, 210));
    }

    #[test]
    fn what_nobody_looks_up_takes_numbers_only() {
        let mut wire = Wire::new(0, 10, 8);
        wire.send_unseen(1000);
        wire.send(&Run { count: 2, step: 10, time: 10_000 }, 10);
        assert_eq!((wire.known(), wire.free()), (START + Wrapping(1002), 10_020));
    }

    #[test]
    #[should_panic(expected = "a wire that is free at 110")]
    #[cfg(debug_assertions)]
    fn a_busy_wire_sends_nothing() {
        let mut wire = Wire::new(0, 10, 8);
        wire.send(&Run { count: 1, step: 10, time: 100 }, 10);
        wire.send(&Run { count: 1, step: 10, time: 105 }, 10);
    }
}
