//! Random small fabrics: every feature of the arrays appears, alone and with others.

use std::collections::VecDeque;

use fabriloom_engine::fabric::{Fabric, arbiter, arrival, check, choice, length, target};
use fabriloom_engine::kernel::Time;
use fabriloom_engine::kernel::random::{Family, Stream, streams};

use super::build::{Cable, Switch, add_cable, add_link, empty, set_route};

/// Random choices.
pub struct Draw(Stream);

impl Draw {
    /// Draws a whole number from `low` to `high`.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.0.below(high - low + 1)
    }

    /// Draws true with this probability in per cent.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.0.below(100) < percent
    }

    /// Draws one of some values.
    pub fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.0.below(values.len() as u32) as usize]
    }

    /// Shuffles values.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.0.below(last as u32 + 1) as usize);
        }
    }
}

/// Returns the choices of a seed.
pub fn draw_for(seed: u64) -> Draw {
    Draw(streams(seed, Family::Source, 1).remove(0))
}

/// Returns a random fabric that passes the engine's check. Equal seeds give equal fabrics.
pub fn random_fabric(seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x5eed_fab1_1005_7177);
    let character_ticks = draw.pick(&[1, 2, 10, 10, 21]);
    let count = draw.between(1, 8);
    let same = switch(draw, character_ticks);
    let mixed = draw.chance(50);
    let switches: Vec<Switch> =
        (0..count).map(|_| if mixed { switch(draw, character_ticks) } else { same }).collect();
    let per_switch: Vec<u32> = (0..count).map(|_| draw.between(1, 4)).collect();
    let terminals = per_switch.iter().sum::<u32>().max(2);
    let mut f = empty(&switches, terminals, terminals + count);
    f.seed = seed;
    f.header_chars = draw.pick(&[0, 1, 1, 1, 2, 3]);
    f.via_header_chars = draw.pick(&[0, 1, 1, 2, 3]);
    wiring(&mut f, draw, character_ticks);
    homes(&mut f, draw, &per_switch, character_ticks);
    routes(&mut f, draw);
    let header = f.header_chars.max(f.via_header_chars).max(1);
    for (buffer, quantum) in f.link_input_buffer.iter_mut().zip(&f.link_quantum) {
        *buffer = (*buffer).max(quantum + header - 1);
    }
    deletion(&mut f, draw);
    traffic(&mut f, draw, character_ticks);
    handovers(&mut f, seed);
    more_sources(&mut f, seed, character_ticks);
    oldest_first(&mut f, seed);
    characters(&mut f, seed);
    check(&f).expect("the generator makes legal fabrics");
    f
}

/// Returns a time limit that lets roughly this number of packets through each terminal's link.
pub fn time_for(f: &Fabric, packets: u32) -> Time {
    let slowest = f.link_character_ticks.iter().max().expect("a fabric has links");
    i64::from(packets) * i64::from(*slowest) * 60
}

/// Returns random stops of some links, short and long, in sequence on each.
pub fn random_stops(f: &Fabric, seed: u64, until: Time) -> Vec<(u32, Time, Time)> {
    let draw = &mut draw_for(seed ^ 0x0057_0000_57a1_1ed0);
    let span = u32::try_from(until).expect("a short run");
    let mut stops = Vec::new();
    for link in 0..f.links() as u32 {
        let mut from = Time::from(draw.between(0, span));
        while draw.chance(40) {
            let most = draw.pick(&[1, 20, 400, span / 2 + 1]);
            let until = from + Time::from(draw.between(1, most));
            stops.push((link, from, until));
            from = until + Time::from(draw.between(1, span));
        }
    }
    stops
}

fn switch(draw: &mut Draw, character_ticks: u32) -> Switch {
    let kinds = [arbiter::FIFO, arbiter::FIFO, arbiter::ROUND_ROBIN, arbiter::FIXED, arbiter::RANDOM];
    let choices = [choice::FIRST, choice::FIRST, choice::LEAST_RECENT, choice::RANDOM];
    let odd = draw.between(1, 3 * character_ticks);
    let decode_ticks = draw.between(0, 10) * draw.between(0, character_ticks);
    let crossbar_ticks = draw.pick(&[0, 0, 0, character_ticks, 2 * character_ticks, odd]);
    Switch {
        decode_ticks,
        crossbar_ticks,
        handover_ticks: crossbar_ticks.max(1),
        next_head_ticks: crossbar_ticks.max(1),
        forward_ticks: draw.pick(&[0, 1, 2, 3]) * draw.between(0, character_ticks),
        arbiter: draw.pick(&kinds),
        choice: draw.pick(&choices),
    }
}

/// Changes half of the fabrics: outputs and heads that wait longer or shorter than the crossbar is busy, and grains;
/// drawn separately, so that a seed keeps its network.
fn handovers(f: &mut Fabric, seed: u64) {
    let draw = &mut draw_for(seed ^ 0x0bad_cafe);
    if draw.chance(50) {
        return;
    }
    for switch in 0..f.switches as usize {
        let crossing = f.switch_crossbar_ticks[switch].max(1);
        let odd = draw.between(1, 30);
        f.switch_handover_ticks[switch] = draw.pick(&[1, crossing, odd]);
        let least = crossing.saturating_sub(f.switch_decode_ticks[switch]);
        f.switch_next_head_ticks[switch] = draw.pick(&[0, crossing, odd]).max(least);
    }
    f.grain_ticks = draw.pick(&[1, 3]);
    for grains in &mut f.source_interval_grains {
        *grains = (*grains / f.grain_ticks as f64).max(1.0);
    }
}

/// Makes a tenth of the fabrics serve the oldest packet first; drawn separately, as [`handovers`].
fn oldest_first(f: &mut Fabric, seed: u64) {
    let draw = &mut draw_for(seed ^ 0x01d_e57);
    if draw.chance(10) {
        f.switch_arbiter
            .fill_with(|| draw.pick(&[arbiter::OLDEST_FIRST, arbiter::OLDEST_FIRST, arbiter::FIFO]));
    }
}

/// Gives a third of the fabrics characters of several bytes, or ends that carry data; drawn separately, as
/// [`handovers`].
fn characters(f: &mut Fabric, seed: u64) {
    let draw = &mut draw_for(seed ^ 0x00f1_1757);
    if draw.chance(33) {
        f.character_bytes = draw.between(1, 8);
        f.end_carries_data = draw.pick(&[0, 1]);
        (f.overhead_bytes, f.least_bytes) = (draw.pick(&[0, 0, 3, 26]), draw.pick(&[0, 0, 20]));
    }
}

fn cable(draw: &mut Draw, character_ticks: u32, uneven: bool) -> Cable {
    let odd = draw.between(1, 2 * character_ticks);
    let character_ticks = if uneven {
        draw.pick(&[character_ticks, character_ticks * 2, character_ticks * 3, odd])
    } else {
        character_ticks
    };
    let delay = draw.pick(&[0, 0, 1, 5, 40]) * draw.between(0, character_ticks);
    let quantum = draw.pick(&[1, 3, 4, 8, 8, 8, 16]);
    let end_ticks = (character_ticks * 4 / 10).max(1);
    Cable {
        character_ticks,
        end_ticks: draw.pick(&[end_ticks, end_ticks, end_ticks, character_ticks, 2 * character_ticks, 1]),
        arrival_ticks: character_ticks + delay,
        credit_ticks: end_ticks + delay,
        output_buffer: draw.pick(&[1, 2, 8, 23, 23, 32, 66]),
        input_buffer: draw.pick(&[quantum.max(4), 8, 8, 11, 20, 32, 43, 43, 66]),
        quantum,
        flow_control_ticks: end_ticks,
    }
}

/// A random tree of the switches, some more cables, and parallels of all of them.
fn wiring(f: &mut Fabric, draw: &mut Draw, character_ticks: u32) {
    let uneven = draw.chance(40);
    let alike = draw.chance(50);
    let same = cable(draw, character_ticks, uneven);
    let mut pairs: Vec<(u32, u32)> = (1..f.switches).map(|b| (draw.between(0, b - 1), b)).collect();
    if f.switches > 2 {
        for _ in 0..draw.between(0, f.switches) {
            let a = draw.between(0, f.switches - 2);
            pairs.push((a, draw.between(a + 1, f.switches - 1)));
        }
    }
    for (a, b) in pairs {
        for _ in 0..draw.pick(&[1, 1, 2, 3, 4]) {
            let cable = if alike { same } else { cable(draw, character_ticks, uneven) };
            add_cable(f, a, b, cable);
        }
    }
}

/// Joins every terminal to a switch, or to one that it sends to and one that it receives from.
fn homes(f: &mut Fabric, draw: &mut Draw, per_switch: &[u32], character_ticks: u32) {
    let mut homes: Vec<u32> =
        (0..f.switches).flat_map(|s| vec![s; per_switch[s as usize] as usize]).collect();
    homes.resize(f.terminals as usize, 0);
    if draw.chance(50) {
        draw.shuffle(&mut homes);
    }
    let uneven = draw.chance(30);
    let one_way = draw.chance(10);
    let same = cable(draw, character_ticks, uneven);
    for (terminal, &home) in homes.iter().enumerate() {
        let vertex = f.switches + terminal as u32;
        let cable = if uneven { cable(draw, character_ticks, true) } else { same };
        if one_way {
            let entry = draw.between(0, f.switches - 1);
            add_link(f, vertex, entry, cable);
            add_link(f, home, vertex, cable);
        } else {
            add_cable(f, vertex, home, cable);
        }
    }
}

/// Routes to every terminal and, with intermediates, to every switch: in the tree, or by any shortest path.
fn routes(f: &mut Fabric, draw: &mut Draw) {
    let tree_only = draw.chance(60);
    let spread = draw.chance(30);
    let exclusive = draw.chance(50);
    for terminal in 0..f.terminals {
        let inward = f.terminal_in_link[terminal as usize];
        let home = f.link_source[inward as usize];
        set_route(f, home, terminal, &[inward], false);
        routes_to(f, draw, home, terminal, (tree_only, spread, exclusive), false);
    }
    if !draw.chance(25) {
        return;
    }
    for switch in (0..f.switches).rev() {
        if draw.chance(70) {
            let class = f.terminals + switch;
            f.via_switch.push(switch);
            f.via_class.push(class);
            routes_to(f, draw, switch, class, (tree_only, spread, exclusive), true);
        }
    }
}

/// Sends a class from every other switch towards `home`; `strip` deletes its header on the last step.
fn routes_to(f: &mut Fabric, draw: &mut Draw, home: u32, class: u32, how: (bool, bool, bool), strip: bool) {
    let (tree_only, spread, exclusive) = how;
    let distance = distances(f, home, tree_only);
    for switch in (0..f.switches).filter(|&switch| switch != home) {
        let nearer = |&link: &u32| {
            let to = f.link_target[link as usize];
            f.link_source[link as usize] == switch
                && to < f.switches
                && distance[to as usize] + 1 == distance[switch as usize]
                && (!tree_only || in_tree(f, link))
        };
        let mut links: Vec<u32> = (0..f.links() as u32).filter(nearer).collect();
        if exclusive {
            let first = f.link_target[links[0] as usize];
            links.retain(|&link| f.link_target[link as usize] == first);
        }
        if spread {
            draw.shuffle(&mut links);
            links.truncate(draw.between(1, 4) as usize);
        }
        set_route(f, switch, class, &links, strip && distance[switch as usize] == 1);
    }
}

/// The tree consists of the first cable of every switch, in the order of numbers, to a lower one, and its parallels.
fn in_tree(f: &Fabric, link: u32) -> bool {
    let ends = |l: usize| (f.link_source[l].min(f.link_target[l]), f.link_source[l].max(f.link_target[l]));
    let (low, high) = ends(link as usize);
    let first = (0..f.links())
        .find(|&l| f.link_source[l] < f.switches && f.link_target[l] < f.switches && ends(l).1 == high);
    high < f.switches && first.is_some_and(|l| ends(l).0 == low)
}

fn distances(f: &Fabric, home: u32, tree_only: bool) -> Vec<u32> {
    let mut distance = vec![u32::MAX / 2; f.switches as usize];
    distance[home as usize] = 0;
    let mut queue = VecDeque::from([home]);
    while let Some(switch) = queue.pop_front() {
        for link in 0..f.links() {
            let from = f.link_source[link];
            let usable =
                f.link_target[link] == switch && from < f.switches && (!tree_only || in_tree(f, link as u32));
            if usable && distance[from as usize] > distance[switch as usize] + 1 {
                distance[from as usize] = distance[switch as usize] + 1;
                queue.push_back(from);
            }
        }
    }
    distance
}

fn deletion(f: &mut Fabric, draw: &mut Draw) {
    match draw.between(0, 5) {
        0 | 1 => {
            for terminal in 0..f.terminals as usize {
                f.link_deletes_header[f.terminal_in_link[terminal] as usize] = 1;
            }
        }
        2 => {
            for entry in f.route.iter_mut().filter(|entry| **entry != u32::MAX) {
                *entry |= u32::from(draw.chance(20));
            }
        }
        3 => {
            for link in 0..f.links() {
                let inside = f.link_source[link] < f.switches;
                f.link_deletes_header[link] = u8::from(inside && draw.chance(20));
            }
        }
        _ => {}
    }
}

/// Random sources.
pub fn traffic(f: &mut Fabric, draw: &mut Draw, character_ticks: u32) {
    let kinds = [
        arrival::BACKLOG,
        arrival::CONSTANT,
        arrival::POISSON,
        arrival::POISSON,
        arrival::WAIT,
        arrival::RANDOM_WAIT,
        arrival::ON_OFF,
        arrival::LIST,
    ];
    let lengths = [(0, 0), (1, 7), (8, 8), (16, 16), (64, 64), (64, 64), (0, 200), (30, 100), (200, 200)];
    f.length_values = vec![0, 8, 64, 200];
    f.length_cumulative = vec![0.25, 0.5, 0.9375, 1.0];
    let common = (draw.pick(&kinds), draw.pick(&lengths), draw.pick(&[0.1, 0.3, 0.6, 0.9, 1.5]));
    let mixed = draw.chance(50);
    lists(f, draw);
    weights(f, draw);
    for terminal in 0..f.terminals as usize {
        let (kind, (low, high), load) = if mixed {
            (draw.pick(&kinds), draw.pick(&lengths), draw.pick(&[0.1, 0.5, 1.1]))
        } else {
            common
        };
        let packet = f64::from((low + high) / 2 + 2) * f64::from(character_ticks);
        f.source_arrival[terminal] = if mixed && draw.chance(5) { arrival::SILENT } else { kind };
        f.source_interval_grains[terminal] = packet / load;
        f.source_burst[terminal] = f64::from(draw.between(1, 8));
        f.source_gap_grains[terminal] = packet * f64::from(draw.between(0, 20));
        f.source_queue[terminal] = draw.pick(&[0, 0, 1, 2, 5]);
        f.source_length[terminal] =
            draw.pick(&[length::FIXED, length::UNIFORM, length::UNIFORM, length::TABLE]);
        (f.length_min[terminal], f.length_max[terminal]) = (low, high);
        f.source_target[terminal] = draw.pick(&[
            target::UNIFORM,
            target::UNIFORM,
            target::UNIFORM,
            target::FIXED,
            target::WEIGHTED,
            target::HOT_SPOT,
        ]);
        f.target_fixed[terminal] = draw.between(0, f.terminals - 1);
        f.target_share[terminal] = draw.pick(&[0.0, 0.2, 1.0]);
    }
}

/// Adds, to a third of the fabrics, sources with slots, bursts, flows and packets to themselves; drawn separately, as
/// [`handovers`].
pub fn more_sources(f: &mut Fabric, seed: u64, character_ticks: u32) {
    let draw = &mut draw_for(seed ^ 0x50_0ce5);
    if draw.chance(67) {
        return;
    }
    let kinds = [arrival::BERNOULLI, arrival::BURSTS, arrival::FLOWS, arrival::TIMED];
    flows(f, draw, character_ticks);
    times(f, draw);
    for terminal in 0..f.terminals as usize {
        f.source_first_grains.push(f64::from(draw.between(0, 999)));
        if draw.chance(50) {
            f.source_arrival[terminal] = draw.pick(&kinds);
        }
        if draw.chance(20) {
            f.source_target[terminal] = target::ANY;
        }
        f.source_interval_grains[terminal] = f.source_interval_grains[terminal].max(1.0);
        let slot = f64::from(character_ticks).min(f.source_interval_grains[terminal]);
        if f.source_arrival[terminal] == arrival::BERNOULLI {
            f.source_gap_grains[terminal] = slot;
        }
    }
}

fn flows(f: &mut Fabric, draw: &mut Draw, character_ticks: u32) {
    f.flow_start = vec![0];
    for _ in 0..f.terminals {
        for _ in 0..draw.between(0, 4) {
            let interval = f64::from(draw.between(20, 2000) * character_ticks) / 3.0;
            f.flow_target.push(draw.between(0, f.terminals - 1));
            f.flow_length.push(draw.pick(&[0, 1, 16, 64]));
            f.flow_arrival.push(draw.pick(&[arrival::CONSTANT, arrival::CONSTANT, arrival::POISSON]));
            f.flow_interval_grains.push(interval);
            f.flow_phase_grains.push(draw.pick(&[-1.0, 0.0, 77.25]));
            f.flow_jitter_grains.push(draw.pick(&[0.0, 0.5, 1.0]) * interval);
            f.flow_packets.push(draw.pick(&[1, 1, 2, 7]));
            f.flow_begin_grains.push(draw.pick(&[0.0, 0.0, 333.5]));
            f.flow_end_grains.push(draw.pick(&[-1.0, -1.0, 5000.25]));
            f.flow_count.push(draw.pick(&[0, 0, 1, 9]));
        }
        f.flow_start.push(f.flow_target.len() as u32);
    }
    if draw.chance(40) {
        shapers(f, draw);
    }
}

/// Gives some flows token buckets, some of which are too slow.
fn shapers(f: &mut Fabric, draw: &mut Draw) {
    for (&interval, &packets) in f.flow_interval_grains.iter().zip(&f.flow_packets) {
        let cost = draw.pick(&[0.0, 0.3, 0.9, 1.5]) * interval / f64::from(packets);
        f.flow_cost_grains.push(cost);
        f.flow_room_grains.push(cost * draw.pick(&[1.0, 1.0, 2.5, 9.0]));
    }
    f.source_queue.fill(0);
}

fn lists(f: &mut Fabric, draw: &mut Draw) {
    f.list_start = vec![0];
    for _ in 0..f.terminals {
        for _ in 0..draw.between(0, 6) {
            f.list_target.push(draw.between(0, f.terminals - 1));
            f.list_length.push(draw.pick(&[0, 1, 16, 64, 150]));
            f.list_wait_ticks.push(draw.pick(&[0, 0, 1, 100, 999]));
        }
        f.list_start.push(f.list_target.len() as u32);
        f.list_repeat.push(u8::from(draw.chance(70)));
    }
}

/// Gives the packets of the lists times, some of them equal.
fn times(f: &mut Fabric, draw: &mut Draw) {
    f.list_at_grains = vec![0; f.list_target.len()];
    for list in f.list_start.windows(2) {
        let mut at = 0;
        for row in list[0]..list[1] {
            at += draw.pick(&[0, 0, 1, 77, 999, 9999]);
            f.list_at_grains[row as usize] = at;
        }
    }
}

fn weights(f: &mut Fabric, draw: &mut Draw) {
    f.weight_start = vec![0];
    for _ in 0..f.terminals {
        let count = draw.between(1, 3);
        for index in 1..=count {
            f.weight_target.push(draw.between(0, f.terminals - 1));
            f.weight_cumulative.push(f64::from(index) / f64::from(count));
        }
        f.weight_start.push(f.weight_target.len() as u32);
    }
}
