//! Checks of ring networks: stations, rings, ports, buses and their routes.

use super::{Checked, MOST_TICKS, Shapes, ascending, below, between, each, fail, known, of_rows, refuse};
use crate::fabric::{
    Fabric, PASS, ROUTE_BLOCK, arrival, is_open, retry, retry_order, stations, transaction, when_full,
};

/// Limit of the places of a queue, and of other things that are counted one by one.
const MOST_PLACES: u32 = 1 << 16;
const PLACES: &str = "from 1 to 2^16";
/// The most ports of a switch and the most buses.
const MOST_PORTS: usize = 64;
/// Limit of the tables of the ports: the number of transaction identifiers (IEEE 1596).
const MOST_TURNS: u32 = 64;
/// The longest slots.
const MOST_SLOT_SYMBOLS: u32 = 1 << 24;
/// The longest delays; keeps every sum far inside 64 bits.
const MOST_DELAY_TICKS: u64 = 1 << 40;

/// Refuses arrays that do not describe a network of rings.
pub fn check(f: &Fabric) -> Checked {
    protocol(f)?;
    between("class_headers", &f.class_headers, 0, 0, "0 in ring networks")?;
    durations(f)?;
    capacities(f)?;
    answers(f)?;
    rings(f)?;
    ports(f)?;
    routes(f)
}

/// Returns the shapes of the columns that only ring networks have.
pub fn shapes(f: &Fabric) -> Shapes {
    let (switches, terminals, stations) = (f.switches as usize, f.ports() as usize, f.links());
    let ports = f.port_station.len();
    let routes = ports.saturating_mul(f.port_blocks()).saturating_mul(f.ring_turns as usize);
    [
        of_rows!(f, stations; station_next, station_ring, station_decode_ticks, station_bypass_ticks),
        of_rows!(f, stations; station_receive_ticks, station_transmit_ticks, station_requests_out),
        of_rows!(f, stations; station_responses_out, station_requests_in, station_responses_in),
        of_rows!(f, stations; station_in_flight, station_rejected),
        of_rows!(f, switches + 1; port_start),
        of_rows!(f, ports; port_station),
        of_rows!(f, any ports; port_yields),
        of_rows!(f, routes; port_route),
        of_rows!(f, f.port_exit.len().next_multiple_of(ROUTE_BLOCK); port_exit),
        of_rows!(f, switches; bus_count, bus_setup_ticks, bus_cycle_ticks, bus_width_bytes),
        of_rows!(f, switches; bus_encapsulation_bytes),
        of_rows!(f, terminals; terminal_access_ticks, terminal_block_ticks, terminal_host_ticks),
        of_rows!(f, terminals; terminal_transactions, terminal_transaction),
    ]
    .concat()
}

fn protocol(f: &Fabric) -> Checked {
    for (name, bytes) in [
        ("ring_request_header_bytes", f.ring_request_header_bytes),
        ("ring_response_header_bytes", f.ring_response_header_bytes),
        ("ring_symbol_bytes", f.ring_symbol_bytes),
    ] {
        between(name, &[bytes], 1, 1024, "from 1 to 1024 bytes")?;
    }
    between("ring_echo_bytes", &[f.ring_echo_bytes], 0, 1024, "at most 1024 bytes")?;
    between("ring_send_idle_bytes", &[f.ring_send_idle_bytes], 0, 1024, "at most 1024 bytes")?;
    between("ring_echo_idle_bytes", &[f.ring_echo_idle_bytes], 0, 1024, "at most 1024 bytes")?;
    let shortest = f.ring_request_header_bytes.min(f.ring_response_header_bytes) + f.ring_send_idle_bytes;
    let echo = f.ring_echo_bytes + f.ring_echo_idle_bytes;
    if echo > shortest {
        return fail("ring_echo_bytes", 0, echo, "with its idles at most as long as the shortest packet");
    }
    for (name, flag) in [
        ("ring_cut_through", f.ring_cut_through),
        ("ring_hold_until_echo", f.ring_hold_until_echo),
        ("ring_any_payload", f.ring_any_payload),
        ("ring_phases", f.ring_phases),
        ("ring_retry_at_responder", f.ring_retry_at_responder),
        ("ring_response_first", f.ring_response_first),
        ("ring_interface_occupied", f.ring_interface_occupied),
        ("ring_separate_buses", f.ring_separate_buses),
    ] {
        known(name, &[flag], 1)?;
    }
    known("ring_in_order", &[f.ring_in_order], stations::LAST)?;
    known("ring_allocation", &[f.ring_allocation], stations::TERMINALS)?;
    known("ring_retry_strategy", &[f.ring_retry_strategy], retry::LAST)?;
    known("ring_retry_order", &[f.ring_retry_order], retry_order::LAST)?;
    known("ring_when_full", &[f.ring_when_full], when_full::LAST)?;
    between("ring_slot_symbols", &[f.ring_slot_symbols], 0, MOST_SLOT_SYMBOLS, "at most 2^24 symbols")?;
    between("ring_token_symbols", &[f.ring_token_symbols], 0, MOST_SLOT_SYMBOLS, "at most 2^24 symbols")?;
    if f.ring_token_symbols == 0 && (f.ring_token_packets > 0 || f.ring_token_rotation_ticks > 0) {
        return fail("ring_token_symbols", 0, 0, "a token, which its limits need");
    }
    between("ring_turns", &[f.ring_turns], 1, MOST_TURNS, "from 1 to 64 tables")?;
    for (name, ticks) in [
        ("ring_token_rotation_ticks", f.ring_token_rotation_ticks),
        ("ring_retry_delay_ticks", f.ring_retry_delay_ticks),
        ("ring_timeout_ticks", f.ring_timeout_ticks),
        ("ring_echo_timeout_ticks", f.ring_echo_timeout_ticks),
        ("ring_closed_ticks", f.ring_closed_ticks),
    ] {
        refuse(ticks > MOST_DELAY_TICKS, name, 0, ticks, "at most 2^40 ticks")?;
    }
    if f.has_faults() && f.ring_echo_timeout_ticks == 0 {
        return fail("ring_echo_timeout_ticks", 0, 0, "positive where links fail");
    }
    let waits = |kind: &u8| *kind != arrival::SILENT && !is_open(*kind);
    if f.ring_close_after > 0 && (f.has_programs() || f.source_arrival.iter().any(waits)) {
        return fail("ring_close_after", 0, f.ring_close_after, "0 where sources wait for the network");
    }
    known("terminal_transaction", &f.terminal_transaction, transaction::LAST)
}

fn durations(f: &Fabric) -> Checked {
    for (column, ticks) in [
        ("station_decode_ticks", &f.station_decode_ticks),
        ("station_bypass_ticks", &f.station_bypass_ticks),
        ("station_receive_ticks", &f.station_receive_ticks),
        ("station_transmit_ticks", &f.station_transmit_ticks),
        ("bus_setup_ticks", &f.bus_setup_ticks),
        ("terminal_access_ticks", &f.terminal_access_ticks),
        ("terminal_block_ticks", &f.terminal_block_ticks),
        ("terminal_host_ticks", &f.terminal_host_ticks),
    ] {
        between(column, ticks, 0, MOST_TICKS, "a duration")?;
    }
    between("bus_cycle_ticks", &f.bus_cycle_ticks, 1, MOST_TICKS, "a positive duration")
}

fn capacities(f: &Fabric) -> Checked {
    for (column, places) in [
        ("station_requests_out", &f.station_requests_out),
        ("station_responses_out", &f.station_responses_out),
        ("station_in_flight", &f.station_in_flight),
        ("station_rejected", &f.station_rejected),
        ("terminal_transactions", &f.terminal_transactions),
    ] {
        between(column, places, 1, MOST_PLACES, PLACES)?;
    }
    for (column, places) in
        [("station_requests_in", &f.station_requests_in), ("station_responses_in", &f.station_responses_in)]
    {
        between(column, places, 0, MOST_PLACES, "at most 2^16 places")?;
    }
    between("bus_count", &f.bus_count, 1, MOST_PORTS as u32, "from 1 to 64 buses")?;
    let fits = |count: &u32| f.ring_separate_buses == 0 || count.is_multiple_of(2);
    each("bus_count", &f.bus_count, fits, "even where requests and responses have their own")?;
    between("bus_width_bytes", &f.bus_width_bytes, 1, 1024, "from 1 to 1024 bytes")?;
    between("bus_encapsulation_bytes", &f.bus_encapsulation_bytes, 0, 1024, "at most 1024 bytes")
}

/// Checks that senders need no echo where there is none, and that units and rings fit slots.
fn answers(f: &Fabric) -> Checked {
    let passes = f.ring_when_full == when_full::PASS;
    for (name, flag, works) in [
        ("ring_phases", f.ring_phases, f.ring_echo_bytes > 0 && !passes),
        ("ring_hold_until_echo", f.ring_hold_until_echo, f.ring_echo_bytes > 0),
        ("ring_in_order", f.ring_in_order, f.ring_echo_bytes > 0),
        ("ring_cut_through", u8::from(f.ring_cut_through == 0), f.ring_slot_symbols == 0),
        ("ring_allocation", f.ring_allocation, f.ring_slot_symbols == 0),
    ] {
        refuse(flag != 0 && !works, name, 0, flag, "a rule that goes with echoes, when_full and slots")?;
    }
    for (name, flag) in [
        ("ring_when_full", f.ring_when_full),
        ("ring_cut_through", 1 - f.ring_cut_through),
        ("ring_allocation", f.ring_allocation),
        ("ring_retry_at_responder", f.ring_retry_at_responder),
        ("ring_slot_symbols", u8::from(f.ring_slot_symbols > 0)),
    ] {
        refuse(flag != 0 && f.ring_token_symbols > 0, name, 0, flag, "a rule that goes with a token")?;
    }
    let limits = f.ring_token_packets > 0 || f.ring_token_rotation_ticks > 0;
    if f.ring_token_symbols > 0 && f.ring_echo_bytes > 0 && !limits {
        return fail("ring_token_packets", 0, 0, "a limit where packets are sent again");
    }
    let full = |places: &[u32]| places.iter().any(|&places| places > 0);
    if f.ring_echo_bytes > 0 {
        return Ok(());
    }
    if f.ring_echo_idle_bytes > 0 {
        return fail("ring_echo_idle_bytes", 0, f.ring_echo_idle_bytes, "0 without echoes");
    }
    if !passes && (full(&f.station_requests_in) || full(&f.station_responses_in)) {
        return fail(
            "ring_when_full",
            0,
            f.ring_when_full,
            "that packets pass: there is no echo to busy them",
        );
    }
    Ok(())
}

/// Checks that a ring holds a whole number of slots, and that a token fits into it and can come round in time.
fn slots(f: &Fabric) -> Checked {
    if f.ring_slot_symbols == 0 && f.ring_token_symbols == 0 {
        return Ok(());
    }
    let mut round = vec![0u64; f.links()];
    for (station, &next) in f.station_next.iter().enumerate() {
        let to = next as usize;
        let ticks = [f.link_arrival_ticks[station], f.station_decode_ticks[to], f.station_bypass_ticks[to]];
        round[f.station_ring[station] as usize] += ticks.into_iter().map(u64::from).sum::<u64>();
    }
    for (station, &ring) in f.station_ring.iter().enumerate() {
        let (ticks, symbol) = (round[ring as usize], u64::from(f.link_character_ticks[station]));
        if f.ring_slot_symbols > 0 && !ticks.is_multiple_of(u64::from(f.ring_slot_symbols) * symbol) {
            return fail("ring_slot_symbols", 0, f.ring_slot_symbols, "slots that fill every ring");
        }
        let token = u64::from(f.ring_token_symbols) * symbol;
        if token > ticks {
            return fail("ring_token_symbols", 0, f.ring_token_symbols, "a token that fits into every ring");
        }
        let empty = ticks + token;
        if f.ring_token_rotation_ticks > 0 && f.ring_token_rotation_ticks <= empty {
            let rotation = f.ring_token_rotation_ticks;
            return fail(
                "ring_token_rotation_ticks",
                0,
                rotation,
                "more than a token needs that nobody takes",
            );
        }
    }
    Ok(())
}

/// Checks that every ring is one cycle of at least two stations of one speed.
fn rings(f: &Fabric) -> Checked {
    let stations = f.links();
    below("station_next", &f.station_next, stations, "a station")?;
    below("station_ring", &f.station_ring, stations, "the number of a ring")?;
    let mut led_to = vec![false; stations];
    let mut size = vec![0u32; stations];
    for (station, &next) in f.station_next.iter().enumerate() {
        let at = next as usize;
        refuse(at == station, "station_next", station, next, "another station: a ring has at least two")?;
        if std::mem::replace(&mut led_to[at], true) {
            return fail("station_next", station, next, "a station that no other leads to");
        }
        if f.link_target[station] != f.link_source[at] {
            return fail("link_target", station, f.link_target[station], "the vertex of station_next");
        }
        if f.station_ring[station] != f.station_ring[at] {
            return fail("station_ring", station, f.station_ring[station], "the ring of station_next");
        }
        if f.link_character_ticks[station] != f.link_character_ticks[at] {
            let ticks = f.link_character_ticks[station];
            return fail("link_character_ticks", station, ticks, "the same on the whole ring");
        }
        size[f.station_ring[station] as usize] += 1;
    }
    closed(f, &size)?;
    slots(f)
}

/// Checks that `station_next` leads from a station past all others of its ring.
fn closed(f: &Fabric, size: &[u32]) -> Checked {
    let mut seen = vec![false; f.links()];
    for first in 0..f.links() {
        let ring = f.station_ring[first] as usize;
        if std::mem::replace(&mut seen[ring], true) {
            continue;
        }
        let (mut station, mut steps) = (f.station_next[first] as usize, 1);
        while station != first {
            station = f.station_next[station] as usize;
            steps += 1;
        }
        refuse(steps != size[ring], "station_ring", first, ring, "a single circle of stations")?;
    }
    Ok(())
}

/// Checks that every station is a port of its switch, or the only station of its terminal.
fn ports(f: &Fabric) -> Checked {
    ascending("port_start", &f.port_start, f.port_station.len())?;
    below("port_station", &f.port_station, f.links(), "a station")?;
    let mut is_port = vec![false; f.links()];
    for switch in 0..f.switches as usize {
        let range = f.port_start[switch] as usize..f.port_start[switch + 1] as usize;
        if range.len() < 2 || range.len() > MOST_PORTS {
            return fail("port_start", switch, range.len(), "the start of 2 to 64 ports");
        }
        for port in range {
            let station = f.port_station[port] as usize;
            if f.link_source[station] as usize != switch {
                return fail("port_station", port, station, "a station of its switch");
            }
            if std::mem::replace(&mut is_port[station], true) {
                return fail("port_station", port, station, "a station that is no other port");
            }
        }
    }
    known("port_yields", &f.port_yields, 1)?;
    rows_of_controllers(f, &is_port)?;
    let lost = |&station: &usize| !is_port[station] && !f.is_terminal(f.link_source[station]);
    if let Some(station) = (0..f.links()).find(lost) {
        return fail(
            "link_source",
            station,
            f.link_source[station],
            "a terminal, or a switch with this port",
        );
    }
    for (terminal, &inward) in f.terminal_in_link.iter().enumerate() {
        if f.station_next.get(inward as usize) != Some(&f.terminal_out_link[terminal]) {
            return fail("terminal_in_link", terminal, inward, "the link that leads to terminal_out_link");
        }
    }
    Ok(())
}

/// Checks that the controllers of a port have an end.
fn rows_of_controllers(f: &Fabric, is_port: &[bool]) -> Checked {
    let mut others = vec![0; f.links()];
    f.station_ring.iter().for_each(|&ring| others[ring as usize] += 1);
    for (port, &station) in f.port_station.iter().enumerate().take(f.port_yields.len()) {
        let ring = f.station_ring[station as usize] as usize;
        others[ring] -= u32::from(f.port_yields[port]);
        if f.port_yields[port] != 0
            && (!is_port[f.station_next[station as usize] as usize] || others[ring] == 0)
        {
            return fail("port_yields", port, 1, "0 at the last controller of a port");
        }
    }
    Ok(())
}

fn routes(f: &Fabric) -> Checked {
    // Per block: the ports that it names, and the terminals whose packets it takes, as bits.
    let mut named = Vec::with_capacity(f.port_exit.len() / ROUTE_BLOCK);
    let mut taken = Vec::with_capacity(named.capacity());
    for (block, exits) in f.port_exit.chunks(ROUTE_BLOCK).enumerate() {
        let unknown = |&exit: &u8| exit != PASS && usize::from(exit) >= MOST_PORTS;
        if let Some(column) = exits.iter().position(unknown) {
            return fail("port_exit", block * ROUTE_BLOCK + column, exits[column], "a port");
        }
        named.push(exits.iter().filter(|&&exit| exit != PASS).fold(0u64, |named, exit| named | 1 << exit));
        taken.push(
            (0..).zip(exits).filter(|&(_, &exit)| exit != PASS).fold(0u64, |taken, (at, _)| taken | 1 << at),
        );
    }
    below("port_route", &f.port_route, named.len(), "a block of port_exit")?;
    let blocks = f.port_blocks();
    let table = f.port_station.len() * blocks;
    if table == 0 {
        return Ok(());
    }
    for (at, &block) in f.port_route.iter().enumerate() {
        if taken[block as usize] != taken[f.port_route[at % table] as usize] {
            return fail("port_route", at, block, "a block that takes the same as that of the first table");
        }
    }
    for switch in 0..f.switches as usize {
        let (first, end) = (f.port_start[switch] as usize, f.port_start[switch + 1] as usize);
        let ports = u64::MAX >> (MOST_PORTS - (end - first));
        for port in first..end {
            let others = ports & !(1 << (port - first));
            let wrong = |&at: &usize| named[f.port_route[at] as usize] & !others != 0;
            let row = port * blocks..(port + 1) * blocks;
            let rows =
                (0..f.ring_turns as usize).flat_map(|turn| row.clone().map(move |at| turn * table + at));
            if let Some(at) = rows.into_iter().find(wrong) {
                return fail("port_route", at, f.port_route[at], "a block of other ports of the switch");
            }
        }
    }
    Ok(())
}
