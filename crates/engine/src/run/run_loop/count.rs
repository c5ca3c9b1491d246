//! What sources have created, and the packets of each of their flows.

use super::Run;
use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::measure::Carried;
use crate::terminal::{Packet, Totals};

impl Run {
    /// Returns the packets created and refused since measuring began, and their payload bytes.
    pub(in crate::run) fn measured(&self, fabric: &Fabric) -> Totals {
        // Measuring begins slightly ahead of the clock if nothing happens in between.
        let (now, then) = (self.totals(fabric, self.now.max(self.measure.start)), &self.watch.offered);
        Totals {
            offered: now.offered - then.offered,
            offered_bytes: now.offered_bytes - then.offered_bytes,
            refused: now.refused - then.refused,
            refused_bytes: now.refused_bytes - then.refused_bytes,
            waiting: now.waiting,
        }
    }

    pub(in crate::run) fn totals(&self, fabric: &Fabric, now: Time) -> Totals {
        let mut totals = match &self.ports {
            Some(ports) => ports.totals(&self.sources, fabric, now),
            None if self.programs.is_some() => Totals::default(),
            // A copy, because counting arrivals up to now draws from the sources.
            None => self.sources.clone().totals(fabric, now, &self.handed_out()),
        };
        let (offered, offered_bytes) = self.programs.as_ref().map_or((0, 0), |programs| programs.handed());
        totals.offered += offered;
        totals.offered_bytes += offered_bytes;
        totals
    }

    /// Returns the packets that sources have handed out and the network has not taken.
    fn handed_out(&self) -> Vec<Packet> {
        self.pending.iter().copied().flatten().collect()
    }

    /// Returns the packets of each flow of sources, created, delivered and refused.
    pub(in crate::run) fn carried(&self, fabric: &Fabric) -> Vec<Carried> {
        if fabric.flow_target.is_empty() {
            return Vec::new();
        }
        let mut found = match &self.ports {
            Some(ports) => ports.carried(&self.sources, fabric, self.now),
            None => self.sources.clone().carried(fabric, self.now, &self.handed_out()),
        };
        self.taken.add_to(&mut found);
        found
    }
}
