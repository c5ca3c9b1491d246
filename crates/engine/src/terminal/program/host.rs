//! The host of a terminal: its process, and what its ports share.

use std::collections::VecDeque;

use super::bus::Bus;
use super::process::{Doing, Loop, barriers};
use crate::fabric::{Fabric, operation};
use crate::kernel::Time;
use crate::kernel::slab::Queue;

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
    /// Whether it asks and waits for answers; the number of what was asked last, whether the answer to that has not come, how
    /// often it was asked again, and when it is given up.
    pub asks: bool,
    pub turn: u32,
    pub open: bool,
    pub again: u32,
    pub answer_by: Option<Time>,
    /// Barriers that it has still to come to; `u64::MAX`: without end.
    pub barriers: u64,
    /// Whether its program ever receives.
    pub receives: bool,
    pub touched: bool,

    /// Messages that have a slot.
    pub unsent: u32,
    /// Messages handed over of which a port is not known yet, and the place of the port chosen last.
    pub leaving: VecDeque<u32>,
    pub chosen: usize,
    /// Packets for which a port was chosen, around.
    pub placed: u32,
    /// Whether a timer tells when more is known of links.
    pub learns: bool,
    /// Messages being checked.
    pub checks: VecDeque<u32>,
    pub bus: Bus,

    /// Messages that have been taken and not received whole.
    pub taking: u32,
    /// Messages that wait to be taken, and their packets that are not acknowledged for it, where these have numbers of their own.
    pub parked: VecDeque<u32>,
    pub held: VecDeque<u32>,
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
            asks: (begin as usize..end as usize)
                .any(|row| fabric.op_kind[row] == operation::RECEIVE && fabric.op_ticks[row] > 0),
            turn: 0,
            open: false,
            again: 0,
            answer_by: None,
            barriers: barriers(fabric, begin as usize..end as usize),
            receives: kinds.contains(&operation::RECEIVE),
            touched: false,
            unsent: 0,
            leaving: VecDeque::new(),
            chosen: fabric.ports_of(terminal as u32).len() - 1,
            placed: 0,
            learns: false,
            checks: VecDeque::new(),
            bus: Bus::default(),
            taking: 0,
            parked: VecDeque::new(),
            held: VecDeque::new(),
            incomplete: 0,
            inbox: Queue::EMPTY,
        }
    }

    /// The repeats that the present operation is within.
    pub fn loops(&self) -> &[Loop] {
        &self.loops[..usize::from(self.depth)]
    }
}
