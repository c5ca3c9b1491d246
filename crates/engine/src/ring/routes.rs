//! By which port packets leave a switch, in less room than a table of all terminals for every port.
//!
//! Rows of the table are much alike, so it is cut into pieces of 64 terminals, these are put together by sixteen, and
//! what is the same is kept once.

use std::collections::BTreeMap;

use crate::fabric::PASS;

const LEAF: usize = 64;
const BRANCH: usize = 16;

/// For every port and terminal the port by which packets leave, or [`PASS`].
#[derive(Clone, Debug)]
pub(super) struct Routes {
    /// Branches of each row, all rows of the same length.
    roots: Vec<u32>,
    per_row: usize,
    branches: Vec<[u32; BRANCH]>,
    leaves: Vec<[u8; LEAF]>,
}

impl Routes {
    /// From a table with a row of `terminals` entries for each port.
    pub fn new(table: &[u8], terminals: usize) -> Self {
        let per_row = terminals.div_ceil(LEAF * BRANCH);
        let mut leaves = Once::new([PASS; LEAF]);
        let mut branches = Once::new([0; BRANCH]);
        let mut roots = Vec::with_capacity(table.len() / terminals.max(1) * per_row);
        for row in table.chunks_exact(terminals.max(1)) {
            for wide in row.chunks(LEAF * BRANCH) {
                let mut branch = [0; BRANCH];
                for (number, part) in branch.iter_mut().zip(wide.chunks(LEAF)) {
                    let mut leaf = [PASS; LEAF];
                    leaf[..part.len()].copy_from_slice(part);
                    *number = leaves.number(leaf);
                }
                roots.push(branches.number(branch));
            }
        }
        Self { roots, per_row, branches: branches.all, leaves: leaves.all }
    }

    /// The port by which packets for a terminal leave from a port, or [`PASS`].
    #[inline]
    pub fn way(&self, port: u32, terminal: u32) -> u8 {
        let terminal = terminal as usize;
        let root = self.roots[port as usize * self.per_row + terminal / (LEAF * BRANCH)];
        let leaf = self.branches[root as usize][terminal / LEAF % BRANCH];
        self.leaves[leaf as usize][terminal % LEAF]
    }
}

/// Items of which equal ones have one number.
struct Once<T> {
    all: Vec<T>,
    numbers: BTreeMap<T, u32>,
    /// The last one asked for: most are like the one before.
    last: u32,
}

impl<T: Ord + Copy> Once<T> {
    fn new(first: T) -> Self {
        Self { all: vec![first], numbers: BTreeMap::from([(first, 0)]), last: 0 }
    }

    fn number(&mut self, item: T) -> u32 {
        if self.all[self.last as usize] != item {
            let next = self.all.len() as u32;
            self.last = *self.numbers.entry(item).or_insert(next);
            if self.last == next {
                self.all.push(item);
            }
        }
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every entry is found again, whatever the length of rows.
    #[test]
    fn routes_are_those_of_the_table() {
        for terminals in [1, 63, 64, 65, 1023, 1024, 2500] {
            let table: Vec<u8> = (0..7 * terminals).map(|at| ((at * at) % 251 / 60) as u8).collect();
            let routes = Routes::new(&table, terminals);
            for (at, &way) in table.iter().enumerate() {
                assert_eq!(routes.way((at / terminals) as u32, (at % terminals) as u32), way);
            }
        }
    }
}
