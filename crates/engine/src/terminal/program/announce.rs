//! Messages that are announced, and sent when their receive is posted: the rules of `docs/background/programs.md`,
//! "Announced messages".

use super::message::{Message, Role};
use super::{NO, Programs};

impl Programs {
    /// Hands a message over, or announces it if it is long; returns whether it does.
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
        let message = self.add_message(source, target, self.settings.announcement, role);
        self.hand_over(message);
    }
}
