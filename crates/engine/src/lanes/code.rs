//! Time-codes and interrupts: sent before characters of packets, and passed on to all sides.
//!
//! The model is the section on codes of `docs/background/wormhole-model.md`. Codes are rare: their events are in a heap
//! of their own, in the order that the page defines for a tick.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::state::{Network, UNKNOWN};
use crate::fabric::{CODE_NUMBERS, Fabric, TIME};
use crate::kernel::Time;
use crate::measure::{Code as Seen, CodeCounts, Hop, hop_kind};

/// A time-code or an interrupt under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Code {
    is_interrupt: bool,
    number: u8,
    source: u32,
    made: Time,
}

/// The events of codes, in their order within a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CodeEvent {
    /// A source creates its next one.
    Make { source: u32, left: u64 },
    /// It has arrived on a link.
    Arrive { link: u32, code: Code },
    /// It is ready for the wire of a link.
    Ready { link: u32, code: Code },
}

/// The memory of a switch or a port.
#[derive(Clone, Debug)]
struct Register {
    /// The last time-code.
    time: u8,
    /// Per interrupt: when it is accepted again.
    free_at: [Time; CODE_NUMBERS as usize],
}

/// The state of all codes.
#[derive(Clone, Debug)]
pub(super) struct Codes {
    events: BinaryHeap<Reverse<(Time, CodeEvent)>>,
    registers: Vec<Register>,
    /// Per link: the codes that are ready, in order of sending.
    waiting: Vec<VecDeque<(bool, Time, Code)>>,
    /// How many wait at all links.
    ready: usize,
    /// Per switch: the links out of it.
    outputs: Vec<Vec<u32>>,
    pub counts: Vec<CodeCounts>,
}

impl Codes {
    /// Returns the state of a network with codes; None for others.
    pub fn new(fabric: &Fabric) -> Option<Box<Self>> {
        fabric.has_codes().then(|| {
            let events = (0..).zip(&fabric.code_first_ticks).zip(&fabric.code_count);
            let events = events.filter(|&(_, &count)| count > 0);
            let events = events
                .map(|((source, &first), &left)| Reverse((first as Time, CodeEvent::Make { source, left })));
            let mut outputs = vec![Vec::new(); fabric.switches as usize];
            for (link, &from) in (0..).zip(&fabric.link_source) {
                if let Some(links) = outputs.get_mut(from as usize) {
                    links.push(link);
                }
            }
            let register = Register { time: 0, free_at: [0; CODE_NUMBERS as usize] };
            Box::new(Self {
                events: events.collect(),
                registers: vec![register; (fabric.switches + fabric.ports()) as usize],
                waiting: vec![VecDeque::new(); fabric.links()],
                ready: 0,
                outputs,
                counts: vec![CodeCounts::default(); fabric.links()],
            })
        })
    }

    /// Returns the tick of the next event of a code.
    pub fn next(&self) -> Option<Time> {
        self.events.peek().map(|next| next.0.0)
    }

    /// Returns the first tick, from now on, in which a code may start or become ready.
    pub fn horizon(&self, now: Time) -> Time {
        if self.ready > 0 { now } else { self.next().unwrap_or(UNKNOWN) }
    }

    fn add(&mut self, time: Time, event: CodeEvent) {
        self.events.push(Reverse((time, event)));
    }

    /// Takes the code that is sent next on a wire.
    fn take(&mut self, link: u32) -> Option<Code> {
        let (_, _, code) = self.waiting[link as usize].pop_front()?;
        self.ready -= 1;
        Some(code)
    }
}

impl Network {
    /// Handles all events of codes in this tick, before the network decides; returns their number.
    pub fn pass_codes(&mut self, seen: &mut Vec<Seen>) -> u64 {
        let Some(mut codes) = self.codes.take() else { return 0 };
        let mut count = 0;
        while codes.next() == Some(self.agenda.now) {
            count += 1;
            match codes.events.pop() {
                Some(Reverse((_, CodeEvent::Make { source, left }))) => {
                    self.make(&mut codes, source, left, seen);
                }
                Some(Reverse((_, CodeEvent::Arrive { link, code }))) => {
                    self.arrive(&mut codes, link, code, seen);
                }
                Some(Reverse((_, CodeEvent::Ready { link, .. }))) if self.links[link as usize].down => {
                    codes.counts[link as usize].lost += 1;
                }
                Some(Reverse((_, CodeEvent::Ready { link, code }))) => {
                    let (waiting, one) =
                        (&mut codes.waiting[link as usize], (code.is_interrupt, self.agenda.now, code));
                    let place = waiting.partition_point(|other| *other <= one);
                    waiting.insert(place, one);
                    codes.ready += 1;
                    self.agenda.wake_wire(&mut self.links[link as usize], self.agenda.now);
                }
                None => {}
            }
        }
        self.codes = Some(codes);
        count
    }

    fn make(&mut self, codes: &mut Codes, source: u32, left: u64, seen: &mut Vec<Seen>) {
        let row = source as usize;
        if left > 1 {
            let next = self.agenda.now + self.fabric.code_period_ticks[row] as Time;
            codes.add(next, CodeEvent::Make { source, left: left - 1 });
        }
        seen.push(Seen::Made { source });
        let (port, number) = (self.fabric.code_port[row], self.fabric.code_number[row]);
        let register = &mut codes.registers[(self.fabric.switches + port) as usize];
        let is_interrupt = number != TIME;
        if !is_interrupt {
            register.time = (register.time + 1) % CODE_NUMBERS;
        } else if !hold(register, number, self.agenda.now, self.fabric.interrupt_hold_ticks) {
            return;
        }
        let number = if is_interrupt { number } else { register.time };
        let code = Code { is_interrupt, number, source, made: self.agenda.now };
        codes.add(
            self.agenda.now,
            CodeEvent::Ready { link: self.fabric.terminal_out_link[port as usize], code },
        );
    }

    /// Handles the arrival of a code: the switch or port drops it, or accepts it and passes it on.
    fn arrive(&mut self, codes: &mut Codes, link: u32, code: Code, seen: &mut Vec<Seen>) {
        let vertex = self.fabric.link_target[link as usize];
        let register = &mut codes.registers[vertex as usize];
        let (counts, last) = (&mut codes.counts[link as usize], register.time);
        if code.is_interrupt {
            if !hold(register, code.number, self.agenda.now, self.fabric.interrupt_hold_ticks) {
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
        if self.fabric.is_terminal(vertex) {
            let port = vertex - self.fabric.switches;
            return seen.push(Seen::Taken {
                source: code.source,
                port,
                made: code.made,
                at: self.agenda.now,
            });
        }
        let back = self.fabric.link_reverse[link as usize];
        let ready = self.agenda.now + Time::from(self.fabric.switch_code_ticks[vertex as usize]);
        let outputs = std::mem::take(&mut codes.outputs[vertex as usize]);
        for &link in outputs.iter().filter(|&&link| link != back) {
            codes.add(ready, CodeEvent::Ready { link, code });
        }
        codes.outputs[vertex as usize] = outputs;
    }

    /// Sends the code that waits for a free wire, if any; returns whether it did.
    pub(super) fn send_code(&mut self, link: u32) -> bool {
        let Some(code) = self.codes.as_mut().and_then(|codes| codes.take(link)) else { return false };
        let row = link as usize;
        let occupied = Time::from(self.fabric.link_code_ticks[row]);
        let arrival = self.agenda.now + Time::from(self.fabric.link_code_arrival_ticks[row]);
        let shared = &mut self.links[row];
        shared.counts.busy_ticks += occupied as u64;
        shared.free_at = self.agenda.now + occupied;
        let codes = self.codes.as_mut().expect("there is a code");
        codes.counts[row].sent += 1;
        codes.add(arrival, CodeEvent::Arrive { link, code });
        self.hops.record(Hop {
            source: self.fabric.code_port[code.source as usize],
            created: code.made,
            started: code.made,
            target: u32::from(code.number),
            link,
            begin: self.agenda.now,
            end: arrival,
            kind: hop_kind::CODE,
        });
        self.agenda.wake_wire(&mut self.links[link as usize], self.agenda.now + occupied);
        true
    }

    /// Discards the codes on a link that fails, or that wait for it.
    pub(super) fn lose_codes(&mut self, link: u32) {
        let Some(codes) = &mut self.codes else { return };
        let before = codes.events.len();
        codes.events.retain(|event| !matches!(event.0.1, CodeEvent::Arrive { link: on, .. } if on == link));
        let waiting = std::mem::take(&mut codes.waiting[link as usize]).len();
        codes.ready -= waiting;
        codes.counts[link as usize].lost += (before - codes.events.len() + waiting) as u64;
    }

    /// Whether only codes, and faults without packets, are still to happen.
    pub fn is_idle(&self) -> bool {
        self.agenda.is_quiet() && (self.faults.next().is_none() || self.packets.count() == 0)
    }

    /// Returns the code counts of every link; empty if there are no codes.
    pub fn code_counts(&self) -> &[CodeCounts] {
        self.codes.as_ref().map_or(&[], |codes| &codes.counts)
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
