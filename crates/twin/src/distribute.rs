//! Packets that go to several links at once.

use crate::event::What;
use crate::parts::{Character, Front, Head};
use crate::twin::Twin;

impl Twin<'_> {
    /// Adds a head to those of its switch that wait to be distributed.
    pub(crate) fn wait_for_all(&mut self, switch: u32, head: Head) {
        let waiting = &mut self.distributing[switch as usize];
        waiting.push(head);
        waiting.sort();
        self.agenda.add(self.now, What::Distribute { switch });
    }

    /// Whether the first head that waits to be distributed keeps a lane from another head.
    pub(crate) fn keeps(&self, lane: u32, head: Head) -> bool {
        let switch = self.fabric.link_source[self.fabric.link_of(lane) as usize];
        let first = self.distributing.get(switch as usize).and_then(|waiting| waiting.first());
        first.is_some_and(|&first| first < head && self.all_lanes(first).contains(&lane))
    }

    /// Returns the lanes that such a head waits for.
    fn all_lanes(&self, head: Head) -> &[u32] {
        let routed = self.routed(head.place.lane, self.first(head.place));
        let (group, _) = routed.expect("no table is replaced");
        self.fabric.group(group)
    }

    /// Grants while the first head finds all its lanes free.
    pub(crate) fn distribute(&mut self, switch: u32) {
        while let Some(&head) = self.distributing[switch as usize].first() {
            let lanes = self.all_lanes(head).to_vec();
            if lanes.iter().any(|&lane| self.lanes[lane as usize].holder.is_some()) {
                return;
            }
            self.distributing[switch as usize].remove(0);
            self.grant_all(head, &lanes);
        }
    }

    /// Makes one packet per lane, each of which holds its lane.
    fn grant_all(&mut self, head: Head, lanes: &[u32]) {
        let Front::Waiting { strip } = self.front(head.place) else { panic!("only heads are granted") };
        self.packet_hops += 1;
        let packet = self.first(head.place);
        let delete = self.delete_header(packet, lanes[0], strip);
        let mut copies = Vec::new();
        for &lane in &lanes[1..] {
            copies.push((lane, self.worms.len()));
            self.worms.push(self.worms[packet].clone());
        }
        let queue = self.lanes[head.place.lane as usize].queues.get_mut(&head.place.queue).expect("a queue");
        queue.copies = copies;
        for &lane in lanes {
            self.hold(lane, head);
        }
        self.set_front(head.place, Front::Crossing { output: lanes[0], delete });
    }

    /// Copies a character that crosses to the output buffers of the copies.
    pub(crate) fn copy(&mut self, copies: &[(u32, usize)], character: Character, ready: i64) {
        for &(lane, packet) in copies {
            self.enter_output(lane, Character { packet, ..character }, ready);
        }
    }
}
