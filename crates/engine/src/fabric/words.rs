//! What numbers stand for in the columns that hold kinds of things; Python reads them from [`CODES`].

use crate::kernel::Time;

macro_rules! codes {
    ($($(#[$about:meta])* $kind:ident { $($(#[$doc:meta])* $name:ident = $code:expr,)* })*) => {
        $(
            $(#[$about])*
            pub mod $kind {
                $($(#[$doc])* pub const $name: u8 = $code;)*

                /// The code named last, for checks of columns.
                #[allow(dead_code, reason = "not every kind is checked by it")]
                pub const LAST: u8 = [$($code),*][[$($code),*].len() - 1];
            }
        )*

        /// By the name of each kind the names of its codes.
        pub const CODES: &[(&str, &[(&str, u8)])] = &[
            $((stringify!($kind), &[$((stringify!($name), $kind::$name),)*]),)*
        ];
    };
}

codes! {
    /// How a switch orders the heads that wait for one group of links.
    arbiter {
        /// The longest waiting head first; equal times by input link number.
        FIFO = 0,
        /// Input links in cyclic order after the one served last.
        ROUND_ROBIN = 1,
        /// The lowest input link number first.
        FIXED = 2,
        /// Any waiting head with equal probability.
        RANDOM = 3,
        /// The packet first that its source made first; equal times by input link number.
        OLDEST_FIRST = 4,
    }

    /// How a head chooses among the free links of its group.
    choice {
        /// The first free link in the order of the group.
        FIRST = 0,
        /// The free link that was granted longest ago; equal times by order in the group.
        LEAST_RECENT = 1,
        /// Any free link with equal probability.
        RANDOM = 2,
    }

    /// In what portions the lanes of a link share its wire.
    sharing {
        /// Characters of several packets follow each other.
        CHARACTER = 0,
        /// A packet is sent from its first character to its end.
        PACKET = 1,
    }

    /// What stands instead of the number of an interrupt.
    signal {
        /// A source of time-codes.
        TIME = 255,
    }

    /// When a terminal makes its packets.
    arrival {
        /// Never.
        SILENT = 0,
        /// A packet is always waiting.
        BACKLOG = 1,
        /// One every `source_interval_grains`, the first at a random phase.
        CONSTANT = 2,
        /// Poisson, mean interval `source_interval_grains`.
        POISSON = 3,
        /// `source_interval_grains` after the previous packet has gone.
        WAIT = 4,
        /// Exponential wait of mean `source_interval_grains` after the previous packet has gone.
        RANDOM_WAIT = 5,
        /// Bursts: geometric number of packets of mean `source_burst`, `source_interval_grains` apart,
        /// then an exponential silence of mean `source_gap_grains`.
        ON_OFF = 6,
        /// The terminal's descriptor list: destination, length, wait after the packet has gone.
        LIST = 7,
        /// One every `source_interval_grains`, the first at tick 0, so that all such sources are in step.
        TOGETHER = 8,
        /// In each slot of `source_gap_grains`, the first at tick 0, one with a probability that makes the mean interval
        /// `source_interval_grains`.
        BERNOULLI = 9,
        /// `source_burst` packets at once at grain `source_first_grains` and every `source_gap_grains` from then on; 0: only
        /// there. `source_interval_grains` is their mean interval.
        BURSTS = 10,
        /// The terminal's flows (`flow_*`); `source_interval_grains` is the mean interval of their packets.
        FLOWS = 11,
    }

    /// What a packet of a ring network asks its target for.
    transaction {
        /// To store its payload and to answer.
        WRITE = 0,
        /// To store its payload without an answer.
        MOVE = 1,
        /// To answer with the payload.
        READ = 2,
        /// To work on 16 B that come with it, and to answer with 16 B.
        LOCK = 3,
    }

    /// How the delay grows after which a busied packet is sent again.
    retry {
        /// Always `ring_retry_delay_ticks`.
        CONSTANT = 0,
        /// That times the number of times it has been busied.
        LINEAR = 1,
        /// Twice as long each time.
        EXPONENTIAL = 2,
    }

    /// What a terminal's program does next.
    operation {
        /// Sends a message of `op_bytes` to `op_peer`.
        SEND = 0,
        /// Takes a message from `op_peer` that has been received.
        RECEIVE = 1,
        /// Lets `op_ticks` pass.
        WAIT = 2,
        /// Waits for the tick `op_ticks`.
        UNTIL = 3,
        /// Does what follows, up to its end, `op_ticks` times; 0: for ever.
        REPEAT = 4,
        /// The end of what is repeated.
        END = 5,
        /// Waits until every terminal with a barrier left has come to one.
        BARRIER = 6,
        /// Notes the tick, with `op_tag`.
        MARK = 7,
        /// Fetches `op_bytes` from the memory of `op_peer`; on rings only.
        READ = 8,
        /// Waits until every message handed over has been sent.
        FLUSH = 9,
    }

    /// What tells the sender of a packet of a message that it has come.
    acknowledge {
        /// Nothing.
        NONE = 0,
        /// A packet of its own.
        PACKET = 1,
        /// The end of the transaction; on rings only.
        RESPONSE = 2,
    }

    /// Where a terminal sends its packets.
    target {
        /// Any other terminal with equal probability.
        UNIFORM = 0,
        /// Always `target_fixed`.
        FIXED = 1,
        /// The weighted row of the terminal (`weight_*`).
        WEIGHTED = 2,
        /// `target_fixed` with probability `target_share`, otherwise any other terminal.
        HOT_SPOT = 3,
        /// Any terminal with equal probability, itself among them.
        ANY = 4,
    }

    /// Which of its ports a terminal sends a packet by, of those that are in a plane of its target.
    port_choice {
        /// The one after that of the packet before, in cyclic order.
        ROUND_ROBIN = 0,
        /// That of the target's number, counted around.
        DESTINATION = 1,
        /// The one with the fewest packets that wait there or are being sent; of several the next in cyclic order.
        SHORTEST_QUEUE = 2,
        /// None before one of them is free; of several the next in cyclic order.
        FIRST_FREE = 3,
        /// The first one; the others are in reserve.
        NOMINAL = 4,
    }

    /// How long a packet is.
    length {
        /// Always `length_min`.
        FIXED = 0,
        /// A whole number from `length_min` to `length_max`, each equally likely.
        UNIFORM = 1,
        /// The values of `length_values` with `length_cumulative`.
        TABLE = 2,
    }
}

/// Whether packets are made at times of their own, however many wait; of one of [`arrival`].
pub fn is_open(kind: u8) -> bool {
    use arrival::{BERNOULLI, BURSTS, CONSTANT, FLOWS, ON_OFF, POISSON, TOGETHER};
    matches!(kind, CONSTANT | POISSON | ON_OFF | TOGETHER | BERNOULLI | BURSTS | FLOWS)
}

/// The lower, the sooner a head is served: one from an input of a group that has served another input last, whose packet
/// its source has made at some moment. Heads that are served in the order in which they asked, or at random, have none.
pub fn rank(kind: u8, input: u32, served: u32, made: impl FnOnce() -> Time) -> (Time, u32) {
    match kind {
        arbiter::ROUND_ROBIN => (0, input.wrapping_sub(served.wrapping_add(1))),
        arbiter::OLDEST_FIRST => (made(), input),
        _ => (0, input),
    }
}

/// An entry of `op_peer` or `op_tag`: any, or none.
pub const ANY: u32 = u32::MAX;
/// The same as that of the message received last: its sender in `op_peer`, its tag in `op_tag`.
pub const LAST: u32 = u32::MAX - 1;
/// The other one of the message received last: its tag, as a terminal, in `op_peer`; its sender in `op_tag`.
pub const CROSS: u32 = u32::MAX - 2;
/// In `op_tag`: the number of the question that the terminal asked last.
pub const TURN: u32 = u32::MAX - 3;

/// No way: an entry of `port_exit` for terminals whose packets pass the port.
pub const PASS: u8 = u8::MAX;
