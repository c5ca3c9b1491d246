//! The grants of links to heads, decided once per tick after all events.

use super::state::Network;
use crate::fabric::{NONE, arbiter, choice, rank};
use crate::kernel::Time;

impl Network {
    /// Queues the head of this input link, whose request is due in this tick.
    #[inline(always)]
    pub fn request(&mut self, link: u32) {
        let at = &mut self.links[link as usize];
        let (switch, entry) = at.port.route();
        if entry == NONE {
            self.lost = Some((switch, at.worm(at.head(), &self.crowd).class));
            return;
        }
        self.ports.enqueue(&mut self.links, link, self.wheel.now());
        self.ports.groups[entry as usize >> 1].touch(entry >> 1, &mut self.touched);
    }

    /// Serves the head of this input link at once if its request, the only event of this tick, finds a free link and no
    /// other head.
    ///
    /// * Rule: a group is arbitrated at the end of a tick, among all heads that have requested.
    /// * Conditions: no event of this tick is left, no head waits for the group, one of its links is free, and the first
    ///   free one is what a single head is granted.
    /// * Otherwise the head is queued and the group arbitrated after all events of the tick.
    /// * Gain: 1771 to 1721 instructions per packet-hop with the C104, 2649 to 2622 with SpaceWire (1024 terminals).
    #[inline(always)]
    pub fn request_alone(&mut self, link: u32, now: Time) {
        let entry = self.links[link as usize].port.route().1;
        // No entry is no group either.
        let group = self.ports.groups.get_mut(entry as usize >> 1);
        if let Some(group) = group
            && let Some(output) = group.free_for_one(&self.links, now)
        {
            group.serve_one(link);
            self.links[link as usize].port.request(now);
            if self.paced {
                self.grant::<true>(link, output, now);
            } else {
                self.grant::<false>(link, output, now);
            }
        } else {
            self.request(link);
        }
    }

    /// Handles the release of this link in this tick: its groups are arbitrated.
    #[inline]
    pub fn release(&mut self, link: u32) {
        self.ports.release(&mut self.links[link as usize].port, &mut self.touched);
    }

    /// Arbitrates in the second phase of a tick.
    ///
    /// # Errors
    /// A switch and a class for which it has no route.
    #[inline]
    pub fn arbitrate(&mut self, now: Time) -> Result<(), (u32, u32)> {
        if let Some(lost) = self.lost {
            return Err(lost);
        }
        if self.touched.len() > 1 {
            self.touched.sort_unstable_by_key(|&group| std::cmp::Reverse(group));
        }
        while let Some(group) = self.touched.pop() {
            if self.paced { self.serve::<true>(group, now) } else { self.serve::<false>(group, now) }
        }
        Ok(())
    }

    /// Grants links of a group, for which heads wait, until no head waits or no link is free.
    #[inline(never)]
    fn serve<const PACED: bool>(&mut self, group: u32, now: Time) {
        self.ports.groups[group as usize].begin();
        loop {
            let row = &mut self.ports.groups[group as usize];
            let pair = match row.first_free(&self.links, now) {
                Some(output) if row.is_simple() => Some((row.take_first(&self.links), output)),
                None if row.is_near() => None,
                _ => self.choose(group, now),
            };
            let Some((input, output)) = pair else { break };
            let more = self.ports.groups[group as usize].waiting() > 0;
            self.grant::<PACED>(input, output, now);
            if !more || self.ports.groups[group as usize].is_held() {
                return;
            }
        }
        // Heads still wait, and no link is free now; one whose release is known becomes so in an event.
        for link in self.ports.unheld(&self.fabric, group) {
            self.links[link as usize].port.announce(link, &mut self.wheel);
        }
    }

    /// Takes the head that is served next out of the group's queue, and returns it with the link that it is granted, if
    /// one is free.
    #[cold]
    fn choose(&mut self, group: u32, now: Time) -> Option<(u32, u32)> {
        let output = self.look_for_link(group, now)?;
        let input = self.choose_head(group);
        // The draw for the head comes first.
        let random = self.ports.groups[group as usize].choice() == choice::RANDOM;
        Some((input, if random { self.draw_link(group, now) } else { output }))
    }

    /// Returns the next free link to grant, or any free link if the choice is random.
    fn look_for_link(&self, group: u32, now: Time) -> Option<u32> {
        let mut free = self.ports.free(&self.links, &self.fabric, group, now);
        match self.ports.groups[group as usize].choice() {
            choice::LEAST_RECENT => free.min_by_key(|&link| self.links[link as usize].port.last_grant()),
            _ => free.next(),
        }
    }

    fn draw_link(&mut self, group: u32, now: Time) -> u32 {
        let mut free = self.ports.free(&self.links, &self.fabric, group, now);
        let drawn = self.streams[group as usize].below(free.clone().count() as u32);
        free.nth(drawn as usize).expect("a free link was chosen before")
    }

    /// Takes the head that is served next out of the group's queue.
    fn choose_head(&mut self, group: u32) -> u32 {
        let queue = &self.ports.groups[group as usize];
        let place = match queue.arbiter() {
            arbiter::FIFO => 0,
            arbiter::RANDOM => self.streams[group as usize].below(queue.waiting()),
            kind => {
                let served = queue.served();
                self.place_of_least(group, |link| rank(kind, link, served, || self.made(link)))
            }
        };
        self.ports.serve(&mut self.links, group, place)
    }

    /// Returns when the source of an input link's head packet created it.
    fn made(&self, link: u32) -> Time {
        let head = self.links[link as usize].head();
        self.packets[self.worm(link, head).packet].created
    }

    fn place_of_least<K: Ord>(&self, group: u32, key: impl Fn(u32) -> K) -> u32 {
        let heads = self.ports.waiting(&self.links, group).zip(0..);
        heads.min_by_key(|&(link, _)| key(link)).map_or(0, |(_, place)| place)
    }
}
