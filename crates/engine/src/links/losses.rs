//! Packets that are lost: how many, where, of which flows.

use crate::fabric::Fabric;
use crate::measure::{Hop, Hops};

/// Packets lost on a link since the counts were last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Cut when the link failed.
    pub cut: u64,
    /// Discarded at its end, because all links for the next hop had failed, or because a buffer had no room.
    pub discarded: u64,
    /// Ended by a time-out because they did not move.
    pub timed_out: u64,
}

/// All packets that are lost.
#[derive(Clone, Debug)]
pub struct Lost {
    /// Since the beginning.
    pub count: u64,
    /// The same per row of the columns `flow_*`.
    pub of_flows: Vec<u64>,
    /// Per link, since the counts were last cleared.
    pub on_links: Vec<Losses>,
    /// Marks of packets lost in this tick, if programs need them.
    marks: Option<Vec<u32>>,
    /// Returns the row of a packet from its mark, if programs give marks.
    row: fn(u32) -> u32,
}

impl Lost {
    /// Returns the counts of a network that has lost nothing.
    pub fn new(fabric: &Fabric, row: fn(u32) -> u32) -> Self {
        Self {
            count: 0,
            of_flows: vec![0; fabric.flow_target.len()],
            on_links: vec![Losses::default(); fabric.links()],
            marks: fabric.has_programs().then(Vec::new),
            row,
        }
    }

    /// Counts a packet, from its mark, the cause and where it is lost.
    pub fn add(&mut self, mark: u32, cause: fn(&mut Losses) -> &mut u64, hop: Hop, hops: &mut Hops) {
        if hops.limit > 0 {
            hops.record(hop);
        }
        *cause(&mut self.on_links[hop.link as usize]) += 1;
        self.count += 1;
        let row = if self.marks.is_some() { (self.row)(mark) } else { mark };
        self.of_flows.get_mut(row as usize).into_iter().for_each(|count| *count += 1);
        self.marks.iter_mut().for_each(|marks| marks.push(mark));
    }

    /// Takes the marks of packets that were lost, if programs need them.
    pub fn take_marks(&mut self, into: &mut Vec<u32>) {
        self.marks.iter_mut().for_each(|marks| into.append(marks));
    }
}
