//! Working out the times of characters as far as they follow from what is known.
//!
//! Three processes per link, each a line of the model's equations:
//! * `supply`: when the characters of the packet at its input buffer could enter their output buffer, by
//!   their arrival, the grant and the crossbar;
//! * `send`: when characters start on its wire, by supply, the wire and credit;
//! * `leave`: when characters leave its input buffer, by supply and places in the output buffer.
//!
//! Each goes as far as its bounds are known, then wakes those that depend on it. All bounds have a
//! positive delay, so the result does not depend on the order of the work.
//!
//! That a place in the output buffer is wanted does not delay what is sent, only what leaves: a place is
//! free long before the character that takes it is due on the wire, as long as sending a bufferful takes longer
//! than a character and the way through the switch. A link for which this does not hold is `tight`: what is
//! supplied to it waits for places too, and leaves as it is supplied.

use super::queue::{ALWAYS, Run, Runs, follow};
use super::state::{Link, Network};
use crate::fabric::NONE;
use crate::kernel::Time;

/// The processes of a link, as bits of `Link::woken`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Process {
    Supply = 0,
    Send = 1,
    Leave = 2,
}

impl Network {
    /// Has a process advance before the present event is over.
    #[inline]
    pub(super) fn wake(&mut self, link: u32, process: Process) {
        let at = &mut self.links[link as usize];
        let bit = 1 << process as u8;
        if at.woken & bit == 0 {
            at.woken |= bit;
            self.work.push(link * 4 + process as u32);
        }
    }

    /// Advances every process that has something new to go on.
    pub(super) fn settle(&mut self) {
        while let Some(item) = self.work.pop() {
            let (link, process) = (item / 4, item % 4);
            self.links[link as usize].woken &= !(1 << process);
            match process {
                0 => self.supply(link),
                1 => self.send(link),
                _ => self.leave(link),
            }
        }
    }

    /// Extends what the head packet of an input buffer supplies to its output.
    fn supply(&mut self, link: u32) {
        let at = &self.links[link as usize];
        let output = at.output;
        if output == NONE || at.arriving.is_empty() {
            return;
        }
        let end = self.worms[at.head as usize].end;
        let [at, to] = two(&mut self.links, link, output);
        let (before, tight) = (at.passed, to.tight);
        while at.passed < end && !at.arriving.is_empty() {
            let arrival = self.runs.front(&at.arriving);
            let header = at.deleted.saturating_sub(at.passed);
            let run = if header > 0 {
                follow(header, at.crossbar_free, at.crossbar, [arrival])
            } else if !tight {
                follow(end - at.passed, at.crossbar_free, at.crossbar, [arrival])
            } else if to.places.is_empty() {
                break;
            } else {
                let place = self.runs.front(&to.places);
                follow(end - at.passed, at.crossbar_free, at.crossbar, [arrival, place])
            };
            at.crossbar_free = run.after(at.crossbar);
            at.passed += run.count;
            self.runs.take(&mut at.arriving, run.count);
            self.runs.push(&mut at.leaving, run);
            if header == 0 {
                self.runs.push(&mut to.supplied, run.later(to.forward));
                if tight {
                    self.runs.take(&mut to.places, run.count);
                }
            }
            self.extensions += 1;
        }
        if at.passed != before {
            self.wake(link, Process::Leave);
            self.wake(output, Process::Send);
        }
    }

    /// Extends the times at which characters start on the wire of a link.
    fn send(&mut self, link: u32) {
        let before = self.links[link as usize].sent;
        while self.send_worm(link) {}
        let at = &self.links[link as usize];
        if at.sent == before {
            return;
        }
        let (holder, output) = (at.holder, at.output);
        if holder != NONE {
            self.wake(holder, if at.tight { Process::Supply } else { Process::Leave });
        }
        if output != NONE {
            self.wake(link, Process::Supply);
        }
    }

    /// Extends the worm being sent; true when it is sent completely.
    fn send_worm(&mut self, link: u32) -> bool {
        let at = &mut self.links[link as usize];
        let number = at.sending;
        if number == NONE || at.supplied.is_empty() {
            return false;
        }
        let worm = &mut self.worms[number as usize];
        let start = at.sent;
        while at.sent < worm.end {
            let Some(run) = at.next_on_wire(&mut self.runs, worm.end - at.sent) else { break };
            if at.sent == worm.first {
                worm.started = run.time;
            }
            at.sent += run.count;
            at.wire_free = run.after(if at.sent == worm.end { at.end } else { at.character });
            if !at.to_terminal {
                self.runs.push(&mut at.arriving, run.later(at.arrival));
            }
            if !at.from_terminal {
                self.runs.push(&mut at.places, run.later(at.character));
            }
            self.extensions += 1;
        }
        if at.sent == start {
            return false;
        }
        let complete = at.sent == worm.end;
        if at.head == number && !at.asked {
            self.ask(link);
        }
        if complete {
            self.sent(link, number);
        }
        complete
    }

    /// Extends the times at which characters leave the input buffer at the end of a link.
    fn leave(&mut self, link: u32) {
        let at = &self.links[link as usize];
        let output = at.output;
        if output == NONE {
            return;
        }
        let end = self.worms[at.head as usize].end;
        let [at, to] = two(&mut self.links, link, output);
        let (before, waited) = (at.left, at.credit.is_empty() && at.credited == 0 && at.sending != NONE);
        while !at.leaving.is_empty() {
            let supply = self.runs.front(&at.leaving);
            let header = at.deleted.saturating_sub(at.left);
            let run = if header > 0 {
                follow(header, at.exit_free, at.crossbar, [supply])
            } else if to.tight {
                supply
            } else if to.places.is_empty() {
                break;
            } else {
                let place = self.runs.front(&to.places);
                let run = follow(supply.count, at.exit_free, at.crossbar, [supply, place]);
                self.runs.take(&mut to.places, run.count);
                run
            };
            self.runs.take(&mut at.leaving, run.count);
            at.exit_free = run.after(at.crossbar);
            at.give_credit(&mut self.runs, &run);
            self.extensions += 1;
        }
        let left = at.left;
        if left == before {
            return;
        }
        if waited && !at.credit.is_empty() {
            self.wake(link, Process::Send);
        }
        if left == end {
            self.left(link, output);
        }
    }
}

impl Link {
    /// Takes the longest straight run of at most `most` characters that can go on the wire next, if the
    /// first of them can.
    ///
    /// Credit comes in lumps of `quantum` characters; only the first character of a lump waits for it.
    /// Supply and credit are looked at only where they change: between, neither gets later faster than the
    /// wire sends, unless the supply is a slower link or credit comes back more slowly.
    #[inline]
    fn next_on_wire(&mut self, runs: &mut Runs, most: u32) -> Option<Run> {
        if self.supplied.is_empty() || (self.credited == 0 && self.credit.is_empty() && !self.to_terminal) {
            return None;
        }
        let supply = runs.front(&self.supplied);
        let mut time = self.wire_free.max(supply.time);
        if self.credited == 0 {
            time = time.max(self.take_credit(runs, self.character, most));
        }
        let mut run = follow(most.min(self.credited), time, self.character, [supply]);
        runs.take(&mut self.supplied, run.count);
        self.credited -= run.count;
        while run.count < most && !self.supplied.is_empty() {
            let due = run.at(run.count);
            let supply = runs.front(&self.supplied);
            let keeps_pace = supply.time == due && supply.step == run.step;
            let in_time = supply.time <= due && supply.step <= run.step && run.step == self.character;
            if !keeps_pace && !in_time {
                break;
            }
            if self.credited == 0 {
                if self.to_terminal || (!self.credit.is_empty() && runs.front(&self.credit).time <= due) {
                    self.take_credit(runs, run.step, most - run.count);
                } else {
                    break;
                }
            }
            let more = supply.count.min(most - run.count).min(self.credited);
            runs.take(&mut self.supplied, more);
            self.credited -= more;
            run.count += more;
        }
        Some(run)
    }

    /// Takes the next lump of credit, with those behind it that are there in time for a wire that sends `most`
    /// more characters, one every `step` ticks; returns when the first is there.
    #[inline]
    fn take_credit(&mut self, runs: &mut Runs, step: u32, most: u32) -> Time {
        if self.to_terminal {
            self.credited = u32::MAX;
            return ALWAYS;
        }
        let credit = runs.front(&self.credit);
        let in_step = u64::from(credit.step) <= u64::from(self.quantum) * u64::from(step);
        let lumps = if in_step { credit.count.min(most.div_ceil(self.quantum)) } else { 1 };
        runs.take(&mut self.credit, lumps);
        self.credited = lumps * self.quantum;
        credit.time
    }

    /// Returns credit for a run of characters that leave the input buffer: one lump whenever there is room
    /// for `quantum` more than was promised.
    #[inline]
    fn give_credit(&mut self, runs: &mut Runs, run: &Run) {
        self.left += run.count;
        if self.left < self.next_lump {
            return;
        }
        let lumps = (self.left - self.next_lump) / self.quantum + 1;
        let first = run.count - 1 - (self.left - self.next_lump);
        let lump = Run { count: lumps, step: run.step.saturating_mul(self.quantum), time: run.at(first) };
        runs.push(&mut self.credit, lump.later(self.credit_delay));
        self.next_lump += lumps * self.quantum;
    }

    /// Places of the output buffer and credit for the input buffer when both are empty.
    pub(super) fn fill(&mut self, runs: &mut Runs) {
        let places = Run { count: self.output_buffer, step: 0, time: ALWAYS };
        runs.push(&mut self.places, places);
        let lumps = self.input_buffer / self.quantum;
        runs.push(&mut self.credit, Run { count: lumps, step: 0, time: ALWAYS });
        self.next_lump = self.quantum * (lumps + 1) - self.input_buffer;
    }
}

fn two(links: &mut [Link], one: u32, other: u32) -> [&mut Link; 2] {
    links.get_disjoint_mut([one as usize, other as usize]).expect("an input link is not its own output")
}
