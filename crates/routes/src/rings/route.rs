//! Paths with the fewest buses and, among these, the fewest links: a search backwards from every target, ring by ring;
//! and dimension order in a torus of rings, computed directly: all orders of the dimensions are equally short there, and
//! with the lowest first no cycle of packets can form.

use std::ops::Range;

use super::table::{BLOCK, Builder, Exits, PortRoute};
use super::{PASS, RingNetwork};
use crate::{NONE, RouteError, Word};

/// Which terminals send and receive.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a> {
    /// Whether packets start at the terminal.
    pub sends: &'a [bool],
    /// Whether packets end at the terminal.
    pub receives: &'a [bool],
}

/// Returns the table of the ports. Equal paths are assigned in turn to rings, and to the targets on a ring; in the
/// table of another `turn` every target has the path of the target that many places after it. An error names two
/// terminals without a path between them.
pub fn port_route(net: &RingNetwork, ends: Ends<'_>, turn: u32) -> Result<PortRoute, RouteError> {
    let terminals = net.terminals();
    if ends.sends.len() != terminals || ends.receives.len() != terminals {
        return Err(RouteError::text("every terminal must be said to send or not, to receive or not"));
    }
    let mut table = Builder::new(net);
    let mut search = Search::new(net);
    let mut lanes = vec![[PASS; BLOCK]; net.port_station.len()];
    for target in 0..terminals {
        search.run(target as u32);
        if ends.receives[target] {
            search.find_lost(ends.sends, target as u32)?;
        }
        search.write(target as u32, turn, &mut lanes);
        if (target + 1) % BLOCK == 0 || target + 1 == terminals {
            for (port, lanes) in lanes.iter_mut().enumerate() {
                table.set(port, target / BLOCK, std::mem::replace(lanes, [PASS; BLOCK]));
            }
        }
    }
    Ok(table.finish())
}

/// More links than any path has.
const FAR: u32 = NONE / 2;

/// The search for one target, reused for targets after the same port, to which all path lengths differ by a constant.
struct Search<'a> {
    net: &'a RingNetwork,
    ports: RingPorts,
    /// The ring of the target and the port before it; see [`Self::run`].
    done: Option<(u32, u32)>,
    /// Per ring: fewest buses to the target, [`NONE`] while not reached.
    buses: Vec<u32>,
    rings: Vec<u32>,
    /// Per switch: whether it has been reached.
    reached: Vec<bool>,
    /// Per switch: start and number of its output port numbers in `equal`.
    ways: Vec<(u32, u32)>,
    /// Equally good output ports.
    equal: Vec<u8>,
    /// Per port on a reached ring: links of the remaining path if a packet is sent there.
    links: Vec<u32>,
    /// Per port that may take packets off its ring: links of the remaining path, otherwise [`NONE`].
    taking: Vec<u32>,
    /// Ports that take packets for the target.
    found: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(net: &'a RingNetwork) -> Self {
        let ports = net.port_station.len();
        Self {
            net,
            ports: RingPorts::new(net),
            done: None,
            buses: vec![NONE; net.rings()],
            rings: vec![],
            reached: vec![false; net.switches()],
            ways: vec![(0, 0); net.switches()],
            equal: vec![],
            links: vec![0; ports],
            taking: vec![NONE; ports],
            found: vec![],
        }
    }

    fn run(&mut self, target: u32) {
        let home = self.net.terminal_station[target as usize];
        let ring = self.net.ring[home as usize];
        let from = Some((ring, self.ports.before[home as usize]));
        if std::mem::replace(&mut self.done, from) == from {
            return;
        }
        self.buses.fill(NONE);
        self.reached.fill(false);
        self.taking.fill(NONE);
        self.equal.clear();
        self.found.clear();
        self.rings.clear();
        self.reach(ring, 0);
        self.home(home);
        let (mut layer, mut buses) = (0, 0);
        while layer < self.rings.len() {
            let end = self.rings.len();
            buses += 1;
            for place in layer..end {
                for at in self.ports.range(self.rings[place]) {
                    self.cross(self.net.port_switch[self.ports.around[at].0 as usize], buses);
                }
            }
            (end..self.rings.len()).for_each(|place| self.round(self.rings[place]));
            layer = end;
        }
    }

    fn reach(&mut self, ring: u32, buses: u32) {
        self.buses[ring as usize] = buses;
        self.rings.push(ring);
    }

    /// Counts the links to the target on its own ring.
    fn home(&mut self, home: u32) {
        let (mut station, mut links) = (home, 0);
        loop {
            let port = self.net.station_port[station as usize];
            if port != NONE {
                self.links[port as usize] = links;
            }
            station = self.net.previous[station as usize];
            links += 1;
            if station == home {
                return;
            }
        }
    }

    /// Makes the ports of a switch take packets to the nearest ports on rings that are one bus nearer.
    fn cross(&mut self, switch: u32, buses: u32) {
        if std::mem::replace(&mut self.reached[switch as usize], true) {
            return;
        }
        let ports = self.net.ports_of(switch);
        let first = self.equal.len();
        let mut best = NONE;
        for port in ports.clone() {
            let links = self.links[port as usize];
            if self.buses[self.ports.ring[port as usize] as usize] < buses && links <= best {
                if links < best {
                    self.equal.truncate(first);
                }
                best = links;
                self.equal.push((port - ports.start) as u8);
            }
        }
        self.ways[switch as usize] = (first as u32, (self.equal.len() - first) as u32);
        for port in ports {
            let ring = self.ports.ring[port as usize];
            if self.buses[ring as usize] == NONE {
                self.reach(ring, buses);
            }
            if self.buses[ring as usize] == buses {
                self.taking[port as usize] = best;
            }
        }
    }

    /// Decides which ports of a ring take packets off it: those after which no port is nearer.
    fn round(&mut self, ring: u32) {
        let ports = &self.ports.around[self.ports.range(ring)];
        let mut links = FAR;
        // Twice around, backwards: the first pass finds the ports after the last one.
        for again in [false, true] {
            for &(port, gap) in ports.iter().rev() {
                let taking = self.taking[port as usize];
                links += gap;
                self.links[port as usize] = links;
                if taking <= links {
                    links = taking;
                    if again {
                        self.found.push(port);
                    }
                }
            }
        }
    }

    /// Refuses a target that not all senders reach.
    fn find_lost(&self, sends: &[bool], target: u32) -> Result<(), RouteError> {
        if self.rings.len() == self.net.rings() {
            return Ok(());
        }
        let lost = |&source: &u32| {
            let ring = self.net.ring[self.net.terminal_station[source as usize] as usize];
            sends[source as usize] && self.buses[ring as usize] == NONE
        };
        match (0..self.net.terminals() as u32).find(lost) {
            None => Ok(()),
            Some(source) => Err(RouteError::of([
                "no route leads from ".into(),
                Word::Terminal(source),
                " to ".into(),
                Word::Terminal(target),
                ": no switches join their rings".into(),
            ])),
        }
    }

    /// Writes the entries of the ports that were found, for a target.
    fn write(&self, target: u32, turn: u32, lanes: &mut [Exits]) {
        let home = self.net.terminal_station[target as usize] as usize;
        // Both the rings of the targets and the targets on a ring rotate, whichever is used.
        let turn = self.net.ring[home] + self.net.place[home] + turn;
        for &port in &self.found {
            let (first, count) = self.ways[self.net.port_switch[port as usize] as usize];
            lanes[port as usize][target as usize % BLOCK] = self.equal[(first + turn % count) as usize];
        }
    }
}

/// The ports on the rings.
struct RingPorts {
    /// Per port: its ring.
    ring: Vec<u32>,
    /// Per ring and one more: start of its ports in `around`.
    start: Vec<u32>,
    /// The ports ring by ring in the order of the links, each with the number of links to the next.
    around: Vec<(u32, u32)>,
    /// Per station: the nearest port before it on its ring, [`NONE`] if there is none.
    before: Vec<u32>,
}

impl RingPorts {
    fn new(net: &RingNetwork) -> Self {
        let ring = net.port_station.iter().map(|&station| net.ring[station as usize]).collect();
        let (mut start, mut around) = (vec![0], Vec::with_capacity(net.port_station.len()));
        let mut before = vec![NONE; net.next.len()];
        for ring in 0..net.rings() as u32 {
            let stations = net.stations_of(ring);
            let is_port = |station: &u32| net.station_port[*station as usize] != NONE;
            let mut last = stations.iter().copied().rfind(is_port);
            for &station in stations {
                before[station as usize] = last.map_or(NONE, |last| net.station_port[last as usize]);
                if is_port(&station) {
                    last = Some(station);
                }
            }
            let here = stations.iter().copied().filter(is_port);
            let onward = here.clone().cycle().skip(1);
            around.extend(here.zip(onward).map(|(station, onward)| {
                (net.station_port[station as usize], net.links_between(station, onward))
            }));
            start.push(around.len() as u32);
        }
        Self { ring, start, around, before }
    }

    fn range(&self, ring: u32) -> Range<usize> {
        self.start[ring as usize] as usize..self.start[ring as usize + 1] as usize
    }
}

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
