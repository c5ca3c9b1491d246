//! Random networks of every kind, the engine compared with its twin: a few of each, or as many as the time allows
//! (`make soak MINUTES=60`).

use fabriloom_engine::fabric::{Fabric, when_full};
use fabriloom_engine::run::AnyNetwork;

use crate::scenarios::agree::{self, Seen, store};
use crate::scenarios::faults::{
    with_cuts, with_faults, with_quiet_faults, with_ring_faults, with_stops, with_tables, with_timeouts,
    with_watchdogs,
};
use crate::scenarios::lanes::{
    by_queue, with_arbiters, with_classes, with_congestion, with_congestion_and_faults,
    with_congestion_by_character, with_lanes, with_parts, with_pauses, with_whole_packets,
    with_whole_packets_and_faults,
};
use crate::scenarios::long::{with_long_packets, with_paces};
use crate::scenarios::networks::random_network;
use crate::scenarios::ports::{in_both_directions, with_ports};
use crate::scenarios::programs::{random_programs, with_announcements, with_few_unexpected, with_resends};
use crate::scenarios::random::{random_fabric, random_stops, time_for};
use crate::scenarios::rings::{random_rings, ring_time_for, with_other_rings, with_tokens};
use crate::scenarios::seeds::seeds;
use crate::scenarios::spacewire::with_addresses;
use crate::scenarios::spacewire::with_distributions;
use crate::scenarios::spacewire::{with_codes, with_priorities, with_rare_codes};

/// What changes heads and their grants, in most networks.
fn with_grants(fabric: &Fabric, seed: u64) -> Fabric {
    let mut fabric = fabric.clone();
    if seed.is_multiple_of(2) {
        fabric = with_addresses(&fabric, seed).unwrap_or(fabric);
    }
    if !seed.is_multiple_of(3) {
        fabric = with_classes(&fabric, seed).unwrap_or(fabric);
    }
    if seed % 5 > 1 { with_priorities(&fabric, seed) } else { fabric }
}

/// For how many packets of each terminal a small network runs: most end soon, so that many are drawn.
fn packets(seed: u64) -> u32 {
    [10, 15, 20, 10, 15, 20, 60, 110][(seed / 12 % 8) as usize]
}

/// Small, and with every feature of the arrays.
#[test]
fn small_networks_of_links() {
    for seed in seeds("small networks of links", 0..100) {
        let fabric = random_fabric(seed);
        let until = time_for(&fabric, packets(seed));
        agree::drained(seed, &fabric, until);
    }
}

/// Whether they are simulated character by character or not.
#[test]
fn small_networks_either_way() {
    for seed in seeds("small networks either way", 0..60) {
        let fabric = with_grants(&random_fabric(seed), seed);
        agree::either(seed, &fabric, time_for(&fabric, packets(seed)));
    }
}

/// With priorities, traffic classes with routes of their own, and addresses that become shorter.
#[test]
fn small_networks_with_other_grants() {
    for seed in seeds("small networks with other grants", 0..100) {
        let fabric = with_grants(&random_fabric(seed), seed);
        let until = time_for(&fabric, packets(seed));
        agree::drained(seed, &fabric, until);
    }
}

/// With links that are stopped by the test: nothing is computed that a stop could change.
#[test]
fn stopped_links() {
    for seed in seeds("networks with stopped links", 0..100) {
        let fabric = random_fabric(seed);
        let until = time_for(&fabric, packets(seed));
        agree::stopped(seed, &fabric, until, &random_stops(&fabric, seed, until));
    }
}

/// As users draw them.
#[test]
fn networks_of_links() {
    for seed in seeds("networks of links", 0..20) {
        let (fabric, until) = random_network(seed);
        agree::drained(seed, &fabric, until);
    }
}

/// With packets that cover all links of their path.
#[test]
fn small_networks_with_long_packets() {
    for seed in seeds("small networks with long packets", 0..60) {
        let (fabric, until) = with_long_packets(&random_fabric(seed), seed);
        agree::drained(seed, &fabric, until);
    }
}

/// The same, as users draw networks.
#[test]
fn networks_with_long_packets() {
    for seed in seeds("networks with long packets", 0..15) {
        let (fabric, until) = with_long_packets(&random_network(seed).0, seed);
        agree::drained(seed, &fabric, until);
    }
}

/// Links of other paces send long packets in groups, and packets stream to their terminals.
#[test]
fn networks_of_many_paces() {
    for seed in seeds("networks of many paces", 0..40) {
        let network = if seed % 3 == 0 { random_network(seed).0 } else { random_fabric(seed) };
        let (fabric, until) = with_long_packets(&network, seed);
        let fabric = with_paces(&fabric, seed);
        agree::drained(seed, &fabric, until);
    }
}

/// The same, with something that acts on links meanwhile: codes, or stops.
#[test]
fn networks_of_many_paces_with_horizons() {
    for seed in seeds("networks of many paces with horizons", 0..60) {
        let network = if seed % 3 == 0 { random_network(seed).0 } else { random_fabric(seed) };
        let (fabric, until) = with_long_packets(&network, seed);
        let fabric = if seed % 5 == 0 { fabric } else { with_paces(&fabric, seed) };
        if seed % 4 == 0 {
            agree::stopped(seed, &fabric, until, &random_stops(&fabric, seed, until));
            continue;
        }
        let fabric = with_rare_codes(&fabric, seed, until);
        agree::drained(seed, &fabric, until);
    }
}

#[test]
fn small_networks_with_faults() {
    // In that one a packet streams that has left a stepwise switch before.
    for seed in seeds("small networks with faults", 0..80).chain([3157]) {
        let fabric = random_fabric(seed);
        let fabric = if seed % 2 == 0 { with_lanes(&fabric, seed) } else { fabric };
        let classes = if seed % 8 < 2 { with_classes(&fabric, seed) } else { None };
        let fabric = classes.unwrap_or(fabric);
        let until = time_for(&fabric, packets(seed));
        let fabric = with_faults(&fabric, seed, until);
        let fabric = if seed % 3 == 1 { with_tables(&fabric, seed, until) } else { fabric };
        agree::drained(seed, &fabric, until);
    }
}

/// Most of which touch no packet, so that the run is computed in advance; with codes, time-outs or programs in some.
#[test]
fn small_networks_with_quiet_faults() {
    let (mut runs, mut in_advance) = (0, 0);
    for seed in seeds("small networks with quiet faults", 0..150) {
        let fabric = random_fabric(seed);
        let fabric = if seed % 7 == 2 { fabric } else { with_grants(&fabric, seed) };
        let until = time_for(&fabric, packets(seed));
        let fabric = with_quiet_faults(&fabric, seed, until);
        let fabric = match seed % 7 {
            0 => with_codes(&fabric, seed, until),
            1 => with_watchdogs(&fabric, seed),
            2 => with_tables(&fabric, seed, until),
            _ => fabric,
        };
        agree::either(seed, &fabric, until);
        agree::drained(seed, &fabric, until);
        let fast = agree::simulate(&fabric, until, false, 1 << 50).expect("a route for every packet");
        runs += 1;
        in_advance += u32::from(fast.worms().is_some());
    }
    assert!(in_advance > runs / 4, "{in_advance} of {runs} in advance");
}

/// Which lose packets, with programs in some; most runs are computed in advance.
#[test]
fn networks_whose_links_fail() {
    let (mut cut, mut in_advance) = (0, 0);
    // In that one an end that comes sooner leaves credit that was taken for later characters.
    for seed in seeds("networks whose links fail", 0..150).chain([7_000_701]) {
        let (fabric, until) = match seed % 4 {
            0 => random_network(seed),
            1 => with_long_packets(&random_network(seed).0, seed),
            _ => {
                let fabric = random_fabric(seed);
                let until = time_for(&fabric, packets(seed));
                (fabric, until)
            }
        };
        let fabric = with_cuts(&fabric, seed, until);
        agree::either(seed, &fabric, until);
        agree::drained(seed, &fabric, until);
        let fast = agree::simulate(&fabric, until, false, 1 << 50).expect("a route for every packet");
        if fast.losses().iter().any(|lost| lost.cut > 0) {
            cut += 1;
            in_advance += u32::from(fast.worms().is_some());
        }
    }
    assert!(in_advance > cut / 3, "{in_advance} of {cut} in advance");
}

/// The same, as users draw networks, with long packets in some.
#[test]
fn networks_with_quiet_faults() {
    for seed in seeds("networks with quiet faults", 0..15) {
        let (fabric, until) = random_network(seed);
        let (fabric, until) = if seed % 2 == 0 { with_long_packets(&fabric, seed) } else { (fabric, until) };
        let fabric = with_quiet_faults(&fabric, seed, until);
        agree::drained(seed, &fabric, until);
    }
}

/// And with two priorities, and faults, in some of them.
#[test]
fn small_networks_with_codes() {
    for seed in seeds("small networks with codes", 0..60) {
        let fabric = random_fabric(seed);
        let until = time_for(&fabric, 15);
        let fabric = if seed.is_multiple_of(2) { with_faults(&fabric, seed, until) } else { fabric };
        let fabric = if seed % 3 == 0 { with_priorities(&fabric, seed) } else { fabric };
        let fabric = with_codes(&fabric, seed, until);
        agree::either(seed, &fabric, until);
        agree::drained(seed, &fabric, until);
    }
}

#[test]
fn small_networks_with_lanes() {
    for seed in seeds("small networks with lanes", 0..80) {
        let fabric = random_fabric(seed);
        let fabric = if seed % 4 == 1 { with_arbiters(&fabric, seed) } else { with_lanes(&fabric, seed) };
        let classes = if seed % 3 == 0 { with_classes(&fabric, seed) } else { None };
        let fabric = classes.unwrap_or(fabric);
        let until = time_for(&fabric, packets(seed));
        agree::drained(seed, &fabric, until);
    }
}

/// With credit for whole packets and, in some of them, traffic classes and priorities.
#[test]
fn small_networks_of_whole_packets() {
    for seed in seeds("small networks of whole packets", 0..100) {
        let fabric = with_whole_packets(&random_fabric(seed), seed);
        let classes = if seed % 5 == 0 { with_classes(&fabric, seed) } else { None };
        let fabric = classes.unwrap_or(fabric);
        let fabric = if seed % 7 == 0 { with_priorities(&fabric, seed) } else { fabric };
        let until = time_for(&fabric, packets(seed));
        agree::drained(seed, &fabric, until);
    }
}

/// With ports that rest because switches have marked their packets.
#[test]
fn whole_packets_with_congestion_control() {
    for seed in seeds("whole packets with congestion control", 0..60) {
        let fabric = if seed % 8 == 0 { random_network(seed).0 } else { random_fabric(seed) };
        let fabric = if seed % 6 == 1 { with_ports(&fabric, seed) } else { fabric };
        let fabric = with_congestion(&fabric, seed);
        let classes = if seed % 5 == 0 { with_classes(&fabric, seed) } else { None };
        let fabric = classes.unwrap_or(fabric);
        let until = time_for(&fabric, packets(seed));
        let fabric = if fabric.has_pause() { with_stops(&fabric, seed, until) } else { fabric };
        agree::drained(seed, &fabric, until);
    }
}

/// And with links that fail or stop, and new tables; most runs are computed packet by packet.
#[test]
fn whole_packets_with_congestion_control_and_faults() {
    let (mut hit, mut in_advance) = (0, 0);
    // In that one a request of a packet that was cut comes in the tick of another one's.
    for seed in seeds("whole packets with congestion control and faults", 0..120).chain([1828]) {
        let fabric = if seed % 16 == 0 { random_network(seed).0 } else { random_fabric(seed) };
        let fabric = if seed % 6 == 1 { with_ports(&fabric, seed) } else { fabric };
        let until = time_for(&fabric, packets(seed));
        let fabric = with_congestion_and_faults(&fabric, seed, until);
        let fabric = if seed % 7 == 0 { with_priorities(&fabric, seed) } else { fabric };
        let fabric = with_parts(&fabric, seed).filter(|_| seed % 9 == 0).unwrap_or(fabric);
        agree::either(seed, &fabric, until);
        let fast = agree::simulate(&fabric, until, false, 1 << 50).expect("a route for every packet");
        let twin = agree::drained(seed, &fabric, until);
        if twin.lost > 0 && twin.congestion.0.iter().any(|&packets| packets > 0) {
            hit += 1;
            in_advance += u32::from(matches!(fast.network, AnyNetwork::Packets(_)));
        }
    }
    assert!(2 * in_advance >= hit, "{in_advance} of {hit} in advance");
}

/// With any order of lanes, crossbars at link rate, and watchdogs: character by character.
#[test]
fn congestion_control_by_character() {
    let mut marked = 0;
    for seed in seeds("congestion control by character", 0..80) {
        let fabric = random_fabric(seed);
        let fabric = if seed % 6 == 1 { with_ports(&fabric, seed) } else { fabric };
        let until = time_for(&fabric, packets(seed));
        let mut fabric = with_congestion_by_character(&fabric, seed);
        if seed.is_multiple_of(5) {
            fabric = with_classes(&fabric, seed).unwrap_or(fabric);
        }
        by_queue(&mut fabric, seed);
        let fabric = match seed / 4 % 4 {
            0 => fabric,
            1 => with_timeouts(&fabric, seed, until),
            _ => with_faults(&fabric, seed, until),
        };
        let fabric = if seed % 3 == 1 { with_tables(&fabric, seed, until) } else { fabric };
        let twin = agree::drained(seed, &fabric, until);
        marked += u32::from(twin.congestion.0.iter().any(|&packets| packets > 0));
    }
    assert!(marked > 0, "no packet was marked");
}

/// With links that fail or stop, and new tables: packets that are cut are computed packet by packet, too.
#[test]
fn whole_packets_with_faults() {
    let (mut runs, mut in_advance) = (0, 0);
    for seed in seeds("whole packets with faults", 0..100) {
        let fabric = random_fabric(seed);
        let until = time_for(&fabric, packets(seed));
        let fabric = if seed % 6 == 1 { with_ports(&fabric, seed) } else { fabric };
        let fabric = with_whole_packets_and_faults(&fabric, seed, until);
        let fabric = if seed % 7 == 0 { with_priorities(&fabric, seed) } else { fabric };
        agree::either(seed, &fabric, until);
        let fast = agree::simulate(&fabric, until, false, 1 << 50).expect("a route for every packet");
        agree::drained(seed, &fabric, until);
        runs += 1;
        in_advance += u32::from(matches!(fast.network, AnyNetwork::Packets(_)));
    }
    assert!(in_advance > runs / 2, "{in_advance} of {runs} in advance");
}

/// With switches that pause their senders, beside faults, new tables, time-outs and codes.
#[test]
fn small_networks_that_pause() {
    for seed in seeds("small networks that pause", 0..140) {
        let fabric = with_pauses(&random_fabric(seed), seed);
        let until = time_for(&fabric, packets(seed));
        let fabric = match seed % 7 {
            0 | 1 => fabric,
            2 => with_codes(&fabric, seed, until),
            3 => with_quiet_faults(&fabric, seed, until),
            4 => with_timeouts(&fabric, seed, until),
            _ => with_faults(&fabric, seed, until),
        };
        let fabric = if seed % 3 == 1 { with_tables(&fabric, seed, until) } else { fabric };
        agree::either(seed, &fabric, until);
        agree::drained(seed, &fabric, until);
    }
}

#[test]
fn networks_of_whole_packets() {
    for seed in seeds("networks of whole packets", 0..10) {
        let (fabric, until) = random_network(seed);
        let fabric = with_whole_packets(&fabric, seed);
        agree::drained(seed, &fabric, until);
    }
}

/// Packets that draw a part of their group, beside whatever else there is.
#[test]
fn small_networks_whose_packets_draw() {
    let (mut runs, mut otherwise) = (0, 0);
    for seed in seeds("small networks whose packets draw", 0..100) {
        let fabric = random_fabric(seed);
        let until = time_for(&fabric, packets(seed));
        let mut fabric = match seed % 10 {
            0 => fabric,
            1 => with_lanes(&fabric, seed),
            2 => with_arbiters(&fabric, seed),
            3 => with_whole_packets(&fabric, seed),
            4 => with_congestion(&fabric, seed),
            5 => with_faults(&fabric, seed, until),
            6 => with_tables(&with_faults(&fabric, seed, until), seed, until),
            7 => with_quiet_faults(&fabric, seed, until),
            8 => with_ports(&fabric, seed),
            _ => with_distributions(&fabric, seed).unwrap_or(fabric),
        };
        if seed % 3 == 0 {
            fabric = with_classes(&fabric, seed).unwrap_or(fabric);
        }
        if (1..5).contains(&(seed % 10)) {
            by_queue(&mut fabric, seed);
        }
        let Some(drawn) = with_parts(&fabric, seed) else { continue };
        let twin = agree::drained(seed, &drawn, until);
        runs += 1;
        otherwise += u32::from(agree::links(seed, &fabric, until).deliveries != twin.deliveries);
    }
    assert!(otherwise > runs / 3, "{otherwise} of {runs}");
}

/// Packets for several ports at once, with codes in some networks.
#[test]
fn small_networks_with_distributions() {
    for seed in seeds("small networks with distributions", 0..100) {
        let Some(fabric) = with_distributions(&random_fabric(seed), seed) else { continue };
        let until = time_for(&fabric, packets(seed));
        let fabric = if seed % 3 == 0 { with_codes(&fabric, seed, until) } else { fabric };
        let fabric = if seed % 4 == 0 { with_priorities(&fabric, seed) } else { fabric };
        agree::drained(seed, &fabric, until);
    }
}

#[test]
fn networks_with_lanes() {
    for seed in seeds("networks with lanes", 0..10) {
        let (fabric, until) = random_network(seed);
        let fabric = with_lanes(&fabric, seed);
        agree::drained(seed, &fabric, until);
    }
}

#[test]
fn small_networks_with_several_ports() {
    for seed in seeds("small networks with several ports", 0..80) {
        let fabric = with_ports(&random_fabric(seed), seed);
        let until = time_for(&fabric, packets(seed));
        let fabric = if seed % 4 == 0 { with_faults(&fabric, seed, until) } else { fabric };
        agree::drained(seed, &fabric, until);
    }
}

#[test]
fn networks_of_rings() {
    for seed in seeds("networks of rings", 0..100) {
        let fabric = random_rings(seed);
        let fabric = if seed % 4 == 1 { with_ports(&fabric, seed) } else { fabric };
        agree::rings(seed, &fabric, ring_time_for(&fabric, 15 + (seed % 3) as u32 * 30));
    }
}

#[test]
fn networks_of_rings_with_faults() {
    for seed in seeds("networks of rings with faults", 100..200) {
        let fabric = random_rings(seed);
        let fabric = if seed % 4 == 1 { with_ports(&fabric, seed) } else { fabric };
        let until = ring_time_for(&fabric, 15 + (seed % 3) as u32 * 30);
        agree::rings(seed, &with_ring_faults(&fabric, seed, until), until);
    }
}

#[test]
fn other_rings() {
    let (mut passed, mut slotted, mut delivered) = (0, 0, 0);
    for seed in seeds("other rings", 0..200) {
        let fabric = with_other_rings(&random_rings(seed), seed);
        let fabric = if seed % 4 == 1 { with_ports(&fabric, seed) } else { fabric };
        let until = ring_time_for(&fabric, 15 + (seed % 3) as u32 * 30);
        let fabric = if seed % 5 == 2 { with_ring_faults(&fabric, seed, until) } else { fabric };
        let Some(twin) = agree::rings(seed, &fabric, until) else { continue };
        delivered += twin.deliveries.len();
        let busied: u64 = twin.links.iter().map(|link| link.busied).sum();
        passed += u64::from(fabric.ring_when_full == when_full::PASS && busied > 0);
        slotted += u64::from(fabric.ring_slot_symbols > 0 && !twin.deliveries.is_empty());
    }
    assert!(delivered > 2_000 && passed > 30 && slotted > 30, "{delivered}, {passed}, {slotted}");
}

#[test]
fn rings_with_tokens() {
    let (mut timed, mut busied, mut delivered) = (0, 0, 0);
    for seed in seeds("rings with tokens", 0..200) {
        let fabric = with_tokens(&with_other_rings(&random_rings(seed), seed), seed);
        let fabric = if seed % 4 == 1 { with_ports(&fabric, seed) } else { fabric };
        let until = ring_time_for(&fabric, 15 + (seed % 3) as u32 * 30);
        let fabric = if seed % 5 == 2 { with_ring_faults(&fabric, seed, until) } else { fabric };
        let Some(twin) = agree::rings(seed, &fabric, until) else { continue };
        delivered += twin.deliveries.len();
        busied += twin.links.iter().map(|link| link.busied).sum::<u64>();
        timed += u64::from(fabric.ring_token_rotation_ticks > 0 && !twin.deliveries.is_empty());
    }
    assert!(delivered > 2_000 && busied > 100 && timed > 30, "{delivered}, {busied}, {timed}");
}

#[test]
fn rings_in_both_directions() {
    let mut delivered = 0;
    for seed in seeds("rings in both directions", 0..100) {
        let mut alone = (0..).map(|more| random_rings(seed + (more << 40))).filter(|one| one.switches == 0);
        let fabric = alone.next().expect("one in some has no switches");
        let fabric = if seed % 3 > 0 { with_other_rings(&fabric, seed) } else { fabric };
        let fabric = if seed % 3 > 1 { with_tokens(&fabric, seed) } else { fabric };
        let fabric = in_both_directions(&fabric, seed);
        let until = ring_time_for(&fabric, 15 + (seed % 2) as u32 * 30);
        let fabric = if seed % 5 == 2 { with_ring_faults(&fabric, seed, until) } else { fabric };
        delivered += agree::rings(seed, &fabric, until).map_or(0, |twin| twin.deliveries.len());
    }
    assert!(delivered > 1_000, "{delivered}");
}

#[test]
fn programs_on_links() {
    let mut seen = Seen::default();
    for seed in seeds("programs on links", 0..100) {
        let fabric = random_fabric(seed);
        let fabric = if seed % 4 == 1 { with_ports(&fabric, seed) } else { fabric };
        let fabric = random_programs(&fabric, seed);
        let fabric = if seed % 3 == 0 { fabric } else { with_announcements(&fabric, seed) };
        let fabric = if seed % 5 > 2 { with_few_unexpected(&fabric, seed) } else { fabric };
        let until = time_for(&fabric, 40 + (seed % 3) as u32 * 100);
        let fabric =
            if seed % 5 == 2 { with_faults(&with_resends(&fabric, seed), seed, until) } else { fabric };
        seen.compare(seed, &fabric, until);
    }
}

#[test]
fn programs_on_rings() {
    let mut seen = Seen::default();
    for seed in seeds("programs on rings", 0..100) {
        let mut fabric = random_rings(seed);
        fabric = if seed % 7 == 3 { with_tokens(&fabric, seed) } else { fabric };
        fabric = if seed % 4 == 1 { with_ports(&fabric, seed) } else { fabric };
        store(&mut fabric, seed);
        if fabric.terminals >= 2 {
            let fabric = random_programs(&fabric, seed);
            let fabric = if seed % 3 == 0 { fabric } else { with_announcements(&fabric, seed) };
            let fabric = if seed % 5 > 2 { with_few_unexpected(&fabric, seed) } else { fabric };
            let until = ring_time_for(&fabric, 40);
            let fabric = if seed % 4 == 0 { with_ring_faults(&fabric, seed, until) } else { fabric };
            seen.compare(seed, &fabric, until);
        }
    }
}

/// Switches with time-outs: most end no packet, and then the run is computed in advance.
#[test]
fn small_networks_with_watchdogs() {
    for seed in seeds("small networks with watchdogs", 0..60) {
        let fabric = random_fabric(seed);
        let until = time_for(&fabric, packets(seed));
        let fabric = with_watchdogs(&fabric, seed);
        agree::drained(seed, &fabric, until);
    }
}
