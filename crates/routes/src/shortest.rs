//! Shortest paths on any graph.

use crate::{Groups, NONE, Network, RouteError, Scheme, Toward};

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
