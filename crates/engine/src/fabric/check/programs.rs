//! Checks of programs and of their protocol.

use std::ops::Range;

use super::{Checked, Shapes, ascending, each, fail, known, of_rows, refuse};
use crate::fabric::{ANY, CROSS, Fabric, LAST, TURN, acknowledge, arrival, is_open, operation, transaction};

/// Maximum nesting of repeats.
const DEPTH: usize = 4;
/// The longest message.
const MOST_BYTES: u32 = 1 << 31;
/// The longest packet.
const MOST_PACKET: u32 = 1 << 24;
/// The longest duration, and the latest tick.
const MOST_TICKS: u64 = 1 << 50;
/// Limit of places for messages of a terminal for which a send counts as one that waits.
const MOST_UNDER_WAY: u32 = 1 << 20;
/// Limit of rounds that take no time.
const MOST_STEPS: u64 = 1 << 24;

/// Returns the shapes of the columns of programs.
pub(super) fn shapes(f: &Fabric) -> Shapes {
    let (operations, costs) = (f.op_kind.len(), f.cost_bytes.len());
    [
        of_rows!(f, any f.terminals as usize + 1; program_start),
        of_rows!(f, operations; op_peer, op_bytes, op_tag, op_ticks),
        of_rows!(f, any operations; op_stream),
        of_rows!(f, any operations + 1; op_needs_start),
        of_rows!(f, f.event_due_ticks.len(); event_fragments),
        of_rows!(f, costs; cost_send_ticks, cost_receive_ticks, cost_packet_ticks, cost_gap_ticks),
    ]
    .concat()
}

/// Refuses programs that are inconsistent.
pub(super) fn check(f: &Fabric) -> Checked {
    if !f.has_programs() {
        return match f.op_kind.len() {
            0 => Ok(()),
            rows => fail("op_kind", 0, rows, "empty without program_start"),
        };
    }
    protocol(f)?;
    announced(f)?;
    unexpected(f)?;
    costs(f)?;
    each("event_due_ticks", &f.event_due_ticks, |&due| due <= MOST_TICKS, "at most 2^50 ticks")?;
    ascending("program_start", &f.program_start, f.op_kind.len())?;
    known("op_kind", &f.op_kind, operation::LAST)?;
    if !f.op_needs_start.is_empty() {
        ascending("op_needs_start", &f.op_needs_start, f.op_needs.len())?;
    }
    for terminal in 0..f.terminals {
        beside(f, terminal as usize)?;
        let kind = f.terminal_transaction.get(terminal as usize).copied();
        if kind.is_some_and(|kind| !matches!(kind, transaction::WRITE | transaction::MOVE)) {
            return fail("terminal_transaction", terminal as usize, 2, "one that stores, for programs");
        }
        let at = |place: u32| f.program_start[place as usize] as usize;
        let program = at(terminal)..at(terminal + 1);
        program.clone().try_for_each(|row| operation(f, terminal, row))?;
        asks(f, &program)?;
        lists(f, &program)?;
        graph(f, program)?;
    }
    answered(f)
}

/// Checks the source of a terminal beside its program.
fn beside(f: &Fabric, terminal: usize) -> Checked {
    let kind = f.source_arrival[terminal];
    if kind == arrival::SILENT {
        return Ok(());
    }
    refuse(!is_open(kind), "source_arrival", terminal, kind, "silent, or open beside programs")?;
    match f.source_queue[terminal] {
        0 => Ok(()),
        places => fail("source_queue", terminal, places, "0, no limit, beside programs"),
    }
}

fn shaper(f: &Fabric) -> Checked {
    let longest = f.message_packet_bytes.max(f.message_small_packet_bytes);
    if f.message_shaper_byte_ticks > 0.0 && f.message_shaper_bytes < longest {
        return fail("message_shaper_bytes", 0, f.message_shaper_bytes, "at least the bytes of a packet");
    }
    Ok(())
}

fn protocol(f: &Fabric) -> Checked {
    let longest = [
        ("message_packet_bytes", f.message_packet_bytes, 1),
        ("message_small_packet_bytes", f.message_small_packet_bytes, 0),
    ];
    for (name, value, least) in longest {
        refuse(value < least || value > MOST_PACKET, name, 0, value, "a number of bytes, at most 2^24")?;
    }
    let ticks = [
        ("message_send_ticks", f.message_send_ticks),
        ("message_receive_ticks", f.message_receive_ticks),
        ("message_packet_ticks", f.message_packet_ticks),
        ("message_bus_packet_ticks", f.message_bus_packet_ticks),
        ("message_send_gap_ticks", f.message_send_gap_ticks),
        ("message_receive_gap_ticks", f.message_receive_gap_ticks),
        ("message_ack_ticks", f.message_ack_ticks),
        ("message_resume_ticks", f.message_resume_ticks),
        ("message_resend_ticks", f.message_resend_ticks),
        ("message_check_ticks", f.message_check_ticks),
    ];
    for (name, value) in ticks {
        refuse(value > MOST_TICKS, name, 0, value, "a duration, at most 2^50 ticks")?;
    }
    for (name, value) in [
        ("message_byte_ticks", f.message_byte_ticks),
        ("message_bus_byte_ticks", f.message_bus_byte_ticks),
        ("message_shaper_byte_ticks", f.message_shaper_byte_ticks),
    ] {
        refuse(!(0.0..=1e9).contains(&value), name, 0, value, "from 0 to 10^9 ticks")?;
    }
    shaper(f)?;
    if !(0.0..=0.01).contains(&f.message_bit_error_rate) {
        return fail("message_bit_error_rate", 0, f.message_bit_error_rate, "a probability, at most 0.01");
    }
    known("message_acknowledge", &[f.message_acknowledge], acknowledge::LAST)?;
    if f.message_acknowledge == acknowledge::RESPONSE && !f.has_rings() {
        return fail("message_acknowledge", 0, f.message_acknowledge, "one that a network without rings has");
    }
    if f.message_receive_at_once > 0 && f.message_acknowledge != acknowledge::PACKET {
        return fail(
            "message_receive_at_once",
            0,
            f.message_receive_at_once,
            "0 without acknowledging packets",
        );
    }
    if f.message_receive_gap_ticks > 0 && f.message_acknowledge != acknowledge::PACKET {
        let gap = f.message_receive_gap_ticks;
        return fail("message_receive_gap_ticks", 0, gap, "0 without acknowledging packets");
    }
    let at_head = f.message_ack_at_head;
    if at_head > 0 && (f.has_rings() || f.message_acknowledge != acknowledge::PACKET) {
        return fail(
            "message_ack_at_head",
            0,
            at_head,
            "0 unless links have packets acknowledged by packets",
        );
    }
    known("message_ack_at_head", &[at_head], 1)?;
    resends(f)?;
    spread(f)?;
    known("message_programmed", &[f.message_programmed], 1)
}

/// Checks messages over several ports.
fn spread(f: &Fabric) -> Checked {
    let spread = f.message_port_per_packet;
    if spread > 0 && (!f.has_ports() || f.message_check_ticks > 0) {
        return fail(
            "message_port_per_packet",
            0,
            spread,
            "0 unless terminals have ports and messages no check",
        );
    }
    known("message_port_per_packet", &[spread], 1)
}

/// Checks messages that are announced.
fn announced(f: &Fabric) -> Checked {
    let (eager, size) = (f.message_eager_bytes, f.message_announcement_bytes);
    if (eager > 0) != (1..MOST_BYTES).contains(&size) {
        return fail(
            "message_announcement_bytes",
            0,
            size,
            "a number of bytes, or 0 if all are sent at once",
        );
    }
    match timed_receive(f) {
        Some(row) if eager > 0 => {
            fail("op_ticks", row, f.op_ticks[row], "0, no time-out, where messages are announced")
        }
        _ => Ok(()),
    }
}

/// Checks the limit of messages that no receive has asked for.
fn unexpected(f: &Fabric) -> Checked {
    let limit = f.message_unexpected_bytes;
    let others = f.message_resend_ticks > 0 || f.message_check_ticks > 0 || timed_receive(f).is_some();
    if limit > 0 && (f.message_acknowledge != acknowledge::PACKET || others) {
        let expected = "0 unless packets acknowledge, and nothing is checked or sent again";
        return fail("message_unexpected_bytes", 0, limit, expected);
    }
    Ok(())
}

/// Returns the first receive with a time-out, if there is one.
fn timed_receive(f: &Fabric) -> Option<usize> {
    f.op_ticks.iter().zip(&f.op_kind).position(|(&ticks, &kind)| kind == operation::RECEIVE && ticks > 0)
}

/// Checks packets that are sent again.
fn resends(f: &Fabric) -> Checked {
    let (ticks, limit, backoff) = (f.message_resend_ticks, f.message_resend_limit, f.message_resend_backoff);
    if ticks == 0 {
        return match limit | backoff {
            0 => Ok(()),
            _ => fail("message_resend_limit", 0, limit, "0, like message_resend_backoff, without a time-out"),
        };
    }
    let others = [f.message_ack_at_head != 0, f.message_receive_at_once != 0, f.message_check_ticks != 0];
    if f.has_rings() || f.message_acknowledge != acknowledge::PACKET || others.contains(&true) {
        let expected = "0 unless links have whole packets acknowledged by packets, at once and unchecked";
        return fail("message_resend_ticks", 0, ticks, expected);
    }
    refuse(!(1..=64).contains(&limit), "message_resend_limit", 0, limit, "from 1 to 64")?;
    refuse(!(1..=16).contains(&backoff), "message_resend_backoff", 0, backoff, "from 1 to 16")?;
    Ok(())
}

/// Checks times by message size.
fn costs(f: &Fabric) -> Checked {
    if let Some(row) = f.cost_bytes.windows(2).position(|pair| pair[0] >= pair[1]) {
        return fail("cost_bytes", row + 1, f.cost_bytes[row + 1], "more than the row before");
    }
    let columns = [
        ("cost_send_ticks", &f.cost_send_ticks),
        ("cost_receive_ticks", &f.cost_receive_ticks),
        ("cost_packet_ticks", &f.cost_packet_ticks),
        ("cost_gap_ticks", &f.cost_gap_ticks),
    ];
    for (name, column) in columns {
        each(name, column, |&ticks| ticks <= MOST_TICKS, "at most 2^50 ticks")?;
    }
    Ok(())
}

/// Checks a program that is a graph: it has no repeats and no references to the message received last.
fn graph(f: &Fabric, program: Range<usize>) -> Checked {
    if f.op_needs_start.is_empty() {
        return Ok(());
    }
    for row in program.clone() {
        let named = by_message(f.op_peer[row]) || f.op_tag[row] >= TURN && f.op_tag[row] != ANY;
        if named || !matches!(f.op_kind[row], operation::SEND | operation::RECEIVE | operation::WAIT) {
            return fail("op_kind", row, f.op_kind[row], "a send, a receive or a wait in a graph");
        }
        let needs = f.op_needs_start[row] as usize..f.op_needs_start[row + 1] as usize;
        if let Some(at) = needs.clone().find(|&at| f.op_needs[at] as usize >> 1 >= program.len()) {
            return fail("op_needs", at, f.op_needs[at], "an operation of the same program");
        }
    }
    Ok(())
}

/// Checks the lists of a terminal, one per stream.
fn lists(f: &Fabric, program: &Range<usize>) -> Checked {
    let Some(streams) = f.op_stream.get(program.clone()).filter(|_| f.op_needs_start.is_empty()) else {
        return rounds(f, program.clone());
    };
    let odd = |&row: &usize| {
        let behind = row > program.start && f.op_stream[row] < f.op_stream[row - 1];
        behind || f.op_tag[row] == TURN && f.op_stream[row] > 0
    };
    if let Some(row) = program.clone().find(odd) {
        let expected = "not below the one before in lists, and 0 for what is sent again";
        return fail("op_stream", row, f.op_stream[row], expected);
    }
    let mut begin = program.start;
    streams.chunk_by(|one, next| one == next).try_for_each(|list| {
        begin += list.len();
        rounds(f, begin - list.len()..begin)
    })
}

/// Whether a peer is named by the message received last.
fn by_message(peer: u32) -> bool {
    matches!(peer, LAST | CROSS)
}

fn operation(f: &Fabric, terminal: u32, row: usize) -> Checked {
    let (kind, peer, bytes) = (f.op_kind[row], f.op_peer[row], f.op_bytes[row]);
    let sends = matches!(kind, operation::SEND | operation::READ);
    if sends || kind == operation::RECEIVE {
        refuse(peer == terminal, "op_peer", row, peer, "another terminal")?;
        let named = peer < f.terminals || by_message(peer) || (peer == ANY && !sends);
        refuse(!named, "op_peer", row, peer, "a terminal")?;
    }
    refuse(sends && !(1..MOST_BYTES).contains(&bytes), "op_bytes", row, bytes, "from 1 to 2^31 - 1 bytes")?;
    if kind == operation::READ && !f.has_rings() {
        return fail("op_kind", row, kind, "possible in a network without rings");
    }
    let timed = matches!(kind, operation::WAIT | operation::UNTIL);
    refuse(timed && f.op_ticks[row] > MOST_TICKS, "op_ticks", row, f.op_ticks[row], "at most 2^50 ticks")?;
    Ok(())
}

/// Checks that receives with time-outs follow the sends that they repeat, and are the only ones of their program.
fn asks(f: &Fabric, program: &Range<usize>) -> Checked {
    let receives = |row: &usize| f.op_kind[*row] == operation::RECEIVE;
    let timed = |row: &usize| receives(row) && f.op_ticks[*row] > 0;
    for row in program.clone() {
        let before = row.checked_sub(1).filter(|before| program.contains(before));
        let answers = before.is_some_and(|before| {
            let same = f.op_peer[before] == f.op_peer[row] && f.op_tag[before] == TURN;
            f.op_kind[before] == operation::SEND && same && f.op_tag[row] == TURN
        });
        let limits = f.op_ticks[row] <= MOST_TICKS && f.op_bytes[row] <= 64;
        if timed(&row) && !(answers && limits && f.message_resend_ticks == 0 && !f.has_rings()) {
            return fail(
                "op_ticks",
                row,
                f.op_ticks[row],
                "0, or a receive behind the send that it does again",
            );
        }
        let next = program.contains(&(row + 1)) && timed(&(row + 1));
        if f.op_tag[row] == TURN && !timed(&row) && !next {
            return fail("op_tag", row, TURN, "another tag without a receive with a time-out");
        }
    }
    match program.clone().filter(receives).find(|row| !timed(row)) {
        Some(row) if program.clone().any(|row| timed(&row)) => {
            fail("op_ticks", row, 0, "a time-out, like other receives of its program")
        }
        _ => Ok(()),
    }
}

/// The repeat under inspection.
struct Open {
    row: usize,
    steps: u64,
    /// Whether a round takes time.
    waits: bool,
}

/// Checks that repeats have ends, are not nested too deep, and do not loop for ever without time passing.
fn rounds(f: &Fabric, program: Range<usize>) -> Checked {
    let last = program.end;
    let mut open: Vec<Open> = vec![Open { row: program.start, steps: 0, waits: false }];
    for row in program {
        let inner = open.len() - 1;
        match f.op_kind[row] {
            operation::REPEAT if inner == DEPTH => {
                return fail("op_kind", row, 4, "at most four repeats deep");
            }
            operation::REPEAT => open.push(Open { row, steps: 0, waits: false }),
            operation::END if inner == 0 => return fail("op_kind", row, 5, "an end of something repeated"),
            operation::END => {
                let Some(one) = open.pop() else { return Ok(()) };
                let times = f.op_ticks[one.row];
                let steps = one.steps.saturating_add(1).saturating_mul(times);
                if !one.waits && (times == 0 || steps > MOST_STEPS) {
                    return fail("op_kind", one.row, 4, "a repeat in which time passes");
                }
                if times == 0 && row + 1 < last && f.op_kind[row + 1] != operation::END {
                    return fail(
                        "op_kind",
                        row + 1,
                        f.op_kind[row + 1],
                        "reached: what is before has no end",
                    );
                }
                let outer = &mut open[inner - 1];
                outer.waits |= one.waits;
                outer.steps = outer.steps.saturating_add(if one.waits { 0 } else { steps });
            }
            _ => {
                open[inner].waits |= takes_time(f, row);
                open[inner].steps = open[inner].steps.saturating_add(1);
            }
        }
    }
    match open.get(1) {
        Some(one) => fail("op_kind", one.row, 4, "a repeat with an end"),
        None => Ok(()),
    }
}

/// Whether time passes in an operation, however often it is executed.
fn takes_time(f: &Fabric, row: usize) -> bool {
    match f.op_kind[row] {
        operation::RECEIVE | operation::READ => true,
        operation::SEND => {
            (1..=MOST_UNDER_WAY).contains(&f.message_messages_at_once) || send_ticks(f, f.op_bytes[row]) > 0
        }
        operation::WAIT => f.op_ticks[row] > 0,
        _ => false,
    }
}

/// Returns the host's time to send a message of this many bytes.
fn send_ticks(f: &Fabric, bytes: u32) -> u64 {
    f.cost_bytes.binary_search(&bytes).map_or(f.message_send_ticks, |row| f.cost_send_ticks[row])
}

/// Checks that for every receive a matching message is sent.
fn answered(f: &Fabric) -> Checked {
    let mut wanted: Vec<[u32; 3]> = Vec::new();
    let anyone = |value: u32| if by_message(value) || value == TURN { ANY } else { value };
    let each = |mut visit: Box<dyn FnMut(u32, usize) + '_>| {
        for terminal in 0..f.terminals {
            let at = |place: u32| f.program_start[place as usize] as usize;
            (at(terminal)..at(terminal + 1)).for_each(|row| visit(terminal, row));
        }
    };
    let key = |terminal: u32, row: usize| [terminal, anyone(f.op_peer[row]), anyone(f.op_tag[row])];
    each(Box::new(|terminal, row| {
        if f.op_kind[row] == operation::RECEIVE {
            wanted.push(key(terminal, row));
        }
    }));
    wanted.sort_unstable();
    wanted.dedup();
    let mut found = vec![false; wanted.len()];
    let mut anywhere: Vec<u32> = Vec::new();
    each(Box::new(|terminal, row| {
        let (target, tag) = (f.op_peer[row], f.op_tag[row]);
        if f.op_kind[row] != operation::SEND {
            return;
        }
        if by_message(target) {
            anywhere.push(terminal);
            return;
        }
        for source in [terminal, ANY] {
            let of = |tag: u32| [target, source, tag];
            let rows =
                wanted.partition_point(|row| *row < of(0))..wanted.partition_point(|row| *row <= of(ANY));
            for place in rows {
                let same =
                    wanted[place][2] == tag || wanted[place][2] == ANY || by_message(tag) || tag == TURN;
                found[place] |= same;
            }
        }
    }));
    anywhere.dedup();
    let reached = |[_, source, _]: &[u32; 3]| {
        !anywhere.is_empty() && (*source == ANY || anywhere.binary_search(source).is_ok())
    };
    let Some(place) = (0..wanted.len()).find(|&place| !found[place] && !reached(&wanted[place])) else {
        return Ok(());
    };
    let program = f.program_start[wanted[place][0] as usize] as usize;
    let row = (program..f.op_kind.len())
        .find(|&row| f.op_kind[row] == operation::RECEIVE && key(wanted[place][0], row) == wanted[place])
        .unwrap_or(program);
    fail("op_kind", row, operation::RECEIVE, "a receive for which a program sends something")
}
