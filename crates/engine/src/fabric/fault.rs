//! Failures, and switches with time-outs.

use super::{Fabric, NONE, OWN, acknowledge, fault_kind};
use crate::kernel::Time;

/// The repair time of a link that is never repaired.
pub const NEVER: u64 = 1 << 62;

impl Fabric {
    /// Whether links fail, stop or deliver wrong bits.
    pub fn has_faults(&self) -> bool {
        !self.fault_link.is_empty()
    }

    /// Whether links fail.
    pub fn has_links_that_fail(&self) -> bool {
        self.fault_kind.contains(&fault_kind::LINK)
    }

    /// Whether links fail in another way than that they stop for a time, between packets since senders are paused; or
    /// routing tables are replaced.
    pub fn may_cut(&self) -> bool {
        let stops = |(&kind, &up): (&u8, &u64)| kind == fault_kind::STUCK && up < NEVER;
        let only_stops = self.has_pause() && self.fault_kind.iter().zip(&self.fault_up_ticks).all(stops);
        self.has_tables() || self.has_faults() && !only_stops
    }

    /// Whether a message is sent again if one of its transactions times out: if its sender checks it.
    pub fn repeats_timed_out(&self) -> bool {
        let by_response = self.message_acknowledge == acknowledge::RESPONSE;
        by_response && self.message_check_ticks > 0 && self.ring_timeout_ticks > 0
    }

    /// Whether routing tables are replaced.
    pub fn has_tables(&self) -> bool {
        !self.table_ticks.is_empty()
    }

    /// Returns the number of the table that is in use in a tick.
    pub fn table_at(&self, tick: Time) -> u32 {
        let replaced = self.table_ticks.partition_point(|&ticks| ticks as Time <= tick);
        replaced.checked_sub(1).map_or(0, |row| self.table_number[row])
    }

    /// Returns the entry of a class at a switch in a table: 0 is `route`, the others replace it.
    pub fn entry(&self, table: u32, switch: u32, class: u32) -> u32 {
        if let Some(&column) = self.class_column.get(class as usize) {
            let entry = self.cell(switch as usize, column);
            return if entry == OWN { self.class_exit[class as usize] } else { entry };
        }
        let row = switch as usize * self.classes as usize + class as usize;
        match table {
            0 => self.route[row],
            _ => self.table_route[(table as usize - 1) * self.route.len() + row],
        }
    }

    /// Returns the entry of a column at a switch.
    fn cell(&self, switch: usize, column: u32) -> u32 {
        match self.runs_of(switch) {
            Some((ends, entries)) => entries[ends.partition_point(|&end| end <= column)],
            None => self.route[switch * self.columns() + column as usize],
        }
    }

    /// Returns the runs of a switch, the column after each and the entry, if the routing table has runs.
    pub fn runs_of(&self, switch: usize) -> Option<(&[u32], &[u32])> {
        let ends = self.route_start.get(switch..switch + 2)?;
        let own = ends[0] as usize..ends[1] as usize;
        Some((&self.route_end[own.clone()], &self.route[own]))
    }

    /// Returns the number of columns of the routing table.
    pub fn columns(&self) -> usize {
        match self.route_end.last() {
            Some(&end) => end as usize,
            None if self.class_column.is_empty() => self.classes as usize,
            None => self.route.len() / self.switches.max(1) as usize,
        }
    }

    /// Whether some entry deletes the front header.
    pub fn strips(&self) -> bool {
        self.route.iter().chain(&self.class_exit).any(|&entry| entry != NONE && entry & 1 == 1)
    }

    /// Whether switches end packets that do not move.
    pub fn has_timeouts(&self) -> bool {
        self.switch_timeout_ticks.iter().any(|&ticks| ticks > 0)
    }

    /// Returns the ticks after which a switch ends a packet that does not move; 0: never.
    pub fn timeout_of(&self, switch: u32) -> i64 {
        self.switch_timeout_ticks.get(switch as usize).map_or(0, |&ticks| ticks as i64)
    }
}
