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
    let mut moves = vec![false; count];
    // Who waits for each buffer: lists in one column, because a search visits every link of a network.
    let mut waiting = vec![NONE; count];
    let mut waits: Vec<Wait> = Vec::new();
    let mut others = Vec::new();
    for link in 0..count as u32 {
        others.clear();
        if network.waits_for(link, &mut others) {
            for &other in &others {
                let next = std::mem::replace(&mut waiting[other as usize], waits.len() as u32);
                waits.push(Wait { link, next });
            }
        } else {
            moves[link as usize] = true;
        }
    }
    // Only those for which others wait.
    let awaited = (0..count as u32).filter(|&link| moves[link as usize] && waiting[link as usize] != NONE);
    let mut moving: Vec<u32> = awaited.collect();
    while let Some(link) = moving.pop() {
        let mut next = waiting[link as usize];
        while let Some(wait) = waits.get(next as usize) {
            if !std::mem::replace(&mut moves[wait.link as usize], true) {
                moving.push(wait.link);
            }
            next = wait.next;
        }
    }
    match (0..count).find(|&link| !moves[link]) {
        Some(start) => cycle(network, start as u32),
        None => Vec::new(),
    }
}

/// A buffer that waits for another one, and the next entry in the list of those.
struct Wait {
    link: u32,
    next: u32,
}

/// Follows the first wait of each buffer until one repeats.
fn cycle(network: &Network, start: u32) -> Vec<u32> {
    let mut seen = vec![usize::MAX; network.links.len()];
    let (mut path, mut others) = (Vec::new(), Vec::new());
    let mut link = start;
    while seen[link as usize] == usize::MAX {
        seen[link as usize] = path.len();
        path.push(link);
        others.clear();
        network.waits_for(link, &mut others);
        link = others[0];
    }
    path.split_off(seen[link as usize])
}

impl Network {
    /// Adds the input buffers of which one must move before the head of this one can; false if it can move now.
    #[inline(always)]
    fn waits_for(&self, link: u32, others: &mut Vec<u32>) -> bool {
        let at = &self.links[link as usize];
        if at.to_terminal || at.head() == NONE {
            return false;
        }
        if at.input.output() != NONE {
            let to = &self.links[at.input.output() as usize];
            // A free place for the next character, or its deletion, would let it move.
            let places = to.wire.known() + Wrapping(self.kind(to).output_buffer) + to.output.shift();
            let next = if ahead(places, at.input.deleted()) < 0 { at.input.deleted() } else { places };
            // A link that was left behind has sent more than is stored.
            let full = (at.credit.waits() || at.due.is_behind()) && at.sending() == at.head()
                || ahead(at.wire.known(), next) > 0;
            others.push(at.input.output());
            // The actions of a link that waits for its horizon are not known yet.
            return full && !to.to_terminal && !self.is_held(at.input.output());
        }
        let group = at.port.awaits();
        if group == NONE {
            return false;
        }
        for &to in self.fabric.group(group) {
            let output = &self.links[to as usize];
            if output.port.free_at() != UNKNOWN {
                return false;
            }
            match output.output.holder() {
                // It is down.
                NONE if self.is_down_for_good(to) => {}
                NONE => return false,
                holder => others.push(holder),
            }
        }
        !others.is_empty()
    }
}
