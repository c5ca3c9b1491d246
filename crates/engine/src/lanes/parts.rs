//! The parts of a network with lanes: lanes, links, queues of input buffers, ports of crossbars, groups.

use std::collections::VecDeque;

use super::buffers::{Credit, Places, Row, Times};
use super::state::UNKNOWN;
use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;
use crate::measure::LinkCounts;

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
    /// Whether its header has been read at the end of the link, or it leads to a terminal and the first one has started.
    pub is_read: bool,
}

impl Outgoing {
    /// Returns a packet of this many characters, none of which has started.
    pub fn new(packet: u32, length: u32) -> Self {
        Self { packet, length, sent: 0, begin: 0, is_read: false }
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
    /// Packets with characters to send.
    pub outgoing: Row<Outgoing>,
    /// When the characters in the output buffer are ready for the wire; unused at terminals.
    pub ready: Times,
    /// The places of the output buffer; unused at terminals.
    pub places: Places,
    /// Credit for characters; unused on links into terminals.
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
        self.outgoing.first_mut().expect("the packet that is sent").is_read = true;
    }

    /// Whether it is inside a packet.
    pub fn is_amid(&self) -> bool {
        self.outgoing.first().is_some_and(|packet| packet.sent > 0)
    }
}

/// A packet in an input buffer, or on its way there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Incoming {
    pub packet: u32,
    /// Characters that have not crossed. The first of the queue's `arrivals` are those of its first packet.
    pub left: u32,
    /// When its front header has arrived.
    pub readable: Time,
}

/// Packets of an input buffer that wait for each other in order.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub packets: Row<Incoming>,
    /// When the characters of these that have been sent and have not crossed arrive.
    pub arrivals: Times,
    /// The lane on which they arrive.
    pub lane: u32,
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
    /// When the time-out is checked.
    pub watched_at: Time,
    /// When it requested.
    pub since: Time,
    /// The group it waits for, or [`NONE`].
    pub awaits: u32,
    /// Further lanes to which it crosses.
    pub copies: Vec<u32>,
}

impl Queue {
    /// Returns the packet at its front, which exists if the queue has asked, holds a lane or is spilled.
    #[inline(always)]
    pub fn front(&self) -> &Incoming {
        self.packets.first().expect("a packet at the front")
    }

    /// The same to be changed.
    #[inline(always)]
    pub fn front_mut(&mut self) -> &mut Incoming {
        self.packets.first_mut().expect("a packet at the front")
    }

    /// Returns how many characters of the last packet have been sent and have not crossed.
    pub fn sent_of_last(&self) -> u32 {
        let left: u32 = self.packets.iter().map(|packet| packet.left).sum();
        let last = self.packets.last().map_or(0, |packet| packet.left);
        self.arrivals.len() - (left - last)
    }

    /// Returns the last packet, which is the one that is being sent.
    #[inline(always)]
    pub fn last_mut(&mut self) -> &mut Incoming {
        self.packets.last_mut().expect("the packet that is sent")
    }

    fn new(lane: u32) -> Self {
        Self {
            packets: Row::new(),
            arrivals: Times::new(),
            lane,
            output: NONE,
            delete: 0,
            front_at: 0,
            asked: false,
            spills: false,
            strips: false,
            asks_at: UNKNOWN,
            moved_at: 0,
            watched_at: UNKNOWN,
            since: 0,
            awaits: NONE,
            copies: Vec::new(),
        }
    }
}

/// What the lanes of a link share: its wire. Its delays are those of the fabric.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// When the wire is free.
    pub free_at: Time,
    /// Tick of the next check.
    pub due: Time,
    /// When credit arrives while the wire is idle.
    pub rests_at: Time,
    /// Lane of the last character, or [`NONE`].
    pub last: u32,
    /// Lanes whose next character starts at a known time, as bits.
    pub known: u32,
    /// Number of lanes that are inside a packet.
    pub amid: u32,
    /// A packet of a terminal that has not started, or [`NONE`].
    pub dispatched: u32,
    /// Whether a fault keeps it from running.
    pub down: bool,
    /// Whether its receiver is stuck.
    pub stuck: bool,
    pub from_terminal: bool,
    pub to_terminal: bool,
    pub quantum: u32,
    pub input_buffer: u32,
    pub character: Time,
    pub end: Time,
    pub arrival: Time,
    pub credit: Time,
    pub counts: LinkCounts,
}

impl Link {
    pub fn new(fabric: &Fabric, link: usize) -> Self {
        Self {
            free_at: 0,
            due: UNKNOWN,
            rests_at: -1,
            last: NONE,
            known: 0,
            amid: 0,
            dispatched: NONE,
            down: false,
            stuck: false,
            from_terminal: fabric.is_terminal(fabric.link_source[link]),
            to_terminal: fabric.is_terminal(fabric.link_target[link]),
            quantum: fabric.link_quantum[link],
            input_buffer: fabric.link_input_buffer[link],
            character: fabric.link_character_ticks[link].into(),
            end: fabric.link_end_ticks[link].into(),
            arrival: fabric.link_arrival_ticks[link].into(),
            credit: fabric.link_credit_ticks[link].into(),
            counts: LinkCounts::default(),
        }
    }
}

/// What the lanes of a link share at its ends: the input of the crossbar after it, and the output of the one before it.
#[derive(Clone, Debug)]
pub(super) struct Port {
    /// When a character may cross.
    pub free_at: Time,
    /// Tick of the next check.
    pub due: Time,
    /// Ticks of a character in the crossbar after it, and from there to the next wire; 0 at terminals.
    pub pace: Time,
    pub forward: Time,
    /// After how many ticks without a crossing a packet is ended there.
    pub timeout: Time,
    /// Queues whose packet has a granted lane, in ascending order.
    pub crossing: Vec<u32>,
    /// Queue of the last character, or [`NONE`].
    pub last: u32,
    /// The lane of the last character that crossed to this link, or [`NONE`].
    pub entered: u32,
    /// When that character crossed.
    pub entered_at: Time,
    /// Its lanes to which characters are nominated, as bits.
    pub nominated: u32,
    /// Whether the last character was not an end of packet.
    pub amid: bool,
    /// Whether the last one that crossed to this link was not an end of packet.
    pub enters_amid: bool,
    /// Queues whose packet is spilled.
    pub spilling: Vec<u32>,
}

impl Port {
    pub fn new(fabric: &Fabric, link: usize) -> Self {
        let switch = fabric.link_target[link] as usize;
        let ticks = |column: &[u32]| column.get(switch).copied().unwrap_or(0).into();
        Self {
            free_at: 0,
            due: UNKNOWN,
            pace: ticks(&fabric.switch_crossbar_ticks),
            forward: ticks(&fabric.switch_forward_ticks),
            timeout: timeout_of(fabric, fabric.link_target[link]),
            crossing: Vec::new(),
            last: NONE,
            entered: NONE,
            entered_at: 0,
            nominated: 0,
            amid: false,
            enters_amid: false,
            spilling: Vec::new(),
        }
    }
}

/// Returns the time-out of a switch; [`UNKNOWN`] if it has none, or at a terminal.
fn timeout_of(fabric: &Fabric, vertex: u32) -> Time {
    if fabric.is_terminal(vertex) {
        return UNKNOWN;
    }
    match fabric.timeout_of(vertex) {
        0 => UNKNOWN,
        ticks => ticks,
    }
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

/// Returns all groups, and the number of groups per switch.
pub(super) fn groups(fabric: &Fabric) -> (Vec<Group>, Vec<u32>) {
    let mut most = vec![0; fabric.switches as usize];
    let groups = fabric.group_switch.iter().map(|&switch| {
        let place = most[switch as usize];
        most[switch as usize] += 1;
        Group { waiting: Vec::new(), touched: false, served: NONE, place }
    });
    (groups.collect(), most)
}

/// Returns all lanes and their queues: one per lane, or one per group of the switch.
pub(super) fn lanes(fabric: &Fabric, groups: &[u32]) -> (Vec<Lane>, Vec<Queue>) {
    let mut queues = Vec::new();
    let lanes = (0..fabric.all_lanes() as u32).map(|lane| {
        let link = fabric.link_of(lane);
        let quantum = fabric.link_quantum[link as usize];
        let promised = fabric.link_input_buffer[link as usize] / quantum * quantum;
        let first_queue = queues.len() as u32;
        let of_switch = groups.get(fabric.link_target[link as usize] as usize).copied();
        let count = if fabric.output_queues == 1 { of_switch.unwrap_or(0) } else { 1 };
        queues.extend((0..count).map(|_| Queue::new(lane)));
        Lane {
            link,
            bit: 1 << (lane - link * fabric.lanes),
            holder: NONE,
            outgoing: Row::new(),
            ready: Times::new(),
            places: Places::new(fabric.link_output_buffer[link as usize]),
            credit: Credit::new(promised),
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
