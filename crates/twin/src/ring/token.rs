//! Tokens: a station starts packets of its own only while it holds the one of its ring.

use fabriloom_engine::kernel::Time;

use super::parts::Token;
use super::rings::Rings;

impl Rings<'_> {
    /// Puts a token before the lowest numbered station of every ring; before tick 0 all have gone round.
    pub(crate) fn put_tokens(&mut self) {
        if self.fabric.ring_token_symbols == 0 {
            return;
        }
        for station in 0..self.stations.len() {
            let ring = self.fabric.station_ring[station];
            if self.tokens.contains_key(&ring) {
                continue;
            }
            self.tokens.insert(ring, Token { station, ready: 0, held: None });
            let (mut at, mut times) = (station, vec![(station, 0)]);
            let mut time = 0;
            while let (next, later) = (self.fabric.station_next[at] as usize, time + self.ahead(at))
                && next != station
            {
                times.push((next, later));
                (at, time) = (next, later);
            }
            let round = time + self.ahead(at);
            for (at, first) in times {
                self.stations[at].token_due = first - round + self.rotation();
            }
        }
    }

    fn rotation(&self) -> Time {
        self.fabric.ring_token_rotation_ticks as Time
    }

    /// Returns the ticks from a start on a link until the same symbol is ready for the next output.
    fn ahead(&self, station: usize) -> Time {
        let (f, next) = (self.fabric, self.fabric.station_next[station] as usize);
        Time::from(f.link_arrival_ticks[station])
            + Time::from(f.station_decode_ticks[next])
            + Time::from(f.station_bypass_ticks[next])
    }

    fn token_at(&self, station: usize) -> Option<Token> {
        let token = self.tokens.get(&self.fabric.station_ring[station]).copied();
        token.filter(|token| token.station == station && token.ready <= self.now)
    }

    fn set_token(&mut self, station: usize, token: Token) {
        self.tokens.insert(self.fabric.station_ring[station], token);
        self.wake_at(token.ready);
    }

    /// Takes a token that is ready for the output of a station, or lets it pass.
    pub(crate) fn visit(&mut self, station: usize) {
        let Some(Token { ready, held: None, .. }) = self.token_at(station) else { return };
        assert_eq!(ready, self.now, "a token was overlooked");
        let waiting = self.stations[station].bypass_ready().is_some_and(|ready| ready <= self.now);
        let is_free =
            self.stations[station].sending.is_none() && self.stations[station].token_until <= self.now;
        assert!(is_free && !waiting, "something is in the way of a token");
        let (due, rotation) = (self.stations[station].token_due, self.rotation());
        let until = if rotation == 0 { Time::MAX } else { due };
        self.stations[station].token_due = rotation + if ready < due { ready } else { due };
        let from = self.now + self.token_ticks(station);
        let could = self.stations[station].outgoing.iter().any(|packet| self.may_start(station, packet));
        if could && from < until {
            let most = self.fabric.ring_token_packets;
            let left = if most == 0 { u32::MAX } else { most };
            self.stations[station].token_until = from;
            self.set_token(station, Token { station, ready: from, held: Some((left, until)) });
        } else {
            self.pass_token(station);
        }
    }

    fn token_ticks(&self, station: usize) -> Time {
        Time::from(self.fabric.ring_token_symbols) * self.symbol_ticks(station)
    }

    /// Puts a token on the link of a station.
    fn pass_token(&mut self, station: usize) {
        let (next, ready) = (self.fabric.station_next[station] as usize, self.now + self.ahead(station));
        self.stations[station].token_until = self.now + self.token_ticks(station);
        self.set_token(station, Token { station: next, ready, held: None });
    }

    /// Whether a station with a free link may start a packet, as far as tokens go. A token with which it cannot goes on.
    pub(crate) fn may_by_token(&mut self, station: usize) -> bool {
        if self.tokens.is_empty() {
            return true;
        }
        let Some(Token { held: Some((left, until)), .. }) = self.token_at(station) else { return false };
        let could = self.stations[station].outgoing.iter().any(|packet| self.may_start(station, packet));
        let may = could && left > 0 && self.now < until;
        if !may {
            self.pass_token(station);
        }
        may
    }

    /// Counts a packet that a station has started.
    pub(crate) fn count_by_token(&mut self, station: usize) {
        let ring = self.fabric.station_ring[station];
        if let Some(Token { held: Some((left, _)), .. }) = self.tokens.get_mut(&ring) {
            *left -= 1;
        }
    }
}
