//! Minimal paths in layers: a packet may move to a higher layer on its way, and within each no dependency has a cycle.
//!
//! The links of each layer are lanes of their own, so the channels are ordered by layer, then within it: no cycle is
//! left (W. J. Dally and C. L. Seitz 1987). A path that changes layers needs fewer of them than one that stays in one
//! (LASH: T. Skeie, O. Lysne and I. Theiss, IPDPS 2002): never more than the longest path has links between switches.
//! With too few lanes the last layer has up\*/down\* paths alone, and packets move there where no other layer has room.

use crate::acyclic::{Layer, Numbers};
use crate::shortest::backward;
use crate::updown::depth_keys;
use crate::{Groups, NONE, Network, RouteError, Scheme, Toward, UpDown};

/// Minimal paths, and the layer in which each switch sends packets to each destination switch.
#[derive(Clone, Debug)]
pub struct Layers {
    /// Per destination switch, then per switch: the layer.
    layer: Vec<u8>,
    /// Pairs of switch and destination from which packets take up\*/down\* paths, of all.
    pub detours: (u64, u64),
    /// Links that are left out of those with which minimal paths go on, of all.
    pub left_out: (u64, u64),
    /// Per destination switch: the edges left out, in ascending order.
    without: Vec<Vec<u32>>,
    last: Option<Last>,
    distance: Vec<u32>,
    order: Vec<u32>,
    edges: Vec<u32>,
}

/// The layer of up*/down* paths.
#[derive(Clone, Debug)]
struct Last {
    layer: u8,
    rule: UpDown,
}

impl Layers {
    /// Finds the layers of all minimal paths, at most `most`; None if these do not suffice.
    ///
    /// `thin`: where one link of several goes on in the same layer, the others are left out rather than a new layer
    /// begun. With `height`s of switches the last layer has up\*/down\* paths, and there always is a solution.
    pub fn new(
        net: &Network,
        most: u8,
        thin: bool,
        height: Option<Vec<i64>>,
    ) -> Result<Option<Self>, RouteError> {
        let last = height.map(|height| Last { layer: most - 1, rule: UpDown::new(height) });
        let mut finder = Finder::new(net, most - u8::from(last.is_some()), thin);
        let mut found = Self {
            layer: vec![0; net.switches * net.switches],
            detours: (0, 0),
            left_out: (0, 0),
            without: vec![vec![]; net.switches],
            last,
            distance: vec![],
            order: vec![],
            edges: vec![],
        };
        // The groups of the table, which is made later, are others.
        let mut rule = found.last.as_ref().map(|last| last.rule.clone());
        let (mut groups, mut down) = (Groups::new(net), Toward::default());
        for to in (0..net.switches as u32).filter(|&to| !net.residents(to).is_empty()) {
            let row = &mut found.layer[to as usize * net.switches..][..net.switches];
            let mut escape = None;
            if let (Some(last), Some(rule)) = (&found.last, &mut rule) {
                down.reset(net.switches);
                rule.toward(net, &mut groups, to, &mut down)?;
                escape = Some(Escape { layer: last.layer, groups: &groups, toward: &down });
            }
            if !finder.place(to, row, escape.as_ref()) {
                return Ok(None);
            }
            let escaped =
                found.last.as_ref().map_or(0, |last| row.iter().filter(|&&l| l == last.layer).count());
            found.detours = (found.detours.0 + escaped as u64, found.detours.1 + net.switches as u64);
            found.left_out.0 += finder.without.len() as u64;
            found.left_out.1 += finder.all;
            finder.without.sort_unstable();
            found.without[to as usize] = std::mem::take(&mut finder.without);
        }
        Ok(Some(found))
    }

    /// Returns the number of layers.
    pub fn count(&self) -> usize {
        self.layer.iter().max().map_or(1, |&last| last as usize + 1)
    }
}

impl Scheme for Layers {
    fn toward(
        &mut self,
        net: &Network,
        groups: &mut Groups,
        to: u32,
        out: &mut Toward,
    ) -> Result<(), RouteError> {
        let row = &self.layer[to as usize * net.switches..][..net.switches];
        out.layer.extend_from_slice(row);
        out.order.clear();
        if let Some(last) = &mut self.last {
            last.rule.toward(net, groups, to, out)?;
            out.order.retain(|&switch| row[switch as usize] == last.layer);
        }
        backward(net, to, |_| true, &mut self.distance, &mut self.order);
        let without = &self.without[to as usize];
        for &switch in &self.order {
            if self.last.as_ref().is_some_and(|last| row[switch as usize] == last.layer) {
                continue;
            }
            let nearer = self.distance[switch as usize] - 1;
            let short = |&edge: &u32| self.distance[net.edge_target[edge as usize] as usize] == nearer;
            let kept = net.out_edges(switch).iter().copied().filter(short);
            self.edges.clear();
            self.edges.extend(kept.filter(|edge| without.binary_search(edge).is_err()));
            out.group[switch as usize] = groups.edges(net, &self.edges);
            out.order.push(switch);
        }
        Ok(())
    }
}

/// The up*/down* paths to the destination at hand.
struct Escape<'a> {
    layer: u8,
    groups: &'a Groups,
    toward: &'a Toward,
}

impl Escape<'_> {
    /// Lets packets from a switch take these paths, and so those from all switches on them.
    fn mark(&self, net: &Network, switch: u32, to: u32, row: &mut [u8]) {
        let mut open = vec![switch];
        while let Some(switch) = open.pop() {
            if switch != to && row[switch as usize] != self.layer {
                row[switch as usize] = self.layer;
                let group = self.toward.group[switch as usize];
                let links = if group == NONE { &[] } else { self.groups.group(group) };
                open.extend(links.iter().map(|&link| net.link_target[link as usize]));
            }
        }
    }
}

/// The dependencies of edges, layer by layer, and the destination at hand.
struct Finder<'a> {
    net: &'a Network,
    most: u8,
    thin: bool,
    layers: Vec<Layer>,
    /// Edges towards the middle of the network first, farthest first, then those away from it.
    first_order: Vec<u32>,
    numbers: Numbers,
    distance: Vec<u32>,
    order: Vec<u32>,
    /// Per switch: edges by which packets for the destination come.
    come: Vec<Vec<u32>>,
    without: Vec<u32>,
    all: u64,
}

impl<'a> Finder<'a> {
    fn new(net: &'a Network, most: u8, thin: bool) -> Self {
        let numbers = Numbers::new(net.switches, &net.edge_source, &net.edge_target);
        let come = vec![vec![]; net.switches];
        let first_order = first_order(net);
        let (distance, order, without) = (vec![], vec![], vec![]);
        Self { net, most, thin, layers: vec![], first_order, numbers, distance, order, come, without, all: 0 }
    }

    fn reach(&mut self, layer: u8) {
        while self.layers.len() <= layer as usize {
            self.layers.push(Layer::new(&self.first_order, &self.numbers));
        }
    }

    /// Finds the layer in which each switch sends packets to `to`; false if at some switch none has room.
    fn place(&mut self, to: u32, row: &mut [u8], escape: Option<&Escape<'_>>) -> bool {
        backward(self.net, to, |_| true, &mut self.distance, &mut self.order);
        self.come.iter_mut().for_each(Vec::clear);
        self.without.clear();
        self.all = 0;
        row.fill(0);
        let last = escape.map(|escape| escape.layer);
        let order = std::mem::take(&mut self.order);
        let fits = order.iter().rev().all(|&switch| {
            if Some(row[switch as usize]) == last || self.place_at(switch, row, last) {
                return true;
            }
            escape.inspect(|escape| escape.mark(self.net, switch, to, row)).is_some()
        });
        self.order = order;
        fits
    }

    /// Finds the layer for one switch, after all that are farther away.
    fn place_at(&mut self, switch: u32, row: &mut [u8], last: Option<u8>) -> bool {
        let mut come = std::mem::take(&mut self.come[switch as usize]);
        let of = |edge: u32| row[self.net.edge_source[edge as usize] as usize];
        come.retain(|&edge| Some(of(edge)) != last);
        if come.is_empty() && self.net.senders(switch) == 0 {
            return true;
        }
        let mut layer = come.iter().map(|&edge| of(edge)).max().unwrap_or(0);
        if layer >= self.most {
            return false;
        }
        let nearer = self.distance[switch as usize] - 1;
        let closer = |edge: &u32| self.distance[self.net.edge_target[*edge as usize] as usize] == nearer;
        let mut hops: Vec<u32> = self.net.out_edges(switch).iter().copied().filter(closer).collect();
        self.all += hops.len() as u64;
        come.retain(|&edge| of(edge) == layer);
        self.reach(layer);
        if !self.fit(layer, &come, &hops) {
            let kept =
                if self.thin || layer + 1 == self.most { self.some(layer, &come, &hops) } else { vec![] };
            if !kept.is_empty() {
                self.without.extend(hops.iter().filter(|&edge| !kept.contains(edge)));
                hops = kept;
            } else if layer + 1 < self.most {
                layer += 1;
            } else {
                return false;
            }
        }
        row[switch as usize] = layer;
        for &next in &hops {
            self.come[self.net.edge_target[next as usize] as usize].push(next);
        }
        true
    }

    /// Returns whether packets on all edges of `come` may wait for all of `hops`, and then adds these dependencies.
    fn fit(&mut self, layer: u8, come: &[u32], hops: &[u32]) -> bool {
        let pairs = hops.iter().flat_map(|&next| come.iter().map(move |&edge| (edge, next)));
        self.layers[layer as usize].fits(&self.numbers, pairs)
    }

    /// Returns the next edges for which packets on all of `come` may wait.
    fn some(&mut self, layer: u8, come: &[u32], hops: &[u32]) -> Vec<u32> {
        hops.iter().copied().filter(|&next| self.fit(layer, come, &[next])).collect()
    }
}

/// Edges that climb to the switch with most neighbours, from far to near, then the others from near to far.
pub(crate) fn first_order(net: &Network) -> Vec<u32> {
    let middle = (0..net.switches as u32).max_by_key(|&switch| net.out_edges(switch).len()).unwrap_or(0);
    let height = depth_keys(net, middle);
    let key = |edge: &u32| {
        let (from, to) = (net.edge_source[*edge as usize] as usize, net.edge_target[*edge as usize] as usize);
        if height[to] > height[from] { (0, height[from]) } else { (1, -height[from]) }
    };
    let mut order: Vec<u32> = (0..net.edges() as u32).collect();
    order.sort_by_key(key);
    order
}
