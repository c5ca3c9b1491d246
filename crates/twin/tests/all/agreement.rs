//! The fast engine and the twin deliver the same packets at the same ticks, in random fabrics.

use crate::scenarios::agree::{self, Agreed, links, simulate};
use crate::scenarios::build::{C104, DS_LINK, Switch, grid, line, send_uniform};
use crate::scenarios::counts::same_deliveries;
use crate::scenarios::random::{random_fabric, random_stops, time_for};
use fabriloom_engine::fabric::arrival;
use fabriloom_engine::run::End;
use fabriloom_twin::{FlowControl, run};

fn compare_many(seeds: std::ops::Range<u64>, packets: u32) {
    let mut agreed = Agreed::default();
    for seed in seeds {
        let fabric = random_fabric(seed);
        agreed.compare(seed, &fabric, time_for(&fabric, packets));
    }
    assert!(agreed.delivered > 30 * agreed.runs, "{agreed:?}");
    assert!(agreed.deadlocked > 0 && agreed.deadlocked < agreed.runs / 2, "{agreed:?}");
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
            let twin = links(0, &fabric, 10_000 + 100 * i64::from(chars));
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
            links(0, &fabric, 50_000);
        }
    }
}

/// The engine works nothing out past the moment at which a link may be stopped; a stop changes what comes after it.
#[test]
fn stopped_links_agree() {
    let (mut stopped, mut later) = (0, 0);
    for seed in 0..200 {
        let fabric = random_fabric(seed);
        let until = time_for(&fabric, 20);
        let stops = random_stops(&fabric, seed, until);
        let twin = agree::stopped(seed, &fabric, until, &stops);
        stopped += stops.len();
        later += u32::from(twin.deliveries != run(&fabric, FlowControl::Counted, until).deliveries);
    }
    assert!(stopped > 1000 && later > 50, "{stopped} stops changed {later} runs");
}

/// What the engine calls a deadlock while others still move is one for ever.
#[test]
fn deadlocks_found_on_the_way_are_real() {
    let mut found = 0;
    for seed in 0..300 {
        let fabric = random_fabric(seed);
        let fast = simulate(&fabric, time_for(&fabric, 20), false, 16).expect("a route for every packet");
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
