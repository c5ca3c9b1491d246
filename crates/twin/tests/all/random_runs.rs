//! Random fabrics and networks of rings in the twin alone: it checks itself for lost packets and symbols, overfull
//! buffers and wrong terminals.

use std::collections::HashMap;

use crate::scenarios::random::{random_fabric, time_for};
use crate::scenarios::rings::{random_rings, ring_time_for};
use crate::scenarios::seeds::seeds;
use fabriloom_engine::fabric::Fabric;
use fabriloom_twin::{Delivery, FlowControl, run, run_rings};

/// Whether all packets from one terminal to another take the same path.
fn has_single_paths(fabric: &Fabric) -> bool {
    fabric.via_switch.is_empty() && (0..fabric.groups() as u32).all(|group| fabric.group(group).len() == 1)
}

fn keeps_order(deliveries: &[Delivery]) -> bool {
    let mut last = HashMap::new();
    deliveries
        .iter()
        .all(|d| last.insert((d.source, d.target), d.started).is_none_or(|before| before < d.started))
}

#[test]
fn random_fabrics_lose_nothing() {
    let (mut delivered, mut deadlocked, mut ordered, mut runs) = (0, 0, 0, 0);
    for seed in seeds("fabrics in the twin alone", 0..50) {
        runs += 1;
        let fabric = random_fabric(seed);
        for flow_control in [FlowControl::Counted, FlowControl::Exact] {
            let result = run(&fabric, flow_control, time_for(&fabric, 20));
            delivered += result.deliveries.len();
            deadlocked += u32::from(result.deadlocked);
            if has_single_paths(&fabric) {
                ordered += 1;
                assert!(keeps_order(&result.deliveries), "seed {seed}");
            }
            assert!(result.deliveries.iter().all(|d| d.created <= d.started && d.started < d.delivered));
        }
    }
    assert!(delivered > 3_000, "{delivered} deliveries");
    assert!(deadlocked < runs / 2, "{deadlocked} of {runs} runs deadlocked");
    assert!(ordered > 5, "{ordered} runs with single paths");
}

#[test]
fn runs_repeat_themselves() {
    for seed in [3, 14, 15] {
        let fabric = random_fabric(seed);
        let until = time_for(&fabric, 10);
        assert_eq!(run(&fabric, FlowControl::Exact, until), run(&fabric, FlowControl::Exact, until));
    }
}

/// Whether packets from one terminal to another cannot overtake each other; on several buses they can.
fn has_order(f: &Fabric) -> bool {
    f.ring_in_order == 1 && f.port_yields.is_empty() && f.terminal_transaction.iter().all(|&kind| kind == 1)
}

#[test]
fn random_rings_lose_nothing() {
    let (mut delivered, mut ordered, mut totals) = (0, 0, [0; 5]);
    for seed in seeds("rings in the twin alone", 0..300) {
        let fabric = random_rings(seed);
        let result = run_rings(&fabric, ring_time_for(&fabric, 20));
        delivered += result.deliveries.len();
        assert!(result.deliveries.iter().all(|d| d.created <= d.started && d.started < d.delivered));
        if has_order(&fabric) {
            ordered += 1;
            assert!(keeps_order(&result.deliveries), "seed {seed}");
        }
        let retried = result.links.iter().map(|link| link.retried).sum();
        let moved = result.buses.iter().map(|bus| bus.transfers).sum();
        let seen = [result.scrubbed, result.timed_out, result.refused, retried, moved];
        totals.iter_mut().zip(seen).for_each(|(total, one)| *total += one);
    }
    assert!(delivered > 6_000, "{delivered} deliveries");
    assert!(ordered > 5, "{ordered} runs in order");
    assert!(totals.iter().all(|&total| total > 30), "{totals:?}");
}

#[test]
fn runs_on_rings_repeat_themselves() {
    for seed in [3, 14, 15] {
        let fabric = random_rings(seed);
        let until = ring_time_for(&fabric, 10);
        assert_eq!(run_rings(&fabric, until), run_rings(&fabric, until));
    }
}
