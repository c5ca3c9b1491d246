//! Any table, borrowed and checked once.

use crate::network::Rows;
use crate::{NONE, Network, OWN, RouteError, Word};

/// A table as slices; see the columns of the same names of the fabric.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Per group and one more: start of its links.
    pub group_start: &'a [u32],
    /// Links of all groups.
    pub group_links: &'a [u32],
    /// Switch by column, or by run of neighbouring columns: group * 2 + strip, [`NONE`] or [`OWN`].
    pub route: &'a [u32],
    /// Per switch and one more: start of its runs in `route`; empty: each column has an entry of its own.
    pub route_start: &'a [u32],
    /// Per run: the column after its last one.
    pub route_end: &'a [u32],
    /// Per class: its column; empty: each class has one.
    pub class_column: &'a [u32],
    /// Per class, if there are columns: its entry where that of the column is [`OWN`].
    pub class_exit: &'a [u32],
    /// Number of classes.
    pub classes: usize,
    /// Per terminal: its class; then again per terminal, for packets by other ways. A place in it is the aim of a packet.
    pub terminal_class: &'a [u32],
    /// Possible intermediate switches.
    pub via_switch: &'a [u32],
    /// Per intermediate: its class.
    pub via_class: &'a [u32],
}

impl<'a> View<'a> {
    /// Returns the number of groups.
    pub fn groups(&self) -> usize {
        self.group_start.len() - 1
    }

    /// Returns the links of a group.
    pub fn group(&self, group: u32) -> &'a [u32] {
        &self.group_links
            [self.group_start[group as usize] as usize..self.group_start[group as usize + 1] as usize]
    }

    /// Whether classes share columns.
    pub fn is_shared(&self) -> bool {
        !self.class_column.is_empty()
    }

    /// Returns the number of columns of the table.
    pub fn columns(&self, net: &Network) -> usize {
        match self.route_end.last() {
            Some(&end) => end as usize,
            None if self.is_shared() => self.route.len() / net.switches.max(1),
            None => self.classes,
        }
    }

    /// Returns the column of a class.
    pub fn column(&self, class: u32) -> u32 {
        self.class_column.get(class as usize).copied().unwrap_or(class)
    }

    /// Returns the entry of a switch for a class.
    pub fn entry(&self, net: &Network, switch: u32, class: u32) -> u32 {
        let entry = self.cell(net, switch, self.column(class));
        if entry == OWN && self.is_shared() { self.class_exit[class as usize] } else { entry }
    }

    /// Returns the entry of a switch for a column.
    pub(crate) fn cell(&self, net: &Network, switch: u32, column: u32) -> u32 {
        match self.runs(switch) {
            Some((ends, entries)) => entries[ends.partition_point(|&end| end <= column)],
            None => self.route[switch as usize * self.columns(net) + column as usize],
        }
    }

    /// Returns the runs of a switch: the column after each, and the entry; None if each column has an entry of its own.
    pub(crate) fn runs(&self, switch: u32) -> Option<(&'a [u32], &'a [u32])> {
        let ends = self.route_start.get(switch as usize..switch as usize + 2)?;
        let own = ends[0] as usize..ends[1] as usize;
        Some((&self.route_end[own.clone()], &self.route[own]))
    }

    /// Whether the runs of each switch are all columns, one after the other.
    fn runs_fit(&self, net: &Network) -> bool {
        if self.route_start.is_empty() {
            return self.route_end.is_empty()
                && net.switches.checked_mul(self.columns(net)) == Some(self.route.len());
        }
        let ends = (self.route_start.first(), self.route_start.last());
        let columns = self.columns(net) as u32;
        self.route_start.len() == net.switches + 1
            && ends == (Some(&0), Some(&(self.route.len() as u32)))
            && self.route_end.len() == self.route.len()
            && (self.is_shared() || self.classes == columns as usize)
            && self.route_start.windows(2).all(|pair| {
                let own = self.route_end.get(pair[0] as usize..pair[1] as usize).unwrap_or_default();
                own.last() == Some(&columns) && own[0] > 0 && own.windows(2).all(|pair| pair[0] < pair[1])
            })
    }

    /// Refuses a table that does not fit the network; every index is safe afterwards.
    pub fn check(&self, net: &Network) -> Result<(), RouteError> {
        let fail = |text: &str| Err(RouteError::text(text));
        let lines = self.group_start.windows(2).all(|pair| pair[0] < pair[1]);
        let ends = (self.group_start.first(), self.group_start.last());
        if !lines || ends != (Some(&0), Some(&(self.group_links.len() as u32))) {
            return fail("group_start must ascend from 0 to the number of group links, no group being empty");
        }
        if self.group_links.iter().any(|&link| link as usize >= net.links()) {
            return fail("group_links names a link that does not exist");
        }
        if !self.runs_fit(net) {
            return fail(
                "route must have one row per switch and one column per class, or runs of all columns",
            );
        }
        let of_classes = if self.is_shared() { self.classes } else { 0 };
        if self.class_column.len() != of_classes || self.class_exit.len() != of_classes {
            return fail("class_column and class_exit need one entry per class");
        }
        if self.class_column.iter().any(|&column| column as usize >= self.columns(net)) {
            return fail("class_column names a column that does not exist");
        }
        let aims = self.terminal_class.len();
        let is_whole = aims >= net.terminals && aims.is_multiple_of(net.terminals.max(1));
        if !is_whole || self.via_class.len() != self.via_switch.len() {
            return fail("terminal_class and via_class need one entry per terminal and per intermediate");
        }
        if self.terminal_class.iter().chain(self.via_class).any(|&class| class as usize >= self.classes) {
            return fail("terminal_class or via_class names a class that does not exist");
        }
        if self.via_switch.iter().any(|&switch| switch as usize >= net.switches) {
            return fail("via_switch names a switch that does not exist");
        }
        self.check_entries(net)
    }

    fn check_entries(&self, net: &Network) -> Result<(), RouteError> {
        let groups: Vec<&[u32]> = (0..self.groups() as u32).map(|group| self.group(group)).collect();
        let owner: Vec<u32> = groups.iter().map(|links| net.link_source[links[0] as usize]).collect();
        let alien =
            |group: usize| groups[group].iter().find(|&&l| net.link_source[l as usize] != owner[group]);
        if let Some(&link) = (0..groups.len()).find_map(alien) {
            return Err(RouteError::of([
                Word::Link(link),
                " leaves another switch than the rest of its group".into(),
            ]));
        }
        let fits = |entry: u32, switch: u32| owner.get((entry >> 1) as usize) == Some(&switch);
        let alien = |entry: u32, switch: u32| {
            let text = format!("entry {entry} names a group of another switch than ");
            Err(RouteError::of([Word::Text(text), Word::Switch(switch)]))
        };
        // Per column: the switch where each class has its own entry.
        let mut last = vec![NONE; self.columns(net)];
        for switch in 0..net.switches as u32 {
            let row = switch as usize * last.len();
            let (ends, entries) = match self.runs(switch) {
                Some((ends, entries)) => (Some(ends), entries),
                None => (None, &self.route[row..row + last.len()]),
            };
            let mut begin = 0;
            for (place, &entry) in entries.iter().enumerate() {
                let end = ends.map_or(place + 1, |ends| ends[place] as usize);
                let own = &mut last[std::mem::replace(&mut begin, end)..end];
                if entry == OWN && self.is_shared() && own.iter().all(|&other| other == NONE) {
                    own.fill(switch);
                } else if entry != NONE && !fits(entry, switch) {
                    return alien(entry, switch);
                }
            }
        }
        for (&column, &exit) in self.class_column.iter().zip(self.class_exit) {
            let switch = last[column as usize];
            if switch != NONE && !fits(exit, switch) {
                return alien(exit, switch);
            }
        }
        Ok(())
    }

    /// Returns, per group, the vertices that it leads to, each once.
    pub(crate) fn targets(&self, net: &Network) -> Targets {
        let mut ends: Vec<(u32, f64)> = vec![];
        let mut pairs = vec![];
        for group in 0..self.groups() as u32 {
            let links = self.group(group);
            let first = ends.len();
            for &link in links {
                let target = net.link_target[link as usize];
                match ends[first..].iter_mut().find(|end| end.0 == target) {
                    Some(end) => end.1 += 1.0 / links.len() as f64,
                    None => ends.push((target, 1.0 / links.len() as f64)),
                }
            }
            pairs.extend((first..ends.len()).map(|place| (group, place as u32)));
        }
        Targets { rows: Rows::new(self.groups(), pairs.into_iter()), ends }
    }
}

/// The targets of the links of each group.
pub(crate) struct Targets {
    rows: Rows,
    ends: Vec<(u32, f64)>,
}

impl Targets {
    /// Returns the vertices of a group with the fraction of its links that lead there.
    pub(crate) fn of(&self, group: u32) -> &[(u32, f64)] {
        match self.rows.row(group) {
            [] => &[],
            row => &self.ends[row[0] as usize..row[0] as usize + row.len()],
        }
    }
}
