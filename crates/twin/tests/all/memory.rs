//! Switches whose ports share a memory: cases computed by hand, and random networks.

use crate::scenarios::agree::{self, links};
use crate::scenarios::build::{Cable, FLIT, FLIT_SWITCH, add_cable, empty, send_list, set_route};
use crate::scenarios::faults::with_stops;
use crate::scenarios::lanes::{with_classes, with_pools};
use crate::scenarios::networks::random_network;
use crate::scenarios::random::{random_fabric, time_for};
use crate::scenarios::seeds::seeds;
use crate::scenarios::spacewire::with_priorities;
use fabriloom_engine::fabric::{Fabric, check, sharing};
use fabriloom_twin::TwinRun;

const CABLE: Cable = Cable { input_buffer: 10, ..FLIT };

/// A packet of 10 characters to terminal 0.
const PACKET: (u32, u32, u64) = (0, 8, 0);

/// Terminal 0, and others that send to it over one switch with a memory, in which a lane may have all that is free. Their
/// packets arrive after these ticks.
fn crossbar(pool: u32, arrivals: &[u32]) -> Fabric {
    let terminals = arrivals.len() as u32 + 1;
    let mut f = empty(&[FLIT_SWITCH], terminals, terminals);
    let (_, inward) = add_cable(&mut f, 1, 0, CABLE);
    set_route(&mut f, 0, 0, &[inward], false);
    for (terminal, &arrival_ticks) in (1..).zip(arrivals) {
        let (_, back) = add_cable(&mut f, 1 + terminal, 0, Cable { arrival_ticks, ..CABLE });
        set_route(&mut f, 0, terminal, &[back], false);
    }
    (f.whole_packet_credit, f.lane_sharing) = (1, sharing::PACKET);
    f.link_pause_above = vec![u32::MAX; f.links()];
    f.link_pause_until = vec![u32::MAX; f.links()];
    (f.switch_pool_chars, f.pool_alpha_billionths) = (vec![pool], 1_000_000_000);
    f
}

fn dropping(pool: u32, arrivals: &[u32]) -> Fabric {
    Fabric { drops: 1, ..crossbar(pool, arrivals) }
}

fn pausing(pool: u32, offset: u32, arrivals: &[u32]) -> Fabric {
    Fabric { pool_pauses: 1, pool_offset_chars: offset, ..crossbar(pool, arrivals) }
}

/// Runs both engines with these numbers of packets from the terminals but the first.
fn sent(mut f: Fabric, packets: &[usize]) -> TwinRun {
    let lists: Vec<Vec<(u32, u32, u64)>> = packets.iter().map(|&count| vec![PACKET; count]).collect();
    let lists: Vec<&[(u32, u32, u64)]> =
        std::iter::once(&[][..]).chain(lists.iter().map(Vec::as_slice)).collect();
    send_list(&mut f, &lists);
    check(&f).expect("a legal fabric");
    let twin = links(0, &f, 1000);
    agree::emptied(0, &f, 1000, &twin);
    twin
}

/// Returns source, start and delivery of all packets.
fn times(run: &TwinRun) -> Vec<(u32, i64, i64)> {
    run.deliveries.iter().map(|one| (one.source, one.started, one.delivered)).collect()
}

/// Both come at 1, the first one's link has the lower number. After it the pool has 9 or 10 places left.
#[test]
fn a_packet_is_lost_for_want_of_a_place() {
    assert_eq!(sent(dropping(20, &[1, 1]), &[1, 1]).lost, 0);
    let lossy = sent(dropping(19, &[1, 1]), &[1, 1]);
    assert_eq!((times(&lossy), lossy.lost), (vec![(1, 0, 11)], 1));
    assert_eq!(lossy.losses.iter().map(|one| one.1).sum::<u64>(), 1);
}

/// The second one may have half of what is free: of 20, and not of 19. With 4 characters in a reserve its share is 6, which is
/// half of 12, and not of 11.
#[test]
fn a_lane_has_a_part_of_what_is_free() {
    let half = |pool: u32, reserved: u32| {
        let f = Fabric {
            pool_alpha_billionths: 500_000_000,
            pool_reserved_chars: reserved,
            ..dropping(pool, &[1, 1])
        };
        sent(f, &[1, 1]).lost
    };
    assert_eq!([half(30, 0), half(29, 0), half(18, 4), half(17, 4)], [0, 1, 0, 1]);
}

/// With eight times what is free a lane may have more than that, but there is no more.
#[test]
fn a_pool_is_never_more_than_full() {
    let eight = |pool: u32| {
        let f = Fabric { pool_alpha_billionths: 8_000_000_000, ..dropping(pool, &[1, 1]) };
        sent(f, &[1, 1]).lost
    };
    assert_eq!([eight(20), eight(19)], [0, 1]);
}

/// The first packet leaves at 10, with its end. Its places are free from 11 on.
#[test]
fn places_are_free_a_tick_after_the_end() {
    assert_eq!(times(&sent(dropping(10, &[1, 10]), &[1, 1])), [(1, 0, 11)]);
    assert_eq!(times(&sent(dropping(10, &[1, 11]), &[1, 1])), [(1, 0, 11), (2, 0, 21)]);
}

/// At 11 the second packet of terminal 2 comes; its lane has 20 of 35 places, and 15 are free: it is paused at 12. Its first
/// one leaves at 20: 10 are at most 25, so it goes on at 21, not at 20 as without a pause. With an offset of 16 it goes on
/// when the second one has left, at 30.
#[test]
fn a_lane_is_paused_above_its_threshold() {
    let second = [(1, 0, 11), (2, 0, 21), (2, 10, 31)];
    assert_eq!(times(&sent(pausing(35, 15, &[1, 1]), &[1, 3])), [&second[..], &[(2, 21, 41)]].concat());
    assert_eq!(times(&sent(pausing(35, 16, &[1, 1]), &[1, 3])), [&second[..], &[(2, 31, 42)]].concat());
    assert_eq!(times(&sent(pausing(40, 0, &[1, 1]), &[1, 3])), [&second[..], &[(2, 20, 41)]].concat());
}

/// Terminal 1 has 10 places when those of two others come at 5, and leave 5 of 35 free: it is paused, until its first packet
/// has left at 10, and sends the second one at 11. With 40 places 10 are free, and it is not.
#[test]
fn a_lane_is_paused_because_others_fill_the_memory() {
    let starts = |pool: u32| {
        let run = sent(pausing(pool, 0, &[1, 5, 5]), &[2, 1, 1]);
        run.deliveries.iter().filter(|one| one.source == 1).map(|one| one.started).collect::<Vec<_>>()
    };
    assert_eq!([starts(35), starts(40)], [[0, 11], [0, 10]]);
}

/// Without room in the pool, which has 9 places, a packet is in the headroom of its lane, and counted there.
#[test]
fn what_comes_too_late_is_in_the_headroom() {
    let run = sent(pausing(9, 0, &[1, 1]), &[1, 1]);
    assert_eq!((run.lost, run.memories[2], run.memories[4]), (0, (20, 10), (20, 10)));
    let lossy = |headroom: u32| {
        let f = Fabric { drops: 1, pool_headroom_chars: headroom, ..pausing(9, 0, &[1, 1]) };
        sent(f, &[1, 1]).lost
    };
    assert_eq!([lossy(9), lossy(10)], [2, 0]);
}

/// Whom that pauses, and what finds no place.
#[test]
fn networks_that_share_memory() {
    let (mut lost, mut beyond) = (0, 0);
    for seed in seeds("networks that share memory", 0..100) {
        let fabric = if seed % 8 == 0 { random_network(seed).0 } else { random_fabric(seed) };
        let fabric = with_pools(&fabric, seed);
        let classes = if seed % 5 == 0 { with_classes(&fabric, seed) } else { None };
        let fabric = classes.unwrap_or(fabric);
        let fabric = if seed % 4 == 3 { with_priorities(&fabric, seed) } else { fabric };
        let until = time_for(&fabric, 40);
        let fabric = if seed % 3 == 1 { with_stops(&fabric, seed, until) } else { fabric };
        let twin = links(seed, &fabric, until);
        agree::emptied(seed, &fabric, until, &twin);
        agree::within_memory(&fabric, &twin);
        lost += twin.lost;
        beyond += twin.memories.iter().map(|&(_, beyond)| beyond).sum::<u64>();
    }
    assert!(lost > 0 && beyond > 0, "{lost} packets lost, {beyond} characters in headroom");
}
