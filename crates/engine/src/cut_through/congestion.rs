//! Congestion control: switches mark packets, and the ports that sent these rest between packets.
//!
//! No events but the end of a rest: the index of a port is looked up when its link has sent a packet.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::parts::Stay;
use super::state::{Network, Packet};
use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::measure::Throttled;

/// The packets that wait in the queues for a group.
#[derive(Clone, Debug, Default)]
struct Waiting {
    /// Characters of those whose headers have arrived.
    characters: u64,
    /// When the headers of others will, and their characters.
    coming: BinaryHeap<Reverse<(Time, u32)>>,
}

/// A port that sends.
#[derive(Clone, Debug, Default)]
struct Port {
    /// Its index in the table, at a tick.
    index: u32,
    at: Time,
    /// When it rises.
    rises: VecDeque<Time>,
    /// Ticks of the packet that its link has sent last, and when it had; it may be asked at other times, too.
    sends: Time,
    sent_at: Time,
    counts: Throttled,
}

impl Port {
    /// Moves on to a tick.
    fn look(&mut self, fabric: &Fabric, now: Time) {
        let most = fabric.cct_eighths.len() as u32 - 1;
        while let Some(rise) = self.rises.pop_front_if(|rise| *rise <= now) {
            self.fall(fabric, rise);
            self.index = self.index.saturating_add(fabric.ccti_increase).min(most);
            self.counts.highest = self.counts.highest.max(self.index);
        }
        self.fall(fabric, now);
    }

    /// Lowers the index as often as the timer has run out.
    fn fall(&mut self, fabric: &Fabric, now: Time) {
        let timer = fabric.ccti_timer_ticks as Time;
        let times = now / timer - self.at / timer;
        self.index = (Time::from(self.index) - times).max(0) as u32;
        self.at = now;
    }
}

/// The state of all switches and ports.
#[derive(Clone, Debug)]
pub(super) struct Congestion {
    /// Per group.
    waiting: Vec<Waiting>,
    /// Per link: packets marked, and those that are not, before the next one that is.
    marked: Vec<u64>,
    skips: Vec<u32>,
    ports: Vec<Port>,
}

impl Congestion {
    /// Returns the state at the beginning, if there is congestion control.
    pub fn new(fabric: &Fabric) -> Option<Box<Self>> {
        (!fabric.cct_eighths.is_empty()).then(|| {
            Box::new(Self {
                waiting: vec![Waiting::default(); fabric.groups()],
                marked: vec![0; fabric.links()],
                skips: vec![0; fabric.links()],
                ports: vec![Port::default(); fabric.ports() as usize],
            })
        })
    }

    /// Puts a packet into the queues for a group from a tick on.
    pub fn joins(&mut self, group: u32, time: Time, characters: u32) {
        self.waiting[group as usize].coming.push(Reverse((time, characters)));
    }

    /// Takes a packet out of the queues for a group; returns the characters of the others.
    fn leaves(&mut self, group: u32, now: Time, characters: u32) -> u64 {
        let at = &mut self.waiting[group as usize];
        while let Some(&Reverse((time, more))) = at.coming.peek()
            && time <= now
        {
            at.characters += u64::from(more);
            at.coming.pop();
        }
        at.characters -= u64::from(characters);
        at.characters
    }

    /// Returns whether a packet is marked that can be.
    fn takes(&mut self, link: u32, rate: u32) -> bool {
        let skips = &mut self.skips[link as usize];
        if *skips > 0 {
            *skips -= 1;
            return false;
        }
        *skips = rate;
        self.marked[link as usize] += 1;
        true
    }

    /// Notes that a port sends a packet that occupies its link from a tick on for some ticks.
    pub fn sends(&mut self, port: u32, from: Time, ticks: Time) {
        let at = &mut self.ports[port as usize];
        (at.sends, at.sent_at) = (ticks, from + ticks);
    }
}

impl Network {
    /// Marks a packet that is granted a lane, if its queue is long and the output is where it began.
    #[inline(never)]
    pub(super) fn mark(&mut self, stay: u32, output: u32) {
        let Stay { packet, length, entry, .. } = self.stays[stay];
        let has_credit = self.fabric.mark_victims == 1 || self.may_send(output, length);
        let Some(congestion) = &mut self.congestion else { return };
        let queue = congestion.leaves(entry >> 1, self.now, length);
        let is_root = queue > u64::from(self.fabric.mark_above_chars) && has_credit;
        if is_root && congestion.takes(self.lanes[output as usize].link, self.fabric.mark_rate) {
            self.packets[packet].marked = true;
        }
    }

    /// Tells the sender of a packet that has been received that it was marked.
    pub(super) fn notify(&mut self, packet: &Packet) {
        let Some(congestion) = self.congestion.as_mut().filter(|_| packet.marked) else { return };
        let port = &mut congestion.ports[packet.delivery.source as usize];
        port.counts.notified += 1;
        port.rises.push_back(self.now + self.fabric.becn_ticks as Time);
    }

    /// Lets a port whose link has sent a packet rest; returns until when, if it has to.
    pub fn rests_until(&mut self, port: u32) -> Option<Time> {
        let at = &mut self.congestion.as_mut()?.ports[port as usize];
        if at.sends == 0 || at.sent_at != self.now {
            return None;
        }
        let sent = std::mem::take(&mut at.sends);
        at.look(&self.fabric, self.now);
        let rest = sent * Time::from(self.fabric.cct_eighths[at.index as usize]) / 8;
        at.counts.rest_ticks += rest as u64;
        (rest > 0).then_some(self.now + rest)
    }

    /// Returns, per port, what congestion control has done to it up to a tick; empty if there is none.
    pub fn throttled(&self, now: Time) -> Vec<Throttled> {
        let ports = self.congestion.iter().flat_map(|congestion| congestion.ports.iter().cloned());
        let look = |mut port: Port| {
            port.look(&self.fabric, now);
            port.counts
        };
        ports.map(look).collect()
    }

    /// Returns the packets that each link has marked; empty if there is no congestion control.
    pub fn marked(&self) -> &[u64] {
        self.congestion.as_ref().map_or(&[], |congestion| &congestion.marked)
    }

    /// Resets these counts at a tick.
    pub(super) fn clear_congestion(&mut self, start: Time) {
        let Some(congestion) = &mut self.congestion else { return };
        congestion.marked.fill(0);
        for port in &mut congestion.ports {
            port.look(&self.fabric, start - 1);
            port.counts = Throttled { highest: port.index, ..Throttled::default() };
        }
    }
}
