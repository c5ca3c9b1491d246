//! The links of a group that may be free.

use super::{BITS, NEAR};

/// Iterates over [`Group::links`].
#[derive(Clone)]
pub(super) struct Unheld<'a> {
    pub near: &'a [u32; NEAR],
    pub links: &'a [u32],
    pub start: u32,
    pub end: u32,
    pub bits: u64,
}

impl Iterator for Unheld<'_> {
    type Item = (usize, u32);

    #[inline]
    fn next(&mut self) -> Option<(usize, u32)> {
        if self.bits != 0 {
            let place = self.bits.trailing_zeros();
            self.bits &= self.bits - 1;
            let near = self.near.get(place as usize).copied();
            let link = near.unwrap_or_else(|| self.links[(self.start + place) as usize]);
            return Some((place as usize, link));
        }
        // Links without a bit come last.
        if self.end - self.start <= BITS as u32 {
            return None;
        }
        self.start += 1;
        Some((BITS, self.links[self.start as usize + BITS - 1]))
    }
}
