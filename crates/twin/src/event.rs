//! Events and their total order: the tick, the kind of event as listed here, its place.

use std::collections::BTreeMap;

use fabriloom_engine::kernel::Time;

use crate::parts::Code;

/// The events, in the order in which those of one tick happen: faults, effects, arbitration, distribution, crossbars
/// in two steps, wires.
///
/// No event creates another one for an earlier of these phases of the same tick, so a tick ends with its last event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// The link runs again.
    Up { link: u32 },
    /// The link fails, and the received parts of its packets are ended at a later tick.
    Down { link: u32, ended: Time },
    /// The routing tables are replaced.
    Table { number: u32 },
    /// The received part of a packet on a failed link is ended.
    End { link: u32 },
    /// A source creates a code.
    MakeCode { source: u32 },
    /// A code arrives on the link. `faults`: as for characters.
    CodeArrives { link: u32, faults: u32, code: Code },
    /// A code is ready for the wire of the link.
    CodeReady { link: u32, code: Code },
    /// A character has passed the lane and can be used in the input buffer at its target. `faults`: how often the link
    /// had failed when it started, here and below; if it has failed since, the event is void.
    Arrive { lane: u32, faults: u32 },
    /// One quantum of credit arrives at the sender of the lane.
    Credit { lane: u32, faults: u32 },
    /// The sender of the lane learns that it is paused, or goes on. `faults`: as for characters.
    Pause { lane: u32, faults: u32, pauses: bool },
    /// A character has left the output buffer of the lane completely.
    PlaceFree { lane: u32, faults: u32 },
    /// A packet has left the input buffer of the lane, and its sender knows.
    PlaceBack { lane: u32 },
    /// The tail of the packet that held the lane has left, and the lane is free again.
    Release { lane: u32 },
    /// The next packet is at the front of a queue of the input buffer at the target of the lane.
    NextHead { lane: u32, queue: u32 },
    /// The header of the packet at the front of a queue of the lane has been decoded.
    Request { lane: u32, queue: u32 },
    /// The end of a packet has been received by the terminal at the target of the lane.
    Deliver { lane: u32, faults: u32 },
    /// The packet at the front of a queue is ended if it has not moved for too long.
    Watch { lane: u32, queue: u32 },
    /// The link starts nothing before a tick: a test stops it, or its terminal accepts nothing.
    Stop { link: u32, until: Time },
    /// The link starts nothing before a tick, and then at another rate.
    Rate { link: u32, until: Time, ticks: u32 },
    /// The next character that starts on a link is wrong, if it does before a tick; it may be sent again.
    Wrong { link: u32, until: Time, again: bool },
    /// The link of a terminal, or of a port, has sent its packet, and requests the next one from the source.
    Ask { terminal: u32 },
    /// A terminal with several ports sends by those that request.
    Ports { terminal: u32 },
    /// The terminal puts the packet it was given on its link.
    Dispatch { terminal: u32 },
    /// Programs continue, after all other events.
    Turn,
    /// The group grants free lanes to waiting heads.
    Arbitrate { group: u32 },
    /// The switch grants all their lanes to heads that wait to be distributed.
    Distribute { switch: u32 },
    /// Characters at the target of the link may cross to output buffers, or one may be nominated.
    Cross { link: u32 },
    /// The link takes one of the characters nominated for it.
    Take { link: u32 },
    /// A character may start on the wire of the link.
    Wire { link: u32 },
    /// Packets have come into an input buffer or left it.
    Look { lane: u32 },
    /// The same of a memory that the ports of a switch share.
    Survey { switch: u32 },
}

/// All future events: those of the present tick in order, those of each later tick in a list of their own.
#[derive(Debug, Default)]
pub struct Agenda {
    tick: Time,
    /// Sorted, the next one last.
    present: Vec<What>,
    later: BTreeMap<Time, Vec<What>>,
    /// Empty lists, to be used again.
    spare: Vec<Vec<What>>,
}

impl Agenda {
    /// Adds an event.
    pub fn add(&mut self, time: Time, what: What) {
        if time == self.tick {
            let place = self.present.partition_point(|other| *other > what);
            self.present.insert(place, what);
        } else {
            assert!(time > self.tick, "time runs backwards at {what:?}");
            let spare = &mut self.spare;
            self.later.entry(time).or_insert_with(|| spare.pop().unwrap_or_default()).push(what);
        }
    }

    /// Takes the earliest event if it is not later than the limit.
    pub fn next(&mut self, until: Time) -> Option<(Time, What)> {
        if self.present.is_empty() {
            let first = self.later.first_entry().filter(|first| *first.key() <= until)?;
            let (tick, events) = first.remove_entry();
            self.tick = tick;
            self.spare.push(std::mem::replace(&mut self.present, events));
            self.present.sort_unstable_by(|one, other| other.cmp(one));
        }
        self.present.pop().map(|what| (self.tick, what))
    }

    /// Whether there are no more events.
    pub fn is_empty(&self) -> bool {
        self.present.is_empty() && self.later.is_empty()
    }
}
