//! What stands still although it could move: a mistake of the engine, to be told and not to be taken for a result.
//!
//! All that can be worked out is worked out within the tick in which it becomes known. So once a tick is over, nothing waits
//! but for what others have to do: no link has characters to send and credit for them, no wire is busy for longer than
//! it takes to send all there is, no head stands beside a free output, and no packet that has come is not delivered. However long
//! a packet waits for a grant, for credit or for a slow source, none of this is true of it.

use std::num::Wrapping;

use super::advance::asking_chars;
use super::link::{Kind, Link};
use super::state::Network;
use super::timeline::{ahead, earlier};
use super::worm::Worm;
use crate::fabric::NONE;
use crate::kernel::Time;

/// Something that stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standstill {
    /// What is wrong.
    pub fault: Fault,
    /// The link that it concerns: that sends, or by which the packet came.
    pub link: u32,
    /// Terminals that the packet comes from and goes to; [`NONE`] if there is none.
    pub source: u32,
    /// See `source`.
    pub target: u32,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A link has characters and credit and does not send.
    Unsent,
    /// A wire is busy for longer than it takes to send all there is.
    Busy,
    /// A head has come and does not ask for an output.
    Unasked,
    /// A head waits beside an output that is free.
    Ungranted,
    /// A packet has come to its terminal and is not delivered.
    Undelivered,
    /// Packets are on their way and nothing is to happen any more.
    Silent,
}

/// What stands still once a tick is over although it could move, if anything does.
pub fn standstill(network: &Network, now: Time) -> Option<Standstill> {
    let latest = network.latest(now);
    (0..network.links.len() as u32).find_map(|link| {
        let fault = network.fault(link, now, latest)?;
        let at = &network.links[link as usize];
        let number = if fault == Fault::Unsent { at.sending } else { at.head };
        let packet = (number != NONE).then(|| &network.packets[at.worm(number, &network.crowd).packet]);
        let (source, target) = packet.map_or((NONE, NONE), |packet| (packet.source, packet.target));
        Some(Standstill { fault, link, source, target })
    })
}

impl Network {
    /// A tick by which everything that is known in a tick is over.
    ///
    /// What is known of later ticks is one start of a character after the other, of which each follows from the one before it,
    /// and of each link not more than an output buffer and one packet: what was granted a link earlier has left for its
    /// output buffer.
    fn latest(&self, now: Time) -> Time {
        let longest = self.packets.kept().map(|packet| u64::from(packet.length)).max().unwrap_or(0);
        let headers = u64::from(self.fabric.header_chars) + u64::from(self.fabric.via_header_chars) + 1;
        let busy = self.links.iter().filter(|link| link.wire_free > now).map(|link| self.kind(link));
        let room = |kind: &Kind| u64::from(kind.output_buffer) + u64::from(kind.input_buffer);
        let steps = busy.map(|kind| longest + headers + room(kind)).fold(1, u64::saturating_add);
        let slowest = self.kinds.iter().map(Kind::longest_step).max().unwrap_or(0);
        let lasts = steps.saturating_mul(2).saturating_mul(slowest);
        now.saturating_add(Time::try_from(lasts).unwrap_or(Time::MAX))
    }

    fn fault(&self, link: u32, now: Time, latest: Time) -> Option<Fault> {
        let at = &self.links[link as usize];
        if at.wire_free > latest {
            return Some(Fault::Busy);
        }
        if at.woken || self.can_send(link) {
            return Some(Fault::Unsent);
        }
        if at.head == NONE {
            return None;
        }
        let head = at.worm(at.head, &self.crowd);
        if at.to_terminal {
            let due = head.time + Time::from(self.kind(at).arrival) - Time::from(self.kind(at).character);
            return (at.head != at.sending && due <= now).then_some(Fault::Undelivered);
        }
        if at.output != NONE {
            return None;
        }
        if at.port.awaits == NONE {
            let due = self.asks_due(at, head);
            return due.is_some_and(|due| !at.asked || due <= now).then_some(Fault::Unasked);
        }
        let group = self.fabric.group(at.port.awaits);
        let free = group.iter().any(|&to| self.links[to as usize].port.free_at <= now);
        free.then_some(Fault::Ungranted)
    }

    /// Whether a link has characters to send and credit for them.
    fn can_send(&self, link: u32) -> bool {
        let at = &self.links[link as usize];
        if at.sending == NONE {
            return false;
        }
        let worm = at.worm(at.sending, &self.crowd);
        let known = at.line.known();
        let mut stop = worm.end;
        if let Some(from) =
            self.links.get(at.holder as usize).filter(|_| at.sending == at.tail && !worm.bound)
        {
            let line = if from.stepwise { &self.exits[at.holder as usize] } else { &from.line };
            stop = earlier(stop, line.known() - at.shift);
        }
        ahead(stop, known) > 0 && (at.credited > 0 || at.keeps_credit || self.has_credit(link))
    }

    /// When a head asks for its output, if enough of it has been sent.
    fn asks_due(&self, at: &Link, head: &Worm) -> Option<Time> {
        let last = head.first + Wrapping(asking_chars(&self.fabric, head.header) - 1);
        (ahead(last, at.line.known()) < 0).then(|| at.asks_at(self.kind(at), at.line.run_from(last).time))
    }
}

impl Kind {
    /// No start of a character follows later from another one.
    fn longest_step(&self) -> u64 {
        let ways = u64::from(self.arrival) + u64::from(self.credit_delay) + u64::from(self.onward);
        ways + 2 * u64::from(self.character.max(self.end)) + 2 * u64::from(self.crossbar)
    }
}
