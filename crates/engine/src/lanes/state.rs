//! The state of a network with lanes: lanes, links, queues of input buffers, groups.

use std::collections::VecDeque;

use super::code::Codes;
use super::distribute::Distributions;
use super::event::Event;
use super::fault::Faults;
use super::packet::{Header, Packet};
use crate::fabric::{Fabric, NONE, arbiter, choice, sharing};
use crate::kernel::Time;
use crate::kernel::random::{Family, Stream, streams};
use crate::kernel::slab::Slab;
use crate::kernel::wheel::Wheel;
use crate::measure::{CodeCounts, Hop, Hops, LinkCounts, hop_kind};

/// A time that is not known yet.
pub(super) const UNKNOWN: Time = Time::MAX;

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
}

/// One lane of a link.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    /// Packets with characters to send.
    pub outgoing: VecDeque<Outgoing>,
    /// When the characters in the output buffer are ready for the wire; unused at terminals.
    pub ready: VecDeque<Time>,
    /// When the places of sent characters are free again.
    pub places: VecDeque<Time>,
    /// Characters that may be sent, without `returns`.
    pub credit: u32,
    /// When returning credits arrive.
    pub returns: VecDeque<Time>,
    /// The queue whose packet holds it, or [`NONE`].
    pub holder: u32,
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
    /// Whether it is inside a packet.
    pub fn is_amid(&self) -> bool {
        self.outgoing.front().is_some_and(|packet| packet.sent > 0)
    }
}

/// A packet in an input buffer, or on its way there.
#[derive(Clone, Debug)]
pub(super) struct Incoming {
    pub packet: u32,
    /// Characters that have not crossed.
    pub left: u32,
    /// When those of them that have been sent arrive.
    pub arrivals: VecDeque<Time>,
    /// When its front header has arrived.
    pub readable: Time,
}

/// Packets of an input buffer that wait for each other in order.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub packets: VecDeque<Incoming>,
    /// The lane on which they arrive.
    pub lane: u32,
    /// Since when the first one is at the front.
    pub front_at: Time,
    /// Whether its request has been made or is pending.
    pub asked: bool,
    /// When the pending request is made.
    pub asks_at: Time,
    /// Whether the rest of the first one is spilled.
    pub spills: bool,
    /// When its last character crossed, or it was granted its lane, if switches have time-outs.
    pub moved_at: Time,
    /// When the time-out is checked.
    pub watched_at: Time,
    /// When it requested.
    pub since: Time,
    /// The group it waits for, or [`NONE`].
    pub awaits: u32,
    /// Whether the route deletes its front header.
    pub strips: bool,
    /// The lane it was granted, or [`NONE`].
    pub output: u32,
    /// Further lanes to which it crosses.
    pub copies: Vec<u32>,
    /// Number of characters that are deleted next.
    pub delete: u32,
}

/// What the lanes of a link share: its wire.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// When the wire is free.
    pub free_at: Time,
    /// Whether a fault keeps it from running.
    pub down: bool,
    /// Whether its receiver is stuck.
    pub stuck: bool,
    /// Tick of the next check.
    pub due: Time,
    /// Lane of the last character, or [`NONE`].
    pub last: u32,
    /// Number of lanes that are inside a packet.
    pub amid: u32,
    /// A packet of a terminal that has not started, or [`NONE`].
    pub dispatched: u32,
    pub from_terminal: bool,
    pub to_terminal: bool,
    pub counts: LinkCounts,
}

/// What the lanes of a link share at its ends: the input of the crossbar after it, and the output of the one before it.
#[derive(Clone, Debug)]
pub(super) struct Port {
    /// When a character may cross.
    pub free_at: Time,
    /// Tick of the next check.
    pub due: Time,
    /// Queue of the last character, or [`NONE`].
    pub last: u32,
    /// Whether that was not an end of packet.
    pub amid: bool,
    /// Queues whose packet has a granted lane, in ascending order.
    pub crossing: Vec<u32>,
    /// Queues whose packet is spilled.
    pub spilling: Vec<u32>,
    /// The lane of the last character that crossed to this link, or [`NONE`].
    pub entered: u32,
    /// When that character crossed.
    pub entered_at: Time,
    /// Whether it was not an end of packet.
    pub enters_amid: bool,
}

/// Lanes of which a head takes any, and the queues whose heads wait for one, by (tick of the request, lane).
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub waiting: Vec<(Time, u32)>,
    pub touched: bool,
    /// The lane of the head that was granted last, or [`NONE`].
    pub served: u32,
    /// Its index among the groups of its switch.
    pub place: u32,
}

/// A network with lanes in operation.
#[derive(Clone, Debug)]
pub struct Network {
    pub(super) fabric: Fabric,
    pub(super) now: Time,
    pub(super) packets: Slab<Packet>,
    pub(super) lanes: Vec<Lane>,
    pub(super) links: Vec<Link>,
    pub(super) ports: Vec<Port>,
    pub(super) queues: Vec<Queue>,
    pub(super) groups: Vec<Group>,
    /// Per lane: the groups that contain it.
    pub(super) groups_of: Vec<Vec<u32>>,
    pub(super) streams: Vec<Stream>,
    /// Groups to arbitrate in this tick.
    pub(super) touched: Vec<u32>,
    /// Links at whose ends characters may cross in this tick.
    pub(super) crossing: Vec<u32>,
    /// Lanes to which characters are nominated, and the queues of these.
    pub(super) nominated: Vec<(u32, u32)>,
    /// Links on whose wires a character may start in this tick.
    pub(super) starting: Vec<u32>,
    /// Candidates among the queues, during a choice.
    pub(super) able: Vec<u32>,
    /// Empty lists of arrivals for reuse.
    pub(super) spare: Vec<VecDeque<Time>>,
    /// Whether a link sends a packet to its end before another one.
    pub(super) by_packet: bool,
    /// Whether the lowest lane that is ready sends, instead of each in turn.
    pub(super) fixed: bool,
    /// A switch and a class for which it has no route, if a packet needed it.
    pub(super) no_route: Option<(u32, u32)>,
    /// Whether the arrival of a packet's first character at its terminal is reported.
    pub(super) tells_heads: bool,
    pub(super) faults: Faults,
    /// Time-codes and interrupts, if there are any.
    pub(super) codes: Option<Box<Codes>>,
    /// Heads that wait for several lanes at once, if packets are distributed.
    pub(super) distributions: Option<Box<Distributions>>,
    /// Queues to check in this tick.
    pub(super) watched: Vec<u32>,
    /// Since when links count.
    pub(super) counted_from: Time,
    /// Paths of packets, if requested.
    pub hops: Hops,
    /// Number of grants so far.
    pub grants: u64,
    /// Number of characters started so far.
    pub characters: u64,
    pub(super) wheel: Wheel,
}

impl Network {
    /// Returns an empty network. The fabric must have passed [`crate::fabric::check`].
    pub fn new(fabric: Fabric) -> Self {
        let (groups, most) = groups(&fabric);
        let mut groups_of = vec![Vec::new(); fabric.all_lanes()];
        for group in 0..fabric.groups() as u32 {
            fabric.group(group).iter().for_each(|&lane| groups_of[lane as usize].push(group));
        }
        let (lanes, queues) = lanes(&fabric, &most);
        let draws = fabric.switch_arbiter.contains(&arbiter::RANDOM)
            || fabric.switch_choice.contains(&choice::RANDOM);
        let streams = if draws { streams(fabric.seed, Family::Group, fabric.groups()) } else { Vec::new() };
        let port = Port {
            free_at: 0,
            due: UNKNOWN,
            last: NONE,
            amid: false,
            crossing: Vec::new(),
            spilling: Vec::new(),
            entered: NONE,
            entered_at: 0,
            enters_amid: false,
        };
        Self {
            now: -1,
            packets: Slab::default(),
            lanes,
            links: (0..fabric.links()).map(|link| Link::new(&fabric, link)).collect(),
            ports: vec![port; fabric.links()],
            queues,
            groups,
            groups_of,
            streams,
            touched: Vec::new(),
            crossing: Vec::new(),
            nominated: Vec::new(),
            starting: Vec::new(),
            able: Vec::new(),
            spare: Vec::new(),
            by_packet: fabric.lane_sharing == sharing::PACKET,
            fixed: fabric.lane_arbiter == arbiter::FIXED,
            no_route: None,
            tells_heads: fabric.has_programs() && fabric.message_ack_at_head == 1,
            faults: Faults::new(&fabric),
            codes: Codes::new(&fabric),
            distributions: Distributions::new(&fabric),
            watched: Vec::new(),
            counted_from: 0,
            hops: Hops::default(),
            grants: 0,
            characters: 0,
            wheel: Wheel::default(),
            fabric,
        }
    }

    /// Returns the arrays of this network.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Returns the packets dispatched and neither delivered nor lost; a packet for several ports counts once per port.
    pub fn in_flight(&self) -> u64 {
        let unmade = self.distributions.as_ref().map_or(0, |at| at.unmade);
        self.packets.count() as u64 + unmade - self.faults.remains
    }

    /// Returns the tick of the next event, if any.
    pub fn next(&self) -> Option<Time> {
        let codes = self.codes.as_ref().and_then(|codes| codes.next());
        [self.wheel.peek(), self.faults.next(), codes].into_iter().flatten().min()
    }

    /// Moves on to a tick without events.
    pub fn go_to(&mut self, now: Time) {
        self.now = now;
    }

    /// Moves on to the tick that [`Network::next`] returned; [`Network::pop`] then returns its events.
    pub fn go_to_next(&mut self, now: Time) {
        self.now = now;
        if self.wheel.peek() == Some(now) {
            self.wheel.go_to(now);
        }
    }

    /// Takes an event of the current tick.
    pub fn pop(&mut self) -> Option<Event> {
        self.wheel.pop().map(Event::of)
    }

    /// Marks the end of this link for a crossing in this tick.
    pub fn note_crossing(&mut self, link: u32) {
        self.crossing.push(link);
    }

    /// Marks the wire of this link for a start in this tick.
    pub fn note_start(&mut self, link: u32) {
        self.starting.push(link);
    }

    /// Adds an event at a later tick.
    pub fn schedule(&mut self, event: Event, time: Time) {
        self.wheel.schedule(event.number(), time);
    }

    /// Schedules the wire of a link, now or later.
    #[inline]
    pub(super) fn wake_wire(&mut self, link: u32, time: Time) {
        let due = &mut self.links[link as usize].due;
        if time < *due {
            *due = time;
            if time == self.now {
                self.starting.push(link);
            } else {
                self.schedule(Event::Wire(link), time);
            }
        }
    }

    /// Schedules the input buffers at the end of a link, now or later.
    #[inline]
    pub(super) fn wake_port(&mut self, link: u32, time: Time) {
        let due = &mut self.ports[link as usize].due;
        if time < *due {
            *due = time;
            if time == self.now {
                self.crossing.push(link);
            } else {
                self.schedule(Event::Cross(link), time);
            }
        }
    }

    /// Returns characters and class of the front header of a packet.
    pub(super) fn front_header(&self, packet: u32) -> (u32, u32) {
        let packet = &self.packets[packet];
        let own = self.fabric.own_classes(packet.source, packet.target);
        let class = self.fabric.terminal_class[packet.target as usize] + own;
        match packet.header {
            _ if packet.address > 0 => (1, class),
            Header::Via => (self.fabric.via_header_chars, self.fabric.via_class[packet.via as usize] + own),
            Header::Final => (self.fabric.header_chars, class),
            Header::Deleted => (0, class),
        }
    }

    /// Returns the switch at the end of a lane that does not lead to a terminal.
    pub(super) fn switch_at(&self, lane: u32) -> u32 {
        self.fabric.link_target[self.fabric.link_of(lane) as usize]
    }

    /// Returns the counts of every link.
    pub fn counts(&self) -> impl Iterator<Item = LinkCounts> {
        self.links.iter().map(|link| link.counts)
    }

    /// Resets the counts.
    pub fn clear_counts(&mut self) {
        self.counted_from = self.now;
        self.links.iter_mut().for_each(|link| link.counts = LinkCounts::default());
        self.faults.clear_counts();
        if let Some(codes) = &mut self.codes {
            codes.counts.fill(CodeCounts::default());
        }
    }

    /// Returns a packet's stay on a link.
    pub(super) fn hop(&self, link: u32, sent: &Outgoing, end: Time) -> Hop {
        let Packet { source, target, started, .. } = self.packets[sent.packet];
        Hop { source, started, target, link, begin: sent.begin, end, kind: hop_kind::PACKET }
    }

    /// Returns the packets that are on links, with end -1.
    pub fn standing(&self) -> Vec<Hop> {
        let amid = (0..).zip(&self.lanes).filter(|(_, lane)| lane.is_amid());
        amid.map(|(lane, at)| self.hop(self.fabric.link_of(lane), &at.outgoing[0], -1)).collect()
    }
}

impl Link {
    fn new(fabric: &Fabric, link: usize) -> Self {
        Self {
            free_at: 0,
            down: false,
            stuck: false,
            due: UNKNOWN,
            last: NONE,
            amid: 0,
            dispatched: NONE,
            from_terminal: fabric.is_terminal(fabric.link_source[link]),
            to_terminal: fabric.is_terminal(fabric.link_target[link]),
            counts: LinkCounts::default(),
        }
    }
}

/// Returns all groups, and the number of groups per switch.
fn groups(fabric: &Fabric) -> (Vec<Group>, Vec<u32>) {
    let mut most = vec![0; fabric.switches as usize];
    let groups = fabric.group_switch.iter().map(|&switch| {
        let place = most[switch as usize];
        most[switch as usize] += 1;
        Group { waiting: Vec::new(), touched: false, served: NONE, place }
    });
    (groups.collect(), most)
}

/// Returns all lanes and their queues: one per lane, or one per group of the switch.
fn lanes(fabric: &Fabric, groups: &[u32]) -> (Vec<Lane>, Vec<Queue>) {
    let mut queues = Vec::new();
    let lanes = (0..fabric.all_lanes() as u32).map(|lane| {
        let link = fabric.link_of(lane) as usize;
        let quantum = fabric.link_quantum[link];
        let promised = fabric.link_input_buffer[link] / quantum * quantum;
        let first_queue = queues.len() as u32;
        let of_switch = groups.get(fabric.link_target[link] as usize).copied();
        let count = if fabric.output_queues == 1 { of_switch.unwrap_or(0) } else { 1 };
        queues.extend((0..count).map(|_| Queue {
            packets: VecDeque::new(),
            lane,
            front_at: 0,
            asked: false,
            asks_at: UNKNOWN,
            spills: false,
            moved_at: 0,
            watched_at: UNKNOWN,
            since: 0,
            awaits: NONE,
            strips: false,
            output: NONE,
            copies: Vec::new(),
            delete: 0,
        }));
        Lane {
            outgoing: VecDeque::new(),
            ready: VecDeque::new(),
            places: VecDeque::new(),
            credit: promised,
            returns: VecDeque::new(),
            holder: NONE,
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
