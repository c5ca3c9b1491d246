//! Time-codes and interrupts: who makes them, who has seen them, and which wait for wires.
//!
//! The model is the section on codes of `docs/background/wormhole-model.md`. What happens to codes is in two queues of
//! their own: most is added last, because the delays of links and of switches mostly are alike. Wires belong to the
//! engines: these start the codes that wait.

use std::collections::VecDeque;

use crate::fabric::{CODE_NUMBERS, Fabric, TIME};
use crate::kernel::Time;
use crate::kernel::random::{Family, Stream, streams};
use crate::measure::{Code as Seen, CodeCounts, Hop, hop_kind};

/// A time-code or an interrupt under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code {
    is_interrupt: bool,
    number: u8,
    source: u32,
    made: Time,
}

/// What happens to a code: when, at which link, and to which.
type Event = (Time, u32, Code);

/// Where a code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the wire of a link.
    OnWire(u32),
    /// On its way to the wire of a link, or before it.
    Before(u32),
}

/// The memory of a switch or a port.
#[derive(Clone, Debug)]
struct Register {
    /// The last time-code.
    time: u8,
    /// Per interrupt: when it is accepted again.
    free_at: [Time; CODE_NUMBERS as usize],
}

/// A source of codes.
#[derive(Clone, Copy, Debug)]
struct Source {
    /// When it makes the next one; [`Time::MAX`] if none is left.
    next: Time,
    left: u64,
}

/// The state of all codes.
#[derive(Clone, Debug)]
pub struct Codes {
    sources: Vec<Source>,
    /// When codes have arrived on links, in order.
    arrivals: VecDeque<Event>,
    /// When they are ready for wires: in a tick after all arrivals.
    readies: VecDeque<Event>,
    /// Switches, then ports.
    registers: Vec<Register>,
    /// Per link: the codes that are ready, in order of sending.
    waiting: Vec<VecDeque<(bool, Time, Code)>>,
    /// The links at which codes wait.
    ready: Vec<u32>,
    /// Per link: when the next code becomes ready for it, and how many will; [`Time::MAX`] if none is known.
    promised: Vec<(Time, u32)>,
    /// How many codes are under way: time-codes by number, and interrupts by number.
    under_way: [[u32; CODE_NUMBERS as usize]; 2],
    /// The sums of these.
    all: [u32; 2],
    /// Per switch: the links out of it that carry codes.
    outputs: Vec<Vec<u32>>,
    /// Per switch: how its clock is aligned to the next code; empty without jitter.
    clocks: Vec<Stream>,
    /// Per link.
    pub counts: Vec<CodeCounts>,
}

impl Codes {
    /// Returns the state of a network with codes; None for others.
    pub fn new(fabric: &Fabric) -> Option<Box<Self>> {
        fabric.has_codes().then(|| {
            let firsts = fabric.code_first_ticks.iter().zip(&fabric.code_count);
            let next = |first: u64, left: u64| if left > 0 { first as Time } else { Time::MAX };
            let mut outputs = vec![Vec::new(); fabric.switches as usize];
            for (link, &from) in (0..).zip(&fabric.link_source) {
                let carries = fabric.link_code_ticks[link as usize] > 0;
                if let Some(links) = outputs.get_mut(from as usize).filter(|_| carries) {
                    links.push(link);
                }
            }
            let register = Register { time: 0, free_at: [0; CODE_NUMBERS as usize] };
            Box::new(Self {
                sources: firsts.map(|(&first, &left)| Source { next: next(first, left), left }).collect(),
                arrivals: VecDeque::new(),
                readies: VecDeque::new(),
                registers: vec![register; (fabric.switches + fabric.ports()) as usize],
                waiting: vec![VecDeque::new(); fabric.links()],
                ready: Vec::new(),
                promised: vec![(Time::MAX, 0); fabric.links()],
                under_way: [[0; CODE_NUMBERS as usize]; 2],
                all: [0; 2],
                outputs,
                clocks: match fabric.code_jitter_ticks {
                    0 => Vec::new(),
                    _ => streams(fabric.seed, Family::Clock, fabric.switches as usize),
                },
                counts: vec![CodeCounts::default(); fabric.links()],
            })
        })
    }

    /// Returns when a source makes the next code; [`Time::MAX`] if none does.
    pub fn next_made(&self) -> Time {
        self.sources.iter().map(|source| source.next).min().unwrap_or(Time::MAX)
    }

    /// Returns the tick of the next event of a code; [`Time::MAX`] if there is none.
    pub fn next(&self) -> Time {
        let events =
            [&self.arrivals, &self.readies].map(|events| events.front().map_or(Time::MAX, |next| next.0));
        events[0].min(events[1]).min(self.next_made())
    }

    /// Returns the first tick, from now on, in which a code may start or become ready.
    pub fn horizon(&self, now: Time) -> Time {
        if self.ready.is_empty() { self.next() } else { now }
    }

    /// Whether a code is ready for the wire of a link.
    pub fn waits(&self, link: u32) -> bool {
        !self.waiting[link as usize].is_empty()
    }

    /// Handles all events of codes in this tick; returns their number. Collects the links for whose wires codes have
    /// become ready.
    pub fn pass(
        &mut self,
        fabric: &Fabric,
        now: Time,
        is_down: impl Fn(u32) -> bool,
        seen: &mut Vec<Seen>,
        ready: &mut Vec<u32>,
    ) -> u64 {
        let mut count = 0;
        for row in 0..self.sources.len() {
            if self.sources[row].next == now {
                count += 1;
                self.make(fabric, row, now, seen);
            }
        }
        while let Some((_, link, code)) = self.arrivals.pop_front_if(|next| next.0 == now) {
            count += 1;
            self.is_gone(code);
            self.arrive(fabric, link, code, now, seen);
        }
        while let Some((_, link, code)) = self.readies.pop_front_if(|next| next.0 == now) {
            count += 1;
            self.kept_promise(link);
            if is_down(link) {
                self.is_gone(code);
                self.counts[link as usize].lost += 1;
                continue;
            }
            let waiting = &mut self.waiting[link as usize];
            insert(waiting, (code.is_interrupt, now, code));
            if waiting.len() == 1 {
                self.ready.push(link);
            }
            ready.push(link);
        }
        count
    }

    fn is_gone(&mut self, code: Code) {
        let kind = usize::from(code.is_interrupt);
        self.under_way[kind][usize::from(code.number)] -= 1;
        self.all[kind] -= 1;
    }

    fn is_under_way(&mut self, code: Code) {
        let kind = usize::from(code.is_interrupt);
        self.under_way[kind][usize::from(code.number)] += 1;
        self.all[kind] += 1;
    }

    /// Has a code ready for the wire of a link at a tick.
    fn promise(&mut self, time: Time, link: u32, code: Code) {
        self.is_under_way(code);
        insert(&mut self.readies, (time, link, code));
        let (next, count) = &mut self.promised[link as usize];
        (*next, *count) = ((*next).min(time), *count + 1);
    }

    /// Returns when the next code becomes ready for a link that its switch has accepted; [`Time::MAX`] if there is none.
    pub fn promised(&self, link: u32) -> Time {
        self.promised[link as usize].0
    }

    /// The code that was promised next is ready.
    fn kept_promise(&mut self, link: u32) {
        let count = self.promised[link as usize].1 - 1;
        let others = || self.readies.iter().find(|event| event.1 == link).map(|event| event.0);
        let next = if count == 0 { None } else { others() };
        self.promised[link as usize] = (next.unwrap_or(Time::MAX), count);
    }

    fn make(&mut self, fabric: &Fabric, row: usize, now: Time, seen: &mut Vec<Seen>) {
        let (source, at) = (row as u32, &mut self.sources[row]);
        at.left -= 1;
        at.next = if at.left > 0 { now + fabric.code_period_ticks[row] as Time } else { Time::MAX };
        seen.push(Seen::Made { source });
        let (port, number) = (fabric.code_port[row], fabric.code_number[row]);
        let register = &mut self.registers[(fabric.switches + port) as usize];
        let is_interrupt = number != TIME;
        if !is_interrupt {
            register.time = (register.time + 1) % CODE_NUMBERS;
        } else if !hold(register, number, now, fabric.interrupt_hold_ticks) {
            return;
        }
        let number = if is_interrupt { number } else { register.time };
        let code = Code { is_interrupt, number, source, made: now };
        self.promise(now, fabric.terminal_out_link[port as usize], code);
    }

    /// Handles the arrival of a code: the switch or port drops it, or accepts it and passes it on.
    fn arrive(&mut self, fabric: &Fabric, link: u32, code: Code, now: Time, seen: &mut Vec<Seen>) {
        let vertex = fabric.link_target[link as usize];
        let register = &mut self.registers[vertex as usize];
        let (counts, last) = (&mut self.counts[link as usize], register.time);
        if code.is_interrupt {
            if !hold(register, code.number, now, fabric.interrupt_hold_ticks) {
                return counts.duplicates += 1;
            }
        } else {
            register.time = code.number;
            if code.number == last {
                return counts.duplicates += 1;
            }
            if code.number != (last + 1) % CODE_NUMBERS {
                return counts.invalid += 1;
            }
        }
        if fabric.is_terminal(vertex) {
            let port = vertex - fabric.switches;
            return seen.push(Seen::Taken { source: code.source, port, made: code.made, at: now });
        }
        let back = fabric.link_reverse[link as usize];
        let early =
            self.clocks.get_mut(vertex as usize).map_or(0, |clock| clock.below(fabric.code_jitter_ticks + 1));
        let ready = now + Time::from(fabric.switch_code_ticks[vertex as usize] - early);
        let outputs = std::mem::take(&mut self.outputs[vertex as usize]);
        for &link in outputs.iter().filter(|&&link| link != back) {
            self.promise(ready, link, code);
        }
        self.outputs[vertex as usize] = outputs;
    }

    /// Starts the code that is sent next on the wire of a link, if any waits; returns its stay there. The wire must be
    /// free, and is busy for `link_code_ticks`.
    pub fn start(&mut self, fabric: &Fabric, link: u32, now: Time) -> Option<Hop> {
        let (_, _, code) = self.waiting[link as usize].pop_front()?;
        if !self.waits(link) {
            self.is_served(link);
        }
        let end = now + Time::from(fabric.link_code_arrival_ticks[link as usize]);
        self.counts[link as usize].sent += 1;
        insert(&mut self.arrivals, (end, link, code));
        Some(Hop {
            source: fabric.code_port[code.source as usize],
            created: code.made,
            started: code.made,
            target: u32::from(code.number),
            link,
            begin: now,
            end,
            kind: hop_kind::CODE,
        })
    }

    /// No code waits for a link any more.
    fn is_served(&mut self, link: u32) {
        if let Some(place) = self.ready.iter().rposition(|&other| other == link) {
            self.ready.swap_remove(place);
        }
    }

    /// Discards the codes on a link that fails, or that wait for it.
    pub fn lose(&mut self, link: u32) {
        let mut lost: Vec<Code> = self.waiting[link as usize].drain(..).map(|(_, _, code)| code).collect();
        self.is_served(link);
        lost.extend(self.arrivals.iter().filter(|event| event.1 == link).map(|event| event.2));
        self.arrivals.retain(|event| event.1 != link);
        self.counts[link as usize].lost += lost.len() as u64;
        for code in lost {
            self.is_gone(code);
        }
    }

    /// Calls a function for each code under way that a switch could still accept: with the tick of its next event, the
    /// earliest tick at which the switch accepts it, and where it is.
    pub fn for_acceptable(&self, switch: u32, now: Time, mut act: impl FnMut(Time, Time, Place)) {
        let register = &self.registers[switch as usize];
        let [times, interrupts] = self.all;
        // As long as all time-codes have the number that the switch has accepted last, all are duplicates for it.
        let is_news = times > self.under_way[0][usize::from(register.time)];
        if !is_news && interrupts == 0 {
            return;
        }
        let mut call = |time: Time, code: Code, place: Place| match code.is_interrupt {
            true => act(time, register.free_at[usize::from(code.number)], place),
            false if is_news => act(time, time, place),
            false => {}
        };
        self.arrivals.iter().for_each(|&(time, link, code)| call(time, code, Place::OnWire(link)));
        self.readies.iter().for_each(|&(time, link, code)| call(time, code, Place::Before(link)));
        for &link in &self.ready {
            for &(_, _, code) in &self.waiting[link as usize] {
                call(now, code, Place::Before(link));
            }
        }
    }
}

/// Adds something to what is in order.
fn insert<T: Ord>(queue: &mut VecDeque<T>, one: T) {
    if queue.back().is_none_or(|last| *last <= one) {
        queue.push_back(one);
    } else {
        let place = queue.partition_point(|other| *other <= one);
        queue.insert(place, one);
    }
}

/// Accepts an interrupt and holds its number, unless it is held already; returns whether it did.
fn hold(register: &mut Register, number: u8, now: Time, ticks: u64) -> bool {
    let free_at = &mut register.free_at[number as usize];
    let is_free = *free_at <= now;
    if is_free {
        *free_at = now + ticks as Time;
    }
    is_free
}
