//! The fast engine and the twin deliver the same packets at the same ticks, in random fabrics.

mod scenarios;

use fabriloom_engine::fabric::{Fabric, arrival};
use fabriloom_engine::kernel::Time;
use fabriloom_engine::run::{End, Options, Simulation};
use fabriloom_twin::{FlowControl, LinkCounts, TwinRun, run};
use scenarios::build::{C104, DS_LINK, Switch, grid, line, send_uniform};
use scenarios::chosen_seeds;
use scenarios::counts::same_deliveries;
use scenarios::random::{random_fabric, time_for};

/// A run of the fast engine to its end; it looks for deadlocks every 16 batches and at the end.
fn simulate_in_batches(fabric: &Fabric, until: Time, drain: bool, batch: Time) -> Simulation {
    let options = Options { until, drain, batch, warmup: Some(0), trace: usize::MAX, ..Options::default() };
    let mut simulation = Simulation::new(fabric.clone(), options).expect("a legal fabric");
    while simulation.advance(1 << 20).expect("a route for every packet").is_none() {}
    simulation
}

/// A run of the fast engine to its end, without looking for deadlocks on the way.
fn simulate(fabric: &Fabric, until: Time, drain: bool) -> Simulation {
    simulate_in_batches(fabric, until, drain, 1 << 50)
}

fn compare(seed: u64, fabric: &Fabric, until: Time) -> TwinRun {
    let twin = run(fabric, FlowControl::Counted, until);
    let fast = simulate(fabric, until, false);
    same_deliveries(&fast, &twin.deliveries, &format!("seed {seed}, until {until}"));
    assert_eq!(fast.packet_hops(), twin.packet_hops, "packet-hops, seed {seed}");
    let balance = fast.balance().expect("nothing is lost");
    if fast.now() == until {
        let counts = (balance.offered, balance.refused, balance.in_flight);
        assert_eq!(counts, (twin.offered, twin.refused, twin.in_flight), "packets, seed {seed}");
    }
    twin
}

/// Emptied after the time limit, both find the same packets stuck for ever, or have used the links alike.
fn compare_emptied(seed: u64, fabric: &Fabric, until: Time, twin: &TwinRun) {
    let drained = simulate(fabric, until, true);
    assert_eq!(drained.end() == Some(End::Deadlocked), twin.deadlocked, "deadlock, seed {seed}");
    assert_eq!(drained.cycle().is_empty(), !twin.deadlocked, "cycle, seed {seed}");
    if twin.deadlocked {
        return;
    }
    for (link, (fast, twin)) in drained.worms().expect("switches").counts().zip(&twin.links).enumerate() {
        let fast = LinkCounts {
            packets: fast.packets,
            characters: fast.characters,
            busy_ticks: fast.busy_ticks,
            stalled_ticks: fast.stalled_ticks,
            wait_ticks: fast.wait_ticks,
        };
        assert_eq!(fast, *twin, "link {link}, seed {seed}");
    }
}

fn compare_many(seeds: std::ops::Range<u64>, packets: u32) {
    let (mut delivered, mut deadlocked) = (0, 0);
    for seed in seeds.clone() {
        let fabric = random_fabric(seed);
        let until = time_for(&fabric, packets);
        let twin = compare(seed, &fabric, until);
        compare_emptied(seed, &fabric, until, &twin);
        delivered += twin.deliveries.len();
        deadlocked += u64::from(twin.deadlocked);
    }
    let runs = seeds.end - seeds.start;
    assert!(delivered as u64 > 30 * runs, "{delivered} deliveries in {runs} runs");
    assert!(deadlocked > 0 && deadlocked < runs / 2, "{deadlocked} of {runs} runs deadlocked");
}

/// The sizes and speeds of real networks: a grid of C104 from light load to an unlimited backlog.
#[test]
fn grids_agree() {
    for (kind, interval_ticks) in
        [(arrival::POISSON, 7000.0), (arrival::POISSON, 3000.0), (arrival::BACKLOG, 0.0)]
    {
        for chars in [8, 64, 1000] {
            let mut fabric = grid(4, 4, C104, DS_LINK);
            send_uniform(&mut fabric, kind, interval_ticks * f64::from(chars) / 64.0, chars);
            let twin = compare(0, &fabric, 10_000 + 100 * i64::from(chars));
            assert!(twin.deliveries.len() > 30 && !twin.deadlocked);
        }
    }
}

/// No switch at all, one, and some in a row; a slow crossbar and one as fast as the links.
#[test]
fn lines_agree() {
    for (switches, crossbar_ticks) in [(0, 0), (1, 0), (1, 10), (3, 25), (6, 0)] {
        for kind in [arrival::BACKLOG, arrival::POISSON, arrival::RANDOM_WAIT] {
            let mut fabric = line(&vec![Switch { crossbar_ticks, ..C104 }; switches], DS_LINK);
            send_uniform(&mut fabric, kind, 800.0, 64);
            compare(0, &fabric, 50_000);
        }
    }
}

/// What the engine calls a deadlock while others still move is one for ever.
#[test]
fn deadlocks_found_on_the_way_are_real() {
    let mut found = 0;
    for seed in 0..300 {
        let fabric = random_fabric(seed);
        let fast = simulate_in_batches(&fabric, time_for(&fabric, 20), false, 16);
        if fast.end() == Some(End::Deadlocked) {
            found += 1;
            let twin = run(&fabric, FlowControl::Counted, fast.now());
            assert!(twin.deadlocked, "seed {seed}: no deadlock at {}", fast.now());
            same_deliveries(&fast, &twin.deliveries, &format!("seed {seed}"));
        }
    }
    assert!(found > 10, "{found} deadlocks");
}

#[test]
fn short_runs_agree() {
    compare_many(0..300, 10);
}

#[test]
fn long_runs_agree() {
    compare_many(1000..1100, 40);
}

/// As many random fabrics as wanted: `FABRILOOM_SEEDS=5000..9000`.
#[test]
#[ignore = "as long as asked for"]
fn chosen_runs_agree() {
    compare_many(chosen_seeds(), 20);
}
