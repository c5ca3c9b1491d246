//! Networks with what SpaceWire has: time-codes and interrupts, addresses whose bytes routers delete, and packets for
//! several ports; each is any other network with these.

use super::random::{Draw, draw_for};
use fabriloom_engine::fabric::{Fabric, NONE, TIME, check, sharing, target};
use fabriloom_engine::kernel::Time;
use fabriloom_engine::run::Simulation;
use fabriloom_twin::{CodeCounts, TakenCode, TwinRun};

/// Makes one port, seldom two, send time-codes, and some send interrupts, often the same ones.
pub fn with_codes(fabric: &Fabric, seed: u64, until: Time) -> Fabric {
    let draw = &mut draw_for(seed ^ 0xc0_de5);
    let mut f = fabric.clone();
    f.link_code_ticks = f.link_character_ticks.iter().map(|&ticks| ticks + ticks * 2 / 5).collect();
    let arrivals = f.link_arrival_ticks.iter().zip(&f.link_code_ticks);
    f.link_code_arrival_ticks = arrivals.map(|(&arrival, &code)| code + draw.between(0, arrival)).collect();
    let slowest = *f.link_code_ticks.iter().max().expect("a fabric has links");
    f.switch_code_ticks = (0..f.switches).map(|_| draw.pick(&[0, 1, slowest])).collect();
    f.code_jitter_ticks = if draw.chance(40) { draw.between(1, slowest) } else { 0 };
    f.switch_code_ticks.iter_mut().for_each(|ticks| *ticks += f.code_jitter_ticks);
    // With a shorter hold time they could circulate for ever.
    f.interrupt_hold_ticks = u64::from(slowest) * draw.pick(&[300_u64, 1000]);
    let masters = if draw.chance(15) { 2 } else { 1 };
    for place in 0..masters + draw.between(0, 3) {
        let number = if place < masters { TIME } else { draw.pick(&[0, 5, 5, 63]) };
        let about = slowest * draw.pick(&[5, 20, 60]);
        let period = u64::from(about + draw.between(0, about));
        let first = u64::from(draw.between(0, slowest * 20));
        f.code_port.push(draw.between(0, f.ports() - 1));
        f.code_number.push(number);
        f.code_first_ticks.push(first);
        f.code_period_ticks.push(period);
        f.code_count.push((until as u64).saturating_sub(first).div_ceil(period).min(200));
    }
    without_codes(&mut f, &mut draw_for(seed ^ 0x0c0_de0f));
    check(&f).expect("the generator makes legal codes");
    f
}

/// Lets some links carry no codes, where there are frames; not those of ports that make some.
fn without_codes(f: &mut Fabric, draw: &mut Draw) {
    if f.lane_sharing != sharing::FRAME || draw.chance(40) {
        return;
    }
    for link in 0..f.links() {
        let makes = f.code_port.iter().any(|&port| f.terminal_out_link[port as usize] as usize == link);
        if !makes && draw.chance(20) {
            f.link_code_ticks[link] = 0;
        }
    }
}

/// The same, so seldom that long packets stream between them.
pub fn with_rare_codes(fabric: &Fabric, seed: u64, until: Time) -> Fabric {
    let mut f = with_codes(fabric, seed, until);
    for (period, count) in f.code_period_ticks.iter_mut().zip(&mut f.code_count) {
        (*period, *count) = (*period * 30, count.div_ceil(30));
    }
    f
}

/// Gives packets for some ports priority at every switch.
pub fn with_priorities(fabric: &Fabric, seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x9_1c0);
    let mut f = fabric.clone();
    let share = draw.pick(&[10, 30, 60]);
    f.port_priority = (0..f.ports()).map(|_| u8::from(draw.chance(share))).collect();
    check(&f).expect("the generator makes legal priorities");
    f
}

/// Checks that both engines accepted and dropped the same codes.
pub fn same_codes(fabric: &Fabric, fast: &Simulation, twin: &TwinRun, what: &str) {
    let ours = fast.code_counts().iter().map(|at| CodeCounts {
        sent: at.sent,
        lost: at.lost,
        duplicates: at.duplicates,
        invalid: at.invalid,
    });
    for (link, (ours, theirs)) in ours.zip(&twin.code_counts).enumerate() {
        assert_eq!(ours, *theirs, "codes on link {link}, {what}");
    }
    let ports = fabric.ports() as usize;
    for (row, ours) in fast.run.codes.delays.iter().enumerate() {
        let of = |code: &&TakenCode| (code.source as usize, code.port as usize) == (row / ports, row % ports);
        let delays: Vec<i64> = twin.codes.iter().filter(of).map(|code| code.at - code.made).collect();
        let (count, sum) = (delays.len() as u64, delays.iter().map(|&delay| i128::from(delay)).sum());
        let (min, max) = (delays.iter().min().copied(), delays.iter().max().copied());
        let theirs = (count, sum, min.unwrap_or(i64::MAX), max.unwrap_or(0));
        assert_eq!((ours.count, ours.sum, ours.min, ours.max), theirs, "codes of row {row}, {what}");
    }
}

/// Makes all links out of switches delete a character (path addresses), or those between regions; None for networks in
/// which paths to a terminal would then delete different numbers.
pub fn with_addresses(fabric: &Fabric, seed: u64) -> Option<Fabric> {
    let draw = &mut draw_for(seed ^ 0xadd_7e55);
    let mut f = fabric.clone();
    if !f.via_switch.is_empty() || f.switches == 0 || f.whole_packet_credit != 0 {
        return None;
    }
    f.link_deletes_header.fill(0);
    for entry in f.route.iter_mut().filter(|entry| **entry != NONE) {
        *entry &= !1;
    }
    let regions: Vec<u32> = (0..f.switches).map(|_| draw.between(0, 2)).collect();
    let by_path = draw.chance(60);
    let deletes = |link: usize| {
        let (from, to) = (f.link_source[link], f.link_target[link]);
        let crosses = || !f.is_terminal(to) && regions[from as usize] != regions[to as usize];
        !f.is_terminal(from) && (by_path || crosses())
    };
    f.link_deletes_address = (0..f.links()).map(|link| u8::from(deletes(link))).collect();
    check(&f).is_ok().then_some(f)
}

/// Adds some distributions, each along a tree of the switches, and makes some terminals send to them; None for networks
/// in which that is not possible.
pub fn with_distributions(fabric: &Fabric, seed: u64) -> Option<Fabric> {
    let draw = &mut draw_for(seed ^ 0xd15_7ed);
    let mut f = fabric.clone();
    if !f.via_switch.is_empty() || f.switches == 0 {
        return None;
    }
    (f.distribution_start, f.group_all) = (vec![0], vec![0; f.groups()]);
    let mut senders = Vec::new();
    let count = draw.between(1, 4);
    let (old, classes) = (f.classes as usize, f.classes as usize + count as usize);
    let rows = f.route.chunks(old).flat_map(|row| {
        let mut row = row.to_vec();
        row.resize(classes, NONE);
        row
    });
    (f.route, f.classes) = (rows.collect(), classes as u32);
    for number in 0..count {
        senders.push(distribution(&mut f, draw, old as u32 + number)?);
    }
    send(&mut f, draw, &senders);
    check(&f).expect("the generator makes legal distributions");
    Some(f)
}

/// Links from each switch of a tree to those below it, and back.
struct Tree {
    children: Vec<Vec<(u32, Vec<u32>)>>,
    up: Vec<Vec<u32>>,
    order: Vec<u32>,
}

fn tree(f: &Fabric, root: u32) -> Tree {
    let switches = f.switches as usize;
    let between = |a: u32, b: u32| -> Vec<u32> {
        let links = 0..f.links() as u32;
        links.filter(|&l| f.link_source[l as usize] == a && f.link_target[l as usize] == b).collect()
    };
    let mut found =
        Tree { children: vec![Vec::new(); switches], up: vec![Vec::new(); switches], order: vec![root] };
    let mut place = 0;
    while let Some(&at) = found.order.get(place) {
        place += 1;
        for next in 0..f.switches {
            let (down, up) = (between(at, next), between(next, at));
            if !found.order.contains(&next) && !down.is_empty() && !up.is_empty() {
                found.order.push(next);
                found.up[next as usize] = up;
                found.children[at as usize].push((next, down));
            }
        }
    }
    found
}

/// Returns one distribution with its routes, and the terminals that may send to it.
fn distribution(f: &mut Fabric, draw: &mut Draw, class: u32) -> Option<Vec<u32>> {
    let root = draw.between(0, f.switches - 1);
    let tree = tree(f, root);
    let mut ports: Vec<u32> = (0..f.ports()).filter(|&port| tree.order.contains(&home(f, port))).collect();
    draw.shuffle(&mut ports);
    ports.truncate(draw.between(1, 6) as usize);
    if ports.is_empty() {
        return None;
    }
    // From the leaves on: a switch is in the tree if it or a switch below it has ports.
    let mut within = vec![false; f.switches as usize];
    for &switch in tree.order.iter().rev() {
        let at: Vec<u32> = ports.iter().copied().filter(|&port| home(f, port) == switch).collect();
        let mut links: Vec<u32> = at.iter().map(|&port| f.terminal_in_link[port as usize]).collect();
        for (next, down) in &tree.children[switch as usize] {
            if within[*next as usize] {
                links.push(down[draw.between(0, down.len() as u32 - 1) as usize]);
            }
        }
        within[switch as usize] = !links.is_empty();
        if links.is_empty() {
            let up = tree.up[switch as usize].clone();
            route(f, draw, switch, class, &up, false);
        } else {
            route(f, draw, switch, class, &links, true);
        }
    }
    f.distribution_port.extend(&ports);
    f.distribution_start.push(f.distribution_port.len() as u32);
    f.terminal_class.push(class);
    let mut reaches = vec![false; f.switches as usize];
    reaches[root as usize] = true;
    for &switch in &tree.order {
        for (next, _) in &tree.children[switch as usize] {
            // A path up that meets the tree before its root would miss a part of it.
            reaches[*next as usize] = !within[*next as usize] && (switch == root || reaches[switch as usize]);
        }
    }
    Some((0..f.ports()).filter(|&port| reaches[leaves_to(f, port) as usize]).collect())
}

/// The switch from which a port receives.
fn home(f: &Fabric, port: u32) -> u32 {
    f.link_source[f.terminal_in_link[port as usize] as usize]
}

fn leaves_to(f: &Fabric, port: u32) -> u32 {
    f.link_target[f.terminal_out_link[port as usize] as usize]
}

fn route(f: &mut Fabric, draw: &mut Draw, switch: u32, class: u32, links: &[u32], all: bool) {
    if links.is_empty() {
        return;
    }
    f.group_switch.push(switch);
    f.group_links.extend_from_slice(links);
    f.group_start.push(f.group_links.len() as u32);
    f.group_all.push(u8::from(all));
    let alike = links
        .iter()
        .all(|&link| f.link_deletes_header[link as usize] == f.link_deletes_header[links[0] as usize]);
    let strips = !alike || draw.chance(10);
    f.route[(switch * f.classes + class) as usize] = (f.groups() as u32 - 1) * 2 + u32::from(strips);
}

/// Makes terminals send to distributions from time to time, or always.
fn send(f: &mut Fabric, draw: &mut Draw, senders: &[Vec<u32>]) {
    let first = f.ports();
    for terminal in 0..f.terminals {
        let able: Vec<u32> = (0..)
            .zip(senders)
            .filter(|(_, senders)| senders.contains(&terminal))
            .map(|(row, _)| first + row)
            .collect();
        if able.is_empty() {
            continue;
        }
        let always = draw.chance(30);
        let other = draw.pick(&able);
        let at = terminal as usize;
        if always || f.source_target[at] == target::FIXED {
            f.source_target[at] = target::FIXED;
            f.target_fixed[at] = other;
        }
        let rows =
            |starts: &[u32]| starts.get(at..at + 2).map_or(0..0, |ends| ends[0] as usize..ends[1] as usize);
        let (lists, flows, weights) = (rows(&f.list_start), rows(&f.flow_start), rows(&f.weight_start));
        for target in f.list_target[lists]
            .iter_mut()
            .chain(&mut f.flow_target[flows])
            .chain(&mut f.weight_target[weights])
        {
            if draw.chance(50) {
                *target = draw.pick(&able);
            }
        }
    }
}
