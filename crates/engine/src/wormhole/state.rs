//! What the wormhole engine remembers: links, the worms on them, groups and packets.

use std::num::Wrapping;

use super::ports::Ports;
use super::queue::Queue;
use super::routes::Routes;
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
    /// The number under which the wheel knows it: those of one link next to each other.
    #[inline]
    pub fn number(self) -> u32 {
        match self {
            Self::Request(link) => link << 2,
            Self::Release(link) => link << 2 | 1,
            Self::Deliver(link) => link << 2 | 2,
            Self::Source(terminal) => terminal << 2 | 3,
        }
    }

    /// The event of a number.
    #[inline]
    pub fn of(number: u32) -> Self {
        match number & 3 {
            0 => Self::Request(number >> 2),
            1 => Self::Release(number >> 2),
            2 => Self::Deliver(number >> 2),
            _ => Self::Source(number >> 2),
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
    /// When its source made it.
    pub created: Time,
    /// When its first character starts on its source's wire.
    pub started: Time,
}

/// Headers still in front of a worm's payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Header {
    /// The one to the intermediate switch, then the final one.
    Via,
    /// The final one.
    Final,
    /// None: it was deleted.
    #[default]
    Deleted,
}

/// A packet on one link: its characters `first..end`, the last being the end of packet.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Worm {
    pub packet: u32,
    pub next: u32,
    /// Class of its front header; of its destination, if that is deleted.
    pub class: u32,
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

    /// Input link whose head packet holds this link, or [`NONE`].
    pub holder: u32,
    /// Link granted to the head packet of the input buffer, or [`NONE`].
    pub output: u32,
    /// Characters before this one are not passed on: the header is deleted.
    pub deleted: Number,

    /// Whether a request of the present head is pending or made.
    pub asked: bool,
    /// True when the target is a terminal.
    pub to_terminal: bool,
    /// True when the source is a terminal.
    pub from_terminal: bool,

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

    pub sent: Sent,
}

/// What a link sent completely since the counts were last cleared.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    pub packets: u64,
    /// Headers and ends of packets included.
    pub characters: u64,
    /// From the first character of each packet on the wire to the last.
    pub ticks: u64,
}

/// A wormhole network in operation.
#[derive(Clone, Debug)]
pub struct Network {
    pub(super) fabric: Fabric,
    pub(super) links: Vec<Link>,
    /// When characters leave the input buffers of links that are `stepwise`; empty if no link is.
    pub(super) exits: Vec<Timeline>,
    pub(super) worms: Vec<Worm>,
    /// First of the free rows of `worms`, which are joined by `next`, or [`NONE`].
    free_worms: u32,
    pub(super) routes: Routes,
    pub(super) ports: Ports,
    pub(super) streams: Vec<Stream>,
    pub(super) packets: Vec<PacketState>,
    pub(super) free_packets: Vec<u32>,
    /// Groups to arbitrate in this tick.
    pub(super) touched: Vec<u32>,
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
        let links: Vec<Link> = (0..fabric.links()).map(|link| Link::new(&fabric, link, &stepwise)).collect();
        let any = links.iter().any(|link| link.stepwise);
        let exits = links.iter().filter(|_| any);
        let exits = exits.map(|link| Timeline::new(link.output_buffer)).collect();
        let draws = fabric.switch_arbiter.contains(&crate::fabric::arbiter::RANDOM)
            || fabric.switch_choice.contains(&crate::fabric::choice::RANDOM);
        let streams = if draws { streams(fabric.seed, Family::Group, fabric.groups()) } else { Vec::new() };
        Self {
            links,
            exits,
            worms: Vec::new(),
            free_worms: NONE,
            routes: Routes::new(&fabric),
            ports: Ports::new(&fabric),
            streams,
            packets: Vec::new(),
            free_packets: Vec::new(),
            touched: Vec::new(),
            work: Vec::new(),
            lost: None,
            grants: 0,
            extensions: 0,
            wheel: Wheel::default(),
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

    /// Adds an event at a later tick.
    #[inline]
    pub fn schedule(&mut self, event: Event, time: Time) {
        self.wheel.schedule(event.number(), time);
    }

    /// A row for a worm.
    #[inline]
    pub(super) fn new_worm(&mut self) -> u32 {
        if self.free_worms == NONE {
            self.more_worms();
        }
        let number = self.free_worms;
        self.free_worms = self.worms[number as usize].next;
        number
    }

    #[cold]
    fn more_worms(&mut self) {
        self.free_worms = self.worms.len() as u32;
        self.worms.push(Worm { next: NONE, ..Worm::default() });
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

    /// Takes the first worm off a link; returns the packet.
    #[inline]
    pub(super) fn take_head(&mut self, link: u32) -> u32 {
        let at = &mut self.links[link as usize];
        let number = at.head;
        let worm = &mut self.worms[number as usize];
        at.head = worm.next;
        if at.tail == number {
            at.tail = NONE;
        }
        worm.next = self.free_worms;
        self.free_worms = number;
        worm.packet
    }
}

impl Link {
    /// Puts a worm behind the others.
    #[inline]
    pub(super) fn append(&mut self, number: u32, worms: &mut [Worm]) {
        if self.tail != NONE {
            worms[self.tail as usize].next = number;
        }
        self.tail = number;
        if self.sending == NONE {
            self.sending = number;
        }
        if self.head == NONE {
            self.head = number;
        }
    }

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
            holder: NONE,
            output: NONE,
            deleted: START,
            asked: false,
            to_terminal: fabric.is_terminal(target),
            from_terminal: fabric.is_terminal(source),
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
            sent: Sent::default(),
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
