//! Terminals that run programs: arrivals cross the host's bus before service, and programs are notified.
//!
//! The bus itself belongs to the programs, because it also carries what they send; see `docs/background/programs.md`.

use super::state::Rings;
use crate::fabric::{Fabric, transaction};
use crate::terminal::Packet;
use crate::terminal::program::mark;

/// The legal payloads.
const PAYLOADS: [u32; 3] = [16, 64, 256];

/// A packet that has arrived at a port and requests the bus of its terminal's host.
#[derive(Clone, Copy, Debug)]
pub struct Asking {
    /// The port at which it arrived.
    pub port: u32,
    /// The number by which it returns.
    pub held: u32,
    /// Bytes of a message that cross the bus.
    pub bytes: u32,
}

/// The interface between terminals and their programs.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts {
    /// Whether there are programs.
    pub told: bool,
    /// Whether arrivals cross a bus.
    has_bus: bool,
    /// Ports whose transactions ended in this tick, with their marks and whether they ended in time.
    over: Vec<(u32, u32, bool)>,
    /// Marks of transactions whose data were lost in this tick.
    lost: Vec<u32>,
    /// Packets that requested a bus in this tick.
    asking: Vec<Asking>,
    /// Per port: packets that wait for the bus of its host or use it.
    at_bus: Vec<u32>,
}

impl Hosts {
    pub fn new(fabric: &Fabric) -> Self {
        let (told, has_bus) = (fabric.has_programs(), fabric.has_host_bus());
        let at_bus = vec![0; if has_bus { fabric.ports() as usize } else { 0 }];
        Self { told, has_bus, at_bus, ..Self::default() }
    }
}

impl Rings {
    /// Returns the payload of a packet with this part of a message: the next legal one.
    #[inline]
    fn padded(&self, bytes: u32) -> u32 {
        let legal = PAYLOADS.into_iter().filter(|_| self.fabric.ring_any_payload == 0);
        legal.filter(|&payload| payload >= bytes).min().unwrap_or(bytes)
    }

    /// Returns the transaction of a packet, and its payload. Only parts of messages are padded.
    #[inline]
    pub(super) fn asks_for(&self, terminal: u32, packet: &Packet) -> (u8, u32) {
        let own = self.fabric.terminal_transaction[terminal as usize];
        match mark::kind(packet.mark) {
            _ if !self.hosts.told => (own, packet.length),
            mark::SOURCE => (own, packet.length),
            mark::READ => (transaction::READ, self.padded(packet.length)),
            _ => (own, self.padded(packet.length)),
        }
    }

    /// Ends a transaction: its number is free, and its program is notified unless the transaction was given up before.
    pub(super) fn end_transaction(&mut self, transaction: u32) {
        let it = &self.transactions[transaction];
        if it.numbered {
            self.closed.end(it.source, it.target);
            if self.hosts.told {
                self.hosts.over.push((it.source, it.mark, true));
            }
        }
        self.give_number_back(transaction);
    }

    /// Gives up a transaction and notifies its program.
    pub(super) fn give_up_transaction(&mut self, transaction: u32) {
        let it = &self.transactions[transaction];
        if self.hosts.told {
            self.hosts.over.push((it.source, it.mark, false));
        }
        self.give_number_back(transaction);
    }

    /// Records that the data of a transaction are lost or were removed.
    pub(super) fn lose(&mut self, transaction: u32) {
        let mark = self.transactions[transaction].mark;
        if self.hosts.told {
            self.hosts.lost.push(mark);
        }
        self.lose_of_flow(mark);
    }

    /// Counts a packet of a source that never arrives at its flow, if it has one.
    pub(super) fn lose_of_flow(&mut self, mark: u32) {
        let row = if self.hosts.told { mark::row(mark) } else { mark };
        self.faults.lost_of_flows.get_mut(row as usize).into_iter().for_each(|count| *count += 1);
    }

    /// Whether a packet that is ready for the user of a terminal crosses the host's bus before service.
    /// Acknowledgements and packets of sources do not.
    #[inline]
    pub(super) fn goes_over_bus(&mut self, station: u32, held: u32) -> bool {
        if !self.hosts.has_bus {
            return false;
        }
        let (port, transaction) = (
            self.stations[station as usize].link.terminal(),
            &self.transactions[self.entries[held].transaction],
        );
        let goes = !matches!(mark::kind(transaction.mark), mark::ACK | mark::SOURCE);
        if goes {
            self.hosts.asking.push(Asking { port, held, bytes: transaction.payload });
            self.hosts.at_bus[port as usize] += 1;
        }
        goes
    }

    /// Handles a packet that has crossed the host's bus: it is ready for service.
    pub fn off_bus(&mut self, port: u32, held: u32) {
        self.hosts.at_bus[port as usize] -= 1;
        self.entries[held].ready = self.now;
        self.await_service(self.fabric.terminal_out_link[port as usize], held);
    }

    /// Whether a packet at a station waits for the bus of its host or uses it.
    pub(super) fn is_at_bus(&self, station: u32) -> bool {
        let port = self.stations[station as usize].link.terminal();
        self.hosts.at_bus.get(port as usize).is_some_and(|&count| count > 0)
    }

    /// Takes the news for programs: ended transactions, losses, and requests for a bus.
    pub fn tell(&mut self, over: &mut Vec<(u32, u32, bool)>, lost: &mut Vec<u32>, asking: &mut Vec<Asking>) {
        over.append(&mut self.hosts.over);
        lost.append(&mut self.hosts.lost);
        asking.append(&mut self.hosts.asking);
    }

    /// Whether the tick has no news for sources, measurements or programs.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.delivered.is_empty() && self.asking.is_empty() && !self.hosts.told
    }
}
