//! Runs: arrays in, columns out.

use std::collections::HashMap;

use fabriloom_engine::fabric::{CODES, COLUMNS, Fabric, NONE, SCALARS};
use fabriloom_engine::kernel::Time;
use fabriloom_engine::measure::{Delays, Delivery, Hop, Measure, Planes, Rows, Spread, Trend, cells};
use fabriloom_engine::ring;
use fabriloom_engine::run::{End, Options, Simulation as Engine};
use fabriloom_twin::{FlowControl, run as twin, run_rings};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::programs;

pyo3::create_exception!(
    _native,
    RunError,
    PyRuntimeError,
    "A run that cannot go on: what happened, its kind if a user can mend it, and two numbers, see RunError::mistake."
);

/// Returns a scalar of the arrays by name.
fn scalar<T>(arrays: &Bound<'_, PyDict>, name: &str) -> PyResult<T>
where
    T: for<'a, 'py> FromPyObject<'a, 'py>,
{
    let value = arrays.get_item(name)?.ok_or_else(|| PyValueError::new_err(format!("{name} is missing")))?;
    value.extract().map_err(|_| PyValueError::new_err(format!("{name} is out of range or not a number")))
}

/// Returns the fabric of a dictionary of arrays; every column must be there, one-dimensional, and of its type.
fn fabric(arrays: &Bound<'_, PyDict>) -> PyResult<Fabric> {
    let mut fabric = Fabric::default();
    macro_rules! take_scalar {
        ($name:ident: $type:ty) => {
            fabric.$name = scalar(arrays, stringify!($name))?;
        };
    }
    fabriloom_engine::for_each_scalar!(take_scalar);
    macro_rules! take {
        ($name:ident: $type:ty) => {
            let name = stringify!($name);
            let value = arrays
                .get_item(name)?
                .ok_or_else(|| PyValueError::new_err(format!("column {name} is missing")))?;
            let column: PyReadonlyArray1<'_, $type> = value.extract().map_err(|_| {
                PyValueError::new_err(format!(
                    "column {name} is not a one-dimensional {} array",
                    stringify!($type)
                ))
            })?;
            fabric.$name = column.as_array().to_vec();
        };
    }
    fabriloom_engine::for_each_column!(take);
    Ok(fabric)
}

/// Returns whether each packet of a network can be computed as one.
#[pyfunction]
fn is_by_packet(arrays: &Bound<'_, PyDict>) -> PyResult<bool> {
    Ok(fabric(arrays)?.is_by_packet())
}

/// Returns the number of queues that the engine makes for input buffers before a run.
#[pyfunction]
fn queues(arrays: &Bound<'_, PyDict>) -> PyResult<u64> {
    Ok(fabric(arrays)?.queues())
}

/// Returns names and element types of the array columns, in order.
#[pyfunction]
fn columns() -> Vec<(&'static str, &'static str)> {
    COLUMNS.to_vec()
}

/// Returns names and types of the scalars, in order.
#[pyfunction]
fn scalars() -> Vec<(&'static str, &'static str)> {
    SCALARS.to_vec()
}

/// Returns the codes by name, per kind.
#[pyfunction]
fn codes() -> HashMap<&'static str, HashMap<&'static str, u8>> {
    CODES.iter().map(|&(kind, codes)| (kind, codes.iter().copied().collect())).collect()
}

/// One run of the engine. Options have the engine's names: until, warmup, precision, packets, batch, drain, flows,
/// trace, keep_messages, hops, hops_since, watched, latencies, and pairs or sources whose throughput is kept. Raises ValueError
/// for arrays that do not describe a network.
#[pyclass]
struct Simulation(Engine);

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (
        arrays, *, until, warmup, precision, packets, batch, drain, flows, trace, keep_messages=0, hops=0,
        hops_since=0, watched=Vec::new(), pairs=Vec::new(), sources=Vec::new(), latencies=true
    ))]
    #[expect(clippy::too_many_arguments, reason = "each is an option by name")]
    fn new(
        arrays: &Bound<'_, PyDict>,
        until: Time,
        warmup: Option<Time>,
        precision: f64,
        packets: u64,
        batch: Time,
        drain: bool,
        flows: usize,
        trace: usize,
        keep_messages: usize,
        hops: usize,
        hops_since: Time,
        watched: Vec<u32>,
        pairs: Vec<(u32, u32)>,
        sources: Vec<u32>,
        latencies: bool,
    ) -> PyResult<Self> {
        let fabric = fabric(arrays)?;
        let messages = keep_messages;
        let options = Options {
            until,
            warmup,
            precision,
            latencies,
            packets,
            batch,
            drain,
            flows,
            trace,
            hops,
            hops_since,
            messages,
            watched,
            rows: if pairs.is_empty() { Rows::Sources(sources) } else { Rows::Pairs(pairs) },
        };
        Engine::new(fabric, options).map(Self).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Handles at least this many further events, including refused arrivals that are counted in advance, without
    /// holding the interpreter; returns true when the run has ended.
    fn advance(&mut self, py: Python<'_>, events: u64) -> PyResult<bool> {
        let end = py.detach(|| self.0.advance(events));
        end.map(|end| end.is_some()).map_err(|error| {
            let (kind, one, other) = error.mistake();
            RunError::new_err((error.to_string(), kind, one, other))
        })
    }

    /// Returns ticks simulated, events handled, packets delivered, packet-hops.
    fn progress(&self) -> (Time, u64, u64, u64) {
        (self.0.now(), self.0.run.events, self.0.run.delivered, self.0.packet_hops())
    }

    /// Returns all measurements as a dictionary of numbers and arrays (see the results reference).
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        self.totals(&out)?;
        latencies(&out, &self.0.run.measure)?;
        batches(&out, &self.0.run.measure)?;
        links(&out, &self.0)?;
        rings(&out, &self.0)?;
        programs::flows(&out, "flow", self.0.run.measure.flows.as_ref())?;
        watched(&out, &self.0.run.measure.watched.delays)?;
        carried(&out, &self.0)?;
        planes(&out, &self.0.run.planes)?;
        signals(&out, &self.0)?;
        out.set_item("overtaken", self.0.run.order.overtaken)?;
        trace(&out, &self.0.run.trace.packets)?;
        hops(&out, &self.0)?;
        programs::result(&out, self.0.run.programs.as_deref(), self.0.now())?;
        out.set_item("trace_dropped", self.0.run.trace.dropped)?;
        Ok(out)
    }
}

impl Simulation {
    fn totals(&self, out: &Bound<'_, PyDict>) -> PyResult<()> {
        let run = &self.0;
        let reason = match run.end() {
            Some(End::Drained) => "drained",
            Some(End::Precision) => "precision",
            Some(End::Saturated) => "saturated",
            Some(End::Deadlocked) => "deadlocked",
            Some(End::Incomplete) => "incomplete",
            Some(End::Livelocked) => "livelocked",
            Some(End::Stopped) => "stopped",
            Some(End::Stalled) => "stalled",
            Some(End::TimeLimit) => "time_limit",
            Some(End::PacketLimit) => "packet_limit",
            None => "interrupted",
        };
        let balance = run.balance().map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        out.set_item("end_reason", reason)?;
        out.set_item("ended_at_look", run.run.ended_at_look)?;
        let backlog = match run.backlog() {
            Trend::Grows => "grows",
            Trend::Bounded => "bounded",
            Trend::Unknown => "unknown",
        };
        out.set_item("backlog", backlog)?;
        out.set_item("end_time_ticks", run.now())?;
        out.set_item("deadlock_links", run.cycle().to_vec().into_pyarray(out.py()))?;
        let standstill =
            run.standstill().map(|at| (at.link, at.source, at.target, format!("{:?}", at.fault)));
        out.set_item("standstill", standstill)?;
        let (still, busied) = run.rings().map_or((0, 0), |rings| rings.stood_still());
        out.set_item("livelock_ticks", still)?;
        out.set_item("livelock_busied", busied)?;
        out.set_item("measure_start_ticks", run.run.measure.start)?;
        out.set_item("offered", balance.offered)?;
        out.set_item("delivered", balance.delivered)?;
        out.set_item("refused", balance.refused)?;
        out.set_item("in_flight", balance.in_flight)?;
        out.set_item("scrubbed", balance.scrubbed)?;
        out.set_item("lost", balance.lost)?;
        let measured = run.measured();
        out.set_item("measured_offered", measured.offered)?;
        out.set_item("measured_offered_bytes", measured.offered_bytes)?;
        out.set_item("measured_refused", measured.refused)?;
        out.set_item("measured_refused_bytes", measured.refused_bytes)?;
        let delivered = run.run.measure.batches.sum();
        out.set_item("measured_delivered_bytes", delivered.bytes)?;
        out.set_item("measured_packets", delivered.packets)?;
        let (pause_start, pause) = run.run.measure.pause.longest(run.now());
        out.set_item("pause_start_ticks", pause_start)?;
        out.set_item("pause_ticks", pause)?;
        out.set_item("events", run.run.events)?;
        out.set_item("packet_hops", run.packet_hops())?;
        out.set_item("extensions", run.extensions())
    }
}

/// Adds the packets of each flow of sources since tick 0, by its row.
fn carried(out: &Bound<'_, PyDict>, run: &Engine) -> PyResult<()> {
    let rows = run.carried();
    column(out, "carried_made", &rows, |row| row.made)?;
    column(out, "carried_refused", &rows, |row| row.refused)?;
    column(out, "carried_delivered", &rows, |row| row.delivered)?;
    column(out, "carried_lost", run.lost_of_flows(), |&count| count)?;
    column(out, "carried_first_ticks", &rows, |row| row.first as u64)?;
    column(out, "carried_last_ticks", &rows, |row| row.last as u64)?;
    let oldest: Vec<Time> = rows.iter().map(|row| row.oldest.unwrap_or(-1)).collect();
    out.set_item("carried_oldest_ticks", oldest.into_pyarray(out.py()))
}

fn latencies(out: &Bound<'_, PyDict>, measure: &Measure) -> PyResult<()> {
    let py = out.py();
    for (name, spread) in [("latency", measure.latency()), ("total", measure.total())] {
        let (values, counts) = cells(&spread.histogram);
        out.set_item(format!("{name}_values_ticks"), values.into_pyarray(py))?;
        out.set_item(format!("{name}_counts"), counts.into_pyarray(py))?;
        out.set_item(format!("{name}_min_ticks"), if spread.count > 0 { spread.min } else { 0 })?;
        out.set_item(format!("{name}_max_ticks"), spread.max)?;
        out.set_item(format!("{name}_sum_ticks"), spread.sum)?;
    }
    Ok(())
}

fn batches(out: &Bound<'_, PyDict>, measure: &Measure) -> PyResult<()> {
    let py = out.py();
    let batches = &measure.batches;
    let ends: Vec<Time> =
        (1..=batches.done.len() as Time).map(|n| batches.start + n * batches.length).collect();
    out.set_item("batch_end_ticks", ends.into_pyarray(py))?;
    let column = |of: fn(&fabriloom_engine::measure::Batch) -> i64| {
        batches.done.iter().map(of).collect::<Vec<i64>>().into_pyarray(py)
    };
    out.set_item("batch_packets", column(|b| b.packets as i64))?;
    out.set_item("batch_bytes", column(|b| b.bytes as i64))?;
    out.set_item("batch_latency_sum_ticks", column(|b| b.latency))?;
    out.set_item("batch_total_sum_ticks", column(|b| b.total))?;
    let shares = batches.shares.done();
    self::column(out, "share_packets", shares, |share| share.0)?;
    self::column(out, "share_bytes", shares, |share| share.1)
}

/// Adds a column of whole numbers, one per row.
fn column<T>(out: &Bound<'_, PyDict>, name: &str, rows: &[T], of: fn(&T) -> u64) -> PyResult<()> {
    out.set_item(name, rows.iter().map(of).collect::<Vec<u64>>().into_pyarray(out.py()))
}

fn links(out: &Bound<'_, PyDict>, run: &Engine) -> PyResult<()> {
    let counts = run.link_counts();
    column(out, "link_packets", &counts, |c| c.packets)?;
    column(out, "link_characters", &counts, |c| c.characters)?;
    column(out, "link_busy_ticks", &counts, |c| c.busy_ticks)?;
    column(out, "link_stalled_ticks", &counts, |c| c.stalled_ticks)?;
    column(out, "link_wait_ticks", &counts, |c| c.wait_ticks)?;
    column(out, "link_most_stored", &counts, |c| c.most_stored)?;
    column(out, "lane_busy_ticks", &run.lane_ticks(), |&ticks| ticks)?;
    let losses = run.losses();
    column(out, "link_cut", &losses, |losses| losses.cut)?;
    column(out, "link_discarded", &losses, |losses| losses.discarded)?;
    column(out, "link_timed_out", &losses, |losses| losses.timed_out)
}

/// Adds the counts of rings and buses; empty and 0 for other networks.
fn rings(out: &Bound<'_, PyDict>, run: &Engine) -> PyResult<()> {
    let rings = run.rings();
    let links: Vec<ring::Counts> = rings.into_iter().flat_map(|rings| rings.counts()).collect();
    let buses: Vec<ring::BusCounts> = rings.into_iter().flat_map(|rings| rings.bus_counts()).collect();
    let (timed_out, longest_delay) = rings.map_or((0, 0), |rings| (rings.timed_out, rings.longest_delay));
    column(out, "link_retried", &links, |c| c.retried)?;
    column(out, "link_retry_ticks", &links, |c| c.retry_ticks)?;
    column(out, "link_echo_ticks", &links, |c| c.echo_ticks)?;
    column(out, "link_busied", &links, |c| c.busied)?;
    column(out, "link_bypass_most", &links, |c| c.bypass_most)?;
    column(out, "bus_transfers", &buses, |c| c.transfers)?;
    column(out, "bus_busy_ticks", &buses, |c| c.busy_ticks)?;
    column(out, "bus_wait_ticks", &buses, |c| c.wait_ticks)?;
    out.set_item("retry_delay_ticks_max", longest_delay)?;
    out.set_item("ring_symbol_bytes", rings.map_or(0, |rings| rings.fabric().ring_symbol_bytes))?;
    out.set_item("timed_out", timed_out)
}

/// Adds the cells of distributions, one after the other, and the start of each.
fn histograms<'a>(
    out: &Bound<'_, PyDict>,
    name: &str,
    spreads: impl Iterator<Item = &'a Spread>,
) -> PyResult<()> {
    let (mut values, mut counts, mut start) = (Vec::new(), Vec::new(), vec![0]);
    for spread in spreads {
        let (some, many) = cells(&spread.histogram);
        values.extend(some);
        counts.extend(many);
        start.push(values.len() as u64);
    }
    column(out, &format!("{name}_start"), &start, |&at| at)?;
    column(out, &format!("{name}_values_ticks"), &values, |&value| value)?;
    column(out, &format!("{name}_counts"), &counts, |&count| count)
}

/// Adds the delays of the watched flows, one after the other.
fn watched(out: &Bound<'_, PyDict>, delays: &[Delays]) -> PyResult<()> {
    histograms(out, "watched", delays.iter().map(|one| &one.total))?;
    column(out, "watched_packets", delays, |one| one.total.count)?;
    column(out, "watched_total_min_ticks", delays, |one| one.total.min.max(0) as u64)?;
    column(out, "watched_total_max_ticks", delays, |one| one.total.max as u64)?;
    column(out, "watched_latency_max_ticks", delays, |one| one.latency_max as u64)
}

/// Adds time-codes and interrupts: the number per source, arrivals per source and port, and counts of links.
fn signals(out: &Bound<'_, PyDict>, run: &Engine) -> PyResult<()> {
    let codes = &run.run.codes;
    histograms(out, "code", codes.delays.iter())?;
    column(out, "code_made", &codes.made, |&count| count)?;
    column(out, "code_taken", &codes.delays, |delays| delays.count)?;
    column(out, "code_sum_ticks", &codes.delays, |delays| delays.sum as u64)?;
    column(
        out,
        "code_min_ticks",
        &codes.delays,
        |delays| if delays.count > 0 { delays.min as u64 } else { 0 },
    )?;
    column(out, "code_max_ticks", &codes.delays, |delays| delays.max as u64)?;
    let links = run.code_counts();
    column(out, "link_codes_sent", links, |counts| counts.sent)?;
    column(out, "link_codes_lost", links, |counts| counts.lost)?;
    column(out, "link_codes_duplicate", links, |counts| counts.duplicates)?;
    column(out, "link_codes_invalid", links, |counts| counts.invalid)
}

/// Adds the deliveries by plane; no rows if each terminal has one port.
fn planes(out: &Bound<'_, PyDict>, planes: &Planes) -> PyResult<()> {
    column(out, "plane_packets", &planes.sums, |sum| sum.packets)?;
    column(out, "plane_bytes", &planes.sums, |sum| sum.bytes)?;
    column(out, "plane_latency_sum_ticks", &planes.sums, |sum| sum.latency_sum as u64)?;
    column(out, "plane_latency_max_ticks", &planes.sums, |sum| sum.latency_max as u64)
}

fn trace(out: &Bound<'_, PyDict>, packets: &[Delivery]) -> PyResult<()> {
    let py = out.py();
    let ids = |of: fn(&Delivery) -> u32| packets.iter().map(of).collect::<Vec<u32>>().into_pyarray(py);
    let times = |of: fn(&Delivery) -> Time| packets.iter().map(of).collect::<Vec<Time>>().into_pyarray(py);
    out.set_item("trace_source", ids(|p| p.source))?;
    out.set_item("trace_target", ids(|p| p.target))?;
    out.set_item("trace_length", ids(|p| p.length))?;
    out.set_item("trace_created_ticks", times(|p| p.created))?;
    out.set_item("trace_started_ticks", times(|p| p.started))?;
    out.set_item("trace_delivered_ticks", times(|p| p.delivered))
}

/// Adds when packets were on which links; worms still on a link have end -1.
fn hops(out: &Bound<'_, PyDict>, run: &Engine) -> PyResult<()> {
    let py = out.py();
    let (done, standing) = run.hops();
    let rows = || done.rows.iter().chain(&standing);
    let ids = |of: fn(&Hop) -> u32| rows().map(of).collect::<Vec<u32>>().into_pyarray(py);
    let times = |of: fn(&Hop) -> Time| rows().map(of).collect::<Vec<Time>>().into_pyarray(py);
    out.set_item("hop_source", ids(|hop| hop.source))?;
    out.set_item("hop_target", ids(|hop| hop.target))?;
    out.set_item("hop_link", ids(|hop| hop.link))?;
    out.set_item("hop_created_ticks", times(|hop| hop.created))?;
    out.set_item("hop_started_ticks", times(|hop| hop.started))?;
    out.set_item("hop_begin_ticks", times(|hop| hop.begin))?;
    out.set_item("hop_end_ticks", times(|hop| hop.end))?;
    out.set_item("hop_kind", rows().map(|hop| hop.kind).collect::<Vec<u8>>().into_pyarray(py))?;
    let waiting = run.waiting();
    let (terminals, created): (Vec<u32>, Vec<Time>) = waiting.into_iter().unzip();
    out.set_item("wait_terminal", terminals.into_pyarray(py))?;
    out.set_item("wait_created_ticks", created.into_pyarray(py))?;
    out.set_item("hops_dropped", done.dropped)
}

/// Runs the slow twin on the same arrays, up to and including tick `until`; with `exact`, it sends flow-control
/// characters of wormhole networks one by one. Returns its totals and, as `trace_*` columns, every delivery.
#[pyfunction]
fn run_twin<'py>(arrays: &Bound<'py, PyDict>, exact: bool, until: Time) -> PyResult<Bound<'py, PyDict>> {
    let (py, fabric) = (arrays.py(), fabric(arrays)?);
    fabriloom_engine::fabric::check(&fabric).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let out = PyDict::new(py);
    if fabric.has_rings() {
        let run = py.detach(|| run_rings(&fabric, until));
        out.set_item("scrubbed", run.scrubbed)?;
        out.set_item("timed_out", run.timed_out)?;
        twin_totals(&out, [run.offered, run.refused, run.in_flight, run.packet_hops], &run.deliveries)?;
    } else {
        let mode = if exact { FlowControl::Exact } else { FlowControl::Counted };
        let run = py.detach(|| twin(&fabric, mode, until));
        out.set_item("lost", run.lost)?;
        out.set_item("events", run.events)?;
        out.set_item("end_time_ticks", run.end_time)?;
        out.set_item("deadlocked", run.deadlocked)?;
        twin_totals(&out, [run.offered, run.refused, run.in_flight, run.packet_hops], &run.deliveries)?;
    }
    Ok(out)
}

/// Adds the counts of both twins (offered, refused, in flight and hops) and their deliveries.
fn twin_totals(
    out: &Bound<'_, PyDict>,
    counts: [u64; 4],
    deliveries: &[fabriloom_twin::Delivery],
) -> PyResult<()> {
    for (name, count) in ["offered", "refused", "in_flight", "packet_hops"].into_iter().zip(counts) {
        out.set_item(name, count)?;
    }
    out.set_item("delivered", deliveries.len())?;
    let packets: Vec<Delivery> = deliveries
        .iter()
        .map(|d| Delivery {
            source: d.source,
            target: d.target,
            length: d.length,
            created: d.created,
            started: d.started,
            delivered: d.delivered,
            mark: NONE,
            number: 0,
        })
        .collect();
    trace(out, &packets)
}

/// Adds runs to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Simulation>()?;
    module.add("RunError", module.py().get_type::<RunError>())?;
    module.add_function(wrap_pyfunction!(columns, module)?)?;
    module.add_function(wrap_pyfunction!(scalars, module)?)?;
    module.add_function(wrap_pyfunction!(codes, module)?)?;
    module.add_function(wrap_pyfunction!(queues, module)?)?;
    module.add_function(wrap_pyfunction!(is_by_packet, module)?)?;
    module.add_function(wrap_pyfunction!(run_twin, module)?)
}
