//! The run loop: tick after tick, with periodic checks in between.

mod beside;
mod count;
mod finish;
mod programs;
mod settle;
mod several;

use super::network::{Happened, Network, News};
use super::{End, Options, RunError};
use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::measure::{Backlog, Codes, Flows, Measure, Order, Planes, Taken, Trace, Watched};
use crate::switched::Standstill;
use crate::terminal::{Packet, Ports, Programs, Sources, Totals, Ways};
use beside::{Beside, of_flow};

/// Maximum factor by which the search for deadlock becomes rarer if it takes long.
const MOST_BETWEEN_SEARCHES: Time = 64;

/// First batches from one search for deadlock to the next, at least.
const BATCHES: Time = 16;

/// Limit of the first batches in ticks, so that the tick of a later search is a valid time.
const LONGEST_BATCH: Time = 1 << 50;

/// Searches for deadlock from one look at the engine itself to the next: a standstill is its error, and has time.
const SEARCHES: u64 = 8;

/// About this many arrivals that may be refused are drawn at a time.
const ARRIVALS: f64 = 65_536.0;

/// Samples of the backlog in one of the first batches.
const SAMPLES: Time = 8;

/// A run without its network.
#[derive(Clone, Debug)]
pub struct Run {
    sources: Sources,
    /// The terminals whose sources create packets whatever the network accepts.
    open: Vec<u32>,
    /// The programs that drive the terminals instead of sources, if any.
    pub programs: Option<Box<Programs>>,
    /// Whether the run ends when nothing is left to be sent, whatever happens in the network without packets.
    may_rest: bool,
    /// The sources beside programs, if there are any.
    beside: Option<Box<Beside>>,
    /// Where the ports of terminals lead, if terminals have several.
    ways: Option<Box<Ways>>,
    /// The queues in front of ports, if sources fill those of several, or stand beside programs.
    ports: Option<Box<Ports>>,
    options: Options,
    /// Per terminal: the packet that its source has handed out and the network has not dispatched yet.
    pending: Vec<Option<Packet>>,
    /// Per terminal: the creation time of its newest dispatched packet.
    newest: Vec<Time>,
    news: News,
    pub(super) now: Time,
    watch: Watch,
    /// The measurements so far.
    pub measure: Measure,
    /// Deliveries by plane, for terminals with several ports.
    pub planes: Planes,
    /// Time-codes and interrupts.
    pub codes: Codes,
    /// The packets of flows that have left their sources.
    taken: Taken,
    /// Overtaking of sources' packets, if these have several ways.
    pub order: Order,
    /// Packets, if requested.
    pub trace: Trace,
    /// The tick up to which sources have drawn the packets that they refuse.
    caught_up: Time,
    /// The interval in which these become many.
    catch_up_ticks: Time,
    /// Arrivals that were drawn in advance.
    pub drawn: u64,
    /// Number of events so far.
    pub events: u64,
    /// Number of delivered packets so far.
    pub delivered: u64,
    pub(super) end: Option<End>,
    /// Whether the run ended because its means were narrow enough when it looked.
    pub ended_at_look: bool,
    pub(super) cycle: Vec<u32>,
    pub(super) standstill: Option<Standstill>,
}

/// The next tick with an event.
#[derive(Clone, Copy, Debug)]
struct Next {
    time: Time,
    /// The next tick with one of the network; `Time::MAX`: there is none.
    of_network: Time,
    /// The next tick with one of programs, or of the sources beside them; `Time::MAX`: there is none.
    of_programs: Time,
}

/// What is checked periodically instead of at each event.
#[derive(Clone, Debug)]
struct Watch {
    /// Whether the warm-up is over.
    measuring: bool,
    /// Packets that wait at open sources or are under way since measuring began.
    backlog: Backlog,
    /// Next tick with a check.
    next: Time,
    /// Next tick with a search for deadlock.
    next_deadlock: Time,
    /// Ticks from one search to the next.
    deadlock_ticks: Time,
    /// Number of events at the last search.
    deadlock_events: u64,
    /// Number of searches so far.
    searches: u64,
    /// Offered packets when measuring began.
    offered: Totals,
}

impl Run {
    pub(super) fn new(fabric: &Fabric, mut options: Options) -> Self {
        options.batch = options.batch.clamp(1, LONGEST_BATCH);
        let terminals = fabric.terminals as usize;
        let mut sources = Sources::new(fabric);
        if options.drain {
            sources.stop_after(fabric, options.until);
        }
        let mut programs = fabric.has_programs().then(|| Box::new(Programs::new(fabric, options.messages)));
        if let Some(programs) = programs.as_mut().filter(|_| options.drain) {
            programs.stop_after(options.until);
        }
        let fills_ports = fabric.has_ports() && programs.is_none() || fabric.has_sources_beside();
        let ports = fills_ports.then(|| Box::new(Ports::new(fabric)));
        let flows = (options.flows > 0).then(|| Flows::new(fabric.terminals, options.flows));
        if let Some(programs) = &mut programs {
            programs.account.flows.clone_from(&flows);
        }
        let may_rest = programs.is_some() || fabric.has_faults() && !fabric.has_codes();
        let has_ways = ports.is_none() && programs.is_none() && fabric.has_several_ways();
        let measuring = options.warmup == Some(0);
        let look = options.batch * BATCHES;
        let is_open = |&at: &u32| Sources::is_timed(fabric, at as usize);
        Self {
            sources,
            open: (0..fabric.terminals).filter(is_open).collect(),
            programs,
            may_rest,
            beside: Beside::new(fabric),
            ways: fabric.has_ports().then(|| Box::new(Ways::new(fabric))),
            ports,
            pending: vec![None; terminals],
            newest: vec![0; terminals],
            news: News::default(),
            now: -1,
            watch: Watch {
                measuring,
                backlog: Backlog::new(0, options.batch / SAMPLES),
                next: 0,
                next_deadlock: look,
                deadlock_ticks: look,
                deadlock_events: 0,
                searches: 0,
                offered: Totals::default(),
            },
            measure: Measure::new(0, options.batch, flows, Watched::new(&options.watched), &options.rows),
            planes: Planes::new(fabric.planes),
            codes: Codes::new(fabric, 0),
            taken: Taken::new(fabric.flow_target.len(), &options.watched),
            order: if has_ways { Order::by_start(fabric.terminals) } else { Order::default() },
            trace: Trace { limit: options.trace, ..Trace::default() },
            caught_up: 0,
            catch_up_ticks: catch_up_ticks(fabric),
            drawn: 0,
            events: 0,
            delivered: 0,
            end: None,
            ended_at_look: false,
            cycle: Vec::new(),
            standstill: None,
            options,
        }
    }

    /// Schedules a request to every source at tick 0, for each of its ports.
    pub(super) fn begin(&self, network: &mut impl Network) {
        for port in 0..network.fabric().ports() {
            network.schedule_source(port, 0);
        }
    }

    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    pub(super) fn advance<N: Network>(
        &mut self,
        network: &mut N,
        events: u64,
    ) -> Result<Option<End>, RunError> {
        let stop = (self.events + self.drawn).saturating_add(events);
        while self.end.is_none() && self.events + self.drawn < stop {
            let next = self.next(network);
            let Some(next) = next.filter(|next| next.time <= self.options.until || self.options.drain) else {
                self.finish(network, next.is_none());
                continue;
            };
            let time = next.time;
            if time >= self.watch.next {
                if !self.look(network, time) {
                    continue;
                }
                self.watch.next = self.next_look();
                network.look_at(self.next_view());
                if self.end.is_some() {
                    break;
                }
            }
            if self.is_caught_up(network.fabric(), (time - 1).min(self.watch.next - 1)) {
                self.tick(network, &next, stop - self.events - self.drawn)?;
            }
        }
        if self.end.is_some() {
            self.look_for_standstill(network);
        }
        Ok(self.end)
    }

    /// Makes sources draw the packets that they refuse, up to a tick before which nothing else happens, if these are
    /// many. Draws a limited part at a time, because billions of packets may be created while one holds its place.
    /// Returns whether there was nothing to do.
    #[inline]
    fn is_caught_up(&mut self, fabric: &Fabric, to: Time) -> bool {
        to - self.caught_up < self.catch_up_ticks || self.catch_up(fabric)
    }

    #[inline(never)]
    fn catch_up(&mut self, fabric: &Fabric) -> bool {
        self.caught_up += self.catch_up_ticks;
        self.drawn += 1 + match &mut self.ports {
            Some(ports) => ports.catch_up(fabric, &mut self.sources, self.caught_up),
            None => self.sources.catch_up(fabric, self.caught_up),
        };
        self.now = self.now.max(self.caught_up);
        false
    }

    /// Returns the next tick with an event.
    #[inline]
    fn next<N: Network>(&self, network: &mut N) -> Option<Next> {
        let of_programs = self.next_of_programs();
        let of_network = network.next().unwrap_or(Time::MAX);
        let time = of_network.min(of_programs);
        // Codes and faults continue; programs end a run without them, and sources one without faults.
        let is_over = of_programs == Time::MAX
            && self.may_rest
            && network.is_idle()
            && (self.programs.is_some() || self.sources_are_over(true));
        (time < Time::MAX && !is_over).then_some(Next { time, of_network, of_programs })
    }

    /// Returns the last tick up to which only the network has something to do; programs have at the given one. Or the
    /// other way round.
    #[inline]
    fn last_alone(&self, others: Time) -> Time {
        let caught_up = self.caught_up.saturating_add(self.catch_up_ticks);
        let until = if self.options.drain { Time::MAX } else { self.options.until };
        caught_up.min(until).min(self.watch.next - 1).min(others - 1)
    }

    /// Handles all events of the next tick, then makes the network decide. Handles further ticks, about this many
    /// events, if they concern only the network, or only programs.
    fn tick<N: Network>(&mut self, network: &mut N, next: &Next, events: u64) -> Result<(), RunError> {
        self.now = next.time;
        let of_network = next.of_network == self.now;
        if of_network {
            self.go_on(network, next, events)?;
        } else {
            network.go_to(next.time);
        }
        if self.ways.is_some() {
            self.name_terminals(network.fabric());
        }
        if self.beside.is_some() {
            self.keep_from_programs();
        }
        if !self.news.deliveries.is_empty() {
            self.record_deliveries();
        }
        if !self.news.codes.is_empty() {
            self.news.codes.drain(..).for_each(|code| self.codes.record(code));
        }
        if self.programs.is_some() && (next.of_programs == self.now || self.news.is_for_programs()) {
            let last =
                if of_network || self.beside.is_some() { self.now } else { self.last_alone(next.of_network) };
            self.let_programs_go_on(network, last, events)?;
        }
        if self.ports.is_some() && self.programs.is_none() {
            self.ask_ports(network)?;
        }
        self.dispatch_all(network);
        self.news.deliveries.clear();
        network.decide(self.now)
    }

    fn record_deliveries(&mut self) {
        for delivery in &self.news.deliveries {
            let delivery = if self.beside.is_some() { &of_flow(delivery) } else { delivery };
            self.measure.record(delivery);
            self.taken.record(delivery);
            if self.order.counts_starts() {
                self.order.record_start(delivery);
            }
            if self.trace.limit > 0 {
                self.trace.record(*delivery);
            }
        }
        self.delivered += self.news.deliveries.len() as u64;
        if self.options.packets > 0 && self.delivered >= self.options.packets {
            self.end.get_or_insert(End::PacketLimit);
        }
    }

    /// Dispatches packets of the sources that can.
    #[inline(always)]
    fn dispatch_all<N: Network>(&mut self, network: &mut N) {
        for at in 0..self.news.asking.len() {
            self.source(network, self.news.asking[at]);
        }
        self.news.asking.clear();
    }

    /// Runs the network for a tick and the following ones, up to about this many events, until programs continue by
    /// themselves, or a tick concerns others than terminals with one port and their measurements. The decisions of the last tick may still be open: those
    /// of a tick in which programs have something to do follow it.
    #[inline(always)]
    fn go_on<N: Network>(&mut self, network: &mut N, next: &Next, events: u64) -> Result<(), RunError> {
        let (most, mut now, mut count) = (self.last_alone(Time::MAX), next.time, 0);
        let has_programs = self.programs.is_some();
        let is_plain = self.ports.is_none() && self.ways.is_none();
        let mut of_programs = next.of_programs;
        loop {
            let Happened { events: handled, mut is_quiet } = network.happen(now, &mut self.news);
            count += handled;
            if has_programs && !self.news.asking.is_empty() {
                self.open_links();
                is_quiet = self.news.is_quiet();
            }
            if !is_quiet || has_programs && self.news.is_for_programs() {
                if !is_plain || !self.news.codes.is_empty() {
                    break;
                }
                self.now = now;
                if !self.news.deliveries.is_empty() {
                    self.record_deliveries();
                }
                if has_programs {
                    self.let_programs_go_on(network, now, 0)?;
                    of_programs = self.next_of_programs();
                } else if !self.news.asking.is_empty() {
                    self.dispatch_all(network);
                }
                self.news.deliveries.clear();
                if self.end.is_some() {
                    break;
                }
            }
            if count >= events || now >= of_programs {
                break;
            }
            network.decide(now)?;
            if self.may_rest && of_programs == Time::MAX && network.is_idle() {
                break;
            }
            match network.next() {
                Some(next) if next <= most && next < of_programs => now = next,
                _ => break,
            }
        }
        self.events += count;
        self.now = now;
        Ok(())
    }

    /// Dispatches the packets of a source while there is room.
    #[inline(never)]
    fn source<N: Network>(&mut self, network: &mut N, terminal: u32) {
        let at = terminal as usize;
        if let Some(packet) = &self.pending[at] {
            if packet.dispatch > self.now {
                return;
            }
            let packet = *packet;
            self.pending[at] = None;
            if !self.dispatch(network, terminal, &packet) {
                return;
            }
        }
        while let Some(packet) = self.sources.next(network.fabric(), at, self.now) {
            if packet.dispatch > self.now {
                self.pending[at] = Some(packet);
                if packet.created <= self.options.until {
                    network.schedule_source(terminal, packet.dispatch);
                }
                return;
            }
            if !self.dispatch(network, terminal, &packet) {
                return;
            }
        }
    }

    /// Dispatches a packet; returns whether another one can follow immediately.
    #[inline(always)]
    fn dispatch<N: Network>(&mut self, network: &mut N, terminal: u32, packet: &Packet) -> bool {
        self.newest[terminal as usize] = packet.created;
        if self.taken.watches() {
            self.taken.leave(packet.mark, packet.created, network.fabric().copies(packet.target));
        }
        network.send(terminal, packet)
    }

    /// Does what is due before the events of tick `next`; returns whether all of it is done, or sources still have to
    /// catch up.
    fn look<N: Network>(&mut self, network: &mut N, next: Time) -> bool {
        if next >= self.watch.next_deadlock {
            self.look_for_deadlock(network);
            if self.watch.searches.is_multiple_of(SEARCHES) {
                self.look_for_standstill(network);
            }
            if self.end.is_some() {
                // The run stopped at its last event: no batch and no warm-up ends after it.
                return true;
            }
            self.plan_search(network, next);
        }
        self.sample_backlog(network, next);
        let warmup_is_set = self.options.warmup.is_some() && !self.watch.measuring;
        while next >= self.measure.batches.end_of_open() && self.end.is_none() {
            let edge = self.measure.batches.end_of_open();
            if !warmup_is_set && !self.is_caught_up(network.fabric(), edge.min(next - 1)) {
                return false;
            }
            self.measure.batches.close();
            if self.watch.measuring {
                self.judge(network, edge);
            } else {
                self.judge_warmup(network, edge);
            }
        }
        let warmup = self.options.warmup.filter(|&end| !self.watch.measuring && next >= end);
        if let Some(warmup) = warmup {
            if !self.is_caught_up(network.fabric(), warmup.min(next - 1)) {
                return false;
            }
            self.begin_measuring(network, warmup);
        }
        true
    }

    /// Resets the counts at the end of the warm-up.
    fn begin_measuring<N: Network>(&mut self, network: &mut N, start: Time) {
        self.watch.measuring = true;
        self.watch.backlog = Backlog::new(start, self.options.batch / SAMPLES);
        self.watch.offered = self.totals(network.fabric(), start);
        let terminals = network.fabric().terminals;
        let flows = (self.options.flows > 0).then(|| Flows::new(terminals, self.options.flows));
        let length = self.measure.batches.length.max(self.options.batch);
        let watched = Watched::new(&self.options.watched);
        self.measure =
            Measure::new(start, length.min(self.options.batch * 4), flows, watched, &self.options.rows);
        self.planes.clear();
        self.codes = Codes::new(network.fabric(), start);
        self.order.clear();
        if let Some(programs) = &mut self.programs {
            programs.clear_counts(start);
        }
        network.clear_counts(start);
    }
}

/// Returns the ticks in which sources create about as many packets as are refused at a time.
fn catch_up_ticks(fabric: &Fabric) -> Time {
    let refusing = (0..fabric.terminals as usize).filter(|&terminal| Sources::may_refuse(fabric, terminal));
    let per_tick: f64 = refusing.map(|terminal| Sources::interval_ticks(fabric, terminal).recip()).sum();
    if per_tick > 0.0 { ((ARRIVALS / per_tick) as Time).max(1) } else { Time::MAX }
}
