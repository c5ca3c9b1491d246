//! One network in the fast engine and in its twin; everything that both know is compared.

use std::collections::HashMap;

use fabriloom_engine::fabric::{Fabric, NEVER, check, fault_kind, transaction};
use fabriloom_engine::kernel::Time;
use fabriloom_engine::run::{End, Options, RunError, Simulation};
use fabriloom_twin::{
    BusCounts, Delivery, FlowControl, LinkCounts, Messages, RingLinkCounts, RingTwinRun, TwinRun,
    delivery_key, messages, run, run_rings, run_with_stops,
};

use super::spacewire::same_codes;

/// Returns the twin's run of a legal fabric, with every flow-control character, after comparison with the engine.
pub fn counted(f: &Fabric) -> TwinRun {
    check(f).expect("a legal fabric");
    links(0, f, 100_000);
    run(f, FlowControl::Counted, i64::MAX)
}

/// A link, and the ticks between which it starts nothing.
pub type Stop = (u32, Time, Time);

/// Runs the fast engine to its end; None if packets loop for ever. It searches for deadlocks every 16 batches and at
/// the end.
pub fn simulate(fabric: &Fabric, until: Time, drain: bool, batch: Time) -> Option<Simulation> {
    simulate_stopped(fabric, (until, drain, batch, 0), &[])
}

fn simulate_stopped(
    fabric: &Fabric,
    (until, drain, batch, hops): (Time, bool, Time, usize),
    stops: &[Stop],
) -> Option<Simulation> {
    let options = Options {
        until,
        drain,
        batch,
        hops,
        warmup: Some(0),
        trace: usize::MAX,
        messages: usize::MAX,
        ..Options::default()
    };
    let mut simulation = Simulation::new(fabric.clone(), options).expect("a legal fabric");
    for &(link, from, until) in stops {
        simulation.stop_link(link, from, until);
    }
    loop {
        match simulation.advance(1 << 20) {
            Ok(None) => {}
            Ok(Some(_)) => {
                assert_eq!(simulation.standstill(), None, "something stands still");
                return Some(simulation);
            }
            Err(RunError::RouteCircle { .. }) => return None,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Without searching for deadlocks meanwhile.
fn whole(fabric: &Fabric, until: Time, drain: bool) -> Option<Simulation> {
    simulate(fabric, until, drain, 1 << 50)
}

/// Compares a network of links with the same that is simulated character by character: packets, their paths, and links.
///
/// Returns the number of packet-hops.
pub fn either(seed: u64, fabric: &Fabric, until: Time) -> u64 {
    let options = Options {
        until,
        batch: 1 << 50,
        hops: usize::MAX,
        warmup: Some(0),
        trace: usize::MAX,
        ..Options::default()
    };
    let engines = [Simulation::new, Simulation::by_character];
    let [fast, slow] = engines.map(|new| {
        let mut simulation = new(fabric.clone(), options.clone()).expect("a legal fabric");
        while simulation.advance(1 << 20).expect("a route for every packet").is_none() {}
        simulation
    });
    same_deliveries(&fast, &deliveries(&slow), &format!("seed {seed}, until {until}"));
    // One knows more of the future than the other.
    let past = |run| ways(run).into_iter().filter(|way| (0..=until).contains(&way.4)).collect::<Vec<_>>();
    assert_eq!(past(&fast), past(&slow), "paths, seed {seed}");
    if fast.now() == slow.now() {
        assert_eq!(fast.balance(), slow.balance(), "packets, seed {seed}");
    }
    fast.packet_hops()
}

/// Compares a network of links with sources.
pub fn links(seed: u64, fabric: &Fabric, until: Time) -> TwinRun {
    stopped_links(seed, fabric, until, &[])
}

/// The same with links that are stopped for a while; the network is drained after the time limit.
pub fn stopped(seed: u64, fabric: &Fabric, until: Time, stops: &[Stop]) -> TwinRun {
    let twin = stopped_links(seed, fabric, until, stops);
    let drained =
        simulate_stopped(fabric, (until, true, 1 << 50, 0), stops).expect("a route for every packet");
    same_use(seed, fabric, &drained, &twin);
    twin
}

fn stopped_links(seed: u64, fabric: &Fabric, until: Time, stops: &[Stop]) -> TwinRun {
    let twin = run_with_stops(fabric, FlowControl::Counted, until, stops);
    let fast = simulate_stopped(fabric, (until, false, 1 << 50, 0), stops).expect("a route for every packet");
    same_deliveries(&fast, &twin.deliveries, &format!("seed {seed}, until {until}"));
    assert_eq!(fast.packet_hops(), twin.packet_hops, "packet-hops, seed {seed}");
    if !fabric.has_ports() && !fabric.has_programs() {
        let late = if fabric.has_several_ways() { Some(overtaken(&twin.deliveries)) } else { None };
        assert_eq!(fast.run.overtaken(), late, "overtaken, seed {seed}");
    }
    let balance = fast.balance().expect("nothing is lost");
    if fast.now() == until {
        let counts = (balance.offered, balance.refused, balance.in_flight);
        assert_eq!(counts, (twin.offered, twin.refused, twin.in_flight), "packets, seed {seed}");
    }
    assert_eq!((balance.lost, losses(&fast)), (twin.lost, twin.losses.clone()), "lost, seed {seed}");
    searched(seed, fabric, until, stops, &twin);
    if fast.now() == until {
        same_codes(fabric, &fast, &twin, &format!("seed {seed}, until {until}"));
    }
    twin
}

/// Returns the packets that arrived after one of the same pair that had started later.
pub fn overtaken(deliveries: &[Delivery]) -> u64 {
    let mut sorted: Vec<&Delivery> = deliveries.iter().collect();
    sorted.sort_by_key(|one| one.delivered);
    let mut latest = HashMap::new();
    let is_late = |one: &&&Delivery| {
        let of_pair = latest.entry((one.source, one.target)).or_insert(one.started);
        let is_late = one.started < *of_pair;
        *of_pair = one.started.max(*of_pair);
        is_late
    };
    sorted.iter().filter(is_late).count() as u64
}

/// Runs once more with many searches for deadlock: one is found only where the twin ends in one, and changes nothing before.
fn searched(seed: u64, fabric: &Fabric, until: Time, stops: &[Stop], twin: &TwinRun) {
    let batch = (until / 400).max(1);
    let fast = simulate_stopped(fabric, (until, false, batch, 0), stops).expect("a route for every packet");
    let found = fast.end() == Some(End::Deadlocked) && fast.now() < until && !fast.cycle().is_empty();
    // A later fault may end a packet of the cycle, and the twin, which looks at its end alone, knows nothing of it then.
    let changes = [&fabric.fault_down_ticks, &fabric.fault_up_ticks];
    let broken = changes.into_iter().flatten().any(|&tick| tick > fast.now() as u64 && tick < NEVER);
    let found = found && !never_starts(fabric) && !broken;
    assert!(twin.deadlocked || !found, "a deadlock that is none at {}, seed {seed}", fast.now());
    let until = if fast.end() == Some(End::Deadlocked) { fast.now() } else { until };
    let before: Vec<_> = twin.deliveries.iter().filter(|one| one.delivered <= until).copied().collect();
    same_deliveries(&fast, &before, &format!("searched, seed {seed}"));
}

/// Returns the packets lost per link: cut on it, discarded at its end, and timed out while they held it.
fn losses(simulation: &Simulation) -> Vec<(u64, u64, u64)> {
    match simulation.losses() {
        losses if losses.is_empty() => vec![(0, 0, 0); simulation.link_counts().len()],
        losses => losses.iter().map(|at| (at.cut, at.discarded, at.timed_out)).collect(),
    }
}

/// Drains the network after the time limit: both find the same packets stuck for ever, or have used the links equally.
pub fn emptied(seed: u64, fabric: &Fabric, until: Time, twin: &TwinRun) {
    let drained = whole(fabric, until, true).expect("a route for every packet");
    same_use(seed, fabric, &drained, twin);
}

/// Compares a network of links with sources up to a time limit, and drained after it.
pub fn drained(seed: u64, fabric: &Fabric, until: Time) -> TwinRun {
    let twin = links(seed, fabric, until);
    emptied(seed, fabric, until, &twin);
    twin
}

/// Counts of the compared runs.
#[derive(Debug, Default)]
pub struct Agreed {
    pub runs: u64,
    /// Packets delivered, cut, discarded and timed out.
    pub delivered: u64,
    pub cut: u64,
    pub discarded: u64,
    pub timed_out: u64,
    /// Packets that a later one of their pair overtook.
    pub overtaken: u64,
    /// Runs that deadlocked.
    pub deadlocked: u64,
}

impl Agreed {
    /// Compares one more network, up to a time limit and drained after it.
    pub fn compare(&mut self, seed: u64, fabric: &Fabric, until: Time) {
        let twin = links(seed, fabric, until);
        emptied(seed, fabric, until, &twin);
        self.runs += 1;
        self.delivered += twin.deliveries.len() as u64;
        self.overtaken += overtaken(&twin.deliveries);
        for &(cut, discarded, timed_out) in &twin.losses {
            self.cut += cut;
            self.discarded += discarded;
            self.timed_out += timed_out;
        }
        self.deadlocked += u64::from(twin.deadlocked);
    }
}

fn never_starts(f: &Fabric) -> bool {
    f.fault_kind.iter().zip(&f.fault_up_ticks).any(|(&kind, &up)| kind == fault_kind::STUCK && up == NEVER)
}

fn same_use(seed: u64, fabric: &Fabric, drained: &Simulation, twin: &TwinRun) {
    // The twin does not look for a cycle beside what never starts anything again.
    if drained.end() == Some(End::Stopped) {
        assert!(!twin.deadlocked, "stopped, seed {seed}");
    } else if never_starts(fabric) && drained.end() == Some(End::Deadlocked) {
        return;
    }
    assert_eq!(drained.end() == Some(End::Deadlocked), twin.deadlocked, "deadlock, seed {seed}");
    assert_eq!(drained.cycle().is_empty(), !twin.deadlocked, "cycle, seed {seed}");
    if twin.deadlocked {
        return;
    }
    assert_eq!(link_counts(drained), twin.links, "links, seed {seed}");
    assert_eq!(congestion(drained), twin.congestion, "congestion, seed {seed}");
    let memories = drained.packets().map_or_else(Vec::new, |packets| packets.memories());
    assert_eq!(memories, twin.memories, "memories, seed {seed}");
    if fabric.has_lane_arbiter() {
        assert_eq!(drained.lane_ticks(), twin.lane_ticks, "lanes, seed {seed}");
        let sums = twin.lane_ticks.chunks(fabric.lanes as usize).map(|lanes| lanes.iter().sum::<u64>());
        let busy = twin.links.iter().map(|link| link.busy_ticks);
        assert!(fabric.has_codes() || sums.eq(busy), "what lanes occupy is what wires are busy, seed {seed}");
    }
}

/// Checks that no memory that drops packets has held more than it has, and no lane more than its headroom.
pub fn within_memory(f: &Fabric, twin: &TwinRun) {
    for (link, &(most, beyond)) in twin.memories.iter().enumerate().filter(|_| f.drops == 1) {
        let Some(&pool) = f.switch_pool_chars.get(f.link_target[link] as usize) else { continue };
        let lanes = f.link_target.iter().filter(|&&target| target == f.link_target[link]).count();
        let each = u64::from(f.pool_reserved_chars) + u64::from(f.pool_headroom_chars);
        let all = u64::from(pool) + each * (lanes as u64) * u64::from(f.lanes);
        assert!(most <= all, "{most} of {all} characters in the memory behind link {link}");
        assert!(beyond <= u64::from(f.pool_headroom_chars), "{beyond} in a headroom of link {link}");
    }
}

/// Returns what congestion control has done, in the twin's form.
fn congestion(simulation: &Simulation) -> (Vec<u64>, Vec<(u64, u32)>) {
    let Some((congestion, fabric)) = simulation.congestion() else { return Default::default() };
    let ports = congestion.throttled(fabric, Time::MAX / 4).into_iter();
    (congestion.marked().to_vec(), ports.map(|port| (port.notified, port.highest)).collect())
}

/// Returns the link counts of a network of switches, in the twin's form.
fn link_counts(simulation: &Simulation) -> Vec<LinkCounts> {
    let like = |c: fabriloom_engine::measure::LinkCounts| LinkCounts {
        packets: c.packets,
        characters: c.characters,
        busy_ticks: c.busy_ticks,
        stalled_ticks: c.stalled_ticks,
        wait_ticks: c.wait_ticks,
        most_stored: c.most_stored,
    };
    simulation.link_counts().into_iter().map(like).collect()
}

/// Compares a network of rings with sources; None if packets loop over buses for ever.
pub fn rings(seed: u64, fabric: &Fabric, until: Time) -> Option<RingTwinRun> {
    let fast = whole(fabric, until, false)?;
    let twin = run_rings(fabric, until);
    same_deliveries(&fast, &twin.deliveries, &format!("seed {seed}, until {until}"));
    if fast.now() < until {
        // Nothing remained to do; what sources still create and lose is not counted any more.
        assert!(matches!(fast.end(), Some(End::Drained | End::Deadlocked)));
        return Some(twin);
    }
    same_counts(&fast, &twin, &format!("seed {seed}"));
    Some(twin)
}

/// Counts of a set of runs of programs.
#[derive(Debug, Default)]
pub struct Seen {
    pub messages: usize,
    pub received: usize,
    pub drained: u32,
    pub waiting: u32,
    pub events: usize,
    /// Packets sent again, duplicates discarded, and messages given up.
    pub resent: u64,
    pub duplicates: u64,
    pub given_up: u64,
    /// Messages that were announced.
    pub announced: u64,
}

impl Seen {
    fn add(&mut self, ours: &Messages, end: Option<End>) {
        self.messages += ours.table.len();
        self.received += ours.table.iter().filter(|row| row.received >= 0).count();
        self.events += ours.events.iter().filter(|event| event.complete >= 0).count();
        self.drained += u32::from(end == Some(End::Drained));
        self.resent += ours.again.0;
        self.duplicates += ours.again.1;
        self.given_up += ours.again.2;
        self.waiting += u32::from(end == Some(End::Deadlocked) && !ours.waiting.is_empty());
    }

    /// Compares programs on a network of links or of rings, unless packets loop for ever.
    pub fn compare(&mut self, seed: u64, fabric: &Fabric, until: Time) {
        let Some(fast) = whole(fabric, until, false) else { return };
        fast.balance().expect("nothing is lost");
        // Programs that wait for ever end a run; sources beside them would go on.
        let waits = matches!(fast.end(), Some(End::Deadlocked | End::Incomplete));
        let goes_on = fabric.has_sources_beside() && waits;
        let until = if goes_on { fast.now() } else { until };
        let (deliveries, theirs) = if fabric.has_rings() {
            let twin = run_rings(fabric, until);
            same_counts(&fast, &twin, &format!("seed {seed}"));
            (twin.deliveries, twin.messages)
        } else {
            let twin = run(fabric, FlowControl::Counted, until);
            (twin.deliveries, twin.messages)
        };
        same_deliveries(&fast, &deliveries, &format!("seed {seed}"));
        let ours = messages(fast.run.programs.as_ref().expect("there are programs"));
        compare_messages(seed, &ours, theirs.as_ref().expect("there are programs"));
        self.add(&ours, fast.end());
        self.announced += fast.run.programs.as_ref().map_or(0, |one| one.account.announced);
    }
}

fn compare_messages(seed: u64, ours: &Messages, theirs: &Messages) {
    let same = ours.table.iter().zip(&theirs.table).take_while(|(a, b)| a == b).count();
    assert_eq!(ours.table.get(same), theirs.table.get(same), "message {same}, seed {seed}");
    assert_eq!(ours, theirs, "seed {seed}");
}

/// Makes terminals of rings send what programs send: data that are stored.
pub fn store(fabric: &mut Fabric, seed: u64) {
    for (terminal, kind) in fabric.terminal_transaction.iter_mut().enumerate() {
        let moves = (seed as usize + terminal).is_multiple_of(3);
        *kind = if moves { transaction::MOVE } else { transaction::WRITE };
    }
}

/// Returns the deliveries of the fast engine, sorted as the twins sort them.
pub fn deliveries(simulation: &Simulation) -> Vec<Delivery> {
    let like = |d: &fabriloom_engine::measure::Delivery| Delivery {
        source: d.source,
        target: d.target,
        created: d.created,
        started: d.started,
        delivered: d.delivered,
        length: d.length,
    };
    let mut all: Vec<Delivery> = simulation.run.trace.packets.iter().map(like).collect();
    all.sort_by_key(delivery_key);
    all
}

/// Returns the paths of packets of a run that keeps them, including incomplete ones.
fn ways(simulation: &Simulation) -> Vec<(u32, i64, u32, i64, i64)> {
    let (hops, standing) = simulation.hops();
    let all = hops.rows.iter().chain(&standing);
    let mut ways: Vec<_> = all.map(|hop| (hop.source, hop.started, hop.link, hop.begin, hop.end)).collect();
    ways.sort_unstable();
    ways
}

/// Panics at the first delivery that differs.
pub fn same_deliveries(fast: &Simulation, twin: &[Delivery], what: &str) {
    let list = deliveries(fast);
    let same = list.iter().zip(twin).take_while(|(a, b)| a == b).count();
    assert!(
        list == twin,
        "{what}: the engine delivers {}, the twin {}; after {same} equal ones {:?} against {:?}",
        list.len(),
        twin.len(),
        list.get(same),
        twin.get(same),
    );
}

fn ring_link_counts(simulation: &Simulation) -> Vec<RingLinkCounts> {
    let counts = simulation.rings().expect("a network of rings").counts();
    let like = |c: fabriloom_engine::ring::Counts| RingLinkCounts {
        packets: c.packets,
        symbols: c.symbols,
        busy_ticks: c.busy_ticks,
        retried: c.retried,
        retry_ticks: c.retry_ticks,
        echo_ticks: c.echo_ticks,
        wait_ticks: c.wait_ticks,
        busied: c.busied,
        bypass_most: c.bypass_most,
        lost: c.lost,
        discarded: c.discarded,
    };
    counts.map(like).collect()
}

fn bus_counts(simulation: &Simulation) -> Vec<BusCounts> {
    let counts = simulation.rings().expect("a network of rings").bus_counts();
    let like = |c: fabriloom_engine::ring::BusCounts| BusCounts {
        transfers: c.transfers,
        busy_ticks: c.busy_ticks,
        wait_ticks: c.wait_ticks,
    };
    counts.map(like).collect()
}

/// Checks that both have counted the same up to the same tick.
pub fn same_counts(fast: &Simulation, twin: &RingTwinRun, what: &str) {
    let balance = fast.balance().expect("nothing is lost");
    let rings = fast.rings().expect("a network of rings");
    assert_eq!(
        (balance.offered, balance.refused, balance.in_flight, balance.scrubbed, rings.timed_out),
        (twin.offered, twin.refused, twin.in_flight, twin.scrubbed, twin.timed_out),
        "transactions offered, refused, in flight, scrubbed, timed out, {what}"
    );
    assert_eq!(rings.lost, twin.lost, "transactions lost, {what}");
    assert_eq!(fast.packet_hops(), twin.packet_hops, "packet-hops, {what}");
    for (link, (fast, twin)) in ring_link_counts(fast).iter().zip(&twin.links).enumerate() {
        assert_eq!(fast, twin, "link {link}, {what}");
    }
    assert_eq!(bus_counts(fast), twin.buses, "buses, {what}");
}
