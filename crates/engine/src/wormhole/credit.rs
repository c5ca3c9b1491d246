//! When characters leave input buffers, and the credit that returns for them.
//!
//! A character of the head packet leaves when it has arrived, when the packet has its output and when a place in the output buffer
//! becomes free there, which is when the character an output buffer before it has been sent. So this is
//! looked up, for the characters that return a lump of credit and for the end of packet, and not kept.
//!
//! Credit waits for an arrival only on long links: on others the time to send the characters of a whole input
//! buffer is longer than from the start of a character to the use of its credit.

use std::num::Wrapping;

use super::queue::Run;
use super::state::{Link, Network};
use super::timeline::{Number, Timeline, ahead, earlier, later};
use crate::fabric::NONE;
use crate::kernel::Time;

impl Network {
    /// Whether it is known when the next lump of credit is there.
    #[inline(always)]
    pub(super) fn has_credit(&self, link: u32) -> bool {
        let at = &self.links[link as usize];
        at.output != NONE && self.leaving(link, at.next_lump).is_some()
    }

    /// When characters of a head packet leave, from one on as long as their places become free in a straight run; and
    /// whether this holds for all of them. If not, it holds for the first, and those behind it leave at the same time or
    /// as told.
    #[inline(always)]
    pub(super) fn leaving(&self, link: u32, number: Number) -> Option<(Run, bool)> {
        let at = &self.links[link as usize];
        let to = &self.links[at.output as usize];
        let end = to.granted + to.shift;
        if ahead(end, number) <= 0 {
            return None;
        }
        if at.stepwise {
            let line = &self.exits[link as usize];
            return (ahead(line.known(), number) > 0).then(|| (line.run_from(number), true));
        }
        let mut own = at.exit_free;
        if at.crossbar > 0 {
            let first = self.worms[at.head as usize].first;
            own += Time::from((number - first).0) * Time::from(at.crossbar);
        }
        let mut run = Run { count: 1, step: 0, time: own };
        if ahead(number, at.deleted) >= 0 {
            let place = number - to.shift - Wrapping(to.output_buffer);
            if ahead(place, to.line.known()) >= 0 {
                return None;
            }
            run = to.line.run_from(place).later(to.character);
            run.count = run.count.min((end - number).0);
        }
        let exact = run.time >= own;
        run.time = run.time.max(own);
        if at.long {
            if ahead(number, at.line.known()) >= 0 {
                return None;
            }
            let arrival = at.line.run_from(number).time + Time::from(at.arrival);
            run = Run { count: 1, time: run.time.max(arrival), ..run };
        }
        Some((run, exact))
    }

    /// Notes when the credit is there for all that is left of a head packet, which leaves.
    pub(super) fn keep_credit(&mut self, link: u32) {
        let to = &self.links[self.links[link as usize].output as usize];
        let end = to.granted + to.shift;
        loop {
            let number = self.links[link as usize].next_lump;
            if ahead(end, number) <= 0 {
                return;
            }
            let (run, exact) = self.leaving(link, number).expect("the packet has left");
            let at = &mut self.links[link as usize];
            let mut lumps = at.lumps_of(&run);
            if !exact {
                lumps.count = 1;
            }
            at.next_lump += lumps.count * at.quantum;
            at.credit.push(lumps);
        }
    }

    /// Lets a packet leave its input buffer, if it is known when its end does.
    #[inline(always)]
    pub(super) fn try_left(&mut self, link: u32) {
        let at = &self.links[link as usize];
        let to = &self.links[at.output as usize];
        let places = to.line.known() + Wrapping(to.output_buffer);
        let end = to.granted + to.shift;
        if ahead(places, to.granted) < 0 || ahead(at.line.known(), end) < 0 {
            return;
        }
        let arrival = self.worms[at.head as usize].sent - Time::from(at.end) + Time::from(at.arrival);
        let (run, _) = self.leaving(link, end - Wrapping(1)).expect("there is a place");
        self.left(link, run.time.max(arrival));
    }

    /// Keeps in the output buffer when those characters of a packet are ready that have left the input buffer and
    /// have not been sent; unless all will be ready anyway.
    pub(super) fn hand_over(&mut self, link: u32, output: u32) {
        let to = &self.links[output as usize];
        // Without a tail all of the packet has even left the next input buffer already.
        let Some(worm) = self.worms.get(to.tail as usize) else { return };
        let mut next = later(to.line.known(), worm.first);
        let end = worm.end;
        let (line, way) = self.supply(link);
        let way = way + to.forward;
        if next == end || worm.bound {
            return;
        }
        let last = line.run_from(end - Wrapping(1) + to.shift).later(way).time;
        // What is not known to be sent yet waits for something that has not happened yet.
        if last <= to.wire_free.max(self.wheel.now()) {
            return;
        }
        let mut entered = std::mem::take(&mut self.links[output as usize].entered);
        let to = &self.links[output as usize];
        let (line, _) = self.supply(link);
        while next != end {
            let mut run = line.run_from(next + to.shift).later(way);
            run.count = run.count.min((end - next).0);
            entered.push(run);
            next += run.count;
        }
        let to = &mut self.links[output as usize];
        to.entered = entered;
        self.worms[to.tail as usize].bound = true;
    }

    /// From when what passes an input link can be sent on: the times, and what to add besides the way to the wire.
    #[inline(always)]
    pub(super) fn supply(&self, link: u32) -> (&Timeline, u32) {
        let at = &self.links[link as usize];
        if at.stepwise { (&self.exits[link as usize], 0) } else { (&at.line, at.arrival) }
    }

    /// Makes room for another piece of a link's timeline.
    #[cold]
    pub(super) fn make_room(&mut self, link: u32) {
        let at = &self.links[link as usize];
        let mut keep = at.line.known();
        if at.stepwise {
            keep = earlier(keep, self.exits[link as usize].known());
        } else if !at.to_terminal {
            keep = earlier(keep, self.next_supplied(link));
        }
        if at.long {
            keep = earlier(keep, at.next_lump);
        }
        if !at.from_terminal {
            let places = Wrapping(at.output_buffer);
            keep = earlier(keep, at.granted - places - Wrapping(1));
            if let Some(from) = self.links.get(at.holder as usize) {
                let next =
                    if from.stepwise { self.exits[at.holder as usize].known() } else { from.next_lump };
                keep = earlier(keep, next - at.shift - places);
            }
        }
        self.links[link as usize].line.make_room(keep);
    }

    /// Makes room for another piece of what leaves the input buffer of a link that is `stepwise`.
    #[cold]
    pub(super) fn make_exit_room(&mut self, link: u32) {
        let known = self.exits[link as usize].known();
        let keep = earlier(known, earlier(self.links[link as usize].next_lump, self.next_supplied(link)));
        self.exits[link as usize].make_room(keep);
    }

    /// The first character in an input buffer that has not been sent on.
    fn next_supplied(&self, link: u32) -> Number {
        let at = &self.links[link as usize];
        if at.output == NONE {
            return self.worms.get(at.head as usize).map_or(at.line.known(), |head| head.first);
        }
        let to = &self.links[at.output as usize];
        to.shift + later(to.line.known(), self.worms[to.tail as usize].first)
    }
}

impl Link {
    /// The lumps of credit that characters return which leave in a run, the first one returning one.
    #[inline(always)]
    fn lumps_of(&self, run: &Run) -> Run {
        Run {
            count: self.lumps_in(run.count - 1) + 1,
            step: run.step.saturating_mul(self.quantum),
            time: run.time + Time::from(self.credit_delay),
        }
    }

    /// Takes credit that packets have left for the next of `most` characters to be sent, and with it all that is there
    /// in time for those behind it.
    #[inline(always)]
    pub(super) fn use_kept_credit(&mut self, most: u32) {
        while self.credited < most {
            let Some(lumps) = self.credit.front() else { return };
            let due = self.wire_free + Time::from(self.credited) * Time::from(self.character);
            if lumps.time > due {
                if self.credited > 0 {
                    return;
                }
                self.wire_free = lumps.time;
            }
            let missing = most - self.credited;
            let in_step = lumps.step <= self.lump_ticks && missing > self.quantum;
            let count = if in_step { lumps.count.min(self.lumps_in(missing - 1) + 1) } else { 1 };
            self.credit.take(count);
            self.credited += count * self.quantum;
        }
    }

    /// Whole lumps in a number of characters. Divisions are slow, and most quanta are powers of two.
    #[inline(always)]
    pub(super) fn lumps_in(&self, characters: u32) -> u32 {
        if self.quantum_shift < 32 { characters >> self.quantum_shift } else { characters / self.quantum }
    }
}
