//! The choice between the way to the destination and the way over a random switch, by the queues of a terminal's switch:
//! `docs/background/wormhole-model.md`.

use super::Network;
use crate::fabric::{Fabric, NONE};
use crate::terminal::Packet;

/// Returns the random switch of a packet that is dispatched now, or [`NONE`] if its way is to go straight: always where
/// the present table has no route to that switch.
#[inline(never)]
pub(super) fn via(network: &(impl Network + ?Sized), port: u32, packet: &Packet) -> u32 {
    let fabric = network.fabric();
    let own = fabric.own_classes_since(port, packet.target, packet.dispatch);
    let table = fabric.table_at(packet.dispatch);
    let last = fabric.terminal_class[packet.target as usize] + own;
    let first = fabric.via_class[packet.via as usize] + own;
    let (home, middle) = (
        fabric.link_target[fabric.terminal_out_link[port as usize] as usize],
        fabric.via_switch[packet.via as usize],
    );
    let entries = [last, first].map(|class| fabric.entry(table, home, class));
    if entries[1] == NONE {
        return NONE;
    }
    if entries[0] == NONE || fabric.via_by_queue == 0 {
        return packet.via;
    }
    let hops = |from: u32, class: u32| hops(fabric, table, from, class);
    let straight = [home, middle].map(|switch| hops(switch, last));
    let around = hops(home, first) + straight[1];
    let [one, other] = entries.map(|entry| entry >> 1);
    let short = queue(network, one, other) * straight[0];
    let long = queue(network, other, one) * around;
    if short < long + u64::from(fabric.via_by_queue) { NONE } else { packet.via }
}

/// Returns the links between switches on the way of a class from a switch by a table and the first lane of every group: to
/// a terminal, or to the switch at which its header is deleted.
fn hops(fabric: &Fabric, table: u32, from: u32, class: u32) -> u64 {
    let (mut switch, mut count) = (from, 0);
    while count < u64::from(fabric.switches) {
        let entry = fabric.entry(table, switch, class);
        if entry == NONE {
            break;
        }
        let link = fabric.link_of(fabric.group(entry >> 1)[0]) as usize;
        switch = fabric.link_target[link];
        if fabric.is_terminal(switch) {
            break;
        }
        count += 1;
        if entry & 1 == 1 || fabric.link_deletes_header[link] == 1 {
            break;
        }
    }
    count
}

/// Returns the queue for a group: the characters of heads that wait for it, and those that occupy the emptiest of its
/// links. On a link that another group has, too, only its own lanes count.
fn queue(network: &(impl Network + ?Sized), group: u32, other: u32) -> u64 {
    let fabric = network.fabric();
    let (lanes, others) = (fabric.group(group), fabric.group(other));
    let occupied = |&lane: &u32| {
        let link = fabric.link_of(lane);
        let is_of = |&lane: &u32| fabric.link_of(lane) == link;
        if others.iter().any(&is_of) {
            let own = lanes.iter().filter(|own| is_of(own));
            own.map(|&own| network.occupied(own)).sum::<u64>()
        } else {
            fabric.lanes_of(link).map(|lane| network.occupied(lane)).sum()
        }
    };
    let waiting = fabric.parts(group).iter().chain([&group]).map(|&group| network.waiting(group));
    waiting.sum::<u64>() + lanes.iter().map(occupied).min().unwrap_or(0)
}
