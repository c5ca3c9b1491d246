//! Packets that are sent again when their acknowledgement does not come in time: the rules of `docs/background/programs.md`,
//! "Sent again".

use std::collections::{BTreeSet, VecDeque};

use super::bus::Transfer;
use super::{Programs, mark};
use crate::fabric::{Fabric, NEVER};
use crate::kernel::Time;
use crate::kernel::slab::Slab;
use crate::terminal::Packet;

/// A packet of a message from when it is handed to the link for the first time until nothing of it is under way.
#[derive(Clone, Copy, Debug)]
struct Flight {
    message: u32,
    /// Ports that send and get it.
    source: u32,
    target: u32,
    bytes: u32,
    /// Payload characters.
    length: u32,
    /// When its message was made.
    created: Time,
    /// How often it was sent again.
    again: u32,
    /// When it is sent again, while its clock runs.
    due: Time,
    /// Copies of it, and acknowledgements of these, that wait for a link or are in the network.
    copies: u32,
    /// Whether one of them has come.
    come: bool,
    /// Whether it has been acknowledged or given up.
    over: bool,
    given_up: bool,
}

/// What terminals keep of packets that are not acknowledged.
#[derive(Clone, Debug)]
pub(super) struct Resends {
    after: u64,
    limit: u32,
    backoff: u64,
    flights: Slab<Flight>,
    /// Clocks that run, by when they are over.
    clocks: BTreeSet<(Time, u32)>,
    /// Per port: packets that are sent again as soon as the link takes them.
    waiting: Vec<VecDeque<u32>>,
}

impl Resends {
    /// Nothing under way; none if nothing is ever sent again.
    pub fn new(fabric: &Fabric) -> Option<Box<Self>> {
        (fabric.message_resend_ticks > 0).then(|| {
            Box::new(Self {
                after: fabric.message_resend_ticks,
                limit: fabric.message_resend_limit,
                backoff: u64::from(fabric.message_resend_backoff),
                flights: Slab::default(),
                clocks: BTreeSet::new(),
                waiting: vec![VecDeque::new(); fabric.ports() as usize],
            })
        })
    }

    /// When the first clock is over.
    pub fn next(&self) -> Option<Time> {
        self.clocks.first().map(|&(time, _)| time)
    }

    /// Ports that send and get a packet.
    pub fn ports(&self, flight: u32) -> (u32, u32) {
        (self.flights[flight].source, self.flights[flight].target)
    }

    /// Has the clock of a packet run from now on.
    fn wind(&mut self, flight: u32, now: Time) {
        let at = &mut self.flights[flight];
        let longer = self.backoff.saturating_pow(at.again);
        at.due = now + self.after.saturating_mul(longer).min(NEVER / 4) as Time;
        self.clocks.insert((at.due, flight));
    }

    /// A copy of a packet, or the acknowledgement of one, is gone.
    fn gone(&mut self, flight: u32) {
        self.flights[flight].copies -= 1;
        self.forget(flight);
    }

    fn forget(&mut self, flight: u32) {
        let at = &self.flights[flight];
        if at.over && at.copies == 0 {
            self.flights.remove(flight);
        }
    }
}

impl Programs {
    /// A packet of a message as it leaves for the first time, with its clock; its number in place of that of its message.
    pub(super) fn take_off(&mut self, message: u32, bytes: u32, packet: Packet) -> Packet {
        let Some(resends) = &mut self.resends else { return packet };
        let (source, length) = (self.channels[self.messages[message].channel].source, packet.length);
        let flight = resends.flights.add(Flight {
            message,
            source,
            target: packet.target,
            bytes,
            length,
            created: packet.created,
            again: 0,
            due: 0,
            copies: 1,
            come: false,
            over: false,
            given_up: false,
        });
        resends.wind(flight, self.now);
        Packet { mark: mark::of(flight, mark::DATA), ..packet }
    }

    /// The first packet that a port sends again, if there is one.
    pub(super) fn next_again(&mut self, port: u32) -> Option<Packet> {
        let resends = self.resends.as_mut()?;
        while let Some(flight) = resends.waiting[port as usize].pop_front() {
            let Flight { over, target, length, created, .. } = resends.flights[flight];
            if over {
                // Its acknowledgement has come meanwhile.
                resends.gone(flight);
                continue;
            }
            resends.wind(flight, self.now);
            self.account.resent += 1;
            let (dispatch, mark) = (self.now, mark::of(flight, mark::DATA));
            return Some(Packet { created, dispatch, target, length, via: super::NO, mark });
        }
        None
    }

    /// The clocks that are over in this tick; how many.
    pub(super) fn clocks(&mut self) -> u64 {
        let mut count = 0;
        while let Some(resends) = &mut self.resends
            && resends.next().is_some_and(|time| time <= self.now)
            && let Some((_, flight)) = resends.clocks.pop_first()
        {
            count += 1;
            let at = &mut resends.flights[flight];
            if at.again == resends.limit {
                self.give_up(flight);
                continue;
            }
            (at.again, at.copies) = (at.again + 1, at.copies + 1);
            let port = at.source;
            resends.waiting[port as usize].push_back(flight);
            let terminal = self.interfaces[port as usize].terminal;
            self.touch(terminal);
        }
        count
    }

    /// A copy of a packet has come, or an acknowledgement of one.
    pub(super) fn flown(&mut self, terminal: u32, packet: u32) {
        let flight = mark::message(packet);
        if mark::kind(packet) == mark::ACK {
            return self.flight_acknowledged(flight);
        }
        let Some(resends) = &mut self.resends else { return };
        let at = &mut resends.flights[flight];
        if at.come || at.given_up {
            self.account.duplicates += 1;
            return if at.come { self.acknowledge(flight) } else { resends.gone(flight) };
        }
        at.come = true;
        let Flight { message, bytes, .. } = *at;
        self.messages[message].come += 1;
        self.use_bus(terminal, Transfer::In { number: flight }, self.settings.bus.of(bytes));
    }

    /// The message of a packet that has come, by the number that it carries.
    pub(super) fn message_of(&self, number: u32) -> u32 {
        self.resends.as_ref().map_or(number, |resends| resends.flights[number].message)
    }

    fn flight_acknowledged(&mut self, flight: u32) {
        let Some(resends) = &mut self.resends else { return };
        let at = &mut resends.flights[flight];
        let (first, message, due) = (!std::mem::replace(&mut at.over, true), at.message, at.due);
        resends.clocks.remove(&(due, flight));
        resends.gone(flight);
        if first {
            self.learn(message);
        }
    }

    /// A copy of a packet, or of its acknowledgement, was lost on its way.
    pub(super) fn crash(&mut self, packet: u32) {
        if let Some(resends) = &mut self.resends {
            resends.gone(mark::message(packet));
        }
    }

    /// A packet has been sent as often as it may be: its sender goes on as if it had been acknowledged. If no copy has come
    /// its message is lost.
    fn give_up(&mut self, flight: u32) {
        let Some(resends) = &mut self.resends else { return };
        let at = &mut resends.flights[flight];
        (at.over, at.given_up) = (true, true);
        let Flight { message, come, .. } = *at;
        resends.forget(flight);
        self.account.given_up += u64::from(!std::mem::replace(&mut self.messages[message].given_up, true));
        if !come && !std::mem::replace(&mut self.messages[message].lost, true) {
            self.account.lost += 1;
            self.stop_receiving(message);
        }
        self.acknowledged(message);
    }

    /// Whether a message that is lost is to be forgotten: nothing of it is on a bus, and its sender has done with it.
    pub(super) fn is_forgotten(&self, message: u32) -> bool {
        let one = &self.messages[message];
        self.resends.is_some() && one.lost && one.sent && u64::from(one.come) == one.arrived
    }

    /// A packet of a message that is lost has come and is off the bus.
    pub(super) fn arrived_late(&mut self, message: u32, flight: u32) {
        self.messages[message].arrived += 1;
        self.acknowledge(flight);
        if self.is_forgotten(message) {
            self.messages.remove(message);
        }
    }
}

#[cfg(test)]
impl Programs {
    /// Whether nothing is kept of packets.
    pub(super) fn nothing_flies(&self) -> bool {
        let empty = |one: &Resends| one.flights.is_all_free() && one.clocks.is_empty();
        self.resends.as_deref().is_none_or(empty)
    }
}
