//! Events by number, and the four steps of a tick.

use std::cmp::Reverse;

use super::state::Rings;
use crate::fabric::Fabric;
use crate::kernel::Time;

/// The unit on a link has left it.
pub(super) const END: u32 = 0;
/// The front of a bypass FIFO is ready.
pub(super) const BYPASS: u32 = 1;
/// A unit of a station's own is ready.
pub(super) const WAKE: u32 = 2;
/// A packet is ready for the user of a station.
pub(super) const USER: u32 = 3;
/// A transfer from a port, or a service of a terminal, is over.
pub(super) const WORK: u32 = 4;
/// The station at the end of a link decides about a unit.
pub(super) const ARRIVE: u32 = 5;
/// A stop or a go is at the end of a link.
pub(super) const SIGNAL: u32 = 6;
/// Kinds of events there can be for each station, as a power of two.
const KINDS_SHIFT: u32 = 3;
const KINDS: u32 = (1 << KINDS_SHIFT) - 1;

/// How many numbers events have: those of the stations, one for each terminal to be asked, one for time-outs.
pub(super) fn events(fabric: &Fabric) -> usize {
    (fabric.links() << KINDS_SHIFT) + fabric.terminals as usize + 1
}

impl Rings {
    /// Has an event happen at a later tick.
    #[inline]
    pub(super) fn schedule(&mut self, kind: u32, station: u32, time: Time) {
        self.calendar.schedule(station << KINDS_SHIFT | kind, time);
    }

    /// Has the time-outs be looked at.
    pub(super) fn schedule_timeout(&mut self, time: Time) {
        self.calendar.schedule(self.sources() + self.numbers.len() as u32, time);
    }

    /// Has a terminal be asked at a later tick.
    pub fn schedule_source(&mut self, terminal: u32, time: Time) {
        self.calendar.schedule(self.sources() + terminal, time);
    }

    /// Number of the first event that is none of a station.
    fn sources(&self) -> u32 {
        (self.stations.len() as u32) << KINDS_SHIFT
    }

    /// The tick of the next event, if there is one.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        let alarm = self.alarms.peek().map(|&Reverse((time, _))| time);
        match (self.calendar.peek(), alarm) {
            (Some(event), Some(alarm)) => Some(event.min(alarm)),
            (event, alarm) => event.or(alarm),
        }
    }

    /// Ends and arrivals of the next tick, as given by [`Rings::next`]; the number of events.
    pub fn happen(&mut self, now: Time) -> u64 {
        self.now = now;
        let mut due = std::mem::take(&mut self.due);
        if self.alarms.is_empty() || self.calendar.peek() == Some(now) {
            self.calendar.take(now, &mut due);
        }
        let mut count = due.len() as u64;
        while self.alarms.peek().is_some_and(|&Reverse((time, _))| time <= now) {
            let Some(Reverse((_, link))) = self.alarms.pop() else { break };
            self.touch_link(link);
            count += 1;
        }
        let sources = self.sources();
        for &number in &due {
            let (kind, station) = (number & KINDS, number >> KINDS_SHIFT);
            if number >= sources || kind >= ARRIVE {
                self.arrivals.push(number);
            } else {
                self.end(kind, station);
            }
        }
        // After all other ends: a response that comes in the same tick is in time.
        self.time_out();
        for at in 0..self.arrivals.len() {
            let number = self.arrivals[at];
            if number >= sources {
                self.ask_due(number - sources);
            } else if number & KINDS == ARRIVE {
                self.arrive(number >> KINDS_SHIFT);
            } else {
                self.signalled(number >> KINDS_SHIFT);
            }
        }
        self.arrivals.clear();
        due.clear();
        self.due = due;
        for &terminal in &self.asking {
            self.numbers[terminal as usize].asked = false;
        }
        count
    }

    /// Goes on to a tick in which nothing happens by itself.
    pub fn go_to(&mut self, now: Time) {
        self.now = now;
    }

    /// The packet of a source is due, or the time-outs are to be looked at.
    fn ask_due(&mut self, terminal: u32) {
        if (terminal as usize) < self.numbers.len() {
            self.ask(terminal);
        }
    }

    #[inline]
    fn end(&mut self, kind: u32, station: u32) {
        match kind {
            END => self.left(station),
            BYPASS => {
                self.at(station).bypass_pending = false;
                self.touch_link(station);
            }
            WAKE => {
                self.at(station).wake_at = super::state::NEVER;
                self.touch_link(station);
            }
            USER => self.user_due(station),
            WORK => self.work_done(station),
            _ => {}
        }
    }

    /// Starts what can start in this tick. A terminal to which packets go in a circle is an error.
    ///
    /// # Errors
    /// The terminal.
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
        if !self.signals_out.is_empty() {
            self.send_signals();
        }
        self.astray.map_or(Ok(()), Err)
    }

    /// Has a link be looked at in this tick.
    #[inline]
    pub(super) fn touch_link(&mut self, link: u32) {
        let station = &mut self.stations[link as usize];
        if !station.touched {
            station.touched = true;
            self.links_touched.push(link);
        }
    }

    /// Has a switch be looked at in this tick.
    #[inline]
    pub(super) fn touch_switch(&mut self, switch: u32) {
        let at = &mut self.switches[switch as usize];
        if !at.touched && at.ready != 0 && at.free > 0 {
            at.touched = true;
            self.switches_touched.push(switch);
        }
    }
}
