//! The state of a network with lanes, and when its links and ports are looked at again.

use super::agenda::Agenda;
use super::distribute::Distributions;
use super::event::Event;
use super::fault::Faults;
use super::link::Link;
use super::packet::{Header, Packet};
use super::parts::{Group, Lane, Outgoing, Queue, groups, lanes};
use super::pause::Pauses;
use crate::fabric::{Fabric, arbiter, sharing};
use crate::kernel::Time;
use crate::kernel::random::Stream;
use crate::kernel::slab::Slab;
use crate::links::arbiter::{Rules, Wire};
use crate::links::codes::Codes;
use crate::links::congestion::Congestion;
use crate::measure::{CodeCounts, Delivery, Hop, Hops, LinkCounts, hop_kind};

/// A time that is not known yet.
pub(super) const UNKNOWN: Time = Time::MAX;

/// A network with lanes in operation.
#[derive(Clone, Debug)]
pub struct Network {
    pub(super) fabric: Fabric,
    pub(super) agenda: Agenda,
    pub(super) packets: Slab<Packet>,
    pub(super) lanes: Vec<Lane>,
    pub(super) links: Vec<Link>,
    pub(super) queues: Vec<Queue>,
    pub(super) groups: Vec<Group>,
    /// Per lane: the groups that contain it.
    pub(super) groups_of: Vec<Vec<u32>>,
    pub(super) streams: Vec<Stream>,
    /// Groups to arbitrate in this tick.
    pub(super) touched: Vec<u32>,
    /// Lanes that a head can be granted, while one is chosen.
    pub(super) found: Vec<u32>,
    /// Links to whose lanes characters are nominated in this tick.
    pub(super) contested: Vec<u32>,
    /// Whether a link sends a packet to its end before another one.
    pub(super) by_packet: bool,
    /// Whether the lowest lane that is ready sends, instead of each in turn.
    pub(super) fixed: bool,
    /// How lanes share wires, where it is more than a turn or a fixed order; and then, per link, its wire.
    pub(super) rules: Option<Box<Rules>>,
    pub(super) wires: Vec<Wire>,
    /// Whether wires have several lanes and no rules, and neither faults nor codes keep wires from them.
    pub(super) shares: bool,
    /// Whether packets wait for credit for all their characters.
    pub(super) whole: bool,
    /// Whether packets leave without gaps.
    pub(super) gapless: bool,
    /// Whether links have one lane, and input buffers one queue: then nothing competes for a wire or a crossbar.
    pub(super) alone: bool,
    /// The next tick at which the state or the counts are looked at.
    pub(super) looked_at: Time,
    /// A switch and a class for which it has no route, if a packet needed it.
    pub(super) no_route: Option<(u32, u32)>,
    /// Whether the arrival of a packet's first character at its terminal is reported.
    pub(super) tells_heads: bool,
    pub(super) faults: Faults,
    /// What buffers hold, if switches pause senders.
    pub(super) pauses: Option<Box<Pauses>>,
    /// What congestion control counts, if there is any.
    pub congestion: Option<Box<Congestion>>,
    /// Time-codes and interrupts, if there are any.
    pub(super) codes: Option<Box<Codes>>,
    /// Heads that wait for several lanes at once, if packets are distributed.
    pub(super) distributions: Option<Box<Distributions>>,
    /// Paths of packets, if requested.
    pub hops: Hops,
    /// Number of grants so far.
    pub grants: u64,
    /// Number of characters started so far.
    pub characters: u64,
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
        let rules = Rules::new(&fabric);
        let wires = rules.as_ref().map_or_else(Vec::new, |rules| rules.wires(&fabric));
        Self {
            agenda: Agenda::new(),
            packets: Slab::default(),
            lanes,
            links: (0..fabric.links()).map(|link| Link::new(&fabric, link)).collect(),
            queues,
            groups,
            groups_of,
            streams: fabric.group_streams(),
            touched: Vec::new(),
            found: Vec::new(),
            contested: Vec::new(),
            by_packet: fabric.lane_sharing == sharing::PACKET,
            fixed: fabric.lane_arbiter == arbiter::FIXED,
            shares: fabric.lanes > 1 && rules.is_none() && !fabric.has_faults() && !fabric.has_codes(),
            rules,
            wires,
            whole: fabric.whole_packet_credit == 1,
            gapless: fabric.sends_without_gaps(),
            alone: fabric.lanes == 1 && fabric.output_queues == 0,
            looked_at: 0,
            no_route: None,
            tells_heads: fabric.has_programs() && fabric.message_ack_at_head == 1,
            faults: Faults::new(&fabric),
            pauses: Pauses::new(&fabric),
            congestion: Congestion::new(&fabric),
            codes: Codes::new(&fabric),
            distributions: Distributions::new(&fabric),
            hops: Hops::default(),
            grants: 0,
            characters: 0,
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
    #[inline]
    pub fn next(&self) -> Option<Time> {
        let own = self.agenda.next();
        if self.agenda.is_soon() {
            return own;
        }
        let codes = self.codes.as_ref().map(|codes| codes.next()).filter(|&next| next < UNKNOWN);
        let pauses = self.pauses.as_ref().and_then(|pauses| pauses.next());
        [own, self.faults.next(), codes, pauses].into_iter().flatten().min()
    }

    /// Moves on to a tick without events.
    pub fn go_to(&mut self, now: Time) {
        self.agenda.now = now;
    }

    /// Moves on to the tick that [`Network::next`] returned; [`Network::pop`] then returns its events, but for those of
    /// links that are looked at in it anyway. Returns the number of these.
    pub fn go_to_next(&mut self, now: Time) -> u64 {
        self.agenda.go_to_next(now)
    }

    /// Takes an event of the current tick.
    pub fn pop(&mut self) -> Option<Event> {
        self.agenda.pop()
    }

    /// Marks the end of this link for a crossing in this tick, unless it has been looked at since.
    #[inline]
    pub fn note_crossing(&mut self, link: u32) {
        self.agenda.note_crossing(&self.links[link as usize]);
    }

    /// Marks the wire of this link for a start in this tick, unless it has been looked at since.
    #[inline]
    pub fn note_start(&mut self, link: u32) {
        self.agenda.note_start(&self.links[link as usize]);
    }

    /// Adds an event at a later tick.
    pub fn schedule(&mut self, event: Event, time: Time) {
        self.agenda.schedule(event, time);
    }

    /// Returns characters and class of the front header of a packet.
    pub(super) fn front_header(&self, packet: u32) -> (u32, u32) {
        let packet = &self.packets[packet];
        let Delivery { source, target, .. } = packet.delivery;
        let own = self.fabric.own_classes_since(source, target, packet.dispatch);
        let class = self.fabric.terminal_class[target as usize] + own;
        match packet.header {
            _ if packet.address > 0 => (1, class),
            Header::Via => (self.fabric.via_header_chars, self.fabric.via_class[packet.via as usize] + own),
            Header::Final => (self.fabric.header_chars, class),
            Header::Deleted => (0, class),
        }
    }

    /// Returns the entry of a packet at a switch in a table.
    pub(super) fn entry(&self, table: u32, switch: u32, class: u32, packet: u32) -> u32 {
        let entry = self.fabric.entry(table, switch, class);
        if !self.fabric.draws() {
            return entry;
        }
        let Packet { delivery, dispatch, .. } = self.packets[packet];
        self.fabric.drawn(entry, switch, class, (delivery.source, dispatch))
    }

    /// Returns the switch at the end of a lane that does not lead to a terminal.
    pub(super) fn switch_at(&self, lane: u32) -> u32 {
        self.fabric.link_target[self.fabric.link_of(lane) as usize]
    }

    /// Returns the counts of every link.
    pub fn counts(&self) -> impl Iterator<Item = LinkCounts> {
        let of_link =
            |link: &Link| LinkCounts { most_stored: self.most_stored(link.number), ..link.counts() };
        self.links.iter().map(of_link)
    }

    /// Returns per lane the ticks for which its characters and frames have occupied its wire; empty without rules.
    pub fn lane_ticks(&self) -> Vec<u64> {
        self.wires.iter().flat_map(|wire| &wire.used).copied().collect()
    }

    /// Resets the counts at a tick.
    pub fn clear_counts(&mut self, start: Time) {
        self.wires.iter_mut().for_each(|wire| wire.used.fill(0));
        self.links.iter_mut().for_each(|link| link.clear_counts(start));
        self.faults.clear_counts();
        self.congestion.iter_mut().for_each(|at| at.clear(&self.fabric, start));
        if let Some(codes) = &mut self.codes {
            codes.counts.fill(CodeCounts::default());
        }
    }

    /// Returns a packet's stay on a link.
    pub(super) fn hop(&self, link: u32, sent: &Outgoing, end: Time) -> Hop {
        Hop::of(&self.packets[sent.packet].delivery, link, sent.begin, end, hop_kind::PACKET)
    }

    /// Returns the packets that are on links, with end -1.
    pub fn standing(&self) -> Vec<Hop> {
        let amid = (0..).zip(&self.lanes).filter(|(_, lane)| lane.is_amid());
        amid.filter_map(|(lane, at)| {
            let packet = at.outgoing.front()?;
            Some(self.hop(self.fabric.link_of(lane), packet, -1))
        })
        .collect()
    }
}
