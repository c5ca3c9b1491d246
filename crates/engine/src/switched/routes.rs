//! The group of each class at each switch, stored so that the used entries are close together.
//!
//! The terminals of one switch are reached by the same groups from every other switch: they form a region, with one
//! entry for all its classes; the full table is only read where these differ. Most switches of a large network also use
//! few different groups, so their entries are a few intervals of regions, as on a switch with interval labels. These
//! fill one cache line, while the table would not fit into a cache.

use std::hint::cold_path;

use crate::fabric::{Fabric, NONE, OWN};

/// The classes of a region have different entries. No table that fits into memory has such a large entry.
const MIXED: u32 = NONE - 1;
/// No entry has been seen.
const UNSEEN: u32 = NONE - 2;

/// No region has this number. Numbers are signed here because processors compare signed numbers in one step.
const FAR: i32 = i32::MAX;

/// Maximum number of intervals of one switch.
const INTERVALS: usize = 8;

/// The entries of one switch by interval of regions.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Row {
    /// Start of the second interval and the following ones; [`FAR`] after the last, as a sentinel.
    starts: [i32; INTERVALS],
    entries: [u32; INTERVALS],
}

/// The routing table by region.
#[derive(Clone, Debug)]
pub(crate) struct Routes {
    /// Per class.
    region: Vec<u32>,
    /// Per switch; empty if some switch has too many intervals.
    rows: Vec<Row>,
    /// Columns of `table`.
    regions: usize,
    /// Switch by region, if there are no rows: an entry of the full table, or [`MIXED`]; empty if regions are columns.
    table: Vec<u32>,
}

impl Routes {
    pub fn new(fabric: &Fabric) -> Self {
        if !fabric.class_column.is_empty() {
            return Self::of_columns(fabric);
        }
        let (region, regions) = regions(fabric);
        let mut table = vec![UNSEEN; fabric.switches as usize * regions];
        let used = used(fabric);
        let full_rows = fabric.route.chunks_exact(fabric.classes.max(1) as usize);
        for (row, full) in table.chunks_exact_mut(regions).zip(full_rows) {
            for &class in &used {
                let (cell, entry) = (&mut row[region[class as usize] as usize], full[class as usize]);
                if *cell != entry {
                    *cell = if *cell == UNSEEN { entry } else { MIXED };
                }
            }
        }
        match table.chunks_exact(regions).map(Row::new).collect() {
            Some(rows) => Self { region, rows, regions, table: Vec::new() },
            None => Self { region, rows: Vec::new(), regions, table },
        }
    }

    /// Regions are the columns of the table already.
    fn of_columns(fabric: &Fabric) -> Self {
        let regions = fabric.columns();
        let seen = |&cell: &u32| if cell == OWN { MIXED } else { cell };
        let row = |switch: usize| match fabric.runs_of(switch) {
            Some((ends, entries)) => Row::of_runs(ends, &entries.iter().map(seen).collect::<Vec<_>>()),
            None => {
                let row = &fabric.route[switch * regions..(switch + 1) * regions];
                Row::new(&row.iter().map(seen).collect::<Vec<_>>())
            }
        };
        let rows = (0..fabric.switches as usize).map(row).collect::<Option<Vec<_>>>();
        let rows = rows.unwrap_or_default();
        Self { region: fabric.class_column.clone(), rows, regions, table: Vec::new() }
    }

    /// Returns the entry of a class at a switch, as `Fabric::entry`.
    #[inline(always)]
    pub fn entry(&self, fabric: &Fabric, switch: u32, class: u32) -> u32 {
        let region = self.region[class as usize];
        let entry = match self.rows.get(switch as usize) {
            Some(row) => row.entry(region),
            None => {
                cold_path();
                let place = switch as usize * self.regions + region as usize;
                self.table.get(place).copied().unwrap_or(MIXED)
            }
        };
        if entry == MIXED {
            cold_path();
            return fabric.entry(0, switch, class);
        }
        entry
    }
}

impl Row {
    /// Returns the intervals of a row of the table, unless there are too many.
    fn new(row: &[u32]) -> Option<Self> {
        let mut new = Self { starts: [FAR; INTERVALS], entries: [NONE; INTERVALS] };
        let mut last = 0;
        new.entries[0] = row[0];
        for (region, pair) in (1..).zip(row.windows(2)) {
            if pair[1] != pair[0] {
                *new.entries.get_mut(last + 1)? = pair[1];
                new.starts[last] = region;
                last += 1;
            }
        }
        Some(new)
    }

    /// Returns the same of the column after each interval, and its entry.
    fn of_runs(ends: &[u32], entries: &[u32]) -> Option<Self> {
        let mut new = Self { starts: [FAR; INTERVALS], entries: [NONE; INTERVALS] };
        new.entries.get_mut(..entries.len())?.copy_from_slice(entries);
        for (start, &end) in new.starts.iter_mut().zip(&ends[..ends.len() - 1]) {
            *start = end as i32;
        }
        Some(new)
    }

    #[inline(always)]
    fn entry(&self, region: u32) -> u32 {
        // Counted instead of searched, to avoid jumps.
        let before: i32 = self.starts.iter().map(|&start| i32::from(start <= region as i32)).sum();
        self.entries[before as usize % INTERVALS]
    }
}

/// Returns the classes that headers can have, in ascending order.
fn used(fabric: &Fabric) -> Vec<u32> {
    let ends = fabric.terminal_class.iter().chain(&fabric.via_class);
    let mut used: Vec<u32> = ends.flat_map(|&class| own(fabric).map(move |own| class + own)).collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// Returns what each traffic class adds to the class of a header, in ascending order.
fn own(fabric: &Fabric) -> impl Iterator<Item = u32> {
    let mut own = fabric.class_headers.clone();
    own.push(0);
    own.sort_unstable();
    own.dedup();
    own.into_iter()
}

/// Returns the region of every class, and the number of regions: one per switch that classes lead to, and traffic class.
fn regions(fabric: &Fabric) -> (Vec<u32>, usize) {
    let mut regions = 0;
    let mut region = vec![0; fabric.classes as usize];
    for own in own(fabric) {
        let mut of_switch = vec![NONE; fabric.switches as usize];
        let homes = fabric.terminal_in_link.iter().map(|&link| fabric.link_source[link as usize]);
        let ends = homes.chain(fabric.via_switch.iter().copied());
        for (&class, switch) in fabric.terminal_class.iter().chain(&fabric.via_class).zip(ends) {
            // A terminal may be connected to another terminal, and then needs no region.
            let row = region.get_mut((class + own) as usize);
            if let (Some(of_switch), Some(row)) = (of_switch.get_mut(switch as usize), row) {
                if *of_switch == NONE {
                    *of_switch = regions;
                    regions += 1;
                }
                *row = *of_switch;
            }
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
        assert_eq!(routes.rows[0].starts[..2], [1, FAR]);
        assert_eq!(routes.rows[0].entries[..2], [MIXED, 4]);
        assert_eq!(routes.rows[1].entries[..2], [8, MIXED]);
    }

    #[test]
    fn runs_have_the_entries_of_columns() {
        // Columns lead to switches 0, 1 and 1; the runs of switch 1 are two columns and one.
        let columns = Fabric {
            switches: 2,
            classes: 4,
            class_column: vec![0, 0, 1, 2],
            class_exit: vec![4, 6, NONE, NONE],
            route: vec![OWN, 2, 2, 8, 8, 10],
            ..Fabric::default()
        };
        let runs = Fabric {
            route: vec![OWN, 2, 8, 10],
            route_start: vec![0, 2, 4],
            route_end: vec![1, 3, 2, 3],
            ..columns.clone()
        };
        assert_eq!(columns.columns(), runs.columns());
        let [own, other] = [&columns, &runs].map(Routes::new);
        for (switch, class) in (0..2).flat_map(|switch| (0..4).map(move |class| (switch, class))) {
            let entry = columns.entry(0, switch, class);
            assert_eq!(runs.entry(0, switch, class), entry);
            assert_eq!(own.entry(&columns, switch, class), entry);
            assert_eq!(other.entry(&runs, switch, class), entry);
        }
        assert_eq!((own.rows[1].starts, own.rows[1].entries), (other.rows[1].starts, other.rows[1].entries));
    }

    #[test]
    fn more_intervals_than_fit_are_a_table() {
        // Every switch sends to each other one by another group.
        for switches in [8, 9] {
            let ends: Vec<u32> = (0..switches).collect();
            let fabric = Fabric {
                switches,
                terminals: switches,
                classes: switches,
                link_source: ends.clone(),
                terminal_in_link: ends.clone(),
                terminal_class: ends.clone(),
                route: (0..switches * switches).map(|cell| cell % switches * 2).collect(),
                ..Fabric::default()
            };
            let routes = Routes::new(&fabric);
            assert_eq!(routes.rows.is_empty(), switches > 8);
            assert!(ends.iter().all(|&class| routes.entry(&fabric, 1, class) == class * 2));
        }
    }
}
