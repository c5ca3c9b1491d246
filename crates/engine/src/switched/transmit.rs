//! The one step that sends: the limits, a burst up to the first limit, and its consequences.
//!
//! [`super::burst`] computes the limits; here the burst is stored, and the links that depend on it are notified. A
//! burst is the longest run of characters of one packet that start at equal intervals and whose limits are all known.
//! The crossbar and the places of the output buffer limit when characters leave an input buffer. This is looked up
//! where it is needed (see [`super::departures`]), and enters as credit and, for links that are
//! [stepwise](super::stepwise), as supply.
//!
//! All delays are positive, so the order in which links send does not matter. A [`Case`] omits limits that are proved
//! not to apply; if a case does not apply, the next more general one is used. So there is one way to send, and several
//! conditions under which less has to be computed.

use std::hint::cold_path;
use std::num::Wrapping;

use super::burst::{ANY, Burst, Case, PLAIN, Supply, View};
use super::link::{Kind, Link};
use super::state::Network;
use super::timeline::{Number, ahead, earlier};
use super::worm::Worm;
use crate::fabric::NONE;
use crate::kernel::Time;

/// The packet that a link sends: see `Worm`.
pub(super) struct Sending {
    pub time: Time,
    pub first: Number,
    pub end: Number,
    pub bound: bool,
}

impl Network {
    /// Sends on a link, and on all links that can continue because of this.
    #[inline(never)]
    pub(super) fn settle<const PACED: bool>(&mut self, link: u32) {
        self.transmit_any::<PACED>(link);
        self.follow::<PACED>();
    }

    /// Sends on all links that were woken, and that can continue because of this.
    #[inline(always)]
    pub(super) fn follow<const PACED: bool>(&mut self) {
        while let Some(link) = self.work.pop() {
            self.transmit_any::<PACED>(link);
        }
    }

    /// The same, apart from where events of a kind are handled.
    pub(super) fn follow_any(&mut self) {
        if self.paced { self.follow::<true>() } else { self.follow::<false>() }
    }

    /// The same, where none of those that are asked to send stays behind.
    pub(super) fn follow_all(&mut self) {
        let has_long = std::mem::take(&mut self.has_long);
        self.follow_any();
        self.has_long = has_long;
    }

    /// Sends on a link of any kind what it can, and notifies those that depend on it.
    #[inline(never)]
    fn transmit_any<const PACED: bool>(&mut self, link: u32) {
        if !self.transmit::<PACED>(link) {
            cold_path();
            self.transmit_known(link);
        }
    }

    /// Sends on a link, burst by burst, all that is known, and only then notifies those that depend on it: on a long
    /// cable each quantum may be a burst of its own.
    fn transmit_known(&mut self, link: u32) {
        let before = self.links[link as usize].wire.known();
        loop {
            if !self.links[link as usize].wire.has_room() {
                self.make_room(link);
            }
            if self.links[link as usize].has_sent_all() {
                return self.has_nothing(link);
            }
            let (worm, burst) = self.next_burst(link);
            self.store::<true, ANY>(link, &worm, &burst);
            if burst.run.count == 0 || !burst.again {
                return self.take_effect::<true, ANY>(link, &burst, before);
            }
        }
    }

    /// Returns the packet that a link sends, and the next burst of it, in any case.
    #[inline(always)]
    fn next_burst(&mut self, link: u32) -> (Sending, Burst) {
        let worm = self.sending(link);
        let at = &mut self.links[link as usize];
        if at.credit.is_kept() {
            at.use_kept_credit(&self.kinds[at.kind as usize], worm.time, worm.end);
        }
        let burst = self.view::<true, ANY>(link, &worm).burst::<ANY>();
        (worm, burst.expect("a case that always applies"))
    }

    /// Sends on a link, burst by burst, what starts before its horizon, and notifies nobody; false if it may be more when
    /// others have sent. The end of a packet is not sent.
    pub(super) fn send_quietly(&mut self, link: u32) -> bool {
        loop {
            if !self.links[link as usize].wire.has_room() {
                self.make_room(link);
            }
            let (worm, burst) = self.next_burst(link);
            if burst.last {
                return false;
            }
            self.store::<true, ANY>(link, &worm, &burst);
            if burst.run.count == 0 || !burst.again {
                return burst.held;
            }
        }
    }

    /// Sends on a link in the case `PLAIN`; does nothing if that does not apply. The crossbars of all switches are faster
    /// than any link unless `PACED`.
    #[inline(always)]
    fn transmit<const PACED: bool>(&mut self, link: u32) -> bool {
        if !self.links[link as usize].wire.has_room() {
            self.make_room(link);
        }
        let at = &self.links[link as usize];
        if at.has_sent_all() {
            self.has_nothing(link);
            return true;
        }
        let worm = self.sending(link);
        if !at.common | worm.bound {
            return false;
        }
        if at.credit.is_kept() {
            let at = &mut self.links[link as usize];
            at.use_kept_credit(&self.kinds[at.kind as usize], worm.time, worm.end);
        }
        let Some(burst) = self.view::<PACED, PLAIN>(link, &worm).burst::<PLAIN>() else { return false };
        let before = self.links[link as usize].wire.known();
        self.store::<PACED, PLAIN>(link, &worm, &burst);
        self.take_effect::<PACED, PLAIN>(link, &burst, before);
        true
    }

    /// Returns the packet that a link sends.
    #[inline(always)]
    pub(super) fn sending(&self, link: u32) -> Sending {
        let at = &self.links[link as usize];
        let &Worm { time, first, end, bound, .. } = at.worm(at.sending(), &self.crowd);
        Sending { time, first, end, bound }
    }

    /// Handles a link that was woken and has sent everything.
    #[cold]
    fn has_nothing(&mut self, link: u32) {
        let at = &mut self.links[link as usize];
        at.due.set_woken(false);
        let (output, holder, known) = (at.input.output(), at.output.holder(), at.wire.known());
        self.tell_any(link, output, holder, known);
    }

    /// Returns a link with the limits of the packet that it sends.
    #[inline(always)]
    pub(super) fn view<const PACED: bool, const CASE: Case>(&self, link: u32, worm: &Sending) -> View<'_> {
        // As slices, because their lengths do not change meanwhile, so an index is checked only once.
        let (links, kinds) = (self.links.as_slice(), self.kinds.as_slice());
        let at = &links[link as usize];
        let kind = &kinds[at.kind as usize];
        let from = links.get(at.output.holder() as usize);
        let to = links.get(at.input.output() as usize).map(|to| {
            let crossbar = if PACED { kind.crossbar } else { 0 };
            (to, to.places(&kinds[to.kind as usize], crossbar))
        });
        // Only the packet that was granted last can still be in its input buffer.
        let comes = from.filter(|_| at.sends_newest() && !(CASE == ANY && worm.bound));
        let supply = comes.map(|from| {
            let exits =
                if CASE == ANY && from.stepwise { self.exits.get(at.output.holder() as usize) } else { None };
            Supply {
                line: exits.unwrap_or(from.wire.starts()),
                shift: at.output.shift(),
                way: at.output.way(),
            }
        });
        let entered = if CASE == ANY && worm.bound { at.output.entered() } else { None };
        let network = if CASE == ANY { Some(self) } else { None };
        let returns = false;
        View { at, kind, time: worm.time, end: worm.end, from, supply, entered, to, returns, network }
    }

    /// Stores a burst.
    #[inline(always)]
    fn store<const PACED: bool, const CASE: Case>(&mut self, link: u32, worm: &Sending, burst: &Burst) {
        let at = &mut self.links[link as usize];
        let (number, before) = (at.sending(), at.wire.known());
        let kind = &self.kinds[at.kind as usize];
        if burst.run.count > 0 {
            at.send(kind, burst);
            if PACED {
                at.free_places(kind, &burst.run);
            }
            if before == worm.first {
                at.worm_mut(number, &mut self.crowd).has_begun(burst.run.time);
            }
            if CASE == ANY && worm.bound {
                at.output.take_entered(burst.run.count);
            }
            self.extensions += 1;
            if before == worm.first {
                self.tell_begun(link, &burst.run, burst.last);
            }
        }
    }

    /// Handles the consequences of a burst that was sent, before which characters were known up to a number.
    #[inline(always)]
    fn take_effect<const PACED: bool, const CASE: Case>(&mut self, link: u32, burst: &Burst, before: Number) {
        // Whether more credit has returned is known only now where what was sent may return some.
        let waits = burst.waits || CASE == ANY && burst.again && self.is_out_of_credit(link);
        let again = burst.again && !waits;
        let at = &mut self.links[link as usize];
        let (number, holder, output) = (at.sending(), at.output.holder(), at.input.output());
        let kind = &self.kinds[at.kind as usize];
        let to_terminal = at.to_terminal;
        let from_terminal = kind.from_terminal;
        let asks = at.head() == number && !at.input.asked() && !to_terminal;
        at.credit.set_waits(waits);
        let gone = if burst.last { Some(at.sent(number, &mut self.crowd)) } else { None };
        let woken = gone.as_ref().map_or(again, |gone| gone.next != NONE);
        at.due.set_woken(woken);
        if let Some(gone) = gone {
            self.sent(link, &gone, from_terminal, to_terminal);
        }
        if woken {
            cold_path();
            self.work.push(link);
        }
        if CASE == ANY && burst.held {
            self.hold(link);
        }
        if asks {
            self.ask(link);
        }
        if CASE == ANY {
            self.tell_any(link, output, holder, before);
        } else {
            self.tell::<PACED>(link, output, holder, burst);
        }
        if to_terminal {
            self.stream(link);
        }
    }

    /// Whether a link has no credit, and it is not known when more returns.
    fn is_out_of_credit(&self, link: u32) -> bool {
        let credit = &self.links[link as usize].credit;
        credit.characters() == 0 && !credit.is_kept() && !self.has_credit(link)
    }

    /// Notifies those that depend on a link.
    #[inline(always)]
    fn tell<const PACED: bool>(&mut self, link: u32, output: u32, holder: u32, burst: &Burst) {
        if burst.supplies {
            self.wake(output);
        } else if burst.leaves {
            self.leave_plain::<PACED>(link, output);
        }
        self.tell_holder::<PACED>(link, holder, burst.credits, burst.frees);
    }

    /// Notifies the holder of a link of credit that it waits for, and of its packet's departure.
    #[inline(always)]
    pub(super) fn tell_holder<const PACED: bool>(
        &mut self,
        link: u32,
        holder: u32,
        credits: bool,
        frees: bool,
    ) {
        if credits && !self.stays_behind(link, holder) {
            self.wake(holder);
        }
        if frees {
            self.leave_plain::<PACED>(holder, link);
        }
    }

    /// The same for a link of any kind with known characters up to `before`: its neighbours may be stepwise.
    #[cold]
    #[inline(never)]
    fn tell_any(&mut self, link: u32, output: u32, holder: u32, before: Number) {
        if output != NONE && self.links[link as usize].wire.known() != before {
            self.supplied(link, output, before);
        }
        if holder != NONE {
            self.vacated(holder);
        }
    }

    /// Makes a link send before the current event ends.
    #[inline(always)]
    pub(super) fn wake(&mut self, link: u32) {
        if self.links[link as usize].due.wake() {
            self.work.push(link);
        }
    }

    /// Handles further characters on their way to the input buffer of a link, known up to `before`: its output may send
    /// them, or the departure of the packet becomes known.
    fn supplied(&mut self, link: u32, output: u32, before: Number) {
        if self.links[link as usize].stepwise {
            return self.leave(link);
        }
        let to = &self.links[output as usize];
        if !to.credit.waits() && to.wire.known() + to.output.shift() == before {
            self.wake(output);
        } else {
            self.try_left(link);
        }
    }

    /// Handles further free places in the output buffer of its output, for the characters in an input buffer.
    pub(super) fn vacated(&mut self, link: u32) {
        let at = &self.links[link as usize];
        if at.stepwise {
            return self.leave(link);
        }
        let (behind, waits, output) = (at.due.is_behind(), at.credit.waits(), at.input.output());
        if (behind || waits && self.has_credit(link)) && !self.stays_behind(output, link) {
            self.wake(link);
        }
        // The packet may have left because of that.
        if self.links[link as usize].input.output() != NONE {
            self.try_left(link);
        }
    }
}

impl Link {
    /// Sends a burst: its times are known from here on.
    #[inline(always)]
    pub fn send(&mut self, kind: &Kind, burst: &Burst) {
        let Burst { run, credited, next_quantum, last, .. } = burst;
        self.wire.send(run, if *last { kind.end } else { kind.character });
        self.credit.spend(credited - run.count, *next_quantum);
        self.credit.set_waits(burst.waits);
    }

    /// Returns, after the link has sent characters from a number on, whether there is credit that the link before it
    /// waits for, and whether it is known when the packet has left there.
    #[inline(always)]
    pub fn vacates(&self, kind: &Kind, known: Number, from: &Link) -> (bool, bool) {
        let places = known + Wrapping(kind.output_buffer);
        let quantum = from.credit.next_quantum() - self.output.shift();
        let there = ahead(earlier(places, self.output.granted()), quantum) > 0
            || ahead(from.credit.next_quantum(), from.input.deleted()) < 0;
        let sent = ahead(from.wire.known() - self.output.shift(), self.output.granted()) >= 0;
        (
            from.credit.waits() & there | from.due.is_behind(),
            (ahead(places, self.output.granted()) >= 0) & sent,
        )
    }
}
