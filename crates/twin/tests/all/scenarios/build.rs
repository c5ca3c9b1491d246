//! Fabrics built by hand, cable by cable.

use fabriloom_engine::fabric::{Fabric, NONE, arbiter, arrival, choice, fault_kind, length, target};

/// Both directions of a cable and the buffers at their ends.
#[derive(Clone, Copy, Debug)]
pub struct Cable {
    pub character_ticks: u32,
    pub end_ticks: u32,
    pub arrival_ticks: u32,
    pub credit_ticks: u32,
    pub output_buffer: u32,
    pub input_buffer: u32,
    pub quantum: u32,
    pub flow_control_ticks: u32,
}

/// A DS-Link with a tick of one bit, flow control ignored, and a cable without delay.
pub const DS_LINK: Cable = Cable {
    character_ticks: 10,
    end_ticks: 4,
    arrival_ticks: 10,
    credit_ticks: 4,
    output_buffer: 23,
    input_buffer: 43,
    quantum: 8,
    flow_control_ticks: 4,
};

/// A link of flits: one tick per character, no cable delay, and buffers that seldom fill.
pub const FLIT: Cable = Cable {
    character_ticks: 1,
    end_ticks: 1,
    arrival_ticks: 1,
    credit_ticks: 1,
    output_buffer: 1,
    input_buffer: 100,
    quantum: 1,
    flow_control_ticks: 0,
};

/// The parameters of a switch.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    pub decode_ticks: u32,
    pub crossbar_ticks: u32,
    pub handover_ticks: u32,
    pub next_head_ticks: u32,
    pub forward_ticks: u32,
    pub arbiter: u8,
    pub choice: u8,
}

/// A C104 with a tick of one bit.
pub const C104: Switch = Switch {
    decode_ticks: 80,
    crossbar_ticks: 0,
    handover_ticks: 1,
    next_head_ticks: 1,
    forward_ticks: 20,
    arbiter: arbiter::FIFO,
    choice: choice::FIRST,
};

/// A switch at which heads request as soon as they have arrived.
pub const FLIT_SWITCH: Switch = Switch { decode_ticks: 0, forward_ticks: 0, ..C104 };

/// A fabric whose every class leads to one terminal, without links, routes and traffic.
pub fn empty(switches: &[Switch], terminals: u32, classes: u32) -> Fabric {
    let each = terminals as usize;
    Fabric {
        tick_ps: 10_000.0,
        grain_ticks: 1,
        switches: switches.len() as u32,
        terminals,
        classes,
        header_chars: 1,
        via_header_chars: 1,
        seed: 1,
        lanes: 1,
        switch_decode_ticks: switches.iter().map(|s| s.decode_ticks).collect(),
        switch_crossbar_ticks: switches.iter().map(|s| s.crossbar_ticks).collect(),
        switch_handover_ticks: switches.iter().map(|s| s.handover_ticks).collect(),
        switch_next_head_ticks: switches.iter().map(|s| s.next_head_ticks).collect(),
        switch_forward_ticks: switches.iter().map(|s| s.forward_ticks).collect(),
        switch_arbiter: switches.iter().map(|s| s.arbiter).collect(),
        switch_choice: switches.iter().map(|s| s.choice).collect(),
        group_start: vec![0],
        route: vec![NONE; switches.len() * classes as usize],
        terminal_class: (0..terminals).collect(),
        terminal_out_link: vec![NONE; each],
        terminal_in_link: vec![NONE; each],
        source_arrival: vec![arrival::SILENT; each],
        source_interval_grains: vec![0.0; each],
        source_burst: vec![1.0; each],
        source_gap_grains: vec![0.0; each],
        source_queue: vec![0; each],
        source_target: vec![target::UNIFORM; each],
        target_fixed: vec![0; each],
        target_share: vec![0.0; each],
        source_length: vec![length::FIXED; each],
        length_min: vec![0; each],
        length_max: vec![0; each],
        ..Fabric::default()
    }
}

/// Adds a link from `a` to `b`, without its reverse.
pub fn add_link(f: &mut Fabric, a: u32, b: u32, cable: Cable) -> u32 {
    let link = f.links() as u32;
    f.link_source.push(a);
    f.link_target.push(b);
    f.link_character_ticks.push(cable.character_ticks);
    f.link_end_ticks.push(cable.end_ticks);
    f.link_arrival_ticks.push(cable.arrival_ticks);
    f.link_credit_ticks.push(cable.credit_ticks);
    f.link_output_buffer.push(cable.output_buffer);
    f.link_input_buffer.push(cable.input_buffer);
    f.link_quantum.push(cable.quantum);
    f.link_flow_control_ticks.push(cable.flow_control_ticks);
    f.link_reverse.push(NONE);
    f.link_deletes_header.push(0);
    if f.is_terminal(a) {
        f.terminal_out_link[(a - f.switches) as usize] = link;
    }
    if f.is_terminal(b) {
        f.terminal_in_link[(b - f.switches) as usize] = link;
    }
    link
}

/// Adds a cable from `a` to `b`; returns the link there and the link back.
pub fn add_cable(f: &mut Fabric, a: u32, b: u32, cable: Cable) -> (u32, u32) {
    let (there, back) = (add_link(f, a, b, cable), add_link(f, b, a, cable));
    f.link_reverse[there as usize] = back;
    f.link_reverse[back as usize] = there;
    (there, back)
}

/// Adds a group of links, or finds the one that has the same links in the same order.
pub fn add_group(f: &mut Fabric, links: &[u32]) -> u32 {
    if let Some(group) = (0..f.groups() as u32).find(|&group| f.group(group) == links) {
        return group;
    }
    f.group_switch.push(f.link_source[links[0] as usize]);
    f.group_links.extend_from_slice(links);
    f.group_start.push(f.group_links.len() as u32);
    f.groups() as u32 - 1
}

/// Routes a class at a switch to a group of links.
pub fn set_route(f: &mut Fabric, switch: u32, class: u32, links: &[u32], strip: bool) {
    let group = add_group(f, links);
    f.route[(switch * f.classes + class) as usize] = group * 2 + u32::from(strip);
}

/// A row of switches with one terminal at each end; no switch at all is a cable between the terminals.
pub fn line(switches: &[Switch], cable: Cable) -> Fabric {
    let count = switches.len() as u32;
    let mut f = empty(switches, 2, 2);
    let vertices: Vec<u32> = std::iter::once(count).chain(0..count).chain([count + 1]).collect();
    let cables: Vec<(u32, u32)> =
        vertices.windows(2).map(|pair| add_cable(&mut f, pair[0], pair[1], cable)).collect();
    for switch in 0..count {
        set_route(&mut f, switch, 1, &[cables[switch as usize + 1].0], false);
        set_route(&mut f, switch, 0, &[cables[switch as usize].1], false);
    }
    f
}

/// One switch with terminals around it.
pub fn crossbar(switch: Switch, terminals: u32, cable: Cable) -> Fabric {
    let mut f = empty(&[switch], terminals, terminals);
    for terminal in 0..terminals {
        let (inward, _) = add_cable(&mut f, 0, 1 + terminal, cable);
        set_route(&mut f, 0, terminal, &[inward], false);
    }
    f
}

/// Makes a terminal send the packets of a list once: (destination, payload characters, wait in ticks after it).
pub fn send_list(f: &mut Fabric, lists: &[&[(u32, u32, u64)]]) {
    f.list_start = vec![0];
    f.list_repeat = vec![0; lists.len()];
    for (terminal, list) in lists.iter().enumerate() {
        for &(to, chars, wait) in *list {
            f.list_target.push(to);
            f.list_length.push(chars);
            f.list_wait_ticks.push(wait);
        }
        f.list_start.push(f.list_target.len() as u32);
        f.source_arrival[terminal] = arrival::LIST;
    }
}

/// Gives all terminals the same kind of traffic to uniformly random destinations, all packets of one length.
pub fn send_uniform(f: &mut Fabric, kind: u8, interval_ticks: f64, chars: u32) {
    f.source_arrival.fill(kind);
    f.source_interval_grains.fill(interval_ticks);
    f.length_min.fill(chars);
    f.length_max.fill(chars);
}

/// Makes a link fail; the received part of its packet is ended at a tick.
pub fn failing(f: &mut Fabric, link: u32, down: u64, ended: u64, up: u64) {
    f.fault_link.push(link);
    f.fault_down_ticks.push(down);
    f.fault_ended_ticks.push(ended);
    f.fault_up_ticks.push(up);
    f.fault_kind.push(fault_kind::LINK);
}

/// A square grid of switches with two cables between neighbours and dimension-order routes, columns first.
pub fn grid(side: u32, terminals_per_switch: u32, switch: Switch, cable: Cable) -> Fabric {
    let switches = vec![switch; (side * side) as usize];
    let terminals = side * side * terminals_per_switch;
    let mut f = empty(&switches, terminals, terminals);
    let mut towards = std::collections::HashMap::<(u32, u32), Vec<u32>>::new();
    for from in 0..side * side {
        let right = (from % side + 1 < side).then_some(from + 1);
        let down = (from / side + 1 < side).then_some(from + side);
        for to in right.into_iter().chain(down).flat_map(|to| [to, to]) {
            let (there, back) = add_cable(&mut f, from, to, cable);
            towards.entry((from, to)).or_default().push(there);
            towards.entry((to, from)).or_default().push(back);
        }
    }
    for terminal in 0..terminals {
        let home = terminal / terminals_per_switch;
        let (inward, _) = add_cable(&mut f, home, side * side + terminal, cable);
        set_route(&mut f, home, terminal, &[inward], false);
        for at in (0..side * side).filter(|&at| at != home) {
            let next = match (at % side).cmp(&(home % side)) {
                std::cmp::Ordering::Less => at + 1,
                std::cmp::Ordering::Greater => at - 1,
                std::cmp::Ordering::Equal if at < home => at + side,
                std::cmp::Ordering::Equal => at - side,
            };
            set_route(&mut f, at, terminal, &towards[&(at, next)], false);
        }
    }
    f
}
