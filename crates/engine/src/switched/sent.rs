//! Counts of a link for the table of links: complete packets, characters and ticks.

use super::link::Kind;
use crate::kernel::Time;
use crate::measure::LinkCounts;

/// Counts of what a link sent completely since they were last cleared.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Sent {
    packets: u64,
    /// Including headers and ends of packets.
    characters: u64,
    /// From the first character of each packet on the wire to the last, without what codes have of them.
    ticks: Time,
}

impl Sent {
    /// Counts a packet. `ticks`: from the start of its first character to the end of its last one.
    #[inline(always)]
    pub fn add(&mut self, characters: u32, ticks: Time) {
        self.packets += 1;
        self.characters += u64::from(characters);
        self.ticks += ticks;
    }

    /// Counts the characters of a packet that is not sent to its end, and the ticks from the first to after the last.
    pub fn add_part(&mut self, characters: u32, ticks: Time) {
        self.characters += u64::from(characters);
        self.ticks += ticks;
    }

    /// Takes ticks off that something else had within a packet.
    pub fn is_interrupted(&mut self, ticks: Time) {
        self.ticks -= ticks;
    }

    /// Returns the counts of a link. `wait_ticks`: time that heads have waited for it.
    pub fn counts(&self, kind: &Kind, wait_ticks: u64) -> LinkCounts {
        let Self { packets, characters, ticks } = *self;
        let busy_ticks = (characters - packets) * u64::from(kind.character) + packets * u64::from(kind.end);
        let stalled_ticks = (ticks - busy_ticks as Time) as u64;
        LinkCounts { packets, characters, busy_ticks, stalled_ticks, wait_ticks, most_stored: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_does_not_send_within_a_packet_is_stalled() {
        let kind = Kind { character: 10, end: 4, ..Kind::default() };
        let mut sent = Sent::default();
        sent.add(5, 44);
        sent.add(3, 30);
        let LinkCounts { packets, characters, busy_ticks, stalled_ticks, wait_ticks, .. } =
            sent.counts(&kind, 7);
        assert_eq!((packets, characters, busy_ticks, stalled_ticks, wait_ticks), (2, 8, 68, 6, 7));
    }
}
