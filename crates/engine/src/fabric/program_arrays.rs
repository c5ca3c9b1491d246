//! The arrays of programs and of the protocol below them, which follow the other arrays of a [`super::Fabric`].

macro_rules! with_programs {
    (scalars { $($scalars:tt)* } columns { $($columns:tt)* }) => {
        columns! {
            scalars {
                $($scalars)*
                /// Programs: maximum bytes of a message in a packet. All scalars below are 0 without programs.
                message_packet_bytes: u32,
                /// The same for messages shorter than `message_small_below_bytes`.
                message_small_packet_bytes: u32,
                /// Messages shorter than this go in small packets.
                message_small_below_bytes: u32,
                /// Limit of a terminal's messages handed over and not sent yet; 0: none. Likewise for the limits below.
                message_messages_at_once: u32,
                /// Limit of a terminal's channels with a message begun and not sent yet.
                message_channels_at_once: u32,
                /// Limit of a channel's packets begun and not acknowledged.
                message_packets_per_channel: u32,
                /// Limit of a terminal's packets begun and not acknowledged.
                message_packets_at_once: u32,
                /// Limit of the messages that a terminal receives at a time.
                message_receive_at_once: u32,
                /// One of [`acknowledge`].
                message_acknowledge: u8,
                /// 1: a packet is acknowledged when its first character has arrived; 0: when all of it has.
                message_ack_at_head: u8,
                /// 1: the program's own processor fills packets, over the host's bus; 0: another one does, in parallel.
                message_programmed: u8,
                /// Time in which the tokens of a byte flow into the token bucket of a channel; 0: there are none.
                message_shaper_byte_ticks: f64,
                /// Bytes whose tokens it holds, at least a packet.
                message_shaper_bytes: u32,
                /// Bytes of a packet that are filled ahead, while it waits for one of `message_packets_at_once`.
                message_ahead_bytes: u32,
                /// The host's time to send a message.
                message_send_ticks: u64,
                /// The host's time to receive a message.
                message_receive_ticks: u64,
                /// The processor's time per packet.
                message_packet_ticks: u64,
                /// The processor's time per byte of a packet.
                message_byte_ticks: f64,
                /// The host bus's time per packet.
                message_bus_packet_ticks: u64,
                /// The host bus's time per byte.
                message_bus_byte_ticks: f64,
                /// Minimum time between the beginnings of two packets of a terminal.
                message_send_gap_ticks: u64,
                /// Minimum time between two packets that a terminal takes in to acknowledge.
                message_receive_gap_ticks: u64,
                /// Time from a packet taken in until its acknowledgement is ready.
                message_ack_ticks: u64,
                /// Time from an acknowledgement received until it takes effect.
                message_resume_ticks: u64,
                /// 1: a terminal with several ports chooses a port for each packet of a message; 0: one for all of them.
                message_port_per_packet: u8,
                /// Time from handing a packet to the link until it is sent again, unless it is acknowledged before; 0: never.
                message_resend_ticks: u64,
                /// Maximum number of repetitions.
                message_resend_limit: u32,
                /// Factor by which each time is longer than the one before.
                message_resend_backoff: u32,
                /// Longer messages are announced, and sent when their receive is posted; 0: all are sent at once.
                message_eager_bytes: u32,
                /// Bytes of an announcement, and of its answer; 0 if there are none.
                message_announcement_bytes: u32,
                /// Limit of the bytes of messages at a terminal that no receive has asked for; 0: none.
                message_unexpected_bytes: u32,
                /// Time of the check after the last acknowledgement of a message; 0: there is no check.
                message_check_ticks: u64,
                /// Probability that a bit of a message is wrong.
                message_bit_error_rate: f64,
            }
            columns {
                $($columns)*
                /// Per terminal and one more: start of its program in `op_kind`. Empty: terminals are sources.
                program_start: u32,
                /// Per operation: one of [`operation`].
                op_kind: u8,
                /// Per operation: a terminal, [`ANY`], [`LAST`] or [`CROSS`].
                op_peer: u32,
                /// Per operation: bytes of the message; for a receive with a time-out, limit of repeated sends.
                op_bytes: u32,
                /// Per operation: tag of the message or number of the mark, [`ANY`], [`LAST`], [`CROSS`] or [`TURN`].
                op_tag: u32,
                /// Per operation: a duration, a time or a count; for a receive its time-out, 0: none.
                op_ticks: u64,
                /// Per operation (or empty: all 0): its stream. In lists, those of a terminal ascend.
                op_stream: u8,
                /// Per operation and one more (or empty: each waits for the one before): start of its rows in `op_needs`.
                op_needs_start: u32,
                /// What it waits for: an operation, counted from the first of its program, times 2; plus 1: for its beginning.
                op_needs: u32,
                /// Per event, whose number is the tag of its messages: when it is due.
                event_due_ticks: u64,
                /// Per event: number of its messages; 0 or [`NONE`]: it is never complete.
                event_fragments: u32,
                /// Message sizes, ascending; their host times are the next four columns instead of the scalars above.
                cost_bytes: u32,
                /// Per size: the host's time to send.
                cost_send_ticks: u64,
                /// Per size: the host's time to receive.
                cost_receive_ticks: u64,
                /// Per size: the processor's time per packet, its bytes included.
                cost_packet_ticks: u64,
                /// Per size: minimum time between the beginnings of two packets.
                cost_gap_ticks: u64,
            }
        }
    };
}
