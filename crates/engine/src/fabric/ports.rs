//! The table of the ports of ring networks, in blocks; equal blocks are stored once, so that lookups stay in a cache.

use std::collections::HashMap;

use super::Fabric;

/// Ports that a terminal can have.
pub const MOST_PORTS: u32 = 8;
/// In `class_port`: no further port.
pub const NO_PORT: u8 = u8::MAX;

/// Number of ports of terminals per block of a port's entries.
pub const ROUTE_BLOCK: usize = 64;

impl Fabric {
    /// Whether this is a network of rings.
    pub fn has_rings(&self) -> bool {
        !self.station_next.is_empty()
    }

    /// Returns the number of blocks in a port's row.
    #[inline]
    pub fn port_blocks(&self) -> usize {
        (self.ports() as usize).div_ceil(ROUTE_BLOCK)
    }

    /// Returns the port of its switch by which a port forwards packets for a terminal, or [`super::PASS`], in one of
    /// the tables.
    #[inline]
    pub fn exit(&self, turn: u32, port: u32, terminal: u32) -> u8 {
        let row = (turn as usize * self.port_station.len() + port as usize) * self.port_blocks();
        let block = self.port_route[row + terminal as usize / ROUTE_BLOCK] as usize;
        self.port_exit[block * ROUTE_BLOCK + terminal as usize % ROUTE_BLOCK]
    }
}

/// The rows of the table in chunks of blocks; equal chunks are stored once, because rows of large networks differ
/// little.
#[derive(Clone, Debug)]
pub struct Exits {
    /// Per table and port: its chunks.
    rows: Numbers,
    /// Chunks per row.
    width: usize,
    /// Blocks per chunk, as a power of two: about as many as chunks per row.
    shift: u32,
    /// Per chunk: numbers of blocks.
    chunks: Numbers,
}

/// Numbers in as few bytes as they need: half as many of them may then be in a cache.
#[derive(Clone, Debug)]
enum Numbers {
    Short(Vec<u16>),
    Long(Vec<u32>),
}

impl Numbers {
    fn new(numbers: Vec<u32>) -> Self {
        let short: Result<Vec<u16>, _> = numbers.iter().map(|&number| u16::try_from(number)).collect();
        short.map_or(Self::Long(numbers), Self::Short)
    }

    #[inline]
    fn at(&self, place: usize) -> u32 {
        match self {
            Self::Short(numbers) => u32::from(numbers[place]),
            Self::Long(numbers) => numbers[place],
        }
    }
}

impl Exits {
    /// Returns the rows of a fabric.
    pub fn new(fabric: &Fabric) -> Self {
        let blocks = fabric.port_blocks();
        let shift = blocks.isqrt().next_power_of_two().ilog2();
        let mut known = HashMap::new();
        let (mut rows, mut chunks) = (Vec::new(), Vec::new());
        for row in fabric.port_route.chunks(blocks.max(1)) {
            for part in row.chunks(1 << shift) {
                let next = known.len() as u32;
                rows.push(*known.entry(part).or_insert_with(|| {
                    chunks.extend_from_slice(part);
                    chunks.resize((next as usize + 1) << shift, 0);
                    next
                }));
            }
        }
        let (rows, chunks) = (Numbers::new(rows), Numbers::new(chunks));
        Self { rows, width: blocks.div_ceil(1 << shift), shift, chunks }
    }

    /// Returns the chunk of a port's row that contains a terminal. The rows of further tables follow as those of
    /// further ports.
    #[inline]
    pub fn row(&self, port: u32, terminal: u32) -> u32 {
        self.rows.at(port as usize * self.width + ((terminal as usize / ROUTE_BLOCK) >> self.shift))
    }

    /// Returns the same as [`Fabric::exit`].
    #[inline]
    pub fn exit(&self, fabric: &Fabric, port: u32, terminal: u32) -> u8 {
        let place = (terminal as usize / ROUTE_BLOCK) & ((1 << self.shift) - 1);
        let chunk = self.row(port, terminal) as usize;
        let block = self.chunks.at((chunk << self.shift) + place) as usize;
        fabric.port_exit[block * ROUTE_BLOCK + terminal as usize % ROUTE_BLOCK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_say_what_the_table_says() {
        const PORTS: u32 = 3;
        // 37 blocks are four chunks of eight and a part of a fifth one.
        let terminals = 37 * ROUTE_BLOCK as u32 - 5;
        let port_route: Vec<u32> = (0..PORTS * 37).map(|place| place * place % 5).collect();
        let port_exit = (0..5 * ROUTE_BLOCK).map(|place| (place % 253) as u8).collect();
        let terminal_out_link = vec![0; terminals as usize];
        let fabric = Fabric { terminal_out_link, port_route, port_exit, ..Fabric::default() };
        let exits = Exits::new(&fabric);
        for port in 0..PORTS {
            for terminal in 0..terminals {
                assert_eq!(exits.exit(&fabric, port, terminal), fabric.exit(0, port, terminal));
            }
        }
    }
}
