//! Working out the times of characters as far as they follow from what is known.
//!
//! A link advances in two steps, each a line of the model's equations:
//! * `send`: when characters start on its wire, by their arrival at the input buffer they come from (or
//!   the grant), the wire and credit;
//! * `leave`: when characters leave that input buffer, by their arrival, the grant, the crossbar and
//!   places in the output buffer of this link.
//!
//! Each goes as far as its bounds are known; then the links are woken that depend on it. All bounds have a
//! positive delay, so the result does not depend on the order of the work.
//!
//! What is sent does not depend on places in the output buffer, nor on the crossbar: a place is free long before
//! the character that takes it is due on the wire, as long as sending a bufferful takes longer than a
//! character and the way through the switch, and the crossbar is not slower than the wire. A link for
//! which this does not hold is `tight`; it sends
//! only what is known to have entered its output buffer.

use super::queue::{ALWAYS, Run, follow};
use super::state::{Link, Network};
use super::timeline::Who;
use crate::fabric::NONE;
use crate::kernel::Time;

impl Network {
    /// Has a link advance before the present event is over.
    #[inline(always)]
    pub(super) fn wake(&mut self, link: u32) {
        let at = &mut self.links[link as usize];
        if !at.woken {
            at.woken = true;
            self.work.push(link);
        }
    }

    /// Advances every link that has something new to go on.
    pub(super) fn settle(&mut self) {
        while let Some(link) = self.work.pop() {
            self.advance(link);
        }
    }

    /// Sends on a link, then has characters leave the input buffer of its holder for it.
    fn advance(&mut self, link: u32) {
        let at = &mut self.links[link as usize];
        at.woken = false;
        let (holder, output, before) = (at.holder, at.output, at.line.known());
        while self.links[link as usize].can_send() && self.send(link, holder) {}
        if output != NONE {
            let (at, to) = (&self.links[link as usize], &self.links[output as usize]);
            let leaves = at.line.next(Who::Leave) < at.deleted || !to.line.is_read(Who::Place);
            if at.line.known() != before && (leaves || to.can_send()) {
                self.wake(output);
            }
        }
        if holder != NONE {
            self.leave(holder, link);
        }
    }

    /// Extends the times at which characters of the worm being sent start on the wire of a link, which can send;
    /// true when the worm is sent completely.
    fn send(&mut self, link: u32, holder: u32) -> bool {
        let at = &mut self.links[link as usize];
        let number = at.sending;
        let worm = &mut self.worms[number as usize];
        let before = at.line.known();
        if before == worm.first {
            at.wire_free = at.wire_free.max(worm.ready);
        }
        let most = (worm.end - before) as u32;
        // Only the packet that was granted last can still be in the input buffer it comes from.
        self.extensions += if worm.bound {
            at.send_entered(most)
        } else if holder != NONE && number == at.tail {
            let [at, from] = two(&mut self.links, link, holder);
            at.send_coming(from, most)
        } else {
            at.send_ready(most)
        };
        let at = &mut self.links[link as usize];
        let known = at.line.known();
        if known == before {
            return false;
        }
        let complete = known == worm.end;
        if before == worm.first {
            worm.started = at.line.recent(before);
        }
        let asks = at.head == number && !at.asked && !at.to_terminal;
        if complete {
            self.sent(link, number);
        }
        if asks {
            self.ask(link);
        }
        complete
    }

    /// Extends the times at which characters leave the input buffer of a link for its output.
    fn leave(&mut self, link: u32, output: u32) {
        let [at, to] = two(&mut self.links, link, output);
        let known = at.line.known();
        let before = at.line.next(Who::Leave);
        if before == known {
            return;
        }
        let end = self.worms[at.head as usize].end;
        let waited = at.credited == 0 && at.credit.is_empty() && at.sending != NONE;
        self.extensions += at.leave_for(to, (end.min(known) - before) as u32);
        let left = at.line.next(Who::Leave);
        if left == before {
            return;
        }
        let (fed, tight) = (waited && !at.credit.is_empty(), to.tight);
        if fed {
            self.wake(link);
        }
        if tight {
            self.wake(output);
        }
        if left == end {
            self.left(link, output);
        }
    }
}

impl Link {
    /// Whether there is a worm to send and credit for its next character.
    #[inline(always)]
    fn can_send(&self) -> bool {
        self.sending != NONE && (self.credited > 0 || !self.credit.is_empty())
    }

    /// When all that is known to have been sent can be used at the target.
    #[inline(always)]
    fn arrived_by(&self) -> Time {
        self.wire_free + Time::from(self.last_arrival)
    }

    /// Takes at most `most` characters of one packet out of the input buffer into another link's output buffer;
    /// returns the number of pieces.
    #[inline(always)]
    fn leave_for(&mut self, to: &mut Self, most: u32) -> u64 {
        let mut pieces = 0;
        let mut rest = most;
        let late = self.arrived_by();
        while rest > 0 {
            let own = self.exit_free;
            let next = self.line.next(Who::Leave);
            let run = if next < self.deleted {
                let arrival = self.line.read(Who::Leave).later(self.arrival);
                follow(rest.min((self.deleted - next) as u32), own, self.crossbar, [arrival])
            } else {
                if to.line.is_read(Who::Place) {
                    break;
                }
                let place = to.line.read(Who::Place).later(to.character);
                // Once the last has arrived, so have all, whatever the pieces.
                let run = if late <= own.max(place.time) {
                    follow(rest, own, self.crossbar, [place])
                } else {
                    let arrival = self.line.read(Who::Leave).later(self.arrival);
                    follow(rest, own, self.crossbar, [arrival, place])
                };
                to.line.take(Who::Place, run.count);
                if to.tight {
                    to.entered.push(run.later(to.forward));
                    self.line.take(Who::Next, run.count);
                }
                run
            };
            rest -= run.count;
            self.line.take(Who::Leave, run.count);
            self.exit_free = run.after(self.crossbar);
            self.give_credit(&run);
            pieces += 1;
        }
        pieces
    }

    /// Sends at most `most` characters of a worm that is still arriving at the input buffer that holds this link;
    /// returns the number of pieces.
    #[inline(always)]
    fn send_coming(&mut self, from: &mut Self, most: u32) -> u64 {
        let mut rest = most.min(from.line.unread(Who::Next));
        let missing = most - rest;
        let late = from.arrived_by() + Time::from(self.forward);
        let mut pieces = 0;
        while rest > 0 {
            // Once the last has arrived, so have all, whatever the pieces.
            let supply = if late <= self.wire_free {
                Run { count: rest, step: 0, time: ALWAYS }
            } else {
                from.line.read(Who::Next).later(from.arrival + self.forward)
            };
            let count = self.put_on_wire(missing + rest, supply);
            if count == 0 {
                break;
            }
            from.line.take(Who::Next, count);
            rest -= count;
            pieces += 1;
        }
        pieces
    }

    /// Sends at most `most` characters that have entered the output buffer; returns the number of pieces.
    fn send_entered(&mut self, most: u32) -> u64 {
        let (mut rest, mut pieces) = (most, 0);
        while rest > 0 {
            let Some(supply) = self.entered.front() else { break };
            let count = self.put_on_wire(rest, supply);
            if count == 0 {
                break;
            }
            self.entered.take(count);
            rest -= count;
            pieces += 1;
        }
        pieces
    }

    /// Sends at most `most` characters that stand ready, at a terminal or in the output buffer; returns the number
    /// of pieces.
    #[inline(always)]
    fn send_ready(&mut self, most: u32) -> u64 {
        let (mut rest, mut pieces) = (most, 0);
        while rest > 0 {
            let count = self.put_on_wire(rest, Run { count: rest, step: 0, time: ALWAYS });
            if count == 0 {
                break;
            }
            rest -= count;
            pieces += 1;
        }
        pieces
    }

    /// Works out the next straight run on the wire, of at most `most` characters to the end of the packet, by the
    /// first run of its supply, and returns how long it is: 0 if there is no credit for its first character.
    ///
    /// Credit comes in lumps of `quantum` characters; only the first character of a lump waits for it.
    #[inline(always)]
    fn put_on_wire(&mut self, most: u32, supply: Run) -> u32 {
        let mut own = self.wire_free;
        if self.credited == 0 {
            let Some(credit) = self.credit.front() else {
                return 0;
            };
            own = own.max(credit.time);
            self.take_credit(credit, most);
        }
        let run = follow(most.min(self.credited), own, self.character, [supply]);
        self.credited -= run.count;
        self.wire_free = run.after(if run.count == most { self.end } else { self.character });
        self.line.push(run);
        run.count
    }

    /// Takes the next lump of credit, with those behind it that are there in time for a wire that sends `most`
    /// more characters of one packet.
    #[inline(always)]
    fn take_credit(&mut self, credit: Run, most: u32) {
        if self.to_terminal {
            // A terminal takes what comes: its credit is one lump without end.
            self.credited = u32::MAX;
            return;
        }
        let in_step = u64::from(credit.step) <= u64::from(self.quantum) * u64::from(self.character);
        let lumps =
            if in_step && most > self.quantum { credit.count.min(self.lumps(most - 1) + 1) } else { 1 };
        self.credit.take(lumps);
        self.credited = lumps * self.quantum;
    }

    /// Whole lumps in a number of characters. Divisions are slow, and most quanta are powers of two.
    #[inline(always)]
    fn lumps(&self, characters: u32) -> u32 {
        if self.quantum_shift < 32 { characters >> self.quantum_shift } else { characters / self.quantum }
    }

    /// Returns credit for a run of characters that leave the input buffer: one lump whenever there is room
    /// for `quantum` more than was promised.
    #[inline]
    fn give_credit(&mut self, run: &Run) {
        let left = self.line.next(Who::Leave);
        if left < self.next_lump {
            return;
        }
        let beyond = (left - self.next_lump) as u32;
        let lumps = self.lumps(beyond) + 1;
        let step = run.step.saturating_mul(self.quantum);
        let lump = Run { count: lumps, step, time: run.at(run.count - 1 - beyond) };
        self.credit.push(lump.later(self.credit_delay));
        self.next_lump += u64::from(lumps * self.quantum);
    }

    /// Credit for the input buffer when it is empty.
    pub(super) fn fill(&mut self) {
        let lumps = self.input_buffer / self.quantum;
        self.credit.push(Run { count: lumps, step: 0, time: ALWAYS });
        self.next_lump = self.granted + u64::from(self.quantum * (lumps + 1) - self.input_buffer);
    }
}

pub(super) fn two(links: &mut [Link], one: u32, other: u32) -> [&mut Link; 2] {
    links.get_disjoint_mut([one as usize, other as usize]).expect("an input link is not its own output")
}
