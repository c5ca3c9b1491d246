//! The throughput of flows in each batch: of pairs of terminals, of terminals, or of groups of terminals.

use super::Delivery;

/// Which packets are counted together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Rows {
    /// No flows are counted.
    #[default]
    None,
    /// Each of these pairs, in ascending order; no others.
    Pairs(Vec<(u32, u32)>),
    /// Per sending terminal: its row.
    Sources(Vec<u32>),
}

impl Rows {
    fn count(&self) -> usize {
        match self {
            Rows::None => 0,
            Rows::Pairs(pairs) => pairs.len(),
            Rows::Sources(rows) => rows.iter().max().map_or(0, |&row| row as usize + 1),
        }
    }

    fn of(&self, delivery: &Delivery) -> Option<usize> {
        match self {
            Rows::None => None,
            Rows::Pairs(pairs) => pairs.binary_search(&(delivery.source, delivery.target)).ok(),
            Rows::Sources(rows) => rows.get(delivery.source as usize).map(|&row| row as usize),
        }
    }
}

/// Packets, and their payload bytes.
pub type Share = (u64, u64);

/// The rows of each batch.
#[derive(Clone, Debug, Default)]
pub struct Shares {
    rows: Rows,
    /// Of the current batch.
    open: Vec<Share>,
    /// Of complete batches, in order.
    done: Vec<Share>,
}

impl Shares {
    /// Returns empty shares.
    pub fn new(rows: &Rows) -> Self {
        Self { rows: rows.clone(), open: vec![Share::default(); rows.count()], done: Vec::new() }
    }

    /// Counts a delivery in the current batch.
    #[inline]
    pub fn record(&mut self, delivery: &Delivery) {
        if let Some(row) = self.rows.of(delivery) {
            self.open[row].0 += 1;
            self.open[row].1 += u64::from(delivery.length);
        }
    }

    /// Closes the current batch.
    pub fn close(&mut self) {
        self.done.extend_from_slice(&self.open);
        self.open.fill(Share::default());
    }

    /// Merges neighbouring batches.
    pub fn halve(&mut self) {
        let rows = self.open.len();
        if rows == 0 {
            return;
        }
        let joined: Vec<Share> = (self.done.chunks(2 * rows))
            .flat_map(|pair| (0..rows).map(|row| add(pair[row], pair.get(rows + row))))
            .collect();
        self.done = joined;
    }

    /// Returns the rows of all complete batches, batch by batch.
    pub fn done(&self) -> &[Share] {
        &self.done
    }
}

fn add(one: Share, other: Option<&Share>) -> Share {
    other.map_or(one, |other| (one.0 + other.0, one.1 + other.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(source: u32, target: u32) -> Delivery {
        Delivery {
            source,
            target,
            length: 10 + source,
            created: 0,
            started: 0,
            delivered: 0,
            mark: 0,
            number: 0,
        }
    }

    #[test]
    fn pairs_and_sources_are_counted_by_batch() {
        let mut pairs = Shares::new(&Rows::Pairs(vec![(0, 1), (2, 0)]));
        let mut sources = Shares::new(&Rows::Sources(vec![0, 0, 1]));
        for shares in [&mut pairs, &mut sources] {
            for (from, to) in [(0, 1), (1, 0), (2, 0), (2, 0)] {
                shares.record(&delivery(from, to));
            }
            shares.close();
            shares.record(&delivery(2, 0));
            shares.close();
        }
        assert_eq!(pairs.done(), [(1, 10), (2, 24), (0, 0), (1, 12)]);
        assert_eq!(sources.done(), [(2, 21), (2, 24), (0, 0), (1, 12)]);
        pairs.halve();
        assert_eq!(pairs.done(), [(1, 10), (3, 36)]);
    }
}
