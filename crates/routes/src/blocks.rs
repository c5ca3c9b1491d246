//! Loads of uniform traffic by blocks of neighbouring columns.
//!
//! Most switches send to neighbouring destinations by the same links: what passes them on the way to a block is followed
//! once for all of it, and each destination alone only over the *split* switches, whose entries differ within the block. On
//! a torus of 512 by 512 switches that is two rows of 512 instead of 262,144. From a split switch packets may go on over
//! others. Mostly all ways from there end at the same split switch, and packets jump to it; what they load on their way is
//! followed once for the block, too. Otherwise these switches count as split.

use crate::network::Rows;
use crate::runs::Runs;
use crate::{NONE, Network, OWN};

/// Tables with fewer entries than this are followed destination by destination.
pub(crate) const LARGE: usize = 1 << 22;

/// A block has at most this many split switches, once for each of its columns, for each switch: a row of a torus is one.
const MOST: usize = 2;

/// Returns, per group, the packets to switches behind it if each terminal sends one, evenly to all others; None if the
/// packets of a table do not all arrive, which [`crate::verify`] explains.
pub(crate) fn uniform(net: &Network, runs: &Runs<'_>) -> Option<Vec<f64>> {
    let mut blocks = Blocks::new(net, runs);
    let mut first = 0;
    while first < blocks.columns() {
        let last = blocks.choose(first)?;
        blocks.pass(first)?;
        for column in first..last {
            blocks.end(column)?;
        }
        blocks.pass_rest(first)?;
        first = last;
    }
    Some(blocks.load)
}

struct Blocks<'a> {
    net: &'a Network,
    runs: &'a Runs<'a>,
    /// Per column: its terminals.
    terminals: Rows,
    /// Per column: the switches that have other entries from it on.
    changing: Rows,
    /// Packets from a terminal to another one.
    rate: f64,
    /// Of the block: its last column, excluded; the number of its terminals; its split switches.
    last: usize,
    weight: f64,
    split: Vec<u32>,
    is_split: Vec<bool>,
    /// Per switch: its run at the first column of the block, and at the present one.
    run: Vec<usize>,
    at: Vec<usize>,
    /// Per switch: packets for one terminal that come to it; those that come to split ones from others.
    flow: Vec<f64>,
    come: Vec<f64>,
    /// Per switch that is not split: the packets of all columns that come from split ones.
    rest: Vec<f64>,
    /// Per switch that is not split: the split one at which all ways from it end, or [`NONE`].
    exit: Vec<u32>,
    /// Over the switches that are not split, and over the others.
    whole: Walk,
    walk: Walk,
    load: Vec<f64>,
}

impl<'a> Blocks<'a> {
    fn new(net: &'a Network, runs: &'a Runs<'a>) -> Self {
        let columns = runs.columns();
        let terminals = (0..net.terminals as u32).map(|terminal| (runs.column_of(terminal), terminal));
        let ends = (0..net.switches as u32)
            .flat_map(|switch| runs.of(switch).iter().map(move |&(end, _)| (end, switch)));
        Self {
            net,
            runs,
            terminals: Rows::new(columns, terminals),
            changing: Rows::new(columns + 1, ends),
            rate: 1.0 / (net.terminals - 1) as f64,
            last: 0,
            weight: 0.0,
            split: vec![],
            is_split: vec![false; net.switches],
            run: vec![0; net.switches],
            at: vec![0; net.switches],
            flow: vec![0.0; net.switches],
            come: vec![0.0; net.switches],
            rest: vec![0.0; net.switches],
            exit: vec![NONE; net.switches],
            whole: Walk::new(net.switches),
            walk: Walk::new(net.switches),
            load: vec![0.0; runs.groups()],
        }
    }

    fn columns(&self) -> usize {
        self.runs.columns()
    }

    fn of_column(&self, column: usize) -> &[u32] {
        self.terminals.row(column as u32)
    }

    /// Begins a block at a column; returns the column after its last one. It grows as long as its split switches, once
    /// for each column, are not too many.
    fn choose(&mut self, first: usize) -> Option<usize> {
        for (switch, run) in self.run.iter_mut().enumerate() {
            let runs = self.runs.of(switch as u32);
            while *run < runs.len() && runs[*run].0 as usize <= first {
                *run += 1;
            }
        }
        let mut last = first + 1;
        self.restart(first, last);
        while last < self.columns() {
            let before = self.split.len();
            self.change(last);
            self.own(last);
            if (last + 1 - first) * self.split.len() > MOST * self.net.switches {
                self.split.drain(before..).for_each(|switch| self.is_split[switch as usize] = false);
                break;
            }
            last += 1;
        }
        self.last = last;
        self.order(first)?;
        if !self.split_ways_end_once() {
            while !self.close(first, last) {
                last = first + (last - first) / 2;
                self.restart(first, last);
            }
            self.last = last;
            self.order(first)?;
        }
        self.weight = (first..last).map(|column| self.of_column(column).len()).sum::<usize>() as f64;
        Some(last)
    }

    /// Returns the switches to which split ones lead in the block.
    fn after_split(&self) -> impl Iterator<Item = u32> {
        let runs = self.runs;
        let used = |&switch: &u32| {
            let from = self.run[switch as usize];
            let own = &runs.of(switch)[from..];
            let count = own.partition_point(|&(end, _)| (end as usize) < self.last) + 1;
            own[..count.min(own.len())].iter()
        };
        let entries = self.split.iter().flat_map(used).map(|&(_, entry)| entry);
        let entries = entries.filter(|&entry| entry != NONE && entry != OWN);
        let vertices = entries.flat_map(|entry| runs.targets(entry)).map(|(vertex, _)| vertex);
        vertices.filter(|&vertex| (vertex as usize) < self.net.switches)
    }

    /// Whether packets that go on from a split switch over others all come to the same split one.
    fn split_ways_end_once(&self) -> bool {
        let ends = |v: u32| self.is_split[v as usize] || self.exit[v as usize] != NONE;
        self.after_split().all(ends)
    }

    /// Splits what differs within columns.
    fn restart(&mut self, first: usize, last: usize) {
        self.split.drain(..).for_each(|switch| self.is_split[switch as usize] = false);
        for column in first..last {
            if column > first {
                self.change(column);
            }
            self.own(column);
        }
    }

    /// Splits the switches that have other entries from a column on.
    fn change(&mut self, column: usize) {
        for place in 0..self.changing.row(column as u32).len() {
            self.divide(self.changing.row(column as u32)[place]);
        }
    }

    fn divide(&mut self, switch: u32) {
        if !std::mem::replace(&mut self.is_split[switch as usize], true) {
            self.split.push(switch);
        }
    }

    /// Splits the switches from which the terminals of a column send, but not to themselves.
    fn own(&mut self, column: usize) {
        for place in 0..self.of_column(column).len() {
            self.divide(self.net.entry(self.of_column(column)[place]));
        }
    }

    /// Splits all switches to which split ones lead; false if these are too many for several columns.
    fn close(&mut self, first: usize, last: usize) -> bool {
        let mut next = 0;
        while let Some(&switch) = self.split.get(next) {
            next += 1;
            let (runs, groups) = (self.runs, self.run[switch as usize]);
            for &(end, entry) in &runs.of(switch)[groups..] {
                if entry != NONE && entry != OWN {
                    runs.targets(entry).for_each(|(vertex, _)| {
                        if (vertex as usize) < self.net.switches {
                            self.divide(vertex);
                        }
                    });
                }
                if end as usize >= last {
                    break;
                }
            }
            if last - first > 1 && (last - first) * self.split.len() > 2 * MOST * self.net.switches {
                return false;
            }
        }
        true
    }

    /// Puts the switches that are not split in the order in which packets for the block pass them.
    fn order(&mut self, first: usize) -> Option<()> {
        let senders = (0..self.net.switches as u32).filter(|&switch| self.net.senders(switch) > 0);
        let mut from: Vec<u32> = senders.chain(self.after_split()).collect();
        from.retain(|&switch| !self.is_split[switch as usize]);
        let Self { runs, is_split, run, exit, whole, .. } = self;
        let entry = |switch: u32| runs.of(switch)[run[switch as usize]].1;
        whole.begin();
        for switch in from {
            whole.run(switch, |switch, place| {
                let onward = runs.onward_of(entry(switch), first, self.last)?;
                Some(onward.skip(place).find(|&(_, (vertex, _))| !is_split[vertex as usize]))
            })?;
        }
        for &switch in &whole.order {
            let onward = runs.onward_of(entry(switch), first, self.last)?;
            let mut ends =
                onward.map(|(_, (next, _))| if is_split[next as usize] { next } else { exit[next as usize] });
            let end = ends.next().unwrap_or(NONE);
            exit[switch as usize] = if ends.all(|other| other == end) { end } else { NONE };
        }
        Some(())
    }

    /// Follows the packets for the block over all switches that are not split.
    fn pass(&mut self, first: usize) -> Option<()> {
        let Self { net, runs, is_split, run, flow, come, whole, load, rate, .. } = self;
        let entry = |switch: u32| runs.of(switch)[run[switch as usize]].1;
        for &switch in &self.split {
            come[switch as usize] = 0.0;
        }
        for &switch in &whole.order {
            flow[switch as usize] = f64::from(net.senders(switch)) * *rate;
        }
        for &switch in whole.order.iter().rev() {
            let through = flow[switch as usize];
            for (_, (vertex, share)) in runs.onward_of(entry(switch), first, self.last)? {
                load[entry(switch) as usize >> 1] += through * share * self.weight;
                let sum = if is_split[vertex as usize] { &mut *come } else { &mut *flow };
                sum[vertex as usize] += through * share;
            }
        }
        for &switch in &self.split {
            self.at[switch as usize] = run[switch as usize];
        }
        Some(())
    }

    /// Follows the packets for a column over the split switches.
    fn end(&mut self, column: usize) -> Option<()> {
        let count = self.of_column(column).len() as f64;
        for &switch in &self.split {
            let (at, runs) = (&mut self.at[switch as usize], self.runs.of(switch));
            while runs[*at].0 as usize <= column {
                *at += 1;
            }
            let sent = f64::from(self.net.senders(switch)) * count;
            self.flow[switch as usize] = sent * self.rate + self.come[switch as usize] * count;
        }
        let mut alone = vec![];
        for place in 0..self.of_column(column).len() {
            let switch = self.net.entry(self.of_column(column)[place]);
            self.flow[switch as usize] -= self.rate;
            if self.net.senders(switch) == 1 && count == 1.0 && self.come[switch as usize] == 0.0 {
                alone.push(switch);
            }
        }
        let Self { runs, at, flow, walk, load, is_split, exit, rest, .. } = self;
        let entry = |switch: u32| runs.of(switch)[at[switch as usize]].1;
        let end = |vertex: u32| if is_split[vertex as usize] { vertex } else { exit[vertex as usize] };
        walk.begin();
        for &switch in self.split.iter().filter(|switch| !alone.contains(switch)) {
            if self.net.senders(switch) > 0 || self.come[switch as usize] > 0.0 {
                walk.run(switch, |switch, place| {
                    let next = runs.onward_of(entry(switch), column, column + 1)?.nth(place);
                    Some(next.map(|(number, (vertex, share))| (number, (end(vertex), share))))
                })?;
            }
        }
        for &switch in walk.order.iter().rev() {
            let through = flow[switch as usize];
            for (_, (vertex, share)) in runs.onward_of(entry(switch), column, column + 1)? {
                load[entry(switch) as usize >> 1] += through * share;
                flow[end(vertex) as usize] += through * share;
                if !is_split[vertex as usize] {
                    rest[vertex as usize] += through * share;
                }
            }
        }
        Some(())
    }

    /// Follows the packets of all columns that went on from split switches over others.
    fn pass_rest(&mut self, first: usize) -> Option<()> {
        let Self { runs, is_split, run, rest, whole, load, .. } = self;
        for &switch in whole.order.iter().rev() {
            let through = std::mem::take(&mut rest[switch as usize]);
            let entry = runs.of(switch)[run[switch as usize]].1;
            for (_, (vertex, share)) in runs.onward_of(entry, first, self.last)?.filter(|_| through > 0.0) {
                load[entry as usize >> 1] += through * share;
                if !is_split[vertex as usize] {
                    rest[vertex as usize] += through * share;
                }
            }
        }
        Some(())
    }
}

/// A depth-first walk over switches.
struct Walk {
    round: u32,
    /// Per switch: 2 * round while open, 2 * round + 1 when finished.
    state: Vec<u32>,
    stack: Vec<(u32, usize)>,
    /// Switches, each after all that it leads to.
    order: Vec<u32>,
}

impl Walk {
    fn new(switches: usize) -> Self {
        Self { round: 0, state: vec![0; switches], stack: vec![], order: vec![] }
    }

    fn begin(&mut self) {
        self.round += 1;
        self.order.clear();
    }

    /// Follows all ways from a switch. `next`: of a switch and the number of a way, the first from there on, with its
    /// number; None if it leads nowhere. Returns None then, and for a loop.
    fn run(
        &mut self,
        start: u32,
        next: impl Fn(u32, usize) -> Option<Option<(usize, (u32, f64))>>,
    ) -> Option<()> {
        let (open, done) = (2 * self.round, 2 * self.round + 1);
        if self.state[start as usize] >= open {
            return Some(());
        }
        self.state[start as usize] = open;
        self.stack.push((start, 0));
        while let Some((switch, place)) = self.stack.last_mut() {
            let Some((number, (vertex, _))) = next(*switch, *place)? else {
                self.state[*switch as usize] = done;
                self.order.push(*switch);
                self.stack.pop();
                continue;
            };
            *place = number + 1;
            match self.state[vertex as usize] {
                state if state == open => return None,
                state if state == done => {}
                _ => {
                    self.state[vertex as usize] = open;
                    self.stack.push((vertex, 0));
                }
            }
        }
        Some(())
    }
}
