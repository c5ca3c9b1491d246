//! The kinds of network as the event loop sees them.

use super::RunError;
use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::lanes::{self, Network as Lanes};
use crate::measure::{Code, Delivery};
use crate::ring::{Asking, Rings, deadlock as ring_deadlock};
use crate::switched::{Event, Network as Worms, PacketState, Standstill, deadlock, standstill};
use crate::terminal::Packet;

/// What a tick brought.
#[derive(Clone, Debug, Default)]
pub(super) struct News {
    /// Packets delivered.
    pub deliveries: Vec<Delivery>,
    /// Terminals that can dispatch a packet.
    pub asking: Vec<u32>,
    /// Terminals to which the first character of a packet has come, and its mark.
    pub heads: Vec<(u32, u32)>,
    /// Terminals whose transactions are over, the marks of these, and whether they were in time.
    pub over: Vec<(u32, u32, bool)>,
    /// Marks of packets that were lost.
    pub lost: Vec<u32>,
    /// Time-codes and interrupts that were made or taken.
    pub codes: Vec<Code>,
    /// Packets that ask for the buses of their terminals' hosts.
    pub at_bus: Vec<Asking>,
}

impl News {
    /// Whether there is nothing for sources and measurements.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.deliveries.is_empty() && self.asking.is_empty() && self.codes.is_empty()
    }

    /// Whether there is anything that programs have to be told.
    #[inline]
    pub fn is_for_programs(&self) -> bool {
        let Self { deliveries, asking, heads, over, lost, at_bus, codes: _ } = self;
        let told = deliveries.len() + asking.len() + heads.len() + over.len() + lost.len() + at_bus.len();
        told > 0
    }
}

/// A network of any kind. The loop is compiled for each.
pub(super) trait Network {
    /// The arrays it was made from.
    fn fabric(&self) -> &Fabric;

    /// The tick of the next event, if there is one.
    fn next(&mut self) -> Option<Time>;

    /// All that happens in the next tick before anything is decided; the number of events.
    fn happen(&mut self, now: Time, news: &mut News) -> u64;

    /// Goes on to a tick in which nothing happens by itself.
    fn go_to(&mut self, now: Time);

    /// A packet that asked for its host's bus has gone over it.
    fn off_bus(&mut self, terminal: u32, held: u32);

    /// Takes a packet from its source; true if another one can follow at once.
    fn dispatch(&mut self, terminal: u32, packet: &Packet) -> bool;

    /// Has a terminal be asked at a later tick.
    fn schedule_source(&mut self, terminal: u32, time: Time);

    /// All that is decided in the tick.
    fn decide(&mut self, now: Time) -> Result<(), RunError>;

    /// Links that wait for each other in a circle; empty if nothing is deadlocked.
    fn deadlock(&self) -> Vec<u32>;

    /// Whether packets are sent again and again and nothing comes of it; to be asked as often as for deadlock.
    fn livelocked(&mut self) -> bool;

    /// What stands still after the last tick in which anything happened, although it could move: a mistake of the engine.
    fn standstill(&self) -> Option<Standstill>;

    /// Events beside which a search for deadlock costs little.
    fn search_events(&self) -> u64;

    /// Packets dispatched that can still be delivered.
    fn in_flight(&self) -> u64;

    /// Packets that were removed on their way because they led nowhere.
    fn scrubbed(&self) -> u64;

    /// Packets that were lost by faults.
    fn lost(&self) -> u64 {
        0
    }

    /// Packets in flight that stand at links which never run again.
    fn stranded(&self) -> u64 {
        0
    }

    /// Whether nothing is to happen but time-codes and interrupts, and faults while no packet is there.
    fn is_idle(&self) -> bool {
        false
    }

    /// Starts counting anew.
    fn clear_counts(&mut self);
}

impl Network for Worms {
    #[inline]
    fn fabric(&self) -> &Fabric {
        self.fabric()
    }

    #[inline]
    fn next(&mut self) -> Option<Time> {
        self.wheel.peek()
    }

    #[inline(always)]
    fn happen(&mut self, now: Time, news: &mut News) -> u64 {
        self.wheel.go_to(now);
        let mut count = 0;
        while let Some(event) = self.wheel.pop() {
            count += 1;
            match Event::of(event) {
                Event::Request(link) => self.request(link),
                event => handle(self, event, now, news),
            }
        }
        self.heads(&mut news.asking, &mut news.heads);
        count
    }

    fn go_to(&mut self, _now: Time) {}

    fn off_bus(&mut self, _terminal: u32, _held: u32) {}

    #[inline]
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

    fn livelocked(&mut self) -> bool {
        false
    }

    fn standstill(&self) -> Option<Standstill> {
        standstill(self, self.wheel.now())
    }

    fn search_events(&self) -> u64 {
        16 * self.fabric().links() as u64
    }

    fn in_flight(&self) -> u64 {
        self.in_flight()
    }

    fn scrubbed(&self) -> u64 {
        0
    }

    fn clear_counts(&mut self) {
        self.clear_counts();
    }
}

/// What happens in a network of worms besides requests. Apart, for most events are requests: told by a jump that is mostly
/// not taken, rather than by a table.
#[inline(never)]
fn handle(worms: &mut Worms, event: Event, now: Time, news: &mut News) {
    match event {
        Event::Request(link) => worms.request(link),
        Event::Release(link) => worms.release(link),
        Event::Deliver(link) => {
            let PacketState { source, target, length, created, started, mark } = worms.deliver(link);
            let delivered = now;
            news.deliveries.push(Delivery { source, target, length, created, started, delivered, mark });
        }
        Event::Source(number) => {
            if !worms.happens_outside(number) {
                news.asking.push(number);
            }
        }
    }
}

impl Network for Lanes {
    #[inline]
    fn fabric(&self) -> &Fabric {
        self.fabric()
    }

    #[inline]
    fn next(&mut self) -> Option<Time> {
        Lanes::next(self)
    }

    fn happen(&mut self, now: Time, news: &mut News) -> u64 {
        self.go_to_next(now);
        let mut count = self.fail(&mut news.asking) + self.pass_codes(&mut news.codes);
        while let Some(event) = self.pop() {
            count += 1;
            match event {
                lanes::Event::Request(queue) => self.request(queue),
                lanes::Event::Release(lane) => self.release(lane),
                lanes::Event::Source(terminal) => news.asking.push(terminal),
                lanes::Event::Head(lane) => news.heads.extend(self.head(lane)),
                lanes::Event::Deliver(lane) => {
                    let Some(packet) = self.deliver(lane) else { continue };
                    let lanes::Packet { source, target, length, created, started, mark, .. } = packet;
                    let delivered = now;
                    let delivery = Delivery { source, target, length, created, started, delivered, mark };
                    news.deliveries.push(delivery);
                }
                lanes::Event::Cross(link) => self.note_crossing(link),
                lanes::Event::Wire(link) => self.note_start(link),
                lanes::Event::Watch(queue) => self.note_watch(queue),
            }
        }
        self.watch_all();
        self.lost_marks(&mut news.lost);
        count
    }

    fn go_to(&mut self, now: Time) {
        Lanes::go_to(self, now);
    }

    fn off_bus(&mut self, _terminal: u32, _held: u32) {}

    fn dispatch(&mut self, terminal: u32, packet: &Packet) -> bool {
        Lanes::dispatch(self, terminal, packet);
        false
    }

    fn schedule_source(&mut self, terminal: u32, time: Time) {
        self.schedule(lanes::Event::Source(terminal), time);
    }

    fn decide(&mut self, _now: Time) -> Result<(), RunError> {
        Lanes::decide(self).map_err(|(switch, class)| RunError::NoRoute { switch, class })
    }

    fn deadlock(&self) -> Vec<u32> {
        lanes::deadlock(self)
    }

    fn livelocked(&mut self) -> bool {
        false
    }

    fn standstill(&self) -> Option<Standstill> {
        None
    }

    fn search_events(&self) -> u64 {
        64 * self.fabric().all_lanes() as u64
    }

    fn in_flight(&self) -> u64 {
        self.in_flight()
    }

    fn scrubbed(&self) -> u64 {
        0
    }

    fn lost(&self) -> u64 {
        Lanes::lost(self)
    }

    fn stranded(&self) -> u64 {
        Lanes::stranded(self)
    }

    fn is_idle(&self) -> bool {
        Lanes::is_idle(self)
    }

    fn clear_counts(&mut self) {
        self.clear_counts();
    }
}

/// Takes what a network of rings has for others.
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
    fn happen(&mut self, now: Time, news: &mut News) -> u64 {
        let count = self.happen(now);
        if !self.is_quiet() {
            tell(self, news);
        }
        count
    }

    fn go_to(&mut self, now: Time) {
        self.go_to(now);
    }

    fn off_bus(&mut self, terminal: u32, held: u32) {
        self.off_bus(terminal, held);
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

    fn standstill(&self) -> Option<Standstill> {
        None
    }

    fn search_events(&self) -> u64 {
        16 * self.fabric().links() as u64
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

    fn stranded(&self) -> u64 {
        self.stranded()
    }

    fn clear_counts(&mut self) {
        self.clear_counts();
    }
}
