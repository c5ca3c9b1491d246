//! What hands out packets at terminals: sources, programs, or both, which then take turns at each port.

use fabriloom_engine::fabric::Fabric;
use fabriloom_engine::kernel::Time;
use fabriloom_engine::terminal::program::mark;
use fabriloom_engine::terminal::{Packet, Ports, Programs, Sources, Totals, Ways};

use crate::ring::rings::Rings;
use crate::twin::Twin;

/// The sources and programs of a network.
pub(crate) struct Senders {
    pub sources: Sources,
    /// The terminal of each port.
    pub ways: Ways,
    /// The ports of terminals, for the packets of sources with several, or beside programs.
    pub ports: Option<Ports>,
    /// The programs that drive the terminals, if any.
    pub programs: Option<Programs>,
    /// Per port: whether the program sent the last packet, so that the source is first.
    yields: Vec<bool>,
    /// Whether sources have ended with the programs.
    ended: bool,
}

impl Senders {
    pub fn new(fabric: &Fabric) -> Self {
        let has_programs = fabric.has_programs();
        let fills_ports = fabric.has_ports() && !has_programs || fabric.has_sources_beside();
        Self {
            sources: Sources::new(fabric),
            ways: Ways::new(fabric),
            ports: fills_ports.then(|| Ports::new(fabric)),
            programs: has_programs.then(|| Programs::new(fabric, usize::MAX)),
            yields: vec![false; fabric.ports() as usize],
            ended: false,
        }
    }

    /// Returns what has been created up to a tick; some packets are handed out and not dispatched.
    pub fn totals(&self, fabric: &Fabric, until: Time, given: &[Packet]) -> Totals {
        // A copy, because counting arrivals up to now draws from the sources.
        let mut totals = match &self.ports {
            Some(ports) => ports.totals(&self.sources, fabric, until),
            None => self.sources.clone().totals(fabric, until, given),
        };
        if let Some(programs) = &self.programs {
            let own = if fabric.has_sources_beside() { totals.offered } else { 0 };
            totals.offered = own + programs.handed().0;
        }
        totals
    }

    /// Creates no packets of sources after this tick.
    pub fn stop_after(&mut self, fabric: &Fabric, last: Time) {
        self.sources.stop_after(fabric, last);
        self.ports.iter_mut().for_each(|ports| ports.drop_later(last));
    }
}

/// A network whose terminals may have a source beside their program.
pub(crate) trait Beside {
    /// Returns its senders, the arrays, and the present tick.
    fn sides(&mut self) -> (&mut Senders, &Fabric, Time);

    /// Sends a packet by a port; returns whether the port takes another one.
    fn put(&mut self, port: u32, packet: Packet) -> bool;

    /// Gives the ports that begin to request packets to sources whose turn it is; the others remain for the programs.
    fn divide_requests(&mut self, asking: &mut Vec<u32>) {
        let (Senders { ports: Some(ports), .. }, _, now) = self.sides() else { return };
        asking.retain(|&port| !ports.is_open(port));
        asking.sort_unstable();
        asking.iter().for_each(|&port| ports.ask(port, now));
        for &port in &*asking {
            if self.sides().0.yields[port as usize] {
                self.source_sends(port, true);
            }
        }
        let (Senders { ports, .. }, ..) = self.sides();
        asking.retain(|&port| ports.as_ref().is_some_and(|ports| ports.is_open(port)));
    }

    /// Notes that a program has sent a packet by a port; `more`: whether it takes another one.
    fn program_sent(&mut self, port: u32, more: bool) {
        if let (Senders { ports: Some(ports), yields, .. }, ..) = self.sides() {
            yields[port as usize] = true;
            ports.took(port, more);
        }
    }

    /// Sends a packet of the source of a port's terminal, by no other port if `only` this one is meant; returns by which,
    /// and whether that takes another one.
    fn source_sends(&mut self, port: u32, only: bool) -> Option<(u32, bool)> {
        let (Senders { ports, sources, yields, .. }, fabric, now) = self.sides();
        let ports = ports.as_mut()?;
        let terminal = ports.terminal(port);
        ports.keep(terminal, |other| only && other != port);
        let next = ports.next(fabric, sources, terminal, now);
        let (port, packet) = next.expect("every terminal has a plane in common with its targets")?;
        yields[port as usize] = false;
        let more = self.put(port, Packet { mark: mark::of(packet.mark, mark::SOURCE), ..packet });
        self.sides().0.ports.as_mut()?.took(port, more);
        Some((port, more))
    }

    /// Lets sources send where the programs leave ports free. They end when every program has ended.
    fn sources_use_the_rest(&mut self) {
        let (Senders { ports: Some(_), .. }, fabric, _) = self.sides() else { return };
        let firsts: Vec<u32> = (0..fabric.terminals).map(|one| fabric.ports_of(one).start).collect();
        for port in firsts {
            while let Some((port, more)) = self.source_sends(port, false) {
                self.sides().0.programs.iter_mut().for_each(|programs| programs.link_taken(port, more));
            }
        }
        let (Senders { sources, programs, ended, .. }, fabric, now) = self.sides();
        let is_over = programs.as_ref().is_some_and(|one| one.rests() && !one.is_stuck());
        if is_over && !std::mem::replace(ended, true) {
            sources.stop_after(fabric, now);
        }
    }

    /// Returns when a source may have a packet for a port that is free now.
    fn next_beside(&mut self) -> Option<Time> {
        let (Senders { ports, sources, .. }, fabric, now) = self.sides();
        let ports = ports.as_mut()?;
        let due = |terminal| ports.due(fabric, sources, terminal, now);
        (0..fabric.terminals).filter_map(due).map(|(_, time)| time).min()
    }
}

impl Beside for Twin<'_> {
    fn sides(&mut self) -> (&mut Senders, &Fabric, Time) {
        (&mut self.senders, self.fabric, self.now)
    }

    fn put(&mut self, port: u32, packet: Packet) -> bool {
        self.assert_port(self.senders.ways.terminal(port), port, &packet);
        self.put_on_link(port, packet);
        false
    }
}

impl Beside for Rings<'_> {
    fn sides(&mut self) -> (&mut Senders, &Fabric, Time) {
        (&mut self.senders, self.fabric, self.now)
    }

    fn put(&mut self, port: u32, packet: Packet) -> bool {
        self.dispatch_or_discard(port as usize, packet);
        self.has_room(port as usize)
    }
}
