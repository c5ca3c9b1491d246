//! Ways of fewest buses and, of those, fewest links: a search from every target backwards, ring by ring.

use std::ops::Range;

use super::{PASS, RingNetwork};
use crate::{NONE, RouteError, Word};

/// Who may send, and to whom: one entry per terminal.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a> {
    /// Whether packets start at the terminal.
    pub sends: &'a [bool],
    /// Whether packets end at the terminal.
    pub receives: &'a [bool],
}

/// Per port a row of one entry per terminal: number within the switch of the port to leave by, or [`PASS`].
///
/// Equal ways are dealt out in turn to rings, and to the targets on a ring, if `spread`, otherwise the first port is taken. An error
/// names two terminals between which there is no way.
pub fn port_route(net: &RingNetwork, spread: bool, ends: Ends<'_>) -> Result<Vec<u8>, RouteError> {
    let terminals = net.terminals();
    if ends.sends.len() != terminals || ends.receives.len() != terminals {
        return Err(RouteError::text("every terminal must be said to send or not, to receive or not"));
    }
    let mut route = vec![PASS; net.port_station.len() * terminals];
    let mut search = Search::new(net);
    let mut lanes = vec![[PASS; BLOCK]; net.port_station.len()];
    for target in 0..terminals {
        search.run(target as u32, spread);
        let lost = |&source: &usize| {
            let ring = net.ring[net.terminal_station[source] as usize];
            ends.sends[source] && search.buses[ring as usize] == NONE
        };
        if let Some(source) = (0..terminals).filter(|_| ends.receives[target]).find(lost) {
            let (source, target) = (Word::Terminal(source as u32), Word::Terminal(target as u32));
            let why = ": no switches join their rings";
            return Err(RouteError::of([
                "no route leads from ".into(),
                source,
                " to ".into(),
                target,
                why.into(),
            ]));
        }
        for &(port, exit) in &search.found {
            lanes[port as usize][target % BLOCK] = exit;
        }
        if (target + 1) % BLOCK == 0 || target + 1 == terminals {
            write(&mut route, &mut lanes, terminals, target / BLOCK * BLOCK..target + 1);
        }
    }
    Ok(route)
}

/// Targets that are written into the table together: their entries stand side by side in it.
const BLOCK: usize = 64;

/// Writes what was found for some targets into the rows of the ports.
fn write(route: &mut [u8], lanes: &mut [[u8; BLOCK]], terminals: usize, targets: Range<usize>) {
    for (row, lanes) in route.chunks_mut(terminals).zip(lanes) {
        row[targets.clone()].copy_from_slice(&lanes[..targets.len()]);
        lanes.fill(PASS);
    }
}

/// The search for one target, its arrays kept for the next.
struct Search<'a> {
    net: &'a RingNetwork,
    /// Per ring: fewest buses to the target, [`NONE`] while not reached.
    buses: Vec<u32>,
    /// Per switch: whether it has been reached.
    reached: Vec<bool>,
    /// Per station: links of the way on from when a packet comes there.
    links: Vec<u32>,
    /// Per port that may take packets off its ring: links of the way on from there, otherwise [`NONE`].
    taking: Vec<u32>,
    /// Per switch: number of the port to leave by.
    exit: Vec<u8>,
    rings: Vec<u32>,
    /// Ports that take packets for the target, each with its exit.
    found: Vec<(u32, u8)>,
}

impl<'a> Search<'a> {
    fn new(net: &'a RingNetwork) -> Self {
        Self {
            net,
            buses: vec![NONE; net.rings()],
            reached: vec![false; net.switches()],
            links: vec![0; net.next.len()],
            taking: vec![NONE; net.port_station.len()],
            exit: vec![0; net.switches()],
            rings: vec![],
            found: vec![],
        }
    }

    fn run(&mut self, target: u32, spread: bool) {
        self.buses.fill(NONE);
        self.reached.fill(false);
        self.taking.fill(NONE);
        self.found.clear();
        self.rings.clear();
        let home = self.net.terminal_station[target as usize];
        let ring = self.net.ring[home as usize];
        // Both the rings of the targets and the targets on a ring take turns, whichever of them are used.
        let place = self.net.stations_of(ring).iter().position(|&station| station == home);
        let turn = spread.then_some(ring as usize + place.unwrap_or(0));
        self.reach(ring, 0);
        self.home(home);
        let (mut layer, mut buses) = (0, 0);
        while layer < self.rings.len() {
            let end = self.rings.len();
            buses += 1;
            for place in layer..end {
                for &station in self.net.stations_of(self.rings[place]) {
                    let port = self.net.station_port[station as usize];
                    if port != NONE {
                        self.cross(self.net.port_switch[port as usize], buses, turn);
                    }
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
            self.links[station as usize] = links;
            station = self.net.previous[station as usize];
            links += 1;
            if station == home {
                return;
            }
        }
    }

    /// Lets the ports of a switch take packets to the nearest port on a ring that is one bus nearer.
    fn cross(&mut self, switch: u32, buses: u32, turn: Option<usize>) {
        if std::mem::replace(&mut self.reached[switch as usize], true) {
            return;
        }
        let net = self.net;
        let leaving = |port: u32| {
            let station = net.port_station[port as usize];
            let nearer = self.buses[net.ring[station as usize] as usize] < buses;
            nearer.then(|| 1 + self.links[net.next[station as usize] as usize])
        };
        let ports = net.ports_of(switch);
        let best = ports.clone().filter_map(leaving).min().expect("reached from a ring of its own");
        let equal = ports.clone().filter(|&port| leaving(port) == Some(best));
        let turn = turn.map_or(0, |turn| turn % equal.clone().count());
        let chosen = equal.clone().nth(turn).expect("fewer turns than ways");
        self.exit[switch as usize] = (chosen - ports.start) as u8;
        for port in ports {
            let ring = net.ring[net.port_station[port as usize] as usize];
            if self.buses[ring as usize] == NONE {
                self.reach(ring, buses);
            }
            if self.buses[ring as usize] == buses {
                self.taking[port as usize] = best;
            }
        }
    }

    /// Decides which ports of a ring take packets off it: those from which no later port is nearer.
    fn round(&mut self, ring: u32) {
        let net = self.net;
        let stations = net.stations_of(ring);
        let mut links = NONE - 1;
        // Twice round, backwards: the first time brings what is known of the ports behind the last station.
        for again in [false, true] {
            for &station in stations.iter().rev() {
                links += u32::from(links < NONE - 1);
                let port = net.station_port[station as usize];
                if port != NONE && self.taking[port as usize] <= links {
                    links = self.taking[port as usize];
                    if again {
                        self.found.push((port, self.exit[net.port_switch[port as usize] as usize]));
                    }
                }
                self.links[station as usize] = links;
            }
        }
    }
}
