//! The graph with parallel links combined to edges, and groups of links; each set of links has one group.

use std::collections::HashMap;

use crate::{NONE, RouteError, Word};

/// Rows of different lengths in one array.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    start: Vec<u32>,
    items: Vec<u32>,
}

impl Rows {
    /// Returns rows of (row, item) pairs; items of a row keep their order.
    pub(crate) fn new(rows: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut start = vec![0u32; rows + 1];
        pairs.clone().for_each(|(row, _)| start[row as usize + 1] += 1);
        for row in 0..rows {
            start[row + 1] += start[row];
        }
        let mut next = start.clone();
        let mut items = vec![0u32; start[rows] as usize];
        for (row, item) in pairs {
            items[next[row as usize] as usize] = item;
            next[row as usize] += 1;
        }
        Self { start, items }
    }

    pub(crate) fn row(&self, row: u32) -> &[u32] {
        &self.items[self.start[row as usize] as usize..self.start[row as usize + 1] as usize]
    }
}

/// Switches, terminals, links, and the edges between switches.
///
/// An edge is all links from one switch to one other; edges are numbered by (source, target).
#[derive(Clone, Debug)]
pub struct Network {
    /// Number of switches.
    pub switches: usize,
    /// Number of terminals.
    pub terminals: usize,
    /// Per link: vertex it leaves.
    pub link_source: Vec<u32>,
    /// Per link: vertex it enters.
    pub link_target: Vec<u32>,
    /// Per terminal: the link it sends on.
    pub terminal_out: Vec<u32>,
    /// Per terminal: the link it receives on.
    pub terminal_in: Vec<u32>,
    /// Per edge: switch it leaves.
    pub edge_source: Vec<u32>,
    /// Per edge: switch it enters.
    pub edge_target: Vec<u32>,
    edge_links: Rows,
    out_edges: Rows,
    in_edges: Rows,
    residents: Rows,
    senders: Vec<u32>,
    /// Per link (or empty): its one-way ring, or [`NONE`].
    ring: Vec<u32>,
    /// Whether no packets start where a table has no entry for them.
    only_known: bool,
}

impl Network {
    /// Takes packets to come to every switch, not only to those that terminals send to.
    pub fn entered_anywhere(mut self) -> Self {
        // More than one: none is a terminal's own switch that it never sends to.
        self.senders.fill(2);
        self
    }

    /// Takes packets to come to the switches with an entry for them alone: a table of what some pairs of terminals send.
    pub fn entered_where_known(self) -> Self {
        Self { only_known: true, ..self.entered_anywhere() }
    }

    /// Takes links to be of one-way rings in which a place stays free: what waits there for the next link of its ring can
    /// move, so a ring counts as one link. Empty, or a number per link, [`NONE`] for one of no ring.
    pub fn with_rings(self, ring: Vec<u32>) -> Result<Self, RouteError> {
        if !ring.is_empty() && ring.len() != self.links() {
            return Err(RouteError::text("rings need a number per link"));
        }
        Ok(Self { ring, ..self })
    }

    /// Checks the links and combines them to edges.
    pub fn new(
        switches: usize,
        terminals: usize,
        source: Vec<u32>,
        target: Vec<u32>,
    ) -> Result<Self, RouteError> {
        let vertices = switches + terminals;
        if source.len() != target.len() || vertices >= NONE as usize || source.len() >= NONE as usize {
            return Err(RouteError::text("links need one source and one target each"));
        }
        if let Some(link) = (0..source.len()).find(|&l| source[l].max(target[l]) as usize >= vertices) {
            return Err(RouteError::of([Word::Link(link as u32), " has no such vertex".into()]));
        }
        let (terminal_out, terminal_in) = terminal_links(switches, terminals, &source, &target)?;
        let mut between: Vec<(u32, u32, u32)> = (0..source.len())
            .filter(|&l| (source[l].max(target[l]) as usize) < switches)
            .map(|l| (source[l], target[l], l as u32))
            .collect();
        between.sort_unstable();
        let (mut edge_source, mut edge_target, mut members) = (vec![], vec![], vec![]);
        for (from, to, link) in between {
            if edge_source.last() != Some(&from) || edge_target.last() != Some(&to) {
                edge_source.push(from);
                edge_target.push(to);
            }
            members.push((edge_source.len() as u32 - 1, link));
        }
        let homes = (0u32..).zip(&terminal_in).map(|(t, &l)| (source[l as usize], t));
        let residents = Rows::new(switches, homes.filter(|&(home, _)| (home as usize) < switches));
        let mut senders = vec![0; switches];
        let entries = terminal_out.iter().map(|&l| target[l as usize] as usize);
        entries.filter(|&entry| entry < switches).for_each(|entry| senders[entry] += 1);
        Ok(Self {
            switches,
            terminals,
            edge_links: Rows::new(edge_source.len(), members.iter().copied()),
            out_edges: Rows::new(switches, edge_source.iter().copied().zip(0..)),
            in_edges: Rows::new(switches, edge_target.iter().copied().zip(0..)),
            residents,
            senders,
            ring: Vec::new(),
            only_known: false,
            link_source: source,
            link_target: target,
            terminal_out,
            terminal_in,
            edge_source,
            edge_target,
        })
    }

    /// Returns the same network with each link divided into lanes, one after the other, for tables of lanes.
    pub fn divided(&self, lanes: u32) -> Self {
        let each = |ends: &[u32]| ends.iter().flat_map(|&end| vec![end; lanes as usize]).collect();
        let first = |links: &[u32]| links.iter().map(|&link| link * lanes).collect();
        Self {
            link_source: each(&self.link_source),
            link_target: each(&self.link_target),
            terminal_out: first(&self.terminal_out),
            terminal_in: first(&self.terminal_in),
            ring: each(&self.ring),
            ..self.clone()
        }
    }

    /// Returns the number of links.
    pub fn links(&self) -> usize {
        self.link_source.len()
    }

    /// Whether a packet on a link goes on in its ring, whichever of these links it takes.
    pub(crate) fn stays_in_ring(&self, link: u32, next: &[u32]) -> bool {
        let ring = self.ring_of(link);
        ring != NONE && next.iter().all(|&next| self.ring_of(next) == ring)
    }

    /// Returns the ring of a link, NONE if it is in none.
    pub(crate) fn ring_of(&self, link: u32) -> u32 {
        self.ring.get(link as usize).copied().unwrap_or(NONE)
    }

    /// Returns per link the one that stands for it: the first of its ring; None without rings.
    pub(crate) fn first_of_rings(&self) -> Option<Vec<u32>> {
        let mut first = HashMap::new();
        let found = (0..).zip(&self.ring).map(|(link, &ring)| match ring {
            NONE => link,
            _ => *first.entry(ring).or_insert(link),
        });
        (!self.ring.is_empty()).then(|| found.collect())
    }

    /// Returns the number of edges.
    pub fn edges(&self) -> usize {
        self.edge_source.len()
    }

    /// Returns the links of an edge, in ascending order.
    pub fn edge_links(&self, edge: u32) -> &[u32] {
        self.edge_links.row(edge)
    }

    /// Returns the edges that leave a switch, by target.
    pub fn out_edges(&self, switch: u32) -> &[u32] {
        self.out_edges.row(switch)
    }

    /// Returns the edges that enter a switch, by source.
    pub fn in_edges(&self, switch: u32) -> &[u32] {
        self.in_edges.row(switch)
    }

    /// Returns the edge from one switch to another, if any.
    pub fn edge(&self, from: u32, to: u32) -> Option<u32> {
        let edges = self.out_edges(from);
        let place = edges.binary_search_by_key(&to, |&edge| self.edge_target[edge as usize]).ok()?;
        Some(edges[place])
    }

    /// Returns the terminals that receive from a switch, in ascending order.
    pub fn residents(&self, switch: u32) -> &[u32] {
        self.residents.row(switch)
    }

    /// Returns the number of terminals that send to a switch.
    pub fn senders(&self, switch: u32) -> u32 {
        self.senders[switch as usize]
    }

    /// Whether no packets start where this is the entry for them.
    pub(crate) fn leaves_out(&self, entry: u32) -> bool {
        self.only_known && entry == NONE
    }

    /// Returns the switch that a terminal sends to; without switches, the other terminal.
    pub fn entry(&self, terminal: u32) -> u32 {
        self.link_target[self.terminal_out[terminal as usize] as usize]
    }

    /// Returns the switch that a terminal receives from; without switches, the other terminal.
    pub fn home(&self, terminal: u32) -> u32 {
        self.link_source[self.terminal_in[terminal as usize] as usize]
    }
}

type Links = Vec<u32>;

fn terminal_links(
    switches: usize,
    terminals: usize,
    source: &[u32],
    target: &[u32],
) -> Result<(Links, Links), RouteError> {
    let (mut out, mut inward) = (vec![NONE; terminals], vec![NONE; terminals]);
    for link in 0..source.len() {
        let (from, to) = (source[link] as usize, target[link] as usize);
        // Two terminals and the cable between them are a network; in a larger one packets could not pass them.
        if from >= switches && to >= switches && (switches, terminals) != (0, 2) {
            return Err(RouteError::of([
                Word::Link(link as u32),
                " joins two terminals of a network with more than these two".into(),
            ]));
        }
        for (end, slots) in [(from, &mut out), (to, &mut inward)] {
            if end >= switches && std::mem::replace(&mut slots[end - switches], link as u32) != NONE {
                let terminal = Word::Terminal((end - switches) as u32);
                return Err(RouteError::of([terminal, " has more than one link in one direction".into()]));
            }
        }
    }
    match (0..terminals).find(|&t| out[t] == NONE || inward[t] == NONE) {
        Some(t) => {
            let terminal = Word::Terminal(t as u32);
            Err(RouteError::of([terminal, " needs a link to send on and a link to receive on".into()]))
        }
        None => Ok((out, inward)),
    }
}

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
