//! What fails, and switches that do not wait for ever.

use super::Fabric;

/// When a link runs again that never does.
pub const NEVER: u64 = 1 << 62;

impl Fabric {
    /// True when links fail.
    pub fn has_faults(&self) -> bool {
        !self.fault_link.is_empty()
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
