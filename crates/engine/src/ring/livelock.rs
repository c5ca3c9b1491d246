//! Detection of livelock: rings are busy with packets that are sent again and again, and none is accepted.
//!
//! There is no progress while no station accepts a packet: everything else that happens to a packet follows from that
//! within known times. So the count of accepted packets is checked from time to time. If it does not change, nothing is
//! on its way to a user, a bus or a memory, and packets are busied all the time, the run is in livelock. The necessary
//! observation time follows from the scenario's own times; see [`Rings::is_livelocked`].

use super::state::Rings;
use crate::fabric::NONE;
use crate::kernel::Time;

/// Observation time, as a multiple of the longest wait of a packet for its next attempt.
const PATIENCE: Time = 200;

/// The longest payload of the standard, in bytes.
const LONGEST_BYTES: u32 = 256;

/// Since when no packet was accepted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Still {
    /// Tick of the first check that found `accepted`.
    since: Time,
    /// Packets accepted and busied up to then.
    accepted: u64,
    busied: u64,
    /// Ticks of the longest round trip, with a packet inserted by every station; 0: not known yet.
    round: Time,
}

impl Rings {
    /// Whether no packet was accepted, while packets were busied, for longer than [`PATIENCE`] times the longest round
    /// trip (with a packet inserted by every station) and the longest current retry delay. A growing delay is therefore
    /// never mistaken for a livelock.
    pub fn is_livelocked(&mut self) -> bool {
        let busied = self.rare.iter().map(|rare| rare.busied).sum();
        if self.accepted != self.still.accepted || busied < self.still.busied {
            self.still = Still { since: self.now, accepted: self.accepted, busied, ..self.still };
            return false;
        }
        if busied == self.still.busied || self.in_flight == 0 {
            return false;
        }
        if self.still.round == 0 {
            self.still.round = self.longest_round();
        }
        let lasted = self.now - self.still.since;
        lasted >= PATIENCE * self.still.round
            && self.longest_delay().is_some_and(|delay| lasted / PATIENCE >= self.still.round + delay)
    }

    /// Returns for how many ticks no packet was accepted, and the packets busied since.
    pub fn stood_still(&self) -> (Time, u64) {
        let busied: u64 = self.rare.iter().map(|rare| rare.busied).sum();
        (self.now - self.still.since, busied.saturating_sub(self.still.busied))
    }

    /// Returns the bytes of the longest payload of a source, at least those of the standard.
    fn longest_payload(&self) -> u32 {
        let f = &self.fabric;
        let lengths = [&f.length_max, &f.length_values, &f.flow_length, &f.list_length].into_iter().flatten();
        lengths.copied().fold(LONGEST_BYTES.max(f.message_packet_bytes), u32::max)
    }

    /// Returns the ticks of a round trip on the longest ring, waiting for one of the longest packets at every station.
    fn longest_round(&self) -> Time {
        let header = self.fabric.ring_request_header_bytes.max(self.fabric.ring_response_header_bytes);
        let symbols = self.symbols(header + self.longest_payload());
        let mut seen = vec![false; self.stations.len()];
        let mut longest = 1;
        for start in 0..self.stations.len() {
            let (mut round, mut at) = (0, start);
            while !std::mem::replace(&mut seen[at], true) {
                let timing = self.timing(at as u32);
                let units = Time::from(symbols) * Time::from(self.fabric.ring_token_packets.max(1));
                let units = units + Time::from(self.fabric.ring_token_symbols);
                round += Time::from(timing.ahead) + units * Time::from(timing.symbol);
                at = self.stations[at].link.next as usize;
            }
            longest = longest.max(round + 2 * self.fabric.ring_token_rotation_ticks as Time);
        }
        longest
    }

    /// Returns the longest retry delay that a packet is waiting for; None if a packet under way will be accepted,
    /// served or transferred, or is ready for the first time later.
    fn longest_delay(&self) -> Option<Time> {
        let mut longest = 0;
        for station in 0..self.stations.len() as u32 {
            if self.is_at_work(station) {
                return None;
            }
            let mut entry = self.rare[station as usize].open;
            while entry != NONE {
                let it = &self.sent[entry as usize];
                if self.entries[entry].is.known_busied() {
                    longest = longest.max(self.delay(it.busied));
                }
                entry = it.next;
            }
            let mut echo = self.rare[station as usize].echoes.head;
            while echo != NONE {
                let it = &self.units[echo];
                longest = longest.max(self.delay(self.sent[it.entry as usize].busied));
                echo = it.next;
            }
        }
        Some(longest)
    }

    /// Whether a station has work that will end: a service, a transfer, a latency before or after them, or an echo that
    /// was lost.
    fn is_at_work(&self, station: u32) -> bool {
        let at = &self.stations[station as usize];
        let comes_later = |entry: u32| entry != NONE && self.entries[entry].ready > self.now;
        at.at_work != NONE
            || self.is_at_bus(station)
            || self.faults.awaits(station)
            || self.faults.stopped(station, self.now).is_some()
            || !at.coming.is_empty()
            || at.held.iter().any(|queue| comes_later(queue.head))
            || at.fresh.iter().any(|queue| comes_later(queue.head))
    }
}
