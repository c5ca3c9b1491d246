//! How soon codes can come to wires: the lower limit from which their horizons follow.
//!
//! Let `least(l)` be the ticks from the creation of a code until it can be ready for the wire of link `l`, if it waits
//! nowhere. What happens to a code at tick `t` at link `k` makes another one ready for `l` no earlier than
//! `t + least(l) - least(k)`. So there is nothing new for `l` before
//!
//! * the next code made, and `least(l)`;
//! * this limit for each code under way, also at least the way over one link and through the switch before `l`;
//! * but a code that this switch would drop counts for nothing, and an interrupt that it holds not before it is free.
//!
//! So each code holds a wire about once, shortly before it comes there.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;
use crate::links::codes::{Codes, Place};

/// The shortest ways of codes.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    /// Per link, see above; [`Time::MAX`] if no code comes there.
    least: Vec<Time>,
    /// The shortest time of a code on a link.
    nearest: Time,
}

impl Paths {
    pub fn new(fabric: &Fabric) -> Self {
        let mut least = vec![Time::MAX; fabric.links()];
        let mut outputs = vec![Vec::new(); fabric.switches as usize];
        for (link, &from) in (0..).zip(&fabric.link_source) {
            if let Some(links) = outputs.get_mut(from as usize) {
                links.push(link);
            }
        }
        let first = |&port: &u32| Reverse((0, fabric.terminal_out_link[port as usize]));
        let mut next: BinaryHeap<Reverse<(Time, u32)>> = fabric.code_port.iter().map(first).collect();
        while let Some(Reverse((time, link))) = next.pop() {
            if least[link as usize] <= time {
                continue;
            }
            least[link as usize] = time;
            let target = fabric.link_target[link as usize] as usize;
            let Some(links) = outputs.get(target) else { continue };
            let soonest = fabric.switch_code_ticks[target] - fabric.code_jitter_ticks;
            let through = fabric.link_code_arrival_ticks[link as usize] + soonest;
            next.extend(links.iter().map(|&link| Reverse((time + Time::from(through), link))));
        }
        let nearest = fabric.link_code_arrival_ticks.iter().copied().min().unwrap_or(NONE).into();
        Self { least, nearest }
    }

    /// Returns a tick after the present one before which no code becomes ready for a link; those that wait there do not
    /// count.
    pub fn next(&self, fabric: &Fabric, codes: &Codes, link: u32, now: Time) -> Time {
        let least = self.least[link as usize];
        if least == Time::MAX {
            return least;
        }
        let mut next = codes.next_made().saturating_add(least).min(codes.promised(link));
        let switch = fabric.link_source[link as usize];
        if fabric.is_terminal(switch) {
            return next;
        }
        let through = Time::from(fabric.switch_code_ticks[switch as usize] - fabric.code_jitter_ticks);
        codes.for_acceptable(switch, now, |time, accepted, place| {
            let earliest = match place {
                Place::OnWire(on) if fabric.link_target[on as usize] == switch => time,
                Place::OnWire(on) => {
                    let arrived = Time::from(fabric.link_code_arrival_ticks[on as usize]);
                    self.onward(time - arrived, on, time + self.nearest, least - through)
                }
                Place::Before(on) => self.onward(time, on, time + self.nearest, least - through),
            };
            next = next.min(earliest.max(accepted) + through);
        });
        next
    }

    /// Returns the earliest arrival at the switch before a link, which is `least` for a code that is made at tick 0.
    fn onward(&self, ready: Time, on: u32, nearest: Time, least: Time) -> Time {
        (ready - self.least[on as usize] + least).max(nearest)
    }
}
