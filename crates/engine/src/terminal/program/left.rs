//! What is left to do: messages under way, and programs that wait.

use super::interface::Interface;
use super::message::{Message, Role};
use super::process::Doing;
use super::{NO, Programs};

/// Limit of the stuck messages that are named.
const STUCK: usize = 64;

impl Programs {
    /// Returns the number of messages created and not received, without lost ones. Counts them one by one.
    pub fn in_flight(&self) -> u64 {
        self.unfinished().filter(|one| is_own(one) && !one.received && !one.lost).count() as u64
    }

    /// Returns the messages that are not both sent and received. Requests and answers may be lost, because requests are
    /// repeated.
    fn unfinished(&self) -> impl Iterator<Item = &Message> {
        let again = |one: &&Message| {
            let asks = |terminal: u32| self.hosts[terminal as usize].asks;
            one.lost && one.sent && (asks(one.source) || asks(one.target))
        };
        self.messages.kept().filter(move |one| !again(one))
    }

    /// Whether nothing can happen by itself any more: nothing is timed, ready or under way.
    pub fn rests(&self) -> bool {
        let is_idle = |port: &Interface| !port.has_ready();
        self.packets == self.back
            && self.awaited == 0
            && self.next().is_none()
            && self.interfaces.iter().all(is_idle)
    }

    /// Whether a program or a message is unfinished.
    pub fn is_stuck(&self) -> bool {
        !self.waiting().is_empty() || self.unfinished().next().is_some()
    }

    /// Returns the first messages that are not both sent and received: source, target, bytes and tag.
    pub fn stuck(&self) -> Vec<[u32; 4]> {
        let row = |one: &Message| [one.source, one.target, one.bytes, one.tag];
        self.unfinished().filter(|one| is_own(one)).take(STUCK).map(row).collect()
    }

    /// Whether a program was stopped before its end.
    pub fn stopped(&self) -> bool {
        self.processes.iter().any(|one| one.doing == Doing::Running)
    }

    /// Returns terminals that wait in their programs, with the index of the operation and its row in `op_kind`. A
    /// terminal in an endless receive does not count.
    pub fn waiting(&self) -> Vec<(u32, u32)> {
        let mut open = vec![None; self.hosts.len()];
        for one in self.messages.kept().filter(|one| one.operation != NO && !one.sent) {
            open[one.source as usize].get_or_insert(one.operation);
        }
        self.hosts.iter().zip(open).flat_map(|(host, open)| host.waiting(&self.processes, open)).collect()
    }
}

/// Whether a message is of the program, not one that is for another.
fn is_own(message: &Message) -> bool {
    message.role == Role::Own
}
