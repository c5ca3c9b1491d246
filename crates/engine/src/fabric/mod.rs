//! The waist: every description becomes these flat arrays, and the engine sees nothing else.
//!
//! Vertices are numbered switches first (`0..switches`), then the ports of terminals (`switches..switches+ports`): of
//! terminals of one port each a terminal is its port, and what is said of a terminal in a network is said of a port.
//! All times are whole ticks of `tick_ps` picoseconds; buffers are counted in characters.
//! The meaning of every column is given once, here; Python reads the names from [`COLUMNS`].

mod address;
mod check;
mod code;
mod ends;
mod error;
mod fault;
mod lanes;
mod ports;
mod words;

pub use check::check;
pub use code::{CODE_NUMBERS, TIME};
pub use error::FabricError;
pub use fault::NEVER;
pub use ports::{Exits, ROUTE_BLOCK};
pub use words::{
    ANY, CODES, CROSS, LAST, PASS, TURN, acknowledge, arbiter, arrival, choice, is_open, length, operation,
    port_choice, rank, retry, sharing, target, transaction,
};

/// Lanes that a link can have.
pub const MOST_LANES: u32 = 16;

/// Ports that a terminal can have.
pub const MOST_PORTS: u32 = 8;

/// No entry: a class that a switch cannot reach, or a link without a reverse.
pub use crate::kernel::NONE;

macro_rules! columns {
    (
        scalars { $($(#[$scalar_doc:meta])* $scalar:ident : $scalar_type:ty),* $(,)? }
        columns { $($(#[$doc:meta])* $name:ident : $type:ty),* $(,)? }
    ) => {
        /// A network and its traffic as flat arrays.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Fabric {
            $($(#[$scalar_doc])* pub $scalar: $scalar_type,)*
            $($(#[$doc])* pub $name: Vec<$type>,)*
        }

        /// Names and types of the scalars, in order.
        pub const SCALARS: &[(&str, &str)] = &[$((stringify!($scalar), stringify!($scalar_type)),)*];

        /// Names and element types of the array columns, in order.
        pub const COLUMNS: &[(&str, &str)] = &[$((stringify!($name), stringify!($type)),)*];

        /// Calls `$visit!(name: type)` for every scalar; used by the language border.
        #[macro_export]
        macro_rules! for_each_scalar {
            ($visit:ident) => { $($visit!($scalar: $scalar_type);)* };
        }

        /// Calls `$visit!(name: type)` for every array column; used by the language border.
        #[macro_export]
        macro_rules! for_each_column {
            ($visit:ident) => { $($visit!($name: $type);)* };
        }
    };
}

columns! {
    scalars {
        /// Picoseconds in one tick.
        tick_ps: u64,
        /// Ticks in one grain: at whole grains sources make packets, whatever the tick.
        grain_ticks: u64,
        /// Number of switches.
        switches: u32,
        /// Number of terminals.
        terminals: u32,
        /// Number of networks that the ports of terminals are in; 0: terminals have one port each.
        planes: u32,
        /// Number of routing classes (columns of the routing table).
        classes: u32,
        /// Characters of the routing header of every packet.
        header_chars: u32,
        /// Characters of the additional header that leads to a random intermediate switch.
        via_header_chars: u32,
        /// Seed of every random stream.
        seed: u64,

        /// Lanes of every link, 1 to 16; 0 in ring networks, like the scalars below. Lane `v` of link `l` has the number
        /// `l * lanes + v`. Columns of links hold what each of its lanes has: buffers, quantum, credit.
        lanes: u32,
        /// One of [`sharing`].
        lane_sharing: u8,
        /// Which of several lanes goes first: [`arbiter::ROUND_ROBIN`] or [`arbiter::FIXED`]; 0 with one lane.
        lane_arbiter: u8,
        /// 1: a packet starts on a link only with credit for all of it (virtual cut-through).
        whole_packet_credit: u8,
        /// 1: input buffers have a queue for each group; only with `whole_packet_credit`.
        output_queues: u8,
        /// Ticks for which a switch or a port takes no interrupt of a number that it has passed on.
        interrupt_hold_ticks: u64,

        /// Ring networks: bytes of a request without data. All scalars below are 0 in networks without rings.
        ring_request_header_bytes: u32,
        /// Bytes of a response without data.
        ring_response_header_bytes: u32,
        /// Bytes of an echo.
        ring_echo_bytes: u32,
        /// Bytes of the idle symbols behind a request or a response.
        ring_send_idle_bytes: u32,
        /// Bytes of the idle symbols behind an echo.
        ring_echo_idle_bytes: u32,
        /// 1: stations pass packets on as soon as their address is decoded; 0: once they are there whole.
        ring_cut_through: u8,
        /// 1: a transmit place is free again when its packet was accepted; 0: when it has left.
        ring_hold_until_echo: u8,
        /// 1: packets of one kind between one pair of terminals are sent one after the other.
        ring_in_order: u8,
        /// 1: receive queues reserve places for what they have busied, in two phases.
        ring_phases: u8,
        /// 1: half of the buses of every switch carry requests, the other half responses; 0: each carries both.
        ring_separate_buses: u8,
        /// Tables that `port_route` has, one behind the other: transactions of a terminal take them in turn.
        ring_turns: u32,
        /// 1: stations whose bypass FIFO recovers stop the others.
        ring_allocation: u8,
        /// One of [`retry`].
        ring_retry_strategy: u8,
        /// Delay before a packet that was busied once is sent again.
        ring_retry_delay_ticks: u64,
        /// 1: the responder holds the busy echo back for the delay; 0: the requester waits after it.
        ring_retry_at_responder: u8,
        /// 1: what is sent again goes before what has not been sent; 0: whatever was ready first.
        ring_retry_first: u8,
        /// 1: responses go before requests that were ready earlier.
        ring_response_first: u8,
        /// 1: an interface takes up one packet at a time each way; 0: as many as come.
        ring_interface_occupied: u8,
        /// After this long a transaction without a response is given up; 0: never.
        ring_timeout_ticks: u64,
        /// After this long a sender forgets a packet that a fault has lost, or whose echo it has; 0 only without faults.
        ring_echo_timeout_ticks: u64,
        /// After this many time-outs a terminal closes its route to another one; 0: never.
        ring_close_after: u32,
        /// For so long.
        ring_closed_ticks: u64,

        /// Programs: bytes that a packet of a message carries at most. All scalars below are 0 without programs.
        message_packet_bytes: u32,
        /// The same for messages shorter than `message_small_below_bytes`.
        message_small_packet_bytes: u32,
        /// Messages shorter than this go in small packets.
        message_small_below_bytes: u32,
        /// Bytes that a character of the fabric stands for.
        message_character_bytes: u32,
        /// 1: the end of packet carries the last of them.
        message_end_carries_data: u8,
        /// Messages of a terminal handed over and not sent yet; 0: any number. The same for the limits below.
        message_messages_at_once: u32,
        /// Channels of a terminal with a message that has begun and is not sent yet.
        message_channels_at_once: u32,
        /// Packets of a channel begun and not acknowledged.
        message_packets_per_channel: u32,
        /// Packets of a terminal begun and not acknowledged.
        message_packets_at_once: u32,
        /// Messages that a terminal takes at a time.
        message_receive_at_once: u32,
        /// One of [`acknowledge`].
        message_acknowledge: u8,
        /// 1: a packet is acknowledged from when its first character has come; 0: from when all of it has.
        message_ack_at_head: u8,
        /// 1: the program's own processor fills packets, over the host's bus; 0: another one, beside the program.
        message_programmed: u8,
        /// Bytes of a packet that are filled ahead, while it waits for a place among `message_packets_at_once`.
        message_ahead_bytes: u32,
        /// The host's time per message sent.
        message_send_ticks: u64,
        /// The host's time per message received.
        message_receive_ticks: u64,
        /// The processor's time per packet begun.
        message_packet_ticks: u64,
        /// The processor's time per byte of it.
        message_byte_ticks: f64,
        /// The host bus's time per packet.
        message_bus_packet_ticks: u64,
        /// The host bus's time per byte.
        message_bus_byte_ticks: f64,
        /// From one packet begun by a terminal to the next, at least.
        message_send_gap_ticks: u64,
        /// From one packet taken in by a terminal, to be acknowledged, to the next, at least.
        message_receive_gap_ticks: u64,
        /// From a packet taken in to its acknowledgement being ready.
        message_ack_ticks: u64,
        /// From an acknowledgement received to its effect.
        message_resume_ticks: u64,
        /// 1: each packet of a message has its own port, where terminals have several; 0: all of them go by one.
        message_port_per_packet: u8,
        /// From a packet handed to the link to its being sent again, if it is not acknowledged by then; 0: never.
        message_resend_ticks: u64,
        /// How often it is, at most.
        message_resend_limit: u32,
        /// The clock of each time is this many times as long as that of the time before.
        message_resend_backoff: u32,
        /// Time of the check after the last acknowledgement of a message; 0: there is none.
        message_check_ticks: u64,
        /// Probability that a bit of a message is wrong.
        message_bit_error_rate: f64,
    }
    columns {
        /// Per switch: ticks to decode a header once it stands whole at the front of an input buffer.
        switch_decode_ticks: u32,
        /// Per switch: ticks between two characters through the crossbar; 0 means as fast as buffers allow.
        switch_crossbar_ticks: u32,
        /// Per switch: ticks from leaving the input buffer to being ready for the wire at the output.
        switch_forward_ticks: u32,
        /// Per switch: ticks from an end of packet leaving an input buffer until its output is free again.
        switch_handover_ticks: u32,
        /// Per switch: ticks from an end of packet leaving an input buffer until the packet behind is at the front.
        switch_next_head_ticks: u32,
        /// Per switch (or empty): ticks after which a packet is ended that has an output and does not move; 0: never.
        switch_timeout_ticks: u64,
        /// Per switch: one of [`arbiter`].
        switch_arbiter: u8,
        /// Per switch: one of [`choice`].
        switch_choice: u8,

        /// Per link: vertex it leaves.
        link_source: u32,
        /// Per link: vertex it enters.
        link_target: u32,
        /// Per link: ticks a data or header character occupies the wire.
        link_character_ticks: u32,
        /// Per link: ticks the end of packet occupies the wire.
        link_end_ticks: u32,
        /// Per link: ticks from the start of a character on the wire until it can be used at the target.
        link_arrival_ticks: u32,
        /// Per link: ticks from a place becoming free at the target until the sender can use its credit.
        link_credit_ticks: u32,
        /// Per link: characters the output buffer in front of the wire holds.
        link_output_buffer: u32,
        /// Per link: characters the input buffer at the target holds.
        link_input_buffer: u32,
        /// Per link: characters one flow-control character (or credit) is worth.
        link_quantum: u32,
        /// Per link: ticks a flow-control character occupies the reverse wire (0: none is sent there).
        link_flow_control_ticks: u32,
        /// Per link: the opposite direction of the same cable, or [`NONE`].
        link_reverse: u32,
        /// Per link: 1 when the front header is deleted on entry to this link.
        link_deletes_header: u8,
        /// Per link (or empty): 1 when it deletes one of the address characters, of which a packet has one for each such link.
        link_deletes_address: u8,

        /// Per group: its switch.
        group_switch: u32,
        /// Per group and one more: where its links start in `group_links`.
        group_start: u32,
        /// Lanes of all groups, in order of preference.
        group_links: u32,
        /// Per group (or empty): 1 when a packet goes to all of its links at once.
        group_all: u8,
        /// Per distribution, whose number is behind those of ports, and one more: where its ports start (or empty).
        distribution_start: u32,
        /// Ports that each distribution is for.
        distribution_port: u32,

        /// Switch by class: group number * 2 + (1 if the front header is deleted on the way out), or [`NONE`].
        route: u32,
        /// Per terminal and one more: where its ports start; empty: port `t` is that of terminal `t`.
        terminal_ports: u32,
        /// Per terminal (or empty): one of [`port_choice`].
        terminal_choice: u8,
        /// Per port (or empty): its plane. A packet goes from port to port of one plane.
        port_plane: u32,
        /// Per port, then per distribution: class of the header that leads to it.
        terminal_class: u32,
        /// Per port (or empty: 0): added to the class of each header that it sends, for routes by traffic class.
        port_class: u32,
        /// Per port: the link it sends on.
        terminal_out_link: u32,
        /// Per port: the link it receives on.
        terminal_in_link: u32,
        /// Per port (or empty: none does): 1 when heads of packets for it go before others at every switch.
        port_priority: u8,
        /// Switches that may be random intermediates (empty: none are used), as many of each plane, plane by plane.
        via_switch: u32,
        /// Per entry of `via_switch`: class of the header that leads there.
        via_class: u32,

        /// Per fault, by the tick at which its link goes down: the link.
        fault_link: u32,
        /// Per fault: when the link goes down. The faults of one link follow each other.
        fault_down_ticks: u64,
        /// Per fault: when what has come of a packet is ended with an error end.
        fault_ended_ticks: u64,
        /// Per fault: when the link runs again; 2^62: never.
        fault_up_ticks: u64,
        /// Per fault: 1: nothing is lost; the link only starts nothing, or on rings the station at its end begins no service
        /// and no transfer.
        fault_stuck: u8,

        /// Per replacement of the routing tables, ascending: when it happens. Not with `output_queues`.
        table_ticks: u64,
        /// Per replacement: 0 for `route`, else the place in `table_route`, from 1, of what takes its place.
        table_number: u32,
        /// Tables that replace `route`, each with as many rows, one behind the other.
        table_route: u32,

        /// Per link (or empty: there are no codes): ticks that a time-code or an interrupt occupies the wire.
        link_code_ticks: u32,
        /// Per link (or empty): ticks from its start on the wire until it has come to the target.
        link_code_arrival_ticks: u32,
        /// Per switch (or empty): ticks from a code that has come to its being ready for the wires.
        switch_code_ticks: u32,
        /// Per source of codes: its port.
        code_port: u32,
        /// Per source of codes: [`TIME`], or the number of the interrupt, below [`CODE_NUMBERS`].
        code_number: u8,
        /// Per source of codes: when it makes the first one.
        code_first_ticks: u64,
        /// Per source of codes: from one to the next.
        code_period_ticks: u64,
        /// Per source of codes: how many it makes.
        code_count: u64,

        /// Per terminal: one of [`arrival`].
        source_arrival: u8,
        /// Per terminal: see [`arrival`].
        source_interval_grains: f64,
        /// Per terminal: see [`arrival::ON_OFF`].
        source_burst: f64,
        /// Per terminal: see [`arrival::ON_OFF`].
        source_gap_grains: f64,
        /// Per terminal (or empty): see [`arrival::BURSTS`].
        source_first_grains: f64,
        /// Per terminal: packets that may wait at the source, more are refused; 0: any number; [`NONE`]: not one.
        source_queue: u32,
        /// Per terminal: one of [`target`].
        source_target: u8,
        /// Per terminal: see [`target`].
        target_fixed: u32,
        /// Per terminal: see [`target::HOT_SPOT`].
        target_share: f64,
        /// Per terminal and one more: where its row starts in `weight_target` (or all empty).
        weight_start: u32,
        /// Destinations of the weighted rows.
        weight_target: u32,
        /// Cumulative probability within a row, the last being 1.
        weight_cumulative: f64,
        /// Per terminal: one of [`length`].
        source_length: u8,
        /// Per terminal: payload characters, see [`length`], and likewise the next one.
        length_min: u32,
        /// See `length_min`.
        length_max: u32,
        /// Payload characters of the length table.
        length_values: u32,
        /// Cumulative probability of the length table, the last being 1.
        length_cumulative: f64,
        /// Per terminal and one more: where its list starts in `list_target` (or all empty).
        list_start: u32,
        /// Destination of each descriptor.
        list_target: u32,
        /// Payload characters of each descriptor.
        list_length: u32,
        /// Ticks to wait after each descriptor's packet has gone.
        list_wait_ticks: u64,
        /// Per terminal: 1 when its list starts again after its end.
        list_repeat: u8,

        /// Per terminal and one more: where its flows start in `flow_target` (or all empty).
        flow_start: u32,
        /// Per flow: its destination.
        flow_target: u32,
        /// Per flow: payload characters of a packet.
        flow_length: u32,
        /// Per flow: when it makes packets, [`arrival::CONSTANT`] or [`arrival::POISSON`].
        flow_arrival: u8,
        /// Per flow: its period, or the mean interval.
        flow_interval_grains: f64,
        /// Per flow of a period: its first moment; negative: at random within a period.
        flow_phase_grains: f64,
        /// Per flow of a period: packets are late by up to so much, at random; at most the period.
        flow_jitter_grains: f64,
        /// Per flow: packets made at each moment.
        flow_packets: u32,

        /// Ring networks, per link: the station it leads to; a station has the number of the link it sends on.
        /// Empty in networks without rings; `link_source` and `link_target` are then the vertices of both stations,
        /// `link_character_ticks` the time of a symbol, and the columns of switches, groups and routes above are empty.
        station_next: u32,
        /// Per station: its ring.
        station_ring: u32,
        /// Per station: ticks of the address decoder.
        station_decode_ticks: u32,
        /// Per station: ticks through the bypass FIFO when it is empty.
        station_bypass_ticks: u32,
        /// Per station: ticks from a packet standing whole in a receive queue to the user (bus or terminal).
        station_receive_ticks: u32,
        /// Per station: ticks from the user to a packet being ready for the link.
        station_transmit_ticks: u32,
        /// Per station: places for requests to be sent.
        station_requests_out: u32,
        /// Per station: places for responses to be sent.
        station_responses_out: u32,
        /// Per station: places for requests received.
        station_requests_in: u32,
        /// Per station: places for responses received.
        station_responses_in: u32,
        /// Per station and kind: send packets that may have been sent and not been answered by an echo yet.
        station_in_flight: u32,
        /// Per station and kind: busied send packets that may wait to be sent again before others are held back.
        station_rejected: u32,
        /// Per switch and one more: where its ports start in `port_station`.
        port_start: u32,
        /// The stations that are ports, switch by switch.
        port_station: u32,
        /// Per table and entry of `port_station`, a row of one entry per 64 terminals (or what is left): block of `port_exit`.
        port_route: u32,
        /// Block by block one entry per terminal: port of the same switch (0, 1, ...) by which a packet for that terminal
        /// leaves, or 255: it passes. Behind the last terminal 255.
        port_exit: u8,
        /// Per switch: number of equal buses.
        bus_count: u32,
        /// Per switch: ticks before each transfer.
        bus_setup_ticks: u32,
        /// Per switch: ticks of a bus cycle.
        bus_cycle_ticks: u32,
        /// Per switch: bytes moved in a bus cycle.
        bus_width_bytes: u32,
        /// Per switch: bytes added to every packet on the bus.
        bus_encapsulation_bytes: u32,
        /// Per terminal: ticks that an access takes, however short.
        terminal_access_ticks: u32,
        /// Per terminal: ticks for each 64 B of an access.
        terminal_block_ticks: u32,
        /// Per terminal: ticks in the host before a request reaches its station.
        terminal_host_ticks: u32,
        /// Per terminal: transactions that may be open at a time.
        terminal_transactions: u32,
        /// Per terminal: what its packets are, one of [`transaction`].
        terminal_transaction: u8,

        /// Per terminal and one more: where its program starts in `op_kind`. Empty: there are sources, not programs.
        program_start: u32,
        /// Per operation: one of [`operation`].
        op_kind: u8,
        /// Per operation: a terminal, [`ANY`], [`LAST`] or [`CROSS`].
        op_peer: u32,
        /// Per operation: bytes of the message; of a receive with a time-out how often the send before it is done again.
        op_bytes: u32,
        /// Per operation: tag of the message or number of the mark, [`ANY`], [`LAST`], [`CROSS`] or [`TURN`].
        op_tag: u32,
        /// Per operation: a duration, a moment or how many times; of a receive its time-out, 0: none.
        op_ticks: u64,
        /// Per event, whose number is the tag of its messages: when it is due.
        event_due_ticks: u64,
        /// Per event: its messages; 0 or [`NONE`]: it is never complete.
        event_fragments: u32,
        /// Sizes of messages, ascending, whose host times are the next four columns rather than the scalars above.
        cost_bytes: u32,
        /// Per size: the host's time to send.
        cost_send_ticks: u64,
        /// Per size: the host's time to receive.
        cost_receive_ticks: u64,
        /// Per size: the processor's time per packet begun, its bytes included.
        cost_packet_ticks: u64,
        /// Per size: from one packet begun to the next, at least.
        cost_gap_ticks: u64,
    }
}

impl Fabric {
    /// Number of links.
    pub fn links(&self) -> usize {
        self.link_source.len()
    }

    /// True when programs drive the terminals.
    pub fn has_programs(&self) -> bool {
        !self.program_start.is_empty()
    }

    /// True when hosts that run programs have buses that are ever taken.
    pub fn has_host_bus(&self) -> bool {
        let takes = self.message_bus_packet_ticks > 0 || self.message_bus_byte_ticks > 0.0;
        self.has_programs() && (takes || self.message_programmed != 0)
    }

    /// True when the network is one of rings.
    pub fn has_rings(&self) -> bool {
        !self.station_next.is_empty()
    }

    /// True when the vertex is a terminal, or a port of one.
    pub fn is_terminal(&self, vertex: u32) -> bool {
        vertex >= self.switches
    }
}
