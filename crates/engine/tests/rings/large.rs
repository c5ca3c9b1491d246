//! Large networks are processed differently, with the same results.

use crate::build::{network, run, send};
use crate::random::random;
use fabriloom_engine::fabric::{Fabric, PASS, ROUTE_BLOCK, arrival};

/// With this many stations a network is large.
const MANY: u32 = 1 << 12;

/// Adds many rings of two silent terminals to a network.
fn beside_idle_rings(f: &Fabric) -> Fabric {
    let mut f = f.clone();
    let (first, ring, pass) = (f.links() as u32, f.links() as u32, f.port_exit.len() / ROUTE_BLOCK);
    let vertex = f.switches + f.terminals;
    for more in 0..MANY {
        let other = more ^ 1;
        f.link_source.push(vertex + more);
        f.link_target.push(vertex + other);
        f.station_next.push(first + other);
        f.station_ring.push(ring + more / 2);
        f.terminal_out_link.push(first + more);
        f.terminal_in_link.push(first + other);
    }
    f.terminals += MANY;
    let (links, terminals) = (f.links(), f.terminals as usize);
    for column in [
        &mut f.link_character_ticks,
        &mut f.link_arrival_ticks,
        &mut f.station_decode_ticks,
        &mut f.station_bypass_ticks,
        &mut f.station_receive_ticks,
        &mut f.station_transmit_ticks,
        &mut f.station_requests_out,
        &mut f.station_responses_out,
        &mut f.station_requests_in,
        &mut f.station_responses_in,
        &mut f.station_in_flight,
        &mut f.station_rejected,
    ] {
        column.resize(links, 1);
    }
    for column in [
        &mut f.terminal_access_ticks,
        &mut f.terminal_block_ticks,
        &mut f.terminal_host_ticks,
        &mut f.terminal_transactions,
        &mut f.source_queue,
        &mut f.target_fixed,
        &mut f.length_min,
        &mut f.length_max,
    ] {
        column.resize(terminals, 1);
    }
    for column in
        [&mut f.terminal_transaction, &mut f.source_target, &mut f.source_length, &mut f.list_repeat]
    {
        column.resize(terminals, 0);
    }
    f.source_arrival.resize(terminals, arrival::SILENT);
    for column in
        [&mut f.source_interval_grains, &mut f.source_burst, &mut f.source_gap_grains, &mut f.target_share]
    {
        column.resize(terminals, 1.0);
    }
    f.list_start.resize(terminals + 1, f.list_target.len() as u32);
    f.port_exit.resize((pass + 1) * ROUTE_BLOCK, PASS);
    let rows = std::mem::take(&mut f.port_route).into_iter();
    f.port_route = rows
        .flat_map(|block| std::iter::once(block).chain(std::iter::repeat_n(pass as u32, f.port_blocks() - 1)))
        .collect();
    f
}

fn same_beside_idle_rings(f: &Fabric, what: &str) {
    let (alone, beside) = (run(f, 1 << 30, true), run(&beside_idle_rings(f), 1 << 30, true));
    assert_eq!(alone.run.trace.packets, beside.run.trace.packets, "{what}");
    assert_eq!(alone.now(), beside.now(), "{what}");
    let (alone, beside) = (alone.rings().expect("rings"), beside.rings().expect("rings"));
    assert!(alone.counts().eq(beside.counts().take(f.links())), "{what}");
    assert!(alone.bus_counts().eq(beside.bus_counts()), "{what}");
    assert!(beside.is_at_rest(), "{what}");
}

#[test]
fn idle_rings_beside_a_network_change_nothing() {
    for seed in 0..100 {
        same_beside_idle_rings(&random(seed), &format!("seed {seed}"));
    }
}

/// Long enough for buckets of the calendar to hold many events.
#[test]
fn nor_in_a_long_run() {
    let rings: [&[u32]; 4] = [&[3, 0, 4, 1, 5], &[6, 0, 7, 8], &[9, 1, 2, 10], &[2, 11, 12]];
    let mut f = network(&rings, 3);
    f.ring_retry_delay_ticks = 30;
    let packets: Vec<_> = (0..4000).map(|n| (n % 10, (n + 1 + n / 10 % 9) % 10, n % 7 * 16)).collect();
    send(&mut f, &packets);
    for cut_through in [0, 1] {
        f.ring_cut_through = cut_through;
        same_beside_idle_rings(&f, &format!("cut-through {cut_through}"));
    }
}
