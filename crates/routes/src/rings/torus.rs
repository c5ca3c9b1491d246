//! Dimension order in a torus of rings, computed directly instead of by a search: all orders of the dimensions are
//! equally short there, and with the lowest first no cycle of packets can form.

use super::table::{Builder, PortRoute};
use super::{PASS, RingNetwork};
use crate::RouteError;

/// Returns the table of a torus. Switches are numbered with the last dimension fastest; each has a port for every
/// dimension of `sides` with more than one switch, and a last port for its terminals. All have equal numbers of
/// terminals, numbered as the switches.
pub fn torus_route(net: &RingNetwork, sides: &[u32]) -> Result<PortRoute, RouteError> {
    let torus = Torus::new(net, sides)?;
    let mut table = Builder::new(net);
    let (mut onward, mut row) = (vec![PASS; net.terminals()], vec![PASS; net.terminals()]);
    for switch in 0..net.switches() {
        let home = switch * torus.per_switch;
        let own = home..home + torus.per_switch;
        let first = switch * (torus.lines.len() + 1);
        torus.lowest_first(home, &mut onward);
        for (port, line) in torus.lines.iter().enumerate() {
            line.arrived(home, &onward, &mut row);
            table.set_row(first + port, &row);
        }
        onward[own].fill(PASS);
        table.set_row(first + torus.lines.len(), &onward);
    }
    Ok(table.finish())
}

struct Torus {
    per_switch: usize,
    /// The dimensions that have rings.
    lines: Vec<Line>,
}

/// One dimension, in terms of terminals.
struct Line {
    /// Number of consecutive terminals of one place of this dimension.
    place: usize,
    /// Number of terminals of all its places.
    all: usize,
}

impl Torus {
    fn new(net: &RingNetwork, sides: &[u32]) -> Result<Self, RouteError> {
        let (switches, terminals) = (net.switches(), net.terminals());
        let per_switch = terminals / switches.max(1);
        let mut all = per_switch;
        let mut lines = Vec::new();
        for &side in sides.iter().rev().filter(|&&side| side != 1) {
            let place = all;
            all = place.saturating_mul(side as usize);
            lines.push(Line { place, all });
        }
        lines.reverse();
        let ports = |switch| net.ports_of(switch).len();
        let fits = all == terminals && terminals == switches * per_switch && per_switch > 0;
        if fits && (0..switches as u32).all(|switch| ports(switch) == lines.len() + 1) {
            return Ok(Self { per_switch, lines });
        }
        Err(RouteError::text("the sides of the torus do not fit the network"))
    }

    /// Sets, per terminal, the port to its ring, or to that of the lowest dimension in which its switch differs from
    /// the switch whose first terminal is `home`.
    fn lowest_first(&self, home: usize, onward: &mut [u8]) {
        let mut rest = onward;
        let mut at = home;
        for (port, line) in (0..).zip(&self.lines) {
            rest.fill(port);
            let start = at / line.place * line.place;
            rest = &mut rest[start..start + line.place];
            at -= start;
        }
        rest.fill(self.lines.len() as u8);
    }
}

impl Line {
    /// Sets the row of a port of this dimension: packets leave the ring where the terminal's switch has the same place
    /// in it, and pass elsewhere.
    fn arrived(&self, home: usize, onward: &[u8], row: &mut [u8]) {
        let start = home % self.all / self.place * self.place;
        row.fill(PASS);
        for (row, onward) in row.chunks_mut(self.all).zip(onward.chunks(self.all)) {
            row[start..start + self.place].copy_from_slice(&onward[start..start + self.place]);
        }
    }
}
