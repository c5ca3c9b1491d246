//! The table of the ports: one row per port, one entry per terminal, stored in blocks. Equal blocks are stored once:
//! large networks have few different blocks, because whole parts of them have the same paths.

use std::collections::HashMap;

use super::{PASS, RingNetwork};
use crate::RouteError;

/// Number of terminals per block.
pub const BLOCK: usize = 64;

/// The entries of one port for the terminals of a block: number of the output port within the switch, or [`PASS`].
pub(super) type Exits = [u8; BLOCK];

/// A table of ports.
#[derive(Clone, Debug)]
pub struct PortRoute {
    /// Per port, a row with one entry per [`BLOCK`] terminals: the number of a block of `exits`.
    pub blocks: Vec<u32>,
    /// Per block, one entry per terminal: number of the output port within the switch, or [`PASS`]; also [`PASS`] after
    /// the last terminal.
    pub exits: Vec<u8>,
}

/// Returns the number of blocks in one row.
fn width(terminals: usize) -> usize {
    terminals.div_ceil(BLOCK)
}

/// A table under construction.
pub(super) struct Builder {
    table: PortRoute,
    width: usize,
    known: HashMap<Exits, u32>,
    /// The block set last, and its number: repetitions are frequent.
    last: Option<(Exits, u32)>,
}

impl Builder {
    pub fn new(net: &RingNetwork) -> Self {
        let width = width(net.terminals());
        let table = PortRoute { blocks: vec![0; net.port_station.len() * width], exits: Vec::new() };
        Self { table, width, known: HashMap::new(), last: None }
    }

    /// Sets the entries of a port for the terminals of a block.
    pub fn set(&mut self, port: usize, block: usize, exits: Exits) {
        let number = match self.last {
            Some((last, number)) if last == exits => number,
            _ => self.number(exits),
        };
        self.last = Some((exits, number));
        self.table.blocks[port * self.width + block] = number;
    }

    /// Returns the number of a block; adds it if it is new.
    fn number(&mut self, exits: Exits) -> u32 {
        let next = self.known.len() as u32;
        *self.known.entry(exits).or_insert_with(|| {
            self.table.exits.extend_from_slice(&exits);
            next
        })
    }

    /// Sets the entries of a port for all terminals.
    pub fn set_row(&mut self, port: usize, row: &[u8]) {
        for (block, entries) in row.chunks(BLOCK).enumerate() {
            let mut exits = [PASS; BLOCK];
            exits[..entries.len()].copy_from_slice(entries);
            self.set(port, block, exits);
        }
    }

    pub fn finish(self) -> PortRoute {
        self.table
    }
}

/// Any table of ports, borrowed and checked against its network.
#[derive(Clone, Copy)]
pub struct PortView<'a> {
    blocks: &'a [u32],
    exits: &'a [u8],
    width: usize,
}

impl<'a> PortView<'a> {
    /// Takes the two columns of a [`PortRoute`]; an error if they do not fit the network.
    pub fn new(net: &RingNetwork, blocks: &'a [u32], exits: &'a [u8]) -> Result<Self, RouteError> {
        let width = width(net.terminals());
        // Number of ports that a switch needs for a block.
        let needed: Vec<usize> = exits
            .chunks(BLOCK)
            .map(|exits| {
                exits.iter().filter(|&&exit| exit != PASS).max().map_or(0, |&exit| usize::from(exit) + 1)
            })
            .collect();
        let fits = |(port, row): (usize, &[u32])| {
            let ports = net.ports_of(net.port_switch[port]).len();
            row.iter().all(|&block| needed.get(block as usize).is_some_and(|&needed| needed <= ports))
        };
        let sized = blocks.len() == net.port_station.len() * width && exits.len().is_multiple_of(BLOCK);
        if sized && blocks.chunks(width.max(1)).enumerate().all(fits) {
            return Ok(Self { blocks, exits, width });
        }
        Err(RouteError::text("the table of the ports does not fit the network"))
    }

    /// Returns several tables, one after the other, that share their blocks.
    pub fn all(net: &RingNetwork, blocks: &'a [u32], exits: &'a [u8]) -> Result<Vec<Self>, RouteError> {
        let size = net.port_station.len() * width(net.terminals());
        // Without any, the first one does not fit.
        if blocks.is_empty() {
            return Ok(vec![Self::new(net, blocks, exits)?]);
        }
        blocks.chunks(size.max(1)).map(|table| Self::new(net, table, exits)).collect()
    }

    /// Returns the block numbers of a port from a block on, see [`Self::exits`].
    pub(super) fn blocks_from(&self, port: u32, block: usize) -> &'a [u32] {
        let row = port as usize * self.width;
        &self.blocks[row + block..row + self.width]
    }

    /// Returns the entries of a block.
    pub(super) fn exits(&self, number: usize) -> &'a [u8] {
        &self.exits[number * BLOCK..(number + 1) * BLOCK]
    }

    /// Returns the entries of all blocks.
    pub(super) fn all_exits(&self) -> std::slice::ChunksExact<'a, u8> {
        self.exits.chunks_exact(BLOCK)
    }

    /// Returns the entry of a port for a terminal.
    pub(super) fn exit(&self, port: u32, terminal: u32) -> u8 {
        let terminal = terminal as usize;
        let number = self.blocks[port as usize * self.width + terminal / BLOCK];
        self.exits(number as usize)[terminal % BLOCK]
    }
}
