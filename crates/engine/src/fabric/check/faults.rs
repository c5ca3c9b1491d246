//! Checks of faults.

use super::{Checked, MOST_TICKS, Shapes, below, each, fail, known, of_rows, refuse};
use crate::fabric::{Fabric, FabricError, NEVER, fault_kind};

/// Refuses faults of links that do not exist, are out of order, or overlap.
pub fn check(f: &Fabric) -> Checked {
    below("fault_link", &f.fault_link, f.links(), "a link")?;
    known("fault_kind", &f.fault_kind, if f.has_rings() { fault_kind::STUCK } else { fault_kind::LAST })?;
    each("switch_timeout_ticks", &f.switch_timeout_ticks, |&ticks| ticks < NEVER / 4, "below 2^60 ticks")?;
    tables(f)?;
    let mut runs_from = vec![[0; 2]; f.links()];
    let mut last = 0;
    for (row, &link) in f.fault_link.iter().enumerate() {
        let (down, ended, up) = (f.fault_down_ticks[row], f.fault_ended_ticks[row], f.fault_up_ticks[row]);
        refuse(down < last, "fault_down_ticks", row, down, "not before the fault of the row before")?;
        // On rings, a fault that stops a station does not affect its link; and a link that is down can change its rate.
        let kind = f.fault_kind[row];
        let what =
            usize::from(if f.has_rings() { kind == fault_kind::STUCK } else { kind == fault_kind::RATE });
        if down < runs_from[link as usize][what] {
            return fail("fault_down_ticks", row, down, "not before the link runs again");
        }
        if ended <= down || ended >= NEVER {
            return fail("fault_ended_ticks", row, ended, "after fault_down_ticks, and below 2^62");
        }
        if up <= ended || up > NEVER {
            return fail("fault_up_ticks", row, up, "after fault_ended_ticks, at most 2^62");
        }
        if kind == fault_kind::RATE {
            let ticks = f.fault_character_ticks.get(row).copied().unwrap_or(0);
            if !(1..=MOST_TICKS).contains(&ticks) {
                return fail("fault_character_ticks", row, ticks, "a positive duration");
            }
        }
        (last, runs_from[link as usize][what]) = (down, up);
    }
    Ok(())
}

/// Refuses replacements of tables that are out of order or do not exist.
fn tables(f: &Fabric) -> Checked {
    if f.has_tables() && f.has_distributions() {
        return fail("table_ticks", 0, f.table_ticks[0], "nothing with distributions");
    }
    if let Some(row) = f.table_ticks.windows(2).position(|pair| pair[0] >= pair[1]) {
        return fail("table_ticks", row + 1, f.table_ticks[row + 1], "later than the row before");
    }
    each("table_ticks", &f.table_ticks, |&ticks| ticks < NEVER, "below 2^62")?;
    if !f.table_ticks.is_empty() && !f.class_column.is_empty() {
        return fail("class_column", 0, f.class_column[0], "nothing with table_ticks");
    }
    let rows = f.route.len().max(1);
    if !f.table_route.len().is_multiple_of(rows) {
        return fail(
            "table_route",
            0,
            f.table_route.len(),
            "a number of rows that is a multiple of that of route",
        );
    }
    let tables = f.table_route.len() / rows;
    below("table_number", &f.table_number, tables + 1, "a table")?;
    if f.table_between.is_empty() {
        return Ok(());
    }
    if f.class_between.is_empty() || f.table_between.len() != tables * f.class_between.len() {
        let (column, rows) = ("table_between", f.table_between.len());
        return Err(FabricError::Shape { column, rows, expected: tables * f.class_between.len() });
    }
    known("table_between", &f.table_between, f.class_headers.len().saturating_sub(1) as u8)
}

/// Returns the shapes of the columns of faults.
pub fn shapes(f: &Fabric) -> Shapes {
    let faults = f.fault_link.len();
    [
        of_rows!(f, faults; fault_down_ticks, fault_ended_ticks, fault_up_ticks, fault_kind),
        of_rows!(f, any faults; fault_character_ticks),
        of_rows!(f, f.table_ticks.len(); table_number),
        of_rows!(f, any f.switches as usize; switch_timeout_ticks),
    ]
    .concat()
}
