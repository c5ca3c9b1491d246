//! The host's bus, shared by what is sent and what has come: one transfer at a time, in order of asking.

use std::collections::VecDeque;

use super::{Programs, timer};
use crate::kernel::Time;

/// A packet on its way over the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    /// A packet to the link, by the number by which it goes: that of its message, or its own.
    Out { number: u32 },
    /// The same, as it is filled.
    Store { number: u32 },
    /// A packet from the link.
    In { number: u32 },
    /// What has come on a ring, by the number that it has there.
    Held { held: u32 },
}

/// A host's bus.
#[derive(Clone, Debug, Default)]
pub(super) struct Bus {
    /// The transfer under way, then those that wait, with the ticks that they take.
    queue: VecDeque<(Transfer, Time)>,
}

impl Programs {
    /// Has a packet use the bus of a terminal.
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

    /// Starts the first transfer; those that take no time are over at once.
    fn start_transfers(&mut self, terminal: u32) {
        while let Some(&(transfer, ticks)) = self.hosts[terminal as usize].bus.queue.front() {
            if ticks > 0 {
                return self.schedule(terminal, timer::BUS, ticks);
            }
            self.hosts[terminal as usize].bus.queue.pop_front();
            self.transferred(terminal, transfer);
        }
    }

    /// The transfer under way is over.
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
            Transfer::Held { held } => self.off_bus.push((terminal, held)),
        }
    }
}
