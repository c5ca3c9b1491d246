//! Packets that go to several links at once: heads that wait for all of them, lanes reserved for them, and the copies.

use super::state::Network;
use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;

/// The state of packet distribution in a network.
#[derive(Clone, Debug)]
pub(super) struct Distributions {
    /// Per switch: the heads that wait to be distributed, by (tick of the request, queue).
    waiting: Vec<Vec<(Time, u32)>>,
    /// Switches whose first such head may be granted its lanes in this tick.
    touched: Vec<u32>,
    /// Copies of packets under way that are not made yet.
    pub unmade: u64,
}

impl Distributions {
    pub fn new(fabric: &Fabric) -> Option<Box<Self>> {
        let waiting = vec![Vec::new(); fabric.switches as usize];
        fabric.has_distributions().then(|| Box::new(Self { waiting, touched: Vec::new(), unmade: 0 }))
    }
}

impl Network {
    /// Queues a head that waits for all its lanes.
    pub(super) fn wait_for_all(&mut self, switch: u32, queue: u32) {
        let Some(at) = &mut self.distributions else { return };
        let waiting = &mut at.waiting[switch as usize];
        let place = waiting.partition_point(|&other| other < (self.agenda.now, queue));
        waiting.insert(place, (self.agenda.now, queue));
        at.touched.push(switch);
    }

    /// Marks the switch of a group when a lane of it becomes free.
    pub(super) fn touch_all(&mut self, group: u32) {
        let switch = self.fabric.group_switch[group as usize];
        if let Some(at) = &mut self.distributions
            && !at.waiting[switch as usize].is_empty()
        {
            at.touched.push(switch);
        }
    }

    /// Returns the first head that waits to be distributed at a switch.
    pub(super) fn first_to_all(&self, switch: u32) -> Option<(Time, u32)> {
        self.distributions.as_ref()?.waiting[switch as usize].first().copied()
    }

    /// Returns the head for which a lane is reserved against a head that requested at a given tick and queue.
    #[inline]
    pub(super) fn kept_for(&self, lane: u32, head: (Time, u32)) -> Option<u32> {
        self.distributions.as_ref()?;
        let first = self.first_to_all(self.fabric.link_source[self.fabric.link_of(lane) as usize])?;
        let keeps = first < head && self.fabric.group(self.queues[first.1 as usize].awaits).contains(&lane);
        keeps.then_some(first.1)
    }

    /// Grants all their lanes to heads that find them free, switch by switch.
    pub(super) fn distribute(&mut self) {
        while let Some(switch) = self.distributions.as_mut().and_then(|at| at.touched.pop()) {
            while let Some((_, queue)) = self.first_to_all(switch) {
                let group = self.queues[queue as usize].awaits;
                let mut lanes = self.fabric.group(group).iter();
                if lanes.any(|&lane| self.lanes[lane as usize].holder != NONE) {
                    break;
                }
                self.grant_all(switch, queue, group);
            }
        }
    }

    /// Makes one packet per lane of a group, each of which holds its lane.
    fn grant_all(&mut self, switch: u32, queue: u32, group: u32) {
        let lanes = self.fabric.group(group).to_vec();
        if let Some(at) = &mut self.distributions {
            at.waiting[switch as usize].remove(0);
            at.unmade = at.unmade.saturating_sub(lanes.len() as u64 - 1);
        }
        self.queues[queue as usize].copies = lanes[1..].to_vec();
        self.grant(queue, lanes[0]);
        let at = &self.queues[queue as usize];
        let (first, since) = (at.front().packet, at.since);
        let length = at.front().left - at.delete;
        for &lane in &lanes[1..] {
            let packet = self.packets.add(self.packets[first]);
            self.hold(lane, queue, since, packet, length);
        }
    }
}
