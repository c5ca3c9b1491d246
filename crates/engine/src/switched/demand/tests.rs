//! The visible effects of a long packet, with its links left behind and without.

use super::super::state::Event;
use super::*;
use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::terminal::Packet;

/// A row of switches with a terminal at either end and one at the last switch but one, which send to the right. Link
/// `n` leads to switch `n`; the next ones are the output of the last terminal and the inputs of terminals.
fn row(switches: u32) -> Fabric {
    let (links, terminals) = (switches as usize + 5, 3);
    let last = switches - 1;
    let [left, right, beside] = [0, 1, 2].map(|terminal| switches + terminal);
    let onward = switches;
    let (beside_out, left_in, beside_in, right_out) = (onward + 1, onward + 2, onward + 3, onward + 4);
    let mut source: Vec<u32> = std::iter::once(left).chain(0..last).collect();
    let mut target: Vec<u32> = (0..switches).collect();
    source.extend([last, beside, 0, last - 1, right]);
    target.extend([right, last - 1, left, beside, last]);
    let each = |value: u32| vec![value; links];
    Fabric {
        tick_ps: 1.0,
        grain_ticks: 1,
        switches,
        terminals,
        classes: terminals,
        header_chars: 1,
        lanes: 1,
        switch_decode_ticks: vec![800; switches as usize],
        switch_crossbar_ticks: vec![0; switches as usize],
        switch_handover_ticks: vec![1; switches as usize],
        switch_next_head_ticks: vec![1; switches as usize],
        switch_forward_ticks: vec![200; switches as usize],
        switch_arbiter: vec![0; switches as usize],
        switch_choice: vec![0; switches as usize],
        link_source: source,
        link_target: target,
        link_character_ticks: each(100),
        link_end_ticks: each(40),
        link_arrival_ticks: each(170),
        link_credit_ticks: each(100),
        link_output_buffer: each(23),
        link_input_buffer: each(43),
        link_quantum: each(8),
        link_flow_control_ticks: each(0),
        link_reverse: each(NONE),
        link_deletes_header: vec![0; links],
        group_switch: (0..switches).collect(),
        group_start: (0..=switches).collect(),
        group_links: (1..=switches).collect(),
        route: (0..switches).flat_map(|switch| [NONE, 2 * switch, NONE]).collect(),
        terminal_class: vec![0, 1, 2],
        terminal_out_link: vec![0, right_out, beside_out],
        terminal_in_link: vec![left_in, onward, beside_in],
        ..Fabric::default()
    }
}

/// All alike; a little apart, as shares of flow control are; far apart.
const PACES: [&[u32]; 3] = [&[100], &[100, 101, 103, 102, 101], &[100, 140, 110, 200]];

/// Returns when packets of a length are delivered and when links are free for others, as their paths cross; and how
/// many runs were computed. `paces`: of the links, in turn.
fn run(switches: u32, length: u32, paces: &[u32], leaves: bool) -> (Vec<(Time, u32)>, Vec<Time>, u64) {
    run_over(0, switches, length, paces, leaves)
}

/// The same over cables that delay characters and credit by a number of ticks.
fn run_over(
    cable: u32,
    switches: u32,
    length: u32,
    paces: &[u32],
    leaves: bool,
) -> (Vec<(Time, u32)>, Vec<Time>, u64) {
    let mut fabric = row(switches);
    for ticks in fabric.link_arrival_ticks.iter_mut().chain(&mut fabric.link_credit_ticks) {
        *ticks += cable;
    }
    for (ticks, pace) in fabric.link_character_ticks.iter_mut().zip(paces.iter().cycle()) {
        *ticks = *pace;
    }
    let mut network = Network::new(fabric);
    network.leaves_behind = leaves;
    let send = |network: &mut Network, terminal: u32, now: Time| {
        let (target, via) = (1, NONE);
        network.dispatch(
            terminal,
            &Packet { target, length, created: now, dispatch: now, via, mark: 0, number: 0 },
        );
    };
    send(&mut network, 0, 0);
    send(&mut network, 2, 0);
    let (mut delivered, mut free, mut left) = (Vec::new(), Vec::new(), 6);
    while let Some(now) = network.wheel.peek() {
        network.wheel.go_to(now);
        while let Some(event) = network.wheel.pop() {
            match Event::of(event) {
                Event::Request(link) => network.request(link),
                Event::Release(link) => network.release(link),
                Event::Deliver(link) => {
                    delivered.push((now, network.deliver(link).expect("all arrive").delivery.source));
                }
                Event::Source(terminal) => {
                    free.push(now);
                    left -= 1;
                    if left >= 0 {
                        send(&mut network, terminal, now);
                    }
                }
            }
        }
        network.arbitrate(now).expect("a route");
    }
    assert_eq!(network.in_flight(), 0);
    (delivered, free, network.extensions)
}

fn nothing_changes(switches: u32, length: u32) {
    for paces in PACES {
        let (left, eager) = (run(switches, length, paces, true), run(switches, length, paces, false));
        let which = format!("{length} characters, {switches} switches, paces {paces:?}");
        assert_eq!((&left.0, &left.1), (&eager.0, &eager.1), "{which}");
    }
}

#[test]
fn nothing_changes_that_can_be_seen() {
    for length in [8, 64, 190, 191, 200, 230, 300, 500, 1000, 3000] {
        nothing_changes(5, length);
    }
}

/// Their source has sent the end when their heads still have most of the path before them.
#[test]
fn nothing_changes_on_paths_longer_than_packets() {
    for length in [150, 190, 400, 1000] {
        nothing_changes(40, length);
    }
}

/// Of more links than `Worm::links` counts.
#[test]
fn nothing_changes_on_paths_that_are_not_counted() {
    for length in [1000, 20_000] {
        nothing_changes(300, length);
    }
}

#[test]
fn a_long_packet_takes_fewer_runs_on_each_link() {
    for (paces, most) in [(PACES[0], 70), (PACES[1], 90)] {
        let (left, eager) = (run(5, 1000, paces, true).2, run(5, 1000, paces, false).2);
        assert!(100 * left < most * eager, "{left} runs instead of {eager}, paces {paces:?}");
    }
}

/// Each quantum was a run: with three times as many characters three times as many.
#[test]
fn a_packet_takes_no_more_runs_over_long_cables_the_longer_it_is() {
    for paces in PACES {
        let [short, long] = [1000, 3000].map(|length| run_over(10_000, 5, length, paces, true).2);
        assert!(
            100 * long < 130 * short,
            "{long} runs, or {short} for a third of the characters, paces {paces:?}"
        );
    }
}

#[test]
fn nothing_changes_over_long_cables() {
    for (length, cable) in
        [64, 200, 300, 1000, 3000].into_iter().flat_map(|length| [(length, 2500), (length, 10_000)])
    {
        for paces in PACES {
            let [left, eager] = [true, false].map(|leaves| run_over(cable, 5, length, paces, leaves));
            assert_eq!(
                (&left.0, &left.1),
                (&eager.0, &eager.1),
                "{length} characters, {cable} ticks, {paces:?}"
            );
        }
    }
}
