//! The waist: every description becomes these flat arrays, and the engine sees nothing else.
//!
//! Vertices are numbered switches first (`0..switches`), then terminals (`switches..switches+terminals`).
//! All times are whole ticks of `tick_ps` picoseconds; buffers are counted in characters.
//! The meaning of every column is given once, here; Python reads the names from [`COLUMNS`].

mod check;
mod error;

pub use check::check;
pub use error::FabricError;

/// No entry: a class that a switch cannot reach, or a link without a reverse.
pub const NONE: u32 = u32::MAX;

/// How a switch orders the heads that wait for one group of links.
pub mod arbiter {
    /// The longest waiting head first; equal times by input link number.
    pub const FIFO: u8 = 0;
    /// Input links in cyclic order after the one served last.
    pub const ROUND_ROBIN: u8 = 1;
    /// The lowest input link number first.
    pub const FIXED: u8 = 2;
    /// Any waiting head with equal probability.
    pub const RANDOM: u8 = 3;
}

/// How a head chooses among the free links of its group.
pub mod choice {
    /// The first free link in the order of the group.
    pub const FIRST: u8 = 0;
    /// The free link that was granted longest ago; equal times by order in the group.
    pub const LEAST_RECENT: u8 = 1;
    /// Any free link with equal probability.
    pub const RANDOM: u8 = 2;
}

/// When a terminal makes its packets.
pub mod arrival {
    /// Never.
    pub const SILENT: u8 = 0;
    /// A packet is always waiting.
    pub const BACKLOG: u8 = 1;
    /// One every `source_interval_ticks`, the first at a random phase.
    pub const CONSTANT: u8 = 2;
    /// Poisson, mean interval `source_interval_ticks`.
    pub const POISSON: u8 = 3;
    /// `source_interval_ticks` after the previous packet has gone.
    pub const WAIT: u8 = 4;
    /// Exponential wait of mean `source_interval_ticks` after the previous packet has gone.
    pub const RANDOM_WAIT: u8 = 5;
    /// Bursts: geometric number of packets of mean `source_burst`, `source_interval_ticks` apart,
    /// then an exponential silence of mean `source_gap_ticks`.
    pub const ON_OFF: u8 = 6;
    /// The terminal's descriptor list: destination, length, wait after the packet has gone.
    pub const LIST: u8 = 7;
}

/// Where a terminal sends its packets.
pub mod target {
    /// Any other terminal with equal probability.
    pub const UNIFORM: u8 = 0;
    /// Always `target_fixed`.
    pub const FIXED: u8 = 1;
    /// The weighted row of the terminal (`weight_*`).
    pub const WEIGHTED: u8 = 2;
    /// `target_fixed` with probability `target_share`, otherwise any other terminal.
    pub const HOT_SPOT: u8 = 3;
}

/// How long a packet is.
pub mod length {
    /// Always `length_min`.
    pub const FIXED: u8 = 0;
    /// A whole number from `length_min` to `length_max`, each equally likely.
    pub const UNIFORM: u8 = 1;
    /// The values of `length_values` with `length_cumulative`.
    pub const TABLE: u8 = 2;
}

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident : $type:ty),* $(,)?) => {
        /// A network and its traffic as flat arrays.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Fabric {
            /// Picoseconds in one tick.
            pub tick_ps: u64,
            /// Number of switches.
            pub switches: u32,
            /// Number of terminals.
            pub terminals: u32,
            /// Number of routing classes (columns of the routing table).
            pub classes: u32,
            /// Characters of the routing header of every packet.
            pub header_chars: u32,
            /// Characters of the additional header that leads to a random intermediate switch.
            pub via_header_chars: u32,
            /// Seed of every random stream.
            pub seed: u64,
            $($(#[$doc])* pub $name: Vec<$type>,)*
        }

        /// Names and element types of the array columns, in order.
        pub const COLUMNS: &[(&str, &str)] = &[$((stringify!($name), stringify!($type)),)*];

        /// Calls `$visit!(name: type)` for every array column; used by the language border.
        #[macro_export]
        macro_rules! for_each_column {
            ($visit:ident) => { $($visit!($name: $type);)* };
        }
    };
}

columns! {
    /// Per switch: ticks to decode a header once it stands whole at the front of an input buffer.
    switch_decode_ticks: u32,
    /// Per switch: ticks between two characters through the crossbar; 0 means as fast as buffers allow.
    switch_crossbar_ticks: u32,
    /// Per switch: ticks from leaving the input buffer to being ready for the wire at the output.
    switch_forward_ticks: u32,
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

    /// Per group: its switch.
    group_switch: u32,
    /// Per group and one more: where its links start in `group_links`.
    group_start: u32,
    /// Links of all groups, in order of preference.
    group_links: u32,

    /// Switch by class: group number * 2 + (1 if the front header is deleted on the way out), or [`NONE`].
    route: u32,
    /// Per terminal: class of the header that leads to it.
    terminal_class: u32,
    /// Per terminal: the link it sends on.
    terminal_out_link: u32,
    /// Per terminal: the link it receives on.
    terminal_in_link: u32,
    /// Switches that may be random intermediates (empty: none are used).
    via_switch: u32,
    /// Per entry of `via_switch`: class of the header that leads there.
    via_class: u32,

    /// Per terminal: one of [`arrival`].
    source_arrival: u8,
    /// Per terminal: see [`arrival`].
    source_interval_ticks: f64,
    /// Per terminal: see [`arrival::ON_OFF`].
    source_burst: f64,
    /// Per terminal: see [`arrival::ON_OFF`].
    source_gap_ticks: f64,
    /// Per terminal: packets that may wait at the source; more are refused; 0 means any number.
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
    /// Per terminal: payload characters, see [`length`].
    length_min: u32,
    /// Per terminal: payload characters, see [`length`].
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
}

impl Fabric {
    /// Number of links.
    pub fn links(&self) -> usize {
        self.link_source.len()
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.group_switch.len()
    }

    /// Links of one group, in order of preference.
    pub fn group(&self, group: u32) -> &[u32] {
        let group = group as usize;
        &self.group_links[self.group_start[group] as usize..self.group_start[group + 1] as usize]
    }

    /// True when the vertex is a terminal.
    pub fn is_terminal(&self, vertex: u32) -> bool {
        vertex >= self.switches
    }
}
