//! Prefetching in large networks. The data of the next events are in distant caches, and each row must arrive before
//! the next is known. The rows of several events are read together here, so that the waits overlap. No result depends
//! on what is read.

use super::parts::{Entry, Kind, Unit};
use super::state::{REQUEST, RESPONSE, Rings};
use super::stations::Switch;
use super::tick::{ARRIVE, KINDS, LOOK, USER, WORK, parts};
use crate::fabric::NONE;
use crate::kernel::calendar::AHEAD;
use crate::kernel::{Time, bits};

/// Events by kind.
struct Alike {
    numbers: [[u32; AHEAD]; KINDS],
    counts: [usize; KINDS],
}

impl Alike {
    /// Reads a value for each event of a kind.
    #[inline]
    fn read(&self, kind: u32, of: impl Fn(u32) -> Time) -> Time {
        let kind = kind as usize;
        self.numbers[kind][..self.counts[kind]].iter().fold(0, |read, &number| read ^ of(number))
    }
}

impl Rings {
    /// Reads what the next due events need, if there are many.
    #[inline(never)]
    pub(super) fn prefetch(&mut self) {
        let mut alike = Alike { numbers: [[0; AHEAD]; KINDS], counts: [0; KINDS] };
        for due in self.calendar.ahead().iter().rev() {
            let (kind, number) = parts(due.number);
            let (kind, count) = (kind as usize, alike.counts[kind as usize]);
            alike.numbers[kind][count] = number;
            alike.counts[kind] += 1;
        }
        let read = alike.read(LOOK, |link| self.stations[link as usize].link.free_at)
            ^ alike.read(WORK, |station| self.read_held(station))
            ^ alike.read(USER, |station| self.read_held(station))
            ^ alike.read(ARRIVE, |unit| self.units[unit].time)
            ^ alike.read(LOOK, |link| self.read_start(link))
            ^ alike.read(WORK, |station| self.read_work(station))
            ^ alike.read(USER, |station| self.read_coming(station))
            ^ alike.read(ARRIVE, |unit| self.read_arrival(unit))
            ^ alike.read(LOOK, |link| self.read_units(link))
            ^ alike.read(WORK, |station| self.read_target(station))
            ^ alike.read(USER, |station| self.read_transaction(self.stations[station as usize].coming.head))
            ^ alike.read(LOOK, |link| self.read_next(link))
            ^ alike.read(WORK, |station| self.read_transfer(station));
        std::hint::black_box(read);
    }

    /// Reads the received packets of a station.
    #[inline]
    fn read_held(&self, station: u32) -> Time {
        Time::from(self.stations[station as usize].at_work)
    }

    /// Reads the rows in which a link searches for a unit to start.
    #[inline]
    fn read_start(&self, link: u32) -> Time {
        let at = &self.stations[link as usize].link;
        let mut read = self.stations[at.next as usize].link.free_at;
        if at.may_start_own() || at.heeds || at.leaving < 2 {
            read ^= self.stations[link as usize].wait_ticks as Time;
        }
        if at.heeds {
            read ^= self.read_idles(link);
        }
        if at.bypass.head != NONE {
            return read ^ self.units[at.bypass.head].time;
        }
        if at.may_start_own() { read ^ self.read_held(at.next) } else { read }
    }

    /// Reads the units that it may start, and their successors.
    #[inline]
    fn read_units(&self, link: u32) -> Time {
        let at = &self.stations[link as usize].link;
        let mut read = 0;
        if at.bypass.head != NONE {
            let Unit { kind, station, dest, next, .. } = self.units[at.bypass.head];
            let to = &self.stations[at.next as usize].link;
            if station == at.next {
                read ^= self.stations[at.next as usize].wait_ticks as Time;
            } else if kind.is_packet() && to.is_port() {
                read ^= Time::from(self.exits.exit(&self.fabric, to.port(), dest));
            }
            if next != NONE {
                read ^= self.units[next].time;
            }
        }
        if !at.may_start_own() && !at.heeds {
            return read;
        }
        if at.heeds {
            read ^= self.read_change(link);
        }
        let own = &self.stations[link as usize];
        if own.echoes_due.head != NONE {
            read ^= self.units[own.echoes_due.head].time;
        }
        for entry in [own.fresh[0].head, own.fresh[1].head] {
            if entry != NONE {
                read ^= self.entries[entry].ready;
            }
        }
        if own.has_retries { read ^ self.rare[link as usize].retried as Time } else { read }
    }

    /// Reads where they arrive.
    #[inline]
    fn read_next(&self, link: u32) -> Time {
        let at = &self.stations[link as usize].link;
        let own = &self.stations[link as usize];
        let mut read = 0;
        if at.is_port() && own.out_free.get(usize::from(at.leaving)) == Some(&0) {
            read ^= self.switches[own.switch as usize].look_at;
        }
        if at.bypass.head != NONE || !at.may_start_own() {
            return read;
        }
        let again = if own.has_retries { self.rare[link as usize].again.head } else { NONE };
        let to = &self.stations[at.next as usize].link;
        if !to.is_port() {
            return read;
        }
        let switch = self.stations[at.next as usize].switch_here;
        read ^= self.ports[to.port() as usize].ready[0] ^ self.switches[switch as usize].look_at;
        for entry in [again, own.fresh[0].head, own.fresh[1].head] {
            if entry != NONE {
                read ^= Time::from(self.exits.exit(&self.fabric, to.port(), self.entries[entry].dest));
            }
        }
        read
    }

    /// Reads the packet that a station has served or its port has transferred.
    #[inline]
    fn read_work(&self, station: u32) -> Time {
        let at = &self.stations[station as usize];
        let mut read = self.read_entry(at.at_work);
        if at.port_here != NONE {
            read ^=
                self.switches[at.switch_here as usize].look_at ^ self.ports[at.port_here as usize].ready[0];
        } else {
            read ^= self.read_entry(at.held[REQUEST].head);
        }
        read
    }

    /// Reads a packet, if there is one.
    #[inline]
    fn read_entry(&self, entry: u32) -> Time {
        if entry == NONE { 0 } else { self.entries[entry].ready }
    }

    /// Reads the transaction of a packet, if there is one.
    #[inline]
    fn read_transaction(&self, entry: u32) -> Time {
        if entry == NONE { 0 } else { self.transactions[self.entries[entry].transaction].created }
    }

    /// Reads the next packet for the user of a terminal.
    #[inline]
    fn read_coming(&self, station: u32) -> Time {
        self.read_entry(self.stations[station as usize].coming.head)
    }

    /// Reads the port to which a port has transferred a packet, and what follows there.
    #[inline]
    fn read_target(&self, station: u32) -> Time {
        let at = &self.stations[station as usize];
        if at.switch_here == NONE {
            return self.read_transaction(at.at_work) ^ self.read_transaction(at.held[REQUEST].head);
        }
        if at.at_work == NONE {
            return 0;
        }
        let Entry { target, next, .. } = self.entries[at.at_work];
        let of = &self.switches[at.switch_here as usize];
        let to = &self.ports[(of.first + u32::from(target)) as usize];
        let read = Time::from(to.station) ^ self.read_ports(of);
        if next == NONE { read } else { read ^ self.entries[next].ready }
    }

    /// Reads the station of that port, and the next transfer of its switch.
    #[inline]
    fn read_transfer(&self, station: u32) -> Time {
        let at = &self.stations[station as usize];
        if at.switch_here == NONE || at.at_work == NONE {
            return 0;
        }
        let of = &self.switches[at.switch_here as usize];
        let target = self.entries[at.at_work].target;
        let to = self.ports[(of.first + u32::from(target)) as usize].station as usize;
        let to = &self.stations[to];
        to.link.free_at ^ to.wait_ticks as Time ^ self.read_front(of)
    }

    /// Reads the packet of an event, and its destination station.
    #[inline]
    fn read_arrival(&self, unit: u32) -> Time {
        let it = &self.units[unit];
        let read = self.entries[it.entry].ready;
        if it.kind == Kind::Open {
            return read ^ self.read_held(it.dest) ^ self.stations[it.dest as usize].link.free_at;
        }
        let at = &self.stations[it.station as usize];
        read ^ at.link.free_at ^ at.wait_ticks as Time
    }

    /// Reads the ports of a switch that may start a transfer.
    #[inline]
    fn read_ports(&self, of: &Switch) -> Time {
        bits(of.ready()).fold(0, |read, place| read ^ self.ports[(of.first + place) as usize].ready[0])
    }

    /// Reads the station that is served next, and its destination station, as far as they can be predicted.
    #[inline]
    fn read_front(&self, of: &Switch) -> Time {
        let after = u64::MAX << 1 << of.served[0];
        for part in [of.ready() & after, of.ready() & !after] {
            for place in bits(part) {
                let port = &self.ports[(of.first + place) as usize];
                let kind = usize::from(port.ready[RESPONSE] <= port.ready[REQUEST]);
                let target = port.target[kind];
                if of.full[kind] >> target & 1 == 0 {
                    let to = self.ports[(of.first + u32::from(target)) as usize].station;
                    return self.read_held(port.station) ^ self.stations[to as usize].wait_ticks as Time;
                }
            }
        }
        0
    }
}
