//! Reading ahead in large networks: what the next events will need comes from far caches, each row waiting for the one
//! that tells where it is. The rows of some events at a time are read here, so that they wait together. Nothing
//! follows from what is read.

use super::parts::{Held, Kind, Unit};
use super::state::Rings;
use super::tick::{ARRIVE, LOOK, WORK, parts};
use crate::fabric::NONE;
use crate::kernel::calendar::AHEAD;
use crate::kernel::{Time, bits};

/// Events of one kind.
#[derive(Clone, Copy)]
struct Alike {
    numbers: [u32; AHEAD],
    count: usize,
}

impl Alike {
    const NONE: Self = Self { numbers: [0; AHEAD], count: 0 };

    /// Adds one if it is of the kind. There is room for all, so that nothing depends on that.
    #[inline]
    fn add(&mut self, number: u32, is_of_kind: bool) {
        self.numbers[self.count] = number;
        self.count += usize::from(is_of_kind);
    }

    /// Reads something for each.
    #[inline]
    fn read(&self, of: impl Fn(u32) -> Time) -> Time {
        self.numbers[..self.count].iter().fold(0, |read, &number| read ^ of(number))
    }
}

impl Rings {
    /// Reads what the next events that are due will need, if there are many.
    #[inline(never)]
    pub(super) fn read_ahead(&mut self) {
        let [mut links, mut works, mut units] = [Alike::NONE; 3];
        for due in self.calendar.ahead().iter().rev() {
            let (kind, number) = parts(due.number);
            links.add(number, kind == LOOK);
            works.add(number, kind == WORK);
            units.add(number, kind == ARRIVE);
        }
        let read = links
            .read(|link| self.stations[link as usize].look_at ^ self.stations[link as usize].packets as Time)
            ^ works.read(|station| {
                Time::from(self.stations[station as usize].port ^ self.stations[station as usize].at_work)
            })
            ^ units.read(|unit| self.units[unit].time)
            ^ links.read(|link| self.read_start(link))
            ^ works.read(|station| self.read_work(station))
            ^ units.read(|unit| self.read_arrival(unit))
            ^ links.read(|link| self.read_next(link))
            ^ works.read(|station| self.read_target(station))
            ^ works.read(|station| self.read_transfer(station));
        std::hint::black_box(read);
    }

    /// Reads what a link may start.
    #[inline]
    fn read_start(&self, link: u32) -> Time {
        let at = &self.stations[link as usize];
        let next = &self.stations[at.next as usize];
        let mut read = next.free_at;
        if at.leaving < 2 && at.port != NONE {
            read ^= self.switches[at.home as usize].look_at;
        }
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
        read
    }

    /// Reads where that comes to.
    #[inline]
    fn read_next(&self, link: u32) -> Time {
        let at = &self.stations[link as usize];
        let next = &self.stations[at.next as usize];
        if at.bypass.head != NONE {
            let Unit { kind, dest, .. } = self.units[at.bypass.head];
            return match next.port {
                _ if !kind.is_packet() => next.packets as Time,
                NONE => 0,
                port => Time::from(self.exits.row(port, dest)),
            };
        }
        let mut read = 0;
        if at.late && at.again.head != NONE {
            read ^= self.entries[at.again.head].ready;
        }
        if next.port == NONE {
            return read;
        }
        read ^= self.ports[next.port as usize].ready[0] ^ self.switches[next.home as usize].look_at;
        for entry in [at.fresh[0].head, at.fresh[1].head] {
            if entry != NONE {
                read ^= Time::from(self.exits.row(next.port, self.entries[entry].dest));
            }
        }
        read
    }

    /// Reads what a station has served or its port has transferred.
    #[inline]
    fn read_work(&self, station: u32) -> Time {
        let at = &self.stations[station as usize];
        let mut read = if at.at_work == NONE { 0 } else { self.helds[at.at_work].ready };
        if at.port != NONE {
            let of = &self.switches[at.home as usize];
            read ^= of.look_at ^ of.count.transfers as Time ^ self.ports[at.port as usize].ready[0];
        }
        read
    }

    /// Reads the port to which a port has transferred something, and what comes next there.
    #[inline]
    fn read_target(&self, station: u32) -> Time {
        let at = &self.stations[station as usize];
        if at.port == NONE || at.at_work == NONE {
            return 0;
        }
        let Held { target, next, .. } = self.helds[at.at_work];
        let read = Time::from(self.ports[target as usize].station) ^ self.read_ports(at.home);
        if next == NONE { read } else { read ^ self.helds[next].ready }
    }

    /// Reads the station of that port, and what its switch can transfer next.
    #[inline]
    fn read_transfer(&self, station: u32) -> Time {
        let at = &self.stations[station as usize];
        if at.port == NONE || at.at_work == NONE {
            return 0;
        }
        let to = &self.stations[self.ports[self.helds[at.at_work].target as usize].station as usize];
        to.free_at ^ to.packets as Time ^ to.wait_ticks as Time ^ self.read_fronts(at.home)
    }

    /// Reads the packet that an event is about, and the station that it comes to.
    #[inline]
    fn read_arrival(&self, unit: u32) -> Time {
        let it = &self.units[unit];
        let at = &self.stations[if it.kind == Kind::Open { it.dest } else { it.station } as usize];
        self.entries[it.entry].ready ^ at.free_at ^ at.wait_ticks as Time ^ Time::from(at.undecided)
    }

    /// Reads the ports of a switch from which something may be transferred.
    #[inline]
    fn read_ports(&self, switch: u32) -> Time {
        let of = &self.switches[switch as usize];
        bits(of.ready()).fold(0, |read, place| read ^ self.ports[(of.first + place) as usize].ready[0])
    }

    /// Reads their stations, and those to which they go.
    #[inline]
    fn read_fronts(&self, switch: u32) -> Time {
        let of = &self.switches[switch as usize];
        let mut read = 0;
        for place in bits(of.ready()) {
            let port = &self.ports[(of.first + place) as usize];
            read ^= Time::from(self.stations[port.station as usize].at_work);
            for target in port.target {
                let to = self.ports[(of.first + u32::from(target)) as usize].station;
                read ^= self.stations[to as usize].packets as Time;
            }
        }
        read
    }
}
