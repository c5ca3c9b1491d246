//! Messages, their channels, and their division into packets.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::kernel::slab::Linked;

/// The mark of a packet of a message: the message's slot and the kind of packet. If packets have numbers of their own,
/// the packet's number replaces the message's.
pub mod mark {
    /// Part of a message.
    pub const DATA: u32 = 0;
    /// The acknowledgement of a part.
    pub const ACK: u32 = 1;
    /// The read request for a part, which returns with it.
    pub const READ: u32 = 2;
    /// A packet of a source beside the program: instead of a message, the row of its flow.
    pub const SOURCE: u32 = 3;

    /// Returns the mark of a packet of a message.
    #[inline]
    pub fn of(message: u32, kind: u32) -> u32 {
        message << 2 | kind
    }

    /// Returns the message.
    #[inline]
    pub fn message(mark: u32) -> u32 {
        mark >> 2
    }

    /// Returns the row of its flow for a packet of a source beside the program; `NONE` for others.
    #[inline]
    pub fn row(mark: u32) -> u32 {
        if kind(mark) == SOURCE { message(mark) } else { crate::fabric::NONE }
    }

    /// Returns the kind of packet.
    #[inline]
    pub fn kind(mark: u32) -> u32 {
        mark & 3
    }
}

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It is one of the program's.
    Own,
    /// It announces a message of the program.
    Announcement { of: u32 },
    /// It answers an announcement: the message can be sent.
    Answer { of: u32 },
}

impl Role {
    /// Returns the message of the program that it is for.
    pub fn of(self) -> Option<u32> {
        match self {
            Self::Own => None,
            Self::Announcement { of } | Self::Answer { of } => Some(of),
        }
    }
}

/// A message, from its creation until it is both sent and received.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    /// Terminal that sends it, or reads.
    pub source: u32,
    /// Terminal that receives it, or is read from.
    pub target: u32,
    pub bytes: u32,
    pub tag: u32,
    pub made: Time,
    /// Number of messages created before it.
    pub number: u32,
    /// Number of packets of its terminal for which a port had been chosen before.
    pub packets_before: u32,
    /// Number of its packets.
    pub packets: u32,
    /// Packets whose channel is known.
    pub placed: u32,
    /// Packets begun in this round.
    pub begun: u32,
    /// Packets handed to the link in this round.
    pub handed: u32,
    /// Packets acknowledged in this round.
    pub acknowledged: u32,
    /// Packets that the program's own processor has filled.
    pub stored: u32,
    /// Packets that have arrived in this round; they may wait for the bus.
    pub come: u32,
    /// Packets received in all rounds.
    pub arrived: u64,
    /// Packets in all rounds whose acknowledging part has arrived.
    pub heads: u64,
    /// Packets to receive in all rounds so far.
    pub due: u64,
    /// Packets received and not acknowledged because the message is not taken.
    pub held: u32,
    /// Its channel, if all its packets use one.
    pub channel: u32,
    /// Its row in the table, or [`NONE`].
    pub row: u32,
    pub read: bool,
    pub role: Role,
    /// If it is matched before it is received: the process and the operation that receive it.
    pub receiver: Option<(u32, u32)>,
    /// The note of it while it arrives unexpected, or [`NONE`].
    pub note: u32,
    /// Whether it holds unexpected bytes while it arrives.
    pub kept: bool,
    /// The operation of a graph that ends when it is sent, or [`NONE`].
    pub operation: u32,
    /// Whether its receiver has taken it.
    pub taken: bool,
    /// Number of previous rounds.
    pub round: u32,
    /// Whether a bit of it is wrong in this round.
    pub bad: bool,
    /// Whether a transaction of it has timed out in this round.
    pub failed: bool,
    pub sent: bool,
    pub received: bool,
    /// Whether a part of it was lost.
    pub lost: bool,
    /// Whether a packet of it was given up.
    pub given_up: bool,
}

impl Message {
    /// Returns the terminals that send and receive its bytes.
    pub fn ends(&self) -> (u32, u32) {
        if self.read { (self.target, self.source) } else { (self.source, self.target) }
    }
}

/// The packets of a message on one channel: all of them, or some if each packet chooses a port.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub message: u32,
    /// Packets still to begin, and which ones if they are not all.
    pub left: u32,
    pub which: VecDeque<u32>,
    /// The next part on its channel.
    pub next: u32,
}

/// Messages from one port to another, or parts of them, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Channel {
    /// Port that sends them.
    pub source: u32,
    /// Port that receives them.
    pub target: u32,
    /// The part from which the next packet begins.
    pub first: u32,
    pub last: u32,
    /// Packets begun and not acknowledged.
    pub on_way: u32,
    /// Whether it holds a place among the channels in use.
    pub placed: bool,
    /// Whether it is in a list: of channels that may begin a packet, or that wait for a place.
    pub listed: bool,
    /// The next one in that list.
    pub next: u32,
}

/// How messages are divided into packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    packet: NonZeroU32,
    small: NonZeroU32,
    small_below: u32,
}

impl Cut {
    pub fn new(fabric: &Fabric) -> Self {
        let at_least_one = |value: u32| NonZeroU32::new(value).unwrap_or(NonZeroU32::MIN);
        let packet = at_least_one(fabric.message_packet_bytes);
        Self {
            packet,
            small: NonZeroU32::new(fabric.message_small_packet_bytes).unwrap_or(packet),
            small_below: fabric.message_small_below_bytes,
        }
    }

    #[inline]
    fn size(&self, bytes: u32) -> NonZeroU32 {
        if bytes < self.small_below { self.small } else { self.packet }
    }

    /// Returns the number of packets of a message.
    pub fn packets(&self, bytes: u32) -> u32 {
        bytes.div_ceil(self.size(bytes).get()).max(1)
    }

    /// Returns the bytes of one of its packets, counted from 0.
    #[inline]
    pub fn bytes(&self, message: u32, packet: u32) -> u32 {
        let size = self.size(message).get();
        size.min(message - packet * size)
    }
}

impl Linked for Channel {
    #[inline]
    fn next(&mut self) -> &mut u32 {
        &mut self.next
    }
}
