//! Tokens: without the one of its ring a station starts no packet of its own.
//!
//! Nothing meets a token: what is on a ring is ahead of it, and is off the ring before the token has come round. So a
//! token that nobody takes is no event. Where it is follows from where it started last, and a station that wants it is
//! checked when it comes by.

use super::links::ahead;
use super::state::{NEVER, Rings, offsets};
use crate::fabric::Fabric;
use crate::kernel::Time;

/// The token of a ring.
#[derive(Clone, Copy, Debug)]
struct Token {
    /// The station that holds it, or that put it on its link last.
    station: u32,
    /// When it did.
    time: Time,
    is_held: bool,
    /// How many packets its holder may still start.
    left: u32,
    /// From when on its holder may start none.
    until: Time,
    /// Ticks of a round in which nobody takes it.
    round: Time,
}

/// The tokens of all rings.
#[derive(Clone, Debug)]
pub(super) struct Tokens {
    /// Per ring; empty without tokens.
    of: Vec<Token>,
    /// Per station: whether a packet of its own could start.
    wants: Vec<bool>,
    /// Per station: when the token should come again at the latest; empty if there is no such time.
    due: Vec<Time>,
}

impl Tokens {
    /// Returns tokens that are ready for the outputs of the lowest numbered stations at tick 0, and have gone round
    /// before.
    pub fn new(f: &Fabric) -> Self {
        let count = if f.ring_token_symbols == 0 { 0 } else { f.links() };
        let (mut of, offsets) = (Vec::new(), offsets(f));
        let mut due = Vec::new();
        for (station, &ring) in f.station_ring.iter().enumerate().take(count) {
            let ring = ring as usize;
            if ring >= of.len() {
                let none = Token { station: 0, time: 0, is_held: false, left: 0, until: 0, round: 0 };
                of.resize(ring + 1, none);
            }
            if offsets[station] == 0 {
                of[ring].station = station as u32;
            }
            of[ring].round += Time::from(ahead(f, station));
        }
        for token in &mut of {
            token.time = -token.round;
        }
        if f.ring_token_rotation_ticks > 0 {
            let last = |station: usize| offsets[station] - of[f.station_ring[station] as usize].round;
            due = (0..count).map(|station| last(station) + f.ring_token_rotation_ticks as Time).collect();
        }
        Self { of, wants: vec![false; count], due }
    }

    #[inline]
    pub fn are_any(&self) -> bool {
        !self.of.is_empty()
    }
}

impl Rings {
    fn token(&mut self, link: u32) -> &mut Token {
        &mut self.tokens.of[self.fabric.station_ring[link as usize] as usize]
    }

    /// Whether a station holds the token.
    pub(super) fn holds(&self, link: u32) -> bool {
        let token = &self.tokens.of[self.fabric.station_ring[link as usize] as usize];
        token.is_held && token.station == link
    }

    /// Whether a station waits for the token.
    pub(super) fn wants_token(&self, link: u32) -> bool {
        self.tokens.wants[link as usize]
    }

    /// Whether a packet is at its sender again, which removes it where there is a token.
    #[inline]
    pub(super) fn comes_back(&self, station: u32, sender: u32) -> bool {
        sender == station && self.tokens.are_any()
    }

    /// Returns when the token comes by if nobody takes it before, now or later; None while it is held.
    pub(super) fn next_visit(&self, link: u32) -> Option<Time> {
        let token = &self.tokens.of[self.fabric.station_ring[link as usize] as usize];
        let way = self.offsets[link as usize] - self.offsets[token.station as usize];
        let first = token.time + (way - 1).rem_euclid(token.round) + 1;
        let rest = (first - self.now).rem_euclid(token.round);
        (!token.is_held).then_some(first.max(self.now + rest))
    }

    /// Starts a packet of a station that holds the token, or makes the station take or await it; returns whether a
    /// packet has started.
    pub(super) fn start_by_token(&mut self, link: u32) -> bool {
        if self.holds(link) {
            let Token { left, until, .. } = *self.token(link);
            let may_more = left > 0 && self.now < until;
            if may_more && self.start_own(link) {
                self.token(link).left -= 1;
                return true;
            }
            self.tokens.wants[link as usize] = !may_more && self.can_start(link);
            self.release(link);
            return false;
        }
        let wants = self.can_start(link);
        let wanted = std::mem::replace(&mut self.tokens.wants[link as usize], wants);
        match self.next_visit(link) {
            Some(visit) if visit == self.now => self.meet(link),
            Some(visit) if wants => self.look_at(link, visit),
            // The token was to be stopped here.
            Some(_) if wanted => self.call_all(link),
            _ => {}
        }
        false
    }

    /// Whether a packet of a station's own could start; without one, the next check is scheduled.
    fn can_start(&mut self, link: u32) -> bool {
        self.stations[link as usize].link.waiting > 0 && self.first_own(link, NEVER).is_some()
    }

    /// Makes a station take the token that comes by, or lets it go on.
    fn meet(&mut self, link: u32) {
        let until = self.bring(link);
        let symbol = self.timing(link).symbol;
        let from = self.now + Time::from(self.fabric.ring_token_symbols) * Time::from(symbol);
        if !self.tokens.wants[link as usize] || from >= until {
            return self.release(link);
        }
        let most = self.fabric.ring_token_packets;
        let token = self.token(link);
        (token.is_held, token.until) = (true, until);
        token.left = if most == 0 { u32::MAX } else { most };
        self.tokens.wants[link as usize] = false;
        self.stations[link as usize].link.free_at = from;
        self.look_at(link, from);
    }

    /// Brings the token from where it started last to a station, now; returns until when the station may start packets.
    fn bring(&mut self, link: u32) -> Time {
        let (now, token) = (self.now, *self.token(link));
        let mut until = NEVER;
        if !self.tokens.due.is_empty() {
            let (mut at, mut time) = (token.station, token.time);
            loop {
                time += Time::from(self.timing(at).ahead);
                at = self.stations[at as usize].link.next;
                if time > now {
                    break;
                }
                let visits = (now - time) / token.round;
                let before = self.due_after(at, time, visits, token.round);
                if at == link {
                    until = before;
                }
                self.tokens.due[at as usize] = self.due_after(at, time, visits + 1, token.round);
                if at == token.station {
                    break;
                }
            }
        }
        let token = self.token(link);
        (token.station, token.time) = (link, now);
        until
    }

    /// Returns when the token should come to a station again, after some visits a round apart that begin at `first`.
    /// Each visit that is late makes up for some of it, because a round is shorter than it may be.
    fn due_after(&self, station: u32, first: Time, visits: Time, round: Time) -> Time {
        let (due, rotation) =
            (self.tokens.due[station as usize], self.fabric.ring_token_rotation_ticks as Time);
        let late = first - due;
        let lates = if late < 0 { 0 } else { late / (rotation - round) + 1 };
        if visits <= lates { due + visits * rotation } else { first + (visits - 1) * round + rotation }
    }

    /// Puts the token on the link of a station, and calls the next one that wants it.
    fn release(&mut self, link: u32) {
        let (now, token) = (self.now, self.token(link));
        (token.is_held, token.time) = (false, now);
        let (mut at, mut time) = (link, now);
        loop {
            time += Time::from(self.timing(at).ahead);
            at = self.stations[at as usize].link.next;
            if self.tokens.wants[at as usize] {
                return self.look_at(at, time);
            }
            if at == link {
                return;
            }
        }
    }

    /// Calls all stations of a ring that want the token.
    #[cold]
    fn call_all(&mut self, link: u32) {
        let mut at = link;
        loop {
            match self.next_visit(at) {
                Some(visit) if !self.tokens.wants[at as usize] || visit < self.now => {}
                Some(visit) if visit == self.now => self.touch_link(at),
                Some(visit) => self.look_at(at, visit),
                None => return,
            }
            at = self.stations[at as usize].link.next;
            if at == link {
                return;
            }
        }
    }
}
