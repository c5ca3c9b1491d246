//! The packets of a station that may start, and which of them is first.

use super::links::holds;
use super::parts::Entry;
use super::state::{REQUEST, RESPONSE, Rings};
use crate::fabric::{NONE, retry_order, stations};
use crate::kernel::Time;
use crate::kernel::slab::Queue;

/// Order of waiting send packets: by the time when ready, responses before requests, by number of entry.
pub(super) trait Order {
    /// What is compared.
    fn order(&self) -> (Time, bool, u32);
}

/// Order of packets that may start; those that give way to others are last.
type Turn = (bool, bool, (Time, bool, u32));

impl Order for Entry {
    #[inline]
    fn order(&self) -> (Time, bool, u32) {
        (self.ready, !self.is.response(), self.number)
    }
}

/// A send packet that may start, and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub entry: u32,
    /// The previous one in its queue, or [`NONE`].
    pub before: u32,
    /// Whether it has been sent before.
    pub again: bool,
    turn: Turn,
}

impl Rings {
    /// Returns the first send packet that may start; sets `later` to when the next one is ready.
    pub(super) fn choose(&mut self, link: u32, later: &mut Time) -> Option<Choice> {
        if !self.stations[link as usize].link.may_go() {
            return None;
        }
        let at = &self.stations[link as usize];
        let mut blocked = false;
        let mut best = if at.has_retries { self.first_again(link, later, &mut blocked) } else { None };
        for kind in [RESPONSE, REQUEST] {
            if at.may_send[kind] == 0 || at.has_retries && self.has_rejected_enough(link, kind) {
                blocked |= !at.fresh[kind].is_empty();
            } else if let Some(choice) = self.first_fresh(link, at.fresh[kind], later, &mut blocked)
                && best.is_none_or(|best: Choice| choice.turn < best.turn)
            {
                best = Some(choice);
            }
        }
        self.stations[link as usize].blocked = blocked;
        best
    }

    /// Returns the order of a packet that may start.
    #[inline]
    fn turn(&self, entry: u32, again: bool) -> Turn {
        let (f, it) = (&self.fabric, &self.entries[entry]);
        let gives_way = match f.ring_retry_order {
            retry_order::FIRST => !again,
            retry_order::NEW_FIRST => again,
            _ => false,
        };
        (f.ring_response_first != 0 && !it.is.response(), gives_way, it.order())
    }

    /// Returns the first packet to be sent again that is ready and may start.
    fn first_again(&self, link: u32, later: &mut Time, blocked: &mut bool) -> Option<Choice> {
        let mut best: Option<Choice> = None;
        let (mut before, mut entry) = (NONE, self.rare[link as usize].again.head);
        while entry != NONE {
            let it = &self.entries[entry];
            if it.ready > self.now {
                *later = (*later).min(it.ready);
                break;
            }
            let turn = self.turn(entry, true);
            if self.stations[link as usize].may_send[usize::from(it.is.response())] == 0 {
                *blocked = true;
            } else if best.is_none_or(|best| turn < best.turn) {
                best = Some(Choice { entry, before, again: true, turn });
            }
            (before, entry) = (entry, it.next);
        }
        best
    }

    /// Whether enough busied packets wait to hold back others of their kind.
    fn has_rejected_enough(&self, link: u32, kind: usize) -> bool {
        self.rare[link as usize].rejected[kind] >= self.timing(link).rejected
    }

    /// Returns the first packet of a queue that is ready and does not have to wait for an earlier one of its flow.
    #[inline]
    fn first_fresh(&self, link: u32, queue: Queue, later: &mut Time, blocked: &mut bool) -> Option<Choice> {
        let (mut before, mut entry) = (NONE, queue.head);
        while entry != NONE {
            let it = &self.entries[entry];
            if it.ready > self.now {
                *later = (*later).min(it.ready);
                return None;
            }
            if !self.keeps_order(link, it.is.response()) || !self.has_open_before(link, entry) {
                return Some(Choice { entry, before, again: false, turn: self.turn(entry, false) });
            }
            *blocked = true;
            (before, entry) = (entry, it.next);
        }
        None
    }

    /// Whether the station sends requests, or responses, between two terminals one after the other.
    pub(super) fn keeps_order(&self, station: u32, response: bool) -> bool {
        let which = self.fabric.ring_in_order;
        let is_port = self.stations[station as usize].link.is_port();
        holds(which, is_port) || which == stations::BUT_REQUESTS && (is_port || response)
    }

    /// Whether the station has sent another packet between the same terminals that is not accepted yet.
    pub(super) fn has_open_before(&self, station: u32, entry: u32) -> bool {
        let it = &self.entries[entry];
        let mut other = self.rare[station as usize].open;
        if other == NONE {
            return false;
        }
        let from = self.source(entry);
        while other != NONE {
            let (that, sent) = (&self.entries[other], &self.sent[other as usize]);
            if (that.is.response(), sent.from, that.dest) == (it.is.response(), from, it.dest) {
                return true;
            }
            other = sent.next;
        }
        false
    }

    /// Returns the source terminal of a packet that has not been accepted.
    pub(super) fn source(&self, entry: u32) -> u32 {
        let it = &self.entries[entry];
        let of = &self.transactions[it.transaction];
        if it.is.response() { of.target } else { of.source }
    }
}
