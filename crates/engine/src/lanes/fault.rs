//! Links that fail: packets that are cut, spilled and discarded.
//!
//! The model is the section on faults of `docs/background/wormhole-model.md`. A cut shortens a packet from there on:
//! the lengths known to the following links and buffers are corrected immediately, and the arrival of the error end is
//! recorded in advance.

use super::buffers::{Credit, Places};
use super::link::Link;
use super::parts::Outgoing;
use super::state::{Network, UNKNOWN};
use crate::fabric::{Fabric, NEVER, NONE, fault_kind};
use crate::kernel::Time;
use crate::links::losses::{Losses, Lost};
use crate::measure::{Hop, hop_kind};
use crate::terminal::program::mark;

/// What happens to a link at a tick that is known from the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultEvent {
    /// It runs again after `Down`.
    Up,
    /// Its terminal accepts characters again after `Stuck`.
    Free,
    /// It fails; packets of which a part has arrived end at tick `ended`.
    Down { ended: Time, for_good: bool },
    /// Its terminal accepts nothing.
    Stuck { for_good: bool },
    /// It starts nothing before tick `until`, and from then on at another rate.
    Rate { until: Time, ticks: Time },
    /// The next character that starts is wrong, if it does before tick `until`; it may be sent again.
    Wrong { until: Time, again: bool },
    /// Tables are replaced.
    Table,
}

/// The future events and the losses so far.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    /// In descending order: the last one is the next.
    events: Vec<(Time, FaultEvent, u32)>,
    /// Per link: whether it never runs again.
    for_good: Vec<bool>,
    /// Lost packets of which something is still under way.
    pub remains: u64,
    pub lost: Lost,
}

impl Faults {
    pub fn new(fabric: &Fabric) -> Self {
        let mut events = Vec::new();
        for (row, &link) in fabric.fault_link.iter().enumerate() {
            let ended = fabric.fault_ended_ticks[row] as Time;
            let for_good = fabric.fault_up_ticks[row] == NEVER;
            let up = fabric.fault_up_ticks[row] as Time;
            let (fails, runs) = match fabric.fault_kind[row] {
                fault_kind::LINK => (FaultEvent::Down { ended, for_good }, Some(FaultEvent::Up)),
                fault_kind::STUCK => (FaultEvent::Stuck { for_good }, Some(FaultEvent::Free)),
                fault_kind::RATE => {
                    let ticks = fabric.fault_character_ticks[row].into();
                    (FaultEvent::Rate { until: up, ticks }, None)
                }
                kind => (FaultEvent::Wrong { until: up, again: kind == fault_kind::REPLAY }, None),
            };
            events.push((fabric.fault_down_ticks[row] as Time, fails, link));
            events.extend(runs.filter(|_| !for_good).map(|runs| (up, runs, link)));
        }
        events.extend(fabric.table_ticks.iter().map(|&tick| (tick as Time, FaultEvent::Table, NONE)));
        // In a tick, links are repaired before others fail.
        events.sort_unstable_by_key(|&(time, event, link)| {
            std::cmp::Reverse((time, !matches!(event, FaultEvent::Up | FaultEvent::Free), link))
        });
        Self { events, for_good: vec![false; fabric.links()], remains: 0, lost: Lost::new(fabric, mark::row) }
    }

    /// Returns the tick of the next event.
    pub fn next(&self) -> Option<Time> {
        self.events.last().map(|next| next.0)
    }

    pub fn clear_counts(&mut self) {
        self.lost.on_links.fill(Losses::default());
    }
}

impl Network {
    /// Handles the events of links in this tick, before all others; returns their number. Collects the terminals whose
    /// packets were cut while they sent them.
    pub fn fail(&mut self, asking: &mut Vec<u32>) -> u64 {
        let mut count = 0;
        while let Some((_, event, link)) = self.faults.events.pop_if(|next| next.0 == self.agenda.now) {
            count += 1;
            match event {
                FaultEvent::Down { ended, for_good } => {
                    self.faults.for_good[link as usize] = for_good;
                    self.go_down(link, ended, asking);
                }
                FaultEvent::Up => self.go_up(link),
                FaultEvent::Stuck { for_good } => {
                    self.faults.for_good[link as usize] = for_good;
                    self.links[link as usize].stuck = true;
                    self.open_all(link);
                }
                FaultEvent::Rate { until, ticks } => self.change_rate(link, until, ticks),
                FaultEvent::Wrong { until, again } => {
                    let at = &mut self.links[link as usize];
                    (at.wrong_until, at.repeats) = (until, again);
                }
                FaultEvent::Table => {}
                FaultEvent::Free => {
                    self.links[link as usize].stuck = false;
                    self.open_all(link);
                    self.agenda.wake_wire(&mut self.links[link as usize], self.agenda.now);
                }
            }
        }
        count
    }

    /// Returns the packets that are lost.
    pub fn lost(&self) -> &Lost {
        &self.faults.lost
    }

    /// Takes the marks of lost packets, if programs need them.
    pub fn lost_marks(&mut self, marks: &mut Vec<u32>) {
        self.faults.lost.take_marks(marks);
    }

    /// Whether packets are in a network of which a link starts nothing any more.
    pub fn is_stopped(&self) -> bool {
        let stops = |(at, &for_good): (&Link, &bool)| at.stuck && for_good;
        self.in_flight() > 0 && self.links.iter().zip(&self.faults.for_good).any(stops)
    }

    /// Returns the packets of terminals whose links never run again.
    pub fn stranded(&self) -> u64 {
        let links = (0..).zip(&self.links);
        let stranded = links.filter(|&(link, at)| at.dispatched != NONE && self.is_lost_for_good(link));
        stranded.count() as u64
    }

    fn is_lost_for_good(&self, link: u32) -> bool {
        self.links[link as usize].down && self.faults.for_good[link as usize]
    }

    pub(super) fn is_down(&self, lane: u32) -> bool {
        self.links[self.fabric.link_of(lane) as usize].down
    }

    pub(super) fn is_down_for_good(&self, lane: u32) -> bool {
        self.is_lost_for_good(self.fabric.link_of(lane))
    }

    /// Whether a lane of a group works.
    pub(super) fn runs(&self, group: u32) -> bool {
        self.fabric.group(group).iter().any(|&lane| !self.is_down(lane))
    }

    fn go_down(&mut self, link: u32, ended: Time, asking: &mut Vec<u32>) {
        let at = &mut self.links[link as usize];
        at.down = true;
        at.leaves_packet(0);
        self.drop_frame(link);
        self.lose_codes(link);
        self.forget_pauses(link);
        for lane in self.fabric.lanes_of(link) {
            let mut hit = self.empty_sender(lane, asking);
            if self.links[link as usize].to_terminal {
                self.empty_wire_to_terminal(lane, &mut hit);
            } else {
                self.cut_arrivals(lane, ended, &mut hit);
            }
            for packet in hit {
                self.lose(packet, |losses| &mut losses.cut, link);
                self.piece_gone(packet);
            }
        }
        for lane in self.fabric.lanes_of(link) {
            for place in 0..self.groups_of[lane as usize].len() {
                self.discard_waiting(self.groups_of[lane as usize][place]);
            }
        }
    }

    /// Removes the packets before the wire of a lane, with its credit; returns the packets.
    fn empty_sender(&mut self, lane: u32, asking: &mut Vec<u32>) -> Vec<u32> {
        let link = self.fabric.link_of(lane);
        let at = &mut self.lanes[lane as usize];
        let outgoing = std::mem::take(&mut at.outgoing);
        at.ready.clear();
        if self.links[link as usize].dispatched != NONE && self.fabric.sending_lanes(link).contains(&lane) {
            at.ready.push(0);
        }
        at.places = Places::new(self.fabric.link_output_buffer[link as usize]);
        at.credit = Credit::new(0);
        let holder = at.holder;
        self.set_start(lane, UNKNOWN);
        if holder != NONE && self.queues[holder as usize].output == lane {
            self.set_holder(lane, NONE);
            let packet = self.queues[holder as usize].front().packet;
            self.packets[packet].pieces += 1;
            self.spill(holder);
        }
        for sent in &outgoing {
            if self.links[link as usize].from_terminal {
                asking.push(self.packets[sent.packet].delivery.source);
            }
            if self.hops.limit > 0 && sent.sent > 0 {
                let hop = self.hop(link, sent, self.agenda.now);
                self.hops.record(hop);
            }
        }
        outgoing.iter().map(|&Outgoing { packet, .. }| packet).collect()
    }

    /// Removes the packets on the wire to a terminal.
    fn empty_wire_to_terminal(&mut self, lane: u32, hit: &mut Vec<u32>) {
        let (now, at) = (self.agenda.now, &mut self.lanes[lane as usize]);
        while at.heads.pop_back_if(|head| head.0 >= now).is_some() {}
        while let Some((_, packet)) = at.ends.pop_back_if(|end| end.0 >= now) {
            hit.push(packet);
        }
    }

    /// Ends the packets that have arrived only in part on a lane into a switch.
    fn cut_arrivals(&mut self, lane: u32, ended: Time, hit: &mut Vec<u32>) {
        self.lanes[lane as usize].receiving = NONE;
        for queue in self.queues_of(lane) {
            while self.cut_last(queue, ended, hit) {}
        }
    }

    /// Returns the queues of a lane.
    pub(super) fn queues_of(&self, lane: u32) -> std::ops::Range<u32> {
        let first = |lane: usize| self.lanes.get(lane).map_or(self.queues.len() as u32, |at| at.first_queue);
        first(lane as usize)..first(lane as usize + 1)
    }

    /// Cuts the last packet of a queue if not all of it has arrived; returns whether the previous one may be cut too.
    fn cut_last(&mut self, queue: u32, ended: Time, hit: &mut Vec<u32>) -> bool {
        if self.congestion.is_some() {
            self.give_up_truncated(queue);
        }
        let at = &mut self.queues[queue as usize];
        let (first, begun) = (at.packets.len() == 1, at.output != NONE || at.spills);
        let Some(last) = at.packets.back().copied() else { return false };
        let mut sent = at.sent_of_last();
        if sent == last.left && at.arrivals.last().is_some_and(|time| time < self.agenda.now) {
            return false;
        }
        while sent > 0 && at.arrivals.last().is_some_and(|time| time >= self.agenda.now) {
            at.arrivals.pop_last();
            sent -= 1;
        }
        if !hit.contains(&last.packet) {
            hit.push(last.packet);
        }
        if first && last.readable >= self.agenda.now {
            (at.asked, at.asks_at) = (false, UNKNOWN);
        }
        if sent == 0 && first {
            at.crosses_at = UNKNOWN;
        }
        if sent == 0 && !(first && begun) {
            at.packets.pop_back();
            return true;
        }
        self.end_early(queue, ended);
        false
    }

    /// Ends the last packet of a queue with an error end.
    fn end_early(&mut self, queue: u32, ended: Time) {
        let at = &mut self.queues[queue as usize];
        let (first, begun) = (at.packets.len() == 1, at.output != NONE || at.spills);
        let sent = at.sent_of_last();
        at.arrivals.push(ended);
        let lane = at.lane;
        let last = at.last_mut();
        let missing = last.left - sent - 1;
        (last.left, last.length) = (last.left - missing, last.length - missing);
        let length = last.length;
        let (is_next, asks) = (sent == 0, last.readable >= self.agenda.now);
        if asks {
            last.readable = ended;
        }
        self.packets[last.packet].pieces += 1;
        self.will_store(lane, ended, length);
        if first && asks {
            self.ask(queue);
        }
        if first && begun {
            self.shorten(queue, missing);
            if is_next {
                self.may_move(queue);
            }
        }
    }

    /// Corrects the length of the packet at the front of a queue in the following links and buffers.
    pub(super) fn shorten(&mut self, queue: u32, missing: u32) {
        let mut queue = queue;
        while self.queues[queue as usize].output != NONE {
            let output = self.queues[queue as usize].output;
            let to = &mut self.lanes[output as usize];
            let sent = to.outgoing.back_mut().expect("the packet that holds the lane");
            sent.length -= missing;
            let (sent, next) = (sent.sent, to.receiving);
            if sent == 0 || self.links[self.fabric.link_of(output) as usize].to_terminal {
                return;
            }
            let at = &mut self.queues[next as usize];
            let last = at.last_mut();
            (last.left, last.length) = (last.left - missing, last.length - missing);
            if at.packets.len() > 1 {
                return;
            }
            queue = next;
        }
    }

    fn go_up(&mut self, link: u32) {
        self.links[link as usize].down = false;
        let to_terminal = self.links[link as usize].to_terminal;
        let (quantum, buffer) =
            (self.fabric.link_quantum[link as usize], self.fabric.link_input_buffer[link as usize]);
        for lane in self.fabric.lanes_of(link) {
            let queues = self.queues_of(lane).map(|queue| &self.queues[queue as usize]);
            let standing = queues.map(|queue| queue.arrivals.len()).sum::<u32>();
            let promised = buffer.saturating_sub(standing) / quantum * quantum;
            let at = &mut self.lanes[lane as usize];
            let credit = if to_terminal { u32::MAX } else { promised };
            (at.credit, at.owed) = (Credit::new(credit), standing + promised);
            self.may_start(lane);
            for place in 0..self.groups_of[lane as usize].len() {
                self.touch(self.groups_of[lane as usize][place]);
            }
        }
        self.renew_pauses(link);
        self.agenda.wake_wire(&mut self.links[link as usize], self.agenda.now);
    }

    /// Discards the heads that wait for a group without a working link.
    fn discard_waiting(&mut self, group: u32) {
        if !self.runs(group) {
            for (_, queue) in std::mem::take(&mut self.groups[group as usize].waiting) {
                self.discard(queue);
            }
        }
    }

    /// Discards the packet at the front of a queue, because no link for it works.
    pub(super) fn discard(&mut self, queue: u32) {
        let at = &self.queues[queue as usize];
        let (lane, packet) = (at.lane, at.front().packet);
        self.lose(packet, |losses| &mut losses.discarded, self.fabric.link_of(lane));
        self.give_up(lane, packet, self.agenda.now);
        self.spill(queue);
    }

    /// Spills the packet at the front of a queue, including what arrives later.
    pub(super) fn spill(&mut self, queue: u32) {
        let at = &mut self.queues[queue as usize];
        let output = std::mem::replace(&mut at.output, NONE);
        (at.awaits, at.delete, at.spills) = (NONE, 0, true);
        let link = self.fabric.link_of(at.lane);
        if output != NONE {
            let to = &mut self.links[self.fabric.link_of(output) as usize].port;
            to.enters_amid &= to.entered != output;
        }
        let port = &mut self.links[link as usize].port;
        port.amid &= port.last != queue;
        port.crossing.retain(|&other| other != queue);
        port.spilling.push(queue);
        self.queues[queue as usize].crosses_at = UNKNOWN;
        self.agenda.wake_port(&mut self.links[link as usize], self.agenda.now);
    }

    /// Spills the arrived characters of spilled packets on a link; returns when more of them arrive, as far as that is
    /// known.
    pub(super) fn spill_all(&mut self, link: u32) -> Time {
        let (mut next, mut place) = (UNKNOWN, 0);
        while let Some(&queue) = self.links[link as usize].port.spilling.get(place) {
            let lane = self.queues[queue as usize].lane;
            let at = &mut self.queues[queue as usize];
            let (mut count, left) = (0, at.front().left);
            while count < left && at.arrivals.first() <= self.agenda.now {
                at.arrivals.pop();
                count += 1;
            }
            let left = left - count;
            at.front_mut().left = left;
            let more = at.arrivals.first();
            (0..count).for_each(|_| self.give_back(link, lane, self.agenda.now));
            if left > 0 {
                next = next.min(more);
                place += 1;
            } else {
                self.spilled(link, queue);
            }
        }
        next
    }

    /// Ends the spilling of a packet whose end has arrived.
    fn spilled(&mut self, link: u32, queue: u32) {
        let at = &mut self.queues[queue as usize];
        at.spills = false;
        let packet = at.packets.pop_front().expect("the packet that was spilled");
        let lane = at.lane;
        self.piece_gone(packet.packet);
        self.will_leave(lane, self.agenda.now, packet.length);
        self.links[link as usize].port.spilling.retain(|&other| other != queue);
        self.next_head(self.fabric.link_target[link as usize] as usize, queue, self.agenda.now);
    }

    /// Counts a packet as lost on a link, unless it is counted already.
    pub(super) fn lose(&mut self, packet: u32, count: fn(&mut Losses) -> &mut u64, link: u32) {
        let at = &mut self.packets[packet];
        if !std::mem::replace(&mut at.lost, true) {
            let hop = Hop::of(&at.delivery, link, self.agenda.now, self.agenda.now, hop_kind::LOST);
            self.faults.remains += 1;
            self.faults.lost.add(at.delivery.mark, count, hop, &mut self.hops);
        }
    }

    /// Forgets a piece of a lost packet.
    pub(super) fn piece_gone(&mut self, packet: u32) {
        let at = &mut self.packets[packet];
        at.pieces -= 1;
        if at.pieces == 0 {
            self.packets.remove(packet);
            self.faults.remains -= 1;
            self.may_stop_watching();
        }
    }
}
