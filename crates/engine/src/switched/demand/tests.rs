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
/// many runs were computed. `paces`: of the links, in turn. Cables delay characters and credit by a number of ticks.
fn run(
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
                Event::Deliver(link) => delivered.push((now, network.deliver(link).delivery.source)),
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

/// Also where their source has sent the end when heads still have most of the path before them, on paths of more links
/// than `Worm::links` counts, and over long cables.
#[test]
fn nothing_changes_that_can_be_seen() {
    let cases: [(u32, u32, &[u32]); 4] = [
        (0, 5, &[8, 64, 190, 191, 200, 230, 300, 500, 1000, 3000]),
        (0, 40, &[150, 190, 400, 1000]),
        (0, 300, &[1000, 20_000]),
        (10_000, 5, &[200, 1000, 3000]),
    ];
    for (cable, switches, lengths) in cases {
        for (&length, paces) in lengths.iter().flat_map(|length| PACES.map(|paces| (length, paces))) {
            let [left, eager] = [true, false].map(|leaves| run(cable, switches, length, paces, leaves));
            let which = format!("{length} characters, {switches} switches, {cable} ticks, paces {paces:?}");
            assert_eq!((left.0, left.1), (eager.0, eager.1), "{which}");
        }
    }
}

#[test]
fn a_long_packet_takes_fewer_runs_on_each_link() {
    for (paces, most) in [(PACES[0], 70), (PACES[1], 90)] {
        let [left, eager] = [true, false].map(|leaves| run(0, 5, 1000, paces, leaves).2);
        assert!(100 * left < most * eager, "{left} runs instead of {eager}, paces {paces:?}");
    }
}
