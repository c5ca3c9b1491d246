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
use super::worm::Worm;
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
}

/// What comes in of a worm.
pub(super) struct Supply<'a> {
    /// When its characters start on the wire by which they come.
    pub line: &'a Timeline,
    /// What a number is greater by there.
    pub shift: Number,
    /// Ticks from then until they are ready here.
    pub way: u32,
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

    /// Sees to credit that was kept and to room in the timeline.
    fn prepare(&mut self, link: u32) {
        if !self.links[link as usize].line.has_room() {
            self.make_room(link);
        }
        let at = &mut self.links[link as usize];
        if at.keeps_credit {
            let &Worm { time, end, .. } = at.worm(at.sending, &self.crowd);
            at.use_kept_credit(&self.kinds[at.kind as usize], time, end);
        }
    }

    /// A turn of a link, whatever it is like.
    #[cold]
    pub(super) fn advance_anyhow(&mut self, link: u32) {
        let at = &mut self.links[link as usize];
        at.woken = false;
        let before = at.line.known();
        if at.sending != NONE {
            while self.send(link) {}
        }
        let at = &self.links[link as usize];
        let (holder, output) = (at.holder, at.output);
        if output != NONE && at.line.known() != before {
            self.supplied(link, output, before);
        }
        if holder != NONE {
            self.vacated(holder);
        }
        if self.links[link as usize].to_terminal {
            self.stream(link);
        }
    }

    /// More characters are on their way to the input buffer of a link, of which those `before` were known: its output may
    /// send them, or it can be seen when the packet has left.
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
    fn send(&mut self, link: u32) -> bool {
        let at = &self.links[link as usize];
        let number = at.sending;
        let asks = at.head == number && !at.asked;
        self.prepare(link);
        let then = if self.worm(link, number).bound {
            self.send_entered(link, number)
        } else {
            self.send_run(link, number)
        };
        let more = match then {
            Then::Sent => {
                let gone = self.links[link as usize].sent(number, &mut self.crowd);
                self.sent(link, &gone);
                gone.next != NONE
            }
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

    fn send_run(&mut self, link: u32, number: u32) -> Then {
        let at = &self.links[link as usize];
        let worm = at.worm(number, &self.crowd);
        let kind = self.kind(at);
        let (next, end) = (at.line.known(), worm.end);
        let (supply, late, stop) = self.supply(at, number, end);
        let most = (stop - next).0;
        if most == 0 {
            return Then::Supply;
        }
        let own = at.wire_free.max(worm.time);
        let mut credit = Credit { characters: at.credited, next_lump: at.next_lump, own };
        if credit.characters < most && !at.keeps_credit {
            self.take_credit(link, kind, &mut credit, most);
        }
        if credit.characters == 0 {
            return Then::Credit;
        }
        let mut run = Run { count: credit.characters.min(most), step: kind.character, time: credit.own };
        // Once the last has arrived, so have all, whatever the pieces.
        if late > run.time {
            run = supply.follow(run, next);
        }
        self.put_on_wire(link, number, &run, &credit);
        let next = next + Wrapping(run.count);
        if next == end {
            Then::Sent
        } else if next == stop {
            Then::Supply
        } else {
            Then::Again
        }
    }

    /// Notes a run that is sent, for which there must be room.
    #[inline(always)]
    pub(super) fn put_on_wire(&mut self, link: u32, number: u32, run: &Run, credit: &Credit) {
        let at = &mut self.links[link as usize];
        let known = at.line.known();
        let worm = at.worm_mut(number, &mut self.crowd);
        if known == worm.first {
            worm.time = run.time;
        }
        let last = known + Wrapping(run.count) == worm.end;
        (at.credited, at.next_lump) = (credit.characters, credit.next_lump);
        at.put(&self.kinds[at.kind as usize], last, run);
        self.extensions += 1;
        self.free_places(link, run);
    }

    /// What can be sent of a worm that ends before `end`: when it comes, when the last of it is ready, and behind which
    /// character it stops.
    fn supply<'a>(&'a self, at: &'a Link, number: u32, end: Number) -> (Supply<'a>, Time, Number) {
        // Only the packet that was granted last can still be in the input buffer it comes from.
        if number != at.tail || at.holder == NONE {
            return (Supply { line: &at.line, shift: at.shift, way: 0 }, ALWAYS, end);
        }
        let from = &self.links[at.holder as usize];
        let line = if from.stepwise { &self.exits[at.holder as usize] } else { &from.line };
        // Nothing of a header that is deleted is sent.
        let stop = later(at.line.known(), earlier(end, line.known() - at.shift));
        let late = line.last() + Time::from(at.way);
        (Supply { line, shift: at.shift, way: at.way }, late, stop)
    }

    /// Sends characters of which it was kept when they are ready, in one run.
    #[cold]
    fn send_entered(&mut self, link: u32, number: u32) -> Then {
        let at = &self.links[link as usize];
        let worm = at.worm(number, &self.crowd);
        let kind = self.kind(at);
        let most = (worm.end - at.line.known()).0;
        let (characters, own) = (at.credited, at.wire_free.max(worm.time));
        let mut credit = Credit { characters, next_lump: at.next_lump, own };
        if characters < most && !at.keeps_credit {
            self.take_credit(link, kind, &mut credit, most);
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
    fn take_credit(&self, link: u32, kind: &Kind, credit: &mut Credit, most: u32) {
        if self.links[link as usize].output == NONE {
            return;
        }
        while let Some((run, _)) = self.leaving(link, credit.next_lump) {
            if !credit.take(&run, kind, most) {
                return;
            }
        }
    }
}

impl Credit {
    /// Takes the lumps that characters return which leave in a run, as far as they are needed for the next of `most`
    /// characters or there in time for those behind it; false if that is enough.
    ///
    /// Credit comes in lumps of `quantum` characters; only the first character of a lump waits for it.
    #[inline(always)]
    pub fn take(&mut self, run: &Run, kind: &Kind, most: u32) -> bool {
        let due = self.own + Time::from(self.characters) * Time::from(kind.character);
        let time = run.time + Time::from(kind.credit_delay);
        if time > due {
            if self.characters > 0 {
                return false;
            }
            self.own = time;
        }
        // All lumps of the run are in time if it is not slower than what is sent.
        let all = if run.step <= kind.character { run.count.min(most - self.characters) } else { 1 };
        let characters = kind.lumps(all) * kind.quantum;
        self.characters += characters;
        self.next_lump += characters;
        self.characters < most
    }
}

impl Supply<'_> {
    /// The first of the characters of a run, from a number on, that can follow in one straight run as they arrive.
    #[inline(always)]
    pub fn follow(&self, mut run: Run, number: Number) -> Run {
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
