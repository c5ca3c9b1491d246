//! The packets that can never move again, and the cycle in which they wait.
//!
//! A waiting head can continue if any link of its group will be released, so the deadlocked packets are the largest set
//! of input buffers that only wait for one another. It is found by marking every buffer that can move, and then those
//! that wait for a marked one.

use std::num::Wrapping;

use super::state::{Network, UNKNOWN};
use super::timeline::ahead;
use crate::fabric::NONE;

/// Returns input links whose head packets wait for each other in a cycle, in order; empty if nothing is deadlocked.
pub fn deadlock(network: &Network) -> Vec<u32> {
    let count = network.links.len();
    let mut waits = vec![Vec::new(); count];
    let mut moving: Vec<u32> = Vec::new();
    let mut moves = vec![false; count];
    let mut awaited_by = vec![Vec::new(); count];
    for link in 0..count as u32 {
        match network.waits_for(link) {
            Some(others) => {
                for &other in &others {
                    awaited_by[other as usize].push(link);
                }
                waits[link as usize] = others;
            }
            None => {
                moves[link as usize] = true;
                moving.push(link);
            }
        }
    }
    while let Some(link) = moving.pop() {
        for &waiting in &awaited_by[link as usize] {
            if !std::mem::replace(&mut moves[waiting as usize], true) {
                moving.push(waiting);
            }
        }
    }
    match (0..count).find(|&link| !moves[link]) {
        Some(start) => cycle(start as u32, &waits),
        None => Vec::new(),
    }
}

/// Follows the first wait of each buffer until one repeats.
fn cycle(start: u32, waits: &[Vec<u32>]) -> Vec<u32> {
    let mut seen = vec![usize::MAX; waits.len()];
    let mut path = Vec::new();
    let mut link = start;
    while seen[link as usize] == usize::MAX {
        seen[link as usize] = path.len();
        path.push(link);
        link = waits[link as usize][0];
    }
    path.split_off(seen[link as usize])
}

impl Network {
    /// Returns the input buffers of which one must move before the head of this one can; None if it can move now.
    fn waits_for(&self, link: u32) -> Option<Vec<u32>> {
        let at = &self.links[link as usize];
        if self.kind(at).to_terminal || at.head() == NONE {
            return None;
        }
        if at.input.output() != NONE {
            let to = &self.links[at.input.output() as usize];
            // A free place for the next character, or its deletion, would let it move.
            let places = to.wire.known() + Wrapping(self.kind(to).output_buffer) + to.output.shift();
            let next = if ahead(places, at.input.deleted()) < 0 { at.input.deleted() } else { places };
            // A link that was left behind has sent more than is stored.
            let full = (at.credit.waits() || at.due.is_behind()) && at.sending() == at.head()
                || ahead(at.wire.known(), next) > 0;
            // The actions of a link that waits for its horizon are not known yet.
            let waits = full && !to.leads_to_terminal() && !to.has_horizon();
            return waits.then(|| vec![at.input.output()]);
        }
        let group = self.links[link as usize].port.awaits();
        if group == NONE {
            return None;
        }
        let links = self.fabric.group(group);
        let holders: Vec<u32> = links.iter().map(|&to| self.links[to as usize].output.holder()).collect();
        let held = links.iter().all(|&to| self.links[to as usize].port.free_at() == UNKNOWN);
        held.then_some(holders)
    }
}
