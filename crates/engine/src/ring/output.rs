//! The units that a station puts on its link.

use super::choice::Choice;
use super::parts::{Entry, Kind, Sent, Unit};
use super::phases::UNLABELLED;
use super::state::{NEVER, REQUEST, RESPONSE, Rings};
use super::stations::{Rare, Station};
use crate::fabric::NONE;
use crate::kernel::Time;
use crate::measure::{Hop, hop_kind};

impl Rings {
    /// Checks a link: the place of the unit that has left is free, and waiting units may start.
    pub(super) fn look_due(&mut self, link: u32) {
        let now = self.now;
        let at = &mut self.stations[link as usize].link;
        if at.look_at != now {
            // It was checked before, and then nothing was due now.
            return;
        }
        at.look_at = NEVER;
        if at.leaving < 2 && at.free_at <= now {
            let kind = usize::from(std::mem::replace(&mut at.leaving, 2));
            self.place_to_send(link, kind);
        }
        self.touch_link(link);
    }

    /// Returns the first echo that a station holds back, or [`NONE`].
    #[inline(never)]
    fn held_back(&self, station: u32) -> u32 {
        if self.stations[station as usize].has_retries {
            self.rare[station as usize].echoes.head
        } else {
            NONE
        }
    }

    /// Whether the idle symbols of a station allow one of its own units to start.
    #[inline]
    pub(super) fn may_insert(&self, station: u32) -> bool {
        let at = &self.stations[station as usize].link;
        at.waiting > 0 && (at.may_go() || self.held_back(station) != NONE)
    }

    /// Whether a packet may wait for the place that becomes free at the end of the unit on a link.
    #[inline]
    fn place_is_awaited(&self, link: u32) -> bool {
        let leaving = usize::from(self.stations[link as usize].link.leaving);
        leaving < 2 && self.stations[link as usize].out_free[leaving] == 0
    }

    /// Schedules a check of the link for when a unit of the station's own is ready and the link is free.
    #[inline]
    pub(super) fn await_own(&mut self, station: u32, ready: Time) {
        if !self.may_insert(station) {
            if self.fabric.ring_allocation != 0 {
                self.await_go(station);
            }
            return;
        }
        let look = ready.max(self.stations[station as usize].link.free_at);
        if look <= self.now {
            self.touch_link(station);
        } else {
            self.look_at(station, look);
        }
    }

    /// Schedules a check of a busy link for when a unit may start or idle symbols must be decided.
    #[inline(always)]
    pub(super) fn await_end(&mut self, link: u32) {
        let at = &self.stations[link as usize].link;
        let free_at = at.free_at;
        let mut due = NEVER;
        if at.must_be_judged() || self.place_is_awaited(link) || self.tokens.are_any() && self.holds(link) {
            due = free_at;
        } else {
            if !at.bypass.is_empty() {
                due = self.units[at.bypass.head].time;
            }
            if due > free_at && self.may_insert(link) {
                due = due.min(self.own_due(link));
            }
        }
        if due < NEVER {
            self.look_at(link, due.max(free_at));
        }
    }

    /// Returns when the first of the station's own units is ready, or meets the token that it waits for.
    fn own_due(&self, link: u32) -> Time {
        if self.tokens.are_any() && self.wants_token(link) {
            return self.next_visit(link).unwrap_or(NEVER);
        }
        let at = &self.stations[link as usize];
        let may_go = self.stations[link as usize].link.may_go();
        let mut due = NEVER;
        if at.has_retries {
            let Rare { again, echoes, .. } = &self.rare[link as usize];
            if !echoes.is_empty() {
                due = self.units[echoes.head].time;
            }
            if may_go && !again.is_empty() {
                due = due.min(self.entries[again.head].ready);
            }
        }
        if may_go {
            for entry in [at.fresh[REQUEST].head, at.fresh[RESPONSE].head] {
                if entry != NONE {
                    due = due.min(self.entries[entry].ready);
                }
            }
        }
        due
    }

    /// Returns when the first unit was ready of those that wait at a station, whether they may start or not.
    pub(super) fn first_ready(&self, station: u32) -> Time {
        let (at, rare) = (&self.stations[station as usize], &self.rare[station as usize]);
        let packets = [at.fresh[REQUEST].head, at.fresh[RESPONSE].head, rare.again.head];
        let packets =
            packets.into_iter().filter(|&entry| entry != NONE).map(|entry| self.entries[entry].ready);
        let echo = if rare.echoes.is_empty() { NEVER } else { self.units[rare.echoes.head].time };
        packets.fold(echo, Time::min)
    }

    /// Puts the next unit on a link, if the link is free and there is one.
    #[inline(always)]
    pub(super) fn start_link(&mut self, link: u32) {
        let now = self.now;
        let Station { link: at, out_free, .. } = &mut self.stations[link as usize];
        at.touched = false;
        if at.free_at > now {
            return self.go_on_waiting(link);
        }
        if at.leaving < 2 {
            // The place that the last unit left; nobody waited for it, because there were others.
            out_free[usize::from(std::mem::replace(&mut at.leaving, 2))] += 1;
        }
        let front = at.bypass.head;
        if at.heeds {
            self.heed_echoes(link);
        }
        let ready = if front == NONE { NEVER } else { self.units[front].time };
        let allocates = self.fabric.ring_allocation != 0;
        if allocates {
            self.judge_idles(link, ready);
        }
        if self.start_next(link, ready) {
            self.await_end(link);
        }
        if allocates {
            self.await_go(link);
        }
    }

    /// Schedules another check of a link that was checked too early.
    #[cold]
    fn go_on_waiting(&mut self, link: u32) {
        self.await_end(link);
        if self.fabric.ring_allocation != 0 {
            self.await_go(link);
        }
    }

    /// Puts the next unit on a free link; returns whether there is one. The front of the bypass FIFO is ready at
    /// `ready`.
    #[inline(always)]
    fn start_next(&mut self, link: u32, ready: Time) -> bool {
        let now = self.now;
        let slotted = self.fabric.ring_slot_symbols != 0;
        if ready < now || slotted && ready == now {
            self.start_passing(link);
            return true;
        }
        let starts = if self.tokens.are_any() {
            self.start_by_token(link)
        } else {
            (!slotted || self.begins_slot(link)) && self.start_own(link)
        };
        if starts {
            return true;
        }
        if ready == now {
            self.start_passing(link);
        } else if ready < NEVER {
            self.look_at(link, ready);
        }
        ready == now
    }

    /// Whether a slot begins at a link now; otherwise schedules a check for when one begins, if a unit waits for it.
    fn begins_slot(&mut self, link: u32) -> bool {
        let at = &self.stations[link as usize].link;
        let slot = Time::from(self.fabric.ring_slot_symbols) * Time::from(self.timing(link).symbol);
        let until = |time: Time| (self.offsets[link as usize] - time).rem_euclid(slot);
        let (rest, waits) = (until(self.now), at.waiting > 0);
        if rest > 0 && waits {
            self.look_at(link, self.now + rest);
        }
        rest == 0
    }

    /// Puts the front of the bypass FIFO on the link.
    #[inline]
    fn start_passing(&mut self, link: u32) {
        self.count_bypass(link);
        let unit = self.stations[link as usize].link.bypass.pop(&mut self.units);
        self.put(link, unit, false);
    }

    /// Updates the maximum number of symbols in the bypass FIFO, before its front starts.
    fn count_bypass(&mut self, link: u32) {
        let (at, symbol) = (&self.stations[link as usize].link, u64::from(self.timing(link).symbol));
        let front = &self.units[at.bypass.head];
        let waited = self.now - front.time;
        if waited <= 0 {
            return;
        }
        // Units follow each other on a link, so there are at most the symbols that have arrived since the front was
        // ready.
        let stored = if self.fabric.ring_cut_through == 0 { front.symbols } else { 0 };
        let most = at.bypass_most;
        if waited as u64 + u64::from(stored) * symbol > u64::from(most) * symbol {
            let symbols = u32::try_from(self.in_bypass(link)).unwrap_or(u32::MAX);
            self.stations[link as usize].link.bypass_most = most.max(symbols);
        }
    }

    fn in_bypass(&self, link: u32) -> u64 {
        let symbol = u64::from(self.timing(link).symbol);
        let (mut unit, mut symbols) = (self.stations[link as usize].link.bypass.head, 0);
        while unit != NONE {
            let it = &self.units[unit];
            if it.time >= self.now {
                break;
            }
            // Those that arrived before this tick; the one that is just arriving does not count.
            let there = ((self.now - it.time) as u64).div_ceil(symbol);
            let all = u64::from(it.symbols);
            symbols += if self.fabric.ring_cut_through == 0 { all } else { there.min(all) };
            unit = it.next;
        }
        symbols
    }

    /// Puts a unit of the station's own on the link if one may start; otherwise schedules the next check. Returns
    /// whether one started.
    pub(super) fn start_own(&mut self, link: u32) -> bool {
        if self.stations[link as usize].link.waiting == 0 {
            return false;
        }
        let mut later = NEVER;
        let has_retries = self.stations[link as usize].has_retries;
        let echo = if has_retries { self.rare[link as usize].echoes.head } else { NONE };
        if echo != NONE {
            if self.units[echo].time <= self.now {
                self.start_echo(link);
                return true;
            }
            later = self.units[echo].time;
        }
        let choice = self.first_own(link, later);
        if let Some(choice) = choice {
            self.start_packet(link, choice);
        }
        choice.is_some()
    }

    /// Returns the packet of the station's own that may start; without one, schedules the next check, at `later` or
    /// when one is ready.
    pub(super) fn first_own(&mut self, link: u32, mut later: Time) -> Option<Choice> {
        self.stations[link as usize].blocked = false;
        let choice = self.choose(link, &mut later);
        if choice.is_none() {
            let at = &self.stations[link as usize];
            if at.blocked && !at.echoes_due.is_empty() {
                later = later.min(self.units[at.echoes_due.head].time);
            }
            if later < NEVER {
                self.await_own(link, later);
            }
        }
        choice
    }

    fn start_echo(&mut self, link: u32) {
        let (at, rare) = (&mut self.stations[link as usize], &mut self.rare[link as usize]);
        let unit = rare.echoes.pop(&mut self.units);
        at.has_retries = !rare.echoes.is_empty() || !rare.again.is_empty();
        at.wait_ticks += (self.now - self.units[unit].time) as u64;
        self.stations[link as usize].link.waiting -= 1;
        self.put(link, unit, true);
    }

    fn start_packet(&mut self, link: u32, choice: Choice) {
        let Choice { entry, before, again, .. } = choice;
        let Entry { ready, transaction, dest, bytes, is, .. } = self.entries[entry];
        let response = is.response();
        let kind = usize::from(response);
        let at = &mut self.stations[link as usize];
        at.link.waiting -= 1;
        at.wait_ticks += (self.now - ready) as u64;
        at.may_send[kind] -= 1;
        if again {
            let rare = &mut self.rare[link as usize];
            rare.again.take(&mut self.entries, before, entry);
            rare.rejected[kind] -= 1;
            at.has_retries = !rare.echoes.is_empty() || !rare.again.is_empty();
        } else {
            at.fresh[kind].take(&mut self.entries, before, entry);
            if self.fabric.ring_hold_until_echo == 0 {
                at.link.leaving = kind as u8;
            }
            if !response && !at.link.is_port() {
                self.transactions[transaction].started = self.now;
            }
            if self.fabric.ring_in_order != 0 {
                self.open(link, entry);
            }
        }
        if self.fabric.ring_phases != 0 && is.label() == UNLABELLED {
            let behind = self.goes_behind(link, entry);
            self.entries[entry].is.set_no_try(behind);
        }
        let packet = Unit {
            time: self.now,
            next: NONE,
            entry,
            station: link,
            dest,
            symbols: self.symbols(bytes),
            kind: Kind::Send,
            response,
            again,
            ends_transaction: is.ends_transaction(),
        };
        if self.has_echoes() {
            let unit = self.units.add(packet);
            self.put(link, unit, true);
        } else {
            self.put_unanswered(link, packet);
        }
    }

    /// Starts a packet without an echo: for its sender it is accepted when it has left.
    fn put_unanswered(&mut self, link: u32, packet: Unit) {
        let echo = self.units.add(Unit { kind: Kind::Ready, ..packet });
        // The row of the packet goes with it.
        let entry =
            if packet.ends_transaction { self.entries.add(self.entries[packet.entry]) } else { packet.entry };
        let unit = self.units.add(Unit { entry, ..packet });
        self.put(link, unit, true);
        let end = self.stations[link as usize].link.free_at;
        self.await_echo(link, echo, end);
    }

    /// Starts a unit on a link, the station's own or not.
    fn put(&mut self, link: u32, unit: u32, is_own: bool) {
        let now = self.now;
        let Unit { symbols, kind, again, .. } = self.units[unit];
        let at = &mut self.stations[link as usize].link;
        let (next, timing) = (at.next, self.timings[at.timing as usize]);
        let ticks = Time::from(symbols) * Time::from(timing.symbol);
        at.free_at = now + ticks;
        if at.count(symbols, kind.is_packet()) {
            self.put_counts_aside(link);
        }
        self.units_started += 1;
        if kind.is_packet() {
            self.packet_hops += 1;
            if again {
                let rare = &mut self.rare[link as usize];
                rare.retried += 1;
                rare.retry_symbols += u64::from(symbols);
            }
        }
        if self.fabric.ring_allocation != 0 {
            self.begin_idles(link, is_own);
        }
        if self.hops.limit > 0 {
            self.keep_hop(link, unit, now + ticks);
        }
        if self.faults.are_any() && self.loses(link, unit, timing) {
            return;
        }
        self.forward(next, unit, timing);
    }

    /// Moves the counts of a link to the large counters.
    #[cold]
    fn put_counts_aside(&mut self, link: u32) {
        let (at, aside) = (&mut self.stations[link as usize].link, &mut self.tallies[link as usize]);
        *aside = at.tally(aside);
        at.clear_counts();
    }

    /// Records a unit's stay on a link.
    #[cold]
    fn keep_hop(&mut self, link: u32, unit: u32, end: Time) {
        let Unit { entry, dest, kind, response, again, .. } = self.units[unit];
        let sort = match kind {
            // No echo leaves a station before its decision.
            Kind::Ready | Kind::Open => hop_kind::READY,
            Kind::Busy => hop_kind::BUSY,
            _ if response => hop_kind::RESPONSE,
            _ => hop_kind::PACKET,
        };
        // The transaction of an echo may have ended.
        let (source, created, started) = if kind.is_packet() {
            let transaction = &self.transactions[self.entries[entry].transaction];
            (transaction.source, transaction.created, transaction.started)
        } else {
            (NONE, 0, 0)
        };
        let kind = if again { sort | hop_kind::AGAIN } else { sort };
        self.hops.record(Hop { source, created, started, target: dest, link, begin: self.now, end, kind });
    }

    /// Records that a packet was sent and not accepted: immediately if packets must stay in order, otherwise when it is
    /// busied.
    pub(super) fn open(&mut self, station: u32, entry: u32) {
        let next = std::mem::replace(&mut self.rare[station as usize].open, entry);
        let from = if self.fabric.ring_in_order == 0 { NONE } else { self.source(entry) };
        let it = self.sent_row(entry);
        (it.from, it.next, it.before) = (from, next, NONE);
        if next != NONE {
            self.sent[next as usize].before = entry;
        }
    }

    /// Returns what the sender of a packet knows of it.
    pub(super) fn sent_row(&mut self, entry: u32) -> &mut Sent {
        let at = entry as usize;
        if at >= self.sent.len() {
            self.sent.resize(at + 1, Sent::NOTHING);
        }
        &mut self.sent[at]
    }

    /// Removes a packet from those that were sent and not accepted.
    pub(super) fn close(&mut self, station: u32, entry: u32) {
        let Sent { next, before, .. } = self.sent[entry as usize];
        if before == NONE {
            self.rare[station as usize].open = next;
        } else {
            self.sent[before as usize].next = next;
        }
        if next != NONE {
            self.sent[next as usize].before = before;
        }
    }

    /// Enters a packet into a transmit queue in which it has a reserved place, and gives it its number.
    pub(super) fn enter(&mut self, station: u32, entry: u32) {
        let it = &mut self.entries[entry];
        let (ready, kind) = (it.ready, usize::from(it.is.response()));
        let at = &mut self.stations[station as usize];
        at.entered = at.entered.wrapping_add(1);
        it.number = at.entered;
        debug_assert!(
            at.fresh[kind].last().is_none_or(|last| self.entries[last].ready <= ready),
            "packets become ready in the order in which they enter"
        );
        at.fresh[kind].push(&mut self.entries, entry);
        self.stations[station as usize].link.waiting += 1;
        self.await_own(station, ready);
    }
}
