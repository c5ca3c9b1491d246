//! The table of the ports: a row of one entry per terminal for every port, kept in blocks, and equal blocks once. Whole
//! parts of a large network are reached the same way, so there are few blocks that differ.

use std::collections::HashMap;

use super::{PASS, RingNetwork};
use crate::RouteError;

/// Terminals whose entries are kept together.
pub const BLOCK: usize = 64;

/// The entries of one port for the terminals of a block: number within the switch of the port to leave by, or [`PASS`].
pub(super) type Exits = [u8; BLOCK];

/// A table of ports.
#[derive(Clone, Debug)]
pub struct PortRoute {
    /// Per port a row of one entry per [`BLOCK`] terminals: the number of a block of `exits`.
    pub blocks: Vec<u32>,
    /// Block by block one entry per terminal, [`PASS`] behind the last: number within the switch of the port to leave
    /// by, or [`PASS`].
    pub exits: Vec<u8>,
}

/// Blocks in one row.
fn width(terminals: usize) -> usize {
    terminals.div_ceil(BLOCK)
}

/// A table in the making.
pub(super) struct Builder {
    table: PortRoute,
    width: usize,
    known: HashMap<Exits, u32>,
    /// What was set last, and its number: the same often follows.
    last: Option<(Exits, u32)>,
}

impl Builder {
    pub fn new(net: &RingNetwork) -> Self {
        let width = width(net.terminals());
        let table = PortRoute { blocks: vec![0; net.port_station.len() * width], exits: Vec::new() };
        Self { table, width, known: HashMap::new(), last: None }
    }

    /// Sets what a port does with the terminals of a block.
    pub fn set(&mut self, port: usize, block: usize, exits: Exits) {
        let number = match self.last {
            Some((last, number)) if last == exits => number,
            _ => self.number(exits),
        };
        self.last = Some((exits, number));
        self.table.blocks[port * self.width + block] = number;
    }

    /// The number of a block, which may be new.
    fn number(&mut self, exits: Exits) -> u32 {
        let next = self.known.len() as u32;
        *self.known.entry(exits).or_insert_with(|| {
            self.table.exits.extend_from_slice(&exits);
            next
        })
    }

    /// Sets what a port does with all terminals.
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

/// Anybody's table of ports, borrowed and known to fit its network.
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
        // How many ports a switch needs for a block.
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

    /// Several tables that stand one behind the other and share their blocks.
    pub fn all(net: &RingNetwork, blocks: &'a [u32], exits: &'a [u8]) -> Result<Vec<Self>, RouteError> {
        let size = net.port_station.len() * width(net.terminals());
        // Without any it is the first one that does not fit.
        if blocks.is_empty() {
            return Ok(vec![Self::new(net, blocks, exits)?]);
        }
        blocks.chunks(size.max(1)).map(|table| Self::new(net, table, exits)).collect()
    }

    /// What a port does with the terminals of a block and of those after it: numbers, see [`Self::exits`].
    pub(super) fn blocks_from(&self, port: u32, block: usize) -> &'a [u32] {
        let row = port as usize * self.width;
        &self.blocks[row + block..row + self.width]
    }

    /// Entries by number.
    pub(super) fn exits(&self, number: usize) -> &'a [u8] {
        &self.exits[number * BLOCK..(number + 1) * BLOCK]
    }

    /// All entries that there are.
    pub(super) fn all_exits(&self) -> std::slice::ChunksExact<'a, u8> {
        self.exits.chunks_exact(BLOCK)
    }

    /// The entry of a port for a terminal.
    pub(super) fn exit(&self, port: u32, terminal: u32) -> u8 {
        let terminal = terminal as usize;
        let number = self.blocks[port as usize * self.width + terminal / BLOCK];
        self.exits(number as usize)[terminal % BLOCK]
    }
}
