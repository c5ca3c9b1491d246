//! Cases with every time computed by hand.

use crate::build::{network, run, send, times};
use fabriloom_engine::fabric::{retry, stations, transaction};
use fabriloom_engine::run::End;

/// Terminal 0 writes 64 B to terminal 2, past terminal 1. The request is 16 + 64 + 4 B = 42 symbols, the echo 6, the
/// response 10.
#[test]
fn one_write_stored_and_forwarded() {
    let mut f = network(&[&[0, 1, 2]], 0);
    send(&mut f, &[(0, 2, 64)]);
    let done = run(&f, 10_000, true);
    // Ready at 5 + 82 = 87. Its tail is at station 1 at 87 + 41 * 4 + 10 = 261; decided 281, on the link at 329; tail at
    // station 2 at 329 + 174 = 503, decided and whole at 523, for the user at 629, stored 15 + 40 later.
    assert_eq!(times(&done), [(0, 87, 684)]);
    // The response is ready at 766; at terminal 0 at 766 + 9 * 4 + 10 + 20 = 832, consumed at 938. Its echo leaves
    // station 0 at 880, comes to 1 at 880 + 5 * 4 + 10 = 910, leaves there at 978, is at 2 at 978 + 50 = 1028.
    assert_eq!(done.now(), 1028);
    assert_eq!(done.end(), Some(End::Drained));
    let rings = done.rings().expect("rings");
    let symbols: Vec<u64> = rings.counts().map(|c| c.symbols).collect();
    assert_eq!(symbols, [42 + 6, 42 + 6, 6 + 10]);
    let packets: Vec<u64> = rings.counts().map(|c| c.packets).collect();
    assert_eq!(packets, [1, 1, 1]);
    let echoes: Vec<u64> = rings.counts().map(|c| c.echo_ticks).collect();
    assert_eq!(echoes, [24, 24, 24]);
    assert_eq!(done.packet_hops(), 3);
}

#[test]
fn one_write_cut_through() {
    let mut f = network(&[&[0, 1, 2]], 0);
    f.ring_cut_through = 1;
    send(&mut f, &[(0, 2, 64)]);
    let done = run(&f, 10_000, true);
    // Its head is at station 1 at 97, decided 117, on the link at 165, at station 2 at 175, decided 195; whole at
    // 175 + 41 * 4 + 20 = 359, for the user at 465, stored at 520.
    assert_eq!(times(&done), [(0, 87, 520)]);
    // Response ready at 602, decided at terminal 0 at 632, whole at 602 + 10 + 36 + 20 = 668, consumed at 774. Its echo
    // leaves station 0 at 632 + 48 + 4 * 4 = 696, head at 1 decided at 726, leaves 774, whole at 2 at 774 + 50.
    assert_eq!(done.now(), 824);
}

/// The memory of terminal 1 takes one packet; two senders.
fn busied() -> fabriloom_engine::fabric::Fabric {
    let mut f = network(&[&[0, 1]], 0);
    f.station_requests_in = vec![2, 1];
    f.terminal_access_ticks = vec![15, 1000];
    f.terminal_transaction = vec![transaction::MOVE; 2];
    send(&mut f, &[(0, 1, 64), (0, 1, 64)]);
    f
}

/// First accepted at 87 + 194 = 281, stored at 281 + 106 + 1040 = 1427. The second starts at 87 + 168 = 255 and is
/// decided at 449: busy. The echo leaves at 497, is home at 497 + 20 + 10 + 20 = 547. A try takes 460 ticks from its start to the
/// echo, and 194 to the decision.
#[test]
fn busied_packets_come_again() {
    let delivered = |strategy, delay, at_responder| {
        let mut f = busied();
        f.ring_retry_strategy = strategy;
        f.ring_retry_delay_ticks = delay;
        f.ring_retry_at_responder = u8::from(at_responder);
        let done = run(&f, 100_000, true);
        let counts: Vec<_> = done.rings().expect("rings").counts().collect();
        assert_eq!(counts[0].busied, counts[0].retried);
        assert_eq!(counts[0].retry_ticks, 168 * counts[0].retried);
        (times(&done)[1].2, counts[0].retried)
    };
    // Sent again at 547 + d, decided 194 later, again 292 + d after the start; in time from 1427 on.
    let constant = |delay: i64| {
        let (mut start, mut tries) = (255, 0);
        while start + 194 < 1427 {
            start += 292 + delay;
            tries += 1;
        }
        (start + 194 + 106 + 1040, tries)
    };
    assert_eq!(delivered(retry::CONSTANT, 1, false), constant(1));
    assert_eq!(delivered(retry::CONSTANT, 100, false), constant(100));
    assert_eq!(delivered(retry::CONSTANT, 100, true), constant(100));
    // 255, 547 + 100 = 647, 939 + 200 = 1139, 1431 + 300 = 1731.
    assert_eq!(delivered(retry::LINEAR, 100, false), (1731 + 1340, 3));
    // 647, 939 + 200 = 1139, 1431 + 400 = 1831.
    assert_eq!(delivered(retry::EXPONENTIAL, 100, false), (1831 + 1340, 3));
    assert_eq!(delivered(retry::EXPONENTIAL, 100, true), (1831 + 1340, 3));
}

/// Terminal 0 on one ringlet, terminal 1 on another, a bus between them.
#[test]
fn one_write_over_a_bus() {
    let mut f = network(&[&[1, 0], &[0, 2]], 1);
    send(&mut f, &[(0, 1, 64)]);
    let done = run(&f, 10_000, true);
    // Accepted by the port at 87 + 194 = 281, for the bus at 387; 80 + 8 B are 11 cycles: 30 + 143 ticks; at the other
    // port at 560, ready at 642; accepted at 836, for the user at 942, stored at 997.
    assert_eq!(times(&done), [(0, 87, 997)]);
    let bus = done.rings().expect("rings").bus_counts().next().expect("a bus");
    // The response is 16 + 8 B: 3 cycles.
    assert_eq!((bus.transfers, bus.busy_ticks, bus.wait_ticks), (2, 173 + 69, 0));
}

/// A read that takes longer than the time-out frees its number, and its data arrive nevertheless.
#[test]
fn transactions_time_out() {
    let mut f = network(&[&[0, 1]], 0);
    f.terminal_transactions = vec![1; 2];
    f.terminal_transaction = vec![transaction::READ; 2];
    f.ring_timeout_ticks = 300;
    send(&mut f, &[(0, 1, 64), (0, 1, 64)]);
    let done = run(&f, 10_000, true);
    let rings = done.rings().expect("rings");
    assert_eq!(rings.timed_out, 2);
    // The second is dispatched at 300, not before.
    assert_eq!(times(&done).iter().map(|times| times.1).collect::<Vec<_>>(), [87, 387]);
    assert_eq!(rings.in_flight, 0);
}

/// No port takes packets for terminal 1, so they pass the scrubber twice and are removed.
#[test]
fn what_leads_nowhere_is_scrubbed() {
    let mut f = network(&[&[1, 0], &[0, 2]], 1);
    f.port_exit.fill(fabriloom_engine::fabric::PASS);
    f.ring_hold_until_echo = 1;
    send(&mut f, &[(0, 1, 64), (0, 1, 64), (0, 1, 64)]);
    let done = run(&f, 100_000, true);
    assert_eq!(done.balance().expect("balance").scrubbed, 3);
    assert_eq!(done.end(), Some(End::Drained));
}

/// Station 0 sends from 300 to 468, while two packets from terminal 2 arrive to pass it, at 329 and at 497: they leave
/// at 468 and 636. So it says stop at 468 and go at 804, when they have left; both arrive at the output of station 1
/// after 10 + 20 + 48, the stop at 546 behind an echo. Terminal 1 has a packet ready at 750; at 882, when the go
/// arrives, an echo has been on its link since 878, for 24. Where only ports need a go it does not wait.
#[test]
fn recovering_stations_stop_the_others() {
    let mut f = network(&[&[0, 1, 2]], 0);
    f.terminal_transaction = vec![transaction::MOVE; 3];
    f.terminal_host_ticks = vec![300 - 82, 750 - 82, 5];
    send(&mut f, &[(0, 1, 64), (2, 1, 64), (2, 1, 64), (1, 2, 64)]);
    let cases =
        [(stations::NONE, 750), (stations::PORTS, 750), (stations::ALL, 902), (stations::TERMINALS, 902)];
    for (allocation, start) in cases {
        f.ring_allocation = allocation;
        let done = run(&f, 100_000, true);
        let packet = done.run.trace.packets.iter().find(|packet| packet.source == 1).expect("a packet");
        assert_eq!(packet.started, start);
        assert!(done.rings().expect("rings").is_at_rest());
    }
}

/// With one bus two transfers follow each other, with two they overlap; ports are served in turn.
#[test]
fn buses_take_turns() {
    let waits = |buses| {
        let mut f = network(&[&[2, 0], &[3, 0], &[4, 1], &[5, 1], &[0, 1]], 2);
        f.bus_count = vec![buses; 2];
        f.terminal_transaction = vec![transaction::MOVE; 4];
        send(&mut f, &[(0, 1, 64), (1, 0, 64)]);
        let done = run(&f, 100_000, true);
        let bus = done.rings().expect("rings").bus_counts().next().expect("a bus");
        assert_eq!(bus.transfers, 2);
        // Both are ready at 387, a transfer takes 173: ports 0 and 1 in this order.
        let targets: Vec<u32> = done.run.trace.packets.iter().map(|packet| packet.target).collect();
        (bus.wait_ticks, targets)
    };
    assert_eq!(waits(1), (173, vec![1, 0]));
    assert_eq!(waits(2).0, 0);
}
