//! Requests that are repeated if their answer does not come in time: the rules of `docs/background/programs.md`, "Asked
//! again".

use super::host::Host;
use super::{NONE, Programs};
use crate::kernel::Time;

/// Number of request numbers; more than can be under way.
const TURNS: u32 = NONE >> 1;

impl Host {
    /// Whether a message is the first answer to the latest request.
    pub(super) fn takes_answer(&mut self, tag: u32) -> bool {
        tag == self.turn && std::mem::replace(&mut self.open, false)
    }
}

impl Programs {
    /// Sends a request: with a new number, or the same again.
    pub(super) fn ask(&mut self, terminal: u32) {
        let host = &mut self.hosts[terminal as usize];
        if host.again == 0 {
            (host.turn, host.open) = ((host.turn + 1) % TURNS, true);
        }
    }

    /// Waits for an answer until a time-out.
    pub(super) fn wait_for_answer(&mut self, terminal: u32, ticks: Time) {
        let until = self.now + ticks;
        self.hosts[terminal as usize].answer_by = Some(until);
        self.deadlines.insert((until, terminal));
    }

    /// Ends the wait, because the program has received an answer or another message.
    pub(super) fn have_answer(&mut self, terminal: u32) {
        let host = &mut self.hosts[terminal as usize];
        host.again = 0;
        if let Some(until) = host.answer_by.take() {
            self.deadlines.remove(&(until, terminal));
        }
    }

    /// Handles the answers that are overdue at this tick, by repeating or giving up the request; returns their number.
    pub(super) fn without_answer(&mut self) -> u64 {
        let mut count = 0;
        while let Some(&(time, terminal)) = self.deadlines.first()
            && time <= self.now
        {
            self.deadlines.pop_first();
            count += 1;
            let host = &mut self.hosts[terminal as usize];
            host.answer_by = None;
            let Some(posted) = host.posted.pop() else {
                // It has arrived in this tick.
                continue;
            };
            let process = &mut self.processes[posted.process as usize];
            if host.again < self.operations[process.at as usize].bytes {
                (host.again, process.at) = (host.again + 1, process.at - 1);
                self.account.resent += 1;
            } else {
                (host.again, host.open, process.at) = (0, false, process.at + 1);
                self.account.given_up += 1;
            }
            self.wake(posted.process);
        }
        count
    }
}
