//! Memories that the ports of a switch share: what each holds of them, and whom that pauses.
//!
//! What is known of later ticks is not used here: a packet takes its places when its first character comes, after all other
//! events of the tick, and an event of its switch gives them back in the tick after that in which its end has left. The
//! same event says what follows for senders, and they hear it in another one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::parts::{Event, Stay};
use super::state::{Network, UNKNOWN};
use crate::fabric::Fabric;
use crate::kernel::Time;

/// What a lane holds of the memory of the switch that it leads to.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    /// Characters in its reserve and the pool.
    own: i64,
    /// Characters in its headroom, and the most there were.
    beyond: i64,
    most_beyond: i64,
    /// Whether the last thing that its switch said was to pause, and whether its sender has heard that.
    says: bool,
    is_paused: bool,
}

/// The memory of a switch.
#[derive(Clone, Debug, Default)]
struct Pool {
    /// Characters that the pool has places for, and those of all shares.
    size: i64,
    used: i64,
    /// Characters in all of the memory, and the most there were.
    held: i64,
    most: i64,
    /// The lanes that lead to the switch.
    lanes: Vec<u32>,
    /// Whether it has changed since its switch looked at it.
    has_changed: bool,
    /// Packets whose ends leave: when, from which lane, and their characters.
    leaving: BinaryHeap<Reverse<(Time, u32, u32)>>,
    /// What senders hear, and when: to pause, or to go on.
    heard: BinaryHeap<Reverse<(Time, u32, bool)>>,
}

/// Those of all switches.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pools: Vec<Pool>,
    /// Per lane.
    parts: Vec<Part>,
    /// Packets whose first characters have come in this tick.
    coming: Vec<u32>,
    /// The threshold as a part of what is free.
    alpha_billionths: i64,
    reserved: i64,
    headroom: i64,
    offset: i64,
    pauses: bool,
    drops: bool,
}

impl Memory {
    /// Returns the empty memories of all switches, if ports share them.
    pub fn new(fabric: &Fabric) -> Option<Box<Self>> {
        if !fabric.has_pool() {
            return None;
        }
        let size = |&size: &u32| Pool { size: size.into(), ..Pool::default() };
        let mut pools: Vec<Pool> = fabric.switch_pool_chars.iter().map(size).collect();
        for link in 0..fabric.links() as u32 {
            let to = pools.get_mut(fabric.link_target[link as usize] as usize);
            to.into_iter().for_each(|pool| pool.lanes.extend(fabric.lanes_of(link)));
        }
        Some(Box::new(Self {
            pools,
            parts: vec![Part::default(); fabric.all_lanes()],
            coming: Vec::new(),
            alpha_billionths: fabric.pool_alpha_billionths as i64,
            reserved: fabric.pool_reserved_chars.into(),
            headroom: fabric.pool_headroom_chars.into(),
            offset: fabric.pool_offset_chars.into(),
            pauses: fabric.pool_pauses == 1,
            drops: fabric.drops == 1,
        }))
    }

    /// Notes a packet whose first character comes in this tick.
    pub fn comes(&mut self, stay: u32) {
        self.coming.push(stay);
    }

    /// Returns when a sender may go on, as far as is known: 0 if it may.
    pub fn goes_on_at(&self, lane: u32) -> Time {
        if self.parts[lane as usize].is_paused { UNKNOWN } else { 0 }
    }

    /// Returns what a lane may have of the pool of a switch.
    fn threshold(&self, switch: u32) -> i64 {
        let pool = &self.pools[switch as usize];
        (pool.size - pool.used) * self.alpha_billionths / 1_000_000_000
    }

    /// Gives a packet its places; false if there are none.
    fn take(&mut self, switch: u32, lane: u32, length: i64) -> bool {
        let (threshold, part) = (self.threshold(switch), &mut self.parts[lane as usize]);
        let pool = &mut self.pools[switch as usize];
        let share = (part.own + length - self.reserved).max(0);
        let more = share.min(length);
        if share <= threshold && more <= pool.size - pool.used {
            part.own += length;
            pool.used += more;
        } else if self.drops && part.beyond + length > self.headroom {
            return false;
        } else {
            part.beyond += length;
            part.most_beyond = part.most_beyond.max(part.beyond);
        }
        pool.held += length;
        pool.most = pool.most.max(pool.held);
        pool.has_changed = true;
        true
    }

    /// Takes back the places of a packet that has left.
    fn give_back(&mut self, switch: u32, lane: u32, length: i64) {
        let (pool, part) = (&mut self.pools[switch as usize], &mut self.parts[lane as usize]);
        let from_headroom = part.beyond.min(length);
        let rest = length - from_headroom;
        pool.used -= rest.min((part.own - self.reserved).max(0));
        part.beyond -= from_headroom;
        part.own -= rest;
        pool.held -= length;
        pool.has_changed = true;
    }

    /// Returns what a switch says to the sender of a lane at the end of a tick.
    fn tells(&self, lane: u32, threshold: i64) -> bool {
        let Part { own, beyond, says, .. } = self.parts[lane as usize];
        let most = if says { (threshold - self.offset).max(0) } else { threshold };
        beyond > 0 || (own - self.reserved).max(0) > most
    }

    /// Takes back what has left up to a tick, and returns the senders to which a switch says something new at its end.
    fn look(&mut self, switch: u32, known: Time) -> Vec<(u32, bool)> {
        while let Some(&Reverse((time, lane, length))) = self.pools[switch as usize].leaving.peek()
            && time <= known
        {
            self.pools[switch as usize].leaving.pop();
            self.give_back(switch, lane, length.into());
        }
        if !std::mem::take(&mut self.pools[switch as usize].has_changed) || !self.pauses {
            return Vec::new();
        }
        let threshold = self.threshold(switch);
        let lanes = self.pools[switch as usize].lanes.iter().map(|&lane| (lane, self.tells(lane, threshold)));
        let new: Vec<_> = lanes.filter(|&(lane, says)| self.parts[lane as usize].says != says).collect();
        new.iter().for_each(|&(lane, says)| self.parts[lane as usize].says = says);
        new
    }

    /// Returns what the next sender to which a switch has said something hears by a tick, and takes it.
    fn hear(&mut self, switch: u32, now: Time) -> Option<(u32, bool)> {
        let heard = &mut self.pools[switch as usize].heard;
        let &Reverse((time, lane, is_paused)) = heard.peek()?;
        if time > now {
            return None;
        }
        heard.pop();
        self.parts[lane as usize].is_paused = is_paused;
        Some((lane, is_paused))
    }
}

impl Network {
    fn switch_behind(&self, lane: u32) -> u32 {
        self.fabric.link_target[self.lanes[lane as usize].link as usize]
    }

    /// Gives places to the packets whose first characters have come in this tick, or discards them, after its other events.
    #[inline(always)]
    pub fn take_in(&mut self) {
        if self.memory.as_ref().is_some_and(|memory| !memory.coming.is_empty()) {
            self.take_in_all();
        }
    }

    #[cold]
    fn take_in_all(&mut self) {
        let Some(memory) = &mut self.memory else { return };
        let mut coming = std::mem::take(&mut memory.coming);
        coming.sort_unstable_by_key(|&stay| self.stays[stay].lane);
        for stay in coming {
            let Stay { lane, length, .. } = self.stays[stay];
            let switch = self.switch_behind(lane);
            let Some(memory) = &mut self.memory else { return };
            if memory.take(switch, lane, length.into()) {
                self.let_in(stay);
                self.schedule(Event::Memory(switch), self.now + 1);
            } else {
                self.discard(stay);
            }
        }
    }

    /// Notes when the end of a packet leaves.
    #[inline(always)]
    pub(super) fn will_leave(&mut self, lane: u32, left: Time, length: u32) {
        if self.memory.is_some() {
            self.gives_back_at(lane, left, length);
        }
    }

    #[cold]
    fn gives_back_at(&mut self, lane: u32, left: Time, length: u32) {
        let switch = self.switch_behind(lane);
        debug_assert!(left >= self.now, "what has left is known in time");
        if let Some(memory) = &mut self.memory {
            memory.pools[switch as usize].leaving.push(Reverse((left, lane, length)));
            self.schedule(Event::Memory(switch), left + 1);
        }
    }

    /// Looks at the memory of a switch as it was at the end of the tick before, and lets senders hear what it said.
    #[cold]
    pub fn look_at_memory(&mut self, switch: u32) {
        let Some(mut memory) = self.memory.take() else { return };
        for (lane, says) in memory.look(switch, self.now - 1) {
            let heard = self.now - 1 + Time::from(self.kind(self.lanes[lane as usize].link).credit_delay);
            memory.pools[switch as usize].heard.push(Reverse((heard, lane, says)));
            if heard > self.now {
                self.schedule(Event::Memory(switch), heard);
            }
        }
        let mut free = Vec::new();
        while let Some((lane, is_paused)) = memory.hear(switch, self.now) {
            free.extend((!is_paused).then_some(lane));
        }
        self.memory = Some(memory);
        free.into_iter().for_each(|lane| self.look_again(lane));
    }

    /// Whether the sender of a lane is not told to pause, or something else leaves the memory, as far as is known.
    pub(super) fn leaves_memory(&self, memory: &Memory, lane: u32) -> bool {
        let pool = &memory.pools[self.switch_behind(lane) as usize];
        !memory.parts[lane as usize].says || pool.has_changed || !pool.leaving.is_empty()
    }

    /// Returns the lanes that share a memory with one.
    pub(super) fn beside<'a>(&self, memory: &'a Memory, lane: u32) -> &'a [u32] {
        &memory.pools[self.switch_behind(lane) as usize].lanes
    }

    /// Returns, per link, the most characters that the memory at its end has held, and the most that were in the headroom
    /// of one of its lanes; empty if ports share none.
    pub fn memories(&self) -> Vec<(u64, u64)> {
        let Some(memory) = &self.memory else { return Vec::new() };
        let of_link = |link: u32| {
            let Some(pool) = memory.pools.get(self.fabric.link_target[link as usize] as usize) else {
                return (0, 0);
            };
            let beyond = self.fabric.lanes_of(link).map(|lane| memory.parts[lane as usize].most_beyond);
            (pool.most as u64, beyond.max().unwrap_or(0) as u64)
        };
        (0..self.fabric.links() as u32).map(of_link).collect()
    }
}
