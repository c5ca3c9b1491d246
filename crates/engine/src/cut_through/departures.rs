//! When characters leave, looked up: places in output buffers, departures from input buffers, and the credit that follows.

use super::parts::{Out, Sent, Stay};
use super::state::{Network, UNKNOWN};
use crate::kernel::Time;

impl Network {
    /// Returns when the place of a character in the output buffer of a lane is free again: `S(m) + character_ticks`;
    /// [`UNKNOWN`] if its packet has not started, 0 if it is long ago.
    #[inline(always)]
    pub(super) fn place_at(&self, lane: u32, number: i64) -> Time {
        let at = &self.lanes[lane as usize];
        if number >= at.started {
            return UNKNOWN;
        }
        let place = |sent: &Sent| sent.start + (number - sent.number + 1) * Time::from(sent.character);
        at.last_sent(|sent| sent.number <= number).map_or(0, place)
    }

    /// Returns the number of the first character of a lane whose place is not free again by a tick.
    #[inline(always)]
    fn freed_by(&self, lane: u32, time: Time) -> i64 {
        let at = &self.lanes[lane as usize];
        match at.last_sent(|sent| sent.start <= time) {
            Some(sent) => sent.number + sent.freed_by(time),
            None => at.sent.front().map_or(0, |sent| sent.number),
        }
    }

    /// `R(n)`: returns when a character of a packet that holds an output leaves the input buffer, from its index in the
    /// packet; [`UNKNOWN`] until the character whose place it takes has started. What is deleted takes none.
    #[inline(always)]
    pub(super) fn departure(&self, stay: &Stay, index: i64) -> Time {
        if stay.is_cut {
            return self.departure_if_cut(stay, index);
        }
        let kind = self.kind(self.lanes[stay.lane as usize].link);
        self.crosses_at(stay, index, kind.arrival(stay.start) + index * Time::from(kind.character))
    }

    /// The same for a packet that is cut, or spilled since a tick.
    #[cold]
    fn departure_if_cut(&self, stay: &Stay, index: i64) -> Time {
        let arrival = self.kind(self.lanes[stay.lane as usize].link).arrival(self.start_of(stay, index));
        let crosses = if stay.is_granted() { self.crosses_at(stay, index, arrival) } else { UNKNOWN };
        if stay.spills && crosses >= stay.crosses { arrival.max(stay.crosses) } else { crosses }
    }

    /// The same for a character that arrives at a tick, and crosses.
    #[inline(always)]
    fn crosses_at(&self, stay: &Stay, index: i64, arrival: Time) -> Time {
        let kind = self.kind(self.lanes[stay.lane as usize].link);
        let output = self.kind(self.lanes[stay.out.lane as usize].link).output_buffer;
        let Out { lane, deleted, number, .. } = stay.out;
        let place = match index - i64::from(deleted) {
            ..0 => 0,
            entered => self.place_at(lane, number + entered - i64::from(output)),
        };
        arrival.max(stay.out.grant + index * Time::from(kind.crossbar)).max(place)
    }

    /// The same of its last one.
    pub(super) fn end_of(&self, stay: u32) -> Time {
        let at = &self.stays[stay];
        self.start_of(at, i64::from(at.length) - 1)
    }

    /// `S(n)`: returns when a character of a packet that has started starts, or its end if that is before.
    #[inline(always)]
    pub(super) fn start_of(&self, stay: &Stay, index: i64) -> Time {
        let is_end = stay.is_cut && index + 1 >= i64::from(stay.length);
        let character = self.kind(self.lanes[stay.lane as usize].link).character;
        if is_end { stay.end } else { stay.start + index * Time::from(character) }
    }

    /// Returns the characters that were granted a lane and whose credit has not come back, by the quantum; 0 into terminals.
    pub fn occupied(&self, lane: u32) -> u64 {
        let at = &self.lanes[lane as usize];
        let kind = self.kind(at.link);
        if kind.to_terminal {
            return 0;
        }
        let by = (self.now - Time::from(kind.credit_delay)).max(at.renewed_at);
        let granted =
            at.crossing.iter().map(|&stay| &self.stays[stay]).take_while(|stay| stay.out.grant <= by);
        let left = granted.map(|stay| self.left_by(stay, by)).sum::<i64>();
        let (places, quantum) = (i64::from(kind.input_buffer), i64::from(kind.quantum));
        let returned = (places + at.departed + left) / quantum - places / quantum;
        (at.granted - returned * quantum).max(0) as u64
    }

    /// Returns how many characters of a packet that holds an output have left the input buffer by a tick, as far as is
    /// known.
    #[inline(always)]
    pub(super) fn left_by(&self, stay: &Stay, time: Time) -> i64 {
        let length = i64::from(stay.length);
        if stay.left <= time {
            return length;
        }
        let kind = self.kind(self.lanes[stay.lane as usize].link);
        let arrived = kind.arrival(stay.start);
        if time < arrived.max(stay.out.grant) {
            return 0;
        }
        let mut count = length.min((time - arrived) / Time::from(kind.character) + 1);
        if stay.is_cut {
            count = if time < kind.arrival(stay.end) { count.min(length - 1) } else { length };
            if stay.spills && (time >= stay.crosses || !stay.is_granted()) {
                return count;
            }
        }
        if kind.crossbar > 0 {
            count = count.min((time - stay.out.grant) / Time::from(kind.crossbar) + 1);
        }
        let output = self.kind(self.lanes[stay.out.lane as usize].link).output_buffer;
        let entered = (self.freed_by(stay.out.lane, time) + i64::from(output) - stay.out.number).max(0);
        count.min(entered + i64::from(stay.out.deleted))
    }

    /// Returns how many characters of a packet that holds an output leave the input buffer if nothing more starts.
    #[inline(always)]
    pub(super) fn leave_yet(&self, stay: &Stay) -> i64 {
        let length = i64::from(stay.length);
        if stay.left < UNKNOWN {
            return length;
        }
        if stay.start == UNKNOWN {
            return 0;
        }
        let out = &self.lanes[stay.out.lane as usize];
        let output = i64::from(self.kind(out.link).output_buffer);
        let entered = (out.started + output - stay.out.number).max(0);
        length.min(entered + i64::from(stay.out.deleted))
    }

    /// Returns when there is credit for a packet that starts next on a lane, as far as is known; 0 if it is there.
    #[inline(always)]
    pub(super) fn credit_at(&mut self, lane: u32, length: u32) -> Time {
        let at = &self.lanes[lane as usize];
        let kind = self.kind(at.link);
        if kind.to_terminal {
            return 0;
        }
        if !self.stores.is_empty() {
            return self.goes_on_at(lane);
        }
        let needed = at.needs(kind, length);
        if needed <= at.departed { 0 } else { self.look_up_credit(lane, needed) }
    }

    /// Whether a lane has the credit with which it may be granted to a head on lane `from`.
    #[inline(always)]
    pub(super) fn has_room(&self, lane: u32, from: u32) -> bool {
        self.room == 0
            || if self.has_rings() {
                self.has_places(lane, from)
            } else {
                self.has_credit_for(lane, self.room)
            }
    }

    /// Whether there is credit for a packet of this length besides what a lane is to send.
    pub(super) fn has_credit_for(&self, lane: u32, length: u32) -> bool {
        let kind = self.kind(self.lanes[lane as usize].link);
        let promised = u64::from(kind.input_buffer / kind.quantum * kind.quantum);
        kind.to_terminal || self.occupied(lane) + u64::from(length) <= promised
    }

    /// Returns when it has, as far as is known; 0 if it does.
    pub(super) fn room_at(&mut self, lane: u32) -> Time {
        let at = &self.lanes[lane as usize];
        let kind = self.kind(at.link);
        if kind.to_terminal {
            return 0;
        }
        let needed = at.needs_for_grant(kind, self.room);
        if needed <= at.departed { 0 } else { self.look_up_credit(lane, needed) }
    }

    /// The same as [`Self::credit_at`] if this many characters must have left the input buffer, and more than are counted.
    fn look_up_credit(&mut self, lane: u32, needed: i64) -> Time {
        let credit = Time::from(self.kind(self.lanes[lane as usize].link).credit_delay);
        let by = (self.now - credit).max(self.lanes[lane as usize].renewed_at);
        self.count_departed(lane, by);
        let at = &self.lanes[lane as usize];
        let missing = needed - at.departed;
        if missing <= 0 {
            return 0;
        }
        let time = match at.crossing[..] {
            [] => UNKNOWN,
            [stay] => {
                let stay = &self.stays[stay];
                if missing > i64::from(stay.length) { UNKNOWN } else { self.departure(stay, missing - 1) }
            }
            _ => self.departure_of_several(lane, missing, by),
        };
        if time <= by { 0 } else { time.saturating_add(credit) }
    }

    /// Counts the packets of an input buffer that have left by a tick, and forgets them.
    pub(super) fn count_departed(&mut self, lane: u32, by: Time) {
        let at = &mut self.lanes[lane as usize];
        let stays = &mut self.stays;
        // On a long cable most of them are behind: what was granted later has not left.
        let granted = at.crossing.partition_point(|&stay| stays[stay].out.grant <= by);
        let mut kept = 0;
        for place in 0..granted {
            let stay = at.crossing[place];
            let Stay { left, length, packet, spills, .. } = stays[stay];
            if left <= by {
                at.departed += i64::from(length);
                stays.remove(stay);
                if spills {
                    Self::piece_gone(&mut self.packets, packet, &mut self.remains);
                }
            } else {
                at.crossing[kept] = stay;
                kept += 1;
            }
        }
        at.crossing.drain(kept..granted);
    }

    /// Returns when this many characters of the packets that hold outputs have left an input buffer, as far as is known.
    /// By an earlier tick that no lookup precedes they have not all left, or it is returned.
    fn departure_of_several(&self, lane: u32, missing: i64, by: Time) -> Time {
        let at = &self.lanes[lane as usize];
        let kind = self.kind(at.link);
        // Where many packets have left whose credit is on a long cable, few of them were granted before enough have.
        let (mut count, mut sum, mut last, mut known) = (0, 0, 0, None);
        // What leaves if nothing more starts.
        let mut all = 0;
        for stay in at.crossing.iter().map(|&stay| &self.stays[stay]) {
            if known.is_some_and(|end| stay.out.grant > end) {
                break;
            }
            count += 1;
            if known.is_none() && stay.left < UNKNOWN {
                (sum, last) = (sum + i64::from(stay.length), last.max(stay.left));
                known = (sum >= missing).then_some(last);
            }
            all += self.leave_yet(stay);
        }
        if all < missing {
            return UNKNOWN;
        }
        let leaving = at.crossing[..count].iter().map(|&stay| &self.stays[stay]);
        let leaving = leaving.filter(|stay| known.is_none_or(|end| kind.arrival(stay.start) <= end));
        let left = |time: Time| leaving.clone().map(|stay| self.left_by(stay, time)).sum::<i64>();
        if left(by) >= missing {
            return by;
        }
        let (mut low, mut high, mut step) = (by, known.unwrap_or(by + 8), 8);
        while known.is_none() && left(high) < missing {
            step *= 2;
            (low, high) = (high, high + step);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if left(middle) >= missing {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    }
}
