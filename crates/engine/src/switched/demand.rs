//! Links of long packets that are left behind: nobody looks at what they send.
//!
//! A long packet occupies a chain of links. Only its two ends have visible effects: the **front**, on which the head waits
//! for its next request, and the link of its source, which is free for the next packet when the end has left. The links
//! between carry no other packet. Yet every grant of the head allows all links of the chain to send a further bufferful,
//! so the cost of a packet would grow with the square of its path length. Therefore a link that gets more credit for such
//! a packet does not send, but is left **behind**.
//!
//! * Equation: none is solved. A link can send at most a bufferful more of a packet than the next one, so the front, or a
//!   link before it, has too little credit for the end of the packet to leave its source: that is a matter of numbers,
//!   not of times.
//! * Conditions: no link is [stepwise](super::stepwise), and a link has sent the header for the next request.
//! * Otherwise, when the end could leave its source, or something happens to the wire of one of them, the links send what
//!   they can: those of a packet that [streams](super::stream) to its terminal on all links at once, others step by step.
//! * Gain, together with more that `stream` sends at once: at 1000 B 9748 to 6523 with the C104, 10,877 to 6303 with
//!   SpaceWire (matched flow control, 1024 terminals); with time-codes every 100 us, at 1000 B 16,538 to 13,123 with
//!   SpaceWire.
//!
//! Links also rest for a while that were held by codes: see [`horizon`](super::horizon).

use std::hint::cold_path;
use std::num::Wrapping;

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
    /// behind.
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

    /// Decides what the holder of a link that has sent more of a long packet does, which may have credit because of it:
    /// true if it is left behind, false if it has to send like the links of short packets.
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
        self.rouse(holder);
        false
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
        let asking = if at.to_terminal { 1 } else { asking_chars(&self.fabric, worm.header) };
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

    /// Whether a link was left behind, and still may be: the end of its packet cannot leave its source.
    pub(super) fn is_left_behind(&self, link: u32) -> bool {
        let output = self.links[link as usize].input.output();
        output != NONE && self.is_long(output, link) && self.is_far_before(output)
    }

    /// Returns the quanta of credit that a packet in the input buffer of a link returns, as far as their times are
    /// known.
    fn leaving_quanta(&self, at: &Link) -> u32 {
        let Some(to) = self.links.get(at.input.output() as usize) else { return 0 };
        let known = to.turns(self.kind(to)).beyond_by(at, at.credit.next_quantum());
        if known > 0 { self.kind(at).quanta(known as u32) } else { 0 }
    }

    /// Whether the packet that was granted a link last has itself been granted the next one.
    pub(super) fn sends_head(&self, link: u32) -> bool {
        let at = &self.links[link as usize];
        at.input.output() != NONE && at.head() == at.tail()
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
