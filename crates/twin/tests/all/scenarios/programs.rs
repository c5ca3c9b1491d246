//! Random programs and protocols on a fabric of either kind.

use fabriloom_engine::fabric::{
    ANY, CROSS, Fabric, LAST, NONE, acknowledge, arrival, check, is_open, operation,
};

use super::random::{Draw, draw_for};

/// An operation: kind, peer, bytes, tag, ticks.
type Row = (u8, u32, u32, u32, u64);

/// Makes random programs drive the terminals of a fabric instead of its sources. Equal seeds give equal programs.
pub fn random_programs(fabric: &Fabric, seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x9106_7a35_0000_4a7e);
    loop {
        let mut f = fabric.clone();
        f.source_arrival.fill(arrival::SILENT);
        f.event_due_ticks = vec![0; draw.between(0, 4) as usize];
        f.event_fragments = f.event_due_ticks.iter().map(|_| draw.pick(&[1, 2, 3, 8, NONE])).collect();
        protocol(&mut f, draw);
        programs(&mut f, draw);
        // Most have a receive without a matching send, or loop for ever in one tick.
        if check(&f).is_ok() {
            return f;
        }
    }
}

/// The same beside those of its sources that create packets whatever the network accepts.
pub fn random_programs_beside(fabric: &Fabric, seed: u64) -> Fabric {
    let mut f = random_programs(fabric, seed);
    for (terminal, &kind) in fabric.source_arrival.iter().enumerate().filter(|&(_, &kind)| is_open(kind)) {
        f.source_arrival[terminal] = kind;
        f.source_queue[terminal] = 0;
    }
    check(&f).expect("sources beside programs are legal");
    f
}

fn protocol(f: &mut Fabric, draw: &mut Draw) {
    let pace = f.link_character_ticks[0];
    f.message_packet_bytes = if f.has_rings() { draw.pick(&[16, 64, 256]) } else { draw.between(1, 40) };
    if draw.chance(30) {
        f.message_small_packet_bytes = draw.between(1, f.message_packet_bytes);
        f.message_small_below_bytes = draw.between(0, 100);
    }
    let kinds = if f.has_rings() { 2 } else { 1 };
    f.message_acknowledge = draw.between(0, kinds) as u8;
    f.message_messages_at_once = draw.pick(&[0, 1, 1, 2, 3, 8]);
    for limit in
        [&mut f.message_channels_at_once, &mut f.message_packets_per_channel, &mut f.message_packets_at_once]
    {
        *limit = draw.pick(&[0, 0, 1, 2, 3]);
    }
    if f.message_acknowledge == acknowledge::PACKET {
        f.message_receive_at_once = draw.pick(&[0, 0, 1, 2]);
        f.message_receive_gap_ticks = u64::from(draw.pick(&[0, 0, 1, 5, 30]) * pace);
        f.message_ack_at_head = if f.has_rings() { 0 } else { draw.pick(&[0, 1]) };
    }
    f.message_programmed = draw.pick(&[0, 0, 1]);
    f.message_ahead_bytes = draw.pick(&[0, 0, 8, 1000]);
    let mut ticks = || u64::from(draw.pick(&[0, 0, 1, 3, 20]) * pace + draw.pick(&[0, 0, 1]));
    f.message_send_ticks = ticks();
    f.message_receive_ticks = ticks();
    f.message_packet_ticks = ticks();
    f.message_bus_packet_ticks = ticks();
    f.message_ack_ticks = ticks();
    f.message_resume_ticks = ticks();
    f.message_check_ticks = ticks();
    f.message_send_gap_ticks = ticks();
    f.message_byte_ticks = draw.pick(&[0.0, 0.0, 0.3, 2.0]) * f64::from(pace);
    f.message_bus_byte_ticks = draw.pick(&[0.0, 0.0, 0.3, 2.0]) * f64::from(pace);
    if draw.chance(30) {
        costs(f, draw, pace);
    }
    f.message_bit_error_rate = draw.pick(&[0.0, 0.0, 1e-4, 1e-3]);
}

/// Host times for some sizes, among them those of messages.
fn costs(f: &mut Fabric, draw: &mut Draw, pace: u32) {
    f.cost_bytes = (1..=40).filter(|_| draw.chance(50)).collect();
    let rows = f.cost_bytes.len();
    for column in
        [&mut f.cost_send_ticks, &mut f.cost_receive_ticks, &mut f.cost_packet_ticks, &mut f.cost_gap_ticks]
    {
        *column = (0..rows).map(|_| u64::from(draw.pick(&[0, 0, 1, 3, 20, 90]) * pace)).collect();
    }
}

/// Gives channels token buckets that are often too slow.
pub fn with_shapers(fabric: &Fabric, seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x5_4a9e);
    let mut f = fabric.clone();
    f.message_shaper_byte_ticks = f64::from(f.link_character_ticks[0]) * draw.pick(&[0.3, 1.0, 2.5, 10.0]);
    let longest = f.message_packet_bytes.max(f.message_small_packet_bytes);
    f.message_shaper_bytes = longest + draw.pick(&[0, 0, 1, 100]);
    check(&f).expect("a legal protocol");
    f
}

/// Limits the bytes of messages that no receive has asked for.
pub fn with_few_unexpected(fabric: &Fabric, seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x0be_c7ed);
    let mut f = fabric.clone();
    f.message_acknowledge = acknowledge::PACKET;
    (f.message_check_ticks, f.message_bit_error_rate) = (0, 0.0);
    f.message_packets_per_channel = draw.pick(&[0, 1, 2]);
    f.message_unexpected_bytes = draw.pick(&[1, 16, 40, 100, 300]);
    check(&f).expect("a legal protocol");
    f
}

/// Makes messages longer than some of those that programs send be announced.
pub fn with_announcements(fabric: &Fabric, seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0xea_9e12);
    let mut f = fabric.clone();
    f.message_eager_bytes = draw.pick(&[1, 8, 20, 64]);
    f.message_announcement_bytes = draw.pick(&[1, 8, 16, 50]);
    check(&f).expect("a legal protocol");
    f
}

/// Makes each packet of a message choose a port, if terminals have several.
pub fn with_packets_spread(fabric: &Fabric) -> Fabric {
    let f = Fabric { message_port_per_packet: 1, message_check_ticks: 0, ..fabric.clone() };
    check(&f).expect("a legal protocol");
    f
}

/// Makes packets be sent again that are not acknowledged in time, often much too early; only if the protocol
/// acknowledges whole packets immediately.
pub fn with_resends(fabric: &Fabric, seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x0a_9a11);
    let mut f = fabric.clone();
    f.message_acknowledge = acknowledge::PACKET;
    (f.message_ack_at_head, f.message_receive_at_once, f.message_check_ticks) = (0, 0, 0);
    let pace = u64::from(f.link_character_ticks[0]);
    f.message_resend_ticks = draw.pick(&[20, 100, 400, 2000]) * pace;
    f.message_resend_limit = draw.pick(&[1, 2, 8]);
    f.message_resend_backoff = draw.pick(&[1, 1, 2, 5]);
    check(&f).expect("a legal protocol");
    f
}

fn programs(f: &mut Fabric, draw: &mut Draw) {
    f.program_start = vec![0];
    let rounds = draw.pick(&[1, 2, 3, 5, 0]);
    let (graph, more) = (draw.chance(15), draw.chance(30));
    for terminal in 0..f.terminals {
        let mut all = Vec::new();
        for stream in 0..if more { draw.between(1, 3) as u8 } else { 1 } {
            let mut rows = Vec::new();
            body(f, draw, terminal, &mut rows, 0);
            if !graph && draw.chance(60) {
                rows.insert(0, (operation::REPEAT, ANY, 0, ANY, rounds));
                rows.push((operation::END, ANY, 0, ANY, 0));
            }
            all.extend(
                rows.into_iter().filter(|row| !graph || may_be_in_graph(row)).map(|row| (stream, row)),
            );
        }
        if graph {
            draw.shuffle(&mut all);
            needs(f, draw, all.len() as u32);
        }
        for (stream, (kind, peer, bytes, tag, ticks)) in all {
            f.op_stream.push(stream);
            f.op_kind.push(kind);
            f.op_peer.push(peer);
            f.op_bytes.push(bytes);
            f.op_tag.push(tag);
            f.op_ticks.push(ticks);
        }
        f.program_start.push(f.op_kind.len() as u32);
    }
}

fn may_be_in_graph(&(kind, peer, _, tag, _): &Row) -> bool {
    let named = [peer, tag].iter().any(|one| matches!(*one, LAST | CROSS));
    !named && matches!(kind, operation::SEND | operation::RECEIVE | operation::WAIT)
}

/// Makes operations of a program wait for some of those before them.
fn needs(f: &mut Fabric, draw: &mut Draw, count: u32) {
    if f.op_needs_start.is_empty() {
        f.op_needs_start.push(0);
    }
    for at in 0..count {
        for before in (0..at).filter(|_| draw.chance(30)).collect::<Vec<_>>() {
            f.op_needs.push(before << 1 | draw.pick(&[0, 0, 1]));
        }
        f.op_needs_start.push(f.op_needs.len() as u32);
    }
}

fn body(f: &Fabric, draw: &mut Draw, terminal: u32, rows: &mut Vec<Row>, depth: u32) {
    let mut receives = false;
    for _ in 0..draw.between(0, 5) {
        let row = match draw.between(0, 15) {
            0..=6 => message(f, draw, terminal, receives),
            7..=9 => {
                receives = true;
                receive(f, draw, terminal)
            }
            10 => (operation::WAIT, ANY, 0, ANY, ticks(f, draw)),
            11 => (operation::UNTIL, ANY, 0, ANY, ticks(f, draw)),
            12 if draw.chance(30) => (operation::BARRIER, ANY, 0, ANY, 0),
            13 => (operation::FLUSH, ANY, 0, ANY, 0),
            14 if depth < 2 => {
                rows.push((operation::REPEAT, ANY, 0, ANY, u64::from(draw.between(1, 4))));
                body(f, draw, terminal, rows, depth + 1);
                (operation::END, ANY, 0, ANY, 0)
            }
            _ => (operation::MARK, ANY, 0, draw.between(0, 9), 0),
        };
        rows.push(row);
    }
}

fn ticks(f: &Fabric, draw: &mut Draw) -> u64 {
    u64::from(draw.between(0, 300) * f.link_character_ticks[0])
}

fn other(f: &Fabric, draw: &mut Draw, terminal: u32) -> u32 {
    let peer = draw.between(0, f.terminals - 2);
    peer + u32::from(peer >= terminal)
}

fn message(f: &Fabric, draw: &mut Draw, terminal: u32, receives: bool) -> Row {
    let bytes = draw.pick(&[1, 8, 16, 30, 64, 200]);
    let tag = draw.pick(&[ANY, 0, 1, 2, 3]);
    if f.has_rings() && draw.chance(20) {
        return (operation::READ, other(f, draw, terminal), bytes, tag, 0);
    }
    if receives && draw.chance(40) {
        return (operation::SEND, LAST, bytes, draw.pick(&[tag, LAST, CROSS]), 0);
    }
    (operation::SEND, other(f, draw, terminal), bytes, tag, 0)
}

fn receive(f: &Fabric, draw: &mut Draw, terminal: u32) -> Row {
    let peer = if draw.chance(20) { other(f, draw, terminal) } else { ANY };
    let tag = if draw.chance(20) { draw.between(0, 3) } else { ANY };
    (operation::RECEIVE, peer, 0, tag, 0)
}
