//! Packets that stand still although they could move: an error of the engine, which is reported and is never a valid
//! result.
//!
//! Everything that can be computed is computed within the tick in which it becomes known. After a tick, everything that
//! waits therefore waits for others: no link has characters and credit, no wire is busy for longer than it takes to
//! send everything, no head waits while an output is free, and no received packet is undelivered. However long a packet
//! waits for a grant, for credit or for a slow source, none of these conditions is violated.

use std::num::Wrapping;

use super::link::{Kind, Link};
use super::packet_path::asking_chars;
use super::state::{Network, PacketState};
use super::timeline::{ahead, earlier};
use super::worm::Worm;
use crate::fabric::NONE;
use crate::kernel::Time;

/// Something that stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standstill {
    /// The kind of error.
    pub fault: Fault,
    /// The link: the one that sends, or on which the packet arrived.
    pub link: u32,
    /// Source and destination terminal of the packet; [`NONE`] if there is none.
    pub source: u32,
    /// See `source`.
    pub target: u32,
}

/// The kind of error. It has nothing to do with faults of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A link has characters and credit and does not send.
    Unsent,
    /// A wire is busy for longer than it takes to send everything.
    Busy,
    /// A head has arrived and does not request an output.
    Unasked,
    /// A head waits although an output is free.
    Ungranted,
    /// A packet has arrived at its terminal and is not delivered.
    Undelivered,
    /// Packets are under way and there are no more events.
    Silent,
}

/// Returns what stands still after a tick although it could move, if anything does.
pub fn standstill(network: &Network, now: Time) -> Option<Standstill> {
    let latest = network.latest(now);
    (0..network.links.len() as u32).find_map(|link| {
        let fault = network.fault(link, now, latest)?;
        let at = &network.links[link as usize];
        let number = if fault == Fault::Unsent { at.sending() } else { at.head() };
        let packet = (number != NONE).then(|| &network.packets[at.worm(number, &network.crowd).packet]);
        let (source, target) =
            packet.map_or((NONE, NONE), |packet| (packet.delivery.source, packet.delivery.target));
        Some(Standstill { fault, link, source, target })
    })
}

impl Network {
    /// Returns a tick by which everything that is known in a tick is over.
    ///
    /// What is known of later ticks is a sequence of starts of characters, each following from the previous one, and at
    /// most an output buffer and one packet per link: what was granted a link earlier has left for its output buffer.
    fn latest(&self, now: Time) -> Time {
        let characters =
            |packet: &PacketState| self.fabric.payload_chars(packet.delivery.length) + packet.address;
        let longest = u64::from(self.packets.kept().map(characters).max().unwrap_or(0));
        let headers = u64::from(self.fabric.header_chars) + u64::from(self.fabric.via_header_chars) + 1;
        let busy = self.links.iter().filter(|link| link.wire.free() > now).map(|link| self.kind(link));
        let room = |kind: &Kind| u64::from(kind.output_buffer) + u64::from(kind.input_buffer);
        let steps = busy.map(|kind| longest + headers + room(kind)).fold(1, u64::saturating_add);
        let slowest = self.kinds.iter().map(Kind::longest_step).max().unwrap_or(0);
        let lasts = steps.saturating_mul(2).saturating_mul(slowest);
        let now = self.dispatches().fold(now.max(self.opens()), Time::max);
        now.saturating_add(Time::try_from(lasts).unwrap_or(Time::MAX))
    }

    /// Returns when the sources of packets put them on their links, or start to send them; programs announce it long
    /// before.
    fn dispatches(&self) -> impl Iterator<Item = Time> {
        let links = self.links.iter().filter(|link| link.tail() != NONE && self.kind(link).from_terminal);
        links.map(|link| {
            let worm = link.worm(link.tail(), &self.crowd);
            if link.has_sent_all() { self.packets[worm.packet].delivery.started } else { worm.time }
        })
    }

    fn fault(&self, link: u32, now: Time, latest: Time) -> Option<Fault> {
        let at = &self.links[link as usize];
        if at.wire.free() > latest {
            return Some(Fault::Busy);
        }
        if at.due.is_woken() || self.can_send(link) {
            return Some(Fault::Unsent);
        }
        if at.head() == NONE {
            return None;
        }
        let head = at.worm(at.head(), &self.crowd);
        if at.to_terminal {
            let due = self.kind(at).delivery(head.time);
            return (at.head() != at.sending() && due <= now).then_some(Fault::Undelivered);
        }
        if at.input.output() != NONE {
            return None;
        }
        if at.port.awaits() == NONE {
            let due = self.asks_due(at, head);
            return due.is_some_and(|due| !at.input.asked() || due <= now).then_some(Fault::Unasked);
        }
        let group = self.fabric.group(at.port.awaits());
        let free = group.iter().any(|&to| self.links[to as usize].port.free_at() <= now);
        free.then_some(Fault::Ungranted)
    }

    /// Whether a link has characters to send and credit for them.
    fn can_send(&self, link: u32) -> bool {
        let at = &self.links[link as usize];
        if at.has_sent_all() || self.is_held(link) {
            return false;
        }
        let worm = at.worm(at.sending(), &self.crowd);
        let known = at.wire.known();
        let mut stop = worm.end;
        let holder = at.output.holder();
        if holder != NONE && at.sends_newest() && !worm.bound {
            stop = earlier(stop, self.passing(holder).known() - at.output.shift());
        }
        let has_credit = at.credit.characters() > 0 || at.credit.is_kept() || self.has_credit(link);
        let rests = || self.leaves_behind && (self.is_left_behind(link) || self.may_rest(link));
        ahead(stop, known) > 0 && has_credit && !rests()
    }

    /// Returns when a head requests its output, if enough of it has been sent.
    fn asks_due(&self, at: &Link, head: &Worm) -> Option<Time> {
        let last = head.first + Wrapping(asking_chars(&self.fabric, head.header) - 1);
        (ahead(last, at.wire.known()) < 0)
            .then(|| self.kind(at).request(at.input.exit_free(), at.wire.starts().run_from(last).time))
    }
}

impl Kind {
    /// Returns an upper limit of the interval between a start of a character and the next one.
    pub(super) fn longest_step(&self) -> u64 {
        let ways = u64::from(self.arrival) + u64::from(self.credit_delay) + u64::from(self.onward);
        ways + 2 * u64::from(self.character.max(self.end)) + 2 * u64::from(self.crossbar)
    }
}

#[cfg(test)]
mod tests {
    use super::super::state::Event;
    use super::*;
    use crate::fabric::{Fabric, check};
    use crate::terminal::Packet;

    /// Two terminals at a switch; links 0 and 2 lead in, 1 and 3 out.
    fn fabric() -> Fabric {
        let fabric = Fabric {
            tick_ps: 1.0,
            grain_ticks: 1,
            switches: 1,
            terminals: 2,
            classes: 2,
            header_chars: 1,
            lanes: 1,
            switch_decode_ticks: vec![80],
            switch_crossbar_ticks: vec![0],
            switch_handover_ticks: vec![1],
            switch_next_head_ticks: vec![1],
            switch_forward_ticks: vec![20],
            switch_arbiter: vec![0],
            switch_choice: vec![0],
            link_source: vec![1, 0, 2, 0],
            link_target: vec![0, 1, 0, 2],
            link_character_ticks: vec![10; 4],
            link_end_ticks: vec![4; 4],
            link_arrival_ticks: vec![17; 4],
            link_credit_ticks: vec![10; 4],
            link_output_buffer: vec![16; 4],
            link_input_buffer: vec![16; 4],
            link_quantum: vec![8; 4],
            link_flow_control_ticks: vec![0; 4],
            link_reverse: vec![1, 0, 3, 2],
            link_deletes_header: vec![0; 4],
            group_switch: vec![0, 0],
            group_start: vec![0, 1, 2],
            group_links: vec![1, 3],
            route: vec![0, 2],
            terminal_class: vec![0, 1],
            terminal_out_link: vec![0, 2],
            terminal_in_link: vec![1, 3],
            source_arrival: vec![0; 2],
            source_interval_grains: vec![0.0; 2],
            source_burst: vec![1.0; 2],
            source_gap_grains: vec![0.0; 2],
            source_queue: vec![0; 2],
            source_target: vec![0; 2],
            target_fixed: vec![0; 2],
            target_share: vec![0.0; 2],
            source_length: vec![0; 2],
            length_min: vec![0; 2],
            length_max: vec![0; 2],
            ..Fabric::default()
        };
        check(&fabric).expect("a legal fabric");
        fabric
    }

    /// Terminals 0 and 1 have sent a packet of 40 characters to terminal 1, and everything up to a tick has happened;
    /// nothing has stood still meanwhile.
    fn run_to(until: Time) -> Network {
        let mut network = Network::new(fabric());
        for terminal in 0..2 {
            let (target, via) = (1, NONE);
            network.dispatch(
                terminal,
                &Packet { target, length: 40, created: 0, dispatch: 0, via, mark: 0, number: 0 },
            );
        }
        while let Some(now) = network.wheel.peek().filter(|&now| now <= until) {
            network.wheel.go_to(now);
            while let Some(event) = network.wheel.pop() {
                match Event::of(event) {
                    Event::Request(link) => network.request(link),
                    Event::Release(link) => network.release(link),
                    Event::Deliver(link) => _ = network.deliver(link),
                    Event::Source(_) => {}
                }
            }
            network.arbitrate(now).expect("a route");
            assert_eq!(standstill(&network, now), None, "at {now}");
        }
        network
    }

    /// Returns what is reported of a network up to a tick after a part of it was broken.
    fn found(until: Time, breaks: impl FnOnce(&mut Network)) -> Option<(Fault, u32, u32)> {
        let mut network = run_to(until);
        breaks(&mut network);
        standstill(&network, until).map(|at| (at.fault, at.link, at.source))
    }

    #[test]
    fn nothing_stands_still_to_the_end() {
        assert_eq!(run_to(Time::MAX / 4).in_flight(), 0);
        assert_eq!(found(300, |_| ()), None);
    }

    /// Programs hand over packets that are sent later.
    #[test]
    fn a_packet_that_is_dispatched_later_does_not_stand_still() {
        for length in [0, 40] {
            let (mut network, dispatch) = (Network::new(fabric()), 1_000_000);
            let (target, via, mark) = (1, NONE, 0);
            network.dispatch(0, &Packet { target, length, created: 0, dispatch, via, mark, number: 0 });
            assert_eq!(standstill(&network, 0), None, "{length} characters");
            let free = network.links[0].wire.free();
            network.links[0].wire.hold_until(free + dispatch);
            assert_eq!(standstill(&network, 0).map(|at| at.fault), Some(Fault::Busy), "{length} characters");
        }
    }

    #[test]
    fn a_wire_that_is_busy_for_ever_is_found() {
        // As after a run of no characters.
        let busy = |network: &mut Network| {
            let free = network.links[3].wire.free();
            network.links[3].wire.hold_until(free + 10 * Time::from(u32::MAX));
        };
        assert_eq!(found(300, busy), Some((Fault::Busy, 3, 0)));
    }

    #[test]
    fn a_link_that_is_not_woken_is_found() {
        // The packet that waits at the switch has no credit for the rest of it, and is given some without further
        // effects.
        let give = |network: &mut Network| {
            let credit = &mut network.links[2].credit;
            credit.spend(8, credit.next_quantum());
        };
        assert_eq!(found(300, give), Some((Fault::Unsent, 2, 1)));
    }

    #[test]
    fn heads_that_are_forgotten_are_found() {
        let forget = |network: &mut Network| {
            network.links[2].input.leave(0);
            network.links[2].port.granted(300);
        };
        assert_eq!(found(300, forget), Some((Fault::Unasked, 2, 1)));
        let free = |network: &mut Network| network.links[3].port.set_free_at(299);
        assert_eq!(found(300, free), Some((Fault::Ungranted, 2, 1)));
    }

    #[test]
    fn a_packet_that_is_not_delivered_is_found() {
        let network = run_to(300);
        let late = (301..3000).find_map(|now| standstill(&network, now));
        assert!(late.is_some(), "{late:?}");
    }
}
