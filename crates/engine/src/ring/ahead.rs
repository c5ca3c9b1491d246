//! Reading ahead in large networks: what the next events will need comes from far caches, each row waiting for the one
//! that tells where it is. The rows of some events at a time are read here, so that they wait together. Nothing
//! follows from what is read.

use super::parts::{Held, Kind, Unit};
use super::state::Rings;
use super::tick::{ARRIVE, BUS, LOOK, USER, WORK, parts};
use crate::fabric::NONE;
use crate::kernel::Time;
use crate::kernel::calendar::AHEAD;

impl Rings {
    /// Reads what the next events that are due will need, if there are many.
    #[inline(never)]
    pub(super) fn read_ahead(&mut self) {
        let mut events = [NONE; AHEAD];
        let ahead = self.calendar.ahead();
        let count = ahead.len();
        for (event, due) in events.iter_mut().zip(ahead.iter().rev()) {
            *event = due.number;
        }
        let events = events[..count].iter().map(|&event| parts(event));
        let mut read = 0;
        for (kind, number) in events.clone() {
            read ^= self.read_first(kind, number);
        }
        for (kind, number) in events.clone() {
            read ^= self.read_second(kind, number);
        }
        for (kind, number) in events.clone() {
            read ^= self.read_third(kind, number);
        }
        for (kind, number) in events {
            read ^= self.read_fourth(kind, number);
        }
        std::hint::black_box(read);
    }

    /// Reads what an event happens to.
    #[inline]
    fn read_first(&self, kind: u32, number: u32) -> Time {
        let at = number as usize;
        match kind {
            LOOK => self.stations[at].look_at ^ self.stations[at].packets as Time,
            WORK | USER => Time::from(self.stations[at].port ^ self.stations[at].at_work),
            BUS => self.switches[at].look_at ^ self.switches[at].count.transfers as Time,
            ARRIVE => self.units[number].time,
            _ => 0,
        }
    }

    /// Reads what that leads to.
    #[inline]
    fn read_second(&self, kind: u32, number: u32) -> Time {
        match kind {
            LOOK => {
                let at = &self.stations[number as usize];
                let next = &self.stations[at.next as usize];
                let mut read = next.free_at;
                if at.bypass.head != NONE {
                    return read ^ self.units[at.bypass.head].time;
                }
                read ^= at.wait_ticks as Time ^ Time::from(next.undecided);
                if at.echoes_due.head != NONE {
                    read ^= self.units[at.echoes_due.head].time;
                }
                for entry in [at.fresh[0].head, at.fresh[1].head] {
                    if entry != NONE {
                        read ^= self.entries[entry].ready;
                    }
                }
                if at.port != NONE {
                    read ^= self.switches[at.home as usize].look_at;
                }
                read
            }
            WORK => {
                let at = &self.stations[number as usize];
                let mut read = if at.at_work == NONE { 0 } else { self.helds[at.at_work].ready };
                if at.port != NONE {
                    let of = &self.switches[at.home as usize];
                    read ^= of.look_at ^ of.count.transfers as Time ^ self.ports[at.port as usize].ready[0];
                }
                read
            }
            BUS => self.read_ports(number),
            ARRIVE => {
                let it = &self.units[number];
                let at = &self.stations[if it.kind == Kind::Open { it.dest } else { it.station } as usize];
                self.entries[it.entry].ready ^ at.free_at ^ at.wait_ticks as Time ^ Time::from(at.undecided)
            }
            _ => 0,
        }
    }

    /// Reads what that leads to.
    #[inline]
    fn read_third(&self, kind: u32, number: u32) -> Time {
        match kind {
            LOOK => {
                let at = &self.stations[number as usize];
                let next = &self.stations[at.next as usize];
                if at.bypass.head != NONE {
                    let Unit { kind, dest, .. } = self.units[at.bypass.head];
                    return if !kind.is_packet() {
                        next.packets as Time
                    } else if next.port != NONE {
                        Time::from(self.exits.row(next.port, dest))
                    } else {
                        0
                    };
                }
                if next.port == NONE {
                    return 0;
                }
                let mut read =
                    self.ports[next.port as usize].ready[0] ^ self.switches[next.home as usize].look_at;
                for entry in [at.fresh[0].head, at.fresh[1].head] {
                    if entry != NONE {
                        read ^=
                            Time::from(self.exits.exit(&self.fabric, next.port, self.entries[entry].dest));
                    }
                }
                read
            }
            WORK => {
                let at = &self.stations[number as usize];
                if at.port == NONE || at.at_work == NONE {
                    return 0;
                }
                let Held { target, next, .. } = self.helds[at.at_work];
                let read = Time::from(self.ports[target as usize].station) ^ self.read_ports(at.home);
                if next == NONE { read } else { read ^ self.helds[next].ready }
            }
            BUS => self.read_fronts(number),
            _ => 0,
        }
    }

    /// Reads what that leads to.
    #[inline]
    fn read_fourth(&self, kind: u32, number: u32) -> Time {
        if kind != WORK {
            return 0;
        }
        let at = &self.stations[number as usize];
        if at.port == NONE || at.at_work == NONE {
            return 0;
        }
        let to = &self.stations[self.ports[self.helds[at.at_work].target as usize].station as usize];
        to.free_at ^ to.packets as Time ^ to.wait_ticks as Time ^ self.read_fronts(at.home)
    }

    /// Reads the ports of a switch from which something may be transferred.
    #[inline]
    fn read_ports(&self, switch: u32) -> Time {
        let of = &self.switches[switch as usize];
        let mut read = 0;
        let mut some = of.holds & !of.sending;
        while some != 0 {
            read ^= self.ports[(of.first + some.trailing_zeros()) as usize].ready[0];
            some &= some - 1;
        }
        read
    }

    /// Reads their stations, and those to which they go.
    #[inline]
    fn read_fronts(&self, switch: u32) -> Time {
        let of = &self.switches[switch as usize];
        let mut read = 0;
        let mut some = of.holds & !of.sending;
        while some != 0 {
            let port = &self.ports[(of.first + some.trailing_zeros()) as usize];
            read ^= Time::from(self.stations[port.station as usize].at_work);
            for target in port.target {
                let to = self.ports[(of.first + u32::from(target)) as usize].station;
                read ^= self.stations[to as usize].packets as Time;
            }
            some &= some - 1;
        }
        read
    }
}
