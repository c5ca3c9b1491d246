//! Packets longer than all the buffers on their path, on equal links: what the engine computes on demand (its module
//! `switched::demand`), at the limits of that method.

use fabriloom_engine::fabric::{Fabric, arrival, check, length};
use fabriloom_engine::kernel::Time;

use super::random::{Draw, draw_for};

/// Gives all links of a network one pace, buffers just large enough for their delays or a little larger, and packets of
/// all lengths around those at which the engine changes its method; drawn independently of the network. Returns a time
/// limit too.
pub fn with_long_packets(fabric: &Fabric, seed: u64) -> (Fabric, Time) {
    let draw = &mut draw_for(seed ^ 0x10_4600);
    let mut f = fabric.clone();
    let character = f.link_character_ticks[0];
    let end = draw.pick(&[(character * 4 / 10).max(1), character, character, 2 * character, 1]);
    let shortest = character.min(end);
    for switch in 0..f.switches as usize {
        let (odd, delay) = (draw.between(0, shortest), draw.between(1, 30));
        // Slower than an end of packet: then a switch hands over no faster either, or all is sent one by one.
        let slow = draw.between(shortest, character.max(shortest));
        let crossbar = draw.pick(&[0, 0, shortest, odd, slow, character]);
        f.switch_crossbar_ticks[switch] = crossbar;
        let least = if crossbar > shortest { crossbar } else { 1 };
        f.switch_handover_ticks[switch] = draw.pick(&[1, crossbar.max(1), delay]).max(least);
        let least = crossbar.max(1).saturating_sub(f.switch_decode_ticks[switch]);
        f.switch_next_head_ticks[switch] = draw.pick(&[0, crossbar, delay]).max(least);
    }
    let small = draw.pick(&[1, 1, 2, 10]);
    for link in 0..f.links() {
        f.link_character_ticks[link] = character;
        f.link_end_ticks[link] = end;
        buffers(&mut f, draw, link, small);
    }
    let time = lengths(&mut f, draw);
    check(&f).expect("the generator makes legal networks");
    (f, time)
}

/// Buffers that are just enough for the delays.
fn buffers(f: &mut Fabric, draw: &mut Draw, link: usize, small: u32) {
    let (character, end) = (f.link_character_ticks[link], f.link_end_ticks[link]);
    let shortest = character.min(end);
    let forward = f.switch_forward_ticks.get(f.link_source[link] as usize).copied().unwrap_or(0);
    f.link_quantum[link] = f.link_quantum[link].min(draw.pick(&[1, 3, 8, 16]));
    let more = draw.pick(&[0, 0, 1, 5, 20]) / small;
    let bridged = (character + forward).div_ceil(shortest).max(1);
    f.link_output_buffer[link] = bridged + draw.pick(&[0, 0, 1, 7, 22]) / small;
    let delays = f.link_arrival_ticks[link] - f.link_arrival_ticks[link].min(f.link_character_ticks[link]);
    let delay = delays.min(draw.pick(&[0, 1, 3, 40]));
    f.link_arrival_ticks[link] = character + delay;
    f.link_credit_ticks[link] = end.min(character) + delay;
    let round_trip = f.link_arrival_ticks[link] + f.link_credit_ticks[link];
    let header = f.header_chars.max(f.via_header_chars).max(1);
    let least = f.link_quantum[link] - 1 + round_trip.div_ceil(shortest).max(header);
    f.link_input_buffer[link] = least + more;
}

/// Lengths around the window at the end of a packet that is always stored, and far beyond it.
fn lengths(f: &mut Fabric, draw: &mut Draw) -> Time {
    let most = |column: &[u32]| *column.iter().max().expect("a fabric has links");
    let buffers = most(&f.link_output_buffer) + most(&f.link_input_buffer) + most(&f.link_quantum);
    let window = 2 * buffers;
    let header = f.header_chars + 1;
    let edge = window.saturating_sub(header);
    let each = [edge, edge + 1, edge + 2, window, 2 * window, 4 * window, 7 * window, buffers];
    f.length_values = vec![8; 4];
    f.length_values[1..].fill_with(|| draw.pick(&each));
    f.length_cumulative = vec![0.2, 0.5, 0.75, 1.0];
    let mixed = draw.chance(60);
    let common = draw.pick(&each);
    let character = f.link_character_ticks[0];
    let load = draw.pick(&[0.2, 0.5, 0.9, 1.5]);
    for terminal in 0..f.terminals as usize {
        let low = if mixed { draw.pick(&each) } else { common };
        f.source_length[terminal] =
            if mixed { draw.pick(&[length::UNIFORM, length::TABLE]) } else { length::UNIFORM };
        f.length_min[terminal] = low;
        f.length_max[terminal] = low + draw.pick(&[0, 0, 1, 9]);
        if draw.chance(25) {
            f.source_arrival[terminal] = arrival::BACKLOG;
        }
        let bits = f64::from(low * character) / f.grain_ticks as f64;
        if f.source_arrival[terminal] != arrival::FLOWS {
            f.source_interval_grains[terminal] = bits / load;
        }
    }
    for length in f.list_length.iter_mut().chain(&mut f.flow_length) {
        *length = draw.pick(&each);
    }
    Time::from(draw.pick(&[4 * window, 12 * window, 25 * window])) * Time::from(character)
}

/// Gives links paces of their own, as matched flow control does; drawn independently of the network.
pub fn with_paces(fabric: &Fabric, seed: u64) -> Fabric {
    let draw = &mut draw_for(seed ^ 0x9ace5);
    let mut f = fabric.clone();
    let spread = draw.pick(&[1, 2, (f.link_character_ticks[0] / 4).max(1)]);
    let likely = draw.pick(&[20, 50, 100]);
    for link in 0..f.links() {
        let slower = if draw.chance(likely) { draw.between(0, spread) } else { 0 };
        f.link_character_ticks[link] += slower;
        f.link_end_ticks[link] += slower;
        f.link_arrival_ticks[link] += slower;
    }
    check(&f).expect("the generator makes legal paces");
    f
}
