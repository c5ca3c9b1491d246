//! What dead links leave of the ways of all packets: the shares that are lost, and what the other links carry.
//!
//! Tables stay as they are. A group shrinks to the links that are left and shares its packets evenly among them; what has
//! none left is lost. All ways are followed once. With dead links only the columns that they touch are followed again, and
//! each sum of which a term has changed is made again of all its terms in their order: the result has the same bits as if
//! everything had been followed.

mod near;

use near::Near;

use crate::network::Rows;
use crate::walk::{End, Starts, Walk};
use crate::{NONE, Network, OWN, RouteError, View};

/// The ways of all packets of a table, and the packets that take them.
#[derive(Clone, Debug)]
pub struct Ways {
    switches: usize,
    /// Per switch: whether terminals send to it.
    enters: Vec<bool>,
    /// Per class: the terminal that it leads to, or [`NONE`].
    terminal: Vec<u32>,
    groups: Alive,
    columns: Vec<Column>,
    /// Per row, that is a switch of a column: the switch, each after all that it may send to.
    switch: Vec<u32>,
    /// Per row: its group, or [`NONE`] where each class of the column has its own.
    group: Vec<u32>,
    /// Per row: its column.
    column: Vec<u32>,
    /// Per row: the packets that come there.
    flow: Vec<f64>,
    /// Per class: its column, or [`NONE`].
    column_of: Vec<u32>,
    /// Per class: its group at the last switch, or [`NONE`] if the column has it.
    exit: Vec<u32>,
    /// Per class: the packets that come to that group.
    exit_flow: Vec<f64>,
    /// Per group: its rows.
    users: Rows,
    /// Per group: the classes whose exit it is.
    exits: Rows,
    /// Per group: all packets that come to it.
    total: Vec<f64>,
    /// Per link: packets, but for links that leave terminals.
    load: Vec<f64>,
    /// Per class and switch: the packets that enter there.
    sends: Vec<f64>,
    /// Per class: whether as many packets enter everywhere as for the class before it in its column.
    alike: Vec<bool>,
    near: Near,
}

/// Rows and classes of a column.
#[derive(Clone, Debug)]
struct Column {
    rows: std::ops::Range<usize>,
    classes: Vec<u32>,
    /// The row at which it differs from the column before, counted from its first, if it does nowhere else: there each
    /// leads to its own terminal; or [`NONE`].
    like: u32,
}

/// What dead links leave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remains {
    /// Per class and switch where packets of the class enter and of which some are lost: the class.
    pub class: Vec<u32>,
    /// The switch.
    pub switch: Vec<u32>,
    /// The share of these packets that is lost.
    pub lost: Vec<f64>,
    /// Per link: packets, but for links that leave terminals.
    pub load: Vec<f64>,
}

/// The vertices that groups lead to, and by how many links that are not dead.
#[derive(Clone, Debug)]
struct Alive {
    ends: Vec<(u32, u32)>,
    first_end: Vec<u32>,
    /// Per group: links that are not dead.
    count: Vec<u32>,
    links: Vec<u32>,
    first_link: Vec<u32>,
    /// Per place in `links`: the group and the end.
    place: Vec<(u32, u32)>,
    /// Per link: its places.
    places: Rows,
}

impl Alive {
    fn new(net: &Network, view: View<'_>) -> Self {
        let (mut ends, mut first_end, mut place) = (vec![], vec![0], vec![]);
        for group in 0..view.groups() as u32 {
            let first = ends.len();
            for &link in view.group(group) {
                let target = net.link_target[link as usize];
                let known = ends[first..].iter().position(|&(vertex, _): &(u32, u32)| vertex == target);
                let end = first + known.unwrap_or(ends.len() - first);
                if known.is_none() {
                    ends.push((target, 0));
                }
                ends[end].1 += 1;
                place.push((group, end as u32));
            }
            first_end.push(ends.len() as u32);
        }
        let of_link: Vec<_> = (0u32..).zip(view.group_links).map(|(place, &link)| (link, place)).collect();
        let count = (0..view.groups() as u32).map(|group| view.group(group).len() as u32).collect();
        Self {
            ends,
            first_end,
            count,
            links: view.group_links.to_vec(),
            first_link: view.group_start.to_vec(),
            place,
            places: Rows::new(net.links(), of_link.into_iter()),
        }
    }

    fn ends(&self, group: u32) -> &[(u32, u32)] {
        &self.ends[self.first_end[group as usize] as usize..self.first_end[group as usize + 1] as usize]
    }

    fn links(&self, group: u32) -> &[u32] {
        &self.links[self.first_link[group as usize] as usize..self.first_link[group as usize + 1] as usize]
    }

    fn groups_of(&self, link: u32) -> impl Iterator<Item = u32> {
        self.places.row(link).iter().map(|&place| self.place[place as usize].0)
    }

    /// Takes a link out of its groups, or puts it back.
    fn change(&mut self, link: u32, back: bool) {
        for &place in self.places.row(link) {
            let (group, end) = self.place[place as usize];
            for count in [&mut self.count[group as usize], &mut self.ends[end as usize].1] {
                *count = if back { *count + 1 } else { *count - 1 };
            }
        }
    }

    /// Returns the share of the packets of a group that is lost, given that share for each vertex.
    fn lost(&self, group: u32, at: impl Fn(usize) -> f64) -> f64 {
        let share = |&(vertex, count): &(u32, u32)| f64::from(count) * at(vertex as usize);
        match self.count[group as usize] {
            0 => 1.0,
            alive => self.ends(group).iter().map(share).sum::<f64>() / f64::from(alive),
        }
    }
}

/// Numbers, each once, in the order in which they were first named.
struct Marks {
    is: Vec<bool>,
    all: Vec<u32>,
}

impl Marks {
    fn new(count: usize) -> Self {
        Self { is: vec![false; count], all: vec![] }
    }

    fn add(&mut self, number: u32) {
        if !std::mem::replace(&mut self.is[number as usize], true) {
            self.all.push(number);
        }
    }
}

impl Ways {
    /// Follows all ways of a table without intermediate switches, by which all packets arrive. `sends`: per class and
    /// switch, the packets that enter there.
    pub fn new(net: &Network, view: View<'_>, sends: Vec<f64>) -> Result<Self, RouteError> {
        view.check(net)?;
        if !view.via_switch.is_empty() || sends.len() != view.classes * net.switches {
            return Err(RouteError::text("ways need a number per class and switch, and no intermediates"));
        }
        let mut made = Self {
            switches: net.switches,
            enters: (0..net.switches as u32).map(|switch| net.senders(switch) > 0).collect(),
            terminal: vec![NONE; view.classes],
            groups: Alive::new(net, view),
            columns: vec![],
            switch: vec![],
            group: vec![],
            column: vec![],
            flow: vec![],
            column_of: vec![NONE; view.classes],
            exit: vec![NONE; view.classes],
            exit_flow: vec![0.0; view.classes],
            users: Rows::default(),
            exits: Rows::default(),
            total: vec![0.0; view.groups()],
            load: vec![0.0; net.links()],
            alike: vec![false; view.classes],
            near: Near::new(net, view),
            sends,
        };
        made.follow(net, view)?;
        made.compare();
        made.flow = vec![0.0; made.switch.len()];
        let of = |groups: &[u32]| {
            let used = (0u32..).zip(groups).filter(|&(_, &group)| group != NONE);
            Rows::new(view.groups(), used.map(|(user, &group)| (group, user)))
        };
        (made.users, made.exits) = (of(&made.group), of(&made.exit));
        let columns: Vec<u32> = (0..made.columns.len() as u32).collect();
        let groups = Marks::new(view.groups());
        made.load = made
            .again(&Changes { all: true, ..Changes::default() }, &columns, groups, &mut Saved::default())
            .load;
        Ok(made)
    }

    /// Lists the rows of all columns.
    fn follow(&mut self, net: &Network, view: View<'_>) -> Result<(), RouteError> {
        let (targets, starts) = (view.targets(net), Starts::new(net, view));
        let mut walk = Walk::new(net, view, &targets);
        let mut known = vec![NONE; view.columns(net)];
        for (terminal, &class) in (0..net.terminals as u32).cycle().zip(view.terminal_class) {
            self.terminal[class as usize] = terminal;
            let (home, end) = (net.home(terminal), End::Terminal(terminal));
            let own = view.is_shared() && view.cell(net, home, view.column(class)) == OWN;
            if own {
                self.exit[class as usize] = view.class_exit[class as usize] >> 1;
            }
            let number = &mut known[view.column(class) as usize];
            if *number == NONE {
                walk.run(class, end, starts.of(net, end))?;
                *number = self.columns.len() as u32;
                let first = self.switch.len();
                self.switch.extend(&walk.order);
                let group = |&at: &u32| if own && at == home { NONE } else { walk.entry(at) >> 1 };
                self.group.extend(walk.order.iter().map(group));
                self.column.resize(self.switch.len(), *number);
                self.columns.push(Column { rows: first..self.switch.len(), classes: vec![], like: NONE });
                self.near.add(self.switches, &self.switch, first);
            }
            self.column_of[class as usize] = *number;
            self.columns[*number as usize].classes.push(class);
        }
        Ok(())
    }

    /// Returns what is left without `dead` links, where `switches` have other packets enter: `sends` has one number per
    /// class for each. `all`: with all columns followed again, which changes nothing.
    pub fn after(
        &mut self,
        dead: &[u32],
        switches: &[u32],
        sends: &[f64],
        all: bool,
    ) -> Result<Remains, RouteError> {
        let classes = self.column_of.len();
        if dead.iter().any(|&link| link as usize >= self.load.len())
            || switches.iter().any(|&switch| switch as usize >= self.switches)
            || sends.len() != switches.len() * classes
        {
            return Err(RouteError::text("there is no such link or switch, or a number is missing"));
        }
        let mut dead = dead.to_vec();
        dead.sort_unstable();
        dead.dedup();
        let mut columns = Marks::new(self.columns.len());
        let mut groups = Marks::new(self.total.len());
        for &link in &dead {
            self.groups.change(link, false);
            for group in self.groups.groups_of(link) {
                groups.add(group);
                self.users.row(group).iter().for_each(|&row| columns.add(self.column[row as usize]));
                self.exits.row(group).iter().for_each(|&class| columns.add(self.column_of[class as usize]));
            }
        }
        let mut saved = Saved::default();
        for (number, &packets) in sends.iter().enumerate().filter(|_| classes > 0) {
            let (switch, class) = (switches[number / classes] as usize, number % classes);
            let old = &mut self.sends[class * self.switches + switch];
            if old.to_bits() != packets.to_bits() && self.column_of[class] != NONE {
                columns.add(self.column_of[class]);
                saved.sends.push((class * self.switches + switch, std::mem::replace(old, packets)));
            }
        }
        if all {
            (0..self.columns.len() as u32).for_each(|column| columns.add(column));
        }
        columns.all.sort_unstable();
        let changes = Changes { dead: &dead, groups: groups.all.clone(), switches, all };
        let found = self.again(&changes, &columns.all, groups, &mut saved);
        self.restore(&dead, saved);
        Ok(found)
    }

    /// Follows some columns again; `changed`: groups that have lost links.
    fn again(
        &mut self,
        changes: &Changes<'_>,
        columns: &[u32],
        mut changed: Marks,
        saved: &mut Saved,
    ) -> Remains {
        let mut found = Remains { load: self.load.clone(), ..Remains::default() };
        let mut work = Work::new(self.switches);
        let mut before = None;
        for &column in columns {
            let first = (saved.flow.len(), found.class.len());
            match before.replace((column, first)) {
                Some((last, from)) if !changes.all && last + 1 == column && self.repeats(column, changes) => {
                    self.repeat(column, from, &mut changed, &mut found, saved);
                    continue;
                }
                _ if self.near.is_narrow() && !changes.all => {
                    self.follow_near(column, changes, &mut work, &mut changed, saved);
                }
                _ => self.spread(column, &mut work, &mut changed, saved),
            }
            self.lose(column, changes, &work, &mut changed, &mut found, saved);
        }
        let mut links = Marks::new(self.load.len());
        for &group in &changed.all {
            let rows = self.users.row(group).iter().map(|&row| self.flow[row as usize]);
            let exits = self.exits.row(group).iter().map(|&class| self.exit_flow[class as usize]);
            let total = rows.chain(exits).sum();
            saved.total.push((group, std::mem::replace(&mut self.total[group as usize], total)));
            self.groups.links(group).iter().for_each(|&link| links.add(link));
        }
        for link in links.all {
            let each = |group: u32| self.total[group as usize] / f64::from(self.groups.count[group as usize]);
            let runs = changes.dead.binary_search(&link).is_err();
            found.load[link as usize] = if runs { self.groups.groups_of(link).map(each).sum() } else { 0.0 };
        }
        found
    }

    /// Follows the packets of a column: first what is lost from each switch, then how many come there.
    fn spread(&mut self, column: u32, work: &mut Work, changed: &mut Marks, saved: &mut Saved) {
        let (switches, Column { rows, classes, .. }) = (self.switches, &self.columns[column as usize]);
        work.lost.fill(1.0);
        work.rows.clear();
        work.rows.extend(rows.start as u32..rows.end as u32);
        work.flow.fill(0.0);
        for &class in classes {
            let sends = &self.sends[class as usize * switches..][..switches];
            work.flow.iter_mut().zip(sends).for_each(|(flow, packets)| *flow += packets);
        }
        for row in rows.clone() {
            work.lost[self.switch[row] as usize] = self.lost_at(row, classes[0], &work.lost);
        }
        for row in rows.clone().rev().filter(|&row| self.group[row] != NONE) {
            let (group, through) = (self.group[row], work.flow[self.switch[row] as usize]);
            if self.flow[row].to_bits() != through.to_bits() {
                saved.flow.push((row as u32, std::mem::replace(&mut self.flow[row], through)));
                changed.add(group);
            }
            let each = through / f64::from(self.groups.count[group as usize].max(1));
            for &(vertex, count) in self.groups.ends(group).iter().filter(|end| (end.0 as usize) < switches) {
                work.flow[vertex as usize] += each * f64::from(count);
            }
        }
    }

    /// Returns the share of the packets for a class that is lost from a row on.
    fn lost_at(&self, row: usize, class: u32, lost: &[f64]) -> f64 {
        let at = |vertex: usize| match vertex.checked_sub(self.switches) {
            None => lost[vertex],
            Some(terminal) => f64::from(u8::from(self.terminal[class as usize] as usize != terminal)),
        };
        let group = self.group[row];
        if group == NONE { 0.0 } else { self.groups.lost(group, at) }
    }

    /// Lists what is lost of a column, and adds what comes to the exits of its classes.
    fn lose(
        &mut self,
        column: u32,
        changes: &Changes<'_>,
        work: &Work,
        changed: &mut Marks,
        found: &mut Remains,
        saved: &mut Saved,
    ) {
        let Column { rows, classes, .. } = &self.columns[column as usize];
        let comes = changes.all || !work.rows.is_empty() || !changes.switches.is_empty();
        let mut last = (NONE, 0.0);
        for &class in classes {
            let (exit, mut behind) = (self.exit[class as usize], 0.0);
            if exit != NONE {
                let own = self.switches + self.terminal[class as usize] as usize;
                behind = self.groups.lost(exit, |vertex| f64::from(u8::from(vertex != own)));
                if comes {
                    if last.0 == NONE || !self.sends_alike(last.0, class, changes.switches) {
                        let sends = &self.sends[class as usize * self.switches..][..self.switches];
                        last.1 =
                            sends.iter().zip(&work.lost).map(|(packets, lost)| packets * (1.0 - lost)).sum();
                    }
                    last.0 = class;
                    let old = &mut self.exit_flow[class as usize];
                    if old.to_bits() != last.1.to_bits() {
                        saved.exit_flow.push((class, std::mem::replace(old, last.1)));
                        changed.add(exit);
                    }
                }
            }
            let mut list = |switch: u32| {
                let before = work.lost[switch as usize];
                let lost = before + (1.0 - before) * behind;
                if self.enters[switch as usize] && lost > 0.0 {
                    found.class.push(class);
                    found.switch.push(switch);
                    found.lost.push(lost);
                }
            };
            if behind > 0.0 {
                self.switch[rows.clone()].iter().for_each(|&switch| list(switch));
            } else {
                work.rows.iter().for_each(|&row| list(self.switch[row as usize]));
            }
        }
    }

    /// Whether as many packets enter everywhere for a class as for the one before it, also at changed switches.
    fn sends_alike(&self, before: u32, class: u32, switches: &[u32]) -> bool {
        let at =
            |class: u32, switch: u32| self.sends[class as usize * self.switches + switch as usize].to_bits();
        self.alike[class as usize] && switches.iter().all(|&switch| at(before, switch) == at(class, switch))
    }

    /// Puts everything back.
    fn restore(&mut self, dead: &[u32], saved: Saved) {
        dead.iter().for_each(|&link| self.groups.change(link, true));
        saved.sends.into_iter().for_each(|(place, packets)| self.sends[place] = packets);
        saved.total.into_iter().for_each(|(group, total)| self.total[group as usize] = total);
        saved.flow.into_iter().for_each(|(row, flow)| self.flow[row as usize] = flow);
        saved.exit_flow.into_iter().for_each(|(class, flow)| self.exit_flow[class as usize] = flow);
    }
}

/// What is followed again, and why.
#[derive(Default)]
struct Changes<'a> {
    dead: &'a [u32],
    /// The groups with dead links.
    groups: Vec<u32>,
    /// The switches where other packets enter.
    switches: &'a [u32],
    /// Whether all rows of all columns are followed.
    all: bool,
}

/// What is known of a column while it is followed.
struct Work {
    /// Per switch: the share of its packets that is lost.
    lost: Vec<f64>,
    /// Per switch: the packets that come.
    flow: Vec<f64>,
    /// The rows from which packets may be lost, ascending.
    rows: Vec<u32>,
    /// Per switch: whether its row waits to be followed.
    queued: Vec<bool>,
}

impl Work {
    fn new(switches: usize) -> Self {
        let [lost, flow] = [1.0, 0.0].map(|number| vec![number; switches]);
        Self { lost, flow, rows: vec![], queued: vec![false; switches] }
    }
}

/// What was there before.
#[derive(Default)]
struct Saved {
    sends: Vec<(usize, f64)>,
    total: Vec<(u32, f64)>,
    /// By row.
    flow: Vec<(u32, f64)>,
    /// By class.
    exit_flow: Vec<(u32, f64)>,
}
