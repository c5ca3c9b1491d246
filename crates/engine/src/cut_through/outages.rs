//! Links that fail and run again, packets that are cut, spilled and discarded; and links that stop between two packets.
//!
//! Nothing that has started is known to start later than it does but the end of a packet: so a cut gives a packet a new
//! end, an error end that may come at any time, on each link on which it is already; and all that is known of it in
//! advance is corrected.

use super::parts::{Event, Sent, Stay};
use super::state::{Network, Packet, UNKNOWN};
use crate::fabric::NONE;
use crate::kernel::Time;
use crate::kernel::slab::Slab;
use crate::links::losses::Losses;
use crate::links::outages::{Change, Down};
use crate::measure::{Hop, hop_kind};

/// A link before it failed: when its wire would have been free, and each of its lanes.
#[derive(Clone, Debug)]
pub(super) struct Was {
    wire: Time,
    lanes: Vec<Time>,
}

impl Network {
    /// Handles failures and repairs in this tick, before all other events; returns their number. Collects the terminals
    /// whose packets were cut while they sent them. After something that is not computed here, the network goes on as it
    /// is up to the next look, in vain.
    #[cold]
    pub fn fail(&mut self, asking: &mut Vec<u32>) -> u64 {
        let mut count = 0;
        while let Some(change) = self.outages.take(self.now) {
            count += 1;
            let is_known = !self.outages.is_over()
                && match change {
                    Change::Up(link) => self.go_up(link),
                    Change::Down(link, ended, for_good) => self.go_down(link, ended, for_good, asking),
                    Change::Stop(link, until) => self.stop(link, until),
                    Change::Table => true,
                    Change::Other => false,
                };
            if !is_known {
                self.outages.give_up();
            }
        }
        count
    }

    /// Returns the tick of the next failure or repair, or [`Time::MAX`].
    #[inline(always)]
    pub fn next_outage(&self) -> Time {
        self.outages.next()
    }

    /// Whether links fail, so that the run may have to begin again.
    pub fn may_fail(&self) -> bool {
        self.outages.is_any()
    }

    /// Whether something has happened because of failures that is not computed here.
    pub fn has_failed(&self) -> bool {
        self.outages.is_over()
    }

    /// Whether only failures without packets are still to happen.
    pub fn is_idle(&self) -> bool {
        self.wheel.peek().is_none() && self.in_flight() == 0
    }

    /// Returns the packets of terminals whose links never run again.
    pub fn stranded(&self) -> u64 {
        let links = (0..).zip(&self.links).filter(|(_, at)| at.dispatched != NONE);
        links.filter(|&(link, _)| self.outages.is_down_for_good(link)).count() as u64
    }

    /// Whether a lane of a group is of a link that runs.
    fn runs(&self, group: u32) -> bool {
        let link = |&lane: &u32| &self.links[self.lanes[lane as usize].link as usize];
        self.fabric.group(group).iter().any(|lane| link(lane).free_at < UNKNOWN)
    }

    /// Takes a link out of its groups. What is on its wire and before it is lost.
    fn go_down(&mut self, link: u32, ended: Time, for_good: bool, asking: &mut Vec<u32>) -> bool {
        let lanes = self.fabric.lanes_of(link);
        let is_hit = |&stay: &u32| lanes.contains(&self.stays[stay].lane) && !self.is_there(stay);
        let mut hit: Vec<u32> = self.stays.numbers().filter(is_hit).collect();
        hit.sort_unstable_by_key(|&stay| (self.stays[stay].lane, self.stays[stay].number));
        let holds = |at: &Stay| lanes.contains(&at.out.lane) && at.left >= self.now && !at.spills;
        let holders: Vec<u32> = self.stays.numbers().filter(|&stay| holds(&self.stays[stay])).collect();
        if self.fabric.has_pause() && hit.len() + holders.len() > 0 {
            // What a buffer holds decides when its sender goes on.
            return false;
        }
        for &stay in &hit {
            let Stay { packet, start, .. } = self.stays[stay];
            self.lose(packet, |losses| &mut losses.cut, link);
            if start < UNKNOWN && self.end_of(stay) >= self.now {
                let end = self.end_of(stay);
                let source = self.packets[packet].delivery.source;
                if self.fabric.terminal_out_link[source as usize] == link {
                    asking.push(source);
                    self.void.push((source, end + Time::from(self.kind(link).character)));
                    self.congestion.iter_mut().for_each(|at| at.sends(source, self.now, 0));
                }
                self.cut_wire(stay);
                self.correct_hop(link, start, self.now);
            }
        }
        for &stay in &holders {
            let Stay { packet, out, .. } = self.stays[stay];
            self.packets[packet].pieces += 1;
            self.lanes[out.lane as usize].free_at = self.now;
        }
        let was = self.empty(link);
        self.outages.add(Down { link, for_good, was });
        holders.into_iter().for_each(|stay| self.spill(stay));
        for stay in hit {
            let packet = self.stays[stay].packet;
            self.cut(stay, ended);
            Self::piece_gone(&mut self.packets, packet, &mut self.remains);
        }
        for lane in lanes {
            for place in 0..self.groups.of(lane).len() {
                let group = self.groups.of(lane)[place];
                if !self.runs(group) {
                    self.groups.take_waiting(group).for_each(|stay| self.discard_head(stay));
                }
            }
        }
        true
    }

    /// Whether a packet on a lane has arrived before this tick, and has been received if that leads to a terminal.
    fn is_there(&self, stay: u32) -> bool {
        let Stay { lane, start, .. } = self.stays[stay];
        if start == UNKNOWN {
            return false;
        }
        let (kind, end) = (self.kind(self.lanes[lane as usize].link), self.end_of(stay));
        let arrival = if kind.to_terminal {
            kind.delivery(end + Time::from(kind.character))
        } else {
            kind.arrival(end)
        };
        arrival < self.now
    }

    /// Takes back the characters of the packet on a wire that have not started before this tick.
    fn cut_wire(&mut self, stay: u32) {
        let Stay { lane, number, start, length, .. } = self.stays[stay];
        let link = self.lanes[lane as usize].link;
        let character = self.kind(link).character;
        let unsent = self.unsent(&self.links[link as usize], self.now);
        let length = length - unsent;
        self.take_back(lane, number, unsent);
        self.lanes[lane as usize].sent.push_back(Sent { start, number, length, character });
        self.links[link as usize].packets -= 1;
        self.set_sent(link, start + Time::from(length) * Time::from(character));
    }

    /// Takes back what started last on a lane: a packet that is to have fewer characters, or another end.
    fn take_back(&mut self, lane: u32, number: i64, missing: u32) {
        let at = &mut self.lanes[lane as usize];
        at.started -= i64::from(missing);
        at.sent.truncate(at.sent.partition_point(|sent| sent.number < number));
        let shared = &mut self.links[at.link as usize];
        shared.stalled_ticks -= std::mem::take(&mut shared.late);
    }

    /// Corrects when a wire has sent its last packet.
    fn set_sent(&mut self, link: u32, time: Time) {
        let at = &mut self.links[link as usize];
        let held = if at.free_at > at.sent_at { at.free_at } else { 0 };
        (at.sent_at, at.free_at) = (time, time.max(held));
    }

    /// Takes all packets before the wire of a link away, with its places and credit; returns what it was before.
    fn empty(&mut self, link: u32) -> Was {
        let kind = self.kind(link);
        let (places, quantum) = (kind.output_buffer, i64::from(kind.quantum));
        let mut lanes = Vec::new();
        for lane in self.fabric.lanes_of(link) {
            self.catch_up(lane, self.now - 1);
            let at = &mut self.lanes[lane as usize];
            if let (Some(rules), Some(wire)) = (&self.rules, self.wires.get_mut(link as usize)) {
                at.charge(wire, rules, lane - self.fabric.lanes * link);
            }
            (at.first, at.coming) = (NONE, NONE);
            lanes.push(std::mem::replace(&mut at.free_at, UNKNOWN));
            // All places are free from now on, and credit is counted from the next character.
            let spare = places + (-at.started - i64::from(places)).rem_euclid(quantum) as u32;
            at.sent.push_back(Sent { start: self.now, number: at.started, length: spare, character: 0 });
            at.started += i64::from(spare);
            at.counted += i64::from(spare);
            (at.granted, at.charged) = (at.started, at.started);
        }
        let at = &mut self.links[link as usize];
        (at.waiting, at.due) = (0, UNKNOWN);
        Was { wire: std::mem::replace(&mut at.free_at, UNKNOWN), lanes }
    }

    /// Cuts a packet on a link that has failed: what has arrived at a switch goes on, with an error end.
    fn cut(&mut self, stay: u32, ended: Time) {
        let Stay { packet, lane, start, length, .. } = self.stays[stay];
        let kind = self.kind(self.lanes[lane as usize].link);
        let (arrival, character) = (Time::from(kind.arrival), Time::from(kind.character));
        if start < UNKNOWN && kind.to_terminal {
            // Its delivery is still scheduled.
            self.stays[stay].packet = NONE;
        } else if start < UNKNOWN && kind.arrival(start) < self.now {
            let count = 1
                + ((self.now - kind.arrival(start)) as u64)
                    .div_ceil(character as u64)
                    .min(u64::from(length - 1)) as u32;
            self.packets[packet].pieces += 1;
            let at = &mut self.stays[stay];
            (at.length, at.end, at.is_cut) = (count, ended - arrival, true);
            self.correct(stay, length - count);
        } else {
            self.take_from_queue(stay);
            if start < UNKNOWN {
                self.give_up(self.stays[stay]);
            }
            self.stays[stay].out.grant = UNKNOWN;
            self.stays.remove(stay);
        }
    }

    /// Takes a packet that has not begun to arrive out of its queue, with all behind it.
    fn take_from_queue(&mut self, stay: u32) {
        let Stay { lane, queue, start, .. } = self.stays[stay];
        if start == UNKNOWN {
            return;
        }
        let queue = &mut self.lanes[lane as usize].queues[queue as usize];
        if queue.first == stay {
            (queue.first, queue.last) = (NONE, NONE);
        }
        let mut at = queue.first;
        while at != NONE && self.stays[at].next != stay {
            at = self.stays[at].next;
        }
        if at != NONE {
            queue.last = at;
            self.stays[at].next = NONE;
        }
    }

    /// Corrects what follows from a packet that has been cut: when it requests or leaves, and the same on the links behind.
    fn correct(&mut self, stay: u32, missing: u32) {
        let mut all = Some(stay);
        while let Some(stay) = all {
            all = self.correct_one(stay, missing);
            // It may start its next packet later than it was known to.
            let link = self.lanes[self.stays[stay].lane as usize].link;
            self.links[link as usize].due = UNKNOWN;
            self.fabric.lanes_of(link).for_each(|lane| self.look_again(lane));
        }
    }

    /// Corrects what follows from a packet whose end on a lane has been corrected; returns its stay on the next one, if any.
    fn correct_one(&mut self, stay: u32, missing: u32) -> Option<u32> {
        let Stay { lane, queue, out, spills, start, .. } = self.stays[stay];
        let kind = self.kind(self.lanes[lane as usize].link);
        if start == UNKNOWN || kind.to_terminal {
            return None;
        }
        if spills {
            self.spill_all(stay);
            return None;
        }
        if out.lane == NONE {
            self.give_up_truncated(stay, missing);
            if out.grant < UNKNOWN {
                self.ask(stay, self.lanes[lane as usize].queues[queue as usize].front_at);
            }
            return None;
        }
        let (ready, arrival) = (self.end_crosses(stay), kind.arrival(self.end_of(stay)));
        let to = &mut self.lanes[out.lane as usize];
        let next = to.last;
        to.granted -= i64::from(missing);
        to.coming = next;
        let at = &mut self.stays[next];
        (at.length, at.is_cut, at.end, at.from) = (at.length - missing, true, ready, stay);
        if at.start < UNKNOWN {
            self.correct_start(next, missing);
        } else if at.length == 1 {
            at.crosses = at.crosses.max(arrival);
        }
        self.follow(next);
        Some(next)
    }

    /// Corrects the packet that has started last on a lane.
    fn correct_start(&mut self, stay: u32, missing: u32) {
        let Stay { lane, number, start, length, .. } = self.stays[stay];
        let link = self.lanes[lane as usize].link;
        self.take_back(lane, number, missing);
        let late = self.end_late(stay);
        self.links[link as usize].late = late;
        self.set_sent(link, start + Time::from(length) * Time::from(self.kind(link).character) + late);
        self.correct_hop(link, start, self.links[link as usize].sent_at);
    }

    /// Makes of a stay that is granted to a packet that is cut one of such a packet.
    #[cold]
    pub(super) fn grant_cut(&mut self, from: u32, to: u32) {
        let (end, whole) = (self.end_crosses(from), self.stays[from].whole - self.stays[from].out.deleted);
        let at = &mut self.stays[to];
        (at.is_cut, at.end, at.whole) = (true, end, whole);
    }

    /// Returns when the end of a packet that has an output is ready for its wire.
    fn end_crosses(&self, stay: u32) -> Time {
        let Stay { lane, length, out, .. } = self.stays[stay];
        let kind = self.kind(self.lanes[lane as usize].link);
        let forward = self.links[self.lanes[out.lane as usize].link as usize].forward;
        let crosses = out.grant + Time::from(length - 1) * Time::from(kind.crossbar);
        kind.arrival(self.end_of(stay)).max(crosses) + Time::from(forward)
    }

    /// Corrects when a wire is free after a packet whose path is kept.
    fn correct_hop(&mut self, link: u32, begin: Time, end: Time) {
        let is_it = |hop: &&mut Hop| hop.link == link && hop.begin == begin && hop.kind == hop_kind::PACKET;
        self.hops.rows.iter_mut().rev().find(is_it).into_iter().for_each(|hop| hop.end = end);
    }

    /// Whether a packet whose request is due has a route in this tick. If not, it is spilled, because it has no header or
    /// no link for it runs; or it comes to the front at another tick, because something has been cut.
    #[inline(never)]
    pub(super) fn finds_route(&mut self, stay: u32) -> bool {
        let Stay { packet, lane, class, length, entry, is_cut, spills, out, .. } = self.stays[stay];
        // An event of a stay that has been removed may come in the tick of its successor's, which is spilled then.
        if out.grant != self.now || spills {
            return false;
        }
        self.stays[stay].out.grant = UNKNOWN;
        if is_cut && length <= self.front_header(packet) {
            self.spill(stay);
            return false;
        }
        // With queues per output, its route is that of its queue.
        let switch = self.fabric.link_target[self.lanes[lane as usize].link as usize];
        let is_sorted = self.fabric.output_queues == 1 || !self.fabric.has_tables();
        let entry = if is_sorted { entry } else { self.entry((packet, class), switch, self.now) };
        self.stays[stay].entry = entry;
        let is_found = entry != NONE && self.runs(entry >> 1);
        if !is_found {
            self.discard_head(stay);
        }
        is_found
    }

    /// Discards the packet at the front of a queue, because no link for it runs.
    fn discard_head(&mut self, stay: u32) {
        let Stay { packet, lane, .. } = self.stays[stay];
        self.lose(packet, |losses| &mut losses.discarded, self.lanes[lane as usize].link);
        self.give_up_waiting(stay);
        self.spill(stay);
    }

    /// Spills the packet at the front of a queue from now on.
    fn spill(&mut self, stay: u32) {
        let end = self.end_of(stay);
        let at = &mut self.stays[stay];
        (at.is_cut, at.end, at.spills, at.crosses) = (true, end, true, self.now);
        if at.out.lane == NONE {
            at.out.grant = self.now;
            self.lanes[at.lane as usize].crossing.push(stay);
        }
        self.spill_all(stay);
    }

    /// Records when the end of a packet is spilled.
    fn spill_all(&mut self, stay: u32) {
        let at = self.stays[stay];
        let link = self.lanes[at.lane as usize].link;
        let kind = self.kind(link);
        let left = kind.arrival(self.end_of(stay)).max(at.crosses);
        let front_at = kind.at_front(left);
        self.stays[stay].left = left;
        self.come_forward(stay, &at, front_at);
        if left > self.now {
            // The run goes on until then; nothing starts on this account.
            self.schedule(Event::Wire(link), left);
        }
        self.look_again(at.lane);
    }

    /// Counts a packet as lost on a link, unless it is counted already.
    fn lose(&mut self, packet: u32, count: fn(&mut Losses) -> &mut u64, link: u32) {
        let at = &mut self.packets[packet];
        if at.pieces == 0 {
            at.pieces = 1;
            self.remains += 1;
            let hop = Hop::of(&at.delivery, link, self.now, self.now, hop_kind::LOST);
            self.lost.add(at.delivery.mark, count, hop, &mut self.hops);
        }
    }

    /// Forgets a piece of a lost packet.
    pub(super) fn piece_gone(packets: &mut Slab<Packet>, packet: u32, remains: &mut u64) {
        packets[packet].pieces -= 1;
        if packets[packet].pieces == 0 {
            packets.remove(packet);
            *remains -= 1;
        }
    }

    /// Ends a lost packet at a terminal, now or when its error end comes.
    #[cold]
    pub(super) fn end_piece(&mut self, stay: u32) {
        let Stay { packet, lane, .. } = self.stays[stay];
        let kind = self.kind(self.lanes[lane as usize].link);
        let delivery = kind.delivery(self.end_of(stay) + Time::from(kind.character));
        if packet != NONE && delivery > self.now {
            return self.schedule(Event::Deliver(stay), delivery);
        }
        if packet != NONE {
            Self::piece_gone(&mut self.packets, packet, &mut self.remains);
        }
        self.stays.remove(stay);
    }

    /// Whether the link of a port would now have sent a packet that has been cut.
    pub fn is_void(&mut self, port: u32) -> bool {
        let is_it = |&(other, time): &(u32, Time)| (other, time) == (port, self.now);
        let place = self.void.iter().position(is_it);
        place.map(|place| self.void.swap_remove(place)).is_some()
    }

    /// Puts a link back into its groups, with credit for what its buffers have room for.
    fn go_up(&mut self, link: u32) -> bool {
        let Some(was) = self.outages.remove(link) else { return false };
        self.links[link as usize].free_at = was.wire;
        for (lane, free_at) in self.fabric.lanes_of(link).zip(was.lanes) {
            self.renew(lane);
            self.lanes[lane as usize].free_at = free_at;
            if free_at <= self.now {
                self.release(lane);
            } else if self.groups.are_awaited(lane) {
                self.announce(lane);
            }
        }
        if self.links[link as usize].dispatched != NONE {
            self.wake(link, self.now);
        }
        true
    }

    /// Gives a lane credit for the places in the buffer at its end that are free.
    fn renew(&mut self, lane: u32) {
        self.catch_up(lane, self.now - 1);
        let stands =
            self.stays.kept().filter(|at| at.lane == lane).map(|at| i64::from(at.length)).sum::<i64>();
        let at = &mut self.lanes[lane as usize];
        (at.departed, at.renewed_at) = (at.started - stands, self.now - 1);
        if let Some(store) = self.stores.get_mut(lane as usize) {
            store.renew(self.now);
        }
    }

    /// Keeps a link from starting a packet before a tick; false if it is in the middle of one, unless it is paused: then
    /// this one is sent to its end.
    fn stop(&mut self, link: u32, until: Time) -> bool {
        let is_paused = self.fabric.has_pause();
        let at = &mut self.links[link as usize];
        if at.sent_at > self.now && !is_paused {
            return false;
        }
        at.free_at = at.free_at.max(until);
        let due = std::mem::replace(&mut at.due, UNKNOWN);
        if due < UNKNOWN {
            self.wake(link, due);
        }
        true
    }
}
