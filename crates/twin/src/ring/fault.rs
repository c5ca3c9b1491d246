//! Links that are down: losses, and when senders forget lost packets.

use fabriloom_engine::fabric::fault_kind;
use fabriloom_engine::kernel::Time;

use super::parts::{Kind, Label, Loss, Phase, Verdict, What};
use super::rings::Rings;

impl Rings<'_> {
    /// Schedules a check of everything when stopped stations continue.
    pub(crate) fn wake_stopped(&mut self) {
        let f = self.fabric;
        for row in (0..f.fault_link.len()).filter(|&row| f.fault_kind[row] == fault_kind::STUCK) {
            self.wake_at(f.fault_up_ticks[row] as Time);
        }
    }

    /// Whether a station begins no service and no transfer.
    pub(crate) fn begins_nothing(&self, station: usize) -> bool {
        let f = self.fabric;
        (0..f.fault_link.len()).any(|row| {
            let (down, up) = (f.fault_down_ticks[row] as Time, f.fault_up_ticks[row] as Time);
            let here = f.station_next[f.fault_link[row] as usize] as usize == station;
            f.fault_kind[row] == fault_kind::STUCK && here && down <= self.now && self.now < up
        })
    }

    /// Handles a unit that starts on a link; returns whether it is lost there. Its sender will then forget the packet.
    pub(crate) fn lose(&mut self, link: usize, unit: usize) -> bool {
        let behind_head = Time::from(self.units[unit].symbols - 1) * self.symbol_ticks(link);
        let tail = self.now + behind_head + Time::from(self.fabric.link_arrival_ticks[link]);
        let f = self.fabric;
        let is_lost = (0..f.fault_link.len()).any(|row| {
            let (down, up) = (f.fault_down_ticks[row] as Time, f.fault_up_ticks[row] as Time);
            f.fault_kind[row] == fault_kind::LINK
                && f.fault_link[row] as usize == link
                && down <= tail
                && self.now < up
        });
        if is_lost {
            let forgotten = self.now + f.ring_echo_timeout_ticks as Time;
            self.losses.push(Loss { forgotten, unit, link });
            self.wake_at(forgotten);
        }
        is_lost
    }

    /// Forgets packets that have been lost for long enough.
    pub(crate) fn forget_lost(&mut self) {
        let (due, later) = self.losses.iter().partition(|loss| loss.forgotten <= self.now);
        self.losses = later;
        let due: Vec<Loss> = due;
        due.iter().for_each(|loss| self.forget_one(loss));
    }

    fn forget_one(&mut self, loss: &Loss) {
        let unit = self.units[loss.unit];
        let label = match unit.what {
            What::Echo { verdict: Verdict::Ready } => return self.forget(unit.station, unit.entry),
            What::Echo { verdict: Verdict::Busy(label) } => label,
            What::Send { phase: Phase::Retry(label), .. } => Some(label),
            What::Send { .. } => None,
        };
        let taker = self.taker(unit.station, unit.sent);
        if let (Some(label), Some(taker)) = (label, taker) {
            self.owe_no_longer(taker, unit.sent.kind, label);
        }
        if self.has_echoes() {
            self.forget(unit.station, unit.entry);
        }
        let transaction = &mut self.transactions[unit.sent.transaction];
        if !transaction.is_over() {
            transaction.lost = true;
            self.stations[loss.link].counts.lost += 1;
            self.tell_lost(unit.sent.transaction);
        }
    }

    /// Releases the reservation of a packet that will not return.
    fn owe_no_longer(&mut self, taker: usize, kind: Kind, label: Label) {
        let owed = &mut self.stations[taker].owed[kind as usize];
        owed.take(label);
        if owed.count == [0, 0] {
            owed.serving = Label::A;
        }
    }
}
