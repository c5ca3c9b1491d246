//! Which lane sends next on a wire with more than a turn: time-slots, priorities, reservations, and tables of lanes.
//!
//! A room says which lanes are ready when a wire is free, and charges the one that is chosen for what it starts: a
//! character, a packet whose characters follow each other, or the beginning of a frame.

use crate::fabric::{Fabric, NONE, arbiter, in_turn, sharing};
use crate::kernel::Time;

/// A reservation of all of a wire, and a tick of it.
const WHOLE: i64 = 1_000_000;

/// What all wires of a network have in common.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Whether a packet has the wire until its end.
    pub by_packet: bool,
    fixed: bool,
    /// Most characters of a frame; 0: there are none.
    pub frame: u32,
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
pub struct Wire {
    /// The lane whose frame is open, or [`NONE`].
    pub frame: u32,
    /// When its frame has begun, or begins again.
    pub since: Time,
    /// How many characters may still start in its frame.
    pub left: u32,
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
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The lane, of those of its link.
    pub lane: u32,
    table: usize,
    row: (usize, i64),
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
                fixed: f.lane_arbiter == arbiter::FIXED,
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

    /// Returns the wires of all links of a network, on which nothing has been sent.
    pub fn wires(&self, f: &Fabric) -> Vec<Wire> {
        let first = |table: &Vec<(u32, i64)>| (0, table.first().map_or(0, |row| row.1));
        let wire = Wire {
            frame: NONE,
            since: 0,
            left: 0,
            credit: vec![(0, 0); f.lanes as usize],
            rows: self.tables.each_ref().map(first),
            table: 0,
            high: 0,
            used: vec![0; f.lanes as usize],
        };
        vec![wire; f.links()]
    }

    /// Chooses one of the lanes that are ready, as bits; `last`: the one that sent last.
    pub fn choose(&self, wire: &Wire, ready: u32, last: u32, now: Time) -> Choice {
        if !self.tables.iter().all(Vec::is_empty) {
            return self.by_tables(wire, ready);
        }
        let highest = self.levels.iter().map(|level| level & ready).find(|&bits| bits != 0);
        let mut able = highest.unwrap_or(ready);
        if !self.shares.is_empty() && !able.is_power_of_two() {
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
    pub fn in_slot(&self, ready: u32, now: Time) -> (u32, Time) {
        if self.slots.is_empty() {
            return (ready, Time::MAX);
        }
        let slot = now / self.slot;
        let (mut may, mut next) = (0, Time::MAX);
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
    pub fn take(&mut self, choice: &Choice, rules: &Rules) {
        (self.table, self.rows[choice.table]) = (choice.table, choice.row);
        if choice.table == 1 || self.high >= rules.high_limit {
            self.high = 0;
        }
    }

    /// Charges a lane for the beginning or the end of a frame, which takes the wire from now on.
    pub fn charge_frame(&mut self, rules: &Rules, lane: u32, now: Time, ticks: Time) {
        self.charge_run(rules, lane, 1, now, ticks);
    }

    /// Charges a lane for characters that follow each other from now on. `ticks`: of each.
    pub fn charge(&mut self, rules: &Rules, lane: u32, chars: u32, now: Time, ticks: Time) {
        self.charge_run(rules, lane, chars, now, ticks);
        self.rows[self.table].1 -= i64::from(chars);
        if self.table == 0 {
            self.high = self.high.saturating_add(chars.into());
        }
    }

    /// After the first of them a lane is not above its limit again before the last: none gets more than the whole wire.
    fn charge_run(&mut self, rules: &Rules, lane: u32, count: u32, now: Time, ticks: Time) {
        self.used[lane as usize] += ticks as u64 * u64::from(count);
        if let Some(share) = rules.shares.get(lane as usize) {
            let (first, later) = (ticks * WHOLE, ticks * i64::from(count - 1));
            let left = (rules.saved(self, lane, now) - first).max(-rules.limit);
            let left = left.saturating_sub((WHOLE - share).saturating_mul(later));
            self.credit[lane as usize] = (left.max(-rules.limit), now + later);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(limit: i64) -> (Rules, Wire) {
        let fabric = Fabric {
            lanes: 2,
            link_source: vec![0],
            lane_share_millionths: vec![250_000, 1_000_000],
            lane_credit_limit_ticks: limit as u64,
            ..Fabric::default()
        };
        let rules = *Rules::new(&fabric).expect("there are reservations");
        let wire = rules.wires(&fabric).remove(0);
        (rules, wire)
    }

    #[test]
    fn characters_are_charged_at_once_as_one_by_one() {
        for (limit, lane) in [(10, 0), (1000, 0), (1000, 1), (3, 1)] {
            let (rules, mut at_once) = shared(limit);
            let mut by_one = at_once.clone();
            for (now, chars) in [(0, 3), (40, 1), (55, 70), (2000, 9)] {
                at_once.charge(&rules, lane, chars, now, 4);
                for character in 0..chars {
                    by_one.charge(&rules, lane, 1, now + 4 * Time::from(character), 4);
                }
                assert_eq!(at_once.credit, by_one.credit, "limit {limit}, lane {lane}, tick {now}");
            }
            assert_eq!((at_once.used, at_once.rows), (by_one.used, by_one.rows));
        }
    }
}
