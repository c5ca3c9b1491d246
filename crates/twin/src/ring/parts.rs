//! The objects of the model: symbols, units, packets, stations, terminals, switches.

use std::collections::VecDeque;

use fabriloom_engine::kernel::Time;
use fabriloom_engine::terminal::Packet;

use super::{BusCounts, RingLinkCounts};

/// The queue of a packet; requests and responses never wait for each other's places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A response precedes a request of the same time.
    Response = 0,
    /// The first half of a transaction.
    Request = 1,
}

/// Both kinds, in the order of precedence.
pub const KINDS: [Kind; 2] = [Kind::Response, Kind::Request];

/// A transaction that was dispatched by its terminal.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// The terminal that requests.
    pub requester: u32,
    /// Number of transactions that its requester had dispatched before.
    pub number: usize,
    /// The packet as its source created it.
    pub packet: Packet,
    /// When its request started on the link of the requester.
    pub started: Option<Time>,
    /// When its number is given up, if it is still in use.
    pub expires: Option<Time>,
    /// The data have been stored.
    pub delivered: bool,
    /// A scrubber has removed it before that.
    pub scrubbed: bool,
    /// A fault has lost it before that.
    pub lost: bool,
}

impl Transaction {
    /// Whether its data have been delivered or never will be.
    pub fn is_over(&self) -> bool {
        self.delivered || self.scrubbed || self.lost
    }
}

/// A request or a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Number of the transaction.
    pub transaction: usize,
    /// Its half of the transaction.
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
    /// Returns the other label.
    pub fn other(self) -> Self {
        match self {
            Label::A => Label::B,
            Label::B => Label::A,
        }
    }
}

/// The request of a send packet to a receive queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A place, otherwise a label.
    DoTry,
    /// A place, otherwise nothing.
    NoTry,
    /// The place that was reserved for a label.
    Retry(Label),
}

/// The content of an echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet was accepted.
    Ready,
    /// The packet was not accepted, and may have a label.
    Busy(Option<Label>),
}

/// The kind of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A send packet, with its number of previous busy echoes.
    Send { phase: Phase, busied: u32 },
    /// The echo of a send packet.
    Echo { verdict: Verdict },
}

/// A packet with its idle symbols, from the station that begins it to the one that takes it off the ring.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// The station that put the packet on this ring.
    pub station: usize,
    /// Its entry in the transmit queues there.
    pub entry: u64,
    /// The packet that is sent or answered.
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
    /// Its index in the unit.
    pub index: u32,
}

/// The decision of a station about a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It passes.
    Pass,
    /// It is taken off, with its last symbol at `whole`, and answered by this echo, if any.
    Strip { echo: Option<usize>, whole: Time },
    /// It is removed.
    Scrub,
    /// It is the echo of a packet of this station.
    Answer,
}

/// The unit on a link.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// The unit.
    pub unit: usize,
    /// Whether it began here, and does not pass.
    pub own: bool,
    /// When its first symbol started.
    pub start: Time,
    /// The next symbol to start.
    pub next: u32,
    /// Whether the link is down while the unit is on it.
    pub lost: bool,
}

/// A lost unit that its sender waits for.
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
    /// Its number in the order of entry at this station.
    pub entry: u64,
    /// What is to be sent.
    pub sent: Sent,
    /// When it may be sent, unless it is under way.
    pub ready: Time,
    /// Whether it, or its echo, is on the ring.
    pub away: bool,
    /// Whether it has been sent before.
    pub tried: bool,
    /// Number of its busy echoes.
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
    /// When it is ready for the user; never while it is at the host's bus.
    pub ready: Time,
    /// Whether it has requested the host's bus.
    pub asked: bool,
}

/// The reservations of a receive queue for packets that it has busied.
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
    /// Symbols on the way to the next station, with their times of arrival.
    pub wire: VecDeque<(Time, Symbol)>,
    /// Symbols in the decoder, with the times when they leave it.
    pub decoder: VecDeque<(Time, Symbol)>,
    /// The next symbol to leave the decoder; None between units.
    pub expected: Option<Symbol>,
    /// The decision about the unit that leaves the decoder.
    pub fate: Fate,
    /// Symbols in the bypass FIFO, with the times when they are ready for the link.
    pub bypass: VecDeque<(Time, Symbol)>,

    /// Packets to send, of both kinds.
    pub outgoing: Vec<Outgoing>,
    /// Number of packets entered so far.
    pub entries: u64,
    /// Busy echoes held back, with the times when they are ready, in order of creation.
    pub held_echoes: Vec<(Time, usize)>,
    /// Taken transmit places per kind.
    pub places_out: [u32; 2],
    /// Receive queues per kind; all their packets take places.
    pub received: [VecDeque<Received>; 2],
    /// Per receive queue.
    pub owed: [Owed; 2],

    /// Until when its interface is occupied in each direction.
    pub transmits_until: Time,
    pub receives_until: Time,

    /// Whether a unit has left in this tick.
    pub left: bool,
    /// Whether it absorbs idle symbols: its own unit is on the link, or its bypass FIFO recovers from one.
    pub absorbs: bool,
    /// No idle symbol arrived between the beginning of that unit and this time.
    pub idle_from: Time,
    /// Whether a go has arrived since then or, without such a unit, since the last unit began.
    pub saved: bool,
    /// Whether arriving idle symbols say go.
    pub hears_go: bool,
    /// Whether its own idle symbols say go.
    pub says_go: bool,
    /// Whether they say go from a tick on, on the way to the next station.
    pub edges_on_wire: VecDeque<(Time, bool)>,

    /// When the token of its ring should come again at the latest.
    pub token_due: Time,
    /// Until when the token is on its link.
    pub token_until: Time,

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
            token_due: 0,
            token_until: 0,
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

/// The token of a ring.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// The station that holds it, or to which it is on its way.
    pub station: usize,
    /// When it is ready for the output there or, if it is held, when the first packet may start.
    pub ready: Time,
    /// Its holder, if any: how many packets it may still start, and before which tick.
    pub held: Option<(u32, Time)>,
}

/// What the user of a terminal is doing.
#[derive(Clone, Debug)]
pub struct Terminal {
    /// The packet in service and when it is over.
    pub service: Option<(Time, Sent)>,
    /// The packet that its source has given it and that it has not dispatched yet.
    pub given: Option<Packet>,
    /// Whether its source has no more packets.
    pub silent: bool,
    /// Transactions whose numbers are taken.
    pub open: Vec<usize>,
    /// Number of transactions dispatched.
    pub dispatched: usize,
}

/// A packet on a bus.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// When it ends.
    pub end: Time,
    /// The source port.
    pub from: usize,
    /// The destination port.
    pub to: usize,
    /// The packet.
    pub sent: Sent,
}

/// A switch.
#[derive(Clone, Debug)]
pub struct Switch {
    /// Stations that are its ports.
    pub ports: Vec<usize>,
    /// The ports that are served first, for each kind with separate buses.
    pub first: [usize; 2],
    /// The transfers on its buses.
    pub transfers: Vec<Transfer>,
    /// Its counts.
    pub counts: BusCounts,
}
