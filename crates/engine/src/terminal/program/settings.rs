//! The parameters of the protocol.

use super::mark;
use super::message::Cut;
use crate::fabric::{Fabric, acknowledge};
use crate::kernel::Time;

/// Ticks per packet or message and per byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    ticks: Time,
    per_byte: f64,
}

impl Pace {
    /// Returns the ticks for this many bytes.
    #[inline]
    pub fn of(&self, bytes: u32) -> Time {
        if self.per_byte == 0.0 {
            return self.ticks;
        }
        self.ticks + self.of_bytes(bytes)
    }

    /// Whether nothing takes any time.
    fn is_free(&self) -> bool {
        self.ticks == 0 && self.per_byte == 0.0
    }

    /// Returns the ticks for the bytes alone.
    #[inline]
    fn of_bytes(&self, bytes: u32) -> Time {
        (f64::from(bytes) * self.per_byte).round() as Time
    }
}

/// The token buckets of channels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shaper {
    /// Ticks in which the tokens of a byte flow in.
    pub per_byte: f64,
    /// Ticks in which a bucket fills.
    pub room: f64,
}

/// The host's times for messages of one size.
#[derive(Clone, Copy, Debug)]
struct Cost {
    bytes: u32,
    send: Time,
    receive: Time,
    packet: Time,
    gap: Time,
}

/// Returns the rows of the fabric.
fn costs(f: &Fabric) -> Vec<Cost> {
    let cost = |row: usize| Cost {
        bytes: f.cost_bytes[row],
        send: f.cost_send_ticks[row] as Time,
        receive: f.cost_receive_ticks[row] as Time,
        packet: f.cost_packet_ticks[row] as Time,
        gap: f.cost_gap_ticks[row] as Time,
    };
    (0..f.cost_bytes.len()).map(cost).collect()
}

/// The protocol between messages and packets; see `docs/background/programs.md`.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub cut: Cut,
    pub messages_at_once: u32,
    pub channels_at_once: u32,
    pub packets_per_channel: u32,
    pub packets_at_once: u32,
    pub receive_at_once: u32,
    pub acknowledge: u8,
    /// Whether each packet of a message chooses a port.
    pub per_packet: bool,
    /// Whether the program's own processor fills packets, over the host's bus.
    pub programmed: bool,
    ahead_bytes: u32,
    send: Time,
    receive: Time,
    fill: Pace,
    pub bus: Pace,
    pub rings: bool,
    /// Whether nobody occupies the host's bus.
    pub no_bus: bool,
    /// Whether a packet that its channel may begin is ready for the link at once.
    pub unhindered: bool,
    send_gap: Time,
    pub shaper: Option<Shaper>,
    /// By size, for sizes with their own times.
    costs: Vec<Cost>,
    pub receive_gap: Time,
    pub ack: Time,
    /// Payload of an acknowledgement.
    pub ack_length: u32,
    pub resume: Time,
    pub check: Time,
    /// Longer messages are announced; 0: none.
    pub eager: u32,
    /// Bytes of an announcement and of its answer.
    pub announcement: u32,
    /// Limit of unexpected bytes at a terminal; 0: none.
    pub unexpected: u32,
    /// Logarithm of the probability that a byte is correct.
    right: f64,
    /// Whether the next message of a channel begins when all packets of the previous one have begun, instead of when it
    /// is sent.
    pub overlaps: bool,
}

/// Payload of an acknowledgement on rings, where every transaction has one.
const RING_ACK_BYTES: u32 = 8;

impl Settings {
    pub fn new(f: &Fabric) -> Self {
        let bus = Pace { ticks: f.message_bus_packet_ticks as Time, per_byte: f.message_bus_byte_ticks };
        let fill = Pace { ticks: f.message_packet_ticks as Time, per_byte: f.message_byte_ticks };
        let no_bus = f.message_programmed == 0 && bus.is_free();
        let (costs, gap) = (costs(f), f.message_send_gap_ticks as Time);
        let check = f.message_check_ticks as Time;
        let per_byte = f.message_shaper_byte_ticks;
        let room = f64::from(f.message_shaper_bytes) * per_byte;
        Self {
            cut: Cut::new(f),
            messages_at_once: f.message_messages_at_once,
            channels_at_once: f.message_channels_at_once,
            packets_per_channel: f.message_packets_per_channel,
            packets_at_once: f.message_packets_at_once,
            receive_at_once: f.message_receive_at_once,
            acknowledge: f.message_acknowledge,
            programmed: f.message_programmed == 1,
            per_packet: f.message_port_per_packet == 1,
            ahead_bytes: f.message_ahead_bytes,
            send: f.message_send_ticks as Time,
            receive: f.message_receive_ticks as Time,
            fill,
            bus,
            rings: f.has_rings(),
            no_bus,
            unhindered: no_bus
                && fill.is_free()
                && costs.is_empty()
                && gap == 0
                && f.message_packets_at_once == 0,
            send_gap: gap,
            shaper: (per_byte > 0.0).then_some(Shaper { per_byte, room }),
            costs,
            receive_gap: f.message_receive_gap_ticks as Time,
            ack: f.message_ack_ticks as Time,
            ack_length: if f.has_rings() { RING_ACK_BYTES } else { 0 },
            resume: f.message_resume_ticks as Time,
            check,
            eager: f.message_eager_bytes,
            announcement: f.message_announcement_bytes,
            unexpected: f.message_unexpected_bytes,
            right: if check > 0 { 8.0 * libm::log1p(-f.message_bit_error_rate) } else { 0.0 },
            overlaps: f.message_channels_at_once == 0 && check == 0,
        }
    }

    /// Returns the times of messages of a size that has its own.
    #[inline]
    fn cost(&self, message_bytes: u32) -> Option<&Cost> {
        let row = self.costs.binary_search_by_key(&message_bytes, |cost| cost.bytes).ok()?;
        Some(&self.costs[row])
    }

    /// Returns the host's time to send a message.
    #[inline]
    pub fn send(&self, message_bytes: u32) -> Time {
        self.cost(message_bytes).map_or(self.send, |cost| cost.send)
    }

    /// Returns the host's time to receive a message.
    #[inline]
    pub fn receive(&self, message_bytes: u32) -> Time {
        self.cost(message_bytes).map_or(self.receive, |cost| cost.receive)
    }

    /// Returns the minimum time from a packet of a message to the next packet.
    #[inline]
    pub fn send_gap(&self, message_bytes: u32) -> Time {
        self.cost(message_bytes).map_or(self.send_gap, |cost| cost.gap)
    }

    /// Returns the ticks to fill a packet of this many bytes, of a message of this size, that has waited for its place.
    #[inline]
    pub fn fill_after(&self, message_bytes: u32, bytes: u32, waited: Time) -> Time {
        if bytes > 0
            && let Some(cost) = self.cost(message_bytes)
        {
            return cost.packet;
        }
        let ticks = self.fill.of(bytes);
        if waited == 0 {
            return ticks;
        }
        ticks - self.fill.of_bytes(bytes.min(self.ahead_bytes)).min(waited)
    }

    /// Whether messages can have bit errors.
    pub fn draws_errors(&self) -> bool {
        self.right < 0.0
    }

    /// Returns the probability that a message has a wrong bit.
    pub fn wrong(&self, bytes: u32) -> f64 {
        -libm::expm1(f64::from(bytes) * self.right)
    }

    /// Whether the sender of a packet learns of its arrival: by a packet, or by the end of its transaction.
    #[inline]
    pub fn by_packet(&self) -> bool {
        self.acknowledge == acknowledge::PACKET
    }

    /// Whether a packet is acknowledged by the end of its transaction.
    #[inline]
    pub fn by_transaction(&self, packet: u32) -> bool {
        let response = !self.at_once() && !self.by_packet();
        let kind = mark::kind(packet);
        self.rings && (kind == mark::READ || kind == mark::DATA && response)
    }

    /// Whether a packet counts as acknowledged when the link has taken it.
    #[inline]
    pub fn at_once(&self) -> bool {
        self.acknowledge == acknowledge::NONE
    }
}
