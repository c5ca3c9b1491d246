//! Requests that are repeated.

use super::*;
use crate::fabric::TURN;

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
