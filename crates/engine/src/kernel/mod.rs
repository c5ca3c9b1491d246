//! Time, the order of events, and random streams. This module knows nothing of packets.
//!
//! # Files
//!
//! | file | what it does | whose state it is |
//! |---|---|---|
//! | [`wheel`] | pending events of links and switches: near ticks have slots, later ones lists, the far future a heap | one per network of links; `go_to` and `pop` by `run::network` for `switched`, otherwise by the owner |
//! | [`calendar`] | pending events of rings: buckets of ticks, whose length adapts | one per network of rings; `schedule`, `pop` and `ahead` by `ring` |
//! | [`slab`] | items with numbers that are reused, and lists through them without allocation | its owner adds and removes |
//! | [`random`] | independent random numbers: a stream per source, program or group | `streams` gives each family its own; only the owner draws |
//!
//! # Invariants
//!
//! * Time does not go back: an event is scheduled at a later tick than the one taken last.
//! * The order of the events of a tick is undefined in a [`wheel`], whose users must not depend on it. A [`calendar`]
//!   returns them by number.
//! * Both return the same events as a heap does: the tests `same_as_a_heap`.
//! * A number of a slab is unique as long as its item is kept; after that another item may get it.
//! * No stream depends on how often another was drawn from, or on how many there are.

pub mod calendar;
pub mod random;
pub mod slab;
pub mod wheel;

/// No number, here and in the arrays of a fabric.
pub const NONE: u32 = u32::MAX;

/// A moment or a duration in whole ticks.
pub type Time = i64;

/// Returns the positions of the bits of a set, in ascending order.
#[inline(always)]
pub fn bits(set: u64) -> impl Iterator<Item = u32> {
    let mut rest = set;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let place = rest.trailing_zeros();
        rest &= rest - 1;
        Some(place)
    })
}
