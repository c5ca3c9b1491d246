//! Failures of links and new tables as a network sees them that is computed in advance: each change is known from the
//! beginning.
//!
//! A failure is a limit of what is computed ahead around its link, so that a cut revokes little or nothing: see
//! `switched::cuts` and `cut_through::outages`. What is not computed there ends the computation in advance: the run begins
//! again character by character (see `Simulation::advance`). Wrong bits, links that stop for good, and failures of links
//! that carry codes always do. What a network keeps of a link that is down is `W`.

use std::cmp::Reverse;

use crate::fabric::{Fabric, NEVER, fault_kind};
use crate::kernel::Time;

/// What happens to links at a tick, in the order within a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// This link runs again.
    Up(u32),
    /// It fails; packets of which a part has arrived end at a tick; whether for good.
    Down(u32, Time, bool),
    /// It starts no character before this tick.
    Stop(u32, Time),
    /// Tables are replaced.
    Table,
    /// Something happens that is not computed in advance.
    Other,
}

/// A link that is down.
#[derive(Clone, Debug)]
pub struct Down<W> {
    /// Its number.
    pub link: u32,
    /// Whether it never runs again.
    pub for_good: bool,
    /// What it was before.
    pub was: W,
}

/// The changes to come, and the links that are down.
#[derive(Clone, Debug)]
pub struct Outages<W> {
    /// In descending order: the last one is the next.
    changes: Vec<(Time, Change)>,
    down: Vec<Down<W>>,
    /// Whether tables are replaced.
    has_tables: bool,
    /// Whether something has happened that is not computed in advance.
    beyond: bool,
}

impl<W> Default for Outages<W> {
    fn default() -> Self {
        Self { changes: Vec::new(), down: Vec::new(), has_tables: false, beyond: false }
    }
}

impl<W> Outages<W> {
    /// Returns the outages of a network without codes, or with them.
    pub fn new(fabric: &Fabric, codes: bool) -> Self {
        let mut changes = Vec::new();
        for (row, &link) in fabric.fault_link.iter().enumerate() {
            let (down, up) = (fabric.fault_down_ticks[row] as Time, fabric.fault_up_ticks[row]);
            match fabric.fault_kind[row] {
                fault_kind::LINK if !codes => {
                    let ended = fabric.fault_ended_ticks[row] as Time;
                    changes.push((down, Change::Down(link, ended, up == NEVER)));
                    changes.extend((up < NEVER).then_some((up as Time, Change::Up(link))));
                }
                fault_kind::STUCK if up < NEVER => changes.push((down, Change::Stop(link, up as Time))),
                _ => changes.push((down, Change::Other)),
            }
        }
        changes.extend(fabric.table_ticks.iter().map(|&tick| (tick as Time, Change::Table)));
        changes.sort_unstable_by_key(|&change| Reverse(change));
        Self { changes, has_tables: fabric.has_tables(), ..Self::default() }
    }

    /// Takes the links that stop for a time out of the changes, with the ticks from and until when, in order.
    pub fn take_stops(&mut self) -> Vec<(u32, Time, Time)> {
        let mut stops = Vec::new();
        self.changes.retain(|&(from, change)| {
            if let Change::Stop(link, until) = change {
                stops.push((link, from, until));
            }
            !matches!(change, Change::Stop(..))
        });
        stops.reverse();
        stops
    }

    /// Returns when which links fail, the last first.
    pub fn failures(&self) -> impl Iterator<Item = (Time, u32)> {
        self.changes.iter().filter_map(|&(time, change)| match change {
            Change::Down(link, ..) => Some((time, link)),
            _ => None,
        })
    }

    /// Returns the tick of the next change, or [`Time::MAX`].
    #[inline]
    pub fn next(&self) -> Time {
        self.changes.last().map_or(Time::MAX, |change| change.0)
    }

    /// Takes a change of this tick.
    pub fn take(&mut self, now: Time) -> Option<Change> {
        self.changes.pop_if(|change| change.0 == now).map(|(_, change)| change)
    }

    /// Whether anything is down, or will change.
    pub fn is_any(&self) -> bool {
        !self.changes.is_empty() || !self.down.is_empty() || self.beyond
    }

    /// Ends the computation in advance.
    pub fn give_up(&mut self) {
        self.beyond = true;
    }

    /// Whether it has ended.
    pub fn is_over(&self) -> bool {
        self.beyond
    }

    /// Whether links are down, or tables are replaced.
    pub fn is_changed(&self) -> bool {
        !self.down.is_empty() || self.has_tables
    }

    /// Adds a link that is down.
    pub fn add(&mut self, down: Down<W>) {
        self.down.push(down);
    }

    /// Removes a link that runs again.
    pub fn remove(&mut self, link: u32) -> Option<W> {
        let place = self.down.iter().position(|down| down.link == link)?;
        Some(self.down.swap_remove(place).was)
    }

    /// Returns the links that are down.
    pub fn down(&self) -> &[Down<W>] {
        &self.down
    }

    /// Whether a link is down.
    pub fn is_down(&self, link: u32) -> bool {
        self.down.iter().any(|down| down.link == link)
    }

    /// Whether a link never runs again.
    pub fn is_down_for_good(&self, link: u32) -> bool {
        self.down.iter().any(|down| down.link == link && down.for_good)
    }
}
