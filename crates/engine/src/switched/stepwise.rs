//! Input buffers whose characters cannot leave independently of each other.
//!
//! With a crossbar slower than the links each character waits for the previous one, and with a small output buffer
//! sending waits for a place in it. The departures therefore have to be computed in order, and sending follows from
//! them.

use std::num::Wrapping;

use super::queue::follow;
use super::state::Network;
use super::timeline::{ahead, earlier};
use crate::fabric::NONE;

impl Network {
    /// Extends the times at which characters leave the input buffer of a link for its output.
    #[cold]
    pub(super) fn leave(&mut self, link: u32) {
        let output = self.links[link as usize].input.output();
        if output == NONE {
            return;
        }
        let before = self.exits[link as usize].known();
        let end = self.extend_exits(link, output);
        let after = self.exits[link as usize].known();
        if after == before {
            return;
        }
        let to = &self.links[output as usize];
        if !to.credit.waits() && ahead(before, to.wire.known() + to.output.shift()) <= 0 {
            self.wake(output);
        }
        if self.links[link as usize].credit.waits() && self.has_credit(link) {
            self.wake(link);
        }
        if end {
            let last = self.keep_credit(link);
            self.left::<true>(link, output, Some(last));
        }
    }

    /// Extends the departures; returns whether the packet has left completely.
    fn extend_exits(&mut self, link: u32, output: u32) -> bool {
        loop {
            let (at, to) = (&self.links[link as usize], &self.links[output as usize]);
            let (kind, next_kind) = (self.kind(at), self.kind(to));
            let crossbar = kind.crossbar;
            let next = self.exits[link as usize].known();
            let end = to.output.end();
            let most = (earlier(end, at.wire.known()) - next).0;
            if most == 0 {
                return next == end;
            }
            let arrival = at.wire.starts().run_from(next).later(kind.arrival);
            let left = ahead(at.input.deleted(), next);
            let run = if left > 0 {
                follow(most.min(left as u32), at.input.exit_free(), crossbar, [arrival])
            } else {
                let place = next - to.output.shift() - Wrapping(next_kind.output_buffer);
                if ahead(place, to.wire.known()) >= 0 {
                    return false;
                }
                let place = to.wire.starts().run_from(place).later(next_kind.character);
                follow(most, at.input.exit_free(), crossbar, [arrival, place])
            };
            self.links[link as usize].input.crossed(run.after(crossbar));
            if !self.exits[link as usize].has_room() {
                self.make_exit_room(link);
            }
            self.exits[link as usize].push(&run);
            self.extensions += 1;
        }
    }

    /// Makes room for another piece of the departures from the input buffer of a link that is `stepwise`.
    #[cold]
    fn make_exit_room(&mut self, link: u32) {
        let known = self.exits[link as usize].known();
        let keep = earlier(
            known,
            earlier(self.links[link as usize].credit.next_quantum(), self.next_supplied(link)),
        );
        self.exits[link as usize].make_room(keep);
    }
}
