//! Arrivals at a station: symbols through the wire and the decoder, and the decision about their unit.

use super::parts::{Fate, Outgoing, Received, Sent, Symbol, Unit, Verdict, What};
use super::rings::Rings;
use fabriloom_engine::fabric::{retry, when_full};
use fabriloom_engine::kernel::Time;

/// Upper limit of a retry delay.
const MOST_DELAY: u64 = 1 << 40;

impl Rings<'_> {
    /// Moves symbols at the end of a link into the decoder after it, and decoded symbols out of the decoder.
    pub(crate) fn take_from_wire(&mut self, link: usize) {
        let station = self.fabric.station_next[link] as usize;
        let decode = Time::from(self.fabric.station_decode_ticks[station]);
        while let Some(&(there, symbol)) = self.stations[link].wire.front().filter(|(at, _)| *at <= self.now)
        {
            assert_eq!(there, self.now, "a symbol was overlooked");
            self.stations[link].wire.pop_front();
            self.stations[station].decoder.push_back((self.now + decode, symbol));
            self.wake_at(self.now + decode);
        }
        while let Some(&(out, symbol)) =
            self.stations[station].decoder.front().filter(|(at, _)| *at <= self.now)
        {
            assert_eq!(out, self.now, "a symbol was overlooked");
            self.stations[station].decoder.pop_front();
            self.leave_decoder(station, symbol);
        }
    }

    /// With cut-through the first symbol decides and the others follow; otherwise the last one decides and all follow.
    fn leave_decoder(&mut self, station: usize, symbol: Symbol) {
        let unit = self.units[symbol.unit];
        let is_last = symbol.index + 1 == unit.symbols;
        let expected = self.stations[station].expected.unwrap_or(Symbol { unit: symbol.unit, index: 0 });
        assert_eq!(symbol, expected, "a symbol was lost");
        let following = Symbol { unit: symbol.unit, index: symbol.index + 1 };
        self.stations[station].expected = (!is_last).then_some(following);
        if self.fabric.ring_cut_through == 1 {
            if symbol.index == 0 {
                self.stations[station].fate = self.decide(station, symbol.unit);
            }
            self.follow(station, symbol);
        } else if is_last {
            self.stations[station].fate = self.decide(station, symbol.unit);
            for index in 0..unit.symbols {
                self.follow(station, Symbol { unit: symbol.unit, index });
            }
        }
    }

    /// Decides about a unit. A receive place is taken here.
    fn decide(&mut self, station: usize, number: usize) -> Fate {
        let unit = self.units[number];
        let What::Send { phase, .. } = unit.what else {
            return if unit.station == station { Fate::Answer } else { Fate::Pass };
        };
        let target = self.target(unit.sent);
        if !self.takes(station, target) || self.comes_back(station, &unit) {
            return self.scrub(station, number);
        }
        let verdict = if self.fabric.ring_when_full == when_full::PASS {
            if !self.has_receive_place(station, unit.sent.kind) {
                self.stations[station].busied += u64::from(!self.is_followed(station, target));
                self.units[number].marked = false;
                return Fate::Pass;
            }
            Verdict::Ready
        } else if self.is_followed(station, target) {
            let Some(verdict) = self.judge_first(station, unit, phase) else { return Fate::Pass };
            verdict
        } else {
            self.judge(station, unit.sent.kind, phase)
        };
        let accepted = verdict == Verdict::Ready;
        let to_come = if self.fabric.ring_cut_through == 1 { unit.symbols - 1 } else { 0 };
        let whole = self.now + Time::from(to_come) * self.symbol_ticks(station);
        if accepted {
            self.receive(station, unit.sent, number, whole);
        } else {
            self.stations[station].busied += 1;
        }
        if !self.has_echoes() {
            return Fate::Strip { echo: None, whole };
        }
        let echo = self.units.len();
        self.units.push(Unit { what: What::Echo { verdict }, symbols: self.echo_symbols(), ..unit });
        Fate::Strip { echo: Some(echo), whole }
    }

    /// Whether a packet is at its sender again, which removes it where there is a token.
    fn comes_back(&self, station: usize, unit: &Unit) -> bool {
        unit.station == station && self.fabric.ring_token_symbols > 0
    }

    /// Removes a unit that passes the lowest numbered station of a ring for the second time or, with a token, is at its
    /// sender again.
    fn scrub(&mut self, station: usize, number: usize) -> Fate {
        let ring = self.fabric.station_ring[station];
        let lowest = self.fabric.station_ring.iter().position(|&other| other == ring);
        let unit = self.units[number];
        let comes_back = self.comes_back(station, &unit);
        if lowest != Some(station) && !comes_back {
            return Fate::Pass;
        }
        if !unit.marked && !comes_back {
            self.units[number].marked = true;
            return Fate::Pass;
        }
        if self.has_echoes() {
            self.forget(unit.station, unit.entry);
        }
        let transaction = &mut self.transactions[unit.sent.transaction];
        transaction.scrubbed = !transaction.delivered;
        if transaction.scrubbed {
            self.tell_lost(unit.sent.transaction);
        }
        Fate::Scrub
    }

    /// Applies the decision about a unit to one of its symbols.
    fn follow(&mut self, station: usize, symbol: Symbol) {
        let unit = self.units[symbol.unit];
        let is_last = symbol.index + 1 == unit.symbols;
        match self.stations[station].fate {
            Fate::Pass => self.enter_bypass(station, symbol),
            Fate::Strip { echo, whole } => {
                if let Some(echo) = echo {
                    let kept =
                        unit.symbols.checked_sub(self.units[echo].symbols).expect("an echo is not longer");
                    if symbol.index >= kept {
                        self.echo(station, Symbol { unit: echo, index: symbol.index - kept }, unit.what);
                    }
                }
                assert!(!is_last || self.now == whole, "a packet stands whole when its last symbol has come");
            }
            Fate::Scrub => {}
            Fate::Answer if is_last => self.answer(station, &unit),
            Fate::Answer => {}
        }
    }

    fn enter_bypass(&mut self, station: usize, symbol: Symbol) {
        let ready = self.now + Time::from(self.fabric.station_bypass_ticks[station]);
        self.stations[station].bypass.push_back((ready, symbol));
        self.wake_at(ready);
    }

    /// Replaces a symbol of a packet by one of its echo, unless the echo is held back.
    fn echo(&mut self, station: usize, symbol: Symbol, answered: What) {
        let (What::Send { busied, .. }, What::Echo { verdict }) = (answered, self.units[symbol.unit].what)
        else {
            panic!("an echo answers a send packet")
        };
        if verdict == Verdict::Ready || self.fabric.ring_retry_at_responder == 0 {
            self.enter_bypass(station, symbol);
        } else if symbol.index == 0 {
            let bypass = Time::from(self.fabric.station_bypass_ticks[station]);
            let ready = self.now + bypass + self.delay(busied + 1);
            self.stations[station].held_echoes.push((ready, symbol.unit));
            self.wake_at(ready);
        }
    }

    /// Returns the delay after a packet's `times`-th busy echo.
    fn delay(&self, times: u32) -> Time {
        let first = self.fabric.ring_retry_delay_ticks;
        let delay = match self.fabric.ring_retry_strategy {
            retry::LINEAR => first.saturating_mul(u64::from(times)),
            retry::EXPONENTIAL => (1..times).fold(first, |delay, _| delay.saturating_mul(2).min(MOST_DELAY)),
            _ => first,
        };
        delay.min(MOST_DELAY) as Time
    }

    /// Takes a receive place for a packet that will be complete at a known tick.
    fn receive(&mut self, station: usize, sent: Sent, unit: usize, whole: Time) {
        let occupied = self.fabric.ring_interface_occupied == 1;
        let begin = if occupied { whole.max(self.stations[station].receives_until) } else { whole };
        let ready = begin + Time::from(self.fabric.station_receive_ticks[station]);
        self.stations[station].receives_until = ready;
        self.stations[station].received[sent.kind as usize].push_back(Received {
            sent,
            unit,
            ready,
            asked: false,
        });
        self.wake_at(ready);
        let vertex = self.fabric.link_source[station];
        if ready == self.now && self.fabric.is_terminal(vertex) {
            self.consume((vertex - self.fabric.switches) as usize);
        }
    }

    /// Processes, at the sender of a packet, its echo.
    fn answer(&mut self, station: usize, echo: &Unit) {
        let What::Echo { verdict } = echo.what else { panic!("only echoes answer") };
        let Verdict::Busy(label) = verdict else {
            self.forget(station, echo.entry);
            return self.accepted(station, echo.sent);
        };
        let at = self.outgoing_at(station, echo.entry);
        let busied = self.stations[station].outgoing[at].busied + 1;
        let waits = if self.fabric.ring_retry_at_responder == 1 { 0 } else { self.delay(busied) };
        let ready = self.now + waits;
        let outgoing = &mut self.stations[station].outgoing[at];
        assert!(outgoing.away, "an echo of something that was not sent");
        *outgoing = Outgoing { ready, away: false, busied, label, ..outgoing.clone() };
        self.wake_at(ready);
    }

    /// Processes, at their senders, packets that have left and that no echo will answer.
    pub(crate) fn answer_gone(&mut self) {
        for unit in std::mem::take(&mut self.gone) {
            let Unit { station, entry, sent, .. } = self.units[unit];
            self.forget(station, entry);
            self.accepted(station, sent);
        }
    }

    fn outgoing_at(&self, station: usize, entry: u64) -> usize {
        let place = self.stations[station].outgoing.iter().position(|outgoing| outgoing.entry == entry);
        place.expect("a sender knows what it sent")
    }

    /// Removes a packet from its sender.
    pub(crate) fn forget(&mut self, station: usize, entry: u64) {
        let at = self.outgoing_at(station, entry);
        let outgoing = self.stations[station].outgoing.remove(at);
        assert!(outgoing.away, "a packet that was not sent is forgotten");
        if self.fabric.ring_hold_until_echo == 1 {
            self.stations[station].places_out[outgoing.sent.kind as usize] -= 1;
        }
    }
}
