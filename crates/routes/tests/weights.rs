//! Paths of least weight, and dimension order where every pair along a dimension is joined.

use fabriloom_routes::{
    DimensionOrder, LeastWeight, Network, NextHops, Options, ShortestPath, Spread, Table, Wrap, assemble,
};
use proptest::prelude::*;

const PLAIN: Options<'_> =
    Options { spread: Spread::Adaptive, via: &[], shared_above: usize::MAX, runs_above: usize::MAX };

/// A network of switches with a terminal each; cables first, links of terminals last.
fn network(switches: u32, cables: &[(u32, u32)]) -> Network {
    let (mut source, mut target) = (vec![], vec![]);
    for &(a, b) in cables {
        source.extend([a, b]);
        target.extend([b, a]);
    }
    for switch in 0..switches {
        source.extend([switches + switch, switch]);
        target.extend([switch, switches + switch]);
    }
    Network::new(switches as usize, switches as usize, source, target).unwrap()
}

fn links(table: &Table, switch: usize, terminal: usize) -> &[u32] {
    table.groups.group(table.route[switch * table.classes + terminal] >> 1)
}

#[test]
fn the_lighter_path_is_taken_although_it_is_longer() {
    // 0 - 1 directly, or over 2 and 3.
    let net = network(4, &[(0, 1), (0, 2), (2, 3), (3, 1)]);
    let heavy = [5, 5, 1, 1, 1, 1, 1, 1].into_iter().chain([1; 8]).collect::<Vec<u32>>();
    let mut scheme = LeastWeight::new(&net, &heavy, 1, &[]).unwrap();
    let table = assemble(&net, &mut scheme, PLAIN).unwrap();
    assert_eq!(links(&table, 0, 1), [2]);
    assert_eq!((table.layer[4], scheme.most), (2, 2), "to switch 1 from 0");
    let mut scheme = LeastWeight::new(&net, &heavy, 5, &[]).unwrap();
    let table = assemble(&net, &mut scheme, PLAIN).unwrap();
    assert_eq!((table.layer[4], scheme.most), (0, 0), "only the cable that is not used is a hop");
    let equal = [3, 3, 1, 1, 1, 1, 1, 1].into_iter().chain([1; 8]).collect::<Vec<u32>>();
    let table = assemble(&net, &mut LeastWeight::new(&net, &equal, 1, &[]).unwrap(), PLAIN).unwrap();
    assert_eq!(links(&table, 0, 1), [0, 2], "both are of least weight");
    assert!(LeastWeight::new(&net, &[0; 16], 1, &[]).is_err());
    assert!(LeastWeight::new(&net, &[1; 3], 1, &[]).is_err());
}

#[test]
fn one_link_per_dimension() {
    // 3 x 2 switches; along the first dimension all are joined.
    let cables = [(0, 2), (0, 4), (2, 4), (1, 3), (1, 5), (3, 5), (0, 1), (2, 3), (4, 5)];
    let net = network(6, &cables);
    let coordinates: Vec<u32> = (0..6).flat_map(|switch| [switch / 2, switch % 2]).collect();
    let scheme = |net| DimensionOrder::new(net, &[3, 2], &coordinates, &[0, 1], Wrap::Complete);
    let table = assemble(&net, &mut scheme(&net).unwrap(), PLAIN).unwrap();
    assert_eq!(links(&table, 0, 5), [2], "to 4 in one step");
    assert_eq!(links(&table, 4, 5), [16], "then to 5");
    // Without the cable from 0 to 4 the message names the coordinate that is not reached.
    let less = network(6, &[&cables[..1], &cables[2..]].concat());
    let error = assemble(&less, &mut scheme(&less).unwrap(), PLAIN).unwrap_err();
    assert!(format!("{error:?}").contains("no link to coordinate 0 in dimension 0"), "{error:?}");
}

/// Distances to a switch over weighted edges, by relaxing until nothing changes.
fn relaxed(net: &Network, weight: &[u32], to: usize) -> Vec<u32> {
    let mut distance = vec![u32::MAX; net.switches];
    distance[to] = 0;
    while (0..net.edges()).fold(false, |changed, edge| {
        let (from, end) = (net.edge_source[edge] as usize, net.edge_target[edge] as usize);
        let over = distance[end].saturating_add(weight[net.edge_links(edge as u32)[0] as usize]);
        let shorter = over < distance[from];
        distance[from] = distance[from].min(over);
        changed || shorter
    }) {}
    distance
}

proptest! {
    /// Destinations that are searched together have the paths that each has by itself.
    #[test]
    fn as_each_by_itself(
        more in prop::collection::vec((0u32..150, 0u32..150), 0..300),
        weights in prop::collection::vec(1u32..6, 10),
    ) {
        let switches = 150;
        let ring = (0..switches).map(|switch| (switch, (switch + 1) % switches));
        let cables: Vec<_> = ring.chain(more).filter(|&(a, b)| a != b).collect();
        let net = network(switches, &cables);
        let weight: Vec<u32> = (0..net.links()).map(|link| weights[link * 7 % weights.len()]).collect();
        let mut scheme = LeastWeight::new(&net, &weight, 1, &[]).unwrap();
        let table = assemble(&net, &mut scheme, PLAIN).unwrap();
        for to in 0..net.switches {
            let distance = relaxed(&net, &weight, to);
            let left: Vec<u8> = distance.iter().map(|&length| length.saturating_sub(1).min(255) as u8).collect();
            prop_assert_eq!(&table.layer[to * net.switches..][..net.switches], &left[..]);
            prop_assert!(distance.iter().all(|&length| length.saturating_sub(1) <= scheme.most));
            for from in (0..net.switches).filter(|&from| from != to) {
                let short = |&&edge: &&u32| {
                    let over = distance[net.edge_target[edge as usize] as usize];
                    over + weight[net.edge_links(edge)[0] as usize] == distance[from]
                };
                let edges = net.out_edges(from as u32).iter().filter(short);
                let mut all: Vec<u32> = edges.flat_map(|&edge| net.edge_links(edge)).copied().collect();
                all.sort_unstable();
                prop_assert_eq!(links(&table, from, to), &all[..]);
            }
        }
    }

    /// Runs are made of what changes from destination to destination; some switches have no terminals, or are not reached.
    #[test]
    fn runs_have_the_paths_and_layers_of_columns(
        more in prop::collection::vec((0u32..150, 0u32..150), 0..200),
        weights in prop::collection::vec(1u32..6, 10),
        (is_ring, hop) in (any::<bool>(), prop_oneof![Just(1), Just(4)]),
    ) {
        let switches = if is_ring { 150 } else { 160 };
        let ring = (0..150).map(|switch| (switch, (switch + 1) % 150));
        let cables: Vec<_> = ring.chain(more).filter(|&(a, b)| a != b).collect();
        let (mut source, mut target): (Vec<u32>, Vec<u32>) = cables.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).unzip();
        // Switches from 150 on are reached by nobody.
        source.extend(150..switches);
        target.extend((150..switches).map(|_| 0));
        for (place, home) in (0..150).filter(|home| home % 7 != 3).enumerate() {
            source.extend([switches + place as u32, home]);
            target.extend([home, switches + place as u32]);
        }
        let terminals = (0..150).filter(|home| home % 7 != 3).count();
        let net = Network::new(switches as usize, terminals, source, target).unwrap();
        let weight: Vec<u32> = (0..net.links()).map(|link| weights[link * 7 % weights.len()]).collect();
        let [columns, runs] = [usize::MAX, 0].map(|runs_above| {
            let options = Options { shared_above: 0, runs_above, ..PLAIN };
            assemble(&net, &mut LeastWeight::new(&net, &weight, hop, &[]).unwrap(), options).unwrap()
        });
        prop_assert!(columns.groups.links == runs.groups.links && columns.groups.switch == runs.groups.switch);
        prop_assert!(columns.class_exit == runs.class_exit && columns.class_column == runs.class_column);
        for switch in 0..net.switches {
            let row = |column: usize| {
                (columns.route[switch * terminals + column], columns.layer[column * net.switches + switch])
            };
            let mut first = 0;
            for run in runs.route_start[switch] as usize..runs.route_start[switch + 1] as usize {
                let end = runs.route_end[run] as usize;
                prop_assert!((first..end).all(|column| row(column) == (runs.route[run], runs.layer[run])));
                prop_assert!(end == terminals || row(end) != row(end - 1), "as few runs as there can be");
                first = end;
            }
            prop_assert_eq!(first, terminals);
        }
    }
}

#[test]
fn too_many_runs_are_columns() {
    // Most neighbouring destinations are reached over other links.
    let switches = 2000;
    let cables: Vec<_> = (0..switches)
        .flat_map(|switch| [(switch, (switch + 1) % switches), (switch, (switch * 7 + 3) % switches)])
        .filter(|&(a, b)| a != b)
        .collect();
    let net = network(switches, &cables);
    let [columns, runs] = [usize::MAX, 0].map(|runs_above| {
        let options = Options { shared_above: 0, runs_above, ..PLAIN };
        assemble(&net, &mut ShortestPath::new(NextHops::All), options).unwrap()
    });
    assert!(runs.route_start.is_empty() && runs.route == columns.route);
    assert!(runs.groups.links == columns.groups.links && runs.class_exit == columns.class_exit);
}
