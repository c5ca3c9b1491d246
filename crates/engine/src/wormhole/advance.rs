//! Working out times as far as they follow from what is known.
//!
//! Two processes per link: `send` says when characters start on its wire, `drain` when they leave the
//! input buffer at its target. Each goes as far as its bounds are known, then wakes those that depend
//! on it. All bounds have a positive delay, so the result does not depend on the order of the work.

use super::state::{Event, Header, Link, Network, PacketState, UNKNOWN, Worm};
use super::timeline::{Bound, Run, Runs, follow};
use crate::fabric::NONE;
use crate::kernel::Time;
use crate::terminal::Packet;

impl Network {
    /// Puts a packet on its terminal's link at its dispatch, which is the present tick.
    pub fn dispatch(&mut self, terminal: u32, packet: &Packet) {
        let link = self.fabric.terminal_out_link[terminal as usize];
        let header = if packet.via == NONE { Header::Final } else { Header::Via };
        let headers = self.header_chars(header) + if packet.via == NONE { 0 } else { self.fabric.header_chars };
        let number = self.new_packet(PacketState {
            source: terminal,
            target: packet.target,
            length: packet.length,
            via: packet.via,
            created: packet.created,
            started: UNKNOWN,
        });
        let first = self.links[link as usize].entered.known;
        let end = first + headers + packet.length + 1;
        let worm = self.new_worm(Worm { packet: number, first, end, next: NONE, header, started: 0, sent: UNKNOWN });
        self.append(link, worm);
        let at = &mut self.links[link as usize];
        let needed = at.sent.known;
        let run = Run { first, step: 0, time: packet.dispatch };
        self.runs.push(&mut at.entered, run, end, needed);
        self.work.push(link * 2);
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
        let first = self.links[output as usize].entered.known;
        let strips = (at.strips || self.links[output as usize].deletes_header) && worm.header != Header::Deleted;
        let deleted = if strips { self.header_chars(worm.header) } else { 0 };
        let header = match (strips, worm.header) {
            (false, header) => header,
            (true, Header::Via) => Header::Final,
            (true, _) => Header::Deleted,
        };
        let end = first + (worm.end - worm.first - deleted);
        let number =
            self.new_worm(Worm { packet: worm.packet, first, end, next: NONE, header, started: 0, sent: UNKNOWN });
        self.append(output, number);
        let at = &mut self.links[input as usize];
        at.output = output;
        at.granted = now;
        at.deleted = worm.first + deleted;
        at.group = NONE;
        let waited = (now - at.requested) as u64;
        let to = &mut self.links[output as usize];
        to.holder = input;
        to.free_at = UNKNOWN;
        to.last_grant = now;
        to.count.wait_ticks += waited;
        self.grants += 1;
        self.work.push(input * 2 + 1);
        self.settle();
    }

    /// Advances every process that has something new to go on.
    fn settle(&mut self) {
        while let Some(item) = self.work.pop() {
            if item % 2 == 0 {
                self.send(item / 2);
            } else {
                self.drain(item / 2);
            }
        }
    }

    /// Extends the times at which characters start on the wire of a link.
    fn send(&mut self, link: u32) {
        let before = self.links[link as usize].sent.known;
        while self.links[link as usize].sending != NONE && self.send_worm(link) {}
        let at = &self.links[link as usize];
        if at.sent.known == before {
            return;
        }
        if at.holder != NONE {
            self.work.push(at.holder * 2 + 1);
        }
        if at.output != NONE {
            self.work.push(link * 2 + 1);
        }
    }

    /// Extends the worm being sent; true when it is sent completely.
    fn send_worm(&mut self, link: u32) -> bool {
        let at = &mut self.links[link as usize];
        let number = at.sending;
        let worm = self.worms[number as usize];
        let start = at.sent.known;
        let limit = worm.end.min(at.entered.known).min(at.credited());
        let mut first = start;
        while first < limit {
            let mut supply = self.runs.bound(&at.entered, first);
            supply.time += Time::from(at.forward);
            let credit = at.credit_bound(&self.runs, first);
            let (run, until) = follow(first, limit, at.wire_free, at.character, Time::MIN, [supply, credit]);
            let last = run.time + Time::from(until - 1 - first) * Time::from(run.step);
            let wire = if until == worm.end { at.end } else { at.character };
            at.wire_free = last + Time::from(wire);
            let needed = at.sent_needed();
            self.runs.push(&mut at.sent, run, until, needed);
            if first == worm.first {
                self.worms[number as usize].started = run.time;
                if at.from_terminal {
                    self.packets[worm.packet as usize].started = run.time;
                }
            }
            self.extensions += 1;
            first = until;
        }
        if first == start {
            return false;
        }
        if at.head == number && !at.asked {
            self.ask(link);
        }
        if first < worm.end {
            return false;
        }
        self.sent(link, number);
        true
    }

    /// A worm's end of packet has a time on the wire.
    fn sent(&mut self, link: u32, number: u32) {
        let at = &mut self.links[link as usize];
        let worm = &mut self.worms[number as usize];
        worm.sent = at.wire_free;
        at.sending = worm.next;
        let chars = u64::from(worm.end - worm.first);
        let busy = (chars - 1) * u64::from(at.character) + u64::from(at.end);
        at.count.packets += 1;
        at.count.characters += chars;
        at.count.busy_ticks += busy;
        at.count.stalled_ticks += (at.wire_free - worm.started) as u64 - busy;
        let free = at.wire_free;
        if at.from_terminal {
            let terminal = self.packets[worm.packet as usize].source;
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
    fn ask(&mut self, link: u32) {
        let at = &self.links[link as usize];
        if at.head == NONE || at.to_terminal {
            return;
        }
        let worm = self.worms[at.head as usize];
        let last = worm.first + self.header_chars(worm.header).max(1) - 1;
        if at.sent.known <= last {
            return;
        }
        let arrived = self.runs.at(&at.sent, last) + Time::from(at.arrival);
        let time = arrived.max(at.exit_free) + Time::from(at.decode);
        self.links[link as usize].asked = true;
        self.schedule(Event::Request(link), time);
    }

    /// Extends the times at which characters leave the input buffer at the end of a link.
    fn drain(&mut self, link: u32) {
        let at = &self.links[link as usize];
        let output = at.output;
        if output == NONE {
            return;
        }
        let before = at.left.known;
        let worm = self.worms[at.head as usize];
        if self.links[link as usize].left.known < at.deleted {
            self.drain_header(link);
        }
        self.drain_body(link, output, worm.end);
        let at = &self.links[link as usize];
        if at.left.known == before {
            return;
        }
        self.work.push(link * 2);
        self.work.push(output * 2);
        if at.left.known == worm.end {
            self.leave(link, output);
        }
    }

    /// The characters of a header that is deleted need no place in the output buffer.
    fn drain_header(&mut self, link: u32) {
        let at = &mut self.links[link as usize];
        let limit = at.deleted.min(at.sent.known);
        while at.left.known < limit {
            let first = at.left.known;
            let mut arrival = self.runs.bound(&at.sent, first);
            arrival.time += Time::from(at.arrival);
            let bounds = [arrival, Bound::FREE];
            let (run, until) = follow(first, limit, at.exit_free, at.crossbar, at.granted, bounds);
            at.exit_free = after(&run, until, at.crossbar);
            let needed = at.left_needed();
            self.runs.push(&mut at.left, run, until, needed);
            self.extensions += 1;
        }
    }

    fn drain_body(&mut self, link: u32, output: u32, end: u32) {
        let [at, to] = self.links.get_disjoint_mut([link as usize, output as usize]).expect("two links");
        if at.left.known < at.deleted {
            return;
        }
        let arrived = end.min(at.sent.known) - at.left.known;
        let room = (to.sent.known + to.output_buffer) - to.entered.known;
        let limit = at.left.known + arrived.min(room);
        while at.left.known < limit {
            let first = at.left.known;
            let mut arrival = self.runs.bound(&at.sent, first);
            arrival.time += Time::from(at.arrival);
            let place = to.place_bound(&self.runs, first);
            let (run, until) = follow(first, limit, at.exit_free, at.crossbar, at.granted, [arrival, place]);
            at.exit_free = after(&run, until, at.crossbar);
            let needed = at.left_needed();
            self.runs.push(&mut at.left, run, until, needed);
            let needed = to.sent.known;
            let entered = Run { first: to.entered.known, ..run };
            self.runs.push(&mut to.entered, entered, entered.first + (until - first), needed);
            self.extensions += 1;
        }
    }

    /// A packet's end leaves the input buffer: its output is released and the next head comes forward.
    fn leave(&mut self, link: u32, output: u32) {
        let at = &mut self.links[link as usize];
        let last = at.exit_free - Time::from(at.crossbar);
        let free = last + Time::from(at.crossbar.max(1));
        at.exit_free = free;
        at.output = NONE;
        at.asked = false;
        self.take_head(link);
        let to = &mut self.links[output as usize];
        to.holder = NONE;
        to.free_at = free;
        self.announce(output);
        self.ask(link);
    }
}

impl Link {
    /// First character that must wait for credit whose time is not known.
    fn credited(&self) -> u32 {
        if self.to_terminal {
            return u32::MAX;
        }
        let places = self.left.known + self.input_buffer;
        places - places % self.quantum
    }

    /// When credit for a character is there. It comes in lumps of `quantum`, so within one run of the
    /// places becoming free only the first character of the first lump can be late, unless places
    /// become free more slowly than the wire could send, or an end of packet in the lump was short.
    fn credit_bound(&self, runs: &Runs, character: u32) -> Bound {
        if self.to_terminal {
            return Bound::FREE;
        }
        let (quantum, buffer) = (self.quantum, self.input_buffer);
        let lump = character / quantum;
        if quantum * (lump + 1) <= buffer {
            return Bound { until: buffer / quantum * quantum, ..Bound::FREE };
        }
        let freed = runs.bound(&self.left, quantum * (lump + 1) - buffer - 1);
        let time = freed.time + Time::from(self.credit);
        let next_lump = quantum * (lump + 1);
        let reached = self.wire_free.max(time) + Time::from(next_lump - character) * Time::from(self.character);
        let late = freed.step > self.character || reached < time + Time::from(quantum) * Time::from(freed.step);
        let until = if late { next_lump } else { (freed.until + buffer) / quantum * quantum };
        Bound { time, step: 0, until }
    }

    /// When there is a place in the output buffer for the next character to enter, which is called
    /// `character` where it comes from.
    fn place_bound(&self, runs: &Runs, character: u32) -> Bound {
        let entering = self.entered.known;
        if entering < self.output_buffer {
            return Bound { until: character + (self.output_buffer - entering), ..Bound::FREE };
        }
        let leaving = entering - self.output_buffer;
        let mut bound = runs.bound(&self.sent, leaving);
        bound.time += Time::from(self.character);
        bound.until = character + (bound.until - leaving);
        bound
    }

    /// First character whose start on the wire may still be asked for.
    fn sent_needed(&self) -> u32 {
        let place = if self.from_terminal { u32::MAX } else { self.entered.known.saturating_sub(self.output_buffer) };
        let arrival = if self.to_terminal { u32::MAX } else { self.left.known };
        place.min(arrival)
    }

    /// First character whose departure may still be asked for, as the one that frees credit.
    fn left_needed(&self) -> u32 {
        let lump = self.sent.known / self.quantum;
        (self.quantum * (lump + 1)).saturating_sub(self.input_buffer + 1)
    }
}

/// When the character after a run may follow it at the earliest.
#[inline]
fn after(run: &Run, until: u32, step: u32) -> Time {
    run.time + Time::from(until - 1 - run.first) * Time::from(run.step) + Time::from(step)
}
