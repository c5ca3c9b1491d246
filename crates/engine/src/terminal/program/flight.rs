//! Packets of messages that have numbers of their own: where they are sent again, where each has its own port, and where
//! messages are sent again of which a transaction has timed out.

use std::collections::{BTreeSet, VecDeque};

use super::bus::Transfer;
use super::{Programs, mark};
use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::kernel::slab::Slab;
use crate::measure::Delivery;

/// A packet of a message from when it is begun until nothing of it is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub message: u32,
    /// The number of the message among all, and its round: by then another one may have its place.
    made: u32,
    round: u32,
    /// The channel that has begun it; it may be closed once the packet is over.
    pub channel: u32,
    /// Ports that send and get it.
    pub source: u32,
    pub target: u32,
    pub bytes: u32,
    /// Packets of its terminal for which a port was chosen before.
    pub number: u32,
    /// When its message was made.
    pub created: Time,
    /// How often it was sent again.
    pub again: u32,
    /// When it is sent again, while its clock runs.
    pub due: Time,
    /// Copies of it, and acknowledgements of these, that wait for a link or are in the network.
    pub copies: u32,
    /// Whether what has it acknowledged has come of one of them, its head or all of it.
    pub headed: bool,
    /// Whether one of them has come.
    pub come: bool,
    /// Whether it has been acknowledged or given up.
    pub over: bool,
    pub given_up: bool,
}

/// What terminals keep of packets with numbers of their own.
#[derive(Clone, Debug)]
pub(super) struct Flights {
    /// Time-out, 0 for none; how often a packet is sent again, and how much longer each clock runs.
    pub after: u64,
    pub limit: u32,
    pub backoff: u64,
    pub all: Slab<Flight>,
    /// Clocks that run, by when they are over.
    pub clocks: BTreeSet<(Time, u32)>,
    /// Per port: packets that are sent again as soon as the link takes them.
    pub waiting: Vec<VecDeque<u32>>,
}

impl Flights {
    /// Nothing under way; none if the packets of a message are all alike.
    pub fn new(fabric: &Fabric) -> Option<Box<Self>> {
        let own_ports = fabric.message_port_per_packet > 0;
        (fabric.message_resend_ticks > 0 || own_ports || fabric.repeats_timed_out()).then(|| {
            Box::new(Self {
                after: fabric.message_resend_ticks,
                limit: fabric.message_resend_limit,
                backoff: u64::from(fabric.message_resend_backoff),
                all: Slab::default(),
                clocks: BTreeSet::new(),
                waiting: vec![VecDeque::new(); fabric.ports() as usize],
            })
        })
    }

    /// A copy of a packet, or the acknowledgement of one, is gone.
    pub fn gone(&mut self, flight: u32) {
        self.all[flight].copies -= 1;
        self.forget(flight);
    }

    pub fn forget(&mut self, flight: u32) {
        let at = &self.all[flight];
        if at.over && at.copies == 0 {
            self.all.remove(flight);
        }
    }
}

impl Programs {
    /// A packet of a message is begun on a channel; the number by which it goes: its own, or that of its message.
    pub(super) fn number(&mut self, message: u32, channel: u32, which: u32) -> u32 {
        let Some(flights) = &mut self.flights else { return message };
        let one = &self.messages[message];
        let (source, target) = (self.channels[channel].source, self.channels[channel].target);
        flights.all.add(Flight {
            message,
            made: one.number,
            round: one.round,
            channel,
            source,
            target,
            bytes: self.settings.cut.bytes(one.bytes, which),
            number: one.packets_before.wrapping_add(which),
            created: one.made,
            again: 0,
            due: 0,
            copies: 1,
            headed: false,
            come: false,
            over: false,
            given_up: false,
        })
    }

    /// The message of a packet, by the number by which it goes.
    #[inline]
    pub(super) fn message_of(&self, number: u32) -> u32 {
        self.flights.as_ref().map_or(number, |flights| flights.all[number].message)
    }

    /// The channel of a packet that is not acknowledged.
    #[inline]
    pub(super) fn channel_of(&self, number: u32) -> u32 {
        match &self.flights {
            Some(flights) => flights.all[number].channel,
            None => self.messages[number].channel,
        }
    }

    /// Ports between which a packet goes, by the number by which it goes.
    pub(super) fn ports_of(&self, number: u32) -> (u32, u32) {
        if let Some(flights) = &self.flights {
            return (flights.all[number].source, flights.all[number].target);
        }
        let channel = &self.channels[self.messages[number].channel];
        (channel.source, channel.target)
    }

    /// A copy of a packet has come, or an acknowledgement of one.
    pub(super) fn flown(&mut self, terminal: u32, packet: u32) {
        let flight = mark::message(packet);
        if mark::kind(packet) == mark::ACK {
            return self.flight_acknowledged(flight);
        }
        let Some(flights) = &mut self.flights else { return };
        let at = &mut flights.all[flight];
        if at.come || at.given_up {
            self.account.duplicates += 1;
            return if at.come { self.acknowledge(flight) } else { flights.gone(flight) };
        }
        at.come = true;
        let Flight { message, bytes, number, source, created, .. } = *at;
        if let Some(order) = &mut self.account.packet_order {
            let source = self.ways.terminal(source);
            let (target, length, started, delivered) = (terminal, bytes, created, self.now);
            order.record(&Delivery { source, target, length, created, started, delivered, mark: number });
        }
        if self.settings.rings {
            // It has been over the bus before it was stored.
            return self.arrived(terminal, flight);
        }
        self.messages[message].come += 1;
        self.use_bus(terminal, Transfer::In { number: flight }, self.settings.bus.of(bytes));
    }

    fn flight_acknowledged(&mut self, flight: u32) {
        let Some(flights) = &mut self.flights else { return };
        let at = &mut flights.all[flight];
        let first = !std::mem::replace(&mut at.over, true);
        let (message, channel, due) = (at.message, at.channel, at.due);
        flights.clocks.remove(&(due, flight));
        flights.gone(flight);
        if first {
            self.learn(message, channel);
        }
    }

    /// A packet that has come, and that nobody acknowledges or whose acknowledgement is under way, is off the bus.
    pub(super) fn landed(&mut self, number: u32) {
        self.flights.iter_mut().for_each(|flights| flights.gone(number));
    }

    /// A copy of a packet, or of its acknowledgement, was lost on its way.
    pub(super) fn crash(&mut self, packet: u32) {
        let flight = mark::message(packet);
        let message = self.message_of(flight);
        if !self.resends() && mark::kind(packet) != mark::ACK && !self.is_sent_again(flight) {
            self.lose(message);
        }
        self.landed(flight);
    }

    /// Whether a packet on a ring is of a message that has been received or sent again since.
    pub(super) fn is_of_the_past(&self, flight: u32) -> bool {
        let Some(flights) = &self.flights else { return false };
        let (at, one) = (&flights.all[flight], &self.messages[flights.all[flight].message]);
        self.settings.rings && (at.made != one.number || at.round != one.round || one.received)
    }

    /// Whether a lost packet will be sent again with its message, or has been: not one that its sender takes to have come.
    fn is_sent_again(&self, flight: u32) -> bool {
        let Some(flights) = &self.flights else { return false };
        let Flight { over, message, .. } = flights.all[flight];
        self.settings.rings && (!over || self.messages[message].failed || self.is_of_the_past(flight))
    }

    /// A part of a message will never come.
    pub(super) fn lose(&mut self, message: u32) {
        self.account.lost += u64::from(!std::mem::replace(&mut self.messages[message].lost, true));
    }
}

#[cfg(test)]
impl Programs {
    /// Whether nothing is kept of packets.
    pub(super) fn nothing_flies(&self) -> bool {
        let empty = |one: &Flights| one.all.is_all_free() && one.clocks.is_empty();
        self.flights.as_deref().is_none_or(empty)
    }
}
