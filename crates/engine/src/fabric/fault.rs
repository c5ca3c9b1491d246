//! What fails, and switches that do not wait for ever.

use super::{Fabric, acknowledge};

/// When a link runs again that never does.
pub const NEVER: u64 = 1 << 62;

impl Fabric {
    /// True when links fail.
    pub fn has_faults(&self) -> bool {
        !self.fault_link.is_empty()
    }

    /// True when a message of which a transaction has timed out is sent again: where its sender checks it.
    pub fn repeats_timed_out(&self) -> bool {
        let by_response = self.message_acknowledge == acknowledge::RESPONSE;
        by_response && self.message_check_ticks > 0 && self.ring_timeout_ticks > 0
    }

    /// True when routing tables are replaced.
    pub fn has_tables(&self) -> bool {
        !self.table_ticks.is_empty()
    }

    /// The entry of a class at a switch in a table: 0 is `route`, the others replace it.
    pub fn entry(&self, table: u32, switch: u32, class: u32) -> u32 {
        let row = switch as usize * self.classes as usize + class as usize;
        match table {
            0 => self.route[row],
            _ => self.table_route[(table as usize - 1) * self.route.len() + row],
        }
    }

    /// True when switches end packets that do not move.
    pub fn has_timeouts(&self) -> bool {
        self.switch_timeout_ticks.iter().any(|&ticks| ticks > 0)
    }

    /// Ticks after which a switch ends a packet that does not move; 0: never.
    pub fn timeout_of(&self, switch: u32) -> i64 {
        self.switch_timeout_ticks.get(switch as usize).map_or(0, |&ticks| ticks as i64)
    }
}
