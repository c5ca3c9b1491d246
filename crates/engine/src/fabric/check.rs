//! Checks that make every later index safe: shapes first, then indices, then ranges.

use super::{Fabric, FabricError, NONE};

type Checked = Result<(), FabricError>;

/// Refuses arrays that do not describe a network, naming the column and the row.
pub fn check(fabric: &Fabric) -> Checked {
    scalars(fabric)?;
    shapes(fabric)?;
    links(fabric)?;
    groups(fabric)?;
    routes(fabric)?;
    traffic(fabric)
}

fn fail(column: &'static str, row: usize, value: impl ToString, expected: &'static str) -> Checked {
    Err(FabricError::Value { column, row, value: value.to_string(), expected })
}

fn scalars(f: &Fabric) -> Checked {
    const MOST: u32 = 1 << 24;
    for (name, value) in [("switches", f.switches), ("terminals", f.terminals), ("classes", f.classes)] {
        if value > MOST {
            return fail(name, 0, value, "at most 2^24");
        }
    }
    if f.tick_ps == 0 {
        return fail("tick_ps", 0, 0, "at least 1");
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

fn shapes(f: &Fabric) -> Checked {
    let (switches, terminals, links, groups) =
        (f.switches as usize, f.terminals as usize, f.links(), f.groups());
    let optional = |rows: usize, full: usize| if rows == 0 { 0 } else { full };
    let rows = [
        ("switch_decode_ticks", f.switch_decode_ticks.len(), switches),
        ("switch_crossbar_ticks", f.switch_crossbar_ticks.len(), switches),
        ("switch_forward_ticks", f.switch_forward_ticks.len(), switches),
        ("switch_arbiter", f.switch_arbiter.len(), switches),
        ("switch_choice", f.switch_choice.len(), switches),
        ("link_target", f.link_target.len(), links),
        ("link_character_ticks", f.link_character_ticks.len(), links),
        ("link_end_ticks", f.link_end_ticks.len(), links),
        ("link_arrival_ticks", f.link_arrival_ticks.len(), links),
        ("link_credit_ticks", f.link_credit_ticks.len(), links),
        ("link_output_buffer", f.link_output_buffer.len(), links),
        ("link_input_buffer", f.link_input_buffer.len(), links),
        ("link_quantum", f.link_quantum.len(), links),
        ("link_flow_control_ticks", f.link_flow_control_ticks.len(), links),
        ("link_reverse", f.link_reverse.len(), links),
        ("link_deletes_header", f.link_deletes_header.len(), links),
        ("group_start", f.group_start.len(), groups + 1),
        ("route", f.route.len(), switches * f.classes as usize),
        ("terminal_class", f.terminal_class.len(), terminals),
        ("terminal_out_link", f.terminal_out_link.len(), terminals),
        ("terminal_in_link", f.terminal_in_link.len(), terminals),
        ("via_class", f.via_class.len(), f.via_switch.len()),
        ("source_arrival", f.source_arrival.len(), terminals),
        ("source_interval_ticks", f.source_interval_ticks.len(), terminals),
        ("source_burst", f.source_burst.len(), terminals),
        ("source_gap_ticks", f.source_gap_ticks.len(), terminals),
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
        ("list_repeat", f.list_repeat.len(), optional(f.list_repeat.len(), terminals)),
    ];
    for (column, rows, expected) in rows {
        if rows != expected {
            return Err(FabricError::Shape { column, rows, expected });
        }
    }
    Ok(())
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

/// The longest duration or buffer of one character's path; keeps every sum far inside 64 bits.
const MOST_TICKS: u32 = 1 << 30;

fn links(f: &Fabric) -> Checked {
    let vertices = (f.switches + f.terminals) as usize;
    below("link_source", &f.link_source, vertices, "a vertex")?;
    below("link_target", &f.link_target, vertices, "a vertex")?;
    between("link_character_ticks", &f.link_character_ticks, 1, MOST_TICKS, "a positive duration")?;
    between("link_end_ticks", &f.link_end_ticks, 1, MOST_TICKS, "a positive duration")?;
    between("link_arrival_ticks", &f.link_arrival_ticks, 1, MOST_TICKS, "a positive duration")?;
    between("link_credit_ticks", &f.link_credit_ticks, 1, MOST_TICKS, "a positive duration")?;
    between("link_flow_control_ticks", &f.link_flow_control_ticks, 0, MOST_TICKS, "a duration")?;
    between("link_output_buffer", &f.link_output_buffer, 1, 1 << 20, "from 1 to 2^20 characters")?;
    between("link_quantum", &f.link_quantum, 1, 1 << 20, "from 1 to 2^20 characters")?;
    between("switch_decode_ticks", &f.switch_decode_ticks, 0, MOST_TICKS, "a duration")?;
    between("switch_crossbar_ticks", &f.switch_crossbar_ticks, 0, MOST_TICKS, "a duration")?;
    between("switch_forward_ticks", &f.switch_forward_ticks, 0, MOST_TICKS, "a duration")?;
    let header = f.header_chars.max(f.via_header_chars);
    for link in 0..f.links() {
        let (buffer, quantum) = (f.link_input_buffer[link], f.link_quantum[link]);
        // Otherwise a header that ends in the next quantum waits for ever: its beginning keeps that from being promised.
        if buffer < quantum + header.saturating_sub(1) || buffer > 1 << 20 {
            return fail(
                "link_input_buffer",
                link,
                buffer,
                "at least a quantum and a header less one, at most 2^20",
            );
        }
        let arrival = f.link_arrival_ticks[link];
        if arrival < f.link_character_ticks[link] {
            return fail("link_arrival_ticks", link, arrival, "at least link_character_ticks");
        }
        if f.link_source[link] == f.link_target[link] {
            return fail("link_target", link, f.link_target[link], "another vertex than link_source");
        }
        let reverse = f.link_reverse[link];
        if reverse != NONE && f.link_reverse.get(reverse as usize) != Some(&(link as u32)) {
            return fail("link_reverse", link, reverse, "a link whose reverse is this one");
        }
    }
    terminals(f)
}

fn terminals(f: &Fabric) -> Checked {
    let mut seen = vec![false; f.links()];
    for terminal in 0..f.terminals as usize {
        let vertex = f.switches + terminal as u32;
        let (out, inward) = (f.terminal_out_link[terminal] as usize, f.terminal_in_link[terminal] as usize);
        if f.link_source.get(out) != Some(&vertex) {
            return fail("terminal_out_link", terminal, out, "a link that leaves this terminal");
        }
        if f.link_target.get(inward) != Some(&vertex) {
            return fail("terminal_in_link", terminal, inward, "a link that enters this terminal");
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

fn groups(f: &Fabric) -> Checked {
    ascending("group_start", &f.group_start, f.group_links.len())?;
    below("group_switch", &f.group_switch, f.switches as usize, "a switch")?;
    below("group_links", &f.group_links, f.links(), "a link")?;
    for group in 0..f.groups() {
        let links = f.group(group as u32);
        if links.is_empty() {
            return fail("group_start", group, f.group_start[group], "the start of at least one link");
        }
        if let Some(link) = links.iter().find(|&&l| f.link_source[l as usize] != f.group_switch[group]) {
            return fail("group_links", group, link, "a link that leaves the group's switch");
        }
    }
    Ok(())
}

fn routes(f: &Fabric) -> Checked {
    below("terminal_class", &f.terminal_class, f.classes as usize, "a class")?;
    below("via_class", &f.via_class, f.classes as usize, "a class")?;
    below("via_switch", &f.via_switch, f.switches as usize, "a switch")?;
    let classes = f.classes.max(1) as usize;
    for (row, &entry) in f.route.iter().enumerate().filter(|&(_, &entry)| entry != NONE) {
        let group = (entry >> 1) as usize;
        if group >= f.groups() || f.group_switch[group] as usize != row / classes {
            return fail("route", row, entry, "a group of its own switch");
        }
    }
    Ok(())
}

fn traffic(f: &Fabric) -> Checked {
    use super::{arrival, length, target};
    let kinds = [
        ("switch_arbiter", &f.switch_arbiter, super::arbiter::RANDOM),
        ("switch_choice", &f.switch_choice, super::choice::RANDOM),
        ("source_arrival", &f.source_arrival, arrival::LIST),
        ("source_target", &f.source_target, target::HOT_SPOT),
        ("source_length", &f.source_length, length::TABLE),
    ];
    for (column, values, most) in kinds {
        if let Some(row) = values.iter().position(|&v| v > most) {
            return fail(column, row, values[row], "a known kind");
        }
    }
    ascending("weight_start", &f.weight_start, f.weight_target.len())?;
    ascending("list_start", &f.list_start, f.list_target.len())?;
    let terminals = f.terminals as usize;
    below("weight_target", &f.weight_target, terminals, "a terminal")?;
    below("list_target", &f.list_target, terminals, "a terminal")?;
    cumulative("length_cumulative", &f.length_cumulative)?;
    for lengths in
        [("length_max", &f.length_max), ("length_values", &f.length_values), ("list_length", &f.list_length)]
    {
        between(lengths.0, lengths.1, 0, 1 << 24, "at most 2^24 characters")?;
    }
    (0..terminals).try_for_each(|terminal| source(f, terminal))
}

fn cumulative(column: &'static str, values: &[f64]) -> Checked {
    let mut last = 0.0;
    for (row, &value) in values.iter().enumerate() {
        if !(value >= last && value <= 1.0) {
            return fail(column, row, value, "ascending and at most 1");
        }
        last = value;
    }
    if !values.is_empty() && last != 1.0 {
        return fail(column, values.len() - 1, last, "1");
    }
    Ok(())
}

fn source(f: &Fabric, terminal: usize) -> Checked {
    use super::{arrival, length, target};
    let kind = f.source_arrival[terminal];
    if kind == arrival::SILENT {
        return Ok(());
    }
    let number = |v: f64, low: f64| v >= low && v <= 1e15;
    let interval = f.source_interval_ticks[terminal];
    let least =
        if matches!(kind, arrival::CONSTANT | arrival::POISSON | arrival::ON_OFF) { 1.0 } else { 0.0 };
    if !number(interval, least) {
        return fail("source_interval_ticks", terminal, interval, "a number of ticks");
    }
    if kind == arrival::ON_OFF
        && !(number(f.source_burst[terminal], 1.0) && number(f.source_gap_ticks[terminal], 0.0))
    {
        return fail(
            "source_burst",
            terminal,
            f.source_burst[terminal],
            "at least 1, with a gap of at least 0",
        );
    }
    if kind == arrival::LIST {
        if f.list_start.is_empty() || f.list_repeat.is_empty() {
            return fail("list_start", terminal, "nothing", "given for a source with a list");
        }
        return Ok(());
    }
    let aim = f.source_target[terminal];
    if aim == target::UNIFORM && f.terminals < 2 {
        return fail("source_target", terminal, aim, "possible with a single terminal");
    }
    if matches!(aim, target::FIXED | target::HOT_SPOT) && f.target_fixed[terminal] >= f.terminals {
        return fail("target_fixed", terminal, f.target_fixed[terminal], "a terminal");
    }
    if aim == target::HOT_SPOT && !(0.0..=1.0).contains(&f.target_share[terminal]) {
        return fail("target_share", terminal, f.target_share[terminal], "a probability");
    }
    if aim == target::WEIGHTED {
        let range = f.weight_start.get(terminal..terminal + 2).map(|s| s[0] as usize..s[1] as usize);
        let row = range.and_then(|r| f.weight_cumulative.get(r)).unwrap_or(&[]);
        if row.is_empty() {
            return fail("weight_start", terminal, "nothing", "a row of at least one destination");
        }
        cumulative("weight_cumulative", row)?;
    }
    match f.source_length[terminal] {
        length::TABLE if f.length_values.is_empty() => {
            fail("length_values", 0, "nothing", "a table of lengths")
        }
        length::UNIFORM if f.length_min[terminal] > f.length_max[terminal] => {
            fail("length_min", terminal, f.length_min[terminal], "at most length_max")
        }
        length::FIXED | length::UNIFORM => {
            between("length_min", &f.length_min[terminal..=terminal], 0, 1 << 24, "at most 2^24 characters")
        }
        _ => Ok(()),
    }
}
