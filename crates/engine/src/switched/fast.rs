//! Shortcuts: limits that are proved not to apply before a link sends are not computed.
//!
//! Each is a [`Case`](super::burst::Case) of the one step in [`super::transmit`], or combines many of these steps. Each
//! states the equation that it shortens, its conditions, what happens otherwise, and its gain: instructions per
//! packet-hop without and with it, in a saturated grid of 64 terminals with 64 B, unless stated otherwise.

use std::hint::cold_path;
use std::num::Wrapping;

use super::burst::{Burst, CREDIT, FIRST, SUPPLY, Supply, View};
use super::link::{Kind, Link};
use super::packet_path::Begun;
use super::state::{Network, UNKNOWN};
use super::timeline::{Number, ahead, later};
use super::worm::Worm;
use crate::fabric::NONE;
use crate::kernel::Time;

impl Link {
    /// Sends the arrived part of a packet that is about to be put behind all others on this link, which have been sent.
    ///
    /// * Equation: `S(m) = max(supply, wire)` with the available credit.
    /// * Conditions: the link is plain, no credit is needed that returns late, and the last character that is known to
    ///   arrive is in time.
    /// * Otherwise only stored credit is taken, and the packet begins with a step of the case `PLAIN`.
    /// * Gain: 3063 to 2898 with the C104, 3847 to 3668 with SpaceWire.
    ///
    /// `header`: characters of its front header. `returns`: see [`View`].
    #[inline(always)]
    pub fn begin(
        &mut self,
        kind: &Kind,
        worm: &mut Worm,
        header: u32,
        from: Option<&mut Link>,
        returns: bool,
    ) -> Option<Begun> {
        let &mut Worm { time, end, .. } = worm;
        if self.credit.is_kept() {
            self.use_kept_credit(kind, time, end);
        }
        let burst = {
            let (at, from) = (&*self, from.as_deref());
            let supply = from.map(|from| Supply {
                line: from.wire.starts(),
                shift: at.output.shift(),
                way: at.output.way(),
            });
            let (entered, to, network) = (None, None, None);
            View { at, kind, time, end, from, supply, entered, to, returns, network }.burst::<FIRST>()?
        };
        if let Some(from) = from {
            from.due.set_woken(burst.credits);
        }
        Some(self.begin_with(kind, worm, header, &burst))
    }

    /// Sends the first part of a packet that is about to be put behind all others on this link.
    #[inline(always)]
    pub fn begin_with(&mut self, kind: &Kind, worm: &mut Worm, header: u32, burst: &Burst) -> Begun {
        self.send(kind, burst);
        worm.has_begun(burst.run.time);
        let asks = (self.head() == NONE) & (burst.run.count >= header) & !self.leads_to_terminal();
        let asks_at =
            if asks { kind.request(self.input.exit_free(), burst.run.at(header - 1)) } else { UNKNOWN };
        let &Burst { run, last, again, credits, frees, .. } = burst;
        Begun { run, class: worm.class, asks_at, last, again, credits, frees }
    }
}

impl Network {
    /// Sends the characters for which there is credit now, on a link that has waited for nothing else.
    ///
    /// * Equation: `S(m) = max(wire, credit)`; of credit, the first character and the one after the single change of
    ///   pace.
    /// * Conditions: no credit is left or stored, all known credit returns in at most two runs, the second of which is
    ///   in time once the first is, and the last character that is known to arrive is in time.
    /// * Otherwise a step of the case `PLAIN`.
    /// * Gain: 2996 to 2898 with the C104, 3710 to 3668 with SpaceWire.
    ///
    /// Returns a link that sends next, or [`NONE`].
    #[inline(never)]
    pub(super) fn go_on<const PACED: bool>(&mut self, link: u32) -> u32 {
        let at = &mut self.links[link as usize];
        if at.credit.characters() > 0 {
            // It was taken early, so what has arrived is all that it needs.
            at.due.set_woken(false);
            return self.pass_on::<PACED>(link);
        }
        match self.transmit::<PACED, CREDIT>(link) {
            Some(next) => next,
            None => {
                cold_path();
                self.transmit_any::<PACED>(link)
            }
        }
    }

    /// Immediately sends the characters that arrive at a link that has credit and waits for them; this is usual if the
    /// link before it had no credit until now.
    ///
    /// * Equation: `S(m) = S(m - 1) + character_ticks`: the wire alone.
    /// * Conditions: the header has passed, nothing else is due, and the last character that is known to arrive is in
    ///   time.
    /// * Otherwise the link is woken, for a step of the case `PLAIN`.
    /// * Gain: 2974 to 2898 with the C104, 3745 to 3668 with SpaceWire.
    ///
    /// Returns a link that sends next, or [`NONE`].
    #[inline(never)]
    pub(super) fn pass_on<const PACED: bool>(&mut self, output: u32) -> u32 {
        match self.transmit::<PACED, SUPPLY>(output) {
            Some(next) => next,
            None => {
                cold_path();
                self.wake(output);
                NONE
            }
        }
    }
}

/// Minimum number of characters; shorter packets mostly fit into the buffers of their links.
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
    /// Sends the rest of a packet that streams to the terminal at the end of a link.
    ///
    /// Let the packet extend from the link of its source to that of its destination, and all these links send at one
    /// pace. If then on each of them the next character is due when the wire is free, because it has arrived by then
    /// and has had credit, the same holds for all following characters, because all limits advance at the same pace.
    /// Characters sent before these runs can only have been earlier than this pace, and what they allow is in time as
    /// well.
    ///
    /// * Equation: `S(m) = S(m - 1) + character_ticks` on all links of the packet.
    /// * Conditions: all links are plain, of one pace and in step, and none has a horizon.
    /// * Otherwise nothing is done.
    /// * Gain: at 1000 B 11,998 to 7054 with the C104, 14,803 to 12,875 with SpaceWire.
    #[inline(always)]
    pub(super) fn stream(&mut self, link: u32) {
        let at = &self.links[link as usize];
        if !self.on_demand
            && !at.has_sent_all()
            && ahead(self.worm(link, at.sending()).end, at.wire.known()) >= MANY
        {
            self.stream_rest(link);
        }
    }

    #[cold]
    fn stream_rest(&mut self, link: u32) {
        let at = &self.links[link as usize];
        let mut part = Part { link, start: at.wire.free(), number: at.wire.known() };
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

    /// Whether a link has begun to send the packet that was granted to it last, and its input buffer has no other.
    fn sends_last(&self, link: u32) -> bool {
        let at = &self.links[link as usize];
        !at.has_sent_all()
            && ahead(at.wire.known(), at.worm(at.sending(), &self.crowd).first) > 0
            && (at.sends_newest() || self.kind(at).from_terminal)
            && at.sending() == at.head()
            && !at.horizon.is_set()
    }

    /// Returns the link on which the packet arrives that a link sends, if it can be part of a stream.
    fn part_before(&self, part: &Part) -> Option<Part> {
        let to = &self.links[part.link as usize];
        let at = self.links.get(to.output.holder() as usize)?;
        let (kind, number) = (self.kind(at), part.number + to.output.shift());
        let same = kind.plain && kind.character == self.kind(to).character && !at.credit.is_kept();
        let lead = Time::from(ahead(at.wire.known(), number)) * Time::from(kind.character);
        (same && self.sends_last(to.output.holder())).then_some(Part {
            link: to.output.holder(),
            start: at.wire.free() - lead,
            number,
        })
    }

    /// Whether a link sends early enough for the next one, and the next one makes room early enough for it.
    fn in_step(&self, part: &Part, next: &Part) -> bool {
        let (at, to) = (&self.links[part.link as usize], &self.links[next.link as usize]);
        let (kind, next_kind) = (self.kind(at), self.kind(to));
        if part.start + Time::from(to.output.way()) > next.start {
            return false;
        }
        // The character that waits for the next quantum of credit, and the one that it depends on; those of earlier
        // packets were sent before its first one.
        let waiting = at.wire.known() + Wrapping(at.credit.characters());
        let place = at.credit.next_quantum() - to.output.shift() - Wrapping(next_kind.output_buffer);
        let place = later(place, to.worm(to.sending(), &self.crowd).first);
        let at_pace = |part: &Part, number: Number| {
            part.start + Time::from(ahead(number, part.number)) * Time::from(kind.character)
        };
        let mut left = at_pace(next, place) + Time::from(kind.character);
        left = left.max(at.input.crosses_at(at.credit.next_quantum(), kind.crossbar));
        if next_kind.puts_off {
            left = left.max(to.places(next_kind, kind.crossbar).not_before(place));
        }
        left + Time::from(kind.credit_delay) <= at_pace(part, waiting)
    }

    /// Sends the rest of a packet in a straight run.
    fn send_rest(&mut self, link: u32) {
        if !self.links[link as usize].wire.has_room() {
            self.make_room(link);
        }
        let at = &mut self.links[link as usize];
        let (kind, number) = (&self.kinds[at.kind as usize], at.sending());
        let burst = Burst::rest(at, kind, at.worm(number, &self.crowd).end);
        at.send(kind, &burst);
        at.free_places(kind, &burst.run);
        self.extensions += 1;
        let gone = self.links[link as usize].sent(number, &mut self.crowd);
        self.sent(link, &gone);
    }
}
