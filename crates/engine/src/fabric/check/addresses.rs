//! Checks of addresses that are deleted on the path.

use super::{Checked, Shapes, fail, known};
use crate::fabric::{Fabric, NONE};

/// Refuses paths to a terminal that delete different numbers of characters, and unsupported combinations.
pub fn check(f: &Fabric) -> Checked {
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
pub fn shapes(f: &Fabric) -> Shapes {
    let links = if f.link_deletes_address.is_empty() { 0 } else { f.links() };
    vec![("link_deletes_address", f.link_deletes_address.len(), links)]
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
fn deleted(f: &Fabric, ends: &[(u32, Known)]) -> Result<u32, crate::fabric::FabricError> {
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
