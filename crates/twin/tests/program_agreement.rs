//! Random programs on random fabrics: the engine and its twins deliver the same packets and messages at the same ticks.

mod scenarios;

use fabriloom_engine::fabric::Fabric;
use fabriloom_engine::kernel::Time;
use fabriloom_engine::run::{End, Options, Simulation};
use fabriloom_twin::{Delivery, FlowControl, Messages, messages, run};
use scenarios::programs::random_programs;
use scenarios::random::{random_fabric, time_for};

/// A run of the fast engine, to its end.
fn simulate(fabric: &Fabric, until: Time) -> Simulation {
    let options = Options {
        until,
        batch: 1 << 50,
        warmup: Some(0),
        trace: usize::MAX,
        messages: usize::MAX,
        ..Options::default()
    };
    let mut simulation = Simulation::new(fabric.clone(), options).expect("a legal fabric");
    while simulation.advance(1 << 20).expect("a route for every packet").is_none() {}
    simulation.balance().expect("nothing is lost");
    simulation
}

fn deliveries(simulation: &Simulation) -> Vec<Delivery> {
    let like = |d: &fabriloom_engine::measure::Delivery| Delivery {
        source: d.source,
        target: d.target,
        created: d.created,
        started: d.started,
        delivered: d.delivered,
        length: d.length,
    };
    simulation.run.trace.packets.iter().map(like).collect()
}

fn of_engine(simulation: &Simulation) -> Messages {
    messages(simulation.run.programs.as_ref().expect("there are programs"))
}

/// What a set of runs came to.
#[derive(Debug, Default)]
struct Seen {
    messages: usize,
    received: usize,
    drained: u32,
    waiting: u32,
    events: usize,
}

impl Seen {
    fn add(&mut self, ours: &Messages, end: Option<End>) {
        self.messages += ours.table.len();
        self.received += ours.table.iter().filter(|row| row.received >= 0).count();
        self.events += ours.events.iter().filter(|event| event.complete >= 0).count();
        self.drained += u32::from(end == Some(End::Drained));
        self.waiting += u32::from(end == Some(End::Deadlocked) && !ours.waiting.is_empty());
    }
}

fn compare_messages(seed: u64, ours: &Messages, theirs: &Messages) {
    let same = ours.table.iter().zip(&theirs.table).take_while(|(a, b)| a == b).count();
    assert_eq!(ours.table.get(same), theirs.table.get(same), "message {same}, seed {seed}");
    assert_eq!(ours, theirs, "seed {seed}");
}

fn compare_links(seeds: std::ops::Range<u64>) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let fabric = random_programs(&random_fabric(seed), seed);
        let until = time_for(&fabric, 40);
        let (fast, twin) = (simulate(&fabric, until), run(&fabric, FlowControl::Counted, until));
        let mut list = deliveries(&fast);
        list.sort_by_key(|d| (d.delivered, d.target));
        let same = list.iter().zip(&twin.deliveries).take_while(|(a, b)| a == b).count();
        assert_eq!(list.get(same), twin.deliveries.get(same), "delivery {same}, seed {seed}");
        let ours = of_engine(&fast);
        compare_messages(seed, &ours, twin.messages.as_ref().expect("there are programs"));
        seen.add(&ours, fast.end());
    }
    seen
}

#[test]
fn programs_on_links_agree() {
    let seen = compare_links(0..80);
    assert!(seen.messages > 5_000 && seen.received > 1_500 && seen.events > 50, "{seen:?}");
    assert!(seen.drained > 5 && seen.waiting > 15, "{seen:?}");
}

/// As many as wanted: `FABRILOOM_SEEDS=5000..9000`.
#[test]
#[ignore = "as long as asked for"]
fn chosen_programs_agree() {
    let range = std::env::var("FABRILOOM_SEEDS").unwrap_or_else(|_| "0..1000".into());
    let (low, high) = range.split_once("..").expect("a range such as 0..1000");
    compare_links(low.parse().expect("a number")..high.parse().expect("a number"));
}
