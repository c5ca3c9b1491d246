//! Time-codes and interrupts.

use fabriloom_engine::fabric::{CODE_NUMBERS, TIME};

use crate::TakenCode;
use crate::event::What;
use crate::parts::Code;
use crate::twin::Twin;

impl Twin<'_> {
    /// Enters the first code of every source.
    pub(crate) fn plan_codes(&mut self) {
        for source in 0..self.fabric.code_port.len() {
            for number in 0..self.fabric.code_count[source] {
                let at =
                    self.fabric.code_first_ticks[source] + number * self.fabric.code_period_ticks[source];
                self.agenda.add(at as i64, What::MakeCode { source: source as u32 });
            }
        }
    }

    /// Creates a code of a source; it is immediately ready for the wire of its port.
    pub(crate) fn make_code(&mut self, source: u32) {
        let port = self.fabric.code_port[source as usize];
        let vertex = self.fabric.switches + port;
        let wanted = self.fabric.code_number[source as usize];
        let is_interrupt = wanted != TIME;
        let time = &mut self.registers[vertex as usize].time;
        if !is_interrupt {
            *time = (*time + 1) % CODE_NUMBERS;
        }
        let number = if is_interrupt { wanted } else { *time };
        if is_interrupt && !self.takes_interrupt(vertex, number) {
            return;
        }
        let code = Code { is_interrupt, number, source, made: self.now };
        let link = self.fabric.terminal_out_link[port as usize];
        self.agenda.add(self.now, What::CodeReady { link, code });
    }

    /// Whether a vertex does not hold an interrupt; if so, it holds it from now on.
    fn takes_interrupt(&mut self, vertex: u32, number: u8) -> bool {
        let until = self.now + self.fabric.interrupt_hold_ticks as i64;
        let held = &mut self.registers[vertex as usize].held;
        if held.get(&number).is_some_and(|&until| self.now < until) {
            return false;
        }
        held.insert(number, until);
        true
    }

    /// Whether a vertex accepts a time-code.
    fn takes_time(&mut self, link: u32, vertex: u32, number: u8) -> bool {
        let last = std::mem::replace(&mut self.registers[vertex as usize].time, number);
        let counts = &mut self.links[link as usize].code_counts;
        let (is_known, is_next) = (number == last, number == (last + 1) % CODE_NUMBERS);
        counts.duplicates += u64::from(is_known);
        counts.invalid += u64::from(!is_known && !is_next);
        is_next
    }

    /// Handles the arrival of a code on a link.
    pub(crate) fn code_arrives(&mut self, link: u32, code: Code) {
        self.links[link as usize].codes_on_wire -= 1;
        let vertex = self.fabric.link_target[link as usize];
        if code.is_interrupt {
            if !self.takes_interrupt(vertex, code.number) {
                self.links[link as usize].code_counts.duplicates += 1;
                return;
            }
        } else if !self.takes_time(link, vertex, code.number) {
            return;
        }
        if self.fabric.is_terminal(vertex) {
            let port = vertex - self.fabric.switches;
            self.codes.push(TakenCode { source: code.source, port, made: code.made, at: self.now });
            return;
        }
        let jitter = self.fabric.code_jitter_ticks;
        let early = if jitter > 0 { self.clocks[vertex as usize].below(jitter + 1) } else { 0 };
        let ready = self.now + i64::from(self.fabric.switch_code_ticks[vertex as usize]) - i64::from(early);
        for other in 0..self.fabric.links() as u32 {
            let leaves = self.fabric.link_source[other as usize] == vertex;
            let carries_codes = self.fabric.link_code_ticks[other as usize] > 0;
            if leaves && carries_codes && other != self.fabric.link_reverse[link as usize] {
                self.agenda.add(ready, What::CodeReady { link: other, code });
            }
        }
    }

    /// Makes a code wait for a wire; if the wire is down, the code is lost.
    pub(crate) fn code_ready(&mut self, link: u32, code: Code) {
        let state = &mut self.links[link as usize];
        if state.down {
            state.code_counts.lost += 1;
            return;
        }
        state.codes.push((self.now, code));
        self.agenda.add(self.now, What::Wire { link });
    }

    /// Starts a code on a wire: time-codes first, then the longest waiting, then the lowest number.
    pub(crate) fn start_code(&mut self, link: u32) {
        let row = link as usize;
        let amid = self.fabric.lanes_of(link).any(|lane| self.lanes[lane as usize].amid_packet);
        let occupied = i64::from(self.fabric.link_code_ticks[row]);
        let state = &mut self.links[row];
        state.codes.sort_by_key(|&(since, code)| (code.is_interrupt, since, code));
        let (_, code) = state.codes.remove(0);
        if amid {
            state.counts.stalled_ticks += (self.now - state.wire_free) as u64;
        }
        state.counts.busy_ticks += occupied as u64;
        state.code_counts.sent += 1;
        state.codes_on_wire += 1;
        state.wire_free = self.now + occupied;
        let faults = state.faults;
        let arrival = self.now + i64::from(self.fabric.link_code_arrival_ticks[row]);
        self.agenda.add(self.now + occupied, What::Wire { link });
        self.agenda.add(arrival, What::CodeArrives { link, faults, code });
    }
}
