//! A network of links with several lanes, in the loop.

use super::{Happened, Network, News};
use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::lanes::{self, Network as Lanes};
use crate::links::losses::Lost;
use crate::measure::{CodeCounts, Hop, Hops, LinkCounts};
use crate::run::RunError;
use crate::terminal::Packet;

impl Network for Lanes {
    #[inline]
    fn fabric(&self) -> &Fabric {
        self.fabric()
    }

    #[inline]
    fn next(&mut self) -> Option<Time> {
        Lanes::next(self)
    }

    fn happen(&mut self, now: Time, news: &mut News) -> Happened {
        let mut count = self.go_to_next(now)
            + self.fail(&mut news.asking)
            + self.pass_codes(&mut news.codes)
            + self.hear();
        while let Some(event) = self.pop() {
            count += 1;
            match event {
                lanes::Event::Request(queue) => self.request(queue),
                lanes::Event::Release(lane) => self.release(lane),
                lanes::Event::Source(port) => match self.rests_until(port) {
                    Some(time) => self.schedule(lanes::Event::Source(port), time),
                    None => news.asking.push(port),
                },
                lanes::Event::Head(lane) => news.heads.extend(self.head(lane)),
                lanes::Event::Deliver(lane) => news.deliveries.extend(self.deliver(lane)),
                lanes::Event::Cross(link) => self.note_crossing(link),
                lanes::Event::Wire(link) => self.note_start(link),
            }
        }
        // An order that does not depend on when they were computed.
        news.deliveries.sort_unstable_by_key(|one| (one.target, one.source, one.number));
        count += self.watch_all();
        self.lost_marks(&mut news.lost);
        Happened { events: count, is_quiet: news.is_quiet() }
    }

    fn go_to(&mut self, now: Time) {
        Lanes::go_to(self, now);
    }

    fn dispatch(&mut self, terminal: u32, packet: &Packet) -> bool {
        Lanes::dispatch(self, terminal, packet);
        false
    }

    fn occupied(&self, lane: u32) -> u64 {
        Lanes::occupied(self, lane)
    }

    fn waiting(&self, group: u32) -> u64 {
        Lanes::waiting(self, group)
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

    fn search_events(&self) -> u64 {
        self.search_events()
    }

    fn in_flight(&self) -> u64 {
        self.in_flight()
    }

    fn all_lost(&self) -> Option<&Lost> {
        Some(Lanes::lost(self))
    }

    fn stranded(&self) -> u64 {
        Lanes::stranded(self)
    }

    fn is_stopped(&self) -> bool {
        Lanes::is_stopped(self)
    }

    fn is_idle(&self) -> bool {
        Lanes::is_idle(self)
    }

    fn packet_hops(&self) -> u64 {
        self.grants
    }

    fn extensions(&self) -> u64 {
        self.characters
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

    fn lane_ticks(&self) -> Vec<u64> {
        Lanes::lane_ticks(self)
    }

    fn clear_counts(&mut self, start: Time) {
        self.clear_counts(start);
    }

    fn look_at(&mut self, time: Time) {
        Lanes::look_at(self, time);
    }
}
