//! Which group a class takes at each switch, so that the entries in use lie close together.
//!
//! The terminals of one switch are reached by the same groups from every other switch. A small table by switch
//! and region has one entry for all classes of a region; only where they differ is the full one read.

use crate::fabric::{Fabric, NONE};

/// Classes of a region have different entries. No entry of a table that fits into memory is as large.
const MIXED: u32 = NONE - 1;
/// No entry has been seen.
const UNSEEN: u32 = NONE - 2;

/// The routing table by region.
#[derive(Clone, Debug)]
pub(super) struct Routes {
    /// Columns of `table`.
    regions: usize,
    /// Per class.
    region: Vec<u32>,
    /// Switch by region: an entry of the full table, or [`MIXED`].
    table: Vec<u32>,
}

impl Routes {
    pub fn new(fabric: &Fabric) -> Self {
        let (region, regions) = regions(fabric);
        let mut table = vec![UNSEEN; fabric.switches as usize * regions];
        let used = used(fabric);
        let rows = fabric.route.chunks_exact(fabric.classes.max(1) as usize);
        for (row, full) in table.chunks_exact_mut(regions).zip(rows) {
            for (&class, region) in used.iter().zip(used.iter().map(|&class| region[class as usize])) {
                let (cell, entry) = (&mut row[region as usize], full[class as usize]);
                if *cell != entry {
                    *cell = if *cell == UNSEEN { entry } else { MIXED };
                }
            }
        }
        Self { regions, region, table }
    }

    /// The entry of a class at a switch, as in `Fabric::route`.
    #[inline]
    pub fn entry(&self, fabric: &Fabric, switch: u32, class: u32) -> u32 {
        let region = self.region[class as usize] as usize;
        let entry = self.table[switch as usize * self.regions + region];
        if entry != MIXED {
            return entry;
        }
        fabric.route[switch as usize * fabric.classes as usize + class as usize]
    }
}

/// Classes that headers can have, ascending.
fn used(fabric: &Fabric) -> Vec<u32> {
    let mut used: Vec<u32> = fabric.terminal_class.iter().chain(&fabric.via_class).copied().collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// The region of every class, and how many there are: one per switch that classes lead to.
fn regions(fabric: &Fabric) -> (Vec<u32>, usize) {
    let mut of_switch = vec![NONE; fabric.switches as usize];
    let mut regions = 0;
    let mut region = vec![0; fabric.classes as usize];
    let homes = fabric.terminal_in_link.iter().map(|&link| fabric.link_source[link as usize]);
    let ends = homes.chain(fabric.via_switch.iter().copied());
    for (&class, switch) in fabric.terminal_class.iter().chain(&fabric.via_class).zip(ends) {
        // A terminal may hang at another terminal; it needs no region then.
        if let Some(of_switch) = of_switch.get_mut(switch as usize) {
            if *of_switch == NONE {
                *of_switch = regions;
                regions += 1;
            }
            region[class as usize] = *of_switch;
        }
    }
    (region, regions.max(1) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_entries_of_the_full_table() {
        // Two switches with two terminals each; class 4 leads to switch 0.
        let fabric = Fabric {
            switches: 2,
            terminals: 4,
            classes: 6,
            link_source: vec![0, 0, 1, 1],
            terminal_in_link: vec![0, 1, 2, 3],
            terminal_class: vec![0, 1, 2, 3],
            via_switch: vec![0],
            via_class: vec![4],
            route: vec![0, 2, 4, 4, NONE, 9, 8, 8, 10, 12, 8, 9],
            ..Fabric::default()
        };
        let routes = Routes::new(&fabric);
        for switch in 0..2 {
            for class in 0..5 {
                let full = fabric.route[switch as usize * 6 + class as usize];
                assert_eq!(routes.entry(&fabric, switch, class), full, "{switch} {class}");
            }
        }
        assert_eq!(routes.table, [MIXED, 4, 8, MIXED]);
    }
}
