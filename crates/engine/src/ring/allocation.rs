//! Bandwidth allocation: a station whose bypass FIFO recovers stops the others.

use super::state::Rings;
use super::tick::SIGNAL;
use crate::kernel::Time;

impl Rings {
    /// Looks at a free link before its next start: does its station recover from what it has sent?
    pub(super) fn judge_recovery(&mut self, link: u32, waits: bool) {
        let now = self.now;
        let at = &mut self.stations[link as usize];
        let begins = at.own && at.free_at == now && waits && !at.recovering;
        if begins || (at.recovering && !waits) {
            at.recovering = begins;
            self.signals_out.push((link, link, !begins));
        }
    }

    /// Stops and goes have come along a link.
    pub(super) fn signalled(&mut self, link: u32) {
        let station = self.stations[link as usize].next;
        while let Some(&(time, origin, go)) = self.signals[link as usize].front() {
            if time > self.now {
                self.schedule(SIGNAL, link, time);
                break;
            }
            self.signals[link as usize].pop_front();
            if origin != station {
                self.heed(station, origin, go);
            }
        }
    }

    fn heed(&mut self, station: u32, origin: u32, go: bool) {
        let at = &mut self.stations[station as usize];
        if go {
            at.stops -= 1;
            self.reconsider(station);
        } else {
            at.stops += 1;
        }
        self.signals_out.push((station, origin, go));
    }

    /// Sends what is to be sent in this tick behind the units that are on the links now.
    pub(super) fn send_signals(&mut self) {
        let mut out = std::mem::take(&mut self.signals_out);
        for (link, origin, go) in out.drain(..) {
            let at = &self.stations[link as usize];
            let bypass = Time::from(self.stations[at.next as usize].bypass_ticks);
            let behind_unit = at.free_at.max(self.now) + Time::from(at.decoded) + bypass;
            let queue = &mut self.signals[link as usize];
            let symbol = Time::from(at.symbol);
            let time = queue.back().map_or(behind_unit, |last| behind_unit.max(last.0 + symbol));
            queue.push_back((time, origin, go));
            if queue.len() == 1 {
                self.schedule(SIGNAL, link, time);
            }
        }
        self.signals_out = out;
    }
}
