//! The objects of the model: characters, lanes with their buffers, links, groups, packets.

use std::collections::{BTreeMap, VecDeque};

use fabriloom_engine::kernel::Time;
use fabriloom_engine::kernel::random::Stream;
use fabriloom_engine::terminal::Packet;

use crate::{CodeCounts, LinkCounts};

/// The kind of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of the address in front of the header, which loses one character at a time.
    Address,
    /// Of the header that leads to the intermediate switch.
    Via,
    /// Of the header that leads to the destination.
    Header,
    /// Of the payload.
    Payload,
    /// The end of packet.
    End,
}

/// One character of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Character {
    /// Number of the packet.
    pub packet: usize,
    /// What it is.
    pub kind: Kind,
}

/// A packet that has been put on its source's link.
#[derive(Clone, Debug)]
pub struct Worm {
    /// Terminal that sends it.
    pub source: u32,
    /// The packet as its source created it.
    pub packet: Packet,
    /// Its traffic class, which its header says on the whole way.
    pub class: usize,
    /// When its first character started on its source's wire.
    pub started: Option<Time>,
    /// Characters of its address that have not been deleted yet.
    pub address: u32,
    /// The header for the intermediate switch has not been deleted yet.
    pub has_via: bool,
    /// The final header has not been deleted yet.
    pub has_header: bool,
    /// The routing table when it began to arrive where its head is, if packets wait by output.
    pub table: u32,
    /// When its first character arrived there.
    pub arrived: Time,
    /// Its first character has arrived at the destination.
    pub has_come: bool,
    /// Payload characters received at the destination.
    pub received: u32,
    /// Its end of packet has been received.
    pub delivered: bool,
    /// The link on which a character of it was wrong, if its terminal will find that.
    pub wrong_on: Option<u32>,
    /// It was cut or discarded.
    pub lost: bool,
    /// A switch has marked it.
    pub marked: bool,
}

/// The state of the packet at the front of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Front {
    /// There is none.
    #[default]
    Nothing,
    /// Its header is being decoded.
    Decoding,
    /// It waits for a lane of its group; `strip`: the route deletes its front header.
    Waiting { strip: bool },
    /// It crosses to this lane; `delete` more characters are deleted first.
    Crossing { output: u32, delete: u32 },
    /// All its characters are spilled, including those that arrive later.
    Spilling,
    /// Its end of packet has crossed, but the next one is not at the front yet.
    Leaving,
}

/// Packets of an input buffer whose front header is complete, in order.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// Number of each packet and those of its characters that are in the buffer.
    pub packets: VecDeque<(usize, VecDeque<Character>)>,
    /// The state of the first one.
    pub front: Front,
    /// When its last character crossed, or it was granted its lane.
    pub moved_at: Time,
    /// Characters with which each complete packet has arrived, in order.
    pub sizes: VecDeque<i64>,
    /// Number of its characters that have crossed, without deleted ones.
    pub entered: u32,
    /// Further lanes to which the first one crosses, and its copies there.
    pub copies: Vec<(u32, usize)>,
}

/// A queue of a lane: the only one, number 0, or that of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The lane on which its packets arrive.
    pub lane: u32,
    /// Its number.
    pub queue: u32,
}

/// One lane of a link: the output buffer before the wire, the input buffer after it.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    /// Characters waiting to be sent and when they are ready for the wire.
    pub output: VecDeque<(Time, Character)>,
    /// Taken places in the output buffer, including that of the character on the wire.
    pub places_taken: u32,
    /// The queue whose packet holds this lane as its output.
    pub holder: Option<Place>,
    /// Tick of its last grant.
    pub last_grant: Option<Time>,
    /// Before which tick the packet that was granted it does not start.
    pub follows_at: Time,
    /// Packets that were granted it and whose places are not back, where links are of rings.
    pub packets: u64,

    /// Characters for which it has credit and that have not been sent.
    pub credit: u64,
    /// A packet has started on the wire and its end has not.
    pub amid_packet: bool,
    /// Its sender has heard that it is to pause.
    pub paused: bool,
    /// Its receiver has said so last.
    pub pauses: bool,
    /// Characters of complete packets in the input buffer, where senders are paused.
    pub stored: i64,
    /// Characters of packets for which there was room in the input buffer and that have not left it, where it drops.
    pub admitted: u64,
    /// What it holds of a memory that ports share: in its reserve and the pool, in its headroom, and the most there.
    pub own: u64,
    pub beyond: u64,
    pub beyond_most: u64,
    /// The packet that is arriving found no room.
    pub drops: bool,
    /// A packet has begun to arrive, and its end has not.
    pub amid_arrival: bool,
    /// Characters that have arrived of a packet whose end has not.
    pub coming: i64,
    /// Characters on their way.
    pub wire: VecDeque<Character>,

    /// Characters in the input buffer, of a packet whose front header is not complete.
    pub entering: VecDeque<Character>,
    /// The queue of the packet that is arriving.
    pub receiving: Option<u32>,
    /// The queues of the input buffer.
    pub queues: BTreeMap<u32, Queue>,
    /// Credit that the receiver has given since the beginning, in characters.
    pub promised: u64,
    /// Characters that have entered the input buffer since the beginning.
    pub arrived: u64,
    /// Characters that have left it.
    pub departed: u64,
}

impl Lane {
    /// Iterates over the characters in the input buffer.
    fn received(&self) -> impl Iterator<Item = &Character> {
        let queued = self.queues.values().flat_map(|queue| &queue.packets);
        queued.flat_map(|(_, characters)| characters).chain(&self.entering)
    }

    /// Whether no packet holds it, and nothing is on it or at its ends.
    pub fn is_free(&self) -> bool {
        let empty = self.output.is_empty() && self.wire.is_empty() && self.received().next().is_none();
        self.holder.is_none() && empty && self.places_taken == 0 && self.arrived == self.departed
    }

    /// Iterates over the packets whose ends are in this lane.
    pub fn ends(&self) -> impl Iterator<Item = usize> {
        let queued = self.output.iter().map(|(_, character)| character);
        let all = queued.chain(&self.wire).chain(self.received());
        all.filter(|character| character.kind == Kind::End).map(|character| character.packet)
    }
}

/// A time-code, or an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code {
    /// Time-codes precede interrupts.
    pub is_interrupt: bool,
    /// The number, of six bits.
    pub number: u8,
    /// The row of its source.
    pub source: u32,
    /// When it was created.
    pub made: Time,
}

/// The codes that a switch or a port remembers.
#[derive(Clone, Debug, Default)]
pub struct Register {
    /// The number of the last time-code.
    pub time: u8,
    /// Interrupts that were passed on, and when they are forgotten.
    pub held: BTreeMap<u8, Time>,
}

/// The lane that sends next, and the row of a table by which it does, with the characters left to that.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// The lane.
    pub lane: u32,
    /// 0: the table of high priority.
    pub table: usize,
    /// Its row.
    pub row: usize,
    /// Characters that may start before the next row.
    pub left: i64,
}

/// One direction of a cable: the state that its lanes share.
#[derive(Clone, Debug, Default)]
pub struct Link {
    /// When the wire has sent what was started last.
    pub wire_free: Time,
    /// When it continues after a stop.
    pub stopped_until: Time,
    /// Until when a character that starts is wrong, and whether it is sent again.
    pub wrong: Option<(Time, bool)>,
    /// Ticks of a character since the rate has changed, if it has.
    pub rate: Option<i64>,
    /// Until when it repeats what was wrong, or changes its rate.
    pub repeats_until: Time,
    /// A fault keeps it from running.
    pub down: bool,
    /// How often it has failed.
    pub faults: u32,
    /// Packets lost here because it failed.
    pub cut: u64,
    /// Packets lost at its end because no route was left, or no room.
    pub discarded: u64,
    /// Packets lost because of a time-out.
    pub timed_out: u64,
    /// The lane of the character that was started last.
    pub last_sent: Option<u32>,
    /// The lane whose frame has begun and not ended, and the characters that have started in it.
    pub frame: Option<(u32, u32)>,
    /// When that has begun, or begins again.
    pub frame_since: Time,
    /// Per lane: credit of its reservation, in millionths of a tick, at a tick.
    pub reserved: Vec<i128>,
    pub raised_at: Time,
    /// Per table, of high and of low priority: its present row, and the characters left to it.
    pub tables: [(usize, i64); 2],
    /// The table used last, and the characters of the first one since the last turn of the second.
    pub table: usize,
    pub high_started: u64,
    /// Per lane: ticks for which it has occupied the wire.
    pub lane_ticks: Vec<u64>,
    /// Per lane: flow-control characters for that lane of the reverse link that wait for this wire.
    pub flow_control: Vec<u32>,
    /// At a terminal: a packet that has not started, on no lane yet.
    pub dispatched: VecDeque<Character>,

    /// When the next character may cross from the input buffers at the end of this link.
    pub crossbar_free: Time,
    /// The queue of the character that crossed last.
    pub last_crossed: Option<Place>,
    /// Whether that was not an end of packet.
    pub amid_crossing: bool,
    /// Tick of the last nomination.
    pub last_nomination: Option<Time>,

    /// Queues with a character nominated to cross to this link.
    pub nominated: Vec<Place>,
    /// When a character last crossed to this link, to which lane, and whether it was not an end of packet.
    pub last_entered: Option<(Time, u32, bool)>,

    /// Codes that wait for the wire, and since when.
    pub codes: Vec<(Time, Code)>,
    /// How many are on the wire.
    pub codes_on_wire: u64,

    /// What it has done.
    pub counts: LinkCounts,
    /// Its counts of codes.
    pub code_counts: CodeCounts,
}

/// A head that waits for a lane of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Head {
    /// When it requested.
    pub since: Time,
    /// The queue at whose front it is.
    pub place: Place,
}

/// A group of lanes and the heads that wait for one of them.
#[derive(Clone, Debug)]
pub struct Group {
    /// Waiting heads, sorted by (request time, lane on which they arrived).
    pub waiting: Vec<Head>,
    /// The lane of the head that was granted last.
    pub last_granted: Option<u32>,
    /// Its random stream.
    pub stream: Stream,
}
