//! A network interface: what stands between a terminal's host and the link of one of its ports.

use std::collections::VecDeque;

use super::NO;
use crate::kernel::Time;
use crate::kernel::slab::Queue;

/// Packets of one number, one behind the other, that are ready for the link.
#[derive(Clone, Copy, Debug)]
struct Ready {
    number: u32,
    count: u32,
}

/// The interface of a port.
#[derive(Clone, Debug)]
pub(super) struct Interface {
    pub terminal: u32,
    /// Whether the link takes a packet.
    pub open: bool,
    /// Messages handed over to it and not sent; where each packet has its own port packets given to it and not acknowledged.
    pub unsent: u32,
    /// Packets given to it that its link has not taken, where each has its own port.
    pub waits: u32,
    /// Channels that have a place.
    pub placed: u32,
    /// Packets begun and not acknowledged.
    pub on_way: u32,
    /// Number of the packet being filled and its bytes.
    pub filling: u32,
    pub filling_bytes: u32,
    /// From when on a packet may be begun, and whether a timer tells when that is.
    pub begins: Time,
    pub gap_timed: bool,
    /// From when on a packet may be taken in to be acknowledged.
    pub takes_in: Time,
    /// Since when a packet waits only for a place among those of the port.
    pub kept_back: Option<Time>,
    /// Channels that may begin a packet.
    pub able: Queue,
    /// Channels that wait for a place.
    pub waiting: Queue,
    ready: VecDeque<Ready>,
    /// Numbers of packets whose acknowledgement is ready.
    pub acks: VecDeque<u32>,
    /// The same, not ready yet.
    pub acks_soon: VecDeque<u32>,
    /// Messages of which an acknowledgement has come and has not had its effect, and the channels of that.
    pub resumes: VecDeque<(u32, u32)>,
}

impl Interface {
    pub fn new(terminal: u32) -> Self {
        Self {
            terminal,
            open: false,
            unsent: 0,
            waits: 0,
            placed: 0,
            on_way: 0,
            filling: NO,
            filling_bytes: 0,
            begins: 0,
            gap_timed: false,
            takes_in: 0,
            kept_back: None,
            able: Queue::EMPTY,
            waiting: Queue::EMPTY,
            ready: VecDeque::new(),
            acks: VecDeque::new(),
            acks_soon: VecDeque::new(),
            resumes: VecDeque::new(),
        }
    }

    /// Puts a packet, by the number by which it goes, behind what is ready for the link.
    #[inline]
    pub fn make_ready(&mut self, number: u32) {
        match self.ready.back_mut() {
            Some(last) if last.number == number => last.count += 1,
            _ => self.ready.push_back(Ready { number, count: 1 }),
        }
    }

    /// Takes the first packet that is ready.
    #[inline]
    pub fn take_ready(&mut self) -> Option<u32> {
        let first = self.ready.front_mut()?;
        let number = first.number;
        first.count -= 1;
        if first.count == 0 {
            self.ready.pop_front();
        }
        Some(number)
    }
}
