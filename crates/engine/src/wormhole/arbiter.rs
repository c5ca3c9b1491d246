//! Who gets which link, decided once per tick after everything else of that tick.

use super::state::{Event, Header, Network, UNKNOWN};
use crate::fabric::{NONE, arbiter, choice};
use crate::kernel::Time;

impl Network {
    /// Notes that the head of this input link asks in the present tick.
    #[inline]
    pub fn request(&mut self, link: u32) {
        self.asking.push(link);
    }

    /// Notes that this link has become free in the present tick.
    #[inline]
    pub fn release(&mut self, link: u32) {
        self.links[link as usize].release_pending = false;
        for at in self.groups_of(link) {
            self.touch(self.link_groups[at]);
        }
    }

    /// The second phase of a tick: queues what was asked and grants what is free.
    ///
    /// # Errors
    /// A switch and a class for which it has no route.
    pub fn arbitrate(&mut self, now: Time) -> Result<(), (u32, u32)> {
        if self.asking.len() > 1 {
            self.asking.sort_unstable();
        }
        for at in 0..self.asking.len() {
            self.enqueue(self.asking[at], now);
        }
        self.asking.clear();
        if let Some(lost) = self.lost {
            return Err(lost);
        }
        if self.touched.len() > 1 {
            self.touched.sort_unstable();
        }
        for at in 0..self.touched.len() {
            let group = self.touched[at];
            self.groups[group as usize].queued = false;
            self.serve(group, now);
        }
        self.touched.clear();
        Ok(())
    }

    /// Makes sure that waiting heads hear of a link whose release is known.
    #[inline]
    pub(super) fn announce(&mut self, link: u32) {
        let at = &self.links[link as usize];
        if at.release_pending || at.free_at == UNKNOWN {
            return;
        }
        let waited_for =
            self.groups_of(link).any(|at| self.groups[self.link_groups[at] as usize].waiting > 0);
        if waited_for {
            let free = self.links[link as usize].free_at;
            self.links[link as usize].release_pending = true;
            self.schedule(Event::Release(link), free);
        }
    }

    fn groups_of(&self, link: u32) -> std::ops::Range<usize> {
        self.link_groups_start[link as usize] as usize..self.link_groups_start[link as usize + 1] as usize
    }

    fn touch(&mut self, group: u32) {
        let at = &mut self.groups[group as usize];
        if !at.queued && at.waiting > 0 {
            at.queued = true;
            self.touched.push(group);
        }
    }

    /// Puts the head of an input link at the end of its group's queue.
    fn enqueue(&mut self, link: u32, now: Time) {
        let switch = self.fabric.link_target[link as usize];
        let worm = self.worms[self.links[link as usize].head as usize];
        let packet = &self.packets[worm.packet as usize];
        let class = match worm.header {
            Header::Via => self.fabric.via_class[packet.via as usize],
            _ => self.fabric.terminal_class[packet.target as usize],
        };
        let entry = self.fabric.route[switch as usize * self.fabric.classes as usize + class as usize];
        if entry == NONE {
            self.lost = Some((switch, class));
            return;
        }
        let group = entry >> 1;
        let at = &mut self.links[link as usize];
        at.group = group;
        at.strips = entry & 1 == 1;
        at.requested = now;
        at.next_waiting = NONE;
        let queue = &mut self.groups[group as usize];
        if queue.waiting == 0 {
            queue.first = link;
        } else {
            self.links[queue.last as usize].next_waiting = link;
        }
        let queue = &mut self.groups[group as usize];
        queue.last = link;
        queue.waiting += 1;
        self.touch(group);
    }

    /// Grants links of a group until no head waits or none is free.
    fn serve(&mut self, group: u32, now: Time) {
        while self.groups[group as usize].waiting > 0 {
            let Some(output) = self.choose_link(group, now) else {
                self.announce_group(group);
                return;
            };
            let input = self.choose_head(group);
            let kind = self.fabric.switch_choice[self.fabric.group_switch[group as usize] as usize];
            // The stream is drawn from for the head first.
            let output = if kind == choice::RANDOM { self.draw_link(group, now) } else { output };
            self.grant(input, output, now);
        }
    }

    #[inline]
    fn announce_group(&mut self, group: u32) {
        for at in self.links_of(group) {
            self.announce(self.fabric.group_links[at]);
        }
    }

    fn links_of(&self, group: u32) -> std::ops::Range<usize> {
        self.fabric.group_start[group as usize] as usize..self.fabric.group_start[group as usize + 1] as usize
    }

    fn is_free(&self, link: u32, now: Time) -> bool {
        self.links[link as usize].free_at <= now
    }

    /// The free link to be granted next, or any free link if the choice is random.
    fn choose_link(&self, group: u32, now: Time) -> Option<u32> {
        let kind = self.fabric.switch_choice[self.fabric.group_switch[group as usize] as usize];
        let links = &self.fabric.group_links[self.links_of(group)];
        let mut free = links.iter().copied().filter(|&link| self.is_free(link, now));
        match kind {
            choice::LEAST_RECENT => free.min_by_key(|&link| self.links[link as usize].last_grant),
            _ => free.next(),
        }
    }

    fn draw_link(&mut self, group: u32, now: Time) -> u32 {
        let links = &self.fabric.group_links[self.links_of(group)];
        let free = links.iter().copied().filter(|&link| self.links[link as usize].free_at <= now);
        let drawn = self.streams[group as usize].below(free.clone().count() as u32);
        free.clone().nth(drawn as usize).expect("a free link was chosen before")
    }

    /// Takes the head that is served next out of the group's queue.
    fn choose_head(&mut self, group: u32) -> u32 {
        let queue = self.groups[group as usize];
        let position = match self.fabric.switch_arbiter[self.fabric.group_switch[group as usize] as usize] {
            arbiter::FIFO => 0,
            arbiter::RANDOM => self.streams[group as usize].below(queue.waiting),
            arbiter::ROUND_ROBIN => {
                let after = queue.served.wrapping_add(1);
                self.position_of_least(group, |link| link.wrapping_sub(after))
            }
            _ => self.position_of_least(group, |link| link),
        };
        let chosen = self.remove(group, position);
        self.groups[group as usize].served = chosen;
        chosen
    }

    fn position_of_least(&self, group: u32, key: impl Fn(u32) -> u32) -> u32 {
        let queue = &self.groups[group as usize];
        let heads = std::iter::successors(Some(queue.first), |&link| {
            Some(self.links[link as usize].next_waiting).filter(|&next| next != NONE)
        });
        heads.zip(0..).min_by_key(|&(link, _)| key(link)).map_or(0, |(_, position)| position)
    }

    fn remove(&mut self, group: u32, position: u32) -> u32 {
        let queue = &mut self.groups[group as usize];
        queue.waiting -= 1;
        if position == 0 {
            let first = queue.first;
            queue.first = self.links[first as usize].next_waiting;
            return first;
        }
        let mut before = queue.first;
        for _ in 1..position {
            before = self.links[before as usize].next_waiting;
        }
        let taken = self.links[before as usize].next_waiting;
        let next = self.links[taken as usize].next_waiting;
        self.links[before as usize].next_waiting = next;
        if next == NONE {
            self.groups[group as usize].last = before;
        }
        taken
    }
}
