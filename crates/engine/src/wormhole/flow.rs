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

/// What a link can do next.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    /// Nothing: what it can send is not known further.
    Supply,
    /// Nothing: no more credit is known.
    Credit,
    /// Send on.
    Again,
    /// Send the next worm: this one is sent.
    Sent,
}

/// Credit for the characters that a link sends.
pub(super) struct Credit {
    /// Characters that may be sent on what was taken so far.
    pub characters: u32,
    /// See `Link`.
    pub next_lump: Number,
    /// When the next character can be sent at the earliest.
    pub own: Time,
    /// Whether no more is known.
    pub dry: bool,
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
        let (before, to_terminal) = (at.line.known(), at.to_terminal);
        let mut more = at.sending != NONE;
        if at.plain {
            while more {
                more = self.send::<true>(link);
            }
        } else if more {
            self.send_anyhow(link);
        }
        if to_terminal {
            self.stream(link);
        }
        let at = &self.links[link as usize];
        let (holder, output) = (at.holder, at.output);
        if output != NONE && at.line.known() != before {
            self.supplied(link, output, before);
        }
        if holder != NONE {
            self.vacated(holder);
        }
    }

    #[cold]
    fn send_anyhow(&mut self, link: u32) {
        while self.send::<false>(link) {}
    }

    /// More characters are on their way to the input buffer of a link, of which those `before` were known: its output may
    /// send them, or it can be seen when the packet has left.
    #[inline(always)]
    fn supplied(&mut self, link: u32, output: u32, before: Number) {
        if self.links[link as usize].stepwise {
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
    #[inline(always)]
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

    /// Sends the next characters of the first worm of which there are any, which follow in one straight run; true if it
    /// may send on.
    #[inline(always)]
    fn send<const PLAIN: bool>(&mut self, link: u32) -> bool {
        let at = &self.links[link as usize];
        let number = at.sending;
        let asks = at.head == number && !at.asked;
        if at.keeps_credit || !at.line.has_room() {
            self.prepare(link);
        }
        let then = if self.worms[number as usize].bound {
            self.send_entered(link, number)
        } else {
            self.send_run::<PLAIN>(link, number)
        };
        let more = match then {
            Then::Sent => self.sent(link, number),
            Then::Again => true,
            _ => {
                self.links[link as usize].waits_for_credit = then == Then::Credit;
                false
            }
        };
        if asks {
            self.ask(link);
        }
        more
    }

    /// What is not needed every time before sending.
    fn prepare(&mut self, link: u32) {
        if self.links[link as usize].keeps_credit {
            self.use_kept_credit(link);
        }
        if !self.links[link as usize].line.has_room() {
            self.make_room(link);
        }
    }

    #[inline(always)]
    fn send_run<const PLAIN: bool>(&mut self, link: u32, number: u32) -> Then {
        let (at, worm) = (&self.links[link as usize], &self.worms[number as usize]);
        let kind = self.kind(at);
        let (next, end) = (at.line.known(), worm.end);
        let supply = self.supply(at, number, end);
        let most = (supply.stop - next).0;
        if most == 0 {
            return Then::Supply;
        }
        let own = at.wire_free.max(worm.ready);
        let mut credit = Credit { characters: at.credited, next_lump: at.next_lump, own, dry: true };
        if credit.characters < most && !at.keeps_credit {
            self.take_credit::<PLAIN>(link, at, kind, &mut credit, most);
        }
        if credit.characters == 0 {
            return Then::Credit;
        }
        let mut run = Run { count: credit.characters.min(most), step: kind.character, time: credit.own };
        // Once the last has arrived, so have all, whatever the pieces.
        if supply.late > run.time {
            run = supply.follow(run, next);
        }
        let dry = PLAIN && credit.dry && credit.characters == run.count && !at.keeps_credit;
        let stop = supply.stop;
        self.put_on_wire(link, number, &run, &credit);
        let next = next + Wrapping(run.count);
        if next == end {
            Then::Sent
        } else if next == stop {
            Then::Supply
        } else if dry {
            Then::Credit
        } else {
            Then::Again
        }
    }

    /// Notes a run that is sent, for which there must be room.
    #[inline(always)]
    pub(super) fn put_on_wire(&mut self, link: u32, number: u32, run: &Run, credit: &Credit) {
        let at = &mut self.links[link as usize];
        at.put(&self.kinds[at.kind as usize], &mut self.worms[number as usize], run, credit);
        self.extensions += 1;
    }

    /// What can be sent of a worm that ends before `end`.
    #[inline(always)]
    fn supply<'a>(&'a self, at: &'a Link, number: u32, end: Number) -> Supply<'a> {
        // Only the packet that was granted last can still be in the input buffer it comes from.
        if number != at.tail || at.holder == NONE {
            return Supply { line: &at.line, shift: at.shift, way: 0, late: ALWAYS, stop: end };
        }
        let from = &self.links[at.holder as usize];
        let line = if from.stepwise { &self.exits[at.holder as usize] } else { &from.line };
        // Nothing of a header that is deleted is sent.
        let stop = later(at.line.known(), earlier(end, line.known() - at.shift));
        Supply { line, shift: at.shift, way: at.way, late: line.last() + Time::from(at.way), stop }
    }

    /// Sends characters of which it was kept when they are ready, in one run.
    #[cold]
    fn send_entered(&mut self, link: u32, number: u32) -> Then {
        let (at, worm) = (&self.links[link as usize], &self.worms[number as usize]);
        let kind = self.kind(at);
        let most = (worm.end - at.line.known()).0;
        let (characters, own) = (at.credited, at.wire_free.max(worm.ready));
        let mut credit = Credit { characters, next_lump: at.next_lump, own, dry: true };
        if characters < most && !at.keeps_credit {
            self.take_credit::<false>(link, at, kind, &mut credit, most);
        }
        if credit.characters == 0 {
            return Then::Credit;
        }
        let supply = at.entered.as_ref().and_then(|entered| entered.front());
        let supply = supply.expect("what has left an input buffer has entered");
        let run = follow(most.min(credit.characters), credit.own, kind.character, [supply]);
        self.put_on_wire(link, number, &run, &credit);
        let entered = &mut self.links[link as usize].entered;
        entered.as_mut().expect("there was a run in it").take(run.count);
        if run.count == most { Then::Sent } else { Then::Again }
    }

    /// Takes credit for the next of `most` characters of one packet, and with it all credit that is there in time
    /// for those behind it.
    ///
    /// Credit comes in lumps of `quantum` characters; only the first character of a lump waits for it.
    #[inline(always)]
    fn take_credit<const PLAIN: bool>(
        &self,
        link: u32,
        at: &Link,
        kind: &Kind,
        credit: &mut Credit,
        most: u32,
    ) {
        let Some(to) = self.links.get(at.output as usize) else { return };
        let places = self.places(to);
        loop {
            let leaving = if PLAIN {
                places.leaving(at, to, credit.next_lump)
            } else {
                self.leaving(link, credit.next_lump).map(|(run, _)| run)
            };
            let Some(run) = leaving else { return };
            let due = credit.own + Time::from(credit.characters) * Time::from(kind.character);
            let time = run.time + Time::from(kind.credit_delay);
            if time > due {
                if credit.characters > 0 {
                    break;
                }
                credit.own = time;
            }
            // All lumps of the run are in time if it is not slower than what is sent.
            let all = if run.step <= kind.character { run.count.min(most - credit.characters) } else { 1 };
            let characters = kind.lumps(all) * kind.quantum;
            credit.characters += characters;
            credit.next_lump += characters;
            if credit.characters >= most {
                break;
            }
        }
        credit.dry = false;
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
