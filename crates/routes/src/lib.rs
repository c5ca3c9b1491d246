//! Routing on plain arrays: builds, checks and measures tables, independently of the engine and Python.
//!
//! * [`Network`] is the graph with parallel links combined to edges.
//! * A [`Scheme`] gives, for one destination switch, the edges by which every other switch may send.
//! * [`assemble`] turns a scheme into a [`Table`]: groups of links and one entry per switch and class.
//! * [`View`] borrows any table; [`verify`], [`dependency_cycle`], [`loads`], [`path`] and [`Ways`] read it.
//! * [`RingNetwork`] is a network of rings and buses, with one table per port instead: [`port_route`], [`torus_route`].
//!
//! Vertices are numbered switches first, then terminals. No function is recursive.

mod acyclic;
mod assemble;
mod blocks;
mod depend;
mod dimension;
mod layers;
mod levels;
mod load;
mod network;
mod phases;
mod rings;
mod runs;
mod shortest;
mod updown;
mod view;
mod walk;
mod ways;

use std::fmt;

pub use assemble::{Options, Spread, Table, assemble};
pub use depend::{channel_order, dependency_cycle};
pub use dimension::{DimensionOrder, Wrap};
pub use layers::Layers;
pub use levels::levels;
pub use load::{Sharing, Traffic, loads, path};
pub use network::{Groups, Network};
pub use phases::{Pairs, Phase, phases_cycle, phases_order, phases_taken};
pub use rings::{
    BLOCK, Ends, PASS, PortRoute, PortView, RingLoads, RingNetwork, port_route, ring_dependency_cycle,
    ring_loads, torus_route,
};
pub use runs::proved;
pub use shortest::{LeastWeight, NextHops, SelfRouting, ShortestPath};
pub use updown::{UpDown, depth_keys};
pub use view::View;
pub use walk::verify;
pub use ways::{Remains, Ways};

/// No entry, no group, no link.
pub const NONE: u32 = u32::MAX;

/// The entry of a column at the switch that its classes lead to: each class has its own, [`View::class_exit`].
pub const OWN: u32 = u32::MAX - 3;

/// The paths to one destination switch.
#[derive(Clone, Debug, Default)]
pub struct Toward {
    /// Per switch: the output group, or [`NONE`] if it cannot reach the destination (and at the destination itself).
    pub group: Vec<u32>,
    /// Switches that reach the destination, without itself; each comes after all switches that it may send to.
    pub order: Vec<u32>,
    /// Per switch: the layer of its packets, or another number of the scheme; empty: none.
    pub layer: Vec<u8>,
}

impl Toward {
    /// Resets all switches to no group.
    fn reset(&mut self, switches: usize) {
        self.group.clear();
        self.group.resize(switches, NONE);
        self.layer.clear();
    }
}

/// A routing rule, called for one destination switch at a time.
pub trait Scheme {
    /// Fills `out` with the paths to switch `to`, and creates groups as needed.
    fn toward(
        &mut self,
        network: &Network,
        groups: &mut Groups,
        to: u32,
        out: &mut Toward,
    ) -> Result<(), RouteError>;

    /// Returns the most pairs of a switch and a destination in a table of runs.
    fn most_pairs(&self) -> usize {
        assemble::MOST_PAIRS
    }

    /// Fills `out` with the switches whose groups or layers for the second of two neighbouring destinations may be others
    /// than for the first, but for the second itself, and with these groups and layers. Groups are created in the order
    /// of [`Scheme::toward`]. Returns false if these may be all switches.
    fn changes(
        &mut self,
        _network: &Network,
        _groups: &mut Groups,
        _pair: (u32, u32),
        _out: &mut Vec<(u32, u32, u8)>,
    ) -> Result<bool, RouteError> {
        Ok(false)
    }
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// Plain text.
    Text(String),
    /// A switch number.
    Switch(u32),
    /// A terminal number.
    Terminal(u32),
    /// A link number.
    Link(u32),
}

/// A routing that cannot be built or does not work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct RouteError {
    /// The message, joined without additional spaces.
    pub words: Vec<Word>,
}

impl RouteError {
    /// Returns an error of plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of([Word::Text(text.into())])
    }

    /// Returns an error of several words.
    pub fn of(words: impl IntoIterator<Item = Word>) -> Self {
        Self { words: words.into_iter().collect() }
    }

    /// Appends the switches, separated by " > ".
    pub fn then_path(mut self, switches: &[u32]) -> Self {
        for (place, &switch) in switches.iter().enumerate() {
            if place > 0 {
                self.words.push(" > ".into());
            }
            self.words.push(Word::Switch(switch));
        }
        self
    }
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Word::Text(text.to_owned())
    }
}

impl fmt::Display for RouteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for word in &self.words {
            match word {
                Word::Text(text) => f.write_str(text)?,
                Word::Switch(number) => write!(f, "switch {number}")?,
                Word::Terminal(number) => write!(f, "terminal {number}")?,
                Word::Link(number) => write!(f, "link {number}")?,
            }
        }
        Ok(())
    }
}
