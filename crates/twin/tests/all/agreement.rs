//! The fast engine and its twins deliver the same packets and messages at the same ticks, in random fabrics, also with
//! lanes and programs.

use crate::scenarios::agree::{self, Agreed, Seen, links, same_deliveries, simulate, store};
use crate::scenarios::build::{C104, Cable, DS_LINK, Switch, grid, line, send_uniform};
use crate::scenarios::faults::{with_faults, with_ring_faults, with_tables, with_timeouts};
use crate::scenarios::lanes::{
    by_queue, with_arbiters, with_classes, with_congestion, with_lanes, with_whole_packets,
    with_whole_packets_and_faults,
};
use crate::scenarios::long::{with_long_packets, with_paces};
use crate::scenarios::networks::random_network;
use crate::scenarios::ports::{with_class_ports, with_ports};
use crate::scenarios::programs::{
    random_programs, random_programs_beside, with_announcements, with_few_unexpected, with_packets_spread,
    with_shapers,
};
use crate::scenarios::random::{random_fabric, random_stops, time_for};
use crate::scenarios::rings::{random_rings, ring_time_for, with_other_rings};
use crate::scenarios::seeds::{Seeds, seeds};
use fabriloom_engine::fabric::{Fabric, acknowledge, arrival};
use fabriloom_engine::kernel::Time;
use fabriloom_engine::run::End;
use fabriloom_twin::{FlowControl, run};

fn compare_many(seeds: Seeds, packets: u32) {
    let mut agreed = Agreed::default();
    for seed in seeds {
        let fabric = random_fabric(seed);
        agreed.compare(seed, &fabric, time_for(&fabric, packets));
    }
    assert!(agreed.delivered > 30 * agreed.runs && agreed.overtaken > agreed.runs, "{agreed:?}");
    assert!(agreed.deadlocked > 0 && agreed.deadlocked < agreed.runs / 2, "{agreed:?}");
}

/// Realistic sizes and speeds: a grid of C104 from light load to an unlimited backlog.
#[test]
fn grids_agree() {
    for (kind, interval_ticks) in
        [(arrival::POISSON, 7000.0), (arrival::POISSON, 3000.0), (arrival::BACKLOG, 0.0)]
    {
        for chars in [8, 64, 1000] {
            let mut fabric = grid(4, 4, C104, DS_LINK);
            send_uniform(&mut fabric, kind, interval_ticks * f64::from(chars) / 64.0, chars);
            let twin = links(0, &fabric, 10_000 + 100 * i64::from(chars));
            assert!(twin.deliveries.len() > 30 && !twin.deadlocked);
        }
    }
}

/// Packets longer than all buffers of their path, and some almost as long: links that the engine leaves behind must
/// catch up in time.
#[test]
fn long_packets_agree() {
    let flits =
        Cable { character_ticks: 1, end_ticks: 1, arrival_ticks: 1, credit_ticks: 2, quantum: 1, ..DS_LINK };
    let router = Switch { decode_ticks: 1, crossbar_ticks: 1, forward_ticks: 0, ..C104 };
    for (switch, cable, lengths) in [
        (C104, DS_LINK, [160, 250, 500]),
        (router, Cable { output_buffer: 1, input_buffer: 8, ..flits }, [20, 40, 100]),
        (router, Cable { output_buffer: 3, input_buffer: 4, quantum: 2, ..flits }, [20, 40, 100]),
    ] {
        for chars in lengths {
            let mut fabric = grid(3, 2, switch, cable);
            send_uniform(&mut fabric, arrival::BACKLOG, 0.0, chars);
            let twin = links(0, &fabric, i64::from(chars * cable.character_ticks) * 12);
            assert!(twin.deliveries.len() > 30, "{} packets of {chars}", twin.deliveries.len());
        }
    }
}

/// Links are left behind, also those that their source has left where users draw them: paths are longer than some packets.
#[test]
fn long_packets_are_seen_as_if_sent_by_character() {
    let mut hops = 0;
    for seed in seeds("networks with long packets, by character", 0..200) {
        let network = if seed % 2 == 0 { random_fabric(seed) } else { random_network(seed).0 };
        let (fabric, until) = with_long_packets(&network, seed);
        hops += agree::either(seed, &fabric, until);
    }
    assert!(hops > 10_000, "{hops} hops");
}

/// Links of other paces: they send in groups, and packets stream to their terminals.
#[test]
fn links_of_many_paces_are_seen_as_if_sent_by_character() {
    let mut hops = 0;
    for seed in seeds("networks of many paces, by character", 0..150) {
        let network = if seed % 2 == 0 { random_fabric(seed) } else { random_network(seed).0 };
        let (fabric, until) = with_long_packets(&network, seed);
        hops += agree::either(seed, &with_paces(&fabric, seed), until);
    }
    assert!(hops > 10_000, "{hops} hops");
}

/// Headers are deleted on links whose packets have sent nothing else, so that all links before them have to send at once.
#[test]
fn missing_headers_are_seen_as_if_sent_by_character() {
    for seed in [30_123_637_122_007_104, 30_123_649_436_488_243, 30_123_678_662_393_897] {
        let (fabric, until) = with_long_packets(&random_network(seed).0, seed);
        agree::either(seed, &fabric, until);
    }
}

/// A short packet comes before a long one whose links are left behind: these do not send because of it.
#[test]
fn short_packets_do_not_rouse_the_links_of_long_ones() {
    for seed in [30_129_634_355_970_385, 30_129_634_355_970_386] {
        let (fabric, until) = with_long_packets(&random_network(seed).0, seed);
        agree::links(seed, &fabric, until);
    }
}

/// Rare networks: a packet whose front waits behind others that get their places late, one whose front waits at a
/// terminal's link that most of it has not reached, one that has its header and no credit, and one that begins while a
/// slow crossbar is still busy with the end of packet before it.
#[test]
fn fronts_that_wait_are_seen_as_if_sent_by_character() {
    for seed in [81_053, 404_911] {
        let (fabric, until) = random_network(seed);
        agree::either(seed, &fabric, until);
    }
    let (fabric, until) = with_long_packets(&random_fabric(834), 834);
    agree::either(834, &fabric, until);
    let fabric = random_fabric(64_278);
    agree::either(64_278, &fabric, time_for(&fabric, 20));
}

/// No switch at all, one, and some in a row; a slow crossbar and one as fast as the links.
#[test]
fn lines_agree() {
    for (switches, crossbar_ticks) in [(0, 0), (1, 0), (1, 10), (3, 25), (6, 0)] {
        for kind in [arrival::BACKLOG, arrival::POISSON, arrival::RANDOM_WAIT] {
            let mut fabric = line(&vec![Switch { crossbar_ticks, ..C104 }; switches], DS_LINK);
            send_uniform(&mut fabric, kind, 800.0, 64);
            links(0, &fabric, 50_000);
        }
    }
}

/// The engine computes nothing beyond the time at which a link may be stopped; a stop changes what follows it.
#[test]
fn stopped_links_agree() {
    let (mut stopped, mut later) = (0, 0);
    for seed in seeds("stopped links", 0..60) {
        let fabric = random_fabric(seed);
        let until = time_for(&fabric, 20);
        let stops = random_stops(&fabric, seed, until);
        let twin = agree::stopped(seed, &fabric, until, &stops);
        stopped += stops.len();
        later += u32::from(twin.deliveries != run(&fabric, FlowControl::Counted, until).deliveries);
    }
    assert!(stopped > 300 && later > 15, "{stopped} stops changed {later} runs");
}

/// When the engine reports a deadlock while other packets still move, it is permanent.
#[test]
fn deadlocks_found_on_the_way_are_real() {
    let mut found = 0;
    for seed in seeds("deadlocks on the way", 0..300) {
        let fabric = random_fabric(seed);
        let fast = simulate(&fabric, time_for(&fabric, 20), false, 16).expect("a route for every packet");
        if fast.end() == Some(End::Deadlocked) {
            found += 1;
            let twin = run(&fabric, FlowControl::Counted, fast.now());
            assert!(twin.deadlocked, "seed {seed}: no deadlock at {}", fast.now());
            same_deliveries(&fast, &twin.deliveries, &format!("seed {seed}"));
        }
    }
    assert!(found > 10, "{found} deadlocks");
}

#[test]
fn short_runs_agree() {
    compare_many(seeds("short runs", 0..150), 10);
}

#[test]
fn long_runs_agree() {
    compare_many(seeds("long runs", 1000..1050), 40);
}

#[test]
fn random_fabrics_with_lanes_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("fabrics with lanes", 0..60) {
        let fabric = with_lanes(&random_fabric(seed), seed);
        agreed.compare(seed, &fabric, time_for(&fabric, 15));
    }
    assert!(agreed.delivered > 30 * agreed.runs, "{agreed:?}");
    assert!(agreed.deadlocked > 0 && agreed.deadlocked < agreed.runs / 2, "{agreed:?}");
}

#[test]
fn random_fabrics_with_lane_arbiters_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("lane arbiters", 0..120) {
        let fabric = with_arbiters(&random_fabric(seed), seed);
        agreed.compare(seed, &fabric, time_for(&fabric, 15));
    }
    assert!(agreed.delivered > 30 * agreed.runs, "{agreed:?}");
    assert!(agreed.deadlocked > 0 && agreed.deadlocked < agreed.runs / 2, "{agreed:?}");
}

#[test]
fn random_fabrics_of_whole_packets_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("fabrics of whole packets", 0..120) {
        let fabric = with_whole_packets(&random_fabric(seed), seed);
        agreed.compare(seed, &fabric, time_for(&fabric, 15));
    }
    assert!(agreed.delivered > 30 * agreed.runs, "{agreed:?}");
    assert!(agreed.discarded > agreed.runs, "buffers without room: {agreed:?}");
    assert!(agreed.deadlocked > 0 && agreed.deadlocked < agreed.runs / 2, "{agreed:?}");
}

#[test]
fn ports_that_rest_for_congestion_agree() {
    let (mut agreed, mut marked, mut later) = (Agreed::default(), 0, 0);
    for seed in seeds("congestion control", 0..160) {
        let fabric = with_congestion(&random_fabric(seed), seed);
        let until = time_for(&fabric, 15);
        agreed.compare(seed, &fabric, until);
        let twin = run(&fabric, FlowControl::Counted, until);
        marked += usize::from(twin.congestion.0.iter().any(|&packets| packets > 0));
        let without = Fabric { cct_eighths: vec![0; fabric.cct_eighths.len()], ..fabric };
        later += usize::from(run(&without, FlowControl::Counted, until).deliveries != twin.deliveries);
    }
    assert!(agreed.delivered > 20 * agreed.runs, "{agreed:?}");
    assert!(marked > 50 && later > 40, "{marked} of {} runs marked, {later} rested", agreed.runs);
}

#[test]
fn lanes_by_traffic_class_agree() {
    let mut agreed = Agreed::default();
    let mut apart = 0;
    for seed in seeds("lanes by traffic class", 0..40) {
        let fabric = with_lanes(&random_fabric(seed), seed);
        let Some(classes) = with_classes(&fabric, seed) else { continue };
        let until = time_for(&classes, 15);
        agreed.compare(seed, &classes, until);
        let [before, after] = [&fabric, &classes].map(|f| run(f, FlowControl::Counted, until).deliveries);
        apart += usize::from(before != after);
    }
    assert!(agreed.delivered > 30 * agreed.runs && agreed.runs > 20, "{agreed:?}");
    assert!(apart > 4, "classes changed {apart} of {} runs", agreed.runs);
}

#[test]
fn random_networks_with_lanes_agree() {
    let mut agreed = Agreed::default();
    for seed in seeds("networks with lanes", 0..16) {
        let (fabric, until) = random_network(seed);
        agreed.compare(seed, &with_lanes(&fabric, seed), until);
    }
    assert!(agreed.delivered > 30 * agreed.runs, "{agreed:?}");
}

#[test]
fn programs_over_lanes_agree() {
    let mut seen = Seen::default();
    for seed in seeds("programs over lanes", 0..30) {
        let fabric = random_programs(&random_fabric(seed), seed);
        let fabric = match seed % 6 {
            0 => with_whole_packets(&fabric, seed),
            3 => with_congestion(&fabric, seed),
            _ => with_lanes(&fabric, seed),
        };
        seen.compare(seed, &fabric, time_for(&fabric, 15));
    }
    assert!(seen.received > 100, "{seen:?}");
}

#[test]
fn packets_that_choose_by_queues_agree() {
    let (mut agreed, mut straight) = (Agreed::default(), 0);
    for seed in seeds("choices by queues", 0..240) {
        let (drawn, until) =
            if seed % 4 == 0 { random_network(seed) } else { (random_fabric(seed), Time::MAX) };
        let until = until.min(time_for(&drawn, 15));
        let mut fabric =
            if seed % 2 == 0 { with_whole_packets(&drawn, seed) } else { with_lanes(&drawn, seed) };
        if let Some(classes) = with_classes(&fabric, seed).filter(|_| seed % 5 == 0) {
            fabric = classes;
        }
        fabric = match seed % 6 {
            2 => with_whole_packets_and_faults(&drawn, seed, until),
            3 => with_tables(&with_faults(&fabric, seed, until), seed, until),
            5 => with_tables(&with_timeouts(&fabric, seed, until), seed, until),
            _ => fabric,
        };
        let always = fabric.clone();
        if by_queue(&mut fabric, seed) {
            agreed.compare(seed, &fabric, until);
            let [one, other] = [&always, &fabric].map(|f| run(f, FlowControl::Counted, until).deliveries);
            straight += usize::from(one != other);
        }
    }
    assert!(agreed.delivered > 30 * agreed.runs && agreed.runs > 20, "{agreed:?}");
    assert!(straight > 15, "queues changed {straight} of {} runs", agreed.runs);
}

/// Random programs, some with shapers, announced messages or few unexpected ones.
fn with_programs(fabric: &Fabric, seed: u64) -> Fabric {
    let mut fabric = random_programs(fabric, seed);
    if seed % 5 == 3 {
        fabric = with_shapers(&fabric, seed);
    } else if seed % 3 == 1 {
        fabric = with_announcements(&fabric, seed);
    }
    if seed % 4 == 2 {
        fabric = with_few_unexpected(&fabric, seed);
    }
    fabric
}

fn compare_programs(seeds: impl Iterator<Item = u64>, packets: u32) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let fabric = with_programs(&random_fabric(seed), seed);
        seen.compare(seed, &fabric, time_for(&fabric, packets));
    }
    seen
}

#[test]
fn programs_on_links_agree() {
    let seen = compare_programs(seeds("programs on links", 0..250), 40);
    assert!(seen.messages > 5_000 && seen.received > 1_500 && seen.events > 50, "{seen:?}");
    assert!(seen.announced > 100, "{seen:?}");
    assert!(seen.drained > 5 && seen.waiting > 15, "{seen:?}");
}

/// Terminals that run a program and are sources as well, with one lane and with several, by one port and by several.
#[test]
fn programs_beside_sources_agree() {
    let (mut seen, mut both) = (Seen::default(), 0);
    for seed in seeds("programs beside sources", 0..300) {
        let mut fabric = random_fabric(seed);
        if seed % 3 == 0 {
            fabric = with_ports(&fabric, seed);
        }
        if seed % 9 == 6 {
            fabric = with_class_ports(&fabric, seed);
        }
        fabric = random_programs_beside(&fabric, seed);
        if seed % 6 == 3 {
            fabric = with_packets_spread(&fabric);
        }
        if seed % 3 == 1 {
            fabric = with_announcements(&fabric, seed);
        }
        if seed % 4 == 0 {
            fabric = with_lanes(&fabric, seed);
        }
        both += u32::from(fabric.has_sources_beside());
        let until = time_for(&fabric, 40);
        if seed % 5 == 3 {
            fabric = with_faults(&fabric, seed, until);
        }
        seen.compare(seed, &fabric, until);
    }
    assert!(both > 80 && seen.messages > 3_000 && seen.received > 1_000, "{both}, {seen:?}");
    assert!(seen.drained > 5 && seen.waiting > 15, "{seen:?}");
}

/// The same on rings, some with faults.
#[test]
fn programs_beside_sources_on_rings_agree() {
    let (mut seen, mut both) = (Seen::default(), 0);
    for seed in seeds("programs beside sources on rings", 0..200) {
        let mut fabric = random_rings(seed);
        store(&mut fabric, seed);
        if fabric.terminals < 2 {
            continue;
        }
        if seed % 3 == 0 {
            fabric = with_ports(&fabric, seed);
        }
        if seed % 4 == 1 {
            (fabric, fabric.ring_any_payload) = (with_other_rings(&fabric, seed), 1);
        }
        fabric = random_programs_beside(&fabric, seed);
        both += u32::from(fabric.has_sources_beside());
        let until = ring_time_for(&fabric, 40);
        if seed % 5 == 3 {
            fabric = with_ring_faults(&fabric, seed, until);
            fabric.ring_timeout_ticks = fabric.ring_timeout_ticks.max(400);
        }
        seen.compare(seed, &fabric, until);
    }
    assert!(both > 60 && seen.messages > 1_000 && seen.received > 500, "{both}, {seen:?}");
    assert!(seen.drained > 5 && seen.waiting > 15, "{seen:?}");
}

/// A link that reaches its last packet without credit, before anything of this packet has arrived to be sent.
#[test]
fn links_without_credit_agree() {
    let seed = 3_298_534_897_245;
    let seen = compare_programs(seed..seed + 1, 240);
    assert!(seen.received > 20, "{seen:?}");
}

/// Checked messages are sent again after a transaction has timed out.
#[test]
fn programs_on_rings_with_faults_agree() {
    let (mut seen, mut repeated) = (Seen::default(), 0);
    for seed in seeds("programs on rings with faults", 0..120) {
        let mut fabric = random_rings(seed);
        store(&mut fabric, seed);
        if fabric.terminals < 2 {
            continue;
        }
        let mut fabric = random_programs(&fabric, seed);
        if seed % 4 > 0 {
            fabric.message_acknowledge = acknowledge::RESPONSE;
            (fabric.message_receive_at_once, fabric.message_receive_gap_ticks) = (0, 0);
            fabric.message_check_ticks = fabric.message_check_ticks.max(1);
            fabric.message_bit_error_rate /= 10.0;
        }
        let until = ring_time_for(&fabric, 40);
        let mut fabric = with_ring_faults(&fabric, seed, until);
        if seed % 5 == 1 {
            fabric = with_announcements(&fabric, seed);
        }
        fabric.ring_timeout_ticks = fabric.ring_timeout_ticks.max(400);
        seen.compare(seed, &fabric, until);
        if fabric.message_bit_error_rate == 0.0 {
            let run = simulate(&fabric, until, false, 1 << 50).map(|one| one.run);
            repeated += run.and_then(|run| run.programs).map_or(0, |one| one.account.repeated);
        }
    }
    assert!(seen.messages > 900 && seen.received > 300 && repeated > 20, "{seen:?}, {repeated}");
}

#[test]
fn programs_on_rings_agree() {
    let mut seen = Seen::default();
    for seed in seeds("programs on rings", 0..200) {
        let mut fabric = random_rings(seed);
        store(&mut fabric, seed);
        if fabric.terminals < 2 {
            continue;
        }
        let fabric = with_programs(&fabric, seed);
        seen.compare(seed, &fabric, ring_time_for(&fabric, 40));
    }
    assert!(seen.messages > 2_000 && seen.received > 1_500 && seen.events > 50, "{seen:?}");
    assert!(seen.announced > 100, "{seen:?}");
    assert!(seen.drained > 5 && seen.waiting > 15, "{seen:?}");
}
