//! Links that are down: lost packets, and when their senders forget them. Also stations that start no packets.
//!
//! The outages of links are known from the beginning. When a unit starts on a link, the engine therefore knows whether
//! it will be lost there, before it computes anything that follows from its arrival.

use super::links::Timing;
use super::parts::{Entry, Kind, Unit};
use super::phases::UNLABELLED;
use super::state::{NEVER, Rings};
use super::tick::GO_ON;
use crate::fabric::{self, Fabric, NONE, fault_kind};
use crate::kernel::Time;

/// Outages of links, and their losses.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    /// Per link: future outages, the next one last. Empty if there are no faults.
    outages: Vec<Vec<Outage>>,
    /// Per station: the number of packets that it has sent and will forget.
    losing: Vec<u32>,
    /// Per link: transactions lost there since the counts were last cleared.
    lost: Vec<u64>,
    /// Transactions that never arrive since the beginning, by their row in the columns `flow_*`.
    pub lost_of_flows: Vec<u64>,
    /// Per station: when it starts nothing, in order. Empty if none ever stops.
    stops: Vec<Vec<Outage>>,
    /// Per station: the end of a stop for which a check was scheduled last; -1 if none.
    goes_on: Vec<Time>,
}

/// An interval in which a link is down, or a station starts nothing.
#[derive(Clone, Copy, Debug)]
struct Outage {
    down: Time,
    up: Time,
}

impl Faults {
    pub fn new(f: &Fabric) -> Self {
        let lost_of_flows = vec![0; f.flow_target.len()];
        if !f.has_faults() {
            return Self { lost_of_flows, ..Self::default() };
        }
        let mut outages = vec![Vec::new(); f.links()];
        for (row, &link) in f.fault_link.iter().enumerate().rev() {
            if f.fault_kind[row] == fault_kind::LINK {
                let (down, up) = (f.fault_down_ticks[row] as Time, f.fault_up_ticks[row] as Time);
                outages[link as usize].push(Outage { down, up });
            }
        }
        let (losing, lost, stops) = (vec![0; f.links()], vec![0; f.links()], stops(f));
        Self { outages, losing, lost, lost_of_flows, goes_on: vec![-1; stops.len()], stops }
    }

    /// Returns until when a station begins no service and no transfer, if it is stopped now.
    #[inline]
    pub fn stopped(&self, station: u32, now: Time) -> Option<Time> {
        let stops = self.stops.get(station as usize)?;
        stops.iter().find(|stop| stop.down <= now && now < stop.up).map(|stop| stop.up)
    }

    /// Whether links fail in this run.
    #[inline]
    pub fn are_any(&self) -> bool {
        !self.outages.is_empty()
    }

    /// Whether a station will forget a packet that it has sent.
    #[inline]
    pub fn awaits(&self, station: u32) -> bool {
        self.losing.get(station as usize).is_some_and(|&count| count > 0)
    }

    /// Returns the number of transactions that a link lost.
    pub fn lost_on(&self, link: usize) -> u64 {
        self.lost.get(link).copied().unwrap_or(0)
    }

    /// Resets the counts.
    pub fn clear_counts(&mut self) {
        self.lost.fill(0);
    }

    /// Whether a link is down at any time in an interval. Calls must be in the order of starts.
    fn is_down(&mut self, link: u32, start: Time, until: Time) -> bool {
        let outages = &mut self.outages[link as usize];
        while outages.last().is_some_and(|outage| outage.up <= start) {
            outages.pop();
        }
        outages.last().is_some_and(|outage| outage.down <= until)
    }
}

/// Returns when each station starts nothing; empty if none ever stops.
fn stops(f: &Fabric) -> Vec<Vec<Outage>> {
    if !f.fault_kind.contains(&fault_kind::STUCK) {
        return Vec::new();
    }
    let mut found = vec![Vec::new(); f.links()];
    for (row, &link) in
        f.fault_link.iter().enumerate().filter(|&(row, _)| f.fault_kind[row] == fault_kind::STUCK)
    {
        let up = f.fault_up_ticks[row];
        let up = if up == fabric::NEVER { NEVER } else { up as Time };
        found[f.station_next[link as usize] as usize]
            .push(Outage { down: f.fault_down_ticks[row] as Time, up });
    }
    found
}

impl Rings {
    /// Whether a terminal begins no service now; schedules a check for when it continues.
    #[inline]
    pub(super) fn is_stuck(&mut self, station: u32) -> bool {
        let Some(until) = self.faults.stopped(station, self.now) else { return false };
        let goes_on = &mut self.faults.goes_on[station as usize];
        if until < NEVER && std::mem::replace(goes_on, until) != until {
            self.schedule(GO_ON, station, until);
        }
        true
    }

    /// Returns the transactions in flight at stations that never start anything again.
    pub fn stranded(&self) -> u64 {
        let for_good = |&station: &usize| self.faults.stopped(station as u32, self.now) == Some(NEVER);
        let mut count = 0;
        for station in (0..self.faults.stops.len()).filter(for_good) {
            for queue in &self.stations[station].held {
                let mut held = queue.head;
                while held != NONE {
                    let Entry { transaction, next, .. } = self.entries[held];
                    count += u64::from(!self.transactions[transaction].delivered);
                    held = next;
                }
            }
        }
        count
    }

    /// Handles a unit that starts on a link in a network with faults; returns whether it is lost there. Its sender will
    /// then forget the packet.
    #[inline(never)]
    pub(super) fn loses(&mut self, link: u32, unit: u32, timing: Timing) -> bool {
        let Unit { symbols, station, .. } = self.units[unit];
        let behind_head = Time::from(symbols - 1) * Time::from(timing.symbol);
        let tail = self.now + behind_head + Time::from(self.fabric.link_arrival_ticks[link as usize]);
        if !self.faults.is_down(link, self.now, tail) {
            return false;
        }
        self.faults.losing[station as usize] += 1;
        self.units[unit].dest = link;
        self.schedule_forgetting(unit, self.now + self.fabric.ring_echo_timeout_ticks as Time);
        true
    }

    /// Forgets, at its sender, a packet that was lost, or whose echo was.
    pub(super) fn forget_lost(&mut self, unit: u32) {
        let Unit { kind, entry, station, dest: link, response, again, ends_transaction, .. } =
            self.units[unit];
        self.units.remove(unit);
        self.faults.losing[station as usize] -= 1;
        if kind != Kind::Ready {
            self.lose_packet(station, entry, link);
            return;
        }
        let in_order = self.fabric.ring_in_order != 0;
        if again || ends_transaction || in_order || self.fabric.ring_hold_until_echo != 0 {
            self.entry_over(station, entry);
        } else {
            // The sender keeps no row for it: the only one moved on to the receiver with the packet.
            self.stations[station as usize].may_send[usize::from(response)] += 1;
            self.reconsider(station);
        }
    }

    /// Gives up a packet that was not accepted.
    fn lose_packet(&mut self, station: u32, entry: u32, link: u32) {
        let Entry { transaction, is, .. } = self.entries[entry];
        if is.label() != UNLABELLED {
            let by = self.sent[entry as usize].by;
            self.reserved[by as usize][usize::from(is.response())].owe_no_longer(is.label());
        }
        if !self.transactions[transaction].delivered {
            self.faults.lost[link as usize] += 1;
            self.lost += 1;
        }
        self.give_up(station, entry);
    }
}
