//! Up, then down: Clos networks and trees by their stages, any graph by distances from a root.

use std::collections::HashMap;

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
    /// Per switch: edges that climb from it.
    ups: Vec<Vec<u32>>,
    /// Per switch: edges from higher ones.
    from_above: Vec<Vec<u32>>,
    /// Per switch: its place in `nearest`, which those that climb to the same switches share.
    climbs: Vec<u32>,
    /// Per place: the least distance of these switches from the present destination, and whether all have it.
    nearest: Vec<Option<(u32, bool)>>,
    /// Per switch: the group of all its edges that climb, or [`NONE`] before it is used.
    all_ups: Vec<u32>,
    /// Per switch: the edges down that begin a shortest path.
    downs: Vec<Vec<u32>>,
    distance: Vec<u32>,
    edges: Vec<u32>,
}

impl UpDown {
    /// Returns the scheme by height per switch, for one table; links between switches of equal height are not used.
    pub fn new(height: Vec<i64>) -> Self {
        let mut highest_first: Vec<u32> = (0..height.len() as u32).collect();
        highest_first.sort_by_key(|&switch| std::cmp::Reverse(height[switch as usize]));
        let downs = vec![vec![]; height.len()];
        let (ups, from_above, climbs, nearest) = (vec![], vec![], vec![], vec![]);
        let (all_ups, distance, edges) = (vec![NONE; height.len()], vec![], vec![]);
        Self { height, highest_first, ups, from_above, climbs, nearest, all_ups, downs, distance, edges }
    }

    fn prepare(&mut self, net: &Network) -> Result<(), RouteError> {
        if self.height.len() != net.switches {
            return Err(RouteError::text("up-down routing needs one height per switch"));
        }
        if self.ups.is_empty() {
            let end = |edge: u32| net.edge_target[edge as usize];
            let height = |switch: u32| self.height[switch as usize];
            let mut places = HashMap::new();
            for switch in 0..net.switches as u32 {
                let climbs = |&edge: &u32| height(end(edge)) > height(switch);
                let ups: Vec<u32> = net.out_edges(switch).iter().copied().filter(climbs).collect();
                let ends: Vec<u32> = ups.iter().map(|&edge| end(edge)).collect();
                let new = places.len() as u32;
                self.climbs.push(*places.entry(ends).or_insert(new));
                self.ups.push(ups);
                let above = |&edge: &u32| height(net.edge_source[edge as usize]) > height(switch);
                self.from_above.push(net.in_edges(switch).iter().copied().filter(above).collect());
            }
            self.nearest = vec![None; places.len()];
        }
        Ok(())
    }

    /// Returns the least distance of the switches to which one climbs, and whether all have it. They are known before it:
    /// they are higher.
    fn nearest(&mut self, net: &Network, switch: u32) -> (u32, bool) {
        let Self { nearest, climbs, ups, distance, .. } = self;
        *nearest[climbs[switch as usize] as usize].get_or_insert_with(|| {
            let ends =
                || ups[switch as usize].iter().map(|&edge| distance[net.edge_target[edge as usize] as usize]);
            let least = ends().min().unwrap_or(NONE);
            (least, ends().all(|distance| distance == least))
        })
    }

    /// Returns the group of all edges that climb from a switch.
    fn climb(&mut self, net: &Network, groups: &mut Groups, switch: u32) -> u32 {
        let known = &mut self.all_ups[switch as usize];
        if *known == NONE {
            *known = groups.edges(net, &self.ups[switch as usize]);
        }
        *known
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
            for &edge in &self.from_above[switch as usize] {
                let source = net.edge_source[edge as usize];
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
        self.nearest.fill(None);
        for rank in 0..self.highest_first.len() {
            let switch = self.highest_first[rank];
            if self.distance[switch as usize] != NONE {
                continue;
            }
            let (best, all) = self.nearest(net, switch);
            if best == NONE {
                continue;
            }
            out.group[switch as usize] = if all {
                self.climb(net, groups, switch)
            } else {
                let distance = |edge: u32| self.distance[net.edge_target[edge as usize] as usize];
                self.edges.clear();
                self.edges.extend(self.ups[switch as usize].iter().filter(|&&edge| distance(edge) == best));
                groups.edges(net, &self.edges)
            };
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
