//! What is sent again: packets that nobody acknowledges, and requests whose answer does not come in time. The rules are
//! those of `docs/background/programs.md`, "Sent again" and "Asked again".

use super::flight::{Flight, Flights};
use super::host::Host;
use super::message::Message;
use super::{NONE, Programs, mark};
use crate::fabric::NEVER;
use crate::kernel::Time;
use crate::terminal::Packet;

/// Number of request numbers; more than can be under way.
const TURNS: u32 = NONE >> 1;

impl Host {
    /// Whether a message is the first answer to the latest request.
    pub(super) fn takes_answer(&mut self, tag: u32) -> bool {
        tag == self.turn && std::mem::replace(&mut self.open, false)
    }
}

impl Flights {
    /// Returns when the first clock expires.
    pub fn next(&self) -> Option<Time> {
        self.clocks.first().map(|&(time, _)| time)
    }

    /// Starts the clock of a packet, if packets have clocks.
    pub fn start_clock(&mut self, flight: u32, now: Time) {
        if self.after == 0 {
            return;
        }
        let at = &mut self.all[flight];
        let longer = self.backoff.saturating_pow(at.again);
        at.due = now + self.after.saturating_mul(longer).min(NEVER / 4) as Time;
        self.clocks.insert((at.due, flight));
    }
}

impl Programs {
    /// Whether packets are sent again.
    #[inline]
    pub(super) fn resends(&self) -> bool {
        self.flights.as_ref().is_some_and(|flights| flights.after > 0)
    }

    /// Returns the first packet that a port sends again, if any.
    pub(super) fn next_again(&mut self, port: u32) -> Option<Packet> {
        let flights = self.flights.as_mut()?;
        while let Some(flight) = flights.waiting[port as usize].pop_front() {
            let Flight { over, target, bytes, created, .. } = flights.all[flight];
            if over {
                // Its acknowledgement has arrived meanwhile.
                flights.gone(flight);
                continue;
            }
            flights.start_clock(flight, self.now);
            self.account.resent += 1;
            let (dispatch, mark) = (self.now, mark::of(flight, mark::DATA));
            return Some(Packet {
                created,
                dispatch,
                target,
                length: bytes,
                via: super::NO,
                mark,
                number: 0,
            });
        }
        None
    }

    /// Handles the clocks that expire in this tick; returns their number.
    pub(super) fn clocks(&mut self) -> u64 {
        let mut count = 0;
        while let Some(flights) = &mut self.flights
            && flights.next().is_some_and(|time| time <= self.now)
            && let Some((_, flight)) = flights.clocks.pop_first()
        {
            count += 1;
            let at = &mut flights.all[flight];
            if at.again == flights.limit {
                self.give_up(flight);
                continue;
            }
            (at.again, at.copies) = (at.again + 1, at.copies + 1);
            let port = at.source;
            flights.waiting[port as usize].push_back(flight);
            let terminal = self.interfaces[port as usize].terminal;
            self.touch(terminal);
        }
        count
    }

    /// Gives up a packet after the last repetition: its sender continues as if it had been acknowledged. If no copy has
    /// arrived, its message is lost.
    fn give_up(&mut self, flight: u32) {
        let Some(flights) = &mut self.flights else { return };
        let at = &mut flights.all[flight];
        (at.over, at.given_up) = (true, true);
        let Flight { message, channel, come, .. } = *at;
        flights.forget(flight);
        self.account.given_up += u64::from(!std::mem::replace(&mut self.messages[message].given_up, true));
        if !come && !self.messages[message].lost {
            self.lose(message);
            self.stop_receiving(message);
        }
        self.acknowledged(message, channel);
    }

    /// Whether a lost message can be forgotten: nothing of it is on a bus, and its sender has finished with it.
    pub(super) fn is_forgotten(&self, message: u32) -> bool {
        let has_ended = |one: &Message| one.lost && one.sent && u64::from(one.come) == one.arrived;
        self.resends() && has_ended(&self.messages[message])
    }

    /// Handles a packet of a lost message that has arrived and left the bus.
    pub(super) fn arrived_late(&mut self, message: u32, flight: u32) {
        self.messages[message].arrived += 1;
        self.acknowledge(flight);
        if self.is_forgotten(message) {
            self.messages.remove(message);
        }
    }

    /// Sends a request: with a new number, or the same again.
    pub(super) fn ask(&mut self, terminal: u32) {
        let host = &mut self.hosts[terminal as usize];
        if host.again == 0 {
            (host.turn, host.open) = ((host.turn + 1) % TURNS, true);
        }
    }

    /// Waits for an answer until a time-out.
    pub(super) fn wait_for_answer(&mut self, terminal: u32, ticks: Time) {
        let until = self.now + ticks;
        self.hosts[terminal as usize].answer_by = Some(until);
        self.deadlines.insert((until, terminal));
    }

    /// Ends the wait, because the program has received an answer or another message.
    pub(super) fn have_answer(&mut self, terminal: u32) {
        let host = &mut self.hosts[terminal as usize];
        host.again = 0;
        if let Some(until) = host.answer_by.take() {
            self.deadlines.remove(&(until, terminal));
        }
    }

    /// Handles the answers that are overdue at this tick, by repeating or giving up the request; returns their number.
    pub(super) fn without_answer(&mut self) -> u64 {
        let mut count = 0;
        while let Some(&(time, terminal)) = self.deadlines.first()
            && time <= self.now
        {
            self.deadlines.pop_first();
            count += 1;
            let host = &mut self.hosts[terminal as usize];
            host.answer_by = None;
            let Some(posted) = host.posted.pop() else {
                // It has arrived in this tick.
                continue;
            };
            let process = &mut self.processes[posted.process as usize];
            if host.again < self.operations[process.at as usize].bytes {
                (host.again, process.at) = (host.again + 1, process.at - 1);
                self.account.resent += 1;
            } else {
                (host.again, host.open, process.at) = (0, false, process.at + 1);
                self.account.given_up += 1;
            }
            self.wake(posted.process);
        }
        count
    }
}
