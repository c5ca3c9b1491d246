//! Programs instead of sources: when they continue, and what the network reports to them.

use super::{Network, Run};
use crate::kernel::Time;
use crate::measure::Delivery;
use crate::ring::Asking;
use crate::run::RunError;
use crate::terminal::program::mark;

impl Run {
    /// Returns the next tick with an event of programs, or of the sources beside them; `Time::MAX`: there is none.
    #[inline]
    pub(super) fn next_of_programs(&self) -> Time {
        let next = self.programs.as_ref().and_then(|programs| programs.next()).unwrap_or(Time::MAX);
        self.beside.as_ref().and_then(|beside| beside.next()).map_or(next, |time| time.min(next))
    }

    /// Runs the programs of a tick instead of sources, and of later ones up to `last`, about this many events, while the
    /// network has no part. A separate function, so that the loop stays small without them.
    #[inline(never)]
    pub(super) fn let_programs_go_on<N: Network>(
        &mut self,
        network: &mut N,
        last: Time,
        events: u64,
    ) -> Result<(), RunError> {
        let stop = self.events.saturating_add(events);
        if self.beside.is_some() {
            self.divide_requests(network)?;
        }
        self.tell_programs();
        let Some(programs) = &mut self.programs else { return Ok(()) };
        let (beside, ports) = (&mut self.beside, &mut self.ports);
        loop {
            let (handed, _) = programs.handed();
            self.events += programs.turn(self.now, &mut |port, packet| {
                let more = network.send(port, packet);
                Self::yields(beside, ports, port, more);
                more
            });
            if !programs.has_left_alone(handed) {
                break;
            }
            match programs.next() {
                Some(next) if next <= last && self.events < stop => self.now = next,
                _ => break,
            }
            network.go_to(self.now);
        }
        for (port, held) in programs.off_bus() {
            network.off_bus(port, held);
        }
        match (programs.astray(), programs.no_plane()) {
            (Some((terminal, operation)), _) => Err(RunError::NoPeer { terminal, operation }),
            (_, Some(no_plane)) => Err(no_plane.into()),
            _ if self.beside.is_some() => self.send_beside(network),
            _ => Ok(()),
        }
    }

    /// Reports the links that request packets to programs that have none for them; this needs no turn.
    #[inline]
    pub(super) fn open_links(&mut self) {
        if let Some(programs) = &mut self.programs
            && self.beside.is_none()
            && !self.news.asking.iter().any(|&port| programs.is_news(port))
        {
            self.news.asking.iter().for_each(|&port| programs.link_free(port));
            self.news.asking.clear();
        }
    }

    /// Reports the network's results to the programs.
    #[inline(always)]
    fn tell_programs(&mut self) {
        let Some(programs) = &mut self.programs else { return };
        for &Delivery { source, target, mark, .. } in &self.news.deliveries {
            if mark::kind(mark) != mark::SOURCE {
                programs.delivered(source, target, mark);
            }
        }
        self.news.deliveries.clear();
        for &terminal in &self.news.asking {
            programs.link_free(terminal);
        }
        self.news.asking.clear();
        if !self.news.is_for_programs() {
            return;
        }
        for (target, mark) in self.news.heads.drain(..) {
            programs.head_came(target, mark);
        }
        for (source, mark, in_time) in self.news.over.drain(..) {
            programs.completed(source, mark, in_time);
        }
        for mark in self.news.lost.drain(..) {
            programs.lost(mark);
        }
        for Asking { port, held, bytes } in self.news.at_bus.drain(..) {
            programs.ask_bus(port, held, bytes);
        }
    }
}
