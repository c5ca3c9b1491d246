//! A network interface, between a terminal's host and the link of one of its ports.

use std::collections::VecDeque;

use super::NO;
use crate::kernel::Time;
use crate::kernel::slab::Queue;
use crate::terminal::bucket::Bucket;

/// Packets of one number, one after the other, that are ready for the link.
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
    /// Messages handed over and not sent; if each packet chooses a port, packets handed over and not acknowledged.
    pub unsent: u32,
    /// Packets that its link has not taken yet, if each chooses a port.
    pub waits: u32,
    /// Channels that have a place.
    pub placed: u32,
    /// Packets begun and not acknowledged.
    pub on_way: u32,
    /// Number of the packet being filled.
    pub filling: u32,
    /// Its bytes.
    pub filling_bytes: u32,
    /// The gaps between the beginnings of packets.
    pub pace: Bucket,
    /// Whether a timer is set for it.
    pub gap_timed: bool,
    /// When the next packet may be taken in for acknowledgement.
    pub takes_in: Time,
    /// Since when a packet waits only for one of the port's packet places.
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
    /// Messages with an acknowledgement that has arrived and not taken effect, and their channels.
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
            pace: Bucket::default(),
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

    /// Whether its processor is free and a channel may begin a packet.
    #[inline]
    pub fn may_fill(&self) -> bool {
        self.filling == NO && !self.able.is_empty()
    }

    /// Queues a packet that is ready for the link, by its number.
    #[inline]
    pub fn make_ready(&mut self, number: u32) {
        match self.ready.back_mut() {
            Some(last) if last.number == number => last.count += 1,
            _ => self.ready.push_back(Ready { number, count: 1 }),
        }
    }

    /// Whether anything is ready for the link.
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty() || !self.acks.is_empty()
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
