//! Announced and unexpected messages.

use super::*;

fn announcing(programs: &[&[Row]]) -> Fabric {
    let mut f = fabric(programs);
    (f.message_eager_bytes, f.message_announcement_bytes) = (20, 4);
    f
}

fn receive_tag(peer: u32, tag: u32) -> Row {
    (operation::RECEIVE, peer, 0, tag, 0)
}

#[test]
fn a_long_message_waits_for_its_receive_and_a_short_one_does_not() {
    let give = [send(1, 20), send(1, 25), mark_as(0), FLUSH, mark_as(1)];
    let (programs, sent) = run(&announcing(&[&give, &[wait(300), receive(0), receive(0), mark_as(2)]]));
    let short = [(0, 0, 1, 10), (10, 0, 1, 10)];
    let long = [(20, 0, 1, 4), (300, 1, 0, 4), (400, 0, 1, 10), (410, 0, 1, 10), (420, 0, 1, 5)];
    assert_eq!(sent, [&short[..], &long[..]].concat());
    // The long one is sent when its data have left.
    assert_eq!(marks(&programs), [(0, 0, 0), (0, 1, 420), (1, 2, 520)]);
    assert_eq!(times(&programs), [(10, 110), (420, 520)]);
    assert_eq!((programs.account.announced, programs.account.made), (1, 2));
    assert!(programs.messages.is_all_free() && programs.notes.is_all_free());
}

#[test]
fn a_posted_receive_answers_the_announcement() {
    let mut f = announcing(&[&[send(1, 25), FLUSH, mark_as(0)], &[receive(0), mark_as(1)]]);
    (f.message_messages_at_once, f.message_send_ticks, f.message_receive_ticks) = (1, 30, 7);
    let (programs, sent) = run(&f);
    assert_eq!(sent[..2], [(30, 0, 1, 4), (130, 1, 0, 4)]);
    assert_eq!(marks(&programs), [(0, 0, 250), (1, 1, 357)]);
}

#[test]
fn receives_match_in_the_order_of_announcements() {
    let give = [send_tag(2, 25, 7)];
    let late = [wait(5), send_tag(2, 5, 8)];
    let take = [receive(ANY), mark_as(LAST), receive(ANY), mark_as(LAST)];
    let (programs, _) = run(&announcing(&[&give, &late, &take]));
    assert_eq!(marks(&programs), [(2, 7, 320), (2, 8, 320)]);
    let take = [wait(200), receive_tag(ANY, 8), mark_as(LAST), receive(0), mark_as(LAST)];
    let (programs, _) = run(&announcing(&[&give, &late, &take]));
    assert_eq!(marks(&programs), [(2, 8, 200), (2, 7, 420)]);
}

#[test]
fn who_has_no_receive_left_takes_everything() {
    assert_eq!(times(&run(&announcing(&[&[send(1, 25)], &[]])).0), [(220, 320)]);
    let give = [send_tag(1, 25, 2)];
    let end = [wait(500), send_tag(1, 5, 1)];
    let (programs, _) = run(&announcing(&[&give, &[receive_tag(ANY, 1), mark_as(0)], &end]));
    // The program ends at 600, and the answer leaves.
    assert_eq!(marks(&programs), [(1, 0, 600)]);
    assert_eq!(times(&programs)[0], (720, 820));
    assert!(programs.waiting().is_empty() && programs.notes.is_all_free());
}

#[test]
fn two_that_flush_before_they_receive_wait_for_ever_and_graphs_do_not() {
    let each = |peer: u32| [send(peer, 25), FLUSH, receive(peer)];
    let (programs, sent) = run(&announcing(&[&each(1), &each(0)]));
    assert_eq!(sent.len(), 2);
    assert_eq!(programs.waiting(), [(0, 1), (1, 1)]);
    assert_eq!(programs.stuck(), [[0, 1, 25, ANY], [1, 0, 25, ANY]]);
    let mut f = announcing(&[&[send(1, 25), receive(1), wait(50)], &[send(0, 25), receive(0)]]);
    // The last operation of the first waits for the end of its send.
    (f.op_needs_start, f.op_needs) = (vec![0, 0, 0, 1, 1, 1], vec![0]);
    let (programs, _) = run(&f);
    assert_eq!(times(&programs), [(220, 320); 2]);
    assert_eq!(programs.account.terminals.iter().map(|one| one.ended).collect::<Vec<_>>(), [Some(320); 2]);
    f.op_ticks[2] = 200;
    assert_eq!(run(&f).0.account.terminals[0].ended, Some(420));
}

#[test]
fn a_graph_whose_send_is_never_received_names_it() {
    let mut f = announcing(&[&[wait(5), send_tag(1, 25, 3)], &[receive_tag(0, 4)]]);
    f.op_needs_start = vec![0, 0, 0, 0];
    let (programs, _) = run(&f);
    assert_eq!(programs.waiting(), [(0, 1), (1, 0)]);
    assert_eq!(programs.stuck(), [[0, 1, 25, 3]]);
}

#[test]
fn without_its_announcement_or_the_answer_a_message_is_lost() {
    let f = announcing(&[&[send(1, 25)], &[receive(0)]]);
    for which in 0..2 {
        let (programs, _) = run_losing(&f, |packet| packet == which);
        assert_eq!((programs.account.lost, programs.in_flight()), (1, 0));
        assert!(programs.is_stuck());
    }
}

#[test]
fn announcements_are_sent_again_like_all_packets() {
    let mut f = announcing(&[&[send(1, 25), FLUSH, mark_as(0)], &[receive(0), mark_as(1)]]);
    f.message_acknowledge = acknowledge::PACKET;
    (f.message_resend_ticks, f.message_resend_limit, f.message_resend_backoff) = (300, 2, 1);
    assert_eq!(marks(&run(&f).0), [(1, 1, 340), (0, 0, 440)]);
    // The announcement once more at 300; the answer to it at 700.
    let (programs, _) = run_losing(&f, |packet| packet == 0 || packet == 3);
    assert_eq!(programs.account.resent, 2);
    assert_eq!(marks(&programs).iter().map(|one| (one.0, one.1)).collect::<Vec<_>>(), [(1, 1), (0, 0)]);
    assert!(programs.messages.is_all_free() && programs.account.lost == 0);
    let (programs, _) = run_losing(&f, |_| true);
    assert_eq!((programs.account.lost, programs.account.given_up), (1, 1));
}

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
