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

fn scalars(f: &Fabric) -> Checked {
    const MOST: u32 = 1 << 24;
    const MOST_GRAIN: u64 = 1 << 40;
    for (name, value) in [("switches", f.switches), ("terminals", f.terminals), ("classes", f.classes)] {
        if value > MOST {
            return fail(name, 0, value, "at most 2^24");
        }
    }
    if f.tick_ps.is_nan() || f.tick_ps <= 0.0 {
        return fail("tick_ps", 0, f.tick_ps, "above zero");
    }
    if !(1..=MOST_GRAIN).contains(&f.grain_ticks) {
        return fail("grain_ticks", 0, f.grain_ticks, "from 1 to 2^40");
    }
    if f.terminals == 0 {
        return fail("terminals", 0, 0, "at least 1");
    }
    for (name, value) in [("header_chars", f.header_chars), ("via_header_chars", f.via_header_chars)] {
        if value > 1024 {
            return fail(name, 0, value, "at most 1024");
        }
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

/// Returns the shapes of the columns that every network has.
fn shapes(f: &Fabric) -> Shapes {
    let (terminals, ports, links) = (f.terminals as usize, ports::count(f), f.links());
    let optional = |rows: usize, full: usize| if rows == 0 { 0 } else { full };
    vec![
        ("link_target", f.link_target.len(), links),
        ("link_character_ticks", f.link_character_ticks.len(), links),
        ("link_arrival_ticks", f.link_arrival_ticks.len(), links),
        ("terminal_out_link", f.terminal_out_link.len(), ports),
        ("terminal_in_link", f.terminal_in_link.len(), ports),
        ("source_arrival", f.source_arrival.len(), terminals),
        ("source_interval_grains", f.source_interval_grains.len(), terminals),
        ("source_burst", f.source_burst.len(), terminals),
        ("source_gap_grains", f.source_gap_grains.len(), terminals),
        ("source_queue", f.source_queue.len(), terminals),
        ("source_target", f.source_target.len(), terminals),
        ("target_fixed", f.target_fixed.len(), terminals),
        ("target_share", f.target_share.len(), terminals),
        ("weight_start", f.weight_start.len(), optional(f.weight_start.len(), terminals + 1)),
        ("weight_cumulative", f.weight_cumulative.len(), f.weight_target.len()),
        ("source_length", f.source_length.len(), terminals),
        ("length_min", f.length_min.len(), terminals),
        ("length_max", f.length_max.len(), terminals),
        ("length_cumulative", f.length_cumulative.len(), f.length_values.len()),
        ("list_start", f.list_start.len(), optional(f.list_start.len(), terminals + 1)),
        ("list_length", f.list_length.len(), f.list_target.len()),
        ("list_wait_ticks", f.list_wait_ticks.len(), f.list_target.len()),
        ("list_at_grains", f.list_at_grains.len(), optional(f.list_at_grains.len(), f.list_target.len())),
        ("list_repeat", f.list_repeat.len(), optional(f.list_repeat.len(), terminals)),
        (
            "source_first_grains",
            f.source_first_grains.len(),
            optional(f.source_first_grains.len(), terminals),
        ),
        (
            "source_spacing_grains",
            f.source_spacing_grains.len(),
            optional(f.source_spacing_grains.len(), terminals),
        ),
        ("flow_start", f.flow_start.len(), optional(f.flow_start.len(), terminals + 1)),
        ("flow_length", f.flow_length.len(), f.flow_target.len()),
        ("flow_arrival", f.flow_arrival.len(), f.flow_target.len()),
        ("flow_interval_grains", f.flow_interval_grains.len(), f.flow_target.len()),
        ("flow_phase_grains", f.flow_phase_grains.len(), f.flow_target.len()),
        ("flow_jitter_grains", f.flow_jitter_grains.len(), f.flow_target.len()),
        ("flow_packets", f.flow_packets.len(), f.flow_target.len()),
        ("flow_begin_grains", f.flow_begin_grains.len(), f.flow_target.len()),
        ("flow_end_grains", f.flow_end_grains.len(), f.flow_target.len()),
        ("flow_count", f.flow_count.len(), f.flow_target.len()),
        (
            "flow_cost_grains",
            f.flow_cost_grains.len(),
            optional(f.flow_cost_grains.len(), f.flow_target.len()),
        ),
        ("flow_room_grains", f.flow_room_grains.len(), f.flow_cost_grains.len()),
    ]
}

fn below(column: &'static str, values: &[u32], limit: usize, expected: &'static str) -> Checked {
    match values.iter().position(|&v| v as usize >= limit) {
        Some(row) => fail(column, row, values[row], expected),
        None => Ok(()),
    }
}

fn between(column: &'static str, values: &[u32], low: u32, high: u32, expected: &'static str) -> Checked {
    match values.iter().position(|&v| v < low || v > high) {
        Some(row) => fail(column, row, values[row], expected),
        None => Ok(()),
    }
}

fn known(column: &'static str, values: &[u8], most: u8) -> Checked {
    match values.iter().position(|&v| v > most) {
        Some(row) => fail(column, row, values[row], "a known kind"),
        None => Ok(()),
    }
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
    if starts[0] != 0 {
        return fail(column, 0, starts[0], "0");
    }
    if let Some(row) = (1..starts.len()).find(|&row| starts[row] < starts[row - 1]) {
        return fail(column, row, starts[row], "at least the row before");
    }
    if starts[starts.len() - 1] as usize != end {
        return fail(column, starts.len() - 1, starts[starts.len() - 1], "the number of rows it points into");
    }
    Ok(())
}
