//! The engine and the twin pass on, drop and lose the same time-codes and interrupts, at the same ticks.

use crate::scenarios::agree::{Seen as Programs, emptied, links};
use crate::scenarios::codes::{with_codes, with_priorities};
use crate::scenarios::faults::{with_quiet_faults, with_timeouts};
use crate::scenarios::lanes::{with_arbiters, with_lanes};
use crate::scenarios::programs::random_programs;
use crate::scenarios::random::{random_fabric, time_for};
use crate::scenarios::seeds::seeds;

use fabriloom_engine::fabric::{Fabric, acknowledge};

/// The fate of the codes of all runs.
#[derive(Debug, Default)]
struct Seen {
    taken: usize,
    lost: u64,
    duplicates: u64,
    invalid: u64,
}

impl Seen {
    fn compare(&mut self, seed: u64, fabric: &Fabric, until: i64) {
        let twin = links(seed, fabric, until);
        emptied(seed, fabric, until, &twin);
        self.taken += twin.codes.len();
        self.lost += twin.code_counts.iter().map(|at| at.lost).sum::<u64>();
        self.duplicates += twin.code_counts.iter().map(|at| at.duplicates).sum::<u64>();
        self.invalid += twin.code_counts.iter().map(|at| at.invalid).sum::<u64>();
    }
}

#[test]
fn random_fabrics_with_codes_agree() {
    let mut seen = Seen::default();
    for seed in seeds("fabrics with codes", 0..12) {
        let fabric = random_fabric(seed);
        let until = time_for(&fabric, 15);
        seen.compare(seed, &with_codes(&fabric, seed, until), until);
    }
    assert!(seen.taken > 1000 && seen.duplicates > 500 && seen.invalid > 30, "{seen:?}");
}

#[test]
fn codes_beside_faults_and_lanes_agree() {
    let mut seen = Seen::default();
    for seed in seeds("faults with codes", 0..12) {
        let fabric = random_fabric(seed);
        let fabric = match seed % 4 {
            0 => with_lanes(&fabric, seed),
            1 => with_arbiters(&fabric, seed),
            _ => fabric,
        };
        let until = time_for(&fabric, 15);
        let fabric = with_codes(&with_timeouts(&fabric, seed, until), seed, until);
        seen.compare(seed, &fabric, until);
    }
    assert!(seen.taken > 500 && seen.lost > 30 && seen.invalid > 30, "{seen:?}");
}

/// A code or a stop may come between the first character of a packet, which programs may acknowledge, and its end.
#[test]
fn programs_beside_codes_and_stops_agree() {
    let mut seen = Programs::default();
    for seed in seeds("programs with codes", 0..40) {
        let mut fabric = random_programs(&random_fabric(seed), seed);
        let until = time_for(&fabric, 40);
        if fabric.message_acknowledge == acknowledge::PACKET {
            fabric.message_ack_at_head = u8::from(seed % 4 > 0);
        }
        let fabric = if seed % 3 == 0 {
            with_quiet_faults(&fabric, seed, until)
        } else {
            with_codes(&fabric, seed, until)
        };
        seen.compare(seed, &fabric, until);
    }
    assert!(seen.received > 100, "{seen:?}");
}

#[test]
fn fabrics_with_two_priorities_agree() {
    let mut changed = 0;
    for seed in seeds("two priorities", 0..18) {
        let fabric = random_fabric(seed);
        let fabric = if seed % 3 == 0 { with_lanes(&fabric, seed) } else { fabric };
        let until = time_for(&fabric, 15);
        let twin = links(seed, &with_priorities(&fabric, seed), until);
        emptied(seed, &with_priorities(&fabric, seed), until, &twin);
        changed += usize::from(twin.deliveries != links(seed, &fabric, until).deliveries);
    }
    assert!(changed > 3, "{changed}");
}
