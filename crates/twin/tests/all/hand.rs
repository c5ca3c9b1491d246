//! The twin compared with results computed by hand.

use crate::scenarios::build::{
    C104, Cable, DS_LINK, Switch, add_cable, add_group, crossbar, empty, line, send_list, send_uniform,
    set_route,
};
use fabriloom_engine::fabric::{Fabric, arbiter, arrival, choice, target};
use fabriloom_twin::{Delivery, FlowControl, TwinRun, run};

fn counted(fabric: &Fabric, until: i64) -> TwinRun {
    fabriloom_engine::fabric::check(fabric).expect("a legal fabric");
    run(fabric, FlowControl::Counted, until)
}

fn sources(deliveries: &[Delivery]) -> Vec<u32> {
    deliveries.iter().map(|delivery| delivery.source).collect()
}

/// First bit to end of packet through `n` equal switches: each adds its header, arrival, decoding and forwarding.
#[test]
fn latency_without_load() {
    let cable = Cable { arrival_ticks: 17, input_buffer: 64, ..DS_LINK };
    for switches in 0..3_usize {
        for crossbar_ticks in [0, 10] {
            for (header, payload) in [(0, 0), (0, 64), (1, 0), (1, 16), (2, 64), (3, 500)] {
                let mut f = line(&vec![Switch { crossbar_ticks, ..C104 }; switches], cable);
                f.header_chars = header;
                send_list(&mut f, &[&[(1, payload, 0)], &[]]);
                let result = counted(&f, i64::MAX);
                let per_switch = (header.max(1) - 1) * 10 + 17 + 80 + 20;
                let last = (header + payload) * 10 + 4 + 7;
                let expected = i64::from(switches as u32 * per_switch + last);
                assert_eq!(result.deliveries.len(), 1);
                assert_eq!(result.deliveries[0].started, 0);
                assert_eq!(
                    result.deliveries[0].delivered, expected,
                    "{switches} {crossbar_ticks} {header} {payload}"
                );
                assert_eq!((result.packet_hops, result.end_time), (switches as u64, expected));
                assert_eq!((result.offered, result.refused, result.in_flight), (1, 0, 0));
                assert!(!result.deadlocked);
            }
        }
    }
}

/// A slow crossbar, not the links, sets the pace of a long packet.
#[test]
fn a_slow_crossbar_limits() {
    let slow = Switch { crossbar_ticks: 25, next_head_ticks: 25, decode_ticks: 0, forward_ticks: 0, ..C104 };
    let mut f = line(&[slow], DS_LINK);
    send_list(&mut f, &[&[(1, 1000, 0)], &[]]);
    let result = counted(&f, i64::MAX);
    // The header crosses at 10, the end of packet 1001 characters later, and is sent and received in 4.
    assert_eq!(result.deliveries[0].delivered, 10 + 1001 * 25 + 4);
}

#[test]
fn back_to_back_packets_fill_the_link() {
    for switches in [0, 1, 2] {
        let mut f = line(&vec![C104; switches], DS_LINK);
        send_uniform(&mut f, arrival::BACKLOG, 0.0, 64);
        f.source_arrival[1] = arrival::SILENT;
        let result = counted(&f, 100_000);
        assert!(result.deliveries.len() > 100);
        for pair in result.deliveries.windows(2) {
            assert_eq!(pair[1].delivered - pair[0].delivered, 65 * 10 + 4);
        }
    }
}

/// A switch of one flit per cycle of 10 ticks. Packets of 5 are separated by the cycles in which the next head reaches
/// the front and requests, or by those in which an output is given to another head.
#[test]
fn cycles_are_lost_behind_a_tail() {
    let cable = Cable { end_ticks: 10, output_buffer: 1, quantum: 1, input_buffer: 30, ..DS_LINK };
    let apart = |handover_ticks, next_head_ticks, senders: u32| {
        let plain = Switch { decode_ticks: 20, crossbar_ticks: 10, forward_ticks: 0, ..C104 };
        let mut f = crossbar(Switch { handover_ticks, next_head_ticks, ..plain }, 3, cable);
        f.header_chars = 0;
        let many: &[(u32, u32, u64)] = &[(2, 4, 0); 40];
        send_list(&mut f, &[many, if senders > 1 { many } else { &[] }, &[]]);
        let result = counted(&f, i64::MAX);
        let last: Vec<i64> = result.deliveries[10..20].iter().map(|delivery| delivery.delivered).collect();
        let pairs: Vec<i64> = last.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(pairs.iter().all(|&pair| pair == pairs[0]), "{pairs:?}");
        pairs[0]
    };
    // From one sender: the next head is at the front, decodes for 20 and crosses.
    assert_eq!(apart(10, 0, 1), 40 + 20);
    assert_eq!(apart(10, 10, 1), 40 + 30);
    assert_eq!(apart(10, 40, 1), 40 + 60);
    // An output that becomes free later than a head becomes ready.
    assert_eq!(apart(50, 0, 1), 40 + 50);
    // From two in turn: the other head has been ready for long.
    assert_eq!(apart(10, 40, 2), 40 + 10);
    assert_eq!(apart(20, 40, 2), 40 + 20);
}

/// With a buffer of one quantum, the next 8 characters wait until the previous 8 have left and their credit has
/// arrived.
#[test]
fn a_small_buffer_stalls_for_credit() {
    let cable = Cable { input_buffer: 8, arrival_ticks: 35, credit_ticks: 40, ..DS_LINK };
    let mut f = line(&[Switch { decode_ticks: 0, forward_ticks: 5, ..C104 }], cable);
    send_list(&mut f, &[&[(1, 100, 0)], &[]]);
    let result = counted(&f, i64::MAX);
    let end = 101;
    let sent = (end / 8) * (7 * 10 + 35 + 40) + (end % 8) * 10;
    assert_eq!(result.deliveries[0].delivered, sent + 35 + 5 + 4 + 25);
}

/// 11 places with a quantum of 4 allow 8 characters at first; the third lump of credit needs one departure, the fourth
/// five.
#[test]
fn credit_comes_in_lumps() {
    let cable = Cable { input_buffer: 11, quantum: 4, credit_ticks: 140, ..DS_LINK };
    let mut f = line(&[Switch { decode_ticks: 200, forward_ticks: 0, ..C104 }], cable);
    send_list(&mut f, &[&[(1, 12, 0)], &[]]);
    let result = counted(&f, i64::MAX);
    // Granted at 210, when 8 characters have arrived and cross. The first is the 1st place after 12 - 11, so credit for
    // 8..12 arrives at 350, and the 5th departure, for 12..16, was at 210 as well: 12 and 13 follow without a stall.
    let end_starts = 350 + 5 * 10;
    assert_eq!(result.deliveries[0].delivered, end_starts + 10 + 4);
}

/// One place in the output buffer: the next character crosses when the one before has left completely.
#[test]
fn a_single_output_place_alternates() {
    let cable = Cable { output_buffer: 1, ..DS_LINK };
    let mut f = line(&[Switch { decode_ticks: 0, forward_ticks: 15, ..C104 }], cable);
    send_list(&mut f, &[&[(1, 10, 0)], &[]]);
    let result = counted(&f, i64::MAX);
    assert_eq!(result.deliveries[0].delivered, 10 + 11 * (15 + 10) + 15 + 4);
}

/// Three heads ask for one link: the first at once, then by request time and, when equal, by link number.
#[test]
fn fifo_serves_in_order_of_requests() {
    let mut f = crossbar(C104, 4, DS_LINK);
    send_list(&mut f, &[&[(3, 20, 0)], &[(3, 20, 0)], &[(3, 20, 0)], &[]]);
    assert_eq!(sources(&counted(&f, i64::MAX).deliveries), [0, 1, 2]);
    f.link_arrival_ticks[f.terminal_out_link[0] as usize] = 12;
    f.link_arrival_ticks[f.terminal_out_link[1] as usize] = 11;
    assert_eq!(sources(&counted(&f, i64::MAX).deliveries), [2, 1, 0]);
}

/// The first packet of terminal 2 takes the link; what follows depends on the arbiter.
#[test]
fn arbiters_differ() {
    let order = |kind| {
        let mut f = crossbar(Switch { arbiter: kind, ..C104 }, 4, DS_LINK);
        let many: &[(u32, u32, u64)] = &[(3, 200, 0); 3];
        send_list(&mut f, &[many, many, many, &[]]);
        for terminal in 0..2 {
            f.link_arrival_ticks[f.terminal_out_link[terminal] as usize] = 11;
        }
        sources(&counted(&f, i64::MAX).deliveries)
    };
    assert_eq!(order(arbiter::FIFO), [2, 0, 1, 2, 0, 1, 2, 0, 1]);
    assert_eq!(order(arbiter::ROUND_ROBIN), [2, 0, 1, 2, 0, 1, 2, 0, 1]);
    assert_eq!(order(arbiter::FIXED), [2, 0, 1, 0, 1, 0, 1, 2, 2]);
}

/// Three packets per terminal, all created at once, those of terminal 1 first and of terminal 2 last, whose head
/// arrives first. A head after a packet of its own terminal is not decoded in time for the next grant.
#[test]
fn the_oldest_packet_goes_first() {
    let mut f = crossbar(Switch { arbiter: arbiter::OLDEST_FIRST, ..C104 }, 4, DS_LINK);
    send_uniform(&mut f, arrival::BURSTS, 1.0, 200);
    f.source_arrival[3] = arrival::SILENT;
    f.source_first_grains = vec![1.0, 0.0, 2.0, 0.0];
    f.source_burst.fill(3.0);
    f.source_target.fill(target::FIXED);
    f.target_fixed.fill(3);
    for terminal in 0..2 {
        f.link_arrival_ticks[f.terminal_out_link[terminal] as usize] = 15;
    }
    let order = |f: &Fabric| sources(&counted(f, 100_000).deliveries);
    assert_eq!(order(&f), [2, 1, 0, 1, 0, 1, 0, 2, 2]);
    f.switch_arbiter.fill(arbiter::FIXED);
    assert_eq!(order(&f), [2, 0, 1, 0, 1, 0, 1, 2, 2]);
}

/// Packets of a list with times are created then, however late those before leave, and leave one after the other.
#[test]
fn times_of_a_list_wait_for_nobody() {
    let mut f = crossbar(C104, 2, DS_LINK);
    send_list(&mut f, &[&[(1, 200, 0), (1, 8, 0), (1, 8, 0), (1, 8, 0)], &[]]);
    (f.source_arrival[0], f.source_interval_grains[0]) = (arrival::TIMED, 1.0);
    f.list_at_grains = vec![0, 7, 7, 90_000];
    let grain = f.grain_ticks as i64;
    let deliveries = counted(&f, i64::MAX).deliveries;
    assert_eq!(deliveries.iter().map(|d| d.created / grain).collect::<Vec<_>>(), [0, 7, 7, 90_000]);
    let took: Vec<_> = deliveries.iter().map(|d| d.delivered - d.created).collect();
    assert!(took[1] > took[0] && took[2] > took[1] && took[3] < took[0], "{took:?}");
    assert_eq!(deliveries[3].started, 90_000 * grain);
    f.source_queue[0] = 1;
    assert_eq!(counted(&f, i64::MAX).deliveries.len(), 3, "the third finds no place");
}

/// Two switches with two cables between them, one packet at a time: the first link carries all, or both in turn.
#[test]
fn choices_differ() {
    let sent_on = |kind| {
        let mut f = empty(&[Switch { choice: kind, ..C104 }, C104], 2, 2);
        add_cable(&mut f, 2, 0, DS_LINK);
        let (first, _) = add_cable(&mut f, 0, 1, DS_LINK);
        let (second, _) = add_cable(&mut f, 0, 1, Cable { arrival_ticks: 10 + 1, ..DS_LINK });
        let (last, _) = add_cable(&mut f, 1, 3, DS_LINK);
        set_route(&mut f, 0, 1, &[first, second], false);
        set_route(&mut f, 1, 1, &[last], false);
        send_list(&mut f, &[&[(1, 8, 5000); 4], &[]]);
        let deliveries = counted(&f, i64::MAX).deliveries;
        let quickest = deliveries.iter().map(|d| d.delivered - d.started).min().expect("packets came");
        deliveries.iter().map(|d| d.delivered - d.started - quickest).collect::<Vec<_>>()
    };
    assert_eq!(sent_on(choice::FIRST), [0, 0, 0, 0]);
    assert_eq!(sent_on(choice::LEAST_RECENT), [0, 1, 0, 1]);
}

/// Two switches with two cables between them: of two packets that come together and both draw the second, one waits until
/// the end of the other has crossed and its handover is over, although the first cable is free.
#[test]
fn a_packet_waits_for_the_link_that_it_has_drawn() {
    let waited = |parts: &[u32]| {
        let mut f = empty(&[C104, C104], 4, 4);
        let cables =
            [(2, 0), (3, 0), (0, 1), (0, 1), (1, 4), (1, 5)].map(|(a, b)| add_cable(&mut f, a, b, DS_LINK).0);
        for target in [2, 3] {
            set_route(&mut f, 0, target, &cables[2..4], false);
            set_route(&mut f, 1, target, &[cables[target as usize + 2]], false);
        }
        let second = add_group(&mut f, &[cables[3]]);
        f.group_parts = parts.iter().map(|_| second).collect();
        f.group_part_start = vec![parts.len() as u32; f.groups() + 1];
        f.group_part_start[0] = 0;
        send_list(&mut f, &[&[(2, 64, 0)], &[(3, 64, 0)], &[], &[]]);
        let links = counted(&f, i64::MAX).links;
        [2, 3].map(|cable| (links[cables[cable] as usize].packets, links[cables[cable] as usize].wait_ticks))
    };
    assert_eq!(waited(&[]), [(1, 0), (1, 0)]);
    // Both request at 10 + 80. The end of 64 characters has arrived at 65 x 10 + 4 + 6, and crosses with them.
    assert_eq!(waited(&[1]), [(0, 0), (2, 660 + 1 - 90)]);
}

/// The deleted header saves its time on the last link, if it does not have to wait for the payload.
#[test]
fn deleted_headers_are_not_sent() {
    for by_route in [false, true] {
        for decode_ticks in [0, 80] {
            let mut f = line(&[Switch { decode_ticks, ..C104 }], DS_LINK);
            f.header_chars = 3;
            if by_route {
                f.route[1] |= 1;
            } else {
                f.link_deletes_header[f.terminal_in_link[1] as usize] = 1;
            }
            send_list(&mut f, &[&[(1, 20, 0)], &[]]);
            let first = (2 * 10 + 10 + i64::from(decode_ticks)).max(3 * 10 + 10);
            assert_eq!(counted(&f, i64::MAX).deliveries[0].delivered, first + 20 + 20 * 10 + 4);
        }
    }
}

/// Terminals at the ends of a row of three switches; all packets go through the middle one.
#[test]
fn packets_pass_the_intermediate_switch() {
    let mut f = line(&[C104; 3], DS_LINK);
    let mut wider = empty(&[C104; 3], 2, 3);
    std::mem::swap(&mut f.route, &mut wider.route);
    f.classes = 3;
    for switch in 0..3 {
        for class in 0..2 {
            f.route[switch * 3 + class] = wider.route[switch * 2 + class];
        }
    }
    f.via_switch = vec![1];
    f.via_class = vec![2];
    f.via_header_chars = 2;
    f.route[2] = f.route[1] | 1;
    send_list(&mut f, &[&[(1, 20, 0)], &[]]);
    let result = counted(&f, i64::MAX);
    // The via header is 2 characters long: readable one character later, then deleted; the final header is 1 long.
    let (first, others) = (10 + 10 + 80 + 20, 10 + 80 + 20);
    assert_eq!(result.deliveries[0].delivered, first + 2 * others + 21 * 10 + 4);
    assert_eq!(result.packet_hops, 3);
}

/// Four switches in a ring, every packet goes two steps on: worms longer than the buffers close the cycle.
#[test]
fn a_ring_deadlocks() {
    let mut f = empty(&[C104; 4], 4, 4);
    let ring: Vec<u32> = (0..4).map(|s| add_cable(&mut f, s, (s + 1) % 4, DS_LINK).0).collect();
    for terminal in 0..4 {
        let (inward, _) = add_cable(&mut f, terminal, 4 + terminal, DS_LINK);
        set_route(&mut f, terminal, terminal, &[inward], false);
        for switch in (0..4).filter(|&switch| switch != terminal) {
            set_route(&mut f, switch, terminal, &[ring[switch as usize]], false);
        }
    }
    let lists: Vec<Vec<(u32, u32, u64)>> = (0..4).map(|t| vec![((t + 2) % 4, 300, 0)]).collect();
    send_list(&mut f, &lists.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let result = counted(&f, 1_000_000);
    assert!(result.deadlocked);
    assert_eq!((result.deliveries.len(), result.in_flight), (0, 4));
    f.list_length.fill(20);
    let result = counted(&f, 1_000_000);
    assert!(!result.deadlocked);
    assert_eq!((result.deliveries.len(), result.in_flight), (4, 0));
}

#[test]
fn full_queues_refuse() {
    let mut f = crossbar(C104, 3, DS_LINK);
    send_uniform(&mut f, arrival::POISSON, 300.0, 64);
    f.source_queue.fill(2);
    let result = counted(&f, 200_000);
    assert!(result.refused > 500 && result.in_flight <= 3 * 4);
    assert_eq!(result.offered, result.deliveries.len() as u64 + result.refused + result.in_flight);
}

/// One flow-control character of 4 bits for 8 characters of 10: 8 bytes in 84 bits of 10 ns, 9.524 MB/s each way.
#[test]
fn real_flow_control_takes_its_share() {
    for switches in [0, 1] {
        let mut f = line(&vec![C104; switches], DS_LINK);
        f.source_arrival.fill(arrival::BACKLOG);
        f.source_target.fill(target::FIXED);
        f.target_fixed = vec![1, 0];
        f.length_min.fill(8_000);
        let until = 4_000_000;
        let result = run(&f, FlowControl::Exact, until);
        let bytes: u32 = result.deliveries.iter().skip(2).map(|d| d.length).sum();
        let span = result.deliveries.last().expect("packets came").delivered - result.deliveries[1].delivered;
        let rate_mbytes_per_s = f64::from(bytes) / 2.0 / (span as f64 * 10.0) * 1000.0;
        assert!(
            (rate_mbytes_per_s - 9.524).abs() < 0.003,
            "{rate_mbytes_per_s} MB/s over {switches} switches"
        );
        let ignored = run(&f, FlowControl::Counted, until).deliveries.len() as f64;
        assert!((result.deliveries.len() as f64 / ignored - 10.0 / 10.5).abs() < 0.01);
    }
}

/// Traffic one way leaves the forward wire to data: only the reverse wire carries flow control.
#[test]
fn real_flow_control_is_free_one_way() {
    let mut f = line(&[C104; 2], DS_LINK);
    send_uniform(&mut f, arrival::BACKLOG, 0.0, 64);
    f.source_arrival[1] = arrival::SILENT;
    let exact = run(&f, FlowControl::Exact, 100_000);
    let ignored = run(&f, FlowControl::Counted, 100_000);
    assert_eq!(exact.deliveries, ignored.deliveries);
}
