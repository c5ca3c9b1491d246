//! Packets that are sent to their ends on two links when they are granted the second one.
//!
//! A head that waits for its output fills an input buffer, and the rest of its packet waits for credit on the link
//! before. The grant returns this credit. Step by step the output would send what has come; the link before the rest,
//! with the credit that follows; and the output that rest. But when the output begins follows from its grant and its
//! wire alone. So it is known in advance which credit returns, and when the rest comes, and each of the two links sends
//! in a single run.
//!
//! * Equation: `S_o(m) = S_o(m - 1) + character_ticks` for all characters with credit, and the same on the link before,
//!   from its first credit on.
//! * Conditions: both links are plain, and neither has another packet to send; the rest waits for credit alone, and the
//!   packet is not [long](super::demand). Credit for the rest returns in at most two runs: for characters that take the
//!   places of earlier packets, and for those that take places of this one; none for those of a deleted header. A crossbar
//!   that is still behind may put these off: it is no slower than the link, so the first of them counts. The rest comes in
//!   time, or later at the pace of the link; the last character comes to the output in time.
//! * Otherwise the links send step by step; at most credit that is in time has been taken.
//! * Gain: 2015 to 1772 instructions per packet-hop with the C104, 2764 to 2644 with SpaceWire (1024 terminals); with
//!   crossbars that are behind 2608 to 2330 for one at link rate, 2577 to 2337 with SpaceWire.

use std::num::Wrapping;

use super::burst::{Burst, Supply};
use super::departures::Places;
use super::early::takes_known;
use super::link::{Kind, Link, two};
use super::packet_path::{Begun, Granted, asking_chars, header_chars, put_through, strip};
use super::queue::Run;
use super::state::{Beside, Network, UNKNOWN};
use super::timeline::{Number, ahead, earlier};
use super::worm::{Gone, Worm};
use crate::kernel::Time;

/// What is sent of such a packet.
pub(super) struct Whole {
    /// The rest of it, on the link on which it came.
    pub rest: Burst,
    /// On its output.
    pub begins: Run,
}

/// The ends of such a packet.
struct Ends {
    /// On the link on which it came.
    rest: Gone,
    /// On its output, if all of it was sent there.
    last: Option<Gone>,
    /// Whether it is known when it leaves the input buffer.
    frees: bool,
}

/// A grant before it takes effect.
struct Grant<'a> {
    /// The link on which the packet came, and that before it if the packet is not all in its output buffer.
    at: &'a Link,
    from: Option<&'a Link>,
    /// Its output.
    to: &'a Link,
    kind: &'a Kind,
    next: &'a Kind,
    /// The packet on the link on which it came, and its first character that is not deleted.
    head: &'a Worm,
    first: Number,
    /// When its characters cross at the earliest.
    now: Time,
    crossbar: u32,
}

impl Network {
    /// Grants an output to a packet that can then be sent to its end on both links; false if it cannot. Takes credit for
    /// the output that is in time.
    ///
    /// Both rows are changed before anything else is notified, so that they are looked up only once.
    #[inline(never)]
    pub(super) fn grant_whole<const PACED: bool>(&mut self, input: u32, output: u32, now: Time) -> bool {
        let (links, mut beside) = self.split();
        let (at, to) = (&links[input as usize], &links[output as usize]);
        if !(at.wire.has_room() & to.wire.has_room()) {
            return self.grant_with_room::<PACED>(input, output, now);
        }
        let mut old = *at.worm(at.head(), beside.crowd);
        let holder = at.output.holder();
        if !at.rests_alone(&old) || holder == output {
            return false;
        }
        let strips = at.port.strips() | to.port.deletes_header;
        let deleted = if strips { header_chars(beside.fabric, old.header) } else { 0 };
        let returns = to.needs_more((old.end - old.first).0 - deleted)
            && !takes_known::<PACED>(links, beside.kinds, beside.crowd, output, beside.wheel.now());
        let (at, to, from) = (&links[input as usize], &links[output as usize], links.get(holder as usize));
        let kinds = beside.kinds;
        let (kind, next) = (&kinds[at.kind as usize], &kinds[to.kind as usize]);
        let grant = Grant {
            at,
            from,
            to,
            kind,
            next,
            head: &old,
            first: old.first + Wrapping(deleted),
            now: now.max(at.input.exit_free()),
            crossbar: if PACED { kind.crossbar } else { 0 },
        };
        let Some(whole) = grant.whole(returns) else { return false };
        if strips {
            strip(beside.fabric, beside.packets, &mut old);
        }
        let granted = Granted { input, output, now, deleted };
        let ends =
            beside.send_whole::<PACED>(two(links, input, output), [kind, next], &granted, &old, &whole);
        if whole.rest.credits && links[holder as usize].due.wake() {
            beside.work.push(holder);
        }
        if whole.rest.frees {
            beside.left::<PACED>(two(links, holder, input), [holder, input], None);
        }
        let to_terminal = next.to_terminal;
        let unsent = ends.frees && beside.left::<PACED>(two(links, input, output), [input, output], None);
        if unsent {
            self.hand_over(input, output);
        }
        self.grants += 1;
        self.extensions += 2;
        self.tell_sent(input, &ends.rest);
        if let Some(last) = &ends.last {
            self.tell_sent(output, last);
        }
        self.tell_begun(output, &whole.begins, ends.last.is_some());
        if to_terminal {
            self.stream(output);
        }
        self.follow::<PACED>();
        true
    }
}

impl Beside<'_> {
    /// Sends such a packet on both links, and handles what this means for its source and for the end of its output.
    #[inline(always)]
    fn send_whole<const PACED: bool>(
        &mut self,
        [at, to]: [&mut Link; 2],
        [kind, next]: [&Kind; 2],
        granted: &Granted,
        old: &Worm,
        Whole { rest, begins }: &Whole,
    ) -> Ends {
        at.send(kind, rest);
        let gone = at.sent(at.sending(), self.crowd);
        if kind.from_terminal {
            self.left_source(&gone);
        }
        let mut worm = put_through(granted, old, kind, at, to, self.ports);
        let asking = asking_chars(self.fabric, worm.header);
        let begun = to.begin_whole(next, &mut worm, asking, *begins);
        *to.append(self.crowd) = worm;
        if PACED {
            at.free_places(kind, &rest.run);
            to.free_places(next, begins);
        }
        let last = if begun.last { Some(to.sent(to.sending(), self.crowd)) } else { None };
        if let Some(last) = &last
            && to.to_terminal
        {
            self.goes_to_terminal(to, granted.output, last.number, last.free);
        }
        if begun.asks_at < UNKNOWN {
            self.ask_at(to, granted.output, begun.class, begun.asks_at);
        }
        Ends { rest: gone, last, frees: begun.frees }
    }
}

/// Returns characters, the next ones of a link, as they come if they do so in a straight run at their pace; what came last
/// may be of another packet.
#[cold]
#[inline(never)]
fn as_it_comes(at: &Link, from: &Link, run: Run) -> Option<Run> {
    let comes = from.wire.starts().run_from(at.wire.known() + at.output.shift()).later(at.output.way());
    let straight = (comes.count >= run.count) & (comes.step == run.step);
    straight.then(|| Run { time: run.time.max(comes.time), ..run })
}

impl Network {
    /// Makes room for the runs that such a grant sends.
    #[cold]
    #[inline(never)]
    fn grant_with_room<const PACED: bool>(&mut self, input: u32, output: u32, now: Time) -> bool {
        for link in [input, output] {
            if !self.links[link as usize].wire.has_room() {
                self.make_room(link);
            }
        }
        self.grant_whole::<PACED>(input, output, now)
    }
}

impl Link {
    /// Whether it waits for credit to send the rest of its head packet.
    #[inline(always)]
    pub fn rests_with_head(&self) -> bool {
        self.credit.waits() && self.sending() == self.head() && self.credit.characters() == 0
    }

    /// Whether no packet follows that one, and it waits for nothing else.
    #[inline(always)]
    fn rests_alone(&self, head: &Worm) -> bool {
        let idle = !(self.credit.is_kept() | self.due.is_woken() | self.due.is_behind());
        idle & self.sends_newest() & !head.bound & self.common
    }

    /// Sends a packet, behind all others, with a run that was computed before.
    #[inline(always)]
    pub fn begin_whole(&mut self, kind: &Kind, worm: &mut Worm, header: u32, run: Run) -> Begun {
        let total = (worm.end - worm.first).0;
        let (credited, next_quantum) = (self.credit.characters(), self.credit.next_quantum());
        let (last, waits) = (run.count == total, run.count < total);
        let none = false;
        let (again, supplies, leaves, credits) = (none, none, none, none);
        let frees = run.count + kind.output_buffer >= total;
        let held = none;
        let burst =
            Burst { run, credited, next_quantum, last, again, waits, supplies, leaves, credits, frees, held };
        self.begin_with(kind, worm, header, &burst)
    }
}

impl Grant<'_> {
    /// `returns`: whether the output gets credit that may be late.
    #[inline(always)]
    fn whole(&self, returns: bool) -> Option<Whole> {
        let (at, kind) = (self.at, self.kind);
        let begins = self.begins(returns)?;
        let most = (self.head.end - at.wire.known()).0;
        let (credited, time) = self.credit(&begins, most)?;
        let run = self.supplied(Run { count: most, step: kind.character, time })?;
        let beyond = at.wire.is_beyond(&run) | self.to.wire.is_beyond(&begins);
        if !self.is_in_time(&run, &begins) | beyond {
            return None;
        }
        let next_quantum = at.credit.next_quantum() + Wrapping(credited);
        let (last, none) = (true, false);
        let (again, waits, supplies, leaves, held) = (none, none, none, none, none);
        let (credits, frees) = self.from.map_or((none, none), |from| at.vacates(kind, self.head.end, from));
        let rest =
            Burst { run, credited, next_quantum, last, again, waits, supplies, leaves, credits, frees, held };
        Some(Whole { rest, begins })
    }

    /// Returns what the output sends of the packet if all of it comes in time.
    #[inline(always)]
    fn begins(&self, returns: bool) -> Option<Run> {
        let Self { at, from, to, head, .. } = self;
        let comes = from.is_none_or(|from| ahead(from.wire.known() - at.output.shift(), head.end) >= 0);
        let is_first = to.common & to.has_sent_all();
        let (credit, total) = (to.credit.characters(), self.total());
        let late = to.credit.is_kept() | (credit == 0) | (returns & (credit <= total));
        if !(comes & is_first) | late {
            return None;
        }
        let supply = self.crosses_at(self.first) + Time::from(self.kind.onward);
        let time = supply.max(to.wire.free());
        Some(Run { count: credit.min(total), step: self.next.character, time })
    }

    /// Returns the characters on its output.
    #[inline(always)]
    fn total(&self) -> u32 {
        (self.head.end - self.first).0
    }

    /// Returns credit for all of the `most` characters of the rest, if it is in time once the first quantum is, and when
    /// that is: see [`Places::credit_of`].
    #[inline(always)]
    fn credit(&self, begins: &Run, most: u32) -> Option<(u32, Time)> {
        let own = self.head.time.max(self.at.wire.free());
        let runs = self.leaving(self.at.credit.next_quantum(), begins)?;
        let credit = Places::credit_of(&runs, self.kind, own, most)?;
        (credit.0 >= most).then_some(credit)
    }

    /// Returns when characters of the packet leave, from one on: those whose places earlier packets leave, if these do
    /// so in one run, and those that follow.
    #[inline(always)]
    fn leaving(&self, number: Number, begins: &Run) -> Option<[Run; 2]> {
        let (next, line) = (self.next, self.to.wire.starts());
        let late = Time::from(next.character);
        if ahead(number, self.first) < 0 {
            return None;
        }
        let first = self.first + Wrapping(next.output_buffer);
        let stop = earlier(self.head.end, first + Wrapping(begins.count));
        let count = ahead(stop, first).max(0) as u32;
        // A crossbar that is still behind with places of earlier packets puts off the first of these. It is no slower
        // than the link, so the others follow at the pace of the link or sooner.
        let place = |into: u32| {
            let mut place = begins.at(into);
            if self.crossbar > 0 {
                place = place.max(line.crossed() + Time::from(into + 1) * Time::from(self.crossbar));
            }
            place + late
        };
        let places = Run { count, ..*begins };
        let before = ahead(first, number);
        if before <= 0 {
            let into = before.unsigned_abs();
            let count = count.checked_sub(into).filter(|&count| count > 0)?;
            let run = Run { count, time: place(into).max(self.crosses_at(number)), ..places };
            return Some([run, Run { count: 0, ..run }]);
        }
        let last = line.last_run();
        let into = last.count.checked_sub(before as u32)?;
        let time = (line.last_place(into, self.crossbar) + late).max(self.crosses_at(number));
        let following = Run { time: place(0).max(self.crosses_at(first)), ..places };
        Some([Run { count: before as u32, time, ..last }, following])
    }

    /// Returns when a character crosses if all cross `crossbar` ticks apart.
    #[inline(always)]
    fn crosses_at(&self, number: Number) -> Time {
        self.now + Time::from((number - self.head.first).0) * Time::from(self.crossbar)
    }

    /// Returns the rest as it comes: in time, or later and all in a straight run at the pace of the link.
    #[inline(always)]
    fn supplied(&self, run: Run) -> Option<Run> {
        let (Some(from), output) = (self.from, &self.at.output) else { return Some(run) };
        let supply = Supply { line: from.wire.starts(), shift: output.shift(), way: output.way() };
        if supply.in_time(self.kind, run.time, run.count) {
            Some(run)
        } else {
            as_it_comes(self.at, from, run)
        }
    }

    /// Whether all characters come to the output in time after such a rest: then so do all that came before.
    #[inline(always)]
    fn is_in_time(&self, rest: &Run, begins: &Run) -> bool {
        let slack = if self.kind.character >= self.next.character { self.total() - 1 } else { 0 };
        let way = Time::from(self.kind.onward + self.kind.arrival);
        rest.at(rest.count - 1) + way <= begins.at(slack)
    }
}
