//! Programs that are graphs: operations wait for others of their terminal, not for the one before.
//!
//! The process does one operation after the other, in the order in which they became ready. A receive is posted when
//! all that it waits for is done, and is ready when its message is there; messages go to receives in the order of
//! posting.

use std::collections::VecDeque;
use std::ops::Range;

use super::Programs;
use super::process::Doing;
use super::receive::Wanted;
use crate::fabric::{Fabric, operation};

/// The sender, tag and bytes of a message received.
type Taken = (u32, u32, u32);

/// What the operations of a program wait for. Operations are counted from the first of the program.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// Per operation: how many others it still waits for.
    left: Vec<u32>,
    /// Per operation and one more: start of its followers.
    start: Vec<u32>,
    /// Followers, times 2; plus 1 if they wait for the beginning only.
    follower: Vec<u32>,
    /// Operations that can begin, and the messages of receives.
    ready: VecDeque<(u32, Option<Taken>)>,
    /// Receives without their messages, in the order of posting.
    posted: Vec<u32>,
    current: Option<u32>,
    unfinished: usize,
    begun: bool,
}

impl Order {
    /// Returns the graph of a program, or nothing if programs are lists.
    pub fn new(fabric: &Fabric, program: Range<usize>) -> Option<Box<Self>> {
        if fabric.op_needs_start.is_empty() {
            return None;
        }
        let needs = |at: usize| {
            let (from, to) = (fabric.op_needs_start[at] as usize, fabric.op_needs_start[at + 1] as usize);
            &fabric.op_needs[from..to]
        };
        let mut follower: Vec<(u32, u32)> = Vec::new();
        for (place, at) in program.clone().enumerate() {
            follower.extend(needs(at).iter().map(|&need| (need >> 1, (place as u32) << 1 | need & 1)));
        }
        follower.sort_unstable();
        let count = |place: usize| follower.partition_point(|&(of, _)| (of as usize) < place) as u32;
        Some(Box::new(Self {
            left: program.clone().map(|at| needs(at).len() as u32).collect(),
            start: (0..=program.len()).map(count).collect(),
            follower: follower.iter().map(|&(_, one)| one).collect(),
            ready: VecDeque::new(),
            posted: Vec::new(),
            current: None,
            unfinished: program.len(),
            begun: false,
        }))
    }
}

impl Programs {
    /// Runs a program that is a graph as far as possible.
    pub(super) fn run_in_order(&mut self, terminal: u32, order: &mut Order) {
        let first = self.hosts[terminal as usize].begin;
        if !order.begun {
            order.begun = true;
            let free = (0..order.left.len() as u32).filter(|&at| order.left[at as usize] == 0).collect();
            self.make_ready(terminal, order, free);
        }
        while self.hosts[terminal as usize].doing == Doing::Running && self.now <= self.last {
            if let Some(at) = order.current
                && self.hosts[terminal as usize].at != first + at
            {
                (order.current, order.unfinished) = (None, order.unfinished - 1);
                let free = order.release(at, 0);
                self.make_ready(terminal, order, free);
            }
            if order.current.is_none() && !self.next_ready(terminal, order) {
                return;
            }
            let at = self.hosts[terminal as usize].at;
            // A receive took its message when it became ready.
            if order.current.is_some_and(|current| at == first + current) {
                let row = self.operations[at as usize];
                self.hosts[terminal as usize].at += u32::from(self.begin(terminal, &row));
            }
        }
    }

    /// Takes the next operation that is ready; returns whether there is one.
    fn next_ready(&mut self, terminal: u32, order: &mut Order) -> bool {
        if order.unfinished == 0 {
            self.end_program(terminal);
            return false;
        }
        let next = order.ready.pop_front();
        let host = &mut self.hosts[terminal as usize];
        let Some((at, taken)) = next else {
            host.at = host.begin + order.posted.first().copied().unwrap_or(0);
            host.doing = Doing::Join;
            return false;
        };
        order.current = Some(at);
        host.at = host.begin + at;
        if let Some((source, tag, bytes)) = taken {
            host.last = Some((source, tag));
            host.at += 1;
            self.wait(terminal, self.settings.receive(bytes));
        } else {
            let free = order.release(at, 1);
            self.make_ready(terminal, order, free);
        }
        true
    }

    /// Makes operations ready, or posts them, and those that wait for the posting.
    fn make_ready(&mut self, terminal: u32, order: &mut Order, free: Vec<u32>) {
        let mut free = VecDeque::from(free);
        while let Some(at) = free.pop_front() {
            let row = self.operations[(self.hosts[terminal as usize].begin + at) as usize];
            if row.kind != operation::RECEIVE {
                order.ready.push_back((at, None));
                continue;
            }
            free.extend(order.release(at, 1));
            match self.take_note(terminal, Wanted { source: row.peer, tag: row.tag }) {
                Some(taken) => order.ready.push_back((at, Some(taken))),
                None => order.posted.push(at),
            }
        }
    }

    /// Gives a message to the receive posted first that it fits; returns whether there is one.
    pub(super) fn give_to_posted(&mut self, terminal: u32, message: Taken) -> bool {
        let host = &mut self.hosts[terminal as usize];
        let Some(order) = &mut host.order else { return false };
        let fits = |&at: &u32| {
            let row = &self.operations[(host.begin + at) as usize];
            Wanted { source: row.peer, tag: row.tag }.fits(message.0, message.1)
        };
        let Some(place) = order.posted.iter().position(fits) else { return false };
        let at = order.posted.remove(place);
        order.ready.push_back((at, Some(message)));
        if host.doing == Doing::Join {
            self.wake(terminal);
        }
        true
    }

    /// Ends the program of a terminal.
    pub(super) fn end_program(&mut self, terminal: u32) {
        self.hosts[terminal as usize].doing = Doing::Ended;
        self.account.terminals[terminal as usize].ended = Some(self.now);
        self.drop_notes(terminal);
    }
}

impl Order {
    /// Returns the operations that wait for nothing more once one has begun (`part` 1) or ended (0).
    fn release(&mut self, at: u32, part: u32) -> Vec<u32> {
        let range = self.start[at as usize] as usize..self.start[at as usize + 1] as usize;
        let mut free = Vec::new();
        for &one in &self.follower[range] {
            if one & 1 == part {
                self.left[(one >> 1) as usize] -= 1;
                free.extend((self.left[(one >> 1) as usize] == 0).then_some(one >> 1));
            }
        }
        free
    }
}
