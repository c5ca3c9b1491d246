//! The event loop: one run from tick 0 to a named end.

use crate::fabric::{Fabric, FabricError, check};
use crate::kernel::Time;
use crate::measure::{Batches, Delivery, Flows, Measure, Trace, warmup_end};
use crate::terminal::{Packet, Sources, Totals};
use crate::wormhole::{Counts, Event, Network, PacketState, deadlock};

/// What a run is asked to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// No tick after this one is simulated.
    pub until: Time,
    /// First tick that is measured; nothing: found by watching for a stationary stretch.
    pub warmup: Option<Time>,
    /// Relative 95 % half-width of mean latency and throughput to stop at; 0: never.
    pub precision: f64,
    /// Stop after this many packets have been delivered; 0: never.
    pub packets: u64,
    /// Ticks of the first batches; they grow with the run.
    pub batch: Time,
    /// Make no packets after `until`, but deliver those that have been made.
    pub drain: bool,
    /// Pairs of terminals to keep sums for; 0: none.
    pub flows: usize,
    /// Packets to keep in the trace; 0: none.
    pub trace: usize,
}

impl Default for Options {
    fn default() -> Self {
        let batch = 1 << 12;
        Self { until: 0, warmup: None, precision: 0.0, packets: 0, batch, drain: false, flows: 0, trace: 0 }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every source is silent and every packet has arrived.
    Drained,
    /// The wanted precision was reached.
    Precision,
    /// The sources offer more than the network takes.
    Saturated,
    /// Packets wait for each other in a circle.
    Deadlocked,
    /// The time was up.
    TimeLimit,
    /// The wanted number of packets was delivered.
    PacketLimit,
}

/// What went wrong during a run.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum RunError {
    /// A packet came to a switch that has no route for it.
    #[error("switch {switch} has no route for class {class}")]
    NoRoute {
        /// Switch number.
        switch: u32,
        /// Class number.
        class: u32,
    },
    /// The books do not balance; this is a fault of the engine.
    #[error(
        "packets do not balance: {offered} offered, {delivered} delivered, {refused} refused, {in_flight} in flight"
    )]
    NotConserved {
        /// Packets offered.
        offered: u64,
        /// Packets delivered.
        delivered: u64,
        /// Packets refused.
        refused: u64,
        /// Packets waiting or on their way.
        in_flight: u64,
    },
}

/// Packets from tick 0 on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Made by sources.
    pub offered: u64,
    /// Their payload characters.
    pub offered_chars: u64,
    /// Received whole.
    pub delivered: u64,
    /// Found the queue of their source full.
    pub refused: u64,
    /// Waiting at their sources or on their way.
    pub in_flight: u64,
}

/// A run in progress.
#[derive(Clone, Debug)]
pub struct Simulation {
    network: Network,
    sources: Sources,
    options: Options,
    /// Per terminal: the packet it has asked for and not dispatched yet.
    pending: Vec<Option<Packet>>,
    /// Per terminal: when its newest dispatched packet was made.
    newest: Vec<Time>,
    now: Time,
    watch: Watch,
    /// What was measured so far.
    pub measure: Measure,
    /// Packets, if asked for.
    pub trace: Trace,
    /// Events so far.
    pub events: u64,
    /// Packets delivered so far.
    pub delivered: u64,
    end: Option<End>,
    cycle: Vec<u32>,
}

/// What is looked at from time to time rather than at each event.
#[derive(Clone, Debug)]
struct Watch {
    /// Whether the warm-up is over.
    measuring: bool,
    /// Mean age of the newest dispatched packets when measuring began.
    lag: f64,
    /// Next tick at which there is something to look at.
    next: Time,
    /// Next tick at which to look for deadlock.
    next_deadlock: Time,
    /// What had been offered when measuring began.
    offered: Totals,
}

impl Simulation {
    /// A run at its beginning.
    ///
    /// # Errors
    /// The arrays do not describe a network.
    pub fn new(fabric: Fabric, options: Options) -> Result<Self, FabricError> {
        check(&fabric)?;
        let terminals = fabric.terminals as usize;
        let mut sources = Sources::new(&fabric);
        if options.drain {
            sources.stop_after(options.until);
        }
        let mut network = Network::new(fabric);
        for terminal in 0..terminals as u32 {
            network.schedule(Event::Source(terminal), 0);
        }
        let flows = (options.flows > 0).then(|| Flows::new(terminals as u32, options.flows));
        let measuring = options.warmup == Some(0);
        let look = options.batch.max(1) * 16;
        Ok(Self {
            network,
            sources,
            pending: vec![None; terminals],
            newest: vec![0; terminals],
            now: -1,
            watch: Watch { measuring, lag: 0.0, next: 0, next_deadlock: look, offered: Totals::default() },
            measure: Measure::new(0, options.batch, flows),
            trace: Trace { limit: options.trace, ..Trace::default() },
            events: 0,
            delivered: 0,
            end: None,
            cycle: Vec::new(),
            options,
        })
    }

    /// Simulates until the end, or until at least `events` more events have been handled.
    ///
    /// # Errors
    /// A packet met a switch without a route for it.
    pub fn advance(&mut self, events: u64) -> Result<Option<End>, RunError> {
        let stop = self.events.saturating_add(events);
        while self.end.is_none() && self.events < stop {
            let next = self.network.wheel.peek();
            let Some(next) = next.filter(|&next| next <= self.options.until || self.options.drain) else {
                self.finish(next.is_none());
                break;
            };
            if next >= self.watch.next {
                self.look(next);
                self.watch.next = self.next_look();
                if self.end.is_some() {
                    break;
                }
            }
            self.tick(next)?;
        }
        Ok(self.end)
    }

    /// Handles all events of the next tick, then arbitrates.
    fn tick(&mut self, now: Time) -> Result<(), RunError> {
        self.now = now;
        self.network.wheel.go_to(now);
        while let Some(event) = self.network.wheel.pop() {
            self.events += 1;
            match Event::of(event) {
                Event::Request(link) => self.network.request(link),
                Event::Release(link) => self.network.release(link),
                Event::Deliver(link) => self.deliver(link),
                Event::Source(terminal) => self.source(terminal),
            }
        }
        self.network.arbitrate(self.now).map_err(|(switch, class)| RunError::NoRoute { switch, class })
    }

    fn deliver(&mut self, link: u32) {
        let PacketState { source, target, length, created, started, .. } = self.network.deliver(link);
        let delivery = Delivery { source, target, length, created, started, delivered: self.now };
        self.delivered += 1;
        self.measure.record(&delivery);
        if self.trace.limit > 0 {
            self.trace.record(delivery);
        }
        if self.options.packets > 0 && self.delivered >= self.options.packets {
            self.end.get_or_insert(End::PacketLimit);
        }
    }

    fn source(&mut self, terminal: u32) {
        let at = terminal as usize;
        let packet = match self.pending[at].take() {
            Some(packet) => packet,
            None => match self.sources.next(self.network.fabric(), at, self.now) {
                Some(packet) => packet,
                None => return,
            },
        };
        if packet.dispatch > self.now {
            self.pending[at] = Some(packet);
            if packet.dispatch <= self.options.until {
                self.network.schedule(Event::Source(terminal), packet.dispatch);
            }
            return;
        }
        self.newest[at] = packet.created;
        self.network.dispatch(terminal, &packet);
    }

    /// Things that happen at set times before the events of `next`.
    fn look(&mut self, next: Time) {
        while next >= self.measure.batches.end_of_open() && self.end.is_none() {
            let edge = self.measure.batches.end_of_open();
            self.measure.batches.close();
            if self.watch.measuring {
                self.judge(edge);
            } else {
                self.judge_warmup(edge);
            }
        }
        let warmup = self.options.warmup.filter(|&end| !self.watch.measuring && next >= end);
        if let Some(warmup) = warmup {
            self.begin_measuring(warmup);
        }
        if next >= self.watch.next_deadlock {
            self.watch.next_deadlock = next + self.options.batch.max(1) * 16;
            self.look_for_deadlock();
        }
    }

    /// The first tick for which [`Self::look`] has something to do.
    fn next_look(&self) -> Time {
        let next = self.measure.batches.end_of_open().min(self.watch.next_deadlock);
        let warmup = self.options.warmup.filter(|_| !self.watch.measuring);
        warmup.map_or(next, |warmup| next.min(warmup))
    }

    fn judge_warmup(&mut self, edge: Time) {
        if self.options.warmup.is_some() {
            return;
        }
        let batches = &self.measure.batches.done;
        let stationary = batches.len() == 64 && warmup_end(batches).is_some();
        if stationary || edge >= self.options.until / 2 {
            self.begin_measuring(edge);
        }
    }

    /// Forgets what was counted during the warm-up.
    fn begin_measuring(&mut self, start: Time) {
        self.watch.measuring = true;
        self.watch.lag = self.lag(start);
        self.watch.offered = self.totals(start);
        let terminals = self.network.fabric().terminals;
        let flows = (self.options.flows > 0).then(|| Flows::new(terminals, self.options.flows));
        let length = self.measure.batches.length.max(self.options.batch);
        self.measure = Measure::new(start, length.min(self.options.batch * 4), flows);
        self.network.clear_counts();
    }

    /// Whether the batches measured so far are enough.
    fn judge(&mut self, edge: Time) {
        let Batches { done, .. } = &self.measure.batches;
        if self.options.precision <= 0.0 || done.len() < 32 || done.len() % 8 != 0 {
            return;
        }
        let Some((latency, chars)) = self.measure.batches.half_widths() else { return };
        let saturated = self.is_saturated(edge);
        if chars <= self.options.precision && (saturated || latency <= self.options.precision) {
            self.now = edge;
            self.end = Some(if saturated { End::Saturated } else { End::Precision });
        }
    }

    fn look_for_deadlock(&mut self) {
        self.cycle = deadlock(&self.network);
        if !self.cycle.is_empty() {
            self.end = Some(End::Deadlocked);
        }
    }

    /// Mean age of the newest packet each open source has dispatched, none where a source has nothing to
    /// send; it grows without end when packets are made faster than they can leave.
    fn lag(&self, now: Time) -> f64 {
        let fabric = self.network.fabric();
        let mut sum = (0.0, 0u32);
        for (terminal, &newest) in self.newest.iter().enumerate() {
            if Sources::is_open(fabric, terminal) {
                let idle = self.pending[terminal].is_some();
                sum = (sum.0 + if idle { 0.0 } else { (now - newest) as f64 }, sum.1 + 1);
            }
        }
        sum.0 / f64::from(sum.1.max(1))
    }

    /// Offered more than 1 % faster than accepted: by the growing age of what is dispatched, or by refusals.
    fn is_saturated(&self, now: Time) -> bool {
        let window = (now - self.measure.start) as f64;
        window > 0.0 && (self.lag(now) - self.watch.lag) / window > 0.01
    }

    /// Nothing is left to do, or the time is up.
    fn finish(&mut self, empty: bool) {
        if empty {
            self.look_for_deadlock();
        }
        if self.end.is_some() {
            return;
        }
        let silent = self.pending.iter().all(Option::is_none);
        if empty && silent && self.network.in_flight() == 0 {
            self.end = Some(End::Drained);
            return;
        }
        let now = if self.options.drain { self.now.max(self.options.until) } else { self.options.until };
        self.look(now + 1);
        self.now = now;
        if self.end.is_none() {
            self.end = Some(if self.is_saturated(now) { End::Saturated } else { End::TimeLimit });
        }
    }

    fn totals(&self, now: Time) -> Totals {
        // A copy, because counting what has arrived by now draws from the sources.
        let later: Vec<Packet> = self.pending.iter().copied().flatten().collect();
        self.sources.clone().totals(self.network.fabric(), now, later.into_iter())
    }

    /// The last tick simulated.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Why the run ended, once it has.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Input links whose heads wait for each other, if the run ended deadlocked.
    pub fn cycle(&self) -> &[u32] {
        &self.cycle
    }

    /// Packets from tick 0 to now.
    ///
    /// # Errors
    /// Offered packets are not all delivered, refused or in flight.
    pub fn balance(&self) -> Result<Balance, RunError> {
        let totals = self.totals(self.now);
        let in_flight = self.network.in_flight() + totals.waiting;
        let (offered, delivered, refused) = (totals.offered, self.delivered, totals.refused);
        if offered != delivered + refused + in_flight {
            return Err(RunError::NotConserved { offered, delivered, refused, in_flight });
        }
        Ok(Balance { offered, offered_chars: totals.offered_chars, delivered, refused, in_flight })
    }

    /// Packets offered since measuring began, and their payload characters.
    pub fn measured_offered(&self) -> (u64, u64) {
        let (now, then) = (self.totals(self.now), &self.watch.offered);
        (now.offered - then.offered, now.offered_chars - then.offered_chars)
    }

    /// Heads granted an output at a switch so far.
    pub fn packet_hops(&self) -> u64 {
        self.network.grants
    }

    /// Pieces of timelines worked out so far.
    pub fn extensions(&self) -> u64 {
        self.network.extensions
    }

    /// What every link did since measuring began.
    pub fn link_counts(&self) -> impl Iterator<Item = Counts> {
        self.network.counts()
    }
}
