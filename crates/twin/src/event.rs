//! Events and their total order: (time, phase, id), where the id is what happens and where.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fabriloom_engine::kernel::Time;

use crate::parts::Code;

/// What happens, in the order of the phases of one tick: faults, effects, arbitration, distribution, crossbars in two
/// steps, wires.
///
/// No event makes another one for an earlier phase of the same tick, so a tick is over when its events are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// The link runs again.
    Up { link: u32 },
    /// The link fails, and what has come of a packet is ended at a tick.
    Down { link: u32, ended: Time },
    /// The routing tables are replaced.
    Table { number: u32 },
    /// What has come of a packet by a link that failed is ended.
    End { link: u32 },
    /// A source makes a code.
    MakeCode { source: u32 },
    /// A code has come by the link. `faults`: as with characters.
    CodeArrives { link: u32, faults: u32, code: Code },
    /// A code is ready for the wire of the link.
    CodeReady { link: u32, code: Code },
    /// A character has come through the lane and can be used in the input buffer at its target. `faults`: how often the link had
    /// failed when it started, here and in what follows; if it has failed since, this does not happen.
    Arrive { lane: u32, faults: u32 },
    /// One quantum of credit has come to the sender of the lane.
    Credit { lane: u32, faults: u32 },
    /// A character has left the output buffer of the lane completely.
    PlaceFree { lane: u32, faults: u32 },
    /// The tail of the packet that held the lane has gone there, and the lane is free again.
    Release { lane: u32 },
    /// The next packet is at the front of a queue of the input buffer at the target of the lane.
    NextHead { lane: u32, queue: u32 },
    /// The header of the packet at the front of a queue of the lane has been decoded.
    Request { lane: u32, queue: u32 },
    /// The end of a packet has been received by the terminal at the target of the lane.
    Deliver { lane: u32, faults: u32 },
    /// The packet at the front of a queue is ended if it has not moved for too long.
    Watch { lane: u32, queue: u32 },
    /// The link starts nothing before a tick: it is stopped from outside, by a test or because its terminal takes nothing.
    Stop { link: u32, until: Time },
    /// The link of a terminal, or of a port, has sent its packet: the source is asked for the next one.
    Ask { terminal: u32 },
    /// A terminal of several ports sends by those that ask.
    Ports { terminal: u32 },
    /// The terminal puts the packet it was given on its link.
    Dispatch { terminal: u32 },
    /// Programs go on, after all that the network does by itself.
    Turn,
    /// The group grants free lanes to waiting heads.
    Arbitrate { group: u32 },
    /// The switch grants all their lanes to heads that are to be distributed.
    Distribute { switch: u32 },
    /// Characters at the target of the link may cross to output buffers, or one be nominated to do so.
    Cross { link: u32 },
    /// The link takes one of the characters that are nominated to cross to it.
    Take { link: u32 },
    /// A character may start on the wire of the link.
    Wire { link: u32 },
}

impl What {
    fn phase(self) -> u8 {
        match self {
            What::Up { .. } | What::Down { .. } | What::Table { .. } => 0,
            What::Arbitrate { .. } => 2,
            What::Distribute { .. } => 3,
            What::Cross { .. } => 4,
            What::Take { .. } => 5,
            What::Wire { .. } => 6,
            _ => 1,
        }
    }
}

/// Everything that is going to happen.
#[derive(Debug, Default)]
pub struct Agenda(BinaryHeap<Reverse<(Time, u8, What)>>);

impl Agenda {
    /// Enters an event.
    pub fn add(&mut self, time: Time, what: What) {
        self.0.push(Reverse((time, what.phase(), what)));
    }

    /// Takes the earliest event, if it is not later than the limit.
    pub fn next(&mut self, until: Time) -> Option<(Time, What)> {
        match self.0.peek() {
            Some(Reverse((time, ..))) if *time <= until => {
                self.0.pop().map(|Reverse((time, _, what))| (time, what))
            }
            _ => None,
        }
    }

    /// True when nothing is going to happen any more.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
