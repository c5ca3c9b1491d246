//! Following all packets of one class from switch to switch, to check that all arrive.

use crate::view::Targets;
use crate::{NONE, Network, OWN, RouteError, View, Word};

/// Where the packets of a class end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// At a terminal.
    Terminal(u32),
    /// At an intermediate switch, without their first header.
    Via(u32),
}

/// A depth-first walk that is reused for one class after another.
pub(crate) struct Walk<'a> {
    net: &'a Network,
    view: View<'a>,
    targets: &'a Targets,
    /// Neighbouring columns, each with consecutive entries: reading a large table by columns would miss the cache at
    /// every switch.
    block: Vec<u32>,
    block_columns: std::ops::Range<usize>,
    column: std::ops::Range<usize>,
    last: Option<(u32, End)>,
    round: u32,
    /// Per switch: 2 * round while open, 2 * round + 1 when finished.
    state: Vec<u32>,
    stack: Vec<(u32, u32)>,
    /// Switches that the class reaches, each after all switches that it may go to next.
    pub(crate) order: Vec<u32>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(net: &'a Network, view: View<'a>, targets: &'a Targets) -> Self {
        Self {
            net,
            view,
            targets,
            block: vec![],
            block_columns: 0..0,
            column: 0..0,
            last: None,
            round: 0,
            state: vec![0; net.switches],
            stack: vec![],
            order: vec![],
        }
    }

    /// Returns the entry of a switch for the class of the last run.
    pub(crate) fn entry(&self, switch: u32) -> u32 {
        self.block[self.column.start + switch as usize]
    }

    /// Returns the intermediate switch at which the last run ended, if it was one.
    pub(crate) fn via(&self) -> Option<u32> {
        match self.last {
            Some((_, End::Via(switch))) => Some(switch),
            _ => None,
        }
    }

    /// Whether packets of `class` take exactly the paths of the last run up to the switch that delivers them, as those
    /// for terminals of one switch mostly do; nothing then has to be followed again.
    pub(crate) fn repeats(&self, class: u32, end: End) -> bool {
        let (Some((class_before, End::Terminal(before))), End::Terminal(now)) = (self.last, end) else {
            return false;
        };
        let (net, view) = (self.net, self.view);
        let home = net.home(now) as usize;
        let same = home == net.home(before) as usize && net.entry(now) == net.entry(before);
        let column = view.column(class) as usize;
        if !same || !self.block_columns.contains(&column) {
            return false;
        }
        if view.is_shared() && view.column(class_before) as usize == column {
            let exit = view.entry(net, home as u32, class);
            return exit != NONE && self.delivers(exit >> 1, now);
        }
        let start = (column - self.block_columns.start) * net.switches;
        let (ours, last) = (&self.block[start..start + net.switches], &self.block[self.column.clone()]);
        let alike = ours[..home] == last[..home] && ours[home + 1..] == last[home + 1..];
        alike && ours[home] != NONE && self.delivers(ours[home] >> 1, now)
    }

    /// Whether a group leads only to the terminal.
    fn delivers(&self, group: u32, terminal: u32) -> bool {
        matches!(self.targets.of(group), &[(vertex, _)] if vertex == self.net.switches as u32 + terminal)
    }

    /// Makes the column of a class the current one.
    fn select(&mut self, class: u32) {
        const BLOCK: usize = 64;
        let (switches, columns) = (self.net.switches, self.view.columns(self.net));
        let column = self.view.column(class) as usize;
        if !self.block_columns.contains(&column) {
            let last = (column + BLOCK).min(columns);
            self.block_columns = column..last;
            self.block.resize(switches * BLOCK, NONE);
            for switch in 0..switches {
                self.fill(switch, column..last);
            }
        }
        let start = (column - self.block_columns.start) * switches;
        self.column = start..start + switches;
        if let Some(&exit) = self.view.class_exit.get(class as usize).filter(|&&exit| exit != NONE) {
            let home = self.net.link_source[self.view.group(exit >> 1)[0] as usize] as usize;
            if self.view.cell(self.net, home as u32, column as u32) == OWN {
                self.block[start + home] = exit;
            }
        }
    }

    /// Writes the entries of a switch for some columns into the block.
    fn fill(&mut self, switch: usize, columns: std::ops::Range<usize>) {
        let switches = self.net.switches;
        let Some((ends, entries)) = self.view.runs(switch as u32) else {
            let row = switch * self.view.columns(self.net);
            for (place, &entry) in self.view.route[row + columns.start..row + columns.end].iter().enumerate()
            {
                self.block[place * switches + switch] = entry;
            }
            return;
        };
        let mut run = ends.partition_point(|&end| end as usize <= columns.start);
        for (place, column) in columns.enumerate() {
            run += usize::from(ends[run] as usize <= column);
            self.block[place * switches + switch] = entries[run];
        }
    }

    /// Follows `class` from every switch of `starts`; fails at the first loop, dead end or wrong arrival.
    pub(crate) fn run(
        &mut self,
        class: u32,
        end: End,
        starts: impl Iterator<Item = u32>,
    ) -> Result<(), RouteError> {
        self.round += 1;
        self.order.clear();
        self.select(class);
        for start in starts {
            let is_new = self.state[start as usize] < 2 * self.round && end != End::Via(start);
            if is_new && !self.net.leaves_out(self.entry(start)) {
                self.open(start, end)?;
                self.descend(end)?;
            }
        }
        self.last = Some((class, end));
        Ok(())
    }

    fn descend(&mut self, end: End) -> Result<(), RouteError> {
        while let Some((switch, place)) = self.stack.last_mut() {
            let here = *switch;
            let group = self.block[self.column.start + here as usize] >> 1;
            let Some(&(vertex, _)) = self.targets.of(group).get(*place as usize) else {
                self.state[here as usize] = 2 * self.round + 1;
                self.order.push(here);
                self.stack.pop();
                continue;
            };
            *place += 1;
            if vertex as usize >= self.net.switches {
                self.arrive(vertex - self.net.switches as u32, end)?;
            } else if end == End::Via(vertex) {
                if self.entry(here) & 1 == 0 {
                    return Err(self.fault(end, "keep their header at the intermediate switch", None));
                }
            } else {
                match self.state[vertex as usize] {
                    state if state < 2 * self.round => self.open(vertex, end)?,
                    state if state == 2 * self.round => {
                        return Err(self.fault(end, "run in a loop", Some(vertex)));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn open(&mut self, switch: u32, end: End) -> Result<(), RouteError> {
        self.state[switch as usize] = 2 * self.round;
        self.stack.push((switch, 0));
        let entry = self.entry(switch);
        if entry == NONE {
            return Err(self.fault(end, "come to a dead end", None));
        }
        let inner =
            |&(vertex, _): &(u32, f64)| (vertex as usize) < self.net.switches && end != End::Via(vertex);
        if entry & 1 == 1 && self.targets.of(entry >> 1).iter().any(inner) {
            return Err(self.fault(end, "lose their header before they arrive", None));
        }
        Ok(())
    }

    fn arrive(&self, terminal: u32, end: End) -> Result<(), RouteError> {
        if end == End::Terminal(terminal) {
            return Ok(());
        }
        let mut error = self.fault(end, "arrive elsewhere", None);
        error.words.extend([" > ".into(), Word::Terminal(terminal)]);
        Err(error)
    }

    /// "packets for X run in a loop: a > b > a".
    fn fault(&self, end: End, what: &str, last: Option<u32>) -> RouteError {
        let aim = match end {
            End::Terminal(terminal) => Word::Terminal(terminal),
            End::Via(switch) => Word::Switch(switch),
        };
        let mut switches: Vec<u32> = self.stack.iter().map(|&(switch, _)| switch).collect();
        switches.extend(last);
        if let Some(first) = last.and_then(|last| switches.iter().position(|&switch| switch == last)) {
            switches.drain(..first);
        }
        let words = ["packets for ".into(), aim, format!(" {what}: ").as_str().into()];
        RouteError::of(words).then_path(&switches)
    }
}

/// Returns every class with its end, terminals first, in the order of aims.
pub(crate) fn ends<'a>(net: &Network, view: View<'a>) -> impl Iterator<Item = (u32, End)> + use<'a> {
    let terminals = 0..net.terminals as u32;
    let terminals =
        terminals.cycle().zip(view.terminal_class).map(|(terminal, &class)| (class, End::Terminal(terminal)));
    terminals
        .chain(view.via_class.iter().zip(view.via_switch).map(|(&class, &switch)| (class, End::Via(switch))))
}

/// The switches where packets for `end` start: those that terminals send to, and the intermediates.
pub(crate) struct Starts {
    senders: Vec<u32>,
    switches: Vec<u32>,
    with_via: Vec<u32>,
}

impl Starts {
    pub(crate) fn new(net: &Network, view: View<'_>) -> Self {
        let senders: Vec<u32> = (0..net.switches as u32).map(|switch| net.senders(switch)).collect();
        let switches: Vec<u32> = (0..net.switches as u32).filter(|&s| senders[s as usize] > 0).collect();
        let mut with_via = switches.clone();
        with_via.extend(view.via_switch.iter().filter(|&&s| senders[s as usize] == 0));
        Self { senders, switches, with_via }
    }

    /// A terminal that is alone at its switch sends nothing to itself.
    pub(crate) fn of<'s>(&'s self, net: &Network, end: End) -> impl Iterator<Item = u32> + 's {
        let (switches, alone) = match end {
            End::Terminal(terminal) => {
                let entry = net.entry(terminal);
                (&self.with_via, if self.senders.get(entry as usize) == Some(&1) { entry } else { NONE })
            }
            End::Via(_) => (&self.switches, NONE),
        };
        switches.iter().copied().filter(move |&switch| switch != alone)
    }
}

/// Follows every class from every switch where its packets can start, through every link they may take.
///
/// The error names the destination and the switches on the path to the loop, dead end or wrong terminal.
pub fn verify(net: &Network, view: View<'_>) -> Result<(), RouteError> {
    view.check(net)?;
    let targets = view.targets(net);
    let starts = Starts::new(net, view);
    let mut walk = Walk::new(net, view, &targets);
    for (class, end) in ends(net, view) {
        if !walk.repeats(class, end) {
            walk.run(class, end, starts.of(net, end))?;
        }
    }
    Ok(())
}
