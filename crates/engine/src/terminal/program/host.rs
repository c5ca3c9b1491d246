//! The state of a terminal, and its host's bus, shared by outgoing and incoming packets: one transfer at a time, in
//! order of request.

use std::collections::VecDeque;
use std::ops::Range;

use super::order::Order;
use super::process::{Doing, Process, processes};
use super::receive::Posted;
use super::{Programs, timer};
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
    /// Whether it ever waits until all its messages are sent.
    pub flushes: bool,
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
    /// The next change of the known state of links, if messages wait for one.
    pub learns: Option<Time>,
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
            flushes: kinds.contains(&operation::FLUSH),
            touched: false,
            unsent: 0,
            slots: VecDeque::new(),
            posted: Vec::new(),
            leaving: vec![VecDeque::new(); fabric.traffic_classes()],
            chosen: vec![usize::MAX; fabric.traffic_classes()],
            placed: 0,
            learns: None,
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

/// A packet that uses the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    /// A packet to the link, by its own number or that of its message.
    Out { number: u32 },
    /// The same, while the processor fills it.
    Store { number: u32 },
    /// A packet from the link.
    In { number: u32 },
    /// A packet that arrived at a port on a ring, by the number that it has there.
    Held { port: u32, held: u32 },
}

/// A host's bus.
#[derive(Clone, Debug, Default)]
pub(super) struct Bus {
    /// The current transfer, then the waiting ones, with their ticks.
    queue: VecDeque<(Transfer, Time)>,
}

impl Programs {
    /// Queues a packet for the bus of a terminal.
    #[inline(always)]
    pub(super) fn use_bus(&mut self, terminal: u32, transfer: Transfer, ticks: Time) {
        if ticks == 0 && self.hosts[terminal as usize].bus.queue.is_empty() {
            return self.transferred(terminal, transfer);
        }
        self.wait_for_bus(terminal, transfer, ticks);
    }

    fn wait_for_bus(&mut self, terminal: u32, transfer: Transfer, ticks: Time) {
        let bus = &mut self.hosts[terminal as usize].bus;
        bus.queue.push_back((transfer, ticks));
        if bus.queue.len() == 1 {
            self.start_transfers(terminal);
        }
    }

    /// Starts the first transfer; transfers that take no time end immediately.
    fn start_transfers(&mut self, terminal: u32) {
        while let Some(&(transfer, ticks)) = self.hosts[terminal as usize].bus.queue.front() {
            if ticks > 0 {
                return self.schedule(terminal, timer::BUS, ticks);
            }
            self.hosts[terminal as usize].bus.queue.pop_front();
            self.transferred(terminal, transfer);
        }
    }

    /// Ends the current transfer.
    pub(super) fn bus_over(&mut self, terminal: u32) {
        if let Some((transfer, _)) = self.hosts[terminal as usize].bus.queue.pop_front() {
            self.transferred(terminal, transfer);
        }
        self.start_transfers(terminal);
    }

    #[inline]
    fn transferred(&mut self, terminal: u32, transfer: Transfer) {
        match transfer {
            Transfer::Out { number } => {
                self.interface(self.channel_of(number)).make_ready(number);
                self.touch_ports(terminal);
            }
            Transfer::Store { number } => self.stored(terminal, number),
            Transfer::In { number } => self.arrived(terminal, number),
            Transfer::Held { port, held } => self.off_bus.push((port, held)),
        }
    }
}
