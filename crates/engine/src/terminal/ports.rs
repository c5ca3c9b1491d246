//! Terminals with several ports: the queues of their sources' packets, and the choice of ports.
//!
//! `docs/background/ports.md` has the rules. A network knows only ports; sources, programs and statistics know only
//! terminals. Terminals with one port need this module only for sources beside programs.

use std::collections::VecDeque;

use super::draw::Packet;
use super::source::{Sources, Totals, places};
use super::ways::{NoPlane, Ways};
use crate::fabric::{Fabric, NONE, port_choice};
use crate::kernel::Time;
use crate::measure::Carried;

/// The state of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Idle: nothing waits, and a packet can leave.
    Free,
    /// Sending.
    Busy,
    /// It has sent its packet in this tick, and is not free before the packets created up to now are known.
    Ready,
}

#[derive(Clone, Debug)]
struct Port {
    state: State,
    /// Whether it is the turn of the program beside the source.
    kept: bool,
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
    /// A closed source's packet that was created and has not left, and its port once that is known.
    held: Option<(Packet, Option<usize>)>,
    /// Whether a closed source creates no more packets.
    over: bool,
    /// Per traffic class, the port chosen last.
    last: Vec<usize>,
    /// Number of packets created.
    made: u32,
    /// Creation time of its newest dispatched packet.
    newest: Time,
    /// Idle ports that are asked again, and when.
    wakes: Vec<(usize, Time)>,
    /// The tick for which the state of its links is known.
    known: Time,
}

/// The ports of all terminals, and the queues in front of them.
#[derive(Clone, Debug)]
pub struct Ports {
    terminals: Vec<Terminal>,
    ways: Ways,
}

impl Ports {
    /// Returns busy ports; the network asks each of them at tick 0.
    pub fn new(fabric: &Fabric) -> Self {
        let terminals = (0..fabric.terminals).map(|terminal| {
            let of = fabric.ports_of(terminal);
            let ports = of
                .clone()
                .map(|_| Port { state: State::Busy, kept: false, queue: VecDeque::new() })
                .collect();
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

    /// Returns the terminal of a port.
    #[inline]
    pub fn terminal(&self, port: u32) -> u32 {
        self.ways.terminal(port)
    }

    /// Handles a port that can take a packet, or was to be asked at this tick: it may have begun to send since that was
    /// planned.
    pub fn ask(&mut self, port: u32, now: Time) {
        let terminal = &mut self.terminals[self.ways.terminal(port) as usize];
        let place = (port - terminal.first) as usize;
        if let Some(at) = terminal.wakes.iter().position(|&wake| wake == (place, now)) {
            terminal.wakes.swap_remove(at);
        } else if terminal.ports[place].state == State::Busy {
            terminal.ports[place].state = State::Ready;
        }
    }

    /// Keeps ports of a terminal for the program beside its source, until the next call.
    pub fn keep(&mut self, terminal: u32, is_kept: impl Fn(u32) -> bool) {
        let at = &mut self.terminals[terminal as usize];
        (at.first..).zip(&mut at.ports).for_each(|(number, port)| port.kept = is_kept(number));
    }

    /// Whether a port can take a packet.
    pub fn is_open(&self, port: u32) -> bool {
        let at = &self.terminals[self.ways.terminal(port) as usize];
        at.ports[(port - at.first) as usize].state != State::Busy
    }

    /// Returns the next packet that a terminal sends in this tick and its port, after all ports have been asked; call
    /// [`Self::took`] before the next call.
    ///
    /// # Errors
    /// A packet is for a terminal to which no port leads.
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

    /// Records that a port has taken a packet, and whether it can take another one immediately.
    pub fn took(&mut self, port: u32, more: bool) {
        let terminal = &mut self.terminals[self.ways.terminal(port) as usize];
        let place = (port - terminal.first) as usize;
        terminal.ports[place].state = if more { State::Free } else { State::Busy };
    }

    /// Returns a port and the tick at which it is to be asked, if a packet created then could leave by it, or one that
    /// waits for another port.
    pub fn wake(
        &mut self,
        fabric: &Fabric,
        sources: &Sources,
        terminal: u32,
        now: Time,
    ) -> Option<(u32, Time)> {
        let (place, time) = self.due(fabric, sources, terminal, now)?;
        let at = &mut self.terminals[terminal as usize];
        if at.wakes.iter().any(|wake| wake.1 <= time) {
            return None;
        }
        at.wakes.push((place, time));
        Some((at.first + place as u32, time))
    }

    /// Returns that tick, and the index of a free port.
    pub fn due(&self, fabric: &Fabric, sources: &Sources, terminal: u32, now: Time) -> Option<(usize, Time)> {
        let at = &self.terminals[terminal as usize];
        let makes = match Sources::is_open(fabric, terminal as usize) {
            true => sources.next_arrival(terminal as usize),
            false => at.held.filter(|(_, port)| port.is_none()).map(|(packet, _)| packet.dispatch),
        };
        let waits = at.queued() > 0 || at.held.is_some();
        let learns = if waits { self.ways.next_change(terminal, now) } else { None };
        let place = (0..at.ports.len()).find(|&place| at.is_free(place))?;
        let time = makes.into_iter().chain(learns).filter(|&time| time > now).min()?;
        Some((place, time))
    }

    /// Makes open sources draw the packets that they refuse up to a tick, in advance; returns how many packets were
    /// created.
    pub fn catch_up(&mut self, fabric: &Fabric, sources: &mut Sources, now: Time) -> u64 {
        let mut made = 0;
        for (terminal, at) in self.terminals.iter_mut().enumerate() {
            let all_busy = at.ports.iter().all(|port| port.state == State::Busy);
            if all_busy && Sources::may_refuse(fabric, terminal) {
                let before = at.made;
                let drawn = at.take_in(fabric, &self.ways, sources, terminal as u32, now);
                // The next turn reports the error of a packet without a route.
                made += u64::from(at.made.wrapping_sub(before)) + u64::from(drawn.is_err());
            }
        }
        made
    }

    /// Returns the packets that sources have created and ports have not taken; for closed sources also later ones.
    fn waiting(&self) -> impl Iterator<Item = Packet> {
        self.by_terminal().map(|(_, packet)| packet)
    }

    fn by_terminal(&self) -> impl Iterator<Item = (u32, Packet)> {
        (0..).zip(&self.terminals).flat_map(|(terminal, at)| {
            let held = at.held.iter().map(|(packet, _)| *packet);
            let queued = at.ports.iter().flat_map(|port| port.queue.iter().copied());
            at.queues
                .iter()
                .flatten()
                .copied()
                .chain(queued)
                .chain(held)
                .map(move |packet| (terminal, packet))
        })
    }

    /// Returns terminal and creation of each packet that waits up to and including `now`; computed on copies as well.
    pub fn waiting_since(&self, sources: &Sources, fabric: &Fabric, now: Time) -> Vec<(u32, Time)> {
        let (mut ports, mut sources) = (self.clone(), sources.clone());
        ports.catch_up(fabric, &mut sources, now);
        let held = ports.by_terminal().map(|(terminal, packet)| (terminal, packet.created));
        sources.waiting(fabric, now).into_iter().chain(held.filter(|&(_, created)| created <= now)).collect()
    }

    /// Returns packets created, refused and waiting up to now; computed on copies, because counting arrivals draws from
    /// the sources.
    pub fn totals(&self, sources: &Sources, fabric: &Fabric, now: Time) -> Totals {
        let (mut ports, mut sources) = (self.clone(), sources.clone());
        ports.catch_up(fabric, &mut sources, now);
        sources.totals(fabric, now, &ports.waiting().collect::<Vec<_>>())
    }

    /// Returns what sources say of each flow up to now; computed on copies, too.
    pub fn carried(&self, sources: &Sources, fabric: &Fabric, now: Time) -> Vec<Carried> {
        let (mut ports, mut sources) = (self.clone(), sources.clone());
        ports.catch_up(fabric, &mut sources, now);
        sources.carried(fabric, now, &ports.waiting().collect::<Vec<_>>())
    }

    /// Forgets what closed sources would create after a tick.
    pub fn drop_later(&mut self, last: Time) {
        for at in &mut self.terminals {
            at.held = at.held.filter(|(packet, _)| packet.created <= last);
        }
    }

    /// Whether nothing waits anywhere and no source creates further packets.
    pub fn is_over(&self, sources: &Sources) -> bool {
        let silent = (0..self.terminals.len()).all(|terminal| sources.next_arrival(terminal).is_none());
        silent && self.waiting().next().is_none()
    }

    /// Returns how far behind a source is: the age of the oldest waiting packet or, if none waits and all ports are
    /// busy, of the newest that has left.
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
        let is_ready = self.ports.iter().any(|port| port.state == State::Ready);
        if open {
            // Packets are created before the terminal learns what happens to its links in this tick. A packet that
            // arrives with the end of another one still finds it; without any place it can leave instead.
            let limited = !matches!(fabric.source_queue[terminal as usize], 0 | NONE);
            let before = now - Time::from(!(is_ready && limited));
            if let Some(sent) = self.take_in(fabric, ways, sources, terminal, before)? {
                return Ok(Some(sent));
            }
        }
        if is_ready {
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
        let any = ways.choice(terminal) == port_choice::FIRST_FREE;
        let unlimited = fabric.source_queue[terminal as usize] == 0;
        while let Some(created) = sources.next_arrival(terminal as usize).filter(|&created| created <= until)
        {
            if any && unlimited && !(0..self.ports.len()).any(|place| self.is_free(place)) {
                break; // they wait where they are not created yet
            }
            let Some(packet) = sources.take_arrival(fabric, terminal as usize) else { break };
            let packet = self.number(packet);
            self.learn(ways, terminal, if any { until } else { created });
            let class = ways.class(terminal, packet.target);
            let chosen = self.choose(ways, terminal, packet.target)?;
            let port = chosen.filter(|_| !any || self.queues[class].is_empty());
            self.last[class] = port.unwrap_or(self.last[class]);
            let follows = |port: usize| !self.ports[port].queue.is_empty();
            match port.filter(|&port| self.is_free(port) && !follows(port)) {
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

    /// Returns a packet that waits for a free port.
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
        Some(((packet.created, packet.number), class, port))
    }

    /// Returns a closed source's packet for a free port: it creates a packet when a port is free and the last one has
    /// left.
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

    /// Updates a terminal's knowledge of its links: packets that wait for a link known to be down choose again.
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

    /// Returns a packet with its number, for the detection of overtaking.
    fn number(&mut self, packet: Packet) -> Packet {
        let number = self.made;
        self.made = self.made.wrapping_add(1);
        Packet { number, ..packet }
    }

    /// Returns the port of a packet, free or not; with `FIRST_FREE` none if no port that leads there is free.
    fn choose(&self, ways: &Ways, terminal: u32, target: u32) -> Result<Option<usize>, NoPlane> {
        let queued = |place: usize| {
            let Port { state, queue, .. } = &self.ports[place];
            queue.len() + usize::from(*state != State::Free)
        };
        let last = self.last[ways.class(terminal, target)];
        ways.choose(terminal, target, last, self.known, queued, |place| self.is_free(place))
    }

    /// Returns a packet as it leaves by a port.
    fn send(&mut self, ways: &Ways, place: usize, packet: Packet) -> (u32, Packet) {
        let port = self.first + place as u32;
        self.newest = packet.created;
        let target = ways.other_end(port, packet.target).expect("its port was chosen so");
        (port, Packet { target, via: ways.via(port, packet.via), ..packet })
    }

    fn is_free(&self, place: usize) -> bool {
        let port = &self.ports[place];
        port.state == State::Free && !port.kept
    }

    fn queued(&self) -> usize {
        let waiting = self.ports.iter().map(|port| &port.queue).chain(&self.queues);
        waiting.map(VecDeque::len).sum()
    }
}
