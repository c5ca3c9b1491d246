//! Arrays with random errors are either refused, or are a network that runs; nothing panics.

use crate::scenarios::lanes::{with_arbiters, with_lanes};
use crate::scenarios::ports::with_ports;
use crate::scenarios::programs::random_programs;
use crate::scenarios::random::random_fabric;
use crate::scenarios::rings::random_rings;
use fabriloom_engine::fabric::{Fabric, transaction};
use fabriloom_engine::kernel::Time;
use fabriloom_engine::kernel::random::{Family, Stream, streams};
use fabriloom_engine::run::{Options, Simulation};

/// Puts a wrong value, or one from another row, into a row, or changes the number of rows.
trait Spoil: Copy {
    fn wrong(draw: &mut Stream) -> Self;
}

impl Spoil for u8 {
    fn wrong(draw: &mut Stream) -> Self {
        [0, 1, 2, 3, 7, 255][draw.below(6) as usize]
    }
}

impl Spoil for u32 {
    fn wrong(draw: &mut Stream) -> Self {
        [0, 1, 2, 5, 100, 1 << 13, 1 << 31, u32::MAX][draw.below(8) as usize]
    }
}

impl Spoil for u64 {
    fn wrong(draw: &mut Stream) -> Self {
        [0, 1, 1 << 40, 1 << 62, u64::MAX][draw.below(5) as usize]
    }
}

impl Spoil for f64 {
    fn wrong(draw: &mut Stream) -> Self {
        [0.0, -1.0, 1e-9, 0.5, 1.0, 1e15, 1e300, f64::INFINITY, f64::NAN][draw.below(9) as usize]
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

/// Returns how many of 1500 spoiled networks pass the check; they run for a while.
fn spoiled(network: fn(u64) -> Fabric, until: Time) -> u32 {
    let mut passed = 0;
    for seed in 0..1500 {
        let draw = &mut streams(seed, Family::Group, 1)[0];
        let mut fabric = network(seed % 60);
        for _ in 0..=draw.below(3) {
            spoil(&mut fabric, draw);
        }
        passed += u32::from(survives(fabric, until));
    }
    passed
}

#[test]
fn spoiled_arrays_do_not_panic() {
    let passed = spoiled(random_fabric, 1 << 40);
    assert!(passed > 300 && passed < 1200, "{passed} passed the check");
}

#[test]
fn spoiled_lanes_do_not_panic() {
    let passed = spoiled(|seed| with_lanes(&random_fabric(seed), seed), 1 << 40);
    assert!(passed > 300 && passed < 1200, "{passed} passed the check");
    let passed = spoiled(|seed| with_arbiters(&random_fabric(seed), seed), 1 << 40);
    assert!(passed > 300 && passed < 1200, "{passed} with arbiters passed the check");
}

#[test]
fn spoiled_programs_do_not_panic() {
    let links = spoiled(|seed| random_programs(&random_fabric(seed), seed), 1 << 22);
    let rings = |seed| {
        let mut fabric = random_rings(seed);
        fabric.terminal_transaction.fill(transaction::WRITE);
        if fabric.terminals > 1 { random_programs(&fabric, seed) } else { fabric }
    };
    let rings = spoiled(rings, 1 << 22);
    assert!(
        links > 200 && links < 1300 && rings > 200 && rings < 1300,
        "{links} and {rings} passed the check"
    );
}

#[test]
fn spoiled_rings_do_not_panic() {
    // Not longer: a delay of 2^40 ticks is legal, and so is a source that creates a packet per tick meanwhile.
    let network = |seed| {
        let fabric = random_rings(seed);
        if seed % 3 == 0 { with_ports(&fabric, seed) } else { fabric }
    };
    let passed = spoiled(network, 1 << 22);
    assert!(passed > 300 && passed < 1200, "{passed} passed the check");
}
