//! Terminals that run programs: what they make ready for their links, and what comes of it.
//!
//! The rules are those of `docs/background/programs.md`, of several ports those of `docs/background/ports.md`. Nothing
//! here knows how packets travel: the network says when the link of a port takes a packet and when a packet has been
//! delivered or its transaction is over, and is given packets.
//!
//! A tick is: what has come, in order of terminals; timers, in that order; then each terminal that something happened to
//! goes on with its program, fills packets and hands over what its link takes, until nothing more happens.

mod account;
mod ask;
mod bus;
mod flight;
mod host;
mod interface;
mod message;
mod process;
mod receive;
mod resend;
mod send;
mod settings;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasherDefault;

pub use account::{Account, Done, Event, Mark, NOT_YET, Row, Spent};
pub use message::mark;

use super::{NoPlane, Packet, Ways};
use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;
use crate::kernel::random::{Family, Stream, streams};
use crate::kernel::slab::Slab;
use crate::kernel::wheel::Wheel;
use crate::measure::Multiply;
use bus::Transfer;
use flight::Flights;
use host::Host;
use interface::Interface;
use message::{Channel, Message, Part};
use process::{Barrier, Doing, Operation};
use receive::Note;
use settings::Settings;

/// A timer of a port, or of a terminal, which counts as of its first port, is over: its number in the wheel is the port's times
/// 8 plus this, the order within a tick.
mod timer {
    /// The effect of an acknowledgement.
    pub const RESUME: u32 = 0;
    /// The check of a message.
    pub const CHECK: u32 = 1;
    /// An acknowledgement is ready.
    pub const ACK: u32 = 2;
    /// A transfer on the host's bus.
    pub const BUS: u32 = 3;
    /// The filling of a packet.
    pub const FILL: u32 = 4;
    /// What the program waits for.
    pub const PROGRAM: u32 = 5;
    /// The gap behind a packet that was begun.
    pub const GAP: u32 = 6;
    /// What is known of a link is another thing.
    pub const LINK: u32 = 7;
}

/// What came from the network in this tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum News {
    /// The first character of a packet.
    Head { mark: u32 },
    /// A packet.
    Packet { mark: u32 },
    /// The end of the transaction of a packet.
    Over { mark: u32 },
    /// The transaction of a packet was given up.
    TimedOut { mark: u32 },
    /// A packet was lost that has a number of its own; of whichever terminal.
    Lost { mark: u32 },
    /// A packet on a ring that asks for the host's bus.
    AtBus { held: u32, bytes: u32 },
}

/// An operation that leads nowhere: the terminal and its place in the program.
pub type Astray = (u32, u32);

/// The programs of all terminals.
#[derive(Clone, Debug)]
pub struct Programs {
    settings: Settings,
    ways: Ways,
    operations: Vec<Operation>,
    hosts: Vec<Host>,
    /// Per port.
    interfaces: Vec<Interface>,
    messages: Slab<Message>,
    channels: Slab<Channel>,
    /// What channels are to begin.
    parts: Slab<Part>,
    /// Channels in use by the ports that they lead from and to.
    pairs: HashMap<u64, u32, BuildHasherDefault<Multiply>>,
    notes: Slab<Note>,
    /// Packets with numbers of their own, if they have.
    flights: Option<Box<Flights>>,
    /// When answers are given up, and by which terminals.
    deadlines: BTreeSet<(Time, u32)>,
    barrier: Barrier,
    /// Per terminal: its random stream, if anything is drawn.
    streams: Vec<Stream>,
    /// By terminal.
    news: Vec<(u32, News)>,
    /// Terminals that something has happened to.
    touched: Vec<u32>,
    /// An empty list that has its room already.
    spare: Vec<u32>,
    /// What has come on rings and has gone over the bus, with its terminal.
    off_bus: Vec<(u32, u32)>,
    wheel: Wheel,
    due: Vec<u32>,
    now: Time,
    /// No operation begins after this tick.
    last: Time,
    astray: Option<Astray>,
    no_plane: Option<NoPlane>,
    packets: u64,
    characters: u64,
    /// What was found.
    pub account: Account,
}

impl Programs {
    /// Programs at their beginning; at most `keep` messages are written to the table. The fabric must have passed
    /// [`crate::fabric::check`], and have programs.
    pub fn new(fabric: &Fabric, keep: usize) -> Self {
        let settings = Settings::new(fabric);
        let hosts: Vec<Host> = (0..fabric.terminals as usize).map(|at| Host::new(fabric, at)).collect();
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
            deadlines: BTreeSet::new(),
            barrier: Barrier::new(&hosts),
            streams: if draws { streams(fabric.seed, Family::Program, hosts.len()) } else { Vec::new() },
            news: Vec::new(),
            touched: Vec::new(),
            spare: Vec::new(),
            off_bus: Vec::new(),
            wheel: Wheel::default(),
            due: Vec::new(),
            now: 0,
            last: Time::MAX,
            astray: None,
            no_plane: None,
            packets: 0,
            characters: 0,
            account: Account::new(fabric, keep),
            hosts,
        };
        (0..fabric.terminals).for_each(|terminal| all.touch(terminal));
        all
    }

    /// Has no operation begin after this tick. What was begun is finished.
    pub fn stop_after(&mut self, last: Time) {
        self.last = last;
    }

    /// The tick of the next timer, if there is one. At tick 0 everything begins without one.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        let clock = self.flights.as_ref().and_then(|flights| flights.next());
        let deadline = self.deadlines.first().map(|&(time, _)| time);
        [self.wheel.peek(), clock, deadline].into_iter().flatten().min()
    }

    /// The link of a port takes a packet, until a packet given to it says that it takes no more.
    #[inline]
    pub fn link_free(&mut self, port: u32) {
        let interface = &mut self.interfaces[port as usize];
        if !std::mem::replace(&mut interface.open, true) {
            let terminal = interface.terminal;
            self.touch(terminal);
        }
    }

    /// A packet has been delivered in this tick. What was read comes to the one that asked for it.
    #[inline]
    pub fn delivered(&mut self, source: u32, target: u32, mark: u32) {
        let to = if mark::kind(mark) == mark::READ { source } else { target };
        self.news.push((to, News::Packet { mark }));
    }

    /// The first character of a packet has come in this tick, and it is not the last. To be told only where packets are
    /// acknowledged from there.
    #[inline]
    pub fn head_came(&mut self, target: u32, mark: u32) {
        self.news.push((target, News::Head { mark }));
    }

    /// The transaction of a packet is over in this tick, or was given up.
    #[inline]
    pub fn completed(&mut self, source: u32, mark: u32, in_time: bool) {
        if in_time {
            self.news.push((source, News::Over { mark }));
        } else if self.flights.is_some() {
            self.news.push((source, News::TimedOut { mark }));
        }
    }

    /// On rings: a packet has come to a terminal and asks for the bus of its host. When it has gone over that, the number
    /// by which it is held there is among those that [`Programs::off_bus`] gives.
    #[inline]
    pub fn ask_bus(&mut self, terminal: u32, held: u32, bytes: u32) {
        self.news.push((terminal, News::AtBus { held, bytes }));
    }

    /// Takes what has gone over buses in the last turn: terminals, and what is held there.
    #[inline]
    pub fn off_bus(&mut self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.off_bus.drain(..)
    }

    /// A packet has been lost on its way, and what it carried will never come, unless it is sent again.
    pub fn lost(&mut self, mark: u32) {
        if self.flights.is_some() {
            // In an order that does not depend on the network's.
            self.news.push((0, News::Lost { mark }));
        } else if mark::kind(mark) != mark::ACK {
            self.lose(mark::message(mark));
        }
    }

    /// Does all that happens in a tick; the number of events. Packets are given to `send` with their ports, which says
    /// whether the link takes another one.
    pub fn turn(&mut self, now: Time, send: &mut impl FnMut(u32, &Packet) -> bool) -> u64 {
        self.now = now;
        let mut news = std::mem::take(&mut self.news);
        news.sort_unstable();
        for &(terminal, one) in &news {
            match one {
                News::Head { mark } if mark::kind(mark) == mark::DATA => {
                    let number = mark::message(mark);
                    self.head(terminal, self.message_of(number), number);
                }
                News::Head { .. } => {}
                News::Packet { mark } => self.come(terminal, mark),
                News::Lost { mark } => self.crash(mark),
                News::Over { mark } => self.over(mark),
                News::TimedOut { mark } => self.timed_out(mark),
                News::AtBus { held, bytes } => {
                    self.use_bus(terminal, Transfer::Held { held }, self.settings.bus.of(bytes));
                }
            }
        }
        news.clear();
        self.news = news;
        let timers = self.timers() + self.clocks() + self.without_answer();
        while !self.touched.is_empty() {
            self.go_on(send);
        }
        timers
    }

    /// Every terminal that something happened to goes on.
    fn go_on(&mut self, send: &mut impl FnMut(u32, &Packet) -> bool) {
        // What is touched meanwhile goes on in the next round.
        let mut touched = std::mem::replace(&mut self.touched, std::mem::take(&mut self.spare));
        touched.sort_unstable();
        for &terminal in &touched {
            self.hosts[terminal as usize].touched = false;
            self.run(terminal);
            for port in self.ways.ports_of(terminal) {
                self.fill(port);
                self.send(port, send);
            }
        }
        touched.clear();
        self.spare = touched;
    }

    /// The timers of this tick.
    fn timers(&mut self) -> u64 {
        if self.wheel.peek() != Some(self.now) {
            return 0;
        }
        self.wheel.go_to(self.now);
        let mut due = std::mem::take(&mut self.due);
        due.extend(std::iter::from_fn(|| self.wheel.pop()));
        due.sort_unstable();
        for &number in &due {
            let port = number >> 3;
            let terminal = self.ways.terminal(port);
            match number & 7 {
                timer::RESUME => self.resume(port),
                timer::CHECK => self.checked(terminal),
                timer::ACK => self.ack_ready(port),
                timer::BUS => self.bus_over(terminal),
                timer::FILL => self.fill_over(port),
                timer::GAP => self.gap_over(port),
                timer::LINK => self.learn_links(terminal),
                _ => self.program_over(terminal),
            }
        }
        let count = due.len() as u64;
        due.clear();
        self.due = due;
        count
    }

    /// Sets a timer of a port.
    #[inline]
    fn schedule_port(&mut self, port: u32, kind: u32, ticks: Time) {
        self.wheel.schedule(port << 3 | kind, self.now + ticks);
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

    /// Starts counting anew what is measured.
    pub fn clear_counts(&mut self, now: Time) {
        self.account.clear(now);
    }

    /// Packets handed to the network, and their payload characters.
    pub fn handed(&self) -> (u64, u64) {
        (self.packets, self.characters)
    }

    /// A terminal and an operation that leads to no other terminal, if a program came to one.
    pub fn astray(&self) -> Option<Astray> {
        self.astray
    }

    /// A message to a terminal to which no port of its sender leads, if there was one.
    pub fn no_plane(&self) -> Option<NoPlane> {
        self.no_plane
    }

    /// Messages made and not received, those that are lost aside. Counted one by one.
    pub fn in_flight(&self) -> u64 {
        self.unfinished().filter(|message| !message.received && !message.lost).count() as u64
    }

    /// Messages that are not both sent and received. Those that ask or answer may be lost: they are asked for again.
    fn unfinished(&self) -> impl Iterator<Item = &Message> {
        let again = |one: &&Message| {
            let asks = |terminal: u32| self.hosts[terminal as usize].asks;
            one.lost && one.sent && (asks(one.source) || asks(one.target))
        };
        self.messages.kept().filter(move |one| !again(one))
    }

    /// Whether something is left to be done: of a program, or of a message.
    pub fn is_stuck(&self) -> bool {
        !self.waiting().is_empty() || self.unfinished().next().is_some()
    }

    /// The first messages that are not both sent and received: source, target, bytes and tag.
    pub fn stuck(&self) -> Vec<[u32; 4]> {
        let row = |one: &Message| [one.source, one.target, one.bytes, one.tag];
        self.unfinished().take(STUCK).map(row).collect()
    }

    /// Whether a program was stopped before its end.
    pub fn stopped(&self) -> bool {
        self.hosts.iter().any(|host| host.doing == Doing::Running)
    }

    /// Terminals that wait in their programs, with the place of the operation and where it stands in `op_kind`. A
    /// terminal that would receive for ever waits for nothing.
    pub fn waiting(&self) -> Vec<(u32, u32)> {
        let waits = |host: &&Host| {
            let serves =
                matches!(host.doing, Doing::Receive { .. }) && host.loops().iter().any(|one| one.left == 0);
            host.doing != Doing::Ended && !serves
        };
        let place = |host: &Host| (host.terminal, host.at - host.begin);
        self.hosts.iter().filter(waits).map(place).collect()
    }
}

/// Name of a pair of ports.
#[inline]
fn pair(source: u32, target: u32) -> u64 {
    u64::from(source) << 32 | u64::from(target)
}

/// Whether a limit, of which 0 means that there is none, allows one more.
#[inline]
fn allows(limit: u32, count: u32) -> bool {
    limit == 0 || count < limit
}

/// How many messages that cannot go on are named.
const STUCK: usize = 64;

/// No message or channel.
const NO: u32 = NONE;
