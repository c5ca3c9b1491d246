//! What a station puts on its link: passing units, its own echoes, its own packets, and the go bits of idle symbols.

use fabriloom_engine::fabric::retry_order;
use fabriloom_engine::kernel::Time;

use super::parts::{Kind, Outgoing, Sending, Sent, Symbol, Unit, What};
use super::rings::Rings;

impl Rings<'_> {
    /// Ends a unit that has left; the link is free.
    pub(crate) fn end_unit(&mut self, station: usize) {
        self.stations[station].left = false;
        let Some(sending) = self.stations[station].sending else { return };
        if self.end_of(station, &sending) != self.now {
            return;
        }
        let unit = self.units[sending.unit];
        assert_eq!(sending.next, unit.symbols, "a unit has left in part");
        self.stations[station].sending = None;
        self.stations[station].left = true;
        let first_time = matches!(unit.what, What::Send { busied: 0, .. });
        if sending.own && first_time && self.fabric.ring_hold_until_echo == 0 {
            self.stations[station].places_out[unit.sent.kind as usize] -= 1;
        }
        if sending.own && !self.has_echoes() {
            self.gone.push(sending.unit);
        }
    }

    /// Returns when a unit has left the link of a station.
    pub(crate) fn end_of(&self, station: usize, sending: &Sending) -> Time {
        sending.start + Time::from(self.units[sending.unit].symbols) * self.symbol_ticks(station)
    }

    /// Starts the next unit on a free link.
    pub(crate) fn start_unit(&mut self, station: usize) {
        self.visit(station);
        if self.stations[station].sending.is_some() {
            return;
        }
        let passing = self.stations[station].bypass_ready();
        let rest = self.until_slot(station);
        if rest > 0 {
            return self.wake_at(self.now + rest);
        }
        let goes_first = |ready| ready < self.now || self.fabric.ring_slot_symbols > 0 && ready == self.now;
        if passing.is_some_and(goes_first) {
            self.start_passing(station);
        } else if !self.may_by_token(station) {
            if passing == Some(self.now) {
                self.start_passing(station);
            }
        } else if let Some((ready, unit)) = self.own_unit(station) {
            self.stations[station].counts.wait_ticks += (self.now - ready) as u64;
            let longest = self.stations[station].longest_own.max(self.units[unit].symbols);
            self.stations[station].longest_own = longest;
            self.start(station, unit, true);
            self.count_by_token(station);
        } else if passing == Some(self.now) {
            self.start_passing(station);
        }
    }

    /// Returns the ticks until a slot begins at a station; 0 without slots.
    fn until_slot(&self, station: usize) -> Time {
        let f = self.fabric;
        if f.ring_slot_symbols == 0 {
            return 0;
        }
        let ring = f.station_ring[station];
        let lowest = f.station_ring.iter().position(|&other| other == ring);
        let (mut at, mut begin) = (lowest.expect("the ring has this station"), 0);
        while at != station {
            let next = f.station_next[at] as usize;
            begin += Time::from(f.link_arrival_ticks[at] + f.station_decode_ticks[next]);
            begin += Time::from(f.station_bypass_ticks[next]);
            at = next;
        }
        let slot = Time::from(f.ring_slot_symbols) * self.symbol_ticks(station);
        (begin - self.now).rem_euclid(slot)
    }

    fn start_passing(&mut self, station: usize) {
        let (_, symbol) = self.stations[station].bypass[0];
        self.count_waiting(station);
        assert_eq!(symbol.index, 0, "a unit was cut in two");
        self.start(station, symbol.unit, false);
    }

    fn start(&mut self, station: usize, unit: usize, own: bool) {
        let ticks = Time::from(self.units[unit].symbols) * self.symbol_ticks(station);
        let lost = self.lose(station, unit);
        let state = &mut self.stations[station];
        assert!(state.sending.is_none(), "a station sends two units at once");
        assert!(state.token_until <= self.now, "a unit meets a token");
        state.sending = Some(Sending { unit, own, start: self.now, next: 0, lost });
        let (unit, counts) = (&self.units[unit], &mut state.counts);
        counts.symbols += u64::from(unit.symbols);
        counts.busy_ticks += ticks as u64;
        match unit.what {
            What::Echo { .. } => counts.echo_ticks += ticks as u64,
            What::Send { busied, .. } => {
                counts.packets += 1;
                self.packet_hops += 1;
                if busied > 0 {
                    counts.retried += 1;
                    counts.retry_ticks += ticks as u64;
                }
            }
        }
        self.keep_idles(station, own);
        self.wake_at(self.now + ticks);
    }

    /// Returns the station's own unit (echo or packet) that may start first, and when it was ready, if any.
    fn own_unit(&mut self, station: usize) -> Option<(Time, usize)> {
        let echoes = self.stations[station].held_echoes.iter().enumerate();
        let ready = echoes.filter(|(_, (ready, _))| *ready <= self.now);
        if let Some((place, _)) = ready.min_by_key(|(place, (ready, _))| (*ready, *place)) {
            return Some(self.stations[station].held_echoes.remove(place));
        }
        let state = &self.stations[station];
        let may = state.outgoing.iter().enumerate().filter(|(_, packet)| self.may_start(station, packet));
        let (place, _) = may.min_by_key(|(_, packet)| self.turn(packet))?;
        let packet = state.outgoing[place].clone();
        let what = What::Send { phase: self.phase(station, &packet), busied: packet.busied };
        let Outgoing { entry, sent, ready, .. } = packet;
        let symbols = self.packet_symbols(sent);
        self.units.push(Unit { station, entry, sent, what, symbols, marked: false });
        let packet = &mut self.stations[station].outgoing[place];
        (packet.away, packet.tried) = (true, true);
        if sent.kind == Kind::Request {
            self.transactions[sent.transaction].started.get_or_insert(self.now);
        }
        Some((ready, self.units.len() - 1))
    }

    /// Returns the order of packets that may start.
    fn turn(&self, packet: &Outgoing) -> impl Ord + use<> {
        let kind = packet.sent.kind;
        let gives_way = self.fabric.ring_response_first == 1 && kind == Kind::Request;
        let behind = match self.fabric.ring_retry_order {
            retry_order::FIRST => !packet.tried,
            retry_order::NEW_FIRST => packet.tried,
            _ => false,
        };
        (gives_way, behind, packet.ready, kind, packet.entry)
    }

    /// Whether a packet in a transmit queue may start.
    pub(crate) fn may_start(&self, station: usize, packet: &Outgoing) -> bool {
        let state = &self.stations[station];
        let alike = || state.outgoing.iter().filter(|other| other.sent.kind == packet.sent.kind);
        let in_flight = alike().filter(|other| other.away).count();
        let rejected = alike().filter(|other| other.tried && !other.away).count();
        let ends = |sent: Sent| (self.source(sent), self.target(sent), sent.kind);
        let earlier = |other: &Outgoing| other.entry < packet.entry && ends(other.sent) == ends(packet.sent);
        !packet.away
            && packet.ready <= self.now
            && in_flight < self.fabric.station_in_flight[station] as usize
            && (packet.tried || rejected < self.fabric.station_rejected[station] as usize)
            && !(self.keeps_order(station, packet.sent.kind) && state.outgoing.iter().any(earlier))
            && !self.is_stopped(station)
    }

    /// Puts the next symbol of the unit on the wire when it is due.
    pub(crate) fn send_symbol(&mut self, station: usize) {
        let step = self.symbol_ticks(station);
        let Some(sending) = self.stations[station].sending else { return };
        if sending.next == self.units[sending.unit].symbols
            || self.now != sending.start + Time::from(sending.next) * step
        {
            return;
        }
        let symbol = Symbol { unit: sending.unit, index: sending.next };
        if !sending.own {
            let (ready, front) = self.stations[station].bypass.pop_front().expect("a passing unit is there");
            assert!(front == symbol && ready <= self.now, "the bypass FIFO has run dry");
        }
        let there = self.now + Time::from(self.fabric.link_arrival_ticks[station]);
        if !sending.lost {
            self.stations[station].wire.push_back((there, symbol));
        }
        self.stations[station].sending = Some(Sending { next: sending.next + 1, ..sending });
        self.wake_at(there);
        self.wake_at(self.now + step);
    }

    /// Counts the symbols that have waited in the bypass FIFO, when it begins to empty.
    fn count_waiting(&mut self, station: usize) {
        let state = &mut self.stations[station];
        let waiting = state.bypass.partition_point(|(ready, _)| *ready < self.now) as u64;
        state.counts.bypass_most = state.counts.bypass_most.max(waiting);
    }

    /// Checks that, with cut-through, no more symbols wait behind an own unit than the longest unit has.
    pub(crate) fn check_bypass(&self, station: usize) {
        let state = &self.stations[station];
        let waiting = state.bypass.partition_point(|(ready, _)| *ready <= self.now) as u64;
        assert!(
            self.fabric.ring_cut_through == 0 || waiting <= u64::from(state.longest_own),
            "the bypass FIFO of station {station} overflows: {waiting} symbols"
        );
    }

    /// Puts a packet that its user hands over at `given` into a transmit queue, where its place is reserved.
    pub(crate) fn enter(&mut self, station: usize, sent: Sent, given: Time) {
        let occupied = self.fabric.ring_interface_occupied == 1;
        let state = &mut self.stations[station];
        let begin = if occupied { given.max(state.transmits_until) } else { given };
        let ready = begin + Time::from(self.fabric.station_transmit_ticks[station]);
        state.transmits_until = ready;
        let entry = state.entries;
        state.entries += 1;
        let (away, tried, busied, label) = (false, false, 0, None);
        state.outgoing.push(Outgoing { entry, sent, ready, away, tried, busied, label });
        self.wake_at(ready);
    }

    /// Whether a transmit queue has a free place.
    pub(crate) fn has_transmit_place(&self, station: usize, kind: Kind) -> bool {
        let places = match kind {
            Kind::Request => self.fabric.station_requests_out[station],
            Kind::Response => self.fabric.station_responses_out[station],
        };
        assert!(self.stations[station].places_out[kind as usize] <= places, "a queue overflows");
        self.stations[station].places_out[kind as usize] < places
    }

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
