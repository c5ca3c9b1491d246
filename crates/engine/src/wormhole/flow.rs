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

use super::queue::{Run, follow};
use super::state::{Network, UNKNOWN};
use super::timeline::{Number, earlier, later};
use crate::fabric::NONE;
use crate::kernel::Time;

/// How far a link has sent, while it sends.
struct Sender {
    link: u32,
    /// The next character.
    next: Number,
    /// Its earliest start by the wire.
    own: Time,
    /// Characters that may be sent on the credit taken so far.
    credited: u32,
    /// When it started.
    started: Time,
    /// Whether it has stopped for want of credit.
    starved: bool,
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
        while self.send(link) {}
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
        if at.waits_for_credit && self.lumps(link).is_some() {
            self.wake(link);
        }
        self.try_left(link);
    }

    /// Extends the times of the first worm of which characters are still to be sent; true if another one follows.
    fn send(&mut self, link: u32) -> bool {
        let at = &mut self.links[link as usize];
        let number = at.sending;
        if number == NONE {
            return false;
        }
        let worm = &self.worms[number as usize];
        let first = at.line.known();
        let own = at.wire_free.max(worm.ready);
        let credited = if at.to_terminal { u32::MAX } else { at.credited };
        let mut sender = Sender { link, next: first, own, credited, started: UNKNOWN, starved: false };
        let (end, fresh, holder) = (worm.end, first == worm.first, at.holder);
        // Only the packet that was granted last can still be in the input buffer it comes from.
        if worm.bound {
            self.send_entered(&mut sender, end);
        } else if number == at.tail && holder != NONE {
            self.send_coming(&mut sender, end, holder);
        } else {
            self.send_ready(&mut sender, end);
        }
        let at = &mut self.links[link as usize];
        at.credited = sender.credited;
        at.waits_for_credit = sender.starved;
        if sender.next == first {
            return false;
        }
        at.wire_free = sender.own;
        if fresh {
            self.worms[number as usize].started = sender.started;
        }
        let asks = at.head == number && !at.asked && !at.to_terminal;
        let complete = sender.next == end;
        if complete {
            self.sent(link, number);
        }
        if asks {
            self.ask(link);
        }
        complete
    }

    /// Sends characters before `end` of a worm that is still arriving at the input buffer that holds this link.
    #[inline(always)]
    fn send_coming(&mut self, sender: &mut Sender, end: Number, from: u32) {
        let shift = self.links[sender.link as usize].shift;
        let (line, way) = self.supply(from);
        let way = way + self.links[sender.link as usize].forward;
        // Nothing of the header that is deleted is sent.
        let stop = later(sender.next, earlier(end, line.known() - shift));
        let late = line.last() + Time::from(way);
        while sender.next != stop {
            let most = self.take_credit(sender, (stop - sender.next).0);
            if most == 0 {
                break;
            }
            let step = self.links[sender.link as usize].character;
            let mut run = Run { count: 0, step, time: sender.own };
            // Once the last has arrived, so have all, whatever the pieces.
            if late <= run.time {
                run.count = most;
            }
            while run.count < most {
                let line = self.supply(from).0;
                let supply = line.run_from(&self.pieces, sender.next + shift + Wrapping(run.count)).later(way);
                if supply.time > run.at(run.count) || supply.step > step {
                    if run.count == 0 {
                        run = follow(most, run.time, step, [supply]);
                    }
                    break;
                }
                run.count += supply.count.min(most - run.count);
            }
            self.put_on_wire(sender, &run, end);
        }
    }

    /// Sends characters that have entered the output buffer.
    #[cold]
    fn send_entered(&mut self, sender: &mut Sender, end: Number) {
        while sender.next != end {
            let most = self.take_credit(sender, (end - sender.next).0);
            let at = &mut self.links[sender.link as usize];
            let Some(supply) = at.entered.front().filter(|_| most > 0) else { break };
            let run = follow(most, sender.own, at.character, [supply]);
            at.entered.take(run.count);
            self.put_on_wire(sender, &run, end);
        }
    }

    /// Sends characters that stand ready, at a terminal or in the output buffer.
    fn send_ready(&mut self, sender: &mut Sender, end: Number) {
        while sender.next != end {
            let count = self.take_credit(sender, (end - sender.next).0);
            if count == 0 {
                break;
            }
            let step = self.links[sender.link as usize].character;
            self.put_on_wire(sender, &Run { count, step, time: sender.own }, end);
        }
    }

    /// Sends a run, which may be the last of its packet.
    #[inline(always)]
    fn put_on_wire(&mut self, sender: &mut Sender, run: &Run, end: Number) {
        let at = &mut self.links[sender.link as usize];
        if !at.line.has_room() {
            self.make_room(sender.link);
        }
        let at = &mut self.links[sender.link as usize];
        at.line.push(&mut self.pieces, run);
        sender.credited -= run.count;
        sender.started = sender.started.min(run.time);
        sender.next += run.count;
        sender.own = run.after(if sender.next == end { at.end } else { at.character });
        self.extensions += 1;
    }

    /// Takes credit for the next of `most` characters of one packet, and with it all credit that is there in time
    /// for those behind it. Returns for how many there is credit then.
    ///
    /// Credit comes in lumps of `quantum` characters; only the first character of a lump waits for it.
    #[inline(always)]
    fn take_credit(&mut self, sender: &mut Sender, most: u32) -> u32 {
        while sender.credited < most {
            let Some(lumps) = self.lumps(sender.link) else { break };
            let at = &mut self.links[sender.link as usize];
            let due = sender.own + Time::from(sender.credited) * Time::from(at.character);
            if lumps.time > due {
                if sender.credited > 0 {
                    break;
                }
                sender.own = lumps.time;
            }
            let missing = most - sender.credited;
            let in_step = lumps.step <= at.lump_ticks && missing > at.quantum;
            let count = if in_step { lumps.count.min(at.lumps_in(missing - 1) + 1) } else { 1 };
            at.take_lumps(count);
            sender.credited += count * at.quantum;
        }
        sender.starved = sender.credited == 0;
        sender.credited.min(most)
    }
}
