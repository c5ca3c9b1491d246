//! Whether a receive queue accepts a packet: places, and the two phases of reservations.

use super::parts::{Kind, Label, Outgoing, Owed, Phase, Sent, Unit, Verdict};
use super::rings::Rings;
use fabriloom_engine::kernel::Time;

impl Rings<'_> {
    fn receive_places(&self, station: usize, kind: Kind) -> u32 {
        match kind {
            Kind::Request => self.fabric.station_requests_in[station],
            Kind::Response => self.fabric.station_responses_in[station],
        }
    }

    /// Whether a receive queue has a free place.
    pub(crate) fn has_receive_place(&self, station: usize, kind: Kind) -> bool {
        let places = self.receive_places(station, kind) as usize;
        places == 0 || self.stations[station].received[kind as usize].len() < places
    }

    /// Returns the verdict of a controller before the last one of its port; None: the packet passes.
    pub(crate) fn judge_first(
        &self,
        station: usize,
        Unit { symbols, sent: Sent { kind, .. }, .. }: Unit,
        phase: Phase,
    ) -> Option<Verdict> {
        let state = &self.stations[station];
        let reserves = state.owed[kind as usize].count != [0, 0];
        let label = if let Phase::Retry(label) = phase { Some(label) } else { None };
        if self.has_receive_place(station, kind) && !reserves && label.is_none() {
            return Some(Verdict::Ready);
        }
        let packets = state.outgoing.iter().filter(|packet| !packet.away).map(|packet| packet.ready);
        let first = packets.chain(state.held_echoes.iter().map(|echo| echo.0)).min()?;
        let arrives = Time::from(symbols) * self.symbol_ticks(station);
        (first + arrives <= self.now).then_some(Verdict::Busy(label))
    }

    /// Returns the verdict of the receive queue of this kind on a packet.
    pub(crate) fn judge(&mut self, station: usize, kind: Kind, phase: Phase) -> Verdict {
        let has_place = self.has_receive_place(station, kind);
        let state = &mut self.stations[station];
        if self.fabric.ring_phases == 1 {
            state.owed[kind as usize].judge(has_place, phase)
        } else if has_place {
            Verdict::Ready
        } else {
            Verdict::Busy(None)
        }
    }

    /// Returns the phase in which a packet is sent.
    pub(crate) fn phase(&self, station: usize, packet: &Outgoing) -> Phase {
        if let Some(label) = packet.label {
            return Phase::Retry(label);
        }
        if self.fabric.ring_phases == 0 {
            return Phase::DoTry;
        }
        let taker = self.taker(station, packet.sent);
        let like = |other: &&Outgoing| {
            other.entry != packet.entry
                && other.sent.kind == packet.sent.kind
                && other.busied > 0
                && self.taker(station, other.sent) == taker
        };
        match self.stations[station].outgoing.iter().find(like) {
            Some(_) => Phase::NoTry,
            None => Phase::DoTry,
        }
    }

    /// Returns the first following station that takes a packet off the ring and does not let it pass, if any.
    pub(crate) fn taker(&self, station: usize, sent: Sent) -> Option<usize> {
        let target = self.target(sent);
        let mut at = self.fabric.station_next[station] as usize;
        while !self.takes(at, target) || self.is_followed(at, target) {
            if at == station {
                return None;
            }
            at = self.fabric.station_next[at] as usize;
        }
        Some(at)
    }
}

impl Owed {
    /// Uses a reservation of a label; after the last one of the label being served the other label is served.
    pub(crate) fn take(&mut self, label: Label) {
        self.count[label as usize] -= 1;
        if self.count[self.serving as usize] == 0 && self.count[self.serving.other() as usize] > 0 {
            self.serving = self.serving.other();
        }
    }

    fn judge(&mut self, has_place: bool, phase: Phase) -> Verdict {
        let serving = self.serving;
        if self.count == [0, 0] {
            return match phase {
                _ if has_place => Verdict::Ready,
                Phase::NoTry => Verdict::Busy(None),
                _ => {
                    self.count[serving as usize] += 1;
                    Verdict::Busy(Some(serving))
                }
            };
        }
        match phase {
            Phase::Retry(label) if has_place && label == serving => {
                self.take(label);
                Verdict::Ready
            }
            Phase::Retry(label) => Verdict::Busy(Some(label)),
            Phase::DoTry => {
                self.count[serving.other() as usize] += 1;
                Verdict::Busy(Some(serving.other()))
            }
            Phase::NoTry => Verdict::Busy(None),
        }
    }
}
