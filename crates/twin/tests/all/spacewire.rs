//! Packets for several ports, addresses of which routers delete bytes, and two priorities, in the twin and so in the
//! engine, compared with times and orders computed by hand.
//!
//! Engine and twin deliver the same copies at the same ticks.

use crate::scenarios::agree::{Agreed, counted};
use crate::scenarios::build::{C104, Cable, DS_LINK, add_cable, crossbar, empty, send_list, set_route};
use crate::scenarios::faults::with_timeouts;
use crate::scenarios::networks::random_network;
use crate::scenarios::random::{random_fabric, time_for};
use crate::scenarios::seeds::seeds;
use crate::scenarios::spacewire::{with_addresses, with_codes, with_distributions, with_priorities};
use fabriloom_engine::fabric::{Fabric, check};
use fabriloom_twin::Delivery;

/// Adds a distribution: its number as a target.
fn distribution(f: &mut Fabric, ports: &[u32]) -> u32 {
    let (old, switches) = (f.classes as usize, f.switches as usize);
    let rows: Vec<Vec<u32>> = f.route.chunks(old).map(<[u32]>::to_vec).collect();
    f.route = rows.into_iter().flat_map(|row| row.into_iter().chain([u32::MAX])).collect();
    assert_eq!(f.route.len(), switches * (old + 1));
    f.classes += 1;
    f.terminal_class.push(f.classes - 1);
    if f.distribution_start.is_empty() {
        f.distribution_start.push(0);
    }
    f.distribution_port.extend_from_slice(ports);
    f.distribution_start.push(f.distribution_port.len() as u32);
    f.ports() + f.distributions() - 1
}

/// Routes a distribution to all of these links at once.
fn spread(f: &mut Fabric, switch: u32, target: u32, links: &[u32]) {
    let class = f.terminal_class[target as usize];
    f.group_all.resize(f.groups(), 0);
    set_route(f, switch, class, links, false);
    f.group_all.resize(f.groups(), 0);
    let group = f.route[(switch * f.classes + class) as usize] >> 1;
    f.group_all[group as usize] = 1;
}

/// One switch, and a distribution to some of its terminals.
fn star(terminals: u32, ports: &[u32]) -> (Fabric, u32) {
    let mut f = crossbar(C104, terminals, DS_LINK);
    let target = distribution(&mut f, ports);
    let links: Vec<u32> = ports.iter().map(|&port| f.terminal_in_link[port as usize]).collect();
    spread(&mut f, 0, target, &links);
    (f, target)
}

fn order(f: &Fabric) -> Vec<(u32, u32)> {
    let mut taken = counted(f).deliveries;
    taken.sort_by_key(|delivery| (delivery.delivered, delivery.target));
    taken.iter().map(|delivery| (delivery.source, delivery.target)).collect()
}

/// Header 10, decoding 80, forwarding 20, then 66 characters and an end of 4 ticks: as if it were alone.
#[test]
fn every_copy_comes_as_a_packet_of_its_own_would() {
    let (mut f, all) = star(5, &[1, 3, 4]);
    send_list(&mut f, &[&[(all, 64, 0)], &[], &[], &[], &[]]);
    let result = counted(&f);
    let seen: Vec<(u32, i64)> = result.deliveries.iter().map(|one| (one.target, one.delivered)).collect();
    assert_eq!(seen, [1, 3, 4].map(|target| (target, 110 + 65 * 10 + 4)));
    assert_eq!((result.offered, result.in_flight, result.packet_hops), (3, 0, 1));
    assert_eq!(result.links.iter().map(|link| link.packets).sum::<u64>(), 1 + 3);
}

/// The output buffer of the slow branch has 23 places: its character `m` crosses when that of `m - 23` has been sent.
#[test]
fn the_slowest_branch_sets_the_pace_of_all() {
    let slow = Cable { character_ticks: 30, end_ticks: 12, arrival_ticks: 30, ..DS_LINK };
    let mut f = empty(&[C104], 3, 3);
    for terminal in 0..3 {
        let (link, _) = add_cable(&mut f, 0, 1 + terminal, if terminal == 2 { slow } else { DS_LINK });
        set_route(&mut f, 0, terminal, &[link], false);
    }
    let all = distribution(&mut f, &[1, 2]);
    let links = [f.terminal_in_link[1], f.terminal_in_link[2]];
    spread(&mut f, 0, all, &links);
    send_list(&mut f, &[&[(all, 200, 0)], &[], &[]]);
    let result = counted(&f);
    let end = 201;
    let crosses = 110 + (end - 23) * 30 + 30;
    let seen: Vec<(u32, i64)> = result.deliveries.iter().map(|one| (one.target, one.delivered)).collect();
    assert_eq!(seen, [(1, crosses + 20 + 4), (2, 110 + end * 30 + 12)]);
}

/// Two switches: the copy for the second one divides again there.
#[test]
fn copies_part_again() {
    let mut f = empty(&[C104; 2], 5, 5);
    for terminal in 0..5 {
        let home = u32::from(terminal > 1);
        let (link, _) = add_cable(&mut f, home, 2 + terminal, DS_LINK);
        set_route(&mut f, home, terminal, &[link], false);
    }
    let (over, _) = add_cable(&mut f, 0, 1, DS_LINK);
    let all = distribution(&mut f, &[1, 2, 3, 4]);
    let into = |f: &Fabric, ports: [u32; 3]| ports.map(|port| f.terminal_in_link[port as usize]);
    let behind = into(&f, [2, 3, 4]);
    let first = [f.terminal_in_link[1], over];
    spread(&mut f, 0, all, &first);
    spread(&mut f, 1, all, &behind);
    send_list(&mut f, &[&[(all, 10, 0)], &[], &[], &[], &[]]);
    let result = counted(&f);
    let seen: Vec<(u32, i64)> = result.deliveries.iter().map(|one| (one.target, one.delivered)).collect();
    let (near, far) = (110 + 11 * 10 + 4, 220 + 11 * 10 + 4);
    assert_eq!(seen, [(1, near), (2, far), (3, far), (4, far)]);
    assert_eq!(result.packet_hops, 2);
}

/// Terminal 1 has the link to 3 until 1021. The head to be distributed requests at 171, behind a short packet; that of
/// terminal 5 for 2, which is free, requests later and waits. Terminal 6 has requested 3 before, and goes first.
#[test]
fn links_are_kept_from_heads_that_ask_later_and_from_no_others() {
    let (mut f, all) = star(7, &[2, 3]);
    let first: &[(u32, u32, u64)] = &[(4, 5, 0), (all, 10, 0)];
    let late: &[(u32, u32, u64)] = &[(4, 20, 0), (2, 10, 0)];
    send_list(&mut f, &[first, &[(3, 100, 0)], &[], &[], &[], late, &[(3, 10, 0)]]);
    let order = order(&f);
    let to = |target: u32| order.iter().filter(|one| one.1 == target).map(|one| one.0).collect::<Vec<u32>>();
    assert_eq!((to(2), to(3)), (vec![0, 5], vec![1, 6, 0]));
}

/// Two heads want the same two links: each gets both, one after the other.
#[test]
fn distributions_take_turns() {
    let (mut f, all) = star(4, &[2, 3]);
    let other = distribution(&mut f, &[2, 3]);
    let links = [f.terminal_in_link[3], f.terminal_in_link[2]];
    spread(&mut f, 0, other, &links);
    let (one, two): (&[_], &[_]) = (&[(all, 30, 0), (all, 30, 0)], &[(other, 30, 0), (other, 30, 0)]);
    send_list(&mut f, &[one, two, &[], &[]]);
    assert_eq!(order(&f), [(0, 2), (0, 3), (1, 2), (1, 3), (0, 2), (0, 3), (1, 2), (1, 3)]);
}

#[test]
fn what_leads_elsewhere_or_in_a_circle_is_refused() {
    let (f, _) = star(5, &[1, 3]);
    let refusal = |change: &dyn Fn(&mut Fabric)| {
        let mut wrong = f.clone();
        change(&mut wrong);
        check(&wrong).expect_err("it is wrong").to_string()
    };
    let elsewhere = refusal(&|f| f.distribution_port[1] = 2);
    assert!(elsewhere.contains("every port that its routes end at"), "{elsewhere}");
    let faults = refusal(&|f| f.switch_timeout_ticks = vec![5]);
    assert!(faults.contains("nothing beside distributions"), "{faults}");
    let uneven = refusal(&|f| f.link_deletes_header[f.terminal_in_link[3] as usize] = 1);
    assert!(uneven.contains("of all links of its group"), "{uneven}");
    let mut circle = empty(&[C104; 2], 2, 2);
    for terminal in 0..2 {
        add_cable(&mut circle, terminal, 2 + terminal, DS_LINK);
    }
    let (there, back) = add_cable(&mut circle, 0, 1, DS_LINK);
    let all = distribution(&mut circle, &[0]);
    let home = circle.terminal_in_link[0];
    spread(&mut circle, 0, all, &[home, there]);
    spread(&mut circle, 1, all, &[back]);
    let circle = check(&circle).expect_err("it never ends").to_string();
    assert!(circle.contains("no circle"), "{circle}");
}

#[test]
fn deliveries_are_counted_by_terminal() {
    let (mut f, all) = star(4, &[1, 2, 3]);
    send_list(&mut f, &[&[(all, 8, 0), (1, 8, 0)], &[], &[], &[]]);
    let of = |target: u32| counted(&f).deliveries.iter().filter(|d: &&Delivery| d.target == target).count();
    assert_eq!([1, 2, 3].map(of), [2, 1, 1]);
}

#[test]
fn random_fabrics_with_distributions_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("fabrics with distributions", 0..60) {
        let Some(fabric) = with_distributions(&random_fabric(seed), seed) else { continue };
        let until = time_for(&fabric, 15);
        agreed.compare(seed, &fabric, until);
    }
    assert!(agreed.runs > 25 && agreed.delivered > 60 * agreed.runs, "{agreed:?}");
}

#[test]
fn distributions_beside_codes_and_priorities_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("distributions with codes", 0..20) {
        let Some(fabric) = with_distributions(&random_fabric(seed), seed) else { continue };
        let until = time_for(&fabric, 15);
        agreed.compare(seed, &with_priorities(&with_codes(&fabric, seed, until), seed), until);
    }
    assert!(agreed.runs > 5, "{agreed:?}");
}

#[test]
fn networks_with_distributions_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("networks with distributions", 0..12) {
        let (fabric, until) = random_network(seed);
        let Some(fabric) = with_distributions(&fabric, seed) else { continue };
        agreed.compare(seed, &fabric, until);
    }
    assert!(agreed.runs > 5, "{agreed:?}");
}

#[test]
fn random_fabrics_with_addresses_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("fabrics with addresses", 0..60) {
        let Some(fabric) = with_addresses(&random_fabric(seed), seed) else { continue };
        let until = time_for(&fabric, 15);
        let fabric = if seed % 2 == 0 { with_codes(&fabric, seed, until) } else { fabric };
        let fabric = if seed % 3 == 0 { with_timeouts(&fabric, seed, until) } else { fabric };
        let fabric = if seed % 5 == 0 { with_priorities(&fabric, seed) } else { fabric };
        agreed.compare(seed, &fabric, until);
    }
    assert!(agreed.runs > 20 && agreed.delivered > 20 * agreed.runs && agreed.cut > 0, "{agreed:?}");
}

/// Three switches in a row: a packet of 10 characters starts with a byte for each of them, and an end of packet.
#[test]
fn a_path_address_is_a_character_shorter_on_each_link() {
    let mut f = empty(&[C104; 3], 2, 2);
    f.header_chars = 0;
    let (first, back) = add_cable(&mut f, 0, 3, DS_LINK);
    let (last, _) = add_cable(&mut f, 2, 4, DS_LINK);
    let (one, one_back) = add_cable(&mut f, 0, 1, DS_LINK);
    let (two, two_back) = add_cable(&mut f, 1, 2, DS_LINK);
    for (switch, away, home) in [(0, one, first), (1, two, one_back), (2, last, two_back)] {
        set_route(&mut f, switch, 1, &[away], false);
        set_route(&mut f, switch, 0, &[home], false);
    }
    f.link_deletes_address = (0..f.links()).map(|link| u8::from(f.link_source[link] < 3)).collect();
    send_list(&mut f, &[&[(1, 10, 0)], &[]]);
    let run = counted(&f);
    assert_eq!(run.deliveries.len(), 1);
    let characters = [back, one, two, last].map(|link| run.links[link as usize].characters);
    assert_eq!(characters, [14, 13, 12, 11]);
}

/// Two terminals send to a third; the packets of the second are of a traffic class whose routes have a switch more.
#[test]
fn packets_of_another_traffic_class_have_the_address_of_its_path() {
    let mut f = empty(&[C104; 3], 3, 6);
    f.header_chars = 0;
    let ends =
        [(0, 3), (0, 4), (1, 5)].map(|(switch, terminal)| add_cable(&mut f, switch, terminal, DS_LINK).0);
    let (direct, _) = add_cable(&mut f, 0, 1, DS_LINK);
    let (away, _) = add_cable(&mut f, 0, 2, DS_LINK);
    let (on, _) = add_cable(&mut f, 2, 1, DS_LINK);
    for (switch, class, link) in [(0, 2, direct), (1, 2, ends[2]), (0, 5, away), (2, 5, on), (1, 5, ends[2])]
    {
        set_route(&mut f, switch, class, &[link], false);
    }
    (f.port_class_from, f.port_class_to, f.class_headers) = (vec![1, 0, 1], vec![1; 3], vec![0, 3]);
    f.link_deletes_address = (0..f.links()).map(|link| u8::from(f.link_source[link] < 3)).collect();
    send_list(&mut f, &[&[(2, 10, 0)], &[(2, 10, 0)], &[]]);
    let run = counted(&f);
    assert_eq!(run.deliveries.len(), 2);
    let characters = [f.terminal_out_link[0], direct, f.terminal_out_link[1], away, on, ends[2]]
        .map(|link| run.links[link as usize].characters);
    // 10 characters, an end of packet, and an address of two or three.
    assert_eq!(characters, [13, 12, 14, 13, 12, 22]);
}

/// Where an address is left in front of the header, the switch would delete a byte of that instead.
#[test]
fn a_route_that_deletes_headers_is_refused_beside_addresses() {
    let mut f = empty(&[C104; 2], 2, 2);
    let (first, _) = add_cable(&mut f, 0, 2, DS_LINK);
    let (last, _) = add_cable(&mut f, 1, 3, DS_LINK);
    let (across, back) = add_cable(&mut f, 0, 1, DS_LINK);
    for (switch, away, home) in [(0, across, first), (1, last, back)] {
        set_route(&mut f, switch, 1, &[away], switch == 0);
        set_route(&mut f, switch, 0, &[home], false);
    }
    send_list(&mut f, &[&[(1, 10, 0)], &[]]);
    check(&f).expect("without addresses it is legal");
    f.link_deletes_address = (0..f.links()).map(|link| u8::from(link == last as usize)).collect();
    let error = check(&f).expect_err("the route deletes a header").to_string();
    assert!(error.contains("nothing beside link_deletes_address"), "{error}");
}

/// Three terminals at one switch, and two at a second one: all packets use one cable.
fn funnel(high: &[u8], third: &[(u32, u32, u64)]) -> Vec<(u32, u32)> {
    let mut f = empty(&[C104; 2], 5, 5);
    for terminal in 0..5 {
        let home = u32::from(terminal > 2);
        let (out, _) = add_cable(&mut f, home, 2 + terminal, DS_LINK);
        set_route(&mut f, home, terminal, &[out], false);
    }
    let (over, back) = add_cable(&mut f, 0, 1, DS_LINK);
    for terminal in 0..5 {
        let home = u32::from(terminal > 2);
        set_route(&mut f, 1 - home, terminal, &[if home == 1 { over } else { back }], false);
    }
    // Three heads request in one tick, and a second packet of terminal 0 follows.
    send_list(&mut f, &[&[(3, 50, 0), (3, 20, 0)], &[(3, 50, 0)], third, &[], &[]]);
    f.port_priority = high.to_vec();
    in_order(&f)
}

fn in_order(f: &Fabric) -> Vec<(u32, u32)> {
    let mut taken = counted(f).deliveries;
    taken.sort_by_key(|delivery| delivery.delivered);
    taken.iter().map(|delivery| (delivery.source, delivery.target)).collect()
}

const ONE: &[(u32, u32, u64)] = &[(4, 50, 0)];

#[test]
fn without_priorities_the_longest_waiting_head_is_first() {
    assert_eq!(funnel(&[], ONE), [(0, 3), (1, 3), (2, 4), (0, 3)]);
}

#[test]
fn heads_of_high_priority_go_before_others() {
    assert_eq!(funnel(&[0, 0, 0, 0, 1], ONE), [(2, 4), (0, 3), (1, 3), (0, 3)]);
}

/// After a short packet to a terminal of the same switch it arrives when terminal 0 has the cable, which keeps it.
/// Terminal 1 has waited longer, and goes later.
#[test]
fn a_packet_that_has_a_link_keeps_it() {
    let late = &[(0, 5, 0), (4, 50, 0)];
    assert_eq!(funnel(&[0, 0, 0, 0, 1], late), [(2, 0), (0, 3), (2, 4), (1, 3), (0, 3)]);
    assert_eq!(funnel(&[], late), [(2, 0), (0, 3), (1, 3), (2, 4), (0, 3)]);
}

#[test]
fn among_equals_the_order_is_as_before() {
    assert_eq!(funnel(&[0, 0, 0, 1, 1], ONE), funnel(&[], ONE));
    assert_eq!(funnel(&[1, 1, 1, 0, 0], ONE), funnel(&[], ONE));
}
