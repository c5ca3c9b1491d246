//! Working out when characters start on the wires, as far as that follows from what is known.
//!
//! A link sends by the model's equation: a character starts when it is there, when the wire is free and when
//! there is credit. What is there follows from the times on the link it comes by, and credit from the places that
//! become free on the link it goes to (see the module `credit`), so the times on wires are all that
//! has to be kept. A link goes as far as its bounds are known, then wakes those that depend on it. All bounds have a
//! positive delay, so the result does not depend on the order of the work.
//!
//! At most switches what is sent depends neither on the crossbar nor on places in the output buffer: a place is free
//! long before the character that takes it is due on the wire, as long as sending a bufferful takes longer than a
//! character and the way through the switch, and the crossbar is not slower than the wires. The input links
//! of a switch for which this does not hold are `stepwise` (see the module `stepwise`).

use std::num::Wrapping;

use super::queue::{ALWAYS, Run, follow};
use super::state::{Link, Network, Worm};
use super::timeline::{Number, Timeline, earlier, later};
use crate::fabric::NONE;
use crate::kernel::Time;

/// Why a link sends no further.
#[derive(PartialEq)]
enum Stop {
    /// What it can send is not known further, or the worm is sent.
    Supply,
    /// No more credit is known.
    Credit,
    /// It can go on once this is noted.
    Pause,
}

/// Runs worked out before they are noted.
const RUNS: usize = 3;

/// How far a link can send.
struct Reach {
    runs: [Run; RUNS],
    len: usize,
    /// The next character.
    next: Number,
    /// Its earliest start by the wire.
    own: Time,
    /// See `Link`.
    credited: u32,
    /// See `Link`.
    next_lump: Number,
    stop: Stop,
}

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

    /// Sends on a link, and tells those that depend on it.
    fn advance(&mut self, link: u32) {
        let at = &mut self.links[link as usize];
        at.woken = false;
        let before = at.line.known();
        while self.links[link as usize].sending != NONE && self.send(link) {}
        let at = &self.links[link as usize];
        let (holder, output) = (at.holder, at.output);
        if output != NONE && at.line.known() != before {
            self.supplied(link, before);
        }
        if holder != NONE {
            self.vacated(holder);
        }
    }

    /// More characters are on their way to the input buffer of a link, of which those `before` were known: its output may
    /// send them, or it can be seen when the packet has left.
    fn supplied(&mut self, link: u32, before: Number) {
        let at = &self.links[link as usize];
        let output = at.output;
        if at.stepwise {
            return self.leave(link);
        }
        let to = &self.links[output as usize];
        if !to.waits_for_credit && to.line.known() + to.shift == before {
            self.wake(output);
        } else {
            self.try_left(link);
        }
    }

    /// More places in the output buffer of its output become free for the characters in an input buffer.
    fn vacated(&mut self, link: u32) {
        let at = &self.links[link as usize];
        if at.stepwise {
            return self.leave(link);
        }
        if at.waits_for_credit && self.has_credit(link) {
            self.wake(link);
        }
        self.try_left(link);
    }

    /// Extends the times of the first worm of which characters are still to be sent; true if it is sent completely.
    #[inline(always)]
    fn send(&mut self, link: u32) -> bool {
        let at = &mut self.links[link as usize];
        let number = at.sending;
        let worm = &self.worms[number as usize];
        let (before, end) = (at.line.known(), worm.end);
        at.wire_free = at.wire_free.max(worm.ready);
        while self.send_some(link, number, end) {}
        let at = &self.links[link as usize];
        let known = at.line.known();
        if known == before {
            return false;
        }
        let asks = at.head == number && !at.asked && !at.to_terminal;
        let complete = known == end;
        if complete {
            self.sent(link, number);
        }
        if asks {
            self.ask(link);
        }
        complete
    }

    /// Extends the times of a worm on a link towards its `end`; true if it can go on.
    #[inline(always)]
    fn send_some(&mut self, link: u32, number: u32, end: Number) -> bool {
        let at = &mut self.links[link as usize];
        if !at.credit.is_empty() {
            at.use_kept_credit((end - at.line.known()).0);
        }
        let &Worm { bound, first, .. } = &self.worms[number as usize];
        let at = &self.links[link as usize];
        let fresh = at.line.known() == first;
        // Only the packet that was granted last can still be in the input buffer it comes from.
        let reach = if bound {
            self.reach_entered(link, end)
        } else if number == at.tail && at.holder != NONE {
            self.reach(link, end, Some(self.supply(at.holder)))
        } else {
            self.reach(link, end, None)
        };
        if fresh && reach.len > 0 {
            self.worms[number as usize].started = reach.runs[0].time;
        }
        for run in &reach.runs[..reach.len] {
            if !self.links[link as usize].line.has_room() {
                self.make_room(link);
            }
            self.links[link as usize].line.push(run);
        }
        self.extensions += reach.len as u64;
        let at = &mut self.links[link as usize];
        at.wire_free = reach.own;
        at.credited = reach.credited;
        at.next_lump = reach.next_lump;
        at.waits_for_credit = reach.stop == Stop::Credit;
        reach.stop == Stop::Pause
    }

    /// How far a worm can be sent that ends before `end` and has entered the output buffer, or else is still arriving at
    /// the input buffer that holds this link, at the times given and some ticks later.
    #[inline(always)]
    fn reach(&self, link: u32, end: Number, supply: Option<(&Timeline, u32)>) -> Reach {
        let at = &self.links[link as usize];
        let mut reach = Reach::from(at);
        let (mut stop, mut late) = (end, ALWAYS);
        if let Some((line, way)) = supply {
            // Nothing of a header that is deleted is sent.
            stop = later(reach.next, earlier(end, line.known() - at.shift));
            late = line.last() + Time::from(way + at.forward);
        }
        while reach.next != stop {
            let most = (stop - reach.next).0;
            let most = self.take_credit(link, &mut reach, most);
            if most == 0 {
                reach.stop = if at.credit.is_empty() { Stop::Credit } else { Stop::Pause };
                break;
            }
            let mut run = Run { count: most, step: at.character, time: reach.own };
            // Once the last has arrived, so have all, whatever the pieces.
            if let Some((line, way)) = supply.filter(|_| late > run.time) {
                run = arriving(run, line, reach.next + at.shift, way + at.forward);
            }
            reach.put(at, run, end);
            if reach.stop == Stop::Pause {
                break;
            }
        }
        reach
    }

    /// How far characters can be sent of which it was kept when they are ready, in one run.
    #[cold]
    fn reach_entered(&mut self, link: u32, end: Number) -> Reach {
        let mut reach = Reach::from(&self.links[link as usize]);
        if reach.next == end {
            return reach;
        }
        let most = (end - reach.next).0;
        let most = self.take_credit(link, &mut reach, most);
        let at = &mut self.links[link as usize];
        if most == 0 {
            reach.stop = if at.credit.is_empty() { Stop::Credit } else { Stop::Pause };
            return reach;
        }
        let supply = at.entered.front().expect("what has left an input buffer has entered");
        let run = follow(most, reach.own, at.character, [supply]);
        at.entered.take(run.count);
        reach.put(at, run, end);
        reach.stop = Stop::Pause;
        reach
    }

    /// Takes credit for the next of `most` characters of one packet, and with it all credit that is there in time
    /// for those behind it. Returns for how many there is credit then.
    ///
    /// Credit comes in lumps of `quantum` characters; only the first character of a lump waits for it.
    #[inline(always)]
    fn take_credit(&self, link: u32, reach: &mut Reach, most: u32) -> u32 {
        if reach.credited >= most {
            return most;
        }
        let at = &self.links[link as usize];
        if at.credit.is_empty() && at.output != NONE {
            while reach.credited < most {
                let Some((run, _)) = self.leaving(link, reach.next_lump) else { break };
                let due = reach.own + Time::from(reach.credited) * Time::from(at.character);
                let time = run.time + Time::from(at.credit_delay);
                if time > due {
                    if reach.credited > 0 {
                        break;
                    }
                    reach.own = time;
                }
                // All lumps of the run are in time if it is not slower than what is sent.
                let rest =
                    if run.step <= at.character { run.count.min(most - reach.credited) - 1 } else { 0 };
                let characters = (at.lumps_in(rest) + 1) * at.quantum;
                reach.credited += characters;
                reach.next_lump += characters;
            }
        }
        reach.credited.min(most)
    }
}

/// The first of the characters of a run that can follow in one straight run, as they arrive: by a timeline from a number on and
/// some ticks later.
#[inline(always)]
fn arriving(mut run: Run, line: &Timeline, number: Number, way: u32) -> Run {
    let most = std::mem::take(&mut run.count);
    while run.count < most {
        let supply = line.run_from(number + Wrapping(run.count)).later(way);
        if supply.time > run.at(run.count) || supply.step > run.step {
            if run.count == 0 {
                return follow(most, run.time, run.step, [supply]);
            }
            break;
        }
        run.count += supply.count.min(most - run.count);
    }
    run
}

impl Reach {
    #[inline(always)]
    fn from(at: &Link) -> Self {
        Self {
            runs: [Run::default(); RUNS],
            len: 0,
            next: at.line.known(),
            own: at.wire_free,
            credited: if at.to_terminal { u32::MAX } else { at.credited },
            next_lump: at.next_lump,
            stop: Stop::Supply,
        }
    }

    /// Sends a run, which may be the last of its packet.
    #[inline(always)]
    fn put(&mut self, at: &Link, run: Run, end: Number) {
        self.runs[self.len] = run;
        self.len += 1;
        self.credited -= run.count;
        self.next += run.count;
        self.own = run.after(if self.next == end { at.end } else { at.character });
        // On a long link the credit depends on what was just sent.
        if self.len == RUNS || at.long {
            self.stop = Stop::Pause;
        }
    }
}
