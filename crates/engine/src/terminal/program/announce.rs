//! Messages that are announced, and sent when their receive is posted; and messages for which no receive is posted, with
//! the limit of their bytes: the rules of `docs/background/programs.md`, "Announced messages" and "Unexpected messages".

use super::message::{Message, Role};
use super::{NO, Programs};

impl Programs {
    /// Hands a message over, or announces it if it is long; returns whether it does.
    #[inline(always)]
    pub(super) fn offer(&mut self, message: u32) -> bool {
        if !self.is_announced(message) {
            self.hand_over(message);
            return false;
        }
        let Message { source, target, .. } = self.messages[message];
        self.account.announced += 1;
        self.accompany(source, target, Role::Announcement { of: message });
        true
    }

    /// Whether a message of a program is announced.
    pub(super) fn is_announced(&self, message: u32) -> bool {
        let eager = self.settings.eager;
        let one = &self.messages[message];
        eager > 0 && !one.read && one.bytes > eager
    }

    /// Handles an announcement that has arrived.
    pub(super) fn announced(&mut self, terminal: u32, message: u32) {
        let Message { source, tag, bytes, .. } = self.messages[message];
        self.note(terminal, source, tag, bytes, message);
    }

    /// Lets a message come, if it is one, for the operation that receives it, if there is any.
    pub(super) fn call(&mut self, message: u32, receiver: Option<(u32, u32)>) {
        if message == NO {
            return;
        }
        let one = &mut self.messages[message];
        (one.receiver, one.note) = (receiver, NO);
        let (from, to) = (one.target, one.source);
        if self.is_announced(message) {
            self.accompany(from, to, Role::Answer { of: message });
        } else {
            self.expect(message);
        }
    }

    /// Sends a message that is for another one.
    fn accompany(&mut self, source: u32, target: u32, role: Role) {
        let message = self.add_message(source, target, self.settings.announcement, NO, NO, false, role);
        self.hand_over(message);
    }

    /// Matches a message with a receive when its first packet arrives, if unexpected bytes are limited.
    pub(super) fn match_first(&mut self, terminal: u32, message: u32) {
        let Message { source, tag, bytes, role, heads, .. } = self.messages[message];
        if self.settings.unexpected > 0 && heads == 1 && role == Role::Own && !self.is_announced(message) {
            self.note(terminal, source, tag, bytes, message);
        }
    }

    /// Whether a message needs a place among the unexpected bytes: an operation has not asked for it, but may.
    fn is_unexpected(&self, message: u32) -> bool {
        self.settings.unexpected > 0 && self.messages[message].note != NO && !self.is_announced(message)
    }

    /// Whether a terminal can take a message.
    pub(super) fn has_room(&self, message: u32) -> bool {
        if !self.is_unexpected(message) {
            return true;
        }
        let Message { target, bytes, .. } = self.messages[message];
        self.account.unexpected(target) + u64::from(bytes) <= u64::from(self.settings.unexpected)
    }

    /// Stores a message that is taken unexpected.
    pub(super) fn store_unexpected(&mut self, message: u32) {
        if self.is_unexpected(message) {
            let one = &mut self.messages[message];
            one.kept = true;
            self.account.store(one.target, one.bytes);
        }
    }

    /// Handles an arriving message that an operation asks for, or that is discarded.
    pub(super) fn expect(&mut self, message: u32) {
        let one = &mut self.messages[message];
        let (terminal, bytes) = (one.target, one.bytes);
        if std::mem::replace(&mut one.kept, false) {
            self.unstore(terminal, bytes);
        } else {
            self.take_parked(terminal);
        }
    }

    /// Frees the bytes of an unexpected message, which others may have waited for.
    pub(super) fn unstore(&mut self, terminal: u32, bytes: u32) {
        self.account.unstore(terminal, bytes);
        if self.settings.unexpected > 0 {
            self.take_parked(terminal);
        }
    }

    /// Returns the terminals that have no room for messages, with the number of these.
    pub fn full(&self) -> Vec<(u32, u32)> {
        let waiting = |parked: &[u32]| parked.iter().filter(|&&one| !self.has_room(one)).count() as u32;
        let hosts = self.hosts.iter().map(|host| {
            let (first, second) = host.parked.as_slices();
            (host.terminal, waiting(first) + waiting(second))
        });
        hosts.filter(|&(_, count)| count > 0).collect()
    }
}
