//! The things of the model: symbols, units, packets, stations, terminals, switches.

use std::collections::VecDeque;

use fabriloom_engine::kernel::Time;
use fabriloom_engine::terminal::Packet;

use super::{BusCounts, RingLinkCounts};

/// Which of two queues a packet belongs to; requests and responses never wait for each other's places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A response goes before a request where both are as early.
    Response = 0,
    /// What a transaction begins with.
    Request = 1,
}

/// Both kinds, in the order of precedence.
pub const KINDS: [Kind; 2] = [Kind::Response, Kind::Request];

/// A transaction that was dispatched by its terminal.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// Terminal that wants something.
    pub requester: u32,
    /// How many its requester had dispatched before.
    pub number: usize,
    /// As its source described it.
    pub packet: Packet,
    /// When its request started on the link of the requester.
    pub started: Option<Time>,
    /// When its number is given up, if it is still taken.
    pub expires: Option<Time>,
    /// The data have been stored.
    pub delivered: bool,
    /// A scrubber has removed it before that.
    pub scrubbed: bool,
    /// A fault has lost it before that.
    pub lost: bool,
}

impl Transaction {
    /// Whether its data can be delivered no more, or have been.
    pub fn is_over(&self) -> bool {
        self.delivered || self.scrubbed || self.lost
    }
}

/// A request or a response, wherever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Number of the transaction.
    pub transaction: usize,
    /// Which half of it.
    pub kind: Kind,
}

/// The two labels of busied packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// Served first.
    A = 0,
    /// The other.
    B = 1,
}

impl Label {
    /// The one that this is not.
    pub fn other(self) -> Self {
        match self {
            Label::A => Label::B,
            Label::B => Label::A,
        }
    }
}

/// What a send packet asks of the receive queue it comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A place, or else a label.
    DoTry,
    /// A place, or else nothing.
    NoTry,
    /// The place that was promised with a label.
    Retry(Label),
}

/// What an echo says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet was accepted.
    Ready,
    /// It was not, and may have got a label.
    Busy(Option<Label>),
}

/// What a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A send packet that was busied some times before.
    Send { phase: Phase, busied: u32 },
    /// The echo of one.
    Echo { verdict: Verdict },
}

/// A packet with its idle symbols, from the station that begins it to the one that takes it off the ring.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// The station that put the packet on this ring.
    pub station: usize,
    /// Its entry in the transmit queues there.
    pub entry: u64,
    /// What is sent or answered.
    pub sent: Sent,
    /// What it is.
    pub what: What,
    /// Its length.
    pub symbols: u32,
    /// The scrubber has seen it.
    pub marked: bool,
}

/// One symbol of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Number of the unit.
    pub unit: usize,
    /// Its place in the unit.
    pub index: u32,
}

/// What a station does with the unit that comes out of its decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes on.
    Pass,
    /// It is taken off, the last symbol at `whole`, and answered by this echo.
    Strip { echo: usize, whole: Time },
    /// It is removed.
    Scrub,
    /// It is the echo of something sent from here.
    Answer,
}

/// What is on a link.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// The unit.
    pub unit: usize,
    /// It was begun here, it does not pass.
    pub own: bool,
    /// When its first symbol started.
    pub start: Time,
    /// The next symbol to start.
    pub next: u32,
    /// The link is down while it is on it.
    pub lost: bool,
}

/// A unit that a fault has lost and that its sender waits for.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When the sender forgets the packet.
    pub forgotten: Time,
    /// The unit.
    pub unit: usize,
    /// Where it was lost.
    pub link: usize,
}

/// A packet in a transmit queue, until the sender knows that it was accepted.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// Place in the order in which packets came to this station to be sent.
    pub entry: u64,
    /// What is to be sent.
    pub sent: Sent,
    /// When it may be sent, unless it is on its way.
    pub ready: Time,
    /// It is on the ring, or its echo is.
    pub away: bool,
    /// It has been on the ring.
    pub tried: bool,
    /// How often it has been busied, and with which label last.
    pub busied: u32,
    /// The label of the last busy echo.
    pub label: Option<Label>,
}

/// A packet in a receive queue, from its acceptance until its place is free.
#[derive(Clone, Debug)]
pub struct Received {
    /// What it is.
    pub sent: Sent,
    /// The unit that brings it.
    pub unit: usize,
    /// When it is ready for the user; while it is at the host's bus, never.
    pub ready: Time,
    /// It has asked for the host's bus.
    pub asked: bool,
}

/// What a receive queue owes to packets it has busied.
#[derive(Clone, Copy, Debug)]
pub struct Owed {
    /// Packets with each label.
    pub count: [u32; 2],
    /// The label whose packets are accepted.
    pub serving: Label,
}

/// A station and the link it sends on.
#[derive(Clone, Debug)]
pub struct Station {
    /// What is on its link now.
    pub sending: Option<Sending>,
    /// Symbols on the way to the next station, and when they are there.
    pub wire: VecDeque<(Time, Symbol)>,
    /// Symbols that came to this station, and when they leave the decoder.
    pub decoder: VecDeque<(Time, Symbol)>,
    /// The next symbol that should leave the decoder, nothing between units.
    pub expected: Option<Symbol>,
    /// What is done with the unit that leaves the decoder.
    pub fate: Fate,
    /// Symbols in the bypass FIFO, and when they are ready for the link.
    pub bypass: VecDeque<(Time, Symbol)>,

    /// Packets to be sent, by kind together.
    pub outgoing: Vec<Outgoing>,
    /// Packets that have come to be sent so far.
    pub entries: u64,
    /// Busy echoes held back, and when they are ready; in the order of making.
    pub held_echoes: Vec<(Time, usize)>,
    /// Taken transmit places per kind.
    pub places_out: [u32; 2],
    /// Receive queues per kind; all that is in them takes a place.
    pub received: [VecDeque<Received>; 2],
    /// Per receive queue.
    pub owed: [Owed; 2],

    /// Until then its interface is occupied by packets on their way to it, and from it to the user.
    pub transmits_until: Time,
    pub receives_until: Time,

    /// A unit has left in this tick.
    pub left: bool,
    /// It keeps what idle symbols come: a unit of its own is on the link, or its bypass FIFO recovers from one.
    pub absorbs: bool,
    /// Until then no idle symbol came since that unit began.
    pub idle_from: Time,
    /// One with a go has come since then, or else since the last unit began.
    pub saved: bool,
    /// What the idle symbols say that come.
    pub hears_go: bool,
    /// What the idle symbols say that leave.
    pub says_go: bool,
    /// Whether they say go from a tick on, on the way to the next station.
    pub edges_on_wire: VecDeque<(Time, bool)>,

    /// What the link has done.
    pub counts: RingLinkCounts,
    /// Symbols of the longest unit of its own.
    pub longest_own: u32,
    /// Packets busied here.
    pub busied: u64,
}

impl Station {
    /// An idle station.
    pub fn new() -> Self {
        Self {
            sending: None,
            wire: VecDeque::new(),
            decoder: VecDeque::new(),
            expected: None,
            fate: Fate::Pass,
            bypass: VecDeque::new(),
            outgoing: Vec::new(),
            entries: 0,
            held_echoes: Vec::new(),
            places_out: [0; 2],
            received: [VecDeque::new(), VecDeque::new()],
            owed: [Owed { count: [0; 2], serving: Label::A }; 2],
            transmits_until: 0,
            receives_until: 0,
            left: false,
            absorbs: false,
            idle_from: 0,
            saved: false,
            hears_go: true,
            says_go: true,
            edges_on_wire: VecDeque::new(),
            counts: RingLinkCounts::default(),
            longest_own: 0,
            busied: 0,
        }
    }

    /// When the front of the bypass FIFO was or is ready for the link.
    pub fn bypass_ready(&self) -> Option<Time> {
        self.bypass.front().map(|(ready, _)| *ready)
    }
}

/// What the user of a terminal is doing.
#[derive(Clone, Debug)]
pub struct Terminal {
    /// The packet in service and when it is over.
    pub service: Option<(Time, Sent)>,
    /// The packet that its source has given it and that it has not dispatched yet.
    pub given: Option<Packet>,
    /// Its source has nothing more to give.
    pub silent: bool,
    /// Transactions whose numbers are taken.
    pub open: Vec<usize>,
    /// Transactions ever dispatched.
    pub dispatched: usize,
}

/// A packet on a bus.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// When it is over.
    pub end: Time,
    /// The port it comes from.
    pub from: usize,
    /// The port it goes to.
    pub to: usize,
    /// What it is.
    pub sent: Sent,
}

/// A switch.
#[derive(Clone, Debug)]
pub struct Switch {
    /// Stations that are its ports.
    pub ports: Vec<usize>,
    /// The ports that are asked first, for each kind that has buses of its own.
    pub first: [usize; 2],
    /// What is on its buses.
    pub transfers: Vec<Transfer>,
    /// What they have done.
    pub counts: BusCounts,
}
