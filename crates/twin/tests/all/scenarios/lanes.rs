//! Networks with lanes: any other network, with divided links.

use fabriloom_engine::fabric::{Fabric, NONE, arbiter, check, sharing};
use fabriloom_engine::kernel::Time;

use super::faults::{with_cuts, with_faults, with_quiet_faults, with_tables};
use super::ports::{draw_classes, draw_pairs};
use super::random::{Draw, draw_for};

/// Gives the links of a network lanes, or its packets credit for all of them, or both; drawn independently of the
/// network.
pub fn with_lanes(fabric: &Fabric, seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x1a_4e5);
    let mut f = fabric.clone();
    f.lanes = draw.pick(&[1, 2, 2, 3, 4, 16]);
    f.lane_sharing = draw.pick(&[sharing::CHARACTER, sharing::CHARACTER, sharing::PACKET]);
    f.lane_arbiter = draw.pick(&[arbiter::ROUND_ROBIN, arbiter::ROUND_ROBIN, arbiter::FIXED]);
    f.whole_packet_credit = u8::from(f.lanes == 1 || draw.chance(40));
    f.output_queues = u8::from(f.whole_packet_credit == 1 && draw.chance(50));
    if f.whole_packet_credit == 1 {
        if draw.chance(50) {
            f.link_quantum.fill(1);
        }
        f.store_and_forward = u8::from(draw_for(seed ^ 0x570_2e0).chance(30));
        hold_packets(&mut f);
    }
    choose_lanes(&mut f, draw);
    check(&f).expect("the generator makes legal networks");
    f
}

/// Gives lanes frames, priorities, reservations or tables, or several of these.
pub fn with_arbiters(fabric: &Fabric, seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x0fa_3e5);
    let mut f = with_lanes(fabric, seed);
    let character = f.link_character_ticks.iter().copied().max().unwrap_or(1);
    if draw.chance(60) {
        (f.lane_sharing, f.lane_frame_chars) = (sharing::FRAME, draw.pick(&[1, 2, 3, 7, 16, 64]));
        if draw.chance(70) {
            f.link_frame_start_ticks = (0..f.links()).map(|_| draw.between(0, 2 * character)).collect();
            f.link_frame_end_ticks = (0..f.links()).map(|_| draw.between(0, 2 * character)).collect();
        }
        if draw.chance(50) {
            f.link_column_ticks = (0..f.links()).map(|_| draw.between(1, 5 * character)).collect();
        }
    }
    draw_rules(&mut f, draw);
    other_links(&mut f, &mut draw_for(seed ^ 0x07e2_14f5));
    check(&f).expect("the generator makes legal networks");
    assert!(f.has_lane_arbiter() && f.is_by_character());
    f
}

/// Makes links of networks with frames different from others: terminals start packets on some of their lanes only, and
/// ends of packet are not filled up.
fn other_links(f: &mut Fabric, draw: &mut Draw) {
    if f.lane_sharing == sharing::FRAME && draw.chance(50) {
        f.link_lanes = (0..f.links()).map(|_| draw.pick(&[1, f.lanes])).collect();
    }
    if f.lane_sharing == sharing::FRAME && f.end_carries_data == 1 && draw.chance(70) {
        let cut = (f.character_bytes.max(1) - 1).max(1);
        let least = |link: usize| f.link_character_ticks[link].min(f.link_end_ticks[link]);
        f.link_padding_ticks = (0..f.links()).map(|link| draw.between(0, (least(link) - 1) / cut)).collect();
    }
}

/// Gives lanes priorities, reservations or tables, and time-slots.
fn draw_rules(f: &mut Fabric, draw: &mut Draw) {
    let lanes = f.lanes;
    if draw.chance(30) {
        let all: Vec<u32> =
            (0..lanes).chain((0..draw.between(0, 4)).map(|_| draw.between(0, lanes - 1))).collect();
        f.lane_table_high = draw.between(0, all.len() as u32);
        f.lane_table_chars = all.iter().map(|_| draw.pick(&[1, 2, 5, 33, 255])).collect();
        f.lane_table_lane = all;
        f.lane_table_chars.push(0);
        f.lane_table_lane.push(lanes - 1);
        f.lane_high_limit_chars = draw.pick(&[0, 1, 5, 40, NONE]);
    } else {
        if draw.chance(50) {
            f.lane_priority = (0..lanes).map(|_| draw.between(0, 3) as u8).collect();
        }
        if draw.chance(70) || f.lane_sharing != sharing::FRAME {
            f.lane_share_millionths =
                (0..lanes).map(|_| draw.pick(&[0, 1, 10_000, 250_000, 500_000])).collect();
            f.lane_credit_limit_ticks = draw.pick(&[1, 50, 2000, 1 << 40]);
        }
    }
    if draw.chance(30) {
        f.lane_slot_ticks = draw.pick(&[1, 3, 40, 1000]);
        let some = [u64::MAX, u64::MAX << 32, 0x1111_1111_1111_1111, 1 << 17];
        f.lane_slots = (0..lanes).map(|_| draw.pick(&some)).collect();
    }
}

/// Gives packets credit for all of them, and makes the network one in which each is computed as one.
pub fn with_whole_packets(fabric: &Fabric, seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0xc07_7480);
    let mut f = fabric.clone();
    f.lanes = draw.pick(&[1, 1, 1, 2, 3, 4, 16]);
    f.lane_arbiter = draw.pick(&[arbiter::ROUND_ROBIN, arbiter::ROUND_ROBIN, arbiter::FIXED]);
    f.whole_packet_credit = 1;
    f.output_queues = u8::from(draw.chance(50));
    if draw.chance(50) {
        f.link_quantum.fill(1);
    }
    f.store_and_forward = u8::from(draw_for(seed ^ 0x570_2e0).chance(30));
    pass_whole(&mut f, draw);
    hold_packets(&mut f);
    choose_lanes(&mut f, draw);
    let rules = &mut draw_for(seed ^ 0x7ab_1e5);
    if rules.chance(40) {
        draw_rules(&mut f, rules);
    }
    pause(&mut f, seed, 30);
    drops(&mut f, seed);
    pool(&mut f, seed, 30);
    let is_plain = !f.has_pause() && !f.has_faults() && f.is_by_packet();
    let room = &mut draw_for(seed ^ 0x600_3003);
    f.grant_with_room = u8::from(is_plain && room.chance(40));
    if f.grant_with_room == 1 && room.chance(50) {
        draw_rings(&mut f, room);
    }
    check(&f).expect("the generator makes legal networks");
    assert!(f.is_by_packet(), "seed {seed}");
    f
}

/// The same with queues per output and congestion control.
pub fn with_congestion(fabric: &Fabric, seed: u64) -> Fabric {
    let mut f = with_whole_packets(fabric, seed);
    f.switch_crossbar_ticks.fill(0);
    control(&mut f, seed);
    f
}

/// The same where packets need not be computed as one.
pub fn with_congestion_by_character(fabric: &Fabric, seed: u64) -> Fabric {
    let mut f = match seed % 4 {
        0 => with_pauses(fabric, seed),
        1 => with_arbiters(fabric, seed),
        _ => with_lanes(fabric, seed),
    };
    f.whole_packet_credit = 1;
    hold_packets(&mut f);
    control(&mut f, seed);
    f
}

/// Makes switches mark packets by what waits in queues per output.
fn control(f: &mut Fabric, seed: u64) {
    let draw = &mut draw_for(seed ^ 0xfec_9bec);
    f.output_queues = 1;
    f.mark_above_chars = draw.between(0, 2 * longest(f));
    f.mark_rate = draw.pick(&[0, 0, 1, 4]);
    f.mark_victims = u8::from(draw.chance(30));
    f.becn_ticks = draw.pick(&[1, 9, 100, 2000]);
    f.ccti_increase = draw.pick(&[0, 1, 1, 3, 40]);
    f.ccti_timer_ticks = draw.pick(&[1, 20, 300, 5000, 1 << 40]);
    let step = draw.pick(&[1, 3, 8, 40]);
    f.cct_eighths = (0..draw.pick(&[2, 5, 128])).map(|index| index * step).collect();
    check(f).expect("the generator makes legal networks");
}

/// The same with links that fail, or stop, or spoil characters, and with new tables.
pub fn with_congestion_and_faults(fabric: &Fabric, seed: u64, until: Time) -> Fabric {
    let f = without_pool(with_congestion(fabric, seed));
    let f = Fabric { drops: 0, grant_with_room: 0, link_ring: Vec::new(), ..f };
    let f = with_classes(&f, seed).filter(|_| seed.is_multiple_of(5)).unwrap_or(f);
    let f = match seed / 2 % 4 {
        0 => with_faults(&f, seed, until),
        1 => with_quiet_faults(&f, seed, until),
        _ => with_cuts(&f, seed, until),
    };
    if seed.is_multiple_of(2) { with_tables(&f, seed, until) } else { f }
}

/// The same with links that fail or stop without cutting many packets, with links that cut them, and with new tables.
pub fn with_whole_packets_and_faults(fabric: &Fabric, seed: u64, until: Time) -> Fabric {
    let f = without_pool(with_whole_packets(fabric, seed));
    let f = Fabric { drops: 0, grant_with_room: 0, link_ring: Vec::new(), ..f };
    let f = with_classes(&f, seed).filter(|_| seed.is_multiple_of(5)).unwrap_or(f);
    let f = match seed % 4 {
        0 => with_quiet_faults(&f, seed, until),
        1 => with_tables(&f, seed, until),
        2 => with_tables(&with_cuts(&f, seed, until), seed, until),
        _ => with_cuts(&f, seed, until),
    };
    assert!(f.is_by_packet(), "seed {seed}");
    f
}

/// Lets packets that draw a switch go there only if the queues to their destinations are longer, where they may.
pub fn by_queue(f: &mut Fabric, seed: u64) -> bool {
    let draw = &mut draw_for(seed ^ 0x0a_41ca);
    let plain = !f.has_pause() && !f.has_distributions() && f.link_deletes_address.is_empty();
    if f.via_switch.is_empty() || !plain {
        return false;
    }
    f.via_by_queue = draw.pick(&[1, 1, 2, 31]);
    check(f).expect("a choice by queues");
    true
}

/// Makes links between switches parts of rings, which need not be closed, with room for two packets or some more.
fn draw_rings(f: &mut Fabric, draw: &mut Draw) {
    let longest = longest(f);
    for link in 0..f.links() {
        let inside = !f.is_terminal(f.link_source[link]) && !f.is_terminal(f.link_target[link]);
        f.link_ring.push(if inside { draw.pick(&[0, 0, 1, NONE]) } else { NONE });
        if f.link_ring[link] != NONE {
            let least = 2 * longest + f.link_quantum[link] - 1;
            f.link_input_buffer[link] = least + draw.pick(&[0, 1, longest, 3 * longest]);
        }
    }
}

/// Gives the links of a network lanes, and lets switches pause their senders.
pub fn with_pauses(fabric: &Fabric, seed: u64) -> Fabric {
    let f = match seed % 4 {
        0 => with_whole_packets(fabric, seed),
        1 => with_arbiters(fabric, seed),
        _ => with_lanes(fabric, seed),
    };
    let f = Fabric { drops: 0, grant_with_room: 0, link_ring: Vec::new(), whole_packet_credit: 1, ..f };
    let mut f = without_pool(f);
    hold_packets(&mut f);
    pause(&mut f, seed, 100);
    check(&f).expect("the generator makes legal networks");
    f
}

/// Lets the switches of some networks pause senders.
fn pause(f: &mut Fabric, seed: u64, chance: u32) {
    let draw = &mut draw_for(seed ^ 0x0fa_15e);
    if draw.chance(chance) {
        let most = 3 * longest(f);
        f.link_pause_above = (0..f.links()).map(|_| draw.between(0, most)).collect();
        let until = f.link_pause_above.iter().map(|&above| draw.between(0, above));
        f.link_pause_until = until.collect();
    }
}

/// Lets full buffers drop packets where senders are paused, or instead.
fn drops(f: &mut Fabric, seed: u64) {
    let draw = &mut draw_for(seed ^ 0xd20_995);
    f.drops = u8::from(f.has_pause() && draw.chance(50));
    if f.drops == 1 && draw.chance(50) {
        f.link_pause_above.fill(u32::MAX);
    }
}

/// Makes the ports of switches share a memory, where senders are paused or packets dropped, in some networks.
fn pool(f: &mut Fabric, seed: u64, chance: u32) {
    let draw = &mut draw_for(seed ^ 0x0d_7a0d);
    if !f.has_pause() || !draw.chance(chance) {
        return;
    }
    let longest = longest(f);
    f.link_pause_above.fill(u32::MAX);
    f.link_pause_until.fill(u32::MAX);
    f.switch_pool_chars = (0..f.switches).map(|_| draw.between(0, 8 * longest)).collect();
    f.pool_alpha_billionths = draw.pick(&[7_812_500, 125_000_000, 500_000_000, 1_000_000_000, 8_000_000_000]);
    f.pool_reserved_chars = draw.pick(&[0, longest / 2, longest, 2 * longest]);
    f.pool_headroom_chars = draw.pick(&[0, longest, 3 * longest]);
    f.pool_pauses = u8::from(f.drops == 0 || draw.chance(50));
    f.pool_offset_chars = draw.pick(&[0, 1, longest / 2, 2 * longest]);
}

/// Gives every lane its own buffer again.
pub fn without_pool(f: Fabric) -> Fabric {
    let f = Fabric { switch_pool_chars: Vec::new(), pool_alpha_billionths: 0, pool_pauses: 0, ..f };
    Fabric { pool_reserved_chars: 0, pool_headroom_chars: 0, pool_offset_chars: 0, ..f }
}

/// Makes packets pass whole, and the ports of every switch share its memory.
pub fn with_pools(fabric: &Fabric, seed: u64) -> Fabric {
    let f = with_whole_packets(fabric, seed);
    let mut f = without_pool(Fabric { drops: 0, grant_with_room: 0, link_ring: Vec::new(), ..f });
    pause(&mut f, seed, 100);
    drops(&mut f, seed);
    pool(&mut f, seed, 100);
    check(&f).expect("the generator makes legal networks");
    f
}

/// Makes the input buffers as large as the longest packet needs.
fn hold_packets(f: &mut Fabric) {
    let longest = longest(f);
    for (buffer, quantum) in f.link_input_buffer.iter_mut().zip(&f.link_quantum) {
        *buffer = (*buffer).max(longest + quantum - 1);
    }
}

/// Meets the conditions under which packets are computed as one.
fn pass_whole(f: &mut Fabric, draw: &mut Draw) {
    f.lane_sharing = sharing::PACKET;
    let most = f.link_character_ticks.iter().copied().max().unwrap_or(1);
    f.link_arrival_ticks.iter_mut().for_each(|arrival| *arrival = (*arrival).max(most));
    if draw.chance(60) {
        f.link_character_ticks.fill(most);
    }
    f.link_end_ticks.clone_from(&f.link_character_ticks);
    let ticks = f.link_character_ticks.iter().copied().min().unwrap_or(1);
    if draw.chance(40) {
        f.link_deletes_header.fill(0);
        f.via_header_chars = 0;
    }
    let shared = f.lanes > 1 || f.output_queues == 1;
    let buffer = f.link_output_buffer.iter().copied().min().unwrap_or(1);
    for switch in 0..f.switches as usize {
        let crossbar = &mut f.switch_crossbar_ticks[switch];
        *crossbar = if shared { 0 } else { (*crossbar).min(ticks) };
        let forward = &mut f.switch_forward_ticks[switch];
        *forward = (*forward).min((buffer - 1) * ticks);
    }
    if draw.chance(30) {
        f.header_chars = 0;
    }
}

/// Characters of the longest packet.
fn longest(f: &Fabric) -> u32 {
    let sources = f.length_min.iter().chain(&f.length_max).chain(&f.length_values);
    let lists = f.list_length.iter().chain(&f.flow_length);
    let payload = sources.chain(lists).copied().max().unwrap_or(0);
    let messages = f.message_packet_bytes.max(f.message_small_packet_bytes);
    f.payload_chars(payload.max(messages)) + f.header_chars + f.via_header_chars + 1
}

/// Groups of all lanes of their links, of one, or of any.
fn choose_lanes(f: &mut Fabric, draw: &mut Draw) {
    let rule = draw.between(0, 2);
    let (mut starts, mut members) = (vec![0], Vec::new());
    for group in 0..f.groups() as u32 {
        let start = members.len();
        let links = f.group_start[group as usize] as usize..f.group_start[group as usize + 1] as usize;
        for lane in 0..f.lanes {
            for &link in &f.group_links[links.clone()] {
                let taken = match rule {
                    0 => true,
                    1 => lane == group % f.lanes,
                    _ => draw.chance(50),
                };
                if taken {
                    members.push(link * f.lanes + lane);
                }
            }
        }
        if members.len() == start {
            members.push(f.group_links[links.start] * f.lanes + draw.between(0, f.lanes - 1));
        }
        starts.push(members.len() as u32);
    }
    (f.group_start, f.group_links) = (starts, members);
}

/// Divides packets into traffic classes. Some take the even lanes of a link and the others the odd ones, if a group has
/// both; None for networks whose tables are replaced or that distribute packets.
pub fn with_classes(fabric: &Fabric, seed: u64) -> Option<Fabric> {
    let draw = &mut draw_for(seed ^ 0xc_1a55);
    let mut f = fabric.clone();
    if !f.table_route.is_empty() || f.has_distributions() {
        return None;
    }
    let (groups, classes) = (f.groups() as u32, f.classes);
    (f.group_start, f.group_links) = (vec![0], Vec::new());
    for class in 0..2 {
        for group in 0..groups {
            let lanes = fabric.group(group);
            let own: Vec<u32> = lanes.iter().copied().filter(|lane| lane % f.lanes % 2 == class).collect();
            let own = if own.is_empty() { lanes } else { &own };
            f.group_links.extend(own);
            f.group_start.push(f.group_links.len() as u32);
        }
    }
    f.group_switch.extend_from_within(..);
    let moved = |&entry: &u32| if entry == NONE { NONE } else { entry + 2 * groups };
    let rows = fabric.route.chunks(classes.max(1) as usize);
    f.route = rows.flat_map(|row| row.iter().copied().chain(row.iter().map(moved))).collect();
    f.classes = 2 * classes;
    draw_classes(&mut f, draw);
    for first in &mut f.class_headers {
        *first = if draw.chance(50) { classes } else { 0 };
    }
    if draw.chance(30) {
        draw_pairs(&mut f, draw);
    }
    check(&f).expect("the generator makes legal classes");
    Some(f)
}

/// Lets packets take one of several parts of some groups, by chance or by their source; None if no group has several lanes. Nothing else may change the
/// groups after it.
pub fn with_parts(fabric: &Fabric, seed: u64) -> Option<Fabric> {
    let draw = &mut draw_for(seed ^ 0x0d2a_0211);
    let mut f = fabric.clone();
    let groups = f.groups() as u32;
    f.group_part_start = vec![0];
    for group in 0..groups {
        let lanes = f.group(group).to_vec();
        if lanes.len() > 1 && !f.takes_all(group) && draw.chance(80) {
            let size = draw.between(1, lanes.len() as u32 / 2) as usize;
            lanes.chunks(size).for_each(|part| add_part(&mut f, part, groups));
        }
        f.group_part_start.push(f.group_parts.len() as u32);
    }
    f.group_part_start.resize(f.groups() + 1, f.group_parts.len() as u32);
    if draw.chance(30) {
        f.group_part_sources = (0..f.groups()).map(|_| draw.between(1, 3)).collect();
    }
    check(&f).expect("the generator makes legal parts");
    (!f.group_parts.is_empty()).then_some(f)
}

/// Adds a part to the last group that has one, with the lanes of another part or of its own.
fn add_part(f: &mut Fabric, lanes: &[u32], groups: u32) {
    let known = (groups..f.groups() as u32).find(|&group| f.group(group) == lanes);
    f.group_parts.push(known.unwrap_or(f.groups() as u32));
    if known.is_none() {
        f.group_switch.push(f.link_source[f.link_of(lanes[0]) as usize]);
        f.group_links.extend(lanes);
        f.group_start.push(f.group_links.len() as u32);
        f.group_all.extend(f.group_all.first().map(|_| 0));
    }
}
