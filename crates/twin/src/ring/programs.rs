//! Terminals that run programs: their notifications, and the transfers over the host's bus.

use fabriloom_engine::kernel::Time;
use fabriloom_engine::terminal::Programs;
use fabriloom_engine::terminal::program::mark;

use super::parts::Received;
use super::rings::Rings;

impl Rings<'_> {
    /// Continues the programs with the news of this tick.
    pub(crate) fn let_programs_go_on(&mut self) {
        for terminal in 0..self.terminals.len() {
            if self.has_room(terminal) {
                self.tell(|programs| programs.link_free(terminal as u32));
            }
            self.ask_for_bus(terminal);
        }
        let Some(mut programs) = self.programs.take() else { return };
        programs.turn(self.now, &mut |terminal, packet| {
            self.dispatch(terminal as usize, *packet);
            self.has_room(terminal as usize)
        });
        for (terminal, unit) in programs.off_bus() {
            self.leave_bus(terminal as usize, unit as usize);
        }
        programs.next().into_iter().for_each(|tick| self.wake_at(tick));
        self.programs = Some(programs);
    }

    /// Handles a packet that has crossed the host's bus: it can be served after the earlier ones.
    fn leave_bus(&mut self, terminal: usize, unit: usize) {
        let station = self.station_of(terminal);
        for queue in &mut self.stations[station].received {
            if let Some(place) = queue.iter().position(|one| one.unit == unit) {
                let one = queue.remove(place).expect("it has come here");
                assert_eq!(one.ready, Time::MAX, "it was on the bus");
                queue.push_back(Received { ready: self.now, ..one });
            }
        }
    }

    /// Requests the host's bus, if there is one, for packets that are ready for the user: data of messages, in either
    /// direction. They are ready for service when they have crossed it.
    fn ask_for_bus(&mut self, terminal: usize) {
        if !self.fabric.has_host_bus() {
            return;
        }
        let station = self.station_of(terminal);
        for one in self.stations[station].received.iter_mut().flatten() {
            let packet = self.transactions[one.sent.transaction].packet;
            if one.ready <= self.now && !one.asked && mark::kind(packet.mark) != mark::ACK {
                (one.asked, one.ready) = (true, Time::MAX);
                let programs = self.programs.as_mut().expect("they drive the terminals");
                programs.ask_bus(terminal as u32, one.unit as u32, packet.length);
            }
        }
    }

    fn tell(&mut self, what: impl FnMut(&mut Programs)) {
        self.programs.iter_mut().for_each(what);
    }

    /// Reports the end of a transaction, in time or given up.
    pub(crate) fn tell_over(&mut self, transaction: usize, in_time: bool) {
        let transaction = &self.transactions[transaction];
        let (requester, mark) = (transaction.requester, transaction.packet.mark);
        self.tell(|programs| programs.completed(requester, mark, in_time));
    }

    /// Reports that the data of a transaction have been stored.
    pub(crate) fn tell_delivered(&mut self, transaction: usize) {
        let transaction = &self.transactions[transaction];
        let source = self.ways.terminal(transaction.requester);
        let target = self.ways.terminal(transaction.packet.target);
        let mark = transaction.packet.mark;
        self.tell(|programs| programs.delivered(source, target, mark));
    }

    /// Reports that the data of a transaction have been lost.
    pub(crate) fn tell_lost(&mut self, transaction: usize) {
        let mark = self.transactions[transaction].packet.mark;
        self.tell(|programs| programs.lost(mark));
    }
}
