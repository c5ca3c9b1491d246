//! When the run looks at the network next, periodic checks of whether the network or the engine is stuck, and how a run
//! ends: drained, deadlocked, stopped, stalled, or at its last tick.

use super::{BATCHES, End, MOST_BETWEEN_SEARCHES, Network, Run, Time};
use crate::fabric::NONE;
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
        } else if !waiting && self.sources_are_over(network.stranded() > 0) {
            self.end = Some(End::Drained);
        }
        self.end.is_some()
    }

    /// Returns the first tick at which `Run::look` has something to do.
    pub(super) fn next_look(&self) -> Time {
        let next = self.measure.batches.end_of_open().min(self.watch.next_deadlock);
        let next = if self.watch.measuring { next.min(self.watch.backlog.due()) } else { next };
        let warmup = self.options.warmup.filter(|_| !self.watch.measuring);
        warmup.map_or(next, |warmup| next.min(warmup))
    }

    /// Returns the first tick before which nobody looks at the network, as far as that is known.
    pub(super) fn next_view(&self) -> Time {
        match (self.options.packets, self.options.drain) {
            (0, true) => self.watch.next,
            (0, false) => self.watch.next.min(self.options.until.saturating_add(1)),
            // The run may end at any delivery.
            _ => 0,
        }
    }

    /// Plans the next search for deadlock: less often, within limits, if little happens in between.
    pub(super) fn plan_search<N: Network>(&mut self, network: &N, now: Time) {
        let shortest = self.options.batch * BATCHES;
        let ticks = &mut self.watch.deadlock_ticks;
        if self.events - self.watch.deadlock_events < network.search_events() {
            *ticks = (*ticks * 2).min(shortest * MOST_BETWEEN_SEARCHES);
        } else {
            *ticks = (*ticks / 2).max(shortest);
        }
        self.watch.next_deadlock = now + *ticks;
        self.watch.deadlock_events = self.events;
        self.watch.searches += 1;
    }

    pub(super) fn look_for_deadlock<N: Network>(&mut self, network: &mut N) {
        self.cycle = network.deadlock();
        if !self.cycle.is_empty() {
            self.end = Some(End::Deadlocked);
        } else if network.livelocked() {
            self.end = Some(End::Livelocked);
        }
    }

    /// Ends a run in which packets that could move stand still: its result must not look valid, whatever its end was.
    pub(super) fn look_for_standstill<N: Network>(&mut self, network: &N) {
        self.standstill = self.standstill.or_else(|| network.standstill());
        if self.standstill.is_some() {
            self.end = Some(End::Stalled);
        }
    }
}

/// Returns how a run ends whose programs wait for ever.
pub(super) fn end_of_waiting<N: Network>(network: &N) -> End {
    let missing = network.lost() + network.stranded() + network.timed_out();
    if missing > 0 { End::Incomplete } else { End::Deadlocked }
}
