//! A turn of a link in the common case: it is plain, as is the link that its characters come by.
//!
//! The equations are those of the module `flow`. Each row concerned is looked up once: the link, the one that its
//! characters come by, the one that they leave for, and the worm.

use std::num::Wrapping;

use super::credit::Places;
use super::flow::{Credit, Supply};
use super::link::{Kind, Link};
use super::queue::Run;
use super::state::Network;
use super::timeline::{Number, ahead, earlier, later};
use super::worm::Worm;
use crate::fabric::NONE;
use crate::kernel::Time;

/// A link and what it depends on.
#[derive(Clone, Copy)]
struct View<'a> {
    at: &'a Link,
    kind: &'a Kind,
    worm: &'a Worm,
    /// The link whose head packet holds it.
    from: Option<&'a Link>,
    /// The link granted to its head packet.
    to: Option<&'a Link>,
    /// The places for the characters of that packet in its output buffer.
    places: Option<Places>,
}

/// What follows from a turn.
struct Effects {
    /// The link has something to send and no credit.
    waits: bool,
    /// It may send on at once.
    again: bool,
    /// Its output may send on.
    supplies: bool,
    /// It is known when its head packet has left its input buffer.
    leaves: bool,
    /// There is credit that its holder waits for.
    credits: bool,
    /// It is known when the packet of its holder has left.
    frees: bool,
}

impl Network {
    /// Sends on a link what follows in one straight run, and tells those that depend on it.
    #[inline(always)]
    pub(super) fn turn(&mut self, link: u32) {
        let at = &self.links[link as usize];
        let at = if at.sending != NONE && (at.keeps_credit || !at.line.has_room()) {
            self.prepare(link);
            &self.links[link as usize]
        } else {
            at
        };
        if !at.common || at.sending == NONE || at.worm(at.sending, &self.crowd).bound {
            return self.advance_anyhow(link);
        }
        let (number, holder, output) = (at.sending, at.holder, at.output);
        let worm = at.worm(number, &self.crowd);
        let kind = &self.kinds[at.kind as usize];
        let (from, to) = (self.links.get(holder as usize), self.links.get(output as usize));
        let places = to.map(|to| to.places(self.kind(to)));
        let view = View { at, kind, worm, from, to, places };
        let asks = at.head == number && !at.asked && !at.to_terminal;
        let (stop, run, credit) = view.run();
        let effects = view.effects(stop, &run, &credit);
        let begins = at.line.known() == worm.first;
        let last = at.line.known() + Wrapping(run.count) == worm.end;

        let at = &mut self.links[link as usize];
        at.woken = false;
        if run.count > 0 {
            at.put(kind, last, &run, &credit);
            if begins {
                at.worm_mut(number, &mut self.crowd).time = run.time;
            }
            self.extensions += 1;
        }
        at.waits_for_credit = effects.waits;
        let to_terminal = at.to_terminal;
        let mut more = effects.again;
        if last {
            let gone = at.sent(number, &mut self.crowd);
            more = gone.next != NONE;
            if to_terminal | kind.from_terminal | (self.hops.limit > 0) {
                self.sent(link, &gone);
            }
        }
        if asks {
            self.ask(link);
        }
        if more {
            self.wake(link);
        }
        self.tell(link, output, holder, &effects);
        if to_terminal {
            self.stream(link);
        }
    }

    #[inline(always)]
    fn tell(&mut self, link: u32, output: u32, holder: u32, effects: &Effects) {
        if effects.supplies {
            self.wake(output);
        } else if effects.leaves {
            self.leave_plain(link, output);
        }
        if effects.credits {
            self.wake(holder);
        }
        if effects.frees {
            self.leave_plain(holder, link);
        }
    }
}

impl View<'_> {
    /// What can be sent: behind the last character that is known to come, a straight run, and the credit for it.
    #[inline(always)]
    fn run(&self) -> (Number, Run, Credit) {
        let Self { at, kind, worm, .. } = *self;
        let next = at.line.known();
        // Only the packet that was granted last can still be in the input buffer it comes from.
        let from = self.from.filter(|_| at.sending == at.tail);
        // Nothing of a header that is deleted is sent.
        let stop = from.map_or(worm.end, |from| later(next, earlier(worm.end, from.line.known() - at.shift)));
        let most = (stop - next).0;
        let own = at.wire_free.max(worm.time);
        let mut credit = Credit { characters: at.credited, next_lump: at.next_lump, own };
        if credit.characters < most && !at.keeps_credit {
            self.take_credit(&mut credit, most);
        }
        let mut run = Run { count: credit.characters.min(most), step: kind.character, time: credit.own };
        if let Some(from) = from
            && run.count > 0
        {
            // Characters of a packet never come faster than one after the other at the pace of their link. So if the
            // last has arrived by when it would be due, they all have.
            let slack = if from.line.pace >= kind.character {
                u64::from(most - 1) * u64::from(kind.character)
            } else {
                0
            };
            if from.line.last() + Time::from(at.way) > run.time + slack as Time {
                run = Supply { line: &from.line, shift: at.shift, way: at.way }.follow(run, next);
            }
        }
        (stop, run, credit)
    }

    /// Takes credit for the next of `most` characters of one packet, and with it all that is there in time for those behind.
    #[inline(always)]
    fn take_credit(&self, credit: &mut Credit, most: u32) {
        let (Some(to), Some(places)) = (self.to, self.places) else { return };
        while let Some(run) = places.leaving(self.at, to, credit.next_lump) {
            if !credit.take(&run, self.kind, most) {
                break;
            }
        }
    }

    #[inline(always)]
    fn effects(&self, stop: Number, run: &Run, credit: &Credit) -> Effects {
        let Self { at, kind, worm, .. } = *self;
        let (before, known) = (at.line.known(), at.line.known() + Wrapping(run.count));
        let (mut waits, mut supplies, mut leaves) = (false, false, false);
        if credit.characters == run.count && !at.keeps_credit && known != worm.end {
            waits = self.places.is_none_or(|places| !places.beyond(at, credit.next_lump));
        }
        if run.count > 0
            && let (Some(to), Some(places)) = (self.to, self.places)
        {
            supplies = !to.waits_for_credit && to.line.known() + to.shift == before;
            leaves = (ahead(known, places.end) >= 0) & places.all();
        }
        let places = known + Wrapping(kind.output_buffer);
        let (mut credits, mut frees) = (false, false);
        if let Some(from) = self.from {
            let lump = from.next_lump - at.shift;
            let there =
                ahead(earlier(places, at.granted), lump) > 0 || ahead(from.next_lump, from.deleted) < 0;
            credits = from.waits_for_credit & there;
            frees = (ahead(places, at.granted) >= 0) & (ahead(from.line.known() - at.shift, at.granted) >= 0);
        }
        let again = known != stop && !waits;
        Effects { waits, again, supplies, leaves, credits, frees }
    }
}
