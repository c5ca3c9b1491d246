//! What the wormhole engine remembers: links, the worms on them, groups and packets.

use std::num::Wrapping;

use super::queue::Queue;
use super::timeline::{Number, START, Timeline};
use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;
use crate::kernel::random::{Family, Stream, streams};
use crate::kernel::wheel::Wheel;

/// A time that is not known yet.
pub const UNKNOWN: Time = Time::MAX;

/// A pending event, by kind and link or terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The head packet of this link's input buffer asks for its group.
    Request(u32),
    /// This link becomes free while heads wait for it.
    Release(u32),
    /// The end of a packet has been received by the terminal at the end of this link.
    Deliver(u32),
    /// This terminal's link is free, or the dispatch of its next packet is due.
    Source(u32),
}

impl Event {
    /// The number under which the wheel knows it.
    #[inline]
    pub fn number(self, links: u32) -> u32 {
        match self {
            Self::Request(link) => link,
            Self::Release(link) => links + link,
            Self::Deliver(link) => 2 * links + link,
            Self::Source(terminal) => 3 * links + terminal,
        }
    }

    /// The event of a number.
    #[inline]
    pub fn of(number: u32, links: u32) -> Self {
        if number < links {
            Self::Request(number)
        } else if number < 2 * links {
            Self::Release(number - links)
        } else if number < 3 * links {
            Self::Deliver(number - 2 * links)
        } else {
            Self::Source(number - 3 * links)
        }
    }
}

/// A packet from its dispatch to its delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketState {
    /// Sending terminal.
    pub source: u32,
    /// Receiving terminal.
    pub target: u32,
    /// Payload characters.
    pub length: u32,
    /// Position of its intermediate switch in `via_switch`, or [`NONE`].
    pub via: u32,
    /// When its source made it.
    pub created: Time,
    /// When its first character starts on its source's wire.
    pub started: Time,
}

/// Headers still in front of a worm's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    /// The one to the intermediate switch, then the final one.
    Via,
    /// The final one.
    Final,
    /// None: it was deleted.
    Deleted,
}

/// A packet on one link: its characters `first..end`, the last being the end of packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worm {
    pub packet: u32,
    pub next: u32,
    pub first: Number,
    pub end: Number,
    pub header: Header,
    /// Whether each character waits for its entry in `Link::entered`, rather than only the first for `ready`.
    pub bound: bool,
    /// Earliest start of its first character on the wire, by its grant or dispatch.
    pub ready: Time,
    /// When its first character starts on the wire, once known.
    pub started: Time,
    /// When the wire is free after its end of packet, once known.
    pub sent: Time,
}

/// One link: its output buffer, its wire and the input buffer at its target.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// When characters start on the wire.
    pub line: Timeline,
    /// Earliest start of the next character on the wire.
    pub wire_free: Time,

    /// First worm in the input buffer or on its way there.
    pub head: u32,
    /// First worm of which characters are still to be sent.
    pub sending: u32,
    /// Last worm granted this link.
    pub tail: u32,

    /// Behind all characters of the packets granted this link.
    pub granted: Number,
    /// The character that must have left the input buffer for the next lump of credit, unless that is in `credit`.
    pub next_lump: Number,
    /// Characters that may be sent on the credit taken so far.
    pub credited: u32,
    /// What a character's number on the holder is greater by than its number here.
    pub shift: Number,
    /// Whether it is to advance before the present event is over.
    pub woken: bool,
    /// Whether it has a character to send and no credit for it.
    pub waits_for_credit: bool,
    /// Whether the packets at its end leave as told in the module `stepwise`.
    pub stepwise: bool,
    /// Whether credit can be late because the characters that it is for were, rather than what took them on.
    pub long: bool,
    /// Earliest departure of the head packet from the input buffer; of its next character if `stepwise`.
    pub exit_free: Time,
    /// Lumps of credit of packets that have left: when they are there.
    pub credit: Queue,
    /// Characters in the output buffer that are not on the wire yet, of worms that are `bound`: when they are ready for it.
    pub entered: Queue,
    /// When the link may be granted again; [`UNKNOWN`] while its holder's end is not known.
    pub free_at: Time,
    /// Tick of the last grant, -1 if never.
    pub last_grant: Time,

    /// Input link whose head packet holds this link, or [`NONE`].
    pub holder: u32,
    /// Link granted to the head packet of the input buffer, or [`NONE`].
    pub output: u32,
    /// Characters before this one are not passed on: the header is deleted.
    pub deleted: Number,

    /// Group its head waits for, or [`NONE`].
    pub group: u32,
    /// Whether the head's header is to be deleted on the way out.
    pub strips: bool,
    /// When the head asked.
    pub requested: Time,
    /// Next head in the queue of the group.
    pub next_waiting: u32,
    /// Whether a request of the present head is pending or made.
    pub asked: bool,
    /// Whether a release event is pending.
    pub release_pending: bool,
    /// True when the target is a terminal.
    pub to_terminal: bool,
    /// True when the source is a terminal.
    pub from_terminal: bool,
    pub deletes_header: bool,

    pub character: u32,
    pub end: u32,
    pub arrival: u32,
    pub credit_delay: u32,
    pub output_buffer: u32,
    pub quantum: u32,
    /// Ticks in which a lump's characters can be sent at least.
    pub lump_ticks: u32,
    /// Of a quantum that is a power of two; 32 of others.
    pub quantum_shift: u8,
    /// Of the switch at the source.
    pub forward: u32,
    /// Of the switch at the target.
    pub decode: u32,
    /// Of the switch at the target.
    pub crossbar: u32,

    pub count: Counts,
}

/// What a link did since the counts were last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets sent completely.
    pub packets: u64,
    /// Characters sent, headers and ends of packets included.
    pub characters: u64,
    /// Ticks the wire was sending them.
    pub busy_ticks: u64,
    /// Ticks from a packet's first character on the wire to its last, less `busy_ticks`.
    pub stalled_ticks: u64,
    /// Ticks heads waited before they were granted this link.
    pub wait_ticks: u64,
}

/// A group of equivalent links and the heads that wait for one of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub first: u32,
    pub last: u32,
    pub waiting: u32,
    /// Input link served last, for round robin.
    pub served: u32,
    pub queued: bool,
}

/// A wormhole network in operation.
#[derive(Clone, Debug)]
pub struct Network {
    pub(super) fabric: Fabric,
    pub(super) links: Vec<Link>,
    /// When characters leave the input buffers of links that are `stepwise`; empty if no link is.
    pub(super) exits: Vec<Timeline>,
    pub(super) worms: Vec<Worm>,
    pub(super) free_worms: Vec<u32>,
    pub(super) groups: Vec<Group>,
    /// Groups each link belongs to: `link_groups[link_groups_start[l]..link_groups_start[l + 1]]`.
    pub(super) link_groups_start: Vec<u32>,
    pub(super) link_groups: Vec<u32>,
    pub(super) streams: Vec<Stream>,
    pub(super) packets: Vec<PacketState>,
    pub(super) free_packets: Vec<u32>,
    /// Groups to arbitrate in this tick.
    pub(super) touched: Vec<u32>,
    /// Input links whose heads ask in this tick.
    pub(super) asking: Vec<u32>,
    /// Links to advance.
    pub(super) work: Vec<u32>,
    /// A switch and a class for which it has no route, if a packet met one.
    pub(super) lost: Option<(u32, u32)>,
    /// Heads granted an output so far.
    pub grants: u64,
    /// Pieces of timelines worked out so far.
    pub extensions: u64,
    /// Pending events.
    pub wheel: Wheel,
}

impl Network {
    /// An empty network. The fabric must have passed [`crate::fabric::check`].
    pub fn new(fabric: Fabric) -> Self {
        let stepwise = stepwise_switches(&fabric);
        let links: Vec<Link> =
            (0..fabric.links()).map(|link| Link::new(&fabric, link, &stepwise)).collect();
        let any = links.iter().any(|link| link.stepwise);
        let exits = links.iter().filter(|_| any);
        let exits = exits.map(|link| Timeline::new(link.output_buffer)).collect();
        let group = Group { first: NONE, last: NONE, waiting: 0, served: NONE, queued: false };
        let (link_groups_start, link_groups) = groups_of_links(&fabric);
        let events = 3 * fabric.links() + fabric.terminals as usize;
        let draws = fabric.switch_arbiter.contains(&crate::fabric::arbiter::RANDOM)
            || fabric.switch_choice.contains(&crate::fabric::choice::RANDOM);
        let streams = if draws { streams(fabric.seed, Family::Group, fabric.groups()) } else { Vec::new() };
        Self {
            links,
            exits,
            worms: Vec::new(),
            free_worms: Vec::new(),
            groups: vec![group; fabric.groups()],
            link_groups_start,
            link_groups,
            streams,
            packets: Vec::new(),
            free_packets: Vec::new(),
            touched: Vec::new(),
            asking: Vec::new(),
            work: Vec::new(),
            lost: None,
            grants: 0,
            extensions: 0,
            wheel: Wheel::new(events),
            fabric,
        }
    }

    /// The arrays this network was made from.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Packets dispatched and not yet delivered.
    pub fn in_flight(&self) -> u64 {
        (self.packets.len() - self.free_packets.len()) as u64
    }

    /// A packet by number.
    pub fn packet(&self, packet: u32) -> &PacketState {
        &self.packets[packet as usize]
    }

    /// What every link did since the last [`Network::clear_counts`].
    pub fn counts(&self) -> impl Iterator<Item = &Counts> {
        self.links.iter().map(|link| &link.count)
    }

    /// Starts counting anew.
    pub fn clear_counts(&mut self) {
        for link in &mut self.links {
            link.count = Counts::default();
        }
    }

    /// Adds an event at a later tick.
    #[inline]
    pub fn schedule(&mut self, event: Event, time: Time) {
        self.wheel.schedule(event.number(self.links.len() as u32), time);
    }

    pub(super) fn new_worm(&mut self, worm: Worm) -> u32 {
        match self.free_worms.pop() {
            Some(number) => {
                self.worms[number as usize] = worm;
                number
            }
            None => {
                self.worms.push(worm);
                self.worms.len() as u32 - 1
            }
        }
    }

    pub(super) fn new_packet(&mut self, packet: PacketState) -> u32 {
        match self.free_packets.pop() {
            Some(number) => {
                self.packets[number as usize] = packet;
                number
            }
            None => {
                self.packets.push(packet);
                self.packets.len() as u32 - 1
            }
        }
    }

    /// Puts a worm behind the others on a link.
    pub(super) fn append(&mut self, link: u32, number: u32) {
        let at = &mut self.links[link as usize];
        if at.tail != NONE {
            self.worms[at.tail as usize].next = number;
        }
        at.tail = number;
        if at.sending == NONE {
            at.sending = number;
        }
        if at.head == NONE {
            at.head = number;
        }
    }

    /// Takes the first worm off a link.
    pub(super) fn take_head(&mut self, link: u32) -> Worm {
        let at = &mut self.links[link as usize];
        let number = at.head;
        let worm = self.worms[number as usize];
        at.head = worm.next;
        if at.tail == number {
            at.tail = NONE;
        }
        self.free_worms.push(number);
        worm
    }
}

impl Link {
    fn new(fabric: &Fabric, link: usize, stepwise: &[bool]) -> Self {
        let (source, target) = (fabric.link_source[link], fabric.link_target[link]);
        let at_switch = |column: &[u32], vertex: u32| column.get(vertex as usize).copied().unwrap_or(0);
        let (character, end) = (fabric.link_character_ticks[link], fabric.link_end_ticks[link]);
        let (buffer, quantum) = (fabric.link_input_buffer[link], fabric.link_quantum[link]);
        let (arrival, credit_delay) = (fabric.link_arrival_ticks[link], fabric.link_credit_ticks[link]);
        let lumps = buffer / quantum;
        let granted = START + Wrapping(fabric.link_output_buffer[link]);
        // The time to send what may be under way when credit has been waited for, at least.
        let loop_ticks = u64::from(buffer + 1 - quantum) * u64::from(character.min(end));
        Self {
            line: Timeline::new(fabric.link_output_buffer[link]),
            credit: Queue::default(),
            entered: Queue::default(),
            head: NONE,
            sending: NONE,
            tail: NONE,
            wire_free: 0,
            granted,
            next_lump: granted + Wrapping(quantum * (lumps + 1) - buffer - 1),
            credited: lumps * quantum,
            shift: Wrapping(0),
            woken: false,
            waits_for_credit: false,
            stepwise: stepwise.get(target as usize).copied().unwrap_or(false),
            long: loop_ticks < u64::from(arrival) + u64::from(credit_delay),
            exit_free: 0,
            free_at: 0,
            last_grant: -1,
            holder: NONE,
            output: NONE,
            deleted: START,
            group: NONE,
            strips: false,
            requested: 0,
            next_waiting: NONE,
            asked: false,
            release_pending: false,
            to_terminal: fabric.is_terminal(target),
            from_terminal: fabric.is_terminal(source),
            deletes_header: fabric.link_deletes_header[link] != 0,
            character,
            end,
            arrival,
            credit_delay,
            output_buffer: fabric.link_output_buffer[link],
            quantum,
            lump_ticks: quantum.saturating_mul(character),
            quantum_shift: shift_of(quantum),
            forward: at_switch(&fabric.switch_forward_ticks, source),
            decode: at_switch(&fabric.switch_decode_ticks, target),
            crossbar: at_switch(&fabric.switch_crossbar_ticks, target),
            count: Counts::default(),
        }
    }
}

/// The switches at which the times at which characters leave input buffers have to be worked out one after the other,
/// because the crossbar is slower than a link, or because an output buffer is too small to bridge the way to the wire.
fn stepwise_switches(fabric: &Fabric) -> Vec<bool> {
    let mut stepwise = vec![false; fabric.switches as usize];
    for link in 0..fabric.links() {
        let (character, end) = (fabric.link_character_ticks[link], fabric.link_end_ticks[link]);
        let shortest = character.min(end);
        for (vertex, leaves) in [(fabric.link_source[link], true), (fabric.link_target[link], false)] {
            if fabric.is_terminal(vertex) {
                continue;
            }
            let forward = fabric.switch_forward_ticks[vertex as usize];
            let bufferful = u64::from(fabric.link_output_buffer[link]) * u64::from(shortest);
            let tight = leaves && bufferful < u64::from(character) + u64::from(forward);
            stepwise[vertex as usize] |= tight || fabric.switch_crossbar_ticks[vertex as usize] > shortest;
        }
    }
    stepwise
}

/// The shift that divides by a power of two; 32 for other numbers.
fn shift_of(number: u32) -> u8 {
    if number.is_power_of_two() { number.trailing_zeros() as u8 } else { 32 }
}

/// The groups of every link, as starts and members.
fn groups_of_links(fabric: &Fabric) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; fabric.links() + 1];
    for &link in &fabric.group_links {
        starts[link as usize + 1] += 1;
    }
    for link in 0..fabric.links() {
        starts[link + 1] += starts[link];
    }
    let mut members = vec![0; fabric.group_links.len()];
    let mut fill = starts.clone();
    for group in 0..fabric.groups() as u32 {
        for &link in fabric.group(group) {
            members[fill[link as usize] as usize] = group;
            fill[link as usize] += 1;
        }
    }
    (starts, members)
}
