//! Bandwidth allocation: a station whose bypass FIFO recovers stops the others.
//!
//! A stop or a go goes on behind the unit that is on the link when it comes. While that link is busy this is known
//! beforehand, so it is counted and sent on at once, as far round the ring as links are busy. Else it waits for the
//! next look at the link, and one is seen to before it could be at the next station, or when it may let something start.

use super::parts::Signal;
use super::state::{NEVER, Rings};
use crate::fabric::NONE;
use crate::kernel::Time;
use crate::kernel::slab::Queue;

/// Stops and goes on their way to a station.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signals {
    /// Those that come when its link may be free, in order.
    queue: Queue,
    /// When the last one comes.
    last: Time,
}

impl Signals {
    /// None yet.
    pub const NONE: Self = Self { queue: Queue::EMPTY, last: -1 << 40 };
}

impl Rings {
    /// Looks at a free link before its next start: does its station recover from what it has sent? What it tells the
    /// others, if anything: whether it is a go.
    pub(super) fn judge_recovery(&mut self, link: u32, waits: bool) -> Option<bool> {
        let now = self.now;
        let at = &mut self.stations[link as usize];
        let begins = at.own && at.free_at == now && waits && !at.recovering;
        if begins || (at.recovering && !waits) {
            at.recovering = begins;
            return Some(!begins);
        }
        None
    }

    /// Before anything may start on a free link: what has come is counted, and what came in earlier ticks goes on.
    pub(super) fn heed_signals(&mut self, link: u32) {
        let mut number = self.signals[link as usize].queue.head;
        while number != NONE {
            let Signal { time, origin, next, go, counted } = self.signal[number];
            if time > self.now {
                return;
            }
            if !counted {
                self.heed(link, go);
                self.signal[number].counted = true;
            }
            if time < self.now {
                self.take_signal(link);
                self.send_signal(link, origin, go, time);
            }
            number = next;
        }
    }

    #[inline]
    pub(super) fn has_signals(&self, link: u32) -> bool {
        !self.signals[link as usize].queue.is_empty()
    }

    /// After the start: what has come goes on behind the unit on the link, then the station's own one, then what will
    /// come while the unit is there.
    pub(super) fn pass_signals(&mut self, link: u32, own: Option<bool>) {
        let now = self.now;
        let end = self.stations[link as usize].free_at.max(now);
        let mut own = own;
        loop {
            let head = self.signals[link as usize].queue.head;
            let time = if head == NONE { Time::MAX } else { self.signal[head].time };
            if time > now
                && let Some(go) = own.take()
            {
                self.send_signal(link, link, go, end);
            }
            if time > now && time >= end {
                break;
            }
            let Signal { origin, go, counted, .. } = self.signal[head];
            if !counted {
                self.heed(link, go);
            }
            self.take_signal(link);
            self.send_signal(link, origin, go, end);
        }
    }

    fn take_signal(&mut self, station: u32) {
        let number = self.signals[station as usize].queue.pop(&mut self.signal);
        self.signal.remove(number);
    }

    fn heed(&mut self, station: u32, go: bool) {
        let stops = &mut self.stations[station as usize].stops;
        *stops = if go { *stops - 1 } else { *stops + 1 };
    }

    /// Sends a stop or a go that follows what is on a link until `end`.
    fn send_signal(&mut self, link: u32, origin: u32, go: bool, end: Time) {
        let (mut link, mut end) = (link, end);
        loop {
            let at = &self.stations[link as usize];
            let (station, symbol) = (at.next, Time::from(at.symbol));
            let signals = &mut self.signals[station as usize];
            let time = (end + Time::from(at.ahead)).max(signals.last + symbol);
            signals.last = time;
            if station == origin {
                self.last = self.last.max(time);
                return;
            }
            let free_at = self.stations[station as usize].free_at;
            if time >= free_at {
                let first = signals.queue.is_empty();
                let number = self.signal.add(Signal { time, origin, next: NONE, go, counted: false });
                signals.queue.push(&mut self.signal, number);
                if first || go && self.stations[station as usize].is_stopped() {
                    self.await_signals(station);
                }
                return;
            }
            self.heed(station, go);
            if go {
                self.await_end(station);
            }
            (link, end) = (station, free_at);
        }
    }

    /// Sees to the next look at a link to which a stop or a go comes: when it lets something start, at the latest
    /// before it could be at the next station.
    pub(super) fn await_signals(&mut self, station: u32) {
        let head = self.signals[station as usize].queue.head;
        if head == NONE {
            return;
        }
        let at = &self.stations[station as usize];
        let latest = self.signal[head].time + Time::from(at.ahead) - 1;
        let go = if at.is_stopped() { self.last_go(station) } else { NEVER };
        self.look_at(station, latest.min(go));
    }

    /// Has the link of a station that is stopped be looked at when that ends.
    pub(super) fn await_go(&mut self, station: u32) {
        match self.last_go(station) {
            NEVER => {}
            time if time <= self.now => self.touch_link(station),
            time => self.look_at(station, time),
        }
    }

    /// When a station is no longer stopped, as far as that is known.
    fn last_go(&self, station: u32) -> Time {
        let mut stops = self.stations[station as usize].stops;
        let mut number = self.signals[station as usize].queue.head;
        while number != NONE {
            let Signal { time, next, go, counted, .. } = self.signal[number];
            if !counted {
                stops = if go { stops - 1 } else { stops + 1 };
                if stops == 0 {
                    return time;
                }
            }
            number = next;
        }
        NEVER
    }
}
