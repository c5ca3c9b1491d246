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
//! which this does not hold is `tight`; it sends only what is known to have entered its output buffer.

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
            let next = self.line.next(Who::Leave);
            let run = if next < self.deleted {
                let arrival = self.line.read(Who::Leave).later(self.arrival);
                let run =
                    follow(rest.min((self.deleted - next) as u32), self.exit_free, self.crossbar, [arrival]);
                self.line.take(Who::Leave, run.count);
                run
            } else {
                if to.line.is_read(Who::Place) {
                    break;
                }
                let mut place = to.line.read(Who::Place).later(to.character);
                place.count = place.count.min(rest);
                let run = self.take_arrived(place, late);
                to.line.take(Who::Place, run.count);
                if to.tight {
                    to.entered.push(run.later(to.forward));
                    self.line.take(Who::Next, run.count);
                }
                run
            };
            rest -= run.count;
            self.exit_free = run.after(self.crossbar);
            self.give_credit(&run);
            pieces += 1;
        }
        pieces
    }

    /// Takes characters out of the input buffer for a run of places: all those that can follow in one straight
    /// run. By `late` all that are known of have arrived.
    #[inline(always)]
    fn take_arrived(&mut self, place: Run, late: Time) -> Run {
        let (own, pace) = (self.exit_free, self.crossbar);
        let run = if late <= own.max(place.time) {
            follow(place.count, own, pace, [place])
        } else if place.time >= own {
            // Go by the places as long as the characters have arrived in time for them.
            let mut run = Run { count: 0, step: place.step.max(pace), time: place.time };
            while run.count < place.count {
                let arrival = self.line.read(Who::Leave).later(self.arrival);
                if arrival.time > run.at(run.count) || arrival.step > run.step {
                    break;
                }
                let count = arrival.count.min(place.count - run.count);
                self.line.take(Who::Leave, count);
                run.count += count;
            }
            if run.count > 0 {
                return run;
            }
            let arrival = self.line.read(Who::Leave).later(self.arrival);
            follow(place.count, own, pace, [arrival, place])
        } else {
            let arrival = self.line.read(Who::Leave).later(self.arrival);
            follow(place.count, own, pace, [arrival, place])
        };
        self.line.take(Who::Leave, run.count);
        run
    }

    /// Sends at most `most` characters of a worm that is still arriving at the input buffer that holds this link;
    /// returns the number of pieces.
    #[inline(always)]
    fn send_coming(&mut self, from: &mut Self, most: u32) -> u64 {
        let mut rest = most.min(from.line.unread(Who::Next));
        let missing = most - rest;
        let way = from.arrival + self.forward;
        let late = from.arrived_by() + Time::from(self.forward);
        let mut pieces = 0;
        while rest > 0 {
            let Some(own) = self.take_credit(missing + rest) else { break };
            let limit = rest.min(self.credited);
            let mut run = Run { count: 0, step: self.character, time: own };
            // Once the last has arrived, so have all, whatever the pieces.
            if late <= own {
                run.count = limit;
                from.line.take(Who::Next, limit);
            }
            while run.count < limit {
                let supply = from.line.read(Who::Next).later(way);
                let count = if supply.time <= run.at(run.count) && supply.step <= run.step {
                    supply.count.min(limit - run.count)
                } else if run.count == 0 {
                    run = follow(limit, own, self.character, [supply]);
                    from.line.take(Who::Next, run.count);
                    break;
                } else {
                    break;
                };
                from.line.take(Who::Next, count);
                run.count += count;
            }
            self.put_on_wire(&run, run.count == missing + rest);
            rest -= run.count;
            pieces += 1;
        }
        pieces
    }

    /// Sends at most `most` characters that have entered the output buffer; returns the number of pieces.
    fn send_entered(&mut self, most: u32) -> u64 {
        let (mut rest, mut pieces) = (most, 0);
        while rest > 0 {
            let Some(supply) = self.entered.front() else { break };
            let Some(own) = self.take_credit(rest) else { break };
            let run = follow(rest.min(self.credited), own, self.character, [supply]);
            self.entered.take(run.count);
            self.put_on_wire(&run, run.count == rest);
            rest -= run.count;
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
            let Some(time) = self.take_credit(rest) else { break };
            let run = Run { count: rest.min(self.credited), step: self.character, time };
            self.put_on_wire(&run, run.count == rest);
            rest -= run.count;
            pieces += 1;
        }
        pieces
    }

    /// Sends a run, which may be the last of its packet.
    #[inline(always)]
    fn put_on_wire(&mut self, run: &Run, last: bool) {
        self.credited -= run.count;
        self.wire_free = run.after(if last { self.end } else { self.character });
        self.line.push(run);
    }

    /// Takes credit for the next of `most` characters of one packet, and with it all credit that is there in time
    /// for those behind it. Returns when the next character can be sent at the earliest; nothing without credit.
    ///
    /// Credit comes in lumps of `quantum` characters; only the first character of a lump waits for it.
    #[inline(always)]
    fn take_credit(&mut self, most: u32) -> Option<Time> {
        let mut own = self.wire_free;
        if self.to_terminal {
            // A terminal takes what comes: its credit is one lump without end.
            self.credited = u32::MAX;
            return Some(own);
        }
        if self.credited == 0 {
            own = own.max(self.credit.front()?.time);
        }
        while self.credited < most {
            let Some(credit) = self.credit.front() else { break };
            if credit.time > own + Time::from(self.credited) * Time::from(self.character) {
                break;
            }
            let missing = most - self.credited;
            let in_step = credit.step <= self.lump_ticks;
            let lumps = if in_step && missing > self.quantum {
                credit.count.min(self.lumps(missing - 1) + 1)
            } else {
                1
            };
            self.credit.take(lumps);
            self.credited += lumps * self.quantum;
        }
        Some(own)
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
