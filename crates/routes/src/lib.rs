//! Routing on plain arrays: tables are built, checked and measured here, and nothing is known of engines or Python.
//!
//! * [`Network`] is the graph with parallel links gathered into edges.
//! * A [`Scheme`] says, for one destination switch, by which edges every other switch may send.
//! * [`assemble`] turns a scheme into a [`Table`]: groups of links and one entry per switch and class.
//! * [`View`] is anybody's table, borrowed; [`verify`], [`dependency_cycle`], [`loads`] and [`path`] read it.
//! * [`RingNetwork`] is a network of rings and buses, which has a table per port instead: [`port_route`], [`torus_route`].
//!
//! Vertices are numbered switches first, then terminals. Nothing here recurses.

mod assemble;
mod depend;
mod dimension;
mod error;
mod groups;
mod load;
mod network;
mod reach;
mod rings;
mod shortest;
mod updown;
mod verify;
mod view;
mod walk;

pub use assemble::{Options, Spread, Table, assemble};
pub use depend::dependency_cycle;
pub use dimension::{DimensionOrder, Wrap};
pub use error::{RouteError, Word};
pub use groups::Groups;
pub use load::{Traffic, loads, path};
pub use network::Network;
pub use reach::SelfRouting;
pub use rings::{
    BLOCK, Ends, PASS, PortRoute, PortView, RingLoads, RingNetwork, port_route, ring_dependency_cycle,
    ring_loads, torus_route,
};
pub use shortest::{NextHops, ShortestPath};
pub use updown::{UpDown, depth_keys};
pub use verify::verify;
pub use view::View;

/// No entry, no group, no link.
pub const NONE: u32 = u32::MAX;

/// The ways towards one destination switch.
#[derive(Clone, Debug, Default)]
pub struct Toward {
    /// Per switch: the group to leave by, or [`NONE`] where the destination cannot be reached (and at itself).
    pub group: Vec<u32>,
    /// Switches that reach the destination, without itself: each comes after all switches it may send to.
    pub order: Vec<u32>,
}

impl Toward {
    /// No switch has a group yet.
    fn reset(&mut self, switches: usize) {
        self.group.clear();
        self.group.resize(switches, NONE);
    }
}

/// A rule of routing, asked for one destination switch at a time.
pub trait Scheme {
    /// Fills `out` with the ways towards switch `to`, making groups as they are needed.
    fn toward(
        &mut self,
        network: &Network,
        groups: &mut Groups,
        to: u32,
        out: &mut Toward,
    ) -> Result<(), RouteError>;
}
