//! Messages whose packets are spread over the ports of a terminal.

use super::*;
use crate::fabric::port_choice;

/// Two terminals with a port in each of two planes; the first sends messages.
fn rails(sizes: &[u32], choice: u8) -> Fabric {
    let sends: Vec<Row> = sizes.iter().map(|&bytes| send(1, bytes)).collect();
    let mut f = fabric(&[&[&sends[..], &[FLUSH, mark_as(0)]].concat(), &[]]);
    (f.planes, f.terminal_ports, f.port_plane) = (2, vec![0, 2, 4], vec![0, 1, 0, 1]);
    f.terminal_out_link = vec![0; 4];
    f.terminal_choice = vec![choice; 2];
    f.message_port_per_packet = 1;
    f
}

fn late(programs: &Programs) -> u64 {
    programs.account.packet_order.as_ref().map_or(0, |order| order.overtaken)
}

#[test]
fn packets_take_turns_at_the_ports() {
    let (programs, sent) = run(&rails(&[35, 10], port_choice::ROUND_ROBIN));
    // The last packet of the first message uses the second port, so the second message begins at the first port.
    let packets = [(0, 0, 2, 10), (0, 1, 3, 10), (10, 0, 2, 10), (10, 1, 3, 5), (20, 0, 2, 10)];
    assert_eq!(sent, packets);
    assert_eq!((times(&programs), late(&programs)), (vec![(10, 110), (20, 120)], 0));
    assert!(is_over(&programs));
}

#[test]
fn a_message_is_received_with_its_last_packet_by_whichever_port() {
    let slow = |port| if port == 0 { 300 } else { WAY };
    let (programs, _) = run_over(&rails(&[30], port_choice::ROUND_ROBIN), |_| false, slow);
    // By the first port at 300 and 310; the packets begun between them arrived at 100.
    assert_eq!((times(&programs), late(&programs)), (vec![(10, 310)], 1));
}

#[test]
fn the_first_free_port_takes_the_next_packet() {
    let mut f = rails(&[70], port_choice::FIRST_FREE);
    f.message_acknowledge = acknowledge::PACKET;
    f.message_packets_at_once = 1;
    // The round trip by the first port takes 200, by the second 600, so the second takes one packet of four.
    let slow = |port| if port % 2 == 0 { WAY } else { 300 };
    let (programs, sent) = run_over(&f, |_| false, slow);
    let data: Vec<(Time, u32)> = sent.iter().filter(|one| one.1 < 2).map(|one| (one.0, one.1)).collect();
    assert_eq!(data, [(0, 0), (0, 1), (200, 0), (400, 0), (600, 0), (600, 1), (800, 0)]);
    assert_eq!(times(&programs), [(1200, 900)]);
    assert_eq!(marks(&programs), [(0, 0, 1200)]);
}

#[test]
fn the_shortest_queue_gets_the_next_packet() {
    let mut f = rails(&[40, 10], port_choice::SHORTEST_QUEUE);
    f.message_acknowledge = acknowledge::PACKET;
    let (programs, sent) = run(&f);
    let by_first = sent.iter().filter(|one| one.1 == 0).count();
    assert_eq!((by_first, sent.len()), (3, 10));
    assert_eq!(times(&programs)[0], (210, 110));
}

#[test]
fn channels_that_are_limited_take_messages_in_turn() {
    let mut f = rails(&[40, 20], port_choice::ROUND_ROBIN);
    f.message_acknowledge = acknowledge::PACKET;
    f.message_channels_at_once = 1;
    let (programs, sent) = run(&f);
    let data: Vec<Time> = sent.iter().filter(|one| one.1 == 0).map(|one| one.0).collect();
    // The second message waits for the acknowledgements of the first, at 200 and 210.
    assert_eq!(data, [0, 10, 210]);
    assert_eq!(times(&programs), [(210, 110), (410, 310)]);
}

#[test]
fn a_receiver_takes_whole_messages() {
    let mut f = rails(&[20, 20], port_choice::ROUND_ROBIN);
    f.message_acknowledge = acknowledge::PACKET;
    f.message_receive_at_once = 1;
    let slow = |port| if port == 1 { 300 } else { WAY };
    let (programs, sent) = run_over(&f, |_| false, slow);
    // The second message's first packet arrives at 110 and waits for the first message, whose second packet arrives at
    // 300.
    let acks: Vec<(Time, u32)> = sent.iter().filter(|one| one.1 > 1).map(|one| (one.0, one.1)).collect();
    assert_eq!(acks, [(100, 2), (300, 2), (300, 3), (310, 3)]);
    assert_eq!(programs.account.terminals[1].receiving.ticks(9999), 210);
}

#[test]
fn a_packet_acknowledged_at_its_head_may_come_later() {
    let mut f = rails(&[20], port_choice::ROUND_ROBIN);
    (f.message_acknowledge, f.message_ack_at_head) = (acknowledge::PACKET, 1);
    let mut programs = Programs::new(&f, 1);
    (0..4).for_each(|port| programs.link_free(port));
    let mut sent = Vec::new();
    let go_on = |programs: &mut Programs, now: Time, keep: &mut Vec<(u32, Packet)>| {
        programs.turn(now, &mut |port, packet| {
            keep.push((port, *packet));
            true
        });
    };
    go_on(&mut programs, 0, &mut sent);
    let [(_, one), (_, other)] = sent[..] else { panic!("{sent:?}") };
    // The head of one, all of the other, both acknowledgements, and then the rest of the first.
    programs.head_came(1, one.mark);
    programs.delivered(0, 1, other.mark);
    let mut acks = Vec::new();
    go_on(&mut programs, 50, &mut acks);
    acks.iter().for_each(|(_, ack)| programs.delivered(1, 0, ack.mark));
    go_on(&mut programs, 90, &mut sent);
    assert_eq!((times(&programs)[0], acks.len()), ((90, NOT_YET), 2));
    programs.delivered(0, 1, one.mark);
    go_on(&mut programs, 99, &mut sent);
    assert_eq!((times(&programs)[0], late(&programs)), ((90, 99), 1));
    assert!(programs.nothing_flies() && programs.messages.is_all_free());
}

#[test]
fn a_lost_packet_is_sent_again_by_its_port() {
    let mut f = rails(&[40], port_choice::ROUND_ROBIN);
    f.message_acknowledge = acknowledge::PACKET;
    (f.message_resend_ticks, f.message_resend_limit, f.message_resend_backoff) = (250, 2, 1);
    let (programs, sent) = run_losing(&f, |number| number == 1);
    let by_second: Vec<Time> = sent.iter().filter(|one| one.1 == 1).map(|one| one.0).collect();
    assert_eq!((by_second, programs.account.resent), (vec![0, 10, 250], 1));
    assert_eq!((times(&programs), late(&programs)), (vec![(450, 350)], 1));
    // Without this the message never arrives.
    (f.message_resend_ticks, f.message_resend_limit, f.message_resend_backoff) = (0, 0, 0);
    f.message_acknowledge = acknowledge::NONE;
    let (programs, _) = run_losing(&f, |number| number == 1);
    assert_eq!((times(&programs), programs.account.lost), (vec![(10, NOT_YET)], 1));
}

#[test]
fn a_processor_that_fills_for_two_ports_goes_on_behind_the_last_packet() {
    let mut f = rails(&[20], port_choice::ROUND_ROBIN);
    let sends = f.op_kind.iter().position(|&kind| kind == operation::FLUSH).expect("a flush");
    f.op_kind[sends] = operation::MARK;
    f.message_programmed = 1;
    f.message_packet_ticks = 30;
    // One packet after the other over the bus.
    let (programs, sent) = run(&f);
    assert_eq!(sent.iter().map(|one| (one.0, one.1)).collect::<Vec<_>>(), [(30, 0), (60, 1)]);
    assert!(marks(&programs).iter().all(|mark| mark.2 == 60));
}
