//! The host of a terminal: what its processes and its ports share.

use std::collections::VecDeque;
use std::ops::Range;

use super::bus::Bus;
use super::order::Order;
use super::process::{Doing, Process, processes};
use super::receive::Posted;
use crate::fabric::{Fabric, operation};
use crate::kernel::Time;
use crate::kernel::slab::Queue;

/// A terminal that runs a program.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub terminal: u32,
    /// First operation of the program.
    pub begin: u32,
    /// Its processes, one per stream.
    pub processes: Range<u32>,
    /// How many of them have not ended.
    pub unended: u32,
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
    /// What the operations wait for, if the program is a graph.
    pub order: Option<Box<Order>>,
    /// Whether its program ever receives.
    pub receives: bool,
    pub touched: bool,

    /// Messages that hold a slot.
    pub unsent: u32,
    /// Processes that wait for a slot, in order.
    pub slots: VecDeque<u32>,
    /// Receives that wait for their messages, in the order of posting.
    pub posted: Vec<Posted>,
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
    fn new(fabric: &Fabric, terminal: usize, processes: Range<u32>) -> Self {
        let (begin, end) = (fabric.program_start[terminal], fabric.program_start[terminal + 1]);
        let kinds = &fabric.op_kind[begin as usize..end as usize];
        Self {
            terminal: terminal as u32,
            begin,
            unended: processes.len() as u32,
            processes,
            asks: (begin as usize..end as usize)
                .any(|row| fabric.op_kind[row] == operation::RECEIVE && fabric.op_ticks[row] > 0),
            turn: 0,
            open: false,
            again: 0,
            answer_by: None,
            order: Order::new(fabric, begin as usize..end as usize),
            receives: kinds.contains(&operation::RECEIVE),
            touched: false,
            unsent: 0,
            slots: VecDeque::new(),
            posted: Vec::new(),
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

    /// Returns the terminal and the operations in which its processes wait, counted from the first of its program.
    /// `open`: an operation that its process has left behind, if any.
    pub fn waiting(&self, processes: &[Process], open: Option<u32>) -> Vec<(u32, u32)> {
        let of = &processes[self.processes.start as usize..self.processes.end as usize];
        let place = |at: u32| (self.terminal, at - self.begin);
        if of.iter().all(|one| one.doing == Doing::Join) {
            let receive = self.posted.first().map(|one| one.at);
            return vec![place(receive.or(open).unwrap_or(self.begin))];
        }
        of.iter().filter(|one| one.waits()).map(|one| place(one.at)).collect()
    }
}

/// Returns all processes, and the hosts that they belong to.
pub(super) fn hosts(fabric: &Fabric) -> (Vec<Process>, Vec<Host>) {
    let all = processes(fabric);
    let begin = |terminal: u32| all.partition_point(|one| one.terminal < terminal) as u32;
    let host = |at: u32| Host::new(fabric, at as usize, begin(at)..begin(at + 1));
    let hosts = (0..fabric.terminals).map(host).collect();
    (all, hosts)
}
