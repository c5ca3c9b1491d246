//! A terminal: its process, and what stands between it and its link.

use std::collections::VecDeque;

use super::NO;
use super::bus::Bus;
use super::process::{Doing, Loop, barriers};
use crate::fabric::{Fabric, operation};
use crate::kernel::Time;
use crate::kernel::slab::Queue;

/// Packets of a message, one behind the other, that are ready for the link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    pub message: u32,
    pub count: u32,
}

/// How deep repeats can be within each other.
pub(super) const DEPTH: usize = 4;

/// A terminal that runs a program.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub terminal: u32,
    /// First operation, the present one, and behind the last one.
    pub begin: u32,
    pub at: u32,
    pub end: u32,
    pub doing: Doing,
    pub loops: [Loop; DEPTH],
    pub depth: u8,
    /// Sender and tag of the message received last.
    pub last: Option<(u32, u32)>,
    /// Barriers that it has still to come to; `u64::MAX`: without end.
    pub barriers: u64,
    /// Whether its program ever receives.
    pub receives: bool,
    pub touched: bool,

    /// Whether the link takes a packet.
    pub open: bool,
    /// Messages that have a slot.
    pub unsent: u32,
    /// Channels that have a place.
    pub placed: u32,
    /// Packets begun and not acknowledged.
    pub on_way: u32,
    /// Message of the packet being filled and the packet's bytes.
    pub filling: u32,
    pub filling_bytes: u32,
    /// From when on a packet may be begun, and whether a timer tells when that is.
    pub begins: Time,
    pub gap_timed: bool,
    /// From when on a packet may be taken in to be acknowledged.
    pub takes_in: Time,
    /// Since when a packet waits only for a place among those of the terminal.
    pub kept_back: Option<Time>,
    /// Channels that may begin a packet.
    pub able: Queue,
    /// Channels that wait for a place.
    pub waiting: Queue,
    pub ready: VecDeque<Ready>,
    /// Messages of which a packet's acknowledgement is ready.
    pub acks: VecDeque<u32>,
    /// The same, not ready yet.
    pub acks_soon: VecDeque<u32>,
    /// Messages of which an acknowledgement has come and has not had its effect.
    pub resumes: VecDeque<u32>,
    /// Messages being checked.
    pub checks: VecDeque<u32>,
    pub bus: Bus,

    /// Messages that have been taken and not received whole.
    pub taking: u32,
    /// Messages that wait to be taken.
    pub parked: VecDeque<u32>,
    /// Messages of which something has come, but not all.
    pub incomplete: u32,
    /// Messages received that the program has not taken.
    pub inbox: Queue,
}

impl Host {
    pub fn new(fabric: &Fabric, terminal: usize) -> Self {
        let (begin, end) = (fabric.program_start[terminal], fabric.program_start[terminal + 1]);
        let kinds = &fabric.op_kind[begin as usize..end as usize];
        Self {
            terminal: terminal as u32,
            begin,
            at: begin,
            end,
            doing: Doing::Running,
            loops: [Loop::default(); DEPTH],
            depth: 0,
            last: None,
            barriers: barriers(fabric, begin as usize..end as usize),
            receives: kinds.contains(&operation::RECEIVE),
            touched: false,
            open: false,
            unsent: 0,
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
            checks: VecDeque::new(),
            bus: Bus::default(),
            taking: 0,
            parked: VecDeque::new(),
            incomplete: 0,
            inbox: Queue::EMPTY,
        }
    }

    /// The repeats that the present operation is within.
    pub fn loops(&self) -> &[Loop] {
        &self.loops[..usize::from(self.depth)]
    }

    /// Puts a packet of a message behind what is ready for the link.
    #[inline]
    pub fn make_ready(&mut self, message: u32) {
        match self.ready.back_mut() {
            Some(last) if last.message == message => last.count += 1,
            _ => self.ready.push_back(Ready { message, count: 1 }),
        }
    }

    /// Takes the message of the first packet that is ready.
    #[inline]
    pub fn take_ready(&mut self) -> Option<u32> {
        let first = self.ready.front_mut()?;
        let message = first.message;
        first.count -= 1;
        if first.count == 0 {
            self.ready.pop_front();
        }
        Some(message)
    }
}
