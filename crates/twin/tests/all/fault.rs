//! Faults, and blocked packets with and without a watchdog, in the twin, and so in the engine, compared with results
//! computed by hand, character by character.
//!
//! Engine and twin deliver and lose the same packets at the same ticks if links fail.

use crate::scenarios::agree::{self, Agreed, Seen, counted};
use crate::scenarios::build::{
    C104, Cable, DS_LINK, FLIT, FLIT_SWITCH, add_cable, add_group, crossbar, empty, failing, line, send_list,
    set_route,
};
use crate::scenarios::faults::{with_faults, with_tables, with_timeouts};
use crate::scenarios::lanes::{with_arbiters, with_classes, with_lanes, with_whole_packets_and_faults};
use crate::scenarios::networks::random_network;
use crate::scenarios::ports::draw_pairs;
use crate::scenarios::programs::{random_programs, with_announcements, with_resends};
use crate::scenarios::random::{draw_for, random_fabric, time_for};
use crate::scenarios::seeds::seeds;
use fabriloom_engine::fabric::{Fabric, NEVER, NONE, fault_kind};
use fabriloom_twin::TwinRun;

/// The link from one switch of a line to the next, and the link into the first one.
const BETWEEN: u32 = 2;
const INTO: u32 = 0;

/// Two switches; the first packet has 202 characters, the second 12.
fn two_switches() -> Fabric {
    let mut f = line(&[C104; 2], DS_LINK);
    send_list(&mut f, &[&[(1, 200, 0), (1, 10, 0)], &[]]);
    f
}

/// The header is decoded for 80 ticks and takes 20 to the wire, so it starts on the second link at 110; a character
/// follows every 10 ticks.
#[test]
fn a_worm_is_cut() {
    let mut f = two_switches();
    failing(&mut f, BETWEEN, 310, 395, 2000);
    let result = counted(&f);
    // Twenty have started by then, and the last one arrives in the tick of the fault: too late.
    assert_eq!((result.links[2].characters, result.links[2].packets), (20 + 12, 1));
    // The other nineteen continue, with an error end that arrives at 395.
    assert_eq!((result.links[4].characters, result.links[4].packets), (19 + 1 + 12, 2));
    // The source sends all of it, and the rest is spilled on arrival.
    assert_eq!((result.links[0].characters, result.links[0].packets), (202 + 12, 2));
    assert_eq!((result.lost, result.losses[2], result.in_flight), (1, (1, 0, 0), 0));
    // The next packet starts at 2014, when the link works and has all its credit.
    let [second] = &result.deliveries[..] else { panic!("one packet is delivered") };
    assert_eq!((second.started, second.delivered), (2014, 2014 + 2 * 110 + 110 + 4));
    assert!(!result.deadlocked);
}

/// There is no other link: packets are discarded when they request, and the switch continues.
#[test]
fn a_packet_with_nowhere_to_go_is_discarded() {
    let mut f = two_switches();
    failing(&mut f, BETWEEN, 50, 60, NEVER);
    let result = counted(&f);
    assert_eq!((result.lost, result.losses[0], result.losses[2]), (2, (0, 2, 0), (0, 0, 0)));
    assert_eq!((result.links[0].characters, result.links[2].characters), (202 + 12, 0));
    assert_eq!(result.packet_hops, 0);
}

/// The first packet is spilled at its terminal immediately, and the second one waits for the link.
#[test]
fn a_terminal_waits_for_its_link() {
    let mut f = two_switches();
    failing(&mut f, INTO, 5, 90, 5000);
    let result = counted(&f);
    assert_eq!((result.lost, result.losses[0]), (1, (1, 0, 0)));
    assert_eq!(result.deliveries[0].started, 5000);
    // Nothing of it had arrived, so there is nothing to end.
    assert_eq!((result.links[0].characters, result.links[2].packets), (1 + 12, 1));
}

/// A packet counts as lost once, even if its rest is cut again.
#[test]
fn a_packet_that_is_spilled_is_cut() {
    let mut f = two_switches();
    // Both packets are discarded at the second switch, the first one from 200 on.
    failing(&mut f, 4, 10, 20, NEVER);
    failing(&mut f, BETWEEN, 310, 395, 400);
    let result = counted(&f);
    assert_eq!((result.lost, result.losses[2], result.losses[BETWEEN as usize]), (2, (0, 2, 0), (0, 2, 0)));
    assert_eq!(result.links[4].characters, 0);
    assert_eq!(result.in_flight, 0);
}

/// Three switches in a triangle, a terminal at the first and at the second. The table that becomes active at 1500 leads
/// over the third switch; the one of 4000 has no routes.
#[test]
fn tables_are_replaced() {
    let mut f = empty(&[C104; 3], 2, 2);
    let (out, home) = add_cable(&mut f, 3, 0, DS_LINK);
    let (_, inward) = add_cable(&mut f, 4, 1, DS_LINK);
    let (short, back) = add_cable(&mut f, 0, 1, DS_LINK);
    let (up, _) = add_cable(&mut f, 0, 2, DS_LINK);
    let (down, _) = add_cable(&mut f, 2, 1, DS_LINK);
    for (switch, class, link) in [(0, 0, home), (0, 1, short), (1, 0, back), (1, 1, inward)] {
        set_route(&mut f, switch, class, &[link], false);
    }
    send_list(&mut f, &[&[(1, 10, 1000), (1, 10, 1000), (1, 10, 2000), (1, 10, 0)], &[]]);
    failing(&mut f, short, 500, 585, NEVER);
    f.table_route = [f.route.clone(), vec![NONE; f.route.len()]].concat();
    f.table_route[1] = add_group(&mut f, &[up]) * 2;
    f.table_route[5] = add_group(&mut f, &[down]) * 2;
    (f.table_ticks, f.table_number) = (vec![1500, 4000], vec![1, 2]);
    let result = counted(&f);
    // The first arrives before the fault; the second finds the link down; the third takes the detour; the fourth has no
    // route.
    let packets = |link: u32| result.links[link as usize].packets;
    assert_eq!((packets(out), packets(short), packets(up), packets(down), packets(inward)), (4, 1, 1, 1, 2));
    assert_eq!((result.lost, result.losses[out as usize]), (2, (0, 2, 0)));
    let latency: Vec<i64> = result.deliveries.iter().map(|one| one.delivered - one.started).collect();
    assert_eq!(latency, [2 * 110 + 110 + 4, 3 * 110 + 110 + 4]);
}

#[test]
fn random_fabrics_with_faults_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("fabrics with faults", 0..60) {
        let fabric = random_fabric(seed);
        let until = time_for(&fabric, 15);
        agreed.compare(seed, &with_faults(&fabric, seed, until), until);
    }
    assert!(agreed.delivered > 30 * agreed.runs, "{agreed:?}");
    assert!(agreed.cut > agreed.runs && agreed.discarded > agreed.runs, "{agreed:?}");
}

#[test]
fn random_fabrics_with_timeouts_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("fabrics with time-outs", 0..60) {
        let fabric = random_fabric(seed);
        let until = time_for(&fabric, 15);
        agreed.compare(seed, &with_timeouts(&fabric, seed, until), until);
    }
    assert!(agreed.timed_out > agreed.runs, "{agreed:?}");
}

#[test]
fn replaced_tables_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("replaced tables", 0..60) {
        let fabric = random_fabric(seed);
        let until = time_for(&fabric, 15);
        let fabric = if seed % 3 == 0 { fabric } else { with_faults(&fabric, seed, until) };
        agreed.compare(seed, &with_tables(&fabric, seed, until), until);
    }
    assert!(agreed.delivered > 30 * agreed.runs && agreed.discarded > 3 * agreed.runs, "{agreed:?}");
}

/// A packet keeps the queue into which it was sorted when it came.
#[test]
fn replaced_tables_with_queues_per_output_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("replaced tables with queues per output", 0..160) {
        let fabric = with_lanes(&random_fabric(seed), seed);
        if fabric.output_queues == 1 {
            let until = time_for(&fabric, 15);
            let fabric = if seed % 3 == 0 { fabric } else { with_faults(&fabric, seed, until) };
            agreed.compare(seed, &with_tables(&fabric, seed, until), until);
        }
    }
    assert!(agreed.delivered > 10 * agreed.runs && agreed.discarded > agreed.runs, "{agreed:?}");
}

/// A packet keeps the class with which it started; those after it have that of the new table.
#[test]
fn replaced_tables_with_classes_of_their_own_agree() {
    let (mut agreed, mut others) = (Agreed::default(), 0);
    for seed in seeds("replaced tables with classes of their own", 0..120) {
        let fabric = with_lanes(&random_fabric(seed), seed);
        let Some(mut fabric) = with_classes(&fabric, seed) else { continue };
        draw_pairs(&mut fabric, &mut draw_for(seed));
        let until = time_for(&fabric, 15);
        let fabric = if seed % 3 == 0 { fabric } else { with_faults(&fabric, seed, until) };
        let fabric = with_tables(&fabric, seed, until);
        agreed.compare(seed, &fabric, until);
        let kept = Fabric { table_between: vec![], ..fabric.clone() };
        let runs = [&fabric, &kept].map(|fabric| agree::links(seed, fabric, until).deliveries);
        others += usize::from(runs[0] != runs[1]);
    }
    assert!(agreed.delivered > 10 * agreed.runs && others > 20, "{agreed:?}, {others}");
}

/// Packets that pass whole are computed as one when they are cut, too, and where tables are replaced.
#[test]
fn whole_packets_with_faults_agree() {
    let (mut agreed, mut as_one, mut paused) = (Agreed::default(), 0, 0);
    for seed in seeds("whole packets with faults", 0..160) {
        let fabric = random_fabric(seed);
        let until = time_for(&fabric, 15);
        let fabric = with_whole_packets_and_faults(&fabric, seed, until);
        agreed.compare(seed, &fabric, until);
        let run = agree::simulate(&fabric, until, false, 1 << 50).expect("a route for every packet");
        as_one += u64::from(seed % 4 > 0 && run.packets().is_some());
        paused += u64::from(seed % 4 > 0 && run.packets().is_none() && fabric.has_pause());
    }
    assert!(agreed.delivered > 10 * agreed.runs && agreed.cut > agreed.runs, "{agreed:?}");
    assert!(
        agreed.discarded > agreed.runs && 4 * (as_one + paused) == 3 * agreed.runs,
        "{as_one}, {paused}, {agreed:?}"
    );
}

#[test]
fn lanes_with_faults_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("lanes with faults", 0..60) {
        let fabric = random_fabric(seed);
        let fabric = if seed % 2 == 0 { with_lanes(&fabric, seed) } else { with_arbiters(&fabric, seed) };
        let until = time_for(&fabric, 15);
        agreed.compare(seed, &with_timeouts(&fabric, seed, until), until);
    }
    assert!(agreed.cut > agreed.runs / 2, "{agreed:?}");
}

#[test]
fn networks_with_faults_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("networks with faults", 0..5) {
        let (fabric, until) = random_network(seed);
        agreed.compare(seed, &with_faults(&fabric, seed, until), until);
    }
    assert!(agreed.delivered > 30 * agreed.runs, "{agreed:?}");
}

#[test]
fn programs_with_faults_agree() {
    let mut seen = Seen::default();
    for seed in seeds("programs with faults", 0..20) {
        let fabric = random_programs(&random_fabric(seed), seed);
        let fabric = if seed % 3 == 1 { with_announcements(&fabric, seed) } else { fabric };
        let until = time_for(&fabric, 40);
        let drawn = if seed % 4 == 3 { with_whole_packets_and_faults } else { with_faults };
        seen.compare(seed, &drawn(&fabric, seed, until), until);
    }
    assert!(seen.received > 50, "{seen:?}");
}

/// Every packet of a message that is not lost is received exactly once, however often it was sent.
#[test]
fn programs_that_send_again_agree() {
    let mut seen = Seen::default();
    for seed in seeds("programs that send again", 0..40) {
        let fabric = with_resends(&random_programs(&random_fabric(seed), seed), seed);
        let fabric = if seed % 3 == 1 { with_announcements(&fabric, seed) } else { fabric };
        let until = time_for(&fabric, 40);
        seen.compare(seed, &with_faults(&fabric, seed, until), until);
    }
    assert!(seen.received > 100 && seen.resent > 100 && seen.duplicates > 50, "{seen:?}");
    assert!(seen.given_up > 10, "{seen:?}");
}

/// The links of the crossbar out of terminal 0 and into terminal 1.
/// Terminals 1 to 3 send packets of 10 characters to terminal 0, with a wait after each, and one is marked if more than 5
/// characters wait besides. A link may fail, until 36. An index rises a tick after a delivery, from 0 to 1 and no
/// further, and a port then rests for as long as it has sent a packet.
fn crowded(waits: [&[u64]; 3], fault: Option<(u32, u64)>) -> TwinRun {
    let mut f = crossbar(FLIT_SWITCH, 4, FLIT);
    (f.whole_packet_credit, f.output_queues) = (1, 1);
    (f.cct_eighths, f.mark_above_chars, f.ccti_increase) = (vec![0, 8], 5, 1);
    (f.becn_ticks, f.ccti_timer_ticks) = (1, 1 << 40);
    let lists = waits.map(|list| list.iter().map(|&wait| (0, 8, wait)).collect::<Vec<_>>());
    send_list(&mut f, &[&[], &lists[0], &lists[1], &lists[2]]);
    fault.into_iter().for_each(|(link, down)| failing(&mut f, link, down, down + 1, 36));
    agree::drained(0, &f, 100_000)
}

/// All headers arrive at 1. Grants are at 1, 11 and 21, and while nothing fails 20, 10 and no characters wait besides.
#[test]
fn what_is_cut_or_discarded_is_counted_for_marks() {
    let marked = |count: usize, fault| {
        let result = crowded([&[0; 5][..count]; 3], fault);
        let notified: Vec<_> = result.congestion.1[1..].iter().map(|port| port.0).collect();
        (result.congestion.0[0], notified, result.lost)
    };
    assert_eq!(marked(1, None), (2, vec![1, 1, 0], 0));
    // The link of terminal 3 fails before its header arrives: 10 characters wait, then none.
    assert_eq!(marked(1, Some((7, 1))), (1, vec![1, 0, 0], 1));
    // Three characters of it have arrived, and an error end follows: it still counts as 10.
    assert_eq!(marked(1, Some((7, 4))), (2, vec![1, 1, 0], 1));
    // The same with terminal 1, whose packet is marked at 1: nobody hears of that. Its lane is free at 6.
    assert_eq!(marked(1, Some((3, 4))), (2, vec![0, 1, 0], 1));
    // The link to terminal 0 fails in the tick of the requests, and four packets of each are discarded. The fifth, whose
    // headers arrive at 41, meet none of these: 20, 10 and no characters wait.
    assert_eq!(marked(5, Some((0, 1))), (2, vec![1, 1, 0], 12));
}

/// The first packets of terminals 1 and 2 are granted at 1 and 11, and the first is marked and arrives at 11. Terminal 1
/// sends its second one from 10 to 20, rests until 30, and has sent three characters of the third at 33. Its fourth may
/// be due in the tick in which that would have been sent.
#[test]
fn a_port_does_not_rest_after_a_packet_that_is_cut() {
    let starts = |wait, fault| -> Vec<i64> {
        let result = crowded([&[0, 0, wait, 0], &[0], &[]], fault);
        result.deliveries.iter().filter(|one| one.source == 1).map(|one| one.started).collect()
    };
    assert_eq!(starts(0, None), [0, 10, 30, 50]);
    assert_eq!(starts(0, Some((3, 33))), [0, 10, 36]);
    assert_eq!(starts(7, None), [0, 10, 30, 57]);
    assert_eq!(starts(7, Some((3, 33))), [0, 10, 40]);
}

/// Terminals 0 and 1 are at the first switch, 2 and 3 at the second, where a packet of 30 characters from 3 to 2 crosses
/// until 30. The first one of terminal 0 waits behind it, and the link between the switches fails. What has left the buffer
/// when it runs again, at 57, is credit at once: of its 30 characters those of 31 to 56. So there is credit for 30 of 34
/// when the next one requests, which is marked because of that of terminal 1. It follows the first one at 61.
#[test]
fn a_link_that_runs_again_has_credit_for_a_mark() {
    let mut f = empty(&[FLIT_SWITCH; 2], 4, 4);
    let inward = [0, 0, 1, 1].map(|switch| {
        let terminal = f.terminal_out_link.iter().take_while(|&&link| link != NONE).count() as u32;
        (switch, add_cable(&mut f, switch, 2 + terminal, FLIT).0)
    });
    let (middle, back) = add_cable(&mut f, 0, 1, Cable { credit_ticks: 20, input_buffer: 34, ..FLIT });
    for (terminal, (home, link)) in (0..).zip(inward) {
        set_route(&mut f, home, terminal, &[link], false);
        set_route(&mut f, 1 - home, terminal, &[[back, middle][home as usize]], false);
    }
    (f.whole_packet_credit, f.output_queues) = (1, 1);
    (f.cct_eighths, f.mark_above_chars, f.becn_ticks, f.ccti_timer_ticks) = (vec![0, 8], 5, 1, 1);
    send_list(&mut f, &[&[(2, 28, 26), (2, 28, 0)], &[(0, 8, 46), (2, 8, 0)], &[], &[(2, 28, 0)]]);
    failing(&mut f, middle, 40, 41, 57);
    let result = agree::drained(0, &f, 100_000);
    let last = result.deliveries.iter().filter(|one| one.source == 0).map(|one| one.delivered).max();
    assert_eq!((result.congestion.0[middle as usize], last, result.lost), (1, Some(91), 0));
}

const OF_SENDER: usize = 1;
const OF_STUCK: usize = 2;
/// What is lost at a link: cut, discarded, timed out.
const NOTHING: (u64, u64, u64) = (0, 0, 0);
const ONE_TIMED_OUT: (u64, u64, u64) = (0, 0, 1);

/// Three terminals at a switch. The first one sends 202 characters to the second one, then 12 to the third, which sends
/// a list of its own. The second one receives nothing in some times, each from its first tick until the last one.
fn blocked(stuck: &[(u64, u64)], third: &[(u32, u32, u64)], timeout: u64) -> TwinRun {
    let mut f = crossbar(C104, 3, DS_LINK);
    send_list(&mut f, &[&[(1, 200, 0), (2, 10, 0)], &[], third]);
    f.switch_timeout_ticks = vec![timeout];
    stick(&mut f, OF_STUCK as u32, stuck);
    counted(&f)
}

fn stick(f: &mut Fabric, link: u32, times: &[(u64, u64)]) {
    for &(from, until) in times {
        failing(f, link, from, from + 1, until);
        *f.fault_kind.last_mut().expect("it has just been added") = fault_kind::STUCK;
    }
}

/// Source, target and time of each delivery.
fn delivered(result: &TwinRun) -> Vec<(u32, u32, i64)> {
    result.deliveries.iter().map(|one| (one.source, one.target, one.delivered)).collect()
}

/// The header arrives at 10, is decoded until 90, and starts on the output link at 110; a character follows every 10
/// ticks, so 20 have started before 310. The other 181 follow from 5000 on. The end of packet crosses when character
/// 178 has left the output buffer, at 6590. Then the head of the next packet is at the front after a tick, decodes for
/// 80, and starts 20 later.
#[test]
fn without_a_watchdog_all_wait() {
    let result = blocked(&[(310, 5000)], &[], 0);
    assert_eq!(delivered(&result), [(0, 2, 6590 + 1 + 80 + 20 + 114), (0, 1, 5000 + 1810 + 4)]);
    assert_eq!((result.lost, result.links[OF_STUCK].characters), (0, 202));
}

/// The output buffer has places for 23 characters behind those 20. The last of these 43 crosses when it arrives, at 430.
/// At 930 an error end follows it and the rest is spilled. Credit for five quanta and for as many as have crossed has
/// brought 80 characters, the last one until 800; 37 of them are spilled at 930, and the source continues at 934. 120
/// more characters, the end of packet and the next header follow without a gap.
#[test]
fn a_watchdog_ends_the_packet_and_those_behind_it_continue() {
    let result = blocked(&[(310, 5000)], &[], 500);
    let header = 934 + 121 * 10 + 4;
    assert_eq!(delivered(&result), [(0, 2, header + 10 + 80 + 20 + 114)]);
    assert_eq!((result.lost, result.losses[OF_STUCK], result.losses[OF_SENDER]), (1, ONE_TIMED_OUT, NOTHING));
    assert_eq!((result.links[OF_STUCK].characters, result.links[OF_SENDER].characters), (43 + 1, 202 + 12));
    assert_eq!(result.links[OF_SENDER].stalled_ticks, 934 - 800);
}

/// Character 20 leaves the output buffer at 5010, and the next one crosses, 4580 ticks after the last one.
#[test]
fn a_watchdog_that_is_longer_than_the_stop_changes_nothing() {
    let without = blocked(&[(310, 5000)], &[], 0);
    let longer = blocked(&[(310, 5000)], &[], 4581);
    assert_eq!((delivered(&longer), longer.lost), (delivered(&without), 0));
    assert_eq!(blocked(&[(310, 5000)], &[], 4579).lost, 1);
}

/// In each pause one character starts, and one crosses. So there are never more than 410 ticks between two, although
/// the receiver is stuck for 1200.
#[test]
fn each_character_that_crosses_restarts_the_timer() {
    for timeout in [0, 500] {
        let result = blocked(&[(310, 710), (720, 1120), (1130, 1530)], &[], timeout);
        assert_eq!(result.lost, 0);
        assert_eq!(delivered(&result)[1], (0, 1, 1530 + 179 * 10 + 4));
    }
    assert_eq!(blocked(&[(310, 710), (720, 1120), (1130, 1530)], &[], 400).lost, 1);
}

/// Terminal 2 sends to terminal 1, too, and its head waits for the output from 90 on. It has no timer before it has the
/// output: by a watchdog at 931, 841 ticks later. Then 23 characters and the error end leave from 1200 on, and it
/// follows before its own timer ends at 1431.
#[test]
fn a_head_that_waits_has_no_timer() {
    let without = blocked(&[(310, 1200)], &[(1, 10, 0)], 0);
    let last = 1200 + 1810 + 4;
    assert_eq!(delivered(&without)[1..], [(0, 1, last), (2, 1, last + 114)]);
    let result = blocked(&[(310, 1200)], &[(1, 10, 0)], 500);
    assert_eq!(delivered(&result)[0], (2, 1, 1200 + 230 + 4 + 114));
    assert_eq!(
        (result.lost, result.losses[OF_STUCK], result.links[OF_STUCK].wait_ticks),
        (1, ONE_TIMED_OUT, 931 - 90)
    );
}

/// Two switches; both packets are for the stuck terminal. The first one has characters in both switches: nine have
/// started before 310, 23 are behind them. The second switch ends it at 930, so in the first one it moves again. The
/// second packet has the output then, and no place for its header: it is ended as well, with nothing on the link.
#[test]
fn the_switch_beside_the_stop_ends_what_comes() {
    let run = |timeout| {
        let mut f = line(&[C104; 2], DS_LINK);
        send_list(&mut f, &[&[(1, 200, 0), (1, 10, 0)], &[]]);
        f.switch_timeout_ticks = vec![timeout; 2];
        stick(&mut f, 4, &[(310, 5000)]);
        counted(&f)
    };
    let last = 5000 + (201 - 9) * 10 + 4;
    assert_eq!(delivered(&run(0)), [(0, 1, last), (0, 1, last + 114)]);
    let result = run(500);
    assert_eq!((result.lost, result.losses[4], result.losses[2]), (2, (0, 0, 2), NOTHING));
    let sent = |link: usize| (result.links[link].packets, result.links[link].characters);
    assert_eq!((sent(0), sent(2), sent(4)), ((2, 214), (2, 214), (1, 9 + 23 + 1)));
    assert!(result.deliveries.is_empty());
}
