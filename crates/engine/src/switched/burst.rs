//! How many characters a link can send: the limits of a burst, computed one after the other.
//!
//! ```text
//! S(m) = max(supply, wire, credit)    and no character starts at the horizon of its link or later
//! ```
//!
//! Limits that a [`Case`] excludes are not computed. Nothing is written here; see [`super::transmit`].

use std::num::Wrapping;

use super::departures::Places;
use super::link::{Kind, Link};
use super::model;
use super::queue::{ALWAYS, Run, follow};
use super::state::Network;
use super::timeline::{Number, Timeline, ahead, earlier, later};
use crate::kernel::Time;

/// What is known before a link sends.
pub(super) type Case = u8;
/// Nothing: the link may be of any kind, or reach its horizon.
pub(super) const ANY: Case = 0;
/// The link and those that enter the switch before it are plain, and it does not reach its horizon.
pub(super) const PLAIN: Case = 1;
/// It is plain, and all earlier packets are sent.
pub(super) const FIRST: Case = 2;

/// The next characters of a link and what they depend on.
pub(super) struct View<'a> {
    pub at: &'a Link,
    pub kind: &'a Kind,
    /// For the current packet: the earliest start of its first character, and one after its last number.
    pub time: Time,
    pub end: Number,
    /// The link whose head packet holds it.
    pub from: Option<&'a Link>,
    /// The source of its characters, unless all have arrived.
    pub supply: Option<Supply<'a>>,
    /// When present characters arrived, if recently.
    pub entered: Option<Run>,
    /// The link granted to its own head packet, and the places in the output buffer there.
    pub to: Option<(&'a Link, Places<'a>)>,
    /// For a packet that begins: whether more credit is known to return, and was not taken because it may be late.
    pub returns: bool,
    /// For a link of any kind.
    pub network: Option<&'a Network>,
}

/// The arriving characters of a packet.
#[derive(Clone, Copy)]
pub(super) struct Supply<'a> {
    /// When its characters start on the wire on which they arrive, or leave the input buffer after it.
    pub line: &'a Timeline,
    /// Difference to the numbers there.
    pub shift: Number,
    /// Ticks from then until they are ready here.
    pub way: u32,
}

/// Credit taken for the characters of a burst.
pub(super) struct Taken {
    /// Characters that the credit taken so far allows.
    pub characters: u32,
    /// See `Credit`.
    pub next_quantum: Number,
    /// Earliest start of the next character.
    pub own: Time,
}

/// Characters that are sent, and the consequences for other links.
pub(super) struct Burst {
    pub run: Run,
    /// Characters that the credit taken so far allows, including these.
    pub credited: u32,
    /// See `Credit`.
    pub next_quantum: Number,
    /// The packet ends with them.
    pub last: bool,
    /// More of it can be sent immediately.
    pub again: bool,
    /// More of it exists, but there is no credit.
    pub waits: bool,
    /// Its output may send further characters.
    pub supplies: bool,
    /// It is known when its head packet has left its input buffer.
    pub leaves: bool,
    /// There is credit that its holder waits for, or the holder was left behind.
    pub credits: bool,
    /// It is known when the packet of its holder has left.
    pub frees: bool,
    /// More of it could be sent, but not before the horizon.
    pub held: bool,
}

impl View<'_> {
    /// Returns the characters that can be sent, up to the first limit; None if the case does not apply.
    #[inline(always)]
    pub fn burst<const CASE: Case>(&self) -> Option<Burst> {
        let (at, kind) = (self.at, self.kind);
        let before = at.wire.known();
        let stop = self.supplied_up_to(before);
        let most = (stop - before).0;
        let credit = self.credit::<CASE>(most)?;
        let mut run = Run { count: credit.characters.min(most), step: kind.character, time: credit.own };
        if CASE == FIRST && run.count == 0 {
            return None;
        }
        if let Some(supply) = &self.supply
            && run.count > 0
            && !supply.in_time(kind, run.time, most)
        {
            if CASE == FIRST {
                return None;
            }
            run = supply.follow(run, before);
        }
        let mut held = false;
        if CASE == ANY {
            held = self.hold_back(&mut run);
        } else if run.count > 0 && at.wire.is_beyond(&run) {
            return None;
        }
        let known = before + Wrapping(run.count);
        let mut burst = self.effects::<CASE>(run, &credit, known);
        if CASE == ANY {
            // Credit is only needed if there are characters, and on a long link sending may return some.
            burst.waits &= run.count == 0 && most > 0;
        }
        // With the available credit all present characters are sent, or the rest waits for credit.
        burst.again = known != stop && !burst.waits && !held;
        burst.held = held;
        Some(burst)
    }

    /// Supply: returns one after the last known character of the packet.
    #[inline(always)]
    pub fn supplied_up_to(&self, before: Number) -> Number {
        let Some(supply) = &self.supply else { return self.end };
        // The characters of a deleted header are not sent.
        later(before, earlier(self.end, supply.line.known() - supply.shift))
    }

    /// Wire and credit: returns for how many characters there is credit, from a tick on, that is in time for all but
    /// the first.
    #[inline(always)]
    fn credit<const CASE: Case>(&self, most: u32) -> Option<Taken> {
        let at = self.at;
        // The first character of a packet also waits for its grant; the others follow it without gaps unless they are
        // late.
        let own = model::start(self.time, at.wire.free(), ALWAYS);
        let mut credit =
            Taken { characters: at.credit.characters(), next_quantum: at.credit.next_quantum(), own };
        match CASE {
            // Credit that may be late would have to be taken for some. With exactly enough for these, the link would
            // seem to wait for credit.
            FIRST if self.returns && at.credit.characters() <= most => return None,
            FIRST => {}
            _ => {
                if credit.characters < most && !at.credit.is_kept() {
                    self.take_credit::<CASE>(&mut credit, most);
                }
            }
        }
        Some(credit)
    }

    /// Takes credit for the next of `most` characters, and all credit that is in time for the following ones.
    #[inline(always)]
    fn take_credit<const CASE: Case>(&self, credit: &mut Taken, most: u32) {
        while let Some(run) = self.leaving::<CASE>(credit.next_quantum) {
            if !credit.take(&run, self.kind, most) {
                break;
            }
        }
    }

    /// Returns when characters leave the input buffer from one on, if known.
    #[inline(always)]
    fn leaving<const CASE: Case>(&self, number: Number) -> Option<Run> {
        let (_, places) = self.to.as_ref()?;
        match self.network {
            Some(network) if CASE == ANY => network.leaving(self.at, number).map(|(run, _)| run),
            _ => places.leaving(self.at, number),
        }
    }

    /// Applies the stored ready times of characters, and the horizon of the link; returns whether this excludes some
    /// that could be sent.
    #[cold]
    fn hold_back(&self, run: &mut Run) -> bool {
        if let Some(entered) = self.entered
            && run.count > 0
        {
            *run = follow(run.count, run.time, run.step, [entered]);
        }
        if run.count == 0 || !self.at.wire.is_beyond(run) {
            return false;
        }
        run.count = run.before(self.at.wire.horizon()).map_or(0, |run| run.count);
        true
    }

    /// Returns the consequences of a run for the link and for others.
    #[inline(always)]
    pub fn effects<const CASE: Case>(&self, run: Run, credit: &Taken, known: Number) -> Burst {
        let (at, before) = (self.at, self.at.wire.known());
        let last = known == self.end && (CASE == FIRST || run.count > 0);
        let mut waits = credit.characters == run.count && !at.credit.is_kept() && known != self.end;
        if waits && CASE == PLAIN {
            waits = self.to.as_ref().is_none_or(|(_, places)| !places.turns.beyond(at, credit.next_quantum));
        }
        let (mut supplies, mut leaves) = (false, false);
        if let Some((to, places)) = &self.to
            && CASE == PLAIN
            && run.count > 0
        {
            supplies = !to.credit.waits() && to.wire.known() + to.output.shift() == before;
            leaves = (ahead(known, places.turns.end) >= 0) & places.turns.all();
        }
        let (credits, frees) = match self.from {
            Some(from) if CASE != ANY => at.vacates(self.kind, known, from),
            _ => (false, false),
        };
        let Taken { characters: credited, next_quantum, .. } = *credit;
        Burst {
            run,
            credited,
            next_quantum,
            last,
            again: false,
            waits,
            supplies,
            leaves,
            credits,
            frees,
            held: false,
        }
    }
}

impl Taken {
    /// Takes the quanta that the departing characters of a run return, as far as they are needed for the next of `most`
    /// characters or in time for the following ones; false if that is enough.
    ///
    /// Only the first character of a quantum waits for its credit.
    #[inline(always)]
    fn take(&mut self, run: &Run, kind: &Kind, most: u32) -> bool {
        let due = self.own + Time::from(self.characters) * Time::from(kind.character);
        let time = kind.credit(run.time);
        if time > due {
            if self.characters > 0 {
                return false;
            }
            self.own = time;
        }
        // All quanta of the run are in time if it is not slower than the characters sent.
        let all = if run.step <= kind.character { run.count.min(most - self.characters) } else { 1 };
        let characters = kind.quanta(all) * kind.quantum;
        self.characters += characters;
        self.next_quantum += characters;
        self.characters < most
    }
}

impl Supply<'_> {
    /// Whether the last of `most` characters that are known to arrive is ready in time if the first of them is due at a
    /// tick.
    #[inline(always)]
    pub fn in_time(&self, kind: &Kind, due: Time, most: u32) -> bool {
        // Characters of a packet never arrive faster than the pace of their link. If the last one arrives before it is
        // due at the faster of the two paces, so do all.
        let slack = Time::from(most - 1) * Time::from(kind.character.min(self.line.pace));
        self.line.last() + Time::from(self.way) <= due + slack
    }

    /// Returns the first characters of a run, from a number on, that can follow in one straight run as they arrive.
    #[inline(always)]
    fn follow(&self, mut run: Run, number: Number) -> Run {
        let most = std::mem::take(&mut run.count);
        while run.count < most {
            let arrival = self.line.run_from(number + self.shift + Wrapping(run.count)).later(self.way);
            if arrival.time > run.at(run.count) || arrival.step > run.step {
                if run.count == 0 {
                    return follow(most, run.time, run.step, [arrival]);
                }
                break;
            }
            run.count += arrival.count.min(most - run.count);
        }
        run
    }
}
