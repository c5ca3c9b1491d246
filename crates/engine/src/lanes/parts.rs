//! The parts of a network with lanes: lanes, queues of input buffers, groups.

use std::collections::VecDeque;

use super::buffers::{Credit, Places};
use super::link::{Link, Port};
use super::state::UNKNOWN;
use super::times::{Run, Times};
use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;

/// A packet before a wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outgoing {
    pub packet: u32,
    /// Its characters on this link.
    pub length: u32,
    /// How many of them have started.
    pub sent: u32,
    /// When the first of them did.
    pub begin: Time,
    /// For how many characters the next one needs credit.
    pub needed: u32,
    /// When all others can follow the first one, without another packet between, if they have to.
    pub follows_at: Time,
    /// Whether its header has been read at the end of the link, or it leads to a terminal and the first one has started.
    pub is_read: bool,
}

impl Outgoing {
    /// Returns a packet of which no character has started. `length`: its characters; `needed`: those for which it needs
    /// credit to start.
    pub fn new(packet: u32, length: u32, needed: u32) -> Self {
        Self { packet, length, sent: 0, begin: 0, needed, follows_at: 0, is_read: false }
    }
}

/// One lane of a link.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    /// Its link.
    pub link: u32,
    /// Its bit among the lanes of that.
    pub bit: u32,
    /// The queue whose packet holds it, or [`NONE`].
    pub holder: u32,
    /// When its next character is there and has credit, or [`UNKNOWN`].
    pub starts_at: Time,
    /// Packets with characters to send.
    pub outgoing: VecDeque<Outgoing>,
    /// When the characters in the output buffer are ready for the wire; at a terminal 0 as long as it has a packet.
    pub ready: Times,
    /// The places of the output buffer; unused at terminals.
    pub places: Places,
    /// Credit for characters; endless on links into terminals, and where nothing keeps a sender that may be paused.
    pub credit: Credit,
    /// Tick of its last grant, or -1.
    pub last_grant: Time,

    /// The first of its queues.
    pub first_queue: u32,
    /// The queue of the packet that is being sent.
    pub receiving: u32,
    /// Credit given for characters that have not left the input buffer.
    pub owed: u32,
    /// Packets whose first character is on its way to a terminal, with its time of arrival; only if that is reported.
    pub heads: VecDeque<(Time, u32)>,
    /// Packets whose end is on its way to a terminal, with its time of arrival.
    pub ends: VecDeque<(Time, u32)>,
}

impl Lane {
    /// Notes that the header of the packet that is sent has been read, so what follows are characters of its middle.
    pub fn reads(&mut self) {
        self.outgoing.front_mut().expect("the packet that is sent").is_read = true;
    }

    /// Returns when its next character is there and has credit, if both are known: the terms *supply* and *credit* of the
    /// page.
    #[inline(always)]
    pub fn start_of(&self, link: &Link) -> Time {
        let supply = self.ready.first();
        if supply == UNKNOWN {
            return supply;
        }
        let follows =
            if link.whole { self.outgoing.front().map_or(0, |packet| packet.follows_at) } else { 0 };
        supply.max(follows).max(self.credit.at(self.needed(link), link.quantum))
    }

    /// Returns the characters for which its next character needs credit.
    #[inline(always)]
    pub fn needed(&self, link: &Link) -> u32 {
        if !link.whole {
            return 1;
        }
        self.outgoing.front().map_or(link.needed, |packet| packet.needed)
    }

    /// Records when its next character can start.
    #[inline(always)]
    pub fn set_start(&mut self, link: &mut Link, time: Time) {
        self.starts_at = time;
        link.known = if time < UNKNOWN { link.known | self.bit } else { link.known & !self.bit };
    }

    /// The same for a lane of which one has started, so it is among those that are known.
    #[inline(always)]
    pub fn set_next(&mut self, link: &mut Link, time: Time) {
        self.starts_at = time;
        if time == UNKNOWN {
            link.known &= !self.bit;
        }
    }

    /// Returns when a quantum of credit is complete, if characters leave its input buffer in this run.
    #[inline(always)]
    pub fn complete(&self, link: &Link, leaving: Run) -> Time {
        leaving.at(self.owed + link.quantum - link.input_buffer - 1)
    }

    /// Whether it is inside a packet.
    pub fn is_amid(&self) -> bool {
        self.outgoing.front().is_some_and(|packet| packet.sent > 0)
    }
}

/// Returns which of the known lanes of a link are ready now, as bits, and when the next other one of these is. `first`: the
/// first of its lanes.
#[inline(always)]
pub(super) fn ready(lanes: &[Lane], first: u32, known: u32, now: Time) -> (u32, Time) {
    let (mut known, mut ready, mut next) = (known, 0, UNKNOWN);
    while known != 0 {
        let bit = known.trailing_zeros();
        let time = lanes[(first + bit) as usize].starts_at;
        if time <= now {
            ready |= 1 << bit;
        } else {
            next = next.min(time);
        }
        known &= known - 1;
    }
    (ready, next)
}

/// A packet in an input buffer, or on its way there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Incoming {
    pub packet: u32,
    /// Its characters on this link.
    pub length: u32,
    /// Characters that have not crossed. The first of the queue's `arrivals` are those of its first packet.
    pub left: u32,
    /// When its front header has arrived.
    pub readable: Time,
}

/// Packets of an input buffer that wait for each other in order.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub packets: VecDeque<Incoming>,
    /// When the characters of these that have been sent and have not crossed arrive.
    pub arrivals: Times,
    /// When the next character is there and has a place, or [`UNKNOWN`] if one of them is, or no lane.
    pub crosses_at: Time,
    /// The lane on which they arrive, and its link.
    pub lane: u32,
    pub link: u32,
    /// The lane it was granted, or [`NONE`].
    pub output: u32,
    /// Number of characters that are deleted next.
    pub delete: u32,
    /// Since when the first one is at the front.
    pub front_at: Time,
    /// Whether its request has been made or is pending.
    pub asked: bool,
    /// Whether the rest of the first one is spilled.
    pub spills: bool,
    /// Whether the route deletes its front header.
    pub strips: bool,
    /// When the pending request is made.
    pub asks_at: Time,
    /// When its last character crossed, or it was granted its lane, if switches have time-outs.
    pub moved_at: Time,
    /// Whether a check of its time-out is planned.
    pub watched: bool,
    /// When it requested.
    pub since: Time,
    /// The group it waits for, or [`NONE`].
    pub awaits: u32,
    /// Further lanes to which it crosses.
    pub copies: Vec<u32>,
}

impl Queue {
    /// Whether its next character goes to one lane and is not deleted.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.delete == 0 && self.copies.is_empty()
    }

    /// Returns when its packet is ended, if nothing crosses before.
    #[inline(always)]
    pub fn ends_at(&self, port: &Port) -> Time {
        self.moved_at.saturating_add(port.timeout)
    }

    /// Returns when its next character is there and has a place, if both are known: the terms *arrival* and *place* of the
    /// page.
    #[inline(always)]
    pub fn cross_of(&self, lanes: &[Lane]) -> Time {
        let arrival = self.arrivals.first();
        if self.delete > 0 || arrival == UNKNOWN {
            return arrival;
        }
        let place = |lane: u32| lanes[lane as usize].places.next();
        let time = arrival.max(place(self.output));
        if self.copies.is_empty() {
            return time;
        }
        self.copies.iter().fold(time, |time, &lane| time.max(place(lane)))
    }

    /// Returns the packet at its front, which exists if the queue has asked, holds a lane or is spilled.
    #[inline(always)]
    pub fn front(&self) -> &Incoming {
        self.packets.front().expect("a packet at the front")
    }

    /// The same to be changed.
    #[inline(always)]
    pub fn front_mut(&mut self) -> &mut Incoming {
        self.packets.front_mut().expect("a packet at the front")
    }

    /// Returns how many characters of the last packet have been sent and have not crossed.
    pub fn sent_of_last(&self) -> u32 {
        let left: u32 = self.packets.iter().map(|packet| packet.left).sum();
        let last = self.packets.back().map_or(0, |packet| packet.left);
        self.arrivals.len() - (left - last)
    }

    /// Returns the last packet, which is the one that is being sent.
    #[inline(always)]
    pub fn last_mut(&mut self) -> &mut Incoming {
        self.packets.back_mut().expect("the packet that is sent")
    }

    fn new(lane: u32, link: u32) -> Self {
        Self {
            packets: VecDeque::new(),
            arrivals: Times::new(),
            crosses_at: UNKNOWN,
            lane,
            link,
            output: NONE,
            delete: 0,
            front_at: 0,
            asked: false,
            spills: false,
            strips: false,
            asks_at: UNKNOWN,
            moved_at: 0,
            watched: false,
            since: 0,
            awaits: NONE,
            copies: Vec::new(),
        }
    }
}

/// Lanes of which a head takes any, and the queues whose heads wait for one, by (tick of the request, lane).
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Its lanes in order of preference: links, and which of the lanes of each, as bits.
    pub lanes: Vec<(u32, u32)>,
    pub waiting: Vec<(Time, u32)>,
    pub touched: bool,
    /// The queue of the head that was granted last, or [`NONE`].
    pub served: u32,
    /// Its index among the groups of its switch.
    pub place: u32,
}

/// Returns a list of lanes as bits of links, in the same order.
fn bits_of_links(fabric: &Fabric, lanes: &[u32]) -> Vec<(u32, u32)> {
    let mut links: Vec<(u32, u32)> = Vec::new();
    for &lane in lanes {
        let link = fabric.link_of(lane);
        let bit = 1 << (lane - link * fabric.lanes);
        match links.last_mut() {
            Some(last) if last.0 == link && last.1 < bit => last.1 |= bit,
            _ => links.push((link, bit)),
        }
    }
    links
}

/// Returns all groups, and the number of groups per switch.
pub(super) fn groups(fabric: &Fabric) -> (Vec<Group>, Vec<u32>) {
    let mut most = vec![0; fabric.switches as usize];
    let groups = (0..).zip(&fabric.group_switch).map(|(group, &switch)| {
        let place = most[switch as usize];
        most[switch as usize] += 1;
        Group {
            lanes: bits_of_links(fabric, fabric.group(group)),
            waiting: Vec::new(),
            touched: false,
            served: NONE,
            place,
        }
    });
    (groups.collect(), most)
}

/// Returns all lanes and their queues: one per lane, or one per group of the switch and, if tables are replaced, one for
/// packets that these have no route for.
pub(super) fn lanes(fabric: &Fabric, groups: &[u32]) -> (Vec<Lane>, Vec<Queue>) {
    let mut queues = Vec::new();
    let is_endless = |link: u32| fabric.has_pause() || fabric.is_terminal(fabric.link_target[link as usize]);
    let lanes = (0..fabric.all_lanes() as u32).map(|lane| {
        let link = fabric.link_of(lane);
        let quantum = fabric.link_quantum[link as usize];
        let promised = fabric.link_input_buffer[link as usize] / quantum * quantum;
        let first_queue = queues.len() as u32;
        let of_switch = groups.get(fabric.link_target[link as usize] as usize).copied();
        let without_route = u32::from(fabric.has_tables());
        let by_output = fabric.output_queues == 1;
        let count = if by_output { of_switch.map_or(0, |count| count + without_route) } else { 1 };
        queues.extend((0..count).map(|_| Queue::new(lane, link)));
        Lane {
            link,
            bit: 1 << (lane - link * fabric.lanes),
            holder: NONE,
            starts_at: UNKNOWN,
            outgoing: VecDeque::new(),
            ready: Times::new(),
            places: Places::new(fabric.link_output_buffer[link as usize]),
            credit: Credit::new(if is_endless(link) { u32::MAX } else { promised }),
            last_grant: -1,
            first_queue,
            receiving: NONE,
            owed: promised,
            heads: VecDeque::new(),
            ends: VecDeque::new(),
        }
    });
    (lanes.collect(), queues)
}
