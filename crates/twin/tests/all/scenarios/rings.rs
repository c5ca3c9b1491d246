//! Networks of rings built by hand, ring by ring, and at random.

use fabriloom_engine::fabric::{
    Fabric, NONE, PASS, ROUTE_BLOCK, arrival, check, is_open, retry, retry_order, stations, when_full,
};
use fabriloom_engine::kernel::Time;

use super::build::empty;
use super::random::{Draw, draw_for, more_sources, traffic};

/// A station on a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The next terminal.
    Terminal,
    /// The next port of this switch.
    Port(u32),
}

/// Returns rings of equal stations in this order, numbered consecutively, with one bus per switch, silent sources and
/// routes by the fewest buses. A unit of a request has 5 symbols more than its data, one of a response 5, one of an
/// echo 3.
pub fn rings(rings: &[Vec<Stop>]) -> Fabric {
    let stops: Vec<(u32, Stop)> =
        (0..).zip(rings).flat_map(|(ring, stops)| stops.iter().map(move |&stop| (ring, stop))).collect();
    let order: Vec<usize> = (0..stops.len()).collect();
    numbered(&stops, &order)
}

/// As [`rings`], with the stations numbered by `order`: its n-th entry is the number of the n-th station.
fn numbered(stops: &[(u32, Stop)], order: &[usize]) -> Fabric {
    let terminals = stops.iter().filter(|(_, stop)| *stop == Stop::Terminal).count() as u32;
    let port_of = |stop: &Stop| if let Stop::Port(switch) = *stop { Some(switch) } else { None };
    let switches = stops.iter().filter_map(|(_, stop)| port_of(stop)).max().map_or(0, |most| most + 1);
    let mut f = empty(&[], terminals, 0);
    let count = stops.len();
    f.switches = switches;
    (f.group_start, f.route, f.terminal_class) = (Vec::new(), Vec::new(), Vec::new());
    (f.header_chars, f.via_header_chars) = (0, 0);
    (f.link_source, f.link_target) = (vec![0; count], vec![0; count]);
    (f.station_next, f.station_ring) = (vec![0; count], vec![0; count]);
    let mut terminal = 0;
    for (place, &(ring, stop)) in stops.iter().enumerate() {
        f.station_ring[order[place]] = ring;
        f.link_source[order[place]] = port_of(&stop).unwrap_or(switches + terminal);
        let same = |at: usize| stops.get(at).is_some_and(|other| other.0 == ring);
        let first = stops.iter().position(|other| other.0 == ring).expect("this one at least");
        let next = if same(place + 1) { place + 1 } else { first };
        f.station_next[order[place]] = order[next] as u32;
        if stop == Stop::Terminal {
            f.terminal_out_link[terminal as usize] = order[place] as u32;
            terminal += 1;
        }
    }
    for (link, &next) in f.station_next.iter().enumerate() {
        let vertex = f.link_source[next as usize];
        f.link_target[link] = vertex;
        if vertex >= switches {
            f.terminal_in_link[(vertex - switches) as usize] = link as u32;
        }
    }
    f.port_start = vec![0];
    for switch in 0..switches {
        let ports = (0..count).filter(|&place| port_of(&stops[place].1) == Some(switch));
        f.port_station.extend(ports.map(|place| order[place] as u32));
        f.port_start.push(f.port_station.len() as u32);
    }
    defaults(&mut f);
    route(&mut f);
    f
}

/// Round numbers that are all different, so that no sum is correct by chance.
fn defaults(f: &mut Fabric) {
    let (stations, terminals, switches) = (f.links(), f.terminals as usize, f.switches as usize);
    f.link_character_ticks = vec![2; stations];
    f.link_arrival_ticks = vec![5; stations];
    f.station_decode_ticks = vec![3; stations];
    f.station_bypass_ticks = vec![4; stations];
    f.station_receive_ticks = vec![6; stations];
    f.station_transmit_ticks = vec![7; stations];
    for places in [
        &mut f.station_requests_out,
        &mut f.station_responses_out,
        &mut f.station_requests_in,
        &mut f.station_responses_in,
        &mut f.station_in_flight,
        &mut f.station_rejected,
    ] {
        *places = vec![4; stations];
    }
    f.bus_count = vec![1; switches];
    f.bus_setup_ticks = vec![9; switches];
    f.bus_cycle_ticks = vec![8; switches];
    f.bus_width_bytes = vec![4; switches];
    f.bus_encapsulation_bytes = vec![4; switches];
    f.terminal_access_ticks = vec![13; terminals];
    f.terminal_block_ticks = vec![1; terminals];
    f.terminal_host_ticks = vec![11; terminals];
    f.terminal_transactions = vec![4; terminals];
    f.terminal_transaction = vec![0; terminals];
    (f.ring_request_header_bytes, f.ring_response_header_bytes, f.ring_echo_bytes) = (8, 8, 4);
    (f.ring_send_idle_bytes, f.ring_echo_idle_bytes) = (2, 2);
    (f.ring_cut_through, f.ring_symbol_bytes) = (1, 2);
}

/// Returns the rings on which a switch has ports, each with the number of the port and its station.
fn ports(f: &Fabric, switch: usize) -> Vec<(u32, u8, usize)> {
    let range = f.port_start[switch] as usize..f.port_start[switch + 1] as usize;
    let ports = f.port_station[range].iter().zip(0..);
    ports.map(|(&station, port)| (f.station_ring[station as usize], port, station as usize)).collect()
}

/// Sends every packet over the fewest buses, by the lowest numbered switch and port where there are several.
pub fn route(f: &mut Fabric) {
    let (terminals, switches) = (f.terminals as usize, f.switches as usize);
    assert!(terminals <= ROUTE_BLOCK, "a block for each port");
    f.ring_turns = 1;
    f.port_route = (0..f.port_station.len() as u32).collect();
    f.port_exit = vec![PASS; f.port_station.len() * ROUTE_BLOCK];
    for terminal in 0..terminals {
        let mut reached = vec![f.station_ring[f.terminal_out_link[terminal] as usize]];
        let mut done = 0;
        while done < reached.len() {
            let ring = reached[done];
            done += 1;
            for switch in 0..switches {
                let ports = ports(f, switch);
                let Some(&(_, out, _)) = ports.iter().find(|port| port.0 == ring) else { continue };
                for &(from, port, _) in &ports {
                    if !reached.contains(&from) {
                        reached.push(from);
                        let row = f.port_start[switch] as usize + usize::from(port);
                        f.port_exit[row * ROUTE_BLOCK + terminal] = out;
                    }
                }
            }
        }
    }
}

/// Returns a random network of rings that passes the engine's check. Equal seeds give equal networks.
pub fn random_rings(seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x0419_5551_0a6e_77b3);
    let (stops, controllers) = in_rows(wiring(draw), &mut draw_for(seed ^ 0x70_7573));
    let mut order: Vec<usize> = (0..stops.len()).collect();
    if draw.chance(50) {
        draw.shuffle(&mut order);
    }
    let mut f = numbered(&stops, &order);
    f.seed = seed;
    take_in_rows(&mut f, controllers);
    protocol(&mut f, draw);
    durations(&mut f, draw);
    capacities(&mut f, draw);
    other_routes(&mut f, draw);
    turns(&mut f, draw);
    let symbol = *f.link_character_ticks.iter().max().expect("a ring has links");
    traffic(&mut f, draw, symbol);
    adapt_traffic(&mut f, draw);
    more_sources(&mut f, seed, symbol);
    f.flow_length.iter_mut().for_each(|length| *length /= 4);
    if draw.chance(25) {
        f.ring_separate_buses = 1;
        f.bus_count.iter_mut().for_each(|count| *count *= 2);
    }
    orders(&mut f, draw);
    check(&f).expect("the generator makes legal networks");
    f
}

/// Makes other rings of the random ones: symbols of other widths, no echoes, packets that pass a full receiver, slots.
pub fn with_other_rings(fabric: &Fabric, seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x51_07_7e_d0);
    let mut f = fabric.clone();
    f.ring_symbol_bytes = draw.pick(&[1, 2, 2, 3, 8, 64]);
    if draw.chance(60) {
        (f.ring_echo_bytes, f.ring_echo_idle_bytes) = (0, 0);
        (f.ring_phases, f.ring_hold_until_echo, f.ring_in_order) = (0, 0, 0);
    }
    if draw.chance(60) {
        (f.ring_when_full, f.ring_phases) = (when_full::PASS, 0);
    }
    if f.ring_echo_bytes == 0 && f.ring_when_full == when_full::BUSY || draw.chance(10) {
        f.station_requests_in.fill(0);
        f.station_responses_in.fill(0);
    }
    if draw.chance(50) {
        slotted(&mut f, draw);
    }
    check(&f).expect("the generator makes legal networks");
    f
}

/// Gives the rings of [`with_other_rings`] tokens, with limits of all kinds.
pub fn with_tokens(fabric: &Fabric, seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x70_6b_65_6e);
    let mut f = fabric.clone();
    (f.ring_cut_through, f.ring_allocation, f.ring_retry_at_responder) = (1, 0, 0);
    (f.ring_slot_symbols, f.ring_when_full) = (0, when_full::BUSY);
    if f.ring_echo_bytes == 0 {
        f.station_requests_in.fill(0);
        f.station_responses_in.fill(0);
    }
    let length = draw.pick(&[1, 1, 2, 7, 40]);
    f.ring_token_symbols = length;
    lengthen(&mut f, |round, symbol| round.max(length * symbol));
    let timed = draw.chance(50);
    f.ring_token_packets = draw.pick(&[1, 1, 2, 5]);
    if timed || f.ring_echo_bytes == 0 && draw.chance(50) {
        f.ring_token_packets = draw.pick(&[0, 0, 1, 3]);
    }
    if timed {
        let symbol = f.link_character_ticks.iter().max().expect("a ring has links");
        let columns = [&f.link_arrival_ticks, &f.station_decode_ticks, &f.station_bypass_ticks];
        let all: u64 = columns.into_iter().flatten().map(|&ticks| u64::from(ticks)).sum();
        let empty = all + u64::from(f.ring_token_symbols * symbol);
        f.ring_token_rotation_ticks = empty + 1 + u64::from(draw.between(0, 400) * symbol);
    }
    check(&f).expect("the generator makes legal networks");
    f
}

/// Makes a ring carry slots of any length; its last station waits for the end of one.
fn slotted(f: &mut Fabric, draw: &mut Draw) {
    (f.ring_cut_through, f.ring_allocation) = (1, 0);
    f.ring_slot_symbols = draw.pick(&[1, 1, 2, 5, 20]);
    let slot = f.ring_slot_symbols;
    lengthen(f, |round, symbol| round.next_multiple_of(slot * symbol));
}

/// Makes the last station of each ring wait until a round takes as long as a function of it and of a symbol says.
fn lengthen(f: &mut Fabric, round_ticks: impl Fn(u32, u32) -> u32) {
    for ring in 0..f.links() as u32 {
        let of: Vec<usize> = (0..f.links()).filter(|&at| f.station_ring[at] == ring).collect();
        let Some(&last) = of.last() else { continue };
        let columns = [&f.link_arrival_ticks, &f.station_decode_ticks, &f.station_bypass_ticks];
        let round: u32 = of.iter().flat_map(|&at| columns.map(|column| column[at])).sum();
        f.station_bypass_ticks[last] += round_ticks(round, f.link_character_ticks[last]) - round;
    }
}

/// Replaces sometimes every port by a row of controllers, each of a switch of its own; returns how many.
fn in_rows(stops: Vec<(u32, Stop)>, draw: &mut Draw) -> (Vec<(u32, Stop)>, u32) {
    let controllers = draw.pick(&[1, 1, 1, 2, 3]);
    let row = |(ring, stop)| match stop {
        Stop::Terminal => vec![(ring, stop)],
        Stop::Port(switch) => {
            (0..controllers).map(|one| (ring, Stop::Port(switch * controllers + one))).collect()
        }
    };
    (stops.into_iter().flat_map(row).collect(), controllers)
}

/// Makes all controllers of a row take what the first one takes.
fn take_in_rows(f: &mut Fabric, controllers: u32) {
    if controllers == 1 {
        return;
    }
    f.port_yields = vec![0; f.port_station.len()];
    for switch in 0..f.switches {
        let (at, first) = (switch as usize, (switch - switch % controllers) as usize);
        let (from, to) = (f.port_start[first] as usize, f.port_start[at] as usize);
        let ports = f.port_start[at + 1] as usize - to;
        let rows = from * ROUTE_BLOCK..(from + ports) * ROUTE_BLOCK;
        f.port_exit.copy_within(rows, to * ROUTE_BLOCK);
        f.port_yields[to..to + ports].fill(u8::from(switch % controllers + 1 < controllers));
    }
}

/// Draws the priorities, and what waits at an interface.
fn orders(f: &mut Fabric, draw: &mut Draw) {
    fill(&mut f.station_rejected, draw, &[1, 1, 2, 8]);
    f.ring_retry_order = draw.pick(&[retry_order::READY, retry_order::FIRST, retry_order::NEW_FIRST]);
    f.ring_response_first = u8::from(draw.chance(50));
    f.ring_interface_occupied = u8::from(draw.chance(30));
}

/// Returns a time limit that lets roughly this number of packets through each terminal's link.
pub fn ring_time_for(f: &Fabric, packets: u32) -> Time {
    let slowest = f.link_character_ticks.iter().max().expect("a ring has links");
    Time::from(packets) * Time::from(*slowest) * 60
}

/// Draws one ring; two with a bridge; a switch with ringlets; or rings in a tree of switches with some more ports.
fn wiring(draw: &mut Draw) -> Vec<(u32, Stop)> {
    let mut rings: Vec<Vec<Stop>> = match draw.between(0, 4) {
        0 => vec![vec![]],
        1 => vec![vec![Stop::Port(0)]; 2],
        2 => vec![vec![Stop::Port(0)]; draw.between(2, 4) as usize],
        _ => tree(draw),
    };
    for ring in &mut rings {
        let least = 2u32.saturating_sub(ring.len() as u32);
        for _ in 0..draw.between(least, 3.max(8_u32.saturating_sub(ring.len() as u32)).min(4)) {
            ring.push(Stop::Terminal);
        }
        draw.shuffle(ring);
    }
    if !rings.iter().flatten().any(|stop| *stop == Stop::Terminal) {
        rings[0].push(Stop::Terminal);
    }
    if rings.iter().flatten().filter(|stop| **stop == Stop::Terminal).count() < 2 {
        rings.last_mut().expect("there is a ring").push(Stop::Terminal);
    }
    (0..).zip(rings).flat_map(|(ring, stops)| stops.into_iter().map(move |stop| (ring, stop))).collect()
}

fn tree(draw: &mut Draw) -> Vec<Vec<Stop>> {
    let mut rings: Vec<Vec<Stop>> = vec![vec![]];
    for switch in 0..draw.between(1, 4) {
        let known = draw.between(0, rings.len() as u32 - 1);
        rings[known as usize].push(Stop::Port(switch));
        for _ in 1..draw.between(2, 4) {
            if draw.chance(75) {
                rings.push(vec![Stop::Port(switch)]);
            } else {
                let known = draw.between(0, rings.len() as u32 - 1);
                rings[known as usize].push(Stop::Port(switch));
            }
        }
    }
    rings
}

/// Stations for which a rule may hold; most often all.
const RULES: [u8; 5] = [stations::ALL, stations::ALL, stations::ALL, stations::PORTS, stations::TERMINALS];
/// The same for what is sent in order.
const ORDERED: [u8; 6] = [
    stations::ALL,
    stations::ALL,
    stations::ALL,
    stations::PORTS,
    stations::TERMINALS,
    stations::BUT_REQUESTS,
];

fn protocol(f: &mut Fabric, draw: &mut Draw) {
    f.ring_request_header_bytes = draw.pick(&[4, 8, 16, 16, 7]);
    f.ring_response_header_bytes = draw.pick(&[4, 8, 16, 12]);
    f.ring_send_idle_bytes = draw.pick(&[0, 2, 2, 4, 3]);
    let shortest = f.ring_request_header_bytes.min(f.ring_response_header_bytes) + f.ring_send_idle_bytes;
    f.ring_echo_idle_bytes = draw.pick(&[0, 2, 2, 4]).min(shortest - 1);
    f.ring_echo_bytes = draw.between(1, (shortest - f.ring_echo_idle_bytes).min(8));
    f.ring_cut_through = u8::from(draw.chance(60));
    f.ring_hold_until_echo = u8::from(draw.chance(40));
    f.ring_in_order = if draw.chance(50) { draw.pick(&ORDERED) } else { stations::NONE };
    f.ring_phases = u8::from(draw.chance(40));
    f.ring_allocation = if draw.chance(60) { draw.pick(&RULES) } else { stations::NONE };
    f.ring_retry_strategy = draw.pick(&[retry::CONSTANT, retry::LINEAR, retry::EXPONENTIAL]);
    f.ring_retry_delay_ticks = draw.pick(&[0, 1, 5, 20, 20, 200]);
    f.ring_retry_at_responder = u8::from(draw.chance(40));
    f.ring_timeout_ticks = draw.pick(&[0, 0, 0, 100, 500, 3000]);
    let kinds = draw.pick(&[(0, 0), (0, 0), (1, 1), (2, 2), (3, 3), (0, 3), (0, 3)]);
    for kind in &mut f.terminal_transaction {
        *kind = draw.between(kinds.0, kinds.1) as u8;
    }
}

/// Fills a column with one value, or different values per row.
fn fill(column: &mut [u32], draw: &mut Draw, values: &[u32]) {
    let (same, alike) = (draw.pick(values), draw.chance(60));
    for value in column {
        *value = if alike { same } else { draw.pick(values) };
    }
}

fn durations(f: &mut Fabric, draw: &mut Draw) {
    let speeds: Vec<u32> = (0..f.links()).map(|_| draw.pick(&[1, 1, 2, 3])).collect();
    let alike = draw.chance(70);
    let cable = draw.pick(&[0, 1, 7, 30]);
    for station in 0..f.links() {
        let symbol = speeds[if alike { 0 } else { f.station_ring[station] as usize }];
        f.link_character_ticks[station] = symbol;
        f.link_arrival_ticks[station] = symbol + draw.pick(&[0, cable, cable, cable]);
    }
    fill(&mut f.station_decode_ticks, draw, &[0, 1, 4, 10]);
    fill(&mut f.station_bypass_ticks, draw, &[0, 0, 2, 5, 24]);
    fill(&mut f.station_receive_ticks, draw, &[0, 0, 1, 8, 50]);
    fill(&mut f.station_transmit_ticks, draw, &[0, 0, 1, 8, 40]);
    fill(&mut f.bus_setup_ticks, draw, &[0, 0, 3, 20]);
    fill(&mut f.bus_cycle_ticks, draw, &[1, 2, 5]);
    fill(&mut f.bus_width_bytes, draw, &[1, 4, 8]);
    fill(&mut f.bus_encapsulation_bytes, draw, &[0, 4, 8]);
    fill(&mut f.terminal_access_ticks, draw, &[0, 0, 1, 20, 200]);
    fill(&mut f.terminal_block_ticks, draw, &[0, 0, 1, 20]);
    fill(&mut f.terminal_host_ticks, draw, &[0, 0, 1, 30]);
}

fn capacities(f: &mut Fabric, draw: &mut Draw) {
    fill(&mut f.station_requests_out, draw, &[1, 1, 2, 4]);
    fill(&mut f.station_responses_out, draw, &[1, 1, 2, 4]);
    fill(&mut f.station_requests_in, draw, &[1, 1, 2, 4]);
    fill(&mut f.station_responses_in, draw, &[1, 1, 2, 4]);
    fill(&mut f.station_in_flight, draw, &[1, 2, 3, 8]);
    fill(&mut f.terminal_transactions, draw, &[1, 2, 4, 16]);
    fill(&mut f.bus_count, draw, &[1, 1, 2, 3]);
}

/// Adds sometimes a port that takes packets of another, one that passes packets that no other takes, or a detour.
fn other_routes(f: &mut Fabric, draw: &mut Draw) {
    if f.port_route.is_empty() || draw.chance(80) {
        return;
    }
    let terminals = f.terminals as usize;
    for switch in 0..f.switches as usize {
        let (first, end) = (f.port_start[switch] as usize, f.port_start[switch + 1] as usize);
        for port in first..end {
            for terminal in 0..terminals {
                let other = draw.between(0, (end - first) as u32 - 1);
                let is_other = first + other as usize != port;
                let exit = &mut f.port_exit[port * ROUTE_BLOCK + terminal];
                *exit = match draw.between(0, 19) {
                    0 => PASS,
                    1 if is_other => other as u8,
                    _ => *exit,
                };
            }
        }
    }
}

/// Adds further tables, which transactions use in turn, with some different ports.
fn turns(f: &mut Fabric, draw: &mut Draw) {
    if f.port_route.is_empty() || draw.chance(70) {
        return;
    }
    f.ring_turns = draw.pick(&[2, 2, 3, 5]);
    let ports = f.port_station.len();
    let first = f.port_exit.clone();
    for turn in 1..f.ring_turns as usize {
        f.port_route.extend((0..ports).map(|port| (turn * ports + port) as u32));
        f.port_exit.extend(&first);
        for switch in 0..f.switches as usize {
            let (first, end) = (f.port_start[switch] as usize, f.port_start[switch + 1] as usize);
            for port in first..end {
                let row = (turn * ports + port) * ROUTE_BLOCK;
                for exit in f.port_exit[row..row + ROUTE_BLOCK].iter_mut().filter(|exit| **exit != PASS) {
                    let other = draw.between(0, (end - first) as u32 - 1);
                    if first + other as usize != port && draw.chance(15) {
                        *exit = other as u8;
                    }
                }
            }
        }
    }
}

/// Adds sources without a waiting place, synchronous sources, and packets short enough to be moved one by one.
fn adapt_traffic(f: &mut Fabric, draw: &mut Draw) {
    let can_refuse = f.flow_cost_grains.is_empty();
    let without_places = draw.chance(30) && can_refuse;
    let together = draw.chance(20);
    for terminal in 0..f.terminals as usize {
        if without_places || draw.chance(5) && can_refuse {
            f.source_queue[terminal] = NONE;
        }
        if together && is_open(f.source_arrival[terminal]) {
            f.source_arrival[terminal] = arrival::TOGETHER;
        }
        f.length_min[terminal] /= 4;
        f.length_max[terminal] /= 4;
        f.source_interval_grains[terminal] = (f.source_interval_grains[terminal] / 2.0).max(1.0);
    }
    f.list_length.iter_mut().for_each(|length| *length /= 4);
    f.length_values.iter_mut().for_each(|length| *length /= 4);
}
