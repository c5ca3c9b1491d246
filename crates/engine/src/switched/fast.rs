//! A shortcut: limits that are proved not to apply before a packet begins are not computed.
//!
//! It is a [`Case`](super::burst::Case) of the one step in [`super::transmit`], with its gain in instructions per
//! packet-hop in a saturated grid of 64 terminals with 64 B.

use super::burst::{Burst, FIRST, Supply, View};
use super::link::{Kind, Link};
use super::packet_path::Begun;
use super::state::UNKNOWN;
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
        from: Option<&Link>,
        returns: bool,
    ) -> Option<Begun> {
        let &mut Worm { time, end, .. } = worm;
        if self.credit.is_kept() {
            self.use_kept_credit(kind, time, end);
        }
        let burst = {
            let at = &*self;
            let supply = from.map(|from| Supply {
                line: from.wire.starts(),
                shift: at.output.shift(),
                way: at.output.way(),
            });
            let (entered, to, network) = (None, None, None);
            View { at, kind, time, end, from, supply, entered, to, returns, network }.burst::<FIRST>()?
        };
        Some(self.begin_with(kind, worm, header, &burst))
    }

    /// Sends the first part of a packet that is about to be put behind all others on this link.
    #[inline(always)]
    pub fn begin_with(&mut self, kind: &Kind, worm: &mut Worm, header: u32, burst: &Burst) -> Begun {
        self.send(kind, burst);
        worm.has_begun(burst.run.time);
        let asks = (self.head() == NONE) & (burst.run.count >= header) & !self.to_terminal;
        let asks_at =
            if asks { kind.request(self.input.exit_free(), burst.run.at(header - 1)) } else { UNKNOWN };
        let &Burst { run, last, again, credits, frees, .. } = burst;
        Begun { run, class: worm.class, asks_at, last, again, credits, frees }
    }
}
