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

/// Destinations whose paths are searched together: a bit of [`Places`] for each.
const AT_ONCE: usize = 128;

/// A set of destinations that are searched together.
type Places = u128;

/// Beginnings of one switch that are compared with each other; on irregular networks there is one for each destination.
const FEW: usize = 8;

/// Paths of least weight, such as those over the fewest links of a kind and, among these, over the fewest links. The layer
/// of a packet is the number of hops after its next one.
#[derive(Clone, Debug)]
pub struct LeastWeight {
    /// The most hops after the first of any path, so far.
    pub most: u32,
    /// The least weight of a link that is a hop; lighter ones are none.
    hop: u32,
    /// Per switch: whether packets start there.
    starts: Vec<bool>,
    /// Per switch and weight, the lightest first: the edges that enter it.
    into: Vec<Vec<(u32, Vec<Enter>)>>,
    together: Together,
}

/// An edge into a switch; its source stands here because looking it up would miss the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Enter {
    edge: u32,
    source: u32,
}

/// What is known of the destinations that are searched together.
#[derive(Clone, Debug, Default)]
struct Together {
    /// The destinations, ascending.
    to: Vec<u32>,
    /// Whether all switches reach all of them.
    is_whole: bool,
    /// Per switch: the destinations to which its paths are known.
    settled: Vec<Places>,
    /// By weight: the switches over which paths of this weight may lead, the place of the edges into these, and where to.
    open: BTreeMap<u32, Vec<(u32, u32, Places)>>,
    /// Per switch: those of the present weight.
    ways: Vec<Vec<(u32, Places)>>,
    /// The switches, nearest first, and with what paths to which destinations begin.
    found: Vec<(Begin, Places)>,
    /// Per switch: the first few of these, with all destinations at any distance.
    known: Vec<Vec<(Begin, Places)>>,
    /// Per destination: what `found` says of it; or only what it does not say of the destination before.
    of: Vec<Vec<Begin>>,
    /// Whether `of` has only what changes; None: it is not filled.
    of_changes: Option<bool>,
    edges: Vec<u32>,
    sets: Sets,
}

/// With what the paths from a switch begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Begin {
    switch: u32,
    /// Number of the set of edges.
    set: u32,
    /// Hops after the next one.
    left: u8,
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
    /// their first. Links of at least the weight `hop` are hops; each weighs more than all others of a path. `via`: where
    /// packets start besides the switches of terminals.
    pub fn new(net: &Network, weight: &[u32], hop: u32, via: &[u32]) -> Result<Self, RouteError> {
        if weight.len() != net.links() || weight.contains(&0) || hop == 0 {
            return Err(RouteError::text("each link needs a weight of one or more"));
        }
        let mut into = vec![BTreeMap::<u32, Vec<Enter>>::new(); net.switches];
        for edge in 0..net.edges() as u32 {
            let source = net.edge_source[edge as usize];
            let own = &mut into[net.edge_target[edge as usize] as usize];
            own.entry(weight[net.edge_links(edge)[0] as usize]).or_default().push(Enter { edge, source });
        }
        let into = into.into_iter().map(|own| own.into_iter().collect()).collect();
        let sets = Sets { group: vec![NONE; net.edges()], ..Sets::default() };
        let (ways, known) = (vec![vec![]; net.switches], vec![vec![]; net.switches]);
        let together = Together { ways, known, of: vec![vec![]; AT_ONCE], sets, ..Together::default() };
        let mut starts: Vec<bool> = (0..net.switches as u32).map(|switch| net.senders(switch) > 0).collect();
        // An intermediate switch that does not exist is refused where the table is made.
        via.iter()
            .for_each(|&switch| starts.get_mut(switch as usize).into_iter().for_each(|own| *own = true));
        Ok(Self { most: 0, hop, starts, into, together })
    }

    /// Returns the place of a destination among those that have been searched together; searches for it if it has none.
    fn place(&mut self, net: &Network, to: u32) -> usize {
        self.together.to.binary_search(&to).unwrap_or_else(|_| {
            self.search(net, to);
            0
        })
    }

    /// Searches the paths to a destination, which is the first, and to those after it.
    fn search(&mut self, net: &Network, to: u32) {
        let Self { most, hop, starts, into, together } = self;
        let lived_in = |switch: u32| !net.residents(switch).is_empty();
        let like = (to..net.switches as u32).filter(|&other| lived_in(other) == lived_in(to));
        together.to = like.take(AT_ONCE).collect();
        together.settled.clear();
        together.settled.resize(net.switches, 0);
        together.found.clear();
        together.known.iter_mut().for_each(Vec::clear);
        together.of_changes = None;
        for place in 0..together.to.len() {
            let to = together.to[place];
            together.settled[to as usize] |= 1 << place;
            together.expand(to, &into[to as usize], 0, 1 << place);
        }
        let mut left = (net.switches - 1) * together.to.len();
        while let Some((length, found)) = together.open.pop_first() {
            // Where all links are hops, the next one is not counted; of heavy links it is, as it divides two lanes.
            let hops = if *hop == 1 { length - 1 } else { length / *hop };
            let mut reached = vec![];
            for switch in together.sort(into, &found) {
                let places = together.settle(switch, hops);
                left -= places.count_ones() as usize;
                *most = if starts[switch as usize] { hops.max(*most) } else { *most };
                reached.push((switch, places));
            }
            if left == 0 {
                together.open.clear();
                break;
            }
            reached.iter().for_each(|&(s, places)| together.expand(s, &into[s as usize], length, places));
        }
        together.is_whole = left == 0;
    }
}

impl Together {
    /// Notes that ways to these destinations may lead over a switch.
    fn expand(&mut self, switch: u32, into: &[(u32, Vec<Enter>)], length: u32, reached: Places) {
        for (place, &(weight, _)) in (0..).zip(into) {
            // What is as long as that is no path.
            if let Some(longer) = length.checked_add(weight).filter(|&longer| longer != NONE) {
                self.open.entry(longer).or_default().push((switch, place, reached));
            }
        }
    }

    /// Sorts ways by the switches at which they begin, as far as no shorter ones are known; returns these switches.
    fn sort(&mut self, into: &[Vec<(u32, Vec<Enter>)>], found: &[(u32, u32, Places)]) -> Vec<u32> {
        let mut switches = vec![];
        for &(over, place, reached) in found {
            for &Enter { edge, source } in &into[over as usize][place as usize].1 {
                let open = reached & !self.settled[source as usize];
                if open != 0 {
                    let ways = &mut self.ways[source as usize];
                    if ways.is_empty() {
                        switches.push(source);
                    }
                    ways.push((edge, open));
                }
            }
        }
        switches.sort_unstable();
        switches
    }

    /// Settles the paths that begin at a switch with its ways; returns the destinations that they lead to.
    fn settle(&mut self, switch: u32, hops: u32) -> Places {
        let left = hops.min(u32::from(u8::MAX)) as u8;
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
            let begin = Begin { switch, set, left };
            self.found.push((begin, same));
            let known = &mut self.known[switch as usize];
            match known.iter().position(|one| one.0 == begin) {
                Some(place) => known[place].1 |= same,
                None if known.len() < FEW => known.push((begin, same)),
                None => {}
            }
        }
        ways.clear();
        reached
    }

    /// Sorts what has been found by destinations: all, or what differs from the destination before.
    fn sort_by_destination(&mut self, changes: bool) {
        if self.of_changes == Some(changes) {
            return;
        }
        self.of_changes = Some(changes);
        self.of.iter_mut().for_each(Vec::clear);
        for &(begin, places) in &self.found {
            let mut rest = places;
            if changes {
                let known = self.known[begin.switch as usize].iter().find(|one| one.0 == begin);
                rest &= !(known.map_or(places, |one| one.1) << 1);
            }
            while rest != 0 {
                self.of[rest.trailing_zeros() as usize].push(begin);
                rest &= rest - 1;
            }
        }
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
        let place = self.place(net, to);
        self.together.sort_by_destination(false);
        let Together { of, sets, .. } = &mut self.together;
        out.order.clear();
        out.layer.resize(net.switches, 0);
        for begin in &of[place] {
            out.order.push(begin.switch);
            out.group[begin.switch as usize] = sets.group(net, groups, begin.set);
            out.layer[begin.switch as usize] = begin.left;
        }
        Ok(())
    }

    /// Few switches change from destination to destination, and all that is found of many together is found once.
    fn most_pairs(&self) -> usize {
        1 << 32
    }

    fn changes(
        &mut self,
        net: &Network,
        groups: &mut Groups,
        (before, to): (u32, u32),
        out: &mut Vec<(u32, u32, u8)>,
    ) -> Result<bool, RouteError> {
        let place = self.place(net, to);
        if !self.together.is_whole || place > 0 && self.together.to[place - 1] != before {
            return Ok(false);
        }
        self.together.sort_by_destination(true);
        let Together { of, sets, .. } = &mut self.together;
        out.clear();
        out.extend(of[place].iter().map(|one| (one.switch, sets.group(net, groups, one.set), one.left)));
        Ok(true)
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
