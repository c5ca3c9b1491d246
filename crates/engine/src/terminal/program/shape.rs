//! The token buckets of channels.

use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasherDefault;

use super::message::Message;
use super::{Programs, pair};
use crate::kernel::Time;
use crate::measure::Multiply;
use crate::terminal::bucket::Bucket;

/// The tokens of all channels.
#[derive(Clone, Debug, Default)]
pub(super) struct Tokens {
    /// By the ports of a channel, also while it is closed.
    buckets: HashMap<u64, Bucket, BuildHasherDefault<Multiply>>,
    /// When tokens come for channels that wait for them.
    openings: BTreeSet<(Time, u32)>,
}

impl Tokens {
    /// Returns when the next tokens come that a channel waits for.
    pub fn next(&self) -> Option<Time> {
        self.openings.first().map(|&(time, _)| time)
    }
}

impl Programs {
    /// Whether the tokens of a channel's next packet are missing; then they come later.
    pub(super) fn awaits_tokens(&mut self, number: u32) -> bool {
        let Some(shaper) = self.settings.shaper else { return false };
        let channel = &self.channels[number];
        let part = &self.parts[channel.first];
        let which = part.which.front().copied().unwrap_or(self.messages[part.message].begun);
        let cost = self.moved(part.message, which) * shaper.per_byte;
        let bucket =
            self.tokens.buckets.get(&pair(channel.source, channel.target)).copied().unwrap_or_default();
        let opens = bucket.opens(cost, shaper.room);
        if opens <= self.now {
            return false;
        }
        self.tokens.openings.insert((opens, number));
        true
    }

    /// Takes the tokens of a packet that begins.
    pub(super) fn take_tokens(&mut self, number: u32, message: u32, which: u32) {
        let Some(shaper) = self.settings.shaper else { return };
        let cost = self.moved(message, which) * shaper.per_byte;
        let key = pair(self.channels[number].source, self.channels[number].target);
        self.tokens.buckets.entry(key).or_default().pass(self.now, cost);
    }

    /// Returns the bytes of a packet of a message; what is read moves the other way.
    fn moved(&self, message: u32, which: u32) -> f64 {
        let Message { bytes, read, .. } = self.messages[message];
        if read { 0.0 } else { f64::from(self.settings.cut.bytes(bytes, which)) }
    }

    /// Lets the channels begin packets whose tokens have come; returns their number.
    pub(super) fn tokens_came(&mut self) -> u64 {
        let mut count = 0;
        while let Some(&(time, number)) = self.tokens.openings.first()
            && time <= self.now
        {
            self.tokens.openings.pop_first();
            self.channels[number].listed = false;
            self.list(number);
            let terminal = self.interface(number).terminal;
            self.touch(terminal);
            count += 1;
        }
        count
    }
}
