//! Groups whose links are listed in their rows: most groups.

use super::super::link::Link;
use super::{Group, NEAR};
use crate::kernel::Time;

impl Group {
    /// Whether all its links are listed in this row.
    #[inline]
    pub fn is_near(&self) -> bool {
        self.end - self.start <= NEAR as u32
    }

    /// Returns the first of its links that can be granted, if it is listed in this row.
    #[inline]
    pub fn first_free(&self, links: &[Link], now: Time) -> Option<u32> {
        let mut bits = self.unheld;
        while let Some(&link) = self.near.get(bits.trailing_zeros() as usize) {
            if self.free_from <= now || links[link as usize].port.free_at <= now {
                return Some(link);
            }
            bits &= bits - 1;
        }
        None
    }

    /// Returns the links of the group that may be free, if all are listed in its row.
    #[inline(always)]
    pub fn near_unheld(&self) -> impl Iterator<Item = u32> + '_ {
        let mut bits = self.unheld;
        std::iter::from_fn(move || {
            let link = self.near.get(bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(*link)
        })
    }

    /// Returns the links of the group that can be granted, as bits by their order, if all are listed in its row.
    #[inline(always)]
    pub fn near_free(&self, links: &[Link], now: Time) -> u64 {
        if self.free_from <= now {
            return self.unheld;
        }
        let (mut bits, mut free) = (self.unheld, 0);
        while let Some(&link) = self.near.get(bits.trailing_zeros() as usize) {
            let rest = bits & (bits - 1);
            if links[link as usize].port.free_at <= now {
                free |= bits ^ rest;
            }
            bits = rest;
        }
        free
    }

    /// Returns the link of the bit at a place among those set.
    #[inline(always)]
    pub fn near_link(&self, mut bits: u64, place: u32) -> u32 {
        for _ in 0..place {
            bits &= bits - 1;
        }
        self.near[bits.trailing_zeros() as usize % NEAR]
    }
}
