//! From a message to packets on the link: slots, channels, windows.

use super::interface::Interface;
use super::message::{Channel, Message, Part, Role};
use super::process::Doing;
use super::{NO, NOT_YET, Programs, Row, allows, mark, pair, timer};
use crate::terminal::Packet;
use crate::terminal::draw::via;

/// Channels without work that may stay, for each port.
const STAYING: usize = 8;

impl Programs {
    /// Creates a message, which takes a slot.
    pub(super) fn make(&mut self, source: u32, target: u32, bytes: u32, tag: u32, read: bool) -> u32 {
        self.hosts[source as usize].unsent += 1;
        let made = self.now;
        let (from, to) = if read { (target, source) } else { (source, target) };
        let (sent, received) = (NOT_YET, NOT_YET);
        let row = self.account.make(Row { source: from, target: to, bytes, tag, made, sent, received });
        self.add_message(source, target, bytes, tag, row, read, Role::Own)
    }

    /// Adds a message of the program, or one that announces or answers it.
    #[inline(always)]
    pub(super) fn add_message(
        &mut self,
        source: u32,
        target: u32,
        bytes: u32,
        tag: u32,
        row: u32,
        read: bool,
        role: Role,
    ) -> u32 {
        let packets = self.settings.cut.packets(bytes);
        let (made, number) = (self.now, self.made);
        self.made = self.made.wrapping_add(1);
        let bad = self.goes_wrong(source, bytes);
        self.messages.add(Message {
            source,
            target,
            bytes,
            tag,
            made,
            number,
            packets_before: 0,
            packets,
            placed: 0,
            begun: 0,
            handed: 0,
            acknowledged: 0,
            stored: 0,
            come: 0,
            arrived: 0,
            heads: 0,
            due: u64::from(packets),
            held: 0,
            channel: NO,
            row,
            read,
            role,
            receiver: None,
            note: NO,
            kept: false,
            operation: NO,
            taken: false,
            round: 0,
            bad,
            failed: false,
            sent: false,
            received: false,
            lost: false,
            given_up: false,
        })
    }

    fn goes_wrong(&mut self, terminal: u32, bytes: u32) -> bool {
        self.settings.draws_errors() && self.streams[terminal as usize].unit() < self.settings.wrong(bytes)
    }

    /// Puts packets of a message on the channel between two ports.
    pub(super) fn leave_by(&mut self, message: u32, packets: u32, from: u32, to: u32) {
        let number = match self.pairs.get(&pair(from, to)) {
            Some(&number) => number,
            None => self.open_channel(from, to),
        };
        self.append(number, message, packets);
        let interface = &mut self.interfaces[from as usize];
        interface.unsent += 1;
        interface.waits += if self.settings.per_packet { packets } else { 0 };
        let terminal = interface.terminal;
        self.place(number);
        self.touch_ports(terminal);
    }

    /// Appends packets of a message to those that a channel has to begin.
    #[inline(always)]
    fn append(&mut self, number: u32, message: u32, left: u32) {
        let one = &mut self.messages[message];
        one.channel = number;
        let first = one.placed;
        one.placed += left;
        let which = if self.settings.per_packet { first..first + left } else { 0..0 };
        let channel = &mut self.channels[number];
        if channel.first != NO && self.parts[channel.last].message == message {
            let last = &mut self.parts[channel.last];
            last.left += left;
            return last.which.extend(which);
        }
        let part = self.parts.add(Part { message, left, which: which.collect(), next: NO });
        if channel.first == NO {
            channel.first = part;
        } else {
            self.parts[channel.last].next = part;
        }
        channel.last = part;
    }

    /// Returns the interface at which a channel begins.
    #[inline]
    pub(super) fn interface(&mut self, channel: u32) -> &mut Interface {
        &mut self.interfaces[self.channels[channel].source as usize]
    }

    fn open_channel(&mut self, source: u32, target: u32) -> u32 {
        let (first, last, next) = (NO, NO, NO);
        let channel = Channel { source, target, first, last, on_way: 0, placed: false, listed: false, next };
        let number = self.channels.add(channel);
        self.pairs.insert(pair(source, target), number);
        number
    }

    /// Gives a channel with a message a place among those in use, or makes it wait for one.
    #[inline(always)]
    fn place(&mut self, number: u32) {
        let channel = &mut self.channels[number];
        if channel.listed {
            return;
        }
        if !channel.placed {
            let interface = &mut self.interfaces[channel.source as usize];
            if !allows(self.settings.channels_at_once, interface.placed) {
                channel.listed = true;
                return interface.waiting.push(&mut self.channels, number);
            }
            interface.placed += 1;
            channel.placed = true;
        }
        self.list(number);
    }

    /// Adds a channel to those that may begin a packet, if it may.
    pub(super) fn list(&mut self, number: u32) {
        let channel = &mut self.channels[number];
        let Channel { source, first, on_way, placed, listed, .. } = *channel;
        let is_idle = !placed || listed || first == NO;
        if is_idle || self.parts[first].left == 0 || !allows(self.settings.packets_per_channel, on_way) {
            return;
        }
        channel.listed = true;
        if self.settings.shaper.is_none() || !self.awaits_tokens(number) {
            self.interfaces[source as usize].able.push(&mut self.channels, number);
        }
    }

    /// Begins the next packet of a channel; returns its message and its index.
    #[inline(always)]
    pub(super) fn begin_packet(&mut self, number: u32) -> (u32, u32) {
        let channel = &mut self.channels[number];
        let first = channel.first;
        let part = &mut self.parts[first];
        let at = part.message;
        part.left -= 1;
        let message = &mut self.messages[at];
        let which = part.which.pop_front().unwrap_or(message.begun);
        message.begun += 1;
        channel.on_way += 1;
        channel.listed = false;
        if part.left == 0 && self.settings.overlaps {
            channel.first = part.next;
            self.parts.remove(first);
        }
        let is_idle = channel.first == NO;
        if self.settings.shaper.is_some() {
            self.take_tokens(number, at, which);
        }
        if !is_idle {
            self.list(number);
        }
        (at, which)
    }

    /// Hands over packets while the link takes them.
    pub(super) fn send(&mut self, port: u32, send: &mut impl FnMut(u32, &Packet) -> bool) {
        while self.interfaces[port as usize].open {
            let Some(packet) = self.next_packet(port) else { return };
            self.packets += 1;
            self.awaited += u64::from(self.settings.by_transaction(packet.mark));
            self.bytes += u64::from(packet.length);
            self.interfaces[port as usize].open = send(port, &packet);
            if self.settings.at_once() && mark::kind(packet.mark) == mark::DATA {
                self.acknowledged_at_once(mark::message(packet.mark));
            }
        }
    }

    #[inline(always)]
    fn next_packet(&mut self, port: u32) -> Option<Packet> {
        let dispatch = self.now;
        if let Some(number) = self.interfaces[port as usize].acks.pop_front() {
            let (length, mark) = (self.settings.ack_length, mark::of(number, mark::ACK));
            let ((target, _), via) = (self.ports_of(number), self.draw_via(port));
            return Some(Packet { created: dispatch, dispatch, target, length, via, mark, number: 0 });
        }
        if let Some(packet) = self.next_again(port) {
            return Some(Packet { via: self.draw_via(port), ..packet });
        }
        let number = self.interfaces[port as usize].take_ready()?;
        if self.settings.per_packet {
            let interface = &mut self.interfaces[port as usize];
            interface.waits -= 1;
            let terminal = interface.terminal;
            self.leave(terminal);
        }
        let via = self.draw_via(port);
        let target = self.channels[self.channel_of(number)].target;
        let message = self.message_of(number);
        let one = &mut self.messages[message];
        let bytes = match &mut self.flights {
            Some(flights) => {
                flights.start_clock(number, self.now);
                flights.all[number].bytes
            }
            None => self.settings.cut.bytes(one.bytes, one.handed),
        };
        one.handed += 1;
        let mark = mark::of(number, if one.read { mark::READ } else { mark::DATA });
        Some(Packet { created: one.made, dispatch, target, length: bytes, via, mark, number: 0 })
    }

    /// Counts a packet as acknowledged when the link has taken it.
    fn acknowledged_at_once(&mut self, number: u32) {
        let (message, channel) = (self.message_of(number), self.channel_of(number));
        self.flights.iter_mut().for_each(|flights| flights.all[number].over = true);
        self.acknowledged(message, channel);
    }

    /// Draws the intermediate switch of a packet that leaves by a port, if there are any.
    #[inline(always)]
    fn draw_via(&mut self, port: u32) -> u32 {
        if self.streams.is_empty() { NO } else { self.draw_switch(port) }
    }

    #[inline(never)]
    fn draw_switch(&mut self, port: u32) -> u32 {
        let terminal = self.interfaces[port as usize].terminal;
        let (switches, home) = self.ways.draw_from(terminal);
        if switches.is_empty() {
            return NO;
        }
        self.ways.via(port, via(&mut self.streams[terminal as usize], switches, home))
    }

    /// Handles the acknowledgement of a packet: its places in the windows are free.
    pub(super) fn acknowledged(&mut self, message: u32, number: u32) {
        let one = &mut self.messages[message];
        one.acknowledged += 1;
        let Message { source: terminal, acknowledged, packets, read, .. } = *one;
        let channel = &mut self.channels[number];
        channel.on_way -= 1;
        let port = channel.source;
        self.interfaces[port as usize].on_way -= 1;
        if self.settings.per_packet {
            self.part_acknowledged(number);
        }
        if acknowledged == packets && self.settings.check > 0 && !read {
            self.hosts[terminal as usize].checks.push_back(message);
            self.schedule(terminal, timer::CHECK, self.settings.check);
        } else if acknowledged == packets {
            self.sent(message, number);
        }
        self.list_or_close(number);
        if self.interfaces[port as usize].may_fill() {
            self.touch(terminal);
        }
    }

    /// Adds a channel with work to those that may begin a packet, if it may; closes one without.
    #[inline(always)]
    fn list_or_close(&mut self, number: u32) {
        let channel = &self.channels[number];
        if channel.first != NO {
            self.list(number);
        } else if channel.on_way == 0 {
            self.close_channel(number);
        }
    }

    /// Handles the acknowledgement of a packet that had its own port.
    fn part_acknowledged(&mut self, number: u32) {
        self.interface(number).unsent -= 1;
        let Channel { first, on_way, .. } = self.channels[number];
        if !self.settings.overlaps && on_way == 0 && self.parts[first].left == 0 {
            self.next_part(number);
        }
    }

    /// Ends the check of a message: it is sent, or starts again.
    pub(super) fn checked(&mut self, terminal: u32) {
        let Some(message) = self.hosts[terminal as usize].checks.pop_front() else { return };
        let Message { bytes, bad, failed, received, channel, .. } = self.messages[message];
        if !bad && !failed {
            self.sent(message, channel);
            return self.list_or_close(channel);
        }
        self.account.repeated += 1;
        let bad = self.goes_wrong(terminal, bytes);
        let counts_rounds = self.flights.is_some();
        if counts_rounds && !received {
            self.stop_receiving(message);
        }
        let one = &mut self.messages[message];
        (one.begun, one.handed, one.acknowledged) = (0, 0, 0);
        if counts_rounds {
            (one.round, one.arrived) = (one.round + 1, 0);
            // Packets that were lost without the sender's knowledge are sent again.
            self.find(message);
        } else {
            one.due += u64::from(one.packets);
        }
        let one = &mut self.messages[message];
        (one.bad, one.failed) = (bad, false);
        let packets = one.packets;
        if self.ways.are_several() && self.leaves_by_another(message, channel) {
            return;
        }
        let first = self.channels[channel].first;
        self.parts[first].left = packets;
        self.list(channel);
        self.touch(terminal);
    }

    /// Takes a message from its channel, to send it again on another one.
    pub(super) fn take_off(&mut self, message: u32, channel: u32) {
        self.interface(channel).unsent -= 1;
        self.next_part(channel);
        self.list_or_close(channel);
        self.messages[message].placed = 0;
    }

    /// Ends a message at its sender: the protocol has nothing more to do for it.
    #[inline(always)]
    fn sent(&mut self, message: u32, channel: u32) {
        let one = &mut self.messages[message];
        one.sent = true;
        let Message { source, bytes, row, received, role, operation, .. } = *one;
        if role == Role::Own {
            self.account.send(row, one.ends().0, bytes, self.now);
        }
        if !self.settings.per_packet {
            self.interface(channel).unsent -= 1;
            if !self.settings.overlaps {
                self.next_part(channel);
            }
        }
        if received || self.is_forgotten(message) {
            self.messages.remove(message);
        }
        if role == Role::Own {
            self.free_place(source, message);
        }
        if operation != NO {
            self.end_operation(source, operation);
        }
        self.leave(source);
    }

    /// Frees the slot of a message that is sent, and continues those that wait for that.
    #[inline(always)]
    fn free_place(&mut self, source: u32, message: u32) {
        let host = &mut self.hosts[source as usize];
        host.unsent -= 1;
        let all = host.unsent == 0 && host.flushes;
        if !host.slots.is_empty() {
            self.free_slot(source);
        }
        if all || self.settings.programmed {
            let waits = |doing| doing == Doing::Storing { message } || all && doing == Doing::Flush;
            self.wake_those(source, waits);
        }
    }

    /// Ends the first part on a channel: the channel yields its place to those that wait, and queues behind them.
    fn next_part(&mut self, number: u32) {
        let channel = &mut self.channels[number];
        let (port, first) = (channel.source, channel.first);
        channel.first = self.parts[first].next;
        self.parts.remove(first);
        channel.placed = false;
        self.interfaces[port as usize].placed -= 1;
        self.wait_in_line(number, port);
        let waiting = &mut self.interfaces[port as usize].waiting;
        if !waiting.is_empty() {
            let first = waiting.pop(&mut self.channels);
            self.channels[first].listed = false;
            self.place(first);
            let terminal = self.interfaces[port as usize].terminal;
            self.touch(terminal);
        }
    }

    fn wait_in_line(&mut self, number: u32, port: u32) {
        if self.channels[number].first != NO {
            self.channels[number].listed = true;
            self.interfaces[port as usize].waiting.push(&mut self.channels, number);
        }
    }

    /// Closes a channel without work; it stays for its next message unless there are many. Those with shapers never
    /// stay: which one of a tick begins first depends on their numbers.
    #[inline(always)]
    fn close_channel(&mut self, number: u32) {
        let channel = &mut self.channels[number];
        let Channel { source, target, .. } = *channel;
        let placed = std::mem::take(&mut channel.placed);
        self.interfaces[source as usize].placed -= u32::from(placed);
        if self.settings.shaper.is_some() || self.channels.count() > STAYING * self.interfaces.len() {
            self.pairs.remove(&pair(source, target));
            self.channels.remove(number);
        }
    }
}
