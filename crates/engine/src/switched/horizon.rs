//! Events of a link from outside, and the horizon that they set: until such an event has happened, no character starts
//! at its tick or later, because its effect is unknown.
//!
//! Links without such events pay nothing: a link with a horizon is not `common`, and in a network with one no link is
//! left behind, so no shortcut starts characters beyond it. Credit that is taken early starts none. Currently the only such event is a stop of a link for some time, which only tests use.

use std::collections::VecDeque;

use super::link::Link;
use super::queue::ALWAYS;
use super::state::{Event, Network};
use crate::kernel::Time;

/// The events that may act on a link from outside, if any.
#[derive(Clone, Debug, Default)]
pub(super) struct Horizon(Option<Box<Outside>>);

/// The future events of a link.
#[derive(Clone, Debug)]
struct Outside {
    /// The tick of the next event; [`Time::MAX`] if there is none.
    next: Time,
    /// No character starts before this tick.
    opens: Time,
    /// When it stops, and when it continues.
    stops: VecDeque<(Time, Time)>,
}

impl Horizon {
    /// Whether any event may act on the link, or could have.
    #[inline(always)]
    pub fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the tick of the next event from outside; [`Time::MAX`] if there is none.
    pub fn next(&self) -> Time {
        self.0.as_ref().map_or(Time::MAX, |outside| outside.next)
    }

    /// No character starts before this tick.
    pub fn opens(&self) -> Time {
        self.0.as_ref().map_or(ALWAYS, |outside| outside.opens)
    }
}

impl Link {
    /// Whether it has future events from outside.
    pub fn has_horizon(&self) -> bool {
        self.horizon.next() < Time::MAX
    }
}

impl Network {
    /// Makes a link start no character between two ticks, for tests: several times in order, and before the network
    /// begins.
    pub fn stop(&mut self, link: u32, from: Time, until: Time) {
        assert!(0 <= from && from < until && self.wheel.now() < 0, "a stop of link {link} at {from}");
        // What happens to a link may affect a packet on all its links.
        self.on_demand = false;
        let at = &mut self.links[link as usize];
        at.set_uncommon();
        let new = Outside { next: Time::MAX, opens: 0, stops: VecDeque::new() };
        let horizon = at.horizon.0.get_or_insert_with(|| Box::new(new));
        assert!(
            horizon.stops.back().is_none_or(|last| last.1 < from),
            "link {link} is stopped twice at {from}"
        );
        horizon.stops.push_back((from, until));
        if horizon.next == Time::MAX {
            horizon.next = from;
            self.schedule_outside(link, from);
        }
    }

    fn schedule_outside(&mut self, link: u32, time: Time) {
        // After the numbers of the ports, and of the links with arrivals at terminals: see `Event::Source`.
        let number = self.fabric.ports() + self.fabric.links() as u32 + link;
        self.schedule(Event::Source(number), time);
    }

    /// Handles the event that is due at a link, if the number is that of a link; the link sends up to the next horizon.
    #[inline]
    pub fn happens_outside(&mut self, number: u32) -> bool {
        let link = number.checked_sub(self.fabric.ports() + self.fabric.links() as u32);
        link.is_some_and(|link| self.stops(link))
    }

    #[cold]
    fn stops(&mut self, link: u32) -> bool {
        let horizon = self.links[link as usize].horizon.0.as_mut().expect("something happens to it");
        let (_, until) = horizon.stops.pop_front().expect("it stops");
        horizon.opens = until;
        horizon.next = horizon.stops.front().map_or(Time::MAX, |next| next.0);
        let horizon = horizon.next;
        if horizon < Time::MAX {
            self.schedule_outside(link, horizon);
        }
        self.settle::<true>(link);
        true
    }
}
