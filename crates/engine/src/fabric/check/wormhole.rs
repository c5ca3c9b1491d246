//! Checks of wormhole networks: switches, groups and routes.

use super::{Checked, MOST_TICKS, Shapes, ascending, below, between, fail, known, of_rows, pause, refuse};
use crate::fabric::{Fabric, MOST_LANES, NONE, OWN, arbiter, choice, length, sharing};

/// Refuses arrays that do not describe a wormhole network.
pub fn check(fabric: &Fabric) -> Checked {
    lanes(fabric)?;
    lane_arbiter(fabric)?;
    links(fabric)?;
    other_links(fabric)?;
    groups(fabric)?;
    routes(fabric)?;
    for (column, values, most) in [
        ("switch_arbiter", &fabric.switch_arbiter, arbiter::LAST),
        ("switch_choice", &fabric.switch_choice, choice::LAST),
    ] {
        known(column, values, most)?;
    }
    known("port_priority", &fabric.port_priority, 1)?;
    pause::check(fabric)?;
    with_room(fabric)?;
    congestion(fabric)?;
    by_queue(fabric)
}

/// Returns the shapes of the columns that only wormhole networks have.
pub fn shapes(f: &Fabric) -> Shapes {
    let (switches, ports, links) = (f.switches as usize, f.ports() as usize, f.links());
    let routes = if f.route_start.is_empty() { switches * f.columns() } else { f.route_end.len() };
    let runs = if f.route_start.is_empty() { 0 } else { f.route.len() };
    [
        of_rows!(f, switches; switch_decode_ticks, switch_crossbar_ticks, switch_forward_ticks),
        of_rows!(f, switches; switch_handover_ticks, switch_next_head_ticks, switch_arbiter, switch_choice),
        of_rows!(f, any switches; switch_pool_chars),
        of_rows!(f, links; link_end_ticks, link_credit_ticks, link_output_buffer, link_input_buffer),
        of_rows!(f, links; link_quantum, link_flow_control_ticks),
        of_rows!(f, if f.has_pause() { links } else { 0 }; link_pause_above),
        of_rows!(f, f.link_pause_above.len(); link_pause_until),
        of_rows!(f, links; link_reverse),
        of_rows!(f, any links; link_ring, link_frame_start_ticks),
        of_rows!(f, f.link_frame_start_ticks.len(); link_frame_end_ticks),
        of_rows!(f, any links; link_column_ticks, link_padding_ticks, link_lanes),
        of_rows!(f, any f.lanes as usize; lane_priority, lane_share_millionths, lane_slots),
        of_rows!(f, f.lane_table_lane.len(); lane_table_chars, lane_table_lane),
        of_rows!(f, links; link_deletes_header),
        of_rows!(f, f.groups(); group_switch),
        of_rows!(f, f.group_links.len(); group_links),
        of_rows!(f, f.via_switch.len(); via_switch),
        of_rows!(f, f.groups() + 1; group_start),
        of_rows!(f, routes; route),
        of_rows!(f, any switches + 1; route_start),
        of_rows!(f, runs; route_end),
        of_rows!(f, any f.classes as usize; class_column),
        of_rows!(f, f.class_column.len(); class_exit),
        of_rows!(f, ports + f.distributions() as usize; terminal_class),
        of_rows!(f, any ports; port_priority),
        of_rows!(f, f.via_switch.len(); via_class),
    ]
    .concat()
}

fn lanes(f: &Fabric) -> Checked {
    refuse(!(1..=MOST_LANES).contains(&f.lanes), "lanes", 0, f.lanes, "from 1 to 16")?;
    known("lane_sharing", &[f.lane_sharing], sharing::LAST)?;
    known("whole_packet_credit", &[f.whole_packet_credit], 1)?;
    known("store_and_forward", &[f.store_and_forward], f.whole_packet_credit)?;
    known("output_queues", &[f.output_queues], f.whole_packet_credit)?;
    if f.lanes > 1 && !matches!(f.lane_arbiter, arbiter::ROUND_ROBIN | arbiter::FIXED) {
        return fail("lane_arbiter", 0, f.lane_arbiter, "round robin or fixed");
    }
    Ok(())
}

/// Refuses frames without characters, lanes in no table, and kinds of order that exclude each other.
fn lane_arbiter(f: &Fabric) -> Checked {
    if (f.lane_sharing == sharing::FRAME) != (f.lane_frame_chars > 0) {
        let expected = "above 0 if lanes share by frame, and only then";
        return fail("lane_frame_chars", 0, f.lane_frame_chars, expected);
    }
    let row = |lane: &u32| *lane >= f.lanes;
    if let Some(at) = f.lane_table_lane.iter().position(row) {
        return fail("lane_table_lane", at, f.lane_table_lane[at], "a lane of a link");
    }
    if f.lane_table_high as usize > f.lane_table_lane.len() {
        return fail("lane_table_high", 0, f.lane_table_high, "at most the rows of lane_table_lane");
    }
    let rows = || f.lane_table_lane.iter().zip(&f.lane_table_chars);
    let sends = |lane: u32| rows().any(|(&row, &chars)| row == lane && chars > 0);
    if let Some(lane) = (0..f.lanes).find(|&lane| rows().len() > 0 && !sends(lane)) {
        return fail("lane_table_chars", 0, format!("nothing for lane {lane}"), "something for every lane");
    }
    between("lane_share_millionths", &f.lane_share_millionths, 0, 1_000_000, "at most a million")?;
    let by_share = !f.lane_share_millionths.is_empty();
    if rows().len() > 0 && (by_share || !f.lane_priority.is_empty()) {
        return fail("lane_table_lane", 0, f.lane_table_lane[0], "empty beside priorities and reservations");
    }
    if let Some(lane) = f.lane_slots.iter().position(|&slots| slots == 0) {
        return fail("lane_slots", lane, 0, "at least one time-slot");
    }
    if f.lane_slots.is_empty() != (f.lane_slot_ticks == 0) || f.lane_slot_ticks > 1 << 40 {
        return fail("lane_slot_ticks", 0, f.lane_slot_ticks, "from 1 to 2^40 with time-slots, else 0");
    }
    let limit = f.lane_credit_limit_ticks;
    if by_share != (limit > 0) || limit > 1 << 40 {
        return fail("lane_credit_limit_ticks", 0, limit, "from 1 to 2^40 with reservations, else 0");
    }
    Ok(())
}

/// Refuses grants that wait for room where packets are not computed as one, and where room is not credit or is lost.
fn with_room(f: &Fabric) -> Checked {
    known("grant_with_room", &[f.grant_with_room], 1)?;
    if f.grant_with_room == 1 && (!f.is_by_packet() || f.has_pause() || f.may_lose()) {
        let expected =
            "0, unless packets are computed as one, no link fails and no switch pauses its senders";
        return fail("grant_with_room", 0, 1, expected);
    }
    if f.grant_with_room == 0 && !f.link_ring.is_empty() {
        return fail("link_ring", 0, f.link_ring[0], "empty without grant_with_room");
    }
    let longest = f.longest_chars();
    let in_ring = |&link: &usize| f.link_ring[link] != NONE;
    match (0..f.link_ring.len()).filter(in_ring).find(|&link| f.places(link as u32, longest) < 2) {
        Some(link) => {
            let expected = "two of the longest packets and a quantum less one, in a ring";
            fail("link_input_buffer", link, f.link_input_buffer[link], expected)
        }
        None => Ok(()),
    }
}

/// Refuses congestion control without queues to count, and settings that it cannot have.
fn congestion(f: &Fabric) -> Checked {
    known("mark_victims", &[f.mark_victims], 1)?;
    let entries = f.cct_eighths.len();
    let counted = f.output_queues == 1 && !f.has_distributions() && f.link_deletes_address.is_empty();
    if entries == 1 || entries > 1 << 16 || entries > 0 && !counted {
        let expected = "empty, or 2 to 65,536 entries with queues per output, where no packet is copied or loses an address";
        return fail("cct_eighths", 0, entries, expected);
    }
    between("cct_eighths", &f.cct_eighths, 0, 1 << 20, "at most 2^20")?;
    for (name, ticks) in [("becn_ticks", f.becn_ticks), ("ccti_timer_ticks", f.ccti_timer_ticks)] {
        if (entries > 0) != (ticks > 0) || ticks > 1 << 40 {
            return fail(name, 0, ticks, "from 1 to 2^40 with congestion control, else 0");
        }
    }
    Ok(())
}

/// Refuses a choice by queues where these are not counted.
fn by_queue(f: &Fabric) -> Checked {
    let counted = f.is_by_packet() || f.is_by_character();
    let others = f.has_pause() || f.has_distributions() || !f.link_deletes_address.is_empty();
    if f.via_by_queue > 0 && (!counted || others || f.via_switch.is_empty()) {
        let expected =
            "0, unless links have lanes, packets draw switches and no sender is paused, no packet copied";
        return fail("via_by_queue", 0, f.via_by_queue, expected);
    }
    Ok(())
}

fn links(f: &Fabric) -> Checked {
    between("link_end_ticks", &f.link_end_ticks, 1, MOST_TICKS, "a positive duration")?;
    between("link_credit_ticks", &f.link_credit_ticks, 1, MOST_TICKS, "a positive duration")?;
    between("link_frame_start_ticks", &f.link_frame_start_ticks, 0, MOST_TICKS, "a duration")?;
    between("link_frame_end_ticks", &f.link_frame_end_ticks, 0, MOST_TICKS, "a duration")?;
    between("link_column_ticks", &f.link_column_ticks, 1, MOST_TICKS, "a positive duration")?;
    between("link_flow_control_ticks", &f.link_flow_control_ticks, 0, MOST_TICKS, "a duration")?;
    between("link_output_buffer", &f.link_output_buffer, 1, 1 << 20, "from 1 to 2^20 characters")?;
    between("link_quantum", &f.link_quantum, 1, 1 << 20, "from 1 to 2^20 characters")?;
    between("switch_decode_ticks", &f.switch_decode_ticks, 0, MOST_TICKS, "a duration")?;
    between("switch_crossbar_ticks", &f.switch_crossbar_ticks, 0, MOST_TICKS, "a duration")?;
    between("switch_forward_ticks", &f.switch_forward_ticks, 0, MOST_TICKS, "a duration")?;
    between("switch_handover_ticks", &f.switch_handover_ticks, 1, MOST_TICKS, "a positive duration")?;
    between("switch_next_head_ticks", &f.switch_next_head_ticks, 0, MOST_TICKS, "a duration")?;
    for switch in 0..f.switches as usize {
        let next_head = f.switch_next_head_ticks[switch];
        if next_head + f.switch_decode_ticks[switch] < f.switch_crossbar_ticks[switch].max(1) {
            let expected = "with the decoding at least a tick, and as long as the crossbar takes";
            return fail("switch_next_head_ticks", switch, next_head, expected);
        }
    }
    let header = f.header_chars.max(f.via_header_chars);
    for link in 0..f.links() {
        let (buffer, quantum) = (f.link_input_buffer[link], f.link_quantum[link]);
        // Otherwise a header that ends in the next quantum waits for ever, because its beginning keeps the buffer from
        // promising that quantum.
        if buffer < quantum + header.saturating_sub(1) || buffer > 1 << 20 {
            return fail(
                "link_input_buffer",
                link,
                buffer,
                "at least a quantum and a header less one, at most 2^20",
            );
        }
        if f.link_source[link] == f.link_target[link] {
            return fail("link_target", link, f.link_target[link], "another vertex than link_source");
        }
        let reverse = f.link_reverse[link];
        if reverse != NONE && f.link_reverse.get(reverse as usize) != Some(&(link as u32)) {
            return fail("link_reverse", link, reverse, "a link whose reverse is this one");
        }
    }
    Ok(())
}

/// Refuses links that differ from others where lanes do not share by frame, and ends of packet without time.
fn other_links(f: &Fabric) -> Checked {
    let framed = f.lane_sharing == sharing::FRAME;
    if !framed && !f.link_lanes.is_empty() {
        return fail("link_lanes", 0, f.link_lanes[0], "empty, unless lanes share by frame");
    }
    between("link_lanes", &f.link_lanes, 1, f.lanes, "from 1 to lanes")?;
    let cut = u64::from(f.character_bytes.max(1) - 1);
    for (link, &ticks) in f.link_padding_ticks.iter().enumerate() {
        let least = f.link_character_ticks[link].min(f.link_end_ticks[link]);
        let fits = framed && f.end_carries_data == 1 && u64::from(ticks) * cut < u64::from(least);
        if ticks > 0 && !fits {
            let expected = "0, or with frames and end_carries_data less than an end takes";
            return fail("link_padding_ticks", link, ticks, expected);
        }
    }
    Ok(())
}

fn groups(f: &Fabric) -> Checked {
    ascending("group_start", &f.group_start, f.group_links.len())?;
    below("group_switch", &f.group_switch, f.switches as usize, "a switch")?;
    below("group_links", &f.group_links, f.all_lanes(), "a lane")?;
    for group in 0..f.groups() {
        let lanes = f.group(group as u32);
        if lanes.is_empty() {
            return fail("group_start", group, f.group_start[group], "the start of at least one lane");
        }
        let leaves = |lane: u32| f.link_source[f.link_of(lane) as usize];
        if let Some(lane) = lanes.iter().find(|&&lane| leaves(lane) != f.group_switch[group]) {
            return fail("group_links", group, lane, "a lane of a link that leaves the group's switch");
        }
    }
    Ok(())
}

fn routes(f: &Fabric) -> Checked {
    below("terminal_class", &f.terminal_class, f.classes as usize, "a class")?;
    below("via_class", &f.via_class, f.classes as usize, "a class")?;
    below("via_switch", &f.via_switch, f.switches as usize, "a switch")?;
    let most = f.terminal_class.iter().chain(&f.via_class).max().copied().unwrap_or(0);
    below(
        "class_headers",
        &f.class_headers,
        (f.classes - most.min(f.classes)) as usize,
        "0, or a class less those of headers",
    )?;
    let columns = f.columns().max(1);
    below("class_column", &f.class_column, columns, "a column")?;
    if !f.route_start.is_empty() {
        return runs(f);
    }
    let fits =
        |entry: u32, switch: usize| f.group_switch.get((entry >> 1) as usize) == Some(&(switch as u32));
    // Per column: the switch where each class has its own entry.
    let mut last = vec![NONE; if f.class_column.is_empty() { 0 } else { columns }];
    for (name, entries) in [("route", &f.route), ("table_route", &f.table_route)] {
        for (row, &entry) in entries.iter().enumerate().filter(|&(_, &entry)| entry != NONE) {
            let switch = row % f.route.len().max(1) / columns;
            if entry == OWN && last.get(row % columns) == Some(&NONE) {
                last[row % columns] = switch as u32;
            } else if !fits(entry, switch) {
                return fail(name, row, entry, "a group of its own switch");
            }
        }
    }
    exits(f, &last)
}

/// Refuses exits of classes from another switch than their column leads to; `last`: that of each column.
fn exits(f: &Fabric, last: &[u32]) -> Checked {
    for (class, (&column, &exit)) in f.class_column.iter().zip(&f.class_exit).enumerate() {
        let switch = last[column as usize];
        if switch != NONE && f.group_switch.get(exit as usize >> 1) != Some(&switch) {
            return fail("class_exit", class, exit, "a group of the switch that its column leads to");
        }
    }
    Ok(())
}

/// Refuses rows of runs that are not all columns, one after the other, or have entries of other switches.
fn runs(f: &Fabric) -> Checked {
    ascending("route_start", &f.route_start, f.route.len())?;
    refuse(f.class_column.is_empty(), "route_start", 0, f.route_start[0], "nothing without class_column")?;
    let columns = f.columns() as u32;
    let fits = |entry: u32, switch: usize| f.group_switch.get(entry as usize >> 1) == Some(&(switch as u32));
    // Per column: the switch where each class has its own entry.
    let mut last = vec![NONE; columns as usize];
    for switch in 0..f.switches as usize {
        let first = f.route_start[switch] as usize;
        let (ends, entries) = f.runs_of(switch).expect("there are runs");
        let mut begin = 0;
        for (place, (&end, &entry)) in ends.iter().zip(entries).enumerate() {
            if end <= begin || end > columns || (place + 1 == ends.len()) != (end == columns) {
                return fail(
                    "route_end",
                    first + place,
                    end,
                    "ascending, the last one of a switch all columns",
                );
            }
            let own = &mut last[std::mem::replace(&mut begin, end) as usize..end as usize];
            if entry == OWN && own.iter().all(|&other| other == NONE) {
                own.fill(switch as u32);
            } else if entry != NONE && !fits(entry, switch) {
                return fail("route", first + place, entry, "a group of its own switch");
            }
        }
        refuse(ends.is_empty(), "route_start", switch, first, "less than the next")?;
    }
    exits(f, &last)
}

/// Refuses input buffers that cannot hold a whole packet and a started quantum, if packets wait for credit for all of
/// them.
pub fn whole_packets(f: &Fabric) -> Checked {
    if f.whole_packet_credit == 0 {
        return Ok(());
    }
    let longest = f.longest_chars();
    let enters_switch = |link: &usize| !f.is_terminal(f.link_target[*link]);
    let holds = |link: usize| u64::from(f.link_input_buffer[link]) + 1 - u64::from(f.link_quantum[link]);
    match (0..f.links()).filter(enters_switch).find(|&link| holds(link) < longest) {
        Some(link) => {
            let expected = "the longest packet and a quantum less one, with whole_packet_credit";
            fail("link_input_buffer", link, f.link_input_buffer[link], expected)
        }
        None => Ok(()),
    }
}

impl Fabric {
    /// Returns the characters of the longest packet that any source or program may send, with headers and end.
    pub fn longest_chars(&self) -> u64 {
        let via = if self.via_switch.is_empty() { 0 } else { self.via_header_chars };
        let payload = self.payload_chars(longest_payload(self));
        u64::from(payload) + u64::from(self.header_chars) + u64::from(via) + 1
    }
}

/// Returns the payload of the longest packet that any source or program may send, in bytes.
fn longest_payload(f: &Fabric) -> u32 {
    let rows = 0..f.source_length.len();
    let own =
        rows.filter(|&row| f.source_length[row] != length::TABLE).map(|row| match f.source_length[row] {
            length::UNIFORM => f.length_max[row],
            _ => f.length_min[row],
        });
    let table = f.source_length.contains(&length::TABLE).then_some(&f.length_values).into_iter().flatten();
    let listed = f.list_length.iter().chain(&f.flow_length).chain(table).copied();
    let packet = if f.has_programs() { f.message_packet_bytes.max(f.message_small_packet_bytes) } else { 0 };
    own.chain(listed).chain([packet]).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_of_packet_that_is_not_filled_up_takes_time() {
        let with = |lane_sharing: u8, character_bytes: u32, ticks: u32, lanes: u32| Fabric {
            lanes: 2,
            lane_sharing,
            character_bytes,
            end_carries_data: 1,
            link_source: vec![0],
            link_character_ticks: vec![42],
            link_end_ticks: vec![36],
            link_padding_ticks: vec![ticks],
            link_lanes: vec![lanes],
            ..Fabric::default()
        };
        let refused = |f: &Fabric| other_links(f).unwrap_err().to_string();
        assert!(other_links(&with(sharing::FRAME, 4, 11, 1)).is_ok());
        assert!(other_links(&with(sharing::FRAME, 4, 0, 2)).is_ok());
        assert!(refused(&with(sharing::FRAME, 4, 12, 1)).contains("less than an end takes"));
        assert!(refused(&with(sharing::FRAME, 4, 11, 3)).contains("from 1 to lanes"));
        assert!(refused(&with(sharing::CHARACTER, 4, 11, 1)).contains("unless lanes share by frame"));
        let f = with(sharing::FRAME, 4, 10, 1);
        let shorter = |bytes: u32| f.padding_ticks(0, bytes);
        assert_eq!([0, 1, 3, 4, 5].map(shorter), [0, 30, 10, 0, 30]);
    }

    #[test]
    fn a_ring_has_places_for_two_packets() {
        let with = |grant_with_room: u8, link_ring: u32, link_input_buffer: u32| Fabric {
            lanes: 1,
            whole_packet_credit: 1,
            switches: 1,
            switch_crossbar_ticks: vec![0],
            switch_forward_ticks: vec![0],
            link_source: vec![0],
            link_target: vec![0],
            link_character_ticks: vec![1],
            link_end_ticks: vec![1],
            link_output_buffer: vec![1],
            link_quantum: vec![4],
            link_input_buffer: vec![link_input_buffer],
            grant_with_room,
            link_ring: vec![link_ring],
            ..Fabric::default()
        };
        let refused = |f: &Fabric| with_room(f).unwrap_err().to_string();
        // The longest packet is an end.
        assert!(with_room(&with(1, 0, 5)).is_ok());
        assert!(with_room(&with(1, NONE, 4)).is_ok());
        assert!(refused(&with(1, 0, 4)).contains("two of the longest packets and a quantum less one"));
        assert!(refused(&with(0, NONE, 5)).contains("empty without grant_with_room"));
    }

    #[test]
    fn runs_are_all_columns_of_each_switch_once() {
        // Column 0 leads to switch 0, column 1 to switch 1.
        let right = Fabric {
            switches: 2,
            classes: 2,
            group_switch: vec![0, 0, 1, 1],
            class_column: vec![0, 1],
            class_exit: vec![0, 4],
            route: vec![OWN, 2, 6, OWN],
            route_start: vec![0, 2, 4],
            route_end: vec![1, 2, 1, 2],
            ..Fabric::default()
        };
        let refused = |change: &dyn Fn(&mut Fabric)| {
            let mut wrong = right.clone();
            change(&mut wrong);
            routes(&wrong).unwrap_err().to_string()
        };
        assert!(routes(&right).is_ok());
        assert!(refused(&|f| f.route_end[0] = 2).contains("ascending, the last one of a switch all columns"));
        assert!(refused(&|f| f.route_end[2] = 3).contains("ascending, the last one of a switch all columns"));
        assert!(refused(&|f| f.route_start[1] = 0).contains("less than the next"));
        assert!(refused(&|f| f.route[1] = 6).contains("a group of its own switch"));
        assert!(refused(&|f| f.route[3] = 2).contains("a group of its own switch"));
        assert!(refused(&|f| f.class_exit[1] = 2).contains("a group of the switch that its column leads to"));
        let none = |f: &mut Fabric| (f.class_column, f.class_exit) = (vec![], vec![]);
        assert!(refused(&none).contains("nothing without class_column"));
    }
}
