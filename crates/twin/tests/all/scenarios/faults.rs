//! Networks whose links fail: any other network, with faults.

use fabriloom_engine::fabric::{Fabric, NEVER, NONE, check, fault_kind, is_open};
use fabriloom_engine::kernel::Time;

use super::lanes::without_pool;
use super::random::{Draw, draw_for};

/// Makes some links of a network fail, some for ever: single links, both directions of a cable, or all links of a
/// switch or a terminal; drawn independently of the network.
pub fn with_faults(fabric: &Fabric, seed: u64, until: Time) -> Fabric {
    let draw = &mut draw_for(seed ^ 0xfa_017);
    let mut f = fabric.clone();
    let span = u32::try_from(until).expect("a short run");
    let faults = failures(&f, draw, span);
    // They were drawn in another order, so they might overlap.
    let kind = |()| if draw.chance(70) { fault_kind::LINK } else { draw.between(1, 3) as u8 };
    add(&mut f, faults, kind);
    rates(&mut f, draw, span);
    check(&f).expect("the generator makes legal faults");
    f
}

/// The same, where all that happens is that links fail.
pub fn with_cuts(fabric: &Fabric, seed: u64, until: Time) -> Fabric {
    let mut f = fabric.clone();
    let faults = failures(&f, &mut draw_for(seed ^ 0xc075), u32::try_from(until).expect("a short run"));
    add(&mut f, faults, |()| fault_kind::LINK);
    check(&f).expect("the generator makes legal faults");
    f
}

/// Returns when which links fail, and until when.
fn failures(f: &Fabric, draw: &mut Draw, span: u32) -> Vec<(u64, u32, u64, u64, ())> {
    let mut free_from = vec![0; f.links()];
    let mut faults = Vec::new();
    for _ in 0..draw.pick(&[1, 1, 2, 4, 20]) {
        let down = u64::from(draw.between(0, span));
        let ended = down + draw.pick(&[1_u64, 20, 85, 400]);
        let least = ended + draw.pick(&[1_u64, 10, 2000]);
        let up = if draw.chance(20) { NEVER } else { least + u64::from(draw.between(0, span / 2)) };
        for link in links(f, draw) {
            if free_from[link as usize] <= down {
                free_from[link as usize] = up;
                faults.push((down, link, ended, up, ()));
            }
        }
    }
    faults
}

/// Changes the rates of some links in some networks, whatever else happens to these links.
fn rates(f: &mut Fabric, draw: &mut Draw, span: u32) {
    let mut rows = Vec::new();
    let mut free_from = vec![0; f.links()];
    for _ in 0..draw.pick(&[0, 0, 1, 3, 12]) {
        let (down, link) = (u64::from(draw.between(0, span)), draw.between(0, f.links() as u32 - 1));
        let up = down + draw.pick(&[2_u64, 40, 700]);
        let ticks = f.link_character_ticks[link as usize] * draw.between(1, 12) / 3;
        if free_from[link as usize] <= down {
            free_from[link as usize] = up;
            rows.push((down, link, down + 1, up, ticks.max(1)));
        }
    }
    add_beside(f, fault_kind::RATE, rows);
}

/// Makes some links fail that carry little or nothing, or stop for a time: mostly from the beginning and for good, or for
/// a short time. Many such networks lose nothing.
pub fn with_quiet_faults(fabric: &Fabric, seed: u64, until: Time) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x0f_f1ce);
    let mut f = fabric.clone();
    let span = u32::try_from(until).expect("a short run");
    let of_groups: Vec<u32> = (0..f.groups() as u32)
        .filter(|&group| f.group(group).len() > 1)
        .flat_map(|group| f.group(group).to_vec())
        .map(|lane| f.link_of(lane))
        .collect();
    let mut faults = Vec::new();
    for _ in 0..draw.pick(&[1, 1, 2, 3, 8]) {
        let any = of_groups.is_empty() || draw.chance(30);
        let link = if any { draw.between(0, f.links() as u32 - 1) } else { draw.pick(&of_groups) };
        let kind = if draw.chance(60) { fault_kind::LINK } else { fault_kind::STUCK };
        let down = if draw.chance(50) { 0 } else { u64::from(draw.between(0, span)) };
        let lasts = draw.pick(&[2, 20, 300, u64::from(span / 10 + 2), u64::from(span / 3 + 2)]);
        let up = if kind == fault_kind::LINK && draw.chance(40) { NEVER } else { down + lasts };
        faults.push((down, link, down + 1, up, kind));
    }
    add(&mut f, faults, |kind| kind);
    check(&f).expect("the generator makes legal faults");
    f
}

/// Makes some links stop for a time, also where no link may fail.
pub fn with_stops(fabric: &Fabric, seed: u64, until: Time) -> Fabric {
    let mut f = fabric.clone();
    let plain = without_pool(Fabric { drops: 0, ..f.clone() });
    let drawn = with_quiet_faults(&plain, seed, until);
    for row in (0..drawn.fault_link.len()).filter(|&row| drawn.fault_kind[row] == fault_kind::STUCK) {
        f.fault_link.push(drawn.fault_link[row]);
        f.fault_down_ticks.push(drawn.fault_down_ticks[row]);
        f.fault_ended_ticks.push(drawn.fault_ended_ticks[row]);
        f.fault_up_ticks.push(drawn.fault_up_ticks[row]);
        f.fault_kind.push(fault_kind::STUCK);
    }
    check(&f).expect("the generator makes legal faults");
    f
}

/// Makes some links of a network of rings fail, some for ever: single links, for two ticks as by a bit error, or whole
/// rings.
pub fn with_ring_faults(fabric: &Fabric, seed: u64, until: Time) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x051f_a017);
    let mut f = fabric.clone();
    let span = u32::try_from(until).expect("a short run");
    let whole_rings = draw.chance(50);
    let mut faults = Vec::new();
    for _ in 0..draw.pick(&[1, 2, 5, 30]) {
        let down = u64::from(draw.between(0, span));
        let lasts = draw.pick(&[2, 2, 20, u64::from(span / 10 + 2), u64::from(span / 3 + 2), NEVER]);
        let link = draw.between(0, f.links() as u32 - 1) as usize;
        let ring = |&other: &usize| f.station_ring[other] == f.station_ring[link];
        let failing: Vec<usize> =
            if whole_rings { (0..f.links()).filter(ring).collect() } else { vec![link] };
        faults.extend(
            failing.into_iter().map(|link| (down, link as u32, down + 1, (down + lasts).min(NEVER), ())),
        );
    }
    add(&mut f, faults, |()| fault_kind::LINK);
    stops(&mut f, draw, span);
    f.ring_echo_timeout_ticks = draw.pick(&[1, 30, 300, 2000]);
    if draw.chance(70) {
        f.ring_timeout_ticks = draw.pick(&[100, 500, 3000]);
    }
    let may_discard = !f.has_programs() && f.source_arrival.iter().all(|&arrival| is_open(arrival));
    if may_discard && draw.chance(60) {
        f.ring_close_after = draw.pick(&[1, 2, 4]);
        f.ring_closed_ticks = draw.pick(&[10, 500, 5000]);
    }
    check(&f).expect("the generator makes legal faults");
    f
}

/// Adds faults in the order of their ticks (down, link, ended, up, and what says their kind), without those that begin
/// before the end of another one of their link.
fn add<T: Ord>(f: &mut Fabric, mut faults: Vec<(u64, u32, u64, u64, T)>, mut kind: impl FnMut(T) -> u8) {
    faults.sort_unstable();
    let mut free_from = vec![0; f.links()];
    for (down, link, ended, up, what) in faults {
        if free_from[link as usize] <= down {
            free_from[link as usize] = up;
            f.fault_down_ticks.push(down);
            f.fault_link.push(link);
            f.fault_ended_ticks.push(ended);
            f.fault_up_ticks.push(up);
            f.fault_kind.push(kind(what));
        }
    }
}

/// Adds faults of a kind (down, link, ended, up, ticks of a character) that may overlap those of other kinds, but none of
/// their own on their link.
fn add_beside(f: &mut Fabric, kind: u8, faults: Vec<(u64, u32, u64, u64, u32)>) {
    let known = |row: usize| {
        let (down, ended) = (f.fault_down_ticks[row], f.fault_ended_ticks[row]);
        (down, f.fault_link[row], ended, f.fault_up_ticks[row], f.fault_kind[row], 0)
    };
    let mut rows: Vec<_> = (0..f.fault_link.len()).map(known).collect();
    rows.extend(
        faults.into_iter().map(|(down, link, ended, up, ticks)| (down, link, ended, up, kind, ticks)),
    );
    rows.sort_unstable();
    // They were drawn in another order, so they might overlap.
    let mut free_from = vec![0; f.links()];
    rows.retain(|&(down, link, _, up, other, _)| {
        let of = &mut free_from[link as usize];
        let stays = other != kind || *of <= down;
        *of = if stays && other == kind { up } else { *of };
        stays
    });
    f.fault_down_ticks = rows.iter().map(|row| row.0).collect();
    f.fault_link = rows.iter().map(|row| row.1).collect();
    f.fault_ended_ticks = rows.iter().map(|row| row.2).collect();
    f.fault_up_ticks = rows.iter().map(|row| row.3).collect();
    f.fault_kind = rows.iter().map(|row| row.4).collect();
    if kind == fault_kind::RATE {
        f.fault_character_ticks = rows.iter().map(|row| row.5).collect();
    }
}

/// Makes a terminal stuck, or buses stop, in some networks of rings.
fn stops(f: &mut Fabric, draw: &mut Draw, span: u32) {
    let mut rows = Vec::new();
    let mut free_from = vec![0; f.links()];
    for _ in 0..draw.pick(&[0, 0, 1, 2, 6]) {
        let down = u64::from(draw.between(0, span));
        let lasts = draw.pick(&[2, 20, u64::from(span / 10 + 2), u64::from(span / 3 + 2), NEVER]);
        let station = f.station_next[draw.between(0, f.links() as u32 - 1) as usize];
        let switch = f.link_source[station as usize];
        let alike =
            |&other: &u32| other == station || switch < f.switches && f.link_source[other as usize] == switch;
        for link in 0..f.links() as u32 {
            if alike(&f.station_next[link as usize]) && free_from[link as usize] <= down {
                free_from[link as usize] = (down + lasts).min(NEVER);
                rows.push((down, link, down + 1, (down + lasts).min(NEVER), 0));
            }
        }
    }
    add_beside(f, fault_kind::STUCK, rows);
}

/// The same; in most networks switches also end packets that do not move for a time, short or long.
pub fn with_timeouts(fabric: &Fabric, seed: u64, until: Time) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x7_1e0);
    let mut f = if draw.chance(70) { with_faults(fabric, seed, until) } else { fabric.clone() };
    let slowest = u64::from(*f.link_character_ticks.iter().max().expect("a fabric has links"));
    let same = draw.pick(&[0, 1, 2, 5, 40, 400]) * slowest;
    let mixed = draw.chance(40);
    f.switch_timeout_ticks = (0..f.switches)
        .map(|_| if mixed { draw.pick(&[0, 1, 3, 20, 100]) * slowest } else { same })
        .collect();
    check(&f).expect("the generator makes legal time-outs");
    f
}

/// Gives switches time-outs that end no packet, few, or many.
pub fn with_watchdogs(fabric: &Fabric, seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0xd06);
    let mut f = fabric.clone();
    let slowest = u64::from(*f.link_character_ticks.iter().max().expect("a fabric has links"));
    let ticks = draw.pick(&[20, 100, 400, 2000, 10_000]) * slowest;
    f.switch_timeout_ticks = (0..f.switches).map(|_| if draw.chance(80) { ticks } else { 0 }).collect();
    check(&f).expect("the generator makes legal time-outs");
    f
}

/// Replaces routing tables some times, by tables that lack some entries or use only one lane of a group; where packets have
/// classes by sender and target, mostly also by other ones.
pub fn with_tables(fabric: &Fabric, seed: u64, until: Time) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x7_ab1e);
    let mut f = fabric.clone();
    let span = u32::try_from(until).expect("a short run");
    let tables = draw.pick(&[1, 1, 2, 3]);
    for _ in 0..tables {
        let lacks = draw.pick(&[0, 0, 5, 30]);
        let narrow = draw.pick(&[0, 50, 100]);
        for row in 0..f.route.len() {
            let entry = f.route[row];
            let replaced = if entry == NONE || draw.chance(lacks) {
                NONE
            } else if draw.chance(narrow) {
                alone(&mut f, entry >> 1, draw) * 2 + (entry & 1)
            } else {
                entry
            };
            f.table_route.push(replaced);
        }
    }
    let moments = draw.pick(&[1, 2, 5]);
    f.table_ticks = (0..moments).map(|_| u64::from(draw.between(0, span))).collect();
    f.table_ticks.sort_unstable();
    f.table_ticks.dedup();
    f.table_number = f.table_ticks.iter().map(|_| draw.between(0, tables)).collect();
    if !f.class_between.is_empty() && draw.chance(70) {
        let (rows, last) = (tables * f.class_between.len() as u32, f.class_headers.len() as u32 - 1);
        f.table_between = (0..rows).map(|_| draw.between(0, last) as u8).collect();
    }
    check(&f).expect("the generator makes legal tables");
    f
}

/// A new group of one lane of another.
fn alone(f: &mut Fabric, group: u32, draw: &mut Draw) -> u32 {
    let lanes = f.group(group);
    let lane = lanes[draw.between(0, lanes.len() as u32 - 1) as usize];
    f.group_switch.push(f.group_switch[group as usize]);
    f.group_links.push(lane);
    f.group_start.push(f.group_links.len() as u32);
    f.groups() as u32 - 1
}

/// Returns the links that fail together.
fn links(f: &Fabric, draw: &mut Draw) -> Vec<u32> {
    let link = draw.between(0, f.links() as u32 - 1);
    let reverse = f.link_reverse[link as usize];
    match draw.between(0, 3) {
        0 => vec![link],
        1 | 2 if (reverse as usize) < f.links() => vec![link, reverse],
        1 | 2 => vec![link],
        _ => {
            let vertex = f.link_target[link as usize];
            let at =
                |&link: &u32| [f.link_source[link as usize], f.link_target[link as usize]].contains(&vertex);
            (0..f.links() as u32).filter(at).collect()
        }
    }
}
