//! Time-codes and interrupts: characters outside packets that go to every port.

use super::Fabric;
pub use super::words::signal::TIME;

/// Time-codes and interrupts have numbers of six bits.
pub const CODE_NUMBERS: u8 = 64;

impl Fabric {
    /// Whether there are sources of time-codes or interrupts.
    pub fn has_codes(&self) -> bool {
        !self.code_port.is_empty()
    }
}
