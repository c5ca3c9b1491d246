//! Statistics of messages and events.

use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;
use crate::measure::{Delivery, Flows, Order, Spread};

/// A time that has not come yet.
pub const NOT_YET: Time = -1;

/// Limit of the marks that are kept.
const MARKS: usize = 1 << 22;

/// A message in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Terminal that sends the bytes.
    pub source: u32,
    /// Terminal that receives them.
    pub target: u32,
    /// Bytes.
    pub bytes: u32,
    /// Tag.
    pub tag: u32,
    /// When it was created.
    pub made: Time,
    /// When it was sent completely, or [`NOT_YET`].
    pub sent: Time,
    /// When it was received completely, or [`NOT_YET`].
    pub received: Time,
}

/// An event: the messages of one tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Messages received.
    pub received: u32,
    /// When the first message was created, or [`NOT_YET`].
    pub begun: Time,
    /// When the first was received, or [`NOT_YET`].
    pub first: Time,
    /// When the last was received, or [`NOT_YET`].
    pub complete: Time,
}

/// Total time spent in a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    ticks: Time,
    since: Option<Time>,
}

impl Spent {
    /// Enters or leaves the state.
    #[inline]
    pub fn set(&mut self, on: bool, now: Time) {
        match (on, self.since) {
            (true, None) => self.since = Some(now),
            (false, Some(since)) => {
                self.ticks += now - since;
                self.since = None;
            }
            _ => {}
        }
    }

    /// Returns the ticks up to now.
    pub fn ticks(&self, now: Time) -> u64 {
        (self.ticks + self.since.map_or(0, |since| now - since)) as u64
    }

    /// Resets the time.
    fn clear(&mut self, now: Time) {
        *self = Self { ticks: 0, since: self.since.map(|_| now) };
    }
}

/// The activity of a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Waiting for a message slot.
    pub blocked: Spent,
    /// Receiving a message: a part has arrived, but not all.
    pub receiving: Spent,
    /// When its program ended.
    pub ended: Option<Time>,
    /// Bytes of messages that it has and for which no receive is posted.
    pub unexpected: u64,
    /// The most of them.
    pub unexpected_most: u64,
    /// Bytes of messages sent.
    pub bytes_sent: u64,
    /// Bytes of messages received.
    pub bytes_received: u64,
}

/// A time that a program recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Terminal.
    pub terminal: u32,
    /// Number.
    pub tag: u32,
    /// The time.
    pub time: Time,
}

/// Statistics of messages and events.
#[derive(Clone, Debug)]
pub struct Account {
    /// Messages created from tick 0 on.
    pub made: u64,
    /// Of these, messages that were announced.
    pub announced: u64,
    /// Messages sent from tick 0 on.
    pub sent: u64,
    /// Messages received from tick 0 on.
    pub received: u64,
    /// Messages of which a part is lost for ever, from tick 0 on.
    pub lost: u64,
    /// Repetitions of whole messages, from tick 0 on.
    pub repeated: u64,
    /// Packets sent again for lack of an acknowledgement, from tick 0 on.
    pub resent: u64,
    /// Packets discarded as duplicates or because they were given up, from tick 0 on.
    pub duplicates: u64,
    /// Messages with a packet that was given up, from tick 0 on.
    pub given_up: u64,
    /// Messages received since measuring began.
    pub measured: u64,
    /// Their bytes.
    pub measured_bytes: u64,
    /// Latency from creation to receipt, since measuring began.
    pub latency: Spread,
    /// The same by pair, if requested.
    pub flows: Option<Flows>,
    /// Messages that overtook each other, for terminals with several ports.
    pub order: Option<Order>,
    /// Packets of messages that did so, if each chooses a port.
    pub packet_order: Option<Order>,
    /// The first messages, if requested.
    pub table: Vec<Row>,
    /// Limit of the table.
    pub keep: usize,
    /// Number of further messages.
    pub dropped: u64,
    /// By event number.
    pub events: Vec<Event>,
    /// By terminal, since measuring began.
    pub terminals: Vec<Done>,
    /// In order of time.
    pub marks: Vec<Mark>,
    /// Number of marks beyond the limit.
    pub marks_dropped: u64,
    fragments: Vec<u32>,
}

impl Account {
    /// Returns empty statistics.
    pub(super) fn new(fabric: &Fabric, keep: usize) -> Self {
        let event = Event { received: 0, begun: NOT_YET, first: NOT_YET, complete: NOT_YET };
        Self {
            made: 0,
            announced: 0,
            sent: 0,
            received: 0,
            lost: 0,
            repeated: 0,
            resent: 0,
            duplicates: 0,
            given_up: 0,
            measured: 0,
            measured_bytes: 0,
            latency: Spread::default(),
            flows: None,
            order: fabric.has_ports().then(Order::default),
            packet_order: (fabric.message_port_per_packet > 0).then(Order::default),
            table: Vec::new(),
            keep,
            dropped: 0,
            events: vec![event; fabric.event_fragments.len()],
            terminals: vec![Done::default(); fabric.terminals as usize],
            marks: Vec::new(),
            marks_dropped: 0,
            fragments: fabric.event_fragments.clone(),
        }
    }

    /// Resets the counts.
    pub(super) fn clear(&mut self, now: Time) {
        (self.measured, self.measured_bytes) = (0, 0);
        self.latency = Spread::default();
        self.flows.iter_mut().for_each(Flows::clear);
        self.order.iter_mut().chain(&mut self.packet_order).for_each(Order::clear);
        for done in &mut self.terminals {
            done.blocked.clear(now);
            done.receiving.clear(now);
            (done.bytes_sent, done.bytes_received) = (0, 0);
            done.unexpected_most = done.unexpected;
        }
    }

    /// Records the creation of a message; returns its row in the table, or [`NONE`].
    #[inline]
    pub(super) fn make(&mut self, row: Row) -> u32 {
        self.made += 1;
        if let Some(event) = self.events.get_mut(row.tag as usize)
            && event.begun == NOT_YET
        {
            event.begun = row.made;
        }
        if self.table.len() >= self.keep {
            self.dropped += 1;
            return NONE;
        }
        self.table.push(row);
        self.table.len() as u32 - 1
    }

    /// Records that a message was sent.
    #[inline]
    pub(super) fn send(&mut self, row: u32, from: u32, bytes: u32, now: Time) {
        self.sent += 1;
        self.terminals[from as usize].bytes_sent += u64::from(bytes);
        if let Some(row) = self.table.get_mut(row as usize) {
            row.sent = now;
        }
    }

    /// Records that a message was received.
    #[inline]
    pub(super) fn receive(&mut self, row: u32, delivery: &Delivery, tag: u32) {
        let (at, bytes, now) = (delivery.target, delivery.length, delivery.delivered);
        self.received += 1;
        self.measured += 1;
        self.measured_bytes += u64::from(bytes);
        self.terminals[at as usize].bytes_received += u64::from(bytes);
        self.latency.record(delivery.latency());
        self.flows.iter_mut().for_each(|flows| flows.record(delivery));
        self.order.iter_mut().for_each(|order| order.record(delivery));
        if let Some(row) = self.table.get_mut(row as usize) {
            row.received = now;
        }
        if let Some(event) = self.events.get_mut(tag as usize) {
            event.received = event.received.saturating_add(1);
            if event.first == NOT_YET {
                event.first = now;
            }
            let wanted = self.fragments[tag as usize];
            if wanted != NONE && event.received == wanted {
                event.complete = now;
            }
        }
    }

    /// Returns the unexpected bytes of a terminal.
    pub(super) fn unexpected(&self, terminal: u32) -> u64 {
        self.terminals[terminal as usize].unexpected
    }

    /// Records a message that a terminal stores for a later receive.
    #[inline]
    pub(super) fn store(&mut self, terminal: u32, bytes: u32) {
        let done = &mut self.terminals[terminal as usize];
        done.unexpected += u64::from(bytes);
        done.unexpected_most = done.unexpected_most.max(done.unexpected);
    }

    /// Records that it stores it no longer.
    #[inline]
    pub(super) fn unstore(&mut self, terminal: u32, bytes: u32) {
        self.terminals[terminal as usize].unexpected -= u64::from(bytes);
    }

    /// Records a mark of a program.
    pub(super) fn mark(&mut self, mark: Mark) {
        if self.marks.len() < MARKS {
            self.marks.push(mark);
        } else {
            self.marks_dropped += 1;
        }
    }
}
