//! The interface between the event loop and the kinds of network.

mod by_queue;
mod with_lanes;
mod with_packets;

use super::RunError;
use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;
use crate::links::losses::{Losses, Lost};
use crate::measure::{Code, CodeCounts, Delivery, Hop, Hops, LinkCounts};
use crate::ring::{Asking, Counts, Rings, deadlock as ring_deadlock};
use crate::switched::{Event, Network as Worms, Standstill, deadlock, standstill};
use crate::terminal::Packet;

/// The results of a tick.
#[derive(Clone, Debug, Default)]
pub(super) struct News {
    /// Packets delivered.
    pub deliveries: Vec<Delivery>,
    /// Terminals that can dispatch a packet.
    pub asking: Vec<u32>,
    /// Terminals to which the first character of a packet has arrived, and its mark.
    pub heads: Vec<(u32, u32)>,
    /// Ports whose transactions have ended, the marks of these, and whether they ended in time.
    pub over: Vec<(u32, u32, bool)>,
    /// Marks of packets that were lost.
    pub lost: Vec<u32>,
    /// Time-codes and interrupts that were created or accepted.
    pub codes: Vec<Code>,
    /// Packets that request the buses of their terminals' hosts.
    pub at_bus: Vec<Asking>,
}

impl News {
    /// Whether there is nothing for sources and measurements.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.deliveries.is_empty() && self.asking.is_empty() && self.codes.is_empty()
    }

    /// Whether there is anything for programs.
    #[inline]
    pub fn is_for_programs(&self) -> bool {
        let Self { deliveries, asking, heads, over, lost, at_bus, codes: _ } = self;
        let told = deliveries.len() + asking.len() + heads.len() + over.len() + lost.len() + at_bus.len();
        told > 0
    }
}

/// What happened in a tick.
pub(super) struct Happened {
    pub events: u64,
    /// Whether there is nothing for sources and measurements.
    pub is_quiet: bool,
}

/// A network of any kind. The loop is compiled once per kind.
pub(super) trait Network {
    /// Returns the arrays of the network.
    fn fabric(&self) -> &Fabric;

    /// Returns the tick of the next event, if any.
    fn next(&mut self) -> Option<Time>;

    /// Handles the events of the next tick before any decision.
    fn happen(&mut self, now: Time, news: &mut News) -> Happened;

    /// Moves on to a tick without events.
    fn go_to(&mut self, now: Time);

    /// Reports that a packet has crossed its host's bus.
    fn off_bus(&mut self, _port: u32, _held: u32) {}

    /// Takes a packet from its source; returns whether another one can follow immediately.
    fn dispatch(&mut self, terminal: u32, packet: &Packet) -> bool;

    /// The same for a packet that chooses now whether it goes to its random switch, which new tables may not lead to.
    #[inline(always)]
    fn send(&mut self, terminal: u32, packet: &Packet) -> bool {
        let fabric = self.fabric();
        if packet.via == NONE || fabric.via_by_queue == 0 && !fabric.has_tables() {
            return self.dispatch(terminal, packet);
        }
        let packet = Packet { via: by_queue::via(self, terminal, packet), ..*packet };
        self.dispatch(terminal, &packet)
    }

    /// Returns the characters granted a lane that is not into a terminal, until their credit is back.
    fn occupied(&self, _lane: u32) -> u64 {
        0
    }

    /// Returns the characters of packets whose heads wait for a group.
    fn waiting(&self, _group: u32) -> u64 {
        0
    }

    /// Schedules a request to a terminal's source at a later tick.
    fn schedule_source(&mut self, terminal: u32, time: Time);

    /// Makes all decisions of the tick.
    fn decide(&mut self, now: Time) -> Result<(), RunError>;

    /// Returns links that wait for each other in a cycle; empty if nothing is deadlocked.
    fn deadlock(&self) -> Vec<u32>;

    /// Whether packets are sent again and again and none is accepted; to be called as often as the search for deadlock.
    fn livelocked(&mut self) -> bool {
        false
    }

    /// Returns what stands still after the last event although it could move: an error of the engine.
    fn standstill(&self) -> Option<Standstill> {
        None
    }

    /// Returns the number of events that outweigh a search for deadlock.
    fn search_events(&self) -> u64 {
        16 * self.fabric().links() as u64
    }

    /// Returns the packets that are dispatched and can still be delivered.
    fn in_flight(&self) -> u64;

    /// Returns the packets removed because no port takes them.
    fn scrubbed(&self) -> u64 {
        0
    }

    /// Returns all packets that are lost, in a network of links that counts them.
    fn all_lost(&self) -> Option<&Lost> {
        None
    }

    /// Returns the packets that faults have lost.
    fn lost(&self) -> u64 {
        self.all_lost().map_or(0, |lost| lost.count)
    }

    /// Returns those of each flow of sources; empty if none can be lost.
    fn lost_of_flows(&self) -> &[u64] {
        self.all_lost().map_or(&[], |lost| &lost.of_flows)
    }

    /// Returns the packets at links that never run again.
    fn stranded(&self) -> u64 {
        0
    }

    /// Returns the transactions that were given up after a time-out.
    fn timed_out(&self) -> u64 {
        0
    }

    /// Whether packets wait for something that starts nothing any more.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Whether only time-codes, interrupts, and faults without packets are still to happen.
    fn is_idle(&self) -> bool {
        false
    }

    /// Returns the number of packet hops: heads granted at switches, or send packets put on the links of rings.
    fn packet_hops(&self) -> u64;

    /// Returns the number of work steps: of timelines in wormhole networks, packets or characters started with lanes,
    /// units on the links of rings.
    fn extensions(&self) -> u64;

    /// Returns the complete stays of packets on links, if requested.
    fn hops(&self) -> &Hops;

    /// Returns the stays of packets that are still on links, in networks that keep stays.
    fn standing(&self) -> Vec<Hop> {
        Vec::new()
    }

    /// Returns the counts of every link.
    fn counts(&self) -> Vec<LinkCounts>;

    /// Returns the code counts of every link; empty if there are no codes.
    fn code_counts(&self) -> &[CodeCounts] {
        &[]
    }

    /// Returns per lane the ticks for which it has occupied its wire; empty if lanes only take turns.
    fn lane_ticks(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Returns what every link has lost; empty if none can lose anything.
    fn losses(&self) -> Vec<Losses> {
        let lost = self.all_lost().filter(|_| self.fabric().may_lose());
        lost.map_or_else(Vec::new, |lost| lost.on_links.clone())
    }

    /// Resets the counts at a tick.
    fn clear_counts(&mut self, start: Time);

    /// Tells at which tick the state or the counts are looked at next.
    fn look_at(&mut self, _time: Time) {}
}

impl Network for Worms {
    #[inline]
    fn fabric(&self) -> &Fabric {
        self.fabric()
    }

    #[inline]
    fn next(&mut self) -> Option<Time> {
        let next = self.wheel.peek();
        if self.next_outside() == Time::MAX {
            next
        } else {
            Some(next.map_or(self.next_outside(), |next| next.min(self.next_outside())))
        }
    }

    #[inline(always)]
    fn happen(&mut self, now: Time, news: &mut News) -> Happened {
        let (mut count, mut is_quiet) = (0, true);
        let acts = self.next_outside() == now;
        if self.next_outside() < Time::MAX {
            self.goes_to(now);
        }
        if acts {
            count += self.happens_outside(now, &mut news.codes, &mut news.asking);
            is_quiet = news.codes.is_empty() && news.asking.is_empty();
            self.lost_marks(&mut news.lost);
            if self.wheel.peek() != Some(now) {
                return Happened { events: count, is_quiet };
            }
        }
        self.wheel.go_to(now);
        while let Some(event) = self.wheel.pop() {
            count += 1;
            match Event::of(event) {
                event if acts && self.is_void(now, event) => {}
                Event::Request(link) if self.is_changed() && self.has_no_way(link, now) => {
                    self.discard(link, now);
                    self.lost_marks(&mut news.lost);
                }
                Event::Request(link) if self.wheel.is_over() & self.is_decided() => {
                    self.request_alone(link, now);
                    break;
                }
                Event::Request(link) => self.request(link),
                Event::Release(link) => self.release(link),
                Event::Deliver(link) => {
                    if let Some(packet) = self.deliver(link) {
                        is_quiet = false;
                        news.deliveries.push(Delivery { delivered: now, ..packet.delivery });
                    }
                }
                Event::Source(number) => {
                    is_quiet = false;
                    news.asking.push(number);
                }
            }
        }
        if !is_quiet {
            self.heads(&mut news.asking, &mut news.heads);
        }
        Happened { events: count, is_quiet }
    }

    /// The wheel goes only to ticks with events. All that follows in another one is a dispatch, whose packet has its tick,
    /// and a decision, which is given it; where these read `wheel.now()` it is only a lower limit.
    fn go_to(&mut self, now: Time) {
        self.goes_to(now);
    }

    #[inline(always)]
    fn dispatch(&mut self, terminal: u32, packet: &Packet) -> bool {
        self.dispatch(terminal, packet);
        false
    }

    fn schedule_source(&mut self, terminal: u32, time: Time) {
        self.schedule(Event::Source(terminal), time);
    }

    #[inline]
    fn decide(&mut self, now: Time) -> Result<(), RunError> {
        self.arbitrate(now).map_err(|(switch, class)| RunError::NoRoute { switch, class })
    }

    fn deadlock(&self) -> Vec<u32> {
        deadlock(self)
    }

    fn standstill(&self) -> Option<Standstill> {
        standstill(self, self.wheel.now())
    }

    fn in_flight(&self) -> u64 {
        self.in_flight()
    }

    fn is_idle(&self) -> bool {
        self.is_idle()
    }

    fn packet_hops(&self) -> u64 {
        self.grants
    }

    fn extensions(&self) -> u64 {
        self.extensions
    }

    fn all_lost(&self) -> Option<&Lost> {
        self.all_lost()
    }

    fn stranded(&self) -> u64 {
        self.stranded()
    }

    fn hops(&self) -> &Hops {
        &self.hops
    }

    fn standing(&self) -> Vec<Hop> {
        self.standing()
    }

    fn counts(&self) -> Vec<LinkCounts> {
        self.counts().collect()
    }

    fn code_counts(&self) -> &[CodeCounts] {
        self.code_counts()
    }

    fn clear_counts(&mut self, _start: Time) {
        self.clear_counts();
    }
}

/// Collects the results of a network of rings.
#[inline(never)]
fn tell(rings: &mut Rings, news: &mut News) {
    news.deliveries.append(&mut rings.delivered);
    news.asking.append(&mut rings.asking);
    rings.tell(&mut news.over, &mut news.lost, &mut news.at_bus);
}

impl Network for Rings {
    #[inline]
    fn fabric(&self) -> &Fabric {
        self.fabric()
    }

    #[inline]
    fn next(&mut self) -> Option<Time> {
        self.next_tick()
    }

    #[inline(always)]
    fn happen(&mut self, now: Time, news: &mut News) -> Happened {
        let events = self.happen(now);
        if !self.is_quiet() {
            tell(self, news);
        }
        Happened { events, is_quiet: news.is_quiet() }
    }

    fn go_to(&mut self, now: Time) {
        self.go_to(now);
    }

    fn off_bus(&mut self, port: u32, held: u32) {
        self.off_bus(port, held);
    }

    #[inline]
    fn dispatch(&mut self, terminal: u32, packet: &Packet) -> bool {
        self.dispatch(terminal, packet)
    }

    fn schedule_source(&mut self, terminal: u32, time: Time) {
        self.schedule_source(terminal, time);
    }

    #[inline]
    fn decide(&mut self, _now: Time) -> Result<(), RunError> {
        self.start().map_err(|terminal| RunError::RouteCircle { terminal })
    }

    fn deadlock(&self) -> Vec<u32> {
        ring_deadlock(self)
    }

    fn livelocked(&mut self) -> bool {
        self.is_livelocked()
    }

    fn in_flight(&self) -> u64 {
        self.in_flight
    }

    fn scrubbed(&self) -> u64 {
        self.scrubbed
    }

    fn lost(&self) -> u64 {
        self.lost
    }

    fn timed_out(&self) -> u64 {
        self.timed_out
    }

    fn lost_of_flows(&self) -> &[u64] {
        self.lost_of_flows()
    }

    fn stranded(&self) -> u64 {
        self.stranded()
    }

    fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    fn extensions(&self) -> u64 {
        self.units_started
    }

    fn hops(&self) -> &Hops {
        &self.hops
    }

    fn counts(&self) -> Vec<LinkCounts> {
        let like = |count: Counts| LinkCounts {
            packets: count.packets,
            characters: count.symbols,
            busy_ticks: count.busy_ticks,
            stalled_ticks: 0,
            most_stored: 0,
            wait_ticks: count.wait_ticks,
        };
        self.counts().map(like).collect()
    }

    fn losses(&self) -> Vec<Losses> {
        let like = |count: Counts| Losses { cut: count.lost, discarded: count.discarded, timed_out: 0 };
        if self.fabric().has_faults() { self.counts().map(like).collect() } else { Vec::new() }
    }

    fn clear_counts(&mut self, _start: Time) {
        self.clear_counts();
    }
}
