//! Sources beside programs: a terminal's program and its source take turns on its link.

use std::collections::BTreeSet;

use super::finish::end_of_waiting;
use super::{Network, Run};
use crate::fabric::Fabric;
use crate::kernel::Time;
use crate::measure::Delivery;
use crate::terminal::Packet;
use crate::terminal::program::mark;

/// What sources beside programs wait for.
#[derive(Clone, Debug)]
pub(super) struct Beside {
    /// When the packets that sources have handed out are created, and their terminals.
    wakes: BTreeSet<(Time, u32)>,
    /// Per terminal: whether its program sent the last packet, so that its source is first.
    yields: Vec<bool>,
    /// Terminals whose sources may have a packet in this tick.
    looks: Vec<u32>,
    /// Whether the programs are over, and with them the sources.
    over: bool,
}

impl Beside {
    /// Returns the state at tick 0; None without programs, or if no terminal is a source beside its program.
    pub fn new(fabric: &Fabric) -> Option<Box<Self>> {
        let terminals = fabric.terminals as usize;
        let (wakes, looks) = (BTreeSet::new(), Vec::new());
        let beside = Self { wakes, yields: vec![false; terminals], looks, over: false };
        fabric.has_sources_beside().then(|| Box::new(beside))
    }

    /// Returns the next tick in which a source creates a packet for a link that may be free.
    pub fn next(&self) -> Option<Time> {
        self.wakes.first().map(|&(time, _)| time)
    }
}

impl Run {
    /// Takes what sources' packets have met from the news of the programs.
    pub(super) fn keep_from_programs(&mut self) {
        if self.beside.is_none() {
            return;
        }
        self.news.heads.retain(|&(_, mark)| mark::kind(mark) != mark::SOURCE);
        self.news.lost.retain(|&mark| mark::kind(mark) != mark::SOURCE);
    }

    /// Passes the links that request packets to sources whose turn it is, and all others to the programs.
    pub(super) fn divide_requests<N: Network>(&mut self, network: &mut N) {
        let Some(beside) = &mut self.beside else { return };
        let mut asking = std::mem::take(&mut self.news.asking);
        beside.looks.extend(&asking);
        while let Some(&(time, terminal)) = beside.wakes.first()
            && time <= self.now
        {
            beside.wakes.pop_first();
            beside.looks.push(terminal);
        }
        asking.retain(|&terminal| {
            let is_first = self.beside.as_ref().is_some_and(|beside| beside.yields[terminal as usize]);
            !(is_first && self.send_of_source(network, terminal) == Some(false))
        });
        self.news.asking = asking;
    }

    /// Lets the sources use the links that the programs left free in this tick, and ends the run of the sources with
    /// that of the programs.
    pub(super) fn send_beside<N: Network>(&mut self, network: &mut N) {
        let Some(beside) = &mut self.beside else { return };
        let mut looks = std::mem::take(&mut beside.looks);
        looks.sort_unstable();
        looks.dedup();
        for terminal in looks.drain(..) {
            while self.programs.as_ref().is_some_and(|programs| programs.is_open(terminal)) {
                match self.send_of_source(network, terminal) {
                    Some(more) => self.programs.iter_mut().for_each(|one| one.link_taken(terminal, more)),
                    None => break,
                }
            }
        }
        self.beside.iter_mut().for_each(|beside| beside.looks = std::mem::take(&mut looks));
        self.end_beside(network);
    }

    /// Notes that a terminal's program has sent a packet.
    #[inline]
    pub(super) fn yields(beside: &mut Option<Box<Beside>>, terminal: u32) {
        if let Some(beside) = beside {
            beside.yields[terminal as usize] = true;
        }
    }

    /// Sends the next packet of a source, if it is created; returns whether the link takes another one.
    fn send_of_source<N: Network>(&mut self, network: &mut N, terminal: u32) -> Option<bool> {
        let at = terminal as usize;
        if self.pending[at].is_none() {
            self.pending[at] = self.sources.next(network.fabric(), at, self.now);
        }
        let packet = self.pending[at]?;
        let beside = self.beside.as_mut()?;
        if packet.dispatch > self.now {
            beside.wakes.insert((packet.dispatch, terminal));
            return None;
        }
        self.pending[at] = None;
        beside.yields[at] = false;
        let dispatch = self.now;
        self.newest[at] = packet.created;
        self.taken.leave(packet.mark, packet.created, network.fabric().copies(packet.target));
        let marked = mark::of(packet.mark, mark::SOURCE);
        Some(network.send(terminal, &Packet { dispatch, mark: marked, ..packet }))
    }

    /// Ends the sources when every program has come to its end, and the run if programs wait for ever.
    fn end_beside<N: Network>(&mut self, network: &N) {
        let (Some(beside), Some(programs)) = (&mut self.beside, &self.programs) else { return };
        if beside.over || !programs.rests() {
            return;
        }
        if programs.is_stuck() && !programs.stopped() {
            self.end.get_or_insert(end_of_waiting(network));
            return;
        }
        beside.over = true;
        beside.wakes.clear();
        let fabric = network.fabric();
        self.sources.stop_after(fabric, self.now);
        for (terminal, packet) in self.pending.iter_mut().enumerate() {
            if let Some(later) = packet.take_if(|packet| packet.created > self.now) {
                self.sources.take_back(fabric, &later);
                *packet = self.sources.next(fabric, terminal, self.now);
            }
            // Some wait for their tokens.
            let waits = packet.filter(|packet| packet.dispatch > self.now);
            beside.wakes.extend(waits.map(|packet| (packet.dispatch, terminal as u32)));
        }
    }
}

/// Returns a delivery with the row of its flow as its mark; of a program's packet, without.
pub(super) fn of_flow(delivery: &Delivery) -> Delivery {
    Delivery { mark: mark::row(delivery.mark), ..*delivery }
}
