//! Terminals that run programs: the host's bus behind a terminal's service, and what programs are told.

use super::state::Rings;
use crate::fabric::{Fabric, NONE};
use crate::terminal::Packet;
use crate::terminal::program::mark;

/// What is between terminals and their programs.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts {
    /// Whether what is served goes over a bus.
    has_bus: bool,
    /// Terminals whose transactions were over in this tick, with their marks.
    pub over: Vec<(u32, u32)>,
    /// Terminals of which a service waits for the bus from this tick on, with the mark and the payload of the packet.
    pub at_bus: Vec<(u32, u32, u32)>,
}

impl Hosts {
    pub fn new(fabric: &Fabric) -> Self {
        let has_bus = fabric.message_bus_packet_ticks > 0 || fabric.message_bus_byte_ticks > 0.0;
        Self { has_bus: fabric.has_programs() && has_bus, ..Self::default() }
    }
}

impl Rings {
    /// What a packet asks for.
    #[inline]
    pub(super) fn transaction_of(&self, terminal: u32, packet: &Packet) -> u8 {
        match mark::kind(packet.mark) {
            mark::READ => crate::fabric::transaction::READ,
            _ => self.fabric.terminal_transaction[terminal as usize],
        }
    }

    /// The transaction of a packet with this mark is over.
    #[inline]
    pub(super) fn tell_over(&mut self, source: u32, mark: u32) {
        if mark != NONE {
            self.hosts.over.push((source, mark));
        }
    }

    /// An access is over: what was accessed goes over the host's bus if there is one, and stays served meanwhile.
    #[inline]
    pub(super) fn accessed(&mut self, station: u32) {
        if !self.hosts.has_bus {
            return self.served(station);
        }
        let at = &self.stations[station as usize];
        let deal = &self.deals[self.helds[at.at_work].deal];
        self.hosts.at_bus.push((at.terminal, deal.mark, deal.length));
    }

    /// What was accessed last at a terminal has gone over its host's bus.
    pub fn off_bus(&mut self, terminal: u32) {
        self.served(self.fabric.terminal_out_link[terminal as usize]);
        for &terminal in &self.asking {
            self.numbers[terminal as usize].asked = false;
        }
    }

    /// Takes what programs have to be told: transactions that are over, and what waits for a bus.
    pub fn tell(&mut self, over: &mut Vec<(u32, u32)>, at_bus: &mut Vec<(u32, u32, u32)>) {
        over.append(&mut self.hosts.over);
        at_bus.append(&mut self.hosts.at_bus);
    }
}
