//! From a message to packets on the link: slots, channels, windows, filling.

use super::bus::Transfer;
use super::interface::Interface;
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
        let (made, number) = (self.now, self.account.made as u32);
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
            number,
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
            given_up: false,
        })
    }

    fn goes_wrong(&mut self, terminal: u32, bytes: u32) -> bool {
        self.settings.draws_errors() && self.streams[terminal as usize].unit() < self.settings.wrong(bytes)
    }

    /// Has a message leave by a port, that of its terminal or as soon as it is known which.
    pub(super) fn hand_over(&mut self, message: u32) {
        let Message { source, target, .. } = self.messages[message];
        if !self.ways.are_several() {
            return self.leave_by(message, source, target);
        }
        self.hosts[source as usize].leaving.push_back(message);
        self.leave(source);
    }

    /// Has messages leave in order, as far as ports are free for them.
    fn leave(&mut self, terminal: u32) {
        while let Some(&message) = self.hosts[terminal as usize].leaving.front() {
            let target = self.messages[message].target;
            let ports = &self.interfaces[self.ways.ports_of(terminal).start as usize..];
            let (queued, chosen) =
                (|place: usize| ports[place].unsent as usize, self.hosts[terminal as usize].chosen);
            let found =
                self.ways.choose(terminal, target, chosen, self.now, queued, |place| queued(place) == 0);
            let place = match found {
                Ok(Some(place)) => place,
                Ok(None) => return self.await_link(terminal),
                Err(no_plane) => {
                    self.no_plane.get_or_insert(no_plane);
                    return;
                }
            };
            let host = &mut self.hosts[terminal as usize];
            host.chosen = place;
            host.leaving.pop_front();
            let port = self.ways.first(terminal) + place as u32;
            let to = self.ways.other_end(port, target).expect("its port was chosen so");
            self.leave_by(message, port, to);
        }
    }

    /// Has a terminal of which messages wait for a port look again when it knows that a link is down or runs.
    fn await_link(&mut self, terminal: u32) {
        let change = self.ways.next_change(terminal, self.now);
        let host = &mut self.hosts[terminal as usize];
        if let Some(time) = change
            && !std::mem::replace(&mut host.learns, true)
        {
            self.schedule(terminal, timer::LINK, time - self.now);
        }
    }

    /// A terminal knows that a link of its own is down, or runs again.
    pub(super) fn learn_links(&mut self, terminal: u32) {
        self.hosts[terminal as usize].learns = false;
        self.leave(terminal);
    }

    /// Puts a message on the channel from one port to another.
    fn leave_by(&mut self, message: u32, from: u32, to: u32) {
        let number = match self.pairs.get(&pair(from, to)) {
            Some(&number) => number,
            None => self.open_channel(from, to),
        };
        self.messages[message].channel = number;
        let channel = &mut self.channels[number];
        if channel.first == NO {
            channel.first = message;
        } else {
            self.messages[channel.last].next = message;
        }
        channel.last = message;
        let interface = &mut self.interfaces[from as usize];
        interface.unsent += 1;
        let terminal = interface.terminal;
        self.place(number);
        self.list(number);
        self.touch(terminal);
    }

    /// The interface by which a message leaves, once that is known.
    #[inline]
    pub(super) fn interface(&mut self, message: u32) -> &mut Interface {
        let channel = &self.channels[self.messages[message].channel];
        &mut self.interfaces[channel.source as usize]
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
        let interface = &mut self.interfaces[channel.source as usize];
        if allows(self.settings.channels_at_once, interface.placed) {
            interface.placed += 1;
            channel.placed = true;
        } else {
            channel.listed = true;
            interface.waiting.push(&mut self.channels, number);
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
            self.interfaces[source as usize].able.push(&mut self.channels, number);
        }
    }

    /// Begins packets, as far as the windows and the processor allow.
    pub(super) fn fill(&mut self, port: u32) {
        loop {
            let interface = &mut self.interfaces[port as usize];
            if interface.filling != NO || interface.able.is_empty() {
                return;
            }
            if interface.begins > self.now {
                return self.await_gap(port);
            }
            if !allows(self.settings.packets_at_once, interface.on_way) {
                interface.kept_back.get_or_insert(self.now);
                return;
            }
            let number = interface.able.pop(&mut self.channels);
            interface.on_way += 1;
            let waited = interface.kept_back.take().map_or(0, |since| self.now - since);
            let (message, bytes) = self.begin_packet(number);
            let gap = self.settings.send_gap(self.messages[message].bytes);
            self.interfaces[port as usize].begins = self.now + gap;
            let moved = if self.messages[message].read { 0 } else { bytes };
            self.start_filling(port, message, moved, waited);
        }
    }

    /// Has a port go on when it may begin a packet again.
    fn await_gap(&mut self, port: u32) {
        let interface = &mut self.interfaces[port as usize];
        let ticks = interface.begins - self.now;
        if !std::mem::replace(&mut interface.gap_timed, true) {
            self.schedule_port(port, timer::GAP, ticks);
        }
    }

    /// A port may begin a packet again.
    pub(super) fn gap_over(&mut self, port: u32) {
        let interface = &mut self.interfaces[port as usize];
        interface.gap_timed = false;
        let terminal = interface.terminal;
        self.touch(terminal);
    }

    /// Starts to fill a packet, or has it filled if that takes no time.
    fn start_filling(&mut self, port: u32, message: u32, bytes: u32, waited: Time) {
        let ticks = self.settings.fill_after(self.messages[message].bytes, bytes, waited);
        let interface = &mut self.interfaces[port as usize];
        interface.filling = message;
        let terminal = interface.terminal;
        if self.settings.programmed {
            self.use_bus(terminal, Transfer::Store { message }, ticks);
        } else if ticks > 0 {
            interface.filling_bytes = bytes;
            self.schedule_port(port, timer::FILL, ticks);
        } else {
            interface.filling = NO;
            self.use_bus(terminal, Transfer::Out { message }, self.settings.bus.of(bytes));
        }
    }

    /// A packet has been filled over the bus by the program's own processor, which goes on behind the last one.
    pub(super) fn stored(&mut self, terminal: u32, message: u32) {
        let interface = self.interface(message);
        interface.filling = NO;
        interface.make_ready(message);
        let one = &self.messages[message];
        let goes_on = one.begun == one.packets && self.settings.check == 0;
        if goes_on && self.hosts[terminal as usize].doing == (Doing::Storing { message }) {
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
    pub(super) fn fill_over(&mut self, port: u32) {
        let interface = &mut self.interfaces[port as usize];
        let message = std::mem::replace(&mut interface.filling, NO);
        let (terminal, bytes) = (interface.terminal, interface.filling_bytes);
        self.use_bus(terminal, Transfer::Out { message }, self.settings.bus.of(bytes));
        self.touch(terminal);
    }

    /// Hands over what the link takes.
    pub(super) fn send(&mut self, port: u32, send: &mut impl FnMut(u32, &Packet) -> bool) {
        while self.interfaces[port as usize].open {
            let Some(packet) = self.next_packet(port) else { return };
            self.packets += 1;
            self.characters += u64::from(packet.length);
            self.interfaces[port as usize].open = send(port, &packet);
            if self.settings.at_once() && mark::kind(packet.mark) == mark::DATA {
                self.acknowledged(mark::message(packet.mark));
            }
        }
    }

    fn next_packet(&mut self, port: u32) -> Option<Packet> {
        let dispatch = self.now;
        if let Some(number) = self.interfaces[port as usize].acks.pop_front() {
            let (length, mark) = (self.settings.ack_length, mark::of(number, mark::ACK));
            let ((target, _), via) = (self.ports_of(number), self.draw_via(port));
            return Some(Packet { created: dispatch, dispatch, target, length, via, mark });
        }
        if let Some(packet) = self.next_again(port) {
            return Some(Packet { via: self.draw_via(port), ..packet });
        }
        let message = self.interfaces[port as usize].take_ready()?;
        let via = self.draw_via(port);
        let one = &mut self.messages[message];
        let target = self.channels[one.channel].target;
        let bytes = self.settings.cut.bytes(one.bytes, one.handed);
        one.handed += 1;
        let mark = mark::of(message, if one.read { mark::READ } else { mark::DATA });
        let length = self.settings.cut.length(bytes);
        let packet = Packet { created: one.made, dispatch, target, length, via, mark };
        Some(self.take_off(message, bytes, packet))
    }

    /// Ports between which a packet goes, by the number of its message, or by its own where packets are sent again.
    pub(super) fn ports_of(&self, number: u32) -> (u32, u32) {
        if let Some(resends) = &self.resends {
            return resends.ports(number);
        }
        let channel = &self.channels[self.messages[number].channel];
        (channel.source, channel.target)
    }

    /// Draws the intermediate switch of a packet that leaves by a port, where there are any.
    fn draw_via(&mut self, port: u32) -> u32 {
        let terminal = self.interfaces[port as usize].terminal;
        let (switches, home) = self.ways.draw_from(terminal);
        match self.streams.get_mut(terminal as usize) {
            Some(stream) if !switches.is_empty() => self.ways.via(port, via(stream, switches, home)),
            _ => NO,
        }
    }

    /// A packet of a message is acknowledged: its place in the windows is free.
    pub(super) fn acknowledged(&mut self, message: u32) {
        let one = &mut self.messages[message];
        one.acknowledged += 1;
        let Message { source: terminal, channel: number, acknowledged, packets, read, .. } = *one;
        let last = acknowledged == packets;
        self.channels[number].on_way -= 1;
        self.interface(message).on_way -= 1;
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
        self.interface(message).unsent -= 1;
        if !self.settings.overlaps {
            self.next_message(channel, message);
        }
        if received || self.is_forgotten(message) {
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
        self.leave(source);
    }

    /// The first message of a channel is sent: the channel gives its place to those that wait, itself the last of them.
    fn next_message(&mut self, number: u32, message: u32) {
        let channel = &mut self.channels[number];
        let port = channel.source;
        channel.first = self.messages[message].next;
        channel.placed = false;
        self.interfaces[port as usize].placed -= 1;
        self.wait_in_line(number, port);
        let waiting = &mut self.interfaces[port as usize].waiting;
        if !waiting.is_empty() {
            let first = waiting.pop(&mut self.channels);
            self.channels[first].listed = false;
            self.place(first);
            self.list(first);
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

    /// Forgets a channel on which nothing is to be done.
    fn close_channel(&mut self, number: u32) {
        let Channel { source, target, first, on_way, placed, .. } = self.channels[number];
        if first == NO && on_way == 0 {
            self.interfaces[source as usize].placed -= u32::from(placed);
            self.pairs.remove(&pair(source, target));
            self.channels.remove(number);
        }
    }
}
