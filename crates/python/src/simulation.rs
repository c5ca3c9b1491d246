//! Runs: arrays in, columns out.

use std::collections::HashMap;

use fabriloom_engine::fabric::{CODES, COLUMNS, Fabric, NONE, SCALARS};
use fabriloom_engine::kernel::Time;
use fabriloom_engine::measure::{Delivery, Rows};
use fabriloom_engine::results::{Results, Value, trace};
use fabriloom_engine::run::{Options, Simulation as Engine};
use fabriloom_twin::{FlowControl, run as twin, run_rings};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

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
        let results = Results::of(&self.0).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let out = PyDict::new(py);
        fill(&out, results)?;
        let standstill =
            self.0.standstill().map(|at| (at.link, at.source, at.target, format!("{:?}", at.fault)));
        out.set_item("standstill", standstill)?;
        Ok(out)
    }
}

/// Adds named numbers and columns.
fn fill(out: &Bound<'_, PyDict>, results: Results) -> PyResult<()> {
    let py = out.py();
    for (name, value) in results.0 {
        match value {
            Value::Word(word) => out.set_item(name, word)?,
            Value::Number(number) => out.set_item(name, number)?,
            Value::U8(column) => out.set_item(name, column.into_pyarray(py))?,
            Value::U32(column) => out.set_item(name, column.into_pyarray(py))?,
            Value::U64(column) => out.set_item(name, column.into_pyarray(py))?,
            Value::I64(column) => out.set_item(name, column.into_pyarray(py))?,
        }
    }
    Ok(())
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
    let mut columns = Results::default();
    trace(&mut columns, &packets);
    fill(out, columns)
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
