//! Routes through rings and buses: arrays in, tables and measures out.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use fabriloom_engine::fabric::{PASS, ROUTE_BLOCK};
use fabriloom_routes as routes;

use crate::routes::words;

type Numbers<'py> = PyReadonlyArray1<'py, u32>;
type Bytes<'py> = PyReadonlyArray1<'py, u8>;
type Reals<'py> = Bound<'py, PyArray1<f64>>;
/// The blocks of the ports and their exits.
type Table<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u8>>);

const _: () =
    assert!(routes::BLOCK == ROUTE_BLOCK && routes::PASS == PASS, "the engine reads what routes writes");

fn table(py: Python<'_>, route: routes::PortRoute) -> Table<'_> {
    (route.blocks.into_pyarray(py), route.exits.into_pyarray(py))
}

/// Rings, ports and terminals, prepared once for several questions.
#[pyclass(frozen)]
struct RingNetwork(routes::RingNetwork);

#[pymethods]
impl RingNetwork {
    #[new]
    fn new(
        next: Numbers<'_>,
        port_start: Numbers<'_>,
        port_station: Numbers<'_>,
        terminal_station: Numbers<'_>,
    ) -> PyResult<Self> {
        let columns = [next, port_start, port_station, terminal_station];
        let [next, start, ports, terminals] = columns.map(|column| column.as_array().to_vec());
        routes::RingNetwork::new(next, start, ports, terminals).map(Self).map_err(words)
    }

    fn port_route<'py>(
        &self,
        py: Python<'py>,
        sends: PyReadonlyArray1<'py, bool>,
        receives: PyReadonlyArray1<'py, bool>,
        turn: u32,
    ) -> PyResult<Table<'py>> {
        let ends = routes::Ends { sends: sends.as_slice()?, receives: receives.as_slice()? };
        Ok(table(py, routes::port_route(&self.0, ends, turn).map_err(words)?))
    }

    fn torus_route<'py>(&self, py: Python<'py>, sides: Numbers<'py>) -> PyResult<Table<'py>> {
        Ok(table(py, routes::torus_route(&self.0, sides.as_slice()?).map_err(words)?))
    }

    fn dependency_cycle(
        &self,
        blocks: Numbers<'_>,
        exits: Bytes<'_>,
        sources: Numbers<'_>,
        targets: Numbers<'_>,
    ) -> PyResult<Option<Vec<u32>>> {
        let (sources, targets) = (sources.as_slice()?, targets.as_slice()?);
        let tables = routes::PortView::all(&self.0, blocks.as_slice()?, exits.as_slice()?).map_err(words)?;
        routes::ring_dependency_cycle(&self.0, &tables, sources, targets).map_err(words)
    }

    /// Packets and echoes per link, transfers per switch.
    fn loads<'py>(
        &self,
        py: Python<'py>,
        blocks: Numbers<'py>,
        exits: Bytes<'py>,
        source: Numbers<'py>,
        target: Numbers<'py>,
        rate: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<(Reals<'py>, Reals<'py>, Reals<'py>)> {
        let (source, target, rate) = (source.as_slice()?, target.as_slice()?, rate.as_slice()?);
        let route = routes::PortView::new(&self.0, blocks.as_slice()?, exits.as_slice()?).map_err(words)?;
        let loads = routes::ring_loads(&self.0, route, source, target, rate).map_err(words)?;
        let columns = [loads.packets, loads.echoes, loads.transfers];
        let [packets, echoes, transfers] = columns.map(|column| column.into_pyarray(py));
        Ok((packets, echoes, transfers))
    }
}

/// Adds the class to the module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<RingNetwork>()
}
