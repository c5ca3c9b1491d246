//! First characters at terminals, for programs that acknowledge a packet before all of it has come.

use super::queue::Run;
use super::state::{Event, Network};

impl Network {
    /// Reports that a packet begins on a link with a run, which may be all of it, if somebody wants to know. Its end may be
    /// known only much later: a code or a stop may come before.
    #[inline(always)]
    pub(super) fn tell_begun(&mut self, link: u32, run: &Run, all: bool) {
        if self.tells_heads {
            self.schedule_head(link, run, all);
        }
    }

    /// Schedules the arrival of a packet's first character at its terminal, if that is not the last one.
    #[cold]
    fn schedule_head(&mut self, link: u32, run: &Run, all: bool) {
        let at = &self.links[link as usize];
        if at.to_terminal && !self.is_drain(link) && !(all && run.count == 1) {
            let time = self.kind(at).arrival(run.time);
            self.schedule(Event::Source(self.fabric.ports() + link), time);
        }
    }

    /// Moves link numbers from `asking` to `heads`: the packets whose first characters have arrived on these links.
    #[inline(always)]
    pub fn heads(&self, asking: &mut Vec<u32>, heads: &mut Vec<(u32, u32)>) {
        if self.tells_heads {
            self.tell_heads(asking, heads);
        }
    }

    #[cold]
    fn tell_heads(&self, asking: &mut Vec<u32>, heads: &mut Vec<(u32, u32)>) {
        asking.retain(|&terminal| {
            if let Some(link) = terminal.checked_sub(self.fabric.ports()) {
                let worm = self.worm(link, self.links[link as usize].head());
                let packet = &self.packets[worm.packet].delivery;
                heads.push((packet.target, packet.mark));
            }
            terminal < self.fabric.ports()
        });
    }
}
