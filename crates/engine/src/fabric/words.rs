//! What numbers stand for in the columns that hold kinds of things.

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

/// In what portions the lanes of a link share its wire.
pub mod sharing {
    /// Characters of several packets follow each other.
    pub const CHARACTER: u8 = 0;
    /// A packet is sent from its first character to its end.
    pub const PACKET: u8 = 1;
}

/// When a terminal makes its packets.
pub mod arrival {
    /// Never.
    pub const SILENT: u8 = 0;
    /// A packet is always waiting.
    pub const BACKLOG: u8 = 1;
    /// One every `source_interval_grains`, the first at a random phase.
    pub const CONSTANT: u8 = 2;
    /// Poisson, mean interval `source_interval_grains`.
    pub const POISSON: u8 = 3;
    /// `source_interval_grains` after the previous packet has gone.
    pub const WAIT: u8 = 4;
    /// Exponential wait of mean `source_interval_grains` after the previous packet has gone.
    pub const RANDOM_WAIT: u8 = 5;
    /// Bursts: geometric number of packets of mean `source_burst`, `source_interval_grains` apart,
    /// then an exponential silence of mean `source_gap_grains`.
    pub const ON_OFF: u8 = 6;
    /// The terminal's descriptor list: destination, length, wait after the packet has gone.
    pub const LIST: u8 = 7;
    /// One every `source_interval_grains`, the first at tick 0, so that all such sources are in step.
    pub const TOGETHER: u8 = 8;
    /// In each slot of `source_gap_grains`, the first at tick 0, one with a probability that makes the mean interval
    /// `source_interval_grains`.
    pub const BERNOULLI: u8 = 9;
    /// `source_burst` packets at once at grain `source_first_grains` and every `source_gap_grains` from then on; 0: only
    /// there. `source_interval_grains` is their mean interval.
    pub const BURSTS: u8 = 10;
    /// The terminal's flows (`flow_*`); `source_interval_grains` is the mean interval of their packets.
    pub const FLOWS: u8 = 11;

    /// Whether packets are made at times of their own, however many wait.
    pub fn is_open(kind: u8) -> bool {
        matches!(kind, CONSTANT | POISSON | ON_OFF | TOGETHER | BERNOULLI | BURSTS | FLOWS)
    }
}

/// What a packet of a ring network asks its target for.
pub mod transaction {
    /// To store its payload and to answer.
    pub const WRITE: u8 = 0;
    /// To store its payload without an answer.
    pub const MOVE: u8 = 1;
    /// To answer with the payload.
    pub const READ: u8 = 2;
    /// To work on 16 B that come with it, and to answer with 16 B.
    pub const LOCK: u8 = 3;
}

/// How the delay grows after which a busied packet is sent again.
pub mod retry {
    /// Always `ring_retry_delay_ticks`.
    pub const CONSTANT: u8 = 0;
    /// That times the number of times it has been busied.
    pub const LINEAR: u8 = 1;
    /// Twice as long each time.
    pub const EXPONENTIAL: u8 = 2;
}

/// What a terminal's program does next.
pub mod operation {
    /// Sends a message of `op_bytes` to `op_peer`.
    pub const SEND: u8 = 0;
    /// Takes a message from `op_peer` that has been received.
    pub const RECEIVE: u8 = 1;
    /// Lets `op_ticks` pass.
    pub const WAIT: u8 = 2;
    /// Waits for the tick `op_ticks`.
    pub const UNTIL: u8 = 3;
    /// Does what follows, up to its end, `op_ticks` times; 0: for ever.
    pub const REPEAT: u8 = 4;
    /// The end of what is repeated.
    pub const END: u8 = 5;
    /// Waits until every terminal with a barrier left has come to one.
    pub const BARRIER: u8 = 6;
    /// Notes the tick, with `op_tag`.
    pub const MARK: u8 = 7;
    /// Fetches `op_bytes` from the memory of `op_peer`; on rings only.
    pub const READ: u8 = 8;
    /// Waits until every message handed over has been sent.
    pub const FLUSH: u8 = 9;
}

/// An entry of `op_peer` or `op_tag`: any, or none.
pub const ANY: u32 = u32::MAX;
/// The same as that of the message received last: its sender in `op_peer`, its tag in `op_tag`.
pub const LAST: u32 = u32::MAX - 1;
/// The other one of the message received last: its tag, as a terminal, in `op_peer`; its sender in `op_tag`.
pub const CROSS: u32 = u32::MAX - 2;

/// What tells the sender of a packet of a message that it has come.
pub mod acknowledge {
    /// Nothing.
    pub const NONE: u8 = 0;
    /// A packet of its own.
    pub const PACKET: u8 = 1;
    /// The end of the transaction; on rings only.
    pub const RESPONSE: u8 = 2;
}

/// No way: an entry of `port_exit` for terminals whose packets pass the port.
pub const PASS: u8 = u8::MAX;

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
    /// Any terminal with equal probability, itself among them.
    pub const ANY: u8 = 4;
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
