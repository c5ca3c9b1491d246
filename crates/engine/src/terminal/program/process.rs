//! The process of a terminal, operation by operation.

use std::ops::Range;

use super::host::{DEPTH, Host};
use super::receive::Wanted;
use super::{Mark, NO, Programs, timer};
use crate::fabric::{ANY, CROSS, Fabric, LAST, TURN, operation};
use crate::kernel::Time;

/// The state of a program.
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
    Receive { wanted: Wanted },
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

/// The terminals that wait for each other.
#[derive(Clone, Debug)]
pub(super) struct Barrier {
    waiting: Vec<u32>,
    /// Number of terminals with remaining barriers.
    wanted: usize,
}

impl Barrier {
    pub fn new(hosts: &[Host]) -> Self {
        Self { waiting: Vec::new(), wanted: hosts.iter().filter(|host| host.barriers > 0).count() }
    }
}

/// Returns all operations as rows.
pub(super) fn operations(f: &Fabric) -> Vec<Operation> {
    let row = |at: usize| Operation {
        kind: f.op_kind[at],
        peer: f.op_peer[at],
        bytes: f.op_bytes[at],
        tag: f.op_tag[at],
        ticks: f.op_ticks[at],
    };
    (0..f.op_kind.len()).map(row).collect()
}

/// Returns how many barriers a program reaches; `u64::MAX`: endlessly many.
pub(super) fn barriers(f: &Fabric, program: Range<usize>) -> u64 {
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
    /// Runs a program as far as possible.
    pub(super) fn run(&mut self, terminal: u32) {
        if let Some(mut order) = self.hosts[terminal as usize].order.take() {
            self.run_in_order(terminal, &mut order);
            self.hosts[terminal as usize].order = Some(order);
            return;
        }
        while self.hosts[terminal as usize].doing == Doing::Running && self.now <= self.last {
            let host = &self.hosts[terminal as usize];
            if host.at == host.end {
                return self.end_program(terminal);
            }
            let row = self.operations[host.at as usize];
            if self.begin(terminal, &row) {
                self.hosts[terminal as usize].at += 1;
            }
        }
    }

    /// Begins the current operation; returns whether the next operation is now current.
    pub(super) fn begin(&mut self, terminal: u32, row: &Operation) -> bool {
        match row.kind {
            operation::SEND | operation::READ => self.begin_message(terminal, row),
            operation::RECEIVE => self.begin_receive(terminal, row),
            operation::WAIT => self.wait(terminal, row.ticks as Time),
            operation::UNTIL => self.wait(terminal, row.ticks as Time - self.now),
            operation::REPEAT => self.repeat(terminal, row.ticks),
            operation::END => self.end_of_round(terminal),
            operation::BARRIER => self.reach_barrier(terminal),
            operation::FLUSH => {
                let done = self.hosts[terminal as usize].unsent == 0;
                self.wait_in(terminal, Doing::Flush, done)
            }
            _ => {
                let tag = self.tag(terminal, row.tag);
                self.account.mark(Mark { terminal, tag, time: self.now });
                true
            }
        }
    }

    /// Waits in an operation unless it is done.
    fn wait_in(&mut self, terminal: u32, doing: Doing, done: bool) -> bool {
        if !done {
            self.hosts[terminal as usize].doing = doing;
        }
        done
    }

    /// Waits, and then begins the next operation.
    pub(super) fn wait(&mut self, terminal: u32, ticks: Time) -> bool {
        if ticks > 0 {
            self.hosts[terminal as usize].doing = Doing::Timer;
            self.schedule(terminal, timer::PROGRAM, ticks);
        }
        true
    }

    fn repeat(&mut self, terminal: u32, left: u64) -> bool {
        let host = &mut self.hosts[terminal as usize];
        debug_assert!(usize::from(host.depth) < DEPTH);
        host.loops[usize::from(host.depth)] = Loop { start: host.at + 1, left };
        host.depth += 1;
        true
    }

    fn end_of_round(&mut self, terminal: u32) -> bool {
        let host = &mut self.hosts[terminal as usize];
        let one = &mut host.loops[usize::from(host.depth) - 1];
        if one.left == 1 {
            host.depth -= 1;
            return true;
        }
        one.left = one.left.saturating_sub(1);
        host.at = one.start;
        false
    }

    fn reach_barrier(&mut self, terminal: u32) -> bool {
        self.hosts[terminal as usize].doing = Doing::Barrier;
        self.barrier.waiting.push(terminal);
        if self.barrier.waiting.len() == self.barrier.wanted {
            let mut waiting = std::mem::take(&mut self.barrier.waiting);
            for terminal in waiting.drain(..) {
                let host = &mut self.hosts[terminal as usize];
                host.at += 1;
                if host.barriers != u64::MAX {
                    host.barriers -= 1;
                    self.barrier.wanted -= usize::from(host.barriers == 0);
                }
                self.wake(terminal);
            }
            self.barrier.waiting = waiting;
        }
        false
    }

    /// Begins to send or to read, if there is a free slot.
    fn begin_message(&mut self, terminal: u32, row: &Operation) -> bool {
        let host = &self.hosts[terminal as usize];
        if !super::allows(self.settings.messages_at_once, host.unsent) {
            self.account.terminals[terminal as usize].blocked.set(true, self.now);
            return self.wait_in(terminal, Doing::Slot, false);
        }
        let Some(target) = self.peer(terminal, row.peer) else { return false };
        if row.tag == TURN {
            self.ask(terminal);
        }
        let tag = self.tag(terminal, row.tag);
        let read = row.kind == operation::READ;
        let message = self.make(terminal, target, row.bytes, tag, read);
        let ticks = self.settings.send(row.bytes);
        if ticks > 0 {
            self.hosts[terminal as usize].doing = Doing::Sending { message };
            self.schedule(terminal, timer::PROGRAM, ticks);
            return false;
        }
        self.hand_over(message);
        self.wait_in(terminal, self.after_hand_over(message), !read && !self.settings.programmed)
    }

    fn begin_receive(&mut self, terminal: u32, row: &Operation) -> bool {
        let source = if row.peer == ANY { Some(ANY) } else { self.peer(terminal, row.peer) };
        let Some(source) = source else { return false };
        let wanted = Wanted { source, tag: self.tag(terminal, row.tag) };
        match self.take_note(terminal, wanted) {
            Some((source, tag, bytes)) => {
                self.hosts[terminal as usize].last = Some((source, tag));
                self.have_answer(terminal);
                self.wait(terminal, self.settings.receive(bytes))
            }
            None => {
                if row.ticks > 0 {
                    self.wait_for_answer(terminal, row.ticks as Time);
                }
                self.wait_in(terminal, Doing::Receive { wanted }, false)
            }
        }
    }

    /// Returns the other terminal that an operation names; if there is none, the run ends.
    fn peer(&mut self, terminal: u32, peer: u32) -> Option<u32> {
        let found = self.named(terminal, peer);
        if found.is_none() {
            let host = &mut self.hosts[terminal as usize];
            host.doing = Doing::Ended;
            self.astray.get_or_insert((terminal, host.at - host.begin));
        }
        found
    }

    fn named(&self, terminal: u32, peer: u32) -> Option<u32> {
        let last = self.hosts[terminal as usize].last;
        let named = match peer {
            LAST => last.map(|(sender, _)| sender),
            CROSS => last.map(|(_, tag)| tag),
            peer => Some(peer),
        };
        named.filter(|&named| named != terminal && (named as usize) < self.hosts.len())
    }

    fn tag(&self, terminal: u32, tag: u32) -> u32 {
        let last = self.hosts[terminal as usize].last;
        match tag {
            LAST => last.map_or(NO, |(_, tag)| tag),
            CROSS => last.map_or(NO, |(sender, _)| sender),
            TURN => self.hosts[terminal as usize].turn,
            tag => tag,
        }
    }

    /// Begins the current operation after a wait for a resource.
    #[inline]
    pub(super) fn wake(&mut self, terminal: u32) {
        self.hosts[terminal as usize].doing = Doing::Running;
        self.touch(terminal);
    }

    /// Begins the next operation after a wait.
    #[inline]
    pub(super) fn wake_next(&mut self, terminal: u32) {
        self.hosts[terminal as usize].at += 1;
        self.wake(terminal);
    }

    /// Ends a wait of the program.
    pub(super) fn program_over(&mut self, terminal: u32) {
        let Doing::Sending { message } = self.hosts[terminal as usize].doing else {
            return self.wake(terminal);
        };
        self.hand_over(message);
        if self.messages[message].read || self.settings.programmed {
            self.hosts[terminal as usize].doing = self.after_hand_over(message);
            self.touch(terminal);
        } else {
            self.wake_next(terminal);
        }
    }

    /// Returns the state of a program that continues only some time after it has handed over a message.
    fn after_hand_over(&self, message: u32) -> Doing {
        if self.messages[message].read { Doing::Read { message } } else { Doing::Storing { message } }
    }
}
