//! Terminals that run programs: what these are told, and what goes over the host's bus.

use fabriloom_engine::terminal::Programs;

use super::parts::Sent;
use super::rings::Rings;

impl Rings<'_> {
    /// Programs go on with what this tick has brought; what has gone over a bus meanwhile is over, which may bring more.
    pub(crate) fn let_programs_go_on(&mut self) {
        for terminal in 0..self.terminals.len() {
            if self.has_room(terminal) {
                self.tell(|programs| programs.link_free(terminal as u32));
            }
        }
        loop {
            let Some(mut programs) = self.programs.take() else { return };
            programs.turn(self.now, &mut |terminal, packet| {
                self.dispatch(terminal as usize, *packet);
                self.has_room(terminal as usize)
            });
            let freed: Vec<u32> = programs.freed().collect();
            programs.next().into_iter().for_each(|tick| self.wake_at(tick));
            self.programs = Some(programs);
            if freed.is_empty() {
                return;
            }
            for terminal in freed {
                let sent = self.terminals[terminal as usize].at_bus.take().expect("it was served");
                self.finish_service(terminal as usize, sent);
                if self.has_room(terminal as usize) {
                    self.tell(|programs| programs.link_free(terminal));
                }
            }
        }
    }

    fn tell(&mut self, what: impl FnMut(&mut Programs)) {
        self.programs.iter_mut().for_each(what);
    }

    /// The number of a transaction is free again.
    pub(crate) fn tell_over(&mut self, transaction: usize) {
        let transaction = &self.transactions[transaction];
        let (requester, mark) = (transaction.requester, transaction.packet.mark);
        self.tell(|programs| programs.completed(requester, mark));
    }

    /// The data of a transaction have been stored.
    pub(crate) fn tell_delivered(&mut self, transaction: usize) {
        let transaction = &self.transactions[transaction];
        let (source, target, mark) =
            (transaction.requester, transaction.packet.target, transaction.packet.mark);
        self.tell(|programs| programs.delivered(source, target, mark));
    }

    /// Has what was served go over the host's bus, if it has one.
    pub(crate) fn waits_for_bus(&mut self, terminal: usize, sent: Sent) -> bool {
        let f = self.fabric;
        let has_bus = f.message_bus_packet_ticks > 0 || f.message_bus_byte_ticks > 0.0;
        if !has_bus || self.programs.is_none() {
            return false;
        }
        let packet = self.transactions[sent.transaction].packet;
        self.tell(|programs| programs.served(terminal as u32, packet.mark, packet.length));
        true
    }
}
