//! Congestion control: what waits for an output is counted when a packet is granted it, and the index of a port is
//! computed from all times at which it has risen.

use fabriloom_engine::fabric::{Fabric, NONE};
use fabriloom_engine::kernel::Time;

use crate::parts::{Front, Kind, Worm};
use crate::twin::Twin;

/// What switches and ports remember of it.
#[derive(Clone, Debug, Default)]
pub struct Congestion {
    /// Per link: the packets that it could have marked, and those that it has.
    links: Vec<(u64, u64)>,
    ports: Vec<Port>,
}

/// A port that sends.
#[derive(Clone, Debug, Default)]
struct Port {
    /// When its index rises.
    rises: Vec<Time>,
    /// The ticks of the packet that its link has sent last, and when its end has left; until it has rested.
    sent: Option<(Time, Time)>,
}

impl Congestion {
    /// Returns the state at the beginning; nothing without congestion control.
    pub fn new(fabric: &Fabric) -> Self {
        if fabric.cct_eighths.is_empty() {
            return Self::default();
        }
        Self { links: vec![(0, 0); fabric.links()], ports: vec![Port::default(); fabric.ports() as usize] }
    }
}

impl Twin<'_> {
    /// Marks a packet that is granted a lane of a group, if it has to.
    pub(crate) fn mark(&mut self, group: u32, packet: usize, output: u32) {
        if self.congestion.links.is_empty() {
            return;
        }
        let link = self.fabric.link_of(output);
        let own = self.characters(packet);
        let has_credit = if self.enters_terminal(link) {
            true
        } else if self.fabric.has_pause() {
            !self.lanes[output as usize].paused
        } else {
            self.occupied(output) + own <= self.first_credit(link)
        };
        let is_long = self.queued(group) - own > u64::from(self.fabric.mark_above_chars);
        if is_long && (has_credit || self.fabric.mark_victims == 1) {
            let (eligible, marked) = &mut self.congestion.links[link as usize];
            if eligible.is_multiple_of(u64::from(self.fabric.mark_rate) + 1) {
                *marked += 1;
                self.worms[packet].marked = true;
            }
            *eligible += 1;
        }
    }

    /// Characters of all packets that have joined the queues for a group and have no output.
    fn queued(&self, group: u32) -> u64 {
        let switch = self.fabric.group_switch[group as usize];
        let mut characters = 0;
        for (number, lane) in self.lanes.iter().enumerate() {
            if self.fabric.link_target[self.fabric.link_of(number as u32) as usize] != switch {
                continue;
            }
            let Some(queue) = lane.queues.get(&group) else { continue };
            let goes = usize::from(matches!(queue.front, Front::Crossing { .. } | Front::Spilling));
            let waiting = queue.packets.iter().skip(goes).filter(|(packet, here)| {
                let (header, _) = self.front_header(*packet);
                !here.iter().take(header as usize).any(|character| character.kind == Kind::End)
            });
            characters += waiting.map(|&(packet, _)| self.characters(packet)).sum::<u64>();
        }
        characters
    }

    /// Plans the rise of the index of a port whose packet has been delivered.
    pub(crate) fn notify(&mut self, packet: usize) {
        if self.worms[packet].marked {
            let port = &mut self.congestion.ports[self.worms[packet].source as usize];
            port.rises.push(self.now + self.fabric.becn_ticks as Time);
        }
    }

    /// Notes that a terminal has sent a packet at a tick.
    pub(crate) fn sends(&mut self, packet: usize, until: Time) {
        let Worm { source, packet, .. } = self.worms[packet];
        let via = if packet.via == NONE { 0 } else { self.fabric.via_header_chars };
        let characters = via + self.fabric.header_chars + self.fabric.payload_chars(packet.length) + 1;
        let character = self.character_ticks(self.fabric.terminal_out_link[source as usize]);
        if let Some(port) = self.congestion.ports.get_mut(source as usize) {
            port.sent = Some((Time::from(characters) * character, until));
        }
    }

    /// Returns until when a port rests after the packet that its link has sent, if it has not.
    pub(crate) fn rests_until(&mut self, port: u32) -> Option<Time> {
        let now = self.now;
        let (ticks, _) = self.congestion.ports.get_mut(port as usize)?.sent.take_if(|sent| sent.1 == now)?;
        let eighths = Time::from(self.fabric.cct_eighths[self.index(port, self.now).0 as usize]);
        let rest = ticks * eighths / 8;
        (rest > 0).then_some(self.now + rest)
    }

    /// Returns the index of a port at a tick, and the highest one up to then.
    fn index(&self, port: u32, now: Time) -> (u32, u32) {
        let most = self.fabric.cct_eighths.len() as i64 - 1;
        let timer = self.fabric.ccti_timer_ticks as Time;
        let (mut index, mut highest, mut last) = (0, 0, 0);
        for &rise in self.congestion.ports[port as usize].rises.iter().filter(|&&rise| rise <= now) {
            index = (index - (rise / timer - last / timer)).max(0);
            index = (index + i64::from(self.fabric.ccti_increase)).min(most);
            highest = highest.max(index);
            last = rise;
        }
        ((index - (now / timer - last / timer)).max(0) as u32, highest as u32)
    }

    /// Returns the packets that each link has marked, and per port those delivered and its highest index.
    pub(crate) fn throttled(&self) -> (Vec<u64>, Vec<(u64, u32)>) {
        let ports = 0..self.congestion.ports.len() as u32;
        let of_port = |port: u32| {
            let rises = self.congestion.ports[port as usize].rises.len() as u64;
            (rises, self.index(port, Time::MAX / 4).1)
        };
        (self.congestion.links.iter().map(|link| link.1).collect(), ports.map(of_port).collect())
    }
}
