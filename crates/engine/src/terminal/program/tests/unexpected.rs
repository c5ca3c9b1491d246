//! Unexpected messages, with acknowledgements by packets and windows of one packet.

use super::*;

fn limited(programs: &[&[Row]], bytes: u32) -> Fabric {
    let mut f = fabric(programs);
    f.message_acknowledge = acknowledge::PACKET;
    (f.message_packets_per_channel, f.message_unexpected_bytes) = (1, bytes);
    f
}

fn most(programs: &Programs) -> Vec<u64> {
    programs.account.terminals.iter().map(|one| one.unexpected_most).collect()
}

#[test]
fn without_a_limit_the_most_that_waited_is_counted() {
    let late = [wait(1000), receive(0), receive(0), wait(100), receive(0)];
    let (programs, _) = run(&fabric(&[&[send(1, 25), send(1, 5), wait(2000), send(1, 10)], &late]));
    assert_eq!(most(&programs), [0, 30]);
    assert_eq!(programs.account.terminals[1].unexpected, 0);
}

#[test]
fn a_message_waits_for_room_with_its_first_packet() {
    let give = [send(1, 20), send(1, 20), FLUSH, mark_as(0)];
    let take = [wait(1000), receive(0), mark_as(1), receive(0), mark_as(2)];
    let (programs, sent) = run(&limited(&[&give, &take], 30));
    // The first needs two round trips; the packet that arrives at 500 waits for the first receive.
    let data: Vec<Time> = sent.iter().filter(|one| one.1 == 0).map(|one| one.0).collect();
    assert_eq!(data, [0, 200, 400, 1100]);
    assert_eq!(marks(&programs), [(1, 1, 1000), (1, 2, 1200), (0, 0, 1300)]);
    assert_eq!(most(&programs), [0, 20]);
    let (programs, _) = run(&limited(&[&give, &take], 40));
    assert_eq!(marks(&programs), [(0, 0, 800), (1, 1, 1000), (1, 2, 1000)]);
    assert_eq!(most(&programs), [0, 40]);
    assert!(programs.notes.is_all_free() && programs.messages.is_all_free());
}

#[test]
fn what_a_receive_waits_for_needs_no_room() {
    let (programs, _) = run(&limited(&[&[send(1, 50), mark_as(0)], &[receive(0), mark_as(1)]], 1));
    assert_eq!(marks(&programs), [(0, 0, 0), (1, 1, 900)]);
    assert_eq!(most(&programs), [0, 0]);
}

#[test]
fn a_message_is_matched_with_its_first_packet() {
    // That of the first arrives first, all of the second does.
    let late = [wait(5), send_tag(2, 5, 8)];
    let take = [receive(ANY), mark_as(LAST), receive(ANY), mark_as(LAST)];
    let (programs, _) = run(&limited(&[&[send_tag(2, 25, 7)], &late, &take], 100));
    assert_eq!(marks(&programs), [(2, 7, 500), (2, 8, 500)]);
    let take = [wait(150), receive(ANY), mark_as(LAST), receive(ANY), mark_as(LAST)];
    let (programs, _) = run(&limited(&[&[send_tag(2, 25, 7)], &late, &take], 100));
    assert_eq!(marks(&programs), [(2, 7, 500), (2, 8, 500)]);
    assert_eq!(most(&programs), [0, 0, 30]);
}

#[test]
fn a_program_that_waits_for_what_finds_no_room_is_named() {
    let give = [send_tag(1, 10, 1), send_tag(1, 10, 2)];
    let take = [(operation::RECEIVE, 0, 0, 3, 0)];
    let (programs, _) = run(&limited(&[&give, &take], 15));
    assert_eq!((programs.full(), programs.waiting()), (vec![(1, 1)], vec![(1, 0)]));
    // A program that ends takes what is left.
    let take = [wait(1000), (operation::RECEIVE, 0, 0, 1, 0)];
    let (programs, _) = run(&limited(&[&give, &take], 15));
    assert!(programs.full().is_empty() && !programs.is_stuck());
    assert_eq!(programs.account.received, 2);
    assert!(programs.notes.is_all_free() && programs.messages.is_all_free());
}

#[test]
fn announced_messages_need_no_room() {
    let mut f = limited(&[&[send(1, 50), send(1, 20)], &[wait(1000), receive(0), receive(0)]], 20);
    (f.message_eager_bytes, f.message_announcement_bytes) = (20, 4);
    let (programs, _) = run(&f);
    assert_eq!(most(&programs), [0, 20]);
    assert!(!programs.is_stuck() && programs.messages.is_all_free());
}
