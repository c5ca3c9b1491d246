//! Congestion control: switches mark packets, and the ports that sent these rest between packets.
//!
//! No events but the end of a rest: the index of a port is looked up when its link has sent a packet.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::measure::Throttled;

/// The packets that wait in the queues for a group.
#[derive(Clone, Debug, Default)]
struct Waiting {
    /// Characters of those whose headers have arrived.
    characters: i64,
    /// By how much that changes, and when: as headers arrive, and for packets that are cut or discarded.
    coming: BinaryHeap<Reverse<(Time, i64)>>,
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
pub struct Congestion {
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

    /// Adds characters to those that wait in the queues for a group, from a tick on.
    pub fn joins(&mut self, group: u32, time: Time, characters: u32) {
        self.waiting[group as usize].coming.push(Reverse((time, characters.into())));
    }

    /// Takes them away again, from the same tick on, or from a later one.
    pub fn gives_up(&mut self, group: u32, time: Time, characters: u32) {
        self.waiting[group as usize].coming.push(Reverse((time, -i64::from(characters))));
    }

    /// Takes a packet that is granted a lane of a link out of the queues for its group; returns whether it is marked.
    pub fn grants(
        &mut self,
        f: &Fabric,
        (group, link): (u32, u32),
        now: Time,
        own: u32,
        is_root: bool,
    ) -> bool {
        let at = &mut self.waiting[group as usize];
        while let Some(&Reverse((time, more))) = at.coming.peek()
            && time <= now
        {
            at.characters += more;
            at.coming.pop();
        }
        at.characters -= i64::from(own);
        is_root && at.characters > f.mark_above_chars.into() && self.takes(link, f.mark_rate)
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

    /// Tells a port in this tick that a packet of it was received with a mark.
    pub fn notify(&mut self, fabric: &Fabric, port: u32, now: Time) {
        let at = &mut self.ports[port as usize];
        at.counts.notified += 1;
        at.rises.push_back(now + fabric.becn_ticks as Time);
    }

    /// Notes until when a port sends a packet, and for how many ticks; for 0 if it is cut.
    pub fn sends(&mut self, port: u32, until: Time, ticks: Time) {
        let at = &mut self.ports[port as usize];
        (at.sends, at.sent_at) = (ticks, until);
    }

    /// Lets a port whose link has sent a packet rest; returns until when, if it has to.
    pub fn rests_until(&mut self, fabric: &Fabric, port: u32, now: Time) -> Option<Time> {
        let at = &mut self.ports[port as usize];
        if at.sends == 0 || at.sent_at != now {
            return None;
        }
        let sent = std::mem::take(&mut at.sends);
        at.look(fabric, now);
        let rest = sent * Time::from(fabric.cct_eighths[at.index as usize]) / 8;
        at.counts.rest_ticks += rest as u64;
        (rest > 0).then_some(now + rest)
    }

    /// Returns, per port, what has been done to it up to a tick.
    pub fn throttled(&self, fabric: &Fabric, now: Time) -> Vec<Throttled> {
        let look = |mut port: Port| {
            port.look(fabric, now);
            port.counts
        };
        self.ports.iter().cloned().map(look).collect()
    }

    /// Returns the packets that each link has marked.
    pub fn marked(&self) -> &[u64] {
        &self.marked
    }

    /// Resets these counts at a tick.
    pub fn clear(&mut self, fabric: &Fabric, start: Time) {
        self.marked.fill(0);
        for port in &mut self.ports {
            port.look(fabric, start - 1);
            port.counts = Throttled { highest: port.index, ..Throttled::default() };
        }
    }
}
