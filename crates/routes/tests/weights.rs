//! Paths of least weight, and dimension order where every pair along a dimension is joined.

use fabriloom_routes::{DimensionOrder, LeastWeight, Network, Options, Spread, Table, Wrap, assemble};
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
    let mut scheme = LeastWeight::new(&net, &heavy).unwrap();
    let table = assemble(&net, &mut scheme, PLAIN).unwrap();
    assert_eq!(links(&table, 0, 1), [2]);
    assert_eq!(scheme.distance[4], 3, "to switch 1 from 0");
    let equal = [3, 3, 1, 1, 1, 1, 1, 1].into_iter().chain([1; 8]).collect::<Vec<u32>>();
    let table = assemble(&net, &mut LeastWeight::new(&net, &equal).unwrap(), PLAIN).unwrap();
    assert_eq!(links(&table, 0, 1), [0, 2], "both are of least weight");
    assert!(LeastWeight::new(&net, &[0; 16]).is_err());
    assert!(LeastWeight::new(&net, &[1; 3]).is_err());
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
        let mut scheme = LeastWeight::new(&net, &weight).unwrap();
        let table = assemble(&net, &mut scheme, PLAIN).unwrap();
        for to in 0..net.switches {
            let distance = relaxed(&net, &weight, to);
            prop_assert_eq!(&scheme.distance[to * net.switches..][..net.switches], &distance[..]);
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
}
