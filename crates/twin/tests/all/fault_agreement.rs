//! The engine and the twin deliver and lose the same packets at the same ticks if links fail.

use crate::scenarios::agree::{Agreed, Seen};
use crate::scenarios::faults::{with_faults, with_tables, with_timeouts};
use crate::scenarios::lanes::{with_arbiters, with_lanes};
use crate::scenarios::networks::random_network;
use crate::scenarios::programs::{random_programs, with_announcements, with_resends};
use crate::scenarios::random::{random_fabric, time_for};
use crate::scenarios::seeds::seeds;

#[test]
fn random_fabrics_with_faults_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("fabrics with faults", 0..60) {
        let fabric = random_fabric(seed);
        let until = time_for(&fabric, 15);
        agreed.compare(seed, &with_faults(&fabric, seed, until), until);
    }
    assert!(agreed.delivered > 30 * agreed.runs, "{agreed:?}");
    assert!(agreed.cut > agreed.runs && agreed.discarded > agreed.runs, "{agreed:?}");
}

#[test]
fn random_fabrics_with_timeouts_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("fabrics with time-outs", 0..60) {
        let fabric = random_fabric(seed);
        let until = time_for(&fabric, 15);
        agreed.compare(seed, &with_timeouts(&fabric, seed, until), until);
    }
    assert!(agreed.timed_out > agreed.runs, "{agreed:?}");
}

#[test]
fn replaced_tables_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("replaced tables", 0..60) {
        let fabric = random_fabric(seed);
        let until = time_for(&fabric, 15);
        let fabric = if seed % 3 == 0 { fabric } else { with_faults(&fabric, seed, until) };
        agreed.compare(seed, &with_tables(&fabric, seed, until), until);
    }
    assert!(agreed.delivered > 30 * agreed.runs && agreed.discarded > 3 * agreed.runs, "{agreed:?}");
}

#[test]
fn lanes_with_faults_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("lanes with faults", 0..60) {
        let fabric = random_fabric(seed);
        let fabric = if seed % 2 == 0 { with_lanes(&fabric, seed) } else { with_arbiters(&fabric, seed) };
        let until = time_for(&fabric, 15);
        agreed.compare(seed, &with_timeouts(&fabric, seed, until), until);
    }
    assert!(agreed.cut > agreed.runs / 2, "{agreed:?}");
}

#[test]
fn networks_with_faults_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("networks with faults", 0..5) {
        let (fabric, until) = random_network(seed);
        agreed.compare(seed, &with_faults(&fabric, seed, until), until);
    }
    assert!(agreed.delivered > 30 * agreed.runs, "{agreed:?}");
}

#[test]
fn programs_with_faults_agree() {
    let mut seen = Seen::default();
    for seed in seeds("programs with faults", 0..20) {
        let fabric = random_programs(&random_fabric(seed), seed);
        let fabric = if seed % 3 == 1 { with_announcements(&fabric, seed) } else { fabric };
        let until = time_for(&fabric, 40);
        seen.compare(seed, &with_faults(&fabric, seed, until), until);
    }
    assert!(seen.received > 50, "{seen:?}");
}

/// Every packet of a message that is not lost is received exactly once, however often it was sent.
#[test]
fn programs_that_send_again_agree() {
    let mut seen = Seen::default();
    for seed in seeds("programs that send again", 0..40) {
        let fabric = with_resends(&random_programs(&random_fabric(seed), seed), seed);
        let fabric = if seed % 3 == 1 { with_announcements(&fabric, seed) } else { fabric };
        let until = time_for(&fabric, 40);
        seen.compare(seed, &with_faults(&fabric, seed, until), until);
    }
    assert!(seen.received > 100 && seen.resent > 100 && seen.duplicates > 50, "{seen:?}");
    assert!(seen.given_up > 10, "{seen:?}");
}
