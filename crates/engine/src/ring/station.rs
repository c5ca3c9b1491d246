//! What a station does with what comes along its ring: pass, strip and echo.

use super::output::Order;
use super::parts::{Entry, Held, Kind, Unit};
use super::state::{RESPONSE, Rings};
use super::tick::{ARRIVE, BYPASS, END};
use crate::fabric::{NONE, PASS, retry};
use crate::kernel::Time;

/// No delay of a retry is longer.
const MOST_DELAY_TICKS: Time = 1 << 40;

impl Rings {
    /// When the station at the end of a link decides about a unit on it.
    pub(super) fn decision(&self, link: u32, unit: u32) -> Time {
        let (unit, on) = (&self.units[unit], &self.stations[link as usize]);
        let head = unit.time + Time::from(on.decoded);
        let whole = self.fabric.ring_cut_through == 0 || (unit.kind != Kind::Send && unit.station == on.next);
        if whole { head + Time::from(unit.symbols - 1) * Time::from(on.symbol) } else { head }
    }

    /// The station at the end of a link decides about the first unit on it.
    pub(super) fn arrive(&mut self, link: u32) {
        let on = &mut self.stations[link as usize];
        let station = on.next;
        let unit = on.wire.pop(&mut self.units);
        let behind = on.wire.head;
        if behind != NONE {
            let time = self.decision(link, behind);
            self.schedule(ARRIVE, link, time);
        }
        let Unit { entry, kind, station: sender, dest, .. } = self.units[unit];
        if kind != Kind::Send {
            if sender == station {
                self.units.remove(unit);
                self.answered(entry, kind == Kind::Ready);
                return;
            }
        } else if let Some(target) = self.taken_to(station, dest) {
            self.strip(link, unit, target);
            return;
        } else if self.stations[station as usize].scrubs
            && std::mem::replace(&mut self.units[unit].marked, true)
        {
            self.units.remove(unit);
            self.scrub(entry);
            return;
        }
        let ready = self.now + Time::from(self.stations[station as usize].bypass_ticks);
        self.pass(station, unit, ready);
    }

    /// Whether a station takes packets for a terminal off its ring: the station to which they go on, its own if
    /// they stay.
    #[inline]
    pub(super) fn taken_to(&self, station: u32, dest: u32) -> Option<u32> {
        let at = &self.stations[station as usize];
        if at.port == NONE {
            return (at.terminal == dest).then_some(station);
        }
        let way = self.fabric.port_route[at.port as usize * self.numbers.len() + dest as usize];
        let first = self.switches[at.switch as usize].first;
        (way != PASS).then(|| self.fabric.port_station[first as usize + way as usize])
    }

    /// Puts a unit into a bypass FIFO.
    fn pass(&mut self, station: u32, unit: u32, ready: Time) {
        self.units[unit].time = ready;
        let at = &mut self.stations[station as usize];
        let first = at.bypass.is_empty();
        at.bypass.push(&mut self.units, unit);
        if first {
            self.await_bypass(station, ready);
        }
    }

    /// Has the link be looked at when the front of the bypass FIFO is ready and the link is free.
    #[inline]
    pub(super) fn await_bypass(&mut self, station: u32, ready: Time) {
        let now = self.now;
        let at = &mut self.stations[station as usize];
        if at.free_at > now {
            self.await_end(station);
        } else if ready <= now {
            self.touch_link(station);
        } else if !at.bypass_pending {
            at.bypass_pending = true;
            self.schedule(BYPASS, station, ready);
        }
    }

    /// Has the link be looked at when it is free.
    #[inline]
    pub(super) fn await_end(&mut self, station: u32) {
        let at = &mut self.stations[station as usize];
        if !at.end_pending {
            at.end_pending = true;
            let end = at.free_at;
            self.schedule(END, station, end);
        }
    }

    /// Takes a send packet off the ring and answers with an echo, in its place.
    fn strip(&mut self, link: u32, unit: u32, target: u32) {
        let station = self.stations[link as usize].next;
        let Unit { entry, symbols, response, .. } = self.units[unit];
        let symbol = Time::from(self.stations[link as usize].symbol);
        let accepted = self.accepts(station, entry, usize::from(response));
        if accepted {
            let whole = if self.fabric.ring_cut_through == 0 { 0 } else { Time::from(symbols - 1) * symbol };
            self.hold(station, entry, self.now + whole, target);
        } else {
            self.stations[link as usize].count.busied += 1;
            let entry = &mut self.entries[entry];
            entry.busied += 1;
            entry.by = station;
        }
        let echo_bytes = self.fabric.ring_echo_bytes + self.fabric.ring_echo_idle_bytes;
        let echo_symbols = echo_bytes.div_ceil(2);
        let cut = if self.fabric.ring_cut_through == 0 { 0 } else { symbols - echo_symbols };
        let bypass = Time::from(self.stations[station as usize].bypass_ticks);
        let ready = self.now + bypass + Time::from(cut) * symbol;
        let echo = &mut self.units[unit];
        echo.symbols = echo_symbols;
        echo.kind = if accepted { Kind::Ready } else { Kind::Busy };
        if accepted || self.fabric.ring_retry_at_responder == 0 {
            self.pass(station, unit, ready);
        } else {
            let delay = self.delay(self.entries[entry].busied);
            self.hold_back(station, unit, ready + delay);
        }
    }

    /// Puts a packet that was accepted into its receive queue; it stands there whole at `whole`.
    fn hold(&mut self, station: u32, entry: u32, whole: Time, target: u32) {
        let Entry { deal, from, dest, bytes, response, .. } = self.entries[entry];
        let at = &mut self.stations[station as usize];
        at.in_free[usize::from(response)] -= 1;
        let ready = whole + Time::from(at.receive);
        let held = self.helds.add(Held { ready, deal, next: NONE, from, dest, bytes, target, response });
        self.received(station, held);
    }

    fn delay(&self, busied: u32) -> Time {
        let first = self.fabric.ring_retry_delay_ticks as Time;
        let factor = match self.fabric.ring_retry_strategy {
            retry::LINEAR => Time::from(busied),
            retry::EXPONENTIAL => 1 << (busied - 1).min(40),
            _ => 1,
        };
        first.saturating_mul(factor).min(MOST_DELAY_TICKS)
    }

    /// A busy echo that its station keeps for the delay of the retry.
    fn hold_back(&mut self, station: u32, unit: u32, ready: Time) {
        self.units[unit].time = ready;
        let at = &mut self.stations[station as usize];
        at.echoes.insert(&mut self.units, unit, |a, b| a.time > b.time);
        at.waiting += 1;
        self.await_own(station, ready);
    }

    /// The sender of a packet knows from its echo whether it was accepted.
    fn answered(&mut self, entry: u32, accepted: bool) {
        if accepted {
            let Entry { deal, ends_deal, .. } = self.entries[entry];
            if ends_deal {
                self.end_deal(deal);
            }
            self.entry_over(entry);
            return;
        }
        let at_responder = self.fabric.ring_retry_at_responder != 0;
        let delay = if at_responder { 0 } else { self.delay(self.entries[entry].busied) };
        let ready = self.now + delay;
        let it = &mut self.entries[entry];
        it.known_busied = true;
        it.ready = ready;
        let station = it.station;
        let at = &mut self.stations[station as usize];
        at.again.insert(&mut self.entries, entry, |a, b| a.order() > b.order());
        at.waiting += 1;
        self.await_own(station, ready);
    }

    /// A sender has nothing to do any more with a packet that it has sent.
    fn entry_over(&mut self, entry: u32) {
        let Entry { station, deal, response, ends_deal, .. } = self.entries[entry];
        let kind = usize::from(response);
        self.close(entry);
        self.stations[station as usize].open_count[kind] -= 1;
        self.entries.remove(entry);
        if self.fabric.ring_hold_until_echo != 0 {
            self.place_to_send(station, kind);
        }
        if ends_deal {
            self.forget(deal);
        }
        self.reconsider(station);
    }

    /// What hindered units of a station's own from starting may be gone.
    #[inline]
    pub(super) fn reconsider(&mut self, station: u32) {
        let at = &self.stations[station as usize];
        // The end of a unit is an event if something waits.
        if at.waiting > 0 && at.free_at <= self.now {
            self.touch_link(station);
        }
    }

    /// A place of a transmit queue is free.
    pub(super) fn place_to_send(&mut self, station: u32, kind: usize) {
        let at = &mut self.stations[station as usize];
        at.out_free[kind] += 1;
        let (switch, terminal) = (at.switch, at.terminal);
        if switch != NONE {
            self.touch_switch(switch);
        } else if kind == RESPONSE {
            self.services_touched.push(station);
        } else {
            self.ask(terminal);
        }
    }

    /// The scrubber has removed a packet.
    fn scrub(&mut self, entry: u32) {
        let deal = self.entries[entry].deal;
        if !self.deals[deal].delivered {
            self.scrubbed += 1;
            self.in_flight -= 1;
            // Nothing of it can be delivered any more.
            self.deals[deal].delivered = true;
            self.lose(deal);
        }
        self.entry_over(entry);
        self.forget(deal);
    }

    /// Whether a packet that comes to a station gets a place.
    #[inline]
    fn accepts(&mut self, station: u32, entry: u32, kind: usize) -> bool {
        let room = self.stations[station as usize].in_free[kind] > 0;
        if self.fabric.ring_phases == 0 { room } else { self.reserve(station, kind, entry, room) }
    }
}
