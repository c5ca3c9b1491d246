//! Checks of what SpaceWire has: time-codes, interrupts, and addresses that are deleted on the path.

use super::{Checked, FabricError, MOST_TICKS, Shapes, below, between, fail, known, of_rows, refuse};
use crate::fabric::{CODE_NUMBERS, Fabric, NEVER, NONE, TIME, sharing};

/// Refuses sources that do not exist, and codes that take no time.
pub fn codes(f: &Fabric) -> Checked {
    below("code_port", &f.code_port, f.ports() as usize, "a port")?;
    let least = u32::from(f.lane_sharing != sharing::FRAME);
    between(
        "link_code_ticks",
        &f.link_code_ticks,
        least,
        MOST_TICKS,
        "a positive duration, or 0 with frames",
    )?;
    between("link_code_arrival_ticks", &f.link_code_arrival_ticks, 1, MOST_TICKS, "a positive duration")?;
    between("switch_code_ticks", &f.switch_code_ticks, 0, MOST_TICKS, "a duration")?;
    if f.switch_code_ticks.iter().any(|&ticks| ticks < f.code_jitter_ticks) {
        return fail("code_jitter_ticks", 0, f.code_jitter_ticks, "at most switch_code_ticks");
    }
    if f.interrupt_hold_ticks >= NEVER / 4 {
        return fail("interrupt_hold_ticks", 0, f.interrupt_hold_ticks, "below 2^60 ticks");
    }
    for (row, &port) in f.code_port.iter().enumerate() {
        let link = f.terminal_out_link.get(port as usize).copied().unwrap_or(NONE);
        if f.link_code_ticks.get(link as usize) == Some(&0) {
            return fail("code_port", row, port, "a port whose link carries codes");
        }
    }
    for (row, &number) in f.code_number.iter().enumerate() {
        if number >= CODE_NUMBERS && number != TIME {
            return fail("code_number", row, number, "below 64, or 255 of time-codes");
        }
        let (first, period, count) = (f.code_first_ticks[row], f.code_period_ticks[row], f.code_count[row]);
        refuse(period == 0, "code_period_ticks", row, period, "a positive duration")?;
        if period.checked_mul(count).and_then(|all| all.checked_add(first)).is_none_or(|end| end >= NEVER) {
            return fail("code_count", row, count, "so few that the last one is before tick 2^62");
        }
    }
    Ok(())
}

/// Returns the shapes of the columns of codes.
pub fn code_shapes(f: &Fabric) -> Shapes {
    let of = |count: usize| if f.has_codes() { count } else { 0 };
    [
        of_rows!(f, of(f.links()); link_code_ticks, link_code_arrival_ticks),
        of_rows!(f, of(f.switches as usize); switch_code_ticks),
        of_rows!(f, f.code_port.len(); code_number, code_first_ticks, code_period_ticks, code_count),
    ]
    .concat()
}

/// Refuses paths to a terminal that delete different numbers of characters, and unsupported combinations.
pub fn addresses(f: &Fabric) -> Checked {
    known("link_deletes_address", &f.link_deletes_address, 1)?;
    if f.link_deletes_address.is_empty() {
        return Ok(());
    }
    let strips = |&entry: &u32| entry != NONE && entry & 1 == 1;
    let others = [
        // A switch deletes the front of a packet, and an address is in front of the header.
        ("route", f.route.iter().any(strips)),
        ("whole_packet_credit", f.whole_packet_credit > 0),
        ("link_deletes_header", f.link_deletes_header.contains(&1)),
        ("via_switch", !f.via_switch.is_empty()),
        ("table_ticks", f.has_tables()),
        ("distribution_start", f.has_distributions()),
    ];
    if let Some(&(column, _)) = others.iter().find(|other| other.1) {
        return fail(column, 0, "used", "nothing beside link_deletes_address");
    }
    (0..f.classes).try_for_each(|class| alike(f, class))
}

/// Returns the shapes of the columns of addresses.
pub fn address_shapes(f: &Fabric) -> Shapes {
    of_rows!(f, any f.links(); link_deletes_address)
}

/// What is known of a switch.
#[derive(Clone, Copy, PartialEq)]
enum Known {
    Nothing,
    /// It is on the current path.
    Followed,
    /// Number of characters that are deleted from here on.
    Deleted(u32),
}

/// Refuses a class with a cycle, or with a switch whose paths delete different numbers of characters.
fn alike(f: &Fabric, class: u32) -> Checked {
    let mut known = vec![Known::Nothing; f.switches as usize];
    for first in 0..f.switches {
        let mut followed = vec![first];
        while let Some(&switch) = followed.last() {
            if let Known::Deleted(_) = known[switch as usize] {
                followed.pop();
                continue;
            }
            known[switch as usize] = Known::Followed;
            let ahead = |&link: &u32| {
                let end = f.link_target[link as usize];
                let rest = if f.is_terminal(end) { Known::Deleted(0) } else { known[end as usize] };
                (link, rest)
            };
            let ends: Vec<(u32, Known)> = links_for(f, switch, class).iter().map(ahead).collect();
            if let Some(&(link, _)) = ends.iter().find(|end| end.1 == Known::Followed) {
                return fail("route", switch as usize, link, "no circle where addresses are deleted");
            }
            if let Some(&(link, _)) = ends.iter().find(|end| end.1 == Known::Nothing) {
                followed.push(f.link_target[link as usize]);
                continue;
            }
            known[switch as usize] = Known::Deleted(deleted(f, &ends)?);
        }
    }
    Ok(())
}

/// Returns the number of characters that several links, and the paths after them, delete.
fn deleted(f: &Fabric, ends: &[(u32, Known)]) -> Result<u32, FabricError> {
    let mut count = None;
    for &(link, rest) in ends {
        let Known::Deleted(rest) = rest else { continue };
        let own = rest + u32::from(f.deletes_address(link));
        if count.is_some_and(|count| count != own) {
            fail("link_deletes_address", link as usize, own, "as many deletions on every way to a terminal")?;
        }
        count = Some(own);
    }
    Ok(count.unwrap_or(0))
}

/// Returns the links by which packets of a class may leave a switch.
fn links_for(f: &Fabric, switch: u32, class: u32) -> Vec<u32> {
    let entry = f.entry(0, switch, class);
    if entry == NONE {
        return Vec::new();
    }
    let mut links: Vec<u32> = f.group(entry >> 1).iter().map(|&lane| f.link_of(lane)).collect();
    links.dedup();
    links
}
