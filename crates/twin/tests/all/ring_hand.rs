//! The twin of ring networks compared with results computed by hand.
//!
//! The numbers of `scenarios::rings::rings`: 2 ticks a symbol, 5 to the next station, 3 in the decoder, 4 in the bypass
//! FIFO, 6 from a receive queue to the user, 7 from the user to the link, 11 in the host, 14 for an access. A request
//! of 6 B of data has 8 symbols, a header alone 5, an echo 3. A packet dispatched at 0 is ready at 18.

use crate::scenarios::rings::{Stop, rings};
use fabriloom_engine::fabric::{
    Fabric, arrival, check, fault_kind, retry, retry_order, stations, target, transaction,
};
use fabriloom_twin::{RingTwinRun, run_rings};

const T: Stop = Stop::Terminal;
const P: Stop = Stop::Port(0);

fn run(fabric: &Fabric) -> RingTwinRun {
    check(fabric).expect("a legal fabric");
    let result = run_rings(fabric, 100_000);
    let rest = result.refused + result.scrubbed + result.lost;
    let delivered = result.deliveries.len() as u64;
    assert_eq!(result.offered, delivered + rest + result.in_flight);
    result
}

/// Makes a terminal send the packets of a list once, instead of its previous traffic.
fn send_list(f: &mut Fabric, lists: &[&[(u32, u32, u64)]]) {
    for column in [&mut f.list_target, &mut f.list_length] {
        column.clear();
    }
    f.list_wait_ticks.clear();
    crate::scenarios::build::send_list(f, lists);
}

/// Returns when packets started and were delivered, in order of delivery.
fn times(result: &RingTwinRun) -> Vec<(i64, i64)> {
    result.deliveries.iter().map(|delivery| (delivery.started, delivery.delivered)).collect()
}

/// Terminal 0 sends to terminal 2 past terminal 1; a second packet starts 18 after the event that it waited for.
fn past_one(cut_through: bool, kind: u8) -> Fabric {
    let mut f = rings(&[vec![T, T, T]]);
    f.ring_cut_through = u8::from(cut_through);
    f.terminal_transaction.fill(kind);
    let length = if kind == transaction::LOCK { 0 } else { 6 };
    send_list(&mut f, &[&[(2, length, 0), (2, length, 0)], &[], &[]]);
    f
}

/// Stored at the end; the second packet waits for the transaction number, which is free after the response.
#[test]
fn every_transaction_past_one_station() {
    for (cut_through, kind, stored, free) in [
        (false, transaction::WRITE, 86, 115),
        (true, transaction::WRITE, 72, 101),
        (false, transaction::MOVE, 86, 82),
        (true, transaction::MOVE, 72, 64),
        (true, transaction::READ, 115, 115),
        (true, transaction::LOCK, 141, 141),
    ] {
        let mut f = past_one(cut_through, kind);
        f.terminal_transactions.fill(1);
        let result = run(&f);
        assert_eq!(times(&result)[0], (18, stored), "{cut_through} {kind}");
        assert_eq!(times(&result)[1].0, free + 18, "{cut_through} {kind}");
        assert_eq!((result.in_flight, result.timed_out), (0, 0));
    }
}

/// Makes a link be down between two ticks; losses are forgotten after 100, given up after 1000.
fn fail(f: &mut Fabric, link: u32, down: u64, up: u64) {
    (f.fault_link, f.fault_kind) = (vec![link], vec![fault_kind::LINK]);
    (f.fault_down_ticks, f.fault_ended_ticks, f.fault_up_ticks) = (vec![down], vec![down + 1], vec![up]);
    (f.ring_echo_timeout_ticks, f.ring_timeout_ticks) = (100, 1000);
}

/// With one packet in flight the second one starts when the first is forgotten: 100 after the lost unit started, the
/// request at 18 or its echo at 52.
#[test]
fn what_is_lost_is_forgotten() {
    for (link, down, up, started, lost) in [
        (0, 0, 19, 118, 1),
        (1, 45, 47, 130, 1),
        (2, 50, 53, 152, 0),
        (2, 62, 64, 64, 0),
        (0, 37, 39, 118, 1),
    ] {
        let mut f = past_one(true, transaction::WRITE);
        f.station_in_flight.fill(1);
        fail(&mut f, link, down, up);
        let result = run(&f);
        let last = *times(&result).last().expect("the second one arrives");
        assert_eq!(last, (started, started + 54), "link {link} from {down} to {up}");
        assert_eq!((result.lost, result.timed_out), (lost, lost), "link {link} from {down} to {up}");
        assert_eq!(result.links[link as usize].lost, lost);
    }
}

/// Makes the stations at the ends of links begin nothing between two ticks.
fn stop(f: &mut Fabric, links: &[u32], down: u64, up: u64) {
    let rows = links.len();
    (f.fault_link, f.fault_kind) = (links.to_vec(), vec![fault_kind::STUCK; rows]);
    (f.fault_down_ticks, f.fault_ended_ticks) = (vec![down; rows], vec![down + 1; rows]);
    (f.fault_up_ticks, f.ring_echo_timeout_ticks) = (vec![up; rows], 1);
}

/// The first request is ready to be stored at 58; a service in progress is completed.
#[test]
fn a_stuck_terminal_begins_no_service() {
    for (down, up, stored) in [(0, 100, 114), (58, 100, 114), (59, 100, 72), (0, 58, 72)] {
        let mut f = past_one(true, transaction::WRITE);
        f.terminal_transactions.fill(1);
        stop(&mut f, &[1], down, up);
        let result = run(&f);
        assert_eq!(times(&result)[0], (18, stored), "from {down} to {up}");
        assert_eq!((result.lost, result.in_flight), (0, 0));
    }
}

/// The request is ready for the bus at 46, the response at 173 if nothing stops them.
#[test]
fn a_bus_that_fails_begins_no_transfer() {
    for (down, up, stored, second) in
        [(0, 300, 398, 398 + 109), (46, 300, 398, 398 + 109), (47, 300, 144, 380)]
    {
        let mut f = rings(&[vec![T, P], vec![P, T]]);
        f.terminal_transactions.fill(1);
        send_list(&mut f, &[&[(1, 6, 0), (1, 6, 0)], &[]]);
        stop(&mut f, &[0, 3], down, up);
        let result = run(&f);
        assert_eq!((times(&result)[0].1, times(&result)[1].0), (stored, second), "from {down} to {up}");
        assert_eq!((result.lost, result.in_flight), (0, 0));
    }
}

/// The first transaction is given up at 1000, which closes the route for 500 ticks. Its packets created up to then, at
/// 400, 800 and 1200, are discarded; from 1600 on all are delivered.
#[test]
fn routes_are_closed() {
    let mut f = past_one(true, transaction::WRITE);
    fail(&mut f, 0, 0, 1200);
    crate::scenarios::build::send_uniform(&mut f, arrival::SILENT, 400.0, 6);
    f.source_arrival[0] = arrival::CONSTANT;
    f.source_target.fill(target::FIXED);
    f.target_fixed = vec![2, 0, 0];
    f.terminal_transactions.fill(1);
    (f.ring_close_after, f.ring_closed_ticks) = (1, 500);
    check(&f).expect("a legal fabric");
    let result = run_rings(&f, 2470);
    let first = times(&result)[0].0 - 18 - 1600;
    assert!((0..400).contains(&first), "the phase of the source");
    let lost = (result.links[0].lost, result.links[0].discarded, result.lost, result.timed_out);
    assert_eq!((lost, result.deliveries.len()), ((1, 3, 4, 1), 2));
}

/// A transmit place is free when its packet has left, at 34, or when its echo has arrived.
#[test]
fn transmit_places() {
    for (cut_through, hold, free) in [(false, 0, 34), (false, 1, 82), (true, 0, 34), (true, 1, 64)] {
        let mut f = past_one(cut_through, transaction::WRITE);
        f.ring_hold_until_echo = hold;
        f.station_requests_out.fill(1);
        assert_eq!(times(&run(&f))[1].0, free + 18, "{cut_through} {hold}");
    }
}

/// One write: a request on two links, its echo and the response on the third, the response's echo on two.
#[test]
fn what_links_count() {
    let mut f = past_one(true, transaction::WRITE);
    send_list(&mut f, &[&[(2, 6, 0)], &[], &[]]);
    let result = run(&f);
    assert_eq!(result.packet_hops, 3);
    for (link, symbols) in [(0, 8 + 3), (1, 8 + 3), (2, 3 + 5)] {
        let counts = result.links[link];
        assert_eq!((counts.packets, counts.symbols, counts.busy_ticks), (1, symbols, 2 * symbols));
        assert_eq!((counts.echo_ticks, counts.retried, counts.busied, counts.wait_ticks), (6, 0, 0, 0));
    }
}

/// One in flight: the second packet starts when the echo of the first has arrived.
#[test]
fn in_flight_and_order() {
    let mut f = past_one(true, transaction::WRITE);
    f.station_in_flight.fill(1);
    assert_eq!(times(&run(&f))[1].0, 64);
    let mut f = past_one(true, transaction::WRITE);
    for (stations, second) in
        [(stations::PORTS, 34), (stations::TERMINALS, 64), (stations::ALL, 64), (stations::BUT_REQUESTS, 34)]
    {
        f.ring_in_order = stations;
        assert_eq!(times(&run(&f))[1].0, second);
    }
    send_list(&mut f, &[&[(2, 6, 0), (1, 6, 0)], &[], &[]]);
    assert!(times(&run(&f)).iter().any(|times| times.0 == 34), "another target need not wait");
}

/// The second response follows the first, or starts when its echo has arrived, which takes 46 like that of a request.
#[test]
fn order_of_responses_alone() {
    let mut f = past_one(true, transaction::READ);
    for (stations, second) in [(stations::PORTS, 115 + 16), (stations::BUT_REQUESTS, 115 + 46)] {
        f.ring_in_order = stations;
        assert_eq!(times(&run(&f)), [(18, 115), (28, second)]);
    }
}

/// The passing packet is ready at 30: an own packet goes first if it is ready by then, and the passing one waits for
/// its end.
#[test]
fn an_own_packet_is_inserted_into_an_empty_fifo() {
    for (ready, started, passed) in [(29, 29, 45), (30, 30, 46), (31, 46, 30)] {
        let mut f = past_one(true, transaction::MOVE);
        f.terminal_host_ticks[1] = ready - 7;
        f.terminal_access_ticks[2] = 0;
        send_list(&mut f, &[&[(2, 6, 0)], &[(2, 6, 0)], &[]]);
        let result = run(&f);
        // Store at 2: 14 + 5 + 3 to be complete, 6 to the user, 1 of service.
        let mut expected = vec![(18, passed + 29), (started, started + 29)];
        expected.sort_by_key(|times| times.1);
        assert_eq!(times(&result), expected, "ready at {ready}");
        assert_eq!(result.links[1].bypass_most, if ready < 31 { 8 } else { 0 });
    }
}

/// A place that is taken until 1047; the sender learns of each rejection 34 after it began.
#[test]
fn retries() {
    for (strategy, at_responder) in
        [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)].map(|(strategy, place)| (strategy as u8, place))
    {
        let mut f = rings(&[vec![T, T]]);
        f.terminal_transaction.fill(transaction::MOVE);
        f.station_requests_in.fill(1);
        f.terminal_access_ticks[1] = 1000;
        (f.ring_retry_strategy, f.ring_retry_delay_ticks) = (strategy, 16);
        f.ring_retry_at_responder = at_responder;
        send_list(&mut f, &[&[(1, 6, 0), (1, 6, 0)], &[]]);
        let (mut start, mut times_busied) = (34, 0);
        while start + 8 < 1047 {
            times_busied += 1;
            start += 34
                + match strategy {
                    retry::CONSTANT => 16,
                    retry::LINEAR => 16 * times_busied,
                    _ => 16 << (times_busied - 1),
                };
        }
        let result = run(&f);
        assert_eq!(times(&result), [(18, 1047), (34, start + 28 + 1001)], "{strategy} {at_responder}");
        let counts = result.links[0];
        assert_eq!((counts.retried, counts.busied), (times_busied as u64, times_busied as u64));
        assert_eq!(counts.retry_ticks, 16 * times_busied as u64);
        assert_eq!(counts.packets, 2 + times_busied as u64);
    }
}

/// Five packets for one place that is taken until 1047. The second, started at 34, is known to be busied at 68, so the
/// fourth still starts at 66; whether the fifth, ready before 68 or after it, does at 82 depends on the order, and on how
/// many may wait.
#[test]
fn what_was_busied_goes_first_or_waits() {
    let fifth = |order: u8, delay, rejected, later| {
        let mut f = rings(&[vec![T, T]]);
        f.terminal_transaction.fill(transaction::MOVE);
        f.terminal_transactions.fill(5);
        f.station_requests_in.fill(1);
        f.station_in_flight.fill(8);
        f.station_rejected.fill(rejected);
        f.terminal_access_ticks[1] = 1000;
        (f.ring_retry_delay_ticks, f.ring_retry_order) = (delay, order);
        let mut packets = [(1, 6, 0); 5];
        packets[3].2 = later;
        send_list(&mut f, &[&packets, &[]]);
        let started: Vec<i64> = times(&run(&f)).iter().map(|times| times.0).collect();
        assert_eq!(started.len(), 5);
        *started.iter().max().expect("five packets")
    };
    assert_eq!(fifth(retry_order::READY, 0, 8, 0), 82);
    assert!(fifth(retry_order::FIRST, 0, 8, 0) > 1000, "three that are sent again leave no gap on the link");
    assert_eq!(fifth(retry_order::FIRST, 16, 8, 0), 82, "none is ready again before 84");
    assert!(fifth(retry_order::READY, 16, 1, 0) > 82);
    assert_eq!(fifth(retry_order::READY, 0, 8, 20), 98, "the second was ready again before it");
    assert_eq!(fifth(retry_order::NEW_FIRST, 0, 8, 20), 82);
}

/// The latency from the host to the link, 7 or 50, is that of a pipeline, or occupies the interface.
#[test]
fn an_interface_takes_up_one_packet_or_many() {
    for (occupied, transmit, second) in [(0, 7, 34), (1, 7, 34), (0, 50, 77), (1, 50, 111)] {
        let mut f = past_one(true, transaction::MOVE);
        f.station_transmit_ticks.fill(transmit);
        f.ring_interface_occupied = occupied;
        assert_eq!(times(&run(&f))[1].0, second, "occupied: {occupied}, {transmit} ticks");
    }
    // On the other side the packets come 16 apart.
    for (occupied, apart) in [(0, 16), (1, 90)] {
        let mut f = past_one(true, transaction::MOVE);
        f.station_receive_ticks.fill(90);
        f.ring_interface_occupied = occupied;
        let times = times(&run(&f));
        assert_eq!(times[1].1 - times[0].1, apart);
    }
}

/// Terminal 1 has eight requests to send from 18 on, one per 26 ticks, and a response from 67 on, for the data stored
/// at 60.
#[test]
fn responses_go_first_or_in_turn() {
    let second = |first| {
        let mut f = rings(&[vec![T, T]]);
        f.ring_response_first = first;
        f.terminal_transactions = vec![1, 8];
        f.station_requests_out.fill(8);
        f.station_requests_in.fill(8);
        f.station_in_flight.fill(8);
        send_list(&mut f, &[&[(1, 6, 0); 2], &[(0, 16, 0); 8]]);
        let result = run(&f);
        let own = result.deliveries.iter().filter(|delivery| delivery.source == 0);
        own.map(|delivery| delivery.started).max().expect("two deliveries")
    };
    // It goes after one more request, or after all of them: six or seven, of 26 ticks.
    assert!(second(0) - second(1) > 6 * 26);
}

/// A request takes 9 + 5 x 8 on the bus, a response 9 + 3 x 8.
#[test]
fn a_write_through_a_bridge() {
    let mut f = rings(&[vec![T, P], vec![P, T]]);
    f.terminal_transactions.fill(1);
    send_list(&mut f, &[&[(1, 6, 0), (1, 6, 0)], &[]]);
    let result = run(&f);
    // 18 to the link, 22 on it, 6 to the bus, 49, 7 to the link, 22, 6, 14; 7, 16, 6, 33, 7, 16, 6 back.
    assert_eq!(times(&result)[0], (18, 144));
    assert_eq!(times(&result)[1].0, 144 + 7 + 16 + 6 + 33 + 7 + 16 + 6 + 18);
    let bus = result.buses[0];
    assert_eq!((bus.transfers, bus.busy_ticks, bus.wait_ticks), (4, 2 * (49 + 33), 0));
}

/// Two packets cross at once with two buses; with one, the second waits for the first.
#[test]
fn buses_of_a_switch() {
    for (buses, second) in [(1, 144 + 49), (2, 144)] {
        let mut f = rings(&vec![vec![T, P]; 4]);
        f.terminal_transaction.fill(transaction::MOVE);
        f.bus_count.fill(buses);
        send_list(&mut f, &[&[(1, 6, 0)], &[], &[(3, 6, 0)], &[]]);
        let result = run(&f);
        assert_eq!(times(&result), [(18, 144), (18, second)]);
        assert_eq!(result.buses[0].wait_ticks, (second - 144) as u64);
    }
}

/// A port receives one transfer at a time, however many buses there are, and ports are served in turn.
#[test]
fn ports_take_turns() {
    let mut f = rings(&vec![vec![T, P]; 4]);
    f.terminal_transaction.fill(transaction::MOVE);
    f.terminal_access_ticks.fill(0);
    f.bus_count.fill(3);
    send_list(&mut f, &[&[(3, 6, 0), (3, 6, 0)], &[(3, 6, 0)], &[(3, 6, 0)], &[]]);
    let result = run(&f);
    let order: Vec<(u32, i64)> = result.deliveries.iter().map(|d| (d.source, d.delivered)).collect();
    assert_eq!(order, [(0, 131), (1, 131 + 49), (2, 131 + 98), (0, 131 + 147)]);
}

/// The number is free at 50; the packet itself arrives late, and its response frees nothing.
#[test]
fn time_outs() {
    let mut f = past_one(true, transaction::WRITE);
    f.terminal_transactions.fill(1);
    f.ring_timeout_ticks = 50;
    let result = run(&f);
    assert_eq!(times(&result), [(18, 72), (68, 122)]);
    assert_eq!((result.timed_out, result.in_flight), (2, 0));
    f.ring_timeout_ticks = 101;
    assert_eq!(run(&f).timed_out, 0, "a response in the same tick comes first");
}

/// No station takes it: marked by station 0 at the first pass, removed at the second.
#[test]
fn the_scrubber_removes_what_circulates() {
    for hold in [0, 1] {
        let mut f = rings(&[vec![T, T], vec![T, T]]);
        f.ring_hold_until_echo = hold;
        f.terminal_transactions.fill(1);
        f.station_requests_out.fill(1);
        f.ring_timeout_ticks = 1000;
        send_list(&mut f, &[&[(2, 6, 0), (1, 6, 0)], &[], &[], &[]]);
        let result = run(&f);
        assert_eq!((result.scrubbed, result.in_flight, result.timed_out), (1, 0, 1));
        assert_eq!(times(&result)[0].0, 1018);
        // The last three are the write that follows: a request and a response.
        assert_eq!(result.packet_hops, 4 + 2);
    }
}

/// Station 1 begins at 29 and keeps two packets waiting from 30 to 77: it says stop after its own unit at 45, and go at
/// 77. Both take 5 + 3 + 4 to station 2, leave it after the end of an echo, at 57 and 89, and take as long to station
/// 0: 69, after an echo again, and 101. There the third packet is ready at 85.
#[test]
fn a_recovering_station_stops_the_others() {
    for (allocation, third) in
        [(stations::NONE, 85), (stations::ALL, 101), (stations::PORTS, 85), (stations::TERMINALS, 101)]
    {
        let mut f = past_one(true, transaction::MOVE);
        f.ring_allocation = allocation;
        f.terminal_host_ticks[1] = 22;
        send_list(&mut f, &[&[(2, 6, 0), (2, 6, 67), (2, 6, 0)], &[(2, 6, 0)], &[]]);
        let result = run(&f);
        let mut started: Vec<i64> = result.deliveries.iter().map(|delivery| delivery.started).collect();
        started.sort_unstable();
        assert_eq!(started, [18, 29, 34, third], "allocation {allocation}");
    }
}

/// With phases, the packet that was busied first gets the next place; a later one that arrives earlier does not.
#[test]
fn phases_keep_a_place_for_what_was_busied() {
    for (phases, first) in [(0, 1), (1, 0)] {
        let mut f = rings(&[vec![T, T, T]]);
        f.terminal_transaction.fill(transaction::MOVE);
        f.ring_phases = phases;
        f.station_requests_in.fill(1);
        f.terminal_access_ticks[2] = 500;
        f.ring_retry_delay_ticks = 400;
        send_list(&mut f, &[&[(2, 6, 0), (2, 6, 0)], &[(2, 6, 0)], &[]]);
        // Terminal 1 begins when the place has just become free and the retry of terminal 0 has not arrived yet.
        f.terminal_host_ticks[1] = 560;
        let result = run(&f);
        assert_eq!(result.deliveries[1].source, first, "phases {phases}");
        assert_eq!(result.deliveries.len(), 3);
    }
}

/// Without a waiting place, packets created while there is no transmit place are lost, but not those created when one
/// becomes free.
#[test]
fn sources_without_a_waiting_place() {
    let mut f = rings(&[vec![T, T]]);
    f.terminal_transaction.fill(transaction::MOVE);
    f.station_requests_out.fill(1);
    f.terminal_host_ticks.fill(0);
    f.station_transmit_ticks.fill(0);
    f.source_arrival[0] = arrival::TOGETHER;
    f.source_target.fill(fabriloom_engine::fabric::target::FIXED);
    f.target_fixed.fill(1);
    f.source_queue.fill(u32::MAX);
    f.length_min.fill(6);
    // A packet is on its link for 16 ticks.
    for (interval, lost) in [(16, 0), (8, 1), (5, 3)] {
        f.source_interval_grains.fill(f64::from(interval));
        let result = run_rings(&f, 799);
        let kept = result.offered - result.refused;
        assert_eq!(result.offered, 800_u64.div_ceil(interval as u64));
        assert_eq!(result.refused, kept * lost, "every {interval}");
    }
}
