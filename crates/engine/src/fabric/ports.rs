//! The table of the ports of ring networks: in blocks, equal ones once, so that what is looked at stays in a cache.

use super::Fabric;

/// Terminals whose entries of one port are kept together.
pub const ROUTE_BLOCK: usize = 64;

impl Fabric {
    /// Blocks in the row of a port.
    #[inline]
    pub fn port_blocks(&self) -> usize {
        (self.terminals as usize).div_ceil(ROUTE_BLOCK)
    }

    /// The port of its switch by which what a port takes for a terminal leaves, or [`super::PASS`].
    #[inline]
    pub fn exit(&self, port: u32, terminal: u32) -> u8 {
        let row = port as usize * self.port_blocks();
        let block = self.port_route[row + terminal as usize / ROUTE_BLOCK] as usize;
        self.port_exit[block * ROUTE_BLOCK + terminal as usize % ROUTE_BLOCK]
    }
}
