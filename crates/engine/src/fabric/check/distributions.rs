//! Checks of packets that go to several ports at once, or draw a part of their group.

use super::{Checked, Shapes, ascending, below, between, fail, known, of_rows};
use crate::fabric::{Fabric, NONE};

/// Refuses distributions that do not end at their ports, parts of other groups, and unsupported combinations.
pub fn check(f: &Fabric) -> Checked {
    parts(f)?;
    known("group_all", &f.group_all, 1)?;
    if !f.has_distributions() {
        let spreads = (0..f.groups() as u32).find(|&group| f.takes_all(group));
        return spreads
            .map_or(Ok(()), |group| fail("group_all", group as usize, 1, "0 without distributions"));
    }
    ascending("distribution_start", &f.distribution_start, f.distribution_port.len())?;
    below("distribution_port", &f.distribution_port, f.ports() as usize, "a port")?;
    alone(f)?;
    let targets = f.ports()..f.ports() + f.distributions();
    targets.into_iter().try_for_each(|target| leads_to_its_ports(f, target))
}

/// Returns the shapes of the columns of distributions.
pub fn shapes(f: &Fabric) -> Shapes {
    [
        of_rows!(f, any f.groups(); group_all),
        of_rows!(f, any f.groups() + 1; group_part_start),
        of_rows!(f, any f.groups(); group_part_sources),
    ]
    .concat()
}

/// Refuses parts that have other lanes than their group, or parts of their own.
fn parts(f: &Fabric) -> Checked {
    ascending("group_part_start", &f.group_part_start, f.group_parts.len())?;
    below("group_parts", &f.group_parts, f.groups(), "a group")?;
    between("group_part_sources", &f.group_part_sources, 1, u32::MAX, "a number of sources")?;
    for group in 0..f.groups() as u32 {
        let is_of = |part: u32| f.group(part).iter().all(|lane| f.group(group).contains(lane));
        let fits = |part: u32| is_of(part) && f.parts(part).is_empty() && !f.takes_all(group);
        if let Some(&part) = f.parts(group).iter().find(|&&part| !fits(part)) {
            return fail("group_parts", group as usize, part, "a group of some of its lanes, without parts");
        }
    }
    Ok(())
}

/// Refuses features that distributions do not support.
fn alone(f: &Fabric) -> Checked {
    let others = [
        ("lanes", f.lanes > 1 || f.whole_packet_credit > 0 || f.output_queues > 0 || f.has_lane_arbiter()),
        ("terminal_ports", f.has_ports()),
        ("via_switch", !f.via_switch.is_empty()),
        ("fault_link", f.has_faults()),
        ("switch_timeout_ticks", f.has_timeouts()),
        ("program_start", f.has_programs()),
        ("station_next", f.has_rings()),
    ];
    match others.iter().find(|other| other.1) {
        Some(&(column, _)) => fail(column, 0, "used", "nothing beside distributions"),
        None => Ok(()),
    }
}

/// Refuses a cycle of switches, and an end at a port that is not in the distribution.
fn leads_to_its_ports(f: &Fabric, target: u32) -> Checked {
    let row = (target - f.ports()) as usize;
    let class = f.terminal_class[target as usize];
    let to = f.distributed_to(target);
    let entry = |switch: u32| f.entry(0, switch, class);
    // A switch is finished when no unfinished one leads to it; the remaining switches form a cycle.
    let mut leading = vec![0_u32; f.switches as usize];
    let next = |switch: u32| {
        let links = if entry(switch) == NONE { &[] } else { f.group(entry(switch) >> 1) };
        links.iter().map(|&link| f.link_target[link as usize])
    };
    for switch in 0..f.switches {
        for end in next(switch) {
            if !f.is_terminal(end) {
                leading[end as usize] += 1;
            } else if !to.contains(&(end - f.switches)) {
                return fail("distribution_port", row, end - f.switches, "every port that its routes end at");
            }
        }
        deletes_alike(f, entry(switch))?;
    }
    let mut done: Vec<u32> = (0..f.switches).filter(|&switch| leading[switch as usize] == 0).collect();
    let mut place = 0;
    while let Some(&switch) = done.get(place) {
        place += 1;
        for end in next(switch).filter(|&end| !f.is_terminal(end)) {
            leading[end as usize] -= 1;
            if leading[end as usize] == 0 {
                done.push(end);
            }
        }
    }
    let circle = (0..f.switches as usize).find(|&switch| leading[switch] > 0);
    circle.map_or(Ok(()), |switch| fail("route", switch, class, "no circle of switches for a distribution"))
}

/// Refuses a distribution that deletes the header on some of its links only.
fn deletes_alike(f: &Fabric, entry: u32) -> Checked {
    if entry == NONE || entry & 1 == 1 || !f.takes_all(entry >> 1) {
        return Ok(());
    }
    let links = f.group(entry >> 1);
    let first = f.link_deletes_header[links[0] as usize];
    match links.iter().find(|&&link| f.link_deletes_header[link as usize] != first) {
        Some(&link) => {
            fail("link_deletes_header", link as usize, 1 - first, "that of all links of its group")
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_groups_of_some_of_the_lanes() {
        let with = |group_parts: [u32; 2], group_all: u8| Fabric {
            group_switch: vec![0; 4],
            group_start: vec![0, 2, 3, 4, 5],
            group_links: vec![0, 1, 0, 1, 2],
            group_part_start: vec![0, 2, 2, 2, 2],
            group_parts: group_parts.into(),
            group_all: vec![group_all, 0, 0, 0],
            ..Fabric::default()
        };
        let refused = |f: &Fabric| parts(f).is_err();
        assert!(parts(&with([1, 2], 0)).is_ok());
        assert!([[1, 3], [1, 4], [0, 1]].iter().all(|&wrong| refused(&with(wrong, 0))));
        assert!(refused(&with([1, 2], 1)));
    }
}
