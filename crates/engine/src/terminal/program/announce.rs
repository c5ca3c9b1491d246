//! Messages that are announced, and sent when their receive is posted: the rules of `docs/background/programs.md`,
//! "Announced messages".

use super::message::{Message, Role};
use super::{NO, Programs};

impl Programs {
    /// Hands a message over, or announces it if it is long; returns whether it does.
    pub(super) fn offer(&mut self, message: u32) -> bool {
        let Message { source, target, bytes, read, .. } = self.messages[message];
        let eager = self.settings.eager;
        if read || eager == 0 || bytes <= eager {
            self.hand_over(message);
            return false;
        }
        self.account.announced += 1;
        self.accompany(source, target, Role::Announcement { of: message });
        true
    }

    /// Handles an announcement that has arrived.
    pub(super) fn announced(&mut self, terminal: u32, message: u32) {
        let Message { source, tag, bytes, .. } = self.messages[message];
        self.note(terminal, source, tag, bytes, message);
    }

    /// Asks for a message that was announced, if it is one, for the operation that receives it, if there is any.
    pub(super) fn answer(&mut self, message: u32, receiver: Option<(u32, u32)>) {
        if message != NO {
            let one = &mut self.messages[message];
            one.receiver = receiver;
            let (from, to) = (one.target, one.source);
            self.accompany(from, to, Role::Answer { of: message });
        }
    }

    /// Sends a message that is for another one.
    fn accompany(&mut self, source: u32, target: u32, role: Role) {
        let message = self.add_message(source, target, self.settings.announcement, role);
        self.hand_over(message);
    }
}
