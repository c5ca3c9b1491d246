//! How a run ends: drained, deadlocked, stopped, stalled, or at its last tick.

use super::{Network, Run};
use crate::fabric::NONE;
use crate::run::End;
use crate::switched::{Fault, Standstill};

impl Run {
    /// Ends the run if nothing is left to do, or the last tick is reached.
    pub(super) fn finish<N: Network>(&mut self, network: &mut N, empty: bool) {
        if empty {
            self.look_for_deadlock(network);
        }
        if self.end.is_some() {
            return;
        }
        if empty && network.is_stopped() {
            return self.end = Some(End::Stopped);
        }
        if empty && network.in_flight() > network.stranded() {
            self.standstill =
                Some(Standstill { fault: Fault::Silent, link: NONE, source: NONE, target: NONE });
            return self.end = Some(End::Stalled);
        }
        if empty && self.come_to_rest(network) {
            return;
        }
        let now = if self.options.drain { self.now.max(self.options.until) } else { self.options.until };
        network.look_at(now + 1);
        if !self.look(network, now + 1) || !self.is_caught_up(network.fabric(), now) {
            return;
        }
        self.now = now;
        self.look_for_deadlock(network);
        if self.end.is_none() {
            self.end =
                Some(if self.is_saturated(network.fabric(), now) { End::Saturated } else { End::TimeLimit });
        }
    }

    /// Ends a run in which nothing happens any more: drained, or with programs that wait for ever. Returns whether it
    /// ended.
    fn come_to_rest<N: Network>(&mut self, network: &N) -> bool {
        let waiting = self.programs.as_ref().is_some_and(|programs| programs.is_stuck());
        let stopped = self.programs.as_ref().is_some_and(|programs| programs.stopped());
        if waiting && !stopped {
            self.end = Some(end_of_waiting(network));
        } else if !waiting && self.sources_are_over() {
            self.end = Some(End::Drained);
        }
        self.end.is_some()
    }
}

/// Returns how a run ends whose programs wait for ever.
pub(super) fn end_of_waiting<N: Network>(network: &N) -> End {
    let by_faults = network.lost() > 0 || network.stranded() > 0;
    if by_faults { End::Incomplete } else { End::Deadlocked }
}
