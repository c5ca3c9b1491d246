//! Random programs on random fabrics: the engine and its twins deliver the same packets and messages at the same ticks.

mod scenarios;

use fabriloom_engine::fabric::{Fabric, transaction};
use fabriloom_engine::kernel::Time;
use fabriloom_engine::run::{End, Options, RunError, Simulation};
use fabriloom_twin::{FlowControl, Messages, messages, run, run_rings};
use scenarios::chosen_seeds;
use scenarios::counts::{same_counts, same_deliveries};
use scenarios::programs::random_programs;
use scenarios::random::{random_fabric, time_for};
use scenarios::rings::{random_rings, ring_time_for};

/// A run of the fast engine to its end; nothing if packets go round for ever.
fn simulate(fabric: &Fabric, until: Time) -> Option<Simulation> {
    let options = Options {
        until,
        batch: 1 << 50,
        warmup: Some(0),
        trace: usize::MAX,
        messages: usize::MAX,
        ..Options::default()
    };
    let mut simulation = Simulation::new(fabric.clone(), options).expect("a legal fabric");
    loop {
        match simulation.advance(1 << 20) {
            Ok(None) => {}
            Ok(Some(_)) => break,
            Err(RunError::RouteCircle { .. }) => return None,
            Err(error) => panic!("{error}"),
        }
    }
    simulation.balance().expect("nothing is lost");
    Some(simulation)
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

fn compare_links(seeds: std::ops::Range<u64>, packets: u32) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let fabric = random_programs(&random_fabric(seed), seed);
        let until = time_for(&fabric, packets);
        let fast = simulate(&fabric, until).expect("a route for every packet");
        let twin = run(&fabric, FlowControl::Counted, until);
        same_deliveries(&fast, &twin.deliveries, &format!("seed {seed}"));
        let ours = of_engine(&fast);
        compare_messages(seed, &ours, twin.messages.as_ref().expect("there are programs"));
        seen.add(&ours, fast.end());
    }
    seen
}

#[test]
fn programs_on_links_agree() {
    let seen = compare_links(0..250, 40);
    assert!(seen.messages > 5_000 && seen.received > 1_500 && seen.events > 50, "{seen:?}");
    assert!(seen.drained > 5 && seen.waiting > 15, "{seen:?}");
}

/// A link that comes to its last packet without credit, before anything of this packet has come to be sent.
#[test]
fn links_without_credit_agree() {
    let seed = 3_298_534_897_245;
    let seen = compare_links(seed..seed + 1, 240);
    assert!(seen.received > 20, "{seen:?}");
}

fn compare_rings(seeds: std::ops::Range<u64>) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let mut fabric = random_rings(seed);
        // What programs send is stored where it comes.
        for (terminal, kind) in fabric.terminal_transaction.iter_mut().enumerate() {
            *kind = if (seed as usize + terminal).is_multiple_of(3) {
                transaction::MOVE
            } else {
                transaction::WRITE
            };
        }
        if fabric.terminals < 2 {
            continue;
        }
        let fabric = random_programs(&fabric, seed);
        let until = ring_time_for(&fabric, 40);
        let Some(fast) = simulate(&fabric, until) else { continue };
        let twin = run_rings(&fabric, until);
        same_deliveries(&fast, &twin.deliveries, &format!("seed {seed}"));
        same_counts(&fast, &twin, &format!("seed {seed}"));
        let ours = of_engine(&fast);
        compare_messages(seed, &ours, twin.messages.as_ref().expect("there are programs"));
        seen.add(&ours, fast.end());
    }
    seen
}

#[test]
fn programs_on_rings_agree() {
    let seen = compare_rings(0..200);
    assert!(seen.messages > 2_000 && seen.received > 1_500 && seen.events > 50, "{seen:?}");
    assert!(seen.drained > 5 && seen.waiting > 15, "{seen:?}");
}

/// As many as wanted: `FABRILOOM_SEEDS=5000..9000`.
#[test]
#[ignore = "as long as asked for"]
fn chosen_programs_on_links_agree() {
    compare_links(chosen_seeds(), 40);
}

/// The same on rings.
#[test]
#[ignore = "as long as asked for"]
fn chosen_programs_on_rings_agree() {
    compare_rings(chosen_seeds());
}
