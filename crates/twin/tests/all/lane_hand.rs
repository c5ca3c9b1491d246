//! Lanes in the twin, compared with results computed by hand.

use crate::scenarios::agree::links;
use crate::scenarios::build::{
    Cable, FLIT, FLIT_SWITCH, add_cable, add_link, empty, line, send_list, set_route,
};
use fabriloom_engine::fabric::{Fabric, NONE, arbiter, check, fault_kind, sharing};
use fabriloom_twin::{Delivery, FlowControl, TwinRun, run};

fn counted(fabric: &Fabric) -> TwinRun {
    check(fabric).expect("a legal fabric");
    run(fabric, FlowControl::Counted, i64::MAX)
}

/// Returns source and time of every delivery.
fn delivered(run: &TwinRun) -> Vec<(u32, i64)> {
    run.deliveries.iter().map(|delivery: &Delivery| (delivery.source, delivery.delivered)).collect()
}

/// Divides links into lanes; heads take any of them unless groups say otherwise.
fn divide(f: &mut Fabric, lanes: u32, sharing: u8, arbiter: u8) {
    let members = f.group_start.windows(2).flat_map(|pair| {
        let links = &f.group_links[pair[0] as usize..pair[1] as usize];
        (0..lanes).flat_map(move |lane| links.iter().map(move |link| link * lanes + lane))
    });
    f.group_links = members.collect();
    f.group_start.iter_mut().for_each(|start| *start *= lanes);
    (f.lanes, f.lane_sharing, f.lane_arbiter) = (lanes, sharing, arbiter);
}

/// Terminals 0, 1 and 2 send over one link between two switches to terminals 3, 4 and 5.
fn funnel(cable: Cable) -> Fabric {
    let mut f = empty(&[FLIT_SWITCH; 2], 6, 6);
    for terminal in 0..3 {
        add_cable(&mut f, 2 + terminal, 0, cable);
    }
    let (middle, _) = add_cable(&mut f, 0, 1, cable);
    for terminal in 3..6 {
        let (_, inward) = add_cable(&mut f, 2 + terminal, 1, cable);
        set_route(&mut f, 0, terminal, &[middle], false);
        set_route(&mut f, 1, terminal, &[inward], false);
    }
    f
}

/// Three packets of 10 characters that request the middle link at once.
fn three_packets(sharing: u8, arbiter: u8, lanes: u32) -> Vec<(u32, i64)> {
    let mut f = funnel(FLIT);
    divide(&mut f, lanes, sharing, arbiter);
    send_list(&mut f, &[&[(3, 8, 0)], &[(4, 8, 0)], &[(5, 8, 0)], &[], &[], &[]]);
    delivered(&counted(&f))
}

/// Characters start on the first wires at 0 to 9 and cross from 1 on. On the middle link they start in turn from 1 on:
/// those of source 0 at 1, 4, ..., 28, of source 1 at 2, 5, ..., 29, of source 2 at 3, 6, ..., 30; the end of each
/// crosses, is sent and received in one tick each.
#[test]
fn three_lanes_take_turns() {
    assert_eq!(three_packets(sharing::CHARACTER, arbiter::ROUND_ROBIN, 3), [(0, 30), (1, 31), (2, 32)]);
}

/// One after the other without a gap, whether the lowest lane goes first or each packet is sent whole: 1 to 10, 11 to 20, 21 to 30.
#[test]
fn packets_sent_whole_follow_each_other() {
    let expected = [(0, 12), (1, 22), (2, 32)];
    assert_eq!(three_packets(sharing::CHARACTER, arbiter::FIXED, 3), expected);
    assert_eq!(three_packets(sharing::PACKET, arbiter::ROUND_ROBIN, 3), expected);
    assert_eq!(three_packets(sharing::PACKET, arbiter::FIXED, 3), expected);
}

/// With two lanes the first two packets start in turn at 1, 3, ..., 19 and at 2, 4, ..., 20. The end of the first
/// crosses into its output buffer when the previous character has left it, at 18; the lane is released a tick later and
/// granted to the third packet at 19. Its head crosses at 20, when that end has left; the second packet's end starts
/// then, and so the third starts at 21 to 30.
#[test]
fn a_lane_is_held_by_a_packet() {
    let got = three_packets(sharing::CHARACTER, arbiter::ROUND_ROBIN, 2);
    assert_eq!(got[..2], [(0, 21), (1, 22)]);
    assert_eq!(got[2], (2, 32));
}

/// A slow packet does not block one on another lane, but it does if packets are sent whole.
#[test]
fn a_blocked_packet_is_passed_by_on_another_lane() {
    let second = |lanes: u32, sharing: u8| {
        let mut f = funnel(Cable { input_buffer: 4, ..FLIT });
        // The link into terminal 3 takes 50 ticks per character.
        let slow = f.terminal_in_link[3] as usize;
        (f.link_character_ticks[slow], f.link_end_ticks[slow], f.link_arrival_ticks[slow]) = (50, 50, 50);
        divide(&mut f, lanes, sharing, arbiter::ROUND_ROBIN);
        send_list(&mut f, &[&[(3, 8, 0)], &[(4, 8, 0)], &[], &[], &[], &[]]);
        let deliveries = counted(&f).deliveries;
        deliveries.iter().find(|delivery| delivery.source == 1).expect("it came").delivered
    };
    // One character of the other packet is on the slow link from 2 on and four are before it in the buffer, so five
    // start on the middle link, at 1, 3, 5, 7, 9, and no more before 52; this packet starts at 2, 4, ..., 10 and from
    // then on in every tick: its tenth at 15.
    assert_eq!(second(2, sharing::CHARACTER), 17);
    // Characters of the other packet leave the buffer at 2, 52, 102, ..., so its tenth starts on the middle link at 2 +
    // 5 * 50 + 1. If packets are sent whole, this one follows, its tenth at 263. In one queue it reaches the front at
    // 453, after the tenth.
    assert_eq!(second(2, sharing::PACKET), 265);
    assert_eq!(second(1, sharing::CHARACTER), 463);
}

/// With credit per character a packet of 10 fills the 12 places at the end of the middle link while it crosses slowly;
/// with credit for whole packets the second starts when all its 10 places are free.
#[test]
fn a_packet_starts_with_credit_for_all_of_it() {
    let second_starts = |whole: u8| {
        let mut f = line(&[FLIT_SWITCH], Cable { input_buffer: 12, ..FLIT });
        f.switch_crossbar_ticks[0] = 4;
        f.switch_next_head_ticks[0] = 4;
        f.whole_packet_credit = whole;
        send_list(&mut f, &[&[(1, 8, 0), (1, 8, 0)], &[]]);
        counted(&f).deliveries[1].started
    };
    // The source sends the first packet at 0 to 9, so the second can start at 10.
    assert_eq!(second_starts(0), 10);
    // The first has characters 0 to 9, which cross at 1, 5, 9, ..., 37. The second needs 10 of 12 places: 8 of the
    // first have left when its eighth does, at 29; the credit arrives at 30.
    assert_eq!(second_starts(1), 30);
}

/// A packet that came on a slow link has the wire no longer than it needs: it starts when its end can follow it.
#[test]
fn a_packet_that_goes_on_faster_lets_another_go_first() {
    let got = |whole: u8| {
        let mut f = empty(&[FLIT_SWITCH], 3, 3);
        for terminal in 0..3 {
            let (_, inward) = add_cable(&mut f, 1 + terminal, 0, Cable { input_buffer: 20, ..FLIT });
            set_route(&mut f, 0, terminal, &[inward], false);
        }
        let slow = f.terminal_out_link[0] as usize;
        (f.link_character_ticks[slow], f.link_end_ticks[slow], f.link_arrival_ticks[slow]) = (5, 5, 5);
        f.whole_packet_credit = whole;
        divide(&mut f, 2, sharing::PACKET, arbiter::ROUND_ROBIN);
        send_list(&mut f, &[&[(1, 8, 0)], &[], &[(0, 8, 0), (1, 8, 0)]]);
        delivered(&counted(&f))
    };
    // Ten characters arrive at 5, 10, ..., 50, and go on from 5 or from 50 - 9 on. Those of terminal 2 arrive from 11 on,
    // after its first packet, and start at once, or when the others have: from 51 on.
    assert_eq!(got(1), [(2, 11), (2, 21), (0, 51)]);
    assert_eq!(got(0), [(2, 11), (0, 51), (2, 61)]);
}

/// Terminal 0 sends to 1, whose link is slow, and to 2. In one queue the packet for 2 waits; in queues per output it passes.
#[test]
fn queues_per_output_do_not_block_each_other() {
    let last = |queues: u8| {
        let mut f = empty(&[FLIT_SWITCH], 3, 3);
        for terminal in 0..3 {
            let (_, inward) = add_cable(&mut f, 1 + terminal, 0, FLIT);
            set_route(&mut f, 0, terminal, &[inward], false);
        }
        let slow = f.terminal_in_link[1] as usize;
        (f.link_character_ticks[slow], f.link_end_ticks[slow], f.link_arrival_ticks[slow]) = (50, 50, 50);
        (f.whole_packet_credit, f.output_queues) = (1, queues);
        send_list(&mut f, &[&[(1, 8, 0), (1, 8, 0), (2, 8, 0)], &[], &[]]);
        counted(&f).deliveries.iter().find(|d| d.target == 2).expect("it came").delivered
    };
    // The third packet starts at 20, crosses from 21 on and its end is received at 21 + 9 + 1.
    assert_eq!(last(1), 31);
    // The slow link has taken nine characters of the second packet, of 50 ticks each, before its tail leaves the buffer.
    assert!(last(0) > 900);
}

/// Two packets cross to two lanes of one link, a character per two ticks: alternately to each lane.
#[test]
fn lanes_share_the_way_out_of_the_crossbar() {
    let ends = |crossbar_ticks: u32| {
        let mut f = funnel(FLIT);
        f.switch_crossbar_ticks[0] = crossbar_ticks;
        f.switch_next_head_ticks[0] = crossbar_ticks.max(1);
        divide(&mut f, 2, sharing::CHARACTER, arbiter::ROUND_ROBIN);
        send_list(&mut f, &[&[(3, 8, 0)], &[(4, 8, 0)], &[], &[], &[], &[]]);
        delivered(&counted(&f))
    };
    // The wire alone: a character of each in turn, from 1 and from 2 on.
    assert_eq!(ends(0), [(0, 21), (1, 22)]);
    // They cross at 1, 5, ..., 37 and at 3, 7, ..., 39, start on the middle link at once and are received two ticks later.
    assert_eq!(ends(2), [(0, 39), (1, 41)]);
}

/// Both lanes of a link share a crossbar of one character per tick: together they take as long as one after the other.
#[test]
fn lanes_share_the_way_into_the_crossbar() {
    let ends = |crossbar_ticks: u32| {
        let mut f = empty(&[FLIT_SWITCH; 2], 3, 3);
        f.switch_crossbar_ticks.fill(crossbar_ticks);
        f.switch_next_head_ticks.fill(crossbar_ticks.max(1));
        let (out, _) = add_cable(&mut f, 2, 0, FLIT);
        let (middle, _) = add_cable(&mut f, 0, 1, FLIT);
        for terminal in 1..3 {
            let (_, inward) = add_cable(&mut f, 2 + terminal, 1, FLIT);
            set_route(&mut f, 0, terminal, &[middle], false);
            set_route(&mut f, 1, terminal, &[inward], false);
        }
        assert_eq!(out, f.terminal_out_link[0]);
        divide(&mut f, 2, sharing::CHARACTER, arbiter::ROUND_ROBIN);
        send_list(&mut f, &[&[(1, 8, 0), (2, 8, 0)], &[], &[]]);
        let found = delivered(&counted(&f));
        (found[0].1, found[1].1)
    };
    // The second packet starts at 10 on the other lane and never meets the first one.
    assert_eq!(ends(1), (12, 22));
    assert_eq!(ends(0), (12, 22));
    // Two ticks per character: the first packet crosses at 1, 3, ..., 9. From 11 on both alternate, the second first:
    // it crosses at 11, 15, ..., 27, the first at 13, 17, ..., 29, and then the second alone at 31, 33, ..., 39. After
    // the other switch, which is as fast, each is received two ticks after its end crossed here.
    assert_eq!(ends(2), (31, 41));
}

/// Three packets of 10 characters as before, on three lanes with rules.
fn ruled(rules: impl Fn(&mut Fabric)) -> Vec<(u32, i64)> {
    let mut f = funnel(FLIT);
    divide(&mut f, 3, sharing::CHARACTER, arbiter::ROUND_ROBIN);
    rules(&mut f);
    send_list(&mut f, &[&[(3, 8, 0)], &[(4, 8, 0)], &[(5, 8, 0)], &[], &[], &[]]);
    links(1, &f, 1000);
    delivered(&counted(&f))
}

/// The link between the switches of a funnel.
const MIDDLE: usize = 6;

fn frames(f: &mut Fabric, chars: u32, start: u32, end: u32) {
    (f.lane_sharing, f.lane_frame_chars) = (sharing::FRAME, chars);
    f.link_frame_start_ticks = vec![0; f.links()];
    f.link_frame_end_ticks = vec![0; f.links()];
    (f.link_frame_start_ticks[MIDDLE], f.link_frame_end_ticks[MIDDLE]) = (start, end);
}

/// Frames of four: source 0 at 1 to 4, 13 to 16, 25 and 26; source 1 at 5 to 8, 17 to 20, 27 and 28; source 2 behind them.
/// With a tick before each frame and two after it they begin 7 ticks apart: the last ones at 43, 48 and 53, with two
/// characters each from the next tick on.
#[test]
fn frames_take_turns() {
    assert_eq!(ruled(|f| frames(f, 4, 0, 0)), [(0, 28), (1, 30), (2, 32)]);
    assert_eq!(ruled(|f| frames(f, 4, 1, 2)), [(0, 47), (1, 52), (2, 57)]);
}

/// The same on four physical lanes: the frames of two characters are filled up, so the next ones begin two ticks later.
#[test]
fn frames_end_with_whole_columns() {
    let columns = |f: &mut Fabric| {
        frames(f, 4, 1, 2);
        f.link_column_ticks = vec![1; f.links()];
        f.link_column_ticks[MIDDLE] = 4;
    };
    assert_eq!(ruled(columns), [(0, 47), (1, 54), (2, 61)]);
}

/// Frames of four: source 0 at 1 to 4, source 1 at 5. At 6 the link changes its rate, and goes on at 20 with three ticks a
/// character, source 2 first: frames of four begin at 20, 32, 44 and 56, two characters of source 0 start at 68 and 71,
/// four of source 1 at 74 to 83, two of source 2 at 86 and 89, and the last one of source 1 at 92.
#[test]
fn links_go_on_at_another_rate() {
    let slower = |f: &mut Fabric| {
        frames(f, 4, 0, 0);
        (f.fault_link, f.fault_kind) = (vec![MIDDLE as u32], vec![fault_kind::RATE]);
        (f.fault_down_ticks, f.fault_ended_ticks, f.fault_up_ticks) = (vec![6], vec![7], vec![20]);
        f.fault_character_ticks = vec![3];
    };
    assert_eq!(ruled(slower), [(0, 73), (2, 91), (1, 94)]);
}

/// The third character of the first frame is wrong at 4, three ticks after its beginning, and nothing starts for the two
/// ticks of the loop and for these three, in which the frame is sent again: everything is five ticks later.
#[test]
fn a_frame_is_sent_again() {
    let repeated = |f: &mut Fabric| {
        frames(f, 4, 1, 2);
        (f.fault_link, f.fault_kind) = (vec![MIDDLE as u32], vec![fault_kind::REPLAY]);
        (f.fault_down_ticks, f.fault_ended_ticks, f.fault_up_ticks) = (vec![4], vec![5], vec![6]);
    };
    assert_eq!(ruled(repeated), [(0, 52), (1, 57), (2, 62)]);
}

/// The beginning takes 3 ticks and the end 5: the second of two packets of 3 characters follows in the same frame, or has
/// its own.
#[test]
fn a_frame_does_not_end_with_a_packet() {
    let second_starts = |chars: u32| {
        let mut f = line(&[FLIT_SWITCH], FLIT);
        (f.lane_sharing, f.lane_frame_chars) = (sharing::FRAME, chars);
        f.link_frame_start_ticks = vec![3; f.links()];
        f.link_frame_end_ticks = vec![5; f.links()];
        send_list(&mut f, &[&[(1, 1, 0), (1, 1, 0)], &[]]);
        links(1, &f, 1000);
        counted(&f).deliveries[1].started
    };
    assert_eq!((second_starts(64), second_starts(3)), (6, 3 + 3 + 5 + 3));
}

/// Lanes 1 and 2 alternate at 1 to 20, lane 0 follows.
#[test]
fn lanes_of_high_priority_precede() {
    assert_eq!(ruled(|f| f.lane_priority = vec![1, 0, 0]), [(1, 21), (2, 22), (0, 32)]);
}

/// Half of the wire for lane 0, a quarter for each other. The credits at 1 are 0.5, 0.25 and 0.25: lane 0 sends. They are
/// 0, 0.5, 0.5 at 2, 0.5, -0.25, 0.75 at 3 and 1, 0, 0 at 4: lanes 1, 2 and 0. So it goes on in every four ticks, lane 0
/// last at 20. The other two have had five each and alternate, at 21, 23, ..., 29 and 22, 24, ..., 30.
#[test]
fn reserved_lanes_get_their_parts() {
    let rules = |f: &mut Fabric| {
        f.lane_share_millionths = vec![500_000, 250_000, 250_000];
        f.lane_credit_limit_ticks = 100;
    };
    assert_eq!(ruled(rules), [(0, 22), (1, 31), (2, 32)]);
}

/// Time-slots of 8 ticks: lane 0 in slots 0 and 4, lane 1 in slot 1, lane 2 in slots 2 and 3, also on the last links, where
/// each packet has the same lane. On the middle link lane 0 sends at 1 to 7 and 32 to 34, lane 1 at 8 to 15 and, 64 slots
/// later, at 520 and 521, lane 2 at 16 to 25; on the last links each a tick later, if that is in its slot. With frames of
/// 6 the second one of lane 0 goes on after its slot: 1 to 6 and 7 to 10, but it begins at 32 on the last link. Lane 1 has
/// 11 to 16 and 520 to 523, lane 2 17 to 26.
#[test]
fn lanes_are_chosen_in_their_slots() {
    let slots = |f: &mut Fabric| {
        (f.lane_slot_ticks, f.lane_slots) = (8, vec![0b10001, 0b10, 0b1100]);
        for terminal in 3..6 {
            let first = 3 * f.terminal_in_link[terminal];
            for lanes in f.group_links.chunks_mut(3).filter(|lanes| lanes[0] == first) {
                lanes.rotate_left(terminal - 3);
            }
        }
    };
    assert_eq!(ruled(slots), [(2, 27), (0, 36), (1, 523)]);
    let framed = |f: &mut Fabric| {
        slots(f);
        frames(f, 6, 0, 0);
    };
    assert_eq!(ruled(framed), [(2, 28), (0, 36), (1, 525)]);
}

/// Lane 2 is of high priority, with a limit of 4: it sends at 1 to 4, 6 to 9, 11 and 12. Lane 0 has two characters and
/// lane 1 four of low priority: lane 0 at 5 and 10, lane 1 at 13 to 16, and so on: lane 1 last at 25 and 26.
#[test]
fn tables_have_weights_and_a_limit() {
    let rules = |f: &mut Fabric| {
        f.lane_table_lane = vec![2, 0, 1];
        f.lane_table_chars = vec![3, 2, 4];
        (f.lane_table_high, f.lane_high_limit_chars) = (1, 4);
    };
    assert_eq!(ruled(rules), [(2, 14), (1, 28), (0, 32)]);
}

/// In a ring of four switches, terminal 0 sends a packet to 1, whose link is slow, and one to 2; terminal 3 sends one to 2,
/// too. Behind the link from 0 to 1 there are places for two.
fn ring_of_four(is_ring: bool) -> Vec<(u32, i64)> {
    let mut f = empty(&[FLIT_SWITCH; 4], 4, 4);
    let cable = Cable { input_buffer: 20, ..FLIT };
    let inward: Vec<u32> = (0..4).map(|at| add_cable(&mut f, 4 + at, at, cable).1).collect();
    let onward: Vec<u32> = (0..4).map(|at| add_link(&mut f, at, (at + 1) % 4, cable)).collect();
    for (switch, terminal) in (0..4).flat_map(|switch| (0..4).map(move |terminal| (switch, terminal))) {
        let next = if switch == terminal { inward[switch as usize] } else { onward[switch as usize] };
        set_route(&mut f, switch, terminal, &[next], false);
    }
    let slow = inward[1] as usize;
    (f.link_character_ticks[slow], f.link_end_ticks[slow], f.link_arrival_ticks[slow]) = (50, 50, 50);
    (f.whole_packet_credit, f.output_queues, f.grant_with_room) = (1, 1, 1);
    let ring = |link: u32| if is_ring && onward.contains(&link) { 0 } else { NONE };
    f.link_ring = (0..f.links() as u32).map(ring).collect();
    send_list(&mut f, &[&[(1, 8, 0), (2, 8, 0)], &[], &[], &[(2, 8, 0)]]);
    delivered(&counted(&f))
}

/// The packet of terminal 3 goes on in its ring into the last place at 11, and passes 1 at 12. The second one of terminal 0
/// comes into the ring when both places are free: the slow link takes a character per 50 ticks from 2 on, so the end of the
/// first one leaves its buffer at 452. Without rings it takes the place of the packet of terminal 3, whose end leaves at 21.
#[test]
fn what_comes_into_a_ring_leaves_a_place() {
    assert_eq!(ring_of_four(true), [(3, 23), (0, 465), (0, 502)]);
    assert_eq!(ring_of_four(false), [(3, 23), (0, 34), (0, 502)]);
}
