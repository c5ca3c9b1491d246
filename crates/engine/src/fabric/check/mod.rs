//! Checks that make all later indexing safe: shapes first, then indices, then ranges.
//!
//! Their errors contain ids; Python has the names and turns ids into names.

mod distributions;
mod faults;
mod pause;
mod ports;
mod programs;
mod rings;
mod spacewire;
mod traffic;
mod wormhole;

use thiserror::Error;

use super::Fabric;

/// A description that the engine refuses before it simulates anything.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FabricError {
    /// A column has the wrong number of rows.
    #[error("column {column} has {rows} rows, {expected} expected")]
    Shape {
        /// Column name.
        column: &'static str,
        /// Rows found.
        rows: usize,
        /// Rows expected.
        expected: usize,
    },
    /// A value in a column is out of its range.
    #[error("column {column}, row {row}: {value} is not {expected}")]
    Value {
        /// Column name.
        column: &'static str,
        /// Row number.
        row: usize,
        /// The value found.
        value: String,
        /// What the value should be.
        expected: &'static str,
    },
}

type Checked = Result<(), FabricError>;

/// Refuses arrays that do not describe a network; the error names the column and the row.
pub fn check(fabric: &Fabric) -> Checked {
    scalars(fabric)?;
    let rings = fabric.has_rings();
    ports::check(fabric)?;
    rows(&shapes(fabric), true)?;
    rows(&ports::class_shapes(fabric), true)?;
    rows(&programs::shapes(fabric), true)?;
    rows(&faults::shapes(fabric), true)?;
    rows(&spacewire::code_shapes(fabric), true)?;
    rows(&distributions::shapes(fabric), true)?;
    rows(&spacewire::address_shapes(fabric), !rings)?;
    rows(&wormhole::shapes(fabric), !rings)?;
    rows(&rings::shapes(fabric), rings)?;
    ports::classes(fabric)?;
    links(fabric)?;
    if rings { rings::check(fabric) } else { wormhole::check(fabric) }?;
    if rings && (fabric.has_timeouts() || fabric.has_tables()) {
        return fail("table_ticks", 0, "a time-out or a table", "nothing in ring networks");
    }
    if rings && fabric.has_codes() {
        return fail("code_port", 0, fabric.code_port[0], "nothing in ring networks");
    }
    faults::check(fabric)?;
    spacewire::codes(fabric)?;
    distributions::check(fabric)?;
    spacewire::addresses(fabric)?;
    terminals(fabric)?;
    traffic::check(fabric)?;
    programs::check(fabric)?;
    if rings { Ok(()) } else { wormhole::whole_packets(fabric) }
}

fn fail(column: &'static str, row: usize, value: impl ToString, expected: &'static str) -> Checked {
    Err(FabricError::Value { column, row, value: value.to_string(), expected })
}

/// Refuses a value that is wrong.
fn refuse(
    wrong: bool,
    column: &'static str,
    row: usize,
    value: impl ToString,
    expected: &'static str,
) -> Checked {
    if wrong { fail(column, row, value, expected) } else { Ok(()) }
}

/// Refuses the first value of a column that does not fit.
fn each<T: ToString>(
    column: &'static str,
    values: &[T],
    fits: impl Fn(&T) -> bool,
    expected: &'static str,
) -> Checked {
    match values.iter().position(|value| !fits(value)) {
        Some(row) => fail(column, row, values[row].to_string(), expected),
        None => Ok(()),
    }
}

fn scalars(f: &Fabric) -> Checked {
    const MOST: u32 = 1 << 24;
    const MOST_GRAIN: u64 = 1 << 40;
    for (name, value) in [("switches", f.switches), ("terminals", f.terminals), ("classes", f.classes)] {
        refuse(value > MOST, name, 0, value, "at most 2^24")?;
    }
    refuse(f.tick_ps.is_nan() || f.tick_ps <= 0.0, "tick_ps", 0, f.tick_ps, "above zero")?;
    refuse(!(1..=MOST_GRAIN).contains(&f.grain_ticks), "grain_ticks", 0, f.grain_ticks, "from 1 to 2^40")?;
    refuse(f.terminals == 0, "terminals", 0, 0, "at least 1")?;
    for (name, value) in [("header_chars", f.header_chars), ("via_header_chars", f.via_header_chars)] {
        refuse(value > 1024, name, 0, value, "at most 1024")?;
    }
    Ok(())
}

/// Name, rows found and rows expected of columns.
type Shapes = Vec<(&'static str, usize, usize)>;

/// Refuses columns of wrong length; those of the other kind of network must be empty.
fn rows(shapes: &Shapes, used: bool) -> Checked {
    for &(column, rows, full) in shapes {
        let expected = if used { full } else { 0 };
        if rows != expected {
            return Err(FabricError::Shape { column, rows, expected });
        }
    }
    Ok(())
}

/// Returns the shapes of columns of a number of rows; with `any`, columns that may also be empty.
macro_rules! of_rows {
    ($f:ident, $rows:expr; $($column:ident),+) => {{
        let rows = $rows;
        vec![$((stringify!($column), $f.$column.len(), rows)),+]
    }};
    ($f:ident, any $rows:expr; $($column:ident),+) => {{
        let rows = $rows;
        vec![$((stringify!($column), $f.$column.len(), if $f.$column.is_empty() { 0 } else { rows })),+]
    }};
}
use of_rows;

/// Returns the shapes of the columns that every network has.
fn shapes(f: &Fabric) -> Shapes {
    let (terminals, flows, listed) = (f.terminals as usize, f.flow_target.len(), f.list_target.len());
    [
        of_rows!(f, f.links(); link_target, link_character_ticks, link_arrival_ticks),
        of_rows!(f, ports::count(f); terminal_out_link, terminal_in_link),
        of_rows!(f, terminals; source_arrival, source_interval_grains, source_burst, source_gap_grains),
        of_rows!(f, terminals; source_queue, source_target, target_fixed, target_share),
        of_rows!(f, any terminals + 1; weight_start),
        of_rows!(f, f.weight_target.len(); weight_cumulative),
        of_rows!(f, terminals; source_length, length_min, length_max),
        of_rows!(f, f.length_values.len(); length_cumulative),
        of_rows!(f, any terminals + 1; list_start),
        of_rows!(f, listed; list_length, list_wait_ticks),
        of_rows!(f, any listed; list_at_grains),
        of_rows!(f, any terminals; list_repeat, source_first_grains, source_spacing_grains),
        of_rows!(f, any terminals + 1; flow_start),
        of_rows!(f, flows; flow_length, flow_arrival, flow_interval_grains, flow_phase_grains),
        of_rows!(f, flows; flow_jitter_grains, flow_packets, flow_begin_grains, flow_end_grains, flow_count),
        of_rows!(f, any flows; flow_cost_grains),
        of_rows!(f, f.flow_cost_grains.len(); flow_room_grains),
    ]
    .concat()
}

fn below(column: &'static str, values: &[u32], limit: usize, expected: &'static str) -> Checked {
    each(column, values, |&value| (value as usize) < limit, expected)
}

fn between(column: &'static str, values: &[u32], low: u32, high: u32, expected: &'static str) -> Checked {
    each(column, values, |value| (low..=high).contains(value), expected)
}

fn known(column: &'static str, values: &[u8], most: u8) -> Checked {
    each(column, values, |&value| value <= most, "a known kind")
}

/// Limit of a duration or buffer on the path of a character; keeps every sum far inside 64 bits.
const MOST_TICKS: u32 = 1 << 30;

fn links(f: &Fabric) -> Checked {
    let vertices = (f.switches + f.ports()) as usize;
    below("link_source", &f.link_source, vertices, "a vertex")?;
    below("link_target", &f.link_target, vertices, "a vertex")?;
    between("link_character_ticks", &f.link_character_ticks, 1, MOST_TICKS, "a positive duration")?;
    between("link_arrival_ticks", &f.link_arrival_ticks, 1, MOST_TICKS, "a positive duration")?;
    for link in 0..f.links() {
        let arrival = f.link_arrival_ticks[link];
        if arrival < f.link_character_ticks[link] {
            return fail("link_arrival_ticks", link, arrival, "at least link_character_ticks");
        }
    }
    Ok(())
}

fn terminals(f: &Fabric) -> Checked {
    let mut seen = vec![false; f.links()];
    for port in 0..f.ports() as usize {
        let vertex = f.switches + port as u32;
        let (out, inward) = (f.terminal_out_link[port] as usize, f.terminal_in_link[port] as usize);
        if f.link_source.get(out) != Some(&vertex) {
            return fail("terminal_out_link", port, out, "a link that leaves this terminal");
        }
        if f.link_target.get(inward) != Some(&vertex) {
            return fail("terminal_in_link", port, inward, "a link that enters this terminal");
        }
        seen[out] = true;
    }
    match (0..f.links()).find(|&link| f.is_terminal(f.link_source[link]) && !seen[link]) {
        Some(link) => fail("link_source", link, f.link_source[link], "a terminal with a single sending link"),
        None => Ok(()),
    }
}

fn ascending(column: &'static str, starts: &[u32], end: usize) -> Checked {
    if starts.is_empty() {
        return Ok(());
    }
    refuse(starts[0] != 0, column, 0, starts[0], "0")?;
    if let Some(row) = (1..starts.len()).find(|&row| starts[row] < starts[row - 1]) {
        return fail(column, row, starts[row], "at least the row before");
    }
    if starts[starts.len() - 1] as usize != end {
        return fail(column, starts.len() - 1, starts[starts.len() - 1], "the number of rows it points into");
    }
    Ok(())
}
