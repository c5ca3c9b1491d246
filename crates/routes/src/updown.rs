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
    /// Per switch: edges that climb from it, with their ends.
    ups: Vec<Vec<(u32, u32)>>,
    /// Per switch: the edges down that begin a shortest path.
    downs: Vec<Vec<u32>>,
    distance: Vec<u32>,
    edges: Vec<u32>,
}

impl UpDown {
    /// Returns the scheme by height per switch; links between switches of equal height are not used.
    pub fn new(height: Vec<i64>) -> Self {
        let mut highest_first: Vec<u32> = (0..height.len() as u32).collect();
        highest_first.sort_by_key(|&switch| std::cmp::Reverse(height[switch as usize]));
        let downs = vec![vec![]; height.len()];
        Self { height, highest_first, ups: vec![], downs, distance: vec![], edges: vec![] }
    }

    fn prepare(&mut self, net: &Network) -> Result<(), RouteError> {
        if self.height.len() != net.switches {
            return Err(RouteError::text("up-down routing needs one height per switch"));
        }
        if self.ups.is_empty() {
            let height = |switch: u32| self.height[switch as usize];
            let up = |&edge: &u32| (edge, net.edge_target[edge as usize]);
            let climbs = |switch: u32| {
                net.out_edges(switch).iter().map(up).filter(move |&(_, end)| height(end) > height(switch))
            };
            self.ups = (0..net.switches as u32).map(|switch| climbs(switch).collect()).collect();
        }
        Ok(())
    }

    /// Finds the shortest ways down to a switch, breadth first.
    fn descend(&mut self, net: &Network, groups: &mut Groups, to: u32, out: &mut Toward) {
        self.distance.clear();
        self.distance.resize(net.switches, NONE);
        self.distance[to as usize] = 0;
        out.order.clear();
        out.order.push(to);
        let mut next = 0;
        while let Some(&switch) = out.order.get(next) {
            next += 1;
            let farther = self.distance[switch as usize] + 1;
            for &edge in net.in_edges(switch) {
                let source = net.edge_source[edge as usize];
                if self.height[source as usize] <= self.height[switch as usize] {
                    continue;
                }
                let known = &mut self.distance[source as usize];
                if *known == NONE {
                    *known = farther;
                    out.order.push(source);
                    self.downs[source as usize].clear();
                }
                if *known == farther {
                    self.downs[source as usize].push(edge);
                }
            }
        }
        out.order.remove(0);
        for &switch in &out.order {
            let edges = &mut self.downs[switch as usize];
            edges.sort_unstable();
            out.group[switch as usize] = groups.edges(net, edges);
        }
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
        self.prepare(net)?;
        self.descend(net, groups, to, out);
        for &switch in &self.highest_first {
            if self.distance[switch as usize] != NONE {
                continue;
            }
            let ups = &self.ups[switch as usize];
            let beyond = |&(_, end): &(u32, u32)| self.distance[end as usize];
            let best = ups.iter().map(beyond).min().unwrap_or(NONE);
            if best == NONE {
                continue;
            }
            self.edges.clear();
            self.edges.extend(ups.iter().filter(|up| beyond(up) == best).map(|up| up.0));
            out.group[switch as usize] = groups.edges(net, &self.edges);
            out.order.push(switch);
            self.distance[switch as usize] = best + 1;
        }
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
