//! The engine and the twin deliver the same packets at the same ticks, in random networks with lanes.

use fabriloom_engine::fabric::Fabric;
use fabriloom_engine::kernel::Time;
use fabriloom_twin::{FlowControl, run};

use crate::scenarios::agree::{Agreed, Seen};
use crate::scenarios::lanes::{
    by_queue, with_arbiters, with_classes, with_congestion, with_lanes, with_whole_packets,
};
use crate::scenarios::networks::random_network;
use crate::scenarios::programs::random_programs;
use crate::scenarios::random::{random_fabric, time_for};
use crate::scenarios::seeds::seeds;

#[test]
fn random_fabrics_with_lanes_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("fabrics with lanes", 0..60) {
        let fabric = with_lanes(&random_fabric(seed), seed);
        agreed.compare(seed, &fabric, time_for(&fabric, 15));
    }
    assert!(agreed.delivered > 30 * agreed.runs, "{agreed:?}");
    assert!(agreed.deadlocked > 0 && agreed.deadlocked < agreed.runs / 2, "{agreed:?}");
}

#[test]
fn random_fabrics_with_lane_arbiters_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("lane arbiters", 0..120) {
        let fabric = with_arbiters(&random_fabric(seed), seed);
        agreed.compare(seed, &fabric, time_for(&fabric, 15));
    }
    assert!(agreed.delivered > 30 * agreed.runs, "{agreed:?}");
    assert!(agreed.deadlocked > 0 && agreed.deadlocked < agreed.runs / 2, "{agreed:?}");
}

#[test]
fn random_fabrics_of_whole_packets_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("fabrics of whole packets", 0..120) {
        let fabric = with_whole_packets(&random_fabric(seed), seed);
        agreed.compare(seed, &fabric, time_for(&fabric, 15));
    }
    assert!(agreed.delivered > 30 * agreed.runs, "{agreed:?}");
    assert!(agreed.deadlocked > 0 && agreed.deadlocked < agreed.runs / 2, "{agreed:?}");
}

#[test]
fn ports_that_rest_for_congestion_agree() {
    let (mut agreed, mut marked, mut later) = (Agreed::default(), 0, 0);
    for seed in seeds("congestion control", 0..160) {
        let fabric = with_congestion(&random_fabric(seed), seed);
        let until = time_for(&fabric, 15);
        agreed.compare(seed, &fabric, until);
        let twin = run(&fabric, FlowControl::Counted, until);
        marked += usize::from(twin.congestion.0.iter().any(|&packets| packets > 0));
        let without = Fabric { cct_eighths: vec![0; fabric.cct_eighths.len()], ..fabric };
        later += usize::from(run(&without, FlowControl::Counted, until).deliveries != twin.deliveries);
    }
    assert!(agreed.delivered > 20 * agreed.runs, "{agreed:?}");
    assert!(marked > 50 && later > 40, "{marked} of {} runs marked, {later} rested", agreed.runs);
}

#[test]
fn lanes_by_traffic_class_agree() {
    let mut agreed = Agreed::default();
    let mut apart = 0;
    for seed in seeds("lanes by traffic class", 0..40) {
        let fabric = with_lanes(&random_fabric(seed), seed);
        let Some(classes) = with_classes(&fabric, seed) else { continue };
        let until = time_for(&classes, 15);
        agreed.compare(seed, &classes, until);
        let [before, after] = [&fabric, &classes].map(|f| run(f, FlowControl::Counted, until).deliveries);
        apart += usize::from(before != after);
    }
    assert!(agreed.delivered > 30 * agreed.runs && agreed.runs > 20, "{agreed:?}");
    assert!(apart > 4, "classes changed {apart} of {} runs", agreed.runs);
}

#[test]
fn random_networks_with_lanes_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("networks with lanes", 0..16) {
        let (fabric, until) = random_network(seed);
        agreed.compare(seed, &with_lanes(&fabric, seed), until);
    }
    assert!(agreed.delivered > 30 * agreed.runs, "{agreed:?}");
}

#[test]
fn programs_over_lanes_agree() {
    let mut seen = Seen::default();
    for seed in seeds("programs over lanes", 0..30) {
        let fabric = random_programs(&random_fabric(seed), seed);
        let fabric = match seed % 6 {
            0 => with_whole_packets(&fabric, seed),
            3 => with_congestion(&fabric, seed),
            _ => with_lanes(&fabric, seed),
        };
        seen.compare(seed, &fabric, time_for(&fabric, 15));
    }
    assert!(seen.received > 100, "{seen:?}");
}

#[test]
fn packets_that_choose_by_queues_agree() {
    let (mut agreed, mut straight) = (Agreed::default(), 0);
    for seed in seeds("choices by queues", 0..160) {
        let (drawn, until) =
            if seed % 4 == 0 { random_network(seed) } else { (random_fabric(seed), Time::MAX) };
        let until = until.min(time_for(&drawn, 15));
        let mut fabric =
            if seed % 2 == 0 { with_whole_packets(&drawn, seed) } else { with_lanes(&drawn, seed) };
        if let Some(classes) = with_classes(&fabric, seed).filter(|_| seed % 5 == 0) {
            fabric = classes;
        }
        let always = fabric.clone();
        if by_queue(&mut fabric, seed) {
            agreed.compare(seed, &fabric, until);
            let [one, other] = [&always, &fabric].map(|f| run(f, FlowControl::Counted, until).deliveries);
            straight += usize::from(one != other);
        }
    }
    assert!(agreed.delivered > 30 * agreed.runs && agreed.runs > 20, "{agreed:?}");
    assert!(straight > 15, "queues changed {straight} of {} runs", agreed.runs);
}
