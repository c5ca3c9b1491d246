//! The handling of units that arrive at a station: pass, strip and echo.

use super::choice::Order;
use super::links::Timing;
use super::parts::{Entry, Kind, Unit};
use super::phases::UNLABELLED;
use super::state::{IN, RESPONSE, Rings};
use super::tick::{ARRIVE, LOOK};
use crate::fabric::{NONE, PASS, retry, when_full};
use crate::kernel::Time;

/// Upper limit of a retry delay.
const MOST_DELAY_TICKS: Time = 1 << 40;

impl Rings {
    /// Forwards a unit that starts on a link. What happens to it at the next station is known immediately. Only a
    /// decision is an event, because a passing unit does nothing until it is ready for the output.
    #[inline]
    pub(super) fn forward(&mut self, station: u32, unit: u32, Timing { symbol, decoded, ahead, .. }: Timing) {
        let cut_through = self.fabric.ring_cut_through != 0;
        let symbol = Time::from(symbol);
        let head = self.now + Time::from(decoded);
        let Unit { kind, symbols, station: sender, dest, .. } = self.units[unit];
        let tail = head + Time::from(symbols - 1) * symbol;
        let decision = if cut_through { head } else { tail };
        let mut ready = decision + Time::from(ahead - decoded);
        if !kind.is_packet() {
            if sender == station {
                self.await_echo(station, unit, tail);
                return;
            }
        } else if self.comes_back(station, sender) {
            self.units[unit].kind = Kind::Marked;
            self.schedule(ARRIVE, unit, decision);
            return;
        } else if let Some(target) = self.taken_to(station, dest) {
            let may_pass = self.passes_when_full() || self.last_taker(station, dest) != station;
            let accepted = self.plan_decision(unit, station, target, decision, may_pass);
            if accepted && !self.has_echoes() {
                self.units.remove(unit);
                return;
            }
            if accepted || !may_pass {
                ready += self.becomes_echo(unit, symbol);
            }
        } else if self.timing(station).scrubs {
            self.units[unit].kind = Kind::Marked;
            if kind == Kind::Marked {
                self.schedule(ARRIVE, unit, decision);
                return;
            }
        }
        self.pass(station, unit, ready);
    }

    /// Replaces a packet that will be stripped by its echo, whose content is not known yet; returns by how many ticks
    /// the echo is later, whose symbols are the last ones.
    fn becomes_echo(&mut self, unit: u32, symbol: Time) -> Time {
        let echo = self.echo_symbols();
        let it = &mut self.units[unit];
        let cut = it.symbols - echo;
        it.symbols = echo;
        if self.fabric.ring_cut_through == 0 { 0 } else { Time::from(cut) * symbol }
    }

    /// Returns the last controller that takes packets for a terminal of those that follow a station at its port; itself if
    /// there is none.
    #[inline]
    pub(super) fn last_taker(&self, station: u32, dest: u32) -> u32 {
        if self.yields.is_empty() || !self.yields[station as usize] {
            return station;
        }
        let (mut at, mut last) = (station, station);
        while self.yields[at as usize] {
            at = self.stations[at as usize].link.next;
            if self.taken_to(at, dest).is_some() {
                last = at;
            }
        }
        last
    }

    /// Whether a packet without a place passes the station that takes it off its ring.
    #[inline]
    fn passes_when_full(&self) -> bool {
        self.fabric.ring_when_full == when_full::PASS
    }

    /// Schedules the arrival of an echo at its station at `time`. While no place and no transaction becomes free, a
    /// ready echo only matters to packets that wait for it.
    pub(super) fn await_echo(&mut self, station: u32, unit: u32, time: Time) {
        let it = &mut self.units[unit];
        if it.kind == Kind::Busy || it.ends_transaction || self.fabric.ring_hold_until_echo != 0 {
            self.schedule(ARRIVE, unit, time);
            return;
        }
        it.time = time;
        self.last = self.last.max(time);
        let at = &mut self.stations[station as usize];
        at.echoes_due.push(&mut self.units, unit);
        at.link.heeds = true;
        if at.blocked {
            let look = time.max(at.link.free_at);
            self.look_at(station, look);
        }
    }

    /// Processes the echoes that have arrived at a station since the last check of its link.
    pub(super) fn heed_echoes(&mut self, station: u32) {
        loop {
            let head = self.stations[station as usize].echoes_due.head;
            if head == NONE {
                self.stations[station as usize].link.heeds = self.hears_more(station);
                return;
            }
            if self.units[head].time > self.now {
                return;
            }
            self.stations[station as usize].echoes_due.pop(&mut self.units);
            let Unit { entry, response, again, .. } = self.units[head];
            self.units.remove(head);
            if again || self.fabric.ring_in_order != 0 {
                self.drop_entry(station, entry);
            } else {
                // The sender keeps no row for it: the only one moved on to the receiver with the packet.
                self.stations[station as usize].may_send[usize::from(response)] += 1;
            }
        }
    }

    /// Whether a receive queue has reserved places.
    #[inline]
    fn owes(&self, station: u32, kind: usize) -> bool {
        self.reserved.get(station as usize).is_some_and(|reserved| reserved[kind].owed != [0; 2])
    }

    /// Schedules a station's decision about a packet at `time`. Acceptance is known in advance if there is a place and
    /// all earlier packets are decided; returns whether it is.
    fn plan_decision(&mut self, unit: u32, station: u32, target: u8, time: Time, may_pass: bool) -> bool {
        let Unit { entry, response, .. } = self.units[unit];
        let kind = usize::from(response);
        let owes = self.owes(station, kind);
        let timing = *self.timing(station);
        let at = &mut self.stations[station as usize];
        let labelled = may_pass && self.entries[entry].is.label() != UNLABELLED;
        let foregone = at.in_free[kind] > 0 && at.undecided == 0 && !owes && !labelled;
        // A packet that is immediately ready for its user becomes so in the step of arrivals.
        if foregone && timing.receive > 0 {
            self.units[unit].kind = Kind::Ready;
            self.hold(station, entry, target, time, timing);
            return true;
        }
        at.undecided += 1;
        let it = &mut self.units[unit];
        (it.kind, it.dest) = (Kind::Open, station);
        self.schedule(ARRIVE, unit, time);
        false
    }

    /// Makes a station decide about a unit.
    pub(super) fn arrive(&mut self, unit: u32) {
        let Unit { entry, kind, station, .. } = self.units[unit];
        match kind {
            Kind::Open => self.strip(unit),
            Kind::Send | Kind::Marked => {
                self.units.remove(unit);
                self.scrub(station, entry);
            }
            Kind::Ready | Kind::Busy => {
                self.units.remove(unit);
                self.answered(station, entry, kind == Kind::Ready);
            }
        }
    }

    /// Whether a station takes packets for a terminal off its ring: at a port of a switch, with the index of the output
    /// port; at the terminal itself, with 0.
    #[inline(always)]
    pub(super) fn taken_to(&self, station: u32, dest: u32) -> Option<u8> {
        let at = &self.stations[station as usize].link;
        if !at.is_port() {
            return at.is_of(dest).then_some(0);
        }
        let way = self.exits.exit(&self.fabric, at.port(), dest);
        (way != PASS).then_some(way)
    }

    /// Puts a unit into a bypass FIFO; it is ready for the output at a later tick.
    fn pass(&mut self, station: u32, unit: u32, ready: Time) {
        self.units[unit].time = ready;
        let at = &mut self.stations[station as usize].link;
        let (look, first) = (ready.max(at.free_at), at.bypass.is_empty());
        at.bypass.push(&mut self.units, unit);
        if first && look < at.look_at {
            at.look_at = look;
            self.schedule(LOOK, station, look);
        }
    }

    /// Schedules a check of a link at a later tick.
    #[inline]
    pub(super) fn look_at(&mut self, link: u32, time: Time) {
        let at = &mut self.stations[link as usize].link;
        if time < at.look_at {
            at.look_at = time;
            self.schedule(LOOK, link, time);
        }
    }

    /// Takes a send packet off the ring; the echo that replaces it says whether it was accepted.
    fn strip(&mut self, unit: u32) {
        let Unit { entry, dest: station, response, .. } = self.units[unit];
        self.stations[station as usize].undecided -= 1;
        let dest = self.entries[entry].dest;
        let (kind, last) = (usize::from(response), self.last_taker(station, dest));
        let (is_last, passes) = (last == station, self.passes_when_full());
        let accepted = if is_last && !passes {
            self.accepts(station, entry, kind)
        } else {
            let has_room = self.stations[station as usize].in_free[kind] > 0 && !self.owes(station, kind);
            let accepted = has_room && self.entries[entry].is.label() == UNLABELLED;
            let ticks = Time::from(self.units[unit].symbols) * Time::from(self.timing(station).symbol);
            if !accepted && (passes || self.first_ready(station).saturating_add(ticks) > self.now) {
                self.rare[station as usize].busied += u64::from(is_last);
                let it = &mut self.units[unit];
                (it.kind, it.dest) = (Kind::Send, dest);
                return;
            }
            if self.has_echoes() {
                let later = self.becomes_echo(unit, Time::from(self.timing(station).symbol));
                self.units[unit].time += later;
            }
            accepted
        };
        let time = self.units[unit].time;
        if accepted {
            self.units[unit].kind = Kind::Ready;
            let target = self.taken_to(station, dest).unwrap_or(0);
            self.hold(station, entry, target, self.now, *self.timing(station));
            if !self.has_echoes() {
                self.leave_bypass(station, unit);
                self.units.remove(unit);
            }
            return;
        }
        self.rare[station as usize].busied += 1;
        self.units[unit].kind = Kind::Busy;
        let before = self.entries[entry].is.known_busied();
        let it = self.sent_row(entry);
        it.busied = if before { it.busied + 1 } else { 1 };
        it.by = last;
        let busied = it.busied;
        if self.fabric.ring_retry_at_responder != 0 {
            let delay = self.delay(busied);
            self.longest_delay = self.longest_delay.max(delay);
            let ready = time + delay;
            self.hold_back(station, unit, ready);
        }
    }

    /// Returns a packet's output port by the table of its transaction instead of the first one.
    #[cold]
    fn by_turn(&self, station: u32, entry: u32, target: u8) -> u8 {
        let at = &self.stations[station as usize].link;
        if !at.is_port() {
            return target;
        }
        let Entry { transaction, dest, .. } = self.entries[entry];
        let first = u32::from(self.transactions[transaction].turn) * self.fabric.port_station.len() as u32;
        self.exits.exit(&self.fabric, first + at.port(), dest)
    }

    /// Puts a packet that is accepted at `time` into its receive queue.
    #[inline]
    fn hold(&mut self, station: u32, entry: u32, target: u8, time: Time, timing: Timing) {
        let target = if self.fabric.ring_turns > 1 { self.by_turn(station, entry, target) } else { target };
        let Entry { bytes, is, .. } = self.entries[entry];
        let response = is.response();
        let symbols = self.symbols(bytes);
        self.accepted += 1;
        self.stations[station as usize].in_free[usize::from(response)] -= 1;
        // With cut-through its tail has not arrived yet.
        let rest = if self.fabric.ring_cut_through == 0 { 0 } else { symbols - 1 };
        let whole = time + Time::from(rest) * Time::from(timing.symbol);
        let ready = self.through(station, IN, whole, timing.receive);
        let in_order = self.fabric.ring_in_order != 0;
        let known = is.known_busied() || is.ends_transaction();
        let stays = self.has_echoes() && (known || in_order || self.fabric.ring_hold_until_echo != 0);
        let held = if stays { self.entries.add(self.entries[entry]) } else { entry };
        let it = &mut self.entries[held];
        (it.ready, it.target) = (ready, target);
        self.received(station, held, ready, usize::from(response));
    }

    /// Returns the ticks after which a packet with this number of busy echoes is sent again.
    pub(super) fn delay(&self, busied: u32) -> Time {
        let first = self.fabric.ring_retry_delay_ticks as Time;
        let factor = match self.fabric.ring_retry_strategy {
            retry::LINEAR => Time::from(busied),
            retry::EXPONENTIAL => 1 << (busied - 1).min(40),
            _ => 1,
        };
        first.saturating_mul(factor).min(MOST_DELAY_TICKS)
    }

    /// Takes a unit out of the bypass FIFO.
    fn leave_bypass(&mut self, station: u32, unit: u32) {
        let at = &mut self.stations[station as usize].link;
        let (mut before, mut other) = (NONE, at.bypass.head);
        while other != unit {
            (before, other) = (other, self.units[other].next);
        }
        at.bypass.take(&mut self.units, before, unit);
    }

    /// Takes a busy echo out of the bypass FIFO, to hold it back for the retry delay.
    fn hold_back(&mut self, station: u32, unit: u32, ready: Time) {
        self.leave_bypass(station, unit);
        self.units[unit].time = ready;
        self.stations[station as usize].link.waiting += 1;
        self.stations[station as usize].has_retries = true;
        self.rare[station as usize].echoes.insert(&mut self.units, unit, |a, b| a.time > b.time);
        self.await_own(station, ready);
    }

    /// Processes, at the sender of a packet, whether it was accepted.
    fn answered(&mut self, station: u32, entry: u32, accepted: bool) {
        if accepted {
            let Entry { transaction, is, .. } = self.entries[entry];
            if is.ends_transaction() {
                self.end_transaction(transaction);
            }
            self.entry_over(station, entry);
            return;
        }
        let at_responder = self.fabric.ring_retry_at_responder != 0;
        let delay = if at_responder { 0 } else { self.delay(self.sent[entry as usize].busied) };
        self.longest_delay = self.longest_delay.max(delay);
        let ready = self.now + delay;
        let it = &mut self.entries[entry];
        let (first, kind) = (!it.is.known_busied(), usize::from(it.is.response()));
        it.is.set_known_busied();
        it.ready = ready;
        if first && self.fabric.ring_in_order == 0 {
            self.open(station, entry);
        }
        let at = &mut self.stations[station as usize];
        at.has_retries = true;
        at.may_send[kind] += 1;
        at.link.waiting += 1;
        let blocked = at.blocked;
        let rare = &mut self.rare[station as usize];
        rare.again.insert(&mut self.entries, entry, |a, b| a.order() > b.order());
        rare.rejected[kind] += 1;
        self.await_own(station, if blocked { self.now } else { ready });
    }

    /// Removes a sent packet from its sender.
    pub(super) fn entry_over(&mut self, station: u32, entry: u32) {
        self.drop_entry(station, entry);
        self.reconsider(station);
    }

    fn drop_entry(&mut self, station: u32, entry: u32) {
        let Entry { transaction, is, .. } = self.entries[entry];
        let kind = usize::from(is.response());
        if is.known_busied() || self.fabric.ring_in_order != 0 {
            self.close(station, entry);
        }
        self.stations[station as usize].may_send[kind] += 1;
        self.entries.remove(entry);
        if self.fabric.ring_hold_until_echo != 0 {
            self.place_to_send(station, kind);
        }
        if is.ends_transaction() {
            self.forget(transaction);
        }
    }

    /// Checks a station's link again, because what kept its own units from starting may be gone.
    #[inline]
    pub(super) fn reconsider(&mut self, station: u32) {
        if self.may_insert(station) {
            self.await_own(station, self.now);
        }
    }

    /// Frees a place of a transmit queue.
    pub(super) fn place_to_send(&mut self, station: u32, kind: usize) {
        let at = &mut self.stations[station as usize];
        at.out_free[kind] += 1;
        if at.out_free[kind] > 1 {
            // There was another one, so nobody waited for this one.
            return;
        }
        let switch = at.switch;
        if self.set_full(station, kind, false) {
            self.touch_switch(switch);
        } else if kind == RESPONSE {
            self.services_touched.push(station);
        } else {
            self.ask(self.stations[station as usize].link.terminal());
        }
    }

    /// Removes a packet by the scrubber.
    fn scrub(&mut self, station: u32, entry: u32) {
        if !self.transactions[self.entries[entry].transaction].delivered {
            self.scrubbed += 1;
        }
        self.give_up(station, entry);
    }

    /// Gives up a packet: its transaction cannot deliver anything any more.
    pub(super) fn give_up(&mut self, station: u32, entry: u32) {
        let transaction = self.entries[entry].transaction;
        if !self.transactions[transaction].delivered {
            self.in_flight -= 1;
            self.transactions[transaction].delivered = true;
            self.lose(transaction);
        }
        if self.has_echoes() {
            self.entry_over(station, entry);
        } else {
            self.entries.remove(entry);
        }
        self.forget(transaction);
    }

    /// Whether a packet that arrives at a station gets a place.
    #[inline]
    fn accepts(&mut self, station: u32, entry: u32, kind: usize) -> bool {
        let room = self.stations[station as usize].in_free[kind] > 0;
        if self.fabric.ring_phases == 0 { room } else { self.reserve(station, kind, entry, room) }
    }
}
