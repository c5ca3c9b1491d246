//! The events of a network whose packets pass whole.

/// A pending event and what it concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The packet of this stay, at the front of its queue, requests its group.
    Request(u32),
    /// This lane becomes free while heads wait for it.
    Release(u32),
    /// The packet of this stay has been received by its terminal.
    Deliver(u32),
    /// The first character of this stay has arrived at its terminal.
    Head(u32),
    /// The link of this port of a terminal is free, or the dispatch of its next packet is due.
    Source(u32),
    /// A packet may start on the wire of this link.
    Wire(u32),
}

impl Event {
    /// Returns its number in the wheel.
    #[inline(always)]
    pub(super) fn number(self) -> u32 {
        match self {
            Self::Request(stay) => stay << 3,
            Self::Release(lane) => lane << 3 | 1,
            Self::Deliver(stay) => stay << 3 | 2,
            Self::Head(stay) => stay << 3 | 3,
            Self::Source(port) => port << 3 | 4,
            Self::Wire(link) => link << 3 | 5,
        }
    }

    /// Returns the event of a number.
    #[inline(always)]
    pub fn of(number: u32) -> Self {
        let what = number >> 3;
        match number & 7 {
            0 => Self::Request(what),
            1 => Self::Release(what),
            2 => Self::Deliver(what),
            3 => Self::Head(what),
            4 => Self::Source(what),
            _ => Self::Wire(what),
        }
    }
}
