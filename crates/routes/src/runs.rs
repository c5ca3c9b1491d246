//! What a table says of itself by its runs: neighbouring columns with the same entry at a switch, looked at together.
//!
//! All entries count here, also those that no packet meets. If each leads on, to its own terminal at last, and nothing
//! waits in a cycle, then all packets arrive, because one that went round for ever would wait in a cycle, too. Trees of
//! thousands of switches have a few runs at each. Where this proves nothing, packets have to be followed class by class.
//!
//! And rows of a table that are kept as runs of equal entries while it is made column by column: a torus of 65,536
//! switches has 4,294,967,296 entries, and a few runs for each switch.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::depend::component;
use crate::view::Targets;
use crate::{NONE, Network, OWN, RouteError, View};

/// With more runs than this, and than a quarter of the entries, they save nothing.
pub(crate) const FEW: usize = 1 << 20;

/// With more runs than this, and than three quarters of the entries, following the packets is faster.
const SHORT: usize = 1 << 14;

/// More waits than this, a gigabyte, are taken together by switches.
const MANY: usize = 1 << 28;

/// Whether the runs of a table prove that all packets arrive and that none wait in a cycle; if not, [`crate::verify`]
/// and [`crate::dependency_cycle`] say more.
pub fn proved(net: &Network, view: View<'_>) -> Result<bool, RouteError> {
    view.check(net)?;
    Ok(prove(net, view))
}

/// The same of a table that has been checked.
pub(crate) fn prove(net: &Network, view: View<'_>) -> bool {
    if !view.via_switch.is_empty() || net.switches == 0 {
        return false;
    }
    let targets = view.targets(net);
    let Some(runs) = Runs::new(net, view, &targets).filter(|runs| runs.end()) else { return false };
    [false, true].into_iter().any(|coarse| runs.waits(coarse).is_some_and(|next| component(&next).is_none()))
}

pub(crate) struct Runs<'a> {
    net: &'a Network,
    view: View<'a>,
    targets: &'a Targets,
    /// Per switch and one more: its first run.
    start: Vec<usize>,
    /// Per run: the column after its last one, and the entry.
    runs: Vec<(u32, u32)>,
    /// Per column: the terminal that it leads to, if only one class has it.
    terminal: Vec<u32>,
}

impl<'a> Runs<'a> {
    pub(crate) fn new(net: &'a Network, view: View<'a>, targets: &'a Targets) -> Option<Self> {
        let columns = view.columns(net);
        if columns == 0 || view.terminal_class.len() > net.terminals {
            return None;
        }
        let mut terminal = vec![NONE; columns];
        for (number, &class) in (0u32..).zip(view.terminal_class) {
            let first = std::mem::replace(&mut terminal[view.column(class) as usize], number);
            if first != NONE && !view.is_shared() {
                return None;
            }
        }
        if !view.route_start.is_empty() {
            let start = view.route_start.iter().map(|&first| first as usize).collect();
            let runs = view.route_end.iter().copied().zip(view.route.iter().copied()).collect();
            return Some(Self { net, view, targets, start, runs, terminal });
        }
        let (mut start, mut runs) = (vec![0], vec![]);
        for row in view.route.chunks_exact(columns) {
            let mut last = row[0];
            for (column, &entry) in (0u32..).zip(row) {
                if entry != last {
                    runs.push((column, last));
                    last = entry;
                }
            }
            runs.push((columns as u32, last));
            start.push(runs.len());
            if runs.len() > FEW.max(view.route.len() / 4) {
                return None;
            }
        }
        if runs.len() > SHORT.max(view.route.len() / 4 * 3) {
            return None;
        }
        Some(Self { net, view, targets, start, runs, terminal })
    }

    /// Returns the runs of a switch: the column after each, and the entry.
    pub(crate) fn of(&self, switch: u32) -> &[(u32, u32)] {
        &self.runs[self.start[switch as usize]..self.start[switch as usize + 1]]
    }

    pub(crate) fn columns(&self) -> usize {
        self.terminal.len()
    }

    pub(crate) fn groups(&self) -> usize {
        self.view.groups()
    }

    pub(crate) fn column_of(&self, terminal: u32) -> u32 {
        self.view.column(self.view.terminal_class[terminal as usize])
    }

    /// Returns the vertices that an entry leads to, with the fraction of its links.
    pub(crate) fn targets(&self, entry: u32) -> impl Iterator<Item = (u32, f64)> + 'a {
        self.targets.of(entry >> 1).iter().copied()
    }

    /// Returns, numbered, the switches that an entry leads to for columns `first..last`; None for one that leads nowhere, or
    /// to another terminal than that of the only column.
    pub(crate) fn onward_of(
        &self,
        entry: u32,
        first: usize,
        last: usize,
    ) -> Option<impl Iterator<Item = (usize, (u32, f64))> + 'a> {
        let switches = self.net.switches as u32;
        let group = match entry {
            NONE => return None,
            OWN if self.view.is_shared() => &[],
            _ => self.targets.of(entry >> 1),
        };
        let ends = group.iter().filter(|end| end.0 >= switches).count();
        let right = || last - first == 1 && group[0].0 - switches == self.terminal[first];
        if ends > 0 && (ends != 1 || group.len() > 1 || self.view.is_shared() || !right()) {
            return None;
        }
        Some(group[..group.len() - ends].iter().copied().enumerate())
    }

    /// Whether packets can begin everywhere, and what leads to a terminal leads to the right one.
    fn end(&self) -> bool {
        let switches = self.net.switches as u32;
        // No terminal has the number NONE of a column without one.
        let ends_at = |group: u32, terminal: u32| matches!(self.targets.of(group), &[(vertex, _)] if vertex.checked_sub(switches) == Some(terminal));
        let right = |switch: u32| {
            let mut first = 0;
            self.of(switch).iter().all(|&(end, entry)| {
                let column = std::mem::replace(&mut first, end);
                match entry {
                    NONE => self.net.senders(switch) == 0 || self.net.leaves_out(entry),
                    OWN if self.view.is_shared() => true,
                    _ if entry & 1 == 1 => false,
                    _ if self.targets.of(entry >> 1).iter().all(|&(vertex, _)| vertex < switches) => true,
                    _ => {
                        !self.view.is_shared()
                            && end == column + 1
                            && ends_at(entry >> 1, self.terminal[column as usize])
                    }
                }
            })
        };
        let exits = (0u32..).zip(self.view.terminal_class).all(|(terminal, &class)| {
            let exit = self.view.class_exit.get(class as usize).copied();
            exit.is_none_or(|exit| {
                exit & 1 == 0 && (exit as usize >> 1) < self.view.groups() && ends_at(exit >> 1, terminal)
            })
        });
        exits && (0..switches).all(right)
    }

    /// Returns what waits for what: links for their ways on, these for groups, and groups for their links. A way on is
    /// that of a group over one neighbour, the same for all with the same groups, or `coarse` over any: a switch. None if
    /// these are too many, or one leads nowhere.
    fn waits(&self, coarse: bool) -> Option<Vec<Vec<u32>>> {
        let (links, groups, switches) =
            (self.net.links() as u32, self.view.groups() as u32, self.net.switches);
        let mut next: Vec<Vec<u32>> = vec![vec![]; links as usize];
        next.extend((0..groups).map(|group| self.view.group(group).to_vec()));
        if coarse {
            next.resize(next.len() + switches, vec![]);
            for (list, &end) in
                next.iter_mut().zip(&self.net.link_target).filter(|(_, end)| (**end as usize) < switches)
            {
                list.push(links + groups + end);
            }
        }
        let (mut seen, mut way, mut count, mut after) = (vec![0; groups as usize], 0, 0, vec![]);
        // By a hash of their groups, which are compared in their place: a copy as the key would double the memory.
        let mut ways: HashMap<u64, u32> = HashMap::new();
        for switch in 0..switches as u32 {
            let mut first = 0;
            let mut own: Vec<(u32, u32, u32)> = self
                .of(switch)
                .iter()
                .map(|&(end, entry)| (entry, std::mem::replace(&mut first, end), end))
                .filter(|run| run.0 != NONE && run.0 != OWN)
                .collect();
            own.sort_unstable();
            for same in own.chunk_by(|one, other| one.0 == other.0) {
                let group = same[0].0 >> 1;
                for &(vertex, _) in self.targets.of(group).iter().filter(|end| (end.0 as usize) < switches) {
                    // Each way, or switch, has each group once.
                    way = if coarse { vertex + 1 } else { way + 1 };
                    after.clear();
                    for &(_, begin, end) in same {
                        self.onward(vertex, begin, end, |entry| {
                            if entry != OWN && seen[entry as usize >> 1] != way {
                                seen[entry as usize >> 1] = way;
                                after.push(links + (entry >> 1));
                            }
                        })?;
                    }
                    if coarse {
                        count += after.len();
                        next[(links + groups + vertex) as usize].append(&mut after);
                        continue;
                    }
                    let mut hash = DefaultHasher::new();
                    after.hash(&mut hash);
                    let like =
                        ways.get(&hash.finish()).copied().filter(|&place| next[place as usize] == after);
                    let place = like.unwrap_or_else(|| {
                        count += after.len();
                        next.push(after.clone());
                        ways.insert(hash.finish(), next.len() as u32 - 1);
                        next.len() as u32 - 1
                    });
                    for &link in
                        self.view.group(group).iter().filter(|&&l| self.net.link_target[l as usize] == vertex)
                    {
                        next[link as usize].push(place);
                    }
                    if count > MANY {
                        return None;
                    }
                }
            }
        }
        Some(next)
    }

    /// Calls with the entries of a switch for some columns; None if one is missing.
    fn onward(&self, switch: u32, begin: u32, end: u32, mut call: impl FnMut(u32)) -> Option<()> {
        let runs = self.of(switch);
        for &(last, entry) in &runs[runs.partition_point(|run| run.0 <= begin)..] {
            if entry == NONE {
                return None;
            }
            call(entry);
            if last >= end {
                break;
            }
        }
        Some(())
    }
}

/// The most runs of a table: half a gigabyte.
pub const MOST_RUNS: usize = 1 << 26;

/// The start of each row; the column after each run, its entry and its layer.
pub(crate) type Rows = (Vec<u32>, Vec<u32>, Vec<u32>, Vec<u8>);

#[derive(Default)]
pub(crate) struct Growing {
    /// Per switch: entry and layer of the present column.
    last: Vec<(u32, u8)>,
    /// Per switch: its complete runs: the column after each, its entry and its layer.
    runs: Vec<Vec<(u32, u32, u8)>>,
    /// The present column.
    column: u32,
    count: usize,
    /// Whether layers are kept.
    pub is_layered: bool,
}

impl Growing {
    pub fn new(switches: usize) -> Self {
        Self { last: vec![(NONE, 0); switches], runs: vec![vec![]; switches], ..Self::default() }
    }

    pub fn is_used(&self) -> bool {
        self.column > 0
    }

    /// Sets entry and layer of a switch from the present column on.
    pub fn put(&mut self, switch: u32, entry: u32, layer: u8) {
        let before = std::mem::replace(&mut self.last[switch as usize], (entry, layer));
        if before != (entry, layer) {
            let runs = &mut self.runs[switch as usize];
            // A column that is set twice ends no run.
            if self.column > runs.last().map_or(0, |run| run.0) {
                runs.push((self.column, before.0, before.1));
                self.count += 1;
            }
        }
    }

    /// Goes on to the next column.
    pub fn next(&mut self) -> Result<(), RouteError> {
        self.column += 1;
        if self.count <= MOST_RUNS {
            return Ok(());
        }
        let (switches, columns) = (self.runs.len(), self.column);
        Err(RouteError::text(format!(
            "the routes of {switches} switches to the first {columns} others are more than {MOST_RUNS} runs of \
             neighbours with the same links; take fewer switches"
        )))
    }

    /// Whether the runs so far save memory and time.
    pub fn is_few(&self) -> bool {
        self.count <= FEW.max(self.runs.len() * self.column as usize / 4)
    }

    pub fn finish(self) -> Rows {
        let mut found: Rows = (vec![0], vec![], vec![], vec![]);
        let (start, end, route, layers) = (&mut found.0, &mut found.1, &mut found.2, &mut found.3);
        for (row, last) in self.runs.into_iter().zip(self.last) {
            for (column, entry, layer) in row.into_iter().chain([(self.column, last.0, last.1)]) {
                end.push(column);
                route.push(entry);
                layers.extend(self.is_layered.then_some(layer));
            }
            start.push(route.len() as u32);
        }
        found
    }
}
