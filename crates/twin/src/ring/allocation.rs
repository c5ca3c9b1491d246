//! Bandwidth allocation: the go bits of idle symbols decide which station may begin a packet.

use fabriloom_engine::kernel::Time;

use super::rings::Rings;

impl Rings<'_> {
    /// Whether the idle symbols of a station keep it from beginning packets.
    pub(crate) fn is_stopped(&self, station: usize) -> bool {
        !self.stations[station].says_go && self.is_among(self.fabric.ring_allocation, station)
    }

    /// Processes changes of idle symbols at the end of a link.
    pub(crate) fn take_edges(&mut self, link: usize) {
        let station = self.fabric.station_next[link] as usize;
        while let Some(&(there, go)) =
            self.stations[link].edges_on_wire.front().filter(|(there, _)| *there <= self.now)
        {
            assert_eq!(there, self.now, "a change was overlooked");
            self.stations[link].edges_on_wire.pop_front();
            self.heed(station, go);
        }
    }

    fn heed(&mut self, station: usize, go: bool) {
        let state = &mut self.stations[station];
        state.hears_go = go;
        state.saved |= go || state.absorbs && self.now > state.idle_from;
    }

    /// Decides, for a free link, whether the station continues to recover, and what its idle symbols say.
    pub(crate) fn say_go_or_stop(&mut self, station: usize) {
        let state = &mut self.stations[station];
        if self.fabric.ring_allocation == 0 || state.sending.is_some() {
            return;
        }
        let go = if state.absorbs {
            state.absorbs = state.bypass_ready().is_some_and(|ready| ready < self.now);
            !state.absorbs && (state.saved || state.hears_go)
        } else {
            state.hears_go || if state.left { state.saved } else { state.says_go }
        };
        self.say(station, go);
    }

    /// Begins a unit on a link; from the beginning of its own units, a station absorbs the idle symbols that arrive.
    pub(crate) fn keep_idles(&mut self, station: usize, own: bool) {
        let idle_from = self.now + self.coming_ticks(station);
        let state = &mut self.stations[station];
        if own {
            (state.absorbs, state.saved, state.idle_from) = (true, false, idle_from);
        } else if !state.absorbs {
            state.saved = false;
        }
    }

    /// Returns for how long a unit that is arriving keeps idle symbols away.
    fn coming_ticks(&self, station: usize) -> Time {
        let Some(&(ready, symbol)) = self.stations[station].bypass.front() else { return 0 };
        let symbols = if self.fabric.ring_cut_through == 1 { self.units[symbol.unit].symbols } else { 1 };
        if ready == self.now { Time::from(symbols) * self.symbol_ticks(station) } else { 0 }
    }

    /// Sets what the idle symbols on a link say from now on.
    fn say(&mut self, station: usize, go: bool) {
        if std::mem::replace(&mut self.stations[station].says_go, go) == go {
            return;
        }
        let next = self.fabric.station_next[station] as usize;
        let way = Time::from(self.fabric.link_arrival_ticks[station])
            + Time::from(self.fabric.station_decode_ticks[next])
            + Time::from(self.fabric.station_bypass_ticks[next]);
        let symbol = self.symbol_ticks(station);
        let edges = &mut self.stations[station].edges_on_wire;
        let there = edges.back().map_or(self.now + way, |(last, _)| (self.now + way).max(last + symbol));
        edges.push_back((there, go));
        self.wake_at(there);
    }
}
