//! The fast engine and the twin deliver the same packets at the same ticks, in random networks of rings.

use crate::scenarios::agree;
use crate::scenarios::build::send_uniform;
use crate::scenarios::faults::with_ring_faults;
use crate::scenarios::ports::with_ports;
use crate::scenarios::rings::{Stop, random_rings, ring_time_for, rings};
use crate::scenarios::seeds::{Seeds, seeds};
use fabriloom_engine::fabric::{Fabric, ROUTE_BLOCK, arrival, target, transaction};
use fabriloom_engine::kernel::Time;
use fabriloom_engine::run::End;
use fabriloom_twin::left_in_rings;

fn compare_many(seeds: Seeds, packets: u32) {
    let (mut delivered, mut circles, mut runs) = (0, 0, 0);
    for seed in seeds {
        runs += 1;
        let fabric = random_rings(seed);
        match agree::rings(seed, &fabric, ring_time_for(&fabric, packets)) {
            Some(twin) => delivered += twin.deliveries.len(),
            None => circles += 1,
        }
    }
    assert!(delivered as u64 > u64::from(packets) * runs, "{delivered} deliveries in {runs} runs");
    assert!(circles < runs / 10, "{circles} of {runs} networks have circles of routes");
}

#[test]
fn short_runs_agree() {
    compare_many(seeds("short runs on rings", 0..200), 15);
}

#[test]
fn long_runs_agree() {
    compare_many(seeds("long runs on rings", 1000..1030), 80);
}

#[test]
fn rings_with_faults_agree() {
    let (mut delivered, mut lost, mut gone, mut discarded) = (0, 0, 0, 0);
    for seed in seeds("rings with faults", 0..150) {
        let fabric = random_rings(seed);
        let until = ring_time_for(&fabric, 25);
        if let Some(twin) = agree::rings(seed, &with_ring_faults(&fabric, seed, until), until) {
            delivered += twin.deliveries.len();
            lost += twin.lost;
            gone += u32::from(twin.lost > 0);
            discarded += twin.links.iter().map(|link| link.discarded).sum::<u64>();
        }
    }
    assert!(delivered > 1_000 && lost > 300 && gone > 50, "{delivered}, {lost}, {gone}");
    assert!(discarded > 50, "{discarded}");
}

/// Rare coincidences: responses that arrive with a time-out, a unit behind its own tail, sources that lose all packets.
#[test]
fn coincidences_agree() {
    for seed in [2211, 3034, 5037, 6310, 6984, 7047] {
        let fabric = random_rings(seed);
        agree::rings(seed, &fabric, ring_time_for(&fabric, 25));
    }
}

/// A source whose ports are all busy refuses a packet before its terminal learns that a link has failed: the refused
/// packet takes its turn among the ports before those choose again that wait for the failed one.
#[test]
fn packets_are_created_before_later_failures_are_known() {
    let seed = 30_123_731_997_165_113;
    let fabric = with_ports(&random_rings(seed), seed);
    let until = ring_time_for(&fabric, 75);
    agree::rings(seed, &with_ring_faults(&fabric, seed, until), until);
}

/// A ring of eight and a switch of four ringlets, from light load to an unlimited backlog, for every transaction.
#[test]
fn plain_networks_agree() {
    let ring = vec![vec![Stop::Terminal; 8]];
    let switch = vec![vec![Stop::Terminal, Stop::Port(0)]; 4];
    for wiring in [ring, switch] {
        for (kind, interval_ticks) in
            [(arrival::POISSON, 900.0), (arrival::TOGETHER, 300.0), (arrival::BACKLOG, 0.0)]
        {
            for transaction in 0..4 {
                let mut fabric = rings(&wiring);
                send_uniform(&mut fabric, kind, interval_ticks, 64);
                fabric.terminal_transaction.fill(transaction);
                fabric.ring_allocation = transaction % 2;
                fabric.ring_phases = transaction / 2;
                let twin = agree::rings(0, &fabric, 20_000).expect("no circle of routes");
                assert!(twin.deliveries.len() > 30);
            }
        }
    }
}

/// Whether the engine finds a deadlock, which is then permanent.
fn is_deadlocked(fabric: &Fabric, until: Time) -> bool {
    let Some(fast) = agree::simulate(fabric, until, false, 64) else { return false };
    if fast.end() != Some(End::Deadlocked) {
        return false;
    }
    let now = fast.now();
    assert!(!fast.cycle().is_empty());
    assert!(left_in_rings(fabric, now, 10 * now) > 0, "seed {}: no deadlock at {now}", fabric.seed);
    true
}

#[test]
fn deadlocks_are_real() {
    let found = seeds("deadlocks on rings", 0..600).filter(|&seed| {
        let fabric = random_rings(seed);
        is_deadlocked(&fabric, ring_time_for(&fabric, 100))
    });
    assert!(found.count() > 0, "no deadlock");
}

/// Rings in a cycle, all packets sent in the same direction, two rings on: they fill all queues and nothing moves.
#[test]
fn a_circle_of_rings_deadlocks() {
    let wiring: Vec<Vec<Stop>> =
        (0..4).map(|ring| vec![Stop::Terminal, Stop::Port(ring), Stop::Port((ring + 3) % 4)]).collect();
    let mut fabric = rings(&wiring);
    for (row, &station) in fabric.port_station.iter().enumerate() {
        let switch = fabric.link_source[station as usize];
        let ring = fabric.station_ring[station as usize];
        for terminal in 0..4 {
            let enters = ring == switch && terminal != ring;
            let out = u8::from(row as u32 == fabric.port_start[switch as usize]);
            fabric.port_exit[row * ROUTE_BLOCK + terminal as usize] = if enters { out } else { u8::MAX };
        }
    }
    send_uniform(&mut fabric, arrival::BACKLOG, 0.0, 64);
    fabric.source_target.fill(target::FIXED);
    fabric.target_fixed = vec![2, 3, 0, 1];
    fabric.terminal_transaction.fill(transaction::MOVE);
    assert!(!is_deadlocked(&fabric, 20_000), "there are places enough for what terminals have open");
    for places in [
        &mut fabric.station_requests_in,
        &mut fabric.station_requests_out,
        &mut fabric.station_in_flight,
        &mut fabric.station_rejected,
    ] {
        places.fill(1);
    }
    fabric.ring_cut_through = 0;
    assert!(is_deadlocked(&fabric, 20_000));
    agree::rings(0, &fabric, 20_000);
}
