//! Each operation and each part of the protocol, on a network that delivers everything after a fixed time.

mod announce;
mod plain;
mod resend;
mod stripe;

use super::*;
use crate::fabric::{ANY, CROSS, LAST, acknowledge, operation};

/// Latency of a packet.
const WAY: Time = 100;

/// An operation in these tests: kind, peer, bytes, tag, ticks.
type Row = (u8, u32, u32, u32, u64);

fn send(peer: u32, bytes: u32) -> Row {
    (operation::SEND, peer, bytes, ANY, 0)
}

fn send_tag(peer: u32, bytes: u32, tag: u32) -> Row {
    (operation::SEND, peer, bytes, tag, 0)
}

fn receive(peer: u32) -> Row {
    (operation::RECEIVE, peer, 0, ANY, 0)
}

fn wait(ticks: u64) -> Row {
    (operation::WAIT, ANY, 0, ANY, ticks)
}

fn mark_as(tag: u32) -> Row {
    (operation::MARK, ANY, 0, tag, 0)
}

fn repeat(count: u64) -> Row {
    (operation::REPEAT, ANY, 0, ANY, count)
}

const END: Row = (operation::END, ANY, 0, ANY, 0);
const FLUSH: Row = (operation::FLUSH, ANY, 0, ANY, 0);
const BARRIER: Row = (operation::BARRIER, ANY, 0, ANY, 0);

/// Terminals with these programs, packets of 10 B and no protocol.
fn fabric(programs: &[&[Row]]) -> Fabric {
    let mut f = Fabric {
        terminals: programs.len() as u32,
        message_packet_bytes: 10,
        grain_ticks: 1,
        ..Fabric::default()
    };
    f.terminal_out_link = vec![0; programs.len()];
    f.link_target = vec![0];
    f.program_start.push(0);
    for program in programs {
        for &(kind, peer, bytes, tag, ticks) in *program {
            f.op_kind.push(kind);
            f.op_peer.push(peer);
            f.op_bytes.push(bytes);
            f.op_tag.push(tag);
            f.op_ticks.push(ticks);
        }
        f.program_start.push(f.op_kind.len() as u32);
    }
    f
}

/// A packet put on a link: time, source, target, payload.
type Sent = (Time, u32, u32, u32);

/// Runs until nothing happens; every link takes a packet per 10 ticks.
fn run(f: &Fabric) -> (Programs, Vec<Sent>) {
    run_losing(f, |_| false)
}

/// The same on a network that loses packets half-way, selected by their number.
fn run_losing(f: &Fabric, is_lost: impl Fn(usize) -> bool) -> (Programs, Vec<Sent>) {
    run_over(f, is_lost, |_| WAY)
}

/// The same with a latency per source port; arguments are ports, as they are numbered.
fn run_over(f: &Fabric, is_lost: impl Fn(usize) -> bool, way: impl Fn(u32) -> Time) -> (Programs, Vec<Sent>) {
    let (mut programs, ways) = (Programs::new(f, usize::MAX), Ways::new(f));
    let (mut sent, mut on_way, mut busy) = (Vec::new(), Vec::new(), Vec::new());
    (0..f.ports()).for_each(|port| programs.link_free(port));
    let mut now = 0;
    loop {
        on_way.retain(|&(time, source, target, mark, lost)| {
            if time == now && lost {
                programs.lost(mark);
            } else if time == now {
                programs.delivered(ways.terminal(source), ways.terminal(target), mark);
            }
            time != now
        });
        busy.retain(|&(time, terminal)| {
            if time == now {
                programs.link_free(terminal);
            }
            time != now
        });
        programs.turn(now, &mut |terminal, packet| {
            assert_eq!(packet.dispatch, now);
            let lost = is_lost(sent.len());
            sent.push((now, terminal, packet.target, packet.length));
            let lasts = if lost { way(terminal) / 2 } else { way(terminal) };
            on_way.push((now + lasts, terminal, packet.target, packet.mark, lost));
            busy.push((now + 10, terminal));
            false
        });
        let next = on_way.iter().map(|one| one.0).chain(busy.iter().map(|one| one.0)).chain(programs.next());
        let Some(next) = next.min() else { break };
        assert!(next > now);
        now = next;
    }
    let Account { made, received, lost, .. } = programs.account;
    assert_eq!(made, received + programs.in_flight() + lost);
    assert!(programs.nothing_flies() && programs.parts.is_all_free());
    (programs, sent)
}

/// Returns (sent, received) of the messages, in order of the table.
fn times(programs: &Programs) -> Vec<(Time, Time)> {
    programs.account.table.iter().map(|row| (row.sent, row.received)).collect()
}

fn marks(programs: &Programs) -> Vec<(u32, u32, Time)> {
    programs.account.marks.iter().map(|mark| (mark.terminal, mark.tag, mark.time)).collect()
}

/// Whether nothing is left of messages: channels may stay, but without work and place.
fn is_over(programs: &Programs) -> bool {
    let rests = |one: &Channel| one.first == NO && one.on_way == 0 && !one.placed;
    programs.messages.is_all_free() && programs.channels.kept().all(rests)
}

#[test]
fn a_message_is_cut_into_packets_that_follow_each_other() {
    let (programs, sent) = run(&fabric(&[&[send(1, 25)], &[]]));
    assert_eq!(sent, [(0, 0, 1, 10), (10, 0, 1, 10), (20, 0, 1, 5)]);
    assert_eq!(times(&programs), [(20, 120)]);
    assert!(programs.waiting().is_empty());
    assert!(is_over(&programs) && programs.pairs.len() == programs.channels.count());
}

#[test]
fn small_messages_go_in_small_packets() {
    let mut f = fabric(&[&[send(1, 9), send(1, 25)], &[]]);
    (f.message_small_packet_bytes, f.message_small_below_bytes) = (4, 10);
    let lengths: Vec<u32> = run(&f).1.iter().map(|packet| packet.3).collect();
    assert_eq!(lengths, [4, 4, 1, 10, 10, 5]);
}

#[test]
fn a_receive_takes_what_fits_in_order_of_arrival() {
    let give = [send_tag(2, 1, 7), send_tag(2, 1, 8)];
    let late = [wait(5), send_tag(2, 1, 9)];
    let take =
        [(operation::RECEIVE, 1, 0, ANY, 0), mark_as(0), (operation::RECEIVE, ANY, 0, 8, 0), mark_as(1)];
    let take = [&take[..], &[receive(ANY), mark_as(LAST), receive(ANY)]].concat();
    let (programs, _) = run(&fabric(&[&give, &late, &take]));
    // From terminal 1 at 105, tag 8 at 110, then tag 7, which arrived at 100; there is no fourth.
    assert_eq!(marks(&programs), [(2, 0, 105), (2, 1, 110), (2, 7, 110)]);
    assert_eq!(programs.waiting(), [(2, 6)]);
}

#[test]
fn a_server_answers_whoever_asks() {
    let ask = [send_tag(2, 1, 3), receive(2), mark_as(LAST)];
    let serve = [repeat(0), receive(ANY), send_tag(LAST, 2, LAST), END];
    let (programs, sent) = run(&fabric(&[&ask, &ask, &serve]));
    assert_eq!(marks(&programs), [(0, 3, 200), (1, 3, 210)]);
    assert_eq!(sent.len(), 4);
    // An endless server waits for nothing.
    assert!(programs.waiting().is_empty());
}

#[test]
fn a_tag_can_name_the_target_and_a_sender_the_tag() {
    let ask = [send_tag(1, 1, 2)];
    let route = [receive(ANY), send_tag(CROSS, 1, CROSS)];
    let (programs, _) = run(&fabric(&[&ask, &route, &[receive(1), mark_as(LAST)]]));
    assert_eq!(marks(&programs), [(2, 0, 200)]);
    let lost = run(&fabric(&[&[send_tag(1, 1, 9)], &route, &[]])).0;
    assert_eq!(lost.astray(), Some((1, 1)));
}

#[test]
fn host_times_and_slots() {
    let mut f =
        fabric(&[&[send(1, 10), send(1, 10), mark_as(0), FLUSH, mark_as(1)], &[receive(0), mark_as(2)]]);
    (f.message_send_ticks, f.message_receive_ticks, f.message_messages_at_once) = (30, 7, 1);
    (f.message_packet_ticks, f.message_byte_ticks) = (20, 1.5);
    let (programs, sent) = run(&f);
    // 30 to send, 20 + 15 to fill; then the second message begins.
    assert_eq!(sent, [(65, 0, 1, 10), (130, 0, 1, 10)]);
    assert_eq!(marks(&programs), [(0, 0, 95), (0, 1, 130), (1, 2, 172)]);
    assert_eq!(programs.account.table[1].made, 65);
    assert_eq!(programs.account.terminals[0].blocked.ticks(1000), 35);
}

#[test]
fn times_of_a_size_go_before_those_of_all() {
    let mut f = fabric(&[
        &[send(1, 10), mark_as(0), send(1, 8), mark_as(1), send(1, 10)],
        &[receive(0), receive(0), mark_as(2)],
    ]);
    (f.message_send_ticks, f.message_receive_ticks, f.message_packet_ticks) = (30, 7, 20);
    f.cost_bytes = vec![8];
    (f.cost_send_ticks, f.cost_receive_ticks) = (vec![5], vec![11]);
    (f.cost_packet_ticks, f.cost_gap_ticks) = (vec![2], vec![100]);
    let (programs, sent) = run(&f);
    // The packet of 8 B is filled from 50 to 52 and waits for the link; the next one begins 100 after it.
    assert_eq!(sent, [(50, 0, 1, 10), (60, 0, 1, 8), (170, 0, 1, 10)]);
    assert_eq!(marks(&programs), [(0, 0, 30), (0, 1, 35), (1, 2, 171)]);
}

#[test]
fn waits_and_repeats() {
    let program = [repeat(2), repeat(3), wait(4), END, mark_as(1), END, (operation::UNTIL, ANY, 0, ANY, 50)];
    let program = [&program[..], &[mark_as(2), (operation::UNTIL, ANY, 0, ANY, 20), mark_as(3)]].concat();
    let (programs, _) = run(&fabric(&[&program]));
    assert_eq!(marks(&programs), [(0, 1, 12), (0, 1, 24), (0, 2, 50), (0, 3, 50)]);
}

#[test]
fn barriers_are_for_those_that_have_one_left() {
    let often = [wait(10), BARRIER, mark_as(1), wait(10), BARRIER, mark_as(2)];
    let once = [wait(30), BARRIER, mark_as(3)];
    let (programs, _) = run(&fabric(&[&often, &once, &[]]));
    // The last one to arrive continues immediately.
    assert_eq!(marks(&programs), [(1, 3, 30), (0, 1, 30), (0, 2, 40)]);
}

#[test]
fn virtual_links_send_a_packet_when_the_one_before_is_acknowledged() {
    let mut f = fabric(&[&[send(1, 20), send(2, 10)], &[], &[]]);
    f.message_acknowledge = acknowledge::PACKET;
    f.message_packets_per_channel = 1;
    (f.message_ack_ticks, f.message_resume_ticks) = (5, 3);
    let (programs, sent) = run(&f);
    // The acknowledgement leaves at 105, arrives at 205, takes effect at 208; the other channel sends meanwhile.
    let packets =
        [(0, 0, 1, 10), (10, 0, 2, 10), (105, 1, 0, 0), (115, 2, 0, 0), (208, 0, 1, 10), (313, 1, 0, 0)];
    assert_eq!(sent, packets);
    assert_eq!(times(&programs), [(416, 308), (218, 110)]);
}

#[test]
fn a_channel_waits_for_the_tokens_of_its_own_bucket() {
    // 50 B to one, 10 B to another: buckets of 20 B, a byte in 4 ticks.
    let mut f = fabric(&[&[send(1, 50), send(2, 10)], &[receive(0)], &[receive(0)]]);
    (f.message_shaper_byte_ticks, f.message_shaper_bytes) = (4.0, 20);
    let (programs, sent) = run(&f);
    let to = |target: u32| sent.iter().filter(|one| one.2 == target).map(|one| one.0).collect::<Vec<_>>();
    assert_eq!(to(1), [0, 20, 40, 80, 120], "two at once but for the link; then one every 40 ticks");
    assert_eq!(to(2), [10]);
    assert!(programs.tokens.next().is_none());
    assert!(programs.channels.is_all_free(), "none stays, for the order of their numbers");
    // What was saved in a pause passes at once; 15 B, as packets of 10 B and 5 B.
    let mut f = fabric(&[&[send(1, 20), wait(1000), send(1, 35)], &[receive(0), receive(0)]]);
    (f.message_shaper_byte_ticks, f.message_shaper_bytes) = (4.0, 20);
    let (_, sent) = run(&f);
    assert_eq!(sent.iter().map(|one| one.0).collect::<Vec<_>>(), [0, 10, 1000, 1010, 1040, 1060]);
}

#[test]
fn a_node_begins_no_packet_while_it_is_occupied_with_the_one_before() {
    let mut f = fabric(&[&[send(1, 20), send(2, 10)], &[], &[]]);
    f.message_send_gap_ticks = 40;
    let (programs, sent) = run(&f);
    // Only the next packet waits for the gap, and nothing waits for the last one's.
    assert_eq!(sent, [(0, 0, 1, 10), (40, 0, 2, 10), (80, 0, 1, 10)]);
    assert_eq!(times(&programs), [(80, 180), (40, 140)]);
}

#[test]
fn acknowledgements_wait_while_a_node_is_occupied_and_data_do_not() {
    let mut f = fabric(&[&[send(2, 10)], &[wait(5), send(2, 10)], &[]]);
    f.message_acknowledge = acknowledge::PACKET;
    (f.message_receive_gap_ticks, f.message_ack_ticks) = (40, 3);
    let (programs, sent) = run(&f);
    let acks: Vec<(Time, u32)> = sent.iter().filter(|one| one.1 == 2).map(|one| (one.0, one.2)).collect();
    // They arrive at 100 and 105; the second is taken in at 140.
    assert_eq!(acks, [(103, 0), (143, 1)]);
    assert_eq!(times(&programs), [(203, 100), (243, 105)]);
}

#[test]
fn channels_in_use_are_limited_and_take_turns() {
    let mut f = fabric(&[&[send(1, 20), send(2, 20), send(1, 10), send(3, 10)], &[], &[], &[]]);
    f.message_channels_at_once = 2;
    let order: Vec<u32> = run(&f).1.iter().map(|packet| packet.2).collect();
    // Both begin at once and alternate; when they are sent, the third has waited longer than the rest of the first.
    assert_eq!(order, [1, 2, 1, 2, 3, 1]);
}

#[test]
fn a_terminal_takes_few_messages_at_a_time() {
    let mut f = fabric(&[&[send(2, 20)], &[wait(5), send(2, 20)], &[]]);
    f.message_acknowledge = acknowledge::PACKET;
    f.message_packets_per_channel = 1;
    f.message_receive_at_once = 1;
    let (programs, sent) = run(&f);
    let acks: Vec<(Time, u32)> = sent.iter().filter(|one| one.1 == 2).map(|one| (one.0, one.2)).collect();
    // The second message's first packet arrives at 105 and is acknowledged when the first message is complete.
    assert_eq!(acks, [(100, 0), (300, 0), (310, 1), (510, 1)]);
    assert_eq!(programs.account.table[1].received, 510);
    assert_eq!(programs.account.terminals[2].receiving.ticks(9999), 410);
}

#[test]
fn the_bus_is_shared_by_both_directions() {
    let mut f = fabric(&[&[send(1, 10)], &[wait(95), send(0, 10)]]);
    (f.message_bus_packet_ticks, f.message_bus_byte_ticks) = (10, 1.0);
    let (programs, sent) = run(&f);
    // Out at 20; in at 120. The other packet began at 95 and has the bus until 115.
    assert_eq!(sent, [(20, 0, 1, 10), (115, 1, 0, 10)]);
    assert_eq!(times(&programs), [(20, 140), (115, 235)]);
}

/// A bus without end of bandwidth is still occupied by a processor that fills packets over it.
#[test]
fn what_arrives_waits_for_a_processor_at_the_bus() {
    let mut f = fabric(&[&[send(1, 10)], &[wait(120), send(0, 10)]]);
    (f.message_programmed, f.message_packet_ticks) = (1, 30);
    let (programs, sent) = run(&f);
    // There at 130, and the other packet is filled from 120 to 150.
    assert_eq!(sent, [(30, 0, 1, 10), (150, 1, 0, 10)]);
    assert_eq!(times(&programs), [(30, 150), (150, 250)]);
}

#[test]
fn windows_of_the_terminal() {
    let mut f = fabric(&[&[send(1, 30), send(2, 10)], &[], &[]]);
    f.message_acknowledge = acknowledge::PACKET;
    f.message_packets_at_once = 2;
    let times: Vec<(Time, u32)> =
        run(&f).1.iter().filter(|one| one.1 == 0).map(|one| (one.0, one.2)).collect();
    assert_eq!(times, [(0, 1), (10, 2), (200, 1), (210, 1)]);
}

#[test]
fn a_processor_that_fills_packets_itself_goes_on_behind_the_last() {
    let mut f = fabric(&[&[send(1, 15), mark_as(0)], &[wait(5), send(0, 10)]]);
    f.message_programmed = 1;
    (f.message_packet_ticks, f.message_byte_ticks, f.message_bus_byte_ticks) = (10, 2.0, 4.0);
    let (programs, sent) = run(&f);
    // 30 for 10 B over the bus, then 20 for 5 B; nothing else uses the bus meanwhile.
    assert_eq!(sent, [(30, 0, 1, 10), (35, 1, 0, 10), (50, 0, 1, 5)]);
    assert_eq!(marks(&programs), [(0, 0, 50)]);
    // 40 and 20 for arrivals, one after the other.
    assert_eq!(times(&programs), [(50, 190), (35, 175)]);
}

#[test]
fn what_waits_for_a_place_is_filled_ahead() {
    let mut f = fabric(&[&[send(1, 30)], &[]]);
    f.message_acknowledge = acknowledge::PACKET;
    f.message_packets_at_once = 1;
    (f.message_packet_ticks, f.message_byte_ticks, f.message_ahead_bytes) = (10, 2.0, 4);
    let leaves: Vec<Time> = run(&f).1.iter().filter(|one| one.1 == 0).map(|one| one.0).collect();
    // Filled in 30; the others wait 200 for their place, and 4 of their 10 B are filled by then.
    assert_eq!(leaves, [30, 30 + 200 + 22, 252 + 200 + 22]);
}

#[test]
fn a_message_that_fails_its_check_goes_again() {
    let mut f = fabric(&[&[send(1, 20), send(1, 10)], &[]]);
    f.message_check_ticks = 50;
    f.message_bit_error_rate = 0.01;
    f.seed = 3;
    let (programs, sent) = run(&f);
    assert!(programs.account.repeated > 0);
    assert_eq!((programs.account.sent, programs.account.received), (2, 2));
    let first = programs.account.table[0];
    // Two packets a round, handed over in 10, then the check.
    assert_eq!(first.sent % 60, 0);
    assert_eq!(first.received, first.sent - 50 + WAY);
    assert!(sent.len() as u64 >= 3 + programs.account.repeated);
    f.message_bit_error_rate = 0.0;
    assert_eq!(times(&run(&f).0), [(60, 110), (110, 160)]);
}

#[test]
fn events_are_complete_with_their_last_message() {
    let mut f = fabric(&[&[send_tag(2, 10, 0)], &[wait(40), send_tag(2, 10, 0), send_tag(2, 10, 1)], &[]]);
    f.event_due_ticks = vec![0, 0];
    f.event_fragments = vec![2, NONE];
    let (programs, _) = run(&f);
    let event = |received, begun, first, complete| Event { received, begun, first, complete };
    assert_eq!(programs.account.events, [event(2, 0, 100, 140), event(1, 40, 150, NOT_YET)]);
}

#[test]
fn nothing_begins_after_the_stop() {
    let f = fabric(&[&[repeat(0), send(1, 10), wait(7), END], &[]]);
    let mut programs = Programs::new(&f, 0);
    programs.stop_after(20);
    programs.link_free(0);
    programs.turn(0, &mut |_, _| true);
    while let Some(next) = programs.next() {
        programs.turn(next, &mut |_, _| true);
    }
    assert_eq!((programs.account.made, programs.stopped()), (3, true));
}
