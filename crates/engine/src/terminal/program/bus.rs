//! The host's bus, shared by outgoing and incoming packets: one transfer at a time, in order of request.

use std::collections::VecDeque;

use super::{Programs, timer};
use crate::kernel::Time;

/// A packet that uses the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    /// A packet to the link, by its own number or that of its message.
    Out { number: u32 },
    /// The same, while the processor fills it.
    Store { number: u32 },
    /// A packet from the link.
    In { number: u32 },
    /// A packet that arrived at a port on a ring, by the number that it has there.
    Held { port: u32, held: u32 },
}

/// A host's bus.
#[derive(Clone, Debug, Default)]
pub(super) struct Bus {
    /// The current transfer, then the waiting ones, with their ticks.
    queue: VecDeque<(Transfer, Time)>,
}

impl Programs {
    /// Queues a packet for the bus of a terminal.
    #[inline]
    pub(super) fn use_bus(&mut self, terminal: u32, transfer: Transfer, ticks: Time) {
        let bus = &mut self.hosts[terminal as usize].bus;
        if ticks == 0 && bus.queue.is_empty() {
            return self.transferred(terminal, transfer);
        }
        bus.queue.push_back((transfer, ticks));
        if bus.queue.len() == 1 {
            self.start_transfers(terminal);
        }
    }

    /// Starts the first transfer; transfers that take no time end immediately.
    fn start_transfers(&mut self, terminal: u32) {
        while let Some(&(transfer, ticks)) = self.hosts[terminal as usize].bus.queue.front() {
            if ticks > 0 {
                return self.schedule(terminal, timer::BUS, ticks);
            }
            self.hosts[terminal as usize].bus.queue.pop_front();
            self.transferred(terminal, transfer);
        }
    }

    /// Ends the current transfer.
    pub(super) fn bus_over(&mut self, terminal: u32) {
        if let Some((transfer, _)) = self.hosts[terminal as usize].bus.queue.pop_front() {
            self.transferred(terminal, transfer);
        }
        self.start_transfers(terminal);
    }

    fn transferred(&mut self, terminal: u32, transfer: Transfer) {
        match transfer {
            Transfer::Out { number } => {
                self.interface(self.channel_of(number)).make_ready(number);
                self.touch(terminal);
            }
            Transfer::Store { number } => self.stored(terminal, number),
            Transfer::In { number } => self.arrived(terminal, number),
            Transfer::Held { port, held } => self.off_bus.push((port, held)),
        }
    }
}
