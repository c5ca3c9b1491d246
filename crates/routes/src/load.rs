//! Expected packets per link, and single paths.

use crate::blocks;
use crate::runs::Runs;
use crate::view::Targets;
use crate::walk::{End, Starts, Walk, ends};
use crate::{NONE, Network, RouteError, View, Word};

/// The traffic between terminals.
#[derive(Clone, Copy, Debug)]
pub enum Traffic<'a> {
    /// Every terminal sends one packet per unit, to any other terminal with equal probability.
    Uniform,
    /// Packets per unit for given pairs of terminals and aims.
    Pairs {
        /// Per pair: sending terminal.
        source: &'a [u32],
        /// Per pair: receiving terminal, or another aim of it, a place in [`View::terminal_class`].
        target: &'a [u32],
        /// Per pair: packets per unit.
        rate: &'a [f64],
    },
}

impl Traffic<'_> {
    fn check(&self, net: &Network, aims: usize) -> Result<(), RouteError> {
        let fault = match self {
            Traffic::Uniform if aims > net.terminals => "with several ways to a terminal, name the pairs",
            Traffic::Pairs { source, target, rate }
                if source.len() != target.len() || source.len() != rate.len() =>
            {
                "every pair needs a source, a target and a rate"
            }
            Traffic::Pairs { source, target, .. }
                if source.iter().any(|&terminal| terminal as usize >= net.terminals)
                    || target.iter().any(|&aim| aim as usize >= aims) =>
            {
                "a pair names a terminal that does not exist"
            }
            Traffic::Pairs { rate, .. } if rate.iter().any(|&rate| !(rate.is_finite() && rate >= 0.0)) => {
                "a rate must be a number of at least 0"
            }
            _ => return Ok(()),
        };
        Err(RouteError::text(fault))
    }

    /// Returns, per terminal, the packets per unit that it sends.
    fn sent(&self, net: &Network) -> Vec<f64> {
        match self {
            Traffic::Uniform => vec![if net.terminals > 1 { 1.0 } else { 0.0 }; net.terminals],
            Traffic::Pairs { source, rate, .. } => {
                let mut sent = vec![0.0; net.terminals];
                source.iter().zip(*rate).for_each(|(&s, &r)| sent[s as usize] += r);
                sent
            }
        }
    }

    /// Returns the indices of the pairs sorted by target (empty for uniform traffic).
    fn by_target(&self) -> Vec<u32> {
        match self {
            Traffic::Uniform => vec![],
            Traffic::Pairs { target, .. } => {
                let mut sorted: Vec<u32> = (0..target.len() as u32).collect();
                sorted.sort_by_key(|&pair| target[pair as usize]);
                sorted
            }
        }
    }
}

/// How a switch shares packets among the links of a group.
#[derive(Clone, Copy, Debug)]
pub enum Sharing<'a> {
    /// Evenly.
    Even,
    /// All on the way that is shortest by these lengths of links.
    Shortest(&'a [f64]),
}

/// Returns, per link, the expected packets per unit.
///
/// With intermediates, each is chosen with equal probability; a packet whose intermediate is its first switch continues
/// immediately. The sum over all links divided by all packets sent is the mean path length in links.
pub fn loads(
    net: &Network,
    view: View<'_>,
    traffic: Traffic<'_>,
    sharing: Sharing<'_>,
) -> Result<Vec<f64>, RouteError> {
    view.check(net)?;
    traffic.check(net, view.terminal_class.len())?;
    sharing.check(net)?;
    if net.switches == 0 {
        return Ok(over_one_cable(net, traffic));
    }
    let targets = view.targets(net);
    let is_large = !view.route_start.is_empty() || net.switches * view.columns(net) >= blocks::LARGE;
    let by_blocks = is_large && view.via_switch.is_empty();
    if let (Traffic::Uniform, Sharing::Even, true) = (traffic, sharing, by_blocks) {
        let runs = Runs::new(net, view, &targets);
        if let Some(group_load) = runs.and_then(|runs| blocks::uniform(net, &runs)) {
            let mut load = vec![0.0; net.links()];
            net.terminal_in.iter().chain(&net.terminal_out).for_each(|&link| load[link as usize] = 1.0);
            share(view, &group_load, &mut load);
            return Ok(load);
        }
    }
    let starts = Starts::new(net, view);
    let mut walk = Walk::new(net, view, &targets);
    let sent = traffic.sent(net);
    let mut sent_at = vec![0.0; net.switches];
    (0..net.terminals).for_each(|t| sent_at[net.entry(t as u32) as usize] += sent[t]);
    let mut origins = Origins { net, traffic, sorted: traffic.by_target(), next: 0 };
    let mut flow = vec![0.0; net.switches];
    let mut spill = Spill::new(net, view, &targets, sharing);
    let vias = view.via_switch.len() as f64;
    for (aim, (class, end)) in (0u32..).zip(ends(net, view)) {
        // Packets with the same paths are added and followed once.
        if !walk.repeats(class, end) {
            spill.all(&walk, &mut flow);
            walk.run(class, end, starts.of(net, end))?;
        }
        match end {
            End::Via(_) => (0..net.switches).for_each(|s| flow[s] += sent_at[s] / vias),
            End::Terminal(terminal) => {
                let total = origins.add((aim, terminal), &mut flow, view.via_switch.is_empty());
                spill.load[net.terminal_in[terminal as usize] as usize] += total;
                view.via_switch.iter().for_each(|&s| flow[s as usize] += total / vias);
            }
        }
    }
    spill.all(&walk, &mut flow);
    let mut load = spill.load();
    (0..net.terminals).for_each(|t| load[net.terminal_out[t] as usize] = sent[t]);
    Ok(load)
}

/// Shares the packets of each group evenly among its links.
fn share(view: View<'_>, group_load: &[f64], load: &mut [f64]) {
    for group in 0..view.groups() as u32 {
        let links = view.group(group);
        links.iter().for_each(|&link| load[link as usize] += group_load[group as usize] / links.len() as f64);
    }
}

/// Two terminals: the traffic of each is on its own output link.
fn over_one_cable(net: &Network, traffic: Traffic<'_>) -> Vec<f64> {
    let mut load = vec![0.0; net.links()];
    net.terminal_out.iter().zip(traffic.sent(net)).for_each(|(&link, sent)| load[link as usize] = sent);
    load
}

impl Sharing<'_> {
    fn check(&self, net: &Network) -> Result<(), RouteError> {
        match self {
            Sharing::Shortest(lengths) if lengths.len() != net.links() => {
                Err(RouteError::text("every link needs a length"))
            }
            Sharing::Shortest(lengths) if lengths.iter().any(|&one| !(one.is_finite() && one >= 0.0)) => {
                Err(RouteError::text("a length must be a number of at least 0"))
            }
            _ => Ok(()),
        }
    }
}

/// Distributes flow along the paths of a walk.
struct Spill<'a> {
    net: &'a Network,
    view: View<'a>,
    targets: &'a Targets,
    sharing: Sharing<'a>,
    load: Vec<f64>,
    /// Packets that the links of each group share evenly.
    group_load: Vec<f64>,
    /// Per switch: the first link of its shortest way, and the length of that.
    way: Vec<(u32, f64)>,
}

impl<'a> Spill<'a> {
    fn new(net: &'a Network, view: View<'a>, targets: &'a Targets, sharing: Sharing<'a>) -> Self {
        let (load, group_load) = (vec![0.0; net.links()], vec![0.0; view.groups()]);
        Self { net, view, targets, sharing, load, group_load, way: vec![(NONE, 0.0); net.switches] }
    }

    /// Distributes all flow along the paths of the last run, and leaves none.
    fn all(&mut self, walk: &Walk<'_>, flow: &mut [f64]) {
        match self.sharing {
            Sharing::Even => self.evenly(walk, flow),
            Sharing::Shortest(lengths) => self.shortest(walk, lengths, flow),
        }
        flow.fill(0.0);
    }

    fn evenly(&mut self, walk: &Walk<'_>, flow: &mut [f64]) {
        for &switch in walk.order.iter().rev() {
            let group = walk.entry(switch) >> 1;
            let through = std::mem::take(&mut flow[switch as usize]);
            let ends = self.targets.of(group).iter();
            for &(vertex, share) in ends.filter(|end| (end.0 as usize) < self.net.switches) {
                self.group_load[group as usize] += through * share;
                flow[vertex as usize] += through * share;
            }
        }
    }

    fn shortest(&mut self, walk: &Walk<'_>, lengths: &[f64], flow: &mut [f64]) {
        if let Some(via) = walk.via() {
            self.way[via as usize] = (NONE, 0.0);
        }
        for &switch in &walk.order {
            let group = self.view.group(walk.entry(switch) >> 1).iter();
            let ways = group.map(|&link| {
                let next = self.net.link_target[link as usize] as usize;
                (link, self.way.get(next).map_or(0.0, |way| way.1 + lengths[link as usize]))
            });
            let shortest = ways.min_by(|one, other| one.1.total_cmp(&other.1));
            self.way[switch as usize] = shortest.expect("a group has links");
        }
        for &switch in walk.order.iter().rev() {
            let through = std::mem::take(&mut flow[switch as usize]);
            let link = self.way[switch as usize].0 as usize;
            let next = self.net.link_target[link] as usize;
            if next < self.net.switches {
                self.load[link] += through;
                flow[next] += through;
            }
        }
    }

    /// Returns the packets per link between switches, and those into terminals that were added.
    fn load(self) -> Vec<f64> {
        let Self { view, mut load, group_load, .. } = self;
        share(view, &group_load, &mut load);
        load
    }
}

struct Origins<'a> {
    net: &'a Network,
    traffic: Traffic<'a>,
    sorted: Vec<u32>,
    next: usize,
}

impl Origins<'_> {
    /// Adds the packets with an aim where they start, if `direct`; returns their sum. Aims must be in order.
    fn add(&mut self, (aim, terminal): (u32, u32), flow: &mut [f64], direct: bool) -> f64 {
        match self.traffic {
            Traffic::Uniform if self.net.terminals < 2 => 0.0,
            Traffic::Uniform if !direct => 1.0,
            Traffic::Uniform => {
                let rate = 1.0 / (self.net.terminals - 1) as f64;
                (0..flow.len()).for_each(|s| flow[s] += f64::from(self.net.senders(s as u32)) * rate);
                flow[self.net.entry(terminal) as usize] -= rate;
                1.0
            }
            Traffic::Pairs { source, target, rate } => {
                let mut total = 0.0;
                while let Some(&pair) = self.sorted.get(self.next).filter(|&&p| target[p as usize] == aim) {
                    let pair = pair as usize;
                    if direct {
                        flow[self.net.entry(source[pair]) as usize] += rate[pair];
                    }
                    total += rate[pair];
                    self.next += 1;
                }
                total
            }
        }
    }
}

/// Returns the links from one terminal to the terminal of an aim, always the first of a group, through `via` (its index in the list of
/// intermediates) if given.
pub fn path(
    net: &Network,
    view: View<'_>,
    from: u32,
    to: u32,
    via: Option<u32>,
) -> Result<Vec<u32>, RouteError> {
    view.check(net)?;
    let known = (from as usize) < net.terminals && (to as usize) < view.terminal_class.len();
    if !known || via.is_some_and(|via| via as usize >= view.via_switch.len()) {
        return Err(RouteError::text("there is no such terminal or intermediate"));
    }
    let mut links = vec![net.terminal_out[from as usize]];
    let end = net.switches as u32 + to % net.terminals as u32;
    if let Some(via) = via {
        let end = view.via_switch[via as usize];
        follow(net, view, view.via_class[via as usize], end, &mut links)?;
    }
    follow(net, view, view.terminal_class[to as usize], end, &mut links)?;
    Ok(links)
}

fn follow(
    net: &Network,
    view: View<'_>,
    class: u32,
    end: u32,
    links: &mut Vec<u32>,
) -> Result<(), RouteError> {
    for _ in 0..=net.switches {
        let vertex = net.link_target[links[links.len() - 1] as usize];
        if vertex == end {
            return Ok(());
        }
        if vertex as usize >= net.switches || view.entry(net, vertex, class) == NONE {
            break;
        }
        links.push(view.group(view.entry(net, vertex, class) >> 1)[0]);
    }
    let mut switches: Vec<u32> = links.iter().map(|&link| net.link_target[link as usize]).collect();
    switches.retain(|&vertex| (vertex as usize) < net.switches);
    let aim = match end.checked_sub(net.switches as u32) {
        Some(terminal) => Word::Terminal(terminal),
        None => Word::Switch(end),
    };
    Err(RouteError::of(["packets for ".into(), aim, " do not arrive: ".into()]).then_path(&switches))
}
