//! Networks as users draw them: grids, tori, cubes, rings, Clos networks and trees of equal switches and cables, with
//! tens of terminals, long cables or small buffers, and packets much longer or much shorter than both.

use fabriloom_engine::fabric::{Fabric, arbiter, arrival, check, choice, length, target};
use fabriloom_engine::kernel::Time;

use super::build::{Cable, Switch, add_cable, empty, set_route};
use super::random::{Draw, draw_for};

/// Returns a network and a time limit with which its twin moves at most about a million characters.
pub fn random_network(seed: u64) -> (Fabric, Time) {
    let draw = &mut draw_for(seed ^ 0x4e74_3043_5d0e_2117);
    let shape = shape(draw);
    let (cable, switch, header) = technology(draw);
    let switches = vec![switch; shape.homes.len()];
    let terminals: u32 = shape.homes.iter().sum();
    let mut f = empty(&switches, terminals, terminals + shape.homes.len() as u32);
    f.seed = seed;
    (f.header_chars, f.via_header_chars) = (header, header);
    let parallel = draw.pick(&[1, 1, 2, 2, 4]);
    for &(a, b) in &shape.edges {
        for _ in 0..parallel {
            add_cable(&mut f, a, b, cable);
        }
    }
    let slower = if draw.chance(20) { cable.character_ticks } else { 0 };
    let outside = Cable {
        character_ticks: cable.character_ticks + slower,
        arrival_ticks: cable.arrival_ticks + slower,
        ..cable
    };
    let mut terminal = f.switches;
    for (home, &count) in (0..).zip(&shape.homes) {
        for _ in 0..count {
            add_cable(&mut f, terminal, home, outside);
            terminal += 1;
        }
    }
    if draw.chance(30) {
        for terminal in 0..terminals as usize {
            f.link_deletes_header[f.terminal_in_link[terminal] as usize] = 1;
        }
    }
    routes(&mut f, draw);
    let until = traffic(&mut f, draw, outside.character_ticks);
    check(&f).expect("the generator makes legal networks");
    (f, until)
}

/// Cables between switches, and terminals per switch.
struct Shape {
    edges: Vec<(u32, u32)>,
    homes: Vec<u32>,
}

fn shape(draw: &mut Draw) -> Shape {
    let family = draw.between(0, 6);
    let each = draw.pick(&[1, 1, 2, 3, 4]);
    let (switches, edges) = match family {
        0 => cube(&[draw.between(2, 12)], draw.chance(50)),
        1 | 2 => cube(&[draw.between(2, 6), draw.between(2, 6)], family == 2),
        3 => cube(&vec![2; draw.between(1, 4) as usize], false),
        4 => return clos(draw),
        5 => tree(draw),
        _ => {
            let count = draw.between(2, 7);
            (count, (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))).collect())
        }
    };
    Shape { edges, homes: vec![each.min((64 / switches).max(1)); switches as usize] }
}

/// A grid of any number of dimensions, or a torus.
fn cube(sides: &[u32], joined: bool) -> (u32, Vec<(u32, u32)>) {
    let count = sides.iter().product();
    let (mut edges, mut stride) = (Vec::new(), 1);
    for &side in sides {
        for at in 0..count {
            let place = at / stride % side;
            if place + 1 < side {
                edges.push((at, at + stride));
            } else if joined && side > 2 {
                edges.push((at, at - place * stride));
            }
        }
        stride *= side;
    }
    (count, edges)
}

fn clos(draw: &mut Draw) -> Shape {
    let (leaves, centres) = (draw.between(2, 10), draw.between(1, 8));
    let edges = (0..leaves).flat_map(|leaf| (leaves..leaves + centres).map(move |centre| (leaf, centre)));
    let mut homes = vec![draw.between(1, 6); leaves as usize];
    homes.resize((leaves + centres) as usize, 0);
    Shape { edges: edges.collect(), homes }
}

fn tree(draw: &mut Draw) -> (u32, Vec<(u32, u32)>) {
    let (count, arity) = (draw.between(2, 15), draw.between(2, 4));
    (count, (1..count).map(|at| ((at - 1) / arity, at)).collect())
}

/// Equal cables and switches, and the characters of a header.
fn technology(draw: &mut Draw) -> (Cable, Switch, u32) {
    // A tick is one bit of a DS-Link, or one cycle of a flit.
    let bits = draw.chance(60);
    let (character_ticks, end_ticks) = if bits { (10, 4) } else { (1, 1) };
    let delay = draw.pick(&[0, 0, 0, 1, 1, 2, 5, 20, 50]) * character_ticks;
    let (input_buffer, output_buffer, quantum) = draw.pick(&[
        (43, 23, 8),
        (43, 23, 8),
        (32, 32, 8),
        (70, 70, 8),
        (64, 2, 8),
        (8, 8, 8),
        (8, 1, 1),
        (6, 4, 2),
        (4, 4, 1),
        (24, 40, 16),
    ]);
    let header = draw.pick(&[1, 1, 1, 2, 4]);
    let cable = Cable {
        character_ticks,
        end_ticks,
        arrival_ticks: character_ticks + delay,
        credit_ticks: draw.pick(&[end_ticks, end_ticks, 3 * character_ticks]) + delay,
        output_buffer,
        input_buffer: (quantum + header - 1).max(input_buffer),
        quantum,
        flow_control_ticks: end_ticks,
    };
    let kinds = [arbiter::FIFO, arbiter::FIFO, arbiter::ROUND_ROBIN, arbiter::FIXED, arbiter::RANDOM];
    let crossbar_ticks = draw.pick(&[0, 0, 0, character_ticks]);
    let switch = Switch {
        decode_ticks: draw.pick(&[0, 1, 4, 8, 8]) * character_ticks,
        crossbar_ticks,
        handover_ticks: draw.pick(&[1, crossbar_ticks.max(1)]),
        next_head_ticks: crossbar_ticks.max(1),
        forward_ticks: draw.pick(&[0, 0, 1, 2]) * character_ticks,
        arbiter: draw.pick(&kinds),
        choice: draw.pick(&[choice::FIRST, choice::LEAST_RECENT, choice::RANDOM]),
    };
    (cable, switch, header)
}

/// Shortest paths: by every link, by those to one neighbour, or by one link per destination; sometimes through a random
/// switch.
fn routes(f: &mut Fabric, draw: &mut Draw) {
    let (all, adaptive) = (draw.chance(40), draw.chance(70));
    for terminal in 0..f.terminals {
        let inward = f.terminal_in_link[terminal as usize];
        let home = f.link_source[inward as usize];
        set_route(f, home, terminal, &[inward], false);
        towards(f, home, terminal, (all, adaptive), false);
    }
    if draw.chance(10) {
        for switch in 0..f.switches {
            let class = f.terminals + switch;
            f.via_switch.push(switch);
            f.via_class.push(class);
            towards(f, switch, class, (all, adaptive), true);
        }
    }
}

fn towards(f: &mut Fabric, home: u32, class: u32, (all, adaptive): (bool, bool), strip: bool) {
    let mut links = vec![Vec::new(); f.switches as usize];
    let mut steps = vec![u32::MAX; f.switches as usize];
    steps[home as usize] = 0;
    let mut reached = vec![home];
    let mut done = 0;
    while done < reached.len() {
        let to = reached[done];
        done += 1;
        for link in 0..f.links() as u32 {
            let from = f.link_source[link as usize];
            if f.link_target[link as usize] != to || from >= f.switches {
                continue;
            }
            if steps[from as usize] == u32::MAX {
                steps[from as usize] = steps[to as usize] + 1;
                reached.push(from);
            }
            if steps[from as usize] == steps[to as usize] + 1 {
                links[from as usize].push(link);
            }
        }
    }
    for switch in (0..f.switches).filter(|&switch| switch != home) {
        let group = &mut links[switch as usize];
        let first = f.link_target[group[class as usize % group.len()] as usize];
        if !all {
            group.retain(|&link| f.link_target[link as usize] == first);
        }
        if !adaptive {
            *group = vec![group[class as usize % group.len()]];
        }
        set_route(f, switch, class, group, strip && steps[switch as usize] == 1);
    }
}

/// The same kind of source at every terminal; returns how long to run.
fn traffic(f: &mut Fabric, draw: &mut Draw, character_ticks: u32) -> Time {
    let kind = draw.pick(&[
        arrival::POISSON,
        arrival::POISSON,
        arrival::RANDOM_WAIT,
        arrival::RANDOM_WAIT,
        arrival::CONSTANT,
        arrival::WAIT,
        arrival::ON_OFF,
        arrival::BACKLOG,
    ]);
    // As much as the buffers on a link hold, twice or half of it, or any number.
    let held = f.link_input_buffer[0] + f.link_output_buffer[0];
    let low = draw.pick(&[held, held, held / 2, 2 * held, f.link_input_buffer[0], 8, 64, 64, 187, 1000]);
    let low = low.saturating_sub(draw.between(0, 9)).max(1);
    let high = if draw.chance(50) { low } else { low + draw.between(1, 70) };
    let to = draw.pick(&[target::UNIFORM, target::UNIFORM, target::UNIFORM, target::HOT_SPOT, target::FIXED]);
    let load = f64::from(draw.between(5, 120)) / 100.0;
    let characters = (low + high) / 2 + 2;
    let packet = f64::from(characters) * f64::from(character_ticks);
    let shift = draw.between(1, f.terminals.max(2) - 1);
    f.source_arrival.fill(kind);
    f.source_interval_grains.fill(packet / load);
    f.source_gap_grains.fill(4.0 * packet / load);
    f.source_burst.fill(4.0);
    f.source_length.fill(length::UNIFORM);
    f.length_min.fill(low);
    f.length_max.fill(high);
    f.source_target.fill(to);
    f.target_share.fill(0.2);
    for terminal in 0..f.terminals {
        f.target_fixed[terminal as usize] = (terminal + shift) % f.terminals;
    }
    // About four links per packet.
    let characters_at_most = f64::from(draw.pick(&[20_000, 60_000, 120_000, 240_000]));
    let packets = characters_at_most / f64::from(4 * characters * f.terminals);
    let rate = if kind == arrival::BACKLOG { 1.0 } else { load.min(1.0) };
    (packets.max(2.0) * packet / rate) as Time
}
