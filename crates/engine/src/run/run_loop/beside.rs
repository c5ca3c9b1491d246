//! Sources beside programs: a terminal's program and its source take turns on the link of each port.

use std::collections::BTreeSet;

use super::finish::end_of_waiting;
use super::{Network, Run, RunError};
use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::measure::Delivery;
use crate::terminal::program::mark;
use crate::terminal::{Packet, Ports};

/// What sources beside programs wait for.
#[derive(Clone, Debug)]
pub(super) struct Beside {
    /// When sources may have packets for links that are free, and their terminals.
    wakes: BTreeSet<(Time, u32)>,
    /// Per port: whether the program sent the last packet, so that the source is first.
    yields: Vec<bool>,
    /// Terminals whose sources may have a packet in this tick.
    looks: Vec<u32>,
    /// Whether the programs are over, and with them the sources.
    over: bool,
}

impl Beside {
    /// Returns the state at tick 0; None without programs, or if no terminal is a source beside its program.
    pub fn new(fabric: &Fabric) -> Option<Box<Self>> {
        let ports = fabric.ports() as usize;
        let (wakes, looks) = (BTreeSet::new(), Vec::new());
        let beside = Self { wakes, yields: vec![false; ports], looks, over: false };
        fabric.has_sources_beside().then(|| Box::new(beside))
    }

    /// Returns the next tick in which a source creates a packet for a link that may be free.
    pub fn next(&self) -> Option<Time> {
        self.wakes.first().map(|&(time, _)| time)
    }
}

impl Run {
    /// Takes what sources' packets have met from the news of the programs.
    pub(super) fn keep_from_programs(&mut self) {
        self.news.heads.retain(|&(_, mark)| mark::kind(mark) != mark::SOURCE);
        self.news.lost.retain(|&mark| mark::kind(mark) != mark::SOURCE);
        self.news.over.retain(|&(_, mark, _)| mark::kind(mark) != mark::SOURCE);
    }

    /// Passes the links that request packets to sources whose turn it is, and all others to the programs.
    pub(super) fn divide_requests<N: Network>(&mut self, network: &mut N) -> Result<(), RunError> {
        let (Some(beside), Some(ports)) = (&mut self.beside, &mut self.ports) else { return Ok(()) };
        let mut asking = std::mem::take(&mut self.news.asking);
        // A port of a ring asks again while it takes packets: then nobody's turn begins.
        asking.retain(|&port| !ports.is_open(port));
        asking.sort_unstable();
        while let Some(&(time, terminal)) = beside.wakes.first()
            && time <= self.now
        {
            beside.wakes.pop_first();
            beside.looks.push(terminal);
        }
        for &port in &asking {
            ports.ask(port, self.now);
            beside.looks.push(ports.terminal(port));
        }
        for &port in &asking {
            let (Some(beside), Some(ports)) = (&self.beside, &mut self.ports) else { continue };
            if beside.yields[port as usize] {
                let terminal = ports.terminal(port);
                ports.keep(terminal, |other| other != port);
                self.send_of_source(network, terminal)?;
            }
        }
        asking.retain(|&port| self.ports.as_ref().is_some_and(|ports| ports.is_open(port)));
        self.news.asking = asking;
        Ok(())
    }

    /// Lets the sources use the links that the programs left free in this tick, and ends the run of the sources with
    /// that of the programs.
    pub(super) fn send_beside<N: Network>(&mut self, network: &mut N) -> Result<(), RunError> {
        let Some(beside) = &mut self.beside else { return Ok(()) };
        let mut looks = std::mem::take(&mut beside.looks);
        looks.sort_unstable();
        looks.dedup();
        for &terminal in &looks {
            if let Some(ports) = &mut self.ports {
                ports.keep(terminal, |_| false);
            }
            while let Some((port, more)) = self.send_of_source(network, terminal)? {
                self.programs.iter_mut().for_each(|one| one.link_taken(port, more));
            }
            self.wake_source(network.fabric(), terminal);
        }
        looks.clear();
        self.beside.iter_mut().for_each(|beside| beside.looks = std::mem::take(&mut looks));
        self.end_beside(network);
        Ok(())
    }

    /// Notes that a terminal's program has sent a packet by a port; `more`: whether the port takes another one.
    #[inline]
    pub(super) fn yields(
        beside: &mut Option<Box<Beside>>,
        ports: &mut Option<Box<Ports>>,
        port: u32,
        more: bool,
    ) {
        if let (Some(beside), Some(ports)) = (beside, ports) {
            beside.yields[port as usize] = true;
            ports.took(port, more);
        }
    }

    /// Sends the next packet of a source, if it is created and a port takes it; returns the port, and whether that takes
    /// another one.
    fn send_of_source<N: Network>(
        &mut self,
        network: &mut N,
        terminal: u32,
    ) -> Result<Option<(u32, bool)>, RunError> {
        let (Some(beside), Some(ports)) = (&mut self.beside, &mut self.ports) else { return Ok(None) };
        let next = ports.next(network.fabric(), &mut self.sources, terminal, self.now);
        let Some((port, packet)) = next.map_err(RunError::from)? else { return Ok(None) };
        beside.yields[port as usize] = false;
        self.taken.leave(packet.mark, packet.created, network.fabric().copies(packet.target));
        let marked = mark::of(packet.mark, mark::SOURCE);
        let more = network.send(port, &Packet { mark: marked, ..packet });
        ports.took(port, more);
        Ok(Some((port, more)))
    }

    /// Plans to ask a source that may have a packet later for a port that is free now.
    fn wake_source(&mut self, fabric: &Fabric, terminal: u32) {
        let (Some(beside), Some(ports)) = (&mut self.beside, &self.ports) else { return };
        if let Some((_, time)) = ports.due(fabric, &self.sources, terminal, self.now) {
            beside.wakes.insert((time, terminal));
        }
    }

    /// Ends the sources when every program has come to its end, and the run if programs wait for ever.
    fn end_beside<N: Network>(&mut self, network: &N) {
        let (Some(beside), Some(programs)) = (&mut self.beside, &self.programs) else { return };
        if beside.over || !programs.rests() {
            return;
        }
        if programs.is_stuck() && !programs.stopped() {
            self.end.get_or_insert(end_of_waiting(network));
            return;
        }
        beside.over = true;
        beside.wakes.clear();
        let fabric = network.fabric();
        self.sources.stop_after(fabric, self.now);
        // Some packets wait for their tokens.
        (0..fabric.terminals).for_each(|terminal| self.wake_source(fabric, terminal));
    }
}

/// Returns a delivery with the row of its flow as its mark; of a program's packet, without.
pub(super) fn of_flow(delivery: &Delivery) -> Delivery {
    Delivery { mark: mark::row(delivery.mark), ..*delivery }
}
