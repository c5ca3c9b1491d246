//! The channel dependency graph: which links a packet may hold while it waits for which others.
//!
//! W. J. Dally and C. L. Seitz, Deadlock-free message routing in multiprocessor interconnection networks,
//! IEEE Transactions on Computers C-36 (1987): without a cycle there is no deadlock.

use std::collections::HashMap;

use crate::runs::prove;
use crate::walk::{End, Starts, Walk, ends};
use crate::{NONE, Network, RouteError, View};

/// Returns a cycle of links, each of whose packets may wait for the next, the last for the first; None if there is
/// none.
///
/// Only packets that can really occur count. A packet that may choose among the links of a group depends on all of
/// them, which is the conservative reading. `tried`: [`crate::proved`] has looked at the table, and proved nothing.
pub fn dependency_cycle(net: &Network, view: View<'_>, tried: bool) -> Result<Option<Vec<u32>>, RouteError> {
    view.check(net)?;
    cycle_beyond(net, view, MANY, tried)
}

/// The same, with the pairs of groups from which on the network is looked at coarsely first.
fn cycle_beyond(
    net: &Network,
    view: View<'_>,
    many: usize,
    tried: bool,
) -> Result<Option<Vec<u32>>, RouteError> {
    let mut proof = None;
    // Most tables that have a cycle show it among the first pairs, and the proof that others have none takes longer.
    let enough = |waits: &Waits| {
        component(&dependencies(net, view, waits)).is_some()
            || *proof.get_or_insert_with(|| !tried && prove(net, view))
    };
    let found = waits(net, view, many, enough)?;
    if proof == Some(true) {
        return Ok(None);
    }
    let next = match found {
        Some(waits) => dependencies(net, view, &waits),
        None if component(&coarse(net, view)?).is_none() => return Ok(None),
        None => all_dependencies(net, view)?,
    };
    let links = net.links();
    Ok(component(&next).map(|members| {
        let cycle = shortest_cycle(&next, &members);
        cycle.into_iter().filter(|&vertex| (vertex as usize) < links).collect()
    }))
}

/// Returns the links in an order in which every packet takes them, a certificate that no packets can wait in a cycle;
/// None if there is none. Links between switches that no packet waits on or for are left out. Links to terminals come
/// last: no packet waits on them, and not all waits for them are looked up. The first link of a ring stands for it.
pub fn channel_order(net: &Network, view: View<'_>) -> Result<Option<Vec<u32>>, RouteError> {
    view.check(net)?;
    let Some(mut order) = order_of(&all_dependencies(net, view)?) else { return Ok(None) };
    let ends = |link: u32| net.link_target[link as usize] as usize >= net.switches;
    order.retain(|&vertex| (vertex as usize) < net.links() && !ends(vertex));
    order.extend((0..net.links() as u32).filter(|&link| ends(link)));
    Ok(Some(order))
}

/// Returns the vertices with arcs in an order in which these go forward; None if some close a cycle.
pub(crate) fn order_of(next: &[Vec<u32>]) -> Option<Vec<u32>> {
    let mut before = vec![0u32; next.len()];
    next.iter().flatten().for_each(|&vertex| before[vertex as usize] += 1);
    let used: Vec<bool> = (0..next.len()).map(|v| before[v] > 0 || !next[v].is_empty()).collect();
    let mut order: Vec<u32> = (0..next.len() as u32).filter(|&vertex| before[vertex as usize] == 0).collect();
    let mut at = 0;
    while let Some(&vertex) = order.get(at) {
        at += 1;
        for &after in &next[vertex as usize] {
            before[after as usize] -= 1;
            if before[after as usize] == 0 {
                order.push(after);
            }
        }
    }
    let all = order.len() == next.len();
    order.retain(|&vertex| used[vertex as usize]);
    all.then_some(order)
}

/// With more pairs of groups than this, they are first taken together.
const MANY: usize = 1 << 25;

fn all_dependencies(net: &Network, view: View<'_>) -> Result<Vec<Vec<u32>>, RouteError> {
    let waits = waits(net, view, usize::MAX, |_| false)?.expect("there is no limit");
    Ok(dependencies(net, view, &waits))
}

/// Returns what may wait for what: vertices are links, then groups, then turns; a link waits for groups and turns, a turn
/// for groups, a group consists of links. The first link of a ring stands for all of them, and waits for none.
fn dependencies(net: &Network, view: View<'_>, waits: &Waits) -> Vec<Vec<u32>> {
    let links = net.links();
    let mut next: Vec<Vec<u32>> = vec![vec![]; links];
    for &(before, after) in &waits.pairs {
        let switch = net.link_source[view.group(after)[0] as usize];
        let waiting = |&&link: &&u32| {
            net.link_target[link as usize] == switch && !net.stays_in_ring(link, view.group(after))
        };
        for &link in view.group(before).iter().filter(waiting) {
            next[link as usize].push(links as u32 + after);
        }
    }
    for list in &mut next {
        list.sort_unstable();
        list.dedup();
    }
    next.extend((0..view.groups() as u32).map(|group| view.group(group).to_vec()));
    for turn in &waits.turns {
        // Links of the same ring wait alike.
        let mut alike = HashMap::new();
        for &link in &turn.links {
            let vertex = *alike.entry(net.ring_of(link)).or_insert_with(|| {
                let leaves = |&&after: &&u32| !net.stays_in_ring(link, view.group(after));
                next.push(turn.after.iter().filter(leaves).map(|&after| links as u32 + after).collect());
                next.len() as u32 - 1
            });
            next[link as usize].push(vertex);
        }
    }
    if let Some(first) = net.first_of_rings() {
        take_together(&mut next, &first);
    }
    next
}

/// Gives the waits of links, and those for them, to the links that stand for them.
fn take_together(next: &mut [Vec<u32>], first: &[u32]) {
    for link in (0..first.len()).filter(|&link| first[link] != link as u32) {
        let moved = std::mem::take(&mut next[link]);
        next[first[link] as usize].extend(moved);
    }
    for list in next {
        list.iter_mut().for_each(|vertex| *vertex = first.get(*vertex as usize).copied().unwrap_or(*vertex));
        list.sort_unstable();
        list.dedup();
    }
}

/// Returns more dependencies than there are: vertices are links, then groups, then switches. A link waits for its switch,
/// and that for every group that a packet from another switch takes there. Two stages of switches with a thousand ports
/// have a thousand million pairs of groups, and a million of these.
fn coarse(net: &Network, view: View<'_>) -> Result<Vec<Vec<u32>>, RouteError> {
    let (targets, starts) = (view.targets(net), Starts::new(net, view));
    let mut walk = Walk::new(net, view, &targets);
    let (links, groups) = (net.links(), view.groups());
    let first = (links + groups) as u32;
    let mut taken = vec![false; groups];
    for (class, end) in ends(net, view) {
        if walk.repeats(class, end) {
            continue;
        }
        walk.run(class, end, starts.of(net, end))?;
        let mut entered = vec![false; net.switches];
        for &switch in &walk.order {
            for &(vertex, _) in targets.of(walk.entry(switch) >> 1) {
                if (vertex as usize) < net.switches && !std::mem::replace(&mut entered[vertex as usize], true)
                {
                    if end == End::Via(vertex) {
                        let onward = view.terminal_class.iter().map(|&to| view.entry(net, vertex, to));
                        onward.filter(|&entry| entry != NONE).for_each(|e| taken[e as usize >> 1] = true);
                    } else {
                        taken[walk.entry(vertex) as usize >> 1] = true;
                    }
                }
            }
        }
    }
    let enter = |&end: &u32| if (end as usize) < net.switches { vec![first + end] } else { vec![] };
    let mut next: Vec<Vec<u32>> = net.link_target.iter().map(enter).collect();
    next.extend((0..groups as u32).map(|group| view.group(group).to_vec()));
    next.resize(next.len() + net.switches, vec![]);
    for group in (0..groups).filter(|&group| taken[group]) {
        let switch = net.link_source[view.group(group as u32)[0] as usize];
        next[(first + switch) as usize].push(links as u32 + group as u32);
    }
    Ok(next)
}

/// What packets wait for.
#[derive(Default)]
struct Waits {
    /// Groups that some packet takes one after the other, in ascending order, each pair once.
    pairs: Vec<(u32, u32)>,
    turns: Vec<Turn>,
}

/// What happens at an intermediate switch: packets come there on `links`, and each may continue with every group `after`.
struct Turn {
    links: Vec<u32>,
    after: Vec<u32>,
}

/// Returns what packets wait for; None if the pairs of groups are `many`.
///
/// Only a part as soon as it is `enough`, which is asked each time that the pairs are twice as many.
fn waits(
    net: &Network,
    view: View<'_>,
    many: usize,
    mut enough: impl FnMut(&Waits) -> bool,
) -> Result<Option<Waits>, RouteError> {
    let mut found = Waits::default();
    let targets = view.targets(net);
    let starts = Starts::new(net, view);
    let mut walk = Walk::new(net, view, &targets);
    let mut pairs = Pairs { seen: vec![], different: 0, last: vec![NONE; view.groups()] };
    let mut asked = 0;
    for (class, end) in ends(net, view) {
        // The only difference would be the wait for the link to the terminal, which never waits.
        if walk.repeats(class, end) {
            continue;
        }
        walk.run(class, end, starts.of(net, end))?;
        for &switch in &walk.order {
            let before = walk.entry(switch) >> 1;
            for &(vertex, _) in targets.of(before) {
                if (vertex as usize) < net.switches && end != End::Via(vertex) {
                    pairs.add(before, walk.entry(vertex) >> 1);
                }
            }
        }
        if pairs.different > many {
            return Ok(None);
        }
        if pairs.different >= 2 * asked.max(1) {
            asked = pairs.different;
            found.pairs.clear();
            found.pairs.extend_from_slice(&pairs.seen[..asked]);
            if enough(&found) {
                return Ok(Some(found));
            }
        }
        if let End::Via(switch) = end {
            found.turns.push(turn((net, view), &walk, switch));
        }
    }
    pairs.tidy();
    found.pairs = pairs.seen;
    Ok((found.pairs.len() <= many).then_some(found))
}

struct Pairs {
    /// The pairs so far; those up to `different` are sorted, each once.
    seen: Vec<(u32, u32)>,
    different: usize,
    /// Per group: what was added last; neighbouring classes mostly take the same path.
    last: Vec<u32>,
}

impl Pairs {
    fn add(&mut self, before: u32, after: u32) {
        if self.last[before as usize] != after {
            self.last[before as usize] = after;
            self.seen.push((before, after));
            if self.seen.len() > (1 << 20) + 2 * self.different {
                self.tidy();
            }
        }
    }

    fn tidy(&mut self) {
        self.seen.sort_unstable();
        self.seen.dedup();
        self.different = self.seen.len();
    }
}

/// Returns what happens at an intermediate switch, to which packets have been followed.
fn turn((net, view): (&Network, View<'_>), walk: &Walk<'_>, switch: u32) -> Turn {
    let onward = view.terminal_class.iter().map(|&class| view.entry(net, switch, class));
    let mut after: Vec<u32> = onward.filter(|&entry| entry != NONE).map(|entry| entry >> 1).collect();
    after.sort_unstable();
    after.dedup();
    let groups = walk.order.iter().map(|&from| view.group(walk.entry(from) >> 1));
    let comes = |link: &u32| net.link_target[*link as usize] == switch;
    let mut links: Vec<u32> = groups.flatten().copied().filter(comes).collect();
    links.sort_unstable();
    links.dedup();
    Turn { links, after }
}

/// Returns a strongly connected component with a cycle (Tarjan, with an explicit stack), as a membership list.
pub(crate) fn component(next: &[Vec<u32>]) -> Option<Vec<bool>> {
    let vertices = next.len();
    let (mut index, mut low) = (vec![NONE; vertices], vec![NONE; vertices]);
    let (mut inside, mut members, mut count) = (vec![false; vertices], vec![], 0);
    let mut calls: Vec<(u32, u32)> = vec![];
    for root in 0..vertices as u32 {
        if index[root as usize] != NONE {
            continue;
        }
        calls.push((root, 0));
        while let Some((vertex, place)) = calls.last_mut() {
            let v = *vertex as usize;
            if *place == 0 {
                (index[v], low[v]) = (count, count);
                count += 1;
                inside[v] = true;
                members.push(v as u32);
            }
            if let Some(&w) = next[v].get(*place as usize) {
                *place += 1;
                if index[w as usize] == NONE {
                    calls.push((w, 0));
                } else if inside[w as usize] {
                    low[v] = low[v].min(index[w as usize]);
                }
                continue;
            }
            calls.pop();
            if let Some(&(above, _)) = calls.last() {
                low[above as usize] = low[above as usize].min(low[v]);
            }
            if low[v] == index[v] {
                let first = members.iter().rposition(|&w| w == v as u32).expect("still on the stack");
                let found = members.split_off(first);
                if found.len() > 1 {
                    let mut member = vec![false; vertices];
                    found.iter().for_each(|&w| member[w as usize] = true);
                    return Some(member);
                }
                inside[v] = false;
            }
        }
    }
    None
}

/// Returns a shortest cycle through the first member inside the component.
pub(crate) fn shortest_cycle(next: &[Vec<u32>], member: &[bool]) -> Vec<u32> {
    let start = member.iter().position(|&m| m).expect("a component is not empty") as u32;
    let mut before = vec![NONE; next.len()];
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(vertex) = queue.pop_front() {
        for &w in next[vertex as usize].iter().filter(|&&w| member[w as usize]) {
            if before[w as usize] == NONE {
                before[w as usize] = vertex;
                queue.push_back(w);
            }
        }
        if before[start as usize] != NONE {
            break;
        }
    }
    let mut cycle = vec![start];
    let mut vertex = before[start as usize];
    while vertex != start {
        cycle.push(vertex);
        vertex = before[vertex as usize];
    }
    cycle[1..].reverse();
    cycle
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, ShortestPath, Spread, UpDown, assemble, depth_keys};

    /// Switches with two-way cables, each with two terminals.
    fn network(switches: u32, cables: &[(u32, u32)]) -> Network {
        let ends = (0..2 * switches).map(|terminal| (switches + terminal, terminal / 2));
        let both = cables.iter().copied().chain(ends).flat_map(|(a, b)| [(a, b), (b, a)]);
        let (source, target) = both.unzip();
        Network::new(switches as usize, 2 * switches as usize, source, target).unwrap()
    }

    /// Returns a cycle where links by these steps of switches are rings, one for each step.
    fn with_rings(net: &Network, view: View<'_>, is_ring: impl Fn(u32) -> bool) -> Option<Vec<u32>> {
        let of = |link: usize| {
            let (from, to) = (net.link_source[link], net.link_target[link]);
            let step = (to + 5 - from % 5) % 5;
            if from < 5 && to < 5 && is_ring(step) { step } else { NONE }
        };
        let rings = net.clone().with_rings((0..net.links()).map(of).collect()).unwrap();
        dependency_cycle(&rings, view, true).unwrap()
    }

    #[test]
    fn many_pairs_are_taken_together_with_the_same_verdict() {
        let stages: Vec<(u32, u32)> = (0..3).flat_map(|leaf| (3..5).map(move |top| (leaf, top))).collect();
        let ring: Vec<(u32, u32)> = (0..5).map(|switch| (switch, (switch + 1) % 5)).collect();
        for (cables, is_cyclic) in [(&stages, false), (&ring, true)] {
            let net = network(5, cables);
            let options =
                Options { spread: Spread::Adaptive, via: &[], shared_above: 0, runs_above: usize::MAX };
            let table = if is_cyclic {
                assemble(&net, &mut ShortestPath::new(crate::NextHops::All), options)
            } else {
                assemble(&net, &mut UpDown::new(depth_keys(&net, 3)), options)
            };
            let table = table.unwrap();
            let class: Vec<u32> = (0..10).collect();
            let view = View {
                group_start: &table.groups.start,
                group_links: &table.groups.links,
                route: &table.route,
                route_start: &table.route_start,
                route_end: &table.route_end,
                class_column: &table.class_column,
                class_exit: &table.class_exit,
                classes: table.classes,
                terminal_class: &class,
                via_switch: &[],
                via_class: &[],
            };
            let found = [0, MANY].map(|many| cycle_beyond(&net, view, many, true).unwrap());
            assert_eq!(found[0], found[1]);
            assert_eq!(found[0].is_some(), is_cyclic);
            assert!(is_cyclic || waits(&net, view, 0, |_| false).unwrap().is_none());
            assert_eq!(with_rings(&net, view, |step| step == 1 || step == 4), None);
            assert_eq!(with_rings(&net, view, |step| step == 1).is_some(), is_cyclic);
        }
    }
}
