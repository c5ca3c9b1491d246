//! Packets begin at a port, and are filled one after the other.

use super::host::Transfer;
use super::message::Message;
use super::process::Doing;
use super::{NO, Programs, allows, timer};
use crate::kernel::Time;

impl Programs {
    /// Begins packets while the windows and the processor allow it.
    #[inline(always)]
    pub(super) fn fill(&mut self, port: u32) {
        while self.interfaces[port as usize].may_fill() && self.fill_next(port) {}
    }

    /// Begins a packet; returns false if it has to wait for its gap, or for a place among those of the port.
    #[inline(never)]
    fn fill_next(&mut self, port: u32) -> bool {
        if !self.settings.unhindered && !self.may_begin(port) {
            return false;
        }
        let interface = &mut self.interfaces[port as usize];
        let number = interface.able.pop(&mut self.channels);
        interface.on_way += 1;
        let (message, which) = self.begin_packet(number);
        let packet = self.number(message, number, which);
        let interface = &mut self.interfaces[port as usize];
        if self.settings.unhindered {
            interface.make_ready(packet);
            return true;
        }
        let waited = interface.kept_back.take().map_or(0, |since| self.now - since);
        let Message { bytes: whole, read, .. } = self.messages[message];
        let gap = self.settings.send_gap(whole);
        if gap > 0 {
            self.interfaces[port as usize].pace.pass(self.now, gap as f64);
        }
        let moved = if read { 0 } else { self.settings.cut.bytes(whole, which) };
        let ticks = self.settings.fill_after(whole, moved, waited);
        self.start_filling(port, packet, moved, ticks);
        true
    }

    /// Whether a port may begin a packet: not before its gap is over, or without a place.
    fn may_begin(&mut self, port: u32) -> bool {
        let interface = &mut self.interfaces[port as usize];
        if interface.pace.is_used(self.now) {
            self.await_gap(port);
            return false;
        }
        let may = allows(self.settings.packets_at_once, interface.on_way);
        if !may {
            interface.kept_back.get_or_insert(self.now);
        }
        may
    }

    /// Schedules a port for when it may begin a packet again.
    fn await_gap(&mut self, port: u32) {
        let interface = &mut self.interfaces[port as usize];
        let ticks = interface.pace.opens(0.0, 0.0) - self.now;
        if !std::mem::replace(&mut interface.gap_timed, true) {
            self.schedule_port(port, timer::GAP, ticks);
        }
    }

    /// Continues a port that may begin a packet again.
    pub(super) fn gap_over(&mut self, port: u32) {
        let interface = &mut self.interfaces[port as usize];
        interface.gap_timed = false;
        let terminal = interface.terminal;
        self.touch(terminal);
    }

    /// Starts to fill a packet, or fills it if that takes no time.
    fn start_filling(&mut self, port: u32, number: u32, bytes: u32, ticks: Time) {
        let interface = &mut self.interfaces[port as usize];
        interface.filling = number;
        let terminal = interface.terminal;
        if self.settings.programmed {
            self.use_bus(terminal, Transfer::Store { number }, ticks);
        } else if ticks > 0 {
            interface.filling_bytes = bytes;
            self.schedule_port(port, timer::FILL, ticks);
        } else {
            interface.filling = NO;
            self.use_bus(terminal, Transfer::Out { number }, self.settings.bus.of(bytes));
        }
    }

    /// Handles a packet that the program's own processor has filled over the bus; the program continues after the last
    /// one.
    pub(super) fn stored(&mut self, terminal: u32, number: u32) {
        let interface = self.interface(self.channel_of(number));
        interface.filling = NO;
        interface.make_ready(number);
        let message = self.message_of(number);
        let one = &mut self.messages[message];
        one.stored += 1;
        if one.stored == one.packets && self.settings.check == 0 {
            self.wake_those(terminal, |doing| doing == Doing::Storing { message });
        }
        self.touch(terminal);
    }

    /// Handles a packet that has been filled.
    pub(super) fn fill_over(&mut self, port: u32) {
        let interface = &mut self.interfaces[port as usize];
        let number = std::mem::replace(&mut interface.filling, NO);
        let (terminal, bytes) = (interface.terminal, interface.filling_bytes);
        self.use_bus(terminal, Transfer::Out { number }, self.settings.bus.of(bytes));
        self.touch(terminal);
    }
}
