//! The host of a terminal: its process, and the state that its ports share.

use std::collections::VecDeque;

use super::bus::Bus;
use super::order::Order;
use super::process::{Doing, Loop, barriers};
use crate::fabric::{Fabric, operation};
use crate::kernel::Time;
use crate::kernel::slab::Queue;

/// Maximum nesting of repeats.
pub(super) const DEPTH: usize = 4;

/// A terminal that runs a program.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub terminal: u32,
    /// First operation of the program.
    pub begin: u32,
    /// Current operation.
    pub at: u32,
    /// The operation after the last one.
    pub end: u32,
    pub doing: Doing,
    pub loops: [Loop; DEPTH],
    pub depth: u8,
    /// Sender and tag of the message received last.
    pub last: Option<(u32, u32)>,
    /// Whether it sends requests and waits for answers.
    pub asks: bool,
    /// The number of the latest request.
    pub turn: u32,
    /// Whether that is unanswered.
    pub open: bool,
    /// How often it was repeated.
    pub again: u32,
    /// When the wait for its answer ends.
    pub answer_by: Option<Time>,
    /// Number of barriers that it still has to reach; `u64::MAX`: endless.
    pub barriers: u64,
    /// What the operations wait for, if the program is a graph.
    pub order: Option<Box<Order>>,
    /// Whether its program ever receives.
    pub receives: bool,
    pub touched: bool,

    /// Messages that hold a slot.
    pub unsent: u32,
    /// Per traffic class: messages handed over whose port is not known yet.
    pub leaving: Vec<VecDeque<u32>>,
    /// Per traffic class: the index of the port chosen last.
    pub chosen: Vec<usize>,
    /// Number of packets for which a port was chosen, modulo 2^32.
    pub placed: u32,
    /// Whether a timer is set for a change of the known state of links.
    pub learns: bool,
    /// Messages in the check.
    pub checks: VecDeque<u32>,
    pub bus: Bus,

    /// Messages that it is taking and has not received completely.
    pub taking: u32,
    /// Messages that wait to be taken.
    pub parked: VecDeque<u32>,
    /// Their packets that are not acknowledged for this reason, if packets have numbers.
    pub held: VecDeque<u32>,
    /// Messages that have arrived in part.
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
            order: Order::new(fabric, begin as usize..end as usize),
            receives: kinds.contains(&operation::RECEIVE),
            touched: false,
            unsent: 0,
            leaving: vec![VecDeque::new(); fabric.traffic_classes()],
            chosen: vec![usize::MAX; fabric.traffic_classes()],
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

    /// Returns the repeats that contain the current operation.
    pub fn loops(&self) -> &[Loop] {
        &self.loops[..usize::from(self.depth)]
    }
}
