//! Checks of terminals with several ports.

use super::{Checked, Shapes, ascending, below, fail, known, of_rows, refuse};
use crate::fabric::{Fabric, FabricError, MOST_PORTS, NO_PORT, port_choice};

/// Returns the number of ports of all terminals, from the column with which all others must agree.
pub fn count(f: &Fabric) -> usize {
    f.terminal_ports.last().map_or(f.terminals, |&last| last) as usize
}

/// Refuses ports without a terminal or a plane.
pub fn check(f: &Fabric) -> Checked {
    let (terminals, ports) = (f.terminals as usize, count(f));
    let given = if f.has_ports() { [terminals + 1, terminals, ports] } else { [0; 3] };
    let found = [
        ("terminal_ports", f.terminal_ports.len()),
        ("terminal_choice", f.terminal_choice.len()),
        ("port_plane", f.port_plane.len()),
    ];
    for ((column, rows), expected) in found.into_iter().zip(given) {
        if rows != expected {
            return Err(FabricError::Shape { column, rows, expected });
        }
    }
    if !f.has_ports() {
        return if f.planes == 0 { Ok(()) } else { fail("planes", 0, f.planes, "0 without terminal_ports") };
    }
    ascending("terminal_ports", &f.terminal_ports, ports)?;
    known("terminal_choice", &f.terminal_choice, port_choice::LAST)?;
    let nearest = f.terminal_choice.iter().position(|&choice| choice == port_choice::NEAREST);
    if let Some(terminal) = nearest.filter(|_| !f.has_rings() || f.switches > 0) {
        return fail("terminal_choice", terminal, port_choice::NEAREST, "another one beside switches");
    }
    refuse(f.planes as usize > ports, "planes", 0, f.planes, "at most the number of ports")?;
    below("port_plane", &f.port_plane, f.planes as usize, "a plane")?;
    let of = |terminal: usize| f.terminal_ports[terminal + 1] - f.terminal_ports[terminal];
    if let Some(terminal) = (0..terminals).find(|&terminal| !(1..=MOST_PORTS).contains(&of(terminal))) {
        return fail("terminal_ports", terminal, f.terminal_ports[terminal], "followed by 1 to 8 ports");
    }
    if !f.via_switch.len().is_multiple_of(f.planes.max(1) as usize) {
        return fail("via_switch", 0, f.via_switch.len(), "as many switches of each plane");
    }
    Ok(())
}

/// Returns the shapes of the columns of traffic classes.
pub fn class_shapes(f: &Fabric) -> Shapes {
    let ports = if f.class_headers.is_empty() { 0 } else { count(f) };
    let terminals = if f.has_ports() { f.terminals as usize } else { 0 };
    [
        of_rows!(f, ports; port_class_from, port_class_to),
        of_rows!(f, any terminals * f.class_headers.len() * MOST_PORTS as usize; class_port),
    ]
    .concat()
}

/// Refuses places that a table of pairs does not have, and classes that do not exist.
fn classes_by_pair(f: &Fabric) -> Checked {
    if !f.class_port.is_empty() {
        return fail("class_between", 0, f.class_between[0], "empty where classes have ports");
    }
    let first = f.port_class_from.iter().max().copied().unwrap_or(0) as usize;
    let last = f.port_class_to.iter().max().copied().unwrap_or(0) as usize;
    if first + last >= f.class_between.len() {
        return fail(
            "class_between",
            first + last,
            f.class_between.len(),
            "long enough for all pairs of ports",
        );
    }
    known("class_between", &f.class_between, f.class_headers.len().saturating_sub(1) as u8)
}

/// Refuses ports of one terminal with different traffic classes, and ports that a terminal does not have.
pub fn classes(f: &Fabric) -> Checked {
    if f.class_headers.len() > u32::BITS as usize {
        return fail("class_headers", f.class_headers.len() - 1, f.class_headers.len(), "at most 32 classes");
    }
    if !f.class_between.is_empty() {
        return classes_by_pair(f);
    }
    for (column, may) in [("port_class_from", &f.port_class_from), ("port_class_to", &f.port_class_to)] {
        for terminal in (0..f.terminals).filter(|_| !may.is_empty()) {
            let ports = f.ports_of(terminal);
            if let Some(port) = ports.clone().find(|&port| may[port as usize] != may[ports.start as usize]) {
                return fail(column, port as usize, may[port as usize], "that of all ports of its terminal");
            }
        }
    }
    let rows = f.class_port.chunks(MOST_PORTS as usize);
    for (row, places) in rows.enumerate() {
        let ports = f.ports_of((row / f.class_headers.len()) as u32).len();
        let known = places.iter().position(|&place| place == NO_PORT).unwrap_or(places.len());
        let (own, rest) = places.split_at(known);
        let is_own = own.iter().all(|&place| usize::from(place) < ports);
        if !is_own || rest.iter().any(|&place| place != NO_PORT) {
            return fail("class_port", row * places.len(), places[0], "ports of the terminal, then none");
        }
    }
    Ok(())
}
