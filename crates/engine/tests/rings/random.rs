//! Properties of every network of rings: nothing is lost, duplicated or overtakes, and no FIFO overflows.

use crate::build::{network, run, send};
use fabriloom_engine::fabric::{Fabric, retry, retry_order, stations, transaction};
use fabriloom_engine::kernel::random::{Family, Stream, streams};
use fabriloom_engine::run::{End, Simulation};

/// Longest payload of the tests.
const LONGEST_BYTES: u32 = 256;

/// A tree of rings, so that nothing can deadlock, with every rule on or off. By the two mechanisms of the page few (3 in
/// 1,000) livelock, only with phases or where stations have no bandwidth allocation.
pub fn random(seed: u64) -> Fabric {
    let mut draw = streams(seed, Family::Source, 1).remove(0);
    let flag = |stream: &mut Stream| stream.below(2) as u8;
    let mut f = tree(&mut draw);
    f.ring_cut_through = flag(&mut draw);
    f.ring_hold_until_echo = flag(&mut draw);
    f.ring_in_order = draw.below(u32::from(stations::LAST) + 1) as u8;
    f.ring_phases = flag(&mut draw);
    f.ring_allocation = draw.below(u32::from(stations::TERMINALS) + 1) as u8;
    f.ring_retry_at_responder = flag(&mut draw);
    f.ring_retry_order = draw.below(u32::from(retry_order::LAST) + 1) as u8;
    f.ring_response_first = flag(&mut draw);
    f.ring_interface_occupied = flag(&mut draw);
    f.ring_retry_strategy = draw.below(u32::from(retry::EXPONENTIAL) + 1) as u8;
    f.ring_retry_delay_ticks = u64::from(draw.below(40));
    f.ring_timeout_ticks = if draw.below(3) == 0 { 500 + u64::from(draw.below(3000)) } else { 0 };
    let mut each = |column: &mut Vec<u32>, least: u32, more: u32| {
        for value in column {
            *value = least + draw.below(more);
        }
    };
    for column in [
        &mut f.station_requests_in,
        &mut f.station_responses_in,
        &mut f.station_requests_out,
        &mut f.station_responses_out,
        &mut f.station_in_flight,
        &mut f.station_rejected,
        &mut f.terminal_transactions,
    ] {
        each(column, 1, 4);
    }
    for column in [
        &mut f.station_decode_ticks,
        &mut f.station_bypass_ticks,
        &mut f.station_receive_ticks,
        &mut f.station_transmit_ticks,
        &mut f.bus_setup_ticks,
        &mut f.terminal_access_ticks,
        &mut f.terminal_block_ticks,
    ] {
        each(column, 0, 60);
    }
    each(&mut f.link_arrival_ticks, 4, 200);
    each(&mut f.bus_count, 1, 3);
    let kinds = transaction::LOCK + 1;
    f.terminal_transaction = (0..f.terminals).map(|_| draw.below(u32::from(kinds)) as u8).collect();
    let terminals = f.terminals;
    let packets: Vec<(u32, u32, u32)> = (0..12 * terminals)
        .map(|packet| {
            let from = packet % terminals;
            let to = (from + 1 + draw.below(terminals - 1)) % terminals;
            // Lengths distinguish the packets of a source, in order.
            (from, to, (packet / terminals) * 16 + draw.below(16))
        })
        .collect();
    send(&mut f, &packets);
    f
}

/// One to four rings; each but the first has a port of a switch that is on an earlier one.
fn tree(draw: &mut Stream) -> Fabric {
    let extra = draw.below(4);
    let mut rings: Vec<Vec<u32>> = vec![Vec::new(); 1 + extra as usize];
    let mut terminal = extra;
    for (number, ring) in rings.iter_mut().enumerate() {
        for _ in 0..2 + draw.below(3) {
            ring.push(terminal);
            terminal += 1;
        }
        if number > 0 {
            ring.push(number as u32 - 1);
        }
    }
    for switch in 0..extra {
        let on = draw.below(switch + 1) as usize;
        let place = draw.below(rings[on].len() as u32 + 1) as usize;
        rings[on].insert(place, switch);
    }
    let rings: Vec<&[u32]> = rings.iter().map(Vec::as_slice).collect();
    network(&rings, extra)
}

fn key(simulation: &Simulation) -> Vec<(u32, u32, u32)> {
    simulation.run.trace.packets.iter().map(|p| (p.source, p.target, p.length)).collect()
}

#[test]
fn all_is_delivered_once_and_in_order() {
    let (mut timed_out, mut livelocked) = (0, 0);
    for seed in 0..400 {
        let f = random(seed);
        let done = run(&f, 1 << 30, true);
        if done.end() == Some(End::Livelocked) && (f.ring_phases == 1 || f.ring_allocation != stations::ALL) {
            livelocked += 1;
            continue;
        }
        assert_eq!(done.end(), Some(End::Drained), "seed {seed}: {:?}", done.cycle());
        // Every run checks the balance, so here it is checked in the middle.
        run(&f, done.now() / 2, false);
        let delivered = key(&done);
        let mut sorted = delivered.clone();
        sorted.sort_unstable();
        let mut sent: Vec<_> = (0..f.terminals as usize)
            .flat_map(|source| {
                let rows = f.list_start[source] as usize..f.list_start[source + 1] as usize;
                rows.map(move |row| (source as u32, row))
            })
            .map(|(source, row)| (source, f.list_target[row], f.list_length[row]))
            .collect();
        sent.sort_unstable();
        assert_eq!(sorted, sent, "seed {seed}");
        if f.ring_in_order == stations::ALL {
            let mut last = vec![0; (f.terminals * f.terminals) as usize];
            for (source, target, length) in delivered {
                let last = &mut last[(source * f.terminals + target) as usize];
                assert!(length >= *last, "seed {seed}: {source} to {target}");
                *last = length;
            }
        }
        let rings = done.rings().expect("rings");
        timed_out += rings.timed_out;
        assert!(rings.is_at_rest(), "seed {seed}");
    }
    assert!(timed_out > 100 && livelocked <= 4, "{timed_out}, {livelocked}");
}

/// A station sends none of its own packets while a unit waits, so only arrivals during one packet can wait.
#[test]
fn no_bypass_fifo_overflows() {
    let mut most = 0;
    for seed in 0..200 {
        let mut f = random(seed);
        f.ring_cut_through = 1;
        let longest = u64::from((f.ring_request_header_bytes + LONGEST_BYTES + f.ring_send_idle_bytes) / 2);
        let done = run(&f, 1 << 30, true);
        for (station, count) in done.rings().expect("rings").counts().enumerate() {
            assert!(count.bypass_most <= longest, "seed {seed}, station {station}: {}", count.bypass_most);
            most = most.max(count.bypass_most);
        }
    }
    assert!(most > 100, "{most}");
}
