//! Terminals: sources or programs, transactions, the host's bus, service of arrivals, time-outs.

use fabriloom_engine::kernel::Time;
use fabriloom_engine::terminal::program::mark;
use fabriloom_engine::terminal::{Packet, Programs};

use super::parts::{Kind, Received, Sent, Transaction};
use super::rings::Rings;
use crate::Delivery;
use crate::beside::Beside;

/// Data are accessed in blocks of this size.
const BLOCK_BYTES: u32 = 64;

impl Rings<'_> {
    /// Requests packets from the source while there is a place and a transaction number for them.
    pub(crate) fn ask_source(&mut self, terminal: usize) {
        while self.has_room(terminal) {
            if self.terminals[terminal].given.is_none() && !self.terminals[terminal].silent {
                let packet = self.senders.sources.next(self.fabric, terminal, self.now);
                self.terminals[terminal].given = packet;
                self.terminals[terminal].silent = packet.is_none();
            }
            let Some(packet) = self.terminals[terminal].given else { return };
            assert!(packet.dispatch >= self.now, "a source dispatches in the past");
            if packet.dispatch > self.now {
                return self.wake_at(packet.dispatch);
            }
            self.terminals[terminal].given = None;
            self.dispatch_or_discard(terminal, packet);
        }
    }

    /// Sends the packets of terminals with several ports by the ports that have room.
    pub(crate) fn send_by_ports(&mut self) {
        let Some(mut ports) = self.senders.ports.take() else { return };
        while let Some(&(_, port)) = self.wakes.first().filter(|&&(tick, _)| tick <= self.now) {
            self.wakes.pop_first();
            ports.ask(port, self.now);
        }
        for port in 0..self.fabric.ports() {
            if self.has_room(port as usize) {
                ports.ask(port, self.now);
            }
        }
        for terminal in 0..self.fabric.terminals {
            while let Some((port, packet)) = ports
                .next(self.fabric, &mut self.senders.sources, terminal, self.now)
                .expect("every packet has a port that leads to its target")
            {
                self.dispatch_or_discard(port as usize, packet);
                ports.took(port, self.has_room(port as usize));
            }
            if let Some((port, tick)) = ports.wake(self.fabric, &self.senders.sources, terminal, self.now) {
                self.wakes.insert((tick, port));
                self.wake_at(tick);
            }
        }
        self.senders.ports = Some(ports);
    }

    /// Dispatches a packet, or discards it because its route is closed.
    pub(crate) fn dispatch_or_discard(&mut self, terminal: usize, packet: Packet) {
        if self.is_closed(terminal, packet.target) {
            let station = self.station_of(terminal);
            self.stations[station].counts.discarded += 1;
        } else {
            self.dispatch(terminal, packet);
        }
    }

    pub(crate) fn has_room(&self, terminal: usize) -> bool {
        let numbers = self.fabric.terminal_transactions[terminal] as usize;
        self.terminals[terminal].open.len() < numbers
            && self.has_transmit_place(self.station_of(terminal), Kind::Request)
    }

    pub(crate) fn dispatch(&mut self, terminal: usize, packet: Packet) {
        let f = self.fabric;
        let limit = f.ring_timeout_ticks as Time;
        let expires = (limit > 0).then_some(self.now + limit);
        let transaction = self.transactions.len();
        let number = self.terminals[terminal].dispatched;
        self.terminals[terminal].dispatched += 1;
        self.transactions.push(Transaction {
            requester: terminal as u32,
            number,
            packet,
            started: None,
            expires,
            delivered: false,
            scrubbed: false,
            lost: false,
        });
        self.terminals[terminal].open.push(transaction);
        expires.into_iter().for_each(|tick| self.wake_at(tick));
        let station = self.station_of(terminal);
        self.stations[station].places_out[Kind::Request as usize] += 1;
        let host = Time::from(f.terminal_host_ticks[terminal]);
        self.enter(station, Sent { transaction, kind: Kind::Request }, self.now + host);
    }

    /// Processes, at the sender, the acceptance of a packet: a request without a response ends for its terminal.
    pub(crate) fn accepted(&mut self, station: usize, sent: Sent) {
        let requester = self.source(sent) as usize;
        let is_its_own_ring = self.station_of(requester) == station;
        if sent.kind == Kind::Request && !self.is_answered(sent) && is_its_own_ring {
            self.close(sent);
        }
    }

    /// Frees a transaction number, if it was not given up before.
    fn close(&mut self, sent: Sent) {
        let requester = self.transactions[sent.transaction].requester as usize;
        if let Some(place) = self.terminals[requester].open.iter().position(|&open| open == sent.transaction)
        {
            self.terminals[requester].open.remove(place);
            self.routes.remove(&(requester, self.transactions[sent.transaction].packet.target));
            self.tell_over(sent.transaction, true);
        }
    }

    /// Gives up transactions that have taken too long.
    pub(crate) fn time_out(&mut self, terminal: usize) {
        let (now, transactions) = (self.now, &self.transactions);
        let is_over = |&number: &usize| transactions[number].expires.is_some_and(|tick| tick <= now);
        let open = std::mem::take(&mut self.terminals[terminal].open);
        let (over, open): (Vec<usize>, Vec<usize>) = open.into_iter().partition(is_over);
        self.terminals[terminal].open = open;
        self.timed_out += over.len() as u64;
        for number in over {
            self.may_close(terminal, self.transactions[number].packet.target);
            self.tell_over(number, false);
        }
    }

    /// Records a time-out of a transaction; after enough of them the route is closed.
    fn may_close(&mut self, terminal: usize, target: u32) {
        let most = self.fabric.ring_close_after;
        if most > 0 {
            let (timed_out, until) = self.routes.entry((terminal, target)).or_insert((0, 0));
            *timed_out = (*timed_out + 1).min(most);
            if *timed_out == most {
                *until = self.now + self.fabric.ring_closed_ticks as Time;
            }
        }
    }

    /// Whether a terminal has closed its route to another one.
    fn is_closed(&self, terminal: usize, target: u32) -> bool {
        self.routes.get(&(terminal, target)).is_some_and(|&(_, until)| self.now < until)
    }

    /// Ends responses without data when they are ready.
    pub(crate) fn consume(&mut self, terminal: usize) {
        let station = self.station_of(terminal);
        let queue = &self.stations[station].received[Kind::Response as usize];
        let over = |received: &&Received| !self.delivers(received.sent) && received.ready <= self.now;
        let units: Vec<(usize, Sent)> = queue.iter().filter(over).map(|one| (one.unit, one.sent)).collect();
        for (unit, sent) in units {
            self.stations[station].received[Kind::Response as usize].retain(|one| one.unit != unit);
            self.close(sent);
        }
    }

    /// Begins to serve the packet that has been ready longest, among those that can be served.
    pub(crate) fn start_service(&mut self, terminal: usize) {
        let station = self.station_of(terminal);
        if self.terminals[terminal].service.is_some() || self.begins_nothing(station) {
            return;
        }
        let can_answer = self.has_transmit_place(station, Kind::Response);
        let can_be_served = |received: &&Received| {
            received.ready <= self.now && (can_answer || !self.is_answered(received.sent))
        };
        let both = self.stations[station].received.iter().flatten().filter(can_be_served);
        let Some(sent) = both.min_by_key(|one| (self.receive_turn(one), one.asked)).map(|one| one.sent)
        else {
            return;
        };
        if self.is_answered(sent) {
            self.stations[station].places_out[Kind::Response as usize] += 1;
        }
        let blocks = Time::from(self.data_bytes(sent).div_ceil(BLOCK_BYTES).max(1));
        let block = Time::from(self.fabric.terminal_block_ticks[terminal]);
        let ticks = Time::from(self.fabric.terminal_access_ticks[terminal]) + blocks * block;
        let end = self.now + ticks.max(self.fabric.grain_ticks as Time);
        self.terminals[terminal].service = Some((end, sent));
        self.wake_at(end);
    }

    /// Returns the order in which received packets are served.
    pub(crate) fn receive_turn(&self, received: &Received) -> impl Ord + use<> {
        let kind = received.sent.kind;
        let gives_way = self.fabric.ring_response_first == 1 && kind == Kind::Request;
        (gives_way, received.ready, kind)
    }

    /// Ends a service: data are stored, a place is free, the response is sent.
    pub(crate) fn end_service(&mut self, terminal: usize) {
        let Some((_, sent)) = self.terminals[terminal].service.filter(|(end, _)| *end == self.now) else {
            return;
        };
        self.terminals[terminal].service = None;
        let station = self.station_of(terminal);
        let queue = &mut self.stations[station].received[sent.kind as usize];
        let place = queue.iter().position(|received| received.sent == sent).expect("it was served");
        queue.remove(place);
        if self.delivers(sent) {
            self.deliver(terminal, sent);
        }
        if self.is_answered(sent) {
            self.enter(station, Sent { kind: Kind::Response, ..sent }, self.now);
        }
        if sent.kind == Kind::Response {
            self.close(sent);
        }
    }

    fn deliver(&mut self, terminal: usize, sent: Sent) {
        assert_eq!(self.target(sent) as usize, terminal, "a packet came to the wrong terminal");
        let transaction = &mut self.transactions[sent.transaction];
        assert!(!transaction.is_over(), "a transaction was delivered twice");
        transaction.delivered = true;
        self.deliveries.push(Delivery {
            source: self.senders.ways.terminal(transaction.requester),
            target: self.senders.ways.terminal(transaction.packet.target),
            created: transaction.packet.created,
            started: transaction.started.expect("it was sent"),
            delivered: self.now,
            length: transaction.packet.length,
        });
        self.tell_delivered(sent.transaction);
    }

    /// Continues the programs with the news of this tick.
    pub(crate) fn let_programs_go_on(&mut self) {
        (0..self.terminals.len()).for_each(|terminal| self.ask_for_bus(terminal));
        let has_room = |&port: &u32| self.has_room(port as usize);
        let mut asking: Vec<u32> = (0..self.fabric.ports()).filter(has_room).collect();
        self.divide_requests(&mut asking);
        let Some(mut programs) = self.senders.programs.take() else { return };
        asking.into_iter().for_each(|port| programs.link_free(port));
        programs.turn(self.now, &mut |port, packet| {
            self.dispatch(port as usize, *packet);
            let more = self.has_room(port as usize);
            self.program_sent(port, more);
            more
        });
        for (terminal, unit) in programs.off_bus() {
            self.leave_bus(terminal as usize, unit as usize);
        }
        let next = programs.next();
        self.senders.programs = Some(programs);
        self.sources_use_the_rest();
        next.into_iter().chain(self.next_beside()).for_each(|tick| self.wake_at(tick));
    }

    /// Handles a packet that has crossed the host's bus: it can be served after the earlier ones.
    fn leave_bus(&mut self, terminal: usize, unit: usize) {
        let station = self.station_of(terminal);
        for queue in &mut self.stations[station].received {
            if let Some(place) = queue.iter().position(|one| one.unit == unit) {
                let one = queue.remove(place).expect("it has come here");
                assert_eq!(one.ready, Time::MAX, "it was on the bus");
                queue.push_back(Received { ready: self.now, ..one });
            }
        }
    }

    /// Requests the host's bus, if there is one, for packets that are ready for the user: data of messages, in either
    /// direction. They are ready for service when they have crossed it.
    fn ask_for_bus(&mut self, terminal: usize) {
        if !self.fabric.has_host_bus() {
            return;
        }
        let station = self.station_of(terminal);
        for one in self.stations[station].received.iter_mut().flatten() {
            let packet = self.transactions[one.sent.transaction].packet;
            let is_of_message = !matches!(mark::kind(packet.mark), mark::ACK | mark::SOURCE);
            if one.ready <= self.now && !one.asked && is_of_message {
                (one.asked, one.ready) = (true, Time::MAX);
                let programs = self.senders.programs.as_mut().expect("they drive the terminals");
                programs.ask_bus(terminal as u32, one.unit as u32, packet.length);
            }
        }
    }

    /// Reports the end of a transaction, in time or given up.
    pub(crate) fn tell_over(&mut self, transaction: usize, in_time: bool) {
        let requester = self.transactions[transaction].requester;
        self.tell_of(transaction, |programs, mark| programs.completed(requester, mark, in_time));
    }

    /// Reports that the data of a transaction have been stored.
    pub(crate) fn tell_delivered(&mut self, transaction: usize) {
        let of = &self.transactions[transaction];
        let (source, target) =
            (self.senders.ways.terminal(of.requester), self.senders.ways.terminal(of.packet.target));
        self.tell_of(transaction, |programs, mark| programs.delivered(source, target, mark));
    }

    /// Reports that the data of a transaction have been lost.
    pub(crate) fn tell_lost(&mut self, transaction: usize) {
        self.tell_of(transaction, Programs::lost);
    }

    /// Tells the programs of a transaction, unless it is a source's.
    fn tell_of(&mut self, transaction: usize, tell: impl FnOnce(&mut Programs, u32)) {
        let mark = self.transactions[transaction].packet.mark;
        let is_own = self.kind_of(transaction) != Some(mark::SOURCE);
        if let Some(programs) = self.senders.programs.as_mut().filter(|_| is_own) {
            tell(programs, mark);
        }
    }
}
