//! Places reserved for busied packets: two labels, served alternately.

use super::parts::Entry;
use super::state::Rings;
use crate::fabric::NONE;

/// No label.
pub(super) const UNLABELLED: u8 = 2;

/// The reservations of a receive queue for packets that it has busied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reservation {
    /// Number of reservations by label.
    pub owed: [u32; 2],
    /// The label being served.
    serving: u8,
}

impl Reservation {
    /// Whether a packet is accepted when there is `room`; if not, it keeps the label that it gets.
    fn accepts(&mut self, label: &mut u8, no_try: bool, room: bool) -> bool {
        let nothing_owed = self.owed == [0; 2];
        if room && (nothing_owed || *label == self.serving) {
            if !nothing_owed {
                self.take(*label);
            }
            return true;
        }
        if *label == UNLABELLED && !no_try {
            *label = if nothing_owed { self.serving } else { 1 - self.serving };
            self.owed[usize::from(*label)] += 1;
        }
        false
    }

    /// Releases the reservation of a packet that will not return. Without reservations A is served next.
    pub fn owe_no_longer(&mut self, label: u8) {
        self.take(label);
        if self.owed == [0; 2] {
            self.serving = 0;
        }
    }

    /// Uses a reservation of a label; after the last one of the label being served the other label is served, if it has
    /// reservations.
    fn take(&mut self, label: u8) {
        self.owed[usize::from(label)] -= 1;
        let (this, other) = (usize::from(self.serving), usize::from(1 - self.serving));
        if self.owed[this] == 0 && self.owed[other] > 0 {
            self.serving = 1 - self.serving;
        }
    }
}

impl Rings {
    /// Whether a receive queue accepts a packet; otherwise reserves a place.
    pub(super) fn reserve(&mut self, station: u32, kind: usize, entry: u32, room: bool) -> bool {
        let is = &mut self.entries[entry].is;
        let mut label = is.label();
        let accepted = self.reserved[station as usize][kind].accepts(&mut label, is.no_try(), room);
        is.set_label(label);
        accepted
    }

    /// Whether a station sends a packet without a label as `NOTRY`, because another one of its kind to the same station
    /// has been busied and not accepted.
    pub(super) fn goes_behind(&self, station: u32, entry: u32) -> bool {
        let Entry { dest, is, .. } = self.entries[entry];
        let mut taker = None;
        let mut other = self.rare[station as usize].open;
        while other != NONE {
            let (that, sent) = (self.entries[other].is, &self.sent[other as usize]);
            let busied = other != entry && that.known_busied() && that.response() == is.response();
            if busied && sent.by == *taker.get_or_insert_with(|| self.taker(station, dest)) {
                return true;
            }
            other = sent.next;
        }
        false
    }

    /// Returns the station that must take a packet off the ring of its sender, or [`NONE`].
    fn taker(&self, station: u32, dest: u32) -> u32 {
        let mut at = self.stations[station as usize].link.next;
        loop {
            if self.taken_to(at, dest).is_some() {
                return self.last_taker(at, dest);
            }
            if at == station {
                return NONE;
            }
            at = self.stations[at as usize].link.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reservations of a receive queue and the packets that it accepts, case by case.
    #[test]
    fn places_are_reserved_in_turns() {
        let mut queue = Reservation::default();
        // Three packets, and one that must not overtake another.
        let mut labels = [UNLABELLED; 4];
        let steps = [
            // No reservations: the first busied packet gets the label being served, a `NOTRY` packet gets none.
            (3, false, false, [0, 0]),
            (0, false, false, [1, 0]),
            // A has reservations: others are busied although there is a place, new ones for B.
            (1, true, false, [1, 1]),
            (3, true, false, [1, 1]),
            (1, true, false, [1, 1]),
            (0, false, false, [1, 1]),
            // A is served, then B; new packets meanwhile get A.
            (0, true, true, [0, 1]),
            (2, true, false, [1, 1]),
            (1, true, true, [1, 0]),
            (2, true, true, [0, 0]),
            (3, true, true, [0, 0]),
        ];
        for (step, (packet, room, accepted, owed)) in steps.into_iter().enumerate() {
            assert_eq!(queue.accepts(&mut labels[packet], packet == 3, room), accepted, "step {step}");
            assert_eq!(queue.owed, owed, "step {step}");
        }
    }
}
