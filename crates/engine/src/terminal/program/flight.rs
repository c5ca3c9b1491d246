//! Packets of messages that have their own numbers: if they are sent again, if each chooses a port, or if messages are
//! sent again after a transaction has timed out.

use std::collections::{BTreeSet, VecDeque};

use super::host::Transfer;
use super::{Programs, mark};
use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::kernel::slab::Slab;
use crate::measure::Delivery;

/// A packet of a message, from its beginning until nothing of it is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub message: u32,
    /// The number of its message among all, and the round: another message may have the same slot later.
    made: u32,
    round: u32,
    /// The channel that began it; it may be closed when the packet ends.
    pub channel: u32,
    /// Ports that send and receive it.
    pub source: u32,
    pub target: u32,
    pub bytes: u32,
    /// Number of packets of its terminal for which a port was chosen before.
    pub number: u32,
    /// When its message was created.
    pub created: Time,
    /// Number of repetitions.
    pub again: u32,
    /// When it is sent again, while its clock runs.
    pub due: Time,
    /// Its copies, and their acknowledgements, that wait for a link or are in the network.
    pub copies: u32,
    /// Whether the part that triggers the acknowledgement (head or all) of a copy has arrived.
    pub headed: bool,
    /// Whether a copy has arrived.
    pub come: bool,
    /// Whether it has been acknowledged or given up.
    pub over: bool,
    pub given_up: bool,
}

/// The packets with their own numbers.
#[derive(Clone, Debug)]
pub(super) struct Flights {
    /// Time-out (0: none), limit of repetitions, and the factor between clocks.
    pub after: u64,
    pub limit: u32,
    pub backoff: u64,
    pub all: Slab<Flight>,
    /// Running clocks, by when they expire.
    pub clocks: BTreeSet<(Time, u32)>,
    /// Per port: packets to send again as soon as the link takes them.
    pub waiting: Vec<VecDeque<u32>>,
}

impl Flights {
    /// Returns an empty set; None if packets have no numbers of their own.
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

    /// Forgets a copy of a packet, or its acknowledgement.
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
    /// Begins a packet of a message on a channel; returns its number: its own, or that of its message.
    #[inline]
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

    /// Returns the message of a packet from the packet's number.
    #[inline]
    pub(super) fn message_of(&self, number: u32) -> u32 {
        self.flights.as_ref().map_or(number, |flights| flights.all[number].message)
    }

    /// Returns the channel of a packet that is not acknowledged.
    #[inline]
    pub(super) fn channel_of(&self, number: u32) -> u32 {
        match &self.flights {
            Some(flights) => flights.all[number].channel,
            None => self.messages[number].channel,
        }
    }

    /// Returns the ports of a packet from its number.
    pub(super) fn ports_of(&self, number: u32) -> (u32, u32) {
        if let Some(flights) = &self.flights {
            return (flights.all[number].source, flights.all[number].target);
        }
        let channel = &self.channels[self.messages[number].channel];
        (channel.source, channel.target)
    }

    /// Handles the arrival of a copy of a packet or of an acknowledgement.
    pub(super) fn copy_arrived(&mut self, terminal: u32, packet: u32) {
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
            order.record(&Delivery {
                source,
                target,
                length,
                created,
                started,
                delivered,
                mark: packet,
                number,
            });
        }
        if self.settings.rings {
            // It crossed the bus before it was stored.
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

    /// Handles a packet that has left the bus and is not acknowledged, or whose acknowledgement is under way.
    pub(super) fn copy_gone(&mut self, number: u32) {
        self.flights.iter_mut().for_each(|flights| flights.gone(number));
    }

    /// Handles the loss of a copy of a packet or of its acknowledgement.
    pub(super) fn copy_lost(&mut self, packet: u32) {
        let flight = mark::message(packet);
        let message = self.message_of(flight);
        if !self.resends() && mark::kind(packet) != mark::ACK && !self.is_sent_again(flight) {
            self.lose(message);
        }
        self.copy_gone(flight);
    }

    /// Whether a ring packet belongs to a message that has been received or sent again since.
    pub(super) fn is_of_the_past(&self, flight: u32) -> bool {
        let Some(flights) = &self.flights else { return false };
        let (at, one) = (&flights.all[flight], &self.messages[flights.all[flight].message]);
        self.settings.rings && (at.made != one.number || at.round != one.round || one.received)
    }

    /// Whether a lost packet is sent again with its message; not if its sender believes that it has arrived.
    fn is_sent_again(&self, flight: u32) -> bool {
        let Some(flights) = &self.flights else { return false };
        let Flight { over, message, .. } = flights.all[flight];
        let checked = self.settings.rings && self.settings.check > 0;
        checked && (!over || self.messages[message].failed || self.is_of_the_past(flight))
    }

    /// Records that a part of a message will never arrive. Without its announcement or the answer to it, a message
    /// never leaves.
    pub(super) fn lose(&mut self, message: u32) {
        if !std::mem::replace(&mut self.messages[message].lost, true) {
            match self.messages[message].role.of() {
                Some(of) => self.lose(of),
                None => self.account.lost += 1,
            }
        }
    }

    /// Records that all of a lost message is sent again.
    pub(super) fn find(&mut self, message: u32) {
        if std::mem::replace(&mut self.messages[message].lost, false) {
            match self.messages[message].role.of() {
                Some(of) => self.find(of),
                None => self.account.lost -= 1,
            }
        }
    }
}

#[cfg(test)]
impl Programs {
    /// Whether no packets are under way.
    pub(super) fn nothing_flies(&self) -> bool {
        let empty = |one: &Flights| one.all.is_all_free() && one.clocks.is_empty();
        self.flights.as_deref().is_none_or(empty)
    }
}
