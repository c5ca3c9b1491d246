//! Terminals: transactions and their numbers, service, time-outs; and when received packets are ready for the user.

use super::parts::{Entry, LOCK_BYTES, Transaction};
use super::state::{NEVER, OUT, REQUEST, RESPONSE, Rings};
use super::tick::{USER, WORK};
use crate::fabric::{NONE, transaction};
use crate::kernel::Time;
use crate::measure::Delivery;
use crate::terminal::Packet;

/// Bytes of an access step.
const BLOCK_BYTES: u32 = 64;

impl Rings {
    /// Marks the source of a terminal for a request in this tick, if the terminal can dispatch a packet.
    #[inline]
    pub(super) fn ask(&mut self, terminal: u32) {
        if self.has_room(terminal) && !std::mem::replace(&mut self.numbers[terminal as usize].asked, true) {
            self.asking.push(terminal);
        }
    }

    /// Handles a scheduled request to a source. With several ports it counts without room, too: another port may have
    /// some.
    #[inline]
    pub(super) fn source_due(&mut self, terminal: u32) {
        if self.fabric.has_ports() {
            self.asking.push(terminal);
        } else {
            self.ask(terminal);
        }
    }

    fn has_room(&self, terminal: u32) -> bool {
        let station = self.fabric.terminal_out_link[terminal as usize];
        self.numbers[terminal as usize].free > 0 && self.stations[station as usize].out_free[REQUEST] > 0
    }

    /// Returns the table of the ports for the next transaction of a terminal.
    #[inline]
    fn take_turn(&mut self, terminal: u32) -> u8 {
        let of = &mut self.numbers[terminal as usize];
        let next = u32::from(of.turn) + 1;
        std::mem::replace(&mut of.turn, if next == self.fabric.ring_turns { 0 } else { next as u8 })
    }

    /// Takes a packet from a source, for which there is room; returns whether there is room for another one.
    pub fn dispatch(&mut self, terminal: u32, packet: &Packet) -> bool {
        if self.discards(terminal, packet) {
            return true;
        }
        let at = terminal as usize;
        let station = self.fabric.terminal_out_link[at];
        self.in_flight += 1;
        self.numbers[at].free -= 1;
        self.take_place_to_send(station, REQUEST);
        let turn = self.take_turn(terminal);
        let (kind, length) = self.asks_for(terminal, packet);
        let transaction = self.transactions.add(Transaction {
            created: packet.created,
            started: NEVER,
            dispatched: self.now,
            source: terminal,
            target: packet.target,
            length,
            payload: packet.length,
            after: NONE,
            before: NONE,
            crossed: 0,
            uses: if kind == transaction::MOVE { 3 } else { 2 },
            kind,
            numbered: true,
            delivered: false,
            turn,
            mark: packet.mark,
            number: packet.number,
        });
        if self.fabric.ring_timeout_ticks > 0 {
            self.may_time_out(transaction);
        }
        let host = Time::from(self.fabric.terminal_host_ticks[at]);
        let ready = self.through(station, OUT, self.now + host, self.timing(station).transmit);
        let entry = self.entries.add(self.packet(transaction, false, ready));
        self.enter(station, entry);
        self.has_room(terminal)
    }

    /// Handles an accepted packet.
    pub(super) fn received(&mut self, station: u32, held: u32, ready: Time, kind: usize) {
        if self.stations[station as usize].link.is_port() {
            self.received_at_port(station, held, ready, kind);
            return;
        }
        if ready <= self.now {
            self.ready_for_user(station, held);
            return;
        }
        let at = &mut self.stations[station as usize];
        at.coming.push(&mut self.entries, held);
        if !at.user_pending {
            at.user_pending = true;
            self.schedule(USER, station, ready);
        }
    }

    /// Handles the next packet that is ready for the user.
    pub(super) fn user_due(&mut self, station: u32) {
        loop {
            let at = &mut self.stations[station as usize];
            let held = at.coming.head;
            if held == NONE {
                at.user_pending = false;
                return;
            }
            let ready = self.entries[held].ready;
            if ready > self.now {
                self.schedule(USER, station, ready);
                return;
            }
            at.coming.pop(&mut self.entries);
            self.ready_for_user(station, held);
        }
    }

    fn ready_for_user(&mut self, station: u32, held: u32) {
        let Entry { transaction, is, .. } = self.entries[held];
        let at = &mut self.stations[station as usize];
        if is.response() && self.transactions[transaction].kind == transaction::WRITE {
            at.in_free[RESPONSE] += 1;
            self.entries.remove(held);
            self.end_transaction(transaction);
            self.forget(transaction);
        } else if !self.goes_over_bus(station, held) {
            self.await_service(station, held);
        }
    }

    /// Queues a packet for service.
    pub(super) fn await_service(&mut self, station: u32, held: u32) {
        let kind = usize::from(self.entries[held].is.response());
        let at = &mut self.stations[station as usize];
        at.held[kind].push(&mut self.entries, held);
        self.services_touched.push(station);
    }

    /// Ends a transfer from a port or the service of a terminal.
    pub(super) fn work_done(&mut self, station: u32) {
        if self.stations[station as usize].port_here != NONE {
            self.transferred(station);
        } else {
            self.served(station);
        }
    }

    /// Starts the service of a packet, if the terminal is idle.
    pub(super) fn serve(&mut self, station: u32) {
        if self.stations[station as usize].at_work != NONE {
            return;
        }
        let response = self.stations[station as usize].held[RESPONSE].head;
        let (before, request) = self.first_request(station);
        let is_earlier = || self.entries[request].ready < self.entries[response].ready;
        let requested =
            request != NONE && (response == NONE || self.fabric.ring_response_first == 0 && is_earlier());
        let held = if requested { request } else { response };
        if held == NONE || self.is_stuck(station) {
            return;
        }
        let transaction = self.entries[held].transaction;
        let answers = requested && self.transactions[transaction].kind != transaction::MOVE;
        let at = &mut self.stations[station as usize];
        at.held[usize::from(!requested)].take(&mut self.entries, if requested { before } else { NONE }, held);
        at.at_work = held;
        let terminal = self.stations[station as usize].link.terminal() as usize;
        if answers {
            self.take_place_to_send(station, RESPONSE);
        }
        let transaction = &self.transactions[transaction];
        let bytes = if transaction.kind == transaction::LOCK { LOCK_BYTES } else { transaction.length };
        let blocks = bytes.div_ceil(BLOCK_BYTES).max(1);
        let access = Time::from(self.fabric.terminal_access_ticks[terminal]);
        let ticks = access + Time::from(blocks) * Time::from(self.fabric.terminal_block_ticks[terminal]);
        self.schedule(WORK, station, self.now + ticks.max(self.fabric.grain_ticks as Time));
    }

    /// Returns the first request that can be served and the one before it; a request with a response needs a place for
    /// it.
    fn first_request(&self, station: u32) -> (u32, u32) {
        let at = &self.stations[station as usize];
        let (mut before, mut request) = (NONE, at.held[REQUEST].head);
        while request != NONE && at.out_free[RESPONSE] == 0 {
            let Entry { transaction, next, .. } = self.entries[request];
            if self.transactions[transaction].kind == transaction::MOVE {
                break;
            }
            (before, request) = (request, next);
        }
        (before, request)
    }

    fn served(&mut self, station: u32) {
        let at = &mut self.stations[station as usize];
        let held = std::mem::replace(&mut at.at_work, NONE);
        let Entry { transaction, crossed, is, .. } = self.entries[held];
        let response = is.response();
        at.in_free[usize::from(response)] += 1;
        self.entries.remove(held);
        self.services_touched.push(station);
        let kind = self.transactions[transaction].kind;
        if response || matches!(kind, transaction::WRITE | transaction::MOVE) {
            self.store(transaction);
        }
        if response {
            self.end_transaction(transaction);
        } else if kind != transaction::MOVE {
            let of = &mut self.transactions[transaction];
            of.crossed = of.crossed & !u32::from(u16::MAX) | u32::from(crossed);
            let ready = self.through(station, OUT, self.now, self.timing(station).transmit);
            let entry = self.entries.add(self.packet(transaction, true, ready));
            self.enter(station, entry);
            return;
        }
        self.forget(transaction);
    }

    /// Stores the data of a transaction at their destination.
    fn store(&mut self, transaction: u32) {
        let transaction = &mut self.transactions[transaction];
        transaction.delivered = true;
        self.in_flight -= 1;
        let &mut Transaction { source, target, payload: length, created, started, mark, number, .. } =
            transaction;
        let delivered = self.now;
        self.delivered.push(Delivery { source, target, length, created, started, delivered, mark, number });
    }

    /// Frees the number of a transaction, unless it was given up before.
    pub(super) fn give_number_back(&mut self, transaction: u32) {
        let it = &mut self.transactions[transaction];
        if !std::mem::replace(&mut it.numbered, false) {
            return;
        }
        let source = it.source;
        if self.fabric.ring_timeout_ticks > 0 {
            self.cannot_time_out(transaction);
        }
        self.numbers[source as usize].free += 1;
        self.ask(source);
        self.forget(transaction);
    }

    /// Inserts a transaction into the order of time-outs.
    fn may_time_out(&mut self, transaction: u32) {
        self.transactions[transaction].before = self.newest;
        if self.newest == NONE {
            self.oldest = transaction;
        } else {
            self.transactions[self.newest].after = transaction;
        }
        self.newest = transaction;
        self.await_timeout();
    }

    fn cannot_time_out(&mut self, transaction: u32) {
        let Transaction { before, after, .. } = self.transactions[transaction];
        if before == NONE {
            self.oldest = after;
        } else {
            self.transactions[before].after = after;
        }
        if after == NONE {
            self.newest = before;
        } else {
            self.transactions[after].before = before;
        }
    }

    /// Gives up the transactions that are due.
    pub(super) fn time_out(&mut self) {
        self.timeout_at = NEVER;
        let timeout = self.fabric.ring_timeout_ticks as Time;
        while self.oldest != NONE && self.transactions[self.oldest].dispatched + timeout <= self.now {
            self.timed_out += 1;
            let Transaction { source, target, .. } = self.transactions[self.oldest];
            self.closed.time_out(source, target, self.now);
            self.give_up_transaction(self.oldest);
        }
        self.await_timeout();
    }

    /// Schedules the next check of time-outs.
    fn await_timeout(&mut self) {
        if self.oldest != NONE && self.timeout_at == NEVER {
            self.timeout_at =
                self.transactions[self.oldest].dispatched + self.fabric.ring_timeout_ticks as Time;
            self.schedule_timeout(self.timeout_at);
        }
    }
}
