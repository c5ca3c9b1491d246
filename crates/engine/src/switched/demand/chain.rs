//! The links of a long packet, from its rear to its front.

use std::hint::cold_path;

use super::super::link::Link;
use super::super::packet_path::asking_chars;
use super::super::state::Network;
use super::super::timeline::ahead;
use super::super::worm::{PASSED, Worm};
use super::part::Part;
use crate::fabric::NONE;

/// Links of a packet, the rear first. Those that stay behind do not change, so they are computed once.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    parts: Vec<Part>,
    /// How many of them are links of the packet; the others are not removed, because that takes time.
    len: usize,
    /// Links before this one have sent the end.
    start: usize,
    /// Links before this one were computed earlier.
    computed: usize,
}

impl Chain {
    /// Returns the links.
    pub fn parts(&self) -> &[Part] {
        &self.parts[self.start..self.len]
    }

    /// Forgets all links.
    pub fn clear(&mut self) {
        (self.start, self.len) = (0, 0);
    }

    /// Forgets the links that may change before the next look: all but the rear, which is now this one, and those
    /// after it up to the first that may send immediately, since then the following ones do, too.
    pub fn keep(&mut self, rear: usize, may_send: impl Fn(&Part) -> bool) {
        self.start += rear;
        // The foremost link sends; the one before it may not have a header yet.
        let most = self.len - 2;
        let new = (self.start + 1).max(self.computed)..most;
        let mut changing =
            std::iter::once(self.start).chain(new).filter(|&index| may_send(&self.parts[index]));
        let count = changing.next().unwrap_or(most);
        self.len = count.max(self.start + 1);
    }

    /// Whether the links from this one on were computed earlier.
    #[inline(always)]
    fn goes_on_with(&self, link: u32) -> bool {
        self.parts[..self.computed].last().is_some_and(|part| part.link == link)
    }

    /// Forgets the links that were computed earlier, because they have sent the end.
    fn forget_computed(&mut self) {
        self.clear();
        self.computed = 0;
    }

    /// Makes room for new links after those that were computed earlier; returns these, still to be computed.
    #[inline(always)]
    fn extend(&mut self, count: usize) -> &mut [Part] {
        self.len = self.computed + count;
        if self.parts.len() < self.len {
            cold_path();
            self.parts.resize(self.len, Part::default());
        }
        &mut self.parts[self.computed..self.len]
    }
}

impl Network {
    /// Computes the links of a packet. False if the holder of this link has to send immediately.
    pub(super) fn look_back(&self, chain: &mut Chain, link: u32, holder: u32) -> bool {
        if self.links[holder as usize].has_sent_end(&self.links[link as usize]) {
            return false;
        }
        let mut front = link;
        while self.sends_head(front) {
            front = self.links[front as usize].input.output();
        }
        let may = self.has_header(front, link, holder) && self.compute_chain(chain, front);
        if !may {
            chain.clear();
        }
        may
    }

    /// Computes the links of a packet up to its front; false if they send immediately.
    fn compute_chain(&self, chain: &mut Chain, front: u32) -> bool {
        let at = &self.links[front as usize];
        let &Worm { links, packet, .. } = at.worm(at.tail(), &self.crowd);
        chain.computed = chain.len;
        let new = if links < PASSED {
            let source = self.packets[packet].source;
            let source = &self.links[self.fabric.terminal_out_link[source as usize] as usize];
            if source.has_sent_end(&self.links[source.input.output() as usize]) {
                return false;
            }
            usize::from(links) - chain.computed
        } else {
            self.count_new(chain, front)
        };
        let [new @ .., last] = chain.extend(new + 1) else { return false };
        *last = self.front(front);
        let (links, kinds) = (self.links.as_slice(), self.kinds.as_slice());
        let (mut to, mut next_kind, mut next) = (at, self.kind(at), &*last);
        for part in new.iter_mut().rev() {
            let link = to.output.holder();
            let at = &links[link as usize];
            let kind = &kinds[at.kind as usize];
            self.part(part, link, [at, to], [kind, next_kind], next);
            (to, next_kind, next) = (at, kind, part);
        }
        for index in (chain.start + 1..chain.computed).rev() {
            let [part, next] = &mut chain.parts[index..=index + 1] else { return false };
            part.renew(next);
            debug_assert!(
                part.is_like(&self.part_of(part.link, next)),
                "a link that was left behind has sent"
            );
        }
        if chain.start < chain.computed {
            self.compute_rear(chain);
        }
        chain.parts().len() > 1
    }

    /// Returns how many links a packet that has left its source has before its front and after those that were computed
    /// earlier.
    fn count_new(&self, chain: &mut Chain, front: u32) -> usize {
        let (mut to, mut from) = (front, self.links[front as usize].output.holder());
        let mut count = 0;
        while !chain.goes_on_with(from) {
            let (at, next) = (&self.links[from as usize], &self.links[to as usize]);
            if at.has_sent_end(next) {
                chain.forget_computed();
                break;
            }
            count += 1;
            (to, from) = (from, at.output.holder());
            // Whatever else it was granted, this packet has left the link before.
            if !at.sends_newest() || from == NONE {
                chain.forget_computed();
                break;
            }
        }
        count
    }

    /// Computes the rear of a packet again: it has sent since.
    fn compute_rear(&self, chain: &mut Chain) {
        loop {
            let [rear, next, ..] = chain.parts() else { return };
            if !self.links[rear.link as usize].has_sent_end(&self.links[next.link as usize]) {
                let part = self.part_of(rear.link, next);
                chain.parts[chain.start] = part;
                return;
            }
            chain.start += 1;
        }
    }

    /// Whether the packet that was granted a link last has itself been granted the next one.
    pub(in super::super) fn sends_head(&self, link: u32) -> bool {
        let at = &self.links[link as usize];
        at.input.output() != NONE && at.head() == at.tail()
    }

    /// Whether a link of a packet has sent what the head at its front needs to request the next one; this may be missing
    /// if the header of the last request was deleted. `to`: the next link of the packet.
    pub(super) fn has_header(&self, front: u32, to: u32, link: u32) -> bool {
        let [front, to, at] = [front, to, link].map(|link| &self.links[link as usize]);
        if front.tail() == NONE {
            return true;
        }
        let worm = front.worm(front.tail(), &self.crowd);
        let header = if front.leads_to_terminal() { 1 } else { asking_chars(&self.fabric, worm.header) };
        (to.output.end() - at.wire.known()).0 + header <= (worm.end - worm.first).0
    }

    /// Whether a link of a packet has sent all headers that may be deleted on its further way, and one character more.
    pub(super) fn has_all_headers(&self, front: u32, part: &Part) -> bool {
        let front = &self.links[front as usize];
        let worm = front.worm(front.tail(), &self.crowd);
        let address = self.packets[worm.packet].address;
        let headers = address + self.fabric.via_header_chars + self.fabric.header_chars + 1;
        part.unsent + headers <= (worm.end - worm.first).0
    }
}

impl Link {
    /// Whether it has sent the end of the packet that was granted the next link last.
    #[inline(always)]
    fn has_sent_end(&self, next: &Link) -> bool {
        ahead(self.wire.known() - next.output.shift(), next.output.granted()) >= 0
    }
}
