//! Sources beside programs: the program of a terminal and its source take turns at each port.

use fabriloom_engine::fabric::Fabric;
use fabriloom_engine::kernel::Time;
use fabriloom_engine::terminal::program::mark;
use fabriloom_engine::terminal::{Packet, Ports, Programs, Sources};

use crate::ring::rings::Rings;
use crate::twin::Twin;

/// Whose turn it is.
pub(crate) struct Turns {
    /// Per port: whether the program sent the last packet, so that the source is first.
    yields: Vec<bool>,
    /// Whether sources have ended with the programs.
    ended: bool,
}

impl Turns {
    pub fn new(fabric: &Fabric) -> Self {
        Self { yields: vec![false; fabric.ports() as usize], ended: false }
    }
}

/// What decides whose turn it is.
pub(crate) struct Sides<'a> {
    fabric: &'a Fabric,
    now: Time,
    ports: &'a mut Ports,
    sources: &'a mut Sources,
    programs: &'a mut Option<Programs>,
    turns: &'a mut Turns,
}

/// A network whose terminals may have a source beside their program.
pub(crate) trait Beside {
    /// Returns what both use; None if there are no sources beside programs.
    fn sides(&mut self) -> Option<Sides<'_>>;

    /// Sends a packet by a port; returns whether the port takes another one.
    fn put(&mut self, port: u32, packet: Packet) -> bool;

    /// Gives the ports that begin to request packets to sources whose turn it is; the others remain for the programs.
    fn divide_requests(&mut self, asking: &mut Vec<u32>) {
        let Some(Sides { ports, now, .. }) = self.sides() else { return };
        asking.retain(|&port| !ports.is_open(port));
        asking.sort_unstable();
        asking.iter().for_each(|&port| ports.ask(port, now));
        for &port in &*asking {
            if self.sides().is_some_and(|sides| sides.turns.yields[port as usize]) {
                self.source_sends(port, true);
            }
        }
        asking.retain(|&port| self.sides().is_none_or(|sides| sides.ports.is_open(port)));
    }

    /// Notes that a program has sent a packet by a port; `more`: whether it takes another one.
    fn program_sent(&mut self, port: u32, more: bool) {
        if let Some(Sides { ports, turns, .. }) = self.sides() {
            turns.yields[port as usize] = true;
            ports.took(port, more);
        }
    }

    /// Sends a packet of the source of a port's terminal, by no other port if `only` this one is meant; returns by which,
    /// and whether that takes another one.
    fn source_sends(&mut self, port: u32, only: bool) -> Option<(u32, bool)> {
        let Sides { fabric, now, ports, sources, turns, .. } = self.sides()?;
        let terminal = ports.terminal(port);
        ports.keep(terminal, |other| only && other != port);
        let next = ports.next(fabric, sources, terminal, now);
        let (port, packet) = next.expect("every terminal has a plane in common with its targets")?;
        turns.yields[port as usize] = false;
        let more = self.put(port, Packet { mark: mark::of(packet.mark, mark::SOURCE), ..packet });
        self.sides()?.ports.took(port, more);
        Some((port, more))
    }

    /// Lets sources send where the programs leave ports free. They end when every program has ended.
    fn sources_use_the_rest(&mut self) {
        let Some(Sides { fabric, .. }) = self.sides() else { return };
        let firsts: Vec<u32> = (0..fabric.terminals).map(|one| fabric.ports_of(one).start).collect();
        for port in firsts {
            while let Some((port, more)) = self.source_sends(port, false) {
                let programs = self.sides().and_then(|sides| sides.programs.as_mut());
                programs.into_iter().for_each(|programs| programs.link_taken(port, more));
            }
        }
        let Some(Sides { fabric, now, sources, programs, turns, .. }) = self.sides() else { return };
        let ended = programs.as_ref().is_some_and(|one| one.rests() && !one.is_stuck());
        if ended && !std::mem::replace(&mut turns.ended, true) {
            sources.stop_after(fabric, now);
        }
    }

    /// Returns when a source may have a packet for a port that is free now.
    fn next_beside(&mut self) -> Option<Time> {
        let Sides { fabric, now, ports, sources, .. } = self.sides()?;
        let due = |terminal| ports.due(fabric, sources, terminal, now);
        (0..fabric.terminals).filter_map(due).map(|(_, time)| time).min()
    }
}

impl Beside for Twin<'_> {
    fn sides(&mut self) -> Option<Sides<'_>> {
        let Self { fabric, now, ports, sources, programs, turns, .. } = self;
        let ports = ports.as_mut().filter(|_| fabric.has_sources_beside())?;
        Some(Sides { fabric, now: *now, ports, sources, programs, turns })
    }

    fn put(&mut self, port: u32, packet: Packet) -> bool {
        self.assert_port(self.ways.terminal(port), port, &packet);
        self.put_on_link(port, packet);
        false
    }
}

impl Beside for Rings<'_> {
    fn sides(&mut self) -> Option<Sides<'_>> {
        let Self { fabric, now, ports, sources, programs, turns, .. } = self;
        let ports = ports.as_mut().filter(|_| fabric.has_sources_beside())?;
        Some(Sides { fabric, now: *now, ports, sources, programs, turns })
    }

    fn put(&mut self, port: u32, packet: Packet) -> bool {
        self.dispatch_or_discard(port as usize, packet);
        self.has_room(port as usize)
    }
}
