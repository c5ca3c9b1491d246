//! A graph that never has a cycle: arcs are added one by one, and refused if they would close one. And a layer of
//! channels whose dependencies are such a graph.
//!
//! D. J. Pearce and P. H. J. Kelly, A dynamic topological sort algorithm for directed acyclic graphs, ACM Journal of
//! Experimental Algorithmics 11 (2006): only what lies between both ends of an arc in the order is looked at, and no more
//! of it than a limit, so the work for an arc is bounded.

/// Vertices that are looked at for one arc; an arc for which these are too few is refused as well.
const MOST_LOOKED_AT: usize = 2048;

/// Vertices in an order in which every arc goes forward.
#[derive(Clone, Debug)]
pub(crate) struct Acyclic {
    place: Vec<u32>,
    next: Vec<Vec<u32>>,
    before: Vec<Vec<u32>>,
    seen: Vec<u32>,
    round: u32,
}

impl Acyclic {
    /// Returns a graph without arcs, with a first order; the nearer it is to the last one, the less is moved.
    pub(crate) fn new(order: &[u32]) -> Self {
        let vertices = order.len();
        let mut place = vec![0; vertices];
        (0..).zip(order).for_each(|(at, &vertex)| place[vertex as usize] = at);
        Self {
            place,
            next: vec![vec![]; vertices],
            before: vec![vec![]; vertices],
            seen: vec![0; vertices],
            round: 0,
        }
    }

    /// Adds an arc and returns true, or leaves it out: one that closes a cycle, or one whose ends are far apart.
    pub(crate) fn add(&mut self, from: u32, to: u32) -> bool {
        if from == to || (self.place[from as usize] > self.place[to as usize] && !self.reorder(from, to)) {
            return false;
        }
        self.next[from as usize].push(to);
        self.before[to as usize].push(from);
        true
    }

    /// Removes an arc that was added last of those of its ends.
    pub(crate) fn take_back(&mut self, from: u32, to: u32) {
        let lists = (self.next[from as usize].pop(), self.before[to as usize].pop());
        debug_assert_eq!(lists, (Some(to), Some(from)));
    }

    /// Moves what leads to `from` in front of what `to` leads to; false if `to` leads to `from`.
    fn reorder(&mut self, from: u32, to: u32) -> bool {
        let (low, high) = (self.place[to as usize], self.place[from as usize]);
        self.round += 2;
        let (behind, ahead) = (self.round, self.round + 1);
        let mut after = Search { found: vec![to], at: 0 };
        let mut moved = Search { found: vec![from], at: 0 };
        (self.seen[to as usize], self.seen[from as usize]) = (behind, ahead);
        // Both sides grow in turn, so that a path between them is found after few steps.
        while after.is_open() || moved.is_open() {
            if after.found.len() + moved.found.len() > MOST_LOOKED_AT {
                return false;
            }
            let within = |place: u32| place <= high;
            if after.is_open() && after.step(&self.next, &self.place, within, &mut self.seen, (behind, ahead))
            {
                return false;
            }
            let within = |place: u32| place >= low;
            if moved.is_open()
                && moved.step(&self.before, &self.place, within, &mut self.seen, (ahead, behind))
            {
                return false;
            }
        }
        let (mut after, mut moved) = (after.found, moved.found);
        after.sort_unstable_by_key(|&vertex| self.place[vertex as usize]);
        moved.sort_unstable_by_key(|&vertex| self.place[vertex as usize]);
        moved.extend(after);
        let mut places: Vec<u32> = moved.iter().map(|&vertex| self.place[vertex as usize]).collect();
        places.sort_unstable();
        for (vertex, place) in moved.into_iter().zip(places) {
            self.place[vertex as usize] = place;
        }
        true
    }
}

/// What a vertex leads to, breadth first.
struct Search {
    found: Vec<u32>,
    at: usize,
}

impl Search {
    fn is_open(&self) -> bool {
        self.at < self.found.len()
    }

    /// Looks at the next vertex; `marks`: of this search and of the other. Returns whether they meet.
    fn step(
        &mut self,
        lists: &[Vec<u32>],
        place: &[u32],
        within: impl Fn(u32) -> bool,
        seen: &mut [u32],
        marks: (u32, u32),
    ) -> bool {
        for &vertex in &lists[self.found[self.at] as usize] {
            let mark = &mut seen[vertex as usize];
            if *mark == marks.1 {
                return true;
            }
            if *mark != marks.0 && within(place[vertex as usize]) {
                *mark = marks.0;
                self.found.push(vertex);
            }
        }
        self.at += 1;
        false
    }
}

/// What is known of a dependency in one layer.
const UNKNOWN: u8 = 0;
const THERE: u8 = 1;
const REFUSED: u8 = 2;

/// The dependencies of one layer of channels, each of which is there, refused, or not asked for yet.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    graph: Acyclic,
    known: Vec<u8>,
}

impl Layer {
    /// Returns a layer without dependencies; `order`: a first one of its channels.
    pub(crate) fn new(order: &[u32], numbers: &Numbers) -> Self {
        Self { graph: Acyclic::new(order), known: vec![UNKNOWN; numbers.count] }
    }

    /// Returns whether these dependencies close no cycle, and then adds them.
    pub(crate) fn fits(
        &mut self,
        numbers: &Numbers,
        waits: impl Iterator<Item = (u32, u32)> + Clone,
    ) -> bool {
        // What was refused once is looked at first: then nothing is added only to be taken back.
        if waits.clone().any(|(from, to)| self.known[numbers.of(from, to)] == REFUSED) {
            return false;
        }
        let mut new = vec![];
        for (from, to) in waits {
            let state = &mut self.known[numbers.of(from, to)];
            if *state == THERE {
                continue;
            }
            if !self.graph.add(from, to) {
                *state = REFUSED;
                for (from, to) in new.into_iter().rev() {
                    self.graph.take_back(from, to);
                    self.known[numbers.of(from, to)] = UNKNOWN;
                }
                return false;
            }
            *state = THERE;
            new.push((from, to));
        }
        true
    }
}

/// Numbers of dependencies: those of a channel are on the channels that leave its target.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    /// Per channel: the number of its first dependency.
    first: Vec<usize>,
    /// Per channel: its place among those that leave its source.
    rank: Vec<u32>,
    count: usize,
}

impl Numbers {
    /// Returns the numbers for channels with these ends; only those between switches have dependencies.
    pub(crate) fn new(switches: usize, source: &[u32], target: &[u32]) -> Self {
        let between = |channel: usize| source[channel].max(target[channel]) < switches as u32;
        let (mut leaving, mut rank) = (vec![0u32; switches], vec![0; source.len()]);
        for channel in (0..source.len()).filter(|&channel| between(channel)) {
            let count = &mut leaving[source[channel] as usize];
            rank[channel] = *count;
            *count += 1;
        }
        let (mut first, mut count) = (vec![], 0);
        for channel in 0..source.len() {
            first.push(count);
            count += if between(channel) { leaving[target[channel] as usize] as usize } else { 0 };
        }
        Self { first, rank, count }
    }

    fn of(&self, from: u32, to: u32) -> usize {
        self.first[from as usize] + self.rank[to as usize] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arcs of a fixed pseudo-random sequence, compared with a search of the whole graph.
    #[test]
    fn an_arc_is_refused_if_and_only_if_it_closes_a_cycle() {
        let (vertices, mut state) = (12, 1u64);
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % vertices) as u32
        };
        for _ in 0..200 {
            let mut graph = Acyclic::new(&(0..vertices as u32).collect::<Vec<_>>());
            let mut arcs: Vec<(u32, u32)> = vec![];
            for _ in 0..60 {
                let (from, to) = (draw(), draw());
                let mut lists = vec![vec![]; vertices as usize];
                arcs.iter().for_each(|&(from, to)| lists[from as usize].push(to));
                let mut reached = vec![to];
                let mut at = 0;
                while at < reached.len() {
                    let new: Vec<u32> = lists[reached[at] as usize].clone();
                    reached.extend(
                        new.into_iter().filter(|vertex| !reached.contains(vertex)).collect::<Vec<_>>(),
                    );
                    at += 1;
                }
                let closes = reached.contains(&from);
                assert_eq!(graph.add(from, to), !closes);
                if !closes {
                    arcs.push((from, to));
                }
                let place = |vertex: u32| graph.place[vertex as usize];
                assert!(arcs.iter().all(|&(from, to)| place(from) < place(to)));
            }
        }
    }
}
