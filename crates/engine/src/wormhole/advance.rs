//! What becomes of a packet at the turning points of its way: dispatch, request, grant, release, delivery.

use super::state::{Event, Header, Network, PacketState, UNKNOWN, Worm};
use super::timeline::ahead;
use std::num::Wrapping;

use crate::fabric::NONE;
use crate::kernel::Time;
use crate::terminal::Packet;

impl Network {
    /// Puts a packet on its terminal's link at its dispatch, which is the present tick.
    pub fn dispatch(&mut self, terminal: u32, packet: &Packet) {
        let link = self.fabric.terminal_out_link[terminal as usize];
        let header = if packet.via == NONE { Header::Final } else { Header::Via };
        let headers =
            self.header_chars(header) + if packet.via == NONE { 0 } else { self.fabric.header_chars };
        let number = self.new_packet(PacketState {
            source: terminal,
            target: packet.target,
            length: packet.length,
            via: packet.via,
            created: packet.created,
            started: UNKNOWN,
        });
        let first = self.links[link as usize].granted;
        let end = first + Wrapping(headers + packet.length + 1);
        let (ready, bound) = (packet.dispatch, false);
        let worm = self.new_worm(Worm {
            packet: number,
            first,
            end,
            next: NONE,
            header,
            ready,
            bound,
            started: UNKNOWN,
            sent: UNKNOWN,
        });
        self.append(link, worm);
        let at = &mut self.links[link as usize];
        at.granted = end;
        self.wake(link);
        self.settle();
    }

    /// Characters of the front header.
    pub(super) fn header_chars(&self, header: Header) -> u32 {
        match header {
            Header::Via => self.fabric.via_header_chars,
            Header::Final => self.fabric.header_chars,
            Header::Deleted => 0,
        }
    }

    /// Gives the head packet of an input link its output, at the present tick.
    pub(super) fn grant(&mut self, input: u32, output: u32, now: Time) {
        let at = &self.links[input as usize];
        let worm = self.worms[at.head as usize];
        let first = self.links[output as usize].granted;
        let strips =
            (at.strips || self.links[output as usize].deletes_header) && worm.header != Header::Deleted;
        let deleted = if strips { self.header_chars(worm.header) } else { 0 };
        let header = match (strips, worm.header) {
            (false, header) => header,
            (true, Header::Via) => Header::Final,
            (true, _) => Header::Deleted,
        };
        let end = first + (worm.end - worm.first) - Wrapping(deleted);
        let at = &mut self.links[input as usize];
        at.output = output;
        at.exit_free = at.exit_free.max(now);
        at.deleted = worm.first + Wrapping(deleted);
        at.group = NONE;
        let shift = at.deleted - first;
        let ready = at.exit_free + Time::from(deleted * at.crossbar);
        let waited = (now - at.requested) as u64;
        let to = &mut self.links[output as usize];
        to.granted = end;
        to.shift = shift;
        to.holder = input;
        to.free_at = UNKNOWN;
        to.last_grant = now;
        to.count.wait_ticks += waited;
        let (ready, bound) = (ready + Time::from(to.forward), false);
        let number =
            self.new_worm(Worm { first, end, ready, bound, header, next: NONE, started: UNKNOWN, sent: UNKNOWN, ..worm });
        self.append(output, number);
        self.grants += 1;
        self.wake(output);
        self.settle();
    }

    /// A worm's end of packet has a time on the wire.
    #[inline(always)]
    pub(super) fn sent(&mut self, link: u32, number: u32) {
        let at = &mut self.links[link as usize];
        let worm = &mut self.worms[number as usize];
        worm.sent = at.wire_free;
        at.sending = worm.next;
        let chars = u64::from((worm.end - worm.first).0);
        let busy = (chars - 1) * u64::from(at.character) + u64::from(at.end);
        at.count.packets += 1;
        at.count.characters += chars;
        at.count.busy_ticks += busy;
        at.count.stalled_ticks += (at.wire_free - worm.started) as u64 - busy;
        let free = at.wire_free;
        if at.from_terminal {
            let packet = &mut self.packets[worm.packet as usize];
            packet.started = worm.started;
            let terminal = packet.source;
            self.schedule(Event::Source(terminal), free);
        }
        let at = &self.links[link as usize];
        if at.to_terminal && at.head == number {
            self.schedule_delivery(link);
        }
    }

    fn schedule_delivery(&mut self, link: u32) {
        let at = &self.links[link as usize];
        let sent = self.worms[at.head as usize].sent;
        let time = sent + Time::from(at.arrival) - Time::from(at.character);
        self.schedule(Event::Deliver(link), time);
    }

    /// Takes the packet that has been received at the end of a link.
    pub fn deliver(&mut self, link: u32) -> PacketState {
        let worm = self.take_head(link);
        let head = self.links[link as usize].head;
        if head != NONE && self.worms[head as usize].sent != UNKNOWN {
            self.schedule_delivery(link);
        }
        self.free_packets.push(worm.packet);
        self.packets[worm.packet as usize]
    }

    /// Schedules the request of the head of an input buffer, once its header is readable.
    #[inline]
    pub(super) fn ask(&mut self, link: u32) {
        let at = &self.links[link as usize];
        if at.head == NONE {
            return;
        }
        let worm = &self.worms[at.head as usize];
        let last = worm.first + Wrapping(self.header_chars(worm.header).max(1) - 1);
        if ahead(last, at.line.known()) >= 0 {
            return;
        }
        let arrived = at.line.run_from(last).time;
        let time = (arrived + Time::from(at.arrival)).max(at.exit_free) + Time::from(at.decode);
        self.links[link as usize].asked = true;
        self.schedule(Event::Request(link), time);
    }

    /// A packet's end leaves the input buffer, at a tick: its output is released and the next head comes forward.
    pub(super) fn left(&mut self, link: u32, last: Time) {
        self.keep_credit(link);
        let at = &mut self.links[link as usize];
        let output = at.output;
        let free = last + Time::from(at.crossbar.max(1));
        at.exit_free = free;
        at.output = NONE;
        at.asked = false;
        if at.waits_for_credit {
            self.wake(link);
        }
        self.take_head(link);
        self.hand_over(link, output);
        let to = &mut self.links[output as usize];
        to.holder = NONE;
        to.free_at = free;
        self.announce(output);
        self.ask(link);
    }
}
