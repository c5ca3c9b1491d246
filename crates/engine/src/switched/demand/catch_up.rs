//! Links that were left behind catch up, in one go each.

use std::hint::cold_path;
use std::num::Wrapping;

use super::super::queue::Run;
use super::super::state::Network;
use super::{LONG_AGO, Part};
use crate::fabric::NONE;
use crate::kernel::Time;

impl Network {
    /// Makes all links of a packet send everything for which there is credit, from its source to its front.
    pub(super) fn catch_up(&mut self, parts: &[Part]) {
        // Everything that has arrived at the front is still looked up: by the front itself, unless it now sends all,
        // and by the link that it will be granted, unless it leads to a terminal.
        let done = parts[0].rest == 0 && self.links[parts[0].link as usize].leads_to_terminal();
        let looked_up = self.window.max(if done { 0 } else { parts[0].unsent });
        // `sigma` of the last character that the link before has sent, if that is its end of packet.
        let mut end = None;
        for (place, part) in parts.iter().enumerate().rev() {
            if part.rest < part.unsent {
                let first = part.unsent.min(looked_up);
                self.send_unseen(part.link, part.unsent - first);
                let sigma = self.send_last(parts, place, first, end);
                self.has_caught_up(part);
                end = if part.rest == 0 { Some(sigma) } else { None };
            } else {
                end = None;
            }
            let at = &mut self.links[part.link as usize];
            at.due.catch_up();
            if at.tail() != NONE {
                at.worm_mut(at.tail(), &mut self.crowd).was_left_behind();
            }
            if part.rest > 0 {
                self.wake(part.link);
            }
        }
        for pair in parts.windows(2) {
            let [to, from] = [&pair[0], &pair[1]];
            if to.rest == 0 && self.paced {
                self.leave_plain::<true>(from.link, to.link);
            } else if to.rest == 0 {
                self.leave_plain::<false>(from.link, to.link);
            } else {
                self.try_left(from.link);
            }
        }
    }

    /// Stores what a link sends, from one character on; returns `sigma` of the last one. `end`: that of the end of packet
    /// on the link before, if that has sent it just now.
    #[inline(always)]
    fn send_last(&mut self, parts: &[Part], place: usize, first: u32, end: Option<Time>) -> Time {
        let part = &parts[place];
        if first <= part.last_from {
            let comes = match end {
                Some(end) if part.rest == 0 => end + Time::from(self.links[part.link as usize].output.way()),
                _ => self.comes_by(parts, place, part.rest + 1),
            };
            if comes <= part.last {
                self.write(part.link, first, part.rest + 1, part.last);
                return part.last;
            }
        }
        self.send_last_in_runs(parts, place, first)
    }

    /// The same for characters with more than one `sigma`.
    #[inline(never)]
    fn send_last_in_runs(&mut self, parts: &[Part], place: usize, mut first: u32) -> Time {
        let part = &parts[place];
        let mut sigma = LONG_AGO;
        while first > part.rest {
            sigma = self.sigma(parts, place, first);
            let mut last = part.rest + 1;
            if self.sigma(parts, place, last) != sigma {
                // The last one that is delayed no more than the first.
                let mut held = last;
                last = first;
                while last - held > 1 {
                    let middle = held.midpoint(last);
                    if self.sigma(parts, place, middle) == sigma { last = middle } else { held = middle }
                }
            }
            self.write(part.link, first, last, sigma);
            first = last - 1;
        }
        sigma
    }

    /// Stores a straight run of characters.
    #[inline(always)]
    fn write(&mut self, link: u32, first: u32, last: u32, sigma: Time) {
        if !self.links[link as usize].wire.has_room() {
            self.make_room(link);
        }
        let at = &mut self.links[link as usize];
        let step = self.kinds[at.kind as usize].character;
        let run = Run { count: first - last + 1, step, time: sigma - Time::from(first) * Time::from(step) };
        at.wire.send(&run, step);
        self.extensions += 1;
        self.free_places(link, &run);
    }

    /// Sends characters whose starts nobody will look up.
    fn send_unseen(&mut self, link: u32, count: u32) {
        if count > 0 {
            self.links[link as usize].wire.send_unseen(count);
            self.free_unseen(link, count);
        }
    }

    /// Handles the consequences for a link that has sent what it can.
    fn has_caught_up(&mut self, part: &Part) {
        let at = &mut self.links[part.link as usize];
        let kind = &self.kinds[at.kind as usize];
        let sent = part.unsent - part.rest;
        if !at.leads_to_terminal() {
            at.credit.pay(kind, sent);
        }
        at.credit.set_waits(part.rest > 0);
        if part.rest == 0 {
            at.wire.ends(kind.end, kind.character);
            let gone = at.sent(at.sending(), &mut self.crowd);
            if kind.from_terminal | kind.to_terminal | (self.hops.limit > 0) {
                self.sent(part.link, &gone);
            }
        }
    }

    /// Returns `sigma` of a character that a link has not sent; see above.
    fn sigma(&self, parts: &[Part], place: usize, character: u32) -> Time {
        let pace = Time::from(self.kind(&self.links[parts[place].link as usize]).character);
        let mut sigma = self.comes_by(parts, place, character);
        let (mut place, mut character, mut lag) = (place, character, 0);
        loop {
            let part = &parts[place];
            sigma = sigma.max(part.wire + lag);
            if part.kept {
                cold_path();
                sigma = sigma.max(self.by_kept(part, character) + lag);
            }
            if place == 0 || character > part.waiting {
                return sigma;
            }
            sigma = sigma.max(part.own + lag);
            let into = (part.waiting - character) / part.quantum * part.quantum;
            if into < part.deleted {
                return sigma;
            }
            lag += part.lag;
            character = part.place - into;
            place -= 1;
            let to = &parts[place];
            if part.before + lag > sigma {
                cold_path();
                sigma = sigma.max(self.by_places_before(to.link, part, character - 1) + lag);
            }
            if character > to.unsent {
                let next = &self.links[to.link as usize];
                let time = next.wire.starts().run_from(next.output.granted() - Wrapping(character)).time;
                return sigma.max(time + pace * Time::from(character) + lag);
            }
        }
    }

    /// Returns `sigma` that the arrival of a character allows.
    fn comes_by(&self, parts: &[Part], place: usize, character: u32) -> Time {
        let pace = Time::from(self.kind(&self.links[parts[place].link as usize]).character);
        self.comes(parts, place, character) + pace * Time::from(character)
    }

    /// Returns when a character that a link has not sent has arrived from the previous link, which has caught up.
    fn comes(&self, parts: &[Part], place: usize, character: u32) -> Time {
        let Some(before) = parts.get(place + 1) else { return LONG_AGO };
        let at = &self.links[parts[place].link as usize];
        let number = at.output.granted() - Wrapping(character) + at.output.shift();
        self.links[before.link as usize].wire.starts().run_from(number).time + Time::from(at.output.way())
    }

    /// Returns `sigma` that the credit of earlier packets allows: of those that have left, and of the one that is
    /// leaving.
    fn by_kept(&self, part: &Part, character: u32) -> Time {
        let at = &self.links[part.link as usize];
        let kind = self.kind(at);
        // Only the front has no quantum: see `front`.
        let quanta = at.credit.kept_quanta() + if part.quantum == 0 { self.leaving_quanta(at) } else { 0 };
        let mut kept = at.credit.kept_times();
        let (mut first, mut sigma) = (part.unsent.saturating_sub(at.credit.characters()), LONG_AGO);
        let mut next = at.credit.next_quantum();
        for _ in 0..quanta {
            if first < character {
                break;
            }
            let time = kept.next().unwrap_or_else(|| {
                let (run, _) = self.leaving(at, next).expect("it is known when it leaves");
                next += kind.quantum;
                kind.credit(run.time)
            });
            sigma = sigma.max(time + Time::from(kind.character) * Time::from(first));
            first = first.saturating_sub(kind.quantum);
        }
        sigma
    }
}
