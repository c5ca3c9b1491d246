//! Links before slower ones: they send characters in groups.
//!
//! A link that is faster than one after it sends a quantum, and then waits until the slower one has returned the credit
//! for the next quantum. All that is sent on known credit is stored as one piece of groups at equal intervals, instead
//! of a step and a piece for each quantum. Links have paces of their own where flow control is matched to the load of the
//! opposite direction.
//!
//! * Equation: `S(m) = credit` for the first character of a quantum, `S(m) = S(m - 1) + character_ticks` for the others.
//! * Conditions: the link is plain and has waited for this credit; the credit that is known returns at equal intervals,
//!   longer than the link takes for a quantum; the last character that is known to arrive would be in time even without
//!   the waits between groups; the crossbar before the link is not behind.
//! * Otherwise each quantum is a step.
//! * Gain: at 1000 B 27,776 to 17,966 with the C104 (1024 terminals, matched flow control).

use std::num::Wrapping;

use super::burst::{Burst, PLAIN, Taken, View};
use super::departures::Places;
use super::link::Link;
use super::model;
use super::queue::{ALWAYS, Run, follow};
use super::state::Network;
use super::timeline::{Number, ahead};
use crate::kernel::Time;

/// Minimum number of characters of a packet to be sent; for fewer the steps are cheaper.
const MANY: i32 = 96;

impl Network {
    /// Sends groups of characters on a link, if more than one can be sent; returns a link that sends next, or none.
    #[inline(never)]
    pub(super) fn send_groups<const PACED: bool>(&mut self, link: u32) -> Option<u32> {
        let at = &self.links[link as usize];
        if at.has_sent_all() || !at.is_common() || at.credit.is_kept() || at.credit.characters() > 0 {
            return None;
        }
        let worm = self.sending(link);
        if worm.bound || ahead(worm.end, at.wire.known()) < MANY {
            return None;
        }
        let (groups, burst) = self.view::<PACED, PLAIN>(link, &worm).groups()?;
        if !self.links[link as usize].wire.has_room() {
            self.make_room(link);
        }
        let at = &mut self.links[link as usize];
        let (before, kind) = (at.wire.known(), &self.kinds[at.kind as usize]);
        at.wire.send_groups(&groups, if burst.last { kind.end } else { kind.character });
        at.credit.spend(0, burst.next_quantum);
        if before == worm.first {
            at.worm_mut(at.sending(), &mut self.crowd).has_begun(groups.time);
        }
        self.extensions += 1;
        Some(self.take_effect::<PACED, PLAIN>(link, &burst, before))
    }

    /// Whether a link waits for credit from the next one of its head packet, and that is slower.
    #[inline(always)]
    pub(super) fn is_before_slower(&self, link: u32) -> bool {
        let at = &self.links[link as usize];
        let next = self.links.get(at.input.output() as usize);
        next.is_some_and(|next| self.kind(next).character > self.kind(at).character)
    }
}

impl View<'_> {
    /// Returns the first characters of groups that can be sent, and all that is sent.
    fn groups(&self) -> Option<(Run, Burst)> {
        let (at, kind, before) = (self.at, self.kind, self.at.wire.known());
        let stop = self.supplied_up_to(before);
        let (most, next, quantum) = ((stop - before).0, at.credit.next_quantum(), kind.quantum);
        if most / 2 < quantum {
            return None;
        }
        let (_, places) = self.to.as_ref()?;
        let quanta = places.quanta(at, next, quantum)?;
        let groups =
            Run { count: quanta.count.min(most / quantum), time: kind.credit(quanta.time), ..quanta };
        let waits = Time::from(groups.step) > Time::from(quantum) * Time::from(kind.character)
            && groups.time >= model::start(self.time, at.wire.free(), ALWAYS);
        let behind = at.is_behind(kind, groups.time);
        let comes = self.supply.as_ref().is_none_or(|supply| supply.in_time(kind, groups.time, most));
        let last = groups.at(groups.count - 1) + Time::from(quantum - 1) * Time::from(kind.character);
        if groups.count < 2 || !waits || behind || !comes || last >= at.wire.horizon() {
            return None;
        }
        let characters = groups.count * quantum;
        let credit = Taken { characters, next_quantum: next + Wrapping(characters), own: groups.time };
        let all = Run { count: characters, step: kind.character, time: groups.time };
        let known = before + Wrapping(characters);
        let mut burst = self.effects::<PLAIN>(all, &credit, known);
        burst.again = known != stop && !burst.waits;
        Some((groups, burst))
    }
}

impl Places<'_> {
    /// Returns when the characters leave that return quanta of credit, from one on, as far as they do so at equal
    /// intervals because of their places or of the crossbar since the grant, and these are known.
    #[inline]
    pub fn quanta(&self, at: &Link, number: Number, quantum: u32) -> Option<Run> {
        let rest = ahead(self.turns.stop, number);
        if rest <= 0 || ahead(number, at.input.deleted()) < 0 {
            return None;
        }
        let each = self.line.each(number - self.turns.shift, quantum, self.crossbar)?.later(self.late);
        let count = (rest as u32).div_ceil(quantum);
        let own = at.input.crosses_at(number, self.crossbar);
        Some(follow(count, own, quantum.checked_mul(self.crossbar)?, [each]))
    }
}
