//! Routing: arrays in, tables and measures out. Errors come as lists of (kind, value) for the caller to name.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use fabriloom_engine::fabric::{PASS, ROUTE_BLOCK};
use fabriloom_routes as routes;
use routes::{Network, Options, RouteError, Scheme, Sharing, Spread, Traffic, View, Word};

type Numbers<'py> = PyReadonlyArray1<'py, u32>;
type Reals<'py> = PyReadonlyArray1<'py, f64>;
type Made<'py> = Bound<'py, PyArray1<u32>>;
type MadeReals<'py> = Bound<'py, PyArray1<f64>>;

/// `group_switch`, `group_start`, `group_links`; `route` (row by row), `route_start` and `route_end`; `class_column` and
/// `class_exit`; `layer` of a table.
type MadeTable<'py> = ([Made<'py>; 3], [Made<'py>; 3], [Made<'py>; 2], Bound<'py, PyArray1<u8>>);

fn words(error: RouteError) -> PyErr {
    let word = |word: Word| match word {
        Word::Text(text) => ("text", text),
        Word::Switch(number) => ("switch", number.to_string()),
        Word::Terminal(number) => ("terminal", number.to_string()),
        Word::Link(number) => ("link", number.to_string()),
    };
    PyValueError::new_err((error.words.into_iter().map(word).collect::<Vec<_>>(),))
}

fn spread(name: &str) -> PyResult<Spread> {
    match name {
        "adaptive" => Ok(Spread::Adaptive),
        "turns" => Ok(Spread::Turns),
        "runs" => Ok(Spread::Runs),
        _ => Err(words(RouteError::text(format!("unknown spread {name:?}")))),
    }
}

/// The columns of a table, kept while a [`View`] of them is used.
#[derive(FromPyObject)]
struct Columns<'py>(
    Numbers<'py>,
    Numbers<'py>,
    Numbers<'py>,
    Numbers<'py>,
    Numbers<'py>,
    Numbers<'py>,
    Numbers<'py>,
    Numbers<'py>,
    Numbers<'py>,
    Numbers<'py>,
);

impl Columns<'_> {
    fn view(&self, network: &Network) -> PyResult<View<'_>> {
        let (route, class_column) = (self.2.as_slice()?, self.6.as_slice()?);
        // Without switches the table has no rows; its classes are the terminals all the same.
        let own = || route.len().checked_div(network.switches).unwrap_or(network.terminals);
        Ok(View {
            group_start: self.0.as_slice()?,
            group_links: self.1.as_slice()?,
            route,
            route_start: self.8.as_slice()?,
            route_end: self.9.as_slice()?,
            class_column,
            class_exit: self.7.as_slice()?,
            classes: if class_column.is_empty() { own() } else { class_column.len() },
            terminal_class: self.3.as_slice()?,
            via_switch: self.4.as_slice()?,
            via_class: self.5.as_slice()?,
        })
    }
}

/// Switches, terminals and links, prepared once for several questions.
#[pyclass(frozen)]
struct RouteNetwork(Network, usize, usize);

impl RouteNetwork {
    fn table<'py>(
        &self,
        py: Python<'py>,
        mut scheme: impl Scheme + Send,
        name: &str,
        via: &[u32],
    ) -> PyResult<MadeTable<'py>> {
        self.made(py, &mut scheme, name, via)
    }

    fn made<'py>(
        &self,
        py: Python<'py>,
        scheme: &mut (impl Scheme + Send),
        name: &str,
        via: &[u32],
    ) -> PyResult<MadeTable<'py>> {
        let options = Options { spread: spread(name)?, via, shared_above: self.1, runs_above: self.2 };
        let table = py.detach(|| routes::assemble(&self.0, scheme, options)).map_err(words)?;
        let groups = [table.groups.switch, table.groups.start, table.groups.links];
        let rows = [table.route, table.route_start, table.route_end];
        let shared = [table.class_column, table.class_exit];
        let arrays = |columns: [Vec<u32>; 3]| columns.map(|column| column.into_pyarray(py));
        let shared = shared.map(|column| column.into_pyarray(py));
        Ok((arrays(groups), arrays(rows), shared, table.layer.into_pyarray(py)))
    }
}

/// A table, the number of its layers, detours and links left out, each of all.
type Layered<'py> = (MadeTable<'py>, usize, (u64, u64), (u64, u64));

#[pymethods]
impl RouteNetwork {
    /// Adaptive tables with more entries than `shared_above` have a column for all terminals of a switch; those with more
    /// entries than `runs_above` have runs of such columns, if these are few. `entered`: where packets come into the network:
    /// "by-senders", "anywhere", or "where-known", at each switch with an entry for them. `rings`: per link (or empty) its one-way ring, in which a place stays free.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the columns of a description")]
    fn new(
        switches: usize,
        terminals: usize,
        source: Numbers<'_>,
        target: Numbers<'_>,
        shared_above: usize,
        runs_above: usize,
        entered: &str,
        rings: Numbers<'_>,
    ) -> PyResult<Self> {
        let (source, target) = (source.as_slice()?.to_vec(), target.as_slice()?.to_vec());
        let network = Network::new(switches, terminals, source, target).map_err(words)?;
        let network = network.with_rings(rings.as_slice()?.to_vec()).map_err(words)?;
        let network = match entered {
            "anywhere" => network.entered_anywhere(),
            "where-known" => network.entered_where_known(),
            _ => network,
        };
        Ok(Self(network, shared_above, runs_above))
    }

    #[expect(clippy::too_many_arguments, reason = "the columns of a description")]
    fn dimension_order<'py>(
        &self,
        py: Python<'py>,
        shape: Vec<usize>,
        coordinates: Numbers<'py>,
        order: Vec<usize>,
        wrap: &str,
        spread: &str,
        via: Numbers<'py>,
    ) -> PyResult<MadeTable<'py>> {
        let wrap = match wrap {
            "line" => routes::Wrap::Line,
            "minimal" => routes::Wrap::Minimal,
            "no-edge-transit" => routes::Wrap::NoEdgeTransit,
            "complete" => routes::Wrap::Complete,
            _ => return Err(words(RouteError::text(format!("unknown wrap {wrap:?}")))),
        };
        let scheme = routes::DimensionOrder::new(&self.0, &shape, coordinates.as_slice()?, &order, wrap);
        self.table(py, scheme.map_err(words)?, spread, via.as_slice()?)
    }

    fn up_down<'py>(
        &self,
        py: Python<'py>,
        height: PyReadonlyArray1<'py, i64>,
        spread: &str,
        via: Numbers<'py>,
    ) -> PyResult<MadeTable<'py>> {
        self.table(py, routes::UpDown::new(height.as_slice()?.to_vec()), spread, via.as_slice()?)
    }

    /// Heights for up*/down* routing below a root.
    fn heights<'py>(&self, py: Python<'py>, root: u32) -> PyResult<Bound<'py, PyArray1<i64>>> {
        if root as usize >= self.0.switches {
            return Err(words(RouteError::text(format!("there is no switch {root}"))));
        }
        Ok(routes::depth_keys(&self.0, root).into_pyarray(py))
    }

    fn shortest_path<'py>(
        &self,
        py: Python<'py>,
        all: bool,
        spread: &str,
        via: Numbers<'py>,
    ) -> PyResult<MadeTable<'py>> {
        let hops = if all { routes::NextHops::All } else { routes::NextHops::First };
        self.table(py, routes::ShortestPath::new(hops), spread, via.as_slice()?)
    }

    /// Paths of least weight with the hops left as layers, and the most of these; links of at least the weight `hop` are hops.
    fn least_weight<'py>(
        &self,
        py: Python<'py>,
        weight: Numbers<'py>,
        hop: u32,
        spread: &str,
        via: Numbers<'py>,
    ) -> PyResult<(MadeTable<'py>, u32)> {
        let via = via.as_slice()?;
        let mut scheme = routes::LeastWeight::new(&self.0, weight.as_slice()?, hop, via).map_err(words)?;
        let table = self.made(py, &mut scheme, spread, via)?;
        Ok((table, scheme.most))
    }

    /// Minimal paths in at most `most` layers, with `root` and up*/down* paths where these do not suffice; None without.
    #[pyo3(signature = (most, thin, root, spread, via))]
    fn minimal_layers<'py>(
        &self,
        py: Python<'py>,
        most: u8,
        thin: bool,
        root: Option<u32>,
        spread: &str,
        via: Numbers<'py>,
    ) -> PyResult<Option<Layered<'py>>> {
        let height = root.map(|root| routes::depth_keys(&self.0, root));
        let found = py.detach(|| routes::Layers::new(&self.0, most, thin, height));
        let Some(mut found) = found.map_err(words)? else { return Ok(None) };
        let table = self.made(py, &mut found, spread, via.as_slice()?)?;
        Ok(Some((table, found.count(), found.detours, found.left_out)))
    }

    /// Returns the service level by switch and column of a table, that which is wanted if it fits; None if it takes more than
    /// `most`.
    fn levels<'py>(
        &self,
        py: Python<'py>,
        table: Columns<'py>,
        most: u8,
        wanted: PyReadonlyArray1<'py, u8>,
    ) -> PyResult<Option<Bound<'py, PyArray1<u8>>>> {
        let (view, wanted) = (table.view(&self.0)?, wanted.as_slice()?);
        let found = py.detach(|| routes::levels(&self.0, view, most, wanted)).map_err(words)?;
        Ok(found.map(|levels| levels.into_pyarray(py)))
    }

    fn self_routing<'py>(
        &self,
        py: Python<'py>,
        spread: &str,
        via: Numbers<'py>,
    ) -> PyResult<MadeTable<'py>> {
        self.table(py, routes::SelfRouting::default(), spread, via.as_slice()?)
    }

    fn verify(&self, py: Python<'_>, table: Columns<'_>) -> PyResult<()> {
        let view = table.view(&self.0)?;
        py.detach(|| routes::verify(&self.0, view)).map_err(words)
    }

    /// Whether a look at the whole table proves that packets arrive and have no dependency cycle.
    fn proved(&self, py: Python<'_>, table: Columns<'_>, lanes: u32) -> PyResult<bool> {
        let network = self.0.divided(lanes);
        let view = table.view(&network)?;
        py.detach(|| routes::proved(&network, view)).map_err(words)
    }

    /// The groups of the table are of lanes, if there are several a link.
    fn dependency_cycle(
        &self,
        py: Python<'_>,
        table: Columns<'_>,
        lanes: u32,
        tried: bool,
    ) -> PyResult<Option<Vec<u32>>> {
        let network = self.0.divided(lanes);
        let view = table.view(&network)?;
        py.detach(|| routes::dependency_cycle(&network, view, tried)).map_err(words)
    }

    /// The same for tables that replace each other, each with its dead links, and with the pairs of terminals that send from
    /// then on (none: all); also returns the number of the table.
    fn phases_cycle(
        &self,
        py: Python<'_>,
        phases: Vec<Given<'_>>,
        lanes: u32,
    ) -> PyResult<Option<(usize, Vec<u32>)>> {
        let network = self.0.divided(lanes);
        let phases = given(&phases, &network)?;
        py.detach(|| routes::phases_cycle(&network, &phases)).map_err(words)
    }

    /// The links, or lanes, in an order that no packet leaves under the last of these tables, and by table, switch and class
    /// whether packets come there; None if there is none.
    fn phases_order(&self, phases: Vec<Given<'_>>, lanes: u32) -> PyResult<Option<Ordered>> {
        let network = self.0.divided(lanes);
        let phases = given(&phases, &network)?;
        let order = routes::phases_order(&network, &phases).map_err(words)?;
        let taken = routes::phases_taken(&network, &phases).map_err(words)?;
        Ok(order.map(|order| (order, taken)))
    }

    /// The links, or lanes, in an order that no packet leaves; None if there is none.
    #[pyo3(signature = (table, lanes=1))]
    fn channel_order(&self, py: Python<'_>, table: Columns<'_>, lanes: u32) -> PyResult<Option<Vec<u32>>> {
        let network = self.0.divided(lanes);
        let view = table.view(&network)?;
        py.detach(|| routes::channel_order(&network, view)).map_err(words)
    }

    #[pyo3(signature = (table, pairs=None, lengths=None))]
    fn loads<'py>(
        &self,
        py: Python<'py>,
        table: Columns<'py>,
        pairs: Option<(Numbers<'py>, Numbers<'py>, Reals<'py>)>,
        lengths: Option<Reals<'py>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let traffic = match &pairs {
            None => Traffic::Uniform,
            Some((source, target, rate)) => Traffic::Pairs {
                source: source.as_slice()?,
                target: target.as_slice()?,
                rate: rate.as_slice()?,
            },
        };
        let sharing = match &lengths {
            None => Sharing::Even,
            Some(lengths) => Sharing::Shortest(lengths.as_slice()?),
        };
        let view = table.view(&self.0)?;
        let loads = py.detach(|| routes::loads(&self.0, view, traffic, sharing)).map_err(words)?;
        Ok(loads.into_pyarray(py))
    }

    #[pyo3(signature = (table, source, target, via=None))]
    fn path(&self, table: Columns<'_>, source: u32, target: u32, via: Option<u32>) -> PyResult<Vec<u32>> {
        routes::path(&self.0, table.view(&self.0)?, source, target, via).map_err(words)
    }
}

/// A table, its dead links, and sources and aims of packets that start from then on.
type Given<'py> = (Columns<'py>, Numbers<'py>, Option<(Numbers<'py>, Numbers<'py>)>);
/// Links in order, and per table where packets come.
type Ordered = (Vec<u32>, Vec<Vec<bool>>);

fn given<'a>(phases: &'a [Given<'_>], network: &Network) -> PyResult<Vec<routes::Phase<'a>>> {
    let ends = |(source, aim): &'a (Numbers<'_>, Numbers<'_>)| -> PyResult<routes::Pairs<'a>> {
        Ok((source.as_slice()?, aim.as_slice()?))
    };
    let phase = |(table, dead, pairs): &'a Given<'_>| {
        let pairs = pairs.as_ref().map(ends).transpose()?;
        Ok(routes::Phase { view: table.view(network)?, dead: dead.as_slice()?, pairs })
    };
    phases.iter().map(phase).collect()
}

/// The ways of all packets of a table, for many faults.
#[pyclass]
struct RouteWays(routes::Ways);

/// Class, switch and lost share where packets are lost, and packets per link.
type Remains<'py> = (Made<'py>, Made<'py>, MadeReals<'py>, MadeReals<'py>);

#[pymethods]
impl RouteWays {
    #[new]
    fn new(network: &RouteNetwork, table: Columns<'_>, sends: Reals<'_>) -> PyResult<Self> {
        let sends = sends.as_slice()?.to_vec();
        Ok(Self(routes::Ways::new(&network.0, table.view(&network.0)?, sends).map_err(words)?))
    }

    /// What is left without dead links, where switches have other packets enter.
    fn after<'py>(
        &mut self,
        py: Python<'py>,
        dead: Numbers<'_>,
        switches: Numbers<'_>,
        sends: Reals<'_>,
        all: bool,
    ) -> PyResult<Remains<'py>> {
        let (dead, switches, sends) = (dead.as_slice()?, switches.as_slice()?, sends.as_slice()?);
        let found = self.0.after(dead, switches, sends, all).map_err(words)?;
        let [class, switch] = [found.class, found.switch].map(|column| column.into_pyarray(py));
        let [lost, load] = [found.lost, found.load].map(|column| column.into_pyarray(py));
        Ok((class, switch, lost, load))
    }
}

/// The blocks of the ports and their exits.
type PortTable<'py> = (Made<'py>, Bound<'py, PyArray1<u8>>);

const _: () =
    assert!(routes::BLOCK == ROUTE_BLOCK && routes::PASS == PASS, "the engine reads what routes writes");

fn port_table(py: Python<'_>, route: routes::PortRoute) -> PortTable<'_> {
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
    ) -> PyResult<PortTable<'py>> {
        let ends = routes::Ends { sends: sends.as_slice()?, receives: receives.as_slice()? };
        Ok(port_table(py, routes::port_route(&self.0, ends, turn).map_err(words)?))
    }

    fn torus_route<'py>(&self, py: Python<'py>, sides: Numbers<'py>) -> PyResult<PortTable<'py>> {
        Ok(port_table(py, routes::torus_route(&self.0, sides.as_slice()?).map_err(words)?))
    }

    fn dependency_cycle(
        &self,
        blocks: Numbers<'_>,
        exits: PyReadonlyArray1<'_, u8>,
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
        exits: PyReadonlyArray1<'py, u8>,
        source: Numbers<'py>,
        target: Numbers<'py>,
        rate: Reals<'py>,
    ) -> PyResult<(MadeReals<'py>, MadeReals<'py>, MadeReals<'py>)> {
        let (source, target, rate) = (source.as_slice()?, target.as_slice()?, rate.as_slice()?);
        let route = routes::PortView::new(&self.0, blocks.as_slice()?, exits.as_slice()?).map_err(words)?;
        let loads = routes::ring_loads(&self.0, route, source, target, rate).map_err(words)?;
        let columns = [loads.packets, loads.echoes, loads.transfers];
        let [packets, echoes, transfers] = columns.map(|column| column.into_pyarray(py));
        Ok((packets, echoes, transfers))
    }
}

/// Adds the classes to the module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<RouteWays>()?;
    m.add_class::<RouteNetwork>()?;
    m.add_class::<RingNetwork>()
}
