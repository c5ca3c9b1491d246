//! Time-codes and interrupts in the twin, and so in the engine, compared with times computed by hand.
//!
//! Engine and twin pass on, drop and lose the same ones, at the same ticks.

use crate::scenarios::agree::{Seen as Programs, counted, emptied, links};
use crate::scenarios::build::{C104, DS_LINK, add_cable, failing, line, send_list};
use crate::scenarios::faults::{with_quiet_faults, with_timeouts};
use crate::scenarios::lanes::{with_arbiters, with_lanes};
use crate::scenarios::programs::random_programs;
use crate::scenarios::random::{random_fabric, time_for};
use crate::scenarios::seeds::seeds;
use crate::scenarios::spacewire::{with_codes, with_priorities};
use fabriloom_engine::fabric::{Fabric, TIME, acknowledge, fault_kind};
use fabriloom_twin::{TakenCode, TwinRun};

/// Terminal 0, switch, switch, terminal 1; a code has 14 ticks on a wire and needs 20 in a switch.
fn two_routers() -> Fabric {
    let mut f = line(&[C104; 2], DS_LINK);
    f.link_code_ticks = vec![14; f.links()];
    f.link_code_arrival_ticks = vec![14; f.links()];
    f.switch_code_ticks = vec![20; 2];
    f
}

fn source(f: &mut Fabric, port: u32, number: u8, first: u64, period: u64, count: u64) {
    f.code_port.push(port);
    f.code_number.push(number);
    f.code_first_ticks.push(first);
    f.code_period_ticks.push(period);
    f.code_count.push(count);
}

fn at(taken: &[TakenCode], port: u32) -> Vec<i64> {
    taken.iter().filter(|code| code.port == port).map(|code| code.at).collect()
}

/// Three links of 14 ticks and two switches of 20.
#[test]
fn an_idle_network_delays_every_time_code_alike() {
    let mut f = two_routers();
    source(&mut f, 0, TIME, 100, 1000, 3);
    let result = counted(&f);
    assert_eq!(at(&result.codes, 1), [100 + 82, 1100 + 82, 2100 + 82]);
    assert_eq!(at(&result.codes, 0), []);
    // Each occupies the wire of each forward link once, and none returns.
    let sent: Vec<u64> = result.code_counts.iter().map(|at| at.sent).collect();
    assert_eq!(sent, [3, 0, 3, 0, 3, 0]);
}

/// A packet starts at 0 on the first link, at 110 on the second and at 220 on the third, with a character every 10
/// ticks.
#[test]
fn a_time_code_waits_for_the_character_on_the_wire_and_no_longer() {
    let mut f = two_routers();
    send_list(&mut f, &[&[(1, 200, 0)], &[]]);
    source(&mut f, 0, TIME, 303, 1000, 1);
    let result = counted(&f);
    // On the first wire at 310, arrived at 324, ready at 344. The data after it are 14 ticks late: the character that
    // would have started at 310 starts at 324, arrives at 334, and crosses to be sent at 354. The second wire is
    // sending the character of 340 when the code is ready, and sends the code at 350. It arrives at 364 and is ready at
    // 384. On the third wire characters start at 220, 230, ...: the one of 380 ends at 390.
    assert_eq!(at(&result.codes, 1), [390 + 14]);
    // The packet is delayed by one code only: each link is interrupted, but by the same gap.
    f.code_count = vec![0];
    let plain = counted(&f);
    let late = result.deliveries[0].delivered - plain.deliveries[0].delivered;
    assert_eq!(late, 14, "the gap travels with the code");
    let busy = |run: &TwinRun, link: usize| run.links[link].busy_ticks;
    assert_eq!(busy(&result, 4) - busy(&plain, 4), 14);
}

/// A lost code is missed once on its link, and once more after each router: the next code is not the last one plus one
/// there, and is dropped.
#[test]
fn a_lost_time_code_is_missed_again_at_every_router() {
    let mut f = two_routers();
    source(&mut f, 0, TIME, 100, 1000, 6);
    // The first cable is down for the second code.
    failing(&mut f, 0, 1090, 1150, 1500);
    let result = counted(&f);
    assert_eq!(result.code_counts[0].lost, 1);
    let invalid: Vec<u64> = result.code_counts.iter().map(|at| at.invalid).collect();
    assert_eq!(invalid, [1, 0, 1, 0, 1, 0]);
    // The third ends at the first switch, the fourth at the second one, and the fifth at the terminal.
    assert_eq!(at(&result.codes, 1), [182, 5182]);
}

/// Two paths to a switch: the code that arrives later by the longer one is a duplicate.
#[test]
fn a_second_way_gives_duplicates() {
    let mut f = two_routers();
    add_cable(&mut f, 0, 1, DS_LINK);
    f.link_code_ticks.extend([14; 2]);
    f.link_code_arrival_ticks.extend([18; 2]);
    source(&mut f, 0, TIME, 0, 500, 2);
    let result = counted(&f);
    assert_eq!(at(&result.codes, 1), [82, 582]);
    // By the second cable to the second switch, and by it back to the first.
    assert_eq!((result.code_counts[6].duplicates, result.code_counts[7].duplicates), (2, 2));
}

/// An interrupt is held for 300 ticks at every vertex.
#[test]
fn an_interrupt_is_held() {
    let mut f = two_routers();
    f.interrupt_hold_ticks = 300;
    source(&mut f, 0, 5, 0, 200, 4);
    source(&mut f, 1, 5, 10, 1000, 1);
    let result = counted(&f);
    // Terminal 0 creates it at 0 and 400, and is ignored at 200 and 600. Terminal 1 created it at 10; both meet, and
    // are dropped as duplicates.
    let taken: Vec<(u32, i64)> = result.codes.iter().map(|code| (code.port, code.at)).collect();
    assert_eq!(taken, [(1, 482)]);
}

/// Stuck terminals accept codes.
#[test]
fn a_stuck_terminal_takes_time_codes() {
    let mut f = two_routers();
    send_list(&mut f, &[&[(1, 200, 0)], &[]]);
    source(&mut f, 0, TIME, 2000, 1000, 3);
    failing(&mut f, 4, 50, 51, 50_000);
    f.fault_kind = vec![fault_kind::STUCK];
    let result = counted(&f);
    assert_eq!(at(&result.codes, 1), [2082, 3082, 4082]);
    assert_eq!(result.deliveries.len(), 1);
}

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
