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
//! than a character and the way through the switch. A link for which this does not hold is `tight`, and its
//! supply waits for places too.

use super::state::{Link, Network};
use super::timeline::{Bound, Run, Runs, follow};
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
        if at.output == NONE {
            return;
        }
        let (output, end) = (at.output, self.worms[at.head as usize].end);
        let [at, to] = two(&mut self.links, link, output);
        let before = at.passed;
        while at.passed < at.deleted.min(at.sent.known) {
            let (first, limit) = (at.passed, at.deleted.min(at.sent.known));
            let arrival = at.arrival_bound(&self.runs, first);
            let (run, until) = follow(first, limit, at.crossbar_free, at.crossbar, [arrival]);
            at.crossbar_free = after(&run, until, at.crossbar);
            at.passed = until;
        }
        let mut limit = end.min(at.sent.known);
        if to.tight {
            limit = limit.min(at.passed + to.places(to.supplied.known));
        }
        while at.passed < limit && at.passed >= at.deleted {
            let first = at.passed;
            let arrival = at.arrival_bound(&self.runs, first);
            let place = if to.tight { to.place_bound(&self.runs, to.supplied.known, first) } else { Bound::FREE };
            let (run, until) = follow(first, limit, at.crossbar_free, at.crossbar, [arrival, place]);
            at.crossbar_free = after(&run, until, at.crossbar);
            at.passed = until;
            let entering = to.supplied.known;
            if self.runs.is_full(&to.supplied) {
                let needed = to.sent.known.min(to.entered);
                self.runs.make_room(&mut to.supplied, needed);
            }
            self.runs.push(&mut to.supplied, Run { first: entering, ..run }, entering + (until - first));
            self.extensions += 1;
        }
        if at.passed != before {
            self.wake(link, Process::Leave);
            self.wake(output, Process::Send);
        }
    }

    /// Extends the times at which characters start on the wire of a link.
    fn send(&mut self, link: u32) {
        let before = self.links[link as usize].sent.known;
        while self.links[link as usize].sending != NONE && self.send_worm(link) {}
        let at = &self.links[link as usize];
        if at.sent.known == before {
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
        let worm = &mut self.worms[number as usize];
        let start = at.sent.known;
        let limit = worm.end.min(at.supplied.known).min(at.credited);
        let mut first = start;
        while first < limit {
            let (run, until) = at.next_on_wire(&self.runs, first, limit);
            let wire = if until == worm.end { at.end } else { at.character };
            at.wire_free = after(&run, until, wire);
            if self.runs.is_full(&at.sent) {
                let needed = at.sent_needed();
                self.runs.make_room(&mut at.sent, needed);
            }
            self.runs.push(&mut at.sent, run, until);
            if first == worm.first {
                worm.started = run.time;
            }
            self.extensions += 1;
            first = until;
        }
        if first == start {
            return false;
        }
        let complete = first == worm.end;
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
        let (before, end) = (at.left.known, self.worms[at.head as usize].end);
        self.leave_header(link);
        let [at, to] = two(&mut self.links, link, output);
        let limit = if at.left.known < at.deleted { 0 } else { at.passed.min(at.left.known + to.places(to.entered)) };
        while at.left.known < limit {
            let first = at.left.known;
            let mut supply = self.runs.bound(&to.supplied, to.entered);
            supply.until = first + (supply.until - to.entered);
            let place = to.place_bound(&self.runs, to.entered, first);
            let (run, until) = follow(first, limit, at.exit_free, at.crossbar, [supply, place]);
            to.entered += until - first;
            at.left(&mut self.runs, run, until);
            self.extensions += 1;
        }
        let known = at.left.known;
        if known == before {
            return;
        }
        let waited = at.sent.known == at.credited && at.sending != NONE;
        at.credited = at.credit_limit();
        let tight = to.tight;
        if waited {
            self.wake(link, Process::Send);
        }
        if tight {
            self.wake(link, Process::Supply);
        }
        if known == end {
            self.left(link, output);
        }
    }

    /// The characters of a header that is deleted need no place in the output buffer.
    fn leave_header(&mut self, link: u32) {
        let at = &mut self.links[link as usize];
        let limit = at.deleted.min(at.sent.known);
        while at.left.known < limit {
            let first = at.left.known;
            let arrival = at.arrival_bound(&self.runs, first);
            let (run, until) = follow(first, limit, at.exit_free, at.crossbar, [arrival]);
            at.left(&mut self.runs, run, until);
            self.extensions += 1;
        }
    }
}

impl Link {
    /// Puts a run of characters that leave the input buffer on record.
    fn left(&mut self, runs: &mut Runs, run: Run, until: u32) {
        self.exit_free = after(&run, until, self.crossbar);
        if runs.is_full(&self.left) {
            let needed = self.left_needed();
            runs.make_room(&mut self.left, needed);
        }
        runs.push(&mut self.left, run, until);
    }

    /// Characters from `entering` on that find a place in the output buffer, as far as is known what leaves it.
    fn places(&self, entering: u32) -> u32 {
        self.sent.known + self.output_buffer - entering
    }

    /// First character that must wait for credit whose time is not known.
    pub(super) fn credit_limit(&self) -> u32 {
        if self.to_terminal { u32::MAX } else { self.quanta(self.left.known + self.input_buffer) }
    }

    /// The largest whole number of quanta that is at most this many characters.
    #[inline]
    fn quanta(&self, characters: u32) -> u32 {
        let quantum = self.quantum;
        if quantum.is_power_of_two() { characters & !(quantum - 1) } else { characters - characters % quantum }
    }

    fn arrival_bound(&self, runs: &Runs, character: u32) -> Bound {
        let mut bound = runs.bound(&self.sent, character);
        bound.time += Time::from(self.arrival);
        bound
    }

    /// The longest straight run of characters on the wire from `first` on, and the character after it.
    ///
    /// Supply and credit are looked at only where they change; between, neither gets later faster than the
    /// wire sends, unless the supply is a slower link or credit comes back more slowly.
    #[inline]
    fn next_on_wire(&self, runs: &Runs, first: u32, limit: u32) -> (Run, u32) {
        let step = self.character;
        let mut supply = runs.bound(&self.supplied, first);
        supply.time += Time::from(self.forward);
        if supply.step > step {
            return follow(first, limit, self.wire_free, step, [supply, self.credit_bound(runs, first, false)]);
        }
        let credit = self.credit_bound(runs, first, false);
        let run = Run { first, step, time: self.wire_free.max(supply.time).max(credit.time) };
        let mut until = runs.keeps_up(&self.supplied, self.forward, run, limit);
        let mut known = credit.until;
        while known < until {
            let credit = self.credit_bound(runs, known, true);
            if credit.time > run.time + Time::from(known - first) * Time::from(step) {
                until = known;
            }
            known = credit.until;
        }
        (run, until)
    }

    /// When credit for a character is there. It comes in lumps of `quantum`, so within one run of the
    /// places becoming free only the first character of the first lump can be late (`whole_lump`), unless
    /// places become free more slowly than the wire can send.
    fn credit_bound(&self, runs: &Runs, character: u32, whole_lump: bool) -> Bound {
        if self.to_terminal {
            return Bound::FREE;
        }
        let (quantum, buffer) = (self.quantum, self.input_buffer);
        let next_lump = self.quanta(character) + quantum;
        if next_lump <= buffer {
            return Bound { until: self.quanta(buffer), ..Bound::FREE };
        }
        let freed = runs.bound(&self.left, next_lump - buffer - 1);
        let in_step = whole_lump && freed.step <= self.character;
        let until = if in_step { self.quanta(freed.until + buffer) } else { next_lump };
        Bound { time: freed.time + Time::from(self.credit), step: 0, until }
    }

    /// When there is a place in the output buffer for the character `entering` there, which is called
    /// `character` where it comes from.
    fn place_bound(&self, runs: &Runs, entering: u32, character: u32) -> Bound {
        if entering < self.output_buffer {
            return Bound { until: character + (self.output_buffer - entering), ..Bound::FREE };
        }
        let leaving = entering - self.output_buffer;
        let mut bound = runs.bound(&self.sent, leaving);
        bound.time += Time::from(self.character);
        bound.until = character + (bound.until - leaving);
        bound
    }

    /// First character whose start on the wire may still be asked for.
    fn sent_needed(&self) -> u32 {
        let place = if self.from_terminal { u32::MAX } else { self.entered.saturating_sub(self.output_buffer) };
        let arrival = if self.to_terminal { u32::MAX } else { self.left.known.min(self.passed) };
        place.min(arrival)
    }

    /// First character whose departure may still be asked for, as the one that frees credit.
    fn left_needed(&self) -> u32 {
        (self.quanta(self.sent.known) + self.quantum).saturating_sub(self.input_buffer + 1)
    }
}

fn two(links: &mut [Link], one: u32, other: u32) -> [&mut Link; 2] {
    links.get_disjoint_mut([one as usize, other as usize]).expect("an input link is not its own output")
}

/// When the character after a run may follow it at the earliest, `step` ticks later.
#[inline]
fn after(run: &Run, until: u32, step: u32) -> Time {
    run.time + Time::from(until - 1 - run.first) * Time::from(run.step) + Time::from(step)
}
