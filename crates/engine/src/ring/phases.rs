//! Places reserved for what was busied: two labels, served in turns.

use super::state::{Entry, Rings};
use crate::fabric::NONE;

/// No label.
pub(super) const UNLABELLED: u8 = 2;

impl Rings {
    /// Whether a receive queue accepts a packet, and what it owes it if not.
    pub(super) fn reserve(&mut self, station: u32, kind: usize, entry: u32, room: bool) -> bool {
        let at = &mut self.stations[station as usize];
        let it = &mut self.entries[entry];
        let (owed, serving) = (&mut at.owed[kind], &mut at.serving[kind]);
        let label = match (it.label, it.no_try) {
            _ if owed[0] + owed[1] == 0 && room => return true,
            (UNLABELLED, true) => return false,
            (UNLABELLED, false) if owed[0] + owed[1] == 0 => *serving,
            (UNLABELLED, false) => 1 - *serving,
            (label, _) if label == *serving && room => {
                owed[usize::from(label)] -= 1;
                if owed[usize::from(label)] == 0 && owed[usize::from(1 - label)] > 0 {
                    *serving = 1 - label;
                }
                return true;
            }
            _ => return false,
        };
        owed[usize::from(label)] += 1;
        it.label = label;
        false
    }

    /// Whether a packet without a label goes out as `NOTRY`: another one of its kind to the same station has been
    /// busied and not accepted.
    pub(super) fn goes_behind(&self, entry: u32) -> bool {
        let Entry { station, response, .. } = self.entries[entry];
        let mut taker = None;
        let mut other = self.stations[station as usize].open;
        while other != NONE {
            let it = &self.entries[other];
            let busied = other != entry && it.known_busied && it.response == response;
            if busied && it.by == *taker.get_or_insert_with(|| self.taker(entry)) {
                return true;
            }
            other = it.open_next;
        }
        false
    }

    /// The station that will take a packet off the ring on which it is sent, or [`NONE`].
    fn taker(&self, entry: u32) -> u32 {
        let Entry { station, dest, .. } = self.entries[entry];
        let mut at = self.stations[station as usize].next;
        loop {
            if self.taken_to(at, dest).is_some() {
                return at;
            }
            if at == station {
                return NONE;
            }
            at = self.stations[at as usize].next;
        }
    }
}
