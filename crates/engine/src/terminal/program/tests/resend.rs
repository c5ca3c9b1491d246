//! Packets and requests that are sent again.

use super::*;
use crate::fabric::TURN;

/// A terminal that sends one message, waits until it is sent, and records the time.
fn resending(bytes: u32, ticks: u64, limit: u32, backoff: u32) -> Fabric {
    let mut f = fabric(&[&[send(1, bytes), FLUSH, mark_as(0)], &[]]);
    f.message_acknowledge = acknowledge::PACKET;
    (f.message_resend_ticks, f.message_resend_limit, f.message_resend_backoff) = (ticks, limit, backoff);
    f
}

/// Returns the packets sent again, those discarded, and the messages given up and lost.
fn counts(programs: &Programs) -> [u64; 4] {
    let Account { resent, duplicates, given_up, lost, .. } = programs.account;
    [resent, duplicates, given_up, lost]
}

#[test]
fn a_packet_that_is_lost_is_sent_again() {
    let (programs, sent) = run_losing(&resending(10, 250, 8, 1), |number| number == 0);
    assert_eq!(sent, [(0, 0, 1, 10), (250, 0, 1, 10), (350, 1, 0, 0)]);
    assert_eq!((times(&programs), counts(&programs)), (vec![(450, 350)], [1, 0, 0, 0]));
    assert!(is_over(&programs));
}

#[test]
fn a_packet_that_comes_again_is_acknowledged_again_and_thrown_away() {
    let (programs, sent) = run_losing(&resending(10, 250, 8, 1), |number| number == 1);
    assert_eq!(sent, [(0, 0, 1, 10), (100, 1, 0, 0), (250, 0, 1, 10), (350, 1, 0, 0)]);
    assert_eq!((times(&programs), counts(&programs)), (vec![(450, 100)], [1, 1, 0, 0]));
    assert_eq!(programs.account.received, 1);
}

#[test]
fn a_clock_that_is_too_short_costs_packets_and_nothing_else() {
    let (programs, sent) = run(&resending(10, 150, 8, 1));
    assert_eq!(sent, [(0, 0, 1, 10), (100, 1, 0, 0), (150, 0, 1, 10), (250, 1, 0, 0)]);
    assert_eq!((times(&programs), counts(&programs)), (vec![(200, 100)], [1, 1, 0, 0]));
}

#[test]
fn a_packet_is_given_up_after_the_last_clock() {
    let (programs, sent) = run_losing(&resending(10, 250, 2, 2), |_| true);
    let leaves: Vec<Time> = sent.iter().map(|packet| packet.0).collect();
    assert_eq!(leaves, [0, 250, 250 + 500]);
    // Its sender continues when the last clock, of 1000, expires.
    assert_eq!((times(&programs), counts(&programs)), (vec![(1750, NOT_YET)], [2, 0, 1, 1]));
    assert_eq!(marks(&programs), [(0, 0, 1750)]);
    assert!(is_over(&programs));
}

#[test]
fn what_has_come_is_received_though_its_sender_gives_it_up() {
    let (programs, _) = run_losing(&resending(10, 250, 1, 1), |number| number % 2 == 1);
    assert_eq!((times(&programs), counts(&programs)), (vec![(500, 100)], [1, 1, 1, 0]));
    assert!(programs.messages.is_all_free());
}

/// The second of three packets is lost for ever: the others arrive over the bus, and the message never completes.
#[test]
fn what_is_left_of_a_message_is_sent_and_forgotten() {
    let mut f = fabric(&[&[send(1, 30), send(1, 10)], &[receive(0), mark_as(1)]]);
    f.message_acknowledge = acknowledge::PACKET;
    f.message_packets_per_channel = 1;
    f.message_bus_packet_ticks = 40;
    (f.message_resend_ticks, f.message_resend_limit, f.message_resend_backoff) = (300, 1, 1);
    // Data, its acknowledgement, twice the second packet.
    let (programs, sent) = run_losing(&f, |number| number == 2 || number == 3);
    assert_eq!(sent.iter().filter(|packet| packet.1 == 0).count(), 5);
    assert_eq!(counts(&programs), [1, 0, 1, 1]);
    let received: Vec<bool> = times(&programs).iter().map(|times| times.1 != NOT_YET).collect();
    assert_eq!(received, [false, true]);
    // The first packet is off the bus at 180; the second leaves at 320 and 620 and is given up at 920.
    assert_eq!(programs.account.terminals[1].receiving.ticks(9999), 920 - 180);
    assert!(programs.messages.is_all_free() && programs.waiting().is_empty());
}

#[test]
fn what_is_sent_again_goes_before_what_was_not_sent() {
    let f = resending(300, 250, 8, 1);
    let (programs, sent) = run_losing(&f, |number| number == 3);
    let data: Vec<Time> = sent.iter().filter(|packet| packet.1 == 0).map(|packet| packet.0).collect();
    // The fourth of thirty left at 30: its copy takes the place of the packet that was to leave at 280.
    assert_eq!(data, (0..31).map(|place| place * 10).collect::<Vec<Time>>());
    assert_eq!(programs.account.table[0].received, 400);
    assert_eq!(counts(&programs), [1, 0, 0, 0]);
}

/// A requester with this many rounds, a time-out and a limit of repetitions, and a terminal that answers after some
/// ticks.
fn asked(rounds: u64, ticks: u64, again: u32, answers_after: u64) -> Fabric {
    let send = (operation::SEND, 1, 5, TURN, 0);
    let ask = [repeat(rounds), send, (operation::RECEIVE, 1, again, TURN, ticks), mark_as(7), END];
    let answer = [repeat(0), receive(ANY), wait(answers_after), send_tag(LAST, 3, LAST), END];
    fabric(&[&ask, &answer])
}

fn again(programs: &Programs) -> (u64, u64, u64) {
    let Account { resent, duplicates, given_up, .. } = programs.account;
    (resent, duplicates, given_up)
}

#[test]
fn an_answer_in_time_ends_the_wait() {
    let (programs, sent) = run(&asked(2, 500, 3, 40));
    assert_eq!(sent, [(0, 0, 1, 5), (140, 1, 0, 3), (240, 0, 1, 5), (380, 1, 0, 3)]);
    assert_eq!(marks(&programs), [(0, 7, 240), (0, 7, 480)]);
    assert_eq!(again(&programs), (0, 0, 0));
    assert!(programs.next().is_none() && !programs.is_stuck());
}

#[test]
fn an_answer_at_the_last_tick_counts() {
    let (programs, _) = run(&asked(1, 240, 3, 40));
    assert_eq!((marks(&programs), again(&programs)), (vec![(0, 7, 240)], (0, 0, 0)));
}

/// The request is lost, then its answer: in each case it is repeated, and the second time it gets two answers.
#[test]
fn what_is_lost_is_asked_again() {
    let (programs, sent) = run_losing(&asked(1, 500, 3, 40), |place| place == 0);
    assert_eq!(sent, [(0, 0, 1, 5), (500, 0, 1, 5), (640, 1, 0, 3)]);
    assert_eq!((marks(&programs), again(&programs)), (vec![(0, 7, 740)], (1, 0, 0)));
    let (programs, sent) = run_losing(&asked(1, 500, 3, 40), |place| place == 1);
    assert_eq!(sent.len(), 4);
    assert_eq!((marks(&programs), again(&programs)), (vec![(0, 7, 740)], (1, 0, 0)));
    assert_eq!((programs.account.made, programs.account.lost), (4, 1));
    assert!(!programs.is_stuck());
}

/// Too short a time-out: the first answer arrives after the request was repeated, and the second is discarded.
#[test]
fn a_second_answer_is_thrown_away() {
    let (programs, sent) = run(&asked(1, 200, 3, 40));
    assert_eq!(sent.len(), 4);
    assert_eq!((marks(&programs), again(&programs)), (vec![(0, 7, 240)], (1, 1, 0)));
    // In the next round too, because its number is another one.
    let (programs, _) = run(&asked(2, 200, 3, 40));
    assert_eq!(marks(&programs).len(), 2);
    assert_eq!(again(&programs).2, 0);
}

#[test]
fn after_the_last_time_the_program_goes_on() {
    let (programs, sent) = run_losing(&asked(2, 500, 2, 40), |place| place < 3);
    // Three times at 0, 500 and 1000, given up at 1500, then the second round.
    assert_eq!(sent[..4], [(0, 0, 1, 5), (500, 0, 1, 5), (1000, 0, 1, 5), (1500, 0, 1, 5)]);
    assert_eq!((marks(&programs), again(&programs)), (vec![(0, 7, 1500), (0, 7, 1740)], (2, 0, 1)));
    assert!(!programs.is_stuck());
}
