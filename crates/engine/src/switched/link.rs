//! One link: the state of its output buffer, its wire and the input buffer at its target, and its constants.

use std::collections::HashMap;
use std::hint::cold_path;
use std::num::Wrapping;

use super::allocation::Port;
use super::buffers::{InputBuffer, OutputBuffer};
use super::credit::Credit;
use super::due::Due;
use super::sent::Sent;
use super::timeline::START;
use super::watchdog::timeout_at;
use super::wire::Wire;
use super::worm::{Order, Rows};
use crate::fabric::{Fabric, NONE};
use crate::kernel::Time;

/// The state of a link. Fields that are read together are adjacent, because the links of a network exceed the cache;
/// the fields that neighbours read come first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Link {
    pub input: InputBuffer,
    pub output: OutputBuffer,
    /// When characters start.
    pub wire: Wire,

    pub order: Order,
    /// Its row in `Network::kinds`.
    pub kind: u32,
    pub due: Due,
    /// As in `Kind`; copied here, so that the row of the kind need not be read.
    pub plain: bool,
    /// Whether it and all links that enter the switch at its source are plain.
    pub common: bool,
    /// As in `Kind`.
    pub stepwise: bool,
    /// As in `Kind`.
    pub to_terminal: bool,
    /// Credit for the characters that it sends.
    pub credit: Credit,

    /// Space for the first few of its worms.
    pub worms: Rows,
    pub port: Port,
    pub sent: Sent,
}

/// The constants of a link; many links share them. All times are in ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    /// Time of a character on the wire: `character_ticks` of the page.
    pub character: u32,
    /// Time of an end of packet on the wire: `end_ticks`.
    pub end: u32,
    /// Minimum number of characters of a packet.
    pub shortest: u32,
    /// `arrival_ticks`.
    pub arrival: u32,
    /// `credit_ticks`.
    pub credit_delay: u32,
    pub output_buffer: u32,
    pub input_buffer: u32,
    pub quantum: u32,
    /// Logarithm of a quantum that is a power of two; 32 for others.
    pub quantum_shift: u8,
    /// `forward_ticks` of the switch at the target: from its crossbar to the wire of the next link.
    pub onward: u32,
    /// `decode_ticks` of the switch at the target.
    pub decode: u32,
    /// `crossbar_ticks` of the switch at the target.
    pub crossbar: u32,
    /// `crossbar_ticks` of the switch at the source.
    pub source_crossbar: u32,
    /// Ticks from the departure of an end of packet until its link is free again.
    pub handover: u32,
    /// Ticks from the departure of an end of packet until the next head is at the front.
    pub next_head: u32,
    /// Ticks after which the switch at the target ends a packet that does not move; [`Time::MAX`]: never.
    pub timeout: Time,
    /// Whether the crossbar at the source may be behind with the places in the output buffer: it is slower than an end
    /// of packet.
    pub puts_off: bool,
    /// Whether the packets at its end leave as described in the module `stepwise`.
    pub stepwise: bool,
    /// Whether the cable is so long that a bufferful is sent before credit for its first character can return: then the
    /// arrival of a character can delay credit.
    pub long: bool,
    /// Whether it is neither of the two.
    pub plain: bool,
    /// Whether the target is a terminal.
    pub to_terminal: bool,
    /// Whether the source is a terminal.
    pub from_terminal: bool,
    /// Whether links fail, and no codes are sent: then it is not known before a horizon what leaves for its output at the
    /// horizon or later.
    pub fails: bool,
    /// The row of the link when its head packet has been spilled, or [`NONE`] where none is: see the module `cuts`.
    pub returns_to: u32,
}

/// Returns all links in their initial state, and their kinds.
pub(super) fn links(fabric: &Fabric, ports: Vec<Port>) -> (Vec<Link>, Vec<Kind>) {
    let (rows, kinds) = kinds(fabric);
    let links = rows.into_iter().zip(ports).map(|(row, port)| Link::new(row, &kinds[row as usize], port));
    let mut links: Vec<Link> = links.collect();
    let mut common = vec![true; fabric.switches as usize];
    for (link, &target) in links.iter().zip(&fabric.link_target) {
        if let Some(common) = common.get_mut(target as usize) {
            *common &= link.plain;
        }
    }
    for (link, &source) in links.iter_mut().zip(&fabric.link_source) {
        link.common = link.plain && common.get(source as usize).copied().unwrap_or(true);
    }
    (links, kinds)
}

/// Returns the kind of every link, and the kinds.
pub(crate) fn kinds(fabric: &Fabric) -> (Vec<u32>, Vec<Kind>) {
    let (stepwise, shortest) = (stepwise_switches(fabric), shortest_packet(fabric));
    let (mut kinds, mut rows) = (Vec::new(), HashMap::new());
    let of_links = (0..fabric.links()).map(|link| {
        let kind = Kind::new(fabric, link, &stepwise, shortest);
        *rows.entry(kind.clone()).or_insert_with(|| {
            kinds.push(kind);
            kinds.len() as u32 - 1
        })
    });
    (of_links.collect(), kinds)
}

impl Link {
    pub fn new(row: u32, kind: &Kind, port: Port) -> Self {
        let granted = START + Wrapping(kind.output_buffer);
        Self {
            input: InputBuffer::new(),
            output: OutputBuffer::new(granted),
            wire: Wire::new(kind.output_buffer, kind.character, kind.quantum),
            order: Order::default(),
            kind: row,
            due: Due::default(),
            credit: Credit::new(kind, granted),
            plain: kind.plain,
            common: false,
            stepwise: kind.stepwise,
            to_terminal: kind.to_terminal,
            sent: Sent::default(),
            worms: Rows::default(),
            port,
        }
    }
}

impl Kind {
    fn new(fabric: &Fabric, link: usize, stepwise: &[bool], shortest: u32) -> Self {
        let (source, target) = (fabric.link_source[link], fabric.link_target[link]);
        let at_switch = |column: &[u32], vertex: u32| column.get(vertex as usize).copied().unwrap_or(0);
        let (character, end) = (fabric.link_character_ticks[link], fabric.link_end_ticks[link]);
        let (buffer, quantum) = (fabric.link_input_buffer[link], fabric.link_quantum[link]);
        let (arrival, credit_delay) = (fabric.link_arrival_ticks[link], fabric.link_credit_ticks[link]);
        // Minimum time to send the characters for which there is credit when the link begins to wait for more, as many
        // ends of packets among them as there can be.
        let bufferful = buffer + 1 - quantum;
        let ends = u64::from(bufferful.div_ceil(shortest));
        let gain = ends * u64::from(character.saturating_sub(end));
        let loop_ticks = u64::from(bufferful) * u64::from(character) - gain;
        let long = loop_ticks < u64::from(arrival) + u64::from(credit_delay);
        let is_stepwise = |vertex: u32| stepwise.get(vertex as usize).copied().unwrap_or(false);
        let stepwise = is_stepwise(target);
        let crossbar = at_switch(&fabric.switch_crossbar_ticks, target);
        let source_crossbar = at_switch(&fabric.switch_crossbar_ticks, source);
        Self {
            character,
            end,
            shortest,
            arrival,
            credit_delay,
            output_buffer: fabric.link_output_buffer[link],
            input_buffer: buffer,
            quantum,
            quantum_shift: if quantum.is_power_of_two() { quantum.trailing_zeros() as u8 } else { 32 },
            onward: at_switch(&fabric.switch_forward_ticks, target),
            decode: at_switch(&fabric.switch_decode_ticks, target),
            crossbar,
            source_crossbar,
            handover: at_switch(&fabric.switch_handover_ticks, target),
            next_head: at_switch(&fabric.switch_next_head_ticks, target),
            timeout: timeout_at(fabric, link),
            puts_off: source_crossbar > end && !is_stepwise(source),
            stepwise,
            long,
            plain: !stepwise && !long,
            to_terminal: fabric.is_terminal(target),
            from_terminal: fabric.is_terminal(source),
            fails: fabric.has_links_that_fail() && !fabric.has_codes() && !stepwise,
            returns_to: NONE,
        }
    }

    /// Returns the ticks that a number of characters in turn take less than at the pace of the link, at the most, if the
    /// next end of packet is that many characters away: an end may be shorter than other characters.
    #[inline(always)]
    pub fn most_gain(&self, characters: u32, next_end: u32) -> Time {
        if characters < next_end {
            return 0;
        }
        cold_path();
        let ends = 1 + (characters - next_end) / self.shortest;
        Time::from(ends) * Time::from(self.character.saturating_sub(self.end))
    }

    /// Returns the number of quanta that a number of characters touches, if the first begins one.
    #[inline(always)]
    pub fn quanta(&self, characters: u32) -> u32 {
        debug_assert!(characters > 0);
        let beyond = characters - 1;
        // Divisions are slow, and most quanta are powers of two.
        if self.quantum_shift >= 32 {
            cold_path();
            return 1 + beyond / self.quantum;
        }
        1 + (beyond >> self.quantum_shift)
    }
}

/// Returns the minimum number of characters of a packet on a link: without a header where headers are deleted.
fn shortest_packet(fabric: &Fabric) -> u32 {
    let deletes = fabric.link_deletes_header.contains(&1) || fabric.strips();
    let header = if deletes { 0 } else { fabric.header_chars };
    let listed = fabric.list_length.iter().chain(&fabric.flow_length).chain(&fabric.length_values);
    let payload = fabric.length_min.iter().chain(listed).copied().min();
    // Programs send packets without payload: acknowledgements.
    header + 1 + fabric.payload_chars(payload.filter(|_| !fabric.has_programs()).unwrap_or(0))
}

/// Returns the switches where the departures from input buffers have to be computed in order, because the crossbar is
/// slower than a link, or because an output buffer is too small for the delay to the wire, or too large for a crossbar
/// that may be behind.
fn stepwise_switches(fabric: &Fabric) -> Vec<bool> {
    let mut stepwise = vec![false; fabric.switches as usize];
    for link in 0..fabric.links() {
        let (character, end) = (fabric.link_character_ticks[link], fabric.link_end_ticks[link]);
        let shortest = character.min(end);
        for (vertex, leaves) in [(fabric.link_source[link], true), (fabric.link_target[link], false)] {
            if fabric.is_terminal(vertex) {
                continue;
            }
            let forward = fabric.switch_forward_ticks[vertex as usize];
            let bufferful = u64::from(fabric.link_output_buffer[link]) * u64::from(shortest);
            let tight = leaves && bufferful < u64::from(character) + u64::from(forward);
            let crossbar = fabric.switch_crossbar_ticks[vertex as usize];
            // A crossbar is never further behind than this: see `Timeline::put_off`.
            let far = u64::from(fabric.link_output_buffer[link]) * u64::from(crossbar) > u64::from(u32::MAX);
            let handover = fabric.switch_handover_ticks[vertex as usize];
            // An end of packet that takes longer in the crossbar than on the wire matters only if the next packet can
            // follow it sooner.
            let slow = crossbar > character || crossbar > shortest && crossbar > handover;
            stepwise[vertex as usize] |= tight || slow || (leaves && far);
        }
    }
    stepwise
}

/// Returns an input link and its output.
#[inline(always)]
pub(super) fn two(links: &mut [Link], one: u32, other: u32) -> [&mut Link; 2] {
    links.get_disjoint_mut([one as usize, other as usize]).expect("an input link is not its own output")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_gain_a_little_at_each_end_of_a_packet() {
        let kind = Kind { character: 10, end: 4, shortest: 5, ..Kind::default() };
        assert_eq!([2, 3, 7, 8, 13].map(|characters| kind.most_gain(characters, 3)), [0, 6, 6, 12, 18]);
        let slow_end = Kind { end: 12, ..kind };
        assert_eq!(slow_end.most_gain(8, 3), 0);
    }
}
