//! Random networks of rings in the twin alone: it checks itself for lost symbols and packets and overfull queues.

use std::collections::HashMap;

use crate::scenarios::rings::{random_rings, ring_time_for};
use fabriloom_engine::fabric::Fabric;
use fabriloom_twin::{RingTwinRun, run_rings};

/// Whether packets from one terminal to another cannot overtake each other; on several buses they can.
fn has_order(f: &Fabric) -> bool {
    f.ring_in_order == 1 && f.port_yields.is_empty() && f.terminal_transaction.iter().all(|&kind| kind == 1)
}

fn keeps_order(result: &RingTwinRun) -> bool {
    let mut last = HashMap::new();
    result
        .deliveries
        .iter()
        .all(|d| last.insert((d.source, d.target), d.started).is_none_or(|before| before < d.started))
}

#[test]
fn random_rings_lose_nothing() {
    let (mut delivered, mut ordered, mut totals) = (0, 0, [0; 5]);
    for seed in 0..300 {
        let fabric = random_rings(seed);
        let result = run_rings(&fabric, ring_time_for(&fabric, 20));
        delivered += result.deliveries.len();
        assert!(result.deliveries.iter().all(|d| d.created <= d.started && d.started < d.delivered));
        if has_order(&fabric) {
            ordered += 1;
            assert!(keeps_order(&result), "seed {seed}");
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
fn runs_repeat_themselves() {
    for seed in [3, 14, 15] {
        let fabric = random_rings(seed);
        let until = ring_time_for(&fabric, 10);
        assert_eq!(run_rings(&fabric, until), run_rings(&fabric, until));
    }
}
