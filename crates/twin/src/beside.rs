//! Sources beside programs: the program of a terminal and its source take turns on the link.

use fabriloom_engine::terminal::Packet;
use fabriloom_engine::terminal::program::mark;

use crate::twin::Twin;

impl Twin<'_> {
    /// Sends the packet of a terminal's source, if it has one; otherwise a turn follows when it has.
    pub(crate) fn source_sends(&mut self, terminal: u32) -> bool {
        let at = terminal as usize;
        if self.given[at].is_none() {
            self.given[at] = self.sources.next(self.fabric, at, self.now);
            if let Some(later) = self.given[at].filter(|packet| packet.dispatch > self.now) {
                self.enter_turn(later.dispatch);
            }
        }
        let Some(packet) = self.given[at].filter(|packet| packet.dispatch <= self.now) else { return false };
        self.given[at] = None;
        self.yields[at] = false;
        let mark = mark::of(packet.mark, mark::SOURCE);
        self.put_on_link(terminal, Packet { mark, dispatch: self.now, ..packet });
        true
    }

    /// Lets sources send where the programs leave the link free. They end when every program has ended.
    pub(crate) fn sources_use_the_rest(&mut self) {
        if !self.fabric.has_sources_beside() {
            return;
        }
        for terminal in 0..self.fabric.terminals {
            let is_open = |twin: &Self| twin.programs.as_ref().is_some_and(|one| one.is_open(terminal));
            if is_open(self) && self.source_sends(terminal) {
                self.programs.iter_mut().for_each(|programs| programs.link_taken(terminal, false));
            }
        }
        let ended = self.programs.as_ref().is_some_and(|one| one.rests() && !one.is_stuck());
        if !ended || std::mem::replace(&mut self.sources_ended, true) {
            return;
        }
        self.sources.stop_after(self.fabric, self.now);
        for terminal in 0..self.given.len() {
            if let Some(later) = self.given[terminal].take_if(|packet| packet.created > self.now) {
                self.sources.take_back(self.fabric, &later);
                self.given[terminal] = self.sources.next(self.fabric, terminal, self.now);
                if let Some(packet) = self.given[terminal] {
                    self.enter_turn(packet.dispatch);
                }
            }
        }
    }
}
