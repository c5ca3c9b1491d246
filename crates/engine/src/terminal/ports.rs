//! Terminals of several ports: what they keep of their sources' packets, and which port takes which.
//!
//! `docs/background/ports.md` has the rules. A network knows ports only; sources, programs and statistics know terminals
//! only. Terminals of one port do without all this.

use std::collections::VecDeque;

use super::draw::Packet;
use super::source::{Sources, Totals, places};
use super::ways::{NoPlane, Ways};
use crate::fabric::{Fabric, NONE, port_choice};
use crate::kernel::Time;

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
    /// Per traffic class, the packets that wait for any port.
    queues: Vec<VecDeque<Packet>>,
    /// A closed source's packet that was made and has not left, and its port once that is known.
    held: Option<(Packet, Option<usize>)>,
    /// A closed source that makes nothing more.
    over: bool,
    /// Per traffic class, the port chosen last.
    last: Vec<usize>,
    /// Packets made.
    made: u32,
    /// When its newest dispatched packet was made.
    newest: Time,
    /// Ports by which it is asked again, and when, though they send nothing now.
    wakes: Vec<(usize, Time)>,
    /// What it knows of its links is that of this tick.
    known: Time,
}

/// The ports of all terminals, and what waits in front of them.
#[derive(Clone, Debug)]
pub struct Ports {
    terminals: Vec<Terminal>,
    ways: Ways,
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
                queues: vec![VecDeque::new(); fabric.traffic_classes()],
                held: None,
                over: false,
                last: vec![usize::MAX; fabric.traffic_classes()],
                made: 0,
                newest: 0,
                wakes: Vec::new(),
                known: -1,
            }
        });
        Self { terminals: terminals.collect(), ways: Ways::new(fabric) }
    }

    /// The terminal of a port.
    #[inline]
    pub fn terminal(&self, port: u32) -> u32 {
        self.ways.terminal(port)
    }

    /// A port can take a packet, or was to be asked at this tick: it may have begun to send since that was planned.
    pub fn ask(&mut self, port: u32, now: Time) {
        let terminal = &mut self.terminals[self.ways.terminal(port) as usize];
        let place = (port - terminal.first) as usize;
        if let Some(at) = terminal.wakes.iter().position(|&wake| wake == (place, now)) {
            terminal.wakes.swap_remove(at);
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
        let next = at.next(fabric, &self.ways, sources, terminal, now)?;
        Ok(next.map(|(port, packet)| (port, Packet { dispatch: now, ..packet })))
    }

    /// A port has taken a packet, and can take another one at once or not.
    pub fn took(&mut self, port: u32, more: bool) {
        let terminal = &mut self.terminals[self.ways.terminal(port) as usize];
        let place = (port - terminal.first) as usize;
        terminal.ports[place].state = if more { State::Free } else { State::Busy };
    }

    /// A port and the tick at which it is to be asked, if a packet that is made then could leave by it, or one that waits for
    /// another one.
    pub fn wake(
        &mut self,
        fabric: &Fabric,
        sources: &Sources,
        terminal: u32,
        now: Time,
    ) -> Option<(u32, Time)> {
        let at = &mut self.terminals[terminal as usize];
        let makes = match Sources::is_open(fabric, terminal as usize) {
            true => sources.next_arrival(terminal as usize),
            false => at.held.filter(|(_, port)| port.is_none()).map(|(packet, _)| packet.dispatch),
        };
        let waits = at.queued() > 0 || at.held.is_some();
        let learns = if waits { self.ways.next_change(terminal, now) } else { None };
        let place = (0..at.ports.len()).find(|&place| at.is_free(place))?;
        let time = makes.into_iter().chain(learns).filter(|&time| time > now).min()?;
        if at.wakes.iter().any(|wake| wake.1 <= time) {
            return None;
        }
        at.wakes.push((place, time));
        Some((at.first + place as u32, time))
    }

    /// Has open sources draw what finds no place up to a tick, before it is asked for; how many packets were made.
    pub fn catch_up(&mut self, fabric: &Fabric, sources: &mut Sources, now: Time) -> u64 {
        let mut made = 0;
        for (terminal, at) in self.terminals.iter_mut().enumerate() {
            let all_busy = at.ports.iter().all(|port| port.state == State::Busy);
            if all_busy && Sources::may_refuse(fabric, terminal) {
                let before = at.made;
                let drawn = at.take_in(fabric, &self.ways, sources, terminal as u32, now);
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
            at.queues.iter().flatten().copied().chain(queued).chain(held)
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
        let queues = at.ports.iter().map(|port| &port.queue).chain(&at.queues);
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
        ways: &Ways,
        sources: &mut Sources,
        terminal: u32,
        now: Time,
    ) -> Result<Option<(u32, Packet)>, NoPlane> {
        let open = Sources::is_open(fabric, terminal as usize);
        if self.ports.iter().any(|port| port.state == State::Ready) {
            // What arrives with the end of a packet still finds it; without any place it can leave in its stead.
            let limited = !matches!(fabric.source_queue[terminal as usize], 0 | NONE);
            let before = now - Time::from(!limited);
            if open && let Some(sent) = self.take_in(fabric, ways, sources, terminal, before)? {
                return Ok(Some(sent));
            }
            let ready = self.ports.iter_mut().filter(|port| port.state == State::Ready);
            ready.for_each(|port| port.state = State::Free);
        }
        self.learn(ways, terminal, now);
        match self.serve(ways, terminal) {
            Some(sent) => Ok(Some(sent)),
            None if open => self.take_in(fabric, ways, sources, terminal, now),
            None => self.closed(fabric, ways, sources, terminal, now),
        }
    }

    /// Takes the arrivals of an open source up to a tick, up to the first that leaves: the others wait or are refused.
    fn take_in(
        &mut self,
        fabric: &Fabric,
        ways: &Ways,
        sources: &mut Sources,
        terminal: u32,
        until: Time,
    ) -> Result<Option<(u32, Packet)>, NoPlane> {
        let any = fabric.terminal_choice[terminal as usize] == port_choice::FIRST_FREE;
        let unlimited = fabric.source_queue[terminal as usize] == 0;
        while let Some(created) = sources.next_arrival(terminal as usize).filter(|&created| created <= until)
        {
            if any && unlimited && self.ports.iter().all(|port| port.state != State::Free) {
                break; // they wait where they are not made yet
            }
            let Some(packet) = sources.take_arrival(fabric, terminal as usize) else { break };
            let packet = self.number(packet);
            self.learn(ways, terminal, if any { until } else { created });
            let class = ways.class(terminal, packet.target);
            let chosen = self.choose(ways, terminal, packet.target)?;
            let port = chosen.filter(|_| !any || self.queues[class].is_empty());
            self.last[class] = port.unwrap_or(self.last[class]);
            match port.filter(|&port| self.is_free(port)) {
                Some(port) => return Ok(Some(self.send(ways, port, packet))),
                None if unlimited || self.queued() < places(fabric, terminal as usize) => {
                    port.map_or(&mut self.queues[class], |port| &mut self.ports[port].queue)
                        .push_back(packet);
                }
                None => sources.refuse(fabric, &packet),
            }
        }
        self.learn(ways, terminal, until);
        Ok(None)
    }

    /// A packet that waits for a port that is free.
    fn serve(&mut self, ways: &Ways, terminal: u32) -> Option<(u32, Packet)> {
        let waits = |place: &usize| self.is_free(*place) && !self.ports[*place].queue.is_empty();
        if let Some(place) = (0..self.ports.len()).find(waits) {
            let packet = self.ports[place].queue.pop_front()?;
            return Some(self.send(ways, place, packet));
        }
        let (_, class, port) =
            (0..self.queues.len()).filter_map(|class| self.could(ways, terminal, class)).min()?;
        self.last[class] = port;
        let packet = self.queues[class].pop_front()?;
        Some(self.send(ways, port, packet))
    }

    /// Returns when the first packet in the queue of a traffic class was made, the class and its port, if a port is free.
    fn could(&self, ways: &Ways, terminal: u32, class: usize) -> Option<((Time, u32), usize, usize)> {
        let packet = self.queues[class].front()?;
        let port = self.choose(ways, terminal, packet.target).ok()??;
        Some(((packet.created, packet.mark), class, port))
    }

    /// What a closed source has for a port that is free: it makes a packet when one is free and the last one has left.
    fn closed(
        &mut self,
        fabric: &Fabric,
        ways: &Ways,
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
            port = self.choose(ways, terminal, packet.target)?;
            let last = &mut self.last[ways.class(terminal, packet.target)];
            *last = port.unwrap_or(*last);
            self.held = Some((packet, port));
        }
        let Some(port) = port.filter(|&port| self.is_free(port)) else { return Ok(None) };
        self.held = None;
        Ok(Some(self.send(ways, port, packet)))
    }

    /// Has a terminal know of its links what it knows at a tick: what waits for one that is down by then goes by another.
    fn learn(&mut self, ways: &Ways, terminal: u32, now: Time) {
        if !ways.ever_change(terminal) {
            return;
        }
        while let Some(time) = ways.next_change(terminal, self.known).filter(|&time| time <= now) {
            self.known = time;
            self.choose_again(ways, terminal);
        }
        self.known = self.known.max(now);
    }

    fn choose_again(&mut self, ways: &Ways, terminal: u32) {
        for place in 0..self.ports.len() {
            if ways.runs(self.first + place as u32, self.known) {
                continue;
            }
            for packet in std::mem::take(&mut self.ports[place].queue) {
                let port = self.choose(ways, terminal, packet.target).ok().flatten().unwrap_or(place);
                self.last[ways.class(terminal, packet.target)] = port;
                self.ports[port].queue.push_back(packet);
            }
            if let Some((_, port)) = &mut self.held {
                port.take_if(|port| *port == place);
            }
        }
    }

    /// A packet with its number, by which one sees whether it is overtaken.
    fn number(&mut self, packet: Packet) -> Packet {
        let mark = self.made;
        self.made = self.made.wrapping_add(1);
        Packet { mark, ..packet }
    }

    /// The port by which a packet goes, free or not; with `FIRST_FREE` none if no port that leads there is free.
    fn choose(&self, ways: &Ways, terminal: u32, target: u32) -> Result<Option<usize>, NoPlane> {
        let queued = |place: usize| {
            let Port { state, queue } = &self.ports[place];
            queue.len() + usize::from(*state != State::Free)
        };
        let last = self.last[ways.class(terminal, target)];
        ways.choose(terminal, target, last, self.known, queued, |place| self.is_free(place))
    }

    /// A packet as it leaves by a port.
    fn send(&mut self, ways: &Ways, place: usize, packet: Packet) -> (u32, Packet) {
        let port = self.first + place as u32;
        self.newest = packet.created;
        let target = ways.other_end(port, packet.target).expect("its port was chosen so");
        (port, Packet { target, via: ways.via(port, packet.via), ..packet })
    }

    fn is_free(&self, place: usize) -> bool {
        self.ports[place].state == State::Free
    }

    fn queued(&self) -> usize {
        let waiting = self.ports.iter().map(|port| &port.queue).chain(&self.queues);
        waiting.map(VecDeque::len).sum()
    }
}
