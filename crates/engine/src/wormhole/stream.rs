//! A long packet that streams to its terminal at a steady pace, all in one step.
//!
//! Let the packet reach from the link of its source to that of its destination, and all these links send at one pace. If
//! then on each of them the next character is due when the wire is free, because it has arrived by then and credit has
//! been there for it, the same holds for all characters behind it: what each waits for moves on at the same pace. So the
//! whole rest follows in a straight run on every link. Characters sent earlier than these runs go back can only have
//! been sent before their pace would have it, and what they allow is there in time as well.

use std::num::Wrapping;

use super::flow::Credit;
use super::queue::Run;
use super::state::Network;
use super::timeline::{Number, ahead, later};
use crate::fabric::NONE;
use crate::kernel::Time;

/// Characters from which on it is worth a look; shorter packets are mostly within the buffers of their links.
const MANY: i32 = 128;

/// A link that sends the packet.
#[derive(Clone, Copy)]
struct Part {
    link: u32,
    /// When the first character that the last link has not sent would start on this one, at its pace.
    start: Time,
    /// Number of that character here.
    number: Number,
}

impl Network {
    /// Sends a packet completely that streams to the terminal at the end of a link.
    #[inline(always)]
    pub(super) fn stream(&mut self, link: u32) {
        let at = &self.links[link as usize];
        if at.sending != NONE && ahead(self.worm(link, at.sending).end, at.line.known()) >= MANY {
            self.stream_rest(link);
        }
    }

    #[cold]
    fn stream_rest(&mut self, link: u32) {
        let at = &self.links[link as usize];
        let mut part = Part { link, start: at.wire_free, number: at.line.known() };
        if !self.sends_last(link) {
            return;
        }
        let mut parts = std::mem::take(&mut self.parts);
        parts.clear();
        loop {
            parts.push(part.link);
            let at = &self.links[part.link as usize];
            if self.kind(at).from_terminal {
                break;
            }
            match self.part_before(&part).filter(|before| self.in_step(before, &part)) {
                Some(before) => part = before,
                None => {
                    parts.clear();
                    break;
                }
            }
        }
        for &link in &parts {
            self.send_rest(link);
            self.wake(link);
        }
        self.parts = parts;
    }

    /// Whether a link has begun to send the packet that was granted to it last, and there is no other in its input buffer.
    fn sends_last(&self, link: u32) -> bool {
        let at = &self.links[link as usize];
        at.sending != NONE
            && ahead(at.line.known(), at.worm(at.sending, &self.crowd).first) > 0
            && (at.sending == at.tail || self.kind(at).from_terminal)
            && at.sending == at.head
    }

    /// The link by which the packet comes that a link sends, if it can be part of a stream.
    fn part_before(&self, part: &Part) -> Option<Part> {
        let to = &self.links[part.link as usize];
        let at = self.links.get(to.holder as usize)?;
        let (kind, number) = (self.kind(at), part.number + to.shift);
        let same = kind.plain && kind.character == self.kind(to).character && !at.keeps_credit;
        let lead = Time::from(ahead(at.line.known(), number)) * Time::from(kind.character);
        (same && self.sends_last(to.holder)).then_some(Part {
            link: to.holder,
            start: at.wire_free - lead,
            number,
        })
    }

    /// Whether a link sends early enough for the next one, and that makes room early enough for it.
    fn in_step(&self, part: &Part, next: &Part) -> bool {
        let (at, to) = (&self.links[part.link as usize], &self.links[next.link as usize]);
        let (kind, next_kind) = (self.kind(at), self.kind(to));
        if part.start + Time::from(to.way) > next.start {
            return false;
        }
        // The character to wait for the next lump of credit, and the one whose place that depends on; those of
        // packets before this one have been sent before its first one.
        let waiting = at.line.known() + Wrapping(at.credited);
        let place = at.next_lump - to.shift - Wrapping(next_kind.output_buffer);
        let place = later(place, to.worm(to.sending, &self.crowd).first);
        let at_pace = |part: &Part, number: Number| {
            part.start + Time::from(ahead(number, part.number)) * Time::from(kind.character)
        };
        let mut left = at_pace(next, place) + Time::from(kind.character);
        left = left.max(at.crosses_at(at.next_lump, kind.crossbar));
        if let Some(room) = self.rooms.get(next.link as usize) {
            let behind = ahead(place, room.known() - Wrapping(1));
            left = left.max(room.last() + Time::from(behind) * Time::from(kind.crossbar));
        }
        left + Time::from(kind.credit_delay) <= at_pace(part, waiting)
    }

    /// Sends the rest of a packet in a straight run.
    fn send_rest(&mut self, link: u32) {
        let at = &self.links[link as usize];
        let (kind, number) = (self.kind(at), at.sending);
        let count = (at.worm(number, &self.crowd).end - at.line.known()).0;
        let run = Run { count, step: kind.character, time: at.wire_free };
        let lumps =
            count.checked_sub(at.credited).filter(|&rest| rest > 0).map_or(0, |rest| kind.lumps(rest));
        let more = lumps * kind.quantum;
        let next_lump = at.next_lump + Wrapping(more);
        let credit = Credit { characters: at.credited + more, next_lump, own: run.time };
        if !at.line.has_room() {
            self.make_room(link);
        }
        self.put_on_wire(link, number, &run, &credit);
        let gone = self.links[link as usize].sent(number, &mut self.crowd);
        self.sent(link, &gone);
    }
}
