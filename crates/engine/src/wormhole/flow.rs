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

use super::link::{Kind, Link};
use super::queue::{ALWAYS, Run, follow};
use super::state::Network;
use super::timeline::{Number, Timeline, earlier, later};
use crate::fabric::NONE;
use crate::kernel::Time;

/// Why a link sends no further.
#[derive(Clone, Copy, PartialEq)]
enum Stop {
    /// What it can send is not known further, or the worm is sent.
    Supply,
    /// No more credit is known.
    Credit,
    /// It can go on once this is noted.
    Pause,
}

/// Runs worked out before they are noted.
const RUNS: usize = 2;

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

/// The characters of a worm that a link can send.
struct Supply<'a> {
    /// When they start on the wire by which they come.
    line: &'a Timeline,
    /// What a number is greater by there.
    shift: Number,
    /// Ticks from then until they are ready here.
    way: u32,
    /// When the last of them is.
    late: Time,
    /// Behind the last one.
    stop: Number,
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
    #[inline(always)]
    fn supplied(&mut self, link: u32, before: Number) {
        let at = &self.links[link as usize];
        if self.kind(at).stepwise {
            return self.leave(link);
        }
        let to = &self.links[at.output as usize];
        if !to.waits_for_credit && to.line.known() + to.shift == before {
            self.wake(at.output);
        } else {
            self.try_left(link);
        }
    }

    /// More places in the output buffer of its output become free for the characters in an input buffer.
    #[inline(always)]
    fn vacated(&mut self, link: u32) {
        let at = &self.links[link as usize];
        if self.kind(at).stepwise {
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
        let at = &self.links[link as usize];
        let number = at.sending;
        let (before, end) = (at.line.known(), self.worms[number as usize].end);
        while self.send_some(link, number, end) {}
        let at = &self.links[link as usize];
        let known = at.line.known();
        if known == before {
            return false;
        }
        let asks = at.head == number && !at.asked && !self.kind(at).to_terminal;
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
        let worm = &self.worms[number as usize];
        let (first, bound) = (worm.first, worm.bound);
        let at = &mut self.links[link as usize];
        let kind = &self.kinds[at.kind as usize];
        at.wire_free = at.wire_free.max(worm.ready);
        if !at.credit.is_empty() {
            at.use_kept_credit(kind, (end - at.line.known()).0);
        }
        let reach = if bound {
            self.reach_entered(link, end)
        } else {
            let at = &self.links[link as usize];
            let supply = self.supply(at, number, end);
            if kind.plain {
                self.reach::<true>(link, at, kind, &supply, end)
            } else {
                self.reach_anyhow(link, at, kind, &supply, end)
            }
        };
        let at = &mut self.links[link as usize];
        at.wire_free = reach.own;
        at.credited = reach.credited;
        at.next_lump = reach.next_lump;
        at.waits_for_credit = reach.stop == Stop::Credit;
        if reach.len > 0 {
            if at.line.known() == first {
                self.worms[number as usize].started = reach.runs[0].time;
            }
            self.extensions += reach.len as u64;
            self.note(link, &reach.runs[..reach.len]);
        }
        reach.stop == Stop::Pause
    }

    #[inline(always)]
    fn note(&mut self, link: u32, runs: &[Run]) {
        for run in runs {
            if !self.links[link as usize].line.has_room() {
                self.make_room(link);
            }
            self.links[link as usize].line.push(run);
        }
    }

    /// What can be sent of a worm that ends before `end`.
    #[inline(always)]
    fn supply<'a>(&'a self, at: &'a Link, number: u32, end: Number) -> Supply<'a> {
        // Only the packet that was granted last can still be in the input buffer it comes from.
        if number != at.tail || at.holder == NONE {
            return Supply { line: &at.line, shift: at.shift, way: 0, late: ALWAYS, stop: end };
        }
        let (line, way) = self.passing(at.holder);
        // Nothing of a header that is deleted is sent.
        let stop = later(at.line.known(), earlier(end, line.known() - at.shift));
        let late = line.last() + Time::from(way);
        Supply { line, shift: at.shift, way, late, stop }
    }

    #[cold]
    fn reach_anyhow(&self, link: u32, at: &Link, kind: &Kind, supply: &Supply, end: Number) -> Reach {
        self.reach::<false>(link, at, kind, supply, end)
    }

    /// How far a worm can be sent that ends before `end`.
    #[inline(always)]
    fn reach<const PLAIN: bool>(
        &self,
        link: u32,
        at: &Link,
        kind: &Kind,
        supply: &Supply,
        end: Number,
    ) -> Reach {
        let mut reach = Reach::from(at);
        while reach.next != supply.stop {
            let most = (supply.stop - reach.next).0;
            let most = self.take_credit::<PLAIN>(link, at, kind, &mut reach, most);
            if most == 0 {
                reach.stop = if at.credit.is_empty() { Stop::Credit } else { Stop::Pause };
                break;
            }
            let mut run = Run { count: most, step: kind.character, time: reach.own };
            // Once the last has arrived, so have all, whatever the pieces.
            if supply.late > run.time {
                run = supply.follow(run, reach.next);
            }
            reach.put(kind, run, end);
            if reach.stop == Stop::Pause {
                break;
            }
        }
        reach
    }

    /// How far characters can be sent of which it was kept when they are ready, in one run.
    #[cold]
    fn reach_entered(&mut self, link: u32, end: Number) -> Reach {
        let at = &self.links[link as usize];
        let kind = self.kind(at);
        let mut reach = Reach::from(at);
        if reach.next == end {
            return reach;
        }
        let most = (end - reach.next).0;
        let most = self.take_credit::<false>(link, at, kind, &mut reach, most);
        if most == 0 {
            reach.stop = if at.credit.is_empty() { Stop::Credit } else { Stop::Pause };
            return reach;
        }
        let supply = at.entered.as_ref().and_then(|entered| entered.front());
        let supply = supply.expect("what has left an input buffer has entered");
        let run = follow(most, reach.own, kind.character, [supply]);
        reach.put(kind, run, end);
        reach.stop = Stop::Pause;
        let entered = &mut self.links[link as usize].entered;
        entered.as_mut().expect("there was a run in it").take(run.count);
        reach
    }

    /// Takes credit for the next of `most` characters of one packet, and with it all credit that is there in time
    /// for those behind it. Returns for how many there is credit then.
    ///
    /// Credit comes in lumps of `quantum` characters; only the first character of a lump waits for it.
    #[inline(always)]
    fn take_credit<const PLAIN: bool>(
        &self,
        link: u32,
        at: &Link,
        kind: &Kind,
        reach: &mut Reach,
        most: u32,
    ) -> u32 {
        if reach.credited >= most {
            return most;
        }
        if let Some(to) = self.links.get(at.output as usize).filter(|_| at.credit.is_empty()) {
            while reach.credited < most {
                let leaving = self.leaving::<PLAIN>(link, at, kind, to, reach.next_lump);
                let Some((run, _)) = leaving else { break };
                let due = reach.own + Time::from(reach.credited) * Time::from(kind.character);
                let time = run.time + Time::from(kind.credit_delay);
                if time > due {
                    if reach.credited > 0 {
                        break;
                    }
                    reach.own = time;
                }
                // All lumps of the run are in time if it is not slower than what is sent.
                let all = if run.step <= kind.character { run.count.min(most - reach.credited) } else { 1 };
                let characters = kind.whole_lumps(all);
                reach.credited += characters;
                reach.next_lump += characters;
            }
        }
        reach.credited.min(most)
    }
}

impl Supply<'_> {
    /// The first of the characters of a run, from a number on, that can follow in one straight run as they arrive.
    #[inline(always)]
    fn follow(&self, mut run: Run, number: Number) -> Run {
        let most = std::mem::take(&mut run.count);
        while run.count < most {
            let arrival = self.line.run_from(number + self.shift + Wrapping(run.count)).later(self.way);
            if arrival.time > run.at(run.count) || arrival.step > run.step {
                if run.count == 0 {
                    return follow(most, run.time, run.step, [arrival]);
                }
                break;
            }
            run.count += arrival.count.min(most - run.count);
        }
        run
    }
}

impl Reach {
    #[inline(always)]
    fn from(at: &Link) -> Self {
        Self {
            runs: [Run::default(); RUNS],
            len: 0,
            next: at.line.known(),
            own: at.wire_free,
            credited: at.credited,
            next_lump: at.next_lump,
            stop: Stop::Supply,
        }
    }

    /// Sends a run, which may be the last of its packet.
    #[inline(always)]
    fn put(&mut self, kind: &Kind, run: Run, end: Number) {
        self.runs[self.len] = run;
        self.len += 1;
        self.credited -= run.count;
        self.next += run.count;
        self.own = run.after(if self.next == end { kind.end } else { kind.character });
        // On a long link the credit depends on what was just sent.
        if self.len == RUNS || kind.long {
            self.stop = Stop::Pause;
        }
    }
}
