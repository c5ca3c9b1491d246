//! The search for heads that can never move again: marking starts with what can move now, and what remains unmarked
//! never moves.

/// What waits: the head of a queue, by a number of its room, or a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Waits at the end of a link.
    Head(u32),
    /// Waits before a wire.
    Lane(u32),
}

/// What can move.
#[derive(Clone, Debug)]
pub struct Marks {
    /// Heads, by number.
    pub heads: Vec<bool>,
    /// Lanes.
    pub lanes: Vec<bool>,
}

impl Marks {
    /// Marks what can move of some heads and of a number of lanes. `sends`, `moves`: whether a lane or a head can, if what
    /// is marked does.
    pub fn new(
        heads: &[u32],
        lanes: usize,
        sends: impl Fn(u32, &Self) -> bool,
        moves: impl Fn(u32, &Self) -> bool,
    ) -> Self {
        let most = heads.iter().max().map_or(0, |&head| head as usize + 1);
        let mut marks = Self { heads: vec![false; most], lanes: vec![false; lanes] };
        let mut more = true;
        while std::mem::take(&mut more) {
            for lane in 0..lanes {
                if !marks.lanes[lane] && sends(lane as u32, &marks) {
                    (marks.lanes[lane], more) = (true, true);
                }
            }
            for &head in heads {
                if !marks.heads[head as usize] && moves(head, &marks) {
                    (marks.heads[head as usize], more) = (true, true);
                }
            }
        }
        marks
    }

    /// Follows the waits of the first head that is not marked until one repeats; returns the heads in that cycle, in order.
    pub fn cycle(&self, heads: &[u32], waits_for: impl Fn(Waiting) -> Option<Waiting>) -> Vec<u32> {
        let Some(&start) = heads.iter().find(|&&head| !self.heads[head as usize]) else { return Vec::new() };
        let (mut path, mut at) = (Vec::new(), Waiting::Head(start));
        while !path.contains(&at) {
            path.push(at);
            let Some(next) = waits_for(at) else { break };
            at = next;
        }
        let first = path.iter().position(|&one| one == at).unwrap_or(0);
        let head = |&waiting: &Waiting| match waiting {
            Waiting::Head(head) => Some(head),
            Waiting::Lane(_) => None,
        };
        path[first..].iter().filter_map(head).collect()
    }
}
