//! The equations of `docs/background/wormhole-model.md`, with the names of that page.
//!
//! The other files of this folder compute which of these terms are known, for how many characters, and which of them
//! cannot be the maximum. The twin evaluates none of them: there characters move (see the map in [`super`]).

use super::link::Kind;
use crate::kernel::Time;

/// `S_o(m)`: a character starts on the wire of a link when it has passed the switch, when the wire has sent the
/// previous character, and when it has credit. Supply and credit are those of whole runs in `Supply::follow` and
/// `Taken::take`; where only one character is meant, they are arguments here.
#[inline(always)]
pub(super) fn start(supply: Time, wire: Time, credit: Time) -> Time {
    supply.max(wire).max(credit)
}

/// `R_l(n)`: a character leaves the input buffer when it has arrived, when the crossbar has moved the previous ones
/// since the grant, and when there is a place in the output buffer: at `S_o(m - output_buffer) + character_ticks`.
#[inline(always)]
pub(super) fn departure(arrival: Time, crossbar: Time, place: Time) -> Time {
    arrival.max(crossbar).max(place)
}

impl Kind {
    /// `A_o(m)`: a character can be used at the target of its link.
    #[inline(always)]
    pub fn arrival(&self, start: Time) -> Time {
        start + Time::from(self.arrival)
    }

    /// `F(m)`, counted from the first character that needs credit: how many characters must have left the input buffer
    /// for a number of quanta beyond the initial ones.
    pub fn first_returned(&self, quanta: u32) -> u32 {
        self.quantum * (self.input_buffer / self.quantum + quanta) - self.input_buffer
    }

    /// `F(m)`: how many characters must have left the input buffer before one has credit, from its number.
    #[inline(always)]
    pub fn must_have_left(&self, number: i64) -> i64 {
        let quantum = i64::from(self.quantum);
        let begun = if quantum == 1 { number } else { number / quantum * quantum };
        begun + quantum - i64::from(self.input_buffer)
    }

    /// `R_o(F(m) - 1) + credit_ticks`: credit can be used.
    #[inline(always)]
    pub fn credit(&self, departure: Time) -> Time {
        departure + Time::from(self.credit_delay)
    }

    /// `H + decode_ticks`: a head requests a link. Its last header character started at a tick on the wire, and it is
    /// at the front from another tick on.
    #[inline(always)]
    pub fn request(&self, at_front: Time, last_of_header: Time) -> Time {
        at_front.max(self.arrival(last_of_header)) + Time::from(self.decode)
    }

    /// `R(end of packet) + handover_ticks`: its output is free again.
    #[inline(always)]
    pub fn release(&self, departure: Time) -> Time {
        departure + Time::from(self.handover)
    }

    /// `R(end of packet) + next_head_ticks`: the next packet is at the front.
    #[inline(always)]
    pub fn at_front(&self, departure: Time) -> Time {
        departure + Time::from(self.next_head)
    }

    /// `S(end of packet) + end_ticks + (arrival_ticks - character_ticks)`: a packet has been received whose end the
    /// wire has sent at a tick.
    #[inline(always)]
    pub fn delivery(&self, sent: Time) -> Time {
        self.arrival(sent) - Time::from(self.character)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantum_is_promised_when_all_its_places_are_free() {
        // 43 places allow 40 characters; the next eight when five have left: then 8 of 43 are free beyond the 35
        // allowed.
        let kind = Kind { quantum: 8, input_buffer: 43, ..Kind::default() };
        assert_eq!([1, 2, 3].map(|quanta| kind.first_returned(quanta)), [5, 13, 21]);
        let even = Kind { quantum: 8, input_buffer: 16, ..Kind::default() };
        assert_eq!([1, 2].map(|quanta| even.first_returned(quanta)), [8, 16]);
    }
}
