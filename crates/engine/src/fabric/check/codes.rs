//! Checks of time-codes and interrupts.

use super::{Checked, MOST_TICKS, Shapes, below, between, fail};
use crate::fabric::{CODE_NUMBERS, Fabric, NEVER, TIME};

/// Refuses sources that do not exist, and codes that take no time.
pub fn check(f: &Fabric) -> Checked {
    below("code_port", &f.code_port, f.ports() as usize, "a port")?;
    between("link_code_ticks", &f.link_code_ticks, 1, MOST_TICKS, "a positive duration")?;
    between("link_code_arrival_ticks", &f.link_code_arrival_ticks, 1, MOST_TICKS, "a positive duration")?;
    between("switch_code_ticks", &f.switch_code_ticks, 0, MOST_TICKS, "a duration")?;
    if f.switch_code_ticks.iter().any(|&ticks| ticks < f.code_jitter_ticks) {
        return fail("code_jitter_ticks", 0, f.code_jitter_ticks, "at most switch_code_ticks");
    }
    if f.interrupt_hold_ticks >= NEVER / 4 {
        return fail("interrupt_hold_ticks", 0, f.interrupt_hold_ticks, "below 2^60 ticks");
    }
    for (row, &number) in f.code_number.iter().enumerate() {
        if number >= CODE_NUMBERS && number != TIME {
            return fail("code_number", row, number, "below 64, or 255 of time-codes");
        }
        let (first, period, count) = (f.code_first_ticks[row], f.code_period_ticks[row], f.code_count[row]);
        if period == 0 {
            return fail("code_period_ticks", row, period, "a positive duration");
        }
        if period.checked_mul(count).and_then(|all| all.checked_add(first)).is_none_or(|end| end >= NEVER) {
            return fail("code_count", row, count, "so few that the last one is before tick 2^62");
        }
    }
    Ok(())
}

/// Returns the shapes of the columns of codes.
pub fn shapes(f: &Fabric) -> Shapes {
    let sources = f.code_port.len();
    let of = |count: usize| if f.has_codes() { count } else { 0 };
    vec![
        ("link_code_ticks", f.link_code_ticks.len(), of(f.links())),
        ("link_code_arrival_ticks", f.link_code_arrival_ticks.len(), of(f.links())),
        ("switch_code_ticks", f.switch_code_ticks.len(), of(f.switches as usize)),
        ("code_number", f.code_number.len(), sources),
        ("code_first_ticks", f.code_first_ticks.len(), sources),
        ("code_period_ticks", f.code_period_ticks.len(), sources),
        ("code_count", f.code_count.len(), sources),
    ]
}
