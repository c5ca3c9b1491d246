//! Wires with more than a turn: which lane sends next by time-slots, priorities, reservations or tables, and frames.
//!
//! The room decides about such a wire whenever it is free, so nothing is computed ahead on it. Other wires do not come here.

use super::parts::ready;
use super::state::{Network, UNKNOWN};
use crate::fabric::{Fabric, NONE, in_turn, sharing};
use crate::kernel::Time;

/// A reservation of all of a wire, and a tick of it.
const WHOLE: i64 = 1_000_000;

/// What all wires of a network have in common.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    by_packet: bool,
    fixed: bool,
    /// Most characters of a frame; 0: there are none.
    frame: u32,
    /// Per priority, the highest first: its lanes, as bits; empty: all lanes are alike.
    levels: Vec<u32>,
    /// Per lane: its reservation; empty: there are none.
    shares: Vec<i64>,
    /// Per lane: the time-slots in which it may be chosen, a bit for each; empty: any time. Each is that long.
    slots: Vec<u64>,
    slot: Time,
    /// The most that a lane saves or overdraws.
    limit: i64,
    /// Tables of high and of low priority: lanes, and how many characters each may start.
    tables: [Vec<(u32, i64)>; 2],
    high_limit: i64,
}

/// One wire.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    /// The lane whose frame is open, or [`NONE`], and how many characters may still start in it.
    frame: u32,
    left: u32,
    /// Per lane: what it has saved or overdrawn, and when that was so.
    credit: Vec<(i64, Time)>,
    /// Per table: its row, and the characters that this may still start.
    rows: [(usize, i64); 2],
    /// The table in use, and the characters started by that of high priority since the last choice of the other.
    table: usize,
    high: i64,
    /// Per lane: ticks for which its characters and frames have occupied the wire.
    pub used: Vec<u64>,
}

/// A lane, and the row of a table that names it.
#[derive(Clone, Copy)]
struct Choice {
    lane: u32,
    table: usize,
    row: (usize, i64),
}

/// What a free wire does next.
enum Next {
    Wait(Time),
    CloseFrame,
    OpenFrame(Choice),
    /// A character of a lane, which has just been chosen or is within its packet or frame.
    Send(u32, Option<Choice>),
}

impl Rules {
    /// Returns the rules of a network; None where lanes take turns or have a fixed order alone.
    pub fn new(f: &Fabric) -> Option<Box<Self>> {
        let mut priorities = f.lane_priority.clone();
        priorities.sort_unstable();
        priorities.dedup();
        let bits = |level: u8| (0..f.lanes).filter(move |&lane| f.lane_priority[lane as usize] == level);
        let rows: Vec<_> =
            f.lane_table_lane.iter().copied().zip(f.lane_table_chars.iter().map(|&n| n.into())).collect();
        let (high, low) = rows.split_at(f.lane_table_high as usize);
        f.has_lane_arbiter().then(|| {
            Box::new(Self {
                by_packet: f.lane_sharing == sharing::PACKET,
                fixed: f.lane_arbiter == crate::fabric::arbiter::FIXED,
                frame: f.lane_frame_chars,
                levels: priorities.iter().map(|&level| bits(level).map(|lane| 1 << lane).sum()).collect(),
                shares: f.lane_share_millionths.iter().map(|&share| share.into()).collect(),
                slots: f.lane_slots.clone(),
                slot: f.lane_slot_ticks as Time,
                limit: f.lane_credit_limit_ticks as i64 * WHOLE,
                tables: [high.to_vec(), low.to_vec()],
                high_limit: if f.lane_high_limit_chars == NONE {
                    i64::MAX
                } else {
                    i64::from(f.lane_high_limit_chars).max(1)
                },
            })
        })
    }

    /// Returns a wire on which nothing has been sent.
    pub fn wire(&self, lanes: u32) -> Wire {
        let first = |table: &Vec<(u32, i64)>| (0, table.first().map_or(0, |row| row.1));
        Wire {
            frame: NONE,
            left: 0,
            credit: vec![(0, 0); lanes as usize],
            rows: self.tables.each_ref().map(first),
            table: 0,
            high: 0,
            used: vec![0; lanes as usize],
        }
    }

    /// Chooses one of the lanes that are ready, as bits; `last`: the one that sent last.
    fn choose(&self, wire: &Wire, ready: u32, last: u32, now: Time) -> Choice {
        if !self.tables.iter().all(Vec::is_empty) {
            return self.by_tables(wire, ready);
        }
        let highest = self.levels.iter().map(|level| level & ready).find(|&bits| bits != 0);
        let mut able = highest.unwrap_or(ready);
        if !self.shares.is_empty() {
            let of = |bits: u32| (0..u32::BITS).filter(move |bit| bits >> bit & 1 == 1);
            let most = of(able).map(|lane| self.saved(wire, lane, now)).max();
            able = of(able)
                .filter(|&lane| Some(self.saved(wire, lane, now)) == most)
                .map(|lane| 1 << lane)
                .sum();
        }
        Choice { lane: in_turn(able, last, self.fixed), table: 0, row: (0, 0) }
    }

    /// Returns which lanes may be chosen now, and when the next time-slot of one of the others begins.
    fn in_slot(&self, ready: u32, now: Time) -> (u32, Time) {
        if self.slots.is_empty() {
            return (ready, UNKNOWN);
        }
        let slot = now / self.slot;
        let (mut may, mut next) = (0, UNKNOWN);
        for (lane, slots) in self.slots.iter().enumerate().filter(|(lane, _)| ready >> lane & 1 == 1) {
            match slots.rotate_right((slot % Time::from(u64::BITS)) as u32).trailing_zeros() {
                0 => may |= 1 << lane,
                later => next = next.min((slot + Time::from(later)) * self.slot),
            }
        }
        (may, next)
    }

    /// Returns what a lane has saved, or overdrawn, of its reservation.
    fn saved(&self, wire: &Wire, lane: u32, now: Time) -> i64 {
        let (credit, then) = wire.credit[lane as usize];
        credit.saturating_add(self.shares[lane as usize].saturating_mul(now - then)).min(self.limit)
    }

    fn by_tables(&self, wire: &Wire, ready: u32) -> Choice {
        let [high, low] = [0, 1].map(|table| self.by_table(wire, table, ready));
        let lets_low = wire.high >= self.high_limit && low.is_some();
        let chosen = if lets_low { low } else { high.or(low) };
        chosen.expect("every lane is in a table")
    }

    /// Returns the choice of a table: the row whose turn it is as long as it may start characters, or else the next one.
    fn by_table(&self, wire: &Wire, table: usize, ready: u32) -> Option<Choice> {
        let (rows, (at, left)) = (&self.tables[table], wire.rows[table]);
        let later = (1..=rows.len()).map(|step| (at + step) % rows.len());
        let fresh = later.map(|row| (row, rows[row].1));
        let mut all = std::iter::once((at, left)).filter(|_| !rows.is_empty()).chain(fresh);
        let row = all.find(|&(row, left)| left > 0 && ready >> rows[row].0 & 1 == 1)?;
        Some(Choice { lane: rows[row.0].0, table, row })
    }
}

impl Wire {
    /// Notes a choice.
    fn take(&mut self, choice: &Choice, rules: &Rules) {
        (self.table, self.rows[choice.table]) = (choice.table, choice.row);
        if choice.table == 1 || self.high >= rules.high_limit {
            self.high = 0;
        }
    }

    /// Charges a lane for ticks of the wire from now on, in which some characters start.
    fn charge(&mut self, rules: &Rules, lane: u32, chars: u32, now: Time, ticks: Time) {
        self.used[lane as usize] += ticks as u64;
        if !rules.shares.is_empty() {
            let left = rules.saved(self, lane, now) - ticks * WHOLE;
            self.credit[lane as usize] = (left.max(-rules.limit), now);
        }
        self.rows[self.table].1 -= i64::from(chars);
        if self.table == 0 {
            self.high = self.high.saturating_add(chars.into());
        }
    }
}

impl Network {
    /// Starts what is next on a free wire, which has rules.
    pub(super) fn start_by_rules(&mut self, link: u32) {
        let now = self.agenda.now;
        loop {
            let next = self.next_by_rules(link);
            let Some(rules) = &self.rules else { return };
            let (wire, shared) = (&mut self.wires[link as usize], &mut self.links[link as usize]);
            let (lane, ticks) = match next {
                Next::Wait(until) => return self.agenda.wake_wire(shared, until),
                Next::Send(lane, choice) => return self.send_by_rules(link, lane, choice),
                Next::CloseFrame => (std::mem::replace(&mut wire.frame, NONE), shared.frame_end),
                Next::OpenFrame(choice) => {
                    wire.take(&choice, rules);
                    (wire.frame, wire.left) = (choice.lane, rules.frame);
                    (choice.lane, shared.frame_start)
                }
            };
            if ticks > 0 {
                wire.charge(rules, lane, 0, now, ticks);
                shared.counts.busy_ticks += ticks as u64;
                shared.free_at = now + ticks;
                self.agenda.rest_until(now + ticks);
                return self.agenda.wake_wire(shared, now + ticks);
            }
        }
    }

    fn send_by_rules(&mut self, link: u32, lane: u32, choice: Option<Choice>) {
        let now = self.agenda.now;
        if self.links[link as usize].wrong_until > now && self.is_put_off(link) {
            return;
        }
        self.send(link, self.fabric.lanes * link + lane, now);
        let Some(rules) = &self.rules else { return };
        let (wire, shared) = (&mut self.wires[link as usize], &mut self.links[link as usize]);
        if let Some(choice) = choice {
            wire.take(&choice, rules);
        }
        wire.left = wire.left.saturating_sub(1);
        wire.charge(rules, lane, 1, now, shared.free_at - now);
        self.agenda.wake_wire(shared, shared.free_at);
    }

    /// Returns the lane whose next character a free wire with rules would start now, if it would start one.
    pub(super) fn sends_by_rules(&self, link: u32) -> Option<u32> {
        match self.next_by_rules(link) {
            Next::Send(lane, _) => Some(self.fabric.lanes * link + lane),
            _ => None,
        }
    }

    /// Forgets the frame of a link that fails.
    pub(super) fn drop_frame(&mut self, link: u32) {
        if let Some(wire) = self.wires.get_mut(link as usize) {
            wire.frame = NONE;
        }
    }

    fn next_by_rules(&self, link: u32) -> Next {
        let (now, first, shared) = (self.agenda.now, self.fabric.lanes * link, &self.links[link as usize]);
        let Some(rules) = &self.rules else { return Next::Wait(UNKNOWN) };
        let wire = &self.wires[link as usize];
        let (ready, next) = ready(&self.lanes, first, shared.known, now);
        if wire.frame != NONE {
            let goes_on = wire.left > 0 && ready >> wire.frame & 1 == 1;
            return if goes_on { Next::Send(wire.frame, None) } else { Next::CloseFrame };
        }
        let last = shared.last.wrapping_sub(first);
        if rules.by_packet && shared.last != NONE && self.lanes[shared.last as usize].is_amid() {
            let goes_on = ready >> last & 1 == 1;
            return if goes_on { Next::Send(last, None) } else { Next::Wait(next) };
        }
        if ready == 0 {
            return Next::Wait(next);
        }
        let (ready, slot) = if shared.from_terminal { (ready, UNKNOWN) } else { rules.in_slot(ready, now) };
        if ready == 0 {
            return Next::Wait(next.min(slot));
        }
        let choice = rules.choose(wire, ready, last, now);
        if rules.frame > 0 { Next::OpenFrame(choice) } else { Next::Send(choice.lane, Some(choice)) }
    }
}
