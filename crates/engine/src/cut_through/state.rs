//! The state of a network whose packets pass whole, and its counts.

use super::allocate::Groups;
use super::memory::Memory;
use super::outages::Was;
use super::parts::{Event, Lane, Link, Stay};
use super::pause::Store;
use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;
use crate::kernel::slab::Slab;
use crate::kernel::wheel::Wheel;
use crate::links::arbiter::{Rules, Wire};
use crate::links::congestion::Congestion;
use crate::links::losses::{Losses, Lost};
use crate::links::outages::Outages;
use crate::measure::{Delivery, Hop, Hops, LinkCounts, hop_kind};
use crate::switched::{Kind, Routes, kinds};
use crate::terminal::program::mark;

/// A time that is not known yet.
pub(super) const UNKNOWN: Time = Time::MAX;

/// A packet, from its dispatch to its delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// What its delivery says.
    pub delivery: Delivery,
    /// When it was put before its terminal's link.
    pub dispatch: Time,
    /// A switch has marked it: see [`Congestion`].
    pub marked: bool,
    /// Headers that are not deleted: one, and one to the intermediate switch if it has one.
    pub headers: u8,
    /// If it is lost: how many pieces of it are left.
    pub pieces: u16,
}

/// A network whose packets pass whole, in operation.
#[derive(Clone, Debug)]
pub struct Network {
    pub(super) fabric: Fabric,
    pub(super) routes: Routes,
    pub(super) wheel: Wheel,
    pub(super) now: Time,
    pub(super) packets: Slab<Packet>,
    pub(super) stays: Slab<Stay>,
    pub(super) kinds: Vec<Kind>,
    pub(super) links: Vec<Link>,
    pub(super) lanes: Vec<Lane>,
    /// The input buffers of lanes, if switches pause senders.
    pub(super) stores: Vec<Store>,
    /// The memories that ports share, if they do.
    pub(super) memory: Option<Box<Memory>>,
    /// Whether packets look for room when their first characters come.
    pub(super) admits: bool,
    pub(super) groups: Groups,
    /// What congestion control counts, if there is any.
    pub congestion: Option<Box<Congestion>>,
    pub(super) outages: Outages<Was>,
    pub(super) lost: Lost,
    /// Lost packets of which something is left.
    pub(super) remains: u64,
    /// Ports whose packets were cut while they were sent, and when that would have ended.
    pub void: Vec<(u32, Time)>,
    /// Whether packets may be without a route when they request.
    pub(super) loses: bool,
    /// How lanes share wires, where it is more than a turn or a fixed order; and then, per link, its wire.
    pub(super) rules: Option<Box<Rules>>,
    pub(super) wires: Vec<Wire>,
    /// Links on whose wires a packet may start in this tick.
    pub(super) starting: Vec<u32>,
    /// Whether headers with characters are deleted.
    pub(super) deletes: bool,
    /// Whether packets are not on all links alike: they lose headers, or links have several rates.
    pub(super) uneven: bool,
    /// Whether packets of traffic classes have routes of their own, or tables are replaced.
    pub(super) classed: bool,
    /// For how long departures are looked up: the longest time until a place that becomes free is credit.
    pub(super) keep: Time,
    /// Characters for which there must be credit behind a lane that is granted; 0: it is granted without.
    pub(super) room: u32,
    /// The next tick at which the counts are looked at.
    looked_at: Time,
    /// Whether the arrival of a packet's first character at its terminal is reported.
    pub(super) tells_heads: bool,
    /// A switch and a class for which it has no route, if a packet needed it.
    pub(super) no_route: Option<(u32, u32)>,
    /// Paths of packets, if requested.
    pub hops: Hops,
    /// Number of grants so far.
    pub grants: u64,
    /// Number of packets started on links so far.
    pub starts: u64,
}

impl Network {
    /// Returns an empty network. The fabric must have passed [`crate::fabric::check`].
    pub fn new(fabric: Fabric) -> Self {
        let (rows, kinds) = kinds(&fabric);
        let forward = |link: usize| {
            let switch = fabric.link_source[link] as usize;
            fabric.switch_forward_ticks.get(switch).copied().unwrap_or(0)
        };
        let links = rows.iter().enumerate().map(|(link, &kind)| Link {
            kind,
            forward: forward(link),
            free_at: 0,
            sent_at: 0,
            late: 0,
            due: UNKNOWN,
            last: NONE,
            waiting: 0,
            dispatched: NONE,
            packets: 0,
            wait_ticks: 0,
            stalled_ticks: 0,
        });
        let rules = Rules::new(&fabric);
        Self {
            wires: rules.as_ref().map_or_else(Vec::new, |rules| rules.wires(&fabric)),
            rules,
            routes: Routes::new(&fabric),
            wheel: Wheel::default(),
            now: -1,
            packets: Slab::default(),
            stays: Slab::default(),
            links: links.collect(),
            room: if fabric.grant_with_room == 1 { fabric.longest_chars() as u32 } else { 0 },
            lanes: (0..fabric.all_lanes() as u32).map(|lane| Lane::new(fabric.link_of(lane))).collect(),
            stores: stores(&fabric),
            memory: Memory::new(&fabric),
            admits: fabric.drops == 1 || fabric.has_pool(),
            groups: Groups::new(&fabric),
            congestion: Congestion::new(&fabric),
            outages: Outages::new(&fabric, false),
            lost: Lost::new(&fabric, mark::row),
            remains: 0,
            void: Vec::new(),
            loses: fabric.may_cut(),
            starting: Vec::new(),
            deletes: fabric.deletes_headers(),
            uneven: fabric.deletes_headers() || kinds.iter().any(|kind| kind.character != kinds[0].character),
            classed: fabric.class_headers.iter().any(|&first| first > 0) || fabric.has_tables(),
            keep: kinds.iter().map(|kind| Time::from(kind.credit_delay)).max().unwrap_or(0),
            looked_at: 0,
            tells_heads: fabric.has_programs() && fabric.message_ack_at_head == 1,
            no_route: None,
            hops: Hops::default(),
            grants: 0,
            starts: 0,
            kinds,
            fabric,
        }
    }

    /// Returns the arrays of this network.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Returns the packets that found no room.
    pub fn lost(&self) -> &Lost {
        &self.lost
    }

    /// Takes the marks of lost packets, if programs need them.
    pub fn lost_marks(&mut self, marks: &mut Vec<u32>) {
        self.lost.take_marks(marks);
    }

    /// Returns the packets dispatched and not delivered or lost.
    pub fn in_flight(&self) -> u64 {
        self.packets.count() as u64 - self.remains
    }

    /// Returns the tick of the next event, if any.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        let next = self.wheel.peek();
        if self.next_outage() == Time::MAX {
            next
        } else {
            Some(next.map_or(self.next_outage(), |next| next.min(self.next_outage())))
        }
    }

    /// Moves on to a tick without events.
    #[inline]
    pub fn go_to(&mut self, now: Time) {
        self.now = now;
    }

    /// Moves on to the tick that [`Network::next`] returned; [`Network::pop`] then returns its events.
    #[inline]
    pub fn go_to_next(&mut self, now: Time) {
        self.now = now;
        // What is next is in the wheel if no outage is.
        if self.next_outage() != now || self.wheel.peek() == Some(now) {
            self.wheel.go_to(now);
        }
    }

    /// Takes an event of the current tick.
    #[inline]
    pub fn pop(&mut self) -> Option<Event> {
        self.wheel.pop().map(Event::of)
    }

    /// Adds an event at a later tick.
    #[inline(always)]
    pub fn schedule(&mut self, event: Event, time: Time) {
        self.wheel.schedule(event.number(), time);
    }

    /// Returns the constants of a link.
    #[inline(always)]
    pub(super) fn kind(&self, link: u32) -> &Kind {
        &self.kinds[self.links[link as usize].kind as usize]
    }

    /// Returns the characters of the header by which a packet is routed.
    #[inline(always)]
    pub(super) fn front_header(&self, packet: u32) -> u32 {
        if !self.deletes {
            return self.fabric.header_chars;
        }
        match self.packets[packet].headers {
            2 => self.fabric.via_header_chars,
            1 => self.fabric.header_chars,
            _ => 0,
        }
    }

    /// Tells at which tick the counts are looked at next.
    pub fn look_at(&mut self, time: Time) {
        self.looked_at = time;
    }

    /// Returns the characters of the packet on a wire that start at a tick or later.
    pub(super) fn unsent(&self, link: &Link, time: Time) -> u32 {
        let last = self.lanes.get(link.last as usize).into_iter().flat_map(|lane| lane.sent.iter().rev());
        last.map(|sent| sent.unsent(time)).take_while(|&unsent| unsent > 0).sum()
    }

    /// Returns the characters that have started on a lane of a link before a tick, since counts were cleared.
    fn characters_of(&self, link: &Link, lane: u32, time: Time) -> u64 {
        let at = &self.lanes[lane as usize];
        let unsent = if link.last == lane { self.unsent(link, time) } else { 0 };
        (at.started - at.counted - i64::from(unsent)) as u64
    }

    /// Returns the counts of every link: of what has started when it is looked at.
    pub fn counts(&self) -> impl Iterator<Item = LinkCounts> {
        let time = self.looked_at.max(self.now + 1);
        (0..).zip(&self.links).map(move |(number, link)| {
            let is_unsent = self.unsent(link, time) > 0;
            let lanes = self.fabric.lanes_of(number);
            let characters = lanes.map(|lane| self.characters_of(link, lane, time)).sum::<u64>();
            LinkCounts {
                packets: link.packets - u64::from(is_unsent),
                characters,
                busy_ticks: characters * u64::from(self.kinds[link.kind as usize].character),
                stalled_ticks: (link.stalled_ticks - if is_unsent { link.late } else { 0 }) as u64,
                wait_ticks: link.wait_ticks,
                most_stored: self.most_stored(number, time),
            }
        })
    }

    /// Returns per lane the ticks for which its characters have occupied its wire, of those that have started when it is
    /// looked at; empty without rules.
    pub fn lane_ticks(&self) -> Vec<u64> {
        let time = self.looked_at.max(self.now + 1);
        let lanes = if self.rules.is_none() { 0 } else { self.lanes.len() as u32 };
        let of_lane = |lane| {
            let link = &self.links[self.fabric.link_of(lane) as usize];
            self.characters_of(link, lane, time) * u64::from(self.kinds[link.kind as usize].character)
        };
        (0..lanes).map(of_lane).collect()
    }

    /// Resets the counts at a tick.
    pub fn clear_counts(&mut self, start: Time) {
        self.congestion.iter_mut().for_each(|at| at.clear(&self.fabric, start));
        self.lost.on_links.fill(Losses::default());
        self.lanes.iter_mut().for_each(|lane| lane.counted = lane.started);
        for link in 0..self.links.len() {
            let unsent = self.unsent(&self.links[link], start);
            let at = &mut self.links[link];
            (at.packets, at.wait_ticks) = (u64::from(unsent > 0), 0);
            if unsent > 0 {
                self.lanes[at.last as usize].counted -= i64::from(unsent);
            }
            let character = Time::from(self.kinds[at.kind as usize].character);
            at.late = if unsent > 0 { at.late.min(at.sent_at - character - start) } else { 0 };
            at.stalled_ticks = at.late;
        }
    }

    /// Keeps the path of a packet that starts on a link now.
    #[cold]
    pub(super) fn keep_hop(&mut self, link: u32, packet: u32, begin: Time, end: Time) {
        let packet = &self.packets[packet].delivery;
        self.hops.record(Hop::of(packet, link, begin, end, hop_kind::PACKET));
    }
}

/// Returns the empty input buffers of all lanes, if switches pause senders.
fn stores(fabric: &Fabric) -> Vec<Store> {
    let lanes = if fabric.has_pause() { fabric.all_lanes() as u32 } else { 0 };
    let of_link = |link: usize| Store::new(fabric.link_pause_above[link], fabric.link_pause_until[link]);
    (0..lanes).map(|lane| of_link(fabric.link_of(lane) as usize)).collect()
}
