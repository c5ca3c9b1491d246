//! Terminals with several ports, made from random fabrics of terminals with one port, and traffic classes of ports.

use super::random::{Draw, draw_for};
use fabriloom_engine::fabric::{Fabric, MOST_PORTS, NO_PORT, NONE, PASS, ROUTE_BLOCK, check, port_choice};

const CHOICES: [u8; 5] = [
    port_choice::ROUND_ROBIN,
    port_choice::DESTINATION,
    port_choice::SHORTEST_QUEUE,
    port_choice::FIRST_FREE,
    port_choice::NOMINAL,
];

/// Returns the same network with several ports per terminal: several terminals combined, or several equal networks.
pub fn with_ports(fabric: &Fabric, seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x0909_0707);
    let mut f = fabric.clone();
    if draw.chance(50) {
        rails(&mut f, draw);
    } else {
        let planes = draw.between(2, 4);
        if f.has_rings() {
            rings_alike(&mut f, planes);
        } else {
            planes_alike(&mut f, planes);
        }
        if f.via_switch.is_empty() && draw.chance(60) {
            lead_nowhere(&mut f, draw);
        }
    }
    f.terminal_choice = (0..f.terminals).map(|_| draw.pick(&CHOICES)).collect();
    if f.has_rings() && f.switches == 0 && draw.chance(70) {
        counter_rotating(&mut f);
        let nearest = |choice: &mut u8| *choice = draw.pick(&[*choice, port_choice::NEAREST]);
        f.terminal_choice.iter_mut().for_each(nearest);
    }
    if draw.chance(40) && f.flow_cost_grains.is_empty() {
        let places = draw.pick(&[1, 2, 5, NONE]);
        f.source_queue.fill(places);
    }
    check(&f).expect("the generator makes legal fabrics");
    f
}

/// Puts some ports in a plane of their own, so that packets have to use the others.
fn lead_nowhere(f: &mut Fabric, draw: &mut Draw) {
    for plane in &mut f.port_plane {
        if *plane > 0 && draw.chance(40) {
            *plane = f.planes;
            f.planes += 1;
        }
    }
    let mut used = f.port_plane.clone();
    used.sort_unstable();
    used.dedup();
    f.planes = used.len() as u32;
    let number = |plane: &u32| used.binary_search(plane).expect("it is one of them") as u32;
    f.port_plane = f.port_plane.iter().map(number).collect();
}

/// Combines neighbouring terminals into one, with a port for each.
fn rails(f: &mut Fabric, draw: &mut Draw) {
    let mut starts = vec![0];
    while starts[starts.len() - 1] < f.terminals {
        let first = starts[starts.len() - 1];
        let most = if first == 0 { (f.terminals - 1).min(3) } else { (f.terminals - first).min(MOST_PORTS) };
        let next = first + draw.between(1, most);
        starts.push(next);
    }
    f.terminals = starts.len() as u32 - 1;
    (f.planes, f.port_plane) = (1, vec![0; f.ports() as usize]);
    f.terminal_ports = starts;
    let rows = f.terminals as usize;
    macro_rules! keep {
        ($($column:ident),*) => { $(f.$column.truncate(rows);)* };
    }
    keep!(source_arrival, source_interval_grains, source_burst, source_gap_grains, source_first_grains);
    keep!(source_spacing_grains);
    keep!(source_queue, source_target, target_fixed, target_share, source_length, length_min, length_max);
    keep!(list_repeat);
    macro_rules! keep_rows {
        ($start:ident: $($column:ident),*) => {
            f.$start.truncate(rows + 1);
            if let Some(&end) = f.$start.last() {
                $(f.$column.truncate(end as usize);)*
            }
        };
    }
    keep_rows!(weight_start: weight_target, weight_cumulative);
    keep_rows!(list_start: list_target, list_length, list_wait_ticks, list_at_grains);
    keep_rows!(flow_start: flow_target, flow_length, flow_arrival, flow_interval_grains);
    keep_rows!(flow_start: flow_phase_grains, flow_jitter_grains, flow_packets);
    keep_rows!(flow_start: flow_begin_grains, flow_end_grains, flow_count);
    keep_rows!(flow_start: flow_cost_grains, flow_room_grains);
    let terminals = f.terminals;
    for targets in [&mut f.target_fixed, &mut f.weight_target, &mut f.list_target, &mut f.flow_target] {
        targets.iter_mut().for_each(|target| *target %= terminals);
    }
}

/// Gives every terminal a port in each of several equal networks.
fn planes_alike(f: &mut Fabric, planes: u32) {
    let one = f.clone();
    let (links, groups, group_links) =
        (one.links() as u32, one.groups() as u32, one.group_links.len() as u32);
    f.switches = one.switches * planes;
    let vertex = |plane: u32, vertex: u32| match vertex.checked_sub(one.switches) {
        Some(terminal) => one.switches * planes + terminal * planes + plane,
        None => plane * one.switches + vertex,
    };
    let per_plane = |value: &dyn Fn(u32, u32) -> u32, column: &[u32]| -> Vec<u32> {
        (0..planes).flat_map(|plane| column.iter().map(move |&entry| value(plane, entry))).collect()
    };
    macro_rules! again {
        ($($column:ident),*) => { $(f.$column = one.$column.repeat(planes as usize);)* };
    }
    again!(switch_decode_ticks, switch_crossbar_ticks, switch_forward_ticks, switch_handover_ticks);
    again!(switch_next_head_ticks, switch_arbiter, switch_choice, link_character_ticks, link_end_ticks);
    again!(link_arrival_ticks, link_credit_ticks, link_output_buffer, link_input_buffer, link_quantum);
    again!(link_flow_control_ticks, link_deletes_header, via_class);
    f.link_source = per_plane(&vertex, &one.link_source);
    f.link_target = per_plane(&vertex, &one.link_target);
    let link = |plane, entry| if entry == NONE { NONE } else { plane * links + entry };
    f.link_reverse = per_plane(&link, &one.link_reverse);
    f.group_switch = per_plane(&|plane, entry| plane * one.switches + entry, &one.group_switch);
    f.group_links = per_plane(&|plane, lane| plane * links * one.lanes + lane, &one.group_links);
    let start = |plane, entry| plane * group_links + entry;
    f.group_start = per_plane(&start, &one.group_start[..groups as usize]);
    f.group_start.push(group_links * planes);
    let route = |plane, entry| if entry == NONE { NONE } else { plane * groups * 2 + entry };
    f.route = per_plane(&route, &one.route);
    f.via_switch = per_plane(&|plane, entry| plane * one.switches + entry, &one.via_switch);
    let per_port = |value: &dyn Fn(u32, u32) -> u32, column: &[u32]| -> Vec<u32> {
        column.iter().flat_map(|&entry| (0..planes).map(move |plane| value(plane, entry))).collect()
    };
    f.terminal_class = per_port(&|_, class| class, &one.terminal_class);
    f.terminal_out_link = per_port(&link, &one.terminal_out_link);
    f.terminal_in_link = per_port(&link, &one.terminal_in_link);
    f.planes = planes;
    f.port_plane = (0..one.terminals).flat_map(|_| 0..planes).collect();
    f.terminal_ports = (0..=one.terminals).map(|terminal| terminal * planes).collect();
}

/// Gives every terminal a port in each of several equal networks of rings.
fn rings_alike(f: &mut Fabric, planes: u32) {
    let one = f.clone();
    let links = one.links() as u32;
    macro_rules! again {
        ($($column:ident),*) => { $(f.$column = one.$column.repeat(planes as usize);)* };
    }
    again!(link_character_ticks, link_arrival_ticks, station_decode_ticks, station_bypass_ticks);
    again!(station_receive_ticks, station_transmit_ticks, station_requests_out, station_responses_out);
    again!(station_requests_in, station_responses_in, station_in_flight, station_rejected, bus_count);
    again!(bus_setup_ticks, bus_cycle_ticks, bus_width_bytes, bus_encapsulation_bytes);
    let shifted = |column: &[u32], by: u32| -> Vec<u32> {
        (0..planes).flat_map(|plane| column.iter().map(move |entry| plane * by + entry)).collect()
    };
    f.station_next = shifted(&one.station_next, links);
    f.station_ring = shifted(&one.station_ring, links);
    f.port_station = shifted(&one.port_station, links);
    f.port_yields = one.port_yields.repeat(planes as usize);
    f.port_start = shifted(&one.port_start[..one.switches as usize], one.port_station.len() as u32);
    f.port_start.push(one.port_station.len() as u32 * planes);
    f.switches = one.switches * planes;
    let vertex = |plane: u32, vertex: u32| match vertex.checked_sub(one.switches) {
        Some(terminal) => one.switches * planes + terminal * planes + plane,
        None => plane * one.switches + vertex,
    };
    let ends = |column: &[u32]| -> Vec<u32> {
        (0..planes).flat_map(|plane| column.iter().map(move |&end| vertex(plane, end))).collect()
    };
    (f.link_source, f.link_target) = (ends(&one.link_source), ends(&one.link_target));
    let per_port = |column: &[u32], by: u32| -> Vec<u32> {
        column.iter().flat_map(|entry| (0..planes).map(move |plane| plane * by + entry)).collect()
    };
    f.terminal_out_link = per_port(&one.terminal_out_link, links);
    f.terminal_in_link = per_port(&one.terminal_in_link, links);
    f.terminal_access_ticks = per_port(&one.terminal_access_ticks, 0);
    f.terminal_block_ticks = per_port(&one.terminal_block_ticks, 0);
    f.terminal_host_ticks = per_port(&one.terminal_host_ticks, 0);
    f.terminal_transactions = per_port(&one.terminal_transactions, 0);
    f.terminal_transaction =
        one.terminal_transaction.iter().flat_map(|&kind| (0..planes).map(move |_| kind)).collect();
    f.planes = planes;
    f.port_plane = (0..one.terminals).flat_map(|_| 0..planes).collect();
    f.terminal_ports = (0..=one.terminals).map(|terminal| terminal * planes).collect();
    (f.port_exit, f.port_route) = (Vec::new(), Vec::new());
    for turn in 0..one.ring_turns {
        for plane in 0..planes {
            (0..one.port_station.len() as u32).for_each(|port| exits(f, &one, (turn, plane, port)));
        }
    }
}

/// Gives every terminal a port on each of two rings in opposite directions; most take the nearest.
pub fn in_both_directions(fabric: &Fabric, seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x0b07_4d12);
    let mut f = fabric.clone();
    rings_alike(&mut f, 2);
    counter_rotating(&mut f);
    let choices = [port_choice::NEAREST, port_choice::NEAREST, draw.pick(&CHOICES)];
    f.terminal_choice = (0..f.terminals).map(|_| draw.pick(&choices)).collect();
    check(&f).expect("the generator makes legal fabrics");
    f
}

/// Turns every second ring round.
fn counter_rotating(f: &mut Fabric) {
    let ahead = f.station_next.clone();
    for (station, &next) in ahead.iter().enumerate().filter(|(at, _)| f.station_ring[*at] % 2 == 1) {
        f.station_next[next as usize] = station as u32;
    }
    let to = |&next: &u32| f.link_source[next as usize];
    f.link_target = f.station_next.iter().map(to).collect();
    let into = |&out: &u32| f.station_next.iter().position(|&next| next == out);
    f.terminal_in_link =
        f.terminal_out_link.iter().map(|out| into(out).expect("rings are closed") as u32).collect();
}

/// Appends the row of a port in one of several equal networks: it takes packets for ports of its own network.
fn exits(f: &mut Fabric, one: &Fabric, (turn, plane, port): (u32, u32, u32)) {
    let first = f.port_exit.len();
    let blocks = f.ports().div_ceil(ROUTE_BLOCK as u32);
    f.port_route.extend((0..blocks).map(|block| (first / ROUTE_BLOCK) as u32 + block));
    f.port_exit.resize(first + blocks as usize * ROUTE_BLOCK, PASS);
    for terminal in 0..one.terminals {
        let number = terminal * f.planes + plane;
        f.port_exit[first + number as usize] = one.exit(turn, port, terminal);
    }
}

/// Draws the traffic classes of packets by sender and target; all classes have the same routes.
pub fn draw_classes(f: &mut Fabric, draw: &mut Draw) {
    let classes = draw.between(1, 4);
    let mut per_port = |likely: u32| -> Vec<u32> {
        let mut bits = || (0..classes).map(|class| u32::from(draw.chance(likely)) << class).sum();
        (0..f.terminals).flat_map(|terminal| vec![bits(); f.ports_of(terminal).len()]).collect()
    };
    (f.port_class_from, f.port_class_to) = (per_port(60), per_port(70));
    f.class_headers = vec![0; classes as usize + 1];
}

/// Draws the traffic class of each pair of ports instead.
pub fn draw_pairs(f: &mut Fabric, draw: &mut Draw) {
    let (ports, classes) = (f.ports(), f.class_headers.len() as u32);
    f.port_class_from = (0..ports).map(|port| port * ports).collect();
    f.port_class_to = (0..ports).collect();
    f.class_between = (0..ports * ports).map(|_| draw.between(0, classes - 1) as u8).collect();
}

/// Gives each traffic class some ports of every terminal, in some order and at least one in the plane of all terminals.
/// Draws the classes if the network has none.
pub fn with_class_ports(fabric: &Fabric, seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x00c1_a55e);
    let mut f = fabric.clone();
    if f.class_headers.is_empty() || !f.class_between.is_empty() {
        f.class_between.clear();
        draw_classes(&mut f, draw);
    }
    f.class_port.clear();
    for terminal in 0..f.terminals {
        let ports = f.ports_of(terminal);
        let everywhere: Vec<u8> = (0..)
            .zip(ports.clone())
            .filter(|&(_, port)| f.port_plane[port as usize] == 0)
            .map(|(at, _)| at)
            .collect();
        for _ in 0..f.class_headers.len() {
            let needed = draw.pick(&everywhere);
            let mut places: Vec<u8> =
                (0..ports.len() as u8).filter(|&place| place == needed || draw.chance(40)).collect();
            if draw.chance(50) {
                places.reverse();
            }
            places.resize(MOST_PORTS as usize, NO_PORT);
            f.class_port.extend(places);
        }
    }
    check(&f).expect("the generator makes legal classes");
    f
}
