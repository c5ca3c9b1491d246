//! Links: the data of a station that passing units need, in one cache line.

use std::collections::HashMap;

use super::state::NEVER;
use crate::fabric::{Fabric, NONE, stations};
use crate::kernel::Time;
use crate::kernel::slab::Queue;

/// `Link::gate` of terminal 0; the others follow.
const TERMINAL: u32 = 1 << 31;
/// Bit of the `Link::gate` of a station that begins packets without a go.
const UNFAIR: u32 = 1 << 30;
/// Counts of symbols or transfers move to a larger counter at this number.
pub(super) const MOST_COUNT: u32 = 1 << 31;

/// A link and its sending station, as passing units see them.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Link {
    /// End of the last unit on it.
    pub free_at: Time,
    /// Tick of its next check, or [`NEVER`].
    pub look_at: Time,
    /// Units in the bypass FIFO, and those on the way to the station that will pass.
    pub bypass: Queue,
    pub next: u32,
    /// Its index among the ports of all switches, or the terminal plus [`TERMINAL`], perhaps with [`UNFAIR`]; or
    /// [`NONE`].
    gate: u32,
    /// Number of the station's own units that wait, ready or not.
    pub waiting: u32,
    /// Index in [`super::state::Rings::timings`].
    pub timing: u32,
    /// Send packets put on the link, including passing ones, that are not in [`Tally`].
    pub packets: u32,
    /// Symbols of all units, and of echoes, that are not in it.
    pub symbols: u32,
    pub echoes: u32,
    /// Maximum number of symbols in the bypass FIFO before the link.
    pub bypass_most: u32,
    /// Whether it is in the list of links that may start a unit in this tick.
    pub touched: bool,
    /// Kind of the packet whose place becomes free at the end of the unit on the link, 2 if none. While there are other
    /// places nobody waits for this one, and it counts as taken until the next check of the link.
    pub leaving: u8,
    /// Whether its own idle symbols say go.
    pub says_go: bool,
    /// Whether arriving idle symbols say go.
    pub hears_go: bool,
    /// Whether the station keeps the idle symbols that arrive: its own unit is on the link, or it recovers from one.
    pub keeps_idles: bool,
    /// The `saved` of the page: whether a go has arrived since that unit began, or, without one, since the last unit
    /// did.
    pub saved: bool,
    /// Whether it is decided what the idle symbols after the last unit say.
    pub judged: bool,
    /// Whether echoes or changes of idle symbols may be under way whose arrival is not an event.
    pub heeds: bool,
}

const _: () = assert!(size_of::<Link>() == 64, "a link is a line of the cache");

/// The constants of a station; most stations share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(align(32))]
pub(super) struct Timing {
    /// Ticks per symbol.
    pub symbol: u32,
    /// Ticks from the start of a symbol until the next station has decoded it.
    pub decoded: u32,
    /// Ticks from the start of a symbol until it can be at the output of the next station.
    pub ahead: u32,
    pub transmit: u32,
    pub receive: u32,
    /// Limit of the packets of a kind that wait for their echoes.
    pub in_flight: u32,
    /// Limit of the busied packets of a kind before others are held back.
    pub rejected: u32,
    /// Whether the station removes packets that have passed it twice.
    pub scrubs: bool,
}

/// Large counters of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub packets: u64,
    pub symbols: u64,
    pub echoes: u64,
    /// Packets that buses have transferred to its station.
    pub transfers: u64,
}

impl Link {
    /// Returns its index among the ports of all switches, or [`NONE`].
    #[inline]
    pub fn port(&self) -> u32 {
        if self.is_port() { self.gate & !UNFAIR } else { NONE }
    }

    /// Whether it is a port of a switch.
    #[inline]
    pub fn is_port(&self) -> bool {
        self.gate < TERMINAL
    }

    /// Returns its terminal, or [`NONE`].
    #[inline]
    pub fn terminal(&self) -> u32 {
        if self.gate == NONE || self.is_port() { NONE } else { self.gate & !(TERMINAL | UNFAIR) }
    }

    /// Whether it is the station of a terminal.
    #[inline]
    pub fn is_of(&self, terminal: u32) -> bool {
        self.gate & !UNFAIR == TERMINAL + terminal
    }

    /// Makes it a port.
    pub fn set_port(&mut self, port: u32) {
        self.gate = port;
    }

    /// Assigns it to a terminal.
    pub fn set_terminal(&mut self, terminal: u32) {
        self.gate = TERMINAL + terminal;
    }

    /// Lets it begin packets without a go.
    pub fn set_unfair(&mut self) {
        self.gate |= UNFAIR;
    }

    /// Whether its station may begin a packet, as far as idle symbols decide. One without a gate has none of its own.
    #[inline]
    pub fn may_go(&self) -> bool {
        self.says_go || self.gate & UNFAIR != 0
    }

    /// Whether a unit of the station's own may start, apart from an echo that was held back.
    #[inline]
    pub fn may_start_own(&self) -> bool {
        self.waiting > 0 && self.may_go()
    }

    /// Whether its idle symbols may change when the current unit has left.
    #[inline]
    pub fn must_be_judged(&self) -> bool {
        !self.judged && (self.saved || self.hears_go) != self.says_go
    }

    /// Counts symbols; returns whether the counters are full.
    #[inline]
    pub fn count(&mut self, symbols: u32, is_packet: bool) -> bool {
        self.symbols += symbols;
        self.packets += u32::from(is_packet);
        self.echoes += u32::from(!is_packet);
        self.symbols >= MOST_COUNT
    }

    /// Returns the counts, including the large counters.
    pub fn tally(&self, aside: &Tally) -> Tally {
        Tally {
            packets: aside.packets + u64::from(self.packets),
            symbols: aside.symbols + u64::from(self.symbols),
            echoes: aside.echoes + u64::from(self.echoes),
            ..*aside
        }
    }

    /// Resets the counts.
    pub fn clear_counts(&mut self) {
        (self.packets, self.symbols, self.echoes) = (0, 0, 0);
    }

    fn new(next: u32, timing: u32) -> Self {
        Self {
            free_at: -1,
            look_at: NEVER,
            bypass: Queue::EMPTY,
            next,
            gate: NONE,
            waiting: 0,
            timing,
            packets: 0,
            symbols: 0,
            echoes: 0,
            bypass_most: 0,
            touched: false,
            leaving: 2,
            says_go: true,
            hears_go: true,
            keeps_idles: false,
            saved: false,
            judged: true,
            heeds: false,
        }
    }
}

/// Returns all links of a fabric, and their timings.
pub(super) fn links(f: &Fabric) -> (Vec<Link>, Vec<Timing>) {
    let mut seen = vec![false; f.links()];
    let (mut timings, mut known) = (Vec::new(), HashMap::new());
    let mut links: Vec<Link> = (0..f.links())
        .map(|link| {
            // Links are visited in order, so the first of a ring has its lowest number.
            let scrubs = !std::mem::replace(&mut seen[f.station_ring[link] as usize], true);
            let timing = Timing::new(f, link, scrubs);
            let number = *known.entry(timing).or_insert_with(|| {
                timings.push(timing);
                timings.len() as u32 - 1
            });
            Link::new(f.station_next[link], number)
        })
        .collect();
    for (port, &station) in f.port_station.iter().enumerate() {
        links[station as usize].set_port(port as u32);
    }
    for (terminal, &station) in f.terminal_out_link.iter().enumerate() {
        links[station as usize].set_terminal(terminal as u32);
    }
    for link in
        links.iter_mut().filter(|link| f.ring_allocation != 0 && !holds(f.ring_allocation, link.is_port()))
    {
        link.set_unfair();
    }
    (links, timings)
}

/// Whether a rule for these stations, one of [`stations`], holds for a port or for a terminal.
pub(super) fn holds(which: u8, is_port: bool) -> bool {
    which == stations::ALL || which == if is_port { stations::PORTS } else { stations::TERMINALS }
}

/// Returns the ticks from the start of a symbol until it can be at the output of the next station.
pub(super) fn ahead(f: &Fabric, link: usize) -> u32 {
    let next = f.station_next[link] as usize;
    f.link_arrival_ticks[link] + f.station_decode_ticks[next] + f.station_bypass_ticks[next]
}

impl Timing {
    fn new(f: &Fabric, link: usize, scrubs: bool) -> Self {
        let next = f.station_next[link] as usize;
        Self {
            symbol: f.link_character_ticks[link],
            decoded: f.link_arrival_ticks[link] + f.station_decode_ticks[next],
            ahead: ahead(f, link),
            transmit: f.station_transmit_ticks[link],
            receive: f.station_receive_ticks[link],
            in_flight: f.station_in_flight[link],
            rejected: f.station_rejected[link],
            scrubs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_are_put_aside_are_not_lost() {
        let (mut link, mut aside) = (Link::new(0, 0), Tally::default());
        for _ in 0..5 {
            if link.count(MOST_COUNT - 1, true) | link.count(9, false) {
                aside = link.tally(&aside);
                link.clear_counts();
            }
        }
        let all = link.tally(&aside);
        assert_eq!((all.packets, all.symbols, all.echoes), (5, 5 * (u64::from(MOST_COUNT) + 8), 5));
        assert!(link.symbols < MOST_COUNT);
    }
}
