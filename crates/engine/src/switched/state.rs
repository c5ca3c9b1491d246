//! The state of the wormhole engine: links, groups and packets.

use super::allocation::Ports;
use super::cuts::Cuts;
use super::demand;
use super::horizon::Outside;
use super::link::{self, Kind, Link};
use super::rounds::Rounds;
use super::routes::Routes;
use super::sent::Sent;
use super::timeline::Timeline;
use super::worm::{Crowd, Worm};
use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::kernel::random::Stream;
use crate::kernel::slab::Slab;
use crate::kernel::wheel::Wheel;
use crate::links::losses::Losses;
use crate::measure::{Delivery, Hops, LinkCounts};

/// A time that is not known yet.
pub const UNKNOWN: Time = Time::MAX;

/// A pending event, by kind and link or terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The head packet of this link's input buffer requests its group.
    Request(u32),
    /// This link becomes free while heads wait for it.
    Release(u32),
    /// The end of a packet has been received by the terminal at the end of this link.
    Deliver(u32),
    /// The link of this port of a terminal is free, or the dispatch of its next packet is due. After the ports, each
    /// link has a number: the first character of a packet has arrived at the terminal at its end.
    Source(u32),
}

impl Event {
    /// Returns its number in the wheel; the numbers of one link are adjacent.
    #[inline]
    pub fn number(self) -> u32 {
        match self {
            Self::Request(link) => link << 2,
            Self::Release(link) => link << 2 | 1,
            Self::Deliver(link) => link << 2 | 2,
            Self::Source(terminal) => terminal << 2 | 3,
        }
    }

    /// Returns the event of a number.
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
    /// What its delivery says; its start is known when its end has a time on its source's wire.
    pub delivery: Delivery,
    /// When it was put on its terminal's link.
    pub dispatch: Time,
    /// Characters of its address that have not been deleted yet.
    pub address: u32,
    /// Its pieces besides one, if it was cut.
    pub further: u16,
    /// Whether it is lost.
    pub lost: bool,
}

/// A wormhole network in operation.
#[derive(Clone, Debug)]
pub struct Network {
    pub(super) fabric: Fabric,
    pub(super) links: Vec<Link>,
    pub(super) kinds: Vec<Kind>,
    /// When characters leave the input buffers of links that are `stepwise`; empty if no link is.
    pub(super) exits: Vec<Timeline>,
    pub(super) crowd: Crowd,
    pub(super) routes: Routes,
    pub(super) ports: Ports,
    pub(super) streams: Vec<Stream>,
    pub(super) packets: Slab<PacketState>,
    /// Whether a crossbar moves characters one by one, instead of as fast as they arrive.
    pub(super) paced: bool,
    /// Groups to arbitrate in this tick, each once: see `Group::touch`.
    pub(super) touched: Vec<u32>,
    /// Links that were woken and send before the current event ends.
    pub(super) work: Vec<u32>,
    /// Whether links may be left behind: see the module `demand`.
    pub(super) leaves_behind: bool,
    /// A packet with more characters is long.
    pub(super) window: u32,
    /// How many more characters of a packet than the next link any link can send.
    pub(super) reach: u32,
    /// Whether a long packet was sent: until then nobody asks.
    pub(super) has_long: bool,
    /// Links of a packet that streams, and up to which tick each may send, while the module `stream` checks them.
    pub(super) parts: Vec<(u32, Time)>,
    /// The same for one that streams over long cables, see the module `rounds`.
    pub(super) rounds: Rounds,
    /// A switch and a class for which it has no route, if a packet needed it.
    pub(super) lost: Option<(u32, u32)>,
    /// What may act on links from outside their packets, if anything, and when next; [`Time::MAX`] if never.
    pub(super) outside: Option<Box<Outside>>,
    pub(super) next_outside: Time,
    /// What is lost, if links fail.
    pub(super) cuts: Option<Box<Cuts>>,
    /// Whether a packet stayed at a switch long enough for a time-out to end it.
    pub(super) overstays: bool,
    /// Whether the arrival of a packet's first character at its terminal is reported.
    pub(super) tells_heads: bool,
    /// Paths of packets, if requested.
    pub hops: Hops,
    /// Number of grants so far.
    pub grants: u64,
    /// Number of pieces of timelines computed so far.
    pub extensions: u64,
    /// Pending events.
    pub wheel: Wheel,
}

/// What belongs to no link, to be changed while some are.
pub(super) struct Beside<'a> {
    pub fabric: &'a Fabric,
    pub kinds: &'a [Kind],
    pub routes: &'a Routes,
    pub crowd: &'a mut Crowd,
    pub ports: &'a mut Ports,
    pub packets: &'a mut Slab<PacketState>,
    pub work: &'a mut Vec<u32>,
    pub overstays: &'a mut bool,
    pub wheel: &'a mut Wheel,
}

impl Beside<'_> {
    /// Adds an event at a later tick.
    #[inline(always)]
    pub fn schedule(&mut self, event: Event, time: Time) {
        self.wheel.schedule(event.number(), time);
    }
}

impl Network {
    /// An empty network. The fabric must have passed [`crate::fabric::check`].
    pub fn new(fabric: Fabric) -> Self {
        let (ports, rows) = Ports::new(&fabric);
        let (links, kinds) = link::links(&fabric, rows);
        let any = kinds.iter().any(|kind| kind.stepwise);
        let exits = links.iter().filter(|_| any);
        let exits = exits.map(|link| Timeline::new(kinds[link.kind as usize].output_buffer, 0, 1)).collect();
        let outside = Outside::new(&fabric);
        let leaves_behind = kinds.iter().all(|kind| !kind.stepwise);
        let mut network = Self {
            links,
            exits,
            crowd: Crowd::default(),
            routes: Routes::new(&fabric),
            ports,
            streams: fabric.group_streams(),
            packets: Slab::default(),
            paced: fabric.switch_crossbar_ticks.iter().any(|&ticks| ticks > 0),
            touched: Vec::new(),
            work: Vec::new(),
            leaves_behind,
            window: demand::window(&kinds),
            reach: demand::reach(&kinds),
            has_long: false,
            kinds,
            parts: Vec::new(),
            rounds: Rounds::default(),
            lost: None,
            tells_heads: fabric.has_programs() && fabric.message_ack_at_head == 1,
            hops: Hops::default(),
            grants: 0,
            extensions: 0,
            wheel: Wheel::default(),
            cuts: Cuts::new(&fabric),
            outside,
            next_outside: Time::MAX,
            overstays: false,
            fabric,
        };
        network.set_horizons();
        network
    }

    /// The arrays this network was made from.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Returns the packets dispatched and not yet delivered or lost.
    pub fn in_flight(&self) -> u64 {
        self.packets.count() as u64 - self.cuts.as_ref().map_or(0, |cuts| cuts.remains)
    }

    /// Returns a packet by number.
    pub fn packet(&self, packet: u32) -> &PacketState {
        &self.packets[packet]
    }

    /// Returns the next tick at which something happens from outside; [`Time::MAX`] if nothing does.
    #[inline(always)]
    pub fn next_outside(&self) -> Time {
        self.next_outside
    }

    /// Adds an event at a later tick.
    #[inline]
    pub fn schedule(&mut self, event: Event, time: Time) {
        self.wheel.schedule(event.number(), time);
    }

    /// Returns the links, and what belongs to none. The number of links does not change while they are borrowed, so that
    /// an index is checked only once.
    #[inline(always)]
    pub(super) fn split(&mut self) -> (&mut [Link], Beside<'_>) {
        let Self { fabric, links, kinds, routes, crowd, ports, packets, work, overstays, wheel, .. } = self;
        (links, Beside { fabric, kinds, routes, crowd, ports, packets, work, overstays, wheel })
    }

    /// Returns a worm of a link.
    #[inline(always)]
    pub(super) fn worm(&self, link: u32, number: u32) -> &Worm {
        self.links[link as usize].worm(number, &self.crowd)
    }

    /// Returns the constants of a link.
    #[inline(always)]
    pub(super) fn kind(&self, link: &Link) -> &Kind {
        &self.kinds[link.kind as usize]
    }

    /// Returns the counts of every link since the last [`Network::clear_counts`].
    pub fn counts(&self) -> impl Iterator<Item = LinkCounts> {
        let codes = self.code_counts();
        self.links[..self.fabric.links()].iter().enumerate().map(|(number, link)| {
            let mut counts = link.sent.counts(self.kind(link), link.port.wait_ticks());
            let code = codes.get(number).map_or(0, |codes| codes.sent);
            counts.busy_ticks +=
                code * self.fabric.link_code_ticks.get(number).map_or(0, |&ticks| u64::from(ticks));
            counts
        })
    }

    /// Resets the counts.
    pub fn clear_counts(&mut self) {
        for link in &mut self.links {
            link.sent = Sent::default();
            link.port.clear_wait();
        }
        self.clear_code_counts();
        self.cuts.iter_mut().for_each(|cuts| cuts.lost.on_links.fill(Losses::default()));
    }
}
