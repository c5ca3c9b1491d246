//! A turn of a link in the common case: it is plain, as is the link that its characters come by.
//!
//! The equations are those of the module `flow`. Each row concerned is looked up once: the link, the one that its
//! characters come by, the one that they leave for, and the worm.

use std::hint::cold_path;
use std::num::Wrapping;

use super::credit::Places;
use super::flow::{Credit, Supply};
use super::link::{Kind, Link};
use super::queue::Run;
use super::state::Network;
use super::timeline::{Number, ahead, earlier, later};
use super::worm::Worm;
use crate::fabric::NONE;

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
    places: Option<Places<'a>>,
}

/// What follows from a turn for others.
pub(super) struct Effects {
    /// Its output may send on.
    pub supplies: bool,
    /// It is known when its head packet has left its input buffer.
    pub leaves: bool,
    /// There is credit that its holder waits for.
    pub credits: bool,
    /// It is known when the packet of its holder has left.
    pub frees: bool,
}

impl Network {
    /// Sends on a link what follows in one straight run, and tells those that depend on it; one that is to advance next,
    /// or [`NONE`].
    #[inline(never)]
    pub(super) fn turn(&mut self, link: u32) -> u32 {
        if !self.links[link as usize].line.has_room() {
            self.make_room(link);
        }
        // As slices, because their lengths do not change meanwhile: so an index is checked once.
        let (links, kinds, crowd) = (self.links.as_mut_slice(), self.kinds.as_slice(), &mut self.crowd);
        let at = &mut links[link as usize];
        let number = at.sending;
        if !at.common || number == NONE || at.worm(number, crowd).bound {
            self.advance_anyhow(link);
            return NONE;
        }
        let kind = &kinds[at.kind as usize];
        if at.keeps_credit {
            let &Worm { time, end, .. } = at.worm(number, crowd);
            at.use_kept_credit(kind, time, end);
        }
        let at = &links[link as usize];
        let (holder, output) = (at.holder, at.output);
        let worm = at.worm(number, crowd);
        let from = links.get(holder as usize);
        let to = links.get(output as usize);
        let room = self.rooms.get(output as usize);
        let places = to.map(|to| to.places(&kinds[to.kind as usize], room, kind.crossbar));
        let view = View { at, kind, worm, from, to, places };
        let asks = at.head == number && !at.asked && !at.to_terminal;
        let (stop, run, credit) = view.run();
        let (waits, effects) = view.effects(&run, &credit);
        let begins = at.line.known() == worm.first;
        let header = (worm.header, worm.class);
        let known = at.line.known() + Wrapping(run.count);
        let last = known == worm.end;

        let at = &mut links[link as usize];
        if run.count > 0 {
            (at.credited, at.next_lump) = (credit.characters, credit.next_lump);
            at.put(kind, last, &run);
            if begins {
                at.worm_mut(number, crowd).time = run.time;
            }
            self.extensions += 1;
        }
        at.waits_for_credit = waits;
        let to_terminal = at.to_terminal;
        at.woken = known != stop && !waits;
        if last {
            let gone = at.sent(number, crowd);
            at.woken = gone.next != NONE;
            if to_terminal | kind.from_terminal | (self.hops.limit > 0) {
                self.sent(link, &gone);
            }
        }
        if run.count > 0 {
            self.free_places(link, &run);
        }
        if asks && begins {
            self.ask_first(link, header, &run);
        } else if asks {
            self.ask(link);
        }
        let next = self.tell::<false>(link, output, holder, &effects);
        if to_terminal {
            self.stream(link);
        }
        next
    }

    /// Tells those that depend on a link what follows for them; returns its holder if there is credit for that.
    #[inline(always)]
    pub(super) fn tell<const OFTEN: bool>(
        &mut self,
        link: u32,
        output: u32,
        holder: u32,
        effects: &Effects,
    ) -> u32 {
        if self.links[link as usize].woken {
            cold_path();
            self.work.push(link);
        }
        if effects.supplies {
            self.pass_on(link, output);
        } else if effects.leaves {
            self.leave_plain(link, output);
        }
        let mut next = NONE;
        if effects.credits {
            let from = &mut self.links[holder as usize];
            if !from.woken {
                from.woken = true;
                next = holder;
            }
        }
        if effects.frees {
            if OFTEN { self.left(holder, link, None) } else { self.leave_plain(holder, link) }
        }
        next
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
            && !from.in_time(at, kind, run.time, most)
        {
            run = Supply { line: &from.line, shift: at.shift, way: at.way }.follow(run, next);
        }
        (stop, run, credit)
    }

    /// Takes credit for the next of `most` characters of one packet, and with it all that is there in time for those behind.
    #[inline(always)]
    fn take_credit(&self, credit: &mut Credit, most: u32) {
        let Some(places) = self.places else { return };
        while let Some(run) = places.leaving(self.at, credit.next_lump) {
            if !credit.take(&run, self.kind, most) {
                break;
            }
        }
    }

    /// Whether the link has something to send and no credit then, and what follows for others.
    #[inline(always)]
    fn effects(&self, run: &Run, credit: &Credit) -> (bool, Effects) {
        let Self { at, kind, worm, .. } = *self;
        let (before, known) = (at.line.known(), at.line.known() + Wrapping(run.count));
        let (mut waits, mut supplies, mut leaves) = (false, false, false);
        if credit.characters == run.count && !at.keeps_credit && known != worm.end {
            waits = self.places.is_none_or(|places| !places.turns.beyond(at, credit.next_lump));
        }
        if run.count > 0
            && let (Some(to), Some(places)) = (self.to, self.places)
        {
            supplies = !to.waits_for_credit && to.line.known() + to.shift == before;
            leaves = (ahead(known, places.turns.end) >= 0) & places.turns.all();
        }
        let (credits, frees) = self.from.map_or((false, false), |from| at.vacates(kind, known, from));
        (waits, Effects { supplies, leaves, credits, frees })
    }
}
