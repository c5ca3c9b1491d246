//! Service levels: the packets of a sender's switch and a target have one layer on their whole way, and within each
//! layer no dependency closes a cycle.
//!
//! T. Skeie, O. Lysne and I. Theiss, Layered shortest path (LASH) routing in irregular system area networks, IPDPS 2002.
//! Pairs come in the order of their targets, each into the lowest layer with room for all that its packets may take.

use crate::acyclic::{Layer, Numbers};
use crate::layers::first_order;
use crate::walk::{End, Starts, ends};
use crate::{NONE, Network, RouteError, View};

/// Returns the layer by switch and column of a table, or 0 where no packets start; None if it takes more than `most`.
///
/// The table leads packets to their targets, or nowhere. `wanted`: layers, by switch and column, that are tried first.
pub fn levels(net: &Network, view: View<'_>, most: u8, wanted: &[u8]) -> Result<Option<Vec<u8>>, RouteError> {
    view.check(net)?;
    let columns = view.columns(net);
    if !wanted.is_empty() && wanted.len() != net.switches * columns {
        return Err(RouteError::text("a layer is wanted for each switch and column, or for none"));
    }
    let starts = Starts::new(net, view);
    let mut found = vec![0; net.switches * columns];
    let mut placed = vec![false; columns];
    let mut finder = Finder::new(net, view);
    for (class, end) in ends(net, view) {
        let column = view.column(class) as usize;
        if !std::mem::replace(&mut placed[column], true) {
            finder.select(class);
            for switch in starts.of(net, end) {
                let place = switch as usize * columns + column;
                let mut tried =
                    wanted.get(place).copied().filter(|&layer| layer < most).into_iter().chain(0..most);
                let Some(layer) = tried.find(|&layer| finder.fits(switch, end, layer)) else {
                    return Ok(None);
                };
                found[place] = layer;
            }
        }
    }
    Ok(Some(found))
}

/// The layers so far, and the ways of the class at hand.
struct Finder<'a> {
    net: &'a Network,
    view: View<'a>,
    first_order: Vec<u32>,
    layers: Vec<Layer>,
    numbers: Numbers,
    /// Per switch: its entry for the class at hand.
    entries: Vec<u32>,
    /// Per layer and switch: what is known of the dependencies of all ways from there.
    known: Vec<Vec<Known>>,
    /// Per switch: the last try that came there.
    seen: Vec<u32>,
    round: u32,
    /// Where the present try came, and the dependencies that may be new.
    came: Vec<u32>,
    waits: Vec<(u32, u32)>,
}

/// What is known of the dependencies of all ways from a switch in a layer: with long ways most are looked at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    AllThere,
    SomeRefused,
}

impl<'a> Finder<'a> {
    fn new(net: &'a Network, view: View<'a>) -> Self {
        let links = first_order(net).into_iter().flat_map(|edge| net.edge_links(edge).to_vec());
        let mut first_order: Vec<u32> = links.collect();
        first_order.extend((0..net.links() as u32).filter(|&link| !is_between(net, link)));
        let (numbers, seen) =
            (Numbers::new(net.switches, &net.link_source, &net.link_target), vec![0; net.switches]);
        Self {
            net,
            view,
            first_order,
            layers: vec![],
            numbers,
            entries: vec![],
            known: vec![],
            seen,
            round: 0,
            came: vec![],
            waits: vec![],
        }
    }

    /// Makes a class the one at hand.
    fn select(&mut self, class: u32) {
        self.entries.clear();
        self.entries
            .extend((0..self.net.switches as u32).map(|switch| self.view.entry(self.net, switch, class)));
        self.known.iter_mut().for_each(|known| known.fill(Known::Nothing));
    }

    /// Adds all that packets from a switch wait for to a layer, if it has room for that.
    fn fits(&mut self, start: u32, end: End, layer: u8) -> bool {
        let layer = usize::from(layer);
        while self.layers.len() <= layer {
            self.layers.push(Layer::new(&self.first_order, &self.numbers));
            self.known.push(vec![Known::Nothing; self.net.switches]);
        }
        let fits = self.follow(start, end, layer)
            && self.layers[layer].fits(&self.numbers, self.waits.iter().copied());
        let known = &mut self.known[layer];
        if fits {
            self.came.iter().for_each(|&switch| known[switch as usize] = Known::AllThere);
        } else {
            known[start as usize] = Known::SomeRefused;
        }
        fits
    }

    /// Finds what packets from a switch may newly wait for; false if some of that is refused.
    fn follow(&mut self, start: u32, end: End, layer: usize) -> bool {
        self.round += 1;
        self.waits.clear();
        self.came.clear();
        let mut open = vec![start];
        while let Some(switch) = open.pop() {
            match self.known[layer][switch as usize] {
                Known::Nothing => self.came.push(switch),
                Known::AllThere => continue,
                Known::SomeRefused => return false,
            }
            for &link in self.onward(switch) {
                let next = self.net.link_target[link as usize];
                if next as usize >= self.net.switches || end == End::Via(next) {
                    continue;
                }
                let further = self.onward(next).iter().filter(|&&further| is_between(self.net, further));
                self.waits.extend(further.map(|&further| (link, further)));
                if std::mem::replace(&mut self.seen[next as usize], self.round) != self.round {
                    open.push(next);
                }
            }
        }
        true
    }

    fn onward(&self, switch: u32) -> &'a [u32] {
        match self.entries[switch as usize] {
            NONE => &[],
            entry => self.view.group(entry >> 1),
        }
    }
}

/// Whether a link leads from switch to switch; the others never wait, or nothing waits for them.
fn is_between(net: &Network, link: u32) -> bool {
    net.link_source[link as usize].max(net.link_target[link as usize]) < net.switches as u32
}
