//! When waits of ports and terminals end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::kernel::Time;

/// An acknowledgement takes effect.
pub const RESUME: u32 = 0;
/// The check of a message.
pub const CHECK: u32 = 1;
/// An acknowledgement is ready.
pub const ACK: u32 = 2;
/// A transfer on the host's bus ends.
pub const BUS: u32 = 3;
/// The filling of a packet ends.
pub const FILL: u32 = 4;
/// The wait of the program ends.
pub const PROGRAM: u32 = 5;
/// The gap after the beginning of a packet ends.
pub const GAP: u32 = 6;

/// Timers of ports, or of terminals, which use their first port. Within a tick they end in the order of ports, and of
/// kinds at a port. A heap, because most end too late for a wheel to keep them in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    /// The tick, the port, and the kind, from the top.
    heap: BinaryHeap<Reverse<u128>>,
}

impl Timers {
    /// Adds a timer.
    #[inline]
    pub fn add(&mut self, time: Time, port: u32, kind: u32) {
        self.heap.push(Reverse(((time as u128) << 32) | u128::from(port << 3 | kind)));
    }

    /// Returns when the next one ends; `Time::MAX`: there is none.
    #[inline]
    pub fn next(&self) -> Time {
        self.heap.peek().map_or(Time::MAX, |timer| (timer.0 >> 32) as Time)
    }

    /// Takes the next one that has ended: its port and its kind.
    #[inline]
    pub fn take(&mut self, now: Time) -> Option<(u32, u32)> {
        if self.next() > now {
            return None;
        }
        let number = self.heap.pop()?.0 as u32;
        Some((number >> 3, number & 7))
    }
}
