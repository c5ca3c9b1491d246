//! Shortest paths on any graph.
//! In self-routing networks, one-way graphs with a single path from each switch to each destination, it is the only one.

use std::collections::{BTreeMap, HashMap};

use crate::{Groups, NONE, Network, RouteError, Scheme, Toward, Word};

/// Which of the equally short paths are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHops {
    /// Every link that lies on a shortest path.
    All,
    /// The links to the neighbour with the lowest number.
    First,
}

/// Shortest paths, counted in links.
#[derive(Clone, Debug)]
pub struct ShortestPath {
    hops: NextHops,
    distance: Vec<u32>,
    edges: Vec<u32>,
}

impl ShortestPath {
    /// Returns shortest paths with the given choice among equals.
    pub fn new(hops: NextHops) -> Self {
        Self { hops, distance: vec![], edges: vec![] }
    }
}

impl Scheme for ShortestPath {
    fn toward(
        &mut self,
        net: &Network,
        groups: &mut Groups,
        to: u32,
        out: &mut Toward,
    ) -> Result<(), RouteError> {
        backward(net, to, |_| true, &mut self.distance, &mut out.order);
        for &switch in &out.order {
            let nearer = self.distance[switch as usize] - 1;
            let short = |&&edge: &&u32| self.distance[net.edge_target[edge as usize] as usize] == nearer;
            let most = if self.hops == NextHops::First { 1 } else { usize::MAX };
            self.edges.clear();
            self.edges.extend(net.out_edges(switch).iter().filter(short).take(most));
            out.group[switch as usize] = groups.edges(net, &self.edges);
        }
        Ok(())
    }
}

/// Destinations whose paths are searched together: a bit for each.
const AT_ONCE: usize = 64;

/// Paths of least weight, such as those over the fewest links of a kind and, among these, over the fewest links.
#[derive(Clone, Debug)]
pub struct LeastWeight {
    /// Per destination switch, then per switch: the weight of the paths, or [`NONE`] without one.
    pub distance: Vec<u32>,
    /// Per switch: weight and number of the edges that enter it, the lightest first.
    into: Vec<Vec<(u32, u32)>>,
    together: Together,
}

/// What is known of the destinations that are searched together.
#[derive(Clone, Debug, Default)]
struct Together {
    /// The destinations, ascending.
    to: Vec<u32>,
    /// Per switch: the destinations to which its paths are known, as bits.
    settled: Vec<u64>,
    /// By weight: the edges with which paths of this weight may begin, and the destinations that they lead to.
    open: BTreeMap<u32, Vec<(u32, u64)>>,
    /// Per switch: those of the present weight.
    ways: Vec<Vec<(u32, u64)>>,
    /// Per destination, then per switch: number of the set of edges with which its paths begin.
    begin: Vec<u32>,
    /// Per destination: the switches that reach it, nearest first.
    order: Vec<Vec<u32>>,
    edges: Vec<u32>,
    sets: Sets,
}

/// Sets of edges by numbers: first those of a single edge.
#[derive(Clone, Debug, Default)]
struct Sets {
    numbers: HashMap<Box<[u32]>, u32>,
    several: Vec<Box<[u32]>>,
    /// Per set: its group, or [`NONE`] before it is used.
    group: Vec<u32>,
}

impl Sets {
    fn number(&mut self, edges: &[u32]) -> u32 {
        if let &[edge] = edges {
            return edge;
        }
        self.numbers.get(edges).copied().unwrap_or_else(|| {
            let number = self.group.len() as u32;
            self.numbers.insert(edges.into(), number);
            self.several.push(edges.into());
            self.group.push(NONE);
            number
        })
    }

    /// Returns the group of a set.
    fn group(&mut self, net: &Network, groups: &mut Groups, number: u32) -> u32 {
        let known = &mut self.group[number as usize];
        if *known == NONE {
            *known = match (number as usize).checked_sub(net.edges()) {
                None => groups.edge(net, number),
                Some(place) => groups.edges(net, &self.several[place]),
            };
        }
        *known
    }
}

impl LeastWeight {
    /// Returns the scheme, for one table. `weight` has a number above zero for each link; parallel links have that of
    /// their first.
    pub fn new(net: &Network, weight: &[u32]) -> Result<Self, RouteError> {
        if weight.len() != net.links() || weight.contains(&0) {
            return Err(RouteError::text("each link needs a weight of one or more"));
        }
        let weighed = |&edge: &u32| (weight[net.edge_links(edge)[0] as usize], edge);
        let mut into: Vec<Vec<(u32, u32)>> = (0..net.switches as u32)
            .map(|switch| net.in_edges(switch).iter().map(weighed).collect())
            .collect();
        into.iter_mut().for_each(|edges| edges.sort_unstable());
        let sets = Sets { group: vec![NONE; net.edges()], ..Sets::default() };
        let together = Together {
            ways: vec![vec![]; net.switches],
            order: vec![vec![]; AT_ONCE],
            begin: vec![NONE; AT_ONCE * net.switches],
            sets,
            ..Together::default()
        };
        Ok(Self { distance: vec![NONE; net.switches * net.switches], into, together })
    }

    /// Searches the paths to a destination, and to those after it.
    fn search(&mut self, net: &Network, to: u32) {
        let Self { distance, into, together } = self;
        let lived_in = |switch: u32| !net.residents(switch).is_empty();
        let like = (to..net.switches as u32).filter(|&other| lived_in(other) == lived_in(to));
        together.to = like.take(AT_ONCE).collect();
        together.settled.clear();
        together.settled.resize(net.switches, 0);
        together.order.iter_mut().for_each(Vec::clear);
        for (place, &to) in together.to.iter().enumerate() {
            let row = &mut distance[to as usize * net.switches..][..net.switches];
            row.fill(NONE);
            row[to as usize] = 0;
            together.settled[to as usize] |= 1 << place;
        }
        for place in 0..together.to.len() {
            let to = together.to[place];
            together.expand(&into[to as usize], net, 0, 1 << place);
        }
        while let Some((length, found)) = together.open.pop_first() {
            for switch in together.sort(net, &found) {
                let reached = together.settle(net, switch, length, distance);
                together.expand(&into[switch as usize], net, length, reached);
            }
        }
    }
}

impl Together {
    /// Notes the edges that lead to a switch as ways to these destinations.
    fn expand(&mut self, into: &[(u32, u32)], net: &Network, length: u32, reached: u64) {
        for edges in into.chunk_by(|one, other| one.0 == other.0) {
            // What is as long as that is no path.
            let longer = length.saturating_add(edges[0].0);
            let ways = self.open.entry(longer).or_default();
            let settled = &self.settled;
            let ends = edges
                .iter()
                .map(|&(_, edge)| (edge, reached & !settled[net.edge_source[edge as usize] as usize]));
            ways.extend(ends.filter(|&(_, open)| longer != NONE && open != 0));
        }
    }

    /// Sorts ways by the switches at which they begin, as far as no shorter ones are known; returns these switches.
    fn sort(&mut self, net: &Network, found: &[(u32, u64)]) -> Vec<u32> {
        let mut switches = vec![];
        for &(edge, reached) in found {
            let switch = net.edge_source[edge as usize];
            let open = reached & !self.settled[switch as usize];
            if open != 0 {
                let ways = &mut self.ways[switch as usize];
                if ways.is_empty() {
                    switches.push(switch);
                }
                ways.push((edge, open));
            }
        }
        switches.sort_unstable();
        switches
    }

    /// Settles the paths that begin at a switch with its ways; returns the destinations that they lead to.
    fn settle(&mut self, net: &Network, switch: u32, length: u32, distance: &mut [u32]) -> u64 {
        let ways = &mut self.ways[switch as usize];
        ways.sort_unstable();
        let reached = ways.iter().fold(0, |reached, way| reached | way.1);
        self.settled[switch as usize] |= reached;
        let mut rest = reached;
        while rest != 0 {
            let bit = rest.trailing_zeros();
            let mut same = rest;
            self.edges.clear();
            for &(edge, leads) in ways.iter() {
                if leads >> bit & 1 == 1 {
                    self.edges.push(edge);
                    same &= leads;
                } else {
                    same &= !leads;
                }
            }
            rest &= !same;
            let set = self.sets.number(&self.edges);
            while same != 0 {
                let place = same.trailing_zeros() as usize;
                same &= same - 1;
                self.begin[place * net.switches + switch as usize] = set;
                distance[self.to[place] as usize * net.switches + switch as usize] = length;
                self.order[place].push(switch);
            }
        }
        ways.clear();
        reached
    }
}

impl Scheme for LeastWeight {
    fn toward(
        &mut self,
        net: &Network,
        groups: &mut Groups,
        to: u32,
        out: &mut Toward,
    ) -> Result<(), RouteError> {
        if self.together.to.binary_search(&to).is_err() {
            self.search(net, to);
        }
        let Together { to: together, begin, order, sets, .. } = &mut self.together;
        let place = together.binary_search(&to).expect("it has been searched");
        out.order.clone_from(&order[place]);
        let begin = &begin[place * net.switches..][..net.switches];
        for &switch in &out.order {
            out.group[switch as usize] = sets.group(net, groups, begin[switch as usize]);
        }
        Ok(())
    }
}

/// Returns the distances to `to` over the edges that pass `usable`, breadth first; `order` gets the other switches,
/// nearest first.
pub(crate) fn backward(
    net: &Network,
    to: u32,
    usable: impl Fn(u32) -> bool,
    distance: &mut Vec<u32>,
    order: &mut Vec<u32>,
) {
    distance.clear();
    distance.resize(net.switches, NONE);
    distance[to as usize] = 0;
    order.clear();
    order.push(to);
    let mut next = 0;
    while next < order.len() {
        let switch = order[next];
        next += 1;
        for &edge in net.in_edges(switch) {
            let source = net.edge_source[edge as usize];
            if distance[source as usize] == NONE && usable(edge) {
                distance[source as usize] = distance[switch as usize] + 1;
                order.push(source);
            }
        }
    }
    order.remove(0);
}

/// The unique path, found by reachability.
#[derive(Clone, Debug, Default)]
pub struct SelfRouting {
    distance: Vec<u32>,
}

impl Scheme for SelfRouting {
    fn toward(
        &mut self,
        net: &Network,
        groups: &mut Groups,
        to: u32,
        out: &mut Toward,
    ) -> Result<(), RouteError> {
        backward(net, to, |_| true, &mut self.distance, &mut out.order);
        for &switch in &out.order {
            let reaches = |&&edge: &&u32| self.distance[net.edge_target[edge as usize] as usize] != NONE;
            let mut ways = net.out_edges(switch).iter().filter(reaches);
            let edge = *ways.next().expect("a switch found backward has a way");
            if let Some(&other) = ways.next() {
                let neighbour = |edge: u32| Word::Switch(net.edge_target[edge as usize]);
                return Err(RouteError::of([
                    "not self-routing: from ".into(),
                    Word::Switch(switch),
                    " the way to ".into(),
                    Word::Switch(to),
                    " leads through ".into(),
                    neighbour(edge),
                    " and through ".into(),
                    neighbour(other),
                ]));
            }
            out.group[switch as usize] = groups.edge(net, edge);
        }
        Ok(())
    }
}
