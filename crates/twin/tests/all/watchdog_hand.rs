//! Blocked packets with and without a watchdog in the twin, and so in the engine, compared with results computed by
//! hand, character by character.

use crate::scenarios::agree::counted;
use crate::scenarios::build::{C104, DS_LINK, crossbar, failing, line, send_list};
use fabriloom_engine::fabric::{Fabric, fault_kind};
use fabriloom_twin::TwinRun;

/// The links of the crossbar out of terminal 0 and into terminal 1.
const OUT: usize = 1;
const INTO: usize = 2;
/// What is lost at a link: cut, discarded, timed out.
const NOTHING: (u64, u64, u64) = (0, 0, 0);
const ONE_TIMED_OUT: (u64, u64, u64) = (0, 0, 1);

/// Three terminals at a switch. The first one sends 202 characters to the second one, then 12 to the third, which sends
/// a list of its own. The second one receives nothing in some times, each from its first tick until the last one.
fn blocked(stuck: &[(u64, u64)], third: &[(u32, u32, u64)], timeout: u64) -> TwinRun {
    let mut f = crossbar(C104, 3, DS_LINK);
    send_list(&mut f, &[&[(1, 200, 0), (2, 10, 0)], &[], third]);
    f.switch_timeout_ticks = vec![timeout];
    stick(&mut f, INTO as u32, stuck);
    counted(&f)
}

fn stick(f: &mut Fabric, link: u32, times: &[(u64, u64)]) {
    for &(from, until) in times {
        failing(f, link, from, from + 1, until);
        *f.fault_kind.last_mut().expect("it has just been added") = fault_kind::STUCK;
    }
}

/// Source, target and time of each delivery.
fn delivered(result: &TwinRun) -> Vec<(u32, u32, i64)> {
    result.deliveries.iter().map(|one| (one.source, one.target, one.delivered)).collect()
}

/// The header arrives at 10, is decoded until 90, and starts on the output link at 110; a character follows every 10
/// ticks, so 20 have started before 310. The other 181 follow from 5000 on. The end of packet crosses when character
/// 178 has left the output buffer, at 6590. Then the head of the next packet is at the front after a tick, decodes for
/// 80, and starts 20 later.
#[test]
fn without_a_watchdog_all_wait() {
    let result = blocked(&[(310, 5000)], &[], 0);
    assert_eq!(delivered(&result), [(0, 2, 6590 + 1 + 80 + 20 + 114), (0, 1, 5000 + 1810 + 4)]);
    assert_eq!((result.lost, result.links[INTO].characters), (0, 202));
}

/// The output buffer has places for 23 characters behind those 20. The last of these 43 crosses when it arrives, at 430.
/// At 930 an error end follows it and the rest is spilled. Credit for five quanta and for as many as have crossed has
/// brought 80 characters, the last one until 800; 37 of them are spilled at 930, and the source continues at 934. 120
/// more characters, the end of packet and the next header follow without a gap.
#[test]
fn a_watchdog_ends_the_packet_and_those_behind_it_continue() {
    let result = blocked(&[(310, 5000)], &[], 500);
    let header = 934 + 121 * 10 + 4;
    assert_eq!(delivered(&result), [(0, 2, header + 10 + 80 + 20 + 114)]);
    assert_eq!((result.lost, result.losses[INTO], result.losses[OUT]), (1, ONE_TIMED_OUT, NOTHING));
    assert_eq!((result.links[INTO].characters, result.links[OUT].characters), (43 + 1, 202 + 12));
    assert_eq!(result.links[OUT].stalled_ticks, 934 - 800);
}

/// Character 20 leaves the output buffer at 5010, and the next one crosses, 4580 ticks after the last one.
#[test]
fn a_watchdog_that_is_longer_than_the_stop_changes_nothing() {
    let without = blocked(&[(310, 5000)], &[], 0);
    let longer = blocked(&[(310, 5000)], &[], 4581);
    assert_eq!((delivered(&longer), longer.lost), (delivered(&without), 0));
    assert_eq!(blocked(&[(310, 5000)], &[], 4579).lost, 1);
}

/// In each pause one character starts, and one crosses. So there are never more than 410 ticks between two, although
/// the receiver is stuck for 1200.
#[test]
fn each_character_that_crosses_restarts_the_timer() {
    for timeout in [0, 500] {
        let result = blocked(&[(310, 710), (720, 1120), (1130, 1530)], &[], timeout);
        assert_eq!(result.lost, 0);
        assert_eq!(delivered(&result)[1], (0, 1, 1530 + 179 * 10 + 4));
    }
    assert_eq!(blocked(&[(310, 710), (720, 1120), (1130, 1530)], &[], 400).lost, 1);
}

/// Terminal 2 sends to terminal 1, too, and its head waits for the output from 90 on. It has no timer before it has the
/// output: by a watchdog at 931, 841 ticks later. Then 23 characters and the error end leave from 1200 on, and it
/// follows before its own timer ends at 1431.
#[test]
fn a_head_that_waits_has_no_timer() {
    let without = blocked(&[(310, 1200)], &[(1, 10, 0)], 0);
    let last = 1200 + 1810 + 4;
    assert_eq!(delivered(&without)[1..], [(0, 1, last), (2, 1, last + 114)]);
    let result = blocked(&[(310, 1200)], &[(1, 10, 0)], 500);
    assert_eq!(delivered(&result)[0], (2, 1, 1200 + 230 + 4 + 114));
    assert_eq!(
        (result.lost, result.losses[INTO], result.links[INTO].wait_ticks),
        (1, ONE_TIMED_OUT, 931 - 90)
    );
}

/// Two switches; both packets are for the stuck terminal. The first one has characters in both switches: nine have
/// started before 310, 23 are behind them. The second switch ends it at 930, so in the first one it moves again. The
/// second packet has the output then, and no place for its header: it is ended as well, with nothing on the link.
#[test]
fn the_switch_beside_the_stop_ends_what_comes() {
    let run = |timeout| {
        let mut f = line(&[C104; 2], DS_LINK);
        send_list(&mut f, &[&[(1, 200, 0), (1, 10, 0)], &[]]);
        f.switch_timeout_ticks = vec![timeout; 2];
        stick(&mut f, 4, &[(310, 5000)]);
        counted(&f)
    };
    let last = 5000 + (201 - 9) * 10 + 4;
    assert_eq!(delivered(&run(0)), [(0, 1, last), (0, 1, last + 114)]);
    let result = run(500);
    assert_eq!((result.lost, result.losses[4], result.losses[2]), (2, (0, 0, 2), NOTHING));
    let sent = |link: usize| (result.links[link].packets, result.links[link].characters);
    assert_eq!((sent(0), sent(2), sent(4)), ((2, 214), (2, 214), (1, 9 + 23 + 1)));
    assert!(result.deliveries.is_empty());
}
