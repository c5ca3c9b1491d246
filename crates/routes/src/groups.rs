//! Groups of links; each set of links has one group.

use std::collections::HashMap;

use crate::{NONE, Network};

/// The groups created so far.
#[derive(Clone, Debug)]
pub struct Groups {
    /// Per group: its switch.
    pub switch: Vec<u32>,
    /// Per group and one more: start of its links in `links`.
    pub start: Vec<u32>,
    /// Links of all groups, ascending within a group.
    pub links: Vec<u32>,
    of_link: Vec<u32>,
    of_edge: Vec<u32>,
    of_set: HashMap<Box<[u32]>, u32>,
    /// Per switch: the set of edges that was asked for last, and its group; the next is mostly the same.
    last: Vec<(Vec<u32>, u32)>,
}

impl Groups {
    /// Returns an empty set of groups.
    pub fn new(network: &Network) -> Self {
        Self {
            switch: vec![],
            start: vec![0],
            links: vec![],
            of_link: vec![NONE; network.links()],
            of_edge: vec![NONE; network.edges()],
            of_set: HashMap::new(),
            last: vec![(vec![], NONE); network.switches],
        }
    }

    /// Returns the links of a group.
    pub fn group(&self, group: u32) -> &[u32] {
        &self.links[self.start[group as usize] as usize..self.start[group as usize + 1] as usize]
    }

    /// Returns the group of a single link.
    pub fn link(&mut self, network: &Network, link: u32) -> u32 {
        if self.of_link[link as usize] == NONE {
            self.of_link[link as usize] = self.push(network.link_source[link as usize], &[link]);
        }
        self.of_link[link as usize]
    }

    /// Returns the group of all links of an edge.
    pub fn edge(&mut self, network: &Network, edge: u32) -> u32 {
        if self.of_edge[edge as usize] == NONE {
            self.of_edge[edge as usize] = match network.edge_links(edge) {
                &[link] => self.link(network, link),
                links => self.push(network.edge_source[edge as usize], links),
            };
        }
        self.of_edge[edge as usize]
    }

    /// Returns the group of all links of several edges of one switch, given in ascending order; at least one.
    pub fn edges(&mut self, network: &Network, edges: &[u32]) -> u32 {
        if let &[edge] = edges {
            return self.edge(network, edge);
        }
        let switch = network.edge_source[edges[0] as usize];
        let (known, group) = &self.last[switch as usize];
        if known == edges {
            return *group;
        }
        let group = self.of_set.get(edges).copied().unwrap_or_else(|| {
            let links = edges.iter().flat_map(|&edge| network.edge_links(edge)).copied();
            let mut links: Vec<u32> = links.collect();
            links.sort_unstable();
            let group = self.push(switch, &links);
            self.of_set.insert(edges.into(), group);
            group
        });
        let (known, last) = &mut self.last[switch as usize];
        known.clear();
        known.extend_from_slice(edges);
        *last = group;
        group
    }

    fn push(&mut self, switch: u32, links: &[u32]) -> u32 {
        self.switch.push(switch);
        self.links.extend_from_slice(links);
        self.start.push(self.links.len() as u32);
        self.switch.len() as u32 - 1
    }
}
