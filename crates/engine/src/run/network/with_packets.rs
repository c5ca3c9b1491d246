//! A network whose packets pass whole, in the loop.

use super::{Happened, Network, News};
use crate::cut_through::{Event, Network as Packets, deadlock};
use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::links::losses::Lost;
use crate::measure::{Hops, LinkCounts};
use crate::run::RunError;
use crate::terminal::Packet;

impl Network for Packets {
    #[inline]
    fn fabric(&self) -> &Fabric {
        self.fabric()
    }

    #[inline]
    fn next(&mut self) -> Option<Time> {
        Packets::next(self)
    }

    #[inline(always)]
    fn happen(&mut self, now: Time, news: &mut News) -> Happened {
        self.go_to_next(now);
        let mut count = if self.next_outage() == now { self.fail(&mut news.asking) } else { 0 };
        while let Some(event) = self.pop() {
            count += 1;
            match event {
                Event::Arrive(stay) => self.admit(stay),
                Event::Request(stay) => self.request(stay),
                Event::Release(lane) => self.release(lane),
                Event::Deliver(stay) => news.deliveries.extend(self.deliver(stay)),
                Event::Head(stay) => news.heads.extend(self.head(stay)),
                Event::Source(port) if !self.void.is_empty() && self.is_void(port) => {}
                Event::Source(port) => match self.rests_until(port) {
                    Some(time) => self.schedule_source(port, time),
                    None => news.asking.push(port),
                },
                Event::Wire(link) => self.note_start(link),
                Event::Memory(switch) => self.look_at_memory(switch),
            }
        }
        self.take_in();
        if news.deliveries.len() > 1 {
            // An order that does not depend on when they were computed.
            news.deliveries.sort_unstable_by_key(|one| (one.target, one.source, one.number));
        }
        self.lost_marks(&mut news.lost);
        Happened { events: count, is_quiet: news.is_quiet() }
    }

    fn go_to(&mut self, now: Time) {
        Packets::go_to(self, now);
    }

    #[inline(always)]
    fn dispatch(&mut self, terminal: u32, packet: &Packet) -> bool {
        Packets::dispatch(self, terminal, packet);
        false
    }

    fn occupied(&self, lane: u32) -> u64 {
        Packets::occupied(self, lane)
    }

    fn waiting(&self, group: u32) -> u64 {
        Packets::waiting(self, group)
    }

    fn schedule_source(&mut self, terminal: u32, time: Time) {
        self.schedule(Event::Source(terminal), time);
    }

    #[inline]
    fn decide(&mut self, _now: Time) -> Result<(), RunError> {
        Packets::decide(self).map_err(|(switch, class)| RunError::NoRoute { switch, class })
    }

    fn deadlock(&self) -> Vec<u32> {
        deadlock(self)
    }

    fn search_events(&self) -> u64 {
        16 * self.fabric().all_lanes() as u64
    }

    fn in_flight(&self) -> u64 {
        self.in_flight()
    }

    fn all_lost(&self) -> Option<&Lost> {
        Some(Packets::lost(self))
    }

    fn stranded(&self) -> u64 {
        Packets::stranded(self)
    }

    fn is_idle(&self) -> bool {
        Packets::is_idle(self)
    }

    fn packet_hops(&self) -> u64 {
        self.grants
    }

    fn extensions(&self) -> u64 {
        self.starts
    }

    fn hops(&self) -> &Hops {
        &self.hops
    }

    fn counts(&self) -> Vec<LinkCounts> {
        self.counts().collect()
    }

    fn lane_ticks(&self) -> Vec<u64> {
        Packets::lane_ticks(self)
    }

    fn clear_counts(&mut self, start: Time) {
        self.clear_counts(start);
    }

    fn look_at(&mut self, time: Time) {
        Packets::look_at(self, time);
    }
}
