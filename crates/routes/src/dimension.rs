//! Dimension order on grids, tori and hypercubes: one dimension is finished before the next begins.

use crate::assemble::MOST_PAIRS;
use crate::{Groups, NONE, Network, RouteError, Scheme, Toward, Word};

/// The use of the links that close a dimension to a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// There are none, or they are not used.
    Line,
    /// The shorter direction. Without virtual channels its dependencies form a cycle in rings of five and more, and in
    /// rings of four unless the equally short paths happen to avoid it, as they do in the last dimension.
    Minimal,
    /// The shorter direction that does not pass coordinate 0 of the ring, where paths only begin or end. The dependency
    /// between the links into and out of 0 is missing in every ring, so there is no cycle.
    NoEdgeTransit,
    /// None, but in every dimension each switch has a link to each other: one link per dimension leads there.
    Complete,
}

/// One dimension: path length and first step from coordinate to coordinate.
#[derive(Clone, Debug)]
struct Ring {
    size: usize,
    length: Vec<u32>,
    step: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Stay,
    Forward,
    Backward,
    Either,
    /// One link to the coordinate of the destination.
    Straight,
}

impl Ring {
    fn new(size: usize, wrap: Wrap) -> Self {
        let pairs = (0..size * size).map(|pair| Self::way(size, wrap, pair / size, pair % size));
        let (length, step) = pairs.unzip();
        Self { size, length, step }
    }

    fn way(size: usize, wrap: Wrap, from: usize, to: usize) -> (u32, Step) {
        let line = from.abs_diff(to);
        let (ahead, back) = ((to + size - from) % size, (from + size - to) % size);
        let straight = if to > from { Step::Forward } else { Step::Backward };
        let only_line = match wrap {
            Wrap::Line | Wrap::Complete => true,
            Wrap::Minimal => false,
            Wrap::NoEdgeTransit => from != 0 && to != 0,
        };
        match (ahead, back) {
            (0, _) => (0, Step::Stay),
            _ if wrap == Wrap::Complete => (1, Step::Straight),
            _ if only_line => (line as u32, straight),
            (ahead, back) if ahead < back => (ahead as u32, Step::Forward),
            (ahead, back) if ahead > back => (back as u32, Step::Backward),
            (ahead, _) => (ahead as u32, Step::Either),
        }
    }
}

/// Dimension order for switches with coordinates.
#[derive(Clone, Debug)]
pub struct DimensionOrder {
    order: Vec<usize>,
    rings: Vec<Ring>,
    coordinates: Vec<u32>,
    /// Per place, row by row: the switch.
    at: Vec<u32>,
    ports: Vec<u32>,
    buckets: Vec<Vec<u32>>,
}

impl DimensionOrder {
    /// Returns the scheme. `coordinates` has one row of `shape.len()` numbers per switch; `order` names every dimension
    /// once.
    pub fn new(
        net: &Network,
        shape: &[usize],
        coordinates: &[u32],
        order: &[usize],
        wrap: Wrap,
    ) -> Result<Self, RouteError> {
        let dimensions = shape.len();
        let mut named = order.to_vec();
        named.sort_unstable();
        if !named.iter().copied().eq(0..dimensions) {
            return Err(RouteError::text("the order of dimensions must name each dimension once"));
        }
        let cells = shape.iter().try_fold(1usize, |cells, &size| cells.checked_mul(size));
        if cells != Some(net.switches) || coordinates.len() != net.switches * dimensions {
            return Err(RouteError::text("dimension order needs exactly one switch per point of the shape"));
        }
        let at = switches_by_place(shape, coordinates)?;
        let ports = ports(net, shape, coordinates, &at);
        let rings = shape.iter().map(|&size| Ring::new(size, wrap)).collect();
        let (order, coordinates) = (order.to_vec(), coordinates.to_vec());
        Ok(Self { order, rings, coordinates, at, ports, buckets: vec![] })
    }

    fn place(&self, switch: u32) -> &[u32] {
        let dimensions = self.rings.len();
        &self.coordinates[switch as usize * dimensions..(switch as usize + 1) * dimensions]
    }

    /// Returns the path length and the first edge.
    fn hop(&self, net: &Network, from: u32, to: u32) -> Result<(u32, u32), RouteError> {
        let (here, there) = (self.place(from), self.place(to));
        let (mut length, mut first) = (0, None);
        for (rank, &dimension) in self.order.iter().enumerate() {
            let ring = &self.rings[dimension];
            let pair = here[dimension] as usize * ring.size + there[dimension] as usize;
            length += ring.length[pair];
            if first.is_none() && ring.step[pair] != Step::Stay {
                first = Some((rank, ring.step[pair]));
            }
        }
        let (rank, step) = first.expect("different switches differ in some coordinate");
        let backward = match step {
            Step::Either => self.tie(here, there, rank),
            step => step == Step::Backward,
        };
        let dimension = self.order[rank];
        if step == Step::Straight {
            return match self.straight(net, from, there, dimension) {
                Some(edge) => Ok((length, edge)),
                None => Err(RouteError::of([
                    "dimension order: ".into(),
                    Word::Switch(from),
                    format!(" has no link to coordinate {} in dimension {dimension}", there[dimension])
                        .as_str()
                        .into(),
                ])),
            };
        }
        let port = (from as usize * self.rings.len() + dimension) * 2 + usize::from(backward);
        match self.ports[port] {
            NONE => Err(RouteError::of([
                "dimension order: ".into(),
                Word::Switch(from),
                format!(" has no link {} in dimension {dimension}", if backward { "down" } else { "up" })
                    .as_str()
                    .into(),
            ])),
            edge => Ok((length, edge)),
        }
    }

    /// Returns the edge to the switch with one coordinate of the destination and the others of `from`.
    fn straight(&self, net: &Network, from: u32, there: &[u32], dimension: usize) -> Option<u32> {
        let places = self.place(from).iter().zip(&self.rings).enumerate();
        let cell = places.fold(0, |cell, (place, (&own, ring))| {
            cell * ring.size + if place == dimension { there[place] } else { own } as usize
        });
        net.edge(from, self.at[cell])
    }

    /// Divides equally short paths evenly between the directions: by the parity of the packet's place, and by the half
    /// of the later dimensions of its destination, so that few intervals of destinations express the choice.
    fn tie(&self, here: &[u32], there: &[u32], rank: usize) -> bool {
        (here.iter().sum::<u32>() + self.halves(there, rank + 1)) % 2 == 1
    }

    /// Returns in how many dimensions from a rank on a place is in the upper half.
    fn halves(&self, place: &[u32], rank: usize) -> u32 {
        self.order[rank..].iter().map(|&at| 2 * place[at] / self.rings[at].size as u32).sum()
    }

    /// Returns all switches, ascending, that have these coordinates in the first `rank` dimensions of the order.
    fn agreeing(&self, place: &[u32], rank: usize) -> Vec<u32> {
        let mut cells = vec![0];
        for (dimension, ring) in self.rings.iter().enumerate() {
            let fixed = self.order[..rank].contains(&dimension);
            let own =
                if fixed { place[dimension] as usize..place[dimension] as usize + 1 } else { 0..ring.size };
            cells = cells.iter().flat_map(|cell| own.clone().map(move |at| cell * ring.size + at)).collect();
        }
        let mut switches: Vec<u32> = cells.into_iter().map(|cell| self.at[cell]).collect();
        switches.sort_unstable();
        switches
    }
}

fn switches_by_place(shape: &[usize], coordinates: &[u32]) -> Result<Vec<u32>, RouteError> {
    let mut at = vec![NONE; shape.iter().product()];
    for (switch, place) in coordinates.chunks_exact(shape.len().max(1)).enumerate() {
        if place.iter().zip(shape).any(|(&c, &size)| c as usize >= size) {
            return Err(RouteError::of([Word::Switch(switch as u32), " lies outside the shape".into()]));
        }
        let cell = place.iter().zip(shape).fold(0, |cell, (&c, &size)| cell * size + c as usize);
        if std::mem::replace(&mut at[cell], switch as u32) != NONE {
            return Err(RouteError::of([
                Word::Switch(switch as u32),
                " lies where another switch is".into(),
            ]));
        }
    }
    Ok(at)
}

/// Returns, per switch, dimension and direction (up, down; around the ring), the edge, or [`NONE`].
fn ports(net: &Network, shape: &[usize], coordinates: &[u32], at: &[u32]) -> Vec<u32> {
    let mut ports = vec![NONE; net.switches * shape.len() * 2];
    let cell = |place: &[u32]| place.iter().zip(shape).fold(0, |cell, (&c, &size)| cell * size + c as usize);
    let mut port = 0;
    for (switch, place) in coordinates.chunks_exact(shape.len().max(1)).enumerate() {
        let mut place = place.to_vec();
        for (dimension, &size) in shape.iter().enumerate() {
            let own = place[dimension];
            for step in [1, size - 1] {
                place[dimension] = ((own as usize + step) % size) as u32;
                ports[port] = net.edge(switch as u32, at[cell(&place)]).unwrap_or(NONE);
                port += 1;
            }
            place[dimension] = own;
        }
    }
    ports
}

impl Scheme for DimensionOrder {
    fn toward(
        &mut self,
        net: &Network,
        groups: &mut Groups,
        to: u32,
        out: &mut Toward,
    ) -> Result<(), RouteError> {
        let mut buckets = std::mem::take(&mut self.buckets);
        buckets.iter_mut().for_each(Vec::clear);
        for from in (0..net.switches as u32).filter(|&from| from != to) {
            let (length, edge) = self.hop(net, from, to)?;
            if buckets.len() <= length as usize {
                buckets.resize(length as usize + 1, vec![]);
            }
            buckets[length as usize].push(from);
            out.group[from as usize] = groups.edge(net, edge);
        }
        out.order.clear();
        out.order.extend(buckets.iter().flatten());
        self.buckets = buckets;
        Ok(())
    }

    /// Few switches change from destination to destination, if those that follow each other differ in the last dimension.
    fn most_pairs(&self) -> usize {
        if self.order.is_sorted() { 1 << 36 } else { MOST_PAIRS }
    }

    /// A switch that differs from both destinations in an earlier dimension than these from each other takes the same
    /// step to both, unless two are equally short and the halves of later dimensions choose one.
    fn changes(
        &mut self,
        net: &Network,
        groups: &mut Groups,
        (before, to): (u32, u32),
        out: &mut Vec<(u32, u32, u8)>,
    ) -> Result<bool, RouteError> {
        let (old, new) = (self.place(before), self.place(to));
        let rank = self.order.iter().position(|&dimension| old[dimension] != new[dimension]).unwrap_or(0);
        if rank == 0 || self.halves(old, rank) % 2 != self.halves(new, rank) % 2 {
            return Ok(false);
        }
        out.clear();
        for from in self.agreeing(new, rank).into_iter().filter(|&from| from != to) {
            out.push((from, groups.edge(net, self.hop(net, from, to)?.1), 0));
        }
        Ok(true)
    }
}
