//! Networks with time-codes and interrupts: any other network, with sources of them.

use fabriloom_engine::fabric::{Fabric, TIME, check};
use fabriloom_engine::kernel::Time;
use fabriloom_engine::run::Simulation;
use fabriloom_twin::{CodeCounts, TakenCode, TwinRun};

use super::random::draw_for;

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
    check(&f).expect("the generator makes legal codes");
    f
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
