//! Links that are down: lost packets, and when their senders forget them. And stations that start no packet.
//!
//! When links are down is known from the beginning. So when a unit starts on a link, it is known whether it will be lost
//! there, before anything has been computed that would follow from its arrival.

use super::links::Timing;
use super::parts::{Entry, Kind, Unit};
use super::phases::UNLABELLED;
use super::state::{NEVER, Rings};
use super::tick::GO_ON;
use crate::fabric::{self, Fabric, NONE};
use crate::kernel::Time;

/// When links are down, and what was lost there.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    /// Per link: the outages that are not over, the next one last. No links if there are no faults.
    outages: Vec<Vec<Outage>>,
    /// Per station: what it has sent and will forget.
    losing: Vec<u32>,
    /// Per link: transactions lost there since the counts were last cleared.
    lost: Vec<u64>,
    /// Per station: when it begins nothing, in order. No stations if none ever stops.
    stops: Vec<Vec<Outage>>,
    /// Per station: when it was last to go on.
    goes_on: Vec<Time>,
}

/// A link is down, or a station begins nothing.
#[derive(Clone, Copy, Debug)]
struct Outage {
    down: Time,
    up: Time,
}

impl Faults {
    pub fn new(f: &Fabric) -> Self {
        if !f.has_faults() {
            return Self::default();
        }
        let mut outages = vec![Vec::new(); f.links()];
        for (row, &link) in f.fault_link.iter().enumerate().rev() {
            if f.fault_stuck[row] == 0 {
                let (down, up) = (f.fault_down_ticks[row] as Time, f.fault_up_ticks[row] as Time);
                outages[link as usize].push(Outage { down, up });
            }
        }
        let (losing, lost, stops) = (vec![0; f.links()], vec![0; f.links()], stops(f));
        Self { outages, losing, lost, goes_on: vec![-1; stops.len()], stops }
    }

    /// Until when a station begins no service and no transfer, if it does not now.
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

    /// Whether a station will forget something that it has sent.
    #[inline]
    pub fn awaits(&self, station: u32) -> bool {
        self.losing.get(station as usize).is_some_and(|&count| count > 0)
    }

    /// Transactions that a link lost.
    pub fn lost_on(&self, link: usize) -> u64 {
        self.lost.get(link).copied().unwrap_or(0)
    }

    /// Starts counting anew.
    pub fn clear_counts(&mut self) {
        self.lost.fill(0);
    }

    /// Whether a link is down at any time from a start on it to another moment. Later starts are asked for later.
    fn is_down(&mut self, link: u32, start: Time, until: Time) -> bool {
        let outages = &mut self.outages[link as usize];
        while outages.last().is_some_and(|outage| outage.up <= start) {
            outages.pop();
        }
        outages.last().is_some_and(|outage| outage.down <= until)
    }
}

/// Per station: when it begins nothing; no stations if none ever stops.
fn stops(f: &Fabric) -> Vec<Vec<Outage>> {
    if !f.fault_stuck.contains(&1) {
        return Vec::new();
    }
    let mut found = vec![Vec::new(); f.links()];
    for (row, &link) in f.fault_link.iter().enumerate().filter(|&(row, _)| f.fault_stuck[row] == 1) {
        let up = f.fault_up_ticks[row];
        let up = if up == fabric::NEVER { NEVER } else { up as Time };
        found[f.station_next[link as usize] as usize]
            .push(Outage { down: f.fault_down_ticks[row] as Time, up });
    }
    found
}

impl Rings {
    /// Whether a terminal begins no service now; then it is looked at when it goes on.
    #[inline]
    pub(super) fn is_stuck(&mut self, station: u32) -> bool {
        let Some(until) = self.faults.stopped(station, self.now) else { return false };
        let goes_on = &mut self.faults.goes_on[station as usize];
        if until < NEVER && std::mem::replace(goes_on, until) != until {
            self.schedule(GO_ON, station, until);
        }
        true
    }

    /// Transactions in flight that stand at stations which begin nothing any more.
    pub fn stranded(&self) -> u64 {
        let for_good = |&station: &usize| self.faults.stopped(station as u32, self.now) == Some(NEVER);
        let mut count = 0;
        for station in (0..self.faults.stops.len()).filter(for_good) {
            for queue in &self.stations[station].held {
                let mut held = queue.head;
                while held != NONE {
                    let Entry { deal, next, .. } = self.entries[held];
                    count += u64::from(!self.deals[deal].delivered);
                    held = next;
                }
            }
        }
        count
    }

    /// A unit starts on a link in a network in which links fail; whether it is lost there. Then its sender will forget
    /// the packet.
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

    /// A sender forgets a packet that was lost, or whose echo was.
    pub(super) fn forget_lost(&mut self, unit: u32) {
        let Unit { kind, entry, station, dest: link, response, again, ends_deal, .. } = self.units[unit];
        self.units.remove(unit);
        self.faults.losing[station as usize] -= 1;
        if kind != Kind::Ready {
            self.lose_packet(entry, link);
            return;
        }
        let in_order = self.fabric.ring_in_order != 0;
        if again || ends_deal || in_order || self.fabric.ring_hold_until_echo != 0 {
            self.entry_over(entry);
        } else {
            // Its row went on with it.
            self.stations[station as usize].may_send[usize::from(response)] += 1;
            self.reconsider(station);
        }
    }

    /// A packet that was not accepted is given up.
    fn lose_packet(&mut self, entry: u32, link: u32) {
        let Entry { deal, label, by, response, .. } = self.entries[entry];
        if label != UNLABELLED {
            self.reserved[by as usize][usize::from(response)].owe_no_longer(label);
        }
        if !self.deals[deal].delivered {
            self.faults.lost[link as usize] += 1;
            self.lost += 1;
        }
        self.give_up(entry);
    }
}
