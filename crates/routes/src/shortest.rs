//! Shortest paths on any graph.
//! In self-routing networks, one-way graphs with a single path from each switch to each destination, it is the only one.

use std::collections::BTreeMap;

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

/// Paths of least weight, such as those over the fewest links of a kind and, among these, over the fewest links.
#[derive(Clone, Debug)]
pub struct LeastWeight {
    /// Per destination switch, then per switch: the weight of the paths, or [`NONE`] without one.
    pub distance: Vec<u32>,
    /// Per switch: source, weight and number of the edges that enter it.
    into: Vec<Vec<(u32, u32, u32)>>,
    /// Per switch: the edges with which the paths of least weight begin.
    first: Vec<Vec<u32>>,
}

impl LeastWeight {
    /// Returns the scheme. `weight` has a number above zero for each link; parallel links have that of their first.
    pub fn new(net: &Network, weight: &[u32]) -> Result<Self, RouteError> {
        if weight.len() != net.links() || weight.contains(&0) {
            return Err(RouteError::text("each link needs a weight of one or more"));
        }
        let first = (0..net.edges() as u32).map(|edge| weight[net.edge_links(edge)[0] as usize]);
        let weight: Vec<u32> = first.collect();
        let end = |&edge: &u32| (net.edge_source[edge as usize], weight[edge as usize], edge);
        let into =
            (0..net.switches as u32).map(|switch| net.in_edges(switch).iter().map(end).collect()).collect();
        let distance = vec![NONE; net.switches * net.switches];
        Ok(Self { distance, into, first: vec![vec![]; net.switches] })
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
        let distance = &mut self.distance[to as usize * net.switches..][..net.switches];
        distance.fill(NONE);
        distance[to as usize] = 0;
        out.order.clear();
        // Paths have few different weights: a list for each is faster than a heap.
        let mut open = BTreeMap::from([(0, vec![to])]);
        while let Some((length, mut switches)) = open.pop_first() {
            switches.sort_unstable();
            for switch in switches {
                if length > distance[switch as usize] {
                    continue;
                }
                if switch != to {
                    out.order.push(switch);
                }
                for &(source, weight, edge) in &self.into[switch as usize] {
                    let longer = length.saturating_add(weight);
                    let known = &mut distance[source as usize];
                    if longer > *known {
                        continue;
                    }
                    let first = &mut self.first[source as usize];
                    if longer < *known {
                        *known = longer;
                        first.clear();
                        open.entry(longer).or_default().push(source);
                    }
                    first.push(edge);
                }
            }
        }
        for &switch in &out.order {
            let edges = &mut self.first[switch as usize];
            edges.sort_unstable();
            out.group[switch as usize] = groups.edges(net, edges);
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
