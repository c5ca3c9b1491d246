//! Bandwidth allocation: the go bits of idle symbols decide which station may begin a packet.
//!
//! Only changes of the bits are simulated. A change that arrives while a link is busy is processed immediately, because
//! its effect is known: it sets the idle symbols after the unit. Otherwise it waits for the next check of the link: a
//! stop has no effect before a unit begins there, and a go is processed before it could reach the next station, or when
//! it may allow a start.

use super::parts::Edge;
use super::state::Rings;
use crate::fabric::NONE;
use crate::kernel::Time;
use crate::kernel::slab::Queue;

/// The idle symbols that arrive at a station, as changes from go to stop and back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Idles {
    /// Changes that arrive while its link may be free, in order.
    queue: Queue,
    /// When the last one arrives.
    last: Time,
    /// The `y` of the page: from the beginning of its last own unit until this time no idle symbol arrives.
    idle_from: Time,
}

impl Idles {
    /// All symbols say go.
    pub const GO: Self = Self { queue: Queue::EMPTY, last: -1 << 40, idle_from: 0 };
}

impl Rings {
    /// Checks a free link before its next start: does its station continue to recover from its own unit, and what do
    /// its idle symbols say? This is due when the unit has left; if nothing changes then, it may be done later.
    pub(super) fn judge_idles(&mut self, link: u32, ready: Time) {
        let at = &mut self.stations[link as usize].link;
        let end = at.free_at;
        if std::mem::replace(&mut at.judged, true) {
            // No unit has begun since.
        } else if at.keeps_idles {
            at.keeps_idles = ready < end;
            let go = !at.keeps_idles && (at.saved || at.hears_go);
            self.say(link, go, end);
        } else {
            let go = at.saved || at.hears_go;
            self.say(link, go, end);
        }
        self.heed_idles(link);
    }

    /// Begins a unit on a link; from the beginning of its own units, a station keeps the idle symbols that arrive.
    pub(super) fn begin_idles(&mut self, link: u32, is_own: bool) {
        let at = &mut self.stations[link as usize].link;
        at.judged = false;
        if is_own || !at.keeps_idles {
            at.saved = false;
        }
        if is_own {
            at.keeps_idles = true;
            self.idles[link as usize].idle_from = self.now + self.coming_ticks(link);
        }
        self.heed_idles(link);
    }

    /// Returns for how long a unit that is arriving keeps idle symbols from a station.
    fn coming_ticks(&self, link: u32) -> Time {
        let at = &self.stations[link as usize].link;
        if at.bypass.is_empty() || self.units[at.bypass.head].time > self.now {
            return 0;
        }
        let symbols = if self.fabric.ring_cut_through == 0 { 1 } else { self.units[at.bypass.head].symbols };
        Time::from(symbols) * Time::from(self.timing(link).symbol)
    }

    /// Processes the changes that have arrived at a station, and those that will arrive while its link is busy.
    #[inline]
    fn heed_idles(&mut self, link: u32) {
        if self.stations[link as usize].link.heeds {
            self.heed_changes(link);
        }
    }

    #[inline(never)]
    fn heed_changes(&mut self, link: u32) {
        let free_at = self.stations[link as usize].link.free_at;
        let until = free_at.max(self.now);
        loop {
            let head = self.idles[link as usize].queue.head;
            if head == NONE {
                let at = &mut self.stations[link as usize];
                at.link.heeds = !at.echoes_due.is_empty();
                return;
            }
            if self.edges[head].time > until {
                return;
            }
            let Edge { time, go, .. } = self.edges[head];
            self.idles[link as usize].queue.pop(&mut self.edges);
            self.edges.remove(head);
            self.heed(link, time, go);
            if go && time > free_at {
                // A free link keeps saying go until a unit begins.
                self.say(link, true, time);
            }
        }
    }

    /// Reads where the changes that arrive at a station are, if there can be any.
    #[inline]
    pub(super) fn read_idles(&self, station: u32) -> Time {
        self.idles.get(station as usize).map_or(0, |idles| idles.last)
    }

    /// Reads the first of these changes.
    #[inline]
    pub(super) fn read_change(&self, station: u32) -> Time {
        let head = self.idles.get(station as usize).map_or(NONE, |idles| idles.queue.head);
        if head == NONE { 0 } else { self.edges[head].time }
    }

    /// Whether unprocessed changes are on their way to a station.
    #[inline]
    pub(super) fn hears_more(&self, station: u32) -> bool {
        self.idles.get(station as usize).is_some_and(|idles| !idles.queue.is_empty())
    }

    /// Processes a change that arrives at a station.
    fn heed(&mut self, station: u32, time: Time, go: bool) {
        let at = &mut self.stations[station as usize].link;
        at.hears_go = go;
        at.saved |= go || at.keeps_idles && time > self.idles[station as usize].idle_from;
    }

    /// Sets what the idle symbols of a station say from a tick on.
    fn say(&mut self, link: u32, go: bool, from: Time) {
        let at = &mut self.stations[link as usize].link;
        if std::mem::replace(&mut at.says_go, go) == go {
            return;
        }
        let (station, timing) = (at.next, &self.timings[at.timing as usize]);
        let (way, symbol) = (Time::from(timing.ahead), Time::from(timing.symbol));
        let idles = &mut self.idles[station as usize];
        let time = (from + way).max(idles.last + symbol);
        idles.last = time;
        if time > self.stations[station as usize].link.free_at {
            let number = self.edges.add(Edge { time, next: NONE, go });
            self.idles[station as usize].queue.push(&mut self.edges, number);
            self.stations[station as usize].link.heeds = true;
            self.await_go(station);
            return;
        }
        self.heed(station, time, go);
        if self.stations[station as usize].link.must_be_judged() {
            self.await_end(station);
        }
    }

    /// Schedules a check of a station's link for the next go, if its idle symbols say stop.
    #[inline]
    pub(super) fn await_go(&mut self, station: u32) {
        let at = &self.stations[station as usize].link;
        if !at.says_go && at.heeds {
            self.await_change(station);
        }
    }

    #[inline(never)]
    fn await_change(&mut self, station: u32) {
        let at = &self.stations[station as usize].link;
        let mut number = self.idles[station as usize].queue.head;
        while number != NONE && !self.edges[number].go {
            number = self.edges[number].next;
        }
        if number == NONE {
            return;
        }
        let time = self.edges[number].time;
        let look = if at.waiting > 0 { time } else { time + Time::from(self.timing(station).ahead) - 1 };
        if look <= self.now {
            self.touch_link(station);
        } else {
            self.look_at(station, look);
        }
    }
}
