//! Checks of the sources.

use super::{Checked, ascending, below, between, each, fail, known, refuse};
use crate::fabric::{Fabric, arrival, is_open, length, target};

/// The longest wait of a list; added to the tick at which it begins, it is still a valid time.
const MOST_WAIT: u64 = 1 << 60;

/// Refuses sources that are inconsistent.
pub fn check(f: &Fabric) -> Checked {
    known("source_arrival", &f.source_arrival, arrival::LAST)?;
    known("source_target", &f.source_target, target::LAST)?;
    known("source_length", &f.source_length, length::LAST)?;
    ascending("weight_start", &f.weight_start, f.weight_target.len())?;
    ascending("list_start", &f.list_start, f.list_target.len())?;
    let terminals = f.terminals as usize;
    let targets = terminals + f.distributions() as usize;
    below("weight_target", &f.weight_target, targets, "a terminal")?;
    below("list_target", &f.list_target, targets, "a terminal")?;
    cumulative("length_cumulative", &f.length_cumulative)?;
    ascending("flow_start", &f.flow_start, f.flow_target.len())?;
    below("flow_target", &f.flow_target, targets, "a terminal")?;
    (0..f.flow_target.len()).try_for_each(|row| flow(f, row))?;
    for lengths in [
        ("length_max", &f.length_max),
        ("length_values", &f.length_values),
        ("list_length", &f.list_length),
        ("flow_length", &f.flow_length),
    ] {
        characters(f, lengths.0, lengths.1)?;
    }
    each("list_wait_ticks", &f.list_wait_ticks, |&wait| wait <= MOST_WAIT, "at most 2^60 ticks")?;
    (0..terminals).try_for_each(|terminal| source(f, terminal))
}

fn characters(f: &Fabric, column: &'static str, bytes: &[u32]) -> Checked {
    each(column, bytes, |&bytes| f.payload_chars(bytes) <= 1 << 24, "at most 2^24 characters")
}

fn cumulative(column: &'static str, values: &[f64]) -> Checked {
    let mut last = 0.0;
    for (row, &value) in values.iter().enumerate() {
        refuse(!(value >= last && value <= 1.0), column, row, value, "ascending and at most 1")?;
        last = value;
    }
    match values.len() {
        0 => Ok(()),
        rows => refuse(last != 1.0, column, rows - 1, last, "1"),
    }
}

fn number(value: f64, low: f64) -> bool {
    value >= low && value <= 1e15
}

fn flow(f: &Fabric, row: usize) -> Checked {
    if !matches!(f.flow_arrival[row], arrival::CONSTANT | arrival::POISSON) {
        return fail("flow_arrival", row, f.flow_arrival[row], "of equal intervals or Poisson");
    }
    let interval = f.flow_interval_grains[row];
    refuse(!number(interval, 1.0), "flow_interval_grains", row, interval, "a number of grains, at least 1")?;
    if !number(f.flow_phase_grains[row], -1.0) {
        return fail("flow_phase_grains", row, f.flow_phase_grains[row], "a number of grains");
    }
    if !(0.0..=interval).contains(&f.flow_jitter_grains[row]) {
        return fail("flow_jitter_grains", row, f.flow_jitter_grains[row], "at most flow_interval_grains");
    }
    for (name, column, low) in
        [("flow_begin_grains", &f.flow_begin_grains, 0.0), ("flow_end_grains", &f.flow_end_grains, -1.0)]
    {
        refuse(!number(column[row], low), name, row, column[row], "a number of grains")?;
    }
    if let Some(&cost) = f.flow_cost_grains.get(row) {
        refuse(!number(cost, 0.0), "flow_cost_grains", row, cost, "a number of grains")?;
        if !number(f.flow_room_grains[row], cost) {
            return fail("flow_room_grains", row, f.flow_room_grains[row], "at least flow_cost_grains");
        }
    }
    between("flow_packets", &f.flow_packets[row..=row], 1, 1 << 24, "from 1 to 2^24")
}

/// Limit of the packets of a burst: all are drawn at once, including those that find no place.
const MOST_AT_ONCE: f64 = 1e9;

/// Checks the further settings of sources with slots, bursts and flows.
fn several(f: &Fabric, terminal: usize, kind: u8) -> Checked {
    let gap = f.source_gap_grains[terminal];
    match kind {
        arrival::BERNOULLI if !(1.0..=f.source_interval_grains[terminal]).contains(&gap) => {
            fail("source_gap_grains", terminal, gap, "a slot, at least 1 and at most the interval")
        }
        arrival::BURSTS if !(number(gap, 1.0) || gap == 0.0) => {
            fail("source_gap_grains", terminal, gap, "0 or at least 1")
        }
        arrival::BURSTS if !f.source_first_grains.get(terminal).is_some_and(|&first| number(first, 0.0)) => {
            fail("source_first_grains", terminal, "nothing", "the moment of the first burst")
        }
        arrival::BURSTS
            if !number(f.source_burst[terminal], 1.0) || f.source_burst[terminal] > MOST_AT_ONCE =>
        {
            fail("source_burst", terminal, f.source_burst[terminal], "from 1 to 10^9")
        }
        arrival::BURSTS if !is_spaced(f, terminal) => {
            fail("source_spacing_grains", terminal, "more", "a burst that ends before the next one")
        }
        arrival::FLOWS if f.flow_start.is_empty() => {
            fail("flow_start", terminal, "nothing", "given for a source with flows")
        }
        arrival::FLOWS if !f.flow_cost_grains.is_empty() && f.source_queue[terminal] != 0 => {
            fail("source_queue", terminal, f.source_queue[terminal], "0 for flows with token buckets")
        }
        arrival::TIMED => timed(f, terminal),
        _ => Ok(()),
    }
}

/// The last grain of a list with times: those of an interval, too.
const LAST_GRAIN: u64 = 1_000_000_000_000_000;

/// Checks the times of a list.
fn timed(f: &Fabric, terminal: usize) -> Checked {
    let Some(range) = f.list_start.get(terminal..terminal + 2).map(|s| s[0] as usize..s[1] as usize) else {
        return fail("list_start", terminal, "nothing", "given for a source with a list");
    };
    let Some(times) = f.list_at_grains.get(range.clone()) else {
        return fail("list_at_grains", range.start, "nothing", "given for a list with times");
    };
    if let Some(at) = times.windows(2).position(|pair| pair[1] < pair[0]) {
        return fail("list_at_grains", range.start + at + 1, times[at + 1], "not before the one before");
    }
    match times.last() {
        Some(&last) if last > LAST_GRAIN => {
            fail("list_at_grains", range.end - 1, last, "at most 10^15 grains")
        }
        _ => Ok(()),
    }
}

/// Whether the packets of a burst are created before those of the next one.
fn is_spaced(f: &Fabric, terminal: usize) -> bool {
    let spacing = f.source_spacing_grains.get(terminal).copied().unwrap_or(0.0);
    let gap = f.source_gap_grains[terminal];
    number(spacing, 0.0) && (gap == 0.0 || (f.source_burst[terminal] - 1.0) * spacing <= gap)
}

fn source(f: &Fabric, terminal: usize) -> Checked {
    let kind = f.source_arrival[terminal];
    if kind == arrival::SILENT {
        return Ok(());
    }
    let interval = f.source_interval_grains[terminal];
    let least = match kind {
        arrival::BURSTS | arrival::FLOWS | arrival::TIMED => f64::MIN_POSITIVE,
        kind if is_open(kind) => 1.0,
        _ => 0.0,
    };
    refuse(!number(interval, least), "source_interval_grains", terminal, interval, "a number of grains")?;
    if kind == arrival::ON_OFF
        && !(number(f.source_burst[terminal], 1.0) && number(f.source_gap_grains[terminal], 0.0))
    {
        return fail(
            "source_burst",
            terminal,
            f.source_burst[terminal],
            "at least 1, with a gap of at least 0",
        );
    }
    several(f, terminal, kind)?;
    if matches!(kind, arrival::FLOWS | arrival::TIMED) {
        return Ok(());
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
    if matches!(aim, target::FIXED | target::HOT_SPOT)
        && f.target_fixed[terminal] >= f.terminals + f.distributions()
    {
        return fail("target_fixed", terminal, f.target_fixed[terminal], "a terminal");
    }
    if aim == target::HOT_SPOT && !(0.0..=1.0).contains(&f.target_share[terminal]) {
        return fail("target_share", terminal, f.target_share[terminal], "a probability");
    }
    if aim == target::WEIGHTED {
        let range = f.weight_start.get(terminal..terminal + 2).map(|s| s[0] as usize..s[1] as usize);
        let row = range.and_then(|r| f.weight_cumulative.get(r)).unwrap_or(&[]);
        refuse(row.is_empty(), "weight_start", terminal, "nothing", "a row of at least one destination")?;
        cumulative("weight_cumulative", row)?;
    }
    match f.source_length[terminal] {
        length::TABLE if f.length_values.is_empty() => {
            fail("length_values", 0, "nothing", "a table of lengths")
        }
        length::UNIFORM if f.length_min[terminal] > f.length_max[terminal] => {
            fail("length_min", terminal, f.length_min[terminal], "at most length_max")
        }
        length::FIXED | length::UNIFORM => characters(f, "length_min", &f.length_min[terminal..=terminal]),
        _ => Ok(()),
    }
}
