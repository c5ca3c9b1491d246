//! The links of a group that may be free, and taking one out of its groups.

use super::{BITS, NEAR, Port, Ports, UNKNOWN};
use crate::fabric::NONE;
use crate::kernel::Time;

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

impl Ports {
    /// Takes a link out of its groups, without a grant.
    pub fn close(&mut self, port: &mut Port) {
        port.free_at = UNKNOWN;
        if port.group.group != NONE {
            self.for_groups(port, |group, member| group.unheld &= !member.bit);
        }
    }

    /// Puts a link back that is free at a tick; returns whether heads wait for it.
    pub fn open(&mut self, port: &mut Port, free_at: Time) -> bool {
        port.free_at = free_at;
        port.group.group != NONE && self.unhold(port, free_at)
    }

    /// Returns the groups of a link.
    pub fn groups_of<'a>(&'a self, port: &'a Port) -> impl Iterator<Item = u32> + 'a {
        let others = self.others.get(port.others as usize).into_iter().flatten();
        [&port.group].into_iter().chain(others).map(|member| member.group).filter(|&group| group != NONE)
    }
}
