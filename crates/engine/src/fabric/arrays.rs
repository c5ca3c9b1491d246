//! The arrays of a [`Fabric`]; the meaning of every column is given once, here or in `program_arrays.rs`.

#[cfg(doc)]
use super::*;

// Declares the columns: their names and types, for the engine and for the bindings.
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

        /// Calls `$visit!(name: type)` for every scalar; used by the bindings.
        #[macro_export]
        macro_rules! for_each_scalar {
            ($visit:ident) => { $($visit!($scalar: $scalar_type);)* };
        }

        /// Calls `$visit!(name: type)` for every array column; used by the bindings.
        #[macro_export]
        macro_rules! for_each_column {
            ($visit:ident) => { $($visit!($name: $type);)* };
        }
    };
}

with_programs! {
    scalars {
        /// Picoseconds in one tick; for the reader of the arrays.
        tick_ps: f64,
        /// Ticks in one grain: sources create packets at whole grains, whatever the tick.
        grain_ticks: u64,
        /// Number of switches.
        switches: u32,
        /// Number of terminals.
        terminals: u32,
        /// Number of networks of the terminals' ports; 0: each terminal has one port.
        planes: u32,
        /// Number of routing classes (columns of the routing table).
        classes: u32,
        /// Characters of the routing header of every packet.
        header_chars: u32,
        /// Characters of the additional header that leads to a random intermediate switch.
        via_header_chars: u32,
        /// Payload bytes of a character; 0: one, and in ring networks.
        character_bytes: u32,
        /// Bytes of headers and check sums, which fill characters together with the payload.
        overhead_bytes: u32,
        /// Bytes of the shortest packet, with its overhead; shorter ones are filled up.
        least_bytes: u32,
        /// 1: the end of packet is the last character of the payload.
        end_carries_data: u8,
        /// Seed of every random stream.
        seed: u64,

        /// Lanes of every link, 1 to 16; 0 in ring networks, like the scalars below. Lane `v` of link `l` has the number
        /// `l * lanes + v`. Columns of links hold what each of its lanes has: buffers, quantum, credit.
        lanes: u32,
        /// One of [`sharing`].
        lane_sharing: u8,
        /// Which of several lanes goes first: [`arbiter::ROUND_ROBIN`] or [`arbiter::FIXED`]; 0 with one lane.
        lane_arbiter: u8,
        /// Most characters of a frame; 0 unless lanes share by [`sharing::FRAME`].
        lane_frame_chars: u32,
        /// Most ticks of the wire that a lane may have saved of its reservation, or overdrawn; 0 without reservations.
        lane_credit_limit_ticks: u64,
        /// Ticks of each of 64 time-slots, which follow each other from tick 0; 0 without `lane_slots`.
        lane_slot_ticks: u64,
        /// Number of rows of `lane_table_*` that are of high priority; the others are of low priority.
        lane_table_high: u32,
        /// Characters of high priority after which one choice is of low priority, if it can be; [`NONE`]: no limit.
        lane_high_limit_chars: u32,
        /// 1: a packet starts on a link only with credit for all of it (virtual cut-through).
        whole_packet_credit: u8,
        /// 1: a head requests only when its whole packet has arrived (store and forward); only with `whole_packet_credit`.
        store_and_forward: u8,
        /// 1: input buffers have a queue per group; only with `whole_packet_credit`.
        output_queues: u8,
        /// 1: a packet that finds no room in an input buffer is discarded there; only with `link_pause_above`.
        drops: u8,
        /// Characters of each lane in the memory of its switch that no other lane takes; 0 without `switch_pool_chars`, as
        /// the four below.
        pool_reserved_chars: u32,
        /// Characters of each lane for what it has no place for in the pool: what comes after a pause.
        pool_headroom_chars: u32,
        /// What a lane may have of the pool, as billionths of what is free there.
        pool_alpha_billionths: u64,
        /// 1: a switch pauses the sender of a lane that has more of the pool, or something in its headroom.
        pool_pauses: u8,
        /// The sender goes on when the lane has this much less.
        pool_offset_chars: u32,
        /// 1: a lane is granted only with room for the longest packet behind it, or by `link_ring`; only where
        /// [`Fabric::is_by_packet`], without faults and pause.
        grant_with_room: u8,
        /// A packet is marked if a queue for its output has more characters; only with `cct_eighths`, as those below.
        mark_above_chars: u32,
        /// Packets of a link that could be marked, between two that are.
        mark_rate: u32,
        /// 1: packets without credit for the link are marked, too.
        mark_victims: u8,
        /// Ticks from the delivery of a marked packet until the index of its sender's port rises.
        becn_ticks: u64,
        /// By how much it rises.
        ccti_increase: u32,
        /// Ticks after which it falls by one, again and again.
        ccti_timer_ticks: u64,
        /// 0, or packets go straight if queue x hops there are less than those over their random switch plus this.
        via_by_queue: u32,
        /// Ticks for which a switch or a port ignores an interrupt number that it has passed on.
        interrupt_hold_ticks: u64,
        /// Ticks by which a code may be ready for the wires of a switch earlier than `switch_code_ticks` says.
        code_jitter_ticks: u32,
        /// Ring networks: bytes of a symbol. All scalars below are 0 in networks without rings.
        ring_symbol_bytes: u32,
        /// Bytes of a request without data.
        ring_request_header_bytes: u32,
        /// Bytes of a response without data.
        ring_response_header_bytes: u32,
        /// Bytes of an echo; 0: nothing comes back, and a packet is accepted for its sender when it has left.
        ring_echo_bytes: u32,
        /// Bytes of the idle symbols behind a request or a response.
        ring_send_idle_bytes: u32,
        /// Bytes of the idle symbols behind an echo.
        ring_echo_idle_bytes: u32,
        /// 1: parts of messages have any payload; 0: they are padded to the next of 16, 64 and 256 bytes.
        ring_any_payload: u8,
        /// What happens to a packet for which there is no place, one of [`when_full`].
        ring_when_full: u8,
        /// Symbols of a slot, which holds one unit of any length and is empty or full at all stations; 0: no slots.
        ring_slot_symbols: u32,
        /// Symbols of the token that circulates on each ring, and without which no station starts a packet; 0: no token.
        ring_token_symbols: u32,
        /// Packets that a station starts with the token at most; 0: no limit.
        ring_token_packets: u32,
        /// Time in which the token should come round; 0: there is none.
        ring_token_rotation_ticks: u64,
        /// 1: stations pass packets on as soon as their address is decoded; 0: when they have arrived completely.
        ring_cut_through: u8,
        /// 1: a transmit buffer is free when its packet has been accepted; 0: when it has left.
        ring_hold_until_echo: u8,
        /// Where packets of one kind between one pair of terminals are sent one after the other, one of [`stations`].
        ring_in_order: u8,
        /// 1: receive queues reserve places for packets that they have busied, in two phases.
        ring_phases: u8,
        /// 1: half of the buses of every switch carry requests, the other half responses; 0: each carries both.
        ring_separate_buses: u8,
        /// Number of tables in `port_route`, one after the other; the transactions of a terminal's port use them in turn.
        ring_turns: u32,
        /// Which stations begin a packet only with a go, one of [`stations`]; unless none do, those whose bypass FIFO
        /// recovers stop the others.
        ring_allocation: u8,
        /// One of [`retry`].
        ring_retry_strategy: u8,
        /// Delay before a packet that was busied once is sent again.
        ring_retry_delay_ticks: u64,
        /// 1: the responder delays the busy echo; 0: the requester waits after it.
        ring_retry_at_responder: u8,
        /// Which of a station's packets is first if some of them have been sent before, one of [`retry_order`].
        ring_retry_order: u8,
        /// 1: responses precede requests that were ready earlier.
        ring_response_first: u8,
        /// 1: an interface handles one packet at a time in each direction; 0: any number.
        ring_interface_occupied: u8,
        /// Time after which a transaction without a response is given up; 0: never.
        ring_timeout_ticks: u64,
        /// Time after which a sender forgets a packet if a fault lost it or its echo; 0 only without faults.
        ring_echo_timeout_ticks: u64,
        /// Number of time-outs after which a terminal closes its route to another one; 0: never.
        ring_close_after: u32,
        /// Time for which it is closed.
        ring_closed_ticks: u64,
    }
    columns {
        /// Congestion control (or empty: none): the rest of a port after a packet, by its index, in eighths of the packet's time.
        cct_eighths: u32,
        /// Per lane of a link (or empty: all alike): its priority, of which the lowest number goes first.
        lane_priority: u8,
        /// Per lane of a link (or empty): the millionths of the wire that are reserved for it.
        lane_share_millionths: u32,
        /// Per lane of a link (or empty: any time): the time-slots in which it may be chosen, a bit for each.
        lane_slots: u64,
        /// Tables of lanes (or empty): a lane of a link.
        lane_table_lane: u32,
        /// How many characters it may start before the next row has its turn.
        lane_table_chars: u32,
        /// Per switch: ticks to decode a header that is complete at the front of an input buffer.
        switch_decode_ticks: u32,
        /// Per switch: ticks between two characters through the crossbar; 0: limited by buffers only.
        switch_crossbar_ticks: u32,
        /// Per switch: ticks from leaving the input buffer to being ready for the wire at the output.
        switch_forward_ticks: u32,
        /// Per switch: ticks from an end of packet leaving an input buffer until its output is free again.
        switch_handover_ticks: u32,
        /// Per switch: ticks from an end of packet leaving an input buffer until the next packet is at the front.
        switch_next_head_ticks: u32,
        /// Per switch (or empty): ticks after which a packet that has an output and does not move is ended; 0: never.
        switch_timeout_ticks: u64,
        /// Per switch: one of [`arbiter`].
        switch_arbiter: u8,
        /// Per switch: one of [`choice`].
        switch_choice: u8,
        /// Per switch (or empty: every lane has its own buffer): characters in the pool that the lanes leading to it share.
        switch_pool_chars: u32,
        /// Per link: source vertex; a station in ring networks, and likewise below.
        link_source: u32,
        /// Per link: target vertex.
        link_target: u32,
        /// Per link: ticks that a data or header character occupies the wire; of a symbol in ring networks.
        link_character_ticks: u32,
        /// Per link: ticks that the end of packet occupies the wire.
        link_end_ticks: u32,
        /// Per link (or empty): ticks that the beginning of a frame occupies the wire.
        link_frame_start_ticks: u32,
        /// Per link (or empty): ticks that the end of a frame occupies the wire.
        link_frame_end_ticks: u32,
        /// Per link (or empty): ticks of a column, a word on each of its physical lanes; frames end with whole ones.
        link_column_ticks: u32,
        /// Per link (or empty): by how many ticks each byte that is missing in the last character makes the end of packet
        /// shorter, and earlier at its target; 0: the character is filled up. Only with frames and `end_carries_data`.
        link_padding_ticks: u32,
        /// Per link (or empty: all): the lanes on which a terminal may start a packet, from lane 0. Only with frames.
        link_lanes: u32,
        /// Per link: ticks from the start of a character on the wire until it can be used at the target.
        link_arrival_ticks: u32,
        /// Per link: ticks from a place becoming free at the target until the sender can use its credit.
        link_credit_ticks: u32,
        /// Per link: characters in the output buffer before the wire.
        link_output_buffer: u32,
        /// Per link: characters in the input buffer at the target.
        link_input_buffer: u32,
        /// Per link: characters that one flow-control character (or credit) allows.
        link_quantum: u32,
        /// Per link (or empty: credit): with more characters of complete packets its sender pauses, `link_credit_ticks` later.
        link_pause_above: u32,
        /// Per link (or empty): when no more than this are left, the sender goes on, as much later.
        link_pause_until: u32,
        /// Per link: ticks that a flow-control character occupies the reverse wire (0: none is sent there).
        link_flow_control_ticks: u32,
        /// Per link: the opposite direction of the same cable, or [`NONE`].
        link_reverse: u32,
        /// Per link: 1 if the front header is deleted on entry to this link.
        link_deletes_header: u8,
        /// Per link (or empty): 1 if it deletes an address character; a packet has one for each such link of its path.
        link_deletes_address: u8,
        /// Per link (or empty): its one-way ring, in which it leaves a place free to packets from elsewhere; [`NONE`]: of no
        /// ring. Only with `grant_with_room`, which then counts places of the longest packet.
        link_ring: u32,
        /// Per group: its switch.
        group_switch: u32,
        /// Per group and one more: start of its links in `group_links`.
        group_start: u32,
        /// Lanes of all groups, in order of preference.
        group_links: u32,
        /// Per group (or empty): 1 if a packet goes to all of its links at once.
        group_all: u8,
        /// Per group and one more (or empty: packets take any lane of theirs): start of its parts in `group_parts`.
        group_part_start: u32,
        /// Parts of all groups: groups, of which each packet draws one that it waits for instead.
        group_parts: u32,
        /// Per group (or empty: packets draw by chance): how many sources in a row take the same part.
        group_part_sources: u32,
        /// Per distribution (numbered after the ports) and one more: start of its ports (or empty).
        distribution_start: u32,
        /// Ports of all distributions.
        distribution_port: u32,
        /// Switch by column or run: group number * 2 + (1 if the front header is deleted on output), [`NONE`] or [`OWN`].
        route: u32,
        /// Per switch and one more: start of its runs of columns (or empty: an entry for each column). Only with `class_column`.
        route_start: u32,
        /// Per run: the column after its last one.
        route_end: u32,
        /// Per class (or empty: each has one): its column of `route`. Not with `table_ticks`.
        class_column: u32,
        /// Per class, if there is `class_column`: its entry where that of its column is [`OWN`].
        class_exit: u32,
        /// Per terminal and one more: start of its ports; empty: port `t` is that of terminal `t`.
        terminal_ports: u32,
        /// Per terminal (or empty): one of [`port_choice`].
        terminal_choice: u8,
        /// Per port (or empty): its plane. A packet goes from port to port of one plane.
        port_plane: u32,
        /// Per port, then per distribution: class of the header that leads to it.
        terminal_class: u32,
        /// Per port (or empty: there is one traffic class): one bit per class, set if packets of its terminal may be of the class.
        /// A packet is of the first class whose bit is set for its sender and in `port_class_to` for its target, or else the last.
        port_class_from: u32,
        /// Per port (or empty): one bit per traffic class, set if packets for its terminal may be of the class.
        port_class_to: u32,
        /// Classes of packets by sender and target (or empty: by the bits above): from the number in `port_class_from`, which
        /// is the first place of a row, that in `port_class_to` on. Not with `class_port`.
        class_between: u8,
        /// Per traffic class (or empty): added to the class of each header of its packets.
        class_headers: u32,
        /// Per terminal, traffic class and place up to [`MOST_PORTS`] (or empty: all): port of the terminal, then [`NO_PORT`].
        class_port: u8,
        /// Per port: the link on which it sends.
        terminal_out_link: u32,
        /// Per port: the link on which it receives.
        terminal_in_link: u32,
        /// Per port (or empty): 1 if heads of packets for it have priority at every switch.
        port_priority: u8,
        /// Switches that may be random intermediates (or empty), the same number per plane, plane by plane.
        via_switch: u32,
        /// Per entry of `via_switch`: class of the header that leads there.
        via_class: u32,
        /// Per fault, ordered by the tick at which its link goes down: the link.
        fault_link: u32,
        /// Per fault: when the link goes down. The faults of one link do not overlap.
        fault_down_ticks: u64,
        /// Per fault: when the received part of a packet is ended with an error end.
        fault_ended_ticks: u64,
        /// Per fault: when the link is repaired; 2^62: never.
        fault_up_ticks: u64,
        /// Per fault: one of [`fault_kind`].
        fault_kind: u8,
        /// Per fault (or empty): after a [`fault_kind::RATE`], ticks of all characters of its link.
        fault_character_ticks: u32,
        /// Per replacement of the routing tables, in ascending order: its tick.
        table_ticks: u64,
        /// Per replacement: 0 for `route`, otherwise the number of the table in `table_route`, from 1.
        table_number: u32,
        /// Tables that replace `route`, one after the other, each with as many rows.
        table_route: u32,
        /// Classes of packets by sender and target, as `class_between`, of each table in `table_route` (or empty: those of
        /// `class_between` stay): a packet that is put on its link while the table is in use keeps them on its whole way.
        table_between: u8,
        /// Per link (or empty: there are no codes): ticks that a time-code or an interrupt occupies the wire; 0, only with
        /// frames: none go there.
        link_code_ticks: u32,
        /// Per link (or empty): ticks from its start on the wire until its arrival at the target.
        link_code_arrival_ticks: u32,
        /// Per switch (or empty): ticks from a code's arrival until it is ready for the wires.
        switch_code_ticks: u32,
        /// Per source of codes: its port.
        code_port: u32,
        /// Per source of codes: [`TIME`], or the number of the interrupt, below [`CODE_NUMBERS`].
        code_number: u8,
        /// Per source of codes: tick of the first one.
        code_first_ticks: u64,
        /// Per source of codes: its period.
        code_period_ticks: u64,
        /// Per source of codes: number of codes.
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
        /// The same.
        source_spacing_grains: f64,
        /// Per terminal: limit of packets waiting at the source, more are refused; 0: no limit; [`NONE`]: none waits.
        source_queue: u32,
        /// Per terminal: one of [`target`].
        source_target: u8,
        /// Per terminal: see [`target`].
        target_fixed: u32,
        /// Per terminal: see [`target::HOT_SPOT`].
        target_share: f64,
        /// Per terminal and one more: start of its row in `weight_target` (or all empty).
        weight_start: u32,
        /// Destinations of the weighted rows.
        weight_target: u32,
        /// Cumulative probability within a row; the last one is 1.
        weight_cumulative: f64,
        /// Per terminal: one of [`length`].
        source_length: u8,
        /// Per terminal: payload bytes, see [`length`].
        length_min: u32,
        /// See `length_min`.
        length_max: u32,
        /// Payload bytes of the length table.
        length_values: u32,
        /// Cumulative probability of the length table; the last one is 1.
        length_cumulative: f64,
        /// Per terminal and one more: start of its list in `list_target` (or all empty).
        list_start: u32,
        /// Destination of each descriptor.
        list_target: u32,
        /// Payload bytes of each descriptor.
        list_length: u32,
        /// Ticks to wait after each descriptor's packet has left.
        list_wait_ticks: u64,
        /// Per descriptor (or empty), ascending per terminal: the grain that creates its packet. See [`arrival::TIMED`].
        list_at_grains: u64,
        /// Per terminal: 1 if its list repeats.
        list_repeat: u8,
        /// Per terminal and one more: start of its flows in `flow_target` (or all empty).
        flow_start: u32,
        /// Per flow: its destination.
        flow_target: u32,
        /// Per flow: payload bytes of a packet.
        flow_length: u32,
        /// Per flow: its arrivals, [`arrival::CONSTANT`] or [`arrival::POISSON`].
        flow_arrival: u8,
        /// Per flow: its period, or the mean interval.
        flow_interval_grains: f64,
        /// Per periodic flow: its first packet; negative: at random within a period.
        flow_phase_grains: f64,
        /// Per periodic flow: maximum random delay of packets; at most the period.
        flow_jitter_grains: f64,
        /// Per flow: number of packets at a time.
        flow_packets: u32,
        /// Per flow without a phase: the time from which on it creates packets.
        flow_begin_grains: f64,
        /// Per flow: the time from which on it creates none; negative: it goes on for ever.
        flow_end_grains: f64,
        /// Per flow: number of packets in all; 0: without a limit.
        flow_count: u64,
        /// Per flow (or empty): the time in which its token bucket gets the tokens of a packet; 0: it has none.
        flow_cost_grains: f64,
        /// Per flow (or empty): the time in which its token bucket fills, at least that.
        flow_room_grains: f64,
        /// Ring networks (or empty), per link: the next station, by its link. Columns of switches and routes are empty then.
        station_next: u32,
        /// Per station: its ring.
        station_ring: u32,
        /// Per station: ticks of the address decoder.
        station_decode_ticks: u32,
        /// Per station: ticks through the bypass FIFO when it is empty.
        station_bypass_ticks: u32,
        /// Per station: ticks from a complete packet in a receive queue until the user (bus or terminal) can take it.
        station_receive_ticks: u32,
        /// Per station: ticks from the user until a packet is ready for the link.
        station_transmit_ticks: u32,
        /// Per station: transmit buffers for requests.
        station_requests_out: u32,
        /// Per station: transmit buffers for responses.
        station_responses_out: u32,
        /// Per station: receive buffers for requests; 0: any number.
        station_requests_in: u32,
        /// Per station: receive buffers for responses; 0: any number.
        station_responses_in: u32,
        /// Per station and kind: send packets that may be sent and not yet answered by an echo.
        station_in_flight: u32,
        /// Per station and kind: busied send packets that may wait before others of the kind are held back.
        station_rejected: u32,
        /// Per switch and one more: start of its ports in `port_station`.
        port_start: u32,
        /// The stations that are ports, switch by switch.
        port_station: u32,
        /// Per entry of `port_station` (or empty): 1 if the next station is a further controller of the same port.
        port_yields: u8,
        /// Per table and entry of `port_station`, a row of one entry per 64 ports of terminals: block of `port_exit`.
        port_route: u32,
        /// Per block and port of a terminal: port of the switch by which a packet for it leaves, or 255: it passes; at last 255.
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
        /// Per port of a terminal: ticks of an access, independent of its size.
        terminal_access_ticks: u32,
        /// Per port: ticks for each 64 B of an access.
        terminal_block_ticks: u32,
        /// Per port: ticks in the host before a request reaches its station.
        terminal_host_ticks: u32,
        /// Per port: limit of open transactions.
        terminal_transactions: u32,
        /// Per port: the kind of its packets, one of [`transaction`].
        terminal_transaction: u8,
    }
}
