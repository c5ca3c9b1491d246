//! The parts of a network whose packets pass whole: stays of packets, lanes and links.

use std::collections::VecDeque;

use super::state::UNKNOWN;
use crate::fabric::NONE;
use crate::kernel::Time;
use crate::links::arbiter::{Rules, Wire};
use crate::switched::Kind;

/// A packet on a lane, and in the input buffer at its end: from its grant until all its characters have left there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stay {
    pub packet: u32,
    /// Its characters, and those with which it would be whole.
    pub length: u32,
    pub whole: u32,
    /// The class of its front header at the end of the lane.
    pub class: u32,
    /// [`NONE`] as long as it waits at its terminal, for any lane.
    pub lane: u32,
    /// Number of its first character on the lane.
    pub number: i64,
    /// From when on its first character on the lane may cross, if there is a place: from its grant, when what is deleted
    /// before it has left, or when all others can follow it.
    pub crosses: Time,
    /// When its first character starts on the wire; [`UNKNOWN`] before.
    pub start: Time,
    /// It is cut, and its last character is an error end, which may come at any time; or it is spilled.
    pub is_cut: bool,
    /// Then: when its last one starts; before it has started, no earlier than this.
    pub end: Time,
    /// It is spilled in the input buffer, since `crosses`.
    pub spills: bool,
    /// The one behind it: before the same wire, later in the same queue.
    pub next: u32,
    /// Its stay on the lane before, as long as it is not known when its end leaves there.
    pub from: u32,

    /// Its queue in the input buffer, of those of the lane.
    pub queue: u32,
    /// Its route there, as in `Fabric::route`.
    pub entry: u32,
    /// What it was granted there.
    pub out: Out,
    /// When its end leaves; [`UNKNOWN`] before it is known.
    pub left: Time,
}

/// A lane as the output of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Out {
    pub lane: u32,
    /// Characters that are deleted on the way there.
    pub deleted: u32,
    /// Number of the packet's first character there.
    pub number: i64,
    /// When it is granted. Before, [`UNKNOWN`]; if packets may be cut, until its request when that is due.
    pub grant: Time,
}

impl Stay {
    /// Returns a packet that has not started.
    pub fn new(packet: u32, length: u32, class: u32) -> Self {
        Self {
            packet,
            length,
            whole: length,
            class,
            lane: NONE,
            number: 0,
            crosses: UNKNOWN,
            start: UNKNOWN,
            is_cut: false,
            end: UNKNOWN,
            spills: false,
            next: NONE,
            from: NONE,
            queue: 0,
            entry: NONE,
            out: Out { lane: NONE, deleted: 0, number: 0, grant: UNKNOWN },
            left: UNKNOWN,
        }
    }

    /// Whether it holds a lane behind the buffer that it is in.
    pub fn is_granted(&self) -> bool {
        self.out.lane != NONE
    }
}

/// Characters that have started on a lane without gaps: a packet, or all of it but an error end, or that.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub start: Time,
    /// Number of its first character.
    pub number: i64,
    pub length: u32,
    /// Ticks of each; 0 if all their places are free at the start.
    pub character: u32,
}

impl Sent {
    /// Returns how many of the places of these characters are free again by a tick.
    #[inline(always)]
    pub fn freed_by(&self, time: Time) -> i64 {
        let (ticks, all, character) = (time - self.start, i64::from(self.length), Time::from(self.character));
        if ticks < all * character { ticks / character } else { all }
    }

    /// Returns how many characters start at a tick or later.
    pub fn unsent(&self, time: Time) -> u32 {
        let (ticks, all) = ((time - self.start).max(0) as u64, u64::from(self.length));
        if self.character == 0 { 0 } else { (all - ticks.div_ceil(self.character.into()).min(all)) as u32 }
    }
}

/// The packets of an input buffer that wait for each other in order: all of its lane, or those for one output. One is made
/// when it is first used, and used for another output when it has been empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    /// The group that its packets request; 0 if there is one queue.
    pub group: u32,
    /// The first packet and the last one whose ends are not known to leave, or [`NONE`].
    pub first: u32,
    pub last: u32,
    /// Since when the first one is at the front, or will be.
    pub front_at: Time,
}

/// One lane of a link.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    /// Its link.
    pub link: u32,
    /// Packets before the wire, in order.
    pub first: u32,
    pub last: u32,
    /// The one of these, or of those that have started, that still comes: its end is not known to leave the buffer before.
    pub coming: u32,
    /// Number of characters of packets that were granted it, and that have started.
    pub granted: i64,
    pub started: i64,
    /// The number that had started when the counts were cleared, and those for which it is charged.
    pub counted: i64,
    pub charged: i64,
    /// What started last, as far back as places and departures are looked up.
    pub sent: VecDeque<Sent>,

    /// When it can be granted again; [`UNKNOWN`] while its holder's end is not known.
    pub free_at: Time,
    /// Tick of its last grant, or -1.
    pub last_grant: Time,
    /// Tick at which the groups of the lane are looked at again; [`UNKNOWN`] if none is scheduled.
    pub release_due: Time,

    /// The queues of the input buffer at its end that are in use.
    pub queues: Vec<Queue>,
    /// Packets in it that hold an output, and whose credit is not counted in `departed`, in the order of their grants.
    pub crossing: Vec<u32>,
    /// Characters of packets whose credit has returned.
    pub departed: i64,
    /// Since it runs again, what has left by this tick is known at once.
    pub renewed_at: Time,
}

impl Lane {
    pub fn new(link: u32) -> Self {
        Self {
            link,
            first: NONE,
            last: NONE,
            coming: NONE,
            granted: 0,
            started: 0,
            counted: 0,
            charged: 0,
            sent: VecDeque::new(),
            free_at: 0,
            last_grant: -1,
            release_due: UNKNOWN,
            queues: Vec::new(),
            crossing: Vec::new(),
            departed: 0,
            renewed_at: Time::MIN,
        }
    }

    /// Returns what was sent last of which this is true; it is of all before it.
    #[inline(always)]
    pub fn last_sent(&self, is_so: impl Fn(&Sent) -> bool) -> Option<&Sent> {
        // With long cables there are hundreds, of which the last is asked for mostly.
        match self.sent.back() {
            Some(last) if is_so(last) => Some(last),
            _ => self.sent.partition_point(is_so).checked_sub(1).map(|place| &self.sent[place]),
        }
    }

    /// Charges it for what has started since it was charged last. Until then an end may be cut.
    pub fn charge(&mut self, wire: &mut Wire, rules: &Rules, lane: u32) {
        let count = self.sent.iter().rev().take_while(|sent| sent.number >= self.charged).count();
        for sent in self.sent.range(self.sent.len() - count..) {
            wire.charge(rules, lane, sent.length, sent.start, sent.character.into());
        }
        self.charged = self.started;
    }

    /// Returns how many characters must have left the input buffer for a packet to start, if it is the next.
    #[inline(always)]
    pub fn needs(&self, kind: &Kind, length: u32) -> i64 {
        kind.must_have_left(self.started + i64::from(length) - 1)
    }

    /// Returns the same for a packet that is granted the lane next.
    pub fn needs_for_grant(&self, kind: &Kind, length: u32) -> i64 {
        kind.must_have_left(self.granted + i64::from(length) - 1)
    }
}

/// What the lanes of a link share.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// Its row in `Network::kinds`.
    pub kind: u32,
    /// `forward_ticks` of the switch at its source.
    pub forward: u32,
    /// When the wire is free, and may send; [`UNKNOWN`] while it is down.
    pub free_at: Time,
    /// When it has sent its last packet, and by how much later because its end is late.
    pub sent_at: Time,
    pub late: Time,
    /// Tick of the next look at it.
    pub due: Time,
    /// Lane of the last packet, or [`NONE`].
    pub last: u32,
    /// Lanes with packets before the wire, as bits.
    pub waiting: u32,
    /// A packet of a terminal that has not started, or [`NONE`].
    pub dispatched: u32,
    /// What has started since the counts were cleared.
    pub packets: u64,
    pub wait_ticks: u64,
    pub stalled_ticks: Time,
}

/// A pending event and what it concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The first character of this stay comes to a buffer that may have no room for its packet.
    Arrive(u32),
    /// The packet of this stay, at the front of its queue, requests its group.
    Request(u32),
    /// This lane becomes free while heads wait for it.
    Release(u32),
    /// The packet of this stay has been received by its terminal.
    Deliver(u32),
    /// The first character of this stay has arrived at its terminal.
    Head(u32),
    /// The link of this port of a terminal is free, or the dispatch of its next packet is due.
    Source(u32),
    /// A packet may start on the wire of this link.
    Wire(u32),
    /// The memory of this switch has changed in the tick before, or senders hear what it has said.
    Memory(u32),
}

impl Event {
    /// Returns its number in the wheel.
    #[inline(always)]
    pub(super) fn number(self) -> u32 {
        match self {
            Self::Request(stay) => stay << 3,
            Self::Release(lane) => lane << 3 | 1,
            Self::Deliver(stay) => stay << 3 | 2,
            Self::Head(stay) => stay << 3 | 3,
            Self::Source(port) => port << 3 | 4,
            Self::Wire(link) => link << 3 | 5,
            Self::Arrive(stay) => stay << 3 | 6,
            Self::Memory(switch) => switch << 3 | 7,
        }
    }

    /// Returns the event of a number.
    #[inline(always)]
    pub fn of(number: u32) -> Self {
        let what = number >> 3;
        match number & 7 {
            0 => Self::Request(what),
            1 => Self::Release(what),
            2 => Self::Deliver(what),
            3 => Self::Head(what),
            4 => Self::Source(what),
            5 => Self::Wire(what),
            6 => Self::Arrive(what),
            _ => Self::Memory(what),
        }
    }
}
