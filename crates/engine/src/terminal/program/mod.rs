//! Terminals that run programs: the packets that they hand to their links, and the handling of arrivals.
//!
//! The rules are those of `docs/background/programs.md`, for several ports those of `docs/background/ports.md`. This
//! module does not know how packets travel: it gives packets to the network, and the network reports when a port's link
//! takes a packet and when a packet is delivered or its transaction ends.
//!
//! A tick is: arrivals, in order of terminals; timers, in that order; then each terminal with news continues its
//! program, fills packets and hands over those that its link takes, until nothing more happens. That is `turn`, in this
//! file.
//!
//! # Map
//!
//! | rule of the page | here |
//! |---|---|
//! | streams, graphs | [`process`]: `processes`, `give`; [`order`]: `run_in_order`, `make_ready` |
//! | programs: operations, barriers, repetitions | [`process`]: `run`, `begin`, `reach_barrier`, `repeat` |
//! | a message is made, handed over, sent, received | [`send`]: `make`; [`leave`]: `hand_over`; [`send`]: `sent`; [`receive`]: `complete` |
//! | division into packets | [`message`]: `packets`, `bytes` |
//! | channels, windows, filling | [`send`]: `open_channel`, `place`, `list`, `begin_packet`; [`fill`]: `fill_next` |
//! | shapers | [`shape`]: `awaits_tokens`, `take_tokens` |
//! | host's bus | [`host`]: `use_bus`, `transferred` |
//! | arrival, acknowledgement | [`receive`]: `come`, `arrived`, `take`, `acknowledge`; [`send`]: `acknowledged` |
//! | check of a message | [`send`]: `checked` |
//! | sent again, given up | [`resend`]: `clocks`, `give_up`, `arrived_late` |
//! | announced messages | [`announce`]: `offer`, `announced`, `call`; [`order`]: `end_operation` |
//! | unexpected messages | [`announce`]: `match_first`, `has_room`, `expect` |
//! | asked again | [`resend`]: `ask`, `have_answer`, `without_answer` |
//! | which port a message or packet takes | [`leave`]: `next_to_leave`, `choose`, `leave_as` |
//! | ports that fail | [`leave`]: `learn_links` |
//! | on rings: the end of a transaction | [`receive`]: `over`, `timed_out` |
//!
//! # Files
//!
//! All files are methods of [`Programs`]. A field is written by the files named here; the others read it.
//!
//! | file | what it does | writes |
//! |---|---|---|
//! | this one | what the network reports, the timers, the order of a tick | `news`, `touched`, `at_work`, `timers`, `next` |
//! | [`process`] | the streams of a terminal, operation by operation | `Process`; `Host`: `unended`, `slots`; `barrier`; `Done::ended` |
//! | [`order`] | operations that wait for others, not for the one before | `free`; `Process`: `at`, `doing`, `last`; `Host::order` |
//! | [`send`] | from a message to packets on the link | `channels`, `parts`, `pairs`; `messages`, which [`receive`] and [`resend`] remove as well; `Interface`, apart from what arrives or is filled; `Host::checks` |
//! | [`fill`] | packets that begin and are filled, one after the other | `Interface`: `pace`, `kept_back`, `filling` |
//! | [`shape`] | token buckets of channels | `Tokens` |
//! | [`leave`] | the port by which a message or packet leaves | `Host`: `leaving`, `chosen`, `learns`; `Message::packets_before` |
//! | [`receive`] | from packets to messages that programs receive | `notes`; `Host`: `taking`, `parked`, `held`, `inbox`, `posted`; `Interface`: `acks`, `resumes`; of a message what has arrived |
//! | [`announce`] | messages that are announced before they are sent; those that no receive has asked for | `Message`: `receiver`, `kept` |
//! | [`flight`] | packets that have their own numbers | `flights` |
//! | [`resend`] | packets that are sent again, requests that are repeated | `Flights`: `clocks`, `waiting`; `deadlines`; `Host::answer_by` |
//! | [`left`] | what is under way, and which programs wait | |
//! | [`account`] | statistics of messages and events | by its verbs, called where they happen |
//! | [`host`] | the state of a terminal; its bus: one transfer at a time | `Bus`; `off_bus` |
//! | [`interface`], [`message`] | the state of a port, of a message and its channel | |
//! | [`timer`] | when waits of ports and terminals end | |
//! | [`settings`] | the parameters of the protocol, which never change | |
//!
//! # Invariants
//!
//! * Messages made = received + under way + lost, at every moment.
//! * A terminal with something to do is in `touched`, once. It continues in the same tick.
//! * The order in which the network reports does not matter: `turn` sorts the news of a tick.
//! * A message keeps its number until it is sent and received, or forgotten because a part of it is lost. A packet that
//!   may arrive after that has a flight, which knows whether its message is of the past.

mod account;
mod announce;
mod fill;
mod flight;
mod host;
mod interface;
mod leave;
mod left;
mod message;
mod order;
mod process;
mod receive;
mod resend;
mod send;
mod settings;
mod shape;
#[cfg(test)]
mod tests;
mod timer;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::hash::BuildHasherDefault;

pub use account::{Account, Done, Event, Mark, NOT_YET, Row, Spent};
pub use message::mark;

use super::{NoPlane, Packet, Ways};
use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;
use crate::kernel::random::{Family, Stream, streams};
use crate::kernel::slab::Slab;
use crate::measure::Multiply;
use flight::Flights;
use host::{Host, Transfer};
use interface::Interface;
use message::{Channel, Message, Part};
use process::{Barrier, Doing, Operation, Process};
use receive::Note;
use settings::Settings;
use shape::Tokens;
use timer::Timers;

/// An event of the network in this tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum News {
    /// The first character of a packet.
    Head { mark: u32 },
    /// A packet.
    Packet { mark: u32 },
    /// The end of a packet's transaction.
    Over { mark: u32 },
    /// The time-out of a packet's transaction.
    TimedOut { mark: u32 },
    /// The loss of a packet that has its own number; for any terminal.
    Lost { mark: u32 },
    /// A packet on a ring that requests the host's bus.
    AtBus { port: u32, held: u32, bytes: u32 },
}

/// An operation without a valid peer: the terminal and the index in its program.
pub type Astray = (u32, u32);

/// The programs of all terminals.
#[derive(Clone, Debug)]
pub struct Programs {
    settings: Settings,
    ways: Ways,
    operations: Vec<Operation>,
    hosts: Vec<Host>,
    /// Terminal after terminal, and stream after stream.
    processes: Vec<Process>,
    /// Per port.
    interfaces: Vec<Interface>,
    messages: Slab<Message>,
    channels: Slab<Channel>,
    /// The parts that channels have to begin.
    parts: Slab<Part>,
    /// Channels in use, by their ports.
    pairs: HashMap<u64, u32, BuildHasherDefault<Multiply>>,
    notes: Slab<Note>,
    /// Packets with numbers of their own, if there are any.
    flights: Option<Box<Flights>>,
    tokens: Tokens,
    /// When answers are given up, and by which terminals.
    deadlines: BTreeSet<(Time, u32)>,
    /// When the known state of links changes for which messages wait, and at which terminals.
    changes: BTreeSet<(Time, u32)>,
    barrier: Barrier,
    /// Per terminal: its random stream, if it draws.
    streams: Vec<Stream>,
    /// By terminal.
    news: Vec<(u32, News)>,
    /// Terminals with something to do.
    touched: Vec<u32>,
    /// The one whose program continues, until its ports do.
    at_work: u32,
    /// Arrived packets on rings that have crossed the bus, with their ports.
    off_bus: Vec<(u32, u32)>,
    timers: Timers,
    /// The tick of the next timer of any kind, as the last turn left it; `Time::MAX`: there is none.
    next: Time,
    /// Operations of the graph at work that wait for nothing more, counted from the first of their program.
    free: VecDeque<u32>,
    now: Time,
    /// No operation begins after this tick.
    last: Time,
    astray: Option<Astray>,
    no_plane: Option<NoPlane>,
    /// Number of messages, with those that are for others, modulo 2^32.
    made: u32,
    packets: u64,
    /// Packets that were delivered or lost.
    back: u64,
    /// Packets that are acknowledged by the end of their transaction, until that.
    awaited: u64,
    bytes: u64,
    /// The statistics.
    pub account: Account,
}

impl Programs {
    /// Returns programs at their beginning; at most `keep` messages are written to the table. The fabric must have
    /// passed [`crate::fabric::check`], and have programs.
    pub fn new(fabric: &Fabric, keep: usize) -> Self {
        let settings = Settings::new(fabric);
        let (processes, hosts) = host::hosts(fabric);
        let draws = settings.draws_errors() || !fabric.via_switch.is_empty();
        let ways = Ways::new(fabric);
        let interfaces = (0..fabric.ports()).map(|port| Interface::new(ways.terminal(port)));
        let mut all = Self {
            interfaces: interfaces.collect(),
            ways,
            settings,
            operations: process::operations(fabric),
            messages: Slab::default(),
            channels: Slab::default(),
            parts: Slab::default(),
            pairs: HashMap::default(),
            notes: Slab::default(),
            flights: Flights::new(fabric),
            tokens: Tokens::default(),
            deadlines: BTreeSet::new(),
            changes: BTreeSet::new(),
            barrier: Barrier::new(&processes),
            streams: if draws { streams(fabric.seed, Family::Program, hosts.len()) } else { Vec::new() },
            news: Vec::new(),
            touched: Vec::new(),
            at_work: NO,
            off_bus: Vec::new(),
            timers: Timers::default(),
            next: Time::MAX,
            free: VecDeque::new(),
            now: 0,
            last: Time::MAX,
            astray: None,
            no_plane: None,
            made: 0,
            packets: 0,
            back: 0,
            awaited: 0,
            bytes: 0,
            account: Account::new(fabric, keep),
            hosts,
            processes,
        };
        for terminal in 0..fabric.terminals {
            all.begin_graph(terminal);
            all.touch(terminal);
        }
        all
    }

    /// Begins no operation after this tick. Operations in progress are finished.
    pub fn stop_after(&mut self, last: Time) {
        self.last = last;
    }

    /// Returns the tick of the next timer, if any. Everything begins at tick 0 without a timer.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        (self.next < Time::MAX).then_some(self.next)
    }

    fn first_timer(&self) -> Time {
        let mut next = self.timers.next();
        if let Some(clock) = self.flights.as_ref().and_then(|flights| flights.next()) {
            next = next.min(clock);
        }
        for times in [&self.deadlines, &self.changes] {
            next = times.first().map_or(next, |&(time, _)| time.min(next));
        }
        if let Some(opening) = self.tokens.next() {
            next = next.min(opening);
        }
        next
    }

    /// Reports that the link of a port takes a packet; it does so until `send` says otherwise.
    #[inline]
    pub fn link_free(&mut self, port: u32) {
        let may_send = self.may_send(port);
        let interface = &mut self.interfaces[port as usize];
        if !std::mem::replace(&mut interface.open, true) && may_send {
            let terminal = interface.terminal;
            self.touch(terminal);
        }
    }

    /// Whether a port may have a packet for its link now.
    #[inline]
    fn may_send(&self, port: u32) -> bool {
        self.interfaces[port as usize].has_ready() || self.flights.is_some()
    }

    /// Whether a link that takes a packet is news: it may get one, or programs have something to do, as in tick 0.
    #[inline]
    pub fn is_news(&self, port: u32) -> bool {
        self.may_send(port) || !self.touched.is_empty()
    }

    /// Whether the link of a port takes a packet that the program does not have.
    pub fn is_open(&self, port: u32) -> bool {
        self.interfaces[port as usize].open
    }

    /// Reports that the link of a port has taken a packet of another sender; `more`: whether it takes one more.
    pub fn link_taken(&mut self, port: u32, more: bool) {
        self.interfaces[port as usize].open = more;
    }

    /// Reports the delivery of a packet in this tick. Data that were read are delivered to the reader.
    #[inline]
    pub fn delivered(&mut self, source: u32, target: u32, mark: u32) {
        let to = if mark::kind(mark) == mark::READ { source } else { target };
        self.back += 1;
        self.news.push((to, News::Packet { mark }));
    }

    /// Reports the arrival of a packet's first character in this tick, if it is not the last. Only needed if packets
    /// are acknowledged at that time.
    #[inline]
    pub fn head_came(&mut self, target: u32, mark: u32) {
        self.news.push((target, News::Head { mark }));
    }

    /// Reports the end of the transaction of a port's packet in this tick, in time or given up.
    #[inline]
    pub fn completed(&mut self, source: u32, mark: u32, in_time: bool) {
        let source = self.ways.terminal(source);
        self.awaited -= u64::from(self.settings.by_transaction(mark));
        if in_time {
            self.news.push((source, News::Over { mark }));
        } else if self.flights.is_some() && self.settings.check > 0 {
            self.news.push((source, News::TimedOut { mark }));
        }
    }

    /// On rings: reports that a packet has arrived at a port and requests the bus of its host. When it has crossed
    /// the bus, [`Programs::off_bus`] returns the number by which it is held.
    #[inline]
    pub fn ask_bus(&mut self, port: u32, held: u32, bytes: u32) {
        self.news.push((self.ways.terminal(port), News::AtBus { port, held, bytes }));
    }

    /// Takes the packets that crossed buses in the last turn: ports, and the numbers by which they are held.
    #[inline]
    pub fn off_bus(&mut self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.off_bus.drain(..)
    }

    /// Reports the loss of a packet. What it carried never arrives unless it is sent again.
    pub fn lost(&mut self, mark: u32) {
        self.back += 1;
        if self.flights.is_some() {
            // In an order that does not depend on the network's.
            self.news.push((0, News::Lost { mark }));
        } else if mark::kind(mark) != mark::ACK {
            self.lose(mark::message(mark));
        }
    }

    /// Does all work of a tick; returns the number of events. Packets go to `send` with their ports, which returns
    /// whether the link takes another one.
    pub fn turn(&mut self, now: Time, send: &mut impl FnMut(u32, &Packet) -> bool) -> u64 {
        self.now = now;
        self.news.sort_unstable();
        for at in 0..self.news.len() {
            let (terminal, one) = self.news[at];
            match one {
                News::Head { mark } if mark::kind(mark) == mark::DATA => {
                    let number = mark::message(mark);
                    self.head(terminal, self.message_of(number), number);
                }
                News::Head { .. } => {}
                News::Packet { mark } => self.come(terminal, mark),
                News::Lost { mark } => self.copy_lost(mark),
                News::Over { mark } => self.over(mark),
                News::TimedOut { mark } => self.timed_out(mark),
                News::AtBus { port, held, bytes } => {
                    self.use_bus(terminal, Transfer::Held { port, held }, self.settings.bus.of(bytes));
                }
            }
        }
        self.news.clear();
        let timers = if self.next <= now { self.end_waits() } else { 0 };
        while !self.touched.is_empty() {
            self.go_on(send);
        }
        self.next = self.first_timer();
        timers
    }

    /// Continues every terminal with something to do.
    fn go_on(&mut self, send: &mut impl FnMut(u32, &Packet) -> bool) {
        // Terminals that are touched meanwhile continue in the next round.
        let count = self.touched.len();
        self.touched.sort_unstable();
        for at in 0..count {
            let terminal = self.touched[at];
            let host = &mut self.hosts[terminal as usize];
            host.touched = false;
            self.at_work = terminal;
            let is_graph = host.order.is_some();
            for process in host.processes.clone() {
                if self.processes[process as usize].doing == Doing::Running {
                    self.run(process, is_graph);
                }
            }
            for port in self.ways.ports_of(terminal) {
                self.fill(port);
                self.at_work = NO;
                self.send(port, send);
            }
        }
        if self.touched.len() == count {
            self.touched.clear();
        } else {
            self.touched.drain(..count);
        }
    }

    /// Handles whatever ends in this tick; returns the number of events.
    fn end_waits(&mut self) -> u64 {
        self.timers() + self.learn_links() + self.clocks() + self.tokens_came() + self.without_answer()
    }

    /// Handles the timers of this tick.
    fn timers(&mut self) -> u64 {
        let mut count = 0;
        while let Some((port, kind)) = self.timers.take(self.now) {
            count += 1;
            let terminal = self.ways.terminal(port);
            match kind {
                timer::RESUME => self.resume(port),
                timer::CHECK => self.checked(terminal),
                timer::ACK => self.ack_ready(port),
                timer::BUS => self.bus_over(terminal),
                timer::FILL => self.fill_over(port),
                timer::GAP => self.gap_over(port),
                _ => self.program_over(terminal),
            }
        }
        count
    }

    /// Sets a timer of a port.
    #[inline]
    fn schedule_port(&mut self, port: u32, kind: u32, ticks: Time) {
        debug_assert!(ticks > 0, "a wait of no time");
        self.timers.add(self.now + ticks, port, kind);
    }

    /// Sets a timer of a terminal.
    #[inline]
    fn schedule(&mut self, terminal: u32, kind: u32, ticks: Time) {
        self.schedule_port(self.ways.first(terminal), kind, ticks);
    }

    #[inline]
    fn touch(&mut self, terminal: u32) {
        let host = &mut self.hosts[terminal as usize];
        if !host.touched {
            host.touched = true;
            self.touched.push(terminal);
        }
    }

    /// Lets the ports of a terminal go on; those of the one at work do after its program, without being told.
    #[inline]
    fn touch_ports(&mut self, terminal: u32) {
        if terminal != self.at_work {
            self.touch(terminal);
        }
    }

    /// Resets the measurements.
    pub fn clear_counts(&mut self, now: Time) {
        self.account.clear(now);
    }

    /// Whether the last turn has left the network as it was, if this many packets had been handed to it before.
    #[inline]
    pub fn has_left_alone(&self, packets: u64) -> bool {
        let is_legal = self.astray.is_none() && self.no_plane.is_none();
        self.packets == packets && self.off_bus.is_empty() && is_legal
    }

    /// Returns packets handed to the network, and their payload bytes.
    pub fn handed(&self) -> (u64, u64) {
        (self.packets, self.bytes)
    }

    /// Returns a terminal and an operation without a valid peer, if a program reached one.
    pub fn astray(&self) -> Option<Astray> {
        self.astray
    }

    /// Returns a message to a terminal to which no port of its sender leads, if any.
    pub fn no_plane(&self) -> Option<NoPlane> {
        self.no_plane
    }
}

/// Returns the key of a pair of ports.
#[inline]
fn pair(source: u32, target: u32) -> u64 {
    u64::from(source) << 32 | u64::from(target)
}

/// Whether a limit (0: none) allows one more.
#[inline]
fn allows(limit: u32, count: u32) -> bool {
    limit == 0 || count < limit
}

/// No message or channel.
const NO: u32 = NONE;
