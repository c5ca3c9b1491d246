//! Programs that are graphs: operations wait for others of their terminal, not for the one before.
//!
//! Each process does one operation after the other, in the order in which they became ready. A receive is posted when
//! all that it waits for is done, and is ready when its message is there.

use std::collections::VecDeque;
use std::ops::Range;

use super::Programs;
use super::process::Doing;
use super::receive::Wanted;
use crate::fabric::{Fabric, operation};

/// What the operations of a program wait for. Operations are counted from the first of the program.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// Per operation: how many others it still waits for.
    left: Vec<u32>,
    /// Per operation and one more: start of its followers.
    start: Vec<u32>,
    /// Followers, times 2; plus 1 if they wait for the beginning only.
    follower: Vec<u32>,
    /// Whether any wait for a beginning.
    at_start: bool,
    unfinished: usize,
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
        // Where the followers of each end, counted before they are put there from the last one on.
        let mut start = vec![0_u32; program.len() + 1];
        program.clone().flat_map(needs).for_each(|&need| start[(need >> 1) as usize] += 1);
        let mut end = 0;
        for count in &mut start {
            end += *count;
            *count = end;
        }
        let mut follower = vec![0; end as usize];
        for (place, at) in program.clone().enumerate().rev() {
            for &need in needs(at).iter().rev() {
                let of = &mut start[(need >> 1) as usize];
                *of -= 1;
                follower[*of as usize] = (place as u32) << 1 | need & 1;
            }
        }
        let left = program.clone().map(|at| needs(at).len() as u32).collect();
        let at_start = follower.iter().any(|&one| one & 1 == 1);
        Some(Box::new(Self { left, start, follower, at_start, unfinished: program.len() }))
    }
}

impl Programs {
    /// Makes the operations of a graph ready that wait for nothing.
    pub(super) fn begin_graph(&mut self, terminal: u32) {
        if let Some(order) = &self.hosts[terminal as usize].order {
            let free = (0..order.left.len() as u32).filter(|&at| order.left[at as usize] == 0);
            self.free.extend(free);
            self.make_ready(terminal);
        }
    }

    /// Runs a process of a program that is a graph as far as possible.
    pub(super) fn run_in_order(&mut self, process: u32) {
        while self.now <= self.last {
            let one = &self.processes[process as usize];
            if one.doing != Doing::Running {
                return;
            }
            let (terminal, at, current) = (one.terminal, one.at, one.current);
            if current != Some(at) {
                if let Some(ended) = current {
                    self.processes[process as usize].current = None;
                    self.release(terminal, ended, 0);
                }
                if !self.take_ready(process, terminal) {
                    continue;
                }
            }
            let at = self.processes[process as usize].at;
            let row = self.operations[at as usize];
            self.processes[process as usize].at += u32::from(self.begin(process, &row));
        }
    }

    /// Takes the next operation that is ready; returns whether there is one that begins now.
    #[inline(always)]
    fn take_ready(&mut self, process: u32, terminal: u32) -> bool {
        let one = &mut self.processes[process as usize];
        let Some((at, taken)) = one.ready.pop_front() else {
            one.doing = Doing::Join;
            self.end_graph(terminal);
            return false;
        };
        (one.current, one.at) = (Some(at), at);
        if let Some((source, tag, bytes)) = taken {
            // A receive took its message when it became ready.
            (one.last, one.at) = (Some((source, tag)), at + 1);
            self.wait(process, self.settings.receive(bytes));
        } else {
            self.release(terminal, at, 1);
        }
        taken.is_none()
    }

    /// Ends the processes of a graph all of whose operations have ended.
    fn end_graph(&mut self, terminal: u32) {
        if self.hosts[terminal as usize].order.as_ref().is_some_and(|order| order.unfinished == 0) {
            self.processes_of(terminal).for_each(|one| self.end_process(one));
        }
    }

    /// Ends an operation that its process has left behind: the send of an announced message.
    pub(super) fn end_operation(&mut self, terminal: u32, at: u32) {
        self.release(terminal, at, 0);
        self.end_graph(terminal);
    }

    /// Makes the operations ready that wait for nothing more once one has begun (`part` 1) or ended (0).
    #[inline(always)]
    fn release(&mut self, terminal: u32, at: u32, part: u32) {
        let host = &mut self.hosts[terminal as usize];
        let Some(order) = &mut host.order else { return };
        if part == 1 && !order.at_start {
            return;
        }
        order.unfinished -= usize::from(part == 0);
        order.release(at - host.begin, part, &mut self.free);
        if !self.free.is_empty() {
            self.make_ready(terminal);
        }
    }

    /// Makes the free operations ready, or posts them, and those that wait for the posting.
    fn make_ready(&mut self, terminal: u32) {
        let (begin, first) = {
            let host = &self.hosts[terminal as usize];
            (host.begin, host.processes.start)
        };
        while let Some(place) = self.free.pop_front() {
            let at = begin + place;
            let row = self.operations[at as usize];
            let process = first + u32::from(row.stream);
            if row.kind != operation::RECEIVE {
                self.give(process, at, None);
                continue;
            }
            if let Some(order) = &mut self.hosts[terminal as usize].order
                && order.at_start
            {
                order.release(place, 1, &mut self.free);
            }
            if let Some(taken) =
                self.take_or_post(terminal, process, at, Wanted { source: row.peer, tag: row.tag })
            {
                self.give(process, at, Some(taken));
            }
        }
    }
}

impl Order {
    /// Adds the operations that wait for nothing more once one has begun (`part` 1) or ended (0).
    fn release(&mut self, at: u32, part: u32, free: &mut VecDeque<u32>) {
        let range = self.start[at as usize] as usize..self.start[at as usize + 1] as usize;
        for &one in &self.follower[range] {
            if one & 1 == part {
                let left = &mut self.left[(one >> 1) as usize];
                *left -= 1;
                if *left == 0 {
                    free.push_back(one >> 1);
                }
            }
        }
    }
}
