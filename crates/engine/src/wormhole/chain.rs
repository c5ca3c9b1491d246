//! What a grant sets off where all is as usual: a chain of turns of which most is known beforehand.
//!
//! A packet that has been granted an output is sent as far as it has come. Thereby there is credit for the rest of it, which
//! waits on the link it came by; this is sent as the places in the output buffer become free, and passed on. Each
//! of these steps does what a turn does (see the module `turn`), and leaves it to one whatever is not as usual.

use std::hint::cold_path;
use std::num::Wrapping;

use super::link::{Kind, Link, two};
use super::queue::Run;
use super::state::{Network, UNKNOWN};
use super::timeline::{Number, ahead, earlier, later};
use super::turn::Effects;
use super::worm::Worm;
use crate::fabric::NONE;
use crate::kernel::Time;

/// A packet that has begun on a link.
pub(super) struct Begun {
    /// What is sent of it.
    run: Run,
    /// The class of its front header.
    class: u32,
    /// When it asks for an output, or [`UNKNOWN`].
    asks_at: Time,
    /// Whether that is all of it.
    last: bool,
    /// Whether more of it can be sent at once.
    again: bool,
    /// Whether there is credit that the link waits for by which it comes.
    credits: bool,
    /// Whether it is known when it has left there.
    frees: bool,
}

impl Network {
    /// What follows from a packet having begun on a link, that it was granted or put on by its terminal if `GRANTED` is
    /// false.
    #[inline(always)]
    pub(super) fn begun<const GRANTED: bool>(&mut self, input: u32, output: u32, begun: &Begun) {
        let &Begun { run, class, asks_at, last, again, credits, frees } = begun;
        self.extensions += 1;
        self.free_places(output, &run);
        let at = &mut self.links[output as usize];
        let to_terminal = at.to_terminal;
        if last {
            let gone = at.sent(at.sending, &mut self.crowd);
            if to_terminal | !GRANTED | (self.hops.limit > 0) {
                self.sent(output, &gone);
            }
        }
        if asks_at < UNKNOWN {
            self.ask_at(output, class, asks_at);
        }
        if again {
            self.wake_instead(output);
        }
        if frees {
            cold_path();
            self.leave_plain(input, output);
        }
        if to_terminal {
            self.stream(output);
        }
        let next = if credits { input } else { NONE };
        self.follow(next);
    }

    /// Advances a link that has something new to go on, and all that have by this.
    #[inline(never)]
    pub(super) fn settle(&mut self, link: u32) {
        let next = self.turn(link);
        self.follow(next);
    }

    /// Advances a link that has credit now for which it waited, if one is given, and all that have something to go on.
    #[inline(always)]
    fn follow(&mut self, link: u32) {
        let mut next = link;
        loop {
            while next != NONE {
                next = self.go_on(next);
            }
            match self.work.pop() {
                Some(link) => next = self.turn(link),
                None => return,
            }
        }
    }

    /// Sends what there is credit for now on a link that has waited for it; returns another one of which the same is true,
    /// or [`NONE`].
    #[inline(never)]
    fn go_on(&mut self, link: u32) -> u32 {
        if !self.links[link as usize].line.has_room() {
            self.make_room(link);
        }
        let (links, kinds) = (self.links.as_mut_slice(), self.kinds.as_slice());
        let at = &links[link as usize];
        let (number, kind, holder, output) = (at.sending, &kinds[at.kind as usize], at.holder, at.output);
        let Some(to) = links.get(output as usize) else { return self.turn_instead(link) };
        if !at.common || at.keeps_credit || at.credited > 0 || number == NONE {
            return self.turn_instead(link);
        }
        let &Worm { time, first, end, bound, .. } = at.worm(number, &self.crowd);
        let (before, from) = (at.line.known(), links.get(holder as usize));
        // Only the packet that was granted last can still be in the input buffer it comes from.
        let supply = from.filter(|_| number == at.tail);
        let stop = match supply {
            Some(from) => later(before, earlier(end, from.line.known() - at.shift)),
            None => end,
        };
        let most = (stop - before).0;
        let places = to.places(&kinds[to.kind as usize], self.rooms.get(output as usize), kind.crossbar);
        let own = at.wire_free.max(time);
        if most == 0 || bound {
            return self.turn_instead(link);
        }
        let Some((credit, own)) = places.all_credit(at, kind, own, most) else {
            return self.turn_instead(link);
        };
        let run = Run { count: credit.min(most), step: kind.character, time: own };
        if supply.is_some_and(|from| !from.in_time(at, kind, own, most)) {
            return self.turn_instead(link);
        }
        let (known, next_lump) = (before + Wrapping(run.count), at.next_lump + Wrapping(credit));
        let last = known == end;
        let waits = credit == run.count && !last && !places.turns.beyond(at, next_lump);
        let supplies = !to.waits_for_credit && to.line.known() + to.shift == before;
        let leaves = (ahead(known, places.turns.end) >= 0) & places.turns.all();
        let (credits, frees) = match from {
            Some(from) => at.vacates(kind, known, from),
            None => (false, false),
        };

        let at = &mut links[link as usize];
        (at.credited, at.next_lump) = (credit, next_lump);
        at.put(kind, last, &run);
        if before == first {
            at.worm_mut(number, &mut self.crowd).time = own;
        }
        self.extensions += 1;
        at.waits_for_credit = waits;
        at.woken = known != stop && !waits;
        let from_terminal = kind.from_terminal;
        self.free_places(link, &run);
        let at = &mut self.links[link as usize];
        if last {
            let gone = at.sent(number, &mut self.crowd);
            at.woken = gone.next != NONE;
            if from_terminal | (self.hops.limit > 0) {
                self.sent(link, &gone);
            }
        }
        self.tell::<true>(link, output, holder, &Effects { supplies, leaves, credits, frees })
    }

    /// Has a link advance later, where not all is as usual.
    #[cold]
    fn wake_instead(&mut self, link: u32) {
        self.wake(link);
    }

    /// A turn where not all is as usual.
    #[cold]
    fn turn_instead(&mut self, link: u32) -> u32 {
        self.turn(link)
    }

    /// More characters are on their way to the input buffer of a link, and its output waits for them: sends these on at
    /// once if they follow in step with those before them, as most do whose link had no credit until its output
    /// sent some.
    #[inline(never)]
    pub(super) fn pass_on(&mut self, link: u32, output: u32) {
        let [from, at] = two(&mut self.links, link, output);
        let (number, kind) = (at.sending, &self.kinds[at.kind as usize]);
        let plain = at.common & !at.woken & !at.keeps_credit & (at.asked | at.to_terminal);
        if !plain || number == NONE || number != at.tail || at.output != NONE {
            return self.wake_instead(output);
        }
        let (next, worm) = (at.line.known(), at.worm(number, &self.crowd));
        let stop = earlier(worm.end, from.line.known() - at.shift);
        let most = (stop - next).0;
        let run = Run { count: at.credited.min(most), step: kind.character, time: at.wire_free };
        // Nothing was to be sent so far, so a link without credit does not wait for it yet.
        if run.count == 0 {
            return self.wake_instead(output);
        }
        let in_step = at.line.goes_on(&run) && from.in_time(at, kind, run.time, most);
        if worm.bound | (next == worm.first) | !in_step {
            return self.wake_instead(output);
        }
        let known = next + Wrapping(run.count);
        let last = known == worm.end;
        at.put(kind, last, &run);
        at.waits_for_credit = at.credited == 0 && !last;
        self.extensions += 1;
        let (credits, frees) = at.vacates(kind, known, from);
        let to_terminal = at.to_terminal;
        self.free_places(output, &run);
        let at = &mut self.links[output as usize];
        if last {
            let gone = at.sent(number, &mut self.crowd);
            if to_terminal | (self.hops.limit > 0) {
                self.sent(output, &gone);
            }
        }
        if credits {
            self.wake(link);
        }
        if frees {
            self.leave_plain(link, output);
        }
        if to_terminal {
            self.stream(output);
        }
    }
}

impl Link {
    /// Sends what has come of a packet that is about to be put behind all others on this link, which have been sent, and
    /// notes when it has begun. It is the first turn of the link for it, of which most is known beforehand; if not all is as
    /// usual nothing is done but credit taken that was kept. Its front header has so many characters.
    #[inline(always)]
    pub fn begin(
        &mut self,
        kind: &Kind,
        worm: &mut Worm,
        header: u32,
        from: Option<&mut Link>,
    ) -> Option<Begun> {
        let &mut Worm { time, first, end, class, .. } = worm;
        if self.keeps_credit {
            self.use_kept_credit(kind, time, end);
        }
        // Nothing of a header that is deleted is sent.
        let stop = match &from {
            Some(from) => later(first, earlier(end, from.line.known() - self.shift)),
            None => end,
        };
        let most = (stop - first).0;
        let run =
            Run { count: self.credited.min(most), step: kind.character, time: self.wire_free.max(time) };
        // Credit may have to be taken for some, if there is any.
        let takes_credit = self.output != NONE && self.credited <= most;
        if run.count == 0 || takes_credit {
            return None;
        }
        if let Some(from) = &from
            && !from.in_time(self, kind, run.time, most)
        {
            return None;
        }
        let known = first + Wrapping(run.count);
        let last = known == end;
        self.put(kind, last, &run);
        self.waits_for_credit = self.credited == 0 && !last && !self.keeps_credit;
        worm.time = run.time;
        let (mut credits, mut frees) = (false, false);
        if let Some(from) = from {
            (credits, frees) = self.vacates(kind, known, from);
            from.woken = credits;
        }
        let again = known != stop && !self.waits_for_credit;
        let asks = (self.head == NONE) & (run.count >= header) & !self.to_terminal;
        let asks_at = if asks { self.asks_at(kind, run.at(header - 1)) } else { UNKNOWN };
        Some(Begun { run, class, asks_at, last, again, credits, frees })
    }

    /// Whether the last of all characters that are known to come this way are ready for a link in time if the first of
    /// them is due at a tick.
    #[inline(always)]
    pub fn in_time(&self, to: &Link, kind: &Kind, due: Time, most: u32) -> bool {
        // Characters of a packet never come faster than one after the other at the pace of their link. So if the last
        // has arrived by when it would be due, they all have.
        let slack = if self.line.pace >= kind.character {
            Time::from(most - 1) * Time::from(kind.character)
        } else {
            0
        };
        self.line.last() + Time::from(to.way) <= due + slack
    }

    /// When a head asks for an output of which the last character of the header was sent at a tick.
    #[inline(always)]
    pub fn asks_at(&self, kind: &Kind, sent: Time) -> Time {
        (sent + Time::from(kind.arrival)).max(self.exit_free) + Time::from(kind.decode)
    }

    /// With what it has sent before a number: whether there is credit that the link waits for that its characters come
    /// by, and whether it is known when the packet has left there.
    #[inline(always)]
    pub fn vacates(&self, kind: &Kind, known: Number, from: &Link) -> (bool, bool) {
        let places = known + Wrapping(kind.output_buffer);
        let lump = from.next_lump - self.shift;
        let there = ahead(earlier(places, self.granted), lump) > 0 || ahead(from.next_lump, from.deleted) < 0;
        let sent = ahead(from.line.known() - self.shift, self.granted) >= 0;
        (from.waits_for_credit & there, (ahead(places, self.granted) >= 0) & sent)
    }
}
