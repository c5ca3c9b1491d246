//! Switches that pause senders. A lane whose sender is paused, or whose link is stopped, has credit for one character: that
//! is enough for the rest of a packet, and the first one of a packet needs two. So it is known like credit when a
//! character can start. What is sent spends nothing, and no packet is started in advance.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::buffers::Credit;
use super::state::Network;
use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::links::pause::Level;

/// Credit that is needed for the first character of a packet.
const FOR_FIRST: u32 = 2;

/// The input buffer of a lane, and what its sender has heard last.
#[derive(Clone, Debug)]
struct Store {
    level: Level,
    /// By how much it changes, from this tick on as far as that is known.
    changes: BTreeMap<Time, i64>,
    is_paused: bool,
}

/// Those of all lanes.
#[derive(Clone, Debug)]
pub(super) struct Pauses {
    stores: Vec<Store>,
    /// When buffers change.
    looks: BinaryHeap<Reverse<(Time, u32)>>,
    /// What senders hear, and when: to pause, or to go on.
    heard: BinaryHeap<Reverse<(Time, u32, bool)>>,
}

impl Pauses {
    /// Returns the empty buffers of all lanes, if switches pause senders.
    pub fn new(fabric: &Fabric) -> Option<Box<Self>> {
        let store = |link: usize| Store {
            level: Level::new(fabric.link_pause_above[link], fabric.link_pause_until[link]),
            changes: BTreeMap::new(),
            is_paused: false,
        };
        let lanes = 0..fabric.all_lanes() as u32;
        fabric.has_pause().then(|| {
            let stores = lanes.map(|lane| store(fabric.link_of(lane) as usize)).collect();
            Box::new(Self { stores, looks: BinaryHeap::new(), heard: BinaryHeap::new() })
        })
    }

    /// Returns the next tick in which a buffer changes, or a sender hears something.
    pub fn next(&self) -> Option<Time> {
        let look = self.looks.peek().map(|Reverse(look)| look.0);
        look.into_iter().chain(self.heard.peek().map(|Reverse(heard)| heard.0)).min()
    }

    /// Whether the sender of a lane has heard that it is to pause.
    pub fn is_paused(&self, lane: u32) -> bool {
        self.stores[lane as usize].is_paused
    }

    fn change(&mut self, lane: u32, time: Time, by: i64) {
        *self.stores[lane as usize].changes.entry(time).or_default() += by;
        self.looks.push(Reverse((time, lane)));
    }
}

impl Network {
    /// Returns the characters for which the first one of a packet needs credit.
    pub(super) fn needed_for(&self, packet: u32) -> u32 {
        match self.pauses {
            _ if !self.whole => 1,
            None => self.characters(packet),
            Some(_) => FOR_FIRST,
        }
    }

    /// Notes when a packet is complete in the input buffer of a lane.
    pub(super) fn will_store(&mut self, lane: u32, time: Time, length: u32) {
        if let Some(pauses) = &mut self.pauses {
            pauses.change(lane, time, length.into());
        }
    }

    /// Notes when the end of a packet leaves it.
    pub(super) fn will_leave(&mut self, lane: u32, time: Time, length: u32) {
        if let Some(pauses) = &mut self.pauses {
            pauses.change(lane, time, -i64::from(length));
        }
    }

    /// Pauses senders that hear it in this tick, and lets others go on; returns the number of both.
    pub fn hear(&mut self) -> u64 {
        let mut count = 0;
        while let Some(pauses) = &mut self.pauses
            && let Some(&Reverse((time, lane, is_paused))) = pauses.heard.peek()
            && time == self.agenda.now
        {
            pauses.heard.pop();
            pauses.stores[lane as usize].is_paused = is_paused;
            self.open(lane);
            count += 1;
        }
        count
    }

    /// Gives a lane credit by what its sender has heard, and whether its link is stopped.
    pub(super) fn open(&mut self, lane: u32) {
        let Some(pauses) = &self.pauses else { return };
        let (at, now) = (&mut self.lanes[lane as usize], self.agenda.now);
        let link = &mut self.links[at.link as usize];
        let is_closed = pauses.stores[lane as usize].is_paused || link.stuck;
        at.credit = Credit::new(if is_closed { FOR_FIRST - 1 } else { u32::MAX });
        at.set_start(link, at.start_of(link));
        self.agenda.wake_wire(link, at.starts_at.max(link.free_at).max(now));
    }

    /// The same for all lanes of a link.
    pub(super) fn open_all(&mut self, link: u32) {
        self.fabric.lanes_of(link).for_each(|lane| self.open(lane));
    }

    /// Says to senders what buffers tell at the end of this tick.
    pub(super) fn look_at_stores(&mut self) {
        let Some(pauses) = &mut self.pauses else { return };
        while let Some(&Reverse((time, lane))) = pauses.looks.peek()
            && time <= self.agenda.now
        {
            pauses.looks.pop();
            let store = &mut pauses.stores[lane as usize];
            let link = &self.links[self.lanes[lane as usize].link as usize];
            let said = store.level.pauses;
            store.level.change(store.changes.remove(&time).unwrap_or(0));
            store.level.pauses &= !link.down;
            if store.level.pauses != said {
                pauses.heard.push(Reverse((self.agenda.now + link.credit, lane, store.level.pauses)));
            }
        }
    }

    /// Forgets what the ends of a link that fails have said and heard, and what does not arrive.
    pub(super) fn forget_pauses(&mut self, link: u32) {
        let Some(pauses) = &mut self.pauses else { return };
        let lanes = self.fabric.lanes_of(link);
        pauses.heard.retain(|Reverse((_, lane, _))| !lanes.contains(lane));
        for store in &mut pauses.stores[lanes.start as usize..lanes.end as usize] {
            store.changes.clear();
            (store.is_paused, store.level.pauses) = (false, false);
        }
    }

    /// Lets the senders of a link that runs again start, and its receivers say what they hold.
    pub(super) fn renew_pauses(&mut self, link: u32) {
        let (lanes, now) = (self.fabric.lanes_of(link), self.agenda.now);
        self.pauses.iter_mut().for_each(|pauses| lanes.clone().for_each(|lane| pauses.change(lane, now, 0)));
        self.open_all(link);
    }

    /// Returns the most that an input buffer of a link has held.
    pub(super) fn most_stored(&self, link: u32) -> u64 {
        let most =
            |lane: u32| self.pauses.as_ref().map_or(0, |pauses| pauses.stores[lane as usize].level.most);
        self.fabric.lanes_of(link).map(most).max().unwrap_or(0) as u64
    }

    /// Whether the sender of a lane is paused, and goes on after all that is known to leave.
    pub(super) fn will_go_on(&self, lane: u32) -> bool {
        let Some(pauses) = &self.pauses else { return false };
        let store = &pauses.stores[lane as usize];
        let mut level = store.level;
        store.changes.values().for_each(|&by| level.change(by));
        !level.pauses
    }
}
