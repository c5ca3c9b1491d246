//! Follows a column only from what has changed in it on, or takes what a column like it has become.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Changes, Marks, Remains, Saved, Ways, Work};
use crate::network::Rows;
use crate::{NONE, Network, View};

/// Where some group leads to more vertices than this, changes spread so widely that whole columns are followed faster.
const NARROW: usize = 4;

/// Where rows and their neighbours are.
#[derive(Clone, Debug)]
pub(super) struct Near {
    /// Per column and switch: its row, or [`NONE`]; empty where groups are wide.
    row_of: Vec<u32>,
    /// Per group: its switch.
    switch_of: Vec<u32>,
    /// Per switch: those with links to it.
    into: Rows,
    narrow: bool,
}

impl Near {
    pub(super) fn new(net: &Network, view: View<'_>) -> Self {
        let ends = |group: u32| {
            let mut ends: Vec<u32> =
                view.group(group).iter().map(|&link| net.link_target[link as usize]).collect();
            ends.sort_unstable();
            ends.dedup();
            ends.len()
        };
        let groups = 0..view.groups() as u32;
        let edges = net.edge_target.iter().copied().zip(net.edge_source.iter().copied());
        Self {
            row_of: vec![],
            switch_of: groups.clone().map(|group| net.link_source[view.group(group)[0] as usize]).collect(),
            into: Rows::new(net.switches, edges),
            narrow: groups.into_iter().all(|group| ends(group) <= NARROW),
        }
    }

    pub(super) fn is_narrow(&self) -> bool {
        self.narrow
    }

    /// Notes the rows of the next column, which begin at `first`.
    pub(super) fn add(&mut self, switches: usize, switch: &[u32], first: usize) {
        if !self.narrow {
            return;
        }
        let begin = self.row_of.len();
        self.row_of.resize(begin + switches, NONE);
        for (row, &at) in (first as u32..).zip(&switch[first..]) {
            self.row_of[begin + at as usize] = row;
        }
    }
}

impl Ways {
    /// Notes which classes and columns are like those before them.
    pub(super) fn compare(&mut self) {
        let sent = |class: u32| &self.sends[class as usize * self.switches..][..self.switches];
        let same = |one: u32, other: u32| {
            let pairs = sent(one).iter().zip(sent(other));
            pairs.into_iter().all(|(one, other)| one.to_bits() == other.to_bits())
        };
        let mut alike = vec![false; self.alike.len()];
        let mut like = vec![NONE; self.columns.len()];
        for (number, column) in self.columns.iter().enumerate() {
            for pair in column.classes.windows(2) {
                alike[pair[1] as usize] = same(pair[0], pair[1]);
            }
            let Some(before) = number.checked_sub(1).map(|number| &self.columns[number]) else { continue };
            let ([one], [other]) = (&before.classes[..], &column.classes[..]) else { continue };
            let [last, own] = [before, column].map(|column| column.rows.clone());
            if self.switch[last.clone()] != self.switch[own.clone()] {
                continue;
            }
            let mut differ =
                (0u32..).zip(self.group[last].iter().zip(&self.group[own])).filter(|(_, (a, b))| a != b);
            let (first, second) = (differ.next(), differ.next());
            if let (Some((place, (&a, &b))), None) = (first, second)
                && [a, b].iter().all(|&group| group != NONE && self.leaves(group))
                && same(*one, *other)
            {
                like[number] = place;
                alike[*other as usize] = true;
            }
        }
        self.alike = alike;
        self.columns.iter_mut().zip(like).for_each(|(column, like)| column.like = like);
    }

    /// Whether a group leads to a terminal and nothing else.
    fn leaves(&self, group: u32) -> bool {
        matches!(self.groups.ends(group), &[(vertex, _)] if vertex as usize >= self.switches)
    }

    /// Whether a column becomes what the one before it has become.
    pub(super) fn repeats(&self, column: u32, changes: &Changes<'_>) -> bool {
        let own = &self.columns[column as usize];
        if own.like == NONE {
            return false;
        }
        let before = &self.columns[column as usize - 1];
        let whole = |first: usize| {
            let group = self.group[first + own.like as usize];
            self.groups.count[group as usize] as usize == self.groups.links(group).len()
        };
        whole(before.rows.start)
            && whole(own.rows.start)
            && self.sends_alike(before.classes[0], own.classes[0], changes.switches)
    }

    /// Gives a column what the one before it has become: what was saved and found from these places on.
    pub(super) fn repeat(
        &mut self,
        column: u32,
        (flow, lost): (usize, usize),
        changed: &mut Marks,
        found: &mut Remains,
        saved: &mut Saved,
    ) {
        let own = &self.columns[column as usize];
        let further = (own.rows.start - self.columns[column as usize - 1].rows.start) as u32;
        for place in flow..saved.flow.len() {
            let row = saved.flow[place].0;
            let through = self.flow[row as usize];
            let own = row + further;
            saved.flow.push((own, std::mem::replace(&mut self.flow[own as usize], through)));
            changed.add(self.group[own as usize]);
        }
        for place in lost..found.class.len() {
            found.class.push(own.classes[0]);
            found.switch.push(found.switch[place]);
            found.lost.push(found.lost[place]);
        }
    }

    /// Follows the packets of a column like `spread`, but only over the rows that something has changed for.
    pub(super) fn follow_near(
        &mut self,
        column: u32,
        changes: &Changes<'_>,
        work: &mut Work,
        changed: &mut Marks,
        saved: &mut Saved,
    ) {
        let here = column as usize * self.switches;
        let row_at = |switch: u32| self.near.row_of[here + switch as usize];
        let touched = |&group: &u32| {
            let row = row_at(self.near.switch_of[group as usize]);
            (row != NONE && self.group[row as usize] == group).then_some(row)
        };
        let touched: Vec<u32> = changes.groups.iter().filter_map(touched).collect();
        let mut next: BinaryHeap<u32> = BinaryHeap::new();
        let targets = touched.iter().flat_map(|&row| self.groups.ends(self.group[row as usize]));
        let targets = targets.map(|end| end.0).filter(|&vertex| (vertex as usize) < self.switches);
        for vertex in targets.chain(changes.switches.iter().copied()) {
            let row = row_at(vertex);
            if row != NONE && !std::mem::replace(&mut work.queued[vertex as usize], true) {
                next.push(row);
            }
        }
        self.flow_near(column, changes, next, work, changed, saved);
        self.lose_near(column, touched, work);
    }

    /// Makes the flow of rows again, the farthest first, and of those that they send to.
    fn flow_near(
        &mut self,
        column: u32,
        changes: &Changes<'_>,
        mut next: BinaryHeap<u32>,
        work: &mut Work,
        changed: &mut Marks,
        saved: &mut Saved,
    ) {
        let here = column as usize * self.switches;
        while let Some(row) = next.pop() {
            let (switch, group) = (self.switch[row as usize], self.group[row as usize]);
            work.queued[switch as usize] = false;
            if group == NONE {
                continue;
            }
            let through = self.through(column, row, changes);
            if self.flow[row as usize].to_bits() == through.to_bits() {
                continue;
            }
            saved.flow.push((row, std::mem::replace(&mut self.flow[row as usize], through)));
            changed.add(group);
            for &(vertex, _) in self.groups.ends(group).iter().filter(|end| (end.0 as usize) < self.switches)
            {
                if !std::mem::replace(&mut work.queued[vertex as usize], true) {
                    next.push(self.near.row_of[here + vertex as usize]);
                }
            }
        }
    }

    /// Returns the packets that come to a row: of all terms, in the order in which `spread` adds them.
    fn through(&self, column: u32, row: u32, changes: &Changes<'_>) -> f64 {
        let here = column as usize * self.switches;
        let switch = self.switch[row as usize];
        let (mut flow, mut last) = (0.0, (NONE, 0.0));
        for &class in &self.columns[column as usize].classes {
            if last.0 == NONE || !self.sends_alike(last.0, class, changes.switches) {
                last.1 = self.sends[class as usize * self.switches + switch as usize];
            }
            last.0 = class;
            flow += last.1;
        }
        let mut terms: Vec<(u32, f64)> = vec![];
        for &source in self.near.into.row(switch) {
            let from = self.near.row_of[here + source as usize];
            let group = if from == NONE { NONE } else { self.group[from as usize] };
            if group == NONE {
                continue;
            }
            let count = self.groups.ends(group).iter().find(|end| end.0 == switch);
            if let Some(&(_, count)) = count {
                let all = f64::from(self.groups.count[group as usize].max(1));
                terms.push((from, self.flow[from as usize] / all * f64::from(count)));
            }
        }
        terms.sort_unstable_by_key(|term| Reverse(term.0));
        terms.iter().fold(flow, |flow, term| flow + term.1)
    }

    /// Makes the share that is lost again, from these rows on to those that send to them, the nearest first.
    fn lose_near(&self, column: u32, touched: Vec<u32>, work: &mut Work) {
        let own = &self.columns[column as usize];
        let here = column as usize * self.switches;
        work.rows.clear();
        work.lost.fill(1.0);
        self.switch[own.rows.clone()].iter().for_each(|&switch| work.lost[switch as usize] = 0.0);
        let mut next: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
        for row in touched {
            if !std::mem::replace(&mut work.queued[self.switch[row as usize] as usize], true) {
                next.push(Reverse(row));
            }
        }
        while let Some(Reverse(row)) = next.pop() {
            let switch = self.switch[row as usize];
            work.queued[switch as usize] = false;
            let lost = self.lost_at(row as usize, own.classes[0], &work.lost);
            if lost == 0.0 {
                continue;
            }
            work.lost[switch as usize] = lost;
            work.rows.push(row);
            for &source in self.near.into.row(switch) {
                let from = self.near.row_of[here + source as usize];
                if from != NONE && from > row && !std::mem::replace(&mut work.queued[source as usize], true) {
                    next.push(Reverse(from));
                }
            }
        }
    }
}
