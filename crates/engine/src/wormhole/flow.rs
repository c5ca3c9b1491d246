//! Working out the times of characters as far as they follow from what is known.
//!
//! Two processes per link, each a line of the model's equations:
//! * `send`: when characters start on its wire, by their arrival at the input buffer they come from (or
//!   the grant), the wire and credit;
//! * `leave`: when characters leave the input buffer at its end, by their arrival, the grant, the crossbar and
//!   places in the output buffer.
//!
//! Each goes as far as its bounds are known, then wakes those that depend on it. All bounds have a
//! positive delay, so the result does not depend on the order of the work.
//!
//! What is sent does not depend on places in the output buffer, nor on the crossbar: a place is free long before
//! the character that takes it is due on the wire, as long as sending a bufferful takes longer than a
//! character and the way through the switch, and the crossbar is not slower than the wire. A link for
//! which this does not hold is `tight`; it sends
//! only what is known to have entered its output buffer.

use super::queue::{ALWAYS, Run, follow, in_time};
use super::state::{Link, Network};
use crate::fabric::NONE;
use crate::kernel::Time;

/// The processes of a link, as bits of `Link::woken`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Process {
    Send = 0,
    Leave = 1,
}

impl Network {
    /// Has a process advance before the present event is over.
    #[inline]
    pub(super) fn wake(&mut self, link: u32, process: Process) {
        let at = &mut self.links[link as usize];
        let bit = 1 << process as u8;
        if at.woken & bit == 0 {
            at.woken |= bit;
            self.work.push(link * 2 + process as u32);
        }
    }

    /// Advances every process that has something new to go on.
    pub(super) fn settle(&mut self) {
        while let Some(item) = self.work.pop() {
            let (link, process) = (item / 2, item % 2);
            self.links[link as usize].woken &= !(1 << process);
            if process == Process::Send as u32 {
                self.send(link);
            } else {
                self.leave(link);
            }
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
        if output != NONE {
            self.wake(link, Process::Leave);
            self.wake(output, Process::Send);
        }
        if holder != NONE {
            self.wake(holder, Process::Leave);
        }
    }

    /// Extends the worm being sent; true when it is sent completely.
    fn send_worm(&mut self, link: u32) -> bool {
        let at = &mut self.links[link as usize];
        let number = at.sending;
        if number == NONE || (at.credited == 0 && at.credit.is_empty()) {
            return false;
        }
        let ready = self.worms[number as usize].ready;
        if at.sent == self.worms[number as usize].first {
            at.wire_free = at.wire_free.max(ready);
        }
        // Only the packet that was granted last can still be in the input buffer it comes from.
        let coming = at.holder != NONE && number == at.tail && !at.tight;
        let sent = if coming { self.send_coming(link, number) } else { self.send_entered(link, number) };
        if sent == 0 {
            return false;
        }
        let at = &self.links[link as usize];
        let complete = at.sent == self.worms[number as usize].end;
        if at.head == number && !at.asked {
            self.ask(link);
        }
        if complete {
            self.sent(link, number);
        }
        complete
    }

    /// Sends what is still arriving at the input buffer that holds this link.
    fn send_coming(&mut self, link: u32, number: u32) -> u32 {
        let holder = self.links[link as usize].holder;
        let [at, from] = two(&mut self.links, link, holder);
        let worm = &mut self.worms[number as usize];
        let before = at.sent;
        while let Some(supply) = from.unsent.front().filter(|_| at.sent < worm.end) {
            let Some(mut run) = at.next_on_wire(worm.end - at.sent, supply.later(at.forward)) else { break };
            from.unsent.take(run.count);
            while run.step == at.character {
                let most = at.credit_in_time(&run, worm.end - at.sent - run.count);
                let more = in_time(&from.unsent, run.at(run.count) - Time::from(at.forward), run.step, most);
                if more == 0 {
                    break;
                }
                at.credited -= more;
                run.count += more;
                from.unsent.take(more);
            }
            at.put_on_wire(&run, worm.end);
            if at.sent - run.count == worm.first {
                worm.started = run.time;
            }
            self.extensions += 1;
        }
        at.sent - before
    }

    /// Sends what has entered the output buffer, or stands ready at a terminal.
    fn send_entered(&mut self, link: u32, number: u32) -> u32 {
        let at = &mut self.links[link as usize];
        let worm = &mut self.worms[number as usize];
        let before = at.sent;
        while let Some(supply) = at.entered.front().filter(|_| at.sent < worm.end) {
            let Some(mut run) = at.next_on_wire(worm.end - at.sent, supply) else { break };
            at.entered.take(run.count);
            while run.step == at.character {
                let most = at.credit_in_time(&run, worm.end - at.sent - run.count);
                let more = in_time(&at.entered, run.at(run.count), run.step, most);
                if more == 0 {
                    break;
                }
                at.credited -= more;
                run.count += more;
                at.entered.take(more);
            }
            at.put_on_wire(&run, worm.end);
            if at.sent - run.count == worm.first {
                worm.started = run.time;
            }
            self.extensions += 1;
        }
        at.sent - before
    }

    /// Extends the times at which characters leave the input buffer at the end of a link.
    fn leave(&mut self, link: u32) {
        let at = &self.links[link as usize];
        let output = at.output;
        if output == NONE || at.arrived.is_empty() {
            return;
        }
        let end = self.worms[at.head as usize].end;
        let [at, to] = two(&mut self.links, link, output);
        let before = at.left;
        let waited = at.credited == 0 && at.credit.is_empty() && at.sending != NONE;
        while let Some(arrival) = at.arrived.front().filter(|_| at.left < end) {
            let header = at.deleted.saturating_sub(at.left);
            let run = if header > 0 {
                follow(header, at.exit_free, at.crossbar, [arrival])
            } else {
                let Some(place) = to.places.front() else { break };
                let run = follow(end - at.left, at.exit_free, at.crossbar, [arrival, place]);
                to.places.take(run.count);
                if to.tight {
                    to.entered.push(run.later(to.forward));
                }
                run
            };
            at.arrived.take(run.count);
            at.exit_free = run.after(at.crossbar);
            at.give_credit(&run);
            self.extensions += 1;
        }
        let (left, tight) = (at.left, to.tight);
        if left == before {
            return;
        }
        if waited && !at.credit.is_empty() {
            self.wake(link, Process::Send);
        }
        if tight {
            self.wake(output, Process::Send);
        }
        if left == end {
            self.left(link, output);
        }
    }
}

impl Link {
    /// The next straight run of at most `most` characters on the wire, by the first run of its supply; nothing
    /// if there is no credit for the first of them.
    ///
    /// Credit comes in lumps of `quantum` characters; only the first character of a lump waits for it.
    #[inline]
    fn next_on_wire(&mut self, most: u32, supply: Run) -> Option<Run> {
        let mut own = self.wire_free;
        if self.credited == 0 {
            let credit = self.credit.front()?;
            own = own.max(credit.time);
            self.take_credit(credit, self.character, most);
        }
        let run = follow(most.min(self.credited), own, self.character, [supply]);
        self.credited -= run.count;
        Some(run)
    }

    /// How many of `most` characters after a run there is credit for in time, taking new lumps if needed.
    #[inline]
    fn credit_in_time(&mut self, run: &Run, most: u32) -> u32 {
        if self.credited == 0 && most > 0 {
            match self.credit.front() {
                Some(credit) if credit.time <= run.at(run.count) => self.take_credit(credit, run.step, most),
                _ => return 0,
            }
        }
        most.min(self.credited)
    }

    /// Takes the next lump of credit, with those behind it that are there in time for a wire that sends `most`
    /// more characters, one every `step` ticks.
    #[inline]
    fn take_credit(&mut self, credit: Run, step: u32, most: u32) {
        let in_step = u64::from(credit.step) <= u64::from(self.quantum) * u64::from(step);
        let lumps = if in_step { credit.count.min(most.div_ceil(self.quantum)) } else { 1 };
        if self.to_terminal {
            // A terminal takes what comes: its credit is one lump without end.
            self.credited = u32::MAX;
            return;
        }
        self.credit.take(lumps);
        self.credited = lumps * self.quantum;
    }

    /// Makes a run known to those who wait for its arrival and for the places it leaves.
    #[inline]
    fn put_on_wire(&mut self, run: &Run, end: u32) {
        self.sent += run.count;
        self.wire_free = run.after(if self.sent == end { self.end } else { self.character });
        if !self.to_terminal {
            let arrival = run.later(self.arrival);
            self.arrived.push(arrival);
            self.unsent.push(arrival);
        }
        if !self.from_terminal {
            self.places.push(run.later(self.character));
        }
    }

    /// Returns credit for a run of characters that leave the input buffer: one lump whenever there is room
    /// for `quantum` more than was promised.
    #[inline]
    fn give_credit(&mut self, run: &Run) {
        self.left += run.count;
        if self.left < self.next_lump {
            return;
        }
        let beyond = self.left - self.next_lump;
        let lumps = beyond / self.quantum + 1;
        let step = run.step.saturating_mul(self.quantum);
        let lump = Run { count: lumps, step, time: run.at(run.count - 1 - beyond) };
        self.credit.push(lump.later(self.credit_delay));
        self.next_lump += lumps * self.quantum;
    }

    /// Places of the output buffer and credit for the input buffer when both are empty.
    pub(super) fn fill(&mut self) {
        self.places.push(Run { count: self.output_buffer, step: 0, time: ALWAYS });
        let lumps = self.input_buffer / self.quantum;
        self.credit.push(Run { count: lumps, step: 0, time: ALWAYS });
        self.next_lump = self.quantum * (lumps + 1) - self.input_buffer;
    }
}

pub(super) fn two(links: &mut [Link], one: u32, other: u32) -> [&mut Link; 2] {
    links.get_disjoint_mut([one as usize, other as usize]).expect("an input link is not its own output")
}
