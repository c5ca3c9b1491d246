//! Dependencies of the packets that are really sent, through tables that replace each other while packets are under way.
//!
//! A packet that waits in front of a switch takes the entry that the switch has when it goes on. So the links that it
//! holds may be of an older table than those that it waits for, and the cycles of such mixtures are of no table alone.

use std::collections::HashMap;

use crate::depend::{component, order_of, shortest_cycle};
use crate::{NONE, Network, RouteError, View};

/// Sources and aims of packets.
pub type Pairs<'a> = (&'a [u32], &'a [u32]);

/// A table, from the moment at which it replaces the one before.
#[derive(Clone, Copy, Debug)]
pub struct Phase<'a> {
    /// The table; all have the same classes.
    pub view: View<'a>,
    /// Links that are down: they hold no packets.
    pub dead: &'a [u32],
    /// Which packets start in it; those of earlier phases may be under way. None: any terminal sends to any.
    pub pairs: Option<Pairs<'a>>,
}

/// Returns the first phase in which packets may wait for each other, and the cycle of links. At a random intermediate switch
/// a packet goes on to any of the terminals that are sent to.
pub fn phases_cycle(net: &Network, phases: &[Phase<'_>]) -> Result<Option<(usize, Vec<u32>)>, RouteError> {
    let waits = waits(net, phases)?;
    let links = net.links();
    for number in 0..phases.len() {
        let next = waits.graph(net, &phases[..=number]);
        if let Some(members) = component(&next) {
            let cycle = shortest_cycle(&next, &members);
            return Ok(Some((number, cycle.into_iter().filter(|&one| (one as usize) < links).collect())));
        }
    }
    Ok(None)
}

/// Returns the links in an order in which every packet takes them in the last phase, also those that are under way since
/// earlier ones; None if there is none. Links on which no packet waits, and for which none does, are left out.
pub fn phases_order(net: &Network, phases: &[Phase<'_>]) -> Result<Option<Vec<u32>>, RouteError> {
    let next = waits(net, phases)?.graph(net, phases);
    let order = order_of(&next);
    let used = |link: &u32| (*link as usize) < net.links();
    Ok(order.map(|order| order.into_iter().filter(used).collect()))
}

/// Returns, per phase and place in its route, whether packets come there, also those that started in earlier phases.
pub fn phases_taken(net: &Network, phases: &[Phase<'_>]) -> Result<Vec<Vec<bool>>, RouteError> {
    let homes = checked(net, phases)?;
    let classes = phases.first().map_or(0, |phase| phase.view.classes);
    let mut found = vec![vec![false; net.switches * classes]; phases.len()];
    Waits::new(net, phases).all(&homes, |phase, class, state| {
        state.order.iter().for_each(|&switch| found[phase][switch as usize * classes + class] = true);
    });
    Ok(found)
}

fn waits<'a>(net: &'a Network, phases: &'a [Phase<'a>]) -> Result<Waits<'a>, RouteError> {
    let homes = checked(net, phases)?;
    Ok(Waits::new(net, phases).all(&homes, |_, _, _| ()))
}

/// Checks phases and returns, per phase and class, the switches at which packets enter the network, ascending.
fn checked(net: &Network, phases: &[Phase<'_>]) -> Result<Vec<Vec<Vec<u32>>>, RouteError> {
    for phase in phases {
        phase.view.check(net)?;
        if phase.dead.iter().any(|&link| link as usize >= net.links()) {
            return Err(RouteError::text("a dead link does not exist"));
        }
    }
    if phases.windows(2).any(|pair| pair[0].view.classes != pair[1].view.classes) {
        return Err(RouteError::text("tables that replace each other need the same classes"));
    }
    phases.iter().map(|phase| homes(net, phase.view, phase.pairs)).collect()
}

/// Returns, per class, the switches at which its packets enter the network, ascending.
fn homes(net: &Network, view: View<'_>, pairs: Option<Pairs<'_>>) -> Result<Vec<Vec<u32>>, RouteError> {
    let mut found = vec![Vec::new(); view.classes];
    let home = |terminal: u32| net.link_target[net.terminal_out[terminal as usize] as usize];
    match pairs {
        Some((source, target)) => {
            let aims = view.terminal_class.len();
            let known = source.iter().all(|&one| (one as usize) < net.terminals)
                && target.iter().all(|&aim| (aim as usize) < aims);
            if !known {
                return Err(RouteError::text("a pair names a terminal that does not exist"));
            }
            for (&source, &target) in source.iter().zip(target) {
                found[view.terminal_class[target as usize] as usize].push(home(source));
            }
            let all: Vec<u32> = source.iter().map(|&source| home(source)).collect();
            view.via_class.iter().for_each(|&class| found[class as usize].clone_from(&all));
        }
        None => {
            let all: Vec<u32> = (0..net.terminals as u32).map(home).collect();
            for &class in view.terminal_class.iter().chain(view.via_class) {
                found[class as usize].clone_from(&all);
            }
        }
    }
    for switches in &mut found {
        switches.retain(|&vertex| (vertex as usize) < net.switches);
        switches.sort_unstable();
        switches.dedup();
    }
    Ok(found)
}

/// Which links packets hold while they wait for which groups, and in which phase this begins.
struct Waits<'a> {
    net: &'a Network,
    phases: &'a [Phase<'a>],
    /// Per phase: the number of its first group among those of all phases.
    first_group: Vec<u32>,
    /// Per phase and link: whether it is down.
    dead: Vec<Vec<bool>>,
    /// By link and group: the first phase.
    begins: HashMap<(u32, u32), u32>,
}

impl<'a> Waits<'a> {
    fn new(net: &'a Network, phases: &'a [Phase<'a>]) -> Self {
        let mut first_group = vec![0];
        let mut dead = vec![];
        for phase in phases {
            first_group.push(first_group[first_group.len() - 1] + phase.view.groups() as u32);
            let mut down = vec![false; net.links()];
            phase.dead.iter().for_each(|&link| down[link as usize] = true);
            dead.push(down);
        }
        Self { net, phases, first_group, dead, begins: HashMap::new() }
    }

    /// Follows the packets of every class through all phases, those to intermediate switches first; calls what looks at
    /// each phase and class.
    fn all(mut self, homes: &[Vec<Vec<u32>>], mut look: impl FnMut(usize, usize, &Reached)) -> Self {
        let classes = homes.first().map_or(0, Vec::len);
        let view = self.phases.first().map(|phase| phase.view);
        let mut middle = vec![NONE; classes];
        for (&class, &switch) in view.iter().flat_map(|view| view.via_class.iter().zip(view.via_switch)) {
            middle[class as usize] = switch;
        }
        let mut order: Vec<usize> = (0..classes).collect();
        order.sort_by_key(|&class| middle[class] == NONE);
        // Per phase: links on which packets come to the switches that they have drawn.
        let mut turning = vec![vec![]; homes.len()];
        for class in order.into_iter().filter(|&class| homes.iter().any(|own| !own[class].is_empty())) {
            let mut state = Reached::new(self.net);
            for (phase, own) in homes.iter().enumerate() {
                own[class].iter().for_each(|&switch| state.reach(switch));
                if middle[class] == NONE {
                    turning[phase].iter().for_each(|&link| state.enter(self.net, link));
                }
                self.follow(&mut state, class as u32, phase);
                if middle[class] != NONE {
                    let last = |link: &&u32| self.net.link_target[**link as usize] == middle[class];
                    turning[phase].extend(state.held.iter().filter(last));
                }
                look(phase, class, &state);
            }
        }
        self
    }

    /// Moves packets as far as a table takes them, and records what they wait for.
    fn follow(&mut self, state: &mut Reached, class: u32, phase: usize) {
        let (view, dead) = (self.phases[phase].view, &self.dead[phase]);
        let group = |switch: u32| match view.entry(self.net, switch, class) {
            NONE => None,
            entry => Some(entry >> 1),
        };
        let mut place = 0;
        while let Some(&switch) = state.order.get(place) {
            place += 1;
            let Some(group) = group(switch) else { continue };
            for &link in view.group(group).iter().filter(|&&link| !dead[link as usize]) {
                if (self.net.link_target[link as usize] as usize) < self.net.switches {
                    state.enter(self.net, link);
                }
            }
        }
        for &link in state.held.iter().filter(|&&link| !dead[link as usize]) {
            if let Some(group) = group(self.net.link_target[link as usize]) {
                let key = (link, self.first_group[phase] + group);
                let begin = self.begins.entry(key).or_insert(phase as u32);
                *begin = (*begin).min(phase as u32);
            }
        }
    }

    /// Returns what waits for what in the last of these phases: links, then groups.
    fn graph(&self, net: &Network, phases: &[Phase<'_>]) -> Vec<Vec<u32>> {
        let (links, last) = (net.links(), phases.len() - 1);
        let runs = |link: &u32| !self.dead[last][*link as usize];
        let mut next = vec![vec![]; links];
        for (&(link, group), _) in self.begins.iter().filter(|&(_, &begin)| begin as usize <= last) {
            if runs(&link) {
                next[link as usize].push(links as u32 + group);
            }
        }
        next.iter_mut().for_each(|list| list.sort_unstable());
        for phase in phases {
            let groups = 0..phase.view.groups() as u32;
            next.extend(
                groups.map(|group| phase.view.group(group).iter().copied().filter(runs).collect::<Vec<_>>()),
            );
        }
        next
    }
}

/// Where the packets of a class may be.
struct Reached {
    at: Vec<bool>,
    order: Vec<u32>,
    holds: Vec<bool>,
    held: Vec<u32>,
}

impl Reached {
    fn new(net: &Network) -> Self {
        Self { at: vec![false; net.switches], order: vec![], holds: vec![false; net.links()], held: vec![] }
    }

    fn reach(&mut self, switch: u32) {
        if !std::mem::replace(&mut self.at[switch as usize], true) {
            self.order.push(switch);
        }
    }

    /// Holds a link and reaches its end.
    fn enter(&mut self, net: &Network, link: u32) {
        if !std::mem::replace(&mut self.holds[link as usize], true) {
            self.held.push(link);
        }
        self.reach(net.link_target[link as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of four switches with a terminal each; links 0 to 3 go round it, 4 to 7 back; then those of the terminals.
    fn ring() -> Network {
        let source = [0, 1, 2, 3, 1, 2, 3, 0, 4, 5, 6, 7, 0, 1, 2, 3];
        let target = [1, 2, 3, 0, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7];
        Network::new(4, 4, source.to_vec(), target.to_vec()).unwrap()
    }

    /// Each link is a group; packets go `by(switch, terminal)`, else out.
    fn table(by: impl Fn(u32, u32) -> u32) -> Vec<u32> {
        (0..4)
            .flat_map(|s| (0..4).map(move |t| (s, t)))
            .map(|(s, t)| 2 * if s == t { 12 + s } else { by(s, t) })
            .collect()
    }

    fn view<'a>(route: &'a [u32], start: &'a [u32], links: &'a [u32], class: &'a [u32]) -> View<'a> {
        View {
            group_start: start,
            group_links: links,
            route,
            route_start: &[],
            route_end: &[],
            class_column: &[],
            class_exit: &[],
            classes: 4,
            terminal_class: class,
            via_switch: &[],
            via_class: &[],
        }
    }

    #[test]
    fn only_what_is_sent_waits_and_mixtures_do_as_well() {
        let net = ring();
        let (start, links): (Vec<u32>, Vec<u32>) = ((0..=16).collect(), (0..16).collect());
        let class = [0, 1, 2, 3];
        let round = table(|switch, _| switch);
        let phases = [Phase { view: view(&round, &start, &links, &class), dead: &[], pairs: None }];
        let cycle = |phases: &[Phase<'_>], pairs| {
            let phases: Vec<_> = phases.iter().map(|&phase| Phase { pairs, ..phase }).collect();
            let found = phases_cycle(&net, &phases).unwrap();
            let order = phases_order(&net, &phases).unwrap();
            assert!(order.is_some() != found.as_ref().is_some_and(|&(phase, _)| phase + 1 == phases.len()));
            found
        };
        assert_eq!(cycle(&phases, None), Some((0, vec![0, 1, 2, 3])));
        assert_eq!(cycle(&phases, Some((&[0, 1, 2], &[2, 3, 0]))), None);
        assert_eq!(cycle(&phases, Some((&[0, 1, 2, 3], &[2, 3, 0, 1]))), Some((0, vec![0, 1, 2, 3])));
        let broken = [Phase { dead: &[2], ..phases[0] }];
        assert_eq!(cycle(&broken, None), None, "the dead link holds nothing");
        // Terminal 0 and 1 send to 2: over link 0 and 1 first, then, with the other table, back over 4 and 7.
        let up = table(|switch, _| [0, 1, 2, 3][switch as usize]);
        let down = table(|switch, _| [7, 4, 5, 6][switch as usize]);
        let tables = [&up, &down].map(|route| Phase {
            view: view(route, &start, &links, &class),
            dead: &[],
            pairs: None,
        });
        let pairs: (&[u32], &[u32]) = (&[0, 1], &[2, 2]);
        assert_eq!((cycle(&tables[..1], Some(pairs)), cycle(&tables[1..], Some(pairs))), (None, None));
        let (phase, found) = cycle(&tables, Some((&[0, 2], &[2, 0]))).unwrap();
        assert_eq!(phase, 1);
        assert!(!found.is_empty());
    }
    #[test]
    fn packets_go_on_from_the_switch_that_they_have_drawn() {
        let net = ring();
        let (start, links): (Vec<u32>, Vec<u32>) = ((0..=16).collect(), (0..16).collect());
        // All go round, class 4 to switch 2.
        let way = |switch: u32, class: u32| match class {
            4 if switch == 2 => NONE,
            4 => 2 * switch + u32::from(switch == 1),
            _ => 2 * if switch == class { 12 + switch } else { switch },
        };
        let route: Vec<u32> = (0..4).flat_map(|s| (0..5).map(move |class| way(s, class))).collect();
        let straight = View { classes: 5, ..view(&route, &start, &links, &[0, 1, 2, 3]) };
        let drawn = View { via_switch: &[2], via_class: &[4], ..straight };
        let pairs: Option<Pairs<'_>> = Some((&[0], &[1]));
        let cycle = |view| phases_cycle(&net, &[Phase { view, dead: &[], pairs }]).unwrap();
        assert_eq!((cycle(straight), cycle(drawn)), (None, Some((0, vec![0, 1, 2, 3]))));
        let taken = phases_taken(&net, &[Phase { view: drawn, dead: &[], pairs }]).unwrap();
        let of_class = |class: usize| (0..4).map(|switch| taken[0][switch * 5 + class]).collect::<Vec<_>>();
        assert_eq!((of_class(4), of_class(3)), (vec![true, true, true, false], vec![false; 4]));
    }
}
