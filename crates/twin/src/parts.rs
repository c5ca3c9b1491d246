//! The things of the model: characters, links with their buffers, groups, terminals, packets.

use std::collections::VecDeque;

use fabriloom_engine::kernel::Time;
use fabriloom_engine::kernel::random::Stream;
use fabriloom_engine::terminal::Packet;

use crate::LinkCounts;

/// What a character is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
    /// As its source described it.
    pub packet: Packet,
    /// When its first character started on its source's wire.
    pub started: Option<Time>,
    /// The header for the intermediate switch has not been deleted yet.
    pub has_via: bool,
    /// The final header has not been deleted yet.
    pub has_header: bool,
    /// The first character has come to the destination.
    pub has_come: bool,
    /// Payload characters received at the destination.
    pub received: u32,
    /// Its end of packet has been received.
    pub delivered: bool,
}

/// What the packet at the front of an input buffer is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    /// There is none, or its header is not complete.
    Nothing,
    /// Its header is being decoded.
    Decoding,
    /// It waits for a link of its group; `strip`: the route says that its front header is to be deleted.
    Waiting { strip: bool },
    /// It crosses to this link; `delete` more characters are to be thrown away first.
    Crossing { output: u32, delete: u32 },
    /// Its end of packet has crossed, but the next one is not at the front yet.
    Leaving,
}

/// One direction of a cable: the output buffer before it, its wire, the input buffer behind it.
#[derive(Clone, Debug)]
pub struct Link {
    /// Characters waiting to be sent and when they are ready for the wire. At a terminal: its whole packet.
    pub output: VecDeque<(Time, Character)>,
    /// Places taken in the output buffer, that of the character on the wire among them.
    pub places_taken: u32,
    /// The input link whose packet holds this link as its output.
    pub holder: Option<u32>,
    /// When it was granted last, or -1.
    pub last_grant: Time,

    /// When the wire has sent what was started last.
    pub wire_free: Time,
    /// Flow-control characters for the reverse link that wait for this wire.
    pub flow_control: u32,
    /// Characters that the receiver has promised to take and that have not been sent.
    pub credit: u64,
    /// Characters on their way.
    pub wire: VecDeque<Character>,

    /// Characters in the input buffer.
    pub input: VecDeque<Character>,
    /// Characters the receiver has promised to take, from the beginning.
    pub promised: u64,
    /// Characters that have left the input buffer, from the beginning.
    pub departed: u64,
    /// What the packet at the front of the input buffer is doing.
    pub front: Front,
    /// When the next character may cross from the input buffer.
    pub crossbar_free: Time,

    /// What it has done.
    pub counts: LinkCounts,
    /// A packet has been started on the wire and its end has not.
    pub amid_packet: bool,
}

impl Link {
    /// An idle link that promises nothing.
    pub fn new() -> Self {
        Self {
            output: VecDeque::new(),
            places_taken: 0,
            holder: None,
            last_grant: -1,
            wire_free: 0,
            flow_control: 0,
            credit: 0,
            wire: VecDeque::new(),
            input: VecDeque::new(),
            promised: 0,
            departed: 0,
            front: Front::Nothing,
            crossbar_free: 0,
            counts: LinkCounts::default(),
            amid_packet: false,
        }
    }

    /// Counts a character that starts on the wire at `now` and occupies it for some ticks.
    pub fn count(&mut self, character: Character, now: Time, occupied: Time) {
        if self.amid_packet {
            self.counts.stalled_ticks += (now - self.wire_free) as u64;
        }
        self.amid_packet = character.kind != Kind::End;
        self.counts.packets += u64::from(character.kind == Kind::End);
        self.counts.characters += 1;
        self.counts.busy_ticks += occupied as u64;
    }

    /// Ends of packets that stand anywhere in this link.
    pub fn ends(&self) -> usize {
        let queued = self.output.iter().map(|(_, character)| character);
        queued.chain(&self.wire).chain(&self.input).filter(|character| character.kind == Kind::End).count()
    }
}

/// A head that waits for a link of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Head {
    /// When it requested.
    pub since: Time,
    /// The link by which it came.
    pub link: u32,
}

/// A group of links and the heads that wait for one of them.
#[derive(Clone, Debug)]
pub struct Group {
    /// Waiting heads, sorted by (request time, input link).
    pub waiting: Vec<Head>,
    /// The input link granted last.
    pub last_granted: Option<u32>,
    /// Its own random numbers.
    pub stream: Stream,
}
