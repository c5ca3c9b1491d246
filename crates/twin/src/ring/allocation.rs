//! Bandwidth allocation: a station whose bypass FIFO recovers stops the others.

use fabriloom_engine::kernel::Time;

use super::parts::Notice;
use super::rings::Rings;

impl Rings<'_> {
    /// Whether a stop keeps a station from beginning packets.
    pub(crate) fn is_stopped(&self, station: usize) -> bool {
        self.stations[station].stops > 0
    }

    /// Stops and goes that have come through a link are counted and sent on, except by the station they name.
    pub(crate) fn take_notices(&mut self, link: usize) {
        let station = self.fabric.station_next[link] as usize;
        while let Some(&(_, notice)) =
            self.stations[link].notices_on_wire.front().filter(|(there, _)| *there <= self.now)
        {
            self.stations[link].notices_on_wire.pop_front();
            if notice.name != station {
                self.stations[station].stops += if notice.stop { 1 } else { -1 };
                self.stations[station].notices.push(notice);
            }
        }
    }

    /// With a free link, whether a station begins or ends to recover.
    pub(crate) fn judge_recovery(&mut self, station: usize) {
        let state = &mut self.stations[station];
        if self.fabric.ring_allocation == 0 || state.sending.is_some() {
            return;
        }
        let waits = state.bypass_ready().is_some_and(|ready| ready <= self.now);
        let begins = !state.recovering && state.own_left && waits;
        let ends = state.recovering && !waits;
        if begins || ends {
            state.recovering = begins;
            state.notices.push(Notice { name: station, stop: begins });
        }
    }

    /// Stops and goes leave in the idle symbols behind the unit on the link, if there is one.
    pub(crate) fn send_notices(&mut self, station: usize) {
        let end = self.stations[station].sending.map(|sending| self.end_of(station, &sending));
        let next = self.fabric.station_next[station] as usize;
        let way = Time::from(self.fabric.link_arrival_ticks[station])
            + Time::from(self.fabric.station_decode_ticks[next])
            + Time::from(self.fabric.station_bypass_ticks[next]);
        let symbol = Time::from(self.fabric.link_character_ticks[station]);
        for notice in std::mem::take(&mut self.stations[station].notices) {
            let behind_unit = end.unwrap_or(self.now) + way;
            let before = self.stations[station].notices_on_wire.back();
            let there = before.map_or(behind_unit, |(last, _)| behind_unit.max(last + symbol));
            self.stations[station].notices_on_wire.push_back((there, notice));
            self.wake_at(there);
        }
    }
}
