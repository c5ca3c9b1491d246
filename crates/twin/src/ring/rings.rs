//! The state of a run, the tick, and the final results.

use std::collections::{BTreeMap, BTreeSet};

use fabriloom_engine::fabric::{Fabric, PASS, stations, transaction};
use fabriloom_engine::kernel::Time;
use fabriloom_engine::terminal::Packet;
use fabriloom_engine::terminal::program::mark;

use super::parts::{Kind, Loss, Sent, Station, Switch, Symbol, Terminal, Token, Transaction, Unit};
use super::{RingTwinRun, delivery_key};
use crate::beside::Senders;
use crate::{Delivery, messages};

/// Bytes of a lock in each direction.
const LOCK_BYTES: u32 = 16;

/// The state of a run.
pub struct Rings<'a> {
    pub(crate) fabric: &'a Fabric,
    pub(crate) now: Time,
    /// Ticks at which something may be due.
    pub(crate) clock: BTreeSet<Time>,
    pub(crate) stations: Vec<Station>,
    /// Per port of a terminal.
    pub(crate) terminals: Vec<Terminal>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) units: Vec<Unit>,
    pub(crate) transactions: Vec<Transaction>,
    pub(crate) senders: Senders,
    /// When which port is to be asked for sources' packets.
    pub(crate) wakes: BTreeSet<(Time, u32)>,
    pub(crate) deliveries: Vec<Delivery>,
    pub(crate) timed_out: u64,
    /// Losses that senders have not forgotten yet.
    pub(crate) losses: Vec<Loss>,
    /// By requester and target: time-outs that count, and until when the route is closed.
    pub(crate) routes: BTreeMap<(usize, u32), (u32, Time)>,
    pub(crate) packet_hops: u64,
    /// Units that have left in this tick and that no echo will answer.
    pub(crate) gone: Vec<usize>,
    /// Per ring; empty without tokens.
    pub(crate) tokens: BTreeMap<u32, Token>,
    /// Per station: its row in `port_route`, if it is a port.
    port_row: Vec<Option<usize>>,
}

impl<'a> Rings<'a> {
    /// Returns idle rings at tick 0, when all sources are asked for the first time.
    pub fn new(fabric: &'a Fabric) -> Self {
        let mut port_row = vec![None; fabric.links()];
        for (row, &station) in fabric.port_station.iter().enumerate() {
            port_row[station as usize] = Some(row);
        }
        let ports = |switch: usize| {
            let range = fabric.port_start[switch] as usize..fabric.port_start[switch + 1] as usize;
            fabric.port_station[range].iter().map(|&station| station as usize).collect()
        };
        let switch = |switch| Switch {
            ports: ports(switch),
            first: [0; 2],
            transfers: Vec::new(),
            counts: super::BusCounts::default(),
        };
        let idle = Terminal { service: None, given: None, silent: false, open: Vec::new(), dispatched: 0 };
        let mut rings = Self {
            fabric,
            now: 0,
            clock: BTreeSet::from([0]),
            stations: vec![Station::new(); fabric.links()],
            terminals: vec![idle; fabric.ports() as usize],
            switches: (0..fabric.switches as usize).map(switch).collect(),
            units: Vec::new(),
            transactions: Vec::new(),
            senders: Senders::new(fabric),
            wakes: BTreeSet::new(),
            deliveries: Vec::new(),
            timed_out: 0,
            losses: Vec::new(),
            routes: BTreeMap::new(),
            packet_hops: 0,
            gone: Vec::new(),
            tokens: BTreeMap::new(),
            port_row,
        };
        rings.put_tokens();
        rings
    }

    /// Simulates up to and including tick `until`.
    pub fn run_until(&mut self, until: Time) {
        while let Some(now) = self.clock.pop_first() {
            if now > until {
                self.clock.insert(now);
                return;
            }
            self.now = now;
            self.tick();
        }
    }

    /// Simulates one tick, in the order of the page.
    fn tick(&mut self) {
        let (stations, terminals, switches) =
            (self.stations.len(), self.terminals.len(), self.switches.len());
        (0..stations).for_each(|station| self.end_unit(station));
        (0..switches).for_each(|switch| self.end_transfers(switch));
        (0..terminals).for_each(|terminal| self.end_service(terminal));
        (0..terminals).for_each(|terminal| self.consume(terminal));
        (0..terminals).for_each(|terminal| self.time_out(terminal));
        self.forget_lost();

        (0..stations).for_each(|link| self.take_from_wire(link));
        (0..stations).for_each(|link| self.take_edges(link));
        self.answer_gone();

        if self.senders.programs.is_some() {
            self.let_programs_go_on();
        } else if self.senders.ports.is_some() {
            self.send_by_ports();
        } else {
            (0..terminals).for_each(|terminal| self.ask_source(terminal));
        }

        (0..terminals).for_each(|terminal| self.start_service(terminal));
        (0..switches).for_each(|switch| self.start_transfers(switch));
        for station in 0..stations {
            self.say_go_or_stop(station);
            self.start_unit(station);
        }
        (0..stations).for_each(|station| self.send_symbol(station));
        (0..stations).for_each(|station| self.check_bypass(station));
    }

    /// Schedules a check of everything at a tick; this may be the current one while its step is not over.
    pub(crate) fn wake_at(&mut self, tick: Time) {
        if tick > self.now {
            self.clock.insert(tick);
        }
    }

    /// Returns the ticks per symbol on a station's link.
    pub(crate) fn symbol_ticks(&self, station: usize) -> Time {
        Time::from(self.fabric.link_character_ticks[station])
    }

    /// Returns the kind of packet that a program sends, or a source beside one; None without programs.
    pub(crate) fn kind_of(&self, transaction: usize) -> Option<u32> {
        self.fabric.has_programs().then(|| mark::kind(self.transactions[transaction].packet.mark))
    }

    /// Returns the kind of transaction of a source.
    fn transaction_kind(&self, sent: Sent) -> u8 {
        let transaction = &self.transactions[sent.transaction];
        if self.kind_of(sent.transaction) == Some(mark::READ) {
            return transaction::READ;
        }
        self.fabric.terminal_transaction[transaction.requester as usize]
    }

    /// Whether the target of a request answers it.
    pub(crate) fn is_answered(&self, sent: Sent) -> bool {
        sent.kind == Kind::Request && self.transaction_kind(sent) != transaction::MOVE
    }

    /// Whether storing the data of this packet completes the delivery.
    pub(crate) fn delivers(&self, sent: Sent) -> bool {
        let by_request = matches!(self.transaction_kind(sent), transaction::WRITE | transaction::MOVE);
        by_request == (sent.kind == Kind::Request)
    }

    /// Returns the destination terminal of a packet.
    pub(crate) fn target(&self, sent: Sent) -> u32 {
        let transaction = &self.transactions[sent.transaction];
        match sent.kind {
            Kind::Request => transaction.packet.target,
            Kind::Response => transaction.requester,
        }
    }

    /// Returns the source terminal of a packet.
    pub(crate) fn source(&self, sent: Sent) -> u32 {
        let transaction = &self.transactions[sent.transaction];
        match sent.kind {
            Kind::Request => transaction.requester,
            Kind::Response => transaction.packet.target,
        }
    }

    /// Returns the bytes read or written by a transaction. Parts of messages may be padded to a legal size.
    pub(crate) fn data_bytes(&self, sent: Sent) -> u32 {
        let length = self.transactions[sent.transaction].packet.length;
        match (self.transaction_kind(sent), length) {
            (transaction::LOCK, _) => LOCK_BYTES,
            _ if self.fabric.ring_any_payload == 1 => length,
            _ if matches!(self.kind_of(sent.transaction), None | Some(mark::SOURCE)) => length,
            (_, ..=16) => 16,
            (_, ..=64) => 64,
            (_, ..=256) => 256,
            _ => length,
        }
    }

    /// Returns the bytes of a packet without its idle symbols.
    pub(crate) fn packet_bytes(&self, sent: Sent) -> u32 {
        let (kind, f) = (self.transaction_kind(sent), self.fabric);
        let (header, carries) = match sent.kind {
            Kind::Request => (f.ring_request_header_bytes, kind != transaction::READ),
            Kind::Response => {
                (f.ring_response_header_bytes, matches!(kind, transaction::READ | transaction::LOCK))
            }
        };
        header + if carries { self.data_bytes(sent) } else { 0 }
    }

    /// Returns the symbols of the unit of a packet.
    pub(crate) fn packet_symbols(&self, sent: Sent) -> u32 {
        self.on_link(self.packet_bytes(sent) + self.fabric.ring_send_idle_bytes)
    }

    /// Returns the symbols of the unit of an echo.
    pub(crate) fn echo_symbols(&self) -> u32 {
        self.on_link(self.fabric.ring_echo_bytes + self.fabric.ring_echo_idle_bytes)
    }

    /// Returns the symbols that a unit of this size takes; each fills a slot, if there are any.
    fn on_link(&self, bytes: u32) -> u32 {
        let slot = self.fabric.ring_slot_symbols;
        if slot > 0 { slot } else { bytes.div_ceil(self.fabric.ring_symbol_bytes) }
    }

    /// Whether stations answer packets that they take off the ring.
    pub(crate) fn has_echoes(&self) -> bool {
        self.fabric.ring_echo_bytes > 0
    }

    /// Returns the station of a terminal.
    pub(crate) fn station_of(&self, terminal: usize) -> usize {
        self.fabric.terminal_out_link[terminal] as usize
    }

    /// Whether a station takes packets for this terminal off its ring.
    pub(crate) fn takes(&self, station: usize, terminal: u32) -> bool {
        self.station_of(terminal as usize) == station || self.way(station, terminal, 0).is_some()
    }

    /// Whether a rule for these stations holds for this one.
    pub(crate) fn is_among(&self, which: u8, station: usize) -> bool {
        match self.port_row[station] {
            Some(_) => [stations::ALL, stations::PORTS].contains(&which),
            None => [stations::ALL, stations::TERMINALS].contains(&which),
        }
    }

    /// Whether a station sends packets of a kind between two terminals one after the other.
    pub(crate) fn keeps_order(&self, station: usize, kind: Kind) -> bool {
        match self.fabric.ring_in_order {
            stations::BUT_REQUESTS => self.port_row[station].is_some() || kind == Kind::Response,
            which => self.is_among(which, station),
        }
    }

    /// Whether a later controller of the same port takes packets for a terminal, too.
    pub(crate) fn is_followed(&self, station: usize, terminal: u32) -> bool {
        let row = self.port_row[station];
        let yields = row.is_some_and(|row| self.fabric.port_yields.get(row) == Some(&1));
        let next = self.fabric.station_next[station] as usize;
        yields && (self.takes(next, terminal) || self.is_followed(next, terminal))
    }

    /// Returns the output port of a packet for a terminal that arrives at this station, for a requester's transaction
    /// of this number. All transactions take the same packets off their rings.
    pub(crate) fn way(&self, station: usize, terminal: u32, number: usize) -> Option<usize> {
        let row = self.port_row[station]?;
        let turn = number % self.fabric.ring_turns as usize;
        let entry = self.fabric.exit(turn as u32, row as u32, terminal);
        (entry != PASS).then_some(usize::from(entry))
    }

    /// Creates no packets after this tick.
    pub(crate) fn stop_sources(&mut self, last: Time) {
        self.senders.stop_after(self.fabric, last);
        for terminal in &mut self.terminals {
            terminal.given = terminal.given.filter(|packet| packet.created <= last);
        }
    }

    /// Returns the transactions dispatched and not delivered, scrubbed or lost.
    pub(crate) fn in_rings(&self) -> u64 {
        self.transactions.iter().filter(|one| !one.is_over()).count() as u64
    }

    /// Returns the results of the run.
    pub fn finish(self, until: Time) -> RingTwinRun {
        let delivered = self.transactions.iter().filter(|t| t.delivered).count() as u64;
        let scrubbed = self.transactions.iter().filter(|t| t.scrubbed).count() as u64;
        assert_eq!(delivered, self.deliveries.len() as u64);
        self.find_everything();
        let given: Vec<Packet> = self.terminals.iter().filter_map(|terminal| terminal.given).collect();
        let totals = self.senders.totals(self.fabric, until, &given);
        let in_rings = self.in_rings();
        let discarded: u64 = self.stations.iter().map(|station| station.counts.discarded).sum();
        let lost = discarded + self.transactions.iter().filter(|t| t.lost).count() as u64;
        assert_eq!(totals.offered, delivered + scrubbed + lost + totals.refused + totals.waiting + in_rings);
        let mut deliveries = self.deliveries;
        deliveries.sort_by_key(delivery_key);
        let mut links: Vec<_> = self.stations.iter().map(|station| station.counts).collect();
        for (link, &next) in self.fabric.station_next.iter().enumerate() {
            links[link].busied = self.stations[next as usize].busied;
        }
        RingTwinRun {
            deliveries,
            offered: totals.offered,
            refused: totals.refused,
            in_flight: in_rings + totals.waiting,
            scrubbed,
            lost,
            timed_out: self.timed_out,
            packet_hops: self.packet_hops,
            links,
            buses: self.switches.iter().map(|switch| switch.counts).collect(),
            messages: self.senders.programs.as_ref().map(messages),
        }
    }

    /// Checks that every packet not delivered, scrubbed or lost is somewhere.
    fn find_everything(&self) {
        let mut seen = vec![false; self.transactions.len()];
        for station in &self.stations {
            let outgoing = station.outgoing.iter().map(|outgoing| outgoing.sent);
            let received = station.received.iter().flatten().map(|received| received.sent);
            let moving = [&station.wire, &station.decoder, &station.bypass].into_iter().flatten();
            let units =
                moving.map(|(_, symbol)| symbol.unit).chain(station.sending.map(|sending| sending.unit));
            let on_ring = units.map(|unit| self.units[unit].sent);
            outgoing.chain(received).chain(on_ring).for_each(|sent| seen[sent.transaction] = true);
        }
        self.losses.iter().for_each(|loss| seen[self.units[loss.unit].sent.transaction] = true);
        for (number, transaction) in self.transactions.iter().enumerate() {
            assert!(seen[number] || transaction.is_over(), "transaction {number} is lost: {transaction:?}");
        }
        for station in &self.stations {
            self.follow_each_other(station.wire.iter().map(|(_, symbol)| *symbol));
            self.follow_each_other(station.decoder.iter().map(|(_, symbol)| *symbol));
            self.follow_each_other(station.bypass.iter().map(|(_, symbol)| *symbol));
        }
    }

    /// Checks that symbols are in order, and that a unit begins only after the end of another.
    fn follow_each_other(&self, symbols: impl Iterator<Item = Symbol>) {
        let _ = symbols.fold(None, |before: Option<Symbol>, symbol| {
            if let Some(before) = before {
                let ends = before.index + 1 == self.units[before.unit].symbols;
                let follows = Symbol { index: before.index + 1, ..before };
                assert!(symbol == follows || ends && symbol.index == 0, "a unit is cut in two");
            }
            Some(symbol)
        });
    }
}
