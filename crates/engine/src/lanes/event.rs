//! The events of a network with lanes.

/// A pending event and what it concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The head of this queue requests its group.
    Request(u32),
    /// This lane is free again.
    Release(u32),
    /// The end of a packet has been received by the terminal at the end of this lane.
    Deliver(u32),
    /// The first character of a packet has arrived at the terminal at the end of this lane.
    Head(u32),
    /// This terminal's link is free, or the dispatch of its next packet is due.
    Source(u32),
    /// Something may cross from the input buffers at the end of this link.
    Cross(u32),
    /// Something may start on the wire of this link.
    Wire(u32),
}

impl Event {
    /// Returns its number in the wheel.
    pub(super) fn number(self) -> u32 {
        match self {
            Self::Request(queue) => queue << 3,
            Self::Release(lane) => lane << 3 | 1,
            Self::Deliver(lane) => lane << 3 | 2,
            Self::Head(lane) => lane << 3 | 3,
            Self::Source(terminal) => terminal << 3 | 4,
            Self::Cross(link) => link << 3 | 5,
            Self::Wire(link) => link << 3 | 6,
        }
    }

    /// Returns the event of a number.
    pub fn of(number: u32) -> Self {
        let what = number >> 3;
        match number & 7 {
            0 => Self::Request(what),
            1 => Self::Release(what),
            2 => Self::Deliver(what),
            3 => Self::Head(what),
            4 => Self::Source(what),
            5 => Self::Cross(what),
            _ => Self::Wire(what),
        }
    }
}
