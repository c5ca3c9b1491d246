//! Programs on a network of links, by hand: two terminals, one switch.

use fabriloom_engine::fabric::{ANY, Fabric, LAST, NONE, acknowledge, operation};
use fabriloom_engine::run::{End, Options, Simulation};

const CHARACTER: i64 = 10;
const END: i64 = 4;
const ARRIVAL: i64 = 17;
const DECODE: i64 = 80;
const FORWARD: i64 = 20;

/// An operation: kind, peer, bytes.
type Row = (u8, u32, u32);

/// Two terminals at a switch; one header character.
fn fabric(programs: [&[Row]; 2]) -> Fabric {
    let mut f = Fabric {
        tick_ps: 1.0,
        grain_ticks: 1,
        switches: 1,
        terminals: 2,
        classes: 2,
        header_chars: 1,
        lanes: 1,
        ..Fabric::default()
    };
    f.switch_decode_ticks = vec![DECODE as u32];
    f.switch_crossbar_ticks = vec![0];
    (f.switch_handover_ticks, f.switch_next_head_ticks) = (vec![1], vec![1]);
    f.switch_forward_ticks = vec![FORWARD as u32];
    (f.switch_arbiter, f.switch_choice) = (vec![0], vec![0]);
    f.link_source = vec![1, 0, 2, 0];
    f.link_target = vec![0, 1, 0, 2];
    f.link_character_ticks = vec![CHARACTER as u32; 4];
    f.link_end_ticks = vec![END as u32; 4];
    f.link_arrival_ticks = vec![ARRIVAL as u32; 4];
    f.link_credit_ticks = vec![10; 4];
    (f.link_output_buffer, f.link_input_buffer) = (vec![64; 4], vec![64; 4]);
    f.link_quantum = vec![8; 4];
    f.link_flow_control_ticks = vec![0; 4];
    f.link_reverse = vec![1, 0, 3, 2];
    f.link_deletes_header = vec![0; 4];
    (f.group_switch, f.group_start, f.group_links) = (vec![0, 0], vec![0, 1, 2], vec![1, 3]);
    (f.route, f.terminal_class) = (vec![0, 2], vec![0, 1]);
    (f.terminal_out_link, f.terminal_in_link) = (vec![0, 2], vec![1, 3]);
    f.source_arrival = vec![0; 2];
    f.source_target = vec![0; 2];
    f.source_length = vec![0; 2];
    for column in
        [&mut f.source_interval_grains, &mut f.source_burst, &mut f.source_gap_grains, &mut f.target_share]
    {
        *column = vec![0.0; 2];
    }
    for column in [&mut f.source_queue, &mut f.target_fixed, &mut f.length_min, &mut f.length_max] {
        *column = vec![0; 2];
    }
    f.message_packet_bytes = 32;
    f.program_start.push(0);
    for program in programs {
        for &(kind, peer, bytes) in program {
            f.op_kind.push(kind);
            f.op_peer.push(peer);
            f.op_bytes.push(bytes);
            f.op_tag.push(ANY);
            f.op_ticks.push(if kind == RECEIVE { 0 } else { 3 });
        }
        f.program_start.push(f.op_kind.len() as u32);
    }
    f
}

fn run(f: Fabric) -> Simulation {
    let options =
        Options { until: 1 << 30, warmup: Some(0), batch: 1 << 40, messages: 100, ..Options::default() };
    let mut simulation = Simulation::new(f, options).expect("a legal fabric");
    while simulation.advance(1000).expect("routes are complete").is_none() {}
    simulation.balance().expect("nothing is lost");
    simulation
}

/// Returns the time from dispatch to end of packet received, for a packet of this many bytes.
fn way(bytes: i64) -> i64 {
    (ARRIVAL + DECODE + FORWARD) + (1 + bytes) * CHARACTER + END + ARRIVAL - CHARACTER
}

const SEND: u8 = operation::SEND;
const RECEIVE: u8 = operation::RECEIVE;

#[test]
fn ping_pong_is_the_sum_of_its_parts() {
    let ping = [(operation::REPEAT, ANY, 0), (SEND, 1, 20), (RECEIVE, 1, 0), (operation::END, ANY, 0)];
    let pong = [(operation::REPEAT, ANY, 0), (RECEIVE, ANY, 0), (SEND, LAST, 20), (operation::END, ANY, 0)];
    let mut f = fabric([&ping, &pong]);
    (f.message_send_ticks, f.message_receive_ticks) = (1000, 700);
    (f.message_packet_ticks, f.message_byte_ticks) = (50, 2.5);
    (f.message_bus_packet_ticks, f.message_bus_byte_ticks) = (30, 1.0);
    let simulation = run(f);
    let one_way = 1000 + (50 + 50) + (30 + 20) + way(20) + (30 + 20);
    let table = &simulation.run.programs.as_ref().expect("there are programs").account.table;
    assert_eq!(table.len(), 6);
    for (number, row) in (0..).zip(table) {
        assert_eq!(row.made, number * (one_way + 700));
        assert_eq!(row.received, row.made + one_way);
    }
    assert_eq!(simulation.end(), Some(End::Drained));
}

#[test]
fn acknowledged_packets_follow_each_other_in_the_time_of_a_round_trip() {
    let mut f = fabric([&[(SEND, 1, 96)], &[]]);
    f.message_acknowledge = acknowledge::PACKET;
    f.message_packets_per_channel = 1;
    (f.message_ack_ticks, f.message_resume_ticks) = (40, 60);
    let received = |f: Fabric| run(f).run.programs.expect("there are programs").account.table[0].received;
    let from_end = way(32) + 40 + way(0) + 60;
    assert_eq!(received(f.clone()), 2 * from_end + way(32));
    // From the head: the first character arrives after the header and the switch.
    f.message_ack_at_head = 1;
    let from_head = 2 * ARRIVAL + DECODE + FORWARD + 40 + way(0) + 60;
    assert_eq!(received(f), 2 * from_head + way(32));
}

#[test]
fn programs_that_only_wait_give_way_after_the_events_asked_for() {
    let mut f =
        fabric([&[(operation::REPEAT, ANY, 0), (operation::WAIT, ANY, 0), (operation::END, ANY, 0)], &[]]);
    f.op_ticks[0] = 0;
    let options = Options { until: 1 << 14, warmup: Some(0), batch: 1 << 40, ..Options::default() };
    let mut simulation = Simulation::new(f, options).expect("a legal fabric");
    let mut calls = 0;
    while simulation.advance(100).expect("routes are complete").is_none() {
        calls += 1;
    }
    assert!((50..60).contains(&calls), "{calls}");
    assert_eq!(simulation.end(), Some(End::TimeLimit));
}

#[test]
fn programs_that_wait_for_ever_are_deadlocked() {
    let simulation =
        run(fabric([&[(SEND, 1, 5), (RECEIVE, 1, 0)], &[(RECEIVE, 0, 0), (RECEIVE, 0, 0), (SEND, 0, 1)]]));
    assert_eq!(simulation.end(), Some(End::Deadlocked));
    let programs = simulation.run.programs.expect("there are programs");
    assert_eq!(programs.waiting(), [(0, 1), (1, 1)]);
}

#[test]
fn mistakes_are_refused() {
    let refused =
        |f: Fabric| Simulation::new(f, Options::default()).expect_err("it makes no sense").to_string();
    let answer: &[Row] = &[(RECEIVE, 0, 0)];
    assert!(refused(fabric([&[(SEND, 0, 5)], &[]])).contains("another terminal"));
    assert!(refused(fabric([&[(SEND, 9, 5)], &[]])).contains("op_peer, row 0: 9 is not a terminal"));
    assert!(refused(fabric([&[(SEND, 1, 0)], &[]])).contains("op_bytes"));
    assert!(refused(fabric([&[], answer])).contains("a receive for which a program sends something"));
    assert!(refused(fabric([&[(operation::END, 0, 0)], &[]])).contains("an end of something repeated"));
    assert!(refused(fabric([&[(operation::REPEAT, 0, 0)], &[]])).contains("a repeat with an end"));
    assert!(refused(fabric([&[(operation::READ, 1, 8)], &[]])).contains("without rings"));
    let mut endless =
        fabric([&[(operation::REPEAT, 0, 0), (operation::MARK, 0, 0), (operation::END, 0, 0)], &[]]);
    endless.op_ticks[0] = 0;
    assert!(refused(endless).contains("a repeat in which time passes"));
    let mut late = fabric([&[], &[]]);
    late.event_due_ticks = vec![1 << 60];
    late.event_fragments = vec![NONE];
    assert!(refused(late).contains("event_due_ticks"));
}
