//! When the run looks at the network next, and periodic checks: whether the network or the engine is stuck.

use super::{End, MOST_BETWEEN_SEARCHES, Network, Run, Time};

impl Run {
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
