//! Sources whose place is taken for a long time: refusals are counted meanwhile, a bounded number at a time.

use fabriloom_engine::fabric::{Fabric, NONE, arrival, target};
use fabriloom_engine::kernel::Time;
use fabriloom_engine::run::{Options, Simulation};
use fabriloom_engine::terminal::Sources;

use super::build::network;

/// More is not drawn at a time.
const MOST: u64 = 1 << 17;

/// Two terminals that create a packet every other tick and have one place, which a packet holds for `hold_ticks`.
fn blocked(hold_ticks: u32, kind: u8, places: u32) -> Fabric {
    let mut f = network(&[&[0, 1]], 0);
    f.source_arrival = vec![kind; 2];
    f.source_interval_grains = vec![2.0; 2];
    f.source_burst = vec![3.0; 2];
    f.source_gap_grains = vec![1.0; 2];
    f.source_queue = vec![places; 2];
    f.station_requests_out = vec![1; 2];
    f.terminal_host_ticks = vec![hold_ticks; 2];
    f
}

fn simulation(fabric: &Fabric, until: Time, precision: f64) -> Simulation {
    let options = Options { until, precision, batch: 1 << 10, ..Options::default() };
    Simulation::new(fabric.clone(), options).expect("a legal network")
}

/// A packet takes 2^30 ticks to the station, with as many arrivals. A caller still sees progress.
#[test]
fn an_advance_draws_a_bounded_number_of_arrivals() {
    for kind in [arrival::CONSTANT, arrival::POISSON, arrival::ON_OFF] {
        let mut run = simulation(&blocked(1 << 30, kind, NONE), 1 << 40, 0.05);
        for _ in 0..20 {
            let (now, drawn) = (run.now(), run.run.drawn);
            assert_eq!(run.advance(1000).expect("routes"), None);
            assert!(run.run.drawn - drawn < MOST, "{} drawn", run.run.drawn - drawn);
            assert!(run.now() > now);
            assert!(run.run.events < 100);
        }
        let balance = run.balance().expect("balance");
        assert!(balance.refused > 1 << 20);
        assert_eq!(balance.in_flight, 2);
    }
}

/// Equal packets at equal intervals are not drawn one by one, which would take half a minute.
#[test]
fn what_differs_in_nothing_is_counted_at_once() {
    let mut fabric = blocked(1 << 30, arrival::CONSTANT, NONE);
    fabric.source_target = vec![target::FIXED; 2];
    fabric.target_fixed = vec![1, 0];
    let mut run = simulation(&fabric, 1 << 30, 0.05);
    while run.advance(1000).expect("routes").is_none() {}
    let balance = run.balance().expect("balance");
    assert_eq!((balance.refused, balance.in_flight), (balance.offered - 2, 2));
    assert!(balance.offered.abs_diff(1 << 30) < 2);
}

/// The count of lost packets does not depend on how often progress is reported, or on who counts them.
#[test]
fn what_is_lost_does_not_depend_on_when_it_is_counted() {
    let until = 1 << 20;
    for (kind, places) in [(arrival::POISSON, NONE), (arrival::CONSTANT, NONE), (arrival::ON_OFF, 3)] {
        for precision in [0.0, 0.05] {
            let fabric = blocked(300_000, kind, places);
            let (mut whole, mut parts) =
                (simulation(&fabric, until, precision), simulation(&fabric, until, precision));
            let end = whole.advance(u64::MAX).expect("routes");
            while parts.advance(1).expect("routes").is_none() {
                parts.balance().expect("balance");
            }
            assert!(whole.run.drawn > 1 << 18);
            assert_eq!((end, whole.now()), (parts.end(), parts.now()));
            assert_eq!(whole.balance(), parts.balance());
            assert_eq!(whole.measured(), parts.measured());
            // All created packets are offered, whatever happens to them.
            let made = Sources::new(&fabric).totals(&fabric, whole.now(), &[]);
            assert_eq!(whole.balance().expect("balance").offered, made.offered);
        }
    }
}
