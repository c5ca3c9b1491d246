//! Times on demand: a long packet is not simulated on links that nobody looks at.
//!
//! A long packet occupies a chain of links. Only its two ends have visible effects: the **front**, on which the head waits
//! for its next request, and the **rear**, the link nearest to the source that has not sent the end of the packet. The
//! rear determines when the link before it has places for other packets. The links between carry no other packet, so
//! nobody looks at them. Yet every grant of the head allows all links of the chain to send a further bufferful, so the
//! cost of a packet would grow with the square of its path length. Therefore a link that gets more credit for such a
//! packet does not send, but is left **behind**. At each grant it is determined how much the rear can send, and the rear
//! **catches up**: it sends everything for which there is credit, and stores only the last characters, as far as they may
//! still be looked up. If it sends the end, the next link catches up as well, and so on; the others stay behind. While
//! the rear is the source, nobody sees what it does until it sends the end, and mostly the front alone shows that it
//! cannot.
//!
//! Why the last characters can be computed without the others: let all links send a character in `c`, and write
//! `sigma(r) = S(r) + c r` for the character that is `r` before the end of the packet. Characters of a packet start at
//! least `c` apart, so `sigma` never falls from one to the next.
//!
//! * *Only the last quantum matters.* Credit for a character of link `l` comes from a character of link `l + 1`, a
//!   fixed number before its quantum. Earlier quanta can be omitted, because their `sigma` is not larger.
//! * *Credit does not delay its own cause.* A start is the end of the longest chain of causes. Characters are supplied to
//!   the next link, and credit comes back from it. If link `l` waits for credit from link `l + 1`, the characters that
//!   it then sends come to link `l + 1` before that needs them: sending a bufferful takes longer than a character and
//!   its credit need to come and go, or the link is not plain. So no longest chain goes back by credit and then forward
//!   by supply.
//! * Hence `sigma` of a character is the maximum of the limits of its own link so far, of the grant and the crossbar, of
//!   the same limits on the following links for one character each, and of its arrival from the link before it:
//!   `sigma_l(r) = max(wire_l, own_l, earlier_l + lag_l, sigma_{l+1}(r') + lag_l, arrival)`. Character `r'` of the next
//!   link returns the credit for `r`, and `lag_l` is what `sigma` grows by on that way.
//! * If the first and the last of some characters have the same `sigma`, these form one straight run.
//!
//! This holds in networks of plain links of one pace without horizons, once a link has sent the header for the next
//! request; otherwise it sends immediately. Where links have paces of their own, or some have horizons or long cables,
//! those of a packet are left behind in the same way while its end cannot leave its source: that is a matter of numbers,
//! not of times. When its end could leave, or something happens to the wire of one of them, they send step by step what
//! they can, unless it [streams](super::stream) to its terminal, which is tried first. Gain in instructions per
//! packet-hop: at 1000 B 4539 to 2831 with the C104, 6351 to 3436 with SpaceWire, at 1000 flits 3617 to 2769 with
//! `generic` (1024 terminals); of links behind after the end has left its source, at 1000 B 9322 to 3773 with the C104
//! (16384 terminals), 5144 to 3144 with SpaceWire (4096); where links have paces of their own, at 1000 B 9748 to 6523
//! with the C104, 10,877 to 6303 with SpaceWire, together with more that `stream` sends at once; with time-codes every
//! 100 us, at 1000 B 16,538 to 13,123 with SpaceWire. Links also rest for a while that were held by codes: see
//! [`horizon`](super::horizon).

mod catch_up;
mod chain;
mod part;

use std::hint::cold_path;
use std::num::Wrapping;

pub(super) use self::chain::Chain;
use super::link::{Kind, Link};
use super::packet_path::asking_chars;
use super::state::Network;
use super::timeline::{Number, ahead};
use super::worm::{EAGER, PASSED, Worm};
use crate::fabric::NONE;

/// Returns the characters of the longest packet that is not long: a packet with more from the front of an input buffer on
/// is. It is twice what one link can be ahead of the next one, by buffers and credit.
pub(super) fn window(kinds: &[Kind]) -> u32 {
    let quantum = most(kinds, |kind| kind.quantum);
    reach(kinds).saturating_add(quantum).saturating_mul(2).min(i32::MAX as u32)
}

/// Returns how many more characters of a packet than the next link any link can send: a bufferful.
pub(super) fn reach(kinds: &[Kind]) -> u32 {
    most(kinds, |kind| kind.output_buffer).saturating_add(most(kinds, |kind| kind.input_buffer))
}

fn most(kinds: &[Kind], of: fn(&Kind) -> u32) -> u32 {
    kinds.iter().map(of).max().unwrap_or(0)
}

impl Network {
    /// Whether the holder of a link, which may have credit because the link has sent, need not send now: it was left
    /// behind, or all links of the packet have just caught up.
    #[inline(always)]
    pub(super) fn stays_behind(&mut self, link: u32, holder: u32) -> bool {
        self.is_long(link, holder) && self.leave_behind(link, holder)
    }

    /// Whether the packet that came to a link from its holder is so long that its links may be left behind.
    #[inline(always)]
    pub(super) fn is_long(&self, link: u32, holder: u32) -> bool {
        let [at, from] = [&self.links[link as usize], &self.links[holder as usize]];
        self.has_long && ahead(at.output.end(), from.input.front()) > self.window as i32
    }

    /// The same for a packet of a number of characters.
    #[inline(always)]
    pub(super) fn is_long_packet(&self, characters: Number) -> bool {
        self.has_long && characters.0 > self.window
    }

    /// Returns `Worm::links` of a packet that its source puts on a link. It counts as long only if it is so without its
    /// headers: then it is long on all links, also where headers have been deleted.
    pub(super) fn links_of_source(&mut self, characters: u32, headers: u32) -> u8 {
        if characters <= self.window.saturating_add(headers) {
            return EAGER;
        }
        self.has_long |= self.leaves_behind;
        0
    }

    /// Provides a chain for a long packet that its source puts on a link.
    pub(super) fn begin_chain(&mut self, packet: u32) {
        if self.has_long && self.on_demand {
            let count = self.chains.len().max(packet as usize + 1);
            self.chains.resize_with(count, Chain::default);
            self.chains[packet as usize].clear();
        }
    }

    /// Decides what the holder of a link that has sent more of a long packet does, which may have credit because of it:
    /// true if it is left behind, or has sent what it can together with other links of the packet; false if it has to
    /// send like the links of short packets.
    #[inline(never)]
    pub(super) fn leave_behind(&mut self, link: u32, holder: u32) -> bool {
        let at = &self.links[link as usize];
        if at.tail() == NONE {
            return false;
        }
        let worm = at.worm(at.tail(), &self.crowd);
        if worm.links < PASSED && self.is_far(at, holder, worm) {
            self.mark(link, holder);
            return true;
        }
        cold_path();
        let (is_eager, packet) = (worm.links == EAGER, worm.packet as usize);
        if !self.on_demand {
            self.rouse(holder);
            return false;
        }
        if is_eager {
            return false;
        }
        let mut chain = std::mem::take(&mut self.chains[packet]);
        let may = self.look_back(&mut chain, link, holder);
        let moved = if may { self.move_rear(&mut chain) } else { NONE };
        self.chains[packet] = chain;
        if moved != NONE {
            // Places there may be free for packets behind this one.
            self.vacated(moved);
        }
        may
    }

    /// Makes the links send that were left behind, and on which it depends what a link sends: those after it up to the
    /// front of the packet that it sends, and those before it.
    pub(super) fn rouse_around(&mut self, link: u32) {
        let mut to = self.links[link as usize].input.output();
        while to != NONE {
            self.rouse_one(to);
            to = if self.sends_head(to) { self.links[to as usize].input.output() } else { NONE };
        }
        self.rouse_one(link);
        let mut from = self.links[link as usize].output.holder();
        while from != NONE {
            self.rouse_one(from);
            from = if self.sends_head(from) { self.links[from as usize].output.holder() } else { NONE };
        }
    }

    fn rouse_one(&mut self, link: u32) {
        if self.links[link as usize].due.is_behind() {
            self.links[link as usize].due.catch_up();
            if !self.links[link as usize].has_sent_all() {
                self.wake(link);
            }
        }
    }

    /// Makes the links of a packet up to one, where they were left behind, send what they can.
    fn rouse(&mut self, mut link: u32) {
        while link != NONE && self.links[link as usize].due.is_behind() {
            self.rouse_one(link);
            link = self.links[link as usize].output.holder();
        }
    }

    /// Makes the rear of a packet, and the links that it lets send the end, catch up, and leaves the others behind.
    /// Returns the link that enters the rear, if that has sent more, or [`NONE`].
    fn move_rear(&mut self, chain: &mut Chain) -> u32 {
        let parts = chain.parts();
        let (rear, front) = (parts[0], parts.len() - 1);
        let is_source = self.kind(&self.links[rear.link as usize]).from_terminal;
        let moves = if is_source { rear.rest == 0 } else { rear.rest < rear.unsent };
        let mut until = 0;
        if moves {
            if is_source {
                let at = &mut self.links[parts[front].link as usize];
                at.worm_mut(at.tail(), &mut self.crowd).has_left_source();
            }
            until = self.catch_up(parts);
        }
        if until == front {
            chain.clear();
        } else {
            self.mark(parts[front].link, parts[front - 1].link);
            let front = parts[front].link;
            chain.keep(until, |part| {
                self.links[part.link as usize].due.is_woken() || !self.has_all_headers(front, part)
            });
        }
        if moves { self.links[rear.link as usize].output.holder() } else { NONE }
    }

    /// Leaves the holder of a link behind. The link then has credit that it does not take; it is left behind, too, unless
    /// it waits for that credit or has another packet to send.
    fn mark(&mut self, link: u32, holder: u32) {
        let at = &mut self.links[link as usize];
        if !at.credit.waits() && at.sends_newest() {
            at.due.leave_behind();
        } else {
            at.due.catch_up();
        }
        self.links[holder as usize].due.leave_behind();
    }

    /// Whether the end of a packet would still be at its source if all links of the packet sent as much as they can: a
    /// link can send at most a bufferful more of it than the next one.
    #[inline(always)]
    fn is_far(&self, at: &Link, holder: u32, worm: &Worm) -> bool {
        let from = &self.links[holder as usize];
        let asking = if at.leads_to_terminal() { 1 } else { asking_chars(&self.fabric, worm.header) };
        let has_header = ahead(from.wire.known() - at.output.shift(), worm.first + Wrapping(asking)) >= 0;
        let is_front = at.input.output() == NONE || at.head() != at.tail();
        is_front & has_header & self.holds_back(at, worm)
    }

    /// Whether the end of a packet is still at its source, because one of its links has no credit to send so much of it.
    #[inline(always)]
    fn holds_back(&self, at: &Link, worm: &Worm) -> bool {
        self.without_credit(at, worm) > u32::from(worm.links).saturating_mul(self.reach)
    }

    /// Returns the characters of its newest packet for which a link has no credit, as far as it is known; all of them
    /// if it has not begun to send it.
    #[inline(always)]
    fn without_credit(&self, at: &Link, worm: &Worm) -> u32 {
        if at.has_sent_all() {
            // Where links have paces of their own, nobody tells it that its end has left its source.
            return 0;
        }
        let begun = at.sends_newest() & (ahead(at.wire.known(), worm.first) > 0);
        if !begun {
            return (worm.end - worm.first).0;
        }
        let rest = (worm.end - at.wire.known()).0.saturating_sub(at.credit.characters());
        if !at.credit.is_kept() && at.input.output() == NONE {
            return rest;
        }
        cold_path();
        let quanta = at.credit.kept_quanta() + self.leaving_quanta(at);
        rest.saturating_sub(quanta.saturating_mul(self.kind(at).quantum))
    }

    /// Whether a link was left behind, and still may be: the rear of its packet cannot send
    /// more of it; if that is the source, not all.
    pub(super) fn is_left_behind(&self, link: u32) -> bool {
        let output = self.links[link as usize].input.output();
        if output == NONE || !self.is_long(output, link) {
            return false;
        }
        if !self.on_demand {
            return self.is_far_before(output);
        }
        let mut chain = Chain::default();
        if !self.look_back(&mut chain, output, link) {
            return false;
        }
        let rear = &chain.parts()[0];
        let is_source = self.kind(&self.links[rear.link as usize]).from_terminal;
        rear.rest > 0 && (is_source || rear.rest == rear.unsent)
    }

    /// Whether a link of a packet, or one after it, holds the end back at its source.
    fn is_far_before(&self, link: u32) -> bool {
        let mut to = link;
        loop {
            let at = &self.links[to as usize];
            if at.tail() == NONE {
                return false;
            }
            let worm = at.worm(at.tail(), &self.crowd);
            if worm.links < PASSED && self.holds_back(at, worm) {
                return true;
            }
            if !self.sends_head(to) {
                return false;
            }
            to = at.input.output();
        }
    }
}

#[cfg(test)]
mod tests;
