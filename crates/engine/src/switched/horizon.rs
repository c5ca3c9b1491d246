//! What happens to a link from outside, and the horizon that it sets: no character starts at its tick or later before it
//! has happened, for nobody knows what it will do.
//!
//! It costs nothing where nothing can happen: a link with a horizon is not `common`, and every shortcut asks for that.
//! So far a link can only be stopped for a while, which nothing but tests does.

use std::collections::VecDeque;

use super::link::Link;
use super::queue::ALWAYS;
use super::state::{Event, Network};
use crate::kernel::Time;

/// What may happen to a link from outside, if anything may.
#[derive(Clone, Debug, Default)]
pub(super) struct Horizon(Option<Box<Outside>>);

/// What may still happen to a link.
#[derive(Clone, Debug)]
struct Outside {
    /// The tick of the next thing; [`Time::MAX`] if there is none.
    next: Time,
    /// No character starts before this tick.
    opens: Time,
    /// When it stops, and when it goes on.
    stops: VecDeque<(Time, Time)>,
}

impl Horizon {
    /// Whether anything may ever happen to the link, or might have.
    #[inline(always)]
    pub fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// The tick of the next thing that happens; [`Time::MAX`] if there is none.
    pub fn next(&self) -> Time {
        self.0.as_ref().map_or(Time::MAX, |outside| outside.next)
    }

    /// No character starts before this tick.
    pub fn opens(&self) -> Time {
        self.0.as_ref().map_or(ALWAYS, |outside| outside.opens)
    }
}

impl Link {
    /// Whether something may still happen to it from outside.
    pub fn has_horizon(&self) -> bool {
        self.horizon.next() < Time::MAX
    }
}

impl Network {
    /// Has a link start no character from a tick on until another one, for tests: several times, one after the other, and
    /// told before the network has begun.
    pub fn stop(&mut self, link: u32, from: Time, until: Time) {
        assert!(0 <= from && from < until && self.wheel.now() < 0, "a stop of link {link} at {from}");
        // What may happen to a link may be to a packet on all its links.
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
        // Behind the terminals, and the links of which packets have come to their terminals.
        let number = self.fabric.ports() + self.fabric.links() as u32 + link;
        self.schedule(Event::Source(number), time);
    }

    /// What is due happens to a link, if this is the number of one; it sends what it can up to the next horizon.
    pub fn happens_outside(&mut self, number: u32) -> bool {
        let Some(link) = number.checked_sub(self.fabric.ports() + self.fabric.links() as u32) else {
            return false;
        };
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
