//! Links that were left behind catch up, in one go each.

use std::hint::cold_path;
use std::num::Wrapping;

use super::super::queue::Run;
use super::super::state::Network;
use super::part::{LONG_AGO, Part};
use crate::kernel::Time;

impl Network {
    /// Makes links of a packet send everything for which there is credit: the rear, and those after it up to one that
    /// cannot send the end either, which is returned.
    pub(super) fn catch_up(&mut self, parts: &[Part]) -> usize {
        let front = parts.len() - 1;
        let mut until = parts.iter().position(|part| part.rest > 0).unwrap_or(front);
        if until + 1 == front {
            // The front takes its characters from a link that is not behind.
            until = front;
        }
        let all = until == front;
        let kept = self.looked_up(if all { Some(&parts[front]) } else { None });
        // `sigma` of the last character that the link before has sent, if that is its end of packet.
        let mut end = None;
        for (index, part) in parts[..=until].iter().enumerate() {
            if part.rest < part.unsent {
                let stores_all = !all && !self.has_all_headers(parts[front].link, &parts[index + 1]);
                let first = if stores_all { part.unsent } else { part.unsent.min(kept) };
                let sigma = match self.all_by(parts, index, first, end) {
                    Some(sigma) => {
                        self.write(part, part.unsent - first, [first, part.rest + 1], sigma);
                        sigma
                    }
                    None => self.send_last_in_runs(parts, index, first),
                };
                if index == 0 {
                    self.take_entered(part);
                }
                self.has_caught_up(part);
                end = if part.rest == 0 { Some(sigma) } else { None };
            } else {
                end = None;
            }
            let at = &mut self.links[part.link as usize];
            at.due.catch_up();
            if (all || part.rest == 0 || part.rest == part.unsent) && !at.has_sent_all() {
                self.wake(part.link);
            }
        }
        for pair in parts[..=until].windows(2).rev() {
            let [from, to] = [&pair[0], &pair[1]];
            if to.rest == 0 && self.paced {
                self.leave_plain::<true>(from.link, to.link);
            } else if to.rest == 0 {
                self.leave_plain::<false>(from.link, to.link);
            } else {
                self.try_left(from.link);
            }
        }
        if let [next, to, ..] = &parts[until + 1..]
            && !self.has_header(parts[front].link, to.link, next.link)
        {
            // It has waited for what the link before it has sent now.
            self.wake(next.link);
        }
        until
    }

    /// Returns how many characters before the end of a packet may still be looked up on links that catch up. If these are
    /// all, `front` is the last of them. All that has arrived there is looked up: by the front itself, unless it now
    /// sends everything, and by the link that it will be granted, unless it leads to a terminal.
    fn looked_up(&self, front: Option<&Part>) -> u32 {
        let kept = self.window + 2 * self.reach;
        let Some(front) = front else { return kept };
        let done = front.rest == 0 && self.links[front.link as usize].leads_to_terminal();
        kept.max(if done { 0 } else { front.unsent })
    }

    /// Returns `sigma` of what a link sends, from one character on, if all of it has the same. `end`: that of the end of
    /// packet on the link before, if that has sent it just now.
    #[inline(always)]
    fn all_by(&self, parts: &[Part], index: usize, first: u32, end: Option<Time>) -> Option<Time> {
        let part = &parts[index];
        if first > part.straight_from {
            return None;
        }
        let comes = match end {
            Some(end) if part.rest == 0 => end + Time::from(self.links[part.link as usize].output.way()),
            _ => self.comes_by(parts, index, part.rest + 1),
        };
        (comes <= part.last_sigma).then_some(part.last_sigma)
    }

    /// Stores what a link sends, from one character on, in several runs; returns `sigma` of the last one.
    #[inline(never)]
    fn send_last_in_runs(&mut self, parts: &[Part], index: usize, mut first: u32) -> Time {
        let part = &parts[index];
        let (mut sigma, mut unseen) = (LONG_AGO, part.unsent - first);
        while first > part.rest {
            sigma = self.sigma(parts, index, first);
            let mut last = part.rest + 1;
            let is_last = sigma >= part.last_sigma && sigma >= self.comes_by(parts, index, last);
            if !is_last && self.sigma(parts, index, last) != sigma {
                // The last one that is delayed no more than the first.
                let mut held = last;
                last = first;
                while last - held > 1 {
                    let middle = held.midpoint(last);
                    if self.sigma(parts, index, middle) == sigma { last = middle } else { held = middle }
                }
            }
            self.write(part, unseen, [first, last], sigma);
            (first, unseen) = (last - 1, 0);
        }
        sigma
    }

    /// Stores a straight run of characters, after those that nobody will look up.
    #[inline(always)]
    fn write(&mut self, part: &Part, unseen: u32, [first, last]: [u32; 2], sigma: Time) {
        if unseen > 0 {
            self.send_unseen(part.link, unseen);
        }
        if !self.links[part.link as usize].wire.has_room() {
            self.make_room(part.link);
        }
        let at = &mut self.links[part.link as usize];
        let kind = &self.kinds[at.kind as usize];
        let step = kind.character;
        let run = Run { count: first - last + 1, step, time: sigma - Time::from(first) * Time::from(step) };
        at.wire.send(&run, step);
        self.extensions += 1;
        at.free_places(kind, &run);
    }

    /// Sends characters whose starts nobody will look up.
    #[inline(always)]
    pub(in super::super) fn send_unseen(&mut self, link: u32, count: u32) {
        self.links[link as usize].wire.send_unseen(count);
        if self.paced {
            self.free_unseen(link, count);
        }
    }

    /// Takes what the rear of a packet has sent out of its output buffer, if it is stored there when that was ready.
    fn take_entered(&mut self, part: &Part) {
        let at = &mut self.links[part.link as usize];
        if at.worm(at.sending(), &self.crowd).bound {
            cold_path();
            at.output.take_entered(part.unsent - part.rest);
        }
    }

    /// Handles the consequences for a link that has sent what it can.
    #[inline(always)]
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
            self.sent(part.link, &gone, kind.from_terminal, kind.to_terminal);
        }
    }

    /// Returns `sigma` of a character that a link has not sent; see above.
    fn sigma(&self, parts: &[Part], index: usize, character: u32) -> Time {
        let pace = Time::from(self.kind(&self.links[parts[index].link as usize]).character);
        let mut sigma = self.comes_by(parts, index, character);
        let (mut index, mut character, mut lag) = (index, character, 0);
        loop {
            let part = &parts[index];
            sigma = sigma.max(part.wire + lag);
            if part.kept {
                cold_path();
                sigma = sigma.max(self.by_kept(part, character) + lag);
            }
            index += 1;
            if index == parts.len() || character > part.waiting {
                return sigma;
            }
            sigma = sigma.max(part.own + lag);
            let into = part.whole_quanta(part.waiting - character);
            if into < part.deleted {
                return sigma;
            }
            lag += part.lag;
            character = part.returns_at - into;
            let to = &parts[index];
            if part.earlier + lag > sigma {
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
    fn comes_by(&self, parts: &[Part], index: usize, character: u32) -> Time {
        let pace = Time::from(self.kind(&self.links[parts[index].link as usize]).character);
        self.comes(parts, index, character) + pace * Time::from(character)
    }

    /// Returns when a character that a link has not sent has arrived from the previous link, which has caught up.
    fn comes(&self, parts: &[Part], index: usize, character: u32) -> Time {
        if index == 0 {
            return self.comes_to_rear(&parts[0], character);
        }
        let before = &parts[index - 1];
        let at = &self.links[parts[index].link as usize];
        let number = at.output.granted() - Wrapping(character) + at.output.shift();
        self.links[before.link as usize].wire.starts().run_from(number).time + Time::from(at.output.way())
    }

    /// Returns when a character is ready for the rear of a packet.
    fn comes_to_rear(&self, part: &Part, character: u32) -> Time {
        let at = &self.links[part.link as usize];
        if at.worm(at.sending(), &self.crowd).bound {
            return at.output.ready(part.unsent - character);
        }
        match self.links.get(at.output.holder() as usize) {
            Some(from) if at.sends_newest() => {
                let number = at.output.granted() - Wrapping(character) + at.output.shift();
                from.wire.starts().run_from(number).time + Time::from(at.output.way())
            }
            // All are: see `hand_over`. At a source they are from the beginning.
            _ => LONG_AGO,
        }
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
