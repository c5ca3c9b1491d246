//! Builds a table from a scheme.

use std::collections::HashMap;

use crate::runs::Growing;
use crate::{Groups, NONE, Network, OWN, RouteError, Scheme, Toward, Word};

/// How the links of a group are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Grouped adaptive: any link of the group.
    Adaptive,
    /// Deterministic: destinations are assigned to the links in turn, counting at every switch only those whose packets
    /// can arrive there. In networks with several stages every stage therefore distributes independently.
    Turns,
    /// Deterministic: every link gets a block of consecutive destinations, as interval labels can express. The first
    /// block belongs to another link at every switch, so that no destination is reached over the same centre switch
    /// from everywhere.
    Runs,
}

/// What to build besides the plain table.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// How the links of a group are used.
    pub spread: Spread,
    /// Switches that may be random intermediates.
    pub via: &'a [u32],
    /// Adaptive tables with more entries than this have a column per switch: its terminals share it.
    pub shared_above: usize,
    /// Tables of such columns with more entries than this, and without intermediates, are kept as runs if these are few.
    pub runs_above: usize,
}

/// Groups of links and, per switch and class, the entry `group * 2 + strip`.
///
/// Class `t` leads to terminal `t`; class `terminals + i` to the intermediate switch `via[i]`.
#[derive(Clone, Debug)]
pub struct Table {
    /// The groups.
    pub groups: Groups,
    /// Switch by column, or by run of columns.
    pub route: Vec<u32>,
    /// Per switch and one more: start of its runs in `route`; empty: each column has an entry of its own.
    pub route_start: Vec<u32>,
    /// Per run: the column after its last one.
    pub route_end: Vec<u32>,
    /// Number of classes.
    pub classes: usize,
    /// Per class: its column; empty: each class has one.
    pub class_column: Vec<u32>,
    /// Per class, if there are columns: its entry where that of the column is [`OWN`].
    pub class_exit: Vec<u32>,
    /// Of each run, or by destination (switches with terminals, then intermediates) and switch: the number that the scheme
    /// gives to packets, see [`Toward::layer`]; empty: none.
    pub layer: Vec<u8>,
}

/// The largest table, in entries: half a gigabyte.
pub const MOST_ENTRIES: usize = 1 << 27;

/// The most pairs of a switch and a destination that are looked at one by one: more take minutes.
pub const MOST_PAIRS: usize = 1 << 30;

/// Builds the table of a scheme.
pub fn assemble(net: &Network, scheme: &mut impl Scheme, options: Options) -> Result<Table, RouteError> {
    let classes = net.terminals + options.via.len();
    let shared =
        options.spread == Spread::Adaptive && net.switches.saturating_mul(classes) > options.shared_above;
    let homes = (0..net.switches as u32).filter(|&switch| !net.residents(switch).is_empty()).count();
    let columns = if shared { homes + options.via.len() } else { classes };
    let entries = net.switches.saturating_mul(columns);
    let as_runs = shared && options.via.is_empty() && entries > options.runs_above;
    if as_runs && entries > scheme.most_pairs() {
        let (switches, most) = (net.switches, scheme.most_pairs());
        return Err(RouteError::text(format!(
            "{switches} switches and {columns} to send to are {entries} pairs, more than the {most} that are looked at; \
             take fewer switches"
        )));
    }
    if !as_runs && entries > MOST_ENTRIES {
        return Err(RouteError::text(format!(
            "a routing table of {} switches by {columns} destinations has {entries} entries; at most {MOST_ENTRIES}",
            net.switches
        )));
    }
    if let Some(&switch) = options.via.iter().find(|&&switch| switch as usize >= net.switches) {
        return Err(RouteError::text(format!("there is no intermediate switch {switch}")));
    }
    let mut maker = Maker::new(net, options, if as_runs { 0 } else { columns });
    if shared {
        maker.class_column = vec![0; classes];
        maker.class_exit = vec![NONE; classes];
    }
    if as_runs {
        if maker.growing(scheme, entries > MOST_ENTRIES)? {
            return Ok(maker.finish(classes));
        }
        maker.restart(columns);
    }
    let mut toward = Toward::default();
    for to in 0..net.switches as u32 {
        if net.residents(to).is_empty() {
            continue;
        }
        toward.reset(net.switches);
        scheme.toward(net, &mut maker.candidates, to, &mut toward)?;
        maker.layer.extend_from_slice(&toward.layer);
        maker.terminals(to, &toward)?;
    }
    maker.flush();
    for (place, &to) in options.via.iter().enumerate() {
        toward.reset(net.switches);
        scheme.toward(net, &mut maker.candidates, to, &mut toward)?;
        maker.layer.extend_from_slice(&toward.layer);
        maker.intermediate(to, (net.terminals + place) as u32, &toward)?;
    }
    Ok(maker.finish(classes))
}

/// Columns that are written together: a line of the cache.
const BLOCK: usize = 16;

struct Maker<'a> {
    net: &'a Network,
    spread: Spread,
    columns: usize,
    /// Columns taken, where classes share them.
    taken: u32,
    /// The last columns, row by row, not yet in the table: written one by one each entry would miss the cache.
    block: Vec<u32>,
    /// How many these are.
    pending: usize,
    class_column: Vec<u32>,
    class_exit: Vec<u32>,
    /// Groups as the scheme allows them; those of the table itself if it is adaptive.
    candidates: Groups,
    /// Groups of single links.
    single: Groups,
    /// Per candidate group: number of destinations assigned so far.
    dealt: Vec<u32>,
    route: Vec<u32>,
    layer: Vec<u8>,
    /// The rows, if they are kept as runs.
    growing: Growing,
    /// Entries of the classes assigned last, class by class.
    assigned: Vec<u32>,
    starts: Vec<bool>,
    reached: Vec<u32>,
}

impl<'a> Maker<'a> {
    fn new(net: &'a Network, options: Options, columns: usize) -> Self {
        let mut starts: Vec<bool> = (0..net.switches as u32).map(|switch| net.senders(switch) > 0).collect();
        options.via.iter().for_each(|&switch| starts[switch as usize] = true);
        Self {
            net,
            spread: options.spread,
            columns,
            taken: 0,
            block: vec![],
            pending: 0,
            class_column: vec![],
            class_exit: vec![],
            candidates: Groups::new(net),
            single: Groups::new(net),
            dealt: vec![],
            route: vec![NONE; net.switches * columns],
            layer: vec![],
            growing: Growing::default(),
            assigned: vec![],
            starts,
            reached: vec![NONE; net.switches],
        }
    }

    fn terminals(&mut self, to: u32, toward: &Toward) -> Result<(), RouteError> {
        let residents = self.net.residents(to);
        self.complete(to, toward, residents[0])?;
        if !self.class_column.is_empty() {
            self.column(to, residents, toward);
            return Ok(());
        }
        for &terminal in residents {
            let link = self.net.terminal_in[terminal as usize];
            let groups = if self.spread != Spread::Turns { &mut self.candidates } else { &mut self.single };
            let local = groups.link(self.net, link);
            self.route[to as usize * self.columns + terminal as usize] = local * 2;
        }
        if self.spread != Spread::Turns {
            for &switch in &toward.order {
                let row = switch as usize * self.columns;
                for &terminal in residents {
                    self.route[row + terminal as usize] = toward.group[switch as usize] * 2;
                }
            }
            return Ok(());
        }
        for &terminal in residents {
            self.deal(terminal, toward);
        }
        // Row by row: writing a large table by columns would miss the cache at every switch.
        for &switch in &toward.order {
            let row = switch as usize * self.columns;
            for (place, &terminal) in residents.iter().enumerate() {
                self.route[row + terminal as usize] =
                    self.assigned[place * self.net.switches + switch as usize];
            }
        }
        self.assigned.clear();
        Ok(())
    }

    /// Makes the table as runs, column by column; where the scheme knows, only what changes is looked at. Returns false
    /// where runs are too many to save anything, unless there `must` be runs.
    fn growing(&mut self, scheme: &mut impl Scheme, must: bool) -> Result<bool, RouteError> {
        let net = self.net;
        self.growing = Growing::new(net.switches);
        let (mut toward, mut changes, mut before) = (Toward::default(), vec![], None);
        for to in (0..net.switches as u32).filter(|&to| !net.residents(to).is_empty()) {
            let known = match before.replace(to) {
                Some(before) => scheme.changes(net, &mut self.candidates, (before, to), &mut changes)?,
                None => false,
            };
            if known {
                changes.iter().for_each(|&(switch, group, layer)| self.growing.put(switch, group * 2, layer));
            } else {
                toward.reset(net.switches);
                scheme.toward(net, &mut self.candidates, to, &mut toward)?;
                self.complete(to, &toward, net.residents(to)[0])?;
                for (switch, &group) in (0u32..).zip(&toward.group) {
                    let layer = toward.layer.get(switch as usize).copied().unwrap_or(0);
                    self.growing.put(switch, if group == NONE { NONE } else { group * 2 }, layer);
                }
            }
            self.growing.put(to, OWN, 0);
            self.growing.next()?;
            self.exits(net.residents(to));
            if !must && !self.growing.is_few() {
                return Ok(false);
            }
        }
        self.growing.is_layered = !toward.layer.is_empty();
        Ok(true)
    }

    /// Begins again with an entry for each column; groups keep their numbers.
    fn restart(&mut self, columns: usize) {
        self.growing = Growing::default();
        (self.columns, self.taken) = (columns, 0);
        self.route = vec![NONE; self.net.switches * columns];
    }

    /// Takes the next column for the terminals of a switch, and gives each its own exit.
    fn exits(&mut self, residents: &[u32]) {
        self.take(residents);
        for &terminal in residents {
            let link = self.net.terminal_in[terminal as usize];
            self.class_exit[terminal as usize] = self.candidates.link(self.net, link) * 2;
        }
    }

    /// Writes the column that terminals of a switch share.
    fn column(&mut self, to: u32, residents: &[u32], toward: &Toward) {
        self.exits(residents);
        self.block.resize(self.net.switches * BLOCK, NONE);
        self.block[to as usize * BLOCK + self.pending] = OWN;
        for &switch in &toward.order {
            self.block[switch as usize * BLOCK + self.pending] = toward.group[switch as usize] * 2;
        }
        self.pending += 1;
        if self.pending == BLOCK {
            self.flush();
        }
    }

    /// Puts the last columns into the table.
    fn flush(&mut self) {
        let (last, pending) = (self.taken as usize, std::mem::take(&mut self.pending));
        let rows = self.route.chunks_exact_mut(self.columns.max(1)).zip(self.block.chunks_exact(BLOCK));
        rows.for_each(|(row, own)| row[last - pending..last].copy_from_slice(&own[..pending]));
        self.block.fill(NONE);
    }

    /// Returns the next column, from now on that of these classes.
    fn take(&mut self, classes: &[u32]) -> usize {
        classes.iter().for_each(|&class| self.class_column[class as usize] = self.taken);
        self.taken += 1;
        self.taken as usize - 1
    }

    fn intermediate(&mut self, to: u32, class: u32, toward: &Toward) -> Result<(), RouteError> {
        let missing = (0..self.net.switches as u32)
            .find(|&s| s != to && self.net.senders(s) > 0 && toward.group[s as usize] == NONE);
        if let Some(switch) = missing {
            let words =
                ["no way from ".into(), Word::Switch(switch), " to intermediate ".into(), Word::Switch(to)];
            return Err(RouteError::of(words));
        }
        let column = if self.class_column.is_empty() { class as usize } else { self.take(&[class]) };
        if self.spread != Spread::Turns {
            for &switch in &toward.order {
                self.route[switch as usize * self.columns + column] = toward.group[switch as usize] * 2;
            }
        } else {
            self.deal(class, toward);
            for &switch in &toward.order {
                self.route[switch as usize * self.columns + column] = self.assigned[switch as usize];
            }
            self.assigned.clear();
        }
        let groups = if self.spread != Spread::Turns { &self.candidates } else { &self.single };
        for &switch in &toward.order {
            let entry = &mut self.route[switch as usize * self.columns + column];
            let links = groups.group(*entry >> 1);
            let entering = links.iter().filter(|&&link| self.net.link_target[link as usize] == to).count();
            if entering == links.len() {
                *entry |= 1;
            } else if entering > 0 {
                return Err(RouteError::text(
                    "a group leads partly to an intermediate switch and partly past it",
                ));
            }
        }
        Ok(())
    }

    /// Checks that every switch where packets start has a path to the destination.
    fn complete(&self, to: u32, toward: &Toward, terminal: u32) -> Result<(), RouteError> {
        let stuck = |&s: &u32| s != to && self.starts[s as usize] && toward.group[s as usize] == NONE;
        match (0..self.net.switches as u32).find(stuck) {
            Some(switch) => Err(RouteError::of([
                "no way from ".into(),
                Word::Switch(switch),
                " to ".into(),
                Word::Terminal(terminal),
                " at ".into(),
                Word::Switch(to),
            ])),
            None => Ok(()),
        }
    }

    /// Assigns one class, farthest switches first, so that it is known whether its packets arrive at a switch before
    /// the switch assigns them; appends the entries to `assigned`.
    fn deal(&mut self, class: u32, toward: &Toward) {
        let start = self.assigned.len();
        self.assigned.resize(start + self.net.switches, NONE);
        self.dealt.resize(self.candidates.switch.len(), 0);
        for &switch in toward.order.iter().rev() {
            let group = toward.group[switch as usize];
            let links = self.candidates.group(group);
            let comes = self.starts[switch as usize] || self.reached[switch as usize] == class;
            let turn = if comes { self.dealt[group as usize] } else { class };
            self.dealt[group as usize] += u32::from(comes);
            let link = links[turn as usize % links.len()];
            let target = self.net.link_target[link as usize];
            if comes {
                self.reached[target as usize] = class;
            }
            self.assigned[start + switch as usize] = self.single.link(self.net, link) * 2;
        }
    }

    fn finish(mut self, classes: usize) -> Table {
        if self.spread == Spread::Runs {
            (0..self.net.switches).for_each(|switch| self.runs(switch));
        }
        let groups = if self.spread == Spread::Adaptive { self.candidates } else { self.single };
        let (class_column, class_exit) = (self.class_column, self.class_exit);
        let rows = (vec![], vec![], self.route, self.layer);
        let (route_start, route_end, route, layer) =
            if self.growing.is_used() { self.growing.finish() } else { rows };
        Table { groups, route, route_start, route_end, classes, class_column, class_exit, layer }
    }

    /// Replaces the groups of one switch by single links, each for a block of consecutive destinations.
    ///
    /// Where one group carries all but the switch's own terminals these are counted too: all such switches then divide
    /// the destinations at the same places.
    fn runs(&mut self, switch: usize) {
        let (row, terminals) = (switch * self.columns, self.net.terminals);
        let own = self.net.residents(switch as u32).len();
        let senders = self.starts.iter().filter(|&&start| start).count().max(1);
        let mut users: HashMap<u32, (usize, usize)> = HashMap::new();
        for &entry in self.route[row..row + terminals].iter().filter(|&&entry| entry != NONE) {
            users.entry(entry >> 1).or_default().0 += 1;
        }
        for class in 0..self.columns {
            let entry = self.route[row + class];
            if entry == NONE {
                continue;
            }
            let links = self.candidates.group(entry >> 1);
            let place = match users.get_mut(&(entry >> 1)) {
                _ if class >= terminals => class - terminals,
                Some((all, _)) if *all + own == terminals => class * links.len() / terminals,
                Some((all, rank)) => {
                    *rank += 1;
                    (*rank - 1) * links.len() / *all
                }
                None => unreachable!("every group of a terminal was counted"),
            };
            let turn = switch * (links.len() / senders).max(1);
            let link = links[(place + turn) % links.len()];
            self.route[row + class] = (self.single.link(self.net, link) * 2) | (entry & 1);
        }
    }
}
