//! Wires whose lanes send frames, or have priorities, reservations or tables.

use fabriloom_engine::fabric::{NONE, arbiter, sharing};
use fabriloom_engine::kernel::Time;

use crate::event::What;
use crate::parts::Turn;
use crate::twin::Twin;

impl Twin<'_> {
    /// Starts what is next on a free wire: the end or the beginning of a frame, or a character.
    pub(crate) fn start_by_rules(&mut self, link: u32, ready: &[u32]) {
        let row = link as usize;
        let frames = self.fabric.lane_sharing == sharing::FRAME;
        self.raise(link);
        if let Some((lane, started)) = self.links[row].frame {
            if started < self.fabric.lane_frame_chars && ready.contains(&lane) {
                return self.start_in_turn(link, lane, None);
            }
            self.links[row].frame = None;
            if self.occupy(link, lane, self.end_of_frame(link, started)) {
                return;
            }
        }
        let amid = self.links[row].last_sent.filter(|&last| self.lanes[last as usize].amid_packet);
        if let Some(last) = amid.filter(|_| self.fabric.lane_sharing == sharing::PACKET) {
            if ready.contains(&last) {
                self.start_in_turn(link, last, None);
            }
            return;
        }
        let able: Vec<u32> = ready.iter().copied().filter(|&lane| self.is_in_slot(link, lane)).collect();
        let Some(turn) = self.whose_turn(link, &able) else {
            if !ready.is_empty() {
                let slot = self.fabric.lane_slot_ticks as Time;
                self.agenda.add((self.now / slot + 1) * slot, What::Wire { link });
            }
            return;
        };
        if !frames {
            return self.start_in_turn(link, turn.lane, Some(turn));
        }
        (self.links[row].frame, self.links[row].frame_since) = (Some((turn.lane, 0)), self.now);
        self.note(link, turn);
        let start = self.fabric.link_frame_start_ticks.get(row).copied().unwrap_or(0);
        if !self.occupy(link, turn.lane, start.into()) {
            self.start_in_turn(link, turn.lane, None);
        }
    }

    /// Whether this is a time-slot of a lane.
    fn is_in_slot(&self, link: u32, lane: u32) -> bool {
        let place = (lane - self.fabric.lanes_of(link).start) as usize;
        let Some(slots) = self.fabric.lane_slots.get(place).filter(|_| !self.leaves_terminal(link)) else {
            return true;
        };
        let number = self.now as u64 / self.fabric.lane_slot_ticks % 64;
        slots & (1 << number) != 0
    }

    /// Starts a character of a lane, unless it is wrong and sent later.
    fn start_in_turn(&mut self, link: u32, lane: u32, turn: Option<Turn>) {
        if self.is_put_off(link, lane) {
            return;
        }
        if let Some(turn) = turn {
            self.note(link, turn);
        }
        self.start_character(link, lane);
        let state = &mut self.links[link as usize];
        if let Some((_, started)) = &mut state.frame {
            *started += 1;
        }
        let table = &mut state.tables[state.table];
        table.1 -= 1;
        state.high_started += u64::from(state.table == 0);
        let ticks = state.wire_free - self.now;
        self.charge(link, lane, ticks);
    }

    /// Returns the ticks of the end of a frame, with what fills its last column.
    fn end_of_frame(&self, link: u32, started: u32) -> Time {
        let ticks = |column: &[u32]| Time::from(column.get(link as usize).copied().unwrap_or(0));
        let column = ticks(&self.fabric.link_column_ticks).max(1);
        let over = Time::from(started) * self.character_ticks(link) % column;
        ticks(&self.fabric.link_frame_end_ticks) + (column - over) % column
    }

    /// Occupies a wire with the beginning or the end of a frame; returns whether that takes time.
    fn occupy(&mut self, link: u32, lane: u32, ticks: Time) -> bool {
        let within = self.fabric.lanes_of(link).any(|lane| self.lanes[lane as usize].amid_packet);
        let state = &mut self.links[link as usize];
        if ticks == 0 {
            return false;
        }
        if within {
            state.counts.stalled_ticks += (self.now - state.wire_free) as u64;
        }
        state.counts.busy_ticks += ticks as u64;
        state.wire_free = self.now + ticks;
        self.agenda.add(state.wire_free, What::Wire { link });
        self.charge(link, lane, ticks);
        true
    }

    /// Adds to the credit of every lane what has been reserved for it since the last time.
    fn raise(&mut self, link: u32) {
        let most = i128::from(self.fabric.lane_credit_limit_ticks) * 1_000_000;
        let state = &mut self.links[link as usize];
        let since = self.now - std::mem::replace(&mut state.raised_at, self.now);
        for (credit, &share) in state.reserved.iter_mut().zip(&self.fabric.lane_share_millionths) {
            *credit = most.min(*credit + i128::from(share) * i128::from(since));
        }
    }

    /// Takes ticks of a wire from the credit of a lane.
    fn charge(&mut self, link: u32, lane: u32, ticks: Time) {
        let place = (lane - self.fabric.lanes_of(link).start) as usize;
        let least = -i128::from(self.fabric.lane_credit_limit_ticks) * 1_000_000;
        let state = &mut self.links[link as usize];
        state.lane_ticks[place] += ticks as u64;
        state.reserved[place] = least.max(state.reserved[place] - i128::from(ticks) * 1_000_000);
    }

    /// Notes the row of a table that has the wire, and how often the table of high priority had it.
    fn note(&mut self, link: u32, turn: Turn) {
        let limit = self.high_limit();
        let state = &mut self.links[link as usize];
        if turn.table == 1 || state.high_started >= limit {
            state.high_started = 0;
        }
        state.table = turn.table;
        state.tables[turn.table] = (turn.row, turn.left);
    }

    fn high_limit(&self) -> u64 {
        match self.fabric.lane_high_limit_chars {
            NONE => u64::MAX,
            limit => u64::from(limit.max(1)),
        }
    }

    /// Returns which of the lanes that are ready goes next.
    fn whose_turn(&self, link: u32, ready: &[u32]) -> Option<Turn> {
        let (state, first) = (&self.links[link as usize], self.fabric.lanes_of(link).start);
        if !self.fabric.lane_table_lane.is_empty() {
            return self.of_tables(link, ready);
        }
        let priority = |lane: u32| self.fabric.lane_priority.get((lane - first) as usize).copied();
        let highest = ready.iter().map(|&lane| priority(lane)).min()?;
        let mut able: Vec<u32> = ready.iter().copied().filter(|&lane| priority(lane) == highest).collect();
        if !self.fabric.lane_share_millionths.is_empty() {
            let credit = |lane: &u32| state.reserved[(lane - first) as usize];
            let most = able.iter().map(credit).max()?;
            able.retain(|lane| credit(lane) == most);
        }
        let fixed = self.fabric.lane_arbiter == arbiter::FIXED;
        let later = able.iter().find(|&&lane| !fixed && state.last_sent.is_some_and(|last| lane > last));
        Some(Turn { lane: *later.unwrap_or(&able[0]), table: 0, row: 0, left: 0 })
    }

    /// Returns the turn by the two tables.
    fn of_tables(&self, link: u32, ready: &[u32]) -> Option<Turn> {
        let (high, low) = (self.of_table(link, ready, 0), self.of_table(link, ready, 1));
        if low.is_some() && self.links[link as usize].high_started >= self.high_limit() {
            low
        } else {
            high.or(low)
        }
    }

    /// Returns the turn by one table: each row in order, the present one with what is left of it.
    fn of_table(&self, link: u32, ready: &[u32], table: usize) -> Option<Turn> {
        let bounds = [0, self.fabric.lane_table_high as usize, self.fabric.lane_table_lane.len()];
        let (begin, end) = (bounds[table], bounds[table + 1]);
        let (present, rest) = self.links[link as usize].tables[table];
        let first = self.fabric.lanes_of(link).start;
        let turn = |row: usize, left: i64| {
            let lane = first + self.fabric.lane_table_lane[begin + row];
            (left > 0 && ready.contains(&lane)).then_some(Turn { lane, table, row, left })
        };
        if begin == end {
            return None;
        }
        let mut found = turn(present, rest);
        let mut row = present;
        while found.is_none() {
            row = if begin + row + 1 == end { 0 } else { row + 1 };
            found = turn(row, i64::from(self.fabric.lane_table_chars[begin + row]));
            if row == present {
                break;
            }
        }
        found
    }
}
