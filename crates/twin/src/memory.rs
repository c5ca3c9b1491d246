//! The memory of a switch, which the lanes that lead to it share.

use crate::event::What;
use crate::parts::{Character, Kind, Place};
use crate::twin::Twin;

impl Twin<'_> {
    /// Returns the lanes that lead to a switch.
    fn lanes_into(&self, switch: u32) -> Vec<u32> {
        let links = (0..self.fabric.links() as u32).filter(|&link| self.enters(link) == switch);
        links.flat_map(|link| self.fabric.lanes_of(link)).collect()
    }

    fn enters(&self, link: u32) -> u32 {
        self.fabric.link_target[link as usize]
    }

    /// Returns what a lane has of the pool.
    fn share(&self, lane: u32) -> u64 {
        self.lanes[lane as usize].own.saturating_sub(u64::from(self.fabric.pool_reserved_chars))
    }

    /// Returns what is free in the pool of a switch, and how much of it a lane may have.
    fn free(&self, switch: u32) -> (u64, u64) {
        let shares: u64 = self.lanes_into(switch).into_iter().map(|lane| self.share(lane)).sum();
        let size = u64::from(self.fabric.switch_pool_chars[switch as usize]);
        let free = size.checked_sub(shares).expect("a pool is never more than full");
        let part = u128::from(free) * u128::from(self.fabric.pool_alpha_billionths) / 1_000_000_000;
        (free, part as u64)
    }

    /// Counts a packet whose first character has come; whether it is lost, of this character and of those behind it.
    pub(crate) fn finds_no_place(&mut self, lane: u32, character: Character) -> bool {
        let link = self.fabric.link_of(lane);
        let state = &mut self.lanes[lane as usize];
        if std::mem::replace(&mut state.amid_arrival, character.kind != Kind::End) {
            return state.drops;
        }
        let needed = self.characters(character.packet);
        let lost = !self.takes_places(lane, needed);
        self.lanes[lane as usize].drops = lost;
        if lost {
            self.lose(character.packet, |link| &mut link.discarded, link);
            return true;
        }
        let switch = self.enters(link);
        let held = |lane: u32| self.lanes[lane as usize].own + self.lanes[lane as usize].beyond;
        let all: u64 = self.lanes_into(switch).into_iter().map(held).sum();
        let most = &mut self.memory_most[switch as usize];
        *most = (*most).max(all);
        self.agenda.add(self.now, What::Survey { switch });
        false
    }

    /// Gives a packet places in the reserve and the pool, or in the headroom; false if neither has them.
    fn takes_places(&mut self, lane: u32, needed: u64) -> bool {
        let reserved = u64::from(self.fabric.pool_reserved_chars);
        let (free, part) = self.free(self.enters(self.fabric.link_of(lane)));
        let before = self.share(lane);
        let state = &mut self.lanes[lane as usize];
        let after = (state.own + needed).saturating_sub(reserved);
        if after <= part && after - before <= free {
            state.own += needed;
            return true;
        }
        let beyond = state.beyond + needed;
        if self.fabric.drops == 1 && beyond > u64::from(self.fabric.pool_headroom_chars) {
            return false;
        }
        state.beyond = beyond;
        state.beyond_most = state.beyond_most.max(beyond);
        true
    }

    /// Takes back the places of a packet whose end has left.
    pub(crate) fn gives_places_back(&mut self, place: Place, size: u64) {
        let state = &mut self.lanes[place.lane as usize];
        let first = size.min(state.beyond);
        state.beyond -= first;
        state.own -= size - first;
        let switch = self.enters(self.fabric.link_of(place.lane));
        self.agenda.add(self.now, What::Survey { switch });
    }

    /// Tells the senders of all lanes into a switch to pause, or to go on, when all has happened in this tick.
    pub(crate) fn survey(&mut self, switch: u32) {
        if self.fabric.pool_pauses == 0 {
            return;
        }
        let (_, part) = self.free(switch);
        for lane in self.lanes_into(switch) {
            let (share, state) = (self.share(lane), &mut self.lanes[lane as usize]);
            let goes_on = share <= part.saturating_sub(u64::from(self.fabric.pool_offset_chars));
            let pauses = state.beyond > 0 || if state.pauses { !goes_on } else { share > part };
            if pauses != std::mem::replace(&mut state.pauses, pauses) {
                let after = i64::from(self.fabric.link_credit_ticks[self.fabric.link_of(lane) as usize]);
                let faults = self.faults_of(lane);
                self.agenda.add(self.now + after, What::Pause { lane, faults, pauses });
            }
        }
    }

    /// Returns, per link, the most that the memory at its end has held, and a lane of it in its headroom.
    pub(crate) fn memories(&self) -> Vec<(u64, u64)> {
        if !self.fabric.has_pool() {
            return Vec::new();
        }
        let of_link = |link: u32| {
            let most = self.memory_most.get(self.enters(link) as usize).copied().unwrap_or(0);
            let lanes = self.fabric.lanes_of(link).map(|lane| self.lanes[lane as usize].beyond_most);
            (most, lanes.max().unwrap_or(0))
        };
        (0..self.fabric.links() as u32).map(of_link).collect()
    }
}
