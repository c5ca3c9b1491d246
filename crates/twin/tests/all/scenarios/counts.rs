//! Deliveries and counts of the engine, in the twin's form.

use fabriloom_engine::run::Simulation;
use fabriloom_twin::{BusCounts, Delivery, RingLinkCounts, RingTwinRun, delivery_key};

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
pub fn ways(simulation: &Simulation) -> Vec<(u32, i64, u32, i64, i64)> {
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

fn link_counts(simulation: &Simulation) -> Vec<RingLinkCounts> {
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
    for (link, (fast, twin)) in link_counts(fast).iter().zip(&twin.links).enumerate() {
        assert_eq!(fast, twin, "link {link}, {what}");
    }
    assert_eq!(bus_counts(fast), twin.buses, "buses, {what}");
}
