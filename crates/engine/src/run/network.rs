//! The two kinds of network as the event loop sees them.

use super::RunError;
use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::measure::Delivery;
use crate::ring::{Rings, deadlock as ring_deadlock};
use crate::terminal::Packet;
use crate::wormhole::{Event, Network as Worms, PacketState, deadlock};

/// What a tick brought.
#[derive(Clone, Debug, Default)]
pub(super) struct News {
    /// Packets delivered.
    pub deliveries: Vec<Delivery>,
    /// Terminals that can dispatch a packet.
    pub asking: Vec<u32>,
}

/// A network of either kind. The loop is compiled for each.
pub(super) trait Network {
    /// The arrays it was made from.
    fn fabric(&self) -> &Fabric;

    /// The tick of the next event, if there is one.
    fn next(&mut self) -> Option<Time>;

    /// All that happens in the next tick before anything is decided; the number of events.
    fn happen(&mut self, now: Time, news: &mut News) -> u64;

    /// Takes a packet from its source; true if another one can follow at once.
    fn dispatch(&mut self, terminal: u32, packet: &Packet) -> bool;

    /// Has a terminal be asked at a later tick.
    fn schedule_source(&mut self, terminal: u32, time: Time);

    /// All that is decided in the tick.
    fn decide(&mut self, now: Time) -> Result<(), RunError>;

    /// Links that wait for each other in a circle; empty if nothing is deadlocked.
    fn deadlock(&self) -> Vec<u32>;

    /// Events beside which a search for deadlock costs little.
    fn search_events(&self) -> u64;

    /// Packets dispatched that can still be delivered.
    fn in_flight(&self) -> u64;

    /// Packets that were lost on their way.
    fn scrubbed(&self) -> u64;

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

    #[inline]
    fn happen(&mut self, now: Time, news: &mut News) -> u64 {
        self.wheel.go_to(now);
        let mut count = 0;
        while let Some(event) = self.wheel.pop() {
            count += 1;
            match Event::of(event) {
                Event::Request(link) => self.request(link),
                Event::Release(link) => self.release(link),
                Event::Deliver(link) => {
                    let PacketState { source, target, length, created, started, .. } = self.deliver(link);
                    let delivered = now;
                    news.deliveries.push(Delivery { source, target, length, created, started, delivered });
                }
                Event::Source(terminal) => news.asking.push(terminal),
            }
        }
        count
    }

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

    fn search_events(&self) -> u64 {
        0
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

impl Network for Rings {
    #[inline]
    fn fabric(&self) -> &Fabric {
        self.fabric()
    }

    #[inline]
    fn next(&mut self) -> Option<Time> {
        self.next_tick()
    }

    #[inline]
    fn happen(&mut self, now: Time, news: &mut News) -> u64 {
        let count = self.happen(now);
        if !self.delivered.is_empty() {
            news.deliveries.append(&mut self.delivered);
        }
        if !self.asking.is_empty() {
            news.asking.append(&mut self.asking);
        }
        count
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

    fn search_events(&self) -> u64 {
        16 * self.fabric().links() as u64
    }

    fn in_flight(&self) -> u64 {
        self.in_flight
    }

    fn scrubbed(&self) -> u64 {
        self.scrubbed
    }

    fn clear_counts(&mut self) {
        self.clear_counts();
    }
}
