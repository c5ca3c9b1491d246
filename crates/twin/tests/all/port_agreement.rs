//! Terminals with several ports: the engine and the twin deliver the same packets at the same ticks in random networks,
//! and with one port nothing changes.

use crate::scenarios::agree::{self, Agreed, Seen, emptied, links, simulate, store};
use crate::scenarios::faults::{with_faults, with_ring_faults};
use crate::scenarios::lanes::{with_classes, with_lanes};
use crate::scenarios::ports::with_class_ports;
use crate::scenarios::ports::with_ports;
use crate::scenarios::programs::{random_programs, with_packets_spread, with_resends};
use crate::scenarios::random::{draw_for, random_fabric, random_stops, time_for};
use crate::scenarios::rings::{random_rings, ring_time_for};
use crate::scenarios::seeds::seeds;
use crate::scenarios::spacewire::with_addresses;
use fabriloom_engine::fabric::{Fabric, NONE, port_choice};
use fabriloom_twin::{FlowControl, run};

fn compare(seed: u64, fabric: &Fabric) -> (usize, u64) {
    let until = time_for(fabric, 10 + (seed % 3) as u32 * 20);
    let twin = links(seed, fabric, until);
    emptied(seed, fabric, until, &twin);
    let engine = simulate(fabric, until, false, 1 << 50).expect("a route for every packet");
    let by_plane: u64 = engine.run.planes.sums.iter().map(|sum| sum.packets).sum();
    assert_eq!(by_plane as usize, twin.deliveries.len(), "seed {seed}");
    (twin.deliveries.len(), engine.run.order.overtaken)
}

#[test]
fn terminals_of_several_ports_agree() {
    let (mut delivered, mut overtaken, mut runs) = (0, 0, 0);
    for seed in seeds("networks with several ports", 0..100) {
        let (packets, late) = compare(seed, &with_ports(&random_fabric(seed), seed));
        (delivered, overtaken, runs) = (delivered + packets, overtaken + late, runs + 1);
    }
    assert!(
        delivered > 30 * runs && overtaken > 0,
        "{delivered} deliveries in {runs} runs, {overtaken} late"
    );
}

#[test]
fn several_ports_with_lanes_agree() {
    let mut by_pair = 0;
    for seed in seeds("several ports with lanes", 0..20) {
        let fabric = with_lanes(&with_ports(&random_fabric(seed), seed), seed);
        compare(seed, &fabric);
        if let Some(classes) = with_classes(&fabric, seed) {
            by_pair += u32::from(!classes.class_between.is_empty());
            compare(seed, &classes);
        }
    }
    assert!(by_pair > 2, "{by_pair}");
}

/// A packet has the address of the path between its ports.
#[test]
fn several_ports_with_addresses_agree() {
    let mut runs = 0;
    for seed in seeds("several ports with addresses", 0..60) {
        if let Some(fabric) = with_addresses(&with_ports(&random_fabric(seed), seed), seed) {
            compare(seed, &fabric);
            runs += 1;
        }
    }
    assert!(runs > 10, "{runs}");
}

/// Traffic classes with their own ports, and some with their own lanes.
#[test]
fn ports_by_traffic_class_agree() {
    let (mut delivered, mut runs, mut changed) = (0, 0, 0);
    for seed in seeds("ports by traffic class", 0..60) {
        let mut fabric = with_ports(&random_fabric(seed), seed);
        if seed % 4 == 3 {
            fabric = with_lanes(&fabric, seed);
            fabric = with_classes(&fabric, seed).unwrap_or(fabric);
        }
        let classes = with_class_ports(&fabric, seed);
        delivered += compare(seed, &classes).0;
        runs += 1;
        let until = time_for(&fabric, 10);
        let [before, after] = [&fabric, &classes].map(|f| run(f, FlowControl::Counted, until).deliveries);
        changed += usize::from(before != after);
    }
    assert!(delivered > 30 * runs && 2 * changed > runs, "{delivered} in {runs} runs, {changed} changed");
}

#[test]
fn programs_on_ports_by_traffic_class_agree() {
    let mut seen = Seen::default();
    for seed in seeds("programs on ports by traffic class", 0..40) {
        let mut fabric = with_class_ports(&with_ports(&random_fabric(seed), seed), seed);
        fabric = random_programs(&fabric, seed);
        if seed % 2 == 1 {
            fabric = with_packets_spread(&fabric);
        }
        let until = time_for(&fabric, 40);
        if seed % 5 == 4 {
            fabric = with_faults(&fabric, seed, until);
        }
        seen.compare(seed, &fabric, until);
    }
    assert!(seen.received > 400, "{seen:?}");
}

/// Returns the messages that overtook one another in a run of programs.
fn overtaken(fabric: &Fabric, until: i64) -> u64 {
    let run = simulate(fabric, until, false, 1 << 50).expect("a route for every packet").run;
    run.programs.and_then(|programs| programs.account.order).map_or(0, |order| order.overtaken)
}

#[test]
fn programs_on_several_ports_agree() {
    let (mut seen, mut late) = (Seen::default(), 0);
    for seed in seeds("programs on several ports", 0..100) {
        let fabric = random_programs(&with_ports(&random_fabric(seed), seed), seed);
        let until = time_for(&fabric, 60);
        seen.compare(seed, &fabric, until);
        late += if seed % 4 == 0 { overtaken(&fabric, until) } else { 0 };
    }
    assert!(seen.received > 1000 && seen.drained > 10 && late > 0, "{seen:?}, {late} late");
}

#[test]
fn programs_on_several_ports_with_lanes_agree() {
    let mut seen = Seen::default();
    for seed in seeds("programs on several ports with lanes", 0..30) {
        let fabric = with_lanes(&with_ports(&random_fabric(seed), seed), seed);
        let fabric = random_programs(&fabric, seed);
        seen.compare(seed, &fabric, time_for(&fabric, 40));
    }
    assert!(seen.received > 200, "{seen:?}");
}

/// Messages whose packets are spread over ports, with lanes, faults and repetitions.
#[test]
fn messages_spread_over_ports_agree() {
    let (mut seen, mut late) = (Seen::default(), 0);
    for seed in seeds("messages spread over ports", 0..80) {
        let mut fabric = with_ports(&random_fabric(seed), seed);
        if seed % 5 == 1 {
            fabric = with_lanes(&fabric, seed);
        }
        fabric = with_packets_spread(&random_programs(&fabric, seed));
        if seed % 3 == 1 {
            fabric = with_resends(&fabric, seed);
        }
        let until = time_for(&fabric, 40);
        if seed % 4 == 2 {
            fabric = with_faults(&fabric, seed, until);
        }
        seen.compare(seed, &fabric, until);
        let run = simulate(&fabric, until, false, 1 << 50).expect("a route for every packet").run;
        late += run.programs.and_then(|one| one.account.packet_order).map_or(0, |order| order.overtaken);
    }
    assert!(seen.received > 700 && late > 0, "{seen:?}, {late} late");
}

/// Terminals that know that one of their links is down send by others.
#[test]
fn several_ports_with_faults_agree() {
    let (mut agreed, mut seen) = (Agreed::default(), Seen::default());
    for seed in seeds("several ports with faults", 0..40) {
        let fabric = with_ports(&random_fabric(seed), seed);
        let until = time_for(&fabric, 15);
        agreed.compare(seed, &with_faults(&fabric, seed, until), until);
        if seed % 3 == 0 {
            let fabric = random_programs(&fabric, seed);
            let until = time_for(&fabric, 40);
            seen.compare(seed, &with_faults(&fabric, seed, until), until);
        }
        if seed % 4 == 1 {
            let fabric = with_class_ports(&fabric, seed);
            agreed.compare(seed, &with_faults(&fabric, seed, until), until);
        }
    }
    assert!(agreed.delivered > 30 * agreed.runs && agreed.cut > agreed.runs, "{agreed:?}");
    assert!(seen.received > 50, "{seen:?}");
}

/// Links that stop for a while delay the packets behind them, not those at other ports.
#[test]
fn several_ports_with_stopped_links_agree() {
    for seed in seeds("several ports with stopped links", 0..20) {
        let fabric = with_ports(&random_fabric(seed), seed);
        let until = time_for(&fabric, 20);
        crate::scenarios::agree::stopped(seed, &fabric, until, &random_stops(&fabric, seed, until));
    }
}

/// The rules are for terminals with any number of ports; with one port, each rule is the behaviour without ports.
#[test]
fn with_one_port_every_choice_is_the_same() {
    for seed in seeds("one port", 0..30) {
        let plain = random_fabric(seed);
        let mut one = plain.clone();
        one.terminal_ports = (0..=plain.terminals).collect();
        one.port_plane = vec![0; plain.terminals as usize];
        one.planes = 1;
        let choice = draw_for(seed).between(0, u32::from(port_choice::NOMINAL)) as u8;
        one.terminal_choice = vec![choice; plain.terminals as usize];
        let until = time_for(&plain, 15);
        if seed % 2 == 0 && choice != port_choice::FIRST_FREE {
            let [plain, one] = [&plain, &one].map(|fabric| random_programs(fabric, seed));
            assert!(run(&plain, FlowControl::Counted, until) == run(&one, FlowControl::Counted, until));
        }
        let (theirs, ours) = (links(seed, &plain, until), links(seed, &one, until));
        assert_eq!((theirs.offered, theirs.refused), (ours.offered, ours.refused), "seed {seed}");
        assert!(theirs.deliveries == ours.deliveries, "seed {seed}");
        assert_eq!(run(&one, FlowControl::Counted, until).links, ours.links);
    }
}

#[test]
fn several_ports_on_rings_agree() {
    let (mut delivered, mut overtaken, mut runs) = (0, 0, 0);
    for seed in seeds("several ports on rings", 0..60) {
        let fabric = with_ports(&random_rings(seed), seed);
        let until = ring_time_for(&fabric, 15 + (seed % 3) as u32 * 20);
        let fabric = if seed % 3 == 0 { with_ring_faults(&fabric, seed, until) } else { fabric };
        let Some(twin) = agree::rings(seed, &fabric, until) else { continue };
        let engine = simulate(&fabric, until, false, 1 << 50).expect("it came to an end");
        let by_plane: u64 = engine.run.planes.sums.iter().map(|sum| sum.packets).sum();
        assert_eq!(by_plane as usize, twin.deliveries.len(), "seed {seed}");
        overtaken += engine.run.order.overtaken;
        (delivered, runs) = (delivered + twin.deliveries.len(), runs + 1);
    }
    assert!(delivered > 20 * runs && overtaken > 0, "{delivered} in {runs} runs, {overtaken} late");
}

/// Traffic classes with their own ports, of sources and of programs.
#[test]
fn ports_by_traffic_class_on_rings_agree() {
    let (mut delivered, mut runs, mut seen) = (0, 0, Seen::default());
    for seed in seeds("ports by traffic class on rings", 0..40) {
        let mut fabric = with_class_ports(&with_ports(&random_rings(seed), seed), seed);
        let until = ring_time_for(&fabric, 20);
        if seed % 3 == 0 {
            store(&mut fabric, seed);
            seen.compare(seed, &random_programs(&fabric, seed), until);
        } else if let Some(twin) = agree::rings(seed, &fabric, until) {
            (delivered, runs) = (delivered + twin.deliveries.len(), runs + 1);
        }
    }
    assert!(delivered > 20 * runs && seen.received > 50, "{delivered} in {runs} runs, {seen:?}");
}

#[test]
fn programs_on_several_ports_on_rings_agree() {
    let mut seen = Seen::default();
    for seed in seeds("programs on several ports on rings", 0..40) {
        let mut fabric = with_ports(&random_rings(seed), seed);
        store(&mut fabric, seed);
        fabric = random_programs(&fabric, seed);
        if seed % 3 == 1 {
            fabric = with_packets_spread(&fabric);
        }
        let until = ring_time_for(&fabric, 40);
        let fabric = if seed % 4 == 0 { with_ring_faults(&fabric, seed, until) } else { fabric };
        seen.compare(seed, &fabric, until);
    }
    assert!(seen.received > 150 && seen.drained > 2, "{seen:?}");
}

/// On rings, too, each rule with one port is the behaviour without ports; but packets of one tick that a port takes at
/// once need no places of a limited queue.
#[test]
fn with_one_port_every_choice_is_the_same_on_rings() {
    for seed in seeds("one port on rings", 0..20) {
        let mut plain = random_rings(seed);
        plain.source_queue.iter_mut().filter(|places| **places != NONE).for_each(|places| *places = 0);
        let mut one = plain.clone();
        one.terminal_ports = (0..=plain.terminals).collect();
        (one.planes, one.port_plane) = (1, vec![0; plain.terminals as usize]);
        let choice = draw_for(seed).between(0, u32::from(port_choice::NOMINAL)) as u8;
        one.terminal_choice = vec![choice; plain.terminals as usize];
        let until = ring_time_for(&plain, 25);
        let (Some(theirs), Some(ours)) = (agree::rings(seed, &plain, until), agree::rings(seed, &one, until))
        else {
            continue;
        };
        assert!(theirs == ours, "seed {seed}");
    }
}
