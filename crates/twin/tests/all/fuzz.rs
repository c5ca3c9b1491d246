//! Arrays with random errors are either refused, or are a network that runs; nothing panics. No sum overflows with the
//! longest times that are allowed.

use crate::scenarios::agree::store;
use crate::scenarios::faults::{with_faults, with_ring_faults, with_tables, with_timeouts};
use crate::scenarios::lanes::{
    with_arbiters, with_congestion, with_congestion_and_faults, with_lanes, with_whole_packets,
};
use crate::scenarios::ports::with_ports;
use crate::scenarios::programs::{random_programs, with_announcements, with_resends, with_shapers};
use crate::scenarios::random::{random_fabric, time_for};
use crate::scenarios::rings::{random_rings, ring_time_for, with_other_rings, with_tokens};
use crate::scenarios::seeds::seeds;
use crate::scenarios::spacewire::with_codes;
use fabriloom_engine::fabric::{Fabric, check, operation, transaction};
use fabriloom_engine::kernel::Time;
use fabriloom_engine::kernel::random::{Family, Stream, streams};
use fabriloom_engine::results::Results;
use fabriloom_engine::run::{Options, Simulation};

/// Puts a wrong value, or one from another row, into a row, or changes the number of rows.
trait Spoil: Copy {
    fn wrong(draw: &mut Stream) -> Self;

    /// Returns a large value: this power of two, or the most there is.
    fn large(power: u32) -> Self;
}

impl Spoil for u8 {
    fn wrong(draw: &mut Stream) -> Self {
        [0, 1, 2, 3, 7, 255][draw.below(6) as usize]
    }

    fn large(power: u32) -> Self {
        1u8.checked_shl(power).unwrap_or(u8::MAX)
    }
}

impl Spoil for u32 {
    fn wrong(draw: &mut Stream) -> Self {
        [0, 1, 2, 5, 100, 1 << 13, 1 << 31, u32::MAX][draw.below(8) as usize]
    }

    fn large(power: u32) -> Self {
        1u32.checked_shl(power).unwrap_or(u32::MAX)
    }
}

impl Spoil for u64 {
    fn wrong(draw: &mut Stream) -> Self {
        [0, 1, 1 << 40, 1 << 62, u64::MAX][draw.below(5) as usize]
    }

    fn large(power: u32) -> Self {
        1 << power
    }
}

impl Spoil for f64 {
    fn wrong(draw: &mut Stream) -> Self {
        [0.0, -1.0, 1e-9, 0.5, 1.0, 1e15, 1e300, f64::INFINITY, f64::NAN][draw.below(9) as usize]
    }

    fn large(power: u32) -> Self {
        f64::from(power).exp2()
    }
}

fn spoil_rows<T: Spoil>(rows: &mut Vec<T>, draw: &mut Stream) {
    let count = rows.len() as u32;
    match draw.below(12) {
        0 => rows.push(T::wrong(draw)),
        1 => rows.truncate(draw.below(count.max(1)) as usize),
        2..=6 if count > 0 => rows[draw.below(count) as usize] = rows[draw.below(count) as usize],
        7..=8 if count > 0 => rows.swap(draw.below(count) as usize, draw.below(count) as usize),
        _ if count > 0 => rows[draw.below(count) as usize] = T::wrong(draw),
        _ => {}
    }
}

fn spoil(f: &mut Fabric, draw: &mut Stream) {
    let columns = fabriloom_engine::fabric::COLUMNS.len() as u32;
    let scalars = fabriloom_engine::fabric::SCALARS.len() as u32;
    let chosen = draw.below(columns + scalars);
    let mut place = 0;
    macro_rules! visit {
        ($name:ident: $type:ty) => {
            if place == chosen {
                spoil_rows::<$type>(&mut f.$name, draw);
            }
            place += 1;
        };
    }
    fabriloom_engine::for_each_column!(visit);
    macro_rules! visit_scalar {
        ($name:ident: $type:ty) => {
            if place == chosen {
                f.$name = <$type>::wrong(draw);
            }
            place += 1;
        };
    }
    fabriloom_engine::for_each_scalar!(visit_scalar);
    debug_assert!(chosen < place);
}

/// Makes about half of the times as long as the check allows.
fn lengthen(f: &mut Fabric, draw: &mut Stream) {
    let is_time = |name: &str| name.ends_with("_ticks") || name.ends_with("_grains");
    macro_rules! visit {
        ($name:ident: $type:ty) => {
            if is_time(stringify!($name)) && !f.$name.is_empty() && draw.below(2) == 0 {
                let before = f.$name.clone();
                let fits = |&power: &u32| {
                    f.$name.fill(<$type>::large(power));
                    check(f).is_ok()
                };
                if (0..64).rev().find(fits).is_none() {
                    f.$name = before;
                }
            }
        };
    }
    fabriloom_engine::for_each_column!(visit);
    macro_rules! visit_scalar {
        ($name:ident: $type:ty) => {
            if is_time(stringify!($name)) && draw.below(2) == 0 {
                let before = f.$name;
                let fits = |&power: &u32| {
                    f.$name = <$type>::large(power);
                    check(f).is_ok()
                };
                if (0..64).rev().find(fits).is_none() {
                    f.$name = before;
                }
            }
        };
    }
    fabriloom_engine::for_each_scalar!(visit_scalar);
    // Not every tick a packet in all that time.
    let jitter = f.flow_jitter_grains.iter().copied().fold(45f64.exp2(), f64::max);
    for column in [&mut f.source_interval_grains, &mut f.source_gap_grains, &mut f.flow_interval_grains] {
        column.iter_mut().filter(|grains| **grains > 0.0).for_each(|grains| *grains = jitter);
    }
}

/// Whether the arrays passed the check.
fn survives(fabric: Fabric, until: Time) -> bool {
    let options = Options { until, warmup: Some(0), batch: 1 << 14, trace: 100, ..Options::default() };
    let Ok(mut simulation) = Simulation::new(fabric, options) else {
        return false;
    };
    if simulation.advance(3_000).is_ok() {
        simulation.balance().expect("nothing is lost");
    }
    true
}

/// Runs spoiled networks that pass the check for a while: at least one in seven, and not all.
fn spoiled(kind: &'static str, network: fn(u64) -> Fabric, until: Time) {
    let (mut passed, mut drawn) = (0, 0);
    for seed in seeds(kind, 0..1500) {
        let draw = &mut streams(seed, Family::Group, 1)[0];
        let mut fabric = network(seed);
        for _ in 0..=draw.below(3) {
            spoil(&mut fabric, draw);
        }
        drawn += 1;
        passed += u32::from(survives(fabric, until));
    }
    assert!(passed > drawn / 7 && passed < drawn * 7 / 8, "{passed} of {drawn} {kind} passed the check");
}

#[test]
fn spoiled_arrays_do_not_panic() {
    spoiled("spoiled arrays", random_fabric, 1 << 40);
}

#[test]
fn spoiled_lanes_do_not_panic() {
    spoiled("spoiled lanes", |seed| with_lanes(&random_fabric(seed), seed), 1 << 40);
    spoiled("spoiled arbiters", |seed| with_arbiters(&random_fabric(seed), seed), 1 << 40);
}

#[test]
fn spoiled_programs_do_not_panic() {
    spoiled("spoiled programs", |seed| random_programs(&random_fabric(seed), seed), 1 << 22);
    let rings = |seed| {
        let mut fabric = random_rings(seed);
        fabric.terminal_transaction.fill(transaction::WRITE);
        if fabric.terminals > 1 { random_programs(&fabric, seed) } else { fabric }
    };
    spoiled("spoiled programs on rings", rings, 1 << 22);
}

#[test]
fn spoiled_rings_do_not_panic() {
    // Not longer: a delay of 2^40 ticks is legal, and so is a source that creates a packet per tick meanwhile.
    let network = |seed| {
        let fabric = random_rings(seed);
        if seed % 3 == 0 { with_ports(&fabric, seed) } else { fabric }
    };
    spoiled("spoiled rings", network, 1 << 22);
}

/// Networks of all kinds, with faults and codes that are planned for a short run.
fn long_of_links(seed: u64) -> Fabric {
    let fabric = random_fabric(seed);
    let until = time_for(&fabric, 15);
    let fabric = match seed / 8 % 6 {
        0 => with_lanes(&fabric, seed),
        1 => with_arbiters(&fabric, seed),
        2 => with_whole_packets(&fabric, seed),
        3 if seed.is_multiple_of(3) => with_congestion_and_faults(&fabric, seed, until),
        3 => with_congestion(&fabric, seed),
        4 => with_ports(&fabric, seed),
        _ => fabric,
    };
    let fabric = match seed % 8 {
        0 | 1 => random_programs(&fabric, seed),
        2 => with_announcements(&random_programs(&fabric, seed), seed),
        3 => with_shapers(&random_programs(&fabric, seed), seed),
        4 => with_resends(&random_programs(&fabric, seed), seed),
        _ => fabric,
    };
    if (2..4).contains(&(seed / 8 % 6)) {
        return fabric;
    }
    match seed / 48 % 5 {
        0 => with_timeouts(&fabric, seed, until),
        1 => with_tables(&with_faults(&fabric, seed, until), seed, until),
        2 => with_codes(&fabric, seed, until),
        _ => fabric,
    }
}

fn long_of_rings(seed: u64) -> Fabric {
    let fabric = random_rings(seed);
    let fabric = if !seed.is_multiple_of(3) { with_other_rings(&fabric, seed) } else { fabric };
    let fabric = if seed % 3 > 1 { with_tokens(&fabric, seed) } else { fabric };
    let mut fabric = if seed % 4 == 1 { with_ports(&fabric, seed) } else { fabric };
    if seed % 5 < 2 && fabric.terminals > 1 {
        store(&mut fabric, seed);
        fabric = random_programs(&fabric, seed);
    }
    let until = ring_time_for(&fabric, 15);
    if seed % 7 < 3 { with_ring_faults(&fabric, seed, until) } else { fabric }
}

fn run_long(kind: &'static str, network: fn(u64) -> Fabric) {
    for seed in seeds(kind, 0..100) {
        let mut fabric = network(seed);
        lengthen(&mut fabric, &mut streams(seed, Family::Group, 1)[0]);
        // As above: a program that repeats itself may wait for a tick each time.
        let until = if fabric.op_kind.contains(&operation::REPEAT) { 1 << 22 } else { 1 << 60 };
        let options = Options {
            until,
            warmup: [None, Some(0), Some(until)][(seed % 3) as usize],
            batch: [1 << 14, 1 << 52, 1 << 60][(seed / 3 % 3) as usize],
            drain: seed / 9 % 2 == 0,
            flows: 100,
            hops: 100,
            trace: 100,
            messages: 100,
            ..Options::default()
        };
        let mut simulation = Simulation::new(fabric, options).expect("it has been checked");
        if simulation.advance(3_000).is_ok() {
            Results::of(&simulation).expect("nothing is lost");
        }
    }
}

#[test]
fn the_longest_times_do_not_overflow() {
    run_long("networks of links with long times", long_of_links);
}

#[test]
fn the_longest_times_do_not_overflow_on_rings() {
    run_long("networks of rings with long times", long_of_rings);
}
