//! From a message to packets on the link: slots, channels, windows, filling.

use super::bus::Transfer;
use super::message::{Channel, Message};
use super::process::Doing;
use super::{NO, NOT_YET, Programs, Row, allows, mark, pair, timer};
use crate::kernel::Time;
use crate::terminal::Packet;
use crate::terminal::draw::via;

impl Programs {
    /// Makes a message, which takes a slot.
    pub(super) fn make(&mut self, source: u32, target: u32, bytes: u32, tag: u32, read: bool) -> u32 {
        self.hosts[source as usize].unsent += 1;
        let packets = self.settings.cut.packets(bytes);
        let made = self.now;
        let (from, to) = if read { (target, source) } else { (source, target) };
        let (sent, received) = (NOT_YET, NOT_YET);
        let row = self.account.make(Row { source: from, target: to, bytes, tag, made, sent, received });
        let bad = self.goes_wrong(source, bytes);
        self.messages.add(Message {
            source,
            target,
            bytes,
            tag,
            made,
            packets,
            begun: 0,
            handed: 0,
            acknowledged: 0,
            come: 0,
            arrived: 0,
            heads: 0,
            due: u64::from(packets),
            held: 0,
            channel: NO,
            next: NO,
            row,
            read,
            taken: false,
            bad,
            sent: false,
            received: false,
            lost: false,
        })
    }

    fn goes_wrong(&mut self, terminal: u32, bytes: u32) -> bool {
        self.settings.draws_errors() && self.streams[terminal as usize].unit() < self.settings.wrong(bytes)
    }

    /// Puts a message on its channel.
    pub(super) fn hand_over(&mut self, message: u32) {
        let Message { source, target, .. } = self.messages[message];
        let number = match self.pairs.get(&pair(source, target)) {
            Some(&number) => number,
            None => self.open_channel(source, target),
        };
        self.messages[message].channel = number;
        let channel = &mut self.channels[number];
        if channel.first == NO {
            channel.first = message;
        } else {
            self.messages[channel.last].next = message;
        }
        channel.last = message;
        self.place(number);
        self.list(number);
        self.touch(source);
    }

    fn open_channel(&mut self, source: u32, target: u32) -> u32 {
        let (first, last, next) = (NO, NO, NO);
        let channel = Channel { source, target, first, last, on_way: 0, placed: false, listed: false, next };
        let number = self.channels.add(channel);
        self.pairs.insert(pair(source, target), number);
        number
    }

    /// Gives a channel with a message a place among those in use, or has it wait for one.
    fn place(&mut self, number: u32) {
        let channel = &mut self.channels[number];
        if channel.placed || channel.listed {
            return;
        }
        let host = &mut self.hosts[channel.source as usize];
        if allows(self.settings.channels_at_once, host.placed) {
            host.placed += 1;
            channel.placed = true;
        } else {
            channel.listed = true;
            host.waiting.push(&mut self.channels, number);
        }
    }

    /// Puts a channel behind those that may begin a packet, if it may.
    fn list(&mut self, number: u32) {
        let channel = &self.channels[number];
        if !channel.placed || channel.listed || channel.first == NO {
            return;
        }
        let first = &self.messages[channel.first];
        if first.begun < first.packets && allows(self.settings.packets_per_channel, channel.on_way) {
            let source = channel.source;
            self.channels[number].listed = true;
            self.hosts[source as usize].able.push(&mut self.channels, number);
        }
    }

    /// Begins packets, as far as the windows and the processor allow.
    pub(super) fn fill(&mut self, terminal: u32) {
        loop {
            let host = &mut self.hosts[terminal as usize];
            if host.filling != NO || host.able.is_empty() {
                return;
            }
            if host.begins > self.now {
                return self.await_gap(terminal);
            }
            if !allows(self.settings.packets_at_once, host.on_way) {
                host.kept_back.get_or_insert(self.now);
                return;
            }
            let number = host.able.pop(&mut self.channels);
            host.on_way += 1;
            let waited = host.kept_back.take().map_or(0, |since| self.now - since);
            let (message, bytes) = self.begin_packet(number);
            let gap = self.settings.send_gap(self.messages[message].bytes);
            self.hosts[terminal as usize].begins = self.now + gap;
            let moved = if self.messages[message].read { 0 } else { bytes };
            self.start_filling(terminal, message, moved, waited);
        }
    }

    /// Has a terminal go on when it may begin a packet again.
    fn await_gap(&mut self, terminal: u32) {
        let host = &mut self.hosts[terminal as usize];
        let ticks = host.begins - self.now;
        if !std::mem::replace(&mut host.gap_timed, true) {
            self.schedule(terminal, timer::GAP, ticks);
        }
    }

    /// A terminal may begin a packet again.
    pub(super) fn gap_over(&mut self, terminal: u32) {
        self.hosts[terminal as usize].gap_timed = false;
        self.touch(terminal);
    }

    /// Starts to fill a packet, or has it filled if that takes no time.
    fn start_filling(&mut self, terminal: u32, message: u32, bytes: u32, waited: Time) {
        let ticks = self.settings.fill_after(self.messages[message].bytes, bytes, waited);
        let host = &mut self.hosts[terminal as usize];
        host.filling = message;
        if self.settings.programmed {
            self.use_bus(terminal, Transfer::Store { message }, ticks);
        } else if ticks > 0 {
            host.filling_bytes = bytes;
            self.schedule(terminal, timer::FILL, ticks);
        } else {
            host.filling = NO;
            self.use_bus(terminal, Transfer::Out { message }, self.settings.bus.of(bytes));
        }
    }

    /// A packet has been filled over the bus by the program's own processor, which goes on behind the last one.
    pub(super) fn stored(&mut self, terminal: u32, message: u32) {
        let host = &mut self.hosts[terminal as usize];
        host.filling = NO;
        host.make_ready(message);
        let one = &self.messages[message];
        let goes_on = one.begun == one.packets && self.settings.check == 0;
        if goes_on && host.doing == (Doing::Storing { message }) {
            self.wake_next(terminal);
        }
        self.touch(terminal);
    }

    /// Begins the next packet of a channel; its message and bytes.
    fn begin_packet(&mut self, number: u32) -> (u32, u32) {
        let channel = &mut self.channels[number];
        let at = channel.first;
        let message = &mut self.messages[at];
        let bytes = self.settings.cut.bytes(message.bytes, message.begun);
        message.begun += 1;
        channel.on_way += 1;
        channel.listed = false;
        if message.begun == message.packets && self.settings.overlaps {
            channel.first = message.next;
        }
        self.list(number);
        (at, bytes)
    }

    /// A packet has been filled.
    pub(super) fn fill_over(&mut self, terminal: u32) {
        let host = &mut self.hosts[terminal as usize];
        let message = std::mem::replace(&mut host.filling, NO);
        let bytes = host.filling_bytes;
        self.use_bus(terminal, Transfer::Out { message }, self.settings.bus.of(bytes));
        self.touch(terminal);
    }

    /// Hands over what the link takes.
    pub(super) fn send(&mut self, terminal: u32, send: &mut impl FnMut(u32, &Packet) -> bool) {
        while self.hosts[terminal as usize].open {
            let Some(packet) = self.next_packet(terminal) else { return };
            self.packets += 1;
            self.characters += u64::from(packet.length);
            self.hosts[terminal as usize].open = send(terminal, &packet);
            if self.settings.at_once() && mark::kind(packet.mark) == mark::DATA {
                self.acknowledged(mark::message(packet.mark));
            }
        }
    }

    fn next_packet(&mut self, terminal: u32) -> Option<Packet> {
        let host = &mut self.hosts[terminal as usize];
        let via = match self.streams.get_mut(terminal as usize) {
            Some(stream) if !self.settings.via_switch.is_empty() => Some(stream),
            _ => None,
        };
        let (message, kind) = match host.acks.pop_front() {
            Some(message) => (message, mark::ACK),
            None => (host.take_ready()?, mark::DATA),
        };
        let home = self.settings.home[terminal as usize];
        let via = via.map_or(NO, |stream| self::via(stream, &self.settings.via_switch, home));
        let one = &mut self.messages[message];
        let dispatch = self.now;
        if kind == mark::ACK {
            let length = self.settings.ack_length;
            let mark = mark::of(message, kind);
            return Some(Packet { created: dispatch, dispatch, target: one.source, length, via, mark });
        }
        let bytes = self.settings.cut.bytes(one.bytes, one.handed);
        one.handed += 1;
        let mark = mark::of(message, if one.read { mark::READ } else { kind });
        let length = self.settings.cut.length(bytes);
        Some(Packet { created: one.made, dispatch, target: one.target, length, via, mark })
    }

    /// A packet of a message is acknowledged: its place in the windows is free.
    pub(super) fn acknowledged(&mut self, message: u32) {
        let one = &mut self.messages[message];
        one.acknowledged += 1;
        let Message { source: terminal, channel: number, acknowledged, packets, read, .. } = *one;
        let last = acknowledged == packets;
        self.channels[number].on_way -= 1;
        self.hosts[terminal as usize].on_way -= 1;
        self.touch(terminal);
        if last && self.settings.check > 0 && !read {
            self.hosts[terminal as usize].checks.push_back(message);
            self.schedule(terminal, timer::CHECK, self.settings.check);
        } else if last {
            self.sent(message);
        }
        self.list(number);
        self.close_channel(number);
    }

    /// A message has been checked: it is sent, or goes again.
    pub(super) fn checked(&mut self, terminal: u32) {
        let Some(message) = self.hosts[terminal as usize].checks.pop_front() else { return };
        let Message { bytes, bad, channel, .. } = self.messages[message];
        if !bad {
            self.sent(message);
            self.list(channel);
            return self.close_channel(channel);
        }
        self.account.repeated += 1;
        let bad = self.goes_wrong(terminal, bytes);
        let one = &mut self.messages[message];
        (one.begun, one.handed, one.acknowledged) = (0, 0, 0);
        one.due += u64::from(one.packets);
        one.bad = bad;
        self.list(channel);
        self.touch(terminal);
    }

    /// The protocol has nothing more to do for a message at its sender.
    fn sent(&mut self, message: u32) {
        let one = &mut self.messages[message];
        one.sent = true;
        let Message { source, bytes, row, received, channel, .. } = *one;
        self.account.send(row, one.ends().0, bytes, self.now);
        if !self.settings.overlaps {
            self.next_message(channel, message);
        }
        if received {
            self.messages.remove(message);
        }
        let host = &mut self.hosts[source as usize];
        host.unsent -= 1;
        match host.doing {
            Doing::Slot => {
                self.account.terminals[source as usize].blocked.set(false, self.now);
                self.wake(source);
            }
            Doing::Storing { message: stored } if stored == message => self.wake_next(source),
            Doing::Flush if host.unsent == 0 => self.wake_next(source),
            _ => {}
        }
    }

    /// The first message of a channel is sent: the channel gives its place to those that wait, itself the last of them.
    fn next_message(&mut self, number: u32, message: u32) {
        let channel = &mut self.channels[number];
        let terminal = channel.source;
        channel.first = self.messages[message].next;
        channel.placed = false;
        self.hosts[terminal as usize].placed -= 1;
        self.wait_in_line(number, terminal);
        let waiting = &mut self.hosts[terminal as usize].waiting;
        if !waiting.is_empty() {
            let first = waiting.pop(&mut self.channels);
            self.channels[first].listed = false;
            self.place(first);
            self.list(first);
            self.touch(terminal);
        }
    }

    fn wait_in_line(&mut self, number: u32, terminal: u32) {
        if self.channels[number].first != NO {
            self.channels[number].listed = true;
            self.hosts[terminal as usize].waiting.push(&mut self.channels, number);
        }
    }

    /// Forgets a channel on which nothing is to be done.
    fn close_channel(&mut self, number: u32) {
        let Channel { source, target, first, on_way, placed, .. } = self.channels[number];
        if first == NO && on_way == 0 {
            self.hosts[source as usize].placed -= u32::from(placed);
            self.pairs.remove(&pair(source, target));
            self.channels.remove(number);
        }
    }
}
