//! The codes in columns that hold kinds; Python reads them from [`CODES`].

/// No entry: a class that a switch cannot reach, or a link without a reverse.
pub use crate::kernel::NONE;
use crate::kernel::Time;

macro_rules! codes {
    ($($(#[$about:meta])* $kind:ident { $($(#[$doc:meta])* $name:ident = $code:expr,)* })*) => {
        $(
            $(#[$about])*
            pub mod $kind {
                $($(#[$doc])* pub const $name: u8 = $code;)*

                /// The last code, for checks of columns.
                #[allow(dead_code, reason = "not every kind is checked by it")]
                pub const LAST: u8 = [$($code),*][[$($code),*].len() - 1];
            }
        )*

        /// Per kind: the names and values of its codes.
        pub const CODES: &[(&str, &[(&str, u8)])] = &[
            $((stringify!($kind), &[$((stringify!($name), $kind::$name),)*]),)*
        ];
    };
}

codes! {
    /// The order in which a switch serves the heads that wait for one group of links.
    arbiter {
        /// The longest waiting head first; equal times by input link number.
        FIFO = 0,
        /// Input links in cyclic order after the one served last.
        ROUND_ROBIN = 1,
        /// The lowest input link number first.
        FIXED = 2,
        /// Any waiting head with equal probability.
        RANDOM = 3,
        /// The packet that was created first; equal times by input link number.
        OLDEST_FIRST = 4,
    }

    /// The choice of a head among the free links of its group.
    choice {
        /// The first free link in the order of the group.
        FIRST = 0,
        /// The free link that was granted least recently; equal times by order in the group.
        LEAST_RECENT = 1,
        /// Any free link with equal probability.
        RANDOM = 2,
    }

    /// How the lanes of a link share its wire.
    sharing {
        /// Characters of several packets alternate.
        CHARACTER = 0,
        /// A packet is sent from its first character to its end.
        PACKET = 1,
        /// Some characters of a lane are sent together, whichever packets they are of.
        FRAME = 2,
    }

    /// What replaces the number of an interrupt.
    signal {
        /// A source of time-codes.
        TIME = 255,
    }

    /// When a terminal creates packets.
    arrival {
        /// Never.
        SILENT = 0,
        /// A packet is always waiting.
        BACKLOG = 1,
        /// One every `source_interval_grains`, the first at a random phase.
        CONSTANT = 2,
        /// Poisson, mean interval `source_interval_grains`.
        POISSON = 3,
        /// `source_interval_grains` after the previous packet has left.
        WAIT = 4,
        /// Exponential wait with mean `source_interval_grains` after the previous packet has left.
        RANDOM_WAIT = 5,
        /// Bursts: a geometric number of packets with mean `source_burst`, `source_interval_grains` apart, then an
        /// exponential gap with mean `source_gap_grains`.
        ON_OFF = 6,
        /// The terminal's descriptor list: destination, length, wait after the packet has left.
        LIST = 7,
        /// One every `source_interval_grains`, the first at tick 0; all such sources are synchronous.
        TOGETHER = 8,
        /// In each slot of `source_gap_grains`, the first at tick 0, a packet with the probability that gives the mean
        /// interval `source_interval_grains`.
        BERNOULLI = 9,
        /// `source_burst` packets from grain `source_first_grains` on, `source_spacing_grains` apart or at once, and again
        /// every `source_gap_grains`; 0: only once. `source_interval_grains` is their mean interval.
        BURSTS = 10,
        /// The terminal's flows (`flow_*`); `source_interval_grains` is the mean interval of their packets.
        FLOWS = 11,
        /// The terminal's descriptor list, once, each packet at its `list_at_grains`, whether or not those before have
        /// left. `source_interval_grains` is their mean interval.
        TIMED = 12,
    }

    /// What a packet of a ring network requests.
    transaction {
        /// Store its payload and answer.
        WRITE = 0,
        /// Store its payload without an answer.
        MOVE = 1,
        /// Answer with the payload.
        READ = 2,
        /// Process 16 B of the request, and answer with 16 B.
        LOCK = 3,
    }

    /// What happens to a packet at the station that takes it off its ring, if that has no place.
    when_full {
        /// It is taken off, and its sender sends it again.
        BUSY = 0,
        /// It passes, and comes back after a round.
        PASS = 1,
    }

    /// The stations of rings for which a rule holds.
    stations {
        /// None.
        NONE = 0,
        /// All.
        ALL = 1,
        /// The ports of switches.
        PORTS = 2,
        /// All but these.
        TERMINALS = 3,
        /// All, but at terminals for responses alone; only of what is sent in order.
        BUT_REQUESTS = 4,
    }

    /// How the delay before a busied packet is sent again grows.
    retry {
        /// Always `ring_retry_delay_ticks`.
        CONSTANT = 0,
        /// That delay times the number of busy echoes.
        LINEAR = 1,
        /// Twice as long each time.
        EXPONENTIAL = 2,
    }

    /// Which of a station's packets is first if some of them have been sent before.
    retry_order {
        /// The one that was ready first.
        READY = 0,
        /// One that has been sent before.
        FIRST = 1,
        /// One that has not.
        NEW_FIRST = 2,
    }

    /// What a fault of a link does; on rings only the first two.
    fault_kind {
        /// The link is down: everything on it is lost.
        LINK = 0,
        /// The link starts nothing, and nothing is lost; on rings, the station at its end serves nothing.
        STUCK = 1,
        /// The next character that starts before `fault_up_ticks` is wrong, and its packet is lost.
        LOSS = 2,
        /// The next character that starts before `fault_up_ticks` is wrong, and sent again.
        REPLAY = 3,
        /// The link starts nothing before `fault_up_ticks`, and from then on at another rate.
        RATE = 4,
    }

    /// An operation of a terminal's program.
    operation {
        /// Sends a message of `op_bytes` to `op_peer`.
        SEND = 0,
        /// Takes a received message from `op_peer`.
        RECEIVE = 1,
        /// Waits `op_ticks`.
        WAIT = 2,
        /// Waits for the tick `op_ticks`.
        UNTIL = 3,
        /// Repeats the operations up to its end `op_ticks` times; 0: for ever.
        REPEAT = 4,
        /// The end of a repeat.
        END = 5,
        /// Waits until every terminal with remaining barriers has reached one.
        BARRIER = 6,
        /// Records the tick, with `op_tag`.
        MARK = 7,
        /// Reads `op_bytes` from the memory of `op_peer`; on rings only.
        READ = 8,
        /// Waits until every message handed over has been sent.
        FLUSH = 9,
    }

    /// How the sender of a message's packet learns of its arrival.
    acknowledge {
        /// It does not.
        NONE = 0,
        /// By an acknowledgement packet.
        PACKET = 1,
        /// By the end of the transaction; on rings only.
        RESPONSE = 2,
    }

    /// The destinations of a terminal's packets.
    target {
        /// Any other terminal with equal probability.
        UNIFORM = 0,
        /// Always `target_fixed`.
        FIXED = 1,
        /// The weighted row of the terminal (`weight_*`).
        WEIGHTED = 2,
        /// `target_fixed` with probability `target_share`, otherwise any other terminal.
        HOT_SPOT = 3,
        /// Any terminal with equal probability, including itself.
        ANY = 4,
    }

    /// The choice of a port for a packet, among those in a plane of its target.
    port_choice {
        /// The one after that of the previous packet, cyclically.
        ROUND_ROBIN = 0,
        /// The one of the target's number, modulo the number of ports.
        DESTINATION = 1,
        /// The one with the fewest packets waiting or being sent; of equal ones the next, cyclically.
        SHORTEST_QUEUE = 2,
        /// None before one of them is free; of several the next, cyclically.
        FIRST_FREE = 3,
        /// The first one; the others are in reserve.
        NOMINAL = 4,
        /// On rings without switches, the one with the fewest links to its target; of equal ones the next, cyclically.
        NEAREST = 5,
    }

    /// The length of packets.
    length {
        /// Always `length_min`.
        FIXED = 0,
        /// A whole number from `length_min` to `length_max`, each equally likely.
        UNIFORM = 1,
        /// The values of `length_values` with `length_cumulative`.
        TABLE = 2,
    }
}

/// Lanes that a link can have.
pub const MOST_LANES: u32 = 16;

/// Whether packets are created independently of the number that wait; for one of [`arrival`].
pub fn is_open(kind: u8) -> bool {
    use arrival::{BERNOULLI, BURSTS, CONSTANT, FLOWS, ON_OFF, POISSON, TIMED, TOGETHER};
    matches!(kind, CONSTANT | POISSON | ON_OFF | TOGETHER | BERNOULLI | BURSTS | FLOWS | TIMED)
}

/// Returns the rank of a head; the lowest is served first. The arguments are its input, the input that its group served
/// last, and when its packet was created. Heads served in order of request, or at random, have no rank.
pub fn rank(kind: u8, input: u32, served: u32, made: impl FnOnce() -> Time) -> (Time, u32) {
    match kind {
        arbiter::ROUND_ROBIN => (0, input.wrapping_sub(served.wrapping_add(1))),
        arbiter::OLDEST_FIRST => (made(), input),
        _ => (0, input),
    }
}

/// Returns which of some lanes of a link, as bits, is next after the one that was last; if the order is fixed, the first.
#[inline(always)]
pub fn in_turn(able: u32, last: u32, fixed: bool) -> u32 {
    let later = if fixed || last >= u32::BITS { 0 } else { able & (!1 << last) };
    if later != 0 { later.trailing_zeros() } else { able.trailing_zeros() }
}

/// The entry of a column at the switch that its classes lead to: each class has its own, `class_exit`.
pub const OWN: u32 = NONE - 3;
/// In `op_peer` or `op_tag`: any, or none.
pub const ANY: u32 = u32::MAX;
/// The same field of the message received last: its sender in `op_peer`, its tag in `op_tag`.
pub const LAST: u32 = u32::MAX - 1;
/// The other field of the message received last: its tag, as a terminal, in `op_peer`; its sender in `op_tag`.
pub const CROSS: u32 = u32::MAX - 2;
/// In `op_tag`: the number of the terminal's latest request.
pub const TURN: u32 = u32::MAX - 3;
/// In `op_tag`: tags above those of users. Only a receive that names one takes its messages: they may overtake others.
pub const LAYER_TAGS: std::ops::Range<u32> = (1 << 31) + 1..TURN;

/// In `port_exit`: packets for this terminal pass the port.
pub const PASS: u8 = u8::MAX;
