//! Whether a switch with a time-out might end a packet.
//!
//! A packet is ended when no character of it has crossed for the time of its switch. One that leaves its input buffer
//! sooner than that after its grant is not, and where none stays longer, time-outs change nothing: so this is all that is
//! computed here. If a packet may stay that long, the run begins again character by character (see
//! `Simulation::advance`). Watchdogs are set so that they end no packet that moves, and such runs are few.

use super::state::Network;
use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;

/// Returns the time after which a packet is ended at the end of a link; [`Time::MAX`]: never.
pub(super) fn timeout_at(fabric: &Fabric, link: usize) -> Time {
    match fabric.timeout_of(fabric.link_target[link]) {
        0 => Time::MAX,
        ticks => ticks,
    }
}

impl Network {
    /// Whether a packet may have been ended by now; `stuck`: or will be later, because nothing else happens.
    pub fn may_time_out(&self, now: Time, stuck: bool) -> bool {
        let stays = |link: &super::link::Link| {
            let (output, timeout) = (link.input.output(), self.kind(link).timeout);
            output != NONE && timeout < Time::MAX && {
                let granted = self.links[output as usize].port.last_grant();
                stuck || now - granted >= timeout
            }
        };
        self.overstays || self.fabric.has_timeouts() && self.links.iter().any(stays)
    }
}
