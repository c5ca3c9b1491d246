//! What SpaceWire has: time-codes and interrupts, characters outside packets that go to every port, and addresses in
//! front of headers, of which links on the path delete one character each.

pub use super::words::signal::TIME;
use super::{Fabric, NONE};

/// Time-codes and interrupts have numbers of six bits.
pub const CODE_NUMBERS: u8 = 64;

impl Fabric {
    /// Whether a link deletes a character of the address on entry.
    #[inline]
    pub fn deletes_address(&self, link: u32) -> bool {
        self.link_deletes_address.get(link as usize).is_some_and(|&deletes| deletes > 0)
    }

    /// Whether a link deletes a header or a character of the address on entry.
    pub fn deletes_on_entry(&self, link: u32) -> bool {
        self.link_deletes_header[link as usize] != 0 || self.deletes_address(link)
    }

    /// Returns the number of address characters with which a packet leaves one port for another.
    pub fn address_chars(&self, source: u32, target: u32) -> u32 {
        if self.link_deletes_address.is_empty() {
            return 0;
        }
        let class = self.terminal_class[target as usize] + self.own_classes(source, target);
        let mut vertex = self.link_target[self.terminal_out_link[source as usize] as usize];
        let mut count = 0;
        while !self.is_terminal(vertex) {
            let entry = self.entry(0, vertex, class);
            if entry == NONE {
                break;
            }
            // All links of a group continue over equal numbers of deleting links.
            let link = self.link_of(self.group(entry >> 1)[0]);
            count += u32::from(self.deletes_address(link));
            vertex = self.link_target[link as usize];
        }
        count
    }

    /// Whether there are sources of time-codes or interrupts.
    pub fn has_codes(&self) -> bool {
        !self.code_port.is_empty()
    }
}
