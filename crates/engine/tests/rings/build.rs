//! Small ring networks for tests.

use fabriloom_engine::fabric::{Fabric, PASS, ROUTE_BLOCK, arrival, length, target};
use fabriloom_engine::kernel::Time;
use fabriloom_engine::run::{Options, Simulation};

/// Returns a network of rings, each a list of vertices in order, the first `switches` of which are switches; all delays
/// are small and different, all queues have two places. Ports are numbered in order of the rings; routes use the fewest
/// buses.
pub fn network(rings: &[&[u32]], switches: u32) -> Fabric {
    let vertices: Vec<u32> = rings.concat();
    let terminals = vertices.iter().max().map_or(0, |&last| last + 1 - switches);
    let links = vertices.len();
    let mut f = Fabric { tick_ps: 1000.0, grain_ticks: 1, switches, terminals, ..Fabric::default() };
    f.seed = 1;
    f.ring_request_header_bytes = 16;
    f.ring_response_header_bytes = 16;
    f.ring_symbol_bytes = 2;
    f.ring_echo_bytes = 8;
    f.ring_send_idle_bytes = 4;
    f.ring_echo_idle_bytes = 4;
    f.ring_retry_delay_ticks = 1;
    for (ring, stations) in rings.iter().enumerate() {
        let first = f.station_next.len() as u32;
        for at in 0..stations.len() as u32 {
            f.station_next.push(first + (at + 1) % stations.len() as u32);
            f.station_ring.push(ring as u32);
        }
    }
    f.link_target = f.station_next.iter().map(|&next| vertices[next as usize]).collect();
    f.link_source = vertices;
    f.link_character_ticks = vec![4; links];
    f.link_arrival_ticks = vec![10; links];
    f.station_decode_ticks = vec![20; links];
    f.station_bypass_ticks = vec![48; links];
    f.station_receive_ticks = vec![106; links];
    f.station_transmit_ticks = vec![82; links];
    for places in [
        &mut f.station_requests_out,
        &mut f.station_responses_out,
        &mut f.station_requests_in,
        &mut f.station_responses_in,
    ] {
        *places = vec![2; links];
    }
    (f.station_in_flight, f.station_rejected) = (vec![4; links], vec![4; links]);
    switched(&mut f);
    at_terminals(&mut f);
    f
}

fn switched(f: &mut Fabric) {
    let switches = f.switches as usize;
    f.port_start = vec![0];
    for switch in 0..f.switches {
        let stations = (0..f.links() as u32).filter(|&at| f.link_source[at as usize] == switch);
        f.port_station.extend(stations);
        f.port_start.push(f.port_station.len() as u32);
    }
    f.bus_count = vec![1; switches];
    f.bus_setup_ticks = vec![30; switches];
    f.bus_cycle_ticks = vec![13; switches];
    f.bus_width_bytes = vec![8; switches];
    f.bus_encapsulation_bytes = vec![8; switches];
    f.ring_turns = 1;
    f.port_route = (0..f.port_station.len() as u32).collect();
    f.port_exit = exits(f);
}

/// Returns, for each port and terminal, the port of the switch with the fewest buses on its path; [`PASS`] if the
/// packet's own ring has the terminal or has a path with fewer.
fn exits(f: &Fabric) -> Vec<u8> {
    assert!(f.terminals as usize <= ROUTE_BLOCK, "a block for each port");
    let mut exits = vec![PASS; f.port_station.len() * ROUTE_BLOCK];
    for terminal in 0..f.terminals {
        let vertex = f.switches + terminal;
        let home = f.link_source.iter().position(|&at| at == vertex).expect("every terminal has a station");
        // By ring: number of buses to the terminal's own.
        let mut buses = vec![usize::MAX; f.links()];
        buses[f.station_ring[home] as usize] = 0;
        let mut rings = std::collections::VecDeque::from([f.station_ring[home]]);
        while let Some(ring) = rings.pop_front() {
            let further = buses[ring as usize] + 1;
            for port in 0..f.port_station.len() {
                let station = f.port_station[port] as usize;
                let switch = f.link_source[station] as usize;
                let range = f.port_start[switch] as usize..f.port_start[switch + 1] as usize;
                let leads_there = |port: &u32| f.station_ring[*port as usize] == ring;
                let Some(way) = f.port_station[range].iter().position(leads_there) else { continue };
                let here = f.station_ring[station];
                if buses[here as usize] == usize::MAX {
                    buses[here as usize] = further;
                    rings.push_back(here);
                }
                if buses[here as usize] == further {
                    exits[port * ROUTE_BLOCK + terminal as usize] = way as u8;
                }
            }
        }
    }
    exits
}

fn at_terminals(f: &mut Fabric) {
    let terminals = f.terminals as usize;
    for terminal in 0..f.terminals {
        let is_its = |&at: &u32| at == f.switches + terminal;
        f.terminal_out_link.push(f.link_source.iter().position(is_its).expect("a station") as u32);
        f.terminal_in_link.push(f.link_target.iter().position(is_its).expect("a station") as u32);
    }
    f.terminal_access_ticks = vec![15; terminals];
    f.terminal_block_ticks = vec![40; terminals];
    f.terminal_host_ticks = vec![5; terminals];
    f.terminal_transactions = vec![64; terminals];
    f.terminal_transaction = vec![0; terminals];
    f.source_arrival = vec![arrival::SILENT; terminals];
    f.source_interval_grains = vec![0.0; terminals];
    f.source_burst = vec![1.0; terminals];
    f.source_gap_grains = vec![0.0; terminals];
    f.source_queue = vec![0; terminals];
    f.source_target = vec![target::UNIFORM; terminals];
    f.target_fixed = vec![0; terminals];
    f.target_share = vec![0.0; terminals];
    f.source_length = vec![length::FIXED; terminals];
    f.length_min = vec![64; terminals];
    f.length_max = vec![64; terminals];
}

/// Makes terminals send packets, given as source, target and payload, each when the previous one has left.
pub fn send(f: &mut Fabric, packets: &[(u32, u32, u32)]) {
    f.list_start = vec![0];
    f.list_repeat = vec![0; f.terminals as usize];
    for terminal in 0..f.terminals {
        for &(_, to, bytes) in packets.iter().filter(|packet| packet.0 == terminal) {
            f.source_arrival[terminal as usize] = arrival::LIST;
            f.list_target.push(to);
            f.list_length.push(bytes);
            f.list_wait_ticks.push(0);
        }
        f.list_start.push(f.list_target.len() as u32);
    }
}

/// Runs to the end or to a tick, with a trace.
pub fn run(fabric: &Fabric, until: Time, drain: bool) -> Simulation {
    let options =
        Options { until, drain, warmup: Some(0), trace: 1 << 20, batch: 1 << 10, ..Options::default() };
    let mut simulation = Simulation::new(fabric.clone(), options).expect("a legal network");
    while simulation.advance(1 << 20).expect("routes that lead somewhere").is_none() {}
    simulation.balance().expect("nothing is lost");
    simulation
}

/// Returns created, started and delivered of every packet, in order of delivery.
pub fn times(simulation: &Simulation) -> Vec<(Time, Time, Time)> {
    simulation.run.trace.packets.iter().map(|p| (p.created, p.started, p.delivered)).collect()
}
