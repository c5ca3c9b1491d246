//! Periodic checks: whether the network or the engine is stuck.

use super::{End, MOST_BETWEEN_SEARCHES, Network, Run, Time};

impl Run {
    /// Plans the next search for deadlock: less often, within limits, if little happens in between.
    pub(super) fn plan_search<N: Network>(&mut self, network: &N, now: Time) {
        let shortest = self.options.batch.max(1) * 16;
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
