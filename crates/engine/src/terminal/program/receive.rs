//! From arrived packets to messages that programs receive: taking, acknowledging, waiting for the program.

use super::host::Transfer;
use super::message::{Message, Role};
use super::process::Doing;
use super::{NO, Programs, mark, timer};
use crate::fabric::{ANY, LAYER_TAGS};
use crate::kernel::slab::Linked;
use crate::measure::Delivery;

/// A message received that no program has taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    source: u32,
    tag: u32,
    bytes: u32,
    /// The message, if it is only announced, or arriving; otherwise [`NO`].
    pub coming: u32,
    next: u32,
}

impl Linked for Note {
    #[inline]
    fn next(&mut self) -> &mut u32 {
        &mut self.next
    }
}

/// The messages that a receive matches; [`ANY`] matches all but the tags of layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub source: u32,
    pub tag: u32,
}

impl Wanted {
    #[inline]
    pub fn fits(self, source: u32, tag: u32) -> bool {
        let any = || self.tag == ANY && !LAYER_TAGS.contains(&tag);
        (self.source == source || self.source == ANY) && (self.tag == tag || any())
    }
}

/// A receive that waits for its message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posted {
    pub wanted: Wanted,
    pub process: u32,
    /// Its operation.
    pub at: u32,
}

/// The sender, tag and bytes of a message received.
pub(super) type Taken = (u32, u32, u32);

impl Programs {
    /// Handles a packet that has arrived at a terminal.
    #[inline(always)]
    pub(super) fn come(&mut self, terminal: u32, packet: u32) {
        if self.flights.is_some() {
            return self.copy_arrived(terminal, packet);
        }
        let message = mark::message(packet);
        if mark::kind(packet) != mark::ACK {
            if self.settings.rings || self.settings.no_bus {
                // On rings it crossed the bus before it was stored.
                return self.arrived(terminal, message);
            }
            let bytes = self.next_bytes(message);
            return self.use_bus(terminal, Transfer::In { number: message }, self.settings.bus.of(bytes));
        }
        self.learn(message, self.messages[message].channel);
    }

    /// Reports to the sender of a message the arrival of a packet, which takes effect later.
    pub(super) fn learn(&mut self, message: u32, channel: u32) {
        if self.settings.resume == 0 {
            return self.acknowledged(message, channel);
        }
        let port = self.channels[channel].source;
        self.interfaces[port as usize].resumes.push_back((message, channel));
        self.schedule_port(port, timer::RESUME, self.settings.resume);
    }

    /// Returns the bytes of an arrived packet. Their order in the message does not matter; the last one counted is the
    /// short one.
    fn next_bytes(&mut self, message: u32) -> u32 {
        let one = &mut self.messages[message];
        let packet = one.come % one.packets;
        one.come = packet + 1;
        self.settings.cut.bytes(one.bytes, packet)
    }

    /// Handles the end of a packet's transaction.
    pub(super) fn over(&mut self, packet: u32) {
        if self.settings.by_transaction(packet) {
            self.end_packet(mark::message(packet));
        }
    }

    /// Acknowledges a packet by the end of its transaction.
    fn end_packet(&mut self, number: u32) {
        let (message, channel) = (self.message_of(number), self.channel_of(number));
        if let Some(flights) = &mut self.flights {
            flights.all[number].over = true;
            flights.forget(number);
        }
        self.learn(message, channel);
    }

    /// Handles a transaction that was given up: its message fails the check, even if all of it has arrived. Reads are
    /// not checked.
    pub(super) fn timed_out(&mut self, packet: u32) {
        if mark::kind(packet) == mark::DATA {
            let number = mark::message(packet);
            let message = self.message_of(number);
            self.messages[message].failed = true;
            self.end_packet(number);
        }
    }

    /// Makes an acknowledgement take effect.
    pub(super) fn resume(&mut self, port: u32) {
        if let Some((message, channel)) = self.interfaces[port as usize].resumes.pop_front() {
            self.acknowledged(message, channel);
        }
    }

    /// Handles a packet that has arrived and left the bus, by its number.
    pub(super) fn arrived(&mut self, terminal: u32, number: u32) {
        let message = self.message_of(number);
        if self.is_of_the_past(number) {
            self.account.duplicates += 1;
            return self.copy_gone(number);
        }
        if self.resends() && self.messages[message].lost {
            return self.arrived_late(message, number);
        }
        let one = &mut self.messages[message];
        one.arrived += 1;
        if one.arrived == 1 {
            self.begin_to_receive(terminal);
        }
        let one = &self.messages[message];
        if !self.settings.by_packet() || one.read {
            self.copy_gone(number);
            return self.complete(terminal, message);
        }
        let headed = match &self.flights {
            Some(flights) => flights.all[number].headed,
            None => one.heads >= one.arrived,
        };
        if !headed {
            self.head(terminal, message, number);
        }
        // The acknowledgement replaces the packet, or goes with it.
        self.copy_gone(number);
        if self.messages[message].taken {
            self.complete(terminal, message);
            self.take_parked(terminal);
        }
    }

    /// Handles the arrival of the part of a packet (its first character or all of it) that triggers its
    /// acknowledgement. `number`: as in `arrived`.
    pub(super) fn head(&mut self, terminal: u32, message: u32, number: u32) {
        self.messages[message].heads += 1;
        if let Some(flights) = &mut self.flights {
            let at = &mut flights.all[number];
            (at.headed, at.copies) = (true, at.copies + 1);
        }
        if self.messages[message].taken || self.take(terminal, message, number) {
            self.acknowledge(number);
        }
    }

    fn begin_to_receive(&mut self, terminal: u32) {
        let host = &mut self.hosts[terminal as usize];
        host.incomplete += 1;
        self.account.terminals[terminal as usize].receiving.set(true, self.now);
    }

    /// Takes a message, or makes it wait, with the acknowledgement of a packet.
    fn take(&mut self, terminal: u32, message: u32, number: u32) -> bool {
        self.match_first(terminal, message);
        let taking = self.hosts[terminal as usize].taking;
        if super::allows(self.settings.receive_at_once, taking) && self.has_room(message) {
            self.admit(terminal, message);
            return true;
        }
        let host = &mut self.hosts[terminal as usize];
        let one = &mut self.messages[message];
        one.held += 1;
        if one.held == 1 {
            host.parked.push_back(message);
        }
        if self.flights.is_some() {
            host.held.push_back(number);
        }
        false
    }

    /// Takes waiting messages while there is room.
    pub(super) fn take_parked(&mut self, terminal: u32) {
        loop {
            let host = &self.hosts[terminal as usize];
            if !super::allows(self.settings.receive_at_once, host.taking) {
                return;
            }
            let first = host.parked.iter().position(|&message| self.has_room(message));
            let parked = &mut self.hosts[terminal as usize].parked;
            let Some(message) = first.and_then(|place| parked.remove(place)) else { return };
            self.admit(terminal, message);
            let held = std::mem::take(&mut self.messages[message].held);
            match self.flights {
                Some(_) => self.acknowledge_held(terminal, message),
                None => (0..held).for_each(|_| self.acknowledge(message)),
            }
            self.complete(terminal, message);
        }
    }

    /// Acknowledges the packets of a message that waited until it was taken.
    fn acknowledge_held(&mut self, terminal: u32, message: u32) {
        for number in std::mem::take(&mut self.hosts[terminal as usize].held) {
            if self.message_of(number) == message {
                self.acknowledge(number);
            } else {
                self.hosts[terminal as usize].held.push_back(number);
            }
        }
    }

    /// Creates an acknowledgement at the port at which its packet arrived.
    pub(super) fn acknowledge(&mut self, number: u32) {
        let (_, port) = self.ports_of(number);
        let interface = &mut self.interfaces[port as usize];
        let taken_in = interface.takes_in.max(self.now);
        interface.takes_in = taken_in + self.settings.receive_gap;
        let ticks = taken_in - self.now + self.settings.ack;
        if ticks > 0 {
            interface.acks_soon.push_back(number);
            self.schedule_port(port, timer::ACK, ticks);
        } else {
            interface.acks.push_back(number);
            let terminal = interface.terminal;
            self.touch(terminal);
        }
    }

    /// Queues an acknowledgement that is ready for the link.
    pub(super) fn ack_ready(&mut self, port: u32) {
        let interface = &mut self.interfaces[port as usize];
        let number = interface.acks_soon.pop_front();
        interface.acks.extend(number);
        let terminal = interface.terminal;
        self.touch(terminal);
    }

    /// Receives a message if all of it has arrived.
    fn complete(&mut self, terminal: u32, message: u32) {
        let one = &mut self.messages[message];
        if one.arrived < one.due || one.bad {
            return;
        }
        one.received = true;
        let Message { bytes, tag, made, number, row, sent, taken, source, role, .. } = *one;
        let (read, receiver, note) = (one.read, one.receiver, one.note);
        if role == Role::Own {
            let delivery = Delivery {
                source,
                target: terminal,
                length: bytes,
                created: made,
                started: made,
                delivered: self.now,
                mark: super::NO,
                number,
            };
            self.account.receive(row, &delivery, tag);
        }
        if sent {
            self.messages.remove(message);
        }
        self.end_receiving(terminal, taken);
        match (role, receiver) {
            (Role::Announcement { of }, _) => self.announced(terminal, of),
            (Role::Answer { of }, _) => self.hand_over(of),
            _ if read => self.wake_those(terminal, |doing| doing == Doing::Read { message }),
            (_, Some((process, at))) => self.give(process, at, Some((source, tag, bytes))),
            _ if note != NO => self.notes[note].coming = NO,
            _ => self.note(terminal, source, tag, bytes, NO),
        }
    }

    /// Takes a message: its packets are acknowledged when they arrive.
    fn admit(&mut self, terminal: u32, message: u32) {
        self.hosts[terminal as usize].taking += 1;
        self.messages[message].taken = true;
        self.store_unexpected(message);
    }

    fn end_receiving(&mut self, terminal: u32, taken: bool) {
        let host = &mut self.hosts[terminal as usize];
        host.taking -= u32::from(taken);
        host.incomplete -= 1;
        if host.incomplete == 0 {
            self.account.terminals[terminal as usize].receiving.set(false, self.now);
        }
    }

    /// Stops receiving a message that will never be complete.
    pub(super) fn stop_receiving(&mut self, message: u32) {
        let Message { target, arrived, taken, .. } = self.messages[message];
        if arrived > 0 {
            self.end_receiving(target, taken);
        }
    }

    /// Stores a received message for the program, which may be waiting for it; or one that is coming, by its number.
    pub(super) fn note(&mut self, terminal: u32, source: u32, tag: u32, bytes: u32, coming: u32) {
        let host = &mut self.hosts[terminal as usize];
        if host.asks && !host.takes_answer(tag) {
            self.account.duplicates += 1;
            return;
        }
        if host.unended == 0 || !host.receives {
            return self.call(coming, None);
        }
        if let Some(place) = host.posted.iter().position(|one| one.wanted.fits(source, tag)) {
            let Posted { process, at, .. } = host.posted.remove(place);
            return match coming {
                NO => self.give(process, at, Some((source, tag, bytes))),
                _ => self.call(coming, Some((process, at))),
            };
        }
        let note = self.notes.add(Note { source, tag, bytes, coming, next: NO });
        host.inbox.push(&mut self.notes, note);
        match coming {
            NO => self.account.store(terminal, bytes),
            _ => self.messages[coming].note = note,
        }
    }

    /// Takes the first message that matches: its bytes, or if it is only coming, they come later. If there is none,
    /// posts the receive for later ones.
    #[inline(always)]
    pub(super) fn take_or_post(
        &mut self,
        terminal: u32,
        process: u32,
        at: u32,
        wanted: Wanted,
    ) -> Option<Taken> {
        match self.take_note(terminal, wanted) {
            Some(Note { source, tag, bytes, coming: NO, .. }) => {
                self.unstore(terminal, bytes);
                return Some((source, tag, bytes));
            }
            Some(note) => self.call(note.coming, Some((process, at))),
            None => self.hosts[terminal as usize].posted.push(Posted { wanted, process, at }),
        }
        None
    }

    fn take_note(&mut self, terminal: u32, wanted: Wanted) -> Option<Note> {
        let inbox = &mut self.hosts[terminal as usize].inbox;
        let (mut before, mut at) = (NO, inbox.head);
        while at != NO {
            let note = self.notes[at];
            if wanted.fits(note.source, note.tag) {
                inbox.take(&mut self.notes, before, at);
                self.notes.remove(at);
                return Some(note);
            }
            (before, at) = (at, note.next);
        }
        None
    }

    /// Discards messages that an ended program will not receive, and lets those come that are under way.
    pub(super) fn drop_notes(&mut self, terminal: u32) {
        while !self.hosts[terminal as usize].inbox.is_empty() {
            let note = self.hosts[terminal as usize].inbox.pop(&mut self.notes);
            let Note { coming, bytes, .. } = self.notes[note];
            self.notes.remove(note);
            match coming {
                NO => self.unstore(terminal, bytes),
                _ => self.call(coming, None),
            }
        }
    }
}
