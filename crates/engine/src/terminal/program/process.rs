//! The processes of terminals, operation by operation.

use std::collections::VecDeque;
use std::ops::Range;

use super::host::Host;
use super::receive::{Taken, Wanted};
use super::{Mark, NO, Programs, timer};
use crate::fabric::{ANY, CROSS, Fabric, LAST, TURN, operation};
use crate::kernel::Time;

/// Maximum nesting of repeats.
const DEPTH: usize = 4;

/// The state of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// The current operation has not begun, or can begin now.
    Running,
    /// Waits for a message slot.
    Slot,
    /// Spends the host's time to send a message, and then hands it over.
    Sending { message: u32 },
    /// Fills the packets of a message itself.
    Storing { message: u32 },
    /// Waits for a message.
    Receive,
    /// Waits for a time; then the next operation is due.
    Timer,
    /// Waits until all its messages are sent.
    Flush,
    /// Waits at a barrier.
    Barrier,
    /// Waits for the bytes of a message that it reads.
    Read { message: u32 },
    /// Waits for a message of one of the receives that it has posted.
    Join,
    /// Has ended.
    Ended,
}

/// A row of the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub kind: u8,
    pub peer: u32,
    pub bytes: u32,
    pub tag: u32,
    pub stream: u8,
    ticks: u64,
}

/// A repeat in progress.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Loop {
    /// Its first operation.
    start: u32,
    /// Remaining rounds, including this one; 0: endless.
    pub left: u64,
}

/// A stream of a terminal: it does one operation at a time.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub terminal: u32,
    /// Current operation.
    pub at: u32,
    /// In a list: the operation after the last one.
    end: u32,
    pub doing: Doing,
    /// When its timer ends.
    until: Time,
    loops: [Loop; DEPTH],
    depth: u8,
    /// Sender and tag of the message received last.
    pub last: Option<(u32, u32)>,
    /// Number of barriers that it still has to reach; `u64::MAX`: endless.
    barriers: u64,
    /// Operations that can begin, with the messages of receives; in a list, the receive at which it waited.
    pub ready: VecDeque<(u32, Option<Taken>)>,
    /// In a graph: the operation that has begun.
    pub current: Option<u32>,
}

impl Process {
    fn new(f: &Fabric, terminal: usize, program: Range<usize>) -> Self {
        Self {
            terminal: terminal as u32,
            at: program.start as u32,
            end: program.end as u32,
            doing: Doing::Running,
            until: 0,
            loops: [Loop::default(); DEPTH],
            depth: 0,
            last: None,
            barriers: barriers(f, program),
            ready: VecDeque::new(),
            current: None,
        }
    }

    /// Whether it waits in an operation; one in an endless receive does not count.
    pub fn waits(&self) -> bool {
        let endless = self.loops[..usize::from(self.depth)].iter().any(|one| one.left == 0);
        let serves = self.doing == Doing::Receive && endless;
        !(serves || matches!(self.doing, Doing::Ended | Doing::Join))
    }
}

/// Returns the processes of all terminals: one for each stream, and at least one.
pub(super) fn processes(f: &Fabric) -> Vec<Process> {
    let mut found = Vec::new();
    for terminal in 0..f.terminals as usize {
        let program = f.program_start[terminal] as usize..f.program_start[terminal + 1] as usize;
        let streams = f.op_stream.get(program.clone()).unwrap_or(&[]);
        let last = streams.iter().max().copied().unwrap_or(0);
        for stream in 0..=last {
            let begin = |stream: u8| program.start + streams.partition_point(|&one| one < stream);
            // Those of a list follow each other.
            let end = if stream == last { program.end } else { begin(stream + 1) };
            found.push(Process::new(f, terminal, begin(stream)..end));
        }
    }
    found
}

/// The processes that wait for each other.
#[derive(Clone, Debug)]
pub(super) struct Barrier {
    waiting: Vec<u32>,
    /// Number of processes with remaining barriers.
    wanted: usize,
}

impl Barrier {
    pub fn new(processes: &[Process]) -> Self {
        Self { waiting: Vec::new(), wanted: processes.iter().filter(|one| one.barriers > 0).count() }
    }
}

/// Returns all operations as rows.
pub(super) fn operations(f: &Fabric) -> Vec<Operation> {
    let row = |at: usize| Operation {
        kind: f.op_kind[at],
        peer: f.op_peer[at],
        bytes: f.op_bytes[at],
        tag: f.op_tag[at],
        stream: f.op_stream.get(at).copied().unwrap_or(0),
        ticks: f.op_ticks[at],
    };
    (0..f.op_kind.len()).map(row).collect()
}

/// Returns how many barriers a program reaches; `u64::MAX`: endlessly many.
fn barriers(f: &Fabric, program: Range<usize>) -> u64 {
    let (mut count, mut times) = (0_u64, vec![1_u64]);
    for at in program {
        let round = times[times.len() - 1];
        match f.op_kind[at] {
            operation::BARRIER => count = count.saturating_add(round),
            operation::REPEAT if f.op_ticks[at] == 0 => times.push(u64::MAX),
            operation::REPEAT => times.push(round.saturating_mul(f.op_ticks[at])),
            operation::END => times.truncate((times.len() - 1).max(1)),
            _ => {}
        }
    }
    count
}

impl Programs {
    /// Runs a process as far as possible.
    #[inline(never)]
    pub(super) fn run(&mut self, process: u32, is_graph: bool) {
        if is_graph {
            self.run_in_order(process);
        } else {
            self.run_list(process);
        }
    }

    /// Returns the processes of a terminal.
    #[inline]
    pub(super) fn processes_of(&self, terminal: u32) -> Range<u32> {
        self.hosts[terminal as usize].processes.clone()
    }

    fn run_list(&mut self, process: u32) {
        while self.now <= self.last {
            let one = &self.processes[process as usize];
            if one.doing != Doing::Running {
                return;
            }
            if one.at == one.end {
                return self.end_process(process);
            }
            let row = self.operations[one.at as usize];
            if self.begin(process, &row) {
                self.processes[process as usize].at += 1;
            }
        }
    }

    /// Ends a process, and with the last one the program of its terminal.
    pub(super) fn end_process(&mut self, process: u32) {
        let one = &mut self.processes[process as usize];
        one.doing = Doing::Ended;
        let terminal = one.terminal;
        let host = &mut self.hosts[terminal as usize];
        host.unended -= 1;
        if host.unended == 0 {
            self.account.terminals[terminal as usize].ended = Some(self.now);
            self.drop_notes(terminal);
        }
    }

    /// Makes an operation ready for its process: in a list, the receive at which it waits.
    pub(super) fn give(&mut self, process: u32, at: u32, taken: Option<Taken>) {
        let one = &mut self.processes[process as usize];
        one.ready.push_back((at, taken));
        if matches!(one.doing, Doing::Join | Doing::Receive) {
            self.wake(process);
        }
    }

    /// Begins the current operation; returns whether the next operation is now current.
    #[inline(always)]
    pub(super) fn begin(&mut self, process: u32, row: &Operation) -> bool {
        match row.kind {
            operation::SEND | operation::READ => self.begin_message(process, row),
            operation::RECEIVE => self.begin_receive(process, row),
            operation::WAIT => self.wait(process, row.ticks as Time),
            operation::UNTIL => self.wait(process, row.ticks as Time - self.now),
            operation::REPEAT => self.repeat(process, row.ticks),
            operation::END => self.end_of_round(process),
            operation::BARRIER => self.reach_barrier(process),
            operation::FLUSH => {
                let done = self.host_of(process).unsent == 0;
                self.wait_in(process, Doing::Flush, done)
            }
            _ => {
                let Process { terminal, last, .. } = self.processes[process as usize];
                let tag = self.tag(terminal, row.tag, last);
                self.account.mark(Mark { terminal, tag, time: self.now });
                true
            }
        }
    }

    /// Waits in an operation unless it is done.
    fn wait_in(&mut self, process: u32, doing: Doing, done: bool) -> bool {
        if !done {
            self.processes[process as usize].doing = doing;
        }
        done
    }

    /// Waits, and then begins the next operation.
    pub(super) fn wait(&mut self, process: u32, ticks: Time) -> bool {
        if ticks > 0 {
            self.set_timer(process, Doing::Timer, ticks);
        }
        true
    }

    fn set_timer(&mut self, process: u32, doing: Doing, ticks: Time) {
        let one = &mut self.processes[process as usize];
        (one.doing, one.until) = (doing, self.now + ticks);
        let terminal = one.terminal;
        self.schedule(terminal, timer::PROGRAM, ticks);
    }

    #[inline]
    fn host_of(&self, process: u32) -> &Host {
        &self.hosts[self.processes[process as usize].terminal as usize]
    }

    fn repeat(&mut self, process: u32, left: u64) -> bool {
        let at = &mut self.processes[process as usize];
        debug_assert!(usize::from(at.depth) < DEPTH);
        at.loops[usize::from(at.depth)] = Loop { start: at.at + 1, left };
        at.depth += 1;
        true
    }

    fn end_of_round(&mut self, process: u32) -> bool {
        let at = &mut self.processes[process as usize];
        let one = &mut at.loops[usize::from(at.depth) - 1];
        if one.left == 1 {
            at.depth -= 1;
            return true;
        }
        one.left = one.left.saturating_sub(1);
        at.at = one.start;
        false
    }

    fn reach_barrier(&mut self, process: u32) -> bool {
        self.processes[process as usize].doing = Doing::Barrier;
        self.barrier.waiting.push(process);
        if self.barrier.waiting.len() == self.barrier.wanted {
            let mut waiting = std::mem::take(&mut self.barrier.waiting);
            for process in waiting.drain(..) {
                let one = &mut self.processes[process as usize];
                one.at += 1;
                if one.barriers != u64::MAX {
                    one.barriers -= 1;
                    self.barrier.wanted -= usize::from(one.barriers == 0);
                }
                self.wake(process);
            }
            self.barrier.waiting = waiting;
        }
        false
    }

    /// Begins to send or to read, if there is a free slot, which those get first that have waited longest.
    fn begin_message(&mut self, process: u32, row: &Operation) -> bool {
        let Process { terminal, last, .. } = self.processes[process as usize];
        let host = &mut self.hosts[terminal as usize];
        let first = host.slots.front().copied();
        if !super::allows(self.settings.messages_at_once, host.unsent)
            || first.is_some_and(|one| one != process)
        {
            host.slots.push_back(process);
            self.account.terminals[terminal as usize].blocked.set(true, self.now);
            return self.wait_in(process, Doing::Slot, false);
        }
        let Some(target) = self.peer(process, terminal, row.peer, last) else { return false };
        if row.tag == TURN {
            self.ask(terminal);
        }
        let tag = self.tag(terminal, row.tag, last);
        let read = row.kind == operation::READ;
        let message = self.make(terminal, target, row.bytes, tag, read);
        if first.is_some() {
            self.hosts[terminal as usize].slots.pop_front();
            self.free_slot(terminal);
        }
        let ticks = self.settings.send(row.bytes);
        if ticks > 0 {
            self.set_timer(process, Doing::Sending { message }, ticks);
            return false;
        }
        self.pass_on(process, message)
    }

    /// Wakes the process that has waited longest for a slot, if there is one now.
    #[inline]
    pub(super) fn free_slot(&mut self, terminal: u32) {
        let host = &self.hosts[terminal as usize];
        if let Some(&first) = host.slots.front()
            && super::allows(self.settings.messages_at_once, host.unsent)
        {
            let more = host.slots.len() > 1;
            self.account.terminals[terminal as usize].blocked.set(more, self.now);
            self.wake(first);
        }
    }

    #[inline(never)]
    fn begin_receive(&mut self, process: u32, row: &Operation) -> bool {
        let one = &mut self.processes[process as usize];
        let (terminal, at, last) = (one.terminal, one.at, one.last);
        let taken = match one.ready.pop_front() {
            Some((_, taken)) => taken,
            None => {
                let any = row.peer == ANY;
                let source = if any { Some(ANY) } else { self.peer(process, terminal, row.peer, last) };
                let Some(source) = source else { return false };
                let tag = self.tag(terminal, row.tag, last);
                let taken = self.take_or_post(terminal, process, at, Wanted { source, tag });
                // A message of which all packets wait for room is there as soon as it is asked for.
                let ready = &mut self.processes[process as usize].ready;
                taken.or_else(|| ready.pop_front()?.1)
            }
        };
        let one = &mut self.processes[process as usize];
        let Some((source, tag, bytes)) = taken else {
            one.doing = Doing::Receive;
            if row.ticks > 0 {
                self.wait_for_answer(terminal, row.ticks as Time);
            }
            return false;
        };
        one.last = Some((source, tag));
        self.have_answer(terminal);
        self.wait(process, self.settings.receive(bytes))
    }

    /// Returns the other terminal that an operation names; if there is none, the run ends. `last`: the sender and the
    /// tag of the message received last.
    #[inline(always)]
    fn peer(&mut self, process: u32, terminal: u32, peer: u32, last: Option<(u32, u32)>) -> Option<u32> {
        let named = match peer {
            LAST => last.map_or(NO, |(sender, _)| sender),
            CROSS => last.map_or(NO, |(_, tag)| tag),
            peer => peer,
        };
        if named != terminal && (named as usize) < self.hosts.len() {
            return Some(named);
        }
        let one = &mut self.processes[process as usize];
        one.doing = Doing::Ended;
        self.astray.get_or_insert((terminal, one.at - self.hosts[terminal as usize].begin));
        None
    }

    #[inline(always)]
    fn tag(&self, terminal: u32, tag: u32, last: Option<(u32, u32)>) -> u32 {
        match tag {
            LAST => last.map_or(NO, |(_, tag)| tag),
            CROSS => last.map_or(NO, |(sender, _)| sender),
            TURN => self.hosts[terminal as usize].turn,
            tag => tag,
        }
    }

    /// Begins the current operation after a wait for a resource.
    #[inline]
    pub(super) fn wake(&mut self, process: u32) {
        let one = &mut self.processes[process as usize];
        one.doing = Doing::Running;
        let terminal = one.terminal;
        self.touch(terminal);
    }

    /// Begins the next operation of the processes of a terminal that do this.
    #[inline]
    pub(super) fn wake_those(&mut self, terminal: u32, which: impl Fn(Doing) -> bool) {
        for process in self.processes_of(terminal) {
            if which(self.processes[process as usize].doing) {
                self.wake_next(process);
            }
        }
    }

    fn wake_next(&mut self, process: u32) {
        self.processes[process as usize].at += 1;
        self.wake(process);
    }

    /// Ends the waits of the processes of a terminal that end now.
    pub(super) fn program_over(&mut self, terminal: u32) {
        for process in self.processes_of(terminal) {
            let one = &self.processes[process as usize];
            match one.doing {
                Doing::Timer if one.until == self.now => self.wake(process),
                Doing::Sending { message } if one.until == self.now => self.host_has_sent(process, message),
                _ => {}
            }
        }
    }

    fn host_has_sent(&mut self, process: u32, message: u32) {
        if self.pass_on(process, message) {
            self.wake_next(process);
        } else {
            let terminal = self.processes[process as usize].terminal;
            self.touch(terminal);
        }
    }

    /// Hands over or announces a message; returns whether the process continues.
    #[inline(always)]
    fn pass_on(&mut self, process: u32, message: u32) -> bool {
        let announced = self.offer(message);
        let waits = self.messages[message].read || self.settings.programmed;
        if announced && !waits && self.host_of(process).order.is_some() {
            let at = self.processes[process as usize].current.take();
            self.messages[message].operation = at.unwrap_or(NO);
        }
        self.wait_in(process, self.after_hand_over(message), !waits)
    }

    /// Returns the state of a process that continues only some time after it has handed over a message.
    fn after_hand_over(&self, message: u32) -> Doing {
        if self.messages[message].read { Doing::Read { message } } else { Doing::Storing { message } }
    }
}
