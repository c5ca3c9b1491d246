//! The port by which a message leaves its terminal: the rules of `docs/background/ports.md`.

use super::Programs;
use super::message::Message;
use crate::terminal::NoPlane;

/// A message that can leave, and the index of its port.
struct Leaving {
    message: u32,
    class: usize,
    place: usize,
}

impl Programs {
    /// Hands a message to a port: that of its terminal, or, with several, as soon as a port is chosen.
    #[inline(always)]
    pub(super) fn hand_over(&mut self, message: u32) {
        let Message { source, target, packets, .. } = self.messages[message];
        if !self.ways.are_several() {
            return self.leave_by(message, packets, source, target);
        }
        let class = self.ways.class(source, target);
        self.hosts[source as usize].leaving[class].push_back(message);
        self.leave(source);
    }

    /// Hands over the messages of each traffic class in order, whole or packet by packet, while ports are free for them.
    #[inline]
    pub(super) fn leave(&mut self, terminal: u32) {
        if self.ways.are_several() {
            self.leave_by_several(terminal);
        }
    }

    fn leave_by_several(&mut self, terminal: u32) {
        loop {
            match self.next_to_leave(terminal) {
                Ok(Some(next)) => self.leave_as(terminal, &next),
                Ok(None) => break,
                Err(no_plane) => {
                    self.no_plane.get_or_insert(no_plane);
                    return;
                }
            }
        }
        self.await_link(terminal);
    }

    /// Returns the message made first, among the first of each traffic class, that can leave.
    fn next_to_leave(&self, terminal: u32) -> Result<Option<Leaving>, NoPlane> {
        let host = &self.hosts[terminal as usize];
        let mut found: Option<Leaving> = None;
        for (class, queue) in host.leaving.iter().enumerate() {
            let Some(&message) = queue.front() else { continue };
            let Message { target, made, number, .. } = self.messages[message];
            let place = self.choose(terminal, target, class)?;
            let before = |other: &Leaving| {
                let other = &self.messages[other.message];
                (other.made, other.number) < (made, number)
            };
            match place {
                Some(place) if !found.as_ref().is_some_and(before) => {
                    found = Some(Leaving { message, class, place });
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// Returns the index of the port to a terminal for messages of a class, if there is one now.
    fn choose(&self, terminal: u32, target: u32, class: usize) -> Result<Option<usize>, NoPlane> {
        let per_packet = self.settings.per_packet;
        let ports = &self.interfaces[self.ways.first(terminal) as usize..];
        let queued = |place: usize| ports[place].unsent as usize;
        let is_free = |place: usize| if per_packet { ports[place].waits == 0 } else { queued(place) == 0 };
        let last = self.hosts[terminal as usize].chosen[class];
        self.ways.choose(terminal, target, last, self.now, queued, is_free)
    }

    /// Sends a message again, after its check, by another port if one is chosen now; returns whether it does.
    pub(super) fn leaves_by_another(&mut self, message: u32, channel: u32) -> bool {
        let Message { source, target, .. } = self.messages[message];
        let class = self.ways.class(source, target);
        let own = (self.channels[channel].source - self.ways.first(source)) as usize;
        let chosen = self.choose(source, target, class).ok().flatten();
        let Some(place) = chosen.filter(|&place| place != own) else { return false };
        self.take_off(message, channel);
        self.hosts[source as usize].leaving[class].push_front(message);
        self.leave_as(source, &Leaving { message, class, place });
        self.leave(source);
        true
    }

    /// Puts the next packet of a message, or all of its packets, on their channel.
    fn leave_as(&mut self, terminal: u32, next: &Leaving) {
        let &Leaving { message, class, place } = next;
        let Message { target, packets, placed, .. } = self.messages[message];
        let host = &mut self.hosts[terminal as usize];
        host.chosen[class] = place;
        if placed == 0 {
            self.messages[message].packets_before = host.placed;
            host.placed = host.placed.wrapping_add(packets);
        }
        let count = if self.settings.per_packet { 1 } else { packets };
        if placed + count == packets {
            host.leaving[class].pop_front();
        }
        let port = self.ways.first(terminal) + place as u32;
        let to = self.ways.other_end(port, target).expect("its port was chosen so");
        self.leave_by(message, count, port, to);
    }

    /// Plans another attempt of a terminal with waiting messages for when the known state of a link changes. Without
    /// such messages nothing is planned: a change that nobody awaits is nothing to do.
    fn await_link(&mut self, terminal: u32) {
        let host = &mut self.hosts[terminal as usize];
        let waits = host.leaving.iter().any(|queue| !queue.is_empty());
        let change = if waits { self.ways.next_change(terminal, self.now) } else { None };
        if change == host.learns {
            return;
        }
        if let Some(time) = std::mem::replace(&mut host.learns, change) {
            self.changes.remove(&(time, terminal));
        }
        self.changes.extend(change.map(|time| (time, terminal)));
    }

    /// Handles the changes of links of this tick; returns their number.
    pub(super) fn learn_links(&mut self) -> u64 {
        let mut count = 0;
        while let Some(&(time, terminal)) = self.changes.first()
            && time <= self.now
        {
            self.changes.pop_first();
            count += 1;
            self.hosts[terminal as usize].learns = None;
            self.leave(terminal);
        }
        count
    }
}
