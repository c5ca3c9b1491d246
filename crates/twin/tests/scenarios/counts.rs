//! What networks of rings count, in the engine and in the twin.

use fabriloom_engine::run::Simulation;
use fabriloom_twin::{BusCounts, RingLinkCounts, RingTwinRun};

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
    };
    counts.map(like).collect()
}

fn bus_counts(simulation: &Simulation) -> Vec<BusCounts> {
    let counts = simulation.rings().expect("a network of rings").bus_counts();
    let like = |c: &fabriloom_engine::ring::BusCounts| BusCounts {
        transfers: c.transfers,
        busy_ticks: c.busy_ticks,
        wait_ticks: c.wait_ticks,
    };
    counts.map(like).collect()
}

/// Both have counted the same up to the same tick.
pub fn same_counts(fast: &Simulation, twin: &RingTwinRun, what: &str) {
    let balance = fast.balance().expect("nothing is lost");
    let rings = fast.rings().expect("a network of rings");
    assert_eq!(
        (balance.offered, balance.refused, balance.in_flight, balance.scrubbed, rings.timed_out),
        (twin.offered, twin.refused, twin.in_flight, twin.scrubbed, twin.timed_out),
        "transactions offered, refused, in flight, scrubbed, timed out, {what}"
    );
    assert_eq!(fast.packet_hops(), twin.packet_hops, "packet-hops, {what}");
    for (link, (fast, twin)) in link_counts(fast).iter().zip(&twin.links).enumerate() {
        assert_eq!(fast, twin, "link {link}, {what}");
    }
    assert_eq!(bus_counts(fast), twin.buses, "buses, {what}");
}
