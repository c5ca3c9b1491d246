//! Up, then down: Clos networks and trees by their stages, any graph by distances from a root.

use crate::shortest::backward;
use crate::{Groups, NONE, Network, RouteError, Scheme, Toward};

/// Every switch has a height; a packet climbs as long as necessary and then only descends.
///
/// If a path down to the destination exists, the shortest is taken. After a descent there is therefore always a further
/// path down, no table entry repeats, and the dependencies of links have no cycle: links up are ordered by height,
/// links down too, and none leads from down to up.
#[derive(Clone, Debug)]
pub struct UpDown {
    height: Vec<i64>,
    highest_first: Vec<u32>,
    distance: Vec<u32>,
    edges: Vec<u32>,
}

impl UpDown {
    /// Returns the scheme by height per switch; links between switches of equal height are not used.
    pub fn new(height: Vec<i64>) -> Self {
        let mut highest_first: Vec<u32> = (0..height.len() as u32).collect();
        highest_first.sort_by_key(|&switch| std::cmp::Reverse(height[switch as usize]));
        Self { height, highest_first, distance: vec![], edges: vec![] }
    }

    fn climbs(&self, net: &Network, edge: u32) -> bool {
        let edge = edge as usize;
        self.height[net.edge_target[edge] as usize] > self.height[net.edge_source[edge] as usize]
    }

    fn falls(&self, net: &Network, edge: u32) -> bool {
        let edge = edge as usize;
        self.height[net.edge_target[edge] as usize] < self.height[net.edge_source[edge] as usize]
    }
}

impl Scheme for UpDown {
    fn toward(
        &mut self,
        net: &Network,
        groups: &mut Groups,
        to: u32,
        out: &mut Toward,
    ) -> Result<(), RouteError> {
        if self.height.len() != net.switches {
            return Err(RouteError::text("up-down routing needs one height per switch"));
        }
        let mut distance = std::mem::take(&mut self.distance);
        backward(net, to, |edge| self.falls(net, edge), &mut distance, &mut out.order);
        let mut edges = std::mem::take(&mut self.edges);
        for &switch in &out.order {
            let nearer = distance[switch as usize] - 1;
            let shorter = |edge: u32| distance[net.edge_target[edge as usize] as usize] == nearer;
            edges.clear();
            edges.extend(net.out_edges(switch).iter().filter(|&&e| self.falls(net, e) && shorter(e)));
            out.group[switch as usize] = groups.edges(net, &edges);
        }
        for &switch in &self.highest_first {
            if distance[switch as usize] != NONE {
                continue;
            }
            let ups = || net.out_edges(switch).iter().copied().filter(|&edge| self.climbs(net, edge));
            let beyond = |edge: u32| distance[net.edge_target[edge as usize] as usize];
            let best = ups().map(beyond).min().unwrap_or(NONE);
            if best == NONE {
                continue;
            }
            edges.clear();
            edges.extend(ups().filter(|&edge| beyond(edge) == best));
            out.group[switch as usize] = groups.edges(net, &edges);
            out.order.push(switch);
            distance[switch as usize] = best + 1;
        }
        self.distance = distance;
        self.edges = edges;
        Ok(())
    }
}

/// Returns heights for up*/down* routing of any graph: nearer to the root is higher, equal distances are ordered by
/// number.
pub fn depth_keys(net: &Network, root: u32) -> Vec<i64> {
    let (mut distance, mut order) = (vec![], vec![]);
    backward(net, root, |_| true, &mut distance, &mut order);
    let key = |switch: usize| -(i64::from(distance[switch]) * net.switches as i64 + switch as i64);
    (0..net.switches).map(key).collect()
}
