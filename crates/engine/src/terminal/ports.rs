//! Terminals of several ports: what they keep of their sources' packets, and which port takes which.
//!
//! `docs/background/ports.md` has the rules. A network knows ports only; sources, programs and statistics know terminals
//! only. Terminals of one port do without all this.

use std::collections::VecDeque;

use super::draw::Packet;
use super::source::{Sources, Totals, places};
use crate::fabric::{Fabric, NONE, port_choice};
use crate::kernel::Time;

/// A packet is to go from a terminal to another one with which it has no plane in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoPlane {
    /// The terminal it is to leave.
    pub from: u32,
    /// Where to.
    pub to: u32,
}

/// What a port does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing waits, and a packet can leave.
    Free,
    /// It is sending.
    Busy,
    /// It has sent its packet in this tick, and is not free before what was made up to now is known.
    Ready,
}

#[derive(Clone, Debug)]
struct Port {
    state: State,
    /// Packets that wait for it.
    queue: VecDeque<Packet>,
}

#[derive(Clone, Debug)]
struct Terminal {
    /// The number of its first port.
    first: u32,
    ports: Vec<Port>,
    /// Packets that wait for any port.
    queue: VecDeque<Packet>,
    /// A closed source's packet that was made and has not left, and its port once that is known.
    held: Option<(Packet, Option<usize>)>,
    /// A closed source that makes nothing more.
    over: bool,
    /// The port chosen last.
    last: usize,
    /// Packets made.
    made: u32,
    /// When its newest dispatched packet was made.
    newest: Time,
    /// The port by which it is asked again, and when, though that sends nothing now.
    wake: Option<(usize, Time)>,
}

/// The ports of all terminals, and what waits in front of them.
#[derive(Clone, Debug)]
pub struct Ports {
    terminals: Vec<Terminal>,
    /// Per port: its terminal.
    owner: Vec<u32>,
}

impl Ports {
    /// All ports busy: the network asks each of them at tick 0.
    pub fn new(fabric: &Fabric) -> Self {
        let terminals = (0..fabric.terminals).map(|terminal| {
            let of = fabric.ports_of(terminal);
            let ports = of.clone().map(|_| Port { state: State::Busy, queue: VecDeque::new() }).collect();
            Terminal {
                first: of.start,
                ports,
                queue: VecDeque::new(),
                held: None,
                over: false,
                last: of.len() - 1,
                made: 0,
                newest: 0,
                wake: None,
            }
        });
        let owner =
            (0..fabric.terminals).flat_map(|terminal| fabric.ports_of(terminal).map(move |_| terminal));
        Self { terminals: terminals.collect(), owner: owner.collect() }
    }

    /// The terminal of a port.
    #[inline]
    pub fn terminal(&self, port: u32) -> u32 {
        self.owner[port as usize]
    }

    /// A port can take a packet, or was to be asked at this tick: it may have begun to send since that was planned.
    pub fn ask(&mut self, port: u32, now: Time) {
        let terminal = &mut self.terminals[self.owner[port as usize] as usize];
        let place = (port - terminal.first) as usize;
        if terminal.wake == Some((place, now)) {
            terminal.wake = None;
        } else if terminal.ports[place].state == State::Busy {
            terminal.ports[place].state = State::Ready;
        }
    }

    /// The next packet that a terminal sends in this tick and its port, after all ports that were to be asked have been;
    /// [`Self::took`] is to be told before it is asked again.
    ///
    /// # Errors
    /// A packet is made for a terminal to which no port leads.
    pub fn next(
        &mut self,
        fabric: &Fabric,
        sources: &mut Sources,
        terminal: u32,
        now: Time,
    ) -> Result<Option<(u32, Packet)>, NoPlane> {
        let at = &mut self.terminals[terminal as usize];
        let next = at.next(fabric, sources, terminal, now)?;
        Ok(next.map(|(port, packet)| (port, Packet { dispatch: now, ..packet })))
    }

    /// A port has taken a packet, and can take another one at once or not.
    pub fn took(&mut self, port: u32, more: bool) {
        let terminal = &mut self.terminals[self.owner[port as usize] as usize];
        let place = (port - terminal.first) as usize;
        terminal.ports[place].state = if more { State::Free } else { State::Busy };
    }

    /// A port and the tick at which it is to be asked, if a packet that is made then could leave by it.
    pub fn wake(
        &mut self,
        fabric: &Fabric,
        sources: &Sources,
        terminal: u32,
        now: Time,
    ) -> Option<(u32, Time)> {
        let at = &mut self.terminals[terminal as usize];
        let time = match Sources::is_open(fabric, terminal as usize) {
            true => sources.next_arrival(terminal as usize)?,
            false => at.held.filter(|(_, port)| port.is_none())?.0.dispatch,
        };
        let place = (0..at.ports.len()).find(|&place| at.is_free(place))?;
        if time <= now || at.wake.is_some() {
            return None;
        }
        at.wake = Some((place, time));
        Some((at.first + place as u32, time))
    }

    /// Has open sources draw what finds no place up to a tick, before it is asked for; how many packets were made.
    pub fn catch_up(&mut self, fabric: &Fabric, sources: &mut Sources, now: Time) -> u64 {
        let mut made = 0;
        for (terminal, at) in self.terminals.iter_mut().enumerate() {
            let all_busy = at.ports.iter().all(|port| port.state == State::Busy);
            if all_busy && Sources::may_refuse(fabric, terminal) {
                let before = at.made;
                let drawn = at.take_in(fabric, sources, terminal as u32, now);
                // Of a packet without a way the next turn makes an error.
                made += u64::from(at.made.wrapping_sub(before)) + u64::from(drawn.is_err());
            }
        }
        made
    }

    /// Packets that sources have made and ports have not taken, with closed sources those that are made later.
    fn waiting(&self) -> impl Iterator<Item = Packet> {
        self.terminals.iter().flat_map(|at| {
            let held = at.held.iter().map(|(packet, _)| *packet);
            let queued = at.ports.iter().flat_map(|port| port.queue.iter().copied());
            at.queue.iter().copied().chain(queued).chain(held)
        })
    }

    /// Packets made, refused and waiting up to now; of copies, because counting what has arrived draws from the sources.
    pub fn totals(&self, sources: &Sources, fabric: &Fabric, now: Time) -> Totals {
        let (mut ports, mut sources) = (self.clone(), sources.clone());
        ports.catch_up(fabric, &mut sources, now);
        sources.totals(fabric, now, ports.waiting())
    }

    /// Forgets what closed sources would make after a tick.
    pub fn drop_later(&mut self, last: Time) {
        for at in &mut self.terminals {
            at.held = at.held.filter(|(packet, _)| packet.created <= last);
        }
    }

    /// Whether nothing waits anywhere and no source makes anything more.
    pub fn is_over(&self, sources: &Sources) -> bool {
        let silent = (0..self.terminals.len()).all(|terminal| sources.next_arrival(terminal).is_none());
        silent && self.waiting().next().is_none()
    }

    /// How far behind a source is: the age of the oldest packet that waits, or if none does and all ports are busy of the
    /// newest that has left.
    pub fn lag(&self, terminal: usize, now: Time) -> Time {
        let at = &self.terminals[terminal];
        let queues = at.ports.iter().map(|port| &port.queue).chain([&at.queue]);
        let oldest = queues.filter_map(|queue| queue.front()).map(|packet| packet.created).min();
        let all_busy = at.ports.iter().all(|port| port.state == State::Busy);
        let since = oldest.or(all_busy.then_some(at.newest)).unwrap_or(now);
        (now - since).max(0)
    }
}

impl Terminal {
    /// See [`Ports::next`].
    fn next(
        &mut self,
        fabric: &Fabric,
        sources: &mut Sources,
        terminal: u32,
        now: Time,
    ) -> Result<Option<(u32, Packet)>, NoPlane> {
        let open = Sources::is_open(fabric, terminal as usize);
        if self.ports.iter().any(|port| port.state == State::Ready) {
            // What arrives with the end of a packet still finds it; without any place it can leave in its stead.
            let limited = !matches!(fabric.source_queue[terminal as usize], 0 | NONE);
            let before = now - Time::from(!limited);
            if open && let Some(sent) = self.take_in(fabric, sources, terminal, before)? {
                return Ok(Some(sent));
            }
            let ready = self.ports.iter_mut().filter(|port| port.state == State::Ready);
            ready.for_each(|port| port.state = State::Free);
        }
        match self.serve(fabric, terminal) {
            Some(sent) => Ok(Some(sent)),
            None if open => self.take_in(fabric, sources, terminal, now),
            None => self.closed(fabric, sources, terminal, now),
        }
    }

    /// Takes the arrivals of an open source up to a tick, up to the first that leaves: the others wait or are refused.
    fn take_in(
        &mut self,
        fabric: &Fabric,
        sources: &mut Sources,
        terminal: u32,
        until: Time,
    ) -> Result<Option<(u32, Packet)>, NoPlane> {
        let any = fabric.terminal_choice[terminal as usize] == port_choice::FIRST_FREE;
        let unlimited = fabric.source_queue[terminal as usize] == 0;
        while sources.next_arrival(terminal as usize).is_some_and(|created| created <= until) {
            if any && unlimited && self.ports.iter().all(|port| port.state != State::Free) {
                break; // they wait where they are not made yet
            }
            let Some(packet) = sources.take_arrival(fabric, terminal as usize) else { break };
            let packet = self.number(packet);
            let chosen = self.choose(fabric, terminal, packet.target)?;
            let port = chosen.filter(|_| !any || self.queue.is_empty());
            self.last = port.unwrap_or(self.last);
            match port.filter(|&port| self.is_free(port)) {
                Some(port) => return Ok(Some(self.send(fabric, terminal, port, packet))),
                None if unlimited || self.queued() < places(fabric, terminal as usize) => {
                    port.map_or(&mut self.queue, |port| &mut self.ports[port].queue).push_back(packet);
                }
                None => sources.refuse(&packet),
            }
        }
        Ok(None)
    }

    /// A packet that waits for a port that is free.
    fn serve(&mut self, fabric: &Fabric, terminal: u32) -> Option<(u32, Packet)> {
        let waits = |place: &usize| self.is_free(*place) && !self.ports[*place].queue.is_empty();
        if let Some(place) = (0..self.ports.len()).find(waits) {
            let packet = self.ports[place].queue.pop_front()?;
            return Some(self.send(fabric, terminal, place, packet));
        }
        let &packet = self.queue.front()?;
        let port = self.choose(fabric, terminal, packet.target).ok()??;
        self.queue.pop_front();
        self.last = port;
        Some(self.send(fabric, terminal, port, packet))
    }

    /// What a closed source has for a port that is free: it makes a packet when one is free and the last one has left.
    fn closed(
        &mut self,
        fabric: &Fabric,
        sources: &mut Sources,
        terminal: u32,
        now: Time,
    ) -> Result<Option<(u32, Packet)>, NoPlane> {
        if self.held.is_none() && !self.over && self.ports.iter().any(|port| port.state == State::Free) {
            let made = sources.next(fabric, terminal as usize, now);
            self.over = made.is_none();
            self.held = made.map(|packet| (self.number(packet), None));
        }
        let Some((packet, mut port)) = self.held.filter(|(packet, _)| packet.dispatch <= now) else {
            return Ok(None);
        };
        if port.is_none() {
            port = self.choose(fabric, terminal, packet.target)?;
            self.last = port.unwrap_or(self.last);
            self.held = Some((packet, port));
        }
        let Some(port) = port.filter(|&port| self.is_free(port)) else { return Ok(None) };
        self.held = None;
        Ok(Some(self.send(fabric, terminal, port, packet)))
    }

    /// A packet with its number, by which one sees whether it is overtaken.
    fn number(&mut self, packet: Packet) -> Packet {
        let mark = self.made;
        self.made = self.made.wrapping_add(1);
        Packet { mark, ..packet }
    }

    /// The port by which a packet goes, free or not; with `FIRST_FREE` none if no port that leads there is free.
    fn choose(&self, fabric: &Fabric, terminal: u32, target: u32) -> Result<Option<usize>, NoPlane> {
        let (count, last) = (self.ports.len(), self.last);
        let leads = |place: usize| other_end(fabric, self.first + place as u32, terminal, target).is_some();
        let mut around =
            (1..=count).map(|step| (last + step) % count).filter(|&place| leads(place)).peekable();
        if around.peek().is_none() {
            return Err(NoPlane { from: terminal, to: target });
        }
        let found = match fabric.terminal_choice[terminal as usize] {
            port_choice::DESTINATION => {
                let mut those = (0..count).filter(|&place| leads(place));
                let among = target as usize % those.clone().count();
                return Ok(those.nth(among));
            }
            port_choice::NOMINAL => return Ok((0..count).find(|&place| leads(place))),
            port_choice::SHORTEST_QUEUE => around.min_by_key(|&place| {
                let Port { state, queue } = &self.ports[place];
                queue.len() + usize::from(*state != State::Free)
            }),
            port_choice::FIRST_FREE => around.find(|&place| self.is_free(place)),
            _ => around.next(),
        };
        Ok(found)
    }

    /// A packet as it leaves by a port.
    fn send(&mut self, fabric: &Fabric, terminal: u32, place: usize, packet: Packet) -> (u32, Packet) {
        let port = self.first + place as u32;
        self.newest = packet.created;
        let target = other_end(fabric, port, terminal, packet.target).expect("its port was chosen so");
        (port, Packet { target, via: via_of(fabric, port, packet.via), ..packet })
    }

    fn is_free(&self, place: usize) -> bool {
        self.ports[place].state == State::Free
    }

    fn queued(&self) -> usize {
        self.queue.len() + self.ports.iter().map(|port| port.queue.len()).sum::<usize>()
    }
}

/// The port of a terminal to which packets go from a port of another one: where both have equally many ports in its plane
/// the one in the same place among them, else by the number of the terminal that sends as well, counted around.
fn other_end(fabric: &Fabric, port: u32, terminal: u32, target: u32) -> Option<u32> {
    let plane = fabric.port_plane[port as usize];
    let (own, ports) = (fabric.ports_of(terminal), fabric.ports_of(target));
    let in_plane = |&other: &u32| fabric.port_plane[other as usize] == plane;
    let count = ports.clone().filter(in_plane).count();
    if count == 0 {
        return None;
    }
    let place = own.clone().filter(in_plane).position(|other| other == port)?;
    let shift = if own.filter(in_plane).count() == count { 0 } else { terminal as usize };
    ports.filter(in_plane).nth((place + shift) % count)
}

/// The random intermediate switch in the plane of a port, where that of the first plane was drawn; none if it is the switch
/// that the port sends into.
fn via_of(fabric: &Fabric, port: u32, via: u32) -> u32 {
    if via == NONE {
        return NONE;
    }
    let each = fabric.via_switch.len() as u32 / fabric.planes.max(1);
    let via = via % each + each * fabric.port_plane[port as usize];
    let home = fabric.link_target[fabric.terminal_out_link[port as usize] as usize];
    if fabric.via_switch[via as usize] == home { NONE } else { via }
}
