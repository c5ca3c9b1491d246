//! Switches: packets from the receive queues of one port to the transmit queues of another.

use fabriloom_engine::kernel::Time;

use super::parts::{KINDS, Kind, Received, Transfer};
use super::rings::Rings;

impl Rings<'_> {
    /// Ends transfers: the receive place is free, and the packet waits to be sent.
    pub(crate) fn end_transfers(&mut self, switch: usize) {
        let now = self.now;
        let over = |transfer: &Transfer| transfer.end == now;
        while let Some(at) = self.switches[switch].transfers.iter().position(over) {
            let Transfer { from, to, sent, .. } = self.switches[switch].transfers.remove(at);
            let (source, target) = (self.switches[switch].ports[from], self.switches[switch].ports[to]);
            let left = self.stations[source].received[sent.kind as usize].pop_front();
            assert!(left.is_some_and(|left| left.sent == sent), "a bus moved something else");
            self.enter(target, sent, self.now);
        }
    }

    /// Serves the ports in turn while a bus is free and a port has a packet.
    pub(crate) fn start_transfers(&mut self, switch: usize) {
        // Separate buses for the kinds rotate separately, and the responses' bus is first.
        let separate = self.fabric.ring_separate_buses != 0;
        let lanes: &[&[Kind]] = if separate { &[&[Kind::Response], &[Kind::Request]] } else { &[&KINDS] };
        while lanes.iter().any(|kinds| self.start_one(switch, kinds)) {}
    }

    /// Starts a transfer of one of these kinds from the first port in turn that has one.
    fn start_one(&mut self, switch: usize, kinds: &[Kind]) -> bool {
        let ports = self.switches[switch].ports.len();
        let lane = kinds[0] as usize;
        let first = self.switches[switch].first[lane];
        let mut turn = (first..first + ports).map(|port| port % ports);
        let found = turn.find_map(|port| self.offer(switch, port, kinds).map(|offer| (port, offer)));
        let Some((port, (received, to))) = found else { return false };
        self.start_transfer(switch, port, to, &received);
        self.switches[switch].first[lane] = (port + 1) % ports;
        true
    }

    /// Returns the packet of these kinds that a port can transfer now, and its destination port.
    fn offer(&self, switch: usize, port: usize, kinds: &[Kind]) -> Option<(Received, usize)> {
        let state = &self.switches[switch];
        if state.transfers.iter().any(|transfer| transfer.from == port) {
            return None;
        }
        let station = state.ports[port];
        if self.begins_nothing(station) {
            return None;
        }
        let kinds = kinds.iter().filter(|&&kind| self.has_bus(switch, kind));
        let fronts = kinds.filter_map(|&kind| self.stations[station].received[kind as usize].front());
        let can_go = fronts.filter(|front| front.ready <= self.now).filter_map(|front| {
            let number = self.transactions[front.sent.transaction].number;
            let to = self.way(station, self.target(front.sent), number);
            let to = to.expect("it was taken off its ring for this");
            let is_free = !state.transfers.iter().any(|transfer| transfer.to == to);
            let has_place = self.has_transmit_place(state.ports[to], front.sent.kind);
            (is_free && has_place).then(|| (front.clone(), to))
        });
        can_go.min_by_key(|(front, _)| self.receive_turn(front))
    }

    /// Whether a bus is free for packets of a kind.
    fn has_bus(&self, switch: usize, kind: Kind) -> bool {
        let buses = self.fabric.bus_count[switch] as usize;
        let transfers = &self.switches[switch].transfers;
        if self.fabric.ring_separate_buses == 0 {
            return transfers.len() < buses;
        }
        transfers.iter().filter(|transfer| transfer.sent.kind == kind).count() < buses / 2
    }

    fn start_transfer(&mut self, switch: usize, from: usize, to: usize, received: &Received) {
        let f = self.fabric;
        let sent = received.sent;
        let bytes = self.packet_bytes(sent) + f.bus_encapsulation_bytes[switch];
        let cycles = Time::from(bytes.div_ceil(f.bus_width_bytes[switch]));
        let ticks = Time::from(f.bus_setup_ticks[switch]) + cycles * Time::from(f.bus_cycle_ticks[switch]);
        let target = self.switches[switch].ports[to];
        self.stations[target].places_out[sent.kind as usize] += 1;
        let end = self.now + ticks;
        let state = &mut self.switches[switch];
        state.transfers.push(Transfer { end, from, to, sent });
        state.counts.transfers += 1;
        state.counts.busy_ticks += ticks as u64;
        state.counts.wait_ticks += (self.now - received.ready) as u64;
        self.wake_at(end);
    }
}
