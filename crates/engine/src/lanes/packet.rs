//! Packets on lanes, and the header by which one is routed.

use crate::fabric::NONE;
use crate::kernel::Time;
use crate::measure::Delivery;

/// The header by which a packet is routed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Header {
    /// To the intermediate switch.
    Via,
    /// To the destination.
    #[default]
    Final,
    /// It has been deleted.
    Deleted,
}

/// A packet, from its dispatch to its delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// What its delivery says.
    pub delivery: Delivery,
    /// When it was put before its terminal's link.
    pub dispatch: Time,
    /// Its intermediate switch, or [`NONE`].
    pub(super) via: u32,
    pub(super) header: Header,
    /// The routing table when it began to arrive where its head is, if packets wait by output.
    pub(super) table: u32,
    /// Address characters before this header.
    pub(super) address: u32,
    /// The link on which a character of it was wrong first, if its terminal will find that; or [`NONE`].
    pub(super) wrong_on: u32,
    /// When that started.
    pub(super) wrong_at: Time,
    /// Whether a switch has marked it: see [`crate::links::congestion`].
    pub(super) marked: bool,
    /// Whether it was cut or discarded.
    pub(super) lost: bool,
    /// Number of its remaining pieces: one, unless it was cut.
    pub(super) pieces: u32,
}

impl Packet {
    /// Notes that a character of it that starts at a tick is wrong on a link: the first one counts, and of several in one
    /// tick that on the lowest link, as wires start characters in any order.
    pub(super) fn is_wrong_on(&mut self, link: u32, time: Time) {
        let is_first = self.wrong_on == NONE || self.wrong_at == time && link < self.wrong_on;
        (self.wrong_on, self.wrong_at) = if is_first { (link, time) } else { (self.wrong_on, self.wrong_at) };
    }
}
