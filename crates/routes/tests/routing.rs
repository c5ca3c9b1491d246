//! The rules on small and random networks: all packets arrive, and dependencies are as promised.

use fabriloom_routes::{
    DimensionOrder, NONE, Network, NextHops, OWN, Options, Scheme, SelfRouting, Sharing, ShortestPath,
    Spread, Table, Traffic, UpDown, View, Wrap, assemble, channel_order, dependency_cycle, depth_keys,
    levels, loads, path, proved, verify,
};
use proptest::prelude::*;

/// Two-way cables between switches, then terminals one after another on the switches given.
fn network(switches: usize, cables: &[(u32, u32)], homes: &[u32]) -> Network {
    let (mut source, mut target) = (vec![], vec![]);
    let ends = (0u32..).zip(homes).map(|(t, &home)| (switches as u32 + t, home));
    for (a, b) in cables.iter().copied().chain(ends) {
        source.extend([a, b]);
        target.extend([b, a]);
    }
    Network::new(switches, homes.len(), source, target).unwrap()
}

/// A torus or grid with its coordinates.
fn lattice(shape: &[usize], per_switch: usize, parallel: usize, wrap: bool) -> (Network, Vec<u32>) {
    let switches: usize = shape.iter().product();
    let (mut coordinates, mut cables) = (vec![], vec![]);
    for switch in 0..switches {
        let mut stride = switches;
        for &size in shape {
            stride /= size;
            let own = switch / stride % size;
            coordinates.push(own as u32);
            let next = switch - own * stride + (own + 1) % size * stride;
            if own + 1 < size || (wrap && size > 2) {
                cables.extend(vec![(switch as u32, next as u32); parallel]);
            }
        }
    }
    let homes: Vec<u32> = (0..switches * per_switch).map(|t| (t / per_switch) as u32).collect();
    (network(switches, &cables, &homes), coordinates)
}

fn table(net: &Network, scheme: &mut impl Scheme, spread: Spread, via: &[u32]) -> Table {
    assemble(net, scheme, Options { spread, via, shared_above: usize::MAX, runs_above: usize::MAX }).unwrap()
}

struct Whole {
    table: Table,
    class: Vec<u32>,
    via: Vec<u32>,
    via_class: Vec<u32>,
}

impl Whole {
    fn new(net: &Network, table: Table, via: &[u32]) -> Self {
        let classes = net.terminals as u32;
        let via_class = (classes..).take(via.len()).collect();
        Self { table, class: (0..classes).collect(), via: via.to_vec(), via_class }
    }

    fn view(&self) -> View<'_> {
        View {
            group_start: &self.table.groups.start,
            group_links: &self.table.groups.links,
            route: &self.table.route,
            route_start: &self.table.route_start,
            route_end: &self.table.route_end,
            class_column: &self.table.class_column,
            class_exit: &self.table.class_exit,
            classes: self.table.classes,
            terminal_class: &self.class,
            via_switch: &self.via,
            via_class: &self.via_class,
        }
    }
}

fn whole(net: &Network, mut scheme: impl Scheme, spread: Spread, via: &[u32]) -> Whole {
    let table = table(net, &mut scheme, spread, via);
    Whole::new(net, table, via)
}

/// The cycle is one: each link enters the switch that the next one leaves.
fn assert_cycle(net: &Network, cycle: &[u32]) {
    assert!(cycle.len() > 1);
    for (place, &link) in cycle.iter().enumerate() {
        let next = cycle[(place + 1) % cycle.len()];
        assert_eq!(net.link_target[link as usize], net.link_source[next as usize]);
    }
}

fn torus(shape: &[usize], wrap: Wrap) -> (Network, Whole) {
    let (net, coordinates) = lattice(shape, 2, 2, wrap != Wrap::Line);
    let order: Vec<usize> = (0..shape.len()).collect();
    let scheme = DimensionOrder::new(&net, shape, &coordinates, &order, wrap).unwrap();
    let whole = whole(&net, scheme, Spread::Adaptive, &[]);
    verify(&net, whole.view()).unwrap();
    (net, whole)
}

#[test]
fn dimension_order_has_no_cycle_on_grids() {
    for shape in [&[5][..], &[4, 3], &[2, 2, 2, 2], &[3, 1, 4]] {
        let (net, whole) = torus(shape, Wrap::Line);
        assert_eq!(dependency_cycle(&net, whole.view(), false).unwrap(), None);
    }
}

#[test]
fn a_minimal_torus_has_a_cycle_and_edges_without_transit_break_it() {
    for shape in [&[5][..], &[8], &[4, 3], &[4, 4], &[5, 6], &[3, 4, 5]] {
        let (net, whole) = torus(shape, Wrap::Minimal);
        assert_cycle(&net, &dependency_cycle(&net, whole.view(), false).unwrap().expect("a cycle"));
        let (net, whole) = torus(shape, Wrap::NoEdgeTransit);
        assert_eq!(dependency_cycle(&net, whole.view(), false).unwrap(), None);
    }
}

#[test]
fn service_levels_break_the_cycles_of_a_torus() {
    for shape in [&[5][..], &[4, 3], &[5, 6], &[3, 4, 5]] {
        let (net, whole) = torus(shape, Wrap::Minimal);
        let (level, columns) = (levels(&net, whole.view(), 16, &[]).unwrap().unwrap(), net.terminals);
        let most = level.iter().max().copied().unwrap();
        assert!(most > 0);
        assert_eq!(levels(&net, whole.view(), most, &[]).unwrap(), None);
        for one in 0..=most {
            let mut of_level = whole.table.clone();
            keep_reached(&net, &mut of_level, &mut |switch, column| level[switch * columns + column] == one);
            let known = net.clone().entered_where_known();
            let own = Whole::new(&net, of_level, &[]);
            assert_eq!(dependency_cycle(&known, own.view(), false).unwrap(), None);
        }
    }
}

/// Leaves the entries that packets meet which start where a predicate on switch and column says so.
fn keep_reached(net: &Network, table: &mut Table, starts: &mut dyn FnMut(usize, usize) -> bool) {
    let columns = net.terminals;
    let mut met = vec![false; table.route.len()];
    for column in 0..columns {
        let mut open: Vec<usize> = (0..net.switches).filter(|&switch| starts(switch, column)).collect();
        while let Some(switch) = open.pop() {
            if std::mem::replace(&mut met[switch * columns + column], true) {
                continue;
            }
            let group = table.groups.group(table.route[switch * columns + column] >> 1);
            let onward = group.iter().map(|&link| net.link_target[link as usize] as usize);
            open.extend(onward.filter(|&vertex| vertex < net.switches));
        }
    }
    for (entry, _) in table.route.iter_mut().zip(met).filter(|(_, met)| !met) {
        *entry = NONE;
    }
}

#[test]
fn edges_without_transit_relieve_the_middle_of_a_grid() {
    let busiest = |(net, whole): (Network, Whole)| {
        let loads = loads(&net, whole.view(), Traffic::Uniform, Sharing::Even).unwrap();
        let between = |&l: &usize| (net.link_source[l].max(net.link_target[l]) as usize) < net.switches;
        (0..net.links()).filter(between).map(|l| loads[l]).fold(0.0, f64::max)
    };
    let gain = busiest(torus(&[8, 8], Wrap::Line)) / busiest(torus(&[8, 8], Wrap::NoEdgeTransit));
    assert!((1.15..1.35).contains(&gain), "{gain}");
}

#[test]
fn two_terminals_and_a_cable_are_a_network() {
    let net = Network::new(0, 2, vec![0, 1], vec![1, 0]).unwrap();
    let table = whole(&net, ShortestPath::new(NextHops::All), Spread::Adaptive, &[]);
    let view = table.view();
    verify(&net, view).unwrap();
    assert_eq!(dependency_cycle(&net, view, false).unwrap(), None);
    assert_eq!(path(&net, view, 1, 0, None).unwrap(), [1]);
    assert_eq!(loads(&net, view, Traffic::Uniform, Sharing::Even).unwrap(), [1.0, 1.0]);
    let one = Traffic::Pairs { source: &[1], target: &[0], rate: &[3.0] };
    assert_eq!(loads(&net, view, one, Sharing::Even).unwrap(), [0.0, 3.0]);
    assert!(Network::new(0, 3, vec![0, 1, 2], vec![1, 2, 0]).is_err());
}

#[test]
fn missing_ways_are_named() {
    let net = network(3, &[(0, 1)], &[0, 1, 2]);
    let options =
        Options { spread: Spread::Adaptive, via: &[], shared_above: usize::MAX, runs_above: usize::MAX };
    let error = assemble(&net, &mut ShortestPath::new(NextHops::All), options).unwrap_err();
    assert_eq!(error.to_string(), "no way from switch 2 to terminal 0 at switch 0");
}

#[test]
fn loops_dead_ends_and_wrong_arrivals_are_named() {
    let net = network(3, &[(0, 1), (1, 2)], &[0, 1, 2]);
    let good = whole(&net, ShortestPath::new(NextHops::All), Spread::Adaptive, &[]);
    let entry = |table: &Table, link: u32| {
        2 * (0..table.groups.switch.len() as u32).find(|&g| table.groups.group(g) == [link]).unwrap()
    };
    let fault = |change: &dyn Fn(&mut Table)| {
        let mut bad = good.table.clone();
        change(&mut bad);
        verify(&net, Whole::new(&net, bad, &[]).view()).unwrap_err().to_string()
    };
    let looping = fault(&|t| t.route[3 + 2] = entry(t, 1));
    assert_eq!(looping, "packets for terminal 2 run in a loop: switch 0 > switch 1 > switch 0");
    let dead = fault(&|t| t.route[3 + 2] = NONE);
    assert_eq!(dead, "packets for terminal 2 come to a dead end: switch 0 > switch 1");
    let wrong = fault(&|t| t.route[3 + 2] = t.route[3 + 1]);
    assert_eq!(wrong, "packets for terminal 2 arrive elsewhere: switch 0 > switch 1 > terminal 1");
    let stripped = fault(&|t| t.route[2] |= 1);
    assert_eq!(stripped, "packets for terminal 2 lose their header before they arrive: switch 0");
    let alien = fault(&|t| t.route[2] = t.route[3 + 2]);
    assert!(alien.contains("names a group of another switch than switch 0"), "{alien}");
}

#[test]
fn destinations_are_dealt_evenly_in_every_stage() {
    // A Clos of 4 terminal switches with 4 terminals and 2 centres with 2 parallel links each.
    let cables: Vec<(u32, u32)> = (0..4).flat_map(|e| [(e, 4), (e, 4), (e, 5), (e, 5)]).collect();
    let homes: Vec<u32> = (0..16).map(|t| t / 4).collect();
    let net = network(6, &cables, &homes);
    let heights = vec![0, 0, 0, 0, 1, 1];
    for spread in [Spread::Turns, Spread::Runs, Spread::Adaptive] {
        let whole = whole(&net, UpDown::new(heights.clone()), spread, &[4, 5]);
        verify(&net, whole.view()).unwrap();
        assert_eq!(dependency_cycle(&net, whole.view(), false).unwrap(), None);
        let single = whole.table.groups.start.windows(2).all(|pair| pair[1] - pair[0] == 1);
        assert_eq!(single, spread != Spread::Adaptive);
    }
    let whole = whole(&net, UpDown::new(heights), Spread::Turns, &[]);
    for switch in 0..4 {
        let mut used = vec![0; net.links()];
        for class in (0..16).filter(|class| class / 4 != switch) {
            let group = whole.view().entry(&net, switch, class) >> 1;
            used[whole.view().group(group)[0] as usize] += 1;
        }
        let ups: Vec<i32> = (0..net.links()).filter(|&l| used[l] > 0).map(|l| used[l]).collect();
        assert_eq!(ups, [3, 3, 3, 3]);
    }
    let load = loads(&net, whole.view(), Traffic::Uniform, Sharing::Even).unwrap();
    assert!((0..32).all(|link| (load[link] - 0.8).abs() < 1e-9), "{:?}", &load[..32]);
}

#[test]
fn the_header_of_an_intermediate_switch_is_deleted_on_entry_to_it() {
    let (net, coordinates) = lattice(&[3, 3], 1, 2, false);
    let scheme = DimensionOrder::new(&net, &[3, 3], &coordinates, &[0, 1], Wrap::Line).unwrap();
    let via: Vec<u32> = (0..9).collect();
    let whole = whole(&net, scheme, Spread::Adaptive, &via);
    verify(&net, whole.view()).unwrap();
    assert_cycle(
        &net,
        &dependency_cycle(&net, whole.view(), false).unwrap().expect("two phases on one set of links"),
    );
    let links = path(&net, whole.view(), 0, 8, Some(4)).unwrap();
    assert_eq!(links.len(), 6);
    let load = loads(&net, whole.view(), Traffic::Uniform, Sharing::Even).unwrap();
    let mean = load.iter().sum::<f64>() / 9.0;
    // Mean distance in a 3 x 3 grid: 16/9 to an intermediate, 16/9 from it, and the two terminal links.
    assert!((mean - (2.0 + 32.0 / 9.0)).abs() < 1e-9, "{mean}");
}

#[test]
fn self_routing_demands_a_single_way() {
    let net = Network::new(3, 2, vec![3, 0, 1, 0, 2, 4], vec![0, 1, 2, 2, 3, 0]);
    assert!(net.is_err(), "terminal 1 receives nothing");
    // Terminals 4 and 5 on a diamond 0 > {1, 2} > 3 of one-way links.
    let (source, target) = (vec![4, 5, 0, 0, 1, 2, 3, 3], vec![0, 0, 1, 2, 3, 3, 4, 5]);
    let net = Network::new(4, 2, source, target).unwrap();
    let options =
        Options { spread: Spread::Adaptive, via: &[], shared_above: usize::MAX, runs_above: usize::MAX };
    let error = assemble(&net, &mut SelfRouting::default(), options).unwrap_err().to_string();
    assert_eq!(
        error,
        "not self-routing: from switch 0 the way to switch 3 leads through switch 1 and through switch 2"
    );
    let both = whole(&net, ShortestPath::new(NextHops::All), Spread::Adaptive, &[]);
    verify(&net, both.view()).unwrap();
}

#[test]
fn equal_sets_of_links_are_one_group() {
    let (net, coordinates) = lattice(&[4, 4], 3, 2, false);
    let scheme = DimensionOrder::new(&net, &[4, 4], &coordinates, &[1, 0], Wrap::Line).unwrap();
    let whole = whole(&net, scheme, Spread::Adaptive, &[]);
    assert_eq!(whole.table.groups.switch.len(), 48 + 48, "one per edge and one per terminal");
}

/// A connected multigraph of two-way cables with terminals.
fn graphs() -> impl Strategy<Value = Network> {
    (2u32..14).prop_flat_map(|switches| {
        let parents = proptest::collection::vec(any::<u32>(), switches as usize - 1);
        let more = proptest::collection::vec((0..switches, 0..switches), 0..20);
        let homes = proptest::collection::vec(0..switches, 2..12);
        (parents, more, homes).prop_map(move |(parents, more, homes)| {
            let tree = (1u32..).zip(parents).map(|(switch, parent)| (switch, parent % switch));
            let cables: Vec<_> = tree.chain(more).filter(|(a, b)| a != b).collect();
            network(switches as usize, &cables, &homes)
        })
    })
}

fn spreads() -> impl Strategy<Value = Spread> {
    prop_oneof![Just(Spread::Adaptive), Just(Spread::Turns), Just(Spread::Runs)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_arrives_on_any_graph(net in graphs(), spread in spreads(), first in any::<bool>(), root in 0u32..14) {
        let hops = if first { NextHops::First } else { NextHops::All };
        let via: Vec<u32> = (0..net.switches as u32).collect();
        let short = whole(&net, ShortestPath::new(hops), spread, &via);
        prop_assert_eq!(verify(&net, short.view()), Ok(()));
        if let Some(cycle) = dependency_cycle(&net, short.view(), false).unwrap() {
            assert_cycle(&net, &cycle);
        }
        let heights = depth_keys(&net, root % net.switches as u32);
        let legal = whole(&net, UpDown::new(heights), spread, &[]);
        prop_assert_eq!(verify(&net, legal.view()), Ok(()));
        prop_assert_eq!(dependency_cycle(&net, legal.view(), false).unwrap(), None);
        prop_assert!(proved(&net, legal.view()).unwrap());
        for view in [short.view(), legal.view()] {
            for target in 0..net.terminals as u32 {
                let way = path(&net, view, 0, target, None).unwrap();
                prop_assert_eq!(net.link_target[way[way.len() - 1] as usize], net.switches as u32 + target);
            }
        }
    }

    /// Following the packets class by class is the judge. Entries are also moved, taken away or made to strip a header.
    #[test]
    fn what_runs_prove_is_so_when_packets_are_followed(
        (net, is_legal) in (graphs(), any::<bool>()),
        (spread, shared_above) in (spreads(), prop_oneof![Just(0), Just(usize::MAX)]),
        wrong in proptest::collection::vec((any::<usize>(), any::<usize>(), 0..4), 0..4),
    ) {
        let options = Options { spread, via: &[], shared_above, runs_above: usize::MAX };
        let table = if is_legal {
            assemble(&net, &mut UpDown::new(depth_keys(&net, 0)), options)
        } else {
            assemble(&net, &mut ShortestPath::new(NextHops::All), options)
        };
        let mut table = table.unwrap();
        let columns = table.route.len() / net.switches;
        for (place, from, how) in wrong {
            let place = place % table.route.len();
            let other = table.route[place / columns * columns + from % columns];
            let own = table.route[place];
            table.route[place] = match how {
                0 => NONE,
                1 if own < OWN => own | 1,
                _ if own == OWN || other == OWN => own,
                _ => other,
            };
        }
        let whole = Whole::new(&net, table, &[]);
        let arrives = verify(&net, whole.view());
        if proved(&net, whole.view()).unwrap() {
            prop_assert_eq!(&arrives, &Ok(()));
        }
        if arrives.is_ok() {
            let order = channel_order(&net, whole.view()).unwrap();
            prop_assert_eq!(order.is_some(), dependency_cycle(&net, whole.view(), false).unwrap().is_none());
            prop_assert!(order.is_some() || !proved(&net, whole.view()).unwrap());
        }
    }

    #[test]
    fn the_shortest_ways_use_least_length(net in graphs(), seed in any::<u64>(), through in any::<bool>()) {
        let via: Vec<u32> = if through { (0..net.switches as u32).collect() } else { vec![] };
        let whole = whole(&net, ShortestPath::new(NextHops::All), Spread::Adaptive, &via);
        let lengths: Vec<f64> =
            (0..net.links() as u64).map(|link| ((seed ^ link).wrapping_mul(0x9E37_79B9) % 97) as f64).collect();
        let [even, shortest, other] = [Sharing::Even, Sharing::Shortest(&lengths), Sharing::Shortest(&vec![1.0; net.links()])]
            .map(|sharing| loads(&net, whole.view(), Traffic::Uniform, sharing).unwrap());
        let used = |load: &[f64]| load.iter().zip(&lengths).map(|(load, length)| load * length).sum::<f64>();
        prop_assert!(used(&shortest) <= used(&even) + 1e-6 && used(&shortest) <= used(&other) + 1e-6);
        let [packets, links] = [&shortest, &even].map(|load| load.iter().sum::<f64>());
        prop_assert!((packets - links).abs() < 1e-6, "all these ways have as many links");
    }

    #[test]
    fn loads_of_single_paths_are_the_paths(net in graphs(), first in any::<u32>(), second in any::<u32>()) {
        let whole = whole(&net, ShortestPath::new(NextHops::First), Spread::Turns, &[]);
        let terminals = net.terminals as u32;
        let (from, to) = (first % terminals, second % terminals);
        prop_assume!(from != to);
        let traffic = Traffic::Pairs { source: &[from], target: &[to], rate: &[0.5] };
        let load = loads(&net, whole.view(), traffic, Sharing::Even).unwrap();
        let way = path(&net, whole.view(), from, to, None).unwrap();
        for (link, &load) in (0u32..).zip(&load) {
            prop_assert_eq!(load, if way.contains(&link) { 0.5 } else { 0.0 });
        }
    }
}

#[test]
fn terminals_of_a_switch_that_share_a_column_have_the_entries_of_the_full_table() {
    for (shape, via) in [(&[5][..], &[][..]), (&[3, 4], &[]), (&[3, 3], &[2, 5, 7])] {
        let (net, coordinates) = lattice(shape, 3, 2, true);
        let order: Vec<usize> = (0..shape.len()).collect();
        let all = [(0, usize::MAX), (usize::MAX, usize::MAX), (0, 0)].map(|(shared_above, runs_above)| {
            let wrap = if via.is_empty() { Wrap::Minimal } else { Wrap::NoEdgeTransit };
            let mut scheme = DimensionOrder::new(&net, shape, &coordinates, &order, wrap).unwrap();
            let options = Options { spread: Spread::Adaptive, via, shared_above, runs_above };
            Whole::new(&net, assemble(&net, &mut scheme, options).unwrap(), via)
        });
        let [shared, full, runs] = [0, 1, 2].map(|at| all[at].view());
        assert_eq!(runs.route_start.is_empty(), !via.is_empty(), "tables with intermediates have no runs");
        assert!(shared.route.len() < full.route.len() && shared.group_links == full.group_links);
        assert!(runs.group_links == full.group_links);
        for switch in 0..net.switches as u32 {
            for class in 0..full.classes as u32 {
                let entries = [shared, full, runs].map(|view| view.entry(&net, switch, class));
                assert_eq!(entries, [entries[0]; 3], "{switch} {class}");
            }
        }
        assert_eq!([shared, runs].map(|view| verify(&net, view)), [Ok(()), Ok(())]);
        let [one, other, third] =
            [shared, full, runs].map(|view| dependency_cycle(&net, view, false).unwrap());
        assert!(one == other && one == third);
        assert!(one.is_some() || shape != [5]);
        assert_eq!(proved(&net, shared).unwrap(), proved(&net, runs).unwrap());
        let [one, other, third] =
            [shared, full, runs].map(|view| loads(&net, view, Traffic::Uniform, Sharing::Even).unwrap());
        assert!(one == other && one == third);
    }
}

proptest! {
    /// Made by what changes from destination to destination, in dimension order, or from whole columns.
    #[test]
    fn runs_have_the_entries_of_the_full_table(
        shape in proptest::collection::vec(1usize..6, 1..4),
        turn in 0usize..4,
        wrap in prop_oneof![Just(Wrap::Minimal), Just(Wrap::NoEdgeTransit), Just(Wrap::Line)],
        by_tree in any::<bool>(),
        strange in any::<u64>(),
    ) {
        prop_assume!(shape.iter().product::<usize>() > 1);
        let (net, coordinates) = lattice(&shape, 2, 1, wrap != Wrap::Line);
        let mut order: Vec<usize> = (0..shape.len()).collect();
        order.rotate_left(turn % shape.len());
        let made = [usize::MAX, 0].map(|runs_above| {
            let options = Options { spread: Spread::Adaptive, via: &[], shared_above: 0, runs_above };
            let table = if by_tree {
                assemble(&net, &mut UpDown::new(depth_keys(&net, 0)), options)
            } else {
                assemble(&net, &mut DimensionOrder::new(&net, &shape, &coordinates, &order, wrap).unwrap(), options)
            };
            Whole::new(&net, table.unwrap(), &[])
        });
        let [full, runs] = [0, 1].map(|at| made[at].view());
        prop_assert!(full.group_links == runs.group_links && full.group_start == runs.group_start);
        prop_assert!(full.class_column == runs.class_column && full.class_exit == runs.class_exit);
        for switch in 0..net.switches {
            let own = &full.route[switch * net.switches..(switch + 1) * net.switches];
            let ends = own.windows(2).enumerate().filter(|(_, pair)| pair[0] != pair[1]);
            let ends: Vec<u32> = ends.map(|(at, _)| at as u32 + 1).chain([net.switches as u32]).collect();
            let range = runs.route_start[switch] as usize..runs.route_start[switch + 1] as usize;
            prop_assert_eq!(&runs.route_end[range.clone()], &ends, "as few runs as there can be");
            let found: Vec<u32> = ends.iter().map(|&end| own[end as usize - 1]).collect();
            prop_assert_eq!(&runs.route[range], &found);
        }
        let mut wrong = made[1].table.clone();
        let place = strange as usize % wrong.route_end.len();
        wrong.route_end[place] = 0;
        prop_assert!(verify(&net, Whole::new(&net, wrong, &[]).view()).is_err());
    }
}

#[test]
fn a_shared_column_leads_to_one_switch_and_each_class_leaves_it() {
    let (net, coordinates) = lattice(&[3], 2, 1, false);
    let mut scheme = DimensionOrder::new(&net, &[3], &coordinates, &[0], Wrap::Line).unwrap();
    let options = Options { spread: Spread::Adaptive, via: &[], shared_above: 0, runs_above: usize::MAX };
    let table = assemble(&net, &mut scheme, options).unwrap();
    let fails = |change: &dyn Fn(&mut Table)| {
        let mut other = table.clone();
        change(&mut other);
        verify(&net, Whole::new(&net, other, &[]).view()).unwrap_err().to_string()
    };
    assert!(fails(&|table| table.route[3] = OWN).contains("another switch"));
    assert!(fails(&|table| table.class_exit.swap(0, 2)).contains("another switch"));
    assert!(fails(&|table| table.class_exit.swap(0, 1)).contains("arrive elsewhere"));
    assert!(fails(&|table| table.class_column[1] = 9).contains("does not exist"));
}

/// Compares the loads by blocks of destinations with those pair by pair.
fn assert_loads_of_runs(net: &Network, scheme: &mut impl Scheme) {
    let options = Options { spread: Spread::Adaptive, via: &[], shared_above: 0, runs_above: 0 };
    let whole = Whole::new(net, assemble(net, scheme, options).unwrap(), &[]);
    assert!(!whole.table.route_start.is_empty());
    let terminals = net.terminals as u32;
    let pairs = (0..terminals).flat_map(|from| (0..terminals).map(move |to| (from, to)));
    let (source, target): (Vec<u32>, Vec<u32>) = pairs.filter(|(from, to)| from != to).unzip();
    let rate = vec![1.0 / f64::from(terminals - 1); source.len()];
    let each = Traffic::Pairs { source: &source, target: &target, rate: &rate };
    let found =
        [Traffic::Uniform, each].map(|traffic| loads(net, whole.view(), traffic, Sharing::Even).unwrap());
    for (one, other) in found[0].iter().zip(&found[1]) {
        assert!((one - other).abs() < 1e-9, "{one} {other}");
    }
}

#[test]
fn loads_of_runs_are_those_of_all_pairs() {
    for (shape, each) in [(&[5][..], 1), (&[12, 9], 2), (&[16, 4], 1), (&[3, 4, 5], 3), (&[8, 8, 8], 1)] {
        for wrap in [Wrap::Minimal, Wrap::NoEdgeTransit, Wrap::Line] {
            let (net, coordinates) = lattice(shape, each, 2, wrap != Wrap::Line);
            let order: Vec<usize> = (0..shape.len()).collect();
            assert_loads_of_runs(
                &net,
                &mut DimensionOrder::new(&net, shape, &coordinates, &order, wrap).unwrap(),
            );
            assert_loads_of_runs(&net, &mut ShortestPath::new(NextHops::All));
        }
    }
    // Leaves of 4 terminals under two stages, without terminals at their switches, and one leaf with one.
    let stages = |leaf: u32| (0..3).map(move |top| (leaf, 12 + leaf / 3 * 3 + top));
    let roots = (12..24).flat_map(|middle| (24..27).map(move |root| (middle, root)));
    let cables: Vec<(u32, u32)> = (0..12).flat_map(stages).chain(roots).collect();
    let homes: Vec<u32> = (0..45).map(|terminal| terminal / 4).collect();
    let net = network(27, &cables, &homes);
    assert_loads_of_runs(&net, &mut UpDown::new(depth_keys(&net, 24)));
    assert_loads_of_runs(&net, &mut ShortestPath::new(NextHops::All));
}
