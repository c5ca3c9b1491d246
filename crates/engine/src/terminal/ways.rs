//! The destinations of a terminal's ports, and the choice among them: the rules of `docs/background/ports.md`.

use std::ops::Range;

use crate::fabric::{Fabric, MOST_PORTS, NEVER, NO_PORT, NONE, class_of, fault_kind, port_choice};
use crate::kernel::Time;

/// A packet between two terminals that have no plane in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoPlane {
    /// The source terminal.
    pub from: u32,
    /// The destination terminal.
    pub to: u32,
}

/// The ports of all terminals.
#[derive(Clone, Debug)]
pub struct Ways {
    /// Per terminal and one more: its first port; empty: each has one, with its number.
    starts: Vec<u32>,
    choice: Vec<u8>,
    /// Per port: its terminal.
    owner: Vec<u32>,
    plane: Vec<u32>,
    /// Per port: the switch that it sends to.
    home: Vec<u32>,
    /// Intermediate switches, the same number per plane, plane by plane.
    via_switch: Vec<u32>,
    planes: usize,
    /// The columns of traffic classes, and the number of classes. Of classes by pair of ports a packet has none yet.
    class_from: Vec<u32>,
    class_to: Vec<u32>,
    class_port: Vec<u8>,
    classes: usize,
    /// Per port: its ring, its place there, and the stations of the ring; empty if nobody takes the nearest.
    on_ring: Vec<[u32; 3]>,
    /// Per port, for terminals with several: when the terminal knows that its output link is down, in order.
    outages: Vec<Vec<(Time, Time)>>,
}

impl Ways {
    /// Returns the ports of a fabric.
    pub fn new(fabric: &Fabric) -> Self {
        let several = if fabric.has_ports() { fabric.terminals } else { 0 };
        let home = |&link: &u32| fabric.link_target[link as usize];
        let by_terminal = fabric.class_between.is_empty();
        let class = |column: &[u32]| if by_terminal { column.to_vec() } else { Vec::new() };
        Self {
            starts: fabric.terminal_ports.clone(),
            choice: fabric.terminal_choice.clone(),
            owner: (0..several)
                .flat_map(|terminal| fabric.ports_of(terminal).map(move |_| terminal))
                .collect(),
            plane: fabric.port_plane.clone(),
            home: fabric.terminal_out_link.iter().map(home).collect(),
            via_switch: fabric.via_switch.clone(),
            planes: fabric.planes.max(1) as usize,
            class_from: class(&fabric.port_class_from),
            class_to: class(&fabric.port_class_to),
            class_port: fabric.class_port.clone(),
            classes: fabric.traffic_classes(),
            on_ring: on_ring(fabric),
            outages: outages(fabric),
        }
    }

    /// Whether terminals have several ports.
    #[inline]
    pub fn are_several(&self) -> bool {
        !self.owner.is_empty()
    }

    /// Returns the terminal of a port.
    #[inline]
    pub fn terminal(&self, port: u32) -> u32 {
        if self.owner.is_empty() { port } else { self.owner[port as usize] }
    }

    /// Returns the ports of a terminal.
    #[inline]
    pub fn ports_of(&self, terminal: u32) -> Range<u32> {
        if self.starts.is_empty() {
            return terminal..terminal + 1;
        }
        self.starts[terminal as usize]..self.starts[terminal as usize + 1]
    }

    /// Returns the first port of a terminal.
    #[inline]
    pub fn first(&self, terminal: u32) -> u32 {
        self.ports_of(terminal).start
    }

    /// Returns the rule by which a terminal chooses.
    pub fn choice(&self, terminal: u32) -> u8 {
        self.choice.get(terminal as usize).copied().unwrap_or(port_choice::NOMINAL)
    }

    /// Returns the traffic class of packets from one terminal to another.
    #[inline]
    pub fn class(&self, terminal: u32, target: u32) -> usize {
        if self.class_from.is_empty() {
            return 0;
        }
        let (from, to) = (self.first(terminal) as usize, self.first(target) as usize);
        class_of(self.class_from[from], self.class_to[to], self.classes)
    }

    /// Returns the ports of a terminal that a traffic class uses, in order of preference, as indices.
    fn places(&self, terminal: u32, class: usize) -> &[u8] {
        const MOST: usize = MOST_PORTS as usize;
        const ALL: [u8; MOST] = [0, 1, 2, 3, 4, 5, 6, 7];
        if self.class_port.is_empty() {
            return &ALL[..self.ports_of(terminal).len()];
        }
        let row = terminal as usize * self.classes + class;
        let places = &self.class_port[row * MOST..(row + 1) * MOST];
        &places[..places.iter().position(|&place| place == NO_PORT).unwrap_or(MOST)]
    }

    /// Whether a terminal believes that the link of its port works.
    pub fn runs(&self, port: u32, now: Time) -> bool {
        let Some(outages) = self.outages.get(port as usize) else { return true };
        let begun = outages.partition_point(|&(from, _)| from <= now);
        begun == 0 || outages[begun - 1].1 <= now
    }

    /// Whether a terminal's knowledge of its links ever changes.
    #[inline]
    pub fn ever_change(&self, terminal: u32) -> bool {
        !self.outages.is_empty()
            && self.ports_of(terminal).any(|port| !self.outages[port as usize].is_empty())
    }

    /// Returns the first later tick in which a terminal learns that one of its links is down or works again.
    pub fn next_change(&self, terminal: u32, after: Time) -> Option<Time> {
        if self.outages.is_empty() {
            return None;
        }
        let next = |port: u32| {
            let outages = &self.outages[port as usize];
            let ended = outages.partition_point(|&(_, until)| until <= after);
            outages.get(ended).map(|&(from, until)| if from > after { from } else { until })
        };
        self.ports_of(terminal).filter_map(next).filter(|&time| time < NEVER as Time).min()
    }

    /// Returns the index of the port to a destination, free or not, among those of a terminal; with `FIRST_FREE` none
    /// if no port that leads there is free. `last`: the index chosen last for its traffic class. A port whose link is
    /// known to be down is not used while another one leads there.
    pub fn choose(
        &self,
        terminal: u32,
        target: u32,
        last: usize,
        now: Time,
        queued: impl Fn(usize) -> usize,
        is_free: impl Fn(usize) -> bool,
    ) -> Result<Option<usize>, NoPlane> {
        let first = self.first(terminal);
        let places = self.places(terminal, self.class(terminal, target));
        let own = || places.iter().map(|&place| usize::from(place));
        let could = |place: usize| self.other_end(first + place as u32, target).is_some();
        let can = |place: usize| could(place) && self.runs(first + place as u32, now);
        let any = !self.ever_change(terminal) || !own().any(can);
        let leads = |place: usize| if any { could(place) } else { can(place) };
        let next = own().position(|place| place == last).map_or(0, |at| at + 1);
        let mut around = own().skip(next).chain(own().take(next)).filter(|&place| leads(place)).peekable();
        if around.peek().is_none() {
            return Err(NoPlane { from: terminal, to: target });
        }
        let found = match self.choice(terminal) {
            port_choice::DESTINATION => {
                let mut those = own().filter(|&place| leads(place));
                let among = target as usize % those.clone().count();
                return Ok(those.nth(among));
            }
            port_choice::NOMINAL => return Ok(own().find(|&place| leads(place))),
            port_choice::SHORTEST_QUEUE => around.min_by_key(|&place| queued(place)),
            port_choice::FIRST_FREE => around.find(|&place| is_free(place)),
            port_choice::NEAREST => around.min_by_key(|&place| self.distance(first + place as u32, target)),
            _ => around.next(),
        };
        Ok(found)
    }

    /// Returns the links from a port to a terminal on its ring.
    fn distance(&self, port: u32, target: u32) -> u32 {
        let to = self.other_end(port, target).map(|to| self.on_ring[to as usize]);
        let [ring, place, size] = self.on_ring[port as usize];
        to.filter(|to| to[0] == ring).map_or(u32::MAX, |to| (to[1] + size - place) % size)
    }

    /// Returns the destination port for packets from a port to a terminal: if both terminals have the same number of
    /// ports in its plane, the one with the same index; otherwise the sender's number is added, modulo the number of
    /// ports.
    pub fn other_end(&self, port: u32, target: u32) -> Option<u32> {
        if !self.are_several() {
            return Some(target);
        }
        let (terminal, plane) = (self.terminal(port), self.plane[port as usize]);
        let (own, ports) = (self.ports_of(terminal), self.ports_of(target));
        let in_plane = |&other: &u32| self.plane[other as usize] == plane;
        let count = ports.clone().filter(in_plane).count();
        if count == 0 {
            return None;
        }
        let place = own.clone().filter(in_plane).position(|other| other == port)?;
        let shift = if own.filter(in_plane).count() == count { 0 } else { terminal as usize };
        ports.filter(in_plane).nth((place + shift) % count)
    }

    /// Returns the intermediate switches for a draw (those of the first plane, which represent all planes), and the
    /// terminal's own switch, which is excluded.
    #[inline]
    pub fn draw_from(&self, terminal: u32) -> (&[u32], u32) {
        let each = self.via_switch.len() / self.planes;
        (&self.via_switch[..each], self.home[self.first(terminal) as usize])
    }

    /// Returns the intermediate switch in the plane of a port, for a draw in the first plane; none if it is the switch
    /// that the port sends to.
    pub fn via(&self, port: u32, via: u32) -> u32 {
        if via == NONE || !self.are_several() {
            return via;
        }
        let each = (self.via_switch.len() / self.planes) as u32;
        let via = via % each + each * self.plane[port as usize];
        if self.via_switch[via as usize] == self.home[port as usize] { NONE } else { via }
    }
}

/// Returns the places in [`Ways`].
fn on_ring(fabric: &Fabric) -> Vec<[u32; 3]> {
    if !fabric.terminal_choice.contains(&port_choice::NEAREST) {
        return Vec::new();
    }
    let mut places = vec![[NONE; 3]; fabric.links()];
    for first in 0..places.len() {
        let (mut at, mut around) = (first, Vec::new());
        while places[at][0] == NONE {
            places[at] = [fabric.station_ring[at], around.len() as u32, 0];
            around.push(at);
            at = fabric.station_next[at] as usize;
        }
        around.iter().for_each(|&at| places[at][2] = around.len() as u32);
    }
    fabric.terminal_out_link.iter().map(|&station| places[station as usize]).collect()
}

/// Returns the outages in [`Ways`]. A terminal detects a failure when the packet that it was sending is ended.
fn outages(fabric: &Fabric) -> Vec<Vec<(Time, Time)>> {
    if !fabric.has_ports() || !fabric.has_faults() {
        return Vec::new();
    }
    let mut port_of = vec![NONE; fabric.links()];
    for (port, &link) in (0..).zip(&fabric.terminal_out_link) {
        port_of[link as usize] = port;
    }
    let mut found = vec![Vec::new(); fabric.terminal_out_link.len()];
    for (row, &link) in fabric.fault_link.iter().enumerate() {
        let (from, until) = (fabric.fault_ended_ticks[row] as Time, fabric.fault_up_ticks[row] as Time);
        if fabric.fault_kind[row] == fault_kind::LINK
            && from < until
            && let Some(outages) = found.get_mut(port_of[link as usize] as usize)
        {
            outages.push((from, until));
        }
    }
    found
}
