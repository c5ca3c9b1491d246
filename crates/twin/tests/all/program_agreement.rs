//! Random programs on random fabrics: the engine and its twins deliver the same packets and messages at the same ticks.

use crate::scenarios::agree::{Seen, simulate, store};
use crate::scenarios::faults::{with_faults, with_ring_faults};
use crate::scenarios::lanes::with_lanes;
use crate::scenarios::ports::{with_class_ports, with_ports};
use crate::scenarios::programs::{
    random_programs, random_programs_beside, with_announcements, with_few_unexpected, with_packets_spread,
    with_shapers,
};
use crate::scenarios::random::{random_fabric, time_for};
use crate::scenarios::rings::{random_rings, ring_time_for};
use crate::scenarios::seeds::seeds;
use fabriloom_engine::fabric::acknowledge;

fn compare_links(seeds: std::ops::Range<u64>, packets: u32) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let mut fabric = random_programs(&random_fabric(seed), seed);
        if seed % 5 == 3 {
            fabric = with_shapers(&fabric, seed);
        } else if seed % 3 == 1 {
            fabric = with_announcements(&fabric, seed);
        }
        if seed % 4 == 2 {
            fabric = with_few_unexpected(&fabric, seed);
        }
        seen.compare(seed, &fabric, time_for(&fabric, packets));
    }
    seen
}

#[test]
fn programs_on_links_agree() {
    let seen = compare_links(0..250, 40);
    assert!(seen.messages > 5_000 && seen.received > 1_500 && seen.events > 50, "{seen:?}");
    assert!(seen.announced > 100, "{seen:?}");
    assert!(seen.drained > 5 && seen.waiting > 15, "{seen:?}");
}

/// Terminals that run a program and are sources as well, with one lane and with several, by one port and by several.
#[test]
fn programs_beside_sources_agree() {
    let (mut seen, mut both) = (Seen::default(), 0);
    for seed in seeds("programs beside sources", 0..300) {
        let mut fabric = random_fabric(seed);
        if seed % 3 == 0 {
            fabric = with_ports(&fabric, seed);
        }
        if seed % 9 == 6 {
            fabric = with_class_ports(&fabric, seed);
        }
        fabric = random_programs_beside(&fabric, seed);
        if seed % 6 == 3 {
            fabric = with_packets_spread(&fabric);
        }
        if seed % 3 == 1 {
            fabric = with_announcements(&fabric, seed);
        }
        if seed % 4 == 0 {
            fabric = with_lanes(&fabric, seed);
        }
        both += u32::from(fabric.has_sources_beside());
        let until = time_for(&fabric, 40);
        if seed % 5 == 3 {
            fabric = with_faults(&fabric, seed, until);
        }
        seen.compare(seed, &fabric, until);
    }
    assert!(both > 80 && seen.messages > 3_000 && seen.received > 1_000, "{both}, {seen:?}");
    assert!(seen.drained > 5 && seen.waiting > 15, "{seen:?}");
}

/// A link that reaches its last packet without credit, before anything of this packet has arrived to be sent.
#[test]
fn links_without_credit_agree() {
    let seed = 3_298_534_897_245;
    let seen = compare_links(seed..seed + 1, 240);
    assert!(seen.received > 20, "{seen:?}");
}

/// Checked messages are sent again after a transaction has timed out.
#[test]
fn programs_on_rings_with_faults_agree() {
    let (mut seen, mut repeated) = (Seen::default(), 0);
    for seed in seeds("programs on rings with faults", 0..120) {
        let mut fabric = random_rings(seed);
        store(&mut fabric, seed);
        if fabric.terminals < 2 {
            continue;
        }
        let mut fabric = random_programs(&fabric, seed);
        if seed % 4 > 0 {
            fabric.message_acknowledge = acknowledge::RESPONSE;
            (fabric.message_receive_at_once, fabric.message_receive_gap_ticks) = (0, 0);
            fabric.message_check_ticks = fabric.message_check_ticks.max(1);
            fabric.message_bit_error_rate /= 10.0;
        }
        let until = ring_time_for(&fabric, 40);
        let mut fabric = with_ring_faults(&fabric, seed, until);
        if seed % 5 == 1 {
            fabric = with_announcements(&fabric, seed);
        }
        fabric.ring_timeout_ticks = fabric.ring_timeout_ticks.max(400);
        seen.compare(seed, &fabric, until);
        if fabric.message_bit_error_rate == 0.0 {
            let run = simulate(&fabric, until, false, 1 << 50).map(|one| one.run);
            repeated += run.and_then(|run| run.programs).map_or(0, |one| one.account.repeated);
        }
    }
    assert!(seen.messages > 900 && seen.received > 300 && repeated > 20, "{seen:?}, {repeated}");
}

#[test]
fn programs_on_rings_agree() {
    let mut seen = Seen::default();
    for seed in 0..200 {
        let mut fabric = random_rings(seed);
        store(&mut fabric, seed);
        if fabric.terminals < 2 {
            continue;
        }
        let mut fabric = random_programs(&fabric, seed);
        if seed % 5 == 3 {
            fabric = with_shapers(&fabric, seed);
        } else if seed % 3 == 1 {
            fabric = with_announcements(&fabric, seed);
        }
        if seed % 4 == 2 {
            fabric = with_few_unexpected(&fabric, seed);
        }
        seen.compare(seed, &fabric, ring_time_for(&fabric, 40));
    }
    assert!(seen.messages > 2_000 && seen.received > 1_500 && seen.events > 50, "{seen:?}");
    assert!(seen.announced > 100, "{seen:?}");
    assert!(seen.drained > 5 && seen.waiting > 15, "{seen:?}");
}
