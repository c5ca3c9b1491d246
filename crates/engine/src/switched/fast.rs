//! Shortcuts: limits that are proved not to apply before a link sends are not computed.
//!
//! Each is a [`Case`](super::burst::Case) of the one step in [`super::transmit`], or combines many of these steps. Each
//! states the equation that it shortens, its conditions, what happens otherwise, and its gain: instructions per
//! packet-hop without and with it, in a saturated grid of 64 terminals with 64 B, unless stated otherwise.

use std::hint::cold_path;

use super::burst::{Burst, CREDIT, FIRST, SUPPLY, Supply, View};
use super::link::{Kind, Link};
use super::packet_path::Begun;
use super::state::{Network, UNKNOWN};
use super::worm::Worm;
use crate::fabric::NONE;

impl Link {
    /// Sends the arrived part of a packet that is about to be put behind all others on this link, which have been sent.
    ///
    /// * Equation: `S(m) = max(supply, wire)` with the available credit.
    /// * Conditions: the link is plain, no credit is needed that returns late, and the last character that is known to
    ///   arrive is in time.
    /// * Otherwise only stored credit is taken, and the packet begins with a step of the case `PLAIN`.
    /// * Gain: 3063 to 2898 with the C104, 3847 to 3668 with SpaceWire.
    ///
    /// `header`: characters of its front header. `returns`: see [`View`].
    #[inline(always)]
    pub fn begin(
        &mut self,
        kind: &Kind,
        worm: &mut Worm,
        header: u32,
        from: Option<&mut Link>,
        returns: bool,
    ) -> Option<Begun> {
        let &mut Worm { time, end, .. } = worm;
        if self.credit.is_kept() {
            self.use_kept_credit(kind, time, end);
        }
        let burst = {
            let (at, from) = (&*self, from.as_deref());
            let supply = from.map(|from| Supply {
                line: from.wire.starts(),
                shift: at.output.shift(),
                way: at.output.way(),
            });
            let (entered, to, network) = (None, None, None);
            View { at, kind, time, end, from, supply, entered, to, returns, network }.burst::<FIRST>()?
        };
        if let Some(from) = from {
            from.due.set_woken(burst.credits);
        }
        Some(self.begin_with(kind, worm, header, &burst))
    }

    /// Sends the first part of a packet that is about to be put behind all others on this link.
    #[inline(always)]
    pub fn begin_with(&mut self, kind: &Kind, worm: &mut Worm, header: u32, burst: &Burst) -> Begun {
        self.send(kind, burst);
        worm.has_begun(burst.run.time);
        let asks = (self.head() == NONE) & (burst.run.count >= header) & !self.leads_to_terminal();
        let asks_at =
            if asks { kind.request(self.input.exit_free(), burst.run.at(header - 1)) } else { UNKNOWN };
        let &Burst { run, last, again, credits, frees, .. } = burst;
        Begun { run, class: worm.class, asks_at, last, again, credits, frees }
    }
}

impl Network {
    /// Sends the characters for which there is credit now, on a link that has waited for nothing else.
    ///
    /// * Equation: `S(m) = max(wire, credit)`; of credit, the first character and the one after the single change of
    ///   pace.
    /// * Conditions: no credit is left or stored, all known credit returns in at most two runs, the second of which is
    ///   in time once the first is, and the last character that is known to arrive is in time.
    /// * Otherwise a step of the case `PLAIN`.
    /// * Gain: 2996 to 2898 with the C104, 3710 to 3668 with SpaceWire.
    ///
    /// Returns a link that sends next, or [`NONE`].
    #[inline(never)]
    pub(super) fn go_on<const PACED: bool>(&mut self, link: u32) -> u32 {
        let at = &mut self.links[link as usize];
        if at.credit.characters() > 0 {
            // It was taken early, so what has arrived is all that it needs.
            at.due.set_woken(false);
            return self.pass_on::<PACED>(link);
        }
        if let Some(next) = self.transmit::<PACED, CREDIT>(link) {
            return next;
        }
        cold_path();
        self.transmit_any::<PACED>(link)
    }

    /// Immediately sends the characters that arrive at a link that has credit and waits for them; this is usual if the
    /// link before it had no credit until now.
    ///
    /// * Equation: `S(m) = S(m - 1) + character_ticks`: the wire alone.
    /// * Conditions: the header has passed, nothing else is due, and the last character that is known to arrive is in
    ///   time.
    /// * Otherwise the link is woken, for a step of the case `PLAIN`.
    /// * Gain: 2974 to 2898 with the C104, 3745 to 3668 with SpaceWire.
    ///
    /// Returns a link that sends next, or [`NONE`].
    #[inline(never)]
    pub(super) fn pass_on<const PACED: bool>(&mut self, output: u32) -> u32 {
        match self.transmit::<PACED, SUPPLY>(output) {
            Some(next) => next,
            None => {
                cold_path();
                self.wake(output);
                NONE
            }
        }
    }
}
